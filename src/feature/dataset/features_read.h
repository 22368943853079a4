/* Opening feature files. */
#ifndef FEATURE_FEATURES_READ_H
#define FEATURE_FEATURES_READ_H

#include <stdbool.h>

#include "cleave/features.h"
#include "data/tensors.h"

/* A dataset of an open file, which it owns from here on whatever the outcome; `path` names it in messages. is_apart: its
 * features were left in the file. */
enum clv_status features_parse(struct clv_dataset **dataset, struct clv_recipe *recipe, struct clv_tensors *tensors,
                               const char *path, bool is_apart, struct clv_error *err) CLV_CHECK;

/* A feature file, not an index. is_apart: features and superpixels stay in it (loaded_item.h). */
enum clv_status features_open_file(struct clv_dataset **dataset, struct clv_recipe *recipe, const char *path,
                                   bool is_apart, struct clv_error *err) CLV_CHECK;

#endif
