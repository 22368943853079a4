/* Makes the images of one report item: the photo, its overlay, mask, ground truth and the difference of both, shrunk
 * and encoded as JPEG or PNG. Start at item_images_make. report_picture_add shrinks a raster for it, band by band. */
#include "image/image.h"
#include "report/report.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

#define LONGEST_SIDE_PX 640
#define JPEG_QUALITY    85
#define TINT            0.45
#define OUTLINE_PX      2

const uint8_t difference_palette[N_DIFFERENCES][3] = {
    [DIFFERENCE_BACKGROUND] = {250, 250, 248}, [DIFFERENCE_FOREGROUND] = {188, 190, 192},
    [DIFFERENCE_FALSE_ALARM] = {230, 130, 0},  [DIFFERENCE_MISS] = {0, 100, 178},
    [DIFFERENCE_WRONG_LABEL] = {204, 90, 160}, [DIFFERENCE_VOID] = {226, 226, 222},
};

void item_images_release(struct item_images *images)
{
    for (int layer = 0; layer < N_LAYERS; layer++)
        clv_free(images->layer[layer].bytes);
    *images = (struct item_images){0};
}

static enum difference difference_of(uint8_t truth, uint8_t label)
{
    if (truth == CLV_VOID)
        return DIFFERENCE_VOID;
    if (truth == label)
        return label ? DIFFERENCE_FOREGROUND : DIFFERENCE_BACKGROUND;
    if (!truth)
        return DIFFERENCE_FALSE_ALARM;
    return label && label != CLV_VOID ? DIFFERENCE_WRONG_LABEL : DIFFERENCE_MISS;
}

static enum clv_status encode_jpeg(struct item_images *images, enum layer layer, const struct clv_image *image,
                                   struct clv_error *err)
{
    images->layer[layer].type = "image/jpeg";
    return clv_jpeg_encode(&images->layer[layer].bytes, &images->layer[layer].size, image, JPEG_QUALITY, err);
}

static enum clv_status encode_labels(struct item_images *images, enum layer layer, const uint8_t *labels,
                                     const uint8_t (*palette)[3], struct clv_error *err)
{
    uint8_t highest = 0;
    for (size_t i = 0; i < (size_t)images->width * (size_t)images->height; i++)
        highest = labels[i] > highest ? labels[i] : highest;
    images->layer[layer].type = "image/png";
    const struct label_image image = {images->width, images->height, labels, palette, highest + 1};
    return png_encode_labels(&images->layer[layer].bytes, &images->layer[layer].size, &image, err);
}

/* Computes the size at which the page shows an image. */
static void shown_size(int32_t *shown_width, int32_t *shown_height, int32_t width, int32_t height)
{
    int32_t longest = width > height ? width : height;
    double factor = longest > LONGEST_SIDE_PX ? (double)LONGEST_SIDE_PX / longest : 1;
    *shown_width = int32_within(round(width * factor), 1, INT32_MAX);
    *shown_height = int32_within(round(height * factor), 1, INT32_MAX);
}

/* Encodes the probability map in greys, and over the photo. */
static enum clv_status show_probability(struct item_images *images, struct clv_image *photo,
                                        const struct clv_report_item *item, struct clv_error *err)
{
    uint8_t greys[256][3];
    size_t n = (size_t)photo->width * (size_t)photo->height;
    OWNED_ARRAY uint8_t *values = array_alloc(n, 1);
    NEED(values);
    for (int v = 0; v < 256; v++)
        memset(greys[v], v, 3);
    clv_labels_resize(values, photo->width, photo->height, item->probability, item->image->width, item->image->height);
    MUST(encode_labels(images, LAYER_MASK, values, (const uint8_t(*)[3])greys, err));
    MUST(probability_draw(photo, values, OUTLINE_PX, err));
    return encode_jpeg(images, LAYER_OVERLAY, photo, err);
}

/* Encodes the labels over the photo, alone, and next to the ground truth if there is one. */
static enum clv_status show_labels(struct item_images *images, struct clv_image *photo,
                                   const struct clv_report_item *item, const uint8_t (*palette)[3],
                                   struct clv_error *err)
{
    const struct clv_image *source = item->image;
    int32_t width = images->width, height = images->height;
    size_t n = (size_t)width * (size_t)height;
    OWNED_ARRAY uint8_t *labels = array_alloc(n, 1);
    OWNED_ARRAY uint8_t *truth = array_alloc(n, 1);
    NEED(labels && truth);
    clv_labels_resize(labels, width, height, item->labels, source->width, source->height);
    clv_overlay_draw(photo, labels, palette, TINT, OUTLINE_PX, CLV_VOID);
    MUST(encode_jpeg(images, LAYER_OVERLAY, photo, err));
    MUST(encode_labels(images, LAYER_MASK, labels, palette, err));
    if (!item->truth)
        return CLV_OK;
    clv_labels_resize(truth, width, height, item->truth, source->width, source->height);
    MUST(encode_labels(images, LAYER_TRUTH, truth, palette, err));
    for (size_t i = 0; i < n; i++)
        labels[i] = (uint8_t)difference_of(truth[i], labels[i]);
    return encode_labels(images, LAYER_DIFFERENCE, labels, difference_palette, err);
}

enum clv_status item_images_make(struct item_images *images, const struct clv_report_item *item,
                                 const uint8_t (*palette)[3], struct clv_error *err)
{
    const struct clv_image *source = item->image;
    OWNED(item_images_release) struct item_images result = {0};
    shown_size(&result.width, &result.height, source->width, source->height);
    OWNED(clv_image_release) struct clv_image photo = {0};
    MUST(clv_image_resize(&photo, source, result.width, result.height, err));
    MUST(encode_jpeg(&result, LAYER_IMAGE, &photo, err));
    if (item->probability)
        MUST(show_probability(&result, &photo, item, err));
    if (item->labels)
        MUST(show_labels(&result, &photo, item, palette, err));
    *images = TAKE(result);
    return CLV_OK;
}

void report_picture_release(struct report_picture *self)
{
    clv_image_release(&self->image);
    array_free(self->labels);
    *self = (struct report_picture){0};
}

enum clv_status report_picture_init(struct report_picture *self, int32_t width, int32_t height, struct clv_error *err)
{
    OWNED(report_picture_release) struct report_picture result = {0};
    int32_t shown_width, shown_height;
    shown_size(&shown_width, &shown_height, width, height);
    MUST(clv_image_new(&result.image, shown_width, shown_height, 3, err));
    NEED(result.labels = array_zalloc((size_t)shown_width, (size_t)shown_height));
    *self = TAKE(result);
    return CLV_OK;
}

int32_t report_picture_halo(int32_t width, int32_t height)
{
    int32_t shown_width, shown_height;
    shown_size(&shown_width, &shown_height, width, height);
    return image_shrink_halo(height, shown_height);
}

enum clv_status report_picture_add(struct report_picture *self, const struct image_band *band, struct clv_error *err)
{
    labels_shrink_band(self->labels, self->image.width, self->image.height, band);
    return image_shrink_band(&self->image, &self->n_rows, band, err);
}
