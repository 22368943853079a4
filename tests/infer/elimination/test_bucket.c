#include "infer/bp/two_temperatures.h"
#include "infer/elimination/elimination.h"
#include "support/requests.h"

#define CELLS_MAX ((size_t)1 << 20)

static const double temperatures[][2] = {{0, 0}, {0, 1}, {1, 1}, {0.5, 0.5}, {0.3, 0.9}};

TEST(values_and_marginals_are_the_definitions_on_any_graph)
{
    OWNED(bucket_release) struct bucket bucket = {0};
    for (uint64_t index = 0; index < 150; index++) {
        struct sample s;
        uint8_t is_visible[MAX_NODES];
        int32_t label[MAX_NODES], y[MAX_NODES], k;
        bool fits;
        double value, marginals[MAX_NODES * MAX_LABELS], pairs[MAX_EDGES * MAX_LABELS * MAX_LABELS];
        double exact[MAX_NODES * MAX_LABELS], exact_pairs[MAX_EDGES * MAX_LABELS * MAX_LABELS];
        draw_sample(&s, index, form_of(index), (int32_t)(index % 7) - 1, 1, 1.5);
        k = s.field.n_labels;
        for (int32_t i = 0; i < s.field.n_nodes; i++) {
            is_visible[i] = rng_below(SEED, 1, index * 100 + (uint64_t)i, 2) > 0;
            label[i] = rng_below(SEED, 2, index * 100 + (uint64_t)i, 4) > 0
                           ? CLV_UNKNOWN
                           : (int32_t)rng_below(SEED, 3, index * 100 + (uint64_t)i, (uint32_t)k);
        }
        const double *t = temperatures[index % 5];
        const struct clv_forest_options options = {is_visible, t[0], t[1], index % 3 == 0 ? label : NULL};
        must(bucket_fits(&bucket, &fits, &s.field, &options, CELLS_MAX, err));
        ck_assert_int_eq(fits, 1);
        must(bucket_run(&bucket, &(struct bucket_outputs){&value, marginals, pairs, y}, &s.field, &options, err));
        double best = enumerate(exact, exact_pairs, &s.field, is_visible, t[0], t[1], options.label);
        ck_assert_double_eq_tol(value, best, 1e-9);
        assert_near(marginals, exact, s.field.n_nodes * k, 1e-9);
        assert_near(pairs, exact_pairs, s.field.n_edges * k * k, 1e-9);
        for (int32_t i = 0; i < s.field.n_nodes; i++)
            for (int32_t a = 0; a < k; a++)
                ck_assert_double_le(marginals[i * k + a], marginals[i * k + y[i]]);
    }
}

TEST(graphs_too_wide_are_left_alone)
{
    enum { SIDE = 6, N = SIDE * SIDE };
    OWNED(bucket_release) struct bucket bucket = {0};
    int32_t edges[2 * N][2], m = 0;
    bool fits;
    for (int32_t i = 0; i < N; i++) {
        if (i % SIDE < SIDE - 1)
            memcpy(edges[m++], (int32_t[]){i, i + 1}, sizeof *edges);
        if (i < N - SIDE)
            memcpy(edges[m++], (int32_t[]){i, i + SIDE}, sizeof *edges);
    }
    const struct clv_forest_options options = {NULL, 1, 1, NULL};
    const struct clv_field field = {
        .n_nodes = N, .n_edges = m, .n_labels = 4, .form = CLV_PAIRWISE_POTTS, .edges = (const int32_t(*)[2])edges};
    static const size_t cells_max[] = {CELLS_MAX, 1000, 0, CELLS_MAX};
    for (int k = 0; k < 4; k++) {
        must(bucket_fits(&bucket, &fits, &field, &options, cells_max[k], err));
        ck_assert_int_eq(fits, cells_max[k] == CELLS_MAX);
    }
}

static enum clv_status once(const struct clv_field *field, struct clv_error *err)
{
    OWNED(bucket_release) struct bucket bucket = {0};
    const struct clv_forest_options options = {NULL, 1, 1, NULL};
    double value;
    bool fits;
    enum clv_status status = bucket_fits(&bucket, &fits, field, &options, CELLS_MAX, err);
    if (status == CLV_OK)
        status = bucket_run(&bucket, &(struct bucket_outputs){.value = &value}, field, &options, err);
    return status;
}

TEST(bad_scores_and_lack_of_memory_are_reported)
{
    struct sample s;
    draw_sample(&s, 3, CLV_PAIRWISE_FULL, 3, 1, 1);
    must_survive_failed_requests(once(&s.field, err));
    s.pairwise[2] = INFINITY;
    must_fail(CLV_ERR_DATA, "edge 0", once(&s.field, err));
}
