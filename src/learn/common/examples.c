/* Opens the examples of a training and surveys them: measures the loss of the true labels, the numbers of known nodes,
 * and the magnitudes of features, which determine the units of regularisation. Also computes hinges and losses over all
 * examples, and fills the results of learners. Start at examples_open. */
#include "learn/common/common.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cluster/comm.h"
#include "cluster/comm_for.h"
#include "feature/dataset/dataset.h"
#include "infer/oracle/oracle_state.h"

struct survey {
    struct examples *examples;
    double *scale;   /* [n] N_i sum |x|^2 */
    double *squares; /* [n] sum |x|^2 */
    double *n_known; /* [n] */
    double *edges;   /* [n] sum |e|^2 of full tables, between known nodes */
    double *n_edges; /* [n] */
    double *most;    /* [n] max_y L(y) */
};

const char *const weight_units[] = {[UNITS_RELATIVE] = "relative", [UNITS_RAW] = "raw", NULL};

static void survey_edges(struct survey *survey, size_t index, const struct clv_problem *problem)
{
    size_t p = (size_t)problem->n_edge_features;
    double squares = 0, n_edges = 0;
    for (size_t e = 0; e < (size_t)problem->n_edges; e++) {
        if (problem->label[problem->edges[e][0]] == CLV_UNKNOWN || problem->label[problem->edges[e][1]] == CLV_UNKNOWN)
            continue;
        n_edges++;
        for (size_t f = e * p; f < (e + 1) * p; f++)
            squares += (double)problem->edge_features[f] * (double)problem->edge_features[f];
    }
    survey->edges[index] = squares;
    survey->n_edges[index] = n_edges;
}

static enum clv_status survey_example(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    (void)err;
    struct survey *survey = context;
    struct examples *self = survey->examples;
    const struct clv_problem *problem = &self->problems[index];
    double n_known = 0, squares = 0;
    dataset_notify_access(self->training->dataset, problem);
    for (int32_t i = 0; i < problem->n_nodes; i++) {
        if (problem->label[i] == CLV_UNKNOWN)
            continue;
        n_known++;
        for (int64_t k = problem->row[i]; k < problem->row[i + 1]; k++)
            squares += (double)problem->value[k] * (double)problem->value[k];
    }
    survey->scale[index] = n_known * squares;
    survey->squares[index] = squares;
    survey->n_known[index] = n_known;
    if (self->layout.pairwise == CLV_PAIRWISE_FULL)
        survey_edges(survey, index, problem);
    self->truth_loss[index] = known_loss(problem, self->layout.n_labels, problem->label);
    survey->most[index] = most_known_loss(problem, self->layout.n_labels);
    return CLV_OK;
}

enum clv_status examples_open(struct examples *self, const struct clv_training *training, bool edges,
                              struct clv_error *err)
{
    size_t n = training->n_examples;
    *self = (struct examples){0};
    OWNED(examples_release) struct examples result = {.training = training, .layout = training->layout, .n = n};
    if (!edges)
        result.layout.pairwise = CLV_PAIRWISE_NONE;
    result.n_threads = parallel_threads(training->n_threads);
    result.problems = array_alloc(n, sizeof *result.problems);
    result.truth_loss = array_alloc(n, sizeof *result.truth_loss);
    OWNED_ARRAY double *memory = array_zalloc(n, 6 * sizeof *memory);
    NEED(result.problems && result.truth_loss && memory);
    for (size_t i = 0; i < n; i++)
        result.problems[i] = clv_dataset_problem(training->dataset, (size_t)training->examples[i]);
    struct survey survey = {&result,        memory,         memory + n,    memory + 2 * n,
                            memory + 3 * n, memory + 4 * n, memory + 5 * n};
    MUST(parallel_for(n, result.n_threads, survey_example, &survey, err));
    result.scale = mean_of(survey.scale, n);
    result.mean_known = mean_of(survey.n_known, n);
    result.node_scale = mean_of(survey.squares, n) / result.mean_known;
    result.most_loss = mean_of(survey.most, n);
    double n_edges = mean_of(survey.n_edges, n);
    result.edge_scale = n_edges > 0 ? mean_of(survey.edges, n) / n_edges : 0;
    /* Without a known node that has a feature, nothing can be learned. */
    FAIL_IF(!(result.scale > 0), CLV_ERR_DATA, "no node of the %zu examples has both a known label and a feature", n);
    MUST(decoders_new(&result.decoders, result.n_threads, training->engine, err));
    decoders_watch(result.decoders, result.n_threads, training->dataset);
    *self = TAKE(result);
    return CLV_OK;
}

void examples_release(struct examples *self)
{
    decoders_free(self->decoders, self->n_threads);
    arrays_free(self->problems, self->truth_loss);
    *self = (struct examples){0};
}

void examples_expect(const struct examples *self, const int32_t *next, size_t n)
{
    if (comm_size() > 1)
        return; /* most of these examples belong to other processes */
    for (size_t k = 0; k < n && k < MAX_EXPECTED; k++)
        if ((size_t)next[k] < self->n) /* larger numbers are weak examples */
            dataset_expects(self->training->dataset, &self->problems[next[k]]);
}

double examples_squared_unit(const struct examples *self, double units)
{
    return units == UNITS_RELATIVE ? self->scale : 1;
}

double examples_table_variance(const struct examples *self, double wanted)
{
    if (self->layout.pairwise != CLV_PAIRWISE_FULL)
        return 1;
    if (wanted > 0)
        return wanted;
    return self->edge_scale > 0 ? self->node_scale / self->edge_scale : 1;
}

struct hinge_pass {
    struct examples *examples;
    const double *w;
    double *hinge;
};

static enum clv_status hinge_of_example(void *context, size_t index, int thread, struct clv_error *err)
{
    struct hinge_pass *pass = context;
    struct examples *self = pass->examples;
    struct decoder *decoder = &self->decoders[thread];
    const struct clv_problem *problem = &self->problems[index];
    FAIL_IF(stop_requested(self->training->progress), CLV_ERR_INTERRUPTED, "interrupted");
    double score;
    MUST(decode_augmented(decoder, &score, problem, &self->layout, pass->w, err));
    /* Both scores are loss-augmented, so their difference lacks L(y_i). The MAP solver rounds; adding its slack keeps
     * the hinge an upper bound. */
    pass->hinge[index] = fmax(0, score + oracle_slack(decoder->oracle) - decoder_truth_score(decoder, problem)) +
                         self->truth_loss[index];
    return CLV_OK;
}

static bool hinge_results(struct comm_piece *piece, void *context, size_t index, size_t k)
{
    struct hinge_pass *pass = context;
    *piece = (struct comm_piece){&pass->hinge[index], sizeof *pass->hinge};
    return k == 0;
}

enum clv_status examples_hinges(double *hinge, struct examples *self, const double *w, struct clv_error *err)
{
    struct hinge_pass pass = {self, w, hinge};
    return comm_for(self->n, self->n_threads, hinge_of_example, hinge_results, &pass, err);
}

enum clv_status examples_loss(double *loss, const struct examples *self, const double *w,
                              const struct clv_decoding *decoding, struct clv_error *err)
{
    const struct clv_training *training = self->training;
    return clv_evaluate(loss, training->dataset, training->examples, training->n_examples, &self->layout, w, decoding,
                        training->engine, self->n_threads, err);
}

enum clv_status examples_validate(struct clv_training_result *result, size_t point, const struct examples *self,
                                  const double *w, const struct clv_decoding *decoding, struct clv_error *err)
{
    const struct clv_training *training = self->training;
    double loss, *grown;
    if (!training->validation)
        return CLV_OK;
    MUST(clv_evaluate_all(&loss, training->validation, &self->layout, w, decoding, training->engine, self->n_threads,
                          err));
    grown = array_realloc(result->validation_loss, point + 1, sizeof *grown);
    NEED(grown);
    result->validation_loss = grown;
    grown[point] = loss;
    return CLV_OK;
}

void project_couplings(double *w, const struct clv_weight_layout *layout)
{
    if (layout->pairwise != CLV_PAIRWISE_POTTS)
        return;
    for (size_t k = clv_weight_layout_unary_size(layout); k < clv_weight_layout_size(layout); k++)
        w[k] = w[k] > 0 ? w[k] : 0;
}

void clv_training_result_release(struct clv_training_result *result)
{
    if (!result)
        return;
    arrays_free(result->w, result->variance, result->curve, result->validation_loss);
    *result = (struct clv_training_result){0};
}

enum clv_status curve_add(struct clv_training_result *result, struct clv_curve_point point, struct clv_error *err)
{
    struct clv_curve_point *grown = array_realloc(result->curve, result->n_curve + 1, sizeof point);
    NEED(grown);
    result->curve = grown;
    result->curve[result->n_curve++] = point;
    return CLV_OK;
}

static enum clv_status set_weights(double **to, const struct examples *self, const double *w, struct clv_error *err)
{
    if (!*to)
        *to = array_zalloc(clv_weight_layout_size(&self->training->layout), sizeof *w);
    NEED(*to);
    memcpy(*to, w, clv_weight_layout_size(&self->layout) * sizeof *w);
    return CLV_OK;
}

enum clv_status result_set(struct clv_training_result *result, const struct examples *self, const double *w,
                           struct clv_error *err)
{
    /* The default for two labels is a minimum cut, which full tables of any sign do not allow. */
    const struct clv_weight_layout *layout = &self->layout;
    if (layout->pairwise == CLV_PAIRWISE_FULL && layout->n_labels == 2 && result->decoding.rule == CLV_DECODE_ORACLE)
        result->decoding.rule = CLV_DECODE_MAP;
    return set_weights(&result->w, self, w, err);
}

enum clv_status result_set_variance(struct clv_training_result *result, const struct examples *self,
                                    const double *variance, struct clv_error *err)
{
    return set_weights(&result->variance, self, variance, err);
}

void result_note(struct clv_training_result *result, const char *name, double value)
{
    result->notes[result->n_notes++] = (struct clv_training_note){name, value};
}
