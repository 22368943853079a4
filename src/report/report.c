/* Writes one HTML page. Two temporary files without names are in the report's folder. report_spool appends encoded
 * items to the first one, in any order, from any thread. report_put moves them in the order of the page to the second
 * one, as markup, because the totals and the histogram above them are known last. Finishing joins head, items and tail.
 * The images of the first items are in the page, those of later ones in files next to it. Start at clv_report_add. */
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "data/data.h"
#include "image/image.h"

struct clv_report {
    char *folder, *path;
    bool made_folder;     /* the folder did not exist before */
    bool made_images;     /* nor did IMAGE_FOLDER in it */
    FILE *items;          /* temporary: markup of the items that were put */
    FILE *spool;          /* temporary: items that wait for their turn; read and written by its descriptor */
    pthread_mutex_t lock; /* guards the three below */
    uint64_t spool_end;   /* where the next item goes */
    size_t n_spooled;     /* items that wait */
    bool broken;          /* a file of the report is incomplete */
    struct page_header header;
    struct page_totals totals;
};

/* Removes the folders that an abandoned report made. Images that replaced those of an earlier report stay. */
static void remove_folders(const struct clv_report *report)
{
    OWNED_ARRAY char *images = report->made_images ? path_join(report->folder, IMAGE_FOLDER) : NULL;
    if (images)
        (void)!folder_remove(images, NULL);
    if (report->made_folder)
        rmdir(report->folder);
}

static void report_free(struct clv_report *report, bool is_abandoned)
{
    if (report->items)
        fclose(report->items);
    if (report->spool)
        fclose(report->spool);
    pthread_mutex_destroy(&report->lock);
    if (is_abandoned)
        remove_folders(report);
    for (size_t i = 0; report->header.facts && i < 2 * report->header.n_facts; i++)
        array_free(report->header.facts[i]);
    arrays_free(report->header.facts, report->header.title, report->header.names, report->header.palette,
                report->folder, report->path, report);
}

DROPS(report_drop, struct clv_report, clv_report_abandon)

static enum clv_status copy_header(struct page_header *header, const char *title, const struct clv_labels *labels,
                                   const char *const (*summary)[2], size_t n_summary, struct clv_error *err)
{
    header->title = string_copy(title);
    header->names = array_copy(labels->names, (size_t)labels->n_labels, sizeof *labels->names);
    header->palette = array_copy(labels->palette, 256, sizeof *labels->palette);
    if (header->palette)
        overlay_palette(header->palette, (const uint8_t(*)[3])labels->palette, labels->n_labels);
    header->n_labels = labels->n_labels;
    for (int32_t label = 0; header->names && label < labels->n_labels; label++)
        if (!labels_have(labels, label))
            header->names[label][0] = 0;
    header->label_0_is_void = labels->is_void[0];
    header->facts = array_zalloc(2 * n_summary, sizeof *header->facts);
    NEED(header->title && header->names && header->palette && header->facts);
    header->n_facts = n_summary;
    for (size_t i = 0; i < 2 * n_summary; i++) {
        header->facts[i] = string_copy(summary[i / 2][i % 2]);
        NEED(header->facts[i]);
    }
    return CLV_OK;
}

enum clv_status clv_report_begin(struct clv_report **report, const char *folder, const char *title,
                                 const struct clv_labels *labels, const char *const (*summary)[2], size_t n_summary,
                                 struct clv_error *err)
{
    *report = NULL;
    OWNED(report_drop) struct clv_report *result = array_zalloc(1, sizeof *result);
    enum path_kind kind;
    NEED(result);
    pthread_mutex_init(&result->lock, NULL);
    result->folder = string_copy(folder);
    result->path = path_join(folder, "index.html");
    NEED(result->folder && result->path);
    MUST(copy_header(&result->header, title, labels, summary, n_summary, err));
    MUST(path_find_kind(&kind, folder, err));
    MUST(folder_create(folder, err));
    result->made_folder = kind == PATH_ABSENT;
    MUST(file_open_unnamed(&result->items, result->folder, err));
    MUST(file_open_unnamed(&result->spool, result->folder, err));
    *report = TAKE(result);
    return CLV_OK;
}

static void set_broken(struct clv_report *report)
{
    pthread_mutex_lock(&report->lock);
    report->broken = true;
    pthread_mutex_unlock(&report->lock);
}

/* Checks that an item was written completely. Otherwise marks the report as broken. */
static enum clv_status check_items(struct clv_report *report, int result, struct clv_error *err)
{
    if (result == 0 && !fflush(report->items) && !ferror(report->items))
        return CLV_OK;
    enum clv_status status = result ? fail_memory(err) : fail_errno(err, CLV_ERR_IO, "%s: cannot write", report->path);
    set_broken(report);
    return status;
}

static void count_item(struct page_totals *totals, const struct page_item *item)
{
    totals->n_images++;
    totals->n_segmented += item->is_segmented;
    totals->n_with_truth += item->has_truth;
    totals->n_probable += item->is_probable;
    totals->n_with_objects += item->has_objects;
    totals->n_objects += (size_t)item->n_objects;
    for (int cell = 0; cell < AREA_CELLS; cell++)
        totals->areas[cell] += item->areas[cell];
    if (isfinite(item->weighted_hamming)) {
        double score = fmin(fmax(item->weighted_hamming, 0), 1);
        totals->n_scored++;
        totals->sum_weighted_hamming += item->weighted_hamming;
        totals->highest_weighted_hamming = fmax(totals->highest_weighted_hamming, score);
        totals->histogram[int32_within(score * HISTOGRAM_CELLS, 0, HISTOGRAM_CELLS)]++;
    }
    if (isfinite(item->mean_iou)) {
        totals->n_with_iou++;
        totals->sum_iou += item->mean_iou;
    }
}

/* Writes a file next to the page, without flushing it to the disk, which would take longer than segmenting its image.
 * The page itself is flushed, and comes last. */
static enum clv_status write_next_to_page(const struct clv_report *report, const char *name, const void *bytes,
                                          size_t size, struct clv_error *err)
{
    OWNED_ARRAY char *path = path_join(report->folder, name);
    NEED(path);
    unlink(path); /* never writes through a link */
    FILE *stream = fopen(path, "wbxe");
    if (!stream)
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot create", path);
    bool written = fwrite(bytes, 1, size, stream) == size;
    if (fclose(stream) != 0 || !written)
        return fail_errno(err, CLV_ERR_IO, "%s: cannot write", path);
    return CLV_OK;
}

/* Stores the images of an item next to the page, for items whose images the page does not hold. */
static enum clv_status store_images(struct clv_report *report, const struct item_images *images, size_t number,
                                    struct clv_error *err)
{
    char name[IMAGE_NAME_MAX];
    OWNED_ARRAY char *folder = path_join(report->folder, IMAGE_FOLDER);
    enum path_kind kind;
    NEED(folder);
    MUST(path_find_kind(&kind, folder, err));
    MUST(folder_create(folder, err));
    report->made_images |= kind == PATH_ABSENT;
    for (int layer = 0; layer < N_LAYERS; layer++) {
        if (!images->layer[layer].bytes)
            continue;
        page_image_name(name, number, layer, images->layer[layer].type);
        MUST(write_next_to_page(report, name, images->layer[layer].bytes, images->layer[layer].size, err));
    }
    return CLV_OK;
}

static void page_item_release(struct page_item *item)
{
    item_images_release(&item->images);
}

static enum clv_status make_item(struct page_item *result, const struct clv_report *report,
                                 const struct clv_report_item *item, struct clv_error *err)
{
    FAIL_IF(item->image->channels != 3 || item->image->width < 1 || item->image->height < 1, CLV_ERR_USAGE,
            "%s: image of %dx%d pixels and %d channels cannot be reported", item->name, item->image->width,
            item->image->height, item->image->channels);
    enum clv_status status = item_images_make(&result->images, item, (const uint8_t(*)[3])report->header.palette, err);
    if (status)
        return fail_within(err, status, item->name);
    result->name = item->name;
    result->tags = item->tags;
    result->true_tags = item->true_tags;
    result->note = item->note;
    result->width = item->width ? item->width : item->image->width;
    result->height = item->height ? item->height : item->image->height;
    result->weighted_hamming = item->weighted_hamming;
    result->mean_iou = item->mean_iou;
    result->is_segmented = item->labels;
    result->has_truth = item->truth;
    result->is_probable = item->probability;
    result->has_objects = item->objects;
    result->n_objects = item->objects ? item->n_objects : 0;
    for (int32_t k = 0; k < result->n_objects; k++)
        if (item->objects[k].area > 0)
            result->areas[ilogb((double)item->objects[k].area * (double)item->objects[k].area)]++; /* half powers */
    return CLV_OK;
}

/* The temporary file has each item as its struct, whose pointers only tell which parts exist, followed by the strings
 * and the images. */

#define N_STRINGS 4

static void list_strings(const char **strings[N_STRINGS], struct page_item *item)
{
    const char **const all[N_STRINGS] = {&item->name, &item->tags, &item->true_tags, &item->note};
    memcpy(strings, all, sizeof all);
}

static enum clv_status pack_item(char **bytes, size_t *size, struct page_item *item, struct clv_error *err)
{
    const char **strings[N_STRINGS];
    list_strings(strings, item);
    *size = sizeof *item;
    for (int k = 0; k < N_STRINGS; k++)
        *size += *strings[k] ? strlen(*strings[k]) + 1 : 0;
    for (int layer = 0; layer < N_LAYERS; layer++)
        *size += item->images.layer[layer].size;
    char *at = *bytes = array_alloc(*size, 1);
    NEED(at);
    memcpy(at, item, sizeof *item);
    at += sizeof *item;
    for (int k = 0; k < N_STRINGS; k++) {
        size_t length = *strings[k] ? strlen(*strings[k]) + 1 : 0;
        array_put(at, *strings[k], length, 1);
        at += length;
    }
    for (int layer = 0; layer < N_LAYERS; layer++) {
        if (item->images.layer[layer].bytes)
            memcpy(at, item->images.layer[layer].bytes, item->images.layer[layer].size);
        at += item->images.layer[layer].size;
    }
    return CLV_OK;
}

/* Restores the item from its bytes, in which its strings and images stay. */
static void unpack_item(struct page_item *item, char *bytes)
{
    const char **strings[N_STRINGS];
    memcpy(item, bytes, sizeof *item);
    list_strings(strings, item);
    char *at = bytes + sizeof *item;
    for (int k = 0; k < N_STRINGS; k++)
        if (*strings[k]) {
            *strings[k] = at;
            at += strlen(at) + 1;
        }
    for (int layer = 0; layer < N_LAYERS; layer++)
        if (item->images.layer[layer].bytes) {
            item->images.layer[layer].bytes = (uint8_t *)at;
            at += item->images.layer[layer].size;
        }
}

/* Writes all bytes at an offset of a file. Returns false, with errno, if that fails. */
static bool write_at(int fd, const char *bytes, size_t size, uint64_t offset)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(fd, bytes + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool read_at(int fd, char *bytes, size_t size, uint64_t offset)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(fd, bytes + done, size - done, (off_t)(offset + done));
        if (n == 0)
            errno = EIO;
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static uint64_t reserve(struct clv_report *report, size_t size)
{
    pthread_mutex_lock(&report->lock);
    uint64_t offset = report->spool_end;
    report->spool_end += size;
    report->n_spooled++;
    pthread_mutex_unlock(&report->lock);
    return offset;
}

/* Frees the space of an item: the file is reused from its start when no item waits; otherwise it gets a hole, if the
 * file system supports that. */
static void give_back(struct clv_report *report, const struct report_slot *slot)
{
    pthread_mutex_lock(&report->lock);
    if (--report->n_spooled == 0)
        report->spool_end = 0;
    else
        (void)!fallocate(fileno(report->spool), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)slot->offset,
                         (off_t)slot->size);
    pthread_mutex_unlock(&report->lock);
}

enum clv_status report_spool(struct report_slot *slot, struct clv_report *report, const struct clv_report_item *item,
                             struct clv_error *err)
{
    OWNED(page_item_release) struct page_item shown = {0};
    OWNED_ARRAY char *bytes = NULL;
    size_t size;
    memset(&shown, 0, sizeof shown); /* also the padding between its members, which is written, too */
    MUST(make_item(&shown, report, item, err));
    MUST(pack_item(&bytes, &size, &shown, err));
    const struct report_slot result = {reserve(report, size), size};
    if (!write_at(fileno(report->spool), bytes, size, result.offset)) {
        enum clv_status status = fail_errno(err, CLV_ERR_IO, "%s: cannot write", report->path);
        give_back(report, &result);
        set_broken(report);
        return status;
    }
    *slot = result;
    return CLV_OK;
}

static enum clv_status put_item(struct clv_report *report, const struct report_slot *slot, struct clv_error *err)
{
    struct page_item item;
    OWNED_ARRAY char *bytes = array_alloc(slot->size, 1);
    NEED(bytes);
    if (!read_at(fileno(report->spool), bytes, slot->size, slot->offset))
        return fail_errno(err, CLV_ERR_OS, "%s: cannot read back an item", report->path);
    unpack_item(&item, bytes);
    size_t number = report->totals.n_images + 1;
    MUST(check_items(report, page_write_item(report->items, &item, number, number + report->totals.n_failures), err));
    if (number > PAGE_ROWS)
        MUST(store_images(report, &item.images, number, err));
    count_item(&report->totals, &item);
    return CLV_OK;
}

enum clv_status report_put(struct clv_report *report, const struct report_slot *slot, struct clv_error *err)
{
    if (!slot->size)
        return CLV_OK;
    const enum clv_status status = put_item(report, slot, err);
    give_back(report, slot);
    if (status != CLV_OK)
        set_broken(report);
    return status;
}

enum clv_status clv_report_add(struct clv_report *report, const struct clv_report_item *item, struct clv_error *err)
{
    struct report_slot slot = {0};
    MUST(report_spool(&slot, report, item, err));
    return report_put(report, &slot, err);
}

enum clv_status clv_report_add_failure(struct clv_report *report, const char *name, const char *message,
                                       struct clv_error *err)
{
    size_t row = report->totals.n_images + report->totals.n_failures + 1;
    MUST(check_items(report, page_write_failure(report->items, name, message, row), err));
    report->totals.n_failures++;
    return CLV_OK;
}

static enum clv_status copy_items(FILE *page, struct clv_report *report, struct clv_error *err)
{
    char buffer[1 << 15];
    size_t n;
    rewind(report->items);
    while ((n = fread(buffer, 1, sizeof buffer, report->items)) > 0)
        fwrite(buffer, 1, n, page);
    return ferror(report->items) ? fail_errno(err, CLV_ERR_OS, "%s: cannot read back the items", report->path) : CLV_OK;
}

enum clv_status clv_report_finish(struct clv_report *report, struct clv_error *err)
{
    OWNED(report_drop) struct clv_report *unfinished = report;
    OWNED(file_abort) struct file_writer writer = {0};
    FAIL_IF(report->broken, CLV_ERR_IO, "%s: an item was not written", report->path);
    MUST(file_create(&writer, report->path, err));
    NEED(!page_write_head(writer.stream, &report->header, &report->totals));
    MUST(copy_items(writer.stream, report, err));
    page_write_tail(writer.stream, &report->totals);
    MUST(file_commit(&writer, err));
    report_free(TAKE(unfinished), false);
    return CLV_OK;
}

void clv_report_abandon(struct clv_report *report)
{
    if (report)
        report_free(report, true);
}
