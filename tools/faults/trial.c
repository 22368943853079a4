#include "trial.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEAK_STATUS 23 /* ASAN_OPTIONS and LSAN_OPTIONS of tools/check-faults */
#define BIG_KB      (1 << 20)

void tally_print(const struct tally *tally, const char *part, const char *name)
{
    printf("%s\t%s\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\n", part, name, tally->tries, tally->crashes, tally->hangs,
           tally->leaks, tally->partial, tally->slow, tally->big);
    fflush(stdout);
}

double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

pid_t command_start(const struct command *command, const char *name, const char *value, bool traced)
{
    pid_t process = fork();
    if (process)
        return process;
    const char *out = command->to_stdout ? "made" : "said.out";
    int output = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666),
        errors = open("said", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int input = open("/dev/null", O_RDONLY);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    close(input);
    close(output);
    close(errors);
    if (name)
        setenv(name, value, 1);
    const char *preload = getenv("FAULT_PRELOAD");
    if (preload)
        setenv("LD_PRELOAD", preload, 1);
    if (traced) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
    }
    execv(command->words[0], command->words);
    _exit(126);
}

struct outcome command_wait(pid_t process, double kill_after)
{
    struct outcome outcome = {0};
    struct rusage usage;
    double start = now_s(), limit = kill_after > 0 ? kill_after : HANG_S;
    bool killed = false;
    while (wait4(process, &outcome.status, WNOHANG, &usage) == 0) {
        if (!killed && now_s() - start >= limit) {
            kill(process, SIGKILL);
            killed = true;
        }
        nanosleep(&(struct timespec){.tv_nsec = kill_after > 0 ? 50000 : 500000}, NULL);
    }
    outcome.seconds = now_s() - start;
    outcome.peak_kb = usage.ru_maxrss;
    outcome.hung = killed && !(kill_after > 0);
    return outcome;
}

/* Files. */

static char *read_file(const char *path, size_t *size)
{
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return NULL;
    size_t capacity = 1 << 16;
    char *bytes = malloc(capacity);
    *size = 0;
    for (size_t n; bytes && (n = fread(bytes + *size, 1, capacity - *size - 1, stream)) > 0;) {
        *size += n;
        if (*size + 1 == capacity)
            bytes = realloc(bytes, capacity *= 2);
    }
    fclose(stream);
    if (bytes)
        bytes[*size] = 0;
    return bytes;
}

static bool same_file(const char *a, const char *b)
{
    size_t n = 0, m = 0;
    char *first = read_file(a, &n), *second = read_file(b, &m);
    bool same = first && second && n == m && memcmp(first, second, n) == 0;
    free(first);
    free(second);
    return same;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Whether everything below `folder` is below `other`, too, with the same bytes (is_there: as far as it is there at
 * all). */
static bool is_within(const char *folder, const char *other, bool bytes)
{
    if (!is_folder(folder))
        return bytes ? same_file(folder, other) : access(other, F_OK) == 0;
    DIR *stream = opendir(folder);
    bool whole = stream != NULL;
    for (struct dirent *entry; whole && (entry = readdir(stream));) {
        char a[4096], b[4096];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(a, sizeof a, "%s/%s", folder, entry->d_name);
        snprintf(b, sizeof b, "%s/%s", other, entry->d_name);
        whole = is_within(a, b, bytes);
    }
    if (stream)
        closedir(stream);
    return whole;
}

bool made_is_whole(const char *made, const char *reference, bool all)
{
    if (access(made, F_OK) != 0)
        return !all;
    return is_within(made, reference, true) && (!all || is_within(reference, made, false));
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    return remove(path);
}

void clear_output(void)
{
    nftw("made", remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int n_temporaries;

static int find_temporary(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind;
    size_t n = strlen(path);
    n_temporaries += n > 4 && path[place->base] == '.' && strcmp(path + n - 4, ".tmp") == 0;
    if (n > 4 && path[place->base] == '.' && strcmp(path + n - 4, ".tmp") == 0)
        remove(path); /* the next try begins without */
    return 0;
}

static bool leaves_temporaries(void)
{
    n_temporaries = 0;
    nftw(".", find_temporary, 16, FTW_PHYS);
    return n_temporaries > 0;
}

/* Verdicts. */

static bool is_documented(int code)
{
    static const int codes[] = {0, 64, 65, 66, 70, 71, 73, 74, 75, 130, 143};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (code == codes[i])
            return true;
    return false;
}

static void report(const char *what, const char *fault, const struct outcome *outcome)
{
    size_t size = 0;
    char *said = read_file("said", &size);
    fprintf(stderr, "%s: %s (status %#x, %.1f s): %.300s\n", what, fault, (unsigned)outcome->status, outcome->seconds,
            said ? said : "");
    free(said);
}

void judge(struct tally *tally, const struct command *command, const struct outcome *outcome, const char *fault,
           bool excused)
{
    int code = WIFEXITED(outcome->status) ? WEXITSTATUS(outcome->status) : -1;
    size_t size = 0;
    char *said = read_file("said", &size);
    bool by_loader = code == 127 && said && strstr(said, "while loading shared libraries");
    bool leaks = code == LEAK_STATUS && said && strstr(said, "LeakSanitizer");
    free(said);
    tally->tries++;
    if (outcome->hung) {
        tally->hangs++;
        report("hang", fault, outcome);
    } else if (leaks) {
        tally->leaks++;
        report("leak", fault, outcome);
    } else if (!is_documented(code) && !by_loader) {
        tally->crashes++;
        report("crash", fault, outcome);
    }
    if (outcome->seconds > SLOW_S) {
        tally->slow++;
        report("slow", fault, outcome);
    }
    if (outcome->peak_kb > BIG_KB) {
        tally->big++;
        report("big", fault, outcome);
    }
    bool whole = code == 0 ? made_is_whole("made", "reference", true)
                           : command->to_stdout || made_is_whole("made", "reference", false);
    bool clean = !leaves_temporaries();
    if (!excused && (!whole || !clean)) {
        tally->partial++;
        report(!clean ? "temporary" : code ? "partial" : "different", fault, outcome);
    }
    clear_output();
}
