//! H-TCP: Leith and Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004, and
//! draft-leith-tcp-htcp-06. The growth rate increases with the time since the last congestion event. The reduction
//! depends on the share of queueing delay in the round-trip time.

mod linux;
mod ns3;
mod published;

use crate::time::Duration;

parameters! {
    pub struct HTcpParameters {
        delta_l: Duration = Duration::from_seconds(1), "Time since the last congestion during which the window grows as in Reno: Delta_L", "Leith and Shorten 2004";
        beta_min: f64 = 0.5, in 0 .. 1, "Minimum share of the window kept after a loss", "Leith and Shorten 2004; Linux tcp_htcp.c, BETA_MIN";
        beta_max: f64 = 0.8, in 0 .. 1, "Maximum share of the window kept after a loss", "Leith and Shorten 2004; Linux tcp_htcp.c, BETA_MAX";
        throughput_change: f64 = 0.2, in 0 .. 1000000, "Relative change of throughput from one loss to the next above which beta is beta_min", "Leith and Shorten 2004; Linux tcp_htcp.c, htcp_beta_update";
        adaptive_backoff: bool = true, "Set beta to RTTmin / RTTmax instead of always to beta_min", "Leith and Shorten 2004";
        rtt_scaling: bool = true, "Scale growth with RTTmin, so that flows with different RTTs grow alike", "Linux tcp_htcp.c, use_rtt_scaling";
        rules: Rules = Rules::Published, "Whose arithmetic: linux has a whole factor of growth, counts time from the end of recovery, and sets beta to beta_min once more after throughput has changed; ns3 grows as Reno and by alpha bytes for each acknowledgement, and has no bounds of beta", "Leith and Shorten 2004; Linux tcp_htcp.c, htcp_beta_update, htcp_alpha_update and htcp_state; ns-3 tcp-htcp.cc, CongestionAvoidance and UpdateBeta";
    }
}

inner_state! {
    HTcpState {
        alpha: "", "growth of the window per round trip in segments; with rules ns3 in bytes per acknowledgement";
        beta: "", "share of the window kept after a loss";
        min_rtt: "s", "minimum RTT";
        max_rtt: "s", "maximum RTT, which fades at each loss";
    }
}

variants! {
    HTcp(HTcpParameters) by Rules {
        Published(published::Published) = "published",
        Linux(linux::Linux) = "linux",
        Ns3(ns3::Ns3) = "ns3",
    }
}

about! { HTcp:
    name: "htcp",
    aliases: ["h-tcp"],
    state: HTcpState,
    title: "H-TCP",
    class: "loss",
    year: 2004,
    source: "Leith and Shorten, PFLDnet 2004; draft-leith-tcp-htcp-06; Linux net/ipv4/tcp_htcp.c",
    deviations: "the window never grows faster than in slow start; throughput is not measured during fast recovery; \
                 time counts from the start of a congestion episode; rules = \"linux\" is the arithmetic of Linux 6.1, \
                 which counts it from the end of recovery, rounds the factor of growth down, and sets beta to beta_min \
                 on paths below 10 ms and at one more loss after the throughput has changed",
}
