/* Base64 (RFC 4648, padded) onto a stream, for data: URIs. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>
#include <stdio.h>

/* Errors stay in the stream (ferror). */
void base64_write(FILE *stream, const void *bytes, size_t size);

#endif
