#include "cli/common/shard_option.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"

enum clv_status option_take_shard(void *member, const struct clv_option *option, const char *typed,
                                  struct clv_error *err)
{
    char copy[32], *slash;
    int32_t number = 0, count = 0;
    bool fits = (size_t)snprintf(copy, sizeof copy, "%s", typed) < sizeof copy;
    slash = strchr(copy, '/');
    if (slash)
        *slash = 0;
    if (!fits || !slash || !parse_int32(copy, &number) || !parse_int32(slash + 1, &count) || count < 1 ||
        count > SHARD_MAX || number < 1 || number > count)
        return fail(err, CLV_ERR_USAGE, "--%s: \"%s\" is not I/N with 1 <= I <= N <= %d", option->name, typed,
                    SHARD_MAX);
    *(struct shard *)member = (struct shard){number, count};
    return CLV_OK;
}

char *shard_path(const char *path, const struct shard *shard, bool is_folder)
{
    if (!shard->count || strcmp(path, "-") == 0)
        return string_copy(path);
    size_t size = strlen(path), stem = size;
    while (is_folder && stem > 1 && path[stem - 1] == '/')
        size = --stem;
    const char *dot = strrchr(path_name(path), '.');
    if (!is_folder && dot && dot > path_name(path))
        stem = (size_t)(dot - path);
    char *own = array_alloc(size + sizeof "-100000-of-100000", 1);
    if (own)
        snprintf(own, size + sizeof "-100000-of-100000", "%.*s-%05d-of-%05d%.*s", (int)stem, path, shard->number,
                 shard->count, (int)(size - stem), path + stem);
    return own;
}
