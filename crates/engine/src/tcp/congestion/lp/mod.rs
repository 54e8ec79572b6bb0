//! TCP-LP: Kuzmanovic and Knightly, "TCP-LP: A Distributed Algorithm for Low Priority Data Transfer", INFOCOM 2003. A
//! variant of Reno that reduces its window before losses occur, as soon as one-way delays indicate that other flows are
//! building a queue.

mod clock;
mod linux;
mod ns3;
mod published;

parameters! {
    pub struct LpParameters {
        delta: f64 = 0.15, in 0 .. 1, "Share of the range of delays above which the smoothed delay indicates congestion", "Kuzmanovic and Knightly 2003; Linux tcp_lp.c, 15 / 100";
        gamma: f64 = 0.125, in 0.001 .. 1, "Weight of a new sample in the smoothed delay", "Kuzmanovic and Knightly 2003; Linux tcp_lp.c, 1 / 8";
        inference: u64 = 3, in 0 .. 1000, "Round trips of the inference phase", "Linux tcp_lp.c, inference";
        rules: Rules = Rules::Published, "Whose delays: linux takes them from timestamps in milliseconds and forgets their range at each indication, whatever the other parameters are; ns3 too, but without an estimate of the receiver's clock, and leaves ssthresh, so that slow start follows", "Linux tcp_lp.c, tcp_lp_owd_calculator and tcp_lp_pkts_acked; ns-3 tcp-lp.cc, OwdCalculator and PktsAcked";
    }
}

inner_state! {
    LpState {
        phase: "", "whether an inference phase goes on", of ["growth", "inference"];
        smoothed_delay: "s", "smoothed one-way delay (d); with the rules linux and ns3 of timestamps";
        min_delay: "s", "minimum one-way delay (d_min)";
        max_delay: "s", "maximum one-way delay, the second-largest (d_max)";
    }
}

variants! {
    Lp(LpParameters) by Rules {
        Published(published::Published) = "published",
        Linux(linux::Linux, boxed) = "linux",
        Ns3(ns3::Ns3, boxed) = "ns3",
    }
}

about! { Lp:
    name: "lp",
    aliases: ["tcp-lp"],
    state: LpState,
    title: "TCP-LP",
    class: "delay",
    year: 2003,
    source: "Kuzmanovic and Knightly, INFOCOM 2003; constants of Linux tcp_lp.c",
    deviations: "as in Linux, the maximum delay is the second-largest sample; as in the paper and unlike in Linux, \
                 minimum and maximum delay are kept for the whole connection, even after an indication, and \
                 indications count only in congestion avoidance, and not within a round trip of the last reduction; \
                 they act on acknowledgements that may grow the window; round trips are smoothed RTTs; with rules \
                 linux all this is as there, with timestamps that have no random offset (tcp_timestamps = 2)",
}
