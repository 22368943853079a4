/* Files of models of two stages. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "model/model.h"
#include "model/small_model.h"

/* The same model as the second stage after a first one. */
static struct clv_model staged_model(void)
{
    struct clv_model model = small_model(CLV_PAIRWISE_POTTS);
    model.first = array_zalloc(1, sizeof *model.first);
    model.first->layout = model.layout;
    model.first->w = model.w;
    model.first->temperature = 0.25;
    model.layout = stage_next_layout(&model.first->layout, CLV_PAIRWISE_POTTS);
    size_t n = clv_weight_layout_size(&model.layout);
    model.w = array_alloc(n, sizeof *model.w);
    for (size_t i = 0; i < n; i++)
        model.w[i] = 0.25 + sin((double)i) / 4;
    return model;
}

TEST(two_stages_are_read_back)
{
    OWNED(clv_model_release) struct clv_model model = staged_model(), read = {0};
    must(clv_model_read(&read, write_model(&model, "m.cleave"), err));
    ck_assert_ptr_nonnull(read.first);
    ck_assert_mem_eq(&read.layout, &model.layout, sizeof model.layout);
    ck_assert_mem_eq(&read.first->layout, &model.first->layout, sizeof model.layout);
    ck_assert_mem_eq(read.w, model.w, clv_weight_layout_size(&model.layout) * sizeof *model.w);
    ck_assert_mem_eq(read.first->w, model.first->w, clv_weight_layout_size(&model.first->layout) * sizeof *model.w);
    ck_assert_double_eq(read.first->temperature, 0.25);
}

TEST(stages_that_do_not_fit_are_refused)
{
    static const struct {
        const char *old, *new, *part;
    } damages[] = {
        {"cleave model 2", "cleave model 1", "its recipe makes"},
        {"\"first\":", "\"farst\":", "its metadata has no \"first\""},
        {"\"first.unary", "\"furst.unary", "tensor \"first.unary\" is missing"},
        {"\"first.pairwise", "\"first.pairwose", "tensor \"first.pairwise\" is missing"},
        {"\\\"temperature\\\":0.25", "\\\"temperature\\\":-.25", "bad JSON"},
        {"\\\"temperature\\\":0.25", "\\\"temperature\\\":-125", "the first stage's temperature is -125"},
        {"\\\"temperature\\\"", "\\\"temperoture\\\"", "the first stage has no temperature"},
        {"n_edge_features\\\":5,\\\"pairwise", "n_edge_features\\\":4,\\\"pairwise", "do not come after a first stage"},
    };
    OWNED(clv_model_release) struct clv_model model = staged_model();
    for (size_t k = 0; k < sizeof damages / sizeof *damages; k++) {
        struct clv_model read = {.record = {.n = 77}};
        size_t size, length = strlen(damages[k].old), n_found = 0;
        const char *path = write_model(&model, "bad.cleave");
        OWNED_ARRAY char *bytes = slurp(path, &size);
        ck_assert_uint_eq(length, strlen(damages[k].new));
        for (size_t i = 0; i + length <= size; i++)
            if (memcmp(bytes + i, damages[k].old, length) == 0) {
                memcpy(bytes + i, damages[k].new, length);
                n_found++;
            }
        ck_assert_msg(n_found >= 1, "%s is not there", damages[k].old);
        spill(path, bytes, size);
        must_fail(CLV_ERR_DATA, damages[k].part, clv_model_read(&read, path, err));
        ck_assert_uint_eq(read.record.n, 77); /* unchanged */
    }
    const char *path = here("not.cleave");
    model.first->temperature = NAN;
    must_fail(CLV_ERR_DATA, "temperature is nan", clv_model_write(path, &model, err));
    model.first->temperature = 1;
    model.first->w[3] = NAN;
    must_fail(CLV_ERR_DATA, "unary weight 3 is nan", clv_model_write(path, &model, err));
    model.first->w[3] = 0;
    model.layout.n_features--;
    must_fail(CLV_ERR_DATA, "do not come after", clv_model_write(path, &model, err));
}

/* Three nodes without edges: the first stage's marginals are softmax of its scores, and a label costs its price times
 * one minus its log-odds of being there, from 0 to 3. */
TEST(labels_cost_the_less_the_likelier_they_are)
{
    enum { K = 3, D = 2, N = 3 };
    static const int64_t row[N + 1] = {0, 2, 4, 6};
    static const int32_t index[6] = {0, 1, 0, 1, 0, 1};
    static const float value[6] = {1, 0, 0, 1, 1, 1};
    const struct clv_problem problem = {
        .n_nodes = N, .n_features = D, .n_edge_features = 1, .row = row, .index = index, .value = value};
    struct clv_stage first = {.layout = {K, D, 1, CLV_PAIRWISE_NONE}, .temperature = 0.5};
    double w[K * D] = {0.5, -0.25, 0, 0.75, 0.1, 0}, weights[K * (3 + K)], cost[K], price = 2.5;
    first.w = w;
    OWNED(clv_model_release) struct clv_model model = {.layout = {K, D, 1, CLV_PAIRWISE_NONE}, .first = &first};
    bool is_free = false, is_dearest = false, is_between = false;
    for (uint64_t t = 0; t < 20; t++) {
        for (size_t c = 0; c < K * (3 + K); c++)
            weights[c] = 2 * rng_normal(4, 0, 100 * t + c);
        must(label_costs_attach(&model, weights, price, err));
        ck_assert(label_costs_are_there(&model));
        must(label_costs_of(cost, &model, &problem, err));
        double mean[K] = {0}, most[K] = {0};
        for (int i = 0; i < N; i++) {
            double score[K], sum = 0;
            for (int l = 0; l < K; l++)
                sum += score[l] =
                    exp(((double)value[2 * i] * w[D * l] + (double)value[2 * i + 1] * w[D * l + 1]) / 0.5);
            for (int l = 0; l < K; l++) {
                mean[l] += score[l] / sum / N;
                most[l] = fmax(most[l], score[l] / sum);
            }
        }
        for (int l = 0; l < K; l++) {
            const double *u = weights + (3 + K) * l;
            double score = u[0] + u[1] * log(mean[l] / (1 - mean[l])) / 3 + u[2] * log(most[l] / (1 - most[l])) / 3;
            for (int other = 0; other < K; other++)
                score += u[3 + other] * sqrt(mean[other]);
            ck_assert_double_eq_tol(cost[l], price * fmin(fmax(1 - score, 0), 3), 1e-9);
            is_free |= cost[l] == 0;
            is_dearest |= cost[l] == 3 * price;
            is_between |= cost[l] > 0 && cost[l] < 3 * price;
        }
    }
    ck_assert(is_free && is_dearest && is_between);
    model.first = NULL;
    must_fail(CLV_ERR_DATA, "no first stage", label_costs_of(cost, &model, &problem, err));
    model.first = &first;
    price = -1;
    must(label_costs_attach(&model, weights, price, err));
    must_fail(CLV_ERR_DATA, "holds -1, must be 0..1e50", label_costs_of(cost, &model, &problem, err));
    weights[7] = 1e60;
    must(label_costs_attach(&model, weights, 1, err));
    must_fail(CLV_ERR_DATA, "holds 1e+60, must be -1e50..1e50", label_costs_of(cost, &model, &problem, err));
    model.layout.n_labels = 4;
    must_fail(CLV_ERR_DATA, "is not f64 [4][8]", label_costs_of(cost, &model, &problem, err));
    model.first = NULL;
}
