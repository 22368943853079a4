/* What `cleave train` was asked to do, and its stages. */
#ifndef CLI_TRAIN_H
#define CLI_TRAIN_H

#include <stdbool.h>
#include <stdio.h>

#include "cleave/model.h"
#include "cli/learner_options.h"
#include "cli/recipe_options.h"
#include "cli/record.h"
#include "cli/supervision.h"

#define MAX_CANDIDATES 32

struct train {
    struct common_options common;
    struct recipe_options recipe;
    struct learner_options learner;
    const char *data, *validate, *output;
    struct supervision_options supervision;
    uint64_t seed;
    int32_t n_folds; /* 0: no cross-validation */
    double candidates[MAX_CANDIDATES];
    size_t n_candidates; /* 0: around the default */
    bool no_edges;
    enum clv_engine engine;
    FILE *summary; /* standard output, or standard error when the model goes to standard output */
};

/* The training data, and what the model takes over from it. */
struct train_data {
    struct clv_dataset *dataset;
    struct clv_recipe recipe; /* valid if has_recipe */
    int has_recipe;
    struct clv_labels labels;
    size_t n_masks, n_boxed, n_unlabelled; /* the dataset's images in this order */
    char digest[DIGEST_SIZE];
};
void train_data_release(struct train_data *data);

/* Reads a set and extracts its features, or opens a feature file. */
enum clv_status train_data_load(struct train_data *data, struct train *train, const struct clv_progress *progress,
                                struct clv_error *err) CLV_CHECK;

/* --cv: chooses the regularisation among the candidates by cross-validation, prints the losses, sets the parameter. */
enum clv_status train_cross_validate(struct train *train, struct clv_training *training,
                                     struct clv_error *err) CLV_CHECK;

/* Index of the learner's regularisation parameter, or -1. */
int train_regularisation(const struct clv_learner *learner);

#endif
