/* PNGs that are written row after row against those that are written at once. */
#include <stdlib.h>

#include "base/base.h"
#include "image/image.h"
#include "support/bands.h"
#include "support/support.h"

static void expect_same_file(const char *a, const char *b)
{
    OWNED_ARRAY char *bytes = NULL, *others = NULL;
    size_t size, other_size;
    must(file_read(&bytes, &size, a, SIZE_MAX / 2, err));
    must(file_read(&others, &other_size, b, SIZE_MAX / 2, err));
    ck_assert_uint_eq(size, other_size);
    ck_assert_mem_eq(bytes, others, size);
}

TEST(labels_by_rows_make_the_same_file)
{
    uint32_t state = 2;
    uint8_t palette[256][3];
    clv_default_palette(palette);
    for (size_t s = 0; s < n_odd_sizes; s++)
        for (int colours = 0; colours <= 256; colours += 128) {
            struct image_band all = {.width = odd_sizes[s][0], .height = odd_sizes[s][1]};
            uint8_t *labels = malloc((size_t)all.width * (size_t)all.height);
            draw_labels(labels, all.width, all.height, colours ? colours : 256, 130, &state);
            all.labels = labels;
            const struct label_image image = {all.width, all.height, NULL, (const uint8_t(*)[3])palette, colours};
            must(clv_png_write_labels(here("whole.png"), all.width, all.height, labels, image.palette, colours, err));
            for (size_t r = 0; r < n_band_rows; r++) {
                struct png_rows *rows;
                must(png_rows_open(&rows, here("rows.png"), &image, err));
                FOR_BANDS(band, &all, band_rows[r], 0)
                must(png_rows_put(rows, band.labels, band.n_rows, err));
                must(png_rows_commit(rows, err));
                expect_same_file(here("whole.png"), here("rows.png"));
            }
            free(labels);
        }
}

TEST(labels_by_rows_that_fail_leave_no_file)
{
    uint8_t palette[3][3] = {{0}}, labels[8] = {0, 1, 2, 0, 1, 2, 3, 0};
    struct png_rows *rows;
    const struct label_image image = {4, 3, NULL, (const uint8_t(*)[3])palette, 3};
    must(png_rows_open(&rows, here("a.png"), &image, err));
    must(png_rows_put(rows, labels, 1, err));
    must_fail(CLV_ERR_USAGE, "a.png: label 3 at (2, 1) has no colour; the palette has 3",
              png_rows_put(rows, labels + 4, 1, err));
    png_rows_close(rows);
    must(png_rows_open(&rows, here("a.png"), &image, err));
    must(png_rows_put(rows, labels, 1, err));
    must_fail(CLV_ERR_USAGE, "a.png: 1 rows of 3", png_rows_commit(rows, err));
    ck_assert(!path_exists(here("a.png")));
    must_fail(CLV_ERR_USAGE, "a.png: labels of 0x3 pixels cannot be written",
              png_rows_open(&rows, here("a.png"), &(struct label_image){0, 3, NULL, NULL, 0}, err));
}
