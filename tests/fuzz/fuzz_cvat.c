#include "fuzz/check_boxes.h"

/* CVAT's XML of images. */
FUZZ_TARGET(cvat)
{
    check_boxes("fuzz.xml", NULL, data, size);
    return 0;
}
