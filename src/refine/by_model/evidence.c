/* Computes evidence for each label at the pixels of an image: votes of the nodes, and the deviations of network maps
 * from their means over the nodes. Start at evidence_init; evidence_refine weighs both and refines the labels. */
#include "refine/by_model/by_model.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "data/maps/maps.h"
#include "feature/blocks/blocks.h"
#include "refine/refine.h"

#define MIN_VOTE 1e-6F /* minimum vote for a pixel's present label */

void evidence_release(struct evidence *self)
{
    arrays_free(self->nodes, self->maps, self->is_open);
    *self = (struct evidence){0};
}

/* planes[2][n] = the probabilities of two labels by a map. */
static enum clv_status two_probabilities(float *planes, const struct map_grid *grid, const struct map_reader *map,
                                         int32_t index, const struct clv_model *model, size_t n, struct clv_error *err)
{
    OWNED(clv_map_release) struct clv_map margin = {0};
    MUST(map_margin(&margin, map, index, model, err));
    map_sample(planes + n, grid, margin.values);
    for (size_t p = 0; p < n; p++) {
        planes[n + p] = 1 / (1 + portable_expf(-planes[n + p]));
        planes[p] = 1 - planes[n + p];
    }
    return CLV_OK;
}

/* Turns the scores planes[n_labels][n] into probabilities. */
static void scores_to_probabilities(float *planes, size_t n_labels, bool is_probability, size_t n)
{
    for (size_t p = 0; p < n; p++) {
        float sum = 0, largest = planes[p];
        for (size_t a = 1; a < n_labels && !is_probability; a++)
            largest = fmaxf(largest, planes[a * n + p]);
        for (size_t a = 0; a < n_labels; a++) {
            float score = planes[a * n + p];
            planes[a * n + p] = is_probability ? 1 / (1 + portable_expf(-score)) : portable_expf(score - largest);
            sum += planes[a * n + p];
        }
        for (size_t a = 0; a < n_labels; a++)
            planes[a * n + p] /= sum;
    }
}

/* planes[n_labels][n] = the probability of each label by a map. Planes stay 0, as the caller has set them, if the map's
 * channels are not the labels. */
static enum clv_status label_probabilities(float *planes, const struct map_grid *grid, const struct map_reader *map,
                                           int32_t index, const struct clv_model *model, size_t n,
                                           struct clv_error *err)
{
    OWNED(map_ready_release) struct map_ready ready = {0};
    const float *channel;
    OWNED_ARRAY float *plane = NULL;
    size_t n_labels = (size_t)model->layout.n_labels;
    bool is_probability = model->recipe.maps[index].kind != CLV_MAP_FEATURES;
    MUST(map_ready_init(&ready, map, &model->recipe.maps[index], err));
    if (is_probability && (size_t)ready.n_channels != n_labels)
        return CLV_OK;
    plane = array_alloc(n, sizeof *plane);
    NEED(plane);
    for (int32_t c = 0; c < ready.n_channels; c++) {
        MUST(map_ready_channel(&channel, &ready, c, err));
        map_sample(plane, grid, channel);
        for (size_t a = is_probability ? (size_t)c : 0; a < (is_probability ? (size_t)c + 1 : n_labels); a++) {
            double weight = is_probability ? 1 : map_margin_weight(model, index, a, c);
            for (size_t p = 0; p < n; p++)
                planes[a * n + p] += (float)(weight * (double)plane[p]);
        }
    }
    scores_to_probabilities(planes, n_labels, is_probability, n);
    return CLV_OK;
}

/* Subtracts from each pixel of a plane the mean over its node. sums[n_nodes][2] is scratch. */
static void subtract_node_means(float *plane, double (*sums)[2], const struct clv_example *example,
                                const int32_t *columns)
{
    const struct clv_superpixels *nodes = &example->superpixels;
    for (int32_t i = 0; i < nodes->n; i++)
        sums[i][0] = sums[i][1] = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t y = 0; y < example->height; y++) {
            const int32_t *row =
                nodes->labels + (size_t)working_coordinate(y, example->height, nodes->height) * (size_t)nodes->width;
            float *at = plane + (size_t)y * (size_t)example->width;
            for (int32_t x = 0; x < example->width; x++) {
                double *sum = sums[row[columns[x]]];
                if (pass) {
                    at[x] = (float)((double)at[x] - sum[0] / sum[1]);
                } else {
                    sum[0] += (double)at[x];
                    sum[1]++;
                }
            }
        }
}

static enum clv_status read_map(float *plane, const struct evidence *self, const struct clv_example *example,
                                const struct map_reader *map, int32_t m, const struct clv_model *model,
                                struct clv_error *err)
{
    OWNED(map_grid_release) struct map_grid grid = {0};
    MUST(map_grid_init(&grid, map->map.width, map->map.height, example->width, example->height, err));
    return self->n_labels == 2 ? two_probabilities(plane, &grid, map, m, model, self->n, err)
                               : label_probabilities(plane, &grid, map, m, model, self->n, err);
}

/* Sets is_open of the labels that are most probable by the map at some pixel. */
static void open_labels(struct evidence *self, const float *plane)
{
    for (size_t p = 0; p < self->n; p++) {
        size_t best = refine_most_probable(plane, (size_t)self->n_labels, self->n, p);
        self->is_open[best] |= plane[best * self->n + p] > 0;
    }
}

static enum clv_status read_maps(struct evidence *self, const struct clv_example *example,
                                 const struct map_reader *maps, const struct clv_model *model, struct clv_error *err)
{
    size_t width = (size_t)example->width;
    OWNED_ARRAY int32_t *columns = array_alloc(width, sizeof *columns);
    OWNED_ARRAY double(*sums)[2] = array_alloc((size_t)example->superpixels.n, sizeof *sums);
    self->maps = array_zalloc((size_t)self->n_maps * self->plane, sizeof *self->maps);
    NEED(columns && sums && self->maps);
    for (int32_t x = 0; x < example->width; x++)
        columns[x] = working_coordinate(x, example->width, example->superpixels.width);
    for (int32_t m = 0; m < self->n_maps; m++) {
        float *plane = self->maps + (size_t)m * self->plane;
        MUST(read_map(plane, self, example, &maps[m], m, model, err));
        open_labels(self, plane);
        for (size_t at = 0; at < self->plane; at += self->n)
            subtract_node_means(plane + at, sums, example, columns);
    }
    return CLV_OK;
}

/* labels[n] = the label with the largest value at each pixel of planes[n_labels][n]. */
static void take_most_probable(uint8_t *labels, const float *planes, size_t n_labels, size_t n)
{
    for (size_t p = 0; p < n; p++)
        labels[p] = (uint8_t)refine_most_probable(planes, n_labels, n, p);
}

enum clv_status evidence_init(struct evidence *self, uint8_t *labels, const struct clv_example *example,
                              const int32_t *y, const struct map_reader *maps, const struct clv_model *model,
                              struct clv_error *err)
{
    OWNED(evidence_release) struct evidence result = {.n_labels = model->layout.n_labels,
                                                      .n_maps = model->recipe.n_maps,
                                                      .n = (size_t)example->width * (size_t)example->height};
    result.plane = result.n * (size_t)result.n_labels;
    result.nodes = array_alloc(result.plane, sizeof *result.nodes);
    result.is_open = array_zalloc((size_t)result.n_labels, 1);
    NEED(result.nodes && result.is_open);
    for (int32_t i = 0; i < example->problem.n_nodes; i++)
        result.is_open[y[i]] = 1;
    MUST(read_maps(&result, example, maps, model, err));
    MUST(clv_example_vote(labels, result.nodes, example, y, result.n_labels, err));
    *self = TAKE(result);
    return CLV_OK;
}

enum clv_status evidence_of_net(struct evidence *self, uint8_t *labels, const struct segmented *segmented,
                                struct clv_error *err)
{
    OWNED(evidence_release) struct evidence result = {
        .n_labels = segmented->net->n_classes, .n = (size_t)segmented->image->width * (size_t)segmented->image->height};
    result.plane = result.n * (size_t)result.n_labels;
    result.nodes = array_alloc(result.plane, sizeof *result.nodes);
    result.is_open = array_alloc((size_t)result.n_labels, 1);
    NEED(result.nodes && result.is_open);
    MUST(pixel_net_votes(result.nodes, segmented, err));
    memset(result.is_open, 1, (size_t)result.n_labels);
    take_most_probable(labels, result.nodes, (size_t)result.n_labels, result.n);
    *self = TAKE(result);
    return CLV_OK;
}

/* Returns the weighted sum of the votes of nodes and maps, clipped to 0..1; NULL without memory. */
static float *weigh(const struct evidence *self, const uint8_t *labels, const struct refinement *refining)
{
    float *sum = array_copy(self->nodes, self->plane, sizeof *sum);
    for (int32_t m = 0; m < self->n_maps && sum; m++) {
        const float *plane = self->maps + (size_t)m * self->plane;
        float weight = (float)refining->maps[m][0];
        for (size_t k = 0; k < self->plane; k++)
            sum[k] += weight * plane[k];
    }
    for (size_t a = 0; a < (size_t)self->n_labels && sum; a++)
        for (size_t p = 0; p < self->n; p++) {
            float *vote = &sum[a * self->n + p];
            *vote = self->is_open[a] ? fminf(fmaxf(*vote, 0), 1) : 0;
            *vote = labels[p] == a ? fmaxf(*vote, MIN_VOTE) : *vote;
        }
    return sum;
}

enum clv_status evidence_refine(uint8_t *labels, const struct evidence *self, const struct clv_image *image,
                                const struct refinement *refining, struct clv_error *err)
{
    const struct clv_refine_options *options = &refining->options;
    OWNED_ARRAY float *sum = weigh(self, labels, refining);
    NEED(sum);
    if (options->prior > 0 && options->coupling <= 0 && options->nearby <= 0 && options->overall <= 0)
        take_most_probable(labels, sum, (size_t)self->n_labels, self->n); /* equals a cut without couplings */
    else
        MUST(clv_refine_labels(labels, image, sum, self->n_labels, options, err));
    return CLV_OK;
}
