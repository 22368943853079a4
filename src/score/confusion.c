/* The confusion matrix of label maps and the measures that follow from it. Everything is counted in whole pixels, so
 * that scores do not depend on the order in which pixels or images are added. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cleave/score.h"
#include "score/score.h"

static size_t n_columns(const struct clv_confusion *confusion)
{
    return (size_t)confusion->n_labels + 1;
}

static uint64_t count_at(const struct clv_confusion *confusion, int32_t truth, int32_t prediction)
{
    return confusion->counts[(size_t)truth * n_columns(confusion) + (size_t)prediction];
}

uint64_t confusion_unlabelled(const struct clv_confusion *confusion)
{
    uint64_t n = 0;
    for (int32_t truth = 0; truth < confusion->n_labels; truth++)
        n += count_at(confusion, truth, confusion->n_labels);
    return n;
}

/* Returns the number of pixels whose true label is `label`. */
static uint64_t true_pixels(const struct clv_confusion *confusion, int32_t label)
{
    uint64_t sum = 0;
    for (int32_t prediction = 0; prediction <= confusion->n_labels; prediction++)
        sum += count_at(confusion, label, prediction);
    return sum;
}

enum clv_status clv_confusion_init(struct clv_confusion *confusion, int32_t n_labels, struct clv_error *err)
{
    *confusion = (struct clv_confusion){0};
    FAIL_IF(n_labels < 1 || n_labels > CLV_MAX_LABELS, CLV_ERR_USAGE, "%d labels; there must be 1 to %d", n_labels,
            CLV_MAX_LABELS);
    uint64_t *counts = array_zalloc((size_t)n_labels * ((size_t)n_labels + 1), sizeof *counts);
    NEED(counts);
    *confusion = (struct clv_confusion){n_labels, counts};
    return CLV_OK;
}

void clv_confusion_release(struct clv_confusion *confusion)
{
    array_free(confusion->counts);
    *confusion = (struct clv_confusion){0};
}

void clv_confusion_clear(struct clv_confusion *confusion)
{
    memset(confusion->counts, 0, (size_t)confusion->n_labels * n_columns(confusion) * sizeof *confusion->counts);
}

void confusion_add_weighted(struct clv_confusion *confusion, int32_t truth, int32_t prediction, uint64_t weight)
{
    int32_t n = confusion->n_labels;
    if (truth < 0 || truth >= n)
        return;
    if (prediction < 0 || prediction > n)
        prediction = n;
    confusion->counts[(size_t)truth * n_columns(confusion) + (size_t)prediction] += weight;
}

void clv_confusion_add(struct clv_confusion *confusion, const uint8_t *truth, const uint8_t *prediction, size_t n)
{
    /* Label maps have long runs of the same two labels, so runs are counted and added as one. */
    for (size_t i = 0; i < n;) {
        size_t start = i;
        while (++i < n && truth[i] == truth[start] && prediction[i] == prediction[start]) {
        }
        confusion_add_weighted(confusion, truth[start], prediction[start], i - start);
    }
}

void clv_confusion_merge(struct clv_confusion *total, const struct clv_confusion *part)
{
    size_t n = (size_t)total->n_labels * n_columns(total);
    for (size_t i = 0; i < n; i++)
        total->counts[i] += part->counts[i];
}

double clv_confusion_iou(const struct clv_confusion *confusion, int32_t label)
{
    uint64_t both = count_at(confusion, label, label), either = true_pixels(confusion, label);
    for (int32_t truth = 0; truth < confusion->n_labels; truth++)
        if (truth != label)
            either += count_at(confusion, truth, label);
    return either ? (double)both / (double)either : NAN;
}

double clv_confusion_class_accuracy(const struct clv_confusion *confusion, int32_t label)
{
    uint64_t total = true_pixels(confusion, label);
    return total ? (double)count_at(confusion, label, label) / (double)total : NAN;
}

struct clv_image_score clv_confusion_score(const struct clv_confusion *confusion)
{
    struct clv_image_score score = {NAN, NAN, NAN, 0};
    double error_rates = 0, ious = 0;
    uint64_t wrong = 0;
    int32_t n_present = 0, n_ious = 0;
    for (int32_t label = 0; label < confusion->n_labels; label++) {
        uint64_t total = true_pixels(confusion, label), missed = total - count_at(confusion, label, label);
        score.n_pixels += total;
        wrong += missed;
        if (total) {
            error_rates += (double)missed / (double)total;
            n_present++;
        }
        double iou = label ? clv_confusion_iou(confusion, label) : NAN;
        if (!isnan(iou)) {
            ious += iou;
            n_ious++;
        }
    }
    if (!score.n_pixels)
        return score;
    score.weighted_hamming = error_rates / n_present;
    score.hamming = (double)wrong / (double)score.n_pixels;
    score.mean_iou = n_ious ? ious / n_ious : 1;
    return score;
}
