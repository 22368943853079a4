/* Folders as those of the Data Science Bowl 2018: NAME/images/ with one image, NAME/masks/ with a mask of each of its
 * objects. */
#include <limits.h>
#include <string.h>

#include "base/base.h"
#include "cli/import/import.h"

/* The pixels that are not black, as an object. */
static enum clv_status add_mask(struct import_objects *objects, const char *root, const char *below,
                                const struct clv_image_limits *limits, struct clv_error *err)
{
    struct clv_image mask = {0};
    const struct clv_object_map *map = &objects->map;
    char *path = path_join(root, below);
    enum clv_status status = path ? clv_image_read(&mask, path, limits, err) : fail_memory(err);
    if (status == CLV_OK && (mask.width != map->width || mask.height != map->height))
        status = fail(err, CLV_ERR_DATA, "%s: mask is %dx%d, image is %dx%d", path, mask.width, mask.height, map->width,
                      map->height);
    struct clv_pixel_box within = {0, 0, map->width, map->height};
    for (size_t p = 0, n = (size_t)map->width * (size_t)map->height; p < n && status == CLV_OK; p++) {
        const uint8_t *pixel = mask.pixels + p * (size_t)mask.channels;
        objects->layer[p] = memcmp(pixel, (const uint8_t[4]){0}, (size_t)mask.channels) != 0;
    }
    clv_image_release(&mask);
    array_free(path);
    TRY(import_objects_add(objects, 1, false, &within, err));
    return status;
}

/* The length of a path before "images/FILE", or -1 if it does not end so. */
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

/* A folder: its image is files->paths[at], the rest of it ends before `end`. */
static enum clv_status take(struct import_set *self, const struct path_list *files, size_t at, size_t end, int length,
                            struct clv_error *err)
{
    const char *image = files->paths[at], *root = self->options->annotations, *ending = strrchr(path_name(image), '.');
    struct import_objects objects = {0};
    struct text name;
    char *path = path_join(root, image);
    int32_t width, height;
    text_init(&name, PATH_MAX);
    text_append(&name, length ? image : path_name(image), length ? (size_t)length - 1 : strlen(path_name(image)));
    text_put(&name, length && ending ? ending : "");
    enum clv_status status = path && !name.failed ? CLV_OK : fail_memory(err);
    TRY(clv_image_read_size(&width, &height, path, &self->options->limits, err));
    TRY(import_add(self, name.bytes, path, NULL, err));
    TRY(import_objects_begin(&objects, width, height, err));
    for (size_t i = at + 1; i < end; i++) {
        if (length_before(files->paths[i]) == length)
            TRY(fail(err, CLV_ERR_DATA, "%s: %s is there, too; a folder is of one image", path, files->paths[i]));
        if (is_mask(files->paths[i], length))
            TRY(add_mask(&objects, root, files->paths[i], &self->options->limits, err));
    }
    TRY(import_objects_end(&objects, self, err));
    import_objects_release(&objects);
    text_release(&name);
    array_free(path);
    return status;
}

enum clv_status import_dsb(struct import_set *self, struct clv_error *err)
{
    const char *root = self->options->annotations;
    struct path_list files = {0};
    size_t n_without = 0, n_folders = 0;
    enum clv_status status = folder_walk(&files, root, err);
    text_put(&self->labels, "value\tname\n0\tbackground\n1\tobject\n");
    for (size_t i = 0, end; i < files.n && status == CLV_OK; i = end) {
        const char *image = files.paths[i];
        int length = length_before(image);
        size_t n_before = self->n, n_masks = 0;
        for (end = i + 1; length >= 0 && end < files.n && strncmp(files.paths[end], image, (size_t)length) == 0; end++)
            n_masks += is_mask(files.paths[end], length);
        n_folders += length >= 0;
        n_without += length >= 0 && !n_masks;
        if (n_masks)
            status = import_settle(self, n_before, take(self, &files, i, end, length, err), err);
    }
    TRY_IF(!n_folders, fail(err, CLV_ERR_NO_INPUT, "%s: has no NAME/images/ with NAME/masks/ next to it", root));
    TRY_IF(!self->n, fail(err, CLV_ERR_DATA, "%s: no image of it can be taken over", root));
    if (status == CLV_OK && n_without)
        console_note("%s: %zu of %zu folders have no masks and were skipped", root, n_without, n_folders);
    path_list_release(&files);
    return status;
}
