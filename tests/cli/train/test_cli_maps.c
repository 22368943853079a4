/* Training and segmenting with maps: assets/animals-maps holds what a weak network might say of assets/animals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

#define SET "--data $ROOT/assets/animals/manifest.tsv"
#define FEW "--only %s --seed 1 --superpixels 150 --blocks size,colour,maps --passes 10 -q"

/* Eight images to learn from are enough. */
static char only[256];

static void setup(void)
{
    snprintf(only, sizeof only, "%s/only", temporary_folder());
    run_here("awk -F'\\t' '$3 == \"train\" && ++n <= 8 { print $1 }' $ROOT/assets/animals/manifest.tsv >%s", only);
}

static double error_of(const char *masks)
{
    OWNED_ARRAY char *output = expect_success("cleave score " SET " --split test --pred %s", masks);
    const char *line = strstr(output, "per pixel");
    ck_assert_ptr_nonnull(line);
    return strtod(line + strlen("per pixel"), NULL);
}

TEST(maps_make_masks_better_and_any_number_of_threads_the_same_ones)
{
    const char *folder = temporary_folder();
    run_here(
        "cleave train --learner ssvm " SET
        " --split train --only %s --seed 1 --superpixels 150 --blocks size,colour --passes 10 -q -o without.cleave",
        only);
    for (int threads = 1; threads <= 3; threads += 2)
        run_here("cleave train --learner ssvm " SET " --split train " FEW
                 " --maps net=$ROOT/assets/animals-maps -o %s/with%d.cleave --threads %d",
                 only, folder, threads, threads);
    run_here("cleave segment -m without.cleave " SET " --split test -q --refine -o without");
    for (int threads = 1; threads <= 3; threads += 2)
        run_here("cleave segment -m with%d.cleave " SET
                 " --split test -q --refine --maps net=$ROOT/assets/animals-maps -o with%d --threads %d",
                 threads, threads, threads);
    size_t one, three;
    OWNED_ARRAY char *a = slurp(here("with1.cleave"), &one), *b = slurp(here("with3.cleave"), &three);
    static const char kind[] = "\\\"kind\\\":\\\"probabilities\\\""; /* in JSON within JSON */
    ck_assert(memmem(a, one, kind, strlen(kind)));
    ck_assert(memmem(a, one, "extra.refining", 14) && one == three);
    ck_assert(same_bytes(here("with1"), here("with3")));
    double without = error_of(here("without")), with = error_of(here("with1"));
    ck_assert_msg(with < without - 1, "%g %% with maps, %g %% without", with, without);
}

TEST(a_manifest_s_column_names_maps_as_the_option_does)
{
    run_here("cp -r \"$OLDPWD\"/assets/animals set && cp -r \"$OLDPWD\"/assets/animals-maps set/maps && awk -F'\\t' -v "
             "OFS='\\t' 'NR == 1 { print $0, \"maps.net\"; next } { f = $1; sub(/^images/, \"maps\", f); sub(/jpg$/, "
             "\"png\", f); print $0, f }' set/manifest.tsv >m && mv m set/manifest.tsv");
    run_here("cleave train --learner ssvm --data set/manifest.tsv --split train --only %s --blocks maps --seed 1 "
             "--superpixels 100 --passes 3 -q -o m.cleave",
             only);
    run_here("cleave segment -m m.cleave --data set/manifest.tsv --split test -q -o column");
    run_here("cleave segment -m m.cleave " SET " --split test --maps net=$ROOT/assets/animals-maps -q -o option");
    run_here("cleave probabilities -m m.cleave --samples 5 --maps net=$ROOT/assets/animals-maps -q "
             "$ROOT/assets/animals/images/0030.jpg -o marginals");
    ck_assert(same_bytes(here("column"), here("option")));
    expect_error(64, "learned with maps net; give those of the images with --maps net=FOLDER",
                 "cleave segment -m m.cleave -o none $ROOT/assets/animals/images/0030.jpg");
    expect_error(
        64, "was learned without maps \"other\"",
        "cleave segment -m m.cleave -o none --maps net=$HERE --maps other=$HERE $ROOT/assets/animals/images/0030.jpg");
    expect_error(66, formatted("no map of %s/assets/animals/images/0030.jpg", getenv("ROOT")),
                 "cleave segment -m m.cleave -o none --maps net=/ $ROOT/assets/animals/images/0030.jpg");
}

/* What another network might say of the twelve test images: everything is foreground. */
static void make_foreign_maps(const char *folder)
{
    uint8_t values[16];
    memset(values, 250, sizeof values);
    run_here("mkdir %s", folder);
    for (int i = 25; i <= 36; i++)
        must(clv_png_write_labels(formatted("%s/%04d.png", folder, i), 4, 4, values, NULL, 0, err));
}

TEST(maps_of_another_network_are_reported_and_those_of_the_same_one_are_not)
{
    const char *folder = temporary_folder();
    make_foreign_maps(here("foreign"));
    run_here("cleave train --learner ssvm " SET " --split train " FEW
             " --maps net=$ROOT/assets/animals-maps -o %s/m.cleave",
             only, folder);
    for (int own = 0; own < 2; own++) {
        OWNED_ARRAY char *output = expect_success("cleave segment -m m.cleave " SET " --split test --maps net=%s -o %d",
                                                  own ? "$ROOT/assets/animals-maps" : here("foreign"), own);
        const char *note = strstr(output, "maps net: those of the first ");
        ck_assert_msg(own ? !note : note && strstr(note, "are not like those of the training images"), "%s", output);
        ck_assert_ptr_nonnull(strstr(output, "12 images segmented"));
    }
}

TEST(two_stages_over_maps_are_the_same_at_any_number_of_threads)
{
    const char *folder = temporary_folder();
    for (int threads = 1; threads <= 3; threads += 2)
        run_here("cleave train --learner ssvm --stages 2 " SET " --split train " FEW
                 " --maps net=$ROOT/assets/animals-maps -o %s/%d.cleave --threads %d && cleave segment -q -m "
                 "%s/%d.cleave " SET " --split test --refine --maps net=$ROOT/assets/animals-maps -o %s/%d",
                 only, folder, threads, threads, folder, threads, folder, threads);
    ck_assert(same_bytes(here("1"), here("3")));
    ck_assert_double_lt(error_of(here("1")), 25);
    run_here("cleave inspect 1.cleave | grep -q '^stages  *2'");
    expect_error(64, "learned with maps net", "cleave segment -m 1.cleave " SET " -o x");
}

TEST(bad_options_about_maps_are_refused)
{
    static const struct {
        const char *options, *part;
    } cases[] = {
        {"--maps animals", "is not NAME=FOLDER"},
        {"--maps a=$ROOT/assets/animals-maps --maps a=assets", "\"a\" is given twice"},
        {"--maps a=$ROOT/assets/animals-maps --blocks size", "--blocks leaves them out, name the block maps as well"},
        {"--blocks maps", "the block maps needs --maps"},
        {"--maps-kind features", "--maps-kind: no maps; add --maps NAME=FOLDER"},
        {"--maps a=$ROOT/assets/animals-maps --maps-kind b=features", "there is no map b"},
        {"--maps a=$ROOT/assets/animals-maps --maps-kind lots", "--maps-kind: "},
        {"--maps a=$ROOT/assets/animals-maps --maps-pca 0", "--maps-pca"},
        {"--maps a=$ROOT/assets/animals-maps --maps-pca b=2", "--maps-pca: there is no map b"},
        {"--maps a=$ROOT/assets/animals-maps --maps-use b=keep", "--maps-use: there is no map b"},
        {"--maps a=$ROOT/assets/animals-maps --maps-use perhaps", "--maps-use"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        expect_error(64, cases[k].part, "cleave train " SET " %s -o x.cleave", cases[k].options);
    expect_error(65, "map a holds probabilities; principal components",
                 "cleave train " SET " --maps a=$ROOT/assets/animals-maps --maps-pca 1 -o x.cleave");
    expect_error(66, "no map of images/0001.jpg in it", "cleave train " SET " --maps a=$ROOT/src -o x.cleave");
}

SETUP_ONCE(setup, NULL)
