/* Labels many files and writes the results: `cleave segment`, `cleave probabilities` and `cleave propagate`, each of
 * which makes the one call clv_segment_files (cleave/files.h).
 *
 * Two tables meet here. A labeller (by_model.c, by_boxes.c, ..) is a way to find an image's labels; a row of file_kinds
 * (file_kinds.c) is a kind of file that is made of an image and its labels. Neither knows the other: files.c opens the
 * labeller, plans the targets of all inputs (targets.c) before any work, locks the folder (folder.c), and the labeller
 * calls run_item for each input (item.c), from any thread and in its own order. A small outcome remains of each input,
 * which deliver.c settles in input order; at the end join.c makes the folder's tables of their parts. Start at
 * clv_segment_files in files.c, then read run_item. */
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

/* Needs of options and files. A labeller, or an output, can lack some of them. */
enum {
    NEEDS_PIXELS = 1,  /* images to look at */
    NEEDS_LABELS = 2,  /* labels, not probabilities */
    NEEDS_MODEL = 4,   /* a model whose scores decide */
    NEEDS_FOLDER = 8,  /* the output is a folder */
    NEEDS_BESIDE = 16, /* the output is not a stream: files can be beside it */
    NEEDS_APART = 32,  /* inputs that are labelled independently of each other */
    N_NEEDS = 6
};

/* A way of labelling. */
struct labeller {
    const char *name;                      /* in refusals: "--boxes" */
    const char *source, *method, *refined; /* of labellers without a model, for the report */
    bool has_truth;           /* a mask that an input's set has is the truth, with which the report compares */
    unsigned lacks;           /* of NEEDS_.. */
    const char *why[N_NEEDS]; /* [k] ends the refusal of options that need 1 << k: "a feature file has no images" */

    /* Opens what it reads, sets run->labels, and adds the inputs. */
    enum clv_status (*open)(struct batch *run, struct clv_error *err);

    /* Calls run_item once for every input, in any order and from any thread. */
    enum clv_status (*each)(struct batch *run, struct clv_error *err);

    /* Sets item->labels, width and height, and the image if anything needs its pixels. For an input that is segmented
     * by tiles it writes the whole mask file. */
    enum clv_status (*label)(struct labelled *item, struct batch *run, size_t index, int thread, struct clv_error *err);

    /* Peak bytes of labelling an image of that size, from a file of file_size bytes. */
    double (*bytes)(const struct batch *run, const struct input *input, int32_t width, int32_t height,
                    double file_size);

    /* Adds to an error of too little memory an option that needs less; NULL: there is none. */
    enum clv_status (*advise_memory)(const struct batch *run, const struct input *input, struct clv_error *err);

    void (*close)(struct batch *run);
};
extern const struct labeller by_model, by_features, by_boxes, by_windows, by_propagating, by_masks;

/* The files of an image beside its mask. */
enum file {
    FILE_OVERLAY,
    FILE_CUTOUT,
    FILE_OBJECTS, /* their label image */
    FILE_LABELME,
    FILE_YOLO,
    FILE_GEOJSON,
    FILE_VOC,
    FILE_CLASSES,       /* VOC's mask, .. */
    FILE_CLASS_OBJECTS, /* .. and its label image of objects */
    FILE_ROWS,          /* parts of the folder's tables: of objects.tsv, .. */
    FILE_ANNOTATIONS,   /* .. and of coco.json */
    N_FILES
};

/* Where an input's files go. */
struct target {
    char *mask, *files[N_FILES]; /* paths; NULL where none is wanted */
    char *problem; /* why the output is impossible: this input fails, the others continue; NULL: it is possible */
    size_t problem_path_length; /* of the input's name, with which that begins */
    unsigned there;             /* with --resume: bits 1 << enum file of those that are there, */
    bool has_mask;              /* and whether the mask is */
    bool is_finished;           /* all are there, except parts, which are checked when the input's turn comes */
    bool is_tiled;
    size_t page; /* of the run's one file of pages */
};

struct target_list {
    struct target *items; /* [n], one per input */
    size_t n, n_finished, n_problems;
};
void target_list_release(struct target_list *list);

/* The destination of a run's files. */
struct destination {
    const char *output; /* a folder, or "-" */
    const char *file;   /* the one mask, or the pages of all; NULL: masks are files in the folder */
    bool is_stack;      /* the file has a page for each image of a sequence */
    char *folder;       /* of that file, which `output` is then */
    char *report;       /* the report's folder, of a shard its own; NULL: none is wanted */
    char *status;       /* the table of all inputs, likewise */
    int n_made;         /* how many folders this run made for the outputs, one in another, .. */
    int n_report_made;  /* .. and for the report */
    struct outputs outputs;
};

/* Probabilities or margins of all labels on a grid over the image. */
struct label_map {
    int32_t width, height;
    uint16_t *values; /* [n_labels][height][width], 65535 times the mean probability; NULL: none was made */
    float *margins;   /* the same shape: mean margins; NULL: none was made */
};
void label_map_release(struct label_map *map);

/* The probabilities of one label in an image. */
struct probability_summary {
    double share;                 /* expected share of the label's pixels */
    double entropy;               /* mean over pixels of H(p) in bits: 0 certain, 1 a coin */
    double bound, standard_error; /* upper bound A_G of the log-partition */
    enum clv_marginals kind;
};

/* An input while it is labelled and its files are written. */
struct labelled {
    const struct input *input;
    const struct target *target;
    int32_t width, height;
    struct clv_image image;  /* without pixels if nothing reads them */
    uint8_t *labels;         /* [height][width] labels, or 255 times a probability; NULL: none, or rows of a file */
    struct label_map map;    /* of all labels, in place of labels */
    bool is_empty;           /* of a raster by tiles: all labels are 0 or void */
    unsigned todo;           /* files that are written: bits 1 << enum file */
    bool was_there;          /* labels are those of the mask that was there */
    struct map_reader *maps; /* that the recipe wants; or NULL */
    struct clv_object_map objects;        /* found with --objects, or {0} */
    struct clv_object_map boxed;          /* the object in each box; {0} for other labellers */
    struct clv_object *rows;              /* [objects.n_objects] measures */
    double *band_means, *band_deviations; /* [objects.n_objects][n_bands] of a model of bands, else NULL */
    struct object_windows *learned;       /* of a raster by tiles, what a model has learned to find; or NULL */
    struct raster_item *raster;           /* what files of a raster by tiles are made with (raster_files.h); or NULL */
    struct part_mask part_mask;           /* the mask's file, which the first part looks at */
    struct contours contours;             /* of what is exported, once labelled_trace found them */
    bool is_traced;
    float *map_means; /* [map_drift_size], or NULL: not known */
    double unmet;     /* label_unmet_share */
    double bytes;     /* that the gate has let in */
    struct box_findings found;
    struct probability_summary summary;
};
void labelled_release(struct labelled *item);

/* All that remains of an input after its files are written; its size does not depend on the image. */
struct outcome {
    enum clv_status status;
    struct clv_error error;
    bool is_said;               /* its failure was reported already: a clash of outputs, a frame lost with its chain */
    bool is_earlier;            /* an earlier run finished it */
    bool is_labelled, is_empty; /* labels were found now; they are all 0 or void */
    int32_t n_objects;
    struct box_findings found;
    struct probability_summary summary;
    float *map_means;          /* owned; NULL: not known */
    double unmet;              /* below 0: not measured */
    struct report_slot *entry; /* owned; its pictures in the report's spool; NULL: none */
};

/* Frames of a sequence whose masks were given. */
struct given_frames {
    const struct clv_set *set;
    const uint8_t *is_given; /* [set->n_items] */
};

/* A run over inputs. */
struct batch {
    struct clv_files_options options; /* a copy; tolerance and others as they are after defaults */
    const struct labeller *labeller;
    void *own;                      /* the labeller's */
    struct clv_labels labels;       /* of the masks */
    const struct clv_model *model;  /* NULL: no model labels */
    char model_digest[DIGEST_SIZE]; /* of its file, or of the file that it would have */
    const struct clv_boxes *boxes;  /* inputs are objects in them; NULL: none */
    const uint8_t *box_values;      /* [boxes->n_labels] in masks */
    size_t bad_boxes;               /* files of boxes that could not be read */
    struct given_frames given;      /* of propagating; else {NULL} */
    const struct clv_item *frames;  /* [n_frames] of sequences, whose masks can be pages of one file; NULL: there are
                                    * none, */
    size_t n_frames;
    bool is_one_sequence;     /* as those of one sequence can */
    struct input_list inputs; /* of the shard */
    size_t first;             /* index of the first of these among all inputs, */
    size_t n_all;             /* and the number of all inputs */
    struct target_list targets;
    struct destination to;
    bool is_cut[256];          /* labels of the object that is cut out */
    int32_t label;             /* whose probability is written */
    struct part_options parts; /* the options on which parts of tables depend */
    struct listed *listed;     /* of all inputs, other shards', too: what the tables need; NULL: no table is wanted */
    struct clv_progress progress; /* the caller's, with one message at a time */
    pthread_mutex_t saying;
    struct memory_gate gate;
    struct comm_deal *deal; /* by which processes share the inputs; NULL: this one has all */
    int n_threads;
    struct page_file *pages; /* that masks are pages of; NULL: each is a file */
    struct clv_report *report;
    struct file_writer status_table; /* without a stream: none is wanted */
    /* deliver.c keeps these, under its lock. */
    pthread_mutex_t lock;
    struct outcome **parked; /* [inputs.n] that wait for those before them */
    size_t next;             /* to settle */
    size_t n_delivered;
    unsigned advised;       /* faults whose first failure came with advice, bits 1 << enum clv_fault */
    enum clv_status status; /* the first that ends the run */
    struct clv_error error;
    struct clv_files_result *result;
    struct map_drift *drift; /* of the model's maps */
    size_t n_watched;        /* images whose shares of unmet features are summed up */
    double unmet;
    bool is_unmet_said;
    size_t n_boxes, n_boxes_empty; /* boxes that were cut; those with nothing found, the first of which is: */
    char first_empty[200];
    size_t n_empty; /* masks that have label 0 alone */
    double *pixels; /* [inputs.n] of those that are not finished, else 0, for the time left; NULL: not known */
    double pixels_done, n_pixels;
};

/* Whether probabilities are written instead of labels; and whether they are of all labels, or margins. */
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

/* Labellers call these, and so do the files of this room: a paragraph for each file. */

/* wishes.c. Refuses options that are missing or exclude each other, and what the labeller or the output lacks
 * (CLV_ERR_USAGE); before anything is read. wishes_check_inputs likewise, once the inputs are known. */
enum clv_status wishes_check(const struct clv_files_options *options, const struct labeller *labeller,
                             struct clv_error *err) CLV_CHECK;
enum clv_status wishes_check_inputs(const struct batch *run, struct clv_error *err) CLV_CHECK;

/* item.c. Processes an input: waits for memory, labels it or reads its mask back, writes the missing files, and
 * delivers its outcome. `number` counts the inputs that this process takes, for the gate; SIZE_MAX: its memory was
 * admitted already. Returns a failure that ends the run. */
enum clv_status run_item(struct batch *run, size_t index, size_t number, int thread, struct clv_error *err) CLV_CHECK;

/* Whether the input's mask is there and stays. */
static inline bool input_has_mask(const struct batch *run, size_t index)
{
    const struct target *target = &run->targets.items[index];
    return target->has_mask || (target->is_finished && run->pages);
}

/* Whether any file that is wanted, or the report, shows the images. */
bool batch_looks_at_pixels(const struct batch *run);

/* Reads back the files of another process's input that the report shows. */
enum clv_status item_show(struct outcome *outcome, struct batch *run, size_t index, struct clv_error *err) CLV_CHECK;

/* Bytes for an input besides those of labelling: for what is found in its labels, and for the largest file. */
double item_bytes(const struct batch *run, int32_t width, int32_t height);

/* Whether labels of an image of this size are refined at the pixels. */
bool batch_refines(const struct batch *run, int32_t width_px, int32_t height_px);

/* traces.c. Traces once what is exported of an image: its objects, those in its boxes, or the connected pieces of its
 * labels. */
enum clv_status labelled_trace(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;

/* Traces it by sides (struct tracing), as polygons that are valid by OGC's rules. */
enum clv_status labelled_trace_polygons(struct contours *polygons, const struct labelled *item, const struct batch *run,
                                        struct clv_error *err) CLV_CHECK;

static inline bool labels_are_empty(const uint8_t *labels, size_t n)
{
    for (size_t p = 0; p < n; p++)
        if (labels[p] && labels[p] != CLV_VOID)
            return false;
    return true;
}

/* deliver.c. Takes the outcome of an input, which is allocated before its files are written, from any thread, and
 * settles all whose turn it is: counts it, reports it to the caller, and puts it into the report. Returns a failure
 * that ends the run. deliver_rest settles what waits for inputs that were never worked on. */
enum clv_status deliver_begin(struct batch *run, struct clv_error *err) CLV_CHECK;
enum clv_status deliver(struct batch *run, size_t index, struct outcome **taken, struct clv_error *err) CLV_CHECK;
enum clv_status deliver_rest(struct batch *run, struct clv_error *err) CLV_CHECK;
void deliver_end(struct batch *run);

/* Notes on the whole run, at its end. */
void deliver_note(const struct batch *run);

/* team.c. Calls run_item for every input on all threads, or shares them with the processes that mpirun started: each
 * takes an input when it is free and writes its files, and rank 0 settles all of them in input order. */
enum clv_status run_all(struct batch *run, struct clv_error *err) CLV_CHECK;

/* outcome.c. Sends an outcome to rank 0, which unpacks and delivers it; then outcome->entry is NULL. */
struct outcome *outcome_new(void); /* NULL: out of memory */
void outcome_free(struct outcome *outcome);
DROPS(outcome_drop, struct outcome, outcome_free)
enum clv_status outcome_send(struct batch *run, size_t index, const struct outcome *outcome,
                             struct clv_error *err) CLV_CHECK;
enum clv_status outcome_unpack(struct outcome **outcome, size_t *index, const void *bytes, size_t size,
                               struct clv_error *err) CLV_CHECK;

/* targets.c. Paths of all files of all inputs. Inputs whose output has a name that is too long, or is another input's
 * output as well, get a problem, which is reported. Errors, before anything is written: CLV_ERR_USAGE if a mask would
 * be in a folder of the inputs, where it would be an image the next time (but not one that `output` names);
 * CLV_ERR_CREATE if the folder is a file, an output exists, or is one of the inputs or their masks. */
enum clv_status targets_plan(struct batch *run, struct clv_error *err) CLV_CHECK;

/* Fails with the target's problem, which must not be NULL. */
enum clv_status target_fail(const struct target *target, struct clv_error *err) CLV_CHECK;

/* Notes which outputs exist. CLV_ERR_CREATE if one may neither be replaced nor finished by --resume. */
enum clv_status targets_check_existing(struct batch *run, struct clv_error *err) CLV_CHECK;

/* tables.c: objects.tsv, coco.json and VOC's list of the folder. Keeps what they need of all inputs, before those of
 * other shards are removed; joins them at the end of the run, if no other shard is at work. */
enum clv_status tables_keep(struct batch *run, struct clv_error *err) CLV_CHECK;
enum clv_status tables_join(struct batch *run, struct clv_error *err) CLV_CHECK;
void tables_release(struct batch *run);

/* Paths of the tables that are wanted: paths[n], at most 3, array_free each. */
enum clv_status tables_paths(char *paths[3], int *n, const struct batch *run, struct clv_error *err) CLV_CHECK;

/* folder.c. Before any work: takes the output folder and the report's, as far as they are there, for this run or its
 * shard; files of the whole run must be new, or may be replaced. */
enum clv_status folder_lock(struct batch *run, struct clv_error *err) CLV_CHECK;
enum clv_status folder_claim(struct batch *run, struct clv_error *err) CLV_CHECK;

/* output FILE.png or FILE.tif of one image, or FILE.tif of the one sequence that all inputs are of: the file is the
 * mask, or has masks as pages, and what goes beside it is in the file's folder. Nothing is done if the output is a
 * folder, a new name without that ending, or standard output. CLV_ERR_USAGE: several images, or several sequences. */
enum clv_status folder_take_file(struct batch *run, bool is_one_sequence, struct clv_error *err) CLV_CHECK;

/* Makes the folders, locks those that are new, and writes the hidden note of the run (RUN_NOTE). CLV_ERR_CREATE with
 * --resume if a note has the digest of another model. */
enum clv_status folder_make_all(struct batch *run, struct clv_error *err) CLV_CHECK;

/* At the end, while the run still holds its locks: removes folders that it made and that are empty. */
void folder_remove_empty(struct batch *run);
void destination_release(struct destination *to);

/* names.c. Writes `text` to the file <below> of the output folder, and releases it. A file with the same text stays,
 * since other shards write it. CLV_ERR_CREATE for a file with another text, unless outputs are overwritten, and always
 * for one of the inputs. */
enum clv_status names_write(struct batch *run, const char *below, struct text *text, struct clv_error *err) CLV_CHECK;

/* Whether the file has this text. */
bool file_says(const char *path, const struct text *text);

/* masks.c: the mask's file. */

/* CLV_ERR_USAGE if 0 and 255 cannot distinguish the labels. */
enum clv_status mask_format_check(enum clv_mask_format format, const struct clv_labels *labels,
                                  struct clv_error *err) CLV_CHECK;

/* Writes label_of[height][width], all or nothing: as a PNG, or as a GeoTIFF with the georeference of the file `image`
 * (NULL: none) if the path ends with .tif. labels NULL, only with CLV_MASKS_GREY: the values are not labels, and 255 is
 * not void. In a palette two labels without a table of names are black and white, so that any viewer shows them; others
 * have their own colours. CLV_VOID stays 255, but is 0 in the format of 0 and 255. */
enum clv_status mask_file_write(const char *path, const char *image, int32_t width, int32_t height,
                                const uint8_t *label_of, enum clv_mask_format format, const struct clv_labels *labels,
                                struct clv_error *err) CLV_CHECK;

/* Returns the colours of a mask and their number, including that of CLV_VOID if has_void; NULL and 0 without a
 * palette. */
const uint8_t (*mask_file_palette(int *n_colours, enum clv_mask_format format, const struct clv_labels *labels,
                                  bool has_void))[3];

/* Turn labels into 0 and 255, and such values of an earlier run back into labels. */
void mask_file_to_binary(uint8_t *values, size_t n);
bool mask_file_is_binary(const struct clv_labels *labels, bool has_palette, bool has_one);
void mask_file_from_binary(uint8_t *values, size_t n, const struct clv_labels *labels,
                           const struct clv_indexed_image *image);

/* The masks of a sequence as pages of one file (output FILE.tif), written in their order. Pages come from any thread;
 * one that comes before its turn waits in memory. The file is written if all pages are there; otherwise a note tells
 * that it is not. page_file_end frees it; NULL is allowed. */
struct page_file;
enum clv_status page_file_new(struct page_file **self, const struct batch *run, const struct clv_item *items, size_t n,
                              struct clv_error *err) CLV_CHECK;
enum clv_status page_file_put(struct page_file *self, size_t index, int32_t width, int32_t height,
                              const uint8_t *label_of, struct clv_error *err) CLV_CHECK;
enum clv_status page_file_end(struct page_file *self, bool is_whole, struct clv_error *err) CLV_CHECK;

/* pictures.c: overlays with their legend, and cut-outs; of file_kinds. */
#define OVERLAY_OPACITY 0.45

/* The width of outlines. It grows with the image, so that they are visible when the whole image is shown. */
int32_t picture_outline_px(int32_t width, int32_t height);
enum clv_status overlay_write(const char *path, struct labelled *item, const struct batch *run,
                              struct clv_error *err) CLV_CHECK;
enum clv_status cutout_write(const char *path, struct labelled *item, const struct batch *run,
                             struct clv_error *err) CLV_CHECK;

/* Writes folder/overlays/legend.svg, all or nothing: the colour of every label with a name. An existing legend with
 * another text stays, and a note reports that, unless outputs are overwritten. */
enum clv_status overlay_legend_write(struct batch *run, struct clv_error *err) CLV_CHECK;

/* Labels of the object that is cut out. CLV_ERR_USAGE: the labels lack one of options.cutout_labels. */
enum clv_status cutout_choose(struct batch *run, struct clv_error *err) CLV_CHECK;

/* exports.c: objects for other programs; of file_kinds. */
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
/* Whether the document at that path begins as this program's do. */
bool annotations_are_own(const char *path);
enum clv_status annotations_write(const char *path, struct labelled *item, const struct batch *run,
                                  struct clv_error *err) CLV_CHECK;
/* The image as exports name it; the path to it from the folder of `file`, both there, links resolved, array_free it
 * (NULL: out of memory). */
const char *export_image_of(const struct input *input);
char *export_path_between(const char *file, const char *image);
enum clv_status export_names_write(struct batch *run, struct clv_error *err) CLV_CHECK;

/* object_files.c: objects numbered and measured. */

/* Finds and measures the objects of item->labels. If an earlier run has written objects, they must be the same. */
enum clv_status objects_find(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;

/* Rows of file_kinds: the label image (a note tells of the first TIFF), and the image's rows of objects.tsv. */
enum clv_status objects_write(const char *path, struct labelled *item, const struct batch *run,
                              struct clv_error *err) CLV_CHECK;
enum clv_status object_rows_write(const char *path, struct labelled *item, const struct batch *run,
                                  struct clv_error *err) CLV_CHECK;

/* Lets the rows of a model of colours have means and deviations of the file's one or three bands of samples, if it has
 * any. */
void objects_take_samples(struct labelled *item, const struct batch *run, int32_t n_samples);

/* The first line of objects.tsv. */
void object_rows_head(struct text *text, const struct batch *run);

/* Outlines where objects touch. */
enum clv_status objects_outline(struct clv_image *image, const struct clv_object_map *map, int32_t outline_px,
                                struct clv_error *err) CLV_CHECK;

/* report_file.c: the page of all results. */
#define REPORT_TITLE        "cleave: segmentation"
#define PROBABILITIES_TITLE "cleave: probabilities"
enum clv_status report_begin(struct batch *run, struct clv_error *err) CLV_CHECK;

/* Adds the pictures of an input, from any thread: outcome->entry. Reads the truth, and draws boxes into item->image. */
enum clv_status report_picture(struct outcome *outcome, struct labelled *item, struct batch *run,
                               struct clv_error *err) CLV_CHECK;

/* Completes the page, with the entries so far if a status ended the run, which keeps its message. */
enum clv_status report_end(struct batch *run, enum clv_status status, struct clv_error *err) CLV_CHECK;

/* status_file.c: the table of all inputs. Claimed before any work, but not in a folder that the run makes; begun with
 * its head, which a later shard's has not; a line for each input that is settled; ended if any input was settled. */
enum clv_status status_claim(struct batch *run, struct clv_error *err) CLV_CHECK;
enum clv_status status_begin(struct batch *run, struct clv_error *err) CLV_CHECK;
void status_put(struct batch *run, const struct clv_file_outcome *outcome);
enum clv_status status_end(struct batch *run, struct clv_error *err) CLV_CHECK;

/* item_maps.c: maps of networks beside an image. Bytes that they take while they are used, 0 where they are not found;
 * item->maps in the order of the model's recipe, NULL if it wants none (item_maps_close), and their means. */
double input_maps_memory(const struct input *input, const struct batch *run);
enum clv_status input_maps_read(struct labelled *item, const struct batch *run, struct clv_error *err) CLV_CHECK;

/* probabilities.c. */

/* Describes for the report how the run computes probabilities: "shares of 100 samples; ..". */
#define PROBABILITIES_WORDS 200
void probabilities_describe(char words[PROBABILITIES_WORDS], const struct batch *run);

/* Sets run->label by options.label, a number or a name; label 1 without one. CLV_ERR_USAGE: the model lacks it. */
enum clv_status probabilities_find_label(struct batch *run, struct clv_error *err) CLV_CHECK;

/* values[nodes][n_labels]: the probabilities of a problem's nodes, or margins, as options.probabilities asks for. Of
 * one label's probability the summary gets the kind and the log-partition's bound. */
enum clv_status probabilities_find(double *values, struct probability_summary *summary, const struct batch *run,
                                   const struct clv_problem *problem, struct clv_oracle *oracle,
                                   struct clv_error *err) CLV_CHECK;

/* Does the same for a field of the model's scores, which may be scaled in place. */
enum clv_status probabilities_find_of_field(double *values, struct probability_summary *summary,
                                            const struct batch *run, struct clv_field *field, struct clv_oracle *oracle,
                                            struct clv_error *err) CLV_CHECK;

/* A probability as a value from 0 to 255; share and entropy of nodes of so many pixels (area NULL: 1 each). */
int32_t probability_shade(double p);
void probabilities_sum_up(struct probability_summary *summary, const struct batch *run, const double *marginals,
                          const float *area, int32_t n_nodes);

/* Shows these values in pixels. Of one label: item->labels = its probability times 255, rounded, which is not voted on,
 * and share and entropy in item->summary. Of all labels: item->map, whose sides are those of the example's superpixels,
 * or of that shape with the longer one options.side long. */
enum clv_status probabilities_show(struct labelled *item, const struct batch *run, const struct clv_example *example,
                                   const double *values, struct clv_error *err) CLV_CHECK;
enum clv_status label_map_write(const char *path, const struct label_map *map, int32_t n_labels,
                                struct clv_error *err) CLV_CHECK;
/* Sides of the map of an image whose regions have these; the map's pixel that the centre of pixel k of n is in; the
 * value of a probability. */
void label_map_size(int32_t *map_width, int32_t *map_height, const struct batch *run, int32_t width, int32_t height);
size_t label_map_pixel(int32_t k, int32_t n, int32_t map_n);
uint16_t label_map_value(double probability);
double label_map_bytes(const struct batch *run, int32_t n_labels);

/* by_model.c, for labellers with a model: reads it or takes the caller's, sets run->model and run->labels; bytes of an
 * image's features and labels. */
enum clv_status model_open(struct clv_model *model, bool *is_view, struct batch *run, struct clv_error *err) CLV_CHECK;
double model_bytes(const struct batch *run, const struct input *input, int32_t width, int32_t height, double file_size);

/* Notes the files of an image that memory_of_work counts. */
static inline void memory_take_files(struct memory_work *work, const struct batch *run)
{
    work->has_overlay = run->options.overlay;
    work->has_report = run->options.report != NULL;
    work->has_cutout = run->options.cutout;
    work->has_export = run->options.exports != 0;
    work->has_specks = run->options.min_area > 0;
}

/* gather.c: the inputs of arguments, a set, a feature file; from labellers. */
enum clv_status gather_inputs(struct batch *run, const struct clv_dataset *dataset, struct clv_error *err) CLV_CHECK;

/* CLV_ERR_NO_INPUT: there are none; CLV_ERR_USAGE: several for standard output. */
enum clv_status gather_check(const struct batch *run, struct clv_error *err) CLV_CHECK;

/* by_tiles.c: all of an image that is larger than --max-pixels, up to its mask, next to which are files of what is done
 * while it lasts. */
enum clv_status tiles_label(struct labelled *item, const struct batch *run, struct clv_oracle *oracle,
                            struct clv_error *err) CLV_CHECK;

/* raster_item.c: paths of those files, of tiles and of windows whose learned objects are found, and of any other one
 * whose name begins with another's; new ones, NULL: out of memory. What tiles and windows depend on besides the
 * raster. */
char *file_beside(const char *path, const char *ending);
char *tiles_path(const char *mask);
char *windows_path(const char *mask);
uint64_t tiles_key(const struct batch *run);

/* Bytes that such an image takes, its rows and those of its files included, outlines and specks apart; at most what the
 * run may have, so that it waits for others and is never refused. */
double tiles_bytes(const struct batch *run, const struct input *input);

/* Refuses files that are made of whole images in memory, if an input is segmented by tiles (CLV_ERR_USAGE). */
enum clv_status tiles_check(const struct batch *run, struct clv_error *err) CLV_CHECK;

#endif
