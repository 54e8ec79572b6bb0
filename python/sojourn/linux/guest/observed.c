/*
 * Flows that nobody has planned: connections of TCP, and datagrams between the same two ports, of hosts that are looked at. All packets are
 * seen where they leave their sender and where they arrive at their receiver, in order of time.
 */
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include "observed.h"

#define MOST_HOSTS 4096
#define MOST_TAPS (2 * MOST_HOSTS)
/* Those that come later are counted together, by their hosts. */
#define MOST_FLOWS_SEEN 4000
#define BUCKETS 16384
/* Linux include/net/tcp.h, TCP_INFINITE_SSTHRESH: no congestion has been seen. */
#define INFINITE_SSTHRESH 0x7fffffff

struct host {
	char name[16];
	unsigned char (*addresses)[16];
	int count;
	struct sockets sockets;
};

/* What is counted over the whole run, and in the window. */
struct counts {
	uint64_t sent, again, lost; /* packets with data: by when they were sent */
	uint64_t arrived, bytes;    /* by when they arrived; bytes of TCP when all before them have */
};

/* A direction. */
struct way {
	int number;
	struct counts whole, window;
	struct seen seen;
	struct samples samples;
	struct stream stream;
	struct delays *delays;
	Time first, acknowledged;  /* the first packet; the latest acknowledgement of new data */
	uint64_t latest;           /* of those that arrived, the one that was sent last */
	uint64_t told;             /* packets up to the last sample */
	uint32_t data_end, end;    /* of the data, and after the FIN */
	int has_data, has_end;
	unsigned syns;             /* sent again in the window */
	struct socket_state at_start, state;
	int is_over;               /* its socket */
};

struct conversation {
	struct conversation *next, *waits;
	uint64_t hash;
	uint8_t protocol;
	int number, is_rest, is_quic;
	struct endpoint ends[2]; /* the first began */
	struct host *hosts[2];
	struct way ways[2]; /* what each end sends */
	Time reset;
};

static struct host hosts[MOST_HOSTS];
static int host_count;
static struct { struct tap tap; struct host *host; } taps[MOST_TAPS];
static int tap_count;
static struct conversation **all, *buckets[BUCKETS], *unknown; /* unknown: of sockets of which the kernel has not been asked yet */
static int conversations;
static Time longest; /* that any packet took */
static int with_flows;

static int after(uint32_t one, uint32_t other)
{
	return (int32_t)(one - other) > 0;
}

/* An address by which others know a host: not one of its own network or link. */
static int address_read(const struct sockaddr *given, unsigned char *address)
{
	if (given->sa_family == AF_INET6) {
		const struct in6_addr *own = &((const struct sockaddr_in6 *)given)->sin6_addr;

		memcpy(address, own, 16);
		return !IN6_IS_ADDR_LOOPBACK(own) && !IN6_IS_ADDR_LINKLOCAL(own);
	}
	if (given->sa_family != AF_INET)
		return 0;
	memset(address, 0, 16);
	address[10] = address[11] = 0xff;
	memcpy(address + 12, &((const struct sockaddr_in *)given)->sin_addr, 4);
	return address[12] != IN_LOOPBACKNET;
}

void observed_host(const char *name_space)
{
	struct host *host = &hosts[host_count];
	struct ifaddrs *first;

	if (host_count++ == MOST_HOSTS)
		fail("observe", name_space);
	snprintf(host->name, sizeof host->name, "%s", name_space);
	sockets_open(&host->sockets, name_space);
	if (getifaddrs(&first))
		fail("addresses", name_space);
	for (const struct ifaddrs *each = first; each; each = each->ifa_next) {
		unsigned char address[16];

		if (!each->ifa_addr || !address_read(each->ifa_addr, address))
			continue;
		host->addresses = realloc(host->addresses, (host->count + 1) * sizeof *host->addresses);
		memcpy(host->addresses[host->count++], address, sizeof address);
	}
	freeifaddrs(first);
}

static struct host *named(const char *name_space)
{
	for (struct host *host = hosts; host < hosts + host_count; host++)
		if (!strcmp(host->name, name_space))
			return host;
	fail("observe", name_space);
}

void observed_tap(const char *name_space, const char *device, int outgoing)
{
	if (tap_count == MOST_TAPS)
		fail("observe", device);
	taps[tap_count].host = named(name_space);
	tap_open_whole(&taps[tap_count++].tap, name_space, device, outgoing);
}

void observed_flows(void)
{
	with_flows = 1;
}

/* Whether it is a packet of one of the plan's flows, which are measured otherwise. */
static int is_planned(const struct sight *sight)
{
	const struct endpoint *ends[2] = { &sight->source, &sight->target };

	for (int end = 0; end < 2; end++) {
		int flow = (int)ends[end]->port - FIRST_PORT;

		if (flow >= 0 && flow < flow_count)
			for (int other = 0; other < 2; other++)
				if (!memcmp(ends[other]->address + 12, &flows[flow].source_address, 4))
					return 1;
	}
	return 0;
}

static struct host *host_of(const struct endpoint *endpoint)
{
	for (struct host *host = hosts; host < hosts + host_count; host++)
		for (int place = 0; place < host->count; place++)
			if (!memcmp(host->addresses[place], endpoint->address, 16))
				return host;
	return NULL;
}

/* The same for both directions. */
static uint64_t hash_of(uint8_t protocol, const struct endpoint *one, const struct endpoint *other)
{
	uint64_t hash = protocol;
	const unsigned char *bytes[2] = { (const void *)one, (const void *)other };

	for (unsigned place = 0; place < sizeof *one; place++)
		hash = (hash ^ (bytes[0][place] + bytes[1][place]) ^ (bytes[0][place] * bytes[1][place]) << 9) * 0x100000001b3;
	return hash;
}

static int is_same(const struct endpoint *one, const struct endpoint *other)
{
	return !memcmp(one, other, sizeof *one);
}

/* The latest between two endpoints after `before`, or the latest of all; `way` is the direction in which the first of them sends. */
static struct conversation *find(uint8_t protocol, const struct endpoint *source, const struct endpoint *target, int *way,
				 const struct conversation *before)
{
	uint64_t hash = hash_of(protocol, source, target);
	struct conversation *each = before ? before->next : buckets[hash % BUCKETS];

	for (; each; each = each->next) {
		if (each->hash != hash || each->protocol != protocol)
			continue;
		for (*way = 0; *way < 2; ++*way)
			if (is_same(&each->ends[*way], source) && is_same(&each->ends[1 - *way], target))
				return each;
	}
	return NULL;
}

static struct conversation *begin(uint8_t protocol, const struct endpoint *source, const struct endpoint *target)
{
	struct conversation *made;
	struct host *ends[2] = { host_of(source), host_of(target) };

	if (!ends[0] || !ends[1] || ends[0] == ends[1])
		return NULL;
	made = calloc(1, sizeof *made);
	made->protocol = protocol;
	made->hash = hash_of(protocol, source, target);
	made->ends[0] = *source;
	made->ends[1] = *target;
	made->number = conversations;
	made->reset = NEVER;
	for (int end = 0; end < 2; end++) {
		struct way *way = &made->ways[end];

		made->hosts[end] = ends[end];
		way->number = 2 * conversations + end;
		way->first = way->acknowledged = NEVER;
		seen_begin(&way->seen, 0, 0, &way->samples);
	}
	made->next = buckets[made->hash % BUCKETS];
	buckets[made->hash % BUCKETS] = made;
	all = realloc(all, (conversations + 1) * sizeof *all);
	all[conversations++] = made;
	return made;
}

static int is_tcp(const struct conversation *conversation)
{
	return conversation->protocol == IPPROTO_TCP && !conversation->is_rest;
}

/* Whether all that an end sent, and its end, has been acknowledged. */
static int is_complete(const struct way *way)
{
	return way->has_end && !after(way->end, way->seen.unacknowledged);
}

static int is_over(const struct conversation *conversation)
{
	return conversation->reset != NEVER || (is_complete(&conversation->ways[0]) && is_complete(&conversation->ways[1]));
}

/* Whether a SYN begins another connection between the same ports. */
static int is_another(const struct conversation *present, int way, const struct sight *sight)
{
	const struct seen *seen = &present->ways[way].seen;

	if ((sight->flags & (SYN | ACK)) != SYN || present->is_rest)
		return 0;
	return way == 0 ? seen->begun && sight->sequence != seen->first_sequence : is_over(present);
}

/* Of which a packet that leaves is, which may begin one; none if its hosts are not looked at, or its beginning has not been seen. */
static struct conversation *of_leaving(const struct sight *sight, int *way)
{
	struct conversation *found = find(sight->protocol, &sight->source, &sight->target, way, NULL);
	struct endpoint ends[2] = { sight->source, sight->target };

	if (found && !(sight->protocol == IPPROTO_TCP && is_another(found, *way, sight)))
		return found;
	/* Who answers a SYN may be seen before who sent it, at the same time. */
	*way = sight->protocol == IPPROTO_TCP && sight->flags & ACK;
	if (conversations >= MOST_FLOWS_SEEN) {
		ends[0].port = ends[1].port = 0;
		found = find(sight->protocol, &ends[0], &ends[1], way, NULL);
		if (!found && (found = begin(sight->protocol, &ends[0], &ends[1])))
			found->is_rest = 1;
		return found;
	}
	if (sight->protocol == IPPROTO_TCP && !(sight->flags & SYN))
		return NULL;
	found = begin(sight->protocol, &ends[*way], &ends[1 - *way]);
	if (found && is_tcp(found)) {
		found->waits = unknown;
		unknown = found;
	} else if (found) {
		found->is_quic = sight->is_initial;
	}
	return found;
}

/* Of which a packet that arrives is. */
static struct conversation *of_arriving(const struct sight *sight, int *way)
{
	struct conversation *found = find(sight->protocol, &sight->source, &sight->target, way, NULL);
	struct endpoint ends[2] = { sight->source, sight->target };

	if (found || conversations < MOST_FLOWS_SEEN)
		return found;
	ends[0].port = ends[1].port = 0;
	return find(sight->protocol, &ends[0], &ends[1], way, NULL);
}

static int is_in_window(Time time)
{
	return time >= origin + warm_up;
}

/* A SYN has a number of its own before its data (RFC 9293, section 3.4). */
static uint32_t first_of(const struct sight *sight)
{
	return sight->sequence + !!(sight->flags & SYN);
}

/* What tells a packet from others of its direction. */
static uint64_t identity_of(const struct sight *sight, uint32_t sequence, uint32_t payload)
{
	return sight->protocol == IPPROTO_TCP ? (uint64_t)sequence << 32 | payload : sight->content;
}

static void send_data(struct conversation *conversation, struct way *way, const struct sight *sight, uint32_t place, uint32_t number,
		      uint32_t payload)
{
	uint32_t sequence = first_of(sight) + place, end = sequence + payload;
	int again = is_tcp(conversation) && way->seen.begun && !after(end, way->seen.highest), counts = is_in_window(sight->time);
	uint16_t identification = sight->identification ? sight->identification + number : 0;

	way->whole.sent++;
	way->whole.again += again;
	way->window.sent += counts;
	way->window.again += counts && again;
	if (!way->has_data || after(end, way->data_end))
		way->data_end = end;
	way->has_data = 1;
	/* Of several datagrams in one buffer only the first was captured. */
	if (sight->protocol == IPPROTO_TCP || !place)
		waiting_add(way, identity_of(sight, sequence, payload), identification, way->whole.sent, sight->time);
}

/* A packet has left its sender. */
static void leave(const struct host *host, const struct sight *sight)
{
	struct conversation *conversation;
	struct way *way;
	uint32_t place = 0, number = 0;
	int end;

	if (!(conversation = of_leaving(sight, &end)) || conversation->hosts[end] != host)
		return;
	way = &conversation->ways[end];
	if (way->first == NEVER)
		way->first = sight->time;
	do {
		uint32_t left = sight->payload - place, payload = left < sight->piece ? left : sight->piece;
		int is_last = payload == left;
		struct packet packet = {
			.time = sight->time,
			.flags = is_last ? sight->flags : sight->flags & ~FIN,
			.sequence = sight->sequence + place,
			.payload = payload,
			.options = sight->options,
		};

		if (payload || sight->protocol == IPPROTO_UDP)
			send_data(conversation, way, sight, place, number++, payload);
		if (is_tcp(conversation)) {
			if (sight->flags & SYN && way->seen.begun)
				way->syns += is_in_window(sight->time);
			seen_sent(&way->seen, &packet);
		}
		place += payload;
	} while (place < sight->payload);
	if (!is_tcp(conversation))
		return;
	if (sight->flags & FIN) {
		way->has_end = 1;
		way->end = sight->sequence + sight->payload + 1;
	}
	if (sight->flags & RST && conversation->reset == NEVER && !is_over(conversation))
		conversation->reset = sight->time;
}

static void receive_data(struct conversation *conversation, struct way *way, const struct sight *sight, uint32_t place, uint32_t number,
			 uint32_t payload)
{
	uint16_t identification = sight->identification ? sight->identification + number : 0;
	uint32_t sequence = first_of(sight) + place;
	int counts = is_in_window(sight->time), found = 0;
	struct waiting waiting;
	uint64_t more = payload;

	if (sight->protocol == IPPROTO_TCP || !place)
		found = waiting_take(way, identity_of(sight, sequence, payload), identification, &waiting);
	if (found && waiting.serial > way->latest)
		way->latest = waiting.serial;
	if (found && sight->time - waiting.sent > longest)
		longest = sight->time - waiting.sent;
	if (found == 1) {
		if (!way->delays)
			way->delays = delays_new();
		delays_add(way->delays, waiting.sent, sight->time);
	}
	if (is_tcp(conversation)) {
		if (!way->stream.begun) {
			way->stream.begun = 1;
			way->stream.next = way->seen.first_sequence + 1;
		}
		more = stream_add(&way->stream, sequence, sequence + payload);
	}
	way->whole.arrived++;
	way->whole.bytes += more;
	way->window.arrived += counts;
	way->window.bytes += counts ? more : 0;
}

/* What a packet that has arrived acknowledges. */
static void acknowledge(struct way *way, const struct sight *sight)
{
	struct packet packet = { .time = sight->time, .flags = sight->flags, .acknowledgement = sight->acknowledgement };
	uint32_t before = way->seen.unacknowledged;

	seen_acknowledged(&way->seen, &packet);
	if (way->has_data && after(way->seen.unacknowledged, before) && after(way->data_end, before))
		way->acknowledged = sight->time;
}

/* A packet has arrived at its receiver. */
static void arrive(const struct host *host, const struct sight *sight)
{
	struct conversation *conversation;
	struct way *way;
	uint32_t place = 0, number = 0;
	int end;

	if (!(conversation = of_arriving(sight, &end)) || conversation->hosts[1 - end] != host)
		return;
	way = &conversation->ways[end];
	do {
		uint32_t left = sight->payload - place, payload = left < sight->piece ? left : sight->piece;

		if (payload || sight->protocol == IPPROTO_UDP)
			receive_data(conversation, way, sight, place, number++, payload);
		place += payload;
	} while (place < sight->payload);
	if (is_tcp(conversation))
		acknowledge(&conversation->ways[1 - end], sight);
}

/* Asks the kernel of an end's socket, if there is one. */
static int ask(const struct conversation *conversation, int end)
{
	struct way *way = &((struct conversation *)conversation)->ways[end];

	return !way->is_over &&
	       sockets_ask(&conversation->hosts[end]->sockets, &conversation->ends[end], &conversation->ends[1 - end], &way->state);
}

/* Of new connections: whoever sets a congestion control does so early, and of those that soon end it would not be known later. */
static void ask_of_new(void)
{
	struct conversation **place = &unknown, *each;

	while ((each = *place)) {
		int knows = 1;

		for (int end = 0; end < 2; end++) {
			const struct way *way = &each->ways[end];

			if (!*way->state.algorithm && !way->is_over && !(way->seen.begun && ask(each, end)))
				knows = 0;
		}
		if (knows || is_over(each))
			*place = each->waits;
		else
			place = &each->waits;
	}
}

/* What the kernel said of sockets when they ended. */
static void hear_of_ends(struct host *host)
{
	struct endpoint own, other;
	struct socket_state state;
	int end;

	while (sockets_ended(&host->sockets, &own, &other, &state)) {
		struct conversation *found = find(IPPROTO_TCP, &own, &other, &end, NULL);

		while (found && (found->ways[end].is_over ||
				 (found->ways[end].state.cookie && found->ways[end].state.cookie != state.cookie)))
			found = find(IPPROTO_TCP, &own, &other, &end, found);
		if (!found || found->hosts[end] != host)
			continue;
		memcpy(state.algorithm, found->ways[end].state.algorithm, sizeof state.algorithm);
		found->ways[end].state = state;
		found->ways[end].is_over = 1;
	}
}

/* The packets of all taps in order of time; where no time passes, a packet leaves before it arrives. */
void observed_drain(void)
{
	if (!tap_count)
		return;
	for (;;) {
		const struct tpacket2_hdr *earliest = NULL;
		struct sight sight;
		int from = 0;

		for (int place = 0; place < tap_count; place++) {
			const struct tpacket2_hdr *header = tap_first(&taps[place].tap);

			if (!header)
				continue;
			if (!earliest || tap_time(header) < tap_time(earliest) ||
			    (tap_time(header) == tap_time(earliest) && taps[place].tap.outgoing > taps[from].tap.outgoing)) {
				earliest = header;
				from = place;
			}
		}
		if (!earliest)
			break;
		if (tap_leaves(earliest) == taps[from].tap.outgoing && sight_read(earliest, &sight) && (with_flows || !is_planned(&sight))) {
			if (taps[from].tap.outgoing)
				leave(taps[from].host, &sight);
			else
				arrive(taps[from].host, &sight);
		}
		tap_release(&taps[from].tap);
	}
	for (struct host *host = hosts; host < hosts + host_count; host++)
		hear_of_ends(host);
	ask_of_new();
}

void observed_report(const char *when)
{
	for (int number = 0; number < conversations; number++) {
		struct conversation *conversation = all[number];

		if (!is_tcp(conversation))
			continue;
		for (int end = 0; end < 2; end++) {
			ask(conversation, end);
			if (!strcmp(when, "start"))
				conversation->ways[end].at_start = conversation->ways[end].state;
		}
	}
}

void observed_series(Time moment)
{
	for (int number = 0; number < conversations; number++) {
		struct conversation *conversation = all[number];

		for (int end = 0; end < 2; end++) {
			struct way *way = &conversation->ways[end];
			long long window = -1, threshold = -1;
			int is_alive = is_tcp(conversation) && way->has_data && ask(conversation, end);

			/* Of what has no socket that is known to last, there is a sample when it has sent something. */
			if (!is_alive && way->told == way->whole.sent)
				continue;
			way->told = way->whole.sent;
			if (is_alive) {
				window = (long long)way->state.window * way->state.segment;
				if (way->state.threshold < INFINITE_SSTHRESH)
					threshold = (long long)way->state.threshold * way->state.segment;
			}
			fprintf(output, "observed-at %lld %d %lld %lld %lld %llu %llu\n", (long long)moment, way->number, window, threshold,
				way->seen.sample_latest ? (long long)way->seen.sample_latest : -1ll,
				(unsigned long long)way->whole.bytes, (unsigned long long)(way->whole.bytes + way->stream.early));
		}
	}
}

/*
 * What has not arrived is lost if a packet that was sent later has, or if it was sent longer ago than any packet took; else it may be under
 * way.
 */
static void lose(const struct waiting *waiting)
{
	struct way *way = (struct way *)waiting->way;

	if (waiting->serial > way->latest && origin + duration - waiting->sent <= longest)
		return;
	way->whole.lost++;
	way->window.lost += is_in_window(waiting->sent);
}

static void moment(const char *name, Time time)
{
	if (time != NEVER)
		fprintf(output, " %s %lld", name, (long long)(time - origin));
}

static void report_socket(const struct way *way)
{
	const struct socket_state *state = &way->state, *before = &way->at_start;

	if (*state->algorithm)
		fprintf(output, " algorithm %s", state->algorithm);
	if (!state->known)
		return;
	fprintf(output, " rwnd_limited %llu sndbuf_limited %llu told_retransmissions %u",
		(unsigned long long)(state->rwnd_limited - before->rwnd_limited),
		(unsigned long long)(state->sndbuf_limited - before->sndbuf_limited), state->retransmissions - before->retransmissions);
	if (state->timeouts >= 0)
		fprintf(output, " timeouts %d", state->timeouts - (before->known ? before->timeouts : 0) - (int)way->syns);
}

static void report_way(const struct conversation *conversation, const struct way *way)
{
	const struct counts *window = &way->window, *whole = &way->whole;

	fprintf(output, "observed-way %d sent %llu again %llu lost %llu arrived %llu bytes %llu total_sent %llu total_arrived %llu total_bytes %llu",
		way->number, (unsigned long long)window->sent, (unsigned long long)window->again, (unsigned long long)window->lost,
		(unsigned long long)window->arrived, (unsigned long long)window->bytes, (unsigned long long)whole->sent,
		(unsigned long long)whole->arrived, (unsigned long long)whole->bytes);
	moment("first", way->first);
	if (is_tcp(conversation) && is_complete(way))
		moment("completed", way->acknowledged);
	fprintf(output, " samples %llu", (unsigned long long)way->samples.count);
	if (way->samples.count)
		fprintf(output, " rtt_sum %.0f rtt_min %lld rtt_max %lld", way->samples.sum, (long long)way->samples.least,
			(long long)way->samples.most);
	report_socket(way);
	fprintf(output, "\n");
	delays_report("observed-delay", "observed-delays", way->number, way->delays);
}

void observed_end(void)
{
	for (int place = 0; place < tap_count; place++)
		tap_check(&taps[place].tap);
	waiting_each(lose);
	for (int number = 0; number < conversations; number++) {
		const struct conversation *conversation = all[number];

		fprintf(output, "observed %d %s %s %u %s %u", number,
			conversation->protocol == IPPROTO_TCP ? "tcp" : conversation->is_quic ? "quic" : "udp", conversation->hosts[0]->name,
			conversation->ends[0].port, conversation->hosts[1]->name, conversation->ends[1].port);
		moment("established", conversation->ways[0].seen.established);
		moment("reset", conversation->reset);
		fprintf(output, "\n");
		for (int end = 0; end < 2; end++)
			report_way(conversation, &conversation->ways[end]);
	}
}
