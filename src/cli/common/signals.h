/* SIGINT, SIGTERM and SIGHUP: the first asks the work to stop at its next safe point, the second removes unfinished
 * files and ends the process at once. SIGPIPE removes unfinished files and ends it. SIGBUS in a mapped file says which
 * file it is, and ends the process with CLV_ERR_NO_INPUT's code. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

void signals_install(void);

/* Non-zero once a signal arrived: goes into clv_progress.stop. */
const volatile int *signals_stop(void);

/* From here on a team's members stop together, at the same place of their work, whichever of them a signal reached:
 * before signals_stop is asked for. */
void signals_share(void);

/* From here on SIGTERM and SIGUSR1, by which a cluster announces the end of a job, ask to be started again: the exit
 * code is then SIGNALS_REQUEUE, and a second one of them, as Slurm sends, is no reason to drop what the first one asked
 * for. */
#define SIGNALS_REQUEUE 75
void signals_requeue(void);

/* The work is complete all the same: there is nothing to be started again for. Other signals' codes stay. */
void signals_complete(void);

/* 128 + the signal's number (129, 130, 143), SIGNALS_REQUEUE, or 0 if none arrived. */
int signals_exit_code(void);

#endif
