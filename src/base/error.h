/* This folder is what every other one stands on. Read first: error.h (how a failure is reported), array.h (memory),
 * file.h (files are read whole, and written all or nothing). Then what the task takes: parallel.c runs loops on
 * threads, rng.c draws numbers by seed and place, maths.c has exp and log with the same bits everywhere, machine.h
 * makes kernels for several vector widths, text.c, lines.c and json.c write and read text, memory.c and control_group.c
 * know how much memory and how many processors there are.
 *
 * Filling a struct clv_error: */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "cleave/status.h"

/* Records status and message and returns status, so that callers write `return fail(err, CLV_ERR_DATA, "...")`. */
enum clv_status fail(struct clv_error *err, enum clv_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* CLV_ERR_DATA of a fault that has a remedy. */
enum clv_status fail_fault(struct clv_error *err, enum clv_fault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As fail, with errno's text appended: "m.cleave: cannot open: No such file or directory". */
enum clv_status fail_errno(struct clv_error *err, enum clv_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "out of memory"; the one message for a failed allocation. */
enum clv_status fail_memory(struct clv_error *err);

/* Puts "prefix: " before the message of an error that already happened (a file's name before a parser's complaint). */
enum clv_status fail_within(struct clv_error *err, enum clv_status status, const char *prefix);

/* The next step, unless one before it failed: `status` is a variable of the function that calls. Steps follow each other
 * like this up to what is released whatever the status. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        if (status == CLV_OK)                                                                                          \
            status = (call);                                                                                           \
    } while (0)

/* The same for a step that is only taken if something holds, or a failure that follows from it. */
#define TRY_IF(condition, call)                                                                                        \
    do {                                                                                                               \
        if (status == CLV_OK && (condition))                                                                           \
            status = (call);                                                                                           \
    } while (0)

/* A step of a function that has nothing to release: where it fails, the function returns its status. */
#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        enum clv_status must_status = (call);                                                                          \
        if (must_status != CLV_OK)                                                                                     \
            return must_status;                                                                                        \
    } while (0)

/* Whether the caller asked to stop. */
int stop_requested(const struct clv_progress *progress);

/* Reports progress if anybody listens. */
void report_progress(const struct clv_progress *progress, const char *what, size_t done, size_t total,
                     const char *note);

/* Says something in words if anybody listens. */
void report_message(const struct clv_progress *progress, enum clv_message kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "PATH: 1 ONE: FIRST", "PATH: 7 MANY, the first is FIRST", a note; none of 0. path and first may be NULL. */
void report_count(const struct clv_progress *progress, const char *path, size_t n, const char *one, const char *many,
                  const char *first);

#endif
