/* Controls how pages of mapped files that are larger than memory are read, and when their memory is freed. Ranges of
 * bytes may begin anywhere. Affects only speed and memory use; memory that is not mapped from a file is not changed. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

/* How bytes will be read. IN_ORDER: with huge pages, each read as a whole and ahead of use. SCATTERED: without reading
 * ahead, since pages around would be dropped before their use; call pages_fetch for the next bytes, which begins to
 * read them. */
enum pages_reading { PAGES_IN_ORDER, PAGES_SCATTERED };
void pages_read_as(const void *bytes, size_t size, enum pages_reading reading);
void pages_fetch(const void *bytes, size_t size);

/* Requests huge pages for allocated memory, of which one page fault clears 2 MB. Only a hint. */
void pages_request_huge(void *bytes, size_t size);

/* A mapped file whose pages can be dropped: its address and its descriptor. Zeros: none. */
struct pages_file {
    const unsigned char *bytes;
    size_t size;
    int fd; /* 0: not open; pages_drop then only unmaps pages from this process */
};
void pages_open(struct pages_file *file, const char *path, const void *bytes, size_t size);
void pages_close(struct pages_file *file);

/* Frees the memory of the pages within these bytes, if they belong to the file, so that the system need not search for
 * memory to reclaim. They are read again when needed. Safe while other threads read. */
void pages_drop(const struct pages_file *file, const void *bytes, size_t size);

#endif
