#include "image/image.h"

#include <stdbool.h>

#include "base/base.h"

#define MAX_DIRECTORIES  65535
#define BIG_MAGIC        43
#define TAG_SUBFILE_TYPE 254
#define REDUCED_OR_MASK  5 /* bits 0 and 2 of the subfile type */
#define FIRST_ENTRIES    4 /* among which the subfile type is: entries are in the order of their tags */

struct walk {
    const uint8_t *bytes;
    size_t size;
    bool big_endian, is_big;
};

/* n bytes, a whole number; false: beyond the end. */
static bool get(uint64_t *value, const struct walk *walk, uint64_t at, unsigned n)
{
    if (at > walk->size || walk->size - at < n)
        return false;
    *value = 0;
    for (unsigned i = 0; i < n; i++)
        *value = *value << 8 | walk->bytes[at + (walk->big_endian ? i : n - 1 - i)];
    return true;
}

/* A directory at `at`: whether it is a page, and where the next one is (0: none). False: it is outside of the
 * file. */
static bool read_directory(bool *is_page, uint64_t *next, const struct walk *walk, uint64_t at)
{
    unsigned count_bytes = walk->is_big ? 8 : 2, entry_bytes = walk->is_big ? 20 : 12, value_at = walk->is_big ? 12 : 8;
    uint64_t n, tag, type, value;
    *is_page = true;
    if (!get(&n, walk, at, count_bytes) || n > UINT16_MAX)
        return false;
    at += count_bytes;
    for (uint64_t i = 0; i < n && i < FIRST_ENTRIES; i++) {
        uint64_t entry = at + i * entry_bytes;
        if (!get(&tag, walk, entry, 2) || !get(&type, walk, entry + 2, 2))
            return false;
        if (tag == TAG_SUBFILE_TYPE && get(&value, walk, entry + value_at, type == 3 ? 2 : 4))
            *is_page = !(value & REDUCED_OR_MASK);
    }
    return get(next, walk, at + n * entry_bytes, walk->is_big ? 8 : 4);
}

enum clv_status tiff_find_page(uint64_t *offset, uint32_t *n_pages, const uint8_t *bytes, size_t size, uint32_t page,
                               struct clv_error *err)
{
    struct walk walk = {bytes, size, size && bytes[0] == 'M', false};
    uint64_t magic, at, found = 0;
    uint32_t n = 0, n_directories = 0;
    if (!get(&magic, &walk, 2, 2))
        return fail(err, CLV_ERR_DATA, "corrupt TIFF: truncated file");
    walk.is_big = magic == BIG_MAGIC;
    if (!get(&at, &walk, walk.is_big ? 8 : 4, walk.is_big ? 8 : 4))
        return fail(err, CLV_ERR_DATA, "corrupt TIFF: truncated file");
    while (at) {
        bool is_page;
        uint64_t next;
        if (n_directories++ == MAX_DIRECTORIES)
            return fail(err, CLV_ERR_DATA, "corrupt TIFF: more than %d directories, or a loop of them",
                        MAX_DIRECTORIES);
        if (!read_directory(&is_page, &next, &walk, at))
            return fail(err, CLV_ERR_DATA, "corrupt TIFF: directory %u is outside of the file", n_directories);
        n += is_page;
        if (is_page && n == page)
            found = at;
        at = next;
    }
    if (!n)
        return fail(err, CLV_ERR_DATA, "a TIFF without a full image, such as a camera's raw file");
    if (page && !found)
        return fail(err, CLV_ERR_DATA, "has %u page%s, not %u", n, n == 1 ? "" : "s", page);
    if (page)
        *offset = found;
    if (n_pages)
        *n_pages = n;
    return CLV_OK;
}
