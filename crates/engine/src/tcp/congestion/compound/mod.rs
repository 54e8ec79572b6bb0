//! Compound TCP: the window is the sum of New Reno's loss window and a delay window that grows quickly while there is
//! no queue. From Tan, Song, Zhang and Sridharan, "A Compound TCP Approach for High-speed and Long Distance Networks",
//! INFOCOM 2006, with the estimator, the rounds and the tuning of gamma from draft-sridharan-tcpm-ctcp-02.

mod linux;
mod ns3;
mod ns3_of_2014;
mod published;

choice! {
    /// How gamma is determined.
    pub enum GammaRule {
        /// Always the configured value.
        Fixed = "fixed",
        /// The configured value until the first loss, then tuned by emulating a Reno flow.
        Tuned = "tuned",
    }
}

parameters! {
    pub struct CompoundParameters {
        alpha: f64 = 0.125, in 0 .. 1, "Factor of the delay window's increase", "Tan et al. 2006; draft-sridharan-tcpm-ctcp-02 section 3";
        beta: f64 = 0.5, in 0 .. 1, "Decrease of the window on loss", "Tan et al. 2006; draft-sridharan-tcpm-ctcp-02 section 3";
        k: f64 = 0.75, in 0 .. 1, "Exponent of the delay window's increase", "Tan et al. 2006; draft-sridharan-tcpm-ctcp-02 section 4";
        zeta: f64 = 1.0, in 0 .. 1000, "Share of the backlog by which the delay window falls each round; 0.03 in the module of the rules ns3-2014", "draft-sridharan-tcpm-ctcp-02 section 3, there called eta; C. Zhou's tcp-compound.cc (2014)";
        gamma: f64 = 30.0, in 0 .. 1000000, "Backlog, in packets, from which the delay window falls", "Tan et al. 2006; draft-sridharan-tcpm-ctcp-02 section 5";
        gamma_rule: GammaRule = GammaRule::Tuned, "Whether gamma is fixed or tuned on every loss", "draft-sridharan-tcpm-ctcp-02 section 5, which replaces the fixed gamma of Tan et al. 2006";
        gamma_low: f64 = 5.0, in 0 .. 1000000, "Minimum gamma that tuning sets", "draft-sridharan-tcpm-ctcp-02 section 5";
        gamma_high: f64 = 30.0, in 0 .. 1000000, "Maximum gamma that tuning sets", "draft-sridharan-tcpm-ctcp-02 section 5";
        lambda: f64 = 0.25, in 0 .. 1, "Weight of a new sample in the tuning of gamma; 0.5 in the first module for Linux that has it", "L. Andrew's tcp_compound.c 1.3 for Linux and ns-2 (2008), and of December 2007, LAMBDA_SHIFT; the draft names no value";
        low_window: u64 = 38, in 0 .. 1000000, "Window, in segments, up to which there is no delay window; with the rules ns3-2014 the loss window, with linux and ns3 without effect", "draft-sridharan-tcpm-ctcp-02 sections 2 and 6";
        rules: Rules = Rules::Published, "Whose arithmetic: linux has no delay window after a loss but one in slow start, compares the least RTT of a round trip with the segments sent in it, and counts whole segments; ns3 grows the window by alpha W^k bytes a round trip, W in bytes, the loss window by a W-th segment a round trip, and has neither low window nor tuning of gamma; ns3-2014 has no delay window after a loss, and no round trip ends where an acknowledgement covers two segments at its end", "Tan et al. 2006; tcp_compound.c of Castellani, Hemminger and Andrew for Linux (2006 and 2007) and ns-2.35, tcp_compound_cong_avoid; tcp-compound.cc of NITK Surathkal for ns-3 (2017), IncreaseWindow and GetSsThresh; tcp-compound.cc of C. Zhou for ns-3.21 (2014), NewAck";
    }
}

inner_state! {
    CompoundState {
        dwnd: "B", "delay window";
        gamma: "segments", "backlog from which the delay window falls";
        diff_reno: "segments", "backlog of an emulated Reno flow in the last round trip, which tunes gamma; not with the rules of ns-3";
        base_rtt: "s", "minimum RTT";
    }
}

variants! {
    Compound(CompoundParameters) by Rules {
        Published(published::Published) = "published",
        Linux(linux::Linux, boxed) = "linux",
        Ns3(ns3::Ns3, boxed) = "ns3",
        Ns3Of2014(ns3_of_2014::Ns3Of2014) = "ns3-2014",
    }
}

about! { Compound:
    name: "compound",
    aliases: ["c-tcp", "ctcp"],
    state: CompoundState,
    title: "Compound TCP",
    class: "hybrid",
    year: 2006,
    source: "Tan, Song, Zhang and Sridharan, INFOCOM 2006; draft-sridharan-tcpm-ctcp-02",
    deviations: "the delay window grows with the total window to the power k, as in the paper, not with its own size, \
                 as in the draft; when the window is at most the low window, the delay window becomes part of the loss \
                 window, so that a loss halves the window, as in Reno; reductions apply to the flight size (RFC 5681 \
                 equation 4), which the two windows share in proportion; the base RTT is the minimum sample since the \
                 last timeout; rules = \"ns3\" is a module for ns-3, with its overflows of 32-bit windows; rules = \
                 \"linux\" is a module as ns-2 runs it, which never begins anew after a pause; rules = \"ns3-2014\" is \
                 another for ns-3, in whose recovery the delay window is kept there and not here",
}
