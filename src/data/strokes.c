#include "data/data.h"

#include <string.h>

#include "base/base.h"

#define ACCEPTED_WITHIN 200 /* bytes of a file of strokes */

bool strokes_look(bool *accepted, bool *empty, bool *undone, const char *path)
{
    char *head = NULL;
    size_t size = 0;
    if (file_read_head(&head, &size, path, ACCEPTED_WITHIN, NULL) != CLV_OK)
        return false;
    *accepted = strstr(head, "\"accepted\": 1") != NULL;
    *empty = strstr(head, "\"empty\": 1") != NULL;
    *undone = strstr(head, "\"cursor\": 0,") != NULL;
    array_free(head);
    return true;
}

enum clv_status set_mark_drafts(struct clv_set *set, struct clv_error *err)
{
    char *masks = set_path(set, "masks/"), *strokes = set_path(set, "strokes");
    enum clv_status status = masks && strokes ? CLV_OK : fail_memory(err);
    bool has_strokes = status == CLV_OK && path_is_folder(strokes);
    for (size_t i = 0; i < set->n_items && has_strokes && status == CLV_OK; i++) {
        struct clv_item *item = &set->items[i];
        if (!item->mask || strncmp(item->mask, masks, strlen(masks)) != 0)
            continue;
        char *stem = path_replace_extension(item->mask + strlen(masks), ".json");
        char *path = stem ? path_join(strokes, stem) : NULL;
        bool accepted = true, empty, undone;
        if (!path)
            status = fail_memory(err);
        else
            item->is_draft = strokes_look(&accepted, &empty, &undone, path) && !accepted;
        arrays_free(path, stem);
    }
    arrays_free(masks, strokes);
    return status;
}
