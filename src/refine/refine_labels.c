/* Refining for any number of labels: alpha-expansion (Boykov, Veksler & Zabih, PAMI 2001) of the pixel grid. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "cleave/grid.h"
#include "refine/near_colours.h"
#include "refine/pixel_couplings.h"

#define MAX_PIXELS (1 << 26)
#define MAX_CYCLES 8

static const int dx[] = {1, 0, 1, -1}, dy[] = {0, 1, 1, 1};

struct expansion {
    int32_t width, height, n_labels;
    size_t n;
    float *score[CLV_MAX_LABELS]; /* [n] of each label that any pixel may take; NULL: none may */
    float *coupling[4];
    float *move_unary, *move_coupling[4]; /* of a move: 1 is "take alpha" */
    uint8_t *labels, *takes;
    struct near_colours colours;
};

static void release(struct expansion *self)
{
    for (int32_t a = 0; a < self->n_labels; a++)
        array_free(self->score[a]);
    pixel_couplings_release(self->coupling);
    for (int k = 0; k < 4; k++)
        array_free(self->move_coupling[k]);
    array_free(self->move_unary);
    array_free(self->labels);
    array_free(self->takes);
    near_colours_release(&self->colours);
}

/* Labels that nobody votes for are out of the question. */
static bool is_voted_for(const float *votes, size_t n)
{
    for (size_t p = 0; p < n; p++)
        if (votes[p] > 0)
            return true;
    return false;
}

static enum clv_status init(struct expansion *self, const uint8_t *labels, const struct clv_image *image,
                            const float *votes, double coupling, struct clv_error *err)
{
    self->width = image->width;
    self->height = image->height;
    self->move_unary = array_alloc(self->n, sizeof *self->move_unary);
    self->labels = array_copy(labels, self->n, 1);
    self->takes = array_alloc(self->n, 1);
    bool is_short = !self->move_unary || !self->labels || !self->takes;
    for (int k = 0; k < 4; k++)
        is_short |= !(self->move_coupling[k] = array_alloc(self->n, sizeof *self->move_coupling[k]));
    for (int32_t a = 0; a < self->n_labels; a++)
        if (is_voted_for(votes + (size_t)a * self->n, self->n))
            is_short |= !(self->score[a] = array_alloc(self->n, sizeof *self->score[a]));
    enum clv_status status = is_short ? fail_memory(err) : CLV_OK;
    if (status == CLV_OK)
        status = pixel_couplings_init(self->coupling, image, coupling, err);
    return status == CLV_OK ? near_colours_init(&self->colours, image, err) : status;
}

/* score_a = prior votes_a + half the log ratios of its colours against all other labels', which for two labels differ
 * by the ratio itself. */
static void score_labels(struct expansion *self, const float *votes, const struct clv_refine_options *options)
{
    for (int32_t a = 0; a < self->n_labels; a++) {
        size_t n_own = 0;
        for (size_t p = 0; self->score[a] && p < self->n; p++) {
            self->takes[p] = self->labels[p] == a;
            n_own += self->takes[p];
            self->score[a][p] = (float)options->prior * votes[(size_t)a * self->n + p];
        }
        if (n_own == 0 || n_own == self->n) /* no colours to learn */
            continue;
        near_colours_learn(&self->colours, self->takes);
        near_colours_add(self->score[a], &self->colours, options->nearby / 2, options->overall / 2);
    }
}

/* Of two neighbours p and q labelled a and b, which keep their label (0) or take alpha (1) and lose c where they then
 * differ,
 *     S00 = -c [a != b]   S01 = -c [a != alpha]   S10 = -c [alpha != b]   S11 = 0,
 * which is a coupling (S00 + S11 - S01 - S10) / 2 >= 0, a score S10 - S00 + coupling of p's taking and likewise of q's.
 */
static void make_move(struct expansion *self, int32_t alpha)
{
    for (size_t p = 0; p < self->n; p++)
        self->move_unary[p] = self->score[alpha][p] - self->score[self->labels[p]][p];
    for (int k = 0; k < 4; k++)
        for (int32_t y = 0; y + dy[k] < self->height; y++)
            for (int32_t x = dx[k] < 0; x < self->width - (dx[k] > 0); x++) {
                size_t p = (size_t)y * (size_t)self->width + (size_t)x;
                size_t q = p + (size_t)(dy[k] * self->width + dx[k]);
                float c = self->coupling[k][p], keep = self->labels[p] != self->labels[q] ? c : 0;
                float second = self->labels[p] != alpha ? c : 0, first = self->labels[q] != alpha ? c : 0;
                float coupling = (first + second - keep) / 2;
                self->move_coupling[k][p] = coupling;
                self->move_unary[p] += keep - first + coupling;
                self->move_unary[q] += keep - second + coupling;
            }
}

static enum clv_status expand(bool *changed, struct expansion *self, int32_t alpha, struct clv_error *err)
{
    struct clv_grid grid = {.width = self->width, .height = self->height, .n_neighbours = 8, .unary = self->move_unary};
    memcpy(grid.coupling, self->move_coupling, sizeof self->move_coupling);
    make_move(self, alpha);
    enum clv_status status = clv_grid_map(self->takes, &grid, err);
    for (size_t p = 0; p < self->n && status == CLV_OK; p++)
        if (self->takes[p] && self->labels[p] != alpha) {
            self->labels[p] = (uint8_t)alpha;
            *changed = true;
        }
    return status;
}

/* Moves until none changes anything; MAX_CYCLES guard against moves that rounding lets go to and fro. */
static enum clv_status expand_all(struct expansion *self, struct clv_error *err)
{
    bool changed = true;
    for (int cycle = 0; cycle < MAX_CYCLES && changed; cycle++) {
        changed = false;
        for (int32_t alpha = 0; alpha < self->n_labels; alpha++) {
            enum clv_status status = self->score[alpha] ? expand(&changed, self, alpha, err) : CLV_OK;
            if (status != CLV_OK)
                return status;
        }
    }
    return CLV_OK;
}

static enum clv_status check(const uint8_t *labels, const struct clv_image *image, const float *votes, int32_t n_labels,
                             struct clv_error *err)
{
    size_t n = (size_t)image->width * (size_t)image->height;
    if (image->channels != 3 || image->width < 1 || image->height < 1 ||
        (int64_t)image->width * image->height > MAX_PIXELS)
        return fail(err, CLV_ERR_USAGE, "refining needs 3 channels and at most %d pixels, not %dx%d with %d channels",
                    MAX_PIXELS, image->width, image->height, image->channels);
    if (n_labels < 2 || n_labels > CLV_MAX_LABELS)
        return fail(err, CLV_ERR_USAGE, "refining: %d labels, must be 2 to %d", n_labels, CLV_MAX_LABELS);
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

enum clv_status clv_refine_labels(uint8_t *labels, const struct clv_image *image, const float *votes, int32_t n_labels,
                                  const struct clv_refine_options *options, struct clv_error *err)
{
    struct clv_refine_options defaults;
    struct expansion expansion = {.n_labels = n_labels};
    clv_refine_defaults(&defaults);
    options = options ? options : &defaults;
    enum clv_status status = refine_check_options(options, err);
    if (status == CLV_OK)
        status = check(labels, image, votes, n_labels, err);
    if (status != CLV_OK)
        return status;
    expansion.n = (size_t)image->width * (size_t)image->height;
    status = init(&expansion, labels, image, votes, options->coupling, err);
    for (int32_t round = 0; status == CLV_OK && round < options->rounds; round++) {
        score_labels(&expansion, votes, options);
        status = expand_all(&expansion, err);
    }
    if (status == CLV_OK)
        memcpy(labels, expansion.labels, expansion.n);
    release(&expansion);
    return status;
}
