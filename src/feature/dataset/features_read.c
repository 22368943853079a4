/* Reads a feature file into a dataset of views. All that a file contains is checked once, in one pass, before any of it
 * is handed out. Start at features_add. */
#include "feature/dataset/dataset.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "feature/blocks/blocks.h"
#include "feature/example/example.h"
#include "feature/recipe/recipe.h"
#include "mrf/problem.h"
#include "superpixel/superpixel.h"

static enum clv_status check_format(struct features_reader *self, struct clv_error *err)
{
    const char *format = clv_tensors_metadata(self->file->tensors, "format");
    if (!format || strncmp(format, FEATURES_FORMAT, strlen(FEATURES_FORMAT)) != 0)
        return fail(err, CLV_ERR_DATA, "%s: not a feature file (format \"%.60s\")", self->path, format ? format : "");
    if (strcmp(format + strlen(FEATURES_FORMAT), FEATURES_VERSION) != 0)
        return fail(err, CLV_ERR_DATA, "%s: a feature file of version \"%.60s\", this program reads version %s",
                    self->path, format + strlen(FEATURES_FORMAT), FEATURES_VERSION);
    return CLV_OK;
}

/* *any tells whether any pixel has a label; if none has, the image has no truth. */
static enum clv_status check_counts(bool *any, const float *counts, size_t n, struct clv_error *err)
{
    *any = false;
    for (size_t i = 0; i < n; i++) {
        FAIL_IF(!isfinite(counts[i]) || counts[i] < 0, CLV_ERR_DATA, "count %zu is %g", i, (double)counts[i]);
        *any |= counts[i] > 0;
    }
    return CLV_OK;
}

static enum clv_status check_superpixels(const struct dataset_file *file, size_t index, int32_t n_nodes,
                                         struct clv_error *err)
{
    struct clv_patch_grid grid = {0};
    if (file->patch_px) {
        MUST(patch_grid_init(&grid, file->size[index][2], file->size[index][3], file->patch_px, file->patch_step_px,
                             err));
        FAIL_IF(grid.n_rows * grid.n_columns != n_nodes, CLV_ERR_DATA,
                "%d nodes, not the %d x %d patches of its recipe", n_nodes, grid.n_rows, grid.n_columns);
    }
    const int32_t *superpixels = file->superpixels + file->superpixel_offset[index];
    int64_t n_pixels = file->superpixel_offset[index + 1] - file->superpixel_offset[index];
    for (int64_t i = 0; i < n_pixels; i++)
        if (superpixels[i] < 0 || superpixels[i] >= n_nodes)
            return fail(err, CLV_ERR_DATA, "pixel %lld has superpixel %d of %d", (long long)i, superpixels[i], n_nodes);
    return CLV_OK;
}

/* Computes the centroids of an image's nodes from its superpixels. */
static enum clv_status read_centroids(struct clv_problem *problem, struct features_reader *self, size_t index,
                                      struct clv_error *err)
{
    const struct dataset_file *file = self->file;
    float *centroid = file->centroid + 2 * features_node_offsets(self)[index];
    MUST(check_superpixels(file, index, problem->n_nodes, err));
    problem->centroid = centroid;
    const int32_t *size = file->size[index];
    const struct label_map map = {file->superpixels + file->superpixel_offset[index], size[2], size[3],
                                  problem->n_nodes};
    return region_centroids(centroid, &map, working_unit(&self->recipe, size[2], size[3]), err);
}

/* Makes the views of image `index`. */
static struct clv_problem view(const struct features_reader *self, size_t index)
{
    const struct features_arrays *arrays = &self->arrays;
    const struct dataset_file *file = self->file;
    int64_t first = features_node_offsets(self)[index], last = features_node_offsets(self)[index + 1];
    struct clv_problem problem = {
        .n_nodes = (int32_t)(last - first),
        .n_features = self->dataset->n_features,
        .n_edge_features = self->dataset->n_edge_features,
        .area = (arrays->area ? (const float *)arrays->area->data : file->area) + first,
    };
    if (arrays->x) {
        problem.row = file->dense_row;
        problem.index = file->dense_index;
        problem.value = (const float *)arrays->x->data + first * problem.n_features;
    } else {
        problem.row = (const int64_t *)arrays->row->data + first;
        problem.index = arrays->index->data;
        problem.value = arrays->value->data;
    }
    const int64_t *offset = arrays->edges ? arrays->edge_offset->data : NULL;
    if (offset) {
        problem.n_edges = (int32_t)(offset[index + 1] - offset[index]);
        problem.edges = (const int32_t(*)[2])arrays->edges->data + offset[index];
        problem.edge_features =
            (const float *)arrays->edge_features->data + offset[index] * self->dataset->n_edge_features;
    }
    return problem;
}

/* Fills the problem of an image and checks it. */
static enum clv_status fill_item(struct features_reader *self, struct dataset_item *item, size_t index,
                                 struct clv_error *err)
{
    struct dataset_file *file = self->file;
    int32_t n_labels = self->dataset->n_labels;
    struct clv_problem *problem = &item->problem;
    *problem = view(self, index);
    size_t first = (size_t)features_node_offsets(self)[index], n = (size_t)problem->n_nodes, k = (size_t)n_labels;
    bool known = false;
    const float *counts = self->arrays.counts ? (const float *)self->arrays.counts->data + first * k : NULL;
    if (counts)
        MUST(check_counts(&known, counts, n * k, err));
    if (known) {
        if (self->dataset->counts_errors)
            memcpy(file->theta + first * k, counts, n * k * sizeof *counts);
        else
            balanced_theta(file->theta + first * k, counts, problem->n_nodes, n_labels);
        majority_labels(file->label + first, file->theta + first * k, problem->n_nodes, n_labels);
        problem->theta = file->theta + first * k;
        problem->label = file->label + first;
    }
    struct clv_weight_layout layout = {n_labels, problem->n_features, problem->n_edge_features,
                                       problem->n_edge_features ? CLV_PAIRWISE_FULL : CLV_PAIRWISE_NONE};
    MUST(clv_problem_check(problem, &layout, err));
    if (self->arrays.superpixels)
        MUST(read_centroids(problem, self, index, err));
    return CLV_OK;
}

static enum clv_status read_item(struct features_reader *self, size_t index, const char *name, size_t length,
                                 struct clv_error *err)
{
    struct dataset_item *item = &self->dataset->items[self->dataset->n++];
    *item = (struct dataset_item){.name = array_zalloc(length + 1, 1), .file = self->file, .number = index};
    NEED(item->name);
    memcpy(item->name, name, length);
    enum clv_status status = fill_item(self, item, index, err);
    dataset_looked_at(self->dataset, &item->problem);
    if (status)
        fail_within(err, status, item->name);
    return status ? fail_within(err, status, self->path) : CLV_OK;
}

/* Reads the names of the images, one per line. */
static enum clv_status read_items(struct features_reader *self, struct clv_error *err)
{
    const char *names = clv_tensors_metadata(self->file->tensors, "names");
    FAIL_IF(!names, CLV_ERR_DATA, "%s: its metadata has no \"names\"", self->path);
    int64_t n_names = 1;
    for (const char *c = names; *c; c++)
        n_names += *c == '\n';
    FAIL_IF(n_names != self->n, CLV_ERR_DATA, "%s: %lld names for %lld images", self->path, (long long)n_names,
            (long long)self->n);
    struct clv_dataset *dataset = self->dataset;
    self->file->n = (size_t)self->n;
    NEED(!array_reserve((void **)&dataset->items, &dataset->capacity, dataset->n + self->file->n,
                        sizeof *dataset->items));
    for (int64_t i = 0; i < self->n; i++) {
        const char *end = strchrnul(names, '\n');
        MUST(read_item(self, (size_t)i, names, (size_t)(end - names), err));
        names = end + (*end != 0);
    }
    return CLV_OK;
}

static enum clv_status read_labels(struct features_reader *self, struct clv_error *err)
{
    struct clv_dataset *dataset = self->dataset;
    const struct clv_tensors *tensors = self->file->tensors;
    OWNED(clv_labels_release) struct clv_labels labels = {0};
    const char *json = clv_tensors_metadata(tensors, "labels");
    MUST(features_number(&dataset->n_labels, self, "n_labels", 2, CLV_MAX_LABELS, err));
    if (!json)
        return CLV_OK;
    MUST(labels_parse(&labels, json, tensors, self->path, err));
    FAIL_IF(labels.n_labels != dataset->n_labels, CLV_ERR_DATA, "%s: n_labels is %d, there are names for %d",
            self->path, dataset->n_labels, labels.n_labels);
    if (!dataset->labels.n_labels)
        dataset->labels = TAKE(labels);
    return CLV_OK;
}

/* Reads an entry of the metadata that is one of two words. *which is true for the second; a missing entry is the
 * first. */
static enum clv_status get_word(bool *which, const struct features_reader *self, const char *key,
                                const char *const words[2], struct clv_error *err)
{
    const char *text = clv_tensors_metadata(self->file->tensors, key);
    *which = text && strcmp(text, words[1]) == 0;
    FAIL_IF(text && !*which && strcmp(text, words[0]) != 0, CLV_ERR_DATA,
            "%s: %s is \"%.60s\", must be \"%s\" or \"%s\"", self->path, key, text, words[0], words[1]);
    return CLV_OK;
}

/* Reads what edges and counts are meant for. */
static enum clv_status read_meaning(struct features_reader *self, struct clv_error *err)
{
    bool is_full;
    MUST(get_word(&is_full, self, "pairwise", (const char *const[]){"potts", "full"}, err));
    self->dataset->pairwise = is_full ? CLV_PAIRWISE_FULL : CLV_PAIRWISE_POTTS;
    return get_word(&self->dataset->counts_errors, self, "loss", (const char *const[]){"balanced", "counts"}, err);
}

static enum clv_status read_recipe(struct features_reader *self, struct clv_error *err)
{
    const struct clv_tensors *tensors = self->file->tensors;
    const char *json = clv_tensors_metadata(tensors, "recipe");
    if (!json || strcmp(json, "none") == 0)
        return CLV_OK;
    MUST(recipe_read(&self->recipe, json, tensors, self->path, err));
    self->has_recipe = true;
    if (self->recipe.nodes == CLV_NODES_PATCHES) {
        self->file->patch_px = self->recipe.patch_px;
        self->file->patch_step_px = self->recipe.patch_step_px;
    }
    int32_t n_features = clv_recipe_n_features(&self->recipe);
    int32_t n_edge_features = clv_recipe_n_edge_features(&self->recipe);
    FAIL_IF(self->dataset->n_features != n_features, CLV_ERR_DATA, "%s: n_features is %d, its recipe makes %d",
            self->path, self->dataset->n_features, n_features);
    FAIL_IF(self->dataset->n_edge_features != n_edge_features, CLV_ERR_DATA,
            "%s: %d features an edge, its recipe makes %d", self->path, self->dataset->n_edge_features,
            n_edge_features);
    return CLV_OK;
}

static void reading_release(struct features_reader *self)
{
    clv_recipe_release(&self->recipe);
}

/* Gives the dataset a file, which becomes its last. */
static enum clv_status append_file(struct clv_dataset *dataset, struct clv_tensors *tensors, struct clv_error *err)
{
    OWNED(tensors_drop) struct clv_tensors *held = tensors;
    if (!dataset->paging)
        MUST(dataset_paging_new(&dataset->paging, err));
    NEED(!array_reserve((void **)&dataset->files, &dataset->files_capacity, dataset->n_files + 1,
                        sizeof(struct dataset_file *)));
    struct dataset_file *file = array_zalloc(1, sizeof *file);
    NEED(file);
    file->tensors = TAKE(held);
    dataset->files[dataset->n_files++] = file;
    return CLV_OK;
}

enum clv_status features_add(struct clv_dataset **dataset, struct clv_recipe *recipe, struct clv_tensors *tensors,
                             const char *path, struct clv_error *err)
{
    static enum clv_status (*const steps[])(struct features_reader *, struct clv_error *) = {
        check_format, read_labels, read_meaning, features_arrays_read, read_recipe, read_items};
    OWNED(tensors_drop) struct clv_tensors *held = tensors;
    if (!*dataset)
        *dataset = array_zalloc(1, sizeof **dataset);
    NEED(*dataset);
    MUST(append_file(*dataset, TAKE(held), err));
    OWNED(reading_release)
    struct features_reader self = {
        .path = path, .dataset = *dataset, .file = (*dataset)->files[(*dataset)->n_files - 1]};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        MUST(steps[i](&self, err));
    if (recipe && self.has_recipe)
        *recipe = TAKE(self.recipe);
    return CLV_OK;
}

/* Nodes without superpixels are drawn as the pixels of one row. */
static enum clv_status row_of_nodes(struct clv_example *example, const struct clv_problem *problem,
                                    struct clv_error *err)
{
    int32_t n = problem->n_nodes;
    int32_t *labels = array_alloc((size_t)n, sizeof *labels);
    NEED(labels);
    for (int32_t i = 0; i < n; i++)
        labels[i] = i;
    *example = (struct clv_example){.problem = *problem,
                                    .superpixels = {.width = n, .height = 1, .n = n, .labels = labels},
                                    .width = n,
                                    .height = 1};
    return CLV_OK;
}

enum clv_status dataset_example(struct clv_example *example, const struct clv_dataset *dataset, size_t index,
                                struct clv_error *err)
{
    FAIL_IF(index >= dataset->n, CLV_ERR_USAGE, "there is no item %zu of %zu", index, dataset->n);
    const struct dataset_item *item = &dataset->items[index];
    const struct dataset_file *file = item->file;
    dataset_looked_at(dataset, &item->problem); /* soon */
    if (!file || !file->superpixels)
        return row_of_nodes(example, &item->problem, err);
    const int32_t *size = file->size[item->number];
    size_t pixels = (size_t)size[2] * (size_t)size[3];
    struct clv_example result = {
        .problem = item->problem,
        .superpixels = {.width = size[2], .height = size[3], .n = item->problem.n_nodes},
        .width = size[0],
        .height = size[1],
    };
    if (file->patch_px)
        MUST(patch_grid_init(&result.grid, size[2], size[3], file->patch_px, file->patch_step_px, err));
    result.superpixels.labels = array_copy(file->superpixels + file->superpixel_offset[item->number], pixels,
                                           sizeof *result.superpixels.labels);
    NEED(result.superpixels.labels);
    *example = result;
    return CLV_OK;
}
