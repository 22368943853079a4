#ifndef CLI_SCORE_FEATURES_H
#define CLI_SCORE_FEATURES_H

#include <stdbool.h>

#include "cleave/status.h"
#include "cli/common/options.h"

struct features_task {
    const struct path_list *paths; /* of feature files with truth */
    const char *model_path;
    int n_threads;
    bool json, wants_likelihood;
    enum decoding_choice decoding;
};

/* Labels the nodes of a feature file with the model, hidden ones summed or maximised over as the decoding has it, and
 * prints how many known nodes are right or wrong, in all, by label and on the mean over examples, the mean loss of its
 * examples and, if it is wanted, the exact log-likelihood of their known labels. */
enum clv_status score_features(const struct features_task *task, struct clv_error *err) CLV_CHECK;

#endif
