/* LD_PRELOAD: the FAULT_MALLOC-th request of anybody's for memory fails; FAULT_MALLOC_COUNT names a file that receives
 * how many there were. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_size_t n_requests;
static size_t failing;
static int has_begun;

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("FAULT_MALLOC");
    failing = at ? strtoul(at, NULL, 10) : 0;
    has_begun = 1;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAULT_MALLOC_COUNT");
    char text[32];
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (fd < 0)
        return;
    int n = snprintf(text, sizeof text, "%zu\n", (size_t)n_requests);
    if (write(fd, text, (size_t)n) != n)
        unlink(path);
    close(fd);
}

static int fails(void)
{
    if (!has_begun || atomic_fetch_add(&n_requests, 1) + 1 != failing)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return fails() ? NULL : __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *made = memalign(alignment, size);
    if (!made)
        return ENOMEM;
    *block = made;
    return 0;
}
