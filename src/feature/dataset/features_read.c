/* Reads a feature file into a dataset of views. First finds its arrays and checks their types, shapes, offsets and
 * combinations, then checks all their values in one pass. Start at features_add. */
#include "feature/dataset/dataset.h"

#include <limits.h>
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

/* The tensors of an open file; NULL if it does not have them. */
struct features_arrays {
    const struct clv_tensor *node_offset, *edge_offset, *row, *index, *value, *x, *edges, *edge_features, *counts,
        *area, *size, *superpixels;
};

/* A feature file while it is opened. */
struct features_reader {
    const char *path;
    struct clv_dataset *dataset;
    struct dataset_file *file; /* the dataset's last */
    struct features_arrays arrays;
    struct clv_recipe recipe;
    bool has_recipe;
    int64_t n, n_nodes, n_edges; /* images, and nodes and edges of all of them */
};

/* Returns the array [n + 1] of the first node of each image. */
static const int64_t *features_node_offsets(const struct features_reader *self)
{
    return self->arrays.node_offset->data;
}

/* Reads an integer low..high, which the metadata must have. */
static enum clv_status features_number(int32_t *number, const struct features_reader *self, const char *key,
                                       int32_t low, int32_t high, struct clv_error *err)
{
    const char *text = clv_tensors_metadata(self->file->tensors, key);
    int32_t parsed;
    FAIL_IF(!text, CLV_ERR_DATA, "%s: its metadata has no \"%s\"", self->path, key);
    if (!parse_int32(text, &parsed) || parsed < low || parsed > high)
        return fail(err, CLV_ERR_DATA, "%s: %s is \"%.60s\", must be %d to %d", self->path, key, text, low, high);
    *number = parsed;
    return CLV_OK;
}

/* Finds the tensors. Refuses unknown ones, so that a misspelt name is noticed, and incomplete combinations. */
static enum clv_status find_arrays(struct features_reader *self, struct clv_error *err)
{
    struct features_arrays *arrays = &self->arrays;
    const struct {
        const char *name;
        const struct clv_tensor **array;
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
        {AREA_TENSOR, &arrays->area},
        {"size", &arrays->size},
        {"superpixels", &arrays->superpixels},
        {"palette", NULL},
    };
    const struct clv_tensors *tensors = self->file->tensors;
    for (size_t i = 0; i < clv_tensors_count(tensors); i++) {
        const struct clv_tensor *tensor = clv_tensors_at(tensors, i);
        size_t k = 0;
        while (k < sizeof known / sizeof *known && strcmp(known[k].name, tensor->name) != 0)
            k++;
        if (k == sizeof known / sizeof *known) {
            FAIL_IF(!recipe_tensor_is_known(tensor->name), CLV_ERR_DATA,
                    "%s: tensor \"%s\" does not belong in a feature file", self->path, tensor->name);
        } else if (known[k].array) {
            *known[k].array = tensor;
        }
    }
    if (arrays->x && (arrays->row || arrays->index || arrays->value))
        return fail(err, CLV_ERR_DATA, "%s: has dense features (x) and sparse ones (row, index, value)", self->path);
    if (!arrays->edges && (arrays->edge_features || arrays->edge_offset))
        return fail(err, CLV_ERR_DATA, "%s: tensor \"edges\" is missing", self->path);
    FAIL_IF(!arrays->size != !arrays->superpixels, CLV_ERR_DATA, "%s: tensor \"%s\" is missing", self->path,
            arrays->size ? "superpixels" : "size");
    return CLV_OK;
}

/* A required shape. rows or columns -1: any number; columns 0: a vector. */
struct extent {
    int64_t rows, columns;
};

static enum clv_status require(const struct clv_tensor **tensor, const struct features_reader *self, const char *name,
                               enum clv_dtype dtype, struct extent extent, struct clv_error *err)
{
    return clv_tensors_require(tensor, self->file->tensors, name, dtype, extent.columns ? 2 : 1,
                               (int64_t[]){extent.rows, extent.columns}, err);
}

/* Checks that offset[n + 1] begins at 0 and grows by `least` to INT32_MAX per image. *total is the last offset. */
static enum clv_status check_offsets(int64_t *total, const struct features_reader *self,
                                     const struct clv_tensor *tensor, int64_t least, struct clv_error *err)
{
    const int64_t *offset = tensor->data;
    FAIL_IF(offset[0] != 0, CLV_ERR_DATA, "%s: %s begins with %lld, not 0", self->path, tensor->name,
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

static enum clv_status read_offsets(struct features_reader *self, struct clv_error *err)
{
    struct features_arrays *arrays = &self->arrays;
    MUST(require(&arrays->node_offset, self, "node_offset", CLV_I64, (struct extent){-1, 0}, err));
    self->n = arrays->node_offset->shape[0] - 1;
    FAIL_IF(self->n < 1, CLV_ERR_DATA, "%s: has no images", self->path);
    MUST(check_offsets(&self->n_nodes, self, arrays->node_offset, 1, err));
    if (!arrays->edges)
        return CLV_OK;
    MUST(require(&arrays->edge_offset, self, "edge_offset", CLV_I64, (struct extent){self->n + 1, 0}, err));
    return check_offsets(&self->n_edges, self, arrays->edge_offset, 0, err);
}

/* Reads sparse features and checks that their row offsets ascend within index and value. */
static enum clv_status read_sparse(struct features_reader *self, struct clv_error *err)
{
    struct features_arrays *arrays = &self->arrays;
    MUST(require(&arrays->row, self, "row", CLV_I64, (struct extent){self->n_nodes + 1, 0}, err));
    MUST(require(&arrays->index, self, "index", CLV_I32, (struct extent){-1, 0}, err));
    MUST(require(&arrays->value, self, "value", CLV_F32, (struct extent){arrays->index->shape[0], 0}, err));
    MUST(features_number(&self->dataset->n_features, self, "n_features", 1, INT32_MAX, err));
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

/* Reads dense features as sparse rows without zeros. All images share one array of row offsets and one of indices. */
static enum clv_status read_dense(struct features_reader *self, struct clv_error *err)
{
    struct dataset_file *file = self->file;
    MUST(require(&self->arrays.x, self, "x", CLV_F32, (struct extent){self->n_nodes, -1}, err));
    int64_t d = self->arrays.x->shape[1], most = 0;
    FAIL_IF(d < 1 || d > INT32_MAX, CLV_ERR_DATA, "%s: x has %lld features a node", self->path, (long long)d);
    self->dataset->n_features = (int32_t)d;
    if (clv_tensors_metadata(self->file->tensors, "n_features"))
        MUST(features_number(&self->dataset->n_features, self, "n_features", (int32_t)d, (int32_t)d, err));
    for (int64_t i = 0; i < self->n; i++) {
        int64_t nodes = features_node_offsets(self)[i + 1] - features_node_offsets(self)[i];
        most = nodes > most ? nodes : most;
    }
    file->dense_row = array_alloc((size_t)most + 1, sizeof *file->dense_row);
    file->dense_index = array_alloc((size_t)(most * d), sizeof *file->dense_index); /* both factors are below 2^31 */
    NEED(file->dense_row && file->dense_index);
    for (int64_t i = 0; i <= most; i++)
        file->dense_row[i] = i * d;
    for (int64_t i = 0; i < most; i++)
        for (int64_t k = 0; k < d; k++)
            file->dense_index[i * d + k] = (int32_t)k;
    return CLV_OK;
}

static enum clv_status read_features(struct features_reader *self, struct clv_error *err)
{
    return self->arrays.x ? read_dense(self, err) : read_sparse(self, err);
}

static enum clv_status read_edges(struct features_reader *self, struct clv_error *err)
{
    struct features_arrays *arrays = &self->arrays;
    if (!arrays->edges)
        return CLV_OK;
    MUST(require(&arrays->edges, self, "edges", CLV_I32, (struct extent){self->n_edges, 2}, err));
    MUST(require(&arrays->edge_features, self, "edge_features", CLV_F32, (struct extent){self->n_edges, -1}, err));
    int64_t p = arrays->edge_features->shape[1];
    if (p < 1 || p > INT32_MAX)
        return fail(err, CLV_ERR_DATA, "%s: edge_features has %lld features an edge", self->path, (long long)p);
    self->dataset->n_edge_features = (int32_t)p;
    return CLV_OK;
}

/* Finds counts and areas, and allocates labels and theta. Areas are 1 if the file has none. */
static enum clv_status read_truth(struct features_reader *self, struct clv_error *err)
{
    struct features_arrays *arrays = &self->arrays;
    struct dataset_file *file = self->file;
    size_t n = (size_t)self->n_nodes, k = (size_t)self->dataset->n_labels;
    if (arrays->counts)
        MUST(require(&arrays->counts, self, "counts", CLV_F32, (struct extent){self->n_nodes, (int64_t)k}, err));
    if (arrays->area)
        MUST(require(&arrays->area, self, AREA_TENSOR, CLV_F32, (struct extent){self->n_nodes, 0}, err));
    if (arrays->counts) {
        file->counts = arrays->counts->data;
        file->label = array_alloc(n, sizeof *file->label);
        file->theta = array_alloc(n * k, sizeof *file->theta);
    }
    if (!arrays->area)
        file->area = array_alloc(n, sizeof *file->area);
    if ((arrays->counts && (!file->label || !file->theta)) || (!arrays->area && !file->area))
        return fail_memory(err);
    for (size_t i = 0; !arrays->area && i < n; i++)
        file->area[i] = 1;
    return CLV_OK;
}

static enum clv_status read_superpixels(struct features_reader *self, struct clv_error *err)
{
    struct features_arrays *arrays = &self->arrays;
    struct dataset_file *file = self->file;
    if (!arrays->size)
        return CLV_OK;
    MUST(require(&arrays->size, self, "size", CLV_I32, (struct extent){self->n, 4}, err));
    MUST(require(&arrays->superpixels, self, "superpixels", CLV_I32, (struct extent){-1, 0}, err));
    file->size = arrays->size->data;
    file->superpixels = arrays->superpixels->data;
    file->superpixel_offset = array_zalloc((size_t)self->n + 1, sizeof *file->superpixel_offset);
    file->centroid = array_alloc((size_t)features_node_offsets(self)[self->n], 2 * sizeof *file->centroid);
    NEED(file->superpixel_offset && file->centroid);
    int64_t total = 0, n_stored = arrays->superpixels->shape[0];
    for (int64_t i = 0; i < self->n; i++) {
        const int32_t *size = file->size[i];
        FAIL_IF(size[0] < 1 || size[1] < 1 || size[2] < 1 || size[3] < 1 || size[2] > size[0] || size[3] > size[1],
                CLV_ERR_DATA, "%s: image %lld has the size %dx%d and the working size %dx%d", self->path, (long long)i,
                size[0], size[1], size[2], size[3]);
        int64_t pixels = (int64_t)size[2] * size[3];
        FAIL_IF(pixels > n_stored - total, CLV_ERR_DATA, "%s: superpixels end at %lld, inside image %lld", self->path,
                (long long)n_stored, (long long)i);
        file->superpixel_offset[i + 1] = total += pixels;
    }
    FAIL_IF(total != n_stored, CLV_ERR_DATA, "%s: %lld superpixels too many", self->path,
            (long long)(n_stored - total));
    return CLV_OK;
}

/* Finds the tensors, checks their types, shapes and offsets, and sets the dataset's sizes and the derived arrays of its
 * file. file->tensors and the dataset's n_labels must be set. O(images + nodes). */
static enum clv_status features_arrays_read(struct features_reader *self, struct clv_error *err)
{
    /* Features are read before arrays for each node are allocated, since their tensors prove that the file is that
     * large. */
    static enum clv_status (*const steps[])(struct features_reader *, struct clv_error *) = {
        find_arrays, read_offsets, read_features, read_edges, read_truth, read_superpixels};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        MUST(steps[i](self, err));
    return CLV_OK;
}

enum clv_status features_check_name(const char *name, struct clv_error *err)
{
    FAIL_IF(strchr(name, '\n') || !text_is_utf8(name, strlen(name)), CLV_ERR_DATA,
            "%s: the name is not UTF-8 or holds a line break, which a feature file cannot", name);
    return CLV_OK;
}

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

/* Checks the counts. *any tells whether any pixel has a label; without one the image has no truth. */
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

/* Checks an image's superpixels and computes the centroids of its nodes. */
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

/* Returns the problem of image `index` as views. */
static struct clv_problem view_problem(const struct features_reader *self, size_t index)
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
    *problem = view_problem(self, index);
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
    dataset_notify_access(self->dataset, &item->problem);
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

/* Reads the pairwise form that edges are meant for, and the kind of loss. */
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

static void features_reader_release(struct features_reader *self)
{
    clv_recipe_release(&self->recipe);
}

/* Appends a file to the dataset's files. `tensors` is consumed, also on failure. */
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
    OWNED(features_reader_release)
    struct features_reader self = {
        .path = path, .dataset = *dataset, .file = (*dataset)->files[(*dataset)->n_files - 1]};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        MUST(steps[i](&self, err));
    if (recipe && self.has_recipe)
        *recipe = TAKE(self.recipe);
    return CLV_OK;
}

/* Makes an example without superpixels: node i is pixel i of one row. */
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
    dataset_notify_access(dataset, &item->problem); /* soon */
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
