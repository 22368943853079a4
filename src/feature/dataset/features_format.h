/* What the writer and the reader of feature files share. */
#ifndef FEATURE_FEATURES_FORMAT_H
#define FEATURE_FEATURES_FORMAT_H

#include <stdbool.h>

#include "cleave/features.h"
#include "data/tensors.h"

#define FEATURES_FORMAT  "cleave features "
#define FEATURES_VERSION "1"
#define FEATURES_SHARD   "shard" /* metadata of shards */

/* Names stand one a line in a JSON text: UTF-8 without line breaks, else CLV_ERR_DATA. */
enum clv_status features_check_name(const char *name, struct clv_error *err) CLV_CHECK;

/* *number = a whole number low..high of the metadata; unchanged where it is absent and not required. */
enum clv_status features_number(int32_t *number, const struct clv_tensors *tensors, const char *path, const char *key,
                                int32_t low, int32_t high, bool required, struct clv_error *err) CLV_CHECK;

/* clv_features_write for shard `number` of `count`, 1 <= number <= count <= 100000 and <= the set's items: a contiguous
 * block of them, whose file says which it is. An index of all shards opens as one dataset. */
enum clv_status features_write_shard(const char *path, const struct clv_set *set, const struct clv_recipe *recipe,
                                     int32_t number, int32_t count, int n_threads,
                                     const struct clv_image_limits *limits, const struct clv_progress *progress,
                                     struct clv_error *err) CLV_CHECK;

#endif
