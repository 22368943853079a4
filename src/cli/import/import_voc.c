/* Pascal VOC's layout: JPEGImages/, SegmentationClass/ with palette PNGs (255 is void), lists of names in
 * ImageSets/Segmentation/. Classes are VOC's 20, or those that a labelmap.txt (of CVAT, or `segment --export voc`)
 * names. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
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
    static const char *const endings[] = {".jpg",  ".jpeg", ".png",  ".JPG", ".JPEG", ".PNG",
                                          ".webp", ".tif",  ".tiff", ".bmp", ".ppm",  ".pgm"};
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

/* Which values masks have, and their colours. */
struct values {
    bool is_used[256], has_colour[256];
    uint8_t colour[256][3];
};

static void note_values(struct values *values, const struct clv_indexed_image *mask)
{
    for (size_t i = 0; i < (size_t)mask->width * (size_t)mask->height; i++)
        values->is_used[mask->values[i]] = true;
    for (int v = 0; v < mask->palette_size; v++) {
        memcpy(values->colour[v], mask->palette[v], 3);
        values->has_colour[v] = true;
    }
}

/* One mask with its image. */
static enum clv_status take(struct import_set *self, struct values *values, const struct lists *lists,
                            const char *masks, const char *images, const char *name, struct clv_error *err)
{
    const char *ending = NULL, *split = NULL;
    struct clv_indexed_image mask = {0};
    int32_t width = 0, height = 0;
    char *image = find_image(images, name, &ending), *path = path_join(masks, name);
    char *below = image ? path_replace_extension(name, ending) : NULL;
    enum clv_status status = path ? find_split(&split, lists, name, err) : fail_memory(err);
    TRY_IF(!image, fail(err, CLV_ERR_NO_INPUT, "%s: has no image in %s", path, images));
    TRY(clv_indexed_image_read(&mask, path, &self->options->limits, err));
    TRY(clv_image_read_size(&width, &height, image, &self->options->limits, err));
    TRY_IF(mask.width != width || mask.height != height,
           fail(err, CLV_ERR_DATA, "%s: mask is %dx%d, image is %dx%d", path, mask.width, mask.height, width, height));
    if (status == CLV_OK)
        note_values(values, &mask);
    TRY(below ? import_add(self, below, image, split, err) : fail_memory(err));
    TRY(import_write_mask(self, width, height, mask.values, err));
    clv_indexed_image_release(&mask);
    arrays_free(below, path, image);
    return status;
}

/* The name that labelmap.txt has for a colour: its lines are "name:red,green,blue:parts:actions". *length 0: none. */
static const char *find_name(size_t *length, const char *map, const uint8_t colour[3])
{
    char wanted[32];
    size_t n = (size_t)snprintf(wanted, sizeof wanted, ":%d,%d,%d:", colour[0], colour[1], colour[2]);
    for (const char *line = map; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t size = strcspn(line, "\r\n");
        const char *found = memmem(line, size, wanted, n);
        if (found && *line != '#') {
            *length = (size_t)(found - line);
            return line;
        }
    }
    *length = 0;
    return map;
}

/* Names by colour where there is a map of them, else VOC's classes; "label N" for other values. */
static void put_labels(struct import_set *self, const struct values *values, const char *map)
{
    uint8_t palette[256][3];
    clv_default_palette(palette);
    text_printf(&self->labels, "value\tname\tred\tgreen\tblue\n");
    for (int v = 0; v < CLV_VOID; v++) {
        size_t length = 0;
        const char *name = map && values->has_colour[v] ? find_name(&length, map, values->colour[v]) : map;
        if (length)
            text_printf(&self->labels, "%d\t%.*s", v, (int)length, name);
        else if (!map && (size_t)v < N_CLASSES)
            text_printf(&self->labels, "%d\t%s", v, class_names[v]);
        else if (values->is_used[v])
            text_printf(&self->labels, "%d\tlabel %d", v, v);
        else
            continue;
        text_printf(&self->labels, "\t%d\t%d\t%d\n", palette[v][0], palette[v][1], palette[v][2]);
    }
}

/* labelmap.txt, terminated; NULL: there is none. */
static enum clv_status read_map(char **map, const char *folder, struct clv_error *err)
{
    size_t size;
    char *path = path_join(folder, "labelmap.txt");
    enum clv_status status = path ? CLV_OK : fail_memory(err);
    *map = NULL;
    if (path && path_exists(path))
        status = file_read(map, &size, path, LARGEST_LIST, err);
    array_free(path);
    return status;
}

enum clv_status import_voc(struct import_set *self, struct clv_error *err)
{
    const char *folder = self->options->annotations;
    struct path_list files = {0};
    struct lists lists = {0};
    struct values values = {{false}, {false}, {{0}}};
    char *map = NULL, *masks = path_join(folder, "SegmentationClass");
    char *images = self->options->images ? string_copy(self->options->images) : path_join(folder, "JPEGImages");
    enum clv_status status = masks && images ? read_lists(&lists, folder, err) : fail_memory(err);
    bool has_lists = lists.bytes[0] || lists.bytes[1] || lists.bytes[2];
    TRY_IF(has_lists && self->options->of_split,
           fail(err, CLV_ERR_USAGE, "--%s has no effect: %s/ImageSets has a split of its own", self->options->of_split,
                folder));
    TRY(read_map(&map, folder, err));
    TRY_IF(!path_is_folder(masks), fail(err, CLV_ERR_NO_INPUT,
                                        "%s: has no SegmentationClass/ and JPEGImages/; boxes of VOC are read "
                                        "where they are (train --boxes)",
                                        folder));
    TRY(folder_walk(&files, masks, err));
    for (size_t i = 0; i < files.n && status == CLV_OK; i++) {
        size_t n_before = self->n;
        status = import_settle(self, n_before, take(self, &values, &lists, masks, images, files.paths[i], err), err);
    }
    TRY_IF(!self->n, fail(err, CLV_ERR_NO_INPUT, "%s: no mask in it can be taken over", masks));
    put_labels(self, &values, map);
    array_free(map);
    for (int i = 0; i < 3; i++)
        array_free(lists.bytes[i]);
    path_list_release(&files);
    arrays_free(masks, images);
    return status;
}
