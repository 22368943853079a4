#include "hidden_model.h"

#include <math.h>
#include <stdbool.h>

#include "base/base.h"
#include "streams.h"

void hidden_model_release(struct hidden_model *model)
{
    array_free(model->edges);
    array_free(model->emission);
    array_free(model->unary);
    array_free(model->table);
    *model = (struct hidden_model){0};
}

/* A chain is a grid of one row. Cells whose row and column add up to an even number are y, the others h; both are
 * numbered row by row. Edges go to the right and down. */
struct layout {
    int32_t rows, columns;
    int32_t *node_of; /* [rows * columns] */
};

static struct layout layout_of(const struct hidden_options *options)
{
    return (struct layout){.rows = options->graph == HIDDEN_CHAIN ? 1 : options->size, .columns = options->size};
}

static bool is_visible(const struct layout *layout, int32_t cell)
{
    return (cell / layout->columns + cell % layout->columns) % 2 == 0;
}

static void number_nodes(struct hidden_model *model, const struct layout *layout)
{
    int32_t n_cells = layout->rows * layout->columns, next_hidden = model->n_visible, next_visible = 0;
    for (int32_t cell = 0; cell < n_cells; cell++)
        layout->node_of[cell] = is_visible(layout, cell) ? next_visible++ : next_hidden++;
}

static void join(struct hidden_model *model, const struct layout *layout, int32_t cell, int32_t other)
{
    bool forth = is_visible(layout, cell);
    model->edges[model->n_edges][0] = layout->node_of[forth ? cell : other];
    model->edges[model->n_edges++][1] = layout->node_of[forth ? other : cell];
}

static void join_cells(struct hidden_model *model, const struct layout *layout)
{
    int32_t n_cells = layout->rows * layout->columns;
    for (int32_t cell = 0; cell < n_cells; cell++) {
        if (cell % layout->columns + 1 < layout->columns)
            join(model, layout, cell, cell + 1);
        if (cell + layout->columns < n_cells)
            join(model, layout, cell, cell + layout->columns);
    }
}

/* Normal variables of mean 0, one after the other. */
struct normals {
    uint64_t seed, stream, next;
    bool is_deviation;
};

static double draw(struct normals *normals, double sigma)
{
    return (normals->is_deviation ? sigma : sqrt(sigma)) * rng_normal(normals->seed, normals->stream, normals->next++);
}

/* emission[r][s] = w_x[r] + w[s] + w[r, s]. Shared weights are those of node 0, and of the first h. */
static void draw_node(struct hidden_model *model, const struct hidden_options *options, int32_t node)
{
    bool hidden = node >= model->n_visible;
    int32_t k = model->n_labels, owner = options->shared_weights ? hidden : node;
    struct normals normals = {options->seed, RNG_STREAM(RNG_SIMULATE, STREAM_NODE_WEIGHTS),
                              (uint64_t)owner * (uint64_t)(2 * k + k * k), options->sigma_is_deviation != 0};
    double *emission = model->emission + (size_t)node * (size_t)(k * k),
           *unary = model->unary + (size_t)node * (size_t)k;
    double input[HIDDEN_MAX_LABELS] = {0};
    for (int32_t r = 0; r < k; r++)
        input[r] = draw(&normals, options->sigma_x);
    for (int32_t s = 0; s < k; s++)
        unary[s] = draw(&normals, hidden ? options->sigma_h : options->sigma_y);
    for (int32_t r = 0; r < k; r++)
        for (int32_t s = 0; s < k; s++)
            emission[r * k + s] = input[r] + unary[s] + draw(&normals, hidden ? options->sigma_xh : options->sigma_xy);
}

/* unary[s] = log sum_r exp emission[r][s]. */
static void sum_inputs_out(struct hidden_model *model, int32_t node)
{
    int32_t k = model->n_labels;
    const double *emission = model->emission + (size_t)node * (size_t)(k * k);
    for (int32_t s = 0; s < k; s++) {
        double most = -INFINITY, sum = 0;
        for (int32_t r = 0; r < k; r++)
            most = fmax(most, emission[r * k + s]);
        for (int32_t r = 0; r < k; r++)
            sum += portable_exp(emission[r * k + s] - most);
        model->unary[(size_t)node * (size_t)k + (size_t)s] = most + portable_log(sum);
    }
}

static void draw_edge(struct hidden_model *model, const struct hidden_options *options, int32_t edge)
{
    uint64_t size = (uint64_t)model->n_labels * (uint64_t)model->n_labels;
    struct normals normals = {options->seed, RNG_STREAM(RNG_SIMULATE, STREAM_EDGE_WEIGHTS),
                              options->shared_weights ? 0 : (uint64_t)edge * size, options->sigma_is_deviation != 0};
    for (uint64_t k = 0; k < size; k++)
        model->table[(uint64_t)edge * size + k] = draw(&normals, options->sigma_yh);
}

enum clv_status hidden_model_init(struct hidden_model *model, const struct hidden_options *options,
                                  struct clv_error *err)
{
    struct layout layout = layout_of(options);
    int32_t n = layout.rows * layout.columns;
    size_t k = (size_t)options->n_labels;
    int32_t n_edges = layout.rows * (layout.columns - 1) + layout.columns * (layout.rows - 1);
    layout.node_of = array_alloc((size_t)n, sizeof *layout.node_of);
    *model = (struct hidden_model){
        .n_labels = options->n_labels,
        .n_nodes = n,
        .n_visible = (n + 1) / 2,
        .edges = array_alloc((size_t)n_edges, sizeof *model->edges),
        .emission = array_alloc((size_t)n, k * k * sizeof *model->emission),
        .unary = array_alloc((size_t)n, k * sizeof *model->unary),
        .table = array_alloc((size_t)n_edges, k * k * sizeof *model->table),
    };
    if (!layout.node_of || !model->edges || !model->emission || !model->unary || !model->table) {
        array_free(layout.node_of);
        hidden_model_release(model);
        return fail_memory(err);
    }
    number_nodes(model, &layout);
    join_cells(model, &layout);
    array_free(layout.node_of);
    for (int32_t node = 0; node < n; node++) {
        draw_node(model, options, node);
        sum_inputs_out(model, node);
    }
    for (int32_t edge = 0; edge < n_edges; edge++)
        draw_edge(model, options, edge);
    return CLV_OK;
}
