/* `cleave tag`: learns and predicts tags of examples.
 *
 * cmd_tag.c finds the subcommand: tag_train.c trains a model and prints a summary, tag_score.c predicts tags and scores
 * them against the truth. tag_inputs.c reads the examples for both, from a multi-label file or from images. */
#ifndef CLI_TAG_H
#define CLI_TAG_H

#include "cleave/status.h"
#include "cli/common/common.h"
#include "tags/tags.h"
#include <stdbool.h>

/* Option rows of branch and bound, for commands that predict tags; they set a struct clv_belief_search. */
#define SECTION_SEARCH "Branch and bound (lmsbn)"
extern const struct clv_option search_option_rows[];

/* The scores and tags that a model predicts for every example of a set, with the optimality of each decision. */
struct tag_outputs {
    size_t n, n_tags;
    double *scores;                    /* [n][n_tags] */
    uint8_t *tags;                     /* [n][n_tags] */
    struct clv_belief_result *results; /* [n] */
};
void tag_outputs_release(struct tag_outputs *outputs);
enum clv_status tagging_set(struct tag_outputs *outputs, const struct clv_tag_model *model,
                            const struct clv_tag_set *set, const struct clv_belief_search *search, int n_threads,
                            struct clv_error *err) CLV_CHECK;

/* The source of examples. */
struct tagging_source {
    const char *path, *split; /* a multi-label file; or a folder or manifest (.tsv) of images, and its splits or NULL */
    const struct common_options *common;
    uint64_t seed;
};
bool tagging_is_images(const char *path);

/* Claims an output of a command whose inputs are the data and a model (NULL: none). */
enum clv_status tagging_claim(struct common_options *common, const char *output, bool overwrite, const char *data,
                              const char *model, struct clv_error *err) CLV_CHECK;

/* Reads the examples for a model (NULL: to learn from), and prints a note on features that the model lacks. For images,
 * *images receives the set; features come from the model's recipe or, without a model, from a recipe that is learned
 * from the images and stored in *recipe. */
enum clv_status tagging_read(struct clv_tag_set *set, struct clv_set *images, struct clv_recipe *recipe,
                             const struct tagging_source *source, const struct clv_tag_model *model,
                             struct clv_error *err) CLV_CHECK;

/* The parsers of the subcommands; argv[0] is "cleave tag NAME". */
enum clv_status tagging_train(int argc, char **argv, struct clv_error *err);
enum clv_status tagging_predict(int argc, char **argv, struct clv_error *err);
enum clv_status tagging_score(int argc, char **argv, struct clv_error *err);

#endif
