/* Queues: what arrives at a discipline and what leaves it, packet by packet, and what the discipline says of itself. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <math.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "guest.h"

#define RATIO 1.01
/* The handle of the discipline, below that of the device's rate, and of the wire's netem. */
#define HANDLE 0x100000u
#define WIRE_HANDLE 0x10000u
/* Of the filters that packets pass before the queue, which lose those that the plan says (TC_H_CLSACT). */
#define FILTERS_HANDLE 0xffff0000u
/* The wire, the filters before the queue, a policer's, and two of impairments. */
#define MOST_PLACES 5

/* What a discipline says of itself. */
struct answer {
	char kind[IFNAMSIZ];
	struct gnet_stats_queue state;
	unsigned char report[1024];
	unsigned report_size;
};

/* A packet that has arrived and has not been seen to leave. */
struct waiting {
	struct waiting *next;
	Time arrival;
	uint32_t length, sequence, acknowledgement;
	uint16_t identification, port;
	uint8_t data;
};

/*
 * The packets of a flow in one direction, in order of arrival: no discipline reorders these. The connections of a flow that has many share
 * some lines: of them a discipline reorders those of different ports.
 */
struct line {
	struct waiting *first, **end;
};

#define SHARED 256

static int shared(const struct flow *flow)
{
	return flow->kind == CONNECTIONS ? SHARED : 1;
}

struct counts {
	uint64_t arrivals, departures, bytes, sojourns;
	double sojourn_sum;
	Time sojourn_most;
};

/* Where packets are lost, and the discipline that counts them. */
struct place {
	int netlink, device;
	unsigned handle;
};

static struct queue {
	int number, overhead, netlink, device;
	struct place losing[MOST_PLACES];
	int places;
	struct tap arriving, leaving;
	struct packet departure; /* taken from the tap, but its arrival has not been seen */
	struct line *lines;      /* two a flow, or SHARED of each direction */
	int *first;              /* of each flow */
	struct counts whole, window;
	uint64_t *lost;          /* data packets of each flow that did not leave, by their arrival in the window */
	uint64_t bins[BINS];
	/* Samples in the window. */
	uint64_t samples, most;
	double sum, squares, bytes;
	struct answer answer; /* of the present look, if it has asked */
	int asked;
} *all;
int queues;
static struct waiting *spare;

static int open_netlink(const char *device)
{
	int opened = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (opened < 0)
		fail("netlink", device);
	return opened;
}

void queue_add(int number, const char *name_space, const char *device, const char *mirror, int overhead, const char *wire_space,
	       const char *wire)
{
	struct queue *queue;
	int lines = 0;

	all = realloc(all, (queues + 1) * sizeof *all);
	queue = memset(&all[queues++], 0, sizeof *all);
	queue->number = number;
	queue->overhead = overhead;
	queue->first = calloc(flow_count + 1, sizeof *queue->first);
	queue->lost = calloc(flow_count + 1, sizeof *queue->lost);
	for (int flow = 0; flow < flow_count; flow++) {
		queue->first[flow] = lines;
		lines += 2 * shared(&flows[flow]);
	}
	if (program_count) {
		queue->first[OF_PROGRAMS] = lines;
		lines += SHARED;
	}
	queue->lines = calloc(lines, sizeof *queue->lines);
	for (int line = 0; line < lines; line++)
		queue->lines[line].end = &queue->lines[line].first;
	tap_open(&queue->arriving, name_space, mirror, 1, program_count ? HEADERS_AND_MORE : HEADERS);
	tap_open(&queue->leaving, name_space, device, 1, program_count ? HEADERS_AND_MORE : HEADERS);
	queue->device = if_nametoindex(device);
	queue->netlink = open_netlink(device);
	queue->losing[queue->places++] = (struct place){ queue->netlink, queue->device, FILTERS_HANDLE };
	queue_loses(number, wire_space, wire, WIRE_HANDLE);
}

void queue_loses(int number, const char *name_space, const char *device, unsigned handle)
{
	struct queue *queue = &all[number];

	if (queue->places == MOST_PLACES)
		fail("loses", "too many");
	enter(name_space);
	queue->losing[queue->places++] = (struct place){ open_netlink(device), if_nametoindex(device), handle };
}

static struct line *line_of(struct queue *queue, const struct packet *packet)
{
	const struct flow *flow = &flows[packet->flow];
	int place;

	if (packet->flow == OF_PROGRAMS)
		return &queue->lines[queue->first[OF_PROGRAMS] + packet->port % SHARED];
	place = packet->port % shared(flow);
	return &queue->lines[queue->first[packet->flow] + 2 * place + (packet->source == flow->source_address)];
}

/* Whether a packet carries data that count for its flow: what answers datagrams does not. */
static int has_data(const struct packet *packet)
{
	return packet->payload > 0 && (packet->protocol == IPPROTO_TCP || packet->source == flows[packet->flow].source_address);
}

static void arrive(struct queue *queue, const struct packet *packet)
{
	struct line *line = line_of(queue, packet);
	struct waiting *waiting = spare ? spare : malloc(sizeof *waiting);

	if (spare)
		spare = spare->next;
	*waiting = (struct waiting){ NULL, packet->time, packet->length + queue->overhead, packet->sequence,
		packet->acknowledgement, packet->identification, packet->port, has_data(packet) };
	*line->end = waiting;
	line->end = &waiting->next;
	queue->whole.arrivals++;
	queue->window.arrivals += packet->time >= origin + warm_up;
}

/* Takes a packet out of its line. */
static void forget(struct line *line, struct waiting **place)
{
	struct waiting *gone = *place;

	*place = gone->next;
	if (!gone->next)
		line->end = place;
	gone->next = spare;
	spare = gone;
}

int bin_of(Time time)
{
	int bin = time <= 1000 ? 0 : (int)(log(time / 1000.0) / log(RATIO)) + 1;

	return bin < BINS ? bin : BINS - 1;
}

void bins_report(const char *what, int number, const uint64_t *bins)
{
	for (int bin = 0; bin < BINS; bin++)
		if (bins[bin])
			fprintf(output, "%s %d %d %llu\n", what, number, bin, (unsigned long long)bins[bin]);
}

static void count(struct queue *queue, const struct waiting *waiting, Time departure)
{
	Time sojourn = departure - waiting->arrival;

	queue->whole.departures++;
	queue->whole.bytes += waiting->length;
	queue->whole.sojourn_sum += sojourn;
	if (departure < origin + warm_up)
		return;
	queue->window.departures++;
	queue->window.bytes += waiting->length;
	queue->window.sojourn_sum += sojourn;
	if (sojourn > queue->window.sojourn_most)
		queue->window.sojourn_most = sojourn;
	queue->bins[bin_of(sojourn)]++;
}

static int same(const struct waiting *waiting, const struct packet *packet)
{
	return waiting->identification == packet->identification && waiting->sequence == packet->sequence &&
	       waiting->acknowledgement == packet->acknowledgement;
}

/*
 * Packets of its connection that came before the one that leaves, and have not left, were dropped. A reset without an acknowledgement
 * answers what came for a socket that is gone. It has not the hash of the socket's packets (net/core/sock.c, sk_set_txhash), which
 * they keep on their way here, so that fair queues may send it past them.
 */
static int leave(struct queue *queue, const struct packet *packet)
{
	struct line *line = line_of(queue, packet);
	struct waiting *found = line->first, **place = &line->first;

	while (found && !(found->port == packet->port && same(found, packet)))
		found = found->next;
	if (!found)
		return 0;
	while (*place != found) {
		if ((*place)->port != packet->port || packet->flags == RST) {
			place = &(*place)->next;
			continue;
		}
		if ((*place)->data && (*place)->arrival >= origin + warm_up)
			queue->lost[packet->flow]++;
		forget(line, place);
	}
	count(queue, found, packet->time);
	forget(line, place);
	return 1;
}

void queues_drain(void)
{
	struct packet packet;

	for (struct queue *queue = all; queue < all + queues; queue++) {
		while (tap_next(&queue->arriving, &packet))
			arrive(queue, &packet);
		while (tap_next(&queue->leaving, &packet))
			/* IPv6 has neighbours and routers asked for when its devices come up, which may be before anyone looks at them. */
			if (!leave(queue, &packet) && packet.time >= origin)
				fail("a packet left that had not arrived", queue->leaving.where);
	}
}

static void understand(struct answer *answer, struct nlmsghdr *message)
{
	struct tcmsg *about = NLMSG_DATA(message);
	int length = message->nlmsg_len - NLMSG_LENGTH(sizeof *about);
	struct rtattr *entry = (void *)((char *)about + NLMSG_ALIGN(sizeof *about));

	for (; RTA_OK(entry, length); entry = RTA_NEXT(entry, length)) {
		if (entry->rta_type == TCA_KIND)
			strncpy(answer->kind, RTA_DATA(entry), sizeof answer->kind - 1);
		if (entry->rta_type != TCA_STATS2)
			continue;
		int rest = RTA_PAYLOAD(entry);
		for (struct rtattr *inner = RTA_DATA(entry); RTA_OK(inner, rest); inner = RTA_NEXT(inner, rest)) {
			if (inner->rta_type == TCA_STATS_QUEUE)
				memcpy(&answer->state, RTA_DATA(inner), sizeof answer->state);
			if (inner->rta_type == TCA_STATS_APP && RTA_PAYLOAD(inner) <= sizeof answer->report) {
				answer->report_size = RTA_PAYLOAD(inner);
				memcpy(answer->report, RTA_DATA(inner), answer->report_size);
			}
		}
	}
}

/* Asks the kernel for one discipline. */
static void ask(int netlink, int device, unsigned handle, struct answer *answer)
{
	struct { struct nlmsghdr header; struct tcmsg about; } question = {
		/* Without an echo the answer would go to all who listen, and to nobody else (net/sched/sch_api.c, qdisc_notify). */
		{ sizeof question, RTM_GETQDISC, NLM_F_REQUEST | NLM_F_ECHO, 0, 0 },
		{ .tcm_family = AF_UNSPEC, .tcm_ifindex = device, .tcm_handle = handle },
	};
	static char received[16384];
	int size;

	memset(answer, 0, sizeof *answer);
	if (send(netlink, &question, sizeof question, 0) < 0 || (size = recv(netlink, received, sizeof received, 0)) <= 0)
		fail("netlink", strerror(errno));
	for (struct nlmsghdr *message = (void *)received; NLMSG_OK(message, size); message = NLMSG_NEXT(message, size)) {
		if (message->nlmsg_type == NLMSG_ERROR)
			fail("discipline", "none of this handle");
		if (message->nlmsg_type == RTM_NEWQDISC)
			understand(answer, message);
	}
}

/*
 * The same of a queue, at once. It is asked but once at each look: CoDel reads the clock to answer (net/sched/sch_codel.c,
 * codel_dump_stats), and reading takes time (arch/um/kernel/time.c, timer_read).
 */
static const struct answer *answer_of(struct queue *queue)
{
	if (!queue->asked)
		ask(queue->netlink, queue->device, HANDLE, &queue->answer);
	queue->asked = 1;
	return &queue->answer;
}

void queues_look(void)
{
	for (struct queue *queue = all; queue < all + queues; queue++)
		queue->asked = 0;
}

void queues_sample(int counts)
{
	for (struct queue *queue = all; queue < all + queues; queue++) {
		const struct answer *answer = answer_of(queue);
		double packets = answer->state.qlen;

		if (!counts)
			continue;
		queue->samples++;
		queue->sum += packets;
		queue->squares += packets * packets;
		queue->bytes += answer->state.backlog;
		if (answer->state.qlen > queue->most)
			queue->most = answer->state.qlen;
	}
}

int queues_are_empty(void)
{
	for (struct queue *queue = all; queue < all + queues; queue++)
		if (answer_of(queue)->state.qlen)
			return 0;
	return 1;
}

void queues_rest(uint64_t looks)
{
	for (struct queue *queue = all; queue < all + queues; queue++)
		queue->samples += looks;
}

static void report_discipline(FILE *file, struct queue *queue)
{
	const struct answer *answer = answer_of(queue);

	fprintf(file, " kind %s packets %u bytes %u drops %u report ", answer->kind, answer->state.qlen, answer->state.backlog,
		answer->state.drops);
	for (unsigned place = 0; place < answer->report_size; place++)
		fprintf(file, "%02x", answer->report[place]);
	fprintf(file, "%s\n", answer->report_size ? "" : "-");
}

void queues_report(const char *when)
{
	for (struct queue *queue = all; queue < all + queues; queue++) {
		fprintf(output, "discipline %d %s", queue->number, when);
		report_discipline(output, queue);
	}
}

void queues_moment(FILE *moments)
{
	for (struct queue *queue = all; queue < all + queues; queue++) {
		const struct counts *whole = &queue->whole;

		fprintf(moments, "queue departures %llu bytes_sent %llu sojourn_sum %.0f", (unsigned long long)whole->departures,
			(unsigned long long)whole->bytes, whole->sojourn_sum);
		report_discipline(moments, queue);
	}
}

void queues_series(Time moment)
{
	for (struct queue *queue = all; queue < all + queues; queue++) {
		const struct answer *answer = answer_of(queue);

		fprintf(output, "queue-at %lld %d %u %u %u\n", (long long)moment, queue->number, answer->state.qlen,
			answer->state.backlog, answer->state.drops);
	}
}

/* What was lost on the wire, and before the queue by plan or by a policer. */
static unsigned losses(const struct queue *queue)
{
	struct answer answer;
	unsigned lost = 0;

	for (const struct place *place = queue->losing; place < queue->losing + queue->places; place++) {
		ask(place->netlink, place->device, place->handle, &answer);
		lost += answer.state.drops;
	}
	return lost;
}

void queues_end(void)
{
	for (struct queue *queue = all; queue < all + queues; queue++) {
		struct counts *window = &queue->window;

		tap_check(&queue->arriving);
		tap_check(&queue->leaving);
		fprintf(output,
			"queue %d arrivals %llu departures %llu bytes_sent %llu sojourn_sum %.0f sojourn_max %lld total_arrivals %llu "
			"total_departures %llu link_losses %u samples %llu packets %.17g squares %.17g bytes %.17g most %llu\n",
			queue->number, (unsigned long long)window->arrivals, (unsigned long long)window->departures,
			(unsigned long long)window->bytes, window->sojourn_sum, (long long)window->sojourn_most,
			(unsigned long long)queue->whole.arrivals, (unsigned long long)queue->whole.departures,
			losses(queue),
			(unsigned long long)queue->samples, queue->sum, queue->squares, queue->bytes, (unsigned long long)queue->most);
		bins_report("sojourns", queue->number, queue->bins);
		for (int flow = 0; flow < flow_count; flow++)
			if (queue->lost[flow])
				fprintf(output, "lost %d %d %llu\n", queue->number, flow, (unsigned long long)queue->lost[flow]);
	}
}
