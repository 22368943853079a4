/* Many files in one call: images of folders and sets are labelled by a model, from boxes, slice by slice, from frame to
 * frame, or as given masks say, and each gets the same files: a mask, and what is asked for beside it.
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

/* Formats of other programs that objects are written in: bits. */
enum clv_export_format {
    CLV_EXPORT_COCO = 1,
    CLV_EXPORT_LABELME = 2,
    CLV_EXPORT_VOC = 4,
    CLV_EXPORT_YOLO = 8,
    CLV_EXPORT_GEOJSON = 16
};

/* In place of masks: the probability of one label as grey values, those of all labels as maps that `--maps` reads, or
 * max-marginal margins of all labels. */
enum clv_probabilities {
    CLV_PROBABILITIES_NONE,
    CLV_PROBABILITIES_OF_LABEL,
    CLV_PROBABILITIES_OF_ALL,
    CLV_PROBABILITIES_MARGINS
};

/* The end of one input. Strings live as long as the call of `settled`. */
struct clv_file_outcome {
    const char *name;       /* of the input: its path as given, or as its set has it */
    const char *mask;       /* path of its mask, or of its map; NULL: it failed */
    const char *message;    /* why it failed, or what should be known of it; "" */
    enum clv_status status; /* of the input alone */
    bool is_earlier;        /* an earlier run finished it */
    int32_t n_objects;      /* with `objects` */
    /* These are of probabilities of one label: its expected share of the pixels; mean entropy in bits; upper bound of the
     * log-partition and its standard error; and where they come from. */
    double share, entropy, bound, standard_error;
    enum clv_marginals kind;
};

struct clv_files_result {
    size_t n_inputs;
    size_t n_done, n_earlier, n_failed, n_objects;
    size_t n_given;                /* pages of one file of a sequence that are given masks */
    enum clv_status first_failure; /* of a single input, in input order; CLV_OK: there was none */
    int32_t label;                 /* whose probability was written */
    bool is_complete;              /* all inputs were settled: a status other than CLV_OK is first_failure */
    bool has_tiles;                /* an interrupted run left tiles of a raster, from which it can be resumed */
    bool lacks_pages;              /* the one file of a sequence was not written, as pages are missing */
};

/* Each member is the option of `cleave segment`, `cleave probabilities` or `cleave propagate` of its name, and messages
 * call it so. NULL, 0 and false are the defaults but where clv_files_defaults sets another. Exactly one of model,
 * model_path, boxes, from_masks and propagates says how inputs are labelled. */
struct clv_files_options {
    /* Inputs. */
    const char *const *images; /* [n_images] files, folders; "-": a list of paths on standard input, or with output "-"
                                * the image itself */
    size_t n_images;
    const char *data, *split;         /* a set's folder or manifest; its splits, separated by commas */
    const char *features;             /* a feature file, .. */
    const char *const *feature_files; /* .. [n_feature_files] of them, `features` the first; NULL: that alone */
    size_t n_feature_files;
    struct clv_map_options maps;
    struct clv_image_limits limits;
    bool null; /* paths of the list end with a zero byte, not with a line */

    /* How they are labelled. */
    const struct clv_model *model; /* in memory, or .. */
    const char *model_path;        /* .. its file */
    const char *boxes;             /* a file or folder of boxes, or "x,y,width,height" */
    const char *from_masks;        /* a set, or a folder of masks for the images: they are the labels */
    bool sequence;                 /* images are slices of a sequence, which a model labels together */
    bool propagates;               /* masks of some frames of `data` are propagated to the others; .. */
    const char *from_split;        /* .. only those of these splits */
    int refine;                    /* enum clv_refine_choice */
    int decode;                    /* enum clv_decoding_choice */
    int32_t n_samples;             /* of perturb-and-MAP, for probabilities and the least loss; default 100 */
    uint64_t seed;                 /* of these */
    enum clv_engine engine;
    int32_t min_area; /* pixels; smaller regions get their largest neighbour's label */

    /* Outputs. */
    const char *output; /* a folder; FILE.png or FILE.tif of one image; FILE.tif of a sequence; "-" */
    int mask_format;    /* enum clv_mask_format */
    int probabilities;  /* enum clv_probabilities */
    const char *label;  /* whose probability, by name or number; NULL: label 1 */
    int32_t side;       /* the longer one of a map of all labels in its pixels, at most; 0: as the working size */
    bool overlay, cutout, crop;
    const char *cutout_labels; /* the object's, separated by commas; NULL: all but label 0 */
    bool objects, clear_border;
    unsigned exports; /* of enum clv_export_format */
    double tolerance; /* pixels, of polygons; default 1 */
    bool rle;
    const char *report; /* a folder */
    const char *status; /* a table of all inputs: image, done or failed, mask, message; "-": standard output */

    /* How it runs. */
    int existing; /* enum clv_existing */
    bool fail_fast;
    struct clv_shard shard;
    double memory;                       /* bytes that the run may take; 0: half of what is free */
    int n_threads;                       /* 0: all the machine's */
    const struct clv_progress *progress; /* NULL: there are no reports, and the run cannot be stopped */

    /* Called for each input, in input order and one at a time, by any thread; NULL: it is not called. */
    void (*settled)(void *context, const struct clv_file_outcome *outcome);
    void *context;
};
CLV_API void clv_files_defaults(struct clv_files_options *options);

/* The members of struct clv_files_options that the commands have as options, in the order of their help; NULL past the
 * end. */
CLV_API const struct clv_option *clv_files_option_at(size_t index);

/* Does the work of `cleave segment`, `cleave probabilities` and `cleave propagate`: finds the inputs, refuses before
 * any work what cannot be met, labels them on threads, writes masks and what was asked for beside them, and joins the
 * tables of the folder (objects.tsv, coco.json), unless it is stopped. The same bytes as the command's at any number of
 * threads.
 *
 * A failure of an input is said (CLV_COMPLAINT) and counted, and the rest goes on, unless fail_fast; the status is then
 * that of the first of them. *result is filled in whatever the status. Errors: CLV_ERR_USAGE (options that exclude each
 * other), CLV_ERR_NO_INPUT, CLV_ERR_CREATE (outputs that exist, are inputs, or that another run writes), CLV_ERR_IO,
 * CLV_ERR_DATA, CLV_ERR_INTERRUPTED, CLV_ERR_MEMORY. Time and memory are those of the images in work. */
CLV_API enum clv_status clv_segment_files(struct clv_files_result *result, const struct clv_files_options *options,
                                          struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
