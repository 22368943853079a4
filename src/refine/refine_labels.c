/* Refines borders of any number of labels at the pixels by alpha-expansion (Boykov, Veksler & Zabih, PAMI 2001) with
 * colour models for each label. Start at expansion_run. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "feature/example/example.h"
#include "refine/refine.h"

#define MAX_CYCLES 8

static const int dx[] = {1, 0, 1, -1}, dy[] = {0, 1, 1, 1};

/* The votes of clv_refine_labels: an array for every pixel, or computed from the nodes around it. */
struct votes {
    const float *of_pixels;        /* [n_labels][n]; NULL: by nodes */
    struct patch_votes patches;    /* if nodes are patches */
    const uint8_t *of_superpixels; /* [n] the label with all votes, if nodes are superpixels */
};

struct expansion {
    int32_t width, height, n_labels, alpha; /* the label of the present move: a pixel takes it (1) or not (0) */
    size_t n;
    float prior;
    struct votes votes;
    bool is_possible[CLV_MAX_LABELS]; /* whether any pixel may take the label */
    float *score[CLV_MAX_LABELS];     /* [n_cells] by a label's colours; NULL if none are learned */
    float *here[4], *above[4];        /* [width] of coupling rows */
    struct pixel_couplings couplings;
    uint8_t *labels, *takes;
    struct near_colours colours;
};

static void expansion_release(struct expansion *self)
{
    patch_votes_release(&self->votes.patches);
    for (int32_t a = 0; a < self->n_labels; a++)
        array_free(self->score[a]);
    pixel_couplings_release(&self->couplings);
    for (int k = 0; k < 4; k++) {
        arrays_free(self->here[k], self->above[k]);
    }
    arrays_free(self->labels, self->takes);
    near_colours_release(&self->colours);
}

static enum clv_status expansion_init(struct expansion *self, const uint8_t *labels, const struct clv_image *image,
                                      double coupling, struct clv_error *err)
{
    self->width = image->width;
    self->height = image->height;
    self->n = (size_t)image->width * (size_t)image->height;
    self->labels = array_copy(labels, self->n, 1);
    self->takes = array_alloc(self->n, 1);
    bool is_short = !self->labels || !self->takes;
    for (int k = 0; k < 4; k++) {
        is_short |= !(self->here[k] = array_alloc((size_t)image->width, sizeof *self->here[k]));
        is_short |= !(self->above[k] = array_alloc((size_t)image->width, sizeof *self->above[k]));
    }
    NEED(!is_short);
    MUST(pixel_couplings_init(&self->couplings, image, coupling, err));
    return near_colours_init(&self->colours, image, err);
}

/* Returns a vote in 0..1. */
static float vote_of(const struct expansion *self, int32_t label, int32_t x, int32_t y)
{
    const struct votes *votes = &self->votes;
    size_t p = (size_t)y * (size_t)self->width + (size_t)x;
    if (votes->of_pixels)
        return votes->of_pixels[(size_t)label * self->n + p];
    if (votes->of_superpixels)
        return votes->of_superpixels[p] == label;
    int32_t voter[4];
    float share[4], sum = 0;
    patch_votes_at(voter, share, &votes->patches, x, y);
    for (int v = 0; v < 4; v++)
        if (voter[v] == label)
            sum += share[v];
    return fminf(sum, 1); /* rounding may exceed 1 */
}

/* Returns prior * vote of the label + half the log ratio of its colours against those of all other labels. With two
 * labels the scores differ by the whole ratio. */
static float score_of(const struct expansion *self, int32_t label, int32_t x, int32_t y)
{
    float score = self->prior * vote_of(self, label, x, y);
    return self->score[label] ? score + self->score[label][near_colours_cell(&self->colours, x, y)] : score;
}

static enum clv_status learn_colours(struct expansion *self, const struct clv_refine_options *options,
                                     struct clv_error *err)
{
    for (int32_t a = 0; a < self->n_labels; a++) {
        size_t n_own = 0;
        for (size_t p = 0; self->is_possible[a] && p < self->n; p++)
            n_own += self->labels[p] == a;
        array_free(self->score[a]);
        self->score[a] = NULL;
        if (n_own == 0 || n_own == self->n) /* one side has no pixels */
            continue;
        NEED(self->score[a] = array_alloc(self->colours.n_cells, sizeof *self->score[a]));
        near_colours_learn(&self->colours, self->labels, (uint8_t)a);
        near_colours_score(self->score[a], &self->colours, options->nearby / 2, options->overall / 2);
    }
    return CLV_OK;
}

/* Computes the terms of two neighbours p and q with labels a and b in a move. Each keeps its label (0) or takes alpha
 * (1), and they lose c if their labels then differ:
 *     S00 = -c [a != b]   S01 = -c [a != alpha]   S10 = -c [alpha != b]   S11 = 0,
 * This is a coupling (S00 + S11 - S01 - S10) / 2 >= 0, and a score S10 - S00 + coupling for p if it takes alpha, which
 * is returned; q has the mirrored score. */
INLINE float pair_score(float *coupling, float c, uint8_t own, uint8_t other, int32_t alpha)
{
    float keep = own != other ? c : 0, own_alone = other != alpha ? c : 0, other_alone = own != alpha ? c : 0;
    *coupling = (own_alone + other_alone - keep) / 2;
    return keep - own_alone + *coupling;
}

static void move_row(const void *context, float *unary, float *const coupling[4], int32_t x, int32_t y, int32_t n)
{
    const struct expansion *self = context;
    int32_t left = x > 0 ? x - 1 : x, right = x + n < self->width ? x + n + 1 : x + n, alpha = self->alpha;
    const uint8_t *labels = self->labels + (size_t)y * (size_t)self->width;
    pixel_couplings_row(self->here, &self->couplings, left, y, right - left);
    if (y > 0)
        pixel_couplings_row(self->above, &self->couplings, left, y - 1, right - left);
    for (int32_t i = 0; i < n; i++) {
        int32_t at = x + i;
        uint8_t own = labels[at];
        float score = own == alpha ? 0 : score_of(self, alpha, at, y) - score_of(self, own, at, y), unused;
        for (int k = 0; k < 4; k++) {
            int32_t before = at - dx[k], after = at + dx[k];
            const float *towards = dy[k] ? self->above[k] : self->here[k];
            if (before >= 0 && before < self->width && y >= dy[k])
                score +=
                    pair_score(&unused, towards[before - left], own, (labels - dy[k] * self->width)[before], alpha);
            coupling[k][i] = 0;
            if (after >= 0 && after < self->width && y + dy[k] < self->height)
                score += pair_score(&coupling[k][i], self->here[k][at - left], own,
                                    (labels + dy[k] * self->width)[after], alpha);
        }
        unary[i] = score;
    }
}

static enum clv_status expand(bool *changed, struct expansion *self, int32_t alpha, int64_t whole,
                              struct clv_error *err)
{
    const struct pixel_energy energy = {.width = self->width, .height = self->height, .row = move_row, .context = self};
    size_t n_open;
    self->alpha = alpha;
    MUST(pixel_cut(self->takes, &n_open, &energy, NULL, whole, err));
    for (size_t p = 0; p < self->n; p++)
        if (self->takes[p] && self->labels[p] != alpha) {
            self->labels[p] = (uint8_t)alpha;
            *changed = true;
        }
    return CLV_OK;
}

/* Expands labels until no move changes anything. MAX_CYCLES stops moves that alternate because of rounding. */
static enum clv_status expand_all(struct expansion *self, int64_t whole, struct clv_error *err)
{
    bool changed = true;
    for (int cycle = 0; cycle < MAX_CYCLES && changed; cycle++) {
        changed = false;
        for (int32_t alpha = 0; alpha < self->n_labels; alpha++)
            MUST(self->is_possible[alpha] ? expand(&changed, self, alpha, whole, err) : CLV_OK);
    }
    return CLV_OK;
}

static enum clv_status check_votes(const uint8_t *labels, const struct clv_image *image, const float *votes,
                                   int32_t n_labels, struct clv_error *err)
{
    size_t n = (size_t)image->width * (size_t)image->height;
    for (size_t k = 0; k < n * (size_t)n_labels; k++)
        if (!(votes[k] >= 0 && votes[k] <= 1))
            return fail(err, CLV_ERR_DATA, "pixel (%zu, %zu): its vote for label %zu is %g",
                        k % n % (size_t)image->width, k % n / (size_t)image->width, k / n, (double)votes[k]);
    for (size_t p = 0; p < n; p++)
        if (labels[p] >= n_labels || votes[labels[p] * n + p] <= 0)
            return fail(err, CLV_ERR_USAGE, "refining: pixel (%zu, %zu) has label %d, which has no vote there",
                        p % (size_t)image->width, p / (size_t)image->width, labels[p]);
    return CLV_OK;
}

/* Sets labels to the refined labels `start`, which may be the same array. The caller has set the votes and the possible
 * labels. */
static enum clv_status expansion_run(struct expansion *self, uint8_t *labels, const uint8_t *start,
                                     const struct clv_image *image, const struct clv_refine_options *options,
                                     int64_t whole, struct clv_error *err)
{
    MUST(expansion_init(self, start, image, options->coupling, err));
    self->prior = (float)options->prior;
    for (int32_t round = 0; round < options->rounds; round++) {
        MUST(learn_colours(self, options, err));
        MUST(expand_all(self, whole, err));
    }
    memcpy(labels, self->labels, self->n);
    return CLV_OK;
}

enum clv_status refine_many(uint8_t *labels, const struct clv_image *image, const float *votes, int32_t n_labels,
                            const struct clv_refine_options *options, int64_t whole, struct clv_error *err)
{
    struct clv_refine_options defaults;
    clv_refine_defaults(&defaults);
    options = options ? options : &defaults;
    MUST(refine_check_options(options, err));
    MUST(refine_check_size(image->width, image->height, image->channels, n_labels, err));
    MUST(check_votes(labels, image, votes, n_labels, err));
    OWNED(expansion_release) struct expansion expansion = {.n_labels = n_labels, .votes = {.of_pixels = votes}};
    size_t n = (size_t)image->width * (size_t)image->height;
    for (size_t k = 0; k < n * (size_t)n_labels; k++) /* labels without any vote are impossible */
        expansion.is_possible[k / n] |= votes[k] > 0;
    return expansion_run(&expansion, labels, labels, image, options, whole, err);
}

enum clv_status clv_refine_labels(uint8_t *labels, const struct clv_image *image, const float *votes, int32_t n_labels,
                                  const struct clv_refine_options *options, struct clv_error *err)
{
    return refine_many(labels, image, votes, n_labels, options, PIXEL_CUT_WHOLE, err);
}

enum clv_status refine_by_votes(uint8_t *labels, const struct clv_image *image, const struct clv_example *example,
                                const int32_t *y, int32_t n_labels, const struct clv_refine_options *options,
                                struct clv_error *err)
{
    MUST(refine_check_options(options, err));
    MUST(refine_check_size(image->width, image->height, image->channels, n_labels, err));
    OWNED_ARRAY uint8_t *voted = array_alloc((size_t)image->width, (size_t)image->height);
    NEED(voted);
    OWNED(expansion_release) struct expansion expansion = {.n_labels = n_labels, .votes = {.of_pixels = NULL}};
    MUST(clv_example_vote(voted, NULL, example, y, n_labels, err));
    if (example->grid.n_rows)
        MUST(patch_votes_init(&expansion.votes.patches, example, y, err));
    else
        expansion.votes.of_superpixels = voted;
    for (int32_t i = 0; i < example->superpixels.n; i++)
        expansion.is_possible[y[i]] = true;
    return expansion_run(&expansion, labels, voted, image, options, PIXEL_CUT_WHOLE, err);
}
