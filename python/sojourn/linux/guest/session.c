/*
 * Connections that come and go, and single packets: the host is told what happens to them and says what is to be done, in lines. One
 * thread attends to all of them, so that a connection costs no more than its sockets.
 *
 * An end of a connection is the client, at the host that receives the flow's data, or the server, at the host that sends them. In sessions
 * the client opens connections. Transfers have no client that asks: the server opens them, writes, and closes.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "guest.h"

/* The ports of those who open connections, one after another: captures have the others for flows with one connection (captures.py). */
#define FIRST_OWN 32768
#define OWN_PORTS 16384
#define MOST_FILES 1000000
#define WAITING_AT_ONCE 4096
#define WRITTEN_AT_ONCE 262144
#define LARGEST_DATAGRAM 65535
#define UNLIMITED_PACE (1ull << 50)
#define SECOND 1000000000ll

enum side { CLIENT, SERVER };

static const char *const sides[] = { "client", "server" };

/* What has a socket, and its place among all of them. */
struct watched {
	enum { LISTENER, END, PACKETS } kind;
	int place;
};

/* An end of a connection. */
struct end {
	struct watched watched;
	struct connection *of;
	enum side side;
	int socket, connected, wants_fin, has_fin, at_end, is_queued;
	Time rests; /* until then, if it reads slowly */
	uint64_t pending, room; /* bytes to be written; how many may wait when there is room, if somebody asked */
	/* What has arrived, what has been written on the way here, and after how many bytes its messages end. */
	uint64_t received, expected, *messages;
	unsigned head, tail, size;
	struct end *next_queued;
};

struct connection {
	int id, port, gone;
	struct flow *flow;
	struct end ends[2];
	struct seen seen[2]; /* by the end that sends */
	struct connection *next_of_port, *next, **place;
};

struct counts {
	uint64_t segments, retransmissions, arrived;
	uint64_t rwnd_limited, sndbuf_limited;
};

struct group {
	struct watched listener;
	struct flow *flow;
	struct packets { struct watched watched; struct group *of; enum side side; int socket, ecn; } packets[2];
	struct connection *live;
	struct counts ended; /* of connections that are gone */
	Time began, established;
};

int sessions;
static struct pollfd *polled;
static struct watched **watched;
static int polled_count, polled_room, has_slow_readers;
/* When the host is to be asked again. */
static Time due;
static struct connection **by_id, *by_port[OWN_PORTS], *gone;
static int id_room, next_port;
static struct end *queued, **queued_end = &queued;
static int *failed, failed_count, failed_room;
static char written[WRITTEN_AT_ONCE];

static void set(int socket, int level, int option, int value, const char *what)
{
	if (setsockopt(socket, level, option, &value, sizeof value))
		fail(what, strerror(errno));
}

static void watch(int socket, struct watched *each)
{
	if (polled_count == polled_room) {
		polled_room = 2 * polled_room + 16;
		polled = realloc(polled, polled_room * sizeof *polled);
		watched = realloc(watched, polled_room * sizeof *watched);
	}
	each->place = polled_count++;
	watched[each->place] = each;
	polled[each->place] = (struct pollfd){ .fd = socket, .events = POLLIN };
}

static void forget(struct watched *each)
{
	int last = --polled_count;

	polled[each->place] = polled[last];
	watched[each->place] = watched[last];
	watched[each->place]->place = each->place;
}

/* What an end waits for: nothing once all has arrived and is written. */
static void wish(struct end *end)
{
	struct pollfd *entry = &polled[end->watched.place];

	if (end->socket < 0)
		return;
	entry->events = end->at_end || end->rests ? 0 : POLLIN;
	if (!end->connected || end->pending || end->room)
		entry->events |= POLLOUT;
	entry->fd = entry->events ? end->socket : -1;
}

/* A socket of a flow as its stack has it. */
static int opened(const struct flow *flow)
{
	uint64_t pace = UNLIMITED_PACE;
	int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (made < 0)
		fail("socket", strerror(errno));
	set(made, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
	set(made, IPPROTO_IP, IP_TOS, flow->tos, "IP_TOS");
	if (setsockopt(made, IPPROTO_TCP, TCP_CONGESTION, flow->algorithm, strlen(flow->algorithm)))
		fail(flow->algorithm, strerror(errno));
	if (flow->segment_size)
		set(made, IPPROTO_TCP, TCP_MAXSEG, flow->segment_size, "TCP_MAXSEG");
	if (flow->paced && setsockopt(made, SOL_SOCKET, SO_MAX_PACING_RATE, &pace, sizeof pace))
		fail("SO_MAX_PACING_RATE", strerror(errno));
	/* Applications that answer each other do not wait for more to write; those that write all at once have more. */
	set(made, IPPROTO_TCP, TCP_NODELAY, flow->sessions, "TCP_NODELAY");
	return made;
}

static const char *space_of(const struct flow *flow, enum side side)
{
	return side == SERVER ? flow->sender : flow->receiver;
}

static const char *address_of(const struct flow *flow, enum side side)
{
	return side == SERVER ? flow->source : flow->target;
}

static void listen_for(struct flow *flow)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(FIRST_PORT + flow->number) };

	enter(space_of(flow, flow->sessions ? SERVER : CLIENT));
	flow->listener = opened(flow);
	if (bind(flow->listener, (void *)&own, sizeof own) || listen(flow->listener, WAITING_AT_ONCE))
		fail("listen", strerror(errno));
	watch(flow->listener, &flow->group->listener);
}

static void open_packets(struct flow *flow)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(FIRST_PORT + flow->number) };
	int buffer = 1 << 30;

	for (enum side side = CLIENT; side <= SERVER; side++) {
		struct packets *packets = &flow->group->packets[side];
		struct sockaddr_in other = own;

		enter(space_of(flow, side));
		packets->watched.kind = PACKETS;
		packets->of = flow->group;
		packets->side = side;
		packets->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		set(packets->socket, SOL_SOCKET, SO_RCVBUFFORCE, buffer, "SO_RCVBUFFORCE");
		set(packets->socket, SOL_SOCKET, SO_SNDBUFFORCE, buffer, "SO_SNDBUFFORCE");
		set(packets->socket, IPPROTO_IP, IP_RECVTOS, 1, "IP_RECVTOS");
		set(packets->socket, IPPROTO_IP, IP_TOS, flow->tos, "IP_TOS");
		inet_pton(AF_INET, address_of(flow, !side), &other.sin_addr);
		if (bind(packets->socket, (void *)&own, sizeof own))
			fail("bind", strerror(errno));
		/* The kernel numbers the packets of sockets that have an other end. Where nothing goes there is no way. */
		if (connect(packets->socket, (void *)&other, sizeof other) && (side == SERVER || errno != ENETUNREACH))
			fail("connect", strerror(errno));
		watch(packets->socket, &packets->watched);
	}
}

void sessions_prepare(void)
{
	struct rlimit files = { MOST_FILES, MOST_FILES };

	for (struct flow *flow = flows; flow < flows + flow_count; flow++) {
		if (flow->kind != CONNECTIONS && flow->kind != DATAGRAMS)
			continue;
		if (!sessions++)
			setrlimit(RLIMIT_NOFILE, &files);
		flow->group = calloc(1, sizeof *flow->group);
		flow->group->flow = flow;
		flow->group->began = flow->group->established = NEVER;
		has_slow_readers |= flow->reading_rate > 0;
		if (flow->kind == CONNECTIONS)
			listen_for(flow);
		else
			open_packets(flow);
	}
}

static void add_counts(struct counts *counts, const struct end *end)
{
	struct tcp_info info;
	socklen_t size = sizeof info;

	memset(&info, 0, sizeof info);
	if (end->socket < 0 || getsockopt(end->socket, IPPROTO_TCP, TCP_INFO, &info, &size))
		return;
	counts->segments += info.tcpi_data_segs_out;
	counts->retransmissions += info.tcpi_total_retrans;
	counts->arrived += info.tcpi_data_segs_in;
	counts->rwnd_limited += info.tcpi_rwnd_limited;
	counts->sndbuf_limited += info.tcpi_sndbuf_limited;
}

static Time least(Time one, Time other)
{
	return one < other ? one : other;
}

/* Taps are read before a connection is forgotten: they may have seen packets of it. */
static void retire(struct connection *connection, int is_reset)
{
	struct linger at_once = { 1, 0 };
	struct group *group = connection->flow->group;
	struct connection **place = &by_port[connection->port - FIRST_OWN];

	if (connection->gone)
		return;
	drain();
	for (enum side side = CLIENT; side <= SERVER; side++) {
		struct end *end = &connection->ends[side];

		add_counts(&group->ended, end);
		if (end->socket < 0)
			continue;
		if (is_reset)
			setsockopt(end->socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
		forget(&end->watched);
		close(end->socket);
		end->socket = -1;
		group->began = least(group->began, connection->seen[side].began);
		group->established = least(group->established, connection->seen[side].established);
	}
	while (*place != connection)
		place = &(*place)->next_of_port;
	*place = connection->next_of_port;
	*connection->place = connection->next;
	if (connection->next)
		connection->next->place = connection->place;
	by_id[connection->id] = NULL;
	connection->gone = 1;
	connection->next = gone;
	gone = connection;
}

/* Frees connections that are gone, once nothing points to them. */
static void sweep(void)
{
	while (gone) {
		struct connection *next = gone->next;

		for (enum side side = CLIENT; side <= SERVER; side++) {
			free(gone->ends[side].messages);
			seen_end(&gone->seen[side]);
		}
		free(gone);
		gone = next;
	}
}

static void give_up(struct connection *connection)
{
	if (failed_count == failed_room)
		failed = realloc(failed, (failed_room = 2 * failed_room + 16) * sizeof *failed);
	failed[failed_count++] = connection->id;
	retire(connection, 1);
}

/* An end is attended to again before anything else happens. */
static void queue(struct end *end)
{
	if (end->is_queued)
		return;
	end->is_queued = 1;
	end->next_queued = NULL;
	*queued_end = end;
	queued_end = &end->next_queued;
}

static void write_pending(struct end *end)
{
	while (end->connected && end->pending) {
		size_t size = end->pending < sizeof written ? end->pending : sizeof written;
		/* The end of the data waits for the FIN: they go in one segment. */
		int more = end->wants_fin && size == end->pending ? MSG_MORE : 0;
		ssize_t sent = send(end->socket, written, size, MSG_NOSIGNAL | MSG_DONTWAIT | more);

		if (sent < 0 && errno == EAGAIN)
			return;
		if (sent <= 0)
			return give_up(end->of);
		end->pending -= sent;
	}
	if (end->connected && end->wants_fin && !end->has_fin) {
		shutdown(end->socket, SHUT_WR);
		end->has_fin = 1;
	}
}

static void expect(struct end *end, uint64_t bytes)
{
	end->expected += bytes;
	if (end->tail - end->head == end->size) {
		unsigned size = end->size ? 2 * end->size : 8;
		uint64_t *larger = malloc(size * sizeof *larger);

		for (unsigned place = end->head; place != end->tail; place++)
			larger[place % size] = end->messages[place % end->size];
		free(end->messages);
		end->messages = larger;
		end->size = size;
	}
	end->messages[end->tail++ % end->size] = end->expected;
}

static void connect_from(struct connection *connection, enum side by)
{
	struct flow *flow = connection->flow;
	struct end *end = &connection->ends[by];
	struct sockaddr_in own = { .sin_family = AF_INET }, target = { .sin_family = AF_INET, .sin_port = htons(FIRST_PORT + flow->number) };

	enter(space_of(flow, by));
	inet_pton(AF_INET, address_of(flow, !by), &target.sin_addr);
	/* A port whose last connection to the same end is not forgotten cannot be used. */
	for (int tries = 0; tries < OWN_PORTS; tries++) {
		connection->port = FIRST_OWN + next_port++ % OWN_PORTS;
		own.sin_port = htons(connection->port);
		end->socket = opened(flow);
		if (!bind(end->socket, (void *)&own, sizeof own) &&
		    (!connect(end->socket, (void *)&target, sizeof target) || errno == EINPROGRESS))
			break;
		if (errno != EADDRINUSE && errno != EADDRNOTAVAIL)
			fail("connect", strerror(errno));
		close(end->socket);
		end->socket = -1;
	}
	if (end->socket < 0)
		fail("connect", "no port is free");
	watch(end->socket, &end->watched);
	wish(end);
}

static void open_connection(int id, int row, enum side by)
{
	struct flow *flow = &flows[row];
	struct group *group = flow->group;
	struct connection *connection = calloc(1, sizeof *connection);

	connection->id = id;
	connection->flow = flow;
	for (enum side side = CLIENT; side <= SERVER; side++) {
		struct in_addr address;

		connection->ends[side] = (struct end){ .watched = { END }, .of = connection, .side = side, .socket = -1 };
		inet_pton(AF_INET, address_of(flow, side), &address);
		seen_begin(&connection->seen[side], address.s_addr, 0, &flow->samples);
	}
	if (id >= id_room)
		by_id = realloc(by_id, (id_room = 2 * id + 64) * sizeof *by_id);
	by_id[id] = connection;
	connect_from(connection, by);
	connection->next_of_port = by_port[connection->port - FIRST_OWN];
	by_port[connection->port - FIRST_OWN] = connection;
	connection->next = group->live;
	connection->place = &group->live;
	if (group->live)
		group->live->place = &connection->next;
	group->live = connection;
}

static struct connection *of_id(int id)
{
	return id >= 0 && id < id_room ? by_id[id] : NULL;
}

static void send_packet(unsigned id, int row, enum side from, int size, int ecn)
{
	struct flow *flow = &flows[row];
	struct packets *packets = &flow->group->packets[from];
	uint32_t number = htonl(id);
	int payload = size - flow->headers;

	if (packets->ecn != ecn)
		set(packets->socket, IPPROTO_IP, IP_TOS, flow->tos | (packets->ecn = ecn), "IP_TOS");
	memcpy(written, &number, sizeof number);
	if (send(packets->socket, written, payload, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		fail("send", strerror(errno));
	if (from == SERVER)
		flow->sent++;
	if (from == SERVER && flow->group->began == NEVER)
		flow->group->began = now();
}

static enum side side_of(const char *word)
{
	return strcmp(word, sides[SERVER]) ? CLIENT : SERVER;
}

/* Does what the host says, a line at a time; whether there is more. */
static int carry_out(char *lines)
{
	char *rest, *line, word[16];
	struct connection *connection;
	unsigned id;
	int row, size, ecn;
	uint64_t bytes;
	Time time;

	for (line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (sscanf(line, "open %u %d %15s", &id, &row, word) == 3) {
			open_connection(id, row, side_of(word));
		} else if (sscanf(line, "write %u %15s %lu", &id, word, &bytes) == 3) {
			if (!(connection = of_id(id)))
				continue;
			struct end *end = &connection->ends[side_of(word)];
			if (connection->flow->sessions)
				expect(&connection->ends[!end->side], bytes);
			else
				connection->seen[end->side].size += bytes;
			end->pending += bytes;
			queue(end);
		} else if (sscanf(line, "room %u %lu", &id, &bytes) == 2) {
			if (!(connection = of_id(id)))
				continue;
			connection->ends[SERVER].room = bytes;
			queue(&connection->ends[SERVER]);
		} else if (sscanf(line, "close %u %15s", &id, word) == 2) {
			if (!(connection = of_id(id)))
				continue;
			connection->ends[side_of(word)].wants_fin = 1;
			queue(&connection->ends[side_of(word)]);
		} else if (sscanf(line, "abort %u", &id) == 1) {
			if ((connection = of_id(id)))
				retire(connection, 1);
		} else if (sscanf(line, "send %u %d %15s %d %d", &id, &row, word, &size, &ecn) == 5) {
			send_packet(id, row, side_of(word), size, ecn);
		} else if (sscanf(line, "at %ld", &time) == 1) {
			due = time;
		} else if (!strcmp(line, "never")) {
			due = NEVER;
		} else if (!strcmp(line, "more")) {
			return 1;
		} else {
			fail("told", line);
		}
	}
	return 0;
}

/* Asks what is to be done now. The host's folder has the answer at once (asked.c). */
static void ask(const char *words, char *answer, size_t size)
{
	ssize_t length;

	if (symlink(words, "ask"))
		fail("ask", strerror(errno));
	length = readlink("answer", answer, size - 1);
	if (length <= 0)
		fail("answer", strerror(errno));
	answer[length] = 0;
}

/* Tells what has happened, and does what follows. */
__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...)
{
	char words[256], answer[4096];
	long long time = now() - origin;
	int size = snprintf(words, sizeof words, "%lld ", time);
	va_list given;

	va_start(given, format);
	vsnprintf(words + size, sizeof words - size, format, given);
	va_end(given);
	do {
		ask(words, answer, sizeof answer);
		snprintf(words, sizeof words, "%lld due", time);
	} while (carry_out(answer));
}

/* Takes what has arrived. To try in vain would take time (arch/um/kernel/skas/syscall.c). */
static void take_arrived(struct end *end)
{
	struct connection *connection = end->of;
	uint64_t rate = connection->flow->reading_rate;
	/* The data are left where they are (tcp(7), MSG_TRUNC). */
	ssize_t taken = recv(end->socket, NULL, rate ? rate / READS + 1 : 1 << 22, MSG_TRUNC | MSG_DONTWAIT);

	if (taken < 0 && errno == EAGAIN)
		return;
	if (taken < 0)
		return give_up(connection);
	if (!taken) {
		/* A host that is done with a connection acknowledges its end at once (tcp(7), TCP_QUICKACK). */
		int one = 1;

		setsockopt(end->socket, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof one);
		end->at_end = end->wants_fin = 1;
		return;
	}
	if (rate)
		end->rests = now() + (Time)(taken * SECOND / rate);
	end->received += taken;
	if (end->side == CLIENT)
		connection->flow->received += taken;
	while (!connection->gone && end->head != end->tail && end->messages[end->head % end->size] <= end->received) {
		end->head++;
		tell("received %d %s", connection->id, sides[end->side]);
	}
}

/* Whether so few bytes wait for the window that the server may go on. */
static void look_for_room(struct end *end)
{
	struct connection *connection = end->of;
	struct tcp_info info;
	socklen_t size = sizeof info;
	uint64_t waiting, wished = end->room;

	if (connection->gone || !wished || !end->connected)
		return;
	if (getsockopt(end->socket, IPPROTO_TCP, TCP_INFO, &info, &size))
		return give_up(connection);
	waiting = end->pending + info.tcpi_notsent_bytes;
	if (waiting < wished) {
		end->room = 0;
		tell("room %d %llu", connection->id, (unsigned long long)(wished - waiting));
	} else {
		/* The kernel tells when half of this waits (net/ipv4/tcp.c, tcp_stream_memory_free). */
		set(end->socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, wished, "TCP_NOTSENT_LOWAT");
	}
}

static void tell_ended(struct connection *connection)
{
	const struct seen *seen = &connection->seen[SERVER];
	struct counts counts = { 0 };

	add_counts(&counts, &connection->ends[SERVER]);
	tell("ended %d %lld %lld %llu", connection->id, (long long)(seen->began - origin),
	     (long long)((seen->completed == NEVER ? now() : seen->completed) - origin), (unsigned long long)counts.retransmissions);
}

static void end_if_over(struct connection *connection)
{
	for (enum side side = CLIENT; side <= SERVER; side++)
		if (connection->gone || !connection->ends[side].at_end || !connection->ends[side].has_fin)
			return;
	if (!connection->flow->sessions) {
		drain();
		tell_ended(connection);
	}
	retire(connection, 0);
}

static void go_on(struct end *end)
{
	struct connection *connection = end->of;

	if (!connection->gone)
		write_pending(end);
	if (!connection->gone)
		look_for_room(end);
	if (!connection->gone)
		wish(end);
	end_if_over(connection);
}

static void on_end(struct end *end, short events)
{
	struct connection *connection = end->of;

	if (connection->gone)
		return;
	if (!end->connected) {
		int error = 0;
		socklen_t size = sizeof error;

		getsockopt(end->socket, SOL_SOCKET, SO_ERROR, &error, &size);
		if (error)
			return give_up(connection);
		if (!(events & POLLOUT))
			return;
		end->connected = 1;
		if (connection->flow->sessions)
			tell("opened %d", connection->id);
	}
	if (!connection->gone && !end->at_end && events & ~POLLOUT)
		take_arrived(end);
	go_on(end);
}

static struct connection *of_port(const struct flow *flow, int port)
{
	struct connection *connection = port >= FIRST_OWN ? by_port[port - FIRST_OWN] : NULL;

	while (connection && connection->flow != flow)
		connection = connection->next_of_port;
	return connection;
}

static void accept_next(struct group *group)
{
	struct flow *flow = group->flow;
	struct sockaddr_in other;
	socklen_t size = sizeof other;
	int accepted = accept4(flow->listener, (void *)&other, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct connection *connection = accepted < 0 ? NULL : of_port(flow, ntohs(other.sin_port));
	struct end *end = connection ? &connection->ends[flow->sessions ? SERVER : CLIENT] : NULL;

	if (accepted < 0)
		return;
	if (!end || end->socket >= 0) {
		close(accepted);
		return;
	}
	end->socket = accepted;
	end->connected = 1;
	watch(accepted, &end->watched);
	if (flow->sessions)
		tell("accepted %d", connection->id);
	queue(end);
}

static void take_packet(struct packets *packets)
{
	struct flow *flow = packets->of->flow;
	uint32_t number;
	char control[64];
	struct iovec content = { &number, sizeof number };
	struct msghdr message = { NULL, 0, &content, 1, control, sizeof control, 0 };
	ssize_t size = recvmsg(packets->socket, &message, MSG_DONTWAIT | MSG_TRUNC);
	int ecn = 0;

	if (size < (ssize_t)sizeof number)
		return;
	for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part))
		if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_TOS)
			ecn = *(unsigned char *)CMSG_DATA(part) & 3;
	if (packets->side == CLIENT) {
		flow->received += size + flow->headers;
		packets->of->ended.arrived++;
	}
	tell("arrived %u %d", ntohl(number), ecn == 3);
}

static void on_event(struct watched *each, short events)
{
	if (each->kind == LISTENER)
		accept_next((struct group *)each);
	else if (each->kind == PACKETS)
		take_packet((struct packets *)each);
	else
		on_end((struct end *)each, events);
}

/* What follows from what has been done, until nothing does. */
static void settle(void)
{
	while (queued || failed_count) {
		struct end *end = queued;

		if (failed_count) {
			tell("failed %d", failed[--failed_count]);
			continue;
		}
		queued = end->next_queued;
		if (!queued)
			queued_end = &queued;
		end->is_queued = 0;
		go_on(end);
	}
	sweep();
}

/* Ends that have rested read again. Returns when the next one does, or a moment if that is earlier. */
static Time wake_readers(Time moment)
{
	Time time = now();

	for (int place = 0; place < polled_count; place++) {
		struct end *end = (struct end *)watched[place];

		if (end->watched.kind != END || !end->rests)
			continue;
		if (end->rests > time) {
			moment = least(moment, end->rests);
			continue;
		}
		end->rests = 0;
		wish(end);
	}
	return moment;
}

static void wait_until(Time moment)
{
	struct timespec wait;
	Time left;

	if (has_slow_readers)
		moment = wake_readers(moment);
	left = moment - now();
	wait = (struct timespec){ left / SECOND, left % SECOND };
	if (left <= 0)
		return;
	if (ppoll(polled, polled_count, &wait, NULL) < 0 && errno != EINTR)
		fail("poll", strerror(errno));
	/* From the last on: what is gone leaves its place to one that has been looked at. */
	for (int place = polled_count - 1; place >= 0; place--) {
		short events = place < polled_count ? polled[place].revents : 0;

		if (!events)
			continue;
		polled[place].revents = 0;
		on_event(watched[place], events);
	}
	settle();
}

void sessions_until(Time moment)
{
	for (;;) {
		Time time = now();

		if (due != NEVER && time >= origin + due) {
			tell("due");
			settle();
		} else if (time >= moment) {
			return;
		} else {
			wait_until(due == NEVER ? moment : least(moment, origin + due));
		}
	}
}

void sessions_window(void)
{
	if (sessions) {
		tell("window");
		settle();
	}
}

/* Transfers whose last byte was acknowledged are complete, whatever becomes of their connections. */
void sessions_end(void)
{
	drain();
	for (struct flow *flow = flows; flow < flows + flow_count; flow++)
		if (flow->group && !flow->sessions)
			for (struct connection *each = flow->group->live; each; each = each->next)
				if (each->seen[SERVER].completed != NEVER)
					tell_ended(each);
}

struct seen *group_direction(const struct flow *flow, uint16_t port, uint32_t source)
{
	struct connection *connection = of_port(flow, port);

	if (!connection)
		return NULL;
	return &connection->seen[connection->seen[SERVER].source_address == source ? SERVER : CLIENT];
}

void group_times(const struct flow *flow, Time *began, Time *established)
{
	const struct group *group = flow->group;

	*began = group->began;
	*established = group->established;
	for (const struct connection *each = group->live; each; each = each->next)
		for (enum side side = CLIENT; side <= SERVER; side++) {
			*began = least(*began, each->seen[side].began);
			*established = least(*established, each->seen[side].established);
		}
}

void group_report(const struct flow *flow, const char *when)
{
	struct counts counts = flow->group->ended;

	for (const struct connection *each = flow->group->live; each; each = each->next)
		for (enum side side = CLIENT; side <= SERVER; side++)
			add_counts(&counts, &each->ends[side]);
	fprintf(output, "sender %d %s segments %llu retransmissions %llu rwnd_limited %llu sndbuf_limited %llu\n", flow->number, when,
		(unsigned long long)(flow->kind == CONNECTIONS ? counts.segments : flow->sent), (unsigned long long)counts.retransmissions,
		(unsigned long long)counts.rwnd_limited, (unsigned long long)counts.sndbuf_limited);
	fprintf(output, "receiver %d %s bytes %llu segments %llu\n", flow->number, when, (unsigned long long)flow->received,
		(unsigned long long)counts.arrived);
}
