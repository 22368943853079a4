/* One solve, ours against libmaxflow's, labels compared. First fields of every kind and size through clv_oracle_map,
 * by an oracle that has the graph already and by a new one; then, of superpixels of horses, fresh noise on a kept
 * graph: set all capacities, solve, read all labels, and nothing else.
 * Usage: solve [largest number of nodes [ROW]]      default 38400, at most 614400; rows as they are printed; D1, D2,
 * D3 are the last ones */
#include "cut_graphs.h"
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

enum { MOST_PHOTOS = 5, N_SIZES = 6, MOST_AT_HUBS = 9600 /* libmaxflow takes minutes of more */ };
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

/* Geometric means over all fields of regions. */
static double regions_sum;
static int n_regions;

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
static void compare(double ratio[2], double ms[2], const struct cut_field *cut)
{
    struct clv_error error;
    struct clv_field field = field_of_cut(cut);
    int32_t *y[2];
    for (int is_new = 0; is_new < 2; is_new++) {
        struct clv_oracle *oracle[2] = {NULL, NULL};
        double time[2][64], total = 0, both[64];
        size_t n = 0;
        for (int side = 0; side < 2; side++) {
            enum clv_engine engine = side ? CLV_ENGINE_BK : CLV_ENGINE_CLEAVE;
            y[side] = need(malloc((size_t)cut->n * sizeof *y[side]));
            if (!is_new) {
                stop_on(clv_oracle_new(&oracle[side], engine, &error), &error);
                solve_seconds(y[side], oracle[side], engine, &field);
            }
        }
        while (n < 3 || (n < 63 && total < .2)) {
            for (int turn = 0; turn < 2; turn++) {
                int side = (int)(n & 1) ^ turn;
                time[side][n] = solve_seconds(y[side], oracle[side], side ? CLV_ENGINE_BK : CLV_ENGINE_CLEAVE, &field);
                total += time[side][n];
            }
            if (memcmp(y[0], y[1], (size_t)cut->n * sizeof *y[0])) {
                fprintf(stderr, "labels differ\n");
                exit(70);
            }
            both[n] = time[0][n] / time[1][n];
            n++;
        }
        ratio[is_new] = median(both, n);
        ms[is_new] = 1e3 * median(time[0], n);
        for (int side = 0; side < 2; side++) {
            clv_oracle_free(oracle[side]);
            free(y[side]);
        }
    }
}

static void print_row(const char *name, int32_t n, double ratio[][2], double ms[][2], int count)
{
    for (int is_new = 0; is_new < 2; is_new++) {
        double least = INFINITY, most = 0, mean = 0, middle = 0;
        for (int k = 0; k < count; k++) {
            least = fmin(least, ratio[k][is_new]);
            most = fmax(most, ratio[k][is_new]);
            mean += log(ratio[k][is_new]) / count;
            middle += ms[k][is_new] / count;
        }
        printf("%s%-24s %7d nodes: %.2f (%.2f..%.2f) ours %.3f ms%s", is_new ? " | new: " : "", is_new ? "" : name, n,
               exp(mean), least, most, middle, is_new ? "\n" : "");
    }
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

static void run_regions(const struct clv_image *photos, int n_photos, int32_t n, const char *only)
{
    static const struct {
        const char *name;
        double strength;
        bool seeds;
    } kinds[] = {{"regions weak", .3, false}, {"regions strong", 2, false}, {"regions seeds", 1, true}};
    double ratio[3][MOST_PHOTOS][2], ms[3][MOST_PHOTOS][2];
    if (only && strncmp(only, "regions", 7) != 0)
        return;
    for (int p = 0; p < n_photos; p++) {
        struct regions regions = regions_of(&photos[p], n, n > 100000 ? 64 : 256);
        for (int k = 0; k < 3; k++) {
            struct cut_field field = field_of_regions(&regions, kinds[k].strength, kinds[k].seeds);
            if (is_asked(kinds[k].name, only))
                compare(ratio[k][p], ms[k][p], &field);
            cut_field_free(&field);
            if (!is_asked(kinds[k].name, only))
                continue;
            regions_sum += log(ratio[k][p][0]);
            n_regions++;
        }
        regions_free(&regions);
    }
    for (int k = 0; k < 3; k++)
        if (is_asked(kinds[k].name, only))
            print_row(kinds[k].name, n, ratio[k], ms[k], n_photos);
}

/* The first frames of DAVIS, as many as there are. */
static int read_photos(struct clv_image photos[MOST_PHOTOS])
{
    static const char *const names[MOST_PHOTOS] = {"dog", "cows", "goat", "kite-surf", "parkour"};
    const char *root = getenv("CLEAVE_DATA");
    char path[4096];
    int n = 0;
    for (int k = 0; k < MOST_PHOTOS; k++) {
        snprintf(path, sizeof path, "%s/davis/images/%s/00000.jpg", root ? root : "../shared/data", names[k]);
        n += clv_image_read(&photos[n], path, NULL, NULL) == CLV_OK;
    }
    if (!n)
        printf("skipped: regions: %s is absent\n", path);
    return n;
}

static void run_table(int32_t largest, const char *only)
{
    static const char *const names[] = {"grid", "path", "path by its ends", "tree", "star", "two hubs", "ladder"};
    struct clv_image photos[MOST_PHOTOS] = {0};
    int n_photos = read_photos(photos);
    for (int s = 0; s < N_SIZES && sizes[s] <= largest; s++) {
        if (n_photos)
            run_regions(photos, n_photos, sizes[s], only);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            bool is_hub = strcmp(names[k], "star") == 0 || strcmp(names[k], "two hubs") == 0;
            if (!is_asked(names[k], only) || (is_hub && sizes[s] > MOST_AT_HUBS))
                continue;
            double ratio[1][2], ms[1][2];
            struct cut_field field = field_of(names[k], sizes[s]);
            compare(ratio[0], ms[0], &field);
            print_row(names[k], field.n, ratio, ms, 1);
            cut_field_free(&field);
        }
    }
    if (n_regions)
        printf("regions: geometric mean of all photographs and sizes %.3f\n", exp(regions_sum / n_regions));
    if (is_asked("memory", only) && largest >= sizes[N_SIZES - 1])
        print_memory();
    for (int p = 0; p < n_photos; p++)
        clv_image_release(&photos[p]);
}

int main(int argc, char **argv)
{
    const char *only = argc > 2 ? argv[2] : NULL;
    if (!only || only[0] != 'D')
        run_table(argc > 1 ? (int32_t)strtol(argv[1], NULL, 10) : sizes[N_SIZES - 1], only);
    if (!only || only[0] == 'D') {
        char *arguments[] = {argv[0], (char *)(only ? only : "all"), NULL};
        run_benchmark(2, arguments, N_GRAPHS, run);
    }
    return 0;
}
