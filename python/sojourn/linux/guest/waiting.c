/* Packets under way: those that were sent and have not been seen to arrive, found by what they carry. */
#include <stdlib.h>
#include "observed.h"

#define LEAST_ROOM 4096

static struct waiting **buckets, *spare;
static uint64_t room, count;

static uint64_t bucket_of(const void *way, uint64_t identity)
{
	return ((identity ^ (uint64_t)(uintptr_t)way >> 4) * 0x9e3779b97f4a7c15) >> 20 & (room - 1);
}

static void grow(void)
{
	uint64_t before = room;
	struct waiting **old = buckets;

	room = room ? 2 * room : LEAST_ROOM;
	buckets = calloc(room, sizeof *buckets);
	for (uint64_t bucket = 0; bucket < before; bucket++) {
		/* In each chain the newest are first. */
		struct waiting *reversed = NULL, *next;

		for (struct waiting *each = old[bucket]; each; each = next) {
			next = each->next;
			each->next = reversed;
			reversed = each;
		}
		for (struct waiting *each = reversed; each; each = next) {
			struct waiting **place = &buckets[bucket_of(each->way, each->identity)];

			next = each->next;
			each->next = *place;
			*place = each;
		}
	}
	free(old);
}

void waiting_add(const void *way, uint64_t identity, uint16_t identification, uint64_t serial, Time sent)
{
	struct waiting *added = spare ? spare : malloc(sizeof *added);
	struct waiting **place;

	if (spare)
		spare = spare->next;
	if (count++ == room)
		grow();
	place = &buckets[bucket_of(way, identity)];
	*added = (struct waiting){ *place, way, identity, serial, sent, identification };
	*place = added;
}

/*
 * Of several that carry the same, the number in the header of IPv4 tells which it is, if the sender numbers its packets (RFC 6864, section
 * 4.1); else the oldest is taken.
 */
int waiting_take(const void *way, uint64_t identity, uint16_t identification, struct waiting *found)
{
	struct waiting **oldest = NULL, **same = NULL, *taken;
	int like = 0, alike = 0;

	if (!room)
		return 0;
	for (struct waiting **place = &buckets[bucket_of(way, identity)]; *place; place = &(*place)->next) {
		if ((*place)->way != way || (*place)->identity != identity)
			continue;
		like++;
		oldest = place;
		if (identification && (*place)->identification == identification) {
			alike++;
			same = place;
		}
	}
	if (!like)
		return 0;
	if (same)
		oldest = same;
	taken = *oldest;
	*found = *taken;
	*oldest = taken->next;
	taken->next = spare;
	spare = taken;
	count--;
	return (alike ? alike : like) > 1 ? 2 : 1;
}

void waiting_each(void (*visit)(const struct waiting *waiting))
{
	for (uint64_t bucket = 0; bucket < room; bucket++)
		for (const struct waiting *each = buckets[bucket]; each; each = each->next)
			visit(each);
}
