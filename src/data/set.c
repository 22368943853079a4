/* Items of datasets: adds and releases them, joins their paths, and recognises cleave's own outputs and tables. Start
 * at set_add. */
#include "data/data.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

void item_release(struct clv_item *item)
{
    arrays_free(item->name, item->image, item->mask, item->instances, item->boxes, item->split, item->tags,
                item->sequence);
    for (int m = 0; m < CLV_MAX_MAPS; m++)
        array_free(item->maps[m]);
    *item = (struct clv_item){0};
}

void clv_set_release(struct clv_set *set)
{
    for (size_t i = 0; i < set->n_items; i++)
        item_release(&set->items[i]);
    arrays_free(set->items, set->root, set->first_skipped, set->first_unreadable, set->first_link, set->first_lone_mask,
                set->first_own, set->manifest);
    clv_labels_release(&set->labels);
    *set = (struct clv_set){0};
}

char *set_path(const struct clv_set *set, const char *relative)
{
    return path_join(strcmp(set->root, ".") == 0 ? "" : set->root, relative);
}

bool set_is_own(const char *below)
{
    static const char *const folders[] = {"masks/", "strokes/", "overlays/", "cutouts/", "objects/", "instances/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(below, folders[i], strlen(folders[i])) == 0)
            return true;
    return false;
}

bool set_is_of_run(const char *root, const char *below)
{
    char note[PATH_MAX];
    bool is_of_run = false;
    for (const char *end = strchr(below, '/'); end && !is_of_run; end = strchr(end + 1, '/')) {
        snprintf(note, sizeof note, "%s/%.*s/" RUN_NOTE, root, (int)(end - below), below);
        is_of_run = path_exists(note);
    }
    return is_of_run;
}

bool set_is_table(const char *below)
{
    static const char *const names[] = {"labels.tsv", "boxes.tsv", "manifest.tsv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(below, names[i]) == 0)
            return true;
    return text_ends_with(below, ".cleave") || text_ends_with(below, ".aux.xml"); /* models, GDAL's statistics */
}

enum clv_status set_add(struct clv_set *set, size_t *capacity, const struct item_fields *fields, struct clv_error *err)
{
    const char *mask = fields->mask ? fields->mask : fields->instances;
    OWNED(item_release) struct clv_item item = {
        .name = string_copy(fields->name),
        .image = set_path(set, fields->name),
        .mask = mask ? set_path(set, mask) : NULL,
        .instances = fields->instances ? set_path(set, fields->instances) : NULL,
        .is_derived = !fields->mask && fields->instances,
        .boxes = fields->boxes ? set_path(set, fields->boxes) : NULL,
        .split = string_copy(fields->split),
        .tags = fields->tags ? string_copy(fields->tags) : NULL,
        .sequence = fields->sequence ? string_copy(fields->sequence) : NULL,
    };
    bool has_maps = true;
    for (size_t m = 0; m < set->n_maps; m++)
        if (fields->maps[m])
            has_maps &= (item.maps[m] = set_path(set, fields->maps[m])) != NULL;
    NEED(has_maps && item.name && item.image && item.split && (item.mask || !mask));
    NEED((item.instances || !fields->instances) && (item.boxes || !fields->boxes));
    NEED((item.tags || !fields->tags) && (item.sequence || !fields->sequence));
    NEED(!array_reserve((void **)&set->items, capacity, set->n_items + 1, sizeof *set->items));
    set->items[set->n_items++] = TAKE(item);
    return CLV_OK;
}

enum clv_status set_read_labels(struct clv_set *set, struct clv_error *err)
{
    OWNED_ARRAY char *path = set_path(set, "labels.tsv");
    NEED(path);
    enum path_kind kind;
    MUST(path_find_kind(&kind, path, err));
    set->has_label_file = kind != PATH_ABSENT;
    return set->has_label_file ? clv_labels_read(&set->labels, path, err) : clv_labels_binary(&set->labels, err);
}
