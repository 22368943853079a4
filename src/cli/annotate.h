/* What the subcommands of `cleave annotate` share. */
#ifndef CLI_ANNOTATE_H
#define CLI_ANNOTATE_H

#include "cleave/annotate.h"
#include "cli/options.h"

/* The parsers of the subcommands; argv[0] is "cleave annotate NAME". */
enum clv_status annotate_train(int argc, char **argv, struct clv_error *err);
enum clv_status annotate_predict(int argc, char **argv, struct clv_error *err);
enum clv_status annotate_score(int argc, char **argv, struct clv_error *err);

/* Options of branch and bound, for what decides. */
struct search_options {
    struct common_options *common;
    struct clv_belief_search search;
};
extern const struct argp search_argp; /* its input is a struct search_options */

/* What a model says about a set: tags and scores of every example, and how sure its answers are. */
struct annotation {
    size_t n, n_tags;
    double *scores;                    /* [n][n_tags] */
    uint8_t *tags;                     /* [n][n_tags] */
    struct clv_belief_result *results; /* [n] */
};
void annotation_release(struct annotation *annotation);
enum clv_status annotate_set(struct annotation *annotation, const struct clv_tag_model *model,
                             const struct clv_tag_set *set, const struct clv_belief_search *search, int n_threads,
                             struct clv_error *err) CLV_CHECK;

/* Reads svmlight data for a model of n_tags (0: any number), and says what the model does not know. */
enum clv_status annotate_read(struct clv_tag_set *set, const char *path, const struct clv_tag_model *model,
                              struct clv_error *err) CLV_CHECK;

#endif
