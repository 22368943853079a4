/* The ground, the rim and the core of objects, told apart pixel by pixel by small networks: three of one hidden layer,
 * whose probabilities are averaged. One alone is nearly as good where training and images are alike, and worse where
 * they are not. */
#ifndef OBJECT_PIXEL_NET_H
#define OBJECT_PIXEL_NET_H

#include "cleave/status.h"

#include <stddef.h>
#include <stdint.h>

enum { OBJECT_GROUND, OBJECT_RIM, OBJECT_CORE, OBJECT_CLASSES };
enum { PIXEL_NET_COPIES = 3, PIXEL_NET_HIDDEN = 32 };

struct pixel_net {
    int32_t n_inputs;
    float *standard; /* [2][n_inputs]: mean, 1 / standard deviation */
    float *weights;  /* [PIXEL_NET_COPIES][pixel_net_size] */
};
size_t pixel_net_size(int32_t n_inputs); /* weights of a copy */
void pixel_net_release(struct pixel_net *self);

/* Learns from inputs[n][n_inputs] of classes[n]: the mean of -log P and a little decay, by Adam (Kingma & Ba 2015) in 12
 * passes of batches of 256. Same seed, same bytes. O(n). */
enum clv_status pixel_net_train(struct pixel_net *self, const float *inputs, const uint8_t *classes, size_t n,
                                int32_t n_inputs, uint64_t seed, struct clv_error *err) CLV_CHECK;

/* probability[OBJECT_CLASSES] of inputs x[n_inputs]. */
void pixel_net_say(float *probability, const struct pixel_net *self, const float *x);

#endif
