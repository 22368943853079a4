/* Motion between frames, and masks that are propagated. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleave/segment.h"
#include "sequence/sequence.h"
#include "support/requests.h"
#include "support/support.h"

enum { WIDTH = 120, HEIGHT = 90, SIDE = 30 };

/* -1..1, of a place on a grid. */
static double noise(int seed, int x, int y)
{
    uint32_t h = (uint32_t)seed * 2654435761U ^ (uint32_t)(x + 1000) * 2246822519U ^ (uint32_t)(y + 1000) * 3266489917U;
    h = (h ^ h >> 15) * 2246822519U;
    h = (h ^ h >> 13) * 3266489917U;
    return (double)((h ^ h >> 16) & 0xFFFF) / 32767.5 - 1;
}

/* The same between places 5 pixels apart. */
static double texture(int seed, double x, double y)
{
    int left = (int)floor(x / 5), top = (int)floor(y / 5);
    double fx = x / 5 - left, fy = y / 5 - top;
    return (1 - fy) * ((1 - fx) * noise(seed, left, top) + fx * noise(seed, left + 1, top)) +
           fy * ((1 - fx) * noise(seed, left, top + 1) + fx * noise(seed, left + 1, top + 1));
}

/* A square of side 30 at (left, top), textured and reddish, before a background that moves by background_x. */
static void draw(struct clv_image *image, uint8_t *truth, double left, double top, double background_x)
{
    must(clv_image_new(image, WIDTH, HEIGHT, 3, err));
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        int x = i % WIDTH, y = i / WIDTH;
        bool is_in = x >= left && x < left + SIDE && y >= top && y < top + SIDE;
        double value = is_in ? texture(1, x - left, y - top) : texture(2, x - background_x, y);
        for (int c = 0; c < 3; c++)
            image->pixels[3 * i + c] = (uint8_t)(128 + 90 * value + (is_in && c == 0 ? 12 : 0));
        truth[i] = is_in;
    }
}

static double overlap(const uint8_t *a, const uint8_t *b)
{
    double both = 0, either = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        both += a[i] && b[i];
        either += a[i] || b[i];
    }
    return both / either;
}

TEST(motion_finds_how_far_foreground_and_background_have_moved)
{
    static uint8_t truth[WIDTH * HEIGHT], ignored[WIDTH * HEIGHT];
    static float flow[WIDTH * HEIGHT * 2];
    struct clv_image images[2];
    struct motion_pyramid from, to;
    draw(&images[0], truth, 40, 30, 0);
    draw(&images[1], ignored, 46.5, 28, -3);
    must(motion_pyramid_init(&from, &images[0], err));
    must(motion_pyramid_init(&to, &images[1], err));
    must(motion_estimate(flow, &from, &to, err));
    int wrong = 0, accessed_bytes = 0;
    for (int y = 12; y < HEIGHT - 12; y++)
        for (int x = 12; x < WIDTH - 12; x++) {
            bool is_in = x >= 46 && x < 64 && y >= 36 && y < 54, is_out = x < 34 || x > 82 || y < 22 || y > 66;
            const float *v = flow + 2 * (y * WIDTH + x);
            if (!is_in && !is_out)
                continue;
            accessed_bytes++;
            wrong += fabs(v[0] - (is_in ? 6.5 : -3)) > 0.6 || fabs(v[1] - (is_in ? -2 : 0)) > 0.6;
        }
    ck_assert_int_gt(accessed_bytes, 3000);
    ck_assert_int_lt(wrong, accessed_bytes / 50);
    motion_pyramid_release(&from);
    motion_pyramid_release(&to);
    clv_image_release(&images[0]);
    clv_image_release(&images[1]);
}

TEST(a_mask_follows_what_moves_before_a_moving_background)
{
    enum { FRAMES = 8 };
    static uint8_t truth[FRAMES][WIDTH * HEIGHT], labels[WIDTH * HEIGHT];
    struct clv_image images[FRAMES];
    struct propagation propagation;
    for (int t = 0; t < FRAMES; t++)
        draw(&images[t], truth[t], 20 + 5 * t, 25 + t, -2 * t);
    must(propagation_init(&propagation, &images[0], truth[0], err));
    for (int t = 1; t < FRAMES; t++) {
        must(propagation_next(labels, &propagation, &images[t], t + 1 < FRAMES ? &images[t + 1] : NULL, err));
        ck_assert_double_gt(overlap(labels, truth[t]), 0.85);
    }
    ck_assert_double_lt(overlap(truth[0], truth[FRAMES - 1]), 0.1);
    propagation_release(&propagation);
    for (int t = 0; t < FRAMES; t++)
        clv_image_release(&images[t]);
}

TEST(a_frame_of_another_size_is_refused_and_one_of_a_pixel_is_taken)
{
    uint8_t mask[6] = {1, 0, 0, 0, 255, 1}, labels[6] = {7};
    struct clv_image image, other;
    struct propagation propagation;
    must(clv_image_new(&image, 3, 2, 3, err));
    must(clv_image_new(&other, 2, 3, 3, err));
    must(propagation_init(&propagation, &image, mask, err));
    must_fail(CLV_ERR_DATA, "2x3", propagation_next(labels, &propagation, &other, NULL, err));
    must(propagation_next(labels, &propagation, &image, NULL, err));
    ck_assert_int_le(labels[0], 1);
    propagation_release(&propagation);
    clv_image_release(&image);
    clv_image_release(&other);
    must(clv_image_new(&image, 1, 1, 3, err));
    must(propagation_init(&propagation, &image, mask, err));
    must(propagation_next(labels, &propagation, &image, &image, err));
    must(propagation_next(labels, &propagation, &image, NULL, err));
    propagation_release(&propagation);
    clv_image_release(&image);
}

TEST(planes_are_sampled_blurred_and_measured_by_their_definitions)
{
    enum { W = 9, H = 7 };
    float plane[W * H], blurred[W * H], distance[W * H], line[W], at;
    for (int i = 0; i < W * H; i++)
        plane[i] = (float)(i * i % 17) / 17;
    memcpy(blurred, plane, sizeof plane);
    plane_blur(blurred, W, H, 2, 1, line);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            double sum = 0;
            for (int v = y - 2; v <= y + 2; v++)
                for (int u = x - 2; u <= x + 2; u++)
                    sum += u >= 0 && v >= 0 && u < W && v < H ? plane[v * W + u] : 0;
            ck_assert_double_eq_tol(blurred[y * W + x], sum / 25, 1e-6);
        }
    plane_sample(&at, plane, 1, W, H, 2.25F, 3.5F);
    double expected = 0.5 * (0.75 * plane[3 * W + 2] + 0.25 * plane[3 * W + 3]) +
                      0.5 * (0.75 * plane[4 * W + 2] + 0.25 * plane[4 * W + 3]);
    ck_assert_double_eq_tol(at, expected, 1e-6);
    plane_sample(&at, plane, 1, W, H, -5, 100);
    ck_assert_double_eq_tol(at, plane[(H - 1) * W], 1e-6);
    memset(plane, 0, sizeof plane);
    plane[3 * W + 4] = 1;
    plane_distance(distance, plane, W, H, 100);
    ck_assert_double_eq_tol(distance[3 * W + 4], 1, 1e-6);
    ck_assert_double_eq_tol(distance[3 * W + 7], -3, 1e-6);
    ck_assert_double_eq_tol(distance[0], -(3 * sqrt(2) + 1), 1e-5);
    plane[3 * W + 4] = 0;
    plane_distance(distance, plane, W, H, 100);
    ck_assert_double_eq(distance[5], -100);
}

TEST(masks_are_propagated_in_memory_from_the_nearest_one_on_any_threads)
{
    enum { N = 6 };
    static uint8_t truth[N][WIDTH * HEIGHT], found[2][N][WIDTH * HEIGHT];
    struct clv_image images[N];
    uint8_t *labels[N];
    const uint8_t *given[N] = {NULL};
    struct clv_sequence_options options;
    clv_sequence_defaults(&options);
    for (int t = 0; t < N; t++)
        draw(&images[t], truth[t], 30 + 4 * t, 30, -t);
    given[1] = truth[1];
    memset(found, 7, sizeof found);
    for (int run = 0; run < 2; run++) {
        for (int t = 0; t < N; t++)
            labels[t] = t == 3 ? NULL : found[run][t];
        options.n_threads = 1 + 2 * run;
        must(clv_propagate_masks(labels, given, images, N, &options, err));
    }
    ck_assert_mem_eq(found[0], found[1], sizeof found[0]);
    for (int t = 0; t < N; t++)
        if (t == 1 || t == 3)
            ck_assert(found[0][t][0] == 7 && found[0][t][WIDTH * HEIGHT - 1] == 7);
        else
            ck_assert_double_gt(overlap(found[0][t], truth[t]), 0.9);
    struct propagation propagation = {.terms = NULL};
    static uint8_t next[WIDTH * HEIGHT];
    must(propagation_init(&propagation, &images[1], truth[1], err));
    must(propagation_next(next, &propagation, &images[2], &images[3], err));
    ck_assert_mem_eq(next, found[0][2], sizeof next);
    propagation_release(&propagation);
    for (int t = 0; t < N; t++)
        clv_image_release(&images[t]);
}

TEST(what_cannot_be_propagated_in_memory_is_refused)
{
    static uint8_t truth[WIDTH * HEIGHT], found[WIDTH * HEIGHT];
    struct clv_image images[2], small;
    uint8_t *labels[2] = {NULL, found};
    const uint8_t *given[2] = {NULL, NULL};
    int stop = 1;
    const struct clv_progress progress = {.stop = &stop};
    struct clv_sequence_options options;
    clv_sequence_defaults(&options);
    draw(&images[0], truth, 30, 30, 0);
    draw(&images[1], truth, 34, 30, 0);
    must_fail(CLV_ERR_DATA, "none of the 2 frames has a mask",
              clv_propagate_masks(labels, given, images, 2, NULL, err));
    given[0] = truth;
    given[1] = truth;
    must_fail(CLV_ERR_USAGE, "no frame is to be labelled", clv_propagate_masks(labels, given, images, 2, NULL, err));
    given[1] = NULL;
    options.progress = &progress;
    must_fail(CLV_ERR_INTERRUPTED, "interrupted", clv_propagate_masks(labels, given, images, 2, &options, err));
    small = images[1];
    small.height -= 10;
    struct clv_image unlike[2] = {images[0], small};
    must_fail(CLV_ERR_DATA, "frame 1 is 120x80, those before it are 120x90",
              clv_propagate_masks(labels, given, unlike, 2, NULL, err));
    unlike[1] = (struct clv_image){0};
    must_fail(CLV_ERR_USAGE, "frame 1 is 0x0 of 0 channels", clv_propagate_masks(labels, given, unlike, 2, NULL, err));
    struct clv_model model = {0};
    must_fail(CLV_ERR_USAGE, "not learned of sequences", clv_segment_sequence(labels, &model, images, 2, NULL, err));
    clv_image_release(&images[0]);
    clv_image_release(&images[1]);
}

/* Blocks of a frame of more than 131072 pixels are averaged: 1 is foreground, what is neither label counts half. */
TEST(a_propagation_begins_with_the_shares_of_foreground_in_blocks_of_pixels)
{
    static const int sizes[][3] = {
        {9, 7, 1}, {600, 401, 2}, {1100, 350, 2}, {1001, 1000, 3}}; /* and sides of a block */
    uint32_t state = 2;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int width = sizes[s][0], height = sizes[s][1], side = sizes[s][2];
        OWNED(propagation_release) struct propagation propagation = {.terms = NULL};
        OWNED(clv_image_release) struct clv_image image = {0};
        OWNED_ARRAY uint8_t *mask = malloc((size_t)(width * height));
        must(clv_image_new(&image, width, height, 3, err));
        for (int p = 0; p < width * height; p++)
            mask[p] = (const uint8_t[]){0, 1, 255, 2}[(state = state * 1664525 + 1013904223) >> 16 & 3];
        must(propagation_init(&propagation, &image, mask, err));
        ck_assert(propagation.width == width / side && propagation.height == height / side);
        for (int y = 0; y < propagation.height; y++)
            for (int x = 0; x < propagation.width; x++) {
                double sum = 0;
                for (int k = 0; k < side * side; k++) {
                    const uint8_t label = mask[(y * side + k / side) * width + x * side + k % side];
                    sum += label == 1 ? 1 : label == 0 ? 0 : 0.5;
                }
                const int i = y * propagation.width + x;
                ck_assert_double_eq_tol((double)propagation.first_foreground[i], sum / (side * side), 1e-6);
                ck_assert(propagation.foreground[i] == propagation.first_foreground[i]);
                ck_assert(propagation.moved[2 * i] == (float)x && propagation.moved[2 * i + 1] == (float)y);
                ck_assert(propagation.origin[3 * i] == (float)x && propagation.origin[3 * i + 1] == (float)y &&
                          propagation.origin[3 * i + 2] == 1);
            }
    }
}

/* A frame that does not move, its left half red and foreground, its right half blue. */
TEST(a_pixels_colour_speaks_for_the_side_that_has_it)
{
    enum { W = 60, H = 40 };
    static const enum propagate_term terms[] = {TERM_COLOUR, TERM_FIRST, TERM_OVERALL};
    static const uint8_t colours[2][3] = {{40, 60, 200}, {200, 40, 40}};
    uint8_t mask[W * H], labels[W * H];
    OWNED(propagation_release) struct propagation propagation = {.terms = NULL};
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_new(&image, W, H, 3, err));
    for (int p = 0; p < W * H; p++) {
        mask[p] = p % W < W / 2;
        memcpy(image.pixels + 3 * p, colours[mask[p]], 3);
    }
    must(propagation_init(&propagation, &image, mask, err));
    must(propagation_next(labels, &propagation, &image, NULL, err));
    for (int p = 0; p < W * H; p++)
        for (size_t k = 0; k < sizeof terms / sizeof *terms; k++) {
            float term = propagation.terms[p * PROPAGATE_TERMS + (int)terms[k]];
            ck_assert_msg(mask[p] ? term > 1 : term < -1, "pixel %d: term %d is %g", p, (int)terms[k], (double)term);
        }
}

TEST(memory_that_is_out_is_reported_and_given_frames_stay)
{
    enum { N = 3, PIXELS = 16 * 12 };
    static uint8_t truth[PIXELS], found[N][PIXELS];
    struct clv_image images[N];
    uint8_t *labels[N] = {found[0], found[1], NULL};
    const uint8_t *given[N] = {truth, NULL, NULL};
    for (int p = 0; p < PIXELS; p++)
        truth[p] = p % 16 < 6;
    for (int t = 0; t < N; t++) {
        must(clv_image_new(&images[t], 16, 12, 3, err));
        for (int k = 0; k < 3 * PIXELS; k++)
            images[t].pixels[k] = (uint8_t)(k / 3 % 16 < 6 + t ? 200 : 30);
    }
    memset(found, 7, sizeof found);
    const struct clv_sequence_options options = {.n_threads = 1};
    must_survive_failed_requests(clv_propagate_masks(labels, given, images, N, &options, err));
    for (int p = 0; p < PIXELS; p++)
        ck_assert(found[0][p] == 7 && found[1][p] <= 1);
    for (int t = 0; t < N; t++)
        clv_image_release(&images[t]);
}
