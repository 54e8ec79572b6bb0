//! Westwood+: a variant of Reno that reduces the window to the measured capacity of the path, BWE x RTTmin. From
//! Mascolo, Casetti, Gerla, Sanadidi and Wang, "TCP Westwood: bandwidth estimation for enhanced transport over wireless
//! links", MobiCom 2001, with the per-round-trip samples of Grieco and Mascolo, "Performance evaluation and comparison
//! of Westwood+, New Reno and Vegas TCP congestion control", ACM SIGCOMM CCR 34 (2004).

mod linux;
mod published;

use crate::time::Duration;

parameters! {
    pub struct WestwoodParameters {
        least_sample: Duration = Duration::from_milliseconds(50), "Minimum duration of a bandwidth sample, if the RTT is shorter", "Linux tcp_westwood.c, TCP_WESTWOOD_RTT_MIN";
        smoothing: f64 = 0.875, in 0 .. 1, "Weight of past samples in each of the two filters", "Linux tcp_westwood.c, westwood_do_filter";
        rules: Rules = Rules::Published, "Whose rules: linux measures through recovery, whose end sets the window; it has its own least_sample and smoothing", "Grieco and Mascolo 2004; Linux tcp_westwood.c, tcp_westwood_ack and tcp_westwood_event";
    }
}

inner_state! {
    WestwoodState {
        bwe: "bit/s", "estimated bandwidth, of payload (BWE)";
        min_rtt: "s", "minimum RTT (RTTmin)";
    }
}

variants! {
    Westwood(WestwoodParameters) by Rules {
        Published(published::Published) = "published",
        Linux(linux::Linux, boxed) = "linux",
    }
}

about! { Westwood:
    name: "westwood",
    aliases: ["westwood+", "westwoodplus"],
    state: WestwoodState,
    title: "TCP Westwood+",
    class: "hybrid",
    year: 2004,
    source: "Grieco and Mascolo, ACM SIGCOMM CCR 34 (2004); Mascolo et al., MobiCom 2001; Linux tcp_westwood.c",
    deviations: "bandwidth is not measured during fast recovery: the data acknowledged in it and its duration are left \
                 out, and duplicate acknowledgements do not count; the estimate is applied at the start of a \
                 congestion episode, in Linux at the end of recovery; ssthresh is at most the window, and half the \
                 flight size while there is no estimate; with rules linux all this is as there",
}
