/* The commands' options, from tables of struct clv_option (cleave/segment.h): parsed, recorded, and printed as help. A
 * command lists its groups of rows with the structs that they set; argp is beneath, and says what is no option. */
#ifndef CLI_OPTION_TABLE_H
#define CLI_OPTION_TABLE_H

#include <stdio.h>

#include "cleave/segment.h"
#include "cli/common/options.h"

struct option_group {
    const struct clv_option *rows; /* end with a NULL name */
    void *base;                    /* the struct that they set */
    bool is_recorded;              /* in the canonical line, but for CLV_OPTION_UNRECORDED */
};

#define MAX_OPTION_GROUPS 8
struct option_table {
    const char *usage;                             /* what follows the command's name: "--data PATH [OPTION...]" */
    const char *summary;                           /* one line */
    const char *examples[2];                       /* what follows "cleave " */
    const char *notes;                             /* what `--help all` ends with, or NULL */
    struct option_group groups[MAX_OPTION_GROUPS]; /* end with NULL rows */
};

/* Parses a command line into the structs and *common. --help, --usage, --version and unknown options end the process; a
 * bad value is a status. */
enum clv_status options_parse(const struct option_table *table, int argc, char **argv, struct common_options *common,
                              struct clv_error *err) CLV_CHECK;

/* What two options have to do with each other; the first that is broken is CLV_ERR_USAGE. */
struct option_rule {
    const char *option;
    enum {
        RULE_NEEDS,    /* "--option: --other is missing: why" */
        RULE_EXCLUDES, /* "--option: why" */
        RULE_IDLE,     /* "--option has no effect: why" */
    } relation;        /* with the other */
    const char *other, *why;
};
/* rules[n], in this order. */
enum clv_status options_check(const struct common_options *common, const struct option_rule *rules, size_t n,
                              struct clv_error *err) CLV_CHECK;

/* --- option_help.c --- */

/* At most 30 lines: what most people need. `command` is "cleave train". */
void option_help_short(FILE *stream, const char *command, const struct option_table *table,
                       const struct common_options *common);
/* Every option, by sections. */
void option_help_all(FILE *stream, const char *command, const struct option_table *table,
                     const struct common_options *common);
/* For completion, a line for each: "--pairwise=auto none potts full"; "--data=@" is a file; "--mirror" has no value. */
void option_help_list(FILE *stream, const struct option_table *table);

#endif
