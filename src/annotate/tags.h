/* Multi-label data: examples with sparse features, each of which carries any number of tags.
 *
 *     struct clv_tag_set set = {0};
 *     if (clv_tag_set_read(&set, "scene/train.svm", 0, &error) == CLV_OK)
 *         printf("%zu examples, %d features, %d tags\n", set.n, set.n_features, set.n_tags);
 *     clv_tag_set_release(&set);
 */
#ifndef ANNOTATE_TAGS_H
#define ANNOTATE_TAGS_H

#include "cleave/status.h"

#define CLV_MAX_TAGS         4096      /* labels of a file are 0..4095 */
#define CLV_MAX_TAG_FEATURES (1 << 24) /* features of a file are 1..16777216 */
#define CLV_MAX_TAG_LINE     (1 << 24) /* bytes of a line */
#define CLV_MAX_TAG_VALUE    1e100     /* a feature's magnitude: its square can still be summed up */

/* The features of example l are index[row[l] .. row[l + 1]), ascending and counted from 0, with their values. */
struct clv_tag_set {
    size_t n; /* examples */
    int32_t n_features, n_tags;
    int64_t *row;   /* [n + 1] */
    int32_t *index; /* [row[n]] */
    double *value;  /* [row[n]] finite */
    uint8_t *tags;  /* [n][n_tags] 1 or 0 */
    char **names;   /* [n_tags], or NULL: tags are called by their numbers */
};
void clv_tag_set_release(struct clv_tag_set *set);

/* Reads an svmlight multi-label file: a line an example, `0,4 1:0.64 3:-2.5`, first its labels (from 0, separated by
 * commas, in any order, none twice; none at all if the line begins with a blank or with a feature), then its features
 * `index:value`, with indices from 1 in ascending order. CRLF is fine. n_features is the largest index; n_tags what is
 * given, or if that is 0 the number of names, or if there are none the largest label + 1.
 *
 * Names are the lines of labels.txt in the same folder, where there is such a file (UTF-8, none twice).
 *
 * Errors name file, line and value (CLV_ERR_DATA): a label that is no whole number, not below n_tags, or there twice;
 * feature 0, or one past the limit; an index that does not ascend; a value that is not finite or past the limit; an
 * empty line; a line past the limit, which is refused before it is read; no lines at all. O(size of the file). *set is
 * unchanged on failure. */
enum clv_status clv_tag_set_read(struct clv_tag_set *set, const char *path, int32_t n_tags,
                                 struct clv_error *err) CLV_CHECK;

#endif
