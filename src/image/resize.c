/* Resizes images and label maps. Images shrink by area averages and grow by linear interpolation, first down the
 * columns and then along the rows; labels take the nearest pixel. Start at image_resize_part. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/machine.h"
#include "image/image.h"

/* Weights for a range of target samples of one axis. Target sample i of the range is the sum over k of
 * weights[first_weight[i] + k] times source sample first[i] + k, which counts from the first source sample in
 * memory. */
struct axis {
    int32_t *first;
    size_t *first_weight; /* [n + 1] */
    float *weights;
};

static void axis_release(struct axis *axis)
{
    arrays_free(axis->first, axis->first_weight, axis->weights);
}

/* Computes weights for shrinking and returns their number. Target sample i covers the source interval [i s, (i + 1) s),
 * s = source / target; each source sample counts by its overlap. */
static size_t area_weights(float *weights, int32_t *first, int32_t i, int32_t source, int32_t target)
{
    double scale = (double)source / target, from = i * scale, to = (i + 1) * scale;
    int32_t begin = (int32_t)from, end = (int32_t)to + ((int32_t)to < to);
    end = end > source ? source : end;
    *first = begin;
    for (int32_t j = begin; j < end; j++) {
        double low = j > from ? j : from, high = j + 1 < to ? j + 1 : to;
        weights[j - begin] = (float)((high - low) / scale);
    }
    return (size_t)(end - begin);
}

/* Computes weights for enlarging and returns their number. Pixel centres are aligned, (i + 1/2) s - 1/2, and the border
 * repeats. */
static size_t linear_weights(float *weights, int32_t *first, int32_t i, int32_t source, int32_t target)
{
    double centre = (i + 0.5) * source / target - 0.5;
    centre = centre < 0 ? 0 : centre > source - 1 ? source - 1 : centre;
    *first = (int32_t)centre;
    weights[0] = (float)(1 - (centre - *first));
    weights[1] = (float)(centre - *first);
    return *first + 1 < source && weights[1] > 0 ? 2 : 1;
}

/* Computes the weights of `count` target samples from `begin` on; sample `offset` of the source is the first in
 * memory. */
static enum clv_status axis_init(struct axis *axis, int32_t source, int32_t target, int32_t begin, int32_t count,
                                 int32_t offset, struct clv_error *err)
{
    size_t n = (size_t)count, n_weights = 2 * n + (size_t)source + 2;
    *axis = (struct axis){array_alloc(n, sizeof *axis->first), array_alloc(n + 1, sizeof *axis->first_weight),
                          array_alloc(n_weights, sizeof *axis->weights)};
    NEED(axis->first && axis->first_weight && axis->weights);
    size_t used = 0;
    for (int32_t i = 0; i < count; i++) {
        axis->first_weight[i] = used;
        used += target < source ? area_weights(axis->weights + used, &axis->first[i], begin + i, source, target)
                                : linear_weights(axis->weights + used, &axis->first[i], begin + i, source, target);
        axis->first[i] -= offset;
    }
    axis->first_weight[count] = used;
    return CLV_OK;
}

/* Computes sum[n], the weighted sum of the source rows of one target row. */
FOR_EVERY_WIDTH static void blend_rows(float *restrict sum, const uint8_t *restrict rows, size_t n,
                                       const float *restrict weights, size_t n_weights)
{
    for (size_t i = 0; i < n; i++)
        sum[i] = weights[0] * rows[i];
    for (size_t k = 1; k < n_weights; k++) {
        const uint8_t *row = rows + k * n;
        for (size_t i = 0; i < n; i++)
            sum[i] += weights[k] * row[i];
    }
}

/* Does the same as blend_columns for 3 channels, in fewer loops. */
static void blend_colours(uint8_t *target, int32_t width, const float *row, const struct axis *axis)
{
    for (int32_t x = 0; x < width; x++, target += 3) {
        const float *weights = axis->weights + axis->first_weight[x];
        size_t n = axis->first_weight[x + 1] - axis->first_weight[x];
        const float *source = row + 3 * (size_t)axis->first[x];
        float sum[3] = {0, 0, 0};
        for (size_t k = 0; k < n; k++, source += 3)
            for (int c = 0; c < 3; c++)
                sum[c] += weights[k] * source[c];
        for (int c = 0; c < 3; c++)
            target[c] = (uint8_t)(sum[c] + 0.5f);
    }
}

static void blend_columns(uint8_t *target, int32_t width, size_t channels, const float *row, const struct axis *axis)
{
    for (int32_t x = 0; x < width; x++) {
        const float *weights = axis->weights + axis->first_weight[x];
        size_t n = axis->first_weight[x + 1] - axis->first_weight[x];
        const float *source = row + (size_t)axis->first[x] * channels;
        for (size_t c = 0; c < channels; c++) {
            float sum = 0;
            for (size_t k = 0; k < n; k++)
                sum += weights[k] * source[k * channels + c];
            *target++ = (uint8_t)(sum + 0.5f);
        }
    }
}

int32_t scaled_size(int32_t size, float scale)
{
    return int32_within(size / (double)scale + 0.5, 1, INT32_MAX);
}

static void source_range(int32_t *begin, int32_t *count, int32_t first, int32_t n, int32_t source, int32_t target)
{
    double scale = (double)source / target, to = (first + n) * scale;
    int32_t end = (int32_t)to + ((int32_t)to < to);
    *begin = (int32_t)(first * scale);
    *count = (end > source ? source : end) - *begin;
}

struct image_part resize_source(const struct image_part *wanted, int32_t width, int32_t height)
{
    struct image_part from = {.whole_width = width, .whole_height = height};
    source_range(&from.left, &from.width, wanted->left, wanted->width, width, wanted->whole_width);
    source_range(&from.top, &from.height, wanted->top, wanted->height, height, wanted->whole_height);
    return from;
}

enum clv_status clv_image_resize(struct clv_image *target, const struct clv_image *source, int32_t width,
                                 int32_t height, struct clv_error *err)
{
    const struct image_part all = {0, 0, width, height, width, height};
    const struct image_part from = {0, 0, source->width, source->height, source->width, source->height};
    return image_resize_part(target, &all, source, &from, err);
}

enum clv_status image_shrink(struct clv_image *copy, const struct clv_image *image, double n_pixels,
                             struct clv_error *err)
{
    double scale = fmin(1, sqrt(n_pixels / ((double)image->width * image->height)));
    return clv_image_resize(copy, image, int32_within(round(image->width * scale), 1, image->width),
                            int32_within(round(image->height * scale), 1, image->height), err);
}

enum clv_status image_resize_part(struct clv_image *target, const struct image_part *wanted,
                                  const struct clv_image *source, const struct image_part *from, struct clv_error *err)
{
    int32_t width = wanted->width, height = wanted->height;
    FAIL_IF(source->width < 1 || source->height < 1 || source->channels < 1 || !source->pixels, CLV_ERR_USAGE,
            "an image of %dx%d pixels cannot be resized", source->width, source->height);
    OWNED(clv_image_release) struct clv_image result = {0};
    OWNED(axis_release) struct axis across = {0}, down = {0};
    size_t channels = (size_t)source->channels, row_size = (size_t)source->width * channels;
    MUST(clv_image_new(&result, width, height, source->channels, err));
    MUST(axis_init(&across, from->whole_width, wanted->whole_width, wanted->left, width, from->left, err));
    MUST(axis_init(&down, from->whole_height, wanted->whole_height, wanted->top, height, from->top, err));
    OWNED_ARRAY float *row = array_alloc(row_size, sizeof *row);
    NEED(row);
    for (int32_t y = 0; y < height; y++) {
        size_t at = down.first_weight[y];
        blend_rows(row, source->pixels + (size_t)down.first[y] * row_size, row_size, down.weights + at,
                   down.first_weight[y + 1] - at);
        uint8_t *blended = result.pixels + (size_t)y * (size_t)width * channels;
        if (channels == 3)
            blend_colours(blended, width, row, &across);
        else
            blend_columns(blended, width, channels, row, &across);
    }
    *target = TAKE(result);
    return CLV_OK;
}

void clv_labels_resize(uint8_t *target, int32_t target_width, int32_t target_height, const uint8_t *source,
                       int32_t source_width, int32_t source_height)
{
    if (target_width < 1 || target_height < 1 || source_width < 1 || source_height < 1)
        return;
    /* Source column of target column x: floor((2 x + 1) w / (2 W)), kept as quotient and remainder. */
    int64_t twice = 2 * (int64_t)target_width, step = 2 * (int64_t)source_width / twice;
    int64_t step_rest = 2 * (int64_t)source_width % twice;
    int64_t previous = -1;
    for (int32_t y = 0; y < target_height; y++) {
        uint8_t *row = target + (size_t)y * (size_t)target_width;
        int64_t from = (2 * (int64_t)y + 1) * source_height / (2 * (int64_t)target_height);
        if (from == previous) {
            memcpy(row, row - target_width, (size_t)target_width);
            continue;
        }
        previous = from;
        const uint8_t *labels = source + from * source_width;
        int64_t column = source_width / twice, rest = source_width % twice;
        for (int32_t x = 0; x < target_width; x++) {
            row[x] = labels[column];
            column += step;
            rest += step_rest;
            if (rest >= twice) {
                rest -= twice;
                column++;
            }
        }
    }
}

int32_t image_shrink_halo(int32_t height, int32_t target_height)
{
    return height / target_height + 2;
}

enum clv_status image_shrink_band(struct clv_image *target, int32_t *n_rows, const struct image_band *band,
                                  struct clv_error *err)
{
    int32_t begin, count, first = *n_rows, end = first, bottom = band->top + band->n_rows;
    for (; end < target->height; end++) {
        source_range(&begin, &count, end, 1, band->height, target->height);
        if (begin + count > bottom)
            break;
    }
    if (end == first)
        return CLV_OK;
    const struct image_part wanted = {0, first, target->width, end - first, target->width, target->height};
    const struct image_part from = resize_source(&wanted, band->width, band->height);
    FAIL_IF(from.top < band->top - band->above, CLV_ERR_USAGE, "a halo of %d rows, an image is shrunk with %d",
            band->above, image_shrink_halo(band->height, target->height));
    const struct clv_image source = {band->width, from.height, 3,
                                     (uint8_t *)(uintptr_t)(band->pixels + 3 * image_band_row(band, from.top))};
    OWNED(clv_image_release) struct clv_image part = {0};
    MUST(image_resize_part(&part, &wanted, &source, &from, err));
    size_t row = 3 * (size_t)target->width;
    memcpy(target->pixels + (size_t)first * row, part.pixels, (size_t)(end - first) * row);
    *n_rows = end;
    return CLV_OK;
}

void labels_shrink_band(uint8_t *target, int32_t target_width, int32_t target_height, const struct image_band *band)
{
    for (int32_t y = 0; y < target_height; y++) {
        int64_t from = (2 * (int64_t)y + 1) * band->height / (2 * (int64_t)target_height);
        if (from >= band->top && from < band->top + band->n_rows)
            clv_labels_resize(target + (size_t)y * (size_t)target_width, target_width, 1,
                              band->labels + image_band_row(band, (int32_t)from), band->width, 1);
    }
}
