/* --loss: how the loss that a learner lowers weighs wrong nodes. */
#ifndef CLI_LOSS_OPTION_H
#define CLI_LOSS_OPTION_H

#include "cli/common/options.h"

enum loss_choice { LOSS_AUTO, LOSS_BALANCED, LOSS_COUNTS };

#define LOSS_HELP                                                                                                      \
    "What an error costs: balanced (each label of an image weighs the same), counts (each pixel does), or auto: what " \
    "a feature file says, else counts for patches of more than two labels, else balanced (default auto)"

static inline error_t option_loss(enum loss_choice *choice, const char *arg, struct common_options *common)
{
    static const char *const names[] = {"auto", "balanced", "counts"};
    int index = 0;
    error_t failed = option_choice(&index, "--loss", arg, names, sizeof names / sizeof *names, common);
    if (!failed)
        *choice = (enum loss_choice)index;
    return failed;
}

#endif
