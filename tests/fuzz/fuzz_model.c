#include <stdlib.h>
#include <string.h>

#include "cleave/segment.h"
#include "data/data.h"
#include "fuzz/fuzz.h"
#include "fuzz/tensor_file.h"
#include "model/model.h"

enum { WIDTH = 24, HEIGHT = 18 };

/* What was read as a model segments an image, or says why not. */
static void segment(const struct clv_model *model)
{
    static uint8_t pixels[WIDTH * HEIGHT * 3], labels[WIDTH * HEIGHT];
    struct clv_error error = {0};
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i / 3 % WIDTH * 9 + i / (3 * WIDTH) * (i % 5));
    const struct clv_image image = {.width = WIDTH, .height = HEIGHT, .channels = 3, .pixels = pixels};
    if (clv_segment(labels, model, &image, NULL, &error) != CLV_OK) {
        FUZZ_CHECK(error.message[0] && !strchr(error.message, '\n'));
        return;
    }
    for (size_t i = 0; i < sizeof labels; i++)
        FUZZ_CHECK(labels[i] < model->labels.n_labels);
}

static void check_model(const struct clv_tensors *tensors)
{
    struct clv_error error = {0};
    struct clv_model model = {.record = {.n = 77}};
    if (model_parse(&model, tensors, "fuzz.cleave", &error) == CLV_OK) {
        FUZZ_CHECK(model.w && model.labels.n_labels == model.layout.n_labels);
        segment(&model);
        FUZZ_CHECK(clv_model_write("/dev/null", &model, &error) == CLV_OK || error.message[0]);
        clv_model_release(&model);
    } else {
        FUZZ_CHECK(model.record.n == 77 && !strchr(error.message, '\n'));
        FUZZ_CHECK(strncmp(error.message, "fuzz", 4) == 0);
    }
}

static void check_file(const uint8_t *data, size_t size)
{
    struct clv_error error = {0};
    struct clv_tensors *tensors;
    OWNED_ARRAY uint8_t *aligned = aligned_copy(data, size);
    if (!aligned)
        return;
    if (clv_tensors_parse(&tensors, aligned, size, "fuzz", &error) == CLV_OK) {
        check_model(tensors);
        clv_tensors_close(tensors);
    }
}

FUZZ_TARGET(model)
{
    check_as_is_and_repaired(data, size, check_file);
    return 0;
}
