/* Features that stay in their files and are read when they are needed: datasets larger than memory. Of every item the
 * sizes, labels, theta, volumes, places and row ends (problem.row) are in memory; index, value, edges and edge_features
 * of its problem are NULL unless the item is loaded:
 *
 *     struct loaded_item loaded = {0};
 *     status = loaded_item_load(&loaded, dataset, index, true, err);   // loaded.problem is complete
 *     ..
 *     loaded_item_release(&loaded);
 *
 * Features that were read once stay as long as they fit (feature_cache.h), the others are read each time. Of datasets
 * whose features are all in memory nothing is read. feature_shards.h opens both kinds. */
#ifndef FEATURE_LOADED_ITEM_H
#define FEATURE_LOADED_ITEM_H

#include <stdbool.h>

#include "cleave/features.h"

/* Whether features are read when they are needed. */
bool dataset_is_on_demand(const struct clv_dataset *dataset);

/* One thread's, starts as zeros. */
struct loaded_item {
    const struct clv_dataset *dataset; /* NULL: nothing is loaded */
    size_t index;
    struct clv_problem problem;
    void *own; /* its features, unless they are cached */
};

/* Loads an item in place of the one before. Not `keeps`: for passes that look at each once, whose features need not be
 * cached. Errors name file and item: CLV_ERR_DATA if the file has changed since it was opened. Different threads may
 * load the same item. Nothing is loaded after a failure. */
enum clv_status loaded_item_load(struct loaded_item *self, const struct clv_dataset *dataset, size_t index, bool keeps,
                                 struct clv_error *err) CLV_CHECK;
void loaded_item_release(struct loaded_item *self);

/* Reads the features of an item of a file that is not mapped: *block (array_free it), and pointers into it into
 * *problem. */
enum clv_status loaded_item_read(void **block, size_t *size, struct clv_problem *problem,
                                 const struct clv_dataset *dataset, size_t index, struct clv_error *err) CLV_CHECK;

#endif
