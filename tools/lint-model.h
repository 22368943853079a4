/* What the analyser cannot know from a file of its own: failing never comes out as CLV_OK. Included before each file
 * that tools/lint checks, but for base/error.c itself; no part of a build. */
#include "base/base.h"

#define fail(err, status, ...)        (fail(err, status, __VA_ARGS__), (status))
#define fail_errno(err, status, ...)  (fail_errno(err, status, __VA_ARGS__), (status))
#define fail_memory(err)              (fail_memory(err), CLV_ERR_MEMORY)
#define fail_within(err, status, ...) (fail_within(err, status, __VA_ARGS__), (status))
#define fail_about(err, status, ...)  (fail_about(err, status, __VA_ARGS__), (status))
#define fail_as(err, status, ...)     (fail_as(err, status, __VA_ARGS__), (status))
#define fail_adding(err, status, ...) (fail_adding(err, status, __VA_ARGS__), (status))
#define fail_told(err, status, ...)   (fail_told(err, status, __VA_ARGS__), (status))
