/* Slices of a sequence as one example. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "feature/example/example.h"
#include "feature/small_set.h"

enum { WIDTH = 120, HEIGHT = 90, SHIFT = 5, N_LABELS = 3 };

static struct clv_recipe recipe_of_slices(void)
{
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    recipe.blocks = CLV_BLOCK_WORDS | CLV_BLOCK_COLOUR | CLV_BLOCK_SIZE;
    recipe.n_scales = 2;
    recipe.slic.n_superpixels = 50;
    recipe.window = 4;
    give_random_words(&recipe, 20);
    return recipe;
}

/* Blots that are `shift` pixels further right. */
static struct clv_image blots(int32_t width, int32_t shift)
{
    struct clv_image image = {0};
    must(clv_image_new(&image, width, HEIGHT, 3, err));
    for (int32_t k = 0; k < width * HEIGHT * 3; k++) {
        double x = k / 3 % width - shift, y = k / 3 / width;
        image.pixels[k] = (uint8_t)(128 + 60 * sin(x / 7) * cos(y / 5) + 40 * sin((x + y) / 13));
    }
    return image;
}

static void add_slice(struct slice *slice, const struct clv_recipe *recipe, int32_t shift, bool has_mask)
{
    OWNED(clv_image_release) struct clv_image image = blots(WIDTH, shift);
    struct clv_mask mask = {WIDTH, HEIGHT, malloc(WIDTH * HEIGHT), NULL};
    for (int32_t p = 0; p < WIDTH * HEIGHT; p++)
        mask.labels[p] = (uint8_t)(p % WIDTH / 50);
    must(clv_example_extract(&slice->example, &image, recipe, err));
    must(slice_set_pixels(slice, &image, recipe, err));
    if (has_mask)
        must(clv_example_set_truth(&slice->example, &mask, N_LABELS, err));
    free(mask.labels);
}

static void make_window(struct clv_example *window, struct slice slices[2], struct clv_recipe *recipe)
{
    OWNED(stack_release) struct stack stack = {0};
    *recipe = recipe_of_slices();
    memset(slices, 0, 2 * sizeof *slices);
    add_slice(&slices[0], recipe, 0, true);
    add_slice(&slices[1], recipe, SHIFT, false);
    stack_init(&stack, recipe, N_LABELS);
    must(stack_add(&stack, &slices[0], NULL, err));
    must(stack_add(&stack, &slices[1], &slices[0], err));
    must(stack_take(window, &stack, err));
}

static void release(struct clv_example *window, struct slice slices[2], struct clv_recipe *recipe)
{
    clv_example_release(window);
    slice_release(&slices[0]);
    slice_release(&slices[1]);
    clv_recipe_release(recipe);
}

TEST(regions_are_joined_where_they_lie_on_the_next_slice_and_such_edges_have_features_of_their_own)
{
    struct clv_example window;
    struct clv_recipe recipe;
    struct slice slices[2];
    make_window(&window, slices, &recipe);
    const struct clv_problem *problem = &window.problem;
    const struct clv_weight_layout layout = {N_LABELS, clv_recipe_n_features(&recipe),
                                             clv_recipe_n_edge_features(&recipe), CLV_PAIRWISE_POTTS};
    must(clv_problem_check(problem, &layout, err));
    int32_t n_first = slices[0].example.problem.n_nodes, n_next = 0;
    ck_assert_int_eq(problem->n_nodes, n_first + slices[1].example.problem.n_nodes);
    for (int32_t e = 0; e < problem->n_edges; e++) {
        const float *f = problem->edge_features + (size_t)e * NEXT_END;
        bool is_next = (problem->edges[e][0] < n_first) != (problem->edges[e][1] < n_first);
        n_next += is_next;
        for (int k = 0; k < NEXT_END; k++)
            if ((k >= NEXT_CONSTANT) != is_next)
                ck_assert(f[k] == 0);
        ck_assert(f[is_next ? NEXT_CONSTANT : 0] == 1);
    }
    int32_t n_within = slices[0].example.problem.n_edges + slices[1].example.problem.n_edges;
    ck_assert_int_eq(problem->n_edges, n_within + n_next);
    ck_assert_int_ge(n_next, n_first);
    release(&window, slices, &recipe);
}

/* The pixels that a region shares with those of the same place, moved: most of those of a shifted copy. */
TEST(edges_between_slices_follow_motion)
{
    struct clv_example window;
    struct clv_recipe recipe;
    struct slice slices[2];
    make_window(&window, slices, &recipe);
    const struct clv_problem *problem = &window.problem;
    int32_t n_first = slices[0].example.problem.n_nodes;
    double nearest = 0, n = 0;
    for (int32_t i = 0; i < n_first; i++) {
        float most = 0, moved = 0;
        for (int32_t e = 0; e < problem->n_edges; e++) {
            const float *f = problem->edge_features + (size_t)e * NEXT_END;
            if (problem->edges[e][0] != i || problem->edges[e][1] < n_first || f[NEXT_OVERLAP] <= most)
                continue;
            most = f[NEXT_OVERLAP];
            moved = problem->centroid[2 * problem->edges[e][1]] - problem->centroid[2 * (size_t)i];
        }
        nearest += (double)moved;
        n += most > 0;
    }
    ck_assert_double_eq_tol(nearest / n * sqrt(WIDTH * HEIGHT), SHIFT, 2);
    release(&window, slices, &recipe);
}

TEST(what_has_moved_is_found_once_and_joins_the_same_regions_again)
{
    struct clv_example window;
    OWNED(clv_example_release) struct clv_example again = {0};
    struct clv_recipe recipe;
    struct slice slices[2];
    OWNED(stack_release) struct stack stack = {0};
    make_window(&window, slices, &recipe);
    for (int i = 0; i < 2; i++)
        motion_pyramid_release(&slices[i].pixels); /* no motion is found without them */
    stack_init(&stack, &recipe, N_LABELS);
    must(stack_add(&stack, &slices[0], NULL, err));
    must(stack_add(&stack, &slices[1], &slices[0], err));
    must(stack_take(&again, &stack, err));
    size_t n_edges = (size_t)window.problem.n_edges;
    ck_assert_int_eq(again.problem.n_edges, window.problem.n_edges);
    ck_assert_mem_eq(again.edges, window.edges, n_edges * sizeof *window.edges);
    ck_assert_mem_eq(again.edge_features, window.edge_features, n_edges * NEXT_END * sizeof *window.edge_features);
    release(&window, slices, &recipe);
}

TEST(a_row_goes_on_with_the_mean_row_of_what_overlaps_the_region)
{
    struct clv_example window;
    struct clv_recipe recipe;
    struct slice slices[2];
    make_window(&window, slices, &recipe);
    const struct clv_problem *problem = &window.problem;
    size_t d = (size_t)problem->n_features / 2;
    OWNED_ARRAY double *dense = calloc((size_t)problem->n_nodes, 2 * d * sizeof *dense),
                       *mean = calloc(d, sizeof *mean);
    for (size_t i = 0; i < (size_t)problem->n_nodes; i++)
        for (int64_t k = problem->row[i]; k < problem->row[i + 1]; k++)
            dense[2 * d * i + (size_t)problem->index[k]] = (double)problem->value[k];
    for (int32_t i = 0; i < problem->n_nodes; i++) {
        double all = 0;
        memset(mean, 0, d * sizeof *mean);
        for (int32_t e = 0; e < problem->n_edges; e++)
            for (int end = 0; end < 2; end++) {
                double overlap = (double)problem->edge_features[(size_t)e * NEXT_END + NEXT_OVERLAP];
                all += problem->edges[e][end] == i ? overlap : 0;
                for (size_t c = 0; c < d && problem->edges[e][end] == i; c++)
                    mean[c] += overlap * dense[2 * d * (size_t)problem->edges[e][1 - end] + c];
            }
        for (size_t c = 0; c < d; c++)
            ck_assert_double_eq_tol(dense[2 * d * (size_t)i + d + c], all > 0 ? mean[c] / all : 0, 1e-5);
    }
    release(&window, slices, &recipe);
}

TEST(slices_without_a_mask_are_hidden_and_the_others_truth_is_that_of_one_image)
{
    struct clv_example window;
    struct clv_recipe recipe;
    struct slice slices[2];
    make_window(&window, slices, &recipe);
    int32_t n_first = slices[0].example.problem.n_nodes;
    double sum = 0;
    for (int32_t i = 0; i < window.problem.n_nodes; i++)
        ck_assert_int_eq(window.label[i], i < n_first ? slices[0].example.label[i] : CLV_UNKNOWN);
    for (int32_t k = 0; k < window.problem.n_nodes * N_LABELS; k++)
        sum += (double)window.theta[k];
    ck_assert_double_eq_tol(sum, 1, 1e-5);
    release(&window, slices, &recipe);
}

TEST(slices_of_different_sizes_are_refused)
{
    OWNED(clv_recipe_release) struct clv_recipe recipe = recipe_of_slices();
    OWNED(clv_image_release) struct clv_image small = blots(WIDTH / 2, 0);
    struct slice slices[2] = {0};
    OWNED(stack_release) struct stack stack = {0};
    struct clv_error error;
    add_slice(&slices[0], &recipe, 0, false);
    must(clv_example_extract(&slices[1].example, &small, &recipe, err));
    must(slice_set_pixels(&slices[1], &small, &recipe, err));
    stack_init(&stack, &recipe, 0);
    must(stack_add(&stack, &slices[0], NULL, err));
    ck_assert_int_eq(stack_add(&stack, &slices[1], &slices[0], &error), CLV_ERR_DATA);
    ck_assert_str_eq(error.message, "60x90 pixels, the slice before it has 120x90");
    slice_release(&slices[0]);
    slice_release(&slices[1]);
}
