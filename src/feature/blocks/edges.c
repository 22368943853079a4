/* Computes the features of edges: constants, border lengths and overlaps, multiplied by the similarity of the colours
 * (Boykov & Jolly 2001) and textures of the two nodes. Start at edges_fill and patch_edges_fill. */
#include "feature/blocks/blocks.h"

#include <math.h>

#include "base/base.h"

enum { CONSTANT, LENGTH, CONTRAST, LENGTH_CONTRAST, TEXTURE = EDGE_TEXTURE, N_EDGE_FEATURES };

enum { BESIDE, ABOVE, BESIDE_CONTRAST, ABOVE_CONTRAST, N_PATCH_EDGE_FEATURES };

int32_t edge_feature_count(const struct clv_recipe *recipe)
{
    int32_t n_own = recipe->nodes == CLV_NODES_PATCHES ? N_PATCH_EDGE_FEATURES : N_EDGE_FEATURES;
    return (recipe->window ? (int32_t)NEXT_END : n_own) + map_edge_count(recipe);
}

const char *edge_feature_name(const struct clv_recipe *recipe, int32_t index)
{
    static const char *const of_patches[N_PATCH_EDGE_FEATURES] = {"beside each other", "above each other",
                                                                  "beside each other x colour similarity",
                                                                  "above each other x colour similarity"};
    static const char *const names[] = {"constant",
                                        "boundary length",
                                        "colour similarity",
                                        "boundary length x colour similarity",
                                        "texture similarity",
                                        [NEXT_CONSTANT] = "next slice",
                                        [NEXT_OVERLAP] = "next slice: overlap",
                                        [NEXT_SHARE] = "next slice: overlap of the smaller region",
                                        [NEXT_NEAR] = "next slice: nearness",
                                        [NEXT_TEXTURE] = "next slice: overlap x texture similarity",
                                        [NEXT_OTHER] = "next slice: overlap x similarity of all else"};
    static const char *const of_maps[CLV_MAX_MAPS] = {
        "similarity in map 1", "similarity in map 2", "similarity in map 3", "similarity in map 4",
        "similarity in map 5", "similarity in map 6", "similarity in map 7", "similarity in map 8"};
    int32_t n = edge_feature_count(recipe), n_maps = map_edge_count(recipe);
    if (index >= n - n_maps && index < n)
        return of_maps[index - (n - n_maps)];
    if (recipe->nodes == CLV_NODES_PATCHES && index >= 0 && index < N_PATCH_EDGE_FEATURES)
        return of_patches[index];
    return recipe->nodes == CLV_NODES_SUPERPIXELS && index >= 0 && index < n - n_maps ? names[index]
                                                                                      : "no such edge feature";
}

static float square_distance(const float *a, const float *b)
{
    float sum = 0;
    for (int c = 0; c < 3; c++)
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

/* Returns the dot product of the words in two rows. */
static float words_in_common(struct node_words words, int32_t a, int32_t b)
{
    const struct clv_problem *problem = words.problem;
    int64_t i = problem->row[a], j = problem->row[b];
    float sum = 0;
    while (i < problem->row[a + 1] && j < problem->row[b + 1]) {
        int32_t p = problem->index[i], q = problem->index[j];
        if (p >= words.n_columns || q >= words.n_columns)
            break;
        if (p == q)
            sum += problem->value[i] * problem->value[j];
        i += p <= q;
        j += q <= p;
    }
    return sum;
}

double edge_contrast(const struct clv_adjacency *adjacency, const struct region *regions)
{
    double sum = 0;
    for (int32_t e = 0; e < adjacency->n_edges; e++)
        sum += square_distance(regions[adjacency->edges[e][0]].lab, regions[adjacency->edges[e][1]].lab);
    return sum;
}

/* Returns the factor of squared colour distances, beta of GrabCut (Boykov & Jolly 2001; Rother et al. 2004, eq. 5): 1 /
 * (2 x their mean over the image's edges). Recipes with a fixed scale use the training images' factor instead. */
static float contrast_scale(const struct clv_adjacency *adjacency, const struct scene *scene)
{
    double sum = edge_contrast(adjacency, scene->regions);
    return sum > 0 ? (float)(adjacency->n_edges / (2 * sum)) : 0;
}

struct edge_units edge_units_fixed(const struct clv_recipe *recipe)
{
    return (struct edge_units){recipe->contrast_scale, sqrtf((float)recipe->region_area)};
}

struct edge_units edge_units_of(const struct clv_adjacency *adjacency, const struct scene *scene,
                                const struct clv_recipe *recipe)
{
    if (recipe->scale > 0)
        return edge_units_fixed(recipe);
    return (struct edge_units){contrast_scale(adjacency, scene),
                               sqrtf((float)scene->width * (float)scene->height / (float)scene->n_regions)};
}

void patch_edges_fill(float *features, int32_t stride, const struct clv_adjacency *adjacency, const struct scene *scene)
{
    float beta = contrast_scale(adjacency, scene);
    for (int32_t e = 0; e < adjacency->n_edges; e++) {
        const struct region *a = &scene->regions[adjacency->edges[e][0]], *b = &scene->regions[adjacency->edges[e][1]];
        float similarity = portable_expf(-beta * square_distance(a->lab, b->lab));
        bool is_above = adjacency->edges[e][1] != adjacency->edges[e][0] + 1 || a->y < b->y;
        float *f = features + (size_t)e * (size_t)stride;
        f[BESIDE] = is_above ? 0 : 1;
        f[ABOVE] = is_above ? 1 : 0;
        f[BESIDE_CONTRAST] = is_above ? 0 : similarity;
        f[ABOVE_CONTRAST] = is_above ? similarity : 0;
    }
}

void edges_fill(float *features, int32_t stride, const struct clv_adjacency *adjacency, const struct region *regions,
                struct edge_units units, struct node_words words)
{
    for (int32_t e = 0; e < adjacency->n_edges; e++) {
        int32_t a = adjacency->edges[e][0], b = adjacency->edges[e][1];
        float length = adjacency->boundary_length[e] / units.side;
        float similarity = portable_expf(-units.contrast_scale * square_distance(regions[a].lab, regions[b].lab));
        float texture = words.n_scales ? 1 - words_in_common(words, a, b) / (float)words.n_scales : 0;
        float *f = features + (size_t)e * (size_t)stride;
        f[CONSTANT] = 1;
        f[LENGTH] = length;
        f[CONTRAST] = similarity;
        f[LENGTH_CONTRAST] = length * similarity;
        f[TEXTURE] = portable_expf(-2 * fmaxf(texture, 0));
    }
}
