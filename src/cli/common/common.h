/* The commands of `cleave`: each has one row of the table in commands.c and one cmd_<name>.c.
 *
 * This folder has the code that commands share. Read first: this header, then options.c (common options, and how all
 * options are parsed); option_help.c prints them as help. recipe_options.c checks the options of features; console.c
 * shows messages and progress, signals.c handles Ctrl-C. Inputs are listed by batch/inputs.c, outputs are protected by
 * data/outputs.c. */
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

/* Runs a command with argv[0] = "cleave <name>"; results go to stdout, messages and progress through console.c. Returns
 * a failure as status and message; main prints it and exits with the status's code. Usage errors that argp finds end
 * the process directly. */
typedef enum clv_status command_run(int argc, char **argv, struct clv_error *err);

command_run cmd_train, cmd_segment, cmd_probabilities, cmd_propagate, cmd_score, cmd_features, cmd_tag, cmd_inspect,
    cmd_label, cmd_import;

struct command {
    const char *name, *summary;
    command_run *run;
    bool is_shared; /* the processes of mpirun share the work (cluster/comm.h) */
};

extern const struct command commands[]; /* ends with a NULL name */

const struct command *command_find(const char *name); /* or NULL */

/* The console prints one-line messages and a progress line on standard error, and results on standard output. Safe from
 * any thread. */

/* Detects a terminal, reads NO_COLOR and CLEAVE_HEARTBEAT, and filters stdout and stderr: control characters, except
 * line ends and tabs, are printed as text such as "\x1b", so that names in models, tables and folders cannot send
 * commands to the terminal. Call once, before the other functions. */
void console_init(void);

/* Suppresses notes and progress; warnings and errors are still printed. */
void console_set_quiet(bool quiet);
bool console_is_quiet(void);

/* How progress is shown. BAR: a progress line on a terminal, elsewhere one line per minute. JSON: one line of JSON per
 * event on standard error, a terminal or not, with messages and the summary as events, too (see cleave(1)). NONE: no
 * progress. */
enum console_progress_form { CONSOLE_BAR, CONSOLE_JSON, CONSOLE_NONE };
void console_set_progress(enum console_progress_form form);

/* Suppresses all output from now on. */
void console_silence(void);

/* Print "cleave: SEVERITY: MESSAGE" as a line or, with --progress json, an event named by the severity. A note tells
 * what was chosen, and -q suppresses it. The command continues after a warning, and after an error of one of many
 * inputs. */
void console_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void console_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void console_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the error that the command ends with. */
void console_failure(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns callbacks for library calls: they show progress (on a terminal from one second after a stage begins,
 * elsewhere one line per minute) with the time left, and print messages; signals stop the work. The summary is printed
 * to a stream (NULL: not printed). */
struct clv_progress console_progress(FILE *summary);

/* Sets the finished and the total work of the stage in another unit, such as pixels. The time left is then computed
 * from them instead of from the displayed counts. Call before each report; total 0 (initially): not known. */
void console_weigh(double done, double total);

/* Erases the progress line, if any. */
void console_clear(void);

/* Writes a finished text to standard output, whose errors main checks at the end, and releases it. */
enum clv_status console_output(struct text *text, struct clv_error *err) CLV_CHECK;

/* The options of all commands, which of them were given, and how a command's options are parsed and printed as help. */

#define MAX_OPTIONS   192               /* in a command */
#define CANONICAL_MAX ((size_t)1 << 24) /* bytes of `canonical`: all that Linux passes to a program, quoted */

#define SECTION_IMAGES  "Images"
#define SECTION_GENERAL "General"

/* --threads, --quiet, --max-pixels and friends. */
struct common_options {
    int32_t n_threads; /* 0: one per processor */
    struct clv_image_limits limits;
    struct outputs outputs; /* claimed by the command */
    struct path_list paths; /* values of the text option that may be given several times */
    struct text canonical;  /* " --name value" of every given option that can change results, in order */
    char **arguments;       /* [n_arguments] not options */
    size_t n_arguments;
    const struct clv_option *given[MAX_OPTIONS]; /* [n_given] each once, in the order of the command line */
    size_t n_given;
};

void common_options_init(struct common_options *common);
void common_options_release(struct common_options *common);

/* Rows that set members of struct common_options: options of all commands, and options of commands that read images. */
extern const struct clv_option plain_option_rows[], image_option_rows[];

static inline bool options_given(const struct common_options *common, const char *name)
{
    for (size_t i = 0; i < common->n_given; i++)
        if (strcmp(common->given[i]->name, name) == 0)
            return true;
    return false;
}

/* Returns the name of the first given option of a section, or NULL. */
static inline const char *options_first_given(const struct common_options *common, const char *section)
{
    for (size_t i = 0; i < common->n_given; i++)
        if (strcmp(common->given[i]->section, section) == 0)
            return common->given[i]->name;
    return NULL;
}

/* Fails with CLV_ERR_USAGE if options about images are given together with `other`, with which no image is read; `why`
 * is the reason in the message. */
enum clv_status common_options_check(const struct common_options *common, const char *other, const char *why,
                                     struct clv_error *err) CLV_CHECK;

/* The commands' options, from tables of struct clv_option (cleave/options.h): parsed, recorded, and printed as help. A
 * command lists its groups of rows with the structs that they set; argp does the parsing, and reports unknown
 * options. */
struct option_group {
    const struct clv_option *rows; /* ends with a NULL name */
    void *base;                    /* the struct that they set */
    bool is_recorded;              /* in `canonical`, except CLV_OPTION_UNRECORDED */
};

#define MAX_OPTION_GROUPS 16
struct option_table {
    const char *usage;                             /* after the command's name: "--data PATH [OPTION...]" */
    const char *summary;                           /* one line */
    const char *examples[2];                       /* after "cleave " */
    const char *notes;                             /* last lines of `--help all`, or NULL */
    struct option_group groups[MAX_OPTION_GROUPS]; /* ends with NULL rows */
};

/* Parses a command line into the structs and *common. --help, --usage, --version and unknown options end the process; a
 * bad value is a status. */
enum clv_status options_parse(const struct option_table *table, int argc, char **argv, struct common_options *common,
                              struct clv_error *err) CLV_CHECK;

/* Assigns arguments to options, in the order of names[n]: each option takes the next argument unless it was given by
 * name; the last one takes all remaining arguments if it may be given several times. CLV_ERR_USAGE: too many
 * arguments. */
enum clv_status options_take_arguments(const struct option_table *table, struct common_options *common,
                                       const char *const *names, size_t n, struct clv_error *err) CLV_CHECK;
/* Takes the first argument that ends with .tsv as the value of --data, unless that was given. */
enum clv_status options_take_manifest(const struct option_table *table, struct common_options *common,
                                      struct clv_error *err) CLV_CHECK;

/* Checks the rules of a command, in which all names are options (base/options.h). */
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

/* These append members of a JSON object, each with a comma before it unless it is the first. */

void json_put_key(struct text *text, const char *key);
void json_put_number(struct text *text, const char *key, double value);
void json_put_string(struct text *text, const char *key, const char *value);

struct value {
    const char *key;
    double value;
};
void json_put_values(struct text *text, const struct value *values, size_t n);

/* Completes the options of features after parsing: sets the defaults of patches and of a fixed scale unless others were
 * given, recipe_given and no_maps. CLV_ERR_USAGE: an option that cannot change any feature. */
enum clv_status recipe_options_finish(struct clv_train_options *task, const struct common_options *common,
                                      struct clv_error *err) CLV_CHECK;

/* SIGINT, SIGTERM and SIGHUP: the first asks the work to stop at its next safe point, the second removes unfinished
 * files and ends the process at once. SIGPIPE removes unfinished files and ends it. SIGBUS in a mapped file names the
 * file and ends the process with the exit code of CLV_ERR_NO_INPUT. */

void signals_install(void);

/* Becomes non-zero when a signal arrives; for clv_progress.stop. */
const volatile int *signals_stop(void);

/* From now on, all processes of a run stop together, at the same point of their work, when any of them receives a
 * signal. Call before signals_stop. */
void signals_share(void);

/* From now on SIGTERM and SIGUSR1, by which a cluster announces the end of a job, request a restart: the exit code is
 * then SIGNALS_REQUEUE. A second such signal, which Slurm sends, does not end the process at once. */
#define SIGNALS_REQUEUE 75
void signals_requeue(void);

/* The work was completed despite a signal, so no restart is requested. The exit codes of other signals are
 * unchanged. */
void signals_complete(void);

/* Returns 128 + the signal's number (129, 130, 143), SIGNALS_REQUEUE, or 0 if no signal arrived. */
int signals_exit_code(void);

#endif
