/* Reads CVAT's XML ("CVAT for images 1.1"): annotations / image with attributes name, width, height and subset, and
 * inside it box (xtl, ytl, xbr, ybr), polygon (points "x,y;x,y"), ellipse (cx, cy, rx, ry) and mask (rle, left, top,
 * width, height), each with a label. `rotation` turns boxes and ellipses around their centre. Points, polylines,
 * cuboids and skeletons become void. Tracks of videos are refused. Start at boxes_parse_cvat. */
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/shapes/shapes.h"

#define IMAGE_PATH    "/annotations/image"
#define SKELETON_PATH IMAGE_PATH "/skeleton"

struct cvat {
    struct boxes_builder *builder;
    size_t n_shapes;            /* number of shapes in the file so far */
    struct annotation skeleton; /* the current skeleton, with the bounding box of its points */
};

static const double pixels[2] = {1, 1};

/* Adds an image. The export of a project has a folder per subset, in which names may be equal, so the subset precedes
 * the name. */
static enum clv_status begin_image(struct cvat *cvat, const struct xml_location *location,
                                   const char *const *attributes, struct clv_error *err)
{
    const char *name = xml_attribute(attributes, "name"), *subset = xml_attribute(attributes, "subset");
    const char *width = xml_attribute(attributes, "width"), *height = xml_attribute(attributes, "height");
    int32_t sides[2] = {0, 0};
    FAIL_IF(!name || !*name, CLV_ERR_DATA, "%s: line %lu: an image without a name", location->source, location->line);
    if ((width && *width && !parse_int32(width, &sides[0])) || (height && *height && !parse_int32(height, &sides[1])) ||
        sides[0] < 0 || sides[1] < 0)
        return fail(err, CLV_ERR_DATA, "%s: line %lu: \"%s\" by \"%s\" is not a size of an image", location->source,
                    location->line, width ? width : "", height ? height : "");
    bool has_subset = subset && *subset;
    OWNED_ARRAY char *joined = has_subset ? path_join(subset, name) : string_copy(name);
    NEED(joined);
    MUST(boxes_add_image(cvat->builder, joined, location->source, err));
    struct clv_image_boxes *entry = &cvat->builder->boxes.images[cvat->builder->boxes.n_images - 1];
    entry->width = sides[0];
    entry->height = sides[1];
    return has_subset ? boxes_split_image(cvat->builder, subset, err) : CLV_OK;
}

/* Reads the numbers of attributes; returns false if one is missing or not a number. */
static bool get_numbers(double *values, const char *const *names, size_t n, const char *const *attributes)
{
    for (size_t i = 0; i < n; i++) {
        const char *text = xml_attribute(attributes, names[i]);
        if (!text || !parse_double(text, &values[i]))
            return false;
    }
    return true;
}

/* Reads points "x,y;x,y" into the annotation's box and, if not NULL, the outline. *n counts them. Malformed text sets a
 * fault. */
static enum clv_status read_points(struct annotation *annotation, struct clv_outline *outline, size_t *n,
                                   const char *points, struct clv_error *err)
{
    for (const char *cursor = points ? points : ""; *cursor;) {
        char pair[128];
        double x, y;
        size_t length = strcspn(cursor, ";");
        char *comma = NULL;
        if (length < sizeof pair) {
            memcpy(pair, cursor, length);
            pair[length] = 0;
            comma = strchr(pair, ',');
        }
        if (comma)
            *comma = 0;
        if (!comma || !parse_double(pair, &x) || !parse_double(comma + 1, &y)) {
            annotation_blame(annotation, CLV_ANNOTATION_OUTLINE, "point %zu is not two numbers, x,y", *n + 1);
            return CLV_OK;
        }
        annotation_extend(annotation, x, y);
        if (outline)
            MUST(outline_add_point(outline, x, y, err));
        ++*n;
        cursor += length + (cursor[length] == ';');
    }
    return CLV_OK;
}

static enum clv_status read_polygon(struct annotation *annotation, const char *const *attributes, struct clv_error *err)
{
    OWNED(outline_drop) struct clv_outline *outline = outline_new();
    size_t n = 0;
    NEED(outline);
    MUST(read_points(annotation, outline, &n, xml_attribute(attributes, "points"), err));
    if (n < 3)
        annotation_blame(annotation, CLV_ANNOTATION_OUTLINE, "a polygon without three points");
    if (annotation->fault)
        return CLV_OK;
    MUST(outline_end_polygon(outline, err));
    annotation->has_box = false; /* annotation_add computes it from the outline */
    annotation->outline = TAKE(outline);
    return CLV_OK;
}

static enum clv_status read_mask(struct annotation *annotation, const char *const *attributes, struct clv_error *err)
{
    static const char *const names[] = {"left", "top", "width", "height"};
    double sides[4];
    const char *runs = xml_attribute(attributes, "rle");
    struct clv_error why = {0};
    if (!get_numbers(sides, names, 4, attributes)) {
        annotation_blame(annotation, CLV_ANNOTATION_RUNS, "a mask without its runs or its place");
        return CLV_OK;
    }
    for (int i = 0; i < 4; i++)
        if (!(sides[i] >= -1e6 && sides[i] <= 1e6 && number_is_int32(sides[i]))) {
            annotation_blame(annotation, CLV_ANNOTATION_RUNS, "a mask whose place is out of range");
            return CLV_OK;
        }
    annotation_state_box(annotation, sides);
    OWNED(outline_drop) struct clv_outline *outline = outline_new();
    NEED(outline);
    outline->order = RLE_BY_ROWS;
    int32_t whole[4];
    for (int i = 0; i < 4; i++)
        whole[i] = int32_within(sides[i], INT32_MIN, INT32_MAX);
    outline->frame = (struct rle_frame){whole[0], whole[1], whole[2], whole[3]};
    enum clv_status status = runs ? rle_parse_numbers(&outline->counts, &outline->n_counts, runs, &why) : CLV_ERR_DATA;
    if (status == CLV_ERR_MEMORY)
        return fail_memory(err);
    if (status)
        annotation_blame(annotation, CLV_ANNOTATION_RUNS, "%s",
                         runs ? why.message : "a mask without its runs or its place");
    else
        annotation->outline = TAKE(outline);
    return CLV_OK;
}

/* Reads the angle of a shape in degrees, 0 if it has none; returns false if it is not a number. */
static bool get_rotation(double *degrees, const char *const *attributes)
{
    static const char *const name[] = {"rotation"};
    *degrees = 0;
    return !xml_attribute(attributes, *name) || get_numbers(degrees, name, 1, attributes);
}

static enum clv_status read_box(struct annotation *annotation, const char *const *attributes, struct clv_error *err)
{
    static const char *const corners[] = {"xtl", "ytl", "xbr", "ybr"};
    double corner[4], degrees;
    if (!get_numbers(corner, corners, 4, attributes)) {
        annotation_blame(annotation, CLV_ANNOTATION_BOX, "a box without its corners");
        return CLV_OK;
    }
    annotation_state_box(annotation, (double[]){corner[0], corner[1], corner[2] - corner[0], corner[3] - corner[1]});
    if (!get_rotation(&degrees, attributes)) {
        annotation->has_box = false;
        annotation_blame(annotation, CLV_ANNOTATION_SHAPE, "a box turned by no number");
    } else if (degrees != 0 && annotation->box.width > 0 && annotation->box.height > 0) {
        const double centre[2] = {(corner[0] + corner[2]) / 2, (corner[1] + corner[3]) / 2};
        annotation->has_box = false;
        MUST(outline_of_rectangle(&annotation->outline, &annotation->box, degrees, centre, pixels, err));
    }
    return CLV_OK;
}

static enum clv_status read_ellipse(struct annotation *annotation, const char *const *attributes, struct clv_error *err)
{
    static const char *const names[] = {"cx", "cy", "rx", "ry"};
    double at[4], degrees;
    if (!get_numbers(at, names, 4, attributes) || !get_rotation(&degrees, attributes)) {
        annotation_blame(annotation, CLV_ANNOTATION_SHAPE, "an ellipse without its centre, radii or angle");
        return CLV_OK;
    }
    return outline_of_ellipse(&annotation->outline, at, at + 2, degrees, pixels, err);
}

static enum clv_status read_line(struct annotation *annotation, const char *const *attributes, struct clv_error *err)
{
    size_t n = 0;
    MUST(read_points(annotation, NULL, &n, xml_attribute(attributes, "points"), err));
    annotation_blame(annotation, CLV_ANNOTATION_LINE, "a polyline");
    return CLV_OK;
}

static enum clv_status read_dots(struct annotation *annotation, const char *const *attributes, struct clv_error *err)
{
    size_t n = 0;
    MUST(read_points(annotation, NULL, &n, xml_attribute(attributes, "points"), err));
    annotation_blame(annotation, CLV_ANNOTATION_POINT, n == 1 ? "a point" : "points");
    return CLV_OK;
}

/* Reads the corners of two faces, xtl1, ytl1 to xbr2, ybr2, as a box. */
static enum clv_status read_cuboid(struct annotation *annotation, const char *const *attributes, struct clv_error *err)
{
    static const char *const corners[][2] = {{"xtl1", "ytl1"}, {"xbl1", "ybl1"}, {"xtr1", "ytr1"}, {"xbr1", "ybr1"},
                                             {"xtl2", "ytl2"}, {"xbl2", "ybl2"}, {"xtr2", "ytr2"}, {"xbr2", "ybr2"}};
    double at[2];
    (void)err;
    for (size_t i = 0; i < sizeof corners / sizeof *corners; i++)
        if (get_numbers(at, corners[i], 2, attributes))
            annotation_extend(annotation, at[0], at[1]);
    annotation_blame(annotation, CLV_ANNOTATION_SHAPE, "a cuboid");
    return CLV_OK;
}

/* Begins a skeleton; its points follow as elements inside it. */
static enum clv_status begin_skeleton(struct annotation *annotation, const char *const *attributes,
                                      struct clv_error *err)
{
    (void)attributes, (void)err;
    annotation_blame(annotation, CLV_ANNOTATION_SHAPE, "a skeleton");
    return CLV_OK;
}

static const struct cvat_shape {
    const char *path;
    enum clv_status (*read)(struct annotation *annotation, const char *const *attributes, struct clv_error *err);
} shapes[] = {
    {IMAGE_PATH "/box", read_box},         {IMAGE_PATH "/polygon", read_polygon}, {IMAGE_PATH "/mask", read_mask},
    {IMAGE_PATH "/ellipse", read_ellipse}, {IMAGE_PATH "/polyline", read_line},   {IMAGE_PATH "/points", read_dots},
    {IMAGE_PATH "/cuboid", read_cuboid},   {SKELETON_PATH, begin_skeleton},
};

static enum clv_status add_shape(struct cvat *cvat, const struct cvat_shape *shape, const struct xml_location *location,
                                 const char *const *attributes, struct clv_error *err)
{
    const char *label = xml_attribute(attributes, "label"), *group = xml_attribute(attributes, "group_id");
    struct annotation annotation = {.index = ++cvat->n_shapes, .line = location->line, .label = label ? label : ""};
    int64_t number;
    MUST(shape->read(&annotation, attributes, err));
    if (shape->read == begin_skeleton) {
        annotation.label = ""; /* the attribute is freed before the annotation is used */
        cvat->skeleton = annotation;
        return CLV_OK;
    }
    if (annotation.outline && group && parse_int64(group, &number))
        annotation.outline->group = number > 0 ? number : number - 1;
    return annotation_add(cvat->builder, &annotation, err);
}

static enum clv_status begin(void *context, const struct xml_location *location, const char *const *attributes,
                             struct clv_error *err)
{
    struct cvat *cvat = context;
    if (!strchr(location->path + 1, '/') && strcmp(location->path, "/annotations") != 0)
        return fail(err, CLV_ERR_DATA, "%s: the document is a <%s>, not <annotations>", location->source,
                    location->path + 1);
    if (strcmp(location->path, IMAGE_PATH) == 0)
        return begin_image(cvat, location, attributes, err);
    FAIL_IF(strcmp(location->path, "/annotations/track") == 0, CLV_ERR_DATA,
            "%s: line %lu: a track of a video; export it as \"CVAT for images\"", location->source, location->line);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(location->path, shapes[i].path) == 0)
            return add_shape(cvat, &shapes[i], location, attributes, err);
    if (strcmp(location->path, SKELETON_PATH "/points") == 0)
        return read_points(&cvat->skeleton, NULL, &(size_t){0}, xml_attribute(attributes, "points"), err);
    return CLV_OK;
}

static enum clv_status end(void *context, const struct xml_location *location, const char *text, struct clv_error *err)
{
    struct cvat *cvat = context;
    (void)text;
    return strcmp(location->path, SKELETON_PATH) == 0 ? annotation_add(cvat->builder, &cvat->skeleton, err) : CLV_OK;
}

/* CVAT's root element is <annotations>, that of VOC <annotation>. */
bool boxes_is_cvat(const struct boxes_file *file)
{
    static const char name[] = "<annotation";
    const char *found = boxes_is_xml(file) ? memmem(file->bytes, file->size, name, sizeof name - 1) : NULL;
    return found && found[sizeof name - 1] == 's';
}

enum clv_status boxes_parse_cvat(struct boxes_builder *builder, const struct boxes_file *file, struct clv_error *err)
{
    static const struct xml_handler handler = {begin, end, true}; /* texts, such as drawings of skeletons, are long */
    struct cvat cvat = {.builder = builder};
    return xml_parse(&handler, &cvat, file->source, file->bytes, file->size, err);
}
