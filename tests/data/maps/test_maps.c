#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/maps/maps.h"
#include "support/images.h"
#include "support/support.h"

/* A .npy file in memory, free() it: version, header text, n bytes of data. */
static unsigned char *make_npy(size_t *size, int version, const char *header, const void *data, size_t n)
{
    size_t length = strlen(header), start = version > 1 ? 12 : 10;
    *size = start + length + n;
    unsigned char *bytes = calloc(1, *size);
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (unsigned char)version;
    bytes[8] = (unsigned char)length;
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + start, header, length);
    if (n)
        memcpy(bytes + start + length, data, n);
    return bytes;
}

static struct clv_map read_npy(int version, const char *header, const void *data, size_t n, enum clv_map_layout layout)
{
    size_t size;
    struct clv_map map = {0};
    OWNED_ARRAY unsigned char *bytes = make_npy(&size, version, header, data, n);
    must(map_parse(&map, bytes, size, layout, NULL, err));
    return map;
}

static void expect_bad(const char *part, const char *header, size_t n)
{
    size_t size;
    struct clv_map map = {0};
    OWNED_ARRAY unsigned char *zeros = calloc(n + 1, 1), *bytes = make_npy(&size, 1, header, zeros, n);
    must_fail(CLV_ERR_DATA, part, map_parse(&map, bytes, size, CLV_MAP_LAYOUT_AUTO, NULL, err));
    ck_assert_ptr_null(map.values);
}

#define NPY(type, order, shape) "{'descr': '" type "', 'fortran_order': " order ", 'shape': " shape ", }  \n"

/* All values of a map of 2 channels, 3 rows and 4 columns are 100 c + 10 y + x. */
static void expect_numbered(struct clv_map *map)
{
    ck_assert_int_eq(map->n_channels, 2);
    ck_assert_int_eq(map->height, 3);
    ck_assert_int_eq(map->width, 4);
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 4; x++)
                ck_assert_float_eq(map->values[(c * 3 + y) * 4 + x], (float)(100 * c + 10 * y + x));
    clv_map_release(map);
}

TEST(arrays_of_every_order_and_layout_are_the_same_map)
{
    float chw[2][3][4], hwc[3][4][2], fortran[4][3][2];
    double doubles[2][3][4];
    unsigned char big_endian[2][3][4][4];
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 4; x++) {
                float value = (float)(100 * c + 10 * y + x);
                uint32_t bits;
                memcpy(&bits, &value, 4);
                for (int k = 0; k < 4; k++)
                    big_endian[c][y][x][k] = (unsigned char)(bits >> (24 - 8 * k));
                chw[c][y][x] = hwc[y][x][c] = fortran[x][y][c] = value;
                doubles[c][y][x] = value;
            }
    struct clv_map map = read_npy(1, NPY("<f4", "False", "(2, 3, 4)"), chw, sizeof chw, CLV_MAP_LAYOUT_AUTO);
    expect_numbered(&map);
    map = read_npy(2, NPY("<f4", "False", "(3, 4, 2)"), hwc, sizeof hwc, CLV_MAP_LAYOUT_AUTO);
    expect_numbered(&map);
    map = read_npy(3, NPY("<f4", "True", "(2, 3, 4)"), fortran, sizeof fortran, CLV_MAP_LAYOUT_CHW);
    expect_numbered(&map);
    map = read_npy(1, NPY(">f4", "False", "(1, 2, 3, 4)"), big_endian, sizeof big_endian, CLV_MAP_LAYOUT_AUTO);
    expect_numbered(&map);
    map = read_npy(1, NPY("<f8", "False", "(2, 3, 4)"), doubles, sizeof doubles, CLV_MAP_LAYOUT_AUTO);
    expect_numbered(&map);

    const struct clv_tensor tensors[] = {
        {.name = "map", .dtype = CLV_F32, .n_dimensions = 3, .shape = {3, 4, 2}, .data = hwc},
        {.name = "other", .dtype = CLV_F32, .n_dimensions = 3, .shape = {2, 3, 4}, .data = chw}};
    const char *path = here("two.safetensors");
    must(clv_tensors_write(path, tensors, 2, NULL, 0, err));
    must(clv_map_read(&map, path, CLV_MAP_LAYOUT_HWC, NULL, err));
    expect_numbered(&map);
}

/* Deep features have more channels than rows and columns. */
TEST(channels_are_found_by_the_shape)
{
    static const struct {
        const char *header;
        int32_t channels, height, width;
    } cases[] = {{NPY("|u1", "False", "(60, 4, 7)"), 60, 4, 7}, {NPY("|u1", "False", "(60, 7, 4)"), 60, 7, 4},
                 {NPY("|u1", "False", "(4, 7, 60)"), 60, 4, 7}, {NPY("|u1", "False", "(60, 5, 5)"), 60, 5, 5},
                 {NPY("|u1", "False", "(5, 5, 60)"), 60, 5, 5}, {NPY("|u1", "False", "(3, 40, 5)"), 3, 40, 5},
                 {NPY("|u1", "False", "(40, 5, 3)"), 3, 40, 5}, {NPY("|u1", "False", "(2, 3, 90)"), 90, 2, 3},
                 {NPY("|u1", "False", "(2, 90, 5)"), 2, 90, 5}};
    static const uint8_t zeros[1800];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        size_t n = (size_t)cases[k].channels * (size_t)cases[k].height * (size_t)cases[k].width;
        ck_assert_uint_le(n, sizeof zeros);
        OWNED(clv_map_release) struct clv_map map = read_npy(1, cases[k].header, zeros, n, CLV_MAP_LAYOUT_AUTO);
        ck_assert_msg(map.n_channels == cases[k].channels && map.height == cases[k].height &&
                          map.width == cases[k].width,
                      "%s: %d x %d x %d", cases[k].header, map.n_channels, map.height, map.width);
    }
}

TEST(whole_numbers_are_fractions_and_halves_are_exact)
{
    static const uint8_t bytes[2][2] = {{0, 51}, {102, 255}};
    static const uint16_t words[1][2] = {{0, 65535}}, halves[1][4] = {{0x3c00, 0xc100, 0x0001, 0x7bff}};
    OWNED(clv_map_release) struct clv_map map =
        read_npy(1, NPY("|u1", "False", "(2, 2)"), bytes, sizeof bytes, CLV_MAP_LAYOUT_AUTO);
    ck_assert(map.is_integer && map.n_channels == 1 && map.values[3] == 1 && map.values[1] == 51.0F / 255);
    clv_map_release(&map);
    map = read_npy(1, NPY("<u2", "False", "(1, 2)"), words, sizeof words, CLV_MAP_LAYOUT_AUTO);
    ck_assert(map.is_integer && map.values[0] == 0 && map.values[1] == 1);
    clv_map_release(&map);
    map = read_npy(1, NPY("<f2", "False", "(1, 4)"), halves, sizeof halves, CLV_MAP_LAYOUT_AUTO);
    ck_assert(!map.is_integer && map.values[0] == 1 && map.values[1] == -2.5F && map.values[3] == 65504);
    ck_assert_float_eq(map.values[2], ldexpf(1, -24));
    clv_map_release(&map);

    static const uint16_t grey[2] = {0, 0x8000};
    size_t size;
    OWNED_ARRAY uint8_t *png = make_png(
        &size, &(struct png_recipe){.width = 2, .height = 1, .bit_depth = 16, .kind = PNG_GREY, .samples = grey});
    must(map_parse(&map, png, size, CLV_MAP_LAYOUT_AUTO, NULL, err));
    ck_assert(map.width == 2 && map.values[0] == 0 && map.values[1] == 32768.0F / 65535);
}

/* As other writers than NumPy may: blanks anywhere, double quotes, any order, no comma at the end. */
TEST(headers_of_npy_are_read_however_they_are_spaced)
{
    static const char *const headers[] = {
        "{'descr':'|u1','fortran_order':False,'shape':(2,2)}",
        "{ \t'shape' : ( 2 ,\n2 , ) , \"descr\" : \"|u1\", \"fortran_order\" : False , }\n"};
    static const uint8_t bytes[4] = {0, 255, 51, 102};
    for (size_t k = 0; k < 2; k++) {
        OWNED(clv_map_release) struct clv_map map = read_npy(1, headers[k], bytes, sizeof bytes, CLV_MAP_LAYOUT_AUTO);
        ck_assert(map.width == 2 && map.height == 2 && map.n_channels == 1);
        for (int p = 0; p < 4; p++)
            ck_assert_float_eq(map.values[p], (float)bytes[p] / 255);
    }
}

TEST(damaged_and_hostile_maps_are_refused_by_shape)
{
    static const float bad[4] = {0, 1, NAN, 3};
    size_t size;
    struct clv_map map = {0};
    expect_bad("shape 4 x 4 takes 64 bytes, the file holds 60", NPY("<f4", "False", "(4, 4)"), 60);
    expect_bad("the file holds 65", NPY("<f4", "False", "(4, 4)"), 65);
    expect_bad("shape 0 x 4 has nothing in it", NPY("<f4", "False", "(0, 4)"), 0);
    expect_bad("shape 4; a map is", NPY("<f4", "False", "(4,)"), 16);
    expect_bad("shape 3 x 3 x 3 may be channels first or last", NPY("<f4", "False", "(3, 3, 3)"), 108);
    expect_bad("shape 4 x 4 x 2 x 2; a map is", NPY("|u1", "False", "(4, 4, 2, 2)"), 64);
    expect_bad("is too large", NPY("<f8", "False", "(4294967296, 4294967296)"), 8);
    expect_bad("header cannot be read", NPY("<f4", "False", "(4, 99999999999999999999)"), 8);
    expect_bad("header cannot be read", NPY("<f4", "Maybe", "(1, 1)"), 4);
    expect_bad("header cannot be read", "{'descr': '<f4', 'descr': '<f4'", 4);
    expect_bad("header cannot be read", "{", 0);
    static const char *const shapes[] = {"(1:, 1)", "(1 1)",  "(1,, 1)",
                                         "(, 1)",   "(1, 1",  "1, 1)",
                                         "(-1, 1)", "(1, /)", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        expect_bad("header cannot be read", formatted(NPY("<f4", "False", "%s"), shapes[k]), 4);
    expect_bad("header cannot be read", "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1) 'x': 1}", 4);
    expect_bad("header cannot be read", "{'descr': '<f4', 'fortran_order': False, 'form': (1, 1)}", 4);
    expect_bad("header cannot be read", "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), 'shape': (1, 1)}",
               4);
    expect_bad("header cannot be read", "{'descr': '<f4, 'fortran_order': False, 'shape': (1, 1)}", 4);
    expect_bad("header cannot be read", "{'descr': '<f4', 'shape': (1, 1)}", 4);
    expect_bad("header cannot be read", "{'fortran_order': False, 'shape': (1, 1)}", 4);
    expect_bad("header cannot be read", "{'descr': '<f4', 'fortran_order': False}", 4);
    expect_bad("type \"|f4\"", NPY("|f4", "False", "(1, 1)"), 4);
    expect_bad("type \"f4\"", NPY("f4", "False", "(1, 1)"), 4);
    expect_bad("type \"<i8\"", NPY("<i8", "False", "(1, 1)"), 8);
    expect_bad("type \"|O\"", NPY("|O", "False", "(1, 1)"), 8);
    expect_bad("records", "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 1)}", 4);

    unsigned char *bytes = make_npy(&size, 1, NPY("<f4", "False", "(2, 2)"), bad, sizeof bad);
    must_fail(CLV_ERR_DATA, "channel 0 has nan at (0, 1)",
              map_parse(&map, bytes, size, CLV_MAP_LAYOUT_AUTO, NULL, err));
    bytes[9] = 0x7f;
    must_fail(CLV_ERR_DATA, "header of", map_parse(&map, bytes, size, CLV_MAP_LAYOUT_AUTO, NULL, err));
    for (size_t cut = 0; cut < size; cut++)
        ck_assert_int_eq(map_parse(&map, bytes, cut, CLV_MAP_LAYOUT_AUTO, NULL, &(struct clv_error){0}), CLV_ERR_DATA);
    free(bytes);

    static const unsigned char zeros[5000];
    bytes = make_npy(&size, 1, NPY("|u1", "False", "(1, 1, 5000)"), zeros, sizeof zeros);
    must_fail(CLV_ERR_DATA, "5000 channels", map_parse(&map, bytes, size, CLV_MAP_LAYOUT_HWC, NULL, err));
    must_fail(CLV_ERR_DATA, "more than 64 pixels a side",
              map_parse(&map, bytes, size, CLV_MAP_LAYOUT_CHW, &(struct clv_image_limits){.max_side_px = 64}, err));
    free(bytes);

    const char *path = here("m.npz");
    spill(path, "PK\x03\x04rest", 8);
    must_fail(CLV_ERR_DATA, "m.npz: a .npz archive", clv_map_read(&map, path, CLV_MAP_LAYOUT_AUTO, NULL, err));
    must_fail(CLV_ERR_NO_INPUT, "none.npy", clv_map_read(&map, "none.npy", CLV_MAP_LAYOUT_AUTO, NULL, err));
}

TEST(a_map_is_found_by_as_much_of_the_image_s_path_as_it_has)
{
    char *path;
    const char *folder = here("found");
    run_here("mkdir -p %s/a && touch %s/7.npy %s/a/7.png %s/8.npy %s/8.png", folder, folder, folder, folder, folder);
    must(map_find(&path, folder, "images/a/7.jpg", err));
    ck_assert_str_eq(path, formatted("%s/a/7.png", folder));
    clv_free(path);
    must(map_find(&path, folder, "../../x/b/7.jpg", err));
    ck_assert_str_eq(path, formatted("%s/7.npy", folder));
    clv_free(path);
    must_fail(CLV_ERR_DATA, "two maps of one name", map_find(&path, folder, "8.jpg", err));
    must_fail(CLV_ERR_NO_INPUT, "no map of /x/9.jpg in it", map_find(&path, folder, "/x/9.jpg", err));
    ck_assert_ptr_null(path);
}

TEST(the_real_maps_are_read)
{
    const char *path = real_data("the_real_maps_are_read", "maps-horses/features/horse001.npy");
    OWNED(clv_map_release) struct clv_map map = {0};
    if (!path)
        return;
    must(clv_map_read(&map, path, CLV_MAP_LAYOUT_AUTO, NULL, err));
    ck_assert(map.n_channels == 16 && map.width == 32 && map.height == 32 && !map.is_integer);
    clv_map_release(&map);
    must(clv_map_read(&map, real_data("the_real_maps_are_read", "maps-horses/probability/horse001.png"),
                      CLV_MAP_LAYOUT_AUTO, NULL, err));
    ck_assert(map.n_channels == 1 && map.width == 128 && map.is_integer);
}
