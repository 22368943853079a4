#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "support/images.h"
#include "support/support.h"

/* A 4x1 image of four values, not decoded from a file. */
static struct clv_indexed_image values_of(const uint8_t values[4], int bit_depth, int palette_size)
{
    return (struct clv_indexed_image){
        .width = 4, .height = 1, .values = (uint8_t *)values, .bit_depth = bit_depth, .palette_size = palette_size};
}

static void expect_labels(const uint8_t values[4], int bit_depth, int palette_size, const struct clv_labels *labels,
                          const uint8_t expected[4], bool noted)
{
    OWNED(clv_mask_release) struct clv_mask mask = {0};
    struct clv_indexed_image image = values_of(values, bit_depth, palette_size);
    must(mask_from_indexed(&mask, &image, "m.png", labels, err));
    ck_assert_mem_eq(mask.labels, expected, 4);
    ck_assert_int_eq(mask.note != NULL, noted);
}
#define four(a, b, c, d) ((uint8_t[4]){a, b, c, d})

TEST(two_labels_without_names_are_found_by_their_values)
{
    OWNED(clv_labels_release) struct clv_labels labels = {0};
    must(clv_labels_binary(&labels, err));
    expect_labels(four(0, 1, 1, 0), 1, 0, &labels, four(0, 1, 1, 0), false);
    expect_labels(four(0, 1, 1, 0), 8, 0, &labels, four(0, 1, 1, 0), false);
    expect_labels(four(0, 255, 255, 0), 8, 0, &labels, four(0, 1, 1, 0), true);
    expect_labels(four(255, 255, 255, 255), 8, 0, &labels, four(1, 1, 1, 1), true);
    expect_labels(four(0, 0, 0, 0), 8, 0, &labels, four(0, 0, 0, 0), false);
    expect_labels(four(0, 15, 15, 0), 4, 0, &labels, four(0, 1, 1, 0), true); /* white in 4 bits */
    expect_labels(four(0, 3, 3, 0), 2, 0, &labels, four(0, 1, 1, 0), true);
    expect_labels(four(0, 13, 13, 0), 8, 0, &labels, four(0, 1, 1, 0), true); /* one object of a set of many */
    expect_labels(four(0, 13, 13, 0), 8, 14, &labels, four(0, 1, 1, 0), true);
    expect_labels(four(7, 0, 0, 0), 4, 0, &labels, four(1, 0, 0, 0), true);
    expect_labels(four(0, 1, 255, 0), 8, 0, &labels, four(0, 1, CLV_VOID, 0), false);
    expect_labels(four(0, 255, 255, 0), 8, 3, &labels, four(0, CLV_VOID, CLV_VOID, 0), false); /* palette: void */
    expect_labels(four(0, 1, 255, 0), 8, 256, &labels, four(0, 1, CLV_VOID, 0), false);
}

TEST(arrays_are_read_as_grey_files_are)
{
    OWNED(clv_labels_release) struct clv_labels labels = {0};
    struct clv_mask mask = {0};
    must(clv_labels_binary(&labels, err));
    must(mask_from_values(&mask, &(struct clv_mask){2, 2, four(0, 255, 255, 0), NULL}, &labels, "mask 3", err));
    ck_assert_mem_eq(mask.labels, four(0, 1, 1, 0), 4);
    ck_assert(mask.width == 2 && mask.height == 2 && strstr(mask.note, "black and white"));
    clv_mask_release(&mask);
    must(mask_from_values(&mask, &(struct clv_mask){4, 1, four(0, 1, 255, 0), NULL}, &labels, "mask 3", err));
    ck_assert_mem_eq(mask.labels, four(0, 1, CLV_VOID, 0), 4);
    ck_assert_ptr_null(mask.note);
    clv_mask_release(&mask);
    must_fail(CLV_ERR_DATA, "mask 3: value 2 at pixel (0, 1)",
              mask_from_values(&mask, &(struct clv_mask){2, 2, four(0, 1, 2, 0), NULL}, &labels, "mask 3", err));
    must_fail(CLV_ERR_USAGE, "mask 3: a mask of 0x1 pixels",
              mask_from_values(&mask, &(struct clv_mask){0, 1, four(0, 0, 0, 0), NULL}, &labels, "mask 3", err));
    must_fail(CLV_ERR_USAGE, "mask 3: a mask of 1x0 pixels",
              mask_from_values(&mask, &(struct clv_mask){1, 0, four(0, 0, 0, 0), NULL}, &labels, "mask 3", err));
}

TEST(values_without_a_label_are_named_with_their_pixel)
{
    OWNED(clv_labels_release) struct clv_labels labels = {0};
    struct clv_mask mask = {.note = "kept"};
    must(clv_labels_binary(&labels, err));
    static const struct {
        uint8_t values[4];
        int bit_depth;
        const char *part;
    } bad[] = {
        {{0, 1, 2, 0}, 8, "m.png: value 2 at pixel (2, 0) has no label"},
        {{0, 255, 20, 0}, 8, "value 20 at pixel (2, 0)"}, /* a label rather than an edge */
        {{7, 7, 7, 7}, 4, "value 7 at pixel (0, 0)"},     /* all of it: foreground or background? */
        {{7, 0, 9, 0}, 4, "value 7 at pixel (0, 0)"},
        {{0, 1, 1, 3}, 2, "value 3 at pixel (3, 0)"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct clv_indexed_image image = values_of(bad[i].values, bad[i].bit_depth, 0);
        must_fail(CLV_ERR_DATA, bad[i].part, mask_from_indexed(&mask, &image, "m.png", &labels, err));
        must_fail(CLV_ERR_DATA, "masks hold 0 and 1, or 0 and 255",
                  mask_from_indexed(&mask, &image, "m.png", &labels, err));
        image.palette_size = 4;
        must_fail(CLV_ERR_DATA, bad[i].part, mask_from_indexed(&mask, &image, "m.png", &labels, err));
    }
    ck_assert_str_eq(mask.note, "kept"); /* unchanged */
}

TEST(named_labels_keep_their_values_and_void_is_void)
{
    OWNED(clv_labels_release) struct clv_labels labels = {0};
    struct clv_mask mask = {0};
    static const char text[] = "value\tname\tred\tgreen\tblue\n0\tvoid\t0\t0\t0\n1\ta\t1\t1\t1\n4\tb\t2\t2\t2\n";
    const char *path = here("labels.tsv");
    spill(path, text, sizeof text - 1);
    must(clv_labels_read(&labels, path, err));
    expect_labels(four(0, 1, 4, 255), 8, 5, &labels, four(CLV_VOID, 1, 4, CLV_VOID), false);
    expect_labels(four(0, 255, 0, 0), 8, 0, &labels, four(CLV_VOID, CLV_VOID, CLV_VOID, CLV_VOID), false);
    struct clv_indexed_image image = values_of(four(1, 4, 3, 1), 8, 5);
    must_fail(CLV_ERR_DATA, "m.png: value 3 at pixel (2, 0) has no label in labels.tsv",
              mask_from_indexed(&mask, &image, "m.png", &labels, err));
    image = values_of(four(1, 4, 5, 1), 8, 6);
    must_fail(CLV_ERR_DATA, "value 5 at pixel (2, 0)", mask_from_indexed(&mask, &image, "m.png", &labels, err));
}

static void expect_fault(enum clv_fault fault, const char *path, int width, int height, const struct clv_labels *labels)
{
    struct clv_mask mask = {0};
    struct clv_error err = {.fault = CLV_FAULT_MASK_FORMAT};
    ck_assert_int_ne(clv_mask_read(&mask, path, labels, width, height, NULL, &err), CLV_OK);
    ck_assert_int_eq(err.fault, fault);
}

TEST(faults_of_masks_are_told_apart_by_a_code)
{
    const char *grey = here("a.png"), *jpeg = here("b"), *colour = here("c.png");
    OWNED(clv_labels_release) struct clv_labels labels = {0};
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_labels_binary(&labels, err));
    must(clv_image_new(&image, 3, 2, 3, err));
    for (int i = 0; i < 18; i++)
        image.pixels[i] = (uint8_t)(i * 13);
    must(clv_jpeg_write(jpeg, &image, 90, err));
    must(clv_png_write(colour, &image, err));
    must(clv_png_write_labels(grey, 3, 2, (uint8_t[]){0, 1, 0, 1, 1, 9}, NULL, 0, err));
    expect_fault(CLV_FAULT_MASK_SIZE, grey, 4, 2, &labels);
    expect_fault(CLV_FAULT_MASK_SIZE, colour, 4, 2, &labels);
    expect_fault(CLV_FAULT_MASK_VALUES, grey, 3, 2, &labels);
    expect_fault(CLV_FAULT_MASK_COLOURS, colour, 3, 2, &labels);
    expect_fault(CLV_FAULT_MASK_FORMAT, jpeg, 3, 2, &labels);
    expect_fault(CLV_FAULT_OTHER, "absent.png", 3, 2, &labels);
    labels.from_file = true; /* the same of a labels.tsv */
    expect_fault(CLV_FAULT_MASK_VALUES, grey, 3, 2, &labels);
}

TEST(mask_files_are_checked_against_their_image)
{
    OWNED(clv_labels_release) struct clv_labels labels = {0};
    struct clv_mask mask = {0};
    uint8_t pixels[6] = {0, 1, 0, 1, 1, 9};
    must(clv_labels_binary(&labels, err));
    const char *folder = temporary_folder(), *path = here("horse012.png");
    must(clv_png_write_labels(path, 3, 2, pixels, NULL, 0, err));
    must_fail(CLV_ERR_DATA, "horse012.png: mask is 3x2, image is 640x426",
              clv_mask_read(&mask, path, &labels, 640, 426, NULL, err));
    must_fail(CLV_ERR_DATA, "horse012.png: value 9 at pixel (2, 1)",
              clv_mask_read(&mask, path, &labels, 3, 2, NULL, err));
    pixels[5] = 1;
    must(clv_png_write_labels(path, 3, 2, pixels, NULL, 0, err));
    must(clv_mask_read(&mask, path, &labels, 0, 0, NULL, err));
    ck_assert(mask.width == 3 && mask.height == 2 && !mask.note);
    ck_assert_mem_eq(mask.labels, pixels, 6);
    clv_mask_release(&mask);
    clv_mask_release(&mask);

    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_new(&image, 3, 2, 3, err));
    const char *jpeg = here("mask.jpg"), *colour = here("colour.png");
    must(clv_jpeg_write(jpeg, &image, 90, err));
    must_fail(CLV_ERR_DATA, "mask.jpg", clv_mask_read(&mask, jpeg, &labels, 3, 2, NULL, err));
    must_fail(CLV_ERR_DATA, "masks must be", clv_mask_read(&mask, jpeg, &labels, 3, 2, NULL, err));
    for (int i = 0; i < 18; i++)
        image.pixels[i] = (uint8_t)(i * 13);
    must(clv_png_write(colour, &image, err));
    must_fail(CLV_ERR_DATA, "labels.tsv must name their colours",
              clv_mask_read(&mask, colour, &labels, 3, 2, NULL, err));
    must_fail(CLV_ERR_DATA, "colour.png: mask is 3x2, image is 9x9",
              clv_mask_read(&mask, colour, &labels, 9, 9, NULL, err));
    must_fail(CLV_ERR_NO_INPUT, "absent.png", clv_mask_read(&mask, here("absent.png"), &labels, 3, 2, NULL, err));
    must_fail(CLV_ERR_NO_INPUT, "is a folder", clv_mask_read(&mask, folder, &labels, 3, 2, NULL, err));
    spill(path, "", 0);
    must_fail(CLV_ERR_DATA, "horse012.png", clv_mask_read(&mask, path, &labels, 3, 2, NULL, err));
}

/* A mask of 4x1 pixels from a PNG of this kind; the labels it gives and a part of its note. */
static void expect_wide(enum png_kind kind, int bit_depth, const uint16_t *samples, const struct clv_labels *labels,
                        const uint8_t expected[4], const char *note)
{
    const struct png_recipe recipe = {
        .width = 4, .height = 1, .bit_depth = bit_depth, .kind = kind, .samples = samples};
    struct clv_mask mask = {0};
    size_t size;
    OWNED_ARRAY uint8_t *bytes = make_png(&size, &recipe);
    const char *path = here("wide.png");
    spill(path, bytes, size);
    must(clv_mask_read(&mask, path, labels, 4, 1, NULL, err));
    ck_assert_mem_eq(mask.labels, expected, 4);
    ck_assert_msg(mask.note && strstr(mask.note, note), "%s", mask.note ? mask.note : "no note");
    clv_mask_release(&mask);
    for (size_t cut = 0; cut < size; cut++) {
        spill(path, bytes, cut);
        must_fail(CLV_ERR_DATA, "wide.png", clv_mask_read(&mask, path, labels, 4, 1, NULL, err));
    }
}
#define samples(...) ((const uint16_t[]){__VA_ARGS__})

TEST(masks_of_other_programs_are_read_with_a_note)
{
    OWNED(clv_labels_release) struct clv_labels labels = {0}, named = {0};
    must(clv_labels_binary(&labels, err));
    static const char text[] = "name\tred\tgreen\tblue\nground\t10\t20\t30\ncow\t200\t0\t0\nvoid\t0\t0\t0\n";
    const char *path = here("labels.tsv");
    spill(path, text, sizeof text - 1);
    must(clv_labels_read(&named, path, err));
    ck_assert_int_eq(named.n_labels, 2);
    expect_wide(PNG_RGB, 8, samples(200, 0, 0, 10, 20, 30, 0, 0, 0, 10, 20, 30), &named, four(1, 0, CLV_VOID, 0),
                "colours were read as labels");
    expect_wide(PNG_RGB, 8, samples(1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1), &labels, four(1, 0, 0, 1),
                "grey levels of RGB");
    expect_wide(PNG_RGB, 8, samples(0, 0, 0, 255, 255, 255, 0, 0, 0, 0, 0, 0), &labels, four(0, 1, 0, 0),
                "black and white");
    expect_wide(PNG_RGB, 8, samples(0, 0, 0, 250, 0, 0, 0, 0, 0, 0, 0, 0), &labels, four(0, 1, 0, 0),
                "the other colour");
    expect_wide(PNG_RGBA, 8, samples(9, 9, 9, 0, 250, 3, 0, 255, 7, 8, 9, 200, 1, 1, 1, 10), &labels, four(0, 1, 1, 0),
                "cut-outs");
    expect_wide(PNG_GREY, 16, samples(0, 1, 1, 255), &labels, four(0, 1, 1, CLV_VOID), "16-bit values");
    expect_wide(PNG_GREY, 16, samples(0, 65535, 65535, 0), &labels, four(0, 1, 1, 0), "black and white");
    expect_labels(four(0, 0, 150, 255), 8, 0, &labels, four(0, 0, 1, 1), true); /* a soft edge */
    expect_labels(four(0, 255, 100, 0), 8, 0, &labels, four(0, 1, 0, 0), true);
}

TEST(truncated_mask_files_are_refused)
{
    OWNED(clv_labels_release) struct clv_labels labels = {0};
    struct clv_mask mask = {0};
    uint8_t pixels[1000];
    for (int i = 0; i < 1000; i++)
        pixels[i] = (uint8_t)(i * i / 7 % 2);
    must(clv_labels_binary(&labels, err));
    const char *path = here("cut.png");
    must(clv_png_write_labels(path, 40, 25, pixels, NULL, 0, err));
    size_t size;
    OWNED_ARRAY char *bytes = slurp(path, &size);
    for (size_t cut = 0; cut < size; cut += 7) {
        spill(path, bytes, cut);
        must_fail(CLV_ERR_DATA, "cut.png", clv_mask_read(&mask, path, &labels, 40, 25, NULL, err));
    }
}

/* Reads every mask of a set against its image; counts pixels by label. */
static void count_labels(uint64_t counts[256], const struct clv_set *set)
{
    memset(counts, 0, 256 * sizeof *counts);
    for (size_t i = 0; i < set->n_items; i++) {
        int32_t width, height;
        OWNED(clv_mask_release) struct clv_mask mask = {0};
        if (!set->items[i].mask)
            continue;
        must(clv_image_read_size(&width, &height, set->items[i].image, NULL, err));
        must(clv_mask_read(&mask, set->items[i].mask, &set->labels, width, height, NULL, err));
        for (size_t k = 0; k < (size_t)width * (size_t)height; k++)
            counts[mask.labels[k]]++;
    }
}

TEST(the_masks_of_the_real_sets_are_read)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    uint64_t counts[256];
    const char *path = real_data("the_masks_of_the_real_sets_are_read", "horses/manifest.tsv");
    if (!path)
        return;
    must(clv_set_read(&set, path, err));
    count_labels(counts, &set);
    for (int v = 2; v < 256; v++)
        ck_assert_uint_eq(counts[v], 0);
    ck_assert(counts[1] > 0 && counts[0] > counts[1]);
    clv_set_release(&set);

    must(clv_set_read(&set, real_data("the_masks_of_the_real_sets_are_read", "msrc/manifest.tsv"), err));
    count_labels(counts, &set);
    ck_assert_uint_eq(counts[0], 0); /* value 0 is void there */
    uint64_t total = counts[CLV_VOID];
    for (int v = 1; v <= 9; v++) {
        ck_assert_uint_gt(counts[v], 0);
        total += counts[v];
    }
    ck_assert_double_eq_tol((double)counts[CLV_VOID] / (double)total, 0.229, 0.005);
    clv_set_release(&set);

    must(clv_set_read(&set, real_data("the_masks_of_the_real_sets_are_read", "boxes-berkeley/manifest.tsv"), err));
    count_labels(counts, &set);
    ck_assert(counts[0] > 0 && counts[1] > 0 && counts[CLV_VOID] == 0);
}
