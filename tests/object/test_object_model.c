/* Objects that touch, learned from drawn images and found in others. */
#include "object/object.h"
#include "pixel_net/pixel_net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "learn/objects/objects.h"
#include "support/support.h"
#include "train/train.h"

enum { SIDE = 120, N = SIDE * SIDE, N_DISCS = 14 };

/* Bright discs with darker rims, some of which touch. */
static void draw(struct clv_image *image, int32_t **objects, size_t index)
{
    int32_t *truth = array_zalloc(N, sizeof *truth);
    must(clv_image_new(image, SIDE, SIDE, 3, err));
    float light[N];
    for (uint64_t i = 0; i < N; i++)
        light[i] = 40 + 12 * (float)rng_normal(index, 1, i);
    for (uint64_t k = 0; k < N_DISCS; k++) {
        double radius = 7 + 4 * rng_uniform(index, 2, k);
        double cx = SIDE * rng_uniform(index, 3, k), cy = SIDE * rng_uniform(index, 4, k);
        for (int i = 0; i < N; i++) {
            double r = hypot(i % SIDE - cx, i / SIDE - cy) / radius;
            if (r < 1) {
                truth[i] = (int32_t)k + 1;
                light[i] = (float)(190 - 70 * r * r * r) + 8 * (float)rng_normal(index, 5 + k, (uint64_t)i);
            }
        }
    }
    for (int i = 0; i < N; i++)
        memset(image->pixels + 3 * i, (int)fminf(fmaxf(light[i], 0), 255), 3);
    *objects = truth;
}

/* Images in memory, with their objects. */
struct drawn {
    struct clv_image *images;
    int32_t **objects;
    struct clv_item *of_set;
    const struct clv_item **listed;
    struct object_items items;
};

static void drawn_release(struct drawn *self)
{
    for (size_t k = 0; k < self->items.n; k++) {
        clv_image_release(&self->images[k]);
        array_free(self->objects[k]);
    }
    arrays_free(self->images, self->objects, self->of_set, (void *)self->listed, self->items.n_tiny);
}

static void draw_all(struct drawn *self, size_t n, void (*draw_one)(struct clv_image *, int32_t **, size_t))
{
    self->images = array_zalloc(n, sizeof *self->images);
    self->objects = array_zalloc(n, sizeof *self->objects);
    self->of_set = array_zalloc(n, sizeof *self->of_set);
    self->listed = array_zalloc(n, sizeof *self->listed);
    self->items =
        (struct object_items){.items = self->listed, .n = n, .n_tiny = array_zalloc(n, sizeof *self->items.n_tiny)};
    for (size_t k = 0; k < n; k++) {
        draw_one(&self->images[k], &self->objects[k], k);
        self->of_set[k] = (struct clv_item){.pixels = &self->images[k], .objects = self->objects[k]};
        self->listed[k] = &self->of_set[k];
    }
}

/* Objects of the truth, of at least 60 pixels, that one found has an IoU above a half with. */
static void count_found(int *n_true, int *n_hit, const int32_t *found, const int32_t *truth)
{
    int both[N_DISCS + 1][200] = {{0}}, area[N_DISCS + 1] = {0}, of_found[200] = {0};
    for (int i = 0; i < N; i++) {
        ck_assert_int_lt(found[i], 200);
        both[truth[i]][found[i]]++;
        area[truth[i]]++;
        of_found[found[i]]++;
    }
    for (int k = 1; k <= N_DISCS; k++) {
        *n_true += area[k] >= 60;
        for (int f = 1; f < 200; f++)
            *n_hit += area[k] >= 60 && 2 * both[k][f] > area[k] + of_found[f] - both[k][f];
    }
}

static void learn(struct object_model *model, const char *name, size_t n_images, int n_threads)
{
    const struct clv_learner *learner = clv_learner_find(name);
    OWNED(drawn_release) struct drawn drawn = {0};
    struct clv_training like;
    draw_all(&drawn, n_images, draw);
    clv_training_defaults(&like, learner);
    like.seed = 3;
    like.n_threads = n_threads;
    must(train_objects(model, &drawn.items, learner, &like, err));
}

static struct object_model model;

static void setup(void)
{
    learn(&model, "ssvm", 10, 2);
}

static void teardown(void)
{
    object_model_release(&model);
}

/* Of image k; the objects are numbered as they are met, and probable. */
static void find_discs(int *n_true, int *n_hit, const struct object_model *by, size_t k)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_object_map_release) struct clv_object_map map = {0};
    OWNED_ARRAY int32_t *truth = NULL;
    int32_t met = 0;
    draw(&image, &truth, k);
    must(object_model_find(&map, by, &image, NULL, err));
    for (int i = 0; i < N; i++) {
        ck_assert_int_le(map.objects[i], met + 1);
        met = map.objects[i] > met ? map.objects[i] : met;
    }
    ck_assert_int_eq(met, map.n_objects);
    for (int o = 0; o < met; o++)
        ck_assert(map.probability[o] > .5 && map.probability[o] <= 1);
    count_found(n_true, n_hit, map.objects, truth);
}

TEST(discs_that_touch_are_told_apart_in_images_not_seen)
{
    ck_assert_ptr_nonnull(model.weights);
    ck_assert_float_eq(model.shrink, 1);
    int n_true = 0, n_hit = 0;
    for (size_t k = 100; k < 106; k++)
        find_discs(&n_true, &n_hit, &model, k);
    ck_assert_int_ge(n_hit, n_true * 85 / 100);
}

/* Sixteen of the small images side by side. */
static void draw_large(struct clv_image *image, int32_t **objects, size_t index)
{
    enum { TILES = 4, WIDTH = TILES * SIDE };
    int32_t *truth = array_zalloc((size_t)WIDTH * WIDTH, sizeof *truth);
    must(clv_image_new(image, WIDTH, WIDTH, 3, err));
    for (size_t tile = 0; tile < (size_t)TILES * TILES; tile++) {
        OWNED(clv_image_release) struct clv_image small = {0};
        OWNED_ARRAY int32_t *of_small = NULL;
        draw(&small, &of_small, TILES * TILES * (index + 20) + tile);
        for (size_t i = 0; i < N; i++) {
            size_t to = (tile / TILES * SIDE + i / SIDE) * WIDTH + tile % TILES * SIDE + i % SIDE;
            truth[to] = of_small[i] ? of_small[i] + (int32_t)tile * N_DISCS : 0;
            memcpy(image->pixels + 3 * to, small.pixels + 3 * i, 3);
        }
    }
    *objects = truth;
}

TEST(windows_of_large_images_teach_what_small_ones_do)
{
    const struct clv_learner *learner = clv_learner_find("ssvm");
    OWNED(drawn_release) struct drawn drawn = {0};
    OWNED(object_model_release) struct object_model large = {0};
    struct clv_training like;
    clv_training_defaults(&like, learner);
    draw_all(&drawn, 2, draw_large);
    must(train_objects(&large, &drawn.items, learner, &like, err));
    int n_true = 0, n_hit = 0;
    for (size_t k = 100; k < 106; k++)
        find_discs(&n_true, &n_hit, &large, k);
    ck_assert_int_ge(n_hit, n_true * 80 / 100);
}

TEST(the_bias_of_edges_says_how_much_is_joined)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(object_regions_release) struct object_regions regions = {0};
    OWNED_ARRAY int32_t *truth = NULL;
    int32_t n_found[3];
    draw(&image, &truth, 100);
    must(object_model_regions(&regions, &model, &image, NULL, err));
    for (int k = 0; k < 3; k++) {
        struct object_model other = model;
        OWNED(clv_object_map_release) struct clv_object_map map = {0};
        other.weights = array_copy(model.weights, (size_t)model.n_weights, sizeof *model.weights);
        other.weights[EDGE_PROBLEM_BIAS] += (k - 1) * 1e6;
        must(object_model_divide(&map, &other, &regions, err));
        n_found[k] = map.n_objects;
        array_free(other.weights);
    }
    ck_assert_int_lt(n_found[0], n_found[1]);
    ck_assert_int_le(n_found[1], n_found[2]);
}

TEST(any_number_of_threads_learns_the_same_bytes)
{
    OWNED(object_model_release) struct object_model one = {0}, three = {0};
    learn(&one, "independent", 4, 1);
    learn(&three, "independent", 4, 3);
    ck_assert_int_eq(one.n_weights, three.n_weights);
    ck_assert_mem_eq(one.weights, three.weights, (size_t)one.n_weights * sizeof *one.weights);
    ck_assert_mem_eq(one.nets[0].weights, three.nets[0].weights,
                     pixel_net_size(one.nets[0].n_inputs, OBJECT_CLASSES) * sizeof *one.nets[0].weights);
}

TEST(an_image_of_a_pixel_and_one_without_objects_are_fine)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_object_map_release) struct clv_object_map map = {0};
    must(clv_image_new(&image, 1, 1, 3, err));
    must(object_model_find(&map, &model, &image, NULL, err));
    clv_object_map_release(&map);
    clv_image_release(&image);
    must(clv_image_new(&image, 30, 30, 3, err));
    must(object_model_find(&map, &model, &image, NULL, err));
}

SETUP_ONCE(setup, teardown)
