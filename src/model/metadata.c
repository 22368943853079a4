#include "model/metadata.h"

#include <string.h>

#include "base/error.h"

enum clv_status metadata_require(const char **text, const struct clv_tensors *tensors, const char *key,
                                 const char *path, struct clv_error *err)
{
    *text = clv_tensors_metadata(tensors, key);
    return *text ? CLV_OK : fail(err, CLV_ERR_DATA, "%s: its metadata has no \"%s\"", path, key);
}

enum clv_status metadata_parse(struct json_value **root, const struct clv_tensors *tensors, const char *key,
                               const char *path, struct clv_error *err)
{
    const char *text;
    *root = NULL;
    enum clv_status status = metadata_require(&text, tensors, key, path, err);
    return status == CLV_OK ? json_parse(root, text, strlen(text), path, err) : status;
}

enum clv_status metadata_count(int32_t *count, const struct json_value *object, const char *key, int32_t minimum,
                               int32_t maximum, const char *path, struct clv_error *err)
{
    int64_t wide;
    if (!json_get_int64(json_member(object, key), &wide) || wide < minimum || wide > maximum)
        return fail(err, CLV_ERR_DATA, "%s: \"%s\" is missing or not in %d to %d", path, key, minimum, maximum);
    *count = (int32_t)wide;
    return CLV_OK;
}
