/* Writes maps as NumPy's .npy files, version 1 (numpy.lib.format). */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "data/maps/maps.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, ".npy files are written as little-endian, as numbers are");

#define HEAD_SIZE 128 /* magic number, version, length and padded dictionary; keeps the array aligned */

/* Writes the header; `type` is NumPy's name of the type. */
static void put_head(FILE *stream, const char *type, const int32_t shape[3])
{
    char head[HEAD_SIZE + 1] = "\x93NUMPY\x01";
    size_t start = 10, length = HEAD_SIZE - start;
    head[8] = (char)length;
    int used = snprintf(head + start, length, "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d, %d), }", type,
                        shape[0], shape[1], shape[2]);
    memset(head + start + used, ' ', length - (size_t)used);
    head[HEAD_SIZE - 1] = '\n';
    fwrite(head, 1, HEAD_SIZE, stream);
}

/* Writes values[n_channels][height][width] of `size` bytes each. */
static enum clv_status npy_write(const char *path, const char *type, const void *values, size_t size,
                                 const int32_t shape[3], struct clv_error *err)
{
    struct file_writer writer;
    MUST(file_create(&writer, path, err));
    put_head(writer.stream, type, shape);
    fwrite(values, size, (size_t)shape[0] * (size_t)shape[1] * (size_t)shape[2], writer.stream);
    return file_commit(&writer, err);
}

enum clv_status npy_write_planes(const char *path, const uint16_t *values, int32_t n_channels, int32_t height,
                                 int32_t width, struct clv_error *err)
{
    return npy_write(path, "<u2", values, sizeof *values, (const int32_t[]){n_channels, height, width}, err);
}

enum clv_status npy_write_numbers(const char *path, const float *values, int32_t n_channels, int32_t height,
                                  int32_t width, struct clv_error *err)
{
    return npy_write(path, "<f4", values, sizeof *values, (const int32_t[]){n_channels, height, width}, err);
}

enum clv_status npy_rows_open(struct npy_rows *self, const char *path, bool are_numbers, const int32_t shape[3],
                              struct clv_error *err)
{
    *self = (struct npy_rows){.value_bytes = are_numbers ? sizeof(float) : sizeof(uint16_t)};
    memcpy(self->shape, shape, sizeof self->shape);
    MUST(file_create(&self->file, path, err));
    put_head(self->file.stream, are_numbers ? "<f4" : "<u2", shape);
    return CLV_OK;
}

enum clv_status npy_rows_put(struct npy_rows *self, const void *values, int32_t row, struct clv_error *err)
{
    const size_t row_bytes = (size_t)self->shape[2] * self->value_bytes;
    for (int32_t channel = 0; channel < self->shape[0]; channel++) {
        const size_t rows = (size_t)channel * (size_t)self->shape[1] + (size_t)row;
        if (fseeko(self->file.stream, (off_t)(HEAD_SIZE + rows * row_bytes), SEEK_SET) ||
            fwrite((const char *)values + (size_t)channel * row_bytes, 1, row_bytes, self->file.stream) != row_bytes)
            return fail_errno(err, CLV_ERR_IO, "%s: cannot write", self->file.path);
    }
    return CLV_OK;
}

enum clv_status npy_rows_commit(struct npy_rows *self, struct clv_error *err)
{
    OWNED(file_abort) struct file_writer file = TAKE(self->file);
    return file_commit(&file, err);
}

void npy_rows_abort(struct npy_rows *self)
{
    file_abort(&self->file);
}
