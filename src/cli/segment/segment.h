/* `cleave segment` and `cleave marginals`: from images to masks, or to maps of probabilities.
 *
 * Both parse into struct segment (segment_options.c has what they share) and end in segment_images (cmd_segment.c): it
 * reads the model, finds the inputs (cli/common/inputs.h; with --boxes box_inputs.h), plans all outputs before any work
 * (output_plan.c) and calls segment_all (segment_run.c), which works on images in parallel and reports
 * results in input order (memory_gate.h). marginals.h has what marginals adds. */
#ifndef CLI_SEGMENT_H
#define CLI_SEGMENT_H

#include <stdbool.h>

#include "cleave/model.h"
#include "cleave/segment.h"
#include "cli/common/inputs.h"
#include "cli/common/options.h"
#include "cli/common/outputs.h"
#include "report/report.h"

/* Where a run's masks, overlays and the like go, checked as a whole before any image is read: what is written of an
 * image next to its mask. */
enum output_kind {
    OUTPUT_OVERLAY,
    OUTPUT_CUTOUT,
    OUTPUT_OBJECTS, /* their label image */
    OUTPUT_LABELME, /* texts for other programs .. */
    OUTPUT_YOLO,
    OUTPUT_GEOJSON,
    OUTPUT_VOC,
    OUTPUT_CLASSES, /* .. and VOC's mask */
    N_OUTPUTS
};

/* Where outputs of a kind go: folder/<below><output><ending>; below NULL: none is wanted. */
struct output_place {
    const char *below, *ending;
};

struct output {
    char *mask, *beside[N_OUTPUTS]; /* paths; NULL where none is wanted */
    bool finished;
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
    char *parent;      /* of that file, which `output` is then */
    bool makes_report; /* its folder was not there */
    int n_made;        /* how many folders were made for the outputs, one in another */
    const char *boxes; /* box to cut, without a model; NULL: with one */
    bool is_sequence;  /* given masks are carried on, without a model */
    const char *given; /* splits whose masks are given; NULL: all */
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
    int32_t n_draws;   /* perturb-and-MAP draws, for probabilities and for the least loss */
    uint64_t seed;     /* of the draws */
    const char *label; /* whose probability is written, by name or number; NULL: label 1 */
    bool json;
    bool all_labels; /* probabilities of all labels, as maps that --maps reads */
    int32_t side;    /* the longer one of such a map, at most, in its pixels */
};

#define SECTION_INPUTS   "Inputs"
#define SECTION_OUTPUTS  "Outputs"
#define SECTION_DECIDING "How labels are decided"
#define SECTION_RUN      "Running"

/* Rows of what both commands take, and of what `segment` alone writes next to its masks: they set a struct segment. */
extern const struct clv_option segment_shared_rows[], segment_running_rows[], segment_output_rows[];

/* Whether -o - sends the only result to standard output. The argument - is then the image itself, not a list of
 * paths. */
bool segment_is_piped(const struct segment *self);

/* What options must not be missing or contradict each other (CLV_ERR_USAGE), and those of outputs next to masks. */
enum clv_status segment_check(const struct segment *self, const char *command, struct clv_error *err) CLV_CHECK;
enum clv_status segment_check_outputs(const struct segment *self, struct clv_error *err) CLV_CHECK;

struct segment_run;

/* Whether labels of an image of this size are refined at the pixels. Never with labels of the least loss or
 * probabilities, nor where boxes are cut, which does so itself. */
bool segment_refines(const struct segment_run *run, int32_t width_px, int32_t height_px);

#define STATUS_HEAD     "image\tstatus\tmask\tmessage"
#define REPORT_TITLE    "cleave: segmentation"
#define MARGINALS_TITLE "cleave: probabilities"

/* Before any work: takes the output folder and the report's, as far as they are there, for this run or its shard
 * (outputs.h); the files next to masks and overlays must be new, or may be replaced (outputs.h). */
enum clv_status segment_lock(struct segment *self, struct clv_error *err) CLV_CHECK;
enum clv_status segment_claim(struct segment *self, struct clv_error *err) CLV_CHECK;

/* Masks and overlays, which must not replace the options' inputs either. Images without an output are reported before
 * work starts. */
enum clv_status segment_plan(struct output_list *outputs, struct segment *self, const struct input_list *inputs,
                             struct clv_error *err) CLV_CHECK;

/* -o FILE.png or FILE.tif for one image: the file is its mask, and what goes next to it is in the file's folder. Nothing is done if
 * the output is a folder, a new name without that ending, or standard output. CLV_ERR_USAGE: several images. */
enum clv_status segment_take_file(struct segment *self, struct input_list *inputs, struct clv_error *err) CLV_CHECK;

/* Makes the folders, takes those that were not there, and leaves a hidden note of what they are of (EXPORT_NOTE): with
 * --resume CLV_ERR_CREATE if one is there that has the digest of another model. */
enum clv_status segment_make_folders(struct segment *self, const struct input_list *inputs,
                                     struct clv_error *err) CLV_CHECK;

/* At the end: removes folders that were made and are empty, and releases what was made of the struct. */
void segment_remove_empty(struct segment *self);

/* The whole run: reads the model, finds the inputs, plans the outputs, segment_all, summary. */
enum clv_status segment_images(struct segment *self, struct clv_error *err) CLV_CHECK;

/* Everything a run over inputs needs; views but for json. */
struct segment_run {
    const struct segment *options;
    const struct clv_model *model;
    const struct clv_dataset *dataset; /* the inputs are its items; NULL: they are images */
    const struct clv_boxes *boxes;     /* the inputs are objects in them, and the model knows labels only; NULL: none */
    const uint8_t *box_values;         /* [boxes->n_labels] in masks */
    const struct sequence *sequence;   /* the inputs are frames of it; NULL: none */
    const struct input_list *inputs;   /* of the shard */
    const struct output_list *outputs;
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
    enum clv_status first_failure; /* in input order */
};

/* Segments all inputs in parallel: each thread has one image at a time, results are reported in input order. Failures of
 * an input are printed and counted and the rest goes on, unless options->fail_fast. What makes going on useless (an
 * output that cannot be written, an interruption) ends the run and is the status. */
enum clv_status segment_all(struct segment_counts *counts, struct segment_run *run, struct clv_error *err) CLV_CHECK;

#endif
