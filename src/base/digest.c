/* Digests and stamps of files. digest_file hashes a file's bytes, word by word with a multiplier of FNV-1a, through a
 * map or, if it cannot be mapped, in parts. stamp_file hashes its name, size and times alone. */
#include "base/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"

#define PART_SIZE ((size_t)64 << 20)
#define READ_SIZE ((size_t)1 << 20)

uint64_t hash_words(uint64_t hash, const unsigned char *bytes, size_t size)
{
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        hash = (hash ^ word) * HASH_PRIME;
        hash ^= hash >> 32; /* else the high bits of a word would only influence high bits */
    }
    return hash_bytes(hash, bytes + i, size - i);
}

/* For files that are too large to be mapped. */
static enum clv_status hash_read(uint64_t *hash, const char *path, struct clv_error *err)
{
    OWNED(file_source_close) struct file_source source = {0};
    MUST(file_source_open(&source, path, err));
    *hash = hash_number(HASH_START, source.size);
    OWNED_ARRAY unsigned char *part = array_alloc(READ_SIZE, 1);
    NEED(part);
    for (size_t begin = 0; begin < source.size; begin += READ_SIZE) {
        size_t size = smaller_size(source.size - begin, READ_SIZE);
        MUST(file_source_read(part, &source, begin, size, err));
        *hash = hash_words(*hash, part, size);
    }
    return CLV_OK;
}

enum clv_status digest_file(char digest[DIGEST_SIZE], const char *path, struct clv_error *err)
{
    OWNED(file_map_close) struct file_map map = {0};
    uint64_t hash = 0;
    enum clv_status status = file_map_open(&map, path, err);
    if (status == CLV_ERR_OS) {
        MUST(hash_read(&hash, path, err));
    } else {
        MUST(status);
        hash = hash_number(HASH_START, map.size);
        for (size_t begin = 0; begin < map.size; begin += PART_SIZE) {
            hash = hash_words(hash, map.bytes + begin, smaller_size(map.size - begin, PART_SIZE));
            file_map_forget(&map);
        }
    }
    snprintf(digest, DIGEST_SIZE, "fnv1a:%016" PRIx64, hash);
    return CLV_OK;
}

static uint64_t add_time(uint64_t hash, const struct timespec *time)
{
    return hash_number(hash_number(hash, (uint64_t)time->tv_sec), (uint64_t)time->tv_nsec);
}

enum clv_status stamp_file(uint64_t *hash, const char *path, bool is_strict, struct clv_error *err)
{
    struct stat info;
    const char *name = path_name(path);
    if (stat(path, &info))
        return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot examine", path);
    *hash = hash_bytes(*hash, name, strlen(name) + 1);
    *hash = add_time(hash_number(*hash, (uint64_t)info.st_size), &info.st_mtim);
    if (is_strict)
        *hash = add_time(*hash, &info.st_ctim);
    return CLV_OK;
}
