/* Masks of other programs: colours, greys, numbers of objects, JPEG, other sizes, and the codes of known datasets.
 *
 * mask_survey reads all masks of a dataset, mask_plan_make decides from the survey which value becomes which label, and
 * mask_convert applies the plan to one mask. `cleave import masks` makes a dataset in this way; mask_advice_put adds to
 * the error message of an unusable mask what that command would do. Pixels that no rule covers become void, never
 * background, and are counted.
 *
 * Read plan.c first. foreign.c reads masks of all formats, codes.c has the published tables, pairs.c finds the photo of
 * a mask by their names, runs.c reads run lengths in a CSV, table.c reads colour tables. */
#ifndef MASKS_MASKS_H
#define MASKS_MASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "cleave/data.h"
#include "cleave/objects.h"

/* The code of a pixel: a value up to CLV_MAX_OBJECT_NUMBER, or one of these. */
#define CODE_COLOUR 0x1000000u /* | red << 16 | green << 8 | blue */
#define CODE_CLEAR  0x2000000u /* transparent */

#define MASK_MAX_LABELS 40  /* more different values or colours are not taken for labels */
#define MASK_MAX_CODES  256 /* codes that a survey distinguishes per mask */
#define MASK_BINS       (1 << 15)

/* A mask as stored. RGB with three equal channels in all pixels is read as values. */
struct foreign_mask {
    int32_t width, height;
    uint32_t *codes; /* [height][width] */
    bool is_lossy;   /* JPEG or WebP, which change values */
    int n_palette;
    uint32_t palette[256]; /* [n_palette] colours of values */
};
void foreign_mask_release(struct foreign_mask *mask);

/* Reads a PNG, JPEG, WebP, TIFF, BMP or PNM of any kind; pixels less than half opaque become CODE_CLEAR. Errors name
 * the file. O(pixels). */
enum clv_status foreign_mask_read(struct foreign_mask *mask, const char *path, const struct clv_image_limits *limits,
                                  struct clv_error *err) CLV_CHECK;
/* Replace values by their colours, from the palette or else grey: of one code, and of all pixels of a mask. */
uint32_t foreign_code_shown(const struct foreign_mask *mask, uint32_t code);
void foreign_mask_show(struct foreign_mask *mask);
/* Turns the mask as EXIF orientation 1..8 turns its photo. */
enum clv_status foreign_mask_orient(struct foreign_mask *mask, int orientation, struct clv_error *err) CLV_CHECK;
/* Resizes the mask, taking the code of the nearest pixel, as clv_labels_resize does. */
enum clv_status foreign_mask_resize(struct foreign_mask *mask, int32_t width, int32_t height,
                                    struct clv_error *err) CLV_CHECK;

/* Published tables of labels. Each row has a value, a colour, or both; `name` NULL: void. */
struct code_row {
    int16_t value;  /* in masks; -1: none */
    int32_t colour; /* red << 16 | green << 8 | blue; -1: none */
    const char *name;
};
struct code_table {
    const char *name; /* its name in --codes */
    const char *title;
    const struct code_row *rows;
    size_t n_rows;
    int32_t mark; /* a colour by which masks of this table are recognised, with no colour of others; -1: none */
};
extern const struct code_table code_tables[];
extern const size_t n_code_tables;
extern const char *const code_names[]; /* "auto", the tables' names, NULL */

/* Options about masks; zeros: the defaults. */
enum mask_as { MASKS_AS_FOUND, MASKS_AS_LABELS, MASKS_AS_OBJECTS };
enum mask_white { WHITE_AS_FOUND, WHITE_VOID, WHITE_FOREGROUND, WHITE_LABEL };
struct mask_options {
    int as;                          /* enum mask_as */
    int white;                       /* enum mask_white: meaning of 255 beside values other than 0 */
    bool stretches;                  /* masks of any size are scaled to their photo */
    const struct code_table *codes;  /* NULL: not given */
    const struct clv_labels *labels; /* a labels.tsv, whose values are kept; NULL: not given */
    const struct code_table *table;  /* colours with names, from a file beside the masks; NULL: no such file */
};

/* The paths of a mask and its photo. */
struct mask_pair {
    const char *mask, *image;
};

/* The whole number by which the photo is larger than the mask in both directions, up to rounding (negative: the mask is
 * larger), or 0 if the sizes do not fit a whole number. */
int mask_factor(int32_t width, int32_t height, int32_t mask_width, int32_t mask_height);

/* The findings of a survey in one mask. */
struct mask_facts {
    bool is_read; /* false: unreadable, and not counted */
    bool is_lossy, has_colour, has_clear;
    bool numbers_objects; /* three or more numbers or colours, nearly all of them connected */
    bool is_rough;        /* lossy, or more codes than labels can have */
    int n_codes;          /* MASK_MAX_CODES + 1: more */
    int orientation;      /* of the photo: 1 to 8 */
    int32_t width, height, image_width, image_height;
};

/* A code and the number of its pixels. */
struct code_count {
    uint32_t code;
    uint64_t n_pixels;
};

struct mask_survey {
    struct mask_facts *facts; /* [n] */
    size_t n, n_read, n_lossy, n_coloured, n_objects, n_turned, n_upright, n_rough;
    int factor;                  /* common mask_factor of all masks; 0: they differ */
    struct code_count *codes[2]; /* [n_codes[k]] of masks that are not rough, sorted; k = 1: by colour */
    size_t n_codes[2], capacity[2];
    double (*bins)[4];      /* [MASK_BINS] of rough masks, by 5 bits per channel: pixels, sums of channels */
    uint64_t levels[256];   /* pixels by value or grey, of all masks */
    uint64_t n_pixels;      /* of masks that were read */
    bool has_white_masks;   /* some masks have only 0 and 255 */
    bool has_valued_masks;  /* some masks have other values */
    bool has_fine_steps;    /* a lossy mask has several greys close to each other, such as 0 and 1 */
    bool palettes_disagree; /* a value has different colours in two masks */
    bool has_palettes;
    int32_t palette[256];           /* colour of each value; -1: none */
    const struct code_table *named; /* table recognised by the endings of the masks' names; NULL: none */
};
void mask_survey_release(struct mask_survey *survey);

/* Reads all masks. Unreadable ones are skipped; mask_convert reports them. progress->stop interrupts it. O(pixels). */
enum clv_status mask_survey(struct mask_survey *survey, const struct mask_pair *pairs, size_t n,
                            const struct clv_image_limits *limits, const struct clv_progress *progress,
                            struct clv_error *err) CLV_CHECK;

/* How the masks of a dataset become labels. */
struct mask_plan {
    bool are_objects; /* each code is an object of label 1 */
    bool shows;       /* values are replaced by their colours (foreign_mask_show) */
    bool is_nearest;  /* a code without a rule gets the value of the nearest rule, within the tolerance */
    bool turns;       /* masks are oriented like the stored photos, and must be turned by their EXIF orientation */
    bool stretches;
    bool are_cutouts; /* opaque pixels are label 1 */
    double tolerance;
    struct mask_rule {
        uint32_t code;
        uint8_t value;
    } rules[1024]; /* [n_rules] sorted by code */
    size_t n_rules;
    struct clv_labels labels;
    const struct code_table *codes; /* the table that was recognised or given; NULL: none */
    bool is_white_void;             /* 255 was assumed to be void */
    bool may_be_objects;            /* values were assumed to be labels, and may be numbers of objects */
    bool is_by_labels;              /* a labels.tsv was given */
    bool has_order;                 /* labels.tsv has none of the values; they are its labels in order */
};
void mask_plan_release(struct mask_plan *plan);

/* Decides the plan. CLV_ERR_DATA: the masks hold values or colours that cannot be labels; the message names no path. */
enum clv_status mask_plan_make(struct mask_plan *plan, const struct mask_survey *survey,
                               const struct mask_options *options, struct clv_error *err) CLV_CHECK;
/* Returns the rule of a code, or NULL. */
const struct mask_rule *mask_rule_find(const struct mask_plan *plan, uint32_t code);
/* The distance of two values, or the Euclidean distance of two colours; INFINITY: codes of different kinds. */
double mask_code_distance(uint32_t a, uint32_t b);
/* Describes the result of the plan in words: "labels of 0, 3 and 7". */
void mask_plan_describe(struct text *text, const struct mask_plan *plan, const struct mask_survey *survey);

/* A converted mask, with the size of its photo. */
struct converted_mask {
    int32_t width, height;
    uint8_t *labels;               /* [height][width] */
    struct clv_object_map objects; /* if plan->are_objects */
    size_t n_unknown;              /* void pixels that no rule covers */
};
void converted_mask_release(struct converted_mask *self);
/* Converts a mask. CLV_ERR_DATA: its size matches no rule, or no rule covers more than half of its pixels. */
enum clv_status mask_convert(struct converted_mask *converted, const struct mask_plan *plan,
                             const struct mask_facts *facts, const struct mask_pair *pair,
                             const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Finds the photos of masks by their names: equal stems, or stems that are equal without the words that all masks have
 * (such as _mask) or all photos have; in equal folders, or in any folder if the name is unique. Paths are relative.
 * mask_of[n_images] is the index of an image's mask, or NO_MASK. faults: messages about ambiguous names. O(n log n). */
#define NO_MASK ((size_t)-1)
enum clv_status masks_pair(size_t *mask_of, struct path_list *faults, const struct path_list *masks,
                           const struct path_list *images, struct clv_error *err) CLV_CHECK;

/* Separates files below a folder into photos and masks, by folders (exactly two), by extensions (.jpg and .png), or by
 * words in names (_mask, _gt and so on), in this order. Accepts a way if most masks have a photo and are smoother than
 * it. Both lists stay empty if none is accepted. */
enum clv_status masks_part(struct path_list *masks, struct path_list *images, const char *folder,
                           const struct path_list *files, const struct clv_image_limits *limits,
                           struct clv_error *err) CLV_CHECK;

/* Run lengths in a CSV, as in Kaggle's competitions. The header has a column of images, one of runs (pairs of the first
 * pixel, from 1, and a length, along columns or rows), optionally one of labels (or images and labels in one,
 * "a.jpg_2"), and optionally height and width. There is one row per image, label or object. Runs "", "-1" and "nan"
 * mean no runs. */
struct mask_run_row {
    const char *image, *label; /* point into bytes; label "": no column of labels */
    size_t line;
    int32_t width, height; /* 0: unknown */
    size_t first, n_runs;  /* index of its first run, and their number */
    bool is_bad;           /* its runs are not pairs of numbers in ascending order */
};
struct mask_runs {
    char *bytes;
    struct mask_run_row *rows; /* [n] */
    size_t n, capacity;
    uint32_t (*runs)[2]; /* first pixel from 0, length */
    size_t n_runs, run_capacity;
    bool has_labels;
};
void mask_runs_release(struct mask_runs *runs);
/* Parses the CSV. Takes ownership of bytes, also on failure; one writable byte must follow them. Errors name path and
 * line. O(size). */
enum clv_status mask_runs_parse(struct mask_runs *runs, const char *path, char *bytes, size_t size,
                                struct clv_error *err) CLV_CHECK;
/* Sets layer[height][width] to 1 on the pixels of a row; false: some are outside. */
bool mask_runs_fill(uint8_t *layer, int32_t width, int32_t height, const struct mask_runs *runs,
                    const struct mask_run_row *row, bool by_rows);

/* A table of colours and names that other programs write beside masks: labelmap.txt (name:r,g,b::), label_colors.txt (r
 * g b name), class_dict.csv (name,r,g,b). One row per line; lines without a colour are skipped. */
struct colour_table {
    struct code_table table;
    struct code_row *rows;
    char *bytes;
};
void colour_table_release(struct colour_table *self);
enum clv_status colour_table_parse(struct colour_table *self, const char *path, char *bytes, size_t size,
                                   struct clv_error *err) CLV_CHECK;
/* Finds the table of the masks in a folder, in the folder or above it. Without a table *self has no rows. */
enum clv_status colour_table_find(struct colour_table *self, const char *folder, struct clv_error *err) CLV_CHECK;

/* Appends "; this ..: cleave import masks .." to the message about an unusable mask; another sentence or nothing if
 * that command does not help. `path` is the dataset as the user named it, `item` the index of the mask. */
void mask_advice_put(struct text *text, enum clv_fault fault, const struct clv_set *set, const char *path, size_t item,
                     const struct clv_image_limits *limits);
/* Appends the advice for masks whose values are not in labels.tsv but as many as its labels, such as 0 and 255 for two
 * names. Appends nothing for other masks. */
void mask_advice_put_order(struct text *text, const struct clv_set *set, const char *path,
                           const struct clv_image_limits *limits);
/* Appends the command "cleave import masks .." for masks and images (NULL: images are found with the masks), with an
 * output next to `set`. `options` is "" or further options, beginning with a blank. */
void mask_command_put(struct text *text, const char *masks, const char *images, const char *set, const char *options);
/* Adds the advice to *err and returns CLV_ERR_DATA. The message must begin with the path of a mask of the dataset, or
 * of a mask of one of its images in the folder `others`, such as predictions (NULL: no such folder); else nothing is
 * added. */
enum clv_status fail_mask(const struct clv_set *set, const char *path, const char *others,
                          const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

#endif
