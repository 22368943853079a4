/* The anatomy of synthetic animals: from ranges of proportions to a posed set of rounded cones. */
#ifndef SYNTH_ANIMAL_H
#define SYNTH_ANIMAL_H

#include "synth/shape.h"

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

#endif
