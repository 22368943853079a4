/* HOG against a plain reference after Felzenszwalb et al. 2010, and on images too small for VLFeat. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "support/support.h"

enum { CELL = HOG_CELL_PX, N = HOG_ORIENTATIONS };

/* Pixels two apart in a row are of other parity, so no gradient points straight up, half-way between two directions. */
static struct clv_image noise(int32_t width, int32_t height, uint64_t seed)
{
    struct clv_image image = {0};
    must(clv_image_new(&image, width, height, 3, err));
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++)
            for (int c = 0; c < 3; c++)
                image.pixels[(y * width + x) * 3 + c] =
                    (uint8_t)(2 * (int)(55 + 30 * sin(0.3 * x + 0.2 * c * y) + 20 * cos(0.5 * y) +
                                        15 * rng_uniform(seed, RNG_STREAM(RNG_TEST, c), (uint64_t)(y * width + x))) +
                              x / 2 % 2);
    return image;
}

/* A scene whose regions are columns of `stripe_px` pixels. */
static struct scene scene_of(const struct clv_image *image, struct clv_superpixels *stripes, int32_t stripe_px)
{
    struct scene scene;
    *stripes =
        (struct clv_superpixels){.width = image->width,
                                 .height = image->height,
                                 .n = (image->width + stripe_px - 1) / stripe_px,
                                 .labels = malloc((size_t)image->width * (size_t)image->height * sizeof(int32_t))};
    for (int32_t k = 0; k < image->width * image->height; k++)
        stripes->labels[k] = k % image->width / stripe_px;
    must(scene_init(&scene, image, stripes, err));
    return scene;
}

/* The strongest channel's central difference at a pixel; in floats, so that ties of channels fall the same way. */
static void gradient_at(float *gx, float *gy, const struct clv_image *image, int32_t x, int32_t y)
{
    float best = -1;
    for (int c = 0; c < 3; c++) {
        const uint8_t *at = image->pixels + (y * image->width + x) * 3 + c;
        float dx = (float)at[3] / 255 - (float)at[-3] / 255;
        float dy = (float)at[3 * image->width] / 255 - (float)at[-3 * image->width] / 255;
        if (dx * dx + dy * dy > best) {
            best = dx * dx + dy * dy;
            *gx = dx;
            *gy = dy;
        }
    }
}

/* cells[rows][columns][2 N]: each pixel's magnitude at its nearest direction, shared bilinearly between the four
 * nearest cells. */
static double *directed_cells(const struct clv_image *image, int32_t columns, int32_t rows)
{
    double *cells = calloc((size_t)(columns * rows) * 2 * N, sizeof *cells);
    for (int32_t y = 1; y + 1 < image->height; y++)
        for (int32_t x = 1; x + 1 < image->width; x++) {
            float gx = 0, gy = 0;
            gradient_at(&gx, &gy, image, x, y);
            int direction = ((int)lround(atan2(gy, gx) / M_PI * N) + 2 * N) % (2 * N);
            double cx = (x + 0.5) / CELL - 0.5, cy = (y + 0.5) / CELL - 0.5;
            for (int k = 0; k < 4; k++) {
                int32_t column = (int32_t)floor(cx) + k % 2, row = (int32_t)floor(cy) + k / 2;
                if (column >= 0 && row >= 0 && column < columns && row < rows)
                    cells[(row * columns + column) * 2 * N + direction] +=
                        hypot(gx, gy) * (1 - fabs(cx - column)) * (1 - fabs(cy - row));
            }
        }
    return cells;
}

/* Squared norm of a cell's undirected histogram; cells past the border are those on it. */
static double energy(const double *cells, int32_t columns, int32_t rows, int32_t column, int32_t row)
{
    column = column < 0 ? 0 : column < columns ? column : columns - 1;
    row = row < 0 ? 0 : row < rows ? row : rows - 1;
    double sum = 0;
    for (int k = 0; k < N; k++) {
        const double *cell = cells + (row * columns + column) * 2 * N;
        sum += (cell[k] + cell[k + N]) * (cell[k] + cell[k + N]);
    }
    return sum;
}

static void reference(double *out, const double *cells, int32_t columns, int32_t rows, int32_t column, int32_t row)
{
    const double *cell = cells + (row * columns + column) * 2 * N;
    memset(out, 0, HOG_SIZE * sizeof *out);
    for (int block = 0; block < 4; block++) {
        double norm = 1e-4;
        for (int k = 0; k < 4; k++)
            norm += energy(cells, columns, rows, column + block % 2 - k % 2, row + block / 2 - k / 2);
        for (int k = 0; k < 3 * N; k++) {
            double value = k < 2 * N ? cell[k] : cell[k - 2 * N] + cell[k - N];
            value = fmin(value / sqrt(norm), 0.2);
            out[k] += value / 2;
            out[3 * N + block] += k < 2 * N ? 0 : value / sqrt(18);
        }
    }
}

TEST(cells_are_those_of_a_plain_reference)
{
    static const int32_t sizes[][2] = {{40, 24}, {67, 43}, {36, 44}, {8, 8}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        OWNED(clv_image_release) struct clv_image image = noise(sizes[s][0], sizes[s][1], s);
        struct clv_superpixels stripes;
        OWNED(scene_release) struct scene scene = scene_of(&image, &stripes, 5);
        OWNED(hog_release) struct hog hog = {0};
        must(hog_init(&hog, &scene, err));
        OWNED_ARRAY double *cells = directed_cells(&image, hog.n_columns, hog.n_rows);
        double worst = 0;
        for (int32_t cell = 0; cell < hog.n_columns * hog.n_rows; cell++) {
            double expected[HOG_SIZE];
            reference(expected, cells, hog.n_columns, hog.n_rows, cell % hog.n_columns, cell / hog.n_columns);
            for (int v = 0; v < HOG_SIZE; v++)
                worst = fmax(worst, fabs(hog.values[cell * HOG_SIZE + v] - expected[v]));
        }
        ck_assert_double_lt(worst, 1e-4);
        free(stripes.labels);
    }
}

TEST(a_region_has_the_mean_of_its_pixels_cells)
{
    OWNED(clv_image_release) struct clv_image image = noise(30, 21, 9);
    struct clv_superpixels stripes;
    OWNED(scene_release) struct scene scene = scene_of(&image, &stripes, 12);
    OWNED(hog_release) struct hog hog = {0};
    must(hog_init(&hog, &scene, err));
    ck_assert_int_eq(hog.n_columns, 4); /* 30 = 3 x 8 + 6: a cell of its own */
    ck_assert_int_eq(hog.n_rows, 3);
    for (int32_t r = 0; r < 3; r++) {
        float row[HOG_SIZE] = {0};
        double mean[HOG_SIZE] = {0}, n = 0;
        hog_fill(row, &(struct views){.image = scene, .hog = hog}, r);
        for (int32_t y = 0; y < 21; y++)
            for (int32_t x = 12 * r; x < 12 * r + 12 && x < 30; x++, n++)
                for (int v = 0; v < HOG_SIZE; v++)
                    mean[v] += hog.values[(y / CELL * 4 + x / CELL) * HOG_SIZE + v];
        for (int v = 0; v < HOG_SIZE; v++)
            ck_assert_double_eq_tol(row[v], mean[v] / n, 1e-5);
    }
    free(stripes.labels);
}

TEST(images_of_any_size_have_finite_cells)
{
    for (int32_t width = 1; width <= 20; width += width < 5 ? 1 : 3)
        for (int32_t height = 1; height <= 20; height += height < 5 ? 1 : 3) {
            OWNED(clv_image_release) struct clv_image image = noise(width, height, 3);
            struct clv_superpixels stripes;
            if (width == 4)
                memset(image.pixels, 99, (size_t)(width * height * 3)); /* no gradient anywhere */
            OWNED(scene_release) struct scene scene = scene_of(&image, &stripes, 2);
            OWNED(hog_release) struct hog hog = {0};
            must(hog_init(&hog, &scene, err));
            for (int32_t r = 0; r < scene.n_regions; r++) {
                float row[HOG_SIZE] = {0};
                hog_fill(row, &(struct views){.image = scene, .hog = hog}, r);
                for (int v = 0; v < HOG_SIZE; v++)
                    ck_assert(row[v] >= 0 && row[v] <= 0.5f && (width != 4 || row[v] == 0));
            }
            free(stripes.labels);
        }
}
