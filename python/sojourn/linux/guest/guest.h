/* What the parts of the guest's program share. Times are in ns of the host's virtual clock; a run begins at `origin`. */
#ifndef GUEST_H
#define GUEST_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

typedef int64_t Time;

/* A flow's packets have this port at both ends, plus the flow's number. */
#define FIRST_PORT 5000
#define MOST_FLOWS 20000

/* Reads in a second of an application that reads slowly. */
#define READS 1000

/* No time: it has not happened. */
#define NEVER INT64_MAX

extern Time origin, warm_up, duration;
extern FILE *output;

/* Ends the run with a line for the host. */
void fail(const char *what, const char *detail) __attribute__((noreturn));
/* A message of netlink, as the plan has it in hexadecimal digits. */
struct message {
	int length;
	unsigned char bytes[];
};

void network_begin(void);
/* Makes a namespace and enters it. */
void namespace_add(const char *name);
/* Enters a namespace: sockets opened and files under /proc/sys/net read from here on are its own. */
void enter(const char *name);
struct message *message_read(const char *digits);
/* Sends a message in a namespace; the run fails if the kernel does not do it. */
void message_send(const char *name, const char *what, const struct message *message);
/* Has `tc` carry out a file in a namespace. */
void tc_run(const char *name, const char *batch);
Time now(void);
void sleep_until(Time moment);

/* Bins of times: each 1 % wider than the one before, from 1 us. */
#define BINS 2400
int bin_of(Time time);
/* Writes the bins that have something: what they are of, their numbers and counts. */
void bins_report(const char *what, int number, const uint64_t *bins);

/* One-way delays of a direction's packets. */
struct delays;
struct delays *delays_new(void);
void delays_add(struct delays *delays, Time sent, Time arrival);
/* Writes them, and their bins, if there are any. */
void delays_report(const char *what, const char *bins, int number, const struct delays *delays);

/* A packet that a tap has seen. */
struct packet {
	Time time;
	uint32_t length;        /* with the Ethernet header */
	uint16_t identification;
	uint8_t protocol, flags; /* flags are TCP's */
	uint32_t source, target; /* in network order */
	int flow;
	uint16_t port;          /* of connections that have the flow's port at one end only: that at the other */
	uint32_t sequence, acknowledgement;
	uint32_t payload;
	uint32_t options; /* bytes of TCP's options */
};

/*
 * The flow of packets that programs send. Such a packet has a hash of its addresses and ports as its port, and is told from others by
 * hashes of its headers and first bytes, which are its number, sequence and acknowledgement.
 */
#define OF_PROGRAMS flow_count

/* Ethernet, IP and TCP headers without options, with all that fit, and those of IPv6 with some bytes of what they carry. */
#define HEADERS (14 + 20 + 20)
#define HEADERS_AND_MORE (14 + 40 + 32)
#define LARGEST_HEADERS (14 + 20 + 60)

/* The header of an IP packet, of either version. */
struct ip_header {
	unsigned length;
	uint32_t whole;   /* bytes of the packet with it; 0 if it does not say, as of buffers above 64 kB */
	uint8_t protocol; /* what follows, which may be another header of IPv6 */
	const unsigned char *addresses; /* the sender's, then the receiver's */
	unsigned address_length;
	const unsigned char *own; /* besides these, what no hop changes: IPv4's length, identification and fragment, IPv6's length */
	unsigned own_length;
};

/* Whether so many bytes have all of one. */
int ip_read(const unsigned char *bytes, uint32_t captured, struct ip_header *ip);
/* A number of so many bytes, the highest first, as all headers have them. */
uint32_t big_endian(const unsigned char *bytes, int count);
/* FNV-1a of 64 bits, goes on from a hash (RFC 9923, sections 2 and 5); the first goes on from the basis. */
uint64_t hashed(uint64_t hash, const unsigned char *bytes, size_t count);
#define HASH_BASIS 0xcbf29ce484222325

/* A tap on a device: what it sends, or what it receives. */
struct tap {
	int socket;
	unsigned char *ring;
	unsigned next, frames, frame; /* how many the ring has, and bytes of one */
	int outgoing, all; /* whether it sees packets of programs, and IPv6, too */
	const char *where;
};

/* Captures so many bytes of each packet. */
void tap_open(struct tap *tap, const char *name_space, const char *device, int outgoing, unsigned captured);
/* The next packet in a tap, if there is one: its header, as long as the kernel does not have it back. */
struct tpacket2_hdr *tap_first(struct tap *tap);
void tap_release(struct tap *tap);
/* Whether a packet went the way that the tap looks at. */
int tap_wants(const struct tap *tap, const struct tpacket2_hdr *header);
/* The next packet of a flow; 0 if there is none yet. */
int tap_next(struct tap *tap, struct packet *packet);
/* A tap that sees packets of whatever protocol, and before each what it is to be cut into, or was merged of. */
void tap_open_whole(struct tap *tap, const char *name_space, const char *device, int outgoing);
/* When a packet passed the device, and which way. */
Time tap_time(const struct tpacket2_hdr *header);
int tap_leaves(const struct tpacket2_hdr *header);
/* Waits for a moment, or for a packet in any tap: then it returns 1. */
int taps_wait(Time moment);
/* Fails the run if the tap has missed a packet. */
void tap_check(struct tap *tap);

void queue_add(int number, const char *name_space, const char *device, const char *mirror, int overhead, const char *wire_space,
	       const char *wire);
/* A queue's link loses packets elsewhere too, by impairments: at this device, where the discipline with this handle counts them. */
void queue_loses(int number, const char *name_space, const char *device, unsigned handle);
void queues_drain(void);
/* A new look begins: what queues have said is old. */
void queues_look(void);
/* Asks all queues; what they say counts if the window is open. */
void queues_sample(int counts);
int queues_are_empty(void);
/* They were empty for so many looks in which nobody asked. */
void queues_rest(uint64_t looks);
void queues_report(const char *when);
void queues_series(Time moment);
void queues_end(void);
/* What queues are at a moment, and what they did since the start. */
void queues_moment(FILE *moments);
extern int queues;

/* TCP's flags (RFC 9293, section 3.1). */
#define FIN 0x01
#define SYN 0x02
#define RST 0x04
#define ACK 0x10

/* RTT samples of a flow in the window. */
struct samples {
	uint64_t count;
	double sum;
	Time least, most;
};

/* A direction of a connection, as seen at the sender's end of its link. */
struct seen {
	uint32_t source_address;
	uint64_t size; /* 0: without an end */
	int begun, timestamps;
	uint32_t first_sequence, highest, unacknowledged;
	Time began, established, completed, sample_latest;
	struct segment { uint32_t end; Time time; int again; } *segments;
	unsigned head, tail, room; /* a ring of `room` segments */
	struct samples *samples;
};

void seen_begin(struct seen *seen, uint32_t source, uint64_t size, struct samples *samples);
void seen_sent(struct seen *seen, const struct packet *packet);
void seen_acknowledged(struct seen *seen, const struct packet *packet);
void seen_end(struct seen *seen);

/*
 * What a flow is: a connection that writes all it can, packets at a rate; or what the host says from time to time, connections that come
 * and go or single packets.
 */
enum kind { TCP, UDP, CONNECTIONS, DATAGRAMS };

struct flow {
	int number;
	enum kind kind;
	char sender[16], receiver[16], source[32], target[32], algorithm[20];
	Time start, stop;
	int tos; /* the codepoint of its packets, as IP_TOS has it (ip(7)) */
	uint64_t size;
	int segment_size, paced;
	/* Connections: whether they belong to sessions, whose clients open them. */
	int sessions;
	/* Datagrams: bytes of headers. */
	int headers;
	/* What an application reads in a second; 0: all at once. */
	uint64_t reading_rate;
	/* UDP: payload, gap between packets, and the sources' randomness. */
	uint32_t payload;
	Time gap, on, off;
	int poisson, exponential;
	uint64_t chance;

	int socket, listener, accepted;
	volatile uint64_t sent, received; /* UDP: packets; connections and datagrams: received bytes */
	struct delays *delays;            /* UDP, if a packet has room for the time at which it was sent */

	uint32_t source_address;
	struct seen seen;
	struct samples samples;

	struct tcp_info *last; /* of a connection that was stopped: what it counted is gone from the kernel */
	struct group *group;   /* of connections and datagrams */
};

extern struct flow *flows;
extern int flow_count;

struct flow *flow_add(void);
void flows_prepare(void);
void flows_begin(void);
void flow_stop(struct flow *flow);
void flows_sent(const struct packet *packet);
void flows_acknowledged(const struct packet *packet);
void flows_report(const char *when);
void flows_series(Time moment);
void flows_end(void);
/* The states of all connections, open or not. */
void flows_connections(FILE *connections, Time moment);
void flows_moment(FILE *moments);

/* Connections and datagrams of which the host says when and what. */
void sessions_prepare(void);
/* Attends to them until a moment comes. */
void sessions_until(Time moment);
/* The measuring window opens. */
void sessions_window(void);
void sessions_end(void);
extern int sessions; /* whether there are any */
/* The direction of a connection in which this address sends; none if there is no such connection. */
struct seen *group_direction(const struct flow *flow, uint16_t port, uint32_t source);
void group_report(const struct flow *flow, const char *when);
/* When the first connection of a group began and was established. */
void group_times(const struct flow *flow, Time *began, Time *established);

/*
 * Connections and datagrams of whoever makes them, as packets tell: hosts that are looked at, where their packets leave and arrive, and
 * what the kernel says of their sockets.
 */
void observed_host(const char *name_space);
void observed_tap(const char *name_space, const char *device, int outgoing);
/* The plan's own flows too. */
void observed_flows(void);
void observed_drain(void);
void observed_report(const char *when);
void observed_series(Time moment);
void observed_end(void);

/* Reads all that taps have seen. */
void drain(void);

/* Changes of links, numbered in order: a message, or so many packets of a size and one of another with which a device is held up. */
void change_add(const char *name_space, const char *digits);
void hold_add(const char *name_space, const char *device, int priority, int count, int size, int rest);
/* Something of that number is due; in order of time. */
void change_at(Time at, int number);
Time changes_next(void);
void changes_until(Time time);

/* The file systems of programs, numbered. */
void root_make(int number);
void root_path(char *path, size_t size, int number);
/* Makes it the caller's, whose mounts are its own; -1 if that fails. */
int root_enter(int number);

/* Programs: what the plan says of one, whose words are in a file of the host, and which of its files are kept. */
extern int program_count;
void program_add(const char *line);
void program_keep(int number, const char *pattern);
/* The program that was added last has the console for its terminal; the run ends with it, and goes no faster than the host's clock. */
void program_terminal(void);
/* Whether there is such a program, and whether it has ended. */
int terminal_is_there(void);
int terminal_has_ended(void);
/* All of them are known. */
void programs_prepare(void);
void programs_begin(void);
/* Waits until all have ended, and tells of them. */
void programs_end(void);

/* Captures: the headers of what a device sends or receives, in a file of this name. */
void capture_add(const char *file, const char *name_space, const char *device, int outgoing);
void captures_drain(void);
void captures_end(void);

/* To be called last before `exec` in a program that is supervised: it waits for that. */
void costs_await(void);
/*
 * Has each system call of a child, and of what it starts, take so much time. Returns when none of them is left; says when the child has
 * ended, with the status that waitpid(2) gives. All signals are blocked from here on.
 */
void costs_supervise(pid_t program, Time of_call, void (*ended)(int status));

/* Limits of what programs may do to the guest: they are set before programs start, and looked after at times of the run. */
void limits_begin(void);
void limits_look(Time time);
/* Between two looks. */
#define LIMITS_LOOK 100000000ll

#endif
