#include "image/raster/raster.h"

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
    array_free(place->scale);
    array_free(place->tie_points);
    array_free(place->transformation);
    array_free(place->doubles);
    array_free(place->keys);
    array_free(place->texts);
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

int raster_place_epsg(bool *is_geographic, const struct raster_place *place)
{
    *is_geographic = find_key(place, MODEL_TYPE) == GEOGRAPHIC;
    int code = find_key(place, *is_geographic ? GEOGRAPHIC_CODE : PROJECTED_CODE);
    return code == USER_DEFINED ? 0 : code;
}
