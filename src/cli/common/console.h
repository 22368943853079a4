/* What a person at the terminal sees: one-line notes and errors, and a progress line, on standard error and safe from
 * any thread; and answers, on standard output. */
#ifndef CLI_CONSOLE_H
#define CLI_CONSOLE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"
#include "cleave/status.h"

/* Looks whether standard error is a terminal and whether NO_COLOR is set, and puts a filter before stdout and stderr:
 * control characters of what is printed from then on, but for line ends and tabs, appear as "\x1b", so that no name in
 * a model, a table or a folder reaches the terminal as a command. Call once, before the rest. */
void console_init(void);

/* Prints a name as a field of a table: tabs, line ends and backslashes as "\t", "\n", "\r", "\\", other control
 * characters as "\x1b". */
void console_put_field(FILE *stream, const char *string);

/* Leaves out notes and progress; errors stay. */
void console_set_quiet(bool quiet);
bool console_is_quiet(void);

/* What becomes of progress: a line on a terminal; a line of JSON for each event, on standard error whatever it is, and
 * messages and the summary as such lines, too (cleave(1) names them); or nothing. */
enum console_progress_form { CONSOLE_BAR, CONSOLE_JSON, CONSOLE_NONE };
void console_set_progress(enum console_progress_form form);

/* Nothing that is printed from now on appears. */
void console_silence(void);

/* "cleave: MESSAGE" on a line of its own. */
void console_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void console_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The error that the command ends with. */
void console_failure(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Progress for library calls: shown on a terminal only, from a stage's second second on, with the time left; stops the
 * work when a signal arrives. Its notes are console_note's; its summary goes to a stream, NULL: nowhere. */
struct clv_progress console_progress(FILE *summary);

/* Wipes a progress line that stands. */
void console_clear(void);

/* Puts a finished text on standard output, whose errors main looks for at the end, and releases it. */
enum clv_status console_output(struct text *text, struct clv_error *err) CLV_CHECK;

#endif
