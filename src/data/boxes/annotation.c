/* Rules for annotations of all formats. A reader parses an annotation; this file decides what it becomes:
 *
 * - an object: a shape or box with a label. labelme's label `_background_` becomes "background", `__ignore__` void;
 * - void, if it has a fault: the annotation marks something, so the pixels of its shape, or else of its box, may not be
 *   background. Without shape and box, all pixels of the image outside objects are void (is_unsure);
 * - a crowd, which is several objects that are not separated. One connected piece is an object, since CVAT writes each
 *   brush mask as a crowd. Other crowds are labelled if outlines are kept, and void if not.
 *
 * Faults are counted by kind. Start at annotation_add. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/shapes/shapes.h"

static const char *const fault_words[CLV_ANNOTATION_FAULTS][2] = {
    [CLV_ANNOTATION_GOOD] = {"usable annotation", "usable annotations"},
    [CLV_ANNOTATION_RUNS] = {"damaged mask or run lengths", "damaged masks or run lengths"},
    [CLV_ANNOTATION_SIZE] = {"mask of another size than its image", "masks of another size than their image"},
    [CLV_ANNOTATION_OUTLINE] = {"polygon that is none", "polygons that are none"},
    [CLV_ANNOTATION_POINT] = {"point", "points"},
    [CLV_ANNOTATION_LINE] = {"line", "lines"},
    [CLV_ANNOTATION_SHAPE] = {"shape that is not read", "shapes that are not read"},
    [CLV_ANNOTATION_LABEL] = {"annotation without a known label", "annotations without a known label"},
    [CLV_ANNOTATION_BOX] = {"annotation without a usable box", "annotations without a usable box"},
    [CLV_ANNOTATION_CROWD] = {"crowd", "crowds"},
    [CLV_ANNOTATION_NOTHING] = {"mask without a pixel or feature without a place",
                                "masks without a pixel or features without a place"},
    [CLV_ANNOTATION_IGNORED] = {"annotation marked to be ignored", "annotations marked to be ignored"},
    [CLV_ANNOTATION_STRAY] = {"annotation of no image", "annotations of no image"},
    [CLV_ANNOTATION_UNLABELLED] = {"image that nobody labelled yet", "images that nobody labelled yet"},
};

struct counted annotation_faults(enum clv_fault_of_annotation fault, size_t n)
{
    return n_of(n, fault_words[fault][0], fault_words[fault][1]);
}

void annotation_blame(struct annotation *annotation, enum clv_fault_of_annotation fault, const char *format, ...)
{
    va_list args;
    if (annotation->fault)
        return;
    annotation->fault = fault;
    va_start(args, format);
    point_vsnprintf(annotation->why, sizeof annotation->why, format, args);
    va_end(args);
}

void annotation_state_box(struct annotation *annotation, const double sides[4])
{
    annotation->box.x = sides[0];
    annotation->box.y = sides[1];
    annotation->box.width = sides[2];
    annotation->box.height = sides[3];
    annotation->has_box = true;
}

void annotation_extend(struct annotation *annotation, double x, double y)
{
    struct clv_box *box = &annotation->box;
    double right = annotation->has_box ? fmax(box->x + box->width, x) : x;
    double bottom = annotation->has_box ? fmax(box->y + box->height, y) : y;
    box->x = annotation->has_box ? fmin(box->x, x) : x;
    box->y = annotation->has_box ? fmin(box->y, y) : y;
    box->width = right - box->x;
    box->height = bottom - box->y;
    annotation->has_box = true;
}

/* Bounding box of an outline in the units of the image's boxes. Runs are always in pixels. */
static enum clv_status bound_outline(struct clv_box *box, const struct clv_outline *outline,
                                     const struct clv_image_boxes *entry, struct clv_error *err)
{
    MUST(outline_bound(box, outline, err));
    if (outline->counts && entry->is_relative) {
        box->x /= outline->frame.width;
        box->width /= outline->frame.width;
        box->y /= outline->frame.height;
        box->height /= outline->frame.height;
    }
    return CLV_OK;
}

/* Removes an unusable outline. If the file states no box, the box becomes the bounding box of the outline's points. */
static void drop_outline(struct annotation *annotation)
{
    struct clv_outline *outline = annotation->outline;
    struct clv_box bounds;
    struct clv_error ignored = {0};
    if (outline && outline->n_points && !annotation->has_box && outline_bound(&bounds, outline, &ignored) == CLV_OK) {
        annotation_extend(annotation, bounds.x, bounds.y);
        annotation_extend(annotation, bounds.x + bounds.width, bounds.y + bounds.height);
    }
    outline_free(outline);
    annotation->outline = NULL;
}

/* Sets a fault unless the shape is valid: runs are complete and have the image's size, polygons and boxes have an
 * area. */
static enum clv_status check_shape(struct annotation *annotation, const struct clv_image_boxes *entry,
                                   struct clv_error *err)
{
    struct clv_outline *outline = annotation->outline;
    struct clv_box bounds = {0};
    struct clv_error why = {0};
    if (!outline && !annotation->has_box)
        annotation_blame(annotation, CLV_ANNOTATION_BOX, "neither a shape nor a box");
    else if (!outline && !(annotation->box.width > 0 && annotation->box.height > 0))
        annotation_blame(annotation, CLV_ANNOTATION_BOX, "%g wide and %g high", annotation->box.width,
                         annotation->box.height);
    if (!outline)
        return CLV_OK;
    enum clv_status status = outline_bound(&bounds, outline, &why);
    if (status == CLV_ERR_MEMORY)
        return fail_memory(err);
    if (status)
        annotation_blame(annotation, CLV_ANNOTATION_RUNS, "%s", why.message);
    else if (!outline_suits(outline, entry->width, entry->height))
        annotation_blame(annotation, CLV_ANNOTATION_SIZE, "runs of a mask of %dx%d pixels, its image is %dx%d",
                         outline->frame.width, outline->frame.height, entry->width, entry->height);
    else if (outline->counts && !bounds.width)
        annotation_blame(annotation, CLV_ANNOTATION_NOTHING, "a mask without a pixel");
    else if (!(bounds.width > 0 && bounds.height > 0))
        annotation_blame(annotation, CLV_ANNOTATION_OUTLINE, "an outline that is %g wide and %g high", bounds.width,
                         bounds.height);
    return CLV_OK;
}

/* Removes an invalid shape and sets its fault. A valid shape stays exact, even if the annotation has another fault,
 * such as that of its label. If outlines are not kept, a damaged mask with a stated box is not a fault. */
static enum clv_status settle_shape(struct annotation *annotation, const struct clv_image_boxes *entry,
                                    bool keeps_outlines, struct clv_error *err)
{
    struct annotation shape = *annotation;
    const struct clv_box *box = &annotation->box;
    bool is_box_enough = !keeps_outlines && annotation->has_box && box->width > 0 && box->height > 0;
    if (annotation->fault == CLV_ANNOTATION_RUNS && is_box_enough)
        annotation->fault = CLV_ANNOTATION_GOOD;
    if (annotation->fault && !annotation->outline)
        return CLV_OK;
    shape.fault = CLV_ANNOTATION_GOOD;
    MUST(check_shape(&shape, entry, err));
    if (shape.fault)
        drop_outline(annotation);
    if (shape.fault && !(shape.fault == CLV_ANNOTATION_RUNS && is_box_enough))
        annotation_blame(annotation, shape.fault, "%s", shape.why);
    return CLV_OK;
}

/* Adds the annotation's area as void: its shape, or else its box, whose width and height may be negative. Without
 * either the whole image becomes unsure. */
static enum clv_status add_void(struct boxes_builder *builder, struct annotation *annotation, struct clv_error *err)
{
    struct clv_image_boxes *entry = &builder->boxes.images[builder->boxes.n_images - 1];
    struct clv_box box = annotation->box;
    box.index = annotation->index;
    if (annotation->outline)
        MUST(bound_outline(&box, annotation->outline, entry, err));
    if (annotation->fault == CLV_ANNOTATION_NOTHING)
        return CLV_OK;
    if (!annotation->outline && !annotation->has_box) {
        entry->is_unsure = true;
        return CLV_OK;
    }
    box.x += fmin(box.width, 0);
    box.y += fmin(box.height, 0);
    box.width = fabs(box.width);
    box.height = fabs(box.height);
    entry->n_marks += annotation->fault == CLV_ANNOTATION_POINT || annotation->fault == CLV_ANNOTATION_LINE ||
                      !(box.width > 0 && box.height > 0);
    if (builder->keeps_outlines)
        box.outline = TAKE(annotation->outline);
    return boxes_store_void(builder, &box, err);
}

/* Counts the fault. If the annotation is not used, also passes a message, of which the first is shown. */
static enum clv_status report_fault(struct boxes_builder *builder, const struct annotation *annotation, bool is_used,
                                    struct clv_error *err)
{
    struct clv_image_boxes *entry = &builder->boxes.images[builder->boxes.n_images - 1];
    if (is_used || annotation->fault == CLV_ANNOTATION_IGNORED)
        return boxes_store_fault(builder, annotation->fault, NULL, err);
    char message[CLV_ERROR_MESSAGE_MAX];
    entry->n_skipped += annotation->fault != CLV_ANNOTATION_NOTHING;
    point_snprintf(message, sizeof message, "%s: %s %zu: %s", entry->source,
                   annotation->line ? "line" : boxes_index_unit(builder->boxes.form),
                   annotation->line ? annotation->line : annotation->index, annotation->why);
    return boxes_store_fault(builder, annotation->fault, message, err);
}

/* Makes a crowd of one piece an object; other crowds get a fault. */
static enum clv_status settle_crowd(struct boxes_builder *builder, struct annotation *annotation, struct clv_error *err)
{
    size_t n_pieces = 2;
    if (annotation->outline)
        MUST(outline_count_pieces(&n_pieces, annotation->outline, err));
    if (n_pieces > 1) {
        annotation_blame(annotation, CLV_ANNOTATION_CROWD, "a crowd");
        return CLV_OK;
    }
    annotation->is_crowd = false;
    builder->boxes.n_crowd_objects++;
    return CLV_OK;
}

/* Handles a missing label and labelme's two special labels. */
static void settle_label(struct annotation *annotation)
{
    if (!annotation->label)
        annotation_blame(annotation, CLV_ANNOTATION_LABEL, "no label");
    else if (strcmp(annotation->label, "__ignore__") == 0)
        annotation_blame(annotation, CLV_ANNOTATION_IGNORED, "marked to be ignored");
    else if (strcmp(annotation->label, "_background_") == 0)
        annotation->label = "background";
}

/* Applies the rules. The annotation keeps its outline unless the outline is stored. */
static enum clv_status settle(struct boxes_builder *builder, struct annotation *annotation, struct clv_error *err)
{
    const struct clv_image_boxes *entry = &builder->boxes.images[builder->boxes.n_images - 1];
    MUST(settle_shape(annotation, entry, builder->keeps_outlines, err));
    settle_label(annotation);
    if (annotation->is_crowd && !annotation->fault)
        MUST(settle_crowd(builder, annotation, err));
    bool keeps_outline = annotation->outline && builder->keeps_outlines;
    bool is_labelled = !annotation->fault || (annotation->fault == CLV_ANNOTATION_CROWD && keeps_outline);
    if (annotation->fault)
        MUST(report_fault(builder, annotation, is_labelled, err));
    if (!is_labelled)
        return add_void(builder, annotation, err);
    struct clv_box box = annotation->box;
    box.index = annotation->index;
    if (keeps_outline || !annotation->has_box || !(box.width > 0 && box.height > 0))
        MUST(annotation->outline ? bound_outline(&box, annotation->outline, entry, err) : CLV_OK);
    if (keeps_outline) {
        annotation->outline->is_crowd = annotation->fault != CLV_ANNOTATION_GOOD;
        annotation->outline->stated = annotation->has_box ? annotation->box : (struct clv_box){0};
        box.outline = TAKE(annotation->outline);
    }
    return boxes_store(builder, &box, annotation->label, annotation->mask, err);
}

enum clv_status annotation_add(struct boxes_builder *builder, struct annotation *annotation, struct clv_error *err)
{
    enum clv_status status = settle(builder, annotation, err);
    outline_free(TAKE(annotation->outline));
    return status;
}
