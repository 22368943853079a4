/* `cleave segment`, `cleave probabilities` and `cleave propagate`: three command lines for one call, clv_segment_files
 * (src/batch). Each parses its options into a struct segment and ends in segment_run (segment_run.c), which adds what a
 * command prints: JSON, and the summary. */
#ifndef CLI_SEGMENT_SEGMENT_H
#define CLI_SEGMENT_SEGMENT_H

#include <stdbool.h>
#include <stdio.h>

#include "batch/files_options.h"
#include "cleave/files.h"
#include "cli/common/common.h"

struct segment {
    struct common_options *common;
    struct clv_files_options files;
    bool json;
    struct text lines; /* of JSON: an object for each input */
};

/* After parsing: arguments and common options become members of self->files. CLV_ERR_USAGE: options that exclude each
 * other, where the library cannot see that they were given. */
enum clv_status segment_take_arguments(struct segment *self, struct clv_error *err) CLV_CHECK;

/* The whole run. */
enum clv_status segment_run(struct segment *self, struct clv_error *err) CLV_CHECK;

#endif
