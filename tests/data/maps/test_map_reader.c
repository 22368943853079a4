/* Large maps are read one channel after the other, and say what the whole would. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/maps/maps.h"
#include "support/support.h"

/* More values than are read at once of channels that stand side by side; no two of its sides are the same. */
enum { CHANNELS = 23, ROWS = 1100, COLUMNS = 900, N = ROWS * COLUMNS };

static float value_at(size_t channel, size_t y, size_t x)
{
    return (float)((channel * 7 + y * 31 + x * 3) % 251) - 100;
}

/* Where a value stands in each of the orders. */
static size_t chw(size_t c, size_t y, size_t x)
{
    return (c * ROWS + y) * COLUMNS + x;
}
static size_t hwc(size_t c, size_t y, size_t x)
{
    return (y * COLUMNS + x) * CHANNELS + c;
}
static size_t chw_fortran(size_t c, size_t y, size_t x)
{
    return (x * ROWS + y) * CHANNELS + c;
}

static const struct order {
    const char *fortran, *shape;
    enum clv_map_layout layout;
    size_t (*place)(size_t c, size_t y, size_t x);
} orders[] = {{"False", "23, 1100, 900", CLV_MAP_LAYOUT_CHW, chw},
              {"False", "1100, 900, 23", CLV_MAP_LAYOUT_HWC, hwc},
              {"True", "23, 1100, 900", CLV_MAP_LAYOUT_CHW, chw_fortran}};

/* The drawn map of an order with one value that is another. */
static const char *write_map(const struct order *order, size_t c, size_t y, size_t x, float other)
{
    const char *path = here("large.npy");
    char header[119];
    OWNED_ARRAY float *values = malloc((size_t)CHANNELS * N * sizeof *values);
    for (size_t k = 0; k < CHANNELS; k++)
        for (size_t i = 0; i < N; i++)
            values[order->place(k, i / COLUMNS, i % COLUMNS)] = value_at(k, i / COLUMNS, i % COLUMNS);
    values[order->place(c, y, x)] = other;
    snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': %s, 'shape': (%s), }", order->fortran,
             order->shape);
    FILE *stream = fopen(path, "wb");
    ck_assert_ptr_nonnull(stream);
    fwrite("\x93NUMPY\1\0v\0", 1, 10, stream);
    fprintf(stream, "%-117s\n", header);
    fwrite(values, sizeof *values, (size_t)CHANNELS * N, stream);
    ck_assert_int_eq(fclose(stream), 0);
    return path;
}

TEST(channels_of_a_large_map_are_those_of_the_whole)
{
    OWNED_ARRAY float *scratch = malloc(N * sizeof *scratch);
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        const char *path = write_map(&orders[k], 3, 20, 10, 0.5F);
        OWNED(map_reader_close) struct map_reader reader = {0};
        OWNED(clv_map_release) struct clv_map whole = {0};
        const float *values;
        must(map_reader_open(&reader, path, orders[k].layout, NULL, err));
        must(clv_map_read(&whole, path, orders[k].layout, NULL, err));
        ck_assert(!reader.map.values && reader.map.width == COLUMNS && reader.map.height == ROWS);
        ck_assert(reader.map.n_channels == CHANNELS && whole.n_channels == CHANNELS && whole.width == COLUMNS);
        for (int32_t c = CHANNELS - 1; c >= 0; c--) {
            must(map_reader_channel(&values, scratch, &reader, c, err));
            ck_assert_mem_eq(values, whole.values + (size_t)c * N, N * sizeof *values);
            size_t n_wrong = 0;
            for (size_t p = 0; p < N; p++)
                n_wrong += values[p] != value_at((size_t)c, p / COLUMNS, p % COLUMNS);
            ck_assert_uint_eq(n_wrong, c == 3);
            ck_assert(values[20 * COLUMNS + 10] == (c == 3 ? 0.5F : value_at((size_t)c, 20, 10)));
        }
    }
}

TEST(what_is_not_finite_is_named_by_file_channel_and_place)
{
    OWNED_ARRAY float *scratch = malloc(N * sizeof *scratch);
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        const char *path = write_map(&orders[k], 2, 1099, 7, NAN);
        OWNED(map_reader_close) struct map_reader reader = {0};
        struct clv_map whole = {0};
        const float *values;
        must(map_reader_open(&reader, path, orders[k].layout, NULL, err));
        must(map_reader_channel(&values, scratch, &reader, 20, err));
        must_fail(CLV_ERR_DATA, "large.npy: channel 2 has nan at (7, 1099)",
                  map_reader_channel(&values, scratch, &reader, 2, err));
        must_fail(CLV_ERR_DATA, "large.npy: channel 2 has nan at (7, 1099)",
                  clv_map_read(&whole, path, orders[k].layout, NULL, err));
        ck_assert_ptr_null(whole.values);
    }
}

/* A small map is in memory, and its file may go. */
TEST(a_small_map_is_read_at_once)
{
    const char *path = here("small.npy");
    static const char bytes[] = "\x93NUMPY\1\0\x3b\0{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2) }\n\0\xff";
    OWNED(map_reader_close) struct map_reader reader = {0};
    const float *values;
    spill(path, bytes, sizeof bytes - 1);
    must(map_reader_open(&reader, path, CLV_MAP_LAYOUT_AUTO, NULL, err));
    ck_assert_ptr_null(reader.file.bytes);
    must(map_reader_channel(&values, NULL, &reader, 0, err));
    ck_assert(values == reader.map.values && values[0] == 0 && values[1] == 1 && reader.map.is_integer);
}

/* A file of zeros that takes no space. */
static double memory_of(const char *type, const char *shape, double bytes)
{
    char header[119];
    const char *path = here("deep.npy");
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    FILE *stream = fopen(path, "wb");
    ck_assert_ptr_nonnull(stream);
    fwrite("\x93NUMPY\1\0v\0", 1, 10, stream);
    fprintf(stream, "%-117s\n", header);
    ck_assert_int_eq(fclose(stream) | run_command(NULL, "truncate -s %.0f %s", 128 + bytes, path), 0);
    return map_file_memory(path, CLV_MAP_LAYOUT_AUTO, NULL);
}

TEST(the_memory_of_a_large_map_is_that_of_a_few_channels)
{
    double n = 1000 * 1000, few = memory_of("<f4", "5, 1000, 1000", 20 * n), pages = (double)MAP_PAGES;
    ck_assert(few > 12 * n + pages && few < 40 * n + pages);
    ck_assert_double_eq(memory_of("<f8", "100, 1000, 1000", 800 * n), few);
    ck_assert_double_eq(memory_of("|u1", "1000, 1000, 100", 100 * n), few + 4 * 16 * n); /* 16 channels at a time */
    ck_assert_double_eq(memory_of("<f2", "4, 1000, 1000", 8 * n), few + 4 * 4 * n);      /* all of a small one */
    ck_assert(map_file_memory("assets/animals-maps/0001.png", CLV_MAP_LAYOUT_AUTO, NULL) > 2 * 4 * 20 * 15);
    ck_assert(map_file_memory("assets/README.md", CLV_MAP_LAYOUT_AUTO, NULL) == 0);
    ck_assert(map_file_memory("nosuch.npy", CLV_MAP_LAYOUT_AUTO, NULL) == 0);
}

/* Other writers' files: the header's length aligns nothing. */
TEST(a_tensor_is_read_wherever_its_array_begins)
{
    static const float values[6] = {1, 2, 3, 0.25F, 5, 6};
    for (uint64_t padding = 0; padding < 8; padding++) {
        unsigned char bytes[256];
        char *header = (char *)bytes + 8;
        OWNED(clv_map_release) struct clv_map map = {0};
        uint64_t length = (uint64_t)sprintf(
            header, "{\"map\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}%*s", (int)padding, "");
        memcpy(bytes, &length, 8);
        memcpy(header + length, values, sizeof values);
        size_t size = 8 + length + sizeof values;
        OWNED_ARRAY unsigned char *exact = malloc(size);
        memcpy(exact, bytes, size);
        must(map_parse(&map, exact, size, CLV_MAP_LAYOUT_AUTO, NULL, err));
        ck_assert_mem_eq(map.values, values, sizeof values);
        clv_map_release(&map);
        const char *path = here("odd.safetensors");
        spill(path, exact, size);
        must(clv_map_read(&map, path, CLV_MAP_LAYOUT_AUTO, NULL, err));
        ck_assert_mem_eq(map.values, values, sizeof values);
    }
}
