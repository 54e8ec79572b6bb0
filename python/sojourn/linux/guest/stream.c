/* Streams of bytes: what has arrived of one, in order and before its turn. */
#include <stdlib.h>
#include "observed.h"

static int after(uint32_t one, uint32_t other)
{
	return (int32_t)(one - other) > 0;
}

/* Takes ranges that have their turn into what is in order. */
static void advance(struct stream *stream)
{
	struct range *first;

	while ((first = stream->ranges) && !after(first->from, stream->next)) {
		stream->early -= first->to - first->from;
		if (after(first->to, stream->next))
			stream->next = first->to;
		stream->ranges = first->next;
		free(first);
	}
}

/* Ranges are in order and apart from each other. */
static void keep(struct stream *stream, uint32_t from, uint32_t to)
{
	struct range **place = &stream->ranges, *added;

	while (*place && after(from, (*place)->to))
		place = &(*place)->next;
	while (*place && !after((*place)->from, to)) {
		struct range *met = *place;

		if (after(from, met->from))
			from = met->from;
		if (after(met->to, to))
			to = met->to;
		stream->early -= met->to - met->from;
		*place = met->next;
		free(met);
	}
	added = malloc(sizeof *added);
	*added = (struct range){ *place, from, to };
	*place = added;
	stream->early += to - from;
}

uint64_t stream_add(struct stream *stream, uint32_t from, uint32_t to)
{
	uint32_t before = stream->next;

	if (!after(to, stream->next))
		return 0;
	if (after(from, stream->next)) {
		keep(stream, from, to);
		return 0;
	}
	stream->next = to;
	advance(stream);
	stream->in_order += stream->next - before;
	return stream->next - before;
}
