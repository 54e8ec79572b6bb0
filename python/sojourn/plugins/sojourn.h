/* sojourn.h: your own congestion control or queue discipline for Sojourn, in C or in any language that makes shared libraries.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A file defines a congestion control with SOJOURN_CONGESTION_CONTROL, a queue discipline with SOJOURN_QUEUE, or both. Hooks that
 * it leaves out do nothing. Each flow, or each queue, has a state of its own: zeroed memory with the parameters in it. Hooks keep
 * everything there: no global variables, no clock, no random numbers but those that are handed over, so that a run is a function
 * of its specification.
 *
 * Times are in picoseconds since the start of the run, sizes in bytes, rates in bits per second.
 */
#ifndef SOJOURN_H
#define SOJOURN_H

#include <stddef.h>
#include <stdint.h>

/* The version of this interface. A file of a later one is refused. */
#define SOJOURN_VERSION 1

typedef uint64_t sojourn_time;

/* What stands for "there is none" in a time. */
#define SOJOURN_NONE UINT64_MAX

#define SOJOURN_SECOND 1000000000000ull
#define SOJOURN_MILLISECOND 1000000000ull
#define SOJOURN_MICROSECOND 1000000ull
#define SOJOURN_NANOSECOND 1000ull

static inline double sojourn_seconds(sojourn_time time)
{
	return (double)time / 1e12;
}

/* ---- Parameters ---- */

enum sojourn_kind {
	SOJOURN_KIND_END,      /* ends the list */
	SOJOURN_KIND_NUMBER,   /* double */
	SOJOURN_KIND_INTEGER,  /* uint64_t */
	SOJOURN_KIND_BOOLEAN,  /* uint64_t, 0 or 1 */
	SOJOURN_KIND_DURATION, /* uint64_t, picoseconds */
	SOJOURN_KIND_SIZE,     /* uint64_t, bytes */
	SOJOURN_KIND_RATE      /* uint64_t, bits per second */
};

struct sojourn_parameter {
	const char *name;
	const char *meaning;
	double initial; /* the default, in the unit of the state's member */
	double least;
	double most;
	uint32_t kind;
	uint32_t bytes;  /* size of the state's member */
	uint64_t offset; /* its place in the state */
};

#define SOJOURN_PARAMETER_(type, member, kind, initial, least, most, meaning) \
	{ #member, meaning, (double)(initial), (double)(least), (double)(most), kind, sizeof(((type *)0)->member), offsetof(type, member) }

/* Each names a member of the state, which holds the value before any hook is called. */
#define SOJOURN_NUMBER(type, member, initial, least, most, meaning) \
	SOJOURN_PARAMETER_(type, member, SOJOURN_KIND_NUMBER, initial, least, most, meaning)
#define SOJOURN_INTEGER(type, member, initial, least, most, meaning) \
	SOJOURN_PARAMETER_(type, member, SOJOURN_KIND_INTEGER, initial, least, most, meaning)
#define SOJOURN_BOOLEAN(type, member, initial, meaning) \
	SOJOURN_PARAMETER_(type, member, SOJOURN_KIND_BOOLEAN, initial, 0, 1, meaning)
/* Given in picoseconds, such as 5 * SOJOURN_MILLISECOND. */
#define SOJOURN_DURATION(type, member, initial, least, most, meaning) \
	SOJOURN_PARAMETER_(type, member, SOJOURN_KIND_DURATION, initial, least, most, meaning)
#define SOJOURN_SIZE(type, member, initial, least, most, meaning) \
	SOJOURN_PARAMETER_(type, member, SOJOURN_KIND_SIZE, initial, least, most, meaning)
#define SOJOURN_RATE(type, member, initial, least, most, meaning) \
	SOJOURN_PARAMETER_(type, member, SOJOURN_KIND_RATE, initial, least, most, meaning)
#define SOJOURN_PARAMETERS_END { NULL, NULL, 0, 0, 0, SOJOURN_KIND_END, 0, 0 }

/* ---- Random numbers ---- */

/* A stream that belongs to this flow or queue; it is the same for the same seed. */
struct sojourn_random {
	uint64_t (*bits)(struct sojourn_random *random);
};

/* Sixty-four random bits. */
static inline uint64_t sojourn_bits(struct sojourn_random *random)
{
	return random->bits(random);
}

/* Uniform in [0, 1). */
static inline double sojourn_unit(struct sojourn_random *random)
{
	return (double)(random->bits(random) >> 11) * (1.0 / 9007199254740992.0);
}

/* ---- Values over time ---- */

/* Where a flow or a queue records values: what take_recorder is handed. It is valid as long as the state, so keep the pointer there. */
struct sojourn_recorder {
	void (*record)(struct sojourn_recorder *recorder, const char *name, double value);
	const char *which; /* whose values they are, as in the results: the flow's number, or the queue's link, such as "left->right" */
	uint64_t flow;     /* the flow's number; SOJOURN_NONE of a queue */
};

/* Records a value under a name, at the time of the hook: a row of the results' series with this name as measure. The run fails if the
 * value is not finite, if the name is one of Sojourn's own samples (cwnd, rtt, packets and so on), if no other hook was called before,
 * and after five million values. */
static inline void sojourn_record(struct sojourn_recorder *recorder, const char *name, double value)
{
	recorder->record(recorder, name, value);
}

/* A value of the inner state: a member that is looked at where a scenario asks for it (flow_state, queue_state). Nothing is called. */
struct sojourn_value {
	const char *name;
	const char *unit; /* of a number or an integer; the others have theirs */
	const char *meaning;
	const char *const *phases; /* of SOJOURN_SHOW_PHASE, their names from 0 on, up to NULL; else NULL */
	uint32_t kind;             /* enum sojourn_kind */
	uint32_t bytes;            /* size of the state's member */
	uint64_t offset;           /* its place in the state */
};

#define SOJOURN_SHOW_(type, member, kind, unit, phases, meaning) \
	{ #member, unit, meaning, phases, kind, sizeof(((type *)0)->member), offsetof(type, member) }

/* Each names a member of the state: a double, or a uint64_t in the unit of its kind. One that is SOJOURN_NONE is not known, such as a
 * bound that is not set, and has no sample. */
#define SOJOURN_SHOW_NUMBER(type, member, unit, meaning) SOJOURN_SHOW_(type, member, SOJOURN_KIND_NUMBER, unit, NULL, meaning)
#define SOJOURN_SHOW_INTEGER(type, member, unit, meaning) SOJOURN_SHOW_(type, member, SOJOURN_KIND_INTEGER, unit, NULL, meaning)
#define SOJOURN_SHOW_BOOLEAN(type, member, meaning) SOJOURN_SHOW_(type, member, SOJOURN_KIND_BOOLEAN, "", NULL, meaning)
#define SOJOURN_SHOW_DURATION(type, member, meaning) SOJOURN_SHOW_(type, member, SOJOURN_KIND_DURATION, "s", NULL, meaning)
#define SOJOURN_SHOW_SIZE(type, member, meaning) SOJOURN_SHOW_(type, member, SOJOURN_KIND_SIZE, "B", NULL, meaning)
#define SOJOURN_SHOW_RATE(type, member, meaning) SOJOURN_SHOW_(type, member, SOJOURN_KIND_RATE, "bit/s", NULL, meaning)
/* The number of one of several phases, such as static const char *const phases[] = {"startup", "drain", NULL}. */
#define SOJOURN_SHOW_PHASE(type, member, phases, meaning) SOJOURN_SHOW_(type, member, SOJOURN_KIND_INTEGER, "", phases, meaning)
#define SOJOURN_SHOW_END { NULL, NULL, NULL, NULL, SOJOURN_KIND_END, 0, 0 }

/* ---- Congestion control ---- */

struct sojourn_window {
	uint64_t cwnd;     /* congestion window, at least one segment */
	uint64_t ssthresh; /* slow start threshold; UINT64_MAX until the first congestion */
	uint64_t mss;      /* segment size, payload only; do not change it */
};

static inline double sojourn_segments(const struct sojourn_window *window)
{
	return (double)window->cwnd / (double)window->mss;
}

/* Sets ssthresh after congestion, to two segments at least (RFC 5681 equation 4). */
static inline void sojourn_set_ssthresh(struct sojourn_window *window, uint64_t bytes)
{
	window->ssthresh = bytes > 2 * window->mss ? bytes : 2 * window->mss;
}

/* Growth by fractions of a byte: windows are in whole bytes, and without the rest a large window would grow too slowly. */
struct sojourn_growth {
	double fraction;
};

/* Grows the window by a number of bytes and keeps what is less than a byte for the next time. A negative number shrinks it, to one
 * segment at the least. */
static inline void sojourn_grow(struct sojourn_growth *growth, struct sojourn_window *window, double bytes)
{
	bytes += growth->fraction;
	if (bytes >= 0) {
		window->cwnd += (uint64_t)bytes;
		growth->fraction = bytes - (double)(uint64_t)bytes;
	} else {
		uint64_t fewer = (uint64_t)-bytes;

		fewer += (double)fewer < -bytes;
		window->cwnd = window->cwnd > window->mss + fewer ? window->cwnd - fewer : window->mss;
		growth->fraction = bytes + (double)fewer;
	}
}

/* Additive increase: a number of segments for a window of credited bytes, but no more than what is credited. A negative
 * number is an additive decrease. */
static inline void sojourn_additive(struct sojourn_growth *growth, struct sojourn_window *window, double segments,
				    uint64_t credit)
{
	double share = segments / sojourn_segments(window);
	share = share < 1.0 ? share : 1.0;
	sojourn_grow(growth, window, (share > -1.0 ? share : -1.0) * (double)credit);
}

/* An acknowledgement of new data. */
struct sojourn_ack {
	sojourn_time now;
	uint64_t acked;               /* bytes it newly acknowledged */
	uint64_t credit;              /* bytes it is credited with for growth */
	sojourn_time rtt;             /* round-trip time sample, or SOJOURN_NONE */
	sojourn_time srtt;            /* smoothed round-trip time */
	uint64_t una;                 /* first sequence number not yet acknowledged */
	uint64_t nxt;                 /* next sequence number to be sent */
	uint64_t in_flight;           /* bytes sent and neither acknowledged nor known to be lost */
	sojourn_time one_way_delay;   /* with SOJOURN_NEEDS_ONE_WAY_DELAY, or SOJOURN_NONE */
	sojourn_time arrived;         /* when that segment arrived at the receiver; likewise */
	uint64_t marked;              /* bytes newly known to have arrived marked; with SOJOURN_NEEDS_ECT0 or SOJOURN_NEEDS_ECT1 */
	uint64_t load_factor;         /* with SOJOURN_NEEDS_LOAD_FACTOR: 0 none, 1 low, 2 high, 3 overload */
	sojourn_time sent;            /* when the receiver sent it (TSval); with SOJOURN_NEEDS_ONE_WAY_DELAY and timestamps, or SOJOURN_NONE */
	sojourn_time echo;            /* the time that it echoes (TSecr); likewise */
};

enum sojourn_event_kind {
	SOJOURN_LOSS,    /* segments were lost: set ssthresh */
	SOJOURN_ECN,     /* marks were reported: set ssthresh */
	SOJOURN_TIMEOUT, /* slow start restarts from one segment */
	SOJOURN_SPURIOUS /* the latest loss was spurious; the sender has restored the window */
};

struct sojourn_event {
	sojourn_time now;
	uint64_t flight_size; /* of SOJOURN_LOSS and SOJOURN_ECN; else 0 */
	uint32_t kind;        /* enum sojourn_event_kind */
	uint32_t abe;         /* of SOJOURN_ECN: whether the stack asks for the smaller reduction of RFC 8511 */
};

/* The delivery rate (draft-cheng-iccrg-delivery-rate-estimation). */
struct sojourn_rate_sample {
	uint64_t delivered;           /* bytes delivered while the newest segment acknowledged was under way */
	sojourn_time interval;        /* the time that took, or SOJOURN_NONE if it gives no rate */
	uint64_t prior_delivered;     /* bytes delivered in all when that segment was sent */
	uint64_t in_flight_when_sent; /* bytes in flight once it was sent */
	uint64_t lost;                /* bytes lost since it was sent */
	sojourn_time rtt;             /* its round-trip time, or SOJOURN_NONE */
	uint32_t app_limited;         /* whether the sender did not use its window when it was sent */
	uint32_t is_valid;            /* 0 if this acknowledgement delivered nothing */
};

/* What any acknowledgement shows, in any phase. */
struct sojourn_delivery {
	sojourn_time now;
	uint64_t delivered;       /* bytes now known to have arrived that were not before */
	uint64_t total_delivered; /* bytes delivered in all */
	uint64_t lost;            /* bytes newly found lost */
	uint64_t marked;          /* bytes newly known to have arrived marked */
	sojourn_time rtt;         /* round-trip time sample, or SOJOURN_NONE */
	sojourn_time srtt;        /* smoothed round-trip time; 0 before the first */
	uint64_t prior_in_flight; /* bytes in flight before this acknowledgement */
	uint64_t in_flight;       /* and after it */
	struct sojourn_rate_sample rate;
	uint32_t in_recovery; /* whether losses are being repaired */
	uint32_t reserved;
	uint64_t acked;       /* bytes newly acknowledged, some of which may have been known to have arrived */
	uint64_t nxt;         /* next sequence number to be sent */
	sojourn_time sent;    /* as in struct sojourn_ack */
	sojourn_time echo;
};

struct sojourn_lost_segment {
	sojourn_time now;
	uint64_t segment;             /* which segment of the stream */
	uint64_t in_flight_when_sent; /* bytes in flight once it was sent */
	uint64_t lost;                /* bytes lost since it was sent, it included */
	uint64_t total_delivered;     /* bytes delivered in all */
	uint32_t app_limited;
	uint32_t reserved;
};

/* What an algorithm needs besides its hooks. */
#define SOJOURN_NEEDS_ONE_WAY_DELAY 1u
#define SOJOURN_NEEDS_ECT0 2u        /* Accurate ECN, with ECT(0) on its packets */
#define SOJOURN_NEEDS_ECT1 4u        /* Accurate ECN, with ECT(1) */
#define SOJOURN_NEEDS_LOAD_FACTOR 8u /* VCP's load factors */
#define SOJOURN_GOVERNS 16u          /* it alone sets cwnd, in on_delivery, also in recovery */
#define SOJOURN_NEEDS_DELIVERIES 32u /* rate samples, even without the hooks that see them */
#define SOJOURN_NEEDS_PACING 64u     /* pacing, even without pacing_rate: at the stack's rate */

struct sojourn_congestion_control {
	uint32_t version; /* SOJOURN_VERSION */
	uint32_t bytes;   /* sizeof(struct sojourn_congestion_control) */
	uint64_t state_bytes;
	const char *title;  /* one line that says what it is */
	const char *source; /* a paper or RFC; may be NULL */
	const char *draws;  /* what it draws random numbers for; NULL if it draws none */
	const struct sojourn_parameter *parameters; /* ends with SOJOURN_PARAMETERS_END; may be NULL */
	uint64_t needs;     /* SOJOURN_NEEDS_..., SOJOURN_GOVERNS */
	/* Called once for each flow, before all else; random is NULL unless draws is set. */
	void (*init)(void *state, struct sojourn_random *random);
	/* Grows cwnd in congestion avoidance. Required, unless it governs. */
	void (*increase)(void *state, struct sojourn_window *window, const struct sojourn_ack *ack);
	/* Answers congestion; sets ssthresh on a loss and on marks. Required. */
	void (*on_congestion)(void *state, struct sojourn_window *window, const struct sojourn_event *event);
	/* Sees every acknowledgement of new data outside fast recovery, before the window grows. */
	void (*on_ack)(void *state, const struct sojourn_window *window, const struct sojourn_ack *ack);
	/* Grows cwnd below ssthresh; returns the credit that is left, or SOJOURN_NONE to leave slow start to the flow's own. */
	uint64_t (*increase_in_slow_start)(void *state, struct sojourn_window *window, const struct sojourn_ack *ack);
	/* Sees every acknowledgement in any phase. */
	void (*on_delivery)(void *state, struct sojourn_window *window, const struct sojourn_delivery *delivery);
	/* Sees every segment that is found lost. */
	void (*on_segment_lost)(void *state, struct sojourn_window *window, const struct sojourn_lost_segment *lost);
	/* Segments are about to leave after none was in flight for want of data. */
	void (*on_restart)(void *state, struct sojourn_window *window, sojourn_time now);
	/* The rate at which segments leave, bits of payload per second; 0 leaves it to the stack. */
	uint64_t (*pacing_rate)(void *state, const struct sojourn_window *window, sojourn_time srtt);
	/* Bytes of payload that leave together where segments are paced. */
	uint64_t (*pacing_quantum)(void *state, uint64_t mss);
	/* Called once for each flow, before init: where it records values, and its number. */
	void (*take_recorder)(void *state, struct sojourn_recorder *recorder);
	/* The application has data again, and none was sent for this time. A window that falls after a pause has not fallen yet. */
	void (*on_idle)(void *state, struct sojourn_window *window, sojourn_time idle, sojourn_time now);
	/* Called once the handshake has given a smoothed round-trip time, or 0 if it gave none; may set the first window. */
	void (*on_established)(void *state, struct sojourn_window *window, sojourn_time srtt, sojourn_time now);
	const struct sojourn_value *shows; /* its inner state; ends with SOJOURN_SHOW_END; may be NULL */
};

/* ---- Queue discipline ---- */

struct sojourn_packet {
	sojourn_time since;      /* when it was queued; now, when it arrives */
	uint32_t flow;           /* the flow it belongs to */
	uint32_t size;           /* bytes on the wire */
	uint32_t is_data;        /* whether it carries payload */
	uint32_t is_ecn_capable; /* whether it may be marked */
	uint32_t is_marked;
	uint32_t reserved;
};

struct sojourn_queue_view {
	sojourn_time now;
	const uint64_t *packets;       /* packets in each line */
	const uint64_t *bytes;         /* bytes in each line */
	uint64_t lines;                /* how many lines there are */
	struct sojourn_random *random; /* NULL unless draws is set; valid during the call */
};

enum sojourn_verdict {
	SOJOURN_PASS, /* the packet stays */
	SOJOURN_MARK, /* it is marked if it is ECN-capable, and dropped otherwise */
	SOJOURN_DROP  /* it is dropped */
};

/* The packets belong to Sojourn, in first-in first-out lines with a common limit; the hooks only decide. */
struct sojourn_queue {
	uint32_t version; /* SOJOURN_VERSION */
	uint32_t bytes;   /* sizeof(struct sojourn_queue) */
	uint64_t state_bytes;
	const char *title;
	const char *source;
	const char *draws;
	const struct sojourn_parameter *parameters;
	uint64_t lines;             /* 0 or 1: one line */
	sojourn_time timer_interval; /* of on_timer; 0 for no timer */
	/* Called once for each queue, before all else. */
	void (*init)(void *state);
	/* The rate of the link, before the first packet and at each change. */
	void (*set_link_rate)(void *state, uint64_t rate);
	/* Into which line an arrival goes. Only with several lines. */
	uint64_t (*classify)(void *state, const struct sojourn_packet *packet, const struct sojourn_queue_view *view);
	/* Decides of an arrival for which there is room: enum sojourn_verdict. */
	uint32_t (*admit)(void *state, const struct sojourn_packet *packet, uint64_t line, const struct sojourn_queue_view *view);
	/* Which line sends next; it must have a packet. Only with several lines. */
	uint64_t (*next_line)(void *state, const struct sojourn_queue_view *view);
	/* Decides of a packet that is to leave; if it is dropped, the next is looked at. */
	uint32_t (*release)(void *state, const struct sojourn_packet *packet, uint64_t line, const struct sojourn_queue_view *view);
	/* The timer fired; view->random is NULL. */
	void (*on_timer)(void *state, const struct sojourn_queue_view *view);
	/* Called once for each queue, before init: where it records values, and its link. */
	void (*take_recorder)(void *state, struct sojourn_recorder *recorder);
	const struct sojourn_value *shows; /* its inner state; ends with SOJOURN_SHOW_END; may be NULL */
	/* An arrival is dropped, as there is no room for it. */
	void (*overflow)(void *state, const struct sojourn_packet *packet, const struct sojourn_queue_view *view);
};

/* ---- What a file defines ---- */

#ifdef __cplusplus
#define SOJOURN_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define SOJOURN_EXPORT __attribute__((visibility("default")))
#endif

#define SOJOURN_CONGESTION_CONTROL(...) \
	SOJOURN_EXPORT extern const struct sojourn_congestion_control sojourn_congestion_control; \
	const struct sojourn_congestion_control sojourn_congestion_control = { \
		.version = SOJOURN_VERSION, .bytes = sizeof(struct sojourn_congestion_control), __VA_ARGS__ }

#define SOJOURN_QUEUE(...) \
	SOJOURN_EXPORT extern const struct sojourn_queue sojourn_queue; \
	const struct sojourn_queue sojourn_queue = { .version = SOJOURN_VERSION, .bytes = sizeof(struct sojourn_queue), __VA_ARGS__ }

#endif
