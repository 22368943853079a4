/* Features that stay in their files and are read when they are wanted: datasets larger than memory. What is in memory
 * of every item are its sizes, labels, theta, volumes and places, and where its rows end (problem.row); index, value,
 * edges and edge_features of its problem are NULL unless it is held:
 *
 *     struct held held = {0};
 *     status = held_take(&held, dataset, index, true, err);   // held.problem is whole
 *     ..
 *     held_drop(&held);
 *
 * Features that were read once stay as long as they fit (demand.h), the others are read each time. Of datasets whose
 * features are all there nothing is read. feature_shards.h opens both kinds. */
#ifndef FEATURE_HELD_H
#define FEATURE_HELD_H

#include <stdbool.h>

#include "cleave/features.h"

/* Whether features are read when they are wanted. */
bool dataset_is_on_demand(const struct clv_dataset *dataset);

/* One thread's, starts as zeros. */
struct held {
    const struct clv_dataset *dataset; /* NULL: holds nothing */
    size_t index;
    struct clv_problem problem;
    void *own; /* its features, unless they stay */
};

/* Holds an item, and what it held no longer. Not `keeps`: for passes that look at each once, whose features need not
 * stay. Errors name file and item: CLV_ERR_DATA if the file has changed since it was opened. Different threads may hold
 * the same item. Holds nothing after a failure. */
enum clv_status held_take(struct held *self, const struct clv_dataset *dataset, size_t index, bool keeps,
                          struct clv_error *err) CLV_CHECK;
void held_drop(struct held *self);

/* Reads the features of an item of a file that is not mapped: *block (array_free it), and where they lie into
 * *problem. */
enum clv_status held_read(void **block, size_t *size, struct clv_problem *problem, const struct clv_dataset *dataset,
                          size_t index, struct clv_error *err) CLV_CHECK;

#endif
