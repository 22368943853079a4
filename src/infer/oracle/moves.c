#include "infer/oracle/oracle.h"

#include <string.h>

#include "base/base.h"

/* The best label of each node by itself, the lowest at ties. */
static void start_apart(int32_t *y, const struct clv_field *field)
{
    size_t k = (size_t)field->n_labels;
    for (size_t i = 0; i < (size_t)field->n_nodes; i++) {
        y[i] = 0;
        for (size_t label = 1; label < k; label++)
            if (field->unary[i * k + label] > field->unary[i * k + (size_t)y[i]])
                y[i] = (int32_t)label;
    }
}

/* Makes the move that stands ready if it helps. */
static enum clv_status try_move(struct moves *self, bool *has_helped, struct clv_oracle *oracle, struct clv_error *err)
{
    *has_helped = false;
    if (!self->cut.n_nodes)
        return CLV_OK;
    MUST(clv_oracle_map(oracle, self->y, NULL, &self->cut, err));
    for (int32_t p = 0; p < self->cut.n_nodes; p++) {
        int32_t *label = &self->best[self->nodes[p]], before = *label, after = self->to[self->y[p]];
        *label = after < 0 ? before : after;
        self->y[p] = before;
    }
    double value = clv_field_score(self->field, self->best);
    *has_helped = value > self->score;
    if (*has_helped)
        self->score = value;
    for (int32_t p = 0; !*has_helped && p < self->cut.n_nodes; p++)
        self->best[self->nodes[p]] = self->y[p];
    return CLV_OK;
}

/* A move that has just helped cannot help again at once. */
static enum clv_status run(struct moves *self, struct clv_oracle *oracle, move_maker *make, int32_t n_moves,
                           struct clv_error *err)
{
    self->score = clv_field_score(self->field, self->best);
    for (int32_t number = 0, n_idle = 0; n_idle < n_moves; number = (number + 1) % n_moves) {
        bool has_helped;
        make(self, number);
        MUST(try_move(self, &has_helped, oracle, err));
        n_idle = has_helped ? 1 : n_idle + 1;
    }
    return CLV_OK;
}

enum clv_status moves_run(struct clv_oracle *oracle, int32_t *y, double *score, const struct clv_field *field,
                          move_maker *make, int32_t n_moves, struct clv_error *err)
{
    size_t n = (size_t)field->n_nodes, m = (size_t)field->n_edges;
    struct moves self = {.field = field, .cut = {.n_labels = 2, .form = CLV_PAIRWISE_FULL}};
    enum clv_status status;
    self.best = array_alloc(n, 4 * sizeof *self.best);
    self.edges = array_alloc(m, sizeof *self.edges);
    self.cut.unary = array_alloc(n, sizeof *self.cut.unary);
    self.cut.pairwise = array_alloc(m, 4 * sizeof *self.cut.pairwise);
    if (!self.best || !self.edges || !self.cut.unary || !self.cut.pairwise) {
        status = fail_memory(err);
        goto done;
    }
    self.nodes = self.best + n;
    self.place = self.nodes + n;
    self.y = self.place + n;
    start_apart(self.best, field);
    status = run(&self, oracle, make, n_moves, err);
    if (status)
        goto done;
    if (n)
        memcpy(y, self.best, n * sizeof *y);
    if (score)
        *score = self.score;
done:
    array_free(self.best);
    array_free(self.edges);
    array_free(self.cut.unary);
    array_free(self.cut.pairwise);
    return status;
}
