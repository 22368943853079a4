/* Objects of boxes: which pixels are whose, why a box is empty, and the boxes that are drawn. */
#include <stdlib.h>
#include <string.h>

#include "batch/box_objects.h"
#include "data/boxes/boxes_text.h"
#include "support/images.h"
#include "support/support.h"

enum { WIDTH = 23, HEIGHT = 17, N_PIXELS = WIDTH * HEIGHT };

static const uint8_t values[2] = {3, 7}; /* of labels a and b */

static int64_t squared(int64_t x)
{
    return x * x;
}

/* How far a pixel is from the nearest pixel of the box; 0: the box covers it. */
static int64_t distance_to(const struct clv_pixel_box *box, int x, int y)
{
    int64_t least = INT64_MAX;
    for (int v = box->first_y; v < box->end_y; v++)
        for (int u = box->first_x; u < box->end_x; u++) {
            const int64_t own = squared(u - x) + squared(v - y);
            least = own < least ? own : least;
        }
    return least;
}

/* The box that a pixel belongs to: the smallest of its label that covers it, or else the nearest; the first of equal
 * ones; -1: there is none. */
static int owner(const struct clv_pixel_box *boxes, const uint8_t *box_values, int n, uint8_t label, int x, int y)
{
    int best = -1;
    int64_t least = INT64_MAX, least_area = INT64_MAX;
    for (int k = 0; k < n; k++) {
        const int64_t distance = distance_to(&boxes[k], x, y),
                      area = distance
                                 ? 0
                                 : (int64_t)(boxes[k].end_x - boxes[k].first_x) * (boxes[k].end_y - boxes[k].first_y);
        if (box_values[k] == label && (distance < least || (distance == least && area < least_area))) {
            best = k;
            least = distance;
            least_area = area;
        }
    }
    return best;
}

TEST(pixels_belong_to_the_smallest_box_of_their_label_around_them_or_to_the_nearest)
{
    enum { N = 5 };
    uint32_t state = 3;
    for (int round = 0; round < 60; round++) {
        char table[1024] = "image\tlabel\tx\ty\tw\th\n";
        struct clv_pixel_box pixels[N];
        uint8_t box_values[N], labels[N_PIXELS];
        for (int k = 0; k < N; k++) {
            const int x = (int)(noise(&state) % 20), y = (int)(noise(&state) % 14),
                      w = 1 + (int)(noise(&state) % (uint32_t)(WIDTH - x) / 2),
                      h = 1 + (int)(noise(&state) % (uint32_t)(HEIGHT - y) / 2), b = k ? (int)(noise(&state) % 2) : 0;
            pixels[k] = (struct clv_pixel_box){x, y, x + w, y + h};
            if (k == 4 && round % 3 == 0)
                pixels[k] = pixels[3]; /* twice the same box */
            box_values[k] = values[b];
            snprintf(table + strlen(table), sizeof table - strlen(table), "i.png\t%c\t%d\t%d\t%d\t%d\n", 'a' + b,
                     pixels[k].first_x, pixels[k].first_y, pixels[k].end_x - pixels[k].first_x,
                     pixels[k].end_y - pixels[k].first_y);
        }
        for (int p = 0; p < N_PIXELS; p++)
            labels[p] = (const uint8_t[]){0, 3, 7, CLV_VOID, 9}[noise(&state) % 5];
        OWNED(clv_boxes_release) struct clv_boxes boxes = read_text("boxes.tsv", table);
        char name[] = "i.png";
        const struct input input = {.name = name, .boxes = boxes.images};
        const struct clv_image image = {.width = WIDTH, .height = HEIGHT, .channels = 3};
        OWNED(clv_object_map_release) struct clv_object_map map = {0};
        struct box_findings found;
        must(box_inputs_objects(&map, &found, &input, &boxes, values, labels, WIDTH, HEIGHT, &image, err));
        int owners[N_PIXELS], number[N] = {0}, n_objects = 0;
        for (int p = 0; p < N_PIXELS; p++) {
            const bool is_object = labels[p] && labels[p] != CLV_VOID;
            owners[p] = is_object ? owner(pixels, box_values, N, labels[p], p % WIDTH, p / WIDTH) : -1;
            if (owners[p] >= 0)
                number[owners[p]] = 1;
        }
        for (int k = 0; k < N; k++)
            if (number[k]) {
                ck_assert_int_lt(n_objects, map.n_objects);
                ck_assert_int_eq(map.labels[n_objects], box_values[k]);
                number[k] = ++n_objects;
            }
        ck_assert_int_eq(map.n_objects, n_objects);
        ck_assert_uint_eq(found.n, N);
        ck_assert_uint_eq(found.n_empty, (size_t)(N - n_objects));
        for (int p = 0; p < N_PIXELS; p++)
            ck_assert_msg(map.objects[p] == (owners[p] < 0 ? 0 : number[owners[p]]),
                          "round %d: pixel %d, %d is of object %d, not %d", round, p % WIDTH, p / WIDTH, map.objects[p],
                          owners[p] < 0 ? 0 : number[owners[p]]);
    }
}

TEST(an_input_that_is_an_object_has_the_boxes_that_name_it)
{
    OWNED(clv_boxes_release) struct clv_boxes boxes = read_text(
        "boxes.tsv", "image\tlabel\tx\ty\tw\th\tmask\ni.png\ta\t1\t2\t3\t4\tone.png\ni.png\ta\t5\t2\t3\t4\ttwo.png\n"
                     "i.png\tb\t9\t2\t3\t4\tone.png\ni.png\tb\t13\t2\t3\t4\t\n");
    static const struct {
        const char *object;
        size_t n;
        double x[2];
    } rows[] = {{"one.png", 2, {1, 9}}, {"two.png", 1, {5}}, {NULL, 1, {13}}, {"three.png", 0, {0}}};
    const struct clv_image image = {.width = WIDTH, .height = HEIGHT, .channels = 3};
    for (size_t k = 0; k < 4; k++) {
        const struct input input = {.boxes = boxes.images, .object = rows[k].object};
        OWNED_ARRAY struct clv_box *placed = NULL;
        size_t n = 9;
        must(box_inputs_place(&placed, &n, &input, &boxes, &image, NULL, err));
        ck_assert_uint_eq(n, rows[k].n);
        for (size_t i = 0; i < n; i++)
            ck_assert_double_eq(placed[i].x, rows[k].x[i]);
    }
}

TEST(a_box_without_an_object_says_why_if_that_is_known)
{
    static const struct {
        const char *box, *why;
        bool is_coloured; /* the image has other colours on its right half */
    } rows[] = {
        {"2\t2\t3\t8", "box 1 of photo (3x8 pixels, too small for an object", true},
        {"2\t2\t8\t3", "box 1 of photo (8x3 pixels, too small for an object", true},
        {"0\t0\t23\t17", "(23x17 pixels, the whole image, so that nothing shows", true},
        {"2\t2\t6\t5", "(6x5 pixels, of an image of one colour)", false},
        {"2\t2\t6\t5", "(6x5 pixels, of one colour)", true},
        {"8\t2\t7\t5", "(7x5 pixels)", true},
    };
    uint8_t pixels[3 * N_PIXELS], labels[N_PIXELS] = {0};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        OWNED(clv_boxes_release) struct clv_boxes boxes =
            read_text("boxes.tsv", formatted("image\tlabel\tx\ty\tw\th\ni.png\ta\t%s\n", rows[k].box));
        for (int p = 0; p < 3 * N_PIXELS; p++)
            pixels[p] = (uint8_t)(50 + p % 3 + (rows[k].is_coloured && p / 3 % WIDTH > 11));
        char name[] = "photo";
        const struct input input = {.name = name, .boxes = boxes.images};
        const struct clv_image image = {.width = WIDTH, .height = HEIGHT, .channels = 3, .pixels = pixels};
        OWNED(clv_object_map_release) struct clv_object_map map = {0};
        struct box_findings found;
        must(box_inputs_objects(&map, &found, &input, &boxes, values, labels, WIDTH, HEIGHT, &image, err));
        ck_assert(found.n == 1 && found.n_empty == 1 && map.n_objects == 0);
        must_say(found.first_empty, rows[k].why);
    }
}

/* On small images a line of one pixel along the pixels that are just inside, with a dark one on both sides of it. */
TEST(boxes_are_drawn_along_their_outermost_pixels)
{
    OWNED(clv_boxes_release) struct clv_boxes boxes =
        read_text("boxes.tsv", "image\tlabel\tx\ty\tw\th\ni.png\ta\t4\t3\t9\t8\ni.png\ta\t18\t12\t5\t5\n");
    const struct clv_pixel_box drawn[2] = {{4, 3, 13, 11}, {18, 12, 23, 17}};
    OWNED(clv_image_release) struct clv_image image = {0};
    char name[] = "photo";
    const struct input input = {.name = name, .boxes = boxes.images};
    must(clv_image_new(&image, WIDTH, HEIGHT, 3, err));
    memset(image.pixels, 99, 3 * N_PIXELS);
    must(box_inputs_draw(&image, &input, &boxes, err));
    for (int p = 0; p < N_PIXELS; p++) {
        int inside = -9; /* how far a pixel is inside the box whose outline is near: 0 at its outermost pixels */
        for (int k = 0; k < 2; k++) {
            const int x = p % WIDTH, y = p / WIDTH;
            const int sides[4] = {x - drawn[k].first_x, drawn[k].end_x - 1 - x, y - drawn[k].first_y,
                                  drawn[k].end_y - 1 - y};
            int least = sides[0];
            for (int s = 1; s < 4; s++)
                least = sides[s] < least ? sides[s] : least;
            inside = least > inside ? least : inside;
        }
        const uint8_t wanted[3] = {inside == 0                   ? 255
                                   : inside == 1 || inside == -1 ? 30
                                                                 : 99,
                                   inside == 0                   ? 220
                                   : inside == 1 || inside == -1 ? 30
                                                                 : 99,
                                   inside == 0                   ? 0
                                   : inside == 1 || inside == -1 ? 30
                                                                 : 99};
        ck_assert_msg(memcmp(image.pixels + 3 * p, wanted, 3) == 0, "pixel %d, %d is %d, %d, %d", p % WIDTH, p / WIDTH,
                      image.pixels[3 * p], image.pixels[3 * p + 1], image.pixels[3 * p + 2]);
    }
}
