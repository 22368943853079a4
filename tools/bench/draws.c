/* Sixteen samples of noise on one graph: solved together in vector lanes, compared with libmaxflow, which solves one
 * after the other.
 *
 * Usage: draws [difficulty [superpixels]] */
#include "graphs.h"
#include "infer/cut/cut.h"
#include "maxflow_shim.h"

#define N_GRAPHS 12

struct problem {
    int32_t *terminal, *capacity; /* terminal[n][BATCH_LANES] */
    double *terminal_bk[BATCH_LANES], *capacity_bk;
};

static void make_problem(struct problem *p, const struct bench_graph *graph, const struct difficulty *d, uint64_t first)
{
    p->capacity = need(malloc((size_t)graph->m * sizeof(int32_t)));
    p->capacity_bk = need(malloc((size_t)graph->m * sizeof(double)));
    p->terminal = need(malloc((size_t)graph->n * BATCH_LANES * sizeof(int32_t)));
    int32_t *terminal = need(malloc((size_t)graph->n * sizeof(int32_t)));
    for (size_t l = 0; l < BATCH_LANES; l++) {
        p->terminal_bk[l] = need(malloc((size_t)graph->n * sizeof(double)));
        draw_problem(terminal, p->capacity, graph, d, first + l);
        for (size_t i = 0; i < (size_t)graph->n; i++)
            p->terminal_bk[l][i] = p->terminal[i * BATCH_LANES + l] = terminal[i];
    }
    free(terminal);
    for (int32_t e = 0; e < graph->m; e++)
        p->capacity_bk[e] = p->capacity[e];
}

static void free_problem(struct problem *p)
{
    free(p->capacity);
    free(p->capacity_bk);
    free(p->terminal);
    for (int l = 0; l < BATCH_LANES; l++)
        free(p->terminal_bk[l]);
}

static void solve_both(double *ours, double *theirs, struct batch *batch, struct bk *bk,
                       const struct bench_graph *graph, const struct problem *p, uint16_t *labels)
{
    double start = thread_seconds();
    memcpy(batch->excess, p->terminal, (size_t)graph->n * BATCH_LANES * sizeof *p->terminal);
    if (!batch_solve(batch, p->capacity))
        exit(70);
    double middle = thread_seconds();
    memset(labels, 0, (size_t)graph->n * sizeof *labels);
    for (int l = 0; l < BATCH_LANES; l++) {
        if (bk_solve(bk, NULL, p->terminal_bk[l], p->capacity_bk, p->capacity_bk, NULL) != BK_OK)
            exit(70);
        for (int32_t i = 0; i < graph->n; i++)
            labels[i] |= (uint16_t)(bk_on_source_side(bk, i) << l);
    }
    *ours += (middle - start) / (N_GRAPHS * BATCH_LANES);
    *theirs += (thread_seconds() - middle) / (N_GRAPHS * BATCH_LANES);
    if (memcmp(labels, batch->label, (size_t)graph->n * sizeof *labels)) {
        fprintf(stderr, "labels differ\n");
        exit(70);
    }
}

static void run(const struct bench_graph *graphs, const struct difficulty *d, int32_t size)
{
    static uint16_t labels[1 << 16];
    struct problem problems[N_GRAPHS];
    struct bk *bks[N_GRAPHS];
    struct batch batches[N_GRAPHS];
    for (int g = 0; g < N_GRAPHS; g++) {
        batch_init(&batches[g]);
        if (batch_build(&batches[g], graphs[g].n, graphs[g].m, (const int32_t(*)[2])graphs[g].edges) ||
            bk_new(&bks[g], graphs[g].n, graphs[g].m, (const int32_t(*)[2])graphs[g].edges, NULL))
            exit(71);
        make_problem(&problems[g], &graphs[g], d, (uint64_t)g * BATCH_LANES);
    }
    double ours[REPETITIONS + 1] = {0}, theirs[REPETITIONS + 1] = {0};
    for (int r = 0; r <= REPETITIONS; r++)
        for (int g = 0; g < N_GRAPHS; g++)
            solve_both(&ours[r], &theirs[r], &batches[g], bks[g], &graphs[g], &problems[g], labels);
    char what[64];
    snprintf(what, sizeof what, "batched draw %s %d nodes", d->name, size);
    print_ratio(what, ours + 1, theirs + 1, REPETITIONS);
    for (int g = 0; g < N_GRAPHS; g++) {
        batch_release(&batches[g]);
        bk_free(bks[g]);
        free_problem(&problems[g]);
    }
}

int main(int argc, char **argv)
{
    run_benchmark(argc, argv, N_GRAPHS, run);
    return 0;
}
