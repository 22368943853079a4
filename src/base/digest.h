/* Digests of files, as short text or as numbers. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleave/status.h"

#define DIGEST_SIZE 24

/* Continues a hash over size bytes, eight at a time for speed on large files. Hashing consecutive parts equals hashing
 * the whole if the size of each part except the last is a multiple of 8. */
uint64_t hash_words(uint64_t hash, const unsigned char *bytes, size_t size);

/* "fnv1a:" and 16 hexadecimal digits: 64-bit FNV-1a over the size and the content, by 8-byte words. */
enum clv_status digest_file(char digest[DIGEST_SIZE], const char *path, struct clv_error *err) CLV_CHECK;

/* Adds a file's name, size and modification time to *hash, which identify it without reading its content. is_strict:
 * also the change time of its inode, which programs cannot set back, but which moving the file changes, too.
 * CLV_ERR_NO_INPUT if the file cannot be examined. */
enum clv_status stamp_file(uint64_t *hash, const char *path, bool is_strict, struct clv_error *err) CLV_CHECK;

#endif
