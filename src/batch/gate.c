/* Estimates how much memory work on an image takes (memory_of_work), and lets images into work as long as these
 * estimates fit into what is free (memory_gate_enter). An ordered queue keeps the order of the inputs. */
#include "batch/gate.h"

#include <malloc.h>
#include <math.h>

#include "base/base.h"
#include "base/memory.h"
#include "feature/blocks/blocks.h"
#include "feature/recipe/recipe.h"
#include "refine/refine.h"

#define MEGABYTE 1e6

/* Bytes that the process uses before the first image, including memory that the allocator keeps. */
#define PROCESS_BYTES 32e6

/* Blocks from this size on go back to the system when they are freed, once an image had to wait for memory. */
#define RETURNED_BYTES (1 << 18)

/* Bytes a pixel: above what PNG and superpixels are seen to take (tests/cli/segment/test_cli_memory.c); other
 * formats and patches are not measured. */
#define DECODING     15 /* the picture, a second one to turn it, coefficients of progressive JPEG */
#define PICTURE      4  /* picture and labels */
#define REFINING     5  /* two labellings, colours, the labelling before */
#define WINDOW       84 /* of a cut */
#define EVIDENCE     2  /* planes of a label, but for those of maps */
#define OVERLAY      4
#define REPORT       8
#define CUTOUT       10 /* and the bytes of its PNG */
#define EXPORT       12 /* numbers of objects, their contours */
#define BOX_CUT      64
#define WORKING      500 /* at working size: superpixels, words, features */
#define TILED        64  /* of it where features are made tile by tile */
#define NODE_EXCESS  2   /* superpixels may meet more words than squares do */
#define NET          240 /* at working size, what a network of pixels looks at .. */
#define NET_LABEL    12  /* .. and of each label */
#define COLOUR_CELLS 1e6 /* in any picture, at most */

void memory_gate_init(struct memory_gate *self, double limit)
{
    self->limit = limit > 0 ? limit : memory_available() / 2;
    self->used = PROCESS_BYTES;
    ordered_queue_init(&self->entrance);
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->freed, NULL);
}

void memory_gate_release(struct memory_gate *self)
{
    ordered_queue_release(&self->entrance);
    pthread_cond_destroy(&self->freed);
    pthread_mutex_destroy(&self->lock);
}

enum clv_status memory_gate_enter(struct memory_gate *self, size_t index, double bytes, struct clv_error *err)
{
    ordered_queue_enter(&self->entrance, index);
    const bool fits = !(bytes > 0 && bytes + PROCESS_BYTES > self->limit);
    pthread_mutex_lock(&self->lock);
    bool waits = fits && bytes > 0 && self->used + bytes > self->limit;
    while (waits && self->used + bytes > self->limit)
        pthread_cond_wait(&self->freed, &self->lock);
    if (waits) {
        /* Memory that other threads have freed would stay in their arenas, next to what this thread takes. So what is
         * free is returned to the system now, and large blocks whenever they are freed from now on. */
        mallopt(M_MMAP_THRESHOLD, RETURNED_BYTES);
        malloc_trim(0);
    }
    if (fits)
        self->used += bytes;
    pthread_mutex_unlock(&self->lock);
    ordered_queue_leave(&self->entrance);
    FAIL_IF(!fits, CLV_ERR_MEMORY, "work on it may take %.0f MB of memory, of which there are %.0f (--memory)",
            ceil((bytes + PROCESS_BYTES) / MEGABYTE), floor(self->limit / MEGABYTE));
    return CLV_OK;
}

void memory_gate_leave(struct memory_gate *self, double bytes)
{
    pthread_mutex_lock(&self->lock);
    self->used -= bytes;
    pthread_cond_broadcast(&self->freed);
    pthread_mutex_unlock(&self->lock);
}

static double memory_of_refining(const struct memory_work *work, int32_t width, int32_t height)
{
    double n = (double)width * height;
    double bytes = REFINING * n + WINDOW * (double)pixel_cut_window(width, height, PIXEL_CUT_WHOLE) +
                   4 * COLOUR_CELLS * (3 + (work->n_labels > 2 ? work->n_labels : 0));
    if (work->recipe->n_maps || work->has_net)
        bytes += sizeof(float) * n * work->n_labels * (EVIDENCE + work->recipe->n_maps);
    if (work->has_net)
        bytes += (NET + NET_LABEL * work->n_labels) * (double)working_count(work->recipe, n);
    return bytes;
}

static double memory_of_features(const struct memory_work *work, int32_t width, int32_t height)
{
    const struct clv_recipe *recipe = work->recipe;
    double n = (double)working_count(recipe, (double)width * height);
    if (!(recipe->scale > 0))
        return WORKING * n;
    double side = recipe->tile_px + 2 * recipe->halo_px;
    double tiled = WORKING * fmin(n, side * side) + TILED * n;
    return fmin(WORKING * n, tiled + NODE_EXCESS * memory_of_image(recipe, width, height, work->n_labels));
}

double memory_of_work(const struct memory_work *work, int32_t width, int32_t height, double file_size)
{
    double n = (double)width * height, decoding = DECODING * n + file_size, later = PICTURE * n;
    double showing = (work->has_overlay ? OVERLAY : 0) * n + (work->has_report ? REPORT : 0) * n +
                     (work->has_cutout ? CUTOUT : 0) * n + (work->has_export ? EXPORT : 0) * n;
    if (!work->recipe)
        return fmax(decoding, PICTURE * n + fmax(work->is_given ? 0 : BOX_CUT * n, showing));
    later += work->map_bytes + memory_of_features(work, width, height) +
             (work->is_refined ? fmax(memory_of_refining(work, width, height), showing) : showing);
    return fmax(decoding, later);
}

void ordered_queue_init(struct ordered_queue *queue)
{
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->moved, NULL);
    queue->next = 0;
}

void ordered_queue_release(struct ordered_queue *queue)
{
    pthread_cond_destroy(&queue->moved);
    pthread_mutex_destroy(&queue->lock);
}

void ordered_queue_enter(struct ordered_queue *queue, size_t index)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->next != index)
        pthread_cond_wait(&queue->moved, &queue->lock);
}

void ordered_queue_leave(struct ordered_queue *queue)
{
    queue->next++;
    pthread_cond_broadcast(&queue->moved);
    pthread_mutex_unlock(&queue->lock);
}
