/* The table of a training's options, as programs use it. */
#include <stddef.h>
#include <string.h>

#include "cleave/options.h"
#include "cleave/train.h"
#include "support/support.h"

static struct clv_train_options options, before;

static const struct clv_option *find(const char *name)
{
    for (size_t i = 0; clv_train_option_at(i); i++)
        if (strcmp(clv_train_option_at(i)->name, name) == 0)
            return clv_train_option_at(i);
    ck_abort_msg("no option %s", name);
    return NULL;
}

static void set(const char *name, const char *typed)
{
    must(clv_option_set(&options, find(name), typed, err));
}

TEST(every_option_has_a_name_of_its_own_and_help)
{
    for (size_t i = 0; clv_train_option_at(i); i++) {
        const struct clv_option *option = clv_train_option_at(i);
        ck_assert_ptr_eq(find(option->name), option);
        ck_assert(option->help && *option->help && option->section && *option->section);
        bool has_value = option->kind != CLV_OPTION_FLAG && option->kind != CLV_OPTION_SET;
        ck_assert_msg(has_value == (option->argument != NULL), "%s", option->name);
    }
}

TEST(options_are_set_by_name)
{
    clv_train_defaults(&options, clv_learner_at(0));
    set("data", "photos");
    set("stages", "2");
    set("seed", "18446744073709551615");
    set("label-weights", "auto");
    set("pairwise", "potts");
    set("mirror", NULL);
    set("nodes", "patches");
    set("blocks", "words,size");
    set("sift-bins", "3,5");
    set("maps", "net=maps");
    ck_assert_str_eq(options.data, "photos");
    ck_assert(options.stages == 2 && options.seed == UINT64_MAX && options.mirror);
    ck_assert(options.label_weights == CLV_AUTO);
    ck_assert_int_eq(options.pairwise, CLV_PAIRWISE_POTTS);
    ck_assert_int_eq(options.recipe.nodes, CLV_NODES_PATCHES);
    ck_assert_int_eq(options.recipe.blocks, CLV_BLOCK_WORDS | CLV_BLOCK_SIZE);
    ck_assert(options.recipe.n_scales == 2 && options.recipe.bin_size_px[1] == 5);
    ck_assert(options.maps.n == 1 && strcmp(options.maps.folders[0].folder, "maps") == 0);
    set("pairwise", "none");
    ck_assert_int_eq(options.pairwise, CLV_PAIRWISE_NONE);
}

TEST(what_may_not_be_changes_nothing)
{
    clv_train_defaults(&options, clv_learner_at(0));
    before = options;
    for (size_t i = 0; clv_train_option_at(i); i++) {
        const struct clv_option *option = clv_train_option_at(i);
        struct clv_error error = {0};
        if (!option->argument || option->kind == CLV_OPTION_TEXT)
            continue;
        ck_assert_int_eq(clv_option_set(&options, option, "no such value", &error), CLV_ERR_USAGE);
        ck_assert_msg(strncmp(error.message, formatted("--%s: ", option->name), strlen(option->name) + 4) == 0, "%s",
                      error.message);
        ck_assert_int_eq(memcmp(&options, &before, sizeof options), 0);
    }
}
