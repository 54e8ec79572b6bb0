/* One-way delays: those of packets that arrived in the window, with what lies between one and the next. */
#include <stdlib.h>
#include "guest.h"

struct delays {
	uint64_t packets, differences;
	double sum, difference_sum;
	Time least, most, previous;
	uint64_t bins[BINS];
};

struct delays *delays_new(void)
{
	struct delays *delays = calloc(1, sizeof *delays);

	delays->previous = NEVER;
	return delays;
}

void delays_add(struct delays *delays, Time sent, Time arrival)
{
	Time delay = arrival - sent, difference = llabs(delay - delays->previous);
	int first = delays->previous == NEVER;

	delays->previous = delay;
	if (arrival < origin + warm_up)
		return;
	if (!delays->packets++ || delay < delays->least)
		delays->least = delay;
	if (delay > delays->most)
		delays->most = delay;
	delays->sum += delay;
	delays->bins[bin_of(delay)]++;
	if (!first) {
		delays->differences++;
		delays->difference_sum += difference;
	}
}

void delays_report(const char *what, const char *bins, int number, const struct delays *delays)
{
	if (!delays || !delays->packets)
		return;
	fprintf(output, "%s %d samples %llu sum %.0f min %lld max %lld differences %llu difference_sum %.0f\n", what, number,
		(unsigned long long)delays->packets, delays->sum, (long long)delays->least, (long long)delays->most,
		(unsigned long long)delays->differences, delays->difference_sum);
	bins_report(bins, number, delays->bins);
}
