/* VLFeat's dense SIFT (flat window), made safe: the image is padded so that a descriptor exists for every cell, and VLFeat's
 * memory, whose absence it does not check for, is asked for and handed back before it is used. */
#include "feature/sift.h"

#include <math.h>
#include <string.h>
#include <vl/dsift.h>
#include <vl/imopv.h>

#include "base/array.h"
#include "base/error.h"

/* VLFeat scales a unit descriptor by this in its own byte form; values above 255 (none in practice) saturate. */
static const float BYTE_SCALE = 512.0f;
/* Descriptors with less gradient mass than this carry noise, not texture. */
static const double FLAT_NORM = 0.005;

void sift_grid_release(struct sift_grid *grid)
{
    array_free(grid->values);
    *grid = (struct sift_grid){0};
}

static int32_t clamp(int32_t value, int32_t high)
{
    return value < 0 ? 0 : value > high ? high : value;
}

static void bytes_from_floats(uint8_t *values, const float *descriptors, const VlDsiftKeypoint *frames, size_t n)
{
    for (size_t i = 0; i < n; i++, values += CLV_DESCRIPTOR_SIZE, descriptors += CLV_DESCRIPTOR_SIZE) {
        if (!(frames[i].norm > FLAT_NORM)) {
            memset(values, 0, CLV_DESCRIPTOR_SIZE);
            continue;
        }
        for (int k = 0; k < CLV_DESCRIPTOR_SIZE; k++) {
            float scaled = BYTE_SCALE * descriptors[k] + 0.5f;
            values[k] = (uint8_t)(scaled < 255.0f ? scaled : 255.0f);
        }
    }
}

enum clv_status sift_extract(struct sift_grid *grid, const float *grey, int32_t width, int32_t height, int32_t bin_px,
                             int32_t step_px, struct clv_error *err)
{
    *grid = (struct sift_grid){0};
    struct sift_grid made = {
        .n_columns = (width + step_px - 1) / step_px, .n_rows = (height + step_px - 1) / step_px, .step_px = step_px};
    size_t n = (size_t)made.n_columns * (size_t)made.n_rows;
    /* Just large enough for the wanted cells: bin centres span 3 bins. */
    int32_t padded_width = 3 * bin_px + 1 + (made.n_columns - 1) * step_px;
    int32_t padded_height = 3 * bin_px + 1 + (made.n_rows - 1) * step_px;
    int32_t before = 3 * bin_px / 2 - (step_px - 1) / 2;
    size_t n_padded = (size_t)padded_width * (size_t)padded_height;

    float *padded = array_alloc(n_padded, sizeof *padded);
    made.values = array_alloc(n, CLV_DESCRIPTOR_SIZE);
    /* 8 gradients, 2 buffers and the smoothing of the image; floats and frames of the descriptors. */
    size_t filter_bytes =
        n_padded * 11 * sizeof(float) + n * (CLV_DESCRIPTOR_SIZE * sizeof(float) + sizeof(VlDsiftKeypoint));
    void *probe = array_alloc(filter_bytes, 1);
    if (!padded || !made.values || !probe) {
        array_free(padded);
        array_free(probe);
        sift_grid_release(&made);
        return fail_memory(err);
    }
    array_free(probe);

    for (int32_t y = 0; y < padded_height; y++)
        for (int32_t x = 0; x < padded_width; x++)
            padded[(size_t)y * (size_t)padded_width + (size_t)x] =
                grey[(size_t)clamp(y - before, height - 1) * (size_t)width + (size_t)clamp(x - before, width - 1)];
    /* A bin of b pixels is a SIFT keypoint of scale b/6, on an image whose own blur is taken as 1/2. */
    double sigma = sqrt(fmax(bin_px * bin_px / 36.0 - 0.25, 0.0));
    if (sigma > 0)
        vl_imsmooth_f(padded, (vl_size)padded_width, padded, (vl_size)padded_width, (vl_size)padded_height,
                      (vl_size)padded_width, sigma, sigma);
    VlDsiftFilter *filter = vl_dsift_new_basic(padded_width, padded_height, step_px, bin_px);
    vl_dsift_set_flat_window(filter, VL_TRUE);
    vl_dsift_process(filter, padded);
    enum clv_status status = CLV_OK;
    if ((size_t)vl_dsift_get_keypoint_num(filter) != n)
        status = fail(err, CLV_ERR_INTERNAL, "dense SIFT made %d descriptors, expected %zu",
                      vl_dsift_get_keypoint_num(filter), n);
    else
        bytes_from_floats(made.values, vl_dsift_get_descriptors(filter), vl_dsift_get_keypoints(filter), n);
    vl_dsift_delete(filter);
    array_free(padded);
    if (status != CLV_OK)
        sift_grid_release(&made);
    else
        *grid = made;
    return status;
}
