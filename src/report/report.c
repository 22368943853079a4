/* Writes one HTML page. Items go to an unnamed temporary file in the report's folder as they come, because the totals
 * and the histogram above them are known last. Finishing joins head, items and tail. The images of the first items are
 * in the page, those of later ones in files next to it. Start at clv_report_add. */
#include "report/report.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "image/image.h"

struct clv_report {
    char *folder, *path;
    bool made_folder;
    FILE *items; /* temporary */
    bool broken; /* the temporary file ends within an item */
    struct page_header header;
    struct page_totals totals;
};

static void report_free(struct clv_report *report, bool remove_folder)
{
    if (report->items)
        fclose(report->items);
    if (remove_folder && report->made_folder)
        rmdir(report->folder);
    for (size_t i = 0; report->header.facts && i < 2 * report->header.n_facts; i++)
        array_free(report->header.facts[i]);
    arrays_free(report->header.facts, report->header.title, report->header.names, report->header.palette,
                report->folder, report->path, report);
}

DROPS(report_drop, struct clv_report, clv_report_abandon)

/* Opens a file without a name. It goes with its last descriptor, even after a crash. */
static enum clv_status open_items(struct clv_report *report, struct clv_error *err)
{
    OWNED_ARRAY char *name = path_join(report->folder, ".items-XXXXXX");
    NEED(name);
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, CLV_ERR_CREATE, "%s: cannot create a file", report->folder);
    unlink(name);
    report->items = fdopen(fd, "w+b");
    if (report->items)
        return CLV_OK;
    close(fd);
    return fail_errno(err, CLV_ERR_OS, "%s: cannot open a stream", report->folder);
}

static enum clv_status copy_header(struct page_header *header, const char *title, const struct clv_labels *labels,
                                   const char *const (*summary)[2], size_t n_summary, struct clv_error *err)
{
    header->title = string_copy(title);
    header->names = array_copy(labels->names, (size_t)labels->n_labels, sizeof *labels->names);
    header->palette = array_copy(labels->palette, 256, sizeof *labels->palette);
    if (header->palette)
        overlay_palette(header->palette, (const uint8_t(*)[3])labels->palette, labels->n_labels);
    header->n_labels = labels->n_labels;
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
    result->folder = string_copy(folder);
    result->path = path_join(folder, "index.html");
    NEED(result->folder && result->path);
    MUST(copy_header(&result->header, title, labels, summary, n_summary, err));
    MUST(path_look(&kind, folder, err));
    MUST(folder_create(folder, err));
    result->made_folder = kind == PATH_ABSENT;
    MUST(open_items(result, err));
    *report = TAKE(result);
    return CLV_OK;
}

/* Checks after an item that all of it was written; else the report is broken. */
static enum clv_status check_items(struct clv_report *report, int result, struct clv_error *err)
{
    if (result == 0 && !fflush(report->items) && !ferror(report->items))
        return CLV_OK;
    report->broken = true;
    return result ? fail_memory(err) : fail_errno(err, CLV_ERR_IO, "%s: cannot write", report->path);
}

static void count_item(struct page_totals *totals, const struct clv_report_item *item)
{
    totals->n_images++;
    totals->n_segmented += item->labels != NULL;
    totals->n_with_truth += item->truth != NULL;
    totals->n_probable += item->probability != NULL;
    totals->n_with_objects += item->objects != NULL;
    for (int32_t k = 0; item->objects && k < item->n_objects; k++)
        totals->areas[ilogb((double)item->objects[k].area * (double)item->objects[k].area)]++; /* half powers of 2 */
    totals->n_objects += item->objects ? (size_t)item->n_objects : 0;
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
    unlink(path); /* what a link there leads to is not the report's */
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
    NEED(folder);
    MUST(folder_create(folder, err));
    for (int layer = 0; layer < N_LAYERS; layer++) {
        if (!images->layer[layer].bytes)
            continue;
        page_image_name(name, number, layer, images->layer[layer].type);
        MUST(write_next_to_page(report, name, images->layer[layer].bytes, images->layer[layer].size, err));
    }
    return CLV_OK;
}

enum clv_status clv_report_add(struct clv_report *report, const struct clv_report_item *item, struct clv_error *err)
{
    OWNED(item_images_release) struct item_images images = {0};
    FAIL_IF(item->image->channels != 3 || item->image->width < 1 || item->image->height < 1, CLV_ERR_USAGE,
            "%s: image of %dx%d pixels and %d channels cannot be reported", item->name, item->image->width,
            item->image->height, item->image->channels);
    enum clv_status status = item_images_make(&images, item, (const uint8_t(*)[3])report->header.palette, err);
    if (status)
        return fail_within(err, status, item->name);
    size_t number = report->totals.n_images + 1;
    MUST(check_items(report, page_write_item(report->items, item, &images, number, number + report->totals.n_failures),
                     err));
    if (number > PAGE_ROWS) {
        status = store_images(report, &images, number, err);
        report->broken |= status != CLV_OK;
        MUST(status);
    }
    count_item(&report->totals, item);
    return CLV_OK;
}

enum clv_status clv_report_add_failure(struct clv_report *report, const char *name, const char *message,
                                       struct clv_error *err)
{
    size_t place = report->totals.n_images + report->totals.n_failures + 1;
    MUST(check_items(report, page_write_failure(report->items, name, message, place), err));
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
