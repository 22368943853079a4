/* Values of a map between its pixels. */
#ifndef DATA_MAP_SAMPLE_H
#define DATA_MAP_SAMPLE_H

#include "cleave/status.h"

/* Which of the map's columns, and of its rows, each pixel of an image of some size is between. */
struct map_grid {
    int32_t width, height, map_width; /* of the image, and of the map */
    struct map_between {
        int32_t low, high;
        float share; /* of `high` */
    } * columns, *rows;
};
void map_grid_release(struct map_grid *grid);
enum clv_status map_grid_init(struct map_grid *grid, int32_t map_width, int32_t map_height, int32_t width,
                              int32_t height, struct clv_error *err) CLV_CHECK;

/* plane[height][width]: a channel at the centres of the image's pixels. O(pixels). */
void map_sample(float *plane, const struct map_grid *grid, const float *channel);

#endif
