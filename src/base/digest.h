/* Digests of files: their content as a few characters. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleave/status.h"

#define DIGEST_SIZE 24

/* Continues a hash over size bytes, eight at a time: a feature file may have gigabytes. The parts of a whole, one after
 * another, give its hash if the size of each but the last is a multiple of 8. */
uint64_t hash_words(uint64_t hash, const unsigned char *bytes, size_t size);

/* "fnv1a:" and 16 hexadecimal digits: 64-bit FNV-1a over the size and the content, by 8-byte words. */
enum clv_status digest_file(char digest[DIGEST_SIZE], const char *path, struct clv_error *err) CLV_CHECK;

/* Adds to *hash what tells a file from others of its name without a look at its content: name, size, and when it was
 * written. is_strict: also when its inode was changed, which no program can set back, but moving the file does, too.
 * CLV_ERR_NO_INPUT if that cannot be found out: such a file is never passed over. */
enum clv_status stamp_file(uint64_t *hash, const char *path, bool is_strict, struct clv_error *err) CLV_CHECK;

#endif
