/* Imports folders like those of the Data Science Bowl 2018: NAME/images/ has one image, NAME/masks/ one mask per
 * object. Start at import_dsb. */
#include <limits.h>
#include <string.h>

#include "base/base.h"
#include "cli/import/import.h"

/* Adds the pixels that are not black as an object. */
static enum clv_status add_mask(struct import_objects *objects, const char *root, const char *below,
                                const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(clv_image_release) struct clv_image mask = {0};
    const struct clv_object_map *map = &objects->map;
    OWNED_ARRAY char *path = path_join(root, below);
    NEED(path);
    MUST(clv_image_read(&mask, path, limits, err));
    FAIL_IF(mask.width != map->width || mask.height != map->height, CLV_ERR_DATA, "%s: mask is %dx%d, image is %dx%d",
            path, mask.width, mask.height, map->width, map->height);
    struct clv_pixel_box within = {0, 0, map->width, map->height};
    for (size_t p = 0, n = (size_t)map->width * (size_t)map->height; p < n; p++) {
        const uint8_t *pixel = mask.pixels + p * (size_t)mask.channels;
        objects->layer[p] = memcmp(pixel, (const uint8_t[4]){0}, (size_t)mask.channels) != 0;
    }
    return import_objects_add(objects, 1, false, &within, err);
}

/* Returns the length of a path before a final "images/FILE", or -1 without one. */
static int length_before(const char *path)
{
    static const char last[] = "images/";
    size_t folder = (size_t)(path_name(path) - path), n = sizeof last - 1;
    bool fits = folder >= n && memcmp(path + folder - n, last, n) == 0 && (folder == n || path[folder - n - 1] == '/');
    return fits ? (int)(folder - n) : -1;
}

static bool is_mask(const char *path, int length)
{
    return strncmp(path + length, "masks/", 6) == 0;
}

/* Imports a folder: its image is files->paths[at], its other files are those up to `end`. */
static enum clv_status import_folder(struct import_set *self, const struct path_list *files, size_t at, size_t end,
                                     int length, struct clv_error *err)
{
    const char *image = files->paths[at], *root = self->options->annotations, *ending = strrchr(path_name(image), '.');
    OWNED_ARRAY char *path = path_join(root, image);
    OWNED(text_release) struct text name = {0};
    OWNED(import_objects_release) struct import_objects objects = {0};
    int32_t width, height;
    text_init(&name, PATH_MAX);
    text_append(&name, length ? image : path_name(image), length ? (size_t)length - 1 : strlen(path_name(image)));
    text_put(&name, length && ending ? ending : "");
    NEED(path && !name.failed);
    MUST(clv_image_read_size(&width, &height, path, &self->options->limits, err));
    MUST(import_add(self, name.bytes, path, NULL, err));
    MUST(import_objects_begin(&objects, width, height, err));
    for (size_t i = at + 1; i < end; i++) {
        FAIL_IF(length_before(files->paths[i]) == length, CLV_ERR_DATA,
                "%s: %s is there, too; a folder is of one image", path, files->paths[i]);
        if (is_mask(files->paths[i], length))
            MUST(add_mask(&objects, root, files->paths[i], &self->options->limits, err));
    }
    return import_objects_end(&objects, self, err);
}

enum clv_status import_dsb(struct import_set *self, struct clv_error *err)
{
    const char *root = self->options->annotations;
    OWNED(path_list_release) struct path_list files = {0};
    size_t n_without = 0, n_folders = 0;
    MUST(folder_walk(&files, root, err));
    text_put(&self->labels, "value\tname\n0\tbackground\n1\tobject\n");
    for (size_t i = 0, end; i < files.n; i = end) {
        const char *image = files.paths[i];
        int length = length_before(image);
        size_t n_before = self->n, n_masks = 0;
        for (end = i + 1; length >= 0 && end < files.n && strncmp(files.paths[end], image, (size_t)length) == 0; end++)
            n_masks += is_mask(files.paths[end], length);
        n_folders += length >= 0;
        n_without += length >= 0 && !n_masks;
        if (n_masks)
            MUST(import_settle(self, n_before, import_folder(self, &files, i, end, length, err), err));
    }
    FAIL_IF(!n_folders, CLV_ERR_NO_INPUT, "%s: has no NAME/images/ with NAME/masks/ next to it", root);
    FAIL_IF(!self->n, CLV_ERR_DATA, "%s: no image of it can be taken over", root);
    if (n_without)
        console_note("%s: %zu of %zu folders have no masks and were skipped", root, n_without, n_folders);
    return CLV_OK;
}
