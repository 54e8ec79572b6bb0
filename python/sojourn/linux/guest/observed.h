/* What the modules share that look at the packets and sockets of whoever makes connections or sends datagrams. */
#ifndef OBSERVED_H
#define OBSERVED_H

#include <stdint.h>
#include "guest.h"

/* An address of IPv4 is one of IPv6 that stands for it (RFC 4291, section 2.5.5.2). The port is in the host's order. */
struct endpoint {
	unsigned char address[16];
	uint16_t port;
};

/* A packet of TCP or UDP as a tap saw it: one, or several in one buffer (GSO, GRO), each with a payload of `piece` bytes but the last. */
struct sight {
	Time time;
	struct endpoint source, target;
	uint8_t protocol, flags; /* flags are TCP's */
	uint16_t identification; /* IPv4's, of the first; 0 if it has none */
	uint32_t sequence, acknowledgement, options;
	uint32_t payload, piece;
	uint64_t content; /* of a datagram: stands for its first bytes and its length */
	int is_initial;   /* whether it may be the first of a connection of QUIC */
};

/* Whether there is one in what a tap has. */
int sight_read(const struct tpacket2_hdr *header, struct sight *sight);

/* Packets that were sent and have not been seen to arrive; `way` stands for a direction. */
struct waiting {
	struct waiting *next;
	const void *way;
	uint64_t identity, serial;
	Time sent;
	uint16_t identification;
};

void waiting_add(const void *way, uint64_t identity, uint16_t identification, uint64_t serial, Time sent);
/* Takes out the one that has arrived: 0 if there is none, 2 if it may be another one, else 1. */
int waiting_take(const void *way, uint64_t identity, uint16_t identification, struct waiting *found);
/* All that are left. */
void waiting_each(void (*visit)(const struct waiting *waiting));

/* What arrived of a stream of bytes: up to where all did, and what came before its turn. */
struct stream {
	int begun;
	uint32_t next;
	uint64_t in_order, early;
	struct range { struct range *next; uint32_t from, to; } *ranges;
};

/* Returns by how many bytes more all is there. */
uint64_t stream_add(struct stream *stream, uint32_t from, uint32_t to);

/* What the kernel says of a socket (struct tcp_info). */
struct socket_state {
	int known;
	char algorithm[16];
	uint64_t cookie; /* the socket's own number */
	uint64_t rwnd_limited, sndbuf_limited;
	uint32_t retransmissions, window, threshold, segment;
	int timeouts; /* -1 if it does not say */
};

/* Questions about a namespace's sockets, and word of those that end. */
struct sockets {
	int questions, ends;
};

void sockets_open(struct sockets *sockets, const char *name_space);
/* Of the connection between two endpoints; 0 if there is none, or none yet. */
int sockets_ask(const struct sockets *sockets, const struct endpoint *own, const struct endpoint *other, struct socket_state *state);
/* The next socket that has ended; 0 if there is none. */
int sockets_ended(const struct sockets *sockets, struct endpoint *own, struct endpoint *other, struct socket_state *state);

#endif
