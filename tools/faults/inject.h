/* Failing one system call of a process, by ptrace; x86-64 alone. */
#ifndef FAULTS_INJECT_H
#define FAULTS_INJECT_H

#include "trial.h"

/* What is made of a call: an errno, or SHORT (half of the bytes), or NOTHING (0 bytes: the end of the file). */
enum { FAULT_SHORT = -1, FAULT_NOTHING = -2 };

struct call_fault {
    long call;        /* its number */
    const char *name; /* "read EINTR" */
    int fault;
    bool excused; /* what stays behind is its own doing */
};
/* The faults of system calls, one after the other; a call of 0-based `index`; NULL past the end. */
const struct call_fault *call_fault_at(size_t index);

/* Runs the command and lists its system calls from when its own code begins: *n of them, free() them. */
long *list_calls(size_t *n, const struct command *command);

/* Runs the command with the at-th of these calls (0-based) failing. */
struct outcome run_with_fault(const struct command *command, size_t at, const struct call_fault *fault);

#endif
