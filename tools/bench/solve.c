/* One solve, fresh noise on a kept graph: set all capacities, solve, read all labels. Ours against libmaxflow.
 * Usage: solve [difficulty [superpixels]] */
#include "graphs.h"
#include "maxflow_shim.h"

#define N_GRAPHS 12
#define N_DRAWS  8

struct problem {
    int32_t *terminal, *capacity;
    double *terminal_bk, *capacity_bk;
};

struct sides {
    struct maxflow ours;
    struct bk *bk;
};

static void solve_ours(uint8_t *labels, struct sides *sides, const struct bench_graph *graph, const struct problem *p)
{
    maxflow_set(&sides->ours, p->terminal, p->capacity, p->capacity);
    maxflow_solve(&sides->ours);
    memcpy(labels, sides->ours.label, (size_t)graph->n);
}

static void solve_bk(uint8_t *labels, struct sides *sides, const struct bench_graph *graph, const struct problem *p)
{
    if (bk_solve(sides->bk, NULL, p->terminal_bk, p->capacity_bk, p->capacity_bk, NULL) != BK_OK)
        exit(70);
    for (int32_t i = 0; i < graph->n; i++)
        labels[i] = (uint8_t)bk_on_source_side(sides->bk, i);
}

/* All draws on one graph, by one engine and then by the other. */
static void solve_draws(double *ours, double *theirs, struct sides *sides, const struct bench_graph *graph,
                        const struct problem *problems, uint8_t *labels)
{
    size_t n = (size_t)graph->n;
    double start = thread_seconds();
    for (size_t k = 0; k < N_DRAWS; k++)
        solve_ours(&labels[k * n], sides, graph, &problems[k]);
    double middle = thread_seconds();
    for (size_t k = 0; k < N_DRAWS; k++)
        solve_bk(&labels[(N_DRAWS + k) * n], sides, graph, &problems[k]);
    double end = thread_seconds();
    *ours += (middle - start) / (N_GRAPHS * N_DRAWS);
    *theirs += (end - middle) / (N_GRAPHS * N_DRAWS);
    if (memcmp(labels, &labels[N_DRAWS * n], N_DRAWS * n)) {
        fprintf(stderr, "labels differ\n");
        exit(70);
    }
}

static void run(const struct bench_graph *graphs, const struct difficulty *d, int32_t size)
{
    static struct problem problems[N_GRAPHS][N_DRAWS];
    static struct sides sides[N_GRAPHS];
    int32_t most = 0;
    for (int g = 0; g < N_GRAPHS; g++) {
        const struct bench_graph *graph = &graphs[g];
        most = graph->n > most ? graph->n : most;
        maxflow_init(&sides[g].ours);
        if (maxflow_build(&sides[g].ours, graph->n, graph->m, (const int32_t(*)[2])graph->edges) ||
            bk_new(&sides[g].bk, graph->n, graph->m, (const int32_t(*)[2])graph->edges, NULL))
            exit(71);
        for (int k = 0; k < N_DRAWS; k++) {
            struct problem *p = &problems[g][k];
            p->terminal = need(malloc((size_t)graph->n * sizeof(int32_t)));
            p->capacity = need(malloc((size_t)graph->m * sizeof(int32_t)));
            p->terminal_bk = need(malloc((size_t)graph->n * sizeof(double)));
            p->capacity_bk = need(malloc((size_t)graph->m * sizeof(double)));
            draw_problem(p->terminal, p->capacity, graph, d, (uint64_t)(g * N_DRAWS + k));
            for (int32_t i = 0; i < graph->n; i++)
                p->terminal_bk[i] = p->terminal[i];
            for (int32_t e = 0; e < graph->m; e++)
                p->capacity_bk[e] = p->capacity[e];
        }
    }
    uint8_t *labels = need(malloc(2 * N_DRAWS * (size_t)most));
    double ours[REPETITIONS + 1] = {0}, theirs[REPETITIONS + 1] = {0}; /* the first one warms up */
    for (int r = 0; r <= REPETITIONS; r++)
        for (int g = 0; g < N_GRAPHS; g++)
            solve_draws(&ours[r], &theirs[r], &sides[g], &graphs[g], problems[g], labels);
    char what[64];
    snprintf(what, sizeof what, "solve %s %d nodes", d->name, size);
    print_ratio(what, ours + 1, theirs + 1, REPETITIONS);
    free(labels);
    for (int g = 0; g < N_GRAPHS; g++) {
        maxflow_release(&sides[g].ours);
        bk_free(sides[g].bk);
        for (int k = 0; k < N_DRAWS; k++) {
            free(problems[g][k].terminal);
            free(problems[g][k].capacity);
            free(problems[g][k].terminal_bk);
            free(problems[g][k].capacity_bk);
        }
    }
}

int main(int argc, char **argv)
{
    run_benchmark(argc, argv, N_GRAPHS, run);
    return 0;
}
