/* `cleave score`: cmd_score.c reads the options and chooses, and scores a model on a feature file. score_set.c
 * scores masks in files against a set's; score_print.c prints tables and JSON.
 *
 * Scoring a set's predictions: the numbers, and how they are shown. */
#ifndef CLI_SCORE_SET_H
#define CLI_SCORE_SET_H

#include <stdbool.h>

#include "cleave/model.h"
#include "cleave/score.h"
#include "cli/common/common.h"
#include "data/data.h"
#include "score/score.h"

struct scored_image {
    struct clv_image_score pixel; /* of the written mask */
    struct clv_image_score
        superpixel;   /* the same measures, each superpixel counted as its majority labels; if has_superpixels */
    const char *note; /* how the truth was read, or NULL */
    struct foreground foreground;
    struct object_counts objects; /* if has_objects */
    double f1, mean_precision;    /* of them; NaN without true objects of the image's own file */
};

struct scored_sequence {
    const char *name;
    size_t n_frames;
    double mean_j;                 /* mean over frames of the IoU of labels from 1 on */
    double flicker, truth_flicker; /* share of the pixels that moved here from the frame before, and whose label is
                                      another than there; NaN: none did, or they were not looked at */
};

/* Means over images leave out those where a measure is NaN. */
struct set_score {
    const struct input_list *inputs;
    const struct clv_labels *labels;
    struct scored_image *images;       /* [inputs->n] */
    double *iou;                       /* [inputs->n][n_labels] */
    struct scored_sequence *sequences; /* [n_sequences] in the order met */
    size_t n_sequences;
    double mean_j;                  /* over sequences */
    struct clv_confusion confusion; /* all images' pixels */
    char **counts[2]; /* [inputs->n] each, of shards: an image's pixels, and nodes, as score_counts_text has them */
    struct clv_confusion nodes; /* all images' superpixels by their known pixels, or patches, which count 1 each */
    bool has_objects;           /* objects were scored */
    bool has_superpixels, has_patches; /* has_superpixels: nodes were scored, which are patches if has_patches */
};
void set_score_release(struct set_score *score);

/* Arrays for the inputs and labels that are set; what is there already is for set_score_release. */
enum clv_status set_score_init(struct set_score *score, struct clv_error *err) CLV_CHECK;

/* The measures of image `index` from its pixels. */
void set_score_measure(struct set_score *score, size_t index, const struct clv_confusion *pixels);

/* The inputs with their predictions, and how to read images for superpixels. */
struct score_task {
    const struct input_list *inputs; /* with masks */
    const struct clv_labels *labels;
    const char *folder;    /* prediction i: folder/<inputs->items[i].output>.png; objects below objects/ */
    const uint32_t *pages; /* [inputs->n] from 1: predictions are these of the file `folder`; NULL: files */
    const struct clv_labels *predicted; /* of the predictions' values, matched by name; NULL: labels */
    int32_t band_px;                    /* only so near to borders of the truth (score/band.c); 0: everywhere */
    const struct clv_model *model;      /* its recipe makes the superpixels; NULL: per pixel only */
    bool keeps_counts;                  /* every image's, for a table of a shard */
    int n_threads;
    const struct clv_image_limits *limits;
    const struct clv_progress *progress;
};

/* Missing predictions are CLV_ERR_NO_INPUT, naming the first and counting them; one of another size than its truth is
 * CLV_ERR_DATA, and so is truth that does not agree on what its values mean (foregrounds_agree). */
enum clv_status score_set(struct set_score *score, const struct score_task *task, struct clv_error *err) CLV_CHECK;

/* folder/<output>.png, or the file's page; array_free it; NULL: out of memory. */
char *score_prediction_path(const struct score_task *task, size_t index);

/* Whether it is a TIFF, which has masks as pages. */
bool score_is_pages(const char *path);

/* clv_set_read, where a TIFF's pages are masks, without images. */
enum clv_status score_read_truth(struct clv_set *set, const char *path, struct clv_error *err) CLV_CHECK;

/* (*pages)[inputs->n], array_free it: the page of `file` of each input, which are of the set at `path`. Pages are the
 * frames of its one sequence in order, or those of the split alone; CLV_ERR_DATA if they are neither. */
enum clv_status score_find_pages(uint32_t **pages, const char *file, const char *path, const char *split,
                                 const struct input_list *inputs, struct clv_error *err) CLV_CHECK;

/* Takes frames whose masks were given away from the inputs, which are the set's items, and notes how many: those with a
 * mask in the set at `given` or, where that is NULL, those without a prediction that a run has noted in the folder
 * (RUN_NOTE_GIVEN). CLV_ERR_DATA if none is left, CLV_ERR_USAGE of a shard. */
enum clv_status score_drop_given(struct clv_set *set, struct input_list *inputs, const struct score_task *task,
                                 const char *given, struct clv_error *err) CLV_CHECK;

/* Notes pages that are the truth itself: nothing says whether they were given. */
void score_note_equal_pages(const struct set_score *score, const char *file);

/* Adds the sequences of the set, whose items are the inputs, to their score; task NULL: without how labels flicker,
 * which reads the images. */
enum clv_status score_sequences(struct set_score *score, const struct score_task *task, const struct clv_set *set,
                                int n_threads, struct clv_error *err) CLV_CHECK;

/* cleave score --shard and --merge: a table of every image's counts, from which the whole's score follows exactly.
 *
 * Columns, tab-separated: number (of the image in the whole list, from 1), image, pixels, and with -m superpixels or
 * patches; counts as score_counts_text has them. */
/* Prints the table of a score with counts, whose first image is number `first` + 1. */
void score_shard_print(const struct set_score *score, size_t first);

/* The score of all inputs from the tables of all shards, in any order. Tables may have been put end to end.
 * CLV_ERR_DATA names tables that are of another set, and images that are missing or come twice. */
enum clv_status score_merge(struct set_score *score, const struct input_list *inputs, const struct clv_labels *labels,
                            char *const *tables, size_t n_tables, struct clv_error *err) CLV_CHECK;

/* Mean and standard error over the values that are not NaN; NaN without any. values[n], `stride` doubles apart. */
void mean_over_images(double *mean, double *standard_error, const double *values, size_t n, size_t stride);

/* Print the scores on standard output. */
void score_print_text(const struct set_score *score, bool per_image);
void score_print_csv(const struct set_score *score);
enum clv_status score_print_json(const struct set_score *score, bool per_image, struct clv_error *err) CLV_CHECK;

/* A confusion matrix as a field of a table: "truth:prediction:count" of what is not 0, blanks between them. */
/* array_free; NULL when out of memory. */
char *score_counts_text(const struct clv_confusion *confusion);

/* confusion = the counts of a field; CLV_ERR_DATA names path and line. */
enum clv_status score_counts_read(struct clv_confusion *confusion, const char *field, const char *path, size_t line,
                                  struct clv_error *err) CLV_CHECK;

#endif
