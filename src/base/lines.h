/* Reads text files line by line, gzip or plain, without ever holding them whole in memory. */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include "base/base.h"
#include "cleave/status.h"

#define LINES_MAX_LENGTH 65535

/* Opens a regular file, which is a gzip file if it begins like one. Errors of all functions here name the file. */
struct lines;
enum clv_status lines_open(struct lines **lines, const char *path, struct clv_error *err) CLV_CHECK;
void lines_close(struct lines *lines);
DROPS(lines_drop, struct lines, lines_close)

/* *line = the next line without its "\n" or "\r\n", writable, valid until the next call; NULL at the end. *number = its
 * number, from 1. CLV_ERR_DATA: a line longer than LINES_MAX_LENGTH, a zero byte, a damaged or truncated gzip file. */
enum clv_status lines_next(char **line, size_t *number, struct lines *lines, struct clv_error *err) CLV_CHECK;

#endif
