/* The readers of JSON, boxes_coco.c, boxes_labelme.c and boxes_tasks.c, of which boxes_json.c chooses. */
#ifndef DATA_BOXES_JSON_H
#define DATA_BOXES_JSON_H

#include "base/json.h"
#include "data/boxes/boxes.h"

enum clv_status boxes_parse_coco(struct boxes_builder *builder, const struct json_value *root, const char *source,
                                 struct clv_error *err) CLV_CHECK;
enum clv_status boxes_parse_labelme(struct boxes_builder *builder, const struct json_value *root, const char *source,
                                    const char *image, struct clv_error *err) CLV_CHECK;
/* Label Studio's array of tasks. Sets the form. */
enum clv_status boxes_parse_tasks(struct boxes_builder *builder, const struct json_value *root, const char *source,
                                  struct clv_error *err) CLV_CHECK;

#endif
