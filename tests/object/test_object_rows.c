/* Objects by bands of rows against objects in memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "object/object.h"
#include "support/bands.h"
#include "support/images.h"
#include "support/support.h"

enum { N_SAMPLES = 4 };

static struct clv_image image;
static uint8_t *labels;
static float *samples;
static size_t n;

static void draw(int32_t width, int32_t height, int share, uint32_t *state)
{
    must(clv_image_new(&image, width, height, 3, err));
    n = (size_t)width * (size_t)height;
    labels = malloc(n);
    samples = malloc(n * N_SAMPLES * sizeof *samples);
    draw_noise(image.pixels, 3 * n, state);
    draw_labels(labels, width, height, 4, share, state);
    for (size_t p = 0; p < n; p++)
        labels[p] = labels[p] == 3 ? CLV_VOID : labels[p];
    for (size_t i = 0; i < n * N_SAMPLES; i++)
        samples[i] = noise(state) % 5 ? (float)(noise(state) % 1000) / 7 : NAN;
}

static void forget(void)
{
    free(labels);
    free(samples);
    clv_image_release(&image);
}

/* A new map by bands of so many rows. */
static void number(struct clv_object_map *map, int32_t rows, int64_t min_area, bool clears_border)
{
    const struct image_band all = image_band_of(&image, labels);
    struct object_rows by_rows = {0};
    must(object_rows_init(&by_rows, image.width, image.height, NULL, err));
    FOR_BANDS(band, &all, rows, 0)
    must(objects_find_rows(&by_rows, band.labels, band.n_rows, err));
    must(objects_filter_rows(&by_rows, min_area, clears_border, err));
    *map = (struct clv_object_map){.width = image.width, .height = image.height, .n_objects = by_rows.n_objects};
    map->objects = array_alloc(n, sizeof *map->objects);
    for (int pass = 0; pass < 2; pass++, object_rows_rewind(&by_rows))
        FOR_BANDS(band, &all, rows, 0)
    objects_number_rows(map->objects + (size_t)band.top * (size_t)band.width, &by_rows, band.labels, band.n_rows);
    map->labels = array_alloc((size_t)by_rows.n_objects, 1);
    for (int32_t k = 0; k < by_rows.n_objects; k++)
        map->labels[k] = (uint8_t)by_rows.values[k];
    object_rows_release(&by_rows);
}

static void expect_measures(const struct clv_object_map *map, int32_t rows)
{
    struct clv_object *whole = NULL;
    struct object_measures measures = {0};
    struct image_band all = image_band_of(&image, labels);
    size_t n_values = (size_t)map->n_objects * N_SAMPLES;
    double *mean = malloc(n_values * sizeof *mean), *deviation = malloc(n_values * sizeof *deviation);
    all.objects = map->objects;
    all.samples = samples;
    all.n_samples = N_SAMPLES;
    must(clv_objects_measure(&whole, map, &image, samples, err));
    must(objects_measure_samples(mean, deviation, map, samples, N_SAMPLES, err));
    must(object_measures_init(&measures, map->n_objects, map->labels, N_SAMPLES, err));
    FOR_BANDS(band, &all, rows, 0)
    object_measures_sum(&measures, &band, samples + (size_t)band.top * (size_t)band.width);
    must(object_measures_centre(&measures, err));
    FOR_BANDS(band, &all, rows, OBJECT_HALO)
    must(object_measures_shape(&measures, &band, err));
    object_measures_finish(&measures);
    for (int32_t k = 0; k < map->n_objects; k++) {
        const struct clv_object *a = &whole[k], *b = &measures.rows[k];
        ck_assert_int_eq(a->label, b->label);
        ck_assert_int_eq(a->area, b->area);
        ck_assert_mem_eq(&a->left, &b->left, 4 * sizeof a->left);
        ck_assert_mem_eq(&a->centroid_x, &b->centroid_x, 2 * sizeof(double));
        ck_assert_mem_eq(&a->perimeter, &b->perimeter, sizeof(double));
        ck_assert_mem_eq(a->mean, b->mean, 6 * sizeof(double));
        ck_assert_mem_eq(&a->eccentricity, &b->eccentricity, sizeof(double));
        ck_assert_mem_eq(&a->solidity, &b->solidity, sizeof(double));
        ck_assert(a->mean_probability == b->mean_probability ||
                  (isnan(a->mean_probability) && isnan(b->mean_probability)));
    }
    for (size_t i = 0; i < n_values; i++) {
        ck_assert(mean[i] == measures.mean[i] || (isnan(mean[i]) && isnan(measures.mean[i])));
        ck_assert(deviation[i] == measures.deviation[i] || (isnan(deviation[i]) && isnan(measures.deviation[i])));
    }
    object_measures_release(&measures);
    array_free(whole);
    free(mean);
    free(deviation);
}

TEST(numbers_and_measures_by_rows_are_those_in_memory)
{
    uint32_t state = 3;
    for (size_t s = 0; s < n_odd_sizes; s++)
        for (int share = 0; share < 300; share += 64)
            for (int kind = 0; kind < 4; kind++) {
                int64_t min_area = kind & 1 ? 5 : 0;
                bool clears_border = kind & 2;
                struct clv_object_map whole = {0};
                draw(odd_sizes[s][0], odd_sizes[s][1], share, &state);
                must(clv_object_map_from_labels(&whole, labels, image.width, image.height, NULL, err));
                must(clv_object_map_filter(&whole, min_area, clears_border, err));
                for (size_t r = 0; r < n_band_rows; r++) {
                    struct clv_object_map map = {0};
                    number(&map, band_rows[r], min_area, clears_border);
                    ck_assert_int_eq(map.n_objects, whole.n_objects);
                    ck_assert_mem_eq(map.objects, whole.objects, n * sizeof *map.objects);
                    ck_assert_mem_eq(map.labels, whole.labels, (size_t)map.n_objects);
                    if (!kind || r == 1)
                        expect_measures(&map, band_rows[r]);
                    clv_object_map_release(&map);
                }
                clv_object_map_release(&whole);
                forget();
            }
}

/* Objects of read maps may be in pieces, rows without any between them. */
TEST(measures_by_rows_of_objects_in_pieces)
{
    uint32_t state = 7;
    for (size_t s = 0; s < n_odd_sizes; s++) {
        draw(odd_sizes[s][0], odd_sizes[s][1], 200, &state);
        struct clv_object_map map = {.width = image.width, .height = image.height, .n_objects = 3};
        map.objects = array_zalloc(n, sizeof *map.objects);
        for (size_t p = 0; p < n; p++)
            map.objects[p] = noise(&state) % 17 ? 0 : (int32_t)(noise(&state) % 4);
        for (int32_t k = 0; k < 3; k++)
            map.objects[(size_t)k < n ? (size_t)k : n - 1] = k + 1;
        map.n_objects = n < 3 ? 1 : 3;
        map.objects[0] = 1;
        for (size_t r = 0; r < n_band_rows; r++)
            expect_measures(&map, band_rows[r]);
        clv_object_map_release(&map);
        forget();
    }
}

TEST(no_data_alone_has_no_objects)
{
    uint32_t state = 1;
    struct clv_object_map map = {0};
    draw(21, 9, 0, &state);
    memset(labels, CLV_VOID, n);
    number(&map, 2, 0, false);
    ck_assert_int_eq(map.n_objects, 0);
    expect_measures(&map, 2);
    clv_object_map_release(&map);
    forget();
}

TEST(too_many_objects_name_min_area)
{
    struct object_rows rows = {0};
    must(object_rows_init(&rows, 6, 2, NULL, err));
    rows.max_pieces = 2;
    must(objects_find_rows(&rows, (const uint8_t *)"\1\1\0\0\2\0", 1, err));
    must_fail(CLV_ERR_DATA, "more than 2 objects begin in it; --min-area leaves out small ones",
              objects_find_rows(&rows, (const uint8_t *)"\1\1\0\1\2\0", 1, err));
    object_rows_release(&rows);
}

TEST(colours_of_objects_by_bands)
{
    uint32_t state = 11;
    for (int share = 0; share < 200; share += 90) {
        struct clv_object_map map = {0};
        draw(203, 94, share, &state);
        must(clv_object_map_from_labels(&map, labels, image.width, image.height, NULL, err));
        ck_assert_int_gt(map.n_objects, 255);
        uint8_t *colours = malloc(n), *colour_of = malloc((size_t)map.n_objects + 1);
        must(object_map_colour(colours, &map, err));
        const struct image_band all = {
            .width = map.width, .height = map.height, .n_rows = map.height, .objects = map.objects};
        for (size_t r = 0; r < n_band_rows; r++) {
            objects_colour_init(colour_of, map.n_objects);
            bool was_changed = true;
            for (int round = 0; round < OBJECT_COLOUR_ROUNDS && was_changed; round++) {
                was_changed = false;
                FOR_BANDS(band, &all, band_rows[r], 1)
                objects_colour_band(&was_changed, colour_of, &band);
            }
            for (size_t p = 0; p < n; p++)
                ck_assert_int_eq(colours[p], colour_of[map.objects[p]]);
        }
        free(colours);
        free(colour_of);
        clv_object_map_release(&map);
        forget();
    }
}
