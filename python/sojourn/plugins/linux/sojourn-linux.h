/* What Linux's congestion control modules need of the kernel, for modules that run in Sojourn.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names, types and meanings are those of Linux 6.1 (include/net/tcp.h, include/linux/tcp.h and others), with additions that later
 * modules use (BBRv3). Nothing is copied from there but the interface. Every header that a module includes is this one.
 */
#ifndef SOJOURN_KERNEL_H
#define SOJOURN_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- Types and macros of the kernel ---- */

/* cong_control has two more arguments from 6.10 on. A module that does not compile for 6.1 for that reason is compiled for 6.12. */
#define KERNEL_VERSION(major, minor, patch) (((major) << 16) + ((minor) << 8) + (patch))
#ifdef SOJOURN_KERNEL_IS_LATER
#define LINUX_VERSION_CODE KERNEL_VERSION(6, 12, 0)
#else
#define LINUX_VERSION_CODE KERNEL_VERSION(6, 1, 0)
#endif

typedef uint8_t u8, __u8;
typedef uint16_t u16, __u16, __be16;
typedef uint32_t u32, __u32, __be32;
typedef uint64_t u64, __u64;
typedef int8_t s8, __s8;
typedef int16_t s16, __s16;
typedef int32_t s32, __s32;
typedef int64_t s64, __s64, ktime_t;
typedef unsigned int gfp_t;

#define __init
#define __exit
#define __read_mostly
#define __bpf_kfunc
#define __force
#define __user
#define __pure __attribute__((pure))
#undef __attribute_const__
#define __attribute_const__ __attribute__((const))
#define __packed __attribute__((packed))
#define __aligned(bytes) __attribute__((aligned(bytes)))
#define __maybe_unused __attribute__((unused))
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define ____cacheline_aligned_in_smp
#define noinline __attribute__((noinline))
#define noinline_for_stack noinline
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define fallthrough __attribute__((fallthrough))
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, value) ((x) = (value))
#define BIT(n) (1ul << (n))
#define BIT_ULL(n) (1ull << (n))
#define BITS_PER_TYPE(type) (8 * sizeof(type))
#define U32_C(x) x##u
#define U32_MAX UINT32_MAX
#define S32_MAX INT32_MAX
#define U16_MAX UINT16_MAX
#define U64_MAX UINT64_MAX
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define BUILD_BUG_ON(condition) _Static_assert(!(condition), #condition)
#define WARN_ON(condition) ((void)0, !!(condition))
#define WARN_ON_ONCE(condition) WARN_ON(condition)
#define WARN_ONCE(condition, ...) WARN_ON(condition)
#define pr_debug(...) ((void)0)
#define pr_info(...) ((void)0)
#define pr_warn(...) ((void)0)
#define pr_err(...) ((void)0)
#define printk(...) ((void)0)
#define KERN_INFO ""
#define KERN_DEBUG ""
#define THIS_MODULE NULL
#define GFP_NOWAIT 0u
#define GFP_KERNEL 0u
#define GFP_ATOMIC 0u
#define __GFP_NOWARN 0u

#define SOJOURN_PICK_(type, a, b, relation) \
	__extension__({ \
		type pick_a_ = (a); \
		type pick_b_ = (b); \
		pick_a_ relation pick_b_ ? pick_a_ : pick_b_; \
	})
#define min_t(type, a, b) SOJOURN_PICK_(type, a, b, <)
#define max_t(type, a, b) SOJOURN_PICK_(type, a, b, >)
#define min(a, b) min_t(__typeof__((a) + 0), a, b)
#define max(a, b) max_t(__typeof__((a) + 0), a, b)
#define min3(a, b, c) min(min(a, b), c)
#define max3(a, b, c) max(max(a, b), c)
#define clamp(value, low, high) min(max(value, low), high)
#define clamp_t(type, value, low, high) min_t(type, max_t(type, value, low), high)
#define clamp_val(value, low, high) clamp_t(__typeof__(value), value, low, high)
#define min_not_zero(a, b) \
	__extension__({ \
		__typeof__(a) least_a_ = (a); \
		__typeof__(b) least_b_ = (b); \
		least_a_ == 0 ? least_b_ : least_b_ == 0 ? least_a_ : min(least_a_, least_b_); \
	})
#define swap(a, b) \
	do { \
		__typeof__(a) swapped_ = (a); \
		(a) = (b); \
		(b) = swapped_; \
	} while (0)
#define cmpxchg(place, old, new) \
	__extension__({ \
		__typeof__(*(place)) found_ = *(place); \
		if (found_ == (old)) \
			*(place) = (new); \
		found_; \
	})
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define DIV_ROUND_CLOSEST(n, d) (((n) + (d) / 2) / (d))
#define DIV_ROUND_UP_ULL(n, d) DIV_ROUND_UP((u64)(n), (u64)(d))
#define DIV_U64_ROUND_UP(n, d) DIV_ROUND_UP_ULL(n, (u32)(d))
#define DIV64_U64_ROUND_UP(n, d) DIV_ROUND_UP_ULL(n, d)
#define DIV_U64_ROUND_CLOSEST(n, d) DIV_ROUND_CLOSEST((u64)(n), (u64)(u32)(d))
#define DIV64_U64_ROUND_CLOSEST(n, d) DIV_ROUND_CLOSEST((u64)(n), (u64)(d))
#define do_div(n, base) \
	__extension__({ \
		u32 base_ = (base); \
		u32 rest_ = (u64)(n) % base_; \
		(n) = (u64)(n) / base_; \
		rest_; \
	})

static inline u64 div_u64(u64 n, u32 d) { return n / d; }
static inline s64 div_s64(s64 n, s32 d) { return n / d; }
static inline u64 div64_u64(u64 n, u64 d) { return n / d; }
static inline s64 div64_s64(s64 n, s64 d) { return n / d; }
#define div64_ul(n, d) div64_u64(n, d)
#define div64_long(n, d) div64_s64(n, d)
static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift) { return (u64)(((unsigned __int128)a * b) >> shift); }
static inline u64 mul_u64_u32_shr(u64 a, u32 b, unsigned int shift) { return mul_u64_u64_shr(a, b, shift); }
static inline int fls(u32 x) { return x ? 32 - __builtin_clz(x) : 0; }
static inline int fls64(u64 x) { return x ? 64 - __builtin_clzll(x) : 0; }
static inline int ilog2(u64 x) { return fls64(x) - 1; }
static inline u64 int_pow(u64 base, unsigned int exponent)
{
	u64 power = 1;

	while (exponent--)
		power *= base;
	return power;
}
static inline bool is_power_of_2(unsigned long x) { return x && !(x & (x - 1)); }
static inline u32 int_sqrt(unsigned long x)
{
	u32 root = 0;

	for (int bit = 31; bit >= 0; bit--) {
		u64 more = (u64)root | (1ull << bit);

		if (more * more <= x)
			root = (u32)more;
	}
	return root;
}

#define kcalloc(count, size, flags) calloc(count, size)
#define kzalloc(size, flags) calloc(1, size)
#define kmalloc(size, flags) malloc(size)
#define kfree(memory) free((void *)(memory))

/* ---- Lists (Documentation/core-api/list.rst): circles in which the head has no entry ---- */

#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))

struct list_head {
	struct list_head *next, *prev;
};
#define LIST_HEAD_INIT(name) { &(name), &(name) }
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *list) { list->next = list->prev = list; }
static inline void sojourn_link(struct list_head *entry, struct list_head *before_it, struct list_head *after_it)
{
	entry->prev = before_it;
	entry->next = after_it;
	before_it->next = after_it->prev = entry;
}
static inline void list_add(struct list_head *entry, struct list_head *head) { sojourn_link(entry, head, head->next); }
static inline void list_add_tail(struct list_head *entry, struct list_head *head) { sojourn_link(entry, head->prev, head); }
static inline void list_del(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	entry->next = entry->prev = NULL;
}
static inline void list_del_init(struct list_head *entry)
{
	list_del(entry);
	INIT_LIST_HEAD(entry);
}
static inline void list_move(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add(entry, head);
}
static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add_tail(entry, head);
}
static inline int list_empty(const struct list_head *head) { return head->next == head; }
static inline int list_is_first(const struct list_head *entry, const struct list_head *head) { return entry->prev == head; }
static inline int list_is_last(const struct list_head *entry, const struct list_head *head) { return entry->next == head; }
static inline int list_is_singular(const struct list_head *head) { return !list_empty(head) && head->next == head->prev; }

#define list_entry(pointer, type, member) container_of(pointer, type, member)
#define list_first_entry(head, type, member) list_entry((head)->next, type, member)
#define list_last_entry(head, type, member) list_entry((head)->prev, type, member)
#define list_first_entry_or_null(head, type, member) (list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_next_entry(place, member) list_entry((place)->member.next, __typeof__(*(place)), member)
#define list_prev_entry(place, member) list_entry((place)->member.prev, __typeof__(*(place)), member)
#define list_for_each(place, head) for ((place) = (head)->next; (place) != (head); (place) = (place)->next)
#define list_for_each_safe(place, following, head) \
	for ((place) = (head)->next, (following) = (place)->next; (place) != (head); (place) = (following), (following) = (place)->next)
#define list_for_each_entry(place, head, member) \
	for ((place) = list_first_entry(head, __typeof__(*(place)), member); &(place)->member != (head); \
	     (place) = list_next_entry(place, member))
#define list_for_each_entry_reverse(place, head, member) \
	for ((place) = list_last_entry(head, __typeof__(*(place)), member); &(place)->member != (head); \
	     (place) = list_prev_entry(place, member))
#define list_for_each_entry_safe(place, following, head, member) \
	for ((place) = list_first_entry(head, __typeof__(*(place)), member), (following) = list_next_entry(place, member); \
	     &(place)->member != (head); (place) = (following), (following) = list_next_entry(following, member))

/* ---- Time ---- */

#ifndef HZ
#define HZ 1000
#endif
#define CONFIG_HZ HZ
#define MSEC_PER_SEC 1000L
#define USEC_PER_MSEC 1000L
#define USEC_PER_SEC 1000000L
#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_SEC 1000000000L

/* Nanoseconds since the machine was started, some time before the run. What all files of a module share is in glue.c. */
extern u64 sojourn_clock __attribute__((visibility("hidden")));

#define jiffies ((unsigned long)(sojourn_clock / (NSEC_PER_SEC / HZ)))
#define tcp_jiffies32 ((u32)jiffies)
#define time_before(a, b) ((long)((a) - (b)) < 0)
#define time_after(a, b) time_before(b, a)
#define time_after_eq(a, b) ((long)((a) - (b)) >= 0)
#define time_before_eq(a, b) time_after_eq(b, a)
static inline u64 local_clock(void) { return sojourn_clock; }
static inline u64 ktime_get_ns(void) { return sojourn_clock; }
static inline u64 tcp_clock_ns(void) { return sojourn_clock; }
static inline u64 tcp_clock_us(void) { return sojourn_clock / NSEC_PER_USEC; }
static inline unsigned long usecs_to_jiffies(u32 us) { return ((u64)us * HZ + USEC_PER_SEC - 1) / USEC_PER_SEC; }
static inline unsigned long msecs_to_jiffies(u32 ms) { return ((u64)ms * HZ + MSEC_PER_SEC - 1) / MSEC_PER_SEC; }
static inline unsigned long nsecs_to_jiffies(u64 ns) { return ns / (NSEC_PER_SEC / HZ); }
static inline u32 jiffies_to_usecs(unsigned long j) { return (u32)(j * (USEC_PER_SEC / HZ)); }
static inline u32 jiffies_to_msecs(unsigned long j) { return (u32)(j * MSEC_PER_SEC / HZ); }

/* ---- Random numbers: of the flow's own stream ---- */

u64 sojourn_next_bits(void) __attribute__((visibility("hidden")));

static inline u32 get_random_u32(void) { return (u32)(sojourn_next_bits() >> 32); }
static inline u32 prandom_u32(void) { return get_random_u32(); }
static inline u32 prandom_u32_max(u32 limit) { return (u32)(((u64)get_random_u32() * limit) >> 32); }
static inline u32 get_random_u32_below(u32 limit) { return prandom_u32_max(limit); }
static inline void get_random_bytes(void *bytes, size_t count)
{
	for (size_t place = 0; place < count; place++)
		((u8 *)bytes)[place] = (u8)(sojourn_next_bits() >> 56);
}

/* ---- The windowed minimum and maximum of include/linux/win_minmax.h ---- */

struct minmax_sample {
	u32 t;
	u32 v;
};

/* The best of the window, and the best of what followed each. */
struct minmax {
	struct minmax_sample s[3];
};

static inline u32 minmax_get(const struct minmax *m) { return m->s[0].v; }

static inline u32 minmax_reset(struct minmax *m, u32 t, u32 value)
{
	m->s[0] = m->s[1] = m->s[2] = (struct minmax_sample){ .t = t, .v = value };
	return value;
}

/* A new best, or the end of a window in which nothing was seen, starts anew; else the value takes the places of those that it beats.
 * The second and third best are renewed in the second quarter and half of the window, so that they do not age with the first. */
static inline u32 sojourn_running(struct minmax *m, u32 window, u32 t, u32 value, bool largest)
{
	struct minmax_sample fresh = { .t = t, .v = value };
	u32 age;

#define SOJOURN_BEATS_(held) (largest ? value >= (held) : value <= (held))
	if (SOJOURN_BEATS_(m->s[0].v) || t - m->s[2].t > window)
		return minmax_reset(m, t, value);
	if (SOJOURN_BEATS_(m->s[1].v))
		m->s[1] = m->s[2] = fresh;
	else if (SOJOURN_BEATS_(m->s[2].v))
		m->s[2] = fresh;
#undef SOJOURN_BEATS_
	age = t - m->s[0].t;
	if (age > window) {
		do {
			m->s[0] = m->s[1];
			m->s[1] = m->s[2];
			m->s[2] = fresh;
		} while (t - m->s[0].t > window);
	} else if (m->s[1].t == m->s[0].t && age > window / 4) {
		m->s[1] = m->s[2] = fresh;
	} else if (m->s[2].t == m->s[1].t && age > window / 2) {
		m->s[2] = fresh;
	}
	return m->s[0].v;
}

#define minmax_running_max(m, window, t, value) sojourn_running(m, window, t, value, true)
#define minmax_running_min(m, window, t, value) sojourn_running(m, window, t, value, false)

/* ---- Sockets ---- */

enum { TCP_ESTABLISHED = 1, TCP_CLOSE = 7, TCP_LISTEN = 10 };
#define TCPF_ESTABLISHED (1 << TCP_ESTABLISHED)
#define TCPF_CLOSE (1 << TCP_CLOSE)
#define TCPF_LISTEN (1 << TCP_LISTEN)

enum sk_pacing { SK_PACING_NONE = 0, SK_PACING_NEEDED = 1, SK_PACING_FQ = 2 };

enum tcp_ca_state { TCP_CA_Open = 0, TCP_CA_Disorder = 1, TCP_CA_CWR = 2, TCP_CA_Recovery = 3, TCP_CA_Loss = 4 };
#define TCPF_CA_Open (1 << TCP_CA_Open)
#define TCPF_CA_Disorder (1 << TCP_CA_Disorder)
#define TCPF_CA_CWR (1 << TCP_CA_CWR)
#define TCPF_CA_Recovery (1 << TCP_CA_Recovery)
#define TCPF_CA_Loss (1 << TCP_CA_Loss)

enum tcp_ca_event {
	CA_EVENT_TX_START,
	CA_EVENT_CWND_RESTART,
	CA_EVENT_COMPLETE_CWR,
	CA_EVENT_LOSS,
	CA_EVENT_ECN_NO_CE,
	CA_EVENT_ECN_IS_CE,
	CA_EVENT_TLP_RECOVERY, /* BBRv3 */
};

enum tcp_ca_ack_event_flags { CA_ACK_SLOWPATH = 1, CA_ACK_WIN_UPDATE = 2, CA_ACK_ECE = 4 };

enum tcp_chrono { TCP_CHRONO_UNSPEC, TCP_CHRONO_BUSY, TCP_CHRONO_RWND_LIMITED, TCP_CHRONO_SNDBUF_LIMITED };
enum inet_csk_ack_state_t { ICSK_ACK_SCHED = 1, ICSK_ACK_TIMER = 2, ICSK_ACK_PUSHED = 4, ICSK_ACK_PUSHED2 = 8, ICSK_ACK_NOW = 16 };

#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_INIT_CWND 10
#define TCP_CA_NAME_MAX 16
#define TCP_RTO_MAX ((unsigned int)(120 * HZ))
#define TCP_RTO_MIN ((unsigned int)(HZ / 5))
#define TCP_TS_HZ 1000
#define TCP_ECN_OK 1
#define TCP_ECN_QUEUE_CWR 2
#define TCP_ECN_DEMAND_CWR 4
#define TCP_ECN_SEEN 8
#define TCP_ECN_LOW 16
#define TCP_ECN_ECT_PERMANENT 32
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CONG_NEEDS_ECN 2
#define TCP_CONG_WANTS_CE_EVENTS 4
/* 7.0, with other values there */
#define TCP_CONG_NEEDS_ACCECN 8
#define TCP_CONG_ECT_1_NEGOTIATION 16
#define TCP_CONG_NO_FALLBACK_RFC3168 32
#define MAX_TCP_HEADER 320
#define GSO_LEGACY_MAX_SIZE 65536u
#define GSO_MAX_SIZE GSO_LEGACY_MAX_SIZE
#define ICSK_CA_PRIV_SIZE sizeof(((struct inet_connection_sock *)0)->icsk_ca_priv)

struct net {
	struct {
		int sysctl_tcp_pacing_ca_ratio;
		int sysctl_tcp_pacing_ss_ratio;
		int sysctl_tcp_min_tso_segs;
		int sysctl_tcp_ecn;
		int sysctl_tcp_plb_enabled; /* 0, as it is by default */
	} ipv4;
};

struct sock {
	unsigned long sk_pacing_rate; /* bytes per second */
	unsigned long sk_max_pacing_rate;
	u32 sk_pacing_status;
	u32 sk_gso_max_size;
	u16 sk_gso_max_segs;
	u8 sk_pacing_shift;
	int sk_state;
	struct net *sojourn_net;
};

struct tcp_congestion_ops;

struct inet_connection_sock {
	struct sock icsk_sk;
	u32 icsk_rto;
	u8 icsk_ca_state;
	u8 icsk_retransmits;
	struct {
		u8 pending;
		u32 rcv_mss;
	} icsk_ack;
	const struct tcp_congestion_ops *icsk_ca_ops;
	u64 icsk_ca_priv[32]; /* 13 in mainline, 18 with BBRv3 */
};

struct tcp_options_received {
	u32 rcv_tsval;
	u32 rcv_tsecr;
	u16 saw_tstamp : 1;
};

/* Of the window, by the module itself. */
enum sojourn_reduction { SOJOURN_REDUCTION_NONE, SOJOURN_REDUCTION_BEGINS, SOJOURN_REDUCTION_GOES_ON };

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	enum sojourn_reduction sojourn_reduction;
	u32 snd_cwnd, snd_cwnd_cnt, snd_cwnd_clamp, snd_cwnd_used, snd_cwnd_stamp, snd_ssthresh, prior_cwnd, prior_ssthresh;
	u32 snd_una, snd_nxt, rcv_nxt, write_seq, high_seq, copied_seq, undo_marker;
	u32 mss_cache, advmss, max_window, snd_wnd, rcv_wnd;
	u32 srtt_us, mdev_us, rttvar_us;
	u32 packets_out, sacked_out, lost_out, retrans_out, max_packets_out, max_packets_seq, cwnd_usage_seq, reordering;
	u32 lsndtime, rcv_tstamp;
	u32 delivered, delivered_ce, lost, app_limited;
	u64 tcp_mstamp, delivered_mstamp, first_tx_mstamp, tcp_wstamp_ns, tcp_clock_cache;
	u64 bytes_acked, bytes_sent, bytes_retrans;
	u32 rate_delivered, rate_interval_us, is_sack_reneg;
	u8 is_cwnd_limited, ecn_flags, chrono_type, rate_app_limited, fast_ack_mode, tlp_retrans, tlp_orig_data_app_limited;
	struct tcp_options_received rx_opt;
	struct minmax rtt_min;
};

/* A segment as skb_marked_lost is told of it (BBRv3). */
struct tcp_skb_cb {
	u32 seq, end_seq;
	u8 sacked;
	struct {
		u32 is_app_limited, delivered, delivered_ce, first_tx_mstamp, delivered_mstamp, in_flight, lost;
	} tx;
};
struct sk_buff {
	struct tcp_skb_cb cb;
};
#define TCP_SKB_CB(skb) ((struct tcp_skb_cb *)&(skb)->cb)
static inline int tcp_skb_pcount(const struct sk_buff *skb) { return (void)skb, 1; }
static inline bool tcp_skb_tx_in_flight_is_suspicious(u32 segments, u32 sacked, u32 in_flight)
{
	(void)segments, (void)sacked, (void)in_flight;
	return false;
}

struct rate_sample {
	u64 prior_mstamp;
	u32 prior_delivered, prior_delivered_ce;
	s32 delivered, delivered_ce;
	long interval_us;
	u32 snd_interval_us, rcv_interval_us;
	long rtt_us;
	int losses;
	u32 acked_sacked, prior_in_flight, last_end_seq;
	bool is_app_limited, is_retrans, is_ack_delayed;
	/* BBRv3 */
	u32 prior_lost, tx_in_flight;
	s32 lost;
	bool is_acking_tlp_retrans_seq, is_ece;
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight;
};

struct tcpvegas_info {
	u32 tcpv_enabled, tcpv_rttcnt, tcpv_rtt, tcpv_minrtt;
};

struct tcp_dctcp_info {
	u16 dctcp_enabled, dctcp_ce_state;
	u32 dctcp_alpha, dctcp_ab_ecn, dctcp_ab_tot;
};

struct tcp_bbr_info {
	u32 bbr_bw_lo, bbr_bw_hi, bbr_min_rtt, bbr_pacing_gain, bbr_cwnd_gain;
	/* BBRv3 */
	u32 bbr_bw_hi_lsb, bbr_bw_hi_msb, bbr_bw_lo_lsb, bbr_bw_lo_msb;
	u8 bbr_mode, bbr_phase, unused1, bbr_version;
	u32 bbr_inflight_lo, bbr_inflight_hi, bbr_extra_acked;
};

enum tcp_bbr_phase {
	BBR_PHASE_INVALID,
	BBR_PHASE_STARTUP,
	BBR_PHASE_DRAIN,
	BBR_PHASE_PROBE_RTT,
	BBR_PHASE_PROBE_BW_UP,
	BBR_PHASE_PROBE_BW_DOWN,
	BBR_PHASE_PROBE_BW_CRUISE,
	BBR_PHASE_PROBE_BW_REFILL,
};

union tcp_cc_info {
	struct tcpvegas_info vegas;
	struct tcp_dctcp_info dctcp;
	struct tcp_bbr_info bbr;
};

enum { INET_DIAG_VEGASINFO = 3, INET_DIAG_DCTCPINFO = 9, INET_DIAG_BBRINFO = 16 };

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event ev);
	void (*in_ack_event)(struct sock *sk, u32 flags);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*min_tso_segs)(struct sock *sk);
#ifdef SOJOURN_KERNEL_IS_LATER
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
#else
	void (*cong_control)(struct sock *sk, const struct rate_sample *rs);
#endif
	u32 (*undo_cwnd)(struct sock *sk);
	u32 (*sndbuf_expand)(struct sock *sk);
	size_t (*get_info)(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info);
	char name[TCP_CA_NAME_MAX];
	void *owner;
	u32 key, flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	/* BBRv3 */
	u32 (*tso_segs)(struct sock *sk, unsigned int mss_now);
	void (*skb_marked_lost)(struct sock *sk, const struct sk_buff *skb);
};

static inline struct tcp_sock *tcp_sk(const struct sock *sk) { return (struct tcp_sock *)sk; }
static inline struct inet_connection_sock *inet_csk(const struct sock *sk) { return (struct inet_connection_sock *)sk; }
static inline void *inet_csk_ca(const struct sock *sk) { return inet_csk(sk)->icsk_ca_priv; }
static inline struct net *sock_net(const struct sock *sk) { return sk->sojourn_net; }

static inline bool before(u32 a, u32 b) { return (s32)(a - b) < 0; }
#define after(a, b) before(b, a)
static inline bool between(u32 seq, u32 low, u32 high) { return high - low >= seq - low; }

static inline u32 tcp_snd_cwnd(const struct tcp_sock *tp) { return tp->snd_cwnd; }
static inline void tcp_snd_cwnd_set(struct tcp_sock *tp, u32 segments) { tp->snd_cwnd = segments; }
static inline bool tcp_in_slow_start(const struct tcp_sock *tp) { return tp->snd_cwnd < tp->snd_ssthresh; }
static inline bool tcp_in_initial_slowstart(const struct tcp_sock *tp) { return tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH; }
static inline unsigned int tcp_left_out(const struct tcp_sock *tp) { return tp->sacked_out + tp->lost_out; }
static inline u32 tcp_packets_in_flight(const struct tcp_sock *tp) { return tp->packets_out - tcp_left_out(tp) + tp->retrans_out; }
/* IP and TCP headers with timestamps */
static inline int tcp_mss_to_mtu(struct sock *sk, int mss) { return (void)sk, mss + 52; }
static inline u32 tcp_min_rtt(const struct tcp_sock *tp) { return minmax_get(&tp->rtt_min); }
static inline u32 tcp_stamp_us_delta(u64 later, u64 earlier) { return (s64)(later - earlier) > 0 ? (u32)(later - earlier) : 0; }
static inline u32 tcp_time_stamp(const struct tcp_sock *tp) { return (u32)(tp->tcp_mstamp / (USEC_PER_SEC / TCP_TS_HZ)); }
#define tcp_time_stamp_ts(tp) tcp_time_stamp(tp)
static inline bool tcp_ca_needs_ecn(const struct sock *sk) { return inet_csk(sk)->icsk_ca_ops->flags & TCP_CONG_NEEDS_ECN; }
static inline bool tcp_ecn_mode_any(const struct tcp_sock *tp) { return tp->ecn_flags & TCP_ECN_OK; }
static inline bool tcp_in_cwnd_reduction(const struct sock *sk)
{
	return (TCPF_CA_CWR | TCPF_CA_Recovery) & (1 << inet_csk(sk)->icsk_ca_state);
}
/* The sender asks cong_avoid to grow only when the window is what limits it. */
static inline bool tcp_is_cwnd_limited(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->is_cwnd_limited || (tcp_in_slow_start(tp) && tp->snd_cwnd < 2 * tp->max_packets_out);
}
static inline u32 tcp_current_ssthresh(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 three_quarters = (tp->snd_cwnd >> 1) + (tp->snd_cwnd >> 2);

	return tcp_in_cwnd_reduction(sk) ? tp->snd_ssthresh : max(tp->snd_ssthresh, three_quarters);
}

/* The receiver is Sojourn's: what modules want of it has no effect here. */
#define __tcp_send_ack(sk, ...) ((void)(sk)) /* 6.11 added flags */
static inline void tcp_enter_quickack_mode(struct sock *sk, unsigned int most) { (void)sk, (void)most; }
enum { BPF_SOCK_OPS_BASE_RTT = 7 };
static inline int tcp_call_bpf(struct sock *sk, int op, u32 arguments, u32 *values)
{
	(void)sk, (void)op, (void)arguments, (void)values;
	return -1; /* no program is attached */
}
/* Protective load balancing has no other path to choose here; Linux has it off by default. */
#define TCP_PLB_SCALE 8
struct tcp_plb_state {
	u8 consec_cong_rounds : 5, unused : 3;
	u32 pause_until;
} __packed;
static inline void tcp_plb_init(const struct sock *sk, struct tcp_plb_state *plb) { (void)sk, (void)plb; }
static inline void tcp_plb_update_state(const struct sock *sk, struct tcp_plb_state *plb, const int ratio)
{
	(void)sk, (void)plb, (void)ratio;
}
static inline void tcp_plb_check_rehash(struct sock *sk, struct tcp_plb_state *plb) { (void)sk, (void)plb; }
static inline void tcp_plb_update_state_upon_rto(struct sock *sk, struct tcp_plb_state *plb) { (void)sk, (void)plb; }
static inline void INET_ECN_dontxmit(struct sock *sk) { (void)sk; }
#define NET_INC_STATS(net, field) ((void)(net))
#define NET_ADD_STATS(net, field, value) ((void)(net))

/* net/ipv4/tcp_cong.c, which modules share: Reno's rules, in whole segments. */
static inline u32 tcp_slow_start(struct tcp_sock *tp, u32 acked)
{
	u32 room = tp->snd_ssthresh - tp->snd_cwnd;
	u32 used = acked < room ? acked : room;

	tp->snd_cwnd = min(tp->snd_cwnd + used, tp->snd_cwnd_clamp);
	return acked - used;
}

/* One segment more for every w acknowledged. What was counted towards a larger w gives one at most. */
static inline void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked)
{
	u32 grown = 0;

	if (tp->snd_cwnd_cnt >= w) {
		tp->snd_cwnd_cnt = 0;
		grown = 1;
	}
	tp->snd_cwnd_cnt += acked;
	grown += tp->snd_cwnd_cnt / w;
	tp->snd_cwnd_cnt %= w;
	tp->snd_cwnd = min(tp->snd_cwnd + grown, tp->snd_cwnd_clamp);
}

static inline u32 tcp_reno_ssthresh(struct sock *sk) { return max(tcp_sk(sk)->snd_cwnd / 2, 2u); }
static inline u32 tcp_reno_undo_cwnd(struct sock *sk) { return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd); }
static inline void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	(void)ack;
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp))
		acked = tcp_slow_start(tp, acked);
	if (acked)
		tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}

/* A reduction that the module begins by itself: the window falls to ssthresh within a round trip (glue.c, reduce). */
static inline void tcp_enter_cwr(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	const struct tcp_congestion_ops *ops = inet_csk(sk)->icsk_ca_ops;

	tp->prior_ssthresh = 0;
	if (inet_csk(sk)->icsk_ca_state >= TCP_CA_CWR)
		return;
	tp->undo_marker = 0;
	tp->high_seq = tp->snd_nxt;
	tp->snd_cwnd_cnt = 0;
	tp->prior_cwnd = tp->snd_cwnd;
	tp->snd_ssthresh = ops->ssthresh(sk);
	if (ops->set_state)
		ops->set_state(sk, TCP_CA_CWR);
	inet_csk(sk)->icsk_ca_state = TCP_CA_CWR;
	tp->sojourn_reduction = SOJOURN_REDUCTION_BEGINS;
}

/* ---- Modules ---- */

#define MODULE_AUTHOR(text)
#define MODULE_LICENSE(text)
#define MODULE_VERSION(text)
#define MODULE_ALIAS(text)
#define MODULE_DESCRIPTION(text) static const char *const sojourn_description __attribute__((unused)) = text
#define EXPORT_SYMBOL(name)
#define EXPORT_SYMBOL_GPL(name)
static int (*const sojourn_module_init)(void); /* stays NULL in a file without module_init */
#define module_init(function) static int (*const sojourn_module_init)(void) __attribute__((unused)) = function
#define module_exit(function) static void (*const sojourn_module_exit)(void) __attribute__((unused)) = function

struct kernel_param {
	void *arg;
	const char *name;
};
struct kernel_param_ops {
	int (*set)(const char *value, const struct kernel_param *parameter);
	int (*get)(char *buffer, const struct kernel_param *parameter);
};
static inline int param_get_uint(char *buffer, const struct kernel_param *parameter)
{
	(void)buffer, (void)parameter;
	return 0;
}
static inline int param_set_uint_minmax(const char *value, const struct kernel_param *parameter, unsigned int least, unsigned int most)
{
	(void)value, (void)parameter, (void)least, (void)most;
	return 0;
}

/* Parameters and what they mean, each in a list that the linker makes. */
struct sojourn_module_parameter {
	const char *name;
	void *place;
	u64 bytes;
	u64 is_bool;
};
struct sojourn_module_meaning {
	const char *name;
	const char *meaning;
};
/* In the order in which they are declared: gcc has another, clang has this. */
#if defined(__has_attribute) && __has_attribute(no_reorder)
#define SOJOURN_LISTED_(section_name) __attribute__((section(section_name), used, aligned(8), no_reorder))
#else
#define SOJOURN_LISTED_(section_name) __attribute__((section(section_name), used, aligned(8)))
#endif
#define SOJOURN_MODULE_PARAMETER_(name, variable, flag) \
	static const struct sojourn_module_parameter sojourn_parameter_##name SOJOURN_LISTED_("sojourn_parameters") = { \
		#name, (void *)&(variable), sizeof(variable), flag }
#define module_param_named(name, variable, type, permissions) \
	SOJOURN_MODULE_PARAMETER_(name, variable, __builtin_types_compatible_p(__typeof__(variable), bool))
#define module_param(variable, type, permissions) module_param_named(variable, variable, type, permissions)
#define module_param_cb(name, ops, place, permissions) SOJOURN_MODULE_PARAMETER_(name, *(place), 0)
#define MODULE_PARM_DESC(name, text) \
	static const struct sojourn_module_meaning sojourn_meaning_##name SOJOURN_LISTED_("sojourn_meanings") = { #name, text }

/* ---- What a module shows of its inner state: in tcp_mine.shows.c, which is compiled after tcp_mine.c beside it ---- */

/* A value: a function that looks at the state, for sojourn.h, which such a file has before it. */
struct sojourn_module_value {
	const char *name, *unit, *meaning;
	const char *const *phases;
	u32 kind;
	bool is_count; /* of the acknowledgements on which it is not 0 */
	u64 (*bits)(struct sock *sk);
};

static inline u64 sojourn_bits_of(double value)
{
	u64 bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

#define SOJOURN_MODULE_VALUE__(number, name, kind, is_count, unit, phases, meaning, bits) \
	static u64 sojourn_value_##number(struct sock *sk) \
	{ \
		const sojourn_module_state *ca = inet_csk_ca(sk); \
		const struct tcp_sock *tp = tcp_sk(sk); \
\
		(void)ca, (void)tp; \
		return bits; \
	} \
	static const struct sojourn_module_value sojourn_listed_value_##number SOJOURN_LISTED_("sojourn_values") = { \
		#name, unit, meaning, phases, kind, is_count, sojourn_value_##number }
#define SOJOURN_MODULE_VALUE_(number, ...) SOJOURN_MODULE_VALUE__(number, __VA_ARGS__)

/* Says which struct inet_csk_ca holds. In the expressions below `ca` is that one, `tp` the connection, and `sk` its socket. */
#define MODULE_SHOW_STATE(type) typedef type sojourn_module_state
/* Each is a name, an expression and its meaning. What is SOJOURN_NONE is not known, such as a bound that is not set. */
#define MODULE_SHOW_NUMBER(name, value, unit, meaning) \
	SOJOURN_MODULE_VALUE_(__COUNTER__, name, SOJOURN_KIND_NUMBER, false, unit, NULL, meaning, sojourn_bits_of(value))
#define MODULE_SHOW_INTEGER(name, value, unit, meaning) \
	SOJOURN_MODULE_VALUE_(__COUNTER__, name, SOJOURN_KIND_INTEGER, false, unit, NULL, meaning, value)
#define MODULE_SHOW_BOOLEAN(name, value, meaning) \
	SOJOURN_MODULE_VALUE_(__COUNTER__, name, SOJOURN_KIND_BOOLEAN, false, "", NULL, meaning, (value) ? 1 : 0)
/* In microseconds. */
#define MODULE_SHOW_DURATION(name, value, meaning) \
	SOJOURN_MODULE_VALUE_(__COUNTER__, name, SOJOURN_KIND_DURATION, false, "s", NULL, meaning, sojourn_picoseconds(value))
/* In bytes. */
#define MODULE_SHOW_SIZE(name, value, meaning) \
	SOJOURN_MODULE_VALUE_(__COUNTER__, name, SOJOURN_KIND_SIZE, false, "B", NULL, meaning, value)
/* In bits per second. */
#define MODULE_SHOW_RATE(name, value, meaning) \
	SOJOURN_MODULE_VALUE_(__COUNTER__, name, SOJOURN_KIND_RATE, false, "bit/s", NULL, meaning, value)
/* The number of one of several phases, such as static const char *const phases[] = {"startup", "drain", NULL}. */
#define MODULE_SHOW_PHASE(name, value, phases, meaning) \
	SOJOURN_MODULE_VALUE_(__COUNTER__, name, SOJOURN_KIND_INTEGER, false, "", phases, meaning, value)
/* How many acknowledgements there were on which the expression was not 0, such as those that began a round. */
#define MODULE_SHOW_COUNT(name, value, meaning) \
	SOJOURN_MODULE_VALUE_(__COUNTER__, name, SOJOURN_KIND_INTEGER, true, "", NULL, meaning, (value) ? 1 : 0)

static inline u64 sojourn_picoseconds(u64 us) { return us == U64_MAX ? us : us * 1000000; }

int tcp_register_congestion_control(struct tcp_congestion_ops *ops) __attribute__((visibility("hidden")));
/* The module_init of the module itself, for glue.c; not 0 if there is none. */
int sojourn_main_init(void) __attribute__((visibility("hidden")));
static inline void tcp_unregister_congestion_control(struct tcp_congestion_ops *ops) { (void)ops; }

struct btf_kfunc_id_set {
	void *owner;
	void *set;
};
#define BTF_SET8_START(name) static int name __attribute__((unused));
#define BTF_SET8_END(name)
#define BTF_KFUNCS_START(name) BTF_SET8_START(name)
#define BTF_KFUNCS_END(name)
#define BTF_ID_FLAGS(...)
#define BPF_PROG_TYPE_STRUCT_OPS 0
#define register_btf_kfunc_id_set(kind, set) ((void)(set), 0)

#endif
