/* Arrays that grow on disk while their final size is not known yet: nameless files that vanish with the process. */
#ifndef FEATURE_SPOOL_H
#define FEATURE_SPOOL_H

#include <stdint.h>
#include <stdio.h>

#include "cleave/status.h"

struct spool {
    FILE *stream;  /* NULL: closed */
    uint64_t size; /* bytes appended */
};

/* Opens a nameless file in the folder that `target` will be written to, on whose disk it has to fit anyway, or where
 * temporary files go when the target is no regular file or its disk cannot hold nameless ones. */
enum clv_status spool_open(struct spool *spool, const char *target, struct clv_error *err) CLV_CHECK;
void spool_close(struct spool *spool);

enum clv_status spool_append(struct spool *spool, const void *bytes, size_t size, const char *target,
                             struct clv_error *err) CLV_CHECK;

/* Copies everything to the end of `stream`, whose own errors its owner sees. */
enum clv_status spool_copy(FILE *stream, struct spool *spool, const char *target, struct clv_error *err) CLV_CHECK;

#endif
