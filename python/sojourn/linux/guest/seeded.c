/*
 * Loaded before the kernel's libraries: the kernel takes its random numbers from the seed of the run, not from the host, and ends
 * with the process that started it.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>

__attribute__((constructor)) static void end_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* SplitMix: Steele, Lea and Flood, OOPSLA 2014. */
static uint64_t next(void)
{
	static uint64_t state;
	static int begun;
	uint64_t mixed;

	if (!begun) {
		const char *seed = getenv("SOJOURN_SEED");

		state = seed ? strtoull(seed, NULL, 10) : 0;
		begun = 1;
	}
	mixed = state += 0x9e3779b97f4a7c15;
	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
	return mixed ^ mixed >> 31;
}

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	unsigned char *bytes = buffer;

	(void)flags;
	for (size_t place = 0; place < length; place++)
		bytes[place] = (unsigned char)(next() >> 56);
	return (ssize_t)length;
}
