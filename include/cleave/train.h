/* Training in one call, as `cleave train` does: a model from a dataset of images with masks, boxes or neither.
 *
 *     struct clv_train_options options;
 *     struct clv_model model = {0};
 *     struct clv_error error;
 *     clv_train_defaults(&options, clv_learner_find("ssvm"));
 *     options.data = "horses/manifest.tsv";
 *     enum clv_status status = clv_train_set(&model, &options, &error);
 *     if (status == CLV_OK)
 *         status = clv_model_write("horses.cleave", &model, &error);
 *     clv_model_release(&model); */
#ifndef CLEAVE_TRAIN_H
#define CLEAVE_TRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleave/boxes.h"
#include "cleave/data.h"
#include "cleave/features.h"
#include "cleave/infer.h"
#include "cleave/learn.h"
#include "cleave/model.h"
#include "cleave/options.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* The dataset, the learner and all other settings of a training. Each member is the option of `cleave train` of its
 * name, and messages call it so; names of splits are comma-separated lists. NULL, 0 and false are the defaults but
 * where clv_train_defaults sets another. */
struct clv_train_options {
    /* Data to learn from. */
    const char *data; /* a folder, a manifest, or a feature file */
    const char *const
        *files; /* [n_files] feature files that are the data together, `data` the first; NULL: that alone */
    size_t n_files;
    const struct clv_image *images; /* [n_images] in memory instead of `data`, each of 3 channels; */
    const struct clv_mask *masks;   /* [n_images] and what they show: labels, or 255 where nothing is known; NULL, and
                                     * one without labels: there is none (image_boxes; or to learn from unlabelled) */
    const struct clv_labels
        *labels; /* of masks in memory; NULL: those of foreground and background are read as files of them are
                                      * (0 and 255 alone are 0 and 1), others' values are labels */
    size_t n_images;
    const char *split;            /* whose masks are read; by default train if it exists, else all except weak ones */
    const char *only;             /* a file of image names, one a line: no other masks are read */
    const char *boxes;            /* a file or folder of boxes; else the manifest's column */
    const char *weak_split;       /* whose other images give their boxes; with `boxes` by default those of the masks */
    const char *unlabelled_split; /* whose other images give nothing */
    const char *voids;            /* labels that become void: their pixels are not learned from and do not count */
    const char *validate;         /* splits, or a feature file, whose loss is reported */
    bool drafts;                  /* masks that are not accepted are read, as are those of `only` */
    bool skip_bad;                /* go on without images that cannot be learned from */
    bool mirror;                  /* learns from mirror images, too */
    struct clv_image_limits limits;

    /* Features. */
    struct clv_recipe recipe; /* before it is learned: it owns nothing */
    struct clv_map_options maps;
    bool no_maps;             /* the recipe's blocks leave maps out, though there may be some */
    const char *recipe_given; /* the option that changed the recipe, for messages; NULL: none did */

    /* The learner and the form of the model. */
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

    /* These know more of images in memory than their masks do, [n_images] each; NULL: nothing. */
    const struct clv_image_boxes *image_boxes; /* in pixels, of images without a mask; boxes NULL: nothing is known */
    const int32_t *const *image_objects;       /* [height][width] each pixel's object, 0: none; or NULL */
    const char *const *image_sequences;        /* the sequence of each, or NULL: its images stand in their order */
    const struct clv_array *image_bands;       /* [height][width][bands] in the place of `images` */
    struct clv_image_maps {
        char name[CLV_MAX_MAP_NAME + 1];
        const struct clv_array *arrays; /* of each, as clv_map_read takes them from .npy files */
    } image_maps[CLV_MAX_MAPS];
    size_t n_image_maps;
};
CLV_API void clv_train_defaults(struct clv_train_options *options, const struct clv_learner *learner);

/* The members of struct clv_train_options that `cleave train` has as options, in the order of its help; NULL past the
 * end. */
CLV_API const struct clv_option *clv_train_option_at(size_t index);

/* Does the work of `cleave train` between its options and its file: reads the set, checks all images and masks, learns
 * the recipe, extracts features, chooses by cross-validation, learns one or two stages and a refinement. The model's
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
