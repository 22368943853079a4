#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "support/support.h"

/* A tensor file made by hand: header and data bytes, as an 8-byte aligned block to be freed. */
static char *by_hand(size_t *size, const char *header, size_t data_size)
{
    uint64_t length = strlen(header);
    *size = 8 + length + data_size;
    char *bytes = calloc(1, *size);
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, header, length);
    for (size_t i = 0; i < data_size; i++)
        bytes[8 + length + i] = (char)i;
    return bytes;
}

static void expect_bad(const char *header, size_t data_size, const char *part)
{
    size_t size;
    OWNED_ARRAY char *bytes = by_hand(&size, header, data_size);
    struct clv_tensors *tensors = (struct clv_tensors *)1;
    must_fail(CLV_ERR_DATA, part, clv_tensors_parse(&tensors, bytes, size, "bad.safetensors", err));
    ck_assert_ptr_null(tensors);
}

TEST(what_is_written_is_read_back)
{
    const double weights[6] = {1, 2, 3, -4.5, 1e300, 0};
    const uint8_t bytes[5] = {0, 1, 2, 254, 255};
    const int32_t ids[2][1] = {{-7}, {7}};
    const struct clv_tensor written[] = {
        {.name = "w", .dtype = CLV_F64, .n_dimensions = 2, .shape = {2, 3}, .data = weights},
        {.name = "b", .dtype = CLV_U8, .n_dimensions = 1, .shape = {5}, .data = bytes},
        {.name = "ids", .dtype = CLV_I32, .n_dimensions = 2, .shape = {2, 1}, .data = ids},
        {.name = "empty", .dtype = CLV_I64, .n_dimensions = 3, .shape = {4, 0, 2}, .data = NULL},
        {.name = "scalar \"\xc3\xa9\"", .dtype = CLV_F64, .n_dimensions = 0, .data = &weights[3]},
    };
    const char *const metadata[][2] = {{"zeta", "last\n"}, {"alpha", "\"first\""}};
    const char *path = here("t.safetensors");
    must(clv_tensors_write(path, written, 5, metadata, 2, err));

    OWNED(tensors_drop) struct clv_tensors *tensors = NULL;
    must(clv_tensors_open(&tensors, path, err));
    ck_assert_uint_eq(clv_tensors_count(tensors), 5);
    static const char *const sorted[] = {"b", "empty", "ids", "scalar \"\xc3\xa9\"", "w"};
    for (size_t i = 0; i < 5; i++)
        ck_assert_str_eq(clv_tensors_at(tensors, i)->name, sorted[i]);
    ck_assert_ptr_null(clv_tensors_at(tensors, 5));
    for (size_t i = 0; i < 5; i++) {
        const struct clv_tensor *read = clv_tensors_find(tensors, written[i].name);
        ck_assert_ptr_nonnull(read);
        ck_assert_int_eq(read->dtype, written[i].dtype);
        ck_assert_int_eq(read->n_dimensions, written[i].n_dimensions);
        size_t size;
        ck_assert(tensor_bytes(&size, read));
        ck_assert_mem_eq(read->shape, written[i].shape, sizeof(int64_t) * (size_t)read->n_dimensions);
        if (size)
            ck_assert_mem_eq(read->data, written[i].data, size);
        ck_assert_uint_eq((uintptr_t)read->data % clv_dtype_size(read->dtype), 0);
    }
    ck_assert_uint_eq(clv_tensors_metadata_count(tensors), 2);
    ck_assert_str_eq(clv_tensors_metadata_key(tensors, 0), "alpha");
    ck_assert_str_eq(clv_tensors_metadata_key(tensors, 1), "zeta");
    ck_assert_ptr_null(clv_tensors_metadata_key(tensors, 2));
    ck_assert_str_eq(clv_tensors_metadata(tensors, "alpha"), "\"first\"");
    ck_assert_str_eq(clv_tensors_metadata(tensors, "zeta"), "last\n");
    ck_assert_ptr_null(clv_tensors_metadata(tensors, "beta"));
    ck_assert_ptr_null(clv_tensors_find(tensors, "__metadata__"));
    clv_tensors_close(NULL);
}

TEST(the_same_content_gives_the_same_bytes_in_any_order)
{
    const float x[3] = {1, 2, 3};
    const int64_t y[1] = {9};
    const struct clv_tensor a[] = {{.name = "x", .dtype = CLV_F32, .n_dimensions = 1, .shape = {3}, .data = x},
                                   {.name = "y", .dtype = CLV_I64, .n_dimensions = 1, .shape = {1}, .data = y}};
    const struct clv_tensor b[] = {a[1], a[0]};
    const char *const forward[][2] = {{"k", "1"}, {"l", "2"}}, *const backward[][2] = {{"l", "2"}, {"k", "1"}};
    const char *first = here("1"), *second = here("2");
    must(clv_tensors_write(first, a, 2, forward, 2, err));
    must(clv_tensors_write(second, b, 2, backward, 2, err));
    size_t n, m;
    OWNED_ARRAY char *one = slurp(first, &n), *two = slurp(second, &m);
    ck_assert_uint_eq(n, m);
    ck_assert_mem_eq(one, two, n);
    uint64_t length;
    memcpy(&length, one, 8);
    ck_assert_uint_eq((8 + length) % 64, 0);
    const char *start =
        "{\"__metadata__\":{\"k\":\"1\",\"l\":\"2\"},\"y\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]},"
        "\"x\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[8,20]}}";
    ck_assert_mem_eq(one + 8, start, strlen(start));
}

TEST(malformed_headers_are_refused_with_file_and_tensor)
{
#define ENTRY(dtype, shape, offsets) "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
    expect_bad("[]", 0, "bad.safetensors: not a tensor file");
    expect_bad("", 0, "not a tensor file");
    expect_bad(" {}", 0, "not a tensor file");
    expect_bad("{", 0, "bad JSON");
    expect_bad("{}", 3, "3 bytes behind the last tensor");
    expect_bad("{\"x\":1}", 0, "tensor \"x\": its entry is not a JSON object");
    expect_bad("{\"x\":{}}", 0, "dtype is missing");
    expect_bad("{\"x\":" ENTRY("BOOL", "[1]", "[0,1]") "}", 1, "tensor \"x\": type BOOL is not supported");
    expect_bad("{\"x\":" ENTRY("BF16", "[1]", "[0,2]") "}", 2, "type BF16 is not supported");
    expect_bad("{\"x\":" ENTRY("f32", "[1]", "[0,4]") "}", 4, "type f32 is not supported");
    expect_bad("{\"x\":{\"dtype\":5,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "dtype is missing or not a string");
    expect_bad("{\"x\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, "shape is missing");
    expect_bad("{\"x\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "data_offsets are not two integers");
    expect_bad("{\"x\":" ENTRY("F32", "[-1]", "[0,4]") "}", 4, "dimension 0 of its shape is not a count");
    expect_bad("{\"x\":" ENTRY("F32", "[1, 1.0]", "[0,4]") "}", 4, "dimension 1 of its shape is not a count");
    expect_bad("{\"x\":" ENTRY("F32", "[\"1\"]", "[0,4]") "}", 4, "is not a count");
    expect_bad("{\"x\":" ENTRY("U8", "[1,1,1,1,1]", "[0,1]") "}", 1, "5 dimensions, the limit is 4");
    expect_bad("{\"x\":" ENTRY("F32", "[1]", "[0]") "}", 4, "not two integers");
    expect_bad("{\"x\":" ENTRY("F32", "[1]", "[0,2,4]") "}", 4, "not two integers");
    expect_bad("{\"x\":" ENTRY("F32", "[1]", "[0.0,4]") "}", 4, "not two integers");
    expect_bad("{\"x\":" ENTRY("F32", "[1]", "[-4,0]") "}", 4, "outside the file's 4");
    expect_bad("{\"x\":" ENTRY("F32", "[1]", "[4,0]") "}", 4, "outside the file's 4");
    expect_bad("{\"x\":" ENTRY("F32", "[2]", "[0,8]") "}", 7,
               "tensor \"x\": its bytes 0 to 8 are outside the file's 7");
    expect_bad("{\"x\":" ENTRY("F32", "[2]", "[0,4]") "}", 4, "its shape takes 8 bytes, its offsets hold 4");
    expect_bad("{\"x\":" ENTRY("F64", "[4294967296,4294967296]", "[0,0]") "}", 0, "its shape is too large");
    expect_bad("{\"x\":" ENTRY("U8", "[9223372036854775807,2]", "[0,4]") "}", 4, "its shape is too large");
    expect_bad("{\"x\":" ENTRY("U8", "[1]", "[0,99999999999999999999]") "}", 4, "too big integer");
    expect_bad("{\"a\":" ENTRY("U8", "[4]", "[0,4]") ",\"b\":" ENTRY("U8", "[4]", "[3,7]") "}", 7,
               "\"b\": begins at byte 3, overlapping");
    expect_bad("{\"a\":" ENTRY("U8", "[4]", "[0,4]") ",\"b\":" ENTRY("U8", "[2]", "[5,7]") "}", 7,
               "\"b\": begins at byte 5, leaving a gap from byte 4");
    expect_bad("{\"a\":" ENTRY("U8", "[4]", "[0,4]") ",\"b\":" ENTRY("U8", "[4]", "[0,4]") "}", 4, "overlapping");
    expect_bad("{\"a\":" ENTRY("U8", "[4]", "[0,4]") "}", 5, "1 bytes behind the last tensor");
    expect_bad("{\"a\":" ENTRY("U8", "[1]", "[0,1]") ",\"a\":" ENTRY("U8", "[1]", "[0,1]") "}", 1, "duplicate");
    expect_bad("{\"__metadata__\":5}", 0, "__metadata__ is not a JSON object");
    expect_bad("{\"__metadata__\":{\"a\":5}}", 0, "metadata \"a\" is not a string");
#undef ENTRY
}

TEST(files_cut_short_at_any_byte_are_refused)
{
    const float x[9] = {0};
    const struct clv_tensor tensor = {.name = "x", .dtype = CLV_F32, .n_dimensions = 1, .shape = {9}, .data = x};
    const char *path = here("t.safetensors");
    must(clv_tensors_write(path, &tensor, 1, NULL, 0, err));
    size_t size;
    OWNED_ARRAY char *bytes = slurp(path, &size);
    struct clv_tensors *tensors;
    for (size_t cut = 0; cut < size; cut++) {
        OWNED_ARRAY char *part = malloc(cut ? cut : 1); /* exactly as long, so that a read past the end is seen */
        memcpy(part, bytes, cut);
        must_fail(CLV_ERR_DATA, "cut: ", clv_tensors_parse(&tensors, part, cut, "cut", err));
    }
    spill(path, bytes, 0);
    must_fail(CLV_ERR_DATA, "0 bytes are too few", clv_tensors_open(&tensors, path, err));
    uint64_t huge = 100000001;
    memcpy(bytes, &huge, 8);
    must_fail(CLV_ERR_DATA, "length of a header, at most 100000000",
              clv_tensors_parse(&tensors, bytes, size, "huge", err));
    memset(bytes, 0xff, 8);
    must_fail(CLV_ERR_DATA, "not a tensor file", clv_tensors_parse(&tensors, bytes, size, "huge", err));
    must_fail(CLV_ERR_NO_INPUT, "absent", clv_tensors_open(&tensors, "/nowhere/absent", err));
    must_fail(CLV_ERR_NO_INPUT, "is a folder", clv_tensors_open(&tensors, temporary_folder(), err));
}

TEST(misaligned_arrays_of_other_writers_are_aligned)
{
    size_t size;
    OWNED_ARRAY char *bytes = by_hand(&size,
                                      "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                                      "\"b\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[1,17]}}",
                                      17);
    double truth[2] = {1.5, -2.5};
    memcpy(bytes + size - 16, truth, 16);
    OWNED(tensors_drop) struct clv_tensors *tensors = NULL;
    must(clv_tensors_parse(&tensors, bytes, size, "odd", err));
    const struct clv_tensor *b = clv_tensors_find(tensors, "b");
    ck_assert_uint_eq((uintptr_t)b->data % 8, 0);
    ck_assert_mem_eq(b->data, truth, 16);
}

TEST(a_required_tensor_that_differs_is_named)
{
    size_t size;
    OWNED_ARRAY char *bytes = by_hand(&size, "{\"x\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}", 24);
    OWNED(tensors_drop) struct clv_tensors *tensors = NULL;
    const struct clv_tensor *found = NULL;
    must(clv_tensors_parse(&tensors, bytes, size, "m.cleave", err));
    must(clv_tensors_require(&found, tensors, "x", CLV_F32, 2, (int64_t[]){-1, 3}, err));
    ck_assert_ptr_eq(found, clv_tensors_find(tensors, "x"));
    must_fail(CLV_ERR_DATA, "m.cleave: tensor \"y\" is missing",
              clv_tensors_require(&found, tensors, "y", CLV_F32, 0, NULL, err));
    ck_assert_ptr_null(found);
    must_fail(CLV_ERR_DATA, "its type is F32, not I64",
              clv_tensors_require(&found, tensors, "x", CLV_I64, 2, (int64_t[]){2, 3}, err));
    must_fail(CLV_ERR_DATA, "its shape is [2, 3], not [any, 4]",
              clv_tensors_require(&found, tensors, "x", CLV_F32, 2, (int64_t[]){-1, 4}, err));
    must_fail(CLV_ERR_DATA, "its shape is [2, 3], not [6]",
              clv_tensors_require(&found, tensors, "x", CLV_F32, 1, (int64_t[]){6}, err));
    must_fail(CLV_ERR_USAGE, "5 dimensions",
              clv_tensors_require(&found, tensors, "x", CLV_F32, 5, (int64_t[]){1, 1, 1, 1, 1}, err));
}

TEST(bad_arguments_and_full_disks_leave_no_file)
{
    const uint8_t x[2] = {0};
    const struct clv_tensor good = {.name = "x", .dtype = CLV_U8, .n_dimensions = 1, .shape = {2}, .data = x};
    struct clv_tensor bad = good;
    const char *path = here("out");
    must_fail(CLV_ERR_USAGE, "\"x\" is given twice",
              clv_tensors_write(path, (struct clv_tensor[]){good, good}, 2, NULL, 0, err));
    bad.name = "__metadata__";
    must_fail(CLV_ERR_USAGE, "cannot name a tensor", clv_tensors_write(path, &bad, 1, NULL, 0, err));
    bad.name = "\xff";
    must_fail(CLV_ERR_USAGE, "cannot name a tensor", clv_tensors_write(path, &bad, 1, NULL, 0, err));
    bad = good;
    bad.shape[0] = -1;
    must_fail(CLV_ERR_USAGE, "type or shape out of range", clv_tensors_write(path, &bad, 1, NULL, 0, err));
    bad = good;
    bad.n_dimensions = 5;
    must_fail(CLV_ERR_USAGE, "type or shape out of range", clv_tensors_write(path, &bad, 1, NULL, 0, err));
    bad = good;
    bad.dtype = (enum clv_dtype)99;
    must_fail(CLV_ERR_USAGE, "type or shape out of range", clv_tensors_write(path, &bad, 1, NULL, 0, err));
    const char *const twice[][2] = {{"a", "1"}, {"a", "2"}};
    must_fail(CLV_ERR_USAGE, "metadata \"a\" is given twice", clv_tensors_write(path, &good, 1, twice, 2, err));
    must_fail(CLV_ERR_IO, "/dev/full", clv_tensors_write("/dev/full", &good, 1, NULL, 0, err));
    must_fail(CLV_ERR_CREATE, "/nowhere/x", clv_tensors_write("/nowhere/x", &good, 1, NULL, 0, err));
    OWNED(path_list_release) struct path_list left = {0};
    must(folder_walk(&left, temporary_folder(), err));
    ck_assert_uint_eq(left.n, 0);
}
