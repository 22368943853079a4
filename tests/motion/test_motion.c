/* Optical flow: pyramids by their definition, and motions that are known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "motion/motion.h"
#include "support/images.h"
#include "support/requests.h"
#include "support/support.h"

/* -1 .. 1, smooth: a sum of waves of 25 to 60 pixels in several directions. */
static double texture(double x, double y)
{
    static const double waves[][3] = {
        {0.31, 0.11, 0.3}, {-0.17, 0.41, 1.7}, {0.05, -0.29, 2.9}, {0.53, 0.37, 4.1}, {0.23, -0.47, 0.9}};
    double sum = 0;
    for (int k = 0; k < 5; k++)
        sum += sin(0.35 * waves[k][0] * x + 0.35 * waves[k][1] * y + waves[k][2]) / 5;
    return sum;
}

/* The texture, of which the point (x, y) is shown at (x + dx, y + dy). */
static struct clv_image shifted(int32_t width, int32_t height, double dx, double dy)
{
    struct clv_image image = {0};
    must(clv_image_new(&image, width, height, 3, err));
    for (int p = 0; p < width * height; p++)
        memset(image.pixels + 3 * p, (int)lround(128 + 120 * texture(p % width - dx, p / width - dy)), 3);
    return image;
}

/* flow[height][width][2] from one image to the other. */
static float *flow_of(const struct clv_image *from, const struct clv_image *to)
{
    OWNED(motion_pyramid_release) struct motion_pyramid a = {0}, b = {0};
    float *flow = malloc((size_t)from->width * (size_t)from->height * 2 * sizeof *flow);
    must(motion_pyramid_init(&a, from, err));
    must(motion_pyramid_init(&b, to, err));
    must(motion_estimate(flow, &a, &b, err));
    return flow;
}

TEST(levels_are_halved_by_means_of_four_pixels_while_sides_have_16)
{
    static const struct {
        int32_t width, height, n_levels;
    } rows[] = {{15, 99, 1}, {31, 99, 1}, {32, 32, 2}, {33, 47, 2}, {129, 65, 3}, {5000, 4100, 8}, {1, 1, 1}};
    uint32_t state = 3;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        OWNED(motion_pyramid_release) struct motion_pyramid pyramid = {0};
        must(clv_image_new(&image, rows[k].width, rows[k].height, 3, err));
        const int32_t n = image.width * image.height;
        for (int32_t i = 0; i<3 * n; i += n> 100000 ? 997 : 1)
            image.pixels[i] = (uint8_t)noise(&state);
        must(motion_pyramid_init(&pyramid, &image, err));
        ck_assert_int_eq(pyramid.n_levels, rows[k].n_levels);
        for (int32_t i = 0; i<n; i += n> 100000 ? 991 : 1) {
            const uint8_t *rgb = image.pixels + 3 * (size_t)i;
            ck_assert_double_eq_tol((double)pyramid.level[0][i], 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2],
                                    1e-3);
        }
        for (int32_t level = 1; level < pyramid.n_levels; level++) {
            const int32_t width = pyramid.width[level], height = pyramid.height[level], wide = pyramid.width[level - 1];
            ck_assert(width == wide / 2 && height == pyramid.height[level - 1] / 2);
            for (int32_t i = 0; i<width * height; i += n> 100000 ? 97 : 1) {
                const float *at = pyramid.level[level - 1] + (size_t)(i / width * 2) * (size_t)wide + i % width * 2;
                ck_assert_double_eq_tol((double)pyramid.level[level][i],
                                        (double)(at[0] + at[1] + at[wide] + at[wide + 1]) / 4, 1e-3);
            }
        }
    }
}

TEST(what_stands_still_does_not_move_and_what_has_no_texture_either)
{
    for (int is_flat = 0; is_flat < 2; is_flat++) {
        OWNED(clv_image_release) struct clv_image image = shifted(50, 41, 0, 0);
        if (is_flat)
            memset(image.pixels, 77, 3 * 50 * 41);
        OWNED_ARRAY float *flow = flow_of(&image, &image);
        for (int k = 0; k < 2 * 50 * 41; k++)
            ck_assert_msg(flow[k] == 0, "value %d is %g", k, (double)flow[k]);
    }
}

static const double motions[][2] = {{1, 0}, {0, -1}, {0.5, 0.25}, {-2.75, 1.5}, {5, -6}, {-11.5, 8.25}, {17, 3}};

TESTS(a_texture_that_moves_is_followed_to_a_part_of_a_pixel_however_far, 0, sizeof motions / sizeof *motions)
{
    enum { W = 128, H = 96, MARGIN = 24 };
    const double dx = motions[_i][0], dy = motions[_i][1];
    OWNED(clv_image_release) struct clv_image from = shifted(W, H, 0, 0), to = shifted(W, H, dx, dy);
    OWNED_ARRAY float *flow = flow_of(&from, &to);
    double largest = 0, sum = 0;
    int n = 0;
    for (int y = MARGIN; y < H - MARGIN; y++)
        for (int x = MARGIN; x < W - MARGIN; x++) {
            const float *at = flow + 2 * (y * W + x);
            const double error = hypot((double)at[0] - dx, (double)at[1] - dy);
            largest = fmax(largest, error);
            sum += error;
            n++;
        }
    ck_assert_msg(largest < 0.2 && sum / n < 0.08, "%g on average, %g at most", sum / n, largest);
}

/* Each place starts from the coarser level's motion there, not from that of another place. */
TEST(halves_that_move_apart_are_followed_to_both_sides)
{
    enum { W = 256, H = 96, MARGIN = 24, MOTION = 15 };
    OWNED(clv_image_release) struct clv_image from = shifted(W, H, 0, 0), to = shifted(W, H, -MOTION, 0);
    OWNED(clv_image_release) struct clv_image right = shifted(W, H, MOTION, 0);
    for (int y = 0; y < H; y++)
        memcpy(to.pixels + 3 * (y * W + W / 2), right.pixels + 3 * (y * W + W / 2), 3 * W / 2);
    OWNED_ARRAY float *flow = flow_of(&from, &to);
    double sum = 0;
    int n = 0;
    for (int y = MARGIN; y < H - MARGIN; y++)
        for (int x = MARGIN; x < W - MARGIN; x++) {
            const float *at = flow + 2 * (y * W + x);
            if (abs(x - W / 2) > 2 * MARGIN) {
                sum += hypot((double)at[0] - (x < W / 2 ? -MOTION : MOTION), (double)at[1]);
                n++;
            }
        }
    ck_assert_msg(sum / n < 0.1, "%g pixels off on average", sum / n);
}

/* Lightness that changes as a whole is no motion: patches are compared without their means. */
TEST(a_change_of_light_is_no_motion)
{
    OWNED(clv_image_release) struct clv_image from = shifted(64, 48, 0, 0), to = shifted(64, 48, 2, 1);
    for (int k = 0; k < 3 * 64 * 48; k++) {
        from.pixels[k] = (uint8_t)(from.pixels[k] / 2 + 10);
        to.pixels[k] = (uint8_t)(to.pixels[k] / 2 + 60);
    }
    OWNED_ARRAY float *flow = flow_of(&from, &to);
    for (int y = 12; y < 36; y++)
        for (int x = 12; x < 52; x++) {
            const float *at = flow + 2 * (y * 64 + x);
            ck_assert_msg(fabs((double)at[0] - 2) < 0.3 && fabs((double)at[1] - 1) < 0.3, "%d, %d: %g, %g", x, y,
                          (double)at[0], (double)at[1]);
        }
}

/* Where nothing fits a patch still lies on the frame, by a pixel at least, and flow is the mean of patches of 8. */
TEST(frames_that_have_nothing_in_common_have_a_motion_within_the_frame)
{
    static const int32_t sides[][2] = {{1, 1}, {1, 9}, {7, 3}, {20, 20}, {31, 16}, {31, 200}}; /* one level */
    uint32_t state = 8;
    for (size_t s = 0; s < sizeof sides / sizeof *sides; s++)
        for (int round = 0; round < 5; round++) {
            const int32_t width = sides[s][0], height = sides[s][1];
            OWNED(clv_image_release) struct clv_image from = {0}, to = {0};
            must(clv_image_new(&from, width, height, 3, err));
            must(clv_image_new(&to, width, height, 3, err));
            for (int32_t k = 0; k < 3 * width * height; k++) {
                from.pixels[k] = (uint8_t)noise(&state);
                to.pixels[k] = (uint8_t)noise(&state);
            }
            OWNED_ARRAY float *flow = flow_of(&from, &to);
            for (int32_t p = 0; p < width * height; p++) {
                const float x = (float)(p % width) + flow[2 * p], y = (float)(p / width) + flow[2 * p + 1];
                ck_assert_msg(x >= -8 && y >= -8 && x <= (float)width + 8 && y <= (float)height + 8,
                              "%dx%d: %d, %d goes to %g, %g", width, height, p % width, p / width, (double)x,
                              (double)y);
            }
        }
}

/* Two objects move apart before a still ground: each keeps its own motion. */
TEST(motions_beside_each_other_stay_apart)
{
    enum { W = 160, H = 80 };
    OWNED(clv_image_release) struct clv_image from = shifted(W, H, 0, 0), to = shifted(W, H, 0, 0);
    for (int p = 0; p < W * H; p++) {
        const int x = p % W, y = p / W;
        if (y >= 20 && y < 60 && x >= 20 && x < 60)
            memset(from.pixels + 3 * p, (int)lround(128 + 120 * texture(y + 300, x)), 3);
        if (y >= 20 && y < 60 && x >= 26 && x < 66) /* 6 to the right */
            memset(to.pixels + 3 * p, (int)lround(128 + 120 * texture(y + 300, x - 6)), 3);
        if (y >= 20 && y < 60 && x >= 100 && x < 140)
            memset(from.pixels + 3 * p, (int)lround(128 + 120 * texture(y + 700, x)), 3);
        if (y >= 24 && y < 64 && x >= 100 && x < 140) /* 4 down */
            memset(to.pixels + 3 * p, (int)lround(128 + 120 * texture(y - 4 + 700, x)), 3);
    }
    OWNED_ARRAY float *flow = flow_of(&from, &to);
    static const struct {
        int x, y;
        double dx, dy;
    } places[] = {{40, 40, 6, 0},  {32, 30, 6, 0}, {50, 50, 6, 0}, {120, 40, 0, 4},
                  {110, 32, 0, 4}, {80, 70, 0, 0}, {80, 10, 0, 0}, {10, 10, 0, 0}};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        const float *at = flow + 2 * (places[k].y * W + places[k].x);
        ck_assert_msg(hypot((double)at[0] - places[k].dx, (double)at[1] - places[k].dy) < 0.3, "%d, %d moves by %g, %g",
                      places[k].x, places[k].y, (double)at[0], (double)at[1]);
    }
}

static enum clv_status estimate(const struct clv_image *image, struct clv_error *err)
{
    OWNED(motion_pyramid_release) struct motion_pyramid pyramid = {0};
    static float flow[2 * 40 * 36];
    MUST(motion_pyramid_init(&pyramid, image, err));
    return motion_estimate(flow, &pyramid, &pyramid, err);
}

TEST(memory_that_is_out_is_reported)
{
    OWNED(clv_image_release) struct clv_image image = shifted(40, 36, 0, 0);
    must_survive_failed_requests(estimate(&image, err));
}
