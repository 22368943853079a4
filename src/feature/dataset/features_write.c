/* Writes feature files. While images are extracted, each array grows in its own nameless temporary file; at the end
 * these are appended to a header, so that memory grows by only 56 bytes per image. Start at write_part. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "cluster/comm.h"
#include "cluster/shard.h"
#include "data/data.h"
#include "feature/dataset/dataset.h"
#include "feature/recipe/recipe.h"

#define COPY_SIZE ((size_t)1 << 20)

/* An array that grows on disk while its final size is unknown: a nameless file that vanishes with the process. */
struct temporary {
    FILE *stream;  /* NULL: closed */
    uint64_t size; /* bytes appended */
};

/* Opens a nameless file in the folder of `target`, whose disk must have room for it anyway. If the target is not a
 * regular file, or its file system does not support nameless files, the file is in the folder for temporary files. */
static enum clv_status temporary_open(struct temporary *self, const char *target, struct clv_error *err)
{
    struct stat info;
    *self = (struct temporary){0};
    bool elsewhere = strcmp(target, "-") == 0 || (stat(target, &info) == 0 && !S_ISREG(info.st_mode));
    if (!elsewhere) {
        OWNED_ARRAY char *folder = path_folder(target);
        NEED(folder);
        int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (fd >= 0) {
            self->stream = fdopen(fd, "w+b");
            if (!self->stream)
                close(fd);
        } else if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) {
            return fail_errno(err, CLV_ERR_CREATE, "%s: cannot create", target);
        }
    }
    if (!self->stream)
        self->stream = tmpfile();
    return self->stream ? CLV_OK : fail_errno(err, CLV_ERR_CREATE, "%s: cannot create a temporary file for it", target);
}

static void temporary_close(struct temporary *self)
{
    if (self->stream)
        fclose(self->stream);
    *self = (struct temporary){0};
}

static enum clv_status temporary_append(struct temporary *self, const void *bytes, size_t size, const char *target,
                                        struct clv_error *err)
{
    if (size && fwrite(bytes, 1, size, self->stream) != size)
        return fail_errno(err, CLV_ERR_IO, "%s: cannot write its temporary file", target);
    self->size += size;
    return CLV_OK;
}

/* Appends the temporary file to `stream`. The caller checks the errors of `stream`. */
static enum clv_status temporary_copy(FILE *stream, struct temporary *self, const char *target, struct clv_error *err)
{
    if (fflush(self->stream) || fseeko(self->stream, 0, SEEK_SET))
        return fail_errno(err, CLV_ERR_IO, "%s: cannot write its temporary file", target);
    OWNED_ARRAY char *buffer = array_alloc(COPY_SIZE, 1);
    NEED(buffer);
    uint64_t copied = 0;
    for (size_t n; !ferror(stream) && (n = fread(buffer, 1, COPY_SIZE, self->stream)) > 0; copied += n)
        fwrite(buffer, 1, n, stream);
    FAIL_IF(!ferror(stream) && copied != self->size, CLV_ERR_IO, "%s: its temporary file lost %llu bytes", target,
            (unsigned long long)(self->size - copied));
    return CLV_OK;
}

enum array { ROW, INDEX, VALUE, EDGES, EDGE_FEATURES, COUNTS, AREA, SUPERPIXELS, N_GROWING };

static const struct {
    const char *name;
    enum clv_dtype dtype;
} growing[N_GROWING] = {
    [ROW] = {"row", CLV_I64},        [INDEX] = {"index", CLV_I32},
    [VALUE] = {"value", CLV_F32},    [EDGES] = {"edges", CLV_I32},
    [COUNTS] = {"counts", CLV_F32},  [EDGE_FEATURES] = {"edge_features", CLV_F32},
    [AREA] = {AREA_TENSOR, CLV_F32}, [SUPERPIXELS] = {"superpixels", CLV_I32},
};

#define N_TENSORS                                                                                                      \
    (N_GROWING + 4 + RECIPE_TENSORS) /* and node_offset, edge_offset, size, palette, those of the recipe */
#define N_METADATA 8

struct features_writer {
    const char *path;
    int32_t n_labels;
    char shard[64]; /* "3/16 of 200", or "" */
    struct temporary arrays[N_GROWING];
    int64_t n_nodes, n_edges, n_entries, n_pixels; /* so far */
    size_t n;                                      /* items so far */
    int64_t *node_offset, *edge_offset;            /* [n_items + 1] */
    int32_t (*size)[4];                            /* [n_items] */
};

static enum clv_status append(struct features_writer *self, enum array array, const void *data, size_t n,
                              struct clv_error *err)
{
    return temporary_append(&self->arrays[array], data, n * clv_dtype_size(growing[array].dtype), self->path, err);
}

/* Appends the row offsets of an image, shifted to count from the first entry of the file. */
static enum clv_status append_rows(struct features_writer *self, const struct clv_problem *problem,
                                   struct clv_error *err)
{
    size_t n = (size_t)problem->n_nodes;
    OWNED_ARRAY int64_t *ends = array_alloc(n, sizeof *ends);
    NEED(ends);
    for (size_t i = 0; i < n; i++)
        ends[i] = self->n_entries + problem->row[i + 1] - problem->row[0];
    return append(self, ROW, ends, n, err);
}

static enum clv_status append_counts(struct features_writer *self, const struct clv_example *example,
                                     struct clv_error *err)
{
    size_t n = (size_t)example->problem.n_nodes * (size_t)self->n_labels;
    if (example->counts)
        return append(self, COUNTS, example->counts, n, err);
    OWNED_ARRAY float *zeros = array_zalloc(n, sizeof *zeros);
    NEED(zeros);
    return append(self, COUNTS, zeros, n, err);
}

static enum clv_status append_example(void *context, struct clv_example *example, const struct clv_item *item,
                                      const float *estimate, struct clv_error *err)
{
    (void)item, (void)estimate;
    struct features_writer *self = context;
    const struct clv_problem *problem = &example->problem;
    const struct clv_superpixels *sp = &example->superpixels;
    size_t n = (size_t)problem->n_nodes, m = (size_t)problem->n_edges, p = (size_t)problem->n_edge_features;
    size_t first = (size_t)problem->row[0], n_entries = (size_t)problem->row[n] - first;
    size_t n_pixels = (size_t)sp->width * (size_t)sp->height;
    MUST(append_rows(self, problem, err));
    MUST(append(self, INDEX, n_entries ? problem->index + first : NULL, n_entries, err));
    MUST(append(self, VALUE, n_entries ? problem->value + first : NULL, n_entries, err));
    MUST(append(self, EDGES, problem->edges, m * 2, err));
    MUST(append(self, EDGE_FEATURES, problem->edge_features, m * p, err));
    MUST(append_counts(self, example, err));
    MUST(append(self, AREA, problem->area, n, err));
    MUST(append(self, SUPERPIXELS, sp->labels, n_pixels, err));
    self->n_entries += (int64_t)n_entries;
    self->n_pixels += (int64_t)n_pixels;
    const int32_t size[4] = {example->width, example->height, sp->width, sp->height};
    memcpy(self->size[self->n++], size, sizeof size);
    self->node_offset[self->n] = self->n_nodes += problem->n_nodes;
    self->edge_offset[self->n] = self->n_edges += problem->n_edges;
    return CLV_OK;
}

static void set_shape(struct clv_tensor *tensor, int64_t rows, int64_t columns)
{
    tensor->n_dimensions = columns ? 2 : 1;
    tensor->shape[0] = rows;
    tensor->shape[1] = columns;
}

/* Lists all tensors of the file. Growing arrays come first, in the order of enum array, with data NULL. */
static size_t list_tensors(struct clv_tensor tensors[N_TENSORS], const struct features_writer *self,
                           const struct clv_set *set, const struct clv_recipe *recipe)
{
    const int64_t n = (int64_t)self->n, shapes[N_GROWING][2] = {
                                            [ROW] = {self->n_nodes + 1},
                                            [INDEX] = {self->n_entries},
                                            [VALUE] = {self->n_entries},
                                            [EDGES] = {self->n_edges, 2},
                                            [EDGE_FEATURES] = {self->n_edges, clv_recipe_n_edge_features(recipe)},
                                            [COUNTS] = {self->n_nodes, self->n_labels},
                                            [AREA] = {self->n_nodes},
                                            [SUPERPIXELS] = {self->n_pixels},
                                        };
    memset(tensors, 0, N_TENSORS * sizeof *tensors);
    for (int i = 0; i < N_GROWING; i++) {
        tensors[i].name = growing[i].name;
        tensors[i].dtype = growing[i].dtype;
        set_shape(&tensors[i], shapes[i][0], shapes[i][1]);
    }
    size_t count = N_GROWING;
    tensors[count] = (struct clv_tensor){.name = "node_offset", .dtype = CLV_I64, .data = self->node_offset};
    set_shape(&tensors[count++], n + 1, 0);
    tensors[count] = (struct clv_tensor){.name = "edge_offset", .dtype = CLV_I64, .data = self->edge_offset};
    set_shape(&tensors[count++], n + 1, 0);
    tensors[count] = (struct clv_tensor){.name = "size", .dtype = CLV_I32, .data = self->size};
    set_shape(&tensors[count++], n, 4);
    tensors[count++] = labels_tensor(&set->labels);
    return count + recipe_tensors(tensors + count, recipe);
}

/* The texts of the metadata. */
struct header {
    struct text n_labels, n_features, names, labels, recipe;
};

static enum clv_status put_header(struct header *header, const struct clv_set *set, const struct clv_recipe *recipe,
                                  struct clv_error *err)
{
    struct text *const texts[] = {&header->n_labels, &header->n_features, &header->names, &header->labels,
                                  &header->recipe};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        text_init(texts[i], SIZE_MAX / 2);
    text_printf(&header->n_labels, "%d", set->labels.n_labels);
    text_printf(&header->n_features, "%d", clv_recipe_n_features(recipe));
    for (size_t i = 0; i < set->n_items; i++) {
        text_put(&header->names, i ? "\n" : "");
        text_put(&header->names, set->items[i].name);
    }
    labels_put_json(&header->labels, &set->labels);
    recipe_put_json(&header->recipe, recipe);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i]->failed)
            return fail_memory(err);
    return CLV_OK;
}

static void header_release(struct header *header)
{
    text_release(&header->n_labels);
    text_release(&header->n_features);
    text_release(&header->names);
    text_release(&header->labels);
    text_release(&header->recipe);
}

/* Writes the header, the temporary files and the other tensors to the file. */
static enum clv_status assemble(struct features_writer *self, const struct clv_set *set,
                                const struct clv_recipe *recipe, const struct header *header, struct clv_error *err)
{
    OWNED(file_abort) struct file_writer writer = {0};
    struct clv_tensor tensors[N_TENSORS];
    size_t order[N_TENSORS], n = list_tensors(tensors, self, set, recipe);
    const char *metadata[N_METADATA][2] = {{"format", FEATURES_FORMAT FEATURES_VERSION},
                                           {"n_labels", header->n_labels.bytes},
                                           {"n_features", header->n_features.bytes},
                                           {"names", header->names.bytes},
                                           {"labels", header->labels.bytes},
                                           {"recipe", header->recipe.bytes},
                                           {NULL, NULL},
                                           {NULL, NULL}};
    size_t n_metadata = N_METADATA - 2;
    if (recipe->nodes == CLV_NODES_PATCHES) /* "potts" is the default */
        memcpy(metadata[n_metadata++], (const char *const[]){"pairwise", "full"}, sizeof *metadata);
    if (self->shard[0])
        memcpy(metadata[n_metadata++], (const char *const[]){FEATURES_SHARD, self->shard}, sizeof *metadata);
    const struct tensors_content content = {tensors, n, (const char *const(*)[2])metadata, n_metadata};
    MUST(tensors_begin(&writer, order, self->path, &content, err));
    for (size_t i = 0; i < n; i++) {
        size_t bytes = 0;
        tensor_bytes(&bytes, &tensors[order[i]]);
        if (order[i] < N_GROWING) {
            MUST(temporary_copy(writer.stream, &self->arrays[order[i]], self->path, err));
            temporary_close(&self->arrays[order[i]]); /* frees its disk space at once */
        } else {
            fwrite(tensors[order[i]].data, 1, bytes, writer.stream);
        }
    }
    return file_commit(&writer, err);
}

static enum clv_status features_writer_begin(struct features_writer *self, const struct clv_set *set,
                                             struct clv_error *err)
{
    static const int64_t first_row = 0;
    self->node_offset = array_zalloc(set->n_items + 1, sizeof *self->node_offset);
    self->edge_offset = array_zalloc(set->n_items + 1, sizeof *self->edge_offset);
    self->size = array_zalloc(set->n_items, sizeof *self->size);
    NEED(self->node_offset && self->edge_offset && self->size);
    for (int i = 0; i < N_GROWING; i++)
        MUST(temporary_open(&self->arrays[i], self->path, err));
    return append(self, ROW, &first_row, 1, err);
}

static void features_writer_release(struct features_writer *self)
{
    for (int i = 0; i < N_GROWING; i++)
        temporary_close(&self->arrays[i]);
    arrays_free(self->node_offset, self->edge_offset, self->size);
}

/* Writes the features of a dataset, or of a shard if `shard` is, for example, "3/16 of 200" instead of "". All
 * processes extract features; the first one writes. */
static enum clv_status write_part(const char *path, const struct clv_set *set, const char *shard,
                                  const struct extract_options *how, struct clv_error *err)
{
    OWNED(features_writer_release) struct features_writer self = {.path = path, .n_labels = set->labels.n_labels};
    OWNED(header_release) struct header header = {0};
    snprintf(self.shard, sizeof self.shard, "%s", shard);
    for (size_t i = 0; i < set->n_items; i++)
        MUST(features_check_name(set->items[i].name, err));
    bool writes = comm_rank() == 0;
    if (writes)
        MUST(features_writer_begin(&self, set, err));
    MUST(extract_set(set, how, EXTRACT_TO_LEADER, append_example, &self, err));
    if (!writes)
        return CLV_OK;
    MUST(put_header(&header, set, how->recipe, err));
    return assemble(&self, set, how->recipe, &header, err);
}

enum clv_status clv_features_write(const char *path, const struct clv_set *set, const struct clv_recipe *recipe,
                                   int n_threads, const struct clv_image_limits *limits,
                                   const struct clv_progress *progress, struct clv_error *err)
{
    FAIL_IF(!set->n_items, CLV_ERR_USAGE, "%s: no images to take features of", path);
    FAIL_IF(recipe->window, CLV_ERR_USAGE, "%s: a model of sequences makes features of several images at once", path);
    const struct extract_options how = {
        .recipe = recipe, .n_threads = n_threads, .limits = limits, .progress = progress};
    return write_part(path, set, "", &how, err);
}

/* Sets *part to the shard's items, as a view of the set, and which[64] to the value for the metadata. */
static void cut_part(struct clv_set *part, char *which, const struct clv_set *set, const struct clv_shard *shard)
{
    size_t first;
    *part = *set;
    shard_block(&first, &part->n_items, shard, set->n_items);
    part->items += first;
    snprintf(which, 64, "%d/%d of %zu", shard->number, shard->count, set->n_items);
}

enum clv_status features_write_shard(const char *path, const struct clv_set *set, const struct clv_shard *shard,
                                     const struct extract_options *how, struct clv_error *err)
{
    int32_t number = shard->number, count = shard->count;
    struct clv_set part;
    char which[64];
    if (count < 1 || count > SHARD_MAX || number < 1 || number > count || (size_t)count > set->n_items)
        return fail(err, CLV_ERR_USAGE, "shard %d of %d: there are %zu images", number, count, set->n_items);
    cut_part(&part, which, set, shard);
    return write_part(path, &part, which, how, err);
}
