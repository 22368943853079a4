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
#include "cleave/boxes.h"
#include "cleave/data.h"
#include "cleave/features.h"
#include "cleave/image.h"
#include "cleave/model.h"
#include "cleave/options.h"
#include "cleave/status.h"
#include "cleave/train.h"
#include "cluster/shard.h"

/* Runs with argv[0] = "cleave <name>"; results go to stdout, notes and progress through console.c. A failure comes back
 * as status and message for main to print: the exit code is the status's. Usage errors that argp finds end the process
 * there. */
typedef enum clv_status command_run(int argc, char **argv, struct clv_error *err);

command_run cmd_synth, cmd_train, cmd_segment, cmd_probabilities, cmd_propagate, cmd_score, cmd_features, cmd_tag,
    cmd_inspect, cmd_label, cmd_import;

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

/* Prints a name as a field of a table: tabs, line ends and backslashes as "\t", "\n", "\r", "\\", other control
 * characters as "\x1b". */
void console_put_field(FILE *stream, const char *string);

/* Leaves out notes and progress; warnings and errors stay. */
void console_set_quiet(bool quiet);
bool console_is_quiet(void);

/* How progress is shown: a line on a terminal, elsewhere one a minute; a line of JSON for each event, on standard
 * error whatever it is, and messages and the summary as such lines, too (cleave(1) names them); or nothing. */
enum console_progress_form { CONSOLE_BAR, CONSOLE_JSON, CONSOLE_NONE };
void console_set_progress(enum console_progress_form form);

/* Nothing that is printed from now on appears. */
void console_silence(void);

/* "cleave: SEVERITY: MESSAGE" on a line of its own, or an event of --progress json that is called as the severity. A
 * note tells what was chosen, and -q leaves it out; after a warning and after an error of one of many things the command
 * goes on. */
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

/* Which images a command works on, and under which name each one's output goes: files, folders, a list on standard
 * input, a set, the items of a feature file. */

struct input {
    char *name;                          /* in notes: the path as given, or the set's spelling */
    char *image;                         /* path that opens; NULL for an item of a feature file */
    char *mask;                          /* the truth, or NULL */
    char *instances;                     /* its objects, or NULL */
    bool is_derived;                     /* the truth is `instances` */
    char *maps[CLV_MAX_MAPS];            /* by the list's map_names: paths, or NULL */
    char *output;                        /* path_output of a relative path: "a/b" for photos/a/b.jpg .. */
    char *file;                          /* .. that path, "a/b.jpg"; NULL: the output is not a file's */
    bool is_path;                        /* given as a path, not by a set or a feature file */
    const struct clv_image_boxes *boxes; /* with --boxes: of the image, borrowed .. */
    uint8_t *bytes;                      /* [size] of an image from standard input; NULL: it is read from its path */
    size_t size;
    bool is_tiled;      /* larger than --max-pixels, and a raster that is segmented tile by tile */
    const char *object; /* .. of which those that name this mask are meant; NULL: those that name none */
};

struct input_list {
    struct input *items;
    size_t n, capacity;
    char map_names[CLV_MAX_MAPS][CLV_MAX_MAP_NAME + 1]; /* of the last set added */
    size_t n_maps;
    size_t n_skipped;    /* files in folders that are no images */
    char *first_skipped; /* the first of them, or NULL */
    size_t n_own;    /* masks of a folder's images, and images of its own (set_is_own) or of runs, which are left out */
    char *first_own; /* the first of them, or NULL */
    const char *skip_below; /* a real path: files below it are left out of folders around it */
};
void input_list_release(struct input_list *list);
void input_release(struct input *item);

/* Copies everything; mask may be NULL, output has no extension. */
enum clv_status inputs_add_object(struct input_list *list, const char *name, const char *image, const char *mask,
                                  const char *output, struct clv_error *err) CLV_CHECK;

/* Leaves n inputs from `first` on. */
void inputs_cut(struct input_list *list, size_t first, size_t n);

/* Shortens `common`, a length of a's beginning that ends behind a slash, to what b shares. */
size_t path_shared_folder(const char *a, size_t common, const char *b);

/* A file is one input, whatever is in it (opening it reports that); its output is its stem. A folder adds every image
 * below it in order of their paths, its subfolders kept: what has an image's first bytes or an image's extension, and
 * is no mask of another (set_take_masks). */
enum clv_status inputs_add_path(struct input_list *list, const char *path, struct clv_error *err) CLV_CHECK;

/* The image of standard input, called "standard input" in notes; at most max_size bytes. */
enum clv_status inputs_add_standard(struct input_list *list, size_t max_size, struct clv_error *err) CLV_CHECK;

/* The image of an input. */
enum clv_status input_read_image(struct clv_image *image, const struct input *item,
                                 const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* The truth of an input, which has one; as clv_mask_read. */
enum clv_status input_read_mask(struct clv_mask *mask, const struct input *item, const struct clv_labels *labels,
                                int32_t expected_width, int32_t expected_height, const struct clv_image_limits *limits,
                                struct clv_error *err) CLV_CHECK;

/* Paths read from a stream, ended by `separator`; empty ones are ignored. */
enum clv_status inputs_add_stream(struct input_list *list, FILE *stream, char separator,
                                  struct clv_error *err) CLV_CHECK;

/* Notes as what the pages of inputs given as paths were read. Where such inputs would have one output though they are
 * in different folders, all of them keep their folders below the one that they share: 100/IMG_1 and 101/IMG_1. Files of
 * one stem in one folder keep their extensions: a.jpg and a.png. */
enum clv_status inputs_name_outputs(struct input_list *list, struct clv_error *err) CLV_CHECK;

/* The length of the folder ("images/") that every item of a set is in: outputs go without it. */
size_t set_common_folder(const struct clv_set *set);

/* The items of a (selected) set; `common` is set_common_folder of the whole one, so that a split's outputs have the
 * same names whether it is worked on alone or with the others. Rows that share an image, one object each, go by their
 * masks instead, without the folder that all masks of the set share. Files of one stem keep their extensions. */
enum clv_status inputs_add_set(struct input_list *list, const struct clv_set *set, size_t common,
                               struct clv_error *err) CLV_CHECK;

/* The items of a feature file, under the same rule. */
enum clv_status inputs_add_dataset(struct input_list *list, const struct clv_dataset *dataset,
                                   struct clv_error *err) CLV_CHECK;

/* Lets images into work as long as what they are estimated to take fits into memory, in the order of their numbers. */

/* Lets parallel tasks through one at a time in the order of their numbers, so that what they report comes in input
 * order. */
struct ordered_queue {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    size_t next;
};
void ordered_queue_init(struct ordered_queue *queue);
void ordered_queue_release(struct ordered_queue *queue);

/* Waits until every task before `index` has left; then this one is alone until it leaves. Every task handed out must
 * enter and leave once. The lowest in flight never waits, so none waits for ever. */
void ordered_queue_enter(struct ordered_queue *queue, size_t index);
void ordered_queue_leave(struct ordered_queue *queue);

struct memory_gate {
    double limit, used; /* bytes */
    struct ordered_queue entrance;
    pthread_mutex_t lock;
    pthread_cond_t freed;
};

/* limit: of the whole process, 0 for half of what is free. */
void memory_gate_init(struct memory_gate *self, double limit);
void memory_gate_release(struct memory_gate *self);

/* Waits for all before `index` to have come in, and until `bytes` are free. More than there will ever be:
 * CLV_ERR_MEMORY, naming both; nothing is taken then. Every index enters once, 0 bytes if it needs none. Who is in
 * never waits for one that is not. */
enum clv_status memory_gate_enter(struct memory_gate *self, size_t index, double bytes,
                                  struct clv_error *err) CLV_CHECK;
void memory_gate_leave(struct memory_gate *self, double bytes);

/* The parts of the work on an image that take memory. */
struct memory_work {
    const struct clv_recipe *recipe; /* NULL: boxes are cut */
    int32_t n_labels;
    double map_bytes; /* that the image's maps take */
    bool is_refined, has_net, has_overlay, has_report, has_cutout, has_export;
};

/* An upper bound of the bytes that an image of that size takes, from a file of file_size bytes. */
double memory_of_work(const struct memory_work *work, int32_t width, int32_t height, double file_size);

/* One rule for everything that any command writes:
 *
 *   1. Existing files are kept, unless --overwrite is given, or the command goes on with its own work in this very
 *      place (--resume).
 *   2. An output is never one of the command's own inputs, whatever name or link leads there, --overwrite or not.
 *
 * Either ends in CLV_ERR_CREATE (exit status 73), which names the file, before any work. A command calls outputs_claim
 * for each file that it is going to write, with the inputs that its options name; and outputs_spare for each input that
 * it learns of later (training_set_read does so for the files of a set). Devices, FIFOs and standard output are never
 * replaced, only written to. */

#define OVERWRITE_HELP "Replace outputs that exist (default: refuse before any work)"

/* One run at a time writes into a folder, or keeps a checkpoint: a second one is refused, CLV_ERR_CREATE, and
 * output_locks_exit_code is 75 (EX_TEMPFAIL) from then on. A lock ends with its process, however that ends. Where the
 * file system has no locks, or a lock file cannot be made, everybody goes on. */
#define OUTPUT_LOCKS_MAX 6

struct output_locks {
    struct taken_lock {
        int fd;
        dev_t device;
        ino_t inode;
        char *file; /* that is only there to be locked; NULL: a folder */
    } taken[OUTPUT_LOCKS_MAX];
    int n;
};

/* Takes a folder for this run alone, or for a shard of it: shards get along with each other, unless both do the same
 * part of the work. The folder's own lock leaves no trace; shards keep a hidden file in it as long as one is at work.
 * Nothing is done for a folder that is not there yet, or is locked already. shard may be NULL. */
enum clv_status output_locks_folder(struct output_locks *self, const char *folder, const struct shard *shard,
                                    struct clv_error *err) CLV_CHECK;

/* Makes a folder where it is missing, with its parents, and takes it likewise. *n_made is how many folders this call
 * made, as folder_make counts; 0 where the folder is refused, so that whoever is refused removes nothing. A folder
 * that its last user removed meanwhile is made again. */
enum clv_status output_locks_make_folder(struct output_locks *self, int *n_made, const char *folder,
                                         const struct shard *shard, struct clv_error *err) CLV_CHECK;

/* Takes a file that is to be replaced for this run alone, by a hidden file next to it. */
enum clv_status output_locks_file(struct output_locks *self, const char *path, struct clv_error *err) CLV_CHECK;

/* Lets go of all, and removes lock files that nobody else uses. */
void output_locks_release(struct output_locks *self);

/* 75 once a lock was refused, else 0. */
int output_locks_exit_code(void);

/* How a command treats outputs that exist already. */
enum existing {
    EXISTING_REFUSE,
    EXISTING_OVERWRITE,
    EXISTING_RESUME, /* items with all their outputs are finished */
};

/* The regular files that are going to be replaced. */
struct outputs {
    struct replaced {
        dev_t device;
        ino_t inode;
        char *path;
    } * list;
    size_t n, capacity;
    struct output_locks locks; /* of folders and checkpoints */
};
void outputs_release(struct outputs *self);

/* Plans to write `path` ("-" is standard output): CLV_ERR_CREATE if it cannot be created, if it is one of
 * inputs[n_inputs] (NULL and "-" are none, a folder stands for all files in it), or if it exists and may not be
 * replaced; `hint` ("" or "; --resume goes on") ends that message. Touches nothing. */
enum clv_status outputs_claim(struct outputs *self, const char *path, bool may_replace, const char *hint,
                              const char *const *inputs, size_t n_inputs, struct clv_error *err) CLV_CHECK;

/* The parts of outputs_claim, for many outputs at once: sort once they are all there. */
enum clv_status outputs_add(struct outputs *self, const char *path, struct clv_error *err) CLV_CHECK;
void outputs_sort(struct outputs *self);
enum clv_status output_check_existing(const char *path, bool may_replace, const char *hint,
                                      struct clv_error *err) CLV_CHECK;

/* CLV_ERR_CREATE if the input is one of the outputs. Of a set: its manifest, labels, images, masks and boxes. */
enum clv_status outputs_spare(const struct outputs *self, const char *input, struct clv_error *err) CLV_CHECK;
enum clv_status outputs_spare_set(const struct outputs *self, const struct clv_set *set, const char *path,
                                  struct clv_error *err) CLV_CHECK;

/* outputs_spare_set as the `look` of a struct set_check, whose context is the outputs. */
enum clv_status outputs_look_at_set(void *outputs, const struct clv_set *set, const char *path,
                                    struct clv_error *err) CLV_CHECK;

/* Makes the folder that `path` is in. */
enum clv_status outputs_make_folder(const char *path, struct clv_error *err) CLV_CHECK;

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
    char **arguments;       /* [n_arguments] that are no options */
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

/* Refuses options about images (CLV_ERR_USAGE) where `why` says that none is read; NULL: some are. */
enum clv_status common_options_check(const struct common_options *common, const char *why,
                                     struct clv_error *err) CLV_CHECK;

/* --decode: by which rule labels follow from a model's scores, in place of the model's own. */
enum decoding_choice { DECODING_AUTO, DECODING_MAP, DECODING_MARGINAL_MAP, DECODING_MARGINALS, DECODING_MIN_LOSS };
extern const char *const decoding_names[], *const decoding_names_of_images[]; /* the latter with min-loss, too */
#define DECODING_HELP                                                                                                  \
    "How to choose labels from scores\n"                                                                               \
    "map: the best labelling of all nodes. marginal-map: the best of the nodes with a known label, the others summed " \
    "out. marginals: of every node the most probable label. auto (default): the rule that the model was trained for"
/* A temperature of hidden nodes stays the model's if it has one above 0; the least loss is clv_model_decide's. */
void decoding_choose(struct clv_decoding *decoding, enum decoding_choice choice);

/* The commands' options, from tables of struct clv_option (cleave/options.h): parsed, recorded, and printed as help. A
 * command lists its groups of rows with the structs that they set; argp is beneath, and says what is no option. */
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

/* Arguments as values of options, in the order of names[n]: each takes the next one unless it was given by name, the
 * last all that are left if it may be given again. CLV_ERR_USAGE: an argument that is one too many. */
enum clv_status options_take_arguments(const struct option_table *table, struct common_options *common,
                                       const char *const *names, size_t n, struct clv_error *err) CLV_CHECK;
/* The first argument called .tsv as the value of --data, unless that was given. */
enum clv_status options_take_manifest(const struct option_table *table, struct common_options *common,
                                      struct clv_error *err) CLV_CHECK;

/* A rule on two options. The first rule that is broken is CLV_ERR_USAGE. */
struct option_rule {
    const char *option;
    enum {
        RULE_NEEDS,    /* "--option needs --other, why" */
        RULE_EXCLUDES, /* "--option: why" */
        RULE_IDLE,     /* "--option cannot be used with --other: why" */
    } relation;        /* with the other */
    const char *other, *why;
};
/* rules[n], in this order. */
enum clv_status options_check(const struct common_options *common, const struct option_rule *rules, size_t n,
                              struct clv_error *err) CLV_CHECK;

/* At most 30 lines: what most people need. `command` is "cleave train". */
void option_help_short(FILE *stream, const char *command, const struct option_table *table,
                       const struct common_options *common);
/* Every option, by sections. */
void option_help_all(FILE *stream, const char *command, const struct option_table *table,
                     const struct common_options *common);
/* Prints a line per option for completion: "--pairwise=auto none potts full"; "--data=@" is a file, "--model=@.cleave"
 * one of that name; "--mirror" has no value. */
void option_help_list(FILE *stream, const struct option_table *table);

/* --shard i/n: one of n equal parts of the work, for job arrays. A shard is a contiguous block of the whole list, so
 * that it reads neighbouring files; which items it has depends on the list and on i/n alone. All n together do the work
 * of one run. */
#define SHARD_HELP                                                                                                     \
    "Do only part I of N equal parts of the work, such as 1/16\n"                                                      \
    "As a job of an array does. Parts follow each other in the list of inputs; all N make what one run makes"

/* Parses I/N into a struct shard: the `take` of a row. */
enum clv_status option_take_shard(void *member, const struct clv_option *option, const char *typed,
                                  struct clv_error *err) CLV_CHECK;

/* "b/x.tsv" -> "b/x-00003-of-00016.tsv", and "report/" -> "report-00003-of-00016" of a folder (array_free): each shard
 * has its own. A copy without a shard, and of "-". NULL when out of memory. */
char *shard_path(const char *path, const struct shard *shard, bool is_folder);

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
