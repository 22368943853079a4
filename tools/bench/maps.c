/* Refinement of maps without a model (clv_refine_probabilities): weighted Hamming loss and IoU of pixels before and
 * after, means over the images of a split of the horses (MAPS_SPLIT, default test), for
 *   - the maps of a small network, 128 x 128, stretched over the image;
 *   - the truth blurred by Gaussians of several widths, shifted sideways, and blurred with noise added;
 * and CPU milliseconds per megapixel. One round: only the noise is random, and it is seeded.
 *
 * With the test split, then models with maps (maps_table.h): MAPS_ROWS names some, MAPS_SEEDS=0 omits them. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "bench.h"
#include "cleave.h"
#include "maps_table.h"

struct quality {
    double loss, iou; /* sums */
};

struct kind {
    const char *name;
    double blur, noise;
    int32_t shift;
    int is_map;
    struct quality before, after;
    double cpu, pixels;
    double worst; /* of an image: loss after - loss before */
};

static struct kind kinds[] = {
    {.name = "network's map", .is_map = 1},
    {.name = "truth"},
    {.name = "truth, blur 1", .blur = 1},
    {.name = "truth, blur 2", .blur = 2},
    {.name = "truth, blur 4", .blur = 4},
    {.name = "truth, blur 6", .blur = 6},
    {.name = "truth, blur 8", .blur = 8},
    {.name = "truth, shift 2", .shift = 2},
    {.name = "truth, shift 4, blur 2", .shift = 4, .blur = 2},
    {.name = "truth, blur 2, noise .2", .blur = 2, .noise = 0.2},
    {.name = "truth, blur 4, noise .2", .blur = 4, .noise = 0.2},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static void must(enum clv_status status, const struct clv_error *error)
{
    if (status) {
        fprintf(stderr, "maps: %s\n", error->message);
        exit(1);
    }
}

/* Bilinear between the centres of the map's pixels, which is stretched over width x height. */
static void stretch(float *plane, int32_t width, int32_t height, const struct clv_map *map)
{
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            double u = fmin(fmax((x + 0.5) * map->width / width - 0.5, 0), map->width - 1);
            double v = fmin(fmax((y + 0.5) * map->height / height - 0.5, 0), map->height - 1);
            int32_t i = (int32_t)u, j = (int32_t)v;
            int32_t right = i + 1 < map->width ? i + 1 : i, low = j + 1 < map->height ? j + 1 : j;
            const float *above = map->values + (ptrdiff_t)j * map->width;
            const float *below = map->values + (ptrdiff_t)low * map->width;
            double top = above[i] * (1 - (u - i)) + above[right] * (u - i);
            double bottom = below[i] * (1 - (u - i)) + below[right] * (u - i);
            plane[(ptrdiff_t)y * width + x] = (float)(top * (1 - (v - j)) + bottom * (v - j));
        }
}

/* One direction of a Gaussian blur, the border's value beyond the border. */
static void blur_lines(float *to, const float *from, int32_t n_lines, int32_t n, ptrdiff_t line, ptrdiff_t step,
                       double sigma)
{
    int32_t reach = (int32_t)ceil(4 * sigma);
    for (int32_t k = 0; k < n_lines; k++)
        for (int32_t i = 0; i < n; i++) {
            double sum = 0, weight = 0;
            for (int32_t d = -reach; d <= reach; d++) {
                int32_t at = i + d < 0 ? 0 : i + d >= n ? n - 1 : i + d;
                double share = exp(-0.5 * d * d / (sigma * sigma));
                sum += share * from[k * line + at * step];
                weight += share;
            }
            to[k * line + i * step] = (float)(sum / weight);
        }
}

/* Of (seed): standard normal, twelve uniform numbers. */
static double noise(uint32_t *seed)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        sum += *seed / 4294967296.0;
    }
    return sum;
}

static void make_plane(float *plane, float *scratch, const struct kind *kind, const struct clv_mask *truth,
                       const struct clv_map *map, uint32_t seed)
{
    int32_t width = truth->width, height = truth->height;
    size_t n = (size_t)width * (size_t)height;
    if (kind->is_map) {
        stretch(plane, width, height, map);
        return;
    }
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            int32_t from = x - kind->shift < 0 ? 0 : x - kind->shift;
            plane[(ptrdiff_t)y * width + x] = truth->labels[(ptrdiff_t)y * width + from] == 1;
        }
    if (kind->blur > 0) {
        blur_lines(scratch, plane, height, width, width, 1, kind->blur);
        blur_lines(plane, scratch, width, height, 1, width, kind->blur);
    }
    for (size_t p = 0; kind->noise > 0 && p < n; p++)
        plane[p] = (float)fmin(fmax(plane[p] + kind->noise * noise(&seed), 0), 1);
}

static double add_quality(struct quality *quality, const struct clv_mask *truth, const uint8_t *labels)
{
    struct clv_confusion confusion;
    struct clv_error error;
    must(clv_confusion_init(&confusion, 2, &error), &error);
    clv_confusion_add(&confusion, truth->labels, labels, (size_t)truth->width * (size_t)truth->height);
    struct clv_image_score score = clv_confusion_score(&confusion);
    clv_confusion_release(&confusion);
    quality->loss += score.weighted_hamming;
    quality->iou += score.mean_iou;
    return score.weighted_hamming;
}

static void run_image(const struct clv_item *item, const struct clv_labels *labels, uint32_t seed)
{
    struct clv_image image = {0};
    struct clv_mask truth = {0};
    struct clv_map map = {0};
    struct clv_error error;
    must(clv_image_read(&image, item->image, NULL, &error), &error);
    must(clv_mask_read(&truth, item->mask, labels, image.width, image.height, NULL, &error), &error);
    must(clv_map_read(&map, item->maps[0], CLV_MAP_LAYOUT_AUTO, NULL, &error), &error);
    size_t n = (size_t)image.width * (size_t)image.height;
    float *plane = calloc(n, sizeof *plane), *scratch = calloc(n, sizeof *scratch);
    uint8_t *made = calloc(n, 1);
    if (!plane || !scratch || !made)
        exit(1);
    for (int k = 0; k < N_KINDS; k++) {
        struct kind *kind = &kinds[k];
        make_plane(plane, scratch, kind, &truth, &map, seed);
        for (size_t p = 0; p < n; p++)
            made[p] = plane[p] > 0.5F;
        double before = add_quality(&kind->before, &truth, made), start = bench_cpu();
        must(clv_refine_probabilities(made, &image, plane, 2, NULL, &error), &error);
        kind->cpu += bench_cpu() - start;
        kind->pixels += (double)n;
        kind->worst = fmax(kind->worst, add_quality(&kind->after, &truth, made) - before);
    }
    free(plane);
    free(scratch);
    free(made);
    clv_map_release(&map);
    clv_mask_release(&truth);
    clv_image_release(&image);
}

int main(void)
{
    const char *split = getenv("MAPS_SPLIT") ? getenv("MAPS_SPLIT") : "test";
    const char *found = bench_data("maps", "horses/manifest.tsv");
    char folder[4096];
    struct clv_set set = {0};
    struct clv_error error;
    if (!found)
        return 0;
    must(clv_set_read_manifest(&set, found, &error), &error);
    if (!(found = bench_data("maps", "maps-horses/probability")))
        return 0;
    snprintf(folder, sizeof folder, "%s", found);
    must(clv_set_select(&set, split, &error), &error);
    must(clv_set_add_maps(&set, "unet", folder, &error), &error);
    for (size_t i = 0; i < set.n_items; i++)
        run_image(&set.items[i], &set.labels, (uint32_t)i + 1);
    double n = (double)set.n_items;
    printf("maps: %zu images (%s), weighted Hamming %% and IoU, as they are and refined; one round\n", set.n_items,
           split);
    for (int k = 0; k < N_KINDS; k++)
        printf("maps, %-24s %5.2f %.3f -> %5.2f %.3f (worst image %+.2f); %.0f ms CPU a megapixel\n", kinds[k].name,
               100 * kinds[k].before.loss / n, kinds[k].before.iou / n, 100 * kinds[k].after.loss / n,
               kinds[k].after.iou / n, 100 * kinds[k].worst, 1e9 * kinds[k].cpu / kinds[k].pixels);
    double pixels = kinds[0].pixels;
    clv_set_release(&set);
    *strstr(folder, "/maps-horses") = 0;
    if (strcmp(split, "test") == 0)
        maps_table(folder, pixels / 1e6);
    return 0;
}
