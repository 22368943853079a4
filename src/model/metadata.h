/* What the two kinds of model files share: texts and numbers of their metadata. */
#ifndef MODEL_METADATA_H
#define MODEL_METADATA_H

#include "base/json.h"
#include "cleave/tensors.h"

/* A metadata text, as it is and as JSON (json_root_free); an error says that it is missing. `path` names the file. */
enum clv_status metadata_require(const char **text, const struct clv_tensors *tensors, const char *key,
                                 const char *path, struct clv_error *err) CLV_CHECK;
enum clv_status metadata_parse(struct json_value **root, const struct clv_tensors *tensors, const char *key,
                               const char *path, struct clv_error *err) CLV_CHECK;

/* An integer member of a metadata object, in minimum to maximum. */
enum clv_status metadata_count(int32_t *count, const struct json_value *object, const char *key, int32_t minimum,
                               int32_t maximum, const char *path, struct clv_error *err) CLV_CHECK;

#endif
