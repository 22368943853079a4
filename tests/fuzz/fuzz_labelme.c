#include "fuzz/check_boxes.h"

/* labelme: JSON of one image. Its dictionary has the names of its members. */
FUZZ_TARGET(labelme)
{
    check_boxes("fuzz.json", NULL, data, size);
    return 0;
}
