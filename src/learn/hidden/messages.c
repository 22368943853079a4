/* Keeps the messages of belief propagation from step to step, for each example and term, and the counts of its runs;
 * copies them for checkpoints and for steps that may be interrupted. Start at messages_make. */
#include "learn/hidden/hidden.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

/* Most bytes of messages of all examples together. If they need more, none are kept and every run starts without
 * messages. */
#define MESSAGE_BYTES_MAX ((size_t)1 << 30)

static size_t n_messages(const struct hidden *self, size_t index)
{
    return 2 * (size_t)self->examples.problems[index].n_edges * (size_t)self->examples.layout.n_labels;
}

/* Whether an example's terms need these messages. */
static int needs_messages(const struct hidden *self, size_t index, enum hidden_messages which)
{
    const struct hidden_item *item = &self->items[index];
    const struct hidden_settings *settings = &self->settings;
    if (which == HIDDEN_OF_CLAMPED)
        return item->clamped_by == HIDDEN_PROPAGATION;
    const struct clv_weight_layout *layout = &self->examples.layout;
    bool is_both = settings->visible_temperature == 0 && settings->hidden_temperature > 0 &&
                   !hidden_is_cut(layout->pairwise, layout->n_labels);
    return item->free_by == HIDDEN_PROPAGATION && (which == HIDDEN_OF_FREE || is_both);
}

double messages_bytes(const struct clv_training *training)
{
    double n_edges = 0;
    for (size_t i = 0; i < training->n_examples; i++) {
        struct clv_problem problem = clv_dataset_problem(training->dataset, (size_t)training->examples[i]);
        n_edges += problem.n_edges < problem.n_nodes ? 0 : problem.n_edges; /* fewer: a forest needs no messages */
    }
    double of_edge = HIDDEN_N_MESSAGES * 2 * (double)training->layout.n_labels * (double)sizeof(float);
    return fmin(n_edges * of_edge, (double)MESSAGE_BYTES_MAX);
}

void messages_free(struct hidden *self)
{
    for (size_t i = 0; self->items && i < self->examples.n; i++)
        for (int which = 0; which < HIDDEN_N_MESSAGES; which++) {
            array_free(self->items[i].messages[which]);
            self->items[i].messages[which] = NULL;
            self->items[i].has_messages[which] = 0;
        }
}

enum clv_status messages_make(struct hidden *self, struct clv_error *err)
{
    size_t total = 0;
    messages_free(self);
    for (size_t i = 0; i < self->examples.n; i++)
        for (int which = 0; which < HIDDEN_N_MESSAGES; which++)
            if (needs_messages(self, i, (enum hidden_messages)which))
                total += n_messages(self, i) * sizeof(float);
    if (total > MESSAGE_BYTES_MAX)
        return CLV_OK;
    for (size_t i = 0; i < self->examples.n; i++)
        for (int which = 0; which < HIDDEN_N_MESSAGES; which++) {
            float **messages = &self->items[i].messages[which];
            if (!needs_messages(self, i, (enum hidden_messages)which))
                continue;
            *messages = array_alloc(n_messages(self, i) + 1, sizeof **messages);
            NEED(*messages);
        }
    return CLV_OK;
}

struct comm_piece messages_piece(const struct hidden *self, size_t index, enum hidden_messages which,
                                 enum hidden_terms terms)
{
    float *messages = self->items[index].messages[which];
    bool is_changed = terms != HIDDEN_EVALUATE && terms & (which == HIDDEN_OF_CLAMPED ? HIDDEN_CLAMPED : HIDDEN_FREE);
    return (struct comm_piece){messages, messages && is_changed ? n_messages(self, index) * sizeof *messages : 0};
}

size_t messages_size(const struct hidden *self, const int32_t *taken, size_t n)
{
    size_t size = 0;
    for (size_t k = 0; k < n; k++)
        for (int which = 0; which < HIDDEN_N_MESSAGES; which++)
            size += self->items[taken[k]].messages[which] ? n_messages(self, (size_t)taken[k]) : 0;
    return size;
}

void messages_copy(float *to, int64_t *counts, const struct hidden *self, const int32_t *taken, size_t n)
{
    for (size_t k = 0; k < n; k++, counts += MESSAGES_COUNTS) {
        const struct hidden_item *item = &self->items[taken[k]];
        size_t size = n_messages(self, (size_t)taken[k]);
        for (int which = 0; which < HIDDEN_N_MESSAGES; which++) {
            counts[which] = item->has_messages[which];
            if (!item->messages[which])
                continue;
            if (item->has_messages[which])
                memcpy(to, item->messages[which], size * sizeof *to);
            else
                memset(to, 0, size * sizeof *to);
            to += size;
        }
        counts[HIDDEN_N_MESSAGES] = item->n_runs;
        counts[HIDDEN_N_MESSAGES + 1] = item->n_sweeps;
        counts[HIDDEN_N_MESSAGES + 2] = item->n_converged;
    }
}

void messages_put(struct hidden *self, const float *from, const int64_t *counts, const int32_t *taken, size_t n)
{
    for (size_t k = 0; k < n; k++, counts += MESSAGES_COUNTS) {
        struct hidden_item *item = &self->items[taken[k]];
        size_t size = n_messages(self, (size_t)taken[k]);
        for (int which = 0; which < HIDDEN_N_MESSAGES; which++) {
            item->has_messages[which] = item->messages[which] && counts[which];
            if (!item->messages[which])
                continue;
            memcpy(item->messages[which], from, size * sizeof *from);
            from += size;
        }
        item->n_runs = counts[HIDDEN_N_MESSAGES];
        item->n_sweeps = counts[HIDDEN_N_MESSAGES + 1];
        item->n_converged = counts[HIDDEN_N_MESSAGES + 2];
    }
}
