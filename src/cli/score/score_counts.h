/* A confusion matrix as a field of a table: "truth:prediction:count" of what is not 0, blanks between them. */
#ifndef CLI_SCORE_COUNTS_H
#define CLI_SCORE_COUNTS_H

#include "cleave/score.h"

/* array_free; NULL when out of memory. */
char *score_counts_text(const struct clv_confusion *confusion);

/* confusion = the counts of a field; CLV_ERR_DATA names path and line. */
enum clv_status score_counts_read(struct clv_confusion *confusion, const char *field, const char *path, size_t line,
                                  struct clv_error *err) CLV_CHECK;

#endif
