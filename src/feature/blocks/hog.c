/* Computes the feature block hog by VLFeat: histograms of oriented gradients (Dalal & Triggs 2005; Felzenszwalb et
 * al. 2010) in cells, averaged over the pixels of a node. Start at hog_init. */
#include "feature/blocks/blocks.h"

#include <stdio.h>
#include <vl/hog.h>

#include "base/base.h"

void hog_release(struct hog *hog)
{
    array_free(hog->values);
    *hog = (struct hog){0};
}

/* planes[3][height][width] in 0..1 = the scene's colours. Pixels of the border are repeated beyond the scene. */
static void fill_planes(float *planes, int32_t width, int32_t height, const struct scene *scene)
{
    size_t n = (size_t)width * (size_t)height;
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++, planes++) {
            int32_t from_x = x < scene->width ? x : scene->width - 1;
            int32_t from_y = y < scene->height ? y : scene->height - 1;
            const uint8_t *rgb = scene->rgb + ((size_t)from_y * (size_t)scene->width + (size_t)from_x) * 3;
            for (size_t c = 0; c < 3; c++)
                planes[c * n] = (float)rgb[c] / 255;
        }
}

enum clv_status hog_init(struct hog *hog, const struct scene *scene, struct clv_error *err)
{
    *hog = (struct hog){0};
    /* vl_hog does not accept images smaller than a cell. */
    int32_t width = scene->width > HOG_CELL_PX ? scene->width : HOG_CELL_PX;
    int32_t height = scene->height > HOG_CELL_PX ? scene->height : HOG_CELL_PX;
    int32_t n_columns = (width + HOG_CELL_PX / 2) / HOG_CELL_PX, n_rows = (height + HOG_CELL_PX / 2) / HOG_CELL_PX;
    size_t n_cells = (size_t)n_columns * (size_t)n_rows;
    OWNED_ARRAY float *planes = array_alloc((size_t)width * (size_t)height, 3 * sizeof *planes);
    OWNED_ARRAY float *by_value = array_alloc(n_cells, HOG_SIZE * sizeof *by_value); /* [HOG_SIZE][n_rows][n_columns] */
    OWNED_ARRAY float *values = array_alloc(n_cells, HOG_SIZE * sizeof *values);
    NEED(planes && by_value && values);
    fill_planes(planes, width, height, scene);
    VlHog *filter = vl_hog_new(VlHogVariantUoctti, HOG_ORIENTATIONS, VL_FALSE);
    vl_hog_put_image(filter, planes, (vl_size)width, (vl_size)height, 3, HOG_CELL_PX);
    vl_hog_extract(filter, by_value);
    vl_hog_delete(filter);
    for (size_t cell = 0; cell < n_cells; cell++)
        for (size_t v = 0; v < HOG_SIZE; v++)
            values[cell * HOG_SIZE + v] = by_value[v * n_cells + cell];
    *hog = (struct hog){n_columns, n_rows, TAKE(values)};
    return CLV_OK;
}

int32_t hog_size(const struct clv_recipe *recipe)
{
    (void)recipe;
    return HOG_SIZE;
}

double hog_met(const struct clv_recipe *recipe, double of_node, double of_image)
{
    (void)recipe, (void)of_node, (void)of_image;
    return HOG_SIZE;
}

/* A cell has 18 directions of gradients, 9 orientations, and 4 sums over the orientations, one for each
 * normalisation. */
void hog_fill(float *row, const struct views *views, int32_t region)
{
    const struct hog *hog = &views->hog;
    const struct scene *scene = views_own(views);
    int32_t first = scene->start[region], last = scene->start[region + 1];
    for (int32_t k = first; k < last; k++) {
        int32_t column = scene->pixel[k] % scene->width / HOG_CELL_PX;
        int32_t line = scene->pixel[k] / scene->width / HOG_CELL_PX;
        column = column < hog->n_columns ? column : hog->n_columns - 1;
        line = line < hog->n_rows ? line : hog->n_rows - 1;
        const float *cell = hog->values + ((size_t)line * (size_t)hog->n_columns + (size_t)column) * HOG_SIZE;
        for (int v = 0; v < HOG_SIZE; v++)
            row[v] += cell[v];
    }
    for (int v = 0; v < HOG_SIZE; v++)
        row[v] /= (float)(last - first);
}

void hog_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index)
{
    (void)recipe;
    enum { DIRECTED = 2 * HOG_ORIENTATIONS, ALL = 3 * HOG_ORIENTATIONS };
    if (index < DIRECTED)
        snprintf(name, size, "gradients of direction %d degrees", index * 180 / HOG_ORIENTATIONS);
    else if (index < ALL)
        snprintf(name, size, "gradients of orientation %d degrees", (index - DIRECTED) * 180 / HOG_ORIENTATIONS);
    else
        snprintf(name, size, "gradients, normalised %s %s", (index - ALL) / 2 ? "below" : "above",
                 (index - ALL) % 2 ? "right" : "left");
}
