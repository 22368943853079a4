/* How much memory a process may still ask for, so that work which cannot end well is refused before it starts. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "cleave/status.h"

/* Bytes: the least of what the machine has available (/proc/meminfo), what the control groups' limits leave (version 1
 * and 2; pages of files that can be dropped count as free) and what RLIMIT_AS leaves. INFINITY where nothing is known.
 * An estimate: others ask, too. */
double memory_available(void);

/* Computes memory_available from the files below a root, "" for the machine's own; for tests. */
double memory_available_below(const char *root);

/* The one refusal of work that does not fit: "WHAT may take 5200 MB of memory, of which there are 900 MB; INSTEAD", with
 * CLV_ERR_MEMORY, if `needed` bytes are more than memory_available. */
enum clv_status memory_require(double needed, const char *what, const char *instead, struct clv_error *err) CLV_CHECK;

/* Refuses in the same words if they are more than `had`, where a limit of one's own stands in its place. */
enum clv_status memory_require_of(double had, double needed, const char *what, const char *instead,
                                  struct clv_error *err) CLV_CHECK;

/* Limits of the control groups (cgroups, version 1 and 2) of this process, which containers and batch jobs set. */
#define CONTROL_GROUP_PATH_SIZE 4096

/* The least that `left_in` says of the folders of this process's group, its parents and the root of what is mounted (in
 * a container the group itself), for a controller ("memory", "cpu"); INFINITY without any. left_in becomes the folder
 * and the version, 1 or 2. root: where /proc and /sys are; "" is the machine's own, others are for tests. */
double control_group_least(const char *root, const char *controller, double (*rest)(const char *folder, int version));

/* The first number after `key` at the start of a line of folder/name, or with key "" the file's first; NAN if there is
 * none ("max"). */
double control_group_number(const char *folder, const char *name, const char *key);

/* How many processors this process may keep busy: at least 1; its affinity and the quotas of its control groups,
 * rounded up. */
int control_group_processors(void);

/* The quota below a root, in processors, INFINITY without one; for tests. */
double control_group_quota_below(const char *root);

#endif
