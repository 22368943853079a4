#include "support/bands.h"

#include <stdlib.h>
#include <string.h>

#include "support/images.h"
#include "support/support.h"

const int32_t odd_sizes[][2] = {{1, 1}, {1, 61}, {67, 1}, {2, 3}, {33, 29}, {70, 131}, {129, 66}};
const size_t n_odd_sizes = sizeof odd_sizes / sizeof *odd_sizes;
const int32_t band_rows[] = {1, 2, 7, 64, 1000};
const size_t n_band_rows = sizeof band_rows / sizeof *band_rows;

static void *copy_rows(const void *from, size_t row_bytes, int32_t first, int32_t n)
{
    if (!from)
        return NULL;
    void *copy = malloc(row_bytes * (size_t)n);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, (const char *)from + row_bytes * (size_t)first, row_bytes * (size_t)n);
    return copy;
}

struct image_band band_copy(const struct image_band *all, int32_t top, int32_t n_rows, int32_t halo)
{
    struct image_band band = {.width = all->width, .height = all->height, .top = top, .n_samples = all->n_samples};
    size_t width = (size_t)all->width;
    band.n_rows = all->height - top < n_rows ? all->height - top : n_rows;
    if (band.n_rows < 1)
        return band;
    band.above = top < halo ? top : halo;
    band.below = all->height - top - band.n_rows < halo ? all->height - top - band.n_rows : halo;
    int32_t first = top - band.above, n = band.above + band.n_rows + band.below;
    band.pixels = copy_rows(all->pixels, 3 * width, first, n);
    band.labels = copy_rows(all->labels, width, first, n);
    band.objects = copy_rows(all->objects, width * sizeof *all->objects, first, n);
    band.samples = copy_rows(all->samples, width * (size_t)all->n_samples * sizeof *all->samples, first, n);
    return band;
}

void band_copy_release(struct image_band *band)
{
    free((void *)(uintptr_t)band->pixels);
    free((void *)(uintptr_t)band->labels);
    free((void *)(uintptr_t)band->objects);
    free((void *)(uintptr_t)band->samples);
    *band = (struct image_band){0};
}

void band_copy_next(struct image_band *band, const struct image_band *all, int32_t rows, int32_t halo)
{
    int32_t top = band->top + band->n_rows;
    band_copy_release(band);
    *band = band_copy(all, top, rows, halo);
}

void draw_labels(uint8_t *labels, int32_t width, int32_t height, int n_labels, int share, uint32_t *state)
{
    for (int32_t y = 0, p = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++, p++) {
            uint32_t random = noise(state);
            labels[p] = (uint8_t)(random / 1024 % (uint32_t)n_labels);
            if ((int)(random % 256) < share && (x || y))
                labels[p] = !y || (x && random / 256 % 2) ? labels[p - 1] : labels[p - width];
        }
}

void draw_noise(uint8_t *pixels, size_t n, uint32_t *state)
{
    for (size_t i = 0; i < n; i++)
        pixels[i] = (uint8_t)(noise(state) >> 8);
}
