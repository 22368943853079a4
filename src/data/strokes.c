/* Reads from the files in strokes/ whether a mask was accepted in the labelling page or is a draft. Start at
 * set_mark_drafts. */
#include "data/data.h"

#include <string.h>

#include "base/base.h"

#define ACCEPTED_WITHIN 200 /* bytes at the beginning of a file of strokes that contain its state */

bool strokes_read_state(bool *accepted, bool *empty, bool *undone, const char *path)
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
    OWNED_ARRAY char *masks = set_path(set, "masks/");
    OWNED_ARRAY char *strokes = set_path(set, "strokes");
    NEED(masks && strokes);
    bool has_strokes = path_is_folder(strokes);
    for (size_t i = 0; i < set->n_items && has_strokes; i++) {
        struct clv_item *item = &set->items[i];
        if (!item->mask || strncmp(item->mask, masks, strlen(masks)) != 0)
            continue;
        OWNED_ARRAY char *stem = path_replace_extension(item->mask + strlen(masks), ".json");
        NEED(stem);
        OWNED_ARRAY char *path = path_join(strokes, stem);
        NEED(path);
        bool accepted = true, empty, undone;
        item->is_draft = strokes_read_state(&accepted, &empty, &undone, path) && !accepted;
    }
    return CLV_OK;
}
