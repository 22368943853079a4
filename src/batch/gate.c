/* Estimates how much memory an image needs (memory_of_work), and admits images while the sum of the estimates fits into
 * the memory of the run (memory_gate_enter). An ordered queue keeps the order of the inputs. */
#include "batch/gate.h"

#include <malloc.h>
#include <math.h>

#include "base/base.h"
#include "base/memory.h"
#include "data/shapes/shapes.h"
#include "feature/blocks/blocks.h"
#include "feature/recipe/recipe.h"
#include "model/context.h"
#include "refine/refine.h"

/* Bytes that the process uses besides images: the program, a model, and memory that the allocator keeps. */
#define PROCESS_BYTES 16e6

/* Blocks of at least this size return to the system when they are freed. Otherwise refinement, which cuts window by
 * window, would keep twice the memory that it uses at a time. Smaller blocks stay in the heap: the next image pays a
 * page fault for every 4 kB of a block that returned, and for every 2 MB of one of this size (base/array.c). After an
 * image has waited for memory, smaller blocks return as well. */
#define RETURNED_BYTES        (1 << 22)
#define RETURNED_BYTES_SCARCE (1 << 18)

/* Free bytes at the end of the heap that stay: an image would otherwise fault in again what the one before returned. */
#define KEPT_BYTES        (1 << 24)
#define KEPT_BYTES_SCARCE (1 << 17)

/* Bytes per pixel of the image besides features, whose table is feature/recipe/memory_estimate.c.
 * tests/cli/segment/test_cli_memory.c states how close the sums are. */
#define PICTURE   4  /* picture and labels */
#define REFINING  5  /* two labellings, colours, the initial labelling */
#define WINDOW    84 /* per pixel of a window of a cut */
#define EVIDENCE  2  /* planes for each label, besides the planes of maps */
#define OVERLAY   4
#define REPORT    8
#define CUTOUT    10 /* with the bytes of its PNG */
#define EXPORT    12 /* numbers of objects, their contours */
#define BOX_CUT   64
#define NET       240 /* per pixel of the working size: inputs of a pixel network */
#define NET_LABEL 12  /* the same for each label */
#define COLOURS   3   /* counts of a colour nearby; with more than two labels, one more for each label */

/* Bytes of a graph while its nodes are labelled: per node, per label of a node, per edge, per label of an edge
 * (messages), and per pair of labels of an edge (tables). */
#define NODE       200
#define NODE_LABEL 48
#define EDGE       160
#define EDGE_LABEL 32
#define EDGE_PAIR  16

void memory_gate_init(struct memory_gate *self, double limit)
{
    self->limit = limit > 0 ? limit : memory_available() / 2;
    self->used = PROCESS_BYTES;
    mallopt(M_MMAP_THRESHOLD, RETURNED_BYTES);
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
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
        /* Memory that other threads have freed would stay in their arenas while this thread allocates more. Returns
         * free memory to the system now, and from now on smaller blocks when they are freed. */
        mallopt(M_MMAP_THRESHOLD, RETURNED_BYTES_SCARCE);
        mallopt(M_TRIM_THRESHOLD, KEPT_BYTES_SCARCE);
        malloc_trim(0);
    }
    if (fits)
        self->used += bytes;
    pthread_mutex_unlock(&self->lock);
    ordered_queue_leave(&self->entrance);
    if (fits)
        return CLV_OK;
    return memory_require_of(self->limit, bytes + PROCESS_BYTES, "work on it", "--memory allows more", err);
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
    const struct clv_recipe *recipe = &work->model->recipe;
    const int32_t n_labels = work->model->layout.n_labels;
    double n = (double)width * height;
    double bytes =
        REFINING * n + WINDOW * (double)pixel_cut_window(width, height, PIXEL_CUT_WHOLE) +
        sizeof(float) * (double)near_colours_count(width, height) * (COLOURS + (n_labels > 2 ? n_labels : 0));
    if (recipe->n_maps || work->has_net)
        bytes += sizeof(float) * n * n_labels * (EVIDENCE + recipe->n_maps);
    if (work->has_net)
        bytes += (NET + NET_LABEL * n_labels) * (double)working_count(recipe, n);
    return bytes;
}

/* Returns the bytes for labelling the nodes of an example: scores, messages and, with two stages, the features of the
 * second stage. */
static double memory_of_labelling(const struct clv_model *model, int32_t width, int32_t height)
{
    const double k = model->layout.n_labels;
    double n_nodes, n_edges;
    memory_count_nodes(&n_nodes, &n_edges, &model->recipe, width, height);
    double of_edge = EDGE + EDGE_LABEL * k + (model->layout.pairwise == CLV_PAIRWISE_FULL ? EDGE_PAIR * k * k : 0);
    double bytes = n_nodes * (NODE + NODE_LABEL * k) + n_edges * of_edge;
    if (model->first) /* the rows of features are copied to grow */
        bytes += 3 * (n_nodes * context_size(model->layout.n_labels) * (sizeof(float) + sizeof(int32_t)) +
                      memory_of_image(&model->recipe, width, height, 0));
    return bytes;
}

/* Returns the bytes after labelling, while specks are merged and files are written. */
static double memory_of_files(const struct memory_work *work, double n)
{
    double of_pixel = (work->has_overlay ? OVERLAY : 0) + (work->has_report ? REPORT : 0) +
                      (work->has_cutout ? CUTOUT : 0) + (work->has_export ? EXPORT : 0);
    return fmax(of_pixel, work->has_specks ? SPECKS_BYTES : 0) * n;
}

double memory_of_work(const struct memory_work *work, int32_t width, int32_t height, double file_size)
{
    const struct clv_model *model = work->model;
    double n = (double)width * height, decoding = memory_of_decoding(n, file_size), later = memory_of_files(work, n);
    if (!model)
        return fmax(decoding, PICTURE * n + fmax(work->is_given ? 0 : BOX_CUT * n, later));
    double example = memory_of_example(&model->recipe, width, height, model->layout.n_labels);
    double labelling = memory_of_labelling(model, width, height);
    if (model->recipe.window) { /* the slices of a window are labelled jointly */
        example *= model->recipe.window;
        labelling *= model->recipe.window;
    }
    if (work->is_refined)
        labelling = fmax(labelling, memory_of_refining(work, width, height));
    later = fmax(later,
                 fmax(memory_of_features(&model->recipe, width, height, model->layout.n_labels), example + labelling));
    return fmax(decoding, PICTURE * n + work->map_bytes + later);
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
