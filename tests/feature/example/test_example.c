#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "feature/example/example.h"
#include "feature/recipe/recipe.h"
#include "feature/small_set.h"

/* A recipe whose codebooks are random bytes: enough for every test that is not about learning. */
static struct clv_recipe quick_recipe(int32_t blocks)
{
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    recipe.blocks = blocks;
    recipe.slic.n_superpixels = 40;
    recipe.working_pixels = 3000;
    give_random_words(&recipe, 20);
    return recipe;
}

/* A disc of one colour on textured background of another. */
static struct clv_image disc_image(int32_t width, int32_t height)
{
    struct clv_image image = {0};
    must(clv_image_new(&image, width, height, 3, err));
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            double dx = (x + 0.5) / width - 0.5, dy = (y + 0.5) / height - 0.5;
            size_t at = ((size_t)y * (size_t)width + (size_t)x) * 3;
            int inside = dx * dx + dy * dy < 0.06;
            uint8_t noise = (uint8_t)rng_below(3, RNG_STREAM(RNG_TEST, 9), at, 30);
            image.pixels[at] = (uint8_t)(inside ? 200 : 90) + noise;
            image.pixels[at + 1] = (uint8_t)(inside ? 40 : 110) + noise;
            image.pixels[at + 2] = (uint8_t)(inside ? 40 : 100) + noise;
        }
    return image;
}

static void check_example(const struct clv_example *example, const struct clv_recipe *recipe)
{
    struct clv_weight_layout layout = {2, clv_recipe_n_features(recipe), clv_recipe_n_edge_features(recipe),
                                       CLV_PAIRWISE_POTTS};
    must(clv_problem_check(&example->problem, &layout, err));
    const struct clv_problem *p = &example->problem;
    double area = 0;
    for (int32_t i = 0; i < p->n_nodes; i++) {
        ck_assert_float_ge(p->area[i], 1);
        area += p->area[i];
        for (int64_t k = p->row[i] + 1; k < p->row[i + 1]; k++)
            ck_assert_int_lt(p->index[k - 1], p->index[k]);
    }
    ck_assert_double_eq(area, (double)example->width * example->height);
    for (int32_t e = 0; e < p->n_edges; e++) {
        ck_assert_int_lt(p->edges[e][0], p->edges[e][1]);
        if (e > 0)
            ck_assert(p->edges[e - 1][0] < p->edges[e][0] ||
                      (p->edges[e - 1][0] == p->edges[e][0] && p->edges[e - 1][1] < p->edges[e][1]));
        for (int32_t k = 0; k < p->n_edge_features; k++)
            ck_assert(isfinite(p->edge_features[e * p->n_edge_features + k]) &&
                      p->edge_features[e * p->n_edge_features + k] >= 0);
    }
}

static float feature_value(const struct clv_problem *p, int32_t node, int32_t feature)
{
    for (int64_t k = p->row[node]; k < p->row[node + 1]; k++)
        if (p->index[k] == feature)
            return p->value[k];
    return 0;
}

/* First feature whose name starts with `prefix`, and how many do. */
static int32_t find_features(int32_t *count, const struct clv_recipe *recipe, const char *prefix)
{
    int32_t first = -1;
    *count = 0;
    for (int32_t k = 0; k < clv_recipe_n_features(recipe); k++) {
        char name[100];
        recipe_feature_name(name, sizeof name, recipe, k);
        if (strncmp(name, prefix, strlen(prefix)) != 0)
            continue;
        first = first < 0 ? k : first;
        ++*count;
    }
    return first;
}

TEST(an_example_is_a_valid_problem_of_the_recipes_shape)
{
    OWNED(clv_recipe_release) struct clv_recipe recipe = quick_recipe(CLV_BLOCK_SUPERPIXELS);
    OWNED(clv_image_release) struct clv_image image = disc_image(97, 61);
    OWNED(clv_example_release) struct clv_example example = {0};
    must(clv_example_extract(&example, &image, &recipe, err));
    ck_assert_int_eq(example.width, 97);
    ck_assert_int_eq(example.height, 61);
    ck_assert_int_le(example.superpixels.width * example.superpixels.height, 3000);
    check_example(&example, &recipe);
}

TEST(tiny_thin_and_flat_images_are_examples)
{
    static const int32_t sizes[][2] = {{1, 1}, {2, 1}, {1, 37}, {300, 1}, {5, 5}, {13, 40}};
    OWNED(clv_recipe_release) struct clv_recipe recipe = quick_recipe(CLV_BLOCK_SUPERPIXELS);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int flat = 0; flat < 2; flat++) {
            OWNED(clv_image_release) struct clv_image image = disc_image(sizes[k][0], sizes[k][1]);
            if (flat)
                memset(image.pixels, flat * 77, (size_t)image.width * (size_t)image.height * 3);
            OWNED(clv_example_release) struct clv_example example = {0};
            must(clv_example_extract(&example, &image, &recipe, err));
            check_example(&example, &recipe);
        }
}

TEST(histograms_and_positions_sum_to_one)
{
    OWNED(clv_recipe_release) struct clv_recipe recipe = quick_recipe(CLV_BLOCK_SUPERPIXELS);
    OWNED(clv_image_release) struct clv_image image = disc_image(80, 60);
    OWNED(clv_example_release) struct clv_example example = {0};
    must(clv_example_extract(&example, &image, &recipe, err));
    const struct clv_problem *p = &example.problem;
    int32_t n_position, position = find_features(&n_position, &recipe, "position");
    ck_assert_int_eq(n_position, 100);
    static const char *const channels[] = {"red bin", "green bin", "blue bin"};
    for (int32_t i = 0; i < p->n_nodes; i++) {
        double sum = 0;
        for (int32_t k = 0; k < n_position; k++)
            sum += feature_value(p, i, position + k);
        ck_assert_double_eq_tol(sum, 1, 1e-5);
        for (int32_t s = 0; s < recipe.n_scales; s++) {
            double square = 0; /* of square roots */
            for (int32_t k = 0; k < recipe.n_words; k++)
                square += pow(feature_value(p, i, s * recipe.n_words + k), 2);
            ck_assert_double_eq_tol(square, 1, 1e-5);
        }
        for (int c = 0; c < 3; c++) {
            int32_t n_bins, first = find_features(&n_bins, &recipe, channels[c]);
            ck_assert_int_eq(n_bins, 16);
            double square = 0;
            for (int32_t k = 0; k < n_bins; k++)
                square += pow(feature_value(p, i, first + k), 2);
            ck_assert_double_eq_tol(square, 1.0 / 3, 1e-5);
        }
    }
}

TEST(extraction_is_deterministic)
{
    OWNED(clv_recipe_release) struct clv_recipe recipe = quick_recipe(CLV_BLOCK_SUPERPIXELS);
    OWNED(clv_image_release) struct clv_image image = disc_image(120, 90);
    OWNED(clv_example_release) struct clv_example a = {0}, b = {0};
    must(clv_example_extract(&a, &image, &recipe, err));
    must(clv_example_extract(&b, &image, &recipe, err));
    ck_assert_int_eq(a.problem.n_nodes, b.problem.n_nodes);
    size_t entries = (size_t)a.row[a.problem.n_nodes];
    ck_assert_mem_eq(a.row, b.row, (size_t)(a.problem.n_nodes + 1) * sizeof *a.row);
    ck_assert_mem_eq(a.index, b.index, entries * sizeof *a.index);
    ck_assert_mem_eq(a.value, b.value, entries * sizeof *a.value);
    ck_assert_mem_eq(a.edge_features, b.edge_features,
                     (size_t)(a.problem.n_edges * a.problem.n_edge_features) * sizeof(float));
}

static struct clv_mask random_mask(const struct clv_example *example, int32_t n_labels)
{
    size_t n = (size_t)example->width * (size_t)example->height;
    struct clv_mask mask = {example->width, example->height, malloc(n), NULL};
    for (size_t k = 0; k < n; k++) {
        uint32_t draw = rng_below(11, RNG_STREAM(RNG_TEST, 2), k, 20);
        size_t x = k % (size_t)example->width;
        mask.labels[k] = draw == 0 ? CLV_VOID : (uint8_t)((x / 9 + draw / 15) % (size_t)n_labels);
    }
    return mask;
}

/* Pixel by pixel: sum over labels b of wrong pixels of b / (labels present x pixels of b). */
static double pixel_loss(const uint8_t *painted, const struct clv_mask *mask, int32_t n_labels)
{
    double wrong[CLV_MAX_LABELS] = {0}, all[CLV_MAX_LABELS] = {0}, loss = 0;
    int present = 0;
    for (size_t k = 0; k < (size_t)mask->width * (size_t)mask->height; k++)
        if (mask->labels[k] != CLV_VOID) {
            all[mask->labels[k]]++;
            wrong[mask->labels[k]] += painted[k] != mask->labels[k];
        }
    for (int b = 0; b < n_labels; b++)
        present += all[b] > 0;
    for (int b = 0; b < n_labels; b++)
        loss += all[b] > 0 ? wrong[b] / (present * all[b]) : 0;
    return loss;
}

TEST(loss_of_a_node_labelling_is_the_pixel_loss_of_its_mask)
{
    OWNED(clv_recipe_release) struct clv_recipe recipe = quick_recipe(CLV_BLOCK_SIZE);
    static const int32_t sizes[][2] = {{211, 140}, {61, 40}, {97, 301}};
    for (size_t k = 0; k < 3; k++)
        for (int32_t n_labels = 2; n_labels <= 5; n_labels += 3) {
            OWNED(clv_image_release) struct clv_image image = disc_image(sizes[k][0], sizes[k][1]);
            OWNED(clv_example_release) struct clv_example example = {0};
            must(clv_example_extract(&example, &image, &recipe, err));
            struct clv_mask mask = random_mask(&example, n_labels);
            must(clv_example_set_truth(&example, &mask, n_labels, err));
            int32_t n = example.problem.n_nodes;
            OWNED_ARRAY int32_t *y = malloc((size_t)n * sizeof *y);
            OWNED_ARRAY uint8_t *painted = malloc((size_t)image.width * (size_t)image.height);
            for (int trial = 0; trial < 5; trial++) {
                for (int32_t i = 0; i < n; i++)
                    y[i] = trial == 0 && example.label[i] != CLV_UNKNOWN
                               ? example.label[i]
                               : (int32_t)rng_below(1, RNG_STREAM(RNG_TEST, trial), (uint64_t)i, (uint32_t)n_labels);
                must(clv_example_paint(painted, &example, y, err));
                /* clv_loss leaves out what no labelling can avoid: the minority pixels of each node's true label. */
                double unavoidable = 0;
                for (int32_t i = 0; i < n; i++)
                    for (int32_t b = 0; b < n_labels; b++)
                        unavoidable += b == y[i] ? 0 : example.theta[i * n_labels + b];
                ck_assert_double_eq_tol(unavoidable, pixel_loss(painted, &mask, n_labels), 1e-6);
                ck_assert_double_eq_tol(clv_loss(&example.problem, n_labels, y), unavoidable, 1e-6);
            }
            free(mask.labels);
        }
}

TEST(truth_is_the_majority_by_balanced_weight)
{
    /* Node 0 is all void; in node 2 the rare label 1 outweighs more pixels of label 0. */
    static const float counts[4][2] = {{0, 0}, {90, 0}, {10, 4}, {0, 1}};
    float theta[4][2];
    balanced_theta(theta[0], counts[0], 4, 2);
    ck_assert_float_eq(theta[0][0], 0);
    ck_assert_float_eq_tol(theta[1][0], 90 / 200.0f, 1e-6f);
    ck_assert_float_eq_tol(theta[2][1], 4 / 10.0f, 1e-6f);
    ck_assert_float_eq_tol(theta[3][1], 1 / 10.0f, 1e-6f);
    static const float one_sided[2][2] = {{3, 0}, {1, 0}};
    balanced_theta(theta[0], one_sided[0], 2, 2);
    ck_assert_float_eq(theta[0][0], 0.75f);
    ck_assert_float_eq(theta[0][1], 0);
    ck_assert_float_eq(theta[1][0], 0.25f);
    static const float three[2][3] = {{4, 0, 1}, {0, 0, 1}};
    float wide[2][3];
    balanced_theta(wide[0], three[0], 2, 3);
    ck_assert_float_eq(wide[0][0], 0.5f);
    ck_assert_float_eq(wide[0][1], 0);
    ck_assert_float_eq(wide[1][2], 0.25f);
}

TEST(wrong_masks_and_labels_are_refused_and_change_nothing)
{
    OWNED(clv_recipe_release) struct clv_recipe recipe = quick_recipe(CLV_BLOCK_SIZE);
    OWNED(clv_image_release) struct clv_image image = disc_image(30, 20);
    OWNED(clv_example_release) struct clv_example example = {0};
    must(clv_example_extract(&example, &image, &recipe, err));
    uint8_t labels[30 * 20] = {0};
    struct clv_mask mask = {20, 30, labels, NULL};
    must_fail(CLV_ERR_DATA, "mask is 20x30, image is 30x20", clv_example_set_truth(&example, &mask, 2, err));
    mask = (struct clv_mask){30, 20, labels, NULL};
    labels[3 * 30 + 7] = 2;
    must_fail(CLV_ERR_DATA, "value 2 at (7, 3)", clv_example_set_truth(&example, &mask, 2, err));
    must_fail(CLV_ERR_USAGE, "n_labels is 1", clv_example_set_truth(&example, &mask, 1, err));
    ck_assert_ptr_null(example.label);
    ck_assert_ptr_null(example.problem.theta);
    labels[3 * 30 + 7] = CLV_VOID;
    must(clv_example_set_truth(&example, &mask, 2, err));
    must(clv_example_set_truth(&example, &mask, 2, err)); /* a second time replaces the first */
    ck_assert_ptr_eq(example.problem.label, example.label);
    OWNED_ARRAY int32_t *y = calloc((size_t)example.problem.n_nodes, sizeof *y);
    y[0] = 256;
    must_fail(CLV_ERR_USAGE, "label 256", clv_example_paint(labels, &example, y, err));
}

TEST(a_node_without_known_pixels_is_unknown)
{
    OWNED(clv_recipe_release) struct clv_recipe recipe = quick_recipe(CLV_BLOCK_SIZE);
    OWNED(clv_image_release) struct clv_image image = disc_image(30, 20);
    OWNED(clv_example_release) struct clv_example example = {0};
    must(clv_example_extract(&example, &image, &recipe, err));
    uint8_t labels[30 * 20];
    memset(labels, CLV_VOID, sizeof labels);
    struct clv_mask mask = {30, 20, labels, NULL};
    must(clv_example_set_truth(&example, &mask, 2, err));
    for (int32_t i = 0; i < example.problem.n_nodes; i++) {
        ck_assert_int_eq(example.label[i], CLV_UNKNOWN);
        ck_assert_float_eq(example.theta[2 * i], 0);
        ck_assert_float_eq(example.theta[2 * i + 1], 0);
    }
}

/* Painted back to pixels, what is given as outside never meets a box, and every other node does. */
TEST(nodes_that_no_box_touches_are_given_as_background)
{
    OWNED(clv_recipe_release) struct clv_recipe recipe = quick_recipe(CLV_BLOCK_SIZE);
    OWNED(clv_image_release) struct clv_image image =
        disc_image(130, 90); /* shrunk: working pixels are not the original ones */
    OWNED(clv_example_release) struct clv_example example = {0};
    must(clv_example_extract(&example, &image, &recipe, err));
    static const struct clv_pixel_box boxes[] = {
        {20, 10, 61, 40}, {50, 30, 51, 31}, {100, 80, 130, 90}, {0, 0, 130, 90}};
    static const size_t counts[] = {0, 1, 2, 3, 4};
    int32_t node[400];
    uint8_t pixels[130 * 90];
    ck_assert_int_lt(example.problem.n_nodes, 255);
    for (int32_t i = 0; i < example.problem.n_nodes; i++)
        node[i] = i;
    must(clv_example_paint(pixels, &example, node, err));
    for (size_t t = 0; t < sizeof counts / sizeof *counts; t++) {
        int32_t touched[400] = {0};
        for (size_t k = 0; k < counts[t]; k++)
            for (int32_t y = boxes[k].first_y; y < boxes[k].end_y; y++)
                for (int32_t x = boxes[k].first_x; x < boxes[k].end_x; x++)
                    touched[pixels[y * 130 + x]] = 1;
        must(clv_example_set_boxes(&example, boxes, counts[t], err));
        ck_assert_ptr_null(example.problem.theta);
        for (int32_t i = 0; i < example.problem.n_nodes; i++)
            ck_assert_int_eq(example.problem.label[i], touched[i] ? CLV_UNKNOWN : 0);
    }
}

TEST(recipes_out_of_range_are_refused_by_name)
{
    OWNED(clv_image_release) struct clv_image image = disc_image(30, 20);
    struct clv_example example = {0};
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    must_fail(CLV_ERR_USAGE, "codebook of scale 0", clv_example_extract(&example, &image, &recipe, err));
    recipe.blocks = CLV_BLOCK_SIZE;
    recipe.n_scales = 5;
    must_fail(CLV_ERR_USAGE, "n_scales is 5", clv_example_extract(&example, &image, &recipe, err));
    recipe.n_scales = 2;
    recipe.step_px = 0;
    must_fail(CLV_ERR_USAGE, "step_px is 0", clv_example_extract(&example, &image, &recipe, err));
    recipe.step_px = 3;
    recipe.slic.compactness = NAN;
    must_fail(CLV_ERR_USAGE, "compactness", clv_example_extract(&example, &image, &recipe, err));
    recipe.slic.compactness = 10;
    image.channels = 1;
    must_fail(CLV_ERR_USAGE, "3-channel", clv_example_extract(&example, &image, &recipe, err));
    image.channels = 3;
    ck_assert_ptr_null(example.row);
}
