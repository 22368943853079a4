/* Records of models of both kinds, and their form in files: a JSON object of texts. */
#ifndef MODEL_RECORD_H
#define MODEL_RECORD_H

#include "base/text.h"
#include "cleave/model.h"

void record_release(struct clv_record *record);

void record_put_json(struct text *text, const struct clv_record *record);

/* Adds the entries of a file's metadata "record" to an empty record. After a failure *record holds some of them.
 * O(bytes). */
enum clv_status record_read(struct clv_record *record, const struct clv_tensors *tensors, const char *path,
                            struct clv_error *err) CLV_CHECK;

#endif
