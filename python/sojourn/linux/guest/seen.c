/* Directions of connections: when what was sent is acknowledged, as seen at the sender's end of its link. */
#include <stdlib.h>
#include <string.h>
#include "guest.h"

void seen_begin(struct seen *seen, uint32_t source, uint64_t size, struct samples *samples)
{
	memset(seen, 0, sizeof *seen);
	seen->source_address = source;
	seen->size = size;
	seen->samples = samples;
	seen->began = seen->established = seen->completed = NEVER;
}

void seen_end(struct seen *seen)
{
	free(seen->segments);
}

static int after(uint32_t one, uint32_t other)
{
	return (int32_t)(one - other) > 0;
}

static void push(struct seen *seen, uint32_t end, Time time)
{
	if (seen->tail - seen->head == seen->room) {
		unsigned room = seen->room ? 2 * seen->room : 16;
		struct segment *larger = malloc(room * sizeof *larger);

		for (unsigned place = seen->head; place != seen->tail; place++)
			larger[place % room] = seen->segments[place % seen->room];
		free(seen->segments);
		seen->segments = larger;
		seen->room = room;
	}
	seen->segments[seen->tail++ % seen->room] = (struct segment){ end, time, 0 };
}

/*
 * Of a segment that is sent again, timestamps tell which was acknowledged: the last (RFC 7323, section 4.3). Without them it gives
 * no sample (RFC 6298, section 3).
 */
static void sent_again(struct seen *seen, uint32_t from, uint32_t to, Time time)
{
	for (unsigned place = seen->head; place != seen->tail; place++) {
		struct segment *segment = &seen->segments[place % seen->room];

		if (after(segment->end, to))
			return;
		if (after(segment->end, from)) {
			segment->time = time;
			segment->again = 1;
		}
	}
}

void seen_sent(struct seen *seen, const struct packet *packet)
{
	uint32_t end = packet->sequence + packet->payload + !!(packet->flags & SYN) + !!(packet->flags & FIN);

	if (end == packet->sequence)
		return;
	if (!seen->begun) {
		seen->begun = 1;
		seen->began = packet->time;
		seen->first_sequence = seen->highest = seen->unacknowledged = packet->sequence;
	}
	if (packet->payload)
		seen->timestamps = packet->options > 0;
	if (after(end, seen->highest)) {
		push(seen, end, packet->time);
		seen->highest = end;
	} else {
		sent_again(seen, packet->sequence, end, packet->time);
	}
}

static void sample(struct seen *seen, Time rtt, Time moment)
{
	struct samples *samples = seen->samples;

	seen->sample_latest = rtt;
	if (moment < origin + warm_up)
		return;
	if (!samples->count++ || rtt < samples->least)
		samples->least = rtt;
	samples->sum += rtt;
	if (rtt > samples->most)
		samples->most = rtt;
}

void seen_acknowledged(struct seen *seen, const struct packet *packet)
{
	uint32_t until = packet->acknowledgement;
	int first = 1;

	if (!seen->begun || !(packet->flags & ACK) || !after(until, seen->unacknowledged))
		return;
	if (packet->flags & SYN)
		seen->established = packet->time;
	seen->unacknowledged = until;
	while (seen->head != seen->tail && !after(seen->segments[seen->head % seen->room].end, until)) {
		struct segment *segment = &seen->segments[seen->head++ % seen->room];

		/* The first of the segments acknowledged counts (RFC 7323, section 4.1): others may have waited for it. */
		if (first && (!segment->again || seen->timestamps))
			sample(seen, packet->time - segment->time, packet->time);
		first = 0;
	}
	if (seen->size && seen->completed == NEVER && until - seen->first_sequence - 1 >= seen->size)
		seen->completed = packet->time;
}
