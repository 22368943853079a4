/* Fowler-Noll-Vo 1a, 64 bits: distinguishes data, not for adversaries. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xcbf29ce484222325u
#define HASH_PRIME 0x100000001b3u

/* Goes on from `hash` over size bytes. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * HASH_PRIME;
    return hash;
}

static inline uint64_t hash_number(uint64_t hash, uint64_t number)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(number >> (8 * i));
    return hash_bytes(hash, bytes, sizeof bytes);
}

#endif
