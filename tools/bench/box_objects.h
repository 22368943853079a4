/* Objects with exact masks, and boxes that people may draw around them: for the benchmark of box segmentation, and for
 * learning its weights. */
#ifndef BOX_OBJECTS_H
#define BOX_OBJECTS_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "bench.h"
#include "cleave/boxes.h"

struct box_object {
    char image[4096], mask[4096], name[128]; /* the latter distinguishes objects within a set */
    int32_t width, height;
    uint8_t *truth;             /* [height][width]: 0, 1, or 255 where the mask leaves it open */
    struct clv_pixel_box tight; /* around all 1s */
};

struct box_objects {
    struct box_object *items;
    size_t n;
};

/* A tight box; one whose sides are 10 %, or 25 %, longer, with the same centre; one each of whose sides has moved by up
 * to 10 % of the box's width or height, either way; one each of whose sides has moved outwards by 5 to 40 % of it. */
enum box_kind { BOX_TIGHT, BOX_WIDER_10, BOX_WIDER_25, BOX_JITTERED, BOX_LOOSE, N_BOX_KINDS };
static const char *const box_kind_names[N_BOX_KINDS] = {"tight", "+10 %", "+25 %", "jittered", "loose"};

static inline void box_stop_on(enum clv_status status, const struct clv_error *err)
{
    if (!status)
        return;
    fprintf(stderr, "boxes: %s\n", err->message);
    exit(1);
}

/* In whole pixels, cut at the image's border. */
static inline struct clv_pixel_box box_of_kind(const struct box_object *object, enum box_kind kind)
{
    const struct clv_pixel_box *tight = &object->tight;
    double width = tight->end_x - tight->first_x, height = tight->end_y - tight->first_y, out[4];
    for (int side = 0; side < 4; side++) {
        double share = kind == BOX_WIDER_10 ? 0.05 : kind == BOX_WIDER_25 ? 0.125 : 0;
        double drawn =
            rng_uniform(1, RNG_STREAM(RNG_TEST, side), hash_bytes(HASH_START, object->name, strlen(object->name)));
        if (kind == BOX_JITTERED)
            share = 0.2 * drawn - 0.1;
        if (kind == BOX_LOOSE)
            share = 0.05 + 0.35 * drawn;
        out[side] = (double)lround(share * (side % 2 ? height : width));
    }
    return (struct clv_pixel_box){(int32_t)fmax(0, tight->first_x - out[0]), (int32_t)fmax(0, tight->first_y - out[1]),
                                  (int32_t)fmin(object->width, tight->end_x + out[2]),
                                  (int32_t)fmin(object->height, tight->end_y + out[3])};
}

/* Takes truth over. */
static inline void box_objects_add(struct box_objects *objects, const struct clv_item *item, int32_t part,
                                   const struct clv_mask *size, uint8_t *truth)
{
    struct box_object object = {.width = size->width, .height = size->height, .truth = truth};
    const char *stem = strrchr(item->mask, '/') ? strrchr(item->mask, '/') + 1 : item->mask;
    object.tight = (struct clv_pixel_box){object.width, object.height, 0, 0};
    snprintf(object.image, sizeof object.image, "%s", item->image);
    snprintf(object.mask, sizeof object.mask, "%s", item->mask);
    snprintf(object.name, sizeof object.name, "%.*s-%d", (int)strcspn(stem, "."), stem, part);
    for (int32_t y = 0, p = 0; y < object.height; y++)
        for (int32_t x = 0; x < object.width; x++, p++)
            if (truth[p] == 1) {
                object.tight.first_x = x < object.tight.first_x ? x : object.tight.first_x;
                object.tight.first_y = y < object.tight.first_y ? y : object.tight.first_y;
                object.tight.end_x = x >= object.tight.end_x ? x + 1 : object.tight.end_x;
                object.tight.end_y = y + 1;
            }
    objects->items = realloc(objects->items, (objects->n + 1) * sizeof *objects->items);
    if (!objects->items)
        exit(1);
    objects->items[objects->n++] = object;
}

/* Marks the pixels of `label` that hang together with p; how many there are. stack[pixels]. */
static inline int32_t box_flood(uint8_t *marks, int32_t *stack, const struct clv_mask *mask, int32_t p)
{
    int32_t n = 0, n_stack = 0, width = mask->width, n_pixels = width * mask->height;
    uint8_t label = mask->labels[p];
    marks[p] = 1;
    stack[n_stack++] = p;
    while (n_stack) {
        int32_t at = stack[--n_stack];
        const int32_t next[4] = {at % width ? at - 1 : -1, (at + 1) % width ? at + 1 : -1, at - width,
                                 at + width < n_pixels ? at + width : -1};
        n++;
        for (int k = 0; k < 4; k++)
            if (next[k] >= 0 && !marks[next[k]] && mask->labels[next[k]] == label) {
                marks[next[k]] = 1;
                stack[n_stack++] = next[k];
            }
    }
    return n;
}

/* Adds the parts of MSRC's things that take 3 to 60 % of the image, without stuff (grass, sky, water and so on) and
 * things that are mostly background to others (buildings, trees). */
static inline void box_objects_add_things(struct box_objects *objects, const struct clv_item *item,
                                          const struct clv_mask *mask, const struct clv_labels *labels)
{
    static const char *const things[] = {"cow",  "horse", "sheep", "aeroplane", "face", "car", "bicycle", "flower",
                                         "sign", "bird",  "book",  "chair",     "cat",  "dog", "body",    "boat"};
    size_t n = (size_t)mask->width * (size_t)mask->height;
    uint8_t *seen = calloc(n, 1), *marks = malloc(n);
    int32_t *stack = malloc(n * sizeof *stack), part = 0;
    if (!seen || !marks || !stack)
        exit(1);
    for (size_t p = 0; p < n; p++) {
        bool is_thing = false;
        for (size_t k = 0; k < sizeof things / sizeof *things && mask->labels[p] < labels->n_labels; k++)
            is_thing |= strcmp(things[k], labels->names[mask->labels[p]]) == 0;
        if (!is_thing || seen[p])
            continue;
        memset(marks, 0, n);
        double share = box_flood(marks, stack, mask, (int32_t)p) / (double)n;
        uint8_t *truth = malloc(n);
        for (size_t q = 0; q < n && truth; q++) {
            seen[q] |= marks[q];
            truth[q] = marks[q] ? 1 : mask->labels[q] == CLV_VOID ? CLV_VOID : 0;
        }
        if (truth && share >= 0.03 && share <= 0.6)
            box_objects_add(objects, item, part++, mask, truth);
        else
            free(truth);
    }
    free(stack);
    free(marks);
    free(seen);
}

/* The objects of a set's `split` ("" is all of it); whether it is there. */
static inline bool box_objects_read(struct box_objects *objects, const char *set_name, const char *split)
{
    struct clv_set set = {0};
    struct clv_error err;
    char relative[256];
    *objects = (struct box_objects){0};
    snprintf(relative, sizeof relative, "%s/manifest.tsv", set_name);
    const char *path = bench_data("boxes", relative);
    if (!path)
        return false;
    box_stop_on(clv_set_read(&set, path, &err), &err);
    if (*split)
        box_stop_on(clv_set_select(&set, split, &err), &err);
    for (size_t i = 0; i < set.n_items; i++) {
        struct clv_mask mask = {0};
        if (!set.items[i].mask)
            continue;
        box_stop_on(clv_mask_read(&mask, set.items[i].mask, &set.labels, 0, 0, NULL, &err), &err);
        if (set.has_label_file) {
            box_objects_add_things(objects, &set.items[i], &mask, &set.labels);
        } else {
            box_objects_add(objects, &set.items[i], 0, &mask, mask.labels);
            mask.labels = NULL;
        }
        clv_mask_release(&mask);
    }
    clv_set_release(&set);
    return true;
}

/* Whether a photo of Berkeley's is in GrabCut-50 as well: the weights of box to cut are not learned from those 17.
 * Berkeley's 124084 is there under another number, 124080. */
static inline bool box_is_of_grabcut_50(const struct box_object *object)
{
    static const char *const stems[] = {"21077",  "24077",  "37073",  "65019",  "69020",  "86016",  "106024",
                                        "124084", "153077", "153093", "181079", "189080", "208001", "209070",
                                        "227092", "271008", "304074", "326038", "376043", "388016"};
    for (size_t k = 0; k < sizeof stems / sizeof *stems; k++)
        if (strncmp(object->name, stems[k], strlen(stems[k])) == 0 && object->name[strlen(stems[k])] == '-')
            return true;
    return false;
}

static inline void box_objects_release(struct box_objects *objects)
{
    for (size_t i = 0; i < objects->n; i++)
        free(objects->items[i].truth);
    free(objects->items);
    *objects = (struct box_objects){0};
}

/* Of the pixels that the mask knows: intersection over union, and the share of wrong ones among those in the box. */
struct box_quality {
    double iou, wrong;
};

static inline struct box_quality box_judge(const struct box_object *object, struct clv_pixel_box box,
                                           const uint8_t *labels)
{
    double both = 0, either = 0, wrong = 0, inside = 0;
    for (int32_t y = 0, p = 0; y < object->height; y++)
        for (int32_t x = 0; x < object->width; x++, p++) {
            bool is_inside = x >= box.first_x && x < box.end_x && y >= box.first_y && y < box.end_y;
            if (object->truth[p] == CLV_VOID)
                continue;
            both += object->truth[p] && labels[p];
            either += object->truth[p] || labels[p];
            inside += is_inside;
            wrong += is_inside && !object->truth[p] != !labels[p];
        }
    return (struct box_quality){either > 0 ? both / either : 1, inside > 0 ? wrong / inside : 0};
}

#endif
