//! Hybla: Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", International Journal of
//! Satellite Communications and Networking 22 (2004). The window grows per unit of time as that of a flow with a
//! reference round-trip time, which is shorter by the factor rho.

mod linux;
mod published;

use crate::time::Duration;

parameters! {
    pub struct HyblaParameters {
        rtt0: Duration = Duration::from_milliseconds(25), in 1e9 .. 1e14, "Reference round-trip time RTT0, up to which it behaves like Reno", "Caini and Firrincieli 2004; Linux tcp_hybla.c, rtt0";
        slow_start_ceiling: u64 = 65535, in 2 .. 1000000000, "Maximum window of slow start, in segments", "Linux tcp_hybla.c, hybla_init, snd_cwnd_clamp";
        rules: Rules = Rules::Published, "Whose counting: linux counts acknowledgements, rho in eighths, and has an initial window of rho segments", "Caini and Firrincieli 2004; Linux tcp_hybla.c, hybla_cong_avoid, hybla_recalc_param and hybla_init";
    }
}

inner_state! {
    HyblaState {
        rho: "", "RTT as a multiple of the reference RTT0, at least 1";
        min_rtt: "s", "minimum RTT; with rules linux of smoothed ones";
    }
}

variants! {
    Hybla(HyblaParameters) by Rules {
        Published(published::Published) = "published",
        Linux(linux::Linux) = "linux",
    }
}

about! { Hybla:
    name: "hybla",
    aliases: ["tcp-hybla"],
    state: HyblaState,
    title: "TCP Hybla",
    class: "loss",
    year: 2004,
    source: "Caini and Firrincieli, International Journal of Satellite Communications and Networking 22 (2004)",
    deviations: "rho follows the minimum RTT, as in ns-3 and, smoothed, in Linux; neither the initial window nor \
                 ssthresh is multiplied by rho; with rules = \"linux\" an acknowledgement counts once, however many \
                 segments it covers, and the initial window is rho; packets are not paced, although the paper \
                 recommends it; the slow start chosen for the flow is ignored",
}
