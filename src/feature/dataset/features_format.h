/* What the writer and the reader of feature files share. */
#ifndef FEATURE_FEATURES_FORMAT_H
#define FEATURE_FEATURES_FORMAT_H

#include "cleave/features.h"

#define FEATURES_FORMAT  "cleave features "
#define FEATURES_VERSION "1"

/* Names stand one a line in a JSON text: UTF-8 without line breaks, else CLV_ERR_DATA. */
enum clv_status features_check_name(const char *name, struct clv_error *err) CLV_CHECK;

#endif
