/* Measures the memory that a function takes. */
#ifndef MEMORY_GROWN_H
#define MEMORY_GROWN_H

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/* A line of /proc/self/status in kB. */
static inline long status_kb(const char *key)
{
    char line[256];
    long value = 0;
    FILE *stream = fopen("/proc/self/status", "r");
    if (!stream)
        exit(71);
    while (fgets(line, sizeof line, stream))
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtol(line + strlen(key) + 1, NULL, 10);
    fclose(stream);
    return value;
}

/* By how many bytes a process of its own grows at most while it works. */
static inline double memory_grown(void (*work)(void *context), void *context)
{
    int ends[2], status;
    long grown = 0;
    if (pipe(ends))
        exit(71);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        long before = status_kb("VmRSS:");
        work(context);
        grown = status_kb("VmHWM:") - before;
        _exit(write(ends[1], &grown, sizeof grown) != sizeof grown);
    }
    if (child < 0 || read(ends[0], &grown, sizeof grown) != sizeof grown || waitpid(child, &status, 0) != child)
        exit(71);
    close(ends[0]);
    close(ends[1]);
    return 1024.0 * (double)grown;
}

#endif
