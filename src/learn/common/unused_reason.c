/* Finds out why a parameter of a training has no effect: checks the needs in its row (another parameter's value, the
 * pairwise form, the examples), then asks its learner. Start at learner_unused_reason. */
#include "learn/common/common.h"

#include <stdio.h>

#include "feature/dataset/dataset.h"

/* "--solver is bcfw". */
static const char *name_value(char space[UNUSED_REASON_SIZE], const struct clv_parameter *row, double value)
{
    if (row->choices)
        snprintf(space, UNUSED_REASON_SIZE, "--%s is %s", row->name, row->choices[(size_t)value]);
    else
        point_snprintf(space, UNUSED_REASON_SIZE, "--%s is %g", row->name, value);
    return space;
}

static const char *name_paper(char space[UNUSED_REASON_SIZE], const struct clv_learner *learner,
                              const struct clv_training *training)
{
    int paper = learner_role(learner, CLV_ROLE_PAPER);
    return name_value(space, &learner->parameters[paper], training->parameters[paper]);
}

/* Whether the need's parameter has one of its values. */
static bool has_value(const struct clv_learner *learner, const struct clv_training *training,
                      const struct clv_need *need)
{
    double value = learner_setting(learner, training, need->parameter);
    unsigned bit = learner->parameters[need->parameter].choices ? (unsigned)value : value != 0;
    return need->values >> bit & 1;
}

static const char *wrong_value(char space[UNUSED_REASON_SIZE], const struct clv_learner *learner,
                               const struct clv_training *training, const struct clv_need *need)
{
    const struct clv_parameter *row = &learner->parameters[need->parameter];
    if (has_value(learner, training, need))
        return NULL;
    return row->published.is_set && learner_is_published(learner, training)
               ? name_paper(space, learner, training)
               : name_value(space, row, training->parameters[need->parameter]);
}

static bool is_any_label(const int32_t *label, int32_t n_nodes, bool known)
{
    for (int32_t i = 0; label && i < n_nodes; i++)
        if ((label[i] != CLV_UNKNOWN) == known)
            return true;
    return false;
}

static bool has_given(const struct clv_training *training)
{
    for (size_t k = 0; training->given && k < training->n_weak; k++) {
        struct clv_problem problem = clv_dataset_problem(training->dataset, (size_t)training->weak[k]);
        if (is_any_label(training->given[k], problem.n_nodes, true))
            return true;
    }
    return false;
}

static bool has_hidden(const struct clv_training *training)
{
    for (size_t i = 0; i < training->n_examples; i++) {
        struct clv_problem problem = clv_dataset_problem(training->dataset, (size_t)training->examples[i]);
        if (is_any_label(problem.label, problem.n_nodes, false))
            return true;
    }
    return false;
}

/* Returns which data are missing, as a clause, or NULL if none are. Without a dataset, NULL. */
static const char *missing_data(const struct clv_training *training, enum clv_need_of of)
{
    const bool has_weak = training->n_weak > 0, has_masks = training->n_examples > 0;
    if (!training->dataset)
        return NULL;
    switch (of) {
    case CLV_NEEDS_TABLES:
        return training->layout.pairwise == CLV_PAIRWISE_FULL ? NULL : "there are no full pairwise tables";
    case CLV_NEEDS_HIDDEN: return has_hidden(training) ? NULL : "every label is known";
    case CLV_NEEDS_WEAK: return has_weak ? NULL : "every image has a mask";
    case CLV_NEEDS_MASKS: return has_masks || !has_weak ? NULL : "no image has a mask";
    case CLV_NEEDS_MIXTURE: return !has_masks ? "no image has a mask" : has_weak ? NULL : "every image has a mask";
    case CLV_NEEDS_GIVEN: return has_given(training) ? NULL : "no image without a mask has boxes";
    case CLV_NEEDS_PRIVILEGED: return training->privileged ? NULL : "no image without a mask has boxes";
    case CLV_NEEDS_NOTHING:
    case CLV_NEEDS_VALUE:
    case CLV_NEEDS_RANDOM_START: break;
    }
    return NULL;
}

static const char *unmet_need(char space[UNUSED_REASON_SIZE], const struct clv_learner *learner,
                              const struct clv_training *training, const struct clv_need *need)
{
    switch (need->of) {
    case CLV_NEEDS_VALUE: return wrong_value(space, learner, training, need);
    case CLV_NEEDS_RANDOM_START: return random_start_unused_reason(training, has_value(learner, training, need));
    default: return missing_data(training, need->of);
    }
}

const char *learner_unused_reason(char space[UNUSED_REASON_SIZE], const struct clv_learner *learner,
                                  const struct clv_training *training, int parameter)
{
    const struct clv_parameter *row = &learner->parameters[parameter];
    if (row->published.is_set && learner_is_published(learner, training))
        return name_paper(space, learner, training);
    const char *why = NULL;
    for (size_t k = 0; k < CLV_MAX_NEEDS && !why; k++)
        why = unmet_need(space, learner, training, &row->needs[k]);
    return why || !learner->unused_reason ? why : learner->unused_reason(training, parameter);
}
