/* Synthetic image sets with exact truth, for demos, tests and scale runs.
 *
 *     struct synth_options options;
 *     synth_options_init(&options);
 *     options.n_images = 12;
 *     status = synth_animals("animals", &options, 0, NULL, &error);
 *
 * To read the source: tools/synth/animals.c writes the set, animal_scene.c composes an image of an animal (animal.c,
 * shape.c) and its ground (ground.c, value_noise.c). */
#ifndef SYNTH_SYNTH_H
#define SYNTH_SYNTH_H

#include <stdbool.h>
#include <stdint.h>

#include "cleave/image.h"
#include "cleave/status.h"

/* Random numbers in sequence and value noise, for synthetic images. */

/* Numbers one after the other from one counter-based stream: image `stream` draws the same ones whatever the others
 * do. */
struct dice {
    uint64_t seed, stream, index;
};
float dice_between(struct dice *dice, float low, float high);
int dice_below(struct dice *dice, int n);
bool dice_chance(struct dice *dice, float probability);

/* Value noise (lattice values, smoothly interpolated), periodic every NOISE_SIDE cells. */
#define NOISE_SIDE 64
struct noise {
    float lattice[NOISE_SIDE * NOISE_SIDE]; /* -1..1 */
};
void noise_init(struct noise *noise, struct dice *dice);

/* One value in 0..1 per lattice cell. */
float noise_cell(const struct noise *noise, int column, int row);

/* -1..1, one cell per unit. */
float noise_at(const struct noise *noise, float x, float y);

/* Sum of octaves of halved amplitude and doubled frequency, -1..1. */
float noise_fractal(const struct noise *noise, float x, float y, int n_octaves);

/* Distance to the nearest of one jittered point per unit cell; *chosen (may be NULL) is a value of 0..1 that belongs to
 * it. */
float noise_cellular(const struct noise *noise, float x, float y, float *chosen);

/* The largest whole number <= x. */
static inline int floor_to_int(float x)
{
    int truncated = (int)x;
    return truncated - (x < (float)truncated);
}

/* Smooth unions of rounded cones as distance fields, and painting them onto a canvas. */

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

/* The anatomy of synthetic animals: from ranges of proportions to a posed set of rounded cones. */

/* Parts are painted in this order, each its own union. */
enum animal_part {
    PART_FAR_LEGS,
    PART_BODY, /* with the near legs */
    PART_HAIR, /* mane and tail of hair */
    PART_HORN, /* horns and hooves */
    PART_EYE,
    N_PARTS,
};
#define MAX_CONES 32

struct animal {
    struct {
        struct cone cones[MAX_CONES];
        size_t n;
    } part[N_PARTS];
    struct material coat; /* base, second, pattern, grain, belly; scale and roughness in body lengths */
    struct colour hair, horn;
    float scale;            /* pixels of a body length */
    struct point low, high; /* bounding box of all parts */
};

/* Draws species, proportions, pose and coat. Coordinates in body lengths: x forward, y down, hip at the origin. */
void animal_pose(struct animal *animal, struct dice *dice);

/* Flips, turns (radians), scales and moves it all, and brings the bounding box up to date. */
void animal_place(struct animal *animal, bool flip, float turn, float scale, struct point origin);

/* A coat colour such as animals have; distractors take them too, so that colour alone is uninformative. */
struct colour coat_colour(struct dice *dice);

/* One synthetic image: ground, distractors, an animal. */

struct synth_request {
    int32_t width, height;
    uint64_t seed;
    uint32_t number;
};

/* Draws image `number` of a seed. image: 3 channels, allocated here; figure[height][width] (allocated here,
 * array_free it) is 1 where the animal's visible coverage is at least one half. */
enum clv_status synth_scene_draw(struct clv_image *image, uint8_t **figure, const struct synth_request *request,
                                 struct clv_error *err) CLV_CHECK;

/* Backgrounds and distractors of synthetic images. */

/* Sky above `horizon` (pixels from the top; at most 0: none), hills or a wood before it, ground below. Patches of the
 * ground take `lure`, a colour of the animal. */
void ground_paint(struct canvas *canvas, struct dice *dice, float horizon, struct colour lure);

/* Where things are painted. */
struct painting {
    struct canvas *canvas;
    struct field *field; /* for one shape after the other */
    struct dice *dice;
    float horizon;
    struct colour lure; /* a colour of the animal */
};

/* Stones, posts, bushes, trees and tufts whose feet stand at `foot`; size is about their height in pixels. Some take
 * the lure. */
enum distractor { DISTRACTOR_STONE, DISTRACTOR_POST, DISTRACTOR_BUSH, DISTRACTOR_TREE, DISTRACTOR_TUFT, N_DISTRACTORS };
void distractor_paint(const struct painting *painting, enum distractor kind, struct point foot, float size);

struct synth_options {
    int32_t n_images;      /* >= 1, default 60 */
    int32_t width, height; /* pixels, 16..8192, default 240 x 180; each image varies by up to a quarter */
    double train_share;    /* share of images whose split is "train", the rest are "test"; default 2/3 */
    uint64_t seed;         /* default 0 */
    bool overwrite; /* files of these names are replaced, else (default) a folder with anything in it is refused */
};
void synth_options_init(struct synth_options *options);

/* Draws textured four-legged animals (body, neck, head, legs, tail; horse, zebra, cow, sheep, deer, giraffe and dog
 * shapes in random pose, place, scale and flip) on textured ground with distractors, and writes them into a new or
 * empty folder:
 *   images/0001.jpg ..   quality 92
 *   masks/0001.png ..    palette PNG: 1 where the animal's visible coverage of the pixel is at least one half, else 0
 *   manifest.tsv         image, mask, split; the first round(train_share * n_images) images are "train"
 *   boxes.tsv            image, label, x, y, w, h: the tight box of the mask
 * Stones, posts, bushes, patches of ground and far hills take the animals' colours, some before the animal and some
 * behind, so that neither colour nor position alone solves it. Same seed, same bytes at any thread count; image k is
 * the same whatever n_images. A folder with anything in it is refused (CLV_ERR_CREATE) and a failure or an interruption
 * leaves nothing behind, unless options->overwrite: then what was drawn so far stays. About 0.15 us a pixel and
 * thread. */
enum clv_status synth_animals(const char *folder, const struct synth_options *options, int n_threads,
                              const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

#endif
