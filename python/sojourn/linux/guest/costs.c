/*
 * What processors cost: each system call of a program, and of what it starts, takes so much virtual time before the kernel carries it
 * out. The program is traced (ptrace(2)); each of its processes has a processor, which its threads share.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "guest.h"

#define SECOND 1000000000ll

/* The clock ends far from all runs. */
#define END (1000000000ll * SECOND)

/* A call that took no longer did not wait: the kernel lets 256 ns pass for a look at its clock, 1 us for an error (arch/um/kernel). */
#define NO_WAIT 1500ll

struct processor {
	pid_t process;
	Time busy; /* until then */
	int threads;
};

struct thread {
	pid_t number;
	struct processor *processor;
	int inside;    /* of a system call */
	Time ready;    /* since then it wants the processor */
	Time due;      /* its call is carried out then; NEVER: it is not held */
	Time released; /* into its call */
};

static Time cost;
static struct thread *threads;
static int thread_count, thread_room, held;
static timer_t alarm_timer, clock_timer;

/* A look at how much of a timer is left lets no virtual time pass, a look at the clock does. */
static Time time_of_clock(void)
{
	struct itimerspec left;

	timer_gettime(clock_timer, &left);
	return END - ((Time)left.it_value.tv_sec * SECOND + left.it_value.tv_nsec);
}

static void set_timer(timer_t timer, Time moment)
{
	struct itimerspec setting = { .it_value = { moment / SECOND, moment % SECOND } };

	if (timer_settime(timer, TIMER_ABSTIME, &setting, NULL))
		fail("costs", strerror(errno));
}

static void timers_begin(void)
{
	struct sigevent none = { .sigev_notify = SIGEV_NONE };
	struct sigevent signal = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };

	if (timer_create(CLOCK_MONOTONIC, &none, &clock_timer) || timer_create(CLOCK_MONOTONIC, &signal, &alarm_timer))
		fail("costs", strerror(errno));
	set_timer(clock_timer, END);
}

static pid_t process_of(pid_t thread)
{
	char path[48], line[128];
	int process = thread;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/status", thread);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "Tgid: %d", &process) == 1)
			break;
	if (file)
		fclose(file);
	return process;
}

static struct processor *processor_of(pid_t process, Time time)
{
	struct processor *processor;

	for (struct thread *thread = threads; thread < threads + thread_count; thread++)
		if (thread->processor->process == process)
			return thread->processor;
	if (!(processor = calloc(1, sizeof *processor)))
		fail("costs", "memory");
	processor->process = process;
	processor->busy = time;
	return processor;
}

static struct thread *thread_of(pid_t number)
{
	for (struct thread *thread = threads; thread < threads + thread_count; thread++)
		if (thread->number == number)
			return thread;
	return NULL;
}

static struct thread *thread_add(pid_t number)
{
	Time time = time_of_clock();
	struct processor *processor = processor_of(process_of(number), time);

	if (thread_count == thread_room) {
		thread_room = thread_room ? 2 * thread_room : 64;
		if (!(threads = realloc(threads, thread_room * sizeof *threads)))
			fail("costs", "memory");
	}
	processor->threads++;
	threads[thread_count] = (struct thread){ .number = number, .processor = processor, .ready = time, .due = NEVER };
	return &threads[thread_count++];
}

static void thread_remove(struct thread *thread)
{
	held -= thread->due != NEVER;
	if (!--thread->processor->threads)
		free(thread->processor);
	*thread = threads[--thread_count];
}

/* It goes on up to its next stop. One that has been killed meanwhile is no longer there. */
static void go_on(pid_t thread, int signal)
{
	if (ptrace(PTRACE_SYSCALL, thread, 0, signal) && errno != ESRCH)
		fail("costs", strerror(errno));
}

static void release(struct thread *thread, Time time)
{
	thread->released = time;
	go_on(thread->number, 0);
}

/* It enters a call, which is held for as long as its processor needs, or leaves one. */
static void at_call(struct thread *thread)
{
	Time time = time_of_clock();

	if (thread->inside) {
		/* Who did not wait is not late because timers are. */
		if (time - thread->released > NO_WAIT)
			thread->ready = time;
		else
			thread->ready += time - thread->released;
		go_on(thread->number, 0);
	} else {
		struct processor *processor = thread->processor;

		processor->busy = (processor->busy > thread->ready ? processor->busy : thread->ready) + cost;
		thread->ready = processor->busy;
		if (thread->ready > time) {
			thread->due = thread->ready;
			held++;
		} else {
			release(thread, time);
		}
	}
	thread->inside = !thread->inside;
}

static int is_stop(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* Another thread's call of exec: its process has this number alone from now on. */
static void at_exec(struct thread *thread)
{
	unsigned long former;

	if (!ptrace(PTRACE_GETEVENTMSG, thread->number, 0, &former) && (pid_t)former != thread->number) {
		pid_t number = thread->number;
		struct thread *caller = thread_of((pid_t)former);

		if (caller)
			thread_remove(caller);
		thread = thread_of(number);
	}
	thread->inside = 1;
	thread->released = time_of_clock();
}

static void at_stop(pid_t number, int status)
{
	struct thread *thread = thread_of(number);
	int signal = WSTOPSIG(status), event = status >> 16;

	if (!thread)
		thread = thread_add(number);
	if (signal == (SIGTRAP | 0x80)) {
		at_call(thread);
		return;
	}
	if (event == PTRACE_EVENT_STOP && is_stop(signal)) {
		ptrace(PTRACE_LISTEN, number, 0, 0);
		return;
	}
	if (event == PTRACE_EVENT_EXEC)
		at_exec(thread);
	go_on(number, event ? 0 : signal);
}

/* Releases all whose time has come; returns when the next one's comes. */
static Time release_due(void)
{
	Time time = time_of_clock(), next = NEVER;

	for (struct thread *thread = threads; thread < threads + thread_count; thread++) {
		if (thread->due <= time) {
			thread->due = NEVER;
			held--;
			release(thread, time);
		} else if (thread->due < next) {
			next = thread->due;
		}
	}
	return next;
}

static void begin(pid_t program)
{
	const int options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
			    PTRACE_O_EXITKILL;
	int status;

	/* It has stopped itself (`costs_await`), so that no call of its own goes by untraced. */
	if (waitpid(program, &status, WUNTRACED) != program || !WIFSTOPPED(status) || ptrace(PTRACE_SEIZE, program, 0, options))
		fail("costs", strerror(errno));
	kill(program, SIGCONT);
}

/* Sleeps until a time comes, or until a thread stops if there is one that is not held. */
static void await(Time moment, const sigset_t *awaited)
{
	struct timespec time = { moment / SECOND, moment % SECOND };
	static Time set = NEVER;

	if (held == thread_count) {
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
		return;
	}
	if (moment != set)
		set_timer(alarm_timer, set = moment);
	sigwaitinfo(awaited, NULL);
}

void costs_supervise(pid_t program, Time of_call, void (*ended)(int status))
{
	int status;
	pid_t number;
	sigset_t all, awaited;

	cost = of_call;
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGCHLD);
	sigaddset(&awaited, SIGALRM);
	/* Signals to all that a keeper has started are for the program. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_TIMERSLACK, 1);
	timers_begin();
	begin(program);
	for (;;) {
		Time next = held ? release_due() : NEVER;

		number = held && held == thread_count ? 0 : waitpid(-1, &status, held ? __WALL | WNOHANG : __WALL);
		if (number < 0)
			return;
		if (!number) {
			await(next, &awaited);
		} else if (WIFSTOPPED(status)) {
			at_stop(number, status);
		} else {
			struct thread *thread = thread_of(number);

			if (thread)
				thread_remove(thread);
			if (number == program)
				ended(status);
		}
	}
}

void costs_await(void)
{
	raise(SIGSTOP);
}
