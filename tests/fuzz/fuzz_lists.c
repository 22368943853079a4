#include <unistd.h>

#include "fuzz/check_boxes.h"
#include "fuzz/memory_file.h"

/* Files next to YOLO's: data.yaml, or a list of images; the split of an image by it. */
FUZZ_TARGET(lists)
{
    for (int k = 0; k < 3; k++) {
        char path[64];
        struct clv_error error = {0};
        OWNED(boxes_builder_release) struct boxes_builder builder = {0};
        int fd = memory_file(path, data, size);
        if (fd < 0)
            return 0;
        enum clv_status status = k == 0   ? boxes_read_yaml(&builder, path, &error)
                                 : k == 1 ? boxes_read_list(&builder, path, "val", &error)
                                          : boxes_read_classes(&builder, path, &error);
        close(fd);
        FUZZ_CHECK(status == CLV_OK || (error.message[0] && !strchr(error.message, '\n')));
        if (status == CLV_OK && boxes_add_image(&builder, "images/train/a", "fuzz", &error) == CLV_OK)
            FUZZ_CHECK(boxes_split_by_lists(&builder, &error) == CLV_OK);
    }
    return 0;
}
