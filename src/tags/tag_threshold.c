/* Tunes the thresholds of binary classifiers on held-out scores for a measure of all tags: one tag at a time, in rounds
 * until no change improves the measure. Start at tag_tune_thresholds, at the end. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/base.h"
#include "tags/tag_folds.h"
#include "tags/tags.h"

enum { MAX_ROUNDS = 20 };

/* Counts of the current decisions, from which all measures are computed; each flip updates them. */
struct counts {
    const uint8_t *truth;
    uint8_t *tags; /* [n][n_tags] decisions */
    size_t n, n_tags;
    int32_t *wrong, *both, *sum; /* [n] per example */
    int64_t *tag_both, *tag_sum; /* [n_tags] */
    int64_t n_exact, n_wrong, all_both, all_sum;
    double f_sample; /* sum over examples */
};

static double ratio(int64_t both, int64_t sum)
{
    return sum ? 2.0 * (double)both / (double)sum : 1;
}

/* Adds (sign 1) or subtracts (sign -1) the contribution of example l. */
static void count_example(struct counts *self, size_t l, int sign)
{
    self->n_exact += sign * (self->wrong[l] == 0);
    self->f_sample += sign * ratio(self->both[l], self->sum[l]);
}

static void flip(struct counts *self, size_t l, size_t tag)
{
    size_t slot = l * self->n_tags + tag;
    int change = self->tags[slot] ? -1 : 1, both = self->truth[slot] ? change : 0;
    int wrong = self->truth[slot] ? -change : change;
    count_example(self, l, -1);
    self->tags[slot] = !self->tags[slot];
    self->wrong[l] += wrong;
    self->both[l] += both;
    self->sum[l] += change;
    count_example(self, l, 1);
    self->n_wrong += wrong;
    self->all_both += both;
    self->all_sum += change;
    self->tag_both[tag] += both;
    self->tag_sum[tag] += change;
}

/* The value of the goal up to a constant factor. For CLV_TAG_F_MACRO only the F of `tag`, since its threshold changes
 * no other. */
static double value_of(const struct counts *self, enum clv_tag_goal goal, size_t tag)
{
    switch (goal) {
    case CLV_TAG_EXACT: return (double)self->n_exact;
    case CLV_TAG_HAMMING: return -(double)self->n_wrong;
    case CLV_TAG_F_SAMPLE: return self->f_sample;
    case CLV_TAG_F_MACRO: return ratio(self->tag_both[tag], self->tag_sum[tag]);
    case CLV_TAG_F_MICRO: return ratio(self->all_both, self->all_sum);
    }
    return 0;
}

struct ranked {
    double score;
    size_t example;
};

static int by_score(const void *a, const void *b)
{
    const struct ranked *s = a, *t = b;
    if (s->score != t->score)
        return s->score > t->score ? -1 : 1;
    return (s->example > t->example) - (s->example < t->example);
}

/* Returns a threshold from `low` up to, but not including, `high`: their mean, unless rounding makes it `high` or
 * overflows. */
static double threshold_between(double low, double high)
{
    double mean = (low + high) / 2;
    return mean >= low && mean < high ? mean : low;
}

/* Tries all thresholds between the scores of one tag; returns whether the threshold changed. */
static int tune_tag(double *threshold, struct counts *self, struct ranked *ranked, const double *scores, size_t tag,
                    enum clv_tag_goal goal)
{
    double best = value_of(self, goal, tag), before = *threshold;
    for (size_t l = 0; l < self->n; l++) {
        ranked[l] = (struct ranked){scores[l * self->n_tags + tag], l};
        if (self->tags[l * self->n_tags + tag])
            flip(self, l, tag);
    }
    qsort(ranked, self->n, sizeof *ranked, by_score);
    for (size_t i = 0; i <= self->n; i++) { /* the first i examples have the tag */
        bool is_cut = i == 0 || i == self->n || ranked[i].score < ranked[i - 1].score;
        /* Ignores gains below 1e-9, which may come from rounding. */
        if (is_cut && value_of(self, goal, tag) > best + 1e-9) {
            best = value_of(self, goal, tag);
            *threshold = i == 0         ? ranked[0].score
                         : i == self->n ? fmin(ranked[i - 1].score - 1, nextafter(ranked[i - 1].score, -INFINITY))
                                        : threshold_between(ranked[i].score, ranked[i - 1].score);
        }
        if (i < self->n)
            flip(self, ranked[i].example, tag);
    }
    for (size_t l = 0; l < self->n; l++)
        if ((scores[l * self->n_tags + tag] > *threshold) != self->tags[l * self->n_tags + tag])
            flip(self, l, tag);
    return *threshold != before;
}

static void counts_release(struct counts *self)
{
    arrays_free(self->tags, self->wrong, self->tag_both);
}

enum clv_status tag_tune_thresholds(double *threshold, const struct tag_scored *scored, enum clv_tag_goal goal,
                                    struct clv_error *err)
{
    const size_t n = scored->n, k = (size_t)scored->n_tags;
    const double *scores = scored->scores;
    const uint8_t *truth = scored->truth;
    OWNED(counts_release) struct counts counts = {
        .truth = truth,
        .n = n,
        .n_tags = k,
        .tags = array_zalloc(n * k, 1),
        .wrong = array_zalloc(3 * n, sizeof *counts.wrong),
        .tag_both = array_zalloc(2 * k, sizeof *counts.tag_both),
    };
    OWNED_ARRAY struct ranked *ranked = array_alloc(n, sizeof *ranked);
    NEED(counts.tags && counts.wrong && counts.tag_both && ranked);
    counts.both = counts.wrong + n;
    counts.sum = counts.both + n;
    counts.tag_sum = counts.tag_both + k;
    for (size_t l = 0; l < n; l++) {
        for (size_t i = 0; i < k; i++) {
            counts.wrong[l] += truth[l * k + i];
            counts.sum[l] += truth[l * k + i];
            counts.tag_sum[i] += truth[l * k + i];
        }
        counts.n_wrong += counts.wrong[l];
        counts.all_sum += counts.sum[l];
        count_example(&counts, l, 1);
    }
    for (size_t i = 0; i < k; i++)
        threshold[i] = 0;
    for (size_t slot = 0; slot < n * k; slot++)
        if (scores[slot] > 0)
            flip(&counts, slot / k, slot % k);
    for (int round = 0, is_better = 1; round < MAX_ROUNDS && is_better; round++) {
        is_better = 0;
        for (size_t i = 0; i < k; i++)
            is_better |= tune_tag(&threshold[i], &counts, ranked, scores, i, goal);
    }
    return CLV_OK;
}
