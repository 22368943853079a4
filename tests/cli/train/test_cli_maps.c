/* Training and segmenting with maps: assets/animals-maps holds what a weak network might say of assets/animals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

#define SET "--data assets/animals/manifest.tsv"
#define FEW "--only %s --seed 1 --superpixels 150 --blocks size,colour,maps --passes 10 -q"

/* Eight images to learn from are enough. */
static char only[256];

static void setup(void)
{
    snprintf(only, sizeof only, "%s/only", temporary_folder());
    free(
        expect_success("awk -F'\\t' '$3 == \"train\" && ++n <= 8 { print $1 }' assets/animals/manifest.tsv >%s", only));
}

static double error_of(const char *masks)
{
    char *output = expect_success("\"$CLEAVE\" score " SET " --split test --pred %s", masks);
    const char *line = strstr(output, "per pixel");
    ck_assert_ptr_nonnull(line);
    double error = strtod(line + strlen("per pixel"), NULL);
    free(output);
    return error;
}

TEST(maps_make_masks_better_and_any_number_of_threads_the_same_ones)
{
    const char *folder = temporary_folder();
    free(expect_success("\"$CLEAVE\" train --learner ssvm " SET " --split train --only %s --seed 1 "
                        "--superpixels 150 --blocks size,colour --passes 10 -q -o %s/without.cleave",
                        only, folder));
    for (int threads = 1; threads <= 3; threads += 2)
        free(expect_success("\"$CLEAVE\" train --learner ssvm " SET " --split train " FEW
                            " --maps net=assets/animals-maps -o %s/with%d.cleave --threads %d",
                            only, folder, threads, threads));
    free(expect_success("\"$CLEAVE\" segment -m %s/without.cleave " SET " --split test -q --refine -o %s/without",
                        folder, folder));
    for (int threads = 1; threads <= 3; threads += 2)
        free(expect_success("\"$CLEAVE\" segment -m %s/with%d.cleave " SET " --split test -q --refine "
                            "--maps net=assets/animals-maps -o %s/with%d --threads %d",
                            folder, threads, folder, threads, threads));
    size_t one, three;
    char *a = slurp(formatted("%s/with1.cleave", folder), &one),
         *b = slurp(formatted("%s/with3.cleave", folder), &three);
    static const char kind[] = "\\\"kind\\\":\\\"probabilities\\\""; /* in JSON within JSON */
    ck_assert(memmem(a, one, kind, strlen(kind)));
    ck_assert(memmem(a, one, "extra.refining", 14) && one == three);
    free(a);
    free(b);
    ck_assert(same_bytes(formatted("%s/with1", folder), formatted("%s/with3", folder)));
    double without = error_of(formatted("%s/without", folder)), with = error_of(formatted("%s/with1", folder));
    ck_assert_msg(with < without - 1, "%g %% with maps, %g %% without", with, without);
}

TEST(a_manifest_s_column_names_maps_as_the_option_does)
{
    const char *folder = temporary_folder();
    ck_assert_int_eq(
        run_command(NULL,
                    "cd %s && cp -r \"$OLDPWD\"/assets/animals set && cp -r \"$OLDPWD\"/assets/animals-maps set/maps "
                    "&& awk -F'\\t' -v OFS='\\t' 'NR == 1 { print $0, \"maps.net\"; next } { f = $1; "
                    "sub(/^images/, \"maps\", f); sub(/jpg$/, \"png\", f); print $0, f }' "
                    "set/manifest.tsv >m && mv m set/manifest.tsv",
                    folder),
        0);
    free(expect_success(
        "\"$CLEAVE\" train --learner ssvm --data %s/set/manifest.tsv --split train --only %s --blocks maps "
        "--seed 1 --superpixels 100 --passes 3 -q -o %s/m.cleave",
        folder, only, folder));
    free(expect_success("\"$CLEAVE\" segment -m %s/m.cleave --data %s/set/manifest.tsv --split test -q -o %s/column",
                        folder, folder, folder));
    free(expect_success("\"$CLEAVE\" segment -m %s/m.cleave " SET " --split test --maps net=assets/animals-maps -q "
                        "-o %s/option",
                        folder, folder));
    free(expect_success("\"$CLEAVE\" marginals -m %s/m.cleave --draws 5 --maps net=assets/animals-maps -q "
                        "assets/animals/images/0030.jpg -o %s/marginals",
                        folder, folder));
    ck_assert(same_bytes(formatted("%s/column", folder), formatted("%s/option", folder)));
    expect_error(64, "learned with maps net; --maps net=FOLDER",
                 "\"$CLEAVE\" segment -m %s/m.cleave -o %s/none "
                 "assets/animals/images/0030.jpg",
                 folder, folder);
    expect_error(64, "was learned without maps \"other\"",
                 "\"$CLEAVE\" segment -m %s/m.cleave -o %s/none --maps net=%s "
                 "--maps other=%s assets/animals/images/0030.jpg",
                 folder, folder, folder, folder);
    expect_error(66, "no map of assets/animals/images/0030.jpg",
                 "\"$CLEAVE\" segment -m %s/m.cleave -o %s/none "
                 "--maps net=/ assets/animals/images/0030.jpg",
                 folder, folder);
}

/* What another network might say of the twelve test images: everything is figure. */
static void make_foreign_maps(const char *folder)
{
    uint8_t values[16];
    memset(values, 250, sizeof values);
    free(expect_success("mkdir %s", folder));
    for (int i = 25; i <= 36; i++)
        must(clv_png_write_labels(formatted("%s/%04d.png", folder, i), 4, 4, values, NULL, 0, err));
}

TEST(maps_of_another_network_are_reported_and_those_of_the_same_one_are_not)
{
    const char *folder = temporary_folder();
    make_foreign_maps(formatted("%s/foreign", folder));
    free(expect_success("\"$CLEAVE\" train --learner ssvm " SET " --split train " FEW
                        " --maps net=assets/animals-maps -o %s/m.cleave",
                        only, folder));
    for (int own = 0; own < 2; own++) {
        char *output =
            expect_success("\"$CLEAVE\" segment -m %s/m.cleave " SET " --split test --maps net=%s -o %s/%d", folder,
                           own ? "assets/animals-maps" : formatted("%s/foreign", folder), folder, own);
        const char *note = strstr(output, "maps net: those of the first ");
        ck_assert_msg(own ? !note : note && strstr(note, "are not like those of the training images"), "%s", output);
        ck_assert_ptr_nonnull(strstr(output, "12 images segmented"));
        free(output);
    }
}

TEST(two_stages_over_maps_are_the_same_at_any_number_of_threads)
{
    const char *folder = temporary_folder();
    for (int threads = 1; threads <= 3; threads += 2)
        free(expect_success("\"$CLEAVE\" train --learner ssvm --stages 2 " SET " --split train " FEW
                            " --maps net=assets/animals-maps -o %s/%d.cleave --threads %d && \"$CLEAVE\" segment -q -m "
                            "%s/%d.cleave " SET " --split test --refine --maps net=assets/animals-maps -o %s/%d",
                            only, folder, threads, threads, folder, threads, folder, threads));
    ck_assert(same_bytes(formatted("%s/1", folder), formatted("%s/3", folder)));
    ck_assert_double_lt(error_of(formatted("%s/1", folder)), 25);
    free(expect_success("\"$CLEAVE\" inspect %s/1.cleave | grep -q '^stages  *2'", folder));
    expect_error(64, "learned with maps net", "\"$CLEAVE\" segment -m %s/1.cleave " SET " -o %s/x", folder, folder);
}

TEST(bad_options_about_maps_are_refused)
{
    static const struct {
        const char *options, *part;
    } cases[] = {
        {"--maps animals", "is not NAME=FOLDER"},
        {"--maps a=assets/animals-maps --maps a=assets", "\"a\" is given twice"},
        {"--maps a=assets/animals-maps --blocks size", "--blocks leaves them out"},
        {"--blocks maps", "the block maps needs --maps"},
        {"--maps a=assets/animals-maps --maps-kind b=features", "there is no map b"},
        {"--maps a=assets/animals-maps --maps-kind lots", "--maps-kind: "},
        {"--maps a=assets/animals-maps --maps-pca 0", "--maps-pca"},
        {"--maps a=assets/animals-maps --maps-pca b=2", "--maps-pca: there is no map b"},
        {"--maps a=assets/animals-maps --maps-use b=keep", "--maps-use: there is no map b"},
        {"--maps a=assets/animals-maps --maps-use perhaps", "--maps-use"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        expect_error(64, cases[k].part, "\"$CLEAVE\" train " SET " %s -o %s/x.cleave", cases[k].options,
                     temporary_folder());
    expect_error(65, "map a holds probabilities; principal components",
                 "\"$CLEAVE\" train " SET " --maps a=assets/animals-maps --maps-pca 1 -o %s/x.cleave",
                 temporary_folder());
    expect_error(66, "no map of images/0001.jpg in it", "\"$CLEAVE\" train " SET " --maps a=src -o %s/x.cleave",
                 temporary_folder());
}

SETUP_ONCE(setup, NULL)
