/* Segments the objects in many boxes of one image and gives each pixel one label. Each box is segmented alone. Where
 * several boxes cover a pixel, their probabilities p_k become votes v_k, and a much smaller box is in front of a larger
 * one:
 *
 *     v_k = p_k prod_(j in front of k) (1 - p_j),   v_background = prod_k (1 - p_k),   scaled to a sum of 1
 *
 * Then clv_refine_labels chooses the labels of these pixels by the votes and the colours. Start at clv_box_cut_all. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cleave/box_cut.h"
#include "cleave/refine.h"

#define FRONT        0.25 /* a box of less than this share of another's area is in front of it */
#define VOTES_WEIGHT 8
#define MAX_VOTES    (1 << 26) /* most votes that are kept; with more, a smaller box is in front, without votes */

/* The boxes that overlap others, and the pixels around all overlaps. */
struct overlaps {
    const struct clv_image *image;
    struct clv_pixel_box *pixel_boxes; /* [n_boxes] of all boxes */
    size_t *order;                     /* [n_boxes] all boxes, the smaller first */
    size_t *members, n_members;        /* [n_boxes] boxes that overlap others, the smaller first */
    struct clv_pixel_box area;         /* bounds of all overlaps; empty without overlaps */
    size_t n;                          /* number of pixels of `area` */
    float *votes;                      /* [n_members][n] p_k */
    float *by_label;                   /* [n_labels][n] votes v, by_label[0] those of the background */
    uint8_t *labels;                   /* [n] indices into values; 0: background */
    uint8_t values[256];               /* [n_labels] the caller's values of labels */
    int32_t n_labels;
};

static void overlaps_release(struct overlaps *self)
{
    arrays_free(self->pixel_boxes, self->order, self->members, self->votes, self->by_label, self->labels);
}

static bool overlap(struct clv_pixel_box *common, const struct clv_pixel_box *a, const struct clv_pixel_box *b)
{
    *common = (struct clv_pixel_box){
        a->first_x > b->first_x ? a->first_x : b->first_x, a->first_y > b->first_y ? a->first_y : b->first_y,
        a->end_x < b->end_x ? a->end_x : b->end_x, a->end_y < b->end_y ? a->end_y : b->end_y};
    return common->first_x < common->end_x && common->first_y < common->end_y;
}

static bool covers(const struct clv_pixel_box *box, int32_t x, int32_t y)
{
    return x >= box->first_x && x < box->end_x && y >= box->first_y && y < box->end_y;
}

static double area_of(const struct clv_pixel_box *box)
{
    return (double)(box->end_x - box->first_x) * (box->end_y - box->first_y);
}

/* Orders the boxes by area, the smaller first; of equal ones, the later box comes first. */
static void sort(struct overlaps *self, size_t n_boxes)
{
    for (size_t i = 0; i < n_boxes; i++) {
        size_t k = i;
        for (; k > 0 && area_of(&self->pixel_boxes[i]) <= area_of(&self->pixel_boxes[self->order[k - 1]]); k--)
            self->order[k] = self->order[k - 1];
        self->order[k] = i;
    }
}

static enum clv_status overlaps_init(struct overlaps *self, const struct clv_image *image, const struct clv_box *boxes,
                                     const uint8_t *values, size_t n_boxes, struct clv_error *err)
{
    *self = (struct overlaps){.image = image, .area = {image->width, image->height, 0, 0}, .n_labels = 1};
    NEED((self->pixel_boxes = array_alloc(n_boxes, sizeof *self->pixel_boxes)) &&
         (self->order = array_alloc(n_boxes, sizeof *self->order)) &&
         (self->members = array_alloc(n_boxes, sizeof *self->members)));
    for (size_t k = 0; k < n_boxes; k++)
        self->pixel_boxes[k] = clv_box_pixels(&boxes[k], image->width, image->height);
    sort(self, n_boxes);
    for (size_t i = 0; i < n_boxes; i++) {
        size_t k = self->order[i];
        bool is_member = false;
        for (size_t j = 0; j < n_boxes; j++) {
            struct clv_pixel_box common, *area = &self->area;
            if (j == k || !overlap(&common, &self->pixel_boxes[k], &self->pixel_boxes[j]))
                continue;
            is_member = true;
            area->first_x = common.first_x < area->first_x ? common.first_x : area->first_x;
            area->first_y = common.first_y < area->first_y ? common.first_y : area->first_y;
            area->end_x = common.end_x > area->end_x ? common.end_x : area->end_x;
            area->end_y = common.end_y > area->end_y ? common.end_y : area->end_y;
        }
        if (!is_member)
            continue;
        self->members[self->n_members++] = k;
        if (!memchr(self->values + 1, values[k], (size_t)self->n_labels - 1))
            self->values[self->n_labels++] = values[k];
    }
    self->n = self->n_members ? (size_t)area_of(&self->area) : 0;
    if ((self->n_members + (size_t)self->n_labels) * (double)self->n > MAX_VOTES)
        self->n_members = 0;
    if (!self->n_members)
        return CLV_OK;
    NEED((self->votes = array_zalloc(self->n_members * self->n, sizeof(float))) &&
         (self->by_label = array_zalloc((size_t)self->n_labels * self->n, sizeof(float))) &&
         (self->labels = array_zalloc(self->n, 1)));
    return CLV_OK;
}

/* Copies the probabilities of box k in the area, if it overlaps others. */
static void keep(struct overlaps *self, size_t k, const float *probability)
{
    const struct clv_pixel_box *area = &self->area;
    size_t width = (size_t)(area->end_x - area->first_x), member = 0;
    while (member < self->n_members && self->members[member] != k)
        member++;
    for (int32_t y = area->first_y; y < area->end_y && member < self->n_members; y++)
        memcpy(self->votes + member * self->n + (size_t)(y - area->first_y) * width,
               probability + (size_t)y * (size_t)self->image->width + (size_t)area->first_x, width * sizeof(float));
}

/* Computes the votes of labels from the probabilities, and labels[p], the label with most votes. */
static void vote(struct overlaps *self, const uint8_t *values)
{
    for (size_t p = 0; p < self->n; p++) {
        double background = 1, sum = 0;
        for (size_t k = 0; k < self->n_members; k++) {
            const struct clv_pixel_box *pixel_box = &self->pixel_boxes[self->members[k]];
            double share = self->votes[k * self->n + p];
            background *= 1 - share;
            for (size_t j = 0; j < k && area_of(&self->pixel_boxes[self->members[j]]) < FRONT * area_of(pixel_box); j++)
                share *= 1 - self->votes[j * self->n + p];
            const uint8_t *label = memchr(self->values + 1, values[self->members[k]], (size_t)self->n_labels - 1);
            self->by_label[(size_t)(label - self->values) * self->n + p] += (float)share;
            sum += share;
        }
        self->by_label[p] = (float)background;
        for (int32_t a = 0; a < self->n_labels; a++) {
            float *label_vote = &self->by_label[(size_t)a * self->n + p];
            *label_vote = (float)fmin(*label_vote / (sum + background), 1); /* rounding may exceed 1 */
            if (*label_vote > self->by_label[(size_t)self->labels[p] * self->n + p])
                self->labels[p] = (uint8_t)a;
        }
    }
}

static enum clv_status refine_overlaps(struct overlaps *self, const struct clv_box_cut_options *options,
                                       struct clv_error *err)
{
    const struct clv_pixel_box *area = &self->area;
    struct clv_refine_options refining;
    OWNED(clv_image_release) struct clv_image crop = {0};
    int32_t width = area->end_x - area->first_x, height = area->end_y - area->first_y;
    MUST(clv_image_new(&crop, width, height, 3, err));
    for (int32_t y = 0; y < height; y++)
        memcpy(crop.pixels + (size_t)y * (size_t)width * 3,
               self->image->pixels +
                   3 * ((size_t)(y + area->first_y) * (size_t)self->image->width + (size_t)area->first_x),
               (size_t)width * 3);
    clv_refine_defaults(&refining);
    refining.prior = VOTES_WEIGHT;
    refining.coupling = options->refine_coupling;
    return clv_refine_labels(self->labels, &crop, self->by_label, self->n_labels, &refining, err);
}

/* Writes the labels of pixels that several boxes cover. A label that none of these boxes has is ignored. */
static void write_overlaps(uint8_t *labels, const struct overlaps *self, const uint8_t *values)
{
    size_t p = 0;
    for (int32_t y = self->area.first_y; y < self->area.end_y; y++)
        for (int32_t x = self->area.first_x; x < self->area.end_x; x++, p++) {
            uint8_t value = self->values[self->labels[p]];
            bool is_known = !self->labels[p];
            size_t n_covers = 0;
            for (size_t k = 0; k < self->n_members; k++)
                if (covers(&self->pixel_boxes[self->members[k]], x, y)) {
                    n_covers++;
                    is_known |= values[self->members[k]] == value;
                }
            if (n_covers > 1 && is_known)
                labels[(size_t)y * (size_t)self->image->width + (size_t)x] = self->labels[p] ? value : 0;
        }
}

static enum clv_status check(const uint8_t *values, size_t n_boxes, struct clv_error *err)
{
    for (size_t k = 0; k < n_boxes; k++)
        if (values[k] < 1 || values[k] >= CLV_MAX_LABELS)
            return fail(err, CLV_ERR_USAGE, "box %zu has the value %d, must be 1..%d", k, values[k],
                        CLV_MAX_LABELS - 1);
    return CLV_OK;
}

enum clv_status clv_box_cut_all(uint8_t *labels, const struct clv_image *image, const struct clv_box *boxes,
                                const uint8_t *values, size_t n_boxes, const struct clv_box_cut_options *options,
                                struct clv_error *err)
{
    struct clv_box_cut_options defaults;
    OWNED(overlaps_release) struct overlaps overlaps = {0};
    size_t n = (size_t)image->width * (size_t)image->height;
    clv_box_cut_defaults(&defaults);
    options = options ? options : &defaults;
    MUST(check(values, n_boxes, err));
    OWNED_ARRAY uint8_t *all = array_zalloc(n, 1);
    OWNED_ARRAY uint8_t *box_labels = array_alloc(n, 1);
    OWNED_ARRAY float *probability = array_alloc(n, sizeof *probability);
    NEED(all && box_labels && probability);
    MUST(overlaps_init(&overlaps, image, boxes, values, n_boxes, err));
    for (size_t i = n_boxes; i > 0; i--) {
        size_t k = overlaps.order[i - 1];
        MUST(clv_box_cut(box_labels, probability, image, &boxes[k], options, err));
        for (size_t p = 0; p < n; p++)
            all[p] = box_labels[p] ? values[k] : all[p];
        keep(&overlaps, k, probability);
    }
    if (overlaps.n_members) {
        vote(&overlaps, values);
        MUST(refine_overlaps(&overlaps, options, err));
        write_overlaps(all, &overlaps, values);
    }
    memcpy(labels, all, n);
    return CLV_OK;
}
