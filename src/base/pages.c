/* Advises the system in which order the pages of mapped files will be read, drops pages, and requests huge ones:
 * madvise(2) and posix_fadvise(2). Start at pages_read_as. */
#include "base/pages.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

struct pages {
    char *first;
    size_t size;
};

/* Returns the pages that contain any of the bytes. */
static struct pages pages_around(const void *bytes, size_t size)
{
    size_t before = (uintptr_t)bytes % (size_t)sysconf(_SC_PAGESIZE);
    return (struct pages){(char *)(uintptr_t)bytes - before, size ? size + before : 0};
}

/* Returns the pages that contain only these bytes. */
static struct pages pages_within(const void *bytes, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), skipped = (page - (uintptr_t)bytes % page) % page;
    return (struct pages){(char *)(uintptr_t)bytes + skipped, size > skipped ? (size - skipped) / page * page : 0};
}

void pages_read_as(const void *bytes, size_t size, enum pages_reading reading)
{
    const struct pages pages = pages_around(bytes, size);
    if (!pages.size)
        return;
    madvise(pages.first, pages.size, reading == PAGES_SCATTERED ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    madvise(pages.first, pages.size, reading == PAGES_SCATTERED ? MADV_RANDOM : MADV_NORMAL);
}

void pages_request_huge(void *bytes, size_t size)
{
    const struct pages pages = pages_within(bytes, size);
    madvise(pages.first, pages.size, MADV_HUGEPAGE);
}

void pages_fetch(const void *bytes, size_t size)
{
    const struct pages pages = pages_around(bytes, size);
    if (pages.size)
        madvise(pages.first, pages.size, MADV_WILLNEED);
}

void pages_open(struct pages_file *file, const char *path, const void *bytes, size_t size)
{
    int fd = size ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : 0;
    *file = (struct pages_file){bytes, size, fd > 0 ? fd : 0};
}

void pages_close(struct pages_file *file)
{
    if (file->fd)
        close(file->fd);
    *file = (struct pages_file){0};
}

void pages_drop(const struct pages_file *file, const void *bytes, size_t size)
{
    const struct pages pages = pages_within(bytes, size);
    size_t before = (uintptr_t)pages.first - (uintptr_t)file->bytes;
    if (!pages.size || before >= file->size || pages.size > file->size - before)
        return; /* MADV_DONTNEED would erase memory that is not mapped from the file */
    madvise(pages.first, pages.size, MADV_DONTNEED);
    if (file->fd)
        posix_fadvise(file->fd, (off_t)before, (off_t)pages.size, POSIX_FADV_DONTNEED);
}
