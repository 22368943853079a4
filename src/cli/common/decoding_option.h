/* --decode: by which rule labels follow from a model's scores, in place of the model's own. */
#ifndef CLI_DECODING_OPTION_H
#define CLI_DECODING_OPTION_H

#include "cleave/infer.h"
#include "cli/common/options.h"

enum decoding_choice { DECODING_OWN, DECODING_MAP, DECODING_MARGINAL_MAP, DECODING_MARGINALS };

#define DECODING_HELP                                                                                                  \
    "How labels follow from scores: map (the best labelling of all nodes), marginal-map (the best of the nodes with "  \
    "a "                                                                                                               \
    "known label, the others summed out), marginals (of every node the most probable label), or own: what the model "  \
    "was learned for (default own)"

static inline error_t option_decoding(enum decoding_choice *choice, const char *arg, struct common_options *common)
{
    static const char *const names[] = {"own", "map", "marginal-map", "marginals"};
    int index = 0;
    error_t failed = option_choice(&index, "--decode", arg, names, sizeof names / sizeof *names, common);
    if (!failed)
        *choice = (enum decoding_choice)index;
    return failed;
}

/* A temperature of hidden nodes stays the model's if it has one above 0. */
static inline void decoding_choose(struct clv_decoding *decoding, enum decoding_choice choice)
{
    static const enum clv_decoding_rule rules[] = {[DECODING_MAP] = CLV_DECODE_MAP,
                                                   [DECODING_MARGINAL_MAP] = CLV_DECODE_MARGINAL_MAP,
                                                   [DECODING_MARGINALS] = CLV_DECODE_MARGINALS};
    if (choice == DECODING_OWN)
        return;
    decoding->rule = rules[choice];
    if (!(decoding->hidden_temperature > 0))
        decoding->hidden_temperature = 1;
}

#endif
