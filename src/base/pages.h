/* Pages of mapped files that are larger than memory: how they are read, and when their memory is free again. Parts may
 * begin anywhere. Nothing depends on it but time; memory that is not of a mapped file is left alone. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

/* How parts are read from here on. In order: by huge pages, each of which is read whole and ahead. Scattered: nothing
 * is read around what is looked at, which would be thrown away before its turn; what is wanted next is to be named by
 * pages_fetch, which begins to read it. */
enum pages_reading { PAGES_IN_ORDER, PAGES_SCATTERED };
void pages_read_as(const void *bytes, size_t size, enum pages_reading reading);
void pages_fetch(const void *bytes, size_t size);

/* A mapped file whose pages can be dropped: where it is mapped, and its descriptor. Zeros: none. */
struct pages_file {
    const unsigned char *bytes;
    size_t size;
    int fd; /* 0: it could not be opened, and pages are only given back */
};
void pages_open(struct pages_file *file, const char *path, const void *bytes, size_t size);
void pages_close(struct pages_file *file);

/* Frees the memory of the pages that lie within these bytes, if the file has them, so that the system need not search
 * for memory to reclaim. They are read again when needed. Safe while others read. */
void pages_drop(const struct pages_file *file, const void *bytes, size_t size);

#endif
