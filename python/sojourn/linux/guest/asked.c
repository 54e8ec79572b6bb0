/*
 * Loaded before the kernel's libraries: what the guest asks of the process that started the kernel. It asks by making a link with the
 * name "ask" in the host's folder, whose target is the question, and takes the answer from the link "answer" there. No virtual time
 * passes meanwhile: the kernel waits for its host.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static char answer[1 << 16];
static ssize_t length;

static int is_named(const char *path, const char *name)
{
	size_t whole = strlen(path), end = strlen(name);

	return whole > end && !strcmp(path + whole - end, name);
}

/* The socket to the process that started the kernel; none if nobody answers. */
static int answering(void)
{
	const char *socket = getenv("SOJOURN_ANSWERS");

	return socket ? atoi(socket) : -1;
}

int symlink(const char *target, const char *path)
{
	int socket = answering();

	if (socket < 0 || !is_named(path, "/ask"))
		return (int)syscall(SYS_symlinkat, target, AT_FDCWD, path);
	while (send(socket, target, strlen(target), MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
	do {
		length = recv(socket, answer, sizeof answer, 0);
	} while (length < 0 && errno == EINTR);
	if (length > 0)
		return 0; /* There is no such link, so that the next question is asked too. */
	errno = EPIPE;
	return -1;
}

ssize_t readlink(const char *path, char *buffer, size_t size)
{
	size_t given = length > 0 ? (size_t)length : 0;

	if (answering() < 0 || !is_named(path, "/answer"))
		return syscall(SYS_readlinkat, AT_FDCWD, path, buffer, size);
	memcpy(buffer, answer, given < size ? given : size);
	return given < size ? (ssize_t)given : (ssize_t)size;
}
