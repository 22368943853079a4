/* Reads JSON with jansson, which only this file includes. outline_of bounds the depth and memory of a text before
 * jansson parses it. Start at json_parse. */
#include "base/json.h"

#include <jansson.h>
#include <threads.h>

#include "base/base.h"

/* An allocation has failed during this thread's parse. */
static thread_local bool out_of_memory;

/* jansson 2.14 does not handle every failed allocation: it loses characters, asserts or crashes. So a failed allocation
 * is recorded and tried once more, and json_parse then discards the result. */
static void *allocate(size_t size)
{
    void *memory = array_alloc(size, 1);
    if (!memory) {
        out_of_memory = true;
        memory = array_alloc(size, 1);
    }
    return memory;
}

void json_own_allocator(void)
{
    json_set_alloc_funcs(allocate, array_free);
}

static const json_t *inner(const struct json_value *value)
{
    return (const json_t *)value;
}

/* Bounds of the values in a text, computed before it is parsed. */
struct outline {
    size_t depth;  /* the deepest nesting of brackets outside strings, which bounds the parser's recursion */
    size_t memory; /* an estimate of the bytes of the parsed values */
};

static struct outline outline_of(const char *bytes, size_t size)
{
    /* Bytes of jansson's values. An object or array has a table of 8 entries; any other value follows a bracket, a
     * comma or a colon. */
    enum { OBJECT = 320, ARRAY = 160, VALUE = 128 };
    struct outline outline = {.memory = 2 * size};
    size_t depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < size; i++) {
        char c = bytes[i];
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (in_string)
            continue;
        else if (c == '{' || c == '[') {
            outline.memory += c == '{' ? OBJECT : ARRAY;
            if (++depth > outline.depth)
                outline.depth = depth;
        } else if (c == ',')
            outline.memory += VALUE;
        else if ((c == '}' || c == ']') && depth)
            depth--;
    }
    return outline;
}

/* Returns whether the memory that jansson will need can be allocated, by allocating and freeing it. Needed if
 * json_own_allocator was not called, since jansson may crash when it runs out of memory. */
static bool memory_suffices(size_t size)
{
    void *memory = array_alloc(size, 1);
    array_free(memory);
    return memory != NULL;
}

enum clv_status json_parse(struct json_value **root, const char *bytes, size_t size, const char *name,
                           struct clv_error *err)
{
    struct outline outline = outline_of(bytes, size);
    *root = NULL;
    FAIL_IF(outline.depth > JSON_MAX_DEPTH, CLV_ERR_DATA, "%s: JSON nested deeper than %d levels", name,
            JSON_MAX_DEPTH);
    NEED(memory_suffices(outline.memory));
    json_error_t reason;
    out_of_memory = false;
    OWNED(json_drop) struct json_value *result =
        (struct json_value *)json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &reason);
    NEED(!out_of_memory && (result || json_error_code(&reason) != json_error_out_of_memory));
    FAIL_IF(!result, CLV_ERR_DATA, "%s: bad JSON in line %d, column %d: %s", name, reason.line, reason.column,
            reason.text);
    *root = TAKE(result);
    return CLV_OK;
}

void json_root_free(struct json_value *root)
{
    json_decref((json_t *)root);
}

const struct json_value *json_member(const struct json_value *object, const char *key)
{
    return (const struct json_value *)json_object_get(inner(object), key);
}

const char *json_next_member(const struct json_value **value, const struct json_value *object, const char *key)
{
    json_t *json = (json_t *)object;
    void *cursor = key ? json_object_iter_next(json, json_object_key_to_iter(key)) : json_object_iter(json);
    *value = (const struct json_value *)json_object_iter_value(cursor);
    return cursor ? json_object_iter_key(cursor) : NULL;
}

const struct json_value *json_element(const struct json_value *array, size_t index)
{
    return (const struct json_value *)json_array_get(inner(array), index);
}

bool json_get_object(const struct json_value *value, size_t *n_members)
{
    if (!json_is_object(inner(value)))
        return false;
    *n_members = json_object_size(inner(value));
    return true;
}

bool json_get_array(const struct json_value *value, size_t *n_elements)
{
    if (!json_is_array(inner(value)))
        return false;
    *n_elements = json_array_size(inner(value));
    return true;
}

bool json_get_text(const struct json_value *value, const char **text)
{
    if (!json_is_string(inner(value)))
        return false;
    *text = json_string_value(inner(value));
    return true;
}

bool json_get_int64(const struct json_value *value, int64_t *number)
{
    if (!json_is_integer(inner(value)))
        return false;
    *number = json_integer_value(inner(value));
    return true;
}

bool json_is_missing(const struct json_value *value)
{
    return !value || json_is_null(inner(value));
}

bool json_get_bool(const struct json_value *value, bool *is_true)
{
    if (!json_is_boolean(inner(value)))
        return false;
    *is_true = json_is_true(inner(value));
    return true;
}

bool json_get_double(const struct json_value *value, double *number)
{
    if (!json_is_number(inner(value)))
        return false;
    *number = json_number_value(inner(value));
    return true;
}
