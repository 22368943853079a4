#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "fuzz/fuzz.h"
#include "fuzz/tensor_file.h"

/* Every byte of every tensor can be read, at an address that suits its type. */
static void touch(const struct clv_tensors *tensors)
{
    static volatile unsigned char sink;
    for (size_t i = 0; i < clv_tensors_count(tensors); i++) {
        const struct clv_tensor *tensor = clv_tensors_at(tensors, i);
        size_t bytes;
        FUZZ_CHECK(tensor_bytes(&bytes, tensor));
        FUZZ_CHECK((uintptr_t)tensor->data % clv_dtype_size(tensor->dtype) == 0);
        FUZZ_CHECK(clv_tensors_find(tensors, tensor->name) == tensor);
        for (size_t k = 0; k < bytes; k++)
            sink = ((const unsigned char *)tensor->data)[k];
    }
    for (size_t i = 0; i < clv_tensors_metadata_count(tensors); i++)
        FUZZ_CHECK(clv_tensors_metadata(tensors, clv_tensors_metadata_key(tensors, i)));
    (void)sink;
}

static void check_file(const uint8_t *data, size_t size)
{
    struct clv_error error = {0};
    struct clv_tensors *tensors;
    OWNED_ARRAY uint8_t *aligned = aligned_copy(data, size);
    if (!aligned)
        return;
    if (clv_tensors_parse(&tensors, aligned, size, "fuzz", &error) == CLV_OK) {
        touch(tensors);
        clv_tensors_close(tensors);
    } else {
        FUZZ_CHECK(!tensors && strncmp(error.message, "fuzz: ", 6) == 0 && !strchr(error.message, '\n'));
    }
}

FUZZ_TARGET(safetensors)
{
    check_as_is_and_repaired(data, size, check_file);
    return 0;
}
