/* Tensor files in the safetensors format: an 8-byte little-endian header length, a JSON header, raw little-endian
 * arrays. Features and models are stored this way; Python opens them with one line:
 *     safetensors.numpy.load_file("horse.cleave")
 * The format is described at https://github.com/huggingface/safetensors. */
#ifndef DATA_TENSORS_H
#define DATA_TENSORS_H

#include "cleave/status.h"

enum clv_dtype { CLV_U8, CLV_I32, CLV_I64, CLV_F32, CLV_F64, CLV_U16, CLV_I16, CLV_F16 };

#define CLV_TENSOR_MAX_DIMENSIONS 4

/* data points into the mapped file (reader) or at the caller's array (writer); it is aligned for its type. */
struct clv_tensor {
    const char *name;
    enum clv_dtype dtype;
    int32_t n_dimensions;
    int64_t shape[CLV_TENSOR_MAX_DIMENSIONS];
    const void *data;
};

/* Reading. The file is mapped, not read; tensors are views valid until clv_tensors_close. Everything is checked before
 * a tensor is handed out, and refused with CLV_ERR_DATA naming file and tensor: a header that is truncated, longer than
 * 100 MB, or no JSON object; duplicate names; types other than those above (BOOL, BF16 ..); more than
 * CLV_TENSOR_MAX_DIMENSIONS; arrays outside the file, or that overlap, leave gaps, or differ in size from their shape.
 * Arrays that other writers left misaligned for their type are copied. The values of arrays are not looked at. */
struct clv_tensors;
enum clv_status clv_tensors_open(struct clv_tensors **tensors, const char *path, struct clv_error *err) CLV_CHECK;
enum clv_status clv_tensors_parse(struct clv_tensors **tensors, const void *bytes, size_t size, const char *name,
                                  struct clv_error *err) CLV_CHECK; /* bytes must outlive it, 8-byte aligned */
void clv_tensors_close(struct clv_tensors *tensors);
size_t clv_tensors_count(const struct clv_tensors *tensors);
/* Sorted by name; NULL past the end. */
const struct clv_tensor *clv_tensors_at(const struct clv_tensors *tensors, size_t index);
const struct clv_tensor *clv_tensors_find(const struct clv_tensors *tensors, const char *name); /* or NULL */

/* The tensor, or CLV_ERR_DATA naming file, tensor and what differs. A dimension of -1 in `shape` matches any size. */
enum clv_status clv_tensors_require(const struct clv_tensor **tensor, const struct clv_tensors *tensors,
                                    const char *name, enum clv_dtype dtype, int32_t n_dimensions, const int64_t *shape,
                                    struct clv_error *err) CLV_CHECK;

/* A string of the header's __metadata__, or NULL. */
const char *clv_tensors_metadata(const struct clv_tensors *tensors, const char *key);
size_t clv_tensors_metadata_count(const struct clv_tensors *tensors);
const char *clv_tensors_metadata_key(const struct clv_tensors *tensors, size_t index); /* sorted */

/* Writing: all or nothing. metadata: n_metadata pairs {key, value}, UTF-8. The same content gives the same bytes in
 * whatever order it is passed: wide types come first, then names, so that every array is aligned for its type; the
 * first one begins at a multiple of 64. CLV_ERR_USAGE: names or keys given twice, names that are not UTF-8, shapes out
 * of range. */
enum clv_status clv_tensors_write(const char *path, const struct clv_tensor *tensors, size_t n_tensors,
                                  const char *const (*metadata)[2], size_t n_metadata, struct clv_error *err) CLV_CHECK;

size_t clv_dtype_size(enum clv_dtype dtype);

#endif
