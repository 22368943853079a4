/* Runs a program as a separate process, and measures its time and memory. */
#ifndef PROCESS_H
#define PROCESS_H

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

struct run {
    double wall, cpu; /* seconds */
    double peak;      /* bytes resident at most, pages of mapped files included */
    int exit_code;
};

/* Its output goes to the file `log`. */
static inline struct run run_program(char *const *arguments, const char *log)
{
    struct rusage usage = {0};
    int status = -1;
    double begin = bench_wall();
    pid_t child = fork();
    if (child == 0) {
        int stream = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (stream < 0 || dup2(stream, STDOUT_FILENO) < 0 || dup2(stream, STDERR_FILENO) < 0)
            _exit(126);
        execv(arguments[0], arguments);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0)
        return (struct run){0, 0, 0, 126};
    double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    return (struct run){bench_wall() - begin, cpu, 1024.0 * (double)usage.ru_maxrss,
                        WIFEXITED(status) ? WEXITSTATUS(status) : 128};
}

static inline void print_log(const char *log)
{
    FILE *stream = fopen(log, "r");
    char line[1024];
    while (stream && fgets(line, sizeof line, stream))
        fprintf(stderr, "  %s", line);
    if (stream)
        fclose(stream);
}

#endif
