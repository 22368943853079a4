/* Base64 (RFC 4648, padded): encoding to a stream for data: URIs, and decoding of text from other programs' files. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Errors are left in the stream (ferror). */
void base64_write(FILE *stream, const void *bytes, size_t size);

/* Decodes text to bytes[*size], which needs space for strlen(text) / 4 * 3 + 3 bytes; white space and missing padding
 * are allowed. Returns false for text that is not base64. */
bool base64_read(uint8_t *bytes, size_t *size, const char *text);

#endif
