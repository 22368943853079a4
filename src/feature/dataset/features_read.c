/* Opening feature files as datasets of views. What a file says is checked once, in one pass, before any of it is handed
 * out. */
#include "feature/dataset/features_read.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "data/labels_file.h"
#include "feature/dataset/dataset.h"
#include "feature/dataset/features_format.h"
#include "feature/example/truth.h"
#include "feature/recipe/recipe_file.h"

/* The tensors of an open file; NULL where it has none. */
struct arrays {
    const struct clv_tensor *node_offset, *edge_offset, *row, *index, *value, *x, *edges, *edge_features, *counts,
        *volume, *size, *superpixels;
};

struct reading {
    const char *path;
    struct clv_dataset *dataset;
    struct arrays arrays;
    struct clv_recipe recipe;
    bool has_recipe;
    int64_t n, n_nodes, n_edges; /* images, and nodes and edges of all of them */
};

static const int64_t *node_offsets(const struct reading *self)
{
    return self->arrays.node_offset->data;
}

static enum clv_status check_format(struct reading *self, struct clv_error *err)
{
    const char *format = clv_tensors_metadata(self->dataset->file.tensors, "format");
    if (!format || strncmp(format, FEATURES_FORMAT, strlen(FEATURES_FORMAT)) != 0)
        return fail(err, CLV_ERR_DATA, "%s: not a feature file (format \"%.60s\")", self->path, format ? format : "");
    if (strcmp(format + strlen(FEATURES_FORMAT), FEATURES_VERSION) != 0)
        return fail(err, CLV_ERR_DATA, "%s: a feature file of version \"%.60s\", this program reads version %s",
                    self->path, format + strlen(FEATURES_FORMAT), FEATURES_VERSION);
    return CLV_OK;
}

/* A whole number of the metadata; absent ones are left alone if that is allowed. */
static enum clv_status get_number(int32_t *number, const struct reading *self, const char *key, int32_t low,
                                  int32_t high, bool required, struct clv_error *err)
{
    const char *text = clv_tensors_metadata(self->dataset->file.tensors, key);
    int32_t parsed;
    if (!text)
        return required ? fail(err, CLV_ERR_DATA, "%s: its metadata has no \"%s\"", self->path, key) : CLV_OK;
    if (!parse_int32(text, &parsed) || parsed < low || parsed > high)
        return fail(err, CLV_ERR_DATA, "%s: %s is \"%.60s\", must be %d to %d", self->path, key, text, low, high);
    *number = parsed;
    return CLV_OK;
}

/* Only tensors of the format, so that a misspelt one is not passed over; and those that need each other. */
static enum clv_status find_arrays(struct reading *self, struct clv_error *err)
{
    struct arrays *arrays = &self->arrays;
    const struct {
        const char *name;
        const struct clv_tensor **place;
    } known[] = {
        {"node_offset", &arrays->node_offset},
        {"edge_offset", &arrays->edge_offset},
        {"row", &arrays->row},
        {"index", &arrays->index},
        {"value", &arrays->value},
        {"x", &arrays->x},
        {"edges", &arrays->edges},
        {"edge_features", &arrays->edge_features},
        {"counts", &arrays->counts},
        {"volume", &arrays->volume},
        {"size", &arrays->size},
        {"superpixels", &arrays->superpixels},
        {"palette", NULL},
        {RECIPE_KEPT, NULL},
    };
    const struct clv_tensors *tensors = self->dataset->file.tensors;
    for (size_t i = 0; i < clv_tensors_count(tensors); i++) {
        const struct clv_tensor *tensor = clv_tensors_at(tensors, i);
        size_t k = 0;
        while (k < sizeof known / sizeof *known && strcmp(known[k].name, tensor->name) != 0)
            k++;
        if (k == sizeof known / sizeof *known) {
            if (strncmp(tensor->name, RECIPE_CODEBOOK_PREFIX, strlen(RECIPE_CODEBOOK_PREFIX)) != 0)
                return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\" does not belong in a feature file", self->path,
                            tensor->name);
        } else if (known[k].place) {
            *known[k].place = tensor;
        }
    }
    if (arrays->x && (arrays->row || arrays->index || arrays->value))
        return fail(err, CLV_ERR_DATA, "%s: has dense features (x) and sparse ones (row, index, value)", self->path);
    if (!arrays->edges && (arrays->edge_features || arrays->edge_offset))
        return fail(err, CLV_ERR_DATA, "%s: tensor \"edges\" is missing", self->path);
    if (!arrays->size != !arrays->superpixels)
        return fail(err, CLV_ERR_DATA, "%s: tensor \"%s\" is missing", self->path,
                    arrays->size ? "superpixels" : "size");
    return CLV_OK;
}

static enum clv_status require(const struct clv_tensor **tensor, const struct reading *self, const char *name,
                               enum clv_dtype dtype, int32_t n_dimensions, int64_t rows, int64_t columns,
                               struct clv_error *err)
{
    return clv_tensors_require(tensor, self->dataset->file.tensors, name, dtype, n_dimensions,
                               (int64_t[]){rows, columns}, err);
}

/* offset[n + 1] begins at 0 and grows by `least` to INT32_MAX an image; *total is its end. */
static enum clv_status check_offsets(int64_t *total, const struct reading *self, const struct clv_tensor *tensor,
                                     int64_t least, struct clv_error *err)
{
    const int64_t *offset = tensor->data;
    if (offset[0] != 0)
        return fail(err, CLV_ERR_DATA, "%s: %s begins with %lld, not 0", self->path, tensor->name,
                    (long long)offset[0]);
    for (int64_t i = 0; i < self->n; i++) {
        int64_t grown;
        if (__builtin_sub_overflow(offset[i + 1], offset[i], &grown) || grown < least || grown > INT32_MAX)
            return fail(err, CLV_ERR_DATA, "%s: %s goes from %lld to %lld at image %lld", self->path, tensor->name,
                        (long long)offset[i], (long long)offset[i + 1], (long long)i);
    }
    *total = offset[self->n];
    return CLV_OK;
}

static enum clv_status read_offsets(struct reading *self, struct clv_error *err)
{
    struct arrays *arrays = &self->arrays;
    enum clv_status status = require(&arrays->node_offset, self, "node_offset", CLV_I64, 1, -1, 0, err);
    if (status != CLV_OK)
        return status;
    self->n = arrays->node_offset->shape[0] - 1;
    if (self->n < 1)
        return fail(err, CLV_ERR_DATA, "%s: has no images", self->path);
    status = check_offsets(&self->n_nodes, self, arrays->node_offset, 1, err);
    if (status != CLV_OK || !arrays->edges)
        return status;
    status = require(&arrays->edge_offset, self, "edge_offset", CLV_I64, 1, self->n + 1, 0, err);
    return status == CLV_OK ? check_offsets(&self->n_edges, self, arrays->edge_offset, 0, err) : status;
}

/* Sparse rows must lie in order within index and value before any is looked at. */
static enum clv_status read_sparse(struct reading *self, struct clv_error *err)
{
    struct arrays *arrays = &self->arrays;
    enum clv_status status = require(&arrays->row, self, "row", CLV_I64, 1, self->n_nodes + 1, 0, err);
    if (status == CLV_OK)
        status = require(&arrays->index, self, "index", CLV_I32, 1, -1, 0, err);
    if (status == CLV_OK)
        status = require(&arrays->value, self, "value", CLV_F32, 1, arrays->index->shape[0], 0, err);
    if (status == CLV_OK)
        status = get_number(&self->dataset->n_features, self, "n_features", 1, INT32_MAX, true, err);
    if (status != CLV_OK)
        return status;
    const int64_t *row = arrays->row->data, n_entries = arrays->index->shape[0];
    if (row[0] != 0 || row[self->n_nodes] != n_entries)
        return fail(err, CLV_ERR_DATA, "%s: row runs from %lld to %lld, must be 0 to %lld", self->path,
                    (long long)row[0], (long long)row[self->n_nodes], (long long)n_entries);
    for (int64_t i = 0; i < self->n_nodes; i++)
        if (row[i + 1] < row[i])
            return fail(err, CLV_ERR_DATA, "%s: row goes back from %lld to %lld at node %lld", self->path,
                        (long long)row[i], (long long)row[i + 1], (long long)i);
    return CLV_OK;
}

/* Dense features are rows that are full: every image shares one list of row ends and one of indices. */
static enum clv_status read_dense(struct reading *self, struct clv_error *err)
{
    struct dataset_file *file = &self->dataset->file;
    enum clv_status status = require(&self->arrays.x, self, "x", CLV_F32, 2, self->n_nodes, -1, err);
    if (status != CLV_OK)
        return status;
    int64_t d = self->arrays.x->shape[1], most = 0;
    if (d < 1 || d > INT32_MAX)
        return fail(err, CLV_ERR_DATA, "%s: x has %lld features a node", self->path, (long long)d);
    self->dataset->n_features = (int32_t)d;
    status = get_number(&self->dataset->n_features, self, "n_features", (int32_t)d, (int32_t)d, false, err);
    if (status != CLV_OK)
        return status;
    for (int64_t i = 0; i < self->n; i++) {
        int64_t nodes = node_offsets(self)[i + 1] - node_offsets(self)[i];
        most = nodes > most ? nodes : most;
    }
    file->dense_row = array_alloc((size_t)most + 1, sizeof *file->dense_row);
    file->dense_index = array_alloc((size_t)(most * d), sizeof *file->dense_index); /* both below 2^31 */
    if (!file->dense_row || !file->dense_index)
        return fail_memory(err);
    for (int64_t i = 0; i <= most; i++)
        file->dense_row[i] = i * d;
    for (int64_t i = 0; i < most; i++)
        for (int64_t k = 0; k < d; k++)
            file->dense_index[i * d + k] = (int32_t)k;
    return CLV_OK;
}

static enum clv_status read_features(struct reading *self, struct clv_error *err)
{
    return self->arrays.x ? read_dense(self, err) : read_sparse(self, err);
}

static enum clv_status read_edges(struct reading *self, struct clv_error *err)
{
    struct arrays *arrays = &self->arrays;
    if (!arrays->edges)
        return CLV_OK;
    enum clv_status status = require(&arrays->edges, self, "edges", CLV_I32, 2, self->n_edges, 2, err);
    if (status == CLV_OK)
        status = require(&arrays->edge_features, self, "edge_features", CLV_F32, 2, self->n_edges, -1, err);
    if (status != CLV_OK)
        return status;
    int64_t p = arrays->edge_features->shape[1];
    if (p < 1 || p > INT32_MAX)
        return fail(err, CLV_ERR_DATA, "%s: edge_features has %lld features an edge", self->path, (long long)p);
    self->dataset->n_edge_features = (int32_t)p;
    return CLV_OK;
}

/* theta and labels from counts, volumes of 1 where the file has none. */
static enum clv_status read_truth(struct reading *self, struct clv_error *err)
{
    struct arrays *arrays = &self->arrays;
    struct dataset_file *file = &self->dataset->file;
    size_t n = (size_t)self->n_nodes, k = (size_t)self->dataset->n_labels;
    enum clv_status status = CLV_OK;
    if (arrays->counts)
        status = require(&arrays->counts, self, "counts", CLV_F32, 2, self->n_nodes, (int64_t)k, err);
    if (status == CLV_OK && arrays->volume)
        status = require(&arrays->volume, self, "volume", CLV_F32, 1, self->n_nodes, 0, err);
    if (status != CLV_OK)
        return status;
    if (arrays->counts) {
        file->counts = arrays->counts->data;
        file->label = array_alloc(n, sizeof *file->label);
        file->theta = array_alloc(n * k, sizeof *file->theta);
    }
    if (!arrays->volume)
        file->volume = array_alloc(n, sizeof *file->volume);
    if ((arrays->counts && (!file->label || !file->theta)) || (!arrays->volume && !file->volume))
        return fail_memory(err);
    for (size_t i = 0; !arrays->volume && i < n; i++)
        file->volume[i] = 1;
    return CLV_OK;
}

static enum clv_status read_superpixels(struct reading *self, struct clv_error *err)
{
    struct arrays *arrays = &self->arrays;
    struct dataset_file *file = &self->dataset->file;
    if (!arrays->size)
        return CLV_OK;
    enum clv_status status = require(&arrays->size, self, "size", CLV_I32, 2, self->n, 4, err);
    if (status == CLV_OK)
        status = require(&arrays->superpixels, self, "superpixels", CLV_I32, 1, -1, 0, err);
    if (status != CLV_OK)
        return status;
    file->size = arrays->size->data;
    file->superpixels = arrays->superpixels->data;
    file->superpixel_offset = array_zalloc((size_t)self->n + 1, sizeof *file->superpixel_offset);
    if (!file->superpixel_offset)
        return fail_memory(err);
    int64_t total = 0, there = arrays->superpixels->shape[0];
    for (int64_t i = 0; i < self->n; i++) {
        const int32_t *size = file->size[i];
        if (size[0] < 1 || size[1] < 1 || size[2] < 1 || size[3] < 1 || size[2] > size[0] || size[3] > size[1])
            return fail(err, CLV_ERR_DATA, "%s: image %lld has the size %dx%d and the working size %dx%d", self->path,
                        (long long)i, size[0], size[1], size[2], size[3]);
        int64_t pixels = (int64_t)size[2] * size[3];
        if (pixels > there - total)
            return fail(err, CLV_ERR_DATA, "%s: superpixels end at %lld, inside image %lld", self->path,
                        (long long)there, (long long)i);
        file->superpixel_offset[i + 1] = total += pixels;
    }
    if (total != there)
        return fail(err, CLV_ERR_DATA, "%s: %lld superpixels too many", self->path, (long long)(there - total));
    return CLV_OK;
}

/* *any: whether any pixel counts; without one, the image has no truth. */
static enum clv_status check_counts(bool *any, const float *counts, size_t n, struct clv_error *err)
{
    *any = false;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(counts[i]) || counts[i] < 0)
            return fail(err, CLV_ERR_DATA, "count %zu is %g", i, (double)counts[i]);
        *any |= counts[i] > 0;
    }
    return CLV_OK;
}

static enum clv_status check_superpixels(const struct dataset_file *file, size_t index, int32_t n_nodes,
                                         struct clv_error *err)
{
    struct clv_patch_grid grid = {0};
    if (!file->superpixels)
        return CLV_OK;
    if (file->patch_px) {
        enum clv_status status = clv_patch_grid_init(&grid, file->size[index][2], file->size[index][3], file->patch_px,
                                                     file->patch_step_px, err);
        if (status != CLV_OK)
            return status;
        if (grid.n_rows * grid.n_columns != n_nodes)
            return fail(err, CLV_ERR_DATA, "%d nodes, not the %d x %d patches of its recipe", n_nodes, grid.n_rows,
                        grid.n_columns);
    }
    for (int64_t i = file->superpixel_offset[index]; i < file->superpixel_offset[index + 1]; i++)
        if (file->superpixels[i] < 0 || file->superpixels[i] >= n_nodes)
            return fail(err, CLV_ERR_DATA, "pixel %lld has superpixel %d of %d",
                        (long long)(i - file->superpixel_offset[index]), file->superpixels[i], n_nodes);
    return CLV_OK;
}

/* The views of image `index`. */
static struct clv_problem view(const struct reading *self, size_t index)
{
    const struct arrays *arrays = &self->arrays;
    const struct dataset_file *file = &self->dataset->file;
    int64_t first = node_offsets(self)[index], last = node_offsets(self)[index + 1];
    struct clv_problem problem = {
        .n_nodes = (int32_t)(last - first),
        .n_features = self->dataset->n_features,
        .n_edge_features = self->dataset->n_edge_features,
        .volume = (arrays->volume ? (const float *)arrays->volume->data : file->volume) + first,
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
    if (arrays->edges) {
        const int64_t *offset = arrays->edge_offset->data;
        problem.n_edges = (int32_t)(offset[index + 1] - offset[index]);
        problem.edges = (const int32_t(*)[2])arrays->edges->data + offset[index];
        problem.edge_features =
            (const float *)arrays->edge_features->data + offset[index] * self->dataset->n_edge_features;
    }
    return problem;
}

static enum clv_status read_item(struct reading *self, size_t index, const char *name, size_t length,
                                 struct clv_error *err)
{
    struct dataset_file *file = &self->dataset->file;
    struct dataset_item *item = &self->dataset->items[self->dataset->n++];
    int32_t n_labels = self->dataset->n_labels;
    item->name = array_zalloc(length + 1, 1);
    if (!item->name)
        return fail_memory(err);
    memcpy(item->name, name, length);
    struct clv_problem *problem = &item->problem;
    *problem = view(self, index);
    size_t first = (size_t)node_offsets(self)[index], n = (size_t)problem->n_nodes, k = (size_t)n_labels;
    bool known = false;
    const float *counts = self->arrays.counts ? (const float *)self->arrays.counts->data + first * k : NULL;
    enum clv_status status = counts ? check_counts(&known, counts, n * k, err) : CLV_OK;
    if (status == CLV_OK && known) {
        if (self->dataset->counts_errors)
            memcpy(file->theta + first * k, counts, n * k * sizeof *counts);
        else
            clv_balanced_theta(file->theta + first * k, counts, problem->n_nodes, n_labels);
        majority_labels(file->label + first, file->theta + first * k, problem->n_nodes, n_labels);
        problem->theta = file->theta + first * k;
        problem->label = file->label + first;
    }
    struct clv_shape shape = {n_labels, problem->n_features, problem->n_edge_features,
                              problem->n_edge_features ? CLV_PAIRWISE_FULL : CLV_PAIRWISE_NONE};
    if (status == CLV_OK)
        status = clv_problem_check(problem, &shape, err);
    if (status == CLV_OK)
        status = check_superpixels(file, index, problem->n_nodes, err);
    dataset_looked_at(self->dataset, problem);
    if (status != CLV_OK) {
        fail_within(err, status, item->name);
        fail_within(err, status, self->path);
    }
    return status;
}

/* One name a line for each image. */
static enum clv_status read_items(struct reading *self, struct clv_error *err)
{
    const char *names = clv_tensors_metadata(self->dataset->file.tensors, "names");
    if (!names)
        return fail(err, CLV_ERR_DATA, "%s: its metadata has no \"names\"", self->path);
    int64_t n_names = 1;
    for (const char *c = names; *c; c++)
        n_names += *c == '\n';
    if (n_names != self->n)
        return fail(err, CLV_ERR_DATA, "%s: %lld names for %lld images", self->path, (long long)n_names,
                    (long long)self->n);
    self->dataset->items = array_zalloc((size_t)self->n, sizeof *self->dataset->items);
    if (!self->dataset->items)
        return fail_memory(err);
    self->dataset->capacity = (size_t)self->n;
    enum clv_status status = CLV_OK;
    for (int64_t i = 0; status == CLV_OK && i < self->n; i++) {
        const char *end = strchrnul(names, '\n');
        status = read_item(self, (size_t)i, names, (size_t)(end - names), err);
        names = end + (*end != 0);
    }
    return status;
}

static enum clv_status read_labels(struct reading *self, struct clv_error *err)
{
    struct clv_dataset *dataset = self->dataset;
    const char *json = clv_tensors_metadata(dataset->file.tensors, "labels");
    enum clv_status status = get_number(&dataset->n_labels, self, "n_labels", 2, CLV_MAX_LABELS, true, err);
    if (status != CLV_OK || !json)
        return status;
    status = labels_parse(&dataset->labels, json, dataset->file.tensors, self->path, err);
    if (status == CLV_OK && dataset->labels.n_labels != dataset->n_labels)
        status = fail(err, CLV_ERR_DATA, "%s: n_labels is %d, there are names for %d", self->path, dataset->n_labels,
                      dataset->labels.n_labels);
    return status;
}

/* One of two words of the metadata, the first if it is not there; *which is 0 or 1. */
static enum clv_status get_word(int *which, const struct reading *self, const char *key, const char *const words[2],
                                struct clv_error *err)
{
    const char *text = clv_tensors_metadata(self->dataset->file.tensors, key);
    *which = text && strcmp(text, words[1]) == 0;
    if (text && !*which && strcmp(text, words[0]) != 0)
        return fail(err, CLV_ERR_DATA, "%s: %s is \"%.60s\", must be \"%s\" or \"%s\"", self->path, key, text, words[0],
                    words[1]);
    return CLV_OK;
}

/* What edges and counts are meant for. */
static enum clv_status read_meaning(struct reading *self, struct clv_error *err)
{
    int is_full;
    enum clv_status status = get_word(&is_full, self, "pairwise", (const char *const[]){"potts", "full"}, err);
    self->dataset->pairwise = is_full ? CLV_PAIRWISE_FULL : CLV_PAIRWISE_POTTS;
    if (status == CLV_OK)
        status =
            get_word(&self->dataset->counts_errors, self, "loss", (const char *const[]){"balanced", "counts"}, err);
    return status;
}

static enum clv_status read_recipe(struct reading *self, struct clv_error *err)
{
    const struct clv_tensors *tensors = self->dataset->file.tensors;
    const char *json = clv_tensors_metadata(tensors, "recipe");
    if (!json || strcmp(json, "none") == 0)
        return CLV_OK;
    enum clv_status status = recipe_read(&self->recipe, json, tensors, self->path, err);
    if (status != CLV_OK)
        return status;
    self->has_recipe = true;
    if (self->recipe.nodes == CLV_NODES_PATCHES) {
        self->dataset->file.patch_px = self->recipe.patch_px;
        self->dataset->file.patch_step_px = self->recipe.patch_step_px;
    }
    int32_t n_features = clv_recipe_n_features(&self->recipe);
    int32_t n_edge_features = clv_recipe_n_edge_features(&self->recipe);
    if (self->dataset->n_features != n_features)
        return fail(err, CLV_ERR_DATA, "%s: n_features is %d, its recipe makes %d", self->path,
                    self->dataset->n_features, n_features);
    if (self->dataset->n_edge_features != n_edge_features)
        return fail(err, CLV_ERR_DATA, "%s: %d features an edge, its recipe makes %d", self->path,
                    self->dataset->n_edge_features, n_edge_features);
    return CLV_OK;
}

enum clv_status features_parse(struct clv_dataset **dataset, struct clv_recipe *recipe, struct clv_tensors *tensors,
                               const char *path, struct clv_error *err)
{
    /* Features come before what is allocated for each node: they prove that the file is as large as it says. */
    static enum clv_status (*const steps[])(struct reading *, struct clv_error *) = {
        check_format, find_arrays, read_labels,      read_meaning, read_offsets, read_features,
        read_edges,   read_truth,  read_superpixels, read_recipe,  read_items};
    struct reading self = {.path = path, .dataset = array_zalloc(1, sizeof *self.dataset)};
    *dataset = NULL;
    if (!self.dataset) {
        clv_tensors_close(tensors);
        return fail_memory(err);
    }
    self.dataset->file.tensors = tensors;
    self.dataset->file.looked_at = array_zalloc(1, sizeof *self.dataset->file.looked_at);
    enum clv_status status = self.dataset->file.looked_at ? CLV_OK : fail_memory(err);
    for (size_t i = 0; status == CLV_OK && i < sizeof steps / sizeof *steps; i++)
        status = steps[i](&self, err);
    if (status == CLV_OK) {
        *dataset = self.dataset;
        if (recipe && self.has_recipe) {
            *recipe = self.recipe;
            self.recipe = (struct clv_recipe){0};
        }
    } else {
        clv_dataset_free(self.dataset);
    }
    clv_recipe_release(&self.recipe);
    return status;
}

enum clv_status clv_features_open(struct clv_dataset **dataset, struct clv_recipe *recipe, const char *path,
                                  struct clv_error *err)
{
    struct clv_tensors *tensors;
    *dataset = NULL;
    enum clv_status status = clv_tensors_open(&tensors, path, err);
    return status == CLV_OK ? features_parse(dataset, recipe, tensors, path, err) : status;
}

enum clv_status clv_dataset_example(struct clv_example *example, const struct clv_dataset *dataset, size_t index,
                                    struct clv_error *err)
{
    const struct dataset_file *file = &dataset->file;
    if (index >= dataset->n)
        return fail(err, CLV_ERR_USAGE, "there is no item %zu of %zu", index, dataset->n);
    if (!file->superpixels)
        return fail(err, CLV_ERR_DATA, "%s: its features come without superpixels, so nothing can be painted",
                    dataset->items[index].name);
    const int32_t *size = file->size[index];
    size_t pixels = (size_t)size[2] * (size_t)size[3];
    struct clv_example made = {
        .problem = dataset->items[index].problem,
        .superpixels = {.width = size[2], .height = size[3], .n = dataset->items[index].problem.n_nodes},
        .width = size[0],
        .height = size[1],
    };
    if (file->patch_px) {
        enum clv_status status =
            clv_patch_grid_init(&made.grid, size[2], size[3], file->patch_px, file->patch_step_px, err);
        if (status != CLV_OK)
            return status;
    }
    made.superpixels.labels =
        array_copy(file->superpixels + file->superpixel_offset[index], pixels, sizeof *made.superpixels.labels);
    if (!made.superpixels.labels)
        return fail_memory(err);
    dataset_looked_at(dataset, &made.problem); /* soon */
    *example = made;
    return CLV_OK;
}
