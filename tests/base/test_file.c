/* Files whole, in part, mapped and line by line; paths and folders. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/base.h"
#include "base/base64.h"
#include "base/lines.h"
#include "cluster/shard.h"
#include "support/sample.h"
#include "support/support.h"

#undef fail

static const char *file_of(const char *name, const char *text)
{
    const char *path = here("%s", name);
    spill(path, text, strlen(text));
    return path;
}

TEST(files_are_read_up_to_a_limit_whole_and_heads_of_any)
{
    const char *path = file_of("digits", "0123456789");
    char *bytes = NULL;
    size_t size = 0;
    must(file_read(&bytes, &size, path, 10, err));
    ck_assert(size == 10 && strcmp(bytes, "0123456789") == 0);
    array_free(bytes);
    must_fail(CLV_ERR_DATA, "digits: 10 bytes, the limit is 9", file_read(&bytes, &size, path, 9, err));
    ck_assert_ptr_null(bytes);
    for (size_t wanted = 9; wanted <= 11; wanted++) {
        must(file_read_head(&bytes, &size, path, wanted, err));
        ck_assert(size == (wanted < 10 ? wanted : 10) && strlen(bytes) == size &&
                  strncmp(bytes, "0123456789", size) == 0);
        array_free(bytes);
    }
    must_fail(CLV_ERR_NO_INPUT, "is a folder, not a file", file_read(&bytes, &size, temporary_folder(), 10, err));
    must_fail(CLV_ERR_NO_INPUT, "/dev/null: not a regular file", file_read(&bytes, &size, "/dev/null", 10, err));
    must_fail(CLV_ERR_NO_INPUT, "nothing: cannot open: ", file_read(&bytes, &size, here("nothing"), 10, err));
}

TEST(parts_of_a_file_are_read_while_it_stays_as_it_was)
{
    const char *path = file_of("source", "0123456789");
    struct file_source source;
    char part[5] = "";
    must(file_source_open(&source, path, err));
    ck_assert_uint_eq(source.size, 10);
    must(file_source_read(part, &source, 3, 4, err));
    ck_assert_str_eq(part, "3456");
    must(file_source_read(part, &source, 6, 4, err));
    ck_assert_str_eq(part, "6789");
    must(file_source_read(part, &source, 10, 0, err));
    must_fail(CLV_ERR_DATA, "source: ends 2 bytes before it should", file_source_read(part, &source, 8, 4, err));
    struct timespec times[2] = {source.changed, source.changed};
    times[1].tv_nsec ^= 1;
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    must_fail(CLV_ERR_DATA, "source: has changed while it was read", file_source_read(part, &source, 0, 4, err));
    times[1] = source.changed;
    times[1].tv_sec++;
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    must_fail(CLV_ERR_DATA, "source: has changed while it was read", file_source_read(part, &source, 0, 4, err));
    ck_assert_int_eq(truncate(path, 8), 0);
    must_fail(CLV_ERR_DATA, "source: has changed from 10 bytes to 8 while", file_source_read(part, &source, 0, 4, err));
    file_source_close(&source);
    file_source_close(&source);
    ck_assert_ptr_null(source.path);
    must_fail(CLV_ERR_NO_INPUT, "none: cannot open", file_source_open(&source, formatted("%s.none", path), err));
}

TEST(an_address_in_a_map_leads_to_its_file)
{
    struct file_map maps[3], empty;
    const char *paths[3];
    for (int k = 0; k < 3; k++) {
        paths[k] = file_of(formatted("map%d", k), formatted("some text %d", k));
        must(file_map_open(&maps[k], paths[k], err));
    }
    for (int k = 0; k < 3; k++) {
        ck_assert_uint_eq(maps[k].size, 11);
        ck_assert_str_eq(file_map_at(maps[k].bytes), paths[k]);
        ck_assert_str_eq(file_map_at(maps[k].bytes + 10), paths[k]);
        ck_assert_ptr_null(file_map_at(maps[k].bytes + 11));
        ck_assert_ptr_null(file_map_at(maps[k].bytes - 1));
    }
    const unsigned char *gone = maps[1].bytes;
    file_map_close(&maps[1]);
    file_map_close(&maps[1]);
    ck_assert_ptr_null(file_map_at(gone));
    ck_assert_str_eq(file_map_at(maps[2].bytes), paths[2]);
    must(file_map_open(&empty, file_of("empty", ""), err));
    ck_assert(!empty.bytes && !empty.size);
    file_map_close(&empty);
    file_map_close(&maps[0]);
    file_map_close(&maps[2]);
}

static void write_gzip(const char *path, const char *mode, const char *bytes, size_t size)
{
    gzFile file = gzopen(path, mode);
    ck_assert(file && gzwrite(file, bytes, (unsigned)size) == (int)size && gzclose(file) == Z_OK);
}

/* Lines of all lengths, so that they end anywhere in a buffer; the last has no line end. */
TEST(lines_are_the_same_from_plain_files_and_gzip_of_several_members)
{
    enum { N = 900 };
    const char *plain = here("plain"), *packed = here("packed");
    size_t capacity = (size_t)N * 1200, size = 0;
    OWNED_ARRAY char *bytes = malloc(capacity);
    for (int k = 0; k < N; k++) {
        memset(bytes + size, 'a' + k % 26, (size_t)(k * 7 % 1100));
        size += (size_t)(k * 7 % 1100);
        size += (size_t)sprintf(bytes + size, "%d%s", k, k + 1 == N ? "" : k % 3 ? "\n" : "\r\n");
    }
    spill(plain, bytes, size);
    write_gzip(packed, "wb", bytes, size / 3);
    write_gzip(packed, "ab", bytes + size / 3, size - size / 3);
    for (int k = 0; k < 2; k++) {
        OWNED(lines_drop) struct lines *lines = NULL;
        char *line, wanted[32];
        size_t number;
        must(lines_open(&lines, k ? packed : plain, err));
        for (int i = 0; i < N; i++) {
            must(lines_next(&line, &number, lines, err));
            snprintf(wanted, sizeof wanted, "%d", i);
            ck_assert_uint_eq(number, (size_t)i + 1);
            ck_assert_uint_eq(strspn(line, (char[]){(char)('a' + i % 26), 0}), (size_t)(i * 7 % 1100));
            ck_assert_str_eq(line + i * 7 % 1100, wanted);
        }
        must(lines_next(&line, &number, lines, err));
        ck_assert_ptr_null(line);
    }
    lines_close(NULL);
}

static void expect_bad_line(const char *path, const char *part)
{
    OWNED(lines_drop) struct lines *lines = NULL;
    char *line;
    size_t number;
    struct clv_error error = {0};
    must(lines_open(&lines, path, err));
    enum clv_status status;
    do
        status = lines_next(&line, &number, lines, &error);
    while (status == CLV_OK && line);
    ck_assert_msg(status == CLV_ERR_DATA && strstr(error.message, part), "%s", error.message);
}

TEST(lines_that_are_none_are_refused)
{
    const char *path = here("bad"), *whole = here("whole.gz");
    size_t size = LINES_MAX_LENGTH + 1, packed_size;
    OWNED_ARRAY char *bytes = malloc(size + 1);
    char *line;
    struct lines *lines;
    memset(bytes, 'x', size + 1);
    bytes[0] = '\n';
    spill(path, bytes, size);
    must(lines_open(&lines, path, err));
    for (int k = 0; k < 2; k++)
        must(lines_next(&line, &packed_size, lines, err));
    ck_assert_uint_eq(strlen(line), LINES_MAX_LENGTH);
    lines_close(lines);
    spill(path, bytes, size + 1);
    expect_bad_line(path, "bad: line 2 is longer than 65535 bytes");
    spill(path, "a\nb\0c\n", 6);
    expect_bad_line(path, "bad: line 2 has a zero byte");
    for (size_t k = 0; k < size; k++)
        bytes[k] = (char)(k % 100 == 99 ? '\n' : 'a' + k * k % 23);
    write_gzip(whole, "wb", bytes, size);
    OWNED_ARRAY char *packed = slurp(whole, &packed_size);
    spill(path, packed, packed_size - 9);
    expect_bad_line(path, "bad: the gzip file is truncated");
    packed[packed_size - 6] ^= 1;
    spill(path, packed, packed_size);
    expect_bad_line(path, "bad: damaged gzip file (");
    packed[packed_size - 6] ^= 1;
    memcpy(bytes, packed, packed_size);
    memcpy(bytes + packed_size, "more", 4);
    spill(path, bytes, packed_size + 4);
    expect_bad_line(path, "bad: damaged gzip file");
}

static void check_string(char *got, const char *wanted)
{
    ck_assert_str_eq(got, wanted);
    array_free(got);
}

TEST(names_are_ordered_by_the_values_of_their_digits)
{
    static const char *const ordered[] = {"", "1", "2", "10", "010b", "a", "a1", "a1b", "a2", "a10", "a10/b1", "b"};
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 12; k++)
            ck_assert_int_eq(path_compare(ordered[i], ordered[k]), (i > k) - (i < k));
    ck_assert_int_eq(path_compare("f2", "f02"), 0);
}

TEST(paths_are_taken_apart_and_put_together)
{
    check_string(path_join("", "b"), "b");
    check_string(path_join("a", "/b"), "/b");
    check_string(path_join("a", "b/c"), "a/b/c");
    check_string(path_join("/", "b"), "/b");
    check_string(path_folder("b.png"), ".");
    check_string(path_folder("a//b"), "a");
    check_string(path_folder("//b"), "/");
    check_string(path_stem("a/.b"), ".b");
    check_string(path_stem("a.d/b"), "b");
    check_string(path_replace_extension("a/.b", ".png"), "a/.b.png");
    check_string(path_replace_extension("a/.b.jpg", ".png"), "a/.b.png");
    check_string(path_replace_extension("a/b.", ""), "a/b");
    ck_assert_str_eq(path_name("a/b/"), "");
    ck_assert_str_eq(path_name("a"), "a");
}

TEST(pages_go_by_a_tiff_and_a_number_from_one)
{
    static const struct {
        const char *path;
        uint32_t page; /* 0: is none */
    } cases[] = {{"a/stack.tif#2", 2}, {"x.TIFF#99999", 99999}, {".tif#1", 1},   {"a.tif#0", 0},  {"a.tif#02", 0},
                 {"a.tif#100000", 0},  {"a.tif#", 0},           {"a.tif#2x", 0}, {"a.png#2", 0},  {"tif#2", 0},
                 {"a.tif", 0},         {"atif#2", 0},           {"atiff#2", 0},  {"b#1.tif#3", 3}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        size_t length = 0;
        uint32_t page = 0;
        bool is_page = path_page(&length, &page, cases[k].path);
        ck_assert_msg(is_page == (cases[k].page > 0) && page == cases[k].page, "%s", cases[k].path);
        ck_assert_uint_eq(length,
                          is_page ? (size_t)(strrchr(cases[k].path, '#') - cases[k].path) : strlen(cases[k].path));
    }
    check_string(path_replace_extension("a/stack.tif#2", ".png"), "a/stack-2.png");
    check_string(path_replace_extension("a.b/s.tiff#12", ""), "a.b/s-12");
    check_string(path_stem("a/stack.tif#2"), "stack-2");
}

TEST(one_file_has_one_name)
{
    static const char *const cases[][2] = {
        {"./a//b/./c", "a/b/c"}, {"/a//b", "/a/b"}, {"//a", "/a"}, {"a/../b", "a/../b"},
        {".a/.b", ".a/.b"},      {"./", ""},        {"a/", "a/"},  {"a./b", "a./b"},
        {"././//a", "a"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char path[32];
        snprintf(path, sizeof path, "%s", cases[k][0]);
        path_simplify(path);
        ck_assert_str_eq(path, cases[k][1]);
    }
}

TEST(what_a_path_leads_to_is_reported)
{
    enum path_kind kind;
    must(folder_create(here("a/b//c/"), err));
    must(folder_create(here("a/b"), err));
    file_of("a/f", "");
    run_here("cd a && ln -s nowhere dangling && ln -s b link");
    static const struct {
        const char *name;
        enum path_kind kind;
    } cases[] = {{"b", PATH_FOLDER},      {"link", PATH_FOLDER}, {"b/c", PATH_FOLDER}, {"f", PATH_FILE},
                 {"dangling", PATH_FILE}, {"none", PATH_ABSENT}, {"f/x", PATH_ABSENT}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *path = here("a/%s", cases[k].name);
        must(path_find_kind(&kind, path, err));
        ck_assert_msg(kind == cases[k].kind, "%s", cases[k].name);
        ck_assert_int_eq(path_is_folder(path), cases[k].kind == PATH_FOLDER);
        ck_assert_int_eq(path_exists(path), cases[k].kind != PATH_ABSENT);
    }
    must_fail(CLV_ERR_CREATE, "a/f: cannot create folder", folder_create(here("a/f/d"), err));
}

TEST(a_walk_finds_each_file_once_links_to_folders_last)
{
    struct path_list list = {0};
    run_here("mkdir -p w/a w/b/c w/.hidden other/deep && touch w/z w/a/1 w/b/2 w/b/c/3 w/.hidden/4 w/.5 other/6 "
             "other/deep/7 && ln -s ../other w/link && ln -s ../w w/self && ln -s ../../w/b w/a/again && ln -s z "
             "w/file && ln -s none w/dangling && ln -s ../other/deep w/twice");
    must(folder_walk(&list, here("w"), err));
    static const char *const wanted[] = {"a/1", "b/2", "b/c/3", "dangling", "file", "link/6", "link/deep/7", "z"};
    ck_assert_uint_eq(list.n, 8);
    for (size_t k = 0; k < 8; k++)
        ck_assert_str_eq(list.paths[k], wanted[k]);
    ck_assert_uint_eq(list.n_links, 1);
    ck_assert_str_eq(list.first_link, here("w/link"));
    ck_assert_uint_eq(list.n_unreadable, 0);
    path_list_release(&list);
    must_fail(CLV_ERR_NO_INPUT, "w/z/: cannot open folder", folder_walk(&list, here("w/z"), err));
    ck_assert(!list.paths && !list.n);
}

TEST(a_folder_has_files_if_a_walk_would_find_one)
{
    static const struct {
        const char *folder;
        bool has_files;
    } cases[] = {{"e", false}, {"e/deep", false}, {"f", true}, {"l", true}, {"n", false}};
    run_here(
        "mkdir -p e/deep/er f/a n l && touch e/.hidden e/deep/.x f/a/1 f/2 && ln -s ../f l/link && ln -s ../e n/e");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bool has_files = !cases[k].has_files;
        must(folder_has_files(&has_files, here("%s", cases[k].folder), err));
        ck_assert_int_eq(has_files, cases[k].has_files);
    }
    bool ignored;
    must_fail(CLV_ERR_NO_INPUT, "none/: cannot open folder", folder_has_files(&ignored, here("none"), err));
}

TEST(shards_are_blocks_of_nearly_one_size_that_make_up_the_whole)
{
    static const size_t totals[] = {0, 1, 7, 100, SIZE_MAX / 2};
    static const int32_t counts[] = {1, 2, 3, 7, 100000};
    for (size_t t = 0; t < 5; t++)
        for (size_t c = 0; c < 5; c++) {
            size_t next = 0, first, n;
            for (int32_t k = 1; k <= counts[c]; k++, next += n) {
                shard_block(&first, &n, &(struct clv_shard){k, counts[c]}, totals[t]);
                ck_assert(first == next && n >= totals[t] / (size_t)counts[c] &&
                          n <= totals[t] / (size_t)counts[c] + 1);
            }
            ck_assert_uint_eq(next, totals[t]);
            shard_block(&first, &n, &(struct clv_shard){0, 0}, totals[t]);
            ck_assert(first == 0 && n == totals[t]);
        }
}

/* RFC 4648, section 10; and more than is written at once. */
TEST(bytes_are_written_in_base64)
{
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"},
                                           {"\xff\xef\xbe", "/+++"}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        char out[16] = "";
        FILE *stream = fmemopen(out, sizeof out, "w");
        base64_write(stream, pairs[k][0], strlen(pairs[k][0]));
        fclose(stream);
        ck_assert_str_eq(out, pairs[k][1]);
    }
    static char many[9000], out[12001];
    for (size_t size = 3071; size <= 9000; size += size < 3073 ? 1 : 5927) {
        memset(many, 0, sizeof many);
        many[size - 1] = 1;
        memset(out, 0, sizeof out);
        FILE *stream = fmemopen(out, sizeof out, "w");
        base64_write(stream, many, size);
        fclose(stream);
        ck_assert_uint_eq(strlen(out), (size + 2) / 3 * 4);
        ck_assert_uint_eq(strspn(out, "A"), (size - 1) / 3 * 4 + (size - 1) % 3 + 1);
    }
}

TEST(caches_are_written_as_a_whole_too)
{
    must(file_write_cache(here("cache"), "before", 6, err));
    must(file_write_cache(here("cache"), "now", 3, err));
    EXPECT_PARTS(slurp(here("cache"), NULL), "now");
    run_here("test $(wc -c <cache) = 3 && test $(ls -A) = cache");
    must_fail(CLV_ERR_CREATE, "none/cache", file_write_cache(here("none/cache"), "a", 1, err));
    ck_assert_int_eq(symlink("/dev/full", here("full")), 0);
    must_fail(CLV_ERR_IO, "full", file_write_cache(here("full"), "a", 1, err));
}
