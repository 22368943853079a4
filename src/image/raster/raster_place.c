/* Coordinates on Earth of a raster's pixels, by GeoTIFF's tags (OGC 19-008r4): the transformation, or a tie point and a
 * scale. Start at raster_place_at. */
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

void raster_place_release(struct raster_place *place)
{
    arrays_free(place->scale, place->tie_points, place->transformation, place->doubles, place->keys, place->texts);
    *place = (struct raster_place){0};
}

bool raster_has_place(const struct raster_place *place)
{
    return place->n_transformation || place->n_tie_points || place->n_keys;
}

/* The value of a key that stands in the table itself, else 0. */
static int find_key(const struct raster_place *place, int key)
{
    for (size_t k = 4; k + 4 <= place->n_keys; k += 4)
        if (place->keys[k] == key && place->keys[k + 1] == 0)
            return place->keys[k + 3];
    return 0;
}

bool raster_place_at(double at[2], const struct raster_place *place, double x, double y)
{
    const double *m = place->transformation, *tie = place->tie_points, *scale = place->scale;
    double half = find_key(place, PIXELS_TYPE) == PIXEL_IS_POINT ? 0.5 : 0;
    at[0] = x;
    at[1] = y;
    x -= half;
    y -= half;
    if (place->n_transformation == 16) {
        at[0] = m[0] * x + m[1] * y + m[3];
        at[1] = m[4] * x + m[5] * y + m[7];
        return true;
    }
    if (place->n_tie_points < 6 || place->n_scale < 2)
        return false;
    at[0] = tie[3] + (x - tie[0]) * scale[0];
    at[1] = tie[4] - (y - tie[1]) * scale[1];
    return true;
}

static bool copy(void *target, const void *source, size_t n, size_t size)
{
    void *made = source ? array_copy(source, n, size) : NULL;
    memcpy(target, &made, sizeof made);
    return made || !source;
}

enum clv_status raster_place_of_part(struct raster_place *part, const struct raster_place *place, int32_t left,
                                     int32_t top, struct clv_error *err)
{
    OWNED(raster_place_release) struct raster_place result = *place;
    result.scale = result.tie_points = result.transformation = result.doubles = NULL;
    result.keys = NULL;
    result.texts = NULL;
    NEED(copy(&result.scale, place->scale, place->n_scale, sizeof *place->scale) &&
         copy(&result.tie_points, place->tie_points, place->n_tie_points, sizeof *place->tie_points) &&
         copy(&result.transformation, place->transformation, place->n_transformation, sizeof *place->transformation) &&
         copy(&result.doubles, place->doubles, place->n_doubles, sizeof *place->doubles) &&
         copy(&result.keys, place->keys, place->n_keys, sizeof *place->keys) &&
         copy(&result.texts, place->texts, place->texts ? strlen(place->texts) + 1 : 0, 1));
    for (size_t k = 0; k + 6 <= result.n_tie_points; k += 6) {
        result.tie_points[k] -= left;
        result.tie_points[k + 1] -= top;
    }
    for (size_t k = 0; k < 12 && result.n_transformation == 16; k += 4)
        result.transformation[k + 3] += result.transformation[k] * left + result.transformation[k + 1] * top;
    *part = TAKE(result);
    return CLV_OK;
}

bool raster_place_inverse(double m[6], const struct raster_place *place)
{
    enum { FAR = 1 << 16 }; /* pixels, so that large coordinates cost no digits */
    double origin[2], across[2], down[2];
    if (!raster_place_at(origin, place, 0, 0) || !raster_place_at(across, place, FAR, 0) ||
        !raster_place_at(down, place, 0, FAR))
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

int raster_place_epsg(bool *is_geographic, const struct raster_place *place)
{
    *is_geographic = find_key(place, MODEL_TYPE) == GEOGRAPHIC;
    int code = find_key(place, *is_geographic ? GEOGRAPHIC_CODE : PROJECTED_CODE);
    return code == USER_DEFINED ? 0 : code;
}
