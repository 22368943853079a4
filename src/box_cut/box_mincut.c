/* Minimum cuts of the superpixels around a box, with contrast-sensitive Potts couplings and unary scores weighted by
 * area. Superpixels outside the box are fixed to background. */
#include "box_cut/box_cut.h"

#include <math.h>

#include "base/base.h"

#define CERTAIN        1e3
#define CONTRAST_WIDTH 0.5

void box_mincut_release(struct box_mincut *self)
{
    arrays_free(self->unary, self->coupling);
    clv_oracle_free(self->oracle);
    *self = (struct box_mincut){0};
}

static void fill_couplings(struct box_mincut *self, double coupling)
{
    const struct clv_adjacency *adjacency = &self->affinity->scene->adjacency;
    const struct clv_superpixels *map = &self->affinity->scene->superpixels;
    double sum = 0, length = 0, side = sqrt((double)map->width * map->height / self->affinity->n);
    for (int32_t e = 0; e < adjacency->n_edges; e++) {
        self->coupling[e] = (double)self->affinity->step[e] * self->affinity->step[e];
        sum += self->coupling[e] * adjacency->boundary_length[e];
        length += adjacency->boundary_length[e];
    }
    double mean = length > 0 && sum > 0 ? sum / length : 1;
    for (int32_t e = 0; e < adjacency->n_edges; e++)
        self->coupling[e] = coupling * adjacency->boundary_length[e] / side *
                            portable_exp(-self->coupling[e] / (2 * CONTRAST_WIDTH * mean));
}

enum clv_status box_mincut_init(struct box_mincut *self, const struct box_affinity *affinity, double coupling,
                                struct clv_error *err)
{
    OWNED(box_mincut_release) struct box_mincut result = {.affinity = affinity};
    MUST(clv_oracle_new(&result.oracle, CLV_ENGINE_DEFAULT, err));
    NEED(result.unary = array_alloc((size_t)affinity->n, sizeof(double)));
    NEED(result.coupling = array_alloc((size_t)affinity->scene->adjacency.n_edges, sizeof(double)));
    fill_couplings(&result, coupling);
    *self = TAKE(result);
    return CLV_OK;
}

enum clv_status box_mincut_solve(int32_t *foreground, struct box_mincut *self, const double *score,
                                 struct clv_error *err)
{
    const struct box_scene *scene = self->affinity->scene;
    const struct clv_field field = {
        .n_nodes = self->affinity->n,
        .n_edges = scene->adjacency.n_edges,
        .n_labels = 2,
        .form = CLV_PAIRWISE_POTTS,
        .edges = (const int32_t(*)[2])scene->adjacency.edges,
        .unary = self->unary,
        .pairwise = self->coupling,
    };
    for (int32_t i = 0; i < field.n_nodes; i++)
        self->unary[i] = scene->regions[i].is_inside ? score[i] * scene->regions[i].share * field.n_nodes : -CERTAIN;
    return clv_oracle_map(self->oracle, foreground, NULL, &field, err);
}
