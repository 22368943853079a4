/* Right checksums for broken PNGs, right lengths for broken tensor files: without, a fuzzer never gets past them. */
#ifndef TESTS_REPAIR_H
#define TESTS_REPAIR_H

#include <stdbool.h>
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

/* A copy in which every whole chunk has its right checksum; NULL when these bytes are not a PNG. free() it. */
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

/* The end of the JSON object that begins at `begin`, or size. */
static inline size_t json_end(const uint8_t *data, size_t size, size_t begin)
{
    int depth = 0;
    bool in_text = false;
    for (size_t i = begin; i < size; i++) {
        if (data[i] == '\\' && in_text)
            i++;
        else if (data[i] == '"')
            in_text = !in_text;
        else if (!in_text && data[i] == '{')
            depth++;
        else if (!in_text && data[i] == '}' && --depth <= 0)
            return i + 1;
    }
    return size;
}

/* The last offset that the header's tensors name, or 0. */
static inline size_t last_offset(const char *header, size_t size)
{
    static const char key[] = "\"data_offsets\":[";
    size_t last = 0;
    for (const char *at = header; (at = memmem(at, size - (size_t)(at - header), key, sizeof key - 1));) {
        at += sizeof key - 1;
        const char *comma = memchr(at, ',', size - (size_t)(at - header));
        size_t offset = 0;
        for (const char *c = comma ? comma + 1 : at; comma && c < header + size && *c >= '0' && *c <= '9'; c++)
            offset = offset < 1u << 20 ? 10 * offset + (size_t)(*c - '0') : offset;
        last = offset > last ? offset : last;
    }
    return last;
}

/* A tensor file with the header's right length, and arrays of as many bytes as it says (new ones are 0); NULL when
 * there is nothing to repair. free() it. */
static inline uint8_t *repaired_tensors(size_t *repaired_size, const uint8_t *data, size_t size)
{
    if (size < 10 || data[8] != '{')
        return NULL;
    size_t end = json_end(data, size, 8), spaces = 0;
    while (end < size && data[end] == ' ')
        end++;
    size_t n_header = end - 8, n_data = last_offset((const char *)data + 8, n_header), n_there = size - end;
    if (n_data > 1u << 18)
        return NULL;
    spaces = (8 - n_header % 8) % 8;
    uint8_t *copy = calloc(1, 8 + n_header + spaces + n_data);
    if (!copy)
        return NULL;
    uint64_t length = n_header + spaces;
    memcpy(copy, &length, 8);
    memcpy(copy + 8, data + 8, n_header);
    memset(copy + 8 + n_header, ' ', spaces);
    memcpy(copy + 8 + length, data + end, n_there < n_data ? n_there : n_data);
    *repaired_size = 8 + (size_t)length + n_data;
    return copy;
}

#endif
