/* Exponentials of whole arrays. */
#ifndef INFER_EXPONENTIAL_H
#define INFER_EXPONENTIAL_H

#include <stddef.h>

/* out[c] = exp(value[c] - shift) for values from -inf to shift + 700: within 2 units in the last place, 0 below
 * exp(-708); the same bits on every machine and whatever n is. out may be value. */
void exponentials(double *out, const double *value, double shift, size_t n);

#endif
