/* Images of a set as examples, in parallel and in order, with bounded memory. */
#ifndef FEATURE_EXTRACT_H
#define FEATURE_EXTRACT_H

#include <stdbool.h>

#include "feature/dataset/frame.h"

/* Receives the examples one by one in the set's order, on the calling thread. What it leaves in the example is
 * released. */
typedef enum clv_status take_example(void *context, struct clv_example *example, const struct clv_item *item,
                                     const float *estimate, struct clv_error *err);

/* boxes[n_items]; `take` gets the estimate of the nodes of those that have some, [n_nodes], else NULL. */
struct box_source {
    const struct item_boxes *boxes;
    figure_estimate *estimate; /* or NULL */
};

/* Whose examples a member of a team (base/team.h) takes. */
enum extract_share {
    EXTRACT_TO_ALL,    /* those of all images, which all members extracted */
    EXTRACT_TO_LEADER, /* the same, the leader alone */
};

/* Reads every image, extracts its example, and its truth where there is a mask; a mask that is void throughout is no
 * truth. `boxed` may be NULL. Memory: a fixed number of examples a thread. Fails as the first failing item in the
 * set's order would. */
enum clv_status extract_set(const struct clv_set *set, const struct box_source *boxed, const struct clv_recipe *recipe,
                            int n_threads, const struct clv_image_limits *limits, const struct clv_progress *progress,
                            enum extract_share share, take_example *take, void *context,
                            struct clv_error *err) CLV_CHECK;

/* Adds the mirror image of each of the set's images, with the mirrored mask, to the dataset that was extracted from the
 * set and nothing else: item n + i mirrors item i. Patches are placed as in any image, not mirrored. */
enum clv_status dataset_add_mirrored(struct clv_dataset *dataset, const struct clv_set *set,
                                     const struct clv_recipe *recipe, int n_threads,
                                     const struct clv_image_limits *limits, const struct clv_progress *progress,
                                     struct clv_error *err) CLV_CHECK;

/* clv_dataset_extract with boxes[n_items]: an item without a mask has the labels of clv_example_set_boxes if there are
 * some for it, what struct clv_training calls given. *frames (may be NULL) receives a dataset of the same items and
 * nodes, without edges, whose features say where a node is within its image's boxes, and whose theta[n_nodes][2] is
 * the estimate (may be NULL) of its pixels; so that places are comparable, items with masks need boxes, too. Two
 * labels. */
enum clv_status dataset_extract_boxed(struct clv_dataset **dataset, struct clv_dataset **frames,
                                      const struct clv_set *set, const struct item_boxes *boxes,
                                      figure_estimate *estimate, const struct clv_recipe *recipe, int n_threads,
                                      const struct clv_image_limits *limits, const struct clv_progress *progress,
                                      struct clv_error *err) CLV_CHECK;

#endif
