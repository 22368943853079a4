/* Reads JSON (with jansson, which only json.c includes): depth and memory are bounded, duplicate keys are errors,
 * values are read by type. text_put_json (base/text.c) writes JSON. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>

#include "base/base.h"
#include "cleave/status.h"

#define JSON_MAX_DEPTH 32

/* Makes jansson allocate with base/array.c, so that failed allocations are detected even if jansson ignores them, and
 * tests can inject them. jansson's allocator is global: only a program's main may call this, before any JSON is read.
 * In other programs a text is parsed only if its estimated memory can be allocated. */
void json_own_allocator(void);

/* A value inside a parsed document. All values are borrowed from the root and are valid as long as it is. */
struct json_value;

/* Parses one object or array of `size` bytes of UTF-8; the caller frees *root with json_root_free. CLV_ERR_DATA, with
 * name, line, column and reason: any other text, trailing bytes, duplicate keys, NUL in strings, numbers out of range,
 * more than JSON_MAX_DEPTH levels. O(size). */
enum clv_status json_parse(struct json_value **root, const char *bytes, size_t size, const char *name,
                           struct clv_error *err) CLV_CHECK;
void json_root_free(struct json_value *root);
DROPS(json_drop, struct json_value, json_root_free)

/* Return members of an object: by key (NULL if absent or not an object), or one after another in the order of the file:
 * key NULL gives the first, the result is the next key, NULL at the end. */
const struct json_value *json_member(const struct json_value *object, const char *key);
const char *json_next_member(const struct json_value **value, const struct json_value *object, const char *key);

/* Returns an element of an array, or NULL. */
const struct json_value *json_element(const struct json_value *array, size_t index);

/* Returns whether a member is absent or null, which many programs write for what they do not know. */
bool json_is_missing(const struct json_value *value);

/* Return whether the value is of the type (false for NULL), and only then set the output. Text is valid as long as the
 * root. A number with a fraction or exponent is not an integer; every number is a double. */
bool json_get_object(const struct json_value *value, size_t *n_members);
bool json_get_array(const struct json_value *value, size_t *n_elements);
bool json_get_text(const struct json_value *value, const char **text);
bool json_get_bool(const struct json_value *value, bool *is_true);
bool json_get_int64(const struct json_value *value, int64_t *number);
bool json_get_double(const struct json_value *value, double *number);

#endif
