/*
 * Loaded before the kernel's libraries: User Mode Linux restores 2696 bytes of a process's extended registers (arch/x86/um/user-offsets.c,
 * HOST_FP_SIZE), but a host takes them whole or not at all, and a processor with AMX has 11 KB of them (arch/x86/kernel/fpu/regset.c,
 * xstateregs_set). What the kernel does not know keeps its value.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

/* More than any processor has. */
static unsigned char whole[1 << 16] __attribute__((aligned(64)));

long ptrace(enum __ptrace_request request, ...)
{
	static long (*host)(enum __ptrace_request, ...);
	va_list arguments;
	pid_t process;
	void *address, *data;
	long result;

	va_start(arguments, request);
	process = va_arg(arguments, pid_t);
	address = va_arg(arguments, void *);
	data = va_arg(arguments, void *);
	va_end(arguments);
	if (!host)
		host = (long (*)(enum __ptrace_request, ...))dlsym(RTLD_NEXT, "ptrace");
	result = host(request, process, address, data);
	if (request == PTRACE_SETREGSET && (long)address == NT_X86_XSTATE && result < 0 && errno == EFAULT) {
		const struct iovec *known = data;
		struct iovec all = { whole, sizeof(whole) };

		if (host(PTRACE_GETREGSET, process, address, &all) < 0)
			return -1;
		memcpy(whole, known->iov_base, known->iov_len);
		result = host(PTRACE_SETREGSET, process, address, &all);
	}
	return result;
}
