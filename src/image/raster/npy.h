/* Arrays of numbers as they stand in files, and where a .npy file has its one. */
#ifndef IMAGE_NPY_H
#define IMAGE_NPY_H

#include <stdbool.h>

#include "cleave/status.h"

enum number_type {
    NUMBER_U8,
    NUMBER_U16,
    NUMBER_F16,
    NUMBER_F32,
    NUMBER_F64,
    NUMBER_I8,
    NUMBER_I16,
    NUMBER_U32,
    NUMBER_I32
};
size_t number_type_size(enum number_type type);

/* A number at any address. */
double number_load(const unsigned char *bytes, enum number_type type, bool big_endian);

/* IEEE 754 half precision; every value of it is one of single precision. */
float number_from_half(uint16_t bits);

enum { NUMBER_MAX_DIMENSIONS = 6 };

/* Numbers at any address, in either byte order. */
struct number_array {
    const unsigned char *bytes; /* all of them are there */
    enum number_type type;
    bool big_endian, is_fortran; /* is_fortran: the first dimension runs fastest */
    int32_t n_dimensions;
    int64_t shape[NUMBER_MAX_DIMENSIONS];
};

/* "16 x 32 x 32" */
void number_shape_name(char *name, size_t size, const struct number_array *array);

/* The number of bytes that a shape takes; false if a dimension is negative or the product overflows. */
bool number_array_bytes(size_t *bytes, const struct number_array *array);

/* Numbers from one place of a dimension to the next. */
size_t number_stride(const struct number_array *array, int32_t dimension);

/* The array of a .npy file, a view of its bytes; types are those that `readable` names, which ends the message about
 * others. */
#define NPY_OF_MAPS    "maps are u1, u2, f2, f4 or f8"
#define NPY_OF_RASTERS "rasters are u1, i1, u2, i2, u4, i4, f2, f4 or f8"
bool npy_recognised(const unsigned char *bytes, size_t size);
enum clv_status npy_parse(struct number_array *array, const unsigned char *bytes, size_t size, const char *readable,
                          struct clv_error *err) CLV_CHECK;

#endif
