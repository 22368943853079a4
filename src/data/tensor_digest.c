/* Tensor files with a digest: a hash of their content, stored in their metadata, which detects changed bytes. Start at
 * add_tensor, which hashes one tensor. */
#include "data/tensor_digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/digest.h"

static uint64_t add_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text) + 1);
}

/* Hashes a metadata pair as written to the file, where bytes that are not UTF-8 are replaced. */
static uint64_t add_pair(uint64_t hash, struct text *scratch, const char *key, const char *value)
{
    scratch->size = 0;
    text_put_json(scratch, key);
    text_put_json(scratch, value);
    return scratch->failed ? hash : hash_bytes(hash, scratch->bytes, scratch->size);
}

static uint64_t add_tensor(uint64_t hash, const struct clv_tensor *tensor)
{
    size_t bytes = 0;
    hash = add_text(hash, tensor->name);
    hash = hash_number(hash_number(hash, (uint64_t)tensor->dtype), (uint64_t)tensor->n_dimensions);
    for (int32_t i = 0; i < tensor->n_dimensions; i++)
        hash = hash_number(hash, (uint64_t)tensor->shape[i]);
    return tensor_bytes(&bytes, tensor) ? hash_words(hash, tensor->data, bytes) : hash;
}

static void print_digest(char digest[DIGEST_SIZE], uint64_t hash)
{
    snprintf(digest, DIGEST_SIZE, "fnv1a:%016" PRIx64, hash);
}

enum clv_status tensors_write_digested(const char *path, const struct clv_tensor *tensors, size_t n_tensors,
                                       const char *const (*metadata)[2], size_t n_metadata, struct clv_error *err)
{
    OWNED_ARRAY const char *const **pairs = array_alloc(n_metadata + 1, sizeof *pairs);
    OWNED_ARRAY const struct clv_tensor **sorted = array_alloc(n_tensors + 1, sizeof *sorted);
    OWNED_ARRAY const char *(*all)[2] = array_alloc(n_metadata + 1, sizeof *all);
    NEED(pairs && sorted && all);
    for (size_t i = 0; i < n_metadata; i++) {
        pairs[i] = metadata[i];
        all[i][0] = metadata[i][0];
        all[i][1] = metadata[i][1];
    }
    for (size_t i = 0; i < n_tensors; i++)
        sorted[i] = &tensors[i];
    qsort(pairs, n_metadata, sizeof *pairs, pair_compare_keys);
    qsort(sorted, n_tensors, sizeof *sorted, tensor_compare_names);
    uint64_t hash = HASH_START;
    OWNED(text_release) struct text scratch = {0};
    text_init(&scratch, SIZE_MAX / 2);
    for (size_t i = 0; i < n_metadata; i++)
        hash = add_pair(hash, &scratch, pairs[i][0], pairs[i][1]);
    NEED(!scratch.failed);
    for (size_t i = 0; i < n_tensors; i++)
        hash = add_tensor(hash, sorted[i]);
    char digest[DIGEST_SIZE];
    print_digest(digest, hash);
    all[n_metadata][0] = TENSOR_DIGEST;
    all[n_metadata][1] = digest;
    return clv_tensors_write(path, tensors, n_tensors, (const char *const(*)[2])all, n_metadata + 1, err);
}

static bool is_known(const char *key, const char *const *known)
{
    while (*known && strcmp(*known, key) != 0)
        known++;
    return *known || strcmp(key, TENSOR_DIGEST) == 0;
}

enum clv_status tensors_check_digest(const struct clv_tensors *tensors, const char *const *known, const char *path,
                                     struct clv_error *err)
{
    for (size_t i = 0; known && i < clv_tensors_metadata_count(tensors); i++) {
        const char *key = clv_tensors_metadata_key(tensors, i);
        FAIL_IF(!is_known(key, known), CLV_ERR_DATA, "%s: metadata \"%.60s\" does not belong in it", path, key);
    }
    const char *stored = clv_tensors_metadata(tensors, TENSOR_DIGEST);
    uint64_t hash = HASH_START;
    char digest[DIGEST_SIZE];
    if (!stored)
        return CLV_OK;
    OWNED(text_release) struct text scratch = {0};
    text_init(&scratch, SIZE_MAX / 2);
    for (size_t i = 0; i < clv_tensors_metadata_count(tensors); i++) {
        const char *key = clv_tensors_metadata_key(tensors, i);
        if (strcmp(key, TENSOR_DIGEST) != 0)
            hash = add_pair(hash, &scratch, key, clv_tensors_metadata(tensors, key));
    }
    NEED(!scratch.failed);
    for (size_t i = 0; i < clv_tensors_count(tensors); i++)
        hash = add_tensor(hash, clv_tensors_at(tensors, i));
    print_digest(digest, hash);
    FAIL_IF(strcmp(stored, digest) != 0, CLV_ERR_DATA,
            "%s: is damaged: its content is not what was written (digest %.40s, now %s); take a copy, or make it again",
            path, stored, digest);
    return CLV_OK;
}
