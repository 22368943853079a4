#include "fuzz/check_boxes.h"
#include "fuzz/memory_file.h"

/* YOLO: the classes, a zero byte, the boxes of an image. */
FUZZ_TARGET(yolo)
{
    char path[64];
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    size_t n_classes = zero ? (size_t)(zero - data) : 0;
    int fd = zero ? memory_file(path, data, n_classes) : -1;
    const uint8_t *boxes = zero ? zero + 1 : data;
    check_boxes("fuzz.txt", fd < 0 ? NULL : path, boxes, zero ? size - n_classes - 1 : size);
    if (fd >= 0)
        close(fd);
    return 0;
}
