/* Rasters by bands of rows against the same files in memory, and what is written by rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "image/image.h"
#include "image/raster/raster.h"
#include "support/bands.h"
#include "support/images.h"
#include "support/support.h"

static const int32_t sizes[][2] = {{1, 1}, {1, 300}, {301, 1}, {70, 131}, {513, 530}};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

static uint8_t palette[256][3];

/* Writes rows in portions of changing size. */
static void write_rows(const char *path, const struct raster_layout *layout, const void *pixels,
                       const struct georeference *georeference)
{
    struct raster_writer writer = {0};
    size_t row = (size_t)layout->width * (size_t)(layout->n_channels * layout->bits / 8);
    must(raster_writer_create(&writer, path, layout, georeference, err));
    for (int32_t top = 0, n = 1; top < layout->height; top += n) {
        n = 1 + top * 7 % 300;
        n = layout->height - top < n ? layout->height - top : n;
        must(raster_writer_rows(&writer, (const uint8_t *)pixels + (size_t)top * row, n, err));
    }
    must(raster_writer_commit(&writer, err));
}

static void expect_rows(const void *found, const void *whole, size_t row_bytes, const struct image_band *band)
{
    int32_t first = band->top - band->above, n = band->above + band->n_rows + band->below;
    if (whole)
        ck_assert_mem_eq(found, (const uint8_t *)whole + (size_t)first * row_bytes, row_bytes * (size_t)n);
    else
        ck_assert_ptr_null(found);
}

/* Reads all bands twice and compares them with all rows in memory. */
static void expect_bands(const struct raster_rows_files *files, const struct image_band *all)
{
    static const int32_t halos[] = {0, 1, 40, 600};
    size_t width = (size_t)all->width;
    for (size_t r = 0; r < n_band_rows; r++)
        for (size_t h = 0; h < sizeof halos / sizeof *halos; h++) {
            struct raster_rows rows = {0};
            must(raster_rows_open(&rows, files, band_rows[r], halos[h], err));
            for (int pass = 0; pass < 2; pass++, raster_rows_rewind(&rows)) {
                int32_t top = 0;
                for (bool more = true;; top += rows.band.n_rows) {
                    must(raster_rows_next(&more, &rows, err));
                    if (!more)
                        break;
                    const struct image_band *band = &rows.band;
                    ck_assert_int_eq(band->top, top);
                    ck_assert_int_eq(band->above, top < halos[h] ? top : halos[h]);
                    expect_rows(band->pixels, all->pixels, 3 * width, band);
                    expect_rows(band->labels, all->labels, width, band);
                    expect_rows(band->objects, all->objects, 4 * width, band);
                    expect_rows(band->samples, all->samples, 4 * width * (size_t)all->n_samples, band);
                }
                ck_assert_int_eq(top, all->height);
            }
            raster_rows_close(&rows);
        }
}

TEST(masks_of_palettes_and_objects_are_read_by_rows)
{
    uint32_t state = 4;
    clv_default_palette(palette);
    for (int s = 0; s < N_SIZES; s++) {
        struct image_band all = {.width = sizes[s][0], .height = sizes[s][1]};
        size_t n = (size_t)all.width * (size_t)all.height;
        uint8_t *labels = malloc(n), label_of[256] = {0};
        int32_t *numbers = malloc(n * sizeof *numbers);
        struct integer_image back = {0};
        draw_labels(labels, all.width, all.height, 256, 200, &state);
        for (size_t p = 0; p < n; p++)
            numbers[p] = labels[p] * (INT32_MAX / 255); /* more than floats tell apart */
        const struct raster_layout layout = {all.width, all.height, 1, 32, NULL, 0};
        write_rows(here("objects.tif"), &layout, numbers, NULL);
        must(integer_image_read(&back, here("objects.tif"), NULL, err));
        ck_assert_mem_eq(back.values, numbers, n * sizeof *numbers);
        integer_image_release(&back);
        const struct georeference void_ones = {.may_lack_data = true}; /* whose label is read as it is */
        must(raster_write_labels(
            here("mask.tif"), &(struct label_image){all.width, all.height, labels, (const uint8_t(*)[3])palette, 256},
            &void_ones, err));
        all.labels = labels;
        all.objects = numbers;
        expect_bands(&(struct raster_rows_files){.mask = here("mask.tif"), .objects = here("objects.tif")}, &all);
        all.objects = NULL;
        struct raster_writer strips = {.description = "strips"};
        must(raster_writer_add_page(&strips, here("strips.tif"),
                                    &(struct label_image){all.width, all.height, labels, NULL, 0}, 1, err));
        must(raster_writer_commit(&strips, err));
        for (int value = 0; value < 256; value++)
            label_of[value] = (uint8_t)(value / 2);
        for (size_t p = 0; p < n; p++)
            labels[p] /= 2;
        expect_bands(&(struct raster_rows_files){.mask = here("strips.tif"), .label_of = label_of}, &all);
        free(labels);
        free(numbers);
    }
}

/* If nearly all values of a band are equal, so are its percentiles, and the range is that of all values. */
TEST(the_range_of_a_band_is_between_its_percentiles_unless_these_are_equal)
{
    enum { N = 300, N_BANDS = 2 };
    float values[N_BANDS * N];
    for (int i = 0; i < N; i++) {
        values[i] = (float)((i * 7) % N);
        values[N + i] = i == 5 ? 40 : i == 6 ? NAN : 9;
    }
    const struct band_samples samples = {.value = values, .n = N, .capacity = N, .n_bands = N_BANDS};
    struct clv_bands bands = {0};
    must(bands_learn(&bands, &samples, err));
    ck_assert(bands.low[0] == 2 && bands.middle[0] == 149 && bands.high[0] == 297);
    ck_assert(bands.low[1] == 9 && bands.middle[1] == 9 && bands.high[1] == 40);
}

TEST(colours_and_samples_are_read_by_rows)
{
    uint32_t state = 4;
    for (int s = 0; s < N_SIZES; s++) {
        struct image_band all = {.width = sizes[s][0], .height = sizes[s][1], .n_samples = 1};
        size_t n = (size_t)all.width * (size_t)all.height;
        uint16_t *values = malloc(n * sizeof *values);
        float *samples = malloc(n * sizeof *samples);
        struct clv_image shown = {0};
        struct clv_bands bands = {0};
        for (size_t p = 0; p < n; p++)
            samples[p] = values[p] = (uint16_t)(noise(&state) % 60000);
        const char *path = here("deep.tif"), *colours = here("colours.tif");
        write_rows(path, &(struct raster_layout){all.width, all.height, 1, 16, NULL, 0}, values, NULL);
        OWNED(raster_close) struct raster deep = {0};
        OWNED(band_samples_release) struct band_samples accessed_bytes = {0};
        must(raster_open(&deep, path, NULL, err));
        must(band_samples_add(&accessed_bytes, &deep, 1, path, path, err));
        must(bands_learn(&bands, &accessed_bytes, err));
        must(clv_image_read(&shown, path, &(struct clv_image_limits){.bands = &bands}, err));
        all.samples = samples;
        all.pixels = shown.pixels;
        expect_bands(&(struct raster_rows_files){.image = path, .bands = &bands, .has_samples = true}, &all);
        all.samples = NULL;
        draw_noise(shown.pixels, 3 * n, &state);
        struct raster raster = {0};
        write_rows(colours, &(struct raster_layout){all.width, all.height, 3, 8, NULL, 0}, shown.pixels, NULL);
        must(raster_open(&raster, colours, NULL, err));
        ck_assert(bands_are_plain(&bands, &raster));
        raster_close(&raster);
        expect_bands(&(struct raster_rows_files){.image = colours, .bands = &bands}, &all);
        struct clv_image back = {0};
        must(clv_image_read(&back, colours, NULL, err));
        ck_assert_mem_eq(back.pixels, shown.pixels, 3 * n);
        clv_image_release(&back);
        clv_image_release(&shown);
        free(samples);
        free(values);
    }
}

TEST(colours_with_alpha_keep_the_georeference_and_name_no_missing_data)
{
    enum { W = 300, H = 270 };
    double scale[] = {30, 30, 0}, tie[] = {0, 0, 0, 440720, 3751320, 0}, at[2];
    double turned[16] = {10, 2, 0, 500000, 2, -10, 0, 4000000, 0, 0, 0, 0, 0, 0, 0, 1};
    char texts[] = "a place|";
    const struct georeference georeference = {
        .scale = scale, .tie_points = tie, .texts = texts, .n_scale = 3, .n_tie_points = 6, .may_lack_data = true};
    const struct georeference by_matrix = {.transformation = turned, .n_transformation = 16};
    uint8_t *rgba = malloc(W * H * 4);
    float *values = malloc(W * H * 3 * sizeof *values);
    struct raster raster = {0};
    uint32_t state = 8;
    draw_noise(rgba, W * H * 4, &state);
    write_rows(here("cut.tif"), &(struct raster_layout){W, H, 4, 8, NULL, 0}, rgba, &georeference);
    must(raster_open(&raster, here("cut.tif"), NULL, err));
    ck_assert_int_eq(raster.n_bands, 3);
    must(raster_read(values, &raster, &(struct image_part){.width = W, .height = H}, err));
    for (int p = 0; p < W * H; p++)
        for (int c = 0; c < 3; c++)
            ck_assert(rgba[4 * p + 3] ? values[3 * p + c] == (float)rgba[4 * p + c] : isnan(values[3 * p + c]));
    ck_assert(georeference_at(at, &raster.georeference, 10, 1) && at[0] == 441020 && at[1] == 3751290);
    raster_close(&raster);
    write_rows(here("grey.tif"), &(struct raster_layout){W, H, 1, 32, NULL, 0}, rgba, &georeference);
    must(raster_open(&raster, here("grey.tif"), NULL, err));
    ck_assert(!raster.georeference.may_lack_data);
    raster_close(&raster);
    struct georeference part = {0};
    must(georeference_of_part(&part, &georeference, 7, 3, err));
    ck_assert(georeference_at(at, &part, 3, -2) && at[0] == 441020 && at[1] == 3751290);
    ck_assert_str_eq(part.texts, texts);
    georeference_release(&part);
    must(georeference_of_part(&part, &by_matrix, 7, 3, err));
    ck_assert(georeference_at(at, &part, 0, 0) && at[0] == 500076 && at[1] == 3999984);
    georeference_release(&part);
    free(rgba);
    free(values);
}

TEST(rows_that_cannot_be_read_are_refused)
{
    static uint8_t pixels[40 * 30 * 4];
    static const int32_t negative[4] = {1, 2, -3, 4};
    struct raster_rows rows = {0};
    bool more;
    const char *mask = here("mask.tif"), *other = here("other.tif"), *colours = here("rgb.tif"),
               *deep = here("deep.tif");
    write_rows(mask, &(struct raster_layout){40, 30, 1, 8, NULL, 0}, pixels, NULL);
    write_rows(other, &(struct raster_layout){30, 40, 1, 32, NULL, 0}, pixels, NULL);
    write_rows(colours, &(struct raster_layout){40, 30, 3, 8, NULL, 0}, pixels, NULL);
    write_rows(deep, &(struct raster_layout){2, 2, 1, 32, NULL, 0}, negative, NULL);
    must_fail(CLV_ERR_DATA, "other.tif: 30x40 pixels, the raster has 40x30",
              raster_rows_open(&rows, &(struct raster_rows_files){.mask = mask, .objects = other}, 9, 1, err));
    must_fail(CLV_ERR_DATA, "rgb.tif: not a TIFF of one whole number per pixel",
              raster_rows_open(&rows, &(struct raster_rows_files){.mask = colours}, 9, 1, err));
    must(raster_rows_open(&rows, &(struct raster_rows_files){.mask = deep}, 9, 1, err));
    must_fail(CLV_ERR_DATA,
              "deep.tif: a TIFF of 1 samples of 32 bits per pixel; here it has one whole number of up to 8",
              raster_rows_next(&more, &rows, err));
    raster_rows_close(&rows);
    must(raster_rows_open(&rows, &(struct raster_rows_files){.objects = deep}, 9, 1, err));
    must_fail(CLV_ERR_DATA, "deep.tif: row 1 has a number below 0 or above 2,147,483,647",
              raster_rows_next(&more, &rows, err));
    raster_rows_close(&rows);
}

/* Nothing but the head is written: the file has holes in place of tiles. */
TEST(four_gigabytes_of_pixels_make_a_bigtiff)
{
    static const struct {
        int32_t side;
        int n_channels, bits, version;
    } cases[] = {{63244, 1, 8, 42},  {63246, 1, 8, 43}, {31622, 4, 8, 42}, {31624, 4, 8, 43},
                 {31624, 1, 32, 43}, {36514, 3, 8, 42}, {36516, 3, 8, 43}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct raster_layout layout = {cases[k].side, cases[k].side, cases[k].n_channels, cases[k].bits, NULL, 0};
        struct raster_writer writer = {0};
        OWNED_ARRAY char *head = NULL;
        size_t size;
        must(raster_writer_create(&writer, here("big.tif"), &layout, NULL, err));
        must(raster_writer_commit(&writer, err));
        must(file_read_head(&head, &size, here("big.tif"), 4, err));
        ck_assert_int_eq(head[2], cases[k].version);
    }
}
