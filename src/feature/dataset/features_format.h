/* What the writer and the reader of feature files share. */
#ifndef FEATURE_FEATURES_FILE_H
#define FEATURE_FEATURES_FILE_H

#include "cleave/features.h"

#define FEATURES_FORMAT  "cleave features "
#define FEATURES_VERSION "1"

/* Names stand one a line in a JSON text: UTF-8 without line breaks, else CLV_ERR_DATA. */
enum clv_status features_check_name(const char *name, struct clv_error *err) CLV_CHECK;

/* A dataset of an open file, which it owns from here on whatever the outcome; `path` names it in messages. */
enum clv_status features_parse(struct clv_dataset **dataset, struct clv_recipe *recipe, struct clv_tensors *tensors,
                               const char *path, struct clv_error *err) CLV_CHECK;

#endif
