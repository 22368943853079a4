/* Probabilities and margins of a raster that is larger than memory, and its labels of least expected loss. The regions
 * of all tiles are one field, as those of an image in memory, and get the same values. The probabilities of one label
 * are painted in place of labels; maps of all labels are written row by row. Start at raster_probabilities_make. */
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "batch/raster_files.h"
#include "data/maps/maps.h"
#include "model/model.h"

/* Sets the values of the cut's regions to one label's probabilities, 0..255, for the mask's file. */
static enum clv_status show_shades(struct labelled *item, const struct batch *run, struct raster_cut *cut,
                                   const double *values, int32_t n_nodes, struct clv_error *err)
{
    const size_t n = (size_t)n_nodes, n_labels = (size_t)run->model->layout.n_labels;
    OWNED_ARRAY int32_t *shade = array_alloc(n, sizeof *shade);
    OWNED_ARRAY float *area = array_alloc(n, sizeof *area);
    NEED(shade && area);
    for (size_t i = 0; i < n; i++)
        shade[i] = probability_shade(values[i * n_labels + (size_t)run->label]);
    MUST(raster_cut_areas(area, cut, err));
    probabilities_sum_up(&item->summary, run, values, area, n_nodes);
    return raster_cut_show(cut, shade, err);
}

/* The current row of a map of all labels. */
struct map_row {
    int32_t width, height; /* of the map */
    size_t n_labels;
    double *sum;   /* [n_labels][width] sums of the values of working pixels */
    double *count; /* [width] numbers of working pixels */
    void *values;  /* [n_labels][width] float or uint16_t, as written */
};

static enum clv_status map_row_init(struct map_row *self, const struct batch *run, const struct raster_cut *cut,
                                    struct clv_error *err)
{
    const size_t n_labels = self->n_labels = (size_t)run->model->layout.n_labels;
    label_map_size(&self->width, &self->height, run, cut->working_width, cut->working_height);
    NEED(self->sum = array_zalloc((size_t)self->width, n_labels * sizeof *self->sum));
    NEED(self->count = array_zalloc((size_t)self->width, sizeof *self->count));
    NEED(self->values = array_alloc((size_t)self->width, n_labels * sizeof(float)));
    return CLV_OK;
}

static void map_row_release(struct map_row *self)
{
    arrays_free(self->sum, self->count, self->values);
}

static void map_row_add(struct map_row *self, const int32_t *nodes, int32_t n_columns, const double *values)
{
    const size_t width = (size_t)self->width;
    for (int32_t x = 0; x < n_columns; x++) {
        const size_t at = label_map_pixel(x, n_columns, self->width);
        const double *of_node = values + (size_t)nodes[x] * self->n_labels;
        for (size_t y = 0; y < self->n_labels; y++)
            self->sum[y * width + at] += of_node[y];
        self->count[at]++;
    }
}

/* Computes the means of the row, and begins the next row. */
static void map_row_finish(struct map_row *self, bool are_margins)
{
    const size_t width = (size_t)self->width;
    for (size_t y = 0; y < self->n_labels; y++)
        for (size_t x = 0; x < width; x++) {
            const double mean = self->sum[y * width + x] / self->count[x];
            if (are_margins)
                ((float *)self->values)[y * width + x] = (float)mean;
            else
                ((uint16_t *)self->values)[y * width + x] = label_map_value(mean);
        }
    memset(self->sum, 0, width * self->n_labels * sizeof *self->sum);
    memset(self->count, 0, width * sizeof *self->count);
}

static enum clv_status write_map(const struct labelled *item, const struct batch *run, struct raster_cut *cut,
                                 const double *values, struct clv_error *err)
{
    const bool are_margins = run->options.probabilities == CLV_PROBABILITIES_MARGINS;
    const int32_t height = cut->working_height;
    OWNED(npy_rows_abort) struct npy_rows file = {0};
    OWNED(map_row_release) struct map_row row = {0};
    MUST(map_row_init(&row, run, cut, err));
    const int32_t shape[3] = {run->model->layout.n_labels, row.height, row.width};
    MUST(npy_rows_open(&file, item->target->mask, are_margins, shape, err));
    for (int32_t y = 0; y < height; y++) {
        const size_t at = label_map_pixel(y, height, row.height);
        const int32_t *nodes;
        FAIL_IF(stop_requested(&run->progress), CLV_ERR_INTERRUPTED, "interrupted");
        MUST(raster_cut_working_row(&nodes, cut, y, err));
        map_row_add(&row, nodes, cut->working_width, values);
        if (y + 1 < height && label_map_pixel(y + 1, height, row.height) == at)
            continue;
        map_row_finish(&row, are_margins);
        MUST(npy_rows_put(&file, row.values, (int32_t)at, err));
    }
    MUST(raster_cut_check_files(cut, err));
    return npy_rows_commit(&file, err);
}

enum clv_status raster_probabilities_make(struct labelled *item, const struct batch *run, struct raster_cut *cut,
                                          struct clv_oracle *oracle, struct clv_error *err)
{
    struct clv_field field = raster_cut_field(cut);
    OWNED_ARRAY double *values =
        array_alloc((size_t)field.n_nodes, (size_t)run->model->layout.n_labels * sizeof *values);
    NEED(values);
    MUST(probabilities_find_of_field(values, &item->summary, run, &field, oracle, err));
    return batch_has_maps(run) ? write_map(item, run, cut, values, err)
                               : show_shades(item, run, cut, values, field.n_nodes, err);
}

enum clv_status raster_decide(struct raster_cut *cut, const struct batch *run, struct clv_oracle *oracle,
                              struct clv_error *err)
{
    struct clv_field field = raster_cut_field(cut);
    struct clv_decision_options options;
    OWNED_ARRAY int32_t *y = array_alloc((size_t)field.n_nodes, sizeof *y);
    OWNED_ARRAY float *area = array_alloc((size_t)field.n_nodes, sizeof *area);
    NEED(y && area);
    clv_decision_defaults(&options, run->model);
    options.n_samples = (uint32_t)run->options.n_samples;
    options.seed = run->options.seed;
    MUST(raster_cut_areas(area, cut, err));
    MUST(model_field_decide(y, &field, area, oracle, &options, err));
    return raster_cut_show(cut, y, err);
}
