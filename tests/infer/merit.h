/* What decoding rules maximise, by enumeration. */
#ifndef TESTS_INFER_MERIT_H
#define TESTS_INFER_MERIT_H

#include "infer/random_field.h"

#define T_H 0.7

/* max_h f(y, h), or T_h log sum_h exp(f(y, h) / T_h), of visible labels; *best that of the best ones. */
static inline double merit(double *best, const struct clv_field *field, const int32_t *y, const uint8_t *is_visible,
                           int is_summed)
{
    static double sums[4096];
    int32_t z[MAX_NODES] = {0};
    size_t wanted = 0;
    *best = -INFINITY;
    for (size_t c = 0; c < 4096; c++)
        sums[c] = -INFINITY;
    for (int32_t i = 0; i < field->n_nodes; i++)
        wanted = is_visible[i] ? wanted * (size_t)field->n_labels + (size_t)y[i] : wanted;
    do {
        size_t code = 0;
        double score = clv_field_score(field, z);
        for (int32_t i = 0; i < field->n_nodes; i++)
            code = is_visible[i] ? code * (size_t)field->n_labels + (size_t)z[i] : code;
        sums[code] = is_summed ? log_add(sums[code], score / T_H) : fmax(sums[code], score);
    } while (next_labelling(z, field));
    for (size_t c = 0; c < 4096; c++)
        *best = fmax(*best, (is_summed ? T_H : 1) * sums[c]);
    return (is_summed ? T_H : 1) * sums[wanted];
}

#endif
