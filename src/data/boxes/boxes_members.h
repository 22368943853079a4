/* Members of JSON objects that the readers of annotations share. */
#ifndef DATA_BOXES_MEMBERS_H
#define DATA_BOXES_MEMBERS_H

#include "base/json.h"

/* A member that has to be text that is not empty; messages call the object "WHAT NUMBER". */
enum clv_status json_take_text(const char **text, const struct json_value *object, const char *key, const char *source,
                               const char *what, size_t number, struct clv_error *err) CLV_CHECK;

/* An image's side, 0 where the file has none. */
enum clv_status json_take_side(int32_t *side, const struct json_value *object, const char *key, const char *source,
                               const char *what, size_t number, struct clv_error *err) CLV_CHECK;

/* An array of two numbers. */
bool json_get_point(double point[2], const struct json_value *value);

#endif
