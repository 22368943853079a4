/* A file's content as a few characters. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include "cleave/status.h"

#define DIGEST_SIZE 24

/* "fnv1a:" and 16 hexadecimal digits: 64-bit FNV-1a over the size and the content, by 8-byte words (a feature file may
 * have gigabytes). */
enum clv_status digest_file(char digest[DIGEST_SIZE], const char *path, struct clv_error *err) CLV_CHECK;

#endif
