#include "base/memory.h"

#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/control_group.h"

/* What a group's folder leaves; INFINITY without a limit. */
static double left_in(const char *folder, int version)
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
    return fmin(machine, control_group_least(root, "memory", left_in));
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
