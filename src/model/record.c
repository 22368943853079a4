/* Keeps the training record of a model, keys and texts that tell how it was trained, and reads texts and numbers of
 * model files' metadata. Start at clv_record_set. */
#include "model/model.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"

void record_release(struct clv_record *record)
{
    for (size_t i = 0; i < record->n; i++) {
        arrays_free(record->entries[i].key, record->entries[i].value);
    }
    array_free(record->entries);
    *record = (struct clv_record){0};
}

static struct clv_record_entry *find_entry(const struct clv_record *record, const char *key)
{
    for (size_t i = 0; i < record->n; i++)
        if (strcmp(record->entries[i].key, key) == 0)
            return &record->entries[i];
    return NULL;
}

const char *clv_record_get(const struct clv_record *record, const char *key)
{
    const struct clv_record_entry *entry = find_entry(record, key);
    return entry ? entry->value : NULL;
}

/* Appends an entry to the array, which has space for it. */
static enum clv_status append_entry(struct clv_record *record, const char *key, const char *value,
                                    struct clv_error *err)
{
    OWNED_ARRAY char *key_copy = string_copy(key);
    OWNED_ARRAY char *value_copy = string_copy(value);
    NEED(key_copy && value_copy);
    record->entries[record->n++] = (struct clv_record_entry){TAKE(key_copy), TAKE(value_copy)};
    return CLV_OK;
}

static enum clv_status reserve_entries(struct clv_record *record, size_t n_more, struct clv_error *err)
{
    struct clv_record_entry *grown = array_realloc(record->entries, record->n + n_more, sizeof *grown);
    NEED(grown);
    record->entries = grown;
    return CLV_OK;
}

enum clv_status clv_record_set(struct clv_record *record, const char *key, const char *value, struct clv_error *err)
{
    struct clv_record_entry *entry = find_entry(record, key);
    if (!entry) {
        MUST(reserve_entries(record, 1, err));
        return append_entry(record, key, value, err);
    }
    char *text = string_copy(value);
    NEED(text);
    array_free(entry->value);
    entry->value = text;
    return CLV_OK;
}

void record_put_json(struct text *text, const struct clv_record *record)
{
    text_put(text, "{");
    for (size_t i = 0; i < record->n; i++) {
        text_put(text, i ? "," : "");
        text_put_json(text, record->entries[i].key);
        text_put(text, ":");
        text_put_json(text, record->entries[i].value);
    }
    text_put(text, "}");
}

enum clv_status record_read(struct clv_record *record, const struct clv_tensors *tensors, const char *path,
                            struct clv_error *err)
{
    size_t n;
    OWNED(json_drop) struct json_value *root = NULL;
    const struct json_value *value;
    MUST(metadata_parse(&root, tensors, "record", path, err));
    FAIL_IF(!json_get_object(root, &n), CLV_ERR_DATA, "%s: its record is not a JSON object", path);
    MUST(reserve_entries(record, n, err));
    /* Each key occurs once, since JSON with a repeated key was refused. So entries are appended without a search. */
    for (const char *key = NULL; (key = json_next_member(&value, root, key));) {
        const char *text;
        FAIL_IF(!json_get_text(value, &text), CLV_ERR_DATA, "%s: \"%.60s\" of its record is not text", path, key);
        MUST(append_entry(record, key, text, err));
    }
    return CLV_OK;
}

enum clv_status metadata_require(const char **text, const struct clv_tensors *tensors, const char *key,
                                 const char *path, struct clv_error *err)
{
    *text = clv_tensors_metadata(tensors, key);
    return *text ? CLV_OK : fail(err, CLV_ERR_DATA, "%s: its metadata has no \"%s\"", path, key);
}

enum clv_status metadata_parse(struct json_value **root, const struct clv_tensors *tensors, const char *key,
                               const char *path, struct clv_error *err)
{
    const char *text;
    *root = NULL;
    MUST(metadata_require(&text, tensors, key, path, err));
    return json_parse(root, text, strlen(text), path, err);
}

enum clv_status metadata_count(int32_t *count, const struct json_value *object, const char *key, int32_t minimum,
                               int32_t maximum, const char *path, struct clv_error *err)
{
    int64_t wide;
    if (!json_get_int64(json_member(object, key), &wide) || wide < minimum || wide > maximum)
        return fail(err, CLV_ERR_DATA, "%s: \"%s\" is missing or not in %d to %d", path, key, minimum, maximum);
    *count = (int32_t)wide;
    return CLV_OK;
}

enum clv_status record_number(struct clv_record *record, const char *key, double value, struct clv_error *err)
{
    OWNED(text_release) struct text text = {0};
    text_init(&text, 64);
    text_put_json_number(&text, value);
    NEED(!text.failed);
    return clv_record_set(record, key, text.bytes, err);
}
