/* Outlines that are turned, ellipses, masks, and in how many pieces an outline is. */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "data/shapes/shapes.h"
#include "support/support.h"

static const double pixels_of[2] = {1, 1};

TEST(an_ellipse_has_the_pixels_whose_centres_are_in_it)
{
    enum { WIDTH = 40, HEIGHT = 30 };
    for (int round = 0; round < 60; round++) {
        double draw[5];
        for (int k = 0; k < 5; k++)
            draw[k] = rng_uniform(7, RNG_STREAM(RNG_TEST, round), (uint64_t)k);
        const double centre[2] = {40 * draw[0], 30 * draw[1]}, radii[2] = {1 + 15 * draw[2], 1 + 15 * draw[3]};
        const double degrees = 720 * draw[4] - 360, angle = degrees * acos(-1) / 180;
        const double scale[2] = {round % 2 ? 1 : WIDTH, round % 2 ? 1 : HEIGHT}; /* pixels, or shares */
        uint8_t got[WIDTH * HEIGHT] = {0};
        OWNED(outline_drop) struct clv_outline *outline = NULL;
        struct clv_box bounds = {0};
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        must(outline_of_ellipse(&outline, centre, radii, degrees, scale, err));
        must(outline_fill(&(struct canvas){got, WIDTH, HEIGHT, 1}, outline, scale[0] != 1, err));
        must(outline_bound(&bounds, outline, err));
        for (int p = 0; p < WIDTH * HEIGHT; p++) {
            double x = p % WIDTH + 0.5 - centre[0], y = p / WIDTH + 0.5 - centre[1];
            double a = (cos(angle) * x + sin(angle) * y) / radii[0], b = (cos(angle) * y - sin(angle) * x) / radii[1];
            double distance = a * a + b * b;
            ck_assert_msg(fabs(distance - 1) < 1e-9 || got[p] == (distance < 1), "round %d: %d,%d", round, p % WIDTH,
                          p / WIDTH);
        }
        for (int k = 0; k < 3600; k++) { /* points of the rim */
            double t = k * acos(-1) / 1800, u = radii[0] * cos(t), v = radii[1] * sin(t);
            double point[2] = {centre[0] + cos(angle) * u - sin(angle) * v,
                               centre[1] + sin(angle) * u + cos(angle) * v};
            for (int i = 0; i < 2; i++) {
                low[i] = fmin(low[i], point[i]);
                high[i] = fmax(high[i], point[i]);
            }
        }
        ck_assert_double_eq_tol(bounds.x * scale[0], low[0], 1e-4);
        ck_assert_double_eq_tol((bounds.y + bounds.height) * scale[1], high[1], 1e-4);
    }
}

TEST(a_rectangle_is_turned_clockwise_around_its_pivot)
{
    static const struct {
        double degrees, points[4][2];
    } cases[] = {
        {0, {{2, 1}, {6, 1}, {6, 3}, {2, 3}}},
        {90, {{2, 1}, {2, 5}, {0, 5}, {0, 1}}},
        {-270, {{2, 1}, {2, 5}, {0, 5}, {0, 1}}},
        {180, {{2, 1}, {-2, 1}, {-2, -1}, {2, -1}}},
        {30, {{2, 1}, {5.464101615137755, 3}, {4.464101615137755, 4.732050807568877}, {1, 2.732050807568877}}},
    };
    const struct clv_box box = {.x = 2, .y = 1, .width = 4, .height = 2};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        OWNED(outline_drop) struct clv_outline *outline = NULL;
        must(outline_of_rectangle(&outline, &box, cases[k].degrees, (const double[]){2, 1}, pixels_of, err));
        for (int i = 0; i < 8; i++)
            ck_assert_double_eq_tol(outline->points[i / 2][i % 2], cases[k].points[i / 2][i % 2], 1e-12);
    }
}

/* The pieces of inside[height][width] by a flood that goes by sides and corners. */
static size_t flood(const uint8_t *inside, int width, int height)
{
    enum { MOST = 64 };
    int stack[8 * MOST], n_pieces = 0;
    bool is_seen[MOST] = {false};
    for (int start = 0; start < width * height; start++) {
        int n = 0;
        if (!inside[start] || is_seen[start])
            continue;
        n_pieces++;
        is_seen[start] = true;
        stack[n++] = start;
        while (n) {
            int p = stack[--n];
            for (int d = 0; d < 9; d++) {
                int x = p % width + d % 3 - 1, y = p / width + d / 3 - 1, q = y * width + x;
                if (x < 0 || y < 0 || x >= width || y >= height || !inside[q] || is_seen[q])
                    continue;
                is_seen[q] = true;
                stack[n++] = q;
            }
        }
    }
    return (size_t)n_pieces;
}

TEST(pieces_of_runs_are_those_of_a_flood_fill)
{
    for (int round = 0; round < 4000; round++) {
        uint8_t inside[64];
        struct rng_block block = rng_at(3, RNG_STREAM(RNG_TEST, round), 0);
        const struct rle_frame frame = {2, 1, 1 + (int32_t)(block.word[0] % 8), 1 + (int32_t)(block.word[1] % 8)};
        const double share = block.word[2] % 100 / 100.0;
        for (int p = 0; p < 64; p++)
            inside[p] = rng_uniform(3, RNG_STREAM(RNG_TEST, round), 10 + (uint64_t)p) < share;
        OWNED(outline_drop) struct clv_outline *outline = outline_of_mask(inside, &frame);
        size_t n, wanted = flood(inside, frame.width, frame.height);
        must(outline_count_pieces(&n, outline, err));
        ck_assert_msg(n == (wanted < 2 ? wanted : 2), "round %d: %zu, not %zu", round, n, wanted);
    }
    /* A run of a quarter of a billion pixels, in lines of one. */
    uint32_t counts[] = {1, (1u << 28) - 4, 2, 1}, bridged[] = {1, 5, 0, (1u << 28) - 6};
    struct clv_outline runs = {.counts = counts, .n_counts = 4, .frame = {0, 0, 1 << 28, 1}, .order = RLE_BY_COLUMNS};
    size_t n;
    must(outline_count_pieces(&n, &runs, err));
    ck_assert_uint_eq(n, 2);
    runs.counts = bridged; /* two runs without a gap between */
    must(outline_count_pieces(&n, &runs, err));
    ck_assert_uint_eq(n, 1);
    counts[3] = 2;
    runs.counts = counts;
    must_fail(CLV_ERR_DATA, "runs do not sum", outline_count_pieces(&n, &runs, err));
}

TEST(polygons_that_touch_are_one_piece)
{
    static const double second[3] = {4, 3,
                                     7}; /* where the second square begins: at the first one's side, in it, off it */
    for (int k = 0; k < 3; k++) {
        OWNED(outline_drop) struct clv_outline *outline = outline_new();
        size_t n;
        for (int square = 0; square < 2; square++) {
            double x = square ? second[k] : 1;
            for (int i = 0; i < 4; i++)
                must(outline_add_point(outline, x + 3 * (i == 1 || i == 2), 1 + 3 * (i > 1), err));
            must(outline_end_polygon(outline, err));
        }
        must(outline_count_pieces(&n, outline, err));
        ck_assert_uint_eq(n, k == 2 ? 2 : 1);
    }
}
