/* Flows: an endpoint is a thread that writes, or reads, all that it can; what happened is seen at the sender's link. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include "guest.h"

/* include/net/tcp_states.h, TCP_CLOSE */
#define CLOSED 7
#define STACK 65536
#define WRITTEN_AT_ONCE 262144
/* Linux include/net/tcp.h, TCP_INFINITE_SSTHRESH: no congestion has been seen. */
#define INFINITE_SSTHRESH 0x7fffffff
/* More than any link carries: a limit makes the kernel pace, this one does not slow it (socket(7), SO_MAX_PACING_RATE). */
#define UNLIMITED_PACE (1ull << 50)

/*
 * What a datagram begins with: its number in the flow and when it was sent, in s and us, as iperf 2 writes them (struct
 * UDP_datagram of its payloads.h), and the ns that are left. In network order, since the run began.
 */
struct datagram {
	uint32_t number, seconds, microseconds, nanoseconds;
};

struct flow *flows;
int flow_count;
static char written[WRITTEN_AT_ONCE];

struct flow *flow_add(void)
{
	flows = realloc(flows, (flow_count + 1) * sizeof *flows);
	struct flow *flow = memset(&flows[flow_count], 0, sizeof *flow);

	flow->number = flow_count++;
	flow->socket = flow->listener = flow->accepted = -1;
	return flow;
}

static void set(int socket, int level, int option, const void *value, socklen_t size, const char *what)
{
	if (setsockopt(socket, level, option, value, size))
		fail(what, strerror(errno));
}

static void open_tcp(struct flow *flow, struct sockaddr_in *own)
{
	uint64_t pace = UNLIMITED_PACE;
	int one = 1;

	enter(flow->receiver);
	flow->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	set(flow->listener, IPPROTO_IP, IP_TOS, &flow->tos, sizeof flow->tos, "IP_TOS");
	set(flow->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one, "SO_REUSEADDR");
	set(flow->listener, IPPROTO_TCP, TCP_CONGESTION, flow->algorithm, strlen(flow->algorithm), flow->algorithm);
	if (flow->segment_size)
		set(flow->listener, IPPROTO_TCP, TCP_MAXSEG, &flow->segment_size, sizeof flow->segment_size, "TCP_MAXSEG");
	if (bind(flow->listener, (void *)own, sizeof *own) || listen(flow->listener, 1))
		fail("listen", strerror(errno));
	enter(flow->sender);
	flow->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	set(flow->socket, IPPROTO_IP, IP_TOS, &flow->tos, sizeof flow->tos, "IP_TOS");
	set(flow->socket, IPPROTO_TCP, TCP_CONGESTION, flow->algorithm, strlen(flow->algorithm), flow->algorithm);
	if (flow->segment_size)
		set(flow->socket, IPPROTO_TCP, TCP_MAXSEG, &flow->segment_size, sizeof flow->segment_size, "TCP_MAXSEG");
	if (flow->paced)
		set(flow->socket, SOL_SOCKET, SO_MAX_PACING_RATE, &pace, sizeof pace, "SO_MAX_PACING_RATE");
}

static void open_udp(struct flow *flow, struct sockaddr_in *own)
{
	int buffer = 1 << 30;

	if (flow->payload >= sizeof(struct datagram))
		flow->delays = delays_new();
	enter(flow->receiver);
	flow->accepted = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	set(flow->accepted, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer, "SO_RCVBUFFORCE");
	if (bind(flow->accepted, (void *)own, sizeof *own))
		fail("bind", strerror(errno));
	enter(flow->sender);
	flow->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	set(flow->socket, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer, "SO_SNDBUFFORCE");
	set(flow->socket, IPPROTO_IP, IP_TOS, &flow->tos, sizeof flow->tos, "IP_TOS");
}

void flows_prepare(void)
{
	for (struct flow *flow = flows; flow < flows + flow_count; flow++) {
		struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(FIRST_PORT + flow->number) };

		seen_begin(&flow->seen, flow->source_address, flow->size, &flow->samples);
		if (flow->kind == CONNECTIONS || flow->kind == DATAGRAMS)
			continue;
		if (flow->kind == TCP)
			open_tcp(flow, &own);
		else
			open_udp(flow, &own);
		if (bind(flow->socket, (void *)&own, sizeof own))
			fail("bind", strerror(errno));
	}
}

static void connect_to_target(struct flow *flow, int *connected)
{
	struct sockaddr_in target = { .sin_family = AF_INET, .sin_port = htons(FIRST_PORT + flow->number) };

	inet_pton(AF_INET, flow->target, &target.sin_addr);
	*connected = !connect(flow->socket, (void *)&target, sizeof target);
}

static void *send_tcp(void *given)
{
	struct flow *flow = given;
	uint64_t left = flow->size ? flow->size : UINT64_MAX;
	int connected;

	sleep_until(origin + flow->start);
	connect_to_target(flow, &connected);
	while (connected && left) {
		/* The end of the data waits for the FIN: they go in one segment. */
		int more = left <= sizeof written ? MSG_MORE : 0;
		ssize_t sent = send(flow->socket, written, left < sizeof written ? left : sizeof written, MSG_NOSIGNAL | more);
		if (sent <= 0)
			break;
		left -= sent;
	}
	if (connected && !left)
		shutdown(flow->socket, SHUT_WR);
	return NULL;
}

/* Reads a little at a time, as fast as its rate says, and no faster after it had nothing to read. */
static void read_slowly(struct flow *flow)
{
	uint64_t portion = flow->reading_rate / READS + 1;
	Time next = now();
	ssize_t taken;

	while (flow->accepted >= 0 && (taken = recv(flow->accepted, NULL, portion, MSG_TRUNC)) > 0) {
		if (next < now())
			next = now();
		flow->received += taken;
		next += taken * 1000000000ll / (Time)flow->reading_rate;
		sleep_until(next);
	}
}

static void *receive_tcp(void *given)
{
	struct flow *flow = given;
	int one = 1;

	flow->accepted = accept4(flow->listener, NULL, NULL, SOCK_CLOEXEC);
	if (flow->reading_rate)
		read_slowly(flow);
	/* The data are left where they are (tcp(7), MSG_TRUNC). */
	while (flow->accepted >= 0 && recv(flow->accepted, NULL, 1 << 22, MSG_TRUNC | MSG_WAITALL) > 0)
		;
	/* A host that is done with a connection acknowledges its end at once, not after a while (tcp(7), TCP_QUICKACK). */
	setsockopt(flow->accepted, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof one);
	return NULL;
}

/* The next number of a stream of 64-bit numbers: Steele, Lea and Flood, OOPSLA 2014 (SplitMix). */
static double uniform(struct flow *flow)
{
	uint64_t mixed = flow->chance += 0x9e3779b97f4a7c15;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
	return ((mixed ^ mixed >> 31) >> 11) * 0x1p-53;
}

static Time drawn(struct flow *flow, Time mean, int exponential)
{
	return exponential ? (Time)(-log1p(-uniform(flow)) * mean) : mean;
}

static void stamp(struct datagram *packet, uint64_t number, Time time)
{
	packet->number = htonl(number % (1u << 31));
	packet->seconds = htonl(time / 1000000000);
	packet->microseconds = htonl(time / 1000 % 1000000);
	packet->nanoseconds = htonl(time % 1000);
}

static Time stamped(const struct datagram *packet)
{
	return ntohl(packet->seconds) * 1000000000ll + ntohl(packet->microseconds) * 1000ll + ntohl(packet->nanoseconds);
}

static void *send_udp(void *given)
{
	struct flow *flow = given;
	Time next = flow->start, end = flow->stop ? flow->stop : duration, pause;
	struct datagram *packet = calloc(1, flow->payload + sizeof *packet);
	int connected;

	sleep_until(origin + flow->start);
	connect_to_target(flow, &connected);
	flow->seen.began = now();
	pause = flow->off ? next + drawn(flow, flow->on, flow->exponential) : NEVER;
	while (connected && next < end) {
		sleep_until(origin + next);
		stamp(packet, flow->sent, now() - origin);
		if (send(flow->socket, packet, flow->payload, MSG_NOSIGNAL) < 0)
			fail("send", strerror(errno));
		flow->sent++;
		next += drawn(flow, flow->gap, flow->poisson);
		while (next >= pause) {
			next = pause + drawn(flow, flow->off, flow->exponential);
			pause = next + drawn(flow, flow->on, flow->exponential);
		}
	}
	return NULL;
}

static void *receive_udp(void *given)
{
	struct flow *flow = given;
	struct datagram packet;

	while (recv(flow->accepted, &packet, sizeof packet, MSG_TRUNC) >= 0) {
		flow->received++;
		if (flow->delays)
			delays_add(flow->delays, origin + stamped(&packet), now());
	}
	return NULL;
}

static void start(void *(*body)(void *), struct flow *flow, char *stack)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstack(&small, stack, STACK);
	if (pthread_create(&thread, &small, body, flow))
		fail("thread", strerror(errno));
	pthread_detach(thread);
}

/* All stacks are one area: to map one more costs as much as there are already (Linux 6.1, arch/um/kernel/tlb.c, flush_tlb_mm). */
void flows_begin(void)
{
	char *stacks;

	if (!flow_count)
		return;
	stacks = mmap(NULL, 2ul * flow_count * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (stacks == MAP_FAILED)
		fail("stacks", strerror(errno));
	for (struct flow *flow = flows; flow < flows + flow_count; flow++) {
		if (flow->kind == CONNECTIONS || flow->kind == DATAGRAMS)
			continue;
		start(flow->kind == TCP ? receive_tcp : receive_udp, flow, stacks + 2ul * flow->number * STACK);
		start(flow->kind == TCP ? send_tcp : send_udp, flow, stacks + (2ul * flow->number + 1) * STACK);
	}
}

/* The direction of a flow's connection in which an address sends. */
static struct seen *direction(const struct packet *packet, uint32_t source)
{
	struct flow *flow = &flows[packet->flow];

	if (packet->protocol != IPPROTO_TCP)
		return NULL;
	if (flow->kind == CONNECTIONS)
		return group_direction(flow, packet->port, source);
	return source == flow->source_address ? &flow->seen : NULL;
}

void flows_sent(const struct packet *packet)
{
	struct seen *seen = direction(packet, packet->source);

	if (seen)
		seen_sent(seen, packet);
}

void flows_acknowledged(const struct packet *packet)
{
	struct seen *seen = direction(packet, packet->target);

	if (seen)
		seen_acknowledged(seen, packet);
}

static int told(int socket, struct tcp_info *info)
{
	socklen_t size = sizeof *info;

	memset(info, 0, sizeof *info);
	return socket >= 0 && !getsockopt(socket, IPPROTO_TCP, TCP_INFO, info, &size);
}

/* The kernel counts the FIN as a byte (net/ipv4/tcp_input.c, tcp_fin and tcp_snd_una_update). */
static unsigned long long without_fin(const struct flow *flow, unsigned long long bytes)
{
	return flow->size && bytes > flow->size ? flow->size : bytes;
}

/* What the application has, which takes all at once unless it reads slowly. */
static unsigned long long delivered(const struct flow *flow, const struct tcp_info *receiver)
{
	return flow->reading_rate ? flow->received : without_fin(flow, receiver->tcpi_bytes_received);
}

static void report_sender(const struct flow *flow, const char *when)
{
	struct tcp_info info;

	if (flow->kind == UDP)
		fprintf(output, "sender %d %s segments %llu\n", flow->number, when, (unsigned long long)flow->sent);
	else if (told(flow->socket, &info))
		fprintf(output, "sender %d %s state %u segments %u retransmissions %u rwnd_limited %llu sndbuf_limited %llu\n", flow->number,
			when, info.tcpi_state, info.tcpi_data_segs_out, info.tcpi_total_retrans,
			(unsigned long long)info.tcpi_rwnd_limited, (unsigned long long)info.tcpi_sndbuf_limited);
}

static void report_receiver(const struct flow *flow, const char *when)
{
	struct tcp_info info;

	if (flow->kind == UDP)
		fprintf(output, "receiver %d %s segments %llu\n", flow->number, when, (unsigned long long)flow->received);
	else if (told(flow->accepted, &info))
		fprintf(output, "receiver %d %s bytes %llu segments %u\n", flow->number, when, delivered(flow, &info),
			info.tcpi_data_segs_in);
}

void flows_report(const char *when)
{
	for (struct flow *flow = flows; flow < flows + flow_count; flow++) {
		if (flow->group) {
			group_report(flow, when);
			continue;
		}
		if (flow->stop >= 0)
			report_sender(flow, when);
		report_receiver(flow, when);
	}
}

/* Aborts a connection: it sends no more than a reset (RFC 9293, section 3.10.5). What it counted is gone then. */
void flow_stop(struct flow *flow)
{
	struct sockaddr unspecified = { .sa_family = AF_UNSPEC };

	report_sender(flow, "end");
	flow->stop = -1;
	if (flow->kind == TCP && told(flow->socket, flow->last = malloc(sizeof *flow->last)))
		flow->last->tcpi_state = CLOSED;
	/* Wakes its thread too; to close a socket that a thread writes to would not. */
	if (flow->kind == TCP)
		connect(flow->socket, &unspecified, sizeof unspecified);
}

void flows_series(Time moment)
{
	for (struct flow *flow = flows; flow < flows + flow_count; flow++) {
		struct tcp_info sender, receiver;
		unsigned mss;

		if (flow->kind != TCP || flow->stop < 0 || flow->seen.established == NEVER || !told(flow->socket, &sender))
			continue;
		told(flow->accepted, &receiver);
		mss = sender.tcpi_snd_mss;
		fprintf(output, "flow-at-time %lld %d %llu %lld %lld %llu\n", (long long)moment, flow->number,
			(unsigned long long)sender.tcpi_snd_cwnd * mss,
			sender.tcpi_snd_ssthresh >= INFINITE_SSTHRESH ? -1ll : (long long)sender.tcpi_snd_ssthresh * mss,
			flow->seen.sample_latest ? (long long)flow->seen.sample_latest : -1ll, delivered(flow, &receiver));
	}
}

void flows_connections(FILE *connections, Time moment)
{
	for (struct flow *flow = flows; flow < flows + flow_count; flow++) {
		struct tcp_info sender, receiver;

		if (flow->kind != TCP)
			continue;
		if (flow->last)
			sender = *flow->last;
		else if (!told(flow->socket, &sender))
			fail("tcp_info", flow->algorithm);
		told(flow->accepted, &receiver);
		fprintf(connections, "%lld %d %u %u %u %u %u %u %u %u %u %u %u %u %u %u %u %llu %llu %u %u %lld %llu\n", (long long)moment,
			flow->number, sender.tcpi_state, sender.tcpi_ca_state, sender.tcpi_retransmits, sender.tcpi_backoff,
			sender.tcpi_rto, sender.tcpi_snd_mss, sender.tcpi_unacked, sender.tcpi_sacked, sender.tcpi_lost,
			sender.tcpi_retrans, sender.tcpi_rtt, sender.tcpi_rttvar, sender.tcpi_snd_ssthresh, sender.tcpi_snd_cwnd,
			sender.tcpi_total_retrans, (unsigned long long)sender.tcpi_pacing_rate,
			without_fin(flow, sender.tcpi_bytes_acked), sender.tcpi_min_rtt, sender.tcpi_data_segs_out,
			(long long)flow->seen.sample_latest, delivered(flow, &receiver));
	}
}

void flows_moment(FILE *moments)
{
	for (struct flow *flow = flows; flow < flows + flow_count; flow++) {
		struct tcp_info sender, receiver;

		if (flow->kind != TCP) {
			fprintf(moments, "flow received %llu\n", (unsigned long long)flow->received);
			continue;
		}
		if (flow->last)
			sender = *flow->last;
		else
			told(flow->socket, &sender);
		told(flow->accepted, &receiver);
		fprintf(moments, "flow received %llu cwnd %llu rtt %lld\n", delivered(flow, &receiver),
			(unsigned long long)sender.tcpi_snd_cwnd * sender.tcpi_snd_mss, (long long)flow->seen.sample_latest);
	}
}

static void moment(const char *name, Time time)
{
	if (time != NEVER)
		fprintf(output, " %s %lld", name, (long long)(time - origin));
}

void flows_end(void)
{
	for (struct flow *flow = flows; flow < flows + flow_count; flow++) {
		if (flow->kind == CONNECTIONS)
			group_times(flow, &flow->seen.began, &flow->seen.established);
		fprintf(output, "flow %d samples %llu", flow->number, (unsigned long long)flow->samples.count);
		moment("start", flow->seen.began);
		moment("established", flow->seen.established);
		moment("completed", flow->seen.completed);
		if (flow->samples.count)
			fprintf(output, " rtt_sum %.0f rtt_min %lld rtt_max %lld", flow->samples.sum, (long long)flow->samples.least,
				(long long)flow->samples.most);
		fprintf(output, "\n");
		delays_report("delay", "delays", flow->number, flow->delays);
	}
}
