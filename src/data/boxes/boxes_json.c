/* Boxes in JSON: finds the program's format. */
#include "data/boxes/boxes.h"

#include <string.h>

#include "base/base.h"

enum clv_status boxes_parse_json(struct boxes_builder *builder, const char *source, const char *image,
                                 const char *bytes, size_t size, struct clv_error *err)
{
    static const char bom[3] = "\xef\xbb\xbf";
    struct json_value *root;
    size_t skipped = size >= sizeof bom && memcmp(bytes, bom, sizeof bom) == 0 ? sizeof bom : 0, n = 0;
    MUST(json_parse(&root, bytes + skipped, size - skipped, source, err));
    enum clv_status status = CLV_OK;
    if (json_get_array(root, &n) && n) {
        status = boxes_parse_tasks(builder, root, source, err);
    } else if (json_member(root, "annotations")) {
        builder->boxes.form = CLV_BOXES_COCO;
        status = boxes_parse_coco(builder, root, source, err);
    } else if (json_member(root, "shapes")) {
        builder->boxes.form = CLV_BOXES_LABELME;
        status = boxes_parse_labelme(builder, root, source, image, err);
    } else {
        status = fail(
            err, CLV_ERR_DATA,
            "%s: neither COCO (\"annotations\") nor labelme (\"shapes\"), nor Label Studio's array; " BOXES_FORMATS,
            source);
    }
    json_root_free(root);
    return status;
}
