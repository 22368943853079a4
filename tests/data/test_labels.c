#include <string.h>

#include "data/data.h"
#include "support/support.h"

static const char *spilled(const char *text, size_t size)
{
    const char *path = here("labels.tsv");
    spill(path, text, size);
    return path;
}

static void expect_bad(const char *text, size_t size, const char *part)
{
    struct clv_labels labels = {.n_labels = 77};
    must_fail(CLV_ERR_DATA, part, clv_labels_read(&labels, spilled(text, size), err));
    ck_assert(labels.n_labels == 77 && !labels.names && !labels.palette); /* unchanged */
}
#define bad(text, part) expect_bad(text, sizeof(text) - 1, part)
#define HEADER          "value\tname\tred\tgreen\tblue\n"

TEST(names_and_colours_are_read)
{
    struct clv_labels labels = {0};
    OWNED(clv_labels_release) struct clv_labels copy = {0};
    static const char text[] = "\xef\xbb\xbfname\tblue\tvalue\tred\tgreen\r\n"
                               "void\t3\t0\t1\t2\r\ncow\t30\t4\t10\t20\r\ngr\xc3\xa4s\t255\t2\t0\t255\r\n";
    must(clv_labels_read(&labels, spilled(text, sizeof text - 1), err));
    ck_assert(labels.from_file && labels.n_labels == 5 && labels.is_void[0]);
    ck_assert_str_eq(labels.names[4], "cow");
    ck_assert_str_eq(labels.names[2], "gr\xc3\xa4s");
    ck_assert_str_eq(labels.names[1], ""); /* a value that is not named */
    ck_assert_mem_eq(labels.palette[4], ((uint8_t[]){10, 20, 30}), 3);
    ck_assert_mem_eq(labels.palette[0], ((uint8_t[]){1, 2, 3}), 3);
    /* Void is shown alike wherever it comes from. */
    ck_assert_mem_eq(labels.palette[CLV_VOID], ((uint8_t[]){1, 2, 3}), 3);
    must(clv_labels_copy(&copy, &labels, err));
    clv_labels_release(&labels);
    clv_labels_release(&labels);
    ck_assert_str_eq(copy.names[4], "cow");
    ck_assert_int_eq(copy.palette[4][2], 30);
}

TEST(void_may_stand_anywhere_or_nowhere)
{
    OWNED(clv_labels_release) struct clv_labels labels = {0};
    static const char high[] = HEADER "0\ta\t0\t0\t0\n1\tb\t0\t0\t0\n9\tvoid\t7\t7\t7\n";
    must(clv_labels_read(&labels, spilled(high, sizeof high - 1), err));
    ck_assert(labels.n_labels == 2 && labels.is_void[9]);
    clv_labels_release(&labels);
    static const char usual[] = HEADER "0\ta\t0\t0\t0\n1\tb\t0\t0\t0\n255\tvoid\t7\t7\t7\n";
    must(clv_labels_read(&labels, spilled(usual, sizeof usual - 1), err));
    ck_assert(labels.n_labels == 2 && !memchr(labels.is_void, 1, 256));
    clv_labels_release(&labels);
    static const char none[] = HEADER "0\ta\t0\t0\t0\n254\tb\t0\t0\t0\n";
    must(clv_labels_read(&labels, spilled(none, sizeof none - 1), err));
    ck_assert(labels.n_labels == 255 && !memchr(labels.is_void, 1, 256));
}

TEST(several_values_may_be_void)
{
    OWNED(clv_labels_release) struct clv_labels labels = {0};
    static const char text[] = HEADER "0\tvoid\t1\t1\t1\n1\ta\t0\t0\t0\n2\tvoid\t2\t2\t2\n3\tb\t0\t0\t0\n"
                                      "7\tvoid\t3\t3\t3\n255\tvoid\t4\t4\t4\n";
    must(clv_labels_read(&labels, spilled(text, sizeof text - 1), err));
    ck_assert_int_eq(labels.n_labels, 4);
    for (int v = 0; v < 256; v++)
        ck_assert_int_eq(labels.is_void[v], v == 0 || v == 2 || v == 7);
}

TEST(labels_are_hidden_by_name)
{
    OWNED(clv_labels_release) struct clv_labels labels = {0}, binary = {0};
    static const char text[] =
        HEADER "0\tvoid\t1\t1\t1\n1\ta\t0\t0\t0\n2\tb c\t2\t2\t2\n4\td\t0\t0\t0\n5\tab\t0\t0\t0\n";
    must(clv_labels_read(&labels, spilled(text, sizeof text - 1), err));
    must_fail(CLV_ERR_USAGE, "no label is called \"b\"; there are a, b c, d, ab", labels_hide(&labels, "b", err));
    must_fail(CLV_ERR_USAGE, "no label is called \"\"; there", labels_hide(&labels, "a,", err));
    must_fail(CLV_ERR_USAGE, "no label is called \"\"; there", labels_hide(&labels, "", err));
    must_fail(CLV_ERR_USAGE, "with \"a,b c,ab\" void, 1 of the labels is left", labels_hide(&labels, "a,b c,ab", err));
    for (int v = 1; v < 256; v++)
        ck_assert_int_eq(labels.is_void[v], 0); /* nothing changed */
    must(labels_hide(&labels, "d,b c", err));
    must(labels_hide(&labels, "d,void", err));
    for (int v = 0; v < 256; v++)
        ck_assert_int_eq(labels.is_void[v], v == 0 || v == 2 || v == 4);
    must_fail(CLV_ERR_USAGE, "no label is called \"x\"; there are a, ab", labels_hide(&labels, "x", err));
    must_fail(CLV_ERR_USAGE, "0 of the labels", labels_hide(&labels, "a,ab", err));
    must(clv_labels_binary(&binary, err));
    must_fail(CLV_ERR_USAGE, "1 of the labels is left", labels_hide(&binary, "foreground", err));
}

TEST(binary_labels_are_background_and_foreground)
{
    OWNED(clv_labels_release) struct clv_labels labels = {0};
    must(clv_labels_binary(&labels, err));
    ck_assert(labels.n_labels == 2 && !memchr(labels.is_void, 1, 256) && !labels.from_file);
    ck_assert_str_eq(labels.names[0], "background");
    ck_assert_mem_eq(labels.palette[0], ((uint8_t[]){0, 0, 0}), 3);
    ck_assert_mem_ne(labels.palette[1], labels.palette[0], 3);
}

TEST(bad_label_files_are_refused_with_file_line_and_value)
{
    bad("", "labels.tsv: is empty; as of printf 'value\\tname\\n0\\tbackground\\n1\\thorse\\n' >labels.tsv");
    bad("value\tname\tred\tgreen\n0\ta\t0\t0\n", "no column \"blue\"");
    bad("value name red green blue\n",
        "no column \"name\" in its header (columns are separated by tabs); as of printf");
    bad(HEADER, "names no label above 0; at least labels 0 and 1 are needed; as of printf");
    bad(HEADER "0\ta\t0\t0\t0\n", "names no label above 0");
    bad(HEADER "0\ta\t0\t0\t0\n1\tvoid\t0\t0\t0\n", "names no label above 0");
    bad(HEADER "0\ta\t0\t0\t0\n1\tb\t0\t0\n", "line 3 has 4 fields, the header has 5; as of printf");
    bad(HEADER "x\ta\t0\t0\t0\n", "line 2: value \"x\" is not a mask value");
    bad(HEADER "256\ta\t0\t0\t0\n", "line 2: value \"256\" is not a mask value (0 to 254)");
    bad(HEADER "-1\ta\t0\t0\t0\n", "value \"-1\"");
    bad(HEADER "1.0\ta\t0\t0\t0\n", "value \"1.0\"");
    bad(HEADER "255\tsky\t0\t0\t0\n", "line 2: value 255 is always void, it cannot be \"sky\"");
    bad(HEADER "1\t\t0\t0\t0\n", "line 2: name \"\" has 0 bytes, must have 1 to 63");
    bad(HEADER "1\t0123456789012345678901234567890123456789012345678901234567890123\t0\t0\t0\n", "has 64 bytes");
    bad(HEADER "1\ta\t0\t256\t0\n", "line 2: colour \"256\" is not in 0 to 255");
    bad(HEADER "1\ta\t0\t0\tblue\n", "colour \"blue\"");
    bad(HEADER "1\ta\t0\t0\t0\n1\tb\t0\t0\t0\n", "line 3: value 1 is there twice");
    bad(HEADER "1\ta\t0\t0\t0\n2\ta\t0\t0\t0\n", "line 3: name \"a\" is there twice");
    bad(HEADER "1\tvoid\t0\t0\t0\n1\tvoid\t0\t0\t0\n", "line 3: value 1 is there twice");
    bad(HEADER "1\ta\0\t0\t0\t0\n", "is zero: this is not a text file");
    bad(HEADER "1\t\xff\t0\t0\t0\n", "line 2 is not UTF-8");
}

TEST(a_bad_label_file_next_to_a_manifest_fails_the_set)
{
    struct clv_set set = {0};
    const char *manifest = here("manifest.tsv");
    spill(manifest, "image\na.png\n", 12);
    spilled("value\n", 6);
    must_fail(CLV_ERR_DATA, "labels.tsv: no column \"name\"", clv_set_read_manifest(&set, manifest, err));
    ck_assert_ptr_null(set.items);
}
