/* Cuts an object out on transparency: in a band around its border, alpha follows from a linear Gaussian model of
 * mixed colours, whose formulas are in refine.h. Start at cutout_make; mix computes one pixel. */
#include "refine/refine.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

/* Kinds of pixels; the band's pixels are within `band` of the other side. */
enum { IS_OBJECT = 1, IS_BAND = 2 };

#define SURE_WEIGHT 64  /* of a pixel outside the band in means of colours; those within it count 1 */
#define NOISE       25  /* variance of a channel that no image lacks: 5 levels */
#define FAINT       0.1 /* alpha up to this is none, from 1 minus this on whole */

void cutout_release(struct cutout *self)
{
    array_free(self->rgba);
    *self = (struct cutout){0};
}

static int32_t band_width(const struct clv_image *image)
{
    int32_t side = image->width > image->height ? image->width : image->height;
    return 2 + side / 1000;
}

static int32_t clamp(int32_t at, int32_t n)
{
    return at < 0 ? 0 : at < n ? at : n - 1;
}

/* Marks the pixels whose square of side 2 band + 1 holds both sides. Of each column `sum` counts the square's rows. */
static enum clv_status mark_band(uint8_t *kind, int32_t width, int32_t height, int32_t band, struct clv_error *err)
{
    OWNED_ARRAY int32_t *sum = array_zalloc((size_t)width, sizeof *sum);
    int32_t side = 2 * band + 1;
    NEED(sum);
    for (int32_t y = -band; y < height + band; y++) {
        const uint8_t *enters = kind + (size_t)clamp(y, height) * (size_t)width;
        const uint8_t *leaves = kind + (size_t)clamp(y - side, height) * (size_t)width;
        for (int32_t x = 0; x < width; x++)
            sum[x] += (enters[x] & IS_OBJECT) - (y - side >= -band ? leaves[x] & IS_OBJECT : 0);
        int32_t row = y - band, n = 0;
        for (int32_t x = -band; x < width + band && row >= 0; x++) {
            n += sum[clamp(x, width)] - (x - side >= -band ? sum[clamp(x - side, width)] : 0);
            if (x >= band && n > 0 && n < side * side)
                kind[(size_t)row * (size_t)width + (size_t)(x - band)] |= IS_BAND;
        }
    }
    return CLV_OK;
}

/* The share of the object around pixel (x, y), by a tent that ends behind the band. */
static double smoothed(const uint8_t *kind, int32_t width, int32_t height, int32_t x, int32_t y, int32_t band)
{
    int64_t sum = 0, all = 0;
    for (int32_t dy = -band; dy <= band; dy++) {
        const uint8_t *row = kind + (size_t)clamp(y + dy, height) * (size_t)width;
        int32_t down = band + 1 - (dy < 0 ? -dy : dy);
        for (int32_t dx = -band; dx <= band; dx++) {
            int32_t weight = down * (band + 1 - (dx < 0 ? -dx : dx));
            all += weight;
            sum += row[clamp(x + dx, width)] & IS_OBJECT ? weight : 0;
        }
    }
    return (double)sum / (double)all;
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

/* Colours in windows around the pixels of one row after the other. */
struct nearby {
    const struct clv_image *image;
    const uint8_t *kind;
    int32_t reach;
    struct sums (*columns)[2]; /* [width] of background and object, in the rows of the window */
};

static void add_row(struct nearby *self, int32_t y, int sign)
{
    int32_t width = self->image->width;
    if (y < 0 || y >= self->image->height)
        return;
    const uint8_t *pixel = self->image->pixels + 3 * (size_t)y * (size_t)width;
    const uint8_t *kind = self->kind + (size_t)y * (size_t)width;
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
    if (x < 0 || x >= self->image->width)
        return;
    sums_add(&window[0], &self->columns[x][0], sign);
    sums_add(&window[1], &self->columns[x][1], sign);
}

/* Mean colour, and mean variance of its channels; there are pixels. */
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

/* Mixes a pixel of the band, for which the smoothed labels give `prior`. */
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

static void draw_pixel(uint8_t rgba[4], const struct nearby *self, int32_t x, int32_t y, const struct sums window[2],
                       int32_t band)
{
    const struct clv_image *image = self->image;
    size_t at = (size_t)y * (size_t)image->width + (size_t)x;
    uint8_t kind = self->kind[at];
    const uint8_t *pixel = image->pixels + 3 * at;
    double mean[2][3], spread[2];
    memset(rgba, 0, 4);
    if (kind == IS_OBJECT) {
        memcpy(rgba, pixel, 3);
        rgba[3] = 255;
    } else if (kind & IS_BAND) { /* whose windows hold both sides */
        describe(mean[0], &spread[0], &window[0]);
        describe(mean[1], &spread[1], &window[1]);
        mix(rgba, pixel, smoothed(self->kind, image->width, image->height, x, y, band), mean, spread);
    } else if (window[1].weight) {
        describe(mean[1], &spread[1], &window[1]);
        for (int c = 0; c < 3; c++)
            rgba[c] = rounded(mean[1][c]);
    }
}

static void draw_row(struct cutout *cutout, struct nearby *self, int32_t y, int32_t band)
{
    struct sums window[2] = {{0}, {0}};
    for (int32_t x = 0; x < self->reach; x++)
        add_column(window, self, x, 1);
    for (int32_t x = 0; x < cutout->width; x++) {
        add_column(window, self, x + self->reach, 1);
        add_column(window, self, x - self->reach - 1, -1);
        draw_pixel(cutout->rgba + 4 * ((size_t)y * (size_t)cutout->width + (size_t)x), self, x, y, window, band);
    }
}

static void nearby_release(struct nearby *self)
{
    array_free(self->columns);
}

enum clv_status cutout_make(struct cutout *self, const struct clv_image *image, const uint8_t *labels,
                            const bool is_object[256], struct clv_error *err)
{
    OWNED(cutout_release) struct cutout result = {.width = image->width, .height = image->height};
    size_t width = (size_t)image->width, n = width * (size_t)image->height;
    int32_t band = band_width(image);
    OWNED(nearby_release) struct nearby nearby = {.image = image, .reach = 3 * band};
    OWNED_ARRAY uint8_t *kind = array_alloc(n, 1);
    nearby.kind = kind;
    nearby.columns = array_zalloc(width, sizeof *nearby.columns);
    result.rgba = array_alloc(n, 4);
    NEED(kind && nearby.columns && result.rgba);
    for (size_t i = 0; i < n; i++)
        kind[i] = is_object[labels[i]];
    MUST(mark_band(kind, image->width, image->height, band, err));
    for (int32_t y = 0; y < nearby.reach; y++)
        add_row(&nearby, y, 1);
    for (int32_t y = 0; y < image->height; y++) {
        add_row(&nearby, y + nearby.reach, 1);
        add_row(&nearby, y - nearby.reach - 1, -1);
        draw_row(&result, &nearby, y, band);
    }
    *self = TAKE(result);
    return CLV_OK;
}

void cutout_crop(struct cutout *self)
{
    int32_t left = self->width, right = 0, top = self->height, bottom = 0;
    for (int32_t y = 0; y < self->height; y++)
        for (int32_t x = 0; x < self->width; x++) {
            if (!self->rgba[4 * ((size_t)y * (size_t)self->width + (size_t)x) + 3])
                continue;
            left = x < left ? x : left;
            right = x + 1 > right ? x + 1 : right;
            top = y < top ? y : top;
            bottom = y + 1;
        }
    if (!bottom)
        return;
    for (int32_t y = top; y < bottom; y++)
        memmove(self->rgba + 4 * (size_t)(y - top) * (size_t)(right - left),
                self->rgba + 4 * ((size_t)y * (size_t)self->width + (size_t)left), 4 * (size_t)(right - left));
    self->width = right - left;
    self->height = bottom - top;
}
