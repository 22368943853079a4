/* Probabilities of one label or of all, by marginals of the model: a grey image, a map file, a line of JSON. Start at
 * marginals_paint. */
#include "cli/segment/segment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "data/maps/maps.h"
#include "report/report.h"

#define LARGEST_VALUE 65535 /* of a map of all labels */
#define LARGEST_SIDE  1024  /* that a map without --side is taken to have, for its memory */

enum clv_status marginals_find_label(int32_t *label, const struct segment *options, const struct clv_labels *labels,
                                     struct clv_error *err)
{
    int32_t found = options->label ? -1 : 1;
    if (options->label && !parse_int32(options->label, &found))
        for (int32_t k = 0; k < labels->n_labels; k++)
            if (strcmp(labels->names[k], options->label) == 0)
                found = k;
    FAIL_IF(found < 0 || found >= labels->n_labels, CLV_ERR_USAGE,
            "--label: \"%s\" is none of the model's %d labels; `cleave inspect' lists them", options->label,
            labels->n_labels);
    *label = found;
    return CLV_OK;
}

static double node_pixels(const struct clv_problem *problem, size_t node)
{
    return problem->volume ? (double)problem->volume[node] : 1;
}

static enum clv_status find_values(int32_t *value, struct marginals_summary *summary, const struct segment_run *run,
                                   const struct clv_problem *problem, struct clv_oracle *oracle, struct clv_error *err)
{
    size_t n = (size_t)problem->n_nodes, k = (size_t)run->model->shape.n_labels;
    OWNED_ARRAY double *marginals = array_alloc(n, k * sizeof *marginals);
    double pixels = 0;
    struct marginals_summary found = {0};
    NEED(marginals);
    MUST(clv_model_marginals_kind(&found.kind, run->model, problem, err));
    MUST(clv_model_marginals(marginals, &found.bound, &found.standard_error, run->model, problem, oracle,
                             run->options->seed, (uint32_t)run->options->n_samples, err));
    for (size_t i = 0; i < n; i++) {
        double p = marginals[i * k + (size_t)run->label], weight = node_pixels(problem, i);
        value[i] = int32_within(rint(255 * p), 0, 255);
        found.share += weight * p;
        found.entropy += weight * probability_entropy(p);
        pixels += weight;
    }
    found.share /= pixels > 0 ? pixels : 1;
    found.entropy /= pixels > 0 ? pixels : 1;
    *summary = found;
    return CLV_OK;
}

enum clv_status marginals_paint(uint8_t *values, struct marginals_summary *summary, const struct segment_run *run,
                                const struct clv_example *example, struct clv_oracle *oracle, struct clv_error *err)
{
    OWNED_ARRAY int32_t *value = array_alloc((size_t)example->problem.n_nodes, sizeof *value);
    NEED(value);
    MUST(find_values(value, summary, run, &example->problem, oracle, err));
    return clv_example_paint(values, example, value, err);
}

void marginals_map_release(struct marginals_map *map)
{
    arrays_free(map->values, map->margins);
    *map = (struct marginals_map){0};
}

double marginals_map_bytes(const struct segment *options, int32_t n_labels)
{
    double value = options->margins ? sizeof(float) : sizeof(uint16_t);
    double side = options->side ? options->side : LARGEST_SIDE;
    return side * side * (value * n_labels + 2 * sizeof(double));
}

enum clv_status marginals_map_write(const char *path, const struct marginals_map *map, int32_t n_labels,
                                    struct clv_error *err)
{
    return map->margins ? npy_write_numbers(path, map->margins, n_labels, map->height, map->width, err)
                        : npy_write_planes(path, map->values, n_labels, map->height, map->width, err);
}

/* The map's pixel that the centre of pixel k of n is in. */
static size_t within(int32_t k, int32_t n, int32_t map_n)
{
    return (size_t)((2 * (int64_t)k + 1) * map_n / (2 * (int64_t)n));
}

/* mean[height][width] of a label's values of nodes; count is scratch of that size. */
static void fill(double *mean, double *count, const struct marginals_map *map, const struct clv_superpixels *nodes,
                 const double *values, size_t n_labels)
{
    size_t n = (size_t)map->width * (size_t)map->height;
    for (size_t p = 0; p < n; p++)
        mean[p] = count[p] = 0;
    for (int32_t y = 0; y < nodes->height; y++) {
        const int32_t *row = nodes->labels + (size_t)y * (size_t)nodes->width;
        size_t first = within(y, nodes->height, map->height) * (size_t)map->width;
        for (int32_t x = 0; x < nodes->width; x++) {
            size_t at = first + within(x, nodes->width, map->width);
            mean[at] += values[(size_t)row[x] * n_labels];
            count[at]++;
        }
    }
    for (size_t p = 0; p < n; p++)
        mean[p] /= count[p];
}

/* How much better a node's best labelling with a label is than that with any other one: from max-marginals. */
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

enum clv_status marginals_map_make(struct marginals_map *map, const struct segment_run *run,
                                   const struct clv_example *example, struct clv_oracle *oracle, struct clv_error *err)
{
    const struct segment *options = run->options;
    const struct clv_superpixels *nodes = &example->superpixels;
    size_t n_labels = (size_t)run->model->shape.n_labels, n_nodes = (size_t)example->problem.n_nodes;
    int32_t longer = nodes->width > nodes->height ? nodes->width : nodes->height;
    double scale = options->side ? fmin((double)options->side / longer, 1) : 1;
    OWNED(marginals_map_release)
    struct marginals_map result = {.width = int32_within(rint(scale * nodes->width), 1, nodes->width),
                                   .height = int32_within(rint(scale * nodes->height), 1, nodes->height)};
    size_t n = (size_t)result.width * (size_t)result.height;
    OWNED_ARRAY double *values = array_alloc(n_nodes, n_labels * sizeof *values);
    OWNED_ARRAY double *scratch = array_alloc(n, 2 * sizeof *scratch);
    NEED(values && scratch);
    if (options->margins) {
        NEED(result.margins = array_alloc(n, n_labels * sizeof *result.margins));
        MUST(clv_model_max_marginals(values, NULL, run->model, &example->problem, oracle, err));
        margins_of(values, n_nodes, n_labels);
    } else {
        NEED(result.values = array_alloc(n, n_labels * sizeof *result.values));
        MUST(clv_model_marginals(values, NULL, NULL, run->model, &example->problem, oracle, options->seed,
                                 (uint32_t)options->n_samples, err));
    }
    for (size_t y = 0; y < n_labels; y++) {
        fill(scratch, scratch + n, &result, nodes, values + y, n_labels);
        for (size_t p = 0; p < n && options->margins; p++)
            result.margins[y * n + p] = (float)scratch[p];
        for (size_t p = 0; p < n && !options->margins; p++)
            result.values[y * n + p] = (uint16_t)int32_within(rint(LARGEST_VALUE * scratch[p]), 0, LARGEST_VALUE);
    }
    *map = TAKE(result);
    return CLV_OK;
}

void marginals_describe(char words[MARGINALS_WORDS], const struct segment_run *run)
{
    const struct clv_model *model = run->model;
    const char *learner = clv_record_get(&model->record, "learner");
    char by[64];
    snprintf(by, sizeof by, "shares of %d samples", run->options->n_samples);
    if (model->decoding.rule != CLV_DECODE_ORACLE)
        snprintf(by, sizeof by, "loopy belief propagation");
    if (model->shape.pairwise == CLV_PAIRWISE_NONE)
        snprintf(by, sizeof by, "exact, each region by itself");
    snprintf(words, MARGINALS_WORDS, "%s%s%s%s%s", by,
             model->shape.pairwise == CLV_PAIRWISE_NONE ? "" : "; exact where regions form no loop",
             clv_model_scores(model) == CLV_SCORES_MARGIN ? "; scores of " : "",
             clv_model_scores(model) != CLV_SCORES_MARGIN ? ""
             : learner                                    ? learner
                                                          : "a margin",
             clv_model_scores(model) == CLV_SCORES_MARGIN ? " are rescaled: what is more or less certain, not how much"
                                                          : "");
}

enum clv_status marginals_add_json(struct segment_run *run, const char *image, const char *map,
                                   const struct marginals_summary *summary, struct clv_error *err)
{
    const struct value numbers[] = {{"share", summary->share},
                                    {"entropy", summary->entropy},
                                    {"log_partition_bound", summary->bound},
                                    {"standard_error", summary->standard_error}};
    struct text *json = &run->json;
    text_put(json, json->size ? ",{\"image\":" : "{\"image\":");
    text_put_json(json, image);
    json_put_string(json, "map", map);
    json_put_string(json, "method", clv_marginals_name(summary->kind));
    json_put_values(json, numbers, sizeof numbers / sizeof *numbers);
    text_put(json, "}");
    return json->failed ? fail_memory(err) : CLV_OK;
}

enum clv_status marginals_print_json(const struct segment_run *run, const struct segment_counts *counts,
                                     struct clv_error *err)
{
    struct text head;
    text_init(&head, JSON_MAX_SIZE);
    text_printf(&head, "{\"images\":%zu,\"failed\":%zu,\"samples\":%d,\"seed\":%llu", counts->n_done, counts->n_failed,
                run->options->n_samples, (unsigned long long)run->options->seed);
    json_put_string(&head, "scores", clv_scores_name(clv_model_scores(run->model)));
    json_put_string(&head, "label", run->model->labels.names[run->label]);
    enum clv_status status = head.failed ? fail_memory(err) : CLV_OK;
    if (status == CLV_OK)
        printf("%s,\"per_image\":[%s]}\n", head.bytes, run->json.size ? run->json.bytes : "");
    text_release(&head);
    return status;
}
