/* The linear relaxation of complete graphs of tags, and the structured SVM that learns by it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tags/small_tags.h"
#include "tags/tags.h"

enum { TAGS = 6, PAIRS = TAGS * (TAGS - 1) / 2, MANY = CLV_MAX_ENUMERATED + 2 };

/* The relaxed objective, y by its digits in base 3; *is_whole: no halves. */
static double value_of(bool *is_whole, int8_t *y, const double *coupling, const double *scores, int digits)
{
    double value = 0;
    *is_whole = true;
    for (size_t i = 0, pair = 0; i < TAGS; i++, digits /= 3) {
        y[i] = (int8_t)(digits % 3 - 1);
        *is_whole &= y[i] != 0;
        value += scores[i] * y[i];
        for (size_t j = 0; j < i; j++, pair++)
            value += y[i] || y[j] ? coupling[pair] * y[i] * y[j] : fabs(coupling[pair]);
    }
    return value;
}

/* The optima of the relaxation are half-integral: looking at all of these is solving the linear program. */
TEST(a_cut_solves_the_linear_relaxation)
{
    int n_whole = 0, n_halves = 0, n_sure = 0;
    OWNED(tag_relaxation_release) struct tag_relaxation relaxation = {0};
    must(tag_relaxation_init(&relaxation, TAGS, err));
    for (uint32_t seed = 0; seed < 200; seed++) {
        double coupling[PAIRS], scores[TAGS], value, relaxed = -INFINITY, best = -INFINITY;
        int8_t y[TAGS], other[TAGS], best_y[TAGS];
        bool is_whole;
        for (size_t i = 0; i < TAGS; i++)
            scores[i] = rng_normal(seed, RNG_STREAM(RNG_TEST, 1), i);
        for (size_t c = 0; c < PAIRS; c++)
            coupling[c] = 0.2 * (seed % 5) * rng_normal(seed, RNG_STREAM(RNG_TEST, 2), c);
        must(tag_relax(y, &value, &relaxation, coupling, scores, err));
        for (int digits = 0; digits < 729; digits++) {
            double of = value_of(&is_whole, other, coupling, scores, digits);
            relaxed = fmax(relaxed, of);
            if (is_whole && of > best) {
                best = of;
                memcpy(best_y, other, TAGS);
            }
        }
        ck_assert_double_eq_tol(value, relaxed, 1e-6);
        ck_assert_double_ge(value, best - 1e-6); /* a bound */
        is_whole = true;
        for (size_t i = 0; i < TAGS; i++) {
            is_whole &= y[i] != 0;
            n_sure += y[i] != 0;
            ck_assert(y[i] == 0 || y[i] == best_y[i]);
        }
        if (is_whole)
            ck_assert_double_eq_tol(value, best, 1e-9);
        n_whole += is_whole;
        n_halves += !is_whole;
    }
    ck_assert_int_gt(n_whole, 20);
    ck_assert_int_gt(n_halves, 20);
    ck_assert_int_gt(n_sure, TAGS * n_whole); /* some labels besides halves, too */
}

/* Tags whose numbers leave one remainder by n_sorts mostly go together; those of different sorts exclude each other. */
static struct clv_tag_set many_tags(int n_sorts)
{
    struct clv_tag_set set = make_set();
    uint8_t *tags = calloc((size_t)N * MANY, 1);
    for (size_t l = 0; l < N; l++)
        for (size_t i = 0; i < MANY; i++)
            tags[l * MANY + i] = (set.tags[l * K] + i + (uniform(20, l * MANY + i) < 0.2)) % (size_t)n_sorts == 0;
    free(set.tags);
    set.tags = tags;
    set.n_tags = MANY;
    return set;
}

/* The documented objective times lambda, its maxima over the relaxation, at the model's scores[N][MANY]; *n_halves
 * labels of these are none. */
static double relaxed_objective(int *n_halves, const struct clv_tag_model *model,
                                const struct clv_tag_training *training, const double *scores)
{
    const struct clv_tag_set *set = training->set;
    double square = 0, couplings = 0, length = 0, hinge = 0;
    OWNED(tag_relaxation_release) struct tag_relaxation relaxation = {0};
    *n_halves = 0;
    must(tag_relaxation_init(&relaxation, MANY, err));
    for (int64_t k = 0; k < set->row[N]; k++)
        length += set->value[k] * set->value[k] / N;
    for (size_t k = 0; k < (size_t)MANY * D; k++)
        square += model->weight[k] * model->weight[k] * length;
    for (size_t i = 0; i < MANY; i++)
        square += model->bias[i] * model->bias[i];
    for (size_t l = 0; l < N; l++) {
        double augmented[MANY], value;
        int8_t y[MANY];
        for (size_t i = 0, pair = 0; i < MANY; i++) {
            int truth = set->tags[l * MANY + i] ? 1 : -1;
            augmented[i] = scores[l * MANY + i] - 0.5 * truth;
            hinge += 0.5 - scores[l * MANY + i] * truth;
            for (size_t j = 0; j < i; j++, pair++)
                hinge -= model->coupling[pair] * truth * (set->tags[l * MANY + j] ? 1 : -1);
        }
        must(tag_relax(y, &value, &relaxation, model->coupling, augmented, err));
        hinge += value;
        for (size_t i = 0; i < MANY; i++)
            *n_halves += !y[i];
    }
    for (size_t k = 0; k < (size_t)MANY * (MANY - 1) / 2; k++)
        couplings += model->coupling[k] * model->coupling[k];
    return training->parameters[CLV_TAG_LAMBDA] / 2 * (square + (1 + training->parameters[CLV_TAG_ETA0]) * couplings) +
           hinge / N;
}

TEST(a_structured_svm_of_many_tags_learns_by_the_relaxation)
{
    OWNED(clv_tag_set_release) struct clv_tag_set set = many_tags(2);
    struct clv_tag_training training = training_of(&set, "ssvm-full", 0);
    struct clv_tag_training_result result;
    OWNED(clv_tag_model_release) struct clv_tag_model model = {0};
    double scores[N * MANY], together = 0;
    int n_halves;
    training.parameters[CLV_TAG_LAMBDA] = 1;
    training.parameters[CLV_TAG_TOLERANCE] = 0.02;
    must(clv_tag_train(&model, &result, &training, err));
    ck_assert(result.is_converged);
    ck_assert_double_ge(result.primal, result.dual - 1e-9);
    ck_assert_double_le(result.primal, result.dual + 0.02);
    for (size_t i = 1, at = 0; i < MANY; i++)
        for (size_t j = 0; j < i; j++, at++)
            together += (i - j) % 2 ? -model.coupling[at] : model.coupling[at];
    ck_assert_double_gt(together, 0.1);
    must(clv_tag_scores(scores, &model, &set, 1, err));
    ck_assert_double_eq_tol(relaxed_objective(&n_halves, &model, &training, scores), result.primal, 1e-6);
    for (size_t l = 0; l < N; l++) {
        struct clv_belief_result found;
        uint8_t tags[MANY];
        must(clv_tag_decide(tags, &found, &model, scores + l * MANY, NULL, err));
        ck_assert_double_ge(found.loss, found.bound - 1e-6 * fabs(found.bound));
        ck_assert_double_gt(found.bound, -INFINITY);
    }
}

/* Of three that exclude each other no two can differ pairwise: halves are best where nothing else decides. */
TEST(halves_are_learned_from_as_halves)
{
    OWNED(clv_tag_set_release) struct clv_tag_set set = many_tags(3);
    struct clv_tag_training training = training_of(&set, "ssvm-full", 0);
    struct clv_tag_training_result result;
    OWNED(clv_tag_model_release) struct clv_tag_model model = {0};
    double scores[N * MANY];
    int n_halves;
    training.parameters[CLV_TAG_LAMBDA] = 0.1;
    training.parameters[CLV_TAG_TOLERANCE] = 0.1;
    must(clv_tag_train(&model, &result, &training, err));
    must(clv_tag_scores(scores, &model, &set, 1, err));
    ck_assert_double_eq_tol(relaxed_objective(&n_halves, &model, &training, scores), result.primal, 1e-6);
    ck_assert_int_gt(n_halves, N / 2);
    ck_assert_double_le(result.primal, result.dual + 0.1);
    ck_assert_double_ge(result.primal, result.dual - 1e-9);
}
