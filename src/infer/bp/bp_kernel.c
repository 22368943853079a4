/* Computes exponentials of couplings and tables, and lists which node sends which message where. Messages outside the
 * log domain need both. A table that edges share is exponentiated once. */
#include <string.h>

#include "base/base.h"
#include "infer/bp/bp.h"
#include "infer/infer.h"

void bp_linear_release(struct bp_linear *linear)
{
    arrays_free(linear->slot, linear->sent, linear->split, linear->is_due, linear->message, linear->behind,
                linear->prior, linear->belief, linear->shift, linear->kernel);
    *linear = (struct bp_linear){0};
}

/* Assigns slots to messages in the order of sending, so that a sweep reads memory from front to back. */
static void assign_slots(struct clv_bp *bp)
{
    int32_t n = 0;
    for (int way = 0; way < 2; way++)
        for (int32_t r = 0; r < bp->n_nodes; r++) {
            int32_t node = bp->order[way ? r : bp->n_nodes - 1 - r];
            for (int32_t s = bp->first[node]; s < bp->first[node + 1]; s++)
                if (bp_receives(bp, bp->arc[s], way ? TO_LATER : TO_EARLIER))
                    bp->linear.slot[bp->arc[s]] = n++;
        }
}

/* Lists the messages of each node with the tables that edges use now. */
static void list_sent(struct clv_bp *bp)
{
    struct bp_linear *linear = &bp->linear;
    for (int32_t i = 0; i < bp->n_nodes; i++) {
        int32_t n = bp->first[i];
        for (int way = 0; way < 2; way++) {
            for (int32_t s = bp->first[i]; s < bp->first[i + 1]; s++) {
                int32_t arc = bp->arc[s];
                if (bp_receives(bp, arc, way ? TO_LATER : TO_EARLIER))
                    linear->sent[n++] = (struct bp_sent){linear->slot[arc], linear->slot[arc ^ 1], bp->table[arc >> 1],
                                                         arc_target(bp, arc), arc & 1};
            }
            if (!way)
                linear->split[i] = n;
        }
    }
}

static size_t largest_degree(const struct clv_bp *bp)
{
    int32_t largest = 0;
    for (int32_t i = 0; i < bp->n_nodes; i++)
        largest = bp->first[i + 1] - bp->first[i] > largest ? bp->first[i + 1] - bp->first[i] : largest;
    return (size_t)largest;
}

static enum clv_status reserve(struct clv_bp *bp, struct clv_error *err)
{
    struct bp_linear *linear = &bp->linear;
    size_t row = row_length(bp->n_labels), m = (size_t)bp->n_edges;
    size_t n_kernels = bp->form != CLV_PAIRWISE_FULL ? 0 : bp->is_shared ? 2 : m;
    const struct array_part by_node[] = {{&linear->prior, row * sizeof *linear->prior},
                                         {&linear->belief, row * sizeof *linear->belief},
                                         {&linear->split, sizeof *linear->split},
                                         {&linear->shift, sizeof *linear->shift}};
    const struct array_part by_edge[] = {{&linear->slot, 2 * sizeof *linear->slot},
                                         {&linear->sent, 2 * sizeof *linear->sent},
                                         {&linear->is_due, 2 * sizeof *linear->is_due},
                                         {&linear->message, 2 * row * sizeof *linear->message}};
    const struct array_part by_kernel[] = {{&linear->kernel, row * row * sizeof *linear->kernel}};
    const struct array_part by_degree[] = {{&linear->behind, row * sizeof *linear->behind}};
    if (linear->kernel_capacity)
        return CLV_OK;
    if (array_reserve_all(by_node, 4, &linear->node_capacity, (size_t)bp->n_nodes + 1) ||
        array_reserve_all(by_edge, 4, &linear->edge_capacity, m + 1) ||
        array_reserve_all(by_degree, 1, &linear->degree_capacity, largest_degree(bp) + 1) ||
        array_reserve_all(by_kernel, 1, &linear->kernel_capacity, n_kernels + 1))
        return fail_memory(err);
    assign_slots(bp);
    return CLV_OK;
}

static void make_tables(struct clv_bp *bp)
{
    size_t k = (size_t)bp->n_labels, row = row_length(bp->n_labels);
    size_t n_tables = bp->is_shared ? 2 : (size_t)bp->n_edges;
    for (size_t t = 0; t < n_tables; t++) {
        const double *table = &bp->pairwise[t * k * k];
        double *kernel = &bp->linear.kernel[t * row * row];
        bp->top[t] = maximum(table, k * k);
        for (size_t a = 0; a < row; a++) {
            const double *from = &table[a < k ? a * k : 0];
            memcpy(&kernel[a * row], from, k * sizeof *kernel);
            for (size_t b = k; b < row; b++)
                kernel[a * row + b] = from[0];
        }
        exponentials(kernel, kernel, bp->top[t], row * row);
    }
}

enum clv_status bp_make_kernels(struct clv_bp *bp, struct clv_error *err)
{
    MUST(reserve(bp, err));
    list_sent(bp);
    if (bp->form == CLV_PAIRWISE_FULL)
        make_tables(bp);
    for (int32_t e = 0; bp->form == CLV_PAIRWISE_POTTS && e < bp->n_edges; e++)
        bp->potts[e] = (struct bp_potts){portable_exp(-bp->pairwise[e]), -portable_expm1(-bp->pairwise[e])};
    bp->has_kernels = true;
    return CLV_OK;
}
