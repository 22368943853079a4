/* cleave score --shard and --merge: the score of one run from the counts of several. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

/* A folder with set and m, out of `cleave segment`, and s1 to s3, the tables of three shards. */
static char folder[256];

static void make_tables(void)
{
    sample_setup();
    /* Of its own: what other suites set up is in temporary_folder(), too. */
    snprintf(folder, sizeof folder, "%s/score-shards", temporary_folder());
    run_here("mkdir %s && cd %s && ln -s $SET set && ln -s $MODEL m && cleave segment -m m --data set -o out", folder,
             folder);
    for (int i = 1; i <= 3; i++)
        run_here("cd %s && cleave score --data set --pred out -m m --shard %d/3 >s%d", folder, i, i);
}

TEST(merged_tables_print_what_one_run_prints)
{
    static const char *const forms[] = {"", "--per-image", "--json --per-image", "--csv"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char *one = expect_success("cd %s && cleave score --data set --pred out -m m %s", folder, forms[i]);
        char *merged = expect_success("cd %s && cleave score --data set --merge %s s3 s1 s2", folder, forms[i]);
        ck_assert_str_eq(merged, one);
        free(merged);
        merged =
            expect_success("cd %s && cat s1 s2 s3 >all && cleave score --data set --merge %s all", folder, forms[i]);
        ck_assert_str_eq(merged, one);
        free(merged);
        free(one);
    }
    char *one = expect_success("cd %s && cleave score --data set --pred out --json -q", folder);
    char *merged = expect_success("cd %s && for i in 1/2 2/2; do cleave score -q --data set --pred out --shard $i; "
                                  "done >two && cleave score -q --data set --merge --json two",
                                  folder);
    ck_assert_str_eq(merged, one);
    free(merged);
    free(one);
}

TEST(tables_that_do_not_make_a_whole_are_named)
{
    const char *merge = formatted("cd %s && \"$CLEAVE\" score --data set --merge", folder);
    char command[512];
    snprintf(command, sizeof command, "%s", merge);
    expect_error(65, "images/0005.jpg, is in none of the tables (4 of 12 are missing)", "%s s1 s3", command);
    expect_error(65, "s1:2: image 1, images/0001.jpg, comes twice", "%s s1 s2 s3 s1", command);
    expect_error(65, "image number \"13\", the set has 12 images", "cd %s && sed s/^9/13/ s3 >x; %s s1 x", folder,
                 command);
    expect_error(65, "x:2: image 1 is images/0009.jpg, in the set it is images/0001.jpg",
                 "cd %s && sed 's/^9/1/' s3 >x; %s x", folder, command);
    expect_error(65, "is not a count of 2 labels", "cd %s && sed 's/0:0:/7:0:/' s3 >x; %s x", folder, command);
    expect_error(65, "not a table that", "cd %s && echo a >x; %s x", folder, command);
    expect_error(65, "has pixels alone, the tables before it have superpixels", "cd %s && cut -f 1-3 s3 >x; %s s1 x",
                 folder, command);
    expect_error(66, "nowhere", "%s nowhere", command);
}

TEST(tables_of_other_columns_or_nodes_are_refused)
{
    static const char *const columns[] = {"number", "image", "pixels", "superpixels"};
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
        expect_error(65, "x: not a table that `cleave score --shard' prints",
                     "cd %s && sed 1s/%s/%sx/ s1 >x; cleave score --data set --merge x s2 s3", folder, columns[k],
                     columns[k]);
    expect_error(65, "x: not a table that", "cd %s && sed 's/$/\t1/' s1 >x; cleave score --data set --merge x", folder);
    expect_error(65, "x: not a table that", "cd %s && cut -f 1,2 s1 >x; cleave score --data set --merge x", folder);
    expect_error(65, "x: has patches, the tables before it have superpixels",
                 "cd %s && sed 1s/superpixels/patches/ s2 >x; cleave score --data set --merge s1 x s3", folder);
    expect_error(65, "s1: has superpixels, the tables before it have pixels alone",
                 "cd %s && cut -f 1-3 s2 >x; cleave score --data set --merge x s1 s3", folder);
    expect_error(65, "x:6: has patches, the tables before it have superpixels",
                 "cd %s && { cat s1; sed 1s/superpixels/patches/ s2; cat s3; } >x; cleave score --data set --merge x",
                 folder);
}

TEST(options_that_do_not_go_together_are_refused)
{
    expect_error(64, "no tables", "cd %s && cleave score --data set --merge", folder);
    expect_error(64, "leave out --pred", "cd %s && cleave score --data set --merge s1 --pred out", folder);
    expect_error(64, "go with --merge", "cd %s && cleave score --data set --pred out --shard 1/2 --json", folder);
    expect_error(64, "s1: one argument too many", "cd %s && cleave score --data set --pred out s1", folder);
}

SETUP_ONCE(make_tables, NULL)
