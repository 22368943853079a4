/* The inner loop of SLIC against a plain search, and against itself at another vector width. */
#include "superpixel/superpixel.h"

#include <math.h>

#include "superpixel/partition.h"

/* The same source once more, for the compiler's plain target only. */
#include "base/machine.h"
#undef FOR_EVERY_WIDTH
#define FOR_EVERY_WIDTH
#define tile_assign tile_assign_plain
#include "src/superpixel/assign.c"
#undef tile_assign

#define MAX_CENTRES 300

struct scene {
    struct clv_image image;
    struct tiles tiles;
    struct centre centres[MAX_CENTRES];
    int32_t candidates[MAX_CENTRES];
};

static struct scene scene_new(int noise)
{
    struct scene scene = {.image = draw_image(37, 21, noise)};
    must(tiles_init(&scene.tiles, &scene.image, err));
    for (uint64_t k = 0; k < MAX_CENTRES; k++) {
        scene.candidates[k] = (int32_t)k;
        struct centre *centre = &scene.centres[k];
        for (uint64_t c = 0; c < 3; c++)
            centre->lab[c] = (float)(3000 * rng_uniform(5, RNG_TEST, 5 * k + c) - (c ? 1500 : 0));
        centre->x = (float)(37 * rng_uniform(5, RNG_TEST, 5 * k + 3));
        centre->y = (float)(21 * rng_uniform(5, RNG_TEST, 5 * k + 4));
    }
    return scene;
}

static void scene_release(struct scene *scene)
{
    tiles_release(&scene->tiles);
    free(scene->image.pixels);
}

/* The squared distance between pixel i of tile t and centre k, in double precision. */
static double distance_of(const struct scene *scene, size_t t, int32_t i, int32_t k, double weight)
{
    const struct centre *centre = &scene->centres[k];
    double x = (double)(t % (size_t)scene->tiles.columns * TILE_SIDE) + i % TILE_SIDE - centre->x;
    double y = (double)(t / (size_t)scene->tiles.columns * TILE_SIDE) + i / TILE_SIDE - centre->y;
    double sum = weight * (x * x + y * y);
    for (int c = 0; c < 3; c++) {
        double d = scene->tiles.lab[c][t * TILE_PIXELS + (size_t)i] - (double)centre->lab[c];
        sum += d * d;
    }
    return sum;
}

TEST(every_pixel_gets_its_nearest_candidate)
{
    static const size_t numbers[] = {1, 2, 5, 16, 17, 64, 65, 200, MAX_CENTRES};
    for (int noise = 0; noise < 200; noise += 90) {
        OWNED(scene_release) struct scene scene = scene_new(noise);
        for (size_t s = 0; s < sizeof numbers / sizeof *numbers; s++)
            for (float weight = 1; weight < 1e7F; weight *= 100)
                for (size_t t = 0; t < scene.tiles.n; t++) {
                    int32_t labels[TILE_PIXELS];
                    uint8_t changed[TILE_PIXELS];
                    tile_assign(labels, changed, &scene.tiles, t, scene.centres, scene.candidates, numbers[s], weight);
                    for (int32_t i = 0; i < TILE_PIXELS; i++) {
                        double least = INFINITY;
                        for (size_t k = 0; k < numbers[s]; k++)
                            least = fmin(least, distance_of(&scene, t, i, (int32_t)k, weight));
                        ck_assert(labels[i] >= 0 && (size_t)labels[i] < numbers[s]);
                        double got = distance_of(&scene, t, i, labels[i], weight);
                        /* The key keeps 17 bits of a number that the box's extent adds to. */
                        ck_assert_double_le(got - least, 5e-5 * (least + 8e6 + 200 * weight));
                    }
                }
    }
}

TEST(the_vector_width_does_not_show)
{
    OWNED(scene_release) struct scene scene = scene_new(40);
    for (size_t n = 1; n <= MAX_CENTRES; n += 13)
        for (size_t t = 0; t < scene.tiles.n; t++) {
            int32_t wide[TILE_PIXELS], plain[TILE_PIXELS];
            uint8_t wide_changed[TILE_PIXELS], plain_changed[TILE_PIXELS];
            tile_assign(wide, wide_changed, &scene.tiles, t, scene.centres, scene.candidates, n, 700);
            tile_assign_plain(plain, plain_changed, &scene.tiles, t, scene.centres, scene.candidates, n, 700);
            ck_assert_mem_eq(wide, plain, sizeof wide);
            ck_assert_mem_eq(wide_changed, plain_changed, sizeof wide_changed);
        }
}

TEST(equal_centres_leave_the_first_and_changes_are_reported)
{
    OWNED(scene_release) struct scene scene = scene_new(0);
    for (int k = 1; k < MAX_CENTRES; k++)
        scene.centres[k] = scene.centres[0];
    int32_t labels[TILE_PIXELS];
    uint8_t changed[TILE_PIXELS];
    int32_t *old = scene.tiles.labels + TILE_PIXELS;
    for (int i = 0; i < TILE_PIXELS; i++)
        old[i] = i % 3;
    tile_assign(labels, changed, &scene.tiles, 1, scene.centres, scene.candidates, MAX_CENTRES, 100);
    for (int i = 0; i < TILE_PIXELS; i++) {
        ck_assert_int_eq(labels[i], 0);
        ck_assert_int_eq(changed[i], i % 3 != 0);
    }
}

TEST(tiles_hold_rounded_lab_values_and_repeat_the_edge)
{
    struct clv_image image = draw_image(13, 10, 30);
    OWNED_ARRAY float *lab = malloc(13 * 10 * 3 * sizeof *lab);
    clv_rgb_to_lab(lab, image.pixels, 13 * 10);
    OWNED(tiles_release) struct tiles tiles = {0};
    must(tiles_init(&tiles, &image, err));
    ck_assert_int_eq(tiles.columns, 2);
    ck_assert_int_eq(tiles.rows, 2);
    for (int32_t y = 0; y < 16; y++)
        for (int32_t x = 0; x < 16; x++)
            for (int c = 0; c < 3; c++) {
                int32_t u = x < 13 ? x : 12, v = y < 10 ? y : 9;
                size_t at = tile_offset(&tiles, x, y);
                int16_t value = tiles.lab[c][at];
                ck_assert_double_le(fabs(value - 32.0 * lab[3 * (v * 13 + u) + c]), 0.51);
                ck_assert_int_le(tiles.boxes[at / TILE_PIXELS].low[c], value);
                ck_assert_int_ge(tiles.boxes[at / TILE_PIXELS].high[c], value);
            }
    free(image.pixels);
}
