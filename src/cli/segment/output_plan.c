/* Plans, before any work, which files a segment run writes: names every output, reports inputs whose outputs would
 * collide, protects the inputs, applies --overwrite and --resume, and locks the output folders. Start at
 * segment_plan. */
#include "cli/segment/segment.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "image/raster/raster.h"

#define PROBLEM_MAX_SIZE ((size_t)1 << 17)

static void output_release(struct output *output)
{
    array_free(output->mask);
    for (int k = 0; k < N_OUTPUTS; k++)
        array_free(output->beside[k]);
    array_free(output->problem);
}

void output_list_release(struct output_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        output_release(&list->items[i]);
    array_free(list->items);
    *list = (struct output_list){0};
}

/* NULL when out of memory. */
static char *output_path(const char *folder, struct output_place place, const char *output)
{
    size_t size = strlen(folder) + strlen(place.below) + strlen(output) + strlen(place.ending) + 2;
    char *path = array_alloc(size, 1);
    bool has_slash = *folder && folder[strlen(folder) - 1] == '/';
    if (path)
        snprintf(path, size, "%s%s%s%s%s", folder, has_slash ? "" : "/", place.below, output, place.ending);
    return path;
}

/* Judges by the name, because planning opens no image and reads only the headers of TIFFs. */
static bool is_jpeg(const char *image)
{
    return image && (text_ends_with(image, ".jpg") || text_ends_with(image, ".jpeg"));
}

/* Masks of images that lie somewhere on Earth do, too. */
static bool has_place(const char *image)
{
    struct raster_place place = {0};
    if (image)
        raster_find_place(&place, image);
    bool is_placed = raster_has_place(&place);
    raster_place_release(&place);
    return is_placed;
}

static enum clv_status make_paths(struct output_list *list, const struct input_list *inputs, const struct segment *self,
                                  const char *ending, const struct output_place *places, struct clv_error *err)
{
    const char *folder = self->output;
    struct output_place mask_place = {"", ending};
    list->items = array_zalloc(inputs->n, sizeof *list->items);
    NEED(list->items);
    list->n = inputs->n;
    for (size_t i = 0; i < inputs->n; i++) {
        struct output *output = &list->items[i];
        const char *name = inputs->items[i].output;
        output->is_tiled = inputs->items[i].is_tiled;
        if (!ending)
            mask_place.ending = inputs->items[i].is_tiled || has_place(inputs->items[i].image) ? ".tif" : ".png";
        output->mask = strcmp(folder, "-") == 0 ? string_copy("-")
                       : self->is_stack         ? string_copy(self->file)
                                                : output_path(folder, mask_place, name);
        NEED(output->mask);
        for (int k = 0; k < N_OUTPUTS; k++)
            if (places[k].below) {
                struct output_place place = places[k];
                if (k == OUTPUT_OVERLAY && is_jpeg(inputs->items[i].image))
                    place.ending = ".jpg";
                NEED(output->beside[k] = output_path(folder, place, name));
            }
    }
    return CLV_OK;
}

/* Problems of single inputs. */

static enum clv_status add_problem(struct output_list *list, const struct input_list *inputs, size_t input,
                                   struct text *message, struct clv_error *err)
{
    struct output *output = &list->items[input];
    char *problem = message->failed ? NULL : string_copy(message->bytes);
    text_release(message);
    NEED(problem);
    list->n_problems += !output->problem;
    array_free(output->problem);
    output->problem = problem;
    output->problem_path_length = strlen(inputs->items[input].name);
    return CLV_OK;
}

enum clv_status output_fail(const struct output *self, struct clv_error *err)
{
    return fail_told(err, CLV_ERR_CREATE, self->problem, self->problem_path_length, NULL);
}

static enum clv_status find_long_names(struct output_list *list, const struct input_list *inputs, struct clv_error *err)
{
    for (size_t i = 0; i < list->n; i++) {
        size_t length = strlen(path_name(list->items[i].mask));
        if (length <= NAME_MAX)
            continue;
        struct text message;
        text_init(&message, PROBLEM_MAX_SIZE);
        text_printf(&message, "%s: the name of its output would have %zu bytes, %d at most can be written",
                    inputs->items[i].name, length, NAME_MAX);
        MUST(add_problem(list, inputs, i, &message, err));
    }
    return CLV_OK;
}

/* paths[first .. end) are one: each of their inputs gets a message that names another one. */
static enum clv_status add_clash(struct output_list *list, const struct input_list *inputs, const struct path_of *paths,
                                 size_t first, size_t end, struct clv_error *err)
{
    for (size_t i = first; i < end; i++) {
        const struct path_of *other = &paths[i == first ? first + 1 : first];
        struct text message;
        text_init(&message, PROBLEM_MAX_SIZE);
        text_printf(&message, "%s: its output %s would be that of %s, too", inputs->items[paths[i].input].name,
                    paths[i].path, inputs->items[other->input].name);
        MUST(add_problem(list, inputs, paths[i].input, &message, err));
    }
    return CLV_OK;
}

static enum clv_status find_clashes(struct output_list *list, const struct input_list *inputs, bool is_stack,
                                    struct clv_error *err)
{
    OWNED_ARRAY struct path_of *paths = array_alloc(list->n, (1 + N_OUTPUTS) * sizeof *paths);
    NEED(paths);
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (!i || !is_stack)
            paths[n++] = (struct path_of){list->items[i].mask, i};
        for (int k = 0; k < N_OUTPUTS; k++)
            if (list->items[i].beside[k])
                paths[n++] = (struct path_of){list->items[i].beside[k], i};
    }
    if (n)
        qsort(paths, n, sizeof *paths, path_of_compare);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && strcmp(paths[end].path, paths[first].path) == 0;)
            end++;
        if (end - first > 1)
            MUST(add_clash(list, inputs, paths, first, end, err));
    }
    return CLV_OK;
}

/* A folder on disk. */
struct place {
    dev_t device;
    ino_t inode;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *first = a, *second = b;
    if (first->device != second->device)
        return first->device < second->device ? -1 : 1;
    return (first->inode > second->inode) - (first->inode < second->inode);
}

/* The folder that a file is in; *there is false where that is not known. */
static enum clv_status find_place(struct place *place, bool *there, const char *path, struct clv_error *err)
{
    struct stat info;
    OWNED_ARRAY char *folder = path_folder(path);
    NEED(folder);
    *there = stat(folder, &info) == 0;
    if (*there)
        *place = (struct place){info.st_dev, info.st_ino};
    return CLV_OK;
}

/* Masks among images would be images the next time. */
static enum clv_status check_folders(const struct output_list *list, const struct input_list *inputs,
                                     struct clv_error *err)
{
    size_t n = 0;
    bool there = false;
    OWNED_ARRAY struct place *places = array_alloc(inputs->n, sizeof *places);
    NEED(places);
    for (size_t i = 0; i < inputs->n; i++) {
        if (!inputs->items[i].image || inputs->items[i].bytes)
            continue;
        MUST(find_place(&places[n], &there, inputs->items[i].image, err));
        if (there && (!n || compare_places(&places[n - 1], &places[n]) != 0))
            n++;
    }
    if (n)
        qsort(places, n, sizeof *places, compare_places);
    bool is_piped = list->n && strcmp(list->items[0].mask, "-") == 0;
    for (size_t i = 0; i < list->n && n && !is_piped; i++) {
        const char *mask = list->items[i].mask;
        struct place own = {0};
        MUST(find_place(&own, &there, mask, err));
        FAIL_IF(there && bsearch(&own, places, n, sizeof own, compare_places), CLV_ERR_USAGE,
                "%s: the output folder is the input folder; choose another, such as -o out", mask);
    }
    return CLV_OK;
}

static void cut_to_shard(struct output_list *list, const struct shard *shard)
{
    size_t first, n, kept = 0;
    shard_block(&first, &n, shard, list->n);
    list->n_problems = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (i < first || i - first >= n) {
            output_release(&list->items[i]);
            continue;
        }
        list->n_problems += list->items[i].problem != NULL;
        list->items[kept++] = list->items[i];
    }
    list->n = kept;
}

/* The rule for outputs (cli/common/outputs.c). */

static enum clv_status add_outputs(struct outputs *outputs, const struct output_list *list, struct clv_error *err)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i].problem)
            continue;
        MUST(outputs_add(outputs, list->items[i].mask, err));
        for (int k = 0; k < N_OUTPUTS; k++)
            if (list->items[i].beside[k])
                MUST(outputs_add(outputs, list->items[i].beside[k], err));
    }
    outputs_sort(outputs);
    return CLV_OK;
}

static enum clv_status spare_inputs(const struct outputs *outputs, const struct input_list *inputs,
                                    struct clv_error *err)
{
    for (size_t i = 0; i < inputs->n; i++) {
        MUST(outputs_spare(outputs, inputs->items[i].image, err));
        MUST(outputs_spare(outputs, inputs->items[i].mask, err));
    }
    return CLV_OK;
}

static enum clv_status check_there(bool *there, const char *path, struct clv_error *err)
{
    enum path_kind kind = PATH_ABSENT;
    MUST(path_look(&kind, path, err));
    *there = kind != PATH_ABSENT;
    return CLV_OK;
}

/* More than 16 bits of objects are in a TIFF. */
static enum clv_status check_tiff(bool *there, const char *path, struct clv_error *err)
{
    OWNED_ARRAY char *tiff = path_replace_extension(path, ".tif");
    NEED(tiff);
    return check_there(there, tiff, err);
}

/* A file of pages that is there is not another run's. */
static enum clv_status check_pages(const char *path, size_t n, struct clv_error *err)
{
    uint32_t n_pages = 0;
    enum path_kind kind = PATH_ABSENT;
    MUST(path_look(&kind, path, err));
    if (kind == PATH_ABSENT)
        return CLV_OK;
    MUST(clv_image_count(&n_pages, path, err));
    return n_pages >= n ? CLV_OK
                        : fail(err, CLV_ERR_CREATE,
                               "%s: has %u page%s, and %zu are to be written: another run's? --overwrite replaces it",
                               path, n_pages, n_pages == 1 ? "" : "s", n);
}

/* Tiles of a run that was interrupted lie next to the mask that they were to become. */
static enum clv_status check_tiles(bool *there, const char *mask, enum existing existing, struct clv_error *err)
{
    OWNED_ARRAY char *tiles = raster_work_tiles(mask);
    NEED(tiles);
    MUST(check_there(there, tiles, err));
    FAIL_IF(*there && existing == EXISTING_REFUSE, CLV_ERR_CREATE,
            "%s: has tiles of a run that did not end; --resume goes on from them, --overwrite starts again", tiles);
    return CLV_OK;
}

enum clv_status segment_check_existing(struct output_list *list, const struct segment *self, struct clv_error *err)
{
    enum existing existing = self->existing;
    bool may_replace = existing != EXISTING_REFUSE;
    list->n_finished = 0;
    for (size_t i = 0; i < list->n; i++) {
        struct output *output = &list->items[i];
        bool there = existing == EXISTING_RESUME && !output->problem, has_tiles = false;
        output->has_mask = false;
        if (output->is_tiled && !output->problem)
            MUST(check_tiles(&has_tiles, output->mask, existing, err));
        there &= !has_tiles;
        for (int k = -1; k < N_OUTPUTS && !output->problem; k++) {
            const char *path = k < 0 ? output->mask : output->beside[k];
            if (!path)
                continue;
            FAIL_IF(path_is_folder(path), CLV_ERR_CREATE, "%s: is a folder", path);
            MUST(output_check_existing(path, may_replace, ", --resume does the rest", err));
            if (there)
                MUST(check_there(&there, path, err));
            if (!there && k == OUTPUT_OBJECTS && existing == EXISTING_RESUME)
                MUST(check_tiff(&there, path, err));
        }
        output->finished = there;
        if (existing == EXISTING_RESUME && !there && !output->problem)
            MUST(check_there(&output->has_mask, output->mask, err));
        list->n_finished += output->finished;
    }
    return CLV_OK;
}

/* self->output/<output><ending> (ending NULL: .tif of images with a place, else .png), of pages of one file that, and
 * what is wanted at places[N_OUTPUTS]; standard output if the folder is "-". Inputs whose output's name is too long for
 * a file, or would be another input's output, too, get a problem. Errors, before anything is written: CLV_ERR_USAGE if
 * a mask would be in a folder of the inputs, where it would be an image the next time (but not one that -o names);
 * folder is a file, an output exists (EXISTING_REFUSE), or is one of the inputs or their masks; CLV_ERR_CREATE each.
 * Adds the outputs to those of the run. Of a shard the list has its block only, which others of the inputs are still
 * compared with. */
static enum clv_status output_plan(struct output_list *list, struct segment *self, const struct input_list *inputs,
                                   const char *ending, const struct output_place *places, struct clv_error *err)
{
    OWNED(output_list_release) struct output_list result = {0};
    enum path_kind kind;
    *list = (struct output_list){0};
    MUST(path_look(&kind, self->output, err));
    FAIL_IF(kind == PATH_FILE, CLV_ERR_CREATE, "%s: is not a folder", self->output);
    MUST(make_paths(&result, inputs, self, ending, places, err));
    MUST(find_clashes(&result, inputs, self->is_stack, err));
    MUST(find_long_names(&result, inputs, err));
    if (!self->file)
        MUST(check_folders(&result, inputs, err));
    cut_to_shard(&result, &self->shard);
    MUST(add_outputs(&self->common.outputs, &result, err));
    MUST(spare_inputs(&self->common.outputs, inputs, err));
    if (self->is_stack && self->existing == EXISTING_RESUME)
        MUST(check_pages(self->file, result.n, err));
    MUST(segment_check_existing(&result, self, err));
    *list = TAKE(result);
    return CLV_OK;
}

/* Claims what a run is going to write: it may, and no other run writes there. */

/* Whether a run with --resume replaces a file of its own: pages of reports and tables begin as this program begins
 * them. */
static bool begins_with(const char *path, const char *const *beginnings, size_t n)
{
    char *bytes;
    size_t size;
    struct clv_error ignored;
    bool found = false;
    if (file_read_head(&bytes, &size, path, 1024, &ignored) != CLV_OK)
        return false;
    for (size_t i = 0; i < n; i++)
        found |= strstr(bytes, beginnings[i]) != NULL;
    found |= size == 0; /* the table of a shard without images */
    array_free(bytes);
    return found;
}

/* The one file of a form of --export. */
static enum clv_status claim_export(struct segment *self, enum export_form form, const char *const *inputs, size_t n,
                                    struct clv_error *err)
{
    OWNED_ARRAY char *path = NULL;
    enum path_kind kind = PATH_ABSENT;
    MUST(exporting_path(&path, self, form, err));
    if (path)
        MUST(path_look(&kind, path, err));
    bool may_replace = self->existing == EXISTING_OVERWRITE ||
                       (self->existing == EXISTING_RESUME && kind == PATH_FILE && exporting_is_own(path, form));
    if (kind != PATH_ABSENT)
        MUST(outputs_claim(&self->common.outputs, path, may_replace, ", --resume does the rest", inputs, n, err));
    return CLV_OK;
}

/* The files next to masks and overlays, and all inputs that options name: the rule of cli/common/outputs.c. */
static enum clv_status claim_files(struct segment *self, const char *page, struct clv_error *err)
{
    static const char *const table_head[] = {STATUS_HEAD, "\tdone\t", "\tfailed\t", "\tfinished before\t"};
    static const char *const page_head[] = {REPORT_TITLE, MARGINALS_TITLE};
    size_t n_heads =
        self->shard.number > 1 ? sizeof table_head / sizeof *table_head : 1; /* a later shard has no head */
    const char *const inputs[] = {self->model_path, self->features,
                                  self->data && path_is_folder(self->data) ? NULL : self->data, self->boxes};
    size_t n = sizeof inputs / sizeof *inputs;
    bool overwrite = self->existing == EXISTING_OVERWRITE, resume = self->existing == EXISTING_RESUME;
    struct outputs *outputs = &self->common.outputs;
    if (self->status_file)
        MUST(outputs_claim(outputs, self->status_file,
                           overwrite || (resume && begins_with(self->status_file, table_head, n_heads)), "", inputs, n,
                           err));
    enum path_kind kind = PATH_ABSENT; /* a folder that is still to be made is empty */
    if (page)
        MUST(path_look(&kind, page, err));
    if (kind != PATH_ABSENT)
        MUST(
            outputs_claim(outputs, page, overwrite || (resume && begins_with(page, page_head, 2)), "", inputs, n, err));
    OWNED_ARRAY char *table = NULL;
    if (self->objects)
        MUST(object_table_path(&table, self, err));
    kind = PATH_ABSENT;
    if (table)
        MUST(path_look(&kind, table, err));
    if (kind != PATH_ABSENT)
        MUST(outputs_claim(outputs, table, overwrite || resume, ", --resume does the rest", inputs, n, err));
    if (!self->export.forms)
        return CLV_OK;
    MUST(claim_export(self, EXPORT_COCO, inputs, n, err));
    return claim_export(self, EXPORT_VOC, inputs, n, err);
}

enum clv_status segment_claim(struct segment *self, struct clv_error *err)
{
    OWNED_ARRAY char *page = self->report ? path_join(self->report, "index.html") : NULL;
    OWNED_ARRAY char *picture = self->report ? path_join(self->report, "index-pictures/000101-1.jpg") : NULL;
    NEED(!self->report || (page && picture));
    MUST(claim_files(self, page, err));
    if (picture) /* of the images of a large report the first stands for all */
        MUST(output_check_existing(picture, self->existing != EXISTING_REFUSE, "", err));
    return CLV_OK;
}

enum clv_status segment_plan(struct output_list *outputs, struct segment *self, const struct input_list *inputs,
                             struct clv_error *err)
{
    const char *const named[] = {self->model_path, self->features,
                                 self->data && path_is_folder(self->data) ? NULL : self->data, self->boxes};
    struct outputs *all = &self->common.outputs;
    struct output_place places[N_OUTPUTS] = {{NULL, NULL}};
    if (self->overlay)
        places[OUTPUT_OVERLAY] = (struct output_place){"overlays/", ".png"};
    if (self->cutout && !segment_is_piped(self))
        places[OUTPUT_CUTOUT] = (struct output_place){"cutouts/", ".png"};
    if (self->objects)
        places[OUTPUT_OBJECTS] = (struct output_place){"objects/", ".png"};
    if (self->export.forms)
        exporting_places(places, self->export.forms, self->objects || self->boxes);
    const char *ending = self->all_labels || self->margins ? ".npy" : self->marginals ? ".png" : NULL;
    if (self->file)
        ending = text_ends_with(self->file, ".tif") ? ".tif" : ".png";
    MUST(output_plan(outputs, self, inputs, ending, places, err));
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        MUST(outputs_spare(all, named[i], err));
    for (size_t i = 0; i < self->common.paths.n; i++)
        MUST(outputs_spare(all, self->common.paths.paths[i], err));
    for (size_t m = 0; m < self->maps.n; m++)
        MUST(outputs_spare(all, self->maps.folders[m].folder, err));
    if (!outputs->n_problems)
        return CLV_OK;
    bool ends = self->fail_fast || outputs->n_problems == outputs->n;
    const struct output *last = NULL;
    for (size_t i = 0; i < outputs->n; i++) {
        if (!outputs->items[i].problem)
            continue;
        if (last)
            console_error("%s", last->problem);
        last = &outputs->items[i];
    }
    if (ends)
        return output_fail(last, err);
    console_error("%s", last->problem);
    return CLV_OK;
}

enum clv_status segment_lock(struct segment *self, struct clv_error *err)
{
    struct output_locks *locks = &self->common.outputs.locks;
    if (!segment_is_piped(self) && !self->file)
        MUST(output_locks_folder(locks, self->output, &self->shard, err));
    if (self->report)
        MUST(output_locks_folder(locks, self->report, NULL, err));
    return CLV_OK;
}
