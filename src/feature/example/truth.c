/* Moves labels between nodes and the pixels of the original image. clv_example_set_truth counts the labels of a mask
 * per node; clv_example_paint paints the labels of the nodes. */
#include "feature/example/example.h"

#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"

void balanced_theta(float *theta, const float *counts, int32_t n_nodes, int32_t n_labels)
{
    int32_t n_present = 0;
    for (int32_t pass = 0; pass < 2; pass++) /* the first pass counts the labels that are present */
        for (int32_t b = 0; b < n_labels; b++) {
            double area = 0; /* V_b */
            for (int32_t i = 0; i < n_nodes; i++)
                area += counts[(size_t)i * (size_t)n_labels + (size_t)b];
            if (pass == 0) {
                n_present += area > 0;
                continue;
            }
            for (int32_t i = 0; i < n_nodes; i++) {
                size_t at = (size_t)i * (size_t)n_labels + (size_t)b;
                theta[at] = area > 0 ? (float)(counts[at] / (n_present * area)) : 0;
            }
        }
}

void majority_labels(int32_t *label, const float *theta, int32_t n_nodes, int32_t n_labels)
{
    for (int32_t i = 0; i < n_nodes; i++) {
        const float *row = theta + (size_t)i * (size_t)n_labels;
        float best = 0;
        label[i] = CLV_UNKNOWN;
        for (int32_t b = 0; b < n_labels; b++)
            if (row[b] > best) {
                best = row[b];
                label[i] = b;
            }
    }
}

/* Returns table[original_size], the working column (or row) under each original one, or NULL without memory. */
static int32_t *coordinate_table(int32_t original_size, int32_t working_size)
{
    int32_t *table = array_alloc((size_t)original_size, sizeof *table);
    for (int32_t k = 0; table && k < original_size; k++)
        table[k] = working_coordinate(k, original_size, working_size);
    return table;
}

static enum clv_status count_labels(int64_t *count, const struct clv_example *example, const struct clv_mask *mask,
                                    int32_t n_labels, struct clv_error *err)
{
    const struct clv_superpixels *sp = &example->superpixels;
    OWNED_ARRAY int32_t *column = coordinate_table(mask->width, sp->width);
    NEED(column);
    for (int32_t y = 0; y < mask->height; y++) {
        const int32_t *node = sp->labels + (size_t)working_coordinate(y, mask->height, sp->height) * (size_t)sp->width;
        const uint8_t *label = mask->labels + (size_t)y * (size_t)mask->width;
        for (int32_t x = 0; x < mask->width; x++) {
            if (label[x] < n_labels)
                count[(size_t)node[column[x]] * (size_t)n_labels + label[x]]++;
            else
                FAIL_IF(label[x] != CLV_VOID, CLV_ERR_DATA, "mask has the value %d at (%d, %d), labels are 0..%d",
                        label[x], x, y, n_labels - 1);
        }
    }
    return CLV_OK;
}

/* Hides patches that are mostly void: the few labelled pixels of such a patch do not give its label. */
static void hide_void_patches(int64_t *count, const struct clv_example *example, int32_t n_labels)
{
    for (int32_t i = 0; i < example->superpixels.n; i++) {
        int64_t known = 0, *own = count + (size_t)i * (size_t)n_labels;
        for (int32_t b = 0; b < n_labels; b++)
            known += own[b];
        for (int32_t b = 0; b < n_labels && 2 * (double)known < (double)example->area[i]; b++)
            own[b] = 0;
    }
}

enum clv_status clv_example_set_truth(struct clv_example *example, const struct clv_mask *mask, int32_t n_labels,
                                      struct clv_error *err)
{
    FAIL_IF(n_labels < 2 || n_labels > CLV_MAX_LABELS, CLV_ERR_USAGE, "n_labels is %d, must be 2..%d", n_labels,
            CLV_MAX_LABELS);
    FAIL_IF(mask->width != example->width || mask->height != example->height, CLV_ERR_DATA,
            "mask is %dx%d, image is %dx%d", mask->width, mask->height, example->width, example->height);
    int32_t n_nodes = example->problem.n_nodes;
    size_t size = (size_t)n_nodes * (size_t)n_labels;
    OWNED_ARRAY int64_t *count = array_zalloc(size, sizeof *count);
    OWNED_ARRAY float *counts = array_alloc(size, sizeof *counts);
    OWNED_ARRAY float *theta = array_alloc(size, sizeof *theta);
    OWNED_ARRAY int32_t *label = array_alloc((size_t)n_nodes, sizeof *label);
    NEED(count && counts && theta && label);
    MUST(count_labels(count, example, mask, n_labels, err));
    if (example->grid.n_rows)
        hide_void_patches(count, example, n_labels);
    for (size_t k = 0; k < size; k++)
        counts[k] = (float)count[k];
    balanced_theta(theta, counts, n_nodes, n_labels);
    majority_labels(label, theta, n_nodes, n_labels);
    arrays_free(example->counts, example->theta, example->label);
    example->counts = TAKE(counts);
    example->problem.theta = example->theta = TAKE(theta);
    example->problem.label = example->label = TAKE(label);
    return CLV_OK;
}

/* Marks the nodes that hold pixels of boxes in row y. open[width + 1] is scratch: the number of boxes that begin at a
 * column, less the number that end there. */
static void mark_row(int32_t *label, int32_t *open, const struct clv_example *example, const int32_t *column, int32_t y,
                     const struct clv_pixel_box *boxes, size_t n_boxes)
{
    const struct clv_superpixels *sp = &example->superpixels;
    size_t row = (size_t)working_coordinate(y, example->height, sp->height) * (size_t)sp->width;
    memset(open, 0, ((size_t)example->width + 1) * sizeof *open);
    for (size_t k = 0; k < n_boxes; k++)
        if (y >= boxes[k].first_y && y < boxes[k].end_y && boxes[k].first_x < boxes[k].end_x) {
            open[boxes[k].first_x]++;
            open[boxes[k].end_x]--;
        }
    int32_t n_open = 0;
    for (int32_t x = 0; x < example->width; x++) {
        n_open += open[x];
        if (n_open > 0)
            label[sp->labels[row + (size_t)column[x]]] = CLV_UNKNOWN;
    }
}

enum clv_status clv_example_set_boxes(struct clv_example *example, const struct clv_pixel_box *boxes, size_t n_boxes,
                                      struct clv_error *err)
{
    OWNED_ARRAY int32_t *label = array_zalloc((size_t)example->problem.n_nodes, sizeof *label);
    OWNED_ARRAY int32_t *column = coordinate_table(example->width, example->superpixels.width);
    OWNED_ARRAY int32_t *open = array_alloc((size_t)example->width + 1, sizeof *open);
    NEED(label && column && open);
    for (int32_t y = 0; y < example->height; y++)
        mark_row(label, open, example, column, y, boxes, n_boxes);
    arrays_free(example->counts, example->theta, example->label);
    example->counts = example->theta = NULL;
    example->problem.theta = NULL;
    example->problem.label = example->label = TAKE(label);
    return CLV_OK;
}

enum clv_status example_mean(float *mean, const struct clv_example *example, const float *values, struct clv_error *err)
{
    const struct clv_superpixels *sp = &example->superpixels;
    OWNED_ARRAY double *sum = array_zalloc((size_t)sp->n, sizeof *sum);
    OWNED_ARRAY int32_t *column = coordinate_table(example->width, sp->width);
    NEED(sum && column);
    for (int32_t y = 0; y < example->height; y++) {
        size_t row = (size_t)working_coordinate(y, example->height, sp->height) * (size_t)sp->width;
        for (int32_t x = 0; x < example->width; x++)
            sum[sp->labels[row + (size_t)column[x]]] += (double)values[(size_t)y * (size_t)example->width + (size_t)x];
    }
    for (int32_t i = 0; i < sp->n; i++)
        mean[i] = (float)(sum[i] / (double)example->area[i]);
    return CLV_OK;
}

enum clv_status clv_example_paint(uint8_t *pixels, const struct clv_example *example, const int32_t *y,
                                  struct clv_error *err)
{
    const struct clv_superpixels *sp = &example->superpixels;
    for (int32_t i = 0; i < sp->n; i++)
        FAIL_IF(y[i] < 0 || y[i] > UINT8_MAX, CLV_ERR_USAGE, "node %d has the label %d, which a mask cannot hold", i,
                y[i]);
    OWNED_ARRAY int32_t *column = coordinate_table(example->width, sp->width);
    NEED(column);
    for (int32_t row = 0; row < example->height; row++) {
        const int32_t *node =
            sp->labels + (size_t)working_coordinate(row, example->height, sp->height) * (size_t)sp->width;
        uint8_t *target = pixels + (size_t)row * (size_t)example->width;
        for (int32_t x = 0; x < example->width; x++)
            target[x] = (uint8_t)y[node[column[x]]];
    }
    return CLV_OK;
}
