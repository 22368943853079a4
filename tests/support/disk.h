/* A disk that fails, for what runs in the test program itself. */
#ifndef TESTS_DISK_H
#define TESTS_DISK_H

#include <stdbool.h>

/* Looking (stat, lstat) at what has this in its path fails with EIO; NULL: all is well. */
extern const char *disk_fails_at;

/* Whether a rename is where the process is killed. */
extern bool killed_at_rename;

/* Renames that are done before all others fail with EIO; -1: all are. */
extern int disk_renames;

/* Sets *disk_stop, if it is not NULL, after so many renames. */
extern volatile int *disk_stop;
extern int disk_stops_after;

#endif
