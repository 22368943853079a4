/* Files of models of two stages. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/small_model.h"
#include "model/stage.h"

/* The same model as the second stage after a first one. */
static struct clv_model staged_model(void)
{
    struct clv_model model = small_model(CLV_PAIRWISE_POTTS);
    model.first = array_zalloc(1, sizeof *model.first);
    model.first->shape = model.shape;
    model.first->w = model.w;
    model.first->temperature = 0.25;
    model.shape = stage_next_shape(&model.first->shape, CLV_PAIRWISE_POTTS);
    size_t n = clv_shape_size(&model.shape);
    model.w = array_alloc(n, sizeof *model.w);
    for (size_t i = 0; i < n; i++)
        model.w[i] = 0.25 + sin((double)i) / 4;
    return model;
}

START_TEST(two_stages_are_read_back)
{
    struct clv_model model = staged_model(), read = {0};
    must(clv_model_read(&read, write_model(&model, "m.cleave"), err));
    ck_assert_ptr_nonnull(read.first);
    ck_assert_mem_eq(&read.shape, &model.shape, sizeof model.shape);
    ck_assert_mem_eq(&read.first->shape, &model.first->shape, sizeof model.shape);
    ck_assert_mem_eq(read.w, model.w, clv_shape_size(&model.shape) * sizeof *model.w);
    ck_assert_mem_eq(read.first->w, model.first->w, clv_shape_size(&model.first->shape) * sizeof *model.w);
    ck_assert_double_eq(read.first->temperature, 0.25);
    must_fail(CLV_ERR_USAGE, "two stages", clv_model_leave_out(&read, err));
    clv_model_release(&model);
    clv_model_release(&read);
}
END_TEST

START_TEST(stages_that_do_not_fit_are_refused)
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
    struct clv_model model = staged_model();
    for (size_t k = 0; k < sizeof damages / sizeof *damages; k++) {
        struct clv_model read = {.record = {.n = 77}};
        size_t size, length = strlen(damages[k].old), n_found = 0;
        const char *path = write_model(&model, "bad.cleave");
        char *bytes = slurp(path, &size);
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
        free(bytes);
    }
    const char *path = formatted("%s/not.cleave", temporary_folder());
    model.first->temperature = NAN;
    must_fail(CLV_ERR_DATA, "temperature is nan", clv_model_write(path, &model, err));
    model.first->temperature = 1;
    model.first->w[3] = NAN;
    must_fail(CLV_ERR_DATA, "unary weight 3 is nan", clv_model_write(path, &model, err));
    model.first->w[3] = 0;
    model.shape.n_features--;
    must_fail(CLV_ERR_DATA, "do not come after", clv_model_write(path, &model, err));
    clv_model_release(&model);
}
END_TEST

Suite *model_stages_suite(void);
Suite *model_stages_suite(void)
{
    Suite *suite = suite_create("model_stages");
    TCase *tests = tcase_create("model_stages");
    tcase_add_test(tests, two_stages_are_read_back);
    tcase_add_test(tests, stages_that_do_not_fit_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
