/* SLIC by its definition (Achanta et al. 2012): rows of centres at low gradients, windows, nearest centres, means. And
 * what is said of its regions. */
#include <math.h>

#include "superpixel/partition.h"
#include "superpixel/superpixel.h"

enum { MOST_CENTRES = 64 };

struct slow {
    struct tiles tiles;
    int32_t n;
    double centre[MOST_CENTRES][5], step, half[2]; /* L, a, b, x, y */
};

static double lab_at(const struct slow *self, int c, int32_t x, int32_t y)
{
    return self->tiles.lab[c][tile_offset(&self->tiles, x, y)];
}

/* |I(x + 1, y) - I(x - 1, y)|^2 + |I(x, y + 1) - I(x, y - 1)|^2; the border repeats. */
static double gradient(const struct slow *self, int32_t x, int32_t y)
{
    int32_t w = self->tiles.width, h = self->tiles.height;
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        sum += pow(lab_at(self, c, x + 1 < w ? x + 1 : x, y) - lab_at(self, c, x > 0 ? x - 1 : x, y), 2);
        sum += pow(lab_at(self, c, x, y + 1 < h ? y + 1 : y) - lab_at(self, c, x, y > 0 ? y - 1 : y), 2);
    }
    return sum;
}

/* The centre's first place: the lowest gradient of 3 x 3 pixels. */
static void centroid(struct slow *self, int32_t k, int32_t x, int32_t y)
{
    int32_t best_x = x, best_y = y;
    for (int32_t v = y - 1; v <= y + 1; v++)
        for (int32_t u = x - 1; u <= x + 1; u++)
            if (u >= 0 && v >= 0 && u < self->tiles.width && v < self->tiles.height &&
                gradient(self, u, v) < gradient(self, best_x, best_y)) {
                best_x = u;
                best_y = v;
            }
    for (int c = 0; c < 3; c++)
        self->centre[k][c] = lab_at(self, c, best_x, best_y);
    self->centre[k][3] = best_x;
    self->centre[k][4] = best_y;
}

/* Whether the centre's window reaches the tile of 8 x 8 pixels that a pixel is in. */
static bool reaches(const struct slow *self, const double *centre, int32_t x, int32_t y)
{
    const int32_t at[] = {x / 8, y / 8}, size[] = {self->tiles.width, self->tiles.height};
    for (int d = 0; d < 2; d++) {
        double low = fmax(centre[3 + d] - self->half[d], 0), high = fmin(centre[3 + d] + self->half[d], size[d] - 1);
        if (at[d] < (int32_t)low / 8 || at[d] > (int32_t)high / 8)
            return false;
    }
    return true;
}

static void assign(int32_t *labels, const struct slow *self, double weight)
{
    int32_t w = self->tiles.width;
    for (int32_t i = 0; i < w * self->tiles.height; i++) {
        double least = INFINITY;
        for (int32_t k = 0; k < self->n; k++) {
            const double *centre = self->centre[k];
            double distance = weight * (pow(i % w - centre[3], 2) + pow(i / w - centre[4], 2));
            for (int c = 0; c < 3; c++)
                distance += pow(lab_at(self, c, i % w, i / w) - centre[c], 2);
            if (reaches(self, centre, i % w, i / w) && distance < least) {
                least = distance;
                labels[i] = k;
            }
        }
    }
}

static void move(struct slow *self, const int32_t *labels)
{
    int32_t w = self->tiles.width;
    for (int32_t k = 0; k < self->n; k++) {
        double sum[5] = {0}, n = 0;
        for (int32_t i = 0; i < w * self->tiles.height; i++)
            if (labels[i] == k) {
                for (int c = 0; c < 3; c++)
                    sum[c] += lab_at(self, c, i % w, i / w);
                sum[3] += i % w;
                sum[4] += i / w;
                n++;
            }
        for (int d = 0; d < 5 && n > 0; d++)
            self->centre[k][d] = sum[d] / n;
    }
}

static void open_slow(struct slow *self, const struct clv_image *image, int32_t n)
{
    double w = image->width, h = image->height, rows = round(sqrt(n * h / w));
    must(tiles_init(&self->tiles, image, err));
    self->n = n;
    self->step = sqrt(w * h / n);
    self->half[0] = fmax(self->step, w / floor(n / rows));
    self->half[1] = fmax(self->step, h / rows);
    for (int32_t r = 0, k = 0; r < rows; r++) {
        int32_t first = k, end = (int32_t)(n * (r + 1) / rows);
        for (; k < end; k++)
            centroid(self, k, (int32_t)((k - first + 0.5) * w / (end - first)), (int32_t)((r + 0.5) * h / rows));
    }
}

TEST(superpixels_are_those_of_the_definition)
{
    static const struct {
        int32_t width, height, n;
        float compactness;
        int noise, n_iterations;
    } cases[] = {{60, 40, 13, 10, 40, 1}, {60, 40, 13, 10, 40, 4}, {40, 61, 20, 25, 80, 3}, {90, 33, 50, 3, 20, 2}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct clv_image image = draw_image(cases[k].width, cases[k].height, cases[k].noise);
        const struct clv_slic_options options = {cases[k].n, cases[k].compactness, cases[k].n_iterations};
        size_t n = (size_t)image.width * (size_t)image.height;
        OWNED_ARRAY int32_t *labels = malloc(n * sizeof *labels);
        int32_t n_regions;
        OWNED(clv_superpixels_release) struct clv_superpixels found = {0};
        struct slow slow;
        open_slow(&slow, &image, cases[k].n);
        for (int i = 0; i < cases[k].n_iterations; i++) {
            assign(labels, &slow, pow(32 * (double)cases[k].compactness / slow.step, 2)); /* planes are 32 Lab */
            move(&slow, labels);
        }
        must(regions_connect(labels, &n_regions, image.width, image.height, cases[k].n, err));
        must(clv_slic(&found, &image, &options, err));
        ck_assert_int_eq(found.n, n_regions);
        ck_assert_mem_eq(found.labels, labels, n * sizeof *labels);
        tiles_release(&slow.tiles);
        free(image.pixels);
    }
}

/* Two regions of 4 x 2 pixels: 0 0 1 1 over 0 1 1 1. */
TEST(sums_of_a_region_are_over_its_pixels)
{
    static int32_t labels[] = {0, 0, 1, 1, 0, 1, 1, 1};
    const struct clv_superpixels map = {4, 2, 2, labels};
    struct region_sums sums[2];
    float lab[24], mean[3], centroids[6];
    for (int k = 0; k < 24; k++)
        lab[k] = (float)(k * k % 17);
    memset(sums, 0, sizeof sums);
    region_sums_fill(sums, &map, lab);
    ck_assert(sums[0].n == 3 && sums[0].x == 0.5 + 1.5 + 0.5 && sums[0].y == 0.5 + 0.5 + 1.5);
    ck_assert(sums[1].n == 5 && sums[1].x == 2.5 + 3.5 + 1.5 + 2.5 + 3.5 && sums[1].y == 1 + 4.5);
    ck_assert(sums[0].low[0] == 0 && sums[0].low[1] == 0 && sums[0].high[0] == 2 && sums[0].high[1] == 2);
    ck_assert(sums[1].low[0] == 1 && sums[1].low[1] == 0 && sums[1].high[0] == 4 && sums[1].high[1] == 2);
    for (int r = 0; r < 2; r++) {
        double sum[3] = {0}, square = 0;
        for (int i = 0; i < 8; i++)
            for (int c = 0; labels[i] == r && c < 3; c++)
                sum[c] += (double)lab[3 * i + c] / sums[r].n;
        for (int i = 0; i < 8; i++)
            square += labels[i] == r ? pow((double)lab[3 * i] - sum[0], 2) / sums[r].n : 0;
        ck_assert_float_eq_tol(region_sums_colour(mean, &sums[r]), sqrtf((float)square), 1e-4F);
        for (int c = 0; c < 3; c++)
            ck_assert_float_eq_tol(mean[c], (float)sum[c], 1e-5F);
    }
    must(region_centroids(centroids, &(struct label_map){labels, 4, 2, 3}, sqrt(8), err)); /* nothing of region 2 */
    for (int r = 0; r < 3; r++) {
        ck_assert_float_eq_tol(centroids[2 * r], r < 2 ? (float)(sums[r].x / sums[r].n / sqrt(8)) : 0, 1e-6F);
        ck_assert_float_eq_tol(centroids[2 * r + 1], r < 2 ? (float)(sums[r].y / sums[r].n / sqrt(8)) : 0, 1e-6F);
    }
}
