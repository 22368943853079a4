/* Where a check failed: the test's line, though a helper did the checking. */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/support.h"

#undef _ck_assert_failed

enum { MAX_FRAMES = 24, MAX_PATH = 512 };

struct line {
    char file[MAX_PATH];
    int number;
};

/* A line of addr2line as a line of tests/, if it is one. */
static bool parse_line(struct line *line, const char *text)
{
    const char *file = strstr(text, "/tests/"), *colon = strrchr(text, ':');
    if (!file || !colon || colon < file)
        return false;
    snprintf(line->file, sizeof line->file, "%.*s", (int)(colon - file - 1), file + 1);
    line->number = (int)strtol(colon + 1, NULL, 10);
    return line->number > 0;
}

/* The lines from which failed_at() was called, innermost first: those of tests/ in a row. Without debug information
 * none. The lines of this file itself are skipped by their name: how many frames it has depends on what was inlined.
 * */
static int call_lines(struct line *lines, int capacity)
{
    void *frames[MAX_FRAMES];
    char command[MAX_FRAMES * 20 + 64], text[MAX_PATH + 64];
    Dl_info self, other;
    bool inside = false; /* below are a sanitizer's own frames */
    int n = 0, n_frames = backtrace(frames, MAX_FRAMES);
    if (!dladdr((void *)(uintptr_t)call_lines, &self))
        return 0;
    int used = snprintf(command, sizeof command, "addr2line -i -e /proc/%d/exe", (int)getpid());
    for (int i = 0; i < n_frames; i++) /* the call is before the address of return */
        if (dladdr(frames[i], &other) && other.dli_fbase == self.dli_fbase)
            used += snprintf(command + used, sizeof command - (size_t)used, " %#tx",
                             (char *)frames[i] - 1 - (char *)self.dli_fbase);
    snprintf(command + used, sizeof command - (size_t)used, " 2>/dev/null");
    FILE *pipe = popen(command, "r");
    while (pipe && n < capacity && fgets(text, sizeof text, pipe)) {
        if (strstr(text, "tests/support/failure.c"))
            inside = true;
        else if (inside && !parse_line(&lines[n], text))
            break;
        else
            n += inside;
    }
    if (pipe)
        pclose(pipe);
    return n;
}

void failed_at(const char *file, int line, const char *expression, const char *format, ...)
{
    struct line lines[MAX_FRAMES];
    char message[8192], way[2048] = "";
    va_list args;
    va_start(args, format);
    if (format)
        vsnprintf(message, sizeof message, format, args);
    else
        snprintf(message, sizeof message, "%s", expression);
    va_end(args);
    int n = call_lines(lines, MAX_FRAMES);
    if (n < 2)
        _ck_assert_failed(file, line, expression, "%s", message);
    for (int i = 1; i < n - 1; i++)
        snprintf(way + strlen(way), sizeof way - strlen(way), ", called at %s:%d", lines[i].file, lines[i].number);
    _ck_assert_failed(lines[n - 1].file, lines[n - 1].number, expression, "%s (checked at %s:%d%s)", message, file,
                      line, way);
}
