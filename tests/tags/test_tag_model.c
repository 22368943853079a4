/* Models of tags: decisions against enumeration, scores against definitions, files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "support/support.h"
#include "tags/tags.h"

enum { K = 7, D = 4 };

static double normal(uint64_t seed, uint32_t stream, uint64_t index)
{
    return rng_normal(seed, RNG_STREAM(RNG_TEST, stream), index);
}

static struct clv_tag_model make_model(enum clv_tag_form form, int32_t n_tags, double coupling, uint64_t seed)
{
    size_t k = (size_t)n_tags, n = clv_tag_coupling_count(form, n_tags, 2);
    struct clv_tag_model model = {.form = form, .n_tags = n_tags, .n_features = D, .order = 2};
    model.tag_of = calloc(k, sizeof *model.tag_of);
    model.bias = calloc(k, sizeof *model.bias);
    model.weight = calloc(k * D, sizeof *model.weight);
    model.coupling = calloc(n + 1, sizeof *model.coupling);
    for (size_t i = 0; i < k; i++) {
        model.tag_of[i] = (int32_t)(k - 1 - i); /* the last tag is decided first */
        model.bias[i] = normal(seed, 3, i);
    }
    for (size_t i = 0; i < k * D; i++)
        model.weight[i] = normal(seed, 4, i);
    for (size_t i = 0; i < n; i++)
        model.coupling[i] = coupling * normal(seed, 5, i);
    return model;
}

/* The documented objective of a labelling: what is to be least. */
static double value_of(const struct clv_tag_model *model, const double *a, unsigned labelling)
{
    double value = 0, y[K];
    for (size_t i = 0; i < K; i++)
        y[i] = labelling >> i & 1 ? 1 : -1;
    for (size_t i = 0; i < K; i++) {
        double z = a[i];
        if (model->form == CLV_TAGS_LMSBN) {
            size_t p = K - 1 - i;
            for (size_t q = 0; q < p; q++)
                z += model->coupling[p * (p - 1) / 2 + q] * y[model->tag_of[q]];
        } else if (model->form == CLV_TAGS_LMBM) {
            for (size_t j = 0; j < K; j++)
                if (j != i)
                    z += model->coupling[i > j ? i * (i - 1) / 2 + j : j * (j - 1) / 2 + i] * y[j];
        } else {
            value -= a[i] * y[i];
            for (size_t j = 0; j < i; j++)
                if (model->form == CLV_TAGS_FULL)
                    value -= model->coupling[i * (i - 1) / 2 + j] * y[i] * y[j];
                else if (model->form == CLV_TAGS_CHAIN && j + 1 == i)
                    value -= model->coupling[j] * y[i] * y[j];
            continue;
        }
        value += fmax(0, 1 - y[i] * z);
    }
    return value;
}

TEST(every_form_decides_as_enumeration_does)
{
    static const enum clv_tag_form forms[] = {CLV_TAGS_LMSBN, CLV_TAGS_LMBM, CLV_TAGS_CHAIN, CLV_TAGS_FULL};
    for (uint64_t seed = 0; seed < 400; seed++) {
        OWNED(clv_tag_model_release) struct clv_tag_model model = make_model(forms[seed % 4], K, 0.6, seed);
        struct clv_belief_result result;
        double scores[K], least = INFINITY;
        uint8_t tags[K];
        unsigned labelling = 0;
        for (size_t i = 0; i < K; i++)
            scores[i] = normal(seed, 6, i);
        must(clv_tag_decide(tags, &result, &model, scores, NULL, err));
        for (unsigned y = 0; y < 1u << K; y++)
            least = fmin(least, value_of(&model, scores, y));
        for (size_t i = 0; i < K; i++)
            labelling |= (unsigned)tags[i] << i;
        ck_assert_msg(fabs(value_of(&model, scores, labelling) - least) < 1e-9 && fabs(result.loss - least) < 1e-9 &&
                          result.is_optimal,
                      "%s, seed %llu: %g, least %g", clv_tag_form_name(model.form), (unsigned long long)seed,
                      result.loss, least);
    }
}

TEST(more_tags_than_can_be_enumerated_are_near_the_best_where_that_is_known)
{
    enum { MANY = 24 };
    for (uint64_t seed = 0; seed < 10; seed++) {
        OWNED(clv_tag_model_release) struct clv_tag_model model = make_model(CLV_TAGS_FULL, MANY, 0.02, seed);
        struct clv_belief_result result;
        double scores[MANY], value = 0;
        uint8_t tags[MANY];
        for (size_t i = 0; i < MANY; i++)
            scores[i] = normal(seed, 6, i) > 0 ? 2 : -2; /* stronger than all couplings together: signs decide */
        must(clv_tag_decide(tags, &result, &model, scores, NULL, err));
        for (size_t i = 0, at = 0; i < MANY; i++) {
            ck_assert_int_eq(tags[i], scores[i] > 0);
            value -= fabs(scores[i]);
            for (size_t j = 0; j < i; j++, at++)
                value -= model.coupling[at] * (tags[i] == tags[j] ? 1 : -1);
        }
        ck_assert_double_eq_tol(result.loss, value, 1e-9);
        ck_assert(result.is_optimal); /* the relaxation says so */
    }
}

TEST(scores_are_those_of_the_definition)
{
    int64_t row[] = {0, 2, 2, 5};
    int32_t index[] = {0, 3, 1, 2, 9}; /* feature 9 is not the model's */
    double value[] = {2, -1, 0.5, 4, 3}, x[3][10] = {{2, 0, 0, -1}, {0}, {0, 0.5, 4, 0, 0, 0, 0, 0, 0, 3}},
           scores[3 * 2];
    struct clv_tag_set set = {.n = 3, .n_features = 10, .n_tags = 2, .row = row, .index = index, .value = value};
    OWNED(clv_tag_model_release) struct clv_tag_model model = make_model(CLV_TAGS_LMSBN, 2, 0, 1);
    must(clv_tag_scores(scores, &model, &set, 2, err));
    for (size_t l = 0; l < 3; l++)
        for (size_t i = 0; i < 2; i++) {
            double sum = model.bias[i];
            for (size_t f = 0; f < D; f++)
                sum += model.weight[i * D + f] * x[l][f];
            ck_assert_double_eq_tol(scores[l * 2 + i], sum, 1e-12);
        }
    double scale[] = {2, 1, 0.5, 1}, vectors[2][10] = {{1, 1}, {0, 0, 0, 2}}, v_value[] = {1, 1, 2},
           c[] = {1, -2, 0.5, 3};
    model.gamma = 0.1;
    model.n_vectors = 2;
    model.row = (int64_t[]){0, 2, 3};
    model.index = (int32_t[]){0, 1, 3};
    model.value = v_value;
    model.coefficient = c;
    model.scale = scale;
    must(clv_tag_scores(scores, &model, &set, 1, err));
    for (size_t l = 0; l < 3; l++)
        for (size_t i = 0; i < 2; i++) {
            double sum = model.bias[i];
            for (size_t v = 0; v < 2; v++) {
                double distance = 0;
                for (size_t f = 0; f < 10; f++)
                    distance += pow(x[l][f] * (f < D ? scale[f] : 1) - vectors[v][f], 2);
                sum += c[i * 2 + v] * exp(-0.1 * distance);
            }
            ck_assert_double_eq_tol(scores[l * 2 + i], sum, 1e-12);
        }
    model.row = NULL;
    model.index = NULL;
    model.value = model.coefficient = model.scale = NULL;
}

TEST(a_file_gives_the_model_back)
{
    const char *path = here("m.cleave"), *again = here("n.cleave");
    OWNED(clv_tag_model_release) struct clv_tag_model model = make_model(CLV_TAGS_LMSBN, K, 0.5, 2), read = {0};
    char buffer[16];
    model.names = calloc(K, sizeof *model.names);
    for (size_t i = 0; i < K; i++)
        model.names[i] = strdup(formatted("tag \"%zu\"", i));
    must(clv_record_set(&model.record, "learner", "x", err));
    must(clv_record_set(&model.record, "learner", "lmsbn", err));
    must(clv_tag_model_write(path, &model, err));
    must(clv_tag_model_read(&read, path, err));
    ck_assert(read.form == CLV_TAGS_LMSBN && read.n_tags == K && read.order == 2 && read.record.n == 1);
    ck_assert_str_eq(clv_record_get(&read.record, "learner"), "lmsbn");
    ck_assert_str_eq(clv_tag_name(&read, 2, buffer), "tag \"2\"");
    ck_assert_mem_eq(read.coupling, model.coupling, clv_tag_coupling_count(model.form, K, 2) * sizeof(double));
    must(clv_tag_model_write(again, &read, err));
    size_t size[2];
    char *bytes[2] = {slurp(path, &size[0]), slurp(again, &size[1])};
    ck_assert(size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0);
    free(bytes[0]);
    free(bytes[1]);
}

/* Writes a model that something was done to, and expects reading to refuse it. */
static void expect_bad_file(const struct clv_tag_model *model, const char *part)
{
    const char *path = here("bad.cleave");
    struct clv_tag_model read = {.n_tags = 77};
    must(clv_tag_model_write(path, model, err));
    must_fail(CLV_ERR_DATA, part, clv_tag_model_read(&read, path, err));
    ck_assert(read.n_tags == 77 && !read.bias);
}

TEST(bad_files_are_refused_by_value)
{
    OWNED(clv_tag_model_release) struct clv_tag_model model = make_model(CLV_TAGS_LMSBN, K, 0.5, 2);
    struct clv_tag_model read = {0};
    model.tag_of[1] = model.tag_of[0];
    expect_bad_file(&model, "decision 1 is tag 6, which is out of range or there twice");
    model.tag_of[1] = 5;
    model.bias[3] = NAN;
    expect_bad_file(&model, "value 3 of \"bias\" is nan");
    model.bias[3] = 0;
    model.coupling[2] = -INFINITY;
    expect_bad_file(&model, "value 2 of \"coupling\" is -inf");
    model.coupling[2] = 0;
    model.form = CLV_TAGS_FULL;
    model.order = 3;
    expect_bad_file(&model, "order 3 of form full, which couples tags in pairs");
    model.order = 2;
    model.form = CLV_TAGS_LMSBN;
    double value[] = {1}, coefficient[K] = {0};
    model.gamma = 1;
    model.n_vectors = 1;
    model.row = (int64_t[]){0, 1};
    model.index = (int32_t[]){D};
    model.value = value;
    model.coefficient = coefficient;
    expect_bad_file(&model, "feature 4 of support vector 0 is out of range");
    model.row = NULL;
    model.index = NULL;
    model.value = model.coefficient = NULL;
    const char *path = here("none");
    must_fail(CLV_ERR_NO_INPUT, "none", clv_tag_model_read(&read, path, err));
    const char *const metadata[][2] = {{"format", "cleave tags 9"}};
    must(clv_tensors_write(path, NULL, 0, metadata, 1, err));
    must_fail(CLV_ERR_DATA, "a model of tags of version \"9\", this program reads version 1",
              clv_tag_model_read(&read, path, err));
    must(clv_tensors_write(path, NULL, 0, NULL, 0, err));
    must_fail(CLV_ERR_DATA, "not a cleave model of tags", clv_tag_model_read(&read, path, err));
}
