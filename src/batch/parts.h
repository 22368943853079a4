/* Parts of tables: hidden files with the rows of one image for a table of the whole folder.
 *
 * At the end of a run objects.tsv and coco.json are joined from parts (join.h). An image whose mask is FOLDER/a/b.png
 * has the parts FOLDER/.cleave-parts/objects/a/b.tsv and FOLDER/.cleave-parts/coco/a/b.json. A part is a cache, which
 * can be made again from the image and its mask. It is therefore replaced as a whole as other files are, but without
 * fsync, and readers detect a torn part.
 *
 * The first line is the head, with tabs between its fields:
 *
 *     cleave part 1   the mask's bytes and digest   the rest's bytes and hash   layout   options
 *
 * The file has the mask's time instead of a time in the head, so that the same run gives the same bytes.
 *
 * The rest is final text, which a join copies. Its first line names the image: a field of a table for objects.tsv; a
 * JSON string, width and height for coco.json. Then follow the rows of objects.tsv from the column "object", or the
 * annotations from "category_id" to their closing brace, one per line. The join writes names and numbers of images
 * before them. Start at part_write.
 *
 *     part_key_make(&key, PART_COCO, &options);
 *     MUST(part_check(&fate, &n_lines, path, mask, PART_COCO, &key, err));
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
    bool runs;                  /* run lengths for all objects */
    bool objects, clear_border; /* --objects: polygons of objects, not of pieces of labels; --clear-border */
    int32_t min_area;           /* pixels */
    int32_t n_bands;            /* columns of objects.tsv; 0: red, green and blue */
};

/* The options of one kind of part, in the form of its head. Parts with the same layout have the same columns, or the
 * same labels, and can be joined into one table. A part with the same options, too, is up to date. */
struct part_key {
    char layout[32], options[160];
};
void part_key_make(struct part_key *key, enum part_kind kind, const struct part_options *options);

/* Appends the first line of the rest. `name` is the image's name in the table, before escaping. Only coco.json has the
 * size. */
void part_put_image(struct text *lines, enum part_kind kind, const char *name, int32_t width, int32_t height);

/* The mask of parts. The caller sets the path alone; part_write sets the other members for the first part and uses them
 * for the next. */
struct part_mask {
    const char *path;
    int64_t size;
    struct timespec changed;
    char digest[DIGEST_SIZE]; /* "": not read yet */
};

/* Writes a part of a mask, which must be complete: all or nothing, without fsync. Makes missing folders. Threads may
 * write parts of different masks at once. O(bytes of mask and part). */
enum clv_status part_write(const char *path, struct part_mask *mask, const struct part_key *key,
                           const struct text *lines, struct clv_error *err) CLV_CHECK;

/* A part that was read. */
struct part {
    char *bytes; /* owned */
    int64_t mask_size, mask_changed;
    const char *mask_digest, *layout, *options; /* views of `bytes`, as the members below */
    char *name;                                 /* name of the image in the table */
    int32_t width, height;                      /* of the image, for coco.json; else 0 */
    char *lines, *end;                          /* the other lines, each with its newline; *end is 0 */
};
void part_release(struct part *part);

/* Reads a part and checks it by its head. Sets *part only if *state is PART_WHOLE. A file that is not a part, or of
 * another version, is PART_TORN, too. Thread-safe. */
enum part_state { PART_ABSENT, PART_TORN, PART_WHOLE };
enum clv_status part_read(struct part *part, enum part_state *state, const char *path, enum part_kind kind,
                          struct clv_error *err) CLV_CHECK;

/* Whether the part was made from the mask: size and time are equal, or, for example after the folder was copied, size
 * and digest. A mask that does not exist does not fit. */
enum clv_status part_fits(bool *fits, const struct part *part, const char *mask, struct clv_error *err) CLV_CHECK;

/* Tells whether a part is up to date. PART_TO_MAKE: the part is missing, damaged or of other options.
 * PART_OF_ANOTHER_MASK: the mask has changed, so that all files made from it must be made again. PART_CURRENT: the part
 * stays, and *n_lines is the number of its rows or annotations, else 0. */
enum part_fate { PART_TO_MAKE, PART_OF_ANOTHER_MASK, PART_CURRENT };
enum clv_status part_check(enum part_fate *fate, size_t *n_lines, const char *path, const char *mask,
                           enum part_kind kind, const struct part_key *key, struct clv_error *err) CLV_CHECK;

#endif
