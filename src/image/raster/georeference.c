/* Computes coordinates of a raster's pixels by GeoTIFF's tags (OGC 19-008r4): the transformation, or a tie point and a
 * scale. Start at georeference_at. */
#include "image/raster/raster.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

/* Keys and their values. */
#define MODEL_TYPE      1024
#define GEOGRAPHIC      2
#define PIXELS_TYPE     1025
#define PIXEL_IS_POINT  2
#define GEOGRAPHIC_CODE 2048
#define PROJECTED_CODE  3072
#define USER_DEFINED    32767

void georeference_release(struct georeference *georeference)
{
    arrays_free(georeference->scale, georeference->tie_points, georeference->transformation, georeference->doubles,
                georeference->keys, georeference->texts);
    *georeference = (struct georeference){0};
}

bool georeference_exists(const struct georeference *georeference)
{
    return georeference->n_transformation || georeference->n_tie_points || georeference->n_keys;
}

/* Returns the value of a key whose value is in the table of keys itself, otherwise 0. */
static int find_key(const struct georeference *georeference, int key)
{
    for (size_t k = 4; k + 4 <= georeference->n_keys; k += 4)
        if (georeference->keys[k] == key && georeference->keys[k + 1] == 0)
            return georeference->keys[k + 3];
    return 0;
}

bool georeference_at(double at[2], const struct georeference *georeference, double x, double y)
{
    const double *m = georeference->transformation, *tie = georeference->tie_points, *scale = georeference->scale;
    double half = find_key(georeference, PIXELS_TYPE) == PIXEL_IS_POINT ? 0.5 : 0;
    at[0] = x;
    at[1] = y;
    x -= half;
    y -= half;
    if (georeference->n_transformation == 16) {
        at[0] = m[0] * x + m[1] * y + m[3];
        at[1] = m[4] * x + m[5] * y + m[7];
        return true;
    }
    if (georeference->n_tie_points < 6 || georeference->n_scale < 2)
        return false;
    at[0] = tie[3] + (x - tie[0]) * scale[0];
    at[1] = tie[4] - (y - tie[1]) * scale[1];
    return true;
}

static bool copy(void *target, const void *source, size_t n, size_t size)
{
    void *result = source ? array_copy(source, n, size) : NULL;
    memcpy(target, &result, sizeof result);
    return result || !source;
}

enum clv_status georeference_of_part(struct georeference *part, const struct georeference *georeference, int32_t left,
                                     int32_t top, struct clv_error *err)
{
    OWNED(georeference_release) struct georeference result = *georeference;
    result.scale = result.tie_points = result.transformation = result.doubles = NULL;
    result.keys = NULL;
    result.texts = NULL;
    NEED(copy(&result.scale, georeference->scale, georeference->n_scale, sizeof *georeference->scale) &&
         copy(&result.tie_points, georeference->tie_points, georeference->n_tie_points,
              sizeof *georeference->tie_points) &&
         copy(&result.transformation, georeference->transformation, georeference->n_transformation,
              sizeof *georeference->transformation) &&
         copy(&result.doubles, georeference->doubles, georeference->n_doubles, sizeof *georeference->doubles) &&
         copy(&result.keys, georeference->keys, georeference->n_keys, sizeof *georeference->keys) &&
         copy(&result.texts, georeference->texts, georeference->texts ? strlen(georeference->texts) + 1 : 0, 1));
    for (size_t k = 0; k + 6 <= result.n_tie_points; k += 6) {
        result.tie_points[k] -= left;
        result.tie_points[k + 1] -= top;
    }
    for (size_t k = 0; k < 12 && result.n_transformation == 16; k += 4)
        result.transformation[k + 3] += result.transformation[k] * left + result.transformation[k + 1] * top;
    *part = TAKE(result);
    return CLV_OK;
}

bool georeference_inverse(double m[6], const struct georeference *georeference)
{
    enum { FAR = 1 << 16 }; /* pixels, so far apart that large coordinates cost no digits */
    double origin[2], across[2], down[2];
    if (!georeference_at(origin, georeference, 0, 0) || !georeference_at(across, georeference, FAR, 0) ||
        !georeference_at(down, georeference, 0, FAR))
        return false;
    for (int k = 0; k < 2; k++) {
        across[k] = (across[k] - origin[k]) / FAR;
        down[k] = (down[k] - origin[k]) / FAR;
    }
    double determinant = across[0] * down[1] - across[1] * down[0];
    const double rows[2][2] = {{down[1] / determinant, -down[0] / determinant},
                               {-across[1] / determinant, across[0] / determinant}};
    bool is_finite = true;
    for (int k = 0; k < 2; k++) {
        m[3 * k] = rows[k][0];
        m[3 * k + 1] = rows[k][1];
        m[3 * k + 2] = -(rows[k][0] * origin[0] + rows[k][1] * origin[1]);
        is_finite &= isfinite(m[3 * k + 2]);
    }
    return is_finite;
}

int georeference_epsg(bool *is_geographic, const struct georeference *georeference)
{
    *is_geographic = find_key(georeference, MODEL_TYPE) == GEOGRAPHIC;
    int code = find_key(georeference, *is_geographic ? GEOGRAPHIC_CODE : PROJECTED_CODE);
    return code == USER_DEFINED ? 0 : code;
}
