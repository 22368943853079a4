/* Computes probabilities from the marginals of a model: of one label, painted as values 0..255, or of all labels, as a
 * map. Start at probabilities_find and probabilities_show. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "data/maps/maps.h"
#include "feature/blocks/blocks.h"
#include "model/model.h"
#include "report/report.h"

#define MAX_VALUE 65535 /* the largest value in a map of all labels */

enum clv_status probabilities_find_label(struct batch *run, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    const struct clv_labels *labels = &run->labels;
    int32_t found = options->label ? -1 : 1;
    if (options->label && !parse_int32(options->label, &found))
        for (int32_t k = 0; k < labels->n_labels; k++)
            if (strcmp(labels->names[k], options->label) == 0)
                found = k;
    FAIL_IF(found < 0 || found >= labels->n_labels, CLV_ERR_USAGE,
            "--label: \"%s\" is none of the model's %d labels; `cleave inspect' lists them", options->label,
            labels->n_labels);
    run->label = found;
    return CLV_OK;
}

/* Converts max-marginals to margins: the score of the best labelling in which the node has the label, minus that of the
 * best one in which it has any other label. */
static void margins_of(double *value, size_t n, size_t n_labels)
{
    for (size_t i = 0; i < n; i++) {
        double *row = value + i * n_labels, best = -INFINITY, second = -INFINITY;
        for (size_t y = 0; y < n_labels; y++) {
            second = fmax(second, fmin(row[y], best));
            best = fmax(best, row[y]);
        }
        for (size_t y = 0; y < n_labels; y++)
            row[y] -= row[y] < best ? best : second;
    }
}

enum clv_status probabilities_find(double *values, struct probability_summary *summary, const struct batch *run,
                                   const struct clv_problem *problem, struct clv_oracle *oracle, struct clv_error *err)
{
    OWNED(scored_field_release) struct clv_field field = {0};
    MUST(model_field_init(&field, run->model, problem, err));
    return probabilities_find_of_field(values, summary, run, &field, oracle, err);
}

enum clv_status probabilities_find_of_field(double *values, struct probability_summary *summary,
                                            const struct batch *run, struct clv_field *field, struct clv_oracle *oracle,
                                            struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    const struct draw_settings draws = {options->seed, (uint32_t)options->n_samples};
    const bool is_of_label = !batch_has_maps(run);
    if (options->probabilities == CLV_PROBABILITIES_MARGINS) {
        MUST(clv_oracle_max_marginals(oracle, values, NULL, field, err));
        margins_of(values, (size_t)field->n_nodes, (size_t)field->n_labels);
        return CLV_OK;
    }
    if (is_of_label)
        MUST(model_field_marginals_kind(&summary->kind, run->model, field, err));
    return model_field_marginals(values, is_of_label ? &summary->bound : NULL,
                                 is_of_label ? &summary->standard_error : NULL, run->model, field, oracle, &draws, err);
}

int32_t probability_shade(double p)
{
    return int32_within(rint(255 * p), 0, 255);
}

void probabilities_sum_up(struct probability_summary *summary, const struct batch *run, const double *marginals,
                          const float *area, int32_t n_nodes)
{
    size_t n = (size_t)n_nodes, k = (size_t)run->model->layout.n_labels;
    double pixels = 0, share = 0, entropy = 0;
    for (size_t i = 0; i < n; i++) {
        double p = marginals[i * k + (size_t)run->label], weight = area ? (double)area[i] : 1;
        share += weight * p;
        entropy += weight * probability_entropy(p);
        pixels += weight;
    }
    summary->share = share / (pixels > 0 ? pixels : 1);
    summary->entropy = entropy / (pixels > 0 ? pixels : 1);
}

static enum clv_status paint(uint8_t *shades, struct probability_summary *summary, const struct batch *run,
                             const struct clv_example *example, const double *marginals, struct clv_error *err)
{
    const struct clv_problem *problem = &example->problem;
    const size_t n = (size_t)problem->n_nodes, k = (size_t)run->model->layout.n_labels;
    OWNED_ARRAY int32_t *shade = array_alloc(n, sizeof *shade);
    NEED(shade);
    for (size_t i = 0; i < n; i++)
        shade[i] = probability_shade(marginals[i * k + (size_t)run->label]);
    probabilities_sum_up(summary, run, marginals, problem->area, problem->n_nodes);
    return clv_example_paint(shades, example, shade, err);
}

void label_map_release(struct label_map *map)
{
    arrays_free(map->values, map->margins);
    *map = (struct label_map){0};
}

double label_map_bytes(const struct batch *run, int32_t n_labels, double n_pixels)
{
    const struct clv_files_options *options = &run->options;
    double value = options->probabilities == CLV_PROBABILITIES_MARGINS ? sizeof(float) : sizeof(uint16_t);
    double side = options->side ? options->side : INFINITY, n = working_count(&run->model->recipe, n_pixels);
    return fmin(n, side * side) * (value * n_labels + 2 * sizeof(double));
}

enum clv_status label_map_write(const char *path, const struct label_map *map, int32_t n_labels, struct clv_error *err)
{
    return map->margins ? npy_write_numbers(path, map->margins, n_labels, map->height, map->width, err)
                        : npy_write_planes(path, map->values, n_labels, map->height, map->width, err);
}

size_t label_map_pixel(int32_t k, int32_t n, int32_t map_n)
{
    return (size_t)((2 * (int64_t)k + 1) * map_n / (2 * (int64_t)n));
}

void label_map_size(int32_t *map_width, int32_t *map_height, const struct batch *run, int32_t width, int32_t height)
{
    const int32_t side = run->options.side, longer = width > height ? width : height;
    const double scale = side ? fmin((double)side / longer, 1) : 1;
    *map_width = int32_within(rint(scale * width), 1, width);
    *map_height = int32_within(rint(scale * height), 1, height);
}

uint16_t label_map_value(double probability)
{
    return (uint16_t)int32_within(rint(MAX_VALUE * probability), 0, MAX_VALUE);
}

/* Sets each pixel of mean[height][width] to the mean of a label's values over the pixels of the working size inside it.
 * count[height][width] is scratch. */
static void fill(double *mean, double *count, const struct label_map *map, const struct clv_superpixels *nodes,
                 const double *values, size_t n_labels)
{
    size_t n = (size_t)map->width * (size_t)map->height;
    for (size_t p = 0; p < n; p++)
        mean[p] = count[p] = 0;
    for (int32_t y = 0; y < nodes->height; y++) {
        const int32_t *row = nodes->labels + (size_t)y * (size_t)nodes->width;
        size_t first = label_map_pixel(y, nodes->height, map->height) * (size_t)map->width;
        for (int32_t x = 0; x < nodes->width; x++) {
            size_t at = first + label_map_pixel(x, nodes->width, map->width);
            mean[at] += values[(size_t)row[x] * n_labels];
            count[at]++;
        }
    }
    for (size_t p = 0; p < n; p++)
        mean[p] /= count[p];
}

static enum clv_status make_map(struct label_map *map, const struct batch *run, const struct clv_example *example,
                                const double *values, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    const struct clv_superpixels *nodes = &example->superpixels;
    size_t n_labels = (size_t)run->model->layout.n_labels;
    OWNED(label_map_release) struct label_map result = {0};
    label_map_size(&result.width, &result.height, run, nodes->width, nodes->height);
    size_t n = (size_t)result.width * (size_t)result.height;
    OWNED_ARRAY double *scratch = array_alloc(n, 2 * sizeof *scratch);
    NEED(scratch);
    if (options->probabilities == CLV_PROBABILITIES_MARGINS)
        NEED(result.margins = array_alloc(n, n_labels * sizeof *result.margins));
    else
        NEED(result.values = array_alloc(n, n_labels * sizeof *result.values));
    for (size_t y = 0; y < n_labels; y++) {
        fill(scratch, scratch + n, &result, nodes, values + y, n_labels);
        for (size_t p = 0; p < n && result.margins; p++)
            result.margins[y * n + p] = (float)scratch[p];
        for (size_t p = 0; p < n && result.values; p++)
            result.values[y * n + p] = label_map_value(scratch[p]);
    }
    *map = TAKE(result);
    return CLV_OK;
}

enum clv_status probabilities_show(struct labelled *item, const struct batch *run, const struct clv_example *example,
                                   const double *values, struct clv_error *err)
{
    if (batch_has_maps(run))
        return make_map(&item->map, run, example, values, err);
    item->width = example->width;
    item->height = example->height;
    NEED(item->labels = array_alloc((size_t)item->width, (size_t)item->height));
    return paint(item->labels, &item->summary, run, example, values, err);
}

void probabilities_describe(char words[PROBABILITIES_WORDS], const struct batch *run)
{
    const struct clv_model *model = run->model;
    const char *learner = clv_record_get(&model->record, "learner");
    char by[64];
    snprintf(by, sizeof by, "shares of %d samples", run->options.n_samples);
    if (model->decoding.rule != CLV_DECODE_ORACLE)
        snprintf(by, sizeof by, "loopy belief propagation");
    if (model->layout.pairwise == CLV_PAIRWISE_NONE)
        snprintf(by, sizeof by, "exact, each region by itself");
    snprintf(words, PROBABILITIES_WORDS, "%s%s%s%s%s", by,
             model->layout.pairwise == CLV_PAIRWISE_NONE ? "" : "; exact where regions form no loop",
             clv_model_scores(model) == CLV_SCORES_MARGIN ? "; scores of " : "",
             clv_model_scores(model) != CLV_SCORES_MARGIN ? ""
             : learner                                    ? learner
                                                          : "a margin",
             clv_model_scores(model) == CLV_SCORES_MARGIN ? " are rescaled: what is more or less certain, not how much"
                                                          : "");
}
