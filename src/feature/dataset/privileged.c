/* Computes privileged features of nodes from boxes, which only training has: the position of each node in its box, and
 * an estimated probability of foreground. Start at privileged_add. */
#include "feature/dataset/dataset.h"

#include <math.h>

#include "base/base.h"

enum { GRID = 8, OUTSIDE = GRID * GRID, N_FEATURES };

/* The sum of a node's features. Other blocks have norms of about 1; chosen by the error of the labels of boxed
 * images. */
static const float WEIGHT = 3;

/* Returns the first of the two grid lines, at k / (GRID - 1), around a coordinate in 0..1, and the weight of the
 * second. */
static int32_t soft_bin(float *weight, double coordinate)
{
    double at = coordinate * (GRID - 1), low = fmin(floor(at), GRID - 2);
    *weight = (float)(at - low);
    return int32_within(low, 0, GRID - 2);
}

/* Positions of the pixels of a row in their boxes, [width] each. */
struct box_coordinates {
    double *distance; /* from the centre of the pixel's box, in box sizes; above 1/2: not in a box */
    double *u, *v;    /* coordinates in the box, 0..1 */
};

/* Locates the working pixels of a row in boxes; y is the row's centre in the original image. If several boxes hold a
 * pixel's centre, the one whose centre is nearest in box sizes is used. O(width + the boxes' pixels in the row +
 * n_boxes). */
static void locate_row(struct box_coordinates *coordinates, const struct item_boxes *boxes,
                       const struct clv_example *example, double y)
{
    int32_t width = example->superpixels.width;
    double pixel = (double)example->width / width;
    for (int32_t x = 0; x < width; x++)
        coordinates->distance[x] = INFINITY;
    for (size_t k = 0; k < boxes->n_boxes; k++) {
        const struct clv_pixel_box *box = &boxes->boxes[k];
        double t = (y - box->first_y) / (box->end_y - box->first_y);
        if (fabs(t - 0.5) > 0.5)
            continue;
        int32_t end = int32_within(box->end_x / pixel + 2, 0, width);
        for (int32_t x = int32_within(box->first_x / pixel - 2, 0, width); x < end; x++) {
            double s = ((x + 0.5) * example->width / width - box->first_x) / (box->end_x - box->first_x);
            double distance = fmax(fabs(s - 0.5), fabs(t - 0.5));
            if (distance <= 0.5 && distance < coordinates->distance[x]) {
                coordinates->distance[x] = distance;
                coordinates->u[x] = s;
                coordinates->v[x] = t;
            }
        }
    }
}

static void add_pixel(float *row, const struct box_coordinates *coordinates, int32_t x)
{
    if (coordinates->distance[x] > 0.5) {
        row[OUTSIDE]++;
        return;
    }
    float right, below;
    int32_t column = soft_bin(&right, coordinates->u[x]), line = soft_bin(&below, coordinates->v[x]);
    float *cell = row + line * GRID + column;
    cell[0] += (1 - right) * (1 - below);
    cell[1] += right * (1 - below);
    cell[GRID] += (1 - right) * below;
    cell[GRID + 1] += right * below;
}

/* Counts rows[n_nodes][N_FEATURES] by the centres of working pixels in the original image. */
static enum clv_status fill_rows(float *rows, const struct clv_example *example, const struct item_boxes *boxes,
                                 struct clv_error *err)
{
    const struct clv_superpixels *sp = &example->superpixels;
    size_t width = (size_t)sp->width;
    OWNED_ARRAY double *values = array_alloc(width, 3 * sizeof *values);
    NEED(values);
    struct box_coordinates coordinates = {values, values + width, values + 2 * width};
    for (int32_t y = 0; y < sp->height && boxes->boxes; y++) {
        locate_row(&coordinates, boxes, example, (y + 0.5) * example->height / sp->height);
        for (int32_t x = 0; x < sp->width; x++)
            add_pixel(rows + (size_t)sp->labels[(size_t)y * width + (size_t)x] * N_FEATURES, &coordinates, x);
    }
    return CLV_OK;
}

/* Returns theta[n_nodes][2], the probabilities of background and foreground, or NULL without memory. */
static float *weights_of(const float *estimate, size_t n_nodes)
{
    float *theta = array_alloc(n_nodes, 2 * sizeof *theta);
    for (size_t i = 0; theta && i < n_nodes; i++) {
        float foreground = estimate[i] > 0 ? estimate[i] < 1 ? estimate[i] : 1 : 0;
        theta[2 * i] = 1 - foreground;
        theta[2 * i + 1] = foreground;
    }
    return theta;
}

enum clv_status privileged_add(struct clv_dataset *privileged, const struct clv_example *example,
                               const struct item_boxes *boxes, const float *estimate, const char *name,
                               struct clv_error *err)
{
    size_t n = (size_t)example->problem.n_nodes, at = 0;
    OWNED_ARRAY float *rows = array_zalloc(n, N_FEATURES * sizeof *rows);
    OWNED_ARRAY int64_t *row = array_alloc(n + 1, sizeof *row);
    OWNED_ARRAY int32_t *index = array_alloc(n, N_FEATURES * sizeof *index);
    OWNED_ARRAY float *theta = estimate ? weights_of(estimate, n) : NULL;
    if (!rows || !row || !index || (estimate && !theta))
        return fail_memory(err);
    MUST(fill_rows(rows, example, boxes, err));
    for (size_t i = 0; i < n; i++) {
        const float *own = rows + i * N_FEATURES;
        float sum = 0;
        for (size_t f = 0; f < N_FEATURES; f++)
            sum += own[f];
        row[i] = (int64_t)at;
        for (size_t f = 0; f < N_FEATURES; f++)
            if (own[f] > 0) { /* in place: `at` is never above i N_FEATURES + f */
                index[at] = (int32_t)f;
                rows[at++] = WEIGHT * own[f] / sum;
            }
    }
    row[n] = (int64_t)at;
    struct clv_problem problem = {.n_nodes = example->problem.n_nodes,
                                  .n_features = N_FEATURES,
                                  .row = row,
                                  .index = index,
                                  .value = rows,
                                  .theta = theta};
    return clv_dataset_add(privileged, &problem, name, err);
}
