/* What the reader and the writer of tensor files share, and writing arrays that do not fit in memory: the header
 * first, then the caller streams every array. */
#ifndef DATA_SAFETENSORS_H
#define DATA_SAFETENSORS_H

#include <stdbool.h>

#include "base/file.h"
#include "data/tensors.h"

#define TENSORS_MAX_HEADER 100000000 /* bytes of JSON; the format's own limit */

/* Creates the file and writes its header; the tensors' data is not looked at. order[n_tensors] receives the sequence
 * in which the caller must then write each array's bytes, tensor_bytes of them, to writer->stream (widest types
 * first, then by name, so that every array is aligned for its type), before file_commit. Nothing is open after a
 * failure. */
enum clv_status tensors_begin(struct file_writer *writer, size_t *order, const char *path,
                              const struct clv_tensor *tensors, size_t n_tensors, const char *const (*metadata)[2],
                              size_t n_metadata, struct clv_error *err) CLV_CHECK;

/* Opens a file larger than memory: not mapped, arrays are read into memory, but for those of the names left[n_left],
 * whose data is NULL. tensors_read gets parts of these. */
enum clv_status tensors_open_apart(struct clv_tensors **tensors, const char *path, const char *const *left,
                                   size_t n_left, struct clv_error *err) CLV_CHECK;

/* bytes[size] = the array's from `begin` on, within it. CLV_ERR_DATA naming the file if it has changed since it was
 * opened. Safe in parallel. */
enum clv_status tensors_read(void *bytes, const struct clv_tensors *tensors, const struct clv_tensor *tensor,
                             size_t begin, size_t size, struct clv_error *err) CLV_CHECK;

/* Where the array begins in the file. */
size_t tensors_offset(const struct clv_tensors *tensors, const struct clv_tensor *tensor);

/* file_map_forget of a mapped file; nothing for one that was parsed. */
void tensors_forget(const struct clv_tensors *tensors);

/* Pages by which it is mapped: FILE_HUGE_PAGE for a large file, else 0. */
size_t tensors_huge_page(const struct clv_tensors *tensors);

/* The size of a tensor's array; false if the type or shape is out of range or the product overflows. */
bool tensor_bytes(size_t *bytes, const struct clv_tensor *tensor);

/* The format's names of types: "F32". Finding fails for types cleave does not have. */
const char *dtype_name(enum clv_dtype dtype);
bool dtype_find(enum clv_dtype *dtype, const char *name);

#endif
