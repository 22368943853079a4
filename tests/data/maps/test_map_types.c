/* Which tensors are maps, and what is said of others. */
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/maps/maps.h"
#include "support/requests.h"
#include "support/support.h"

static const char *write_tensors(const struct clv_tensor *tensors, size_t n)
{
    const char *path = here("map.safetensors");
    must(clv_tensors_write(path, tensors, n, NULL, 0, err));
    return path;
}

TEST(tensors_of_every_type_are_the_same_map)
{
    static const uint8_t bytes[6] = {0, 51, 102, 153, 204, 255};
    static const uint16_t words[6] = {0, 13107, 26214, 39321, 52428, 65535};
    static const uint16_t halves[6] = {0, 0x3266, 0x3666, 0x38cd, 0x3a66, 0x3c00};
    static const double doubles[6] = {0, 0.2, 0.4, 0.6, 0.8, 1};
    static const struct {
        enum clv_dtype type;
        const void *data;
    } kinds[] = {{CLV_U8, bytes}, {CLV_U16, words}, {CLV_F16, halves}, {CLV_F64, doubles}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        OWNED(clv_map_release) struct clv_map map = {0};
        const struct clv_tensor tensor = {
            .name = "any", .dtype = kinds[k].type, .n_dimensions = 2, .shape = {2, 3}, .data = kinds[k].data};
        must(clv_map_read(&map, write_tensors(&tensor, 1), CLV_MAP_LAYOUT_AUTO, NULL, err));
        ck_assert(map.width == 3 && map.height == 2 && map.n_channels == 1 && map.is_integer == (k < 2));
        for (int i = 0; i < 6; i++)
            ck_assert_float_eq_tol(map.values[i], (float)doubles[i], k == 2 ? 2e-4F : 1e-6F);
    }
}

TEST(tensors_that_are_no_map_are_refused)
{
    static const int64_t numbers[6] = {1};
    static const float values[6] = {1};
    struct clv_map map = {0};
    const struct clv_tensor whole = {
        .name = "map", .dtype = CLV_I64, .n_dimensions = 2, .shape = {2, 3}, .data = numbers};
    must_fail(CLV_ERR_DATA, "tensor \"map\" is of whole numbers",
              clv_map_read(&map, write_tensors(&whole, 1), CLV_MAP_LAYOUT_AUTO, NULL, err));
    struct clv_tensor both[2] = {{.name = "a", .dtype = CLV_F32, .n_dimensions = 2, .shape = {2, 3}, .data = values}};
    both[1] = both[0];
    both[1].name = "b";
    must_fail(CLV_ERR_DATA, "2 tensors; a map is the only one",
              clv_map_read(&map, write_tensors(both, 2), CLV_MAP_LAYOUT_AUTO, NULL, err));
    must_fail(CLV_ERR_DATA, "version 4",
              map_parse(&map, (const unsigned char *)"\x93NUMPY\4\0\2\0{}", 12, CLV_MAP_LAYOUT_AUTO, NULL, err));
    must_fail(CLV_ERR_DATA, "truncated .npy file of 8",
              map_parse(&map, (const unsigned char *)"\x93NUMPY\1\0", 8, CLV_MAP_LAYOUT_AUTO, NULL, err));
    must_fail(CLV_ERR_DATA, "truncated .npy file of 11",
              map_parse(&map, (const unsigned char *)"\x93NUMPY\2\0\2\0\0", 11, CLV_MAP_LAYOUT_AUTO, NULL, err));
    ck_assert_ptr_null(map.values);
}

TEST(no_map_comes_out_when_memory_runs_out)
{
    static const float values[6] = {1};
    OWNED(clv_map_release) struct clv_map map = {0};
    const struct clv_tensor tensor = {
        .name = "map", .dtype = CLV_F32, .n_dimensions = 2, .shape = {2, 3}, .data = values};
    const char *path = write_tensors(&tensor, 1);
    must_keep_when_requests_fail(clv_map_read(&map, path, CLV_MAP_LAYOUT_AUTO, NULL, err),
                                 ck_assert_ptr_null(map.values));
    clv_map_release(&map);
    path = "tests/fuzz/corpus/image/grey-16-interlaced.png";
    must_keep_when_requests_fail(clv_map_read(&map, path, CLV_MAP_LAYOUT_AUTO, NULL, err),
                                 ck_assert_ptr_null(map.values));
}
