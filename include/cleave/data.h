/* Sets of images: manifests, bare folders, labels, masks and maps. Boxes are in boxes.h.
 *
 *     #include <cleave.h>
 *     #include <stdio.h>
 *
 *     int main(int argc, char **argv)   // prints the foreground pixels of each training image
 *     {
 *         struct clv_error error = {0};
 *         struct clv_set set = {0};
 *         if (argc != 2 || clv_set_read(&set, argv[1], &error) || clv_set_select(&set, "train", &error))
 *             return fprintf(stderr, "%s\n", error.message), 1;
 *         for (size_t i = 0; i < set.n_items; i++) {
 *             struct clv_mask mask = {0};
 *             size_t n_foreground = 0;
 *             if (!set.items[i].mask)
 *                 continue;
 *             if (clv_mask_read(&mask, set.items[i].mask, &set.labels, 0, 0, NULL, &error))
 *                 return fprintf(stderr, "%s\n", error.message), 1;
 *             for (int32_t k = 0; k < mask.width * mask.height; k++)
 *                 n_foreground += mask.labels[k] == 1;
 *             printf("%s\t%zu of %d\n", set.items[i].name, n_foreground, mask.width * mask.height);
 *             clv_mask_release(&mask);
 *         }
 *         clv_set_release(&set);
 *         return 0;
 *     }
 */
#ifndef CLEAVE_DATA_H
#define CLEAVE_DATA_H

#include <stdbool.h>

#include "cleave/image.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CLV_MAX_LABELS 255 /* labels are 0..254 in masks */
#define CLV_VOID       255 /* the mask value of pixels that never count */

#define CLV_MAX_MAPS         8    /* in a recipe or a set */
#define CLV_MAX_MAP_NAME     31   /* bytes */
#define CLV_MAX_MAP_CHANNELS 4096 /* in one map */

/* Names and colours of labels 0..n_labels-1. is_void marks the mask values besides 255 that never count: those that
 * labels.tsv names "void", and labels that a training counts as void. If a void value is below other labels (MSRC: 0),
 * these keep their mask values, and the void value never occurs as a label. A value that is missing from labels.tsv has
 * the name "". palette[255] is the colour of void. */
struct clv_labels {
    int32_t n_labels;
    uint8_t is_void[256];  /* [mask value] 0 or 1 */
    bool from_file;        /* labels.tsv named them; else they are background and foreground */
    char (*names)[64];     /* [n_labels] */
    uint8_t (*palette)[3]; /* [256] */
};
CLV_API void clv_labels_release(struct clv_labels *labels);
CLV_API enum clv_status clv_labels_copy(struct clv_labels *copy, const struct clv_labels *labels,
                                        struct clv_error *err) CLV_CHECK;
/* Sets the labels "background" (black) and "foreground" (a bright rose). */
CLV_API enum clv_status clv_labels_binary(struct clv_labels *labels, struct clv_error *err) CLV_CHECK;
/* Reads labels.tsv: tab-separated, UTF-8, columns name (1..63 bytes; "void", in any number of rows, for pixels that
 * never count), and optionally value (0..254, or 255 for void; without this column labels are numbered from 0, and void
 * is 255) and red, green, blue (0..255), in any order. Errors name file, line and value: a value out of range or
 * repeated, no label above 0. */
CLV_API enum clv_status clv_labels_read(struct clv_labels *labels, const char *path, struct clv_error *err) CLV_CHECK;

/* One row of a set. Paths are joined to the set's root; mask, boxes, tags and sequence are NULL if the row has none;
 * split is "" without such a column. */
struct clv_item {
    char *name;  /* the image as the manifest spells it, relative to root: the item's identity in notes and outputs */
    char *image; /* path to open */
    char *mask;
    char *boxes;
    char *split;
    char *tags;
    char *sequence; /* the name of a video or place whose images are similar; two stages put them into one fold */
    char *maps[CLV_MAX_MAPS]; /* in the order of the set's map_names: paths to open, or NULL */
    char *instances;          /* a label image of its objects (cleave/objects.h), or NULL */
    bool is_derived;          /* mask is `instances`, read as label 1 on every object and label 0 elsewhere */
    bool is_draft;            /* its mask was drawn in `cleave label` and is not accepted yet */
    bool is_apart;            /* in a sorted sequence: the image before this one is missing */
    /* Views of data in memory; NULL: the data are in files. If set, `image`, `mask` and `instances` are only the names
     * used in messages. */
    const struct clv_image *pixels; /* of 3 channels, or .. */
    const struct clv_array *bands;  /* .. [height][width][bands] */
    const struct clv_mask *labels;  /* values as in a file of 8-bit grey */
    const int32_t *objects;         /* [height][width] of the image: the number of each pixel's object, 0 for none */
    const struct clv_array *map_arrays[CLV_MAX_MAPS]; /* in the order of the set's map_names */
};

/* A set of images. */
struct clv_set {
    char *root; /* the manifest's folder */
    struct clv_item *items;
    size_t n_items;
    struct clv_labels labels; /* from labels.tsv next to the manifest, else binary */
    bool has_label_file;
    char map_names[CLV_MAX_MAPS][CLV_MAX_MAP_NAME + 1];
    size_t n_maps;
    size_t n_skipped;       /* bare folder: files that are not images by content */
    char *first_skipped;    /* one of them, or NULL */
    size_t n_unreadable;    /* bare folder: subfolders without permission to read, which were skipped */
    char *first_unreadable; /* one of them, or NULL */
    size_t n_links;         /* bare folder: links to folders that were followed */
    char *first_link;       /* the first of them, or NULL */
    size_t n_lone_masks;    /* bare folder: files of masks/ without an image of that name */
    char *first_lone_mask;  /* the first of them, or NULL */
    size_t n_own;           /* bare folder: skipped images in strokes/, overlays/ and so on, and in outputs of runs */
    char *first_own;        /* the first of them, or NULL */
    char *manifest;         /* the file that was read, or NULL: a bare folder */
};
CLV_API void clv_set_release(struct clv_set *set);

/* Reads a manifest: UTF-8 TSV with a header row; columns image (required), mask, instances, boxes, tags, split,
 * sequence, maps.NAME, in any order; unknown columns are ignored; a BOM, CRLF and blank lines are accepted; every row
 * has as many fields as the header, and an empty field is a missing value. Paths must stay inside the manifest's folder
 * (no "..", no absolute path, no escaping link); their existence is not checked here. An image may occur in a split
 * with several masks, one object each (names are then equal); the same image and mask twice in a split is an error.
 * Rows with instances and without a mask get the derived mask. Errors name file, line and value. O(n log n). */
CLV_API enum clv_status clv_set_read_manifest(struct clv_set *set, const char *path, struct clv_error *err) CLV_CHECK;

/* Adds the maps of a folder to the items under a name, and replaces their earlier maps of that name. The map of an
 * image is FOLDER/NAME.npy, .png or .safetensors. NAME is the image's path without extension; if no such file exists,
 * the first folder is removed from NAME, and so on: maps/images/a/7.npy, then maps/a/7.npy, then maps/7.npy.
 * CLV_ERR_USAGE for a name that is empty or longer than CLV_MAX_MAP_NAME bytes, or more than CLV_MAX_MAPS maps;
 * CLV_ERR_NO_INPUT if an item has no map; CLV_ERR_DATA if two files could be an item's map, or two images would share
 * one. */
CLV_API enum clv_status clv_set_add_maps(struct clv_set *set, const char *name, const char *folder,
                                         struct clv_error *err) CLV_CHECK;

/* Reads a bare folder. Images are all those below it. If it contains masks/, images are only those of images/ or,
 * without that folder, all outside masks/; each gets the mask with the same relative stem, if any (two are an error).
 * imgs/ and img/ may replace images/, and beside one of these, labels/ or annotations/ with images in it may replace
 * masks/. instances/ has the label images of objects by the same stems. Without such folders photo_mask.png is the mask
 * of photo.jpg beside it. Two images with one stem, a.jpg and a.png, use the masks a.jpg.png and a.png.png, and the
 * mask of the stem only if these do not exist. Images in the folder's strokes/, overlays/, cutouts/, objects/ and
 * instances/ and in outputs of `cleave segment` (folders with .cleave-run) are counted, but not part of the set. A file
 * is an image if it begins like a PNG or JPEG or its name ends with .png, .jpg or .jpeg, so that a damaged image causes
 * an error instead of being skipped; without any such file, .npy arrays are the images. Names that begin with a dot are
 * ignored; links to folders are followed and counted, but no folder is read twice; other files are counted, and so are
 * subfolders without permission to read. Also reads labels.tsv in the folder. CLV_ERR_NO_INPUT if no image is found. */
CLV_API enum clv_status clv_set_read_folder(struct clv_set *set, const char *folder, struct clv_error *err) CLV_CHECK;

/* Reads a manifest, a folder (by its manifest.tsv if it has one), or a .tif, whose pages are images without masks. */
CLV_API enum clv_status clv_set_read(struct clv_set *set, const char *path, struct clv_error *err) CLV_CHECK;

/* Keeps the items whose split is one of `splits`, comma-separated; NULL keeps all. A name that no item has is an error
 * that lists the existing splits; the set is then unchanged. */
CLV_API enum clv_status clv_set_select(struct clv_set *set, const char *splits, struct clv_error *err) CLV_CHECK;

/* A mask as labels[height][width]: 0..n_labels-1 or CLV_VOID. Palette PNGs are read as indices.
 *   With labels.tsv: the values that it names are labels; its void and 255 are void.
 *   Without labels.tsv: 0 is background, 1 foreground, 255 void. But in a grey mask of only black and full white (255;
 *     15 or 3 with fewer bits) these are background and foreground; with soft edges, grey is split at half of white.
 *   RGB and RGBA PNGs: by the colours of labels.tsv, or their grey levels as values; without labels.tsv black and one
 *     other colour, or a cut-out, whose opaque pixels are foreground. 16-bit grey: values, or levels of 8 bits.
 * note tells which rule applied if it is not the first of these, and is NULL otherwise.
 * expected_width/height 0: any size. Errors: JPEG and WebP, colours that are not a label's, another size than expected,
 * a value without a label (names the value and the pixel). */
struct clv_mask {
    int32_t width, height;
    uint8_t *labels;
    const char *note; /* a static string, or NULL */
};
CLV_API void clv_mask_release(struct clv_mask *mask);
CLV_API enum clv_status clv_mask_read(struct clv_mask *mask, const char *path, const struct clv_labels *labels,
                                      int32_t expected_width, int32_t expected_height,
                                      const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Reads masks in memory by the rules for files without labels.tsv (clv_mask_read): masks[n], with notes, and
 * *are_binary. *are_binary is false, and masks[n] are {0}, if the values themselves are labels: a mask has more than
 * foreground and background, or two masks have different values for foreground. names[n] are the masks' names in
 * errors. CLV_ERR_DATA if 255 is foreground in one mask and void in another; the message ends with `remedy`. remedy
 * NULL means that the masks are for training: the message then asks for names of the labels, and it is CLV_ERR_DATA,
 * too, if most values from 0 to the highest never occur. O(pixels). */
CLV_API enum clv_status clv_masks_from_values(struct clv_mask *masks, bool *are_binary, const struct clv_mask *values,
                                              const char *const *names, size_t n, const char *remedy,
                                              struct clv_error *err) CLV_CHECK;

/* Maps: the output of a network for an image, as planes of numbers on a grid of any size.
 *
 *     struct clv_map map = {0};
 *     if (clv_map_read(&map, "unet/horse012.npy", CLV_MAP_LAYOUT_AUTO, NULL, &error))
 *         fprintf(stderr, "%s\n", error.message);
 *     clv_map_release(&map);
 *
 * A map is stretched over the whole image: the centre of the map's column x lies at the fraction (x + 1/2) / width of
 * the image's width. Values between centres are interpolated bilinearly; beyond the outer centres, half a pixel from
 * the border, they are constant. */

struct clv_map {
    int32_t width, height, n_channels;
    bool is_integer; /* its file has u8 or u16, read as fractions of their largest value */
    float *values;   /* [n_channels][height][width], finite */
};
CLV_API void clv_map_release(struct clv_map *map);

/* Which of three dimensions has the channels. AUTO: the first or the last, if it is smaller than both others and the
 * map is then at most eight times as long as wide; else the one with which the map is closer to a square; an error if
 * both are equally close. BANDS: the file is an image whose bands, and their normalised differences, are the channels
 * (limits->bands). */
enum clv_map_layout { CLV_MAP_LAYOUT_AUTO, CLV_MAP_LAYOUT_CHW, CLV_MAP_LAYOUT_HWC, CLV_MAP_LAYOUT_BANDS };

/* Reads a map, whose format is recognised by content:
 *   PNG       grey with 1 to 16 bits: one channel, in 0..1
 *   .npy      versions 1 to 3; u1, u2, f2, f4, f8 in either byte order; C and Fortran order
 *   safetensors  U8, U16, F16, F32, F64; the only tensor in the file, or the one called "map"
 * Two dimensions are H x W, three follow `layout`; leading dimensions of 1 beyond three are dropped. u8 and u16 count
 * as fractions of 255 and 65535. Errors name file and shape or value: CLV_ERR_NO_INPUT; CLV_ERR_DATA for .npz, another
 * type, a file that is too short or too long, a side above limits->max_side_px, more than limits->max_pixels pixels or
 * CLV_MAX_MAP_CHANNELS channels or 2^27 values, NaN and infinities, and f64 beyond single precision; CLV_ERR_MEMORY.
 * Sizes are checked against the file before memory is taken. O(values). */
CLV_API enum clv_status clv_map_read(struct clv_map *map, const char *path, enum clv_map_layout layout,
                                     const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
