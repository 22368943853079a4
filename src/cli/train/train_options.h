/* The options of `cleave train`. */
#ifndef CLI_TRAIN_OPTIONS_H
#define CLI_TRAIN_OPTIONS_H

#include <stdbool.h>

#include "cleave/train.h"
#include "cli/common/common.h"

#define MAX_GIVEN_PARAMETERS 64

/* --learner, and the typed values of its parameters, which are parsed when the learner is known. */
struct learner_options {
    const struct clv_learner *learner;
    struct {
        const char *name, *typed;
    } given[MAX_GIVEN_PARAMETERS];
    size_t n_given;
};

struct train_options {
    struct common_options common;
    struct learner_options learner;
    struct clv_train_options task; /* complete after parsing; points to the other members */
    const char *output;
    struct {
        const char *name; /* not terminated; NULL: the learner's regularisation */
        size_t length;
    } grid_names[CLV_MAX_GRIDS];
    int progress; /* enum console_progress_form */
    bool overwrite;
    bool requeue;     /* after a signal of the cluster, keep the checkpoint and write no model */
    bool is_finished; /* with --resume: the same command has completed the model */
    char *checkpoint; /* the file beside the output; NULL: the output is not a file */
    struct text command;
};

/* Parses the command line, fails for missing or contradictory options, and claims the outputs. The caller releases
 * *self whatever the status. */
enum clv_status train_options_parse(struct train_options *self, int argc, char **argv, struct clv_error *err) CLV_CHECK;
void train_options_release(struct train_options *self);

/* Removes the checkpoint. Call it after the model has been written. */
enum clv_status train_checkpoints_remove(const struct train_options *options, struct clv_error *err) CLV_CHECK;

#endif
