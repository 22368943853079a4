#include "feature/dataset/dataset.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"

enum clv_status features_check_name(const char *name, struct clv_error *err)
{
    if (strchr(name, '\n') || !text_is_utf8(name, strlen(name)))
        return fail(err, CLV_ERR_DATA, "%s: the name is not UTF-8 or holds a line break, which a feature file cannot",
                    name);
    return CLV_OK;
}

enum clv_status features_number(int32_t *number, const struct clv_tensors *tensors, const char *path, const char *key,
                                int32_t low, int32_t high, bool required, struct clv_error *err)
{
    const char *text = clv_tensors_metadata(tensors, key);
    int32_t parsed;
    if (!text)
        return required ? fail(err, CLV_ERR_DATA, "%s: its metadata has no \"%s\"", path, key) : CLV_OK;
    if (!parse_int32(text, &parsed) || parsed < low || parsed > high)
        return fail(err, CLV_ERR_DATA, "%s: %s is \"%.60s\", must be %d to %d", path, key, text, low, high);
    *number = parsed;
    return CLV_OK;
}
