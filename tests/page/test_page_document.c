/* The open image: what is drawn, suggested and taken over from elsewhere. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "page/page.h"
#include "support/requests.h"

enum { WIDTH = 90, HEIGHT = 60 };

/* Two orange squares in blue, of which only the left one is the object, and a model that takes both for it. */
static void open_document(struct page_document *document)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    const char *path = here("squares.png");
    must(clv_image_new(&image, WIDTH, HEIGHT, 3, err));
    for (int p = 0; p < WIDTH * HEIGHT; p++) {
        bool is_orange = abs(p / WIDTH - 30) < 12 && (abs(p % WIDTH - 22) < 12 || abs(p % WIDTH - 67) < 12);
        const uint8_t colour[2][3] = {{60, 90, 150}, {200, 120, 40}};
        memcpy(image.pixels + 3 * p, colour[is_orange], 3);
    }
    must(clv_png_write(path, &image, err));
    static struct clv_item item; /* which the document borrows, and its path */
    static char kept_path[512];
    snprintf(kept_path, sizeof kept_path, "%s", path);
    item = (struct clv_item){.name = "squares", .image = kept_path};
    must(page_document_open(document, &item, NULL, err));
    document->prior = array_alloc(WIDTH * HEIGHT, sizeof *document->prior);
    ck_assert_ptr_nonnull(document->prior);
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        document->prior[p] = image.pixels[3 * p] == 200 ? 1.2F : -1.2F;
}

static void draw(struct page_document *document, enum page_kind kind, double x, double y)
{
    const double point[2] = {x, y};
    struct page_event event = {.kind = kind, .label = 1, .radius = 3, .n_points = 1};
    event.points = array_copy(point, 1, sizeof point);
    ck_assert_ptr_nonnull(event.points);
    must(page_document_draw(document, &event, err));
}

/* Pixels of the left and the right square that are labelled. */
static void count(int n[2], const struct page_document *document)
{
    uint8_t labels[WIDTH * HEIGHT];
    page_document_paint(labels, document);
    n[0] = n[1] = 0;
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        n[p % WIDTH >= WIDTH / 2] += labels[p];
}

TEST(a_suggestion_is_what_the_model_sees)
{
    OWNED(page_document_release) struct page_document document = {0};
    struct clv_model model = {0};
    uint8_t labels[WIDTH * HEIGHT];
    int n[2];
    open_document(&document);
    must(page_document_suggest(labels, &document, &model, err));
    must(page_document_import(&document, labels, PAGE_SUGGESTION, err));
    count(n, &document);
    ck_assert_int_eq(n[0], 23 * 23);
    ck_assert_int_eq(n[1], 23 * 23);
}

TEST(a_stroke_on_a_suggestion_corrects_all_that_is_alike_wrong)
{
    OWNED(page_document_release) struct page_document document = {0};
    struct clv_model model = {0};
    uint8_t labels[WIDTH * HEIGHT];
    int n[2];
    open_document(&document);
    must(page_document_suggest(labels, &document, &model, err));
    must(page_document_import(&document, labels, PAGE_SUGGESTION, err));
    draw(&document, PAGE_BACKGROUND, 67, 30);
    count(n, &document);
    ck_assert_int_eq(n[0], 23 * 23);
    ck_assert_int_eq(n[1], 0);
}

/* Radius 0 is a pixel; boxes have the pixels that they touch. */
TEST(strokes_and_boxes_end_at_whole_pixels)
{
    OWNED(page_document_release) struct page_document document = {0};
    struct clv_pixel_box box;
    static uint8_t pixels[WIDTH * HEIGHT];
    const double corners[2][2] = {{40.4, 15.6}, {10.2, 5.3}};
    open_document(&document);
    draw(&document, PAGE_FOREGROUND, 22.5, 30.5);
    struct page_event *event = &document.history.events[0];
    event->radius = 0;
    page_document_stroke(pixels, &document, event, 1);
    int n = 0;
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        n += pixels[p];
    ck_assert(n == 1 && pixels[30 * WIDTH + 22] == 1);
    event->kind = PAGE_BOX;
    event->n_points = 2;
    array_free(event->points);
    event->points = array_copy(corners, 2, sizeof *corners);
    ck_assert(page_document_frame(&box, &document, 0));
    ck_assert(box.first_x == 10 && box.first_y == 5 && box.end_x == 41 && box.end_y == 16);
}

/* The definition, for ways up to 1e5: discs from the first point on, everywhere. */
static void stroke_slowly(uint8_t *pixels, const struct page_event *event)
{
    double radius = fmax(event->radius, 0.75);
    memset(pixels, 0, WIDTH * HEIGHT);
    for (size_t k = 0; k < event->n_points; k++) {
        const double *to = event->points[k], *from = event->points[k ? k - 1 : 0];
        int steps = (int)ceil(fmax(fabs(to[0] - from[0]), fabs(to[1] - from[1])) / fmax(1, radius / 2));
        for (int i = 0; i <= steps; i++) {
            double share = steps ? (double)i / steps : 1;
            double x = from[0] + share * (to[0] - from[0]), y = from[1] + share * (to[1] - from[1]);
            for (int p = 0; p < WIDTH * HEIGHT; p++) {
                double dy = p / WIDTH + 0.5 - y, dx = p % WIDTH + 0.5 - x;
                if (fabs(dy) <= radius && fabs(dx) <= sqrt(fmax(0, radius * radius - dy * dy)))
                    pixels[p] = 1;
            }
        }
    }
}

TEST(a_stroke_is_discs_of_the_brush_along_its_way_wherever_that_leads)
{
    struct page_document document = {.image = {.width = WIDTH, .height = HEIGHT}};
    static uint8_t slow[WIDTH * HEIGHT];
    uint8_t pixels[WIDTH * HEIGHT];
    for (uint64_t k = 0; k < 200; k++) {
        double points[4][2], radius = rng_uniform(3, k, 0) < 0.7 ? 5 * rng_uniform(3, k, 1) : 60 * rng_uniform(3, k, 1);
        double reach = k % 3 == 0 ? 0 : k % 3 == 1 ? 120 : 500;
        struct page_event event = {.radius = radius, .points = points, .n_points = 1 + k % 4};
        for (uint64_t i = 0; i < 4; i++) {
            points[i][0] = rng_uniform(3, k, 2 + 2 * i) * (WIDTH + 2 * reach) - reach;
            points[i][1] = rng_uniform(3, k, 3 + 2 * i) * (HEIGHT + 2 * reach) - reach;
        }
        if (k % 5 == 0)
            points[1][k % 2] = points[0][k % 2]; /* along an axis, or nowhere */
        if (k % 20 == 0)
            points[1][0] = points[0][0];
        stroke_slowly(slow, &event);
        memset(pixels, 0, sizeof pixels);
        page_document_stroke(pixels, &document, &event, 1);
        ck_assert_msg(memcmp(pixels, slow, sizeof pixels) == 0, "stroke %d", (int)k);
    }
}

/* Across the image and back, a part of a row lower or higher: rows at the edge of what was drawn already count. */
TEST(a_stroke_to_and_fro_reaches_every_row_of_its_way)
{
    struct page_document document = {.image = {.width = WIDTH, .height = HEIGHT}};
    static uint8_t slow[WIDTH * HEIGHT];
    uint8_t pixels[WIDTH * HEIGHT];
    for (uint64_t k = 0; k < 100; k++) {
        double points[6][2], y = 5 + 50 * rng_uniform(3, k, 100);
        struct page_event event = {.radius = 2 + 3 * rng_uniform(3, k, 101), .points = points, .n_points = 6};
        for (uint64_t i = 0; i < 6; i++) {
            points[i][0] = i % 2 ? WIDTH + 20 : -20;
            points[i][1] = y + 1.4 * rng_uniform(3, k, i) - 0.7;
        }
        stroke_slowly(slow, &event);
        memset(pixels, 0, sizeof pixels);
        page_document_stroke(pixels, &document, &event, 1);
        ck_assert_msg(memcmp(pixels, slow, sizeof pixels) == 0, "stroke %d", (int)k);
    }
}

TEST(what_a_stroke_costs_does_not_grow_with_its_way_outside)
{
    enum { N_POINTS = 20000 };
    struct page_document document = {.image = {.width = WIDTH, .height = HEIGHT}};
    double(*points)[2] = array_alloc(N_POINTS, sizeof *points);
    static uint8_t pixels[WIDTH * HEIGHT];
    struct page_event event = {.radius = 3, .points = points, .n_points = N_POINTS};
    for (int k = 0; k < N_POINTS; k++) {
        points[k][0] = k % 2 ? 1e6 : -1e6;
        points[k][1] = 1e6;
    }
    ck_assert_uint_eq(page_document_stroke(pixels, &document, &event, 1), 0);
    for (int k = 0; k < N_POINTS; k++)
        points[k][1] = 30;
    /* A disc each 1.5 pixels of the image's width and twice the radius, of 7 rows at most, and a few more at each end;
     * once, since going there again changes nothing. */
    ck_assert_uint_le(page_document_stroke(pixels, &document, &event, 1), 7 * (98 * 2 / 3 + 6));
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        ck_assert_int_eq(pixels[p], abs(2 * (p / WIDTH) + 1 - 60) <= 5);
    for (int row = 0; row <= HEIGHT; row += HEIGHT) { /* along the upper and the lower border, where half a brush is */
        memset(pixels, 0, sizeof pixels);
        for (int k = 0; k < N_POINTS; k++)
            points[k][1] = row;
        ck_assert_uint_le(page_document_stroke(pixels, &document, &event, 1), 4 * (98 * 2 / 3 + 6));
        for (int p = 0; p < WIDTH * HEIGHT; p++)
            ck_assert_int_eq(pixels[p], abs(2 * (p / WIDTH) + 1 - 2 * row) <= 5);
    }
    for (int k = 0; k < N_POINTS; k++)
        points[k][1] = points[k][0] * (1 - 1e-5 * k) + 30; /* all across the image, at another slope each */
    ck_assert_uint_le(page_document_stroke(pixels, &document, &event, 1), (size_t)N_POINTS * 7 * (98 * 2 / 3 + 6));
    array_free(points);
}

/* Rows from 8192 on are not remembered, and drawn all the same. */
TEST(strokes_end_where_they_should_in_images_of_many_rows)
{
    enum { W = 5, H = 8200 };
    struct page_document document = {.image = {.width = W, .height = H}};
    static uint8_t pixels[W * H];
    static double points[6][2] = {{2.5, 8180}, {2.5, 8199.5}, {2.5, 8180}, {2.5, 8190}, {2.5, 8192}, {2.5, 8192}};
    struct page_event event = {.radius = 2.6, .points = points, .n_points = 6};
    ck_assert_uint_lt(page_document_stroke(pixels, &document, &event, 1), 300); /* rows of discs, 6 each */
    for (int p = 0; p < W * H; p++) {
        int y = p / W, x = p % W;
        ck_assert_msg(pixels[p] == (y >= 8178 || (y == 8177 && x == 2)), "%d, %d", x, y);
    }
}

/* Whole pixels that the corners touch, at least one, within the image; of the object's last box that was not undone. */
TEST(an_object_s_frame_is_its_latest_box_within_the_image)
{
    static const struct {
        double corners[4];
        struct clv_pixel_box expected;
    } boxes[] = {{{10, 5, 40, 16}, {10, 5, 40, 16}},
                 {{40, 16, 10, 5}, {10, 5, 40, 16}},
                 {{10.9, 5.9, 39.1, 15.1}, {10, 5, 40, 16}},
                 {{-9, -7, -8, -3}, {0, 0, 1, 1}},
                 {{-9, -7, 95, 70}, {0, 0, 90, 60}},
                 {{95, 70, 99, 99}, {89, 59, 90, 60}},
                 {{7, 8, 7, 8}, {7, 8, 8, 9}},
                 {{89.5, 59.5, 89.6, 59.6}, {89, 59, 90, 60}}};
    OWNED(page_document_release) struct page_document document = {.image = {.width = WIDTH, .height = HEIGHT}};
    struct clv_pixel_box box;
    for (size_t k = 0; k < sizeof boxes / sizeof *boxes; k++) {
        struct page_event event = {.kind = PAGE_BOX, .object = 3, .label = 1, .n_points = 2};
        struct page_event other = {.kind = PAGE_DELETE, .object = 3, .label = 1};
        event.points = array_copy(boxes[k].corners, 1, sizeof boxes[k].corners);
        ck_assert_int_eq(page_document_frame(&box, &document, 3), k > 0);
        must(page_history_add(&document.history, &event, err));
        must(page_history_add(&document.history, &other, err));
        ck_assert(page_document_frame(&box, &document, 3));
        ck_assert_msg(memcmp(&box, &boxes[k].expected, sizeof box) == 0, "box %zu: %d %d %d %d", k, box.first_x,
                      box.first_y, box.end_x, box.end_y);
        ck_assert(!page_document_frame(&box, &document, 2));
    }
    document.history.cursor = 2; /* behind the first and its deletion */
    ck_assert(page_document_frame(&box, &document, 3));
    ck_assert_int_eq(box.end_y, 16);
    document.history.cursor = 0;
    ck_assert(!page_document_frame(&box, &document, 3));
}

/* An event whose object has the pixels from `first` to `end` of an image of one row. */
static void add_row(struct page_document *document, enum page_kind kind, int32_t object, int32_t label, int first,
                    int end)
{
    uint8_t labels[8] = {0};
    struct page_event event = {.kind = kind, .object = object, .label = label};
    for (int x = first; x < end; x++)
        labels[x] = 1;
    must(page_runs_encode(&event.result, labels, 8, 1, err));
    must(page_history_add(&document->history, &event, err));
}

TEST(later_objects_lie_on_earlier_ones_and_what_is_deleted_or_undone_on_none)
{
    OWNED(page_document_release) struct page_document document = {.image = {.width = 8, .height = 1}};
    static const uint8_t both[] = {0, 5, 5, 7, 7, 7, 0, 0}, first[] = {0, 5, 5, 5, 5, 0, 0, 0};
    uint8_t painted[8];
    add_row(&document, PAGE_MASK, 2, 7, 3, 6);
    ck_assert_int_eq(page_document_n_objects(&document), 3);
    add_row(&document, PAGE_MASK, 0, 5, 1, 5);
    ck_assert_int_eq(page_document_n_objects(&document), 3);
    page_document_paint(painted, &document);
    ck_assert_mem_eq(painted, both, 8);
    add_row(&document, PAGE_DELETE, 2, 7, 0, 0);
    page_document_paint(painted, &document);
    ck_assert_mem_eq(painted, first, 8);
    ck_assert(!page_document_step(&document, 1));
    ck_assert_int_eq(document.revision, 0);
    for (int k = 1; k <= 3; k++) {
        ck_assert(page_document_step(&document, -1));
        ck_assert_int_eq(document.revision, k);
        ck_assert_uint_eq(document.history.cursor, 3 - (size_t)k);
        ck_assert_int_eq(page_document_n_objects(&document), k < 3 ? 3 : 0);
    }
    ck_assert(!page_document_step(&document, -1));
    ck_assert(page_document_step(&document, 1));
    ck_assert_uint_eq(document.history.cursor, 1);
    ck_assert_int_eq(document.revision, 4);
}

TEST(an_image_takes_a_bounded_number_of_objects)
{
    OWNED(page_document_release) struct page_document document = {
        .image = {.width = PAGE_MAX_OBJECTS + 1, .height = 1}};
    int32_t numbers[PAGE_MAX_OBJECTS + 1];
    struct clv_object_map map = {PAGE_MAX_OBJECTS + 1, 1, PAGE_MAX_OBJECTS + 1, numbers, NULL, NULL};
    for (int p = 0; p <= PAGE_MAX_OBJECTS; p++)
        numbers[p] = p + 1;
    must_fail(CLV_ERR_DATA, "5001 objects, the page takes at most 5000",
              page_document_import_objects(&document, &map, err));
    ck_assert_uint_eq(document.history.n, 0);
    numbers[0] = map.n_objects = PAGE_MAX_OBJECTS;
    numbers[PAGE_MAX_OBJECTS] = 1;
    must(page_document_import_objects(&document, &map, err));
    ck_assert_int_eq(page_document_n_objects(&document), PAGE_MAX_OBJECTS);
    map.n_objects = 1;
    must_fail(CLV_ERR_DATA, "1 objects after 5000 earlier ones, the page takes at most 5000",
              page_document_import_objects(&document, &map, err));
    ck_assert(document.history.events[4999].is_linked && page_document_step(&document, -1));
    ck_assert_uint_eq(document.history.cursor, 0);
}

TEST(a_mask_that_finds_no_memory_leaves_all_as_it_was)
{
    static const uint8_t labels[] = {0, 2, 2, 4, 5, 6, 7, 8};
    OWNED(page_document_release) struct page_document document = {.image = {.width = 8, .height = 1}};
    for (int32_t object = 0; object < 7; object++) /* the place for events grows meanwhile */
        add_row(&document, PAGE_MASK, object, 1, object, 8);
    document.history.cursor = 5;
    must_keep_when_requests_fail(page_document_import(&document, labels, PAGE_MASK, err), {
        ck_assert_uint_eq(document.history.cursor, 5);
        ck_assert_uint_eq(document.history.n, 7);
        ck_assert_int_eq(document.revision, 0);
        for (int32_t k = 0; k < 7; k++)
            ck_assert_int_eq(document.history.events[k].object, k);
    });
    ck_assert_uint_eq(document.history.n, 11);
    ck_assert_int_eq(document.revision, 1);
}

/* The object's box against that of its pixels. */
TEST(the_box_around_an_object_is_that_of_its_pixels)
{
    for (uint64_t k = 0; k < 300; k++) {
        enum { W = 7, H = 5 };
        OWNED(page_document_release) struct page_document document = {.image = {.width = W, .height = H}};
        uint8_t labels[W * H];
        struct clv_pixel_box box, expected = {W, H, 0, 0};
        int32_t label = 0;
        for (uint64_t p = 0; p < W * H; p++)
            labels[p] = rng_uniform(7, k, p) < 0.02 * (double)(k % 50) ? 3 : 0;
        for (int p = 0; p < W * H; p++)
            if (labels[p]) {
                expected.first_x = p % W < expected.first_x ? p % W : expected.first_x;
                expected.first_y = p / W < expected.first_y ? p / W : expected.first_y;
                expected.end_x = p % W >= expected.end_x ? p % W + 1 : expected.end_x;
                expected.end_y = p / W >= expected.end_y ? p / W + 1 : expected.end_y;
            }
        must(page_document_import(&document, labels, PAGE_MASK, err));
        ck_assert_int_eq(page_document_n_objects(&document), expected.end_x > 0);
        ck_assert(page_document_box(&box, &label, &document, 0) == (expected.end_x > 0));
        if (expected.end_x) {
            ck_assert_int_eq(label, 3);
            ck_assert_mem_eq(&box, &expected, sizeof box);
        }
    }
}

TEST(void_pixels_of_a_mask_belong_to_no_object_and_others_to_one_for_each_label)
{
    static const uint8_t labels[] = {255, 2, 0, 254, 2, 1}, painted[] = {0, 2, 0, 254, 2, 1};
    OWNED(page_document_release) struct page_document document = {.image = {.width = 6, .height = 1}};
    uint8_t found[6];
    must(page_document_import(&document, labels, PAGE_MASK, err));
    ck_assert_uint_eq(document.history.n, 3);
    for (int k = 0; k < 3; k++) {
        ck_assert_int_eq(document.history.events[k].object, k);
        ck_assert_int_eq(document.history.events[k].label, k < 2 ? k + 1 : 254);
        ck_assert_int_eq(document.history.events[k].kind, PAGE_MASK);
    }
    ck_assert_int_eq(document.revision, 1);
    page_document_paint(found, &document);
    ck_assert_mem_eq(found, painted, 6);
}

TEST(a_suggestion_is_saved_as_one)
{
    OWNED(page_document_release) struct page_document document = {0};
    OWNED(page_history_release) struct page_history again = {0};
    struct clv_model model = {0};
    OWNED(text_release) struct text json = {0};
    uint8_t labels[WIDTH * HEIGHT];
    open_document(&document);
    must(page_document_suggest(labels, &document, &model, err));
    must(page_document_import(&document, labels, PAGE_SUGGESTION, err));
    text_init(&json, 1 << 20);
    page_history_put(&json, &document.history, WIDTH, HEIGHT);
    ck_assert_ptr_nonnull(strstr(json.bytes, "\"kind\": \"suggestion\""));
    must(page_history_parse(&again, json.bytes, json.size, "strokes", WIDTH, HEIGHT, err));
    ck_assert_int_eq(again.events[0].kind, PAGE_SUGGESTION);
    struct page_event event = {.kind = PAGE_SUGGESTION, .label = 1};
    must_fail(CLV_ERR_USAGE, "a mask is not a stroke", page_document_draw(&document, &event, err));
}

/* An event of points, on object 0. */
static enum clv_status put(struct page_document *document, enum page_kind kind, const double (*points)[2], size_t n,
                           double radius, struct clv_error *err)
{
    OWNED(page_event_release) struct page_event event = {.kind = kind, .label = 1, .n_points = n, .radius = radius};
    event.points = array_copy(points, n, sizeof *points);
    return page_document_draw(document, &event, err);
}

/* A click on the margin is a slip, however wide the brush is. */
TEST(what_is_beside_the_image_draws_nothing)
{
    static const struct {
        enum page_kind kind;
        double points[2][2];
        size_t n;
        bool is_on;
    } drawn[] = {{PAGE_FOREGROUND, {{-0.1, 30}}, 1, false},
                 {PAGE_FOREGROUND, {{WIDTH, 30}}, 1, false},
                 {PAGE_BACKGROUND, {{45, -3}}, 1, false},
                 {PAGE_ERASE, {{45, HEIGHT}}, 1, false},
                 {PAGE_FOREGROUND, {{-5, -5}, {WIDTH + 5, -5}}, 2, false},
                 {PAGE_FOREGROUND, {{-20, 10}, {10, -20}}, 2, false},
                 {PAGE_BOX, {{-9, -9}, {0, 40}}, 2, false},
                 {PAGE_BOX, {{WIDTH, 5}, {WIDTH + 20, 40}}, 2, false},
                 {PAGE_BOX, {{5, HEIGHT + 2}, {40, HEIGHT + 20}}, 2, false},
                 {PAGE_FOREGROUND, {{0, 0}}, 1, true},
                 {PAGE_FOREGROUND, {{WIDTH - 0.1, HEIGHT - 0.1}}, 1, true},
                 {PAGE_FOREGROUND, {{-20, 25}, {10, -5}}, 2, true},
                 {PAGE_BACKGROUND, {{-5, 5}, {5, 5}}, 2, true},
                 {PAGE_BOX, {{WIDTH + 20, HEIGHT + 20}, {40, 30}}, 2, true}};
    OWNED(page_document_release) struct page_document document = {0};
    int n_events = 0;
    open_document(&document);
    for (size_t k = 0; k < sizeof drawn / sizeof *drawn; k++) {
        if (drawn[k].is_on)
            must(put(&document, drawn[k].kind, drawn[k].points, drawn[k].n, 60, err));
        else
            must_fail(CLV_ERR_USAGE, "beside the image",
                      put(&document, drawn[k].kind, drawn[k].points, drawn[k].n, 60, err));
        n_events += drawn[k].is_on;
        ck_assert_uint_eq(document.history.n, n_events);
        ck_assert_int_eq(document.revision, n_events);
    }
}

static void paint(uint8_t *labels, struct page_document *document)
{
    page_document_paint(labels, document);
    page_document_release(document);
}

/* As if the box had been there from the first: the strokes within it count, those outside of it do not. */
TEST(a_box_that_is_moved_takes_the_place_of_the_one_before)
{
    static const double first[][2] = {{2, 10}, {50, 50}}, moved[][2] = {{40, 10}, {88, 50}}, on_left[][2] = {{22, 30}},
                        on_right[][2] = {{67, 30}}, beside[][2] = {{44, 30}};
    uint8_t direct[WIDTH * HEIGHT], after[WIDTH * HEIGHT];
    struct page_document document;
    struct clv_pixel_box box;
    int n = 0;
    open_document(&document);
    must(put(&document, PAGE_BOX, moved, 2, 0, err));
    must(put(&document, PAGE_FOREGROUND, on_right, 1, 2, err));
    must(put(&document, PAGE_BACKGROUND, beside, 1, 2, err));
    paint(direct, &document);
    open_document(&document);
    must(put(&document, PAGE_BOX, first, 2, 0, err));
    must(put(&document, PAGE_FOREGROUND, on_left, 1, 2, err));
    must(put(&document, PAGE_FOREGROUND, on_right, 1, 2, err));
    must(put(&document, PAGE_BACKGROUND, beside, 1, 2, err));
    must(put(&document, PAGE_BOX, moved, 2, 0, err));
    ck_assert(page_document_is_framed(&document, 0) && page_document_frame(&box, &document, 0));
    ck_assert(box.first_x == 40 && box.first_y == 10 && box.end_x == 88 && box.end_y == 50);
    ck_assert_int_eq(page_document_n_objects(&document), 1);
    paint(after, &document);
    ck_assert_mem_eq(after, direct, sizeof after);
    for (int p = 0; p < WIDTH * HEIGHT; p++) {
        ck_assert(p % WIDTH >= 40 || !after[p]);
        n += after[p];
    }
    ck_assert_int_gt(n, 23 * 23 / 2);
}

/* A stroke after the move: what the old box fenced off is free again. */
TEST(the_fence_of_a_moved_box_is_where_the_box_is)
{
    static const double first[][2] = {{8, 16}, {36, 44}}, moved[][2] = {{8, 16}, {84, 44}}, on_right[][2] = {{67, 30}};
    uint8_t direct[WIDTH * HEIGHT], after[WIDTH * HEIGHT];
    struct page_document document;
    open_document(&document);
    must(put(&document, PAGE_BOX, moved, 2, 0, err));
    must(put(&document, PAGE_FOREGROUND, on_right, 1, 2, err));
    paint(direct, &document);
    open_document(&document);
    must(put(&document, PAGE_BOX, first, 2, 0, err));
    must(put(&document, PAGE_BOX, moved, 2, 0, err));
    must(put(&document, PAGE_FOREGROUND, on_right, 1, 2, err));
    ck_assert(page_document_step(&document, -1) && page_document_step(&document, -1));
    struct clv_pixel_box box;
    ck_assert(page_document_frame(&box, &document, 0) && box.end_x == 36);
    ck_assert(page_document_step(&document, 1) && page_document_step(&document, 1));
    paint(after, &document);
    ck_assert_mem_eq(after, direct, sizeof after);
    ck_assert(after[30 * WIDTH + 67]);
}

/* An object that another program or a merge has changed is no longer what its box cut out. */
TEST(an_object_is_framed_while_its_box_is_what_cut_it_out)
{
    static const double corners[][2] = {{8, 16}, {36, 44}}, point[][2] = {{22, 30}};
    OWNED(page_document_release) struct page_document document = {0};
    open_document(&document);
    must(put(&document, PAGE_FOREGROUND, point, 1, 2, err));
    ck_assert(!page_document_is_framed(&document, 0) && !page_document_is_framed(&document, 3));
    must(put(&document, PAGE_BOX, corners, 2, 0, err));
    must(put(&document, PAGE_BACKGROUND, point, 1, 2, err));
    ck_assert(page_document_is_framed(&document, 0));
    struct page_event other = {.kind = PAGE_RELABEL, .label = 2};
    must(page_document_relabel(&document, &other, err));
    ck_assert(page_document_is_framed(&document, 0));
    must(put(&document, PAGE_DELETE, NULL, 0, 0, err));
    ck_assert(!page_document_is_framed(&document, 0));
}
