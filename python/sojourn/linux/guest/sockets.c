/* Sockets of namespaces: what the kernel says of a connection, when asked and at its end (sock_diag(7)). */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "observed.h"

/* Linux include/net/tcp_states.h: states in which a connection has no socket of its own, or a socket no connection. */
#define TIME_WAIT 6
#define LISTEN 10
#define NEW_SYN_RECV 12
/* Where struct tcp_info has tcpi_total_rto, from Linux 6.7 on: later than the headers that this may be compiled with. */
#define TOTAL_TIMEOUTS 240
#define MOST_TOLD 512
/* Room for word of all sockets that end between two looks. */
#define ROOM (64 << 20)

static int open_netlink(unsigned groups, const char *name_space)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = groups };
	int opened = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG), room = ROOM;

	if (opened < 0 || bind(opened, (void *)&address, sizeof address) ||
	    setsockopt(opened, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room))
		fail("sockets of", name_space);
	return opened;
}

void sockets_open(struct sockets *sockets, const char *name_space)
{
	enter(name_space);
	sockets->questions = open_netlink(0, name_space);
	sockets->ends = open_netlink(1u << (SKNLGRP_INET_TCP_DESTROY - 1) | 1u << (SKNLGRP_INET6_TCP_DESTROY - 1), name_space);
}

static int is_mapped(const struct endpoint *endpoint)
{
	static const unsigned char before[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(endpoint->address, before, sizeof before);
}

static void understand(struct socket_state *state, const struct nlmsghdr *header)
{
	const struct inet_diag_msg *about = NLMSG_DATA(header);
	int length = header->nlmsg_len - NLMSG_LENGTH(sizeof *about);
	struct { struct tcp_info info; unsigned char rest[MOST_TOLD]; } told;
	uint16_t timeouts;

	state->cookie = (uint64_t)about->id.idiag_cookie[1] << 32 | about->id.idiag_cookie[0];
	for (const struct rtattr *entry = (const void *)((const char *)about + NLMSG_ALIGN(sizeof *about)); RTA_OK(entry, length);
	     entry = RTA_NEXT(entry, length)) {
		unsigned size = RTA_PAYLOAD(entry);

		if (entry->rta_type == INET_DIAG_CONG)
			snprintf(state->algorithm, sizeof state->algorithm, "%s", (const char *)RTA_DATA(entry));
		if (entry->rta_type != INET_DIAG_INFO || size > sizeof told)
			continue;
		memset(&told, 0, sizeof told);
		memcpy(&told, RTA_DATA(entry), size);
		memcpy(&timeouts, (const char *)&told + TOTAL_TIMEOUTS, sizeof timeouts);
		state->known = 1;
		state->timeouts = size > TOTAL_TIMEOUTS ? timeouts : -1;
		state->rwnd_limited = told.info.tcpi_rwnd_limited;
		state->sndbuf_limited = told.info.tcpi_sndbuf_limited;
		state->retransmissions = told.info.tcpi_total_retrans;
		state->window = told.info.tcpi_snd_cwnd;
		state->threshold = told.info.tcpi_snd_ssthresh;
		state->segment = told.info.tcpi_snd_mss;
	}
}

static void endpoint_of(struct endpoint *endpoint, uint8_t family, const uint32_t *address, uint16_t port)
{
	memset(endpoint, 0, sizeof *endpoint);
	endpoint->port = ntohs(port);
	if (family == AF_INET6) {
		memcpy(endpoint->address, address, 16);
		return;
	}
	endpoint->address[10] = endpoint->address[11] = 0xff;
	memcpy(endpoint->address + 12, address, 4);
}

static void set_address(uint32_t *place, const struct endpoint *endpoint, int is_ipv4)
{
	memcpy(place, endpoint->address + (is_ipv4 ? 12 : 0), is_ipv4 ? 4 : 16);
}

int sockets_ask(const struct sockets *sockets, const struct endpoint *own, const struct endpoint *other, struct socket_state *state)
{
	int is_ipv4 = is_mapped(own);
	struct { struct nlmsghdr header; struct inet_diag_req_v2 about; } question = {
		{ sizeof question, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 0, 0 },
		{
			.sdiag_family = is_ipv4 ? AF_INET : AF_INET6,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_ext = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1),
			.idiag_states = ~0u,
			.id = {
				.idiag_sport = htons(own->port),
				.idiag_dport = htons(other->port),
				.idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE },
			},
		},
	};
	static char received[8192];
	const struct nlmsghdr *header = (const void *)received;
	const struct inet_diag_msg *about = NLMSG_DATA(header);
	struct socket_state told = { 0 };
	struct endpoint found;

	set_address(question.about.id.idiag_src, own, is_ipv4);
	set_address(question.about.id.idiag_dst, other, is_ipv4);
	if (send(sockets->questions, &question, sizeof question, 0) < 0 || recv(sockets->questions, received, sizeof received, 0) <= 0)
		fail("sockets", strerror(errno));
	/* There may be no such socket, or one that listens. */
	if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY || about->idiag_state == LISTEN || about->idiag_state == TIME_WAIT ||
	    about->idiag_state == NEW_SYN_RECV)
		return 0;
	endpoint_of(&found, about->idiag_family, about->id.idiag_dst, about->id.idiag_dport);
	if (memcmp(&found, other, sizeof *other))
		return 0;
	understand(&told, header);
	if (told.known)
		*state = told;
	return told.known;
}

int sockets_ended(const struct sockets *sockets, struct endpoint *own, struct endpoint *other, struct socket_state *state)
{
	static char received[8192];
	const struct nlmsghdr *header = (const void *)received;
	const struct inet_diag_msg *about = NLMSG_DATA(header);

	if (recv(sockets->ends, received, sizeof received, MSG_DONTWAIT) <= 0) {
		if (errno == ENOBUFS)
			fail("sockets", "more ended than there is room for");
		return 0;
	}
	memset(state, 0, sizeof *state);
	endpoint_of(own, about->idiag_family, about->id.idiag_src, about->id.idiag_sport);
	endpoint_of(other, about->idiag_family, about->id.idiag_dst, about->id.idiag_dport);
	understand(state, header);
	return 1;
}
