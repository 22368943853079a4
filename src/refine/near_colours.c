/* Computes colour models of foreground and background near each pixel of an image: smoothed counts over cells, each of
 * which is a square of the image and a range of Lab colours. near_colours_learn counts, near_colours_score computes log
 * ratios. */
#include "refine/refine.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

#define SQUARES_ACROSS 15 /* squares along the side of a square image of the same area */
#define MIN_SQUARE_PX  8
#define COLOURS        NEAR_COLOURS_ALL
#define NEAR_DOUBT     (1.0 / 256) /* pseudo-count, as a share of a square's pixels */
#define OVERALL_DOUBT  1e-4

void near_colours_release(struct near_colours *self)
{
    arrays_free(self->colour, self->column_of, self->row_of, self->counts, self->overall);
    *self = (struct near_colours){0};
}

/* Counts the squares along a side of the image. */
static int32_t count_squares(int32_t side, int32_t width, int32_t height)
{
    double square_px = fmax(sqrt((double)width * (double)height) / SQUARES_ACROSS, MIN_SQUARE_PX);
    return (int32_t)((double)(side - 1) / square_px) + 1;
}

size_t near_colours_count(int32_t width, int32_t height)
{
    return (size_t)count_squares(width, width, height) * (size_t)count_squares(height, width, height) * COLOURS;
}

enum clv_status near_colours_init(struct near_colours *self, const struct clv_image *image, struct clv_error *err)
{
    size_t width = (size_t)image->width, height = (size_t)image->height;
    double square_px = fmax(sqrt((double)width * (double)height) / SQUARES_ACROSS, MIN_SQUARE_PX);
    OWNED(near_colours_release) struct near_colours result = {
        .width = image->width,
        .height = image->height,
        .n_columns = count_squares(image->width, image->width, image->height),
        .n_rows = count_squares(image->height, image->width, image->height)};
    result.n_cells = near_colours_count(image->width, image->height);
    result.colour = array_alloc(width * height, sizeof *result.colour);
    result.column_of = array_alloc(width, sizeof *result.column_of);
    result.row_of = array_alloc(height, sizeof *result.row_of);
    result.counts = array_alloc(result.n_cells, 2 * sizeof *result.counts);
    result.overall = array_alloc(COLOURS, sizeof *result.overall);
    OWNED_ARRAY float *lab = array_alloc(width, 3 * sizeof *lab);
    NEED(result.colour && result.column_of && result.row_of && result.counts && result.overall && lab);
    for (size_t x = 0; x < width; x++)
        result.column_of[x] = (int32_t)((double)x / square_px);
    for (size_t y = 0; y < height; y++) {
        result.row_of[y] = (int32_t)((double)y / square_px);
        clv_rgb_to_lab(lab, image->pixels + 3 * y * width, width);
        for (size_t x = 0; x < width; x++)
            result.colour[y * width + x] = (uint16_t)colour_bin(lab + 3 * x, NEAR_COLOURS_BINS);
    }
    *self = TAKE(result);
    return CLV_OK;
}

static void count(struct near_colours *self, const uint8_t *labels, uint8_t foreground)
{
    float *const counts[2] = {self->counts, self->counts + self->n_cells};
    memset(self->counts, 0, 2 * self->n_cells * sizeof *self->counts);
    for (int32_t y = 0; y < self->height; y++) {
        const uint8_t *row = labels + (size_t)y * (size_t)self->width;
        for (int32_t x = 0; x < self->width; x++)
            counts[row[x] == foreground][near_colours_cell(self, x, y)]++;
    }
}

void near_colours_learn(struct near_colours *self, const uint8_t *labels, uint8_t foreground)
{
    size_t n_squares = self->n_cells / COLOURS, columns = (size_t)self->n_columns, rows = (size_t)self->n_rows;
    float all[2][COLOURS] = {{0}}, total[2] = {0};
    count(self, labels, foreground);
    for (size_t y = 0; y < 2; y++) {
        float *counts = self->counts + y * self->n_cells;
        for (size_t square = 0; square < n_squares; square++)
            for (size_t c = 0; c < COLOURS; c++)
                all[y][c] += counts[square * COLOURS + c];
        colour_bins_smooth_all(all[y], 1, NEAR_COLOURS_BINS);
        for (size_t c = 0; c < COLOURS; c++)
            total[y] += all[y][c];
        colour_bins_smooth(counts, 1, rows, columns * COLOURS);
        colour_bins_smooth(counts, rows, columns, COLOURS);
        colour_bins_smooth_all(counts, n_squares, NEAR_COLOURS_BINS);
    }
    for (size_t c = 0; c < COLOURS; c++) {
        double own = (double)all[1][c] / (double)total[1], background = (double)all[0][c] / (double)total[0];
        self->overall[c] = (float)portable_log((own + OVERALL_DOUBT) / (background + OVERALL_DOUBT));
    }
}

void near_colours_score(float *score, const struct near_colours *self, double near, double overall)
{
    const float *background = self->counts, *foreground = self->counts + self->n_cells;
    double n_pixels = (double)self->width * (double)self->height;
    double doubt = NEAR_DOUBT * fmax(n_pixels / (SQUARES_ACROSS * SQUARES_ACROSS), MIN_SQUARE_PX * MIN_SQUARE_PX);
    for (size_t cell = 0; cell < self->n_cells; cell++)
        score[cell] = NAN;
    for (int32_t y = 0; y < self->height; y++) {
        for (int32_t x = 0; x < self->width; x++) {
            size_t cell = near_colours_cell(self, x, y);
            if (!isnan(score[cell]))
                continue;
            double ratio = ((double)foreground[cell] + doubt) / ((double)background[cell] + doubt);
            score[cell] = (float)(near * portable_log(ratio) + overall * (double)self->overall[cell % COLOURS]);
        }
    }
}
