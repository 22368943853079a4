/* The bounds that the dual of the concave-convex procedure stands on. */
#include "learn/hidden/hidden.h"
#include "learn/hidden/hidden_toy.h"

enum { SIZE = 3 * 2 + 9 * 2, EXAMPLES = 4 };

static double plane_at(const struct hidden_dual *dual, size_t i, const double *w)
{
    double value = dual->height[i];
    for (size_t k = 0; k < SIZE; k++)
        value += dual->slope[i * SIZE + k] * w[k];
    return value;
}

static double free_term(struct hidden *hidden, int32_t i, const double *w)
{
    double gradient[SIZE];
    must(hidden_gradient(gradient, NULL, NULL, hidden, &(struct hidden_pass){HIDDEN_FREE, &i, 1, w}, err));
    return hidden->items[i].free;
}

/* Examples whose truth is the best labelling of w by far; nodes are mixed of labels, so that the truth has a loss. */
static void toy_of(struct toy *toy, const double *w)
{
    static struct random_problem r;
    toy_begin(toy, 3, 2, 2, CLV_PAIRWISE_FULL);
    for (size_t i = 0; i < EXAMPLES; i++) {
        int32_t y[NODES] = {0}, best_y[NODES] = {0};
        double best = -INFINITY;
        fill(&r, &full3, CHAINS, 900 + i);
        for (bool is_more = true; is_more;) {
            double psi[SIZE] = {0}, score = 0;
            clv_joint_feature_add(psi, &r.problem, &full3, y, 1);
            for (size_t k = 0; k < SIZE; k++)
                score += psi[k] * w[k];
            if (score > best) {
                best = score;
                memcpy(best_y, y, sizeof y);
            }
            int at = 0;
            while (at < NODES && ++y[at] == 3)
                y[at++] = 0;
            is_more = at < NODES;
        }
        for (int32_t k = 0; k < NODES; k += 2) {
            r.label[k] = best_y[k];
            for (int32_t b = 0; b < 3; b++)
                r.theta[k * 3 + b] = b == best_y[k] ? 0.7F : 0.15F;
        }
        toy_add(toy, &r.problem);
    }
}

TEST(first_planes_are_below_the_free_terms_and_touch_them_where_the_truth_wins)
{
    OWNED(toy_release) struct toy toy = {0};
    struct clv_training training;
    OWNED(hidden_release) struct hidden hidden = {0};
    OWNED(hidden_dual_release) struct hidden_dual dual = {0};
    double w[SIZE], other[SIZE];
    random_weights(w, &full3, 3);
    for (size_t k = 0; k < SIZE; k++)
        w[k] *= 300; /* beyond any loss */
    toy_of(&toy, w);
    open_toy(&hidden, &training, &toy, 0, 0, 0.5);
    must(hidden_dual_open(&dual, &hidden, 0.1, err));
    must(hidden_dual_lay(&dual, w, err));
    for (int32_t i = 0; i < EXAMPLES; i++) {
        ck_assert_double_gt(hidden.examples.truth_loss[i], 0.5);
        double term = free_term(&hidden, i, w);
        ck_assert_double_eq_tol(plane_at(&dual, (size_t)i, w), term, 1e-9 * fabs(term));
        for (uint64_t seed = 0; seed < 5; seed++) {
            random_weights(other, &full3, 50 + seed);
            ck_assert_double_le(plane_at(&dual, (size_t)i, other), free_term(&hidden, i, other) + 1e-9);
        }
    }
}
