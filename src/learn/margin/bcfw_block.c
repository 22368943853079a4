#include "learn/margin/margin.h"

#include "base/base.h"
#include "mrf/problem.h"

#define NO_SHARE     1e-6 /* a labelling of less dual weight is forgotten */
#define SOME_SHARE   1e-3 /* one of more is counted */
#define SUPPORT_STEP 8    /* labellings by which a block's support grows */

void block_indicator(double *indicator, const struct bcfw *self, const struct clv_problem *problem, const int32_t *y)
{
    for (size_t i = 0; i < (size_t)problem->n_nodes; i++)
        for (size_t r = 0; r < self->n_rows; r++)
            indicator[i * self->n_rows + r] = y[i] == (self->n_rows == 1 ? 1 : (int32_t)r);
}

uint64_t block_hash(const struct clv_problem *problem, const int32_t *y)
{
    return hash_bytes(HASH_START, y, (size_t)problem->n_nodes * sizeof *y);
}

enum clv_status block_start(struct bcfw *self, size_t index, struct clv_error *err)
{
    struct bcfw_block *block = &self->blocks[index];
    const struct clv_problem *problem;
    MUST(examples_at(&problem, &self->examples, index, 0, false, err));
    block_indicator(block->marginal, self, problem, problem->label);
    pairwise_feature_add(block->pairwise, problem, &self->examples.shape, problem->label, 1);
    block->loss = self->examples.truth_loss[index];
    block->gap = 1;
    block->truth = block_hash(problem, problem->label);
    return CLV_OK;
}

enum clv_status block_reserve(struct bcfw_block *block, size_t n, struct clv_error *err)
{
    size_t capacity = (n + SUPPORT_STEP - 1) / SUPPORT_STEP * SUPPORT_STEP;
    struct bcfw_share *grown = array_realloc(block->support, capacity, sizeof *grown);
    if (!grown)
        return fail_memory(err);
    block->support = grown;
    return CLV_OK;
}

enum clv_status block_move_support(struct bcfw_block *block, uint64_t labelling, double step, struct clv_error *err)
{
    size_t n = 0;
    bool is_there = labelling == block->truth;
    for (size_t k = 0; k < block->n_support; k++) {
        struct bcfw_share share = block->support[k];
        share.share = (1 - step) * share.share + (share.labelling == labelling ? step : 0);
        is_there |= share.labelling == labelling;
        if (share.share > NO_SHARE)
            block->support[n++] = share;
    }
    block->n_support = n;
    if (is_there || step <= NO_SHARE)
        return CLV_OK;
    enum clv_status status = n % SUPPORT_STEP == 0 ? block_reserve(block, n + 1, err) : CLV_OK;
    if (!status)
        block->support[block->n_support++] = (struct bcfw_share){labelling, step};
    return status;
}

size_t bcfw_n_support(const struct bcfw *self)
{
    size_t n = 0;
    for (size_t i = 0; i < self->n; i++)
        for (size_t k = 0; k < self->blocks[i].n_support; k++)
            n += self->blocks[i].support[k].share > SOME_SHARE;
    return n;
}
