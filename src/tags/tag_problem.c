/* Prepares the training examples: divides each feature by its largest magnitude (optional). For the linear kernel it
 * then divides all values by the root mean square length of an example; for the RBF kernel it computes the squared
 * distances of all pairs. Start at tag_problem_init. */
#include "tags/tags.h"

#include <float.h>
#include <math.h>

#include "base/base.h"

void tag_problem_release(struct tag_problem *problem)
{
    arrays_free(problem->value, problem->scale, problem->distance, problem->gram);
    *problem = (struct tag_problem){0};
}

/* Computes scale[f] = 1 / max_l |x_lf|, and multiplies the values by it. A feature is left as it is if this would be
 * infinite. */
static enum clv_status scale_features(struct tag_problem *problem, const struct clv_tag_set *set, struct clv_error *err)
{
    size_t d = (size_t)set->n_features, n = (size_t)set->row[set->n];
    problem->scale = array_zalloc(d, sizeof *problem->scale);
    NEED(problem->scale);
    for (size_t k = 0; k < n; k++)
        problem->scale[set->index[k]] = fmax(problem->scale[set->index[k]], fabs(set->value[k]));
    for (size_t f = 0; f < d; f++)
        problem->scale[f] = problem->scale[f] >= DBL_MIN ? 1 / problem->scale[f] : 1;
    for (size_t k = 0; k < n; k++)
        problem->value[k] *= problem->scale[set->index[k]];
    return CLV_OK;
}

/* Divides all values by the root mean square length of an example. */
static void scale_length(struct tag_problem *problem)
{
    size_t n = (size_t)problem->rows.row[problem->rows.n];
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += problem->value[k] * problem->value[k];
    problem->unit = sum > 0 ? sqrt((double)problem->rows.n / sum) : 1;
    for (size_t k = 0; k < n; k++)
        problem->value[k] *= problem->unit;
}

enum clv_status tag_problem_init(struct tag_problem *problem, const struct clv_tag_training *training,
                                 struct clv_error *err)
{
    const struct clv_tag_set *set = training->set;
    OWNED(tag_problem_release) struct tag_problem result = {.n_tags = set->n_tags, .tags = set->tags, .unit = 1};
    size_t n_pairs;
    result.value = array_copy(set->value, (size_t)set->row[set->n], sizeof *result.value);
    result.rows = (struct kernel_rows){set->n, set->row, set->index, result.value, set->n_features};
    NEED(result.value);
    if (training->is_scaled)
        MUST(scale_features(&result, set, err));
    if (!training->is_rbf)
        scale_length(&result);
    if (training->is_rbf) {
        if (__builtin_mul_overflow(set->n, set->n, &n_pairs) ||
            !(result.distance = array_alloc(n_pairs, sizeof *result.distance)))
            return fail_memory(err);
        MUST(kernel_distances(result.distance, &result.rows, &result.rows, training->n_threads, training->progress,
                              err));
    }
    *problem = TAKE(result);
    return CLV_OK;
}

enum clv_status tag_problem_kernel(struct tag_problem *problem, double gamma, struct clv_error *err)
{
    size_t n = problem->rows.n * problem->rows.n;
    if (!problem->distance)
        return CLV_OK;
    if (!problem->gram && !(problem->gram = array_alloc(n, sizeof *problem->gram)))
        return fail_memory(err);
    kernel_rbf(problem->gram, problem->distance, n, gamma);
    return CLV_OK;
}

void tag_fit_scores(double *scores, const struct clv_tag_model *model, const struct tag_fit_task *task, size_t example)
{
    const struct kernel_rows *rows = &task->problem->rows;
    for (size_t i = 0; i < (size_t)model->n_tags; i++) {
        double sum = 0;
        if (model->coefficient) {
            const double *gram = task->problem->gram + example * rows->n;
            for (size_t m = 0; m < task->n; m++)
                sum += model->coefficient[i * task->n + m] * gram[task->examples[m]];
        } else {
            const double *w = model->weight + i * (size_t)model->n_features;
            for (int64_t k = rows->row[example]; k < rows->row[example + 1]; k++)
                sum += w[rows->index[k]] * rows->value[k];
        }
        scores[i] = sum + model->bias[i];
    }
}
