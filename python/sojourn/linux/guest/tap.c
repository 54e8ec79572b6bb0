/* Taps: rings of captured headers (packet(7), TPACKET_V2), each with the moment at which the packet passed the device. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include "guest.h"

/* Enough for all packets between two looks, 4 ms apart, of a link of 1 Gbit/s with the smallest packets. */
#define FRAMES 8192
/* More than a flow sends at once when it starts: all may start together. */
#define FRAMES_OF_FLOW 16
/* The kernel's own headers before a packet's take less than half of the smaller. */
#define FRAME 128
#define LARGER_FRAME 256
#define BLOCK 65536

/* A timer, and the sockets of all taps. */
static struct pollfd *awaited;
static int awaited_count;

/* Of the flows that a namespace has an end of; in others all may meet. */
static unsigned frames_in(const char *name_space)
{
	unsigned ends = 0;

	for (const struct flow *flow = flows; flow < flows + flow_count; flow++)
		ends += !strcmp(flow->sender, name_space) || !strcmp(flow->receiver, name_space);
	/* Whole blocks. */
	return (FRAMES + FRAMES_OF_FLOW * (ends ? ends : (unsigned)flow_count)) / 512 * 512;
}

static void open_ring(struct tap *tap, const char *name_space, const char *device, int outgoing, unsigned captured, int with_segments)
{
	unsigned frame = captured > HEADERS ? LARGER_FRAME : FRAME;
	struct sock_filter code[] = { { BPF_RET | BPF_K, 0, 0, captured } };
	struct sock_fprog filter = { 1, code };
	unsigned frames = frames_in(name_space);
	struct tpacket_req ring = { BLOCK, frames * frame / BLOCK, frame, frames };
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int version = TPACKET_V2, one = 1;

	enter(name_space);
	tap->where = device;
	tap->outgoing = outgoing;
	tap->all = captured >= HEADERS_AND_MORE;
	tap->next = 0;
	tap->frame = frame;
	tap->frames = frames;
	address.sll_ifindex = if_nametoindex(device);
	tap->socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (tap->socket < 0 || !address.sll_ifindex)
		fail("tap", device);
	if (setsockopt(tap->socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) ||
	    setsockopt(tap->socket, SOL_PACKET, PACKET_VERSION, &version, sizeof version) ||
	    (with_segments && setsockopt(tap->socket, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one)) ||
	    (!outgoing && setsockopt(tap->socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one)) ||
	    setsockopt(tap->socket, SOL_PACKET, PACKET_RX_RING, &ring, sizeof ring))
		fail("ring", device);
	tap->ring = mmap(NULL, (size_t)frames * frame, PROT_READ | PROT_WRITE, MAP_SHARED, tap->socket, 0);
	if (tap->ring == MAP_FAILED || bind(tap->socket, (void *)&address, sizeof address))
		fail("bind", device);
	if (!awaited_count)
		awaited_count = 1;
	awaited = realloc(awaited, (awaited_count + 1) * sizeof *awaited);
	awaited[awaited_count++] = (struct pollfd){ tap->socket, POLLIN, 0 };
}

int taps_wait(Time moment)
{
	struct itimerspec setting = { .it_value = { moment / 1000000000, moment % 1000000000 } };
	static int timer = -1;
	int seen = 0;

	/* The timer of poll(2) itself may be late. */
	if (timer < 0)
		timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
	if (!awaited_count || timer < 0 || timerfd_settime(timer, TFD_TIMER_ABSTIME, &setting, NULL))
		fail("timer", "of taps");
	awaited[0] = (struct pollfd){ timer, POLLIN, 0 };
	while (poll(awaited, awaited_count, -1) < 0)
		;
	for (int place = 1; place < awaited_count; place++)
		seen |= awaited[place].revents;
	return seen != 0;
}

void tap_open(struct tap *tap, const char *name_space, const char *device, int outgoing, unsigned captured)
{
	open_ring(tap, name_space, device, outgoing, captured, 0);
}

void tap_open_whole(struct tap *tap, const char *name_space, const char *device, int outgoing)
{
	open_ring(tap, name_space, device, outgoing, LARGER_FRAME, 1);
}

static const struct sockaddr_ll *link_of(const struct tpacket2_hdr *header)
{
	return (const void *)((const char *)header + TPACKET_ALIGN(sizeof *header));
}

Time tap_time(const struct tpacket2_hdr *header)
{
	return (Time)header->tp_sec * 1000000000 + header->tp_nsec;
}

int tap_leaves(const struct tpacket2_hdr *header)
{
	return link_of(header)->sll_pkttype == PACKET_OUTGOING;
}

int tap_wants(const struct tap *tap, const struct tpacket2_hdr *header)
{
	uint16_t protocol = link_of(header)->sll_protocol;

	return tap_leaves(header) == tap->outgoing &&
	       (protocol == htons(ETH_P_IP) || (tap->all && protocol == htons(ETH_P_IPV6)));
}

/* A packet of a program: of its IP header counts what no hop changes. */
static int of_program(const struct tpacket2_hdr *header, struct packet *packet)
{
	const unsigned char *bytes = (const unsigned char *)header + header->tp_net;
	unsigned present = header->tp_snaplen - (header->tp_net - header->tp_mac);
	uint64_t hash, flow;
	struct ip_header ip;

	if (!ip_read(bytes, present, &ip) || present < ip.length + 4)
		return 0;
	flow = hashed(hashed(HASH_BASIS, ip.addresses, 2 * ip.address_length), bytes + ip.length, 4);
	hash = hashed(hashed(HASH_BASIS, ip.own, ip.own_length) ^ flow, bytes + ip.length, present - ip.length);
	packet->protocol = ip.protocol;
	packet->time = tap_time(header);
	packet->length = header->tp_len;
	packet->flow = OF_PROGRAMS;
	packet->port = (uint16_t)(flow ^ flow >> 16 ^ flow >> 32 ^ flow >> 48);
	packet->identification = (uint16_t)hash;
	packet->sequence = (uint32_t)(hash >> 16);
	packet->acknowledgement = (uint32_t)(hash >> 32);
	packet->source = packet->target = packet->payload = packet->options = 0;
	packet->flags = ip.protocol == IPPROTO_TCP && present > ip.length + 13 ? bytes[ip.length + 13] : 0;
	return 1;
}

static int understood(const struct tap *tap, const struct tpacket2_hdr *header, struct packet *packet)
{
	const struct iphdr *ip = (const void *)((const char *)header + header->tp_net);
	const struct tcphdr *tcp = (const void *)(ip + 1);

	if (!tap_wants(tap, header))
		return 0;
	if (ip->version != 4 || ip->ihl != 5)
		return tap->all && of_program(header, packet);
	packet->time = tap_time(header);
	packet->length = header->tp_len;
	packet->identification = ntohs(ip->id);
	packet->protocol = ip->protocol;
	packet->source = ip->saddr;
	packet->target = ip->daddr;
	packet->flow = (int)ntohs(tcp->dest) - FIRST_PORT;
	packet->port = ntohs(tcp->source);
	if (packet->flow < 0 || packet->flow >= flow_count) {
		packet->flow = (int)ntohs(tcp->source) - FIRST_PORT;
		packet->port = ntohs(tcp->dest);
	}
	if (packet->flow < 0 || packet->flow >= flow_count)
		return tap->all && of_program(header, packet);
	if (ip->protocol == IPPROTO_TCP) {
		packet->sequence = ntohl(tcp->seq);
		packet->acknowledgement = ntohl(tcp->ack_seq);
		packet->flags = ((const uint8_t *)tcp)[13];
		packet->options = 4 * tcp->doff - 20;
		packet->payload = ntohs(ip->tot_len) - 40 - packet->options;
	} else {
		packet->sequence = packet->acknowledgement = packet->flags = packet->options = 0;
		packet->payload = ntohs(ip->tot_len) - 28;
	}
	return 1;
}

static struct tpacket2_hdr *place(const struct tap *tap)
{
	return (void *)(tap->ring + (size_t)tap->next * tap->frame);
}

struct tpacket2_hdr *tap_first(struct tap *tap)
{
	struct tpacket2_hdr *header = place(tap);

	return *(volatile uint32_t *)&header->tp_status & TP_STATUS_USER ? header : NULL;
}

void tap_release(struct tap *tap)
{
	__sync_synchronize();
	place(tap)->tp_status = TP_STATUS_KERNEL;
	tap->next = (tap->next + 1) % tap->frames;
}

int tap_next(struct tap *tap, struct packet *packet)
{
	const struct tpacket2_hdr *header;

	while ((header = tap_first(tap))) {
		int found = understood(tap, header, packet);

		tap_release(tap);
		if (found)
			return 1;
	}
	return 0;
}

void tap_check(struct tap *tap)
{
	struct tpacket_stats seen;
	socklen_t size = sizeof seen;

	if (getsockopt(tap->socket, SOL_PACKET, PACKET_STATISTICS, &seen, &size) || seen.tp_drops)
		fail("packets missed on", tap->where);
}
