/* Random numbers in sequence and value noise, for synthetic images. */
#ifndef SYNTH_VALUE_NOISE_H
#define SYNTH_VALUE_NOISE_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
