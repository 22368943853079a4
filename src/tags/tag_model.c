/* Models of tags in memory: sizes, release, and the scores of examples, linear or by an RBF kernel. Start at
 * clv_tag_scores, at the end. */
#include "tags/tags.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "model/model.h"

enum { CHUNK = 64 /* examples per task */ };

static const char *const form_names[] = {"independent", "lmsbn", "lmbm", "chain", "full"};

const char *clv_tag_form_name(enum clv_tag_form form)
{
    return (size_t)form < sizeof form_names / sizeof *form_names ? form_names[form] : "unknown";
}

size_t clv_tag_coupling_count(enum clv_tag_form form, int32_t n_tags, int32_t order)
{
    size_t n = (size_t)n_tags;
    switch (form) {
    case CLV_TAGS_LMSBN: return clv_belief_offset(n_tags, order);
    case CLV_TAGS_LMBM:
    case CLV_TAGS_FULL: return order > 1 ? n * (n - 1) / 2 : 0;
    case CLV_TAGS_CHAIN: return order > 1 ? n - 1 : 0;
    case CLV_TAGS_INDEPENDENT: break;
    }
    return 0;
}

void clv_tag_model_release(struct clv_tag_model *model)
{
    for (int32_t i = 0; model->names && i < model->n_tags; i++)
        array_free(model->names[i]);
    arrays_free(model->names, model->tag_of, model->scale, model->bias, model->weight, model->row, model->index,
                model->value, model->coefficient, model->coupling);
    clv_recipe_release(&model->recipe);
    record_release(&model->record);
    *model = (struct clv_tag_model){0};
}

const char *clv_tag_name(const struct clv_tag_model *model, int32_t tag, char buffer[16])
{
    if (model->names)
        return model->names[tag];
    snprintf(buffer, 16, "%d", tag);
    return buffer;
}

struct score_state {
    double *scores;
    const struct clv_tag_model *model;
    struct kernel_rows rows, vectors;
};

static void score_linear(const struct score_state *self, size_t l)
{
    const struct clv_tag_model *model = self->model;
    const struct kernel_rows *rows = &self->rows;
    for (size_t i = 0; i < (size_t)model->n_tags; i++) {
        const double *w = model->weight + i * (size_t)model->n_features;
        double sum = 0;
        for (int64_t k = rows->row[l]; k < rows->row[l + 1] && rows->index[k] < model->n_features; k++)
            sum += w[rows->index[k]] * rows->value[k];
        self->scores[l * (size_t)model->n_tags + i] = sum + model->bias[i];
    }
}

static enum clv_status score_kernel(const struct score_state *self, size_t first, size_t n, struct clv_error *err)
{
    const struct clv_tag_model *model = self->model;
    size_t m = model->n_vectors;
    OWNED_ARRAY double *kernel = array_alloc(n * m, sizeof *kernel);
    NEED(kernel);
    MUST(kernel_distances_of(kernel, &self->rows, first, n, &self->vectors, err));
    kernel_rbf(kernel, kernel, n * m, model->gamma);
    for (size_t l = 0; l < n; l++)
        for (size_t i = 0; i < (size_t)model->n_tags; i++) {
            double sum = 0;
            for (size_t v = 0; v < m; v++)
                sum += model->coefficient[i * m + v] * kernel[l * m + v];
            self->scores[(first + l) * (size_t)model->n_tags + i] = sum + model->bias[i];
        }
    return CLV_OK;
}

static enum clv_status score_chunk(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    const struct score_state *self = context;
    size_t first = index * CHUNK, left = self->rows.n - first, n = left < CHUNK ? left : CHUNK;
    if (self->model->gamma > 0)
        return score_kernel(self, first, n, err);
    for (size_t l = first; l < first + n; l++)
        score_linear(self, l);
    return CLV_OK;
}

enum clv_status clv_tag_scores(double *scores, const struct clv_tag_model *model, const struct clv_tag_set *set,
                               int n_threads, struct clv_error *err)
{
    struct score_state scoring = {
        .scores = scores,
        .model = model,
        .rows = {set->n, set->row, set->index, set->value, set->n_features},
        .vectors = {model->n_vectors, model->row, model->index, model->value, model->n_features},
    };
    OWNED_ARRAY double *scaled = NULL;
    if (model->scale) {
        size_t n = (size_t)set->row[set->n];
        scaled = array_alloc(n, sizeof *scaled);
        NEED(scaled);
        for (size_t k = 0; k < n; k++)
            scaled[k] = set->index[k] < model->n_features ? set->value[k] * model->scale[set->index[k]] : set->value[k];
        scoring.rows.value = scaled;
    }
    return parallel_for((set->n + CHUNK - 1) / CHUNK, n_threads, score_chunk, &scoring, err);
}
