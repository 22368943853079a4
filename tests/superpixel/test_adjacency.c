/* Region adjacency against a plain count over all pairs. */
#include "superpixel/partition.h"

static void check_adjacency(const struct clv_superpixels *superpixels)
{
    int32_t n = superpixels->n, width = superpixels->width, height = superpixels->height;
    OWNED_ARRAY int32_t *length = calloc((size_t)n * (size_t)n, sizeof *length); /* [a][b], a < b */
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++)
            for (int d = 0; d < 2; d++) {
                int32_t u = x + (d == 0), v = y + (d == 1);
                if (u == width || v == height)
                    continue;
                int32_t a = superpixels->labels[y * width + x], b = superpixels->labels[v * width + u];
                if (a != b)
                    length[a < b ? a * n + b : b * n + a]++;
            }
    struct clv_adjacency adjacency = {0};
    must(clv_adjacency_build(&adjacency, superpixels, err));
    ck_assert_int_eq(adjacency.n_nodes, n);
    int32_t at = 0;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            if (!length[a * n + b])
                continue;
            ck_assert_int_lt(at, adjacency.n_edges);
            ck_assert_int_eq(adjacency.edges[at][0], a);
            ck_assert_int_eq(adjacency.edges[at][1], b);
            ck_assert_double_eq(adjacency.boundary_length[at], length[a * n + b]);
            at++;
        }
    ck_assert_int_eq(adjacency.n_edges, at);
    clv_adjacency_release(&adjacency);
    ck_assert_ptr_null(adjacency.edges);
}

TEST(edges_are_those_of_a_plain_count)
{
    for (uint64_t round = 0; round < 80; round++) {
        int32_t width = 1 + (int32_t)rng_below(4, RNG_TEST, 2 * round, 50);
        int32_t height = 1 + (int32_t)rng_below(4, RNG_TEST, 2 * round + 1, 50), n = 1 + (int32_t)(round * round) % 331;
        OWNED_ARRAY int32_t *labels = random_labels(width, height, n, 1 + (int32_t)(round % 6), 100 + round);
        /* Labels need not be connected, nor used. */
        check_adjacency(&(struct clv_superpixels){width, height, n, labels});
    }
}

TEST(superpixels_of_an_image_have_the_neighbours_of_a_plain_count)
{
    struct clv_image image = draw_image(90, 70, 50);
    OWNED(clv_superpixels_release) struct clv_superpixels superpixels = {0};
    must(clv_slic(&superpixels, &image, &(struct clv_slic_options){120, 10, 5}, err));
    check_adjacency(&superpixels);
    free(image.pixels);
}

TEST(a_single_superpixel_has_no_edges)
{
    int32_t label = 0;
    check_adjacency(&(struct clv_superpixels){1, 1, 1, &label});
}

TEST(labels_out_of_range_are_refused)
{
    int32_t labels[6] = {0, 1, 2, 1, 0, 3};
    struct clv_superpixels superpixels = {3, 2, 3, labels};
    struct clv_adjacency adjacency = {0};
    must_fail(CLV_ERR_USAGE, "label 3, not in 0..2", clv_adjacency_build(&adjacency, &superpixels, err));
    labels[5] = -4;
    must_fail(CLV_ERR_USAGE, "label -4", clv_adjacency_build(&adjacency, &superpixels, err));
    ck_assert_ptr_null(adjacency.edges);
}
