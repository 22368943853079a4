/* The commands of `cleave`: one table, one entry and one cmd_<name>.c each.
 *
 * This folder is what the commands share. Read first: this header, then options.h (what all of them take, and how options
 * are parsed and printed as help) and outputs.h (what they may replace). inputs.c lists
 * the images asked for, recipe_options.c checks the options of features; console.c shows notes and progress, signals.c
 * hears Ctrl-C. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>

#include "cleave/status.h"

/* Runs with argv[0] = "cleave <name>"; results go to stdout, notes and progress through console.h. A failure comes back
 * as status and message for main to print: the exit code is the status's. Usage errors that argp finds end the process
 * there. */
typedef enum clv_status command_run(int argc, char **argv, struct clv_error *err);

command_run cmd_synth, cmd_train, cmd_segment, cmd_marginals, cmd_score, cmd_features, cmd_annotate, cmd_inspect,
    cmd_label, cmd_import;

struct command {
    const char *name, *summary;
    command_run *run;
    bool is_shared; /* processes that mpirun starts do it together (base/team.h) */
};

extern const struct command commands[]; /* ends with a NULL name */

const struct command *command_find(const char *name); /* or NULL */

#endif
