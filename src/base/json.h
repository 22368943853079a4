/* Reading JSON (over jansson, which only json.c knows): limits on size and depth, duplicate keys refused, values read
 * by type. Writing is base/text.c's text_put_json. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>

#include "base/base.h"
#include "cleave/status.h"

#define JSON_MAX_DEPTH 32

/* Has jansson take memory by base/array.c, where running out of it is noticed whatever jansson makes of it, and
 * failures are injected. Its allocator belongs to the whole process: only a program's main may call this, before any
 * JSON is read. Without it a text is parsed only if an estimate of the memory it takes can be had. */
void json_own_allocator(void);

/* A value inside a parsed document. All values are borrowed from the root and die with it. */
struct json_value;

/* Parses one object or array of `size` bytes of UTF-8; *root is to be freed with json_root_free. Refused with
 * CLV_ERR_DATA and "name: line, column: reason": anything else, trailing bytes, duplicate keys, NUL in strings,
 * numbers out of range, more than JSON_MAX_DEPTH levels. O(size). */
enum clv_status json_parse(struct json_value **root, const char *bytes, size_t size, const char *name,
                           struct clv_error *err) CLV_CHECK;
void json_root_free(struct json_value *root);
DROPS(json_drop, struct json_value, json_root_free)

/* Members of an object: by key (NULL if absent or no object), or one after the other in the order of the file; start
 * with key NULL, ends with NULL. */
const struct json_value *json_member(const struct json_value *object, const char *key);
const char *json_next_member(const struct json_value **value, const struct json_value *object, const char *key);

/* Element of an array, or NULL. */
const struct json_value *json_element(const struct json_value *array, size_t index);

/* Whether the value (NULL: no) is of the type; the output is left alone if not. Text lives as long as the root. A
 * number with a fraction or exponent is not an integer; every number is a double. */
bool json_get_object(const struct json_value *value, size_t *n_members);
bool json_get_array(const struct json_value *value, size_t *n_elements);
bool json_get_text(const struct json_value *value, const char **text);
bool json_get_bool(const struct json_value *value, bool *is_true);
bool json_get_int64(const struct json_value *value, int64_t *number);
bool json_get_double(const struct json_value *value, double *number);

#endif
