/* cleave prune: what goes, what stays the same, what is refused. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "support/sample.h"
#include "support/support.h"

static struct clv_model read_model(const char *path)
{
    struct clv_model model = {0};
    must(clv_model_read(&model, path, err));
    return model;
}

/* The pruned model's weights under the whole recipe: all features are computed. */
static const char *with_all_features(const char *pruned_path)
{
    struct clv_model whole = read_model(sample_model()), pruned = read_model(pruned_path);
    memcpy(whole.w, pruned.w, clv_shape_size(&whole.shape) * sizeof *whole.w);
    ck_assert_ptr_null(whole.recipe.kept);
    ck_assert_ptr_nonnull(pruned.recipe.kept);
    const char *path = formatted("%s/zeroed.cleave", temporary_folder());
    must(clv_model_write(path, &whole, err));
    clv_model_release(&whole);
    clv_model_release(&pruned);
    return path;
}

static void expect_same_masks(const char *pruned)
{
    const char *folder = temporary_folder(), *zeroed = with_all_features(pruned);
    free(expect_success("\"$CLEAVE\" segment -q -m %s -d %s -o %s/a --overwrite", pruned, sample_set(), folder));
    free(expect_success("\"$CLEAVE\" segment -q -m %s -d %s -o %s/b --overwrite", zeroed, sample_set(), folder));
    ck_assert_int_eq(count_files(formatted("%s/a", folder)), 12);
    ck_assert(same_bytes(formatted("%s/a", folder), formatted("%s/b", folder)));
}

START_TEST(small_weights_go_and_masks_are_those_of_all_features)
{
    const char *pruned = formatted("%s/small.cleave", temporary_folder());
    char *output = expect_success("\"$CLEAVE\" prune -m %s --keep 0.1 -o %s", sample_model(), pruned);
    struct clv_model whole = read_model(sample_model()), small = read_model(pruned);
    size_t n = clv_shape_unary_size(&whole.shape), n_left = 0;
    double least_kept = INFINITY, largest_gone = 0;
    for (size_t k = 0; k < n; k++) {
        ck_assert(small.w[k] == 0 || small.w[k] == whole.w[k]);
        n_left += small.w[k] != 0;
        ck_assert_int_eq(small.recipe.kept[k], small.w[k] != 0);
        double *side = small.w[k] != 0 ? &least_kept : &largest_gone, size = fabs(whole.w[k]);
        *side = small.w[k] != 0 ? fmin(*side, size) : fmax(*side, size);
    }
    ck_assert_double_ge(least_kept, largest_gone);
    ck_assert_uint_le(n_left, n / 10);
    ck_assert_uint_ge(n_left, n / 10 - 2); /* ties go together */
    ck_assert_ptr_nonnull(strstr(output, formatted("%zu of %zu for nodes", n_left, n)));
    free(output);
    output = expect_success("\"$CLEAVE\" inspect %s", pruned);
    ck_assert_ptr_nonnull(strstr(output, "left out "));
    ck_assert_ptr_nonnull(strstr(output, "pruned_threshold"));
    free(output);
    clv_model_release(&whole);
    clv_model_release(&small);
    expect_same_masks(pruned);
}
END_TEST

START_TEST(a_threshold_of_zero_changes_no_mask)
{
    const char *folder = temporary_folder();
    char *output =
        expect_success("\"$CLEAVE\" prune -m %s --threshold 0 -o %s/same.cleave -d %s/manifest.tsv --split test",
                       sample_model(), folder, sample_set());
    double before, after;
    const char *loss = strstr(output, "weighted Hamming");
    ck_assert_int_eq(sscanf(loss, "weighted Hamming %lf %% before, %lf %% after", &before, &after), 2);
    ck_assert_double_eq(before, after);
    free(output);
    expect_same_masks(formatted("%s/same.cleave", folder));
    free(expect_success("\"$CLEAVE\" segment -q -m %s -d %s -o %s/whole", sample_model(), sample_set(), folder));
    ck_assert(same_bytes(formatted("%s/whole", folder), formatted("%s/a", folder)));
}
END_TEST

START_TEST(weights_of_nodes_and_of_pairs_are_counted_apart)
{
    struct clv_model model = read_model(sample_model());
    size_t n = clv_shape_unary_size(&model.shape), size = clv_shape_size(&model.shape);
    ck_assert_uint_gt(size, n);
    for (size_t k = 0; k < size; k++)
        model.w[k] = k != n + 1; /* no weight for the second feature of edges */
    size_t d = (size_t)model.shape.n_features, p = (size_t)model.shape.n_edge_features;
    ck_assert(model.shape.n_labels == 2 && p > 1);
    const char *ones = formatted("%s/ones.cleave", temporary_folder());
    must(clv_model_write(ones, &model, err));
    clv_model_release(&model);
    char *output =
        expect_success("\"$CLEAVE\" prune -m %s --threshold 0 -o %s/counted.cleave", ones, temporary_folder());
    ck_assert_ptr_nonnull(strstr(output, formatted("%zu of %zu for nodes", n, n)));
    ck_assert_ptr_nonnull(strstr(output, formatted("%zu of %zu pairwise", size - n - 1, size - n)));
    free(output);
    model = read_model(formatted("%s/counted.cleave", temporary_folder()));
    for (size_t k = 0; k < d + p; k++)
        ck_assert_int_eq(model.recipe.kept[k], k != d + 1);
    clv_model_release(&model);
}
END_TEST

/* A model that has no weights for words at all needs no codebook, and can be learned from again. */
START_TEST(groups_without_weights_are_computed_no_more)
{
    const char *folder = temporary_folder();
    struct clv_model model = read_model(sample_model());
    size_t d = (size_t)model.shape.n_features, p = (size_t)model.shape.n_edge_features, n_gone = 0;
    uint8_t *group = malloc(d + p);
    char name[32];
    for (size_t g = 0; g < 4; g++) {
        clv_recipe_group(name, sizeof name, group, &model.recipe, g);
        for (size_t k = 0; k < d + p; k++)
            model.w[k] = group[k] ? 0 : model.w[k]; /* one row, then couplings */
    }
    must(clv_model_write(formatted("%s/unworded.cleave", folder), &model, err));
    char *output =
        expect_success("\"$CLEAVE\" prune -m %s/unworded.cleave --threshold 0 -o %s/small.cleave", folder, folder);
    for (int px = 2; px <= 16; px *= 2)
        ck_assert_ptr_nonnull(strstr(output, formatted("sift%d ", px)));
    for (const char *at = output; (at = strstr(at, "not computed")); at++)
        n_gone++;
    ck_assert_uint_eq(n_gone, 4);
    free(output);
    output = expect_success("\"$CLEAVE\" inspect %s/small.cleave", folder);
    ck_assert_ptr_nonnull(strstr(output, "all of sift2 sift4 sift8 sift16\n"));
    free(output);
    struct clv_model small = read_model(formatted("%s/small.cleave", folder));
    for (int s = 0; s < 4; s++)
        ck_assert_ptr_null(small.recipe.codebooks[s].centres);
    clv_model_release(&small);
    expect_same_masks(formatted("%s/small.cleave", folder));

    free(expect_success("\"$CLEAVE\" train -q --init %s/small.cleave -d %s --passes 5 -o %s/again.cleave", folder,
                        sample_set(), folder));
    small = read_model(formatted("%s/again.cleave", folder));
    size_t n_moved = 0;
    for (size_t k = 0; k < d; k++) {
        ck_assert(small.recipe.kept[k] || small.w[k] == 0);
        n_moved += small.w[k] != model.w[k];
    }
    ck_assert_uint_gt(n_moved, d / 10);
    clv_model_release(&small);
    clv_model_release(&model);
    free(group);
}
END_TEST

START_TEST(training_leaves_out_what_cross_validation_can_do_without)
{
    const char *folder = temporary_folder();
    char *output = expect_success("\"$CLEAVE\" train --data %s/manifest.tsv --split train " SAMPLE_TRAINING
                                  " --prune 2 --prune-tolerance 3 -o %s/lean.cleave",
                                  sample_set(), folder);
    ck_assert_ptr_nonnull(strstr(output, "pruning by 2-fold cross-validation"));
    struct clv_model model = read_model(formatted("%s/lean.cleave", folder));
    size_t d = (size_t)model.shape.n_features, n = d + (size_t)model.shape.n_edge_features, n_dropped = 0;
    uint8_t *group = malloc(n);
    char name[32];
    for (size_t g = 0; g < clv_recipe_n_groups(&model.recipe); g++) {
        clv_recipe_group(name, sizeof name, group, &model.recipe, g);
        char *line = strstr(output, formatted("\n%s ", name));
        ck_assert_ptr_nonnull(line);
        bool left_out = strstr(line, "left out") && strstr(line, "left out") < strchr(line + 1, '\n');
        for (size_t k = 0; left_out && k < n; k++)
            ck_assert(!group[k] || (!model.recipe.kept[k] && model.w[k] == 0)); /* one row, then couplings */
        n_dropped += left_out;
    }
    ck_assert_uint_gt(n_dropped, 0); /* three standard errors of eight images allow for much */
    free(group);
    free(output);
    clv_model_release(&model);
    expect_same_masks(formatted("%s/lean.cleave", folder));
    for (int threads = 1; threads <= 2; threads++)
        free(expect_success("\"$CLEAVE\" train -q --data %s/manifest.tsv --split train " SAMPLE_TRAINING
                            " --prune 2 --prune-tolerance 3 -t %d -o %s/t%d.cleave",
                            sample_set(), threads, folder, threads));
    ck_assert(same_bytes(formatted("%s/t1.cleave", folder), formatted("%s/t2.cleave", folder)));
}
END_TEST

START_TEST(what_cannot_be_pruned_is_named)
{
    const char *m = sample_model(), *folder = temporary_folder();
    expect_error(64, "-m is missing", "\"$CLEAVE\" prune -o x");
    expect_error(64, "-o is missing", "\"$CLEAVE\" prune -m %s", m);
    expect_error(64, "--threshold: \"1\"", "\"$CLEAVE\" prune -m %s -o x --threshold 1", m);
    expect_error(64, "--threshold: \"-0.1\"", "\"$CLEAVE\" prune -m %s -o x --threshold -0.1", m);
    expect_error(64, "--keep: \"0\"", "\"$CLEAVE\" prune -m %s -o x --keep 0", m);
    expect_error(64, "one of them", "\"$CLEAVE\" prune -m %s -o x --keep 0.5 --threshold 0.1", m);
    expect_error(64, "--data is missing", "\"$CLEAVE\" prune -m %s -o x --split test", m);
    expect_error(64, "--drop: \"sift3\" is none of sift2, sift4, sift8, sift16, colour",
                 "\"$CLEAVE\" prune -m %s -o %s/x --drop zones,sift3", m, folder);
    expect_error(64, "--drop: \"\" is none of", "\"$CLEAVE\" prune -m %s -o %s/x --drop zones,", m, folder);
    expect_error(64, "takes no arguments", "\"$CLEAVE\" prune %s", m);
    expect_error(64, "--prune: \"1\"", "\"$CLEAVE\" train --prune 1");
    expect_error(64, "--prune is missing", "\"$CLEAVE\" train --data %s --prune-tolerance 1 -o x", sample_set());
    expect_error(64, "needs 2 folds or more and 9 examples",
                 "\"$CLEAVE\" train --data %s/manifest.tsv --split train " SAMPLE_TRAINING " --prune 9 -o %s/x",
                 sample_set(), folder);
    expect_error(66, "nothing.cleave", "\"$CLEAVE\" prune -m %s/nothing.cleave -o %s/x", folder, folder);
    expect_error(65, "not a tensor file", "\"$CLEAVE\" prune -m %s/manifest.tsv -o %s/x", sample_set(), folder);
}
END_TEST

Suite *cli_prune_suite(void)
{
    Suite *suite = suite_create("cli_prune");
    TCase *tc = tcase_create("cli_prune");
    tcase_add_unchecked_fixture(tc, sample_setup, NULL);
    tcase_add_test(tc, small_weights_go_and_masks_are_those_of_all_features);
    tcase_add_test(tc, a_threshold_of_zero_changes_no_mask);
    tcase_add_test(tc, weights_of_nodes_and_of_pairs_are_counted_apart);
    tcase_add_test(tc, groups_without_weights_are_computed_no_more);
    tcase_add_test(tc, training_leaves_out_what_cross_validation_can_do_without);
    tcase_add_test(tc, what_cannot_be_pruned_is_named);
    suite_add_tcase(suite, tc);
    return suite;
}
