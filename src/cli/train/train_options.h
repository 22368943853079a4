/* What `cleave train` was asked to do. */
#ifndef CLI_TRAIN_OPTIONS_H
#define CLI_TRAIN_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/common/recipe_options.h"
#include "cli/train/learner_options.h"
#include "cli/train/supervision.h"

/* --pairwise: which form pairwise terms take. */
enum pairwise_choice { PAIRWISE_AUTO, PAIRWISE_NONE, PAIRWISE_POTTS, PAIRWISE_FULL };
#define PAIRWISE_HELP                                                                                                  \
    "Pairwise terms: none, potts (neighbours like the same label), full (a weight for every pair of labels), or "      \
    "auto: what the data is meant for, as far as the learner goes (default auto)"
error_t option_pairwise(enum pairwise_choice *choice, const char *arg, struct common_options *common);

/* --loss: how the loss that a learner lowers weighs wrong nodes. */
enum loss_choice { LOSS_AUTO, LOSS_BALANCED, LOSS_COUNTS };
#define LOSS_HELP                                                                                                      \
    "What an error costs: balanced (each label of an image weighs the same), counts (each pixel does), or auto: what " \
    "a feature file says, else counts for patches of more than two labels, else balanced (default auto)"
error_t option_loss(enum loss_choice *choice, const char *arg, struct common_options *common);

#define MAX_CANDIDATES 32
#define MAX_GRIDS      4

/* Candidates of cross-validation for one parameter. */
struct cv_grid {
    const char *name; /* not terminated; NULL: the learner's regularisation */
    size_t name_length;
    double values[MAX_CANDIDATES];
    size_t n;
};

/* --label-weights: a number or auto. */
error_t option_label_weights(double *exponent, bool *is_chosen, const char *arg, struct common_options *common);

struct train_options {
    struct common_options common;
    struct recipe_options recipe;
    struct learner_options learner;
    const char *data, *validate, *output; /* data: the first of common.paths; more than one are feature files */
    const char *init;                     /* a model's path, or NULL */
    struct supervision_options supervision;
    uint64_t seed;
    int32_t n_stages; /* 1 or 2 */
    bool mirrors;     /* teach, too */
    int32_t n_folds;  /* 0: no cross-validation */
    struct cv_grid grids[MAX_GRIDS];
    size_t n_grids; /* 0: around the default */
    enum pairwise_choice pairwise;
    enum loss_choice loss;
    double label_weights; /* 0..1: the exponent of rare labels' weights */
    bool chooses_weights; /* the exponent, by the first stage's folds */
    double label_costs;   /* what log-odds of 1 cost, in nodes */
    double memory;        /* for features of a file that are read when they are wanted, in bytes; 0: it is mapped */
    enum clv_engine engine;
    bool resume, overwrite, checkpoint_every_given, skip_bad;
    bool requeue; /* a signal of the cluster leaves a checkpoint, and no model */
    double checkpoint_every_s;
    char *checkpoint; /* the file beside the output; NULL: the learner keeps none, or it cannot lie there */
    FILE *summary;    /* standard output, or standard error when the model goes to standard output */
};

/* Parses the command line, refuses what is missing or contradicts itself, and claims the
 * outputs. Release whatever the status. */
enum clv_status train_options_parse(struct train_options *self, int argc, char **argv, struct clv_error *err) CLV_CHECK;
void train_options_release(struct train_options *self);

#endif
