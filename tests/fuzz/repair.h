/* Right checksums for broken PNGs: without, a fuzzer never gets past them. */
#ifndef TESTS_REPAIR_H
#define TESTS_REPAIR_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* PNG specification, annex D, four bits at a time. */
static inline uint32_t png_checksum(const uint8_t *bytes, size_t size)
{
    uint32_t table[16], crc = UINT32_MAX;
    for (uint32_t i = 0; i < 16; i++) {
        table[i] = i;
        for (int bit = 0; bit < 4; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
    }
    for (size_t i = 0; i < size; i++) {
        crc = crc >> 4 ^ table[(crc ^ bytes[i]) & 15];
        crc = crc >> 4 ^ table[(crc ^ bytes[i] >> 4) & 15];
    }
    return ~crc;
}

/* A copy in which every whole chunk has its right checksum; NULL when these bytes are no PNG. free() it. */
static inline uint8_t *repaired_png(const uint8_t *data, size_t size)
{
    if (size < 8 || memcmp(data, "\x89PNG\r\n\x1a\n", 8) != 0)
        return NULL;
    uint8_t *copy = malloc(size);
    if (!copy)
        return NULL;
    memcpy(copy, data, size);
    for (size_t at = 8; size - at >= 12;) {
        size_t length = (size_t)copy[at] << 24 | (size_t)copy[at + 1] << 16 | (size_t)copy[at + 2] << 8 | copy[at + 3];
        if (length > size - at - 12)
            break;
        uint32_t crc = png_checksum(copy + at + 4, length + 4);
        for (int i = 0; i < 4; i++)
            copy[at + 8 + length + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
        at += length + 12;
    }
    return copy;
}

#endif
