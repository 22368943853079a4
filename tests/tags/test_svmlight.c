/* The svmlight multi-label reader: what it reads, and everything it refuses with its message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/disk.h"
#include "support/support.h"
#include "tags/tags.h"

static const char *spilled(const char *text, size_t size)
{
    const char *path = here("set.svm");
    spill(path, text, size);
    return path;
}

static void expect_bad(const char *text, size_t size, int32_t n_tags, const char *part)
{
    struct clv_tag_set set = {.n_tags = 77};
    must_fail(CLV_ERR_DATA, part, clv_tag_set_read(&set, spilled(text, size), n_tags, err));
    ck_assert(set.n_tags == 77 && !set.row && !set.names); /* unchanged */
}
#define bad(text, part) expect_bad(text, sizeof(text) - 1, 0, part)

TEST(labels_and_features_are_read)
{
    static const char text[] = "0,4 1:0.5 7:-2e-3\r\n 2:1\n3\n1:1e10  3:+4\t5:0\n2,1 \n4,0 9:1";
    struct clv_tag_set set = {0};
    must(clv_tag_set_read(&set, spilled(text, sizeof text - 1), 0, err));
    ck_assert(set.n == 6 && set.n_features == 9 && set.n_tags == 5 && !set.names);
    ck_assert_mem_eq(set.row, ((int64_t[]){0, 2, 3, 3, 6, 6, 7}), 7 * sizeof(int64_t));
    ck_assert_mem_eq(set.index, ((int32_t[]){0, 6, 1, 0, 2, 4, 8}), 7 * sizeof(int32_t));
    ck_assert_mem_eq(set.value, ((double[]){0.5, -2e-3, 1, 1e10, 4, 0, 1}), 7 * sizeof(double));
    const uint8_t tags[] = {1, 0, 0, 0, 1, /**/ 0, 0, 0, 0, 0, /**/ 0, 0, 0, 1, 0,
                            0, 0, 0, 0, 0, /**/ 0, 1, 1, 0, 0, /**/ 1, 0, 0, 0, 1};
    ck_assert_mem_eq(set.tags, tags, sizeof tags);
    clv_tag_set_release(&set);
    clv_tag_set_release(&set);
}

TEST(the_number_of_tags_may_be_given)
{
    struct clv_tag_set set = {0};
    must(clv_tag_set_read(&set, spilled("1 1:1\n", 6), 7, err));
    ck_assert(set.n_tags == 7 && set.tags[1] == 1 && set.tags[6] == 0);
    clv_tag_set_release(&set);
    must(clv_tag_set_read(&set, spilled(" 1:1\n", 5), 2, err)); /* no label at all is then fine */
    ck_assert(set.n_tags == 2 && set.n == 1);
    clv_tag_set_release(&set);
    expect_bad("2 1:1\n", 6, 2, "line 1: label 2 is out of range, must be 0 to 1");
    must_fail(CLV_ERR_USAGE, "-1 tags", clv_tag_set_read(&set, "nowhere", -1, err));
    must_fail(CLV_ERR_USAGE, "4097 tags", clv_tag_set_read(&set, "nowhere", 4097, err));
    must_fail(CLV_ERR_NO_INPUT, "nowhere", clv_tag_set_read(&set, "nowhere", 0, err));
}

TEST(names_come_from_labels_txt)
{
    const char *path = here("set.svm");
    const char *file = here("labels.txt");
    struct clv_tag_set set = {0};
    spill(path, "2 1:1\n", 6);
    spill(file, "Beach\nFall foliage\r\nUrban\n", 26);
    must(clv_tag_set_read(&set, path, 0, err));
    ck_assert_int_eq(set.n_tags, 3);
    ck_assert_str_eq(set.names[1], "Fall foliage");
    ck_assert_str_eq(set.names[2], "Urban");
    clv_tag_set_release(&set);
    must(clv_tag_set_read(&set, path, 5, err)); /* names of another number of tags are none of theirs */
    ck_assert(set.n_tags == 5 && !set.names);
    clv_tag_set_release(&set);
    spill(path, "3 1:1\n", 6);
    must_fail(CLV_ERR_DATA, "set.svm: line 1: label 3 is out of range, must be 0 to 2",
              clv_tag_set_read(&set, path, 0, err));
    static const struct {
        const char *text, *part;
    } cases[] = {{"a\n\nb\n", "labels.txt: line 2: a name must have 1 to 255 bytes"},
                 {"a\nb\na\n", "labels.txt: line 3: name \"a\" is there twice"},
                 {"a\nb,c\n", "line 2: \"b,c\" is not UTF-8, or has a comma"},
                 {"", "labels.txt: is empty"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spill(file, cases[i].text, strlen(cases[i].text));
        must_fail(CLV_ERR_DATA, cases[i].part, clv_tag_set_read(&set, path, 0, err));
    }
    ck_assert(!set.row && !set.names);
}

TEST(names_that_the_disk_does_not_reveal_are_no_missing_names)
{
    struct clv_tag_set set = {0};
    const char *path = spilled("2 1:1\n", 6);
    disk_fails_at = "/labels.txt";
    must_fail(CLV_ERR_NO_INPUT, "labels.txt: cannot tell whether it is there", clv_tag_set_read(&set, path, 0, err));
    disk_fails_at = NULL;
}

TEST(bad_labels_are_refused_by_line_and_value)
{
    bad("0 1:1\n4096 1:1\n", "set.svm: line 2: label 4096 is out of range, must be 0 to 4095");
    bad("-1 1:1\n", "line 1: label -1 is out of range");
    bad("99999999999999999999 1:1\n", "line 1: label \"99999999999999999999\" is not a whole number");
    bad("0,,1 1:1\n", "line 1: label \"\" is not a whole number");
    bad("0.5 1:1\n", "line 1: label \"0.5\" is not a whole number");
    bad("0,2,0 1:1\n", "line 1: label 0 is there twice");
    bad(" 1:1\n", "has no labels at all");
}

TEST(bad_features_are_refused_by_line_and_value)
{
    bad("0 0:1\n", "line 1: feature 0 is out of range, must be 1 to 16777216");
    bad("0 -3:1\n", "line 1: feature -3 is out of range");
    bad("0 16777217:1\n", "line 1: feature 16777217 is out of range");
    bad("0 1:1 3:1 3:2\n", "line 1: feature 3 is there twice");
    bad("0 1:1\n0 5:1 3:2\n", "line 2: feature 3 comes after feature 5, indices must ascend");
    bad("0 1:nan\n", "line 1: feature 1 is \"nan\", which is not a finite number");
    bad("0 1:1\n1 1:inf\n", "line 2: feature 1 is \"inf\"");
    bad("0 1:1e101\n", "line 1: feature 1 is \"1e101\", which is not a finite number up to 1e+100");
    bad("0 1:\n", "line 1: feature 1 is \"\"");
    bad("0 1:2x\n", "line 1: feature 1 is \"2x\"");
    bad("0 1:1 7\n", "line 1: \"7\" is not a feature of the form index:value");
    bad("0 x:1\n", "line 1: \"x\" is not a feature of the form index:value");
}

TEST(empty_lines_and_files_are_refused)
{
    bad("0 1:1\n\n1 1:1\n", "line 2 is empty");
    bad("0 1:1\n \t \n", "line 2 is empty");
    bad("", "is empty");
    bad("0 1:1\n1 \0:1\n", "line 2 has a zero byte: this is not a text file");
}

/* A gigabyte without a line break, which takes no space on the disk, and must take none in memory. */
TEST(a_line_of_a_gigabyte_is_refused)
{
    const char *path = here("long.svm");
    struct clv_tag_set set = {0};
    spill(path, "0 1:1\n1 1:1 ", 12);
    ck_assert_int_eq(truncate(path, 1 << 30), 0);
    must_fail(CLV_ERR_DATA, "long.svm: line 2 is longer than 16777216 bytes", clv_tag_set_read(&set, path, 0, err));
}

TEST(a_line_may_be_as_long_as_the_limit)
{
    size_t size = CLV_MAX_TAG_LINE;
    OWNED_ARRAY char *text = malloc(size + 2);
    memset(text, ' ', size + 2);
    memcpy(text, "3 4:1", 5);
    OWNED(clv_tag_set_release) struct clv_tag_set set = {0};
    memcpy(text + size, "\r\n", 2);
    must(clv_tag_set_read(&set, spilled(text, size + 2), 0, err));
    ck_assert(set.n == 1 && set.row[1] == 1);
    memcpy(text + size, " \n", 2);
    expect_bad(text, size + 2, 0, "line 1 is longer than 16777216 bytes");
}

TEST(the_published_sets_have_their_sizes)
{
    static const struct {
        const char *name;
        size_t n_train, n_test;
        int32_t n_features, n_tags;
        const char *last;
    } sets[] = {{"scene", 1211, 1196, 294, 6, "Urban"},
                {"yeast", 1500, 917, 103, 14, "Class14"},
                {"emotions", 391, 202, 72, 6, "angry-aggresive"},
                {"bibtex", 4880, 2515, 1836, 159, "TAG_wiki"}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const char *folder = real_data("the_published_sets_have_their_sizes", formatted("multilabel/%s", sets[i].name));
        if (!folder)
            return;
        OWNED_ARRAY char *copy = strdup(folder);
        OWNED(clv_tag_set_release) struct clv_tag_set train = {0}, test = {0};
        must(clv_tag_set_read(&train, formatted("%s/train.svm", copy), 0, err));
        must(clv_tag_set_read(&test, formatted("%s/test.svm", copy), train.n_tags, err));
        ck_assert_msg(train.n == sets[i].n_train && test.n == sets[i].n_test && train.n_tags == sets[i].n_tags, "%s",
                      sets[i].name);
        int32_t most = train.n_features > test.n_features ? train.n_features : test.n_features;
        ck_assert_int_eq(most, sets[i].n_features);
        ck_assert_str_eq(train.names[train.n_tags - 1], sets[i].last);
    }
}
