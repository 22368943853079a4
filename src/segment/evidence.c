#include "segment/evidence.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/maths.h"
#include "data/maps/map_sample.h"
#include "feature/blocks/map_pool.h"
#include "feature/blocks/working.h"
#include "segment/map_margin.h"

#define LEAST_VOTE 1e-6F /* of a pixel's own label, which must have one */

void evidence_release(struct evidence *self)
{
    array_free(self->nodes);
    array_free(self->maps);
    array_free(self->is_open);
    *self = (struct evidence){0};
}

/* What is made of one map, and where. */
struct reading {
    const struct clv_model *model;
    const struct clv_map *map;
    int32_t index; /* of the recipe's maps */
    struct clv_map ready;
    struct map_grid grid;
    float *channel; /* [n] */
};

/* plane[n] += weight times a channel. */
static void add_channel(float *plane, const struct reading *self, int32_t channel, double weight, size_t n)
{
    map_sample(self->channel, &self->grid, &self->ready, channel);
    for (size_t p = 0; p < n; p++)
        plane[p] += (float)(weight * (double)self->channel[p]);
}

/* planes[2][n]: how probable each of two labels is. */
static enum clv_status say_two(float *planes, const struct reading *self, size_t n, struct clv_error *err)
{
    struct clv_map margin = {0};
    enum clv_status status = map_margin(&margin, self->map, self->index, self->model, err);
    if (status != CLV_OK)
        return status;
    map_sample(planes + n, &self->grid, &margin, 0);
    clv_map_release(&margin);
    for (size_t p = 0; p < n; p++) {
        planes[n + p] = 1 / (1 + portable_expf(-planes[n + p]));
        planes[p] = 1 - planes[n + p];
    }
    return CLV_OK;
}

/* planes[n_labels][n]: how probable each label is; nothing where a map does not tell labels apart. */
static void say_labels(float *planes, const struct reading *self, size_t n)
{
    size_t n_labels = (size_t)self->model->shape.n_labels;
    int32_t n_channels = self->ready.n_channels;
    bool is_probability = self->model->recipe.maps[self->index].kind != CLV_MAP_FEATURES;
    if (is_probability && (size_t)n_channels != n_labels)
        return;
    for (size_t a = 0; a < n_labels; a++)
        for (int32_t c = is_probability ? (int32_t)a : 0; c < (is_probability ? (int32_t)a + 1 : n_channels); c++)
            add_channel(planes + a * n, self, c, is_probability ? 1 : map_margin_weight(self->model, self->index, a, c),
                        n);
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

/* Takes the mean over its node from each pixel of a plane. sums[n_nodes][2] is scratch. */
static void leave_beyond_nodes(float *plane, double (*sums)[2], const struct clv_example *example,
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
                                const struct clv_map *map, int32_t m, const struct clv_model *model,
                                struct clv_error *err)
{
    struct reading reading = {.model = model, .map = map, .index = m};
    enum clv_status status = map_ready(&reading.ready, map, &model->recipe.maps[m], err);
    if (status == CLV_OK)
        status = map_grid_init(&reading.grid, &reading.ready, example->width, example->height, err);
    reading.channel = array_alloc(self->n, sizeof *reading.channel);
    if (status == CLV_OK && !reading.channel)
        status = fail_memory(err);
    if (status == CLV_OK && self->n_labels == 2)
        status = say_two(plane, &reading, self->n, err);
    else if (status == CLV_OK)
        say_labels(plane, &reading, self->n);
    array_free(reading.channel);
    map_grid_release(&reading.grid);
    clv_map_release(&reading.ready);
    return status;
}

/* Labels that most of a map is for at some pixel are open as well. */
static void open_labels(struct evidence *self, const float *plane)
{
    for (size_t p = 0; p < self->n; p++) {
        size_t best = 0;
        for (size_t a = 1; a < (size_t)self->n_labels; a++)
            best = plane[a * self->n + p] > plane[best * self->n + p] ? a : best;
        self->is_open[best] |= plane[best * self->n + p] > 0;
    }
}

static enum clv_status read_maps(struct evidence *self, const struct clv_example *example, const struct clv_map *maps,
                                 const struct clv_model *model, struct clv_error *err)
{
    size_t width = (size_t)example->width;
    int32_t *columns = array_alloc(width, sizeof *columns);
    double(*sums)[2] = array_alloc((size_t)example->superpixels.n, sizeof *sums);
    self->maps = array_zalloc((size_t)self->n_maps * self->plane, sizeof *self->maps);
    enum clv_status status = columns && sums && self->maps ? CLV_OK : fail_memory(err);
    for (int32_t x = 0; x < example->width && status == CLV_OK; x++)
        columns[x] = working_coordinate(x, example->width, example->superpixels.width);
    for (int32_t m = 0; m < self->n_maps && status == CLV_OK; m++) {
        float *plane = self->maps + (size_t)m * self->plane;
        status = read_map(plane, self, example, &maps[m], m, model, err);
        if (status == CLV_OK)
            open_labels(self, plane);
        for (size_t at = 0; at < self->plane && status == CLV_OK; at += self->n)
            leave_beyond_nodes(plane + at, sums, example, columns);
    }
    array_free(columns);
    array_free(sums);
    return status;
}

enum clv_status evidence_init(struct evidence *self, uint8_t *labels, const struct clv_example *example,
                              const int32_t *y, const struct clv_map *maps, const struct clv_model *model,
                              struct clv_error *err)
{
    struct evidence made = {.n_labels = model->shape.n_labels,
                            .n_maps = model->recipe.n_maps,
                            .n = (size_t)example->width * (size_t)example->height};
    made.plane = made.n * (size_t)made.n_labels;
    made.nodes = array_alloc(made.plane, sizeof *made.nodes);
    made.is_open = array_zalloc((size_t)made.n_labels, 1);
    enum clv_status status = made.nodes && made.is_open ? CLV_OK : fail_memory(err);
    for (int32_t i = 0; i < example->problem.n_nodes && status == CLV_OK; i++)
        made.is_open[y[i]] = 1;
    if (status == CLV_OK)
        status = clv_example_vote(labels, made.nodes, example, y, made.n_labels, err);
    if (status == CLV_OK)
        status = read_maps(&made, example, maps, model, err);
    if (status == CLV_OK)
        *self = made;
    else
        evidence_release(&made);
    return status;
}

/* The votes with the maps': NULL when out of memory. */
static float *weigh(const struct evidence *self, const uint8_t *labels, const struct refining *refining)
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
            *vote = labels[p] == a ? fmaxf(*vote, LEAST_VOTE) : *vote;
        }
    return sum;
}

enum clv_status evidence_refine(uint8_t *labels, const struct evidence *self, const struct clv_image *image,
                                const struct refining *refining, struct clv_error *err)
{
    float *sum = weigh(self, labels, refining);
    enum clv_status status =
        sum ? clv_refine_labels(labels, image, sum, self->n_labels, &refining->options, err) : fail_memory(err);
    array_free(sum);
    return status;
}
