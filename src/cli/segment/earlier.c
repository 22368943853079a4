/* Finds what earlier runs have written of other images, in tables and files of a whole folder, and which of it stays:
 * the rows whose masks still exist (earlier_stays). */
#include "cli/segment/segment.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void earlier_list(struct segment_run *run, const struct work *work)
{
    if (!run->listed)
        return;
    run->listed[run->n_listed++] = work->output->mask;
    run->listed[run->n_listed++] = work->input->name;
}

void earlier_sort(struct segment_run *run)
{
    if (run->n_listed)
        qsort(run->listed, run->n_listed, sizeof *run->listed, compare_strings);
}

static bool is_listed(const struct segment_run *run, const char *string)
{
    return run->n_listed && bsearch(&string, run->listed, run->n_listed, sizeof string, compare_strings);
}

/* Whether the output folder has a mask of that path, *is_own if it is one of this run. */
static enum clv_status look_for_mask(bool *is_there, bool *is_own, const struct segment_run *run, const char *path,
                                     bool is_shared, struct clv_error *err)
{
    static const char *const endings[] = {".png", ".tif"};
    OWNED_ARRAY char *output = path_output(path, is_shared);
    NEED(output);
    OWNED_ARRAY char *stem = path_join(run->options->output, output);
    NEED(stem);
    size_t size = strlen(stem) + sizeof ".png";
    OWNED_ARRAY char *mask = array_alloc(size, 1);
    NEED(mask);
    for (int k = 0; k < 2 && !*is_there; k++) {
        snprintf(mask, size, "%s%s", stem, endings[k]);
        *is_own = is_listed(run, mask);
        *is_there = *is_own || path_exists(mask);
    }
    return CLV_OK;
}

/* Looks for both names of a mask: images of one stem, x.jpg and x.png, have the masks x.jpg.png and x.png.png. */
enum clv_status earlier_stays(bool *stays, const struct segment_run *run, const char *name, struct clv_error *err)
{
    bool is_there = false, is_own = is_listed(run, name);
    for (const char *end = name; end && !is_own && !is_there;) {
        MUST(look_for_mask(&is_there, &is_own, run, end, true, err));
        if (!is_there)
            MUST(look_for_mask(&is_there, &is_own, run, end, false, err));
        end = strchr(end, '/') ? strchr(end, '/') + 1 : NULL;
    }
    *stays = is_there && !is_own;
    return CLV_OK;
}
