/* The memory of bcfw.c. */
#include <math.h>

#include "base/base.h"
#include "learn/common/common.h"
#include "learn/margin/margin.h"

static enum clv_status allocate_blocks(struct bcfw *self, struct clv_error *err)
{
    size_t n_marginals = 0, most_nodes = 0;
    for (size_t i = 0; i < self->n; i++) {
        size_t n_nodes = (size_t)self->examples.problems[i].n_nodes;
        n_marginals += n_nodes * self->n_rows;
        most_nodes = n_nodes > most_nodes ? n_nodes : most_nodes;
    }
    size_t n_direction = most_nodes * self->n_rows + self->pairwise_size + self->size;
    self->blocks = arena_zalloc(&self->arena, self->n, sizeof *self->blocks);
    self->block_memory_size = n_marginals + self->n * self->pairwise_size;
    self->block_memory = arena_zalloc(&self->arena, self->block_memory_size, sizeof(double));
    self->directions = arena_zalloc(&self->arena, self->batch, sizeof *self->directions);
    self->direction_memory = arena_zalloc(&self->arena, self->batch, n_direction * sizeof(double));
    if (self->arena.failed)
        return fail_memory(err);
    for (size_t t = 0; t < self->batch; t++) {
        struct bcfw_direction *direction = &self->directions[t];
        direction->y = arena_alloc(&self->arena, most_nodes, sizeof *direction->y);
        direction->spans = arena_zalloc(&self->arena, self->n_rows + 1, sizeof *direction->spans);
        if (self->arena.failed)
            return fail_memory(err);
        direction->change = self->direction_memory + t * n_direction;
        direction->pairwise = direction->change + most_nodes * self->n_rows;
        direction->delta = direction->pairwise + self->pairwise_size;
    }
    double *memory = self->block_memory;
    enum clv_status status = CLV_OK;
    for (size_t i = 0; i < self->n && !status; i++) {
        self->blocks[i].marginal = memory;
        memory += (size_t)self->examples.problems[i].n_nodes * self->n_rows;
        self->blocks[i].pairwise = memory;
        memory += self->pairwise_size;
        status = block_start(self, i, err);
    }
    return status;
}

enum clv_status bcfw_open(struct bcfw *self, const struct clv_training *training, const struct bcfw_rules *rules,
                          struct clv_error *err)
{
    *self = (struct bcfw){.training = training, .rules = *rules, .best_objective = INFINITY, .best_dual = -INFINITY};
    MUST(examples_open(&self->examples, training, rules->edges, err));
    const struct clv_shape *shape = &self->examples.shape;
    self->n = self->examples.n;
    self->batch = rules->batch > self->n ? self->n : rules->batch ? rules->batch : 1;
    self->n_rows = clv_shape_rows(shape);
    self->size = clv_shape_size(shape);
    self->unary_size = clv_shape_unary_size(shape);
    self->pairwise_size = self->size - self->unary_size;
    self->dual.size = self->size;
    self->dual.free_size = shape->pairwise == CLV_PAIRWISE_POTTS ? self->unary_size : self->size;
    self->dual.loss = mean_of(self->examples.truth_loss, self->n);
    self->dual.v = arena_zalloc(&self->arena, self->size, sizeof(double));
    self->dual.w = arena_zalloc(&self->arena, self->size, sizeof(double));
    self->best = arena_zalloc(&self->arena, self->size, sizeof(double));
    self->average = rules->averaging ? arena_zalloc(&self->arena, self->size, sizeof(double)) : NULL;
    self->hinge = arena_alloc(&self->arena, self->n, sizeof(double));
    self->order = arena_alloc(&self->arena, self->n, sizeof *self->order);
    self->bucket_gap = arena_zalloc(&self->arena, (self->n + BCFW_BUCKET - 1) / BCFW_BUCKET, sizeof(double));
    if (self->arena.failed)
        return fail_memory(err);
    return allocate_blocks(self, err);
}

void bcfw_release(struct bcfw *self)
{
    for (size_t i = 0; self->blocks && i < self->n; i++)
        array_free(self->blocks[i].support);
    examples_release(&self->examples);
    arena_release(&self->arena);
}

double bcfw_bytes(const struct clv_training *training, double batch)
{
    double n_rows = (double)clv_shape_rows(&training->shape), size = (double)clv_shape_size(&training->shape);
    double pairwise = size - (double)clv_shape_unary_size(&training->shape),
           numbers = (5 + fmin(batch, (double)training->n_examples)) * size;
    for (size_t i = 0; i < training->n_examples; i++) {
        struct clv_problem problem = clv_dataset_problem(training->dataset, (size_t)training->examples[i]);
        numbers += n_rows * (double)problem.n_nodes + pairwise;
    }
    return numbers * (double)sizeof(double);
}
