/* The negative log-likelihood of a CRF over all examples, and its gradient. Threads take chunks of examples, whose sums
 * are added in one order: the same bytes at any number of threads. Start at crf_objective_at. */
#include "learn/crf/crf.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cluster/comm_for.h"
#include "feature/dataset/dataset.h"

#define FEW_CHUNKS       16
#define MOST_CHUNKS      1024
#define EXAMPLES_A_CHUNK 128                /* with more than a few chunks, so that adding their sums costs little */
#define WORK_OF_A_THREAD 2e6                /* additions; about half a millisecond */
#define CHUNK_BYTES      ((size_t)32 << 20) /* of all chunks' sums together, unless two are larger */

/* Whether every edge of an example has the same one feature of 1. */
static bool has_plain_edges(const struct clv_problem *problem)
{
    for (int32_t e = 0; e < problem->n_edges; e++)
        if (problem->edge_features[e] != 1)
            return false;
    return true;
}

/* Reads all examples: adds up Psi(x, y), and finds whether all edges have the same table. */
static void survey(struct crf_objective *self)
{
    const struct examples *examples = self->examples;
    self->is_shared = self->has_pairs && examples->layout.n_edge_features == 1;
    for (size_t i = 0; i < examples->n; i++) {
        const struct clv_problem *problem = &examples->problems[i];
        dataset_looked_at(examples->training->dataset, problem);
        self->is_shared = self->is_shared && has_plain_edges(problem);
        clv_joint_feature_add(self->empirical, problem, &examples->layout, problem->label, 1);
    }
}

static size_t choose_chunks(size_t n, size_t chunk_size)
{
    size_t fit = CHUNK_BYTES / (chunk_size * sizeof(double)), most = n / EXAMPLES_A_CHUNK;
    most = most < FEW_CHUNKS ? FEW_CHUNKS : most < MOST_CHUNKS ? most : MOST_CHUNKS;
    most = fit < most ? fit : most;
    most = most < 2 ? 2 : most;
    return n < most ? n : most;
}

/* Divides the examples into chunks with about equally many nodes. */
static void divide(struct crf_objective *self)
{
    int64_t n_nodes = 0, seen = 0;
    size_t chunk = 0;
    for (size_t i = 0; i < self->examples->n; i++)
        n_nodes += self->examples->problems[i].n_nodes;
    for (size_t i = 0; i < self->examples->n; i++) {
        while (chunk < self->n_chunks && seen * (int64_t)self->n_chunks >= n_nodes * (int64_t)chunk)
            self->chunk_first[chunk++] = i;
        seen += self->examples->problems[i].n_nodes;
    }
    while (chunk <= self->n_chunks)
        self->chunk_first[chunk++] = self->examples->n;
}

/* Chooses the number of threads, so that the work of each in an evaluation exceeds the cost of starting it. */
static int choose_threads(const struct crf_objective *self)
{
    double work = 0;
    for (size_t i = 0; i < self->examples->n; i++) {
        const struct clv_problem *problem = &self->examples->problems[i];
        double n_entries = (double)(problem->row[problem->n_nodes] - problem->row[0]);
        work += (2 * n_entries + 3 * (double)problem->n_edges * (double)self->k) * (double)self->width;
    }
    double most = 1 + work / WORK_OF_A_THREAD;
    return most < self->examples->n_threads ? (int)most : self->examples->n_threads;
}

static void set_sizes(struct crf_objective *self, const struct clv_weight_layout *layout)
{
    self->k = (size_t)layout->n_labels;
    self->width = chain_lanes_width(self->k);
    self->n_rows = clv_weight_layout_rows(layout);
    self->d = (size_t)layout->n_features;
    self->p = (size_t)layout->n_edge_features;
    self->size = clv_weight_layout_size(layout);
    self->unary_size = clv_weight_layout_unary_size(layout);
    self->has_pairs = layout->pairwise == CLV_PAIRWISE_FULL;
    self->chunk_size = self->d * self->width;
    if (self->has_pairs)
        self->chunk_size += self->k * (self->k * self->p + self->width);
    self->chunk_size += self->width;
}

enum clv_status crf_objective_open(struct crf_objective *self, struct examples *examples, struct clv_error *err)
{
    *self = (struct crf_objective){.examples = examples};
    set_sizes(self, &examples->layout);
    self->n_chunks = choose_chunks(examples->n, self->chunk_size);
    self->unary = array_zalloc_aligned(self->d, self->width * sizeof(double));
    self->kernel_memory = array_zalloc_aligned(2 * self->k, self->width * sizeof(double));
    self->empirical = array_zalloc(self->size, sizeof(double));
    self->chunk_first = array_alloc(self->n_chunks + 1, sizeof *self->chunk_first);
    self->chunk_sums = array_zalloc_aligned(self->n_chunks, self->chunk_size * sizeof(double));
    NEED(self->unary && self->kernel_memory && self->empirical && self->chunk_first && self->chunk_sums);
    self->kernel.there = self->kernel_memory;
    self->kernel.back = self->kernel_memory + self->k * self->width;
    self->n_threads = choose_threads(self);
    divide(self);
    survey(self);
    return crf_workers_new(&self->workers, self, err);
}

void crf_objective_release(struct crf_objective *self)
{
    crf_workers_free(self->workers, self->n_threads);
    arrays_free(self->unary, self->kernel_memory, self->empirical, self->chunk_first, self->chunk_sums);
    *self = (struct crf_objective){0};
}

/* Transposes W to one lane per label. If there are two labels, label 0 scores 0. */
static void load_weights(struct crf_objective *self, const double *w)
{
    size_t lane = self->n_rows == 1;
    for (size_t r = 0; r < self->n_rows; r++)
        for (size_t f = 0; f < self->d; f++)
            self->unary[f * self->width + r + lane] = w[r * self->d + f];
    self->w = w;
    self->table = w + self->unary_size;
    self->kernel_fits = self->is_shared && chain_kernel_fill(&self->kernel, self->table, self->k);
}

/* The index of the negative log-likelihood in a chunk's sums. */
static size_t nll_at(const struct crf_objective *self)
{
    return self->chunk_size - self->width;
}

static enum clv_status run_chunk(void *context, size_t chunk, int thread, struct clv_error *err)
{
    struct crf_objective *self = context;
    double *sums = &self->chunk_sums[chunk * self->chunk_size], nll = 0;
    memset(sums, 0, self->chunk_size * sizeof *sums);
    for (size_t i = self->chunk_first[chunk]; i < self->chunk_first[chunk + 1]; i++) {
        FAIL_IF(stop_requested(self->examples->training->progress), CLV_ERR_INTERRUPTED, "interrupted");
        MUST(crf_worker_add(&nll, sums, crf_worker_at(self->workers, thread), self, i, err));
    }
    sums[nll_at(self)] = nll;
    return CLV_OK;
}

/* E[Psi] - Psi(x, y) in the order of the weights. */
static void write_gradient(double *gradient, const struct crf_objective *self)
{
    size_t lane = self->n_rows == 1, k = self->k;
    const double *pairs = &self->chunk_sums[self->d * self->width], *flow = &pairs[k * k * self->p];
    for (size_t r = 0; r < self->n_rows; r++)
        for (size_t f = 0; f < self->d; f++)
            gradient[r * self->d + f] = self->chunk_sums[f * self->width + r + lane];
    if (self->has_pairs)
        memcpy(&gradient[self->unary_size], pairs, k * k * self->p * sizeof *gradient);
    for (size_t a = 0; self->kernel_fits && a < k; a++)
        for (size_t b = 0; b < k; b++)
            gradient[self->unary_size + a * k + b] +=
                self->kernel.there[a * self->width + b] * flow[a * self->width + b];
    for (size_t c = 0; c < self->size; c++)
        gradient[c] -= self->empirical[c];
}

enum clv_status crf_objective_at(double *nll, double *gradient, struct crf_objective *self, const double *w,
                                 struct clv_error *err)
{
    load_weights(self, w);
    MUST(comm_for_sum(self->n_chunks, self->n_threads, run_chunk, self, self->chunk_sums, self->chunk_size, err));
    *nll = self->chunk_sums[nll_at(self)];
    write_gradient(gradient, self);
    return CLV_OK;
}

double crf_objective_bytes(const struct clv_training *training)
{
    struct crf_objective sizes = {0};
    set_sizes(&sizes, &training->layout);
    double longest = 1, row = (double)sizes.width, table = (double)sizes.k * row;
    for (size_t i = 0; i < training->n_examples; i++) {
        struct clv_problem problem = clv_dataset_problem(training->dataset, (size_t)training->examples[i]);
        longest = fmax(longest, (double)problem.n_nodes);
    }
    bool own_tables = sizes.has_pairs && sizes.p > 1;
    double chunks = (double)choose_chunks(training->n_examples, sizes.chunk_size) * (double)sizes.chunk_size;
    double worker = longest * (4 * row + (own_tables ? 2 * table : 0));
    double all = chunks + worker * parallel_threads(training->n_threads) + (double)sizes.d * row + (double)sizes.size;
    return all * (double)sizeof(double);
}
