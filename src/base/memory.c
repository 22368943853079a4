#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number after `key` at the start of a line, or with key "" the file's first; NAN if there is none ("max"). */
static double number_in(const char *path, const char *key)
{
    FILE *stream = fopen(path, "r");
    char line[512], *end;
    double found = NAN;
    size_t n = strlen(key);
    while (stream && isnan(found) && fgets(line, sizeof line, stream))
        if (strncmp(line, key, n) == 0) {
            double value = strtod(line + n, &end);
            found = end > line + n ? value : NAN;
            if (!n)
                break;
        }
    if (stream)
        fclose(stream);
    return found;
}

static double at(const char *folder, const char *name, const char *key)
{
    char path[2 * MEMORY_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return number_in(path, key);
}

/* What a group's folder leaves; INFINITY without a limit. */
static double left_in(const char *folder, int version)
{
    double limit = at(folder, version == 2 ? "memory.max" : "memory.limit_in_bytes", "");
    double used = at(folder, version == 2 ? "memory.current" : "memory.usage_in_bytes", "");
    double files = at(folder, "memory.stat", version == 2 ? "inactive_file " : "total_inactive_file ");
    return isnan(limit) || isnan(used) ? INFINITY : fmax(0, limit - used + (isnan(files) ? 0 : files));
}

/* The group of this process and the root of what is mounted, which in a container is the group itself. */
static double left_in_groups(const char *root, const char *group, int version)
{
    const char *mount = version == 2 ? "" : "/memory";
    char own[MEMORY_PATH_SIZE], top[MEMORY_PATH_SIZE];
    snprintf(own, sizeof own, "%s/sys/fs/cgroup%s%s", root, mount, group);
    snprintf(top, sizeof top, "%s/sys/fs/cgroup%s", root, mount);
    return fmin(left_in(own, version), left_in(top, version));
}

/* Lines "4:memory:/path" (version 1) and "0::/path" (version 2). */
static double left_in_control_groups(const char *root)
{
    char path[MEMORY_PATH_SIZE], line[MEMORY_PATH_SIZE / 2];
    double left = INFINITY;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *stream = fopen(path, "r");
    while (stream && fgets(line, sizeof line, stream)) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = 0;
        controllers++;
        if (*controllers == 0 || strstr(controllers, "memory"))
            left = fmin(left, left_in_groups(root, group, *controllers ? 1 : 2));
    }
    if (stream)
        fclose(stream);
    return left;
}

double memory_available_below(const char *root)
{
    char meminfo[MEMORY_PATH_SIZE];
    snprintf(meminfo, sizeof meminfo, "%s/proc/meminfo", root);
    double kilobytes = number_in(meminfo, "MemAvailable:"), swap = number_in(meminfo, "SwapFree:");
    double machine = isnan(kilobytes) ? INFINITY : 1024 * (kilobytes + (isnan(swap) ? 0 : swap));
    return fmin(machine, left_in_control_groups(root));
}

double memory_available(void)
{
    struct rlimit limit;
    double left = memory_available_below("");
    double pages = number_in("/proc/self/statm", "");
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && !isnan(pages))
        left = fmin(left, fmax(0, (double)limit.rlim_cur - pages * (double)sysconf(_SC_PAGESIZE)));
    return left;
}
