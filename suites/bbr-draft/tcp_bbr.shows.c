/* What the BBRv3 of google/bbr shows of its state, by the names of draft-ietf-ccwg-bbr: for `sojourn evaluate --suite bbr-draft`. */

MODULE_SHOW_STATE(struct bbr);

static const char *const phases[] = {
	"startup", "drain", "probe_bw_down", "probe_bw_cruise", "probe_bw_refill", "probe_bw_up", "probe_rtt", NULL,
};

static u64 phase(const struct bbr *ca)
{
	static const u64 of_cycle[] = { [BBR_BW_PROBE_DOWN] = 2, [BBR_BW_PROBE_CRUISE] = 3, [BBR_BW_PROBE_REFILL] = 4, [BBR_BW_PROBE_UP] = 5 };

	return ca->mode == BBR_STARTUP ? 0 : ca->mode == BBR_DRAIN ? 1 : ca->mode == BBR_PROBE_RTT ? 6 : of_cycle[ca->cycle_idx];
}

/* ~0U is no bound, and 0 no sample yet. */
static u64 rate(struct sock *sk, u32 bw) { return bw && bw != ~0U ? 8 * bbr_bw_bytes_per_sec(sk, bw) : SOJOURN_NONE; }
static u64 size(const struct tcp_sock *tp, u32 segments) { return segments != ~0U ? (u64)segments * tp->mss_cache : SOJOURN_NONE; }

/* In PROBE_RTT the member has 1, and bbr_probe_rtt_cwnd() is what limits the window. */
static double cwnd_gain(const struct bbr *ca)
{
	return (double)(ca->mode == BBR_PROBE_RTT ? bbr_probe_rtt_cwnd_gain : ca->cwnd_gain) / BBR_UNIT;
}

MODULE_SHOW_PHASE(phase, phase(ca), phases, "BBR.state");
MODULE_SHOW_RATE(max_bw, rate(sk, bbr_max_bw(sk)), "BBR.max_bw");
MODULE_SHOW_RATE(bw, rate(sk, bbr_bw(sk)), "BBR.bw");
MODULE_SHOW_RATE(bw_shortterm, rate(sk, ca->bw_lo), "BBR.bw_shortterm");
MODULE_SHOW_SIZE(inflight_longterm, size(tp, ca->inflight_hi), "BBR.inflight_longterm");
MODULE_SHOW_SIZE(inflight_shortterm, size(tp, ca->inflight_lo), "BBR.inflight_shortterm");
MODULE_SHOW_DURATION(min_rtt, ca->min_rtt_us != ~0U ? ca->min_rtt_us : SOJOURN_NONE, "BBR.min_rtt");
MODULE_SHOW_NUMBER(pacing_gain, (double)ca->pacing_gain / BBR_UNIT, "", "BBR.pacing_gain");
MODULE_SHOW_NUMBER(cwnd_gain, cwnd_gain(ca), "", "BBR.cwnd_gain");
MODULE_SHOW_RATE(pacing_rate, 8 * (u64)sk->sk_pacing_rate, "C.pacing_rate");
MODULE_SHOW_SIZE(extra_acked, size(tp, bbr_extra_acked(sk)), "BBR.extra_acked");
MODULE_SHOW_BOOLEAN(full_bw_now, ca->full_bw_now, "BBR.full_bw_now");
MODULE_SHOW_BOOLEAN(full_bw_reached, ca->full_bw_reached, "BBR.full_bw_reached");
MODULE_SHOW_COUNT(round_count, ca->round_start, "BBR.round_count");
