/* Draws the features of many images as the shards of one feature file, for `make bench-cluster TASKS=memory': blobs on
 * grids of 8 x 8 nodes, dense features of noise of which a few determine the label. Every image is drawn from its number,
 * so that the images do not depend on the number of shards.
 *
 * Usage: shards FOLDER IMAGES SHARDS; without arguments it does nothing. */
#include <string.h>

#include "base/base.h"
#include "bench.h"
#include "cleave.h"
#include "cluster/shard.h"
#include "data/data.h"

enum { SIDE = 8, NODES = SIDE * SIDE, EDGES = 2 * SIDE * (SIDE - 1), FEATURES = 128, INFORMATIVE = 8 };

/* Of one shard. */
struct drawn {
    int64_t *node_offset, *edge_offset; /* [n + 1] */
    float (*x)[FEATURES];               /* [n NODES] */
    int32_t (*edges)[2];                /* [n EDGES] */
    float (*edge_features)[2];
    float (*counts)[2]; /* [n NODES] */
    char *names;
};

static void *need(void *memory)
{
    if (!memory) {
        fprintf(stderr, "shards: out of memory\n");
        exit(1);
    }
    return memory;
}

/* A disc of random place and size. */
static int label_at(size_t image, int node)
{
    double centre[2], radius = 1.5 + 2 * rng_uniform(1, RNG_TEST, 3 * image + 2);
    for (size_t k = 0; k < 2; k++)
        centre[k] = SIDE * rng_uniform(1, RNG_TEST, 3 * image + k);
    double across = node % SIDE - centre[0], down = node / SIDE - centre[1];
    return across * across + down * down < radius * radius;
}

static void draw_nodes(struct drawn *drawn, size_t at, size_t image)
{
    for (int node = 0; node < NODES; node++) {
        int label = label_at(image, node);
        size_t row = at * NODES + (size_t)node;
        drawn->counts[row][0] = (float)!label;
        drawn->counts[row][1] = (float)label;
        for (size_t f = 0; f < FEATURES; f += 4) {
            struct rng_block block = rng_at(2, image, (size_t)node * FEATURES + f);
            for (size_t k = 0; k < 4; k++)
                drawn->x[row][f + k] = (float)(block.word[k] >> 16) / 32768 - (float)(block.word[k] & 0xffff) / 32768 +
                                       (f + k < INFORMATIVE ? 0.3f * (float)(2 * label - 1) : 0);
        }
        drawn->x[row][FEATURES - 1] = 1;
    }
}

static void draw_edges(struct drawn *drawn, size_t at, size_t image)
{
    size_t e = at * EDGES;
    for (int node = 0; node < NODES; node++)
        for (int down = 0; down < 2; down++) {
            if (down ? node / SIDE == SIDE - 1 : node % SIDE == SIDE - 1)
                continue;
            int other = node + (down ? SIDE : 1);
            drawn->edges[e][0] = node;
            drawn->edges[e][1] = other;
            double alike = label_at(image, node) == label_at(image, other) ? 1 : 0.3;
            drawn->edge_features[e][0] = 1;
            drawn->edge_features[e][1] = (float)(alike * rng_uniform(3, RNG_STREAM(RNG_TEST, image), e - at * EDGES));
            e++;
        }
}

/* Draws and writes one shard; its bytes are printed. */
static void write_shard(const char *folder, struct clv_shard shard, size_t n_images)
{
    size_t first, n, used = 0;
    char path[4096], place[64];
    shard_block(&first, &n, &shard, n_images);
    struct drawn drawn = {.node_offset = need(calloc(n + 1, sizeof(int64_t))),
                          .edge_offset = need(calloc(n + 1, sizeof(int64_t))),
                          .x = need(malloc(n * NODES * sizeof *drawn.x)),
                          .edges = need(malloc(n * EDGES * sizeof *drawn.edges)),
                          .edge_features = need(malloc(n * EDGES * sizeof *drawn.edge_features)),
                          .counts = need(malloc(n * NODES * sizeof *drawn.counts)),
                          .names = need(malloc(n * 32))};
    for (size_t i = 0; i < n; i++) {
        drawn.node_offset[i + 1] = (int64_t)(i + 1) * NODES;
        drawn.edge_offset[i + 1] = (int64_t)(i + 1) * EDGES;
        draw_nodes(&drawn, i, first + i);
        draw_edges(&drawn, i, first + i);
        used += (size_t)snprintf(drawn.names + used, 32, "%s%08zu", i ? "\n" : "", first + i);
    }
    const int64_t images = (int64_t)n;
    const struct clv_tensor tensors[] = {
        {"node_offset", CLV_I64, 1, {images + 1}, drawn.node_offset},
        {"edge_offset", CLV_I64, 1, {images + 1}, drawn.edge_offset},
        {"x", CLV_F32, 2, {images * NODES, FEATURES}, drawn.x},
        {"edges", CLV_I32, 2, {images * EDGES, 2}, drawn.edges},
        {"edge_features", CLV_F32, 2, {images * EDGES, 2}, drawn.edge_features},
        {"counts", CLV_F32, 2, {images * NODES, 2}, drawn.counts},
    };
    snprintf(place, sizeof place, "%d/%d of %zu", shard.number, shard.count, n_images);
    const char *const metadata[][2] = {
        {"format", "cleave features 1"}, {"n_labels", "2"}, {"names", drawn.names}, {"shard", place}};
    snprintf(path, sizeof path, "%s/drawn-%05d-of-%05d.safetensors", folder, shard.number, shard.count);
    struct clv_error error = {0};
    if (clv_tensors_write(path, tensors, sizeof tensors / sizeof *tensors, metadata, 4, &error)) {
        fprintf(stderr, "shards: %s\n", error.message);
        exit(1);
    }
    void *arrays[] = {drawn.node_offset,   drawn.edge_offset, drawn.x,    drawn.edges,
                      drawn.edge_features, drawn.counts,      drawn.names};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        free(arrays[k]);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        printf("shards: draws features for make bench-cluster TASKS=memory\n");
        return argc != 1;
    }
    long n_images = strtol(argv[2], NULL, 10), count = strtol(argv[3], NULL, 10);
    if (count < 1 || count > SHARD_MAX || n_images < count || n_images > INT32_MAX) {
        fprintf(stderr, "shards: %s images in %s shards cannot be drawn\n", argv[2], argv[3]);
        return 64;
    }
    for (int32_t number = 1; number <= (int32_t)count; number++)
        write_shard(argv[1], (struct clv_shard){number, (int32_t)count}, (size_t)n_images);
    return 0;
}
