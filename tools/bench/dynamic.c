/* Whole learning rounds: new noise, solve, then each node whose label differs from the truth is clamped to it, and all
 * labels are read each time. Ours is compared with libmaxflow with tree reuse (one further solve removes a clamp and
 * sets the next; changed nodes come from its list) and, for scale, with libmaxflow solving each clamp from the
 * beginning.
 *
 * Usage: dynamic [difficulty [superpixels]] */
#include "graphs.h"
#include "infer/cut/cut.h"
#include "maxflow_shim.h"

#define N_GRAPHS 12
#define N_DRAWS  3

struct problem {
    int32_t *terminal, *capacity, *clamps;
    double *terminal_bk, *capacity_bk, *weight; /* weight[i] outweighs all that node i touches */
    int32_t n_clamps;
};

struct round {
    double solve, clamps;
};

static void add_round(struct round *sum, struct round r)
{
    sum->solve += r.solve;
    sum->clamps += r.clamps;
}

static uint64_t digest(const uint8_t *labels, int32_t n)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int32_t i = 0; i < n; i++)
        hash = (hash ^ labels[i]) * 0x100000001b3u;
    return hash;
}

/* Shares of the average round. */
static struct round round_between(double start, double middle, double end)
{
    return (struct round){(middle - start) / (N_GRAPHS * N_DRAWS), (end - middle) / (N_GRAPHS * N_DRAWS)};
}

/* Where a clamp's labels are read to; like libmaxflow's, from those of the clamp before. The order of clamps is the
 * solver's own, so digests are added up. */
struct reading {
    int32_t n_nodes, n_flipped, *flipped; /* [n_flipped] where labels differ from the solution's */
    uint8_t *labels;
    uint64_t *hash;
    int check;
};

static void read_clamp(void *context, int32_t node, int64_t cost, const int32_t *flipped, int32_t n_flipped)
{
    struct reading *r = context;
    (void)node;
    (void)cost;
    for (int32_t f = 0; f < r->n_flipped; f++)
        r->labels[r->flipped[f]] ^= 1;
    for (int32_t f = 0; f < n_flipped; f++) {
        r->labels[flipped[f]] ^= 1;
        r->flipped[f] = flipped[f];
    }
    r->n_flipped = n_flipped;
    if (r->check)
        *r->hash += digest(r->labels, r->n_nodes);
}

static struct round round_ours(uint64_t *hash, struct maxflow *graph, const struct problem *p, uint8_t *labels,
                               int check)
{
    static int32_t flipped[1 << 16];
    struct reading reading = {graph->n_nodes, 0, flipped, labels, hash, check};
    double start = thread_seconds();
    maxflow_set(graph, p->terminal, p->capacity, p->capacity);
    maxflow_solve(graph);
    memcpy(labels, graph->label, (size_t)graph->n_nodes);
    double middle = thread_seconds();
    if (clamps_prepare(graph) || clamp_each(graph, p->clamps, p->n_clamps, read_clamp, &reading))
        exit(71);
    return round_between(start, middle, thread_seconds());
}

static struct round round_reused(uint64_t *hash, struct bk *bk, const struct bench_graph *graph,
                                 const struct problem *p, uint8_t *labels, int check)
{
    double start = thread_seconds();
    int failed = bk_solve(bk, NULL, p->terminal_bk, p->capacity_bk, p->capacity_bk, NULL);
    for (int32_t i = 0; i < graph->n; i++)
        labels[i] = (uint8_t)bk_on_source_side(bk, i);
    double middle = thread_seconds();
    for (int32_t k = 0; k < p->n_clamps; k++) {
        int32_t i = p->clamps[k], n_changed;
        if (k > 0) {
            int32_t last = p->clamps[k - 1];
            failed |= bk_change(bk, last, graph->truth[last] ? -p->weight[last] : p->weight[last]);
        }
        failed |= bk_change(bk, i, graph->truth[i] ? p->weight[i] : -p->weight[i]) | bk_resolve(bk, NULL);
        const int32_t *changed = bk_changed(bk, &n_changed);
        for (int32_t c = 0; c < n_changed; c++)
            labels[changed[c]] = (uint8_t)bk_on_source_side(bk, changed[c]);
        if (check)
            *hash += digest(labels, graph->n);
    }
    if (failed)
        exit(70);
    return round_between(start, middle, thread_seconds());
}

/* Seconds per clamp solved afresh, over the first few. */
static double solve_afresh(struct bk *bk, const struct bench_graph *graph, struct problem *p, uint8_t *labels)
{
    int32_t n = p->n_clamps < 8 ? p->n_clamps : 8;
    double start = thread_seconds();
    for (int32_t k = 0; k < n; k++) {
        int32_t i = p->clamps[k];
        double before = p->terminal_bk[i];
        p->terminal_bk[i] = graph->truth[i] ? p->weight[i] : -p->weight[i];
        if (bk_solve(bk, NULL, p->terminal_bk, p->capacity_bk, p->capacity_bk, NULL) != BK_OK)
            exit(70);
        for (int32_t v = 0; v < graph->n; v++)
            labels[v] = (uint8_t)bk_on_source_side(bk, v);
        p->terminal_bk[i] = before;
    }
    return n ? (thread_seconds() - start) / n : 0;
}

static void make_problem(struct problem *p, const struct bench_graph *graph, const struct difficulty *d, uint64_t draw,
                         struct maxflow *solver)
{
    size_t n = (size_t)graph->n, m = (size_t)graph->m;
    p->terminal = need(malloc(n * sizeof(int32_t)));
    p->capacity = need(malloc(m * sizeof(int32_t)));
    p->clamps = need(malloc(n * sizeof(int32_t)));
    p->terminal_bk = need(malloc(n * sizeof(double)));
    p->capacity_bk = need(malloc(m * sizeof(double)));
    p->weight = need(malloc(n * sizeof(double)));
    draw_problem(p->terminal, p->capacity, graph, d, draw);
    for (size_t i = 0; i < n; i++) {
        p->terminal_bk[i] = p->terminal[i];
        p->weight[i] = 1 + fabs(p->terminal_bk[i]);
    }
    for (size_t e = 0; e < m; e++) {
        p->capacity_bk[e] = p->capacity[e];
        p->weight[graph->edges[e][0]] += p->capacity[e];
        p->weight[graph->edges[e][1]] += p->capacity[e];
    }
    maxflow_set(solver, p->terminal, p->capacity, p->capacity);
    maxflow_solve(solver);
    p->n_clamps = 0;
    for (int32_t i = 0; i < graph->n; i++)
        if (solver->label[i] != graph->truth[i])
            p->clamps[p->n_clamps++] = i;
}

static void free_problem(struct problem *p)
{
    free(p->terminal);
    free(p->capacity);
    free(p->clamps);
    free(p->terminal_bk);
    free(p->capacity_bk);
    free(p->weight);
}

static void report(const struct difficulty *d, int32_t size, struct round *ours, struct round *theirs, double afresh,
                   double n_clamps)
{
    double a[REPETITIONS], b[REPETITIONS];
    char what[64];
    for (int r = 0; r < REPETITIONS; r++) {
        a[r] = ours[r].solve + ours[r].clamps;
        b[r] = theirs[r].solve + theirs[r].clamps;
    }
    snprintf(what, sizeof what, "dynamic round %s %d nodes", d->name, size);
    print_ratio(what, a, b, REPETITIONS);
    for (int r = 0; r < REPETITIONS; r++) {
        a[r] = ours[r].clamps / n_clamps;
        b[r] = theirs[r].clamps / n_clamps;
    }
    snprintf(what, sizeof what, "one clamp %s %d nodes", d->name, size);
    print_ratio(what, a, b, REPETITIONS);
    printf("clamps afresh %s %d nodes: %.0fx libmaxflow %.1f us, %.0f clamps a round\n", d->name, size,
           afresh / median(a, REPETITIONS), 1e6 * afresh, n_clamps);
}

/* All rounds on one graph, by one engine and then by the other. */
static void run_draws(struct round *ours, struct round *theirs, struct maxflow *solver, struct bk *bk,
                      const struct bench_graph *graph, struct problem *problems, uint8_t *labels, int check)
{
    uint64_t hash = 0, hash_bk = 0;
    struct round a = {0}, b = {0};
    for (int k = 0; k < N_DRAWS; k++)
        add_round(&a, round_ours(&hash, solver, &problems[k], labels, check));
    for (int k = 0; k < N_DRAWS; k++)
        add_round(&b, round_reused(&hash_bk, bk, graph, &problems[k], labels, check));
    if (hash != hash_bk) {
        fprintf(stderr, "labels differ\n");
        exit(70);
    }
    add_round(ours, a);
    add_round(theirs, b);
}

static void run(const struct bench_graph *graphs, const struct difficulty *d, int32_t size)
{
    static struct problem problems[N_GRAPHS][N_DRAWS];
    static struct maxflow solvers[N_GRAPHS];
    static struct bk *bks[N_GRAPHS];
    static uint8_t labels[1 << 16];
    double n_clamps = 0, afresh = 0;
    for (int g = 0; g < N_GRAPHS; g++) {
        const struct bench_graph *graph = &graphs[g];
        maxflow_init(&solvers[g]);
        if (maxflow_build(&solvers[g], graph->n, graph->m, (const int32_t(*)[2])graph->edges) ||
            bk_new(&bks[g], graph->n, graph->m, (const int32_t(*)[2])graph->edges, NULL))
            exit(71);
        for (int k = 0; k < N_DRAWS; k++) {
            make_problem(&problems[g][k], graph, d, (uint64_t)(g * N_DRAWS + k), &solvers[g]);
            n_clamps += (double)problems[g][k].n_clamps / (N_GRAPHS * N_DRAWS);
        }
    }
    struct round ours[REPETITIONS + 1] = {0}, theirs[REPETITIONS + 1] = {0};
    for (int r = 0; r <= REPETITIONS; r++)
        for (int g = 0; g < N_GRAPHS; g++)
            run_draws(&ours[r], &theirs[r], &solvers[g], bks[g], &graphs[g], problems[g], labels, r == 0);
    for (int g = 0; g < N_GRAPHS; g++)
        for (int k = 0; k < N_DRAWS; k++)
            afresh += solve_afresh(bks[g], &graphs[g], &problems[g][k], labels) / (N_GRAPHS * N_DRAWS);
    report(d, size, ours + 1, theirs + 1, afresh, n_clamps);
    for (int g = 0; g < N_GRAPHS; g++) {
        maxflow_release(&solvers[g]);
        bk_free(bks[g]);
        for (int k = 0; k < N_DRAWS; k++)
            free_problem(&problems[g][k]);
    }
}

int main(int argc, char **argv)
{
    run_benchmark(argc, argv, N_GRAPHS, run);
    return 0;
}
