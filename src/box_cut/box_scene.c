/* Prepares an image for box segmentation: crops the box with a margin, shrinks it, computes superpixels and splits
 * them along the box. Start at box_scene_init. */
#include "box_cut/box_cut.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "image/image.h"
#include "superpixel/superpixel.h"

#define MARGIN         0.3     /* on each side, as a share of the geometric mean of the box's sides */
#define WORKING_PIXELS 50000   /* pixels to which a larger crop is shrunk for its superpixels .. */
#define CUTTING_PIXELS 1000000 /* .. and for its cut at the pixels, then solved in one part (PIXEL_CUT_WHOLE) */
#define COMPACTNESS    8.0f
#define ITERATIONS     6

void box_scene_release(struct box_scene *scene)
{
    if (scene->cutting.pixels != scene->image.pixels)
        clv_image_release(&scene->cutting);
    clv_image_release(&scene->image);
    clv_superpixels_release(&scene->superpixels);
    clv_adjacency_release(&scene->adjacency);
    array_free(scene->regions);
    *scene = (struct box_scene){0};
}

/* Crops the box and its margin, within the image. */
static enum clv_status crop(struct box_scene *scene, const struct clv_image *image, struct clv_pixel_box box,
                            struct clv_error *err)
{
    double width = box.end_x - box.first_x, height = box.end_y - box.first_y;
    double margin = ceil(MARGIN * sqrt(width * height));
    struct clv_pixel_box area = {
        int32_within(box.first_x - margin, 0, image->width),
        int32_within(box.first_y - margin, 0, image->height),
        int32_within(box.end_x + margin, 0, image->width),
        int32_within(box.end_y + margin, 0, image->height),
    };
    scene->crop = area;
    scene->box = (struct clv_pixel_box){box.first_x - area.first_x, box.first_y - area.first_y,
                                        box.end_x - area.first_x, box.end_y - area.first_y};
    scene->shape = (float)(height / width);
    scene->image_pixels = (double)image->width * image->height;
    MUST(clv_image_new(&scene->image, area.end_x - area.first_x, area.end_y - area.first_y, image->channels, err));
    size_t row = (size_t)scene->image.width * 3;
    for (int32_t y = 0; y < scene->image.height; y++)
        memcpy(scene->image.pixels + (size_t)y * row,
               image->pixels + 3 * ((size_t)(y + area.first_y) * (size_t)image->width + (size_t)area.first_x), row);
    return CLV_OK;
}

int32_t box_scene_at(const struct box_scene *scene, const struct clv_image *image, int32_t x, int32_t y)
{
    return superpixel_at(&scene->superpixels, image->width, image->height, x, y);
}

/* Scales a side of the box from `full` to `size` pixels; at least one pixel stays inside. */
static void scale_side(int32_t *first, int32_t *end, int32_t begin, int32_t stop, int32_t full, int32_t size)
{
    double scale = (double)size / full;
    *first = int32_within(round(begin * scale), 0, size - 1);
    *end = int32_within(round(stop * scale), *first + 1, INT32_MAX);
}

struct clv_pixel_box box_scene_scale(const struct box_scene *scene, int32_t width, int32_t height)
{
    const struct clv_pixel_box *box = &scene->box;
    struct clv_pixel_box scaled;
    scale_side(&scaled.first_x, &scaled.end_x, box->first_x, box->end_x, scene->image.width, width);
    scale_side(&scaled.first_y, &scaled.end_y, box->first_y, box->end_y, scene->image.height, height);
    return scaled;
}

/* Splits superpixels along the border of the box and numbers them by their first pixels. */
static enum clv_status split_at_box(struct clv_superpixels *map, struct clv_pixel_box box, struct clv_error *err)
{
    OWNED_ARRAY int32_t *number = array_alloc((size_t)map->n * 2, sizeof *number);
    int32_t n = 0;
    NEED(number);
    for (int32_t i = 0; i < 2 * map->n; i++)
        number[i] = -1;
    for (int32_t y = 0, p = 0; y < map->height; y++)
        for (int32_t x = 0; x < map->width; x++, p++) {
            bool is_inside = x >= box.first_x && x < box.end_x && y >= box.first_y && y < box.end_y;
            int32_t *label = &number[2 * map->labels[p] + is_inside];
            if (*label < 0)
                *label = n++;
            map->labels[p] = *label;
        }
    map->n = n;
    return CLV_OK;
}

/* Converts a position to coordinates in which the box is -1 .. 1. */
static float relative(double at, int32_t first, int32_t end)
{
    return (float)(2 * (at - first) / (end - first) - 1);
}

/* Measures the superpixels; lab[height][width][3] are the colours of the working copy. */
static enum clv_status measure(struct box_scene *scene, const float *lab, struct clv_pixel_box box,
                               struct clv_error *err)
{
    const struct clv_superpixels *map = &scene->superpixels;
    OWNED_ARRAY struct region_sums *sums = array_zalloc((size_t)map->n, sizeof *sums);
    scene->regions = array_zalloc((size_t)map->n, sizeof *scene->regions);
    NEED(sums && scene->regions);
    region_sums_fill(sums, map, lab);
    double n_pixels = (double)map->width * map->height;
    for (int32_t i = 0; i < map->n; i++) {
        struct box_region *region = &scene->regions[i];
        const struct region_sums *sum = &sums[i];
        region->roughness = region_sums_colour(region->lab, sum);
        region->x = relative(sum->x / sum->n, box.first_x, box.end_x);
        region->y = relative(sum->y / sum->n, box.first_y, box.end_y);
        region->low[0] = relative(sum->low[0], box.first_x, box.end_x);
        region->low[1] = relative(sum->low[1], box.first_y, box.end_y);
        region->high[0] = relative(sum->high[0], box.first_x, box.end_x);
        region->high[1] = relative(sum->high[1], box.first_y, box.end_y);
        region->share = (float)(sum->n / n_pixels);
    }
    for (int32_t y = box.first_y; y < box.end_y; y++)
        for (int32_t x = box.first_x; x < box.end_x; x++)
            scene->regions[map->labels[y * map->width + x]].is_inside = true;
    return CLV_OK;
}

enum clv_status box_scene_init(struct box_scene *scene, const struct clv_image *image, struct clv_pixel_box box,
                               int32_t n_superpixels, struct clv_error *err)
{
    OWNED(box_scene_release) struct box_scene result = {0};
    OWNED(clv_image_release) struct clv_image working = {0};
    const struct clv_slic_options slic = {n_superpixels, COMPACTNESS, ITERATIONS};
    MUST(crop(&result, image, box, err));
    int32_t width = result.image.width, height = result.image.height;
    if ((int64_t)width * height <= CUTTING_PIXELS)
        result.cutting = result.image;
    else
        MUST(image_shrink(&result.cutting, &result.image, CUTTING_PIXELS, err));
    MUST(image_shrink(&working, &result.image, WORKING_PIXELS, err));
    int32_t small_width = working.width, small_height = working.height;
    struct clv_pixel_box scaled = box_scene_scale(&result, small_width, small_height);
    MUST(clv_slic(&result.superpixels, &working, &slic, err));
    MUST(split_at_box(&result.superpixels, scaled, err));
    MUST(clv_adjacency_build(&result.adjacency, &result.superpixels, err));
    size_t n_pixels = (size_t)small_width * (size_t)small_height;
    OWNED_ARRAY float *lab = array_alloc(n_pixels * 3, sizeof *lab);
    NEED(lab);
    clv_rgb_to_lab(lab, working.pixels, n_pixels);
    MUST(measure(&result, lab, scaled, err));
    *scene = TAKE(result);
    return CLV_OK;
}
