/* A small model, and its file. */
#ifndef TESTS_SMALL_MODEL_H
#define TESTS_SMALL_MODEL_H

#include <math.h>

#include "base/base.h"
#include "support/support.h"

/* A model over a small recipe with codebooks, three attached things and a record. */
static inline struct clv_model small_model(enum clv_pairwise pairwise)
{
    struct clv_model model = {.has_recipe = true};
    clv_recipe_init(&model.recipe);
    model.recipe.blocks = CLV_BLOCK_SUPERPIXELS;
    model.recipe.n_scales = 2;
    model.recipe.n_words = 3;
    model.recipe.slic.compactness = 0.1f;
    for (int s = 0; s < model.recipe.n_scales; s++) {
        model.recipe.codebooks[s].n_words = 3;
        model.recipe.codebooks[s].centres = array_alloc(3, CLV_DESCRIPTOR_SIZE);
        for (int i = 0; i < 3 * CLV_DESCRIPTOR_SIZE; i++)
            model.recipe.codebooks[s].centres[i] = (uint8_t)(i * (s + 3));
    }
    model.layout = (struct clv_weight_layout){2, clv_recipe_n_features(&model.recipe),
                                              clv_recipe_n_edge_features(&model.recipe), pairwise};
    size_t n = clv_weight_layout_size(&model.layout);
    model.w = array_alloc(n, sizeof *model.w);
    for (size_t i = 0; i < n; i++)
        model.w[i] = i < clv_weight_layout_unary_size(&model.layout) ? sin((double)i) : 0.5 + cos((double)i) / 4;
    must(clv_labels_binary(&model.labels, err));
    must(clv_record_set(&model.record, "learner", "ssvm", err));
    must(clv_record_set(&model.record, "objective", "0.7 0.5\n0.3 \"quoted\"", err));
    must(clv_record_set(&model.record, "learner", "perceptron", err));
    must(clv_record_set(&model.record, "a", "", err));
    return model;
}

static inline const char *write_model(const struct clv_model *model, const char *name)
{
    const char *path = here("%s", name);
    must(clv_model_write(path, model, err));
    return path;
}

#endif
