#include <math.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "tags/tags.h"

/* Any bytes give a set that keeps what its header promises, or one line of error. */
FUZZ_TARGET(multilabel)
{
    struct clv_error error = {0};
    OWNED(clv_tag_set_release) struct clv_tag_set set = {.n_tags = -7};
    if (tag_set_parse(&set, (const char *)data, size, "fuzz", 0, &error) != CLV_OK) {
        FUZZ_CHECK(set.n_tags == -7 && error.message[0] && !strchr(error.message, '\n'));
        return 0;
    }
    FUZZ_CHECK(set.n > 0 && set.n_tags > 0 && set.n_tags <= CLV_MAX_TAGS && set.row[0] == 0);
    for (size_t l = 0; l < set.n; l++) {
        FUZZ_CHECK(set.row[l] <= set.row[l + 1]);
        for (int64_t i = set.row[l]; i < set.row[l + 1]; i++) {
            FUZZ_CHECK(set.index[i] >= 0 && set.index[i] < set.n_features && isfinite(set.value[i]));
            FUZZ_CHECK(i == set.row[l] || set.index[i] > set.index[i - 1]);
        }
        for (int32_t k = 0; k < set.n_tags; k++)
            FUZZ_CHECK(set.tags[l * (size_t)set.n_tags + (size_t)k] <= 1);
    }
    return 0;
}
