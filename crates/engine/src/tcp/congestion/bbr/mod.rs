//! BBR version 1: Cardwell, Cheng, Gunn, Hassas Yeganeh and Jacobson, "BBR: Congestion-Based Congestion Control", ACM
//! Queue 14 (2016). The algorithm and its constants are those of Linux 5.x, net/ipv4/tcp_bbr.c; comments give the names
//! used there. draft-cardwell-iccrg-bbr-congestion-control-00 explains them.
//!
//! The sender paces at a multiple of the maximum recent delivery rate (BtlBw) and limits the data in flight to a
//! multiple of the BDP, which is BtlBw times the minimum recent RTT. The mode determines the multiples.

mod control;
mod linux;
mod ns3;
mod published;

use control::Control;

use crate::time::Duration;

parameters! {
    pub struct BbrParameters {
        high_gain: f64 = 2.885, in 1 .. 100, "Pacing and window gain in STARTUP; DRAIN paces at its inverse", "tcp_bbr.c, bbr_high_gain: 2/ln 2";
        cwnd_gain: f64 = 2.0, in 1 .. 100, "Window in PROBE_BW, as a multiple of the BDP", "tcp_bbr.c, bbr_cwnd_gain";
        probing_gain: f64 = 1.25, in 1 .. 100, "Pacing gain of the PROBE_BW phase that probes for bandwidth", "tcp_bbr.c, bbr_pacing_gain[0]";
        draining_gain: f64 = 0.75, in 0.01 .. 1, "Pacing gain of the next PROBE_BW phase, which drains the queue", "tcp_bbr.c, bbr_pacing_gain[1]";
        bandwidth_rounds: u64 = 10, in 0 .. 10000, "Rounds over which the maximum delivery rate is taken", "tcp_bbr.c, bbr_bw_rtts";
        full_bandwidth_threshold: f64 = 1.25, in 1 .. 100, "Growth of the bandwidth per round below which STARTUP considers the pipe full", "tcp_bbr.c, bbr_full_bw_thresh";
        full_bandwidth_rounds: u64 = 3, in 1 .. 10000, "Rounds without such growth that end STARTUP", "tcp_bbr.c, bbr_full_bw_cnt";
        min_rtt_filter: Duration = Duration::from_seconds(10), "Lifetime of the minimum RTT estimate; PROBE_RTT follows", "tcp_bbr.c, bbr_min_rtt_win_sec";
        probe_rtt_time: Duration = Duration::from_milliseconds(200), "Minimum time in PROBE_RTT; 0 disables it", "tcp_bbr.c, bbr_probe_rtt_mode_ms";
        least_window: u64 = 4, in 1 .. 1000, "Minimum window, in segments; PROBE_RTT uses it", "tcp_bbr.c, bbr_cwnd_min_target";
        pacing_margin: f64 = 0.01, in 0 .. 0.5, "Share by which the pacing rate is below that of the gain", "tcp_bbr.c, bbr_pacing_margin_percent";
        extra_acked_gain: f64 = 1.0, in 0 .. 100, "Multiple of the estimated ACK aggregation that is added to the window", "tcp_bbr.c, bbr_extra_acked_gain";
        rules: Rules = Rules::Published, "Whose rules: linux has the long-term bandwidth of paths with policers; only a smaller RTT renews the minimum, which begins with that of the handshake; the data in flight are those in the network when the next segment departs; the maximum bandwidth is approximate; gains are in 1/256; ns3 has its rate sample, its recovery and its window, and all flows begin PROBE_BW in the same phase", "Cardwell et al. 2016; ns-3 tcp-bbr.cc, tcp-rate-ops.cc and tcp-socket-base.cc; Linux 6.1 tcp_bbr.c, bbr_lt_bw_sampling, bbr_update_min_rtt, bbr_init and bbr_packets_in_net_at_edt; lib/win_minmax.c";
    }
}

inner_state! {
    BbrState {
        phase: "", "mode", of ["startup", "drain", "probe_bw", "probe_rtt"];
        max_bw: "bit/s", "maximum delivery rate over its rounds, of payload (BtlBw)";
        lt_bw: "bit/s", "long-term bandwidth while it is used instead; with rules linux (lt_bw)";
        min_rtt: "s", "minimum RTT (RTprop)";
        pacing_gain: "", "pacing rate as a multiple of the bandwidth";
        cwnd_gain: "", "window as a multiple of the BDP";
        pacing_rate: "bit/s", "pacing rate, of payload";
        full_bw_reached: "", "1 once the pipe is considered full, 0 before";
        round_count: "", "rounds so far";
    }
}

variants! {
    Bbr(BbrParameters) by Rules {
        Published(Control<published::Published>, boxed) = "published",
        Linux(Control<linux::Linux>, boxed) = "linux",
        Ns3(Control<ns3::Ns3>, boxed) = "ns3",
    }
}

about! { Bbr:
    name: "bbr",
    aliases: ["bbr1", "bbrv1", "tcp-bbr"],
    state: BbrState,
    title: "BBR version 1",
    class: "model",
    year: 2016,
    source: "Linux 5.x net/ipv4/tcp_bbr.c; Cardwell et al., ACM Queue 14 (2016)",
    deviations: "no long-term bandwidth estimate for policers (lt_bw), except with rules linux; a quantum is a budget \
                 that later acknowledgements may use up, where Linux cuts its packets at once; no packets wait in the \
                 host, so none are subtracted from the data in flight, except with rules linux; the initial window is \
                 paced from its first segment; BtlBw is the exact maximum over its rounds, except with rules linux; \
                 times are exact, not in jiffies; with rules ns3, of segments sent with the same delivery count the \
                 last one makes the sample, where ns-3 takes the first; the RTT of a single delayed acknowledgement \
                 may become the minimum RTT",
}
