/* Reads and writes GeoTIFF's tags (OGC 19-008r4) and GDAL's tag of no-data values, by libtiff. Start at
 * geo_tags_read. */
#include "image/raster/raster.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

#define TAG_SCALE          33550
#define TAG_TIE_POINTS     33922
#define TAG_TRANSFORMATION 34264
#define TAG_KEYS           34735
#define TAG_DOUBLES        34736
#define TAG_TEXTS          34737
#define TAG_NO_DATA        42113

#define NO_DATA_OF_MASKS "255" /* RASTER_VOID */

void geo_tags_declare(TIFF *tiff)
{
    static const TIFFFieldInfo fields[] = {
        {TAG_SCALE, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, (char *)"ModelPixelScale"},
        {TAG_TIE_POINTS, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, (char *)"ModelTiepoint"},
        {TAG_TRANSFORMATION, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, (char *)"ModelTransformation"},
        {TAG_KEYS, -1, -1, TIFF_SHORT, FIELD_CUSTOM, 1, 1, (char *)"GeoKeyDirectory"},
        {TAG_DOUBLES, -1, -1, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, (char *)"GeoDoubleParams"},
        {TAG_TEXTS, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, (char *)"GeoAsciiParams"},
        {TAG_NO_DATA, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, (char *)"GDALNoData"},
    };
    TIFFMergeFieldInfo(tiff, fields, sizeof fields / sizeof *fields);
}

/* Gets *values of a tag and returns their number, or 0 if the file has no such tag of that type. How the field is
 * declared decides whether TIFFGetField returns no count, one of 16 bits or one of 32 bits. */
static size_t find_values(void **values, TIFF *tiff, uint32_t tag, TIFFDataType type)
{
    const TIFFField *field = TIFFFindField(tiff, tag, TIFF_ANY);
    uint16_t n_short = 0;
    uint32_t n = 0;
    bool is_found;
    *values = NULL;
    if (!field || TIFFFieldDataType(field) != type)
        return 0;
    if (!TIFFFieldPassCount(field)) {
        is_found = type == TIFF_ASCII && TIFFGetField(tiff, tag, values) == 1;
        n = 1;
    } else if (TIFFFieldReadCount(field) == TIFF_VARIABLE2) {
        is_found = TIFFGetField(tiff, tag, &n, values) == 1;
    } else {
        is_found = TIFFGetField(tiff, tag, &n_short, values) == 1;
        n = n_short;
    }
    return is_found && *values ? n : 0;
}

/* Returns a copy of a tag's numbers, or NULL if there are none, or if memory is short (*is_short). */
static void *copy_numbers(uint16_t *n, bool *is_short, TIFF *tiff, uint32_t tag, TIFFDataType type)
{
    void *values, *copy = NULL;
    size_t found = find_values(&values, tiff, tag, type);
    if (found && found <= UINT16_MAX) {
        copy = array_copy(values, found, type == TIFF_SHORT ? sizeof(uint16_t) : sizeof(double));
        *is_short |= !copy;
    }
    *n = copy ? (uint16_t)found : 0;
    return copy;
}

/* Returns a copy of a tag's text, which may lack its final 0; NULL as copy_numbers. */
static char *copy_text(bool *is_short, TIFF *tiff, uint32_t tag)
{
    const TIFFField *field = TIFFFindField(tiff, tag, TIFF_ANY);
    void *found;
    size_t n = find_values(&found, tiff, tag, TIFF_ASCII);
    if (!n)
        return NULL;
    n = TIFFFieldPassCount(field) ? strnlen(found, n) : strlen(found);
    char *copy = array_zalloc(n + 1, 1);
    if (copy)
        memcpy(copy, found, n);
    *is_short |= !copy;
    return copy;
}

enum clv_status geo_tags_read(struct georeference *georeference, bool *has_no_data, double *no_data, TIFF *tiff,
                              struct clv_error *err)
{
    OWNED(georeference_release) struct georeference result = {0};
    bool is_short = false;
    OWNED_ARRAY char *missing = copy_text(&is_short, tiff, TAG_NO_DATA);
    char *end = NULL;
    result.scale = copy_numbers(&result.n_scale, &is_short, tiff, TAG_SCALE, TIFF_DOUBLE);
    result.tie_points = copy_numbers(&result.n_tie_points, &is_short, tiff, TAG_TIE_POINTS, TIFF_DOUBLE);
    result.transformation = copy_numbers(&result.n_transformation, &is_short, tiff, TAG_TRANSFORMATION, TIFF_DOUBLE);
    result.keys = copy_numbers(&result.n_keys, &is_short, tiff, TAG_KEYS, TIFF_SHORT);
    result.doubles = copy_numbers(&result.n_doubles, &is_short, tiff, TAG_DOUBLES, TIFF_DOUBLE);
    result.texts = copy_text(&is_short, tiff, TAG_TEXTS);
    *no_data = missing ? point_strtod(missing, &end) : NAN;
    *has_no_data = missing && end != missing && !isnan(*no_data);
    result.may_lack_data = *has_no_data;
    NEED(!is_short);
    *georeference = TAKE(result);
    return CLV_OK;
}

bool geo_tags_write(TIFF *tiff, const struct georeference *georeference)
{
    const struct {
        uint32_t tag;
        uint16_t n;
        const void *values;
    } numbers[] = {{TAG_SCALE, georeference->n_scale, georeference->scale},
                   {TAG_TIE_POINTS, georeference->n_tie_points, georeference->tie_points},
                   {TAG_TRANSFORMATION, georeference->n_transformation, georeference->transformation},
                   {TAG_KEYS, georeference->n_keys, georeference->keys},
                   {TAG_DOUBLES, georeference->n_doubles, georeference->doubles}};
    bool is_written = true;
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        is_written &= !numbers[k].n || TIFFSetField(tiff, numbers[k].tag, numbers[k].n, numbers[k].values);
    is_written &= !georeference->may_lack_data || TIFFSetField(tiff, TAG_NO_DATA, NO_DATA_OF_MASKS);
    return is_written && (!georeference->texts || TIFFSetField(tiff, TAG_TEXTS, georeference->texts));
}
