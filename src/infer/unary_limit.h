/* What keeps one large unary from leaving all others without digits when scores become whole numbers. */
#ifndef INFER_UNARY_LIMIT_H
#define INFER_UNARY_LIMIT_H

#include <math.h>

#define UNARY_LARGE 1024 /* times a sum of couplings */

/* The size to which unaries are clipped, INFINITY in ordinary fields, which keep their scale. `largest` is the largest
 * size of a unary, largest_sum that of a node's couplings: what is clipped decides its node as before. Without
 * couplings, signs must not be lost: `least` is the least size of a unary that is not 0. */
static inline double unary_limit(double largest, double largest_sum, double least)
{
    double sum = largest_sum > 0 ? largest_sum : 0x1p18 * least;
    return largest > UNARY_LARGE * sum ? 2 * sum : INFINITY;
}

static inline double unary_clip(double unary, double limit)
{
    return unary > limit ? limit : unary < -limit ? -limit : unary;
}

#endif
