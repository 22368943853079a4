/* Finds how much memory and how many processors this process may use: the machine's, limited by rlimits and control
 * groups (versions 1 and 2). memory_require fails for work that needs more. Start at memory_available and
 * control_group_processors. */
#include "base/memory.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"

/* Bytes that a control group still allows; INFINITY without a limit. */
static double group_memory(const char *folder, int version)
{
    double limit = control_group_number(folder, version == 2 ? "memory.max" : "memory.limit_in_bytes", "");
    double used = control_group_number(folder, version == 2 ? "memory.current" : "memory.usage_in_bytes", "");
    double files =
        control_group_number(folder, "memory.stat", version == 2 ? "inactive_file " : "total_inactive_file ");
    return isnan(limit) || isnan(used) ? INFINITY : fmax(0, limit - used + (isnan(files) ? 0 : files));
}

double memory_available_below(const char *root)
{
    double kilobytes = control_group_number(root, "proc/meminfo", "MemAvailable:");
    double swap = control_group_number(root, "proc/meminfo", "SwapFree:");
    double machine = isnan(kilobytes) ? INFINITY : 1024 * (kilobytes + (isnan(swap) ? 0 : swap));
    return fmin(machine, control_group_least(root, "memory", group_memory));
}

double memory_available(void)
{
    struct rlimit limit;
    double left = memory_available_below("");
    double pages = control_group_number("/proc/self", "statm", "");
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && !isnan(pages))
        left = fmin(left, fmax(0, (double)limit.rlim_cur - pages * (double)sysconf(_SC_PAGESIZE)));
    return left;
}

/* Formats a number of bytes as "900 MB" or "12 GB". */
static void format_bytes(char text[32], double bytes, double (*round_off)(double))
{
    const bool is_large = bytes >= 1e10;
    snprintf(text, 32, "%.0f %s", round_off(bytes / (is_large ? 1e9 : 1e6)), is_large ? "GB" : "MB");
}

enum clv_status memory_require_of(double available, double needed, const char *what, const char *instead,
                                  struct clv_error *err)
{
    char wanted[32], existing[32];
    if (needed <= available)
        return CLV_OK;
    format_bytes(wanted, needed, ceil);
    format_bytes(existing, available, floor);
    return fail(err, CLV_ERR_MEMORY, "%s may take %s of memory, of which there are %s; %s", what, wanted, existing,
                instead);
}

enum clv_status memory_require(double needed, const char *what, const char *instead, struct clv_error *err)
{
    return memory_require_of(memory_available(), needed, what, instead, err);
}

double control_group_number(const char *folder, const char *name, const char *key)
{
    char path[2 * CONTROL_GROUP_PATH_SIZE], line[512], *end;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "re");
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

/* Returns whether a list such as "cpu,cpuacct" contains a controller. */
static bool has_controller(const char *list, const char *controller)
{
    size_t n = strlen(controller);
    for (const char *name = list; name; name = strchr(name, ',')) {
        name += *name == ',';
        if (strncmp(name, controller, n) == 0 && (!name[n] || name[n] == ','))
            return true;
    }
    return false;
}

/* Returns the least `remaining` of a group's folder and its parents; shortens the path of the group step by step. */
static double least_upwards(const char *mount, char *group, int version,
                            double (*remaining)(const char *folder, int version))
{
    char folder[2 * CONTROL_GROUP_PATH_SIZE];
    double least = INFINITY;
    for (;;) {
        snprintf(folder, sizeof folder, "%s%s", mount, group);
        least = fmin(least, remaining(folder, version));
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = 0;
    }
}

double control_group_least(const char *root, const char *controller, double (*rest)(const char *folder, int version))
{
    char path[CONTROL_GROUP_PATH_SIZE], line[CONTROL_GROUP_PATH_SIZE / 2];
    double least = INFINITY;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *stream = fopen(path, "re");
    while (stream && fgets(line, sizeof line, stream)) { /* "4:memory:/path" (version 1) and "0::/path" (version 2) */
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = 0;
        controllers++;
        bool unified = *controllers == 0;
        if (!unified && !has_controller(controllers, controller))
            continue;
        snprintf(path, sizeof path, "%s/sys/fs/cgroup%s%s", root, unified ? "" : "/", unified ? "" : controller);
        least = fmin(least, least_upwards(path, group, unified ? 2 : 1, rest));
    }
    if (stream)
        fclose(stream);
    return least;
}

/* The quota of a control group in processors: "200000 100000" in cpu.max means two. */
static double quota_in(const char *folder, int version)
{
    double quota, period;
    if (version == 2) {
        char path[2 * CONTROL_GROUP_PATH_SIZE], line[128] = "", *end;
        snprintf(path, sizeof path, "%s/cpu.max", folder);
        FILE *stream = fopen(path, "re");
        bool got = stream && fgets(line, sizeof line, stream);
        if (stream)
            fclose(stream);
        quota = strtod(line, &end);
        if (!got || end == line)
            return INFINITY;
        period = strtod(end, NULL);
    } else {
        quota = control_group_number(folder, "cpu.cfs_quota_us", "");
        period = control_group_number(folder, "cpu.cfs_period_us", "");
    }
    return quota > 0 && period > 0 ? quota / period : INFINITY;
}

double control_group_quota_below(const char *root)
{
    return control_group_least(root, "cpu", quota_in);
}

int control_group_processors(void)
{
    cpu_set_t set;
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        n = CPU_COUNT(&set);
    double quota = ceil(control_group_quota_below("") - 1e-9);
    if (quota < (double)n)
        n = int32_within(quota, 1, INT32_MAX);
    return n < 1 ? 1 : (int)n;
}
