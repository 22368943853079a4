/* This folder makes one image a problem: example.c runs SLIC or lays the patches and lets every block fill its columns
 * from what views.c has made of the image; truth.c brings masks and boxes to the nodes and labels back to the
 * pixels, patch_votes.c the labels of patches. Read clv_example_extract in example.c first. This header declares
 * what truth.c shares with the readers of feature files. */
#ifndef FEATURE_TRUTH_H
#define FEATURE_TRUTH_H

#include "cleave/features.h"

/* label[i] = argmax_b theta[i][b], the lowest on ties; CLV_UNKNOWN for a row of zeros. */
void majority_labels(int32_t *label, const float *theta, int32_t n_nodes, int32_t n_labels);

/* mean[n_nodes] = the mean of values[height][width], at the original size, over each node's pixels. */
enum clv_status example_mean(float *mean, const struct clv_example *example, const float *values,
                             struct clv_error *err) CLV_CHECK;

/* theta as clv_example_set_truth says, of the pixels counted. */
void balanced_theta(float *theta, const float *counts, int32_t n_nodes, int32_t n_labels);

#endif
