/* Digests of files and stamps: what they depend on, and what is refused. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "support/support.h"

static const char *digest_of(const char *path)
{
    char digest[DIGEST_SIZE];
    must(digest_file(digest, path, err));
    return formatted("%s", digest);
}

static const char *digest_of_bytes(const void *bytes, size_t size)
{
    const char *path = here("file");
    spill(path, bytes, size);
    return digest_of(path);
}

TEST(a_digest_is_of_the_size_and_of_words_in_the_bytes_order_of_memory)
{
    const char bytes[11] = "0123456789a"; /* a word of eight, and three */
    const uint64_t size = 11, prime = 0x100000001b3;
    uint64_t hash = 0xcbf29ce484222325, word;
    const unsigned char *of_size = (const unsigned char *)&size;
    for (int i = 0; i < 8; i++)
        hash = (hash ^ of_size[i]) * prime;
    memcpy(&word, bytes, 8);
    hash = (hash ^ word) * prime;
    hash ^= hash >> 32;
    for (int i = 8; i < 11; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * prime;
    ck_assert_str_eq(digest_of_bytes(bytes, 11), formatted("fnv1a:%016" PRIx64, hash));
}

TEST(files_that_differ_in_a_byte_or_in_size_have_different_digests)
{
    enum { SIZE = 21 };
    char bytes[SIZE + 1] = {0};
    char plain[DIGEST_SIZE];
    snprintf(plain, sizeof plain, "%s", digest_of_bytes(bytes, SIZE));
    ck_assert_str_eq(plain, digest_of_bytes(bytes, SIZE));
    ck_assert_str_ne(plain, digest_of_bytes(bytes, SIZE + 1)); /* a 0 more */
    ck_assert_str_ne(plain, digest_of_bytes(bytes, SIZE - 1));
    for (int i = 0; i < SIZE; i++)
        for (int bit = 0; bit < 8; bit += 7) {
            bytes[i] = (char)(1 << bit);
            ck_assert_str_ne(plain, digest_of_bytes(bytes, SIZE));
            bytes[i] = 0;
        }
}

TEST(a_file_that_cannot_be_read_has_no_digest)
{
    char digest[DIGEST_SIZE] = "as it was";
    uint64_t stamp = 7;
    const char *absent = here("absent");
    must_fail(CLV_ERR_NO_INPUT, "absent", digest_file(digest, absent, err));
    must_fail(CLV_ERR_NO_INPUT, "absent: cannot examine", stamp_file(&stamp, absent, false, err));
    must_fail(CLV_ERR_NO_INPUT, "", digest_file(digest, temporary_folder(), err)); /* a folder */
    ck_assert_str_eq(digest, "as it was");
    ck_assert_uint_eq(stamp, 7);
    digest_of_bytes("", 0); /* an empty file has one */
}

/* The address space leaves no room for a map of the file; the parts that are read are not the map's. */
TEST(a_file_too_large_to_be_mapped_has_the_digest_of_one_that_is_mapped)
{
    enum { SIZE = (24 << 20) + 5 };
    if (IS_SANITIZED) {
        skip("a_file_too_large_to_be_mapped_has_the_digest_of_one_that_is_mapped", "a sanitizer needs address space");
        return;
    }
    const char *path = here("large");
    FILE *stream = fopen(path, "w");
    ck_assert(stream && fputs("first", stream) >= 0);
    for (long at = 1000; at < SIZE - 1; at += 1000003)
        ck_assert(fseek(stream, at, SEEK_SET) == 0 && fprintf(stream, "%ld", at) > 0);
    ck_assert(fseek(stream, SIZE - 4, SEEK_SET) == 0 && fputs("last", stream) >= 0 && fclose(stream) == 0);
    const char *mapped = digest_of(path);
    OWNED(file_map_close) struct file_map map = {0};
    leave_memory(16 << 20);
    must_fail(CLV_ERR_OS, "large: cannot map", file_map_open(&map, path, err));
    ck_assert_str_eq(digest_of(path), mapped);
}

static uint64_t stamp_of(const char *path, bool is_strict)
{
    uint64_t hash = HASH_START;
    must(stamp_file(&hash, path, is_strict, err));
    return hash;
}

static void set_time(const char *path, long seconds, long nanoseconds)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {seconds, nanoseconds}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

TEST(a_stamp_is_of_the_name_the_size_and_the_time_of_the_last_change)
{
    const char *path = here("a.txt"), *other = here("b.txt"), *below = here("folder/a.txt");
    ck_assert_int_eq(mkdir(here("folder"), 0755), 0);
    spill(path, "one", 3);
    spill(other, "one", 3);
    spill(below, "two", 3);
    set_time(path, 1000, 5);
    set_time(other, 1000, 5);
    set_time(below, 1000, 5);
    const uint64_t stamp = stamp_of(path, false);
    ck_assert_uint_eq(stamp, stamp_of(below, false)); /* content and folder do not count */
    ck_assert_uint_ne(stamp, stamp_of(other, false));
    set_time(path, 1001, 5);
    ck_assert_uint_ne(stamp, stamp_of(path, false));
    set_time(path, 1000, 6);
    ck_assert_uint_ne(stamp, stamp_of(path, false));
    set_time(path, 1000, 5);
    ck_assert_uint_eq(stamp, stamp_of(path, false));
    spill(path, "more", 4);
    set_time(path, 1000, 5);
    ck_assert_uint_ne(stamp, stamp_of(path, false));
}

TEST(a_strict_stamp_notices_a_change_whose_time_was_set_back)
{
    const char *path = here("a.txt");
    spill(path, "one", 3);
    set_time(path, 1000, 5);
    const uint64_t stamp = stamp_of(path, false), strict = stamp_of(path, true);
    ck_assert_uint_ne(stamp, strict);
    ck_assert_uint_eq(strict, stamp_of(path, true));
    usleep(20000); /* the clock of inodes goes by steps */
    spill(path, "two", 3);
    set_time(path, 1000, 5);
    ck_assert_uint_eq(stamp, stamp_of(path, false));
    ck_assert_uint_ne(strict, stamp_of(path, true));
}
