/* The commands of `cleave`: one table, one entry and one cmd_<name>.c each.
 *
 * This folder is what the commands share. Read first: this header, then options.c (what all of them take, and how
 * options are parsed and printed as help) and outputs.c (what they may replace). inputs.c lists
 * the images asked for, recipe_options.c checks the options of features; console.c shows notes and progress, signals.c
 * hears Ctrl-C. */
#ifndef CLI_COMMON_COMMON_H
#define CLI_COMMON_COMMON_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "base/base.h"
#include "base/options.h"
#include "batch/inputs.h"
#include "cleave/boxes.h"
#include "cleave/data.h"
#include "cleave/features.h"
#include "cleave/image.h"
#include "cleave/model.h"
#include "cleave/options.h"
#include "cleave/status.h"
#include "cleave/train.h"
#include "cluster/shard.h"
#include "data/outputs.h"

/* Runs with argv[0] = "cleave <name>"; results go to stdout, notes and progress through console.c. A failure comes back
 * as status and message for main to print: the exit code is the status's. Usage errors that argp finds end the process
 * there. */
typedef enum clv_status command_run(int argc, char **argv, struct clv_error *err);

command_run cmd_train, cmd_segment, cmd_probabilities, cmd_propagate, cmd_score, cmd_features, cmd_tag, cmd_inspect,
    cmd_label, cmd_import;

struct command {
    const char *name, *summary;
    command_run *run;
    bool is_shared; /* processes that mpirun starts do it together (cluster/comm.h) */
};

extern const struct command commands[]; /* ends with a NULL name */

const struct command *command_find(const char *name); /* or NULL */

/* Prints one-line notes and errors, and a progress line, on standard error, and answers on standard output. Safe from
 * any thread. */

/* Looks whether standard error is a terminal and at NO_COLOR and CLEAVE_HEARTBEAT, and puts a filter before stdout and
 * stderr: control characters of what is printed from then on, but for line ends and tabs, appear as "\x1b", so that no
 * name in a model, a table or a folder reaches the terminal as a command. Call once, before the rest. */
void console_init(void);

/* Leaves out notes and progress; warnings and errors stay. */
void console_set_quiet(bool quiet);
bool console_is_quiet(void);

/* How progress is shown: a line on a terminal, elsewhere one a minute; a line of JSON for each event, on standard
 * error whatever it is, and messages and the summary as such lines, too (cleave(1) names them); or nothing. */
enum console_progress_form { CONSOLE_BAR, CONSOLE_JSON, CONSOLE_NONE };
void console_set_progress(enum console_progress_form form);

/* Suppresses all that is printed from now on. */
void console_silence(void);

/* "cleave: SEVERITY: MESSAGE" on a line of its own, or an event of --progress json that is called as the severity. A
 * note tells what was chosen, and -q leaves it out; after a warning and after an error of one of many things the
 * command goes on. */
void console_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void console_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void console_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the error that the command ends with. */
void console_failure(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Progress for library calls: on a terminal from a stage's second second on, elsewhere a line a minute, both with the
 * time left; stops the work when a signal arrives. Its notes are console_note's; its summary goes to a stream, NULL:
 * nowhere. */
struct clv_progress console_progress(FILE *summary);

/* How much of the stage's work is done, in a unit of its own such as pixels, of how much: the time left follows from it
 * instead of from the counts that are shown. Said before each report; a total of 0, as at the beginning: it is not
 * known. */
void console_weigh(double done, double total);

/* Wipes a progress line that stands. */
void console_clear(void);

/* Puts a finished text on standard output, whose errors main looks for at the end, and releases it. */
enum clv_status console_output(struct text *text, struct clv_error *err) CLV_CHECK;

/* The options that every working command has, which ones were given, and how all of a command's are parsed and printed
 * as help. */

#define MAX_OPTIONS 192 /* of a command */

#define SECTION_IMAGES  "Images"
#define SECTION_GENERAL "General"

/* --threads, --quiet, --max-pixels and friends. */
struct common_options {
    int32_t n_threads; /* 0: all the machine's */
    struct clv_image_limits limits;
    struct outputs outputs; /* that the command claimed */
    struct path_list paths; /* of the text option that may be given several times */
    struct text canonical;  /* " --name value" of every option given that can change results, in order */
    char **arguments;       /* [n_arguments] that are not options */
    size_t n_arguments;
    const struct clv_option *given[MAX_OPTIONS]; /* [n_given], each once, in the order of the command line */
    size_t n_given;
};

void common_options_init(struct common_options *common);
void common_options_release(struct common_options *common);

/* Rows that set a struct common_options: of all commands, and of those that read images. */
extern const struct clv_option plain_option_rows[], image_option_rows[];

static inline bool options_given(const struct common_options *common, const char *name)
{
    for (size_t i = 0; i < common->n_given; i++)
        if (strcmp(common->given[i]->name, name) == 0)
            return true;
    return false;
}

/* The name of the option of a section that was given first; NULL: none was. */
static inline const char *options_first_given(const struct common_options *common, const char *section)
{
    for (size_t i = 0; i < common->n_given; i++)
        if (strcmp(common->given[i]->section, section) == 0)
            return common->given[i]->name;
    return NULL;
}

/* Refuses options about images (CLV_ERR_USAGE) beside `other`, with which none is read: `why`. */
enum clv_status common_options_check(const struct common_options *common, const char *other, const char *why,
                                     struct clv_error *err) CLV_CHECK;

/* The commands' options, from tables of struct clv_option (cleave/options.h): parsed, recorded, and printed as help. A
 * command lists its groups of rows with the structs that they set; argp is beneath, and says what is not an option. */
struct option_group {
    const struct clv_option *rows; /* end with a NULL name */
    void *base;                    /* the struct that they set */
    bool is_recorded;              /* in the canonical line, but for CLV_OPTION_UNRECORDED */
};

#define MAX_OPTION_GROUPS 16
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

/* Arguments as values of options, in the order of names[n]: each takes the next one unless it was given by name, the
 * last all that are left if it may be given again. CLV_ERR_USAGE: an argument that is one too many. */
enum clv_status options_take_arguments(const struct option_table *table, struct common_options *common,
                                       const char *const *names, size_t n, struct clv_error *err) CLV_CHECK;
/* The first argument called .tsv as the value of --data, unless that was given. */
enum clv_status options_take_manifest(const struct option_table *table, struct common_options *common,
                                      struct clv_error *err) CLV_CHECK;

/* Rules of a command's own, all of whose names are options (base/options.h). */
enum clv_status options_check(const struct common_options *common, const struct option_rule *rules,
                              struct clv_error *err) CLV_CHECK;
/* options_given for the rules of trainings; `common` is a struct common_options. */
option_is_given option_in_common;

/* Prints the options that most people need, on at most 30 lines. `command` is for example "cleave train". */
void option_help_short(FILE *stream, const char *command, const struct option_table *table,
                       const struct common_options *common);
/* Prints every option, by sections. */
void option_help_all(FILE *stream, const char *command, const struct option_table *table,
                     const struct common_options *common);
/* Prints a line per option for completion: "--pairwise=auto none potts full"; "--data=@" is a file, "--model=@.cleave"
 * one of that name; "--mirror" has no value. */
void option_help_list(FILE *stream, const struct option_table *table);

/* Named values as members of a JSON object, each with a comma before it unless it is the first. */

void json_put_key(struct text *text, const char *key);
void json_put_number(struct text *text, const char *key, double value);
void json_put_string(struct text *text, const char *key, const char *value);

struct value {
    const char *key;
    double value;
};
void json_put_values(struct text *text, const struct value *values, size_t n);

/* The options of features together, once all are parsed. */

/* Sets the blocks and bins usual for patches where no others were given, and what struct clv_train_options says of
 * given options. CLV_ERR_USAGE: one that cannot change any feature. */
enum clv_status recipe_options_finish(struct clv_train_options *task, const struct common_options *common,
                                      struct clv_error *err) CLV_CHECK;

/* SIGINT, SIGTERM and SIGHUP: the first asks the work to stop at its next safe point, the second removes unfinished
 * files and ends the process at once. SIGPIPE removes unfinished files and ends it. SIGBUS in a mapped file says which
 * file it is, and ends the process with CLV_ERR_NO_INPUT's code. */

void signals_install(void);

/* Non-zero once a signal arrived: goes into clv_progress.stop. */
const volatile int *signals_stop(void);

/* Makes the processes of a run stop together from now on, at the same place of their work, whichever of them receives a
 * signal. Call before signals_stop. */
void signals_share(void);

/* Makes SIGTERM and SIGUSR1, by which a cluster announces the end of a job, ask for a restart from now on: the exit
 * code is then SIGNALS_REQUEUE. A second one of them, as Slurm sends, does not end the process at once. */
#define SIGNALS_REQUEUE 75
void signals_requeue(void);

/* The work is complete all the same: there is nothing to be started again for. Other signals' codes stay. */
void signals_complete(void);

/* 128 + the signal's number (129, 130, 143), SIGNALS_REQUEUE, or 0 if none arrived. */
int signals_exit_code(void);

#endif
