#include "fuzz/check_boxes.h"

/* Label Studio: JSON of tasks. */
FUZZ_TARGET(tasks)
{
    check_boxes("fuzz.json", NULL, data, size);
    return 0;
}
