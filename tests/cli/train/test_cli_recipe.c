/* Recipes with VLFeat's parts, from training to masks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

#define CHOICES "--sift vlfeat --kmeans vlfeat --kernel-map chi2 --blocks words,colour,position,size,hog"

static void train(const char *model, const char *choices, const char *more)
{
    free(expect_success("\"$CLEAVE\" train -q -d %s/manifest.tsv --split train %s %s %s -o %s", sample_set(),
                        SAMPLE_TRAINING, choices, more, model));
}

TEST(models_remember_what_their_recipe_chose)
{
    const char *folder = temporary_folder();
    char model[256], again[256];
    snprintf(model, sizeof model, "%s/chosen.cleave", folder);
    snprintf(again, sizeof again, "%s/again.cleave", folder);
    train(model, CHOICES, "--threads 1");
    char *output = expect_success("\"$CLEAVE\" inspect --top 400 %s", model);
    ck_assert_ptr_nonnull(strstr(output, "words colour position size hog\n"));
    ck_assert_ptr_nonnull(strstr(output, "kernel map    chi2\n"));
    ck_assert_ptr_nonnull(strstr(output, ", described by VLFeat, learned by VLFeat\n"));
    ck_assert_ptr_nonnull(strstr(output, "number 3 of 3"));
    free(output);
    output = expect_success("\"$CLEAVE\" inspect --json %s", model);
    ck_assert_ptr_nonnull(strstr(output, "\"sift\":\"vlfeat\",\"kmeans\":\"vlfeat\",\"kernel_map\":\"chi2\""));
    free(output);
    free(expect_success("\"$CLEAVE\" segment -q -m %s -d %s -o %s/one --threads 1", model, sample_set(), folder));
    free(expect_success("\"$CLEAVE\" segment -q -m %s -d %s -o %s/three --threads 3", model, sample_set(), folder));
    ck_assert_int_eq(count_files(formatted("%s/one", folder)), 12);
    ck_assert(same_bytes(formatted("%s/one", folder), formatted("%s/three", folder)));

    train(again, CHOICES, "--threads 3");
    ck_assert(same_bytes(model, again));
}

TEST(defaults_by_name_are_the_defaults)
{
    const char *folder = temporary_folder(), *named = formatted("%s/named.cleave", folder);
    const char *plain = formatted("%s/plain.cleave", folder);
    train(plain, "", "");
    train(named, "--sift cleave --kmeans cleave --kernel-map none", "");
    size_t n;
    char *bytes = slurp(plain, &n);
    ck_assert_ptr_null(memmem(bytes, n, "\"sift\"", 6));
    ck_assert_ptr_null(memmem(bytes, n, "kernel_map", 10));
    free(bytes);
    free(expect_success("\"$CLEAVE\" segment -q -m %s -d %s -o %s/a", plain, sample_set(), folder));
    free(expect_success("\"$CLEAVE\" segment -q -m %s -d %s -o %s/b", named, sample_set(), folder));
    ck_assert(same_bytes(formatted("%s/a", folder), formatted("%s/b", folder)));
}

TEST(unknown_names_are_refused_with_the_known_ones)
{
    static const char *const options[][2] = {{"--sift vlfeet", "--sift: "},
                                             {"--kmeans lloyd", "--kmeans: "},
                                             {"--kernel-map chi", "--kernel-map: "},
                                             {"--blocks hogs", "--blocks: "}};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        expect_error(64, options[k][1], "\"$CLEAVE\" train -d %s/manifest.tsv %s -o /dev/null", sample_set(),
                     options[k][0]);
}

TEST(recipe_options_that_change_no_feature_are_refused)
{
    static const char *const lines[][2] = {
        {"--patch-size 30", "--patch-size has no effect: --nodes is superpixels"},
        {"--patch-step 5", "--patch-step has no effect: --nodes is superpixels"},
        {"--nodes patches --superpixels 50", "--superpixels has no effect: --nodes is patches"},
        {"--words 20 --blocks colour,size", "--words has no effect: no block is made of words"},
        {"--nodes patches --blocks fisher --kmeans vlfeat", "--kmeans has no effect: no block is made of words"},
        {"--blocks size --codebook-samples 9",
         "--codebook-samples has no effect: no block is made of SIFT descriptors"},
        {"--blocks size --sift-bins 3", "--sift-bins has no effect: no block is made of SIFT descriptors"},
        {"--blocks hog --sift-step 3", "--sift-step has no effect: no block is made of SIFT descriptors"},
        {"--blocks hog --sift vlfeat", "--sift has no effect: no block is made of SIFT descriptors"},
        {"--blocks position,size --kernel-map chi2", "--kernel-map has no effect: no block is a histogram"},
    };
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        expect_error(64, lines[k][1], "\"$CLEAVE\" train -d absent %s -o m", lines[k][0]);
        expect_error(64, lines[k][1], "\"$CLEAVE\" features -d absent %s -o f", lines[k][0]);
    }
}

SETUP_ONCE(sample_setup, NULL)
