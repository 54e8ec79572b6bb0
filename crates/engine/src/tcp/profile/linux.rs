//! The TCP stack of Linux: settings that differ from the standards, with their source.

use crate::tcp::ecn::EcnKind;
use crate::tcp::flight::FlightSize;
use crate::tcp::recovery::RecoveryKind;
use crate::time::Duration;
use crate::units::Bytes;

use super::{AlgorithmDefault, Counting, PacingClock, ProfileSetting, RttSamples};

/// Linux 6.x with its default sysctls.
pub(super) fn release_6() -> Vec<ProfileSetting> {
    settings! {
        initial_window = 10, "Linux include/net/tcp.h, TCP_INIT_CWND";
        initial_window_after_syn_loss = 1, "Linux tcp_input.c, tcp_init_transfer: one segment after more than one retransmitted SYN";
        counting = Counting::Segments, "Linux tcp_input.c, tcp_cong_control: acked_sacked, the segments newly delivered; tcp_cong.c, tcp_slow_start, tcp_cong_avoid_ai and tcp_reno_ssthresh: whole segments";
        delayed_ack_timeout = Duration::from_milliseconds(40), "Linux include/net/tcp.h, TCP_DELACK_MIN";
        quick_acks = 16, "Linux include/net/tcp.h, TCP_MAX_QUICKACKS";
        quick_acks_on_marks = 2, "Linux tcp_input.c, __tcp_ecn_check_ce and tcp_ecn_accept_cwr: the sender's window may be of one segment";
        receive_window_grows = true, "Linux tcp_input.c, tcp_grow_window and tcp_rcv_space_adjust";
        initial_rto = Duration::from_seconds(1), "Linux include/net/tcp.h, TCP_TIMEOUT_INIT";
        rto_after_syn_loss = Duration::from_seconds(3), "Linux include/net/tcp.h, TCP_TIMEOUT_FALLBACK";
        minimum_rto = Duration::from_milliseconds(200), "Linux include/net/tcp.h, TCP_RTO_MIN";
        maximum_rto = Duration::from_seconds(120), "Linux include/net/tcp.h, TCP_RTO_MAX";
        clock_granularity = Duration::from_milliseconds(200), "Linux tcp_input.c, tcp_rtt_estimator: the variation's part of the timeout is at least TCP_RTO_MIN";
        timer_tick = Duration::from_milliseconds(1), "Linux kernel/time/timer.c, calc_wheel_index, with HZ 1000";
        syn_retries = 6, "Linux include/net/tcp.h, TCP_SYN_RETRIES";
        data_retries = 15, "Linux include/net/tcp.h, TCP_RETR2";
        rtt_samples = RttSamples::Segments, "Linux tcp_input.c, tcp_clean_rtx_queue: seq_rtt_us of the first segment, ca_rtt_us of the last";
        sack_compression = Duration::from_milliseconds(1), "Linux Documentation/networking/ip-sysctl.rst, tcp_comp_sack_delay_ns; tcp_input.c, __tcp_ack_snd_check";
        pacing_clock = PacingClock::Host, "Linux tcp_output.c, tcp_update_skb_after_send";
        duplicate_sack = true, "Linux Documentation/networking/ip-sysctl.rst, tcp_dsack";
        recovery = RecoveryKind::Rack, "Linux Documentation/networking/ip-sysctl.rst, tcp_recovery 1 and tcp_early_retrans 3: RACK, tail loss probes; tcp_input.c, tcp_cwnd_reduction: proportional rate reduction";
        ecn_syn_retries = 0, "Linux Documentation/networking/ip-sysctl.rst, tcp_ecn_fallback 1; tcp_output.c, tcp_ecn_clear_syn";
        prr_on_marks = true, "Linux tcp_input.c, tcp_enter_cwr and tcp_cwnd_reduction: the state CWR";
        flight_size = FlightSize::Window, "Linux tcp_cong.c, tcp_reno_ssthresh, and tcp_cubic.c use snd_cwnd";
        send_buffer_grows = true, "Linux tcp_input.c, tcp_sndbuf_expand: room for two windows; tcp.c, tcp_sendmsg_locked: PSH on the segment that fills it";
        send_buffer = Bytes(4 << 20), "Linux Documentation/networking/ip-sysctl.rst, tcp_wmem: 4 MiB at most";
        receive_buffer = Bytes(3 << 20), "Linux Documentation/networking/ip-sysctl.rst, tcp_rmem: 6 MiB at most, of which tcp_adv_win_scale offers half";
    }
}

/// Linux 6.x with what is changed in data centres, where round trips take less than a millisecond.
pub(super) fn in_data_centre() -> Vec<ProfileSetting> {
    let mut settings = release_6();
    settings.extend(settings! {
        minimum_rto = Duration::from_milliseconds(10), "Alizadeh et al., SIGCOMM 2010, section 4: RTO_min of 10 ms; in Linux rto_min of ip-route(8)";
        clock_granularity = Duration::from_milliseconds(10), "Linux tcp_input.c, tcp_rtt_estimator: the variation's part of the timeout is at least rto_min";
        ecn = EcnKind::Classic, "RFC 8257 section 3: switches mark; Linux Documentation/networking/ip-sysctl.rst, tcp_ecn 1: both ends ask for ECN";
        delayed_ack_timeout = Duration::from_milliseconds(9), "Linux tcp_output.c, tcp_delack_max, from 6.7 on: the least timeout less a tick of 1 ms";
    });
    settings
}

/// What the congestion controls of Linux 6.1 do otherwise than their RFCs and papers.
pub(super) fn defaults_of_6() -> Vec<AlgorithmDefault> {
    defaults! {
        Control cubic: rules = "linux", "Linux tcp_cubic.c, bictcp_update: 5 % a round trip before the first loss, Reno's estimate at 0.53 segments a round trip, whole numbers";
        Control hstcp: rules = "linux", "Linux tcp_highspeed.c, hstcp_cong_avoid: an acknowledgement counts once, however many segments it covers; hstcp_aimd_vals: whole numbers";
        Control htcp: rules = "linux", "Linux tcp_htcp.c, htcp_alpha_update: whole factor; htcp_beta_update: modeswitch; htcp_state: time from the end of recovery";
        Control bic: rules = "linux", "Linux tcp_bic.c, bictcp_update: growth is multiplied by the segments that an acknowledgement covers";
        Control illinois: rules = "linux", "Linux tcp_illinois.c, tcp_illinois_acked: RTTs in any state; tcp_illinois_cong_avoid: whole segments";
        Control hybla: rules = "linux", "Linux tcp_hybla.c, hybla_cong_avoid: an acknowledgement counts once, however many segments it covers; hybla_init: an initial window of rho segments";
        Control bbr: rules = "linux", "Linux tcp_bbr.c, bbr_lt_bw_sampling and bbr_update_min_rtt";
        Control veno: rules = "linux", "Linux tcp_veno.c, tcp_veno_cong_avoid: the least RTT between acknowledgements, whole segments, of which the last acknowledgement does not count on a congested path";
        Control vegas: rules = "linux", "Linux tcp_vegas.c, tcp_vegas_cong_avoid: the backlog over the base RTT, rounded down";
        Control yeah: rules = "linux", "Linux tcp_vegas.c, tcp_vegas_cwnd_event: the base RTT is forgotten when none is in flight";
        Control westwood: rules = "linux", "Linux tcp_westwood.c, tcp_westwood_ack and tcp_westwood_event: measured through recovery, whose end sets the window";
        Control lp: rules = "linux", "Linux tcp_lp.c, tcp_lp_owd_calculator: delays of timestamps in milliseconds; tcp_lp_pkts_acked: minimum and maximum start anew at each indication";
        Control prague: rules = "linux", "github.com/L4STeam/linux tcp_prague.c, version 0.7: whole segments; prague_update_cwnd";
        Control prague: transition = 4, "github.com/L4STeam/linux tcp_prague.c, version 0.7, DEFAULT_RTT_TRANSITION";
        Stack prague: prr_on_marks = false, "github.com/L4STeam/linux tcp_prague.c, prague_enter_cwr: the window is reduced at once";
        Control dctcp: rules = "linux", "Linux tcp_dctcp.c, dctcp_ssthresh and dctcp_update_alpha: whole numbers";
        Control scalable: rules = "linux", "Linux tcp_scalable.c, tcp_scalable_cong_avoid: whole segments";
    }
}
