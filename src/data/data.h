/* This folder reads sets of images and what goes with them. A set is a manifest (manifest.c over tsv.c) or a bare
 * folder (folder.c); both add items by set_add, and set_open.c chooses. Labels are in labels.c, masks in mask*.c,
 * tensor files in safetensors_*.c, Taskar's letters in letters.c. boxes/ reads boxes. Read cleave/data.h first, then
 * manifest.c. */
#ifndef DATA_DATA_H
#define DATA_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "cleave/data.h"
#include "cleave/status.h"

/* The parser behind clv_labels_read, for the fuzzer. */

/* Parses labels.tsv from memory, which is taken as manifest_parse takes it. */
enum clv_status labels_parse_table(struct clv_labels *labels, const char *path, char *bytes, size_t size,
                                   struct clv_error *err) CLV_CHECK;

/* labels.tsv of the labels: value, name and colour of those with a name, and of void values. */
void labels_put_table(struct text *text, const struct clv_labels *labels);

/* Makes the labels of these names, comma-separated, void: their pixels are not learned from and do not count, and
 * learners of hidden nodes see nodes of unknown label there. CLV_ERR_USAGE, and nothing changes, for a name that no
 * label has (the message lists the names there are) and if fewer than two labels are left. */
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

/* Reading. The file is mapped, not read; tensors are views valid until clv_tensors_close. Everything is checked before
 * a tensor is handed out, and refused with CLV_ERR_DATA naming file and tensor: a header that is truncated, longer than
 * 100 MB, or no JSON object; duplicate names; types other than those above (BOOL, BF16 ..); more than
 * CLV_TENSOR_MAX_DIMENSIONS; arrays outside the file, or that overlap, leave gaps, or differ in size from their shape.
 * Arrays that other writers left misaligned for their type are copied. The values of arrays are not looked at. */
struct clv_tensors;
enum clv_status clv_tensors_open(struct clv_tensors **tensors, const char *path, struct clv_error *err) CLV_CHECK;
enum clv_status clv_tensors_parse(struct clv_tensors **tensors, const void *bytes, size_t size, const char *name,
                                  struct clv_error *err) CLV_CHECK; /* bytes must outlive it, 8-byte aligned */
/* Whether that failed because the file is of another kind altogether. */
bool tensors_are_not(const struct clv_error *why);
void clv_tensors_close(struct clv_tensors *tensors);
DROPS(tensors_drop, struct clv_tensors, clv_tensors_close)
size_t clv_tensors_count(const struct clv_tensors *tensors);
/* Sorted by name; NULL past the end. */
const struct clv_tensor *clv_tensors_at(const struct clv_tensors *tensors, size_t index);
const struct clv_tensor *clv_tensors_find(const struct clv_tensors *tensors, const char *name); /* or NULL */

/* The tensor, or CLV_ERR_DATA naming file, tensor and what differs. A dimension of -1 in `shape` matches any size. */
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

size_t clv_dtype_size(enum clv_dtype dtype);

/* Labels in tensor files: names as JSON, colours as the tensor "palette" u8 [256][3]. Models and feature files carry
 * them. */

void labels_put_json(struct text *text, const struct clv_labels *labels);
struct clv_tensor labels_tensor(const struct clv_labels *labels); /* a view */

/* The labels of an open file from their JSON and the palette tensor. `name` is the file, for messages. Unchanged on
 * failure. */
enum clv_status labels_parse(struct clv_labels *labels, const char *json, const struct clv_tensors *tensors,
                             const char *name, struct clv_error *err) CLV_CHECK;

/* Handwritten words: the OCR set of Kassel (1995) as Taskar, Guestrin and Koller (2003) have prepared it, letter.data.
 * feature/dataset/letters.c makes chain problems of them. */

#define LETTER_WIDTH      8
#define LETTER_HEIGHT     16
#define LETTER_PIXELS     128
#define LETTER_LABELS     26 /* a to z */
#define LETTER_MAX_FOLDS  100
#define LETTER_MAX_LENGTH 1000 /* letters of a word */

/* Words in the file's order; a word is the letters first[word] .. first[word + 1] - 1. */
struct letters {
    size_t n_words, n_letters;
    size_t *first;                        /* [n_words + 1] */
    uint8_t *fold;                        /* [n_words] 0..LETTER_MAX_FOLDS - 1 */
    uint8_t *label;                       /* [n_letters] 0 is a */
    uint8_t (*pixels)[LETTER_PIXELS / 8]; /* [n_letters] one bit each, row by row, the lowest bit first */
};
void letters_release(struct letters *letters);

/* Reads Taskar's letter.data, gzip or plain: a line per letter with the tab-separated fields id, letter (a..z), id of
 * the word's next letter or -1, word, position in the word (from 1), fold, and 128 pixels 0 or 1, row by row. Empty
 * lines do not count. The letters of a word follow one another; nothing else is assumed of ids and words. Errors
 * (CLV_ERR_DATA) name file and line: fields that are missing, too many or not of this form, a letter that is not the
 * one announced, a word that changes its number or fold, a word without end, a damaged gzip file. O(size of the file),
 * which is read once, in pieces. */
enum clv_status letters_read(struct letters *letters, const char *path, struct clv_error *err) CLV_CHECK;

/* The parser behind it, a line at a time, for the fuzzer. */
struct letters_parser {
    struct letters letters;
    size_t word_capacity, letter_capacity;
    const char *path;
    /* The word that is being read; next is -1 between words. */
    int32_t next, word, position;
};

void letters_parser_init(struct letters_parser *parser, const char *path);
void letters_parser_release(struct letters_parser *parser);

/* Takes one line, which is cut up in place. */
enum clv_status letters_parse_line(struct letters_parser *parser, char *line, size_t number,
                                   struct clv_error *err) CLV_CHECK;

/* After the last line: checks that the last word has ended, and moves the words out. */
enum clv_status letters_parse_end(struct letters *letters, struct letters_parser *parser,
                                  struct clv_error *err) CLV_CHECK;

/* The parser behind clv_set_read_manifest, for the fuzzer. */

/* Parses a manifest from memory (array_alloc'd with one writable byte behind the end; taken whatever the outcome).
 * set->root must be set; items are added. `path` names it in messages. */
enum clv_status manifest_parse(struct clv_set *set, const char *path, char *bytes, size_t size,
                               struct clv_error *err) CLV_CHECK;

/* Masks from decoded images: values (mask.c), or colours and 16 bits (mask_wide.c); mask_read.c chooses. */

/* Maps an image's values to labels; `name` is the file, for messages. */
enum clv_status mask_from_indexed(struct clv_mask *mask, const struct clv_indexed_image *image, const char *name,
                                  const struct clv_labels *labels, struct clv_error *err) CLV_CHECK;

/* Requirements on a mask: this size, unless 0, and these limits (NULL: the default ones). */
struct mask_wanted {
    int32_t width, height;
    const struct clv_image_limits *limits;
};

/* Whether the bytes begin a PNG of 16-bit grey, RGB or alpha; and the mask from such a one. */
bool mask_is_wide(const unsigned char *bytes, size_t size);
enum clv_status mask_from_wide(struct clv_mask *mask, const struct file_map *file, const struct clv_labels *labels,
                               const struct mask_wanted *wanted, struct clv_error *err) CLV_CHECK;
/* CLV_ERR_DATA for another size than is wanted. */
enum clv_status mask_check_size(int32_t width, int32_t height, const char *name, const struct mask_wanted *wanted,
                                struct clv_error *err) CLV_CHECK;

/* How a mask without labels.tsv was read. */
struct foreground {
    uint8_t value;   /* that was read as label 1; 0: none was, or several, or white */
    uint32_t colour; /* 1 << 24 | RGB that was; 0: none */
    bool is_white;   /* 255 was read as label 1 */
    bool has_background, has_void;
};

/* The mask is the item's. */
struct foreground foreground_of_item(const struct clv_mask *mask, const struct clv_item *item,
                                     const struct clv_image_limits *limits);

/* Properties that the masks of a dataset, or of arrays, share so far. The names are those of the first mask whose
 * foreground is `value`, `colour`, 1, 1 with 255 besides, white beside black, and white alone. */
struct foregrounds {
    const char *remedy; /* of a 255 that is ambiguous; NULL: that of files */
    uint8_t value;
    uint32_t colour;
    const char *first, *first_colour, *first_one, *first_strokes, *first_white, *first_blank;
};

/* Takes in one more mask, whose name is to outlive `all`. CLV_ERR_DATA for foregrounds of two values or colours, which
 * are two labels, with CLV_FAULT_MASK_VALUES or CLV_FAULT_MASK_COLOURS, and with the former for an ambiguous 255: it is
 * foreground in masks of black and white, and void in those with a 1; a set may have both, as strokes on the background
 * alone beside other strokes. */
enum clv_status foregrounds_agree(struct foregrounds *all, const struct foreground *foreground, const char *name,
                                  struct clv_error *err) CLV_CHECK;

/* The notes of a mask of 0 and one other value, which was read as 1, of one of 0 and 255, and of black and a colour. */
extern const char mask_other_value_note[], mask_white_note[], mask_colour_note[];

/* Functions that the reader and the writer of tensor files share, and writing of arrays that do not fit in memory: the
 * header comes first, then the caller streams every array. */

#define TENSORS_MAX_HEADER 100000000 /* bytes of JSON; the format's own limit */

/* The content of a file of tensors. */
struct tensors_content {
    const struct clv_tensor *tensors;
    size_t n_tensors;
    const char *const (*metadata)[2]; /* [n_metadata] keys and values */
    size_t n_metadata;
};

/* Creates the file and writes its header; the tensors' data is not looked at. order[n_tensors] receives the sequence
 * in which the caller must then write each array's bytes, tensor_bytes of them, to writer->stream (widest types
 * first, then by name, so that every array is aligned for its type), before file_commit. Nothing is open after a
 * failure. */
enum clv_status tensors_begin(struct file_writer *writer, size_t *order, const char *path,
                              const struct tensors_content *content, struct clv_error *err) CLV_CHECK;

/* The offset of the array in the file. */
size_t tensors_offset(const struct clv_tensors *tensors, const struct clv_tensor *tensor);

/* The map of a file that was opened; without bytes for one that was parsed. */
const struct file_map *tensors_map(const struct clv_tensors *tensors);

/* The size of a tensor's array; false if the type or shape is out of range or the product overflows. */
bool tensor_bytes(size_t *bytes, const struct clv_tensor *tensor);

/* The format's names of types: "F32". Finding fails for types cleave does not have. */
const char *dtype_name(enum clv_dtype dtype);
bool dtype_find(enum clv_dtype *dtype, const char *name);

/* Appends an item; capacity is the caller's. `mask`, `instances`, `boxes`, `tags` and `sequence` may be NULL; paths
 * are relative to the root. */
struct item_fields {
    const char *name, *mask, *instances, *boxes, *split, *tags, *sequence;
    const char *maps[CLV_MAX_MAPS]; /* relative to the root, too; by the set's map_names, of which there may be none */
};
enum clv_status set_add(struct clv_set *set, size_t *capacity, const struct item_fields *fields,
                        struct clv_error *err) CLV_CHECK;

/* Returns a path from the root as one that opens, without a root ".". array_free it. NULL: out of memory. */
char *set_path(const struct clv_set *set, const char *relative);

/* Whether a path below a folder of images leads to what belongs to them: their masks/, strokes/, overlays/, cutouts/,
 * objects/ or instances/. */
bool set_is_own(const char *below);

/* The hidden file that a run leaves in the folder of its outputs, and whether root/below is in such a folder below the
 * root: files there are outputs, not photos. */
#define RUN_NOTE          ".cleave-run"
#define RUN_NOTE_MAX_SIZE ((size_t)1 << 24)
#define RUN_NOTE_GIVEN    "given " /* begins a line of a frame whose mask was given: its path_output */
bool set_is_of_run(const char *root, const char *below);

/* Whether it is a file that a set has besides its images: labels.tsv and the like, and the model of `cleave label'. */
bool set_is_table(const char *below);

/* Whether a file of a folder may be an image, and whether the folder's are .npy files: where there are images, these
 * may be maps of them. A set's own files do not count; is_root: they may be there. */
bool set_may_be_image(const char *path, bool takes_arrays);
bool set_has_arrays_alone(const struct path_list *files, const char *folder, bool is_root);

/* Moves files below a folder that are masks by its layout, as clv_set_read_folder sees it, to `masks`: photo_mask.png
 * next to photo.jpg, and what is in the folder of masks. */
enum clv_status set_take_masks(struct path_list *masks, struct path_list *files, const char *folder,
                               struct clv_error *err) CLV_CHECK;

/* Read an item's image and mask, from its files or from memory. All code reads them by these. */

static inline bool item_is_in_memory(const struct clv_item *item)
{
    return item->pixels || item->bands;
}

/* clv_image_read and clv_image_read_size of an item's image. */
enum clv_status item_image_read(struct clv_image *image, const struct clv_item *item,
                                const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
enum clv_status item_image_size(int32_t *width, int32_t *height, const struct clv_item *item,
                                const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* raster_open of an item's image. */
struct raster;
enum clv_status item_raster_open(struct raster *raster, const struct clv_item *item,
                                 const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Whether an item's image is read by its bands (raster_is_deep), and whether its file has grey of 12 bits
 * (image_is_12_bit). */
bool item_is_deep(const struct clv_item *item, const struct clv_image_limits *limits);
bool item_is_12_bit(const struct clv_item *item, const struct clv_image *image, const struct clv_image_limits *limits);

/* The numbers of an item's objects, as their file has them, which is its derived mask, too; integer_image_release
 * them. */
struct integer_image;
enum clv_status item_numbers_read(struct integer_image *image, const struct clv_item *item,
                                  const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* clv_mask_read of an item's mask, which may be a derived one. */
enum clv_status item_mask_read(struct clv_mask *mask, const struct clv_item *item, const struct clv_labels *labels,
                               const struct mask_wanted *wanted, struct clv_error *err) CLV_CHECK;

/* Reads labels.tsv in the root if there is one, else the labels are binary. */
enum clv_status set_read_labels(struct clv_set *set, struct clv_error *err) CLV_CHECK;

/* clv_set_select for learning: NULL keeps the split "train" where there is one, else all. */
enum clv_status set_select_training(struct clv_set *set, const char *splits, struct clv_error *err) CLV_CHECK;

/* Takes the masks of drafts away, which are not truth yet, and returns how many there were. */
size_t set_drop_drafts(struct clv_set *set);

/* Strokes that `cleave label` left next to a set's images. */

/* By the beginning of a file of strokes: whether its image was accepted, whether no pixel of it is an object's, and
 * whether all that was drawn is undone. false: there is no such file. */
bool strokes_look(bool *accepted, bool *empty, bool *undone, const char *path);

/* Marks the items whose masks, in masks/, are drafts by their files in strokes/. */
enum clv_status set_mark_drafts(struct clv_set *set, struct clv_error *err) CLV_CHECK;

/* Tab-separated tables with a header row: UTF-8, LF or CRLF, a BOM is fine, blank lines do not count, every row has
 * as many fields as the header. Errors name file and line. */

#define TSV_MAX_COLUMNS 64
#define TSV_MAX_SIZE    ((size_t)1 << 30) /* bytes of a table */

struct tsv {
    const char *path;
    char *bytes; /* owned; fields are cut out of it in place */
    char *cursor, *end;
    size_t line; /* of the current row, from 1 */
    size_t n_columns;
    char *columns[TSV_MAX_COLUMNS];
    char *fields[TSV_MAX_COLUMNS]; /* of the current row */
};

/* Takes bytes (array_alloc'd, one writable byte behind the end; the table's whatever the outcome). `path` must
 * outlive the table. */
enum clv_status tsv_parse(struct tsv *table, const char *path, char *bytes, size_t size,
                          struct clv_error *err) CLV_CHECK;
void tsv_release(struct tsv *table);

/* Index of a column, or -1. */
int tsv_column(const struct tsv *table, const char *name);
enum clv_status tsv_require_column(int *column, const struct tsv *table, const char *name,
                                   struct clv_error *err) CLV_CHECK;

/* Cuts the next row into fields; *more is false at the end. */
enum clv_status tsv_next(bool *more, struct tsv *table, struct clv_error *err) CLV_CHECK;

/* Maps values in memory, which are not labels yet, to labels, like those of an 8-bit grey file: the meaning of arrays
 * of 0 and 255 is decided here, before clv_example_set_truth takes the mask. Errors call it `name`. CLV_ERR_USAGE
 * without any pixel. */
enum clv_status mask_from_values(struct clv_mask *mask, const struct clv_mask *values, const struct clv_labels *labels,
                                 const char *name, struct clv_error *err) CLV_CHECK;

/* Zeros are released already, as everywhere. */
void item_release(struct clv_item *item);

#endif
