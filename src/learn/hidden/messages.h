/* The messages that belief propagation goes on from, and the counts of its runs: what an objective remembers from step
 * to step. */
#ifndef LEARN_MESSAGES_H
#define LEARN_MESSAGES_H

#include "base/team_for.h"
#include "learn/hidden/objective.h"

/* Memory for what the items' terms need, nothing known yet. All or none, so that nothing depends on the order of
 * examples. */
enum clv_status messages_make(struct hidden *self, struct clv_error *err) CLV_CHECK;
void messages_free(struct hidden *self);

#define MESSAGES_COUNTS (HIDDEN_N_MESSAGES + 3) /* which messages there are; runs, sweeps, converged ones */

/* An example's messages of one kind, as far as working out these terms changes them. */
struct team_piece messages_piece(const struct hidden *self, size_t index, enum hidden_messages which,
                                 enum hidden_terms terms);

/* Numbers in all messages of the examples taken[n]. */
size_t messages_size(const struct hidden *self, const int32_t *taken, size_t n);

/* to[messages_size] and counts[n][MESSAGES_COUNTS] of the examples taken[n]; what is not there is 0. */
void messages_copy(float *to, int64_t *counts, const struct hidden *self, const int32_t *taken, size_t n);

/* The way back. */
void messages_put(struct hidden *self, const float *from, const int64_t *counts, const int32_t *taken, size_t n);

#endif
