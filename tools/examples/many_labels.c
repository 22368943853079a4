/* Labels a graph of one's own without any training: pixels of four grey levels under noise, where levels that are far
 * apart seldom meet. Expansion needs like couplings or a metric table; swap takes the squared differences, too.
 *     cc many_labels.c $(pkg-config --cflags --libs cleave) -o many_labels && ./many_labels */
#include <cleave.h>
#include <stdio.h>

enum { WIDTH = 48, HEIGHT = 40, LEVELS = 4, N = WIDTH * HEIGHT, M = (WIDTH - 1) * HEIGHT + WIDTH * (HEIGHT - 1) };
static int32_t truth[N], y[N], edges[M][2];
static double unary[N * LEVELS], coupling[M], table[LEVELS * LEVELS];

static int draw(void) /* the truth and its scores; returns how many nodes are right by their own score */
{
    unsigned seed = 1;
    int n_right = 0, e = 0;
    for (int i = 0; i < N; i++) {
        int x = i % WIDTH, top = i / WIDTH, best = 0;
        seed = seed * 1664525U + 1013904223U; /* pseudo-random */
        truth[i] = (x / 12 + top / 20) % LEVELS;
        double seen = truth[i] + 3 * ((double)(seed >> 8) / (1 << 24) - 0.5);
        for (int k = 0; k < LEVELS; k++) {
            unary[i * LEVELS + k] = -(seen - k) * (seen - k);
            best = unary[i * LEVELS + k] > unary[i * LEVELS + best] ? k : best;
        }
        n_right += best == truth[i];
        if (x + 1 < WIDTH)
            edges[e][0] = i, edges[e][1] = i + 1, coupling[e++] = 1;
        if (top + 1 < HEIGHT)
            edges[e][0] = i, edges[e][1] = i + WIDTH, coupling[e++] = 1;
    }
    return n_right;
}

static int count_right(void)
{
    int n_right = 0;
    for (int i = 0; i < N; i++)
        n_right += y[i] == truth[i];
    return n_right;
}

int main(void)
{
    static struct clv_field field;
    struct clv_oracle *oracle = NULL;
    int alone = draw(), expanded;
    field.n_nodes = N, field.n_edges = M, field.n_labels = LEVELS;
    field.unary = unary, field.edges = (const int32_t(*)[2])edges;
    field.form = CLV_PAIRWISE_POTTS, field.pairwise = coupling;
    if (clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, NULL) || clv_oracle_expand(oracle, y, NULL, &field, NULL))
        return 1;
    expanded = count_right();
    for (int k = 0; k < LEVELS * LEVELS; k++)
        table[k] = -(k / LEVELS - k % LEVELS) * (k / LEVELS - k % LEVELS); /* the same at every edge */
    field.form = CLV_PAIRWISE_FULL, field.pairwise = table, field.is_shared = 1;
    if (clv_oracle_swap(oracle, y, NULL, &field, NULL))
        return 1;
    printf("of %d pixels right: %d alone, %d by expansion, %d by swap\n", N, alone, expanded, count_right());
    clv_oracle_free(oracle);
    return 0;
}
