/* Reads a folder without a manifest as a dataset: finds its folders of images and masks (find_layout) and pairs images
 * with masks by their stems. Start at clv_set_read_folder. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "image/image.h"

/* A mask file, and its path without extension, which is equal to that of its image. */
struct stem {
    char *stem;
    const char *path;
    bool is_used;
};

struct stems {
    struct stem *entries;
    size_t n;
};

static void stems_release(struct stems *stems)
{
    for (size_t i = 0; i < stems->n; i++)
        array_free(stems->entries[i].stem);
    array_free(stems->entries);
}

static int compare_stems(const void *a, const void *b)
{
    return strcmp(((const struct stem *)a)->stem, ((const struct stem *)b)->stem);
}

/* Ends the stem of a mask next to its image: photo_mask.png belongs to photo.jpg. */
#define MASK_SUFFIX "_mask"

static bool ends_with_suffix(const char *stem)
{
    size_t length = strlen(stem);
    return length > strlen(MASK_SUFFIX) && strcmp(stem + length - strlen(MASK_SUFFIX), MASK_SUFFIX) == 0;
}

static enum clv_status list_stems(struct stems *stems, const struct path_list *masks, bool cuts_suffix,
                                  struct clv_error *err)
{
    stems->entries = array_zalloc(masks->n, sizeof *stems->entries);
    NEED(stems->entries);
    for (stems->n = 0; stems->n < masks->n; stems->n++) {
        struct stem *entry = &stems->entries[stems->n];
        entry->path = masks->paths[stems->n];
        entry->stem = path_replace_extension(entry->path, "");
        NEED(entry->stem);
        if (cuts_suffix && ends_with_suffix(entry->stem))
            entry->stem[strlen(entry->stem) - strlen(MASK_SUFFIX)] = 0;
    }
    qsort(stems->entries, stems->n, sizeof *stems->entries, compare_stems);
    return CLV_OK;
}

/* Finds the mask of an image by the image's path without extension, or NULL. Two masks are an error, since either could
 * be the correct one. is_shared: another image has the same stem, so masks named with the image's extension come
 * first. */
static enum clv_status find_mask(const char **mask, struct stems *stems, const char *image, bool is_shared,
                                 const char *folder, struct clv_error *err)
{
    *mask = NULL;
    OWNED_ARRAY char *stem = path_output(image, is_shared);
    NEED(stem);
    const struct stem wanted = {.stem = stem}, *end = stems->entries + stems->n;
    struct stem *found = stems->n ? bsearch(&wanted, stems->entries, stems->n, sizeof wanted, compare_stems) : NULL;
    if (!found)
        return is_shared ? find_mask(mask, stems, image, false, folder, err) : CLV_OK;
    const struct stem *other = found > stems->entries && compare_stems(found - 1, found) == 0 ? found - 1
                               : found + 1 < end && compare_stems(found, found + 1) == 0      ? found + 1
                                                                                              : NULL;
    *mask = found->path;
    found->is_used = true;
    FAIL_IF(other, CLV_ERR_DATA, "%s: image %s has two masks, %s and %s", folder, image, found->path, other->path);
    return CLV_OK;
}

/* The folders of a dataset's images and masks. */
struct layout {
    const char *images, *masks; /* relative to the dataset's folder; "": that folder */
    bool is_paired;             /* masks are in `masks`; false: next to their images */
    bool has_instances;         /* the folder INSTANCES exists */
};

#define INSTANCES "instances"

/* A dataset while its folder is read. */
struct scan {
    struct clv_set set;
    size_t capacity; /* of its items */
    struct layout layout;
    struct stems masks, instances;
};

static void scan_release(struct scan *self)
{
    clv_set_release(&self->set);
    stems_release(&self->masks);
    stems_release(&self->instances);
}

/* Finds a file's mask or label image of objects and joins it to its folder. *path is NULL if there is none; free it
 * with array_free. */
static enum clv_status find_below(char **path, const struct scan *self, struct stems *stems, const char *file,
                                  bool is_shared, struct clv_error *err)
{
    const char *found = NULL, *below = stems == &self->masks ? self->layout.masks : INSTANCES;
    *path = NULL;
    if (stems->n)
        MUST(find_mask(&found, stems, file, is_shared, self->set.root, err));
    if (found)
        NEED(*path = path_join(below, found));
    return CLV_OK;
}

/* Adds an image or a TIFF page below root/images. */
static enum clv_status add_image(struct scan *self, const char *file, bool is_shared, struct clv_error *err)
{
    OWNED_ARRAY char *name = path_join(self->layout.images, file), *mask = NULL, *objects = NULL;
    NEED(name);
    MUST(find_below(&mask, self, &self->masks, file, is_shared, err));
    MUST(find_below(&objects, self, &self->instances, file, is_shared, err));
    return set_add(&self->set, &self->capacity,
                   &(struct item_fields){.name = name, .mask = mask, .instances = objects, .split = ""}, err);
}

/* Counts an image that is skipped because it lies in one of cleave's own folders. Takes ownership of path. */
static void count_own(struct clv_set *set, const char *file, char *path)
{
    if (strncmp(file, "masks/", 6) != 0 && strncmp(file, INSTANCES "/", strlen(INSTANCES "/")) != 0 &&
        path_is_image(path) && !set->n_own++)
        set->first_own = path;
    else
        array_free(path);
}

bool set_may_be_image(const char *path, bool takes_arrays)
{
    return takes_arrays ? text_ends_with(path, ".npy") : path_is_image(path);
}

bool set_has_arrays_alone(const struct path_list *files, const char *folder, bool is_root)
{
    bool has_image = false, has_array = false;
    for (size_t i = 0; i < files->n && !has_image; i++) {
        const char *file = files->paths[i];
        if ((is_root && set_is_own(file)) || set_is_of_run(folder, file))
            continue;
        has_image = path_is_image(file);
        has_array |= text_ends_with(file, ".npy");
    }
    return has_array && !has_image;
}

/* Keeps the images among the files below root/below, and counts the skipped files. */
static enum clv_status keep_images(struct path_list *files, struct clv_set *set, const char *below,
                                   struct clv_error *err)
{
    OWNED_ARRAY char *folder = path_join(set->root, below);
    NEED(folder);
    bool takes_arrays = set_has_arrays_alone(files, folder, !*below);
    size_t n_kept = 0;
    for (size_t i = 0; i < files->n; i++) {
        OWNED_ARRAY char *file = TAKE(files->paths[i]);
        OWNED_ARRAY char *path = path_join(folder, file);
        NEED(path);
        if ((!*below && set_is_own(file)) || set_is_of_run(folder, file)) {
            count_own(set, file, TAKE(path));
        } else if (set_may_be_image(path, takes_arrays)) {
            files->paths[n_kept++] = TAKE(file);
        } else {
            bool is_skipped = *below ? !text_ends_with(file, ".aux.xml") : !set_is_table(file);
            if (is_skipped && !set->n_skipped++)
                set->first_skipped = TAKE(path);
        }
    }
    files->n = n_kept;
    return CLV_OK;
}

/* Lists the files below set->root/below; a TIFF with several pages gives one entry per page. */
static enum clv_status walk_below(struct path_list *list, struct clv_set *set, const char *below, struct clv_error *err)
{
    OWNED(path_list_release) struct path_list files = {0};
    OWNED_ARRAY char *folder = path_join(set->root, below);
    NEED(folder);
    MUST(folder_walk(&files, folder, err));
    for (size_t i = 0; i < files.n; i++)
        MUST(path_list_add_pages(list, folder, files.paths[i], err));
    set->n_unreadable += files.n_unreadable;
    if (!set->first_unreadable)
        set->first_unreadable = TAKE(files.first_unreadable);
    set->n_links += files.n_links;
    if (!set->first_link)
        set->first_link = TAKE(files.first_link);
    return CLV_OK;
}

/* Counts masks without an image, to reveal misspelled names. */
static enum clv_status count_lone_masks(struct clv_set *set, const struct stems *stems, const char *below,
                                        struct clv_error *err)
{
    const char *first = NULL;
    for (size_t i = 0; i < stems->n; i++) {
        set->n_lone_masks += !stems->entries[i].is_used;
        first = first || stems->entries[i].is_used ? first : stems->entries[i].path;
    }
    if (first && !set->first_lone_mask)
        NEED(set->first_lone_mask = path_join(below, first));
    return CLV_OK;
}

/* Finds the first of the folders below the root that exists, or NULL. */
static enum clv_status find_folder(const char **found, const char *const names[3], const char *root,
                                   struct clv_error *err)
{
    *found = NULL;
    for (int k = 0; k < 3 && !*found; k++) {
        enum path_kind kind = PATH_ABSENT;
        OWNED_ARRAY char *folder = path_join(root, names[k]);
        NEED(folder);
        MUST(path_find_kind(&kind, folder, err));
        *found = kind == PATH_FOLDER ? names[k] : NULL;
    }
    return CLV_OK;
}

/* Whether labels/ or annotations/ hold masks; in datasets of other programs they may hold boxes. */
static enum clv_status holds_masks(bool *is_found, const char *folder, struct clv_error *err)
{
    OWNED(path_list_release) struct path_list files = {0};
    *is_found = false;
    MUST(folder_walk(&files, folder, err));
    for (size_t i = 0; i < files.n && !*is_found; i++) {
        OWNED_ARRAY char *path = path_join(folder, files.paths[i]);
        NEED(path);
        *is_found = path_is_image(path);
    }
    return CLV_OK;
}

/* Finds the folders of images and masks. masks/ belongs to images/ if that exists, else to all images in the dataset's
 * folder. labels/ and annotations/ count only beside a folder of images. */
static enum clv_status find_layout(struct layout *layout, const char *folder, struct clv_error *err)
{
    static const char *const of_images[] = {"images", "imgs", "img"};
    static const char *const of_masks[] = {"masks", "labels", "annotations"};
    static const char *const of_objects[] = {INSTANCES, INSTANCES, INSTANCES};
    const char *images, *masks, *instances;
    *layout = (struct layout){"", "", false, false};
    MUST(find_folder(&images, of_images, folder, err));
    MUST(find_folder(&masks, of_masks, folder, err));
    MUST(find_folder(&instances, of_objects, folder, err));
    layout->has_instances = instances != NULL;
    if (!masks && instances) {
        layout->images = images ? images : "";
        layout->is_paired = true;
    }
    if (!masks || (!images && masks != of_masks[0]))
        return CLV_OK;
    OWNED_ARRAY char *below = path_join(folder, masks);
    NEED(below);
    OWNED_ARRAY char *same = images ? path_join(below, images) : NULL;
    NEED(same || !images);
    layout->is_paired = true;
    if (masks != of_masks[0])
        MUST(holds_masks(&layout->is_paired, below, err));
    if (layout->is_paired && images &&
        (images == of_images[0] || !path_is_folder(same))) /* masks/img/ has the masks of img/ */
        layout->images = images;
    layout->masks = layout->is_paired ? masks : "";
    if (instances && !layout->is_paired) {
        layout->images = images ? images : "";
        layout->is_paired = true;
    }
    return CLV_OK;
}

/* Moves the masks among the files to `masks`: those in the folder of masks, or without such a folder every
 * photo_mask.png next to a photo.jpg. */
static enum clv_status take_masks(struct path_list *masks, struct path_list *files, const struct layout *layout,
                                  struct clv_error *err)
{
    OWNED(stems_release) struct stems all = {0};
    MUST(list_stems(&all, files, false, err));
    size_t n_kept = 0;
    for (size_t i = 0; i < files->n; i++) {
        const char *file = files->paths[i];
        OWNED_ARRAY char *stem = path_replace_extension(file, "");
        NEED(stem);
        bool is_mask = layout->is_paired && strncmp(file, layout->masks, strlen(layout->masks)) == 0 &&
                       file[strlen(layout->masks)] == '/';
        if (!layout->is_paired && ends_with_suffix(stem)) {
            stem[strlen(stem) - strlen(MASK_SUFFIX)] = 0;
            const struct stem image = {.stem = stem};
            is_mask = bsearch(&image, all.entries, all.n, sizeof image, compare_stems) != NULL;
        }
        if (is_mask) {
            MUST(path_list_add(masks, file, err));
            array_free(TAKE(files->paths[i]));
        } else {
            files->paths[n_kept++] = TAKE(files->paths[i]);
        }
    }
    files->n = n_kept;
    return CLV_OK;
}

static enum clv_status fail_empty(const struct clv_set *set, const struct layout *layout, size_t n_masks,
                                  struct clv_error *err)
{
    OWNED_ARRAY char *images = set_path(set, *layout->images ? layout->images : "images");
    NEED(images);
    if (*layout->images && !set->n_skipped)
        fail(err, CLV_ERR_NO_INPUT, "%s: is empty; the images go there", images);
    else if (n_masks)
        fail(err, CLV_ERR_NO_INPUT, "%s: holds %s and no image; put the photos into %s", set->root,
             n_of(n_masks, "mask", "masks").text, images);
    else
        fail(err, CLV_ERR_NO_INPUT, "%s: holds no image (%s)", set->root,
             n_of(set->n_skipped, "other file", "other files").text);
    return CLV_ERR_NO_INPUT;
}

enum clv_status set_take_masks(struct path_list *masks, struct path_list *files, const char *folder,
                               struct clv_error *err)
{
    struct layout layout;
    MUST(find_layout(&layout, folder, err));
    return take_masks(masks, files, &layout, err);
}

enum clv_status clv_set_read_folder(struct clv_set *set, const char *folder, struct clv_error *err)
{
    OWNED(path_list_release) struct path_list files = {0}, masks = {0}, objects = {0};
    OWNED(scan_release) struct scan scan = {.set = {.root = string_copy(folder)}};
    const struct layout *layout = &scan.layout;
    struct clv_set *result = &scan.set;
    NEED(result->root);
    MUST(find_layout(&scan.layout, folder, err));
    if (*layout->masks)
        MUST(walk_below(&masks, result, layout->masks, err));
    if (layout->has_instances)
        MUST(walk_below(&objects, result, INSTANCES, err));
    MUST(list_stems(&scan.instances, &objects, false, err));
    MUST(walk_below(&files, result, layout->images, err));
    MUST(keep_images(&files, result, layout->images, err));
    if (!layout->is_paired)
        MUST(take_masks(&masks, &files, layout, err));
    MUST(list_stems(&scan.masks, &masks, !layout->is_paired, err));
    OWNED_ARRAY bool *is_shared = array_alloc(files.n, sizeof *is_shared);
    NEED(is_shared);
    MUST(path_find_shared_stems(is_shared, (const char *const *)files.paths, files.n, err));
    for (size_t i = 0; i < files.n; i++)
        MUST(add_image(&scan, files.paths[i], is_shared[i], err));
    MUST(count_lone_masks(result, &scan.masks, layout->masks, err));
    MUST(count_lone_masks(result, &scan.instances, INSTANCES, err));
    if (!result->n_items)
        return fail_empty(result, layout, masks.n, err);
    MUST(set_read_labels(result, err));
    MUST(set_mark_drafts(result, err));
    *set = TAKE(scan.set);
    return CLV_OK;
}
