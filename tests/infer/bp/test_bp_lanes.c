/* Rows of one vector, of several and of more than stay in registers; tables of all edges and of each. */
#include "infer/infer.h"
#include "infer/random_field.h"

enum { WIDTH = 4, HEIGHT = 3, N = WIDTH * HEIGHT, M = 2 * N - WIDTH - HEIGHT, MOST = 41 };

static int32_t edges[M][2];
static double unary[N * MOST], tables[M * MOST * MOST];

static struct clv_field draw_grid(int32_t k, enum clv_pairwise form, double scale)
{
    int32_t m = 0, cells = form == CLV_PAIRWISE_FULL ? k * k : 1;
    for (int32_t i = 0; i < N; i++) /* arcs both ways round */
        for (int side = 0; side < 2; side++) {
            int32_t j = side ? i + WIDTH : i + 1;
            if (side ? j >= N : j % WIDTH == 0)
                continue;
            edges[m][i % 2] = i;
            edges[m++][!(i % 2)] = j;
        }
    ck_assert_int_eq(m, M);
    for (int32_t c = 0; c < N * k; c++)
        unary[c] = rng_normal(SEED, 20, (uint64_t)(k * 1000 + c));
    for (int32_t c = 0; c < M * cells; c++) {
        double score = scale * rng_normal(SEED, 21, (uint64_t)(k * 100000 + c));
        tables[c] = form == CLV_PAIRWISE_FULL ? score : fabs(score);
    }
    return (struct clv_field){.n_nodes = N,
                              .n_edges = M,
                              .n_labels = k,
                              .form = form,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = tables};
}

TEST(any_number_of_labels_agrees_with_the_log_domain)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    double linear[N * MOST], logarithmic[N * MOST];
    int32_t y[N], z[N];
    for (int32_t k = 2; k <= MOST; k += k < 10 ? 1 : 3)
        for (int setting = 0; setting < 8; setting++) {
            struct clv_bp_options options;
            struct clv_bp_result one, two;
            struct clv_field field = draw_grid(k, setting & 1 ? CLV_PAIRWISE_POTTS : CLV_PAIRWISE_FULL, 0.5);
            clv_bp_defaults(&options);
            options.mode = setting & 2 ? CLV_BP_MAX : CLV_BP_SUM;
            options.schedule = setting & 4 ? CLV_BP_RED_BLACK : CLV_BP_SEQUENTIAL;
            options.max_iterations = 5;
            must(clv_bp_run(bp, linear, y, &one, &field, &options, err));
            options.damping = 1e-300;
            must(clv_bp_run(bp, logarithmic, z, &two, &field, &options, err));
            assert_near(linear, logarithmic, N * k, 1e-11);
            if (options.mode == CLV_BP_SUM) { /* max-marginals that have not converged may tie */
                ck_assert_mem_eq(y, z, sizeof y);
                ck_assert_double_eq_tol(one.value, two.value, 1e-10);
            }
            ck_assert_int_eq(one.n_iterations, two.n_iterations);
            ck_assert_double_eq_tol(one.change, two.change, 1e-11);
        }
}

/* The same bytes, labels given and tables that change from run to run included. */
TEST(one_table_of_all_edges_is_that_table_at_each)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    double shared[N * MOST], own[N * MOST], pairs[2][M * 9 * 9];
    int32_t y[N], z[N], given[N];
    for (int32_t i = 0; i < N; i++)
        given[i] = i % 5 == 2 ? i % 3 : CLV_UNKNOWN;
    for (int32_t k = 3; k <= 9; k++)
        for (int setting = 0; setting < 12; setting++) {
            struct clv_bp_options options;
            struct clv_bp_result one, two;
            struct clv_field field = draw_grid(k, CLV_PAIRWISE_FULL, 0.5);
            clv_bp_defaults(&options);
            options.mode = setting % 3 == 2 ? CLV_BP_MAX : CLV_BP_SUM;
            options.damping = setting % 3 == 1 ? 0.3 : 0;
            options.label = setting / 3 % 2 ? given : NULL;
            for (int32_t e = 1; e < M; e++)
                memcpy(&tables[e * k * k], tables, (size_t)(k * k) * sizeof *tables);
            must(clv_bp_run(bp, own, y, &one, &field, &options, err));
            clv_bp_pair_beliefs(pairs[0], bp);
            field.is_shared = true;
            must(clv_bp_run(bp, shared, z, &two, &field, &options, err));
            clv_bp_pair_beliefs(pairs[1], bp);
            ck_assert_mem_eq(shared, own, (size_t)(N * k) * sizeof *own);
            ck_assert_mem_eq(pairs[1], pairs[0], (size_t)(M * k * k) * sizeof **pairs);
            ck_assert_mem_eq(y, z, sizeof y);
            ck_assert_double_eq(one.value, two.value);
        }
}

/* Messages that nothing new has reached are not sent again; a score that changes reaches all of them, however. */
TEST(maxima_that_have_settled_follow_scores_that_change)
{
    OWNED(bp_drop) struct clv_bp *lazy = new_bp(), *logarithmic = new_bp();
    double one[N * MOST], two[N * MOST];
    int32_t y[N], z[N];
    for (int32_t k = 2; k <= 9; k++)
        for (int setting = 0; setting < 4; setting++) {
            struct clv_bp_options options;
            struct clv_bp_result result;
            struct clv_field field = draw_grid(k, setting & 1 ? CLV_PAIRWISE_POTTS : CLV_PAIRWISE_FULL, 0.1);
            clv_bp_defaults(&options);
            options.mode = CLV_BP_MAX;
            options.schedule = setting & 2 ? CLV_BP_RED_BLACK : CLV_BP_SEQUENTIAL;
            for (int run = 0; run < 3; run++) {
                for (int32_t a = 0; k > 2 && run == 1 && a < k; a++)
                    unary[a] += 0.3 * a;
                for (int32_t c = 0; run == 2 && c < M; c++)
                    tables[c] *= 0.5;
                options.damping = 0;
                must(clv_bp_run(lazy, one, y, &result, &field, &options, err));
                ck_assert(result.is_converged);
                options.damping = 1e-300;
                must(clv_bp_run(logarithmic, two, z, &result, &field, &options, err));
                assert_near(one, two, N * k, 1e-11);
                ck_assert_mem_eq(y, z, sizeof y);
                options.is_warm = true;
            }
        }
}
