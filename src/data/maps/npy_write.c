/* Writes maps as NumPy's .npy files, version 1 (numpy.lib.format). */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "data/maps/maps.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, ".npy files are written as little-endian, as numbers are");

#define HEAD_SIZE 128 /* magic number, version, length and dictionary: the array is aligned */

/* values[n_channels][height][width] of `size` bytes each; `type` is numpy's name of them. */
static enum clv_status npy_write(const char *path, const char *type, const void *values, size_t size,
                                 const int32_t shape[3], struct clv_error *err)
{
    struct file_writer writer;
    char head[HEAD_SIZE + 1] = "\x93NUMPY\x01";
    size_t start = 10, length = HEAD_SIZE - start;
    head[8] = (char)length;
    int used = snprintf(head + start, length, "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d, %d), }", type,
                        shape[0], shape[1], shape[2]);
    memset(head + start + used, ' ', length - (size_t)used);
    head[HEAD_SIZE - 1] = '\n';
    MUST(file_create(&writer, path, err));
    fwrite(head, 1, HEAD_SIZE, writer.stream);
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
