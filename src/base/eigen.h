/* Eigenvalues and eigenvectors of covariances, with the same bits on every machine. */
#ifndef BASE_EIGEN_H
#define BASE_EIGEN_H

#include <stddef.h>

/* Replaces matrix[n][n], symmetric without negative eigenvalues (both triangles are read), by its unit eigenvectors,
 * one per row, and sets values[n] to its eigenvalues, both by descending eigenvalue. The largest entry of a vector by
 * magnitude, the first at ties, is positive. Eigenvalues up to 1e-10 of the largest, and their vectors, become 0.
 * One-sided Jacobi rotations (Hestenes 1958): O(n^3) per round, about ten rounds. Entries and their squares must be
 * finite. */
void eigen_of_covariance(double *values, double *matrix, size_t n);

#endif
