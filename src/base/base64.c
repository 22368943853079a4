#include "base/base64.h"

#include <stdint.h>

void base64_write(FILE *stream, const void *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *in = bytes;
    char out[4096];
    size_t n = 0;
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t group = (uint32_t)in[i] << 16 | (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) | (left > 2 ? in[i + 2] : 0);
        out[n++] = digits[group >> 18];
        out[n++] = digits[group >> 12 & 63];
        out[n++] = left > 1 ? digits[group >> 6 & 63] : '=';
        out[n++] = left > 2 ? digits[group & 63] : '=';
        if (n == sizeof out) {
            fwrite(out, 1, n, stream);
            n = 0;
        }
    }
    if (n)
        fwrite(out, 1, n, stream);
}
