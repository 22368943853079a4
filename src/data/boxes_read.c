/* Reading a file of boxes, whatever its form. */
#include "base/error.h"
#include "base/file.h"
#include "data/boxes.h"
#include "data/tsv.h"

enum clv_status clv_boxes_read(struct clv_boxes *boxes, const char *path, struct clv_error *err)
{
    struct boxes_builder builder = {0};
    char *bytes;
    size_t size;
    enum clv_status status = file_read(&bytes, &size, path, TSV_MAX_SIZE, err);
    if (status == CLV_OK)
        status = boxes_parse_tsv(&builder, path, bytes, size, err);
    if (status == CLV_OK)
        return boxes_finish(boxes, &builder, path, err);
    boxes_builder_release(&builder);
    return status;
}
