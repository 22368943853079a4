/* Compares one solve of ours with one of libmaxflow's, labels included. First, fields of every kind and size through
 * clv_oracle_map, by an oracle that has the graph already and by a new one: regions of all photographs (horses, and the
 * first frames of DAVIS), grids, paths and others. Then new noise on the kept graphs of superpixels of horses: only sets
 * all capacities, solves, and reads all labels. Times are CPU times, medians of nine interleaved pairs.
 *
 *     solve [--max-nodes N] [--every K] [ROW]    N is 9600 if it is not given, 614400 at most, which takes hours; takes
 *                                                every K-th photograph; rows as they are printed; D1, D2, D3 are the
 *                                                last ones
 *     solve FILE.max..                           problems in DIMACS format, gzip or plain */
#include "cut_graphs.h"
#include "dimacs.h"
#include "graphs.h"
#include "maxflow_shim.h"
#include "memory_grown.h"

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

/* --- fields of every kind --- */

enum { MOST_PHOTOS = 400, N_SIZES = 6, USUAL_NODES = 9600, MOST_AT_HUBS = 9600 /* libmaxflow takes minutes of more */ };
static const int32_t sizes[N_SIZES] = {600, 2400, 9600, 38400, 153600, 614400};

/* Seconds of one solve by an oracle that has the graph, or by a new one. */
static double solve_seconds(int32_t *y, struct clv_oracle *kept, enum clv_engine engine, const struct clv_field *field)
{
    struct clv_error error;
    struct clv_oracle *oracle = kept;
    double start = thread_seconds();
    if (!kept)
        stop_on(clv_oracle_new(&oracle, engine, &error), &error);
    stop_on(clv_oracle_map(oracle, y, NULL, field, &error), &error);
    if (!kept)
        clv_oracle_free(oracle);
    return thread_seconds() - start;
}

/* Ratios of fields of regions, by a kept oracle. */
struct ratios {
    double *values, log_sum, worst;
    size_t n, capacity;
    char where[512]; /* the worst that takes WORTH_MS, or "" */
};

#define MOST_ROUNDS 99
#define SUSPICIOUS  .9
#define WORTH_MS    .02 /* what takes less is never the worst */

static void add_ratio(struct ratios *self, double ratio, double ms, const char *where)
{
    if (array_reserve((void **)&self->values, &self->capacity, self->n + 1, sizeof *self->values))
        exit(71);
    self->values[self->n++] = ratio;
    self->log_sum += log(ratio);
    if (ms < WORTH_MS || ratio <= self->worst)
        return;
    self->worst = ratio;
    snprintf(self->where, sizeof self->where, "%s, %.3f ms", where, ms);
}

static void print_ratios(const char *what, struct ratios *self)
{
    if (!self->n)
        return;
    double middle = median(self->values, self->n);
    printf("%-33s median %.3f, geometric mean %.3f, worst %.2f (%s), %zu fields\n", what, middle,
           exp(self->log_sum / (double)self->n), self->worst, self->where, self->n);
    fflush(stdout);
}

static void ratios_release(struct ratios *self)
{
    array_free(self->values);
    *self = (struct ratios){0};
}

static struct clv_field field_of_cut(const struct cut_field *cut)
{
    return (struct clv_field){.n_nodes = cut->n,
                              .n_edges = cut->m,
                              .n_labels = 2,
                              .form = CLV_PAIRWISE_POTTS,
                              .edges = (const int32_t(*)[2])cut->edges,
                              .unary = cut->unary,
                              .pairwise = cut->coupling};
}

/* One field: the ratio of kept and of new oracles, medians of interleaved pairs. */
static void compare_over(double ratio[2], double ms[2], const struct cut_field *cut, size_t rounds)
{
    struct clv_error error;
    struct clv_field field = field_of_cut(cut);
    int32_t *y[2];
    for (int is_new = 0; is_new < 2; is_new++) {
        struct clv_oracle *oracle[2] = {NULL, NULL};
        double time[2][MOST_ROUNDS], both[MOST_ROUNDS];
        for (int side = 0; side < 2; side++) {
            enum clv_engine engine = side ? CLV_ENGINE_BK : CLV_ENGINE_CLEAVE;
            y[side] = need(malloc((size_t)cut->n * sizeof *y[side]));
            if (!is_new) {
                stop_on(clv_oracle_new(&oracle[side], engine, &error), &error);
                solve_seconds(y[side], oracle[side], engine, &field);
            }
        }
        for (size_t n = 0; n < rounds; n++) {
            for (int turn = 0; turn < 2; turn++) {
                int side = (int)(n & 1) ^ turn;
                time[side][n] = solve_seconds(y[side], oracle[side], side ? CLV_ENGINE_BK : CLV_ENGINE_CLEAVE, &field);
            }
            if (memcmp(y[0], y[1], (size_t)cut->n * sizeof *y[0])) {
                fprintf(stderr, "labels differ\n");
                exit(70);
            }
            both[n] = time[0][n] / time[1][n];
        }
        ratio[is_new] = median(both, rounds);
        ms[is_new] = 1e3 * median(time[0], rounds);
        for (int side = 0; side < 2; side++) {
            clv_oracle_free(oracle[side]);
            free(y[side]);
        }
    }
}

/* What may be lost is measured again for longer: on a busy machine nine pairs of small fields differ. */
static void compare(double ratio[2], double ms[2], const struct cut_field *cut)
{
    compare_over(ratio, ms, cut, REPETITIONS);
    if (ratio[0] > SUSPICIOUS && ms[0] < 10)
        compare_over(ratio, ms, cut, MOST_ROUNDS);
}

static void print_row(const char *name, int32_t n, const double ratio[2], const double ms[2])
{
    printf("%-24s %7d nodes: %.2f ours %.3f ms | new: %.2f ours %.3f ms\n", name, n, ratio[0], ms[0], ratio[1], ms[1]);
    fflush(stdout);
}

static struct cut_field field_of(const char *name, int32_t n)
{
    return strcmp(name, "grid") == 0               ? grid_field(n, false)
           : strcmp(name, "path") == 0             ? path_field(n, false)
           : strcmp(name, "path by its ends") == 0 ? path_field(n, true)
           : strcmp(name, "tree") == 0             ? tree_field(n)
           : strcmp(name, "star") == 0             ? hub_field(n, 1)
           : strcmp(name, "two hubs") == 0         ? hub_field(n, 2)
                                                   : ladder_field(n);
}

struct solving {
    enum clv_engine engine;
    struct clv_field field;
    int32_t *y;
};

static void solve_once(void *context)
{
    const struct solving *solving = context;
    solve_seconds(solving->y, NULL, solving->engine, &solving->field);
}

/* Of a new oracle beside the field. */
static void print_memory(void)
{
    struct cut_field cut = grid_field(2500000, true);
    double bytes[2];
    for (int side = 0; side < 2; side++) {
        struct solving solving = {side ? CLV_ENGINE_BK : CLV_ENGINE_CLEAVE, field_of_cut(&cut),
                                  need(malloc((size_t)cut.n * sizeof(int32_t)))};
        memset(solving.y, 1, (size_t)cut.n * sizeof *solving.y);
        bytes[side] = memory_grown(solve_once, &solving);
        free(solving.y);
    }
    printf("memory at %d nodes, %d edges: %.0f MB, libmaxflow %.0f MB\n", cut.n, cut.m, bytes[0] / 1e6, bytes[1] / 1e6);
    cut_field_free(&cut);
}

static bool is_asked(const char *name, const char *only)
{
    return !only || strcmp(name, only) == 0;
}

/* The photographs, by path. */
struct photos {
    char paths[MOST_PHOTOS][256];
    int n;
};

/* Adds the images of a manifest whose line has `text` in it. */
static void add_photos(struct photos *self, const char *set, const char *text)
{
    char path[512], line[4096], image[128];
    const char *root = getenv("CLEAVE_DATA");
    snprintf(path, sizeof path, "%s/%s/manifest.tsv", root ? root : "../shared/data", set);
    FILE *file = fopen(path, "r");
    if (!file) {
        printf("skipped: regions: %s is absent\n", path);
        return;
    }
    bool is_header = true;
    for (; self->n < MOST_PHOTOS && fgets(line, sizeof line, file); is_header = false)
        if (!is_header && strstr(line, text) && sscanf(line, "%127[^\t]", image) == 1)
            snprintf(self->paths[self->n++], sizeof *self->paths, "%s/%s/%s", root ? root : "../shared/data", set,
                     image);
    fclose(file);
}

static const struct region_kind {
    const char *name;
    double strength;
    bool seeds;
} kinds[] = {{"regions weak", .3, false}, {"regions strong", 2, false}, {"regions seeds", 1, true}};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

static void run_photo(struct ratios ratios[N_KINDS], struct ratios *all, const char *path, int32_t n, const char *only)
{
    struct clv_image photo = {0};
    struct clv_error error;
    stop_on(clv_image_read(&photo, path, NULL, &error), &error);
    struct regions regions = regions_of(&photo, n, n > 100000 ? 64 : 256);
    for (int k = 0; k < N_KINDS; k++) {
        double ratio[2], ms[2];
        char where[256];
        if (!is_asked(kinds[k].name, only))
            continue;
        struct cut_field field = field_of_regions(&regions, kinds[k].strength, kinds[k].seeds);
        compare(ratio, ms, &field);
        snprintf(where, sizeof where, "%s, %d nodes, %.100s", kinds[k].name, n, path_name(path));
        add_ratio(&ratios[k], ratio[0], ms[0], where);
        add_ratio(all, ratio[0], ms[0], where);
        if (ratio[0] > 1 && ms[0] >= WORTH_MS)
            printf("lost: %s: %.2f, ours %.3f ms\n", where, ratio[0], ms[0]);
        cut_field_free(&field);
    }
    regions_free(&regions);
    clv_image_release(&photo);
}

static void run_regions(struct ratios *all, const struct photos *photos, int32_t n, const char *only)
{
    struct ratios ratios[N_KINDS] = {{0}};
    if (only && strncmp(only, "regions", 7) != 0)
        return;
    for (int p = 0; p < photos->n; p++)
        run_photo(ratios, all, photos->paths[p], n, only);
    for (int k = 0; k < N_KINDS; k++) {
        char what[64];
        snprintf(what, sizeof what, "%s %d nodes", kinds[k].name, n);
        print_ratios(what, &ratios[k]);
        ratios_release(&ratios[k]);
    }
}

/* Keeps every step-th photograph, the first one among them. */
static void keep_every(struct photos *self, int step)
{
    int n = self->n;
    self->n = 0;
    for (int p = 0; p < n; p += step)
        memmove(self->paths[self->n++], self->paths[p], sizeof *self->paths);
}

static void run_table(int32_t largest, int step, const char *only)
{
    static const char *const names[] = {"grid", "path", "path by its ends", "tree", "star", "two hubs", "ladder"};
    static struct photos photos;
    struct ratios all = {0};
    add_photos(&photos, "horses", "");
    add_photos(&photos, "davis", "\tfirst\t");
    keep_every(&photos, step);
    for (int s = 0; s < N_SIZES && sizes[s] <= largest; s++) {
        run_regions(&all, &photos, sizes[s], only);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            bool is_hub = strcmp(names[k], "star") == 0 || strcmp(names[k], "two hubs") == 0;
            if (!is_asked(names[k], only) || (is_hub && sizes[s] > MOST_AT_HUBS))
                continue;
            double ratio[2], ms[2];
            struct cut_field field = field_of(names[k], sizes[s]);
            compare(ratio, ms, &field);
            print_row(names[k], field.n, ratio, ms);
            cut_field_free(&field);
        }
    }
    print_ratios("regions, all", &all);
    ratios_release(&all);
    if (is_asked("memory", only) && largest >= sizes[N_SIZES - 1])
        print_memory();
}

/* --- files --- */

static void run_file(const char *path)
{
    struct dimacs problem;
    struct clv_error error;
    struct maxflow ours;
    struct bk *bk;
    double time[2][REPETITIONS], both[REPETITIONS];
    stop_on(dimacs_read(&problem, path, &error), &error);
    const int32_t(*edges)[2] = (const int32_t(*)[2])problem.edges;
    size_t m = (size_t)problem.m;
    bool is_symmetric = !m || memcmp(problem.forward, problem.backward, m * sizeof *problem.forward) == 0;
    const int32_t *backward = is_symmetric ? problem.forward : problem.backward; /* which is told by the address */
    uint8_t *labels[2];
    double *capacity[3];
    for (int side = 0; side < 2; side++)
        labels[side] = need(malloc((size_t)problem.n + 1));
    for (int k = 0; k < 3; k++)
        capacity[k] = need(malloc(((size_t)(k ? problem.m : problem.n) + 1) * sizeof *capacity[k]));
    for (int32_t i = 0; i < problem.n; i++)
        capacity[0][i] = problem.terminal[i];
    for (int32_t e = 0; e < problem.m; e++) {
        capacity[1][e] = problem.forward[e];
        capacity[2][e] = problem.backward[e];
    }
    maxflow_init(&ours);
    if (maxflow_build(&ours, problem.n, problem.m, edges) || bk_new(&bk, problem.n, problem.m, edges, NULL))
        exit(71);
    for (int r = -1; r < REPETITIONS; r++) { /* the first one warms up */
        double start = thread_seconds();
        maxflow_set(&ours, problem.terminal, problem.forward, backward);
        maxflow_solve(&ours);
        memcpy(labels[0], ours.label, (size_t)problem.n);
        double middle = thread_seconds();
        if (bk_solve(bk, NULL, capacity[0], capacity[1], capacity[2], NULL) != BK_OK)
            exit(70);
        for (int32_t i = 0; i < problem.n; i++)
            labels[1][i] = (uint8_t)bk_on_source_side(bk, i);
        double end = thread_seconds();
        if (r < 0)
            continue;
        time[0][r] = middle - start;
        time[1][r] = end - middle;
        both[r] = time[0][r] / time[1][r];
    }
    if (memcmp(labels[0], labels[1], (size_t)problem.n)) {
        fprintf(stderr, "%s: labels differ\n", path);
        exit(70);
    }
    printf("%s: %d nodes, flow %" PRId64 ": %.2f ours %.3f ms, libmaxflow %.3f ms\n", path, problem.n + 2,
           dimacs_cost(&problem, labels[0]), median(both, REPETITIONS), 1e3 * median(time[0], REPETITIONS),
           1e3 * median(time[1], REPETITIONS));
    maxflow_release(&ours);
    bk_free(bk);
    for (int side = 0; side < 2; side++)
        free(labels[side]);
    for (int k = 0; k < 3; k++)
        free(capacity[k]);
    dimacs_release(&problem);
}

static bool is_file(const char *name)
{
    return strstr(name, ".max") || strchr(name, '/');
}

int main(int argc, char **argv)
{
    int at = 1;
    int32_t largest = USUAL_NODES, step = 1;
    for (; at < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        int32_t *value = strcmp(argv[at], "--max-nodes") == 0 ? &largest
                         : strcmp(argv[at], "--every") == 0   ? &step
                                                              : NULL;
        if (value && at + 1 < argc)
            *value = (int32_t)strtol(argv[at + 1], NULL, 10);
        if (!value || at + 1 == argc || *value < 1) {
            fprintf(stderr, "solve: %s: there are --max-nodes N and --every K, of 1 or more\n", argv[at]);
            return 2;
        }
    }
    for (int k = at; k < argc && is_file(argv[at]); k++)
        run_file(argv[k]);
    if (at < argc && is_file(argv[at]))
        return 0;
    const char *only = at < argc ? argv[at] : NULL;
    if (!only || only[0] != 'D')
        run_table(largest, step, only);
    if (!only || only[0] == 'D') {
        char *arguments[] = {argv[0], (char *)(only ? only : "all"), NULL};
        run_benchmark(2, arguments, N_GRAPHS, run);
    }
    return 0;
}
