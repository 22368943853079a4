#include "fuzz/check_boxes.h"

/* Tables, and whatever looks like another format. */
FUZZ_TARGET(boxes)
{
    check_boxes("fuzz.tsv", NULL, data, size);
    check_boxes("fuzz.txt", NULL, data, size);
    return 0;
}
