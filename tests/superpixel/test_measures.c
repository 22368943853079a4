/* Achievable accuracy and boundary recall against plain definitions. */
#include <math.h>

#include "superpixel/partition.h"

static double plain_accuracy(const struct clv_superpixels *superpixels, const uint8_t *truth, int void_label)
{
    int32_t n_pixels = superpixels->width * superpixels->height;
    double right = 0, all = 0;
    for (int32_t s = 0; s < superpixels->n; s++) {
        double most = 0;
        for (int label = 0; label < 256; label++) {
            double count = 0;
            for (int32_t i = 0; i < n_pixels; i++)
                count += superpixels->labels[i] == s && truth[i] == label && label != void_label;
            most = fmax(most, count);
            all += count;
        }
        right += most;
    }
    return all > 0 ? right / all : 1;
}

static bool differs(const uint8_t *truth, const int32_t *labels, int32_t width, int32_t height, int32_t x, int32_t y)
{
    for (int d = 0; d < 4; d++) {
        int32_t u = x + (d == 0) - (d == 1), v = y + (d == 2) - (d == 3), at = y * width + x, other = v * width + u;
        if (u >= 0 && v >= 0 && u < width && v < height &&
            (truth ? truth[at] != truth[other] : labels[at] != labels[other]))
            return true;
    }
    return false;
}

static double plain_recall(const struct clv_superpixels *superpixels, const uint8_t *truth, int32_t tolerance)
{
    int32_t width = superpixels->width, height = superpixels->height;
    double found = 0, all = 0;
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            if (!differs(truth, NULL, width, height, x, y))
                continue;
            bool near = false;
            for (int32_t v = 0; v < height; v++)
                for (int32_t u = 0; u < width; u++)
                    near = near || (abs(u - x) <= tolerance && abs(v - y) <= tolerance &&
                                    differs(NULL, superpixels->labels, width, height, u, v));
            all++;
            found += near;
        }
    return all > 0 ? found / all : 1;
}

TEST(measures_agree_with_their_definitions)
{
    for (uint64_t round = 0; round < 40; round++) {
        int32_t width = 1 + (int32_t)rng_below(6, RNG_TEST, 2 * round, 24);
        int32_t height = 1 + (int32_t)rng_below(6, RNG_TEST, 2 * round + 1, 24), n = 1 + (int32_t)(round % 9);
        OWNED_ARRAY int32_t *labels = random_labels(width, height, n, 5, 200 + round);
        OWNED_ARRAY int32_t *true_labels = random_labels(width, height, 1 + (int32_t)(round % 4), 7, 300 + round);
        OWNED_ARRAY uint8_t *truth = malloc((size_t)(width * height));
        for (int32_t i = 0; i < width * height; i++)
            truth[i] = (uint8_t)(true_labels[i] ? 256 - true_labels[i] : 0);
        struct clv_superpixels superpixels = {width, height, n, labels};
        for (int void_label = -1; void_label < 256; void_label += 256) {
            double accuracy;
            must(clv_achievable_accuracy(&accuracy, &superpixels, truth, void_label, err));
            ck_assert_double_eq_tol(accuracy, plain_accuracy(&superpixels, truth, void_label), 1e-12);
        }
        for (int32_t tolerance = 0; tolerance < 4; tolerance++) {
            double recall;
            must(clv_boundary_recall(&recall, &superpixels, truth, tolerance, err));
            ck_assert_double_eq_tol(recall, plain_recall(&superpixels, truth, tolerance), 1e-12);
        }
        double recall;
        must(clv_boundary_recall(&recall, &superpixels, truth, INT32_MAX, err));
        ck_assert_double_eq_tol(recall, plain_recall(&superpixels, truth, 1000), 1e-12);
    }
}

TEST(nothing_to_find_is_all_found)
{
    int32_t labels[4] = {0, 0, 1, 1};
    uint8_t flat[4] = {255, 255, 255, 255};
    struct clv_superpixels superpixels = {2, 2, 2, labels};
    double value = 0;
    must(clv_achievable_accuracy(&value, &superpixels, flat, 255, err));
    ck_assert_double_eq(value, 1);
    value = 0;
    must(clv_boundary_recall(&value, &superpixels, flat, 2, err));
    ck_assert_double_eq(value, 1);
}

TEST(bad_arguments_of_measures_are_named)
{
    int32_t labels[4] = {0, 0, 1, 1};
    uint8_t truth[4] = {0, 1, 0, 1};
    struct clv_superpixels superpixels = {2, 2, 2, labels};
    double value = 7;
    must_fail(CLV_ERR_USAGE, "tolerance is -1", clv_boundary_recall(&value, &superpixels, truth, -1, err));
    superpixels.n = 1;
    must_fail(CLV_ERR_USAGE, "label 1, not in 0..0", clv_achievable_accuracy(&value, &superpixels, truth, -1, err));
    ck_assert_double_eq(value, 7);
}
