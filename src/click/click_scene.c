/* Measures an image once, before the first click: superpixels, their colours and centroids, dense kernels of
 * similarity, and couplings between neighbours. Start at fill. */
#include "click/click.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "image/image.h"
#include "superpixel/superpixel.h"

#define WORKING_PIXELS 100000
#define CUTTING_PIXELS 400000
#define SUPERPIXELS    900
#define COMPACTNESS    8.0f
#define ITERATIONS     6
#define LIGHTNESS      0.43f /* weight of L in colour distances, as in box segmentation */
#define NEAR_COLOUR    3.0f  /* standard deviation of colour in the kernel of colour and position */
#define NEAR_POSITION  0.16f /* standard deviation of position in it, in units of unit_px */
#define WIDE_COLOUR    4.0f
#define ROUGHNESS      0.0096f
#define STEP_FREE      2.0f  /* colour difference in Lab that is shading, not an edge */
#define STEP_PLACE     12.0f /* length of a walk of unit_px without a step of colour */

void click_scene_free(struct click_scene *scene)
{
    if (!scene)
        return;
    clv_image_release(&scene->working);
    if (scene->cutting.pixels != scene->image.pixels)
        clv_image_release(&scene->cutting);
    pixel_couplings_release(&scene->couplings);
    clv_superpixels_release(&scene->superpixels);
    clv_adjacency_release(&scene->adjacency);
    arrays_free(scene->regions, scene->near_kernel, scene->wide_kernel, scene->coupling, scene->step, scene);
}

int32_t click_scene_within(const struct click_scene *scene, const struct clv_image *copy, int32_t x, int32_t y)
{
    return superpixel_at(&scene->superpixels, copy->width, copy->height, x, y);
}

int32_t click_scene_at(const struct click_scene *scene, int32_t x, int32_t y)
{
    return click_scene_within(scene, &scene->image, x, y);
}

static enum clv_status measure(struct click_scene *scene, struct clv_error *err)
{
    const struct clv_superpixels *map = &scene->superpixels;
    size_t n_pixels = (size_t)map->width * (size_t)map->height;
    OWNED_ARRAY struct region_sums *sums = array_zalloc((size_t)map->n, sizeof *sums);
    OWNED_ARRAY float *lab = array_alloc(n_pixels * 3, sizeof *lab);
    scene->regions = array_zalloc((size_t)map->n, sizeof *scene->regions);
    NEED(sums && lab && scene->regions);
    clv_rgb_to_lab(lab, scene->working.pixels, n_pixels);
    region_sums_fill(sums, map, lab);
    double unit = sqrt((double)n_pixels);
    for (int32_t i = 0; i < map->n; i++) {
        struct click_region *region = &scene->regions[i];
        const struct region_sums *sum = &sums[i];
        double x = sum->x / sum->n, y = sum->y / sum->n;
        region->roughness = region_sums_colour(region->lab, sum);
        region->x = (float)(x / unit);
        region->y = (float)(y / unit);
        region->to_border = (float)(fmin(fmin(x, map->width - x), fmin(y, map->height - y)) / unit);
        region->share = (float)(sum->n / (double)n_pixels);
    }
    return CLV_OK;
}

static void fill_kernels(struct click_scene *scene)
{
    const float near_scale = 0.5f / (NEAR_COLOUR * NEAR_COLOUR), wide_scale = 0.5f / (WIDE_COLOUR * WIDE_COLOUR);
    const float position_scale = 0.5f / (NEAR_POSITION * NEAR_POSITION);
    size_t n = (size_t)scene->superpixels.n;
    for (size_t i = 0; i < n; i++) {
        const struct click_region *a = &scene->regions[i];
        for (size_t j = 0; j < i; j++) {
            const struct click_region *b = &scene->regions[j];
            float colour = lab_square_distance(a->lab, b->lab, LIGHTNESS), dx = a->x - b->x, dy = a->y - b->y;
            float rough = a->roughness - b->roughness;
            float position = position_scale * (dx * dx + dy * dy) + ROUGHNESS * rough * rough;
            scene->near_kernel[i * n + j] = scene->near_kernel[j * n + i] =
                region_kernel_weight(portable_expf(-near_scale * colour - position));
            scene->wide_kernel[i * n + j] = scene->wide_kernel[j * n + i] =
                region_kernel_weight(portable_expf(-wide_scale * colour - ROUGHNESS * rough * rough));
        }
    }
}

/* Sets contrast-sensitive Potts couplings in proportion to border length, and the lengths of steps. The coupling of two
 * superpixels of one colour is 1 if their border is as long as a superpixel's side. */
static void fill_edges(struct click_scene *scene)
{
    const struct clv_adjacency *adjacency = &scene->adjacency;
    double sum = 0, length = 0;
    double side = sqrt((double)scene->superpixels.width * scene->superpixels.height / scene->superpixels.n);
    for (int32_t e = 0; e < adjacency->n_edges; e++) {
        const struct click_region *a = &scene->regions[adjacency->edges[e][0]],
                                  *b = &scene->regions[adjacency->edges[e][1]];
        float colour = lab_square_distance(a->lab, b->lab, 1), dx = a->x - b->x, dy = a->y - b->y;
        scene->coupling[e] = colour;
        scene->step[e] = fmaxf(0, sqrtf(colour) - STEP_FREE) + STEP_PLACE * sqrtf(dx * dx + dy * dy);
        sum += (double)colour * adjacency->boundary_length[e];
        length += adjacency->boundary_length[e];
    }
    double mean = length > 0 ? sum / length : 1;
    for (int32_t e = 0; e < adjacency->n_edges; e++)
        scene->coupling[e] = (float)(adjacency->boundary_length[e] / side *
                                     (0.1 + 0.9 * portable_exp(-scene->coupling[e] / (0.5 * mean + 1e-9))));
}

static enum clv_status fill(struct click_scene *scene, const struct clv_image *image, struct clv_error *err)
{
    const struct clv_slic_options slic = {SUPERPIXELS, COMPACTNESS, ITERATIONS};
    double n_pixels = (double)image->width * image->height;
    scene->image = *image;
    scene->cutting = *image; /* borrowed unless the image is large */
    scene->unit_px = (float)sqrt(n_pixels);
    if (n_pixels > CUTTING_PIXELS) {
        scene->cutting = (struct clv_image){0};
        MUST(image_shrink(&scene->cutting, image, CUTTING_PIXELS, err));
        MUST(border_couplings_init(&scene->couplings, &scene->image, err));
    }
    MUST(image_shrink(&scene->working, &scene->cutting, WORKING_PIXELS, err));
    MUST(clv_slic(&scene->superpixels, &scene->working, &slic, err));
    MUST(clv_adjacency_build(&scene->adjacency, &scene->superpixels, err));
    MUST(measure(scene, err));
    size_t n = (size_t)scene->superpixels.n, m = (size_t)scene->adjacency.n_edges;
    scene->near_kernel = array_zalloc(n * n, sizeof(float));
    scene->wide_kernel = array_zalloc(n * n, sizeof(float));
    scene->coupling = array_alloc(m, sizeof(float));
    scene->step = array_alloc(m, sizeof(float));
    NEED(scene->near_kernel && scene->wide_kernel && scene->coupling && scene->step);
    fill_kernels(scene);
    fill_edges(scene);
    return CLV_OK;
}

enum clv_status click_scene_new(struct click_scene **scene, const struct clv_image *image, struct clv_error *err)
{
    OWNED(click_scene_drop) struct click_scene *result = array_zalloc(1, sizeof *result);
    NEED(result);
    MUST(fill(result, image, err));
    *scene = TAKE(result);
    return CLV_OK;
}
