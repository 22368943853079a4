#include "image/image.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cleave/image.h"

enum clv_status path_list_add_pages(struct path_list *list, const char *folder, const char *path, struct clv_error *err)
{
    uint32_t n_pages = 1;
    struct clv_error ignored;
    enum clv_status status = CLV_OK;
    char *full = path_join(folder, path);
    size_t size = strlen(path) + 8;
    char *page = array_alloc(size, 1);
    if (!full || !page)
        status = fail_memory(err);
    else if ((!text_ends_with(path, ".tif") && !text_ends_with(path, ".tiff")) ||
             clv_image_count(&n_pages, full, &ignored) != CLV_OK)
        n_pages = 1; /* what cannot be opened is reported under its own name */
    TRY_IF(n_pages == 1, path_list_add(list, path, err));
    for (uint32_t k = 1; status == CLV_OK && n_pages > 1 && k <= n_pages; k++) {
        snprintf(page, size, "%s#%u", path, k);
        status = path_list_add(list, page, err);
    }
    arrays_free(page, full);
    return status;
}
