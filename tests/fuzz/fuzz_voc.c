#include "fuzz/check_boxes.h"

/* Pascal VOC: XML whatever its first byte. */
FUZZ_TARGET(voc)
{
    check_boxes("fuzz.xml", NULL, data, size);
    return 0;
}
