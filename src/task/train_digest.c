#include "task/train_digest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "feature/dataset/feature_list.h"

/* Bytes of a file that may be larger than memory, multiples of 8: mapped, and read. */
#define PART_SIZE ((size_t)64 << 20)
#define READ_SIZE ((size_t)1 << 20)

static uint64_t add_number(uint64_t hash, uint64_t number)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(number >> (8 * i));
    return hash_bytes(hash, bytes, sizeof bytes);
}

static uint64_t add_string(uint64_t hash, const char *string)
{
    return hash_bytes(hash, string ? string : "", (string ? strlen(string) : 0) + 1);
}

/* 0 for what is not there: whoever reads it says so. */
static enum clv_status size_of(uint64_t *size, const char *path, struct clv_error *err)
{
    struct stat info = {0};
    if (path && stat(path, &info) != 0 && errno != ENOENT && errno != ENOTDIR)
        return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot examine", path);
    *size = (uint64_t)info.st_size;
    return CLV_OK;
}

enum clv_status digest_set(char digest[DIGEST_SIZE], const struct clv_set *set, const struct clv_item_boxes *boxes,
                           struct clv_error *err)
{
    uint64_t hash = HASH_START;
    for (size_t i = 0; i < set->n_items; i++) {
        const struct clv_item *item = &set->items[i];
        uint64_t image = 0, mask = 0;
        enum clv_status status = size_of(&image, item->image, err);
        if (status == CLV_OK)
            status = size_of(&mask, item->mask, err);
        if (status != CLV_OK)
            return status;
        hash = add_string(hash, item->name);
        hash = add_string(hash, item->split);
        hash = add_number(hash, image);
        hash = add_number(hash, mask);
        for (size_t m = 0; m < set->n_maps; m++) {
            uint64_t map = 0;
            status = size_of(&map, item->maps[m], err);
            if (status != CLV_OK)
                return status;
            hash = add_number(add_string(hash, set->map_names[m]), map);
        }
    }
    for (size_t i = 0; boxes && i < set->n_items; i++) {
        if (!boxes[i].boxes)
            continue;
        hash = add_number(hash, i);
        for (size_t k = 0; k < boxes[i].n_boxes; k++) {
            const struct clv_pixel_box *box = &boxes[i].boxes[k];
            const int32_t sides[] = {box->first_x, box->first_y, box->end_x, box->end_y};
            for (size_t s = 0; s < 4; s++)
                hash = add_number(hash, (uint64_t)sides[s]);
        }
    }
    snprintf(digest, DIGEST_SIZE, "fnv1a:%016" PRIx64, hash);
    return CLV_OK;
}

/* Of all parts but the last the size is a multiple of 8. */
static uint64_t add_part(uint64_t hash, const unsigned char *bytes, size_t size)
{
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        hash = (hash ^ word) * HASH_PRIME;
        hash ^= hash >> 32; /* a wide word's high bits would otherwise reach high bits only */
    }
    return hash_bytes(hash, bytes + i, size - i);
}

static size_t part_at(size_t begin, size_t size, size_t most)
{
    return size - begin < most ? size - begin : most;
}

/* For what is too large to be mapped. */
static enum clv_status hash_read(uint64_t *hash, const char *path, struct clv_error *err)
{
    struct file_source source;
    enum clv_status status = file_source_open(&source, path, err);
    if (status != CLV_OK)
        return status;
    *hash = add_number(HASH_START, source.size);
    unsigned char *part = array_alloc(READ_SIZE, 1);
    if (!part)
        status = fail_memory(err);
    for (size_t begin = 0; begin < source.size && status == CLV_OK; begin += READ_SIZE) {
        size_t size = part_at(begin, source.size, READ_SIZE);
        status = file_source_read(part, &source, begin, size, err);
        if (status == CLV_OK)
            *hash = add_part(*hash, part, size);
    }
    array_free(part);
    file_source_close(&source);
    return status;
}

enum clv_status digest_file(char digest[DIGEST_SIZE], const char *path, struct clv_error *err)
{
    struct file_map map;
    uint64_t hash = 0;
    enum clv_status status = file_map_open(&map, path, err);
    if (status == CLV_OK) {
        hash = add_number(HASH_START, map.size);
        for (size_t begin = 0; begin < map.size; begin += PART_SIZE) {
            hash = add_part(hash, map.bytes + begin, part_at(begin, map.size, PART_SIZE));
            file_map_forget(&map);
        }
        file_map_close(&map);
    } else if (status == CLV_ERR_OS) {
        status = hash_read(&hash, path, err);
    }
    snprintf(digest, DIGEST_SIZE, "fnv1a:%016" PRIx64, hash);
    return status;
}

enum clv_status digest_features(char digest[DIGEST_SIZE], const struct path_list *paths, struct clv_error *err)
{
    struct path_list files;
    if (paths->n == 1 && !features_is_sharded(paths->paths[0]))
        return digest_file(digest, paths->paths[0], err);
    uint64_t hash = HASH_START;
    enum clv_status status = features_list_files(&files, paths, err);
    for (size_t k = 0; k < files.n && status == CLV_OK; k++) {
        char own[DIGEST_SIZE];
        status = digest_file(own, files.paths[k], err);
        if (status == CLV_OK)
            hash = add_string(hash, own);
    }
    path_list_release(&files);
    if (status == CLV_OK)
        snprintf(digest, DIGEST_SIZE, "fnv1a:%016" PRIx64, hash);
    return status;
}

enum clv_status record_number(struct clv_model *model, const char *key, double value, struct clv_error *err)
{
    struct text text;
    text_init(&text, 64);
    text_put_json_number(&text, value);
    enum clv_status status = text.failed ? fail_memory(err) : clv_record_set(&model->record, key, text.bytes, err);
    text_release(&text);
    return status;
}
