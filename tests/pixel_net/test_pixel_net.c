/* Networks of pixels: what they learn from, and by which weights. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "pixel_net/pixel_net.h"
#include "support/support.h"

enum { N = 12000, N_INPUTS = 2, N_COPIES = 2 };

/* Pixels of two inputs within -1..1, of which the first tells something, and classes that chance gives. */
struct pixels {
    float inputs[N * N_INPUTS], weights[N];
    uint8_t classes[N];
};

static struct pixels *pixels_new(void)
{
    struct pixels *self = calloc(1, sizeof *self);
    for (uint64_t i = 0; i < N * N_INPUTS; i++)
        self->inputs[i] = (float)(2 * rng_uniform(1, RNG_STREAM(RNG_TEST, 0), i) - 1);
    for (uint64_t i = 0; i < N; i++) {
        self->classes[i] = rng_uniform(1, RNG_STREAM(RNG_TEST, 1), i) < 0.5 ? OBJECT_BACKGROUND : OBJECT_CORE;
        self->weights[i] = 1;
    }
    return self;
}

static struct pixel_net train(const struct pixels *pixels, size_t n, bool is_weighted)
{
    struct pixel_net net = {0};
    const struct pixel_net_examples examples = {.inputs = pixels->inputs,
                                                .classes = pixels->classes,
                                                .weights = is_weighted ? pixels->weights : NULL,
                                                .n = n,
                                                .n_inputs = N_INPUTS,
                                                .n_classes = OBJECT_CLASSES};
    must(pixel_net_train(&net, &examples, N_COPIES, 3, NULL, err));
    return net;
}

/* P(core) where the first input is x and the second is 0. */
static double core_at(const struct pixel_net *net, float x)
{
    float inputs[N_INPUTS * PIXEL_NET_AT_ONCE] = {0}, probability[OBJECT_CLASSES * PIXEL_NET_AT_ONCE];
    inputs[0] = x;
    pixel_net_predict(probability, net, inputs);
    return (double)probability[OBJECT_CORE * PIXEL_NET_AT_ONCE];
}

/* The weighted mean of -log P is least where P of a class is its share of the weights. */
TEST(probabilities_are_shares_of_the_weights)
{
    OWNED_ARRAY struct pixels *pixels = pixels_new();
    OWNED(pixel_net_release) struct pixel_net net = train(pixels, N, true);
    ck_assert_double_eq_tol(core_at(&net, -0.6F), 0.5, 0.05);
    ck_assert_double_eq_tol(core_at(&net, 0.6F), 0.5, 0.05);
    pixel_net_release(&net);
    for (int i = 0; i < N; i++)
        if (pixels->inputs[i * N_INPUTS] < 0)
            pixels->weights[i] = pixels->classes[i] == OBJECT_CORE ? 1.6F : 0.4F;
    net = train(pixels, N, true);
    ck_assert_double_eq_tol(core_at(&net, -0.6F), 0.8, 0.05);
    ck_assert_double_eq_tol(core_at(&net, 0.6F), 0.5, 0.05);
}

static void expect_same(const struct pixel_net *a, const struct pixel_net *b)
{
    ck_assert_mem_eq(a->weights, b->weights, N_COPIES * pixel_net_size(N_INPUTS, OBJECT_CLASSES) * sizeof *a->weights);
    ck_assert_mem_eq(a->standard, b->standard, 2 * N_INPUTS * sizeof *a->standard);
}

/* 777 pixels: batches and steps of 32 pixels that are not full have to find the right weights, too. */
TEST(no_weights_are_all_1_and_the_class_of_a_pixel_of_weight_0_teaches_nothing)
{
    enum { FEW = 777 };
    OWNED_ARRAY struct pixels *pixels = pixels_new();
    OWNED(pixel_net_release) struct pixel_net plain = train(pixels, FEW, false), ones = train(pixels, FEW, true);
    expect_same(&plain, &ones);
    for (int i = 0; i < FEW; i += 3)
        pixels->weights[i] = 0;
    OWNED(pixel_net_release) struct pixel_net fewer = train(pixels, FEW, true);
    ck_assert_mem_ne(plain.weights, fewer.weights,
                     N_COPIES * pixel_net_size(N_INPUTS, OBJECT_CLASSES) * sizeof *plain.weights);
    for (int i = 0; i < FEW; i += 3)
        pixels->classes[i] = OBJECT_RIM;
    OWNED(pixel_net_release) struct pixel_net others = train(pixels, FEW, true);
    expect_same(&fewer, &others);
}

/* Each quarter of the inputs has a class of its own, which half of its pixels have; the others are of a fifth class. */
TEST(any_number_of_classes_share_what_is_seen)
{
    enum { N_CLASSES = 5 };
    OWNED_ARRAY struct pixels *pixels = pixels_new();
    OWNED(pixel_net_release) struct pixel_net net = {0};
    const struct pixel_net_examples examples = {
        .inputs = pixels->inputs, .classes = pixels->classes, .n = N, .n_inputs = N_INPUTS, .n_classes = N_CLASSES};
    for (int i = 0; i < N; i++) {
        int quarter = 2 * (pixels->inputs[i * N_INPUTS] > 0) + (pixels->inputs[i * N_INPUTS + 1] > 0);
        pixels->classes[i] = pixels->classes[i] == OBJECT_CORE ? (uint8_t)quarter : N_CLASSES - 1;
    }
    must(pixel_net_train(&net, &examples, N_COPIES, 3, NULL, err));
    for (int quarter = 0; quarter < 4; quarter++) {
        float inputs[N_INPUTS * PIXEL_NET_AT_ONCE] = {0}, said[N_CLASSES * PIXEL_NET_AT_ONCE];
        double sum = 0;
        inputs[0] = quarter / 2 ? 0.6F : -0.6F;
        inputs[PIXEL_NET_AT_ONCE] = quarter % 2 ? 0.6F : -0.6F;
        pixel_net_predict(said, &net, inputs);
        for (int c = 0; c < N_CLASSES; c++) {
            double expected = c == quarter || c == N_CLASSES - 1 ? 0.5 : 0;
            ck_assert_double_eq_tol((double)said[c * PIXEL_NET_AT_ONCE], expected, 0.12);
            sum += (double)said[c * PIXEL_NET_AT_ONCE];
        }
        ck_assert_double_eq_tol(sum, 1, 1e-5);
    }
}

TEST(nothing_is_learned_from_no_pixels_or_too_many_inputs)
{
    struct pixel_net net = {.n_copies = 77};
    struct pixel_net_examples examples = {.n_inputs = N_INPUTS, .n_classes = OBJECT_CLASSES};
    must_fail(CLV_ERR_USAGE, "pixels of 1 to 98 inputs", pixel_net_train(&net, &examples, 1, 1, NULL, err));
    examples.n = 1;
    examples.n_inputs = PIXEL_NET_INPUTS + 1;
    must_fail(CLV_ERR_USAGE, "pixels of 1 to 98 inputs", pixel_net_train(&net, &examples, 1, 1, NULL, err));
    ck_assert_int_eq(net.n_copies, 77);
}
