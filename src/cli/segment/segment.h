/* `cleave segment`, `cleave probabilities` and `cleave propagate`: three command lines for one call, clv_segment_files
 * (src/batch). Each has a table of options for a struct segment and a function that checks them; segment_command
 * (segment_run.c) runs the command and prints JSON and the summary. */
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
    struct text lines; /* JSON: an object for each input */
};

/* Copies arguments and common options to self->files, after parsing. CLV_ERR_USAGE: options that exclude each other, if
 * the library cannot detect that both were given. */
enum clv_status segment_take_arguments(struct segment *self, struct clv_error *err) CLV_CHECK;

/* A command's check: fails for options that exclude each other, and completes self->files. */
typedef enum clv_status segment_check(struct segment *self, struct clv_error *err);

/* Runs a command: sets defaults, parses and checks the options, segments and prints. */
enum clv_status segment_command(struct segment *self, const struct option_table *table, segment_check *check, int argc,
                                char **argv, struct clv_error *err) CLV_CHECK;

#endif
