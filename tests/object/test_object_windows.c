/* Objects that are found window by window: windows that each find what is drawn in them, whole or cut, find all of it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "object/object.h"
#include "support/support.h"

enum { WIDTH = 300, HEIGHT = 260, N = WIDTH * HEIGHT, SIDE = 40, HALO = 24 };

static uint8_t drawn[N];
static int calls, last_call;
static int32_t missed_from; /* windows that begin to see there find nothing; -1: none do */
/* Windows that begin to see in this column, or in this row, cannot tell labels apart; -1: all can. */
static int32_t confused_from[2] = {-1, -1};
static volatile int stop;

/* Connected pieces of what is drawn in a part. */
static enum clv_status find(struct clv_object_map *map, void *context, const struct image_part *part, int thread,
                            struct clv_error *error)
{
    (void)context, (void)thread, (void)error;
    OWNED_ARRAY uint8_t *seen = array_alloc((size_t)part->width, (size_t)part->height);
    for (int32_t y = 0; y < part->height; y++)
        memcpy(seen + (size_t)y * (size_t)part->width, drawn + (part->top + y) * WIDTH + part->left,
               (size_t)part->width);
    const bool is_confused = part->left == confused_from[0] || part->top == confused_from[1];
    for (int32_t p = 0; is_confused && p < part->width * part->height; p++)
        seen[p] = seen[p] != 0;
    stop = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == last_call;
    must(clv_object_map_from_labels(map, seen, part->width, part->height, NULL, err));
    if (part->left == missed_from)
        memset(map->objects, 0, (size_t)part->width * (size_t)part->height * sizeof *map->objects);
    map->probability = array_alloc((size_t)map->n_objects, sizeof *map->probability);
    for (int32_t k = 0; k < map->n_objects; k++)
        map->probability[k] = .75;
    return CLV_OK;
}

static const struct object_finder finder = {WIDTH, HEIGHT, WIDTH, HEIGHT, find, NULL};

static void clear(void)
{
    memset(drawn, 0, sizeof drawn);
    calls = last_call = 0;
    missed_from = confused_from[0] = confused_from[1] = -1;
    stop = 0;
}

static void rectangle(int left, int top, int width, int height, uint8_t label)
{
    for (int y = top; y < top + height && y < HEIGHT; y++)
        for (int x = left; x < left + width && x < WIDTH; x++)
            drawn[y * WIDTH + x] = label;
}

/* Blots that are no larger than the halo and touch their neighbours. */
static void draw_blots(void)
{
    clear();
    for (int y = 0, k = 0; y < HEIGHT; y += 13)
        for (int x = k % 2 * 5; x < WIDTH; x += 17, k++)
            rectangle(x, y, 9 + k % 9, 5 + k % 9, (uint8_t)(1 + k % 7));
}

static void expect_drawn(struct object_windows *found)
{
    OWNED(clv_object_map_release) struct clv_object_map whole = {0};
    OWNED_ARRAY int32_t *numbers = array_alloc(N, sizeof *numbers);
    must(clv_object_map_from_labels(&whole, drawn, WIDTH, HEIGHT, NULL, err));
    object_windows_rows(numbers, found, 0, HEIGHT);
    ck_assert_int_eq(found->n_objects, whole.n_objects);
    ck_assert_mem_eq(numbers, whole.objects, N * sizeof *numbers);
    for (int32_t k = 0; k < found->n_objects; k++)
        ck_assert_double_eq_tol(found->probability[k], .75, 1e-12);
}

TEST(objects_smaller_than_the_halo_are_those_of_one_window)
{
    static const struct object_windows_options each[] = {{.side = WIDTH},
                                                         {.side = SIDE, .halo = HALO, .n_threads = 1},
                                                         {.side = SIDE, .halo = HALO, .n_threads = 3},
                                                         {.side = 7, .halo = HALO},
                                                         {.side = 256, .halo = 128}};
    draw_blots();
    for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
        OWNED(object_windows_release) struct object_windows found = {0};
        must(object_windows_find(&found, &finder, &each[k], err));
        expect_drawn(&found);
    }
}

/* Bars across all windows, a snake that comes back into each of them, a ring, and the ground around them. */
TEST(objects_in_many_windows_are_joined)
{
    const struct object_windows_options options = {.side = SIDE, .halo = HALO};
    for (int with_ground = 0; with_ground < 2; with_ground++) {
        OWNED(object_windows_release) struct object_windows found = {0};
        clear();
        if (with_ground)
            rectangle(0, 0, WIDTH, HEIGHT, 9);
        rectangle(0, 3, WIDTH, 2, 1);
        rectangle(5, 10, 3, HEIGHT, 2);
        for (int k = 0; k < 8; k++) {
            rectangle(20, 20 + 12 * k, 250, 6, 3);
            rectangle(k % 2 ? 20 : 264, 20 + 12 * k, 6, k < 7 ? 18 : 6, 3);
        }
        rectangle(30, 130, 220, 100, 4);
        rectangle(60, 140, 150, 70, with_ground ? 9 : 0);
        must(object_windows_find(&found, &finder, &options, err));
        expect_drawn(&found);
    }
}

/* An object that the window with its middle does not find is none; one that another does not find stays. */
TEST(the_window_with_the_middle_decides)
{
    const struct object_windows_options options = {.side = 100, .halo = HALO};
    OWNED_ARRAY int32_t *numbers = array_alloc(WIDTH, sizeof *numbers);
    for (int right = 0; right < 2; right++) {
        OWNED(object_windows_release) struct object_windows found = {0};
        clear();
        rectangle(right ? 196 : 190, 140, 14, 8, 1);
        missed_from = 100 - HALO;
        must(object_windows_find(&found, &finder, &options, err));
        ck_assert_int_eq(found.n_objects, right);
        object_windows_rows(numbers, &found, 142, 1);
        for (int32_t x = 196; x < 204; x++)
            ck_assert_int_eq(numbers[x], right);
    }
}

/* Two strands from border to border lie in the halo of windows that take them for one; those that have them in their
 * cores know better. */
TEST(what_a_window_sees_in_its_halo_alone_joins_nothing)
{
    const struct object_windows_options options = {.side = 100, .halo = HALO};
    for (int across = 0; across < 2; across++)
        for (int after = 0; after < 2; after++) {
            OWNED(object_windows_release) struct object_windows found = {0};
            clear();
            /* At once beside the core's end at 100, or beside the core's beginning at 200. */
            const int first = after ? 194 : 100;
            for (int k = 0; k < 2; k++)
                if (across)
                    rectangle(0, first + 3 * k, WIDTH, 3, (uint8_t)(1 + k));
                else
                    rectangle(first + 3 * k, 0, 3, HEIGHT, (uint8_t)(1 + k));
            confused_from[across] = after ? 200 - HALO : 0;
            must(object_windows_find(&found, &finder, &options, err));
            ck_assert_int_eq(found.n_objects, 2);
            expect_drawn(&found);
        }
}

TEST(a_shrunken_image_has_its_objects_in_all_of_its_pixels)
{
    const struct object_finder large = {2 * WIDTH + 1, 3 * HEIGHT, WIDTH, HEIGHT, find, NULL};
    const struct object_windows_options options = {.side = SIDE, .halo = HALO};
    OWNED(object_windows_release) struct object_windows found = {0};
    OWNED_ARRAY int32_t *numbers = array_alloc((size_t)large.width, sizeof *numbers);
    OWNED_ARRAY int32_t *small = array_alloc(N, sizeof *small);
    OWNED(clv_object_map_release) struct clv_object_map whole = {0};
    draw_blots();
    must(clv_object_map_from_labels(&whole, drawn, WIDTH, HEIGHT, NULL, err));
    must(object_windows_find(&found, &large, &options, err));
    for (int32_t y = 0; y < large.height; y++) {
        object_windows_rows(numbers, &found, y, 1);
        for (int32_t x = 0; x < large.width; x++)
            ck_assert_int_eq(numbers[x], whole.objects[y / 3 * WIDTH + (2 * x + 1) * WIDTH / (2 * large.width)]);
    }
}

TEST(windows_that_were_found_before_are_not_looked_at_again)
{
    enum { N_WINDOWS = 8 * 7, FIRST = 20 };
    const struct clv_progress progress = {.stop = &stop};
    struct object_windows_options options = {.side = SIDE,
                                             .halo = HALO,
                                             .n_threads = 1,
                                             .journal = here("windows"),
                                             .key = 5,
                                             .resumes = true,
                                             .progress = &progress};
    struct clv_error error;
    draw_blots();
    last_call = FIRST;
    {
        OWNED(object_windows_release) struct object_windows found = {0};
        ck_assert_int_eq(object_windows_find(&found, &finder, &options, &error), CLV_ERR_INTERRUPTED);
    }
    run_here("cp windows whole && printf x >> windows"); /* what is torn is dropped */
    for (int k = 0; k < 4; k++) {                        /* as it is, damaged, with another key, and from the start */
        OWNED(object_windows_release) struct object_windows found = {0};
        calls = last_call = stop = 0;
        if (k == 1)
            run_here("head -c $(($(wc -c < whole) - 9)) whole > windows");
        options.key = k == 2 ? 6 : 5;
        options.resumes = k < 3;
        must(object_windows_find(&found, &finder, &options, err));
        expect_drawn(&found);
        ck_assert_int_eq(calls, k == 0 ? N_WINDOWS - FIRST : k == 1 ? N_WINDOWS - FIRST + 1 : N_WINDOWS);
    }
    {
        OWNED(object_windows_release) struct object_windows found = {0};
        calls = 0;
        options.resumes = true;
        must(object_windows_find(&found, &finder, &options, err));
        expect_drawn(&found);
        ck_assert_int_eq(calls, 0);
    }
    options.journal = "/dev/full";
    options.resumes = false;
    OWNED(object_windows_release) struct object_windows found = {0};
    ck_assert_int_eq(object_windows_find(&found, &finder, &options, &error), CLV_ERR_IO);
    ck_assert_ptr_nonnull(strstr(error.message, "/dev/full: cannot be written"));
}
