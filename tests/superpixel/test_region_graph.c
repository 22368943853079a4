/* Region graphs against the whole that was cut: its edges, its contacts, its best labelling. */
#include "base/base.h"
#include "object/object.h"
#include "superpixel/region_graph.h"
#include "support/cut_map.h"
#include "support/exhaustive.h"
#include "support/region_window.h"

/* The contact of a and b, a < b, of n regions: of edges whose ends are both in it. */
static float *contacts_of(const struct region_graph *graph, const int32_t *of, int32_t n)
{
    float *contact = calloc((size_t)n * (size_t)n, sizeof *contact);
    for (int32_t e = 0; e < graph->n_edges; e++) {
        int32_t a = of ? of[graph->edges[e][0]] : graph->edges[e][0];
        int32_t b = of ? of[graph->edges[e][1]] : graph->edges[e][1];
        ck_assert_int_lt(graph->edges[e][0], graph->edges[e][1]);
        if (!of)
            ck_assert(contact[a * n + b] == 0);
        if (a != b)
            contact[a < b ? a * n + b : b * n + a] += graph->contact[e];
    }
    return contact;
}

static void check_contacts(const float *contact, const int32_t *labels, int32_t width, int32_t height, int32_t n)
{
    OWNED(clv_adjacency_release) struct clv_adjacency adjacency = {0};
    struct clv_superpixels whole = {width, height, n, (int32_t *)(uintptr_t)labels};
    int32_t n_found = 0;
    must(clv_adjacency_build(&adjacency, &whole, err));
    for (int32_t e = 0; e < adjacency.n_edges; e++)
        ck_assert(contact[adjacency.edges[e][0] * n + adjacency.edges[e][1]] == adjacency.boundary_length[e]);
    for (int32_t k = 0; k < n * n; k++)
        n_found += contact[k] > 0;
    ck_assert_int_eq(n_found, adjacency.n_edges);
}

TEST(tiles_of_a_map_have_the_edges_and_contacts_of_the_whole)
{
    for (uint64_t round = 0; round < 150; round++) {
        int32_t width = 1 + (int32_t)rng_below(4, RNG_TEST, 3 * round, 40);
        int32_t height = 1 + (int32_t)rng_below(4, RNG_TEST, 3 * round + 1, 40);
        int32_t side = 1 + (int32_t)rng_below(4, RNG_TEST, 3 * round + 2, 24), n = 1 + (int32_t)(round * round) % 61;
        OWNED_ARRAY int32_t *labels = random_labels(width, height, n, 1 + (int32_t)(round % 6), 300 + round);
        OWNED(cut_map_release) struct cut_map map = cut_map_of(labels, width, height, side);
        /* Pieces: as if the whole had been numbered so. */
        float *contact = contacts_of(&map.graph, NULL, map.graph.n_nodes);
        check_contacts(contact, map.whole, width, height, map.graph.n_nodes);
        free(contact);
        /* Pieces of a region put together again: those of the map that was cut. */
        contact = contacts_of(&map.graph, map.of, n);
        check_contacts(contact, labels, width, height, n);
        free(contact);
        for (int32_t t = 0; t < map.graph.n_patches; t++)
            for (int32_t e = map.graph.first_edge[t]; e < map.graph.first_edge[t + 1]; e++) {
                ck_assert_int_ge(map.graph.edges[e][1], map.graph.first_node[t]);
                ck_assert_int_lt(map.graph.edges[e][1], map.graph.first_node[t + 1]);
                ck_assert_int_eq(map.graph.kind[e] == REGION_WITHIN, map.graph.edges[e][0] >= map.graph.first_node[t]);
            }
    }
}

/* The problem of a label map that was never cut, made without the graph. */
struct whole {
    struct clv_problem problem;
    struct clv_adjacency adjacency;
    int64_t *row;
    int32_t *index;
    float *value, *edge_features;
};

static struct whole whole_of(const struct cut_map *map)
{
    struct whole self = {0};
    int32_t n = map->graph.n_nodes;
    must(clv_adjacency_build(&self.adjacency, &(struct clv_superpixels){map->width, map->height, n, map->whole}, err));
    self.row = malloc(((size_t)n + 1) * sizeof *self.row);
    self.index = calloc((size_t)n, sizeof *self.index);
    self.value = malloc((size_t)n * sizeof *self.value);
    self.edge_features = malloc(((size_t)self.adjacency.n_edges + 1) * 2 * sizeof *self.edge_features);
    for (int32_t i = 0; i <= n; i++)
        self.row[i] = i;
    for (int32_t i = 0; i < n; i++)
        self.value[i] = (float)map->of[i];
    for (int32_t e = 0; e < self.adjacency.n_edges; e++) {
        self.edge_features[2 * e] = 1;
        self.edge_features[2 * e + 1] = self.adjacency.boundary_length[e];
    }
    self.problem = (struct clv_problem){.n_nodes = n,
                                        .n_edges = self.adjacency.n_edges,
                                        .n_features = 1,
                                        .n_edge_features = 2,
                                        .row = self.row,
                                        .index = self.index,
                                        .value = self.value,
                                        .edges = (const int32_t(*)[2])self.adjacency.edges,
                                        .edge_features = self.edge_features};
    return self;
}

static void whole_release(struct whole *self)
{
    clv_adjacency_release(&self->adjacency);
    free(self->row);
    free(self->index);
    free(self->value);
    free(self->edge_features);
}

/* Where the whole has the edge of these ends. */
static int32_t find_edge(const struct clv_problem *problem, const int32_t ends[2])
{
    for (int32_t e = 0; e < problem->n_edges; e++)
        if (problem->edges[e][0] == ends[0] && problem->edges[e][1] == ends[1])
            return e;
    ck_abort_msg("no edge %d %d", ends[0], ends[1]);
    return -1;
}

TEST(a_window_over_all_patches_is_the_whole_problem)
{
    for (uint64_t round = 0; round < 40; round++) {
        int32_t width = 5 + (int32_t)round % 17, height = 3 + (int32_t)round % 13, side = 2 + (int32_t)round % 9;
        OWNED_ARRAY int32_t *labels = random_labels(width, height, 30, 1 + (int32_t)round % 3, 900 + round);
        OWNED(cut_map_release) struct cut_map map = cut_map_of(labels, width, height, side);
        OWNED(whole_release) struct whole whole = whole_of(&map);
        const struct clv_weight_layout layout = {2, 1, 2, CLV_PAIRWISE_POTTS};
        OWNED(region_window_release) struct region_window window = region_window_of(&map.graph, 0, map.graph.n_patches);
        const struct clv_problem *problem = &window.problem;
        must(clv_problem_check(problem, &layout, err));
        ck_assert_int_eq(problem->n_nodes, whole.problem.n_nodes);
        ck_assert_int_eq(problem->n_edges, whole.problem.n_edges);
        ck_assert_mem_eq(problem->row, whole.row, ((size_t)problem->n_nodes + 1) * sizeof *whole.row);
        ck_assert_mem_eq(problem->index, whole.index, (size_t)problem->n_nodes * sizeof *whole.index);
        ck_assert_mem_eq(problem->value, whole.value, (size_t)problem->n_nodes * sizeof *whole.value);
        for (int32_t e = 0; e < problem->n_edges; e++) {
            int32_t f = find_edge(&whole.problem, problem->edges[e]);
            ck_assert_mem_eq(problem->edge_features + 2 * e, whole.edge_features + 2 * f, 2 * sizeof(float));
            ck_assert_int_eq(window.edge[e], e);
        }
    }
}

TEST(a_window_has_the_edges_between_its_own_patches)
{
    OWNED_ARRAY int32_t *labels = random_labels(30, 30, 12, 3, 1);
    OWNED(cut_map_release) struct cut_map map = cut_map_of(labels, 30, 30, 10);
    const struct region_graph *graph = &map.graph;
    for (int32_t first = 0; first < 9; first++)
        for (int32_t n = 1; first + n <= 9; n++) {
            int32_t low = graph->first_node[first], high = graph->first_node[first + n], k = 0;
            OWNED(region_window_release) struct region_window window = region_window_of(graph, first, n);
            ck_assert_int_eq(window.first_node, low);
            ck_assert_int_eq(window.problem.n_nodes, high - low);
            for (int32_t e = 0; e < graph->n_edges; e++) {
                if (graph->edges[e][0] < low || graph->edges[e][1] >= high)
                    continue;
                ck_assert_int_eq(window.edge[k], e);
                ck_assert_int_eq(window.problem.edges[k][0], graph->edges[e][0] - low);
                ck_assert_int_eq(window.problem.edges[k][1], graph->edges[e][1] - low);
                ck_assert(window.problem.edge_features[2 * k + 1] == graph->contact[e]);
                k++;
            }
            ck_assert_int_eq(window.problem.n_edges, k);
            ck_assert(window.problem.value[window.problem.row[0]] == (float)map.of[low]);
        }
}

/* The scores of a problem under random unaries, of each node's number, and weights. */
static struct clv_field field_of(const struct clv_problem *problem, int32_t n_labels, uint64_t round)
{
    const struct clv_weight_layout layout = {n_labels, 1, 2, CLV_PAIRWISE_POTTS};
    size_t n = (size_t)problem->n_nodes * (size_t)(n_labels == 2 ? 1 : n_labels);
    double w[8] = {0};
    struct clv_field field = {problem->n_nodes,
                              problem->n_edges,
                              n_labels,
                              CLV_PAIRWISE_POTTS,
                              problem->edges,
                              malloc(n * sizeof(double)),
                              malloc(((size_t)problem->n_edges + 1) * sizeof(double)),
                              false};
    for (size_t k = 0; k < n; k++)
        field.unary[k] = rng_normal(11, RNG_STREAM(RNG_TEST, round), k);
    w[clv_weight_layout_unary_size(&layout)] = 0.05 * (double)(round % 7);
    w[clv_weight_layout_unary_size(&layout) + 1] = 0.2 * rng_uniform(12, RNG_TEST, round);
    clv_pairwise_scores(field.pairwise, problem, &layout, w);
    return field;
}

TEST(a_field_over_tiles_has_the_best_labelling_of_the_whole)
{
    int n_joined = 0;
    for (uint64_t round = 0; round < 120; round++) {
        int32_t n_labels = 2 + (int32_t)(round % 2), y[16], expected[16];
        OWNED_ARRAY int32_t *labels = random_labels(6, 4, 4, 1 + (int32_t)round % 3, 2000 + round);
        OWNED(cut_map_release) struct cut_map map = cut_map_of(labels, 6, 4, 3 + (int32_t)round % 3);
        if (map.graph.n_nodes <= 12) {
            OWNED(whole_release) struct whole whole = whole_of(&map);
            OWNED(region_window_release) struct region_window window =
                region_window_of(&map.graph, 0, map.graph.n_patches);
            struct clv_oracle *oracle = NULL;
            double score = 0;
            struct clv_field joined = field_of(&window.problem, n_labels, round);
            struct clv_field uncut = field_of(&whole.problem, n_labels, round);
            exhaustive(expected, &score, NULL, NULL, &uncut);
            if (n_labels == 2) {
                must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
                must(clv_oracle_map(oracle, y, NULL, &joined, err));
                clv_oracle_free(oracle);
            } else
                exhaustive(y, NULL, NULL, NULL, &joined);
            ck_assert_double_eq_tol(clv_field_score(&uncut, y), score, 1e-9);
            ck_assert_mem_eq(y, expected, (size_t)map.graph.n_nodes * sizeof *y);
            n_joined += window.problem.n_edges > 0;
            free(joined.unary);
            free(joined.pairwise);
            free(uncut.unary);
            free(uncut.pairwise);
        }
    }
    ck_assert_int_gt(n_joined, 50);
}

/* A patch without features, of a label map. */
static void append_map(struct region_graph *graph, const struct patch *patch, const int32_t *labels, int32_t n)
{
    OWNED(clv_adjacency_release) struct clv_adjacency adjacency = {0};
    OWNED_ARRAY int32_t *copy = malloc((size_t)patch->width * (size_t)patch->height * sizeof *copy);
    memcpy(copy, labels, (size_t)patch->width * (size_t)patch->height * sizeof *copy);
    must(clv_adjacency_build(&adjacency, &(struct clv_superpixels){patch->width, patch->height, n, copy}, err));
    const struct clv_problem problem = {
        .n_nodes = n, .n_edges = adjacency.n_edges, .edges = (const int32_t(*)[2])adjacency.edges};
    must(region_graph_append(graph, patch, &problem, adjacency.boundary_length, err));
}

TEST(next_edges_are_a_plain_count_of_what_moves_where)
{
    enum { WIDTH = 23, HEIGHT = 17, N = 9 };
    for (uint64_t round = 0; round < 30; round++) {
        OWNED_ARRAY int32_t *a = random_labels(WIDTH, HEIGHT, N, 3, 50 + round),
                            *b = random_labels(WIDTH, HEIGHT, N, 2, 90 + round);
        int32_t motion[N][2] = {{0}}, count[N][N] = {{0}}, n_expected = 0;
        OWNED(region_graph_release) struct region_graph graph = {0};
        region_graph_init(&graph, 0);
        append_map(&graph, &(struct patch){.width = WIDTH, .height = HEIGHT}, a, N);
        append_map(&graph, &(struct patch){.z = 1, .width = WIDTH, .height = HEIGHT}, b, N);
        for (int r = 0; r < N && round % 3; r++)
            for (int axis = 0; axis < 2; axis++)
                motion[r][axis] = (int32_t)rng_below(3, RNG_STREAM(RNG_TEST, round), (uint64_t)(2 * r + axis), 9) - 4;
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                int r = a[y * WIDTH + x], u = x + motion[r][0], v = y + motion[r][1];
                if (u >= 0 && u < WIDTH && v >= 0 && v < HEIGHT)
                    count[r][b[v * WIDTH + u]]++;
            }
        int32_t first = graph.n_edges;
        struct region_map from = region_map_of(&graph, 0, a), to = region_map_of(&graph, 1, b);
        must(region_graph_join(&graph, &from, &to, REGION_NEXT, round % 3 ? (const int32_t(*)[2])motion : NULL, err));
        for (int p = 0; p < N; p++)
            for (int q = 0; q < N; q++)
                if (count[p][q]) {
                    int32_t e = first + n_expected++;
                    ck_assert_int_lt(e, graph.n_edges);
                    ck_assert_int_eq(graph.kind[e], REGION_NEXT);
                    ck_assert_int_eq(graph.edges[e][0], p);
                    ck_assert_int_eq(graph.edges[e][1], N + q);
                    ck_assert(graph.contact[e] == (float)count[p][q]);
                }
        ck_assert_int_eq(graph.n_edges - first, n_expected);
    }
}

TEST(next_edges_have_a_stretch_of_features_of_their_own)
{
    const int64_t row[2] = {0, 0};
    const struct clv_problem alone = {.n_nodes = 1, .n_features = 1, .n_edge_features = 2, .row = row};
    const int32_t zero = 0;
    OWNED(region_graph_release) struct region_graph graph = {0};
    region_graph_init(&graph, 0);
    graph.n_edge_features = 5;
    must(region_graph_append(&graph, &(struct patch){.width = 1, .height = 1}, &alone, NULL, err));
    must(region_graph_append(&graph, &(struct patch){.z = 1, .width = 1, .height = 1}, &alone, NULL, err));
    struct region_map a = region_map_of(&graph, 0, &zero), b = region_map_of(&graph, 1, &zero);
    must(region_graph_join(&graph, &a, &b, REGION_NEXT, NULL, err));
    ck_assert_int_eq(graph.n_edges, 1);
    for (int k = 0; k < 5; k++)
        ck_assert(graph.edge_features[k] == 0);
}

TEST(strips_along_a_seam_join_like_whole_maps)
{
    OWNED_ARRAY int32_t *labels = random_labels(20, 12, 8, 2, 3);
    OWNED(cut_map_release) struct cut_map map = cut_map_of(labels, 20, 12, 10);
    OWNED(region_graph_release) struct region_graph graph = {0};
    region_graph_init(&graph, 0);
    struct patch left = {.width = 10, .height = 10}, right = {.x = 10, .width = 10, .height = 10};
    append_map(&graph, &left, map.tile[0], map.graph.first_node[1]);
    append_map(&graph, &right, map.tile[1], map.graph.first_node[2] - map.graph.first_node[1]);
    int32_t last[10], first[10];
    for (int y = 0; y < 10; y++) {
        last[y] = map.tile[0][y * 10 + 9];
        first[y] = map.tile[1][y * 10];
    }
    must(region_graph_join(&graph, &(struct region_map){0, 9, 0, 1, 10, last},
                           &(struct region_map){1, 10, 0, 1, 10, first}, REGION_SEAM, NULL, err));
    ck_assert_int_eq(graph.n_edges, map.graph.first_edge[2]);
    ck_assert_mem_eq(graph.edges, map.graph.edges, (size_t)graph.n_edges * sizeof *graph.edges);
    ck_assert_mem_eq(graph.contact, map.graph.contact, (size_t)graph.n_edges * sizeof *graph.contact);
    ck_assert_ptr_null(graph.row);
}

TEST(what_does_not_fit_the_graph_is_refused_and_changes_nothing)
{
    OWNED_ARRAY int32_t *labels = random_labels(20, 12, 8, 2, 3);
    OWNED(cut_map_release) struct cut_map map = cut_map_of(labels, 20, 12, 10);
    struct region_graph *graph = &map.graph, before = *graph;
    const struct patch patch = {.x = 20, .width = 4, .height = 4};
    const int64_t row[2] = {0, 0};
    const float one = 1;
    struct clv_problem problem = {.n_nodes = 1, .area = &one};
    must_fail(CLV_ERR_USAGE, "patch 4 has no features", region_graph_append(graph, &patch, &problem, NULL, err));
    problem.row = row;
    problem.n_features = 2;
    problem.n_edge_features = 2;
    must_fail(CLV_ERR_USAGE, "2 features", region_graph_append(graph, &patch, &problem, NULL, err));
    problem.n_features = 1;
    problem.n_edge_features = 3;
    must_fail(CLV_ERR_USAGE, "3 of edges", region_graph_append(graph, &patch, &problem, NULL, err));
    problem.n_edge_features = 2;
    problem.centroid = &one;
    must_fail(CLV_ERR_USAGE, "patch 4 has centroids", region_graph_append(graph, &patch, &problem, NULL, err));
    problem.centroid = NULL;
    problem.n_nodes = 0;
    must_fail(CLV_ERR_USAGE, "0 regions", region_graph_append(graph, &patch, &problem, NULL, err));
    struct region_map a = region_map_of(graph, 2, map.tile[2]), b = region_map_of(graph, 3, map.tile[3]);
    must_fail(CLV_ERR_USAGE, "an earlier one and the last", region_graph_join(graph, &b, &a, REGION_SEAM, NULL, err));
    must_fail(CLV_ERR_USAGE, "joined by", region_graph_join(graph, &a, &b, REGION_WITHIN, NULL, err));
    struct region_map over = b;
    over.x = a.x;
    must_fail(CLV_ERR_USAGE, "overlap", region_graph_join(graph, &a, &over, REGION_SEAM, NULL, err));
    map.tile[3][0] = 1000;
    must_fail(CLV_ERR_USAGE, "region 1000", region_graph_join(graph, &a, &b, REGION_SEAM, NULL, err));
    ck_assert_mem_eq(graph, &before, sizeof before);
}

TEST(without_memory_a_graph_stays_as_it_is)
{
    OWNED_ARRAY int32_t *labels = random_labels(20, 12, 8, 2, 3);
    OWNED(cut_map_release) struct cut_map map = cut_map_of(labels, 20, 12, 10);
    struct clv_error error = {0};
    const struct region_graph *graph = &map.graph;
    OWNED(region_window_release) struct region_window whole = region_window_of(graph, 0, graph->n_patches);
    for (int step = 0; step < 3; step++) {
        enum clv_status status = CLV_ERR_MEMORY;
        for (size_t request = 1; status == CLV_ERR_MEMORY; request++) {
            OWNED(region_graph_release) struct region_graph made = {0};
            OWNED(edge_problem_release) struct edge_problem edges = {0};
            region_graph_init(&made, 0);
            if (step == 1) {
                append_map(&made, &map.patches[0], map.tile[0], map.graph.first_node[1]);
                append_map(&made, &map.patches[1], map.tile[1], map.graph.first_node[2] - map.graph.first_node[1]);
            }
            struct region_map a = region_map_of(graph, 0, map.tile[0]), b = region_map_of(graph, 1, map.tile[1]);
            int32_t n_edges = made.n_edges;
            array_fail_request(request);
            if (step == 0)
                status = region_graph_append(&made, &map.patches[0], &whole.problem, graph->contact, &error);
            else if (step == 1)
                status = region_graph_join(&made, &a, &b, REGION_SEAM, NULL, &error);
            else
                status = edge_problem_init(&edges, graph, NULL, 0, map.of, &error);
            array_fail_request(0);
            if (status == CLV_ERR_MEMORY) {
                ck_assert_int_eq(made.n_edges, n_edges);
                ck_assert_int_eq(made.n_patches, step == 1 ? 2 : 0);
                ck_assert_ptr_null(edges.row);
            }
        }
        ck_assert_msg(status == CLV_OK, "%s", error.message);
    }
}
