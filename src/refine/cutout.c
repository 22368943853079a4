/* Cuts an object out on transparency: in a band around its border, alpha follows from a linear Gaussian model of mixed
 * colours, whose formulas are in refine.h. All sums are integers, so bands of rows give the same pixels as the whole
 * image. Start at cutout_band; mix computes one pixel. */
#include "refine/refine.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

/* Flags of a pixel; pixels of the band are within band_width of the other side. */
enum { IS_OBJECT = 1, IS_BAND = 2 };

#define SURE_WEIGHT 64  /* weight of a pixel outside the band in mean colours; in the band it is 1 */
#define NOISE       25  /* least variance of a channel: a deviation of 5 levels */
#define FAINT       0.1 /* alpha up to FAINT becomes 0, from 1 - FAINT on 1 */

void cutout_release(struct cutout *self)
{
    array_free(self->rgba);
    *self = (struct cutout){0};
}

/* Returns the width of the band around the border, in pixels. */
static int32_t band_width(int32_t width, int32_t height)
{
    int32_t side = width > height ? width : height;
    return 2 + side / 1000;
}

/* Flags of the pixels of some rows and their halo. */
struct kinds {
    const struct image_band *rows;
    int32_t width, height; /* of the image */
    int32_t first, end;    /* rows of the image that are present */
    uint8_t *kind;
};

static int32_t clamp(int32_t at, int32_t n)
{
    return at < 0 ? 0 : at < n ? at : n - 1;
}

/* Returns row y; rows beyond the image repeat its first or last one. */
static uint8_t *kind_row(const struct kinds *self, int32_t y)
{
    return self->kind + (size_t)(clamp(y, self->height) - self->first) * (size_t)self->width;
}

/* Marks the pixels of rows from..to - 1 with object and background in the square of side 2 band + 1 around them. `sum`
 * counts object pixels of each column over the rows of the square. */
static enum clv_status mark_band(struct kinds *self, int32_t from, int32_t to, int32_t band, struct clv_error *err)
{
    OWNED_ARRAY int32_t *sum = array_zalloc((size_t)self->width, sizeof *sum);
    int32_t side = 2 * band + 1, width = self->width;
    NEED(sum);
    for (int32_t y = from - band; y < to + band; y++) {
        const uint8_t *enters = kind_row(self, y);
        const uint8_t *leaves = y - side >= from - band ? kind_row(self, y - side) : NULL;
        for (int32_t x = 0; x < width; x++)
            sum[x] += (enters[x] & IS_OBJECT) - (leaves ? leaves[x] & IS_OBJECT : 0);
        int32_t row = y - band, n = 0;
        uint8_t *marks = kind_row(self, row < from ? from : row);
        for (int32_t x = -band; x < width + band && row >= from; x++) {
            n += sum[clamp(x, width)] - (x - side >= -band ? sum[clamp(x - side, width)] : 0);
            if (x >= band && n > 0 && n < side * side)
                marks[x - band] |= IS_BAND;
        }
    }
    return CLV_OK;
}

/* tent[width] = the number of object pixels of each column around row y, weighted by a tent function that ends just
 * outside the band. */
static void weigh_columns(int32_t *tent, const struct kinds *self, int32_t y, int32_t band)
{
    const size_t width = (size_t)self->width;
    memset(tent, 0, width * sizeof *tent);
    for (int32_t dy = -band; dy <= band; dy++) {
        const uint8_t *row = kind_row(self, y + dy);
        const int32_t weight = band + 1 - (dy < 0 ? -dy : dy);
        for (size_t x = 0; x < width; x++)
            tent[x] += weight * (row[x] & IS_OBJECT);
    }
}

/* Returns the share of the object around pixel x of that row, weighted by a tent function in both directions. */
static double smoothed(const int32_t *tent, int32_t width, int32_t x, int32_t band)
{
    int64_t sum = 0, all = (int64_t)(band + 1) * (band + 1);
    for (int32_t dx = -band; dx <= band; dx++)
        sum += (int64_t)tent[clamp(x + dx, width)] * (band + 1 - (dx < 0 ? -dx : dx));
    return (double)sum / (double)(all * all);
}

/* Sums over pixels of one side: weights, colours, squared colours. */
struct sums {
    int64_t weight, colour[3], square;
};

static void sums_add(struct sums *sums, const struct sums *other, int sign)
{
    sums->weight += sign * other->weight;
    for (int c = 0; c < 3; c++)
        sums->colour[c] += sign * other->colour[c];
    sums->square += sign * other->square;
}

/* Sums of colours in the window around a pixel, kept by column and updated from row to row. */
struct nearby {
    const struct kinds *kinds;
    int32_t width, reach;
    struct sums (*columns)[2]; /* [width] of background and object, in the rows of the window */
    int32_t *tent;             /* [width] of the present row if it has pixels in the band */
};

static void add_row(struct nearby *self, int32_t y, int sign)
{
    int32_t width = self->kinds->width;
    if (y < 0 || y >= self->kinds->height)
        return;
    const uint8_t *pixel = self->kinds->rows->pixels + 3 * image_band_row(self->kinds->rows, y);
    const uint8_t *kind = kind_row(self->kinds, y);
    for (int32_t x = 0; x < width; x++, pixel += 3) {
        int64_t weight = kind[x] & IS_BAND ? 1 : SURE_WEIGHT;
        struct sums one = {.weight = weight};
        for (int c = 0; c < 3; c++) {
            one.colour[c] = weight * pixel[c];
            one.square += weight * pixel[c] * pixel[c];
        }
        sums_add(&self->columns[x][kind[x] & IS_OBJECT], &one, sign);
    }
}

static void add_column(struct sums window[2], const struct nearby *self, int32_t x, int sign)
{
    if (x < 0 || x >= self->width)
        return;
    sums_add(&window[0], &self->columns[x][0], sign);
    sums_add(&window[1], &self->columns[x][1], sign);
}

/* Computes the mean colour, and in *spread the mean variance of its channels plus NOISE. The sums must not be empty. */
static void describe(double mean[3], double *spread, const struct sums *sums)
{
    double n = (double)sums->weight;
    *spread = (double)sums->square / n;
    for (int c = 0; c < 3; c++) {
        mean[c] = (double)sums->colour[c] / n;
        *spread -= mean[c] * mean[c];
    }
    *spread = fmax(*spread, 0) / 3 + NOISE;
}

static uint8_t rounded(double value)
{
    return (uint8_t)int32_within(value + 0.5, 0, 255);
}

/* Computes a pixel of the band; `prior` is a, the smoothed labels. */
static void mix(uint8_t rgba[4], const uint8_t *pixel, double prior, double mean[2][3], const double spread[2])
{
    const double *background = mean[0], *object = mean[1];
    double between = 0, along = 0;
    for (int c = 0; c < 3; c++) {
        between += (object[c] - background[c]) * (object[c] - background[c]);
        along += (pixel[c] - background[c]) * (object[c] - background[c]);
    }
    double share = between > 0 ? fmin(fmax(along / between, 0), 1) : prior;
    double trust = prior * (1 - prior) * between / (0.5 * (spread[0] + spread[1]));
    double alpha = (prior + trust * share) / (1 + trust);
    alpha = fmin(fmax((alpha - FAINT) / (1 - 2 * FAINT), 0), 1);
    double gain = alpha * spread[1] / (alpha * alpha * spread[1] + (1 - alpha) * (1 - alpha) * spread[0] + NOISE);
    for (int c = 0; c < 3; c++)
        rgba[c] = rounded(object[c] + gain * (pixel[c] - alpha * object[c] - (1 - alpha) * background[c]));
    rgba[3] = rounded(255 * alpha);
}

static void draw_pixel(uint8_t rgba[4], const struct nearby *self, int32_t x, uint8_t kind, const uint8_t *pixel,
                       const struct sums window[2], int32_t band)
{
    double mean[2][3], spread[2];
    memset(rgba, 0, 4);
    if (kind == IS_OBJECT) {
        memcpy(rgba, pixel, 3);
        rgba[3] = 255;
    } else if (kind & IS_BAND) { /* the window holds both sides */
        describe(mean[0], &spread[0], &window[0]);
        describe(mean[1], &spread[1], &window[1]);
        mix(rgba, pixel, smoothed(self->tent, self->width, x, band), mean, spread);
    } else if (window[1].weight) {
        describe(mean[1], &spread[1], &window[1]);
        for (int c = 0; c < 3; c++)
            rgba[c] = rounded(mean[1][c]);
    }
}

static void draw_row(uint8_t *rgba, struct nearby *self, int32_t y, int32_t band)
{
    struct sums window[2] = {{0}, {0}};
    const uint8_t *kind = kind_row(self->kinds, y);
    const uint8_t *pixel = self->kinds->rows->pixels + 3 * image_band_row(self->kinds->rows, y);
    const int32_t width = self->width;
    if (memchr(kind, IS_BAND, (size_t)width) || memchr(kind, IS_BAND | IS_OBJECT, (size_t)width))
        weigh_columns(self->tent, self->kinds, y, band);
    for (int32_t x = 0; x < self->reach; x++)
        add_column(window, self, x, 1);
    for (int32_t x = 0; x < width; x++, rgba += 4, pixel += 3) {
        add_column(window, self, x + self->reach, 1);
        add_column(window, self, x - self->reach - 1, -1);
        draw_pixel(rgba, self, x, kind[x], pixel, window, band);
    }
}

static void nearby_release(struct nearby *self)
{
    arrays_free(self->columns, self->tent);
}

/* A window reaches 3 band widths, and the flags of its pixels depend on one more. */
int32_t cutout_halo(int32_t width, int32_t height)
{
    return 4 * band_width(width, height);
}

enum clv_status cutout_band(uint8_t *rgba, const struct image_band *rows, const bool is_object[256],
                            struct clv_error *err)
{
    int32_t band = band_width(rows->width, rows->height), bottom = rows->top + rows->n_rows;
    struct kinds kinds = {rows, rows->width, rows->height, rows->top - rows->above, bottom + rows->below, NULL};
    size_t width = (size_t)rows->width, n = (size_t)(kinds.end - kinds.first) * width;
    OWNED(nearby_release) struct nearby nearby = {.kinds = &kinds, .width = rows->width, .reach = 3 * band};
    OWNED_ARRAY uint8_t *kind = array_alloc(n, 1);
    nearby.columns = array_zalloc(width, sizeof *nearby.columns);
    nearby.tent = array_alloc(width, sizeof *nearby.tent);
    NEED(kind && nearby.columns && nearby.tent);
    kinds.kind = kind;
    for (size_t i = 0; i < n; i++)
        kind[i] = is_object[rows->labels[i]];
    int32_t from = rows->top - nearby.reach > 0 ? rows->top - nearby.reach : 0;
    int32_t to = rows->height - bottom < nearby.reach ? rows->height : bottom + nearby.reach;
    MUST(mark_band(&kinds, from, to, band, err));
    for (int32_t y = rows->top - nearby.reach; y < rows->top + nearby.reach; y++)
        add_row(&nearby, y, 1);
    for (int32_t y = rows->top; y < bottom; y++) {
        add_row(&nearby, y + nearby.reach, 1);
        if (y > rows->top)
            add_row(&nearby, y - nearby.reach - 1, -1);
        draw_row(rgba + 4 * (size_t)(y - rows->top) * width, &nearby, y, band);
    }
    return CLV_OK;
}

enum clv_status cutout_make(struct cutout *self, const struct clv_image *image, const uint8_t *labels,
                            const bool is_object[256], struct clv_error *err)
{
    OWNED(cutout_release) struct cutout result = {.width = image->width, .height = image->height};
    const struct image_band all = image_band_of(image, labels);
    NEED(result.rgba = array_alloc((size_t)image->width * (size_t)image->height, 4));
    MUST(cutout_band(result.rgba, &all, is_object, err));
    *self = TAKE(result);
    return CLV_OK;
}

void cutout_box_add(struct cutout_box *box, const uint8_t *rgba, int32_t width, int32_t top, int32_t n_rows)
{
    for (int32_t y = top; y < top + n_rows; y++)
        for (int32_t x = 0; x < width; x++, rgba += 4) {
            if (!rgba[3])
                continue;
            if (!box->bottom)
                *box = (struct cutout_box){x, y, x + 1, y + 1};
            box->left = x < box->left ? x : box->left;
            box->right = x >= box->right ? x + 1 : box->right;
            box->bottom = y + 1;
        }
}

void cutout_crop(struct cutout *self)
{
    struct cutout_box box = {0};
    cutout_box_add(&box, self->rgba, self->width, 0, self->height);
    if (!box.bottom)
        return;
    size_t width = (size_t)(box.right - box.left);
    for (int32_t y = box.top; y < box.bottom; y++)
        memmove(self->rgba + 4 * (size_t)(y - box.top) * width,
                self->rgba + 4 * ((size_t)y * (size_t)self->width + (size_t)box.left), 4 * width);
    self->width = (int32_t)width;
    self->height = box.bottom - box.top;
}
