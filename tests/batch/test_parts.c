#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/base.h"
#include "base/digest.h"
#include "batch/parts.h"
#include "support/support.h"

static struct clv_labels labels;

static void make_labels(void)
{
    must(clv_labels_binary(&labels, err));
}

static void release_labels(void)
{
    clv_labels_release(&labels);
}

/* The part and the mask of a test, whose strings last. */
static char part[256], mask[256];

static void name_files(void)
{
    make_labels();
    snprintf(part, sizeof part, "%s", here("p"));
    snprintf(mask, sizeof mask, "%s", here("m.png"));
}

static struct part_options usual(void)
{
    return (struct part_options){.labels = &labels, .tolerance = 1};
}

static struct part_key key_of(enum part_kind kind, struct part_options options)
{
    struct part_key key;
    part_key_make(&key, kind, &options);
    return key;
}

static const char mask_bytes[] = "a mask", rows[] = "1\tcow\t2\n2\thorse\t3\n";

/* Writes the part of mask. */
static void write_part(const char *path, enum part_kind kind, const char *name, const char *rest)
{
    const struct part_key key = key_of(kind, usual());
    struct text lines;
    text_init(&lines, 1 << 20);
    part_put_image(&lines, kind, name, 640, 480);
    text_put(&lines, rest);
    must(part_write(path, &(struct part_mask){.path = mask}, &key, &lines, err));
    text_release(&lines);
}

static void make_part(const char *path, enum part_kind kind)
{
    spill(mask, mask_bytes, sizeof mask_bytes);
    write_part(path, kind, "a.jpg", rows);
}

static bool is_current(const char *path, const char *of, enum part_kind kind, struct part_options options)
{
    const struct part_key key = key_of(kind, options);
    enum part_fate fate;
    size_t n_lines;
    must(part_check(&fate, &n_lines, path, of, kind, &key, err));
    return fate == PART_CURRENT;
}

static enum part_state state_of(const char *path, enum part_kind kind)
{
    struct part found = {0};
    enum part_state state = PART_ABSENT;
    must(part_read(&found, &state, path, kind, err));
    ck_assert_int_eq(found.bytes != NULL, state == PART_WHOLE);
    part_release(&found);
    return state;
}

/* A mask that changes in between is found out by each part. */
TEST(all_parts_of_a_labelling_are_of_the_mask_as_it_was_for_the_first)
{
    struct part_mask seen = {.path = mask};
    const struct part_key key = key_of(PART_OBJECTS, usual());
    spill(mask, mask_bytes, sizeof mask_bytes);
    for (int k = 0; k < 2; k++) {
        struct text lines;
        text_init(&lines, 1 << 20);
        part_put_image(&lines, PART_OBJECTS, "a.jpg", 1, 1);
        must(part_write(here("p%d", k), &seen, &key, &lines, err));
        text_release(&lines);
        ck_assert_int_eq(is_current(here("p%d", k), mask, PART_OBJECTS, usual()), k == 0);
        spill(mask, "another mask", 12);
    }
    ck_assert(!is_current(here("p0"), mask, PART_OBJECTS, usual()));
}

TEST(parts_read_back_what_was_written)
{
    static const struct {
        enum part_kind kind;
        const char *name, *in_part, *rest;
    } cases[] = {
        {PART_OBJECTS, "a/b.jpg", "a/b.jpg", rows},
        {PART_OBJECTS, "tab\tline\n\\\x1b.jpg", "tab\\tline\\n\\\\\\x1b.jpg", ""},
        {PART_OBJECTS, "", "", "\n"},
        {PART_COCO, "a \"b\"\t.jpg", "\"a \\\"b\\\"\\t.jpg\"", "\"category_id\":1}\n\"category_id\":2}\n"},
        {PART_COCO, "a.jpg", "\"a.jpg\"", ""},
    };
    spill(mask, mask_bytes, sizeof mask_bytes);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct part found = {0};
        enum part_state state;
        bool fits = false;
        char path[256]; /* whose folders are made */
        snprintf(path, sizeof path, "%s", here("new%zu/in/part", k));
        const struct part_key key = key_of(cases[k].kind, usual());
        write_part(path, cases[k].kind, cases[k].name, cases[k].rest);
        must(part_read(&found, &state, path, cases[k].kind, err));
        ck_assert_int_eq(state, PART_WHOLE);
        ck_assert_str_eq(found.name, cases[k].in_part);
        ck_assert_str_eq(found.lines, cases[k].rest);
        ck_assert(found.end == found.lines + strlen(cases[k].rest));
        ck_assert_str_eq(found.layout, key.layout);
        ck_assert_str_eq(found.options, key.options);
        ck_assert_int_eq(found.width, cases[k].kind == PART_COCO ? 640 : 0);
        ck_assert_int_eq(found.height, cases[k].kind == PART_COCO ? 480 : 0);
        must(part_fits(&fits, &found, mask, err));
        ck_assert(fits && is_current(path, mask, cases[k].kind, usual()));
        part_release(&found);
        run_here("test $(ls -A new%zu/in | wc -l) = 1", k);
    }
}

TEST(the_head_is_the_line_of_the_manual)
{
    char digest[DIGEST_SIZE];
    struct stat info, own;
    const char *rest = "a.jpg\n1\tcow\t2\n2\thorse\t3\n";
    make_part(here("p"), PART_OBJECTS);
    must(digest_file(digest, mask, err));
    spill(here("rest"), rest, strlen(rest));
    char rest_digest[DIGEST_SIZE];
    must(digest_file(rest_digest, here("rest"), err));
    ck_assert_int_eq(stat(mask, &info), 0);
    ck_assert_int_eq(stat(here("p"), &own), 0);
    ck_assert(own.st_mtim.tv_sec == info.st_mtim.tv_sec && own.st_mtim.tv_nsec == info.st_mtim.tv_nsec);
    const struct part_key key = key_of(PART_OBJECTS, usual());
    char *text = slurp(here("p"), NULL);
    ck_assert_str_eq(text, formatted("cleave part 1\t7\t%s\t%zu\t%s\t%s\t%s\n%s", digest, strlen(rest),
                                     rest_digest + strlen("fnv1a:"), key.layout, key.options, rest));
    free(text);
}

/* An option counts for the kinds of parts that it changes. */
TEST(other_options_make_a_part_again)
{
    struct clv_labels others[2];
    struct part_options changed[9];
    static const bool counts[9][N_PART_KINDS] = {{false, true}, {false, true}, {false, true},
                                                 {true, true},  {true, true},  {true, false},
                                                 {true, true},  {true, true},  {false, false}};
    for (int k = 0; k < 2; k++) {
        must(clv_labels_binary(&others[k], err));
        strcpy(others[k].names[k], "another");
    }
    for (int k = 0; k < 9; k++)
        changed[k] = usual();
    changed[0].tolerance = 1.0000001;
    changed[1].runs = true;
    changed[2].objects = true;
    changed[3].min_area = 1;
    changed[4].clear_border = true;
    changed[5].n_bands = 4;
    changed[6].labels = &others[0];
    changed[7].labels = &others[1];
    make_part(here("0"), PART_OBJECTS);
    make_part(here("1"), PART_COCO);
    for (int k = 0; k < 9; k++)
        for (enum part_kind kind = 0; kind < N_PART_KINDS; kind++) {
            const struct part_key key = key_of(kind, usual()), other = key_of(kind, changed[k]);
            const bool is_layout = kind == PART_OBJECTS ? k == 5 : k == 6 || k == 7;
            ck_assert_msg(is_current(here("%d", kind), mask, kind, changed[k]) == !counts[k][kind],
                          "options %d, kind %d", k, kind);
            ck_assert_msg((strcmp(key.layout, other.layout) != 0) == is_layout, "options %d, kind %d", k, kind);
        }
    clv_labels_release(&others[0]);
    clv_labels_release(&others[1]);
}

static void set_time(const char *path, time_t seconds, long nanoseconds)
{
    const struct timespec times[2] = {{seconds, nanoseconds}, {seconds, nanoseconds}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

TEST(a_part_is_of_one_mask)
{
    struct part_options options = usual();
    make_part(part, PART_COCO);
    struct stat info;
    ck_assert_int_eq(stat(mask, &info), 0);
    ck_assert(is_current(part, mask, PART_COCO, options));

    run_here("mkdir copy && cp p m.png copy"); /* another time, the same content */
    set_time(here("copy/m.png"), 1000, 1);
    ck_assert(is_current(here("copy/p"), here("copy/m.png"), PART_COCO, options));

    spill(mask, "b mask", sizeof mask_bytes); /* the same size, another time */
    set_time(mask, info.st_mtim.tv_sec, info.st_mtim.tv_nsec ^ 1);
    ck_assert(!is_current(part, mask, PART_COCO, options));
    set_time(mask, info.st_mtim.tv_sec + 1, info.st_mtim.tv_nsec);
    ck_assert(!is_current(part, mask, PART_COCO, options));
    spill(mask, mask_bytes, sizeof mask_bytes); /* what it was before */
    ck_assert(is_current(part, mask, PART_COCO, options));

    spill(mask, "a mask, longer", 14); /* another size, the same time */
    set_time(mask, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    ck_assert(!is_current(part, mask, PART_COCO, options));
    run_here("rm m.png");
    ck_assert(!is_current(part, mask, PART_COCO, options));
    run_here("mkdir m.png");
    ck_assert(!is_current(part, mask, PART_COCO, options));
    ck_assert(!is_current(part, here("p/m.png"), PART_COCO, options));
    must_fail(CLV_ERR_NO_INPUT, "none.png",
              part_write(part, &(struct part_mask){.path = here("none.png")}, &(struct part_key){"", ""},
                         &(struct text){0}, err));
}

TEST(a_torn_part_is_not_current)
{
    char torn[256];
    snprintf(torn, sizeof torn, "%s", here("torn"));
    for (enum part_kind kind = 0; kind < N_PART_KINDS; kind++) {
        size_t size;
        make_part(part, kind);
        char *bytes = slurp(part, &size), *newline = strchr(bytes, '\n');
        for (size_t length = 0; length < size; length++) {
            spill(torn, bytes, length);
            ck_assert_msg(state_of(torn, kind) == PART_TORN, "%zu bytes", length);
            ck_assert(!is_current(torn, mask, kind, usual()));
        }
        const char *options = strstr(bytes, key_of(kind, usual()).layout), *version_end = strchr(bytes, '\t');
        for (char *byte = bytes; byte < bytes + size; byte++) {
            *byte ^= 1;
            spill(torn, bytes, size);
            if (byte < version_end || byte >= newline)
                ck_assert_msg(state_of(torn, kind) == PART_TORN, "byte %td", byte - bytes);
            if (byte >= options)
                ck_assert_msg(!is_current(torn, mask, kind, usual()), "byte %td", byte - bytes);
            *byte ^= 1;
        }
        memset(newline + 1, 0, size - (size_t)(newline + 1 - bytes));
        spill(torn, bytes, size);
        ck_assert_int_eq(state_of(torn, kind), PART_TORN);
        memset(bytes, 0, size);
        spill(torn, bytes, size);
        ck_assert_int_eq(state_of(torn, kind), PART_TORN);
        free(bytes);
    }
    ck_assert_int_eq(state_of(here("none"), PART_COCO), PART_ABSENT);
    ck_assert_int_eq(state_of(here("m.png/none"), PART_COCO), PART_ABSENT);
    ck_assert_int_eq(state_of(temporary_folder(), PART_COCO), PART_TORN);
    make_part(part, PART_OBJECTS); /* a whole one of another table */
    ck_assert_int_eq(state_of(part, PART_COCO), PART_TORN);
}

/* A rest of the right hash that no program of this version writes. */
TEST(a_rest_without_its_last_line_end_or_size_is_torn)
{
    static const struct {
        enum part_kind kind;
        const char *rest;
        enum part_state state;
    } cases[] = {{PART_OBJECTS, "a.jpg\n1\n", PART_WHOLE}, {PART_OBJECTS, "a.jpg\n1", PART_TORN},
                 {PART_OBJECTS, "a.jpg", PART_WHOLE},      {PART_OBJECTS, "a.jpg\tb\n", PART_TORN},
                 {PART_COCO, "\"a\"\t1\t2\n", PART_WHOLE}, {PART_COCO, "\"a\"\t1\t2\t3\n", PART_TORN},
                 {PART_COCO, "\"a\"\t1\tx\n", PART_TORN},  {PART_COCO, "\"a\"\tx\t1\n", PART_TORN},
                 {PART_COCO, "\"a\"\t1\n", PART_TORN}};
    const struct part_key key = key_of(PART_OBJECTS, usual());
    spill(mask, mask_bytes, sizeof mask_bytes);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct text lines;
        text_init(&lines, 1 << 20);
        text_put(&lines, cases[k].rest);
        must(part_write(here("p"), &(struct part_mask){.path = mask}, &key, &lines, err));
        text_release(&lines);
        ck_assert_msg(state_of(here("p"), cases[k].kind) == cases[k].state, "case %zu", k);
    }
}

TEST(memory_that_is_out_leaves_the_part_as_it_was)
{
    const struct part_key key = key_of(PART_COCO, usual());
    make_part(part, PART_COCO);
    size_t request = 1;
    for (bool is_out = true; is_out; request++) {
        struct text lines;
        struct clv_error error;
        array_fail_request(request);
        text_init(&lines, 1 << 20);
        part_put_image(&lines, PART_COCO, "b.jpg", 1, 1);
        enum clv_status status = part_write(part, &(struct part_mask){.path = mask}, &key, &lines, &error);
        array_fail_request(0);
        text_release(&lines);
        is_out = status != CLV_OK;
        ck_assert_int_eq(status, is_out ? CLV_ERR_MEMORY : CLV_OK);
        char *text = slurp(part, NULL);
        ck_assert_int_eq(strstr(text, "b.jpg") != NULL, !is_out);
        free(text);
        run_here("test $(ls -A | wc -l) = 2");
    }
    ck_assert_uint_gt(request, 4);
    set_time(mask, 1, 1); /* so that its content is read */
    request = 1;
    for (bool is_out = true; is_out; request++) {
        enum part_fate current = PART_TO_MAKE;
        struct clv_error error;
        array_fail_request(request);
        size_t n_lines;
        enum clv_status status = part_check(&current, &n_lines, part, mask, PART_COCO, &key, &error);
        array_fail_request(0);
        is_out = status != CLV_OK;
        ck_assert_int_eq(status, is_out ? CLV_ERR_MEMORY : CLV_OK);
        ck_assert_int_eq(current, is_out ? PART_TO_MAKE : PART_CURRENT);
    }
}

SETUP_EACH(name_files, release_labels)
