/* Labels in tensor files: names as JSON, colours as the tensor "palette" u8 [256][3]. Models and feature files carry
 * them. */
#ifndef DATA_LABELS_FILE_H
#define DATA_LABELS_FILE_H

#include "base/text.h"
#include "cleave/data.h"
#include "data/tensors.h"

void labels_put_json(struct text *text, const struct clv_labels *labels);
struct clv_tensor labels_tensor(const struct clv_labels *labels); /* a view */

/* The labels of an open file from their JSON and the palette tensor. `name` is the file, for messages. Unchanged on
 * failure. */
enum clv_status labels_parse(struct clv_labels *labels, const char *json, const struct clv_tensors *tensors,
                             const char *name, struct clv_error *err) CLV_CHECK;

#endif
