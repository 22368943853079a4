/* Tells the analyser what it cannot find in a single file: failing never returns CLV_OK. tools/lint includes it before
 * each file that it checks, except base/error.c; it is not part of a build. */
#include "base/base.h"

#define fail(err, status, ...)        (fail(err, status, __VA_ARGS__), (status))
#define fail_errno(err, status, ...)  (fail_errno(err, status, __VA_ARGS__), (status))
#define fail_memory(err)              (fail_memory(err), CLV_ERR_MEMORY)
#define fail_within(err, status, ...) (fail_within(err, status, __VA_ARGS__), (status))
#define fail_about(err, status, ...)  (fail_about(err, status, __VA_ARGS__), (status))
#define fail_as(err, status, ...)     (fail_as(err, status, __VA_ARGS__), (status))
#define fail_adding(err, status, ...) (fail_adding(err, status, __VA_ARGS__), (status))
#define fail_told(err, status, ...)   (fail_told(err, status, __VA_ARGS__), (status))
