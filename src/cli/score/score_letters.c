#include "cli/score/score_letters.h"

#include <stdio.h>

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "cleave/model.h"
#include "cli/common/console.h"

struct decoding {
    const struct clv_dataset *dataset;
    const struct clv_model *model;
    struct clv_oracle **oracles; /* [n_threads] */
    int32_t *n_wrong;            /* [words] */
};

static enum clv_status decode_word(void *context, size_t index, int thread, struct clv_error *err)
{
    const struct decoding *self = context;
    int32_t y[CLV_LETTER_MAX_LENGTH];
    struct clv_problem problem = clv_dataset_problem(self->dataset, index);
    enum clv_status status = clv_model_predict(y, self->model, &problem, self->oracles[thread], err);
    self->n_wrong[index] = 0;
    for (int32_t i = 0; status == CLV_OK && i < problem.n_nodes; i++)
        self->n_wrong[index] += y[i] != problem.label[i];
    return status;
}

static enum clv_status decode_words(int32_t *n_wrong, const struct clv_dataset *dataset, const struct clv_model *model,
                                    int n_threads, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    n_threads = parallel_threads(n_threads);
    struct decoding self = {dataset, model, array_zalloc((size_t)n_threads, sizeof *self.oracles), n_wrong};
    if (!self.oracles)
        return fail_memory(err);
    for (int t = 0; t < n_threads && status == CLV_OK; t++)
        status = clv_oracle_new(&self.oracles[t], CLV_ENGINE_DEFAULT, err);
    if (status == CLV_OK)
        status = parallel_for(clv_dataset_size(dataset), n_threads, decode_word, &self, err);
    for (int t = 0; t < n_threads; t++)
        clv_oracle_free(self.oracles[t]);
    array_free(self.oracles);
    return status;
}

static void print(const struct clv_dataset *dataset, const int32_t *n_wrong, bool json)
{
    size_t n_words = clv_dataset_size(dataset), n_letters = count_nodes(dataset), wrong = 0;
    double word_sum = 0;
    for (size_t i = 0; i < n_words; i++) {
        wrong += (size_t)n_wrong[i];
        word_sum += (double)n_wrong[i] / clv_dataset_problem(dataset, i).n_nodes;
    }
    double letter_error = (double)wrong / (double)n_letters, word_error = word_sum / (double)n_words;
    if (!json) {
        printf("letters       %zu in %zu words\nletter error  %.2f %%\nword error    %.2f %% (mean over words of the "
               "share of wrong letters)\n",
               n_letters, n_words, 100 * letter_error, 100 * word_error);
        return;
    }
    printf("{\"letters\":%zu,\"words\":%zu,\"letter_error\":%.17g,\"word_error\":%.17g}\n", n_letters, n_words,
           letter_error, word_error);
}

enum clv_status score_letters(const struct letters_task *task, struct clv_error *err)
{
    struct clv_model model = {0};
    struct clv_dataset *dataset = NULL;
    int32_t *n_wrong = NULL;
    enum clv_status status = letters_task_open(&model, &dataset, task, err);
    if (status != CLV_OK)
        goto done;
    n_wrong = array_alloc(clv_dataset_size(dataset), sizeof *n_wrong);
    status = n_wrong ? decode_words(n_wrong, dataset, &model, task->n_threads, err) : fail_memory(err);
    if (status == CLV_OK)
        print(dataset, n_wrong, task->json);
done:
    array_free(n_wrong);
    clv_dataset_free(dataset);
    clv_model_release(&model);
    return status;
}
