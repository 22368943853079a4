/* Computes labels of pixels from the labels of patches: the four patches whose centres are around a pixel vote on its
 * label. Start at clv_example_vote. */
#include "feature/example/example.h"

#include <math.h>

#include "base/base.h"

/* Returns around[side] for the columns (or rows) of the original image, which has `working` of them at working size, or
 * NULL without memory. */
static struct patches_between *patches_around(int32_t side, int32_t working, int32_t size_px, int32_t step_px,
                                              int32_t n)
{
    struct patches_between *around = array_alloc((size_t)side, sizeof *around);
    double first_centre = 0.5 * (size_px < working ? size_px : working);
    for (int32_t k = 0; around && k < side; k++) {
        double at = ((k + 0.5) * working / side - first_centre) / step_px, lower = floor(at);
        int32_t low = int32_within(lower, 0, n - 1);
        int32_t high = lower < 0 ? 0 : low + 1 > n - 1 ? n - 1 : low + 1;
        around[k] = (struct patches_between){low, high, (float)(at - lower)};
    }
    return around;
}

enum clv_status patch_votes_init(struct patch_votes *self, const struct clv_example *example, const int32_t *y,
                                 struct clv_error *err)
{
    const struct clv_patch_grid *grid = &example->grid;
    self->y = y;
    self->n_columns = grid->n_columns;
    self->columns = patches_around(example->width, grid->width, grid->size_px, grid->step_px, grid->n_columns);
    self->rows = patches_around(example->height, grid->height, grid->size_px, grid->step_px, grid->n_rows);
    return self->columns && self->rows ? CLV_OK : fail_memory(err);
}

void patch_votes_release(struct patch_votes *self)
{
    arrays_free(self->columns, self->rows);
}

/* Sums the votes of the four patches around a pixel by label. Returns the number of labels, with labels[4] and
 * shares[4]. */
static int count_votes(int32_t *labels, float *shares, const struct patch_votes *votes, int32_t column, int32_t row)
{
    int32_t voter[4];
    float share[4];
    int n = 0;
    patch_votes_at(voter, share, votes, column, row);
    for (int v = 0; v < 4; v++) {
        int k = 0;
        while (k < n && labels[k] != voter[v])
            k++;
        if (k == n) {
            labels[n] = voter[v];
            shares[n++] = 0;
        }
        shares[k] += share[v];
    }
    return n;
}

static enum clv_status check_labels(const struct clv_example *example, const int32_t *y, int32_t n_labels,
                                    struct clv_error *err)
{
    for (int32_t i = 0; i < example->superpixels.n; i++)
        FAIL_IF(y[i] < 0 || y[i] >= n_labels || y[i] > UINT8_MAX, CLV_ERR_USAGE, "node %d has the label %d of %d", i,
                y[i], n_labels);
    return CLV_OK;
}

/* Paints the labels of superpixels, which have all votes of their pixels. */
static enum clv_status vote_alone(uint8_t *pixels, float *votes, const struct clv_example *example, const int32_t *y,
                                  struct clv_error *err)
{
    size_t size = (size_t)example->width * (size_t)example->height;
    MUST(clv_example_paint(pixels, example, y, err));
    for (size_t p = 0; p < size && votes; p++)
        votes[(size_t)pixels[p] * size + p] = 1;
    return CLV_OK;
}

enum clv_status clv_example_vote(uint8_t *pixels, float *votes, const struct clv_example *example, const int32_t *y,
                                 int32_t n_labels, struct clv_error *err)
{
    const struct clv_patch_grid *grid = &example->grid;
    MUST(check_labels(example, y, n_labels, err));
    size_t p = 0, size = (size_t)example->width * (size_t)example->height;
    for (size_t k = 0; votes && k < size * (size_t)n_labels; k++)
        votes[k] = 0;
    if (!grid->n_rows)
        return vote_alone(pixels, votes, example, y, err);
    OWNED(patch_votes_release) struct patch_votes voters = {0};
    MUST(patch_votes_init(&voters, example, y, err));
    for (int32_t r = 0; r < example->height; r++)
        for (int32_t c = 0; c < example->width; c++, p++) {
            struct patches_between row = voters.rows[r], column = voters.columns[c];
            const int32_t *above = y + row.low * grid->n_columns, *below = y + row.high * grid->n_columns;
            int32_t label = above[column.low];
            /* A fast path for most pixels. */
            if (!votes && above[column.high] == label && below[column.low] == label && below[column.high] == label) {
                pixels[p] = (uint8_t)label;
                continue;
            }
            int32_t labels[4] = {0};
            float shares[4];
            int n = count_votes(labels, shares, &voters, c, r), best = 0;
            for (int k = 0; k < n; k++) {
                best = shares[k] > shares[best] ? k : best;
                if (votes)
                    votes[(size_t)labels[k] * size + p] = fminf(shares[k], 1); /* rounding may exceed 1 */
            }
            pixels[p] = (uint8_t)labels[best];
        }
    return CLV_OK;
}
