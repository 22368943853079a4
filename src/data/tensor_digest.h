/* Tensor files with a digest, which detects changed bytes.
 *
 * The metadata "digest" is "fnv1a:" and 16 hexadecimal digits, the 64-bit FNV-1a of the other content: all metadata in
 * the order of their keys, then name, type, shape and values of all tensors in the order of their names. The digest
 * therefore does not depend on the order in which a program writes them. Models and checkpoints have a digest; feature
 * files, which are mapped and may be larger than memory, have none. */
#ifndef DATA_TENSOR_DIGEST_H
#define DATA_TENSOR_DIGEST_H

#include "data/data.h"

#define TENSOR_DIGEST "digest" /* the key */

/* Writes tensors like clv_tensors_write, with the digest. */
enum clv_status tensors_write_digested(const char *path, const struct clv_tensor *tensors, size_t n_tensors,
                                       const char *const (*metadata)[2], size_t n_metadata,
                                       struct clv_error *err) CLV_CHECK;

/* CLV_ERR_DATA if the content does not match the digest; files of older versions, without a digest, pass. `known` lists
 * the metadata keys that the file may have, ended by NULL; any other key is CLV_ERR_DATA, since a byte of it may have
 * changed. NULL: any key. O(bytes). */
enum clv_status tensors_check_digest(const struct clv_tensors *tensors, const char *const *known, const char *path,
                                     struct clv_error *err) CLV_CHECK;

#endif
