/* Contours by rows: the same as by following rings over the whole image; polygons by sides are valid; objects that are
 * taken as they end are the same, simplified, too; the budget holds. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/shapes/shapes.h"
#include "support/images.h"
#include "support/reference_contours.h"
#include "support/support.h"

#undef fail

TIMEOUT(300)

enum { SIDE = 60, MAX_PIXELS = SIDE * SIDE, FACTOR = 8000009 };

static const bool all[6] = {true, true, true, true, true, true}, but_zero[6] = {false, true, true, true, true, true};

/* Values of labels times FACTOR are traced as the labels are. */
static void make_values(int32_t values[MAX_PIXELS], const uint8_t *labels, size_t n, const bool is_traced[6])
{
    for (size_t p = 0; p < n; p++)
        values[p] = is_traced[labels[p]] ? (labels[p] + 1) * FACTOR : -labels[p] - 2;
}

static bool same_object(const struct contour_object *a, const struct contour_object *b)
{
    return a->end_ring == b->end_ring && a->n_pixels == b->n_pixels && a->left == b->left && a->top == b->top &&
           a->width == b->width && a->height == b->height && a->number == b->number;
}

static bool same_contours(const struct contours *self, const struct reference_contours *reference)
{
    bool is_same = self->n_objects == reference->n_objects && self->n_rings == reference->n_rings &&
                   self->n_points == reference->n_points && self->width == reference->width &&
                   self->height == reference->height;
    for (size_t k = 0; is_same && k < self->n_objects; k++)
        is_same = same_object(&self->objects[k], &reference->objects[k]);
    return is_same && (!self->n_points ||
                       (memcmp(self->points, reference->points, self->n_points * sizeof *self->points) == 0 &&
                        memcmp(self->ring_ends, reference->ring_ends, self->n_rings * sizeof *self->ring_ends) == 0));
}

static bool has_junctions(const struct contours *self, const uint8_t *labels)
{
    for (size_t i = 0; i < self->n_points; i++)
        if (self->is_junction[i] !=
            reference_is_junction(labels, self->width, self->height, self->points[i][0], self->points[i][1]))
            return false;
    return true;
}

/* Whether the run lengths of an object are those of its pixels, column by column. */
static bool has_runs(const struct contours *self, const int32_t *object_of, size_t k)
{
    uint32_t *counts, n = 0;
    size_t n_counts, run = 0;
    bool is_inside = false, is_same = true;
    must(rle_of_pieces(&counts, &n_counts, self, &k, 1, err));
    for (int32_t p = 0; p < self->width * self->height && is_same; p++, n++) {
        if ((object_of[p % self->height * self->width + p / self->height] == (int32_t)k + 1) != is_inside) {
            is_inside = !is_inside;
            is_same = run < n_counts && counts[run++] == n;
            n = 0;
        }
    }
    is_same = is_same && run + 1 == n_counts && counts[run] == n;
    array_free(counts);
    return is_same;
}

/* What is wrong with the map's contours, or NULL. */
static const char *find_difference(const uint8_t *labels, int32_t width, int32_t height, const bool is_traced[6])
{
    struct tracing how = {.width = width, .height = height, .is_traced = is_traced, .n_traced = 6};
    struct contours own = {0}, of_values = {0};
    struct reference_contours reference = {0};
    int32_t values[MAX_PIXELS];
    bool all_256[256] = {false};
    const char *wrong = NULL;
    memcpy(all_256, is_traced, 6 * sizeof *is_traced);
    must(reference_trace(&reference, labels, width, height, all_256, err));
    must(contours_trace(&own, &how, labels, err));
    make_values(values, labels, (size_t)width * (size_t)height, is_traced);
    how.is_traced = NULL;
    must(contours_trace_values(&of_values, &how, values, err));
    if (!same_contours(&own, &reference))
        wrong = "rings";
    if (!same_contours(&of_values, &reference))
        wrong = "rings of values";
    if (!has_junctions(&own, labels) || !has_junctions(&of_values, labels))
        wrong = "junctions";
    for (size_t k = 0; !wrong && k < own.n_objects; k++) {
        if (own.objects[k].label != reference.objects[k].label ||
            of_values.objects[k].label != (own.objects[k].label + 1) * FACTOR)
            wrong = "labels";
        if (reference.object_of[own.objects[k].top * width + own.objects[k].first_column] != (int32_t)k + 1)
            wrong = "a first pixel";
        if (!has_runs(&own, reference.object_of, k))
            wrong = "run lengths";
    }
    contours_release(&own);
    contours_release(&of_values);
    reference_release(&reference);
    return wrong;
}

/* Gives pixels that touch by sides and have one label one number, from 1, in the order of first pixels; 0: not traced.
 * Returns how many there are. */
static int32_t number_by_sides(int32_t *number, const uint8_t *labels, int32_t width, int32_t height,
                               const bool is_traced[6])
{
    int32_t n = 0, stack[MAX_PIXELS];
    memset(number, 0, (size_t)(width * height) * sizeof *number);
    for (int32_t first = 0; first < width * height; first++) {
        int32_t top = 0;
        if (number[first] || !is_traced[labels[first]])
            continue;
        number[first] = ++n;
        stack[top++] = first;
        while (top) {
            int32_t p = stack[--top], x = p % width, y = p / width;
            const int32_t near[4] = {x ? p - 1 : p, x + 1 < width ? p + 1 : p, y ? p - width : p,
                                     y + 1 < height ? p + width : p};
            for (int k = 0; k < 4; k++)
                if (!number[near[k]] && labels[near[k]] == labels[p]) {
                    number[near[k]] = n;
                    stack[top++] = near[k];
                }
        }
    }
    return n;
}

/* Adds a ring to winding[height][width], +1 or -1 inside by its orientation, and finds its area. Returns false if it
 * meets a corner of pixels twice. */
static bool wind(int8_t *winding, int64_t *twice_area, const struct contours *self, size_t ring)
{
    uint8_t met[(SIDE + 1) * (SIDE + 1)] = {0}, inside[MAX_PIXELS] = {0};
    double points[4 * MAX_PIXELS][2];
    size_t first = ring ? self->ring_ends[ring - 1] : 0, n = self->ring_ends[ring] - first;
    bool is_simple = true;
    *twice_area = 0;
    for (size_t i = 0; i < n; i++) {
        const int32_t *a = self->points[first + i], *b = self->points[first + (i + 1) % n];
        *twice_area += (int64_t)a[0] * b[1] - (int64_t)b[0] * a[1];
        points[i][0] = a[0];
        points[i][1] = a[1];
        int32_t dx = (b[0] > a[0]) - (b[0] < a[0]), dy = (b[1] > a[1]) - (b[1] < a[1]);
        is_simple &= (dx != 0) != (dy != 0);
        for (int32_t x = a[0], y = a[1]; is_simple && (x != b[0] || y != b[1]); x += dx, y += dy)
            is_simple &= met[y * (SIDE + 1) + x]++ == 0;
    }
    must(polygon_fill(&(struct canvas){inside, self->width, self->height, 1}, (const double(*)[2])points, &n, 1, err));
    for (int32_t p = 0; p < self->width * self->height; p++)
        winding[p] = (int8_t)(winding[p] + (*twice_area > 0 ? inside[p] : -inside[p]));
    return is_simple;
}

/* What is wrong with the map's polygons by sides, or NULL. */
static const char *find_invalid(const uint8_t *labels, int32_t width, int32_t height, const bool is_traced[6])
{
    const struct tracing how = {
        .width = width, .height = height, .is_traced = is_traced, .n_traced = 6, .by_sides = true};
    struct contours own = {0};
    int32_t number[MAX_PIXELS], n = number_by_sides(number, labels, width, height, is_traced);
    const char *wrong = NULL;
    must(contours_trace(&own, &how, labels, err));
    if (own.n_objects != (size_t)n)
        wrong = "number of objects";
    if (!has_junctions(&own, labels))
        wrong = "junctions";
    for (size_t k = 0; !wrong && k < own.n_objects; k++) {
        int8_t winding[MAX_PIXELS] = {0};
        size_t first, end;
        int64_t area, sum = 0;
        contours_rings(&own, k, &first, &end);
        for (size_t ring = first; ring < end; ring++) {
            if (!wind(winding, &area, &own, ring))
                wrong = "a ring that meets itself";
            if ((area > 0) != (ring == first))
                wrong = "orientation";
            sum += area;
        }
        for (int32_t p = 0; p < width * height; p++)
            if (winding[p] != (number[p] == (int32_t)k + 1))
                wrong = "holes that are not inside, or pixels";
        if (sum != 2 * own.objects[k].n_pixels)
            wrong = "area";
        if (!has_runs(&own, number, k))
            wrong = "run lengths";
    }
    contours_release(&own);
    return wrong;
}

static void check_map(const uint8_t *labels, int32_t width, int32_t height, const char *what, uint32_t index)
{
    for (int zero = 0; zero < 2; zero++) {
        const bool *is_traced = zero ? all : but_zero;
        const char *wrong = find_difference(labels, width, height, is_traced);
        ck_assert_msg(!wrong, "%s %u, %dx%d: %s", what, index, width, height, wrong);
        wrong = find_invalid(labels, width, height, is_traced);
        ck_assert_msg(!wrong, "%s %u, %dx%d by sides: %s", what, index, width, height, wrong);
    }
}

TEST(all_maps_of_4x4_pixels_and_two_labels)
{
    for (uint32_t k = 0; k < 1 << 16; k++) {
        uint8_t labels[16];
        for (int i = 0; i < 16; i++)
            labels[i] = k >> i & 1;
        check_map(labels, 4, 4, "4x4", k);
    }
}

TEST(all_maps_of_3x3_pixels_and_three_labels)
{
    for (uint32_t k = 0; k < 19683; k++) {
        uint8_t labels[9];
        uint32_t rest = k;
        for (int i = 0; i < 9; i++, rest /= 3)
            labels[i] = (uint8_t)(rest % 3);
        check_map(labels, 3, 3, "3x3", k);
    }
}

/* Noise in blocks of 1 to 6 pixels. */
static void draw_blocks(uint8_t *labels, int32_t *width, int32_t *height, uint32_t *state)
{
    uint8_t blocks[MAX_PIXELS];
    *width = 1 + (int32_t)(noise(state) % SIDE);
    *height = 1 + (int32_t)(noise(state) % SIDE);
    uint32_t n_labels = 2 + noise(state) % 4, side = 1 + noise(state) % 6;
    for (int i = 0; i < MAX_PIXELS; i++)
        blocks[i] = (uint8_t)(noise(state) % n_labels);
    for (int32_t p = 0; p < *width * *height; p++)
        labels[p] = blocks[(uint32_t)(p / *width) / side * SIDE + (uint32_t)(p % *width) / side];
}

TESTS(random_maps, 0, 4)
{
    uint32_t state = 77 + (uint32_t)_i;
    for (uint32_t k = 0; k < 5000; k++) {
        uint8_t labels[MAX_PIXELS];
        int32_t width, height;
        draw_blocks(labels, &width, &height, &state);
        for (int zero = 0; zero < 2; zero++) {
            const char *wrong = find_difference(labels, width, height, zero ? all : but_zero);
            ck_assert_msg(!wrong, "random %u of %d, %dx%d: %s", k, _i, width, height, wrong);
        }
        const char *wrong = k % 8 ? NULL : find_invalid(labels, width, height, k % 16 ? all : but_zero);
        ck_assert_msg(!wrong, "random %u of %d, %dx%d by sides: %s", k, _i, width, height, wrong);
    }
}

/* Objects taken one by one, as text: first pixel, then all of it. */
struct taken {
    char *texts[MAX_PIXELS];
    size_t n;
    double tolerance;
};

static char *describe(const struct contours *self, size_t k)
{
    const struct contour_object *object = &self->objects[k];
    struct text text;
    size_t ring, end;
    text_init(&text, 1 << 20);
    text_printf(&text, "%04d %04d: %d, %lld pixels, %d %d %d %d;", object->top, object->first_column, object->label,
                (long long)object->n_pixels, object->left, object->top, object->width, object->height);
    contours_rings(self, k, &ring, &end);
    for (size_t i = ring ? self->ring_ends[ring - 1] : 0; ring < end; ring++) {
        for (; i < self->ring_ends[ring]; i++)
            text_printf(&text, " %d,%d", self->points[i][0], self->points[i][1]);
        text_put(&text, ";");
    }
    uint32_t *counts;
    size_t n;
    must(rle_of_pieces(&counts, &n, self, &k, 1, err));
    rle_put_compressed(&text, counts, n);
    array_free(counts);
    char *copy = strdup(text.bytes);
    text_release(&text);
    return copy;
}

static enum clv_status take(void *context, struct contours *one, struct clv_error *err)
{
    struct taken *self = context;
    ck_assert_uint_eq(one->n_objects, 1);
    ck_assert_int_eq(one->objects[0].number, 1);
    MUST(contours_simplify(one, self->tolerance, err));
    self->texts[self->n++] = describe(one, 0);
    return CLV_OK;
}

static void check_taken(const uint8_t *labels, struct tracing how, double tolerance)
{
    struct taken taken = {.tolerance = tolerance};
    struct contours whole = {0}, none = {0};
    must(contours_trace(&whole, &how, labels, err));
    must(contours_simplify(&whole, tolerance, err));
    how.take = take;
    how.context = &taken;
    must(contours_trace(&none, &how, labels, err));
    ck_assert_uint_eq(none.n_objects, 0);
    ck_assert_uint_eq(taken.n, whole.n_objects);
    qsort(taken.texts, taken.n, sizeof *taken.texts, compare_strings);
    for (size_t k = 0; k < taken.n; k++) {
        char *expected = describe(&whole, k);
        ck_assert_str_eq(taken.texts[k], expected);
        free(taken.texts[k]);
        free(expected);
    }
    contours_release(&whole);
    contours_release(&none);
}

TEST(objects_that_are_taken_as_they_end_are_the_same)
{
    uint32_t state = 9;
    for (int k = 0; k < 2000; k++) {
        uint8_t labels[MAX_PIXELS];
        struct tracing how = {.is_traced = k % 2 ? all : but_zero, .n_traced = 6, .by_sides = k / 2 % 2};
        draw_blocks(labels, &how.width, &how.height, &state);
        check_taken(labels, how, k / 4 % 3 * 0.8);
    }
}

static enum clv_status refuse(void *context, struct contours *one, struct clv_error *err)
{
    (void)context;
    FAIL_IF(one->objects[0].n_pixels == 1, CLV_ERR_IO, "disk full");
    return CLV_OK;
}

TEST(a_failure_to_take_an_object_ends_the_trace)
{
    static const uint8_t labels[12] = {1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0};
    const struct tracing how = {.width = 4, .height = 3, .is_traced = but_zero, .n_traced = 6, .take = refuse};
    struct contours none = {0};
    must_fail(
        CLV_ERR_IO, "disk full",
        contours_trace(&none,
                       &(struct tracing){.width = 1, .height = 1, .is_traced = but_zero, .n_traced = 6, .take = refuse},
                       labels, err));
    must_fail(CLV_ERR_IO, "disk full", contours_trace(&none, &how, labels, err));
}

static enum clv_status count(void *context, struct contours *one, struct clv_error *err)
{
    (void)err;
    *(int64_t *)context += one->objects[0].n_pixels;
    return CLV_OK;
}

TEST(the_budget_is_of_what_is_not_taken)
{
    enum { WIDTH = 64, HEIGHT = 20000, BUDGET = 64 << 10 };
    int32_t row[WIDTH];
    int64_t n_pixels = 0;
    struct tracing how = {.width = WIDTH, .height = HEIGHT, .budget = BUDGET, .take = count, .context = &n_pixels};
    for (int kept = 0; kept < 2; kept++) {
        struct tracer *tracer;
        struct contours contours = {0};
        struct clv_error error;
        enum clv_status status = CLV_OK;
        how.take = kept ? NULL : count;
        must(tracer_begin(&tracer, &how, err));
        for (int32_t y = 0; y < HEIGHT && status == CLV_OK; y++) {
            for (int32_t x = 0; x < WIDTH; x++)
                row[x] = x % 2 && y % 2 ? 1 + y : 0;
            status = tracer_row(tracer, row, &error);
        }
        ck_assert_int_eq(status, kept ? CLV_ERR_MEMORY : CLV_OK);
        ck_assert(!kept || (strstr(error.message, "--tolerance") && strstr(error.message, "--min-area")));
        if (!kept) {
            must_fail(CLV_ERR_USAGE, "more than 20000 rows", tracer_row(tracer, row, err));
            must(tracer_end(&contours, tracer, err));
            contours_release(&contours);
        }
        tracer_free(tracer);
    }
    ck_assert_int_eq(n_pixels, (int64_t)WIDTH / 2 * (HEIGHT / 2));
}

TEST(rows_must_be_as_many_as_was_said)
{
    struct tracer *tracer;
    struct contours contours;
    uint8_t row[3] = {1, 2, 1};
    must_fail(CLV_ERR_USAGE, "0x4", tracer_begin(&tracer, &(struct tracing){.width = 0, .height = 4}, err));
    must_fail(CLV_ERR_USAGE, "4x0", tracer_begin(&tracer, &(struct tracing){.width = 4, .height = 0}, err));
    must(tracer_begin(&tracer, &(struct tracing){.width = 3, .height = 2}, err));
    must(tracer_row_of_labels(tracer, row, err));
    must_fail(CLV_ERR_USAGE, "1 rows in place of 2", tracer_end(&contours, tracer, err));
    tracer_free(tracer);
}

TEST(contours_are_simplified_once)
{
    static const uint8_t labels[4] = {1, 0, 0, 0};
    struct contours contours = {0};
    must(contours_trace(&contours, &(struct tracing){.width = 2, .height = 2, .is_traced = all, .n_traced = 6}, labels,
                        err));
    must(contours_simplify(&contours, 1, err));
    must_fail(CLV_ERR_USAGE, "simplified already", contours_simplify(&contours, 1, err));
    contours_release(&contours);
}
