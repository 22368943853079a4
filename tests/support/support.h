/* What every test shares: where things are, skipping by name, temporary folders, running the command. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cleave.h"

/* A test, which belongs to the suite NAME of its file test_NAME.c and registers itself; TESTS is run for _i from
 * `begin` to below `end`. */
#define TEST(name) TESTS(name, 0, 1)
#define TESTS(name, begin, end)                                                                                        \
    static void name##_fn(int _i);                                                                                     \
    static const TTest name##_test = {#name, name##_fn, __FILE__, __LINE__};                                           \
    __attribute__((constructor)) static void name##_registers(void)                                                    \
    {                                                                                                                  \
        register_test(&name##_test, begin, end);                                                                       \
    }                                                                                                                  \
    static void name##_fn(__attribute__((unused)) int _i)

/* What is done before and after the file's suite, or each of its tests; either may be NULL. Seconds that a test may
 * take. */
#define SETUP_ONCE(setup, teardown) SETUP_(setup, teardown, true)
#define SETUP_EACH(setup, teardown) SETUP_(setup, teardown, false)
#define SETUP_(setup, teardown, is_once)                                                                               \
    __attribute__((constructor)) static void setup##_registers(void)                                                   \
    {                                                                                                                  \
        register_setup(__FILE__, setup, teardown, is_once);                                                            \
    }
#define TIMEOUT(seconds)                                                                                               \
    __attribute__((constructor)) static void timeout_registers(void)                                                   \
    {                                                                                                                  \
        register_timeout(__FILE__, seconds);                                                                           \
    }
void register_test(const TTest *test, int begin, int end);
void register_setup(const char *file, SFun setup, SFun teardown, bool is_once);
void register_timeout(const char *file, double seconds);

#undef fail /* Check's deprecated macro; cleave has a function of that name */

/* Scope release: a test owns what it makes (OWNED, OWNED_ARRAY). One that fails releases nothing: longjmp leaves it. */
#include "base/base.h"

/* Every check fails by this: one within a helper is reported at the line of the test that called it, and says where it
 * is. */
_Noreturn void failed_at(const char *file, int line, const char *expression, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define _ck_assert_failed failed_at

/* Fails with the error's message unless the call returned CLV_OK. */
#define must(call)                                                                                                     \
    do {                                                                                                               \
        struct clv_error error_ = {0};                                                                                 \
        struct clv_error *err = &error_;                                                                               \
        ck_assert_msg((call) == CLV_OK, "%s", error_.message);                                                         \
    } while (0)

/* Expects a status and a part of the message: must_fail(CLV_ERR_DATA, "truncated", clv_image_read(.., err)). */
#define must_fail(expected, part, call)                                                                                \
    do {                                                                                                               \
        struct clv_error error_ = {0};                                                                                 \
        struct clv_error *err = &error_;                                                                               \
        enum clv_status status_ = (call);                                                                              \
        ck_assert_msg(status_ == (expected), "status is \"%s\": %s", clv_status_name(status_), error_.message);        \
        ck_assert_msg(strstr(error_.message, (part)) != NULL, "message is \"%s\"", error_.message);                    \
    } while (0)

/* Prints "skipped: NAME: why" so that a skip is never silent. */
void skip(const char *name, const char *why);

/* Whether a sanitizer watches: it takes memory and address space of its own, and keeps what was freed for a while. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

/* A path below the real data folder (CLEAVE_DATA, default ../shared/data), or NULL after skip() when it is not there.
 * The string is static per call site use; copy it to keep it. */
const char *real_data(const char *test_name, const char *relative);

/* A fresh temporary folder, removed with everything in it when the process ends: each test has its own, and so has each
 * suite's unchecked fixture. */
const char *temporary_folder(void);

/* The path of what is in it. */
const char *here(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* To be called by the runner before each suite: fixtures of other suites leave nothing in its temporary_folder(). */
void begin_suite(void);

/* printf into a static ring of strings, for paths. */
const char *formatted(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs a shell command, returns its exit code (128 + signal if killed); *output (may be NULL) receives stdout and
 * stderr, free() it. In the command `cleave` is the built binary, "$CLEAVE_FAULTS" the one with failure injection,
 * $HERE the temporary_folder(), $ROOT where the tests were started, $SET and $MODEL those of sample.h. */
int run_command(char **output, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Run a command as run_command does, but in the temporary_folder(). It must succeed .. */
void run_here(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* .. and print `part`, .. */
void expect_output(const char *part, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* .. or return what it printed, free() it. */
char *expect_success(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* It must exit with `code` and say `part` in one line that begins with "cleave: error: ". */
void expect_error(int code, const char *part, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same of each row of a table, `cleave ARGUMENTS`. */
struct refusal {
    int code;
    const char *part, *arguments;
};
#define EXPECT_REFUSALS(rows) expect_refusals(rows, sizeof(rows) / sizeof *(rows))
void expect_refusals(const struct refusal *rows, size_t n);

/* The text, or the file's, must have `part` in it. */
void must_say(const char *text, const char *part);
void expect_in_file(const char *path, const char *part);

/* What a command printed, or a whole file, is freed here and must have each of these parts in it. */
#define EXPECT_PARTS(text, ...) expect_parts(text, (const char *const[]){__VA_ARGS__, NULL})
void expect_parts(char *text, const char *const *parts);

/* Reads or writes a whole file; fails the test on errors. free() the result. */
char *slurp(const char *path, size_t *size);
void spill(const char *path, const void *bytes, size_t size);

/* From here on the test takes at most so many bytes of address space more than are in use. */
void leave_memory(double bytes);

/* Makes a folder that may not be read, in temporary_folder(); from here on the test is not a superuser, whom nothing
 * stops. */
void forbid_folder(const char *path);

#endif
