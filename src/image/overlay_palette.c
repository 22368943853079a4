#include "image/image.h"

#include <math.h>
#include <string.h>

#define FAR_ENOUGH 60

/* What an eye sees of red, green and blue: all; without the cones for long, and for middle wavelengths (Machado,
 * Oliveira and Fernandes 2009, severity 1; here of the coded values, which is near enough to compare). */
static const double eyes[][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
};

double overlay_palette_distance(const uint8_t a[3], const uint8_t b[3])
{
    double least = INFINITY;
    for (size_t eye = 0; eye < sizeof eyes / sizeof *eyes; eye++) {
        double d[3];
        for (int c = 0; c < 3; c++)
            d[c] = eyes[eye][c][0] * (a[0] - b[0]) + eyes[eye][c][1] * (a[1] - b[1]) + eyes[eye][c][2] * (a[2] - b[2]);
        double light = 0.3 * d[0] + 0.59 * d[1] + 0.11 * d[2];
        double hue =
            (d[0] - light) * (d[0] - light) + (d[1] - light) * (d[1] - light) + (d[2] - light) * (d[2] - light);
        least = fmin(least, sqrt(light * light + hue / 4)); /* differences of hue are fainter */
    }
    return least;
}

/* Distance to the nearest of the labels before. */
static double distance_to_earlier(const uint8_t (*made)[3], int32_t label, const uint8_t colour[3])
{
    double least = INFINITY;
    for (int32_t k = 1; k < label; k++)
        least = fmin(least, overlay_palette_distance(made[k], colour));
    return least;
}

void overlay_palette(uint8_t made[256][3], const uint8_t (*palette)[3], int32_t n_labels)
{
    static const struct {
        uint8_t towards;
        double share;
    } shades[] = {{0, 0},     {255, 0.3}, {0, 0.3},    {255, 0.55}, {0, 0.55},
                  {255, 0.7}, {0, 0.75},  {255, 0.85}, {0, 1},      {255, 1}};
    memcpy(made, palette, sizeof(uint8_t[256][3]));
    for (int32_t label = 2; label < n_labels && label < 256; label++) {
        double farthest = -1;
        for (size_t s = 0; s < sizeof shades / sizeof *shades && farthest < FAR_ENOUGH; s++) {
            uint8_t colour[3];
            for (int c = 0; c < 3; c++)
                colour[c] =
                    (uint8_t)(palette[label][c] + shades[s].share * (shades[s].towards - palette[label][c]) + 0.5);
            double distance = distance_to_earlier((const uint8_t(*)[3])made, label, colour);
            if (distance > farthest) {
                farthest = distance;
                memcpy(made[label], colour, sizeof colour);
            }
        }
    }
}
