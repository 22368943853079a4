/* `cleave tag`: tags of examples, learned and predicted.
 *
 * cmd_tag.c finds the subcommand: tag_train.c learns a model and reports it,
 * tag_score.c predicts tags and compares them with the truth. tag_inputs.c reads the examples for all of
 * them, from a multi-label file or from images. */
#ifndef CLI_ANNOTATE_H
#define CLI_ANNOTATE_H

#include "cleave/status.h"
#include "cli/common/common.h"
#include "tags/tags.h"
#include <stdbool.h>

/* The subcommands of `cleave tag` share how examples are read, and the scores and tags that a model gives them. */

/* Option rows of branch and bound, for commands that decide tags: they set a struct clv_belief_search. */
#define SECTION_SEARCH "Branch and bound (lmsbn)"
extern const struct clv_option search_option_rows[];

/* The tags and scores that a model gives every example of a set, and how close to optimal each decision is. */
struct tag_outputs {
    size_t n, n_tags;
    double *scores;                    /* [n][n_tags] */
    uint8_t *tags;                     /* [n][n_tags] */
    struct clv_belief_result *results; /* [n] */
};
void tag_outputs_release(struct tag_outputs *annotation);
enum clv_status tagging_set(struct tag_outputs *annotation, const struct clv_tag_model *model,
                            const struct clv_tag_set *set, const struct clv_belief_search *search, int n_threads,
                            struct clv_error *err) CLV_CHECK;

/* Where examples come from. */
struct tagging_source {
    const char *path, *split; /* a multi-label file; or a folder or manifest (.tsv) of images, and its splits or NULL */
    const struct common_options *common;
    uint64_t seed;
};
bool tagging_is_images(const char *path);

/* Claims an output of a command that reads those examples, and a model (NULL: none). */
enum clv_status tagging_claim(struct common_options *common, const char *output, bool overwrite, const char *data,
                              const char *model, struct clv_error *err) CLV_CHECK;

/* Reads the examples for a model (NULL: to learn from), and says what the model does not know. Of images, *images
 * receives the set, and without a model *recipe the words learned from it; with one, the model's recipe is taken. */
enum clv_status tagging_read(struct clv_tag_set *set, struct clv_set *images, struct clv_recipe *recipe,
                             const struct tagging_source *source, const struct clv_tag_model *model,
                             struct clv_error *err) CLV_CHECK;

/* The parsers of the subcommands; argv[0] is "cleave tag NAME". */
enum clv_status tagging_train(int argc, char **argv, struct clv_error *err);
enum clv_status tagging_predict(int argc, char **argv, struct clv_error *err);
enum clv_status tagging_score(int argc, char **argv, struct clv_error *err);

#endif
