/* Fisher vectors, compared with VLFeat's. */
#include <math.h>
#include <string.h>
#include <vl/fisher.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "feature/words/words.h"
#include "superpixel/superpixel.h"
#include "support/requests.h"
#include "support/support.h"

enum { D = MIXTURE_DIMENSIONS, K = MIXTURE_COMPONENTS, WIDTH = 70, HEIGHT = 50, N_SAMPLES = 3000 };

static struct clv_recipe recipe;
static uint8_t pixels[WIDTH * HEIGHT * 3];

/* Noise on the left, stripes on the right. */
static void draw(void)
{
    for (int32_t p = 0; p < WIDTH * HEIGHT; p++)
        for (int c = 0; c < 3; c++)
            pixels[3 * p + c] = p % WIDTH < WIDTH / 2 ? (uint8_t)rng_below(5, RNG_TEST, (uint64_t)(3 * p + c), 256)
                                                      : (uint8_t)(p / WIDTH % 7 * 30 + p % WIDTH % 5 * 12);
}

static void describe(struct sift_grid *grid, int32_t scale)
{
    OWNED(sift_image_release) struct sift_image sift = {0};
    must(sift_image_init(&sift, pixels, WIDTH, HEIGHT, &recipe, err));
    must(sift_image_describe(grid, &sift, recipe.bin_size_px[scale], recipe.step_px, err));
}

static void setup(void)
{
    static uint8_t samples[N_SAMPLES * CLV_DESCRIPTOR_SIZE];
    clv_recipe_init_patches(&recipe);
    recipe.blocks = CLV_BLOCK_FISHER | CLV_BLOCK_SIZE;
    draw();
    for (int32_t s = 0; s < recipe.n_scales; s++) {
        OWNED(sift_grid_release) struct sift_grid grid = {0};
        describe(&grid, s);
        uint32_t n = (uint32_t)(grid.n_columns * grid.n_rows);
        for (size_t i = 0; i < N_SAMPLES; i++)
            memcpy(samples + i * CLV_DESCRIPTOR_SIZE, grid.values + i % n * CLV_DESCRIPTOR_SIZE, CLV_DESCRIPTOR_SIZE);
        OWNED_ARRAY float *again = NULL;
        must(mixture_learn(&recipe.mixtures[s], samples, N_SAMPLES,
                           &(struct codebook_options){.seed = 1, .stream = RNG_STREAM(RNG_MIXTURE, s)}, err));
        must(mixture_learn(&again, samples, N_SAMPLES,
                           &(struct codebook_options){.seed = 1, .stream = RNG_STREAM(RNG_MIXTURE, s)}, err));
        ck_assert_mem_eq(again, recipe.mixtures[s], CLV_MIXTURE_SIZE * sizeof *again);
    }
}

static void teardown(void)
{
    clv_recipe_release(&recipe);
}

/* Of the descriptors of the cells columns x0..x1-1, rows y0..y1-1. */
static void reference(float *vector, int32_t scale, int32_t x0, int32_t x1, int32_t y0, int32_t y1)
{
    static float points[WIDTH * HEIGHT * D];
    const float *mixture = recipe.mixtures[scale];
    OWNED(sift_grid_release) struct sift_grid grid = {0};
    size_t n = 0;
    describe(&grid, scale);
    for (int32_t y = y0; y < y1; y++)
        for (int32_t x = x0; x < x1; x++)
            mixture_point(points + n++ * D, mixture,
                          grid.values + (size_t)(y * grid.n_columns + x) * CLV_DESCRIPTOR_SIZE);
    vl_set_num_threads(1);
    vl_fisher_encode(vector, VL_TYPE_FLOAT, mixture + MIXTURE_MEAN, D, K, mixture + MIXTURE_VARIANCE,
                     mixture + MIXTURE_WEIGHT, points, n, VL_FISHER_FLAG_IMPROVED);
}

/* The definition, in double precision, from the places and shares of the cells, of which less than 1 % is none. */
static void by_definition(double *vector, const struct fisher *fisher, int32_t scale, const int32_t x[2],
                          const int32_t y[2])
{
    const float *mixture = recipe.mixtures[scale];
    double n = (x[1] - x[0]) * (y[1] - y[0]), square = 0;
    for (int k = 0; k < K; k++)
        for (int d = 0; d < D; d++) {
            double mean = (double)mixture[MIXTURE_MEAN + k * D + d], first = 0, second = 0;
            double variance = (double)mixture[MIXTURE_VARIANCE + k * D + d];
            for (int32_t at = 0; at < (int32_t)n; at++) {
                int32_t cell = (y[0] + at / (x[1] - x[0])) * fisher->n_columns + x[0] + at % (x[1] - x[0]);
                double share = (double)fisher->scales[scale].share[cell * K + k];
                double off = ((double)fisher->scales[scale].point[cell * D + d] - mean) / sqrt(variance);
                first += share < 0.01 ? 0 : share * off;
                second += share < 0.01 ? 0 : share * (off * off - 1);
            }
            double unit = n * sqrt((double)mixture[MIXTURE_WEIGHT + k]);
            vector[k * D + d] = first / unit;
            vector[(K + k) * D + d] = second / unit / sqrt(2);
        }
    for (int c = 0; c < FISHER_SIZE; c++)
        square += fabs(vector[c]);
    for (int c = 0; c < FISHER_SIZE; c++)
        vector[c] = copysign(sqrt(fabs(vector[c]) / square), vector[c]);
}

static void check_definition(const float *row, const double *expected)
{
    for (int c = 0; c < FISHER_SIZE; c++)
        if (fabs(fabs(expected[c]) - 1e-3) > 1e-5) /* numbers below 1e-3 are none */
            ck_assert_double_eq_tol((double)row[c], fabs(expected[c]) < 1e-3 ? 0 : expected[c], 2e-5);
}

TEST(fisher_vectors_are_their_definition_and_vlfeats_but_for_what_is_tiny)
{
    struct clv_image image = {.width = WIDTH, .height = HEIGHT, .channels = 3, .pixels = pixels};
    OWNED(clv_superpixels_release) struct clv_superpixels nodes = {0};
    struct clv_patch_grid grid;
    OWNED(scene_release) struct scene scene = {0};
    OWNED(fisher_release) struct fisher fisher = {0};
    must(patch_grid_init(&grid, WIDTH, HEIGHT, 20, 10, err));
    must(patch_grid_partition(&nodes, &grid, err));
    must(scene_init(&scene, &image, &nodes, err));
    must(fisher_init(&fisher, &scene, &recipe, err));
    const struct views views = {.recipe = &recipe, .grid = &grid, .image = scene, .fisher = fisher};
    ck_assert_int_eq(fisher_size(&recipe), 2 * FISHER_SIZE);
    for (int32_t patch = 0; patch < grid.n_rows * grid.n_columns; patch++) {
        float row[2 * FISHER_SIZE] = {0}, expected[FISHER_SIZE];
        int32_t x = patch % grid.n_columns * 10, y = patch / grid.n_columns * 10, step = recipe.step_px;
        int32_t x0 = x < 10 ? 0 : (x - 10 + step - 1) / step, y0 = y < 10 ? 0 : (y - 10 + step - 1) / step;
        int32_t x1 = x + 30 < WIDTH ? (x + 30 + step - 1) / step : (WIDTH + step - 1) / step;
        int32_t y1 = y + 30 < HEIGHT ? (y + 30 + step - 1) / step : (HEIGHT + step - 1) / step;
        fisher_fill(row, &views, patch);
        for (int32_t s = 0; s < 2; s++) {
            double worst = 0, norm = 0, means = 0,
                   defined[FISHER_SIZE]; /* means: their part, against the deviations' */
            by_definition(defined, &fisher, s, (int32_t[]){x0, x1}, (int32_t[]){y0, y1});
            check_definition(row + s * FISHER_SIZE, defined);
            reference(expected, s, x0, x1, y0, y1);
            for (int c = 0; c < FISHER_SIZE; c++) {
                double found = (double)row[s * FISHER_SIZE + c];
                worst = fmax(worst, fabs(found - (double)expected[c]));
                norm += found * found;
                means += c < K * D ? found * found - pow((double)expected[c], 2) : 0;
            }
            ck_assert_double_lt(worst, 0.02);
            ck_assert_double_eq_tol(norm, 1, 0.01);
            ck_assert_double_eq_tol(means, 0, 0.02);
        }
    }
}

/* Descriptors are likelier under the mixture than under one Gaussian of all of them, whose log-likelihood is that of
 * its variances. */
TEST(a_mixture_is_sound_and_its_weights_are_the_descriptors_shares)
{
    OWNED(sift_grid_release) struct sift_grid grid = {0};
    struct mixture_view view;
    double mean[K] = {0};
    describe(&grid, 0);
    mixture_view_init(&view, recipe.mixtures[0]);
    size_t n = (size_t)grid.n_columns * (size_t)grid.n_rows;
    for (size_t i = 0; i < n; i++) {
        float point[D], share[K], total = 0;
        mixture_point(point, recipe.mixtures[0], grid.values + i * CLV_DESCRIPTOR_SIZE);
        mixture_shares(share, &view, point);
        for (int k = 0; k < K; k++) {
            total += share[k];
            mean[k] += (double)share[k] / (double)n;
        }
        ck_assert_float_eq_tol(total, 1, 1e-4F);
    }
    for (int k = 0; k < K; k++) /* where EM has ended, weights are mean shares */
        ck_assert_double_eq_tol(mean[k], (double)recipe.mixtures[0][MIXTURE_WEIGHT + k], 0.03);
    ck_assert(mixture_is_sound(recipe.mixtures[0]) && mixture_is_sound(recipe.mixtures[1]));
    float bad[CLV_MIXTURE_SIZE];
    static const int points[] = {0, MIXTURE_WEIGHT, MIXTURE_VARIANCE + 3};
    static const float values[] = {NAN, 0, -1};
    for (int k = 0; k < 3; k++) {
        memcpy(bad, recipe.mixtures[0], sizeof bad);
        bad[points[k]] = values[k];
        ck_assert(!mixture_is_sound(bad));
    }
}

/* Nothing but one grey, and a single descriptor. */
TEST(mixtures_of_equal_descriptors_are_sound)
{
    static const uint8_t flat[40 * CLV_DESCRIPTOR_SIZE] = {0};
    for (size_t n = 1; n <= 40; n += 39) {
        OWNED_ARRAY float *mixture = NULL;
        must(mixture_learn(&mixture, flat, n,
                           &(struct codebook_options){.seed = 1, .stream = RNG_STREAM(RNG_MIXTURE, 0)}, err));
        ck_assert(mixture_is_sound(mixture));
    }
}

TEST(mixtures_and_vectors_survive_failed_requests)
{
    static const uint8_t flat[40 * CLV_DESCRIPTOR_SIZE] = {0};
    OWNED_ARRAY float *mixture = NULL;
    must_keep_when_requests_fail(
        mixture_learn(&mixture, flat, 40, &(struct codebook_options){.seed = 1, .stream = RNG_STREAM(RNG_MIXTURE, 0)},
                      err),
        ck_assert_ptr_null(mixture));
    struct clv_image image = {.width = WIDTH, .height = HEIGHT, .channels = 3, .pixels = pixels};
    OWNED(clv_superpixels_release) struct clv_superpixels nodes = {0};
    struct clv_patch_grid grid;
    OWNED(scene_release) struct scene scene = {0};
    OWNED(fisher_release) struct fisher fisher = {0};
    must(patch_grid_init(&grid, WIDTH, HEIGHT, 20, 10, err));
    must(patch_grid_partition(&nodes, &grid, err));
    must(scene_init(&scene, &image, &nodes, err));
    must_keep_when_requests_fail(fisher_init(&fisher, &scene, &recipe, err),
                                 ck_assert_ptr_null(fisher.scales[0].point));
}

SETUP_ONCE(setup, teardown)
