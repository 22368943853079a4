/* `cleave score`: cmd_score.c reads the options, and scores a model on a feature file. score_set.c scores masks in files
 * against the truth of a set, score_sequences.c sequences; score_frames.c finds the frames of sequences, score_shards.c
 * handles shards, score_print.c prints tables and JSON. */
#ifndef CLI_SCORE_SET_H
#define CLI_SCORE_SET_H

#include <stdbool.h>

#include "cleave/model.h"
#include "cleave/score.h"
#include "cli/common/common.h"
#include "data/data.h"
#include "score/score.h"

struct scored_image {
    struct clv_image_score pixel;      /* of the written mask */
    struct clv_image_score superpixel; /* of superpixels with their majority labels; if has_superpixels */
    const char *note;                  /* the rule by which the truth was read, or NULL */
    struct foreground foreground;
    struct object_counts objects; /* if has_objects */
    double f1, mean_precision;    /* of the objects; NaN without a file of true objects */
};

struct scored_sequence {
    const char *name;
    size_t n_frames;
    double mean_j;                 /* mean over frames of the IoU of labels from 1 on; NaN: no pixel counts in any */
    double flicker, truth_flicker; /* share of the pixels followed from the previous frame whose label changed, in the
                                      prediction and the truth; NaN: no such pixels, or not computed */
};

/* The scores of a set. Means over images skip images whose measure is NaN. */
struct set_score {
    const struct input_list *inputs;
    const struct clv_labels *labels;
    struct scored_image *images;       /* [inputs->n] */
    double *iou;                       /* [inputs->n][n_labels] */
    struct scored_sequence *sequences; /* [n_sequences] in the order of the set */
    size_t n_sequences;
    double mean_j;                  /* over sequences in which pixels count */
    struct clv_confusion confusion; /* all images' pixels */
    char **counts[2];           /* [inputs->n] each, for shards: counts of pixels and of nodes by score_counts_text */
    struct clv_confusion nodes; /* all superpixels, weighted by labelled pixels, or all patches, with weight 1 */
    bool has_objects;           /* objects were scored */
    bool has_superpixels, has_patches; /* has_superpixels: nodes were scored; has_patches: they are patches */
};
void set_score_release(struct set_score *score);

/* Allocates the arrays for score->inputs and score->labels, which must be set. Release with set_score_release, also on
 * failure. */
enum clv_status set_score_init(struct set_score *score, struct clv_error *err) CLV_CHECK;

/* Sets the measures of image `index` from the confusion matrix of its pixels. */
void set_score_measure(struct set_score *score, size_t index, const struct clv_confusion *pixels);

/* The inputs with their predictions, and how to read images for superpixels. */
struct score_task {
    const struct input_list *inputs; /* with masks */
    const struct clv_labels *labels;
    const char *folder;    /* prediction i: folder/<inputs->items[i].output>.png; objects below objects/ */
    const uint32_t *pages; /* [inputs->n] from 1: predictions are pages of the file `folder`; NULL: files in it */
    const struct clv_labels *predicted; /* labels of the predictions, matched by name; NULL: `labels` */
    int32_t band_px;                    /* maximum distance from borders of the truth (score/band.c); 0: any */
    const struct clv_model *model;      /* its recipe computes superpixels; NULL: only pixels are scored */
    bool keeps_counts;                  /* of every image, for the table of a shard */
    int n_threads;
    const struct clv_image_limits *limits;
    const struct clv_progress *progress;
};

/* Scores all inputs. CLV_ERR_NO_INPUT: missing predictions, naming the first and their number. CLV_ERR_DATA: a
 * prediction of another size than its truth, or masks of the truth whose values have different meanings
 * (foregrounds_agree). */
enum clv_status score_set(struct set_score *score, const struct score_task *task, struct clv_error *err) CLV_CHECK;

/* Returns a new path, folder/<output>.tif or .png, or the file's page (array_free); NULL: out of memory. */
char *score_prediction_path(const struct score_task *task, size_t index);

/* Returns whether the path is a TIFF, whose pages are masks. */
bool score_is_pages(const char *path);

/* Reads a set like clv_set_read, but the pages of a TIFF are its masks. */
enum clv_status score_read_truth(struct clv_set *set, const char *path, struct clv_error *err) CLV_CHECK;

/* (*pages)[inputs->n], new (array_free) = the page of `file` for each input; inputs are from the set at `path`. Pages
 * must be all frames of its one sequence, or all those of the split, in order; else CLV_ERR_DATA. */
enum clv_status score_find_pages(uint32_t **pages, const char *file, const char *path, const char *split,
                                 const struct input_list *inputs, struct clv_error *err) CLV_CHECK;

/* Removes frames whose masks were given from the inputs and the set, whose items correspond, and prints their number.
 * These are the frames with a mask in the set at `given` or, if that is NULL, frames without a prediction that a run
 * has noted in the folder (RUN_NOTE_GIVEN). CLV_ERR_DATA if no frame remains, CLV_ERR_USAGE for a shard. */
enum clv_status score_drop_given(struct clv_set *set, struct input_list *inputs, const struct score_task *task,
                                 const char *given, struct clv_error *err) CLV_CHECK;

/* Prints a note on pages that equal the truth, which may have been given. */
void score_note_equal_pages(const struct set_score *score, const char *file);

/* Scores the sequences of the set, whose items correspond to the inputs. task NULL: without flicker, which needs the
 * images. */
enum clv_status score_sequences(struct set_score *score, const struct score_task *task, const struct clv_set *set,
                                int n_threads, struct clv_error *err) CLV_CHECK;

/* Prints the table of `cleave score --shard`: the counts of every image, from which --merge computes exactly the score of
 * the whole set. Columns, tab-separated: number (of the image in the whole list; the first one has `first` + 1), image,
 * pixels, and with -m superpixels or patches; counts are in the form of score_counts_text. */
void score_shard_print(const struct set_score *score, size_t first);

/* Computes the score of all inputs from the tables of all shards, in any order; tables may be concatenated in a file.
 * CLV_ERR_DATA names tables of another set, and images that are missing or occur twice. */
enum clv_status score_merge(struct set_score *score, const struct input_list *inputs, const struct clv_labels *labels,
                            char *const *tables, size_t n_tables, struct clv_error *err) CLV_CHECK;

/* Computes mean and standard error of the values that are not NaN; NaN without any. values[i * stride], i < n. */
void mean_over_images(double *mean, double *standard_error, const double *values, size_t n, size_t stride);

/* Print the scores on standard output. */
void score_print_text(const struct set_score *score, bool per_image);
enum clv_status score_print_csv(const struct set_score *score, struct clv_error *err) CLV_CHECK;
enum clv_status score_print_json(const struct set_score *score, bool per_image, struct clv_error *err) CLV_CHECK;

/* Returns a confusion matrix as a new field of a table (array_free), or NULL if out of memory: "truth:prediction:count" for
 * each count above 0, separated by blanks. */
char *score_counts_text(const struct clv_confusion *confusion);

/* *confusion = the counts of a field; CLV_ERR_DATA names path and line. */
enum clv_status score_counts_read(struct clv_confusion *confusion, const char *field, const char *path, size_t line,
                                  struct clv_error *err) CLV_CHECK;

#endif
