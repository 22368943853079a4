/* A file cut off at every byte, and with bits flipped, before the reader that a fuzz target calls (tests/fuzz):
 *
 *     mutate TARGET NAME FILE FLIPS
 *
 * Two lines of counts, as driver.c's. Mutations run in processes of many, one after the other; where one ends early the
 * mutation that it was at is counted, and another process goes on behind it. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trial.h"

#define TARGET(name) int fuzz_##name(const uint8_t *data, size_t size);
#include "fuzz/targets.h"
#undef TARGET

static const struct {
    const char *name;
    int (*run)(const uint8_t *data, size_t size);
} targets[] = {
#define TARGET(name) {#name, fuzz_##name},
#include "fuzz/targets.h"
#undef TARGET
};

enum { N_TARGETS = sizeof targets / sizeof *targets, BATCH = 1000, BIG_KB = 1 << 20 };

struct mutation {
    int (*run)(const uint8_t *data, size_t size);
    const uint8_t *bytes;
    size_t size;
    bool flips;          /* else cut off */
    size_t n;            /* mutations */
    volatile size_t *at; /* shared with the process that runs them */
};

static uint32_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* The bytes end where their block ends, so that reading past them is noticed. */
static void run_one(const struct mutation *self, size_t k)
{
    size_t size = self->flips ? self->size : k;
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        _exit(3);
    memcpy(copy, self->bytes, size);
    uint64_t state = k;
    for (uint32_t flip = 0, n = self->flips ? 1 + draw(&state) % 4 : 0; flip < n; flip++) {
        size_t bit = draw(&state) % (8 * size);
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    self->run(copy, size);
    free(copy);
}

static pid_t start_batch(const struct mutation *self, size_t first)
{
    size_t end = first + BATCH < self->n ? first + BATCH : self->n;
    pid_t process = fork();
    if (process)
        return process;
    for (size_t k = first; k < end; k++) {
        *self->at = k;
        alarm(SLOW_S);
        run_one(self, k);
    }
    alarm(0);
    exit(0); /* leaks are looked for at exit */
}

static void run_all(struct tally *tally, const struct mutation *self, const char *name)
{
    const char *kind = self->flips ? "flips" : "cut at";
    for (size_t first = 0; first < self->n;) {
        struct rusage usage;
        int status;
        pid_t process = start_batch(self, first);
        wait4(process, &status, 0, &usage);
        bool finished = WIFEXITED(status) && WEXITSTATUS(status) == 0,
             leaks = WIFEXITED(status) && WEXITSTATUS(status) == 23;
        size_t end = first + BATCH < self->n ? first + BATCH : self->n;
        if (usage.ru_maxrss > BIG_KB)
            tally->big++;
        if (!finished) {
            bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
            *(leaks ? &tally->leaks : hung ? &tally->hangs : &tally->crashes) += 1;
            tally->slow += hung;
            fprintf(stderr, "%s: %s %zu: status %#x\n", name, kind, *self->at, (unsigned)status);
            end = leaks ? end : *self->at + 1;
        }
        tally->tries += end - first;
        first = end;
    }
}

int main(int argc, char **argv)
{
    int target = 0;
    while (argc == 5 && target < N_TARGETS && strcmp(targets[target].name, argv[1]) != 0)
        target++;
    FILE *stream = argc == 5 && target < N_TARGETS ? fopen(argv[3], "rb") : NULL;
    if (!stream) {
        fprintf(stderr, "usage: mutate TARGET NAME FILE FLIPS\n");
        return 2;
    }
    static uint8_t bytes[1 << 20];
    size_t size = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    volatile size_t *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || !size)
        return 2;
    for (int flips = 0; flips < 2; flips++) {
        struct tally tally = {0};
        struct mutation mutation = {
            targets[target].run, bytes, size, flips, flips ? strtoul(argv[4], NULL, 10) : size, at};
        run_all(&tally, &mutation, argv[2]);
        tally_print(&tally, flips ? "flips" : "truncation", argv[2]);
    }
    return 0;
}
