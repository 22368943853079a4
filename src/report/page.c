/* Writes the markup of the report: head with totals and histogram, one row for each item or failed file, tail with the
 * script. Start at page_write_head. */
#include "report/report.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/base64.h"

#define TEXT_MAX ((size_t)1 << 20)

/* Returns the heading of a layer, such as "Mask"; "Probability" for the mask of a probability map. */
static const char *layer_name(int layer, bool is_probability)
{
    static const char *const names[N_LAYERS] = {"Image", "Overlay", "Mask", "Truth", "Difference"};
    return layer == LAYER_MASK && is_probability ? "Probability" : names[layer];
}

/* Returns whether the page has a column for the layer. */
static bool has_layer(const struct page_totals *totals, int layer)
{
    if (layer == LAYER_OVERLAY || layer == LAYER_MASK)
        return totals->n_segmented + totals->n_probable > 0 || totals->n_images == 0;
    return layer < LAYER_TRUTH || totals->n_with_truth > 0;
}

/* Writes the text and releases it. Returns -1 if memory for it was short. Write errors stay in the stream. */
static int flush(FILE *stream, struct text *text)
{
    int result = text->failed ? -1 : 0;
    if (!result && text->size)
        fwrite(text->bytes, 1, text->size, stream);
    text_release(text);
    return result;
}

/* Writes plain text between markup. */
static void put_between(struct text *text, const char *before, const char *plain, const char *after)
{
    text_put(text, before);
    text_put_html(text, plain);
    text_put(text, after);
}

static void put_mean(struct text *text, double sum, size_t n, int decimals, const char *unit, const char *what)
{
    text_put(text, "<div class=\"tile\"><b>");
    if (n)
        text_printf(text, "%.*f%s", decimals, sum / (double)n, unit);
    else
        text_put(text, "&ndash;");
    text_printf(text, "</b><span>%s</span></div>\n", what);
}

static void put_count(struct text *text, const char *class, size_t n, const char *one, const char *many)
{
    text_printf(text, "<div class=\"tile %s\"><b>%zu</b><span>%s</span></div>\n", class, n, n == 1 ? one : many);
}

/* Writes a chart; bar i is from edges[i] to edges[i + 1]. */
static void put_chart(struct text *text, const char *caption, const size_t *bars, const double *edges, int n_bars,
                      int decimals, const char *unit)
{
    size_t highest = 1;
    for (int i = 0; i < n_bars; i++)
        highest = bars[i] > highest ? bars[i] : highest;
    text_printf(text, "<figure class=\"tile chart\"><figcaption>%s</figcaption><div>\n", caption);
    for (int i = 0; i < n_bars; i++)
        text_printf(text, "<i style=\"height:%.1f%%\" title=\"%zu from %.*f to %.*f %s\"></i>\n",
                    100 * (double)bars[i] / (double)highest, bars[i], decimals, edges[i], decimals, edges[i + 1], unit);
    text_printf(text, "</div><small><span>%.0f</span><span>%.*f %s</span></small></figure>\n", edges[0], decimals,
                edges[n_bars], unit);
}

/* Writes the chart of errors: at most 25 bars, each a multiple of half a percent wide. */
static void put_errors(struct text *text, const struct page_totals *totals)
{
    enum { MOST = 25, FEWEST = 8 };
    size_t bars[HISTOGRAM_CELLS + 1] = {0};
    double edges[HISTOGRAM_CELLS + 2];
    int last = HISTOGRAM_CELLS;
    while (last > 0 && !totals->histogram[last])
        last--;
    int width = last / MOST + 1, n_bars = last / width + 1;
    for (int cell = 0; cell <= last; cell++)
        bars[cell / width] += totals->histogram[cell];
    n_bars = n_bars < FEWEST ? FEWEST : n_bars;
    for (int i = 0; i <= n_bars; i++)
        edges[i] = 100. * width / HISTOGRAM_CELLS * i;
    put_chart(text, "Images by weighted Hamming error", bars, edges, n_bars, 1, "%");
}

static void put_areas(struct text *text, const struct page_totals *totals)
{
    double edges[AREA_CELLS + 1];
    int first = 0, end = AREA_CELLS;
    while (first < end && !totals->areas[first])
        first++;
    while (end > first && !totals->areas[end - 1])
        end--;
    for (int i = first; i <= end; i++)
        edges[i] = ceil(sqrt(ldexp(1, i)));
    if (first < end)
        put_chart(text, "Objects by area", totals->areas + first, edges + first, end - first, 0, "px");
}

static void put_summary(struct text *text, const struct page_totals *totals)
{
    text_put(text, "<section class=\"summary wide\" aria-label=\"Summary\">\n");
    const bool is_probable = totals->n_probable > 0;
    put_count(text, "", totals->n_images, is_probable ? "probability map" : "image segmented",
              is_probable ? "probability maps" : "images segmented");
    put_mean(text, 100 * totals->sum_weighted_hamming, totals->n_scored, 2, "<small>%</small>",
             "mean weighted Hamming error");
    put_mean(text, totals->sum_iou, totals->n_with_iou, 3, "", "mean intersection over union");
    put_count(text, totals->n_failures ? "failed" : "", totals->n_failures, "file failed", "files failed");
    if (totals->n_with_objects)
        put_count(text, "", totals->n_objects, "object found", "objects found");
    if (totals->n_scored)
        put_errors(text, totals);
    put_areas(text, totals);
    text_put(text, "</section>\n");
}

static void put_swatch(struct text *text, const uint8_t colour[3], const char *name)
{
    text_printf(text, "<span><i style=\"--c:#%02x%02x%02x\"></i>", colour[0], colour[1], colour[2]);
    put_between(text, "", name, "</span>");
}

static void put_legend(struct text *text, const struct page_header *header, const struct page_totals *totals)
{
    static const uint8_t never[3] = {0, 0, 0}, always[3] = {255, 255, 255};
    bool is_binary = header->n_labels <= 2;
    text_put(text, "<div class=\"legend\">");
    if (totals->n_probable) {
        put_swatch(text, never, "probability 0");
        put_swatch(text, always, "probability 1");
        put_swatch(text, uncertain_colour, "uncertain");
    }
    for (int32_t label = 0; label < header->n_labels && totals->n_segmented; label++)
        if (header->names[label][0])
            put_swatch(text, header->palette[label], header->names[label]);
    if (totals->n_with_truth) {
        text_put(text, "<span class=\"gap\"></span>");
        if (!header->label_0_is_void) { /* else there are no false alarms and misses */
            put_swatch(text, difference_palette[DIFFERENCE_FALSE_ALARM], "false alarm");
            put_swatch(text, difference_palette[DIFFERENCE_MISS], "miss");
        }
        if (!is_binary)
            put_swatch(text, difference_palette[DIFFERENCE_WRONG_LABEL], "wrong label");
        put_swatch(text, difference_palette[DIFFERENCE_FOREGROUND], is_binary ? "right foreground" : "right label");
    }
    text_put(text, "</div>\n");
}

static void put_toolbar(struct text *text, const struct page_header *header, const struct page_totals *totals)
{
    text_put(text, "<div class=\"bar\"><div class=\"tools wide\" role=\"toolbar\" aria-label=\"Sort and filter\">\n"
                   "<div class=\"group\"><span>Sort</span>");
    if (totals->n_scored)
        text_put(text,
                 "<button data-sort=\"worst\">Worst first</button><button data-sort=\"best\">Best first</button>");
    text_put(text, "<button data-sort=\"name\">Name</button></div>\n"
                   "<input type=\"search\" id=\"find\" placeholder=\"Filter by name\" aria-label=\"Filter by name\">\n"
                   "<span class=\"count\" id=\"count\" role=\"status\"></span></div>\n"
                   "<div class=\"wide\"><div class=\"row heads\" aria-hidden=\"true\">");
    text_printf(text, "<span>%s</span>", totals->n_scored ? "Weighted Hamming" : "");
    for (int layer = 0; layer < N_LAYERS; layer++)
        if (has_layer(totals, layer))
            text_printf(text, "<span>%s</span>", layer_name(layer, totals->n_probable > 0));
    text_put(text, "</div></div></div>\n<div class=\"wide\">");
    put_legend(text, header, totals);
    text_put(text, "</div>\n");
}

static void put_view(struct text *text, const struct page_header *header, const struct page_totals *totals)
{
    text_put(text, "<dialog id=\"view\" aria-labelledby=\"viewname\"><div class=\"tools\"><h2 id=\"viewname\"></h2>"
                   "<span class=\"count\" id=\"viewscore\"></span><div class=\"group push\">");
    for (int layer = 0; layer < N_LAYERS; layer++)
        text_printf(text, "<button data-layer=\"%d\">%s <kbd>%d</kbd></button>", layer + 1,
                    layer_name(layer, totals->n_probable > 0), layer + 1);
    text_put(text, "</div><button id=\"close\">Close <kbd>Esc</kbd></button></div>\n"
                   "<div id=\"stage\"></div><div class=\"tools\"><div class=\"group\">"
                   "<button id=\"before\" aria-label=\"Previous image\">&lsaquo;</button>"
                   "<button id=\"after\" aria-label=\"Next image\">&rsaquo;</button></div>"
                   "<span class=\"count\" id=\"viewplace\"></span>\n");
    put_legend(text, header, totals);
    text_put(text, "</div></dialog>\n");
}

int page_write_head(FILE *stream, const struct page_header *header, const struct page_totals *totals)
{
    struct text text;
    int n_columns = 0;
    for (int layer = 0; layer < N_LAYERS; layer++)
        n_columns += has_layer(totals, layer);
    text_init(&text, TEXT_MAX);
    /* The policy ensures that the page loads nothing except the images next to it. */
    text_put(&text, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:");
    text_put(&text, totals->n_images > PAGE_ROWS ? " 'self' file:" : "");
    text_put(&text, "; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n");
    put_between(&text, "<title>", header->title, "</title>\n<style>\n");
    text_put(&text, page_style);
    text_printf(&text, ":root { --n: %d; }\n</style>\n</head>\n<body>\n", n_columns);
    put_between(&text, "<header class=\"wide\"><h1>", header->title, "</h1>\n<dl class=\"facts\">\n");
    for (size_t i = 0; i < header->n_facts; i++) {
        put_between(&text, "<div><dt>", header->facts[2 * i], "</dt>");
        put_between(&text, "<dd>", header->facts[2 * i + 1], "</dd></div>\n");
    }
    text_put(&text, "</dl></header>\n");
    put_summary(&text, totals);
    put_toolbar(&text, header, totals);
    put_view(&text, header, totals);
    text_printf(&text, "<main class=\"list wide%s\" id=\"list\" style=\"--highest:%.6f\">\n",
                totals->n_with_truth ? "" : " plain", fmax(totals->highest_weighted_hamming, 1e-4));
    return flush(stream, &text);
}

void page_write_tail(FILE *stream, const struct page_totals *totals)
{
    size_t n = totals->n_images + totals->n_failures;
    if (n > PAGE_ROWS)
        fprintf(stream,
                "</template><noscript><p class=\"empty\">Without scripts only the first %d files are shown."
                "</p></noscript>\n",
                PAGE_ROWS);
    fprintf(stream,
            "</main>\n<nav class=\"pager wide\" id=\"pager\" aria-label=\"Pages\" hidden><button id=\"earlier\">"
            "&lsaquo; Earlier</button><span class=\"count\" id=\"part\" role=\"status\"></span><button id=\"later\">"
            "Later &rsaquo;</button></nav>\n<p class=\"empty\" id=\"empty\"%s>%s</p>\n<script>\n%s</script>\n"
            "</body>\n</html>\n",
            n ? " hidden" : "", n ? "No image matches the filter." : "There were no images.", page_script);
}

void page_image_name(char name[IMAGE_NAME_MAX], size_t number, int layer, const char *type)
{
    snprintf(name, IMAGE_NAME_MAX, IMAGE_FOLDER "/%06zu-%d.%s", number, layer + 1,
             strcmp(type, "image/png") == 0 ? "png" : "jpg");
}

/* Writes the beginning of a row and its heading, with the folder small above the name of the file. Rows far down the
 * list are in a template, which takes little of the browser's time; the script shows them part by part. */
static void begin_row(struct text *text, const char *class, const char *name, size_t row, const char *attributes)
{
    const char *slash = strrchr(name, '/');
    text_put(text, row == PAGE_ROWS + 1 ? "<template id=\"rest\">\n" : "");
    text_printf(text, "<article class=\"card %s\" tabindex=\"0\" ", class);
    put_between(text, "data-name=\"", name, "\"");
    text_printf(text, "%s><header><h2>", attributes);
    if (slash) {
        struct text folder;
        text_init(&folder, TEXT_MAX);
        text_append(&folder, name, (size_t)(slash + 1 - name));
        put_between(text, "<small>", folder.bytes ? folder.bytes : "", "</small>");
        text->failed |= folder.failed;
        text_release(&folder);
    }
    put_between(text, "", slash ? slash + 1 : name, "</h2>");
}

static void put_scores(struct text *text, const struct page_item *item)
{
    if (item->tags)
        put_between(text, "<p class=\"note\">tags: <b>", *item->tags ? item->tags : "none", "</b></p>");
    if (item->true_tags)
        put_between(text, "<p class=\"note\">true tags: <b>", *item->true_tags ? item->true_tags : "none", "</b></p>");
    if (isfinite(item->weighted_hamming))
        text_printf(text,
                    "<p class=\"score\" title=\"weighted Hamming error\">%.2f<small>%%</small></p>"
                    "<div class=\"meter\"><i style=\"--score:%.6f\"></i></div>",
                    100 * item->weighted_hamming, item->weighted_hamming);
    text_put(text, "<p class=\"note\">");
    if (item->note)
        put_between(text, "", item->note, "<br>");
    if (isfinite(item->mean_iou))
        text_printf(text, "IoU %.3f<br>", item->mean_iou);
    text_printf(text, "%d &times; %d</p></header>\n", item->width, item->height);
}

int page_write_item(FILE *stream, const struct page_item *item, size_t number, size_t row)
{
    const struct item_images *images = &item->images;
    struct text text;
    char score[64] = "";
    text_init(&text, TEXT_MAX);
    if (isfinite(item->weighted_hamming))
        point_snprintf(score, sizeof score, " data-score=\"%.6f\"", item->weighted_hamming);
    begin_row(&text, "row", item->name, row, score);
    put_scores(&text, item);
    int result = flush(stream, &text);
    for (int layer = 0; layer < N_LAYERS && result == 0; layer++) {
        const char *name = layer_name(layer, item->is_probable), *type = images->layer[layer].type;
        if (!images->layer[layer].bytes) {
            if (layer == LAYER_TRUTH && item->is_segmented)
                fputs("<figure class=\"none\">no truth</figure>\n", stream);
            continue;
        }
        text_init(&text, TEXT_MAX);
        text_printf(&text, "<figure><img data-layer=\"%d\" alt=\"%s of ", layer + 1, name);
        put_between(&text, "", item->name, "\"");
        text_printf(&text, " width=\"%d\" height=\"%d\" loading=\"lazy\" src=\"", images->width, images->height);
        result = flush(stream, &text);
        if (number > PAGE_ROWS) {
            char file[IMAGE_NAME_MAX];
            page_image_name(file, number, layer, type);
            fputs(file, stream);
        } else {
            fprintf(stream, "data:%s;base64,", type);
            base64_write(stream, images->layer[layer].bytes, images->layer[layer].size);
        }
        fprintf(stream, "\"><figcaption>%s</figcaption></figure>\n", name);
    }
    fputs("</article>\n", stream);
    return result;
}

int page_write_failure(FILE *stream, const char *name, const char *message, size_t row)
{
    struct text text;
    text_init(&text, TEXT_MAX);
    begin_row(&text, "failure", name, row, "");
    put_between(&text, "</header><p>", message, "</p></article>\n");
    return flush(stream, &text);
}
