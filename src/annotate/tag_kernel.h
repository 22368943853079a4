/* Distances between sparse rows, and the RBF kernel over them. */
#ifndef ANNOTATE_TAG_KERNEL_H
#define ANNOTATE_TAG_KERNEL_H

#include "cleave/status.h"

/* The rows of a struct clv_tag_set, or of a model's support vectors. */
struct kernel_rows {
    size_t n;
    const int64_t *row;   /* [n + 1] */
    const int32_t *index; /* ascending within a row */
    const double *value;
    int32_t n_features;
};

/* distance[a->n][b->n] = |a_i - b_j|^2, and 0 where rounding would make it negative. Equal rows are at distance 0, and
 * the result is symmetric. In parallel, same bytes at any number of threads. O(nonzeros of a x b->n).
 * CLV_ERR_INTERRUPTED when asked to stop. */
enum clv_status kernel_distances(double *distance, const struct kernel_rows *a, const struct kernel_rows *b,
                                 int n_threads, const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* The same for the rows first .. first + n - 1 of a on the calling thread: distance[n][b->n]. */
enum clv_status kernel_distances_of(double *distance, const struct kernel_rows *a, size_t first, size_t n,
                                    const struct kernel_rows *b, struct clv_error *err) CLV_CHECK;

/* values[n] = exp(-gamma distance[n]); in place is fine. */
void kernel_rbf(double *values, const double *distance, size_t n, double gamma);

#endif
