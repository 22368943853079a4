/* What a first stage's marginals say about which labels an image has at all: evidence that label costs are made of. */
#ifndef FEATURE_EVIDENCE_H
#define FEATURE_EVIDENCE_H

#include "cleave/status.h"

/* evidence[2][n_labels]: each label's mean marginal over the nodes, and its largest one. O(n_nodes n_labels). */
void evidence_measure(double *evidence, const double *marginals, int32_t n_nodes, int32_t n_labels);

/* What the log-odds of a label's presence are linear in, row[evidence_size]: 1, the log-odds of the label's mean and of
 * its largest marginal, and the roots of all labels' means, which say with what else it occurs. */
int32_t evidence_size(int32_t n_labels);
void evidence_row(double *row, const double *evidence, int32_t n_labels, int32_t label);

#endif
