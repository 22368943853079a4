/* Records of models of both kinds, and their form in files: a JSON object of texts. */
#ifndef MODEL_RECORD_H
#define MODEL_RECORD_H

#include "base/json.h"
#include "base/text.h"
#include "cleave/model.h"
#include "data/tensors.h"

void record_release(struct clv_record *record);

/* Notes a number in its shortest form. */
enum clv_status record_number(struct clv_record *record, const char *key, double value,
                              struct clv_error *err) CLV_CHECK;

void record_put_json(struct text *text, const struct clv_record *record);

/* Adds the entries of a file's metadata "record" to an empty record. After a failure *record holds some of them.
 * O(bytes). */
enum clv_status record_read(struct clv_record *record, const struct clv_tensors *tensors, const char *path,
                            struct clv_error *err) CLV_CHECK;

/* What the two kinds of model files share: texts and numbers of their metadata. */
/* A metadata text, as it is and as JSON (json_root_free); an error says that it is missing. `path` names the file. */
enum clv_status metadata_require(const char **text, const struct clv_tensors *tensors, const char *key,
                                 const char *path, struct clv_error *err) CLV_CHECK;
enum clv_status metadata_parse(struct json_value **root, const struct clv_tensors *tensors, const char *key,
                               const char *path, struct clv_error *err) CLV_CHECK;

/* An integer member of a metadata object, in minimum to maximum. */
enum clv_status metadata_count(int32_t *count, const struct json_value *object, const char *key, int32_t minimum,
                               int32_t maximum, const char *path, struct clv_error *err) CLV_CHECK;

#endif
