/* How much memory a process can still allocate, so that work that needs more fails before it starts. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "cleave/status.h"

/* Returns the available memory in bytes: the least of the machine's (/proc/meminfo), of what the limits of the control
 * groups leave (version 1 and 2; inactive pages of files count as free) and of what RLIMIT_AS leaves. INFINITY if none
 * is known. An estimate, since other processes allocate, too. */
double memory_available(void);

/* Computes memory_available, except RLIMIT_AS, from the files below a root; "" is the machine's root, others are for
 * tests. */
double memory_available_below(const char *root);

/* Fails with CLV_ERR_MEMORY if `needed` bytes are more than memory_available: "WHAT may take 5200 MB of memory, of
 * which there are 900 MB; INSTEAD". */
enum clv_status memory_require(double needed, const char *what, const char *instead, struct clv_error *err) CLV_CHECK;

/* Fails with the same message if they are more than `available`, a limit of the caller. */
enum clv_status memory_require_of(double available, double needed, const char *what, const char *instead,
                                  struct clv_error *err) CLV_CHECK;

/* Limits of the control groups (cgroups, version 1 and 2) of this process, which containers and batch jobs set. */
#define CONTROL_GROUP_PATH_SIZE 4096

/* Returns the least result of `rest` over the folders of this process's control group, its parents and the mounted root
 * (in a container the group itself), for a controller ("memory", "cpu"); INFINITY without any. `rest` receives a folder
 * and the version, 1 or 2. root: the folder of /proc and /sys; "" is the machine's root, others are for tests. */
double control_group_least(const char *root, const char *controller, double (*rest)(const char *folder, int version));

/* Returns the first number after `key` at the start of a line of folder/name or, with key "", the number at the file's
 * start; NAN if it is not a number ("max"). */
double control_group_number(const char *folder, const char *name, const char *key);

/* Returns how many processors this process may use, by its affinity and the quotas of its control groups, rounded up;
 * at least 1. */
int control_group_processors(void);

/* Returns the quota in processors by the files below a root, INFINITY without one; for tests. */
double control_group_quota_below(const char *root);

#endif
