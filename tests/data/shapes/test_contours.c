/* Contours of labelled regions: exact rings, holes, simpler ones within a tolerance, run lengths. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/shapes/shapes.h"
#include "support/images.h"
#include "support/reference_contours.h"
#include "support/support.h"

#undef fail

#define SIDE 97

static const bool all_traced[256] = {true, true, true, true, true, true, true, true, true, true};
static const bool foreground_traced[256] = {false, true, true, true, true, true, true, true, true, true};

/* Discs of labels 0..3, one over the other: borders, islands, holes, junctions. */
static void draw_discs(uint8_t labels[SIDE * SIDE], uint32_t seed)
{
    uint32_t state = seed;
    memset(labels, 0, SIDE * SIDE);
    for (int k = 0; k < 14; k++) {
        int cx = (int)(noise(&state) % SIDE), cy = (int)(noise(&state) % SIDE), r = 6 + (int)(noise(&state) % 22);
        for (int p = 0; p < SIDE * SIDE; p++) {
            int dx = p % SIDE - cx, dy = p / SIDE - cy;
            if (dx * dx + dy * dy <= r * r)
                labels[p] = (uint8_t)(k % 4);
        }
    }
}

/* Pixels of object k by its rings. */
static void fill_object(uint8_t *mask, const struct contours *contours, size_t k)
{
    size_t first, end, ends[512];
    contours_rings(contours, k, &first, &end);
    size_t start = first ? contours->ring_ends[first - 1] : 0, n = contours->ring_ends[end - 1] - start;
    double(*points)[2] = malloc(n * sizeof *points);
    ck_assert_uint_lt(end - first, 512);
    for (size_t i = 0; i < n; i++) {
        points[i][0] = contours->points[start + i][0];
        points[i][1] = contours->points[start + i][1];
    }
    for (size_t r = first; r < end; r++)
        ends[r - first] = contours->ring_ends[r] - start;
    must(polygon_fill(&(struct canvas){mask, contours->width, contours->height, 1}, (const double(*)[2])points, ends,
                      end - first, err));
    free(points);
}

static void fill_keyhole(uint8_t *mask, const struct contours *contours, size_t k)
{
    int32_t(*joined)[2];
    size_t n;
    must(contours_keyhole(&joined, &n, contours, k, err));
    double(*points)[2] = malloc(n * sizeof *points);
    for (size_t i = 0; i < n; i++) {
        points[i][0] = joined[i][0];
        points[i][1] = joined[i][1];
    }
    must(polygon_fill(&(struct canvas){mask, contours->width, contours->height, 1}, (const double(*)[2])points, &n, 1,
                      err));
    free(points);
    array_free(joined);
}

static void check_runs(const struct contours *contours, const int32_t *object_of, size_t k)
{
    const struct rle_frame whole = {0, 0, contours->width, contours->height};
    uint32_t *counts, *again;
    size_t n, n_again, n_pixels = (size_t)contours->width * (size_t)contours->height;
    struct text text;
    uint8_t *mask = calloc(n_pixels, 1);
    must(rle_of_pieces(&counts, &n, contours, &k, 1, err));
    text_init(&text, 1 << 20);
    rle_put_compressed(&text, counts, n);
    must(rle_parse_compressed(&again, &n_again, text.bytes, err));
    ck_assert_uint_eq(n_again, n);
    ck_assert_mem_eq(again, counts, n * sizeof *counts);
    must(rle_fill(&(struct canvas){mask, contours->width, contours->height, 1}, &whole, again, n, RLE_BY_COLUMNS, err));
    for (size_t p = 0; p < n_pixels; p++)
        ck_assert_int_eq(mask[p], object_of[p] == (int32_t)k + 1);
    text_release(&text);
    array_free(counts);
    array_free(again);
    free(mask);
}

/* Rings, keyholes and runs of every object are its pixels; n_pixels and bounds are theirs. */
static void check_objects(const uint8_t *labels, int32_t width, int32_t height, const bool is_traced[256])
{
    struct contours contours = {0};
    size_t n = (size_t)width * (size_t)height, n_traced = 0, n_in_objects = 0;
    struct reference_contours reference = {0};
    must(contours_trace(&contours,
                        &(struct tracing){.width = width, .height = height, .is_traced = is_traced, .n_traced = 256},
                        labels, err));
    must(reference_trace(&reference, labels, width, height, is_traced, err));
    uint8_t *mask = malloc(n), *keyhole = malloc(n);
    for (size_t k = 0; k < contours.n_objects; k++) {
        const struct contour_object *object = &contours.objects[k];
        int64_t n_pixels = 0;
        memset(mask, 0, n);
        memset(keyhole, 0, n);
        fill_object(mask, &contours, k);
        fill_keyhole(keyhole, &contours, k);
        for (size_t p = 0; p < n; p++) {
            bool is_its = reference.object_of[p] == (int32_t)k + 1;
            ck_assert_msg(mask[p] == is_its && keyhole[p] == is_its, "object %zu at %zu of %dx%d", k, p, width, height);
            int32_t x = (int32_t)(p % (size_t)width), y = (int32_t)(p / (size_t)width);
            n_pixels += is_its;
            ck_assert(!is_its || (labels[p] == object->label && x >= object->left && y >= object->top &&
                                  x < object->left + object->width && y < object->top + object->height));
        }
        ck_assert_int_eq(n_pixels, object->n_pixels);
        n_in_objects += (size_t)n_pixels;
        check_runs(&contours, reference.object_of, k);
    }
    for (size_t p = 0; p < n; p++)
        n_traced += is_traced[labels[p]];
    ck_assert_uint_eq(n_in_objects, n_traced);
    free(mask);
    free(keyhole);
    reference_release(&reference);
    contours_release(&contours);
}

TEST(rings_keyholes_and_runs_are_the_objects_pixels_whatever_they_are)
{
    static const int32_t sides[][2] = {{1, 1}, {1, 7}, {9, 1}, {2, 2}, {5, 4}, {16, 11}};
    uint32_t state = 3;
    uint8_t labels[SIDE * SIDE];
    for (int round = 0; round < 120; round++) {
        const int32_t *side = sides[round % 6];
        for (int p = 0; p < side[0] * side[1]; p++)
            labels[p] = (uint8_t)(noise(&state) % (2 + (uint32_t)round % 3));
        check_objects(labels, side[0], side[1], round % 2 ? all_traced : foreground_traced);
    }
    draw_discs(labels, 5);
    check_objects(labels, SIDE, SIDE, foreground_traced);
}

TEST(objects_touch_by_corners_and_holes_are_rings_of_their_own)
{
    static const uint8_t labels[6 * 5] = {1, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0,
                                          1, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 2, 2};
    struct contours contours = {0};
    must(contours_trace(&contours,
                        &(struct tracing){.width = 6, .height = 5, .is_traced = foreground_traced, .n_traced = 256},
                        labels, err));
    ck_assert_uint_eq(contours.n_objects, 2);
    ck_assert_int_eq(contours.objects[0].n_pixels, 14);
    ck_assert_int_eq(contours.objects[1].label, 2);
    ck_assert_int_eq(contours.objects[1].left, 4);
    ck_assert_int_eq(contours.objects[1].width, 2);
    ck_assert(contours_has_holes(&contours, 0) && !contours_has_holes(&contours, 1));
    ck_assert_uint_eq(contours.objects[0].end_ring, 3); /* the object is between its holes' corners */
    contours_release(&contours);
    uint8_t none[4] = {0};
    must(contours_trace(&contours,
                        &(struct tracing){.width = 2, .height = 2, .is_traced = foreground_traced, .n_traced = 256},
                        none, err));
    ck_assert_uint_eq(contours.n_objects, 0);
    must(contours_simplify(&contours, 1, err));
    contours_release(&contours);
}

/* Of p to the ring points[n]. */
static double distance_to_ring(const double p[2], const int32_t (*points)[2], size_t n)
{
    double best = INFINITY;
    for (size_t i = 0; i < n; i++) {
        const int32_t *a = points[i], *b = points[(i + 1) % n];
        double u[2] = {b[0] - a[0], b[1] - a[1]}, v[2] = {p[0] - a[0], p[1] - a[1]};
        double length = u[0] * u[0] + u[1] * u[1], share = length > 0 ? (u[0] * v[0] + u[1] * v[1]) / length : 0;
        share = fmin(1, fmax(0, share));
        best = fmin(best, hypot(v[0] - share * u[0], v[1] - share * u[1]));
    }
    return best;
}

/* Every point of a's edges, in steps, is within the tolerance of b. */
static void check_within(const int32_t (*a)[2], size_t n_a, const int32_t (*b)[2], size_t n_b, double tolerance)
{
    for (size_t i = 0; i < n_a; i++)
        for (int step = 0; step < 8; step++) {
            const int32_t *from = a[i], *to = a[(i + 1) % n_a];
            double p[2] = {from[0] + step / 8.0 * (to[0] - from[0]), from[1] + step / 8.0 * (to[1] - from[1])};
            ck_assert_double_le(distance_to_ring(p, b, n_b), tolerance + 1e-9);
        }
}

/* Thin bars that stand out of labelled blocks: what goes there and back along a line is far from that line's part. */
static void draw_bars(uint8_t labels[SIDE * SIDE], uint32_t seed)
{
    uint32_t state = seed;
    memset(labels, 0, SIDE * SIDE);
    for (int k = 0; k < 24; k++) {
        int left = (int)(noise(&state) % SIDE), top = (int)(noise(&state) % SIDE), wide = 20, high = 20;
        if (k > 7)
            *(k % 2 ? &wide : &high) = 1 + k % 3 / 2;
        for (int y = top; y < top + high && y < SIDE; y++)
            for (int x = left; x < left + wide && x < SIDE; x++)
                labels[y * SIDE + x] = (uint8_t)(1 + k % 2);
    }
}

TEST(simpler_rings_stay_within_the_tolerance_in_both_directions)
{
    static const double tolerances[] = {0.5, 1, 3};
    uint8_t labels[SIDE * SIDE];
    for (uint32_t seed = 1; seed <= 15; seed++) {
        if (seed > 5)
            draw_bars(labels, seed);
        else
            draw_discs(labels, seed);
        for (int t = 0; t < 3; t++) {
            struct contours exact = {0}, simple = {0};
            must(contours_trace(
                &exact, &(struct tracing){.width = SIDE, .height = SIDE, .is_traced = all_traced, .n_traced = 256},
                labels, err));
            must(contours_trace(
                &simple, &(struct tracing){.width = SIDE, .height = SIDE, .is_traced = all_traced, .n_traced = 256},
                labels, err));
            must(contours_simplify(&simple, tolerances[t], err));
            ck_assert_uint_eq(exact.n_rings, simple.n_rings);
            ck_assert(tolerances[t] < 1 || seed > 5 || 2 * simple.n_points < exact.n_points);
            for (size_t r = 0; r < exact.n_rings; r++) {
                size_t a = r ? exact.ring_ends[r - 1] : 0, b = r ? simple.ring_ends[r - 1] : 0;
                const int32_t(*ring)[2] = (const int32_t(*)[2])exact.points + a;
                const int32_t(*simpler)[2] = (const int32_t(*)[2])simple.points + b;
                size_t n = exact.ring_ends[r] - a, n_simpler = simple.ring_ends[r] - b;
                ck_assert_uint_ge(n_simpler, 3);
                check_within(ring, n, simpler, n_simpler, tolerances[t]);
                check_within(simpler, n_simpler, ring, n, tolerances[t]);
            }
            contours_release(&exact);
            contours_release(&simple);
        }
    }
}

TEST(neighbours_keep_one_border_so_that_pixels_are_neither_lost_nor_claimed_twice)
{
    uint8_t labels[SIDE * SIDE], claimed[SIDE * SIDE], mask[SIDE * SIDE];
    size_t n_small = 0, n_wrong = 0;
    for (uint32_t seed = 1; seed <= 30; seed++) {
        struct contours contours = {0};
        draw_discs(labels, seed);
        must(contours_trace(&contours,
                            &(struct tracing){.width = SIDE, .height = SIDE, .is_traced = all_traced, .n_traced = 256},
                            labels, err));
        bool has_small = false; /* which may keep all their points on their side only */
        for (size_t k = 0; k < contours.n_objects; k++)
            has_small |= contours.objects[k].n_pixels < 60;
        must(contours_simplify(&contours, 1, err));
        memset(claimed, 0, sizeof claimed);
        for (size_t k = 0; k < contours.n_objects; k++) {
            memset(mask, 0, sizeof mask);
            fill_object(mask, &contours, k);
            for (int p = 0; p < SIDE * SIDE; p++)
                claimed[p] = (uint8_t)(claimed[p] + mask[p]);
        }
        n_small += has_small;
        for (int p = 0; p < SIDE * SIDE && !has_small; p++)
            n_wrong += claimed[p] != 1;
        contours_release(&contours);
    }
    ck_assert_uint_lt(n_small, 26);
    ck_assert_uint_le(n_wrong, 1); /* where simpler borders cross */
}

TEST(small_and_thin_objects_do_not_collapse)
{
    uint8_t labels[40 * 20] = {0}, mask[40 * 20] = {0};
    struct contours contours = {0};
    for (int x = 5; x < 35; x++)
        labels[5 * 40 + x] = 1; /* a line of one pixel */
    labels[12 * 40 + 9] = 2;    /* and a dot */
    must(contours_trace(&contours,
                        &(struct tracing){.width = 40, .height = 20, .is_traced = foreground_traced, .n_traced = 256},
                        labels, err));
    must(contours_simplify(&contours, 3, err));
    for (size_t k = 0; k < contours.n_objects; k++)
        fill_object(mask, &contours, k);
    for (int p = 0; p < 40 * 20; p++)
        ck_assert_int_eq(mask[p], labels[p] != 0);
    contours_release(&contours);
}

TEST(specks_become_their_largest_neighbour)
{
    /* A hole, a speck at the border of two labels, a pair of specks that touch only each other and the background. */
    static const char before[] = "000000000000"
                                 "011110002220"
                                 "011010012220"
                                 "011110002220"
                                 "000000000000"
                                 "001200000000",
                      after[] = "000000000000"
                                "011110002220"
                                "011110002220"
                                "011110002220"
                                "000000000000"
                                "000000000000";
    uint8_t labels[72];
    for (int p = 0; p < 72; p++)
        labels[p] = (uint8_t)(before[p] - '0');
    must(contours_merge_specks(labels, 12, 6, 1, err));
    for (int p = 0; p < 72; p++)
        ck_assert_int_eq(labels[p], before[p] - '0');
    must(contours_merge_specks(labels, 12, 6, 5, err));
    for (int p = 0; p < 72; p++)
        ck_assert_int_eq(labels[p], after[p] - '0');
    must(contours_merge_specks(labels, 12, 6, 1000, err));
    for (int p = 0; p < 72; p++)
        ck_assert_int_eq(labels[p], 0);
}

TEST(no_speck_is_left_in_noise)
{
    enum { WIDTH = 61, HEIGHT = 47 };
    uint8_t labels[WIDTH * HEIGHT];
    for (uint32_t seed = 1; seed <= 20; seed++) {
        uint32_t state = seed;
        for (int p = 0; p < WIDTH * HEIGHT; p++)
            labels[p] = (uint8_t)((state = state * 1664525u + 1013904223u) >> 24) % 5;
        must(contours_merge_specks(labels, WIDTH, HEIGHT, 40, err));
        struct contours contours = {0};
        must(contours_trace(
            &contours, &(struct tracing){.width = WIDTH, .height = HEIGHT, .is_traced = all_traced, .n_traced = 256},
            labels, err));
        for (size_t k = 0; k < contours.n_objects; k++)
            ck_assert_int_ge(contours.objects[k].n_pixels, 40);
        contours_release(&contours);
    }
}
