#include "base/json.h"

#include <jansson.h>
#include <stdlib.h>
#include <threads.h>

#include "base/array.h"
#include "base/error.h"

/* Whether an allocation failed during this thread's parse. */
static thread_local bool out_of_memory;

/* jansson 2.14 does not look at every failure: it loses characters, asserts or crashes. So a failure is remembered,
 * which makes json_parse throw the result away, and tried once more. */
static void *allocate(size_t size)
{
    void *memory = array_alloc(size, 1);
    if (!memory) {
        out_of_memory = true;
        memory = array_alloc(size, 1);
    }
    return memory;
}

/* jansson's memory goes through base/array.h, so that failure injection reaches it. Its allocator belongs to the whole
 * process: a program that has set one of its own keeps it. */
static void hook_allocator(void)
{
    json_malloc_t current_malloc = NULL;
    json_free_t current_free = NULL;
    json_get_alloc_funcs(&current_malloc, &current_free);
    if (current_malloc == malloc && current_free == free)
        json_set_alloc_funcs(allocate, array_free);
}

static const json_t *inner(const struct json_value *value)
{
    return (const json_t *)value;
}

/* The deepest nesting of brackets outside strings: what bounds the parser's recursion, found without it. */
static size_t nesting(const char *bytes, size_t size)
{
    size_t depth = 0, deepest = 0;
    bool in_string = false;
    for (size_t i = 0; i < size; i++) {
        char c = bytes[i];
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '{' || c == '[') && ++depth > deepest)
            deepest = depth;
        else if (!in_string && (c == '}' || c == ']') && depth)
            depth--;
    }
    return deepest;
}

enum clv_status json_parse(struct json_value **root, const char *bytes, size_t size, const char *name,
                           struct clv_error *err)
{
    static once_flag hooked = ONCE_FLAG_INIT;
    call_once(&hooked, hook_allocator);
    *root = NULL;
    if (nesting(bytes, size) > JSON_MAX_DEPTH)
        return fail(err, CLV_ERR_DATA, "%s: JSON nested deeper than %d levels", name, JSON_MAX_DEPTH);
    json_error_t reason;
    out_of_memory = false;
    json_t *parsed = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &reason);
    if (out_of_memory || (!parsed && json_error_code(&reason) == json_error_out_of_memory)) {
        json_decref(parsed);
        return fail_memory(err);
    }
    if (!parsed)
        return fail(err, CLV_ERR_DATA, "%s: bad JSON in line %d, column %d: %s", name, reason.line, reason.column,
                    reason.text);
    *root = (struct json_value *)parsed;
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

bool json_get_double(const struct json_value *value, double *number)
{
    if (!json_is_number(inner(value)))
        return false;
    *number = json_number_value(inner(value));
    return true;
}
