/* Reads files: whole or their heads (file_read), parts of a file that must not change between the reads (file_source),
 * and mapped files (file_map). Maps are recorded in slots, so that a signal handler can name the file. Start at
 * open_regular. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that is open for reading. */
struct opened {
    int fd;
    bool is_open;
    size_t size;
};

static void opened_close(struct opened *self)
{
    if (self->is_open)
        close(self->fd);
    *self = (struct opened){0};
}

/* Opens a regular file for reading; other kinds are errors, since reading them could block. */
static enum clv_status open_regular(struct opened *self, const char *path, struct clv_error *err)
{
    struct stat info;
    self->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    self->is_open = self->fd >= 0;
    if (!self->is_open)
        return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot open", path);
    if (fstat(self->fd, &info))
        return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot examine", path);
    FAIL_IF(S_ISDIR(info.st_mode), CLV_ERR_NO_INPUT, "%s: is a folder, not a file", path);
    FAIL_IF(!S_ISREG(info.st_mode), CLV_ERR_NO_INPUT, "%s: not a regular file", path);
    self->size = (size_t)info.st_size;
    return CLV_OK;
}

/* Reads a regular file's first bytes, at most `wanted`. A file longer than max_size is an error. */
static enum clv_status read_bytes(char **bytes, size_t *size, const char *path, size_t wanted, size_t max_size,
                                  struct clv_error *err)
{
    OWNED(opened_close) struct opened file = {0};
    size_t got = 0;
    *bytes = NULL;
    MUST(open_regular(&file, path, err));
    FAIL_IF(file.size > max_size, CLV_ERR_DATA, "%s: %zu bytes, the limit is %zu", path, file.size, max_size);
    size_t length = file.size < wanted ? file.size : wanted;
    OWNED_ARRAY char *result = array_alloc(length + 1, 1);
    NEED(result);
    while (got < length) {
        ssize_t n = read(file.fd, result + got, length - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot read", path);
        if (n == 0)
            break;
        got += (size_t)n;
    }
    result[got] = 0;
    *bytes = TAKE(result);
    *size = got;
    return CLV_OK;
}

enum clv_status file_read(char **bytes, size_t *size, const char *path, size_t max_size, struct clv_error *err)
{
    return read_bytes(bytes, size, path, SIZE_MAX, max_size, err);
}

enum clv_status file_read_head(char **bytes, size_t *size, const char *path, size_t wanted, struct clv_error *err)
{
    return read_bytes(bytes, size, path, wanted, SIZE_MAX, err);
}

enum clv_status file_source_open(struct file_source *source, const char *path, struct clv_error *err)
{
    struct stat info;
    OWNED(opened_close) struct opened file = {0};
    *source = (struct file_source){0};
    MUST(open_regular(&file, path, err));
    OWNED_ARRAY char *copy = string_copy(path);
    NEED(copy);
    if (fstat(file.fd, &info))
        return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot examine", path);
    *source = (struct file_source){TAKE(copy), file.fd, file.size, info.st_mtim};
    file.is_open = false;
    return CLV_OK;
}

void file_source_close(struct file_source *source)
{
    if (source->path)
        close(source->fd);
    array_free(source->path);
    *source = (struct file_source){0};
}

/* Checks that the file has not changed since it was opened, so that all parts are of one version. */
static enum clv_status check_unchanged(const struct file_source *source, struct clv_error *err)
{
    struct stat info;
    if (fstat(source->fd, &info))
        return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot examine", source->path);
    FAIL_IF((size_t)info.st_size != source->size, CLV_ERR_DATA,
            "%s: has changed from %zu bytes to %lld while it was read", source->path, source->size,
            (long long)info.st_size);
    FAIL_IF(info.st_mtim.tv_sec != source->changed.tv_sec || info.st_mtim.tv_nsec != source->changed.tv_nsec,
            CLV_ERR_DATA, "%s: has changed while it was read", source->path);
    return CLV_OK;
}

enum clv_status file_source_read(void *bytes, const struct file_source *source, size_t begin, size_t size,
                                 struct clv_error *err)
{
    size_t got = 0;
    while (got < size) {
        ssize_t n = pread(source->fd, (char *)bytes + got, size - got, (off_t)(begin + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot read", source->path);
        if (n == 0)
            break;
        got += (size_t)n;
    }
    MUST(check_unchanged(source, err));
    FAIL_IF(got < size, CLV_ERR_DATA, "%s: ends %zu bytes before it should", source->path, size - got);
    return CLV_OK;
}

/* Maps in use, for the signal handler. A thread claims a slot by changing its size from 0 to 1; the slot is valid once
 * its size is that of the map. Without a free slot a file is mapped, but not recorded. */
#define MAX_MAPS 64
static struct map_slot {
    atomic_size_t size;
    atomic_uintptr_t bytes;
    _Atomic(const char *) path;
} map_slots[MAX_MAPS];

static void publish_map(struct file_map *map)
{
    for (int i = 0; i < MAX_MAPS; i++) {
        size_t expected = 0;
        if (atomic_compare_exchange_strong(&map_slots[i].size, &expected, 1)) {
            atomic_store(&map_slots[i].bytes, (uintptr_t)map->bytes);
            atomic_store(&map_slots[i].path, map->path);
            atomic_store(&map_slots[i].size, map->size);
            map->slot = i + 1;
            return;
        }
    }
}

const char *file_map_at(const void *address)
{
    for (int i = 0; i < MAX_MAPS; i++) {
        size_t size = atomic_load(&map_slots[i].size);
        if ((uintptr_t)address - atomic_load(&map_slots[i].bytes) < size)
            return atomic_load(&map_slots[i].path);
    }
    return NULL;
}

enum clv_status file_map_open(struct file_map *map, const char *path, struct clv_error *err)
{
    OWNED(opened_close) struct opened file = {0};
    *map = (struct file_map){0};
    MUST(open_regular(&file, path, err));
    if (!file.size)
        return CLV_OK;
    OWNED_ARRAY char *copy = string_copy(path);
    NEED(copy);
    void *bytes = mmap(NULL, file.size, PROT_READ, MAP_SHARED, file.fd, 0);
    if (bytes == MAP_FAILED && errno == ENOMEM)
        return fail_errno(err, CLV_ERR_OS,
                          "%s: cannot map its %.0f MB; a limit of address space (ulimit -v) must leave room for the "
                          "whole file",
                          path, (double)file.size / 1e6);
    if (bytes == MAP_FAILED)
        return fail_errno(err, CLV_ERR_OS, "%s: cannot map", path);
    *map = (struct file_map){bytes, file.size, TAKE(copy), 0};
    publish_map(map);
    if (map->size > FILE_LARGE)
        madvise(bytes, map->size, MADV_HUGEPAGE); /* only a hint */
    return CLV_OK;
}

void file_map_close(struct file_map *map)
{
    if (map->bytes) {
        if (map->slot) {
            atomic_store(&map_slots[map->slot - 1].bytes, 0);
            atomic_store(&map_slots[map->slot - 1].size, 0);
        }
        munmap((void *)map->bytes, map->size);
        array_free(map->path);
    }
    *map = (struct file_map){0};
}

void file_map_forget(const struct file_map *map)
{
    if (map->bytes)
        madvise((void *)(uintptr_t)map->bytes, map->size, MADV_DONTNEED);
}
