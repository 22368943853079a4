/* Labelling in the browser, without the network: what a request asks of a folder of images, and what it is answered.
 *
 * To read the source: page_handle.c checks a request (page_request.c has the rules) and finds who answers it;
 * page_session.c is the folder, page_labels.c its labels, page_import.c what other programs say of it,
 * training_export.c what can be learned from it, page_document.c the image that is open, page_objects.c its objects as
 * a label image, merged and split, page_propagate.c its labels in the next image, page_history.c the strokes on it and
 * their file, page_runs.c masks as run lengths, page_ranking.c which image is worth labelling next. What listens to the
 * network is in src/cli/label. */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/base.h"
#include "base/json.h"
#include "cleave/boxes.h"
#include "cleave/data.h"
#include "cleave/image.h"
#include "cleave/model.h"
#include "cleave/objects.h"
#include "cleave/oracle.h"
#include "cleave/status.h"
#include "click/click.h"

/* Requests, and who may make them: read before anything else is looked at. */

#define PAGE_TOKEN_SIZE 33         /* 32 hexadecimal digits and a zero */
#define PAGE_MAX_BODY   (1u << 20) /* bytes of a request's body */
#define PAGE_TAG_SIZE   96         /* text that no other state of a file has */

struct page_access {
    char token[PAGE_TOKEN_SIZE];
    char cookie[32];    /* its name; browsers do not keep the ports of a host apart */
    char hosts[32][64]; /* "127.0.0.1:8080", as the Host header has it; "" ends */
};

/* Views; headers that are absent are NULL. */
struct page_request {
    const char *method, *path, *host, *origin, *cookie;
    const char *token; /* of the query */
    const char *body;  /* [size] bytes and a zero */
    size_t size;
};

enum page_route {
    PAGE_NO_ROUTE,
    PAGE_FILE, /* of assets/page */
    PAGE_STATE,
    PAGE_TRAINING,
    PAGE_IMAGE, /* with a number, as those below */
    PAGE_OPEN,
    PAGE_STROKE,
    PAGE_UNDO,
    PAGE_REDO,
    PAGE_SUGGEST,
    PAGE_PROPAGATE,
    PAGE_ACCEPT,
    PAGE_LABEL,
    PAGE_RENAME,
    PAGE_DELETE_LABEL,
    PAGE_TRAIN,
    PAGE_STOP,
};

/* Names that a request carries, so that it changes only what its page shows: another window, another program or
 * another server may have been there since. What they do not match is refused with 409. */
enum page_naming {
    PAGE_NAMES_NOTHING, /* the request changes no file */
    PAGE_NAMES_PHOTO,   /* "photo": the image's name; "opening" and "revision" as the document last had them */
    PAGE_NAMES_FOLDER,  /* "folder" as the state has it */
    PAGE_NAMES_LABEL,   /* the folder, and with the label's "value" its name as "label" */
};

struct page_target {
    enum page_route route;
    bool is_post;
    enum page_naming names;
    int32_t number; /* of an image */
};

/* The path's target; PAGE_FILE for any path outside of /api/. */
struct page_target page_route(const char *path);

/* 0, or the code of HTTP that the request is refused with, and *why. A token in the query lets in whoever has no cookie
 * yet, to the page alone. */
int page_refuses(const char **why, const struct page_access *access, const struct page_request *request,
                 struct page_target target);

/* Whether both are the same token, in the same time whatever they are. */
bool page_token_matches(const char *token, const char *given, size_t size);

/* A file of assets/page, built into the binary by the Makefile. */
struct page_file {
    const char *path, *type; /* "/page.js", "text/javascript" */
    const unsigned char *bytes, *end;
};

/* The paths of a training set. */
struct training_export {
    char *data;  /* a manifest, or the folder itself .. */
    char *only;  /* .. with a list of its images; else NULL */
    char *boxes; /* of images without a mask, or NULL */
    size_t n_masks, n_boxed;
    int32_t n_labels;
    struct clv_image_limits limits; /* images are read by them */
};
void training_export_release(struct training_export *export);

/* Learning in the background, which the command brings along. */
struct page_trainer {
    void *context;
    enum clv_status (*start)(void *context, const struct training_export *export, struct clv_error *err);
    bool (*is_busy)(void *context); /* what it learns from must not change */
    void (*stop)(void *context);
    /* Writes {"running":..,"progress":"..","error":..,"loss":..,"models":n} */
    void (*write_status)(void *context, struct text *json);
    /* Counts the models that were finished. */
    int32_t (*count)(void *context);
};

struct page_options {
    const char *folder, *model;    /* model: the file that learning writes, next to the images */
    bool objects;                  /* are kept apart, in instances/; they are where that is there, too */
    const char *boxes;             /* file or folder of other programs' boxes; NULL: the folder's boxes.tsv */
    struct page_access access;     /* who may ask */
    const struct page_file *files; /* ends with a NULL path */
    const struct page_trainer *trainer;
    struct clv_image_limits limits;
    void (*note)(const char *format, ...); /* what the user should know at the start; NULL: nobody is there */
};

struct page_session;
void page_session_free(struct page_session *session);

/* Lists the folder's images and looks whether they can be labelled there. options are borrowed. Errors:
 * CLV_ERR_NO_INPUT (no folder, no image), CLV_ERR_CREATE (the folder cannot be written to), CLV_ERR_DATA (labels.tsv,
 * boxes, two images whose masks would be one file). */
enum clv_status page_session_new(struct page_session **session, const struct page_options *options,
                                 struct clv_error *err) CLV_CHECK;

/* How many images there are, and how many of them are accepted. */
void page_session_count(size_t *n_images, size_t *n_accepted, const struct page_session *session);

/* Removes masks/ and strokes/ at the end if they were made for this session and nothing was drawn. */
void page_session_remove_empty(const struct page_session *session);

struct page_response {
    int code;                  /* of HTTP */
    const char *type;          /* of the body */
    const char *location;      /* or NULL; static */
    bool sets_cookie;          /* the session's token */
    char tag[PAGE_TAG_SIZE];   /* of an image's file as it was sent; "": of all else */
    const unsigned char *view; /* a body that lives as long as the program, or NULL: */
    size_t view_size;
    int file; /* a body that is a file's bytes: a descriptor above 0, open for reading; 0: none */
    size_t file_size;
    struct text body;
};
void page_response_release(struct page_response *response);

/* Answers a request. One at a time. */
void page_handle(struct page_response *response, struct page_session *session, const struct page_request *request);

/* boxes.tsv: an image's rows are replaced, or a label is renamed; all else stays as it is, whoever wrote it. */

struct page_box {
    struct clv_pixel_box bounds;
    const char *label;
};

/* CLV_ERR_DATA if there is a file that cannot be added to: without the columns of boxes (boxes_find_columns), in
 * pixels, or without labels where there are several. */
enum clv_status page_boxes_check(const char *path, bool needs_labels, struct clv_error *err) CLV_CHECK;

enum clv_status page_boxes_replace(const char *path, bool needs_labels, const char *image, const struct page_box *boxes,
                                   size_t n, struct clv_error *err) CLV_CHECK;

/* Renames a label in the file, if there is one. */
enum clv_status page_boxes_rename(const char *path, const char *from, const char *to, struct clv_error *err) CLV_CHECK;

/* Whether a row of the file, if there is one, has the label. */
enum clv_status page_boxes_use(bool *is_used, const char *path, const char *label, struct clv_error *err) CLV_CHECK;

/* Masks of foreground and background as run lengths, background first: a few thousand numbers where there were millions
 * of pixels. */

struct page_runs {
    int32_t *lengths; /* [n] sum to the number of pixels */
    size_t n;
};
void page_runs_release(struct page_runs *runs);

/* Pixels equal to `label` are foreground. O(pixels). */
enum clv_status page_runs_encode(struct page_runs *runs, const uint8_t *labels, size_t n_pixels, uint8_t label,
                                 struct clv_error *err) CLV_CHECK;

/* Writes `label` where the foreground is. The runs must fit: page_runs_fit. */
void page_runs_paint(uint8_t *labels, const struct page_runs *runs, uint8_t label);

/* Whether they are lengths of a mask of so many pixels. */
int page_runs_fit(const struct page_runs *runs, size_t n_pixels);

/* The history of an image: its events in order, and their file strokes/NAME.json. Undoing moves a cursor; events after
 * it stay until something new is drawn. */

#define PAGE_MAX_EVENTS  20000
#define PAGE_MAX_OBJECTS 5000
#define PAGE_MAX_POINTS  20000
#define PAGE_MAX_RADIUS  500

enum page_kind {
    PAGE_FOREGROUND, /* a stroke on the object */
    PAGE_BACKGROUND, /* on the background */
    PAGE_ERASE,      /* takes strokes away */
    PAGE_BOX,        /* two corners */
    PAGE_MASK,       /* the object as another program has it: strokes change it near themselves */
    PAGE_DELETE,     /* the object is gone */
    PAGE_SUGGESTION, /* the object as the model sees it: strokes may change all of it */
    PAGE_MERGE,      /* the object with another's pixels */
    PAGE_SPLIT,      /* what a stroke across the object leaves of it */
    PAGE_RELABEL,    /* the object with another label */
};

struct page_event {
    enum page_kind kind;
    int32_t object, label;
    bool is_linked;      /* one step with the event before */
    double radius;       /* of the brush, in pixels of the image */
    double (*points)[2]; /* [n_points] x, y */
    size_t n_points;
    struct page_runs result; /* the object after it */
};

struct page_history {
    struct page_event *events;
    size_t n, capacity;
    size_t cursor;              /* events before it count */
    bool is_accepted, is_empty; /* is_empty: no object has a pixel; of what is saved */
    struct page_event *dropped; /* [n_dropped] what had been undone when the event at dropped_at was added */
    size_t n_dropped, dropped_at;
};
void page_history_release(struct page_history *history);
void page_event_release(struct page_event *event);

/* Takes the event over, which is then empty, and drops what was undone. */
enum clv_status page_history_add(struct page_history *history, struct page_event *event,
                                 struct clv_error *err) CLV_CHECK;

/* Takes back what was added from `cursor` on, where the cursor was before: nothing has changed then. */
void page_history_take_back(struct page_history *history, size_t cursor);

/* Returns the cursor after a step back (-1) or forward (1), which must be possible. */
size_t page_history_step(const struct page_history *history, size_t cursor, int step);

/* The object's latest event before `end`, or NULL. */
const struct page_event *page_history_latest(const struct page_history *history, int32_t object, size_t end);

/* An event without its result from {"object":..,"label":..,"kind":..,"radius":..,"points":[x,y,..]}; `name` for
 * messages. */
enum clv_status page_event_parse(struct page_event *event, const struct json_value *object, const char *name,
                                 struct clv_error *err) CLV_CHECK;

void page_history_put(struct text *json, const struct page_history *history, int32_t width, int32_t height);
enum clv_status page_history_parse(struct page_history *history, const char *bytes, size_t size, const char *name,
                                   int32_t width, int32_t height, struct clv_error *err) CLV_CHECK;

/* The image that is open: its pixels, what was drawn, the objects as they are now. */

struct page_document {
    const struct clv_item *item; /* borrowed, and so are the limits */
    const struct clv_image_limits *limits;
    struct clv_image image;
    struct click_scene *scene;
    struct page_history history;
    float *prior;     /* [height][width] the model's scores, or NULL */
    int32_t revision; /* grows with every change */
};
void page_document_release(struct page_document *document);

/* Reads the image and measures it. The item and limits (or NULL) must stay. */
enum clv_status page_document_open(struct page_document *document, const struct clv_item *item,
                                   const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

size_t page_document_size(const struct page_document *document); /* in pixels */

/* The objects from a mask of another program (PAGE_MASK) or from the model's (PAGE_SUGGESTION), one for each label
 * above 0. Void pixels belong to none. */
enum clv_status page_document_import(struct page_document *document, const uint8_t *labels, enum page_kind kind,
                                     struct clv_error *err) CLV_CHECK;

/* Objects of a label image, with its labels (1 where they are not known), in the place of all others, as one step.
 * CLV_ERR_DATA: too many. */
enum clv_status page_document_import_objects(struct page_document *document, const struct clv_object_map *map,
                                             struct clv_error *err) CLV_CHECK;

/* numbers[height][width] = an object's number + 1, later ones over earlier ones, 0 where none is. */
void page_document_number(int32_t *numbers, const struct page_document *document);

/* Whether the objects are those of a label image. numbers[height][width] is room for theirs. */
bool page_document_has_objects(const struct page_document *document, const struct clv_object_map *map,
                               int32_t *numbers);

/* PAGE_MERGE: the event's object and another become one, of its label and the greater number. PAGE_SPLIT: a stroke
 * parts the event's object; the smaller side is the other, which is new. Takes the event over. CLV_ERR_USAGE, and
 * nothing changes: an object is not there, there are too many, or the stroke does not part it. O(pixels) */
enum clv_status page_document_regroup(struct page_document *document, struct page_event *event, int32_t other,
                                      struct clv_error *err) CLV_CHECK;

/* PAGE_RELABEL: the event's object has the event's label from now on. Takes the event over. CLV_ERR_USAGE: the object
 * does not exist. */
enum clv_status page_document_relabel(struct page_document *document, struct page_event *event,
                                      struct clv_error *err) CLV_CHECK;

/* Cuts the event's object again and adds the event, which it takes over. A box of an object that has one takes its
 * place: the object is cut as if it had been there from the first, before the strokes. CLV_ERR_USAGE: nothing of the
 * event is on the image. Nothing changes in case of an error. */
enum clv_status page_document_draw(struct page_document *document, struct page_event *event,
                                   struct clv_error *err) CLV_CHECK;

/* Returns false if there is nothing to undo (step -1) or redo (1). An undo that leaves no object takes the acceptance
 * back, too: the image is then unlabelled or begun, not accepted as empty. */
bool page_document_step(struct page_document *document, int step);

/* labels[height][width]: the objects, later ones over earlier ones, on 0. */
void page_document_paint(uint8_t *labels, const struct page_document *document);

/* Writes `value` where the brush of a stroke has been: discs at most half a radius apart. Returns how many rows of
 * discs were looked at, which does not grow with the way outside of the image. */
size_t page_document_stroke(uint8_t *pixels, const struct page_document *document, const struct page_event *stroke,
                            uint8_t value);

/* The box that was drawn around an object last; false: none was. */
bool page_document_frame(struct clv_pixel_box *box, const struct page_document *document, int32_t object);

/* Whether the object is what its latest box and strokes after it cut out, so that the box can be moved. */
bool page_document_is_framed(const struct page_document *document, int32_t object);

/* Whether no object has a pixel. */
bool page_document_is_empty(const struct page_document *document);

/* The box around an object; false if it has no pixel, or is gone. */
bool page_document_box(struct clv_pixel_box *box, int32_t *label, const struct page_document *document, int32_t object);
int32_t page_document_n_objects(const struct page_document *document); /* numbers are below */

/* An image as a model sees it: where that is of bands, in the colours that it has learned, with their map. */
struct page_view {
    const struct clv_image *image;
    const struct clv_map *maps; /* or NULL */
    struct clv_image own;
    struct clv_map bands;
};
void page_view_release(struct page_view *view);

/* shown: the image without a model, which must stay, or NULL. To be released also after a failure. The view must not be
 * moved. */
enum clv_status page_view_open(struct page_view *view, const struct clv_image *shown, const struct clv_item *item,
                               const struct clv_model *model, const struct clv_image_limits *limits,
                               struct clv_error *err) CLV_CHECK;

/* Computes the model's scores of the image for later cuts, if the model has two labels. */
enum clv_status page_document_use_model(struct page_document *document, const struct clv_model *model,
                                        struct clv_error *err) CLV_CHECK;

/* labels[height][width] as the model in use sees them: of two labels as a cut without strokes, to which strokes are
 * added later; of more by clv_segment. */
enum clv_status page_document_suggest(uint8_t *labels, const struct page_document *document,
                                      const struct clv_model *model, struct clv_error *err) CLV_CHECK;

/* Boxes and outlines of other programs, in all formats that cleave reads, as the objects of images that nothing was
 * drawn on yet. Their files are only read: what is edited is saved as anything that is drawn here. */

struct page_import {
    struct clv_boxes boxes; /* with outlines; n_images 0: there is nothing */
    uint8_t *values;        /* [boxes.n_labels] in masks */
};
void page_import_release(struct page_import *import);

/* Reads a file or folder. Labels are the set's by name; where it has two, all are the second one. Errors are those of
 * clv_boxes_read, and CLV_ERR_DATA for a name that the set's labels lack. */
enum clv_status page_import_read(struct page_import *import, const char *path, const struct clv_set *set,
                                 struct clv_error *err) CLV_CHECK;

/* *entry: what there is of an image, or NULL. */
enum clv_status page_import_find(const struct clv_image_boxes **entry, const struct page_import *import,
                                 const char *image, struct clv_error *err) CLV_CHECK;

/* Adds an object for each: outlines as they are, boxes with what is cut out of them, the larger ones first. Void
 * is not shown.
 * CLV_ERR_DATA, naming the file: a box outside of the image, an image of another size. */
enum clv_status page_import_show(struct page_document *document, const struct page_import *import, const char *image,
                                 struct clv_error *err) CLV_CHECK;

/* Which images are worth labelling next: those on which the model expects most errors, by the marginals of
 * perturb-and-MAP draws. A thread of its own looks at one image after the other. */

struct page_ranking;
struct page_ranking *page_ranking_new(const struct clv_set *set); /* NULL: out of memory */
void page_ranking_free(struct page_ranking *ranking);             /* stops */

/* Starts over with a model file; what was known of an image stays until it is looked at again. */
enum clv_status page_ranking_start(struct page_ranking *ranking, const char *model, struct clv_error *err) CLV_CHECK;

/* The share of pixels expected to be wrong, or -1: not known. */
double page_ranking_expected_error(struct page_ranking *ranking, size_t item);

/* The folder that is labelled: its images, the one that is open, and what is saved. */

/* PAGE_NEW: nothing is drawn, or all of it is undone; there is no mask. PAGE_EMPTY: accepted, and no pixel is an
 * object's. */
enum page_status { PAGE_NEW, PAGE_BEGUN, PAGE_ACCEPTED, PAGE_EMPTY };

/* The state of a file when it was last read or written, to notice changes by other programs. */
struct page_stamp {
    bool is_there;
    off_t size;
    struct timespec changed;
    ino_t inode;
};

struct page_item {
    char *mask, *strokes, *instances; /* paths */
    const char *foreign;              /* the set's mask where it is another file, as of another format; or NULL */
    const char *foreign_instances;    /* the same of its objects */
    enum page_status status;
    int32_t rank;       /* in the list, which has 2 before 10 */
    bool has_bad_name;  /* which no table can have */
    bool is_unreadable; /* it, or what was saved of it, could not be opened last time */
};

struct page_session {
    const struct page_options *options;
    struct clv_set set;
    struct page_item *items; /* [set.n_items] */
    char *boxes_path, *labels_path;
    char *folder; /* the whole path, which requests name */
    struct page_import import;
    int32_t open;    /* item, or -1 */
    int64_t opening; /* grows whenever an image is opened; begins anywhere, so that no two servers have the same */
    struct page_document document;
    bool keeps_objects; /* apart, in instances/ */
    struct page_stamp image_stamp, mask_stamp, strokes_stamp, instances_stamp;
    struct clv_model model;
    int32_t model_revision;         /* grows with every model; 0: there is none */
    struct clv_image_limits limits; /* the options', and with no range of grey the model's */
    int32_t n_models;               /* of the trainer, when it was read; 0: none */
    struct page_ranking *ranking;
    bool has_noted_12_bits;
    bool has_made[3]; /* masks/, strokes/ and instances/, which go again where nothing was drawn */
};

/* Opens an image: its strokes, else its mask, else its boxes. If that fails the one before stays open as it is. */
enum clv_status page_session_open(struct page_session *session, int32_t number, struct clv_error *err) CLV_CHECK;

/* Everything about the open image, all or nothing for each file; of an image that is unlabelled again no mask.
 * CLV_ERR_CREATE: another program has changed one of them, or the image; the image must be opened again. */
enum clv_status page_session_save(struct page_session *session, struct clv_error *err) CLV_CHECK;

/* A text for an image's file as it is now, and as it was when the open image was opened: a page that has seen the one
 * and is answered by the other shows a picture that was replaced meanwhile. */
void page_session_tag(char tag[PAGE_TAG_SIZE], const struct page_session *session, int32_t number);
void page_session_tag_open(char tag[PAGE_TAG_SIZE], const struct page_session *session);

/* The latest model, if there is one. */
enum clv_status page_session_use_model(struct page_session *session, struct clv_error *err) CLV_CHECK;

/* The open image's labels, propagated as `cleave propagate` does it to the image *number that follows it in its
 * folder, 2 before 10; label by label, where objects are kept apart the connected pieces. *map is to be released
 * whatever the status. CLV_ERR_USAGE: no image follows, it is accepted or of another size, nothing is found in it. */
enum clv_status page_propagate(struct clv_object_map *map, int32_t *number, const struct page_session *session,
                               struct clv_error *err) CLV_CHECK;

/* Names of the folder's labels, and labels.tsv. */

/* Whether masks can have the label: it has a name and is not void. */
bool page_labels_have(const struct page_session *session, int64_t value);

/* Adds a label, with the next value that is free and in no history of strokes. CLV_ERR_USAGE: no name that tables can
 * have, or one that is there; there are as many labels as masks have values. CLV_ERR_DATA: a mask of another program,
 * as of 0 and 255, would be read otherwise once labels have names. */
enum clv_status page_labels_add(struct page_session *session, const char *name, struct clv_error *err) CLV_CHECK;

/* Renames a label wherever the folder has its name: in labels.tsv, boxes.tsv and the page's model. Errors as above,
 * CLV_ERR_USAGE, too, while a training is under way or if --boxes names the label; nothing has changed then. */
enum clv_status page_labels_rename(struct page_session *session, int64_t value, const char *name,
                                   struct clv_error *err) CLV_CHECK;

/* Deletes a label that nothing uses: no mask, no object, no box. The page's model no longer suggests it. CLV_ERR_USAGE:
 * it is used, which names where; it is the background or the last label above 0; a training is under way. Errors of
 * reading masks and strokes. O(pixels of all masks) */
enum clv_status page_labels_delete(struct page_session *session, int64_t value, struct clv_error *err) CLV_CHECK;

/* The training set that a folder is so far: masks of accepted images, strokes on others, and boxes. */

/* Writes into the folder, in hidden files:
 *   - of accepted images the mask as it is;
 *   - of others their strokes, if there are some on an object and some on the background, as a mask that is void elsewhere and,
 *     where each object has a box, background outside of the boxes: strokes of one sort alone made models worse;
 *   - of what has boxes alone, drawn here or by another program, these, if the set has two labels.
 * A folder whose images are links to elsewhere, which no manifest may name, has its masks alone. Errors: CLV_ERR_USAGE
 * if fewer than 2 images teach anything; those of reading strokes and of writing. */
enum clv_status training_export_write(struct training_export *export, const struct page_session *session,
                                      struct clv_error *err) CLV_CHECK;

#endif
