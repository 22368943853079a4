/* Labelling in the browser, without the network: applies the requests of the labelling page to a folder of images, and
 * makes the responses.
 *
 * To read the source: page_handle.c checks a request by the rules of page_request.c and chooses the function that
 * answers it. page_session.c is the folder, page_labels.c its labels, page_import.c the boxes and outlines of other
 * programs, training_export.c the training set made from the folder. page_document.c is the open image, page_objects.c
 * converts, merges and splits its objects, page_propagate.c propagates its labels to the next image, page_history.c
 * keeps its strokes and their file, page_runs.c stores masks as run lengths, page_ranking.c finds the images that are
 * worth labelling next. The HTTP server is in src/cli/label. */
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

/* Requests, and the checks of access that come before all others. */

#define PAGE_TOKEN_SIZE 33         /* 32 hexadecimal digits and a zero */
#define PAGE_MAX_BODY   (1u << 20) /* bytes of a request's body */
#define PAGE_TAG_SIZE   96         /* bytes of a text that differs for each state of a file */

struct page_access {
    char token[PAGE_TOKEN_SIZE];
    char cookie[32];    /* its name, with the port: browsers share the cookies of all ports of a host */
    char hosts[32][64]; /* "127.0.0.1:8080", as in the Host header; the list ends at "" */
};

/* Borrowed strings; missing headers are NULL. */
struct page_request {
    const char *method, *path, *host, *origin, *cookie;
    const char *token; /* in the query */
    const char *body;  /* [size] bytes and a zero */
    size_t size;
};

enum page_route {
    PAGE_NO_ROUTE,
    PAGE_FILE, /* in assets/page */
    PAGE_STATE,
    PAGE_TRAINING,
    PAGE_IMAGE, /* with the number of an image, as the routes up to PAGE_ACCEPT */
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

/* Which names a request must contain, so that it changes only what its page shows: another window, program or server
 * may have changed the folder since. A name that does not match is refused with 409. */
enum page_naming {
    PAGE_NAMES_NOTHING, /* the request changes no file */
    PAGE_NAMES_PHOTO,   /* "photo", the name of the image, with "opening" and "revision" as last sent */
    PAGE_NAMES_FOLDER,  /* "folder" as in the state */
    PAGE_NAMES_LABEL,   /* the folder, the "value" of a label, and its name as "label" */
};

struct page_target {
    enum page_route route;
    bool is_post;
    enum page_naming names;
    int32_t number; /* of an image */
};

/* Returns the target of a path; PAGE_FILE for any path outside of /api/. */
struct page_target page_route(const char *path);

/* Returns 0, or the HTTP code with which the request is refused, and *why. A request without a cookie is accepted for
 * "/" alone, with the token in its query. */
int page_refuses(const char **why, const struct page_access *access, const struct page_request *request,
                 struct page_target target);

/* Compares a token in constant time. */
bool page_token_matches(const char *token, const char *given, size_t size);

/* A file of assets/page, built into the binary by the Makefile. */
struct page_file {
    const char *path, *type; /* "/page.js", "text/javascript" */
    const unsigned char *bytes, *end;
};

/* A training set as paths of files. */
struct training_export {
    char *data;  /* a manifest, or the folder */
    char *only;  /* with the folder: a list of its images to use; otherwise NULL */
    char *boxes; /* boxes of images without a mask, or NULL */
    size_t n_masks, n_boxed;
    int32_t n_labels;
    struct clv_image_limits limits; /* for reading the images */
};
void training_export_release(struct training_export *export);

/* Functions of the command for training in the background. */
struct page_trainer {
    void *context;
    enum clv_status (*start)(void *context, const struct training_export *export, struct clv_error *err);
    bool (*is_busy)(void *context); /* the training set must not change then */
    void (*stop)(void *context);
    /* Writes {"running":..,"progress":"..","error":..,"loss":..,"models":n} */
    void (*write_status)(void *context, struct text *json);
    /* Returns the number of models that were finished. */
    int32_t (*count)(void *context);
};

struct page_options {
    const char *folder, *model;    /* model: the file that training writes, next to the images */
    bool objects;                  /* keep objects apart in instances/; if that folder exists, they always are */
    const char *boxes;             /* file or folder of other programs' boxes; NULL: the folder's boxes.tsv */
    struct page_access access;     /* who may make requests */
    const struct page_file *files; /* ends with a NULL path */
    const struct page_trainer *trainer;
    struct clv_image_limits limits;
    void (*note)(const char *format, ...); /* prints a note for the user; NULL: no notes */
};

struct page_session;
void page_session_free(struct page_session *session);

/* Lists the folder's images and checks that labels can be saved there, in folders that it makes; a failure leaves none
 * of them. Borrows options. Errors: CLV_ERR_NO_INPUT (no folder, no image), CLV_ERR_CREATE (the folder is not
 * writable), CLV_ERR_DATA (labels.tsv, boxes, two images with the same path for their masks). */
enum clv_status page_session_new(struct page_session **session, const struct page_options *options,
                                 struct clv_error *err) CLV_CHECK;

/* Counts the images and those that are accepted. */
void page_session_count(size_t *n_images, size_t *n_accepted, const struct page_session *session);

/* Removes masks/, strokes/ and instances/ if this session made them and they are empty. */
void page_session_remove_empty(const struct page_session *session);

/* Removes empty folders and frees the session: for sessions that end, or could not begin. */
void page_session_discard(struct page_session **session);

struct page_response {
    int code;                  /* the HTTP code */
    const char *type;          /* of the body */
    const char *location;      /* or NULL; static */
    bool sets_cookie;          /* the session's token */
    char tag[PAGE_TAG_SIZE];   /* of the image file that is sent; "": not an image */
    const unsigned char *view; /* a body in static memory, or NULL: file or body */
    size_t view_size;
    int file; /* descriptor of a file that is the body, above 0 and open for reading; 0: none */
    size_t file_size;
    struct text body;
};
void page_response_release(struct page_response *response);

/* Answers a request. Calls must not overlap. */
void page_handle(struct page_response *response, struct page_session *session, const struct page_request *request);

/* boxes.tsv: replaces the rows of an image, or renames a label. All other rows stay as they are. */

struct page_box {
    struct clv_pixel_box bounds;
    const char *label;
};

/* Checks that boxes can be added to the file, if it exists. CLV_ERR_DATA: it lacks columns of boxes
 * (boxes_find_columns), they are not in pixels, or labels are missing although needed. */
enum clv_status page_boxes_check(const char *path, bool needs_labels, struct clv_error *err) CLV_CHECK;

enum clv_status page_boxes_replace(const char *path, bool needs_labels, const char *image, const struct page_box *boxes,
                                   size_t n, struct clv_error *err) CLV_CHECK;

/* Renames a label in the file, if it exists. */
enum clv_status page_boxes_rename(const char *path, const char *from, const char *to, struct clv_error *err) CLV_CHECK;

/* Sets *is_used to whether a row of the file, if it exists, has the label. */
enum clv_status page_boxes_use(bool *is_used, const char *path, const char *label, struct clv_error *err) CLV_CHECK;

/* Masks of foreground and background as run lengths, background first: a few thousand numbers instead of millions of
 * pixels. */

struct page_runs {
    int32_t *lengths; /* [n] sum to the number of pixels */
    size_t n;
};
void page_runs_release(struct page_runs *runs);

/* Encodes a mask whose foreground is the pixels equal to `label`. O(pixels). */
enum clv_status page_runs_encode(struct page_runs *runs, const uint8_t *labels, size_t n_pixels, uint8_t label,
                                 struct clv_error *err) CLV_CHECK;

/* Sets the pixels of the foreground to `label`. The runs must fit: page_runs_fit. */
void page_runs_paint(uint8_t *labels, const struct page_runs *runs, uint8_t label);

/* Whether the runs are those of a mask of n_pixels pixels. */
int page_runs_fit(const struct page_runs *runs, size_t n_pixels);

/* The history of an image: its events in order, saved in strokes/NAME.json. Undoing moves a cursor; the events after it
 * stay until an event is added. */

#define PAGE_MAX_EVENTS  20000
#define PAGE_MAX_OBJECTS 5000
#define PAGE_MAX_POINTS  20000
#define PAGE_MAX_RADIUS  500

enum page_kind {
    PAGE_FOREGROUND, /* a stroke on the object */
    PAGE_BACKGROUND, /* a stroke on the background */
    PAGE_ERASE,      /* erases strokes */
    PAGE_BOX,        /* two corners */
    PAGE_MASK,       /* the object in a mask of another program: strokes change it near themselves */
    PAGE_DELETE,     /* the object is deleted */
    PAGE_SUGGESTION, /* the object as the model predicts it: strokes may change all of it */
    PAGE_MERGE,      /* the object with the pixels of another one */
    PAGE_SPLIT,      /* the larger part of the object, which a stroke splits */
    PAGE_RELABEL,    /* the object with another label */
};

struct page_event {
    enum page_kind kind;
    int32_t object, label;
    bool is_linked;      /* undone and redone together with the event before */
    double radius;       /* of the brush, in pixels of the image */
    double (*points)[2]; /* [n_points] x, y */
    size_t n_points;
    struct page_runs result; /* the object after the event */
};

struct page_history {
    struct page_event *events;
    size_t n, capacity;
    size_t cursor;              /* the events before it are in effect */
    bool is_accepted, is_empty; /* is_empty: no object had a pixel when it was saved */
    struct page_event *dropped; /* [n_dropped] undone events, replaced by the event at dropped_at */
    size_t n_dropped, dropped_at;
};
void page_history_release(struct page_history *history);
void page_event_release(struct page_event *event);

/* Adds the event after the cursor. Takes it over, leaving it empty, and drops the events that were undone. */
enum clv_status page_history_add(struct page_history *history, struct page_event *event,
                                 struct clv_error *err) CLV_CHECK;

/* Removes the events added since the cursor was `cursor`, and brings back those that they replaced. */
void page_history_take_back(struct page_history *history, size_t cursor);

/* Returns the cursor after a step back (-1) or forward (1), which must be possible. */
size_t page_history_step(const struct page_history *history, size_t cursor, int step);

/* Returns the object's latest event before index `end`, or NULL. */
const struct page_event *page_history_latest(const struct page_history *history, int32_t object, size_t end);

/* Parses an event without its result from {"object":..,"label":..,"kind":..,"radius":..,"points":[x,y,..]}; `name` is
 * for messages. */
enum clv_status page_event_parse(struct page_event *event, const struct json_value *object, const char *name,
                                 struct clv_error *err) CLV_CHECK;

void page_history_put(struct text *json, const struct page_history *history, int32_t width, int32_t height);
enum clv_status page_history_parse(struct page_history *history, const char *bytes, size_t size, const char *name,
                                   int32_t width, int32_t height, struct clv_error *err) CLV_CHECK;

/* The open image: its pixels, its history, and the objects that follow from it. */

struct page_document {
    const struct clv_item *item; /* borrowed, like limits */
    const struct clv_image_limits *limits;
    struct clv_image image;
    struct click_scene *scene;
    struct page_history history;
    float *prior;     /* [height][width] the model's scores, or NULL */
    int32_t revision; /* increases with every change */
};
void page_document_release(struct page_document *document);

/* Reads the image and prepares it for cuts. The item and the limits (or NULL) must stay valid. */
enum clv_status page_document_open(struct page_document *document, const struct clv_item *item,
                                   const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

size_t page_document_size(const struct page_document *document); /* in pixels */

/* Adds an object for each label above 0 of a mask by another program (PAGE_MASK) or by the model (PAGE_SUGGESTION).
 * Void pixels belong to none. */
enum clv_status page_document_import(struct page_document *document, const uint8_t *labels, enum page_kind kind,
                                     struct clv_error *err) CLV_CHECK;

/* Replaces all objects by those of an object map, as one step. Their labels are those of the map, or 1 if it has none.
 * CLV_ERR_DATA: too many. */
enum clv_status page_document_import_objects(struct page_document *document, const struct clv_object_map *map,
                                             struct clv_error *err) CLV_CHECK;

/* Sets numbers[height][width] to 1 + the number of the object, the last one where objects overlap; 0: no object. */
void page_document_number(int32_t *numbers, const struct page_document *document);

/* Whether the objects have the same pixels as those of the map. numbers[height][width] is workspace. */
bool page_document_has_objects(const struct page_document *document, const struct clv_object_map *map,
                               int32_t *numbers);

/* PAGE_MERGE: joins the event's object and object `other`; the one of the greater number stays, with the label of the
 * event's object. PAGE_SPLIT: splits the event's object by a stroke; the smaller part becomes the new object `other`.
 * Takes the event over. CLV_ERR_USAGE, without a change: an object does not exist, there are too many, or the stroke
 * does not split the object. O(pixels) */
enum clv_status page_document_regroup(struct page_document *document, struct page_event *event, int32_t other,
                                      struct clv_error *err) CLV_CHECK;

/* PAGE_RELABEL: gives the event's label to its object. Takes the event over. CLV_ERR_USAGE: the object does not
 * exist. */
enum clv_status page_document_relabel(struct page_document *document, struct page_event *event,
                                      struct clv_error *err) CLV_CHECK;

/* Cuts the event's object again and adds the event, which it takes over. A new box of an object replaces its earlier
 * box: the object is cut as if the new box had been drawn first, before the strokes. CLV_ERR_USAGE: the event is
 * outside of the image. An error changes nothing. */
enum clv_status page_document_draw(struct page_document *document, struct page_event *event,
                                   struct clv_error *err) CLV_CHECK;

/* Undoes (step -1) or redoes (1) a step; false if there is none. An undo that leaves no object also withdraws the
 * acceptance: the image is then unlabelled or begun, not accepted as empty. */
bool page_document_step(struct page_document *document, int step);

/* Paints the objects' labels to labels[height][width], later objects over earlier ones; 0: no object. */
void page_document_paint(uint8_t *labels, const struct page_document *document);

/* Sets the pixels under the brush of a stroke to `value`: discs at most half a radius apart. Returns the number of rows
 * of discs that were visited, which does not depend on the length of the stroke outside of the image. */
size_t page_document_stroke(uint8_t *pixels, const struct page_document *document, const struct page_event *stroke,
                            uint8_t value);

/* Returns the seed that a stroke paints: CLICK_FOREGROUND, CLICK_BACKGROUND or, where it erases, CLICK_FREE. */
uint8_t page_stroke_seed(const struct page_event *stroke);

/* Gets the last box that was drawn around an object; false if there is none. */
bool page_document_frame(struct clv_pixel_box *box, const struct page_document *document, int32_t object);

/* Whether the object is the cut of its latest box and of later strokes, so that the box can be moved. */
bool page_document_is_framed(const struct page_document *document, int32_t object);

/* Whether no object has a pixel. */
bool page_document_is_empty(const struct page_document *document);

/* Computes the bounding box of an object; false if it has no pixel or is deleted. */
bool page_document_box(struct clv_pixel_box *box, int32_t *label, const struct page_document *document, int32_t object);
int32_t page_document_n_objects(const struct page_document *document); /* numbers are smaller */

/* An image as a model needs it: for a model of bands, converted to RGB by the model's bands, with their map. */
struct page_view {
    const struct clv_image *image;
    const struct clv_map *maps; /* or NULL */
    struct clv_image decoded;
    struct clv_map bands;
};
void page_view_release(struct page_view *view);

/* Opens the view. shown: the image converted without a model, or NULL to read the item; it must stay valid. Release the
 * view also after a failure. The view must not be moved. */
enum clv_status page_view_open(struct page_view *view, const struct clv_image *shown, const struct clv_item *item,
                               const struct clv_model *model, const struct clv_image_limits *limits,
                               struct clv_error *err) CLV_CHECK;

/* Computes the model's scores of the image for later cuts if the model has two labels. */
enum clv_status page_document_use_model(struct page_document *document, const struct clv_model *model,
                                        struct clv_error *err) CLV_CHECK;

/* Predicts labels[height][width] by the model in use: for two labels by a cut without strokes, which later strokes
 * refine; for more by clv_segment. */
enum clv_status page_document_suggest(uint8_t *labels, const struct page_document *document,
                                      const struct clv_model *model, struct clv_error *err) CLV_CHECK;

/* Boxes and outlines of other programs, in all formats that cleave reads. They become the objects of images on which
 * nothing has been drawn yet. Their files are only read; changes are saved like strokes. */

struct page_import {
    struct clv_boxes boxes; /* with outlines; n_images 0: none */
    uint8_t *values;        /* [boxes.n_labels] the value of each label in masks */
};
void page_import_release(struct page_import *import);

/* Reads a file or folder. Labels are matched by name with those of the set; if the set has two, all boxes have the
 * second one. Errors are those of clv_boxes_read, and CLV_ERR_DATA for a name that is not among the set's labels. */
enum clv_status page_import_read(struct page_import *import, const char *path, const struct clv_set *set,
                                 struct clv_error *err) CLV_CHECK;

/* Finds the entry of an image; *entry is NULL if it has none. */
enum clv_status page_import_find(const struct clv_image_boxes **entry, const struct page_import *import,
                                 const char *image, struct clv_error *err) CLV_CHECK;

/* Adds an object for each outline as it is, and for each box the object that is cut out of it, larger ones first. Void
 * ones are skipped. CLV_ERR_DATA, naming the file: a box outside of the image, an image of another size. */
enum clv_status page_import_show(struct page_document *document, const struct page_import *import, const char *image,
                                 struct clv_error *err) CLV_CHECK;

/* Ranks images by how much labelling them helps: by the errors that the model expects in each, from the marginals of
 * perturb-and-MAP samples. A separate thread processes one image after the other. */

struct page_ranking;
struct page_ranking *page_ranking_new(const struct clv_set *set); /* NULL: out of memory */
void page_ranking_free(struct page_ranking *ranking);             /* stops the thread */

/* Starts the ranking again with a model file. The results of an image stay until the new one is computed. */
enum clv_status page_ranking_start(struct page_ranking *ranking, const char *model, struct clv_error *err) CLV_CHECK;

/* Returns the fraction of pixels expected to be wrong, or -1 if it is not known. */
double page_ranking_expected_error(struct page_ranking *ranking, size_t item);

/* The folder that is labelled: its images, the open one, and the files of labels. */

/* PAGE_NEW: nothing is drawn or everything is undone, and no mask exists. PAGE_EMPTY: accepted without an object. */
enum page_status { PAGE_NEW, PAGE_BEGUN, PAGE_ACCEPTED, PAGE_EMPTY };

/* The state of a file when it was last read or written, to detect changes by other programs. */
struct page_stamp {
    bool exists;
    off_t size;
    struct timespec changed;
    ino_t inode;
};

struct page_item {
    char *mask, *strokes, *instances; /* paths */
    const char *foreign;              /* the set's mask if that is not `mask`, such as one of another format; or NULL */
    const char *foreign_instances;    /* the same for its objects */
    enum page_status status;
    int32_t rank;       /* in the list, in numeric order: 2 before 10 */
    bool has_bad_name;  /* a name that tables cannot contain */
    bool is_unreadable; /* the image or its saved files could not be opened last time */
};

struct page_session {
    const struct page_options *options;
    struct clv_set set;
    struct page_item *items; /* [set.n_items] */
    char *boxes_path, *labels_path;
    char *folder; /* the absolute path, which requests name */
    struct page_import import;
    int32_t open;    /* index of the open item, or -1 */
    int64_t opening; /* increases whenever an image is opened; starts at a random number, different for each server */
    struct page_document document;
    bool keeps_objects; /* objects are kept apart in instances/ */
    struct page_stamp image_stamp, mask_stamp, strokes_stamp, instances_stamp;
    struct clv_model model;
    int32_t model_revision;         /* increases with every model; 0: no model */
    struct clv_image_limits limits; /* the options', with the model's range of grey if they have none */
    int32_t n_models;               /* the trainer's count when the model was read */
    struct page_ranking *ranking;
    bool has_noted_12_bits;
    bool has_made[3]; /* this session made masks/, strokes/ or instances/, which it removes if empty */
};

/* Opens an image with its strokes, otherwise its mask, otherwise its boxes. After a failure the image before stays
 * open. */
enum clv_status page_session_open(struct page_session *session, int32_t number, struct clv_error *err) CLV_CHECK;

/* Saves all files of the open image, each one all or nothing; removes the mask of an image that is unlabelled again.
 * CLV_ERR_CREATE: another program has changed one of them or the image, which must be opened again. */
enum clv_status page_session_save(struct page_session *session, struct clv_error *err) CLV_CHECK;

/* Make a text for the state of an image file: now, and when the open image was opened. If the page loaded a picture
 * with one tag and the document has another, the file was replaced in between. */
void page_session_tag(char tag[PAGE_TAG_SIZE], const struct page_session *session, int32_t number);
void page_session_tag_open(char tag[PAGE_TAG_SIZE], const struct page_session *session);

/* Reads the options' model and uses it. */
enum clv_status page_session_use_model(struct page_session *session, struct clv_error *err) CLV_CHECK;

/* Propagates the open image's labels, like `cleave propagate`, to the image *number that follows in its folder in
 * numeric order. Propagates label by label; if objects are kept apart, connected pieces become objects. Release *map
 * whatever the status is. CLV_ERR_USAGE: no image follows, it is accepted or has another size, or nothing is found in
 * it. */
enum clv_status page_propagate(struct clv_object_map *map, int32_t *number, const struct page_session *session,
                               struct clv_error *err) CLV_CHECK;

/* Names of the folder's labels, and labels.tsv. */

/* Whether masks can have the label: it has a name and is not void. */
bool page_labels_have(const struct page_session *session, int64_t value);

/* Adds a label, with the next free value that no history of strokes has. CLV_ERR_USAGE: a name that tables cannot
 * contain or that exists, or no value is left. CLV_ERR_DATA: a mask of another program, such as one of 0 and 255, would
 * be read differently once labels have names. */
enum clv_status page_labels_add(struct page_session *session, const char *name, struct clv_error *err) CLV_CHECK;

/* Renames a label in labels.tsv, in boxes.tsv and in the page's model. Errors are those of page_labels_add, and
 * CLV_ERR_USAGE during a training or if --boxes names the label; an error changes nothing. */
enum clv_status page_labels_rename(struct page_session *session, int64_t value, const char *name,
                                   struct clv_error *err) CLV_CHECK;

/* Deletes a label that no mask, object or box uses. The page's model no longer suggests it. CLV_ERR_USAGE: the label is
 * in use (the message names the file), it is the background or the last label above 0, or a training is running. Errors
 * of reading masks and strokes. O(pixels of all masks) */
enum clv_status page_labels_delete(struct page_session *session, int64_t value, struct clv_error *err) CLV_CHECK;

/* The training set of a folder: masks of accepted images, strokes on others, and boxes. */

/* Writes a training set to hidden files of the folder:
 *   - the masks of accepted images;
 *   - for other images with strokes on an object and on the background, a mask of the strokes that is void elsewhere;
 *     if each object has a box, pixels outside of the boxes are background. Strokes of one kind alone made models worse;
 *   - for images with boxes alone, drawn here or by another program, these boxes, if the set has two labels.
 * If images are links to files outside of the folder, which no manifest may name, only masks are used. Errors:
 * CLV_ERR_USAGE if fewer than 2 images can be learned from; errors of reading strokes and of writing. */
enum clv_status training_export_write(struct training_export *export, const struct page_session *session,
                                      struct clv_error *err) CLV_CHECK;

#endif
