/* Reads boxes from Pascal VOC's XML: annotation / filename, size, object / name, bndbox / xmin, ymin, xmax, ymax. Start
 * at boxes_parse_voc. */
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"

static const char *const corner_names[] = {"xmin", "ymin", "xmax", "ymax"};

struct voc {
    struct boxes_builder *builder;
    char *label; /* of the current object, or NULL */
    double corners[4];
    bool has_corner[4];
    size_t n_objects;
};

static enum clv_status begin(void *context, const struct xml_location *location, const char *const *attributes,
                             struct clv_error *err)
{
    (void)attributes;
    struct voc *voc = context;
    if (!strchr(location->path + 1, '/') && strcmp(location->path, "/annotation") != 0)
        return fail(err, CLV_ERR_DATA, "%s: the document is a <%s>, not an <annotation>", location->source,
                    location->path + 1);
    if (strcmp(location->path, "/annotation/object") == 0) {
        voc->n_objects++;
        memset(voc->has_corner, 0, sizeof voc->has_corner);
    }
    return CLV_OK;
}

static enum clv_status take_number(double *value, const struct xml_location *location, const char *name,
                                   const char *text, struct clv_error *err)
{
    FAIL_IF(!parse_double(text, value), CLV_ERR_DATA, "%s: line %lu: %s is \"%s\", which is not a number",
            location->source, location->line, name, text);
    return CLV_OK;
}

/* Reads a width or height. 0 is common and means unknown, as an empty text does. */
static enum clv_status take_size(int32_t *size, const struct xml_location *location, const char *name, const char *text,
                                 struct clv_error *err)
{
    double value = 0;
    if (*text)
        MUST(take_number(&value, location, name, text, err));
    FAIL_IF(!(value >= 0 && value <= INT32_MAX && number_is_int32(value)), CLV_ERR_DATA,
            "%s: %s is %g, which is not a size of an image", location->source, name, value);
    *size = int32_within(value, 0, INT32_MAX);
    return CLV_OK;
}

/* Adds the object. VOC counts pixels from 1, and both corners belong to the box. */
static enum clv_status end_object(struct voc *voc, struct clv_error *err)
{
    const double *corner = voc->corners;
    struct annotation annotation = {
        .index = voc->n_objects,
        .label = voc->label ? voc->label : "",
        .has_box = true,
        .box = {.x = corner[0] - 1,
                .y = corner[1] - 1,
                .width = corner[2] - corner[0] + 1,
                .height = corner[3] - corner[1] + 1},
    };
    for (int i = 0; i < 4; i++)
        if (!voc->has_corner[i]) {
            annotation.has_box = false;
            annotation_blame(&annotation, CLV_ANNOTATION_BOX, "bndbox has no %s", corner_names[i]);
        }
    return annotation_add(voc->builder, &annotation, err);
}

static enum clv_status end(void *context, const struct xml_location *location, const char *text, struct clv_error *err)
{
    static const char corner_path[] = "/annotation/object/bndbox/";
    struct voc *voc = context;
    struct clv_image_boxes *entry = &voc->builder->boxes.images[voc->builder->boxes.n_images - 1];
    if (strcmp(location->path, "/annotation/object") == 0) {
        enum clv_status status = end_object(voc, err);
        array_free(voc->label);
        voc->label = NULL;
        return status;
    }
    if (strcmp(location->path, "/annotation/filename") == 0)
        return boxes_name_image(voc->builder, text, err);
    if (strcmp(location->path, "/annotation/size/width") == 0)
        return take_size(&entry->width, location, "width", text, err);
    if (strcmp(location->path, "/annotation/size/height") == 0)
        return take_size(&entry->height, location, "height", text, err);
    if (strcmp(location->path, "/annotation/object/name") == 0) {
        array_free(voc->label);
        voc->label = string_copy(text);
        return voc->label ? CLV_OK : fail_memory(err);
    }
    if (strncmp(location->path, corner_path, sizeof corner_path - 1) == 0)
        for (int i = 0; i < 4; i++)
            if (strcmp(location->path + sizeof corner_path - 1, corner_names[i]) == 0) {
                voc->has_corner[i] = true;
                return take_number(&voc->corners[i], location, corner_names[i], text, err);
            }
    return CLV_OK;
}

static void voc_release(struct voc *self)
{
    array_free(self->label);
}

bool boxes_is_voc(const struct boxes_file *file)
{
    return boxes_is_xml(file);
}

enum clv_status boxes_parse_voc(struct boxes_builder *builder, const struct boxes_file *file, struct clv_error *err)
{
    static const struct xml_handler handler = {begin, end, false};
    OWNED(voc_release) struct voc voc = {.builder = builder};
    MUST(boxes_add_image(builder, file->image, file->source, err));
    return xml_parse(&handler, &voc, file->source, file->bytes, file->size, err);
}
