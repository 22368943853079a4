/* The images of one report item, shrunk and encoded. */
#ifndef REPORT_ITEM_IMAGES_H
#define REPORT_ITEM_IMAGES_H

#include "report/report.h"

/* In the order of the page's columns and of its keys 1..5. */
enum layer { LAYER_IMAGE, LAYER_OVERLAY, LAYER_MASK, LAYER_TRUTH, LAYER_DIFFERENCE, N_LAYERS };

struct item_images {
    int32_t width, height; /* as shown */
    struct {
        const char *type; /* "image/jpeg" or "image/png" */
        uint8_t *bytes;   /* NULL where there is no truth */
        size_t size;
    } layer[N_LAYERS];
};
enum clv_status item_images_make(struct item_images *images, const struct clv_report_item *item,
                                 const uint8_t (*palette)[3], struct clv_error *err) CLV_CHECK;
void item_images_release(struct item_images *images);

/* Colours of the difference image, distinguished by every kind of colour vision (Okabe and Ito 2008). */
enum difference {
    DIFFERENCE_GROUND,
    DIFFERENCE_FIGURE,
    DIFFERENCE_FALSE_ALARM,
    DIFFERENCE_MISS,
    DIFFERENCE_WRONG_LABEL,
    DIFFERENCE_VOID,
    N_DIFFERENCES
};
extern const uint8_t difference_palette[N_DIFFERENCES][3];

#endif
