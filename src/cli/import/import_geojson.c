/* Converts the polygons of a GeoJSON layer to the pixels of an image, by its georeference, and drops polygons outside
 * the image. Start at import_lay. */
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
    for (size_t i = 0; i < laid->n_voids; i++)
        outline_free(laid->voids[i].outline);
    arrays_free(laid->boxes, laid->voids);
    *laid = (struct clv_image_boxes){0};
}

static enum clv_status add_laid_point(struct clv_outline *outline, const double m[6], double x, double y,
                                      struct clv_error *err)
{
    return outline_add_point(outline, m[0] * x + m[1] * y + m[2], m[3] * x + m[4] * y + m[5], err);
}

/* Converts a polygon, or the box of another shape, to pixels. */
static enum clv_status lay_outline(struct clv_outline *outline, const struct clv_box *box, const double pixel_of[6],
                                   struct clv_error *err)
{
    const double sides[2][2] = {{box->x, box->x + box->width}, {box->y, box->y + box->height}};
    for (int k = 0; k < 4 && !box->outline; k++)
        MUST(add_laid_point(outline, pixel_of, sides[0][k == 1 || k == 2], sides[1][k > 1], err));
    if (!box->outline)
        return outline_end_polygon(outline, err);
    const double(*points)[2] = (const double(*)[2])box->outline->points;
    for (size_t k = 0, i = 0; k < box->outline->n_polygons; k++) {
        for (; i < box->outline->polygon_ends[k]; i++)
            MUST(add_laid_point(outline, pixel_of, points[i][0], points[i][1], err));
        MUST(outline_end_polygon(outline, err));
    }
    return CLV_OK;
}

/* Adds the polygon to boxes[*n] if it intersects the image. */
static enum clv_status lay_one(struct clv_box *boxes, size_t *n, const struct clv_image_boxes *laid,
                               const struct clv_box *box, const double pixel_of[6], struct clv_error *err)
{
    OWNED(outline_drop) struct clv_outline *outline = outline_new();
    struct clv_box placed = *box;
    NEED(outline);
    MUST(lay_outline(outline, box, pixel_of, err));
    MUST(outline_bound(&placed, outline, err));
    if (!(placed.x < laid->width && placed.y < laid->height && placed.x + placed.width > 0 &&
          placed.y + placed.height > 0))
        return CLV_OK;
    outline->has_rings = true;
    placed.outline = placed.width > 0 && placed.height > 0 ? TAKE(outline) : NULL;
    boxes[(*n)++] = placed;
    return CLV_OK;
}

/* Finds the affine map from coordinates to pixels: the inverse of the georeference's, or the identity without one. */
static enum clv_status find_pixels(double pixel_of[6], const struct georeference *georeference,
                                   const struct clv_image_boxes *layer, struct clv_error *err)
{
    static const double identity[6] = {1, 0, 0, 0, 1, 0};
    bool ignored;
    int epsg = georeference_epsg(&ignored, georeference), other = layer->n_boxes ? layer->boxes[0].outline->epsg : 0;
    if (epsg && other && epsg != other)
        return fail(err, CLV_ERR_DATA,
                    "its coordinates are EPSG:%d, those of %s are EPSG:%d; `ogr2ogr -t_srs EPSG:%d' converts them",
                    epsg, layer->source, other, epsg);
    if (georeference_inverse(pixel_of, georeference))
        return CLV_OK;
    memcpy(pixel_of, identity, sizeof identity);
    return CLV_OK;
}

enum clv_status import_check_georeferences(const struct clv_set *images, struct clv_error *err)
{
    size_t n_without = 0, first = 0;
    for (size_t i = 0; i < images->n_items; i++) {
        struct georeference georeference;
        double ignored[6];
        georeference_find(&georeference, images->items[i].image);
        if (!georeference_inverse(ignored, &georeference) && !n_without++)
            first = i;
        georeference_release(&georeference);
    }
    FAIL_IF(n_without, CLV_ERR_DATA,
            "%s: does not say where on Earth it lies, nor do %zu others of the %zu images; a layer of several images "
            "needs that: --images FOLDER takes those of FOLDER alone. A folder of a GeoJSON an image has pixels as "
            "coordinates",
            images->items[first].image, n_without - 1, images->n_items);
    return CLV_OK;
}

/* Converts all polygons of the layer; messages do not name the image. */
static enum clv_status lay_all(struct clv_image_boxes *laid, const struct clv_image_boxes *layer,
                               const struct georeference *georeference, struct clv_error *err)
{
    double pixel_of[6];
    MUST(find_pixels(pixel_of, georeference, layer, err));
    laid->boxes = array_alloc(layer->n_boxes, sizeof *laid->boxes);
    laid->voids = array_alloc(layer->n_voids, sizeof *laid->voids);
    NEED(laid->boxes && laid->voids);
    for (size_t i = 0; i < layer->n_boxes; i++)
        MUST(lay_one(laid->boxes, &laid->n_boxes, laid, &layer->boxes[i], pixel_of, err));
    for (size_t i = 0; i < layer->n_voids; i++)
        MUST(lay_one(laid->voids, &laid->n_voids, laid, &layer->voids[i], pixel_of, err));
    laid->n_marks = layer->n_marks == layer->n_voids ? laid->n_voids : 0; /* all of them, if all are points and lines */
    laid->is_unsure = layer->is_unsure;
    return CLV_OK;
}

enum clv_status import_lay(struct clv_image_boxes *laid, const struct clv_image_boxes *layer, const char *image,
                           const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(georeference_release) struct georeference georeference = {0};
    *laid = (struct clv_image_boxes){.image = layer->image, .source = layer->source};
    laid->n_skipped = layer->n_boxes + layer->n_skipped > 0; /* so that an image without any polygon is skipped */
    MUST(clv_image_read_size(&laid->width, &laid->height, image, limits, err));
    georeference_find(&georeference, image);
    enum clv_status status = lay_all(laid, layer, &georeference, err);
    return status == CLV_ERR_DATA ? fail_within(err, status, image) : status;
}
