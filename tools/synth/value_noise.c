/* Draws random numbers in order (dice), and smooth noise from random values on a grid. */
#include "synth.h"

#include <math.h>
#include <stddef.h>

#include "base/base.h"

float dice_between(struct dice *dice, float low, float high)
{
    return low + (high - low) * (float)rng_uniform(dice->seed, dice->stream, dice->index++);
}

int dice_below(struct dice *dice, int n)
{
    return (int)rng_below(dice->seed, dice->stream, dice->index++, (uint32_t)n);
}

bool dice_chance(struct dice *dice, float probability)
{
    return rng_uniform(dice->seed, dice->stream, dice->index++) < (double)probability;
}

void noise_init(struct noise *noise, struct dice *dice)
{
    for (size_t i = 0; i < NOISE_SIDE * NOISE_SIDE; i += 4) {
        struct rng_block block = rng_at(dice->seed, dice->stream, dice->index++);
        for (size_t j = 0; j < 4; j++)
            noise->lattice[i + j] = (float)(block.word[j] >> 8) * (2.0f / 16777215) - 1;
    }
}

static float lattice_value(const struct noise *noise, int column, int row)
{
    return noise->lattice[(unsigned)row % NOISE_SIDE * NOISE_SIDE + (unsigned)column % NOISE_SIDE];
}

float noise_cell(const struct noise *noise, int column, int row)
{
    return 0.5f + 0.5f * lattice_value(noise, column, row);
}

static float smooth(float t)
{
    return t * t * (3 - 2 * t);
}

float noise_at(const struct noise *noise, float x, float y)
{
    int column = floor_to_int(x), row = floor_to_int(y);
    float s = smooth(x - (float)column), t = smooth(y - (float)row);
    float top = lattice_value(noise, column, row), bottom = lattice_value(noise, column, row + 1);
    top += s * (lattice_value(noise, column + 1, row) - top);
    bottom += s * (lattice_value(noise, column + 1, row + 1) - bottom);
    return top + t * (bottom - top);
}

float noise_fractal(const struct noise *noise, float x, float y, int n_octaves)
{
    float sum = 0, amplitude = 1, total = 0;
    for (int octave = 0; octave < n_octaves; octave++) {
        sum += amplitude * noise_at(noise, x, y);
        total += amplitude;
        amplitude *= 0.5f;
        /* The shift keeps the octaves' lattices from lining up at the origin. */
        x = 2 * x + 17.3f;
        y = 2 * y + 9.7f;
    }
    return sum / total;
}

float noise_cellular(const struct noise *noise, float x, float y, float *chosen)
{
    int column = floor_to_int(x), row = floor_to_int(y);
    float nearest = 8, value = 0;
    for (int r = row - 1; r <= row + 1; r++)
        for (int c = column - 1; c <= column + 1; c++) {
            float dx = (float)c + 0.2f + 0.6f * noise_cell(noise, c, r) - x;
            float dy = (float)r + 0.2f + 0.6f * noise_cell(noise, c + 31, r + 7) - y;
            float square = dx * dx + dy * dy;
            if (square < nearest) {
                nearest = square;
                value = noise_cell(noise, c + 13, r + 43);
            }
        }
    if (chosen)
        *chosen = value;
    return sqrtf(nearest);
}
