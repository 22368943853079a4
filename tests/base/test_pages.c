/* Pages of mapped files: telling the system about them changes no byte, and memory that is not the file's is left alone.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/pages.h"
#include "support/support.h"

enum { N_PAGES = 8 };

static const char *file_of(const char *name, const char *text)
{
    const char *path = here(name);
    FILE *stream = fopen(path, "w");
    ck_assert(stream && fputs(text, stream) >= 0 && fclose(stream) == 0);
    return path;
}

TEST(dropped_pages_are_read_again_and_other_memory_keeps_what_it_holds)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = N_PAGES * page;
    OWNED_ARRAY char *written = array_zalloc(size + 1, 1);
    OWNED(file_map_close) struct file_map map = {0};
    OWNED(pages_close) struct pages_file file = {0};
    for (size_t i = 0; i < size; i++)
        written[i] = (char)('a' + i / page);
    const char *path = file_of("pages", written);
    must(file_map_open(&map, path, err));
    pages_open(&file, path, map.bytes, map.size);
    ck_assert_int_gt(file.fd, 0);
    for (size_t at = 0; at < size; at += page / 2)
        for (size_t n = 0; at + n <= size; n += page / 2 + 7) {
            pages_fetch(map.bytes + at, n);
            pages_drop(&file, map.bytes + at, n);
            ck_assert_mem_eq(map.bytes, written, size);
        }
    pages_read_as(map.bytes, map.size, PAGES_SCATTERED);
    pages_read_as(map.bytes, map.size, PAGES_IN_ORDER);
    pages_fetch(NULL, 0);
    ck_assert_mem_eq(map.bytes, written, size);
    OWNED_ARRAY char *own = array_copy(written, size, 1);
    pages_drop(&file, own, size);
    ck_assert_mem_eq(own, written, size);
}

TEST(pages_of_a_file_that_is_gone_are_given_back_alone)
{
    OWNED(file_map_close) struct file_map map = {0};
    OWNED(pages_close) struct pages_file file = {0};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    OWNED_ARRAY char *written = array_zalloc(2 * page + 1, 1);
    memset(written, 'x', 2 * page);
    const char *path = file_of("gone", written);
    must(file_map_open(&map, path, err));
    ck_assert_int_eq(unlink(path), 0);
    pages_open(&file, path, map.bytes, map.size);
    ck_assert_int_eq(file.fd, 0);
    pages_drop(&file, map.bytes, map.size);
    ck_assert_mem_eq(map.bytes, written, 2 * page);
}
