/* How well objects were found. */
#ifndef SCORE_OBJECT_SCORE_H
#define SCORE_OBJECT_SCORE_H

#include "cleave/objects.h"

enum { OBJECT_THRESHOLDS = 10 }; /* IoU above .5, .55 .. .95 */

/* Counts; those of several images add up. */
struct object_counts {
    int64_t n_true, n_found, hits[OBJECT_THRESHOLDS]; /* pairs whose IoU is above the threshold */
};

/* Objects are matched by IoU > .5, which no object has with two others. CLV_ERR_USAGE: sizes that differ.
 * O(pixels + runs log runs). */
enum clv_status object_counts_of(struct object_counts *counts, const struct clv_object_map *truth,
                                 const struct clv_object_map *found, struct clv_error *err) CLV_CHECK;

/* 2 hits / (true + found) at IoU .5; 1 where there is none of both. */
double object_f1(const struct object_counts *counts);

/* The mean over thresholds of hits / (true + found - hits), as in the Data Science Bowl of 2018 (Caicedo et al. 2019); 1
 * where there is none of both. */
double object_mean_precision(const struct object_counts *counts);

#endif
