/*
 * What programs may do to the guest: they cannot make more processes than it can bear, and they, not this program, are ended if its
 * memory is full. The host is told how far the run is, so that it can tell whether virtual time stands still.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "guest.h"

/*
 * Processes and threads: as many as take half of the guest's memory, but no more than this. A process takes a quarter of a MiB of the
 * guest's memory at least, and is one of the host's, too.
 */
#define MOST_PROCESSES 1024
#define PROCESS (256 << 10)

/* A file of the host that is as many bytes long as ms of the run have passed: no write goes to it, only its length is set. */
#define CLOCK "clock"

static int load = -1, clock_file = -1;
static int most_processes = MOST_PROCESSES;

static void write_text(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);

	if (file < 0 || write(file, text, strlen(text)) < 0)
		fail(path, strerror(errno));
	close(file);
}

void limits_begin(void)
{
	long fitting = sysconf(_SC_PHYS_PAGES) / 2 * sysconf(_SC_PAGESIZE) / PROCESS;
	char most[16];

	if (fitting < most_processes)
		most_processes = (int)fitting;
	snprintf(most, sizeof most, "%d", most_processes);
	write_text("/proc/sys/kernel/threads-max", most);
	write_text("/proc/self/oom_score_adj", "-1000");
	clock_file = open(CLOCK, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	load = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	if (clock_file < 0 || load < 0)
		fail("limits", strerror(errno));
}

/* The name that most processes have, and how many there are with it. */
static int most_frequent(char name[20])
{
	static char names[MOST_PROCESSES][20];
	int count = 0, most = 0;
	glob_t found;

	if (glob("/proc/[0-9]*/comm", GLOB_NOSORT, NULL, &found))
		return 0;
	for (size_t place = 0; place < found.gl_pathc && count < MOST_PROCESSES; place++) {
		FILE *file = fopen(found.gl_pathv[place], "r");

		if (file && fscanf(file, "%19[^\n]", names[count]) == 1)
			count++;
		if (file)
			fclose(file);
	}
	for (int one = 0; one < count; one++) {
		int same = 0;

		for (int other = 0; other < count; other++)
			same += !strcmp(names[one], names[other]);
		if (same > most) {
			most = same;
			strcpy(name, names[one]);
		}
	}
	return most;
}

/* There may be as many in the moment before one more is refused, so a few less are too many. */
static void check_processes(void)
{
	char text[80] = "", name[20] = "", what[80];
	int running, processes;

	if (pread(load, text, sizeof text - 1, 0) < 0 || sscanf(text, "%*s %*s %*s %d/%d", &running, &processes) != 2)
		fail("limits", "/proc/loadavg");
	if (processes < most_processes - most_processes / 16)
		return;
	snprintf(what, sizeof what, "%d processes and threads are too many; %d processes are called %s", processes,
		 most_frequent(name), name);
	fail("programs:", what);
}

void limits_look(Time time)
{
	if (ftruncate(clock_file, time / 1000000))
		fail("clock", strerror(errno));
	check_processes();
}
