/* Decoding by candidates, on loops small enough for enumeration. */
#include "infer/bp/bp.h"
#include "infer/merit.h"
#include "support/exhaustive.h"
#include "support/requests.h"

/* Strong couplings of any sign. */
static void draw_loops(struct sample *s, uint8_t *is_visible, uint64_t index)
{
    draw_sample(s, index, form_of(index), 5, 1, 1.5);
    for (int32_t i = 0; i < s->field.n_nodes; i++)
        is_visible[i] = rng_below(SEED, 1, index * 100 + (uint64_t)i, 3) > 0;
}

TEST(the_best_labelling_is_missed_seldom_and_never_beaten)
{
    OWNED(loopy_release) struct loopy loopy = {0};
    int n_best[2] = {0}, n_drawn = 0;
    for (uint64_t index = 0; index < 300; index++) {
        struct sample s;
        int32_t y[MAX_NODES];
        uint8_t is_visible[MAX_NODES];
        draw_loops(&s, is_visible, index);
        if (s.field.n_labels > 3)
            continue;
        n_drawn++;
        for (int is_summed = 0; is_summed < 2; is_summed++) {
            const struct clv_decoding decoding = {is_summed ? CLV_DECODE_MARGINAL_MAP : CLV_DECODE_MAP, T_H};
            must(loopy_decode(&loopy, y, &s.field, is_visible, &decoding, err));
            double best, found = merit(&best, &s.field, y, is_visible, is_summed);
            ck_assert_double_le(found, best + 1e-9);
            n_best[is_summed] += found >= best - 1e-9;
        }
    }
    ck_assert_int_gt(n_best[0], n_drawn * 97 / 100);
    ck_assert_int_gt(n_best[1], n_drawn * 97 / 100);
}

TEST(marginals_choose_mostly_the_most_probable_labels)
{
    OWNED(loopy_release) struct loopy loopy = {0};
    int n_right = 0, n_nodes = 0;
    for (uint64_t index = 0; index < 300; index++) {
        struct sample s;
        int32_t y[MAX_NODES];
        uint8_t is_visible[MAX_NODES];
        double marginals[MAX_NODES * MAX_LABELS];
        const struct clv_decoding decoding = {.rule = CLV_DECODE_MARGINALS};
        draw_loops(&s, is_visible, index);
        must(loopy_decode(&loopy, y, &s.field, is_visible, &decoding, err));
        exhaustive(NULL, NULL, NULL, marginals, &s.field);
        for (int32_t i = 0; i < s.field.n_nodes; i++) {
            const double *p = &marginals[i * s.field.n_labels];
            double highest = 0;
            for (int32_t a = 0; a < s.field.n_labels; a++)
                highest = fmax(highest, p[a]);
            n_right += p[y[i]] >= highest - 1e-9;
            n_nodes++;
        }
    }
    ck_assert_int_gt(n_right, n_nodes * 94 / 100);
}

TEST(failed_requests_are_survived_and_bad_fields_refused)
{
    struct sample s;
    OWNED(loopy_release) struct loopy loopy = {0};
    int32_t y[MAX_NODES];
    uint8_t is_visible[MAX_NODES];
    draw_loops(&s, is_visible, 3);
    is_visible[0] = 0;
    for (int rule = CLV_DECODE_MAP; rule <= CLV_DECODE_MARGINALS; rule++) {
        const struct clv_decoding decoding = {(enum clv_decoding_rule)rule, T_H};
        must_survive_failed_requests(loopy_decode(&loopy, y, &s.field, is_visible, &decoding, err));
    }
    s.unary[0] = NAN;
    for (int rule = CLV_DECODE_MAP; rule <= CLV_DECODE_MARGINALS; rule++) {
        const struct clv_decoding decoding = {(enum clv_decoding_rule)rule, T_H};
        must_fail(CLV_ERR_DATA, "node 0", loopy_decode(&loopy, y, &s.field, is_visible, &decoding, err));
    }
}

TEST(what_was_released_decodes_again_and_may_be_released_twice)
{
    struct sample s;
    struct loopy loopy = {0};
    int32_t y[2][MAX_NODES];
    uint8_t is_visible[MAX_NODES];
    const struct clv_decoding decoding = {.rule = CLV_DECODE_MAP};
    draw_loops(&s, is_visible, 3);
    for (int k = 0; k < 2; k++) {
        must(loopy_decode(&loopy, y[k], &s.field, is_visible, &decoding, err));
        loopy_release(&loopy);
        loopy_release(&loopy);
    }
    ck_assert_mem_eq(y[0], y[1], (size_t)s.field.n_nodes * sizeof *y[0]);
}
