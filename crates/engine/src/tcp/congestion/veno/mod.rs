//! Veno: Fu and Liew, "TCP Veno: TCP enhancement for transmission over wireless access networks", IEEE JSAC 21 (2003).
//! A variant of Reno that uses the backlog estimate of Vegas to classify losses as congestion or random, and grows more
//! slowly while there is a backlog.

mod linux;
mod published;

parameters! {
    pub struct VenoParameters {
        beta: f64 = 3.0, in 0 .. 1000000, "Backlog, in segments, from which the path counts as congested", "Fu and Liew 2003; Linux tcp_veno.c, beta";
        random_loss_factor: f64 = 0.8, in 0 .. 1, "Share of the window kept after a loss while the path is not congested", "Fu and Liew 2003; Linux tcp_veno.c, tcp_veno_ssthresh";
        rules: Rules = Rules::Published, "Whose counting: linux has whole segments, the least RTT between acknowledgements, and slower growth of small windows, whatever the other parameters are; ns3 grows as Reno on a congested path too", "Fu and Liew 2003; Linux tcp_veno.c, tcp_veno_cong_avoid; ns-3 tcp-veno.cc, IncreaseWindow, which counts RTTs anew with each acknowledgement";
    }
}

inner_state! {
    VenoState {
        base_rtt: "s", "minimum RTT";
        backlog: "segments", "segments of the window in the queue, by the latest RTT (N)";
    }
}

variants! {
    Veno(VenoParameters) by Rules {
        Published(published::Published) = "published",
        Linux(linux::Linux) = "linux",
        Ns3(published::Published) = "ns3",
    }
}

about! { Veno:
    name: "veno",
    state: VenoState,
    title: "TCP Veno",
    class: "hybrid",
    year: 2003,
    source: "Fu and Liew, IEEE JSAC 21 (2003)",
    deviations: "after a timeout ssthresh follows the same rule as after any loss, as in Linux; with rules linux, the \
                 slow start chosen for the flow is ignored",
}
