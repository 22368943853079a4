#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleave/click.h"
#include "cleave/data.h"
#include "click/click.h"
#include "superpixel/superpixel.h"
#include "support/images.h"
#include "support/support.h"

enum { WIDTH = 120, HEIGHT = 90 };

/* An orange disc in the middle of blue, with a blue hole, and some noise. */
struct drawing {
    struct clv_image image;
    struct click_scene *scene;
    uint8_t truth[WIDTH * HEIGHT], seeds[WIDTH * HEIGHT], labels[WIDTH * HEIGHT];
};

static struct drawing *draw(void)
{
    struct drawing *drawing = calloc(1, sizeof *drawing);
    unsigned state = 1;
    ck_assert_ptr_nonnull(drawing);
    must(clv_image_new(&drawing->image, WIDTH, HEIGHT, 3, err));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int r2 = (x - 60) * (x - 60) + (y - 45) * (y - 45), p = y * WIDTH + x;
            const int colour[2][3] = {{60, 90, 150}, {200, 120, 40}};
            drawing->truth[p] = r2 < 30 * 30 && r2 >= 9 * 9;
            state = state * 1664525u + 1013904223u;
            for (int k = 0; k < 3; k++)
                drawing->image.pixels[3 * p + k] = (uint8_t)(colour[drawing->truth[p]][k] + (int)(state >> 28));
        }
    must(click_scene_new(&drawing->scene, &drawing->image, err));
    return drawing;
}

static void release(struct drawing *drawing)
{
    click_scene_free(drawing->scene);
    clv_image_release(&drawing->image);
    free(drawing);
}

/* Clicks, and cuts anew. */
static void click(struct drawing *drawing, int x, int y, bool is_foreground, int n)
{
    struct click_press press = {x, y, is_foreground};
    struct click_request request = {
        .seeds = drawing->seeds, .before = n > 1 ? drawing->labels : NULL, .latest = &press, .n_strokes = n};
    for (int dy = -2; dy <= 2; dy++)
        memset(drawing->seeds + (y + dy) * WIDTH + x - 2, is_foreground ? CLICK_FOREGROUND : CLICK_BACKGROUND, 5);
    must(click_cut(drawing->labels, drawing->scene, &request, err));
}

static double iou(const struct drawing *drawing)
{
    int both = 0, either = 0;
    for (int p = 0; p < WIDTH * HEIGHT; p++) {
        both += drawing->truth[p] && drawing->labels[p];
        either += drawing->truth[p] || drawing->labels[p];
    }
    return (double)both / either;
}

TEST(the_first_stroke_some_and_many_have_weights_of_their_own)
{
    static const int phases[] = {0, 0, 1, 1, 1, 2, 2};
    for (int n = 1; n < 7; n++)
        ck_assert_int_eq(click_phase(n, false), phases[n]);
    for (int n = 0; n < 6; n++) /* a model's score counts as one */
        ck_assert_int_eq(click_phase(n, true), phases[n + 1]);
}

TEST(lightness_separates_colours_as_much_as_it_is_set_to)
{
    const struct click_region a = {.lab = {50, 10, -20}}, b = {.lab = {30, 13, -16}};
    ck_assert_float_eq(lab_square_distance(a.lab, b.lab, 0), 25);
    ck_assert_float_eq(lab_square_distance(a.lab, b.lab, 0.25F), 125);
    ck_assert_float_eq(lab_square_distance(b.lab, a.lab, 1), 425);
}

TEST(a_click_on_the_object_and_one_on_background_cut_it_out)
{
    struct drawing *drawing = draw();
    click(drawing, 60, 65, true, 1);
    click(drawing, 60, 45, false, 2);
    ck_assert_double_gt(iou(drawing), 0.97);
    release(drawing);
}

TEST(pixels_under_strokes_are_what_the_strokes_say)
{
    struct drawing *drawing = draw();
    click(drawing, 60, 65, true, 1);
    click(drawing, 10, 10, true, 2);  /* like all of the background */
    click(drawing, 60, 25, false, 3); /* like all of the foreground */
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        if (drawing->seeds[p])
            ck_assert_int_eq(drawing->labels[p], drawing->seeds[p] == CLICK_FOREGROUND);
    release(drawing);
}

TEST(a_stroke_far_away_leaves_an_edited_mask_alone)
{
    struct drawing *drawing = draw();
    struct click_press press = {10, 45, true};
    struct click_request request = {
        .seeds = drawing->seeds, .before = drawing->labels, .latest = &press, .n_strokes = 1, .is_edit = true};
    memcpy(drawing->labels, drawing->truth, sizeof drawing->truth);
    memset(drawing->seeds + 45 * WIDTH + 8, CLICK_FOREGROUND, 5);
    for (int p = 0; p < 20 * WIDTH; p++) /* as outside of a box */
        drawing->seeds[p] = CLICK_BARRED;
    must(click_cut(drawing->labels, drawing->scene, &request, err));
    int kept = 0, all = 0;
    for (int p = 0; p < WIDTH * HEIGHT; p++) {
        all += drawing->truth[p] && drawing->seeds[p] != CLICK_BARRED;
        kept += drawing->truth[p] && drawing->labels[p];
        ck_assert(!(drawing->seeds[p] == CLICK_BARRED && drawing->labels[p]));
    }
    ck_assert_int_eq(drawing->labels[45 * WIDTH + 10], 1);
    ck_assert_int_gt(kept * 100, all * 97);
    release(drawing);
}

TEST(without_foreground_there_is_none)
{
    struct drawing *drawing = draw();
    memset(drawing->labels, 1, sizeof drawing->labels);
    click(drawing, 60, 65, false, 1);
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        ck_assert_int_eq(drawing->labels[p], 0);
    release(drawing);
}

/* A model that takes a strip at the bottom for the object's. */
TEST(a_models_score_is_cut_without_strokes_and_gives_way_to_them)
{
    struct drawing *drawing = draw();
    float *prior = calloc(WIDTH * HEIGHT, sizeof *prior);
    ck_assert_ptr_nonnull(prior);
    struct click_request request = {.seeds = drawing->seeds, .prior = prior};
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        prior[p] = drawing->truth[p] || p >= 76 * WIDTH ? 2.4F : -2.4F;
    must(click_cut(drawing->labels, drawing->scene, &request, err));
    double suggested = iou(drawing);
    ck_assert_double_gt(suggested, 0.6);
    ck_assert_int_eq(drawing->labels[20 * WIDTH + 20], 0);
    struct click_press at = {60, 86, false};
    memset(drawing->seeds + 86 * WIDTH + 58, CLICK_BACKGROUND, 5);
    request = (struct click_request){
        .seeds = drawing->seeds, .before = drawing->labels, .latest = &at, .n_strokes = 1, .prior = prior};
    must(click_cut(drawing->labels, drawing->scene, &request, err));
    ck_assert_double_gt(iou(drawing), suggested);
    ck_assert_int_eq(drawing->labels[86 * WIDTH + 60], 0);
    free(prior);
    release(drawing);
}

/* A model of few images: right on the whole, and wrong in three of ten blocks. */
TEST(a_models_score_counts_with_those_of_like_colours)
{
    struct drawing *drawing = draw();
    float *prior = calloc(WIDTH * HEIGHT, sizeof *prior);
    unsigned state = 7;
    bool is_wrong[HEIGHT / 6][WIDTH / 6];
    ck_assert_ptr_nonnull(prior);
    for (int k = 0; k < (HEIGHT / 6) * (WIDTH / 6); k++) {
        state = state * 1664525u + 1013904223u;
        is_wrong[k / (WIDTH / 6)][k % (WIDTH / 6)] = (state >> 16) % 10 < 3;
    }
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        prior[p] = (drawing->truth[p] != is_wrong[p / WIDTH / 6][p % WIDTH / 6]) ? 1 : -1;
    struct click_request request = {.seeds = drawing->seeds, .prior = prior};
    must(click_cut(drawing->labels, drawing->scene, &request, err));
    ck_assert_double_gt(iou(drawing), 0.95);
    free(prior);
    release(drawing);
}

/* The image is its own working copy: superpixel labels are those of its pixels. */
TEST(features_lean_to_the_nearer_stroke_and_barred_means_most_pixels)
{
    struct drawing *drawing = draw();
    const struct clv_superpixels *map = &drawing->scene->superpixels;
    ck_assert(map->width == WIDTH && map->height == HEIGHT);
    click(drawing, 60, 30, true, 1);
    click(drawing, 10, 10, false, 2);
    int32_t at_foreground = map->labels[30 * WIDTH + 60], at_background = map->labels[10 * WIDTH + 10],
            mostly = map->labels[80 * WIDTH + 100];
    int32_t slightly = map->labels[80 * WIDTH + 20];
    ck_assert(mostly != slightly);
    int size[2] = {0}, barred[2] = {0};
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        for (int k = 0; k < 2; k++)
            size[k] += map->labels[p] == (k ? slightly : mostly);
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        for (int k = 0; k < 2; k++)
            if (map->labels[p] == (k ? slightly : mostly) && 10 * barred[k] < (k ? 4 : 6) * size[k]) {
                drawing->seeds[p] = CLICK_BARRED;
                barred[k]++;
            }
    struct click_press press = {10, 10, false};
    struct click_request request = {
        .seeds = drawing->seeds, .before = drawing->labels, .latest = &press, .n_strokes = 2};
    struct click_view view;
    must(click_view_init(&view, drawing->scene, &request, err));
    ck_assert(view.is_barred[mostly] && !view.is_barred[slightly]);
    float *features = calloc((size_t)map->n, CLICK_FEATURES * sizeof *features);
    ck_assert_ptr_nonnull(features);
    must(click_features_fill(features, &view, NULL, err));
    static const int ratios[] = {CLICK_STEPS_RATIO, CLICK_DISTANCE_RATIO};
    for (int k = 0; k < 2; k++) {
        ck_assert_float_gt(features[at_foreground * CLICK_FEATURES + ratios[k]], 0.5f);
        ck_assert_float_lt(features[at_background * CLICK_FEATURES + ratios[k]], -0.5f);
    }
    free(features);
    click_view_release(&view);
    release(drawing);
}

/* Up to the nearest pixel that had the stroke's label before: here straight above and below, or to the left and
 * right. */
TEST(a_stroke_reaches_as_far_as_all_was_wrong)
{
    struct drawing *drawing = draw();
    const struct click_scene *scene = drawing->scene;
    const struct click_press press = {50, 40, false};
    for (int is_down = 0; is_down < 2; is_down++) {
        struct click_request request = {
            .seeds = drawing->seeds, .before = drawing->labels, .latest = &press, .n_strokes = 2};
        struct click_view view;
        for (int p = 0; p < WIDTH * HEIGHT; p++)
            drawing->labels[p] = abs(is_down ? p / WIDTH - press.y : p % WIDTH - press.x) < 12;
        must(click_view_init(&view, scene, &request, err));
        for (int32_t i = 0; i < scene->superpixels.n; i++) {
            float dx = scene->regions[i].x * scene->unit_px - 50.5F, dy = scene->regions[i].y * scene->unit_px - 40.5F;
            ck_assert_float_eq_tol(view.fixed_features[i * CLICK_FEATURES + CLICK_LATEST_NEAR],
                                   -expf(-0.5F * (dx * dx + dy * dy) / (12 * 12)), 1e-4F);
        }
        click_view_release(&view);
    }
    release(drawing);
}

TEST(the_same_clicks_give_the_same_labels)
{
    struct drawing *a = draw(), *b = draw();
    for (int k = 0; k < 2; k++) {
        struct drawing *drawing = k ? b : a;
        click(drawing, 60, 65, true, 1);
        click(drawing, 20, 45, false, 2);
    }
    ck_assert_mem_eq(a->labels, b->labels, sizeof a->labels);
    release(a);
    release(b);
}

/* Large images are cut smaller, and their borders followed at their own pixels. */
TEST(a_large_image_is_cut_to_its_own_pixels)
{
    enum { SIDE = 1000 };
    struct clv_image image = {0};
    struct click_scene *scene = NULL;
    uint8_t *seeds = calloc(2, SIDE * SIDE), *labels = seeds + SIDE * SIDE;
    ck_assert_ptr_nonnull(seeds);
    must(clv_image_new(&image, SIDE, SIDE, 3, err));
    for (int p = 0; p < SIDE * SIDE; p++) {
        bool is_foreground = abs(p % SIDE - 500) < 203 && abs(p / SIDE - 500) < 203;
        memcpy(image.pixels + 3 * p, is_foreground ? "\xc8\x78\x28" : "\x3c\x5a\x96", 3);
    }
    must(click_scene_new(&scene, &image, err));
    for (int k = 0; k < 9; k++) {
        seeds[500 * SIDE + 500 + k] = CLICK_FOREGROUND;
        seeds[20 * SIDE + 20 + k] = CLICK_BACKGROUND;
    }
    seeds[700 * SIDE + 300] = CLICK_BACKGROUND; /* a single pixel in the object's corner */
    struct click_press press = {500, 500, true};
    must(click_cut(labels, scene, &(struct click_request){.seeds = seeds, .latest = &press, .n_strokes = 3}, err));
    int n_wrong = 0;
    for (int p = 0; p < SIDE * SIDE; p++)
        n_wrong += labels[p] != (abs(p % SIDE - 500) < 203 && abs(p / SIDE - 500) < 203);
    ck_assert_int_eq(labels[700 * SIDE + 300], 0);
    ck_assert_int_lt(n_wrong, 1000);            /* of a border of 1600 pixels */
    seeds[104 * SIDE + 104] = CLICK_FOREGROUND; /* not in the middle of what a pixel of the smaller copy stands for */
    must(click_cut(labels, scene, &(struct click_request){.seeds = seeds, .latest = &press, .n_strokes = 4}, err));
    ck_assert_int_eq(labels[104 * SIDE + 104], 1);
    click_scene_free(scene);
    clv_image_release(&image);
    free(seeds);
}

TEST(one_pixel_and_one_colour_are_images_too)
{
    for (int side = 1; side <= 7; side += 3) {
        struct clv_image image = {0};
        struct click_scene *scene = NULL;
        uint8_t seeds[49] = {CLICK_FOREGROUND}, labels[49];
        must(clv_image_new(&image, side, side, 3, err));
        must(click_scene_new(&scene, &image, err));
        struct click_press press = {0, 0, true};
        must(click_cut(labels, scene, &(struct click_request){.seeds = seeds, .latest = &press, .n_strokes = 1}, err));
        ck_assert_int_eq(labels[0], 1);
        click_scene_free(scene);
        clv_image_release(&image);
    }
}

/* Strokes that touch are one, be it at a corner. */
TEST(a_mask_of_strokes_is_cut_as_so_many_strokes)
{
    struct drawing *picture = draw();
    static uint8_t strokes[WIDTH * HEIGHT], labels[WIDTH * HEIGHT], expected[WIDTH * HEIGHT];
    memset(strokes, CLV_VOID, sizeof strokes);
    must(clv_click_cut(labels, &picture->image, strokes, NULL, err));
    for (size_t p = 0; p < sizeof labels; p++)
        ck_assert_int_eq(labels[p], 0);
    for (int x = 50; x < 70; x++)
        strokes[(x < 60 ? 65 : 66) * WIDTH + x] = 1;
    memset(strokes + 45 * WIDTH + 56, 0, 8);
    memset(strokes + 2 * WIDTH, 0, 60);
    memset(strokes + (HEIGHT - 1) * WIDTH, 0, WIDTH);
    for (size_t p = 0; p < sizeof strokes; p++)
        picture->seeds[p] = strokes[p] == CLV_VOID ? CLICK_FREE : strokes[p] ? CLICK_FOREGROUND : CLICK_BACKGROUND;
    for (int k = 0; k < 2; k++) {
        const uint8_t *before = k ? picture->truth : NULL;
        struct click_request request = {.seeds = picture->seeds, .n_strokes = 4, .before = before};
        must(click_cut(expected, picture->scene, &request, err));
        must(clv_click_cut(labels, &picture->image, strokes, before, err));
        ck_assert_mem_eq(labels, expected, sizeof labels);
    }
    memcpy(picture->labels, labels, sizeof labels);
    ck_assert_double_gt(iou(picture), 0.97);
    strokes[WIDTH + 5] = 2;
    must_fail(CLV_ERR_DATA, "strokes: value 2 at pixel (5, 1) is not 0, 1 or 255",
              clv_click_cut(labels, &picture->image, strokes, NULL, err));
    strokes[WIDTH + 5] = 0;
    picture->truth[3] = CLV_VOID;
    must_fail(CLV_ERR_DATA, "before: value 255 at pixel (3, 0) is not 0 or 1",
              clv_click_cut(labels, &picture->image, strokes, picture->truth, err));
    picture->image.channels = 1;
    must_fail(CLV_ERR_USAGE, "1 channels", clv_click_cut(labels, &picture->image, strokes, NULL, err));
    picture->image.channels = 3;
    ck_assert_mem_eq(labels, expected, sizeof labels);
    release(picture);
}

/* Of stripes that have one mean colour, some smooth and some rough, the like are nearer. */
TEST(regions_of_one_colour_are_separated_by_their_roughness)
{
    struct clv_image image = {0};
    struct click_scene *scene = NULL;
    uint32_t state = 7;
    double sums[2][2] = {{0}}, counts[2][2] = {{0}}; /* of another or the same stripe; near, wide */
    must(clv_image_new(&image, WIDTH, HEIGHT, 3, err));
    for (int32_t p = 0; p < WIDTH * HEIGHT; p++) {
        int grey = 128 + (p % WIDTH / 30 % 2 ? (noise(&state) % 2 ? 40 : -40) : 0);
        memset(image.pixels + 3 * p, grey, 3);
    }
    must(click_scene_new(&scene, &image, err));
    int32_t n = scene->superpixels.n;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < i; j++) {
            const struct click_region *a = &scene->regions[i], *b = &scene->regions[j];
            float dx = a->x - b->x, dy = a->y - b->y, rough = a->roughness - b->roughness;
            float position = (dx * dx + dy * dy) / (2 * 0.16F * 0.16F),
                  step = lab_square_distance(a->lab, b->lab, 0.43F);
            const float kernel[] = {scene->near_kernel[i * n + j], scene->wide_kernel[i * n + j]};
            const float expected[] = {-step / 18 - position - 0.0096F * rough * rough,
                                      -step / 32 - 0.0096F * rough * rough};
            for (int k = 0; k < 2; k++) {
                ck_assert_float_eq_tol(kernel[k], expf(expected[k]), 1e-5F);
                sums[rough < 10 && rough > -10][k] += (double)kernel[k];
                counts[rough < 10 && rough > -10][k]++;
            }
        }
    for (int k = 0; k < 2; k++) {
        ck_assert_double_gt(counts[0][k], 0);
        ck_assert_double_lt(2 * sums[0][k] / counts[0][k], sums[1][k] / counts[1][k]);
    }
    click_scene_free(scene);
    clv_image_release(&image);
}
