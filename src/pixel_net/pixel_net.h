/* Small networks that classify pixels, and the filters that are their inputs. Read pixel_bank.c (inputs), then
 * pixel_net.c. */
#ifndef PIXEL_NET_PIXEL_NET_H
#define PIXEL_NET_PIXEL_NET_H

#include <stddef.h>
#include <stdint.h>

#include "cleave/image.h"
#include "cleave/status.h"
#include "image/image.h"

/* Filters of planes[height][width]. Beyond the border they use the nearest pixel inside. */

/* Smooths `in` by a Gaussian of standard deviation `deviation` in pixels, cut off at three deviations and at 64 pixels;
 * a deviation of 0 changes nothing. out may be in. O(pixels x deviation). */
enum clv_status filter_gauss(float *out, const float *in, int32_t width, int32_t height, double deviation,
                             struct clv_error *err) CLV_CHECK;

/* Computes the greatest and the least value in the square of side 2 radius + 1 around each pixel. O(pixels x
 * radius). */
enum clv_status filter_extremes(float *greatest, float *least, const float *in, int32_t width, int32_t height,
                                int32_t radius, struct clv_error *err) CLV_CHECK;

/* Computes distance[height][width] to the nearest pixel of a different value: chamfer distance with steps of 1 and sqrt
 * 2 (Borgefors 1986), 1 next to such a pixel, and at most `most`. O(pixels). */
void filter_distance(float *distance, const int32_t *values, int32_t width, int32_t height, float most);

/* Classifies pixels, for example as background, rim and core of objects, by small networks of one hidden layer whose
 * probabilities are averaged. A single network is nearly as good on images that are similar to the training images, and
 * worse on others. */

enum { OBJECT_BACKGROUND, OBJECT_RIM, OBJECT_CORE, OBJECT_CLASSES };
enum {
    PIXEL_NET_HIDDEN = 32,
    PIXEL_NET_INPUTS = 98, /* PIXEL_BANK_SIZE and two for each class */
    PIXEL_NET_CLASSES = 32,
    PIXEL_NET_AT_ONCE = 32 /* pixels */
};

struct pixel_net {
    int32_t n_inputs, n_classes, n_copies;
    float *standard; /* [2][n_inputs]: mean, 1 / standard deviation */
    float *weights;  /* [n_copies][pixel_net_size] */
};
size_t pixel_net_size(int32_t n_inputs, int32_t n_classes); /* number of weights of a copy */
void pixel_net_release(struct pixel_net *self);

struct pixel_net_examples {
    const float *inputs;    /* [n][n_inputs] */
    const uint8_t *classes; /* [n] */
    const float *weights;   /* [n] about 1 on average, or NULL: all 1 */
    size_t n;
    int32_t n_inputs, n_classes;
};

/* Trains n_copies networks from different random weights. Each minimises the weighted mean of -log P with weak weight
 * decay, by Adam (Kingma & Ba 2015) in 8 passes of batches of 256. The same seed gives the same bytes.
 * CLV_ERR_INTERRUPTED between passes. O(n). */
enum clv_status pixel_net_train(struct pixel_net *self, const struct pixel_net_examples *examples, int32_t n_copies,
                                uint64_t seed, const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* Computes probability[n_classes][PIXEL_NET_AT_ONCE] from inputs x[n_inputs][PIXEL_NET_AT_ONCE], which it standardises
 * in place. */
void pixel_net_predict(float *probability, const struct pixel_net *self, float *x);

/* Inputs of the networks at each pixel. The first are filter responses at several scales of chroma and of lightness,
 * which is stretched so that images of the same kind are similar. The context (Tu & Bai 2010) follows: a first
 * network's probabilities around the pixel, and the position of the pixel's lightness between those of background and
 * objects nearby. */

enum {
    PIXEL_BANK_SIZE = 34,
    PIXEL_CONTEXT_SIZE = PIXEL_BANK_SIZE + 20,
};

struct pixel_bank {
    int32_t width, height, n_planes;
    float *planes; /* [n_planes][height][width] */
};

/* The stretch of an image's lightness (the sum of red, green and blue), and the threshold between its dark and bright
 * smoothed values. Windows of a large image use the stretch and the threshold of the whole image. These are counted
 * window by window: first the sums of all windows, then their stretched and smoothed lightness.
 *
 *     struct pixel_light light = {0};
 *     for each window
 *         pixel_light_count(&light, &window);
 *     pixel_light_stretch(&light);
 *     for each window with PIXEL_LIGHT_HALO pixels around
 *         MUST(pixel_light_count_smooth(&light, &window, &core, err));
 *     pixel_light_divide(&light); */

enum { PIXEL_LIGHT_HALO = 3, PIXEL_LIGHT_SUMS = 3 * 255 + 1, PIXEL_LIGHT_BINS = 256 };

struct pixel_light {
    double low, range; /* stretched: (sum - low) / range */
    float threshold;
    uint64_t sums[PIXEL_LIGHT_SUMS], smooth[PIXEL_LIGHT_BINS];
};
void pixel_light_count(struct pixel_light *self, const struct clv_image *image);
void pixel_light_stretch(struct pixel_light *self);
enum clv_status pixel_light_count_smooth(struct pixel_light *self, const struct clv_image *image,
                                         const struct image_part *core, struct clv_error *err) CLV_CHECK;
void pixel_light_divide(struct pixel_light *self);

/* Filters an image of 3 channels. `light` is that of the whole image if this is a window of it; NULL computes it from
 * this image. O(pixels), about 200 bytes per pixel. */
enum clv_status pixel_bank_init(struct pixel_bank *self, const struct clv_image *image, const struct pixel_light *light,
                                struct clv_error *err) CLV_CHECK;
void pixel_bank_release(struct pixel_bank *self);

/* Adds the planes of the context, computed from probability[OBJECT_CLASSES][height][width]. O(pixels). */
enum clv_status pixel_bank_add_context(struct pixel_bank *self, const float *probability,
                                       struct clv_error *err) CLV_CHECK;

/* Copies the inputs of n <= stride pixels, the first at index `pixel`, to x[n_planes][stride]. */
void pixel_bank_at(float *x, size_t stride, const struct pixel_bank *self, size_t pixel, size_t n);

#endif
