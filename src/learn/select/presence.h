/* Learning which labels an image has, from what a first stage said of images that it was not learned from: logistic
 * regression on the evidence of feature/context/evidence.h, label by label. */
#ifndef LEARN_PRESENCE_H
#define LEARN_PRESENCE_H

#include "cleave/problem.h"

/* is_there[n_labels]: whether the label holds at least 1/500 of what the problem's theta weighs. */
void presence_of(uint8_t *is_there, const struct clv_problem *problem, int32_t n_labels);

/* w[n_labels][evidence_size] from evidence[n][2][n_labels] and is_there[n][n_labels]: the minimum of the mean of
 * log(1 + exp(-+<w, row>)) + |w|^2 / 2000 (all but the bias), nearly. Labels that no image or each has get a bias alone,
 * as if half an image were otherwise. O(steps n n_labels^2). */
enum clv_status presence_learn(double *w, const double *evidence, const uint8_t *is_there, size_t n, int32_t n_labels,
                               int n_threads, struct clv_error *err) CLV_CHECK;

#endif
