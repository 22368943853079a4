/* Datasets: images with their masks, labels, boxes and maps. set_open.c opens a manifest (manifest.c, by tsv.c) or a
 * folder without one (folder.c); both add items by set_add. labels.c has labels, mask*.c masks, safetensors_*.c tensor
 * files, letters.c Taskar's letters, boxes/ boxes. Read cleave/data.h first, then manifest.c. */
#ifndef DATA_DATA_H
#define DATA_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "cleave/data.h"
#include "cleave/status.h"

/* The parser behind clv_labels_read, for the fuzzer. */

/* Parses labels.tsv from memory. Takes ownership of bytes, as manifest_parse does. */
enum clv_status labels_parse_table(struct clv_labels *labels, const char *path, char *bytes, size_t size,
                                   struct clv_error *err) CLV_CHECK;

/* Appends the labels as the table labels.tsv: value, name and colour of every named label and every void value. */
void labels_put_table(struct text *text, const struct clv_labels *labels);

/* labels_init makes labels 0..n_labels-1 without names, in the default colours; labels_by_number names them: background
 * and foreground, or "label 0", "label 1" and so on. */
enum clv_status labels_init(struct clv_labels *labels, int32_t n_labels, struct clv_error *err) CLV_CHECK;
enum clv_status labels_by_number(struct clv_labels *labels, int32_t n_labels, struct clv_error *err) CLV_CHECK;

/* Returns whether labels.tsv can have the name: 1 to 63 bytes of UTF-8 without tabs and line ends. */
bool label_name_fits(const char *name);

/* Whether pixels may have this label: it has a name and is not void. Lists of labels for users have these alone. */
bool labels_have(const struct clv_labels *labels, int64_t label);

/* Makes the labels with these comma-separated names void: their pixels are neither learned from nor counted, and
 * learners with hidden nodes treat their nodes as unlabelled. CLV_ERR_USAGE, without any change, if no label has one of
 * the names (the message lists the labels' names) or if fewer than two labels remain. */
enum clv_status labels_hide(struct clv_labels *labels, const char *names, struct clv_error *err) CLV_CHECK;

/* Tensor files in the safetensors format: an 8-byte little-endian header length, a JSON header, raw little-endian
 * arrays. Features and models are stored this way; Python opens them with one line:
 *     safetensors.numpy.load_file("horse.cleave")
 * The format is described at https://github.com/huggingface/safetensors. */

enum clv_dtype { CLV_U8, CLV_I32, CLV_I64, CLV_F32, CLV_F64, CLV_U16, CLV_I16, CLV_F16 };

#define CLV_TENSOR_MAX_DIMENSIONS 4

/* data points into the mapped file (reader) or at the caller's array (writer); it is aligned for its type. */
struct clv_tensor {
    const char *name;
    enum clv_dtype dtype;
    int32_t n_dimensions;
    int64_t shape[CLV_TENSOR_MAX_DIMENSIONS];
    const void *data;
};

/* Reading. Maps the file; tensors are views, valid until clv_tensors_close. Everything except the values of arrays is
 * checked on opening. CLV_ERR_DATA, naming file and tensor: a header that is truncated, longer than 100 MB, or not a
 * JSON object; duplicate names; types other than those above (BOOL, BF16 and so on); more than
 * CLV_TENSOR_MAX_DIMENSIONS; arrays outside the file, or that overlap, leave gaps, or differ in size from their shape.
 * Arrays that are misaligned for their type in the file are copied. */
struct clv_tensors;
enum clv_status clv_tensors_open(struct clv_tensors **tensors, const char *path, struct clv_error *err) CLV_CHECK;
enum clv_status clv_tensors_parse(struct clv_tensors **tensors, const void *bytes, size_t size, const char *name,
                                  struct clv_error *err) CLV_CHECK; /* bytes must outlive it, 8-byte aligned */
/* Whether clv_tensors_open or _parse failed because the file is not a tensor file. */
bool tensors_are_not(const struct clv_error *why);
void clv_tensors_close(struct clv_tensors *tensors);
DROPS(tensors_drop, struct clv_tensors, clv_tensors_close)
size_t clv_tensors_count(const struct clv_tensors *tensors);
/* Sorted by name; NULL past the end. */
const struct clv_tensor *clv_tensors_at(const struct clv_tensors *tensors, size_t index);
const struct clv_tensor *clv_tensors_find(const struct clv_tensors *tensors, const char *name); /* or NULL */

/* Finds a tensor of this type and shape. CLV_ERR_DATA, naming file, tensor and the difference, if there is none. A
 * dimension of -1 in `shape` matches any size. */
enum clv_status clv_tensors_require(const struct clv_tensor **tensor, const struct clv_tensors *tensors,
                                    const char *name, enum clv_dtype dtype, int32_t n_dimensions, const int64_t *shape,
                                    struct clv_error *err) CLV_CHECK;

/* A string of the header's __metadata__, or NULL. */
const char *clv_tensors_metadata(const struct clv_tensors *tensors, const char *key);
size_t clv_tensors_metadata_count(const struct clv_tensors *tensors);
const char *clv_tensors_metadata_key(const struct clv_tensors *tensors, size_t index); /* sorted */

/* Writing: all or nothing. metadata: n_metadata pairs {key, value}, UTF-8. The same content gives the same bytes in
 * whatever order it is passed: wide types come first, then names, so that every array is aligned for its type; the
 * first one begins at a multiple of 64. CLV_ERR_USAGE: names or keys given twice, names that are not UTF-8, shapes out
 * of range. */
enum clv_status clv_tensors_write(const char *path, const struct clv_tensor *tensors, size_t n_tensors,
                                  const char *const (*metadata)[2], size_t n_metadata, struct clv_error *err) CLV_CHECK;

/* For qsort: compare pointers to tensors by name, and pointers to pairs of metadata by key. */
int tensor_compare_names(const void *a, const void *b);
int pair_compare_keys(const void *a, const void *b);

size_t clv_dtype_size(enum clv_dtype dtype);

/* Labels in tensor files: names as JSON, colours as the tensor "palette" u8 [256][3]. Models and feature files carry
 * them. */

void labels_put_json(struct text *text, const struct clv_labels *labels);
struct clv_tensor labels_tensor(const struct clv_labels *labels); /* a view */

/* Reads the labels of an open file from their JSON and the palette tensor. `name` is the file, for messages. Leaves
 * *labels unchanged on failure. */
enum clv_status labels_parse(struct clv_labels *labels, const char *json, const struct clv_tensors *tensors,
                             const char *name, struct clv_error *err) CLV_CHECK;

/* Handwritten words: the OCR data of Kassel (1995) in the form of Taskar, Guestrin and Koller (2003), letter.data.
 * feature/dataset/letters.c turns each word into a chain problem. */

#define LETTER_WIDTH      8
#define LETTER_HEIGHT     16
#define LETTER_PIXELS     128
#define LETTER_LABELS     26 /* a to z */
#define LETTER_MAX_FOLDS  100
#define LETTER_MAX_LENGTH 1000 /* letters per word */

/* Words in the file's order; a word is the letters first[word] .. first[word + 1] - 1. */
struct letters {
    size_t n_words, n_letters;
    size_t *first;                        /* [n_words + 1] */
    uint8_t *fold;                        /* [n_words] 0..LETTER_MAX_FOLDS - 1 */
    uint8_t *label;                       /* [n_letters] 0 is a */
    uint8_t (*pixels)[LETTER_PIXELS / 8]; /* [n_letters] one bit each, row by row, the lowest bit first */
};
void letters_release(struct letters *letters);

/* Reads Taskar's letter.data, gzip or plain: one line per letter with the tab-separated fields id, letter (a..z), id of
 * the word's next letter or -1, word, position in the word (from 1), fold, and 128 pixels 0 or 1, row by row. Empty
 * lines are skipped. The letters of a word must be on consecutive lines; ids and words may have any order.
 * CLV_ERR_DATA, naming file and line: missing, additional or malformed fields, a letter whose id is not the previous
 * line's next id, a word whose number or fold changes, an unfinished word, a damaged gzip file. O(size of the file);
 * reads it once, in pieces. */
enum clv_status letters_read(struct letters *letters, const char *path, struct clv_error *err) CLV_CHECK;

/* The parser behind letters_read, one line per call, for the fuzzer. */
struct letters_parser {
    struct letters letters;
    size_t word_capacity, letter_capacity;
    const char *path;
    /* The current word; next is the id of its next letter, -1 between words. */
    int32_t next, word, position;
};

void letters_parser_init(struct letters_parser *parser, const char *path);
void letters_parser_release(struct letters_parser *parser);

/* Parses one line; splits it into fields in place. */
enum clv_status letters_parse_line(struct letters_parser *parser, char *line, size_t number,
                                   struct clv_error *err) CLV_CHECK;

/* Call this after the last line. Checks that the last word has ended, and moves the words to *letters. */
enum clv_status letters_parse_end(struct letters *letters, struct letters_parser *parser,
                                  struct clv_error *err) CLV_CHECK;

/* The parser behind clv_set_read_manifest, for the fuzzer. */

/* Parses a manifest from memory and adds its items. Takes ownership of bytes, also on failure; they come from
 * array_alloc, with one writable byte behind the end. set->root must be set. `path` names the manifest in messages. */
enum clv_status manifest_parse(struct clv_set *set, const char *path, char *bytes, size_t size,
                               struct clv_error *err) CLV_CHECK;

/* Masks from decoded images: values (mask.c), or colours and 16 bits (mask_wide.c); mask_read.c chooses. */

/* Maps an image's values to labels; `name` is the file, for messages. */
enum clv_status mask_from_indexed(struct clv_mask *mask, const struct clv_indexed_image *image, const char *name,
                                  const struct clv_labels *labels, struct clv_error *err) CLV_CHECK;

/* Requirements on a mask: its size (0: any) and the limits of reading (NULL: the default ones). */
struct mask_wanted {
    int32_t width, height;
    const struct clv_image_limits *limits;
};

/* Whether the bytes begin a PNG with 16-bit grey, RGB or alpha; mask_from_wide reads such a mask. */
bool mask_is_wide(const unsigned char *bytes, size_t size);
enum clv_status mask_from_wide(struct clv_mask *mask, const struct file_map *file, const struct clv_labels *labels,
                               const struct mask_wanted *wanted, struct clv_error *err) CLV_CHECK;
/* CLV_ERR_DATA if the size is not the one in `wanted`. */
enum clv_status mask_check_size(int32_t width, int32_t height, const char *name, const struct mask_wanted *wanted,
                                struct clv_error *err) CLV_CHECK;

/* How a mask without labels.tsv was read. */
struct foreground {
    uint8_t value;   /* the only value that was read as label 1; 0: no value, several values, or white */
    uint32_t colour; /* 1 << 24 | RGB of the colour that was read as label 1; 0: none */
    bool is_white;   /* 255 was read as label 1 */
    bool has_background, has_void;
};

/* Returns how the mask of an item was read. Reads the file again to find the value or colour; all 0 if that fails, or
 * if the mask is derived. */
struct foreground foreground_of_item(const struct clv_mask *mask, const struct clv_item *item,
                                     const struct clv_image_limits *limits);

/* Properties shared by the masks of a dataset, or by arrays, so far. `first` to `first_blank` name the first mask whose
 * foreground is `value`, `colour`, 1, 1 in a mask that also has 255, white in a mask that also has black, and white in
 * a mask without black. */
struct foregrounds {
    const char *remedy; /* what an error advises; NULL: the advice for files */
    uint8_t value;
    uint32_t colour;
    const char *first, *first_colour, *first_one, *first_strokes, *first_white, *first_blank;
};

/* Adds one mask, whose name must outlive `all`. CLV_ERR_DATA with CLV_FAULT_MASK_VALUES or CLV_FAULT_MASK_COLOURS for a
 * second foreground value or colour, since two values are two labels. CLV_ERR_DATA with CLV_FAULT_MASK_VALUES for an
 * ambiguous 255: it is foreground in a mask of black and white, and void in a mask with a 1. Masks of strokes can look
 * like either: one with strokes on the background alone has no 1. */
enum clv_status foregrounds_agree(struct foregrounds *all, const struct foreground *foreground, const char *name,
                                  struct clv_error *err) CLV_CHECK;

/* Notes of masks: of 0 and one other value, of black and white, of black and one colour. The second value is read as
 * 1. */
extern const char mask_other_value_note[], mask_white_note[], mask_colour_note[];

/* Functions that the reader and the writer of tensor files share, and writing of arrays that do not fit in memory: the
 * header comes first, then the caller streams every array. */

#define TENSORS_MAX_HEADER 100000000 /* bytes of JSON; the format's own limit */

/* The content of a tensor file. */
struct tensors_content {
    const struct clv_tensor *tensors;
    size_t n_tensors;
    const char *const (*metadata)[2]; /* [n_metadata] keys and values */
    size_t n_metadata;
};

/* Creates the file and writes its header, without using the tensors' data. The caller then writes the arrays to
 * writer->stream in the sequence order[n_tensors], tensor_bytes of each, and calls file_commit. The sequence has the
 * widest types first, then names, so that every array is aligned for its type. No file is open after a failure. */
enum clv_status tensors_begin(struct file_writer *writer, size_t *order, const char *path,
                              const struct tensors_content *content, struct clv_error *err) CLV_CHECK;

/* The offset of the array in the file. */
size_t tensors_offset(const struct clv_tensors *tensors, const struct clv_tensor *tensor);

/* The mapping of the file that clv_tensors_open opened; without bytes after clv_tensors_parse. */
const struct file_map *tensors_map(const struct clv_tensors *tensors);

/* The size of a tensor's array; false if the type or shape is out of range or the product overflows. */
bool tensor_bytes(size_t *bytes, const struct clv_tensor *tensor);

/* The format's name of a type, such as "F32", and the type with a name. dtype_find returns false for unsupported
 * types. */
const char *dtype_name(enum clv_dtype dtype);
bool dtype_find(enum clv_dtype *dtype, const char *name);

/* Fields of a new item. `mask`, `instances`, `boxes`, `tags` and `sequence` may be NULL; paths are relative to the
 * root. set_add appends the item; the caller keeps *capacity between calls. */
struct item_fields {
    const char *name, *mask, *instances, *boxes, *split, *tags, *sequence;
    const char *maps[CLV_MAX_MAPS]; /* paths in the order of the set's map_names */
};
enum clv_status set_add(struct clv_set *set, size_t *capacity, const struct item_fields *fields,
                        struct clv_error *err) CLV_CHECK;

/* Joins the root and a path relative to it, leaving out a root ".". Free the result with array_free. NULL: out of
 * memory. */
char *set_path(const struct clv_set *set, const char *relative);

/* Whether a path, relative to a folder of images, is in one of cleave's own folders: masks/, strokes/, overlays/,
 * cutouts/, objects/ or instances/. */
bool set_is_own(const char *below);

/* The hidden file that a run leaves in its output folder. set_is_of_run returns whether root/below lies in such a
 * folder below the root: files there are outputs, not photos. */
#define RUN_NOTE          ".cleave-run"
#define RUN_NOTE_MAX_SIZE ((size_t)1 << 24)
#define RUN_NOTE_GIVEN    "given " /* begins the line of a frame whose mask was given; its path_output follows */
bool set_is_of_run(const char *root, const char *below);

/* Whether a file is one of a dataset's tables (labels.tsv, boxes.tsv, manifest.tsv), a model, as `cleave label` writes
 * and suggests them there, or GDAL's statistics. */
bool set_is_table(const char *below);

/* set_may_be_image: whether a file may be an image; takes_arrays: whether .npy files are the images.
 * set_has_arrays_alone: whether a folder has .npy files and no images; beside images, .npy files may be their maps.
 * Files of cleave's own folders do not count if is_root. */
bool set_may_be_image(const char *path, bool takes_arrays);
bool set_has_arrays_alone(const struct path_list *files, const char *folder, bool is_root);

/* Moves the masks among `files` to `masks`, by the folder layout that clv_set_read_folder finds: photo_mask.png next to
 * photo.jpg, and files in the folder of masks. */
enum clv_status set_take_masks(struct path_list *masks, struct path_list *files, const char *folder,
                               struct clv_error *err) CLV_CHECK;

/* Functions that read an item's image and mask, from its files or from memory. All code uses these. */

static inline bool item_is_in_memory(const struct clv_item *item)
{
    return item->pixels || item->bands;
}

/* clv_image_read and clv_image_read_size for an item's image. */
enum clv_status item_image_read(struct clv_image *image, const struct clv_item *item,
                                const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
enum clv_status item_image_size(int32_t *width, int32_t *height, const struct clv_item *item,
                                const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* raster_open for an item's image. */
struct raster;
enum clv_status item_raster_open(struct raster *raster, const struct clv_item *item,
                                 const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Whether an item's image is read by bands (raster_is_deep), and whether its file has 12-bit grey (image_is_12_bit). */
bool item_is_deep(const struct clv_item *item, const struct clv_image_limits *limits);
bool item_is_12_bit(const struct clv_item *item, const struct clv_image *image, const struct clv_image_limits *limits);

/* Reads the object numbers of an item's pixels from its label image of objects. Free them with
 * integer_image_release. */
struct integer_image;
enum clv_status item_numbers_read(struct integer_image *image, const struct clv_item *item,
                                  const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* clv_mask_read for an item's mask; a derived mask is 1 inside all objects. */
enum clv_status item_mask_read(struct clv_mask *mask, const struct clv_item *item, const struct clv_labels *labels,
                               const struct mask_wanted *wanted, struct clv_error *err) CLV_CHECK;

/* Reads labels.tsv in the root; if it does not exist, the labels are background and foreground. */
enum clv_status set_read_labels(struct clv_set *set, struct clv_error *err) CLV_CHECK;

/* Returns whether `split` is one of the comma-separated names; NULL: there are none. */
bool split_is_listed(const char *names, const char *split);

/* clv_set_select for learning: NULL selects the split "train" if it exists, else all items. */
enum clv_status set_select_training(struct clv_set *set, const char *splits, struct clv_error *err) CLV_CHECK;

/* Whether to keep an item of a set. */
typedef bool item_test(void *context, struct clv_item *item);

/* set_keep keeps the items that pass a test, in their order, and releases the others; set_keep_masked keeps those that
 * have a mask. */
void set_keep(struct clv_set *set, item_test *is_kept, void *context);
void set_keep_masked(struct clv_set *set);

/* Returns whether any item has a mask. */
bool set_has_mask(const struct clv_set *set);

/* Removes the masks of drafts, which are not ground truth yet. Returns their number. */
size_t set_drop_drafts(struct clv_set *set);

/* Strokes that `cleave label` saved next to a dataset's images. */

/* Reads the beginning of a file of strokes: whether its image was accepted, whether the image has no object, and
 * whether all strokes are undone. Returns false if the file cannot be read. */
bool strokes_read_state(bool *accepted, bool *empty, bool *undone, const char *path);

/* Marks items as drafts whose mask is in masks/ and whose file in strokes/ is not accepted. */
enum clv_status set_mark_drafts(struct clv_set *set, struct clv_error *err) CLV_CHECK;

/* Tab-separated tables with a header row, in UTF-8, with LF or CRLF; a BOM and blank lines are skipped. Every row has
 * as many fields as the header. Errors name file and line. */

#define TSV_MAX_COLUMNS 64
#define TSV_MAX_SIZE    ((size_t)1 << 30) /* bytes of a table */

struct tsv {
    const char *path;
    char *bytes; /* owned; fields point into it */
    char *cursor, *end;
    size_t line; /* of the current row, from 1 */
    size_t n_columns;
    char *columns[TSV_MAX_COLUMNS];
    char *fields[TSV_MAX_COLUMNS]; /* of the current row */
};

/* Parses the header. Takes ownership of bytes, also on failure; they come from array_alloc, with one writable byte
 * behind the end. `path` must outlive the table. */
enum clv_status tsv_parse(struct tsv *table, const char *path, char *bytes, size_t size,
                          struct clv_error *err) CLV_CHECK;
void tsv_release(struct tsv *table);

/* Index of a column, or -1. */
int tsv_column(const struct tsv *table, const char *name);
enum clv_status tsv_require_column(int *column, const struct tsv *table, const char *name,
                                   struct clv_error *err) CLV_CHECK;

/* Splits the next row into fields; *more is false at the end. */
enum clv_status tsv_next(bool *more, struct tsv *table, struct clv_error *err) CLV_CHECK;

/* Maps values in memory to labels, by the rules for an 8-bit grey file: they decide the meaning of 0 and 255 before
 * clv_example_set_truth gets the mask. Errors call the mask `name`. CLV_ERR_USAGE: an empty mask. */
enum clv_status mask_from_values(struct clv_mask *mask, const struct clv_mask *values, const struct clv_labels *labels,
                                 const char *name, struct clv_error *err) CLV_CHECK;

/* Releases *item and sets it to zeros; does nothing on zeros. */
void item_release(struct clv_item *item);

#endif
