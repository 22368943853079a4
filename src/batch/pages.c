/* Writes the masks of a sequence as the pages of one TIFF, in order. Pages before their turn wait in memory. Start at
 * page_file_put. */
#include <pthread.h>

#include "base/base.h"
#include "batch/batch.h"
#include "image/image.h"
#include "image/raster/raster.h"
#include "sequence/sequence.h"

struct page_file {
    const struct batch *run;
    struct raster_writer writer;
    struct clv_image *waiting; /* [n] */
    size_t n, next;
    pthread_mutex_t lock;
    char description[160]; /* for ImageJ: the numbers of slices and times, as in the image; or "" */
};

/* Writes ImageJ's description of slices and times, if the masks are those of all pages of one image. */
static void describe(char *text, size_t size, const struct clv_item *items, size_t n)
{
    struct stack_axes axes;
    if (!sequences_are_of_one_file(items, n))
        return;
    image_find_axes(&axes, items[0].image);
    if (axes.source != AXES_OF_PAGES && (uint64_t)axes.n_slices * axes.n_frames == n)
        snprintf(text, size,
                 "ImageJ=1.53t\nimages=%zu\nslices=%u\nframes=%u\nhyperstack=true\nmode=grayscale\n" STACK_FIXED "1\n",
                 n, axes.n_slices, axes.n_frames);
}

enum clv_status page_file_new(struct page_file **self, const struct batch *run, const struct clv_item *items, size_t n,
                              struct clv_error *err)
{
    OWNED_ARRAY struct page_file *result = array_zalloc(1, sizeof *result);
    OWNED_ARRAY struct clv_image *waiting = array_zalloc(n, sizeof *waiting);
    NEED(result && waiting);
    *result = (struct page_file){.run = run, .waiting = TAKE(waiting), .n = n};
    pthread_mutex_init(&result->lock, NULL);
    describe(result->description, sizeof result->description, items, n);
    result->writer.description = result->description[0] ? result->description : NULL;
    *self = TAKE(result);
    return CLV_OK;
}

/* Writes the waiting pages whose turn it is. */
static enum clv_status write_pages(struct page_file *self, struct clv_error *err)
{
    int n_colours;
    const enum clv_mask_format format = (enum clv_mask_format)self->run->options.mask_format;
    const uint8_t(*palette)[3] = mask_file_palette(&n_colours, format, &self->run->labels, false);
    while (self->next < self->n && self->waiting[self->next].pixels) {
        OWNED(clv_image_release) struct clv_image page = TAKE(self->waiting[self->next]);
        const struct label_image labels = {page.width, page.height, page.pixels, palette, n_colours};
        self->next++; /* also if the page fails */
        MUST(raster_writer_add_page(&self->writer, self->run->to.file, &labels, self->n, err));
    }
    return CLV_OK;
}

enum clv_status page_file_put(struct page_file *self, size_t index, int32_t width, int32_t height,
                              const uint8_t *label_of, struct clv_error *err)
{
    size_t n = (size_t)width * (size_t)height;
    OWNED_ARRAY uint8_t *values = array_copy(label_of, n, 1);
    NEED(values);
    if (self->run->options.mask_format == CLV_MASKS_BINARY)
        mask_file_to_binary(values, n);
    pthread_mutex_lock(&self->lock);
    self->waiting[index] = (struct clv_image){width, height, 1, TAKE(values)};
    const enum clv_status status = write_pages(self, err);
    pthread_mutex_unlock(&self->lock);
    return status;
}

enum clv_status page_file_end(struct page_file *self, bool is_whole, struct clv_error *err)
{
    if (!self)
        return CLV_OK;
    enum clv_status status = is_whole ? raster_writer_commit(&self->writer, err) : CLV_OK;
    if (!is_whole) {
        report_message(&self->run->progress, CLV_NOTE, "%s: is not written, as not all of its pages are there",
                       self->run->to.file);
        raster_writer_abort(&self->writer);
    }
    for (size_t i = 0; i < self->n; i++)
        clv_image_release(&self->waiting[i]);
    pthread_mutex_destroy(&self->lock);
    arrays_free(self->waiting, self);
    return status;
}
