/* Computes the inputs of pixel networks: Gaussians of lightness and chroma, derivatives, structure tensors and ranks of
 * lightness, at several scales; then the context from a first network's probabilities. Start at fill_filters and
 * fill_context. */
#include "pixel_net/pixel_net.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

#define MAX_DISTANCE 15

void pixel_bank_release(struct pixel_bank *self)
{
    array_free(self->planes);
    *self = (struct pixel_bank){0};
}

void pixel_bank_at(float *x, size_t stride, const struct pixel_bank *self, size_t pixel, size_t n)
{
    size_t n_pixels = (size_t)self->width * (size_t)self->height;
    for (size_t k = 0; k < (size_t)self->n_planes; k++)
        memcpy(x + k * stride, self->planes + k * n_pixels + pixel, n * sizeof *x);
}

/* The bank while its planes are filled, and scratch planes. */
struct fill_state {
    struct pixel_bank *bank;
    size_t n_pixels;
    float *scratch[4];
    int32_t *sides;
};

static float *next_plane(struct fill_state *self)
{
    return self->bank->planes + (size_t)self->bank->n_planes++ * self->n_pixels;
}

static enum clv_status smooth(float *out, const float *in, double deviation, const struct fill_state *self,
                              struct clv_error *err)
{
    return filter_gauss(out, in, self->bank->width, self->bank->height, deviation, err);
}

/* Sets the range from the percentiles 1 and 99.7 of the sums. */
void pixel_light_stretch(struct pixel_light *self)
{
    uint64_t n = 0, seen = 0;
    int low = -1, high = 0;
    for (int v = 0; v < PIXEL_LIGHT_SUMS; v++)
        n += self->sums[v];
    for (int v = 0; v < PIXEL_LIGHT_SUMS; v++) {
        seen += self->sums[v];
        low = low < 0 && (double)seen > .01 * (double)n ? v : low;
        high = self->sums[v] && (double)(seen - self->sums[v]) < .997 * (double)n ? v : high;
    }
    self->low = low;
    self->range = fmax(high - low, .02 * 3 * 255);
}

void pixel_light_count(struct pixel_light *self, const struct clv_image *image)
{
    for (size_t i = 0; i < (size_t)image->width * (size_t)image->height; i++) {
        const uint8_t *rgb = image->pixels + 3 * i;
        self->sums[rgb[0] + rgb[1] + rgb[2]]++;
    }
}

static void fill_light(float *light, const struct clv_image *image, const struct pixel_light *by)
{
    for (size_t i = 0; i < (size_t)image->width * (size_t)image->height; i++) {
        const uint8_t *rgb = image->pixels + 3 * i;
        light[i] = (float)((rgb[0] + rgb[1] + rgb[2] - by->low) / by->range);
    }
}

/* Computes red minus green and blue minus green, -1..1. */
static void fill_chroma(float *red, float *blue, const struct clv_image *image)
{
    for (size_t i = 0; i < (size_t)image->width * (size_t)image->height; i++) {
        const uint8_t *rgb = image->pixels + 3 * i;
        red[i] = (float)(rgb[0] - rgb[1]) / 255;
        blue[i] = (float)(rgb[2] - rgb[1]) / 255;
    }
}

static void count_smooth(struct pixel_light *self, const float *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float bin = (values[i] + .5F) * (PIXEL_LIGHT_BINS / 2.5F);
        self->smooth[int32_within((double)bin, 0, PIXEL_LIGHT_BINS - 1)]++;
    }
}

enum clv_status pixel_light_count_smooth(struct pixel_light *self, const struct clv_image *image,
                                         const struct image_part *core, struct clv_error *err)
{
    OWNED_ARRAY float *light = array_alloc((size_t)image->width, (size_t)image->height * sizeof *light);
    NEED(light);
    fill_light(light, image, self);
    MUST(filter_gauss(light, light, image->width, image->height, 1, err));
    for (int32_t y = core->top; y < core->top + core->height; y++)
        count_smooth(self, light + (size_t)y * (size_t)image->width + (size_t)core->left, (size_t)core->width);
    return CLV_OK;
}

/* Sets the threshold that maximises the variance between the values below and above it (Otsu 1979). */
void pixel_light_divide(struct pixel_light *self)
{
    double n = 0, sum = 0, below = 0, sum_below = 0, best = -1;
    int at = 0;
    for (int b = 0; b < PIXEL_LIGHT_BINS; b++) {
        n += (double)self->smooth[b];
        sum += (double)self->smooth[b] * b;
    }
    for (int b = 0; b < PIXEL_LIGHT_BINS; b++) {
        below += (double)self->smooth[b];
        sum_below += (double)self->smooth[b] * b;
        double above = n - below;
        if (below < 1 || above < 1)
            continue;
        double difference = (sum - sum_below) / above - sum_below / below;
        if (below * above * difference * difference > best) {
            best = below * above * difference * difference;
            at = b + 1;
        }
    }
    self->threshold = (float)at * 2.5F / PIXEL_LIGHT_BINS - .5F;
}

/* Computes the eigenvalues of [[a, c], [c, b]] at every pixel. */
static void eigenvalues(float *greater, float *less, const float *a, const float *b, const float *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float mean = (a[i] + b[i]) / 2, half = (a[i] - b[i]) / 2, root = sqrtf(half * half + c[i] * c[i]);
        greater[i] = mean + root;
        less[i] = mean - root;
    }
}

/* Fills scratch[0..2] with xx, yy, xy at one scale: products of the first derivatives (`order` 1) or second derivatives
 * (2). slope, the length of the gradient, may be NULL. */
static void derive(const struct fill_state *self, float *slope, const float *map, float scale, int order)
{
    int32_t width = self->bank->width, height = self->bank->height;
    float *xx = self->scratch[0], *yy = self->scratch[1], *xy = self->scratch[2];
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            int32_t left = x > 0 ? x - 1 : x, right = x + 1 < width ? x + 1 : x;
            const float *up = map + (size_t)(y > 0 ? y - 1 : y) * (size_t)width;
            const float *row = map + (size_t)y * (size_t)width;
            const float *down = map + (size_t)(y + 1 < height ? y + 1 : y) * (size_t)width;
            size_t at = (size_t)y * (size_t)width + (size_t)x;
            float dx = scale * (row[right] - row[left]) / 2, dy = scale * (down[x] - up[x]) / 2;
            if (slope)
                slope[at] = sqrtf(dx * dx + dy * dy);
            xx[at] = order == 2 ? scale * scale * (row[right] + row[left] - 2 * row[x]) : dx * dx;
            yy[at] = order == 2 ? scale * scale * (down[x] + up[x] - 2 * row[x]) : dy * dy;
            xy[at] = order == 2 ? scale * scale * (down[right] - down[left] - up[right] + up[left]) / 4 : dx * dy;
        }
}

/* Adds two planes: the principal curvatures of a smoothed map. */
static void fill_second(struct fill_state *self, const float *map, float scale)
{
    float *high = next_plane(self), *low = next_plane(self);
    derive(self, NULL, map, scale, 2);
    eigenvalues(high, low, self->scratch[0], self->scratch[1], self->scratch[2], self->n_pixels);
}

/* Adds five planes at one scale: slope and curvatures of the smoothed lightness, and the roots of the structure
 * tensor's eigenvalues. */
static enum clv_status fill_derivatives(struct fill_state *self, const float *smoothed, float scale,
                                        struct clv_error *err)
{
    float *slope = next_plane(self);
    fill_second(self, smoothed, scale);
    derive(self, slope, smoothed, scale, 1);
    for (int k = 0; k < 3; k++)
        MUST(smooth(self->scratch[k], self->scratch[k], 2 * scale, self, err));
    float *along = next_plane(self), *across = next_plane(self);
    eigenvalues(along, across, self->scratch[0], self->scratch[1], self->scratch[2], self->n_pixels);
    for (size_t i = 0; i < self->n_pixels; i++) {
        along[i] = sqrtf(fmaxf(along[i], 0));
        across[i] = sqrtf(fmaxf(across[i], 0));
    }
    return CLV_OK;
}

/* Fills the signed distance to the border between the two values of self->sides, negative where sides is 0. */
static void fill_distance(float *distance, const struct fill_state *self)
{
    filter_distance(distance, self->sides, self->bank->width, self->bank->height, MAX_DISTANCE);
    for (size_t i = 0; i < self->n_pixels; i++)
        distance[i] = self->sides[i] ? distance[i] : -distance[i];
}

/* Adds two planes: the rank of a pixel's lightness between the smoothed minimum and maximum around it, and their
 * difference. */
static enum clv_status fill_ranks(struct fill_state *self, const float *smoothed, int32_t radius, struct clv_error *err)
{
    float *rank = next_plane(self), *range = next_plane(self), *high = self->scratch[0], *low = self->scratch[1];
    MUST(filter_extremes(high, low, smoothed, self->bank->width, self->bank->height, radius, err));
    MUST(smooth(high, high, radius / 3., self, err));
    MUST(smooth(low, low, radius / 3., self, err));
    for (size_t i = 0; i < self->n_pixels; i++) {
        range[i] = high[i] - low[i];
        rank[i] = (smoothed[i] - low[i]) / (range[i] + .05F);
    }
    return CLV_OK;
}

static enum clv_status fill_filters(struct fill_state *self, const struct clv_image *image,
                                    const struct pixel_light *whole_light, struct clv_error *err)
{
    size_t n = self->n_pixels;
    float *light = next_plane(self), *chroma[2] = {self->scratch[2], self->scratch[3]};
    struct pixel_light own_light = {0};
    if (!whole_light) {
        pixel_light_count(&own_light, image);
        pixel_light_stretch(&own_light);
    }
    fill_light(light, image, whole_light ? whole_light : &own_light);
    fill_chroma(chroma[0], chroma[1], image);
    float *smoothed[5] = {0};
    for (int k = 0; k < 5; k++)
        MUST(smooth(smoothed[k] = next_plane(self), light, 1 << k, self, err));
    for (int k = 0; k < 6; k++)
        MUST(smooth(next_plane(self), chroma[k % 2], 1 << k / 2, self, err));
    for (int k = 0; k < 3; k++)
        MUST(fill_derivatives(self, smoothed[k], (float)(1 << k), err));
    for (int k = 0; k < 3; k++)
        MUST(fill_ranks(self, smoothed[0], (4 << k) - 1, err));
    if (!whole_light) {
        count_smooth(&own_light, smoothed[0], n);
        pixel_light_divide(&own_light);
    }
    float threshold = whole_light ? whole_light->threshold : own_light.threshold, *distance = next_plane(self);
    for (size_t i = 0; i < n; i++)
        self->sides[i] = smoothed[0][i] > threshold;
    fill_distance(distance, self);
    return CLV_OK;
}

static enum clv_status fill_state_init(struct fill_state *self, struct pixel_bank *bank, struct clv_error *err)
{
    size_t n = (size_t)bank->width * (size_t)bank->height;
    *self = (struct fill_state){.bank = bank, .n_pixels = n};
    self->sides = array_alloc(n, sizeof *self->sides);
    self->scratch[0] = array_alloc(n, 4 * sizeof(float));
    for (int k = 1; k < 4 && self->scratch[0]; k++)
        self->scratch[k] = self->scratch[0] + (size_t)k * n;
    return self->sides && self->scratch[0] ? CLV_OK : fail_memory(err);
}

static void fill_state_release(struct fill_state *self)
{
    arrays_free(self->scratch[0], self->sides);
}

enum clv_status pixel_bank_init(struct pixel_bank *self, const struct clv_image *image, const struct pixel_light *light,
                                struct clv_error *err)
{
    OWNED(pixel_bank_release) struct pixel_bank result = {.width = image->width, .height = image->height};
    OWNED(fill_state_release) struct fill_state state = {0};
    MUST(fill_state_init(&state, &result, err));
    result.planes = array_alloc(state.n_pixels, PIXEL_CONTEXT_SIZE * sizeof *result.planes);
    NEED(result.planes);
    MUST(fill_filters(&state, image, light, err));
    *self = TAKE(result);
    return CLV_OK;
}

/* Adds two planes: the difference between the mean lightness of objects and of the background near a pixel, and the
 * position of its lightness between the two. Means are weighted by distance and probability. */
static enum clv_status fill_contrast(struct fill_state *self, const float *background, double deviation,
                                     struct clv_error *err)
{
    const float *light = self->bank->planes + self->n_pixels; /* slightly smoothed */
    float *apart = next_plane(self), *position = next_plane(self);
    float *share = self->scratch[0], *of_background = self->scratch[1], *of_all = self->scratch[2];
    for (size_t i = 0; i < self->n_pixels; i++)
        of_background[i] = background[i] * light[i];
    MUST(smooth(share, background, deviation, self, err));
    MUST(smooth(of_background, of_background, deviation, self, err));
    MUST(smooth(of_all, light, deviation, self, err));
    for (size_t i = 0; i < self->n_pixels; i++) {
        float below = of_background[i] / (share[i] + .01F), above = (of_all[i] - of_background[i]) / (1.01F - share[i]);
        apart[i] = above - below;
        float at = (light[i] - below) * apart[i] / (apart[i] * apart[i] + .001F);
        position[i] = at < -2 ? -2 : at > 3 ? 3 : at;
    }
    return CLV_OK;
}

static enum clv_status fill_context(struct fill_state *self, const float *probability, struct clv_error *err)
{
    size_t n = self->n_pixels;
    const float *maps[2] = {probability + OBJECT_BACKGROUND * n, probability + OBJECT_CORE * n};
    float *core = NULL, *smoothed = self->scratch[3];
    for (int k = 0; k < 2; k++)
        memcpy(next_plane(self), maps[k], n * sizeof *smoothed);
    for (int k = 0; k < 2; k++)
        for (int scale = 2; scale <= 8; scale *= 2) {
            float *plane = next_plane(self);
            core = k == 1 && scale == 2 ? plane : core;
            MUST(smooth(plane, maps[k], scale, self, err));
        }
    fill_second(self, core, 2);
    MUST(smooth(smoothed, maps[0], 1, self, err));
    fill_second(self, smoothed, 1);
    float *distance = next_plane(self), *share = next_plane(self), *most = self->scratch[0];
    for (size_t i = 0; i < n; i++)
        self->sides[i] = maps[0][i] < .5F;
    fill_distance(distance, self);
    MUST(filter_extremes(most, self->scratch[1], distance, self->bank->width, self->bank->height, 7, err));
    for (size_t i = 0; i < n; i++)
        share[i] = distance[i] / ((most[i] > 0 ? most[i] : 0) + 1);
    for (int deviation = 4; deviation <= 16; deviation *= 2)
        MUST(fill_contrast(self, maps[0], deviation, err));
    return CLV_OK;
}

enum clv_status pixel_bank_add_context(struct pixel_bank *self, const float *probability, struct clv_error *err)
{
    OWNED(fill_state_release) struct fill_state state = {0};
    MUST(fill_state_init(&state, self, err));
    return fill_context(&state, probability, err);
}
