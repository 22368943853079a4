/* Tensor files that notice when a byte of them has changed.
 *
 * The metadata of such a file has a "digest": "fnv1a:" and 16 hexadecimal digits, the 64-bit FNV-1a of all else that the
 * file says: every pair of metadata in the order of the keys, then name, type, shape and content of every tensor in the
 * order of their names. So a program that writes the same tensors and metadata in another order leaves it right. Models
 * and checkpoints have one; feature files, which may be larger than memory and are mapped, have none. */
#ifndef DATA_TENSOR_DIGEST_H
#define DATA_TENSOR_DIGEST_H

#include "data/data.h"

#define TENSOR_DIGEST "digest" /* the key */

/* Writes tensors like clv_tensors_write, with the digest. */
enum clv_status tensors_write_digested(const char *path, const struct clv_tensor *tensors, size_t n_tensors,
                                       const char *const (*metadata)[2], size_t n_metadata,
                                       struct clv_error *err) CLV_CHECK;

/* CLV_ERR_DATA if the content is not what was written; files without a digest, of older versions, pass. `known` are the
 * keys of metadata that such a file may have, ended by NULL, or NULL: another one is of another program, or a key with a
 * changed byte. O(bytes). */
enum clv_status tensors_check_digest(const struct clv_tensors *tensors, const char *const *known, const char *path,
                                     struct clv_error *err) CLV_CHECK;

#endif
