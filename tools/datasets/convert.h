/* Shared by the converters: errors that end the program, tables that are written all or nothing. */
#ifndef CONVERT_H
#define CONVERT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

/* "NAME: MESSAGE" on standard error, and the end, without unfinished tables. */
static inline void give_up(const char *name, enum clv_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));
static inline void give_up(const char *name, enum clv_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    file_remove_temporaries();
    _exit(clv_status_exit_code(status)); /* at once: what is still allocated goes with the process */
}

static inline void check(const char *name, enum clv_status status, const struct clv_error *err)
{
    if (status)
        give_up(name, status, "%s", err->message);
}

/* FOLDER/NAME as a file to be written and its first line. */
static inline struct file_writer table_create(const char *program, const char *folder, const char *name,
                                              const char *header)
{
    struct file_writer writer;
    struct clv_error err;
    char *path = path_join(folder, name);
    if (!path)
        give_up(program, CLV_ERR_MEMORY, "out of memory");
    check(program, file_create(&writer, path, &err), &err);
    fprintf(writer.stream, "%s\n", header);
    array_free(path);
    return writer;
}

static inline void table_commit(const char *program, struct file_writer *writer)
{
    struct clv_error err;
    check(program, file_commit(writer, &err), &err);
}

#endif
