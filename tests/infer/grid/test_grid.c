#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "infer/grid/grid.h"
#include "infer/infer.h"
#include "support/support.h"

#define MAX_SIDE   130
#define MAX_PIXELS (MAX_SIDE * MAX_SIDE)

struct sample {
    float unary[MAX_PIXELS], coupling[4][MAX_PIXELS];
    struct clv_grid grid;
};

/* Whole numbers, so that every rounding is exact and ties abound where the range is small. */
static void draw_sample(struct sample *s, uint64_t index, int32_t side, int32_t n_neighbours, uint32_t range,
                        uint32_t strength)
{
    uint64_t at = index << 20;
    s->grid = (struct clv_grid){.width = 1 + (int32_t)rng_below(8, 0, at++, (uint32_t)side),
                                .height = 1 + (int32_t)rng_below(8, 0, at++, (uint32_t)side),
                                .n_neighbours = n_neighbours,
                                .unary = s->unary,
                                .coupling = {s->coupling[0], s->coupling[1], s->coupling[2], s->coupling[3]}};
    for (int32_t p = 0; p < s->grid.width * s->grid.height; p++) {
        s->unary[p] = (float)rng_below(8, 0, at++, 2 * range + 1) - (float)range;
        for (int k = 0; k < 4; k++)
            s->coupling[k][p] = (float)rng_below(8, 0, at++, strength + 1);
    }
}

/* The same through the general oracle. */
static void solve_as_field(int32_t *y, struct clv_oracle *oracle, const struct clv_grid *grid)
{
    static int32_t edges[4 * MAX_PIXELS][2];
    static double unary[MAX_PIXELS], coupling[4 * MAX_PIXELS];
    int32_t m = 0, w = grid->width, dx[] = {1, 0, 1, -1}, dy[] = {0, 1, 1, 1};
    for (int32_t p = 0; p < w * grid->height; p++) {
        unary[p] = grid->unary[p];
        for (int k = 0; k < grid->n_neighbours / 2; k++) {
            int32_t x = p % w + dx[k], row = p / w + dy[k];
            if (x < 0 || x >= w || row >= grid->height)
                continue;
            edges[m][0] = p;
            edges[m][1] = row * w + x;
            coupling[m++] = grid->coupling[k][p];
        }
    }
    struct clv_field field = {.n_nodes = w * grid->height,
                              .n_edges = m,
                              .n_labels = 2,
                              .form = CLV_PAIRWISE_POTTS,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = coupling};
    must(clv_oracle_map(oracle, y, NULL, &field, err));
}

TEST(grids_equal_the_general_oracle_with_ties)
{
    static struct sample s;
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t t = 0; t < 1500; t++) {
        uint32_t range = t % 3 ? 8 : 1000, strength = t % 5 ? 3 * range / 2 : range / 4;
        draw_sample(&s, t, t % 10 ? 9 : 40, t % 2 ? 4 : 8, range, strength);
        static uint8_t labels[MAX_PIXELS];
        static int32_t y[MAX_PIXELS];
        must(clv_grid_map(labels, &s.grid, err));
        solve_as_field(y, oracle, &s.grid);
        int32_t different = 0;
        for (int32_t p = 0; p < s.grid.width * s.grid.height; p++)
            different += labels[p] != y[p];
        ck_assert_msg(!different, "sample %d: %d labels differ", (int)t, different);
    }
}

/* Foreground and background scores in patches of their own, walls of weak couplings here and there: flow has far to go,
 * and coarser grids are misled. */
TEST(grids_with_long_ways_equal_the_general_oracle)
{
    static struct sample s;
    static uint8_t labels[MAX_PIXELS];
    static int32_t y[MAX_PIXELS];
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t t = 0; t < 60; t++) {
        draw_sample(&s, 5000 + t, MAX_SIDE, t % 2 ? 4 : 8, 3, 40);
        int32_t w = s.grid.width, period = 2 + (int32_t)rng_below(8, 1, t, 40);
        for (int32_t p = 0; p < w * s.grid.height; p++) {
            int32_t patch = p % w / period + p / w / period;
            s.unary[p] = patch % 3 == 0 ? 5 + s.unary[p] : patch % 3 == 1 ? -5 - s.unary[p] : t % 4 ? 0 : s.unary[p];
            for (int k = 0; k < 4; k++)
                s.coupling[k][p] = p % w % (period + 3) == 0 ? (float)(p % 3) : s.coupling[k][p];
        }
        must(clv_grid_map(labels, &s.grid, err));
        solve_as_field(y, oracle, &s.grid);
        for (int32_t p = 0; p < w * s.grid.height; p++)
            ck_assert_msg(labels[p] == y[p], "sample %d: pixel %d differs", (int)t, p);
    }
}

static void sample_row(void *context, const float **unary, const float *coupling[4], int32_t y)
{
    const struct clv_grid *grid = context;
    *unary = grid->unary + y * grid->width;
    for (int k = 0; k < grid->n_neighbours / 2; k++)
        coupling[k] = grid->coupling[k] + y * grid->width;
}

/* Blocks are away whose scores and couplings are no numbers; on the other side they are there, but coupled with
 * nothing. */
TEST(pixels_that_are_away_are_no_part_of_the_grid)
{
    static const int dx[] = {1, 0, 1, -1}, dy[] = {0, 1, 1, 1};
    static struct sample s, whole;
    static uint8_t labels[MAX_PIXELS], expected[MAX_PIXELS];
    static bool is_away[MAX_PIXELS];
    for (uint64_t t = 0; t < 400; t++) {
        struct grid_sizes sizes = {0};
        draw_sample(&s, 9000 + t, t % 8 ? 40 : MAX_SIDE, t % 2 ? 4 : 8, 8, t % 3 ? 12 : 2);
        int32_t w = s.grid.width, h = s.grid.height, period = 1 + (int32_t)rng_below(8, 2, t, 17);
        for (int32_t p = 0; p < w * h; p++) {
            uint64_t block = (uint64_t)(p / w / period * 200 + p % w / period);
            is_away[p] = rng_below(8, 3, t << 20 | block, 3) == 0;
            labels[p] = is_away[p] ? GRID_AWAY : GRID_UNDECIDED;
        }
        whole = s;
        whole.grid.unary = whole.unary;
        for (int k = 0; k < 4; k++)
            whole.grid.coupling[k] = whole.coupling[k];
        for (int32_t p = 0; p < w * h; p++)
            for (int k = 0; k < 4; k++) {
                int32_t x = p % w + dx[k], y = p / w + dy[k];
                bool is_inside = x >= 0 && x < w && y < h;
                if (is_away[p] || (is_inside && is_away[y * w + x]))
                    whole.coupling[k][p] = 0;
                if (is_away[p])
                    s.unary[p] = s.coupling[k][p] = NAN;
            }
        for (int32_t y = 0; y < h; y++)
            grid_sizes_add(&sizes, whole.unary + y * w, w);
        sizes.coupling = 12;
        struct grid_rows rows = {.width = w,
                                 .height = h,
                                 .n_neighbours = s.grid.n_neighbours,
                                 .scale = grid_scale_of(&sizes),
                                 .row = sample_row,
                                 .context = &s.grid};
        rows.scale.is_exact = t % 5 == 0;
        must(clv_grid_map(expected, &whole.grid, err));
        must(grid_rows_map(labels, &rows, err));
        for (int32_t p = 0; p < w * h; p++)
            ck_assert_msg(labels[p] == (is_away[p] ? GRID_AWAY : expected[p]), "sample %d: pixel %d", (int)t, p);
    }
}

TEST(extreme_grids_are_cut_without_overflow)
{
    static struct sample s;
    float scales[] = {1e30f, 1e-30f, 3e38f};
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        draw_sample(&s, 1, 5, 8, 0, 0);
        s.grid.width = s.grid.height = 3;
        for (int32_t p = 0; p < 9; p++) {
            s.unary[p] = p == 4 ? -scales[k] : scales[k];
            for (int d = 0; d < 4; d++)
                s.coupling[d][p] = scales[k];
        }
        uint8_t labels[9];
        must(clv_grid_map(labels, &s.grid, err));
        for (int32_t p = 0; p < 9; p++)
            ck_assert_int_eq(labels[p], 1);
    }
}

/* The labelling of most score, of those the one with the fewest 1s, as bits. */
static int best_by_enumeration(const struct clv_grid *grid)
{
    int32_t w = grid->width, dx[] = {1, 0, 1, -1}, dy[] = {0, 1, 1, 1};
    int n = w * grid->height, best = 0;
    double highest = -INFINITY;
    for (int code = 0; code < 1 << n; code++) {
        double score = 0;
        for (int32_t p = 0; p < n; p++) {
            score += code >> p & 1 ? (double)grid->unary[p] : 0;
            for (int k = 0; k < grid->n_neighbours / 2; k++) {
                int32_t x = p % w + dx[k], y = p / w + dy[k];
                if (x >= 0 && x < w && y < grid->height && (code >> p & 1) != (code >> (y * w + x) & 1))
                    score -= (double)grid->coupling[k][p];
            }
        }
        if (score > highest ||
            (score == highest && __builtin_popcount((unsigned)code) < __builtin_popcount((unsigned)best))) {
            highest = score;
            best = code;
        }
    }
    return best;
}

TEST(a_seed_of_any_size_leaves_tiny_grids_exact)
{
    static struct sample s;
    for (uint64_t t = 0; t < 280; t++) {
        uint8_t labels[9];
        draw_sample(&s, 9000 + t, 3, t % 2 ? 4 : 8, t % 3 ? 2 : 9, t % 5 ? 3 : 0);
        int32_t n = s.grid.width * s.grid.height;
        for (int32_t p = 0; t % 3 == 1 && p < n; p++)
            s.unary[p] /= 8;
        s.unary[t % (uint64_t)n] = (t % 4 < 2 ? 1.0F : -1.0F) * powf(10, (float)(t % 14));
        must(clv_grid_map(labels, &s.grid, err));
        int best = best_by_enumeration(&s.grid);
        for (int32_t p = 0; p < n; p++)
            ck_assert_msg(labels[p] == (best >> p & 1), "sample %d: pixel %d is %d", (int)t, p, labels[p]);
    }
}

/* The score that labels lose against others, added up so that hard couplings take no digits from the rest. */
static double loss_of(const struct clv_grid *grid, const uint8_t *labels, const int32_t *best)
{
    static const int dx[] = {1, 0, 1, -1}, dy[] = {0, 1, 1, 1};
    int32_t w = grid->width;
    double loss = 0;
    for (int32_t p = 0; p < w * grid->height; p++) {
        loss += (best[p] - labels[p]) * (double)grid->unary[p];
        for (int k = 0; k < grid->n_neighbours / 2; k++) {
            int32_t x = p % w + dx[k], q = p + dy[k] * w + dx[k];
            if (x < 0 || x >= w || p / w + dy[k] >= grid->height)
                continue;
            loss += ((labels[p] != labels[q]) - (best[p] != best[q])) * (double)grid->coupling[k][p];
        }
    }
    return loss;
}

/* Some couplings, or all, are hard; now and then two sizes of them, seeds, or everything is small or large. */
static void draw_hard(struct sample *s, uint64_t t, int32_t side)
{
    static const float scales[] = {1, 1, 1, 1e-30F, 1e20F}, sizes[] = {1e2F, 1e3F, 1e4F, 1e5F, 1e8F, 1e10F, 1e15F};
    draw_sample(s, 20000 + t, side, t % 2 ? 4 : 8, 1, 0);
    float scale = scales[t % 5], hard = sizes[t % 7];
    uint64_t at = (20000 + t) << 20;
    for (int32_t p = 0; p < s->grid.width * s->grid.height; p++) {
        s->unary[p] = (float)rng_normal(8, 1, 2 * at) * scale;
        if (t % 3 == 0 && rng_below(8, 2, at, 30) == 0)
            s->unary[p] *= 1e9F;
        for (int k = 0; k < 4; k++) {
            at++;
            double draw = t % 11 == 0 ? 0 : rng_uniform(8, 3, at);
            s->coupling[k][p] = (draw < 0.1 && t % 4 == 0 ? 1e4F : draw < 0.2 ? hard : 0.3F) * scale;
        }
    }
}

TEST(hard_couplings_leave_grids_exact)
{
    static struct sample s;
    static uint8_t labels[MAX_PIXELS];
    static int32_t y[MAX_PIXELS];
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    int n_exact = 0;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t t = 0; t < 600; t++) {
        draw_hard(&s, t, t % 10 ? 24 : 60);
        double sum = 0;
        int32_t n = s.grid.width * s.grid.height, n_other = 0;
        must(clv_grid_map(labels, &s.grid, err));
        solve_as_field(y, oracle, &s.grid);
        for (int32_t p = 0; p < n; p++) {
            n_other += labels[p] != y[p];
            sum += fabsf(s.unary[p]) < 1e8F ? fabsf(s.unary[p]) : 0;
        }
        double loss = fabs(loss_of(&s.grid, labels, y));
        ck_assert_msg(loss <= 1e-6 * (1 + sum), "sample %d: loses %g of %g", (int)t, loss, sum);
        n_exact += n_other == 0;
    }
    ck_assert_int_ge(n_exact, 590);
}

TEST(hard_couplings_of_tiny_grids_are_those_of_enumeration)
{
    static struct sample s;
    for (uint64_t t = 0; t < 400; t++) {
        uint8_t labels[9];
        draw_hard(&s, 1000 + t, 3);
        int32_t n = s.grid.width * s.grid.height, best[9];
        for (int32_t p = 0; p < n; p++) { /* whole numbers, so that enumeration is exact */
            s.unary[p] = (float)(int32_t)rng_below(8, 4, t * 9 + (uint64_t)p, 41) - 20;
            for (int k = 0; k < 4; k++)
                s.coupling[k][p] = rng_below(8, 5, (t * 9 + (uint64_t)p) * 4 + (uint64_t)k, 2) ? 0x1p30F : 7;
        }
        int code = best_by_enumeration(&s.grid);
        must(clv_grid_map(labels, &s.grid, err));
        for (int32_t p = 0; p < n; p++)
            best[p] = code >> p & 1;
        for (int32_t p = 0; p < n; p++)
            ck_assert_msg(labels[p] == best[p], "sample %d: pixel %d is %d", (int)t, p, labels[p]);
    }
}

TEST(unsound_grids_are_refused_by_pixel)
{
    static struct sample s;
    uint8_t labels[MAX_PIXELS];
    draw_sample(&s, 3, 5, 8, 3, 3);
    s.grid.width = 5;
    s.grid.height = 4;
    s.unary[7] = NAN;
    must_fail(CLV_ERR_DATA, "pixel (2, 1)", clv_grid_map(labels, &s.grid, err));
    s.unary[7] = INFINITY;
    must_fail(CLV_ERR_DATA, "pixel (2, 1)", clv_grid_map(labels, &s.grid, err));
    s.unary[7] = 0;
    s.coupling[3][6] = -1;
    must_fail(CLV_ERR_DATA, "coupling 3", clv_grid_map(labels, &s.grid, err));
    s.coupling[3][6] = 0;
    s.coupling[0][4] = NAN; /* across the right border: not looked at */
    must(clv_grid_map(labels, &s.grid, err));
    s.grid.n_neighbours = 6;
    must_fail(CLV_ERR_USAGE, "6 neighbours", clv_grid_map(labels, &s.grid, err));
    s.grid.n_neighbours = 4;
    s.grid.width = 1 << 20;
    s.grid.height = 65;
    must_fail(CLV_ERR_USAGE, "1048576x65 pixels: must have 1 to 67108864", clv_grid_map(labels, &s.grid, err));
}
