/* Boxes in Pascal VOC's XML (over expat, which only this file knows): annotation / filename, size, object / name,
 * bndbox / xmin, ymin, xmax, ymax. A document type is refused, and with it entities: nothing of another file is ever
 * read, nothing grows. */
#include <expat.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "data/boxes/boxes_formats.h"

#define DEEPEST     32
#define LONGEST     4096 /* bytes of a name or number */
#define LARGEST_XML ((size_t)16 << 20)

static const char *const corner_names[] = {"xmin", "ymin", "xmax", "ymax"};

struct voc {
    struct boxes_builder *builder;
    const char *source;
    XML_Parser parser;
    enum clv_status status;
    struct clv_error *err;
    struct text path; /* of the open elements: "/annotation/object/name" */
    int depth;
    struct text characters; /* since the last tag */
    char *label;            /* of the object in work, or NULL */
    double corners[4];
    bool has_corner[4];
    size_t n_objects;
};

/* expat may call further handlers after this: the end of an empty element, text. All of them return at once then. */
static void stop(struct voc *voc, enum clv_status status)
{
    if (voc->status == CLV_OK)
        voc->status = status;
    XML_StopParser(voc->parser, XML_FALSE);
}

static bool is_at(const struct voc *voc, const char *path)
{
    return strcmp(voc->path.bytes, path) == 0;
}

static void XMLCALL begin_doctype(void *context, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                                  int has_internal)
{
    (void)name, (void)system, (void)public, (void)has_internal;
    struct voc *voc = context;
    if (voc->status != CLV_OK)
        return;
    stop(voc, fail(voc->err, CLV_ERR_DATA, "%s: line %lu: a document type is not allowed here", voc->source,
                   (unsigned long)XML_GetCurrentLineNumber(voc->parser)));
}

static void XMLCALL begin_element(void *context, const XML_Char *name, const XML_Char **attributes)
{
    (void)attributes;
    struct voc *voc = context;
    if (voc->status != CLV_OK)
        return;
    if (++voc->depth > DEEPEST) {
        stop(voc, fail(voc->err, CLV_ERR_DATA, "%s: line %lu: elements nested deeper than %d", voc->source,
                       (unsigned long)XML_GetCurrentLineNumber(voc->parser), DEEPEST));
        return;
    }
    if (strlen(name) + 2 > LONGEST - voc->path.size) {
        stop(voc, fail(voc->err, CLV_ERR_DATA, "%s: line %lu: names of elements of more than %d bytes", voc->source,
                       (unsigned long)XML_GetCurrentLineNumber(voc->parser), LONGEST));
        return;
    }
    text_put(&voc->path, "/");
    text_put(&voc->path, name);
    voc->characters.size = 0;
    if (voc->path.failed) {
        stop(voc, fail_memory(voc->err));
    } else if (voc->depth == 1 && !is_at(voc, "/annotation")) {
        stop(voc, fail(voc->err, CLV_ERR_DATA, "%s: the document is a <%s>, not an <annotation>", voc->source, name));
    } else if (is_at(voc, "/annotation/object")) {
        voc->n_objects++;
        memset(voc->has_corner, 0, sizeof voc->has_corner);
    }
}

static void XMLCALL take_characters(void *context, const XML_Char *bytes, int size)
{
    struct voc *voc = context;
    if (voc->status != CLV_OK)
        return;
    text_append(&voc->characters, bytes, (size_t)size);
    if (voc->characters.failed)
        stop(voc, voc->characters.size + (size_t)size + 1 > LONGEST
                      ? fail(voc->err, CLV_ERR_DATA, "%s: line %lu: text of more than %d bytes", voc->source,
                             (unsigned long)XML_GetCurrentLineNumber(voc->parser), LONGEST)
                      : fail_memory(voc->err));
}

/* The text before the closing tag, without white space around it. */
static char *trimmed(struct voc *voc)
{
    if (!voc->characters.size)
        return "";
    voc->characters.bytes[voc->characters.size] = 0;
    char *begin = voc->characters.bytes + strspn(voc->characters.bytes, " \t\r\n");
    char *end = voc->characters.bytes + voc->characters.size;
    while (end > begin && strchr(" \t\r\n", end[-1]))
        end--;
    *end = 0;
    return begin;
}

static enum clv_status take_number(double *value, struct voc *voc, const char *name)
{
    const char *text = trimmed(voc);
    if (!parse_double(text, value))
        return fail(voc->err, CLV_ERR_DATA, "%s: line %lu: %s is \"%s\", which is no number", voc->source,
                    (unsigned long)XML_GetCurrentLineNumber(voc->parser), name, text);
    return CLV_OK;
}

/* Sizes of 0 are common where the annotator did not know. */
static enum clv_status take_size(int32_t *size, struct voc *voc, const char *name)
{
    double value;
    enum clv_status status = take_number(&value, voc, name);
    if (status == CLV_OK && !(value >= 0 && value <= INT32_MAX && value == (double)(int32_t)value))
        return fail(voc->err, CLV_ERR_DATA, "%s: %s is %g, which is no size of an image", voc->source, name, value);
    if (status == CLV_OK)
        *size = (int32_t)value;
    return status;
}

/* VOC counts pixels from 1, and both corners are inside. */
static enum clv_status end_object(struct voc *voc)
{
    for (int i = 0; i < 4; i++)
        if (!voc->has_corner[i])
            return boxes_skip(voc->builder, voc->err, "%s: object %zu: bndbox has no %s", voc->source, voc->n_objects,
                              corner_names[i]);
    const double *corner = voc->corners;
    struct clv_box box = {
        .x = corner[0] - 1,
        .y = corner[1] - 1,
        .width = corner[2] - corner[0] + 1,
        .height = corner[3] - corner[1] + 1,
        .place = voc->n_objects,
    };
    enum clv_status status = boxes_add(voc->builder, &box, voc->label ? voc->label : "", NULL, voc->err);
    array_free(voc->label);
    voc->label = NULL;
    return status;
}

static enum clv_status take_value(struct voc *voc)
{
    static const char corner_path[] = "/annotation/object/bndbox/";
    struct clv_image_boxes *entry = &voc->builder->boxes.images[voc->builder->boxes.n_images - 1];
    if (is_at(voc, "/annotation/object"))
        return end_object(voc);
    if (is_at(voc, "/annotation/filename"))
        return boxes_name_image(voc->builder, trimmed(voc), voc->err);
    if (is_at(voc, "/annotation/size/width"))
        return take_size(&entry->width, voc, "width");
    if (is_at(voc, "/annotation/size/height"))
        return take_size(&entry->height, voc, "height");
    if (is_at(voc, "/annotation/object/name")) {
        array_free(voc->label);
        voc->label = string_copy(trimmed(voc));
        return voc->label ? CLV_OK : fail_memory(voc->err);
    }
    if (strncmp(voc->path.bytes, corner_path, sizeof corner_path - 1) == 0)
        for (int i = 0; i < 4; i++)
            if (strcmp(voc->path.bytes + sizeof corner_path - 1, corner_names[i]) == 0) {
                voc->has_corner[i] = true;
                return take_number(&voc->corners[i], voc, corner_names[i]);
            }
    return CLV_OK;
}

static void XMLCALL end_element(void *context, const XML_Char *name)
{
    struct voc *voc = context;
    if (voc->status != CLV_OK)
        return;
    enum clv_status status = take_value(voc);
    if (status != CLV_OK) {
        stop(voc, status);
        return;
    }
    voc->depth--;
    voc->path.size -= strlen(name) + 1;
    voc->path.bytes[voc->path.size] = 0;
    voc->characters.size = 0;
}

static void *allocate(size_t size)
{
    return array_alloc(size, 1);
}

static void *reallocate(void *memory, size_t size)
{
    return array_realloc(memory, size, 1);
}

static enum clv_status parse(struct voc *voc, const char *bytes, size_t size)
{
    XML_SetUserData(voc->parser, voc);
    XML_SetElementHandler(voc->parser, begin_element, end_element);
    XML_SetCharacterDataHandler(voc->parser, take_characters);
    XML_SetStartDoctypeDeclHandler(voc->parser, begin_doctype);
    enum XML_Status parsed = XML_Parse(voc->parser, bytes, (int)size, XML_TRUE);
    if (voc->status != CLV_OK || parsed == XML_STATUS_OK)
        return voc->status;
    enum XML_Error reason = XML_GetErrorCode(voc->parser);
    if (reason == XML_ERROR_NO_MEMORY)
        return fail_memory(voc->err);
    return fail(voc->err, CLV_ERR_DATA, "%s: bad XML in line %lu, column %lu: %s", voc->source,
                (unsigned long)XML_GetCurrentLineNumber(voc->parser),
                (unsigned long)XML_GetCurrentColumnNumber(voc->parser) + 1, XML_ErrorString(reason));
}

enum clv_status boxes_parse_voc(struct boxes_builder *builder, const char *source, const char *image, const char *bytes,
                                size_t size, struct clv_error *err)
{
    static const XML_Memory_Handling_Suite memory = {allocate, reallocate, array_free};
    if (size > LARGEST_XML)
        return fail(err, CLV_ERR_DATA, "%s: an XML file of %zu bytes, the limit is %zu", source, size, LARGEST_XML);
    struct voc voc = {.builder = builder, .source = source, .err = err};
    text_init(&voc.path, LONGEST);
    text_init(&voc.characters, LONGEST);
    enum clv_status status = boxes_add_image(builder, image, source, err);
    if (status != CLV_OK)
        return status;
    voc.parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    status = voc.parser ? parse(&voc, bytes, size) : fail_memory(err);
    if (voc.parser)
        XML_ParserFree(voc.parser);
    text_release(&voc.path);
    text_release(&voc.characters);
    array_free(voc.label);
    return status;
}
