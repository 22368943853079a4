/* Prepares an image for the feature blocks: its colours in Lab and grey, the pixels of each superpixel as a list, and
 * the means of each. Start at scene_init. */
#include "feature/blocks/blocks.h"

#include <math.h>

#include "base/base.h"

/* Computes grey[n] in 0..1 from rgb[n][3]: ITU-R BT.601 luma. */
static void grey_from_rgb(float *grey, const uint8_t *rgb, size_t n)
{
    for (size_t i = 0; i < n; i++)
        grey[i] = (float)(299 * rgb[i * 3] + 587 * rgb[i * 3 + 1] + 114 * rgb[i * 3 + 2]) * (1.0f / 255000.0f);
}

void scene_release(struct scene *scene)
{
    arrays_free(scene->lab, scene->grey, scene->start, scene->pixel, scene->regions);
    *scene = (struct scene){0};
}

/* Sorts the pixels by label (counting sort). */
static void group_pixels(struct scene *scene)
{
    int32_t n_pixels = scene->width * scene->height;
    int32_t *start = scene->start; /* zeroed */
    for (int32_t i = 0; i < n_pixels; i++)
        start[scene->labels[i] + 1]++;
    for (int32_t r = 0; r < scene->n_regions; r++)
        start[r + 1] += start[r];
    for (int32_t i = 0; i < n_pixels; i++)
        scene->pixel[start[scene->labels[i]]++] = i;
    for (int32_t r = scene->n_regions; r > 0; r--)
        start[r] = start[r - 1];
    start[0] = 0;
}

static void measure_region(struct region *region, const struct scene *scene, int32_t index)
{
    double sum[3] = {0}, square[3] = {0}, x = 0, y = 0;
    int32_t n = scene->start[index + 1] - scene->start[index];
    for (int32_t k = scene->start[index]; k < scene->start[index + 1]; k++) {
        int32_t pixel = scene->pixel[k];
        for (int c = 0; c < 3; c++) {
            double value = scene->lab[(size_t)pixel * 3 + (size_t)c];
            sum[c] += value;
            square[c] += value * value;
        }
        x += pixel % scene->width;
        y += pixel / scene->width;
    }
    for (int c = 0; c < 3; c++) {
        double mean = sum[c] / n;
        region->lab[c] = (float)mean;
        region->deviation[c] = (float)sqrt(fmax(square[c] / n - mean * mean, 0));
    }
    region->x = (float)((x / n + 0.5) / scene->width);
    region->y = (float)((y / n + 0.5) / scene->height);
    region->n_pixels = n;
}

void scene_measure(struct scene *scene)
{
    for (int32_t r = 0; r < scene->n_regions; r++)
        measure_region(&scene->regions[r], scene, r);
}

enum clv_status scene_init(struct scene *scene, const struct clv_image *image,
                           const struct clv_superpixels *superpixels, struct clv_error *err)
{
    size_t n_pixels = (size_t)image->width * (size_t)image->height;
    OWNED(scene_release) struct scene result = {.width = image->width,
                                                .height = image->height,
                                                .n_regions = superpixels->n,
                                                .rgb = image->pixels,
                                                .labels = superpixels->labels,
                                                .lab = array_alloc(n_pixels, 3 * sizeof(float)),
                                                .grey = array_alloc(n_pixels, sizeof(float)),
                                                .start = array_zalloc((size_t)superpixels->n + 1, sizeof(int32_t)),
                                                .pixel = array_alloc(n_pixels, sizeof(int32_t)),
                                                .regions = array_alloc((size_t)superpixels->n, sizeof(struct region))};
    NEED(result.lab && result.grey && result.start && result.pixel && result.regions);
    clv_rgb_to_lab(result.lab, image->pixels, n_pixels);
    grey_from_rgb(result.grey, image->pixels, n_pixels);
    group_pixels(&result);
    scene_measure(&result);
    *scene = TAKE(result);
    return CLV_OK;
}
