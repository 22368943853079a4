/* Reads tensor files in the safetensors format: the length of the header, the header in JSON, and the arrays, which
 * must cover the rest of the file exactly. Maps the file and copies only misaligned arrays. Start at parse_header. */
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"

struct pair {
    const char *key, *value;
};

/* `tensor` is the first member, so that entries can be compared as tensors. */
struct entry {
    struct clv_tensor tensor;
    uint64_t begin; /* of its array, behind the header */
};

struct clv_tensors {
    char *name; /* the file, for messages */
    struct file_map map;
    uint64_t data_begin;       /* in the file */
    struct json_value *header; /* owns the names and the metadata */
    struct entry *entries;
    size_t n;
    void **copies; /* [n] copies of arrays that are misaligned in the file, else NULL */
    struct pair *metadata;
    size_t n_metadata;
};

/* The range of an entry's array, relative to the end of the header. */
struct range {
    uint64_t begin, end;
    const char *name;
};

void clv_tensors_close(struct clv_tensors *tensors)
{
    if (!tensors)
        return;
    for (size_t i = 0; tensors->copies && i < tensors->n; i++)
        array_free(tensors->copies[i]);
    arrays_free(tensors->copies, tensors->entries, tensors->metadata);
    json_root_free(tensors->header);
    file_map_close(&tensors->map);
    arrays_free(tensors->name, tensors);
}

size_t tensors_offset(const struct clv_tensors *tensors, const struct clv_tensor *tensor)
{
    return (size_t)(tensors->data_begin + ((const struct entry *)tensor)->begin);
}

const struct file_map *tensors_map(const struct clv_tensors *tensors)
{
    return &tensors->map;
}

static enum clv_status parse_metadata(struct clv_tensors *self, const struct json_value *object, struct clv_error *err)
{
    size_t n;
    FAIL_IF(!json_get_object(object, &n), CLV_ERR_DATA, "%s: __metadata__ is not a JSON object", self->name);
    self->metadata = array_alloc(n, sizeof *self->metadata);
    NEED(self->metadata);
    const struct json_value *value;
    for (const char *key = NULL; (key = json_next_member(&value, object, key));) {
        struct pair *pair = &self->metadata[self->n_metadata++];
        pair->key = key;
        FAIL_IF(!json_get_text(value, &pair->value), CLV_ERR_DATA, "%s: metadata \"%s\" is not a string", self->name,
                key);
    }
    return CLV_OK;
}

static enum clv_status parse_shape(struct clv_tensor *tensor, const char *file, const struct json_value *shape,
                                   struct clv_error *err)
{
    size_t n;
    if (!json_get_array(shape, &n))
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": shape is missing or not an array", file, tensor->name);
    FAIL_IF(n > CLV_TENSOR_MAX_DIMENSIONS, CLV_ERR_DATA, "%s: tensor \"%s\": %zu dimensions, the limit is %d", file,
            tensor->name, n, CLV_TENSOR_MAX_DIMENSIONS);
    tensor->n_dimensions = (int32_t)n;
    for (size_t i = 0; i < n; i++)
        if (!json_get_int64(json_element(shape, i), &tensor->shape[i]) || tensor->shape[i] < 0)
            return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": dimension %zu of its shape is not a count", file,
                        tensor->name, i);
    return CLV_OK;
}

/* Parses one entry of the header: {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}. */
static enum clv_status parse_entry(struct clv_tensor *tensor, struct range *range, const char *file,
                                   const struct json_value *entry, uint64_t data_size, struct clv_error *err)
{
    size_t n, bytes;
    const char *dtype;
    int64_t begin, end;
    const char *name = tensor->name;
    FAIL_IF(!json_get_object(entry, &n), CLV_ERR_DATA, "%s: tensor \"%s\": its entry is not a JSON object", file, name);
    if (!json_get_text(json_member(entry, "dtype"), &dtype))
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": dtype is missing or not a string", file, name);
    if (!dtype_find(&tensor->dtype, dtype))
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": type %.40s is not supported", file, name, dtype);
    MUST(parse_shape(tensor, file, json_member(entry, "shape"), err));
    const struct json_value *offsets = json_member(entry, "data_offsets");
    if (!json_get_array(offsets, &n) || n != 2 || !json_get_int64(json_element(offsets, 0), &begin) ||
        !json_get_int64(json_element(offsets, 1), &end))
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": data_offsets are not two integers", file, name);
    if (begin < 0 || end < begin || (uint64_t)end > data_size)
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": its bytes %lld to %lld are outside the file's %llu", file,
                    name, (long long)begin, (long long)end, (unsigned long long)data_size);
    FAIL_IF(!tensor_bytes(&bytes, tensor), CLV_ERR_DATA, "%s: tensor \"%s\": its shape is too large", file, name);
    FAIL_IF(bytes != (uint64_t)(end - begin), CLV_ERR_DATA,
            "%s: tensor \"%s\": its shape takes %zu bytes, its offsets hold %lld", file, name, bytes,
            (long long)(end - begin));
    *range = (struct range){(uint64_t)begin, (uint64_t)end, name};
    return CLV_OK;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct range *r = a, *s = b;
    if (r->begin != s->begin)
        return r->begin < s->begin ? -1 : 1;
    return r->end < s->end ? -1 : r->end > s->end;
}

/* The arrays must cover the file without overlap, gap or rest, so that no byte is hidden or read twice. */
static enum clv_status check_cover(const char *file, struct range *ranges, size_t n, uint64_t data_size,
                                   struct clv_error *err)
{
    uint64_t covered = 0;
    qsort(ranges, n, sizeof *ranges, compare_ranges);
    for (size_t i = 0; i < n; i++) {
        if (ranges[i].begin != covered)
            return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": begins at byte %llu, %s byte %llu", file, ranges[i].name,
                        (unsigned long long)ranges[i].begin,
                        ranges[i].begin < covered ? "overlapping" : "leaving a gap from", (unsigned long long)covered);
        covered = ranges[i].end;
    }
    FAIL_IF(covered != data_size, CLV_ERR_DATA, "%s: %llu bytes behind the last tensor", file,
            (unsigned long long)(data_size - covered));
    return CLV_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct clv_tensor *)a)->name, ((const struct clv_tensor *)b)->name);
}

static int compare_pairs(const void *a, const void *b)
{
    return strcmp(((const struct pair *)a)->key, ((const struct pair *)b)->key);
}

/* Copies arrays that are misaligned for their type, as in files of other programs. */
static enum clv_status align(struct clv_tensors *self, struct clv_error *err)
{
    for (size_t i = 0; i < self->n; i++) {
        struct clv_tensor *tensor = &self->entries[i].tensor;
        size_t bytes = 0;
        tensor_bytes(&bytes, tensor);
        if ((uintptr_t)tensor->data % clv_dtype_size(tensor->dtype) == 0)
            continue;
        self->copies[i] = array_copy(tensor->data, bytes, 1);
        NEED(self->copies[i]);
        tensor->data = self->copies[i];
    }
    return CLV_OK;
}

static enum clv_status parse_header(struct clv_tensors *self, const unsigned char *data, uint64_t data_size,
                                    struct clv_error *err)
{
    size_t n = 0;
    const struct json_value *value;
    json_get_object(self->header, &n);
    OWNED_ARRAY struct range *ranges = array_alloc(n, sizeof *ranges);
    self->entries = array_zalloc(n, sizeof *self->entries);
    self->copies = array_zalloc(n, sizeof *self->copies);
    NEED(ranges && self->entries && self->copies);
    for (const char *key = NULL; (key = json_next_member(&value, self->header, key));) {
        if (strcmp(key, "__metadata__") == 0) {
            MUST(parse_metadata(self, value, err));
            continue;
        }
        struct entry *entry = &self->entries[self->n];
        entry->tensor.name = key;
        MUST(parse_entry(&entry->tensor, &ranges[self->n], self->name, value, data_size, err));
        entry->begin = ranges[self->n++].begin;
        entry->tensor.data = data + entry->begin;
    }
    MUST(check_cover(self->name, ranges, self->n, data_size, err));
    qsort(self->entries, self->n, sizeof *self->entries, compare_names);
    if (self->n_metadata)
        qsort(self->metadata, self->n_metadata, sizeof *self->metadata, compare_pairs);
    return align(self, err);
}

/* Message formats. Their addresses are the `kind` of these failures (tensors_are_not). */
static const char without_length[] = "%s: not a tensor file: it does not begin with the length of a header, at most %d";
static const char without_object[] = "%s: not a tensor file: its header is not a JSON object";

bool tensors_are_not(const struct clv_error *why)
{
    return why->kind == without_length || why->kind == without_object;
}

/* Reads the length of the header from head[8], in a file of `size` bytes. */
static enum clv_status parse_length(uint64_t *header, const struct clv_tensors *self, const void *head, size_t size,
                                    struct clv_error *err)
{
    uint64_t length;
    memcpy(&length, head, sizeof length);
    FAIL_IF(length > TENSORS_MAX_HEADER, CLV_ERR_DATA, without_length, self->name, TENSORS_MAX_HEADER);
    FAIL_IF(length > size - sizeof length, CLV_ERR_DATA,
            "%s: truncated, or not a tensor file: a header of %llu bytes in a file of %zu", self->name,
            (unsigned long long)length, size);
    *header = length;
    return CLV_OK;
}

static enum clv_status parse_json(struct clv_tensors *self, const char *json, uint64_t length, struct clv_error *err)
{
    FAIL_IF(!length || *json != '{', CLV_ERR_DATA, without_object, self->name);
    return json_parse(&self->header, json, length, self->name, err);
}

static enum clv_status check_size(const struct clv_tensors *self, size_t size, struct clv_error *err)
{
    return size < sizeof(uint64_t)
               ? fail(err, CLV_ERR_DATA, "%s: %zu bytes are too few for a tensor file", self->name, size)
               : CLV_OK;
}

static enum clv_status parse(struct clv_tensors *self, const unsigned char *bytes, size_t size, struct clv_error *err)
{
    uint64_t length = 0;
    MUST(check_size(self, size, err));
    MUST(parse_length(&length, self, bytes, size, err));
    MUST(parse_json(self, (const char *)bytes + sizeof length, length, err));
    self->data_begin = sizeof length + length;
    return parse_header(self, bytes + self->data_begin, size - self->data_begin, err);
}

static struct clv_tensors *new_tensors(const char *name)
{
    OWNED(tensors_drop) struct clv_tensors *self = array_zalloc(1, sizeof *self);
    if (self)
        self->name = string_copy(name);
    return self && self->name ? TAKE(self) : NULL;
}

enum clv_status clv_tensors_open(struct clv_tensors **tensors, const char *path, struct clv_error *err)
{
    *tensors = NULL;
    OWNED(tensors_drop) struct clv_tensors *self = new_tensors(path);
    NEED(self);
    MUST(file_map_open(&self->map, path, err));
    MUST(parse(self, self->map.bytes, self->map.size, err));
    *tensors = TAKE(self);
    return CLV_OK;
}

enum clv_status clv_tensors_parse(struct clv_tensors **tensors, const void *bytes, size_t size, const char *name,
                                  struct clv_error *err)
{
    *tensors = NULL;
    OWNED(tensors_drop) struct clv_tensors *self = new_tensors(name);
    NEED(self);
    MUST(parse(self, bytes, size, err));
    *tensors = TAKE(self);
    return CLV_OK;
}

size_t clv_tensors_count(const struct clv_tensors *tensors)
{
    return tensors->n;
}

const struct clv_tensor *clv_tensors_at(const struct clv_tensors *tensors, size_t index)
{
    return index < tensors->n ? &tensors->entries[index].tensor : NULL;
}

const struct clv_tensor *clv_tensors_find(const struct clv_tensors *tensors, const char *name)
{
    struct clv_tensor wanted = {.name = name};
    return tensors->n ? bsearch(&wanted, tensors->entries, tensors->n, sizeof *tensors->entries, compare_names) : NULL;
}

/* Prints a shape as "[600, 2]", with "any" for -1. */
static void print_shape(char text[128], int32_t n_dimensions, const int64_t *shape)
{
    size_t used = (size_t)snprintf(text, 128, "[");
    for (int32_t i = 0; i < n_dimensions; i++)
        used +=
            (size_t)(shape[i] < 0 ? snprintf(text + used, 128 - used, "%sany", i ? ", " : "")
                                  : snprintf(text + used, 128 - used, "%s%lld", i ? ", " : "", (long long)shape[i]));
    snprintf(text + used, 128 - used, "]");
}

enum clv_status clv_tensors_require(const struct clv_tensor **tensor, const struct clv_tensors *tensors,
                                    const char *name, enum clv_dtype dtype, int32_t n_dimensions, const int64_t *shape,
                                    struct clv_error *err)
{
    *tensor = NULL;
    if (n_dimensions < 0 || n_dimensions > CLV_TENSOR_MAX_DIMENSIONS)
        return fail(err, CLV_ERR_USAGE, "tensor \"%s\": %d dimensions asked for", name, n_dimensions);
    const struct clv_tensor *found = clv_tensors_find(tensors, name);
    FAIL_IF(!found, CLV_ERR_DATA, "%s: tensor \"%s\" is missing", tensors->name, name);
    FAIL_IF(found->dtype != dtype, CLV_ERR_DATA, "%s: tensor \"%s\": its type is %s, not %s", tensors->name, name,
            dtype_name(found->dtype), dtype_name(dtype));
    bool same = found->n_dimensions == n_dimensions;
    for (int32_t i = 0; same && i < n_dimensions; i++)
        same = shape[i] < 0 || shape[i] == found->shape[i];
    if (!same) {
        char has[128], wanted[128];
        print_shape(has, found->n_dimensions, found->shape);
        print_shape(wanted, n_dimensions, shape);
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": its shape is %s, not %s", tensors->name, name, has, wanted);
    }
    *tensor = found;
    return CLV_OK;
}

const char *clv_tensors_metadata(const struct clv_tensors *tensors, const char *key)
{
    struct pair wanted = {key, NULL};
    const struct pair *found =
        tensors->n_metadata ? bsearch(&wanted, tensors->metadata, tensors->n_metadata, sizeof wanted, compare_pairs)
                            : NULL;
    return found ? found->value : NULL;
}

size_t clv_tensors_metadata_count(const struct clv_tensors *tensors)
{
    return tensors->n_metadata;
}

const char *clv_tensors_metadata_key(const struct clv_tensors *tensors, size_t index)
{
    return index < tensors->n_metadata ? tensors->metadata[index].key : NULL;
}
