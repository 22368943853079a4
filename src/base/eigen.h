/* Eigenvalues and eigenvectors of covariances, the same bits on every machine. */
#ifndef BASE_EIGEN_H
#define BASE_EIGEN_H

#include <stddef.h>

/* matrix[n][n], symmetric and without negative eigenvalues (one triangle is looked at as well as the other), becomes
 * its unit eigenvectors, a row each, and values[n] its eigenvalues, both by falling eigenvalue. The largest entry of a
 * vector, the first one of equals, is positive. Vectors of eigenvalues below 1e-10 of the largest one are zeros, and so
 * are those eigenvalues. Rows are turned against each other until they are orthogonal (Hestenes 1958): O(n^3), about
 * ten rounds. Values have to be finite, and their squares, too. */
void eigen_of_covariance(double *values, double *matrix, size_t n);

#endif
