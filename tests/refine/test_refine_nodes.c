/* Refining by what an example's nodes say, against arrays of the same for every pixel. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "refine/refine.h"
#include "support/requests.h"

enum { W = 75, H = 48, N = W * H, N_LABELS = 4 };

/* Nodes of noise at less than the image's size, with random labels below N_LABELS - 1 and margins. */
struct scene {
    struct clv_image image;
    struct clv_example example;
    int32_t *y;
    double *margin;
};

static void begin(struct scene *self, enum clv_nodes nodes)
{
    struct clv_recipe recipe;
    *self = (struct scene){0};
    clv_recipe_init(&recipe);
    recipe.nodes = nodes;
    recipe.blocks = CLV_BLOCK_SIZE;
    recipe.slic.n_superpixels = 30;
    recipe.working_pixels = N / 2;
    recipe.patch_px = 12;
    recipe.patch_step_px = 7;
    must(clv_image_new(&self->image, W, H, 3, err));
    for (uint64_t i = 0; i < 3 * N; i++)
        self->image.pixels[i] = (uint8_t)(rng_below(6, 0, i, 90) + (i / 3 % W < W / 2 ? 120 : 40));
    must(clv_example_extract(&self->example, &self->image, &recipe, err));
    size_t n = (size_t)self->example.problem.n_nodes;
    self->y = calloc(n, sizeof *self->y);
    self->margin = calloc(n, sizeof *self->margin);
    for (uint64_t i = 0; i < n; i++) {
        self->y[i] = (int32_t)rng_below(6, 1, i, N_LABELS - 1);
        self->margin[i] = rng_normal(6, 2, i);
    }
}

static void end(struct scene *self)
{
    free(self->y);
    free(self->margin);
    clv_example_release(&self->example);
    clv_image_release(&self->image);
}

TEST(margins_of_nodes_are_the_prior_of_their_pixels)
{
    struct scene scene;
    static float prior[N];
    static uint8_t expected[N], labels[N];
    begin(&scene, CLV_NODES_SUPERPIXELS);
    for (int p = 0; p < N; p++)
        expected[p] = labels[p] = p % W < 30;
    must(clv_refine_prior(prior, &scene.example, scene.margin, err));
    must(clv_refine(expected, &scene.image, prior, NULL, NULL, err));
    must(refine_by_margins(labels, &scene.image, &scene.example, scene.margin, NULL, err));
    ck_assert_mem_eq(labels, expected, N);
    end(&scene);
}

TESTS(votes_of_nodes_are_those_of_their_pixels, 0, 2)
{
    struct scene scene;
    static float votes[N_LABELS * N];
    static uint8_t expected[N], labels[N];
    struct clv_refine_options options;
    clv_refine_defaults(&options);
    options.prior = 3;
    begin(&scene, _i ? CLV_NODES_PATCHES : CLV_NODES_SUPERPIXELS);
    must(clv_example_vote(expected, votes, &scene.example, scene.y, N_LABELS, err));
    for (int i = 0; i < N_LABELS * N; i++)
        votes[i] = votes[i] < 1 ? votes[i] : 1; /* but for rounding */
    must(clv_refine_labels(expected, &scene.image, votes, N_LABELS, &options, err));
    must(refine_by_votes(labels, &scene.image, &scene.example, scene.y, N_LABELS, &options, err));
    ck_assert_mem_eq(labels, expected, N);
    end(&scene);
}

TESTS(labels_stay_where_refining_by_votes_fails, 0, 2)
{
    struct scene scene;
    static uint8_t labels[N], untouched[N];
    struct clv_refine_options options;
    clv_refine_defaults(&options);
    memset(labels, 7, N);
    memset(untouched, 7, N);
    begin(&scene, _i ? CLV_NODES_PATCHES : CLV_NODES_SUPERPIXELS);
    must_keep_when_requests_fail(
        refine_by_votes(labels, &scene.image, &scene.example, scene.y, N_LABELS, &options, err),
        ck_assert_mem_eq(labels, untouched, N));
    end(&scene);
}
