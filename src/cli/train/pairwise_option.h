/* --pairwise: which form pairwise terms take. */
#ifndef CLI_PAIRWISE_OPTION_H
#define CLI_PAIRWISE_OPTION_H

#include "cli/common/options.h"

enum pairwise_choice { PAIRWISE_AUTO, PAIRWISE_NONE, PAIRWISE_POTTS, PAIRWISE_FULL };

#define PAIRWISE_HELP                                                                                                  \
    "Pairwise terms: none, potts (neighbours like the same label), full (a weight for every pair of labels), or "      \
    "auto: "                                                                                                           \
    "what the data is meant for, as far as the learner goes (default auto)"

static inline error_t option_pairwise(enum pairwise_choice *choice, const char *arg, struct common_options *common)
{
    static const char *const names[] = {"auto", "none", "potts", "full"};
    int index = 0;
    error_t failed = option_choice(&index, "--pairwise", arg, names, sizeof names / sizeof *names, common);
    if (!failed)
        *choice = (enum pairwise_choice)index;
    return failed;
}

#endif
