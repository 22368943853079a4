#include "inject.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
/* clang-format off */
static const struct call_fault faults[] = {
    {SYS_openat, "openat EIO", EIO, 0}, {SYS_openat, "openat EINTR", EINTR, 0}, {SYS_openat, "openat EMFILE", EMFILE, 0},
    {SYS_openat, "openat ENOSPC", ENOSPC, 0},
    {SYS_read, "read EIO", EIO, 0}, {SYS_read, "read EINTR", EINTR, 0}, {SYS_read, "read short", FAULT_SHORT, 0},
    {SYS_pread64, "pread EIO", EIO, 0}, {SYS_pread64, "pread EINTR", EINTR, 0},
    {SYS_pread64, "pread short", FAULT_SHORT, 0},
    {SYS_write, "write EIO", EIO, 0}, {SYS_write, "write ENOSPC", ENOSPC, 0}, {SYS_write, "write EINTR", EINTR, 0},
    {SYS_write, "write short", FAULT_SHORT, 0},
    {SYS_pwrite64, "pwrite EIO", EIO, 0}, {SYS_pwrite64, "pwrite ENOSPC", ENOSPC, 0},
    {SYS_pwrite64, "pwrite EINTR", EINTR, 0}, {SYS_pwrite64, "pwrite short", FAULT_SHORT, 0},
    {SYS_writev, "writev EIO", EIO, 0}, {SYS_writev, "writev ENOSPC", ENOSPC, 0},
    {SYS_copy_file_range, "copy_file_range EIO", EIO, 0}, {SYS_sendfile, "sendfile EIO", EIO, 0},
    {SYS_fsync, "fsync EIO", EIO, 0}, {SYS_fsync, "fsync ENOSPC", ENOSPC, 0}, {SYS_fsync, "fsync EINTR", EINTR, 0},
    {SYS_close, "close EIO", EIO, 0}, {SYS_close, "close EINTR", EINTR, 0},
    {SYS_rename, "rename EIO", EIO, 0}, {SYS_rename, "rename ENOSPC", ENOSPC, 0},
    {SYS_linkat, "linkat EIO", EIO, 0}, {SYS_linkat, "linkat ENOSPC", ENOSPC, 0},
    {SYS_unlink, "unlink EIO", EIO, 1}, {SYS_mkdir, "mkdir EIO", EIO, 0}, {SYS_mkdir, "mkdir ENOSPC", ENOSPC, 0},
    {SYS_ftruncate, "ftruncate EIO", EIO, 0}, {SYS_ftruncate, "ftruncate ENOSPC", ENOSPC, 0},
    {SYS_stat, "stat EIO", EIO, 0}, {SYS_lstat, "lstat EIO", EIO, 0}, {SYS_fstat, "fstat EIO", EIO, 0},
    {SYS_newfstatat, "newfstatat EIO", EIO, 0}, {SYS_statx, "statx EIO", EIO, 0},
    {SYS_newfstatat, "newfstatat EINTR", EINTR, 0},
    {SYS_access, "access EIO", EIO, 0}, {SYS_faccessat2, "faccessat2 EIO", EIO, 0},
    {SYS_readlink, "readlink EIO", EIO, 0}, {SYS_getcwd, "getcwd EIO", EIO, 0},
    {SYS_getdents64, "getdents64 EIO", EIO, 0}, {SYS_lseek, "lseek EIO", EIO, 0}, {SYS_fcntl, "fcntl EIO", EIO, 0},
    {SYS_dup, "dup EMFILE", EMFILE, 0}, {SYS_memfd_create, "memfd_create EMFILE", EMFILE, 0},
    {SYS_mmap, "mmap ENOMEM", ENOMEM, 0}, {SYS_mremap, "mremap ENOMEM", ENOMEM, 0},
    {SYS_mprotect, "mprotect ENOMEM", ENOMEM, 0}, {SYS_madvise, "madvise EINVAL", EINVAL, 0},
    {SYS_clone3, "clone3 EAGAIN", EAGAIN, 0}, {SYS_getrandom, "getrandom EINTR", EINTR, 0},
    {SYS_sysinfo, "sysinfo EINVAL", EINVAL, 0}, {SYS_sched_getaffinity, "sched_getaffinity EINVAL", EINVAL, 0},
    {SYS_rt_sigaction, "rt_sigaction EINVAL", EINVAL, 0}, {SYS_setpriority, "setpriority EPERM", EPERM, 0},
};
/* clang-format on */

const struct call_fault *call_fault_at(size_t index)
{
    return index < sizeof faults / sizeof *faults ? &faults[index] : NULL;
}

#define REGISTER(name) ((void *)offsetof(struct user_regs_struct, name))

/* Where a process is followed: each call of each thread at its entry, at its exit where that is wanted. */
struct tracer {
    bool begun; /* the loader has done its work: the C library asks for the stack's limit */
    size_t n;   /* calls since */
    const struct call_fault *fault;
    size_t at;
    pid_t failing; /* thread whose call is to fail on return */
    bool done;     /* nothing more to see */
    long *calls;   /* or NULL: not listed */
    size_t capacity;
};

static void list_call(struct tracer *self, long call)
{
    if (self->n == self->capacity) {
        self->capacity = self->capacity ? 2 * self->capacity : 1024;
        self->calls = realloc(self->calls, self->capacity * sizeof *self->calls);
    }
    self->calls[self->n] = call;
}

static void at_entry(struct tracer *self, pid_t thread)
{
    long call = ptrace(PTRACE_PEEKUSER, thread, REGISTER(orig_rax), NULL);
    if (!self->begun) {
        self->begun = call == SYS_prlimit64;
        return;
    }
    if (!self->fault)
        list_call(self, call);
    if (self->fault && self->n == self->at) {
        self->done = true;
        if (call == self->fault->call && self->fault->fault == FAULT_SHORT) {
            unsigned long n = (unsigned long)ptrace(PTRACE_PEEKUSER, thread, REGISTER(rdx), NULL);
            ptrace(PTRACE_POKEUSER, thread, REGISTER(rdx), (void *)(n > 1 ? n / 2 : n));
        } else if (call == self->fault->call) {
            ptrace(PTRACE_POKEUSER, thread, REGISTER(orig_rax), (void *)-1L);
            self->failing = thread;
        }
    }
    self->n++;
}

static void at_return(struct tracer *self, pid_t thread)
{
    if (self->failing != thread)
        return;
    ptrace(PTRACE_POKEUSER, thread, REGISTER(rax), (void *)(long)-self->fault->fault);
    self->failing = 0;
}

/* Follows the process and its threads to its end. */
static struct outcome follow(struct tracer *self, pid_t process)
{
    struct outcome outcome = {0};
    struct rusage usage;
    double start = now_s();
    int status;
    waitpid(process, &status, 0);
    ptrace(PTRACE_SETOPTIONS, process, NULL,
           (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_EXITKILL));
    ptrace(PTRACE_SYSCALL, process, NULL, NULL);
    for (;;) {
        pid_t thread = wait4(-1, &status, __WALL | WNOHANG, &usage);
        if (thread == 0) {
            if (now_s() - start > HANG_S && !outcome.hung) {
                kill(process, SIGKILL);
                outcome.hung = true;
            }
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
            continue;
        }
        if (thread < 0)
            break;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread == process) {
                outcome.status = status;
                outcome.peak_kb = usage.ru_maxrss;
            }
            continue;
        }
        int signal = WSTOPSIG(status);
        if (signal == (SIGTRAP | 0x80)) {
            struct __ptrace_syscall_info info;
            ptrace(PTRACE_GET_SYSCALL_INFO, thread, (void *)sizeof info, &info);
            if (info.op == PTRACE_SYSCALL_INFO_ENTRY && !self->done)
                at_entry(self, thread);
            else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
                at_return(self, thread);
            signal = 0;
        } else if (signal == SIGTRAP || signal == SIGSTOP) {
            signal = 0; /* execv, clone, a thread's begin */
        }
        ptrace(self->done && !self->failing ? PTRACE_CONT : PTRACE_SYSCALL, thread, NULL, (void *)(long)signal);
    }
    outcome.seconds = now_s() - start;
    return outcome;
}

long *list_calls(size_t *n, const struct command *command)
{
    struct tracer self = {0};
    follow(&self, command_start(command, NULL, NULL, true));
    *n = self.n;
    return self.calls;
}

struct outcome run_with_fault(const struct command *command, size_t at, const struct call_fault *fault)
{
    struct tracer self = {.fault = fault, .at = at};
    return follow(&self, command_start(command, NULL, NULL, true));
}
#else
const struct call_fault *call_fault_at(size_t index)
{
    (void)index;
    return NULL;
}

long *list_calls(size_t *n, const struct command *command)
{
    (void)command;
    *n = 0;
    return NULL;
}

struct outcome run_with_fault(const struct command *command, size_t at, const struct call_fault *fault)
{
    (void)at, (void)fault;
    return command_wait(command_start(command, NULL, NULL, false), 0);
}
#endif
