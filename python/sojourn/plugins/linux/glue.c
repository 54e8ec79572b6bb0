/* Runs a congestion control module of Linux as a congestion control of Sojourn. It is linked with the module.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sojourn's hooks become the calls that Linux 6.1 makes (net/ipv4/tcp_input.c), in their order: pkts_acked, in_ack_event, cong_avoid or
 * cong_control on acknowledgements; ssthresh, cwnd_event and set_state on congestion and at its end; undo_cwnd. Linux counts in
 * segments, Sojourn in bytes: what is less than a segment of the window that Sojourn set stays as it is until the module sets one.
 */
#include <sojourn.h>

#include "sojourn-linux.h"

enum { MOST_PARAMETERS = 32, MOST_MARKS = 256, MOST_SHOWN = 16 };

/* Bytes marked once so many were delivered. */
struct marks {
	u64 delivered, marked;
};

struct flow {
	u64 values[MOST_PARAMETERS]; /* of the module's parameters; Sojourn sets them */
	u64 shown[MOST_SHOWN];	     /* of its inner state; Sojourn reads them */
	struct tcp_sock tp;
	struct sojourn_random *random;
	u64 delivered, delivered_ce, lost, credit; /* in bytes */
	u64 high_seq;				   /* where a reduction without losses ends */
	u64 first, una, nxt;			   /* the first sequence number, the first not acknowledged, the next to be sent */
	u32 cwnd, ssthresh;			   /* as the module was shown them */
	u32 held_cwnd, held_ssthresh;		   /* what it set in a hook that cannot; 0 for nothing */
	u64 marks_seen;
	struct marks marks[MOST_MARKS];
	u64 reduced_from, reduced_delivered;	   /* of a reduction that the module began: the next to be sent then, and delivered since */
	u64 usage_end;				   /* until this is acknowledged, the use of the window counts (cwnd_usage_seq) */
	u32 held_back_from, held_back_until;	   /* what the module wants counted as application-limited: delivered when it was sent */
	u32 is_seen;				   /* whether the module has seen this acknowledgement */
	u32 loss_is_new;			   /* whether the latest loss may yet be a timeout's */
};

static struct tcp_congestion_ops *ops;
static struct sojourn_random *random_now;
static struct net net = { .ipv4 = { .sysctl_tcp_pacing_ca_ratio = 120, .sysctl_tcp_pacing_ss_ratio = 200, .sysctl_tcp_min_tso_segs = 2 } };

/* How long the machine has been up when a run begins, as in the guest of the backend linux: modules take 0 for a time that is not set. */
#define UPTIME (2ull * NSEC_PER_SEC)

u64 sojourn_clock;

u64 sojourn_next_bits(void)
{
	return random_now ? sojourn_bits(random_now) : 0;
}

/* What a library lacks that could not be started: Sojourn shows it. */
SOJOURN_EXPORT const char *sojourn_complaint;
const char *sojourn_complaint;

int tcp_register_congestion_control(struct tcp_congestion_ops *registered)
{
	/* As tcp_cong.c asks of all. */
	if (!registered || !registered->ssthresh || !registered->undo_cwnd || (!registered->cong_avoid && !registered->cong_control)) {
		sojourn_complaint = "registers a congestion control without ssthresh, undo_cwnd, or cong_avoid or cong_control";
		return -EINVAL;
	}
	/* Modules that register several begin with their own. */
	if (!ops)
		ops = registered;
	return 0;
}

/* ---- Parameters: the module's own variables, which are all flows'. A flow that has others sets them before its hooks. ---- */

extern const struct sojourn_module_parameter __start_sojourn_parameters[] __attribute__((weak, visibility("hidden")));
extern const struct sojourn_module_parameter __stop_sojourn_parameters[] __attribute__((weak, visibility("hidden")));
extern const struct sojourn_module_meaning __start_sojourn_meanings[] __attribute__((weak, visibility("hidden")));
extern const struct sojourn_module_meaning __stop_sojourn_meanings[] __attribute__((weak, visibility("hidden")));

static struct sojourn_parameter parameters[MOST_PARAMETERS + 1];
static u32 count;

static u64 value_of(const struct sojourn_module_parameter *parameter)
{
	u64 value = 0;

	memcpy(&value, parameter->place, parameter->bytes);
	return value;
}

static const char *meaning_of(const char *name)
{
	for (const struct sojourn_module_meaning *meaning = __start_sojourn_meanings; meaning < __stop_sojourn_meanings; meaning++)
		if (!strcmp(meaning->name, name))
			return meaning->meaning;
	return "";
}

static void activate(const struct flow *flow)
{
	bool is_changed = false;

	for (u32 place = 0; place < count; place++) {
		const struct sojourn_module_parameter *parameter = &__start_sojourn_parameters[place];

		if (value_of(parameter) != flow->values[place]) {
			memcpy(parameter->place, &flow->values[place], parameter->bytes);
			is_changed = true;
		}
	}
	/* Modules compute from their parameters as they are loaded. */
	if (is_changed)
		sojourn_main_init();
}

static struct sock *sk_of(struct flow *flow)
{
	return &flow->tp.inet_conn.icsk_sk;
}

/* ---- What the file beside the module shows of its inner state ---- */

extern const struct sojourn_module_value __start_sojourn_values[] __attribute__((weak, visibility("hidden")));
extern const struct sojourn_module_value __stop_sojourn_values[] __attribute__((weak, visibility("hidden")));

static struct sojourn_value shows[MOST_SHOWN + 1];
static u32 shown_count;

static void list_shown(void)
{
	for (u32 place = 0; place < shown_count; place++) {
		const struct sojourn_module_value *value = &__start_sojourn_values[place];

		shows[place] = (struct sojourn_value){
			.name = value->name,
			.unit = value->unit,
			.meaning = value->meaning,
			.phases = value->phases,
			.kind = value->kind,
			.bytes = 8,
			.offset = offsetof(struct flow, shown) + 8 * place,
		};
	}
}

/* Before the module has a state, nothing is known of it. */
static void show_nothing(struct flow *flow)
{
	for (u32 place = 0; place < shown_count; place++)
		flow->shown[place] = __start_sojourn_values[place].is_count ? 0 : SOJOURN_NONE;
}

static void show_state(struct flow *flow)
{
	for (u32 place = 0; place < shown_count; place++)
		if (!__start_sojourn_values[place].is_count)
			flow->shown[place] = __start_sojourn_values[place].bits(sk_of(flow));
}

static void count_acknowledgement(struct flow *flow)
{
	for (u32 place = 0; place < shown_count; place++)
		if (__start_sojourn_values[place].is_count)
			flow->shown[place] += __start_sojourn_values[place].bits(sk_of(flow));
}

/* ---- What the module sees ---- */

/* tcp_update_pacing_rate: what modules without a rate of their own find in sk_pacing_rate. */
static void set_pacing_rate(struct flow *flow)
{
	struct tcp_sock *tp = &flow->tp;
	u64 rate = (u64)tp->mss_cache * ((USEC_PER_SEC / 100) << 3);

	rate *= tp->snd_cwnd < tp->snd_ssthresh / 2 ? net.ipv4.sysctl_tcp_pacing_ss_ratio : net.ipv4.sysctl_tcp_pacing_ca_ratio;
	rate *= max(tp->snd_cwnd, tp->packets_out);
	if (tp->srtt_us)
		do_div(rate, tp->srtt_us);
	sk_of(flow)->sk_pacing_rate = min_t(u64, rate, sk_of(flow)->sk_max_pacing_rate);
}

static void see_time(struct flow *flow, sojourn_time now)
{
	sojourn_clock = UPTIME + now / SOJOURN_NANOSECOND;
	random_now = flow->random;
	flow->tp.tcp_clock_cache = flow->tp.tcp_wstamp_ns = sojourn_clock;
	flow->tp.tcp_mstamp = sojourn_clock / NSEC_PER_USEC;
	activate(flow);
}

static void set_state(struct flow *flow, u8 state)
{
	if (ops->set_state)
		ops->set_state(sk_of(flow), state);
	flow->tp.inet_conn.icsk_ca_state = state;
}

static void happen(struct flow *flow, enum tcp_ca_event event)
{
	if (ops->cwnd_event)
		ops->cwnd_event(sk_of(flow), event);
}

static void show(struct flow *flow, const struct sojourn_window *window, sojourn_time now)
{
	struct tcp_sock *tp = &flow->tp;
	bool is_first = !tp->mss_cache;

	tp->mss_cache = tp->advmss = (u32)window->mss;
	flow->cwnd = tp->snd_cwnd = max_t(u32, 1, (u32)(window->cwnd / window->mss));
	flow->ssthresh = tp->snd_ssthresh =
		window->ssthresh == UINT64_MAX ? TCP_INFINITE_SSTHRESH
					       : (u32)min_t(u64, window->ssthresh / window->mss, TCP_INFINITE_SSTHRESH);
	see_time(flow, now);
	if (is_first) {
		struct sock *sk = sk_of(flow);

		sk->sojourn_net = &net;
		sk->sk_max_pacing_rate = ~0ul;
		sk->sk_gso_max_size = GSO_LEGACY_MAX_SIZE;
		sk->sk_gso_max_segs = U16_MAX;
		sk->sk_pacing_shift = 10;
		sk->sk_state = TCP_ESTABLISHED;
		tp->inet_conn.icsk_ca_ops = ops;
		tp->inet_conn.icsk_rto = HZ;
		tp->snd_cwnd_clamp = ~0u;
		tp->ecn_flags = ops->flags & TCP_CONG_NEEDS_ECN ? TCP_ECN_OK : 0;
		tp->delivered = 1; /* the SYN */
		tp->rx_opt.saw_tstamp = 1;
		/* The handshake's is the first (tcp_rcv_synsent_state_process). */
		minmax_reset(&tp->rtt_min, tcp_jiffies32, tp->srtt_us ? tp->srtt_us >> 3 : ~0u);
		set_pacing_rate(flow);
		if (ops->init)
			ops->init(sk);
	}
	if (flow->held_cwnd)
		tp->snd_cwnd = flow->held_cwnd;
	if (flow->held_ssthresh)
		tp->snd_ssthresh = flow->held_ssthresh;
	flow->held_cwnd = flow->held_ssthresh = 0;
}

/* Keeps what the module set where Sojourn takes no window, for the next hook: HyStart of tcp_cubic.c ends slow start in pkts_acked. */
static void hold(struct flow *flow)
{
	const struct tcp_sock *tp = &flow->tp;

	flow->held_cwnd = tp->snd_cwnd != flow->cwnd ? max_t(u32, 1, tp->snd_cwnd) : 0;
	flow->held_ssthresh = tp->snd_ssthresh != flow->ssthresh ? max_t(u32, 1, tp->snd_ssthresh) : 0;
}

static void take(struct flow *flow, struct sojourn_window *window)
{
	struct tcp_sock *tp = &flow->tp;

	if (tp->snd_cwnd != flow->cwnd)
		window->cwnd = max_t(u64, 1, tp->snd_cwnd) * window->mss;
	if (tp->snd_ssthresh != flow->ssthresh) {
		if (tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH)
			window->ssthresh = UINT64_MAX;
		else
			sojourn_set_ssthresh(window, (u64)tp->snd_ssthresh * window->mss);
	}
	show_state(flow);
}

/* A loss was one, and no timeout's. Without recovery, a tail loss probe has repaired it (tcp_process_tlp_ack). */
static void settle(struct flow *flow, bool in_recovery)
{
	if (!flow->loss_is_new)
		return;
	flow->loss_is_new = 0;
	if (in_recovery) {
		u32 cwnd = flow->tp.snd_cwnd;

		/* Linux reduces the window after this: DCTCP halves what it finds. */
		flow->tp.snd_cwnd = flow->tp.prior_cwnd;
		set_state(flow, TCP_CA_Recovery);
		if (flow->tp.snd_cwnd == flow->tp.prior_cwnd)
			flow->tp.snd_cwnd = cwnd;
	} else {
		flow->high_seq = 0;
		happen(flow, CA_EVENT_TLP_RECOVERY);
		set_state(flow, TCP_CA_CWR);
	}
}

/* ---- Marks over the interval of a rate sample: how many there were when so much was delivered ---- */

static void count_marks(struct flow *flow, u64 marked)
{
	flow->delivered_ce += marked;
	if (marked)
		flow->marks[flow->marks_seen++ % MOST_MARKS] = (struct marks){ flow->delivered, flow->delivered_ce };
}

static u64 marks_before(const struct flow *flow, u64 delivered)
{
	u64 oldest = flow->marks_seen > MOST_MARKS ? flow->marks_seen - MOST_MARKS : 0;

	for (u64 place = flow->marks_seen; place > oldest; place--) {
		const struct marks *marks = &flow->marks[(place - 1) % MOST_MARKS];

		if (marks->delivered <= delivered)
			return marks->marked;
	}
	return oldest ? flow->marks[oldest % MOST_MARKS].marked : 0;
}

static void see_srtt(struct flow *flow, sojourn_time srtt)
{
	if (srtt)
		flow->tp.srtt_us = (u32)(srtt / SOJOURN_MICROSECOND) << 3;
}

static void see_rtt(struct flow *flow, sojourn_time rtt, sojourn_time srtt)
{
	struct tcp_sock *tp = &flow->tp;

	see_srtt(flow, srtt);
	if (rtt != SOJOURN_NONE)
		minmax_running_min(&tp->rtt_min, 300 * HZ, tcp_jiffies32, max_t(u32, 1, (u32)(rtt / SOJOURN_MICROSECOND)));
}

/* As with tcp_timestamps = 2: without a random offset for each connection (secure_tcp_seq_and_ts_off). */
static void see_timestamps(struct flow *flow, sojourn_time sent, sojourn_time echo)
{
	struct tcp_options_received *options = &flow->tp.rx_opt;

	if (sent == SOJOURN_NONE)
		return;
	options->rcv_tsval = (u32)((UPTIME + sent / SOJOURN_NANOSECOND) / NSEC_PER_MSEC);
	options->rcv_tsecr = (u32)((UPTIME + echo / SOJOURN_NANOSECOND) / NSEC_PER_MSEC);
}

/* Header prediction is taken to fail (tcp_rcv_established): it does with SACK blocks, and once a recovery ends, because what has
 * arrived then has not been read, so that the window is another. Else the two ways of Westwood count the same. */
static void see_acknowledged(struct flow *flow, u64 acked, u64 in_flight, sojourn_time rtt, u64 marked)
{
	struct sock *sk = sk_of(flow);
	u32 mss = flow->tp.mss_cache;
	struct ack_sample sample = {
		.pkts_acked = (u32)DIV_ROUND_UP(acked, mss),
		.rtt_us = rtt == SOJOURN_NONE ? -1 : (s32)(rtt / SOJOURN_MICROSECOND),
		/* What has been delivered since the segment was sent, in bytes (tcp_clean_rtx_queue): a window. */
		.in_flight = (u32)in_flight,
	};

	if (ops->pkts_acked)
		ops->pkts_acked(sk, &sample);
	if (ops->in_ack_event)
		ops->in_ack_event(sk, CA_ACK_SLOWPATH | (marked ? CA_ACK_ECE : CA_ACK_WIN_UPDATE));
	flow->is_seen = 1;
}

/* ---- Sojourn's hooks ---- */

static void begin(void *state, struct sojourn_random *random)
{
	struct flow *flow = state;

	flow->random = random;
	show_nothing(flow);
}

/* Modules are initialised at its end, and look at the clock then (tcp_init_transfer). */
static void on_established(void *state, struct sojourn_window *window, sojourn_time srtt, sojourn_time now)
{
	struct flow *flow = state;

	see_srtt(flow, srtt);
	show(flow, window, now);
	take(flow, window);
}

static void on_ack(void *state, const struct sojourn_window *window, const struct sojourn_ack *ack)
{
	struct flow *flow = state;
	struct tcp_sock *tp = &flow->tp;

	see_srtt(flow, ack->srtt);
	show(flow, window, ack->now);
	settle(flow, false);
	if (!flow->una)
		flow->first = ack->una - ack->acked;
	flow->una = ack->una;
	tp->snd_una = (u32)ack->una;
	tp->snd_nxt = tp->write_seq = (u32)ack->nxt;
	flow->nxt = ack->nxt;
	see_timestamps(flow, ack->sent, ack->echo);
	see_rtt(flow, ack->rtt, ack->srtt);
	tp->packets_out = (u32)((ack->in_flight + ack->acked) / window->mss) + tp->sacked_out;
	see_acknowledged(flow, ack->acked, ack->in_flight + ack->acked, ack->rtt, ack->marked);
	tp->packets_out = (u32)(ack->in_flight / window->mss) + tp->sacked_out;
	hold(flow);
}

static void grow(struct flow *flow, struct sojourn_window *window, const struct sojourn_ack *ack)
{
	u32 acked;

	show(flow, window, ack->now);
	flow->tp.is_cwnd_limited = 1;
	flow->credit += ack->credit;
	acked = (u32)(flow->credit / window->mss);
	flow->credit %= window->mss;
	if (acked && ops->cong_avoid && !flow->tp.sojourn_reduction)
		ops->cong_avoid(sk_of(flow), (u32)ack->una, acked);
	take(flow, window);
}

static void increase(void *state, struct sojourn_window *window, const struct sojourn_ack *ack)
{
	grow(state, window, ack);
}

static uint64_t increase_in_slow_start(void *state, struct sojourn_window *window, const struct sojourn_ack *ack)
{
	grow(state, window, ack);
	return 0;
}

static void on_congestion(void *state, struct sojourn_window *window, const struct sojourn_event *event)
{
	struct flow *flow = state;
	struct tcp_sock *tp = &flow->tp;
	struct sock *sk = sk_of(flow);

	show(flow, window, event->now);
	switch (event->kind) {
	case SOJOURN_LOSS:
	case SOJOURN_ECN:
		/* A loss within a reduction of the module's own goes on with it (tcp_enter_recovery). */
		if (!tp->sojourn_reduction) {
			tp->prior_cwnd = tp->snd_cwnd;
			tp->prior_ssthresh = tcp_current_ssthresh(sk);
			tp->snd_ssthresh = ops->ssthresh(sk);
		}
		tp->sojourn_reduction = SOJOURN_REDUCTION_NONE;
		tp->high_seq = tp->snd_nxt;
		tp->snd_cwnd_cnt = 0;
		flow->high_seq = flow->nxt;
		if (event->kind == SOJOURN_LOSS) {
			/* The acknowledgement that ends a recovery may begin the next. */
			if (tp->inet_conn.icsk_ca_state == TCP_CA_Recovery)
				set_state(flow, TCP_CA_Open);
			flow->loss_is_new = 1;
		}
		else
			set_state(flow, TCP_CA_CWR);
		break;
	case SOJOURN_TIMEOUT:
		flow->loss_is_new = 0;
		tp->sojourn_reduction = SOJOURN_REDUCTION_NONE;
		happen(flow, CA_EVENT_LOSS);
		tp->snd_cwnd = flow->cwnd; /* Sojourn sets it */
		set_state(flow, TCP_CA_Loss);
		break;
	case SOJOURN_SPURIOUS:
		settle(flow, true);
		if (ops->undo_cwnd)
			tp->snd_cwnd = ops->undo_cwnd(sk);
		set_state(flow, TCP_CA_Open);
		break;
	}
	take(flow, window);
}

/* A reduction that the module began (tcp_enter_cwr): proportional rate reduction without losses (tcp_cwnd_reduction; RFC 6937,
 * section 3), from the acknowledgement after the one with which it began. */
static void reduce(struct flow *flow, u64 delivered)
{
	struct tcp_sock *tp = &flow->tp;
	u32 mss = tp->mss_cache, in_flight = tcp_packets_in_flight(tp), sent;
	u64 target;

	if (tp->sojourn_reduction == SOJOURN_REDUCTION_BEGINS) {
		tp->sojourn_reduction = SOJOURN_REDUCTION_GOES_ON;
		flow->high_seq = flow->reduced_from = flow->nxt;
		flow->reduced_delivered = 0;
		return;
	}
	if (tp->sojourn_reduction != SOJOURN_REDUCTION_GOES_ON || !delivered)
		return;
	flow->reduced_delivered += delivered;
	sent = (u32)((flow->nxt - flow->reduced_from) / mss);
	target = DIV_ROUND_UP(tp->snd_ssthresh * (flow->reduced_delivered / mss), tp->prior_cwnd);
	if (in_flight < tp->snd_ssthresh)
		target = min_t(u64, max_t(u64, flow->reduced_delivered / mss, sent + delivered / mss) + 1, sent + tp->snd_ssthresh - in_flight);
	tp->snd_cwnd = in_flight + (target > sent ? (u32)(target - sent) : 0);
	if (!sent && tp->snd_cwnd == in_flight)
		tp->snd_cwnd++;
	/* It ends with the window at ssthresh (tcp_end_cwnd_reduction). */
	if (flow->una >= flow->high_seq) {
		tp->snd_cwnd = tp->snd_ssthresh;
		tp->snd_cwnd_stamp = tcp_jiffies32;
		tp->sojourn_reduction = SOJOURN_REDUCTION_NONE;
	}
}

/* A recovery or reduction ends; what has arrived out of order makes for Disorder. */
static void end_reduction(struct flow *flow, const struct sojourn_delivery *delivery)
{
	u8 state = flow->tp.inet_conn.icsk_ca_state;
	bool is_over = !delivery->in_recovery && (state != TCP_CA_CWR || flow->una >= flow->high_seq);

	u8 next = flow->tp.sacked_out ? TCP_CA_Disorder : TCP_CA_Open;

	if (!is_over || state == next)
		return;
	/* A recovery always passes Open: tcp_try_undo_recovery. */
	if (state == TCP_CA_Recovery)
		set_state(flow, TCP_CA_Open);
	if (state == TCP_CA_CWR || state == TCP_CA_Recovery)
		happen(flow, CA_EVENT_COMPLETE_CWR);
	if (flow->tp.inet_conn.icsk_ca_state != next)
		set_state(flow, next);
}

/* A module that sends less than it could, as BBR does in PROBE_RTT, sets app_limited: what is sent until as much is delivered is no
 * measure of the path (tcp_rate_skb_sent, tcp_rate_gen). */
static void hold_back(struct flow *flow, u32 app_limited)
{
	const struct tcp_sock *tp = &flow->tp;

	if (tp->app_limited == app_limited)
		return;
	if (!flow->held_back_until || after(tp->delivered, flow->held_back_until))
		flow->held_back_from = tp->delivered;
	flow->held_back_until = tp->app_limited;
}

static bool was_held_back(const struct flow *flow, u32 delivered_when_sent)
{
	return flow->held_back_until && between(delivered_when_sent, flow->held_back_from, flow->held_back_until);
}

/* How much of the window was used, as of the latest packet that was sent before this acknowledgement (tcp_cwnd_validate): a sender that
 * is held back by pacing did not use it. */
static void see_usage(struct flow *flow, const struct sojourn_delivery *delivery, u64 cwnd)
{
	struct tcp_sock *tp = &flow->tp;
	u32 mss = tp->mss_cache, packets = (u32)(delivery->prior_in_flight / mss) + tp->sacked_out;
	bool is_limited = delivery->prior_in_flight + mss > cwnd;

	if (flow->una - delivery->acked >= flow->usage_end || is_limited || (!tp->is_cwnd_limited && packets > tp->max_packets_out)) {
		tp->is_cwnd_limited = is_limited;
		tp->max_packets_out = packets;
		flow->usage_end = delivery->nxt;
	}
}

static void on_delivery(void *state, struct sojourn_window *window, const struct sojourn_delivery *delivery)
{
	struct flow *flow = state;
	struct tcp_sock *tp = &flow->tp;
	const struct sojourn_rate_sample *rate = &delivery->rate;
	u32 mss = (u32)window->mss, delivered_before, app_limited;
	bool is_limited;

	show(flow, window, delivery->now);
	/* In recovery, and of duplicates, on_ack tells nothing. */
	if (!flow->is_seen) {
		see_timestamps(flow, delivery->sent, delivery->echo);
		see_rtt(flow, delivery->rtt, delivery->srtt);
		flow->una += delivery->acked;
		flow->nxt = delivery->nxt;
		tp->snd_una = (u32)flow->una;
		tp->snd_nxt = tp->write_seq = (u32)flow->nxt;
		see_acknowledged(flow, delivery->delivered, delivery->prior_in_flight, delivery->rtt, delivery->marked);
	}
	flow->is_seen = 0;
	settle(flow, delivery->in_recovery);
	delivered_before = tp->delivered;
	flow->delivered = delivery->total_delivered;
	count_marks(flow, delivery->marked);
	if (!ops->skb_marked_lost)
		flow->lost += delivery->lost;
	tp->delivered = 1 + (u32)(flow->delivered / mss);
	tp->delivered_ce = (u32)(flow->delivered_ce / mss);
	tp->lost = (u32)(flow->lost / mss);
	if (delivery->delivered)
		tp->delivered_mstamp = tp->tcp_mstamp;
	is_limited = rate->is_valid && (rate->app_limited || was_held_back(flow, 1 + (u32)(rate->prior_delivered / mss)));
	tp->app_limited = app_limited = is_limited ? tp->delivered + 1 : 0;
	see_usage(flow, delivery, window->cwnd);
	/* In recovery nothing tells what of it is acknowledged for good, and nothing depends on it. */
	tp->sacked_out = delivery->in_recovery ? 0 : (u32)((flow->delivered - min(flow->delivered, flow->una - flow->first)) / mss);
	tp->packets_out = (u32)(delivery->in_flight / mss) + tp->sacked_out;
	tp->inet_conn.icsk_ack.rcv_mss = mss;
	reduce(flow, delivery->delivered);
	if (!ops->cong_control)
		set_pacing_rate(flow);
	end_reduction(flow, delivery);
	if (ops->cong_control) {
		bool has_rate = rate->is_valid && rate->interval != SOJOURN_NONE;
		struct rate_sample rs = {
			.prior_mstamp = has_rate ? tp->tcp_mstamp - rate->interval / SOJOURN_MICROSECOND : 0,
			.prior_delivered = 1 + (u32)(rate->prior_delivered / mss),
			.delivered = has_rate ? (s32)(rate->delivered / mss) : -1,
			.interval_us = has_rate ? (long)(rate->interval / SOJOURN_MICROSECOND) : -1,
			.rtt_us = rate->rtt != SOJOURN_NONE && rate->is_valid ? (long)(rate->rtt / SOJOURN_MICROSECOND)
				  : delivery->rtt != SOJOURN_NONE	       ? (long)(delivery->rtt / SOJOURN_MICROSECOND)
									       : -1,
			.losses = (int)(delivery->lost / mss),
			.acked_sacked = tp->delivered - delivered_before,
			.prior_in_flight = (u32)(delivery->prior_in_flight / mss),
			.last_end_seq = tp->snd_una,
			.is_app_limited = is_limited,
			.prior_delivered_ce = (u32)(marks_before(flow, rate->prior_delivered) / mss),
			.prior_lost = tp->lost - (u32)(rate->lost / mss),
			.tx_in_flight = (u32)(rate->in_flight_when_sent / mss),
			.lost = (s32)(rate->lost / mss),
			.is_ece = delivery->marked != 0,
		};

		rs.delivered_ce = (s32)(tp->delivered_ce - rs.prior_delivered_ce);
		tp->first_tx_mstamp = rs.prior_mstamp;
#ifdef SOJOURN_KERNEL_IS_LATER
		ops->cong_control(sk_of(flow), tp->snd_una, 0, &rs);
#else
		ops->cong_control(sk_of(flow), &rs);
#endif
	}
	hold_back(flow, app_limited);
	count_acknowledgement(flow);
	take(flow, window);
}

static void on_segment_lost(void *state, struct sojourn_window *window, const struct sojourn_lost_segment *lost)
{
	struct flow *flow = state;
	struct tcp_sock *tp = &flow->tp;
	u32 mss = (u32)window->mss;

	show(flow, window, lost->now);
	flow->lost += mss;
	tp->lost = (u32)(flow->lost / mss);
	struct sk_buff skb = { .cb = {
		.tx = {
			.is_app_limited = lost->app_limited,
			.delivered_mstamp = (u32)tp->tcp_mstamp | 1,
			.in_flight = (u32)(lost->in_flight_when_sent / mss),
			.lost = tp->lost - (u32)(lost->lost / mss),
		},
	} };
	ops->skb_marked_lost(sk_of(flow), &skb);
	take(flow, window);
}

static void on_restart(void *state, struct sojourn_window *window, sojourn_time now)
{
	struct flow *flow = state;

	show(flow, window, now);
	flow->tp.packets_out = 0;
	/* It has data again after none was there (tcp_sendmsg_locked, tcp_rate_check_app_limited). */
	flow->tp.app_limited = flow->tp.delivered;
	happen(flow, CA_EVENT_TX_START);
	flow->tp.lsndtime = tcp_jiffies32;
	take(flow, window);
}

static uint64_t pacing_rate(void *state, const struct sojourn_window *window, sojourn_time srtt)
{
	return 8 * (uint64_t)sk_of(state)->sk_pacing_rate;
}

/* tcp_tso_autosize: what leaves together. */
static uint64_t pacing_quantum(void *state, uint64_t mss)
{
	struct flow *flow = state;
	struct sock *sk = sk_of(flow);
	u64 bytes, least;

	if (!flow->tp.mss_cache)
		return mss;
	bytes = min_t(u64, sk->sk_pacing_rate >> sk->sk_pacing_shift, GSO_LEGACY_MAX_SIZE - 1 - MAX_TCP_HEADER);
	least = ops->min_tso_segs ? ops->min_tso_segs(sk) : (u64)net.ipv4.sysctl_tcp_min_tso_segs;
	return ops->tso_segs ? ops->tso_segs(sk, (unsigned int)mss) * mss : max_t(u64, bytes / mss, least) * mss;
}

/* ---- What Sojourn finds ---- */

SOJOURN_EXPORT struct sojourn_congestion_control sojourn_congestion_control;
struct sojourn_congestion_control sojourn_congestion_control;

__attribute__((constructor)) static void load(void)
{
	static char title[64];

	count = (u32)(__stop_sojourn_parameters - __start_sojourn_parameters);
	if (count > MOST_PARAMETERS) {
		sojourn_complaint = "has more than 32 parameters";
		return;
	}
	for (u32 place = 0; place < count; place++) {
		const struct sojourn_module_parameter *parameter = &__start_sojourn_parameters[place];

		parameters[place] = (struct sojourn_parameter){
			.name = parameter->name,
			.meaning = meaning_of(parameter->name),
			.initial = (double)value_of(parameter),
			.least = 0,
			.most = parameter->bytes >= 4 ? S32_MAX : parameter->bytes == 2 ? INT16_MAX : INT8_MAX,
			.kind = parameter->is_bool ? SOJOURN_KIND_BOOLEAN : SOJOURN_KIND_INTEGER,
			.bytes = 8,
			.offset = offsetof(struct flow, values) + 8 * place,
		};
	}
	shown_count = (u32)(__stop_sojourn_values - __start_sojourn_values);
	if (shown_count > MOST_SHOWN) {
		sojourn_complaint = "shows more than 16 values of its state";
		return;
	}
	list_shown();
	sojourn_clock = UPTIME;
	if (sojourn_main_init() || !ops) {
		if (!sojourn_complaint)
			sojourn_complaint = "registers no congestion control";
		return;
	}
	strcpy(title, "Linux module ");
	strncat(title, ops->name, TCP_CA_NAME_MAX);
	sojourn_congestion_control = (struct sojourn_congestion_control){
		.version = SOJOURN_VERSION,
		.bytes = sizeof(struct sojourn_congestion_control),
		.state_bytes = sizeof(struct flow),
		.title = title,
		.source = "an unmodified module of Linux",
		.draws = SOJOURN_MODULE_DRAWS ? "what the module draws" : NULL,
		.parameters = parameters,
		.needs = (ops->cong_control ? SOJOURN_GOVERNS | SOJOURN_NEEDS_PACING : 0) |
			 (ops->flags & TCP_CONG_ECT_1_NEGOTIATION ? SOJOURN_NEEDS_ECT1 : 0) |
			 (ops->flags & TCP_CONG_NEEDS_ECN ? SOJOURN_NEEDS_ECT0 : 0) |
			 (SOJOURN_MODULE_TIMESTAMPS ? SOJOURN_NEEDS_ONE_WAY_DELAY : 0),
		.init = begin,
		.increase = increase,
		.on_congestion = on_congestion,
		.on_ack = on_ack,
		.increase_in_slow_start = increase_in_slow_start,
		.on_delivery = on_delivery,
		.on_segment_lost = ops->skb_marked_lost ? on_segment_lost : NULL,
		.on_restart = on_restart,
		.on_established = on_established,
		.pacing_rate = ops->cong_control ? pacing_rate : NULL,
		.pacing_quantum = ops->cong_control ? pacing_quantum : NULL,
		.shows = shows,
	};
}
