#include "feature/dataset/features_format.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"

enum clv_status features_check_name(const char *name, struct clv_error *err)
{
    if (strchr(name, '\n') || !text_is_utf8(name, strlen(name)))
        return fail(err, CLV_ERR_DATA, "%s: the name is not UTF-8 or holds a line break, which a feature file cannot",
                    name);
    return CLV_OK;
}
