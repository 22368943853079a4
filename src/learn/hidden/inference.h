/* Inference for one example's terms, in memory that is kept from example to example. */
#ifndef LEARN_HIDDEN_INFERENCE_H
#define LEARN_HIDDEN_INFERENCE_H

#include <stdbool.h>

#include "infer/elimination/bucket.h"
#include "learn/hidden/objective.h"

/* What a term's distribution says: the value, and marginals of nodes and edges. */
struct hidden_term {
    double value;
    double *nodes, *pairs; /* [n_nodes][n_labels], [n_edges][n_labels][n_labels] */
    size_t node_capacity, pair_capacity;
};

/* One per thread. */
struct hidden_workspace {
    struct clv_forest *forest;
    struct clv_bp *bp;
    bool is_looking; /* items are left as they are */
    struct bucket free_bucket, clamped_bucket;
    struct hidden_term free, clamped;
    struct hidden_term other; /* the worse of two candidates for `free` */
    const int32_t *label;     /* [n_nodes] the true ones of the problem, a view */
    uint8_t *is_visible;      /* [n_nodes] */
    int32_t *y;               /* [n_nodes] */
    double *weight;           /* [n_nodes][rows] */
    size_t node_capacity, weight_capacity;
};

enum clv_status hidden_workspaces_new(struct hidden_workspace **workspaces, int n, struct clv_error *err) CLV_CHECK;
void hidden_workspaces_free(struct hidden_workspace *workspaces, int n);

/* Grows to the problem and notes which of its nodes are visible. */
enum clv_status hidden_workspace_set(struct hidden_workspace *self, const struct clv_problem *problem,
                                     const struct clv_shape *shape, struct clv_error *err) CLV_CHECK;

/* By what a term of fields on this graph is worked out: given labels make it the clamped one. */
enum clv_status hidden_choose(enum hidden_method *method, struct hidden_workspace *self,
                              const struct hidden_settings *settings, const struct clv_field *graph,
                              const int32_t *label, struct clv_error *err) CLV_CHECK;

/* The same for both terms of an example: item->free_by and item->clamped_by. */
enum clv_status hidden_choose_both(struct hidden_item *item, struct hidden_workspace *self,
                                   const struct hidden_settings *settings, const struct clv_problem *problem,
                                   const struct clv_shape *shape, struct clv_error *err) CLV_CHECK;

/* Whether belief propagation works out any term of the training's examples; true where that is unknown. */
bool hidden_propagates(const struct clv_training *training, const struct hidden_settings *settings);

/* The clamped term of the field of an example. */
enum clv_status hidden_clamped(struct hidden_workspace *self, struct hidden_item *item,
                               const struct hidden_settings *settings, const struct clv_field *field,
                               const int32_t *label, struct clv_error *err) CLV_CHECK;

/* The free term of the field with the loss added. `truth`, of the true labels' score there with hidden nodes as in the
 * clamped term, bounds it from below: at T_y = 0 the clamped term's marginals, which must stand then, are taken where
 * nothing better was found. */
enum clv_status hidden_free(struct hidden_workspace *self, struct hidden_item *item,
                            const struct hidden_settings *settings, const struct clv_field *augmented, double truth,
                            struct clv_error *err) CLV_CHECK;

#endif
