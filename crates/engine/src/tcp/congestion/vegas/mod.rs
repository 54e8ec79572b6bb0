//! Vegas: Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC 13 (1995).
//! The window keeps a few packets in the queue, estimated from the current and the minimum round-trip time.

mod linux;
mod ns2;
mod published;

parameters! {
    pub struct VegasParameters {
        alpha: u64 = 2, in 0 .. 1000000, "Backlog, in packets, below which the window grows", "Linux tcp_vegas.c, alpha; Brakmo and Peterson 1995 try 1 and 2";
        beta: u64 = 4, in 0 .. 1000000, "Backlog, in packets, above which the window falls", "Linux tcp_vegas.c, beta; Brakmo and Peterson 1995 try 3 and 4";
        gamma: u64 = 1, in 0 .. 1000000, "Backlog, in packets, above which slow start ends", "Linux tcp_vegas.c, gamma";
        every_other_round: bool = false, "In slow start, double the window only every other round trip", "Linux tcp_vegas.c doubles it every round trip, Brakmo and Peterson 1995 every other";
        rules: Rules = Rules::Published, "Whose rules: linux divides the queueing delay by the base RTT and rounds down, and forgets the base RTT when segments leave while none is in flight; ns2 takes the mean RTT of a round trip and the segments sent in it, rounds to the nearest, and has slow start every other round trip", "Brakmo and Peterson 1995; Linux tcp_vegas.c, tcp_vegas_cong_avoid and tcp_vegas_cwnd_event; ns-2.35 tcp/tcp-vegas.cc, recv";
        decrease: f64 = 0.5, in 0 .. 1, "Decrease on loss, as a share of the window", "Linux tcp_vegas.c, which takes Reno's; ns-2 tcp-vegas.cc takes a quarter";
    }
}

inner_state! {
    VegasState {
        base_rtt: "s", "minimum RTT (BaseRTT)";
        diff: "segments", "segments of the window in the queue, by the RTTs of the round trip so far (Diff); not with rules ns2";
    }
}

variants! {
    Vegas(VegasParameters) by Rules {
        Published(published::Published) = "published",
        Linux(published::Published) = "linux",
        Ns2(ns2::Ns2, boxed) = "ns2",
    }
}

about! { Vegas:
    name: "vegas",
    aliases: ["tcp-vegas"],
    state: VegasState,
    title: "Vegas",
    class: "delay",
    year: 1995,
    source: "Brakmo and Peterson, IEEE JSAC 13 (1995); constants and estimator of Linux tcp_vegas.c and ns-3 tcp-vegas.cc",
    deviations: "no retransmission rule of Vegas's own: the stack recovers losses; as in Linux, the actual rate is the \
                 window over the minimum RTT of a round, slow start by default doubles the window every round trip and \
                 falls to the measured rate at its end, and a round with fewer than three RTT samples follows Reno; as \
                 in ns-3, the backlog is in whole packets, rounded up, and with rules linux down; the base RTT is the \
                 minimum of all samples; rules ns2 leave retransmission on an expired fine-grained timer and the \
                 window of two segments after a timeout to the stack; with a stack without timestamps, which times one \
                 segment per round, the window follows Reno",
}
