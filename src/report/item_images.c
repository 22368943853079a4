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
    [DIFFERENCE_GROUND] = {250, 250, 248},     [DIFFERENCE_FIGURE] = {188, 190, 192},
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
        return label ? DIFFERENCE_FIGURE : DIFFERENCE_GROUND;
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

/* The map in greys, and over the photo. */
static enum clv_status show_probability(struct item_images *images, struct clv_image *photo,
                                        const struct clv_report_item *item, struct clv_error *err)
{
    uint8_t greys[256][3];
    size_t n = (size_t)photo->width * (size_t)photo->height;
    uint8_t *values = array_alloc(n, 1);
    MUST_IF(!values, fail_memory(err));
    for (int v = 0; v < 256; v++)
        memset(greys[v], v, 3);
    clv_labels_resize(values, photo->width, photo->height, item->probability, item->image->width, item->image->height);
    enum clv_status status = encode_labels(images, LAYER_MASK, values, (const uint8_t(*)[3])greys, err);
    TRY(probability_draw(photo, values, OUTLINE_PX, err));
    TRY(encode_jpeg(images, LAYER_OVERLAY, photo, err));
    array_free(values);
    return status;
}

static int32_t shrunk_side(int32_t side, double factor)
{
    return int32_within(round(side * factor), 1, INT32_MAX);
}

enum clv_status item_images_make(struct item_images *images, const struct clv_report_item *item,
                                 const uint8_t (*palette)[3], struct clv_error *err)
{
    const struct clv_image *source = item->image;
    int32_t longest = source->width > source->height ? source->width : source->height;
    double factor = longest > LONGEST_SIDE_PX ? (double)LONGEST_SIDE_PX / longest : 1;
    struct item_images made = {.width = shrunk_side(source->width, factor),
                               .height = shrunk_side(source->height, factor)};
    size_t n = (size_t)made.width * (size_t)made.height;
    struct clv_image photo = {0};
    uint8_t *labels = array_alloc(n, 1), *truth = array_alloc(n, 1);
    enum clv_status status = labels && truth ? CLV_OK : fail_memory(err);
    TRY(clv_image_resize(&photo, source, made.width, made.height, err));
    TRY(encode_jpeg(&made, LAYER_IMAGE, &photo, err));
    TRY_IF(item->probability, show_probability(&made, &photo, item, err));
    if (status != CLV_OK || !item->labels)
        goto done;

    clv_labels_resize(labels, made.width, made.height, item->labels, source->width, source->height);
    clv_overlay_draw(&photo, labels, palette, TINT, OUTLINE_PX, CLV_VOID);
    status = encode_jpeg(&made, LAYER_OVERLAY, &photo, err);
    TRY(encode_labels(&made, LAYER_MASK, labels, palette, err));
    if (status == CLV_OK && item->truth) {
        clv_labels_resize(truth, made.width, made.height, item->truth, source->width, source->height);
        status = encode_labels(&made, LAYER_TRUTH, truth, palette, err);
        for (size_t i = 0; i < n; i++)
            labels[i] = (uint8_t)difference_of(truth[i], labels[i]);
        TRY(encode_labels(&made, LAYER_DIFFERENCE, labels, difference_palette, err));
    }
done:
    DELIVER(images, made, item_images_release(&made));
    clv_image_release(&photo);
    arrays_free(labels, truth);
    return status;
}
