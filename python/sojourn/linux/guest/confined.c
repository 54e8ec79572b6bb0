/*
 * Loaded before the kernel's libraries: a kernel whose guest runs programs of the user confines itself. User Mode Linux is no boundary
 * for a hostile program (arch/um/os-Linux/start_up.c of its option `seccomp=`: "This is insecure and should only be used with a trusted
 * userspace"): one that has taken its kernel over is a process of the user on this machine. Such a one has no network and, as far as
 * this machine's kernel can see to it (landlock(7), from Linux 5.13 on), changes files below the run's folder and that of the guest's
 * memory only and sends no signals to others.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Landlock's calls and structures (include/uapi/linux/landlock.h): headers of a system may be older than its kernel. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { GET_VERSION = 1, BENEATH = 1 };

struct ruleset {
	uint64_t files, network, scoped;
};

struct beneath {
	uint64_t allowed;
	int32_t folder;
} __attribute__((packed));

/* Rights by the version from which on they can be withheld: all that change files, and all of the network and of scopes. */
#define WRITE_FILE (1ull << 1)
#define CHANGES (WRITE_FILE | 0x1ff0ull)
static const struct ruleset rights[] = {
	{ 0, 0, 0 },
	{ CHANGES, 0, 0 },
	{ CHANGES | 1 << 13, 0, 0 },           /* to move files to other folders */
	{ CHANGES | 3 << 13, 0, 0 },           /* to truncate them */
	{ CHANGES | 3 << 13, 3, 0 },           /* to bind and to connect */
	{ CHANGES | 3 << 13, 3, 0 },
	{ CHANGES | 3 << 13, 3, 3 },           /* to reach abstract sockets of others, and their processes by signals */
};

static void allow(int ruleset, const char *path, uint64_t allowed)
{
	struct beneath rule = { allowed, open(path, O_PATH | O_CLOEXEC) };

	if (rule.folder < 0)
		return;
	syscall(ADD_RULE, ruleset, BENEATH, &rule, 0);
	close(rule.folder);
}

static void keep_files(void)
{
	long version = syscall(CREATE_RULESET, NULL, 0, GET_VERSION), known = sizeof rights / sizeof *rights - 1;
	const struct ruleset *withheld = &rights[version > known ? known : version];
	const char *memory = getenv("TMPDIR");
	int ruleset;

	if (version <= 0)
		return;
	/* An older kernel takes a structure without what it does not know. */
	ruleset = (int)syscall(CREATE_RULESET, withheld, version < 4 ? 8 : version < 6 ? 16 : 24, 0);
	if (ruleset < 0)
		return;
	allow(ruleset, ".", withheld->files);
	if (memory)
		allow(ruleset, memory, withheld->files);
	allow(ruleset, "/dev/null", WRITE_FILE);
	if (syscall(RESTRICT_SELF, ruleset, 0))
		_exit(1);
	close(ruleset);
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define GIVE(what) BPF_STMT(BPF_RET | BPF_K, what)
#define REFUSE GIVE(SECCOMP_RET_ERRNO | EPERM)
/* The next line if it is so, else that after it. */
#define IF(test, value) BPF_JUMP(BPF_JMP | test | BPF_K, value, 0, 1)
#define IF_NOT(test, value) BPF_JUMP(BPF_JMP | test | BPF_K, value, 1, 0)

/* A kernel needs no sockets but pairs of them. Which files may be changed, Landlock says, but not whose they are and who may use them. */
static void refuse_calls(void)
{
	static const unsigned refused[] = {
		SYS_socket, SYS_connect, SYS_bind, SYS_io_uring_setup, SYS_chmod, SYS_fchmod, SYS_fchmodat, 452 /* fchmodat2 */,
		SYS_chown, SYS_lchown, SYS_fchown, SYS_fchownat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr,
	};
	static const struct sock_filter first[] = {
		LOAD(arch), IF_NOT(BPF_JEQ, AUDIT_ARCH_X86_64), REFUSE,
		LOAD(nr),
		/* First of all what each system call of the guest takes. */
		IF(BPF_JEQ, SYS_futex), GIVE(SECCOMP_RET_ALLOW),
		IF(BPF_JEQ, SYS_rt_sigreturn), GIVE(SECCOMP_RET_ALLOW),
		IF(BPF_JGE, 0x40000000), REFUSE, /* calls of x32 */
	}, last[] = {
		/* Pairs of others than streams can send to whoever has a name. */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socketpair, 0, 3), LOAD(args[1]), IF(BPF_JSET, 0xe), REFUSE,
		GIVE(SECCOMP_RET_ALLOW),
	};
	struct sock_filter filter[64];
	struct sock_fprog program = { 0, filter };

	for (size_t place = 0; place < sizeof first / sizeof *first; place++)
		filter[program.len++] = first[place];
	for (size_t place = 0; place < sizeof refused / sizeof *refused; place++) {
		filter[program.len++] = (struct sock_filter)IF(BPF_JEQ, refused[place]);
		filter[program.len++] = (struct sock_filter)REFUSE;
	}
	for (size_t place = 0; place < sizeof last / sizeof *last; place++)
		filter[program.len++] = last[place];
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		_exit(1);
}

static int is_confined(void)
{
	return getenv("SOJOURN_CONFINED") != NULL;
}

/* The kernel would try how terminals signal, and say on its console that it cannot (arch/um/os-Linux/sigio.c): it has none. */
int access(const char *path, int mode)
{
	if (is_confined() && (!strcmp(path, "/dev/ptmx") || !strcmp(path, "/dev/ptyp0"))) {
		errno = ENOENT;
		return -1;
	}
	return (int)syscall(SYS_access, path, mode);
}

__attribute__((constructor)) static void confine(void)
{
	if (!is_confined())
		return;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		_exit(1);
	keep_files();
	refuse_calls();
}
