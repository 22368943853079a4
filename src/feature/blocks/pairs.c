/* Computes sums over all pairs of regions, weighted by the similarity of their colours or by their distance in the
 * image, in vectors of regions. Start at pairs_init. */
#include "feature/blocks/blocks.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/machine.h"

enum { MAX_REFERENCES = 1024, COORDINATES = 5 };

static const float COLOUR_SCALE = 10.0f; /* scale of the colour kernel, in Lab */
static const float NEAR_SCALE = 0.2f;    /* scale of the distance kernel, in widths and heights of the image */

/* The values of region j that are added to the sums of all regions. */
struct reference {
    float l, a, b, x, y, n, border, centre;
};

void pairs_release(struct pairs *pairs)
{
    array_free(pairs->memory);
    *pairs = (struct pairs){0};
}

/* Adds region j to the sums of all regions. Kernels are (1 + d^2 / scale^2)^-2, similar to a Gaussian without its
 * exponential. The inner loop runs over the regions i, not over the summands j, so it is vectorised, and each sum is
 * added in the same order on every machine. */
FOR_EVERY_WIDTH static void add_reference(float *restrict const *sum, const float *restrict l, const float *restrict a,
                                          const float *restrict b, const float *restrict x, const float *restrict y,
                                          int32_t n, struct reference j)
{
    float *restrict border = sum[PAIR_BORDER], *restrict colour = sum[PAIR_COLOUR], *restrict near = sum[PAIR_NEAR];
    float *restrict near_mass = sum[PAIR_NEAR_MASS], *restrict like = sum[PAIR_LIKE],
                    *restrict like_x = sum[PAIR_LIKE_X];
    float *restrict like_y = sum[PAIR_LIKE_Y], *restrict like_r = sum[PAIR_LIKE_R], *restrict centre = sum[PAIR_CENTRE];
    const float radius = j.x * j.x + j.y * j.y;
    for (int32_t i = 0; i < n; i++) {
        float dl = l[i] - j.l, da = a[i] - j.a, db = b[i] - j.b, dx = x[i] - j.x, dy = y[i] - j.y;
        float d2 = dl * dl + da * da + db * db;
        float d = sqrtf(d2);
        float k = 1 / (1 + d2 * (1 / (COLOUR_SCALE * COLOUR_SCALE)));
        float s = 1 / (1 + (dx * dx + dy * dy) * (1 / (NEAR_SCALE * NEAR_SCALE)));
        k *= k;
        s *= s * j.n;
        border[i] += j.border * k;
        k *= j.n;
        colour[i] += j.n * d;
        near[i] += s * d;
        near_mass[i] += s;
        like[i] += k;
        like_x[i] += k * j.x;
        like_y[i] += k * j.y;
        like_r[i] += k * radius;
        centre[i] += k * j.centre;
    }
}

/* Adds only the colour kernel: sum[i] += weight k. */
FOR_EVERY_WIDTH static void add_similar(float *restrict sum, const float *restrict l, const float *restrict a,
                                        const float *restrict b, int32_t n, const struct region *j, float weight)
{
    const float jl = j->lab[0], ja = j->lab[1], jb = j->lab[2];
    for (int32_t i = 0; i < n; i++) {
        float dl = l[i] - jl, da = a[i] - ja, db = b[i] - jb;
        float k = 1 / (1 + (dl * dl + da * da + db * db) * (1 / (COLOUR_SCALE * COLOUR_SCALE)));
        sum[i] += weight * (k * k);
    }
}

/* Returns the stride at which regions are sampled if there are more than MAX_REFERENCES. */
static int32_t reference_stride(int32_t n)
{
    return (n + MAX_REFERENCES - 1) / MAX_REFERENCES;
}

void pairs_weigh(struct pairs *pairs, const struct scene *scene, const float *centre)
{
    const float *lab = pairs->memory + (size_t)PAIR_SUMS * (size_t)pairs->n;
    float *sum = pairs->sum[PAIR_CENTRE];
    memset(sum, 0, (size_t)pairs->n * sizeof *sum);
    pairs->centre = 0;
    for (int32_t j = 0, stride = reference_stride(pairs->n); j < pairs->n; j += stride) {
        float weight = (float)scene->regions[j].n_pixels * centre[j];
        pairs->centre += weight;
        add_similar(sum, lab, lab + pairs->n, lab + 2 * (size_t)pairs->n, pairs->n, &scene->regions[j], weight);
    }
}

enum clv_status pairs_init(struct pairs *pairs, const struct scene *scene, const float *border, const float *centre,
                           struct clv_error *err)
{
    int32_t n = scene->n_regions;
    *pairs = (struct pairs){.n = n, .memory = array_zalloc((size_t)n, (PAIR_SUMS + COORDINATES) * sizeof(float))};
    NEED(pairs->memory);
    float *at[COORDINATES];
    for (int k = 0; k < PAIR_SUMS; k++)
        pairs->sum[k] = pairs->memory + (size_t)k * (size_t)n;
    for (int k = 0; k < COORDINATES; k++)
        at[k] = pairs->memory + (size_t)(PAIR_SUMS + k) * (size_t)n;
    for (int32_t i = 0; i < n; i++) {
        const struct region *r = &scene->regions[i];
        for (int c = 0; c < 3; c++)
            at[c][i] = r->lab[c];
        at[3][i] = r->x;
        at[4][i] = r->y;
    }
    for (int32_t j = 0, stride = reference_stride(n); j < n; j += stride) {
        struct reference reference = {0};
        const struct region *r = &scene->regions[j];
        reference =
            (struct reference){r->lab[0], r->lab[1], r->lab[2], r->x, r->y, (float)r->n_pixels, border[j], centre[j]};
        pairs->border += border[j];
        pairs->mass += r->n_pixels;
        pairs->centre += (double)r->n_pixels * centre[j];
        add_reference(pairs->sum, at[0], at[1], at[2], at[3], at[4], n, reference);
    }
    return CLV_OK;
}
