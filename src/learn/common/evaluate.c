/* Measures weights on examples: labels each by MAP or by another decoding rule, on threads and processes, and returns
 * the weighted Hamming losses or their mean. Start at evaluate_each. */
#include "learn/common/common.h"

#include "base/base.h"
#include "cluster/comm_for.h"
#include "feature/dataset/dataset.h"

struct losses {
    const struct evaluation *of;
    const struct clv_decoding *decoding;
    double *loss;             /* [n_examples] */
    struct decoder *decoders; /* [n_threads] */
    int n_threads;
};

static void losses_release(struct losses *self)
{
    decoders_free(self->decoders, self->n_threads);
}

static enum clv_status evaluate_example(void *context, size_t index, int thread, struct clv_error *err)
{
    struct losses *self = context;
    const struct evaluation *of = self->of;
    struct decoder *decoder = &self->decoders[thread];
    const struct clv_problem problem = clv_dataset_problem(of->dataset, (size_t)of->examples[index]);
    MUST(decode_by(decoder, self->decoding, &problem, of->layout, of->w, err));
    self->loss[index] = clv_loss(&problem, of->layout->n_labels, decoder->y);
    return CLV_OK;
}

static bool evaluation_results(struct comm_piece *piece, void *context, size_t index, size_t k)
{
    struct losses *self = context;
    *piece = (struct comm_piece){&self->loss[index], sizeof *self->loss};
    return k == 0;
}

enum clv_status evaluate_each(double *losses, const struct evaluation *evaluation, struct clv_error *err)
{
    /* MAP instead of marginal MAP: slices without a mask are labelled like the others and not summed over. */
    static const struct clv_decoding of_windows = {.rule = CLV_DECODE_MAP};
    OWNED(losses_release)
    struct losses self = {
        .of = evaluation,
        .decoding = evaluation->decoding,
        .loss = losses,
        .n_threads = parallel_threads(evaluation->n_threads),
    };
    if (evaluation->dataset->has_windows && self.decoding && self.decoding->rule == CLV_DECODE_MARGINAL_MAP)
        self.decoding = &of_windows;
    MUST(decoders_new(&self.decoders, self.n_threads, evaluation->engine, err));
    decoders_watch(self.decoders, self.n_threads, evaluation->dataset);
    return comm_for(evaluation->n_examples, self.n_threads, evaluate_example, evaluation_results, &self, err);
}

enum clv_status clv_evaluate(double *mean_loss, const struct clv_dataset *dataset, const int32_t *examples,
                             size_t n_examples, const struct clv_weight_layout *layout, const double *w,
                             const struct clv_decoding *decoding, enum clv_engine engine, int n_threads,
                             struct clv_error *err)
{
    FAIL_IF(n_examples < 1, CLV_ERR_USAGE, "no examples to evaluate");
    OWNED_ARRAY double *losses = array_alloc(n_examples, sizeof *losses);
    NEED(losses);
    const struct evaluation evaluation = {dataset, examples, n_examples, layout, w, decoding, engine, n_threads};
    MUST(evaluate_each(losses, &evaluation, err));
    *mean_loss = mean_of(losses, n_examples);
    return CLV_OK;
}

enum clv_status clv_evaluate_all(double *mean_loss, const struct clv_dataset *dataset,
                                 const struct clv_weight_layout *layout, const double *w,
                                 const struct clv_decoding *decoding, enum clv_engine engine, int n_threads,
                                 struct clv_error *err)
{
    size_t n = clv_dataset_size(dataset);
    OWNED_ARRAY int32_t *examples = array_alloc(n, sizeof *examples);
    NEED(examples);
    size_t n_known = 0;
    for (size_t i = 0; i < n; i++)
        if (clv_dataset_problem(dataset, i).theta)
            examples[n_known++] = (int32_t)i;
    return clv_evaluate(mean_loss, dataset, examples, n_known, layout, w, decoding, engine, n_threads, err);
}
