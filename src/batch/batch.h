/* Labels many files and writes the results: `cleave segment`, `cleave probabilities` and `cleave propagate`, each of
 * which makes the one call clv_segment_files (cleave/files.h).
 *
 * Two tables meet here. A labeller (by_model.c, by_boxes.c and so on) is a way to find an image's labels; a row of
 * file_kinds (file_kinds.c) is a kind of file that is written from an image and its labels. Neither depends on the
 * other. files.c locks the folder (folder.c), opens the labeller and plans the targets of all inputs (targets.c) before
 * any work. The labeller calls run_item (item.c) for each input, from any thread and in any order. run_item delivers a
 * small outcome of each input, and deliver.c settles outcomes in input order; at the end join.c joins the parts of the
 * folder's tables. Start at clv_segment_files in files.c, then read run_item. */
#ifndef BATCH_BATCH_H
#define BATCH_BATCH_H

#include <pthread.h>
#include <stdbool.h>

#include "base/base.h"
#include "base/digest.h"
#include "batch/box_objects.h"
#include "batch/gate.h"
#include "batch/inputs.h"
#include "batch/parts.h"
#include "cleave/files.h"
#include "cleave/objects.h"
#include "data/outputs.h"
#include "data/shapes/shapes.h"
#include "feature/recipe/recipe.h"
#include "report/report.h"

struct batch;
struct labelled;

/* Needs of options and files, which a labeller or an output can lack. */
enum {
    NEEDS_PIXELS = 1,  /* images */
    NEEDS_LABELS = 2,  /* labels, not probabilities */
    NEEDS_MODEL = 4,   /* a model */
    NEEDS_FOLDER = 8,  /* the output is a folder */
    NEEDS_BESIDE = 16, /* the output is not a stream, so that files can be written beside it */
    NEEDS_APART = 32,  /* inputs that are labelled independently of each other */
    N_NEEDS = 6
};

/* A way of labelling. */
struct labeller {
    const char *name;                      /* in refusals: "--boxes" */
    const char *source, *method, *refined; /* for the report, of labellers without a model */
    bool has_truth;           /* the masks of the inputs' set are ground truth, with which the report compares */
    unsigned lacks;           /* bits NEEDS_.. */
    const char *why[N_NEEDS]; /* why[k] ends the error of options that need bit 1 << k: "a feature file has no
                               * images" */

    /* Opens the model, boxes or masks, sets run->labels, and adds the inputs. */
    enum clv_status (*open)(struct batch *run, struct clv_error *err);

    /* Calls run_item once for every input, in any order and from any thread. */
    enum clv_status (*each)(struct batch *run, struct clv_error *err);

    /* Sets item->labels, width and height, and item->image if its pixels are needed. For an input that is segmented by
     * tiles it writes the mask file instead. */
    enum clv_status (*label)(struct labelled *item, struct batch *run, size_t index, int thread, struct clv_error *err);

    /* Returns the peak bytes of labelling an image of width x height pixels from a file of file_size bytes. */
    double (*bytes)(const struct batch *run, const struct input *input, int32_t width, int32_t height,
                    double file_size);

    /* Adds an option that needs less memory to the error CLV_ERR_MEMORY; or NULL. */
    enum clv_status (*advise_memory)(const struct batch *run, const struct input *input, struct clv_error *err);

    void (*close)(struct batch *run);
};
extern const struct labeller by_model, by_features, by_boxes, by_windows, by_propagating, by_masks;

/* The files of an image beside its mask. */
enum file {
    FILE_OVERLAY,
    FILE_CUTOUT,
    FILE_OBJECTS, /* their numbers, one per pixel */
    FILE_LABELME,
    FILE_YOLO,
    FILE_GEOJSON,
    FILE_VOC,
    FILE_CLASSES,       /* VOC's mask, .. */
    FILE_CLASS_OBJECTS, /* .. and VOC's numbers of objects */
    FILE_ROWS,          /* parts of the folder's tables: of objects.tsv, .. */
    FILE_ANNOTATIONS,   /* .. and of coco.json */
    N_FILES
};

/* The paths of an input's files. */
struct target {
    char *mask, *files[N_FILES]; /* paths; NULL: not wanted */
    char *problem; /* why the output cannot be written, so that this input fails and the others continue; or NULL */
    size_t problem_path_length; /* length of the input's name, with which `problem` begins */
    unsigned existing;          /* with --resume: bits 1 << enum file of the files that exist */
    bool has_mask;              /* with --resume: the mask exists */
    bool is_finished;           /* all exist, except parts, which run_item checks */
    bool is_tiled;
};

struct target_list {
    struct target *items; /* [n], one per input */
    size_t n, n_finished, n_problems;
};
void target_list_release(struct target_list *list);

/* The destination of a run's files. */
struct destination {
    const char *output; /* a folder, or "-" */
    const char *file;   /* the file of the only mask, or of the pages of all; NULL: masks are files in the folder */
    bool is_stack;      /* `file` has a page for each image of a sequence */
    char *folder;       /* folder of `file`; `output` is then the same */
    char *report;       /* folder of the report, or of the shard's report; NULL: not wanted */
    char *status;       /* path of the table of all inputs, or of the shard's inputs; NULL: not wanted */
    int n_made;         /* number of nested folders that this run made for the outputs */
    int n_report_made;  /* the same for the report */
    struct outputs outputs;
};

/* Probabilities or margins of all labels on a grid over the image. */
struct label_map {
    int32_t width, height;
    uint16_t *values; /* [n_labels][height][width], 65535 times the mean probability; or NULL */
    float *margins;   /* [n_labels][height][width] mean margins; or NULL */
};
void label_map_release(struct label_map *map);

/* The probabilities of one label in an image. */
struct probability_summary {
    double share;                 /* expected share of the label's pixels */
    double entropy;               /* mean over pixels of H(p) in bits, 0..1 */
    double bound, standard_error; /* upper bound A_G of the log-partition, and its standard error */
    enum clv_marginals kind;
};

/* An input while it is labelled and its files are written. */
struct labelled {
    const struct input *input;
    const struct target *target;
    int32_t width, height;
    struct clv_image image;        /* without pixels if they are not needed */
    uint8_t *labels;               /* [height][width] labels, or 255 times a probability; NULL: in a file, or `map` */
    struct label_map map;          /* of all labels, instead of `labels` */
    bool is_empty;                 /* a raster by tiles has only labels 0 and void */
    unsigned todo;                 /* bits 1 << enum file of the files to write */
    bool is_read_back;             /* labels were read from an existing mask */
    struct map_reader *maps;       /* of the recipe; or NULL */
    struct clv_object_map objects; /* found with --objects, or {0} */
    struct clv_object_map boxed;   /* the object in each box; {0} for other labellers */
    struct clv_object *rows;       /* [objects.n_objects] measures */
    double *band_means, *band_deviations; /* [objects.n_objects][n_bands] with a model of bands, else NULL */
    struct object_windows *learned;       /* of a raster by tiles, objects that a model has learned to find; or NULL */
    struct raster_item *raster;           /* state shared by the files of a raster by tiles (raster_files.h); or NULL */
    struct part_mask part_mask;           /* the mask's file, read for the first part */
    struct contours contours;             /* of the exported objects, after labelled_trace */
    bool is_traced;
    float *map_means; /* [map_drift_size], or NULL: not measured */
    double unmet;     /* label_unmet_share */
    double bytes;     /* bytes that the gate has admitted */
    struct box_findings found;
    struct probability_summary summary;
};
void labelled_release(struct labelled *item);

/* The result of an input after its files are written. Its size does not depend on the image. */
struct outcome {
    enum clv_status status;
    struct clv_error error;
    bool is_reported;           /* the failure was reported already: two inputs with one output, or a frame of a chain
                                 * that failed */
    bool is_earlier;            /* an earlier run finished the input */
    bool is_labelled, is_empty; /* this run has found labels; all are 0 or void */
    int32_t n_objects;
    struct box_findings found;
    struct probability_summary summary;
    float *map_means;          /* owned; NULL: not measured */
    double unmet;              /* below 0: not measured */
    struct report_slot *entry; /* owned; its pictures in the report's spool; or NULL */
};

/* Frames of a sequence whose masks were given. */
struct given_frames {
    const struct clv_set *set;
    const uint8_t *is_given; /* [set->n_items] */
};

/* A run over inputs. */
struct batch {
    struct clv_files_options options; /* a copy, in which batch_init has set members that depend on others */
    const struct labeller *labeller;
    void *state;                    /* state of the labeller */
    struct clv_labels labels;       /* of the masks */
    const struct clv_model *model;  /* NULL: no model labels */
    char model_digest[DIGEST_SIZE]; /* of the model's file, or of the file that clv_model_write would write */
    const struct clv_boxes *boxes;  /* inputs are the objects in boxes; or NULL */
    const uint8_t *box_values;      /* [boxes->n_labels] values of their labels in masks */
    size_t bad_boxes;               /* number of files of boxes that could not be read */
    struct given_frames given;      /* with by_propagating; else {NULL} */
    const struct clv_item *frames;  /* [n_frames] of sequences, or NULL */
    size_t n_frames;
    bool is_one_sequence;     /* all frames are of one sequence, so that masks can be pages of one file */
    struct input_list inputs; /* of the shard */
    size_t first;             /* index of the first input of the shard among all inputs */
    size_t n_all;             /* number of the inputs of all shards */
    struct target_list targets;
    struct destination to;
    bool is_cut[256];             /* labels of the object in cut-outs */
    int32_t label;                /* label whose probability is written */
    struct part_options parts;    /* the options on which parts of tables depend */
    struct listed *listed;        /* what the tables need of all inputs, of all shards; NULL: no table is wanted */
    struct clv_progress progress; /* the caller's, with one message at a time */
    pthread_mutex_t message_lock;
    struct memory_gate gate;
    struct comm_deal *deal; /* with which processes share the inputs; NULL: one process */
    int n_threads;
    struct page_file *pages; /* the file whose pages are the masks; NULL: each mask is a file */
    struct clv_report *report;
    struct file_writer status_table; /* without a stream if it is not wanted */
    /* deliver.c keeps these, under its lock. */
    pthread_mutex_t lock;
    struct outcome **parked; /* [inputs.n] outcomes that wait for those of earlier inputs */
    size_t next;             /* index of the next input to settle */
    size_t n_delivered;
    unsigned advised;       /* bits 1 << enum clv_fault of the faults that had advice once */
    enum clv_status status; /* the first failure that ends the run */
    struct clv_error error;
    struct clv_files_result *result;
    struct map_drift *drift; /* of the model's maps */
    size_t n_watched;        /* number of images in `unmet`, the sum of the shares of unseen features */
    double unmet;
    bool is_unmet_reported;
    size_t n_boxes, n_boxes_empty; /* segmented boxes; empty ones, of which the first is first_empty */
    char first_empty[200];
    size_t n_empty; /* masks with label 0 alone */
    double *pixels; /* [inputs.n] pixels of inputs that are not finished, else 0, for the time left; or NULL */
    double pixels_done, n_pixels;
};

/* Whether probabilities are written instead of labels; whether they are of all labels, or margins. */
static inline bool batch_is_probable(const struct batch *run)
{
    return run->options.probabilities != CLV_PROBABILITIES_NONE;
}
static inline bool batch_has_maps(const struct batch *run)
{
    return run->options.probabilities == CLV_PROBABILITIES_OF_ALL ||
           run->options.probabilities == CLV_PROBABILITIES_MARGINS;
}

/* Whether the run writes the objects that the model has learned to find. */
bool batch_has_learned_objects(const struct batch *run);

/* Sets is_object[256]: whether a label means objects. */
void batch_find_objects(bool is_object[256], const struct batch *run);

static inline const char *batch_model_name(const struct batch *run)
{
    return run->options.model_path ? run->options.model_path : "the model";
}

/* Whether output "-" sends the only result to standard output. The image "-" is then the image itself, not a list of
 * paths. */
static inline bool output_is_stream(const struct clv_files_options *options)
{
    return strcmp(options->output, "-") == 0;
}

/* The functions of this folder, file by file. */

/* check_options.c. files_options_check fails if options are missing or exclude each other, or need what the labeller or
 * the output lacks (CLV_ERR_USAGE); it reads no file. files_options_check_inputs checks the options that depend on the
 * inputs. */
enum clv_status files_options_check(const struct clv_files_options *options, const struct labeller *labeller,
                                    struct clv_error *err) CLV_CHECK;
enum clv_status files_options_check_inputs(const struct batch *run, struct clv_error *err) CLV_CHECK;

/* item.c. Processes an input: waits for memory, labels the input or reads its mask back, writes the missing files, and
 * delivers the outcome. `number` counts the inputs that this process takes, for the gate; SIZE_MAX: its memory was
 * admitted already. Returns a failure that ends the run. */
enum clv_status run_item(struct batch *run, size_t index, size_t number, int thread, struct clv_error *err) CLV_CHECK;

/* Whether the input's mask exists and stays. */
static inline bool input_has_mask(const struct batch *run, size_t index)
{
    const struct target *target = &run->targets.items[index];
    return target->has_mask || (target->is_finished && run->pages);
}

/* Whether the report or any wanted file shows the images. */
bool batch_needs_pixels(const struct batch *run);

/* Reads back the files of another process's input that the report shows. */
enum clv_status item_show(struct outcome *outcome, struct batch *run, size_t index, struct clv_error *err) CLV_CHECK;

/* Returns the bytes that an input needs besides labelling: for its objects, and for its largest file. */
double item_bytes(const struct batch *run, int32_t width, int32_t height);

/* Whether labels of an image of this size are refined at the pixels. */
bool batch_refines(const struct batch *run, int32_t width_px, int32_t height_px);

/* traces.c. Traces the outlines that exports have, once per item: of the objects, of the objects in boxes, or of the
 * connected pieces of the labels. */
enum clv_status labelled_trace(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;

/* Traces the same outlines by sides (struct tracing), as polygons that are valid by OGC's rules. */
enum clv_status labelled_trace_polygons(struct contours *polygons, const struct labelled *item, const struct batch *run,
                                        struct clv_error *err) CLV_CHECK;

static inline bool labels_are_empty(const uint8_t *labels, size_t n)
{
    for (size_t p = 0; p < n; p++)
        if (labels[p] && labels[p] != CLV_VOID)
            return false;
    return true;
}

/* deliver.c. deliver takes over the outcome of an input, from any thread, and settles all outcomes whose turn it is:
 * counts them, tells the caller, and puts them into the report. It returns a failure that ends the run. deliver_rest
 * settles the outcomes that wait for inputs that were never processed. */
enum clv_status deliver_begin(struct batch *run, struct clv_error *err) CLV_CHECK;
enum clv_status deliver(struct batch *run, size_t index, struct outcome **taken, struct clv_error *err) CLV_CHECK;
enum clv_status deliver_rest(struct batch *run, struct clv_error *err) CLV_CHECK;
void deliver_end(struct batch *run);

/* Reports notes on the whole run, at its end. */
void deliver_note(const struct batch *run);

/* team.c. Calls run_item for every input on all threads, or shares the inputs with the processes that mpirun started: a
 * free process takes the next input and writes its files, and rank 0 settles all outcomes in input order. */
enum clv_status run_all(struct batch *run, struct clv_error *err) CLV_CHECK;

/* outcome.c. Sends an outcome to rank 0, which unpacks and delivers it. The unpacked outcome has no entry. */
struct outcome *outcome_new(void); /* NULL: out of memory */
void outcome_free(struct outcome *outcome);
DROPS(outcome_drop, struct outcome, outcome_free)
enum clv_status outcome_send(struct batch *run, size_t index, const struct outcome *outcome,
                             struct clv_error *err) CLV_CHECK;
enum clv_status outcome_unpack(struct outcome **outcome, size_t *index, const void *bytes, size_t size,
                               struct clv_error *err) CLV_CHECK;

/* targets.c. Plans the paths of all files of all inputs, before anything is written. Inputs whose output has too long a
 * name, or is the output of another input as well, get a problem, which is reported. CLV_ERR_USAGE: a mask would be in
 * a folder of the inputs, where the next run would read it as an image (unless `output` names that folder).
 * CLV_ERR_CREATE: the folder is a file, or an output exists, or an output is one of the inputs or their masks. */
enum clv_status targets_plan(struct batch *run, struct clv_error *err) CLV_CHECK;

/* Fails with the target's problem, which must not be NULL. */
enum clv_status target_fail(const struct target *target, struct clv_error *err) CLV_CHECK;

/* Notes which outputs exist. CLV_ERR_CREATE if one may neither be replaced nor finished by --resume. */
enum clv_status targets_check_existing(struct batch *run, struct clv_error *err) CLV_CHECK;

/* tables.c: objects.tsv, coco.json and VOC's list of the folder. tables_keep keeps what they need of all inputs, before
 * the inputs of other shards are removed. tables_join joins their parts at the end of the run, unless another shard is
 * still running. */
enum clv_status tables_keep(struct batch *run, struct clv_error *err) CLV_CHECK;
enum clv_status tables_join(struct batch *run, struct clv_error *err) CLV_CHECK;
void tables_release(struct batch *run);

/* Lists the paths of the tables that are wanted: paths[n], at most 3; the caller frees each with array_free. */
enum clv_status tables_paths(char *paths[3], int *n, const struct batch *run, struct clv_error *err) CLV_CHECK;

/* folder.c. folder_lock locks the folders of the outputs and of the report that exist, for this run or its shard.
 * folder_claim checks that the files that the run writes once are new or may be replaced. Both come before any work. */
enum clv_status folder_lock(struct batch *run, struct clv_error *err) CLV_CHECK;
enum clv_status folder_claim(struct batch *run, struct clv_error *err) CLV_CHECK;

/* Sets run->to for the output FILE.png or FILE.tif of one image, or FILE.tif of a single sequence: the file is the
 * mask, or its pages are the masks, and other files are in its folder. Does nothing if the output is a folder, a new
 * name without that ending, or standard output. CLV_ERR_USAGE: several images or several sequences. */
enum clv_status folder_take_file(struct batch *run, bool is_one_sequence, struct clv_error *err) CLV_CHECK;

/* Makes the folders, locks new ones, and writes the hidden note of the run (RUN_NOTE). CLV_ERR_CREATE: with --resume,
 * the note has the digest of another model. */
enum clv_status folder_make_all(struct batch *run, struct clv_error *err) CLV_CHECK;

/* Removes the folders that the run made and that are empty, at its end, while it holds its locks. */
void folder_remove_empty(struct batch *run);
void destination_release(struct destination *to);

/* names.c. Writes `text` to the file <below> in the output folder, and releases it. A file with the same text stays,
 * since other shards write it. CLV_ERR_CREATE: the file has another text and outputs are not overwritten, or it is one
 * of the inputs. */
enum clv_status names_write(struct batch *run, const char *below, struct text *text, struct clv_error *err) CLV_CHECK;

/* Whether the file has this text. */
bool file_has_text(const char *path, const struct text *text);

/* masks.c: the mask's file. */

/* Checks the format. CLV_ERR_USAGE if 0 and 255 cannot distinguish the labels. */
enum clv_status mask_format_check(enum clv_mask_format format, const struct clv_labels *labels,
                                  struct clv_error *err) CLV_CHECK;

/* Writes label_of[height][width], all or nothing: a PNG, or, if the path ends with .tif, a GeoTIFF with the
 * georeference of the file `image` (NULL: none). labels may be NULL with CLV_MASKS_GREY: then the values are not
 * labels, and 255 is not void. Two labels without a table of names are black and white in the palette, so that any
 * viewer shows them; others have the colours of labels->palette. CLV_VOID stays 255, but becomes 0 with
 * CLV_MASKS_BINARY. */
enum clv_status mask_file_write(const char *path, const char *image, int32_t width, int32_t height,
                                const uint8_t *label_of, enum clv_mask_format format, const struct clv_labels *labels,
                                struct clv_error *err) CLV_CHECK;

/* Returns the colours of a mask and their number, including that of CLV_VOID if has_void; NULL and 0 without a
 * palette. */
const uint8_t (*mask_file_palette(int *n_colours, enum clv_mask_format format, const struct clv_labels *labels,
                                  bool has_void))[3];

/* Convert labels to 0 and 255, test whether a mask has these values, and convert them back to labels. */
void mask_file_to_binary(uint8_t *values, size_t n);
bool mask_file_is_binary(const struct clv_labels *labels, bool has_palette, bool has_one);
void mask_file_from_binary(uint8_t *values, size_t n, const struct clv_labels *labels,
                           const struct clv_indexed_image *image);

/* Writes the masks of a sequence as the pages of one file (output FILE.tif), in order. Any thread may put a page; pages
 * before their turn wait in memory. Without all pages the file is not written, which a note reports. page_file_end
 * frees self, which may be NULL. */
struct page_file;
enum clv_status page_file_new(struct page_file **self, const struct batch *run, const struct clv_item *items, size_t n,
                              struct clv_error *err) CLV_CHECK;
enum clv_status page_file_put(struct page_file *self, size_t index, int32_t width, int32_t height,
                              const uint8_t *label_of, struct clv_error *err) CLV_CHECK;
enum clv_status page_file_end(struct page_file *self, bool is_whole, struct clv_error *err) CLV_CHECK;

/* pictures.c: overlays with their legend, and cut-outs, for file_kinds. */
#define OVERLAY_OPACITY 0.45

/* Returns the width of outlines. It grows with the image, so that outlines are visible when the whole image is
 * shown. */
int32_t picture_outline_px(int32_t width, int32_t height);
enum clv_status overlay_write(const char *path, struct labelled *item, const struct batch *run,
                              struct clv_error *err) CLV_CHECK;
enum clv_status cutout_write(const char *path, struct labelled *item, const struct batch *run,
                             struct clv_error *err) CLV_CHECK;

/* Writes folder/overlays/legend.svg, all or nothing: the colour of every label with a name that is not void. An
 * existing legend with another text stays, and a note reports that, unless outputs are overwritten. */
enum clv_status overlay_legend_write(struct batch *run, struct clv_error *err) CLV_CHECK;

/* Sets run->is_cut, the labels of the object in cut-outs. CLV_ERR_USAGE: one of options.cutout_labels is not a
 * label. */
enum clv_status cutout_choose(struct batch *run, struct clv_error *err) CLV_CHECK;

/* exports.c: objects in the formats of other programs, for file_kinds. */
enum clv_status labelme_write(const char *path, struct labelled *item, const struct batch *run,
                              struct clv_error *err) CLV_CHECK;
enum clv_status yolo_write(const char *path, struct labelled *item, const struct batch *run,
                           struct clv_error *err) CLV_CHECK;
enum clv_status geojson_write(const char *path, struct labelled *item, const struct batch *run,
                              struct clv_error *err) CLV_CHECK;
enum clv_status voc_write(const char *path, struct labelled *item, const struct batch *run,
                          struct clv_error *err) CLV_CHECK;
enum clv_status voc_classes_write(const char *path, struct labelled *item, const struct batch *run,
                                  struct clv_error *err) CLV_CHECK;
enum clv_status voc_objects_write(const char *path, struct labelled *item, const struct batch *run,
                                  struct clv_error *err) CLV_CHECK;
/* Whether the document at that path begins as coco.json of this program does. */
bool annotations_are_of_cleave(const char *path);
enum clv_status annotations_write(const char *path, struct labelled *item, const struct batch *run,
                                  struct clv_error *err) CLV_CHECK;
/* Return the image's path as exports name it, and the relative path of an image from the folder of `file`, with links
 * resolved if both exist (array_free it; NULL: out of memory). */
const char *export_image_of(const struct input *input);
char *export_path_between(const char *file, const char *image);
enum clv_status export_names_write(struct batch *run, struct clv_error *err) CLV_CHECK;

/* object_files.c: numbers and measures objects. */

/* Finds and measures the objects of item->labels. If an earlier run has written objects, they must be the same. */
enum clv_status objects_find(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;

/* For file_kinds: the image of numbers (a note reports the first TIFF), and the image's rows of objects.tsv. */
enum clv_status objects_write(const char *path, struct labelled *item, const struct batch *run,
                              struct clv_error *err) CLV_CHECK;
enum clv_status object_rows_write(const char *path, struct labelled *item, const struct batch *run,
                                  struct clv_error *err) CLV_CHECK;

/* With a model of colours, sets the means and deviations of item->rows to those of the file's n_samples bands (1 or 3;
 * 0: does nothing). */
void objects_take_samples(struct labelled *item, const struct batch *run, int32_t n_samples);

/* Puts the first line of objects.tsv. */
void object_rows_head(struct text *text, const struct batch *run);

/* Draws outlines where objects touch. */
enum clv_status objects_outline(struct clv_image *image, const struct clv_object_map *map, int32_t outline_px,
                                struct clv_error *err) CLV_CHECK;

/* report_file.c: the report. */
#define REPORT_TITLE        "cleave: segmentation"
#define PROBABILITIES_TITLE "cleave: probabilities"
enum clv_status report_begin(struct batch *run, struct clv_error *err) CLV_CHECK;

/* Adds the pictures of an input, from any thread: sets outcome->entry. Reads the ground truth, and draws boxes into
 * item->image. */
enum clv_status report_picture(struct outcome *outcome, struct labelled *item, struct batch *run,
                               struct clv_error *err) CLV_CHECK;

/* Completes the report with the entries so far. Returns `status` with its message if it is a failure. */
enum clv_status report_end(struct batch *run, enum clv_status status, struct clv_error *err) CLV_CHECK;

/* status_file.c: the table of all inputs. status_claim checks before any work that it may be written, unless it is in a
 * folder that the run makes. status_begin creates it with its head, which the tables of later shards do not have;
 * status_put adds a line for each settled input; status_end completes it. */
enum clv_status status_claim(struct batch *run, struct clv_error *err) CLV_CHECK;
enum clv_status status_begin(struct batch *run, struct clv_error *err) CLV_CHECK;
void status_put(struct batch *run, const struct clv_file_outcome *outcome);
enum clv_status status_end(struct batch *run, struct clv_error *err) CLV_CHECK;

/* item_maps.c: network maps of an image. input_maps_memory returns the bytes that they need, 0 if they are not found.
 * input_maps_read sets item->maps in the order of the model's recipe, NULL if it has none (item_maps_close releases
 * them), and item->map_means. */
double input_maps_memory(const struct input *input, const struct batch *run);
enum clv_status input_maps_read(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;

/* probabilities.c. */

/* Describes for the report how the run computes probabilities: "shares of 100 samples; ..". */
#define PROBABILITIES_WORDS 200
void probabilities_describe(char words[PROBABILITIES_WORDS], const struct batch *run);

/* Sets run->label by options.label, a number or a name; label 1 without one. CLV_ERR_USAGE: the model lacks it. */
enum clv_status probabilities_find_label(struct batch *run, struct clv_error *err) CLV_CHECK;

/* Computes values[nodes][n_labels]: probabilities of a problem's nodes, or margins, by options.probabilities. If one
 * label's probability is written, the summary gets the kind of marginals and the bound of the log-partition. */
enum clv_status probabilities_find(double *values, struct probability_summary *summary, const struct batch *run,
                                   const struct clv_problem *problem, struct clv_oracle *oracle,
                                   struct clv_error *err) CLV_CHECK;

/* Does the same for a field of the model's scores, which it may scale in place. */
enum clv_status probabilities_find_of_field(double *values, struct probability_summary *summary,
                                            const struct batch *run, struct clv_field *field, struct clv_oracle *oracle,
                                            struct clv_error *err) CLV_CHECK;

/* Converts a probability to 0..255. Sums up share and entropy over nodes; area[n_nodes] in pixels, NULL: 1 each. */
int32_t probability_shade(double p);
void probabilities_sum_up(struct probability_summary *summary, const struct batch *run, const double *marginals,
                          const float *area, int32_t n_nodes);

/* Paints these values. For one label: item->labels = its probability times 255, rounded, and share and entropy in
 * item->summary. For all labels: item->map, which has the size of the example's map of superpixels, or is scaled to it
 * so that the longer side is options.side. */
enum clv_status probabilities_show(struct labelled *item, const struct batch *run, const struct clv_example *example,
                                   const double *values, struct clv_error *err) CLV_CHECK;
enum clv_status label_map_write(const char *path, const struct label_map *map, int32_t n_labels,
                                struct clv_error *err) CLV_CHECK;
/* Compute the size of the map for superpixels of width x height; return the map's pixel, of map_n, that contains the
 * centre of pixel k of n; return the value of a probability. */
void label_map_size(int32_t *map_width, int32_t *map_height, const struct batch *run, int32_t width, int32_t height);
size_t label_map_pixel(int32_t k, int32_t n, int32_t map_n);
uint16_t label_map_value(double probability);
/* Estimates the bytes of the map of an image of n_pixels pixels, and of the scratch memory for it. */
double label_map_bytes(const struct batch *run, int32_t n_labels, double n_pixels);

/* by_model.c, for labellers with a model: model_open reads it or takes a view of the caller's, and sets run->model and
 * run->labels. model_bytes returns the bytes of an image's features and labels. */
enum clv_status model_open(struct clv_model *model, bool *is_view, struct batch *run, struct clv_error *err) CLV_CHECK;
double model_bytes(const struct batch *run, const struct input *input, int32_t width, int32_t height, double file_size);

/* Sets the members of memory_work that depend on the files of an image. */
static inline void memory_take_files(struct memory_work *work, const struct batch *run)
{
    work->has_overlay = run->options.overlay;
    work->has_report = run->options.report != NULL;
    work->has_cutout = run->options.cutout;
    work->has_export = run->options.exports != 0;
    work->has_specks = run->options.min_area > 0;
}

/* gather.c. Gathers the inputs from arguments, a set or a feature file; labellers call it. */
enum clv_status gather_inputs(struct batch *run, const struct clv_dataset *dataset, struct clv_error *err) CLV_CHECK;

/* Checks the number of inputs. CLV_ERR_NO_INPUT: no input; CLV_ERR_USAGE: several inputs for standard output. */
enum clv_status gather_check(const struct batch *run, struct clv_error *err) CLV_CHECK;

/* by_tiles.c. Labels an image that is larger than --max-pixels and writes its mask. Files beside the mask keep finished
 * tiles until it is complete. */
enum clv_status tiles_label(struct labelled *item, const struct batch *run, struct clv_oracle *oracle,
                            struct clv_error *err) CLV_CHECK;

/* raster_item.c. Paths of files beside another one: with an ending, of finished tiles, of windows in which learned
 * objects are found; the caller frees them, NULL: out of memory. tiles_key identifies what tiles and windows depend on
 * besides the raster. */
char *file_beside(const char *path, const char *ending);
char *tiles_path(const char *mask);
char *windows_path(const char *mask);
uint64_t tiles_key(const struct batch *run);

/* Returns the bytes that such an image needs, with the rows of its files but without outlines and specks; at most the
 * memory of the run, so that the image waits for others and is never refused. */
double tiles_bytes(const struct batch *run, const struct input *input);

/* Fails if an input is segmented by tiles and a wanted file cannot be written by rows (CLV_ERR_USAGE). */
enum clv_status tiles_check(const struct batch *run, struct clv_error *err) CLV_CHECK;

#endif
