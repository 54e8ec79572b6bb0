/* The guest's program: makes the network of a run, carries its plan out, and writes what it saw. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include "guest.h"

#define SECOND 1000000000ll
/* Between two looks at taps and at the lengths of queues. */
#define LOOK 4000000ll
#define MOST_TAPS 4096

Time origin, warm_up, duration;
FILE *output;

static Time queue_interval, flow_interval, connections_interval, moments_interval;
/* Files of the host beside the result: the states of connections, and what somebody looks at while the run goes on. */
static FILE *connections, *moments;
static struct tap sent[MOST_TAPS], received[MOST_TAPS];
static int sent_count, received_count;
static char namespaces[MOST_TAPS][16];
static int namespace_count;

void fail(const char *what, const char *detail)
{
	fprintf(output ? output : stdout, "failed %s %s\n", what, detail);
	fflush(output ? output : stdout);
	_exit(1);
}

Time now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return (Time)time.tv_sec * SECOND + time.tv_nsec;
}

void sleep_until(Time moment)
{
	struct timespec time = { moment / SECOND, moment % SECOND };

	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
}

static void write_setting(const char *path, const char *value)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);

	if (file < 0 || write(file, value, strlen(value)) < 0)
		fail("setting", path);
	close(file);
}

/* The rest of a line of the plan, after so many words. */
static const char *rest_of(const char *line, int words)
{
	while (words--) {
		line += strcspn(line, " ");
		line += strspn(line, " ");
	}
	return line;
}

static uint32_t address_of(const char *text)
{
	unsigned bytes[4];
	uint32_t address;

	if (sscanf(text, "%u.%u.%u.%u", &bytes[0], &bytes[1], &bytes[2], &bytes[3]) != 4)
		fail("address", text);
	for (int place = 0; place < 4; place++)
		((unsigned char *)&address)[place] = bytes[place];
	return address;
}

static void read_flow(const char *line)
{
	static const char *kinds[] = { "tcp", "udp", "connections", "datagrams" };
	struct flow *flow = flow_add();
	char kind[16];
	int read = sscanf(line, "flow %15s %15s %15s %31s %31s %ld %ld %d", kind, flow->sender, flow->receiver, flow->source, flow->target,
			  &flow->start, &flow->stop, &flow->tos);

	if (read != 8)
		fail("plan", line);
	flow->source_address = address_of(flow->source);
	while (flow->kind < DATAGRAMS && strcmp(kind, kinds[flow->kind]))
		flow->kind++;
	line = rest_of(line, 9);
	switch (flow->kind) {
	case TCP:
		read = sscanf(line, "%19s %lu %d %d %lu", flow->algorithm, &flow->size, &flow->segment_size, &flow->paced,
			      &flow->reading_rate) == 5;
		break;
	case UDP:
		read = sscanf(line, "%u %ld %d %ld %ld %d %lu", &flow->payload, &flow->gap, &flow->poisson, &flow->on, &flow->off,
			      &flow->exponential, &flow->chance) == 7;
		break;
	case CONNECTIONS:
		read = sscanf(line, "%19s %d %d %d %lu", flow->algorithm, &flow->segment_size, &flow->paced, &flow->sessions,
			      &flow->reading_rate) == 5;
		break;
	case DATAGRAMS:
		read = sscanf(line, "%d", &flow->headers) == 1;
		break;
	}
	if (!read)
		fail("plan", line);
}

/* Queues come after flows: they have a line for each. */
static void read_line(const char *line)
{
	char name[16], device[16], mirror[16], wire_space[16], wire[16], what[32], path[160], batch[64];
	int number, overhead, count, size, rest;
	unsigned handle;
	Time time;

	/* Of these there may be many. */
	if (sscanf(line, "at %ld %d", &time, &number) == 2) {
		change_at(time, number);
		return;
	}
	if (sscanf(line, "duration %ld", &duration) == 1 || sscanf(line, "warm_up %ld", &warm_up) == 1 ||
	    sscanf(line, "queue_series %ld", &queue_interval) == 1 || sscanf(line, "flow_series %ld", &flow_interval) == 1 ||
	    sscanf(line, "connections %ld", &connections_interval) == 1 || sscanf(line, "moments %ld", &moments_interval) == 1)
		return;
	if (sscanf(line, "message %15s %31s", name, what) == 2) {
		struct message *message = message_read(rest_of(line, 3));

		message_send(name, what, message);
		free(message);
	} else if (sscanf(line, "namespace %15s", name) == 1) {
		namespace_add(name);
	} else if (sscanf(line, "tc %15s %63s", name, batch) == 2) {
		tc_run(name, batch);
	} else if (sscanf(line, "set %15s %159s", name, path) == 2) {
		enter(name);
		write_setting(path, rest_of(line, 3));
	} else if (!strncmp(line, "flow ", 5)) {
		read_flow(line);
	} else if (sscanf(line, "queue %d %15s %15s %15s %d %15s %15s", &number, name, device, mirror, &overhead, wire_space, wire) == 7) {
		queue_add(number, name, strdup(device), strdup(mirror), overhead, wire_space, wire);
	} else if (sscanf(line, "loses %d %15s %15s %u", &number, name, device, &handle) == 4) {
		queue_loses(number, name, device, handle);
	} else if (sscanf(line, "sent %15s %15s", name, device) == 2 && sent_count < MOST_TAPS) {
		tap_open(&sent[sent_count++], name, strdup(device), 1, HEADERS);
	} else if (sscanf(line, "received %15s %15s", name, device) == 2 && received_count < MOST_TAPS) {
		tap_open(&received[received_count++], name, strdup(device), 0, HEADERS);
	} else if (sscanf(line, "capture %63s %15s %15s %d", batch, name, device, &number) == 4) {
		capture_add(batch, name, strdup(device), number);
	} else if (sscanf(line, "observe-sent %15s %15s", name, device) == 2) {
		observed_tap(name, strdup(device), 1);
	} else if (sscanf(line, "observe-received %15s %15s", name, device) == 2) {
		observed_tap(name, strdup(device), 0);
	} else if (!strcmp(line, "observe-flows")) {
		observed_flows();
	} else if (sscanf(line, "observe %15s", name) == 1) {
		observed_host(name);
	} else if (sscanf(line, "counters %15s", name) == 1 && namespace_count < MOST_TAPS) {
		strcpy(namespaces[namespace_count++], name);
	} else if (sscanf(line, "root %d", &number) == 1) {
		root_make(number);
	} else if (!strncmp(line, "program ", 8)) {
		program_add(line);
	} else if (!strcmp(line, "terminal")) {
		program_terminal();
	} else if (sscanf(line, "keep %d", &number) == 1) {
		program_keep(number, rest_of(line, 2));
	} else if (!strcmp(line, "programs")) {
		programs_prepare();
		limits_begin();
	} else if (sscanf(line, "change %15s", name) == 1) {
		change_add(name, rest_of(line, 2));
	} else if (sscanf(line, "hold %15s %15s %d %d %d %d", name, device, &number, &count, &size, &rest) == 6) {
		hold_add(name, device, number, count, size, rest);
	} else {
		fail("plan", line);
	}
}

static void read_plan(const char *path)
{
	FILE *plan = fopen(path, "r");
	static char line[8192];

	if (!plan)
		fail("plan", path);
	while (fgets(line, sizeof line, plan)) {
		line[strcspn(line, "\n")] = 0;
		if (*line)
			read_line(line);
	}
	fclose(plan);
}

void drain(void)
{
	struct packet packet;

	for (int tap = 0; tap < sent_count; tap++)
		while (tap_next(&sent[tap], &packet))
			flows_sent(&packet);
	for (int tap = 0; tap < received_count; tap++)
		while (tap_next(&received[tap], &packet))
			flows_acknowledged(&packet);
	queues_drain();
	captures_drain();
	observed_drain();
}

/* What TCP counts in a host (proc_pid_net(5)): names in one line, numbers in the next. */
static void report_counters(const char *when)
{
	static char names[8192], numbers[8192];

	for (int place = 0; place < namespace_count; place++) {
		FILE *file;

		enter(namespaces[place]);
		file = fopen("/proc/thread-self/net/netstat", "r");
		while (file && fgets(names, sizeof names, file) && fgets(numbers, sizeof numbers, file)) {
			if (strncmp(names, "TcpExt:", 7))
				continue;
			fprintf(output, "counters %s %s names %s", namespaces[place], when, names + 8);
			fprintf(output, "counters %s %s numbers %s", namespaces[place], when, numbers + 8);
		}
		if (file)
			fclose(file);
	}
}

static void report(const char *when)
{
	flows_report(when);
	queues_report(when);
	report_counters(when);
	observed_report(when);
}

static FILE *opened(const char *name)
{
	FILE *file = fopen(name, "w");

	if (!file)
		fail("file", name);
	return file;
}

/* A moment is in the host's file at once: what is written to it would else wait for the end. */
static void show(Time time)
{
	fprintf(moments, "moment %lld\n", (long long)time);
	queues_moment(moments);
	flows_moment(moments);
	fprintf(moments, "shown\n");
	fflush(moments);
	if (sync_file_range(fileno(moments), 0, 0, SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER))
		fail("moments", strerror(errno));
}

static Time next_of(Time interval, Time time)
{
	return interval ? (time / interval + 1) * interval : NEVER;
}

static Time least(Time one, Time other)
{
	return one < other ? one : other;
}

/* While queues are empty nothing changes until a packet comes, or a moment: returns the last time before at which there would be a look. */
static Time rest(Time time, Time moment)
{
	Time last = (taps_wait(origin + moment) ? least(now() - origin, moment - 1) : moment - 1) / LOOK * LOOK;

	if (last <= time)
		return time;
	if (last > warm_up)
		queues_rest(last / LOOK - time / LOOK);
	return last;
}

/* The host answers when its own clock is as far, so that somebody can type. Virtual time stands still meanwhile. */
static void keep_pace(Time time)
{
	char question[32];

	snprintf(question, sizeof question, "pace %lld", (long long)time);
	if (symlink(question, "ask"))
		fail("pace", strerror(errno));
	if (terminal_has_ended()) {
		fprintf(output, "done\n");
		fclose(output);
		exit(0);
	}
}

/* From time to time of what there is to do, up to the end of the run. */
static void run(void)
{
	Time time = 0;
	Time shown = 0;
	int reported = warm_up == 0, is_quiet = 0, is_paced = terminal_is_there();

	while (time < duration) {
		Time next = least(duration, least(next_of(queue_interval, time), next_of(flow_interval, time)));

		next = least(next, next_of(connections_interval, time));
		if (!reported)
			next = least(next, warm_up > time ? warm_up : next);
		next = least(next, changes_next());
		if (program_count)
			next = least(next, next_of(LIMITS_LOOK, time));
		for (struct flow *flow = flows; flow < flows + flow_count; flow++)
			if (flow->stop > time)
				next = least(next, flow->stop);
		if (is_quiet)
			time = rest(time, next);
		next = least(next, next_of(LOOK, time));
		if (sessions)
			sessions_until(origin + next);
		else
			sleep_until(origin + next);
		time = next;
		if (is_paced && time % LOOK == 0)
			keep_pace(time);
		queues_look();
		drain();
		changes_until(time);
		for (struct flow *flow = flows; flow < flows + flow_count; flow++)
			if (flow->stop > 0 && flow->stop <= time)
				flow_stop(flow);
		if (!reported && time >= warm_up) {
			report("start");
			sessions_window();
			reported = 1;
		}
		if (queue_interval && time % queue_interval == 0 && time < duration)
			queues_series(time);
		if (flow_interval && time % flow_interval == 0 && time < duration) {
			flows_series(time);
			observed_series(time);
		}
		if (time % LOOK == 0)
			queues_sample(time > warm_up);
		/* Programs may be silent for long, and a look is dear. */
		is_quiet = program_count && !flow_count && !moments && !is_paced && queues_are_empty();
		if (program_count && time % LIMITS_LOOK == 0)
			limits_look(time);
		if (connections && time % connections_interval == 0)
			flows_connections(connections, time);
		/* Only when there is a look anyway: another would move the kernel's timers, by less than a microsecond. */
		if (moments && (time == duration || (time % LOOK == 0 && time >= next_of(moments_interval, shown))))
			show(shown = time);
	}
	if (sessions)
		sessions_end();
	report("end");
}

int main(int count, char **arguments)
{
	if (count != 3 || !(output = fopen(arguments[2], "w")))
		return 2;
	setvbuf(output, NULL, _IOFBF, 1 << 20);
	/* Sleeps end when they should, not up to 50 us later (prctl(2), PR_SET_TIMERSLACK). */
	prctl(PR_SET_TIMERSLACK, 1);
	network_begin();
	read_plan(arguments[1]);
	flows_prepare();
	sessions_prepare();
	origin = (now() / SECOND + 2) * SECOND;
	flows_begin();
	programs_begin();
	sleep_until(origin);
	changes_until(0);
	if (connections_interval)
		flows_connections(connections = opened("connections"), 0);
	if (moments_interval)
		moments = opened("moments");
	if (queue_interval)
		queues_series(0);
	if (flow_interval)
		flows_series(0);
	if (warm_up == 0)
		report("start");
	run();
	programs_end();
	for (int tap = 0; tap < sent_count; tap++)
		tap_check(&sent[tap]);
	for (int tap = 0; tap < received_count; tap++)
		tap_check(&received[tap]);
	flows_end();
	queues_end();
	captures_end();
	observed_end();
	if (connections && fclose(connections))
		fail("connections", strerror(errno));
	fprintf(output, "done\n");
	fclose(output);
	return 0;
}
