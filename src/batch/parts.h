/* Parts of tables: what one image adds to a table of the whole folder, as a hidden file of its own.
 *
 * At the end of a run objects.tsv and coco.json are joined from parts (join.h). An image whose mask is FOLDER/a/b.png
 * has the parts FOLDER/.cleave-parts/objects/a/b.tsv and FOLDER/.cleave-parts/coco/a/b.json. A part is a cache: it can
 * be made again from the image and its mask. So it is replaced as a whole like other files, but not forced to the disk,
 * and readers notice one that is torn.
 *
 * The first line is the head, with tabs between its fields:
 *
 *     cleave part 1   the mask's bytes and digest   the rest's bytes and hash   layout   options
 *
 * and the file's time is the mask's, so that the same run gives the same bytes.
 *
 * The rest is final text, which a join copies. Its first line names the image: a field of a table for objects.tsv; a
 * JSON string, width and height for coco.json. Then follow the rows of objects.tsv from the column "object" on, or the
 * annotations from "category_id" to the brace at their end, one a line. The join puts names and numbers of images
 * before them. Start at part_write.
 *
 *     part_key_make(&key, PART_COCO, &options);
 *     MUST(part_look(&fate, &n_lines, path, mask, PART_COCO, &key, err));
 *     part_put_image(&lines, PART_COCO, name, width, height);      .. then the annotations (coco_put_lines)
 *     MUST(part_write(path, &(struct part_mask){.path = mask}, &key, &lines, err)); */
#ifndef BATCH_PARTS_H
#define BATCH_PARTS_H

#include <time.h>

#include "base/base.h"
#include "base/digest.h"
#include "cleave/data.h"

#define PARTS_FOLDER ".cleave-parts"

enum part_kind { PART_OBJECTS, PART_COCO, N_PART_KINDS };

/* The part of the output "a/b" is FOLDER/<below>a/b<ending>. */
struct part_path {
    const char *below, *ending;
};
extern const struct part_path part_paths[N_PART_KINDS];

/* The options on which the parts of a mask depend. */
struct part_options {
    const struct clv_labels *labels;
    double tolerance;           /* of polygons, in pixels */
    bool runs;                  /* all objects as run lengths */
    bool objects, clear_border; /* --objects: polygons of objects, not of labels */
    int32_t min_area;           /* pixels */
    int32_t n_bands;            /* columns of objects.tsv; 0: red, green and blue */
};

/* The options of one kind of part, as its head has them. Parts of one layout have the same columns, or the same labels,
 * so that they can be joined into one table. A part whose options are equal as well need not be made again. */
struct part_key {
    char layout[32], options[160];
};
void part_key_make(struct part_key *key, enum part_kind kind, const struct part_options *options);

/* Appends the first line of the rest. `name` is the name of the image in the table, not escaped yet. The size is used
 * for coco.json only. */
void part_put_image(struct text *lines, enum part_kind kind, const char *name, int32_t width, int32_t height);

/* A mask that parts are made of. It starts as {path}; writing its first part fills the other fields, which the next
 * parts use. */
struct part_mask {
    const char *path;
    int64_t size;
    struct timespec changed;
    char digest[DIGEST_SIZE]; /* "": not looked at yet */
};

/* Writes a part of a mask that is complete: all or nothing, without a wait for the disk. Missing folders are made. Any
 * thread, one at a time for one mask. O(bytes of both). */
enum clv_status part_write(const char *path, struct part_mask *mask, const struct part_key *key,
                           const struct text *lines, struct clv_error *err) CLV_CHECK;

/* A part that was read whole. */
struct part {
    char *bytes; /* owned */
    int64_t mask_size, mask_changed;
    const char *mask_digest, *layout, *options; /* they point into bytes, as the fields below */
    char *name;                                 /* the first line of the rest, up to a tab .. */
    int32_t width, height;                      /* .. behind which these are; else 0 */
    char *lines, *end;                          /* the others: full lines, each with its newline; *end is 0 */
};
void part_release(struct part *part);

/* Reads a part and checks it against its head. *state tells what became of it; only PART_WHOLE fills *part. A file that
 * is not a part, or is of another version, is torn, too. Any thread. */
enum part_state { PART_ABSENT, PART_TORN, PART_WHOLE };
enum clv_status part_read(struct part *part, enum part_state *state, const char *path, enum part_kind kind,
                          struct clv_error *err) CLV_CHECK;

/* Whether the mask is the one that the part was made of: its size and time are equal, or else its size and content, as
 * after a copy of the folder. A mask that does not exist does not fit. */
enum clv_status part_fits(bool *fits, const struct part *part, const char *mask, struct clv_error *err) CLV_CHECK;

/* PART_TO_MAKE: the part is missing, damaged or of other options. PART_OF_ANOTHER_MASK: the mask has changed, so all
 * that is made of it must be made again. PART_CURRENT: the part stays, and *n_lines is the number of its rows or
 * annotations, otherwise 0. */
enum part_fate { PART_TO_MAKE, PART_OF_ANOTHER_MASK, PART_CURRENT };
enum clv_status part_look(enum part_fate *fate, size_t *n_lines, const char *path, const char *mask,
                          enum part_kind kind, const struct part_key *key, struct clv_error *err) CLV_CHECK;

#endif
