#include "feature/edges.h"

#include <math.h>

enum { CONSTANT, LENGTH, CONTRAST, LENGTH_CONTRAST, TEXTURE, N_EDGE_FEATURES };

int32_t edge_feature_count(void)
{
    return N_EDGE_FEATURES;
}

const char *edge_feature_name(int32_t index)
{
    static const char *const names[N_EDGE_FEATURES] = {"constant", "boundary length", "colour similarity",
                                                       "boundary length x colour similarity", "texture similarity"};
    return index >= 0 && index < N_EDGE_FEATURES ? names[index] : "no such edge feature";
}

static float square_distance(const float *a, const float *b)
{
    float sum = 0;
    for (int c = 0; c < 3; c++)
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

/* Dot product of two sparse rows over columns below `end`. */
static float words_in_common(const struct clv_problem *problem, int32_t a, int32_t b, int32_t end)
{
    int64_t i = problem->row[a], j = problem->row[b];
    float sum = 0;
    while (i < problem->row[a + 1] && j < problem->row[b + 1]) {
        int32_t p = problem->index[i], q = problem->index[j];
        if (p >= end || q >= end)
            break;
        if (p == q)
            sum += problem->value[i] * problem->value[j];
        i += p <= q;
        j += q <= p;
    }
    return sum;
}

void edges_fill(float *features, const struct clv_adjacency *adjacency, const struct scene *scene,
                const struct clv_problem *problem, int32_t n_word_features, int32_t n_scales)
{
    /* The contrast that counts as strong is the image's own (Boykov & Jolly 2001; beta of GrabCut, eq. 5). */
    double sum = 0;
    for (int32_t e = 0; e < adjacency->n_edges; e++)
        sum += square_distance(scene->regions[adjacency->edges[e][0]].lab, scene->regions[adjacency->edges[e][1]].lab);
    float beta = sum > 0 ? (float)(adjacency->n_edges / (2 * sum)) : 0;
    float side = sqrtf((float)scene->width * (float)scene->height / (float)scene->n_regions);
    for (int32_t e = 0; e < adjacency->n_edges; e++) {
        int32_t a = adjacency->edges[e][0], b = adjacency->edges[e][1];
        float length = adjacency->boundary_length[e] / side;
        float similarity = expf(-beta * square_distance(scene->regions[a].lab, scene->regions[b].lab));
        float texture = n_scales ? 1 - words_in_common(problem, a, b, n_word_features) / (float)n_scales : 0;
        float *f = features + (size_t)e * N_EDGE_FEATURES;
        f[CONSTANT] = 1;
        f[LENGTH] = length;
        f[CONTRAST] = similarity;
        f[LENGTH_CONTRAST] = length * similarity;
        f[TEXTURE] = expf(-2 * fmaxf(texture, 0));
    }
}
