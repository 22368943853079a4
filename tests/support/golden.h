/* Tables of results on record, tests/golden/NAME.tsv: nothing changes unnoticed. With CLEAVE_GOLDEN=write a table is
 * written again. One table at a time. */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include <stddef.h>
#include <stdint.h>

/* What a row's digest covers; `stage` names it, the earliest first: a row that differs says from which on, and by how
 * much the sum of its absolute values differs. Calls of one stage are one. Of a NaN that it is one: its bits are
 * nobody's promise. */
uint64_t golden_bytes(uint64_t digest, const char *stage, const void *bytes, size_t size);
uint64_t golden_floats(uint64_t digest, const char *stage, const float *values, size_t n);
uint64_t golden_doubles(uint64_t digest, const char *stage, const double *values, size_t n);

void golden_begin(void);
/* A row of a digest, which began with HASH_START after the row before. */
void golden_row(uint64_t digest, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds nothing if a row with this digest is there already. */
void golden_row_once(uint64_t digest, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A row that is what it says. */
void golden_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Compares the rows with the file's, or writes them; `head` is its first line. */
void golden_end(const char *name, const char *head);

#endif
