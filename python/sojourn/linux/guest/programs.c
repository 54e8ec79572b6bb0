/*
 * Programs of the user: each has a keeper, which starts it, takes what it writes, and ends it. A program has the rights of root in its own
 * network, and none in the kernel.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include "guest.h"

#define MOST_PROGRAMS 1024
#define TERMINAL "/dev/tty1"
/* What a program may write to its output and to its errors before the rest is left out, and what is kept of its files. */
#define MOST_WRITTEN (1 << 20)
#define MOST_KEPT (64ll << 20)
/* From TERM to KILL. */
#define GRACE 1000000000ll
/* Descriptors of a program: the first is the usual soft limit, the second the kernel's own (fs/file.c, include/linux/fs.h). */
#define DESCRIPTORS 1024
#define MOST_DESCRIPTORS 524288

/* What a keeper tells, in memory that it shares with the guest's main process. */
struct told {
	Time started, ended;
	int status; /* of waitpid(2) */
	int has_ended, was_stopped;
	int error;  /* why it could not be started */
	uint64_t written[2];
	uint64_t kept, left_out; /* files that were kept, and those that were not for their size */
};

static struct program {
	int number, root;
	char space[16];
	Time start, stop, cost; /* of a system call */
	char **arguments, **environment;
	char **patterns;
	int pattern_count;
	pid_t keeper;
	struct told *told;
	int has_terminal;
} programs[MOST_PROGRAMS];
int program_count;
/* Each keeper reads from it when the run begins. */
static int begin[2];

static void attend(struct program *program);

/* Words end with a zero: how many arguments there are, these, which may be empty, and the environment. */
static char *words_of(struct program *program, const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat about;
	char *text, *word, ***list = &program->arguments;
	int count = 0, arguments;

	if (file < 0 || fstat(file, &about) || !(text = calloc(1, about.st_size + 1)) || read(file, text, about.st_size) != about.st_size)
		fail("program", path);
	close(file);
	arguments = atoi(text);
	for (word = text + strlen(text) + 1; word < text + about.st_size; word += strlen(word) + 1) {
		if (list == &program->arguments && count == arguments) {
			list = &program->environment;
			count = 0;
		}
		*list = realloc(*list, (count + 2) * sizeof **list);
		(*list)[count++] = word;
		(*list)[count] = NULL;
	}
	return text;
}

void program_add(const char *line)
{
	struct program *program = &programs[program_count];
	char path[64];

	if (program_count == MOST_PROGRAMS || sscanf(line, "program %d %d %15s %ld %ld %ld", &program->number, &program->root, program->space,
						      &program->start, &program->stop, &program->cost) != 6)
		fail("plan", line);
	snprintf(path, sizeof path, "program-%d", program->number);
	words_of(program, path);
	program->told = mmap(NULL, sizeof *program->told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (program->told == MAP_FAILED)
		fail("program", strerror(errno));
	program_count++;
}

/* The console's numbers are those of Documentation/admin-guide/devices.txt: the host gives its end when it starts the kernel. */
void program_terminal(void)
{
	programs[program_count - 1].has_terminal = 1;
	if (mknod(TERMINAL, S_IFCHR | 0600, makedev(4, 1)) && errno != EEXIST)
		fail("terminal", strerror(errno));
}

static struct program *with_terminal(void)
{
	for (struct program *program = programs; program < programs + program_count; program++)
		if (program->has_terminal)
			return program;
	return NULL;
}

int terminal_is_there(void)
{
	return with_terminal() != NULL;
}

int terminal_has_ended(void)
{
	struct program *program = with_terminal();

	return program && (program->told->has_ended || program->told->error);
}

/* Forks the keepers, before the rings of taps are mapped: a process that has them cannot be forked in User Mode Linux. */
void programs_prepare(void)
{
	if (!program_count)
		return;
	if (pipe2(begin, O_CLOEXEC))
		fail("program", strerror(errno));
	fflush(output);
	for (struct program *program = programs; program < programs + program_count; program++) {
		program->keeper = fork();
		if (program->keeper < 0)
			fail("program", strerror(errno));
		if (!program->keeper)
			attend(program);
	}
}

void program_keep(int number, const char *pattern)
{
	struct program *program = &programs[number];

	program->patterns = realloc(program->patterns, (program->pattern_count + 1) * sizeof *program->patterns);
	program->patterns[program->pattern_count++] = strdup(pattern);
}

/*
 * Root's rights that reach beyond a program's own network and files are given up for good (capabilities(7)): to mount, to make devices,
 * to look into processes that have more of them, to set the clock, to raise its limits.
 */
static void confine(void)
{
	static const int given[] = {
		CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID, CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_SETPCAP, CAP_SETFCAP,
		CAP_NET_BIND_SERVICE, CAP_NET_RAW, CAP_NET_ADMIN, CAP_SYS_CHROOT, CAP_SYS_NICE, CAP_IPC_LOCK, CAP_AUDIT_WRITE,
	};
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct sets[2] = { { 0 } };

	for (size_t place = 0; place < sizeof given / sizeof *given; place++)
		sets[given[place] / 32].permitted |= 1u << given[place] % 32;
	for (int capability = 0; capability <= CAP_LAST_CAP; capability++)
		if (!(sets[capability / 32].permitted & 1u << capability % 32))
			prctl(PR_CAPBSET_DROP, capability);
	for (int word = 0; word < 2; word++)
		sets[word].effective = sets[word].permitted;
	if (syscall(SYS_capset, &header, sets))
		_exit(126);
}

static void become(struct program *program, const int *output, const int *errors)
{
	struct rlimit descriptors = { DESCRIPTORS, MOST_DESCRIPTORS }, core = { 0, 0 };
	int null, terminal = -1;

	setsid();
	/* It becomes the session's terminal. */
	if (program->has_terminal)
		terminal = open(TERMINAL, O_RDWR);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || root_enter(program->root)) {
		program->told->error = errno;
		_exit(126);
	}
	null = open("/dev/null", O_RDONLY);
	dup2(null, 0);
	dup2(output[1], 1);
	dup2(errors[1], 2);
	for (int descriptor = 0; descriptor < 3 && terminal >= 0; descriptor++)
		dup2(terminal, descriptor);
	syscall(SYS_close_range, 3, ~0u, 0);
	umask(022);
	setrlimit(RLIMIT_NOFILE, &descriptors);
	setrlimit(RLIMIT_CORE, &core);
	/* A program has the slack of timers that it would have anywhere (prctl(2)). */
	prctl(PR_SET_TIMERSLACK, 0);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	confine();
	if (program->cost)
		costs_await();
	execvpe(program->arguments[0], program->arguments, program->environment);
	program->told->error = errno;
	_exit(127);
}

/* The parent of a process, in /proc/PID/stat; 0 if there is no such process. */
static pid_t parent_of(pid_t process)
{
	char path[32], text[512], *rest;
	int file, parent = 0;
	ssize_t length;

	snprintf(path, sizeof path, "/proc/%d/stat", process);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	length = read(file, text, sizeof text - 1);
	close(file);
	text[length > 0 ? length : 0] = 0;
	/* A process's name may have blanks and brackets. */
	rest = strrchr(text, ')');
	return rest && sscanf(rest, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* Sends a signal to a keeper's program and to all that it has started. */
static void send_signal(int number)
{
	glob_t found;

	if (glob("/proc/[0-9]*", 0, NULL, &found))
		return;
	for (size_t place = 0; place < found.gl_pathc; place++) {
		pid_t process = atoi(found.gl_pathv[place] + strlen("/proc/")), above = process;

		while (above > 1 && above != getpid())
			above = parent_of(above);
		if (above == getpid() && process != above)
			kill(process, number);
	}
	globfree(&found);
}

/* Of the keeper's program. */
static struct told *told_of_program;

static void note_end(int status)
{
	told_of_program->status = status;
	told_of_program->ended = now() - origin;
	told_of_program->has_ended = 1;
}

static void take(struct program *program, struct pollfd *pipe, int stream, int file)
{
	static char buffer[1 << 16];
	uint64_t *written = &program->told->written[stream];
	ssize_t length = read(pipe->fd, buffer, sizeof buffer);
	size_t room = *written < MOST_WRITTEN ? MOST_WRITTEN - *written : 0;

	if (length <= 0) {
		close(pipe->fd);
		pipe->fd = -1;
		return;
	}
	if (room && write(file, buffer, room < (size_t)length ? room : (size_t)length) < 0)
		_exit(1);
	/* The host has it at once: a run may be ended from there. */
	if (room)
		sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
	*written += length;
}

static int opened(const struct program *program, const char *ending)
{
	char path[64];

	snprintf(path, sizeof path, "program-%d.%s", program->number, ending);
	return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
}

/* Until the program has ended and all that could write has; then, or at its time, whatever is left of it is ended. */
static void supervise(struct program *program, pid_t process, int output, int errors)
{
	struct told *told = program->told;
	struct pollfd seen[3] = { { output, POLLIN, 0 }, { errors, POLLIN, 0 }, { syscall(SYS_pidfd_open, process, 0), POLLIN, 0 } };
	int files[2] = { opened(program, "output"), opened(program, "errors") };
	Time deadline = origin + program->stop;
	int killed = 0;

	while (seen[0].fd >= 0 || seen[1].fd >= 0 || seen[2].fd >= 0) {
		Time left = deadline - now();
		struct timespec time = { left / 1000000000, left % 1000000000 };
		int ready = left > 0 ? ppoll(seen, 3, &time, NULL) : 0;

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready > 0) {
			for (int stream = 0; stream < 2; stream++)
				if (seen[stream].revents)
					take(program, &seen[stream], stream, files[stream]);
			if (seen[2].revents) {
				int status;

				waitpid(process, &status, 0);
				if (!told->has_ended)
					note_end(status);
				close(seen[2].fd);
				seen[2].fd = -1;
			}
			continue;
		}
		if (killed)
			break;
		told->was_stopped |= !told->has_ended;
		send_signal(now() < origin + program->stop + GRACE ? SIGTERM : SIGKILL);
		killed = now() >= origin + program->stop + GRACE;
		deadline = now() + GRACE;
	}
	close(files[0]);
	close(files[1]);
}

/* Copies a file of the program to the host's folder; those that are too large are left out, and counted. */
static void keep(struct program *program, const char *path, const char *name)
{
	static uint64_t bytes;
	char target[512], buffer[1 << 16];
	int in = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK), out;
	struct stat about;
	ssize_t length;

	if (in < 0 || fstat(in, &about) || !S_ISREG(about.st_mode)) {
		close(in);
		return;
	}
	if (bytes + about.st_size > MOST_KEPT) {
		program->told->left_out++;
		close(in);
		return;
	}
	bytes += about.st_size;
	snprintf(target, sizeof target, "kept-%d-%lu", program->number, (unsigned long)program->told->kept++);
	out = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	/* The first line is the file's name. */
	if (out < 0 || dprintf(out, "%s\n", name) < 0)
		_exit(1);
	while ((length = read(in, buffer, sizeof buffer)) > 0)
		if (write(out, buffer, length) != length)
			_exit(1);
	close(in);
	close(out);
}

static void keep_files(struct program *program)
{
	char root[64], pattern[512];
	glob_t found;

	root_path(root, sizeof root, program->root);
	for (int place = 0; place < program->pattern_count; place++) {
		const char *asked = program->patterns[place];

		snprintf(pattern, sizeof pattern, "%s%s%s", root, *asked == '/' ? "" : "/scenario/", asked);
		if (glob(pattern, 0, NULL, &found))
			continue;
		for (size_t each = 0; each < found.gl_pathc; each++) {
			const char *path = found.gl_pathv[each], *name = path + strlen(root);

			keep(program, path, *asked == '/' ? name + 1 : name + strlen("/scenario/"));
		}
		globfree(&found);
	}
}

/* Starts a program, below a process that supervises it if its system calls have a cost. */
static pid_t begun(struct program *program, int *output, int *errors)
{
	pid_t process = fork(), supervised;

	if (process < 0)
		_exit(1);
	if (process)
		return process;
	if (!program->cost)
		become(program, output, errors);
	supervised = fork();
	if (supervised < 0)
		_exit(1);
	if (!supervised)
		become(program, output, errors);
	close(output[1]);
	close(errors[1]);
	costs_supervise(supervised, program->cost, note_end);
	_exit(0);
}

static void attend(struct program *program)
{
	int output[2], errors[2];
	pid_t process;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	enter(program->space);
	/* The run begins when the origin is known. */
	if (read(begin[0], &origin, sizeof origin) != sizeof origin)
		_exit(1);
	sleep_until(origin + program->start);
	if (pipe2(output, O_CLOEXEC) || pipe2(errors, O_CLOEXEC))
		_exit(1);
	program->told->started = now() - origin;
	told_of_program = program->told;
	process = begun(program, output, errors);
	close(output[1]);
	close(errors[1]);
	supervise(program, process, output[0], errors[0]);
	keep_files(program);
	_exit(0);
}

void programs_begin(void)
{
	for (int program = 0; program < program_count; program++)
		if (write(begin[1], &origin, sizeof origin) != sizeof origin)
			fail("program", strerror(errno));
}

void programs_end(void)
{
	int status;

	for (struct program *program = programs; program < programs + program_count; program++) {
		const struct told *told = program->told;

		if (waitpid(program->keeper, &status, 0) < 0 || status)
			fail("programs: the process that keeps it was ended, as by a signal of a program:", program->arguments[0]);
		fprintf(output, "program %d started %ld", program->number, told->started);
		if (told->has_ended)
			fprintf(output, " ended %ld status %d signal %d", told->ended, WIFEXITED(told->status) ? WEXITSTATUS(told->status) : -1,
				WIFSIGNALED(told->status) ? WTERMSIG(told->status) : 0);
		fprintf(output, " stopped %d error %d output %lu errors %lu kept %lu left_out %lu\n", told->was_stopped, told->error,
			told->written[0], told->written[1], told->kept, told->left_out);
	}
}
