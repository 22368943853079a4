/* What `cleave annotate train' reports of a training: the model's record, a summary, and what an interruption left. */
#ifndef CLI_ANNOTATE_RECORD_H
#define CLI_ANNOTATE_RECORD_H

#include <stdbool.h>
#include <stdio.h>

#include "annotate/annotate.h"
#include "annotate/tag_model.h"
#include "cli/common/options.h"

enum { MAX_CANDIDATES = 64 };

/* The command's options. */
struct annotate_training {
    struct common_options common;
    struct clv_tag_training training;
    const char *data, *split, *output;
    double lambda[MAX_CANDIDATES], gamma[MAX_CANDIDATES];
    size_t n_lambda, n_gamma;
    int is_given[CLV_TAG_PARAMETERS];
    bool is_goal_given;
    int32_t n_folds, n_repeats; /* of cross-validation; 0 folds: none; -1: not given */
    bool overwrite;
    FILE *summary;
};

/* How the model was made; nothing that may differ between two runs of the same training. images: of the set, if the
 * examples are images. */
enum clv_status annotate_record(struct clv_tag_model *model, const struct annotate_training *self,
                                const struct clv_set *images, const struct clv_tag_training_result *result,
                                struct clv_error *err) CLV_CHECK;

void annotate_print_learning(const struct annotate_training *self, const struct clv_tag_model *model,
                             const struct clv_tag_training_result *result);

/* Of an interrupted training: what there is, and what is not. */
void annotate_note_interruption(const struct annotate_training *self, const struct clv_tag_model *model);

#endif
