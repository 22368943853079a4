#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "support/support.h"

/* An image, its superpixels and the measures of each. */
struct fixture {
    struct clv_image image;
    struct clv_superpixels superpixels;
    struct clv_adjacency adjacency;
    struct scene scene;
    float *measures;
};

static void fixture_measure(struct fixture *f, int32_t n_superpixels)
{
    struct clv_slic_options options = {n_superpixels, 10, 10};
    must(clv_slic(&f->superpixels, &f->image, &options, err));
    must(clv_adjacency_build(&f->adjacency, &f->superpixels, err));
    must(scene_init(&f->scene, &f->image, &f->superpixels, err));
    f->measures = malloc((size_t)f->superpixels.n * CONTRAST_WORDS * sizeof *f->measures);
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    recipe.blocks = CLV_BLOCK_CONTRAST;
    ck_assert_int_eq(contrast_measures(&recipe), CONTRAST_WORDS);
    must(contrast_measure(f->measures, &f->scene, &f->adjacency, &recipe, NULL, err));
}

static void fixture_release(struct fixture *f)
{
    free(f->measures);
    scene_release(&f->scene);
    clv_adjacency_release(&f->adjacency);
    clv_superpixels_release(&f->superpixels);
    clv_image_release(&f->image);
}

/* A disc of half the height in the middle. */
static void draw_disc(struct clv_image *image, const uint8_t *disc, const uint8_t *background)
{
    must(clv_image_new(image, 120, 90, 3, err));
    for (int32_t y = 0; y < 90; y++)
        for (int32_t x = 0; x < 120; x++) {
            int dx = x - 60, dy = y - 45;
            memcpy(image->pixels + (y * 120 + x) * 3, dx * dx + dy * dy < 23 * 23 ? disc : background, 3);
        }
}

static const uint8_t RED[3] = {200, 30, 30}, GREY[3] = {128, 128, 128};

TEST(a_red_disc_on_grey_stands_out_in_every_measure_of_colour)
{
    OWNED(fixture_release) struct fixture f = {0};
    draw_disc(&f.image, RED, GREY);
    fixture_measure(&f, 80);
    int n_disc = 0;
    for (int32_t i = 0; i < f.superpixels.n; i++) {
        const float *m = f.measures + i * CONTRAST_WORDS;
        for (int k = 0; k < CONTRAST_WORDS; k++)
            ck_assert(m[k] >= 0 && m[k] <= 1);
        if (f.scene.regions[i].lab[1] > 40) {
            n_disc++;
            ck_assert_float_lt(m[CONTRAST_BORDER], 0.2f);
            ck_assert_float_eq(m[CONTRAST_GEODESIC], 1);
            ck_assert_float_gt(m[CONTRAST_GLOBAL], 0.5f);
            ck_assert_float_gt(m[CONTRAST_LOCAL], 0.3f);
            ck_assert_float_lt(m[CONTRAST_SPREAD], 0.4f);
            ck_assert_float_gt(m[CONTRAST_CENTRE], 0.9f);
            ck_assert_float_gt(m[CONTRAST_COLOUR_CENTRE], 0.9f);
            ck_assert_float_lt(m[CONTRAST_COLOUR_BORDER], 0.1f);
            ck_assert_float_gt(m[CONTRAST_FOREGROUND], 0.9f);
        } else if (f.scene.regions[i].lab[1] < 1) {
            ck_assert_float_gt(m[CONTRAST_BORDER], 0.9f);
            ck_assert_float_eq(m[CONTRAST_GEODESIC], 0);
            ck_assert_float_lt(m[CONTRAST_GLOBAL], 0.4f);
            ck_assert_float_gt(m[CONTRAST_SPREAD], 0.6f);
            ck_assert_float_lt(m[CONTRAST_CENTRE], 0.5f);
            ck_assert_float_lt(m[CONTRAST_COLOUR_CENTRE], 0.5f);
            ck_assert_float_gt(m[CONTRAST_COLOUR_BORDER], 0.5f);
            ck_assert_float_lt(m[CONTRAST_FOREGROUND], m[CONTRAST_CENTRE]); /* sharper than one look */
        }
    }
    ck_assert_int_ge(n_disc, 5);
}

TEST(a_flat_image_has_no_contrast)
{
    OWNED(fixture_release) struct fixture f = {0};
    draw_disc(&f.image, GREY, GREY);
    fixture_measure(&f, 50);
    for (int32_t i = 0; i < f.superpixels.n; i++) {
        const float *m = f.measures + i * CONTRAST_WORDS;
        ck_assert_float_eq(m[CONTRAST_GEODESIC], 0);
        ck_assert_float_lt(m[CONTRAST_GLOBAL], 1e-3f);
        ck_assert_float_lt(m[CONTRAST_LOCAL], 1e-3f);
        ck_assert_float_eq(m[CONTRAST_GRADIENT], 0);
        ck_assert_float_eq_tol(m[CONTRAST_CENTRE], 0.5f, 1e-3f);
        ck_assert_float_eq_tol(m[CONTRAST_FOREGROUND], 0.5f, 1e-3f);
    }
}

/* measures[n][CONTRAST_WORDS] of an image cut into n regions, each of which touches the next. */
static void measure_row(float *measures, const uint8_t *pixels, int32_t *labels, int32_t side, int32_t n)
{
    int32_t edges[128][2];
    float lengths[128];
    OWNED(scene_release) struct scene scene = {0};
    struct clv_recipe recipe;
    const struct clv_image image = {side, side, 3, (uint8_t *)(uintptr_t)pixels};
    const struct clv_superpixels superpixels = {side, side, n, labels};
    const struct clv_adjacency adjacency = {.n_nodes = n, .n_edges = n - 1, .edges = edges, .boundary_length = lengths};
    for (int32_t e = 0; e + 1 < n; e++) {
        edges[e][0] = e;
        edges[e][1] = e + 1;
        lengths[e] = 1;
    }
    clv_recipe_init(&recipe);
    recipe.blocks = CLV_BLOCK_CONTRAST;
    must(scene_init(&scene, &image, &superpixels, err));
    must(contrast_measure(measures, &scene, &adjacency, &recipe, NULL, err));
}

/* A pixel of each side in turn. */
TEST(what_is_on_the_border_is_no_way_from_it)
{
    enum { SIDE = 12 };
    static uint8_t pixels[SIDE * SIDE * 3];
    static int32_t labels[SIDE * SIDE];
    static const int at[] = {5, SIDE * (SIDE - 1) + 5, 5 * SIDE, 5 * SIDE + SIDE - 1};
    for (int side = 0; side < 4; side++) {
        float measures[2 * CONTRAST_WORDS];
        for (int i = 0; i < SIDE * SIDE; i++) {
            labels[i] = i == at[side];
            memcpy(pixels + 3 * i, labels[i] ? RED : GREY, 3);
        }
        measure_row(measures, pixels, labels, SIDE, 2);
        ck_assert_float_eq(measures[CONTRAST_WORDS + CONTRAST_GEODESIC], 0);
    }
}

/* Rings of one colour, the innermost first: all of them are near the border. */
TEST(geodesic_distances_come_in_from_the_border_in_two_sweeps)
{
    enum { RINGS = 120, SIDE = 2 * RINGS };
    static uint8_t pixels[SIDE * SIDE * 3];
    static int32_t labels[SIDE * SIDE];
    float measures[RINGS * CONTRAST_WORDS];
    memset(pixels, 99, sizeof pixels);
    for (int i = 0; i < SIDE * SIDE; i++) {
        int x = abs(2 * (i % SIDE) - SIDE + 1) / 2, y = abs(2 * (i / SIDE) - SIDE + 1) / 2;
        labels[i] = x > y ? x : y;
    }
    measure_row(measures, pixels, labels, SIDE, RINGS);
    for (int r = 0; r < RINGS; r++)
        ck_assert_float_eq(measures[r * CONTRAST_WORDS + CONTRAST_GEODESIC], 0);
}

TEST(geodesic_distance_goes_around_walls)
{
    /* A grey corridor leads from the border to the middle through a red block: the middle is near by geodesic
     * distance. */
    OWNED(fixture_release) struct fixture f = {0};
    must(clv_image_new(&f.image, 120, 120, 3, err));
    for (int32_t y = 0; y < 120; y++)
        for (int32_t x = 0; x < 120; x++) {
            int block = x >= 20 && x < 100 && y >= 20 && y < 100, corridor = x < 70 && y >= 50 && y < 70;
            memcpy(f.image.pixels + (y * 120 + x) * 3, block && !corridor ? RED : GREY, 3);
        }
    fixture_measure(&f, 144);
    float middle = f.measures[f.superpixels.labels[60 * 120 + 60] * CONTRAST_WORDS + CONTRAST_GEODESIC];
    float block = f.measures[f.superpixels.labels[35 * 120 + 60] * CONTRAST_WORDS + CONTRAST_GEODESIC];
    ck_assert_float_lt(middle, 0.1f);
    ck_assert_float_gt(block, 0.9f);
}

TEST(pair_sums_are_those_of_the_definition)
{
    enum { N = 37 };
    struct region regions[N] = {0};
    float border[N], centre[N];
    for (int i = 0; i < N; i++) {
        for (int c = 0; c < 3; c++)
            regions[i].lab[c] = (float)(60 * rng_uniform(1, RNG_STREAM(RNG_TEST, c), (uint64_t)i));
        regions[i].x = (float)rng_uniform(1, RNG_STREAM(RNG_TEST, 3), (uint64_t)i);
        regions[i].y = (float)rng_uniform(1, RNG_STREAM(RNG_TEST, 4), (uint64_t)i);
        regions[i].n_pixels = 5 + i;
        border[i] = (float)(i % 4);
        centre[i] = (float)rng_uniform(1, RNG_STREAM(RNG_TEST, 5), (uint64_t)i);
    }
    struct scene scene = {.n_regions = N, .regions = regions};
    OWNED(pairs_release) struct pairs pairs = {0};
    must(pairs_init(&pairs, &scene, border, centre, err));
    for (int i = 0; i < N; i++) {
        double want[PAIR_SUMS] = {0};
        for (int j = 0; j < N; j++) {
            const struct region *p = &regions[i], *q = &regions[j];
            double d =
                sqrt(pow(p->lab[0] - q->lab[0], 2) + pow(p->lab[1] - q->lab[1], 2) + pow(p->lab[2] - q->lab[2], 2));
            double r2 = pow(p->x - q->x, 2) + pow(p->y - q->y, 2), k = pow(1 + d * d / 100, -2),
                   s = pow(1 + r2 / 0.04, -2);
            want[PAIR_BORDER] += border[j] * k;
            want[PAIR_COLOUR] += q->n_pixels * d;
            want[PAIR_NEAR] += q->n_pixels * s * d;
            want[PAIR_NEAR_MASS] += q->n_pixels * s;
            want[PAIR_LIKE] += q->n_pixels * k;
            want[PAIR_LIKE_X] += q->n_pixels * k * q->x;
            want[PAIR_LIKE_Y] += q->n_pixels * k * q->y;
            want[PAIR_LIKE_R] += q->n_pixels * k * (q->x * q->x + q->y * q->y);
            want[PAIR_CENTRE] += q->n_pixels * k * centre[j];
        }
        for (int k = 0; k < PAIR_SUMS; k++)
            ck_assert_double_eq_tol(pairs.sum[k][i], want[k], 1e-4 * (1 + want[k]));
    }
}

TEST(weighing_regions_anew_gives_the_sums_of_that_weight)
{
    OWNED(fixture_release) struct fixture f = {0};
    draw_disc(&f.image, RED, GREY);
    fixture_measure(&f, 60);
    int32_t n = f.superpixels.n;
    OWNED_ARRAY float *zeros = calloc((size_t)n, sizeof *zeros), *weights = malloc((size_t)n * sizeof *weights);
    for (int32_t i = 0; i < n; i++)
        weights[i] = (float)rng_uniform(1, RNG_STREAM(RNG_TEST, 5), (uint64_t)i);
    OWNED(pairs_release) struct pairs at_once = {0}, anew = {0};
    must(pairs_init(&at_once, &f.scene, zeros, weights, err));
    must(pairs_init(&anew, &f.scene, zeros, zeros, err));
    pairs_weigh(&anew, &f.scene, weights);
    ck_assert_double_eq_tol(anew.centre, at_once.centre, 1e-3 * at_once.centre);
    for (int32_t i = 0; i < n; i++)
        ck_assert_float_eq_tol(anew.sum[PAIR_CENTRE][i], at_once.sum[PAIR_CENTRE][i],
                               1e-4f * at_once.sum[PAIR_CENTRE][i]);
}

TEST(zones_compare_how_often_codes_are_met)
{
    /* Code 0 everywhere but for code 1 on a few central pixels and code 2 on a few of the border; region 0 is all. */
    enum { W = 40, H = 30 };
    int32_t labels[W * H] = {0}, code[W * H] = {0}, start[4] = {0}, pixel[W * H];
    int n_central = 0, n_border = 0;
    for (int i = 0; i < W * H; i++) {
        int x = i % W, y = i / W;
        code[i] = x >= 18 && x < 22 && y >= 13 && y < 17 ? 1 : y == 0 && x < 10 ? 2 : 0;
        n_central += code[i] == 1;
        n_border += code[i] == 2;
    }
    int at = 0;
    for (int c = 0; c < 3; c++) { /* regions are the codes */
        for (int i = 0; i < W * H; i++)
            if (code[i] == c) {
                labels[i] = c;
                pixel[at++] = i;
            }
        start[c + 1] = at;
    }
    struct scene scene = {.width = W, .height = H, .n_regions = 3, .labels = labels, .start = start, .pixel = pixel};
    OWNED(zones_release) struct zones zones = {0};
    must(zones_init(&zones, &scene, err));
    double centre = 0, strip = 0, of_code_1 = 0;
    for (int i = 0; i < W * H; i++) {
        centre += zones.centre[i];
        strip += zones.strip[i];
        of_code_1 += code[i] == 1 ? zones.centre[i] : 0;
    }
    float odds[3][2]; /* of the centre and of the strip */
    must(zones_measure(*odds, 2, &zones, code, 4, err));
    double c1 = of_code_1 / centre + 0.0005, r1 = (n_central - of_code_1) / (W * H - centre) + 0.0005;
    double s2 = n_border / strip + 0.0005, a2 = (double)n_border / (W * H) + 0.0005;
    ck_assert_double_eq_tol(odds[1][0], c1 / (c1 + r1), 1e-4);
    ck_assert_double_eq_tol(odds[2][1], s2 / (s2 + a2), 1e-4);
    ck_assert_float_gt(odds[1][0], 0.8f);
    ck_assert_float_lt(odds[2][0], 0.3f);
    ck_assert_float_lt(odds[1][1], 0.1f);
    ck_assert_double_eq_tol(odds[0][0], 0.5, 0.05);
}

/* A float stays at 2^24 when 1 is added. */
TEST(codes_of_more_than_2_to_the_24_pixels_count)
{
    enum { N = 3 << 23, N_OTHER = 1 << 22 }; /* pixels; those of code 1, the last ones */
    OWNED(zones_release)
    struct zones zones = {.n_pixels = N, .centre = array_zalloc(N, sizeof *zones.centre), .strip = array_zalloc(N, 1)};
    OWNED_ARRAY int32_t *code = array_zalloc(N, sizeof *code);
    int32_t start[3] = {0, 1, 2}, pixel[2] = {0, N - 1};
    const struct scene scene = {.n_regions = 2, .start = start, .pixel = pixel};
    zones.scene = &scene;
    ck_assert(zones.centre && zones.strip && code);
    for (size_t i = 0; i < N; i++) {
        code[i] = i >= N - N_OTHER;
        zones.centre[i] = code[i] ? 0.25f : 1;
    }
    zones.strip[0] = zones.strip[N - 1] = 1;
    float odds[2][2];
    must(zones_measure(*odds, 2, &zones, code, 2, err));
    double all = (double)N_OTHER / N, centre = all / 4 / (all / 4 + 1 - all), rim = 1;
    ck_assert_double_eq_tol(odds[1][0], (centre + 0.0005) / (centre + rim + 0.001), 1e-5);
    ck_assert_double_eq_tol(odds[1][1], 0.5005 / (0.5 + all + 0.001), 1e-5);
}

TEST(a_measure_is_shared_by_two_bins_that_give_it_back)
{
    for (int step = 0; step <= 100; step++) {
        float measures[3];
        for (int k = 0; k < 3; k++)
            measures[k] = (float)step / 100;
        float row[100] = {0};
        contrast_fill(row, &(struct views){.measures = measures, .n_measures = 3}, 0);
        struct clv_recipe recipe;
        clv_recipe_init(&recipe);
        int bins = contrast_size(&recipe) / contrast_measures(&recipe);
        for (int k = 0; k < 3; k++) {
            double mass = 0, mean = 0;
            for (int b = 0; b < bins; b++) {
                ck_assert_float_ge(row[k * bins + b], 0);
                mass += row[k * bins + b];
                mean += row[k * bins + b] * b / (bins - 1);
            }
            ck_assert_double_eq_tol(mean / mass, step / 100.0, 1e-5);
        }
    }
}

TEST(many_regions_are_measured_against_a_sample_of_them)
{
    OWNED(fixture_release) struct fixture f = {0};
    draw_disc(&f.image, RED, GREY);
    fixture_measure(&f, 3000);
    ck_assert_int_gt(f.superpixels.n, 1500);
    int32_t middle = f.superpixels.labels[45 * 120 + 60];
    ck_assert_float_gt(f.measures[middle * CONTRAST_WORDS + CONTRAST_CENTRE], 0.9f);
    ck_assert_float_lt(f.measures[middle * CONTRAST_WORDS + CONTRAST_BORDER], 0.2f);
    ck_assert_float_gt(f.measures[CONTRAST_BORDER], 0.9f);
}

TEST(measures_are_named_by_what_they_are_of)
{
    char name[80];
    contrast_name(name, sizeof name, NULL, 10 * CONTRAST_WORDS - 1);
    ck_assert_str_eq(name, "colours of border bin 9");
    contrast_name(name, sizeof name, NULL, 10 * CONTRAST_WORDS);
    ck_assert_str_eq(name, "words of centre, scale 0, bin 0");
    contrast_name(name, sizeof name, NULL, 10 * (CONTRAST_WORDS + 3) + 4);
    ck_assert_str_eq(name, "words of border, scale 1, bin 4");
}
