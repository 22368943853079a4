/* Similarity of the superpixels around a box: kernels of colour and position, and colour steps across their borders.
 * box_affinity_init fills them, box_affinity_measure computes shortest paths over the steps. */
#include "box_cut/box_cut.h"

#include <math.h>

#include "base/base.h"
#include "superpixel/superpixel.h"

#define LIGHTNESS        0.43f /* weight of L in the kernels' colours */
#define WIDE_COLOUR      4.0   /* the s of `wide`, in Lab */
#define NEAR_POSITION    0.48  /* standard deviation, in sides of the box; that of `position` is 1 / sqrt(8) of it */
#define ROUGHNESS        0.01f
#define STEP_FREE        4.7f /* part of each step that counts as shading, in Lab */
#define SIMILARITY_RANGE 8.0f
#define MAX_SWEEPS       30

void box_affinity_release(struct box_affinity *self)
{
    arrays_free(self->wide, self->near, self->position, self->step, self->similarity);
    *self = (struct box_affinity){0};
}

static void fill_kernels(struct box_affinity *self)
{
    const float colour_scale = (float)(-0.5 / (WIDE_COLOUR * WIDE_COLOUR));
    /* The box is 2 x 2 in the regions' coordinates; the unit of NEAR_POSITION is the geometric mean of its sides. */
    const float across = (float)(-0.125 / (NEAR_POSITION * NEAR_POSITION) / self->scene->shape);
    const float down = (float)(-0.125 / (NEAR_POSITION * NEAR_POSITION) * self->scene->shape);
    size_t n = (size_t)self->n;
    for (size_t i = 0; i < n; i++) {
        const struct box_region *a = &self->scene->regions[i];
        self->near[i * n + i] = self->wide[i * n + i] = self->position[i * n + i] = 0;
        for (size_t j = 0; j < i; j++) {
            const struct box_region *b = &self->scene->regions[j];
            float dx = a->x - b->x, dy = a->y - b->y, rough = a->roughness - b->roughness;
            float wide = portable_expf(colour_scale * lab_square_distance(a->lab, b->lab, LIGHTNESS));
            float position = portable_expf(across * dx * dx + down * dy * dy), square = position * position;
            float near = wide * wide * wide * position / (1 + ROUGHNESS * rough * rough);
            self->wide[i * n + j] = self->wide[j * n + i] = region_kernel_weight(wide);
            self->near[i * n + j] = self->near[j * n + i] = region_kernel_weight(near);
            self->position[i * n + j] = self->position[j * n + i] =
                region_kernel_weight(square * square * square * square);
        }
    }
}

enum clv_status box_affinity_init(struct box_affinity *self, const struct box_scene *scene, struct clv_error *err)
{
    size_t n = (size_t)scene->superpixels.n, m = (size_t)scene->adjacency.n_edges;
    OWNED(box_affinity_release) struct box_affinity result = {.scene = scene, .n = (int32_t)n};
    NEED(result.near = array_alloc(n * n, sizeof(float)));
    NEED(result.wide = array_alloc(n * n, sizeof(float)));
    NEED(result.position = array_alloc(n * n, sizeof(float)));
    NEED(result.step = array_alloc(m, sizeof(float)));
    NEED(result.similarity = array_alloc(m, sizeof(float)));
    for (size_t e = 0; e < m; e++) {
        const int32_t *edge = scene->adjacency.edges[e];
        result.step[e] = sqrtf(lab_square_distance(scene->regions[edge[0]].lab, scene->regions[edge[1]].lab, 1));
        result.similarity[e] = portable_expf(-result.step[e] / SIMILARITY_RANGE);
    }
    fill_kernels(&result);
    *self = TAKE(result);
    return CLV_OK;
}

/* Sweeps over the edges forwards and backwards until no distance falls. */
void box_affinity_measure(double *distance, const struct box_affinity *self, enum box_way way)
{
    const struct clv_adjacency *adjacency = &self->scene->adjacency;
    bool fell = true;
    for (int sweep = 0; sweep < MAX_SWEEPS && fell; sweep++) {
        fell = false;
        for (int32_t k = 0; k < adjacency->n_edges; k++) {
            int32_t e = sweep % 2 ? adjacency->n_edges - 1 - k : k;
            const int32_t *edge = adjacency->edges[e];
            double step = way == BOX_LARGEST_STEP ? self->step[e] : fmaxf(0, self->step[e] - STEP_FREE);
            for (int end = 0; end < 2; end++) {
                double from = distance[edge[end]], reached = way == BOX_LARGEST_STEP ? fmax(from, step) : from + step;
                if (reached < distance[edge[1 - end]]) {
                    distance[edge[1 - end]] = reached;
                    fell = true;
                }
            }
        }
    }
}
