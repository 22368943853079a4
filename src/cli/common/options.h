/* The options that every working command has, which ones were given, and how all of a command's are parsed and printed
 * as help. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/shard.h"
#include "base/text.h"
#include "cleave/image.h"
#include "cleave/segment.h"
#include "cli/common/outputs.h"

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
enum decoding_choice { DECODING_OWN, DECODING_MAP, DECODING_MARGINAL_MAP, DECODING_MARGINALS, DECODING_LEAST_LOSS };
extern const char *const decoding_names[], *const decoding_names_of_images[]; /* the latter with least-loss, too */
#define DECODING_HELP                                                                                                  \
    "How labels follow from scores\n"                                                                                  \
    "map: the best labelling of all nodes. marginal-map: the best of the nodes with a known label, the others summed " \
    "out. marginals: of every node the most probable label. own (default): what the model was learned for"
/* A temperature of hidden nodes stays the model's if it has one above 0; the least loss is clv_model_decide's. */
void decoding_choose(struct clv_decoding *decoding, enum decoding_choice choice);

/* The commands' options, from tables of struct clv_option (cleave/segment.h): parsed, recorded, and printed as help. A
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

/* Arguments as values of options, in the order of names[n]: each takes the next one unless it was given by name, the last
 * all that are left if it may be given again. CLV_ERR_USAGE: an argument that is one too many. */
enum clv_status options_take_arguments(const struct option_table *table, struct common_options *common,
                                       const char *const *names, size_t n, struct clv_error *err) CLV_CHECK;
/* The first argument called .tsv as the value of --data, unless that was given. */
enum clv_status options_take_manifest(const struct option_table *table, struct common_options *common,
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

/* At most 30 lines: what most people need. `command` is "cleave train". */
void option_help_short(FILE *stream, const char *command, const struct option_table *table,
                       const struct common_options *common);
/* Every option, by sections. */
void option_help_all(FILE *stream, const char *command, const struct option_table *table,
                     const struct common_options *common);
/* For completion, a line for each: "--pairwise=auto none potts full"; "--data=@" is a file, "--model=@.cleave" one
 * of that name; "--mirror" has no value. */
void option_help_list(FILE *stream, const struct option_table *table);

/* --shard i/n: one of n equal parts of the work, for job arrays. A shard is a contiguous block of the whole list, so
 * that it reads neighbouring files; which items it has depends on the list and on i/n alone. All n together do the work
 * of one run. */
#define SHARD_HELP                                                                                                     \
    "Do only part I of N equal parts of the work, such as 1/16\n"                                                      \
    "As a job of an array does. Parts follow each other in the list of inputs; all N make what one run makes"

/* For `take` of a row; the member is a struct shard. */
enum clv_status option_take_shard(void *member, const struct clv_option *option, const char *typed,
                                  struct clv_error *err) CLV_CHECK;

/* "b/x.tsv" -> "b/x-00003-of-00016.tsv", and "report/" -> "report-00003-of-00016" of a folder (array_free): each shard
 * has its own. A copy without a shard, and of "-". NULL when out of memory. */
char *shard_path(const char *path, const struct shard *shard, bool is_folder);

#endif
