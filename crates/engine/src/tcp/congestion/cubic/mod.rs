//! CUBIC: RFC 9438. Windows are in segments, as in its equations. The window itself grows by whole bytes.

mod epoch;
mod linux;
mod ns3;
mod ns3_of_2014;
mod published;

use super::CongestionEvent;
use crate::time::Duration;
use epoch::Epoch;

parameters! {
    pub struct CubicParameters {
        c: f64 = 0.4, in 0.001 .. 1000.0, "Aggressiveness C of the window increase function, in segments per cubed second", "RFC 9438 sections 4.1.1 and 5.1";
        beta: f64 = 0.7, in 0 .. 1, "Multiplicative decrease factor", "RFC 9438 section 4.6";
        beta_ecn: f64 = 0.85, in 0 .. 1, "Multiplicative decrease factor after marks, if the stack sets abe = true", "RFC 8511 section 3.1";
        fast_convergence: bool = true, "Lower W_max further after a loss below the previous W_max", "RFC 9438 section 4.7";
        reno_friendly: bool = true, "Keep the window at least as large as Reno's estimated window", "RFC 9438 section 4.3";
        greatest_target: f64 = 1.5, in 1 .. 1000, "Greatest target of a round trip, in windows; with the rules published", "RFC 9438 section 4.2";
        slowest_start: u64 = 20, in 1 .. 1000000, "Segments acknowledged for one of growth, at most, before the first loss; with the rules linux and ns3", "Linux tcp_cubic.c, bictcp_update; ns-3 tcp-cubic.cc, CntClamp";
        rtt_settling: Duration = Duration::from_seconds(1), in 0 .. 1e15, "Time after a loss from whose end on RTTs may lower the minimum RTT; with the rules linux and ns3", "Linux tcp_cubic.c, cubictcp_acked: HZ";
        rules: Rules = Rules::Published, "Whose arithmetic: linux and ns3 grow in whole segments, by at least 5 % a round trip before the first loss, and their estimate of Reno keeps below one segment a round trip; ns3 cuts cwnd and not the flight size; ns3-2014 counts acknowledgements and has no fast convergence", "RFC 9438; Linux tcp_cubic.c, bictcp_update; ns-3 tcp-cubic.cc, Update and GetSsThresh; Levasseur, Claypool and Kinicki, WNS3 2014, tcp-cubic.cc for ns-3.27, CubicUpdate and GetSsThresh";
    }
}

inner_state! {
    CubicState {
        w_max: "segments", "window before the latest reduction, lowered by fast convergence (W_max)";
        k: "s", "time from the start of the stage to its plateau (K)";
        epoch_start: "s", "when the congestion avoidance stage began, later by the time in which the window was not used (epoch_start)";
        w_est: "segments", "Reno's estimated window (W_est)";
        min_rtt: "s", "minimum RTT, by which the cubic function is ahead; with the rules linux, ns3 and ns3-2014";
    }
}

impl CubicState {
    /// Of arithmetic in whole numbers: the window at the last loss in segments, zero for none, and an epoch whose ticks are so many a
    /// second.
    fn of_epoch(epoch: Option<&Epoch>, last_max: u64, min_rtt: Option<Duration>, hz: u64) -> CubicState {
        CubicState {
            w_max: (last_max > 0).then_some(last_max as f64),
            k: epoch.map(Epoch::k_in_seconds),
            epoch_start: epoch.map(|epoch| epoch.start as f64 / hz as f64),
            w_est: epoch.map(|epoch| epoch.reno as f64),
            min_rtt: min_rtt.map(Duration::seconds),
        }
    }
}

variants! {
    Cubic(CubicParameters) by Rules {
        Published(published::Published) = "published",
        Linux(linux::Linux, boxed) = "linux",
        Ns3(ns3::Ns3, boxed) = "ns3",
        Ns3Of2014(ns3_of_2014::Ns3Of2014, boxed) = "ns3-2014",
    }
}

about! { Cubic:
    name: "cubic",
    aliases: ["tcp-cubic"],
    state: CubicState,
    title: "CUBIC",
    class: "loss",
    year: 2023,
    source: "RFC 9438",
    deviations: "the window grows per credited segment, not per acknowledgement as in section 4.4: a stack that counts \
                 acknowledgements credits one segment for each, as in the RFC; a stack that counts bytes behaves like \
                 Linux; W_est grows by the same credit and so estimates Reno on the same stack; where W_cubic < W_est \
                 < cwnd the window waits for W_est and does not fall to it; a stage that starts above W_max has its \
                 plateau there (K = 0); a loss is known to be spurious (section 4.9) only with recovery = \"rack\", \
                 and RFC 4015's change of the timer after a spurious timeout is left out; rules = \"linux\" is the \
                 arithmetic of Linux 6.1, where a spurious loss gives back cwnd and ssthresh alone, an estimate of \
                 Reno never grows by more than 0.53 segments a round trip and the window by at least 5 % before the \
                 first loss; rules = \"ns3\" is that of ns-3.48, whose time does not stop while the window is not \
                 used; rules = \"ns3-2014\" takes the RTTs that the stack gives, where that module takes timestamps",
}

impl CubicParameters {
    /// The share of the window that an event leaves. For marks, RFC 8511 section 3.
    fn beta_of(&self, event: CongestionEvent) -> f64 {
        if matches!(event, CongestionEvent::Ecn { abe: true, .. }) { self.beta_ecn } else { self.beta }
    }
}
