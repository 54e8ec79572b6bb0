/*
 * What programs see as their file system: a folder of the host, read-only, with a layer in memory above it. The host's folder has links
 * to what may be seen, so that the guest knows no path of the host. A program cannot mount anything: see `confine` in programs.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "guest.h"

/* Where the layers of roots are. */
#define ROOTS "/roots"
/* The scenario's folder, as programs see it. */
#define SCENARIO "/scenario"

static void folder(const char *path)
{
	if (mkdir(path, 0755) && errno != EEXIST)
		fail(path, strerror(errno));
}

static void put(const char *what, const char *where, const char *type, unsigned long flags, const char *data)
{
	if (mount(what, where, type, flags, data))
		fail(where, strerror(errno));
}

/* Mounts a link's target in the host's folder, with a layer in memory above it. */
static void layered(const char *link, const char *name, const char *where)
{
	char low[128], memory[128], upper[160], work[160], layers[512];

	snprintf(low, sizeof low, ROOTS "/%s-low", name);
	snprintf(memory, sizeof memory, ROOTS "/%s-memory", name);
	snprintf(upper, sizeof upper, "%s/upper", memory);
	snprintf(work, sizeof work, "%s/work", memory);
	folder(low);
	folder(memory);
	put("none", low, "hostfs", MS_RDONLY | MS_NODEV | MS_NOSUID, link);
	put("none", memory, "tmpfs", MS_NODEV, "mode=755");
	folder(upper);
	folder(work);
	snprintf(layers, sizeof layers, "lowerdir=%s,upperdir=%s,workdir=%s", low, upper, work);
	put("none", where, "overlay", MS_NODEV, layers);
}

static void device(const char *root, const char *name, int major, int minor)
{
	char path[160];

	snprintf(path, sizeof path, "%s/dev/%s", root, name);
	if (mknod(path, S_IFCHR, makedev(major, minor)) || chmod(path, 0666))
		fail(path, strerror(errno));
}

static void devices(const char *root)
{
	/* Numbers are those of Documentation/admin-guide/devices.txt. */
	static const struct { const char *name; int minor; } memory[] = {
		{ "null", 3 }, { "zero", 5 }, { "full", 7 }, { "random", 8 }, { "urandom", 9 },
	};
	static const char *const links[][2] = {
		{ "fd", "/proc/self/fd" }, { "stdin", "/proc/self/fd/0" }, { "stdout", "/proc/self/fd/1" },
		{ "stderr", "/proc/self/fd/2" }, { "ptmx", "pts/ptmx" },
	};
	char path[160];

	for (size_t place = 0; place < sizeof memory / sizeof *memory; place++)
		device(root, memory[place].name, 1, memory[place].minor);
	device(root, "tty", 5, 0);
	for (size_t place = 0; place < sizeof links / sizeof *links; place++) {
		snprintf(path, sizeof path, "%s/dev/%s", root, links[place][0]);
		if (symlink(links[place][1], path))
			fail(path, strerror(errno));
	}
	snprintf(path, sizeof path, "%s/dev/pts", root);
	folder(path);
	put("none", path, "devpts", MS_NOEXEC | MS_NOSUID, "newinstance,ptmxmode=0666,mode=620");
	snprintf(path, sizeof path, "%s/dev/shm", root);
	folder(path);
	put("none", path, "tmpfs", MS_NODEV | MS_NOSUID, "mode=1777");
}

/* A file of the guest's in place of what is there. */
static void written(const char *root, const char *path, const char *from)
{
	char target[160], buffer[4096];
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	ssize_t length;

	snprintf(target, sizeof target, "%s%s", root, path);
	unlink(target); /* It may be a link that leads elsewhere. */
	out = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (in < 0 || out < 0)
		fail(target, strerror(errno));
	while ((length = read(in, buffer, sizeof buffer)) > 0)
		if (write(out, buffer, length) != length)
			fail(target, strerror(errno));
	close(in);
	close(out);
}

/*
 * A kernel's settings are not for programs, but for those of their own network: what /proc/sys/kernel starts when a program crashes,
 * for one, would have all rights.
 */
static void settings(const char *root)
{
	char all[160], net[160], status[160];

	snprintf(all, sizeof all, "%s/proc/sys", root);
	snprintf(net, sizeof net, "%s/proc/sys/net", root);
	/* The exit status of the kernel's own process (arch/um/kernel/exitcode.c). */
	snprintf(status, sizeof status, "%s/proc/exitcode", root);
	put(status, status, NULL, MS_BIND, NULL);
	put(NULL, status, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL);
	put(all, all, NULL, MS_BIND, NULL);
	put(net, net, NULL, MS_BIND, NULL);
	put(NULL, all, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL);
}

void root_make(int number)
{
	static const char *const folders[] = { "proc", "sys", "dev", "tmp", "run", "etc", "scenario" };
	char link[32], name[32], root[64], path[160];

	folder(ROOTS);
	snprintf(link, sizeof link, "root-%d", number);
	snprintf(name, sizeof name, "%d", number);
	root_path(root, sizeof root, number);
	folder(root);
	layered(link, name, root);
	for (size_t place = 0; place < sizeof folders / sizeof *folders; place++) {
		snprintf(path, sizeof path, "%s/%s", root, folders[place]);
		folder(path);
	}
	snprintf(path, sizeof path, "%s/proc", root);
	put("none", path, "proc", MS_NODEV | MS_NOSUID | MS_NOEXEC, NULL);
	settings(root);
	snprintf(path, sizeof path, "%s/sys", root);
	put("none", path, "sysfs", MS_RDONLY | MS_NODEV | MS_NOSUID | MS_NOEXEC, NULL);
	for (size_t place = 0; place < 3; place++) {
		static const char *const memory[] = { "dev", "tmp", "run" };

		snprintf(path, sizeof path, "%s/%s", root, memory[place]);
		put("none", path, "tmpfs", MS_NOSUID, place == 1 ? "mode=1777" : "mode=755");
	}
	devices(root);
	written(root, "/etc/hosts", "hosts");
	written(root, "/etc/resolv.conf", "/dev/null");
	snprintf(name, sizeof name, "%d-scenario", number);
	snprintf(path, sizeof path, "%s" SCENARIO, root);
	layered("scenario", name, path);
}

void root_path(char *path, size_t size, int number)
{
	snprintf(path, size, ROOTS "/%d", number);
}

int root_enter(int number)
{
	char root[64];

	root_path(root, sizeof root, number);
	return chdir(root) || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir(SCENARIO) ? -1 : 0;
}
