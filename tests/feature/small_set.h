/* What the tests of datasets and of feature files share. */
#ifndef TESTS_SMALL_SET_H
#define TESTS_SMALL_SET_H

#include <string.h>

#include "base/base.h"
#include "feature/words/words.h"
#include "support/support.h"
#include "tools/synth/synth.h"

/* Equal weights and variances, random axes and means: a sound mixture that nobody learned. */
static inline float *random_mixture(uint32_t scale)
{
    float *mixture = array_alloc(CLV_MIXTURE_SIZE, sizeof *mixture);
    for (uint32_t k = 0; k < CLV_MIXTURE_SIZE; k++) {
        float normal = (float)rng_normal(6, RNG_STREAM(RNG_TEST, scale), k);
        mixture[k] = k < MIXTURE_PROJECTION ? 0.1F
                     : k < MIXTURE_WEIGHT   ? normal
                     : k < MIXTURE_MEAN     ? 1.0F / MIXTURE_COMPONENTS
                     : k < MIXTURE_VARIANCE ? normal / 10
                                            : 0.1F;
    }
    return mixture;
}

/* Codebooks of random bytes, and mixtures if the blocks want some: enough for every test that is not about learning
 * them. */
static inline void give_random_words(struct clv_recipe *recipe, int32_t n_words)
{
    size_t size = (size_t)n_words * CLV_DESCRIPTOR_SIZE;
    recipe->n_words = n_words;
    for (int s = 0; s < recipe->n_scales; s++) {
        struct clv_codebook *book = &recipe->codebooks[s];
        book->n_words = n_words;
        book->centres = array_alloc(size, 1);
        for (size_t k = 0; k < size; k++)
            book->centres[k] = (uint8_t)rng_below(5, RNG_STREAM(RNG_TEST, s), k, 100);
        if (recipe->blocks & CLV_BLOCK_FISHER)
            recipe->mixtures[s] = random_mixture((uint32_t)s);
    }
}

/* A small synthetic set, and a recipe that needs no codebook. */
static inline struct clv_set synthetic(int32_t n_images)
{
    struct clv_set set = {0};
    struct synth_options options;
    synth_options_init(&options);
    options.n_images = n_images;
    options.width = 60;
    options.height = 48;
    const char *folder = here("set");
    must(synth_animals(folder, &options, 1, NULL, err));
    must(clv_set_read(&set, formatted("%s/manifest.tsv", folder), err));
    return set;
}

static inline struct clv_recipe plain_recipe(void)
{
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    recipe.blocks = CLV_BLOCK_COLOUR | CLV_BLOCK_POSITION | CLV_BLOCK_SIZE;
    recipe.slic.n_superpixels = 40;
    return recipe;
}

static inline void expect_same(const struct clv_problem *a, const struct clv_problem *b, int32_t n_labels)
{
    size_t n = (size_t)a->n_nodes, k = (size_t)n_labels;
    ck_assert_int_eq(a->n_nodes, b->n_nodes);
    ck_assert_int_eq(a->n_edges, b->n_edges);
    ck_assert_int_eq(a->n_features, b->n_features);
    ck_assert_int_eq(a->n_edge_features, b->n_edge_features);
    for (size_t i = 0; i <= n; i++)
        ck_assert_int_eq(a->row[i] - a->row[0], b->row[i] - b->row[0]);
    size_t n_entries = (size_t)(a->row[n] - a->row[0]);
    if (n_entries) {
        ck_assert_mem_eq(a->index + a->row[0], b->index + b->row[0], n_entries * sizeof *a->index);
        ck_assert_mem_eq(a->value + a->row[0], b->value + b->row[0], n_entries * sizeof *a->value);
    }
    ck_assert_mem_eq(a->edges, b->edges, (size_t)a->n_edges * sizeof *a->edges);
    ck_assert_mem_eq(a->edge_features, b->edge_features,
                     (size_t)a->n_edges * (size_t)a->n_edge_features * sizeof *a->edge_features);
    ck_assert_mem_eq(a->area, b->area, n * sizeof *a->area);
    ck_assert(!a->label == !b->label && !a->theta == !b->theta);
    if (a->label)
        ck_assert_mem_eq(a->label, b->label, n * sizeof *a->label);
    if (a->theta)
        ck_assert_mem_eq(a->theta, b->theta, n * k * sizeof *a->theta);
}

#endif
