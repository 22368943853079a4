#include "data/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/json.h"

struct pair {
    const char *key, *value;
};

struct clv_tensors {
    char *name; /* the file, for messages */
    struct file_map map;
    struct json_value *header; /* owns the names and the metadata */
    struct clv_tensor *tensors;
    size_t n;
    void **copies; /* [n] of arrays that are misaligned in the file, else NULL */
    struct pair *metadata;
    size_t n_metadata;
};

/* Where an entry's array lies, relative to the end of the header. */
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
    array_free(tensors->copies);
    array_free(tensors->tensors);
    array_free(tensors->metadata);
    json_root_free(tensors->header);
    file_map_close(&tensors->map);
    array_free(tensors->name);
    array_free(tensors);
}

void tensors_forget(const struct clv_tensors *tensors)
{
    file_map_forget(&tensors->map);
}

size_t tensors_huge_page(const struct clv_tensors *tensors)
{
    return tensors->map.size > FILE_LARGE ? FILE_HUGE_PAGE : 0;
}

static enum clv_status parse_metadata(struct clv_tensors *self, const struct json_value *object, struct clv_error *err)
{
    size_t n;
    if (!json_get_object(object, &n))
        return fail(err, CLV_ERR_DATA, "%s: __metadata__ is no JSON object", self->name);
    self->metadata = array_alloc(n, sizeof *self->metadata);
    if (!self->metadata)
        return fail_memory(err);
    const struct json_value *value;
    for (const char *key = NULL; (key = json_next_member(&value, object, key));) {
        struct pair *pair = &self->metadata[self->n_metadata++];
        pair->key = key;
        if (!json_get_text(value, &pair->value))
            return fail(err, CLV_ERR_DATA, "%s: metadata \"%s\" is no string", self->name, key);
    }
    return CLV_OK;
}

static enum clv_status parse_shape(struct clv_tensor *tensor, const char *file, const struct json_value *shape,
                                   struct clv_error *err)
{
    size_t n;
    if (!json_get_array(shape, &n))
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": shape is missing or no array", file, tensor->name);
    if (n > CLV_TENSOR_MAX_DIMENSIONS)
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": %zu dimensions, the limit is %d", file, tensor->name, n,
                    CLV_TENSOR_MAX_DIMENSIONS);
    tensor->n_dimensions = (int32_t)n;
    for (size_t i = 0; i < n; i++)
        if (!json_get_int64(json_element(shape, i), &tensor->shape[i]) || tensor->shape[i] < 0)
            return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": dimension %zu of its shape is no count", file,
                        tensor->name, i);
    return CLV_OK;
}

/* One entry of the header: {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}. */
static enum clv_status parse_entry(struct clv_tensor *tensor, struct range *range, const char *file,
                                   const struct json_value *entry, uint64_t data_size, struct clv_error *err)
{
    size_t n, bytes;
    const char *dtype;
    int64_t begin, end;
    const char *name = tensor->name;
    if (!json_get_object(entry, &n))
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": its entry is no JSON object", file, name);
    if (!json_get_text(json_member(entry, "dtype"), &dtype))
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": dtype is missing or no string", file, name);
    if (!dtype_find(&tensor->dtype, dtype))
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": type %.40s is not supported", file, name, dtype);
    enum clv_status status = parse_shape(tensor, file, json_member(entry, "shape"), err);
    if (status != CLV_OK)
        return status;
    const struct json_value *offsets = json_member(entry, "data_offsets");
    if (!json_get_array(offsets, &n) || n != 2 || !json_get_int64(json_element(offsets, 0), &begin) ||
        !json_get_int64(json_element(offsets, 1), &end))
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": data_offsets are no two integers", file, name);
    if (begin < 0 || end < begin || (uint64_t)end > data_size)
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": its bytes %lld to %lld lie outside the file's %llu", file,
                    name, (long long)begin, (long long)end, (unsigned long long)data_size);
    if (!tensor_bytes(&bytes, tensor))
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": its shape is too large", file, name);
    if (bytes != (uint64_t)(end - begin))
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": its shape takes %zu bytes, its offsets hold %lld", file,
                    name, bytes, (long long)(end - begin));
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
    if (covered != data_size)
        return fail(err, CLV_ERR_DATA, "%s: %llu bytes behind the last tensor", file,
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

/* Files of other writers may hold arrays at addresses that do not suit their type: those are copied. */
static enum clv_status align(struct clv_tensors *self, struct clv_error *err)
{
    self->copies = array_zalloc(self->n, sizeof *self->copies);
    if (!self->copies)
        return fail_memory(err);
    for (size_t i = 0; i < self->n; i++) {
        struct clv_tensor *tensor = &self->tensors[i];
        size_t bytes = 0;
        tensor_bytes(&bytes, tensor);
        if ((uintptr_t)tensor->data % clv_dtype_size(tensor->dtype) == 0)
            continue;
        self->copies[i] = array_copy(tensor->data, bytes, 1);
        if (!self->copies[i])
            return fail_memory(err);
        tensor->data = self->copies[i];
    }
    return CLV_OK;
}

static enum clv_status parse_header(struct clv_tensors *self, const unsigned char *data, uint64_t data_size,
                                    struct clv_error *err)
{
    size_t n = 0;
    enum clv_status status = CLV_OK;
    const struct json_value *value;
    json_get_object(self->header, &n);
    struct range *ranges = array_alloc(n, sizeof *ranges);
    self->tensors = array_zalloc(n, sizeof *self->tensors);
    if (!ranges || !self->tensors) {
        status = fail_memory(err);
        goto done;
    }
    for (const char *key = NULL; status == CLV_OK && (key = json_next_member(&value, self->header, key));) {
        if (strcmp(key, "__metadata__") == 0) {
            status = parse_metadata(self, value, err);
            continue;
        }
        struct clv_tensor *tensor = &self->tensors[self->n];
        tensor->name = key;
        status = parse_entry(tensor, &ranges[self->n], self->name, value, data_size, err);
        if (status == CLV_OK)
            tensor->data = data + ranges[self->n++].begin;
    }
    if (status == CLV_OK)
        status = check_cover(self->name, ranges, self->n, data_size, err);
    if (status != CLV_OK)
        goto done;
    qsort(self->tensors, self->n, sizeof *self->tensors, compare_names);
    if (self->n_metadata)
        qsort(self->metadata, self->n_metadata, sizeof *self->metadata, compare_pairs);
    status = align(self, err);
done:
    array_free(ranges);
    return status;
}

static enum clv_status parse(struct clv_tensors *self, const unsigned char *bytes, size_t size, struct clv_error *err)
{
    uint64_t length;
    if (size < sizeof length)
        return fail(err, CLV_ERR_DATA, "%s: %zu bytes are too few for a tensor file", self->name, size);
    memcpy(&length, bytes, sizeof length);
    if (length > TENSORS_MAX_HEADER)
        return fail(err, CLV_ERR_DATA, "%s: not a tensor file: its header would be %llu bytes long, the limit is %d",
                    self->name, (unsigned long long)length, TENSORS_MAX_HEADER);
    if (length > size - sizeof length)
        return fail(err, CLV_ERR_DATA, "%s: truncated, or not a tensor file: a header of %llu bytes in a file of %zu",
                    self->name, (unsigned long long)length, size);
    const char *json = (const char *)bytes + sizeof length;
    if (!length || *json != '{')
        return fail(err, CLV_ERR_DATA, "%s: not a tensor file: its header is no JSON object", self->name);
    enum clv_status status = json_parse(&self->header, json, length, self->name, err);
    return status == CLV_OK ? parse_header(self, bytes + sizeof length + length, size - sizeof length - length, err)
                            : status;
}

static struct clv_tensors *new_tensors(const char *name)
{
    struct clv_tensors *self = array_zalloc(1, sizeof *self);
    if (self)
        self->name = string_copy(name);
    if (self && self->name)
        return self;
    array_free(self);
    return NULL;
}

enum clv_status clv_tensors_open(struct clv_tensors **tensors, const char *path, struct clv_error *err)
{
    *tensors = NULL;
    struct clv_tensors *self = new_tensors(path);
    if (!self)
        return fail_memory(err);
    enum clv_status status = file_map_open(&self->map, path, err);
    if (status == CLV_OK)
        status = parse(self, self->map.bytes, self->map.size, err);
    if (status == CLV_OK)
        *tensors = self;
    else
        clv_tensors_close(self);
    return status;
}

enum clv_status clv_tensors_parse(struct clv_tensors **tensors, const void *bytes, size_t size, const char *name,
                                  struct clv_error *err)
{
    *tensors = NULL;
    struct clv_tensors *self = new_tensors(name);
    if (!self)
        return fail_memory(err);
    enum clv_status status = parse(self, bytes, size, err);
    if (status == CLV_OK)
        *tensors = self;
    else
        clv_tensors_close(self);
    return status;
}

size_t clv_tensors_count(const struct clv_tensors *tensors)
{
    return tensors->n;
}

const struct clv_tensor *clv_tensors_at(const struct clv_tensors *tensors, size_t index)
{
    return index < tensors->n ? &tensors->tensors[index] : NULL;
}

const struct clv_tensor *clv_tensors_find(const struct clv_tensors *tensors, const char *name)
{
    struct clv_tensor wanted = {.name = name};
    return tensors->n ? bsearch(&wanted, tensors->tensors, tensors->n, sizeof wanted, compare_names) : NULL;
}

/* "[600, 2]", with "any" for -1. */
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
    if (!found)
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\" is missing", tensors->name, name);
    if (found->dtype != dtype)
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\": its type is %s, not %s", tensors->name, name,
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
