/* SLIC: Achanta, Shaji, Smith, Lucchi, Fua, Suesstrunk, "SLIC superpixels compared to state-of-the-art superpixel
 * methods", TPAMI 34(11), 2012.
 *
 * Pixels are stored in tiles of 8 x 8 with separate colour planes, so that a tile is compared with a centre in full
 * vectors of any width. In each iteration every tile lists the centres whose window touches it, and only pixels that
 * change their cluster update the clusters' sums. Colours are integers (1/32 of a Lab unit), so the sums are exact and
 * do not depend on the order of updates. Start at clv_slic, at the end. */
#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "cleave/superpixel.h"
#include "superpixel/superpixel.h"

struct cluster {
    int64_t count, lab[3], x, y; /* sums over its pixels */
};

struct slic {
    int32_t n; /* clusters */
    struct tiles tiles;
    struct centre *centres;   /* [n] */
    struct cluster *clusters; /* [n] */
    float half_x, half_y;     /* half the size of a centre's window in pixels */
    size_t *first;            /* [n_tiles + 1] where a tile's candidates begin */
    int32_t *candidates;      /* centres, ascending within a tile */
};

void clv_slic_defaults(struct clv_slic_options *options)
{
    *options = (struct clv_slic_options){.n_superpixels = 600, .compactness = 10, .n_iterations = 10};
}

void clv_superpixels_release(struct clv_superpixels *superpixels)
{
    array_free(superpixels->labels);
    *superpixels = (struct clv_superpixels){0};
}

static enum clv_status slic_check(const struct clv_image *image, const struct clv_slic_options *options,
                                  struct clv_error *err)
{
    if (!image->pixels || image->width < 1 || image->height < 1)
        return fail(err, CLV_ERR_USAGE, "superpixels: image is %dx%d", image->width, image->height);
    FAIL_IF(image->channels != 3, CLV_ERR_USAGE, "superpixels: image has %d channel(s), not 3", image->channels);
    FAIL_IF((int64_t)image->width * image->height > INT32_MAX, CLV_ERR_USAGE,
            "superpixels: image is %dx%d, more than 2^31 pixels", image->width, image->height);
    if (options->n_superpixels < 1)
        return fail(err, CLV_ERR_USAGE, "superpixels: number wanted is %d, not at least 1", options->n_superpixels);
    FAIL_IF(!(options->compactness > 0) || isinf(options->compactness), CLV_ERR_USAGE,
            "superpixels: compactness is %g, not a positive number", (double)options->compactness);
    FAIL_IF(options->n_iterations < 1 || options->n_iterations > 100, CLV_ERR_USAGE,
            "superpixels: number of iterations is %d, not in 1..100", options->n_iterations);
    return CLV_OK;
}

/* Returns the squared colour gradient at a pixel: the sum over columns and rows (eq. 2 of the authors' technical
 * report, without the root). */
static int64_t gradient_at(const struct tiles *tiles, int32_t x, int32_t y)
{
    int32_t left = x > 0 ? x - 1 : 0, right = x + 1 < tiles->width ? x + 1 : x;
    int32_t above = y > 0 ? y - 1 : 0, below = y + 1 < tiles->height ? y + 1 : y;
    int64_t sum = 0;
    for (int c = 0; c < 3; c++) {
        const int16_t *plane = tiles->lab[c];
        int64_t dx = plane[tile_offset(tiles, right, y)] - plane[tile_offset(tiles, left, y)];
        int64_t dy = plane[tile_offset(tiles, x, below)] - plane[tile_offset(tiles, x, above)];
        sum += dx * dx + dy * dy;
    }
    return sum;
}

/* Returns a centre at the pixel of lowest gradient among the 3 x 3 pixels around (x, y), and at (x, y) among equals. */
static struct centre place_centre(const struct tiles *tiles, int32_t x, int32_t y)
{
    int32_t best_x = x, best_y = y;
    int64_t lowest = gradient_at(tiles, x, y);
    for (int32_t v = y > 0 ? y - 1 : 0; v <= y + 1 && v < tiles->height; v++)
        for (int32_t u = x > 0 ? x - 1 : 0; u <= x + 1 && u < tiles->width; u++) {
            int64_t gradient = gradient_at(tiles, u, v);
            if (gradient < lowest) {
                lowest = gradient;
                best_x = u;
                best_y = v;
            }
        }
    size_t at = tile_offset(tiles, best_x, best_y);
    return (struct centre){
        .lab = {tiles->lab[0][at], tiles->lab[1][at], tiles->lab[2][at]}, .x = (float)best_x, .y = (float)best_y};
}

/* Places exactly n centres in rows of nearly equal spacing. The number of rows makes the cells about square; rows may
 * differ by one centre. Returns the grid step in pixels. */
static float place_centres(struct slic *slic)
{
    const struct tiles *tiles = &slic->tiles;
    double width = tiles->width, height = tiles->height, n = slic->n;
    double rows = round(sqrt(n * height / width));
    rows = fmin(fmax(rows, ceil(n / width)), fmin(height, n));
    int32_t n_rows = (int32_t)rows, k = 0;
    for (int32_t r = 0; r < n_rows; r++) {
        int32_t end = (int32_t)((int64_t)slic->n * (r + 1) / n_rows), n_columns = end - k;
        int32_t y = (int32_t)((r + 0.5) * height / n_rows);
        for (int32_t c = 0; k < end; c++, k++)
            slic->centres[k] = place_centre(tiles, (int32_t)((c + 0.5) * width / n_columns), y);
    }
    double step_y = height / rows, step_x = width / floor(n / rows), step = sqrt(width * height / n);
    slic->half_x = (float)fmax(step, step_x);
    slic->half_y = (float)fmax(step, step_y);
    return (float)step;
}

struct tile_span {
    int32_t left, right, top, bottom; /* inclusive */
};

/* Returns the tiles that a centre's window touches. */
static struct tile_span window_of(const struct slic *slic, const struct centre *centre)
{
    const struct tiles *tiles = &slic->tiles;
    float right = fminf(centre->x + slic->half_x, (float)(tiles->width - 1));
    float bottom = fminf(centre->y + slic->half_y, (float)(tiles->height - 1));
    return (struct tile_span){(int32_t)fmaxf(centre->x - slic->half_x, 0) / TILE_SIDE, (int32_t)right / TILE_SIDE,
                              (int32_t)fmaxf(centre->y - slic->half_y, 0) / TILE_SIDE, (int32_t)bottom / TILE_SIDE};
}

/* Lists each tile's candidates by a counting sort. */
static void list_candidates(struct slic *slic)
{
    size_t n_tiles = slic->tiles.n, columns = (size_t)slic->tiles.columns;
    memset(slic->first, 0, (n_tiles + 1) * sizeof *slic->first);
    for (int32_t k = 0; k < slic->n; k++) {
        struct tile_span span = window_of(slic, &slic->centres[k]);
        for (int32_t r = span.top; r <= span.bottom; r++)
            for (int32_t c = span.left; c <= span.right; c++)
                slic->first[(size_t)r * columns + (size_t)c]++;
    }
    size_t begin = 0;
    for (size_t t = 0; t <= n_tiles; t++) {
        begin += slic->first[t];
        slic->first[t] = begin;
    }
    for (int32_t k = slic->n - 1; k >= 0; k--) { /* backwards, so that first[t] is at last the first candidate of t */
        struct tile_span span = window_of(slic, &slic->centres[k]);
        for (int32_t r = span.top; r <= span.bottom; r++)
            for (int32_t c = span.left; c <= span.right; c++)
                slic->candidates[--slic->first[(size_t)r * columns + (size_t)c]] = k;
    }
}

static void cluster_add(struct cluster *cluster, const struct tiles *tiles, size_t at, int32_t x, int32_t y, int sign)
{
    cluster->count += sign;
    for (int c = 0; c < 3; c++)
        cluster->lab[c] += sign * tiles->lab[c][at];
    cluster->x += sign * x;
    cluster->y += sign * y;
}

/* Moves the tile's changed pixels to their new clusters and returns whether any pixel changed. One row of changed[] is
 * read as one word. */
static bool update_tile(struct slic *slic, size_t t, const int32_t *labels, const uint8_t *changed)
{
    struct tiles *tiles = &slic->tiles;
    int32_t left = (int32_t)(t % (size_t)tiles->columns) * TILE_SIDE,
            top = (int32_t)(t / (size_t)tiles->columns) * TILE_SIDE;
    int32_t n_columns = tiles->width - left < TILE_SIDE ? tiles->width - left : TILE_SIDE;
    int32_t n_rows = tiles->height - top < TILE_SIDE ? tiles->height - top : TILE_SIDE;
    size_t begin = t * TILE_PIXELS;
    bool any = false;
    for (int32_t r = 0; r < n_rows; r++) {
        uint64_t word;
        memcpy(&word, changed + r * TILE_SIDE, sizeof word);
        word = le64toh(word) & (UINT64_MAX >> (8 * (TILE_SIDE - n_columns)));
        any |= word != 0;
        for (; word; word &= word - 1) {
            int32_t c = __builtin_ctzll(word) / 8, i = r * TILE_SIDE + c, old = tiles->labels[begin + (size_t)i];
            if (old >= 0)
                cluster_add(&slic->clusters[old], tiles, begin + (size_t)i, left + c, top + r, -1);
            cluster_add(&slic->clusters[labels[i]], tiles, begin + (size_t)i, left + c, top + r, 1);
            tiles->labels[begin + (size_t)i] = labels[i];
        }
    }
    return any;
}

static void move_centres(struct slic *slic)
{
    for (int32_t k = 0; k < slic->n; k++) {
        const struct cluster *cluster = &slic->clusters[k];
        if (!cluster->count)
            continue;
        float count = (float)cluster->count;
        slic->centres[k] = (struct centre){
            .lab = {(float)cluster->lab[0] / count, (float)cluster->lab[1] / count, (float)cluster->lab[2] / count},
            .x = (float)cluster->x / count,
            .y = (float)cluster->y / count};
    }
}

static void iterate(struct slic *slic, int32_t n_iterations, float weight)
{
    for (int32_t i = 0; i < n_iterations; i++) {
        list_candidates(slic);
        bool any = false;
        for (size_t t = 0; t < slic->tiles.n; t++) {
            int32_t labels[TILE_PIXELS];
            uint8_t changed[TILE_PIXELS];
            size_t n_candidates = slic->first[t + 1] - slic->first[t];
            if (!n_candidates) /* every centre has moved away: the pixels keep their cluster */
                continue;
            tile_assign(labels, changed, &slic->tiles, t, slic->centres, slic->candidates + slic->first[t],
                        n_candidates, weight);
            any |= update_tile(slic, t, labels, changed);
        }
        if (!any)
            break;
        move_centres(slic);
    }
}

static enum clv_status slic_init(struct slic *slic, const struct clv_image *image,
                                 const struct clv_slic_options *options, struct clv_error *err)
{
    int64_t n_pixels = (int64_t)image->width * image->height;
    slic->n = options->n_superpixels < n_pixels ? options->n_superpixels : (int32_t)n_pixels;
    MUST(tiles_init(&slic->tiles, image, err));
    slic->centres = array_alloc((size_t)slic->n, sizeof *slic->centres);
    slic->clusters = array_zalloc((size_t)slic->n, sizeof *slic->clusters);
    slic->first = array_alloc(slic->tiles.n + 1, sizeof *slic->first);
    return slic->centres && slic->clusters && slic->first ? CLV_OK : fail_memory(err);
}

/* Allocates the candidate lists for the largest possible iteration: a window 2h wide touches at most 2h / 8 + 2 tiles
 * in each direction. */
static enum clv_status candidates_init(struct slic *slic, struct clv_error *err)
{
    double across = fmin(floor(2 * (double)slic->half_x / TILE_SIDE) + 2, slic->tiles.columns);
    double down = fmin(floor(2 * (double)slic->half_y / TILE_SIDE) + 2, slic->tiles.rows);
    slic->candidates = array_alloc((size_t)slic->n * (size_t)(across * down), sizeof *slic->candidates);
    return slic->candidates ? CLV_OK : fail_memory(err);
}

static void slic_release(struct slic *slic)
{
    tiles_release(&slic->tiles);
    arrays_free(slic->centres, slic->clusters, slic->first, slic->candidates);
}

enum clv_status clv_slic(struct clv_superpixels *superpixels, const struct clv_image *image,
                         const struct clv_slic_options *options, struct clv_error *err)
{
    struct clv_slic_options defaults;
    clv_slic_defaults(&defaults);
    options = options ? options : &defaults;
    OWNED(slic_release) struct slic slic = {0};
    OWNED_ARRAY int32_t *labels = NULL;
    int32_t n_regions;
    MUST(slic_check(image, options, err));
    MUST(slic_init(&slic, image, options, err));
    float step = place_centres(&slic);
    MUST(candidates_init(&slic, err));
    /* Eq. 3: D^2 = d_c^2 + (d_s m/S)^2. Above a compactness m of 1e5 colour has no effect; the bound keeps squares
     * finite. */
    float weight = fminf(options->compactness, 1e5F) * LAB_SCALE / step;
    iterate(&slic, options->n_iterations, weight * weight);

    labels = array_alloc((size_t)image->width * (size_t)image->height, sizeof *labels);
    NEED(labels);
    tiles_read_labels(labels, &slic.tiles);
    MUST(regions_connect(labels, &n_regions, image->width, image->height, slic.n, err));
    *superpixels = (struct clv_superpixels){image->width, image->height, n_regions, TAKE(labels)};
    return CLV_OK;
}
