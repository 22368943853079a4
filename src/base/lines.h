/* Text files line by line, gzip or plain, without ever holding them whole. */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include "base/base.h"
#include "cleave/status.h"

#define LINES_MAX_LENGTH 65535

/* Opens a regular file; what begins like a gzip file is one. Errors here and below name the file. */
struct lines;
enum clv_status lines_open(struct lines **lines, const char *path, struct clv_error *err) CLV_CHECK;
void lines_close(struct lines *lines);
DROPS(lines_drop, struct lines, lines_close)

/* *line = the next one without its "\n" or "\r\n", to be changed at will, valid until the next call; NULL at the end.
 * *number, from 1. CLV_ERR_DATA: a line longer than LINES_MAX_LENGTH, a zero byte, a damaged or truncated gzip file. */
enum clv_status lines_next(char **line, size_t *number, struct lines *lines, struct clv_error *err) CLV_CHECK;

#endif
