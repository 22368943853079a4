#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/memory_file.h"
#include "fuzz/tensor_file.h"
#include "tags/tags.h"

/* Tags of two examples, of the first and the last feature that the model knows. */
static void decide(const struct clv_tag_model *model)
{
    int32_t index[3] = {0, 0, model->n_features - 1};
    double value[3] = {1, -1, 0.5};
    int64_t row[3] = {0, 1, model->n_features > 1 ? 3 : 2};
    struct clv_error error = {0};
    struct clv_tag_set set = {
        .n = 2, .n_tags = model->n_tags, .n_features = model->n_features, .row = row, .index = index, .value = value};
    const struct clv_belief_search search = {.max_nodes = 1000};
    size_t n = (size_t)model->n_tags;
    OWNED_ARRAY double *scores = calloc(2 * n, sizeof *scores);
    OWNED_ARRAY uint8_t *tags = calloc(n, 1);
    if (scores && tags && clv_tag_scores(scores, model, &set, 1, &error) == CLV_OK)
        for (int k = 0; k < 2; k++) {
            struct clv_belief_result result;
            if (clv_tag_decide(tags, &result, model, scores + (size_t)k * n, &search, &error) != CLV_OK)
                FUZZ_CHECK(error.message[0] && !strchr(error.message, '\n'));
            for (size_t i = 0; i < n; i++)
                FUZZ_CHECK(tags[i] <= 1);
        }
}

static void check_file(const uint8_t *data, size_t size)
{
    char path[64];
    struct clv_error error = {0};
    struct clv_tag_model model = {.n_tags = -7};
    int fd = memory_file(path, data, size);
    if (fd < 0)
        return;
    if (clv_tag_model_read(&model, path, &error) == CLV_OK) {
        decide(&model);
        FUZZ_CHECK(clv_tag_model_write("/dev/null", &model, &error) == CLV_OK || error.message[0]);
        clv_tag_model_release(&model);
    } else {
        FUZZ_CHECK(model.n_tags == -7 && error.message[0] && !strchr(error.message, '\n'));
    }
    close(fd);
}

FUZZ_TARGET(tags)
{
    check_as_is_and_repaired(data, size, check_file);
    return 0;
}
