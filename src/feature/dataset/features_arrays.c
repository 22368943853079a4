/* Finds the arrays of a feature file and checks their types, shapes, offsets and combinations before any of them is
 * used. Start at features_arrays_read. */
#include "feature/dataset/dataset.h"

#include <limits.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "feature/recipe/recipe.h"

const int64_t *features_node_offsets(const struct features_reader *self)
{
    return self->arrays.node_offset->data;
}

/* Only tensors of the format, so that a misspelt one is not passed over; and those that need each other. */
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

/* -1: any number of rows or columns; no columns: a vector. */
struct extent {
    int64_t rows, columns;
};

static enum clv_status require(const struct clv_tensor **tensor, const struct features_reader *self, const char *name,
                               enum clv_dtype dtype, struct extent extent, struct clv_error *err)
{
    return clv_tensors_require(tensor, self->file->tensors, name, dtype, extent.columns ? 2 : 1,
                               (int64_t[]){extent.rows, extent.columns}, err);
}

/* offset[n + 1] begins at 0 and grows by `least` to INT32_MAX an image; *total is its end. */
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

/* Sparse rows must be in order within index and value before any is looked at. */
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

/* Dense features are rows that are full: every image shares one list of row ends and one of indices. */
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
    file->dense_index = array_alloc((size_t)(most * d), sizeof *file->dense_index); /* both below 2^31 */
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

/* theta and labels from counts, areas of 1 where the file has none. */
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
    int64_t total = 0, there = arrays->superpixels->shape[0];
    for (int64_t i = 0; i < self->n; i++) {
        const int32_t *size = file->size[i];
        FAIL_IF(size[0] < 1 || size[1] < 1 || size[2] < 1 || size[3] < 1 || size[2] > size[0] || size[3] > size[1],
                CLV_ERR_DATA, "%s: image %lld has the size %dx%d and the working size %dx%d", self->path, (long long)i,
                size[0], size[1], size[2], size[3]);
        int64_t pixels = (int64_t)size[2] * size[3];
        FAIL_IF(pixels > there - total, CLV_ERR_DATA, "%s: superpixels end at %lld, inside image %lld", self->path,
                (long long)there, (long long)i);
        file->superpixel_offset[i + 1] = total += pixels;
    }
    FAIL_IF(total != there, CLV_ERR_DATA, "%s: %lld superpixels too many", self->path, (long long)(there - total));
    return CLV_OK;
}

enum clv_status features_arrays_read(struct features_reader *self, struct clv_error *err)
{
    /* Features come before what is allocated for each node: they prove that the file is as large as it says. */
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

enum clv_status features_number(int32_t *number, const struct features_reader *self, const char *key, int32_t low,
                                int32_t high, struct clv_error *err)
{
    const char *text = clv_tensors_metadata(self->file->tensors, key);
    int32_t parsed;
    FAIL_IF(!text, CLV_ERR_DATA, "%s: its metadata has no \"%s\"", self->path, key);
    if (!parse_int32(text, &parsed) || parsed < low || parsed > high)
        return fail(err, CLV_ERR_DATA, "%s: %s is \"%.60s\", must be %d to %d", self->path, key, text, low, high);
    *number = parsed;
    return CLV_OK;
}
