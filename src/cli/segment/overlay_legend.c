#include "cli/segment/overlay_legend.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/common/console.h"
#include "cli/common/outputs.h"
#include "image/overlay_palette.h"

#define LINE_PX   24
#define SWATCH_PX 16
#define MARGIN_PX 8
#define LETTER_PX 9 /* at most, of most names, at 14 px */
#define BYTES_MAX ((size_t)1 << 20)

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
    if (file_read(&bytes, &size, path, BYTES_MAX, &ignored) != CLV_OK)
        return false;
    bool same = size == text->size && memcmp(bytes, text->bytes, size) == 0;
    array_free(bytes);
    return same;
}

enum clv_status overlay_legend_write(const char *folder, const struct clv_labels *labels, bool overwrite,
                                     struct clv_error *err)
{
    struct text path, text;
    text_init(&path, BYTES_MAX);
    text_init(&text, BYTES_MAX);
    text_printf(&path, "%s%soverlays/legend.svg", folder, text_ends_with(folder, "/") ? "" : "/");
    draw(&text, labels);
    enum clv_status status = path.failed || text.failed ? fail_memory(err) : outputs_make_folder(path.bytes, err);
    enum path_kind kind = PATH_ABSENT;
    if (status == CLV_OK)
        status = path_look(&kind, path.bytes, err);
    bool is_there = kind != PATH_ABSENT;
    if (is_there && !overwrite && !says(path.bytes, &text))
        console_note("%s is of other labels and stays as it is; --overwrite replaces it", path.bytes);
    else if (status == CLV_OK && (!is_there || overwrite))
        status = file_write(path.bytes, text.bytes, text.size, err);
    text_release(&path);
    text_release(&text);
    return status;
}
