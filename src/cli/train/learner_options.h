/* --learner and the parameters of the learner chosen: names, defaults, ranges and help come from the learner's own
 * table. */
#ifndef CLI_LEARNER_OPTIONS_H
#define CLI_LEARNER_OPTIONS_H

#include "cleave/segment.h"
#include "cli/common/options.h"

#define MAX_GIVEN_PARAMETERS 64

struct learner_options {
    struct common_options *common;
    const struct clv_learner *learner;
    struct {
        const char *name, *typed;
    } given[MAX_GIVEN_PARAMETERS];
    size_t n_given;
};

void learner_options_init(struct learner_options *self, struct common_options *common);

/* The child parser, its input a struct learner_options. Its help shows the parameters of the learner that argv names
 * (the first of the table otherwise); those of the others are known as well, so that a complaint can tell. */
const struct argp *learner_argp(int argc, char **argv);

/* The learner, and its defaults with the values given: task->parameters and is_given. Errors name a parameter the learner
 * does not have, or a value out of its range. */
enum clv_status learner_options_apply(const struct learner_options *self, struct clv_train_options *task) CLV_CHECK;

#endif
