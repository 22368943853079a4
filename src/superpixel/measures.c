/* Measures how well superpixels fit the ground truth: achievable accuracy and boundary recall. */
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "cleave/superpixel.h"
#include "superpixel/superpixel.h"

static size_t count_pixels(const struct clv_superpixels *superpixels)
{
    return (size_t)superpixels->width * (size_t)superpixels->height;
}

/* Returns how often the most frequent of labels[n] occurs. counts[256] is zero before and after. */
static size_t count_most_frequent(const uint8_t *labels, size_t n, size_t *counts)
{
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        if (++counts[labels[i]] > most)
            most = counts[labels[i]];
    for (size_t i = 0; i < n; i++)
        counts[labels[i]] = 0;
    return most;
}

enum clv_status clv_achievable_accuracy(double *accuracy, const struct clv_superpixels *superpixels,
                                        const uint8_t *truth, int void_label, struct clv_error *err)
{
    MUST(labels_check(superpixels, err));
    size_t n_pixels = count_pixels(superpixels), n = (size_t)superpixels->n, counts[256] = {0}, right = 0;
    OWNED_ARRAY size_t *first = array_zalloc(n + 1, sizeof *first); /* first index in `sorted` of each superpixel */
    OWNED_ARRAY uint8_t *sorted = array_alloc(n_pixels, 1);
    NEED(first && sorted);
    for (size_t i = 0; i < n_pixels; i++)
        if (truth[i] != void_label)
            first[superpixels->labels[i]]++;
    for (size_t s = 0; s < n; s++)
        first[s + 1] += first[s];
    for (size_t i = n_pixels; i-- > 0;)
        if (truth[i] != void_label)
            sorted[--first[superpixels->labels[i]]] = truth[i];
    for (size_t s = 0; s < n; s++)
        right += count_most_frequent(sorted + first[s], first[s + 1] - first[s], counts);
    *accuracy = first[n] ? (double)right / (double)first[n] : 1;
    return CLV_OK;
}

/* near[x] = whether row y has a superpixel boundary pixel within `tolerance` columns of x. */
static void boundary_row(uint8_t *near, const struct clv_superpixels *superpixels, int32_t y, int32_t tolerance)
{
    int32_t width = superpixels->width;
    const int32_t *row = superpixels->labels + (size_t)y * (size_t)width;
    const int32_t *above = y > 0 ? row - width : row, *below = y + 1 < superpixels->height ? row + width : row;
    int64_t next = 0; /* columns below it are final */
    memset(near, 0, (size_t)width);
    for (int32_t x = 0; x < width; x++) {
        if (above[x] == row[x] && below[x] == row[x] && (x == 0 || row[x - 1] == row[x]) &&
            (x + 1 == width || row[x + 1] == row[x]))
            continue;
        int64_t from = (int64_t)x - tolerance, to = (int64_t)x + tolerance;
        for (next = next > from ? next : from; next <= to && next < width; next++)
            near[next] = 1;
    }
}

static bool is_true_boundary(const uint8_t *truth, int32_t width, int32_t height, int32_t x, int32_t y)
{
    const uint8_t *at = truth + (size_t)y * (size_t)width + x;
    return (x > 0 && at[-1] != *at) || (x + 1 < width && at[1] != *at) || (y > 0 && at[-width] != *at) ||
           (y + 1 < height && at[width] != *at);
}

enum clv_status clv_boundary_recall(double *recall, const struct clv_superpixels *superpixels, const uint8_t *truth,
                                    int32_t tolerance_px, struct clv_error *err)
{
    FAIL_IF(tolerance_px < 0, CLV_ERR_USAGE, "boundary recall: tolerance is %d px", tolerance_px);
    int32_t width = superpixels->width, height = superpixels->height;
    /* count[x]: the number of rows within tolerance of the current one whose near[x] is set. */
    OWNED_ARRAY int32_t *count = array_zalloc((size_t)width, sizeof *count);
    OWNED_ARRAY uint8_t *rows = array_alloc(count_pixels(superpixels), 1);
    NEED(count && rows);
    for (int32_t y = 0; y < height; y++)
        boundary_row(rows + (size_t)y * (size_t)width, superpixels, y, tolerance_px);

    size_t found = 0, all = 0;
    int32_t entered = 0;
    for (int32_t y = 0; y < height; y++) {
        for (; entered < height && entered <= (int64_t)y + tolerance_px; entered++)
            for (int32_t x = 0; x < width; x++)
                count[x] += rows[(size_t)entered * (size_t)width + (size_t)x];
        int64_t left = (int64_t)y - tolerance_px - 1;
        for (int32_t x = 0; left >= 0 && x < width; x++)
            count[x] -= rows[(size_t)left * (size_t)width + (size_t)x];
        for (int32_t x = 0; x < width; x++)
            if (is_true_boundary(truth, width, height, x, y)) {
                all++;
                found += count[x] > 0;
            }
    }
    *recall = all ? (double)found / (double)all : 1;
    return CLV_OK;
}
