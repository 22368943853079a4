#include "feature/recipe/plan.h"

#include "base/array.h"
#include "base/error.h"
#include "feature/blocks/blocks.h"
#include "feature/blocks/contrast.h"
#include "feature/blocks/edges.h"
#include "feature/blocks/fisher.h"
#include "feature/blocks/hog.h"
#include "feature/blocks/map_pool.h"

/* Whether a feature of kept[start .. start + size) is kept; kept NULL: all are. */
static bool any(const uint8_t *kept, int32_t start, int32_t size)
{
    for (int32_t k = 0; kept && k < size; k++)
        if (kept[start + k])
            return true;
    return !kept && size > 0;
}

static uint32_t wanted_measures(const struct clv_recipe *recipe, const struct layout *all)
{
    uint32_t wanted = 0;
    int32_t n = contrast_measures(recipe), bins = contrast_size(recipe) / n;
    for (int32_t k = 0; k < n; k++)
        if (any(recipe->kept, all->contrast + k * bins, bins))
            wanted |= 1u << k;
    return wanted;
}

static bool wants_texture(const struct clv_recipe *recipe, const struct layout *all)
{
    return recipe->nodes == CLV_NODES_SUPERPIXELS && all->words[0] >= 0 &&
           any(recipe->kept, all->n_features + EDGE_TEXTURE, 1);
}

/* Whether words of one scale are looked at; `all` is the layout of the whole recipe. */
static bool wants_words(const struct clv_recipe *recipe, const struct layout *all, int32_t scale)
{
    const uint8_t *kept = recipe->kept;
    int32_t n = words_size(recipe), chroma = chroma_size(recipe), last = recipe->n_scales - 1;
    if (all->words[scale] >= 0 && any(kept, all->words[scale], n))
        return true;
    if (all->word >= 0 && any(kept, all->word + scale * recipe->n_words, recipe->n_words))
        return true;
    if (all->contrast >= 0 && wanted_measures(recipe, all) >> (CONTRAST_WORDS + 2 * scale) & 3)
        return true;
    bool in_windows = recipe->blocks & CLV_BLOCK_WORDS;
    if (in_windows && all->surround >= 0 && any(kept, all->surround + chroma + scale * n, n))
        return true;
    return in_windows && all->scene >= 0 && scale == last && any(kept, all->scene + chroma, n);
}

void plan_words(bool words[CLV_MAX_SCALES], const struct clv_recipe *recipe)
{
    struct layout all;
    layout_init(&all, recipe);
    bool texture = recipe->kept && wants_texture(recipe, &all);
    for (int32_t s = 0; s < CLV_MAX_SCALES; s++)
        words[s] = s < recipe->n_scales && (!recipe->kept || texture || wants_words(recipe, &all, s));
}

/* Turns off the blocks of which nothing is kept. */
static void turn_off(struct plan *plan, const struct clv_recipe *recipe)
{
    struct layout *at = &plan->at;
    for (int32_t s = 0; s < recipe->n_scales; s++)
        if (at->words[s] >= 0 && !plan->texture && !any(recipe->kept, at->words[s], words_size(recipe)))
            at->words[s] = -1;
    const struct {
        int32_t *start, size;
    } blocks[] = {
        {&at->colour, colour_size(recipe)},
        {&at->position, position_size()},
        {&at->size, size_size()},
        {&at->contrast, contrast_size(recipe)},
        {&at->surround, surround_size(recipe, 0)},
        {&at->scene, surround_size(recipe, recipe->n_scales - 1)},
        {&at->rgb, rgb_size(recipe)},
        {&at->word, recipe->n_scales * recipe->n_words},
        {&at->hog, HOG_SIZE},
        {&at->maps, maps_size(recipe)},
        {&at->fisher, fisher_size(recipe)},
    };
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        if (*blocks[k].start >= 0 && !any(recipe->kept, *blocks[k].start, blocks[k].size))
            *blocks[k].start = -1;
}

void plan_release(struct plan *plan)
{
    array_free(plan->columns);
    *plan = (struct plan){0};
}

enum clv_status plan_init(struct plan *plan, const struct clv_recipe *recipe, struct clv_error *err)
{
    struct layout all;
    layout_init(&all, recipe);
    *plan = (struct plan){.at = all, .columns = array_alloc((size_t)all.n_features, sizeof *plan->columns)};
    if (!plan->columns)
        return fail_memory(err);
    plan->measures = all.contrast >= 0 ? wanted_measures(recipe, &all) : 0;
    plan->texture = wants_texture(recipe, &all);
    plan_words(plan->words, recipe);
    turn_off(plan, recipe);
    int32_t end_of_words = plan->texture ? recipe->n_scales * words_size(recipe) : 0;
    for (int32_t k = 0; k < all.n_features; k++)
        if (k < end_of_words || any(recipe->kept, k, 1))
            plan->columns[plan->n_columns++] = k;
    return CLV_OK;
}
