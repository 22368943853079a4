/* `cleave segment` and `cleave probabilities`: from images to masks, or to maps of probabilities.
 *
 * Both parse into struct segment (segment_options.c has what they share) and end in segment_images (cmd_segment.c): it
 * reads the model, finds the inputs (cli/common/inputs.c; with --boxes box_inputs.c), plans all outputs before any work
 * (output_plan.c) and calls segment_all (segment_run.c), which works on images in parallel and reports
 * results in input order (memory_gate.c). probabilities.c has what probabilities adds. */
#ifndef CLI_SEGMENT_SEGMENT_H
#define CLI_SEGMENT_SEGMENT_H

#include <stdbool.h>

#include "base/base.h"
#include "cleave/boxes.h"
#include "cleave/model.h"
#include "cleave/objects.h"
#include "cleave/options.h"
#include "cleave/segment.h"
#include "cleave/train.h"
#include "cli/common/common.h"
#include "cli/segment/box_inputs.h"
#include "cluster/comm.h"
#include "data/shapes/shapes.h"
#include "feature/recipe/recipe.h"
#include "report/report.h"
#include "sequence/sequence.h"

/* The files that are written of an image next to its mask. Their paths are checked as a whole before any image is
 * read. */
enum output_kind {
    OUTPUT_OVERLAY,
    OUTPUT_CUTOUT,
    OUTPUT_OBJECTS, /* their label image */
    OUTPUT_LABELME, /* texts for other programs .. */
    OUTPUT_YOLO,
    OUTPUT_GEOJSON,
    OUTPUT_VOC,
    OUTPUT_CLASSES,       /* .. and VOC's mask, .. */
    OUTPUT_CLASS_OBJECTS, /* .. and its label image of objects */
    N_OUTPUTS
};

/* The path of outputs of a kind is folder/<below><output><ending>; below NULL: none is wanted. */
struct output_place {
    const char *below, *ending;
};

struct output {
    char *mask, *beside[N_OUTPUTS]; /* paths; NULL where none is wanted */
    bool finished, is_tiled;
    bool has_mask; /* that an earlier run finished, or somebody has changed since, and stays: the others are missing */
    char *problem; /* why there can be no output: it fails, the rest goes on; NULL: there is none */
};

struct output_list {
    struct output *items; /* [n], one per input */
    size_t n, n_finished, n_problems;
};
void output_list_release(struct output_list *list);

/* A path of an input, for qsort: by path, then by input. */
struct path_of {
    const char *path;
    size_t input;
};
int path_of_compare(const void *a, const void *b);

/* Forms of other programs that objects are written in: bits. */
enum export_form { EXPORT_COCO = 1, EXPORT_LABELME = 2, EXPORT_VOC = 4, EXPORT_YOLO = 8, EXPORT_GEOJSON = 16 };

struct export_options {
    unsigned forms;   /* enum export_form; 0: none */
    double tolerance; /* pixels, of polygons */
    bool runs;
};

struct segment {
    struct common_options common;
    const char *model_path, *data, *split, *features, *output, *report, *status_file;
    const char *file;  /* the mask of the one image, which -o names; NULL: -o is a folder */
    bool is_stack;     /* the file has a page for each image of a sequence */
    char *parent;      /* of that file, which `output` is then */
    int n_made;        /* how many folders this run made for the outputs, one in another */
    int n_report_made; /* and for the report */
    const char *boxes; /* box to cut, without a model; NULL: with one */
    bool is_sequence;  /* slices together, by a model; without a model masks are propagated */
    const char *given; /* splits whose masks are propagated; NULL: all */
    struct shard shard;
    struct clv_map_options maps;
    bool ends_with_zero; /* each path in the list that - reads; else with its line */
    bool overlay, fail_fast, cutout, crop;
    bool objects, clear_border; /* label images and a table of objects; without those at the border */
    const char *cutout_labels;  /* the object's, comma-separated; NULL: all but label 0 */
    struct export_options export;
    enum clv_refine_choice refine;
    enum existing existing;
    int mask_form;    /* enum mask_form */
    int32_t min_area; /* pixels; smaller regions get their neighbour's label */
    enum clv_engine engine;
    enum decoding_choice decoding;
    bool marginals;    /* write probabilities, not masks */
    double memory;     /* bytes that the run may take; 0: half of what is free */
    int32_t n_samples; /* perturb-and-MAP draws, for probabilities and for the least loss */
    uint64_t seed;     /* of the draws */
    const char *label; /* whose probability is written, by name or number; NULL: label 1 */
    bool json;
    bool all_labels; /* probabilities of all labels, as maps that --maps reads */
    bool margins;    /* max-marginal margins of all labels, as maps */
    int32_t side;    /* the longer one of such a map, at most, in its pixels; 0: those of the superpixels */
};

#define SECTION_INPUTS   "Inputs"
#define SECTION_OUTPUTS  "Outputs"
#define SECTION_DECIDING "How labels are decided"
#define SECTION_RUN      "Running"

/* Rows of what both commands take, and of what `segment` alone writes next to its masks: they set a struct segment. */
extern const char *const mask_forms[]; /* --mask-format: enum mask_form */
extern const struct clv_option segment_shared_rows[], segment_running_rows[], segment_output_rows[];

/* Whether -o - sends the only result to standard output. The argument - is then the image itself, not a list of
 * paths. */
bool segment_is_piped(const struct segment *self);

/* Refuse options that are missing or contradict each other (CLV_ERR_USAGE); segment_check_outputs does so for outputs
 * next to masks. */
enum clv_status segment_check(const struct segment *self, const char *command, struct clv_error *err) CLV_CHECK;
enum clv_status segment_check_outputs(const struct segment *self, struct clv_error *err) CLV_CHECK;

struct segment_run;
struct sequence;

/* Whether labels of an image of this size are refined at the pixels. Never with labels of the least loss or
 * probabilities, nor where boxes are cut, which does so itself. */
bool segment_refines(const struct segment_run *run, int32_t width_px, int32_t height_px);

#define STATUS_HEAD     "image\tstatus\tmask\tmessage"
#define REPORT_TITLE    "cleave: segmentation"
#define MARGINALS_TITLE "cleave: probabilities"

/* Before any work: takes the output folder and the report's, as far as they are there, for this run or its shard
 * (outputs.c); the files next to masks and overlays must be new, or may be replaced (outputs.c). */
enum clv_status segment_lock(struct segment *self, struct clv_error *err) CLV_CHECK;
enum clv_status segment_claim(struct segment *self, struct clv_error *err) CLV_CHECK;

/* Masks and overlays, which must not replace inputs either. Images without an output are reported before any work. */
enum clv_status segment_plan(struct output_list *outputs, struct segment *self, const struct input_list *inputs,
                             struct clv_error *err) CLV_CHECK;

/* -o FILE.png or FILE.tif for one image, or FILE.tif for the sequence that all inputs are of: the file is its mask, or
 * has them as pages, and what goes next to it is in the file's folder. Nothing is done if the output is a folder, a new
 * name without that ending, or standard output. CLV_ERR_USAGE: several images, or several sequences. */
enum clv_status segment_take_file(struct segment *self, struct input_list *inputs, bool is_one_sequence,
                                  struct clv_error *err) CLV_CHECK;

/* Makes the folders, takes those that were not there, and leaves a hidden note of what they are of (RUN_NOTE), and of
 * the sequence's given frames: with --resume CLV_ERR_CREATE if one is there that has the digest of another model. */
enum clv_status segment_make_folders(struct segment *self, struct output_list *outputs, const struct input_list *inputs,
                                     const struct sequence *sequence, struct clv_error *err) CLV_CHECK;

/* Whether outputs are there that may not be replaced, nor finished by --resume (CLV_ERR_CREATE); which are finished. */
enum clv_status segment_check_existing(struct output_list *list, const struct segment *self,
                                       struct clv_error *err) CLV_CHECK;

/* At the end, while the run still holds its locks: removes folders that it made and that are empty, and releases what
 * was made of the struct. */
void segment_remove_empty(struct segment *self);

/* The whole run. */
enum clv_status segment_images(struct segment *self, struct clv_error *err) CLV_CHECK;

/* Everything a run over inputs needs; views but for json. */
struct segment_run {
    const struct segment *options;
    const struct clv_model *model;
    const struct clv_dataset *dataset; /* the inputs are its items; NULL: they are images */
    const struct clv_boxes *boxes;     /* the inputs are objects in them, and the model knows labels only; NULL: none */
    const uint8_t *box_values;         /* [boxes->n_labels] in masks */
    const struct sequence *sequence;   /* the inputs are frames of it; NULL: none */
    struct stack_file *stack;          /* that masks are pages of; NULL: each is a file */
    const struct input_list *inputs;   /* of the shard */
    const struct output_list *outputs;
    const char **listed; /* [n_listed] masks and names of images that are done; NULL: nobody asks (earlier.c) */
    size_t n_listed;
    size_t first;                /* the inputs are the dataset's items from this one on */
    struct clv_report *report;   /* NULL: none */
    struct exporting *exporting; /* NULL: nothing is exported */
    bool is_cut[256];            /* labels of the object that is cut out */
    FILE *status;                /* a line per input, NULL: none */
    FILE *objects;               /* a line per object, NULL: none */
    const struct clv_progress *progress;
    int32_t label;    /* marginals: whose probability is written */
    struct text json; /* marginals: receives an object per input */
};

struct segment_counts {
    size_t n_done, n_finished_before, n_failed, n_objects;
    size_t n_boxes, n_boxes_empty; /* boxes that were cut, and those in which nothing was found; the first of them: */
    char first_empty[256];
    size_t n_empty;                /* of n_done: masks that have label 0 alone */
    enum clv_status first_failure; /* in input order */
};

/* Segments all inputs in parallel: each thread has one image at a time, results are reported in input order. Failures
 * of an input are printed and counted and the rest goes on, unless options->fail_fast. What makes going on useless (an
 * output that cannot be written, an interruption) ends the run and is the status. */
enum clv_status segment_all(struct segment_counts *counts, struct segment_run *run, struct clv_error *err) CLV_CHECK;

/* --export: a run's objects in the form of another program. An image's own file is written when its mask is; COCO's
 * one document and VOC's list of names grow image by image, in input order, and appear at the end.
 * Where an image's own files go, below the output folder: those of places[N_OUTPUTS] that the forms have. */
void exporting_places(struct output_place places[N_OUTPUTS], unsigned forms, bool has_objects);

/* The run's one file of a form, array_free it: a shard's is next to the others'. *path is NULL if the form has none, or
 * is not wanted. */
enum clv_status exporting_path(char **path, const struct segment *options, enum export_form form,
                               struct clv_error *err) CLV_CHECK;

/* Whether the file at that path begins as an earlier run's does. */
bool exporting_is_own(const char *path, enum export_form form);

/* Makes folders, and writes the labels' names (segment_files.c). `run` must outlive it. */
struct exporting;
enum clv_status exporting_begin(struct exporting **self, struct segment *options, const struct segment_run *run,
                                struct clv_error *err) CLV_CHECK;

/* The objects of labels[height][width], simplified. */
enum clv_status exporting_trace(struct contours *contours, const struct segment_run *run, const uint8_t *labels,
                                int32_t width, int32_t height, struct clv_error *err) CLV_CHECK;

/* Writes the image's own files, if the forms have any; from any thread. `objects` (objects->objects NULL: none are
 * known) are those that VOC's SegmentationObject/ shows. */
enum clv_status exporting_write(const struct segment_run *run, const struct input *input, const struct output *output,
                                const struct contours *contours, const uint8_t *labels,
                                const struct clv_object_map *objects, struct clv_error *err) CLV_CHECK;

/* Adds the image of that index to the run's files. */
enum clv_status exporting_add(struct exporting *self, size_t index, const struct contours *contours,
                              struct clv_error *err) CLV_CHECK;

/* Writes the run's files, with what stays of earlier ones, and frees all; NULL is fine. After a status other than
 * CLV_OK and CLV_ERR_INTERRUPTED nothing is written. Returns that status, or else what went wrong now. */
enum clv_status exporting_end(struct exporting *self, enum clv_status status, struct clv_error *err) CLV_CHECK;

/* `cleave probabilities`: it shares the run of `cleave segment`, and adds this. */

#define JSON_MAX_SIZE ((size_t)1 << 30)

/* How the run's probabilities come about, in words for its report: "shares of 100 samples; ..". */
#define MARGINALS_WORDS 200
void marginals_describe(char words[MARGINALS_WORDS], const struct segment_run *run);

/* The probabilities of one image. */
struct marginals_summary {
    double share;                 /* expected share of the label's pixels */
    double entropy;               /* mean over pixels of H(p) in bits: 0 certain, 1 a coin */
    double bound, standard_error; /* upper bound A_G of the log-partition */
    enum clv_marginals kind;
};

/* The label that options->label means, by number or by name; label 1 without one. Refused by name: one the model
 * lacks. */
enum clv_status marginals_find_label(int32_t *label, const struct segment *options, const struct clv_labels *labels,
                                     struct clv_error *err) CLV_CHECK;

/* values[height][width] = the label's probability times 255, rounded, which is not voted on. */
enum clv_status marginals_paint(uint8_t *values, struct marginals_summary *summary, const struct segment_run *run,
                                const struct clv_example *example, struct clv_oracle *oracle,
                                struct clv_error *err) CLV_CHECK;

/* Probabilities or margins of all labels on a grid over the image, and the bytes that making one takes, at most. */
struct marginals_map {
    int32_t width, height;
    uint16_t *values; /* [n_labels][height][width], 65535 times the mean probability; NULL: none was made */
    float *margins;   /* the same shape: mean margins; NULL: none was made */
};
void marginals_map_release(struct marginals_map *map);

enum clv_status marginals_map_write(const char *path, const struct marginals_map *map, int32_t n_labels,
                                    struct clv_error *err) CLV_CHECK;

double marginals_map_bytes(const struct segment *options, int32_t n_labels);

/* The sides are those of the example's superpixels, or of that shape with the longer one options->side long. */
enum clv_status marginals_map_make(struct marginals_map *map, const struct segment_run *run,
                                   const struct clv_example *example, struct clv_oracle *oracle,
                                   struct clv_error *err) CLV_CHECK;

/* Appends an image's object to run->json; prints the document. */
enum clv_status marginals_add_json(struct segment_run *run, const char *image, const char *map,
                                   const struct marginals_summary *summary, struct clv_error *err) CLV_CHECK;
enum clv_status marginals_print_json(const struct segment_run *run, const struct segment_counts *counts,
                                     struct clv_error *err) CLV_CHECK;

/* One image of a run: worked on in parallel, reported one after the other in input order. */

struct slice_work;

struct job {
    struct segment_run *run;
    struct slice_work *slices; /* whose labels are found window by window; NULL: each image's for itself */
    struct segment_counts *counts;
    struct clv_oracle **oracles; /* one per thread, made on first use */
    struct memory_gate gate;
    struct map_drift maps;
    size_t n_watched; /* images whose shares of unmet features are summed up */
    double unmet;
    bool is_unmet_reported;
    double *pixels; /* [n_inputs] of those that are not finished, else 0, for the time left; NULL: not known */
    double pixels_done, n_pixels;
    int n_threads;
};

/* One input in work. */
struct work {
    const struct input *input;
    const struct output *output;
    struct clv_image image; /* empty when nothing needs it any more */
    int32_t width, height;
    struct map_reader *maps; /* that the recipe wants; or NULL */
    float *map_means;        /* [map_drift_size] of them; NULL: not known */
    uint8_t *labels;         /* [height][width]; of marginals 255 times the probability */
    struct marginals_map map;
    struct marginals_summary marginals;
    struct clv_mask truth;
    struct clv_object_map objects;
    struct clv_object_map boxed;          /* what is in the boxes, an object each; without boxes {0} */
    struct box_findings found;            /* in them */
    struct clv_object *object_rows;       /* [objects.n_objects] */
    double *band_means, *band_deviations; /* [objects.n_objects][n_bands] of a model of bands, else NULL */
    struct contours contours;             /* of the objects that are exported */
    double unmet;                         /* label_unmet_share */
    double bytes;                         /* that the gate has let in */
    bool is_written, is_empty;            /* by tiles; then whether the mask has label 0 alone */
};

void work_release(struct work *work);

/* Finds what is to be exported of an image: its objects by a model, those in its boxes (work->boxed, which it finds),
 * or the connected pieces of its labels. */
enum clv_status work_trace(struct work *work, const struct segment_run *run, struct clv_error *err) CLV_CHECK;
/* Returns whether all labels are 0 or void. */
static inline bool labels_are_empty(const uint8_t *labels, size_t n)
{
    for (size_t p = 0; p < n; p++)
        if (labels[p] && labels[p] != CLV_VOID)
            return false;
    return true;
}

/* All of an image that is segmented by tiles (struct input), up to its mask, next to which is a file of what is done
 * while it lasts. CLV_ERR_USAGE for outputs that are made of whole images, and of raster_cut_open. */
enum clv_status raster_work(struct work *work, const struct job *job, struct clv_oracle *oracle,
                            struct clv_error *err) CLV_CHECK;

/* The path of that file next to a mask, new; NULL: out of memory. */
char *raster_work_tiles(const char *mask);

/* Up to the written outputs of input `index`; `number` counts this process's inputs. memory_gate_leave(&job->gate,
 * work->bytes) and work_release follow. */
enum clv_status work_do(struct work *work, struct job *job, size_t index, size_t number, int thread,
                        struct clv_error *err) CLV_CHECK;

/* Bytes of memory that the maps of an input take while they are used; 0 where they are not found. */
double input_maps_memory(const struct input *input, const struct segment_run *run);

/* work->maps in the order of the model's recipe, NULL if it wants none (item_maps_close), and their means. */
enum clv_status input_maps_read(struct work *work, const struct segment_run *run, struct clv_error *err) CLV_CHECK;

/* A parallel loop whose work is reported in input order. */
struct threads {
    struct job *job;
    struct ordered_queue queue; /* guards counts, the report, the status file */
    enum clv_status (*one)(void *self, size_t index, int thread, struct clv_error *err); /* all of an input */
};

/* --sequence with a model (slices.c). slices_check refuses options that do not go with it (CLV_ERR_USAGE). slices_run
 * labels run->sequence, whose items are the inputs, in memory of one window besides that of images. slices_take takes
 * the image and labels of a slice of the window at hand. */
enum clv_status slices_check(const struct segment *self, struct clv_error *err) CLV_CHECK;
enum clv_status slices_run(struct threads *threads, struct clv_error *err) CLV_CHECK;
enum clv_status slices_take(struct work *work, const struct job *job, size_t index, struct clv_error *err) CLV_CHECK;

/* work_illustrate reads and draws what a report shows of work that is done. work_name returns the status and makes its
 * message name the image. */
enum clv_status work_illustrate(struct work *work, const struct job *job, struct clv_error *err) CLV_CHECK;
enum clv_status work_name(const struct work *work, enum clv_status status, struct clv_error *err);

/* One at a time and in input order. Returns a failure that ends the run. */
enum clv_status work_report(struct job *job, struct work *work, size_t index, enum clv_status status,
                            struct clv_error *err) CLV_CHECK;

/* memory: bytes that all work at once may take, 0: half of what is free. */
enum clv_status job_init(struct job *job, struct segment_counts *counts, struct segment_run *run, double memory,
                         struct clv_error *err) CLV_CHECK;
void job_release(struct job *job);

/* CLV_ERR_USAGE: options that do not work where processes that mpirun started share the images (cluster/comm.h), such
 * as standard input and output, which belong to the leader. */
enum clv_status segment_team_check(const struct segment *options, struct clv_error *err) CLV_CHECK;

/* Each process takes an image when it is free and writes what belongs to it. The leader reports all of them in input
 * order, as one process does: what a report or a table of objects needs of the others' images comes to it. */
enum clv_status segment_team(struct job *job, struct clv_error *err) CLV_CHECK;

/* The table's path, array_free it: a shard's is next to the others'. NULL if none is wanted. The table is created with
 * its head, which a later shard's has not. */
enum clv_status object_table_path(char **path, const struct segment *options, struct clv_error *err) CLV_CHECK;
enum clv_status object_table_begin(struct file_writer *table, const struct segment *options,
                                   const struct clv_model *model, struct clv_error *err) CLV_CHECK;

/* Ends it with the rows of an earlier run's table of the same columns that stay. */
enum clv_status object_table_end(struct file_writer *table, struct segment_run *run, struct clv_error *err) CLV_CHECK;

/* Tables and files of all images keep what earlier runs have written of images that this run has not done, and whose
 * masks are there: by the image's path, or any end of it. */
void earlier_list(struct segment_run *run, const struct work *work);
void earlier_sort(struct segment_run *run); /* after all images, before earlier_stays */
enum clv_status earlier_stays(bool *stays, const struct segment_run *run, const char *name,
                              struct clv_error *err) CLV_CHECK;

/* Finds and measures the objects of work->labels, or reads those that an earlier run has written. */
enum clv_status object_files_find(struct work *work, const struct segment_run *run, struct clv_error *err) CLV_CHECK;

/* Polygons of objects, for exports: objects that touch are apart, and pieces of one object are polygons of one number.
 */
enum clv_status object_files_trace(struct work *work, const struct clv_object_map *objects,
                                   const struct segment_run *run, struct clv_error *err) CLV_CHECK;

/* Writes the label image. The first TIFF of the run is said. */
enum clv_status object_files_write(const struct work *work, struct clv_error *err) CLV_CHECK;

/* The image's lines of the table, if there is one. */
void object_table_add(struct segment_run *run, const struct work *work);

/* Outlines where objects touch. */
enum clv_status object_files_outline(struct clv_image *image, const struct clv_object_map *map, int32_t outline_px,
                                     struct clv_error *err) CLV_CHECK;

/* Files that a run writes: masks, overlays with their legend, cut-outs, and the names of labels. */

/* MASKS_AUTO is MASKS_PALETTE; MASKS_GREY has label numbers as grey values; MASKS_BINARY 0 and 255. */
enum mask_form { MASKS_AUTO, MASKS_GREY, MASKS_BINARY, MASKS_PALETTE };

/* CLV_ERR_USAGE: 0 and 255 of labels that they cannot distinguish. */
enum clv_status mask_form_check(enum mask_form form, const struct clv_labels *labels, struct clv_error *err) CLV_CHECK;

/* Writes label_of[height][width], all or nothing: as a PNG, or as a GeoTIFF with the place of the file `image` (NULL:
 * none) if the path ends with .tif. In a palette two labels that no table names are black and white, so that any viewer
 * shows them; others have their own colours. CLV_VOID stays what it is, but is 0 among 0 and 255. */
enum clv_status mask_file_write(const char *path, const char *image, int32_t width, int32_t height,
                                const uint8_t *label_of, enum mask_form form, const struct clv_labels *labels,
                                struct clv_error *err) CLV_CHECK;

/* Returns the colours of a mask and how many they are, with one of CLV_VOID if has_void; NULL and 0: none. */
const uint8_t (*mask_file_palette(int *n_colours, enum mask_form form, const struct clv_labels *labels,
                                  bool has_void))[3];

/* Labels as 0 and 255, and back what an earlier run wrote so. */
void mask_file_to_binary(uint8_t *values, size_t n);
void mask_file_from_binary(uint8_t *values, size_t n, const struct clv_labels *labels,
                           const struct clv_indexed_image *image);

/* -o FILE.tif of a sequence: its masks as pages of one file, which is written in their order. Pages come from any
 * thread; one that comes before its turn waits in memory. The file is there if all pages are, else a note says so;
 * the end frees all, NULL is fine. */
struct stack_file;
enum clv_status stack_file_new(struct stack_file **self, const struct segment *options, const struct clv_labels *labels,
                               const struct clv_item *items, size_t n, struct clv_error *err) CLV_CHECK;
enum clv_status stack_file_put(struct stack_file *self, size_t index, int32_t width, int32_t height,
                               const uint8_t *label_of, struct clv_error *err) CLV_CHECK;
enum clv_status stack_file_end(struct stack_file *self, bool is_whole, struct clv_error *err) CLV_CHECK;

/* Writes an image with the regions of labels[height][width] tinted and outlined, of a run of marginals (255 times the
 * probability) with how uncertain its pixels are, and with outlines of objects unless NULL; all or nothing. */
enum clv_status overlay_file_write(const char *path, const struct clv_image *image, const uint8_t *labels,
                                   const struct clv_object_map *objects, const struct segment_run *run,
                                   struct clv_error *err) CLV_CHECK;

/* Writes folder/overlays/legend.svg, all or nothing: the colour of every label with a name. One that is there and says
 * something else stays as it is, which a note reports, unless `overwrite`. */
enum clv_status overlay_legend_write(const char *folder, const struct clv_labels *labels, bool overwrite,
                                     struct clv_error *err) CLV_CHECK;

/* The output folder's file <below> is `text` afterwards, which is released. What says the same already stays, as other
 * shards write it; another one is CLV_ERR_CREATE unless outputs are overwritten, and one of the inputs always. */
enum clv_status names_file_write(struct segment *options, const char *below, struct text *text,
                                 struct clv_error *err) CLV_CHECK;

/* Writes the names of labels that have names of their own: labels.tsv next to the masks of boxes, and the legend of
 * overlays. */
enum clv_status names_file_labels(struct segment *options, const struct clv_labels *labels,
                                  struct clv_error *err) CLV_CHECK;

/* Labels of the object: `names` or numbers, comma-separated; NULL: all but 0. CLV_ERR_USAGE: the model lacks one. */
enum clv_status cutout_choose(bool is_object[256], const char *names, const struct clv_labels *labels,
                              struct clv_error *err) CLV_CHECK;

/* The object of labels[height][width] as RGBA PNG, all or nothing; cropped to it with `crop`. "-": standard output. */
enum clv_status cutout_write(const char *path, const struct clv_image *image, const uint8_t *labels,
                             const bool is_object[256], bool crop, struct clv_error *err) CLV_CHECK;

/* `cleave propagate`: masks of some frames are given, and propagated to the others. */

struct sequence {
    struct clv_set set; /* whole: frames that are not wanted may lie between */
    struct chains chains;
    size_t *input_of; /* [set.n_items] of those that are wanted */
};
void sequence_release(struct sequence *self);

/* Whether all inputs are of one sequence. */
bool sequence_is_one(const struct sequence *self, const struct segment *options);

/* Reads the set, adds the wanted frames to the inputs, and takes its labels, which are two. */
enum clv_status sequence_open(struct sequence *self, struct input_list *inputs, struct clv_labels *labels,
                              struct segment *options, struct clv_error *err) CLV_CHECK;

/* Reads the set for a model of sequences, sorts its items by sequence and adds them as inputs. */
enum clv_status slices_open(struct sequence *self, struct input_list *inputs, const struct clv_model *model,
                            struct segment *options, struct clv_error *err) CLV_CHECK;

/* Chains on threads, the frames of each one after the other; a chain ends with its first failure. Outputs that are
 * there stay, but frames on the way to others are computed again. */
enum clv_status sequence_run(struct segment_counts *counts, const struct segment_run *run,
                             struct clv_error *err) CLV_CHECK;

#endif
