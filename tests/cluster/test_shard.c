/* --shard I/N: how it is read, and the paths of shards. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cluster/shard.h"
#include "support/support.h"

TEST(paths_of_shards_have_their_number_and_count_before_the_extension)
{
    static const struct {
        const char *path, *of_shard;
        bool is_folder;
    } rows[] = {
        {"b/x.tsv", "b/x-00003-of-00016.tsv", false},    {"x", "x-00003-of-00016", false},
        {"a.b/x", "a.b/x-00003-of-00016", false},        {"a/x.tar.gz", "a/x.tar-00003-of-00016.gz", false},
        {"report/", "report-00003-of-00016", true},      {"report", "report-00003-of-00016", true},
        {"my.report", "my.report-00003-of-00016", true}, {"-", "-", false},
        {"a/.x", "a/.x-00003-of-00016", false},
    };
    const struct clv_shard shard = {3, 16}, none = {0, 0};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        OWNED_ARRAY char *path = shard_path(rows[k].path, &shard, rows[k].is_folder);
        OWNED_ARRAY char *whole = shard_path(rows[k].path, &none, rows[k].is_folder);
        ck_assert_str_eq(path, rows[k].of_shard);
        ck_assert_str_eq(whole, rows[k].path);
    }
    OWNED_ARRAY char *last = shard_path("x.tsv", &(struct clv_shard){100000, 100000}, false);
    ck_assert_str_eq(last, "x-100000-of-100000.tsv");
}

TEST(a_shard_is_a_number_up_to_a_count)
{
    static const char *const bad[] = {"0/3", "4/3",   "1",    "1/",   "/3", "1/100001",
                                      "a/b", "1/3/5", "-1/3", "1 /3", "",   "1/0"};
    const struct clv_option option = {.name = "shard"};
    struct clv_shard shard = {7, 9};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        must_fail(CLV_ERR_USAGE, formatted("--shard: \"%s\" is not I/N", bad[k]),
                  option_take_shard(&shard, &option, bad[k], err));
        ck_assert(shard.number == 7 && shard.count == 9);
    }
    must(option_take_shard(&shard, &option, "1/1", err));
    ck_assert(shard.number == 1 && shard.count == 1);
    must(option_take_shard(&shard, &option, "16/100000", err));
    ck_assert(shard.number == 16 && shard.count == 100000);
}
