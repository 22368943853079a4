#include "report/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"

#define TEXT_MAX ((size_t)1 << 20)

static const char *const layer_names[N_LAYERS] = {"Image", "Overlay", "Mask", "Truth", "Difference", "Refined"};

/* Whether the page has a column for the layer. */
static bool has_layer(const struct page_totals *totals, int layer)
{
    if (layer == LAYER_REFINED)
        return totals->n_refined > 0;
    if (layer == LAYER_OVERLAY || layer == LAYER_MASK)
        return totals->n_segmented > 0 || totals->n_images == 0;
    return layer < LAYER_TRUTH || totals->n_with_truth > 0;
}

/* A number with the locale's point replaced would break CSS and data attributes: digits are put together from
 * integers. */
static void put_fixed(struct text *text, double value, int decimals)
{
    static const int64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    int64_t scaled = llround(value * (double)powers[decimals]);
    text_printf(text, "%" PRId64, scaled / powers[decimals]);
    if (decimals)
        text_printf(text, ".%0*" PRId64, decimals, scaled % powers[decimals]);
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
        put_fixed(&value, scale * sum / (double)n, decimals);
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
        put_fixed(text, (i + 0.04) * step, 2);
        text_put(text, "%\" y=\"");
        put_fixed(text, TOP + HEIGHT - height, 2);
        text_put(text, "\" width=\"");
        put_fixed(text, 0.92 * step, 2);
        text_put(text, "%\" height=\"");
        put_fixed(text, height, 2);
        text_printf(text, "\"><title>%zu %s from ", bars[i], bars[i] == 1 ? "image" : "images");
        put_fixed(text, i * percent, 1);
        text_put(text, " to ");
        put_fixed(text, (i + 1) * percent, 1);
        text_put(text, " %</title></rect>\n");
        if (bars[i] == highest) {
            text_printf(text, "<text text-anchor=\"middle\" y=\"%d\" x=\"", TOP - 4);
            put_fixed(text, (i + 0.5) * step, 2);
            text_printf(text, "%%\">%zu</text>\n", bars[i]);
        }
    }
    text_printf(text, "<line class=\"axis\" x2=\"100%%\" y1=\"%d.5\" y2=\"%d.5\"/>\n", TOP + HEIGHT, TOP + HEIGHT);
    int every = n_bars <= 10 ? 1 : n_bars <= 20 ? 2 : 4;
    for (int i = 0; i <= n_bars; i += every) {
        text_printf(text, "<text text-anchor=\"middle\" y=\"%d\" x=\"", TOP + HEIGHT + 15);
        put_fixed(text, i * step, 2);
        text_put(text, "%\">");
        put_fixed(text, i * percent, percent < 1 && every % 2 ? 1 : 0);
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
            text_printf(text, "<span>%s</span>", layer_names[layer]);
    text_put(text, "</div></div></div>\n<div class=\"wide\"><div class=\"legend\">");
    for (int32_t label = 0; label < header->n_labels && has_layer(totals, LAYER_MASK); label++)
        put_swatch(text, header->palette[label], header->names[label]);
    if (totals->n_with_truth) {
        text_put(text, "<span class=\"gap\"></span>");
        put_difference_legend(text, header);
    }
    if (totals->n_refined) {
        text_put(text, "<span class=\"gap\"></span>");
        bool has_ground = !header->label_0_is_void;
        put_swatch(text, gained_colour, has_ground ? "made figure by refining" : "changed by refining");
        if (has_ground)
            put_swatch(text, lost_colour, "made ground by refining");
    }
    text_put(text, "</div></div>\n");
}

static void put_dialogs(struct text *text, const struct page_header *header)
{
    text_put(text, "<dialog id=\"view\" aria-labelledby=\"viewname\"><div class=\"viewhead\"><h2 id=\"viewname\"></h2>"
                   "<p id=\"viewscore\"></p><div class=\"group push\">");
    for (int layer = 0; layer < N_LAYERS; layer++)
        text_printf(text, "<button data-layer=\"%d\" aria-pressed=\"false\">%s <kbd>%d</kbd></button>", layer + 1,
                    layer_names[layer], layer + 1);
    text_put(text, "</div><button id=\"viewclose\">Close <kbd>Esc</kbd></button></div>\n"
                   "<div class=\"stage\" id=\"stage\" tabindex=\"-1\"></div><div class=\"viewfoot\"><span "
                   "class=\"count\" id=\"viewplace\">"
                   "</span><div class=\"legend\" id=\"viewlegend\">");
    put_difference_legend(text, header);
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

static int flush_text(FILE *stream, struct text *text)
{
    int result = text->failed ? -1 : 0;
    if (!result && text->size)
        fwrite(text->bytes, 1, text->size, stream);
    text_release(text);
    return result;
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
    put_dialogs(&text, header);
    text_printf(&text,
                "<main class=\"list wide%s\" id=\"list\" style=\"--highest:", totals->n_with_truth ? "" : " plain");
    put_fixed(&text, fmax(totals->highest_weighted_hamming, 1e-4), 6);
    text_put(&text, "\">\n");
    return flush_text(stream, &text);
}

void page_write_tail(FILE *stream, const struct page_totals *totals)
{
    fprintf(stream, "</main>\n<p class=\"empty\" id=\"empty\"%s>%s</p>\n<script>\n%s</script>\n</body>\n</html>\n",
            totals->n_images + totals->n_failures ? " hidden" : "",
            totals->n_images + totals->n_failures ? "No image matches the filter." : "There were no images.",
            page_script);
}

/* The folder small above the file's own name. */
static void put_name(struct text *text, const char *name)
{
    const char *slash = strrchr(name, '/');
    if (slash) {
        struct text folder;
        text_init(&folder, TEXT_MAX);
        text_append(&folder, name, (size_t)(slash + 1 - name));
        text_put(text, "<small>");
        text_put_html(text, folder.bytes ? folder.bytes : "");
        text_put(text, "</small>");
        text->failed |= folder.failed;
        text_release(&folder);
    }
    text_put_html(text, slash ? slash + 1 : name);
}

static void put_tags(struct text *text, const char *what, const char *tags)
{
    text_printf(text, "<p class=\"note\">%s: <b>", what);
    text_put_html(text, *tags ? tags : "none");
    text_put(text, "</b></p>");
}

static void put_scores(struct text *text, const struct clv_report_item *item)
{
    if (item->tags)
        put_tags(text, "tags", item->tags);
    if (item->true_tags)
        put_tags(text, "true tags", item->true_tags);
    if (isfinite(item->weighted_hamming)) {
        text_put(text, "<p class=\"score\" title=\"weighted Hamming error\">");
        put_fixed(text, 100 * item->weighted_hamming, 2);
        text_put(text, "<small>%</small></p><div class=\"meter\"><i style=\"--score:");
        put_fixed(text, item->weighted_hamming, 6);
        text_put(text, "\"></i></div>");
    }
    text_put(text, "<p class=\"note\">");
    if (isfinite(item->mean_iou)) {
        text_put(text, "IoU ");
        put_fixed(text, item->mean_iou, 3);
        text_put(text, "<br>");
    }
    if (item->unrefined && isfinite(item->unrefined_weighted_hamming)) {
        text_put(text, "unrefined ");
        put_fixed(text, 100 * item->unrefined_weighted_hamming, 2);
        text_put(text, " %<br>");
    }
    text_printf(text, "%d &times; %d</p></header>\n", item->image->width, item->image->height);
}

void page_picture_name(char name[PICTURE_NAME_MAX], size_t number, int layer, const char *type)
{
    snprintf(name, PICTURE_NAME_MAX, PICTURE_FOLDER "/%06zu-%d.%s", number, layer + 1,
             strcmp(type, "image/png") == 0 ? "png" : "jpg");
}

/* "Mask of a/b.jpg": what a reader of the page who does not see it is told. */
static int write_alt(FILE *stream, int layer, const char *name)
{
    struct text text;
    text_init(&text, TEXT_MAX);
    text_printf(&text, "%s of ", layer_names[layer]);
    text_put_html(&text, name);
    return flush_text(stream, &text);
}

int page_write_item(FILE *stream, const struct clv_report_item *item, const struct pictures *pictures, size_t number,
                    long at[N_LAYERS])
{
    struct text text;
    text_init(&text, TEXT_MAX);
    text_put(&text, "<article class=\"card row\" tabindex=\"-1\" data-name=\"");
    text_put_html(&text, item->name);
    text_put(&text, "\"");
    if (isfinite(item->weighted_hamming)) {
        text_put(&text, " data-score=\"");
        put_fixed(&text, item->weighted_hamming, 6);
        text_put(&text, "\" data-text=\"weighted Hamming ");
        put_fixed(&text, 100 * item->weighted_hamming, 2);
        text_put(&text, " %");
        if (isfinite(item->mean_iou)) {
            text_put(&text, ", IoU ");
            put_fixed(&text, item->mean_iou, 3);
        }
        text_put(&text, "\"");
    }
    text_put(&text, "><header><h2>");
    put_name(&text, item->name);
    text_put(&text, "</h2>");
    put_scores(&text, item);
    int result = flush_text(stream, &text);

    for (int layer = 0; layer < N_LAYERS && result == 0; layer++) {
        if (!pictures->layer[layer].bytes) {
            if (layer == LAYER_TRUTH && item->labels)
                fputs("<figure class=\"none\">no truth</figure>\n", stream);
            else if (layer == LAYER_DIFFERENCE && item->unrefined)
                fputs("<figure class=\"none\"></figure>\n", stream); /* keeps the columns */
            continue;
        }
        char file[PICTURE_NAME_MAX];
        page_picture_name(file, number, layer, pictures->layer[layer].type);
        fprintf(stream, "<figure><img data-layer=\"%d\" alt=\"", layer + 1);
        result = write_alt(stream, layer, item->name);
        fprintf(stream, "\" width=\"%d\" height=\"%d\" loading=\"lazy\" decoding=\"async\" src=\"", pictures->width,
                pictures->height);
        at[layer] = ftell(stream);
        fputs(file, stream);
        fprintf(stream, "\"><figcaption>%s</figcaption></figure>\n", layer_names[layer]);
    }
    fputs("</article>\n", stream);
    return result;
}

int page_write_failure(FILE *stream, const char *name, const char *message)
{
    struct text text;
    text_init(&text, TEXT_MAX);
    text_put(&text, "<article class=\"card failure\" tabindex=\"-1\" data-name=\"");
    text_put_html(&text, name);
    text_put(&text, "\"><h2>");
    put_name(&text, name);
    text_put(&text, "</h2><p>");
    text_put_html(&text, message);
    text_put(&text, "</p></article>\n");
    return flush_text(stream, &text);
}
