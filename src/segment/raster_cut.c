/* Segments a raster that is too large for memory. raster_cut_read computes the scores of each tile and saves them in
 * a file, from which --resume continues. raster_cut_solve labels the regions of all tiles jointly. Rows of the mask
 * are painted from that file afterwards. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "image/image.h"
#include "model/model.h"
#include "refine/by_model/by_model.h"
#include "segment/segment.h"
#include "superpixel/region_graph.h"

#define WINDOW_VALUES ((size_t)16 << 20) /* target size of a window of several tiles */
#define TILES_A_TURN  4                  /* tiles that a thread computes before they are added to the graph */

static const char magic[16] = "cleave tiles 2\n";

static enum clv_status check_model(const struct clv_model *model, struct clv_error *err)
{
    const struct clv_recipe *recipe = &model->recipe;
    const struct {
        bool is_so;
        const char *why;
    } reasons[] = {
        {!model->has_recipe || !(recipe->scale > 0),
         "the model is of no fixed scale, so that the whole image must be in memory (--max-pixels allows more); "
         "`cleave train --scale 1' makes one that takes rasters of any size, tile by tile"},
        {model->first,
         "the model has two stages, of which the second looks at the whole image; train without --stages"},
        {model->n_extra && label_costs_are_there(model), "the model has label costs, which look at the whole image"},
        {recipe->n_maps > (recipe->bands.n_bands > 0), "the model wants maps of networks, which are not read by tiles"},
        {model->layout.n_labels > 2 && model->layout.pairwise == CLV_PAIRWISE_FULL,
         "tables for pairs of more than two labels do not fit into memory; train with --pairwise potts or --pairwise "
         "none"},
        {model->layout.pairwise != CLV_PAIRWISE_NONE && model->decoding.rule != CLV_DECODE_ORACLE &&
             model->decoding.rule != CLV_DECODE_MAP,
         "the model is not decoded by its best labelling, which a cut finds; --decode map does so"},
    };
    for (size_t k = 0; k < sizeof reasons / sizeof *reasons; k++)
        FAIL_IF(reasons[k].is_so, CLV_ERR_USAGE, "%s", reasons[k].why);
    return CLV_OK;
}

bool raster_cut_is_needed(const char *path, const struct clv_image_limits *limits)
{
    struct raster raster;
    struct clv_error ignored;
    if (raster_open_windows(&raster, path, limits, &ignored) != CLV_OK)
        return false;
    uint64_t n = (uint64_t)raster.width * (uint64_t)raster.height;
    raster_close(&raster);
    return n > limits_resolved(limits).max_pixels;
}

static enum clv_status open_raster(struct raster_cut *self, struct clv_error *err)
{
    const struct raster_cut_options *options = &self->options;
    const struct clv_recipe *recipe = &options->model->recipe;
    struct raster *raster = &self->rasters[0];
    MUST(raster_open_windows(raster, options->path, options->limits, err));
    MUST(raster_stamp(&self->options.key, raster, true, err));
    MUST(raster_stamp(&self->files, raster, false, err));
    self->bands = recipe->bands;
    FAIL_IF(!recipe->bands.n_bands && !bands_are_plain(&self->bands, raster), CLV_ERR_DATA,
            "%s: not 8 bits of grey or colours, as the images learned from", options->path);
    if (self->bands.n_bands != raster->n_bands)
        return raster_fail_bands(raster, options->path, self->bands.n_bands, err);
    self->width = raster->width;
    self->height = raster->height;
    self->working_width = scaled_size(self->width, recipe->scale);
    self->working_height = scaled_size(self->height, recipe->scale);
    FAIL_IF((int64_t)self->working_width * self->working_height / recipe->region_area > INT32_MAX / 8, CLV_ERR_DATA,
            "%s: too many regions; train with a larger --scale or --region-area", options->path);
    self->n_columns = (self->working_width - 1) / recipe->tile_px + 1;
    self->n_tiles = self->n_columns * ((self->working_height - 1) / recipe->tile_px + 1);
    if (options->at_once < 1) {
        size_t side = size_of_number((double)((float)(recipe->tile_px + 2 * recipe->halo_px) * recipe->scale));
        size_t fit = side ? WINDOW_VALUES / ((size_t)raster->n_bands * side * side) : 1;
        self->options.at_once = fit > 1 && fit < INT32_MAX ? (int32_t)fit : 1;
    }
    if (self->options.at_once > self->n_columns)
        self->options.at_once = self->n_columns;
    bool is_shrunk = self->working_width < self->width || self->working_height < self->height;
    if (options->refine == CLV_REFINE_ALL || (options->refine == CLV_REFINE_LARGE && is_shrunk))
        self->refined_px = options->refined_px ? options->refined_px : REFINED_PX;
    return CLV_OK;
}

static enum clv_status unwritten(const struct raster_cut *self, struct clv_error *err)
{
    return fail_errno(err, CLV_ERR_IO, "%s: cannot be written", self->options.tiles);
}

static enum clv_status add_tile(struct raster_cut *self, int32_t k, struct tile_scores *tile, struct clv_error *err);

/* Reads back the tiles that the file has completely, and positions the run after them. */
static enum clv_status resume(struct raster_cut *self, struct clv_error *err)
{
    char word[sizeof magic];
    uint64_t key = 0;
    OWNED(tile_scores_release) struct tile_scores tile = {0};
    size_t size = fseeko(self->file, 0, SEEK_END) ? 0 : (size_t)ftello(self->file);
    rewind(self->file);
    if (fread(word, sizeof word, 1, self->file) != 1 || memcmp(word, magic, sizeof word) != 0 ||
        fread(&key, sizeof key, 1, self->file) != 1 || key != self->options.key) {
        if (size)
            report_message(self->options.progress, CLV_NOTE,
                           "%s: its tiles are of other files, another model or other options: all are made again",
                           self->options.tiles);
        return CLV_OK;
    }
    while (self->n_resumed < self->n_tiles && tile_scores_read(&tile, self->file, size, false)) {
        MUST(add_tile(self, self->n_resumed, &tile, err));
        self->offset[++self->n_resumed] = ftello(self->file);
    }
    return CLV_OK;
}

static enum clv_status open_file(struct raster_cut *self, struct clv_error *err)
{
    const struct raster_cut_options *options = &self->options;
    self->file = options->resumes ? fopen(options->tiles, "rb+e") : NULL;
    self->offset[0] = sizeof magic + sizeof options->key;
    if (self->file)
        MUST(resume(self, err));
    else if (!(self->file = fopen(options->tiles, "wb+e")))
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot be created", options->tiles);
    if (ftruncate(fileno(self->file), self->offset[self->n_resumed]))
        return unwritten(self, err);
    if (self->n_resumed)
        report_message(options->progress, CLV_NOTE, "%s: %d of %d tiles finished before", options->path,
                       self->n_resumed, self->n_tiles);
    rewind(self->file);
    bool is_written = fwrite(magic, sizeof magic, 1, self->file) == 1 &&
                      fwrite(&options->key, sizeof options->key, 1, self->file) == 1;
    return is_written ? CLV_OK : unwritten(self, err);
}

static enum clv_status open_all(struct raster_cut *self, struct clv_error *err)
{
    layout_init(&self->at, &self->options.model->recipe);
    self->rasters = arena_zalloc(&self->arena, (size_t)self->options.n_threads, sizeof *self->rasters);
    NEED(self->rasters);
    MUST(open_raster(self, err));
    size_t n_columns = (size_t)self->n_columns, n_tiles = (size_t)self->n_tiles;
    self->border = arena_zalloc(&self->arena, n_columns, sizeof *self->border);
    self->row = arena_zalloc(&self->arena, n_columns, sizeof *self->row);
    self->offset = arena_zalloc(&self->arena, n_tiles + 1, sizeof *self->offset);
    self->first_node = arena_zalloc(&self->arena, n_tiles + 1, sizeof *self->first_node);
    self->line = arena_alloc(&self->arena, (size_t)self->working_width, sizeof *self->line);
    NEED(!self->arena.failed);
    return open_file(self, err);
}

enum clv_status raster_cut_open(struct raster_cut *self, const struct raster_cut_options *options,
                                struct clv_error *err)
{
    *self = (struct raster_cut){.options = *options, .row_loaded = -1, .line_loaded = -1};
    self->options.n_threads = parallel_threads(options->n_threads);
    MUST(check_model(options->model, err));
    enum clv_status status = open_all(self, err);
    if (status)
        raster_cut_close(self, options->resumes);
    return status;
}

static void release_field(struct raster_cut *self)
{
    arrays_free(self->edges, self->unary, self->coupling);
    self->edges = NULL;
    self->unary = self->coupling = NULL;
}

void raster_cut_close(struct raster_cut *self, bool keeps)
{
    for (int k = 0; self->rasters && k < self->options.n_threads; k++)
        raster_close(&self->rasters[k]);
    for (int32_t c = 0; self->border && self->row && c < self->n_columns; c++) {
        tile_scores_release(&self->border[c]);
        tile_scores_release(&self->row[c]);
    }
    release_field(self);
    arena_release(&self->arena);
    if (self->file) {
        fclose(self->file);
        if (!keeps)
            unlink(self->options.tiles);
    }
    *self = (struct raster_cut){0};
}

/* Reserves memory for n edges in all. */
static enum clv_status reserve_edges(struct raster_cut *self, size_t n, struct clv_error *err)
{
    size_t of_edge = edge_scores(&self->options.model->layout);
    const struct array_part parts[] = {{&self->edges, sizeof *self->edges},
                                       {&self->coupling, of_edge * sizeof *self->coupling}};
    if (n > INT32_MAX)
        return fail(err, CLV_ERR_DATA, "%s: more than 2^31 couplings; train with a larger --scale or --region-area",
                    self->options.path);
    return array_reserve_all(parts, of_edge ? 2 : 1, &self->edge_capacity, n ? n : 1) ? fail_memory(err) : CLV_OK;
}

/* Returns an array of both tiles, one after the other. */
static void *joined(struct arena *arena, const struct tile_scores *const tiles[2], enum tile_array which)
{
    size_t first = tiles[0]->bytes[which], second = tiles[1]->bytes[which];
    char *both = arena_alloc(arena, first + second, 1);
    if (both) {
        memcpy(both, tiles[0]->array[which], first);
        memcpy(both + first, tiles[1]->array[which], second);
    }
    return both;
}

/* Adds edges between regions at the borders of two tiles, the second of which is the last one, and their couplings. */
static enum clv_status couple(struct raster_cut *self, const struct region_graph *seam, const int32_t tile[2],
                              const struct tile_scores *const tiles[2], struct clv_error *err)
{
    const struct clv_model *model = self->options.model;
    size_t n = (size_t)seam->n_edges, p = (size_t)edge_feature_count(&model->recipe), first = (size_t)self->n_edges;
    int32_t n_first = seam->first_node[1];
    OWNED(arena_release) struct arena arena = {0};
    const struct region *regions = joined(&arena, tiles, TILE_REGIONS);
    const float *means = joined(&arena, tiles, TILE_MEANS);
    float *features = arena_alloc(&arena, n, p * sizeof *features);
    int64_t *row = joined(&arena, tiles, TILE_ROW);
    const struct clv_adjacency edges = {seam->n_nodes, seam->n_edges, seam->edges, seam->contact};
    struct clv_problem problem = {.n_nodes = seam->n_nodes,
                                  .n_edges = seam->n_edges,
                                  .n_features = model->layout.n_features,
                                  .n_edge_features = (int32_t)p,
                                  .row = row,
                                  .index = joined(&arena, tiles, TILE_INDEX),
                                  .value = joined(&arena, tiles, TILE_VALUE),
                                  .edges = (const int32_t(*)[2])seam->edges,
                                  .edge_features = features};
    NEED(!arena.failed);
    MUST(reserve_edges(self, first + n, err));
    for (int32_t i = 0, shift = 0; i <= seam->n_nodes - n_first; i++) {
        shift = i ? shift : (int32_t)row[n_first];
        row[n_first + i] = ((const int64_t *)tiles[1]->array[TILE_ROW])[i] + shift;
    }
    int32_t n_channels = (int32_t)(tiles[0]->bytes[TILE_MEANS] / sizeof *means / (size_t)n_first);
    const struct edge_ends ends = {regions, &problem, means, n_channels};
    tile_edges_fill(features, &edges, &ends, &self->at);
    MUST(clv_problem_check(&problem, &model->layout, err));
    clv_pairwise_scores(self->coupling + first * edge_scores(&model->layout), &problem, &model->layout, model->w);
    for (size_t e = 0; e < n; e++)
        for (int end = 0; end < 2; end++)
            self->edges[first + e][end] =
                self->first_node[tile[end]] +
                ((const int32_t *)tiles[end]->array[TILE_BORDER])[seam->edges[e][end] - (end ? n_first : 0)];
    self->n_edges += seam->n_edges;
    return CLV_OK;
}

/* Couples the last tile, number k, with the one above it or on its left. */
static enum clv_status join(struct raster_cut *self, int32_t k, const struct tile_scores *last, bool is_above,
                            struct clv_error *err)
{
    const int32_t number[2] = {is_above ? k - self->n_columns : k - 1, k};
    const struct tile_scores *const tiles[2] = {&self->border[number[0] % self->n_columns], last};
    OWNED(region_graph_release) struct region_graph seam = {0};
    struct region_map maps[2];
    region_graph_init(&seam, 0);
    for (int t = 0; t < 2; t++) {
        struct patch at =
            tile_bounds(&self->options.model->recipe, self->working_width, self->working_height, number[t]).patch;
        const struct clv_problem regions = {.n_nodes = (int32_t)(tiles[t]->bytes[TILE_BORDER] / sizeof(int32_t))};
        const int32_t *strips = tiles[t]->array[TILE_STRIPS];
        maps[t] = (struct region_map){t, at.x, at.y, at.width, at.height, strips};
        if (is_above && t == 0) { /* the lower row of the tile above */
            maps[t].y += at.height - 1;
            maps[t].labels += at.width;
        } else if (!is_above) { /* the right column of the tile on the left, or the left one of tile k */
            maps[t].x += t ? 0 : at.width - 1;
            maps[t].labels += 2 * at.width + (t ? 0 : at.height);
        }
        maps[t].width = is_above ? at.width : 1;
        maps[t].height = is_above ? 1 : at.height;
        MUST(region_graph_append(&seam, &at, &regions, NULL, err));
    }
    MUST(region_graph_join(&seam, &maps[0], &maps[1], REGION_SEAM, NULL, err));
    return couple(self, &seam, number, tiles, err);
}

/* Adds a tile to the graph and takes over its arrays, unless it fails. */
static enum clv_status add_tile(struct raster_cut *self, int32_t k, struct tile_scores *tile, struct clv_error *err)
{
    const struct clv_weight_layout *layout = &self->options.model->layout;
    size_t rows = clv_weight_layout_rows(layout), first = (size_t)self->first_node[k],
           first_edge = (size_t)self->n_edges;
    size_t n = tile->bytes[TILE_UNARY] / sizeof *self->unary / rows, m = tile->bytes[TILE_EDGES] / sizeof *self->edges;
    int32_t column = k % self->n_columns;
    const int32_t(*edges)[2] = (const int32_t(*)[2])tile->array[TILE_EDGES];
    const struct array_part unary = {&self->unary, rows * sizeof *self->unary};
    if (array_reserve_all(&unary, 1, &self->node_capacity, first + n))
        return fail_memory(err);
    MUST(reserve_edges(self, first_edge + m, err));
    memcpy(self->unary + first * rows, tile->array[TILE_UNARY], tile->bytes[TILE_UNARY]);
    if (tile->bytes[TILE_COUPLING])
        memcpy(self->coupling + first_edge * edge_scores(layout), tile->array[TILE_COUPLING],
               tile->bytes[TILE_COUPLING]);
    for (size_t e = 0; e < m; e++)
        for (int end = 0; end < 2; end++)
            self->edges[first_edge + e][end] = (int32_t)first + edges[e][end];
    self->first_node[k + 1] = (int32_t)(first + n);
    self->n_edges += (int32_t)m;
    bool has_edges = layout->pairwise != CLV_PAIRWISE_NONE;
    if (has_edges && k >= self->n_columns)
        MUST(join(self, k, tile, true, err));
    if (has_edges && column)
        MUST(join(self, k, tile, false, err));
    static const enum tile_array done[] = {TILE_UNARY, TILE_COUPLING, TILE_EDGES, TILE_LINES, TILE_RUNS};
    for (size_t i = 0; i < sizeof done / sizeof *done; i++) {
        array_free(tile->array[done[i]]);
        tile->array[done[i]] = NULL;
    }
    tile_scores_release(&self->border[column]);
    self->border[column] = TAKE(*tile);
    return CLV_OK;
}

/* Computes n tiles, writes them to the file, and adds them to the graph. */
static enum clv_status take_turn(struct raster_cut *self, struct tile_scores *scores, int32_t first, int32_t n,
                                 struct clv_error *err)
{
    MUST(raster_cut_describe(scores, self, first, n, err));
    for (int32_t k = first; k < first + n; k++) {
        if (fseeko(self->file, self->offset[k], SEEK_SET) || !tile_scores_write(self->file, &scores[k - first]))
            return unwritten(self, err);
        self->offset[k + 1] = ftello(self->file);
        MUST(add_tile(self, k, &scores[k - first], err));
        report_progress(self->options.progress, "tiles", (size_t)k + 1, (size_t)self->n_tiles, NULL);
    }
    return fflush(self->file) ? unwritten(self, err) : CLV_OK;
}

struct turn_scores {
    struct tile_scores *tiles; /* [n] */
    int32_t n;
};

static void turn_scores_release(struct turn_scores *self)
{
    for (int32_t i = 0; self->tiles && i < self->n; i++)
        tile_scores_release(&self->tiles[i]);
    array_free(self->tiles);
}

enum clv_status raster_cut_read(struct raster_cut *self, struct clv_error *err)
{
    int32_t n = self->options.n_threads * (TILES_A_TURN > self->options.at_once ? TILES_A_TURN : self->options.at_once);
    OWNED(turn_scores_release) struct turn_scores turn = {.n = n};
    turn.tiles = array_zalloc((size_t)n, sizeof *turn.tiles);
    NEED(turn.tiles);
    for (int32_t k = self->n_resumed; k < self->n_tiles; k += n)
        MUST(take_turn(self, turn.tiles, k, n < self->n_tiles - k ? n : self->n_tiles - k, err));
    return CLV_OK;
}

struct clv_field raster_cut_field(const struct raster_cut *self)
{
    const struct clv_weight_layout *layout = &self->options.model->layout;
    bool has_edges = layout->pairwise != CLV_PAIRWISE_NONE;
    return (struct clv_field){
        .n_nodes = self->first_node[self->n_tiles],
        .n_edges = has_edges ? self->n_edges : 0,
        .n_labels = layout->n_labels,
        .form = layout->pairwise,
        .edges = (const int32_t(*)[2])self->edges,
        .unary = self->unary,
        .pairwise = has_edges ? self->coupling : NULL,
    };
}

enum clv_status raster_cut_show(struct raster_cut *self, const int32_t *values, struct clv_error *err)
{
    const size_t n = (size_t)self->first_node[self->n_tiles];
    release_field(self);
    NEED(self->y = arena_alloc(&self->arena, n, 1));
    for (size_t i = 0; i < n; i++)
        self->y[i] = (uint8_t)values[i];
    return CLV_OK;
}

static enum clv_status solve(struct raster_cut *self, struct clv_oracle *oracle, struct clv_error *err)
{
    const struct clv_field field = raster_cut_field(self);
    const size_t n = (size_t)field.n_nodes;
    const bool wants_margin = self->refined_px && refining_is_cut(self->options.model);
    OWNED_ARRAY int32_t *y = array_alloc(n, sizeof *y);
    NEED(y);
    if (wants_margin)
        NEED(self->margin = arena_alloc(&self->arena, n, sizeof *self->margin));
    MUST(field.n_labels > 2 && field.form != CLV_PAIRWISE_NONE ? clv_oracle_expand(oracle, y, NULL, &field, err)
                                                               : clv_oracle_map(oracle, y, NULL, &field, err));
    if (wants_margin)
        MUST(clv_oracle_margins(oracle, self->margin, y, err));
    return raster_cut_show(self, y, err);
}

/* Frees the field after a failure, too. */
enum clv_status raster_cut_solve(struct raster_cut *self, struct clv_oracle *oracle, struct clv_error *err)
{
    enum clv_status status = solve(self, oracle, err);
    release_field(self);
    return status;
}

enum clv_status raster_cut_check_files(const struct raster_cut *self, struct clv_error *err)
{
    uint64_t files = 0;
    MUST(raster_stamp(&files, &self->rasters[0], false, err));
    FAIL_IF(files != self->files, CLV_ERR_DATA, "%s: has changed while it was segmented; run the command again",
            self->options.path);
    return CLV_OK;
}

/* Reads the regions of a row of tiles from the file. */
static enum clv_status load_row(struct raster_cut *self, int32_t row, struct clv_error *err)
{
    for (int32_t c = 0; c < self->n_columns; c++) {
        int32_t k = row * self->n_columns + c;
        size_t size = (size_t)(self->offset[k + 1] - self->offset[k]);
        tile_scores_release(&self->row[c]);
        if (fseeko(self->file, self->offset[k], SEEK_SET) || !tile_scores_read(&self->row[c], self->file, size, true))
            return fail(err, CLV_ERR_IO, "%s: cannot be read back", self->options.tiles);
    }
    self->row_loaded = row;
    return CLV_OK;
}

/* Finds the regions of a working row's pixels. */
static enum clv_status load_line(struct raster_cut *self, int32_t from, struct clv_error *err)
{
    int32_t side = self->options.model->recipe.tile_px, y = from % side;
    if (from == self->line_loaded)
        return CLV_OK;
    if (from / side != self->row_loaded)
        MUST(load_row(self, from / side, err));
    for (int32_t c = 0; c < self->n_columns; c++) {
        const uint32_t *lines = self->row[c].array[TILE_LINES];
        const int32_t(*runs)[2] = (const int32_t(*)[2])self->row[c].array[TILE_RUNS];
        int32_t first = self->first_node[self->row_loaded * self->n_columns + c];
        int32_t *to = self->line + (size_t)c * (size_t)side;
        for (uint32_t k = lines[y]; k < lines[y + 1]; k++)
            for (int32_t i = 0; i < runs[k][1]; i++)
                *to++ = first + runs[k][0];
    }
    self->line_loaded = from;
    return CLV_OK;
}

enum clv_status raster_cut_paint(uint8_t *labels, struct raster_cut *self, int32_t top, int32_t n_rows,
                                 struct clv_error *err)
{
    for (int32_t y = top; y < top + n_rows; y++, labels += self->width) {
        MUST(load_line(self, working_coordinate(y, self->height, self->working_height), err));
        for (int32_t x = 0; x < self->width; x++)
            labels[x] = self->y[self->line[working_coordinate(x, self->width, self->working_width)]];
    }
    return CLV_OK;
}

enum clv_status raster_cut_nodes(int32_t *nodes, struct raster_cut *self, int32_t top, int32_t n_rows,
                                 struct clv_error *err)
{
    for (int32_t y = top; y < top + n_rows; y++, nodes += self->width) {
        MUST(load_line(self, working_coordinate(y, self->height, self->working_height), err));
        for (int32_t x = 0; x < self->width; x++)
            nodes[x] = self->line[working_coordinate(x, self->width, self->working_width)];
    }
    return CLV_OK;
}

enum clv_status raster_cut_working_row(const int32_t **nodes, struct raster_cut *self, int32_t row,
                                       struct clv_error *err)
{
    MUST(load_line(self, row, err));
    *nodes = self->line;
    return CLV_OK;
}

enum clv_status raster_cut_areas(float *area, struct raster_cut *self, struct clv_error *err)
{
    const size_t n = (size_t)self->first_node[self->n_tiles];
    OWNED_ARRAY int64_t *columns = array_zalloc((size_t)self->working_width, sizeof *columns);
    OWNED_ARRAY int64_t *rows = array_zalloc((size_t)self->working_height, sizeof *rows);
    OWNED_ARRAY int64_t *count = array_zalloc(n, sizeof *count);
    NEED(columns && rows && count);
    for (int32_t x = 0; x < self->width; x++)
        columns[working_coordinate(x, self->width, self->working_width)]++;
    for (int32_t y = 0; y < self->height; y++)
        rows[working_coordinate(y, self->height, self->working_height)]++;
    for (int32_t y = 0; y < self->working_height; y++) {
        MUST(load_line(self, y, err));
        for (int32_t x = 0; x < self->working_width; x++)
            count[self->line[x]] += columns[x] * rows[y];
    }
    for (size_t i = 0; i < n; i++)
        area[i] = (float)count[i];
    return CLV_OK;
}
