#include "cli/segment/marginals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "report/probability.h"

enum clv_status marginals_find_label(int32_t *label, const struct segment *options, const struct clv_labels *labels,
                                     struct clv_error *err)
{
    int32_t found = options->label ? -1 : 1;
    if (options->label && !parse_int32(options->label, &found))
        for (int32_t k = 0; k < labels->n_labels; k++)
            if (strcmp(labels->names[k], options->label) == 0)
                found = k;
    if (found < 0 || found >= labels->n_labels)
        return fail(err, CLV_ERR_USAGE, "--label: \"%s\" is none of the model's %d labels; `cleave inspect' lists them",
                    options->label, labels->n_labels);
    *label = found;
    return CLV_OK;
}

static double node_pixels(const struct clv_problem *problem, size_t node)
{
    return problem->volume ? (double)problem->volume[node] : 1;
}

enum clv_status marginals_of_nodes(int32_t *value, struct marginals_summary *summary, const struct segment_run *run,
                                   const struct clv_problem *problem, struct clv_oracle *oracle, struct clv_error *err)
{
    size_t n = (size_t)problem->n_nodes, k = (size_t)run->model->shape.n_labels;
    double *marginals = array_alloc(n, k * sizeof *marginals), pixels = 0;
    struct marginals_summary found = {0};
    enum clv_status status = CLV_OK;
    if (!marginals)
        return fail_memory(err);
    status = clv_model_marginals(marginals, &found.bound, &found.standard_error, run->model, problem, oracle,
                                 run->options->seed, (uint32_t)run->options->n_draws, err);
    for (size_t i = 0; i < n && status == CLV_OK; i++) {
        double p = marginals[i * k + (size_t)run->label], weight = node_pixels(problem, i);
        value[i] = (int32_t)lrint(255 * p);
        found.share += weight * p;
        found.entropy += weight * probability_entropy(p);
        pixels += weight;
    }
    if (status == CLV_OK) {
        found.share /= pixels > 0 ? pixels : 1;
        found.entropy /= pixels > 0 ? pixels : 1;
        *summary = found;
    }
    array_free(marginals);
    return status;
}

enum clv_status marginals_add_json(struct segment_run *run, const char *image, const char *map,
                                   const struct marginals_summary *summary, struct clv_error *err)
{
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"share", summary->share},
                   {"entropy", summary->entropy},
                   {"log_partition_bound", summary->bound},
                   {"standard_error", summary->standard_error}};
    struct text *json = &run->json;
    text_put(json, json->size ? ",{\"image\":" : "{\"image\":");
    text_put_json(json, image);
    text_put(json, ",\"map\":");
    text_put_json(json, map);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        text_printf(json, ",\"%s\":", numbers[i].key);
        text_put_json_number(json, numbers[i].value);
    }
    text_put(json, "}");
    return json->failed ? fail_memory(err) : CLV_OK;
}

enum clv_status marginals_print_json(const struct segment_run *run, const struct segment_counts *counts,
                                     struct clv_error *err)
{
    struct text head;
    text_init(&head, JSON_MAX_SIZE);
    text_printf(&head, "{\"images\":%zu,\"failed\":%zu,\"draws\":%d,\"seed\":%llu,\"label\":", counts->n_done,
                counts->n_failed, run->options->n_draws, (unsigned long long)run->options->seed);
    text_put_json(&head, run->model->labels.names[run->label]);
    enum clv_status status = head.failed ? fail_memory(err) : CLV_OK;
    if (status == CLV_OK)
        printf("%s,\"per_image\":[%s]}\n", head.bytes, run->json.size ? run->json.bytes : "");
    text_release(&head);
    return status;
}
