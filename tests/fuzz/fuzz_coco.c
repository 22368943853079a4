#include "fuzz/check_boxes.h"

/* COCO: JSON of many images. Its dictionary has the names of its members. */
FUZZ_TARGET(coco)
{
    check_boxes("fuzz.json", NULL, data, size);
    return 0;
}
