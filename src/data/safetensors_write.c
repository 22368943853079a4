/* Writes tensor files in the safetensors format. Wide types come first, so that every array is aligned; names and keys
 * are sorted, so that equal contents give equal bytes. Start at tensors_begin. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "tensor files hold little-endian numbers, written as they are");

#define DATA_ALIGNMENT 64 /* of the first array in the file: the header is padded with spaces */

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
    [CLV_U8] = {"U8", 1},   [CLV_I32] = {"I32", 4}, [CLV_I64] = {"I64", 8}, [CLV_F32] = {"F32", 4},
    [CLV_F64] = {"F64", 8}, [CLV_U16] = {"U16", 2}, [CLV_I16] = {"I16", 2}, [CLV_F16] = {"F16", 2},
};
#define N_DTYPES (sizeof dtypes / sizeof *dtypes)

size_t clv_dtype_size(enum clv_dtype dtype)
{
    return (size_t)dtype < N_DTYPES ? dtypes[dtype].size : 0;
}

const char *dtype_name(enum clv_dtype dtype)
{
    return (size_t)dtype < N_DTYPES ? dtypes[dtype].name : "?";
}

bool dtype_find(enum clv_dtype *dtype, const char *name)
{
    for (size_t i = 0; i < N_DTYPES; i++)
        if (strcmp(dtypes[i].name, name) == 0) {
            *dtype = (enum clv_dtype)i;
            return true;
        }
    return false;
}

bool tensor_bytes(size_t *bytes, const struct clv_tensor *tensor)
{
    size_t product = clv_dtype_size(tensor->dtype);
    if (!product || tensor->n_dimensions < 0 || tensor->n_dimensions > CLV_TENSOR_MAX_DIMENSIONS)
        return false;
    bool empty = false;
    for (int32_t i = 0; i < tensor->n_dimensions; i++) {
        int64_t length = tensor->shape[i];
        if (length < 0)
            return false;
        empty |= length == 0;
        if (length && (__builtin_mul_overflow(product, (size_t)length, &product) || product > INT64_MAX))
            return false;
    }
    *bytes = empty ? 0 : product;
    return true;
}

int tensor_compare_names(const void *a, const void *b)
{
    return strcmp((*(const struct clv_tensor *const *)a)->name, (*(const struct clv_tensor *const *)b)->name);
}

static int compare_layout(const void *a, const void *b)
{
    size_t a_size = clv_dtype_size((*(const struct clv_tensor *const *)a)->dtype);
    size_t b_size = clv_dtype_size((*(const struct clv_tensor *const *)b)->dtype);
    return a_size != b_size ? (a_size < b_size ? 1 : -1) : tensor_compare_names(a, b);
}

int pair_compare_keys(const void *a, const void *b)
{
    return strcmp((*(const char *const *const *)a)[0], (*(const char *const *const *)b)[0]);
}

/* Pointers to the tensors and to the metadata pairs, for sorting. */
struct sorted {
    const struct clv_tensor **tensors;
    size_t n_tensors;
    const char *const **pairs;
    size_t n_pairs;
};

/* Checks names, types, shapes and keys. Tensors must be sorted by name, pairs by key. */
static enum clv_status check_arguments(const char *path, const struct sorted *self, struct clv_error *err)
{
    const struct clv_tensor *const *sorted = self->tensors;
    const char *const *const *pairs = self->pairs;
    for (size_t i = 0; i < self->n_tensors; i++) {
        const char *name = sorted[i]->name;
        size_t bytes;
        if (strcmp(name, "__metadata__") == 0 || !text_is_utf8(name, strlen(name)))
            return fail(err, CLV_ERR_USAGE, "%s: \"%s\" cannot name a tensor", path, name);
        if (i && strcmp(sorted[i - 1]->name, name) == 0)
            return fail(err, CLV_ERR_USAGE, "%s: tensor \"%s\" is given twice", path, name);
        if (!tensor_bytes(&bytes, sorted[i]))
            return fail(err, CLV_ERR_USAGE, "%s: tensor \"%s\": type or shape out of range", path, name);
    }
    for (size_t i = 1; i < self->n_pairs; i++)
        if (strcmp(pairs[i - 1][0], pairs[i][0]) == 0)
            return fail(err, CLV_ERR_USAGE, "%s: metadata \"%s\" is given twice", path, pairs[i][0]);
    return CLV_OK;
}

static void put_tensor(struct text *header, const struct clv_tensor *tensor, size_t begin, size_t end)
{
    text_put_json(header, tensor->name);
    text_printf(header, ":{\"dtype\":\"%s\",\"shape\":[", dtype_name(tensor->dtype));
    for (int32_t i = 0; i < tensor->n_dimensions; i++)
        text_printf(header, "%s%lld", i ? "," : "", (long long)tensor->shape[i]);
    text_printf(header, "],\"data_offsets\":[%zu,%zu]}", begin, end);
}

/* Appends the header: metadata by key, tensors in the order of their arrays, and spaces up to DATA_ALIGNMENT. */
static enum clv_status put_header(struct text *header, const char *path, const struct sorted *self,
                                  struct clv_error *err)
{
    const char *comma = "";
    text_put(header, "{");
    if (self->n_pairs) {
        text_put(header, "\"__metadata__\":{");
        for (size_t i = 0; i < self->n_pairs; i++) {
            text_put(header, i ? "," : "");
            text_put_json(header, self->pairs[i][0]);
            text_put(header, ":");
            text_put_json(header, self->pairs[i][1]);
        }
        text_put(header, "}");
        comma = ",";
    }
    size_t begin = 0;
    for (size_t i = 0; i < self->n_tensors; i++, comma = ",") {
        size_t bytes = 0, end;
        tensor_bytes(&bytes, self->tensors[i]);
        if (__builtin_add_overflow(begin, bytes, &end) || end > INT64_MAX)
            return fail(err, CLV_ERR_USAGE, "%s: the tensors are too large for one file", path);
        text_put(header, comma);
        put_tensor(header, self->tensors[i], begin, end);
        begin = end;
    }
    text_put(header, "}");
    while (!header->failed && (header->size + 8) % DATA_ALIGNMENT)
        text_put(header, " ");
    if (header->failed && header->size > TENSORS_MAX_HEADER / 2)
        return fail(err, CLV_ERR_USAGE, "%s: the header is longer than %d bytes", path, TENSORS_MAX_HEADER);
    return header->failed ? fail_memory(err) : CLV_OK;
}

static void sorted_release(struct sorted *self)
{
    arrays_free(self->tensors, self->pairs);
}

enum clv_status tensors_begin(struct file_writer *writer, size_t *order, const char *path,
                              const struct tensors_content *content, struct clv_error *err)
{
    size_t n = content->n_tensors, n_pairs = content->n_metadata;
    OWNED(text_release) struct text header = {0};
    text_init(&header, TENSORS_MAX_HEADER);
    OWNED(sorted_release) struct sorted sorted = {.tensors = array_alloc(n, sizeof *sorted.tensors),
                                                  .n_tensors = n,
                                                  .pairs = array_alloc(n_pairs, sizeof *sorted.pairs),
                                                  .n_pairs = n_pairs};
    NEED(sorted.tensors && sorted.pairs);
    for (size_t i = 0; i < n; i++)
        sorted.tensors[i] = &content->tensors[i];
    for (size_t i = 0; i < n_pairs; i++)
        sorted.pairs[i] = content->metadata[i];
    qsort(sorted.tensors, n, sizeof *sorted.tensors, tensor_compare_names);
    qsort(sorted.pairs, n_pairs, sizeof *sorted.pairs, pair_compare_keys);
    MUST(check_arguments(path, &sorted, err));
    qsort(sorted.tensors, n, sizeof *sorted.tensors, compare_layout);
    for (size_t i = 0; i < n; i++)
        order[i] = (size_t)(sorted.tensors[i] - content->tensors);
    MUST(put_header(&header, path, &sorted, err));
    MUST(file_create(writer, path, err));
    uint64_t length = header.size;
    fwrite(&length, sizeof length, 1, writer->stream);
    fwrite(header.bytes, 1, header.size, writer->stream);
    return CLV_OK;
}

enum clv_status clv_tensors_write(const char *path, const struct clv_tensor *tensors, size_t n_tensors,
                                  const char *const (*metadata)[2], size_t n_metadata, struct clv_error *err)
{
    struct file_writer writer;
    OWNED_ARRAY size_t *order = array_alloc(n_tensors, sizeof *order);
    NEED(order);
    const struct tensors_content content = {tensors, n_tensors, metadata, n_metadata};
    MUST(tensors_begin(&writer, order, path, &content, err));
    for (size_t i = 0; i < n_tensors && !ferror(writer.stream); i++) {
        size_t bytes = 0;
        tensor_bytes(&bytes, &tensors[order[i]]);
        if (bytes)
            fwrite(tensors[order[i]].data, 1, bytes, writer.stream);
    }
    return file_commit(&writer, err);
}
