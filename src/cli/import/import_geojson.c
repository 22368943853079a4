/* A layer of polygons in the pixels of an image that lies on Earth. */
#include <string.h>

#include "base/base.h"
#include "cli/import/import.h"
#include "data/boxes/boxes.h"
#include "data/shapes/shapes.h"
#include "image/raster/raster.h"

void import_unlay(struct clv_image_boxes *laid)
{
    for (size_t i = 0; i < laid->n_boxes; i++)
        outline_free(laid->boxes[i].outline);
    array_free(laid->boxes);
    *laid = (struct clv_image_boxes){0};
}

/* The polygon, if it is not outside of the image. */
static enum clv_status lay_one(struct clv_image_boxes *laid, const struct clv_box *box, const double pixel_of[6],
                               struct clv_error *err)
{
    struct clv_outline *outline = outline_new();
    struct clv_box placed = *box;
    enum clv_status status = outline ? CLV_OK : fail_memory(err);
    const double(*points)[2] = (const double(*)[2])box->outline->points;
    const double *m = pixel_of;
    for (size_t k = 0, i = 0; k < box->outline->n_polygons && status == CLV_OK; k++) {
        for (; i < box->outline->polygon_ends[k] && status == CLV_OK; i++)
            status = outline_add_point(outline, m[0] * points[i][0] + m[1] * points[i][1] + m[2],
                                       m[3] * points[i][0] + m[4] * points[i][1] + m[5], err);
        TRY(outline_end_polygon(outline, err));
    }
    TRY(outline_bound(&placed, outline, err));
    if (status == CLV_OK && placed.x < laid->width && placed.y < laid->height && placed.x + placed.width > 0 &&
        placed.y + placed.height > 0) {
        outline->has_rings = true;
        placed.outline = outline;
        laid->boxes[laid->n_boxes++] = placed;
    } else {
        outline_free(outline);
    }
    return status;
}

/* The place's map from coordinates to pixels. */
static enum clv_status find_pixels(double pixel_of[6], const struct raster_place *place,
                                   const struct clv_image_boxes *layer, struct clv_error *err)
{
    static const double as_it_is[6] = {1, 0, 0, 0, 1, 0};
    bool ignored;
    int epsg = raster_place_epsg(&ignored, place), other = layer->n_boxes ? layer->boxes[0].outline->epsg : 0;
    if (epsg && other && epsg != other)
        return fail(err, CLV_ERR_DATA,
                    "its coordinates are EPSG:%d, those of %s are EPSG:%d; `ogr2ogr -t_srs EPSG:%d' converts them",
                    epsg, layer->source, other, epsg);
    if (raster_place_inverse(pixel_of, place))
        return CLV_OK;
    memcpy(pixel_of, as_it_is, sizeof as_it_is);
    return CLV_OK;
}

enum clv_status import_check_places(const struct clv_set *images, struct clv_error *err)
{
    size_t n_without = 0, first = 0;
    for (size_t i = 0; i < images->n_items; i++) {
        struct raster_place place;
        double ignored[6];
        raster_find_place(&place, images->items[i].image);
        if (!raster_place_inverse(ignored, &place) && !n_without++)
            first = i;
        raster_place_release(&place);
    }
    FAIL_IF(n_without, CLV_ERR_DATA,
            "%s: does not say where on Earth it lies, nor do %zu others of the %zu images; a layer of several images "
            "needs that: --images FOLDER takes those of FOLDER alone. A folder of a GeoJSON an image has pixels as "
            "coordinates",
            images->items[first].image, n_without - 1, images->n_items);
    return CLV_OK;
}

enum clv_status import_lay(struct clv_image_boxes *laid, const struct clv_image_boxes *layer, const char *image,
                           const struct clv_image_limits *limits, struct clv_error *err)
{
    struct raster_place place;
    double pixel_of[6];
    *laid = (struct clv_image_boxes){.image = layer->image, .source = layer->source};
    laid->n_skipped = layer->n_boxes + layer->n_skipped > 0; /* an image that none of them meets is left out */
    MUST(clv_image_read_size(&laid->width, &laid->height, image, limits, err));
    raster_find_place(&place, image);
    enum clv_status status = find_pixels(pixel_of, &place, layer, err);
    laid->boxes = array_alloc(layer->n_boxes, sizeof *laid->boxes);
    TRY_IF(!laid->boxes, fail_memory(err));
    for (size_t i = 0; i < layer->n_boxes && status == CLV_OK; i++)
        status = lay_one(laid, &layer->boxes[i], pixel_of, err);
    raster_place_release(&place);
    return status == CLV_ERR_DATA ? fail_within(err, status, image) : status;
}
