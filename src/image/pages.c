/* Lists the pages of a TIFF as paths such as a.tif#2, and reports how its pages were read (stack_note). Start at
 * path_list_add_pages. */
#include "image/image.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cleave/image.h"

enum clv_status path_list_add_pages(struct path_list *list, const char *folder, const char *path, struct clv_error *err)
{
    uint32_t n_pages = 1;
    struct clv_error ignored;
    OWNED_ARRAY char *full = path_join(folder, path);
    size_t size = strlen(path) + 8;
    OWNED_ARRAY char *page = array_alloc(size, 1);
    NEED(full && page);
    if ((!text_ends_with(path, ".tif") && !text_ends_with(path, ".tiff")) ||
        clv_image_count(&n_pages, full, &ignored) != CLV_OK)
        n_pages = 1; /* reading the path itself reports the error */
    if (n_pages == 1)
        MUST(path_list_add(list, path, err));
    for (uint32_t k = 1; n_pages > 1 && k <= n_pages; k++) {
        snprintf(page, size, "%s#%u", path, k);
        MUST(path_list_add(list, page, err));
    }
    return CLV_OK;
}

void stack_note_add(struct stack_note *self, const char *path)
{
    struct stack_axes axes;
    size_t length;
    uint32_t page = 1;
    if (!path)
        return;
    path_page(&length, &page, path);
    const bool is_tiff = (length >= 4 && text_matches_n(path + length - 4, ".tif", 4)) ||
                         (length >= 5 && text_matches_n(path + length - 5, ".tiff", 5));
    if (page != 1 || !is_tiff)
        return;
    image_find_axes(&axes, path);
    if (axes.source != AXES_OF_PAGES && !self->n++) {
        char name[STACK_NAME];
        stack_axes_name(name, sizeof name, &axes);
        int n = snprintf(self->text, 301, "%.*s", (int)(length < 300 ? length : 300), path);
        snprintf(self->text + n, sizeof self->text - (size_t)n, ": read as %s", name);
    }
}

void stack_note_report(const struct stack_note *self, const struct clv_progress *progress)
{
    char others[320] = "";
    if (self->n > 1)
        snprintf(others, sizeof others, " (and %s described in the same way)",
                 n_of(self->n - 1, "more file", "more files").text);
    if (self->n)
        report_message(progress, CLV_NOTE, "%s%s%s", self->text, others,
                       stack_axes_are_chosen() ? "" : "; --axes reads pages otherwise");
}
