/* What a run is going to write: whether it may, and that no other run writes there. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/common/console.h"
#include "cli/segment/exporting.h"

/* What a run with --resume made itself: the page of a report and a table begin as this program begins them. */
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

/* The one file of --export. */
static enum clv_status claim_export(struct segment *self, const char *const *inputs, size_t n, struct clv_error *err)
{
    char *path = NULL;
    enum path_kind kind = PATH_ABSENT;
    enum clv_status status = exporting_path(&path, self, err);
    if (status == CLV_OK && path)
        status = path_look(&kind, path, err);
    bool may_replace = self->existing == EXISTING_OVERWRITE ||
                       (self->existing == EXISTING_RESUME && kind == PATH_FILE && exporting_is_own(path, self));
    if (status == CLV_OK && kind != PATH_ABSENT)
        status = outputs_claim(&self->common.outputs, path, may_replace, ", --resume does the rest", inputs, n, err);
    array_free(path);
    return status;
}

/* The files beside masks and overlays, and all inputs that options name: the rule of cli/common/outputs.h. */
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
    enum clv_status status = CLV_OK;
    if (self->status_file)
        status = outputs_claim(outputs, self->status_file,
                               overwrite || (resume && begins_with(self->status_file, table_head, n_heads)), "", inputs,
                               n, err);
    enum path_kind kind = PATH_ABSENT; /* a folder that is still to be made holds nothing */
    if (status == CLV_OK && page)
        status = path_look(&kind, page, err);
    if (status == CLV_OK && kind != PATH_ABSENT)
        status =
            outputs_claim(outputs, page, overwrite || (resume && begins_with(page, page_head, 2)), "", inputs, n, err);
    return status == CLV_OK ? claim_export(self, inputs, n, err) : status;
}

enum clv_status segment_claim(struct segment *self, struct clv_error *err)
{
    char *page = self->report ? path_join(self->report, "index.html") : NULL;
    char *picture = self->report ? path_join(self->report, "index-pictures/000101-1.jpg") : NULL;
    enum clv_status status = self->report && !(page && picture) ? fail_memory(err) : claim_files(self, page, err);
    if (status == CLV_OK && picture) /* of the pictures of a large report the first stands for all */
        status = output_check_existing(picture, self->existing != EXISTING_REFUSE, "", err);
    array_free(picture);
    array_free(page);
    return status;
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
    exporting_places(places, (enum export_form)self->export.form);
    enum clv_status status = output_plan(outputs, all, inputs, self->output, self->all_labels ? ".npy" : ".png", places,
                                         self->existing, &self->shard, err);
    for (size_t i = 0; i < sizeof named / sizeof *named && status == CLV_OK; i++)
        status = outputs_spare(all, named[i], err);
    for (size_t i = 0; i < self->common.paths.n && status == CLV_OK; i++)
        status = outputs_spare(all, self->common.paths.paths[i], err);
    for (size_t m = 0; m < self->maps.n && status == CLV_OK; m++)
        status = outputs_spare(all, self->maps.folders[m].folder, err);
    if (status != CLV_OK || !outputs->n_problems)
        return status;
    bool ends = self->fail_fast || outputs->n_problems == outputs->n;
    const char *last = NULL;
    for (size_t i = 0; i < outputs->n; i++) {
        if (!outputs->items[i].problem)
            continue;
        if (last)
            console_error("%s", last);
        last = outputs->items[i].problem;
    }
    if (ends)
        return fail(err, CLV_ERR_CREATE, "%s", last);
    console_error("%s", last);
    return CLV_OK;
}

enum clv_status segment_lock(struct segment *self, struct clv_error *err)
{
    struct output_locks *locks = &self->common.outputs.locks;
    enum clv_status status = CLV_OK;
    if (!segment_is_piped(self))
        status = output_locks_folder(locks, self->output, &self->shard, err);
    if (status == CLV_OK && self->report)
        status = output_locks_folder(locks, self->report, NULL, err);
    return status;
}

enum clv_status segment_make_folders(struct segment *self, struct clv_error *err)
{
    enum clv_status status = self->report ? folder_create(self->report, err) : CLV_OK;
    if (status == CLV_OK && !segment_is_piped(self))
        status = folder_create(self->output, err);
    return status == CLV_OK ? segment_lock(self, err) : status;
}
