#include "support/browser.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/support.h"

#define PATIENCE_S 90

struct browser {
    pid_t process;
    int to, from;
    char *buffer; /* received, not yet a whole message */
    size_t size, capacity;
    int last_id;
    char session[128], page[4096];
    char value[1 << 16], problems[1 << 14];
    int loaded;
};

static pid_t running; /* for the exit handler: a failing test must not leave a browser behind */

static void stop_running(void)
{
    if (running > 0) {
        kill(-running, SIGKILL); /* with its helpers, which would write into the profile as it is removed */
        waitpid(running, NULL, 0);
    }
    running = 0;
}

static const char *find_chromium(void)
{
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (system(formatted("command -v %s >/dev/null 2>&1", names[i])) == 0)
            return names[i];
    return NULL;
}

static void run_chromium(const char *name, const int input[2], const int output[2], const char *profile)
{
    setpgid(0, 0);
    /* 3 and 4 are where the browser expects its pipe; copies high up first, so that none is overwritten. */
    int in = dup(input[0]), out = dup(output[1]);
    int high_in = dup2(in, 100), high_out = dup2(out, 101);
    dup2(high_in, 3);
    dup2(high_out, 4);
    for (int fd = 5; fd <= 101; fd++)
        close(fd);
    setenv("HOME", profile, 1);
    if (!freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
        _exit(126);
    /* The sandbox wants privileges that containers lack; the only page opened is our own. */
    execlp(name, name, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic",
           "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
           "--window-size=1280,900", formatted("--user-data-dir=%s", profile), "--remote-debugging-pipe", "about:blank",
           (char *)NULL);
    _exit(127);
}

static void note_problem(struct browser *browser, const char *kind, const char *text)
{
    size_t used = strlen(browser->problems);
    if (used + 1 < sizeof browser->problems)
        snprintf(browser->problems + used, sizeof browser->problems - used, "%s: %s\n", kind, text ? text : "?");
}

static const char *string_at(const json_t *object, const char *outer, const char *inner)
{
    const json_t *found = json_object_get(object, outer);
    return json_string_value(inner ? json_object_get(found, inner) : found);
}

static void on_event(struct browser *browser, const char *method, const json_t *params)
{
    if (strcmp(method, "Page.loadEventFired") == 0) {
        browser->loaded = 1;
    } else if (strcmp(method, "Runtime.exceptionThrown") == 0) {
        note_problem(browser, "exception",
                     json_string_value(json_object_get(
                         json_object_get(json_object_get(params, "exceptionDetails"), "exception"), "description")));
    } else if (strcmp(method, "Runtime.consoleAPICalled") == 0) {
        note_problem(browser, "console", string_at(params, "type", NULL));
    } else if (strcmp(method, "Log.entryAdded") == 0) {
        note_problem(browser, "log", string_at(params, "entry", "text"));
    } else if (strcmp(method, "Network.requestWillBeSent") == 0) {
        const char *url = string_at(params, "request", "url");
        size_t folder = (size_t)(strrchr(browser->page, '/') + 1 - browser->page);
        if (!url || (strncmp(url, "data:", 5) != 0 && strncmp(url, browser->page, folder) != 0))
            note_problem(browser, "request", url);
    }
}

/* The next message, or a failed test after PATIENCE_S. */
static json_t *receive(struct browser *browser)
{
    time_t end = time(NULL) + PATIENCE_S;
    for (;;) {
        char *zero = browser->size ? memchr(browser->buffer, 0, browser->size) : NULL;
        if (zero) {
            size_t length = (size_t)(zero - browser->buffer);
            json_t *message = json_loadb(browser->buffer, length, 0, NULL);
            browser->size -= length + 1;
            memmove(browser->buffer, zero + 1, browser->size);
            ck_assert_msg(message != NULL, "the browser sent no JSON");
            return message;
        }
        struct pollfd ready = {browser->from, POLLIN, 0};
        ck_assert_msg(time(NULL) < end && poll(&ready, 1, 1000) >= 0, "the browser does not answer");
        if (!ready.revents)
            continue;
        if (browser->capacity - browser->size < 65536)
            browser->buffer = realloc(browser->buffer, browser->capacity += 1 << 20);
        ssize_t n = read(browser->from, browser->buffer + browser->size, 65536);
        ck_assert_msg(n > 0, "the browser has gone");
        browser->size += (size_t)n;
    }
}

/* Sends a command (params is stolen) and returns its result; events on the way are noted. */
static json_t *call(struct browser *browser, const char *method, json_t *params)
{
    int id = ++browser->last_id;
    json_t *command = json_pack("{s:i, s:s, s:o}", "id", id, "method", method, "params", params);
    if (browser->session[0])
        json_object_set_new(command, "sessionId", json_string(browser->session));
    OWNED_ARRAY char *bytes = json_dumps(command, JSON_COMPACT);
    json_decref(command);
    size_t size = strlen(bytes) + 1;
    ck_assert(write(browser->to, bytes, size) == (ssize_t)size);
    for (;;) {
        json_t *message = receive(browser);
        const json_t *event = json_object_get(message, "method");
        if (event) {
            on_event(browser, json_string_value(event), json_object_get(message, "params"));
        } else if (json_integer_value(json_object_get(message, "id")) == id) {
            json_t *result = json_incref(json_object_get(message, "result"));
            ck_assert_msg(result != NULL, "%s: %s", method, string_at(message, "error", "message"));
            json_decref(message);
            return result;
        }
        json_decref(message);
    }
}

static void command(struct browser *browser, const char *method, json_t *params)
{
    json_decref(call(browser, method, params));
}

struct browser *browser_open(const char *test_name, const char *path)
{
    const char *name = find_chromium();
    if (!name) {
        skip(test_name, "Chromium is absent");
        return NULL;
    }
    int input[2], output[2];
    ck_assert(pipe(input) == 0 && pipe(output) == 0);
    const char *profile = formatted("%s/chromium-%s", temporary_folder(), test_name);
    OWNED_ARRAY char *real = realpath(path, NULL);
    ck_assert_msg(real != NULL, "%s is missing", path);
    struct browser *browser = calloc(1, sizeof *browser);
    snprintf(browser->page, sizeof browser->page, "file://%s", real);

    signal(SIGPIPE, SIG_IGN);
    running = browser->process = fork();
    ck_assert(running >= 0);
    if (running == 0)
        run_chromium(name, input, output, profile);
    setpgid(running, running); /* here too: whichever comes first */
    atexit(stop_running);
    close(input[0]);
    close(output[1]);
    browser->to = input[1];
    browser->from = output[0];

    json_t *target = call(browser, "Target.createTarget", json_pack("{s:s}", "url", "about:blank"));
    json_t *attached = call(browser, "Target.attachToTarget",
                            json_pack("{s:s, s:b}", "targetId", string_at(target, "targetId", NULL), "flatten", 1));
    snprintf(browser->session, sizeof browser->session, "%s", string_at(attached, "sessionId", NULL));
    json_decref(target);
    json_decref(attached);
    static const char *const domains[] = {"Page.enable", "Runtime.enable", "Log.enable", "Network.enable"};
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
        command(browser, domains[i], json_object());
    command(browser, "Page.navigate", json_pack("{s:s}", "url", browser->page));
    while (!browser->loaded) {
        json_t *message = receive(browser);
        const json_t *event = json_object_get(message, "method");
        if (event)
            on_event(browser, json_string_value(event), json_object_get(message, "params"));
        json_decref(message);
    }
    return browser;
}

const char *browser_evaluate(struct browser *browser, const char *expression)
{
    json_t *result =
        call(browser, "Runtime.evaluate",
             json_pack("{s:o, s:b, s:b}", "expression", json_sprintf("(async () => String(await (%s)))()", expression),
                       "awaitPromise", 1, "returnByValue", 1));
    ck_assert_msg(!json_object_get(result, "exceptionDetails"), "%s: %s", expression,
                  json_string_value(json_object_get(json_object_get(result, "result"), "description")));
    snprintf(browser->value, sizeof browser->value, "%s", string_at(result, "result", "value"));
    json_decref(result);
    return browser->value;
}

void browser_press(struct browser *browser, const char *key)
{
    static const struct {
        const char *name;
        int code;
        const char *text;
    } named[] = {{"Enter", 13, "\r"},   {"Escape", 27, ""},  {"Home", 36, ""},       {"End", 35, ""},
                 {"ArrowLeft", 37, ""}, {"ArrowUp", 38, ""}, {"ArrowRight", 39, ""}, {"ArrowDown", 40, ""}};
    const char *text = key;
    int code = key[0] >= 'a' && key[0] <= 'z' ? key[0] - 'a' + 'A' : key[0];
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(key, named[i].name) == 0) {
            text = named[i].text;
            code = named[i].code;
        }
    command(browser, "Input.dispatchKeyEvent",
            json_pack("{s:s, s:s, s:s, s:i}", "type", *text ? "keyDown" : "rawKeyDown", "key", key, "text", text,
                      "windowsVirtualKeyCode", code));
    command(browser, "Input.dispatchKeyEvent",
            json_pack("{s:s, s:s, s:i}", "type", "keyUp", "key", key, "windowsVirtualKeyCode", code));
}

const char *browser_problems(struct browser *browser)
{
    browser_evaluate(browser, "0"); /* what happened before has been reported by then */
    return browser->problems;
}

void browser_close(struct browser *browser)
{
    browser->session[0] = 0;
    command(browser, "Browser.close", json_object());
    waitpid(browser->process, NULL, 0);
    running = 0;
    close(browser->to);
    close(browser->from);
    free(browser->buffer);
    free(browser);
}
