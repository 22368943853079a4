/* Records failures in the caller's struct clv_error (fail and its variants), and passes progress and messages to the
 * caller's callbacks. Start at record. */
#include "base/base.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int exit_code;
} statuses[] = {
    [CLV_OK] = {"ok", 0},
    [CLV_ERR_USAGE] = {"usage", 64},
    [CLV_ERR_DATA] = {"bad data", 65},
    [CLV_ERR_NO_INPUT] = {"no input", 66},
    [CLV_ERR_INTERNAL] = {"internal error", 70},
    [CLV_ERR_MEMORY] = {"out of memory", 71},
    [CLV_ERR_OS] = {"operating system error", 71},
    [CLV_ERR_CREATE] = {"cannot create output", 73},
    [CLV_ERR_IO] = {"output error", 74},
    [CLV_ERR_INTERRUPTED] = {"interrupted", 130},
};

static int known(enum clv_status status)
{
    return (size_t)status < sizeof statuses / sizeof *statuses;
}

const char *clv_status_name(enum clv_status status)
{
    return known(status) ? statuses[status].name : "unknown status";
}

int clv_status_exit_code(enum clv_status status)
{
    return known(status) ? statuses[status].exit_code : 70;
}

/* Returns the length of the path with which a message of this format begins. Leaves args as it is. */
static size_t path_length_of(const char *format, va_list args)
{
    va_list copy;
    if (strncmp(format, "%s:", 3) != 0)
        return 0;
    va_copy(copy, args);
    const char *path = va_arg(copy, const char *);
    va_end(copy);
    return path ? smaller_size(strlen(path), CLV_ERROR_MESSAGE_MAX - 1) : 0;
}

static void record(struct clv_error *err, enum clv_status status, int os_errno, const char *format, va_list args)
{
    if (!err)
        return;
    err->status = status;
    err->fault = CLV_FAULT_OTHER;
    err->os_errno = os_errno;
    err->kind = format;
    err->path_length = path_length_of(format, args); /* before the arguments are consumed */
    point_vsnprintf(err->message, sizeof err->message, format, args);
    if (os_errno) {
        size_t used = strlen(err->message);
        char text[128];
        const char *reason = strerror_r(os_errno, text, sizeof text);
        snprintf(err->message + used, sizeof err->message - used, ": %s", reason);
    }
    text_hide_controls(err->message); /* file names may contain line ends and control characters */
}

enum clv_status fail(struct clv_error *err, enum clv_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record(err, status, 0, format, args);
    va_end(args);
    return status;
}

enum clv_status fail_fault(struct clv_error *err, enum clv_fault fault, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record(err, CLV_ERR_DATA, 0, format, args);
    va_end(args);
    if (err)
        err->fault = fault;
    return CLV_ERR_DATA;
}

enum clv_status fail_errno(struct clv_error *err, enum clv_status status, const char *format, ...)
{
    int saved = errno;
    va_list args;
    va_start(args, format);
    record(err, status, saved, format, args);
    va_end(args);
    return status;
}

enum clv_status fail_memory(struct clv_error *err)
{
    return fail(err, CLV_ERR_MEMORY, "out of memory");
}

enum clv_status fail_about(struct clv_error *err, enum clv_status status, const char *what)
{
    if (err) {
        char message[CLV_ERROR_MESSAGE_MAX];
        int used = snprintf(message, sizeof message, "%s: ", what);
        if (used > 0 && (size_t)used < sizeof message)
            snprintf(message + used, sizeof message - (size_t)used, "%.*s", (int)(sizeof message - (size_t)used - 1),
                     err->message);
        memcpy(err->message, message, sizeof message);
        err->path_length = 0;
    }
    return status;
}

enum clv_status fail_within(struct clv_error *err, enum clv_status status, const char *path)
{
    if (err && path) {
        fail_about(err, status, path);
        err->path_length = smaller_size(strlen(path), sizeof err->message - 1);
    }
    return status;
}

enum clv_status fail_as(struct clv_error *err, enum clv_status status, const struct clv_error *why)
{
    if (err) {
        if (err != why)
            *err = *why;
        err->status = status;
    }
    return status;
}

enum clv_status fail_adding(struct clv_error *err, enum clv_status status, const struct clv_error *why,
                            const char *format, ...)
{
    fail_as(err, status, why);
    if (err) {
        size_t used = strlen(err->message);
        va_list args;
        va_start(args, format);
        point_vsnprintf(err->message + used, sizeof err->message - used, format, args);
        va_end(args);
        text_hide_controls(err->message + used);
    }
    return status;
}

enum clv_status fail_told(struct clv_error *err, enum clv_status status, const char *message, size_t path_length,
                          const char *kind)
{
    fail(err, status, "%s", message);
    if (err) {
        err->path_length = smaller_size(path_length, strlen(err->message));
        err->kind = kind;
    }
    return status;
}

/* A kind is the address of a format. Its distance from another address is equal in all processes of the program,
 * wherever this is loaded. */
int64_t error_kind_number(const char *kind)
{
    return kind ? (int64_t)((uintptr_t)kind - (uintptr_t)statuses) : 0;
}

const char *error_kind(int64_t number)
{
    return number ? (const char *)((uintptr_t)statuses + (uintptr_t)number) : NULL;
}

int stop_requested(const struct clv_progress *progress)
{
    return progress && progress->stop && __atomic_load_n(progress->stop, __ATOMIC_RELAXED);
}

void report_progress(const struct clv_progress *progress, const char *what, size_t done, size_t total, const char *note)
{
    if (progress && progress->report)
        progress->report(progress->context, what, done, total, note);
}

void progress_weigh(const struct clv_progress *progress, double done, double total)
{
    if (progress && progress->weigh)
        progress->weigh(progress->context, done, total);
}

void report_message(const struct clv_progress *progress, enum clv_message kind, const char *format, ...)
{
    char text[CLV_ERROR_MESSAGE_MAX + 256];
    va_list args;
    if (!progress || !progress->notify)
        return;
    va_start(args, format);
    point_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    progress->notify(progress->context, kind, text);
}

void report_count(const struct clv_progress *progress, const char *path, size_t n, const char *one, const char *many,
                  const char *first)
{
    if (n)
        report_message(progress, CLV_NOTE, "%s%s%s%s%s", path ? path : "", path ? ": " : "", n_of(n, one, many).text,
                       !first   ? ""
                       : n == 1 ? ": "
                                : ", the first is ",
                       first ? first : "");
}
