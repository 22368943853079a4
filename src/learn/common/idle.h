/* What can keep a parameter from having any effect, for the learners' `idle`: clauses, NULL where nothing does. Without
 * a dataset nothing is known of the data, and so nothing there is in the way. */
#ifndef LEARN_IDLE_H
#define LEARN_IDLE_H

#include "cleave/learn.h"

/* Of what is about pairwise terms: that there are none. */
const char *idle_edges(const struct clv_training *training);

/* Of what is about full pairwise tables: that there are none, or `with_edges` is false. */
const char *idle_tables(const struct clv_training *training, bool with_edges);

/* Of how weak examples are labelled: that there are none. */
const char *idle_weak(const struct clv_training *training);

/* Of how weak examples weigh against others: that there are only those, or none. */
const char *idle_mixture(const struct clv_training *training);

/* Of labels that are given of weak examples, besides those of others: that there are none. */
const char *idle_given(const struct clv_training *training);

/* Of what is about nodes of unknown label: that all labels are known. */
const char *idle_hidden(const struct clv_training *training);

/* Of random weights to start from: that others are given. */
const char *idle_start(const struct clv_training *training);

#endif
