/* Base64 (RFC 4648, padded): onto a stream for data: URIs, and from text in other programs' files. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Errors stay in the stream (ferror). */
void base64_write(FILE *stream, const void *bytes, size_t size);

/* bytes[*size], which has room for strlen(text) / 4 * 3 + 3 bytes; line ends and missing padding are allowed. Returns
 * false for text that is not base64. */
bool base64_read(uint8_t *bytes, size_t *size, const char *text);

#endif
