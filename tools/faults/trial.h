/* One run of the command under a fault: what became of the process, and of its files. */
#ifndef FAULTS_TRIAL_H
#define FAULTS_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Counts of what check-faults adds up, one line a scenario. */
struct tally {
    size_t tries, crashes, hangs, leaks, partial, slow, big;
};
void tally_print(const struct tally *tally, const char *part, const char *name);

/* The command, in the current folder. Its output is "made", or standard output, then in the file "made". */
struct command {
    char **words; /* NULL at the end */
    bool to_stdout;
};

/* A process that runs the command, its environment with one more variable (NULL: none), its messages in the file
 * "said". traced: it waits for a tracer before it begins. */
pid_t command_start(const struct command *command, const char *name, const char *value, bool traced);

struct outcome {
    int status; /* of waitpid */
    double seconds;
    long peak_kb;
    bool hung; /* and was killed */
};
#define HANG_S 30 /* given up after so many seconds; what takes over SLOW_S counts as slow */
#define SLOW_S 10
double now_s(void);

/* Waits for the process's end, or for kill_after seconds (0: never) and kills it then. */
struct outcome command_wait(pid_t process, double kill_after);

/* Counts a try. A crash is a signal, or a status that is not documented; partial is an output that is neither whole (as
 * in the folder or file "reference") nor absent, other bytes with status 0, or a temporary that stays. Says on standard
 * error what was found, with `fault` as the fault's name. `excused`: what stays behind is the fault's own doing. */
void judge(struct tally *tally, const struct command *command, const struct outcome *outcome, const char *fault,
           bool excused);

/* Whether the outputs are whole: each file of "made" is as in "reference"; all: and none is missing. */
bool made_is_whole(const char *made, const char *reference, bool all);

/* Removes "made". */
void clear_output(void);

#endif
