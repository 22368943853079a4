/* Drives headless Chromium over its debugging pipe (DevTools protocol: JSON messages with a zero byte after each). */
#ifndef TESTS_BROWSER_H
#define TESTS_BROWSER_H

struct browser;

/* Opens a local page and waits until it has loaded. NULL after skip() where no Chromium is installed. */
struct browser *browser_open(const char *test_name, const char *path);
void browser_close(struct browser *browser);

/* The value of a JavaScript expression (of a promise: what it comes to) as text, valid until the next call; an
 * exception fails the test. */
const char *browser_evaluate(struct browser *browser, const char *expression);

/* Presses a key as a user would: "j", "Enter", "Escape", "ArrowDown", "?" .. */
void browser_press(struct browser *browser, const char *key);

/* What went wrong so far, a line each: console warnings and errors, uncaught exceptions, requests for anything but
 * data: URIs, the page itself and what is next to it. "" is what a test wants. */
const char *browser_problems(struct browser *browser);

#endif
