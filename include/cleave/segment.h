/* The usual things in one call each: a model from a set of images with masks (clv_train_set), and a label for every
 * pixel of an image by a model (clv_segment).
 *
 *     struct clv_train_options options;
 *     struct clv_model model = {0};
 *     struct clv_error error;
 *     clv_train_defaults(&options, clv_learner_find("ssvm"));
 *     options.data = "horses/manifest.tsv";
 *     enum clv_status status = clv_train_set(&model, &options, &error);
 *     if (status == CLV_OK)
 *         status = clv_model_write("horses.cleave", &model, &error);
 *     clv_model_release(&model);
 *
 * and
 *
 *     struct clv_model model = {0};
 *     struct clv_image image = {0};
 *     struct clv_error error;
 *     uint8_t *labels = NULL;
 *     enum clv_status status = clv_model_read(&model, "horses.cleave", &error);
 *     if (status == CLV_OK)
 *         status = clv_image_read(&image, "horse.jpg", NULL, &error);
 *     if (status == CLV_OK)
 *         labels = malloc((size_t)image.width * (size_t)image.height);
 *     if (labels)
 *         status = clv_segment(labels, &model, &image, NULL, &error);
 *
 * With a box around the object in place of a model, clv_box_cut (cleave/box_cut.h) is the same in one call. */
#ifndef CLEAVE_SEGMENT_H
#define CLEAVE_SEGMENT_H

#include <stdbool.h>

#include "cleave/learn.h"
#include "cleave/model.h"
#include "cleave/objects.h"
#include "cleave/refine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which images have borders refined at the pixels: those larger than model->recipe.working_pixels, whose labels were
 * found on a smaller copy and would have its steps, and all by models with a network of pixels that training was asked
 * for (pixel_net); all; none. */
enum clv_refine_choice { CLV_REFINE_LARGE, CLV_REFINE_ALL, CLV_REFINE_NONE };

struct clv_segment_options {
    size_t size; /* of this struct as the program knows it: noted with the defaults; 0: as the library does */
    enum clv_refine_choice refine;             /* default CLV_REFINE_LARGE, which with n_draws means none */
    const struct clv_refine_options *refining; /* how, then; numbers that are those of clv_refine_defaults, or all of
                                                * them (NULL, default), are the model's own, if learned with maps */
    const struct clv_map *maps; /* of the image, [n_maps of the model's recipe] in its order; NULL (default): none */
    int32_t n_draws;            /* above 0: the labels of least expected loss by so many draws (clv_model_decide), of */
    uint64_t seed;              /* this seed; default 0: those of the model's own rule */
    struct clv_oracle *oracle;  /* whose memory and engine are used; NULL (default): a new one for each call */
};
CLV_API void clv_segment_defaults_sized(struct clv_segment_options *options, size_t size);
#define clv_segment_defaults(options) clv_segment_defaults_sized(options, sizeof *(options))

/* labels[height][width] = what the model sees at each pixel of a 3-channel image of any size, 0 to
 * model->labels.n_labels - 1: what `cleave segment` writes, byte for byte, with the same choice of refining.
 *
 * The recipe of the model turns the image into superpixels or patches with features, clv_model_predict labels them, and
 * the labels are painted at the image's size (clv_example_paint; patches vote, clv_example_vote). options may be NULL.
 *
 * One thread, deterministic. The model is only read: several threads may share it, each with an oracle of its own or
 * without one. Time and memory O(pixels), and one decoding of a graph of the recipe's size (a min-cut of its
 * superpixels, for two labels); those of clv_refine where it refines.
 *
 * Errors: CLV_ERR_USAGE (a model without a recipe: of letters or of features from elsewhere; an image without pixels or
 * of another number of channels; refining options), CLV_ERR_DATA (weights and image make scores that are not finite),
 * CLV_ERR_MEMORY. labels are then unchanged. */
CLV_API enum clv_status clv_segment(uint8_t *labels, const struct clv_model *model, const struct clv_image *image,
                                    const struct clv_segment_options *options, struct clv_error *err) CLV_CHECK;

/* Sequences: slices of a volume, frames of a video, all of one size, in their order. */
struct clv_sequence_options {
    size_t size;                         /* of this struct as the program knows it, as above */
    enum clv_refine_choice refine;       /* of clv_segment_sequence; default CLV_REFINE_LARGE */
    int n_threads;                       /* 0 (default): all the machine's */
    const struct clv_progress *progress; /* NULL (default): nothing is reported, and nobody stops it */
};
CLV_API void clv_sequence_defaults_sized(struct clv_sequence_options *options, size_t size);
#define clv_sequence_defaults(options) clv_sequence_defaults_sized(options, sizeof *(options))

/* labels[i][height][width] = what a model of `cleave train --sequence` sees in slice i of images[n], of 3 channels
 * each: what `cleave segment --sequence -m` writes, byte for byte. labels[i] NULL: that slice is only looked at.
 * options may be NULL.
 *
 * Windows of the model's number of slices, each sharing half with the next, are labelled at once: two labels by a cut,
 * which is exact for a sequence that fits a window, more by alpha-expansion. The same bytes at any number of threads.
 * O(pixels) time; memory of one window's features besides the images.
 *
 * Errors: CLV_ERR_USAGE (a model of single images; an image without pixels or of another number of channels),
 * CLV_ERR_DATA (slices of different sizes; scores that are not finite), CLV_ERR_INTERRUPTED, CLV_ERR_MEMORY. Some
 * labels may be written then. */
CLV_API enum clv_status clv_segment_sequence(uint8_t *const *labels, const struct clv_model *model,
                                             const struct clv_image *images, size_t n,
                                             const struct clv_sequence_options *options,
                                             struct clv_error *err) CLV_CHECK;

/* From given masks of some frames to those of the others, without a model: labels[i][height][width], 0 or 1, of the
 * frames whose given[i] is NULL and labels[i] is not, each carried on from the nearest given mask, before or after it;
 * given[i][height][width] is 1 on the figure, 0 on the ground, other values are neither. What `cleave segment
 * --sequence` without -m writes, byte for byte. options may be NULL.
 *
 * Motion, colours and what was there before score every pixel, a minimum cut decides. Threads work on chains of frames
 * from one given mask; the same bytes at any number of them. About .1 s a frame of 854x480; 300 bytes a pixel of the
 * working size (at most 131,072 pixels) and 64 a pixel of the frame for each thread.
 *
 * Errors: CLV_ERR_USAGE (an image without pixels or of other than 3 channels; nothing wanted), CLV_ERR_DATA (no mask is
 * given, frames of different sizes), CLV_ERR_INTERRUPTED, CLV_ERR_MEMORY. Some labels may be written then. */
CLV_API enum clv_status clv_carry_masks(uint8_t *const *labels, const uint8_t *const *given,
                                        const struct clv_image *images, size_t n,
                                        const struct clv_sequence_options *options, struct clv_error *err) CLV_CHECK;

/* *map = the objects of an image whose labels[height][width] clv_segment gave: what `cleave segment --objects` writes.
 * They are those that the model has learned to find, each with the label of most of its pixels that are labelled; of a
 * model that has not learned of objects, connected pieces, by sides, of every label with a name, but for a label 0
 * called "background". map->labels is there. Where objects were learned, labels is changed to agree with them: their
 * pixels get their labels, other pixels that have such a label become background.
 *
 * One thread, deterministic; the model is only read. O(pixels), where objects are learned with about 300 bytes a pixel.
 * Errors: CLV_ERR_USAGE (an image without pixels or of other than 3 channels), CLV_ERR_DATA (what was learned is
 * damaged), CLV_ERR_MEMORY. *map and labels are then unchanged. */
CLV_API enum clv_status clv_segment_objects(struct clv_object_map *map, uint8_t *labels, const struct clv_model *model,
                                            const struct clv_image *image, struct clv_error *err) CLV_CHECK;

/* Learning. */

#define CLV_AUTO            (-1) /* of a choice: what suits the data */
#define CLV_MAX_LABEL_COSTS 10000

/* Where maps of networks are, and what is said of them: of those of a name, or with an empty name of all. */
struct clv_map_words {
    struct clv_map_word {
        char name[CLV_MAX_MAP_NAME + 1];
        int value;
    } said[CLV_MAX_MAPS + 1];
    size_t n;
};
struct clv_map_options {
    struct clv_map_folder {
        char name[CLV_MAX_MAP_NAME + 1];
        const char *folder;
    } folders[CLV_MAX_MAPS]; /* besides the manifest's columns maps.NAME */
    size_t n;
    struct clv_map_words kinds, components, uses; /* enum clv_map_kind, a number of components, enum clv_map_use */
};

/* Candidates of cross-validation for one parameter. */
#define CLV_MAX_CANDIDATES 32
#define CLV_MAX_GRIDS      4
struct clv_candidates {
    int parameter; /* of the learner; CLV_AUTO: its regularisation */
    double values[CLV_MAX_CANDIDATES];
    size_t n;
};

/* What is learned from, and how. Each member is the option of `cleave train` of its name, and messages call it so;
 * names of splits are comma-separated lists. NULL, 0 and false are the defaults but where clv_train_defaults sets
 * another. */
struct clv_train_options {
    size_t size; /* of this struct as the program knows it: noted with the defaults; 0: as the library does */
    /* What to learn from. */
    const char *data; /* a folder, a manifest, or a feature file */
    const char *const
        *files; /* [n_files] feature files that are the data together, `data` the first; NULL: that alone */
    size_t n_files;
    const struct clv_image *images; /* [n_images] in memory instead of `data`, each of 3 channels; */
    const struct clv_mask *masks;   /* [n_images] and what they show: labels, or 255 where nothing is known */
    const struct clv_labels
        *labels; /* of masks in memory; NULL: those of figure and ground are read as files of them are
                                      * (0 and 255 alone are 0 and 1), others' values are labels */
    size_t n_images;
    const char *split;      /* whose masks are read; by default train if there is one, else all, but for weak ones */
    const char *only;       /* a file of image names, one a line: no other masks are read */
    const char *boxes;      /* a file or folder of boxes; else the manifest's column */
    const char *weak_split; /* whose other images give their boxes; with `boxes` by default those of the masks */
    const char *unlabelled_split; /* whose other images give nothing */
    const char *voids;            /* labels that become void: their pixels are not learned from and do not count */
    const char *validate;         /* splits, or a feature file, whose loss is reported */
    bool drafts;                  /* masks that are not accepted are read, as are those of `only` */
    bool skip_bad;                /* go on without images that cannot be learned from */
    bool mirror;                  /* learns from mirror images, too */
    double feature_memory;        /* bytes of a feature file in memory, the rest is read when wanted; 0: it is mapped */
    struct clv_image_limits limits;

    /* Features. */
    struct clv_recipe recipe; /* before it is learned: it owns nothing */
    struct clv_map_options maps;
    bool no_maps;             /* the recipe's blocks leave maps out, though there may be some */
    const char *recipe_given; /* the option that changed the recipe, for messages; NULL: none did */

    /* What is learned. */
    const struct clv_learner *learner;
    double parameters[CLV_MAX_PARAMETERS];
    bool is_given[CLV_MAX_PARAMETERS]; /* refused where they can have no effect */
    int pairwise;                      /* of enum clv_pairwise, or CLV_AUTO (default) */
    int loss;                          /* of enum clv_loss_weights, or CLV_AUTO (default) */
    double label_weights;              /* 0..1, or CLV_AUTO: by the first stage's folds */
    double label_costs;                /* 0..CLV_MAX_LABEL_COSTS, with two stages */
    int32_t stages;                    /* 1 (default) or 2 */
    int32_t cv;                        /* folds; 0: no cross-validation */
    struct clv_candidates grids[CLV_MAX_GRIDS];
    size_t n_grids;   /* 0: the regularisation, around its value */
    const char *init; /* a model's path */
    uint64_t seed;

    /* How it runs. */
    int n_threads; /* 0: all the machine's */
    enum clv_engine engine;
    const struct clv_progress *progress; /* NULL: nothing is reported */
    const char *checkpoint;              /* a file that the learner keeps its state in; NULL: none */
    double checkpoint_every_s;           /* default 120 */
    bool resume;                         /* goes on from it */
    const char *command; /* what made the model, for its record and its checkpoints; NULL: nothing is said */
    /* May refuse the set once it is read; NULL: does not. */
    enum clv_status (*check)(void *context, const struct clv_set *set, const char *path, struct clv_error *err);
    void *check_context;

    bool sequence;  /* images are slices: recipe.window, or CLV_DEFAULT_WINDOW, of them are an example */
    bool pixel_net; /* a network of pixels is learned, by which refining decides */
};
CLV_API void clv_train_defaults_sized(struct clv_train_options *options, size_t size,
                                      const struct clv_learner *learner);
#define clv_train_defaults(options, learner) clv_train_defaults_sized(options, sizeof *(options), learner)

/* An option by its name: where its value is in a struct of options, and what it may be. */
enum clv_option_kind {
    CLV_OPTION_FLAG,        /* bool: true, without a value */
    CLV_OPTION_SET,         /* int: becomes `minimum`, without a value */
    CLV_OPTION_TEXT,        /* const char *: as typed, which must live on */
    CLV_OPTION_INT,         /* int32_t from minimum to maximum */
    CLV_OPTION_UINT64,      /* uint64_t from minimum on */
    CLV_OPTION_NUMBER,      /* double from minimum to maximum */
    CLV_OPTION_MEMORY,      /* double: bytes, as 800M or 2.5G */
    CLV_OPTION_CHOICE,      /* int: the place among `choices` */
    CLV_OPTION_AUTO_CHOICE, /* int: the same less 1, as the first choice is CLV_AUTO */
    CLV_OPTION_EITHER,      /* bool: whether it is the second of two choices */
    CLV_OPTION_OTHER,       /* what `take` makes of it */
};
enum clv_option_flags {
    CLV_OPTION_NEEDED = 1,     /* there is nothing to do without it */
    CLV_OPTION_BASIC = 2,      /* most people want it */
    CLV_OPTION_AGAIN = 4,      /* may be given several times */
    CLV_OPTION_UNRECORDED = 8, /* what comes out is the same with and without */
    CLV_OPTION_HIDDEN = 16,    /* in no help */
    CLV_OPTION_PLAIN = 32      /* its help says all about values */
};
struct clv_option {
    const char *name;     /* without dashes; NULL: the end of a table */
    char short_name;      /* 0: none */
    const char *argument; /* what stands for its value in the help: "N"; NULL: it has no value */
    const char *section;  /* of the help */
    int flags;            /* of enum clv_option_flags */
    enum clv_option_kind kind;
    size_t offset;    /* of the member */
    const char *help; /* the first line is enough for most */
    double minimum, maximum;
    const char *const *choices; /* ends with NULL */
    enum clv_status (*take)(void *member, const struct clv_option *option, const char *typed, struct clv_error *err);
};

/* The members of struct clv_train_options that `cleave train` has as options, in the order of its help; NULL past the
 * end. */
CLV_API const struct clv_option *clv_train_option_at(size_t index);

/* Sets an option's member of *options, the struct that the table is of, as if the text had been typed after the option;
 * NULL for one without a value. CLV_ERR_USAGE names the option and what it may be; *options is then unchanged. */
CLV_API enum clv_status clv_option_set(void *options, const struct clv_option *option, const char *typed,
                                       struct clv_error *err) CLV_CHECK;

/* What `cleave train` does between its options and its file: reads the set, looks at all images and masks, learns the
 * recipe, extracts features, chooses by cross-validation, learns one stage or two, and what refines maps. The model's
 * record says how it was made; "interrupted" is "yes" if the progress asked to stop while it was learned, and the model
 * is that so far. Release the model whatever the status.
 *
 * Same seed, same bytes at any number of threads. Time and memory: those of the features and the learner. Errors:
 * CLV_ERR_USAGE (options that cannot be met, or have no effect), CLV_ERR_NO_INPUT and CLV_ERR_DATA (files; names the
 * first, after reporting all), CLV_ERR_INTERRUPTED (before anything was learned), CLV_ERR_MEMORY. */
CLV_API enum clv_status clv_train_set(struct clv_model *model, const struct clv_train_options *options,
                                      struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
