/* Folds of a cross-validation: assigns the examples to folds, trains without the examples of one fold, and measures the
 * loss on these. Start at fold_losses. */
#include "learn/select/select.h"

#include <stdbool.h>

#include "base/base.h"
#include "cleave/model.h"
#include "feature/dataset/dataset.h"
#include "learn/common/common.h"
#include "learn/learners.h"

void folds_release(struct folds *folds)
{
    array_free(folds->order);
    folds->order = NULL;
}

enum clv_status folds_init(struct folds *folds, const struct clv_learner *learner, const struct clv_training *training,
                           int32_t n_folds, struct clv_error *err)
{
    size_t n = training->n_examples;
    *folds = (struct folds){.learner = learner, .training = training, .n_folds = n_folds};
    FAIL_IF(n_folds < 2 || (size_t)n_folds > n, CLV_ERR_USAGE,
            "cross-validation with %d folds needs 2 folds or more and %d examples or more, has %zu", n_folds, n_folds,
            n);
    folds->order = array_alloc(n, sizeof *folds->order);
    NEED(folds->order);
    rng_permutation(folds->order, n, training->seed, RNG_STREAM(RNG_FOLD, 0));
    if (training->dataset->has_windows) /* fold f has those at f, f + n_folds .. */
        for (size_t f = 0, k = 0; f < (size_t)n_folds; f++)
            for (size_t i = f; i < n; i += (size_t)n_folds)
                folds->order[i] = (int32_t)k++;
    for (size_t i = 0; i < n; i++)
        folds->order[i] = training->examples[folds->order[i]];
    return CLV_OK;
}

/* Returns a parameter's value for a training on n_train of the n examples. A lambda relative to the mean loss is lambda
 * n relative to the sum of losses. This product stays the same when examples are held out, because the prior does not
 * depend on their number. */
static double value_for_fold(const struct folds *self, const struct clv_parameter *parameter, double value,
                             size_t n_train)
{
    double scaled = value * (double)self->training->n_examples / (double)n_train;
    bool is_scaled = parameter->role == CLV_ROLE_LAMBDA_OF_MEAN;
    return is_scaled && value >= parameter->minimum && scaled <= parameter->maximum ? scaled : value;
}

enum clv_status fold_losses(double *losses, const struct folds *self, size_t fold, int parameter, double value,
                            struct clv_error *err)
{
    const struct clv_training *all = self->training;
    size_t n = all->n_examples, n_train = 0, n_left_out = 0, n_folds = (size_t)self->n_folds;
    struct clv_progress silent = {.stop = all->progress ? all->progress->stop : NULL};
    struct clv_training training = *all;
    OWNED_ARRAY int32_t *train = array_alloc(n, sizeof *train);
    OWNED_ARRAY int32_t *left_out = array_alloc(n, sizeof *left_out);
    OWNED_ARRAY double *left_out_loss = array_alloc(n, sizeof *left_out_loss);
    OWNED(clv_training_result_release) struct clv_training_result result = {0};
    NEED(train && left_out && left_out_loss);
    for (size_t i = 0; i < n; i++)
        if (i % n_folds == fold)
            left_out[n_left_out++] = self->order[i];
        else
            train[n_train++] = self->order[i];
    training.examples = train;
    training.n_examples = n_train;
    training.n_threads = 1;
    training.progress = &silent;
    training.checkpoints = NULL;
    training.validation = NULL;
    training.parameters[parameter] = value_for_fold(self, &self->learner->parameters[parameter], value, n_train);
    MUST(train_part(&result, self->learner, &training, err));
    FAIL_IF(result.interrupted, CLV_ERR_INTERRUPTED, "cross-validation was interrupted");
    const struct evaluation of_left_out = {training.dataset, left_out,         n_left_out,  &training.layout,
                                           result.w,         &result.decoding, all->engine, 1};
    MUST(evaluate_each(left_out_loss, &of_left_out, err));
    for (size_t k = 0; k < n_left_out; k++)
        losses[k * n_folds + fold] = left_out_loss[k];
    return CLV_OK;
}
