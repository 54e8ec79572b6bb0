/*
 * Changes of links at their times: messages for the kernel, and packets of nobody that a transmitter has to send, which hold it up
 * as if its rate were 0.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "guest.h"

/* Of experiments (IEEE 802): no host understands it. */
#define PROTOCOL 0x88b5
#define LARGEST 65536

/* A message, or packets that a socket sends. */
static struct action {
	char name_space[16];
	struct message *message;
	int holder, count, size, rest;
} *actions;
static struct due { Time at; int action; } *all;
static struct holder { char name_space[16], device[16]; int socket; } *holders;
static int action_count, due_count, done, holder_count;

static struct action *added(const char *name_space)
{
	struct action *action;

	actions = realloc(actions, (action_count + 1) * sizeof *actions);
	action = memset(&actions[action_count++], 0, sizeof *action);
	strcpy(action->name_space, name_space);
	return action;
}

void change_add(const char *name_space, const char *digits)
{
	added(name_space)->message = message_read(digits);
}

static int opened(const char *name_space, const char *device, int priority)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET };
	int room = 1 << 30;
	struct holder *holder;

	for (holder = holders; holder < holders + holder_count; holder++)
		if (!strcmp(holder->name_space, name_space) && !strcmp(holder->device, device))
			return holder->socket;
	holders = realloc(holders, (holder_count + 1) * sizeof *holders);
	holder = &holders[holder_count++];
	strcpy(holder->name_space, name_space);
	strcpy(holder->device, device);
	enter(name_space);
	/* No protocol: it receives nothing. */
	holder->socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	address.sll_ifindex = if_nametoindex(device);
	if (holder->socket < 0 || !address.sll_ifindex || bind(holder->socket, (void *)&address, sizeof address) ||
	    setsockopt(holder->socket, SOL_SOCKET, SO_PRIORITY, &priority, sizeof priority) ||
	    setsockopt(holder->socket, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room))
		fail("holder", device);
	return holder->socket;
}

void hold_add(const char *name_space, const char *device, int priority, int count, int size, int rest)
{
	struct action *action = added(name_space);

	action->holder = opened(name_space, device, priority);
	action->count = count;
	action->size = size;
	action->rest = rest;
}

void change_at(Time at, int action)
{
	if (action < 0 || action >= action_count)
		fail("plan", "a change that is none");
	if (due_count % 1024 == 0)
		all = realloc(all, (due_count + 1024) * sizeof *all);
	all[due_count++] = (struct due){ at, action };
}

static void send_one(int socket, int size)
{
	static const unsigned char frame[LARGEST] = { [12] = PROTOCOL >> 8, [13] = PROTOCOL & 0xff };

	if (send(socket, frame, size, 0) != size)
		fail("hold", strerror(errno));
}

static void carry_out(const struct action *action)
{
	if (action->message) {
		message_send(action->name_space, "change", action->message);
		return;
	}
	for (int packet = 0; packet < action->count; packet++)
		send_one(action->holder, action->size);
	if (action->rest)
		send_one(action->holder, action->rest);
}

Time changes_next(void)
{
	return done < due_count ? all[done].at : NEVER;
}

void changes_until(Time time)
{
	while (done < due_count && all[done].at <= time)
		carry_out(&actions[all[done++].action]);
}
