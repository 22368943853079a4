/* Runs the vl_dsift of VLFeat 0.9.21 and works around its limits. It describes only frames that are wholly inside the
 * image, and reads out of bounds in an image of one row or column, so the image is extended until every cell has a
 * frame. Its Gaussian window is about ten times as slow as its flat one, so the flat one is used, which weights whole
 * bins as sift.c does. It counts pixels in 32 bits, so larger images are refused. */
#include "feature/words/words.h"

#include <string.h>
#include <vl/dsift.h>

#include "base/base.h"

enum { SIZE = CLV_DESCRIPTOR_SIZE };

static const float FLAT_NORM = 0.09f;   /* grey levels: 0.1 in sift.c, whose bin weights are a ninth higher */
static const float BYTE_SCALE = 512.0f; /* bytes per unit of a unit descriptor, as in sift.c */

/* continued[height_after][width_after] = luma, extended by `before` rows and columns before its first and the rest
 * after its last, which repeat the border's pixels. */
static void continue_image(float *continued, int32_t width_after, int32_t height_after, const float *luma,
                           int32_t width, int32_t height, int32_t before)
{
    for (int32_t y = 0; y < height_after; y++) {
        int32_t from_y = y < before ? 0 : y - before < height ? y - before : height - 1;
        const float *from = luma + (size_t)from_y * (size_t)width;
        float *row = continued + (size_t)y * (size_t)width_after;
        for (int32_t x = 0; x < width_after; x++)
            row[x] = from[x < before ? 0 : x - before < width ? x - before : width - 1];
    }
}

/* Converts a unit descriptor of VLFeat to bytes. `mass` is the sum of its bins before normalisation, so mass divided by
 * the sum of its entries estimates its norm (exactly, if no entry was clamped). */
static void finish_descriptor(uint8_t *values, const float *unit, float mass)
{
    float sum = 0;
    for (int k = 0; k < SIZE; k++)
        sum += unit[k];
    if (!(sum > 0 && mass / sum > FLAT_NORM)) { /* NaN is flat, too */
        memset(values, 0, SIZE);
        return;
    }
    for (int k = 0; k < SIZE; k++) {
        float scaled = unit[k] * BYTE_SCALE + 0.5f;
        values[k] = scaled < 255 ? (uint8_t)scaled : 255;
    }
}

enum clv_status sift_vlfeat_extract(struct sift_grid *grid, const float *luma, int32_t width, int32_t height,
                                    int32_t bin_px, int32_t step_px, struct clv_error *err)
{
    *grid = (struct sift_grid){0};
    int32_t n_columns = (width + step_px - 1) / step_px, n_rows = (height + step_px - 1) / step_px;
    /* A frame reaches from the centre of the first bin to that of the last, which are 3 bins apart; half of it lies
     * before the centre of its cell. */
    int32_t first = (step_px - 1) / 2, frame = 3 * bin_px, before = frame / 2;
    int32_t last_x = first + (n_columns - 1) * step_px + frame, last_y = first + (n_rows - 1) * step_px + frame;
    size_t n_across = (size_t)last_x + 1, n_down = (size_t)last_y + 1;
    FAIL_IF(n_across * n_down > INT32_MAX, CLV_ERR_USAGE, "SIFT by VLFeat: %dx%d pixels are too many for it", width,
            height);
    size_t n_cells = (size_t)n_columns * (size_t)n_rows;
    OWNED_ARRAY float *continued = array_alloc(n_across, n_down * sizeof *continued);
    OWNED_ARRAY uint8_t *values = array_alloc(n_cells, SIZE);
    NEED(continued && values);
    continue_image(continued, last_x + 1, last_y + 1, luma, width, height, before);
    VlDsiftFilter *filter = vl_dsift_new_basic(last_x + 1, last_y + 1, step_px, bin_px);
    vl_dsift_set_bounds(filter, first, first, last_x, last_y);
    vl_dsift_set_flat_window(filter, VL_TRUE);
    vl_dsift_process(filter, continued);
    const float *unit = vl_dsift_get_descriptors(filter);
    const VlDsiftKeypoint *frames = vl_dsift_get_keypoints(filter);
    /* VLFeat divides a frame's mass by this area. */
    float area = (float)((frame + 1) * (frame + 1)) / (float)(bin_px * bin_px);
    for (size_t c = 0; c < n_cells; c++)
        finish_descriptor(values + c * SIZE, unit + c * SIZE, (float)frames[c].norm * area);
    vl_dsift_delete(filter);
    *grid = (struct sift_grid){n_columns, n_rows, TAKE(values)};
    return CLV_OK;
}
