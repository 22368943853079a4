/* Smooth unions of rounded cones as distance fields, and painting them onto a canvas. */
#ifndef SYNTH_SHAPE_H
#define SYNTH_SHAPE_H

#include "cleave/status.h"
#include "synth/value_noise.h"

struct point {
    float x, y;
};

struct colour {
    float red, green, blue; /* 0..1 */
};
struct colour colour_of(uint32_t rgb); /* 0xrrggbb */
struct colour colour_mix(struct colour a, struct colour b, float share_of_b);
struct colour colour_scale(struct colour colour, float factor);
struct colour colour_jitter(struct dice *dice, struct colour colour, float amount);

/* Everything between two circles: the hull of both. axial runs along it, for textures. */
struct cone {
    struct point a, b;
    float radius_a, radius_b, axial_a, axial_b;
};

/* The signed distance (negative inside, pixels) to a union of cones on an image's pixel centres, with the local
 * thickness and the axial coordinate; valid inside the touched box only. */
struct field {
    int32_t width, height;
    float *distance, *radius, *axial; /* [height][width] */
    int32_t x0, y0, x1, y1;           /* touched: x0 <= x < x1 */
};
enum clv_status field_init(struct field *field, int32_t width, int32_t height, struct clv_error *err) CLV_CHECK;
void field_release(struct field *field);
/* Makes the field that of the union of the cones, whose joints are rounded over `blend` pixels. Distances up to `reach`
 * pixels outside the union are kept. */
void field_union(struct field *field, const struct cone *cones, size_t n_cones, float blend, float reach);

/* colour[height][width] in 0..1; figure is the visible coverage of the figure, 0..1. */
struct canvas {
    int32_t width, height;
    float unit; /* pixels that fine textures take for one: 1 where the longer side is 240 px */
    struct colour *colour;
    float *figure;
    const struct noise *noise;
    struct {
        float x, y, z; /* towards the light, unit length; y down, z towards the viewer */
    } light;
};
enum clv_status canvas_init(struct canvas *canvas, int32_t width, int32_t height, struct clv_error *err) CLV_CHECK;
void canvas_release(struct canvas *canvas);

enum pattern {
    PATTERN_PLAIN,
    PATTERN_STRIPES, /* across the axial coordinate */
    PATTERN_SPOTS,
    PATTERN_RETICULATED, /* large cells with light seams */
    PATTERN_PATCHES,
    PATTERN_WOOL,
    PATTERN_STONE,
    PATTERN_BARK,
    PATTERN_LEAVES,
};

struct material {
    enum pattern pattern;
    struct colour base, second;
    float scale;         /* pixels of one period or cell of the pattern */
    float grain;         /* strength of the fine texture */
    float roughness;     /* pixels by which noise moves the outline */
    float belly;         /* how much lighter (> 0) or darker the underside is */
    float flatness;      /* 0: shaded as a round body, 1: not shaded */
    struct point origin; /* of the pattern */
};

/* Paints the field's shape, whose reach must be roughness + 1 or more. Coverage of a pixel is 1/2 - distance of its
 * centre, clamped to 0..1. With is_figure the canvas' figure grows by it, without it shrinks: what is painted later
 * hides what was before. */
void canvas_paint(struct canvas *canvas, const struct field *field, const struct material *material, bool is_figure);

/* Darkens the colours under a soft-edged ellipse. */
void canvas_shadow(struct canvas *canvas, struct point centre, float radius_x, float radius_y, float strength);

#endif
