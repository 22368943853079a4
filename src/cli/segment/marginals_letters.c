#include "cli/segment/marginals_letters.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parallel.h"
#include "base/text.h"
#include "cleave/model.h"
#include "cli/common/console.h"

#define TABLE_MAX_SIZE ((size_t)1 << 33)

struct reading {
    const struct clv_model *model;
    struct clv_dataset *dataset;
    int64_t *offset;   /* [words + 1] of their letters */
    double *marginals; /* [letters][labels] */
    int32_t *truth;    /* [letters] */
};

static enum clv_status read_word(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    const struct reading *self = context;
    const struct clv_shape *shape = &self->model->shape;
    struct clv_problem problem = clv_dataset_problem(self->dataset, index);
    size_t k = (size_t)shape->n_labels;
    double unary[CLV_LETTER_MAX_LENGTH * CLV_LETTER_LABELS];
    double none[CLV_LETTER_LABELS * CLV_LETTER_LABELS] = {0};
    bool has_pairs = shape->pairwise == CLV_PAIRWISE_FULL;
    clv_unary_scores(unary, &problem, shape, self->model->w);
    struct clv_chain chain = {.n_nodes = problem.n_nodes,
                              .n_labels = shape->n_labels,
                              .is_shared = 1,
                              .unary = unary,
                              .table = has_pairs ? self->model->w + clv_shape_unary_size(shape) : none};
    memcpy(&self->truth[self->offset[index]], problem.label, (size_t)problem.n_nodes * sizeof *problem.label);
    return clv_chain_marginals(&self->marginals[(size_t)self->offset[index] * k], NULL, NULL, &chain, err);
}

static enum clv_status read_words(struct reading *self, int n_threads, struct clv_error *err)
{
    size_t n_words = clv_dataset_size(self->dataset), n_letters = count_nodes(self->dataset);
    struct clv_problem first = clv_dataset_problem(self->dataset, 0);
    enum clv_status status = clv_problem_check(&first, &self->model->shape, err);
    if (status != CLV_OK)
        return status;
    self->offset = array_alloc(n_words + 1, sizeof *self->offset);
    self->marginals = array_alloc(n_letters, (size_t)self->model->shape.n_labels * sizeof *self->marginals);
    self->truth = array_alloc(n_letters, sizeof *self->truth);
    if (!self->offset || !self->marginals || !self->truth)
        return fail_memory(err);
    self->offset[0] = 0;
    for (size_t i = 0; i < n_words; i++)
        self->offset[i + 1] = self->offset[i] + clv_dataset_problem(self->dataset, i).n_nodes;
    return parallel_for(n_words, n_threads, read_word, self, err);
}

/* "word", "letter" from 1, "truth", then a column of probabilities a label. */
static void put_table(struct text *text, const struct reading *self)
{
    const struct clv_labels *labels = &self->model->labels;
    size_t n_words = clv_dataset_size(self->dataset), k = (size_t)self->model->shape.n_labels;
    text_put(text, "word\tletter\ttruth");
    for (size_t b = 0; b < k; b++)
        text_printf(text, "\t%s", labels->names[b]);
    text_put(text, "\n");
    for (size_t i = 0; i < n_words; i++)
        for (int64_t j = self->offset[i]; j < self->offset[i + 1]; j++) {
            long long letter = j - self->offset[i] + 1;
            text_printf(text, "%s\t%lld\t%s", clv_dataset_name(self->dataset, i), letter,
                        labels->names[self->truth[j]]);
            for (size_t b = 0; b < k; b++)
                text_printf(text, "\t%.6g", self->marginals[(size_t)j * k + b]);
            text_put(text, "\n");
        }
}

static enum clv_status write_table(const struct reading *self, const char *output, struct clv_error *err)
{
    struct text text;
    text_init(&text, TABLE_MAX_SIZE);
    put_table(&text, self);
    enum clv_status status = text.failed                           ? fail_memory(err)
                             : !output || strcmp(output, "-") == 0 ? console_output(&text, err)
                                                                   : file_write(output, text.bytes, text.size, err);
    text_release(&text);
    return status;
}

static enum clv_status write_tensors(const struct reading *self, const char *output, struct clv_error *err)
{
    int64_t n_words = (int64_t)clv_dataset_size(self->dataset), n_letters = self->offset[n_words];
    const struct clv_tensor tensors[] = {
        {"node_offset", CLV_I64, 1, {n_words + 1}, self->offset},
        {"truth", CLV_I32, 1, {n_letters}, self->truth},
        {"marginals", CLV_F64, 2, {n_letters, self->model->shape.n_labels}, self->marginals},
    };
    const char *const metadata[][2] = {{"format", "cleave marginals 1"}};
    return clv_tensors_write(output, tensors, sizeof tensors / sizeof *tensors, metadata, 1, err);
}

enum clv_status marginals_letters(const struct letters_task *task, const char *output, struct clv_error *err)
{
    struct clv_model model = {0};
    struct reading self = {.model = &model};
    enum clv_status status = letters_task_open(&model, &self.dataset, task, err);
    if (status == CLV_OK)
        status = read_words(&self, task->n_threads, err);
    if (status == CLV_OK)
        status = output && text_ends_with(output, ".safetensors") ? write_tensors(&self, output, err)
                                                                  : write_table(&self, output, err);
    array_free(self.offset);
    array_free(self.marginals);
    array_free(self.truth);
    clv_dataset_free(self.dataset);
    clv_model_release(&model);
    return status;
}
