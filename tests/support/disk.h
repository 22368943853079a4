/* A disk that fails, for what runs in the test program itself. */
#ifndef TESTS_DISK_H
#define TESTS_DISK_H

/* Looking (stat, lstat) at what has this in its path fails with EIO; NULL: all is well. */
extern const char *disk_fails_at;

#endif
