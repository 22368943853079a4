#include "support/support.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void skip(const char *name, const char *why)
{
    fprintf(stderr, "skipped: %s: %s\n", name, why);
}

const char *formatted(const char *format, ...)
{
    static char ring[32][4096];
    static unsigned next;
    char *slot = ring[next++ % (sizeof ring / sizeof *ring)];
    va_list args;
    va_start(args, format);
    vsnprintf(slot, sizeof ring[0], format, args);
    va_end(args);
    return slot;
}

const char *real_data(const char *test_name, const char *relative)
{
    const char *root = getenv("CLEAVE_DATA");
    const char *path = formatted("%s/%s", root ? root : "../shared/data", relative);
    char whole[PATH_MAX]; /* commands run in a folder of their own */
    if (realpath(path, whole))
        return formatted("%s", whole);
    skip(test_name, formatted("%s is absent", path));
    return NULL;
}

/* The process's own folder, and in it the one of the suite that runs. */
static char own_folder[256], temporary[300];
static pid_t temporary_owner;
static int n_suites;

static void remove_temporary(void)
{
    if (own_folder[0] && getpid() == temporary_owner && system(formatted("rm -rf '%s'", own_folder)) != 0)
        fprintf(stderr, "cannot remove %s\n", own_folder);
}

const char *temporary_folder(void)
{
    if (temporary_owner != getpid()) {
        const char *top = getenv("TMPDIR");
        snprintf(own_folder, sizeof own_folder, "%s/cleave-test-XXXXXX", top && *top ? top : "/tmp");
        ck_assert(mkdtemp(own_folder) != NULL && chmod(own_folder, 0711) == 0);
        temporary_owner = getpid();
        atexit(remove_temporary);
        temporary[0] = 0;
    }
    if (!temporary[0]) {
        snprintf(temporary, sizeof temporary, "%s/%d", own_folder, n_suites);
        ck_assert(mkdir(temporary, 0700) == 0);
    }
    return temporary;
}

const char *here(const char *format, ...)
{
    char name[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    return formatted("%s/%s", temporary_folder(), name);
}

void begin_suite(void)
{
    n_suites++;
    temporary[0] = 0;
}

/* What commands name by variables; the program that is tested comes first in PATH. */
static void set_variables(void)
{
    char build[PATH_MAX], root[PATH_MAX];
    const char *folder = getenv("CLEAVE_BUILD");
    ck_assert(realpath(folder ? folder : "build", build) != NULL && getcwd(root, sizeof root) != NULL);
    const char *path = getenv("PATH");
    if (strncmp(path, build, strlen(build)) != 0)
        setenv("PATH", formatted("%s:%s", build, path), 1);
    setenv("BUILD", build, 1);
    setenv("CLEAVE", formatted("%s/cleave", build), 1);
    setenv("SIMULATE", formatted("%s/reproduce/simulate", build), 1);
    setenv("SYNTH", formatted("%s/synth", build), 1);
    setenv("CLEAVE_FAULTS", formatted("%s/cleave-faults", build), 1);
    setenv("ROOT", root, 1);
    setenv("HERE", temporary_folder(), 1);
}

int run_command(char **output, const char *format, ...)
{
    char command[16384];
    set_variables();
    va_list args;
    va_start(args, format);
    int used = vsnprintf(command, sizeof command, format, args);
    va_end(args);
    ck_assert(used > 0 && (size_t)used < sizeof command - 16);
    const char *wrapped = formatted("{ %s\n} 2>&1 </dev/null", command);
    FILE *pipe = popen(wrapped, "r");
    ck_assert(pipe != NULL);

    size_t size = 0, capacity = 4096;
    char *text = malloc(capacity);
    for (size_t n; (n = fread(text + size, 1, capacity - size - 1, pipe)) > 0;) {
        size += n;
        if (size + 1 == capacity)
            text = realloc(text, capacity *= 2);
    }
    text[size] = 0;
    if (output)
        *output = text;
    else
        free(text);
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Runs it in the temporary folder; `command` receives what that was. */
static int run_in_folder(char command[16384], char **output, const char *format, va_list args)
{
    int used = vsnprintf(command, 16384, format, args);
    ck_assert(used > 0 && used < 16384);
    return run_command(output, "cd '%s'\n%s", temporary_folder(), command);
}

/* What a command printed that must succeed. */
static char *printed_by(const char *format, va_list args)
{
    char command[16384], *output;
    int got = run_in_folder(command, &output, format, args);
    ck_assert_msg(got == 0, "%s\nexits with %d: %s", command, got, output);
    return output;
}

char *expect_success(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *output = printed_by(format, args);
    va_end(args);
    return output;
}

void run_here(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    free(printed_by(format, args));
    va_end(args);
}

void must_say(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "does not say \"%s\": %s", part, text);
}

void expect_output(const char *part, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *output = printed_by(format, args);
    va_end(args);
    EXPECT_PARTS(output, part);
}

void expect_parts(char *text, const char *const *parts)
{
    for (; *parts; parts++)
        must_say(text, *parts);
    free(text);
}

void expect_in_file(const char *path, const char *part)
{
    EXPECT_PARTS(slurp(path, NULL), part);
}

void expect_error(int code, const char *part, const char *format, ...)
{
    char command[16384];
    OWNED_ARRAY char *output = NULL;
    va_list args;
    va_start(args, format);
    int got = run_in_folder(command, &output, format, args);
    va_end(args);
    ck_assert_msg(got == code, "%s\nexits with %d, not %d: %s", command, got, code, output);
    char *found = strstr(output, part);
    ck_assert_msg(found != NULL, "%s\ndoes not say \"%s\": %s", command, part, output);
    while (found > output && found[-1] != '\n')
        found--;
    ck_assert_msg(strncmp(found, "cleave", 6) == 0, "%s\nsays it on no line of its own: %s", command, output);
}

void expect_refusals(const struct refusal *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        expect_error(rows[i].code, rows[i].part, "cleave %s", rows[i].arguments);
}

char *slurp(const char *path, size_t *size)
{
    FILE *stream = fopen(path, "rb");
    ck_assert_msg(stream != NULL, "cannot open %s", path);
    ck_assert(fseek(stream, 0, SEEK_END) == 0);
    long length = ftell(stream);
    rewind(stream);
    char *bytes = malloc((size_t)length + 1);
    ck_assert(fread(bytes, 1, (size_t)length, stream) == (size_t)length);
    bytes[length] = 0;
    fclose(stream);
    if (size)
        *size = (size_t)length;
    return bytes;
}

void spill(const char *path, const void *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");
    ck_assert_msg(stream != NULL, "cannot create %s", path);
    ck_assert(size == 0 || fwrite(bytes, 1, size, stream) == size);
    ck_assert(fclose(stream) == 0);
}

/* Whoever changes owner cannot be looked at by a leak checker, which comes as the process ends. */
static void be_root_again(void)
{
    if (seteuid(0) == 0)
        (void)prctl(PR_SET_DUMPABLE, 1);
}

void forbid_folder(const char *path)
{
    enum { NOBODY = 65534 };
    ck_assert_int_eq(mkdir(path, 0), 0);
    ck_assert_int_eq(chmod(temporary_folder(), 0755), 0);
    if (geteuid() == 0) {
        atexit(be_root_again);
        ck_assert_int_eq(seteuid(NOBODY), 0);
    }
}

void leave_memory(double bytes)
{
    struct rlimit limit;
    size_t pages = 0;
    FILE *stream = fopen("/proc/self/statm", "r");
    ck_assert(stream && fscanf(stream, "%zu", &pages) == 1 && fclose(stream) == 0);
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = (rlim_t)((double)pages * (double)sysconf(_SC_PAGESIZE) + bytes);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
}
