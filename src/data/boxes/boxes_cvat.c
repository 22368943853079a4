/* Objects in CVAT's own XML ("CVAT for images 1.1"): annotations / image with attributes name, width, height, and in it
 * box (xtl, ytl, xbr, ybr), polygon (points "x,y;x,y"), ellipse (cx, cy, rx, ry), mask (rle, left, top, width, height),
 * each with a label. Tracks of videos, lines and points are skipped. */
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/shapes/shapes.h"

#define IMAGE_PATH "/annotations/image"

struct cvat {
    struct boxes_builder *builder;
    size_t n_shapes; /* of the file */
};

static enum clv_status begin_image(struct cvat *cvat, const struct xml_place *place, const char *const *attributes,
                                   struct clv_error *err)
{
    const char *name = xml_attribute(attributes, "name");
    const char *width = xml_attribute(attributes, "width"), *height = xml_attribute(attributes, "height");
    int32_t sides[2] = {0, 0};
    FAIL_IF(!name || !*name, CLV_ERR_DATA, "%s: line %lu: an image without a name", place->source, place->line);
    if ((width && !parse_int32(width, &sides[0])) || (height && !parse_int32(height, &sides[1])) || sides[0] < 0 ||
        sides[1] < 0)
        return fail(err, CLV_ERR_DATA, "%s: line %lu: \"%s\" by \"%s\" is no size of an image", place->source,
                    place->line, width ? width : "", height ? height : "");
    enum clv_status status = boxes_add_image(cvat->builder, name, place->source, err);
    if (status == CLV_OK) {
        struct clv_image_boxes *entry = &cvat->builder->boxes.images[cvat->builder->boxes.n_images - 1];
        entry->width = sides[0];
        entry->height = sides[1];
    }
    return status;
}

/* Numbers of attributes; false if one is missing or is none. */
static bool get_numbers(double *values, const char *const *names, size_t n, const char *const *attributes)
{
    for (size_t i = 0; i < n; i++) {
        const char *text = xml_attribute(attributes, names[i]);
        if (!text || !parse_double(text, &values[i]))
            return false;
    }
    return true;
}

static enum clv_status skip(struct cvat *cvat, const struct xml_place *place, const char *what, struct clv_error *err)
{
    return boxes_skip(cvat->builder, err, "%s: line %lu: %s", place->source, place->line, what);
}

/* "x,y;x,y" into the outline; *is_good false: they are no points. */
static enum clv_status read_points(struct clv_outline *outline, bool *is_good, const char *points,
                                   struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    size_t n = 0;
    *is_good = false;
    for (const char *cursor = points; *cursor && status == CLV_OK; n++) {
        char pair[128];
        double x, y;
        size_t length = strcspn(cursor, ";");
        if (length >= sizeof pair)
            return CLV_OK;
        memcpy(pair, cursor, length);
        pair[length] = 0;
        char *comma = strchr(pair, ',');
        if (!comma)
            return CLV_OK;
        *comma = 0;
        if (!parse_double(pair, &x) || !parse_double(comma + 1, &y))
            return CLV_OK;
        status = outline_add_point(outline, x, y, err);
        cursor += length + (cursor[length] == ';');
    }
    TRY(outline_end_polygon(outline, err));
    *is_good = n >= 3;
    return status;
}

static enum clv_status add_polygon(struct cvat *cvat, const struct xml_place *place, const char *label,
                                   const char *const *attributes, struct clv_error *err)
{
    const char *points = xml_attribute(attributes, "points");
    struct clv_outline *outline = outline_new();
    struct clv_box box = {.place = cvat->n_shapes};
    bool is_good = false;
    enum clv_status status = outline ? read_points(outline, &is_good, points ? points : "", err) : fail_memory(err);
    if (status == CLV_OK && is_good)
        return boxes_add_outline(cvat->builder, outline, &box, label, err);
    outline_free(outline);
    return status == CLV_OK ? skip(cvat, place, "a polygon without three points", err) : status;
}

static enum clv_status add_mask(struct cvat *cvat, const struct xml_place *place, const char *label,
                                const char *const *attributes, struct clv_error *err)
{
    static const char *const names[] = {"left", "top", "width", "height"};
    double sides[4];
    const char *runs = xml_attribute(attributes, "rle");
    struct clv_box box = {.place = cvat->n_shapes};
    if (!runs || !get_numbers(sides, names, 4, attributes))
        return skip(cvat, place, "a mask without its runs or its place", err);
    for (int i = 0; i < 4; i++)
        if (!(sides[i] >= -1e6 && sides[i] <= 1e6 && number_is_int32(sides[i])))
            return skip(cvat, place, "a mask whose place is out of range", err);
    struct clv_outline *outline = outline_new();
    MUST_IF(!outline, fail_memory(err));
    outline->order = RLE_BY_ROWS;
    int32_t whole[4];
    for (int i = 0; i < 4; i++)
        whole[i] = int32_within(sides[i], INT32_MIN, INT32_MAX);
    outline->frame = (struct rle_frame){whole[0], whole[1], whole[2], whole[3]};
    struct clv_error why = {0};
    enum clv_status status = rle_parse_numbers(&outline->counts, &outline->n_counts, runs, &why);
    if (status == CLV_OK)
        return boxes_add_outline(cvat->builder, outline, &box, label, err);
    outline_free(outline);
    return status == CLV_ERR_DATA ? skip(cvat, place, why.message, err) : fail_memory(err);
}

static enum clv_status add_box(struct cvat *cvat, const struct xml_place *place, const char *label,
                               const char *const *attributes, struct clv_error *err)
{
    static const char *const corners[] = {"xtl", "ytl", "xbr", "ybr"}, *const turned[] = {"rotation"};
    double corner[4], angle = 0;
    if (!get_numbers(corner, corners, 4, attributes))
        return skip(cvat, place, "a box without its corners", err);
    if (xml_attribute(attributes, "rotation") && (!get_numbers(&angle, turned, 1, attributes) || angle != 0))
        return skip(cvat, place, "a box that is turned", err);
    struct clv_box box = {corner[0], corner[1], corner[2] - corner[0], corner[3] - corner[1], .place = cvat->n_shapes};
    return boxes_add(cvat->builder, &box, label, NULL, err);
}

static enum clv_status add_ellipse(struct cvat *cvat, const struct xml_place *place, const char *label,
                                   const char *const *attributes, struct clv_error *err)
{
    static const char *const names[] = {"cx", "cy", "rx", "ry"};
    double at[4];
    if (!get_numbers(at, names, 4, attributes))
        return skip(cvat, place, "an ellipse without its centre or radii", err);
    struct clv_box box = {at[0] - at[2], at[1] - at[3], 2 * at[2], 2 * at[3], .place = cvat->n_shapes};
    return boxes_add(cvat->builder, &box, label, NULL, err);
}

static enum clv_status begin(void *context, const struct xml_place *place, const char *const *attributes,
                             struct clv_error *err)
{
    static const struct {
        const char *path;
        enum clv_status (*add)(struct cvat *cvat, const struct xml_place *place, const char *label,
                               const char *const *attributes, struct clv_error *err);
    } shapes[] = {{IMAGE_PATH "/box", add_box},
                  {IMAGE_PATH "/polygon", add_polygon},
                  {IMAGE_PATH "/mask", add_mask},
                  {IMAGE_PATH "/ellipse", add_ellipse}};
    static const char *const others[] = {IMAGE_PATH "/polyline", IMAGE_PATH "/points", IMAGE_PATH "/cuboid"};
    struct cvat *cvat = context;
    if (!strchr(place->path + 1, '/') && strcmp(place->path, "/annotations") != 0)
        return fail(err, CLV_ERR_DATA, "%s: the document is a <%s>, not <annotations>", place->source, place->path + 1);
    if (strcmp(place->path, IMAGE_PATH) == 0)
        return begin_image(cvat, place, attributes, err);
    FAIL_IF(strcmp(place->path, "/annotations/track") == 0, CLV_ERR_DATA,
            "%s: line %lu: a track of a video; export it as \"CVAT for images\"", place->source, place->line);
    const char *label = xml_attribute(attributes, "label");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(place->path, shapes[i].path) == 0) {
            cvat->n_shapes++;
            return shapes[i].add(cvat, place, label ? label : "", attributes, err);
        }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(place->path, others[i]) == 0) {
            cvat->n_shapes++;
            return skip(cvat, place, "neither box, polygon, mask nor ellipse", err);
        }
    return CLV_OK;
}

static enum clv_status end(void *context, const struct xml_place *place, const char *text, struct clv_error *err)
{
    (void)context, (void)place, (void)text, (void)err;
    return CLV_OK;
}

enum clv_status boxes_parse_cvat(struct boxes_builder *builder, const char *source, const char *bytes, size_t size,
                                 struct clv_error *err)
{
    static const struct xml_handler handler = {begin, end};
    struct cvat cvat = {.builder = builder};
    return xml_parse(&handler, &cvat, source, bytes, size, err);
}
