/* Writes files all or nothing: the bytes go to a file without a name (O_TMPFILE) or a temporary one, which takes the
 * target's place when it is complete and on the disk. Locks tell temporaries in use from leftovers of killed processes.
 * Start at file_create; struct file_writer in base.h has the rules. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Temporaries in flight, for the signal handler: slots are claimed and cleared with single atomic stores. Folders are
 * removed after the files that may be in them. */
#define MAX_TEMPORARIES 64
static _Atomic(const char *) temporaries[MAX_TEMPORARIES];

void file_remember_temporary(const char *path)
{
    for (int i = 0; i < MAX_TEMPORARIES; i++) {
        const char *empty = NULL;
        if (atomic_compare_exchange_strong(&temporaries[i], &empty, path))
            return;
    }
}

void file_forget_temporary(const char *path)
{
    for (int i = 0; i < MAX_TEMPORARIES; i++) {
        const char *expected = path;
        if (path && atomic_compare_exchange_strong(&temporaries[i], &expected, NULL))
            return;
    }
}

void file_remove_temporaries(void)
{
    for (int i = 0; i < MAX_TEMPORARIES; i++) {
        const char *path = atomic_load(&temporaries[i]);
        if (path)
            unlink(path);
    }
    for (int i = 0; i < MAX_TEMPORARIES; i++) {
        const char *path = atomic_load(&temporaries[i]);
        if (path)
            rmdir(path);
    }
}

/* The temporary is gone, or the target by now. */
static void temporary_release(struct file_writer *writer)
{
    file_forget_temporary(writer->temporary);
    array_free(writer->temporary);
    writer->temporary = NULL;
}

static void writer_release(struct file_writer *writer)
{
    temporary_release(writer);
    arrays_free(writer->path, writer->folder);
    *writer = (struct file_writer){0};
}

/* "folder/.0123456789abcdef.tmp"; NULL when out of memory. Its length does not depend on the path's, and as a hidden
 * name it is never taken for an input. */
static char *numbered_name(const char *folder, uint64_t number)
{
    char name[32];
    snprintf(name, sizeof name, ".%016" PRIx64 ".tmp", number);
    return path_join(folder, name);
}

/* Makes an unpredictable name. */
static char *temporary_name(const char *folder)
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        number = (uint64_t)getpid() << 32 ^ (uint64_t)clock() ^ (uint64_t)(uintptr_t)&number;
    return numbered_name(folder, number);
}

/* Opens a file that has no name yet, so that nothing is left of it however the process ends. -1 where the file system
 * has no such files, or /proc is not there to name it by later. */
static int open_unnamed(const char *folder, mode_t mode)
{
    char link[64];
    int fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
    if (fd < 0)
        return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (access(link, F_OK) == 0) {
        flock(fd, LOCK_EX | LOCK_NB); /* shows others that it is in use, once it has a name */
        return fd;
    }
    close(fd);
    return -1;
}

/* Opens a fresh file under a temporary name, which is remembered for the signal handler. */
static int open_named(struct file_writer *writer, mode_t mode)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        writer->temporary = temporary_name(writer->folder);
        if (!writer->temporary) {
            errno = ENOMEM;
            return -1;
        }
        int fd = open(writer->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0) {
            file_remember_temporary(writer->temporary);
            return fd;
        }
        array_free(writer->temporary);
        writer->temporary = NULL;
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

/* Gives the file the owner and the mode of the one that it replaces, as far as this user may. Where the group cannot
 * be the same, another one gets no more than everybody. */
static void keep_rights(int fd, const struct stat *replaced)
{
    mode_t mode = replaced->st_mode & 0777;
    struct stat info;
    if (fchown(fd, replaced->st_uid, replaced->st_gid) && fchown(fd, (uid_t)-1, replaced->st_gid) &&
        (fstat(fd, &info) || info.st_gid != replaced->st_gid))
        mode = (mode & 0707) | (mode & 0007) << 3;
    fchmod(fd, mode); /* created with no more than this, if it fails */
}

/* `replaced` is the file that is there already, or NULL. */
static enum clv_status open_temporary(struct file_writer *writer, const struct stat *replaced, struct clv_error *err)
{
    mode_t mode = replaced ? replaced->st_mode & 0700 : 0666;
    int fd = open_unnamed(writer->folder, mode);
    writer->unnamed = fd >= 0;
    if (fd < 0)
        fd = open_named(writer, mode);
    NEED(fd >= 0 || errno != ENOMEM);
    if (fd < 0)
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot create", writer->path);
    if (replaced)
        keep_rights(fd, replaced);
    writer->stream = fdopen(fd, "w+b");
    if (writer->stream)
        return CLV_OK;
    enum clv_status status = fail_errno(err, CLV_ERR_OS, "%s: cannot open a stream", writer->path);
    close(fd);
    if (writer->temporary)
        unlink(writer->temporary);
    return status;
}

/* Removes a temporary whose process was killed between naming and renaming it: no process holds its lock. */
static bool remove_leftover(const char *temporary)
{
    int fd = open(temporary, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool removed = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && unlink(temporary) == 0;
    if (fd >= 0)
        close(fd);
    errno = EEXIST;
    return removed;
}

/* Gives an unnamed file its name: the target's if that is free, else a temporary one to rename from. That one is always
 * the same for a target, so that a leftover is found and replaced, unless another process uses it at this time. */
static int name_file(struct file_writer *writer)
{
    char link[64];
    const char *target = path_name(writer->path);
    uint64_t own = hash_bytes(HASH_START, target, strlen(target));
    bool is_own = true;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fileno(writer->stream));
    if (linkat(AT_FDCWD, link, AT_FDCWD, writer->path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    for (int attempt = 0; attempt < 100 && errno == EEXIST; attempt++) {
        array_free(writer->temporary);
        writer->temporary = is_own ? numbered_name(writer->folder, own) : temporary_name(writer->folder);
        if (!writer->temporary) {
            errno = ENOMEM;
            return -1;
        }
        if (linkat(AT_FDCWD, link, AT_FDCWD, writer->temporary, AT_SYMLINK_FOLLOW) == 0) {
            file_remember_temporary(writer->temporary);
            return 0;
        }
        if (errno == EEXIST && is_own)
            is_own = remove_leftover(writer->temporary);
    }
    array_free(writer->temporary);
    writer->temporary = NULL;
    return -1;
}

/* Makes the target's name in its folder last, as far as folders can be synchronised. */
static int sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), bad = 0;
    if (fd < 0)
        return 0;
    if (fsync(fd) && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
        bad = -1;
    close(fd);
    return bad;
}

enum clv_status file_create(struct file_writer *writer, const char *path, struct clv_error *err)
{
    struct stat info;
    bool is_there = stat(path, &info) == 0;
    *writer = (struct file_writer){0};
    OWNED(writer_release) struct file_writer result = {.path = string_copy(path), .folder = path_folder(path)};
    NEED(result.path && result.folder);
    if (strcmp(path, "-") == 0) {
        int fd = dup(STDOUT_FILENO);
        result.stream = fd < 0 ? NULL : fdopen(fd, "wb");
        if (!result.stream)
            return fail_errno(err, CLV_ERR_CREATE, "standard output: cannot open");
    } else if (is_there && !S_ISREG(info.st_mode)) {
        FAIL_IF(S_ISDIR(info.st_mode), CLV_ERR_CREATE, "%s: is a folder", path);
        result.stream = fopen(path, "wbe");
        if (!result.stream)
            return fail_errno(err, CLV_ERR_CREATE, "%s: cannot open for writing", path);
    } else {
        MUST(open_temporary(&result, is_there ? &info : NULL, err));
    }
    *writer = TAKE(result);
    return CLV_OK;
}

/* Whether the target is to change only when all is written. */
static bool is_all_or_nothing(const struct file_writer *writer)
{
    return writer->temporary || writer->unnamed;
}

/* Sets errno to why an earlier write failed, which the stream has forgotten: by failing once more. */
static void recall_failure(const struct file_writer *writer)
{
    static const char block[4096];
    if (is_all_or_nothing(writer) && write(fileno(writer->stream), block, sizeof block) >= 0)
        errno = 0;
}

/* Brings all that was written to the disk. */
static enum clv_status flush(const struct file_writer *writer, struct clv_error *err)
{
    bool whole = is_all_or_nothing(writer) && !writer->is_cache;
    errno = 0;
    int bad = fflush(writer->stream);
    if (!bad && ferror(writer->stream)) {
        recall_failure(writer);
        bad = 1;
    }
    if (!bad && whole)
        bad = fsync(fileno(writer->stream));
    if (!bad && whole && ftello(writer->stream) > (off_t)FILE_LARGE)
        posix_fadvise(fileno(writer->stream), 0, 0, POSIX_FADV_DONTNEED);
    return bad ? fail_errno(err, CLV_ERR_IO, "%s: cannot write", writer->path) : CLV_OK;
}

/* A second descriptor of a file, which keeps its lock until the file is in its place. */
struct lock {
    int fd;
    bool is_held;
};

static struct lock lock_keep(FILE *stream)
{
    int fd = dup(fileno(stream));
    return (struct lock){fd, fd >= 0};
}

static void lock_release(struct lock *self)
{
    if (self->is_held)
        close(self->fd);
    *self = (struct lock){0};
}

enum clv_status file_commit(struct file_writer *writer, struct clv_error *err)
{
    OWNED(lock_release) struct lock lock = {0};
    OWNED(file_abort) struct file_writer self = TAKE(*writer);
    bool whole = is_all_or_nothing(&self) && !self.is_cache;
    MUST(flush(&self, err));
    if (self.unnamed && name_file(&self)) {
        NEED(errno != ENOMEM);
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot name the finished file", self.path);
    }
    if (self.temporary)
        lock = lock_keep(self.stream);
    int bad = fclose(self.stream);
    self.stream = NULL;
    if (bad)
        return fail_errno(err, CLV_ERR_IO, "%s: cannot write", self.path);
    if (self.temporary && rename(self.temporary, self.path))
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot rename the finished file", self.path);
    temporary_release(&self);
    lock_release(&lock);
    if (whole && sync_folder(self.folder))
        return fail_errno(err, CLV_ERR_IO, "%s: written, but its folder cannot be synchronised", self.path);
    return CLV_OK;
}

void file_abort(struct file_writer *writer)
{
    if (writer->stream)
        fclose(writer->stream);
    if (writer->temporary)
        unlink(writer->temporary);
    writer_release(writer);
}

static enum clv_status write_whole(const char *path, const void *bytes, size_t size, bool is_cache,
                                   struct clv_error *err)
{
    OWNED(file_abort) struct file_writer writer = {0};
    MUST(file_create(&writer, path, err));
    writer.is_cache = is_cache;
    fwrite(bytes, 1, size, writer.stream);
    return file_commit(&writer, err);
}

enum clv_status file_write(const char *path, const void *bytes, size_t size, struct clv_error *err)
{
    return write_whole(path, bytes, size, false, err);
}

enum clv_status file_write_cache(const char *path, const void *bytes, size_t size, struct clv_error *err)
{
    return write_whole(path, bytes, size, true, err);
}

enum clv_status file_open_unnamed(FILE **stream, const char *folder, struct clv_error *err)
{
    OWNED_ARRAY char *name = path_join(folder, ".unnamed-XXXXXX");
    NEED(name);
    int fd =
        open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600); /* never has a name that a killed process would leave */
    if (fd < 0) {
        fd = mkostemp(name, O_CLOEXEC);
        if (fd < 0)
            return fail_errno(err, CLV_ERR_CREATE, "%s: cannot create a file", folder);
        unlink(name);
    }
    *stream = fdopen(fd, "w+b");
    if (*stream)
        return CLV_OK;
    close(fd);
    return fail_errno(err, CLV_ERR_OS, "%s: cannot open a stream", folder);
}
