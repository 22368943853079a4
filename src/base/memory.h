/* How much memory a process may still ask for, so that work which cannot end well is refused before it starts. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

/* Bytes: the least of what the machine has available (/proc/meminfo), what the control groups' limits leave (version 1
 * and 2; pages of files that can be dropped count as free) and what RLIMIT_AS leaves. INFINITY where nothing is known.
 * An estimate: others ask, too. */
double memory_available(void);

/* What the files below a root say, which "" is for the machine's own; for tests. */
double memory_available_below(const char *root);

#endif
