/* Thresholds of tags, tuned: no cut of the scores is better. */
#include <math.h>

#include "tags/small_tags.h"
#include "tags/tag_folds.h"

/* One tag: every cut of its scores tried by hand. */
TEST(a_tuned_threshold_is_the_best_cut)
{
    for (uint32_t trial = 0; trial < 30; trial++) {
        double scores[N], threshold, best = -1;
        uint8_t truth[N], tags[N];
        for (size_t l = 0; l < N; l++) {
            scores[l] = uniform(20 + trial, l) - 0.7;
            truth[l] = uniform(60 + trial, l) < scores[l] + 0.6;
        }
        for (size_t cut = 0; cut <= N; cut++) {
            struct clv_tag_score score;
            for (size_t l = 0; l < N; l++)
                tags[l] = cut < N ? scores[l] >= scores[cut] : 0;
            must(clv_tag_measure(&score, truth, tags, N, 1, err));
            best = fmax(best, score.f_macro);
        }
        struct clv_tag_score tuned;
        must(tag_tune_thresholds(&threshold, &(struct tag_scored){scores, truth, N, 1}, CLV_TAG_F_MACRO, err));
        for (size_t l = 0; l < N; l++)
            tags[l] = scores[l] > threshold;
        must(clv_tag_measure(&tuned, truth, tags, N, 1, err));
        ck_assert_double_eq_tol(tuned.f_macro, best, 1e-12);
    }
}

/* The goal's value by thresholds. */
static double goal_at(const double *threshold, const double *scores, const uint8_t *truth, enum clv_tag_goal goal)
{
    uint8_t tags[N * K];
    struct clv_tag_score score;
    for (size_t at = 0; at < N * K; at++)
        tags[at] = scores[at] > threshold[at % K];
    must(clv_tag_measure(&score, truth, tags, N, K, err));
    return tag_goal_value(&score, goal);
}

/* Better than the thresholds that they begin at, and no other cut of one tag's scores is better still. */
TEST(tuned_thresholds_are_best_tag_by_tag_for_every_goal)
{
    static const double zero[K];
    double scores[N * K], threshold[K];
    uint8_t truth[N * K];
    for (size_t at = 0; at < N * K; at++) {
        scores[at] = uniform(30, at) - 0.8;
        truth[at] = uniform(31, at) < scores[at] + 0.6;
    }
    for (int goal = CLV_TAG_EXACT; goal <= CLV_TAG_F_MICRO; goal++) {
        must(tag_tune_thresholds(threshold, &(struct tag_scored){scores, truth, N, K}, (enum clv_tag_goal)goal, err));
        double tuned = goal_at(threshold, scores, truth, (enum clv_tag_goal)goal);
        ck_assert_double_gt(tuned, goal_at(zero, scores, truth, (enum clv_tag_goal)goal));
        for (size_t k = 0; k < K; k++) {
            double kept = threshold[k];
            for (size_t l = 0; l <= N; l++) {
                threshold[k] = l < N ? scores[l * K + k] : -10;
                ck_assert_double_le(goal_at(threshold, scores, truth, (enum clv_tag_goal)goal), tuned + 1e-9);
            }
            threshold[k] = kept;
        }
    }
}

/* The mean of neighbouring numbers is one of them, that of huge ones overflows, and 1 is lost beside 1e17. */
TEST(a_tuned_threshold_parts_scores_that_rounding_would_join)
{
    const double next = nextafter(1, 2),
                 pairs[][2] = {{next, nextafter(next, 2)}, {1e308, 1.5e308}, {-1.5e308, -1e308}};
    double threshold;
    for (size_t k = 0; k < 3; k++) {
        must(tag_tune_thresholds(&threshold, &(struct tag_scored){pairs[k], (const uint8_t[]){0, 1}, 2, 1},
                                 CLV_TAG_HAMMING, err));
        ck_assert(threshold >= pairs[k][0] && threshold < pairs[k][1]);
    }
    must(tag_tune_thresholds(&threshold, &(struct tag_scored){(const double[]){-1e17}, (const uint8_t[]){1}, 1, 1},
                             CLV_TAG_HAMMING, err));
    ck_assert(threshold < -1e17);
}
