/* --letters and --folds: which words a command works on. */
#ifndef CLI_LETTERS_OPTION_H
#define CLI_LETTERS_OPTION_H

#include <stdbool.h>

#include "cleave/features.h"
#include "cleave/model.h"
#include "cli/common/options.h"

#define LETTERS_HELP "Words instead of images: letter.data, gzip or plain"
#define FOLDS_HELP   "Folds of the letters, as 0 or 1-9 or 0,2,5-7 (default: all)"

struct letters_option {
    const char *path; /* NULL: no letters */
    int32_t folds[CLV_LETTER_MAX_FOLDS];
    size_t n_folds; /* 0: all */
};

error_t option_folds(struct letters_option *letters, const char *arg, struct common_options *common);

/* The chosen words. */
enum clv_status letters_open(struct clv_dataset **dataset, const struct letters_option *option,
                             struct clv_error *err) CLV_CHECK;

/* A model of letters and the words that it is to work on. */
struct letters_task {
    struct letters_option letters;
    const char *model_path;
    int n_threads;
    bool json;
};
/* Reads both; CLV_ERR_USAGE if the model is of images. Release the model and free the dataset whatever the status. */
enum clv_status letters_task_open(struct clv_model *model, struct clv_dataset **dataset,
                                  const struct letters_task *task, struct clv_error *err) CLV_CHECK;

/* All nodes of a dataset. */
size_t count_nodes(const struct clv_dataset *dataset);

#endif
