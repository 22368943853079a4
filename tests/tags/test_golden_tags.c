/* What every learner of tags makes of a small set, with every kernel, form and goal, compared with
 * tests/golden/tags.tsv. Whoever changes a result on purpose writes the file anew,
 *
 *     CLEAVE_GOLDEN=write CK_RUN_SUITE=golden_tags CLEAVE_BUILD=build build/run-tests
 *
 * and looks at the difference. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "support/golden.h"
#include "tags/small_tags.h"
#include "tags/tag_folds.h"
#include "tags/tags.h"

static uint64_t digest_of_model(const struct clv_tag_model *model)
{
    size_t k = (size_t)model->n_tags;
    uint64_t digest = golden_doubles(HASH_START, "biases", model->bias, k);
    digest = golden_doubles(digest, "couplings", model->coupling,
                            clv_tag_coupling_count(model->form, model->n_tags, model->order));
    if (model->weight)
        digest = golden_doubles(digest, "weights", model->weight, k * (size_t)model->n_features);
    if (model->coefficient)
        digest = golden_doubles(digest, "coefficients", model->coefficient, k * model->n_vectors);
    if (model->scale)
        digest = golden_doubles(digest, "scales", model->scale, (size_t)model->n_features);
    digest = golden_doubles(digest, "gamma", &model->gamma, 1);
    return golden_bytes(digest, "order", model->tag_of, k * sizeof *model->tag_of);
}

static uint64_t add_decision(uint64_t digest, const struct clv_tag_model *model, const double *scores)
{
    uint8_t tags[CLV_MAX_ENUMERATED + 8];
    struct clv_belief_result result;
    const struct clv_belief_search search = {.max_nodes = 20000};
    must(clv_tag_decide(tags, &result, model, scores, &search, err));
    digest = golden_bytes(digest, "tags", tags, (size_t)model->n_tags);
    const double values[] = {result.loss, result.bound, result.is_optimal, (double)result.n_nodes};
    return golden_doubles(digest, "search", values, sizeof values / sizeof *values);
}

/* The model, the solver's bounds, and what the model says of every example. */
static void train_row(const struct clv_tag_training *training, const char *setting)
{
    OWNED(clv_tag_model_release) struct clv_tag_model model = {0};
    struct clv_tag_training_result result = {0};
    struct clv_error error = {0};
    const char *name = training->learner->name, *kernel = training->is_rbf ? "rbf" : "linear";
    if (clv_tag_train(&model, &result, training, &error) != CLV_OK) {
        golden_row(golden_bytes(HASH_START, "message", error.message, strlen(error.message)), "%s\t%s\t%s\trefused",
                   name, kernel, setting);
        return;
    }
    double scores[N * K];
    const double values[] = {result.primal, result.dual, result.n_passes, result.is_converged};
    uint64_t digest = golden_doubles(digest_of_model(&model), "bounds", values, sizeof values / sizeof *values);
    must(clv_tag_scores(scores, &model, training->set, 1, err));
    digest = golden_doubles(digest, "scores", scores, N * K);
    for (size_t l = 0; l < N; l++)
        digest = add_decision(digest, &model, scores + l * K);
    golden_row(digest, "%s\t%s\t%s\t%s", name, kernel, setting, clv_tag_form_name(model.form));
}

/* A training that ends soon. */
static struct clv_tag_training quick_training(const struct clv_tag_set *set, const char *learner, bool is_rbf)
{
    struct clv_tag_training training = training_of(set, learner, is_rbf);
    training.parameters[CLV_TAG_TOLERANCE] = 1e-3;
    training.parameters[CLV_TAG_PASSES] = 50;
    return training;
}

static void train_rows(const struct clv_tag_set *set, const struct clv_tag_learner *learner, bool is_rbf)
{
    struct clv_tag_training start = quick_training(set, learner->name, is_rbf), training = start;
    train_row(&training, "");
    training.is_scaled = true;
    train_row(&training, "scaled");
    training = start;
    training.is_in_f_order = true;
    train_row(&training, "in F order");
    training = start;
    training.n_folds = 3;
    training.n_repeats = 2;
    training.is_in_f_order = true;
    train_row(&training, "two repeats of three folds");
    for (int goal = CLV_TAG_EXACT; goal <= CLV_TAG_F_MICRO; goal++) {
        training = start;
        training.goal = (enum clv_tag_goal)goal;
        train_row(&training, formatted("goal %d", goal));
    }
    static const struct {
        int parameter;
        double value;
    } others[] = {{CLV_TAG_LAMBDA, 0.1}, {CLV_TAG_GAMMA, 0.2}, {CLV_TAG_ORDER, 1},        {CLV_TAG_ORDER, 3},
                  {CLV_TAG_ORDER, 4},    {CLV_TAG_ETA0, 2},    {CLV_TAG_TOLERANCE, 1e-5}, {CLV_TAG_PASSES, 2}};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        training = start;
        training.parameters[others[k].parameter] = others[k].value;
        train_row(&training, formatted("%s %g", clv_tag_parameters[others[k].parameter].name, others[k].value));
    }
}

/* Cross-validation's choice and measures. */
static void choice_rows(const struct clv_tag_set *set, const struct clv_tag_learner *learner, bool is_rbf)
{
    static const double lambda[] = {1, 0.01, 0.1}, gamma[] = {0.05, 0.5};
    const struct clv_tag_grid grid = {lambda, gamma, 3, 2};
    struct clv_tag_training training = quick_training(set, learner->name, is_rbf);
    for (int goal = CLV_TAG_EXACT; goal <= CLV_TAG_F_MICRO; goal++) {
        double parameters[CLV_TAG_PARAMETERS];
        struct clv_tag_score scores[6];
        size_t n = is_rbf ? 6 : 3;
        training.goal = (enum clv_tag_goal)goal;
        training.is_in_f_order = goal == CLV_TAG_F_MACRO;
        must(clv_tag_cross_validate(parameters, scores, &training, &grid, err));
        uint64_t digest = golden_doubles(HASH_START, "choice", parameters, CLV_TAG_PARAMETERS);
        for (size_t i = 0; i < n; i++)
            for (int of = CLV_TAG_EXACT; of <= CLV_TAG_F_MICRO; of++)
                digest = golden_doubles(digest, "measures",
                                        (double[]){tag_goal_value(&scores[i], (enum clv_tag_goal)of)}, 1);
        golden_row(digest, "%s\t%s\tgoal %d\tchosen", learner->name, is_rbf ? "rbf" : "linear", goal);
    }
}

TEST(every_learner_of_tags_makes_what_it_made)
{
    OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
    golden_begin();
    for (size_t i = 0; clv_tag_learner_at(i); i++)
        for (int is_rbf = 0; is_rbf < 2; is_rbf++) {
            const struct clv_tag_learner *learner = clv_tag_learner_at(i);
            train_rows(&set, learner, is_rbf);
            if (!is_rbf || !learner->is_structural)
                choice_rows(&set, learner, is_rbf);
        }
    golden_end("tags", "learner\tkernel\tsetting\tform\tdigest");
}

static double draw(uint32_t stream, uint64_t index)
{
    return 2 * uniform(stream, index) - 1;
}

/* Models of many tags, more than are enumerated. */
TEST(models_of_many_tags_decide_as_they_did)
{
    enum { TAGS = CLV_MAX_ENUMERATED + 2, DRAWS = 20 };
    static const enum clv_tag_form forms[] = {CLV_TAGS_INDEPENDENT, CLV_TAGS_LMSBN, CLV_TAGS_LMBM, CLV_TAGS_CHAIN,
                                              CLV_TAGS_FULL};
    golden_begin();
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (int32_t n_tags = 2; n_tags <= TAGS; n_tags += n_tags < 8 ? 1 : TAGS - 8) {
            double coupling[TAGS * TAGS], scores[TAGS], scale = 1.5 / sqrt(n_tags);
            int32_t tag_of[TAGS];
            struct clv_tag_model model = {.form = forms[f], .n_tags = n_tags, .order = 2, .tag_of = tag_of};
            uint64_t digest = HASH_START;
            model.coupling = coupling;
            for (int draw_of = 0; draw_of < DRAWS; draw_of++) {
                uint64_t at = (uint64_t)draw_of * TAGS * TAGS;
                for (size_t c = 0; c < clv_tag_coupling_count(forms[f], n_tags, 2); c++)
                    coupling[c] = scale * draw(10, at + c);
                for (int32_t i = 0; i < n_tags; i++) {
                    scores[i] = draw(11, at + (uint64_t)i);
                    tag_of[i] = (i * 3 + 1) % n_tags;
                }
                for (int32_t i = 0; i < n_tags && n_tags % 3 == 0; i++)
                    tag_of[i] = n_tags - 1 - i;
                digest = add_decision(digest, &model, scores);
            }
            golden_row(digest, "%s\t%d", clv_tag_form_name(forms[f]), n_tags);
        }
    golden_end("tag-decisions", "form\ttags\tdigest");
}

/* Thresholds stand halfway between the scores that they part, just above those that none has the tag of, and one below
 * the least where all have it; and stay 0 where that is as good. */
TEST(thresholds_are_halfway_between_the_scores_they_part)
{
    static const double scores[] = {-3, 2, 0.5, -2, 3, 1.5, -0.5, 4, 0.25, 1, -1, 2};
    static const uint8_t truth[] = {0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1};
    double threshold[3];
    must(tag_tune_thresholds(threshold, &(struct tag_scored){scores, truth, 4, 3}, CLV_TAG_HAMMING, err));
    ck_assert_double_eq(threshold[0], -2.5);
    ck_assert_double_eq(threshold[1], 4);
    ck_assert_double_eq(threshold[2], 0);
    static const double low[] = {-3, -2, -0.5};
    static const uint8_t all[] = {1, 1, 1};
    must(tag_tune_thresholds(threshold, &(struct tag_scored){low, all, 3, 1}, CLV_TAG_HAMMING, err));
    ck_assert_double_eq(threshold[0], -4);
}

/* The thresholds of tsbc are taken off the biases of bc: a tag is given where the score exceeds its threshold. */
TEST(tuned_thresholds_are_taken_off_the_biases)
{
    OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
    for (size_t l = 0; l < N; l++)
        for (size_t i = 0; i < K; i++)
            set.tags[l * K + i] = l % 6 == i; /* rare tags, that a classifier never gives */
    struct clv_tag_training plain = training_of(&set, "bc", false), tuned = training_of(&set, "tsbc", false);
    plain.parameters[CLV_TAG_LAMBDA] = tuned.parameters[CLV_TAG_LAMBDA] = 1;
    tuned.goal = CLV_TAG_F_MACRO;
    OWNED(clv_tag_model_release) struct clv_tag_model bc = {0}, tsbc = {0};
    must(clv_tag_train(&bc, NULL, &plain, err));
    must(clv_tag_train(&tsbc, NULL, &tuned, err));
    double below = 0;
    for (size_t i = 0; i < K; i++)
        below += tsbc.bias[i] > bc.bias[i]; /* the threshold of a rare tag is below 0 */
    ck_assert_double_ge(below, K - 1);
}
