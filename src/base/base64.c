/* Base64 (RFC 4648), as used in HTML and JSON files. base64_write encodes to a stream, base64_read decodes a text and
 * ignores white space. */
#include "base/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_write(FILE *stream, const void *bytes, size_t size)
{
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

bool base64_read(uint8_t *bytes, size_t *size, const char *text)
{
    uint32_t group = 0;
    int n_bits = 0;
    size_t n = 0, n_digits = 0;
    for (; *text && *text != '='; text++) {
        const char *digit = strchr(digits, *text);
        if (strchr(" \t\r\n", *text))
            continue;
        if (!digit)
            return false;
        group = group << 6 | (uint32_t)(digit - digits);
        n_bits += 6;
        n_digits++;
        if (n_bits >= 8) {
            n_bits -= 8;
            bytes[n++] = (uint8_t)(group >> n_bits);
        }
    }
    *size = n;
    return n_digits % 4 != 1 && text[strspn(text, "= \t\r\n")] == 0;
}
