#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cleave/learn.h"
#include "data/data.h"
#include "infer/infer.h"
#include "model/model.h"
#include "model/small_model.h"
#include "support/exhaustive.h"
#include "support/support.h"

TEST(what_is_written_is_read_back)
{
    for (int form = CLV_PAIRWISE_NONE; form <= CLV_PAIRWISE_FULL; form++) {
        OWNED(clv_model_release) struct clv_model model = small_model((enum clv_pairwise)form);
        struct clv_model read = {0};
        const float variance[2][2] = {{1, 2}, {3, NAN}};
        struct clv_tensor extra = {.name = "variance", .dtype = CLV_F32, .n_dimensions = 2, .shape = {2, 2}};
        extra.data = variance;
        must(clv_model_attach(&model, &extra, err));
        if (form == CLV_PAIRWISE_FULL)
            model.decoding = (struct clv_decoding){CLV_DECODE_MARGINAL_MAP, 0.3};
        must(clv_model_read(&read, write_model(&model, "m.cleave"), err));
        ck_assert_mem_eq(&read.layout, &model.layout, sizeof model.layout);
        ck_assert_int_eq(read.decoding.rule, model.decoding.rule);
        ck_assert_double_eq(read.decoding.hidden_temperature, model.decoding.hidden_temperature);
        ck_assert_mem_eq(read.w, model.w, clv_weight_layout_size(&model.layout) * sizeof *model.w);
        ck_assert(read.has_recipe);
        struct clv_recipe a = model.recipe, b = read.recipe;
        for (int s = 0; s < CLV_MAX_SCALES; s++) {
            ck_assert_int_eq(a.codebooks[s].n_words, b.codebooks[s].n_words);
            if (a.codebooks[s].n_words)
                ck_assert_mem_eq(a.codebooks[s].centres, b.codebooks[s].centres, 3 * CLV_DESCRIPTOR_SIZE);
            a.codebooks[s].centres = b.codebooks[s].centres = NULL;
        }
        ck_assert_mem_eq(&a, &b, sizeof a);
        ck_assert_int_eq(read.labels.n_labels, 2);
        ck_assert_str_eq(read.labels.names[1], "foreground");
        ck_assert_mem_eq(read.labels.palette, model.labels.palette, 768);
        ck_assert_ptr_null(memchr(read.labels.is_void, 1, sizeof read.labels.is_void));
        ck_assert_uint_eq(read.record.n, 3);
        ck_assert_str_eq(read.record.entries[0].key, "learner");
        ck_assert_str_eq(read.record.entries[0].value, "perceptron");
        ck_assert_str_eq(read.record.entries[2].key, "a");
        ck_assert_str_eq(clv_record_get(&read.record, "objective"), "0.7 0.5\n0.3 \"quoted\"");
        ck_assert_ptr_null(clv_record_get(&read.record, "seed"));
        const struct clv_tensor *attached = clv_model_attached(&read, "variance");
        ck_assert_ptr_nonnull(attached);
        ck_assert_int_eq(attached->shape[1], 2);
        ck_assert_mem_eq(attached->data, variance, sizeof variance);
        ck_assert_ptr_null(clv_model_attached(&read, "unary"));

        size_t n, m;
        OWNED_ARRAY char *first = slurp(here("m.cleave"), &n);
        OWNED_ARRAY char *second = slurp(write_model(&read, "again.cleave"), &m);
        ck_assert_uint_eq(n, m);
        ck_assert_mem_eq(first, second, n);
        clv_model_release(&read);
        clv_model_release(&read);
    }
}

TEST(models_without_a_recipe_and_with_named_labels_are_read_back)
{
    OWNED(clv_model_release) struct clv_model model = {.layout = {3, 5, 2, CLV_PAIRWISE_FULL}}, read = {0};
    const char *labels = here("labels.tsv");
    const char text[] = "value\tname\tred\tgreen\tblue\n0\tvoid\t9\t9\t9\n1\tcow\t1\t2\t3\n2\tgr\xc3\xa4s\t4\t5\t6\n";
    spill(labels, text, sizeof text - 1);
    must(clv_labels_read(&model.labels, labels, err));
    model.w = array_zalloc(clv_weight_layout_size(&model.layout), sizeof *model.w);
    model.w[7] = -1e-310;
    must(clv_model_read(&read, write_model(&model, "m"), err));
    ck_assert(!read.has_recipe && read.labels.from_file && read.labels.is_void[0]);
    ck_assert_str_eq(read.labels.names[2], "gr\xc3\xa4s");
    ck_assert_double_eq(read.w[7], -1e-310);
    ck_assert_uint_eq(read.record.n, 0);
}

TEST(void_values_are_read_back_and_checked)
{
    static const int32_t voids[][4] = {{-1}, {2, -1}, {0, 1, -1}, {0, 2, 254, -1}};
    for (int k = 0; k < 4; k++) {
        OWNED(clv_model_release) struct clv_model model = small_model(CLV_PAIRWISE_POTTS);
        struct clv_model read = {0};
        uint8_t expected[256] = {0};
        for (int i = 0; voids[k][i] >= 0; i++)
            model.labels.is_void[voids[k][i]] = expected[voids[k][i]] = 1;
        const char *path = write_model(&model, "void");
        must(clv_model_read(&read, path, err));
        ck_assert_mem_eq(read.labels.is_void, expected, sizeof expected);
        clv_model_release(&read);
        if (k == 3) {
            size_t size;
            OWNED_ARRAY char *bytes = slurp(path, &size);
            char *list = memmem(bytes, size, "[2,254]", 7);
            ck_assert_ptr_nonnull(list);
            memcpy(list, "[2,255]", 7);
            spill(path, bytes, size);
            must_fail(CLV_ERR_DATA, "more_void of its labels has a value that is not in 0 to 254",
                      clv_model_read(&read, path, err));
            memcpy(list, "2      ", 7);
            spill(path, bytes, size);
            must_fail(CLV_ERR_DATA, "more_void of its labels is not a list", clv_model_read(&read, path, err));
        }
    }
}

TEST(attached_tensors_are_replaced_by_name)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    const uint8_t one[1] = {1}, two[2] = {2, 2};
    struct clv_tensor tensor = {.name = "t", .dtype = CLV_U8, .n_dimensions = 1, .shape = {1}, .data = one};
    must(clv_model_attach(&model, &tensor, err));
    tensor.shape[0] = 2;
    tensor.data = two;
    must(clv_model_attach(&model, &tensor, err));
    ck_assert_uint_eq(model.n_extra, 1);
    ck_assert_int_eq(clv_model_attached(&model, "t")->shape[0], 2);
    tensor.shape[0] = -1;
    must_fail(CLV_ERR_USAGE, "\"t\": type or shape", clv_model_attach(&model, &tensor, err));
}

TEST(models_that_could_not_be_read_are_not_written)
{
    struct clv_model model = small_model(CLV_PAIRWISE_POTTS);
    const char *path = here("m.cleave");
    double kept = model.w[4];
    model.w[4] = NAN;
    must_fail(CLV_ERR_DATA, "m.cleave: unary weight 4 is nan", clv_model_write(path, &model, err));
    model.w[4] = kept;
    size_t first = clv_weight_layout_unary_size(&model.layout);
    kept = model.w[first + 1];
    model.w[first + 1] = -0.5;
    must_fail(CLV_ERR_DATA, "coupling 1 is -0.5", clv_model_write(path, &model, err));
    model.w[first + 1] = kept;
    model.layout.n_features--;
    must_fail(CLV_ERR_DATA, "its recipe makes", clv_model_write(path, &model, err));
    model.layout.n_features++;
    model.layout.n_labels = 3;
    must_fail(CLV_ERR_DATA, "weights for 3 labels, names for 2", clv_model_write(path, &model, err));
    model.layout.n_labels = 2;
    model.layout.pairwise = (enum clv_pairwise)7;
    must_fail(CLV_ERR_USAGE, "unknown pairwise form 7", clv_model_write(path, &model, err));
    model.layout.pairwise = CLV_PAIRWISE_POTTS;
    must_fail(CLV_ERR_IO, "/dev/full", clv_model_write("/dev/full", &model, err));
    OWNED(path_list_release) struct path_list left = {0};
    must(folder_walk(&left, temporary_folder(), err));
    ck_assert_uint_eq(left.n, 0);
    clv_model_release(&model);
    must_fail(CLV_ERR_USAGE, "no weights", clv_model_write(path, &model, err));
}

/* Reads the model file with `old` replaced by `new` (the same length) wherever it stands. */
static void expect_bad(const char *old, const char *new, const char *part)
{
    size_t size, length = strlen(old), n_found = 0;
    ck_assert_uint_eq(length, strlen(new));
    OWNED(clv_model_release) struct clv_model model = small_model(CLV_PAIRWISE_POTTS);
    struct clv_model read = {.record = {.n = 77}};
    const char *path = write_model(&model, "bad.cleave");
    OWNED_ARRAY char *bytes = slurp(path, &size);
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(bytes + i, old, length) == 0) {
            memcpy(bytes + i, new, length);
            n_found++;
        }
    ck_assert_uint_ge(n_found, 1);
    spill(path, bytes, size);
    must_fail(CLV_ERR_DATA, part, clv_model_read(&read, path, err));
    must_fail(CLV_ERR_DATA, "bad.cleave: ", clv_model_read(&read, path, err));
    ck_assert_uint_eq(read.record.n, 77); /* unchanged */
}

TEST(damaged_models_are_refused_with_file_and_value)
{
    expect_bad("cleave model 1", "cleave fodel 1", "not a cleave model (format \"cleave fodel 1\")");
    expect_bad("cleave model 1", "cleave model 3",
               "a cleave model of version \"3\", this program reads version 1 and 2");
    expect_bad("cleave model 1", "cleave model 2", "its metadata has no \"first\"");
    expect_bad("\"format\":", "\"farmat\":", "not a cleave model (format \"\")");
    expect_bad("n_labels\\\":2", "n_labels\\\":3", "weights for 3 labels, names for 2");
    expect_bad("n_labels\\\":2", "n_labels\\\":x", "bad JSON");
    expect_bad("\\\"n_labels", "\\\"m_labels", "\"n_labels\" is missing");
    expect_bad("\\\"potts\\\"", "\\\"pitts\\\"", "pairwise form \"pitts\"");
    expect_bad("\\\"potts\\\"", "\\\"fulls\\\"", "pairwise form \"fulls\"");
    expect_bad("pairwise\\\"", "decoding\\\"", "pairwise form \"\"");
    expect_bad("\"recipe\":", "\"racipe\":", "its metadata has no \"recipe\"");
    expect_bad("\"record\":", "\"racord\":", "its metadata has no \"record\"");
    expect_bad("\"labels\":", "\"lobels\":", "its metadata has no \"labels\"");
    expect_bad("n_words\\\":3", "n_words\\\":4", "\"codebook.0\": its shape is [3, 128], not [4, 128]");
    expect_bad("n_scales\\\":2", "n_scales\\\":1", "n_features is");
    expect_bad("n_scales\\\":2", "n_scales\\\":9", "n_scales is 9, must be 1..4");
    expect_bad("n_scales", "m_scales", "a \"m_scales\" that this version does not know");
    expect_bad("blocks\\\":31", "blocks\\\":.5", "bad JSON");
    expect_bad("blocks\\\":31", "blocks\\\":-5", "blocks is -5");
    expect_bad("\\\"n_scales\\\":2", "\\\"step_px\\\" :2", "duplicate");
    expect_bad("\"palette\":", "\"palette\";", "bad JSON");
    expect_bad("palette", "pilette", "tensor \"palette\" is missing");
    expect_bad("codebook.1", "codebook.3", "tensor \"codebook.1\" is missing");
    expect_bad("pairwise\":{", "poirwise\":{", "tensor \"pairwise\" is missing");
    expect_bad("foreground", "for\\u000gd", "bad JSON");
    expect_bad("void_value\\\":-1", "void_value\\\":-2", "void_value of its labels is missing or not in -1 to 254");
}

TEST(weights_that_are_not_finite_are_refused)
{
    OWNED(clv_model_release) struct clv_model model = small_model(CLV_PAIRWISE_POTTS);
    struct clv_model read = {0};
    size_t size, n_unary = clv_weight_layout_unary_size(&model.layout);
    const double bad[] = {NAN, INFINITY, -INFINITY, -1};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t at = bad[i] == -1 ? n_unary : i == 1 ? n_unary + 1 : 5;
        const char *path = write_model(&model, "bad.cleave");
        OWNED_ARRAY char *bytes = slurp(path, &size);
        for (size_t k = 0; k + 8 <= size; k += 8)
            if (memcmp(bytes + k, &model.w[at], 8) == 0)
                memcpy(bytes + k, &bad[i], 8);
        spill(path, bytes, size);
        const char *part = bad[i] == -1 ? "bad.cleave: coupling 0 is -1"
                           : i == 1     ? "bad.cleave: pairwise weight 1 is inf"
                                        : formatted("bad.cleave: unary weight 5 is %g", bad[i]);
        must_fail(CLV_ERR_DATA, part, clv_model_read(&read, path, err));
    }
}

TEST(models_cut_short_or_with_tensors_of_others_are_refused)
{
    OWNED(clv_model_release) struct clv_model model = small_model(CLV_PAIRWISE_POTTS);
    struct clv_model read = {0};
    const char *path = write_model(&model, "bad.cleave");
    size_t size;
    OWNED_ARRAY char *bytes = slurp(path, &size);
    for (size_t cut = 0; cut < size; cut += cut < 64 ? 1 : 97) {
        spill(path, bytes, cut);
        must_fail(CLV_ERR_DATA, "bad.cleave: ", clv_model_read(&read, path, err));
    }
    must_fail(CLV_ERR_NO_INPUT, "absent", clv_model_read(&read, "/nowhere/absent", err));

    const uint8_t x = 0;
    struct clv_tensor tensor = {.name = "x", .dtype = CLV_U8, .n_dimensions = 0, .data = &x};
    must(clv_tensors_write(path, &tensor, 1, NULL, 0, err));
    must_fail(CLV_ERR_DATA, "not a cleave model (format \"\")", clv_model_read(&read, path, err));
}

/* A chain of three nodes whose unaries are the features themselves. */
TEST(prediction_is_the_maximum_of_the_field)
{
    struct clv_model model = {.layout = {2, 1, 1, CLV_PAIRWISE_POTTS}};
    struct clv_problem problem = {.n_nodes = 3,
                                  .n_edges = 2,
                                  .n_features = 1,
                                  .n_edge_features = 1,
                                  .row = (const int64_t[]){0, 1, 2, 3},
                                  .index = (const int32_t[]){0, 0, 0},
                                  .value = (const float[]){3, -1, 2},
                                  .edges = (const int32_t[][2]){{0, 1}, {1, 2}},
                                  .edge_features = (const float[]){1, 1}};
    double w[2] = {1, 0.25};
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    model.w = w;
    int32_t y[3];
    must(clv_model_predict(y, &model, &problem, oracle, err));
    ck_assert_mem_eq(y, ((int32_t[]){1, 0, 1}), sizeof y);
    w[1] = 2; /* couplings that outweigh the middle node's doubt */
    must(clv_model_predict(y, &model, &problem, oracle, err));
    ck_assert_mem_eq(y, ((int32_t[]){1, 1, 1}), sizeof y);
    model.layout.pairwise = CLV_PAIRWISE_NONE;
    must(clv_model_predict(y, &model, &problem, oracle, err));
    ck_assert_mem_eq(y, ((int32_t[]){1, 0, 1}), sizeof y);
    problem.n_features = 2;
    must_fail(CLV_ERR_DATA, "2 features", clv_model_predict(y, &model, &problem, oracle, err));
}

/* Without edges nothing is drawn. */
TEST(marginals_without_edges_are_the_logistic_function_and_the_softmax)
{
    enum { DRAWS = 20 };
    struct clv_model model = {.layout = {2, 1, 0, CLV_PAIRWISE_NONE}};
    struct clv_problem problem = {.n_nodes = 3,
                                  .n_features = 1,
                                  .row = (const int64_t[]){0, 1, 2, 3},
                                  .index = (const int32_t[]){0, 0, 0},
                                  .value = (const float[]){3, -1, 0.25F}};
    double w[3] = {0.5, -0.5, 1}, marginals[9], bound, standard_error, exact_bound = 0;
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    model.w = w;
    for (int32_t k = 2; k <= 3; k++) {
        model.layout.n_labels = k;
        must(clv_model_marginals(marginals, &bound, &standard_error, &model, &problem, oracle, 5, DRAWS, err));
        exact_bound = 0;
        for (int32_t i = 0; i < 3; i++) {
            double total = 0, x = (double)problem.value[i];
            for (int32_t a = 0; a < k; a++)
                total += exp(k == 2 ? a * w[0] * x : w[a] * x);
            exact_bound += log(total);
            for (int32_t a = 0; a < k; a++) {
                double p = exp(k == 2 ? a * w[0] * x : w[a] * x) / total;
                ck_assert_double_eq_tol(marginals[i * k + a], p, 1e-12);
            }
        }
        ck_assert_double_eq_tol(bound, exact_bound, 1e-12);
        ck_assert(standard_error == 0);
    }
    must(clv_record_set(&model.record, "learner", "ssvm", err)); /* a margin has no scale: any is as good */
    must(clv_model_marginals(marginals, NULL, NULL, &model, &problem, oracle, 5, DRAWS, err));
    ck_assert(marginals[2] > 0.9 && marginals[3] < 0.9);
    for (int a = 0; a < 3; a++)
        w[a] *= 1e-4;
    double smaller[9];
    must(clv_model_marginals(smaller, NULL, NULL, &model, &problem, oracle, 5, DRAWS, err));
    for (int a = 0; a < 9; a++)
        ck_assert_double_eq_tol(smaller[a], marginals[a], 1e-3);
    record_release(&model.record);
    must_fail(CLV_ERR_USAGE, "0 samples",
              clv_model_marginals(marginals, NULL, NULL, &model, &problem, oracle, 5, 0, err));
    const int stop = 1;
    clv_oracle_watch(oracle, &stop);
    must_fail(CLV_ERR_INTERRUPTED, "interrupted",
              clv_model_marginals(marginals, NULL, NULL, &model, &problem, oracle, 5, 1, err));
    clv_oracle_watch(oracle, NULL);
    problem.n_features = 2;
    must_fail(CLV_ERR_DATA, "2 features",
              clv_model_marginals(marginals, NULL, NULL, &model, &problem, oracle, 5, 1, err));
}

/* The record's word counts; a record from before it had one names its learner. */
TEST(what_scores_are_is_said_by_the_record_or_known_of_the_learner)
{
    static const struct {
        const char *learner, *scores;
        enum clv_scores expected;
    } cases[] = {
        {NULL, NULL, CLV_SCORES_LIKELIHOOD},
        {"ssvm", NULL, CLV_SCORES_MARGIN},
        {"crf", NULL, CLV_SCORES_WEIGHTED_LIKELIHOOD},
        {"hcrf", NULL, CLV_SCORES_WEIGHTED_LIKELIHOOD},
        {"wmpmap", NULL, CLV_SCORES_WEIGHTED_LIKELIHOOD},
        {"wmpmap", "margin", CLV_SCORES_MARGIN},
        {"ssvm", "likelihood", CLV_SCORES_LIKELIHOOD},
        {"mine", "weighted likelihood", CLV_SCORES_WEIGHTED_LIKELIHOOD},
        {"pmap", "something else", CLV_SCORES_LIKELIHOOD},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct clv_model model = {.w = NULL};
        if (cases[k].learner)
            must(clv_record_set(&model.record, "learner", cases[k].learner, err));
        if (cases[k].scores)
            must(clv_record_set(&model.record, "scores", cases[k].scores, err));
        ck_assert_int_eq(clv_model_scores(&model), cases[k].expected);
        record_release(&model.record);
    }
    const struct clv_learner *learner;
    for (size_t at = 0; (learner = clv_learner_at(at)); at++) { /* the table of names knows what learners say */
        struct clv_model model = {.w = NULL};
        must(clv_record_set(&model.record, "learner", learner->name, err));
        ck_assert_int_eq(clv_model_scores(&model), learner->scores);
        record_release(&model.record);
    }
}

/* A chain of two labels with a table in the model, and a tree of three with couplings: against the sum over all
 * labellings, whatever the learner; a margin's scores are rescaled to a mean size of 3 first. */
TEST(marginals_of_chains_and_trees_are_exact)
{
    static const int32_t edges[2][3][2] = {{{0, 1}, {1, 2}, {2, 3}}, {{0, 3}, {1, 3}, {2, 3}}};
    static const char *const learners[] = {"crf", "ssvm", "mssvm"};
    double w[3 + 9] = {0.5, 0.25, 1, 0.75, -1, 0.5, 0.25, 1.5, -0.5, 0.125, -2, 1}, unary[12], pairwise[27], found[12];
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (int k = 0; k < 3 * 2 * 4; k++) {
        int32_t n_labels = k & 1 ? 3 : 2;
        enum clv_pairwise form = k & 2 ? CLV_PAIRWISE_FULL : CLV_PAIRWISE_POTTS;
        struct clv_model model = {.layout = {n_labels, 1, 1, form}, .w = w};
        model.decoding.rule = k / 8 == 2 ? CLV_DECODE_MARGINAL_MAP : CLV_DECODE_ORACLE;
        struct clv_problem problem = {.n_nodes = 4,
                                      .n_edges = 3,
                                      .n_features = 1,
                                      .n_edge_features = 1,
                                      .row = (const int64_t[]){0, 1, 2, 3, 4},
                                      .index = (const int32_t[]){0, 0, 0, 0},
                                      .value = (const float[]){3, -1, 2, 0.5F},
                                      .edges = edges[k >> 2 & 1],
                                      .edge_features = (const float[]){1, 0.5F, 2}};
        must(clv_record_set(&model.record, "learner", learners[k / 8], err));
        double exact[12], bound, expected, error, sum = 0;
        enum clv_marginals kind;
        must(clv_model_marginals(found, &bound, &error, &model, &problem, oracle, 1, 1, err));
        must(clv_model_marginals_kind(&kind, &model, &problem, err));
        ck_assert_int_eq(kind, CLV_MARGINALS_EXACT);
        struct clv_field field = {.n_nodes = 4,
                                  .n_edges = 3,
                                  .n_labels = n_labels,
                                  .form = form,
                                  .edges = problem.edges,
                                  .unary = unary,
                                  .pairwise = pairwise};
        size_t n_unary = n_labels == 2 ? 4 : 12,
               n_pairwise = form == CLV_PAIRWISE_FULL ? (size_t)(3 * n_labels * n_labels) : 3;
        clv_unary_scores(unary, &problem, &model.layout, w);
        clv_pairwise_scores(pairwise, &problem, &model.layout, w);
        for (size_t c = 0; c < n_unary; c++)
            sum += fabs(unary[c]);
        double scale = k / 8 == 0 ? 1 : 3 * (double)n_unary / sum;
        for (size_t c = 0; c < n_unary; c++)
            unary[c] *= scale;
        for (size_t c = 0; c < n_pairwise; c++)
            pairwise[c] *= scale;
        exhaustive(NULL, NULL, &expected, exact, &field);
        for (int c = 0; c < 4 * n_labels; c++)
            ck_assert_double_eq_tol(found[c], exact[c], 1e-11);
        ck_assert_double_eq_tol(bound, expected, 1e-10);
        ck_assert(error == 0);
        record_release(&model.record);
    }
}

/* A changed byte is harmless where it only moves blanks of the header; every other one is noticed. */
TEST(every_changed_bit_of_a_model_is_noticed)
{
    OWNED(clv_model_release) struct clv_model model = small_model(CLV_PAIRWISE_POTTS), read = {0};
    const char *path = write_model(&model, "whole.cleave");
    size_t size;
    OWNED_ARRAY char *bytes = slurp(path, &size);
    ck_assert_ptr_nonnull(memmem(bytes, size, "\"digest\":\"fnv1a:", 16));
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == ' ')
            continue;
        char kept = bytes[i];
        bytes[i] = (char)(kept ^ (1 << i % 8));
        spill(here("changed.cleave"), bytes, size);
        must_fail(CLV_ERR_DATA, "changed.cleave: ", clv_model_read(&read, here("changed.cleave"), err));
        bytes[i] = kept;
    }
    char *digest = memmem(bytes, size, "\"digest\":\"", 10); /* as older versions wrote */
    memset(digest, ' ', sizeof "\"digest\":\"fnv1a:0123456789abcdef\"," - 1);
    spill(here("old.cleave"), bytes, size);
    must(clv_model_read(&read, here("old.cleave"), err));
}
