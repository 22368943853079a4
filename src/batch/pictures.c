/* Writes the pictures of an image beside its mask: the overlay, the legend of all overlays, and the cut-out. Start at
 * overlay_write. */
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "data/data.h"
#include "image/image.h"
#include "refine/refine.h"
#include "report/report.h"

#define JPEG_QUALITY 90

int32_t picture_outline_px(int32_t width, int32_t height)
{
    int32_t longest = width > height ? width : height;
    return longest < 1280 ? 1 : longest / 640;
}

/* Returns labels to draw of a map of objects: each pixel has the label of its object, or 0. NULL: out of memory. */
static uint8_t *labels_of_objects(const struct clv_object_map *map)
{
    size_t n = (size_t)map->width * (size_t)map->height;
    uint8_t *labels = array_zalloc(n, 1);
    for (size_t p = 0; p < n && labels && map->labels; p++)
        labels[p] = map->objects[p] ? map->labels[map->objects[p] - 1] : 0;
    return labels;
}

enum clv_status overlay_write(const char *path, struct labelled *item, const struct batch *run, struct clv_error *err)
{
    const struct clv_image *image = &item->image;
    const struct clv_object_map *objects = item->objects.objects ? &item->objects : NULL;
    const int32_t outline_px = picture_outline_px(image->width, image->height);
    OWNED(clv_image_release) struct clv_image painted = {0};
    uint8_t palette[256][3];
    OWNED_ARRAY uint8_t *of_objects = objects ? labels_of_objects(objects) : NULL;
    overlay_palette(palette, (const uint8_t(*)[3])run->labels.palette, run->labels.n_labels);
    NEED(of_objects || !objects);
    MUST(clv_image_new(&painted, image->width, image->height, image->channels, err));
    memcpy(painted.pixels, image->pixels, (size_t)image->width * (size_t)image->height * (size_t)image->channels);
    if (batch_is_probable(run))
        MUST(probability_draw(&painted, item->labels, outline_px, err));
    else
        clv_overlay_draw(&painted, objects ? of_objects : item->labels, (const uint8_t(*)[3])palette, OVERLAY_OPACITY,
                         objects ? 0 : outline_px, CLV_VOID);
    if (objects)
        MUST(objects_outline(&painted, objects, outline_px, err));
    return text_ends_with(path, ".jpg") ? clv_jpeg_write(path, &painted, JPEG_QUALITY, err)
                                        : clv_png_write(path, &painted, err);
}

#define LINE_PX   24
#define SWATCH_PX 16
#define MARGIN_PX 8
#define LETTER_PX 9 /* largest width of most letters, at 14 px */
#define MAX_BYTES ((size_t)1 << 24)

static void draw(struct text *text, const struct clv_labels *labels)
{
    uint8_t palette[256][3];
    overlay_palette(palette, (const uint8_t(*)[3])labels->palette, labels->n_labels);
    size_t longest = 0;
    int n = 0;
    for (int32_t label = 0; label < labels->n_labels; label++) {
        size_t length = labels_have(labels, label) ? strlen(labels->names[label]) : 0;
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
        if (!labels_have(labels, label))
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

enum clv_status overlay_legend_write(struct batch *run, struct clv_error *err)
{
    OWNED(text_release) struct text text = {0};
    OWNED_ARRAY char *path = path_join(run->to.output, "overlays/legend.svg");
    NEED(path);
    text_init(&text, MAX_BYTES);
    draw(&text, &run->labels);
    NEED(!text.failed);
    MUST(outputs_make_folder(path, err));
    enum path_kind kind = PATH_ABSENT;
    MUST(path_find_kind(&kind, path, err));
    if (kind == PATH_ABSENT || run->options.existing == CLV_EXISTING_OVERWRITE)
        return file_write(path, text.bytes, text.size, err);
    if (!file_has_text(path, &text))
        report_message(&run->progress, CLV_NOTE, "%s is of other labels and stays as it is; --overwrite replaces it",
                       path);
    return CLV_OK;
}

/* Returns the label with this name, else with this number, else -1. */
static int32_t find_label(const char *name, const struct clv_labels *labels)
{
    int32_t number;
    for (int32_t label = 0; label < labels->n_labels; label++)
        if (*name && strcmp(labels->names[label], name) == 0)
            return label;
    return parse_int32(name, &number) && number >= 0 && number < labels->n_labels ? number : -1;
}

enum clv_status cutout_choose(struct batch *run, struct clv_error *err)
{
    const char *names = run->options.cutout_labels;
    for (int label = 0; label < 256; label++)
        run->is_cut[label] = label > 0 && label != CLV_VOID && !names;
    if (!names)
        return CLV_OK;
    OWNED_ARRAY char *list = string_copy(names);
    char *cursor = list, *name;
    NEED(list);
    while ((name = strsep(&cursor, ","))) {
        int32_t label = find_label(name, &run->labels);
        FAIL_IF(label < 0, CLV_ERR_USAGE, "--cutout-label: \"%s\" is not a label of the model's %d, such as %s", name,
                run->labels.n_labels, run->labels.names[run->labels.n_labels - 1]);
        run->is_cut[label] = true;
    }
    return CLV_OK;
}

enum clv_status cutout_write(const char *path, struct labelled *item, const struct batch *run, struct clv_error *err)
{
    OWNED(cutout_release) struct cutout cutout = {0};
    MUST(cutout_make(&cutout, &item->image, item->labels, run->is_cut, err));
    if (run->options.crop)
        cutout_crop(&cutout);
    return png_write_rgba(path, cutout.width, cutout.height, cutout.rgba, err);
}
