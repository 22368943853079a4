/* Writes the pictures of a raster that is larger than memory by bands of rows, from top to bottom. Objects are in
 * raster_objects.c, polygons in raster_shapes.c. Start at raster_files_open. */
#include "batch/raster_files.h"

#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "image/image.h"
#include "refine/refine.h"

static enum clv_status read_image_header(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    struct raster_item *self = item->raster;
    const struct clv_image_limits *limits = &run->options.limits;
    OWNED(raster_close) struct raster raster = {0};
    self->bands = run->model->recipe.bands;
    MUST(raster_open_windows(&raster, item->input->image, limits, err));
    FAIL_IF(!self->bands.n_bands && !bands_are_plain(&self->bands, &raster), CLV_ERR_DATA,
            "%s: its bands are not those of the model's training images", item->input->image);
    item->width = raster.width;
    item->height = raster.height;
    self->n_bands = raster.n_bands;
    const int32_t n_known = run->model->recipe.bands.n_bands;
    const bool fits = n_known ? raster.n_bands == n_known : raster.n_bands == 1 || raster.n_bands == 3;
    self->has_samples = fits && (!raster.is_photograph || limits->bands);
    georeference_find(&self->georeference, item->input->image);
    return CLV_OK;
}

/* Reads an existing mask once: sets is_empty, and maps 255 to label 1 if the mask has 0 and 255 by the options of
 * another run. */
static enum clv_status read_mask(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    struct raster_item *self = item->raster;
    bool more = true, has_one = false, has_other = false;
    OWNED(raster_rows_close) struct raster_rows rows = {0};
    MUST(raster_item_rows(&rows, item, ROWS_LABELS, RASTER_BAND_ROWS, 0, err));
    FAIL_IF(rows.width != item->width || rows.height != item->height, CLV_ERR_DATA, "%s: mask is %dx%d, image is %dx%d",
            item->target->mask, rows.width, rows.height, item->width, item->height);
    while (true) {
        MUST(raster_item_next(&more, &rows, run, err));
        if (!more)
            break;
        const size_t n = (size_t)rows.band.n_rows * (size_t)item->width;
        has_other |= !labels_are_empty(rows.band.labels, n);
        if (batch_is_probable(run))
            continue;
        has_one |= memchr(rows.band.labels, 1, n) != NULL;
        item->is_empty &= !memchr(rows.band.labels, CLV_VOID, n);
    }
    if (!batch_is_probable(run) && mask_file_is_binary(&run->labels, rows.mask.raster.has_palette, has_one))
        self->label_of[CLV_VOID] = 1;
    else
        item->is_empty = true;
    item->is_empty &= !has_other;
    return CLV_OK;
}

enum clv_status raster_files_open(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    struct raster_item *self = item->raster = array_zalloc(1, sizeof *self);
    NEED(self);
    for (int value = 0; value < 256; value++)
        self->label_of[value] = (uint8_t)value;
    self->files = (struct raster_rows_files){
        .image = item->input->image, .limits = &run->options.limits, .mask = item->target->mask};
    self->budget = raster_budget(run);
    MUST(read_image_header(item, run, err));
    item->is_read_back = item->target->has_mask;
    if (item->is_read_back) {
        item->is_empty = true;
        MUST(read_mask(item, run, err));
    } else if (run->options.mask_format == CLV_MASKS_BINARY) {
        self->label_of[CLV_VOID] = 1;
    }
    self->files.label_of = self->label_of;
    return run->options.objects ? raster_objects_find(item, run, err) : CLV_OK;
}

/* Gives each object a colour that differs from those of its neighbours. */
static enum clv_status find_colours(uint8_t **colour_of, const struct labelled *item, const struct batch *run,
                                    struct clv_error *err)
{
    const int32_t n = item->objects.n_objects;
    OWNED(raster_rows_close) struct raster_rows rows = {0};
    NEED(*colour_of = array_zalloc((size_t)n + 1, 1));
    objects_colour_init(*colour_of, n);
    if (n < 256)
        return CLV_OK;
    MUST(raster_item_rows(&rows, item, ROWS_OBJECTS, RASTER_BAND_ROWS, 1, err));
    bool was_changed = true;
    for (int round = 0; round < OBJECT_COLOUR_ROUNDS && was_changed; round++) {
        was_changed = false;
        raster_rows_rewind(&rows);
        for (bool more = true; more;) {
            MUST(raster_item_next(&more, &rows, run, err));
            if (more)
                objects_colour_band(&was_changed, *colour_of, &rows.band);
        }
    }
    return CLV_OK;
}

/* Scratch and settings of an overlay. */
struct painter {
    uint8_t palette[256][3];
    int32_t outline_px;
    bool has_objects, is_probable;
    uint8_t *pixels, *values; /* of a band; values: of a band with its halo, for objects */
    uint8_t *colour_of;
};

static void painter_release(struct painter *self)
{
    arrays_free(self->pixels, self->values, self->colour_of);
}

/* Paints the labels of objects without outlines, then outlines where objects touch. */
static void paint_objects(struct painter *self, const struct image_band *band, const uint8_t *labels)
{
    static const uint8_t black[256][3];
    const size_t n = (size_t)(band->above + band->n_rows + band->below) * (size_t)band->width;
    struct image_band painted = *band;
    painted.labels = self->values;
    for (size_t p = 0; p < n; p++)
        self->values[p] = band->objects[p] ? labels[band->objects[p] - 1] : 0;
    overlay_band(self->pixels, &painted, (const uint8_t(*)[3])self->palette, OVERLAY_OPACITY, 0, CLV_VOID);
    for (size_t p = 0; p < n; p++)
        self->values[p] = self->colour_of[band->objects[p]];
    overlay_band(self->pixels, &painted, black, 0, self->outline_px, -1);
}

static enum clv_status paint_band(struct painter *self, const struct image_band *band, const uint8_t *labels,
                                  struct clv_error *err)
{
    const size_t row = 3 * (size_t)band->width;
    memcpy(self->pixels, band->pixels + (size_t)band->above * row, (size_t)band->n_rows * row);
    if (self->is_probable)
        return probability_draw_band(self->pixels, band, self->outline_px, err);
    if (self->has_objects)
        paint_objects(self, band, labels);
    else
        overlay_band(self->pixels, band, (const uint8_t(*)[3])self->palette, OVERLAY_OPACITY, self->outline_px,
                     CLV_VOID);
    return CLV_OK;
}

enum clv_status raster_overlay_write(const char *path, struct labelled *item, const struct batch *run,
                                     struct clv_error *err)
{
    const struct raster_layout layout = {.width = item->width, .height = item->height, .n_channels = 3, .bits = 8};
    OWNED(painter_release)
    struct painter painter = {.has_objects = run->options.objects, .is_probable = batch_is_probable(run)};
    OWNED(raster_rows_close) struct raster_rows rows = {0};
    OWNED(raster_writer_abort) struct raster_writer writer = {0};
    const int32_t usual_px = picture_outline_px(item->width, item->height);
    painter.outline_px = usual_px < RASTER_OUTLINE_PX ? usual_px : RASTER_OUTLINE_PX;
    overlay_palette(painter.palette, (const uint8_t(*)[3])run->labels.palette, run->labels.n_labels);
    const int32_t halo = overlay_halo(painter.outline_px);
    const size_t n_rows = RASTER_BAND_ROWS + 2 * (size_t)halo;
    NEED(painter.pixels = array_alloc(RASTER_BAND_ROWS, 3 * (size_t)item->width));
    if (painter.has_objects) {
        NEED(painter.values = array_alloc(n_rows, (size_t)item->width));
        MUST(find_colours(&painter.colour_of, item, run, err));
    }
    MUST(raster_item_rows(&rows, item, ROWS_PIXELS | (painter.has_objects ? ROWS_OBJECTS : ROWS_LABELS),
                          RASTER_BAND_ROWS, halo, err));
    MUST(raster_writer_create(&writer, path, &layout, &item->raster->georeference, err));
    for (bool more = true; more;) {
        MUST(raster_item_next(&more, &rows, run, err));
        if (!more)
            break;
        MUST(paint_band(&painter, &rows.band, item->raster->labels, err));
        MUST(raster_writer_rows(&writer, painter.pixels, rows.band.n_rows, err));
    }
    return raster_writer_commit(&writer, err);
}

/* Finds the box of the pixels that are not transparent in the cut-out; the whole image if there are none, or without
 * --crop. */
static enum clv_status find_crop(struct cutout_box *box, struct raster_rows *rows, uint8_t *rgba,
                                 const struct batch *run, struct clv_error *err)
{
    *box = (struct cutout_box){0};
    for (bool more = run->options.crop; more;) {
        MUST(raster_item_next(&more, rows, run, err));
        if (!more)
            break;
        MUST(cutout_band(rgba, &rows->band, run->is_cut, err));
        cutout_box_add(box, rgba, rows->width, rows->band.top, rows->band.n_rows);
    }
    if (!box->bottom)
        *box = (struct cutout_box){0, 0, rows->width, rows->height};
    raster_rows_rewind(rows);
    return CLV_OK;
}

/* Writes the rows of a band that are in the box. */
static enum clv_status put_cutout(struct raster_writer *writer, uint8_t *rgba, const struct image_band *band,
                                  const struct cutout_box *box, struct clv_error *err)
{
    const int32_t end = band->top + band->n_rows < box->bottom ? band->top + band->n_rows : box->bottom;
    const size_t width = (size_t)(box->right - box->left);
    int32_t n = 0;
    for (int32_t y = band->top > box->top ? band->top : box->top; y < end; y++, n++)
        memmove(rgba + 4 * (size_t)n * width,
                rgba + 4 * ((size_t)(y - band->top) * (size_t)band->width + (size_t)box->left), 4 * width);
    return n ? raster_writer_rows(writer, rgba, n, err) : CLV_OK;
}

enum clv_status raster_cutout_write(const char *path, struct labelled *item, const struct batch *run,
                                    struct clv_error *err)
{
    struct cutout_box box;
    OWNED(raster_rows_close) struct raster_rows rows = {0};
    OWNED(georeference_release) struct georeference georeference = {0};
    OWNED(raster_writer_abort) struct raster_writer writer = {0};
    OWNED_ARRAY uint8_t *rgba = array_alloc(RASTER_BAND_ROWS, 4 * (size_t)item->width);
    NEED(rgba);
    MUST(raster_item_rows(&rows, item, ROWS_PIXELS | ROWS_LABELS, RASTER_BAND_ROWS,
                          cutout_halo(item->width, item->height), err));
    MUST(find_crop(&box, &rows, rgba, run, err));
    MUST(georeference_of_part(&georeference, &item->raster->georeference, box.left, box.top, err));
    const struct raster_layout layout = {
        .width = box.right - box.left, .height = box.bottom - box.top, .n_channels = 4, .bits = 8};
    MUST(raster_writer_create(&writer, path, &layout, &georeference, err));
    for (bool more = true; more;) {
        MUST(raster_item_next(&more, &rows, run, err));
        if (!more)
            break;
        MUST(cutout_band(rgba, &rows.band, run->is_cut, err));
        MUST(put_cutout(&writer, rgba, &rows.band, &box, err));
    }
    return raster_writer_commit(&writer, err);
}

enum clv_status raster_classes_write(const char *path, struct labelled *item, const struct batch *run,
                                     struct clv_error *err)
{
    uint8_t palette[256][3];
    OWNED(raster_rows_close) struct raster_rows rows = {0};
    OWNED(png_rows_drop) struct png_rows *png = NULL;
    const struct label_image image = {item->width, item->height, NULL, (const uint8_t(*)[3])palette, 256};
    clv_default_palette(palette);
    MUST(raster_item_rows(&rows, item, ROWS_LABELS, RASTER_BAND_ROWS, 0, err));
    MUST(png_rows_open(&png, path, &image, err));
    for (bool more = true; more;) {
        MUST(raster_item_next(&more, &rows, run, err));
        if (more)
            MUST(png_rows_put(png, rows.band.labels, rows.band.n_rows, err));
    }
    return png_rows_commit(TAKE(png), err);
}

enum clv_status raster_report_make(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    OWNED(raster_rows_close) struct raster_rows rows = {0};
    OWNED(report_picture_release) struct report_picture picture = {0};
    if (run->options.objects)
        MUST(raster_objects_measure(item, run, err));
    MUST(report_picture_init(&picture, item->width, item->height, err));
    MUST(raster_item_rows(&rows, item, ROWS_PIXELS | ROWS_LABELS, RASTER_BAND_ROWS,
                          report_picture_halo(item->width, item->height), err));
    for (bool more = true; more;) {
        MUST(raster_item_next(&more, &rows, run, err));
        if (!more)
            break;
        MUST(report_picture_add(&picture, &rows.band, err));
        if (batch_is_probable(run))
            probability_sums_add(&item->raster->sums, rows.band.labels + image_band_start(&rows.band),
                                 (size_t)rows.band.n_rows * (size_t)item->width);
    }
    item->image = TAKE(picture.image);
    item->labels = TAKE(picture.labels);
    return CLV_OK;
}
