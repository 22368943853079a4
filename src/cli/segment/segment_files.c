/* Writes the files of an image: its mask, overlay and cut-out; and those that name labels: labels.tsv and the legend.
 * Start at mask_file_write. */
#include "cli/segment/segment.h"

#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "data/data.h"
#include "image/image.h"
#include "image/raster/raster.h"
#include "refine/refine.h"
#include "report/report.h"

int path_of_compare(const void *a, const void *b)
{
    const struct path_of *first = a, *second = b;
    int order = strcmp(first->path, second->path);
    return order ? order : (first->input > second->input) - (first->input < second->input);
}

#define WHITE 255

static bool is_unnamed_pair(const struct clv_labels *labels)
{
    return labels->n_labels == 2 && !labels->from_file;
}

enum clv_status mask_form_check(enum mask_form form, const struct clv_labels *labels, struct clv_error *err)
{
    if (form != MASKS_BINARY || is_unnamed_pair(labels))
        return CLV_OK;
    FAIL_IF(labels->n_labels > 2, CLV_ERR_USAGE,
            "--mask-format binary: the model has %d labels, which 0 and 255 cannot distinguish", labels->n_labels);
    return fail(err, CLV_ERR_USAGE,
                "--mask-format binary: the model's labels are from a labels.tsv, where 255 is void");
}

const uint8_t (*mask_file_palette(int *n_colours, enum mask_form form, const struct clv_labels *labels,
                                  bool has_void))[3]
{
    static const uint8_t black_and_white[256][3] = {[1] = {WHITE, WHITE, WHITE}, [CLV_VOID] = {128, 128, 128}};
    bool is_grey = form == MASKS_BINARY || form == MASKS_GREY;
    *n_colours = is_grey ? 0 : is_unnamed_pair(labels) && !has_void ? 2 : 256;
    return is_grey ? NULL : is_unnamed_pair(labels) ? black_and_white : (const uint8_t(*)[3])labels->palette;
}

void mask_file_to_binary(uint8_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = values[i] && values[i] != CLV_VOID ? WHITE : 0;
}

void mask_file_from_binary(uint8_t *values, size_t n, const struct clv_labels *labels,
                           const struct clv_indexed_image *image)
{
    bool is_binary = is_unnamed_pair(labels) && !image->palette_size && !memchr(values, 1, n);
    for (size_t i = 0; i < n && is_binary; i++)
        values[i] = values[i] == WHITE ? 1 : values[i];
}

/* A TIFF where the image lies, or a PNG. */
static enum clv_status write_labels(const char *path, const char *image, struct label_image *mask, enum mask_form form,
                                    const struct clv_labels *labels, struct clv_error *err)
{
    OWNED(raster_place_release) struct raster_place place = {0};
    bool is_tiff = text_ends_with(path, ".tif");
    size_t n = (size_t)mask->width * (size_t)mask->height;
    if (is_tiff && image)
        raster_find_place(&place, image);
    bool has_void = place.may_lack_data || memchr(mask->labels, CLV_VOID, n);
    mask->palette = mask_file_palette(&mask->palette_size, form, labels, has_void);
    place.may_lack_data &= form != MASKS_BINARY;
    return is_tiff ? raster_write_labels(path, mask, &place, err)
                   : clv_png_write_labels(path, mask->width, mask->height, mask->labels, mask->palette,
                                          mask->palette_size, err);
}

enum clv_status mask_file_write(const char *path, const char *image, int32_t width, int32_t height,
                                const uint8_t *label_of, enum mask_form form, const struct clv_labels *labels,
                                struct clv_error *err)
{
    OWNED_ARRAY uint8_t *values = array_copy(label_of, (size_t)width * (size_t)height, 1);
    struct label_image mask = {.width = width, .height = height, .labels = values};
    NEED(values);
    if (form == MASKS_BINARY)
        mask_file_to_binary(values, (size_t)width * (size_t)height);
    return write_labels(path, image, &mask, form, labels, err);
}

#define OPACITY      0.45
#define JPEG_QUALITY 90

/* Outlines grow with the image, so that they are seen when it is shown whole. */
static int32_t outline_px(const struct clv_image *image)
{
    int32_t longest = image->width > image->height ? image->width : image->height;
    return longest < 1280 ? 1 : longest / 640;
}

/* Each pixel's object's label, 0 of none: what is seen of labels where there are objects. NULL if there is no memory.
 * */
static uint8_t *labels_of_objects(const struct clv_object_map *map)
{
    size_t n = (size_t)map->width * (size_t)map->height;
    uint8_t *labels = array_zalloc(n, 1);
    for (size_t p = 0; p < n && labels && map->labels; p++)
        labels[p] = map->objects[p] ? map->labels[map->objects[p] - 1] : 0;
    return labels;
}

enum clv_status overlay_file_write(const char *path, const struct clv_image *image, const uint8_t *labels,
                                   const struct clv_object_map *objects, const struct segment_run *run,
                                   struct clv_error *err)
{
    OWNED(clv_image_release) struct clv_image painted = {0};
    uint8_t palette[256][3];
    const struct clv_labels *own = &run->model->labels;
    OWNED_ARRAY uint8_t *of_objects = objects ? labels_of_objects(objects) : NULL;
    overlay_palette(palette, (const uint8_t(*)[3])own->palette, own->n_labels);
    MUST(outputs_make_folder(path, err));
    NEED(of_objects || !objects);
    MUST(clv_image_new(&painted, image->width, image->height, image->channels, err));
    memcpy(painted.pixels, image->pixels, (size_t)image->width * (size_t)image->height * (size_t)image->channels);
    if (run->options->marginals)
        MUST(probability_draw(&painted, labels, outline_px(image), err));
    else
        clv_overlay_draw(&painted, objects ? of_objects : labels, (const uint8_t(*)[3])palette, OPACITY,
                         objects ? 0 : outline_px(image), CLV_VOID);
    if (objects)
        MUST(object_files_outline(&painted, objects, outline_px(image), err));
    return text_ends_with(path, ".jpg") ? clv_jpeg_write(path, &painted, JPEG_QUALITY, err)
                                        : clv_png_write(path, &painted, err);
}

#define LINE_PX   24
#define SWATCH_PX 16
#define MARGIN_PX 8
#define LETTER_PX 9 /* at most, of most names, at 14 px */
#define MAX_BYTES ((size_t)1 << 24)

static void draw(struct text *text, const struct clv_labels *labels)
{
    uint8_t palette[256][3];
    overlay_palette(palette, (const uint8_t(*)[3])labels->palette, labels->n_labels);
    size_t longest = 0;
    int n = 0;
    for (int32_t label = 0; label < labels->n_labels; label++) {
        size_t length = strlen(labels->names[label]);
        longest = length > longest ? length : longest;
        n += length > 0;
    }
    text_printf(text,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%d\" font-family=\"sans-serif\" "
                "font-size=\"14\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                3 * MARGIN_PX + SWATCH_PX + LETTER_PX * longest, 2 * MARGIN_PX + n * LINE_PX);
    int top = MARGIN_PX;
    for (int32_t label = 0; label < labels->n_labels; label++) {
        const uint8_t *colour = palette[label];
        if (!labels->names[label][0])
            continue;
        text_printf(text,
                    "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%02x%02x%02x\" stroke=\"#000\"/>"
                    "<text x=\"%d\" y=\"%d\">",
                    MARGIN_PX, top + (LINE_PX - SWATCH_PX) / 2, SWATCH_PX, SWATCH_PX, colour[0], colour[1], colour[2],
                    2 * MARGIN_PX + SWATCH_PX, top + LINE_PX - 7);
        text_put_html(text, labels->names[label]);
        text_put(text, "</text>\n");
        top += LINE_PX;
    }
    text_put(text, "</svg>\n");
}

static bool says(const char *path, const struct text *text)
{
    char *bytes;
    size_t size;
    struct clv_error ignored;
    if (file_read(&bytes, &size, path, MAX_BYTES, &ignored) != CLV_OK)
        return false;
    bool same = size == text->size && memcmp(bytes, text->bytes, size) == 0;
    array_free(bytes);
    return same;
}

enum clv_status overlay_legend_write(const char *folder, const struct clv_labels *labels, bool overwrite,
                                     struct clv_error *err)
{
    OWNED(text_release) struct text path = {0};
    OWNED(text_release) struct text text = {0};
    text_init(&path, MAX_BYTES);
    text_init(&text, MAX_BYTES);
    text_printf(&path, "%s%soverlays/legend.svg", folder, text_ends_with(folder, "/") ? "" : "/");
    draw(&text, labels);
    NEED(!path.failed && !text.failed);
    MUST(outputs_make_folder(path.bytes, err));
    enum path_kind kind = PATH_ABSENT;
    MUST(path_look(&kind, path.bytes, err));
    if (kind == PATH_ABSENT || overwrite)
        return file_write(path.bytes, text.bytes, text.size, err);
    if (!says(path.bytes, &text))
        console_note("%s is of other labels and stays as it is; --overwrite replaces it", path.bytes);
    return CLV_OK;
}

static enum clv_status claim(struct segment *options, const char *path, struct clv_error *err)
{
    OWNED_ARRAY char *folder = options->data ? path_folder(options->data) : NULL;
    OWNED_ARRAY char *labels = folder ? path_join(folder, "labels.tsv") : NULL;
    bool is_file = options->data && !path_is_folder(options->data); /* next to which labels.tsv is read */
    const char *const inputs[] = {options->data, options->boxes, is_file ? labels : NULL};
    NEED(labels || !options->data);
    return outputs_claim(&options->common.outputs, path, options->existing == EXISTING_OVERWRITE, "", inputs, 3, err);
}

enum clv_status names_file_write(struct segment *options, const char *below, struct text *text, struct clv_error *err)
{
    OWNED(text_release) struct text owned = TAKE(*text);
    OWNED_ARRAY char *path = path_join(options->output, below);
    enum path_kind kind = PATH_ABSENT;
    NEED(path && !owned.failed);
    MUST(path_look(&kind, path, err));
    if (kind != PATH_ABSENT && says(path, &owned))
        return CLV_OK;
    if (kind != PATH_ABSENT)
        MUST(claim(options, path, err));
    MUST(outputs_make_folder(path, err));
    return file_write(path, owned.bytes ? owned.bytes : "", owned.size, err);
}

enum clv_status names_file_labels(struct segment *options, const struct clv_labels *labels, struct clv_error *err)
{
    if (!labels->from_file || options->marginals || segment_is_piped(options))
        return CLV_OK;
    if (options->boxes) {
        struct text text;
        text_init(&text, MAX_BYTES);
        labels_put_table(&text, labels);
        MUST(names_file_write(options, "labels.tsv", &text, err));
    }
    if (options->overlay)
        MUST(overlay_legend_write(options->output, labels, options->existing == EXISTING_OVERWRITE, err));
    return CLV_OK;
}

/* The label that is called so, or else has this number; -1: none. */
static int32_t find_label(const char *name, const struct clv_labels *labels)
{
    int32_t number;
    for (int32_t label = 0; label < labels->n_labels; label++)
        if (*name && strcmp(labels->names[label], name) == 0)
            return label;
    return parse_int32(name, &number) && number >= 0 && number < labels->n_labels ? number : -1;
}

enum clv_status cutout_choose(bool is_object[256], const char *names, const struct clv_labels *labels,
                              struct clv_error *err)
{
    for (int label = 0; label < 256; label++)
        is_object[label] = label > 0 && label != CLV_VOID && !names;
    if (!names)
        return CLV_OK;
    OWNED_ARRAY char *list = string_copy(names);
    char *cursor = list, *name;
    NEED(list);
    while ((name = strsep(&cursor, ","))) {
        int32_t label = find_label(name, labels);
        FAIL_IF(label < 0, CLV_ERR_USAGE, "--cutout-label: \"%s\" is no label of the model's %d, such as %s", name,
                labels->n_labels, labels->names[labels->n_labels - 1]);
        is_object[label] = true;
    }
    return CLV_OK;
}

enum clv_status cutout_write(const char *path, const struct clv_image *image, const uint8_t *labels,
                             const bool is_object[256], bool crop, struct clv_error *err)
{
    OWNED(cutout_release) struct cutout cutout = {0};
    MUST(cutout_make(&cutout, image, labels, is_object, err));
    if (crop)
        cutout_crop(&cutout);
    return png_write_rgba(path, cutout.width, cutout.height, cutout.rgba, err);
}
