/* Scores each pixel of a frame as foreground or background, from frames whose foreground is known: by its position, its
 * colours, its motion and the borders of the frame before. Start at evidence_gather. */
#include "sequence/sequence.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "refine/refine.h"

#define SQUARE_PX         20 /* side of a square of the grid in which colours are counted */
#define COLOURS           (FRAME_BINS * FRAME_BINS * FRAME_BINS)
#define FINE_COLOURS      (FRAME_FINE * FRAME_FINE * FRAME_FINE)
#define DOUBT             2.0   /* pixels of either label that are added to every square and colour */
#define FINE_DOUBT        1e-5  /* the same, as a share of all pixels of a label */
#define RETURN_MISS       1.5F  /* miss of follow_back, in pixels, that divides trust by e */
#define ORIGIN_MISS       3.0F  /* the same for origins, which add up over many frames */
#define COLOUR_DIFFERENCE 30.0F /* difference of Lab that divides trust by e */
#define PATCH_DIFFERENCE  20.0F /* the same for the mean difference over 5 x 5 pixels */
#define MIN_PROBABILITY   0.02F /* added to the probabilities of both labels in the frame before */
#define NEAR_PX           8.0F  /* unit of TERM_NEAR .. */
#define FAR_PX            20.0F /* .. and of TERM_FAR, up to MAX_UNITS units */
#define MAX_UNITS         3.0F
#define MOTION_PX         24 /* radius of the blur within which motion is compared */
#define MAX_MOTION        4.0F
#define MAX_CORRECTION_PX 8.0F /* a longer correction of an origin, in pixels, is ignored */

/* self->counts has the colours of the foreground, then those of the background. */
void evidence_learn(struct propagation *self)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    float *foreground = self->counts, *background = self->counts + FINE_COLOURS;
    double total[2] = {0, 0};
    memset(foreground, 0, 2 * FINE_COLOURS * sizeof *foreground);
    for (size_t i = 0; i < n; i++) {
        foreground[self->first.fine[i]] += self->first_foreground[i];
        background[self->first.fine[i]] += 1 - self->first_foreground[i];
        total[0] += (double)self->first_foreground[i];
        total[1] += (double)(1 - self->first_foreground[i]);
    }
    colour_bins_smooth_all(foreground, 2, FRAME_FINE);
    for (size_t c = 0; c < FINE_COLOURS; c++) {
        double inside = (double)foreground[c] / fmax(total[0], 1), outside = (double)background[c] / fmax(total[1], 1);
        self->overall[c] = (float)portable_log((inside + FINE_DOUBT) / (outside + FINE_DOUBT));
    }
}

static int32_t square_within(float at, int32_t n)
{
    return int32_within((double)(at / SQUARE_PX), 0, n - 1);
}

/* Sets terms[term] to the log ratio of foreground and background among the pixels of an earlier frame that have similar
 * colours and whose current positions, position[height][width][2], are near. */
static void add_colours(struct propagation *self, enum propagate_term term, const struct frame *frame,
                        const float *foreground, const float *position)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    size_t n_cells = (size_t)self->columns * (size_t)self->rows * COLOURS;
    memset(self->counts, 0, 2 * n_cells * sizeof *self->counts);
    for (size_t i = 0; i < n; i++) {
        int32_t column = square_within(position[2 * i], self->columns),
                row = square_within(position[2 * i + 1], self->rows);
        float *cell = self->counts + (size_t)(row * self->columns + column) * COLOURS + frame->colour[i];
        cell[0] += foreground[i];
        cell[n_cells] += 1 - foreground[i];
    }
    for (int32_t side = 0; side < 2; side++) {
        float *counts = self->counts + (side ? n_cells : 0);
        colour_bins_smooth(counts, 1, (size_t)self->rows, (size_t)self->columns * COLOURS);
        colour_bins_smooth(counts, (size_t)self->rows, (size_t)self->columns, COLOURS);
        colour_bins_smooth_all(counts, (size_t)self->columns * (size_t)self->rows, FRAME_BINS);
    }
    for (size_t i = 0; i < n; i++) {
        int32_t x = (int32_t)(i % (size_t)self->width), y = (int32_t)(i / (size_t)self->width);
        size_t at = (size_t)(y / SQUARE_PX * self->columns + x / SQUARE_PX) * COLOURS + self->now.colour[i];
        double ratio = ((double)self->counts[at] + DOUBT) / ((double)self->counts[n_cells + at] + DOUBT);
        self->terms[i * PROPAGATE_TERMS + term] = (float)portable_log(ratio);
    }
}

static float between(float value, float low, float high)
{
    return value < low ? low : value > high ? high : value;
}

static float difference_of(const float a[3], const float b[3])
{
    return fabsf(a[0] - b[0]) + fabsf(a[1] - b[1]) + fabsf(a[2] - b[2]);
}

static bool is_outside(const struct propagation *self, float x, float y)
{
    return x < 0 || y < 0 || x > (float)(self->width - 1) || y > (float)(self->height - 1);
}

/* Follows the motion back. miss[height][width]: distance between a pixel and the end of its motion back and forth.
 * trust: falls with miss and with the difference of colours. was: foreground at the pixel's position in the frame
 * before. */
static void follow_back(struct propagation *self, float *miss, float *trust, float *was)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    for (size_t i = 0; i < n; i++) {
        float x = (float)(i % (size_t)self->width) + self->back[2 * i];
        float y = (float)(i / (size_t)self->width) + self->back[2 * i + 1], returned[2], lab[3];
        plane_sample(&was[i], self->foreground, 1, self->width, self->height, x, y);
        plane_sample(returned, self->forth, 2, self->width, self->height, x, y);
        plane_sample(lab, self->before.lab, 3, self->width, self->height, x, y);
        float dx = returned[0] + self->back[2 * i], dy = returned[1] + self->back[2 * i + 1];
        miss[i] = sqrtf(dx * dx + dy * dy);
        float off = miss[i] / RETURN_MISS + difference_of(lab, self->now.lab + 3 * i) / COLOUR_DIFFERENCE;
        trust[i] = is_outside(self, x, y) ? 0 : portable_expf(-off);
    }
}

/* Mixes was[] with the mean of trusted pixels around, which gets the weight 1 - trust. */
static void fill_doubt(struct propagation *self, float *was, const float *trust, float *sum, float *weight)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    for (size_t i = 0; i < n; i++) {
        sum[i] = was[i] * trust[i];
        weight[i] = trust[i];
    }
    plane_blur(sum, self->width, self->height, 3, 3, self->line);
    plane_blur(weight, self->width, self->height, 3, 3, self->line);
    for (size_t i = 0; i < n; i++)
        was[i] = between(trust[i] * was[i] + (1 - trust[i]) * sum[i] / fmaxf(weight[i], 1e-3F), 0, 1);
}

/* hole[height][width] = the share of each pixel, 0..1, to which no pixel of the frame before moved. */
static void find_holes(struct propagation *self, float *hole)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    memset(hole, 0, n * sizeof *hole);
    for (size_t i = 0; i < n; i++) {
        float x = (float)(i % (size_t)self->width) + self->forth[2 * i];
        float y = (float)(i / (size_t)self->width) + self->forth[2 * i + 1];
        if (is_outside(self, x, y))
            continue;
        int32_t left = int32_within((double)x, 0, self->width - 1), top = int32_within((double)y, 0, self->height - 1);
        for (int32_t k = 0; k < 4; k++) {
            int32_t u = left + k % 2, v = top + k / 2;
            if (u < self->width && v < self->height)
                hole[(size_t)v * (size_t)self->width + (size_t)u] +=
                    (1 - fabsf(x - (float)u)) * (1 - fabsf(y - (float)v));
        }
    }
    plane_blur(hole, self->width, self->height, 1, 1, self->line);
    for (size_t i = 0; i < n; i++)
        hole[i] = between(1 - hole[i], 0, 1);
}

/* mean[2][height][width] = mean motion of pixels nearby that are more than two pixels within the foreground (sign 1) or
 * the background (sign -1). */
static void mean_motion(struct propagation *self, float *mean, float *weight, const float *motion,
                        const float *distance, float sign)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    double total[3] = {0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        weight[i] = sign * distance[i] > 2 ? 1 : 0;
        mean[i] = weight[i] * motion[2 * i];
        mean[n + i] = weight[i] * motion[2 * i + 1];
        total[0] += (double)mean[i], total[1] += (double)mean[n + i], total[2] += (double)weight[i];
    }
    plane_blur(weight, self->width, self->height, MOTION_PX, 3, self->line);
    for (size_t k = 0; k < 2; k++) {
        plane_blur(mean + k * n, self->width, self->height, MOTION_PX, 3, self->line);
        double all = total[k] / fmax(total[2], 1);
        for (size_t i = 0; i < n; i++)
            mean[k * n + i] = (mean[k * n + i] + 1e-4F * (float)all) / (weight[i] + 1e-4F);
    }
}

/* Sets TERM_MOTION to sqrt(1 + |v - b|^2) - sqrt(1 + |v - f|^2), where v is the motion of a pixel and f and b are the
 * mean motions of foreground and background nearby. Uses the motion to the next frame, if there is one: pixels that
 * were hidden in the frame before have no motion from there. */
static void add_motion(struct propagation *self, const float *distance, float *planes)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    float *foreground = planes, *background = planes + 2 * n, *weight = planes + 4 * n;
    const float *motion = self->has_after ? self->onward : self->back;
    mean_motion(self, foreground, weight, motion, distance, 1);
    mean_motion(self, background, weight, motion, distance, -1);
    for (size_t i = 0; i < n; i++) {
        float x = motion[2 * i], y = motion[2 * i + 1], fx = x - foreground[i], fy = y - foreground[n + i];
        float gx = x - background[i], gy = y - background[n + i];
        float off = sqrtf(1 + gx * gx + gy * gy) - sqrtf(1 + fx * fx + fy * fy);
        self->terms[i * PROPAGATE_TERMS + TERM_MOTION] = between(off, -MAX_MOTION, MAX_MOTION);
    }
}

/* off[height][width] = mean difference between the colours of `now` and those of the first frame at the origins. */
static void compare_origins(struct propagation *self, float *off, const float *origin)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    for (size_t i = 0; i < n; i++) {
        float lab[3];
        plane_sample(lab, self->first.lab, 3, self->width, self->height, origin[3 * i], origin[3 * i + 1]);
        off[i] = difference_of(lab, self->now.lab + 3 * i);
    }
    plane_blur(off, self->width, self->height, 2, 1, self->line);
}

/* Samples origin[height][width][3] of `now` from self->origin at the position to which the motion leads back. */
static void move_origins(const struct propagation *self, float *origin, const float *motion, const float *miss)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    for (size_t i = 0; i < n; i++) {
        float x = (float)(i % (size_t)self->width) + motion[2 * i];
        float y = (float)(i / (size_t)self->width) + motion[2 * i + 1];
        plane_sample(origin + 3 * i, self->origin, 3, self->width, self->height, x, y);
        if (miss)
            origin[3 * i + 2] *= is_outside(self, x, y) ? 0 : portable_expf(-miss[i] / ORIGIN_MISS);
    }
}

/* Estimates the motion from `now` to the first frame warped by the origins. */
static enum clv_status motion_left(float *motion, struct propagation *self, struct clv_error *err)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    OWNED(clv_image_release) struct clv_image warped = {0};
    OWNED(motion_pyramid_release) struct motion_pyramid pyramid = {0};
    MUST(clv_image_new(&warped, self->width, self->height, 3, err));
    for (size_t i = 0; i < n; i++) {
        int32_t x = int32_within((double)(self->origin[3 * i] + 0.5F), 0, self->width - 1);
        int32_t y = int32_within((double)(self->origin[3 * i + 1] + 0.5F), 0, self->height - 1);
        memcpy(warped.pixels + 3 * i, self->first.image.pixels + 3 * ((size_t)y * (size_t)self->width + (size_t)x), 3);
    }
    MUST(motion_pyramid_init(&pyramid, &warped, err));
    return motion_estimate(motion, &self->now.pyramid, &pyramid, err);
}

/* Sets TERM_ANCHOR. Moves the origins by the motion, then corrects them where the motion to the first frame leads to a
 * more similar patch nearby, so that errors do not add up. planes[5][height][width] is scratch. */
static enum clv_status add_anchor(struct propagation *self, const float *miss, float *planes, struct clv_error *err)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    float *moved = planes, *off = planes + 3 * n, *off_moved = planes + 4 * n;
    move_origins(self, moved, self->back, miss);
    memcpy(self->origin, moved, 3 * n * sizeof *moved);
    MUST(motion_left(self->back, self, err));
    move_origins(self, moved, self->back, NULL);
    compare_origins(self, off, self->origin);
    compare_origins(self, off_moved, moved);
    for (size_t i = 0; i < n; i++) {
        const float *left = self->back + 2 * i;
        if (off_moved[i] < off[i] && left[0] * left[0] + left[1] * left[1] < MAX_CORRECTION_PX * MAX_CORRECTION_PX) {
            memcpy(self->origin + 3 * i, moved + 3 * i, 2 * sizeof *moved);
            off[i] = off_moved[i];
        }
        float was, trust = self->origin[3 * i + 2] * portable_expf(-off[i] / PATCH_DIFFERENCE);
        plane_sample(&was, self->first_foreground, 1, self->width, self->height, self->origin[3 * i],
                     self->origin[3 * i + 1]);
        self->terms[i * PROPAGATE_TERMS + TERM_ANCHOR] = (2 * was - 1) * trust;
    }
    return CLV_OK;
}

enum clv_status evidence_gather(struct propagation *self, struct clv_error *err)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    float *miss = self->planes, *trust = miss + n, *was = trust + n, *rest = was + n;
    follow_back(self, miss, trust, was);
    fill_doubt(self, was, trust, rest, rest + n);
    float *hole = rest, *distance = rest;
    find_holes(self, hole);
    for (size_t i = 0; i < n; i++) {
        float *terms = self->terms + i * PROPAGATE_TERMS;
        terms[TERM_BEFORE] = (float)portable_log((double)((was[i] + MIN_PROBABILITY) / (1 + MIN_PROBABILITY - was[i])));
        terms[TERM_HOLE] = was[i] > 0.1F ? -hole[i] : 0;
        terms[TERM_OVERALL] = self->overall[self->now.fine[i]];
        terms[TERM_ALWAYS] = 1;
    }
    plane_distance(distance, was, self->width, self->height, 1000);
    for (size_t i = 0; i < n; i++) {
        self->terms[i * PROPAGATE_TERMS + TERM_NEAR] = between(distance[i] / NEAR_PX, -MAX_UNITS, MAX_UNITS);
        self->terms[i * PROPAGATE_TERMS + TERM_FAR] = between(distance[i] / FAR_PX, -MAX_UNITS, MAX_UNITS);
    }
    add_motion(self, distance, rest + n);
    float *position = rest;
    for (size_t i = 0; i < n; i++) {
        float *at = self->moved + 2 * i, motion[2];
        plane_sample(motion, self->forth, 2, self->width, self->height, at[0], at[1]);
        at[0] = between(at[0] + motion[0], 0, (float)(self->width - 1));
        at[1] = between(at[1] + motion[1], 0, (float)(self->height - 1));
        position[2 * i] = (float)(i % (size_t)self->width) + self->forth[2 * i];
        position[2 * i + 1] = (float)(i / (size_t)self->width) + self->forth[2 * i + 1];
    }
    add_colours(self, TERM_COLOUR, &self->before, self->foreground, position);
    add_colours(self, TERM_FIRST, &self->first, self->first_foreground, self->moved);
    return add_anchor(self, miss, rest, err);
}
