/* Divides a list into contiguous blocks, one for each task of a job array. Their sizes differ by 1 at most. */
#include "cluster/shard.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"

/* floor(total * part / count) without overflow. */
static size_t boundary(size_t total, int32_t part, int32_t count)
{
    size_t p = (size_t)part, c = (size_t)count;
    return total / c * p + total % c * p / c;
}

void shard_block(size_t *first, size_t *n, const struct clv_shard *shard, size_t total)
{
    *first = shard->count ? boundary(total, shard->number - 1, shard->count) : 0;
    *n = shard->count ? boundary(total, shard->number, shard->count) - *first : total;
}

char *shard_path(const char *path, const struct clv_shard *shard, bool is_folder)
{
    if (!shard->count || strcmp(path, "-") == 0)
        return string_copy(path);
    size_t size = strlen(path), stem = size;
    while (is_folder && stem > 1 && path[stem - 1] == '/')
        size = --stem;
    const char *dot = strrchr(path_name(path), '.');
    if (!is_folder && dot && dot > path_name(path))
        stem = (size_t)(dot - path);
    char *name = array_alloc(size + sizeof "-100000-of-100000", 1);
    if (name)
        snprintf(name, size + sizeof "-100000-of-100000", "%.*s-%05d-of-%05d%.*s", (int)stem, path, shard->number,
                 shard->count, (int)(size - stem), path + stem);
    return name;
}

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
    *(struct clv_shard *)member = (struct clv_shard){number, count};
    return CLV_OK;
}
