#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "box_cut/box_cut.h"
#include "cleave/refine.h"
#include "support/support.h"

/* A little noise of a given amplitude, the same everywhere. */
static int noise_at(int x, int y, int amplitude)
{
    unsigned hash = (unsigned)x * 73856093u ^ (unsigned)y * 19349663u;
    hash = (hash ^ (hash >> 13)) * 1274126177u;
    return amplitude ? (int)((hash >> 8) % (unsigned)(2 * amplitude + 1)) - amplitude : 0;
}

/* A blue background with an ellipse around (cx, cy). */
struct scene {
    struct clv_image image;
    uint8_t *truth, *labels;
    float *probability;
};

static struct scene draw(int width, int height, double cx, double cy, double rx, double ry, const uint8_t colour[3])
{
    struct scene scene = {.truth = calloc((size_t)width, (size_t)height),
                          .labels = malloc((size_t)(width * height)),
                          .probability = malloc((size_t)(width * height) * sizeof(float))};
    must(clv_image_new(&scene.image, width, height, 3, err));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double u = (x + 0.5 - cx) / rx, v = (y + 0.5 - cy) / ry;
            int is_foreground = u * u + v * v < 1;
            uint8_t background[3] = {60, 90, 150};
            scene.truth[y * width + x] = (uint8_t)is_foreground;
            for (int k = 0; k < 3; k++)
                scene.image.pixels[3 * (y * width + x) + k] =
                    (uint8_t)((is_foreground ? colour : background)[k] + noise_at(x, y, 20));
        }
    return scene;
}

static void release(struct scene *scene)
{
    clv_image_release(&scene->image);
    free(scene->truth);
    free(scene->labels);
    free(scene->probability);
}

static double iou(const struct scene *scene)
{
    int both = 0, either = 0;
    for (int p = 0; p < scene->image.width * scene->image.height; p++) {
        both += scene->truth[p] && scene->labels[p];
        either += scene->truth[p] || scene->labels[p];
    }
    return (double)both / either;
}

static const uint8_t orange[3] = {200, 120, 40};

TEST(an_object_unlike_its_background_is_found_in_tight_and_in_wide_boxes)
{
    OWNED(release) struct scene scene = draw(200, 150, 95, 80, 50, 40, orange);
    const double margins[] = {0, 10, 20};
    for (size_t k = 0; k < 3; k++) {
        double m = margins[k];
        struct clv_box box = {.x = 45 - m, .y = 40 - m, .width = 100 + 2 * m, .height = 80 + 2 * m};
        must(clv_box_cut(scene.labels, NULL, &scene.image, &box, NULL, err));
        ck_assert_msg(iou(&scene) > 0.97, "margin %g: IoU %g", m, iou(&scene));
    }
}

/* The tight box of a mask, each side longer by that share in all, cut at the image's border. */
static struct clv_box box_around(const struct clv_mask *mask, double wider)
{
    int low[2] = {INT_MAX, INT_MAX}, high[2] = {-1, -1};
    const int size[2] = {mask->width, mask->height};
    for (int p = 0; p < mask->width * mask->height; p++) {
        const int position[2] = {p % mask->width, p / mask->width};
        for (int k = 0; mask->labels[p] == 1 && k < 2; k++) {
            low[k] = position[k] < low[k] ? position[k] : low[k];
            high[k] = position[k] >= high[k] ? position[k] + 1 : high[k];
        }
    }
    for (int k = 0; k < 2; k++) {
        double out = 0.5 * wider * (high[k] - low[k]);
        low[k] = (int)fmax(0, low[k] - out);
        high[k] = (int)fmin(size[k], high[k] + out);
    }
    return (struct clv_box){.x = low[0], .y = low[1], .width = high[0] - low[0], .height = high[1] - low[1]};
}

/* Drawn animals, which no weight was learned from; stones and bushes have their colours. */
TEST(boxes_may_be_wider_than_the_object)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    const struct {
        double wider, iou;
    } bars[] = {{0, 0.8}, {0.1, 0.74}, {0.25, 0.7}};
    must(clv_set_read(&set, "assets/animals", err));
    for (size_t b = 0; b < 3; b++) {
        double both = 0, either = 0;
        for (size_t i = 0; i < set.n_items; i++) {
            OWNED(release) struct scene scene = {0};
            OWNED(clv_mask_release) struct clv_mask mask = {0};
            must(clv_image_read(&scene.image, set.items[i].image, NULL, err));
            must(clv_mask_read(&mask, set.items[i].mask, &set.labels, 0, 0, NULL, err));
            struct clv_box box = box_around(&mask, bars[b].wider);
            scene.labels = malloc((size_t)(mask.width * mask.height));
            must(clv_box_cut(scene.labels, NULL, &scene.image, &box, NULL, err));
            for (int p = 0; p < mask.width * mask.height; p++) {
                both += mask.labels[p] == 1 && scene.labels[p];
                either += mask.labels[p] == 1 || scene.labels[p];
            }
        }
        ck_assert_msg(both / either > bars[b].iou, "sides longer by %g: IoU %g", bars[b].wider, both / either);
    }
}

/* Cut off by the image's border, where the box's sides are, too. */
TEST(an_object_may_leave_the_image)
{
    OWNED(release) struct scene scene = draw(200, 150, 190, 130, 60, 50, orange);
    const struct clv_box box = {.x = 125, .y = 75, .width = 75, .height = 75};
    must(clv_box_cut(scene.labels, NULL, &scene.image, &box, NULL, err));
    ck_assert_msg(iou(&scene) > 0.97, "IoU %g", iou(&scene));
    ck_assert_int_eq(scene.labels[149 * 200 + 199], 1);
}

/* The same colours left of the box: only what is not outside as well can be foreground. */
TEST(colours_that_are_outside_too_are_background)
{
    OWNED(release) struct scene scene = draw(240, 120, 150, 60, 40, 40, orange);
    for (int y = 0; y < 120; y++) /* a green bar behind, through the box from left to right */
        for (int x = 0; x < 240; x++)
            if (y >= 85 && y < 105 && !scene.truth[y * 240 + x]) {
                const uint8_t green[3] = {40, 140, 60};
                for (int k = 0; k < 3; k++)
                    scene.image.pixels[3 * (y * 240 + x) + k] = (uint8_t)(green[k] + noise_at(x, y, 20));
            }
    struct clv_box box = {.x = 110, .y = 20, .width = 80, .height = 85};
    must(clv_box_cut(scene.labels, NULL, &scene.image, &box, NULL, err));
    ck_assert_msg(iou(&scene) > 0.95, "IoU %g", iou(&scene));
}

TEST(labels_and_probabilities_agree_and_end_at_the_box)
{
    OWNED(release) struct scene scene = draw(160, 120, 80, 60, 40, 30, orange);
    struct clv_box box = {.x = 38.4, .y = 28.2, .width = 83, .height = 64};
    struct clv_pixel_box inside = clv_box_pixels(&box, 160, 120);
    must(clv_box_cut(scene.labels, scene.probability, &scene.image, &box, NULL, err));
    double sum[2] = {0, 0}, n[2] = {0, 0};
    for (int y = 0, p = 0; y < 120; y++)
        for (int x = 0; x < 160; x++, p++) {
            int is_inside = x >= inside.first_x && x < inside.end_x && y >= inside.first_y && y < inside.end_y;
            ck_assert(scene.labels[p] <= is_inside);
            ck_assert(scene.probability[p] >= 0 && scene.probability[p] <= is_inside);
            if (is_inside) {
                sum[scene.truth[p]] += scene.probability[p];
                n[scene.truth[p]]++;
            }
        }
    ck_assert_double_gt(sum[1] / n[1], 0.9);
    ck_assert_double_lt(sum[0] / n[0], 0.3);
    OWNED_ARRAY uint8_t *labels = malloc(160 * 120); /* each output alone is the same */
    OWNED_ARRAY float *probability = malloc(160 * 120 * sizeof *probability);
    must(clv_box_cut(labels, NULL, &scene.image, &box, NULL, err));
    must(clv_box_cut(NULL, probability, &scene.image, &box, NULL, err));
    ck_assert(memcmp(labels, scene.labels, 160 * 120) == 0);
    ck_assert(memcmp(probability, scene.probability, 160 * 120 * sizeof *probability) == 0);
}

/* How wide and high the foreground is. */
static void extent(int *width, int *height, const struct scene *scene)
{
    int low[2] = {INT_MAX, INT_MAX}, high[2] = {-1, -1};
    for (int p = 0; p < scene->image.width * scene->image.height; p++) {
        const int position[2] = {p % scene->image.width, p / scene->image.width};
        for (int k = 0; scene->labels[p] && k < 2; k++) {
            low[k] = position[k] < low[k] ? position[k] : low[k];
            high[k] = position[k] > high[k] ? position[k] : high[k];
        }
    }
    *width = high[0] - low[0] + 1;
    *height = high[1] - low[1] + 1;
}

/* No colour separates them, so the prior and the four sides decide: most of the box, and near all of its sides. */
TEST(without_contrast_the_foreground_still_spans_the_box)
{
    const uint8_t same[3] = {60, 90, 150};
    OWNED(release) struct scene scene = draw(120, 100, 60, 50, 30, 30, same);
    struct clv_box box = {.x = 20, .y = 20, .width = 80, .height = 60};
    int width, height;
    must(clv_box_cut(scene.labels, NULL, &scene.image, &box, NULL, err));
    extent(&width, &height, &scene);
    ck_assert_int_ge(width, 50);
    ck_assert_int_ge(height, 36);
}

/* All but a small patch near one side looks like the background: the patch alone is too small for the box. */
TEST(a_foreground_too_small_for_its_box_grows)
{
    OWNED(release) struct scene scene = draw(160, 120, 105, 60, 12, 12, orange);
    struct clv_box box = {.x = 40, .y = 30, .width = 80, .height = 60};
    int width, height;
    must(clv_box_cut(scene.labels, NULL, &scene.image, &box, NULL, err));
    extent(&width, &height, &scene);
    ck_assert_msg(width >= 44, "width %d", width);
    ck_assert_msg(height >= 33, "height %d", height);
}

TEST(boxes_over_everything_and_images_of_one_pixel_have_an_answer)
{
    static const int sizes[][2] = {{1, 1}, {1, 9}, {30, 1}, {2, 2}, {60, 50}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int contrast = 0; contrast < 2; contrast++) {
            int width = sizes[s][0], height = sizes[s][1];
            const uint8_t same[3] = {60, 90, 150};
            OWNED(release) struct scene scene =
                draw(width, height, 0.5 * width, 0.5 * height, 0.3 * width, 0.3 * height, contrast ? orange : same);
            const struct clv_box boxes[] = {{.width = width, .height = height},
                                            {.x = 0.6 * width, .width = 0.4 * width, .height = height},
                                            {.x = 0.5 * width, .y = 0.5 * height, .width = 0.01, .height = 0.01}};
            for (size_t k = 0; k < 3; k++) {
                memset(scene.labels, 77, (size_t)(width * height));
                must(clv_box_cut(scene.labels, scene.probability, &scene.image, &boxes[k], NULL, err));
                for (int p = 0; p < width * height; p++)
                    ck_assert(scene.labels[p] <= 1 && isfinite(scene.probability[p]));
            }
        }
    OWNED(release) struct scene scene = draw(60, 50, 30, 25, 15, 15, orange);
    struct clv_box all = {.width = 60, .height = 50};
    must(clv_box_cut(scene.labels, NULL, &scene.image, &all, NULL, err));
    ck_assert_int_eq(scene.labels[25 * 60 + 30], 1);
}

/* The border is at its own pixels again. */
TEST(large_images_are_cut_smaller_and_come_out_whole)
{
    OWNED(release) struct scene scene = draw(2100, 1100, 1050, 550, 800, 400, orange);
    struct clv_box box = {.x = 250, .y = 150, .width = 1600, .height = 800};
    must(clv_box_cut(scene.labels, NULL, &scene.image, &box, NULL, err));
    ck_assert_msg(iou(&scene) > 0.999, "IoU %g", iou(&scene)); /* 1000 pixels of a border of 3900 */
}

TEST(one_superpixel_and_one_round_are_enough_for_an_answer)
{
    OWNED(release) struct scene scene = draw(60, 50, 30, 25, 20, 20, orange);
    struct clv_box box = {.x = 10, .y = 5, .width = 40, .height = 40};
    struct clv_box_cut_options options;
    clv_box_cut_defaults(&options);
    options.n_superpixels = 1;
    options.rounds = 1;
    must(clv_box_cut(scene.labels, NULL, &scene.image, &box, &options, err));
    for (int p = 0; p < 60 * 50; p++)
        ck_assert_int_le(scene.labels[p], 1);
}

/* An orange ellipse and, to the right, a green one that touches it, in boxes that overlap. */
static struct scene draw_two(uint8_t *truth)
{
    struct scene scene = draw(220, 120, 80, 60, 40, 35, orange);
    const uint8_t green[3] = {40, 140, 60};
    for (int y = 0, p = 0; y < 120; y++)
        for (int x = 0; x < 220; x++, p++) {
            double u = (x + 0.5 - 140) / 40, v = (y + 0.5 - 60) / 35;
            truth[p] = scene.truth[p] ? 1 : u * u + v * v < 1 ? 7 : 0;
            for (int k = 0; k < 3 && truth[p] == 7; k++)
                scene.image.pixels[3 * p + k] = (uint8_t)(green[k] + noise_at(x, y, 20));
        }
    return scene;
}

/* The object goes on beyond one edge of the box. All of it that is in the box is found, but where its outline leaves
 * the box: there a few pixels of the edge are cut off, since what is outside is background. */
TEST(an_object_that_leaves_the_box_is_cut_at_its_edge)
{
    static const struct {
        struct clv_pixel_box box, edge;
        double rx, ry;
    } cases[] = {
        {{40, 40, 81, 150}, {80, 40, 81, 150}, 50, 40},
        {{40, 40, 150, 77}, {40, 76, 150, 77}, 40, 50},
        {{40, 109, 150, 150}, {40, 109, 150, 110}, 40, 50},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct clv_pixel_box *in = &cases[k].box, *edge = &cases[k].edge;
        OWNED(release) struct scene scene = draw(200, 200, 95, 95, cases[k].rx, cases[k].ry, orange);
        struct clv_box box = {
            .x = in->first_x, .y = in->first_y, .width = in->end_x - in->first_x, .height = in->end_y - in->first_y};
        int at_edge = 0;
        must(clv_box_cut(scene.labels, NULL, &scene.image, &box, NULL, err));
        for (int y = 0, p = 0; y < 200; y++)
            for (int x = 0; x < 200; x++, p++) {
                bool is_in = x >= in->first_x && x < in->end_x && y >= in->first_y && y < in->end_y;
                bool is_at_edge = x >= edge->first_x && x < edge->end_x && y >= edge->first_y && y < edge->end_y;
                if (is_at_edge)
                    at_edge += scene.labels[p] != scene.truth[p];
                else
                    ck_assert_msg(scene.labels[p] == (is_in && scene.truth[p]), "case %zu: %d, %d", k, x, y);
            }
        ck_assert_msg(at_edge > 0 && at_edge < 10, "case %zu: %d pixels of the edge are wrong", k, at_edge);
    }
}

TEST(many_boxes_make_one_labelling)
{
    OWNED_ARRAY uint8_t *truth = malloc(220 * 120), *alone = malloc(220 * 120), *turned = malloc(220 * 120);
    OWNED(release) struct scene scene = draw_two(truth);
    const struct clv_box boxes[] = {{.x = 36, .y = 20, .width = 100, .height = 80},
                                    {.x = 96, .y = 22, .width = 90, .height = 77},
                                    {.x = 200, .y = 5, .width = 15, .height = 12}};
    const struct clv_box back[] = {boxes[2], boxes[1], boxes[0]};
    const uint8_t values[] = {1, 7, 254}, back_values[] = {254, 7, 1};
    must(clv_box_cut_all(scene.labels, &scene.image, boxes, values, 3, NULL, err));
    must(clv_box_cut_all(turned, &scene.image, back, back_values, 3, NULL, err));
    must(clv_box_cut(alone, NULL, &scene.image, &boxes[2], NULL, err));
    ck_assert_mem_eq(turned, scene.labels, 220 * 120);
    int both[8] = {0}, either[8] = {0};
    for (int y = 0, p = 0; y < 120; y++)
        for (int x = 0; x < 220; x++, p++) {
            int label = scene.labels[p];
            if (x >= 200 && x < 215 && y >= 5 && y < 17) { /* nothing overlaps: as by itself */
                ck_assert_int_eq(label, alone[p] ? 254 : 0);
                continue;
            }
            ck_assert(label == 0 || label == 1 || label == 7);
            for (int a = 1; a < 8; a += 6) {
                both[a] += truth[p] == a && label == a;
                either[a] += truth[p] == a || label == a;
            }
        }
    for (int a = 1; a < 8; a += 6)
        ck_assert_msg(both[a] > 0.93 * either[a], "label %d: IoU %g", a, (double)both[a] / either[a]);
    must(clv_box_cut_all(scene.labels, &scene.image, boxes, values, 0, NULL, err));
    for (int p = 0; p < 220 * 120; p++)
        ck_assert_int_eq(scene.labels[p], 0);
    const uint8_t bad[] = {1, 0, 255};
    memset(scene.labels, 77, 220 * 120);
    must_fail(CLV_ERR_USAGE, "box 1 has the value 0, must be 1..254",
              clv_box_cut_all(scene.labels, &scene.image, boxes, bad, 3, NULL, err));
    ck_assert_int_eq(scene.labels[60 * 220 + 80], 77);
}

/* Probabilities of one label are added up, and their sum with the background's may be rounded to more than 1. */
TEST(many_boxes_of_one_label_may_overlap)
{
    enum { W = 96, H = 96, N_BOXES = 12 };
    OWNED(release) struct scene scene = draw(W, H, 48, 48, 22, 20, orange);
    struct clv_box boxes[N_BOXES];
    uint8_t values[N_BOXES];
    int found = 0, all = 0;
    for (int k = 0; k < N_BOXES; k++) {
        boxes[k] = (struct clv_box){.x = 22 - k, .y = 24 - k, .width = 52 + 2 * k, .height = 48 + 2 * k};
        values[k] = 3;
    }
    must(clv_box_cut_all(scene.labels, &scene.image, boxes, values, N_BOXES, NULL, err));
    for (int p = 0; p < W * H; p++) {
        ck_assert(scene.labels[p] == 0 || scene.labels[p] == 3);
        found += scene.labels[p] && scene.truth[p];
        all += scene.truth[p];
    }
    ck_assert_msg(found > 0.98 * all, "%d of %d pixels", found, all);
}

/* Three boxes that overlap, the last less than a quarter of the others and so in front of them; and one by itself. */
static const struct clv_box overlapping[] = {{.x = 10, .y = 8, .width = 60, .height = 60},
                                             {.x = 40, .y = 20, .width = 64, .height = 62},
                                             {.x = 50, .y = 30, .width = 24, .height = 22},
                                             {.x = 108, .y = 2, .width = 11, .height = 14}};

/* Votes are v_k = p_k prod (1 - p_j) over the boxes j in front of k, and prod (1 - p_k) for the background, scaled to a
 * sum of 1; clv_refine_labels chooses among them in the bounds of all overlaps. */
TEST(where_boxes_overlap_their_probabilities_vote_and_much_smaller_ones_are_in_front)
{
    enum { W = 120, H = 90, N = W * H, N_BOXES = 3, N_LABELS = 3 };
    static const uint8_t values[] = {5, 9, 9, 2};                                /* two boxes have one label */
    static const int sorted[N_BOXES] = {2, 0, 1}, label_of[N_BOXES] = {2, 1, 1}; /* the smaller first */
    static const uint8_t value_of[N_LABELS] = {0, 9, 5};
    OWNED(release) struct scene scene = draw(W, H, 45, 42, 26, 24, orange);
    OWNED_ARRAY float *p = malloc(N_BOXES * N * sizeof *p), *votes = calloc(N_LABELS * N, sizeof *votes);
    OWNED_ARRAY uint8_t *alone = malloc(4 * N), *chosen = calloc(N, 1), *wanted = calloc(N, 1);
    for (int y = 30; y < 52; y++) /* something else in the smallest box */
        for (int x = 50; x < 74; x++)
            for (int c = 0; c < 3 && (x - 62) * (x - 62) + (y - 41) * (y - 41) < 90; c++)
                scene.image.pixels[3 * (y * W + x) + c] = (uint8_t)(40 + 60 * c + noise_at(x, y, 12));
    for (int k = 0; k < 4; k++) /* in the order of their sizes, so that the smaller ones are above */
        must(clv_box_cut(alone + k * N, k < N_BOXES ? p + k * N : scene.probability, &scene.image, &overlapping[k],
                         NULL, err));
    static const int largest_first[] = {1, 0, 2, 3};
    for (int i = 0; i < 4; i++)
        for (int q = 0; q < N; q++)
            wanted[q] = alone[largest_first[i] * N + q] ? values[largest_first[i]] : wanted[q];

    const int left = 40, top = 20, right = 74, bottom = 68; /* bounds of the overlaps of pairs */
    const int width = right - left, height = bottom - top, n = width * height;
    for (int q = 0; q < n; q++) {
        const int at = (q / width + top) * W + q % width + left;
        double background = 1, sum = 0;
        for (int i = 0; i < N_BOXES; i++) {
            const int k = sorted[i];
            double share = (double)p[k * N + at];
            background *= 1 - share;
            for (int j = 0; j < i; j++)
                if (overlapping[sorted[j]].width * overlapping[sorted[j]].height <
                    0.25 * overlapping[k].width * overlapping[k].height)
                    share *= 1 - (double)p[sorted[j] * N + at];
            votes[label_of[k] * n + q] += (float)share;
            sum += share;
        }
        votes[q] = (float)background;
        for (int a = 0; a < N_LABELS; a++)
            votes[a * n + q] = (float)((double)votes[a * n + q] / (sum + background));
        for (int a = 1; a < N_LABELS; a++)
            chosen[q] = votes[a * n + q] > votes[chosen[q] * n + q] ? (uint8_t)a : chosen[q];
    }
    OWNED(clv_image_release) struct clv_image crop = {0};
    must(clv_image_new(&crop, width, height, 3, err));
    for (int y = 0; y < height; y++)
        memcpy(crop.pixels + 3 * y * width, scene.image.pixels + 3 * ((y + top) * W + left), (size_t)(3 * width));
    struct clv_box_cut_options options;
    struct clv_refine_options refining;
    clv_box_cut_defaults(&options);
    clv_refine_defaults(&refining);
    refining.prior = 8;
    refining.coupling = options.refine_coupling;
    must(clv_refine_labels(chosen, &crop, votes, N_LABELS, &refining, err));
    int n_overlaps = 0, n_front = 0, n_changed = 0;
    for (int q = 0; q < n; q++) {
        const int x = q % width + left, y = q / width + top;
        int n_covers = 0;
        bool has_label = chosen[q] == 0;
        for (int k = 0; k < N_BOXES; k++) {
            const struct clv_box *box = &overlapping[k];
            if (x < box->x || y < box->y || x >= box->x + box->width || y >= box->y + box->height)
                continue;
            n_covers++;
            has_label |= label_of[k] == chosen[q];
        }
        if (n_covers < 2 || !has_label)
            continue;
        n_overlaps++;
        n_changed += wanted[y * W + x] != value_of[chosen[q]];
        n_front += chosen[q] == 1;
        wanted[y * W + x] = value_of[chosen[q]];
    }
    ck_assert_msg(n_overlaps > 900 && n_front > 100 && n_changed > 0, "%d, %d, %d", n_overlaps, n_front, n_changed);
    must(clv_box_cut_all(scene.labels, &scene.image, overlapping, values, 4, NULL, err));
    for (int q = 0; q < N; q++)
        ck_assert_msg(scene.labels[q] == wanted[q], "%d, %d is %d, not %d", q % W, q / W, scene.labels[q], wanted[q]);
}

TEST(what_is_out_of_range_is_refused_and_outputs_stay)
{
    OWNED(release) struct scene scene = draw(60, 50, 30, 25, 20, 20, orange);
    struct clv_box good = {.x = 10, .y = 5, .width = 40, .height = 40};
    const struct {
        struct clv_box box;
        const char *part;
    } boxes[] = {
        {{.x = 60, .y = 5, .width = 4, .height = 4}, "box 4x4 at 60,5 is not inside the image, which is 60x50"},
        {{.x = -1, .y = 5, .width = 4, .height = 4}, "at -1,5"},
        {{.x = 1, .y = 5, .width = 0, .height = 4}, "box 0x4"},
        {{.x = 1, .y = 5, .width = NAN, .height = 4}, "not inside"},
        {{.x = 30, .y = 5, .width = 31, .height = 4}, "box 31x4"}};
    memset(scene.labels, 77, 60 * 50);
    for (size_t k = 0; k < sizeof boxes / sizeof *boxes; k++)
        must_fail(CLV_ERR_USAGE, boxes[k].part,
                  clv_box_cut(scene.labels, NULL, &scene.image, &boxes[k].box, NULL, err));
    struct clv_box_cut_options options;
#define refused(field, value, part)                                                                                    \
    clv_box_cut_defaults(&options);                                                                                    \
    options.field = value;                                                                                             \
    must_fail(CLV_ERR_USAGE, part, clv_box_cut(scene.labels, NULL, &scene.image, &good, &options, err))
    refused(n_superpixels, 0, "0 superpixels, must be 1..4000");
    refused(n_superpixels, 4001, "4001 superpixels");
    refused(rounds, 0, "0 rounds, must be 1..100");
    refused(coupling, -1, "coupling is -1");
    refused(refine_coupling, NAN, "refine_coupling is nan");
    scene.image.channels = 1;
    must_fail(CLV_ERR_USAGE, "needs 3 channels", clv_box_cut(scene.labels, NULL, &scene.image, &good, NULL, err));
    for (int p = 0; p < 60 * 50; p++)
        ck_assert_int_eq(scene.labels[p], 77);
}

TEST(superpixels_are_alike_by_colour_place_and_roughness)
{
    enum { N = 5 };
    struct box_region regions[N];
    int32_t edges[N - 1][2];
    const struct box_scene scene = {.superpixels = {.n = N},
                                    .adjacency = {.n_nodes = N, .n_edges = N - 1, .edges = edges},
                                    .regions = regions,
                                    .shape = 0.5F};
    OWNED(box_affinity_release) struct box_affinity affinity = {0};
    for (int32_t i = 0; i < N; i++)
        regions[i] = (struct box_region){.lab = {(float)(50 + 3 * i), (float)(i * i % 3), (float)(2 * i % 5)},
                                         .roughness = (float)(4 * (i % 3)),
                                         .x = (float)(i % 3) / 2 - 0.4F,
                                         .y = (float)(i * i % 5) / 4 - 0.6F};
    for (int32_t e = 0; e < N - 1; e++) {
        edges[e][0] = e;
        edges[e][1] = e + 1;
    }
    must(box_affinity_init(&affinity, &scene, err));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const struct box_region *a = &regions[i], *b = &regions[j];
            double square[3], rough = (double)(a->roughness - b->roughness);
            for (int c = 0; c < 3; c++)
                square[c] = pow((double)(a->lab[c] - b->lab[c]), 2);
            double colour = 0.43 * square[0] + square[1] + square[2];
            double away = pow((double)(a->x - b->x), 2) / 0.5 + pow((double)(a->y - b->y), 2) * 0.5;
            double wide = i == j ? 0 : exp(-colour / 32), position = exp(-away / (8 * 0.48 * 0.48));
            ck_assert_double_eq_tol((double)affinity.wide[i * N + j], wide, 1e-5);
            ck_assert_double_eq_tol((double)affinity.position[i * N + j], i == j ? 0 : pow(position, 8), 1e-5);
            ck_assert_double_eq_tol((double)affinity.near[i * N + j],
                                    pow(wide, 3) * position / (1 + 0.01 * rough * rough), 1e-5);
            if (j == i + 1)
                ck_assert_double_eq_tol((double)affinity.step[i], sqrt(square[0] + square[1] + square[2]), 1e-5);
        }
}
