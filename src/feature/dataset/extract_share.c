/* Shares extracted examples among the processes of one job: first their sizes, then their arrays. Start at
 * examples_share. */
#include "feature/dataset/dataset.h"

#include "base/base.h"
#include "cluster/comm.h"
#include "cluster/comm_for.h"
#include "feature/example/example.h"

void example_measure(struct example_sizes *sizes, const struct clv_example *example, const float *estimate)
{
    const struct clv_problem *problem = &example->problem;
    *sizes = (struct example_sizes){
        .n_nodes = problem->n_nodes,
        .n_edges = problem->n_edges,
        .n_features = problem->n_features,
        .n_edge_features = problem->n_edge_features,
        .width = example->width,
        .height = example->height,
        .working_width = example->superpixels.width,
        .working_height = example->superpixels.height,
        .grid = example->grid,
        .n_entries = example->row[problem->n_nodes],
        .has_label = example->label,
        .has_counts = example->counts,
        .has_estimate = estimate,
    };
}

bool example_sizes_slot(struct comm_piece *piece, struct example_sharing *self, size_t index, size_t k)
{
    *piece = (struct comm_piece){&self->sizes[index], sizeof *self->sizes};
    return k == 0;
}

/* An array of an example: the address of its pointer, and its bytes, 0 if it is absent. */
enum { N_ARRAYS = 12 };

struct shared_array {
    void **at;
    size_t size;
};

static void list_arrays(struct shared_array arrays[N_ARRAYS], struct example_sharing *self, size_t index)
{
    const struct example_sizes *sizes = &self->sizes[index];
    struct clv_example *example = &self->examples[index];
    size_t n = (size_t)sizes->n_nodes, m = (size_t)sizes->n_edges, k = (size_t)self->n_labels;
    size_t n_pixels = (size_t)sizes->working_width * (size_t)sizes->working_height;
    size_t counts = sizes->has_counts ? n * k * sizeof(float) : 0;
    const struct shared_array all[N_ARRAYS] = {
        {(void **)&example->row, (n + 1) * sizeof *example->row},
        {(void **)&example->index, (size_t)sizes->n_entries * sizeof *example->index},
        {(void **)&example->value, (size_t)sizes->n_entries * sizeof *example->value},
        {(void **)&example->edges, m * sizeof *example->edges},
        {(void **)&example->edge_features, m * (size_t)sizes->n_edge_features * sizeof *example->edge_features},
        {(void **)&example->area, n * sizeof *example->area},
        {(void **)&example->centroid, 2 * n * sizeof *example->centroid},
        {(void **)&example->label, sizes->has_label ? n * sizeof *example->label : 0},
        {(void **)&example->counts, counts},
        {(void **)&example->theta, counts},
        {(void **)&example->superpixels.labels, n_pixels * sizeof *example->superpixels.labels},
        {(void **)&self->estimates[index], sizes->has_estimate ? n * sizeof **self->estimates : 0},
    };
    for (int a = 0; a < N_ARRAYS; a++)
        arrays[a] = all[a];
}

static bool arrays_slot(struct comm_piece *piece, void *context, size_t index, size_t k)
{
    struct shared_array arrays[N_ARRAYS];
    list_arrays(arrays, context, index);
    if (k >= N_ARRAYS)
        return false;
    *piece = (struct comm_piece){*arrays[k].at, arrays[k].size};
    return true;
}

/* Allocates the arrays of an example that another process sends. */
static enum clv_status make_room(struct example_sharing *self, size_t index, struct clv_error *err)
{
    const struct example_sizes *sizes = &self->sizes[index];
    struct clv_example *example = &self->examples[index];
    struct shared_array arrays[N_ARRAYS];
    list_arrays(arrays, self, index);
    for (int a = 0; a < N_ARRAYS; a++) {
        bool is_wanted = arrays[a].size || arrays[a].at == (void **)&example->edges;
        if (is_wanted && !(*arrays[a].at = array_alloc(arrays[a].size, 1)))
            return fail_memory(err);
    }
    example->width = sizes->width;
    example->height = sizes->height;
    example->superpixels.n = sizes->n_nodes;
    example->superpixels.width = sizes->working_width;
    example->superpixels.height = sizes->working_height;
    example->grid = sizes->grid;
    example_problem(example, sizes->n_nodes, sizes->n_edges, sizes->n_features, sizes->n_edge_features);
    return CLV_OK;
}

static enum clv_status make_rooms(struct example_sharing *self, size_t n, bool to_all, struct clv_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!comm_does(i) && (to_all || !comm_rank()))
            MUST(make_room(self, i, err));
    return CLV_OK;
}

enum clv_status examples_share(struct example_sharing *self, size_t n, bool to_all, struct clv_error *err)
{
    enum clv_status status = make_rooms(self, n, to_all, err);
    MUST(comm_agree(status, err));
    return to_all ? comm_share(n, arrays_slot, self, err) : comm_collect(n, arrays_slot, self, err);
}
