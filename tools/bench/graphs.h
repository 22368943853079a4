/* Shared by the benchmarks of cuts: adjacency graphs of real images with noisy unary scores, the clock, medians. */
#ifndef BENCH_GRAPHS_H
#define BENCH_GRAPHS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "cleave.h"
#include "infer/cut/cut.h"

#define REPETITIONS 9

/* One kind of problem: unary = a (2y - 1) + b N(0,1) + Gumbel difference, couplings w exp(-contrast). */
struct difficulty {
    const char *name;
    double a, b, w;
};
static const struct difficulty difficulties[3] = {{"D1", 1.5, 0.7, 0.5}, {"D2", 1, 1, 1}, {"D3", 0.5, 1, 1.5}};

/* Superpixels of one image: who neighbours whom, how alike neighbours are, and the true label of each. */
struct bench_graph {
    int32_t n, m;
    int32_t (*edges)[2];
    double *coupling; /* exp(-squared colour distance / its mean), in (0, 1] */
    uint8_t *truth;
};

static inline double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Sorts the values. */
static inline double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare_doubles);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static inline void stop_on(enum clv_status status, const struct clv_error *error)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(clv_status_exit_code(status));
}

static inline void *need(void *memory)
{
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(71);
    }
    return memory;
}

static inline void add_contrast(struct bench_graph *graph, const struct clv_superpixels *s,
                                const struct clv_image *image)
{
    double(*mean)[4] = need(calloc((size_t)s->n, sizeof *mean)), total = 0;
    for (size_t p = 0; p < (size_t)s->width * (size_t)s->height; p++) {
        double *m = mean[s->labels[p]];
        for (int c = 0; c < 3; c++)
            m[c] += image->pixels[3 * p + (size_t)c];
        m[3]++;
    }
    for (int32_t e = 0; e < graph->m; e++) {
        const double *a = mean[graph->edges[e][0]], *b = mean[graph->edges[e][1]];
        graph->coupling[e] = 0;
        for (int c = 0; c < 3; c++)
            graph->coupling[e] += (a[c] / a[3] - b[c] / b[3]) * (a[c] / a[3] - b[c] / b[3]);
        total += graph->coupling[e] / graph->m;
    }
    for (int32_t e = 0; e < graph->m; e++)
        graph->coupling[e] = exp(-graph->coupling[e] / total);
    free(mean);
}

static inline void add_truth(struct bench_graph *graph, const struct clv_superpixels *s, const char *mask_path)
{
    struct clv_error error;
    struct clv_indexed_image mask = {0};
    stop_on(clv_indexed_image_read(&mask, mask_path, NULL, &error), &error);
    if (mask.width != s->width || mask.height != s->height) {
        fprintf(stderr, "%s: another size than its image\n", mask_path);
        exit(65);
    }
    int32_t *balance = need(calloc((size_t)s->n, sizeof *balance));
    for (size_t p = 0; p < (size_t)s->width * (size_t)s->height; p++)
        balance[s->labels[p]] += mask.values[p] ? 1 : -1;
    for (int32_t i = 0; i < s->n; i++)
        graph->truth[i] = balance[i] > 0;
    free(balance);
    clv_indexed_image_release(&mask);
}

/* SLIC graphs of n_superpixels of the first `count` horses; exits by name where the data is absent. */
static inline struct bench_graph *horse_graphs(int count, int32_t n_superpixels)
{
    const char *root = getenv("CLEAVE_DATA");
    char path[4096], line[4096], image_path[1024], mask_path[1024];
    snprintf(path, sizeof path, "%s/horses/manifest.tsv", root ? root : "../shared/data");
    FILE *manifest = fopen(path, "r");
    if (!manifest || !fgets(line, sizeof line, manifest)) {
        printf("skipped: %s is absent\n", path);
        exit(0);
    }
    struct bench_graph *graphs = need(calloc((size_t)count, sizeof *graphs));
    for (int k = 0; k < count && fgets(line, sizeof line, manifest);) {
        if (sscanf(line, "%1023[^\t]\t%1023[^\t]", image_path, mask_path) != 2 || !mask_path[0])
            continue;
        struct clv_error error;
        struct clv_image image = {0};
        struct clv_superpixels s = {0};
        struct clv_adjacency adjacency = {0};
        struct clv_slic_options options = {.n_superpixels = n_superpixels, .compactness = 10, .n_iterations = 10};
        snprintf(path, sizeof path, "%s/horses/%s", root ? root : "../shared/data", image_path);
        stop_on(clv_image_read(&image, path, NULL, &error), &error);
        stop_on(clv_slic(&s, &image, &options, &error), &error);
        stop_on(clv_adjacency_build(&adjacency, &s, &error), &error);
        struct bench_graph *graph = &graphs[k++];
        graph->n = adjacency.n_nodes;
        graph->m = adjacency.n_edges;
        graph->edges = need(malloc((size_t)graph->m * sizeof *graph->edges));
        graph->coupling = need(malloc((size_t)graph->m * sizeof *graph->coupling));
        graph->truth = need(malloc((size_t)graph->n));
        memcpy(graph->edges, adjacency.edges, (size_t)graph->m * sizeof *graph->edges);
        add_contrast(graph, &s, &image);
        snprintf(path, sizeof path, "%s/horses/%s", root ? root : "../shared/data", mask_path);
        add_truth(graph, &s, path);
        clv_adjacency_release(&adjacency);
        clv_superpixels_release(&s);
        clv_image_release(&image);
    }
    fclose(manifest);
    return graphs;
}

static inline void free_graphs(struct bench_graph *graphs, int count)
{
    for (int k = 0; k < count; k++) {
        free(graphs[k].edges);
        free(graphs[k].coupling);
        free(graphs[k].truth);
    }
    free(graphs);
}

#define GRID 0x1p24 /* whole numbers per unit of score */

/* The graph's capacities under one difficulty and one draw of noise. */
static inline void draw_problem(int32_t *terminal, int32_t *capacity, const struct bench_graph *graph,
                                const struct difficulty *d, uint64_t draw)
{
    for (int32_t i = 0; i < graph->n; i++) {
        uint64_t at = draw << 32 | (uint64_t)i;
        double unary = d->a * (2 * graph->truth[i] - 1) + d->b * rng_normal(1, RNG_STREAM(RNG_TEST, 1), at) +
                       rng_gumbel(1, RNG_STREAM(RNG_TEST, 2), at) - rng_gumbel(1, RNG_STREAM(RNG_TEST, 3), at);
        terminal[i] = (int32_t)rint(unary * GRID);
    }
    for (int32_t e = 0; e < graph->m; e++)
        capacity[e] = (int32_t)rint(d->w * graph->coupling[e] * GRID);
}

/* "solve D2 600 nodes: 0.38 (0.36..0.41) ours 61 us, libmaxflow 160 us": medians over repetitions of per-problem
 * times. */
static inline void print_ratio(const char *what, double *ours, double *theirs, size_t repetitions)
{
    double ratio[64];
    for (size_t r = 0; r < repetitions; r++)
        ratio[r] = ours[r] / theirs[r];
    double middle = median(ratio, repetitions);
    printf("%s: %.2f (%.2f..%.2f) ours %.1f us, libmaxflow %.1f us, %zu rounds\n", what, middle, ratio[0],
           ratio[repetitions - 1], 1e6 * median(ours, repetitions), 1e6 * median(theirs, repetitions), repetitions);
    fflush(stdout);
}

/* main's arguments: [D1|D2|D3|all [SIZE]]; without them `run` measures every difficulty at every size, over `count`
 * graphs. */
static inline void run_benchmark(int argc, char **argv, int count,
                                 void (*run)(const struct bench_graph *, const struct difficulty *, int32_t size))
{
    static const int32_t sizes[] = {200, 600, 1500};
    for (int s = 0; s < 3; s++) {
        if (argc > 2 && atoi(argv[2]) != sizes[s])
            continue;
        struct bench_graph *graphs = horse_graphs(count, sizes[s]);
        for (int d = 0; d < 3; d++)
            if (argc <= 1 || strcmp(argv[1], "all") == 0 || strcmp(argv[1], difficulties[d].name) == 0)
                run(graphs, &difficulties[d], sizes[s]);
        free_graphs(graphs, count);
    }
}

#endif
