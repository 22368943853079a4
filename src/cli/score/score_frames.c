/* Prepares sequences for scoring: finds the page of each frame in a TIFF of predictions, and skips frames whose masks
 * were given to the run. Start at score_find_pages and score_drop_given. */
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
    OWNED(clv_set_release) struct clv_set result = {0};
    MUST(clv_set_read(&result, path, err));
    for (size_t i = 0; i < result.n_items && score_is_pages(path); i++)
        NEED(result.items[i].mask = string_copy(result.items[i].image));
    *set = TAKE(result);
    return CLV_OK;
}

/* A frame of the sequence and its page, from 1. */
struct frame_of {
    const char *name;
    uint32_t page;
};

static int compare_frames(const void *a, const void *b)
{
    return strcmp(((const struct frame_of *)a)->name, ((const struct frame_of *)b)->name);
}

/* Reads all frames in the order of their sequence or, if their number is not that of the pages, only those of the
 * split. */
static enum clv_status read_sequence(struct clv_set *set, const char *file, const char *path, const char *split,
                                     struct clv_error *err)
{
    struct sequence_gaps gaps;
    uint32_t n_pages = 0;
    MUST(score_read_truth(set, path, err));
    MUST(sequences_sort(&gaps, set, err));
    MUST(clv_image_count(&n_pages, file, err));
    if (split && set->n_items != n_pages)
        MUST(clv_set_select(set, split, err));
    for (size_t i = 1; i < set->n_items; i++) {
        const char *one = set->items[0].sequence, *other = set->items[i].sequence;
        FAIL_IF(strcmp(one ? one : "", other ? other : "") != 0 && !sequences_are_of_one_file(set->items, set->n_items),
                CLV_ERR_DATA, "%s: its pages are those of one sequence, %s has several: %s and %s", file, path,
                one ? one : "", other ? other : "");
    }
    FAIL_IF(set->n_items != n_pages, CLV_ERR_DATA, "%s: has %s, the sequence in %s has %s", file,
            n_of(n_pages, "page", "pages").text, path, n_of(set->n_items, "frame", "frames").text);
    return CLV_OK;
}

enum clv_status score_find_pages(uint32_t **pages, const char *file, const char *path, const char *split,
                                 const struct input_list *inputs, struct clv_error *err)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    MUST(read_sequence(&set, file, path, split, err));
    OWNED_ARRAY struct frame_of *frames = array_alloc(set.n_items, sizeof *frames);
    OWNED_ARRAY uint32_t *found = array_alloc(inputs->n, sizeof *found);
    NEED(frames && found);
    for (size_t i = 0; i < set.n_items; i++)
        frames[i] = (struct frame_of){set.items[i].name, (uint32_t)i + 1};
    qsort(frames, set.n_items, sizeof *frames, compare_frames);
    for (size_t i = 0; i < inputs->n; i++) { /* each is in `frames` */
        const struct frame_of wanted = {.name = inputs->items[i].name};
        const struct frame_of *frame = bsearch(&wanted, frames, set.n_items, sizeof *frames, compare_frames);
        found[i] = frame ? frame->page : 1;
    }
    *pages = TAKE(found);
    return CLV_OK;
}

/* Lists the images of the dataset at `path` that have a mask, by the names of their outputs (path_output). */
static enum clv_status list_masked(struct path_list *names, const char *path, struct clv_error *err)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    MUST(clv_set_read(&set, path, err));
    size_t common = set_common_folder(&set);
    for (size_t i = 0; i < set.n_items; i++) {
        OWNED_ARRAY char *name = set.items[i].mask ? path_output(set.items[i].name + common, false) : NULL;
        if (set.items[i].mask) {
            NEED(name);
            MUST(path_list_add(names, name, err));
        }
    }
    FAIL_IF(!names->n, CLV_ERR_DATA, "--exclude: %s has no mask", path);
    return CLV_OK;
}

/* Lists the frames whose masks were given, from the run's note; none without a note. */
static enum clv_status list_noted(struct path_list *names, const char *folder, struct clv_error *err)
{
    OWNED_ARRAY char *path = path_join(folder, RUN_NOTE), *note = NULL;
    char *line;
    size_t size;
    NEED(path);
    if (path_exists(path))
        MUST(file_read(&note, &size, path, RUN_NOTE_MAX_SIZE, err));
    for (char *cursor = note; (line = strsep(&cursor, "\n"));)
        if (strncmp(line, RUN_NOTE_GIVEN, strlen(RUN_NOTE_GIVEN)) == 0)
            MUST(path_list_add(names, line + strlen(RUN_NOTE_GIVEN), err));
    return CLV_OK;
}

/* Sets *is_given if the output of input `index` is among the names. Names from the run's note count only if the input
 * has no prediction; names from the user (is_named) always count. */
static enum clv_status look_up(bool *is_given, const struct path_list *names, const struct score_task *task,
                               size_t index, bool is_named, struct clv_error *err)
{
    const struct input *input = &task->inputs->items[index];
    OWNED_ARRAY char *name = input->file ? path_output(input->file, false) : string_copy(input->output);
    NEED(name);
    *is_given = bsearch(&name, names->paths, names->n, sizeof name, compare_strings) != NULL;
    if (!*is_given || is_named)
        return CLV_OK;
    OWNED_ARRAY char *path = score_prediction_path(task, index);
    NEED(path);
    *is_given = !path_exists(path);
    return CLV_OK;
}

enum clv_status score_drop_given(struct clv_set *set, struct input_list *inputs, const struct score_task *task,
                                 const char *given, struct clv_error *err)
{
    OWNED(path_list_release) struct path_list names = {0};
    size_t kept = 0, n = inputs->n;
    char first[PATH_MAX] = "";
    if (given)
        MUST(list_masked(&names, given, err));
    else if (!score_is_pages(task->folder))
        MUST(list_noted(&names, task->folder, err));
    if (names.n)
        qsort(names.paths, names.n, sizeof *names.paths, compare_strings);
    OWNED_ARRAY bool *drops = array_zalloc(n, sizeof *drops);
    NEED(drops);
    for (size_t i = 0; i < n && names.n; i++)
        MUST(look_up(&drops[i], &names, task, i, given != NULL, err));
    for (size_t i = 0; i < n; i++) {
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
        if (pixel->hamming == 0 && pixel->mean_iou == 1 && !n++) /* both are NaN if no pixel counts */
            first = i;
    }
    if (n)
        console_note("%s: %zu of %zu pages are the truth to the pixel, the first is that of %s; if these masks were "
                     "given, --exclude SET skips them, where SET is what was segmented",
                     file, n, score->inputs->n, score->inputs->items[first].name);
}
