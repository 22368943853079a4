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

#define CLV_AUTO            (-1) /* value of a choice: depends on the data */
#define CLV_MAX_LABEL_COSTS 10000

/* Settings of network maps: each value is for the maps of one name or, with an empty name, for all maps. */
struct clv_map_settings {
    struct clv_map_setting {
        char name[CLV_MAX_MAP_NAME + 1];
        int value;
    } settings[CLV_MAX_MAPS + 1];
    size_t n;
};
struct clv_map_options {
    struct clv_map_folder {
        char name[CLV_MAX_MAP_NAME + 1];
        const char *folder;
    } folders[CLV_MAX_MAPS]; /* of maps, besides the manifest's columns maps.NAME */
    size_t n;
    struct clv_map_settings kinds, components, uses; /* enum clv_map_kind, a number of components, enum clv_map_use */
};

/* Candidates of cross-validation for one parameter. */
#define CLV_MAX_CANDIDATES 32
#define CLV_MAX_GRIDS      4
struct clv_candidates {
    int parameter; /* of the learner; CLV_AUTO: its regularisation */
    double values[CLV_MAX_CANDIDATES];
    size_t n;
};

/* The dataset, the learner and all other settings of a training. Each member is the option of that name of `cleave
 * train`, and messages use the option's name; splits are comma-separated lists of names. Defaults are NULL, 0 and
 * false, unless clv_train_defaults sets another. */
struct clv_train_options {
    /* Data to learn from. */
    const char *data;         /* a folder, a manifest, or a feature file */
    const char *const *files; /* [n_files] feature files of the dataset, the first being `data`; NULL: that one alone */
    size_t n_files;
    const struct clv_image *images; /* [n_images] in memory instead of `data`, each with 3 channels */
    const struct clv_mask *masks;   /* [n_images] labels, or 255 for void; a mask without labels, and NULL for all: no
                                     * mask (image_boxes may have boxes; else the image is unlabelled) */
    /* The labels of masks in memory. NULL: masks of foreground and background are read by the rules for files (0 and
     * 255 alone are 0 and 1); the values of other masks are labels. */
    const struct clv_labels *labels;
    size_t n_images;
    const char *split;      /* splits whose masks are used; default train if it exists, else all except weak ones */
    const char *only;       /* a file of image names, one per line: only their masks are used */
    const char *boxes;      /* a file or folder of boxes; else the manifest's column */
    const char *weak_split; /* splits whose other images are learned from by boxes; with `boxes` default `split` */
    const char *unlabelled_split; /* splits whose other images are used without labels */
    const char *voids;            /* labels that become void: their pixels are neither learned from nor counted */
    const char *validate;         /* splits, or a feature file, whose loss is reported */
    bool drafts;                  /* drafts are used, too, as those in `only` always are */
    bool skip_bad;                /* skip images with errors instead of ending */
    bool mirror;                  /* learn from mirrored images, too */
    struct clv_image_limits limits;

    /* Features. */
    struct clv_recipe recipe; /* before clv_recipe_learn: it owns nothing */
    struct clv_map_options maps;
    bool no_maps;             /* the recipe's blocks exclude maps, even if the dataset has some */
    const char *recipe_given; /* an option that changed the recipe, for messages; NULL: none did */

    /* The learner and the form of the model. */
    const struct clv_learner *learner;
    double parameters[CLV_MAX_PARAMETERS];
    bool is_given[CLV_MAX_PARAMETERS]; /* set by the caller: an error if it has no effect */
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

    /* The run. */
    int n_threads; /* 0: one per processor */
    enum clv_engine engine;
    const struct clv_progress *progress; /* NULL: no reports */
    const char *checkpoint;              /* a file for the learner's state; NULL: none */
    double checkpoint_every_s;           /* default 120 */
    bool resume;                         /* continue from the checkpoint */
    const char *command;                 /* the command line, for the training record and checkpoints; NULL: none */
    /* Called after the set is read; an error ends the training. May be NULL. */
    enum clv_status (*check)(void *context, const struct clv_set *set, const char *path, struct clv_error *err);
    void *check_context;

    bool sequence;  /* images are slices; recipe.window or CLV_DEFAULT_WINDOW of them form an example */
    bool pixel_net; /* also train a network that classifies pixels, for the refinement */

    /* More data of images in memory, [n_images] each, or NULL. */
    const struct clv_image_boxes *image_boxes; /* in pixels, of images without a mask; boxes NULL: not known */
    const int32_t *const *image_objects;       /* [height][width] each pixel's object, 0: none; or NULL */
    const char *const *image_sequences;        /* name of each image's sequence, or NULL; images in order */
    const struct clv_array *image_bands;       /* [height][width][bands] instead of `images` */
    struct clv_image_maps {
        char name[CLV_MAX_MAP_NAME + 1];
        const struct clv_array *arrays; /* one per image, with the layouts of .npy files in clv_map_read */
    } image_maps[CLV_MAX_MAPS];
    size_t n_image_maps;
};
CLV_API void clv_train_defaults(struct clv_train_options *options, const struct clv_learner *learner);

/* Returns the index-th member of struct clv_train_options that `cleave train` has as an option, in the order of its
 * help; NULL past the end. */
CLV_API const struct clv_option *clv_train_option_at(size_t index);

/* Does the work of `cleave train` between its options and its file: reads the set, checks all images and masks, learns
 * the recipe, extracts features, chooses parameters by cross-validation, learns one or two stages and a refinement. The
 * model has a training record. Its entry "interrupted" is "yes" if progress asked to stop while weights were learned;
 * the model then has the weights at that time. The caller releases the model whatever the status.
 *
 * The same seed gives the same bytes at any number of threads. Time and memory: those of the features and the learner.
 * Errors: CLV_ERR_USAGE (options that are impossible or have no effect), CLV_ERR_NO_INPUT and CLV_ERR_DATA (files; the
 * message names the first, after all were reported), CLV_ERR_INTERRUPTED (before any weights were learned),
 * CLV_ERR_MEMORY. */
CLV_API enum clv_status clv_train_set(struct clv_model *model, const struct clv_train_options *options,
                                      struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
