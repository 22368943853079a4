/* Bytes as a file that readers can open by its path, without a disk. */
#ifndef TESTS_MEMORY_FILE_H
#define TESTS_MEMORY_FILE_H

#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* close() what it returns; -1: there is none. */
static inline int memory_file(char path[64], const void *bytes, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    if (write(fd, bytes, size) != (ssize_t)size) {
        close(fd);
        return -1;
    }
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
