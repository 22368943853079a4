/* stat, lstat and rename of the C library with a failure in between, and an fsync that waits for no disk: the program's
 * own ones come first. */
#include "support/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *disk_fails_at;
bool killed_at_rename;
int disk_renames = -1;
volatile int *disk_stop;
int disk_stops_after;

static int look(const char *path, struct stat *info, int flags)
{
    if (!disk_fails_at || !strstr(path, disk_fails_at))
        return fstatat(AT_FDCWD, path, info, flags);
    errno = EIO;
    return -1;
}

int stat(const char *restrict path, struct stat *restrict info)
{
    return look(path, info, 0);
}

int lstat(const char *restrict path, struct stat *restrict info)
{
    return look(path, info, AT_SYMLINK_NOFOLLOW);
}

int rename(const char *old, const char *new)
{
    if (killed_at_rename)
        raise(SIGKILL);
    if (disk_renames == 0) {
        errno = EIO;
        return -1;
    }
    disk_renames -= disk_renames > 0;
    if (disk_stop && --disk_stops_after == 0)
        *disk_stop = 1;
    return renameat(AT_FDCWD, old, AT_FDCWD, new);
}

int fsync(int fd)
{
    (void)fd;
    return 0;
}
