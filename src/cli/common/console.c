/* Prints messages and a progress line on standard error, or events as lines of JSON. A filter shows control characters
 * as escapes. One lock guards the state, so that any thread may print. Start at message and show_progress. */
#include "cli/common/common.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/base.h"

#define FIRST_SHOWN_S 1.0
#define SHOWN_EVERY_S 0.1
#define HEARTBEAT_S   60 /* between progress lines without a terminal */

static struct {
    pthread_mutex_t lock;
    FILE *raw; /* standard error without the filter, for colours and cursor movements */
    bool terminal, colour, quiet;
    enum console_progress_form form;
    bool has_line; /* the progress line is on the terminal */
    char what[64]; /* the current stage */
    double started_s, shown_s, heartbeat_s;
    double line_s;                            /* time of the last progress line or the first report; 0: none */
    double work_done, work_total, work_first; /* console_weigh; work_first: work_done at the stage's first report */
    size_t first;                             /* units done at the stage's first report; not 0 if it was resumed */
} console = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Writes all bytes to a descriptor. */
static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno != EINTR)
            return false;
        bytes += n < 0 ? 0 : n;
        size -= n < 0 ? 0 : (size_t)n;
    }
    return true;
}

/* The state of a filter. 0xc2, which may begin a control character in UTF-8, is kept until the next byte. */
struct filter {
    int fd;
    bool is_kept;
};

/* Control characters are those below 32, 127, and in UTF-8 c2 80 to c2 9f. */
static ssize_t write_visible(void *cookie, const char *bytes, size_t size)
{
    struct filter *filter = cookie;
    char out[4096];
    size_t used = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        bool control = (c < ' ' && c != '\n' && c != '\t') || c == 127;
        if (filter->is_kept) {
            filter->is_kept = false;
            control = control || (c >= 0x80 && c <= 0x9f);
            if (!(c >= 0x80 && c <= 0x9f))
                out[used++] = (char)0xc2;
        }
        if (c == 0xc2)
            filter->is_kept = true;
        else if (control)
            used += (size_t)snprintf(out + used, sizeof out - used, "\\x%02x", c);
        else
            out[used++] = (char)c;
        if (used > sizeof out - 8 || i + 1 == size) {
            if (!write_all(filter->fd, out, used))
                return 0;
            used = 0;
        }
    }
    return (ssize_t)size;
}

static int close_filter(void *cookie)
{
    return close(((struct filter *)cookie)->fd);
}

static FILE *filtered(FILE *raw, struct filter *filter)
{
    FILE *stream = fopencookie(filter, "w", (cookie_io_functions_t){.write = write_visible, .close = close_filter});
    return stream ? stream : raw;
}

void console_init(void)
{
    static struct filter output = {.fd = STDOUT_FILENO}, errors = {.fd = STDERR_FILENO};
    console.raw = stderr;
    stdout = filtered(stdout, &output);
    stderr = filtered(stderr, &errors);
    setvbuf(stdout, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    console.terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    console.colour = console.terminal && !(no_color && *no_color);
    const char *heartbeat = getenv("CLEAVE_HEARTBEAT");
    if (!heartbeat || !parse_double(heartbeat, &console.heartbeat_s))
        console.heartbeat_s = HEARTBEAT_S;
}

void console_set_quiet(bool quiet)
{
    console.quiet = quiet;
}

void console_set_progress(enum console_progress_form form)
{
    console.form = form;
}

void console_silence(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0)
        return;
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
    console.terminal = console.colour = false;
}

bool console_is_quiet(void)
{
    return console.quiet;
}

static void wipe(void)
{
    if (console.has_line)
        fputs("\r\033[K", console.raw);
    console.has_line = false;
}

/* Ends a line of --progress json that begin_event began, writes it and releases the text. */
static void put_event(struct text *line)
{
    text_put(line, "}\n");
    if (!line->failed)
        fputs(line->bytes, console.raw);
    fflush(console.raw);
    text_release(line);
}

static struct text begin_event(const char *event, const char *key, const char *value)
{
    struct text line;
    text_init(&line, 1 << 14);
    text_printf(&line, "{\"event\":\"%s\",\"%s\":", event, key);
    text_put_json(&line, value);
    return line;
}

/* Prints a message or its event. exit_code 0: the command continues. */
static void message(const char *severity, int exit_code, const char *colour, const char *format, va_list args)
{
    char line[CLV_ERROR_MESSAGE_MAX + 256];
    vsnprintf(line, sizeof line, format, args);
    text_hide_controls(line);
    pthread_mutex_lock(&console.lock);
    wipe();
    if (console.form == CONSOLE_JSON) {
        struct text json = begin_event(severity, "text", line);
        if (exit_code)
            text_printf(&json, ",\"status\":%d", exit_code);
        put_event(&json);
    } else if (console.colour)
        fprintf(console.raw, "%scleave: %s:\033[0m %s\n", colour, severity, line);
    else
        fprintf(console.raw, "cleave: %s: %s\n", severity, line);
    pthread_mutex_unlock(&console.lock);
}

#define BOLD   "\033[1m"
#define YELLOW "\033[1;33m"
#define RED    "\033[1;31m"

void console_note(const char *format, ...)
{
    if (console.quiet)
        return;
    va_list args;
    va_start(args, format);
    message("note", 0, BOLD, format, args);
    va_end(args);
}

void console_warning(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message("warning", 0, YELLOW, format, args);
    va_end(args);
}

void console_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message("error", 0, RED, format, args);
    va_end(args);
}

void console_failure(int exit_code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message("error", exit_code, RED, format, args);
    va_end(args);
}

void console_clear(void)
{
    pthread_mutex_lock(&console.lock);
    wipe();
    fflush(console.raw);
    pthread_mutex_unlock(&console.lock);
}

static void format_duration(char *text, size_t size, double seconds)
{
    long s = int32_within(seconds + 0.5, 0, 359999);
    if (s >= 3600)
        snprintf(text, size, "%ld h %02ld min", s / 3600, s / 60 % 60);
    else if (s >= 60)
        snprintf(text, size, "%ld min %02ld s", s / 60, s % 60);
    else
        snprintf(text, size, "%ld s", s);
}

void console_weigh(double done, double total)
{
    pthread_mutex_lock(&console.lock);
    console.work_done = done;
    console.work_total = total;
    pthread_mutex_unlock(&console.lock);
}

/* Returns the estimated time left, NAN: not known. */
static double seconds_left(size_t done, size_t total, double elapsed_s)
{
    double worked = console.work_done - console.work_first;
    if (console.work_total > 0)
        return elapsed_s > 0 && worked > 0 && done < total
                   ? elapsed_s * (console.work_total - console.work_done) / worked
                   : NAN;
    bool is_known = elapsed_s > 0 && total && done > console.first && done < total;
    return is_known ? elapsed_s * (double)(total - done) / (double)(done - console.first) : NAN;
}

static void format_progress(char line[256], size_t done, size_t total, const char *note, double left_s)
{
    char left[32];
    int used = snprintf(line, 256, "%s %zu", console.what, done);
    if (total)
        used += snprintf(line + used, 256 - (size_t)used, "/%zu", total);
    if (!isnan(left_s)) {
        format_duration(left, sizeof left, left_s);
        used += snprintf(line + used, 256 - (size_t)used, ", %s left", left);
    }
    if (note)
        snprintf(line + used, 256 - (size_t)used, ", %s", note);
    text_hide_controls(line);
}

static void print_progress(size_t done, size_t total, const char *note, double left_s)
{
    char line[256];
    format_progress(line, done, total, note, left_s);
    fprintf(console.raw, "cleave: %s\n", line);
}

static void draw(size_t done, size_t total, const char *note, double left_s)
{
    char line[256];
    format_progress(line, done, total, note, left_s);
    struct winsize window;
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 ? window.ws_col : 80;
    fprintf(console.raw, "\r%.*s\033[K", columns - 1, line);
    fflush(console.raw);
    console.has_line = true;
}

static void put_progress(size_t done, size_t total, const char *note, double left_s)
{
    struct text line = begin_event("progress", "stage", console.what);
    text_printf(&line, ",\"done\":%zu,\"total\":%zu", done, total);
    json_put_number(&line, "left_s", left_s);
    if (note) {
        json_put_string(&line, "note", note);
    }
    put_event(&line);
}

static void show_progress(void *context, const char *what, size_t done, size_t total, const char *note)
{
    (void)context;
    bool is_json = console.form == CONSOLE_JSON, is_drawn = !is_json && console.terminal;
    if (console.quiet || console.form == CONSOLE_NONE)
        return;
    pthread_mutex_lock(&console.lock);
    double now = seconds_now();
    if (strncmp(console.what, what, sizeof console.what - 1) != 0) {
        wipe();
        snprintf(console.what, sizeof console.what, "%s", what);
        console.started_s = now;
        console.work_first = console.work_done;
        console.first = done > 1 ? done : 0; /* the first report of a stage from its beginning has one unit done */
        console.shown_s = 0;
    }
    console.line_s = console.line_s ? console.line_s : now;
    bool is_last = total && done >= total, is_due = now - console.shown_s >= SHOWN_EVERY_S;
    double left_s = seconds_left(done, total, now - console.started_s);
    if (is_last && !is_json)
        wipe();
    else if (is_json    ? is_last || is_due
             : is_drawn ? is_due && now - console.started_s >= FIRST_SHOWN_S
                        : now - console.line_s >= console.heartbeat_s) {
        (is_json ? put_progress : is_drawn ? draw : print_progress)(done, total, note, left_s);
        console.shown_s = console.line_s = now;
    }
    pthread_mutex_unlock(&console.lock);
}

/* Prints a message by its kind; the summary is printed to its stream, or is an event. */
static void show_message(void *context, enum clv_message kind, const char *text)
{
    FILE *summary = context;
    if (kind == CLV_NOTE)
        console_note("%s", text);
    else if (kind == CLV_WARNING)
        console_warning("%s", text);
    else if (kind == CLV_COMPLAINT)
        console_error("%s", text);
    else if (console.form == CONSOLE_JSON && !console.quiet) {
        pthread_mutex_lock(&console.lock);
        struct text line = begin_event("summary", "text", text);
        put_event(&line);
        pthread_mutex_unlock(&console.lock);
    } else if (summary && !console.quiet) {
        console_clear();
        fprintf(summary, "%s\n", text);
        fflush(summary);
    }
}

static void show_pixels(__attribute__((unused)) void *context, double done, double total)
{
    console_weigh(done, total);
}

struct clv_progress console_progress(FILE *summary)
{
    return (struct clv_progress){.report = show_progress,
                                 .context = summary,
                                 .stop = signals_stop(),
                                 .notify = show_message,
                                 .weigh = show_pixels};
}

enum clv_status console_output(struct text *text, struct clv_error *err)
{
    OWNED(text_release) struct text owned = TAKE(*text);
    NEED(!owned.failed);
    fwrite(owned.bytes, 1, owned.size, stdout);
    return CLV_OK;
}
