/* The negative log-likelihood of a CRF over all examples, and its gradient. Each thread has a worker, which adds the
 * log-partition and the expected features of an example: by sums over chains in vector lanes, in the log domain if
 * scores differ too much, or by sums over a forest. Threads take chunks of examples, whose sums are added in a fixed
 * order, so that results have the same bytes at any number of threads. Start at crf_objective_at; crf_worker_add
 * handles one example. */
#include "learn/crf/crf.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cluster/comm_for.h"
#include "feature/dataset/dataset.h"

#define FEW_CHUNKS         16
#define MOST_CHUNKS        1024
#define EXAMPLES_PER_CHUNK 128 /* once there are more than FEW_CHUNKS, so that adding their sums costs little */
#define WORK_PER_THREAD    2e6 /* additions; about half a millisecond */
#define CHUNK_BYTES        ((size_t)32 << 20) /* of the sums of all chunks together; there are at least two chunks */

struct crf_worker {
    struct chain_sums sums;
    struct chain_kernel *kernels; /* [most nodes] unless the table is shared */
    double *sums_memory, *kernel_memory;
    double *table; /* [k][k] of the current edge */
    struct clv_forest *forest;
    double *scratch; /* for forests, and for chains whose scores differ too much */
    size_t scratch_capacity;
};

/* A chain within a problem: nodes first .. first + n - 1, each joined to the next by the edges edge, edge + 1 and so
 * on. */
struct piece {
    const struct clv_problem *problem;
    size_t first, n, edge;
};

static size_t most_nodes(const struct examples *examples)
{
    size_t most = 1;
    for (size_t i = 0; i < examples->n; i++)
        most = (size_t)examples->problems[i].n_nodes > most ? (size_t)examples->problems[i].n_nodes : most;
    return most;
}

static enum clv_status worker_open(struct crf_worker *self, const struct crf_objective *objective,
                                   struct clv_error *err)
{
    size_t n = most_nodes(objective->examples), row = objective->width, table = objective->k * row;
    size_t n_kernels = objective->has_pairs && !objective->is_shared ? n : 0;
    self->sums_memory = array_zalloc_aligned(4 * n, row * sizeof(double));
    self->kernel_memory = array_zalloc_aligned(2 * n_kernels, table * sizeof(double));
    self->kernels = array_zalloc(n_kernels, sizeof *self->kernels);
    self->table = array_alloc(objective->k, objective->k * sizeof(double));
    NEED(self->sums_memory && self->kernel_memory && self->kernels && self->table);
    double **rows[] = {&self->sums.weight, &self->sums.ahead, &self->sums.flow, &self->sums.marginal};
    for (size_t r = 0; r < 4; r++)
        *rows[r] = &self->sums_memory[r * n * row];
    for (size_t e = 0; e < n_kernels; e++) {
        self->kernels[e].there = &self->kernel_memory[2 * e * table];
        self->kernels[e].back = self->kernels[e].there + table;
    }
    return clv_forest_new(&self->forest, err);
}

static void crf_workers_free(struct crf_worker *workers, int n)
{
    for (int t = 0; workers && t < n; t++) {
        arrays_free(workers[t].sums_memory, workers[t].kernel_memory, workers[t].kernels, workers[t].table,
                    workers[t].scratch);
        clv_forest_free(workers[t].forest);
    }
    array_free(workers);
}

/* Workers under construction, which crf_workers_new releases if it fails. */
struct worker_list {
    struct crf_worker *workers; /* [n] */
    int n;
};

static void worker_list_release(struct worker_list *list)
{
    crf_workers_free(list->workers, list->n);
}

static enum clv_status crf_workers_new(struct crf_worker **workers, const struct crf_objective *objective,
                                       struct clv_error *err)
{
    int n = objective->n_threads;
    *workers = NULL;
    OWNED(worker_list_release) struct worker_list result = {array_zalloc((size_t)n, sizeof *result.workers), n};
    NEED(result.workers);
    for (int t = 0; t < n; t++)
        MUST(worker_open(&result.workers[t], objective, err));
    *workers = TAKE(result.workers);
    return CLV_OK;
}

static struct crf_worker *crf_worker_at(struct crf_worker *workers, int thread)
{
    return &workers[thread];
}

/* Computes table[k][k] of an edge, sum_q P[a][b][q] e_q, unless the table is shared. Returns the table. */
static const double *edge_table(double *table, const struct crf_objective *objective, const float *features)
{
    if (objective->is_shared)
        return objective->table;
    size_t p = objective->p;
    for (size_t c = 0; c < objective->k * objective->k; c++) {
        table[c] = 0;
        for (size_t q = 0; q < p; q++)
            table[c] += objective->table[c * p + q] * (double)features[q];
    }
    return table;
}

static const float *edge_features(const struct piece *piece, size_t link, size_t p)
{
    return &piece->problem->edge_features[(piece->edge + link) * p];
}

static void add_pair(double *pairs, const struct crf_objective *objective, const float *features, size_t entry,
                     double share)
{
    for (size_t q = 0; q < objective->p; q++)
        pairs[entry * objective->p + q] += share * (double)features[q];
}

static void score_nodes(struct crf_worker *self, const struct crf_objective *objective, const struct piece *piece)
{
    const struct clv_problem *problem = piece->problem;
    for (size_t i = 0; i < piece->n; i++) {
        int64_t begin = problem->row[piece->first + i], end = problem->row[piece->first + i + 1];
        crf_rows_score(&self->sums.weight[i * objective->width], objective->unary, &problem->index[begin],
                       &problem->value[begin], (size_t)(end - begin), objective->width);
    }
}

/* Score of the true labels of a piece. */
static double truth_score(struct crf_worker *self, const struct crf_objective *objective, const struct piece *piece)
{
    const int32_t *label = &piece->problem->label[piece->first];
    double score = 0;
    for (size_t i = 0; i < piece->n; i++) {
        score += self->sums.weight[i * objective->width + (size_t)label[i]];
        if (i + 1 == piece->n)
            break;
        const float *features = edge_features(piece, i, objective->p);
        size_t entry = (size_t)label[i] * objective->k + (size_t)label[i + 1];
        for (size_t q = 0; q < objective->p; q++)
            score += objective->table[entry * objective->p + q] * (double)features[q];
    }
    return score;
}

/* Fills the kernels of the piece's links. Returns 0 if the range of some table is too large. */
static int fill_kernels(struct crf_worker *self, const struct crf_objective *objective, const struct piece *piece)
{
    if (piece->n < 2 || objective->is_shared)
        return piece->n < 2 || objective->kernel_fits;
    for (size_t i = 0; i + 1 < piece->n; i++)
        if (!chain_kernel_fill(&self->kernels[i],
                               edge_table(self->table, objective, edge_features(piece, i, objective->p)), objective->k))
            return 0;
    return 1;
}

static void add_links(double *pairs, const struct crf_worker *self, const struct crf_objective *objective,
                      const struct piece *piece)
{
    size_t k = objective->k, width = objective->width;
    if (piece->n > 1 && objective->is_shared)
        chain_sums_pairs(&pairs[k * k * objective->p], &self->sums, piece->n, k);
    for (size_t i = 0; !objective->is_shared && i + 1 < piece->n; i++)
        for (size_t a = 0; a < k; a++)
            for (size_t b = 0; b < k; b++)
                add_pair(pairs, objective, edge_features(piece, i, objective->p), a * k + b,
                         self->sums.ahead[i * width + a] * self->kernels[i].there[a * width + b] *
                             self->sums.flow[(i + 1) * width + b]);
}

/* Sums over a piece in the log domain: marginals[n][width] and pairs. */
static enum clv_status sum_logarithms(double *log_partition, double *pairs, struct crf_worker *self,
                                      const struct crf_objective *objective, const struct piece *piece,
                                      struct clv_error *err)
{
    size_t n = piece->n, k = objective->k, width = objective->width, tables = n * k * k;
    if (array_reserve((void **)&self->scratch, &self->scratch_capacity, 2 * n * k + 2 * tables, sizeof(double)))
        return fail_memory(err);
    double *unary = self->scratch, *marginal = unary + n * k, *table = marginal + n * k, *pair = table + tables;
    for (size_t i = 0; i < n; i++)
        memcpy(&unary[i * k], &self->sums.weight[i * width], k * sizeof *unary);
    for (size_t i = 0; i + 1 < n; i++)
        memcpy(&table[i * k * k], edge_table(self->table, objective, edge_features(piece, i, objective->p)),
               k * k * sizeof *table);
    struct clv_chain chain = {(int32_t)n, (int32_t)k, 0, unary, table};
    MUST(clv_chain_marginals(marginal, pair, log_partition, &chain, err));
    for (size_t i = 0; i < n; i++)
        memcpy(&self->sums.marginal[i * width], &marginal[i * k], k * sizeof *marginal);
    for (size_t i = 0; i + 1 < n; i++)
        for (size_t c = 0; c < k * k; c++)
            add_pair(pairs, objective, edge_features(piece, i, objective->p), c, pair[i * k * k + c]);
    return CLV_OK;
}

static void scatter(double *sums, const struct crf_worker *self, const struct crf_objective *objective,
                    const struct piece *piece)
{
    const struct clv_problem *problem = piece->problem;
    for (size_t i = 0; i < piece->n; i++) {
        int64_t begin = problem->row[piece->first + i], end = problem->row[piece->first + i + 1];
        crf_rows_scatter(sums, &self->sums.marginal[i * objective->width], &problem->index[begin],
                         &problem->value[begin], (size_t)(end - begin), objective->width);
    }
}

static enum clv_status add_piece(double *nll, double *sums, struct crf_worker *self,
                                 const struct crf_objective *objective, const struct piece *piece,
                                 struct clv_error *err)
{
    double log_partition, *pairs = &sums[objective->d * objective->width];
    score_nodes(self, objective, piece);
    double truth = truth_score(self, objective, piece);
    const struct chain_kernel *kernels = objective->is_shared ? &objective->kernel : self->kernels;
    if (fill_kernels(self, objective, piece) &&
        chain_sums_run(&log_partition, &self->sums, piece->n, kernels, objective->is_shared, objective->k)) {
        add_links(pairs, self, objective, piece);
    } else {
        MUST(sum_logarithms(&log_partition, pairs, self, objective, piece, err));
    }
    *nll += log_partition - truth;
    scatter(sums, self, objective, piece);
    return CLV_OK;
}

/* Whether edges join only neighbours i and i + 1, in order. */
static bool is_linear(const struct clv_problem *problem)
{
    int32_t last = -1;
    for (int32_t e = 0; e < problem->n_edges; e++) {
        if (problem->edges[e][0] <= last || problem->edges[e][1] != problem->edges[e][0] + 1)
            return false;
        last = problem->edges[e][0];
    }
    return true;
}

static enum clv_status add_chains(double *nll, double *sums, struct crf_worker *self,
                                  const struct crf_objective *objective, const struct clv_problem *problem,
                                  struct clv_error *err)
{
    size_t n = (size_t)problem->n_nodes, n_edges = objective->has_pairs ? (size_t)problem->n_edges : 0, edge = 0;
    for (size_t i = 0, end; i < n; i = end) {
        end = i + 1;
        if (problem->label[i] == CLV_UNKNOWN)
            continue;
        while (edge < n_edges && (size_t)problem->edges[edge][0] < i)
            edge++;
        size_t next = edge;
        while (end < n && problem->label[end] != CLV_UNKNOWN && next < n_edges &&
               (size_t)problem->edges[next][0] == end - 1) {
            next++;
            end++;
        }
        MUST(add_piece(nll, sums, self, objective, &(struct piece){problem, i, end - i, edge}, err));
    }
    return CLV_OK;
}

/* Unlabelled nodes and their edges have score 0, so that each such node adds log K to the log-partition, which is
 * subtracted. */
static enum clv_status add_forest(double *nll, double *sums, struct crf_worker *self,
                                  const struct crf_objective *objective, const struct clv_problem *problem,
                                  struct clv_error *err)
{
    struct decoder *decoder = &objective->examples->decoders[self - objective->workers];
    size_t n = (size_t)problem->n_nodes, m = (size_t)problem->n_edges, k = objective->k, width = objective->width;
    double value, n_unknown = 0, *pairs = &sums[objective->d * width];
    MUST(decoder_load_known(decoder, problem, &objective->examples->layout, objective->w, err));
    if (array_reserve((void **)&self->scratch, &self->scratch_capacity, n * k + m * k * k, sizeof(double)))
        return fail_memory(err);
    double *marginal = self->scratch, *pair = marginal + n * k;
    MUST(clv_forest_run(self->forest, &value, marginal, pair, NULL, &decoder->field, NULL, err));
    for (size_t i = 0; i < n; i++) {
        if (problem->label[i] == CLV_UNKNOWN) {
            n_unknown++;
            continue;
        }
        memcpy(self->sums.marginal, &marginal[i * k], k * sizeof *marginal);
        scatter(sums, self, objective, &(struct piece){problem, i, 1, 0});
    }
    for (size_t e = 0; e < m; e++)
        for (size_t c = 0; c < k * k && problem->label[problem->edges[e][0]] != CLV_UNKNOWN &&
                           problem->label[problem->edges[e][1]] != CLV_UNKNOWN;
             c++)
            add_pair(pairs, objective, &problem->edge_features[e * objective->p], c, pair[e * k * k + c]);
    *nll += value - n_unknown * portable_log((double)k) - decoder_truth_score(decoder, problem);
    return CLV_OK;
}

/* Adds an example: *nll += its negative log-likelihood, sums[chunk_size] += its E[Psi]. Chains, and pieces of chains
 * between unlabelled nodes, are summed by chain_sums_run, or in the log domain if scores differ too much; other forests
 * by clv_forest_run. */
static enum clv_status crf_worker_add(double *nll, double *sums, struct crf_worker *self,
                                      const struct crf_objective *objective, size_t example, struct clv_error *err)
{
    const struct examples *examples = objective->examples;
    const struct clv_problem *problem = &examples->problems[example];
    dataset_notify_access(examples->training->dataset, problem);
    if (!objective->has_pairs || is_linear(problem))
        return add_chains(nll, sums, self, objective, problem, err);
    enum clv_status status = add_forest(nll, sums, self, objective, problem, err);
    const char *name = clv_dataset_name(examples->training->dataset, (size_t)examples->training->examples[example]);
    return status == CLV_ERR_DATA && name ? fail_within(err, status, name) : status;
}

/* Whether the first feature of every edge of an example is 1. */
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
        dataset_notify_access(examples->training->dataset, problem);
        self->is_shared = self->is_shared && has_plain_edges(problem);
        clv_joint_feature_add(self->empirical, problem, &examples->layout, problem->label, 1);
    }
}

static size_t choose_chunks(size_t n, size_t chunk_size)
{
    size_t fit = CHUNK_BYTES / (chunk_size * sizeof(double)), most = n / EXAMPLES_PER_CHUNK;
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
    double most = 1 + work / WORK_PER_THREAD;
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

/* Writes E[Psi] - Psi(x, y) in the order of the weights. */
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
