/* The images of an item, pixel by pixel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "support/bands.h"
#include "support/images.h"
#include "support/support.h"

enum { BLOCK = 20, SIDE = 4 * BLOCK, N = SIDE * SIDE };

static const uint8_t values[4] = {0, 1, 2, CLV_VOID};
static struct clv_image image;
static uint8_t labels[N], truth[N], palette[256][3];
static struct clv_report_item item;

/* Blocks of each label next to each other one as truth, 20 pixels a side; a photo of noise. */
static void setup(void)
{
    uint32_t state = 8;
    must(clv_image_new(&image, SIDE, SIDE, 3, err));
    clv_default_palette(palette);
    for (int p = 0; p < N; p++) {
        labels[p] = values[p % SIDE / BLOCK];
        truth[p] = values[p / SIDE / BLOCK];
        memset(image.pixels + 3 * p, (int)(60 + noise(&state) % 8), 3);
    }
    item = (struct clv_report_item){.name = "a", .image = &image, .labels = labels, .truth = truth};
}

static void teardown(void)
{
    clv_image_release(&image);
}

static struct clv_image decoded(const struct item_images *made, enum layer layer)
{
    struct clv_image decoded = {0};
    must(clv_image_decode(&decoded, made->layer[layer].bytes, made->layer[layer].size, NULL, err));
    ck_assert(decoded.width == SIDE && decoded.height == SIDE);
    return decoded;
}

/* The layer's values and their colours. */
static void check_values(const struct item_images *made, enum layer layer, const uint8_t *expected,
                         const uint8_t (*colours)[3])
{
    OWNED(clv_indexed_image_release) struct clv_indexed_image found = {0};
    OWNED(clv_image_release) struct clv_image seen = decoded(made, layer);
    must(clv_indexed_image_decode(&found, made->layer[layer].bytes, made->layer[layer].size, NULL, err));
    ck_assert_mem_eq(found.values, expected, N);
    for (int p = 0; p < N; p++)
        ck_assert_mem_eq(seen.pixels + 3 * p, colours[expected[p]], 3);
}

TEST(every_pair_of_label_and_truth_has_its_difference)
{
    static const uint8_t expected[4][4] = {
        /* truth 0: */ {DIFFERENCE_BACKGROUND, DIFFERENCE_FALSE_ALARM, DIFFERENCE_FALSE_ALARM, DIFFERENCE_FALSE_ALARM},
        /* truth 1: */ {DIFFERENCE_MISS, DIFFERENCE_FOREGROUND, DIFFERENCE_WRONG_LABEL, DIFFERENCE_MISS},
        /* truth 2: */ {DIFFERENCE_MISS, DIFFERENCE_WRONG_LABEL, DIFFERENCE_FOREGROUND, DIFFERENCE_MISS},
        /* void: */ {DIFFERENCE_VOID, DIFFERENCE_VOID, DIFFERENCE_VOID, DIFFERENCE_VOID}};
    OWNED(item_images_release) struct item_images made = {0};
    uint8_t difference[N];
    for (int p = 0; p < N; p++)
        difference[p] = expected[p / SIDE / BLOCK][p % SIDE / BLOCK];
    must(item_images_make(&made, &item, (const uint8_t(*)[3])palette, err));
    check_values(&made, LAYER_MASK, labels, (const uint8_t(*)[3])palette);
    check_values(&made, LAYER_TRUTH, truth, (const uint8_t(*)[3])palette);
    check_values(&made, LAYER_DIFFERENCE, difference, difference_palette);
}

/* In the middle of blocks: as it was where labels are 0, else tinted. */
TEST(the_overlay_tints_the_photo)
{
    OWNED(item_images_release) struct item_images made = {0};
    must(item_images_make(&made, &item, (const uint8_t(*)[3])palette, err));
    OWNED(clv_image_release) struct clv_image plain = decoded(&made, LAYER_IMAGE),
                                              painted = decoded(&made, LAYER_OVERLAY);
    for (int block = 0; block < 3; block++)
        for (int c = 0; c < 3; c++) {
            int p = 3 * (BLOCK / 2 * SIDE + BLOCK * block + BLOCK / 2) + c;
            double tinted = block ? 0.55 * 64 + 0.45 * palette[block][c] : 64;
            ck_assert_int_le(abs(plain.pixels[p] - 64), 8);
            ck_assert_double_le(fabs(painted.pixels[p] - tinted), 12);
        }
}

TEST(probabilities_are_greys_and_have_no_labels)
{
    OWNED(item_images_release) struct item_images made = {0};
    static uint8_t greys[256][3];
    uint8_t probability[N];
    for (int p = 0; p < N; p++)
        probability[p] = (uint8_t)(p % 256);
    for (int v = 0; v < 256; v++)
        memset(greys[v], v, 3);
    item.labels = item.truth = NULL;
    item.probability = probability;
    must(item_images_make(&made, &item, (const uint8_t(*)[3])palette, err));
    check_values(&made, LAYER_MASK, probability, (const uint8_t(*)[3])greys);
    ck_assert_ptr_nonnull(made.layer[LAYER_OVERLAY].bytes);
    ck_assert_ptr_null(made.layer[LAYER_TRUTH].bytes);
}

SETUP_EACH(setup, teardown)

/* Shrunk by bands, and then taken for the whole image. */
TEST(pictures_of_a_raster_by_bands_are_those_of_the_whole)
{
    static const int32_t sizes[][2] = {{1, 1}, {1, 1700}, {900, 1}, {70, 31}, {1301, 700}, {641, 1283}};
    static const int32_t rows[] = {1, 7, 64, 5000};
    uint32_t state = 6;
    clv_default_palette(palette);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct clv_image whole = {0};
        must(clv_image_new(&whole, sizes[s][0], sizes[s][1], 3, err));
        size_t n = (size_t)whole.width * (size_t)whole.height;
        uint8_t *all_labels = malloc(n);
        draw_labels(all_labels, whole.width, whole.height, 4, 250, &state);
        draw_noise(whole.pixels, 3 * n, &state);
        const struct image_band all = image_band_of(&whole, all_labels);
        struct item_images at_once = {0}, by_bands = {0};
        struct clv_report_item one = {.name = "a", .image = &whole, .labels = all_labels};
        must(item_images_make(&at_once, &one, (const uint8_t(*)[3])palette, err));
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
            struct report_picture picture = {0};
            must(report_picture_init(&picture, whole.width, whole.height, err));
            FOR_BANDS(band, &all, rows[r], report_picture_halo(whole.width, whole.height))
            must(report_picture_add(&picture, &band, err));
            ck_assert_int_eq(picture.n_rows, picture.image.height);
            struct clv_report_item other = {.name = "a", .image = &picture.image, .labels = picture.labels};
            must(item_images_make(&by_bands, &other, (const uint8_t(*)[3])palette, err));
            for (int layer = LAYER_IMAGE; layer <= LAYER_MASK; layer++) {
                ck_assert_uint_eq(by_bands.layer[layer].size, at_once.layer[layer].size);
                ck_assert_mem_eq(by_bands.layer[layer].bytes, at_once.layer[layer].bytes, at_once.layer[layer].size);
            }
            item_images_release(&by_bands);
            report_picture_release(&picture);
        }
        item_images_release(&at_once);
        free(all_labels);
        clv_image_release(&whole);
    }
}
