/* cleave score of sequences in files of pages: of the truth, of the predictions, and frames whose masks were given. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cleave/image.h"
#include "cli/common/common.h"
#include "cli/score/score_set.h"
#include "data/data.h"
#include "sequence/sequence.h"

bool score_is_pages(const char *path)
{
    return path && (text_ends_with(path, ".tif") || text_ends_with(path, ".tiff")) && !path_is_folder(path);
}

enum clv_status score_read_truth(struct clv_set *set, const char *path, struct clv_error *err)
{
    MUST(clv_set_read(set, path, err));
    enum clv_status status = CLV_OK;
    for (size_t i = 0; i < set->n_items && score_is_pages(path) && status == CLV_OK; i++) {
        set->items[i].mask = string_copy(set->items[i].image);
        status = set->items[i].mask ? CLV_OK : fail_memory(err);
    }
    if (status != CLV_OK)
        clv_set_release(set);
    return status;
}

/* A frame of the whole sequence, and which one it is, from 1. */
struct frame_of {
    const char *name;
    uint32_t page;
};

static int compare_frames(const void *a, const void *b)
{
    return strcmp(((const struct frame_of *)a)->name, ((const struct frame_of *)b)->name);
}

/* All frames in the order of their sequence, or those of the split if only these are as many as the pages. */
static enum clv_status read_sequence(struct clv_set *set, const char *file, const char *path, const char *split,
                                     struct clv_error *err)
{
    struct sequence_gaps gaps;
    uint32_t n_pages = 0;
    enum clv_status status = score_read_truth(set, path, err);
    TRY(sequences_sort(&gaps, set, err));
    TRY(clv_image_count(&n_pages, file, err));
    TRY_IF(split && set->n_items != n_pages, clv_set_select(set, split, err));
    for (size_t i = 1; i < set->n_items && status == CLV_OK; i++) {
        const char *one = set->items[0].sequence, *other = set->items[i].sequence;
        TRY_IF(strcmp(one ? one : "", other ? other : "") != 0 && !sequences_are_of_one_file(set->items, set->n_items),
               fail(err, CLV_ERR_DATA, "%s: its pages are those of one sequence, %s has several: %s and %s", file, path,
                    one ? one : "", other ? other : ""));
    }
    TRY_IF(set->n_items != n_pages,
           fail(err, CLV_ERR_DATA, "%s: has %u page%s, the sequence in %s has %zu frame%s", file, n_pages,
                n_pages == 1 ? "" : "s", path, set->n_items, set->n_items == 1 ? "" : "s"));
    return status;
}

enum clv_status score_find_pages(uint32_t **pages, const char *file, const char *path, const char *split,
                                 const struct input_list *inputs, struct clv_error *err)
{
    struct clv_set set = {0};
    enum clv_status status = read_sequence(&set, file, path, split, err);
    struct frame_of *frames = array_alloc(set.n_items, sizeof *frames);
    uint32_t *found = array_alloc(inputs->n, sizeof *found);
    TRY_IF(!frames || !found, fail_memory(err));
    for (size_t i = 0; i < set.n_items && status == CLV_OK; i++)
        frames[i] = (struct frame_of){set.items[i].name, (uint32_t)i + 1};
    if (status == CLV_OK)
        qsort(frames, set.n_items, sizeof *frames, compare_frames);
    for (size_t i = 0; i < inputs->n && status == CLV_OK; i++) { /* each is one of them */
        const struct frame_of wanted = {.name = inputs->items[i].name};
        const struct frame_of *frame = bsearch(&wanted, frames, set.n_items, sizeof *frames, compare_frames);
        found[i] = frame ? frame->page : 1;
    }
    DELIVER(pages, found, array_free(found));
    array_free(frames);
    clv_set_release(&set);
    return status;
}

/* The names, as path_output has them, of what has a mask in the set at `path`. */
static enum clv_status list_masked(struct path_list *names, const char *path, struct clv_error *err)
{
    struct clv_set set = {0};
    enum clv_status status = clv_set_read(&set, path, err);
    size_t common = set_common_folder(&set);
    for (size_t i = 0; i < set.n_items && status == CLV_OK; i++) {
        char *name = set.items[i].mask ? path_output(set.items[i].name + common, false) : NULL;
        TRY_IF(set.items[i].mask, name ? path_list_add(names, name, err) : fail_memory(err));
        array_free(name);
    }
    TRY_IF(!names->n, fail(err, CLV_ERR_DATA, "--exclude: %s has no mask", path));
    clv_set_release(&set);
    return status;
}

/* Those that the note of a run has as given; none without a note. */
static enum clv_status list_noted(struct path_list *names, const char *folder, struct clv_error *err)
{
    char *path = path_join(folder, RUN_NOTE), *note = NULL, *line;
    size_t size;
    enum clv_status status = path ? CLV_OK : fail_memory(err);
    TRY_IF(path && path_exists(path), file_read(&note, &size, path, RUN_NOTE_MAX_SIZE, err));
    for (char *cursor = note; status == CLV_OK && (line = strsep(&cursor, "\n"));)
        if (strncmp(line, RUN_NOTE_GIVEN, strlen(RUN_NOTE_GIVEN)) == 0)
            status = path_list_add(names, line + strlen(RUN_NOTE_GIVEN), err);
    arrays_free(note, path);
    return status;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Whether input `index` is one of the names and, unless the user named them, has no prediction. */
static enum clv_status look_up(bool *is_given, const struct path_list *names, const struct score_task *task,
                               size_t index, bool is_named, struct clv_error *err)
{
    const struct input *input = &task->inputs->items[index];
    char *name = input->file ? path_output(input->file, false) : string_copy(input->output), *path = NULL;
    MUST_IF(!name, fail_memory(err));
    *is_given = bsearch(&name, names->paths, names->n, sizeof name, compare_names) != NULL;
    array_free(name);
    if (!*is_given || is_named)
        return CLV_OK;
    path = score_prediction_path(task, index);
    MUST_IF(!path, fail_memory(err));
    *is_given = !path_exists(path);
    array_free(path);
    return CLV_OK;
}

enum clv_status score_drop_given(struct clv_set *set, struct input_list *inputs, const struct score_task *task,
                                 const char *given, struct clv_error *err)
{
    struct path_list names = {0};
    size_t kept = 0, n = inputs->n;
    char first[PATH_MAX] = "";
    bool is_pages = score_is_pages(task->folder), is_given = false;
    enum clv_status status = given       ? list_masked(&names, given, err)
                             : !is_pages ? list_noted(&names, task->folder, err)
                                         : CLV_OK;
    if (status == CLV_OK && names.n)
        qsort(names.paths, names.n, sizeof *names.paths, compare_names);
    bool *drops = array_zalloc(n, sizeof *drops);
    TRY_IF(!drops, fail_memory(err));
    for (size_t i = 0; i < n && names.n && status == CLV_OK; i++) {
        status = look_up(&is_given, &names, task, i, given != NULL, err);
        drops[i] = is_given;
    }
    for (size_t i = 0; i < n && status == CLV_OK; i++) {
        if (!drops[i]) {
            set->items[kept] = set->items[i];
            inputs->items[kept++] = inputs->items[i];
            continue;
        }
        if (!*first)
            snprintf(first, sizeof first, "%s", inputs->items[i].name);
        item_release(&set->items[i]);
        input_release(&inputs->items[i]);
    }
    path_list_release(&names);
    array_free(drops);
    if (status != CLV_OK)
        return status;
    inputs->n = set->n_items = kept;
    if (kept == n)
        return CLV_OK;
    FAIL_IF(!kept, CLV_ERR_DATA,
            "%s: no mask of the truth is left to score by: `cleave propagate' was given all of them", task->folder);
    FAIL_IF(task->keeps_counts, CLV_ERR_USAGE,
            "--shard: frames whose masks were given are skipped, the first is %s; score this sequence without --shard",
            first);
    console_note("%s: skipped %zu of %zu frames, as their masks were given; the first is %s", task->folder, n - kept, n,
                 first);
    return CLV_OK;
}

void score_note_equal_pages(const struct set_score *score, const char *file)
{
    size_t n = 0, first = 0;
    for (size_t i = 0; i < score->inputs->n; i++) {
        const struct clv_image_score *pixel = &score->images[i].pixel;
        if (pixel->hamming == 0 && pixel->mean_iou == 1 && !n++) /* NaN where there is no figure */
            first = i;
    }
    if (n)
        console_note("%s: %zu of %zu pages are the truth to the pixel, the first is that of %s; if these masks were "
                     "given, --exclude SET skips them, where SET is what was segmented",
                     file, n, score->inputs->n, score->inputs->items[first].name);
}
