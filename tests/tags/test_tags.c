/* Learning tags: the solver's optimum, forms that must agree, cross-validation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tags/dual_coordinate.h"
#include "tags/small_tags.h"
#include "tags/tag_folds.h"
#include "tags/tags.h"

static struct clv_tag_model train(const struct clv_tag_training *training, struct clv_tag_training_result *result)
{
    struct clv_tag_model model = {0};
    must(clv_tag_train(&model, result, training, err));
    return model;
}

static double y_of(const struct clv_tag_set *set, size_t l, size_t tag)
{
    return set->tags[l * K + tag] ? 1 : -1;
}

/* A linear model's z of tag i on example l, from its own weights. */
static double z_of(const struct clv_tag_model *model, const struct clv_tag_set *set, size_t l, size_t i)
{
    double z = model->bias[i];
    for (int64_t k = set->row[l]; k < set->row[l + 1]; k++)
        z += model->weight[i * D + (size_t)set->index[k]] * set->value[k];
    size_t p = 0;
    while ((size_t)model->tag_of[p] != i)
        p++;
    for (size_t q = 0; q < K && model->order > 1; q++) {
        size_t other = (size_t)model->tag_of[q];
        if (model->form == CLV_TAGS_LMSBN && q < p)
            z += model->coupling[p * (p - 1) / 2 + q] * y_of(set, l, other);
        if (model->form == CLV_TAGS_LMBM && q != p)
            z += model->coupling[p > q ? p * (p - 1) / 2 + q : q * (q - 1) / 2 + p] * y_of(set, l, other);
    }
    return z * y_of(set, l, i);
}

/* The documented objective times lambda, written down anew. */
static double objective(const struct clv_tag_model *model, const struct clv_tag_training *training)
{
    const struct clv_tag_set *set = training->set;
    double hinge = 0, square = 0, couplings = 0, length = 0;
    for (int64_t k = 0; k < set->row[N]; k++)
        length += set->value[k] * set->value[k] / N;
    for (size_t l = 0; l < N; l++)
        for (size_t i = 0; i < K; i++)
            hinge += fmax(0, 1 - z_of(model, set, l, i));
    for (size_t k = 0; k < K * D; k++)
        square += model->weight[k] * model->weight[k] * length;
    for (size_t i = 0; i < K; i++)
        square += model->bias[i] * model->bias[i];
    for (size_t k = 0; k < clv_tag_coupling_count(model->form, K, model->order); k++)
        couplings += model->coupling[k] * model->coupling[k];
    return training->parameters[CLV_TAG_LAMBDA] / 2 * (square + (1 + training->parameters[CLV_TAG_ETA0]) * couplings) +
           hinge / N;
}

static void expect_minimum(const char *learner, double eta0)
{
    OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
    struct clv_tag_training training = training_of(&set, learner, 0);
    struct clv_tag_training_result result;
    training.parameters[CLV_TAG_ETA0] = eta0;
    training.parameters[CLV_TAG_TOLERANCE] = 1e-9;
    training.parameters[CLV_TAG_PASSES] = 100000;
    OWNED(clv_tag_model_release) struct clv_tag_model model = train(&training, &result);
    double least = objective(&model, &training);
    ck_assert_msg(result.is_converged && result.primal - result.dual <= K * 1e-9, "%s: gap %g", learner,
                  result.primal - result.dual);
    ck_assert_double_eq_tol(least, result.primal, 1e-9);
    /* The dual bounds it from below: no step from here may lower the objective by more than the gap. */
    size_t n_couplings = clv_tag_coupling_count(model.form, K, model.order);
    for (uint32_t trial = 0; trial < 300; trial++) {
        double size = pow(10, -4 * uniform(3, trial));
        for (size_t k = 0; k < K * D; k++)
            model.weight[k] += size * (uniform(10 + trial, k) - 0.5);
        for (size_t k = 0; k < n_couplings; k++)
            model.coupling[k] += size * (uniform(1000 + trial, k) - 0.5);
        ck_assert_msg(objective(&model, &training) >= result.dual, "%s: trial %u", learner, trial);
        for (size_t k = 0; k < K * D; k++)
            model.weight[k] -= size * (uniform(10 + trial, k) - 0.5);
        for (size_t k = 0; k < n_couplings; k++)
            model.coupling[k] -= size * (uniform(1000 + trial, k) - 0.5);
    }
}

TEST(trained_weights_minimise_the_documented_objective)
{
    expect_minimum("bc", 0);
    expect_minimum("lmsbn", 0);
    expect_minimum("lmsbn", 3);
    expect_minimum("lmbm", 0);
    expect_minimum("lmbm", 3); /* the extra regulariser: w_j = sum / eta_j */
}

TEST(a_feature_too_small_to_be_scaled_is_left_as_it_is)
{
    OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
    OWNED(clv_tag_model_release) struct clv_tag_model model = {0};
    for (int64_t k = 0; k < set.row[N]; k++)
        if (set.index[k] == 2)
            set.value[k] *= 1e-310;
    struct clv_tag_training training = training_of(&set, "bc", 0);
    training.is_scaled = true;
    must(clv_tag_train(&model, NULL, &training, err));
    ck_assert(model.scale[2] == 1 && model.scale[1] > 0.4 && model.scale[1] < 1);
}

TEST(the_mean_distance_is_that_of_all_pairs)
{
    OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
    const struct clv_tag_training training = training_of(&set, "bc", 0);
    double expected = 0, mean = 0;
    for (size_t a = 0; a < N; a++)
        for (size_t b = 0; b < N; b++) {
            double difference[D] = {0};
            for (int64_t k = set.row[a]; k < set.row[a + 1]; k++)
                difference[set.index[k]] += set.value[k];
            for (int64_t k = set.row[b]; k < set.row[b + 1]; k++)
                difference[set.index[k]] -= set.value[k];
            for (int f = 0; f < D; f++)
                expected += difference[f] * difference[f] / (N * N);
        }
    must(clv_tag_mean_distance(&mean, &training, err));
    ck_assert_double_eq_tol(mean, expected, 1e-9 * expected);
}

/* A mean distance of 1e-14 gives a gamma above 1e9; squares of 1e-160 are subnormal, and 1 / mean would be infinite. */
TEST(gamma_suits_values_of_any_size)
{
    static const double factors[] = {1e-7, 1e-160};
    for (int f = 0; f < 2; f++) {
        OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
        OWNED(clv_tag_model_release) struct clv_tag_model model = {0};
        struct clv_tag_training training = training_of(&set, "bc", 1);
        double mean = -1;
        for (int64_t k = 0; k < set.row[N]; k++)
            set.value[k] *= factors[f];
        must(clv_tag_mean_distance(&mean, &training, err));
        ck_assert(f ? mean == 0 : mean > 0 && mean < 1e-9);
        training.parameters[CLV_TAG_GAMMA] = mean > 0 ? 2.5 / mean : 0;
        must(clv_tag_train(&model, NULL, &training, err));
        ck_assert_double_eq(model.gamma, mean > 0 ? 2.5 / mean : 1);
    }
}

TEST(the_duality_gap_is_below_a_millionth_by_default)
{
    static const char *const names[] = {"bc", "lmsbn", "lmbm"};
    OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
    for (int i = 0; i < 6; i++) {
        struct clv_tag_training training = training_of(&set, names[i % 3], i / 3);
        struct clv_tag_training_result result;
        OWNED(clv_tag_model_release) struct clv_tag_model model = train(&training, &result);
        double gap = result.primal - result.dual;
        ck_assert_msg(result.is_converged && gap >= -1e-12 && gap <= K * 1e-6, "%s: gap %g", names[i % 3], gap);
    }
}

/* The kernel solver sees only products: with those of the inputs it must find what the linear one finds. */
TEST(a_gram_matrix_of_products_gives_the_linear_solution)
{
    OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
    OWNED_ARRAY double *gram = calloc(N * N, sizeof *gram);
    double nothing = 0, alpha[2][N], w[D], weighed[D];
    int8_t y[N];
    for (size_t l = 0; l < N; l++) {
        y[l] = set.tags[l * K] ? 1 : -1;
        for (size_t m = 0; m < N; m++)
            for (int64_t k = set.row[l]; k < set.row[l + 1]; k++)
                for (int64_t j = set.row[m]; j < set.row[m + 1]; j++)
                    if (set.index[k] == set.index[j])
                        gram[l * N + m] += set.value[k] * set.value[j];
    }
    struct hinge_result results[2];
    for (int kind = 0; kind < 2; kind++) {
        OWNED(hinge_inputs_release) struct hinge_inputs inputs = {.n = N,
                                                                  .row = set.row,
                                                                  .index = set.index,
                                                                  .value = set.value,
                                                                  .n_features = D,
                                                                  .gram = kind ? gram : NULL,
                                                                  .bias = 0.7};
        struct hinge_tag tag = {.y = y, .phi = &nothing, .v = &nothing, .alpha = alpha[kind], .w = kind ? weighed : w};
        struct hinge_block block = {.inputs = &inputs, .tags = &tag, .n_tags = 1, .c = 2, .eta = 1};
        struct hinge_options options = {.tolerance = 1e-11, .max_passes = 100000, .seed = (uint64_t)kind};
        must(hinge_inputs_init(&inputs, err));
        must(hinge_solve(&results[kind], &block, &options, err));
        ck_assert(results[kind].is_converged);
        if (kind)
            hinge_weigh(&tag, &inputs);
        if (kind)
            continue;
        double value = tag.b * tag.b / (0.7 * 0.7) / 2; /* of the header: the bias is 0.7 times a weight */
        for (size_t k = 0; k < D; k++)
            value += w[k] * w[k] / 2;
        for (size_t l = 0; l < N; l++) {
            double z = tag.b;
            for (int64_t k = set.row[l]; k < set.row[l + 1]; k++)
                z += w[set.index[k]] * set.value[k];
            value += 2 * fmax(0, 1 - y[l] * z);
        }
        ck_assert_double_eq_tol(value, results[0].primal, 1e-8);
    }
    ck_assert_double_eq_tol(results[0].primal, results[1].primal, 1e-8);
    ck_assert_double_eq_tol(results[0].primal, results[0].dual, 1e-8);
    for (size_t k = 0; k < D; k++)
        ck_assert_double_eq_tol(w[k], weighed[k], 1e-5);
}

/* A warm start comes to the same solution, sooner; alphas beyond the bound are cut. */
TEST(dual_variables_of_another_c_are_a_start)
{
    OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
    double nothing = 0, alpha[N], w[D];
    int8_t y[N];
    for (size_t l = 0; l < N; l++)
        y[l] = set.tags[l * K] ? 1 : -1;
    OWNED(hinge_inputs_release) struct hinge_inputs inputs = {
        .n = N, .row = set.row, .index = set.index, .value = set.value, .n_features = D, .bias = 0.7};
    struct hinge_tag tag = {.y = y, .phi = &nothing, .v = &nothing, .alpha = alpha, .w = w};
    struct hinge_block block = {.inputs = &inputs, .tags = &tag, .n_tags = 1, .eta = 1};
    struct hinge_result cold, warm;
    must(hinge_inputs_init(&inputs, err));
    for (int way = 0; way < 2; way++) { /* from a smaller C, and from a larger one */
        struct hinge_options options = {.tolerance = 1e-11, .max_passes = 100000};
        block.c = 2;
        must(hinge_solve(&cold, &block, &options, err));
        block.c = way ? 2.2 : 1.8;
        must(hinge_solve(&warm, &block, &options, err));
        options.warm = way ? 1 : 2 / block.c;
        block.c = 2;
        must(hinge_solve(&warm, &block, &options, err));
        ck_assert(cold.is_converged && warm.is_converged);
        ck_assert_double_eq_tol(warm.primal, cold.primal, 1e-8);
        ck_assert_int_lt(warm.n_passes, cold.n_passes);
        for (size_t l = 0; l < N; l++)
            ck_assert(alpha[l] >= 0 && alpha[l] <= block.c);
    }
}

static int same_numbers(const double *a, const double *b, size_t n)
{
    return memcmp(a, b, n * sizeof *a) == 0;
}

TEST(without_couplings_every_form_is_the_binary_classifiers_exactly)
{
    static const char *const others[] = {"lmsbn", "lmbm"};
    OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
    for (int is_rbf = 0; is_rbf < 2; is_rbf++) {
        struct clv_tag_training training = training_of(&set, "bc", is_rbf);
        OWNED(clv_tag_model_release) struct clv_tag_model binary = train(&training, NULL);
        double a[N * K], b[N * K];
        must(clv_tag_scores(a, &binary, &set, 1, err));
        for (size_t i = 0; i < 2; i++) {
            training.learner = clv_tag_learner_find(others[i]);
            training.parameters[CLV_TAG_ORDER] = 1;
            OWNED(clv_tag_model_release) struct clv_tag_model model = train(&training, NULL);
            must(clv_tag_scores(b, &model, &set, 1, err));
            ck_assert_msg(same_numbers(a, b, N * K) && same_numbers(binary.bias, model.bias, K), "%s", others[i]);
            for (size_t l = 0; l < N; l++) {
                uint8_t tags[2][K];
                must(clv_tag_decide(tags[0], NULL, &binary, a + l * K, NULL, err));
                must(clv_tag_decide(tags[1], NULL, &model, b + l * K, NULL, err));
                ck_assert_mem_eq(tags[0], tags[1], K);
            }
        }
    }
}

TEST(the_number_of_threads_changes_nothing)
{
    static const char *const names[] = {"lmsbn", "tsbc", "ssvm-full"};
    OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
    for (size_t i = 0; i < 3; i++) {
        struct clv_tag_model models[2];
        double scores[2][N * K];
        for (int t = 0; t < 2; t++) {
            struct clv_tag_training training = training_of(&set, names[i], i == 0);
            training.is_in_f_order = true;
            training.n_threads = t ? 4 : 1;
            training.parameters[CLV_TAG_PASSES] = 50;
            models[t] = train(&training, NULL);
            must(clv_tag_scores(scores[t], &models[t], &set, t ? 4 : 1, err));
        }
        ck_assert(same_numbers(scores[0], scores[1], N * K));
        ck_assert_mem_eq(models[0].tag_of, models[1].tag_of, K * sizeof *models[0].tag_of);
        ck_assert(same_numbers(models[0].coupling, models[1].coupling,
                               clv_tag_coupling_count(models[0].form, K, models[0].order)));
        clv_tag_model_release(&models[0]);
        clv_tag_model_release(&models[1]);
    }
}

TEST(couplings_pay_where_tags_depend_on_each_other)
{
    OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
    struct clv_tag_training training = training_of(&set, "bc", 0);
    struct clv_tag_training_result binary, network, third;
    OWNED(clv_tag_model_release) struct clv_tag_model model = train(&training, &binary);
    clv_tag_model_release(&model);
    training.learner = clv_tag_learner_find("lmsbn");
    model = train(&training, &network);
    ck_assert(network.primal < binary.primal - 0.01);
    clv_tag_model_release(&model);
    training.parameters[CLV_TAG_ORDER] = 3; /* more products can only fit better */
    model = train(&training, &third);
    ck_assert(third.primal < network.primal);
    ck_assert_int_eq(model.order, 3);
}

TEST(structured_svms_come_near_their_dual_bound)
{
    static const char *const names[] = {"ssvm-chain", "ssvm-full"};
    OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
    double primal[2];
    for (size_t i = 0; i < 2; i++) {
        struct clv_tag_training training = training_of(&set, names[i], 0);
        struct clv_tag_training_result result;
        training.parameters[CLV_TAG_LAMBDA] = 0.1;
        OWNED(clv_tag_model_release) struct clv_tag_model model = train(&training, &result);
        ck_assert_msg(result.primal - result.dual >= 0 && result.primal - result.dual < 2e-3 * result.primal,
                      "%s: %g %g", names[i], result.primal, result.dual);
        primal[i] = result.primal;
    }
    ck_assert(primal[1] <= primal[0] + 2e-3); /* the complete graph contains the chain */
}

TEST(tags_are_put_in_the_sequence_of_their_f)
{
    const uint8_t truth[] = {1, 0, 1, 1, /**/ 1, 1, 1, 0}, tags[] = {1, 1, 0, 1, /**/ 0, 1, 0, 0};
    int32_t tag_of[4];
    tag_order_by_f(tag_of, truth, tags, 2, 4); /* F: 2/3, 2/3, 0, 1 */
    ck_assert_mem_eq(tag_of, ((int32_t[]){3, 0, 1, 2}), sizeof tag_of);
}

/* Fits of folds stop at a gap of 0.001, unless a looser one was asked for. */
TEST(cross_validation_does_not_fit_to_the_last_digit)
{
    OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
    struct clv_tag_training training = training_of(&set, "lmsbn", 0);
    struct clv_tag_score scores[2][2];
    const double lambda[] = {1e-4, 1e-2}, tolerance[] = {1e-9, 1e-3, 0.5};
    const struct clv_tag_grid grid = {lambda, NULL, 2, 0};
    struct clv_tag_score loose[2];
    training.n_folds = 4;
    for (int k = 0; k < 3; k++) {
        training.parameters[CLV_TAG_TOLERANCE] = tolerance[k];
        must(clv_tag_cross_validate(training.parameters, k < 2 ? scores[k] : loose, &training, &grid, err));
        ck_assert_double_eq(training.parameters[CLV_TAG_TOLERANCE], tolerance[k]);
    }
    ck_assert_mem_eq(scores[0], scores[1], 2 * sizeof *scores[0]);
    ck_assert_mem_ne(scores[0], loose, sizeof loose);
}

/* Of few examples that have several features each, and not all the same ones. */
TEST(products_of_examples_give_the_fit_of_their_features)
{
    enum { FEW = 18 };
    OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
    struct clv_tag_training training = training_of(&set, "lmsbn", 0);
    OWNED(tag_problem_release) struct tag_problem problem = {0};
    struct clv_tag_model models[2];
    int32_t examples[FEW];
    for (int32_t l = 0; l < FEW; l++)
        examples[l] = 3 * l;
    training.parameters[CLV_TAG_TOLERANCE] = 1e-9;
    must(tag_problem_init(&problem, &training, err));
    for (int is_compared = 0; is_compared < 2; is_compared++) {
        const struct tag_fit_task task = {.problem = &problem,
                                          .examples = examples,
                                          .n = FEW,
                                          .form = CLV_TAGS_LMSBN,
                                          .parameters = training.parameters,
                                          .seed = 3,
                                          .n_threads = 1,
                                          .is_compared = is_compared};
        struct clv_tag_training_result result;
        must(tag_fit(&models[is_compared], &result, &task, err));
    }
    ck_assert_mem_ne(models[0].weight, models[1].weight, K * D * sizeof(double)); /* they round in other ways */
    for (size_t k = 0; k < K * D; k++)
        ck_assert_double_eq_tol(models[0].weight[k], models[1].weight[k], 1e-5);
    for (int k = 0; k < 2; k++)
        clv_tag_model_release(&models[k]);
}

TEST(cross_validation_prefers_what_generalises)
{
    OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
    struct clv_tag_training training = training_of(&set, "lmsbn", 1);
    struct clv_tag_score scores[4], again[4];
    const double lambda[] = {1e3, 0.01}, gamma[] = {0.1, 1e4};
    const struct clv_tag_grid grid = {lambda, gamma, 2, 2};
    training.n_folds = 4;
    training.n_repeats = 2;
    must(clv_tag_cross_validate(training.parameters, scores, &training, &grid, err));
    ck_assert(training.parameters[CLV_TAG_LAMBDA] == 0.01 && training.parameters[CLV_TAG_GAMMA] == 0.1);
    ck_assert(scores[2].exact_match > scores[0].exact_match && scores[2].exact_match > scores[3].exact_match);
    training.n_threads = 3;
    must(clv_tag_cross_validate(training.parameters, again, &training, &grid, err));
    ck_assert_mem_eq(scores, again, sizeof scores);
}

static bool is_same_model(const struct clv_tag_model *a, const struct clv_tag_model *b)
{
    size_t n_couplings = clv_tag_coupling_count(a->form, a->n_tags, a->order), k = (size_t)a->n_tags;
    return a->order == b->order && a->gamma == b->gamma && a->n_vectors == b->n_vectors &&
           same_numbers(a->bias, b->bias, k) && same_numbers(a->coupling, b->coupling, n_couplings) &&
           (!a->weight || same_numbers(a->weight, b->weight, k * (size_t)a->n_features)) &&
           (!a->coefficient || same_numbers(a->coefficient, b->coefficient, k * a->n_vectors));
}

/* If clv_tag_unused_reason gives a reason, no value of the parameter changes the model, else one does. */
TEST(a_parameter_changes_the_model_or_says_why_not)
{
    static const double values[] = {0.01, 1, 2, 3, 1000};
    OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
    for (int setting = 0; setting < 4; setting++)
        for (size_t l = 0; clv_tag_learner_at(l); l++) {
            const struct clv_tag_learner *learner = clv_tag_learner_at(l);
            struct clv_tag_training training = training_of(&set, learner->name, setting % 2);
            if (learner->is_structural && training.is_rbf)
                continue;
            training.parameters[CLV_TAG_PASSES] = 200;
            training.parameters[CLV_TAG_ORDER] = setting < 2 ? 2 : 1;
            OWNED(clv_tag_model_release) struct clv_tag_model base = train(&training, NULL);
            for (int k = 0; k < CLV_TAG_PARAMETERS; k++) {
                const struct clv_parameter *p = &clv_tag_parameters[k];
                struct clv_tag_training other = training;
                bool differs = false;
                for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
                    OWNED(clv_tag_model_release) struct clv_tag_model model = {0};
                    other.parameters[k] = fmin(fmax(values[v], p->minimum), p->maximum);
                    if (clv_tag_train(&model, NULL, &other, NULL))
                        continue; /* an order that this learner does not have */
                    differs |= !is_same_model(&base, &model);
                }
                const char *why = clv_tag_unused_reason(&training, (enum clv_tag_parameter)k);
                ck_assert_msg(differs == !why, "%s, order %g, %s: --%s %s: %s", learner->name,
                              training.parameters[CLV_TAG_ORDER], training.is_rbf ? "rbf" : "linear", p->name,
                              differs ? "changes the model" : "changes nothing", why ? why : "said to have an effect");
            }
        }
}

TEST(bad_trainings_are_refused_by_value)
{
    OWNED(clv_tag_set_release) struct clv_tag_set set = make_set();
    struct clv_tag_training training = training_of(&set, "ssvm-full", 1);
    struct clv_tag_model model = {0};
    must_fail(CLV_ERR_USAGE, "ssvm-full learns with the linear kernel only",
              clv_tag_train(&model, NULL, &training, err));
    training.is_rbf = false;
    set.n_tags = 1025;
    must_fail(CLV_ERR_USAGE, "1025 tags are too many, the limit is 1024", clv_tag_train(&model, NULL, &training, err));
    set.n_tags = K;
    training.parameters[CLV_TAG_ORDER] = 3;
    must_fail(CLV_ERR_USAGE, "ssvm-full couples tags in pairs; order is 3",
              clv_tag_train(&model, NULL, &training, err));
    training.parameters[CLV_TAG_ORDER] = 2;
    training.parameters[CLV_TAG_LAMBDA] = NAN;
    must_fail(CLV_ERR_USAGE, "lambda is nan", clv_tag_train(&model, NULL, &training, err));
    ck_assert_ptr_null(model.bias);
}
