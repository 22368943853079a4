#include "report/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "report/probability.h"

#define TEXT_MAX ((size_t)1 << 20)

/* Whether the page has a column for the layer. */
static bool has_layer(const struct page_totals *totals, int layer)
{
    if (layer == LAYER_REFINED)
        return totals->n_refined > 0;
    if (layer == LAYER_OVERLAY || layer == LAYER_MASK)
        return totals->n_segmented + totals->n_probable > 0 || totals->n_images == 0;
    return layer < LAYER_TRUTH || totals->n_with_truth > 0;
}

static void put_tile(struct text *text, const char *value, const char *unit, const char *what)
{
    text_printf(text, "<div class=\"tile\"><b>%s", value);
    if (*unit)
        text_printf(text, "<small>%s</small>", unit);
    text_printf(text, "</b><span>%s</span></div>\n", what);
}

static void put_mean(struct text *text, double sum, size_t n, double scale, int decimals, const char *unit,
                     const char *what)
{
    struct text value;
    text_init(&value, 64);
    if (n)
        page_put_fixed(&value, scale * sum / (double)n, decimals);
    else
        text_put(&value, "&ndash;");
    put_tile(text, value.bytes ? value.bytes : "", n ? unit : "", what);
    text->failed |= value.failed;
    text_release(&value);
}

/* The bar's width in histogram cells: the smallest of 1/2, 1, 2, 5, 10 % that shows all scores with at most 24 bars. */
static int cells_per_bar(const struct page_totals *totals)
{
    static const int widths[] = {2, 4, 8, 20, 40};
    int last = HISTOGRAM_CELLS;
    while (last > 0 && !totals->histogram[last])
        last--;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (last / widths[i] < 24)
            return widths[i];
    return widths[4];
}

static void put_histogram(struct text *text, const struct page_totals *totals)
{
    enum { TOP = 16, HEIGHT = 70, MAX_BARS = HISTOGRAM_CELLS / 2 + 1 };
    int width = cells_per_bar(totals), n_bars = 1;
    size_t bars[MAX_BARS] = {0}, highest = 1;
    for (int cell = 0; cell <= HISTOGRAM_CELLS; cell++) {
        size_t *bar = &bars[cell / width];
        *bar += totals->histogram[cell];
        highest = *bar > highest ? *bar : highest;
        if (totals->histogram[cell])
            n_bars = cell / width + 1;
    }
    n_bars = n_bars < 8 ? 8 : n_bars;
    double percent = 100.0 * width / HISTOGRAM_CELLS, step = 100.0 / n_bars; /* % of the chart's width */
    text_put(text, "<figure class=\"tile chart\"><figcaption>Images by weighted Hamming error, %</figcaption>\n");
    text_put(text, "<svg role=\"img\" aria-label=\"Histogram of weighted Hamming errors\">\n");
    for (int i = 0; i < n_bars; i++) {
        double height = (double)bars[i] / (double)highest * HEIGHT;
        if (!bars[i])
            continue;
        text_put(text, "<rect class=\"column\" rx=\"1.5\" x=\"");
        page_put_fixed(text, (i + 0.04) * step, 2);
        text_put(text, "%\" y=\"");
        page_put_fixed(text, TOP + HEIGHT - height, 2);
        text_put(text, "\" width=\"");
        page_put_fixed(text, 0.92 * step, 2);
        text_put(text, "%\" height=\"");
        page_put_fixed(text, height, 2);
        text_printf(text, "\"><title>%zu %s from ", bars[i], bars[i] == 1 ? "image" : "images");
        page_put_fixed(text, i * percent, 1);
        text_put(text, " to ");
        page_put_fixed(text, (i + 1) * percent, 1);
        text_put(text, " %</title></rect>\n");
        if (bars[i] == highest) {
            text_printf(text, "<text text-anchor=\"middle\" y=\"%d\" x=\"", TOP - 4);
            page_put_fixed(text, (i + 0.5) * step, 2);
            text_printf(text, "%%\">%zu</text>\n", bars[i]);
        }
    }
    text_printf(text, "<line class=\"axis\" x2=\"100%%\" y1=\"%d.5\" y2=\"%d.5\"/>\n", TOP + HEIGHT, TOP + HEIGHT);
    int every = n_bars <= 10 ? 1 : n_bars <= 20 ? 2 : 4;
    for (int i = 0; i <= n_bars; i += every) {
        text_printf(text, "<text text-anchor=\"middle\" y=\"%d\" x=\"", TOP + HEIGHT + 15);
        page_put_fixed(text, i * step, 2);
        text_put(text, "%\">");
        page_put_fixed(text, i * percent, percent < 1 && every % 2 ? 1 : 0);
        text_put(text, "</text>\n");
    }
    text_put(text, "</svg></figure>\n");
}

static void put_summary(struct text *text, const struct page_totals *totals)
{
    struct text count;
    text_put(text, "<section class=\"summary wide\" aria-label=\"Summary\">\n");
    text_init(&count, 64);
    text_printf(&count, "%zu", totals->n_images);
    put_tile(text, count.bytes ? count.bytes : "", "", totals->n_images == 1 ? "image segmented" : "images segmented");
    put_mean(text, totals->sum_weighted_hamming, totals->n_scored, 100, 2, "%", "mean weighted Hamming error");
    if (totals->n_refined_scored)
        put_mean(text, totals->sum_unrefined, totals->n_refined_scored, 100, 2, "%", "the same before refining");
    put_mean(text, totals->sum_iou, totals->n_with_iou, 1, 3, "", "mean intersection over union");
    text_printf(text, "<div class=\"tile%s\"><b>%zu</b><span>%s</span></div>\n", totals->n_failures ? " failed" : "",
                totals->n_failures, totals->n_failures == 1 ? "file failed" : "files failed");
    if (totals->n_scored)
        put_histogram(text, totals);
    text_put(text, "</section>\n");
    text->failed |= count.failed;
    text_release(&count);
}

static void put_swatch(struct text *text, const uint8_t colour[3], const char *name)
{
    text_printf(text, "<span><i style=\"--c:#%02x%02x%02x\"></i>", colour[0], colour[1], colour[2]);
    text_put_html(text, name);
    text_put(text, "</span>");
}

static void put_difference_legend(struct text *text, const struct page_header *header)
{
    /* Where label 0 is void, nothing is background, so there are no false alarms and misses. */
    if (!header->label_0_is_void) {
        put_swatch(text, difference_palette[DIFFERENCE_FALSE_ALARM], "false alarm");
        put_swatch(text, difference_palette[DIFFERENCE_MISS], "miss");
    }
    if (header->n_labels > 2)
        put_swatch(text, difference_palette[DIFFERENCE_WRONG_LABEL], "wrong label");
    put_swatch(text, difference_palette[DIFFERENCE_FIGURE], header->n_labels > 2 ? "right label" : "right figure");
}

static void put_label_legend(struct text *text, const struct page_header *header, const struct page_totals *totals)
{
    static const uint8_t never[3] = {0, 0, 0}, always[3] = {255, 255, 255};
    if (totals->n_probable) {
        put_swatch(text, never, "probability 0");
        put_swatch(text, always, "probability 1");
        put_swatch(text, uncertain_colour, "uncertain");
    }
    for (int32_t label = 0; label < header->n_labels && totals->n_segmented; label++)
        put_swatch(text, header->palette[label], header->names[label]);
}

static void put_refined_legend(struct text *text, const struct page_header *header)
{
    bool has_ground = !header->label_0_is_void;
    put_swatch(text, gained_colour, has_ground ? "made figure by refining" : "changed by refining");
    if (has_ground)
        put_swatch(text, lost_colour, "made ground by refining");
}

static void put_toolbar(struct text *text, const struct page_header *header, const struct page_totals *totals)
{
    text_put(text, "<div class=\"bar\"><div class=\"tools wide\" role=\"toolbar\" aria-label=\"Sort and filter\">\n"
                   "<div class=\"group\"><span id=\"sortlabel\">Sort</span>");
    if (totals->n_scored)
        text_put(text, "<button data-sort=\"worst\" aria-pressed=\"false\">Worst first</button>"
                       "<button data-sort=\"best\" aria-pressed=\"false\">Best first</button>");
    text_put(text,
             "<button data-sort=\"name\" aria-pressed=\"false\">Name</button></div>\n"
             "<input type=\"search\" id=\"find\" placeholder=\"Filter by name\" aria-label=\"Filter by name\">\n");
    if (totals->n_failures)
        text_put(text, "<button id=\"failures\" aria-pressed=\"false\">Only failures</button>\n");
    text_put(text, "<span class=\"count\" id=\"count\" role=\"status\"></span>\n"
                   "<button class=\"push\" id=\"helpbutton\">Keys <kbd>?</kbd></button></div>\n"
                   "<div class=\"wide\"><div class=\"row heads\" aria-hidden=\"true\">");
    text_printf(text, "<span>%s</span>", totals->n_scored ? "Weighted Hamming" : "");
    for (int layer = 0; layer < N_LAYERS; layer++)
        if (has_layer(totals, layer))
            text_printf(text, "<span>%s</span>", page_layer_name(layer, totals->n_probable > 0));
    text_put(text, "</div></div></div>\n<div class=\"wide\"><div class=\"legend\">");
    put_label_legend(text, header, totals);
    if (totals->n_with_truth) {
        text_put(text, "<span class=\"gap\"></span>");
        put_difference_legend(text, header);
    }
    if (totals->n_refined) {
        text_put(text, "<span class=\"gap\"></span>");
        put_refined_legend(text, header);
    }
    text_put(text, "</div></div>\n");
}

static void put_dialogs(struct text *text, const struct page_header *header, const struct page_totals *totals)
{
    text_put(text, "<dialog id=\"view\" aria-labelledby=\"viewname\"><div class=\"viewhead\"><h2 id=\"viewname\"></h2>"
                   "<p id=\"viewscore\"></p><div class=\"group push\">");
    for (int layer = 0; layer < N_LAYERS; layer++)
        text_printf(text, "<button data-layer=\"%d\" aria-pressed=\"false\">%s <kbd>%d</kbd></button>", layer + 1,
                    page_layer_name(layer, totals->n_probable > 0), layer + 1);
    text_put(text, "</div><button id=\"viewclose\">Close <kbd>Esc</kbd></button></div>\n"
                   "<div class=\"stage\" id=\"stage\" tabindex=\"-1\"></div><div class=\"viewfoot\">"
                   "<div class=\"group\"><button id=\"before\" aria-label=\"Previous image\">&lsaquo;</button>"
                   "<button id=\"after\" aria-label=\"Next image\">&rsaquo;</button></div>"
                   "<span class=\"count\" id=\"viewplace\"></span>"
                   "<div class=\"legend\" data-of=\"234\">");
    put_label_legend(text, header, totals);
    text_put(text, "</div><div class=\"legend\" data-of=\"5\">");
    put_difference_legend(text, header);
    text_put(text, "</div><div class=\"legend\" data-of=\"6\">");
    put_refined_legend(text, header);
    text_put(text, "</div></div></dialog>\n"
                   "<dialog id=\"help\" aria-labelledby=\"helptitle\"><h2 id=\"helptitle\">Keys</h2><dl>\n"
                   "<dt><kbd>&darr;</kbd> <kbd>&rarr;</kbd> <kbd>j</kbd></dt><dd>next image</dd>\n"
                   "<dt><kbd>&uarr;</kbd> <kbd>&larr;</kbd> <kbd>k</kbd></dt><dd>previous image</dd>\n"
                   "<dt><kbd>Enter</kbd></dt><dd>large view</dd>\n"
                   "<dt><kbd>1</kbd> &ndash; <kbd>6</kbd></dt><dd>image, overlay, mask, truth, difference, what "
                   "refining changed</dd>\n"
                   "<dt><kbd>s</kbd></dt><dd>next sort order</dd>\n"
                   "<dt><kbd>/</kbd></dt><dd>filter by name</dd>\n"
                   "<dt><kbd>Home</kbd> <kbd>End</kbd></dt><dd>first, last image</dd>\n"
                   "<dt><kbd>Esc</kbd></dt><dd>close</dd>\n"
                   "</dl><button id=\"helpclose\">Close</button></dialog>\n");
}

int page_write_head(FILE *stream, const struct page_header *header, const struct page_totals *totals)
{
    struct text text;
    int n_columns = 0;
    for (int layer = 0; layer < N_LAYERS; layer++)
        n_columns += has_layer(totals, layer);
    text_init(&text, TEXT_MAX);
    /* The policy makes the promise binding: the page loads nothing but the pictures beside it. */
    text_put(&text, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:");
    text_put(&text, header->is_beside ? " 'self' file:" : "");
    text_put(&text, "; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>");
    text_put_html(&text, header->title);
    text_put(&text, "</title>\n<style>\n");
    text_put(&text, page_style);
    text_printf(&text, ":root { --n: %d; }\n</style>\n</head>\n<body>\n<header class=\"top wide\"><h1>", n_columns);
    text_put_html(&text, header->title);
    text_put(&text, "</h1>\n<dl class=\"facts\">\n");
    for (size_t i = 0; i < header->n_facts; i++) {
        text_put(&text, "<div><dt>");
        text_put_html(&text, header->facts[2 * i]);
        text_put(&text, "</dt><dd>");
        text_put_html(&text, header->facts[2 * i + 1]);
        text_put(&text, "</dd></div>\n");
    }
    text_put(&text, "</dl></header>\n");
    put_summary(&text, totals);
    put_toolbar(&text, header, totals);
    put_dialogs(&text, header, totals);
    text_printf(&text,
                "<main class=\"list wide%s\" id=\"list\" style=\"--highest:", totals->n_with_truth ? "" : " plain");
    page_put_fixed(&text, fmax(totals->highest_weighted_hamming, 1e-4), 6);
    text_put(&text, "\">\n");
    return page_flush(stream, &text);
}

void page_write_tail(FILE *stream, const struct page_totals *totals)
{
    fputs("</main>\n", stream);
    if (totals->n_images + totals->n_failures > PAGE_ROWS)
        fprintf(stream,
                "<noscript><p class=\"empty\">Without "
                "scripts only the first %d files are shown.</p></noscript>\n",
                PAGE_ROWS);
    fprintf(stream,
            "<nav class=\"pager wide\" id=\"pager\" aria-label=\"Pages\" hidden><button id=\"earlier\">"
            "&lsaquo; Earlier</button><span class=\"count\" id=\"part\" role=\"status\"></span><button "
            "id=\"later\">Later &rsaquo;</button></nav>\n<p class=\"empty\" "
            "id=\"empty\"%s>%s</p>\n<script>\n%s</script>\n</body>\n</html>\n",
            totals->n_images + totals->n_failures ? " hidden" : "",
            totals->n_images + totals->n_failures ? "No image matches the filter." : "There were no images.",
            page_script);
}
