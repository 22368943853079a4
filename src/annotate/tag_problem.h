/* What a model of tags is fitted to: the examples, and the task of one fit. */
#ifndef ANNOTATE_TAG_PROBLEM_H
#define ANNOTATE_TAG_PROBLEM_H

#include <stdbool.h>

#include "annotate/annotate.h"
#include "annotate/tag_kernel.h"
#include "annotate/tag_model.h"

/* All examples: features (scaled) and tags. With a kernel, the Gram matrix. */
struct tag_problem {
    struct kernel_rows rows;
    double *value; /* [row[n]] owned: scaled by feature, and by `unit` */
    double *scale; /* [n_features], or NULL */
    double unit;   /* 1, or for the linear kernel one over the root of the mean |x|^2 */
    int32_t n_tags;
    const uint8_t *tags; /* [n][n_tags] */
    double *distance;    /* [n][n], or NULL */
    double *gram;        /* [n][n], or NULL */
};
enum clv_status tag_problem_init(struct tag_problem *problem, const struct clv_tag_training *training,
                                 struct clv_error *err) CLV_CHECK;
void tag_problem_release(struct tag_problem *problem);

/* The Gram matrix for a gamma, in problem->gram; nothing for linear problems. */
enum clv_status tag_problem_kernel(struct tag_problem *problem, double gamma, struct clv_error *err) CLV_CHECK;

struct tag_fit_task {
    const struct tag_problem *problem;
    const int32_t *examples; /* [n] of the problem */
    size_t n;
    enum clv_tag_form form;
    bool is_structural;
    const int32_t *place;     /* [n_tags] sequence of decisions; NULL: by index */
    const double *parameters; /* [CLV_TAG_PARAMETERS] */
    uint64_t seed;
    int n_threads;
    /* Of fits to the same examples in turn: [n_tags][n] dual variables of hinge problems, kept from one to the next; and
     * what those given are multiplied by, 0: not used. NULL: none. */
    double *alpha;
    double warm;
    bool is_compared; /* only its decisions count: of cross-validation */
    const struct clv_progress *progress;
};

/* scores[n_tags] of example `example` of the problem under a fit to task->examples. */
void tag_fit_scores(double *scores, const struct clv_tag_model *model, const struct tag_fit_task *task, size_t example);

#endif
