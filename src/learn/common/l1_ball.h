/* Euclidean projection onto an L1 ball. */
#ifndef LEARN_L1_BALL_H
#define LEARN_L1_BALL_H

#include <stddef.h>

/* w[n] = argmin_u |u - w|_2 subject to |u|_1 <= radius, radius > 0. scratch[n] is overwritten. Expected O(n): Duchi,
 * Shalev-Shwartz, Singer, Chandra: Efficient projections onto the l1-ball for learning in high dimensions (ICML 2008),
 * Figure 2. Pivots are medians of three, so that the same input takes the same way. */
void l1_ball_project(double *w, size_t n, double radius, double *scratch);

#endif
