/* Datasets in memory: clv_dataset_add copies a problem, dataset_take moves an example into the dataset. Start at struct
 * dataset_item in dataset.h. */
#include "feature/dataset/dataset.h"

#include <stdbool.h>

#include "base/base.h"
#include "data/data.h"
#include "mrf/problem.h"

void dataset_item_release(struct dataset_item *item)
{
    arrays_free(item->name, item->row, item->index, item->value, item->edges, item->edge_features, item->area,
                item->centroid, item->label, item->theta, item->counts, item->first_node);
    *item = (struct dataset_item){0};
}

static void file_free(struct dataset_file *file)
{
    clv_tensors_close(file->tensors);
    arrays_free(file->superpixel_offset, file->dense_row, file->dense_index, file->label, file->theta, file->area,
                file->centroid, file);
}

void clv_dataset_free(struct clv_dataset *dataset)
{
    if (!dataset)
        return;
    for (size_t i = 0; i < dataset->n; i++)
        dataset_item_release(&dataset->items[i]);
    for (size_t k = 0; k < dataset->n_files; k++)
        file_free(dataset->files[k]);
    clv_labels_release(&dataset->labels);
    dataset_paging_free(dataset->paging);
    arrays_free(dataset->files, dataset->items, dataset);
}

size_t clv_dataset_size(const struct clv_dataset *dataset)
{
    return dataset->n;
}

int32_t clv_dataset_n_labels(const struct clv_dataset *dataset)
{
    return dataset->n_labels;
}

const struct clv_labels *dataset_labels(const struct clv_dataset *dataset)
{
    return dataset->labels.n_labels ? &dataset->labels : NULL;
}

enum clv_pairwise dataset_pairwise(const struct clv_dataset *dataset)
{
    return dataset->n_edge_features > 0 ? dataset->pairwise : CLV_PAIRWISE_NONE;
}

bool dataset_counts_errors(const struct clv_dataset *dataset)
{
    return dataset->counts_errors;
}

enum clv_status dataset_graph(enum clv_graph *graph, const struct clv_dataset *dataset, struct clv_error *err)
{
    *graph = CLV_GRAPH_CHAIN;
    for (size_t i = 0; i < dataset->n && *graph != CLV_GRAPH_ANY; i++) {
        enum clv_graph own;
        MUST(problem_graph(&own, &dataset->items[i].problem, err));
        dataset_notify_access(dataset, &dataset->items[i].problem);
        *graph = own > *graph ? own : *graph;
    }
    return CLV_OK;
}

struct clv_problem clv_dataset_problem(const struct clv_dataset *dataset, size_t index)
{
    return index < dataset->n ? dataset->items[index].problem : (struct clv_problem){0};
}

const char *clv_dataset_name(const struct clv_dataset *dataset, size_t index)
{
    return index < dataset->n ? dataset->items[index].name : NULL;
}

enum clv_status clv_dataset_new(struct clv_dataset **dataset, int32_t n_labels, struct clv_error *err)
{
    *dataset = NULL;
    FAIL_IF(n_labels < 2 || n_labels > CLV_MAX_LABELS, CLV_ERR_USAGE, "%d labels; a dataset has 2 to %d", n_labels,
            CLV_MAX_LABELS);
    struct clv_dataset *result = array_zalloc(1, sizeof *result);
    NEED(result);
    result->n_labels = n_labels;
    result->pairwise = CLV_PAIRWISE_POTTS;
    *dataset = result;
    return CLV_OK;
}

/* Checks a problem. The first one sets the sizes that all later ones must have. */
static enum clv_status check_problem(const struct clv_dataset *dataset, const struct clv_problem *problem,
                                     const char *name, struct clv_error *err)
{
    bool first = dataset->n == 0;
    int32_t p = first ? problem->n_edge_features : dataset->n_edge_features;
    struct clv_weight_layout layout = {
        .n_labels = dataset->n_labels,
        .n_features = first ? problem->n_features : dataset->n_features,
        .n_edge_features = p,
        .pairwise = p > 0 ? CLV_PAIRWISE_FULL : CLV_PAIRWISE_NONE, /* allows edge features of either sign */
    };
    enum clv_status status = clv_problem_check(problem, &layout, err);
    if (!status && p < 0)
        status = fail(err, CLV_ERR_DATA, "problem has %d features per edge", p);
    if (!status && problem->n_edge_features != p)
        status = fail(err, CLV_ERR_DATA, "problem has %d features per edge, expected %d", problem->n_edge_features, p);
    return status ? fail_within(err, status, name) : CLV_OK;
}

enum clv_status dataset_append(struct clv_dataset *dataset, struct dataset_item *item, struct clv_error *err)
{
    if (array_reserve((void **)&dataset->items, &dataset->capacity, dataset->n + 1, sizeof *dataset->items))
        return fail_memory(err);
    dataset->n_features = item->problem.n_features;
    dataset->n_edge_features = item->problem.n_edge_features;
    dataset->items[dataset->n++] = *item;
    return CLV_OK;
}

static void point_to_own_arrays(struct dataset_item *item)
{
    struct clv_problem *problem = &item->problem;
    problem->row = item->row;
    problem->index = item->index;
    problem->value = item->value;
    problem->edges = (const int32_t(*)[2])item->edges;
    problem->edge_features = item->edge_features;
    problem->area = item->area;
    problem->centroid = item->centroid;
    problem->label = item->label;
    problem->theta = item->theta;
}

enum clv_status clv_dataset_add(struct clv_dataset *dataset, const struct clv_problem *problem, const char *name,
                                struct clv_error *err)
{
    FAIL_IF(dataset->n_files, CLV_ERR_USAGE, "%s: a feature file's dataset cannot grow", name);
    MUST(check_problem(dataset, problem, name, err));
    size_t n = (size_t)problem->n_nodes, m = (size_t)problem->n_edges, k = (size_t)dataset->n_labels;
    size_t p = (size_t)problem->n_edge_features, first = (size_t)problem->row[0];
    size_t n_entries = (size_t)problem->row[n] - first;
    OWNED(dataset_item_release) struct dataset_item item = {.problem = *problem};
    item.name = string_copy(name);
    item.row = array_copy(problem->row, n + 1, sizeof *item.row);
    item.index = array_copy(n_entries ? problem->index + first : NULL, n_entries, sizeof *item.index);
    item.value = array_copy(n_entries ? problem->value + first : NULL, n_entries, sizeof *item.value);
    item.edges = array_copy(problem->edges, m, sizeof *item.edges);
    item.edge_features = array_copy(problem->edge_features, m * p, sizeof *item.edge_features);
    item.area = problem->area ? array_copy(problem->area, n, sizeof *item.area) : NULL;
    item.centroid = problem->centroid ? array_copy(problem->centroid, n, 2 * sizeof *item.centroid) : NULL;
    item.label = problem->label ? array_copy(problem->label, n, sizeof *item.label) : NULL;
    item.theta = problem->theta ? array_copy(problem->theta, n * k, sizeof *item.theta) : NULL;
    if (!item.name || !item.row || !item.index || !item.value || !item.edges || !item.edge_features ||
        (problem->area && !item.area) || (problem->centroid && !item.centroid) || (problem->label && !item.label) ||
        (problem->theta && !item.theta))
        return fail_memory(err);
    for (size_t i = 0; i <= n; i++)
        item.row[i] -= (int64_t)first;
    point_to_own_arrays(&item);
    MUST(dataset_append(dataset, &item, err));
    item = (struct dataset_item){0}; /* the dataset owns its arrays now */
    return CLV_OK;
}

void dataset_replace_features(struct clv_dataset *dataset, size_t index, const struct clv_problem *problem,
                              int64_t *row, int32_t *indices, float *value, float *edge_features)
{
    struct dataset_item *item = &dataset->items[index];
    arrays_free(item->row, item->index, item->value);
    item->row = row;
    item->index = indices;
    item->value = value;
    if (edge_features) {
        array_free(item->edge_features);
        item->edge_features = edge_features;
    }
    item->problem = *problem;
    if (index == 0) {
        dataset->n_features = problem->n_features;
        dataset->n_edge_features = problem->n_edge_features;
    }
}

/* Shrinks an array to its used size. If that fails, the array remains as it is. */
static void *trimmed(void *array, size_t n, size_t size)
{
    void *moved = array ? array_realloc(array, n, size) : NULL;
    return moved ? moved : array;
}

enum clv_status dataset_take(struct clv_dataset *dataset, struct clv_example *example, const char *name,
                             struct clv_error *err)
{
    size_t n_entries = (size_t)example->row[example->problem.n_nodes];
    example->index = trimmed(example->index, n_entries, sizeof *example->index);
    example->value = trimmed(example->value, n_entries, sizeof *example->value);
    OWNED_ARRAY char *copy = string_copy(name);
    struct dataset_item item = {
        .name = copy,
        .problem = example->problem,
        .row = example->row,
        .index = example->index,
        .value = example->value,
        .edges = example->edges,
        .edge_features = example->edge_features,
        .area = example->area,
        .centroid = example->centroid,
        .label = example->label,
        .theta = example->theta,
        .counts = example->counts,
    };
    NEED(copy);
    point_to_own_arrays(&item);
    MUST(dataset_append(dataset, &item, err));
    copy = NULL; /* the dataset owns the name and the arrays now */
    example->row = NULL;
    example->index = NULL;
    example->value = NULL;
    example->edges = NULL;
    example->edge_features = NULL;
    example->area = NULL;
    example->centroid = NULL;
    example->label = NULL;
    example->theta = NULL;
    example->counts = NULL;
    return CLV_OK;
}
