/* Networks: namespaces, what the kernel is told of them over netlink, and what `tc` tells it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "guest.h"

/* Messages name other namespaces by the descriptors under which they are open: from this one on, in order of the plan. */
#define FIRST_DESCRIPTOR 64
/* What the plan calls the namespace in which the guest starts. */
#define INITIAL "-"
/* Three sockets a flow, some a queue and a namespace. */
#define MOST_DESCRIPTORS 131072

static struct name_space {
	char name[16];
	int file, netlink;
} *all;
static int count, present;

void network_begin(void)
{
	struct rlimit descriptors = { MOST_DESCRIPTORS, MOST_DESCRIPTORS };

	if (setrlimit(RLIMIT_NOFILE, &descriptors))
		fail("descriptors", strerror(errno));
	all = calloc(1, sizeof *all);
	strcpy(all[0].name, INITIAL);
	all[0].file = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	all[0].netlink = -1;
	count = 1;
}

static int open_namespace(void)
{
	int file = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), wanted = FIRST_DESCRIPTOR + count - 1;
	int found = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, wanted);

	close(file);
	return found == wanted ? found : -1;
}

void namespace_add(const char *name)
{
	struct name_space *added;

	all = realloc(all, (count + 1) * sizeof *all);
	added = &all[count];
	snprintf(added->name, sizeof added->name, "%s", name);
	added->netlink = -1;
	if (unshare(CLONE_NEWNET) || (added->file = open_namespace()) < 0)
		fail("namespace", name);
	present = count++;
}

void enter(const char *name)
{
	int found = 0;

	if (!strcmp(all[present].name, name))
		return;
	while (found < count && strcmp(all[found].name, name))
		found++;
	if (found == count || setns(all[found].file, CLONE_NEWNET))
		fail("namespace", name);
	present = found;
}

/* The kernel's own words for an error, if it has some (netlink(7), NETLINK_EXT_ACK). */
static const char *reason(const struct nlmsghdr *header, const struct nlmsgerr *error)
{
	int length = header->nlmsg_len - NLMSG_LENGTH(sizeof *error);
	const struct rtattr *entry = (const void *)(error + 1);

	for (; RTA_OK(entry, length); entry = RTA_NEXT(entry, length))
		if (entry->rta_type == NLMSGERR_ATTR_MSG)
			return RTA_DATA(entry);
	return strerror(-error->error);
}

static int opened(struct name_space *here)
{
	int one = 1;

	if (here->netlink < 0) {
		here->netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
		setsockopt(here->netlink, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof one);
		setsockopt(here->netlink, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof one);
	}
	return here->netlink;
}

struct message *message_read(const char *digits)
{
	int length = strlen(digits) / 2;
	struct message *message = malloc(sizeof *message + length);
	unsigned byte;

	for (message->length = 0; message->length < length && sscanf(digits + 2 * message->length, "%2x", &byte) == 1;)
		message->bytes[message->length++] = byte;
	return message;
}

void message_send(const char *name, const char *what, const struct message *message)
{
	struct { struct nlmsghdr header; struct nlmsgerr error; char rest[1024]; } answer;
	char told[256];
	int netlink;

	enter(name);
	netlink = opened(&all[present]);
	if (send(netlink, message->bytes, message->length, 0) < 0 || recv(netlink, &answer, sizeof answer, 0) <= 0)
		fail("netlink", strerror(errno));
	if (answer.header.nlmsg_type != NLMSG_ERROR || !answer.error.error)
		return;
	snprintf(told, sizeof told, "%s: %s", what, reason(&answer.header, &answer.error));
	fail("cannot make", told);
}

void tc_run(const char *name, const char *batch)
{
	char *command[] = { "/usr/bin/tc", "-batch", (char *)batch, NULL };
	/* Distributions of delays are in files of the run (iproute2, tc/tc_util.c). */
	char *environment[] = { "TC_LIB_DIR=.", NULL };
	pid_t process;
	int status;

	enter(name);
	if (posix_spawn(&process, command[0], NULL, NULL, command, environment) || waitpid(process, &status, 0) < 0)
		fail("tc", strerror(errno));
	/* It has said why. */
	if (status)
		_exit(1);
}
