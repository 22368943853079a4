/* Masks of other programs: colours, greys, numbers of objects, JPEG, other sizes, and the codes of known datasets.
 *
 * One rule for all doors: mask_survey looks at all masks of a set, mask_plan decides from it which pixel becomes which
 * label, mask_convert applies the plan to one mask. `cleave import masks` makes a set of it; mask_advice_put says in
 * one sentence, behind the message of a mask that cannot be used, what that command would make of the masks. What no
 * rule covers becomes void, never background, and is counted.
 *
 * Read first: plan.c. foreign.c reads a mask whatever its format, codes.c has the published tables, pairs.c finds the
 * photo of a mask by their names, runs.c reads run lengths in a CSV, table.c reads colour tables. */
#ifndef MASKS_MASKS_H
#define MASKS_MASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "cleave/data.h"
#include "cleave/objects.h"

/* A pixel of a mask: a value up to CLV_MAX_OBJECT_NUMBER, or one of these. */
#define CODE_COLOUR 0x1000000u /* | red << 16 | green << 8 | blue */
#define CODE_CLEAR  0x2000000u /* transparent */

#define MASK_MAX_LABELS 40  /* more values or colours, as found, are not labels */
#define MASK_MAX_CODES  256 /* that a survey distinguishes in one mask */
#define MASK_BINS       (1 << 15)

/* A mask as it is stored. Greys of three equal channels are values. */
struct foreign_mask {
    int32_t width, height;
    uint32_t *codes; /* [height][width] */
    bool is_lossy;   /* JPEG or WebP, which change values */
    int n_palette;
    uint32_t palette[256]; /* [n_palette] colours of values; none: they have none */
};
void foreign_mask_release(struct foreign_mask *mask);

/* Reads a PNG, JPEG, WebP, TIFF, BMP or PNM of any kind; what is less opaque than half is CODE_CLEAR. Errors name the
 * file. O(pixels). */
enum clv_status foreign_mask_read(struct foreign_mask *mask, const char *path, const struct clv_image_limits *limits,
                                  struct clv_error *err) CLV_CHECK;
/* Replaces values by colours, those of the palette or else greys: of one code, and of all of a mask. */
uint32_t foreign_code_shown(const struct foreign_mask *mask, uint32_t code);
void foreign_mask_show(struct foreign_mask *mask);
/* Turns it as EXIF's orientation (1..8) turns its photo. */
enum clv_status foreign_mask_orient(struct foreign_mask *mask, int orientation, struct clv_error *err) CLV_CHECK;
/* The nearest pixel's code, as clv_labels_resize. */
enum clv_status foreign_mask_resize(struct foreign_mask *mask, int32_t width, int32_t height,
                                    struct clv_error *err) CLV_CHECK;

/* Published tables of labels. A value, a colour, or both; void where `name` is NULL. */
struct code_row {
    int16_t value;  /* in masks; -1: none */
    int32_t colour; /* red << 16 | green << 8 | blue; -1: none */
    const char *name;
};
struct code_table {
    const char *name; /* in --codes */
    const char *title;
    const struct code_row *rows;
    size_t n_rows;
    int32_t mark; /* a colour, or -1, by which masks are recognised that hold no colour of another table */
};
extern const struct code_table code_tables[];
extern const size_t n_code_tables;
extern const char *const code_names[]; /* "auto", the tables' names, NULL */

/* Options about masks; zeros: none is given. */
enum mask_as { MASKS_AS_FOUND, MASKS_AS_LABELS, MASKS_AS_OBJECTS };
enum mask_white { WHITE_AS_FOUND, WHITE_VOID, WHITE_FOREGROUND, WHITE_LABEL };
struct mask_wishes {
    int as;                          /* enum mask_as */
    int white;                       /* enum mask_white: what 255 is beside other values than 0 */
    bool stretches;                  /* masks of any size are laid over their whole photo */
    const struct code_table *codes;  /* NULL: none is given */
    const struct clv_labels *labels; /* a labels.tsv, whose values are kept; NULL: none is given */
    const struct code_table *table;  /* colours with names, from a file beside the masks; NULL: there is none */
};

/* A mask and its photo, by paths that open. */
struct mask_pair {
    const char *mask, *image;
};

/* How many times larger the photo is in both directions, except for rounding (negative: the mask is larger); 0: no whole
 * number. */
int mask_factor(int32_t width, int32_t height, int32_t mask_width, int32_t mask_height);

/* The findings of a survey in one mask. */
struct mask_facts {
    bool is_read; /* else it is not counted: unreadable, or of a size that no rule covers */
    bool is_lossy, has_colour, has_clear;
    bool numbers_objects; /* three or more numbers or colours, nearly each in one piece */
    bool is_rough;        /* more codes than labels have */
    int n_codes;          /* MASK_MAX_CODES + 1: more */
    int orientation;      /* of the photo: 1 to 8 */
    int32_t width, height, image_width, image_height;
};

/* A code, and how many pixels have it. */
struct code_count {
    uint32_t code;
    uint64_t n_pixels;
};

struct mask_survey {
    struct mask_facts *facts; /* [n] */
    size_t n, n_read, n_lossy, n_coloured, n_objects, n_turned, n_upright, n_rough;
    int factor;                  /* that masks are smaller (negative: larger) by, all of them; 0: they differ */
    struct code_count *codes[2]; /* [n_codes[k]] of masks that are not rough, sorted; 1: colours in place of values */
    size_t n_codes[2], capacity[2];
    double (*bins)[4]; /* [MASK_BINS] of rough masks, by 5 bits of each channel: pixels, sums of red, green and blue */
    uint64_t levels[256];   /* pixels by value or grey, of all masks */
    uint64_t n_pixels;      /* of masks that were read */
    bool has_white_masks;   /* some hold nothing but 0 and 255, .. */
    bool has_valued_masks;  /* .. some other values */
    bool has_fine_steps;    /* a lossy mask has several greys that are near each other, such as 0 and 1 */
    bool palettes_disagree; /* the colour of a value is another one in another mask */
    bool has_palettes;
    int32_t palette[256];           /* the colours of values; -1: none */
    const struct code_table *named; /* by the endings of the masks' names; NULL: none */
};
void mask_survey_release(struct mask_survey *survey);

/* Looks at all masks. What cannot be read is left for mask_convert to name. Interrupted by progress->stop.
 * O(pixels). */
enum clv_status mask_survey(struct mask_survey *survey, const struct mask_pair *pairs, size_t n,
                            const struct clv_image_limits *limits, const struct clv_progress *progress,
                            struct clv_error *err) CLV_CHECK;

/* How the masks of a set become labels. */
struct mask_plan {
    bool are_objects; /* each code is an object of label 1 */
    bool shows;       /* values count as colours (foreign_mask_show) */
    bool is_nearest;  /* a code without a rule is that of the nearest one, within the tolerance */
    bool turns;       /* all masks are as their photos are stored, before EXIF turns these */
    bool stretches;
    bool are_cutouts; /* what is opaque is label 1 */
    double tolerance;
    struct mask_rule {
        uint32_t code;
        uint8_t value;
    } rules[1024]; /* [n_rules] sorted by code */
    size_t n_rules;
    struct clv_labels labels;
    const struct code_table *codes; /* that was recognised or given; NULL: none */
    bool is_white_void;             /* 255 was taken for void, though it might be something else */
    bool may_be_objects;            /* values were taken for labels, and might be the numbers of objects */
    bool is_by_labels;              /* a labels.tsv was given */
    bool has_order;                 /* a labels.tsv names none of the values, as many labels by their order */
};
void mask_plan_release(struct mask_plan *plan);

/* CLV_ERR_DATA, without a path before it: the masks hold values or colours that cannot be labels. */
enum clv_status mask_plan_make(struct mask_plan *plan, const struct mask_survey *survey,
                               const struct mask_wishes *wishes, struct clv_error *err) CLV_CHECK;
/* The rule of a code, or NULL. */
const struct mask_rule *mask_rule_find(const struct mask_plan *plan, uint32_t code);
/* How far apart two codes are: steps of values, or of colours (Euclidean); INFINITY: of different kinds. */
double mask_code_distance(uint32_t a, uint32_t b);
/* Describes the plan's result for people: "labels of 0, 3 and 7". */
void mask_plan_describe(struct text *text, const struct mask_plan *plan, const struct mask_survey *survey);

/* One mask by the plan, of its photo's size. */
struct mask_made {
    int32_t width, height;
    uint8_t *labels;               /* [height][width] */
    struct clv_object_map objects; /* where plan->are_objects */
    size_t n_unknown;              /* pixels that no rule covers, which are void */
};
void mask_made_release(struct mask_made *made);
/* CLV_ERR_DATA: a size that no rule covers, or a mask of which more than half is unknown. */
enum clv_status mask_convert(struct mask_made *made, const struct mask_plan *plan, const struct mask_facts *facts,
                             const struct mask_pair *pair, const struct clv_image_limits *limits,
                             struct clv_error *err) CLV_CHECK;

/* Finds the photos of masks by their names: equal stems, or names that are equal but for what all masks (such as _mask)
 * or all photos have in theirs; in equal folders, or in any if there is one of that name alone. Paths are relative.
 * mask_of[n_images]: its mask's index, or NO_MASK. faults: messages about names that fit several. O(n log n). */
#define NO_MASK ((size_t)-1)
enum clv_status masks_pair(size_t *mask_of, struct path_list *faults, const struct path_list *masks,
                           const struct path_list *images, struct clv_error *err) CLV_CHECK;

/* Parts files below a folder into photos and masks by folders (two of them), words in names (_mask, _gt ..) or endings
 * (.jpg and .png), where the one kind goes with the other and looks like masks. Both empty: no way does. */
enum clv_status masks_part(struct path_list *masks, struct path_list *images, const char *folder,
                           const struct path_list *files, const struct clv_image_limits *limits,
                           struct clv_error *err) CLV_CHECK;

/* Run lengths in a CSV, as Kaggle has them: a header with a column of images, one of runs (pairs of the first pixel,
 * from 1, and a length, along columns or rows), perhaps one of labels, or images and labels in one ("a.jpg_2"), perhaps
 * height and width; a row for each image, label or object. No runs: "", "-1" and "nan". */
struct mask_run_row {
    const char *image, *label; /* into bytes; label "": there is no such column */
    size_t line;
    int32_t width, height; /* 0: not said */
    size_t first, n_runs;  /* of runs */
    bool is_bad;           /* runs that are not pairs of numbers in their order */
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
/* Takes bytes, one writable byte behind the end, whatever the outcome. Errors name path and line. O(size). */
enum clv_status mask_runs_parse(struct mask_runs *runs, const char *path, char *bytes, size_t size,
                                struct clv_error *err) CLV_CHECK;
/* layer[height][width] = 1 on the pixels of a row; false: they reach out of it. */
bool mask_runs_fill(uint8_t *layer, int32_t width, int32_t height, const struct mask_runs *runs,
                    const struct mask_run_row *row, bool by_rows);

/* A table of colours and names that other programs leave beside masks: labelmap.txt (name:r,g,b::), label_colors.txt (r
 * g b name), class_dict.csv (name,r,g,b). A row each; lines without a colour do not count. */
struct colour_table {
    struct code_table table;
    struct code_row *rows;
    char *bytes;
};
void colour_table_release(struct colour_table *self);
enum clv_status colour_table_parse(struct colour_table *self, const char *path, char *bytes, size_t size,
                                   struct clv_error *err) CLV_CHECK;
/* The table beside the masks of a folder: in it or above it; without rows: there is none. */
enum clv_status colour_table_find(struct colour_table *self, const char *folder, struct clv_error *err) CLV_CHECK;

/* Appends "; this ..: cleave import masks .." to the message of a mask of the set that cannot be used; a fault that the
 * command does not mend has another sentence, or none. `path` is the set as it was named; `item` the mask at fault. */
void mask_advice_put(struct text *text, enum clv_fault fault, const struct clv_set *set, const char *path, size_t item,
                     const struct clv_image_limits *limits);
/* Appends the advice for masks whose values labels.tsv does not name, if they are as many as its labels, such as 0 and
 * 255 for two names; appends nothing for others. */
void mask_advice_put_order(struct text *text, const struct clv_set *set, const char *path,
                           const struct clv_image_limits *limits);
/* "cleave import masks .." of masks and images (NULL: the masks' own), with an output next to `set`, and further
 * options that begin with a blank, or "". */
void mask_command_put(struct text *text, const char *masks, const char *images, const char *set, const char *options);
/* The failure that *err tells, CLV_ERR_DATA, with its advice. Its message begins with the path of a mask of the set, or
 * of another that belongs to one of its images and is in the folder `others` (NULL: there is none), such as
 * predictions. */
enum clv_status fail_mask(const struct clv_set *set, const char *path, const char *others,
                          const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

#endif
