/* Writes files all or nothing: the bytes go to an unnamed file (O_TMPFILE) or a temporary, which replaces the target
 * when it is complete and on the disk. Locks distinguish temporaries in use from leftovers of killed processes. Start
 * at file_create; struct file_writer in base.h has the rules. */
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

/* Forgets the temporary, which was removed or renamed to the target. */
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

/* "folder/.0123456789abcdef.tmp"; NULL if out of memory. Its length does not depend on the path's, and hidden files are
 * never read as inputs. */
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

/* Opens a file that has no name yet, so that it disappears however the process ends. Returns -1 if the file system does
 * not support such files, or if /proc, which is needed to name it later, is missing. */
static int open_unnamed(const char *folder, mode_t mode)
{
    char link[64];
    int fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
    if (fd < 0)
        return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (access(link, F_OK) == 0) {
        flock(fd, LOCK_EX | LOCK_NB); /* once it has a name, the lock marks it as in use */
        return fd;
    }
    close(fd);
    return -1;
}

/* Creates a file with a temporary name, which is registered for the signal handler. */
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

/* Gives the file the owner, group and mode of the file that it replaces, as far as this user may. If the group cannot
 * be kept, the new group gets only the rights of all others. */
static void keep_rights(int fd, const struct stat *replaced)
{
    mode_t mode = replaced->st_mode & 0777;
    struct stat info;
    if (fchown(fd, replaced->st_uid, replaced->st_gid) && fchown(fd, (uid_t)-1, replaced->st_gid) &&
        (fstat(fd, &info) || info.st_gid != replaced->st_gid))
        mode = (mode & 0707) | (mode & 0007) << 3;
    fchmod(fd, mode); /* if this fails, the file keeps the narrower mode of its creation */
}

/* Opens an unnamed or temporary file. `replaced` describes the existing target, or is NULL. */
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

/* Removes a temporary if its process was killed between naming and renaming it, so that no process holds its lock. Sets
 * errno to EEXIST. */
static bool remove_leftover(const char *temporary)
{
    int fd = open(temporary, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool removed = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && unlink(temporary) == 0;
    if (fd >= 0)
        close(fd);
    errno = EEXIST;
    return removed;
}

/* Names an unnamed file: by the target's name if that is free, else by a temporary name, to be renamed. The temporary
 * name is a hash of the target's, so that a leftover is found and replaced; if another process is using it, the name is
 * random. */
static int name_file(struct file_writer *writer)
{
    char link[64];
    const char *target = path_name(writer->path);
    uint64_t hash = hash_bytes(HASH_START, target, strlen(target));
    bool is_hashed = true;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fileno(writer->stream));
    if (linkat(AT_FDCWD, link, AT_FDCWD, writer->path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    for (int attempt = 0; attempt < 100 && errno == EEXIST; attempt++) {
        array_free(writer->temporary);
        writer->temporary = is_hashed ? numbered_name(writer->folder, hash) : temporary_name(writer->folder);
        if (!writer->temporary) {
            errno = ENOMEM;
            return -1;
        }
        if (linkat(AT_FDCWD, link, AT_FDCWD, writer->temporary, AT_SYMLINK_FOLLOW) == 0) {
            file_remember_temporary(writer->temporary);
            return 0;
        }
        if (errno == EEXIST && is_hashed)
            is_hashed = remove_leftover(writer->temporary);
    }
    array_free(writer->temporary);
    writer->temporary = NULL;
    return -1;
}

/* Writes the folder's entries to the disk, if the file system can synchronise folders. */
static int sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), failed = 0;
    if (fd < 0)
        return 0;
    if (fsync(fd) && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
        failed = -1;
    close(fd);
    return failed;
}

enum clv_status file_create(struct file_writer *writer, const char *path, struct clv_error *err)
{
    struct stat info;
    bool target_exists = stat(path, &info) == 0;
    *writer = (struct file_writer){0};
    OWNED(writer_release) struct file_writer result = {.path = string_copy(path), .folder = path_folder(path)};
    NEED(result.path && result.folder);
    if (strcmp(path, "-") == 0) {
        int fd = dup(STDOUT_FILENO);
        result.stream = fd < 0 ? NULL : fdopen(fd, "wb");
        if (!result.stream)
            return fail_errno(err, CLV_ERR_CREATE, "standard output: cannot open");
    } else if (target_exists && !S_ISREG(info.st_mode)) {
        FAIL_IF(S_ISDIR(info.st_mode), CLV_ERR_CREATE, "%s: is a folder", path);
        result.stream = fopen(path, "wbe");
        if (!result.stream)
            return fail_errno(err, CLV_ERR_CREATE, "%s: cannot open for writing", path);
    } else {
        MUST(open_temporary(&result, target_exists ? &info : NULL, err));
    }
    *writer = TAKE(result);
    return CLV_OK;
}

/* Returns whether the bytes go to another file until they are complete. */
static bool is_all_or_nothing(const struct file_writer *writer)
{
    return writer->temporary || writer->unnamed;
}

/* The stream does not keep the errno of an earlier failed write. Sets errno by writing again, which fails for the same
 * reason; 0 if it succeeds. */
static void recall_failure(const struct file_writer *writer)
{
    static const char block[4096];
    if (is_all_or_nothing(writer) && write(fileno(writer->stream), block, sizeof block) >= 0)
        errno = 0;
}

/* Flushes the stream and, unless the file is a cache, waits until its bytes are on the disk. */
static enum clv_status flush(const struct file_writer *writer, struct clv_error *err)
{
    bool is_durable = is_all_or_nothing(writer) && !writer->is_cache;
    errno = 0;
    int failed = fflush(writer->stream);
    if (!failed && ferror(writer->stream)) {
        recall_failure(writer);
        failed = 1;
    }
    if (!failed && is_durable)
        failed = fsync(fileno(writer->stream));
    if (!failed && is_durable && ftello(writer->stream) > (off_t)FILE_LARGE)
        posix_fadvise(fileno(writer->stream), 0, 0, POSIX_FADV_DONTNEED);
    return failed ? fail_errno(err, CLV_ERR_IO, "%s: cannot write", writer->path) : CLV_OK;
}

/* A second descriptor of a file, which holds its lock until the file has been renamed to the target. */
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
    bool is_durable = is_all_or_nothing(&self) && !self.is_cache;
    MUST(flush(&self, err));
    if (self.unnamed && name_file(&self)) {
        NEED(errno != ENOMEM);
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot name the finished file", self.path);
    }
    if (self.temporary)
        lock = lock_keep(self.stream);
    int failed = fclose(self.stream);
    self.stream = NULL;
    if (failed)
        return fail_errno(err, CLV_ERR_IO, "%s: cannot write", self.path);
    if (self.temporary && rename(self.temporary, self.path))
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot rename the finished file", self.path);
    temporary_release(&self);
    lock_release(&lock);
    if (is_durable && sync_folder(self.folder))
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
    /* A file that never had a name cannot be left behind by a killed process. */
    int fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
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
