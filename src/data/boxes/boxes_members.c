/* Reads members of JSON objects that several formats of annotations share. Error messages name the object. */
#include "data/boxes/boxes.h"

#include "base/base.h"

enum clv_status json_take_text(const char **text, const struct json_value *object, const char *key,
                               const struct json_location *location, struct clv_error *err)
{
    if (!json_get_text(json_member(object, key), text) || !**text)
        return fail(err, CLV_ERR_DATA, "%s: %s %zu: \"%s\" is missing, empty or not text", location->source,
                    location->what, location->number, key);
    return CLV_OK;
}

enum clv_status json_take_side(int32_t *side, const struct json_value *object, const char *key,
                               const struct json_location *location, struct clv_error *err)
{
    const struct json_value *value = json_member(object, key);
    double size = 0; /* some programs write 640.0 */
    if (!json_is_missing(value) &&
        (!json_get_double(value, &size) || !(size >= 0 && size <= INT32_MAX && number_is_int32(size))))
        return fail(err, CLV_ERR_DATA, "%s: %s %zu: \"%s\" is not a size of an image", location->source, location->what,
                    location->number, key);
    *side = int32_within(size, 0, INT32_MAX);
    return CLV_OK;
}

bool json_get_point(double point[2], const struct json_value *value)
{
    size_t n;
    return json_get_array(value, &n) && n == 2 && json_get_double(json_element(value, 0), &point[0]) &&
           json_get_double(json_element(value, 1), &point[1]);
}
