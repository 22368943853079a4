#include "cli/common/output_locks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/path.h"

/* Bytes of a shards' lock file, which need not be there to be locked: shard i of n locks the same part of them as it
 * has of the work, so that shards of different counts meet where their work does. */
#define SHARES ((int64_t)1 << 40)

/* How long a lock may be in the hands of one that only looks whether it is the last. */
enum { ATTEMPTS = 20, ATTEMPT_MS = 10 };

static int exit_code;

int output_locks_exit_code(void)
{
    return exit_code;
}

static enum clv_status refuse(struct clv_error *err, const char *path, const struct shard *shard)
{
    char part[48] = "";
    exit_code = EX_TEMPFAIL;
    if (shard && shard->count)
        snprintf(part, sizeof part, " or of part %d of %d", shard->number, shard->count);
    return fail(err, CLV_ERR_CREATE, "%s: another run%s writes there now; wait until it has ended", path, part);
}

static bool hold(struct output_locks *self, int fd, char *file)
{
    struct stat info;
    bool fits = self->n < OUTPUT_LOCKS_MAX && fstat(fd, &info) == 0;
    for (int k = 0; k < self->n && fits; k++)
        fits = self->held[k].device != info.st_dev || self->held[k].inode != info.st_ino;
    if (fits)
        self->held[self->n++] = (struct held_lock){fd, info.st_dev, info.st_ino, file};
    return fits;
}

/* Locks a part of a file for this open file alone, or a folder (part is NULL) by flock's operation. False with
 * EAGAIN if another has it. */
static bool lock(int fd, const struct flock *part, int operation)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if ((part ? fcntl(fd, F_OFD_SETLK, part) : flock(fd, operation | LOCK_NB)) == 0)
            return true;
        if (errno != EAGAIN && errno != EACCES)
            return false;
        nanosleep(&(struct timespec){0, ATTEMPT_MS * 1000000}, NULL);
    }
    errno = EAGAIN;
    return false;
}

/* Opens the lock file and locks a part of it. -1: it cannot be had, with EAGAIN if another has it. A file that its last
 * user removed meanwhile is made anew. */
static int open_locked(const char *file, int64_t start, int64_t length)
{
    const struct flock part = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    struct stat opened, there;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0)
            return -1;
        if (!lock(fd, &part, 0)) {
            int why = errno;
            if (why != EAGAIN)
                unlink(file); /* no locks here */
            close(fd);
            errno = why;
            return -1;
        }
        if (fstat(fd, &opened) == 0 && stat(file, &there) == 0 && there.st_dev == opened.st_dev &&
            there.st_ino == opened.st_ino)
            return fd;
        close(fd);
    }
    errno = 0;
    return -1;
}

/* Takes `file`, and frees its name unless it is kept. `path` is what a refusal names. */
static enum clv_status take_file(struct output_locks *self, char *file, const char *path, const struct shard *shard,
                                 struct clv_error *err)
{
    int64_t start = 0, end = 0;
    if (!file)
        return fail_memory(err);
    if (shard) {
        start = (shard->number - 1) * SHARES / shard->count;
        end = shard->number * SHARES / shard->count;
    }
    int fd = open_locked(file, start, end - start); /* a length of 0 is all */
    bool refused = fd < 0 && errno == EAGAIN;
    if (fd >= 0 && hold(self, fd, file))
        return CLV_OK;
    if (fd >= 0)
        close(fd);
    array_free(file);
    return refused ? refuse(err, path, shard) : CLV_OK;
}

enum clv_status output_locks_folder(struct output_locks *self, const char *folder, const struct shard *shard,
                                    struct clv_error *err)
{
    bool is_whole = !shard || !shard->count;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return CLV_OK;
    if (!hold(self, fd, NULL)) {
        close(fd);
        return CLV_OK;
    }
    if (!lock(fd, NULL, is_whole ? LOCK_EX : LOCK_SH) && errno == EAGAIN)
        return refuse(err, folder, NULL);
    return is_whole ? CLV_OK : take_file(self, path_join(folder, ".cleave-shards.lock"), folder, shard, err);
}

enum clv_status output_locks_file(struct output_locks *self, const char *path, struct clv_error *err)
{
    size_t size = strlen(path) + sizeof "..lock", folder = strlen(path) - strlen(path_name(path));
    char *file = array_alloc(size, 1);
    if (file)
        snprintf(file, size, "%.*s.%s.lock", (int)folder, path, path_name(path));
    return take_file(self, file, path, NULL, err);
}

void output_locks_release(struct output_locks *self)
{
    for (int k = self->n - 1; k >= 0; k--) {
        const struct held_lock *held = &self->held[k];
        const struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        if (held->file && fcntl(held->fd, F_OFD_SETLK, &all) == 0)
            unlink(held->file); /* nobody else is at it */
        close(held->fd);
        array_free(held->file);
    }
    *self = (struct output_locks){.n = 0};
}
