//! TCP Illinois: Liu, Basar and Srikant, "TCP-Illinois: a loss and delay-based congestion control algorithm for
//! high-speed networks", VALUETOOLS 2006. Losses trigger a reduction. The queueing delay determines the growth rate and
//! the size of the reduction.

mod linux;
mod published;

parameters! {
    pub struct IllinoisParameters {
        alpha_min: f64 = 0.3, in 0.001 .. 1, "Growth per round trip at maximum delay, in segments", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, ALPHA_MIN";
        alpha_max: f64 = 10.0, in 1.001 .. 1000, "Growth per round trip without delay, in segments", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, ALPHA_MAX";
        beta_min: f64 = 0.125, in 0 .. 0.5, "Decrease on loss without delay, as a share of the window", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, BETA_MIN";
        beta_max: f64 = 0.5, in 0.5 .. 1, "Decrease on loss at high delay, as a share of the window", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, BETA_MAX";
        eta_1: f64 = 0.01, in 0 .. 0.99, "Share of the maximum delay up to which growth is maximal", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, alpha";
        eta_2: f64 = 0.1, in 0 .. 0.5, "Share of the maximum delay up to which the decrease is minimal", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, beta";
        eta_3: f64 = 0.8, in 0.5 .. 1, "Share of the maximum delay from which the decrease is maximal", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, beta";
        window_threshold: f64 = 15.0, in 0 .. 1000000, "Window, in segments, below which it behaves like Reno", "Linux tcp_illinois.c, win_thresh";
        theta: u64 = 5, in 1 .. 1000000, "Round trips with low delay after which growth is maximal again", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, theta";
        rules: Rules = Rules::Published, "Whose arithmetic: linux takes RTTs during recovery too, and has alpha in 1/128, beta in 1/64 and whole segments", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, tcp_illinois_acked and tcp_illinois_cong_avoid";
    }
}

inner_state! {
    IllinoisState {
        alpha: "segments", "growth of the window per round trip";
        beta: "", "decrease on loss, as a share of the window";
        base_rtt: "s", "minimum RTT";
        max_rtt: "s", "maximum RTT";
    }
}

variants! {
    Illinois(IllinoisParameters) by Rules {
        Published(published::Published) = "published",
        Linux(linux::Linux) = "linux",
    }
}

about! { Illinois:
    name: "illinois",
    state: IllinoisState,
    title: "TCP Illinois",
    class: "hybrid",
    year: 2006,
    source: "Liu, Basar and Srikant, VALUETOOLS 2006; Linux net/ipv4/tcp_illinois.c",
    deviations: "the window never grows faster than in slow start; RTT samples during fast recovery are ignored; with \
                 rules = \"linux\" they are taken, so that the queue of a slow start that overshoots is the maximum \
                 delay from then on, as in Linux",
}
