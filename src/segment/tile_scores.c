/* Computes, writes and reads the arrays that are kept of a tile: scores, couplings, its regions as runs of pixels, and
 * features of the regions at its border, which couplings across seams need. Start at tile_scores_make. */
#include <string.h>

#include "base/base.h"
#include "segment/segment.h"
#include "superpixel/region_graph.h"

void tile_scores_release(struct tile_scores *self)
{
    for (int k = 0; k < N_TILE_ARRAYS; k++)
        array_free(self->array[k]);
    *self = (struct tile_scores){0};
}

static void *add(struct tile_scores *self, enum tile_array which, size_t count, size_t size)
{
    self->bytes[which] = count * size;
    return self->array[which] = array_alloc(count, size);
}

size_t edge_scores(const struct clv_weight_layout *layout)
{
    size_t k = (size_t)layout->n_labels;
    return layout->pairwise == CLV_PAIRWISE_NONE ? 0 : layout->pairwise == CLV_PAIRWISE_FULL ? k * k : 1;
}

static enum clv_status score(struct tile_scores *self, const struct tile *tile, const struct clv_model *model,
                             const struct layout *at, struct clv_error *err)
{
    const struct clv_weight_layout *layout = &model->layout;
    size_t m = (size_t)tile->adjacency.n_edges, p = (size_t)edge_feature_count(&model->recipe);
    struct clv_problem problem = tile->problem;
    OWNED_ARRAY float *features = array_alloc(m, p * sizeof *features);
    double *unary = add(self, TILE_UNARY, (size_t)tile->n * clv_weight_layout_rows(layout), sizeof *unary);
    double *coupling = add(self, TILE_COUPLING, m * edge_scores(layout), sizeof *coupling);
    int32_t(*edges)[2] = add(self, TILE_EDGES, m, sizeof *edges);
    NEED(features && unary && coupling && edges);
    const struct edge_ends ends = {tile->regions, &problem, tile->map_means, tile->n_channels};
    tile_edges_fill(features, &tile->adjacency, &ends, at);
    problem.n_edge_features = (int32_t)p;
    problem.edge_features = features;
    memcpy(edges, tile->adjacency.edges, m * sizeof *edges);
    MUST(clv_problem_check(&problem, layout, err));
    clv_unary_scores(unary, &problem, layout, model->w);
    clv_pairwise_scores(coupling, &problem, layout, model->w);
    return CLV_OK;
}

/* Copies the regions along the border: the upper and the lower row, then the left and the right column. */
static enum clv_status take_strips(struct tile_scores *self, const struct tile *tile, const struct patch *core,
                                   struct clv_error *err)
{
    size_t width = (size_t)core->width, height = (size_t)core->height, stride = (size_t)tile->map.width;
    const int32_t *from = tile->map.labels + (size_t)core->y * stride + (size_t)core->x;
    int32_t *strip = add(self, TILE_STRIPS, 2 * (width + height), sizeof *strip);
    NEED(strip);
    memcpy(strip, from, width * sizeof *strip);
    memcpy(strip + width, from + (height - 1) * stride, width * sizeof *strip);
    for (size_t y = 0; y < height; y++) {
        strip[2 * width + y] = from[y * stride];
        strip[2 * width + height + y] = from[y * stride + width - 1];
    }
    return CLV_OK;
}

static enum clv_status take_border(struct tile_scores *self, const struct tile *tile, struct clv_error *err)
{
    size_t n_strip = self->bytes[TILE_STRIPS] / sizeof(int32_t), n = 0, n_entries = 0;
    size_t channels = (size_t)tile->n_channels;
    int32_t *strip = self->array[TILE_STRIPS];
    const int64_t *from = tile->problem.row;
    OWNED_ARRAY int32_t *number = array_zalloc((size_t)tile->n, sizeof *number); /* 1 + its index at the border */
    NEED(number);
    for (size_t k = 0; k < n_strip; k++)
        number[strip[k]] = 1;
    for (int32_t i = 0; i < tile->n; i++)
        if (number[i]) {
            n++;
            n_entries += (size_t)(from[i + 1] - from[i]);
        }
    int32_t *border = add(self, TILE_BORDER, n, sizeof *border),
            *index = add(self, TILE_INDEX, n_entries, sizeof *index);
    struct region *regions = add(self, TILE_REGIONS, n, sizeof *regions);
    float *means = add(self, TILE_MEANS, n * channels, sizeof *means),
          *value = add(self, TILE_VALUE, n_entries, sizeof *value);
    int64_t *row = add(self, TILE_ROW, n + 1, sizeof *row);
    NEED(border && index && regions && means && value && row);
    n = 0;
    row[0] = 0;
    for (int32_t i = 0; i < tile->n; i++) {
        size_t entries = (size_t)(from[i + 1] - from[i]);
        if (!number[i])
            continue;
        border[n] = i;
        regions[n] = tile->regions[i];
        if (channels)
            memcpy(means + n * channels, tile->map_means + (size_t)i * channels, channels * sizeof *means);
        memcpy(index + row[n], tile->problem.index + from[i], entries * sizeof *index);
        memcpy(value + row[n], tile->problem.value + from[i], entries * sizeof *value);
        row[n + 1] = row[n] + (int64_t)entries;
        number[i] = (int32_t)++n;
    }
    for (size_t k = 0; k < n_strip; k++)
        strip[k] = number[strip[k]] - 1;
    return CLV_OK;
}

/* Counts the runs; stores them unless `runs` is NULL. */
static uint32_t find_runs(uint32_t *lines, int32_t (*runs)[2], const struct tile *tile, const struct patch *core)
{
    uint32_t n = 0;
    for (int32_t y = 0; y < core->height; y++) {
        const int32_t *from = tile->map.labels + (size_t)(core->y + y) * (size_t)tile->map.width + (size_t)core->x;
        lines[y] = n;
        for (int32_t x = 0, begin = 0; x < core->width; x++)
            if (x + 1 == core->width || from[x + 1] != from[x]) {
                if (runs) {
                    runs[n][0] = from[x];
                    runs[n][1] = x + 1 - begin;
                }
                begin = x + 1;
                n++;
            }
    }
    lines[core->height] = n;
    return n;
}

static enum clv_status take_runs(struct tile_scores *self, const struct tile *tile, const struct patch *core,
                                 struct clv_error *err)
{
    uint32_t *lines = add(self, TILE_LINES, (size_t)core->height + 1, sizeof *lines);
    int32_t(*runs)[2] = lines ? add(self, TILE_RUNS, find_runs(lines, NULL, tile, core), sizeof *runs) : NULL;
    NEED(runs);
    find_runs(lines, runs, tile, core);
    return CLV_OK;
}

enum clv_status tile_scores_make(struct tile_scores *self, const struct tile *tile, const struct patch *core,
                                 const struct clv_model *model, const struct layout *at, struct clv_error *err)
{
    OWNED(tile_scores_release) struct tile_scores result = {0};
    MUST(score(&result, tile, model, at, err));
    MUST(take_strips(&result, tile, core, err));
    MUST(take_border(&result, tile, err));
    MUST(take_runs(&result, tile, core, err));
    *self = TAKE(result);
    return CLV_OK;
}

/* The file has the sizes of a tile's arrays, the arrays, and a hash of both. */

static uint64_t hash(const struct tile_scores *self)
{
    uint64_t value = hash_bytes(HASH_START, self->bytes, sizeof self->bytes);
    for (int k = 0; k < N_TILE_ARRAYS; k++)
        value = hash_bytes(value, self->array[k], self->bytes[k]);
    return value;
}

bool tile_scores_write(FILE *file, const struct tile_scores *self)
{
    uint64_t checksum = hash(self);
    bool is_written = fwrite(self->bytes, sizeof self->bytes, 1, file) == 1;
    for (int k = 0; k < N_TILE_ARRAYS && is_written; k++)
        is_written = fwrite(self->array[k], 1, self->bytes[k], file) == self->bytes[k];
    return is_written && fwrite(&checksum, sizeof checksum, 1, file) == 1;
}

bool tile_scores_read(struct tile_scores *self, FILE *file, size_t limit, bool regions_alone)
{
    OWNED(tile_scores_release) struct tile_scores result = {0};
    uint64_t checksum = 0;
    size_t total = 0;
    bool is_read = fread(result.bytes, sizeof result.bytes, 1, file) == 1;
    for (int k = 0; k < N_TILE_ARRAYS && is_read; k++) {
        is_read = result.bytes[k] <= limit && (total += result.bytes[k]) <= limit;
        if (is_read && regions_alone && k < TILE_LINES)
            is_read = fseeko(file, (off_t)result.bytes[k], SEEK_CUR) == 0;
        else if (is_read)
            is_read = (result.array[k] = array_alloc(result.bytes[k], 1)) &&
                      fread(result.array[k], 1, result.bytes[k], file) == result.bytes[k];
    }
    if (is_read && !regions_alone)
        is_read = fread(&checksum, sizeof checksum, 1, file) == 1 && checksum == hash(&result);
    if (is_read)
        *self = TAKE(result);
    return is_read;
}
