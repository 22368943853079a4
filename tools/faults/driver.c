/* Runs a command again and again, each time with another fault; tools/check-faults says which.
 *
 *     driver requests|mallocs|calls|kills NAME file|stdout [-- RESUME ARGS --] COMMAND ARGS..
 *
 * in a folder of its own, where "reference" receives what the command makes without faults. requests: CLV_FAIL_ALLOC of
 * cleave-faults; mallocs: by the library that FAULT_PRELOAD names, malloc.c; calls: system calls; kills: SIGKILL at
 * FAULT_KILLS (200) random times, after each of which `COMMAND RESUME ARGS` must make what the command makes. Prints a
 * line of counts. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject.h"

static void stop(const char *what)
{
    fprintf(stderr, "driver: %s\n", what);
    exit(2);
}

/* Makes "reference"; returns the seconds it took. */
static double make_reference(const struct command *command, const char *name, const char *value)
{
    clear_output();
    struct outcome outcome = command_wait(command_start(command, name, value, false), 0);
    if (outcome.status != 0) {
        if (system("cat said >&2") != 0)
            stop("no messages");
        stop("the command fails without any fault");
    }
    if (system("rm -rf reference && mv made reference") != 0)
        stop("the command makes nothing");
    return outcome.seconds;
}

static size_t read_count(void)
{
    FILE *stream = fopen("count", "r");
    size_t n = 0;
    if (!stream || fscanf(stream, "%zu", &n) != 1)
        stop("nothing was counted");
    fclose(stream);
    return n;
}

/* Request after request. */
static void fail_requests(struct tally *tally, const struct command *command, const char *count_name,
                          const char *fail_name)
{
    char value[32], fault[64];
    make_reference(command, count_name, "count");
    size_t n = read_count();
    for (size_t request = 1; request <= n; request++) {
        snprintf(value, sizeof value, "%zu", request);
        snprintf(fault, sizeof fault, "request %zu of %zu", request, n);
        struct outcome outcome = command_wait(command_start(command, fail_name, value, false), 0);
        judge(tally, command, &outcome, fault, false);
    }
}

static void fail_calls(struct tally *tally, const struct command *command)
{
    size_t n;
    char name[96];
    make_reference(command, NULL, NULL);
    long *calls = list_calls(&n, command);
    clear_output();
    for (size_t at = 0; at < n; at++) {
        const struct call_fault *fault;
        for (size_t i = 0; (fault = call_fault_at(i)); i++) {
            if (fault->call != calls[at])
                continue;
            struct outcome outcome = run_with_fault(command, at, fault);
            snprintf(name, sizeof name, "call %zu of %zu: %s", at, n, fault->name);
            judge(tally, command, &outcome, name, fault->excused);
        }
    }
    free(calls);
}

static void kill_often(struct tally *tally, const struct command *command, const struct command *again)
{
    const char *wanted = getenv("FAULT_KILLS");
    size_t n = wanted ? strtoul(wanted, NULL, 10) : 200;
    char fault[96];
    double seconds = make_reference(command, NULL, NULL);
    unsigned state = 1;
    for (size_t k = 0; k < n; k++) {
        double after = seconds * rand_r(&state) / RAND_MAX + 1e-4;
        struct outcome outcome = command_wait(command_start(command, NULL, NULL, false), after);
        snprintf(fault, sizeof fault, "killed after %.4f of %.4f s", after, seconds);
        if (WIFSIGNALED(outcome.status) && WTERMSIG(outcome.status) != SIGKILL)
            tally->crashes++;
        if (!made_is_whole("made", "reference", false)) {
            tally->partial++;
            fprintf(stderr, "partial: %s\n", fault);
        }
        outcome = command_wait(command_start(again, NULL, NULL, false), 0);
        if (outcome.status != 0) {
            tally->crashes++;
            fprintf(stderr, "does not go on: %s (status %#x)\n", fault, (unsigned)outcome.status);
            if (system("cat said >&2") != 0)
                stop("no messages");
        }
        judge(tally, again, &outcome, fault, false);
        if (system("rm -f made.checkpoint") != 0)
            stop("cannot remove the checkpoint");
    }
}

/* COMMAND with RESUME behind it. */
static struct command with_more(const struct command *command, char **more, size_t n_more)
{
    size_t n = 0;
    while (command->words[n])
        n++;
    char **words = calloc(n + n_more + 1, sizeof *words);
    if (!words)
        stop("out of memory");
    memcpy(words, command->words, n * sizeof *words);
    memcpy(words + n, more, n_more * sizeof *words);
    return (struct command){words, command->to_stdout};
}

int main(int argc, char **argv)
{
    if (argc < 5)
        stop("usage: driver PART NAME file|stdout [-- RESUME ARGS --] COMMAND ARGS..");
    const char *part = argv[1];
    char **words = argv + 4, **more = words;
    size_t n_more = 0;
    if (strcmp(*words, "--") == 0) {
        more = words + 1;
        while (more[n_more] && strcmp(more[n_more], "--") != 0)
            n_more++;
        if (!more[n_more])
            stop("no second --");
        words = more + n_more + 1;
    }
    struct command command = {words, strcmp(argv[3], "stdout") == 0};
    struct tally tally = {0};
    if (strcmp(part, "requests") == 0) {
        fail_requests(&tally, &command, "CLV_COUNT_ALLOCS", "CLV_FAIL_ALLOC");
    } else if (strcmp(part, "mallocs") == 0) {
        fail_requests(&tally, &command, "FAULT_MALLOC_COUNT", "FAULT_MALLOC");
    } else if (strcmp(part, "calls") == 0) {
        fail_calls(&tally, &command);
    } else if (strcmp(part, "kills") == 0) {
        struct command again = with_more(&command, more, n_more);
        kill_often(&tally, &command, &again);
        free(again.words);
    } else {
        stop("no such part");
    }
    tally_print(&tally, part, argv[2]);
    return 0;
}
