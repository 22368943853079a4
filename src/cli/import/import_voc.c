/* Pascal VOC's layout: JPEGImages/, SegmentationClass/ with palette PNGs of its 20 classes (255 is void), and lists of
 * names in ImageSets/Segmentation/. */
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "cli/common/console.h"
#include "cli/import/import.h"

#define LARGEST_LIST ((size_t)1 << 26)

static const char *const class_names[] = {
    "background", "aeroplane", "bicycle",     "bird",  "boat",        "bottle", "bus",
    "car",        "cat",       "chair",       "cow",   "diningtable", "dog",    "horse",
    "motorbike",  "person",    "pottedplant", "sheep", "sofa",        "train",  "tvmonitor"};
#define N_CLASSES (sizeof class_names / sizeof *class_names)

/* The split of a list that names the image, or NULL. */
struct lists {
    char *bytes[3]; /* each with a line end before and after every name; NULL: there is no such list */
};
static const char *const list_names[3] = {"train", "val", "test"};

static enum clv_status read_lists(struct lists *lists, const char *folder, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    for (int i = 0; i < 3 && status == CLV_OK; i++) {
        struct text path;
        size_t size;
        text_init(&path, 1 << 16);
        text_printf(&path, "%s/ImageSets/Segmentation/%s.txt", folder, list_names[i]);
        if (path.failed)
            status = fail_memory(err);
        else if (path_exists(path.bytes))
            status = file_read(&lists->bytes[i], &size, path.bytes, LARGEST_LIST, err);
        text_release(&path);
    }
    return status;
}

static bool has_line(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *found = text; (found = strstr(found, name)); found++)
        if ((found == text || found[-1] == '\n') && strchr(" \r\n", found[length]))
            return true;
    return false;
}

/* Train, val or test; train if lists do not name it. */
static enum clv_status find_split(const char **split, const struct lists *lists, const char *mask,
                                  struct clv_error *err)
{
    char *stem = path_stem(mask);
    if (!stem)
        return fail_memory(err);
    *split = NULL;
    for (int i = 0; i < 3; i++)
        if (lists->bytes[i]) {
            *split = *split ? *split : "train";
            if (has_line(lists->bytes[i], stem)) {
                *split = list_names[i];
                break;
            }
        }
    array_free(stem);
    return CLV_OK;
}

/* The image of a mask's stem; NULL: there is none. */
static char *find_image(const char *folder, const char *mask, const char **ending)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".png", ".JPG"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char *named = path_replace_extension(mask, endings[i]), *path = named ? path_join(folder, named) : NULL;
        array_free(named);
        if (path && path_exists(path)) {
            *ending = endings[i];
            return path;
        }
        array_free(path);
    }
    return NULL;
}

/* One mask with its image; values that are used are marked. */
static enum clv_status take(struct import_set *self, bool *used, const struct lists *lists, const char *masks,
                            const char *images, const char *name, struct clv_error *err)
{
    const char *ending = NULL, *split = NULL;
    struct clv_indexed_image mask = {0};
    int32_t width = 0, height = 0;
    char *image = find_image(images, name, &ending), *path = path_join(masks, name);
    char *below = image ? path_replace_extension(name, ending) : NULL;
    enum clv_status status = path ? find_split(&split, lists, name, err) : fail_memory(err);
    if (status == CLV_OK && !image)
        status = fail(err, CLV_ERR_NO_INPUT, "%s: has no image in %s", path, images);
    if (status == CLV_OK)
        status = clv_indexed_image_read(&mask, path, &self->options->limits, err);
    if (status == CLV_OK)
        status = clv_image_read_size(&width, &height, image, &self->options->limits, err);
    if (status == CLV_OK && (mask.width != width || mask.height != height))
        status =
            fail(err, CLV_ERR_DATA, "%s: mask is %dx%d, image is %dx%d", path, mask.width, mask.height, width, height);
    size_t n = status == CLV_OK ? (size_t)width * (size_t)height : 0;
    for (size_t i = 0; i < n; i++)
        used[mask.values[i]] = true;
    if (status == CLV_OK)
        status = below ? import_add(self, below, image, split, err) : fail_memory(err);
    if (status == CLV_OK)
        status = import_write_mask(self, width, height, mask.values, err);
    clv_indexed_image_release(&mask);
    array_free(below);
    array_free(path);
    array_free(image);
    return status;
}

/* VOC's classes; "label N" for values beyond them. */
static void put_labels(struct import_set *self, const bool *used)
{
    uint8_t palette[256][3];
    clv_default_palette(palette);
    text_printf(&self->labels, "value\tname\tred\tgreen\tblue\n");
    for (int v = 0; v < CLV_VOID; v++) {
        if ((size_t)v < N_CLASSES)
            text_printf(&self->labels, "%d\t%s", v, class_names[v]);
        else if (used[v])
            text_printf(&self->labels, "%d\tlabel %d", v, v);
        else
            continue;
        text_printf(&self->labels, "\t%d\t%d\t%d\n", palette[v][0], palette[v][1], palette[v][2]);
    }
}

enum clv_status import_voc(struct import_set *self, struct clv_error *err)
{
    const char *folder = self->options->annotations;
    struct path_list files = {0};
    struct lists lists = {0};
    bool used[256] = {false};
    char *masks = path_join(folder, "SegmentationClass"), *images = path_join(folder, "JPEGImages");
    enum clv_status status = masks && images ? read_lists(&lists, folder, err) : fail_memory(err);
    if (status == CLV_OK && !path_is_folder(masks))
        status = fail(err, CLV_ERR_NO_INPUT,
                      "%s: holds no SegmentationClass/ and JPEGImages/; boxes of VOC are read "
                      "where they are (train --boxes)",
                      folder);
    if (status == CLV_OK)
        status = folder_walk(&files, masks, err);
    for (size_t i = 0; i < files.n && status == CLV_OK; i++) {
        status = take(self, used, &lists, masks, images, files.paths[i], err);
        if (status != CLV_ERR_DATA && status != CLV_ERR_NO_INPUT)
            continue;
        console_error("%s", err->message);
        self->n_failed++;
        status = CLV_OK;
    }
    if (status == CLV_OK && !self->n)
        status = fail(err, CLV_ERR_NO_INPUT, "%s: no mask in it can be taken over", masks);
    put_labels(self, used);
    for (int i = 0; i < 3; i++)
        array_free(lists.bytes[i]);
    path_list_release(&files);
    array_free(masks);
    array_free(images);
    return status;
}
