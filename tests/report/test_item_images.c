/* The images of an item, pixel by pixel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
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
    struct clv_indexed_image found = {0};
    struct clv_image seen = decoded(made, layer);
    must(clv_indexed_image_decode(&found, made->layer[layer].bytes, made->layer[layer].size, NULL, err));
    ck_assert_mem_eq(found.values, expected, N);
    for (int p = 0; p < N; p++)
        ck_assert_mem_eq(seen.pixels + 3 * p, colours[expected[p]], 3);
    clv_image_release(&seen);
    clv_indexed_image_release(&found);
}

TEST(every_pair_of_label_and_truth_has_its_difference)
{
    static const uint8_t expected[4][4] = {
        /* truth 0: */ {DIFFERENCE_BACKGROUND, DIFFERENCE_FALSE_ALARM, DIFFERENCE_FALSE_ALARM, DIFFERENCE_FALSE_ALARM},
        /* truth 1: */ {DIFFERENCE_MISS, DIFFERENCE_FOREGROUND, DIFFERENCE_WRONG_LABEL, DIFFERENCE_MISS},
        /* truth 2: */ {DIFFERENCE_MISS, DIFFERENCE_WRONG_LABEL, DIFFERENCE_FOREGROUND, DIFFERENCE_MISS},
        /* void: */ {DIFFERENCE_VOID, DIFFERENCE_VOID, DIFFERENCE_VOID, DIFFERENCE_VOID}};
    struct item_images made;
    uint8_t difference[N];
    for (int p = 0; p < N; p++)
        difference[p] = expected[p / SIDE / BLOCK][p % SIDE / BLOCK];
    must(item_images_make(&made, &item, (const uint8_t(*)[3])palette, err));
    check_values(&made, LAYER_MASK, labels, (const uint8_t(*)[3])palette);
    check_values(&made, LAYER_TRUTH, truth, (const uint8_t(*)[3])palette);
    check_values(&made, LAYER_DIFFERENCE, difference, difference_palette);
    item_images_release(&made);
}

/* In the middle of blocks: as it was where labels are 0, else tinted. */
TEST(the_overlay_tints_the_photo)
{
    struct item_images made;
    must(item_images_make(&made, &item, (const uint8_t(*)[3])palette, err));
    struct clv_image plain = decoded(&made, LAYER_IMAGE), painted = decoded(&made, LAYER_OVERLAY);
    for (int block = 0; block < 3; block++)
        for (int c = 0; c < 3; c++) {
            int p = 3 * (BLOCK / 2 * SIDE + BLOCK * block + BLOCK / 2) + c;
            double tinted = block ? 0.55 * 64 + 0.45 * palette[block][c] : 64;
            ck_assert_int_le(abs(plain.pixels[p] - 64), 8);
            ck_assert_double_le(fabs(painted.pixels[p] - tinted), 12);
        }
    clv_image_release(&plain);
    clv_image_release(&painted);
    item_images_release(&made);
}

TEST(probabilities_are_greys_and_have_no_labels)
{
    struct item_images made;
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
    item_images_release(&made);
}

SETUP_EACH(setup, teardown)
