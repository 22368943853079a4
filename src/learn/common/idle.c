/* Reasons why a parameter of a training has no effect, as clauses for an error message. Each looks at the form and the
 * examples, and returns NULL where the parameter has an effect. */
#include "learn/common/common.h"

#include "feature/dataset/dataset.h"

const char *idle_tables(const struct clv_training *training)
{
    return training->dataset && training->shape.pairwise != CLV_PAIRWISE_FULL ? "there are no full pairwise tables"
                                                                              : NULL;
}

const char *idle_weak(const struct clv_training *training)
{
    return training->dataset && !training->n_weak ? "every image has a mask" : NULL;
}

const char *idle_mixture(const struct clv_training *training)
{
    return training->dataset && !training->n_examples ? "no image has a mask" : idle_weak(training);
}

const char *idle_paper(const struct clv_training *training)
{
    return training->dataset && training->n_weak && !training->n_examples ? "no image has a mask" : NULL;
}

const char *idle_teacher(const struct clv_training *training)
{
    const char *why = idle_mixture(training);
    return !why && training->dataset && !training->frames ? "no image without a mask has boxes" : why;
}

const char *idle_given(const struct clv_training *training)
{
    for (size_t k = 0; training->dataset && training->given && k < training->n_weak; k++) {
        bool is_given = false;
        struct clv_problem problem = clv_dataset_problem(training->dataset, (size_t)training->weak[k]);
        for (int32_t i = 0; i < problem.n_nodes && training->given[k]; i++)
            is_given |= training->given[k][i] != CLV_UNKNOWN;
        dataset_looked_at(training->dataset, &problem);
        if (is_given)
            return idle_mixture(training);
    }
    return training->dataset ? "no image without a mask has boxes" : NULL;
}

const char *idle_hidden(const struct clv_training *training)
{
    for (size_t i = 0; training->dataset && i < training->n_examples; i++) {
        struct clv_problem problem = clv_dataset_problem(training->dataset, (size_t)training->examples[i]);
        bool is_hidden = false;
        for (int32_t k = 0; k < problem.n_nodes && problem.label; k++)
            is_hidden |= problem.label[k] == CLV_UNKNOWN;
        dataset_looked_at(training->dataset, &problem);
        if (is_hidden)
            return NULL;
    }
    return training->dataset ? "every label is known" : NULL;
}
