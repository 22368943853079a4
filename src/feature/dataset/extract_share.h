/* Examples that a team's members extracted, from one to all others, or to the leader alone. */
#ifndef FEATURE_EXTRACT_SHARE_H
#define FEATURE_EXTRACT_SHARE_H

#include <stdbool.h>

#include "cleave/features.h"

/* What is known of an example before its arrays are there. */
struct example_sizes {
    int32_t n_nodes, n_edges, n_features, n_edge_features;
    int32_t width, height, working_width, working_height;
    struct clv_patch_grid grid;
    int64_t n_entries;
    bool has_label, has_counts, has_estimate;
};

struct example_sharing {
    int32_t n_labels;
    struct clv_example *examples; /* [n], of which each member has those that team_for gave it */
    float **estimates;            /* [n] */
    struct example_sizes *sizes;  /* [n] */
};

void example_measure(struct example_sizes *sizes, const struct clv_example *example, const float *estimate);

/* As team_slot: the sizes of an example, to be shared first, by team_for itself. */
struct team_piece;
bool example_sizes_slot(struct team_piece *piece, struct example_sharing *self, size_t index, size_t k);

/* Shares examples[n] and their estimates. */
enum clv_status examples_share(struct example_sharing *self, size_t n, bool to_all, struct clv_error *err) CLV_CHECK;

#endif
