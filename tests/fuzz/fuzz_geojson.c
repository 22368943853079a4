#include "fuzz/check_boxes.h"

/* GeoJSON, its labels in a property within a property. */
FUZZ_TARGET(geojson)
{
    check_boxes_as("fuzz.geojson", NULL, "classification.name", true, data, size);
    return 0;
}
