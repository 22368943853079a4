/* Rows of doubles as vectors, and the elimination of one end of an edge; for loops that are compiled for each kind of
 * machine. Rows are padded to whole vectors, so that loops need no special end: with zeros if they are multiplied and
 * added up, else by repeating a label, which changes no maximum and no minimum. */
#ifndef INFER_BP_LANES_H
#define INFER_BP_LANES_H

#include <stdint.h>

#include "base/machine.h"
#include "cleave/infer.h"

#define LANES             4
#define LONGEST_ROW       (CLV_BP_MAX_LABELS + LANES)
#define LONGEST_ROW_LANES (LONGEST_ROW / LANES)
#define PART              6 /* vectors whose running sums stay in registers */

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

static inline size_t row_length(int32_t n_labels)
{
    return ((size_t)n_labels + LANES - 1) / LANES * LANES;
}

typedef int64_t lane_bits __attribute__((vector_size(LANES * sizeof(int64_t))));

INLINE void lift(lanes *value, const lanes *other)
{
    lane_bits is_other = *other > *value;
    *value = (lanes)(((lane_bits)*other & is_other) | ((lane_bits)*value & ~is_other));
}

INLINE void lower(lanes *value, const lanes *other)
{
    lane_bits is_other = *other < *value;
    *value = (lanes)(((lane_bits)*other & is_other) | ((lane_bits)*value & ~is_other));
}

/* Sets all lanes to the highest of them. */
INLINE void spread_highest(lanes *value)
{
    lanes halves = __builtin_shufflevector(*value, *value, 2, 3, 0, 1);
    lift(value, &halves);
    lanes pairs = __builtin_shufflevector(*value, *value, 1, 0, 3, 2);
    lift(value, &pairs);
}

INLINE void spread_lowest(lanes *value)
{
    lanes halves = __builtin_shufflevector(*value, *value, 2, 3, 0, 1);
    lower(value, &halves);
    lanes pairs = __builtin_shufflevector(*value, *value, 1, 0, 3, 2);
    lower(value, &pairs);
}

/* out[b] = sum or max over a of weight[a] table[a][b], for `part` vectors of rows of n. */
INLINE void combine_part(lanes *restrict out, const double *restrict weight, const lanes *restrict table, size_t k,
                         size_t n, const bool is_max, const size_t part)
{
    lanes sum[PART];
#pragma GCC unroll 8
    for (size_t v = 0; v < part; v++)
        sum[v] = weight[0] * table[v];
    for (size_t a = 1; a < k; a++) {
        table += n;
#pragma GCC unroll 8
        for (size_t v = 0; v < part; v++) {
            lanes term = weight[a] * table[v];
            if (is_max)
                lift(&sum[v], &term);
            else
                sum[v] += term;
        }
    }
#pragma GCC unroll 8
    for (size_t v = 0; v < part; v++)
        out[v] = sum[v];
}

/* Combines rows of any length, part by part. */
INLINE void combine_rows(lanes *restrict out, const double *restrict weight, const lanes *restrict table, size_t k,
                         size_t n, const bool is_max)
{
    size_t v = 0;
    for (; v + PART <= n; v += PART)
        combine_part(&out[v], weight, &table[v], k, n, is_max, PART);
    switch (n - v) {
    case 1: combine_part(&out[v], weight, &table[v], k, n, is_max, 1); break;
    case 2: combine_part(&out[v], weight, &table[v], k, n, is_max, 2); break;
    case 3: combine_part(&out[v], weight, &table[v], k, n, is_max, 3); break;
    case 4: combine_part(&out[v], weight, &table[v], k, n, is_max, 4); break;
    case 5: combine_part(&out[v], weight, &table[v], k, n, is_max, 5); break;
    default: break;
    }
}

INLINE void join(lanes *sum, const lanes *other, const bool is_max)
{
    if (is_max)
        lift(sum, other);
    else
        *sum += *other;
}

/* out[a] = sum or max over b of table[a][b] weight[b], four rows at a time; it first adds every fourth term, then the
 * four sums. The padding of weight is 0, and the table has whole vectors of rows. */
INLINE void combine_columns(lanes *restrict out, const lanes *restrict weight, const lanes *restrict table, size_t k,
                            size_t n, const bool is_max)
{
    for (size_t a = 0; a < k; a += LANES) {
        lanes sum[LANES];
#pragma GCC unroll 4
        for (size_t l = 0; l < LANES; l++) {
            const lanes *row = &table[(a + l) * n];
            sum[l] = weight[0] * row[0];
            for (size_t v = 1; v < n; v++) {
                lanes term = weight[v] * row[v];
                join(&sum[l], &term, is_max);
            }
        }
        lanes first = __builtin_shufflevector(sum[0], sum[1], 0, 4, 2, 6);
        lanes second = __builtin_shufflevector(sum[0], sum[1], 1, 5, 3, 7);
        lanes third = __builtin_shufflevector(sum[2], sum[3], 0, 4, 2, 6);
        lanes fourth = __builtin_shufflevector(sum[2], sum[3], 1, 5, 3, 7);
        join(&first, &second, is_max);
        join(&third, &fourth, is_max);
        second = __builtin_shufflevector(first, third, 2, 3, 6, 7);
        first = __builtin_shufflevector(first, third, 0, 1, 4, 5);
        join(&first, &second, is_max);
        out[a / LANES] = first;
    }
}

/* Fills the padding of a row by repeating its first label. */
INLINE void pad(lanes *row, size_t k, const size_t n)
{
    int64_t n_last = (int64_t)((k - 1) % LANES) + 1;
    const lane_bits lane = {0, 1, 2, 3}, end = {n_last, n_last, n_last, n_last};
    lane_bits is_label = lane < end;
    lanes first = {row[0][0], row[0][0], row[0][0], row[0][0]};
    row[n - 1] = (lanes)(((lane_bits)row[n - 1] & is_label) | ((lane_bits)first & ~is_label));
}

#endif
