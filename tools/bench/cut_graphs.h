/* Fields of two labels for the benchmark of cuts: regions of photographs, grids, paths, trees, stars, hubs, ladders. */
#ifndef BENCH_CUT_GRAPHS_H
#define BENCH_CUT_GRAPHS_H

#include "graphs.h"

/* A field that owns its arrays. */
struct cut_field {
    int32_t n, m;
    int32_t (*edges)[2];
    double *unary, *coupling;
};

static inline double uniform(uint64_t stream, uint64_t at)
{
    return rng_uniform(7, RNG_STREAM(RNG_TEST, stream), at);
}

static inline double normal(uint64_t stream, uint64_t at)
{
    return rng_normal(7, RNG_STREAM(RNG_TEST, stream), at);
}

static inline struct cut_field cut_field_new(int32_t n, int32_t m)
{
    struct cut_field field = {.n = n};
    field.edges = need(malloc((size_t)(m + 1) * sizeof *field.edges));
    field.coupling = need(malloc((size_t)(m + 1) * sizeof *field.coupling));
    field.unary = need(calloc((size_t)n, sizeof *field.unary));
    return field;
}

static inline void cut_field_free(struct cut_field *field)
{
    free(field->edges);
    free(field->unary);
    free(field->coupling);
}

static inline void join(struct cut_field *field, int32_t a, int32_t b, double coupling)
{
    field->edges[field->m][0] = a;
    field->edges[field->m][1] = b;
    field->coupling[field->m++] = coupling;
}

/* What the regions of a photograph are: who neighbours whom along how many pixels, and their mean colours. */
struct regions {
    struct clv_adjacency adjacency;
    double (*colour)[3];
};

/* SLIC regions of a photograph enlarged until each has so many pixels. */
static inline struct regions regions_of(const struct clv_image *photo, int32_t n, int pixels_each)
{
    struct clv_error error;
    struct clv_image image = {0};
    struct clv_superpixels s = {0};
    struct regions regions = {0};
    struct clv_slic_options options = {.n_superpixels = n, .compactness = 10, .n_iterations = 5};
    double scale = sqrt((double)n * pixels_each / ((double)photo->width * photo->height));
    stop_on(clv_image_resize(&image, photo, (int32_t)(photo->width * scale), (int32_t)(photo->height * scale), &error),
            &error);
    stop_on(clv_slic(&s, &image, &options, &error), &error);
    stop_on(clv_adjacency_build(&regions.adjacency, &s, &error), &error);
    regions.colour = need(calloc((size_t)s.n, sizeof *regions.colour));
    double *size = need(calloc((size_t)s.n, sizeof *size));
    for (size_t p = 0; p < (size_t)s.width * (size_t)s.height; p++, size[s.labels[p - 1]]++)
        for (int c = 0; c < 3; c++)
            regions.colour[s.labels[p]][c] += image.pixels[3 * p + (size_t)c];
    for (int32_t i = 0; i < s.n; i++)
        for (int c = 0; c < 3; c++)
            regions.colour[i][c] /= size[i] * 255;
    free(size);
    clv_superpixels_release(&s);
    clv_image_release(&image);
    return regions;
}

static inline void regions_free(struct regions *regions)
{
    clv_adjacency_release(&regions->adjacency);
    free(regions->colour);
}

/* Unaries: how far the colour is towards that of the image's middle, with noise; with `seeds` .2 % of the nodes have
 * one and no other. Couplings: the border's length in steps of a region's side, times how alike the colours are. */
static inline struct cut_field field_of_regions(const struct regions *regions, double strength, bool seeds)
{
    int32_t n = regions->adjacency.n_nodes, m = regions->adjacency.n_edges;
    struct cut_field field = cut_field_new(n, m);
    double contrast = 0, border = 0, mean = 0, spread = 0;
    for (int32_t i = 0; i < n; i++)
        mean += (regions->colour[i][0] - regions->colour[i][2]) / n;
    for (int32_t i = 0; i < n; i++)
        spread += pow(regions->colour[i][0] - regions->colour[i][2] - mean, 2) / n;
    for (int32_t i = 0; i < n; i++) {
        double lean = (regions->colour[i][0] - regions->colour[i][2] - mean) / sqrt(spread + 1e-12);
        field.unary[i] = lean + normal(1, (uint64_t)i);
        if (seeds)
            field.unary[i] = uniform(2, (uint64_t)i) < .002 ? (lean > 0 ? 20 : -20) : 0;
    }
    for (int32_t e = 0; e < m; e++) {
        const double *a = regions->colour[regions->adjacency.edges[e][0]],
                     *b = regions->colour[regions->adjacency.edges[e][1]];
        double distance = 0;
        for (int c = 0; c < 3; c++)
            distance += (a[c] - b[c]) * (a[c] - b[c]);
        join(&field, regions->adjacency.edges[e][0], regions->adjacency.edges[e][1], distance);
        contrast += distance / m;
        border += regions->adjacency.boundary_length[e] / m;
    }
    for (int32_t e = 0; e < m; e++)
        field.coupling[e] = strength * (.05 + exp(-field.coupling[e] / (2 * contrast + 1e-12))) *
                            regions->adjacency.boundary_length[e] / border;
    return field;
}

/* 4 neighbours, or 6, with those below right, as a general graph. */
static inline struct cut_field grid_field(int32_t n, bool has_diagonals)
{
    int32_t side = (int32_t)sqrt(n);
    struct cut_field field = cut_field_new(side * side, (has_diagonals ? 3 : 2) * side * side);
    for (int32_t i = 0; i < side * side; i++) {
        field.unary[i] = normal(3, (uint64_t)i) + ((i / side / 16 + i % side / 16) % 2 ? .5 : -.5);
        if (i % side + 1 < side)
            join(&field, i, i + 1, uniform(4, (uint64_t)i));
        if (i / side + 1 < side)
            join(&field, i, i + side, uniform(5, (uint64_t)i));
        if (has_diagonals && i % side + 1 < side && i / side + 1 < side)
            join(&field, i, i + side + 1, uniform(15, (uint64_t)i));
    }
    return field;
}

/* Random unaries, or flow from one end to the other. */
static inline struct cut_field path_field(int32_t n, bool by_ends)
{
    struct cut_field field = cut_field_new(n, n - 1);
    for (int32_t i = 0; i < n; i++)
        field.unary[i] = by_ends ? (i == 0 ? 1.5 : i == n - 1 ? -1.5 : 0) : normal(6, (uint64_t)i);
    for (int32_t i = 0; i + 1 < n; i++)
        join(&field, i, i + 1, 1 + uniform(7, (uint64_t)i));
    return field;
}

static inline struct cut_field tree_field(int32_t n)
{
    struct cut_field field = cut_field_new(n, n - 1);
    for (int32_t i = 0; i < n; i++) {
        field.unary[i] = normal(8, (uint64_t)i);
        if (i)
            join(&field, (int32_t)(uniform(9, (uint64_t)i) * i), i, 1 + uniform(10, (uint64_t)i));
    }
    return field;
}

/* Every node at one hub, or at two that pull apart. */
static inline struct cut_field hub_field(int32_t n, int hubs)
{
    struct cut_field field = cut_field_new(n, 2 * n);
    for (int32_t i = 0; i < n; i++)
        field.unary[i] = normal(11, (uint64_t)i);
    for (int h = 0; h < hubs; h++) {
        field.unary[h] = hubs > 1 ? (h ? -.2 : .2) * n : 0;
        for (int32_t i = hubs; i < n; i++)
            join(&field, h, i, uniform(12, (uint64_t)(2 * i + h)));
    }
    return field;
}

/* Two paths joined by rungs, flow from one end to the other. */
static inline struct cut_field ladder_field(int32_t n)
{
    struct cut_field field = cut_field_new(n, 2 * n);
    for (int32_t i = 0; i < n; i++)
        field.unary[i] = i < 2 ? 2 : i >= n - 2 ? -2 : 0;
    for (int32_t i = 0; i < n; i++) {
        if (i + 2 < n)
            join(&field, i, i + 2, 1 + uniform(13, (uint64_t)i));
        if (i % 2 == 0 && i + 1 < n)
            join(&field, i, i + 1, 1 + uniform(14, (uint64_t)i));
    }
    return field;
}

#endif
