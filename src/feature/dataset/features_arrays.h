/* The arrays of a feature file that is being opened: found, and checked against each other, before any image of them
 * is looked at. */
#ifndef FEATURE_FEATURES_ARRAYS_H
#define FEATURE_FEATURES_ARRAYS_H

#include <stdbool.h>

#include "feature/dataset/dataset.h"

struct features_reading {
    const char *path;
    struct clv_dataset *dataset;
    struct features_arrays arrays;
    struct clv_recipe recipe;
    bool has_recipe;
    int64_t n, n_nodes, n_edges; /* images, and nodes and edges of all of them */
};

/* Finds the tensors, checks their types, shapes and offsets, and sets the dataset's sizes and what its file derives
 * from them once. dataset->file.tensors and n_labels must be set. O(images + nodes). */
enum clv_status features_arrays_read(struct features_reading *self, struct clv_error *err) CLV_CHECK;

/* [n + 1] the first node of each image. */
const int64_t *features_node_offsets(const struct features_reading *self);

#endif
