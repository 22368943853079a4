/* Belief propagation on a 20x31 grid, one thread, compared with the textbook's method in plain C: messages in the
 * linear domain, the product of all incoming ones except one, times the table, normalised, node after node, forwards
 * and backwards. Both sides include the exponentials of the scores, of a table that all edges share once. Ours also
 * checks its input, and returns the Bethe value or decodes. Debian 12 has no package with belief propagation for such
 * fields (it lacks libDAI). */
#include "graphs.h"

#define WIDTH     31
#define HEIGHT    20
#define N_NODES   (WIDTH * HEIGHT)
#define N_EDGES   (2 * N_NODES - WIDTH - HEIGHT)
#define MOST      23 /* labels */
#define TOLERANCE 1e-9
#define RUNS      3 /* a round, of each */

struct setting {
    int32_t n_labels;
    enum clv_bp_mode mode;
    bool is_shared;
    double strength;
};

static const struct setting settings[] = {
    {7, CLV_BP_SUM, false, 0.3},  {7, CLV_BP_SUM, false, 0.7},  {7, CLV_BP_SUM, false, 1.2},
    {11, CLV_BP_SUM, false, 0.7}, {15, CLV_BP_SUM, false, 0.7}, {23, CLV_BP_SUM, false, 0.7},
    {7, CLV_BP_SUM, true, 0.7},   {15, CLV_BP_SUM, true, 0.7},  {23, CLV_BP_SUM, true, 0.7},
    {7, CLV_BP_MAX, false, 0.3},  {15, CLV_BP_MAX, false, 0.3}, {23, CLV_BP_MAX, false, 0.3},
    {7, CLV_BP_MAX, true, 0.3},   {15, CLV_BP_MAX, true, 0.3},  {23, CLV_BP_MAX, true, 0.3},
};

static int32_t edges[N_EDGES][2];
static double unary[N_NODES * MOST], tables[N_EDGES * MOST * MOST];

static void draw_field(uint64_t seed, const struct setting *setting)
{
    int32_t m = 0, k = setting->n_labels, n_cells = (setting->is_shared ? 1 : N_EDGES) * k * k;
    for (int32_t c = 0; c < N_NODES * k; c++)
        unary[c] = rng_normal(seed, RNG_STREAM(RNG_TEST, 6), (uint64_t)c);
    for (int32_t i = 0; i < N_NODES; i++)
        for (int side = 0; side < 2; side++) {
            if (side ? i + WIDTH >= N_NODES : i % WIDTH == WIDTH - 1)
                continue;
            edges[m][0] = i;
            edges[m++][1] = side ? i + WIDTH : i + 1;
        }
    for (int32_t c = 0; c < n_cells; c++)
        tables[c] = setting->strength * rng_normal(seed, RNG_STREAM(RNG_TEST, 7), (uint64_t)c);
}

/* The textbook's state: arc 2 e goes along edge e, arc 2 e + 1 back. */
static double weight[N_NODES * MOST], kernel[N_EDGES * MOST * MOST], message[2 * N_EDGES * MOST];
static int32_t arcs[N_NODES][4], n_arcs[N_NODES];

static double send_plainly(int32_t arc, const struct setting *setting, int k)
{
    int32_t e = arc / 2, from = edges[e][arc % 2];
    double cavity[MOST], fresh[MOST] = {0}, norm = 0, change = 0, *sent = &message[arc * k];
    const double *table = &kernel[setting->is_shared ? 0 : e * k * k];
    memcpy(cavity, &weight[from * k], (size_t)k * sizeof *cavity);
    for (int s = 0; s < n_arcs[from]; s++)
        for (int a = 0; arcs[from][s] != arc && a < k; a++)
            cavity[a] *= message[(arcs[from][s] ^ 1) * k + a];
    if (setting->mode == CLV_BP_SUM) {
        for (int a = 0; a < k; a++)
            for (int b = 0; b < k; b++)
                fresh[b] += cavity[a] * (arc % 2 ? table[b * k + a] : table[a * k + b]);
        for (int b = 0; b < k; b++)
            norm += fresh[b];
    } else {
        for (int a = 0; a < k; a++)
            for (int b = 0; b < k; b++) {
                double term = cavity[a] * (arc % 2 ? table[b * k + a] : table[a * k + b]);
                fresh[b] = term > fresh[b] ? term : fresh[b];
            }
        for (int b = 0; b < k; b++)
            norm = fresh[b] > norm ? fresh[b] : norm;
    }
    for (int b = 0; b < k; b++) {
        fresh[b] /= norm;
        double differs = fabs(fresh[b] - sent[b]);
        change = differs > change ? differs : change;
        sent[b] = fresh[b];
    }
    return change;
}

/* beliefs[n_nodes][k], of maxima divided by the largest. */
static int run_plainly(double *beliefs, const struct setting *setting)
{
    int n_iterations = 0, k = setting->n_labels, n_cells = (setting->is_shared ? 1 : N_EDGES) * k * k;
    double change = 1;
    memset(n_arcs, 0, sizeof n_arcs);
    for (int c = 0; c < N_NODES * k; c++)
        weight[c] = exp(unary[c]);
    for (int c = 0; c < n_cells; c++)
        kernel[c] = exp(tables[c]);
    for (int32_t arc = 0; arc < 2 * N_EDGES; arc++) {
        int32_t node = edges[arc / 2][arc % 2];
        arcs[node][n_arcs[node]++] = arc;
        for (int b = 0; b < k; b++)
            message[arc * k + b] = 1.0 / k;
    }
    for (; change > TOLERANCE && n_iterations < 200; n_iterations++) {
        change = 0;
        for (int32_t r = 0; r < 2 * N_NODES; r++) {
            int32_t i = r < N_NODES ? N_NODES - 1 - r : r - N_NODES;
            for (int s = 0; s < n_arcs[i]; s++)
                if ((edges[arcs[i][s] / 2][!(arcs[i][s] % 2)] > i) == (r >= N_NODES)) {
                    double sent = send_plainly(arcs[i][s], setting, k);
                    change = sent > change ? sent : change;
                }
        }
    }
    for (int32_t i = 0; i < N_NODES; i++) {
        double total = 0, *belief = &beliefs[i * k];
        for (int a = 0; a < k; a++) {
            belief[a] = weight[i * k + a];
            for (int s = 0; s < n_arcs[i]; s++)
                belief[a] *= message[(arcs[i][s] ^ 1) * k + a];
            total = setting->mode == CLV_BP_SUM ? total + belief[a] : fmax(total, belief[a]);
        }
        for (int a = 0; a < k; a++)
            belief[a] /= total;
    }
    return n_iterations;
}

static void compare(const struct setting *setting)
{
    static double ours[N_NODES * MOST], theirs[N_NODES * MOST];
    double our_time[REPETITIONS], their_time[REPETITIONS], ratio[REPETITIONS], farthest = 0;
    int plain_iterations = 0, n_open = 0, k = setting->n_labels;
    struct clv_bp *bp;
    struct clv_bp_options options;
    struct clv_bp_result result = {0};
    struct clv_error error;
    struct clv_field field = {.n_nodes = N_NODES,
                              .n_edges = N_EDGES,
                              .n_labels = k,
                              .form = CLV_PAIRWISE_FULL,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = tables,
                              .is_shared = setting->is_shared};
    clv_bp_defaults(&options);
    options.mode = setting->mode;
    options.tolerance = TOLERANCE;
    stop_on(clv_bp_new(&bp, &error), &error);
    for (int r = 0; r < REPETITIONS; r++) {
        draw_field(1 + (uint64_t)r, setting);
        double start = thread_seconds();
        for (int run = 0; run < RUNS; run++)
            stop_on(clv_bp_run(bp, ours, NULL, &result, &field, &options, &error), &error);
        our_time[r] = (thread_seconds() - start) / RUNS;
        start = thread_seconds();
        for (int run = 0; run < RUNS; run++)
            plain_iterations = run_plainly(theirs, setting);
        their_time[r] = (thread_seconds() - start) / RUNS;
        ratio[r] = our_time[r] / their_time[r];
        n_open += !result.is_converged;
        for (int32_t c = 0; result.is_converged && c < N_NODES * k; c++)
            farthest = fmax(farthest, fabs((setting->mode == CLV_BP_SUM ? ours[c] : exp(ours[c])) - theirs[c]));
    }
    clv_bp_free(bp);
    double middle = median(ratio, REPETITIONS);
    printf("%s-product %dx%d, %d labels, %s N(0, %g^2): %.2f (%.2f..%.2f) ours %.2f ms, %d iterations, textbook "
           "%.2f ms, %d; beliefs within %.0e, %d rounds, %d not converged\n",
           setting->mode == CLV_BP_SUM ? "sum" : "max", HEIGHT, WIDTH, k, setting->is_shared ? "one table" : "tables",
           setting->strength, middle, ratio[0], ratio[REPETITIONS - 1], 1e3 * median(our_time, REPETITIONS),
           result.n_iterations, 1e3 * median(their_time, REPETITIONS), plain_iterations, farthest, REPETITIONS, n_open);
}

int main(void)
{
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++)
        compare(&settings[s]);
    return 0;
}
