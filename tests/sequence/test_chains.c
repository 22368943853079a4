/* Which frames are propagated from which. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "sequence/sequence.h"
#include "support/support.h"

/* Rows "name,mask,split,sequence;..", empty: not there; a bare folder unless has_manifest. */
static void make_set(struct clv_set *set, const char *rows, bool has_manifest)
{
    size_t capacity = 0;
    *set = (struct clv_set){.n_items = 0};
    set->root = strdup(".");
    set->manifest = has_manifest ? strdup("m.tsv") : NULL;
    for (const char *row = rows; *row;) {
        char fields[4][32] = {"", "", "", ""};
        for (int k = 0; k < 4; k++) {
            size_t n = strcspn(row, ",;");
            snprintf(fields[k], sizeof fields[k], "%.*s", (int)n, row);
            row += n + (row[n] != 0);
        }
        const struct item_fields item = {.name = fields[0],
                                         .mask = *fields[1] ? fields[1] : NULL,
                                         .split = fields[2],
                                         .sequence = *fields[3] ? fields[3] : NULL};
        must(set_add(set, &capacity, &item, err));
    }
}

/* The chains as text: names, the first given, then those propagated from it. */
static void check_chains(const char *rows, bool has_manifest, const char *given, const char *split,
                         const char *expected)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    OWNED(chains_release) struct chains chains = {0};
    char text[512] = "";
    make_set(&set, rows, has_manifest);
    must(chains_find(&chains, &set, given, split, err));
    for (size_t c = 0; c < chains.n; c++)
        for (size_t k = 0; k <= chains.items[c].n; k++) {
            const struct chain *chain = &chains.items[c];
            size_t item = chains.frames[(int64_t)chain->first + chain->step * (int64_t)k];
            size_t n = strlen(text);
            snprintf(text + n, sizeof text - n, "%s%s%s", set.items[item].name, chains.is_wanted[item] ? "!" : "",
                     k < chain->n ? " " : "; ");
        }
    ck_assert_str_eq(text, expected);
}

TEST(frames_are_propagated_from_the_nearest_given_one_on_either_side)
{
    check_chains("a,m,,;b,,,;c,,,;d,,,;e,m,,;f,,,;", true, NULL, NULL, "a b! c!; e f!; e d!; ");
    check_chains("a,,,;b,m,,;", true, NULL, NULL, "b a!; ");
}

TEST(splits_say_what_is_given_and_wanted_and_rows_keep_their_order)
{
    const char *rows = "z,m,first,s;b,m,rest,s;a,m,,s;c,m,rest,s;d,m,,s;q,m,first,t;";
    check_chains(rows, true, "first", "rest", "z b! a c!; ");
    check_chains(rows, true, "first", NULL, "z b! a! c! d!; ");
}

TEST(images_of_a_folder_go_by_their_numbers_a_sequence_for_each_folder)
{
    check_chains("x/f10.png,,,;x/f2.png,m,,;y/f1.png,,,;y/f02.png,m,,;x/f9.png,,,;", false, NULL, NULL,
                 "x/f2.png x/f9.png! x/f10.png!; y/f02.png y/f1.png!; ");
}

TEST(missing_numbers_are_counted)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    OWNED(chains_release) struct chains chains = {0};
    make_set(&set, "f2,m,,;f4,,,;f6,,,;f10,,,;f12,,,;f20,,,;", false);
    must(chains_find(&chains, &set, NULL, NULL, err));
    ck_assert_uint_eq(chains.gaps.n, 2);
    ck_assert_str_eq(chains.gaps.before[0], "f6");
    ck_assert_str_eq(chains.gaps.before[1], "f10");
}

TEST(a_sequence_without_a_given_mask_and_a_frame_twice_are_refused)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    struct chains chains = {.n = 0};
    make_set(&set, "a,m,,s;b,,,s;c,,,t;", true);
    must_fail(CLV_ERR_DATA, "c: none of the 1 frames", chains_find(&chains, &set, NULL, NULL, err));
    clv_set_release(&set);
    make_set(&set, "a,m,,s;b,m1,,s;b,m2,,s;", true);
    must_fail(CLV_ERR_DATA, "b: is there twice", chains_find(&chains, &set, NULL, NULL, err));
}

TEST(pages_of_each_tiff_of_a_folder_are_a_sequence)
{
    check_chains("a.tif#1,m,,;a.tif#10,,,;a.tif#2,,,;b.tif#1,,,;b.tif#2,m,,;", false, NULL, NULL,
                 "a.tif#1 a.tif#2! a.tif#10!; b.tif#2 b.tif#1!; ");
}

TEST(what_follows_an_item_is_of_its_sequence)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    size_t next[2], n;
    make_set(&set, "x/f10,,,;x/f8,,,;x/f9,,,;y/f9,,,;", false);
    must(sequence_after(next, &n, &set, 1, err));
    ck_assert(n == 2 && next[0] == 2 && next[1] == 0);
    must(sequence_after(next, &n, &set, 2, err));
    ck_assert(n == 1 && next[0] == 0);
    must(sequence_after(next, &n, &set, 3, err));
    ck_assert_uint_eq(n, 0);
}
