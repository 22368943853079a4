/* Sum-product on a 20x31 grid with 7 labels and full tables, one thread, beside the textbook's way in plain C: messages
 * in the linear domain, the product of all incoming ones but one, times the table, normalised; node after node, forth
 * and back. Exponentials of the scores included on both sides; ours checks its input and tells the Bethe value as well.
 * No package of Debian 12 has belief propagation for such fields (libDAI left Debian before). */
#include "graphs.h"

#define WIDTH     31
#define HEIGHT    20
#define N_NODES   (WIDTH * HEIGHT)
#define N_LABELS  7
#define N_EDGES   (2 * N_NODES - WIDTH - HEIGHT)
#define TOLERANCE 1e-9
#define RUNS      3 /* a round, of each */

static int32_t edges[N_EDGES][2];
static double unary[N_NODES][N_LABELS], tables[N_EDGES][N_LABELS][N_LABELS];

static void draw_field(uint64_t seed, double strength)
{
    int32_t m = 0;
    for (int32_t i = 0; i < N_NODES; i++) {
        for (int32_t k = 0; k < N_LABELS; k++)
            unary[i][k] = rng_normal(seed, RNG_STREAM(RNG_TEST, 6), (uint64_t)(i * N_LABELS + k));
        for (int side = 0; side < 2; side++) {
            if (side ? i + WIDTH >= N_NODES : i % WIDTH == WIDTH - 1)
                continue;
            edges[m][0] = i;
            edges[m++][1] = side ? i + WIDTH : i + 1;
        }
    }
    for (int32_t e = 0; e < N_EDGES; e++)
        for (int32_t c = 0; c < N_LABELS * N_LABELS; c++)
            tables[e][c / N_LABELS][c % N_LABELS] =
                strength * rng_normal(seed, RNG_STREAM(RNG_TEST, 7), (uint64_t)(e * N_LABELS * N_LABELS + c));
}

/* The textbook's state: arc 2 e goes along edge e, arc 2 e + 1 back. */
static double weight[N_NODES][N_LABELS], kernel[N_EDGES][N_LABELS][N_LABELS], message[2 * N_EDGES][N_LABELS];
static int32_t arcs[N_NODES][4], n_arcs[N_NODES];

/* Like a library's, whose compiler does not know how many labels there will be. */
static volatile int label_count = N_LABELS;

static double send_plainly(int32_t arc, int k)
{
    int32_t e = arc / 2, from = edges[e][arc % 2];
    double cavity[N_LABELS], fresh[N_LABELS] = {0}, sum = 0, change = 0;
    memcpy(cavity, weight[from], sizeof cavity);
    for (int s = 0; s < n_arcs[from]; s++)
        for (int a = 0; arcs[from][s] != arc && a < k; a++)
            cavity[a] *= message[arcs[from][s] ^ 1][a];
    for (int a = 0; a < k; a++)
        for (int b = 0; b < k; b++)
            fresh[b] += cavity[a] * (arc % 2 ? kernel[e][b][a] : kernel[e][a][b]);
    for (int b = 0; b < k; b++)
        sum += fresh[b];
    for (int b = 0; b < k; b++) {
        fresh[b] /= sum;
        double differs = fabs(fresh[b] - message[arc][b]);
        change = differs > change ? differs : change;
        message[arc][b] = fresh[b];
    }
    return change;
}

static int run_plainly(double (*beliefs)[N_LABELS])
{
    int n_iterations = 0, n_labels = label_count;
    double change = 1;
    memset(n_arcs, 0, sizeof n_arcs);
    for (int32_t i = 0; i < N_NODES; i++)
        for (int k = 0; k < N_LABELS; k++)
            weight[i][k] = exp(unary[i][k]);
    for (int32_t e = 0; e < N_EDGES; e++) {
        for (int c = 0; c < N_LABELS * N_LABELS; c++)
            kernel[e][c / N_LABELS][c % N_LABELS] = exp(tables[e][c / N_LABELS][c % N_LABELS]);
        for (int side = 0; side < 2; side++) {
            arcs[edges[e][side]][n_arcs[edges[e][side]]++] = 2 * e + side;
            for (int k = 0; k < N_LABELS; k++)
                message[2 * e + side][k] = 1.0 / N_LABELS;
        }
    }
    for (; change > TOLERANCE && n_iterations < 200; n_iterations++) {
        change = 0;
        for (int32_t r = 0; r < 2 * N_NODES; r++) {
            int32_t i = r < N_NODES ? N_NODES - 1 - r : r - N_NODES;
            for (int s = 0; s < n_arcs[i]; s++)
                if ((edges[arcs[i][s] / 2][!(arcs[i][s] % 2)] > i) == (r >= N_NODES)) {
                    double sent = send_plainly(arcs[i][s], n_labels);
                    change = sent > change ? sent : change;
                }
        }
    }
    for (int32_t i = 0; i < N_NODES; i++) {
        double total = 0;
        for (int a = 0; a < N_LABELS; a++) {
            beliefs[i][a] = weight[i][a];
            for (int s = 0; s < n_arcs[i]; s++)
                beliefs[i][a] *= message[arcs[i][s] ^ 1][a];
            total += beliefs[i][a];
        }
        for (int a = 0; a < N_LABELS; a++)
            beliefs[i][a] /= total;
    }
    return n_iterations;
}

static void compare(double strength)
{
    static double ours[N_NODES][N_LABELS], theirs[N_NODES][N_LABELS];
    double our_time[REPETITIONS], their_time[REPETITIONS], ratio[REPETITIONS], farthest = 0;
    int plain_iterations = 0;
    struct clv_bp *bp;
    struct clv_bp_options options;
    struct clv_bp_result result = {0};
    struct clv_error error;
    struct clv_field field = {.n_nodes = N_NODES,
                              .n_edges = N_EDGES,
                              .n_labels = N_LABELS,
                              .form = CLV_PAIRWISE_FULL,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = &unary[0][0],
                              .pairwise = &tables[0][0][0]};
    clv_bp_defaults(&options);
    options.tolerance = TOLERANCE;
    stop_on(clv_bp_new(&bp, &error), &error);
    for (int r = 0; r < REPETITIONS; r++) {
        draw_field(1 + (uint64_t)r, strength);
        double start = thread_seconds();
        for (int run = 0; run < RUNS; run++)
            stop_on(clv_bp_run(bp, &ours[0][0], NULL, &result, &field, &options, &error), &error);
        our_time[r] = (thread_seconds() - start) / RUNS;
        start = thread_seconds();
        for (int run = 0; run < RUNS; run++)
            plain_iterations = run_plainly(theirs);
        their_time[r] = (thread_seconds() - start) / RUNS;
        ratio[r] = our_time[r] / their_time[r];
        for (int32_t i = 0; i < N_NODES; i++)
            for (int a = 0; a < N_LABELS; a++)
                farthest = fmax(farthest, fabs(ours[i][a] - theirs[i][a]));
    }
    clv_bp_free(bp);
    double middle = median(ratio, REPETITIONS);
    printf("sum-product %dx%d, %d labels, tables N(0, %g^2): %.2f (%.2f..%.2f) ours %.2f ms, %d iterations, textbook "
           "%.2f ms, %d; "
           "beliefs within %.0e, %d rounds\n",
           HEIGHT, WIDTH, N_LABELS, strength, middle, ratio[0], ratio[REPETITIONS - 1],
           1e3 * median(our_time, REPETITIONS), result.n_iterations, 1e3 * median(their_time, REPETITIONS),
           plain_iterations, farthest, REPETITIONS);
}

int main(void)
{
    compare(0.3);
    compare(0.7);
    compare(1.2);
    return 0;
}
