/* Writes objects as Pascal VOC's XML, one file per image, and labelmap.txt, the table of names and colours. */
#include "cleave/image.h"
#include "data/data.h"
#include "data/export/export.h"

void voc_begin(struct text *text, const char *image, int32_t width, int32_t height)
{
    text_put(text, "<annotation>\n  <folder>JPEGImages</folder>\n  <filename>");
    text_put_html(text, image);
    text_printf(text,
                "</filename>\n  <source><database>Unknown</database></source>\n"
                "  <size><width>%d</width><height>%d</height><depth>3</depth></size>\n  <segmented>1</segmented>\n",
                width, height);
}

enum clv_status voc_put_objects(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                                struct clv_error *err)
{
    OWNED_ARRAY size_t *order = NULL;
    MUST(export_order(&order, contours, err));
    for (size_t k = 0, end; k < contours->n_objects; k = end) {
        const struct contour_object *object = &contours->objects[order[k]];
        struct rle_frame bounds = {object->left, object->top, object->width, object->height};
        for (end = k; end < contours->n_objects && contours->objects[order[end]].number == object->number; end++)
            export_join(&bounds, &contours->objects[order[end]]);
        text_put(text, "  <object><name>");
        text_put_html(text, labels->names[object->label]);
        text_printf(text,
                    "</name><pose>Unspecified</pose><truncated>0</truncated><difficult>0</difficult><bndbox>"
                    "<xmin>%d</xmin><ymin>%d</ymin><xmax>%d</xmax><ymax>%d</ymax></bndbox></object>\n",
                    bounds.left + 1, bounds.top + 1, bounds.left + bounds.width, bounds.top + bounds.height);
    }
    return CLV_OK;
}

enum clv_status voc_put(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                        const char *image, struct clv_error *err)
{
    voc_begin(text, image, contours->width, contours->height);
    MUST(voc_put_objects(text, contours, labels, err));
    text_put(text, VOC_END);
    return CLV_OK;
}

void voc_put_labelmap(struct text *text, const struct clv_labels *labels)
{
    uint8_t palette[256][3];
    clv_default_palette(palette);
    text_put(text, "# label:color_rgb:parts:actions\n");
    for (int32_t label = 0; label < labels->n_labels; label++)
        if (labels_have(labels, label))
            text_printf(text, "%s:%d,%d,%d::\n", labels->names[label], palette[label][0], palette[label][1],
                        palette[label][2]);
}
