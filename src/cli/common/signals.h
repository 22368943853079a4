/* SIGINT, SIGTERM and SIGHUP: the first asks the work to stop at its next safe point, the second removes unfinished files and ends
 * the process at once. SIGPIPE removes unfinished files and ends it. SIGBUS in a mapped file says which file it is, and ends the process with
 * CLV_ERR_NO_INPUT's code. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

void signals_install(void);

/* Non-zero once a signal arrived: goes into clv_progress.stop. */
const volatile int *signals_stop(void);

/* 128 + the signal's number (129, 130, 143), or 0 if none arrived. */
int signals_exit_code(void);

#endif
