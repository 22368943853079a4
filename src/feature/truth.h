/* What truth.c shares with the readers of feature files. */
#ifndef FEATURE_TRUTH_H
#define FEATURE_TRUTH_H

#include <stdint.h>

/* label[i] = argmax_b theta[i][b], the lowest on ties; CLV_UNKNOWN for a row of zeros. */
void majority_labels(int32_t *label, const float *theta, int32_t n_nodes, int32_t n_labels);

#endif
