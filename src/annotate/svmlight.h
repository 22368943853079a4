/* Parsing svmlight multi-label files. */
#ifndef ANNOTATE_SVMLIGHT_H
#define ANNOTATE_SVMLIGHT_H

#include "annotate/tags.h"

/* Parses a file's bytes, which are only read; `name` stands for it in messages. n_tags 0: the largest label + 1. */
enum clv_status tag_set_parse(struct clv_tag_set *set, const char *bytes, size_t size, const char *name, int32_t n_tags,
                              struct clv_error *err) CLV_CHECK;

#endif
