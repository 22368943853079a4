#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/support.h"

/* Writes a manifest into the test's folder and reads it. */
static const char *manifest(const char *text, size_t size)
{
    const char *path = here("manifest.tsv");
    spill(path, text, size);
    return path;
}

static struct clv_set read_text(const char *text)
{
    struct clv_set set = {0};
    must(clv_set_read_manifest(&set, manifest(text, strlen(text)), err));
    return set;
}

static void expect_bad(const char *text, size_t size, const char *part)
{
    struct clv_set set = {.n_skipped = 77};
    must_fail(CLV_ERR_DATA, part, clv_set_read_manifest(&set, manifest(text, size), err));
    ck_assert(!set.items && !set.root && set.n_skipped == 77); /* unchanged */
}
#define bad(text, part) expect_bad(text, sizeof(text) - 1, part)

TEST(columns_come_in_any_order_and_unknown_ones_are_ignored)
{
    struct clv_set set = read_text("split\twho\tmask\timage\ttags\tboxes\tsequence\n"
                                   "train\tme\tm/a.png\ti/a.jpg\ta,b\tb.xml\tfarm\n"
                                   "test\tyou\t\ti/b.jpg\t\t\t\n");
    ck_assert_uint_eq(set.n_items, 2);
    const char *folder = temporary_folder();
    ck_assert_str_eq(set.root, folder);
    ck_assert_str_eq(set.items[0].name, "i/a.jpg");
    ck_assert_str_eq(set.items[0].image, here("i/a.jpg"));
    ck_assert_str_eq(set.items[0].mask, here("m/a.png"));
    ck_assert_str_eq(set.items[0].boxes, here("b.xml"));
    ck_assert_str_eq(set.items[0].split, "train");
    ck_assert_str_eq(set.items[0].tags, "a,b");
    ck_assert_str_eq(set.items[0].sequence, "farm");
    ck_assert(!set.items[1].sequence && !set.items[1].mask && !set.items[1].tags && !set.items[1].boxes);
    ck_assert(!set.has_label_file && !set.labels.from_file);
    ck_assert_int_eq(set.labels.n_labels, 2);
    ck_assert_str_eq(set.labels.names[1], "foreground");
    clv_set_release(&set);

    set = read_text("image\n\xc3\xa9t\xc3\xa9.png");
    ck_assert_str_eq(set.items[0].name, "\xc3\xa9t\xc3\xa9.png");
    ck_assert_str_eq(set.items[0].split, "");
    clv_set_release(&set);
    clv_set_release(&set);
}

TEST(windows_and_editor_habits_are_accepted)
{
    OWNED(clv_set_release) struct clv_set set =
        read_text("\xef\xbb\xbfimage\tsplit\r\n\r\na.png\ttrain\r\n\n\nb.png\t\r\n\r\n");
    ck_assert_uint_eq(set.n_items, 2);
    ck_assert_str_eq(set.items[0].split, "train");
    ck_assert_str_eq(set.items[1].name, "b.png");
    ck_assert_str_eq(set.items[1].split, "");
}

TEST(paths_are_simplified_so_that_one_file_has_one_name)
{
    OWNED(clv_set_release) struct clv_set set = read_text("image\n./a//b/./c.png\n.a/b.\n");
    ck_assert_str_eq(set.items[0].name, "a/b/c.png");
    ck_assert_str_eq(set.items[1].name, ".a/b.");
    bad("image\na/b.png\n./a/b.png\n", "line 3: image \"a/b.png\" is there twice");
}

TEST(bad_manifests_are_refused_with_file_line_and_value)
{
    bad("", "manifest.tsv: is empty");
    bad("\n\r\n\n", "is empty");
    bad("\xef\xbb\xbf", "is empty");
    bad("image\tmask\n", "has a header but no images");
    bad("mask\tsplit\na\tb\n", "no column \"image\"");
    bad("image mask split\na b c\n", "no column \"image\" in its header (columns are separated by tabs)");
    bad("Image\na\n", "no column \"image\"");
    bad("image\tsplit\timage\na\tb\tc\n", "line 1: column \"image\" is there twice");
    bad("image\tmask\na.png\n", "line 2 has 1 fields, the header has 2");
    bad("\nimage\tmask\na\tb\n\nc.png\td.png\te\n", "line 5 has 3 fields, the header has 2");
    bad("image\tmask\n\tm.png\n", "line 2: image is empty");
    bad("image\n../a.png\n", "line 2: ../a.png: \"..\" is not allowed");
    bad("image\na/../../b.png\n", "\"..\" is not allowed");
    bad("image\tmask\na.png\tx/..\n", "line 2: x/..: \"..\" is not allowed");
    bad("image\tboxes\na.png\t../b\n", "line 2: ../b: \"..\" is not allowed");
    bad("image\n/etc/passwd\n", "line 2: /etc/passwd: absolute path");
    bad("image\tmask\na.png\t//m.png\n", "absolute path");
    bad("image\tsplit\na.png\ta,b\n", "split \"a,b\" has a comma");
    bad("image\na\0.png\n", "byte 7 is zero: this is not a text file");
    bad("image\nok.png\n\xe9t\xe9.png\n", "line 3 is not UTF-8");
    bad("image\n\xc3", "line 2 is not UTF-8");
    bad("\xff\xfei\0m\0a\0g\0e\0", "is zero");
}

TEST(rows_that_repeat_are_refused_but_several_objects_in_an_image_are_not)
{
    bad("image\tmask\tsplit\na\tm\ttrain\nb\tm\ttrain\na\tm\ttrain\na\tm\ttrain\n",
        "line 4: image \"a\" is there twice in split train");
    bad("image\na.png\na.png\n", "line 3: image \"a.png\" is there twice");
    OWNED(clv_set_release) struct clv_set set =
        read_text("image\tmask\tsplit\na\tm1\ttrain\na\tm2\ttrain\na\tm1\ttest\n");
    ck_assert_uint_eq(set.n_items, 3);
}

TEST(links_that_lead_outside_are_refused)
{
    ck_assert_int_eq(symlink("/etc", here("out")), 0);
    ck_assert_int_eq(symlink("/etc/hostname", here("file.png")), 0);
    ck_assert_int_eq(mkdir(here("in"), 0777), 0);
    ck_assert_int_eq(symlink("in", here("alias")), 0);
    bad("image\nin/a.png\nout/hostname\n", "line 3: out/hostname: leads outside");
    bad("image\tmask\nin/a.png\tfile.png\n", "line 2: file.png: leads outside");
    OWNED(clv_set_release) struct clv_set set = read_text("image\nalias/a.png\n");
    ck_assert_uint_eq(set.n_items, 1);
}

TEST(very_long_lines_and_wide_tables_are_refused_in_a_short_message)
{
    size_t size = 1 << 20;
    OWNED_ARRAY char *text = malloc(size);
    memset(text, 'a', size);
    memcpy(text, "image\n", 6);
    expect_bad(text, size, "line 2: image is a path of 1048570 bytes, the limit is 4095");
    memset(text, '\t', size);
    memcpy(text, "image", 5);
    expect_bad(text, size, "columns, the limit is 64");
    memset(text + 6, '\t', size - 6);
    text[5] = '\n';
    expect_bad(text, size, "line 2 has 1048571 fields, the header has 1");
}

TEST(what_is_no_file_is_refused)
{
    struct clv_set set = {0};
    const char *folder = temporary_folder(), *fifo = here("fifo");
    ck_assert_int_eq(mkfifo(fifo, 0666), 0);
    must_fail(CLV_ERR_NO_INPUT, "absent.tsv: cannot open", clv_set_read(&set, here("absent.tsv"), err));
    must_fail(CLV_ERR_NO_INPUT, "not a regular file", clv_set_read(&set, fifo, err));
    must_fail(CLV_ERR_NO_INPUT, "is a folder", clv_set_read_manifest(&set, folder, err));
}

TEST(splits_are_selected_by_name)
{
    static const char text[] = "image\tsplit\na\ttrain\nb\ttest\nc\tval\nd\ttrain\ne\t\n";
    OWNED(clv_set_release) struct clv_set set = read_text(text);
    must(clv_set_select(&set, NULL, err));
    ck_assert_uint_eq(set.n_items, 5);
    must_fail(CLV_ERR_DATA, "no image has split \"tset\"; there are: test, train, val",
              clv_set_select(&set, "train,tset", err));
    must_fail(CLV_ERR_DATA, "no image has split \"tr\"", clv_set_select(&set, "tr", err));
    must_fail(CLV_ERR_DATA, "no image has split \"training\"", clv_set_select(&set, "training", err));
    ck_assert_uint_eq(set.n_items, 5);
    must(clv_set_select(&set, "val,train", err));
    ck_assert_uint_eq(set.n_items, 3);
    ck_assert_str_eq(set.items[0].name, "a");
    ck_assert_str_eq(set.items[1].name, "c");
    ck_assert_str_eq(set.items[2].name, "d");
    must_fail(CLV_ERR_DATA, "there are: train, val", clv_set_select(&set, "", err));
    clv_set_release(&set);
    set = read_text("image\na\n");
    must_fail(CLV_ERR_DATA, "there are no splits", clv_set_select(&set, "train", err));
}

static size_t count_split(const struct clv_set *set, const char *split)
{
    size_t n = 0;
    for (size_t i = 0; i < set->n_items; i++)
        n += strcmp(set->items[i].split, split) == 0;
    return n;
}

TEST(the_real_sets_are_read)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    const char *path = real_data("the_real_sets_are_read", "horses/manifest.tsv");
    if (!path)
        return;
    must(clv_set_read(&set, path, err));
    ck_assert_uint_eq(set.n_items, 267);
    ck_assert_uint_eq(count_split(&set, "train"), 147);
    ck_assert_uint_eq(count_split(&set, "weak"), 60);
    must(clv_set_select(&set, "test", err));
    ck_assert_uint_eq(set.n_items, 60);
    for (size_t i = 0; i < set.n_items; i++)
        ck_assert_ptr_nonnull(set.items[i].mask);
    clv_set_release(&set);

    must(clv_set_read(&set, real_data("the_real_sets_are_read", "msrc/manifest.tsv"), err));
    ck_assert_uint_eq(set.n_items, 240);
    ck_assert_uint_eq(count_split(&set, "fold0"), 120);
    ck_assert(set.has_label_file && set.labels.n_labels == 10 && set.labels.is_void[0]);
    ck_assert_str_eq(set.labels.names[9], "bicycle");
    clv_set_release(&set);

    must(clv_set_read(&set, real_data("the_real_sets_are_read", "boxes-berkeley/manifest.tsv"), err));
    ck_assert_uint_eq(set.n_items, 100); /* objects, on 96 images */
}
