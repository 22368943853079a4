/* The robot user of interactive segmentation: clicks in the centre of the largest error, as in Xu et al. (2016) and
 * Sofiiuk et al. (2021, RITM). */
#ifndef ROBOT_H
#define ROBOT_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cleave.h"
#include "click/click.h"

#define ROBOT_CLICKS 20
#define ROBOT_DISC   3 /* radius of a click's disc in pixels */

/* One row or column: squared distances to the nearest zero (Felzenszwalb & Huttenlocher 2012). */
static inline void robot_parabolas(double *out, const double *f, int n, int *v, double *z)
{
    int k = 0;
    v[0] = 0;
    z[0] = -1e20;
    z[1] = 1e20;
    for (int q = 1; q < n; q++) {
        double s = ((f[q] + (double)q * q) - (f[v[k]] + (double)v[k] * v[k])) / (2.0 * (q - v[k]));
        while (s <= z[k]) {
            k--;
            s = ((f[q] + (double)q * q) - (f[v[k]] + (double)v[k] * v[k])) / (2.0 * (q - v[k]));
        }
        v[++k] = q;
        z[k] = s;
        z[k + 1] = 1e20;
    }
    k = 0;
    for (int q = 0; q < n; q++) {
        while (z[k + 1] < q)
            k++;
        out[q] = (double)(q - v[k]) * (q - v[k]) + f[v[k]];
    }
}

/* The pixel of wrong[height][width] furthest from all that is not wrong, the image's outside included; its squared
 * distance, 0 if none is wrong. `clicked` pixels are not clicked again. */
static inline double robot_centre(int32_t *x, int32_t *y, const uint8_t *wrong, const uint8_t *clicked, int width,
                                  int height)
{
    int w = width + 2, h = height + 2, longest = w > h ? w : h;
    double *d = malloc(sizeof *d * (size_t)w * (size_t)h), *f = malloc(sizeof *f * (size_t)longest),
           *out = malloc(sizeof *out * (size_t)longest), *z = malloc(sizeof *z * ((size_t)longest + 1)), best = 0;
    int *v = malloc(sizeof *v * (size_t)longest);
    if (!d || !f || !out || !z || !v)
        abort();
    for (int j = 0; j < h; j++)
        for (int i = 0; i < w; i++) {
            bool is_inside = j > 0 && i > 0 && j <= height && i <= width;
            d[j * w + i] = is_inside && wrong[(j - 1) * width + i - 1] ? 1e12 : 0;
        }
    for (int i = 0; i < w; i++) {
        for (int j = 0; j < h; j++)
            f[j] = d[j * w + i];
        robot_parabolas(out, f, h, v, z);
        for (int j = 0; j < h; j++)
            d[j * w + i] = out[j];
    }
    for (int j = 0; j < h; j++) {
        memcpy(f, d + j * w, sizeof *f * (size_t)w);
        robot_parabolas(d + j * w, f, w, v, z);
    }
    for (int j = 0; j < height; j++)
        for (int i = 0; i < width; i++) {
            double here = d[(j + 1) * w + i + 1];
            if (here > best && !clicked[j * width + i]) {
                best = here;
                *x = i;
                *y = j;
            }
        }
    free(d);
    free(f);
    free(out);
    free(z);
    free(v);
    return best;
}

/* truth: 1 object, 0 not, CLV_VOID counts for neither. */
static inline double robot_iou(const uint8_t *labels, const uint8_t *truth, size_t n)
{
    size_t both = 0, either = 0;
    for (size_t p = 0; p < n; p++)
        if (truth[p] != CLV_VOID) {
            both += labels[p] && truth[p];
            either += labels[p] || truth[p];
        }
    return either ? (double)both / (double)either : 1;
}

/* What to click next; false if nothing is wrong. Scratch: [2][n] bytes. */
static inline bool robot_next(struct click_press *press, const uint8_t *labels, const uint8_t *truth,
                              const uint8_t *clicked, int width, int height, uint8_t *scratch)
{
    size_t n = (size_t)width * (size_t)height;
    int32_t x[2] = {0}, y[2] = {0};
    double distance[2];
    for (int side = 0; side < 2; side++) { /* 1: missing foreground */
        for (size_t p = 0; p < n; p++)
            scratch[p] = truth[p] == side && labels[p] != side;
        distance[side] = robot_centre(&x[side], &y[side], scratch, clicked, width, height);
    }
    int side = distance[1] > distance[0];
    *press = (struct click_press){x[side], y[side], side};
    return distance[side] > 0;
}

static inline void robot_disc(uint8_t *seeds, const struct click_press *press, int width, int height)
{
    for (int y = press->y - ROBOT_DISC; y <= press->y + ROBOT_DISC; y++)
        for (int x = press->x - ROBOT_DISC; x <= press->x + ROBOT_DISC; x++) {
            int dx = x - press->x, dy = y - press->y;
            if (x >= 0 && y >= 0 && x < width && y < height && dx * dx + dy * dy <= ROBOT_DISC * ROBOT_DISC)
                seeds[y * width + x] = press->is_foreground ? CLICK_FOREGROUND : CLICK_BACKGROUND;
        }
}

#endif
