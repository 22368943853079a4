/* What the control groups (cgroups, version 1 and 2) of this process grant it: a container's limits, a job's. */
#ifndef BASE_CONTROL_GROUP_H
#define BASE_CONTROL_GROUP_H

#define CONTROL_GROUP_PATH_SIZE 4096

/* The least that `left_in` says of the folders of this process's group, its parents and the root of what is mounted (in
 * a container the group itself), for a controller ("memory", "cpu"); INFINITY without any. left_in becomes the folder
 * and the version, 1 or 2. root: where /proc and /sys are; "" is the machine's own, others are for tests. */
double control_group_least(const char *root, const char *controller,
                           double (*left_in)(const char *folder, int version));

/* The first number after `key` at the start of a line of folder/name, or with key "" the file's first; NAN if there is
 * none ("max"). */
double control_group_number(const char *folder, const char *name, const char *key);

/* How many processors this process may keep busy: at least 1; its affinity and the quotas of its control groups,
 * rounded up. */
int control_group_processors(void);

/* The quota below a root, in processors, INFINITY without one; for tests. */
double control_group_quota_below(const char *root);

#endif
