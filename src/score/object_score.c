/* Matches true and found objects by IoU and counts the hits at ten thresholds. object_f1 and object_mean_precision
 * compute the metrics from these counts. */
#include "score/score.h"

#include <stdlib.h>

#include "base/base.h"

/* The number of pixels that a true and a found object have in common. */
struct overlap {
    int32_t truth, found;
    int64_t pixels;
};

static int by_objects(const void *a, const void *b)
{
    const struct overlap *p = a, *q = b;
    return p->truth != q->truth ? (p->truth > q->truth) - (p->truth < q->truth)
                                : (p->found > q->found) - (p->found < q->found);
}

/* Finds the overlap of each pair of objects, from runs of pixels along the rows. */
static enum clv_status find_overlaps(struct overlap **overlaps, size_t *n, const struct clv_object_map *truth,
                                     const struct clv_object_map *found, struct clv_error *err)
{
    size_t capacity = 0, n_runs = 0, n_pixels = (size_t)truth->width * (size_t)truth->height;
    for (size_t p = 0; p < n_pixels; p++) {
        int32_t a = truth->objects[p], b = found->objects[p];
        if (n_runs && (*overlaps)[n_runs - 1].truth == a && (*overlaps)[n_runs - 1].found == b) {
            (*overlaps)[n_runs - 1].pixels++;
            continue;
        }
        NEED(array_reserve((void **)overlaps, &capacity, n_runs + 1, sizeof **overlaps) == 0);
        (*overlaps)[n_runs++] = (struct overlap){a, b, 1};
    }
    if (n_runs)
        qsort(*overlaps, n_runs, sizeof **overlaps, by_objects);
    *n = 0;
    for (size_t k = 0; k < n_runs; k++)
        if (*n && by_objects(&(*overlaps)[*n - 1], &(*overlaps)[k]) == 0)
            (*overlaps)[*n - 1].pixels += (*overlaps)[k].pixels;
        else
            (*overlaps)[(*n)++] = (*overlaps)[k];
    return CLV_OK;
}

enum clv_status object_counts_of(struct object_counts *counts, const struct clv_object_map *truth,
                                 const struct clv_object_map *found, struct clv_error *err)
{
    FAIL_IF(truth->width != found->width || truth->height != found->height, CLV_ERR_USAGE,
            "true objects of %dx%d, found ones of %dx%d", truth->width, truth->height, found->width, found->height);
    OWNED_ARRAY struct overlap *overlaps = NULL;
    size_t n = 0;
    OWNED_ARRAY int64_t *area_true = array_zalloc((size_t)truth->n_objects + 1, sizeof *area_true);
    OWNED_ARRAY int64_t *area_found = array_zalloc((size_t)found->n_objects + 1, sizeof *area_found);
    NEED(area_true && area_found);
    MUST(find_overlaps(&overlaps, &n, truth, found, err));
    struct object_counts result = {.n_true = truth->n_objects, .n_found = found->n_objects};
    for (size_t k = 0; k < n; k++) {
        area_true[overlaps[k].truth] += overlaps[k].pixels;
        area_found[overlaps[k].found] += overlaps[k].pixels;
    }
    for (size_t k = 0; k < n; k++) {
        int64_t both = overlaps[k].pixels;
        int64_t either = area_true[overlaps[k].truth] + area_found[overlaps[k].found] - both;
        for (int t = 0; t < OBJECT_THRESHOLDS && overlaps[k].truth && overlaps[k].found; t++)
            result.hits[t] += 20 * both > (10 + t) * either; /* both / either > .5 + .05 t */
    }
    *counts = result;
    return CLV_OK;
}

double object_f1(const struct object_counts *counts)
{
    int64_t n = counts->n_true + counts->n_found;
    return n ? 2 * (double)counts->hits[0] / (double)n : 1;
}

double object_mean_precision(const struct object_counts *counts)
{
    double sum = 0;
    if (!counts->n_true && !counts->n_found)
        return 1;
    for (int t = 0; t < OBJECT_THRESHOLDS; t++)
        sum += (double)counts->hits[t] / (double)(counts->n_true + counts->n_found - counts->hits[t]);
    return sum / OBJECT_THRESHOLDS;
}
