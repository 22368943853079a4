/* Labels many files in one call: images of folders and sets, by a model, from boxes, slice by slice, from frame to
 * frame, or by given masks. Every image gets a mask and the other output files that the options choose.
 *
 *     struct clv_files_options options;
 *     struct clv_files_result result;
 *     struct clv_error error;
 *     clv_files_defaults(&options);
 *     const char *const folders[] = {"photos"};
 *     options.images = folders;
 *     options.n_images = 1;
 *     options.model_path = "horses.cleave";
 *     options.output = "out";
 *     options.overlay = true;
 *     enum clv_status status = clv_segment_files(&result, &options, &error);
 *
 * To read the source: src/batch/files.c. */
#ifndef CLEAVE_FILES_H
#define CLEAVE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleave/options.h"
#include "cleave/segment.h"
#include "cleave/train.h"

#ifdef __cplusplus
extern "C" {
#endif

enum clv_mask_format { CLV_MASKS_AUTO, CLV_MASKS_GREY, CLV_MASKS_BINARY, CLV_MASKS_PALETTE }; /* AUTO is PALETTE */

/* Formats of other programs in which objects are written. Combine them with |. */
enum clv_export_format {
    CLV_EXPORT_COCO = 1,
    CLV_EXPORT_LABELME = 2,
    CLV_EXPORT_VOC = 4,
    CLV_EXPORT_YOLO = 8,
    CLV_EXPORT_GEOJSON = 16
};

/* Output in place of masks: the probability of one label as grey values, the probabilities of all labels as maps that
 * `--maps` reads, or max-marginal margins of all labels. */
enum clv_probabilities {
    CLV_PROBABILITIES_NONE,
    CLV_PROBABILITIES_OF_LABEL,
    CLV_PROBABILITIES_OF_ALL,
    CLV_PROBABILITIES_MARGINS
};

/* The outcome of one input. Strings are valid during the call of `settled`. */
struct clv_file_outcome {
    const char *name;       /* of the input: its path as given, or its name in the set */
    const char *mask;       /* path of its mask or map; NULL: it failed */
    const char *message;    /* why it failed, or a note, or "" */
    enum clv_status status; /* of the input alone */
    bool is_earlier;        /* its outputs exist from an earlier run */
    int32_t n_objects;      /* with `objects` */
    /* For probabilities of one label: its expected share of the pixels; mean entropy in bits; upper bound of the
     * log-partition and its standard error; and the method. */
    double share, entropy, bound, standard_error;
    enum clv_marginals kind;
};

struct clv_files_result {
    size_t n_inputs;
    size_t n_done, n_earlier, n_failed, n_objects;
    size_t n_given;                /* pages of the one output file that are given masks (sequences) */
    enum clv_status first_failure; /* of the first input that failed, in input order; CLV_OK: none */
    int32_t label;                 /* the label whose probability was written */
    bool is_complete;              /* all inputs were processed: a status other than CLV_OK is first_failure */
    bool has_tiles;                /* an interrupted run left tiles of a raster, from which it can be resumed */
    bool lacks_pages;              /* the one output file of a sequence was not written, because pages are missing */
};

/* Each member is the option of that name of `cleave segment`, `cleave probabilities` or `cleave propagate`, and
 * messages use the option's name. Defaults are NULL, 0 and false, unless clv_files_defaults sets another. Exactly one
 * of model, model_path, boxes, from_masks and propagates must be set: it selects the way of labelling. */
struct clv_files_options {
    /* Inputs. */
    const char *const *images; /* [n_images] files, folders; "-": a list of paths on standard input, or with output "-"
                                * the image itself */
    size_t n_images;
    const char *data, *split;         /* a set's folder or manifest; its splits, separated by commas */
    const char *features;             /* a feature file, or .. */
    const char *const *feature_files; /* .. [n_feature_files], the first being `features`; NULL: that one alone */
    size_t n_feature_files;
    struct clv_map_options maps;
    struct clv_image_limits limits;
    bool null; /* paths of the list end with a zero byte instead of a line break */

    /* Labelling. */
    const struct clv_model *model; /* in memory, or .. */
    const char *model_path;        /* .. its file */
    const char *boxes;             /* a file or folder of boxes, or "x,y,width,height" */
    const char *from_masks;        /* a set, or a folder of masks for the images, whose labels are used as they are */
    bool sequence;                 /* images are slices of a sequence, which a model labels together */
    bool propagates;               /* masks of some frames of `data` are propagated to the others, .. */
    const char *from_split;        /* .. only masks of these splits */
    int refine;                    /* enum clv_refine_choice */
    int decode;                    /* enum clv_decoding_choice */
    int32_t n_samples;             /* of perturb-and-MAP, for probabilities and min-loss; default 100 */
    uint64_t seed;                 /* of the samples */
    enum clv_engine engine;
    int32_t min_area; /* pixels; smaller regions get their largest neighbour's label */

    /* Outputs. */
    const char *output; /* a folder; FILE.png or FILE.tif of one image; FILE.tif of a sequence; "-" */
    int mask_format;    /* enum clv_mask_format */
    int probabilities;  /* enum clv_probabilities */
    const char *label;  /* the label whose probability is written, by name or number; NULL: label 1 */
    int32_t side;       /* the maximum longer side of a map of all labels, in its pixels; 0: the working size */
    bool overlay, cutout, crop;
    const char *cutout_labels; /* labels of the object, separated by commas; NULL: all except label 0 */
    bool objects, clear_border;
    unsigned exports; /* of enum clv_export_format */
    double tolerance; /* pixels, of polygons; default 1 */
    bool rle;
    const char *report; /* a folder */
    const char *status; /* a table of all inputs: image, done or failed, mask, message; "-": standard output */

    /* The run. */
    int existing; /* enum clv_existing */
    bool fail_fast;
    struct clv_shard shard;
    double memory;                       /* bytes that the run may use; 0: half of the free memory */
    int n_threads;                       /* 0: one per processor */
    const struct clv_progress *progress; /* NULL: no reports, and the run cannot be stopped */

    /* Called for each input, in input order and one at a time, by any thread; may be NULL. */
    void (*settled)(void *context, const struct clv_file_outcome *outcome);
    void *context;
};
CLV_API void clv_files_defaults(struct clv_files_options *options);

/* Returns the index-th member of struct clv_files_options that the commands have as an option, in the order of their
 * help; NULL past the end. */
CLV_API const struct clv_option *clv_files_option_at(size_t index);

/* Does the work of `cleave segment`, `cleave probabilities` and `cleave propagate`: finds the inputs, reports
 * impossible requests before any work, labels the inputs on threads, writes masks and the other chosen files, and joins
 * the tables of the folder (objects.tsv, coco.json), unless it is stopped. Files have the same bytes as the command's,
 * at any number of threads.
 *
 * The failure of an input is reported (CLV_COMPLAINT) and counted, and the other inputs are processed, unless fail_fast
 * is set; the status is then that of the first failure. *result is set whatever the status. Errors: CLV_ERR_USAGE
 * (options that exclude each other), CLV_ERR_NO_INPUT, CLV_ERR_CREATE (outputs that exist, that are inputs, or that
 * another run is writing), CLV_ERR_IO, CLV_ERR_DATA, CLV_ERR_INTERRUPTED, CLV_ERR_MEMORY. Memory is that of the images
 * being processed. */
CLV_API enum clv_status clv_segment_files(struct clv_files_result *result, const struct clv_files_options *options,
                                          struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
