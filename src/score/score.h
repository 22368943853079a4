#ifndef SCORE_SCORE_H
#define SCORE_SCORE_H

#include "cleave/data.h"
#include "cleave/objects.h"
#include "cleave/score.h"

/* Ground truth near the borders of labels, to measure how exact predicted borders are (Kohli, Ladicky & Torr 2009: a
 * "trimap"). */

enum { BAND_MAX_PX = 1000 };

/* Makes pixels void that are further than radius_px, 1..BAND_MAX_PX, from every border: a pixel keeps its label if the
 * square that reaches radius_px to each side of it contains two labels or more. Void is not a label, so a border may
 * lie within void pixels. Void pixels stay void. O(pixels radius_px). */
enum clv_status band_keep(struct clv_mask *mask, int32_t radius_px, struct clv_error *err) CLV_CHECK;

/* Metrics of objects. */

enum { OBJECT_THRESHOLDS = 10 }; /* IoU above .5, .55 .. .95 */

/* Counts, which may be added up over images. */
struct object_counts {
    int64_t n_true, n_found, hits[OBJECT_THRESHOLDS]; /* pairs whose IoU is above the threshold */
};

/* Matches objects by IoU > .5, which no object has with two others. CLV_ERR_USAGE if sizes differ.
 * O(pixels + runs log runs). */
enum clv_status object_counts_of(struct object_counts *counts, const struct clv_object_map *truth,
                                 const struct clv_object_map *found, struct clv_error *err) CLV_CHECK;

/* Returns 2 hits / (true + found) at IoU .5; 1 if both numbers are 0. */
double object_f1(const struct object_counts *counts);

/* Returns the mean over thresholds of hits / (true + found - hits), as in the Data Science Bowl of 2018 (Caicedo et al.
 * 2019); 1 if both numbers are 0. */
double object_mean_precision(const struct object_counts *counts);

/* Returns the number of pixels with a true label whose prediction is not a label. */
uint64_t confusion_unlabelled(const struct clv_confusion *confusion);

/* Adds `weight` pixels at once, such as a superpixel, by the rules of clv_confusion_add. */
void confusion_add_weighted(struct clv_confusion *confusion, int32_t truth, int32_t prediction, uint64_t weight);

#endif
