#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"

/* Opens a regular file for reading; anything else is refused before a read could block. */
static enum clv_status open_regular(int *fd, size_t *size, const char *path, struct clv_error *err)
{
    struct stat info;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot open", path);
    enum clv_status status = CLV_OK;
    if (fstat(*fd, &info))
        status = fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot examine", path);
    else if (S_ISDIR(info.st_mode))
        status = fail(err, CLV_ERR_NO_INPUT, "%s: is a folder, not a file", path);
    else if (!S_ISREG(info.st_mode))
        status = fail(err, CLV_ERR_NO_INPUT, "%s: not a regular file", path);
    if (status != CLV_OK) {
        close(*fd);
        *fd = -1;
        return status;
    }
    *size = (size_t)info.st_size;
    return CLV_OK;
}

/* Reads a regular file's first bytes, at most `wanted`. A file longer than max_size is refused. */
static enum clv_status read_bytes(char **bytes, size_t *size, const char *path, size_t wanted, size_t max_size,
                                  struct clv_error *err)
{
    int fd = -1;
    size_t length = 0, got = 0;
    char *buffer = NULL;
    *bytes = NULL;
    enum clv_status status = open_regular(&fd, &length, path, err);
    if (status != CLV_OK)
        return status;
    if (length > max_size) {
        status = fail(err, CLV_ERR_DATA, "%s: %zu bytes, the limit is %zu", path, length, max_size);
        goto done;
    }
    length = length < wanted ? length : wanted;
    buffer = array_alloc(length + 1, 1);
    if (!buffer) {
        status = fail_memory(err);
        goto done;
    }
    while (got < length) {
        ssize_t n = read(fd, buffer + got, length - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            status = fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot read", path);
            goto done;
        }
        if (n == 0)
            break;
        got += (size_t)n;
    }
    buffer[got] = 0;
    *bytes = buffer;
    *size = got;
    buffer = NULL;
done:
    array_free(buffer);
    close(fd);
    return status;
}

enum clv_status file_read(char **bytes, size_t *size, const char *path, size_t max_size, struct clv_error *err)
{
    return read_bytes(bytes, size, path, SIZE_MAX, max_size, err);
}

enum clv_status file_read_head(char **bytes, size_t *size, const char *path, size_t wanted, struct clv_error *err)
{
    return read_bytes(bytes, size, path, wanted, SIZE_MAX, err);
}

enum clv_status file_map_open(struct file_map *map, const char *path, struct clv_error *err)
{
    int fd = -1;
    size_t size = 0;
    *map = (struct file_map){0};
    enum clv_status status = open_regular(&fd, &size, path, err);
    if (status != CLV_OK)
        return status;
    if (size) {
        void *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
        if (bytes == MAP_FAILED)
            status = fail_errno(err, CLV_ERR_OS, "%s: cannot map", path);
        else
            *map = (struct file_map){bytes, size};
        if (map->size > FILE_LARGE)
            madvise(bytes, size, MADV_HUGEPAGE); /* or not */
    }
    close(fd);
    return status;
}

void file_map_close(struct file_map *map)
{
    if (map->bytes)
        munmap((void *)map->bytes, map->size);
    *map = (struct file_map){0};
}

void file_map_forget(const struct file_map *map)
{
    if (map->bytes)
        madvise((void *)(uintptr_t)map->bytes, map->size, MADV_DONTNEED);
}

/* Temporaries in flight, for the signal handler: slots are claimed and cleared with single atomic stores. */
#define MAX_TEMPORARIES 64
static _Atomic(const char *) temporaries[MAX_TEMPORARIES];

static void remember_temporary(const char *path)
{
    for (int i = 0; i < MAX_TEMPORARIES; i++) {
        const char *empty = NULL;
        if (atomic_compare_exchange_strong(&temporaries[i], &empty, path))
            return;
    }
}

static void forget_temporary(const char *path)
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
}

static void writer_release(struct file_writer *writer)
{
    forget_temporary(writer->temporary);
    array_free(writer->path);
    array_free(writer->folder);
    array_free(writer->temporary);
    *writer = (struct file_writer){0};
}

/* A name that nobody can foresee: "folder/.0123456789abcdef.tmp"; NULL when out of memory. Its length does not depend
 * on the path's, and as a hidden name it is never taken for an input. */
static char *temporary_name(const char *folder)
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        number = (uint64_t)getpid() << 32 ^ (uint64_t)clock() ^ (uint64_t)(uintptr_t)&number;
    char name[32];
    snprintf(name, sizeof name, ".%016" PRIx64 ".tmp", number);
    return path_join(folder, name);
}

/* Opens a file that has no name yet, so that nothing is left of it however the process ends. -1 where the file system
 * has no such files, or /proc is not there to name it by later. */
static int open_unnamed(const char *folder)
{
    char link[64];
    int fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (access(link, F_OK) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Opens a fresh file under a temporary name, which is remembered for the signal handler. */
static int open_named(struct file_writer *writer)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        writer->temporary = temporary_name(writer->folder);
        if (!writer->temporary) {
            errno = ENOMEM;
            return -1;
        }
        int fd = open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            remember_temporary(writer->temporary);
            return fd;
        }
        array_free(writer->temporary);
        writer->temporary = NULL;
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

static enum clv_status open_temporary(struct file_writer *writer, struct clv_error *err)
{
    int fd = open_unnamed(writer->folder);
    writer->unnamed = fd >= 0;
    if (fd < 0)
        fd = open_named(writer);
    if (fd < 0 && errno == ENOMEM)
        return fail_memory(err);
    if (fd < 0)
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot create", writer->path);
    writer->stream = fdopen(fd, "wb");
    if (writer->stream)
        return CLV_OK;
    enum clv_status status = fail_errno(err, CLV_ERR_OS, "%s: cannot open a stream", writer->path);
    close(fd);
    if (writer->temporary)
        unlink(writer->temporary);
    return status;
}

/* Gives an unnamed file its name: the target's if that is free, else a temporary one to rename from. */
static int name_file(struct file_writer *writer)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fileno(writer->stream));
    if (linkat(AT_FDCWD, link, AT_FDCWD, writer->path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    for (int attempt = 0; attempt < 100 && errno == EEXIST; attempt++) {
        array_free(writer->temporary);
        writer->temporary = temporary_name(writer->folder);
        if (!writer->temporary) {
            errno = ENOMEM;
            return -1;
        }
        if (linkat(AT_FDCWD, link, AT_FDCWD, writer->temporary, AT_SYMLINK_FOLLOW) == 0) {
            remember_temporary(writer->temporary);
            return 0;
        }
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
    *writer = (struct file_writer){.path = string_copy(path), .folder = path_folder(path)};
    if (!writer->path || !writer->folder) {
        writer_release(writer);
        return fail_memory(err);
    }

    enum clv_status status = CLV_OK;
    if (strcmp(path, "-") == 0) {
        int fd = dup(STDOUT_FILENO);
        writer->stream = fd < 0 ? NULL : fdopen(fd, "wb");
        if (!writer->stream)
            status = fail_errno(err, CLV_ERR_CREATE, "standard output: cannot open");
    } else if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        if (S_ISDIR(info.st_mode))
            status = fail(err, CLV_ERR_CREATE, "%s: is a folder", path);
        else if (!(writer->stream = fopen(path, "wbe")))
            status = fail_errno(err, CLV_ERR_CREATE, "%s: cannot open for writing", path);
    } else {
        status = open_temporary(writer, err);
    }
    if (status != CLV_OK)
        writer_release(writer);
    return status;
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

enum clv_status file_commit(struct file_writer *writer, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    bool whole = is_all_or_nothing(writer);
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
    if (bad)
        status = fail_errno(err, CLV_ERR_IO, "%s: cannot write", writer->path);
    if (status == CLV_OK && writer->unnamed && name_file(writer))
        status = fail_errno(err, CLV_ERR_CREATE, "%s: cannot name the finished file", writer->path);
    if (fclose(writer->stream) && status == CLV_OK)
        status = fail_errno(err, CLV_ERR_IO, "%s: cannot write", writer->path);
    if (writer->temporary) {
        if (status == CLV_OK && rename(writer->temporary, writer->path))
            status = fail_errno(err, CLV_ERR_CREATE, "%s: cannot rename the finished file", writer->path);
        if (status != CLV_OK)
            unlink(writer->temporary);
    }
    if (status == CLV_OK && whole && sync_folder(writer->folder))
        status = fail_errno(err, CLV_ERR_IO, "%s: written, but its folder cannot be synchronised", writer->path);
    writer_release(writer);
    return status;
}

void file_abort(struct file_writer *writer)
{
    if (!writer->stream)
        return;
    fclose(writer->stream);
    if (writer->temporary)
        unlink(writer->temporary);
    writer_release(writer);
}

enum clv_status file_write(const char *path, const void *bytes, size_t size, struct clv_error *err)
{
    struct file_writer writer;
    enum clv_status status = file_create(&writer, path, err);
    if (status != CLV_OK)
        return status;
    fwrite(bytes, 1, size, writer.stream);
    return file_commit(&writer, err);
}

enum clv_status folder_create(const char *path, struct clv_error *err)
{
    char *partial = string_copy(path);
    if (!partial)
        return fail_memory(err);
    enum clv_status status = CLV_OK;
    for (char *slash = partial + 1; status == CLV_OK; slash++) {
        if (*slash != '/' && *slash != 0)
            continue;
        char kept = *slash;
        *slash = 0;
        if (mkdir(partial, 0777) && !(errno == EEXIST && path_is_folder(partial)))
            status = fail_errno(err, CLV_ERR_CREATE, "%s: cannot create folder", partial);
        *slash = kept;
        if (!kept)
            break;
    }
    array_free(partial);
    return status;
}

bool path_exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

bool path_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

enum clv_status path_look(enum path_kind *kind, const char *path, struct clv_error *err)
{
    struct stat info;
    if (stat(path, &info) == 0)
        *kind = S_ISDIR(info.st_mode) ? PATH_FOLDER : PATH_FILE;
    else if (errno != ENOENT && errno != ENOTDIR)
        return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot tell whether it is there", path);
    else
        *kind = lstat(path, &info) == 0 ? PATH_FILE : PATH_ABSENT;
    return CLV_OK;
}

char *path_join(const char *folder, const char *name)
{
    if (*name == '/' || !*folder)
        return string_copy(name);
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = array_alloc(size, 1);
    if (path)
        snprintf(path, size, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
    return path;
}

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *path_folder(const char *path)
{
    const char *name = path_name(path);
    if (name == path)
        return string_copy(".");
    size_t length = (size_t)(name - path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    char *folder = array_alloc(length + 1, 1);
    if (folder) {
        memcpy(folder, path, length);
        folder[length] = 0;
    }
    return folder;
}

/* Length of the path without its extension; a leading dot of the name is no extension. */
static size_t length_without_extension(const char *path)
{
    const char *name = path_name(path), *dot = strrchr(name, '.');
    return dot && dot != name ? (size_t)(dot - path) : strlen(path);
}

char *path_stem(const char *path)
{
    return path_replace_extension(path_name(path), "");
}

char *path_replace_extension(const char *path, const char *extension)
{
    size_t kept = length_without_extension(path), size = kept + strlen(extension) + 1;
    char *changed = array_alloc(size, 1);
    if (changed)
        snprintf(changed, size, "%.*s%s", (int)kept, path, extension);
    return changed;
}

static bool has_parent_step(const char *path)
{
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (part[0] == '.' && part[1] == '.' && (part[2] == '/' || !part[2]))
            return true;
    }
    return false;
}

enum clv_status path_check_inside(const char *folder, const char *relative, struct clv_error *err)
{
    if (!*relative)
        return fail(err, CLV_ERR_DATA, "empty path");
    if (*relative == '/')
        return fail(err, CLV_ERR_DATA, "%s: absolute path; it must be relative to %s", relative, folder);
    if (has_parent_step(relative))
        return fail(err, CLV_ERR_DATA, "%s: \"..\" is not allowed in a path", relative);

    char root[PATH_MAX], real[PATH_MAX];
    char *joined = path_join(folder, relative);
    if (!joined)
        return fail_memory(err);
    enum clv_status status = CLV_OK;
    if (realpath(folder, root) && realpath(joined, real)) {
        size_t length = strlen(root);
        while (length && root[length - 1] == '/')
            length--;
        if (strncmp(root, real, length) != 0 || real[length] != '/')
            status = fail(err, CLV_ERR_DATA, "%s: leads outside %s", relative, folder);
    }
    array_free(joined);
    return status;
}

void path_simplify(char *path)
{
    char *out = path;
    bool at_start = *path != '/'; /* of a step */
    for (const char *c = path; *c;) {
        if (at_start && c[0] == '.' && c[1] == '/')
            c += 2;
        else if (at_start && c[0] == '/')
            c++;
        else
            at_start = (*out++ = *c++) == '/';
    }
    *out = 0;
}

void path_list_release(struct path_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        array_free(list->paths[i]);
    array_free(list->paths);
    array_free(list->first_unreadable);
    *list = (struct path_list){0};
}

enum clv_status path_list_add(struct path_list *list, const char *path, struct clv_error *err)
{
    char *copy = string_copy(path);
    if (!copy || array_reserve((void **)&list->paths, &list->capacity, list->n + 1, sizeof *list->paths)) {
        array_free(copy);
        return fail_memory(err);
    }
    list->paths[list->n++] = copy;
    return CLV_OK;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A folder below the one that was asked for: passed over if this user may not read it. */
static enum clv_status fail_to_open(struct path_list *list, const char *folder, const char *below,
                                    struct clv_error *err)
{
    if (errno != EACCES || !*below)
        return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot open folder", folder);
    if (!list->n_unreadable++ && !(list->first_unreadable = string_copy(folder)))
        return fail_memory(err);
    return CLV_OK;
}

static enum clv_status walk(struct path_list *list, const char *root, const char *below, struct clv_error *err)
{
    struct stat info;
    enum clv_status status = CLV_OK;
    char *folder = path_join(root, below), *inside = NULL, *full = NULL;
    DIR *stream = folder ? opendir(*folder ? folder : ".") : NULL;
    if (!folder) {
        status = fail_memory(err);
    } else if (!stream) {
        status = fail_to_open(list, folder, below, err);
    }
    while (status == CLV_OK && stream) {
        errno = 0;
        struct dirent *entry = readdir(stream);
        if (!entry && errno)
            status = fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot read folder", folder);
        if (!entry)
            break;
        if (entry->d_name[0] == '.')
            continue;
        inside = path_join(below, entry->d_name);
        full = inside ? path_join(root, inside) : NULL;
        if (!full)
            status = fail_memory(err);
        else if (lstat(full, &info) == 0 && S_ISDIR(info.st_mode))
            status = walk(list, root, inside, err);
        else if (!(stat(full, &info) == 0 && S_ISDIR(info.st_mode)))
            status = path_list_add(list, inside, err);
        array_free(inside);
        array_free(full);
    }
    if (stream)
        closedir(stream);
    array_free(folder);
    return status;
}

enum clv_status folder_walk(struct path_list *list, const char *folder, struct clv_error *err)
{
    struct path_list found = {0};
    enum clv_status status = walk(&found, folder, "", err);
    if (status != CLV_OK) {
        path_list_release(&found);
        return status;
    }
    if (found.n)
        qsort(found.paths, found.n, sizeof *found.paths, compare_paths);
    *list = found;
    return CLV_OK;
}
