/* Recipes with VLFeat's parts, from training to masks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

#define CHOICES "--sift vlfeat --kmeans vlfeat --kernel-map chi2 --blocks words,colour,position,size,hog"

static void train(const char *model, const char *choices, const char *more)
{
    run_here("cleave train -q -d $SET/manifest.tsv --split train %s %s %s -o %s", SAMPLE_TRAINING, choices, more,
             model);
}

TEST(models_remember_what_their_recipe_chose)
{
    const char *folder = temporary_folder();
    char model[256], again[256];
    snprintf(model, sizeof model, "%s/chosen.cleave", folder);
    snprintf(again, sizeof again, "%s/again.cleave", folder);
    train(model, CHOICES, "--threads 1");
    EXPECT_PARTS(expect_success("cleave inspect --top 400 %s", model), "words colour position size hog\n",
                 "kernel map    chi2\n", ", described by VLFeat, learned by VLFeat\n", "number 3 of 3");
    EXPECT_PARTS(expect_success("cleave inspect --json %s", model),
                 "\"sift\":\"vlfeat\",\"kmeans\":\"vlfeat\",\"word_search\":\"exact\",\"kernel_map\":\"chi2\"");
    run_here("cleave segment -q -m %s -d $SET -o one --threads 1", model);
    run_here("cleave segment -q -m %s -d $SET -o three --threads 3", model);
    ck_assert_int_eq(count_files(here("one")), 12);
    ck_assert(same_bytes(here("one"), here("three")));

    train(again, CHOICES, "--threads 3");
    ck_assert(same_bytes(model, again));
}

TEST(defaults_by_name_are_the_defaults)
{
    const char *named = here("named.cleave");
    const char *plain = here("plain.cleave");
    train(plain, "", "");
    train(named, "--sift cleave --kmeans cleave --kernel-map none", "");
    size_t n;
    OWNED_ARRAY char *bytes = slurp(plain, &n);
    ck_assert_ptr_null(memmem(bytes, n, "\"sift\"", 6));
    ck_assert_ptr_null(memmem(bytes, n, "kernel_map", 10));
    run_here("cleave segment -q -m %s -d $SET -o a", plain);
    run_here("cleave segment -q -m %s -d $SET -o b", named);
    ck_assert(same_bytes(here("a"), here("b")));
}

TEST(unknown_names_are_refused_with_the_known_ones)
{
    static const char *const options[][2] = {{"--sift vlfeet", "--sift: "},
                                             {"--kmeans lloyd", "--kmeans: "},
                                             {"--kernel-map chi", "--kernel-map: "},
                                             {"--blocks hogs", "--blocks: "}};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        expect_error(64, options[k][1], "cleave train -d $SET/manifest.tsv %s -o /dev/null", options[k][0]);
}

SETUP_ONCE(sample_setup, NULL)
