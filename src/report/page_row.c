/* One image of the page, or one file that failed. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "report/page.h"

#define TEXT_MAX ((size_t)1 << 20)

const char *page_layer_name(int layer, bool is_probability)
{
    static const char *const names[N_LAYERS] = {"Image", "Overlay", "Mask", "Truth", "Difference", "Refined"};
    return layer == LAYER_MASK && is_probability ? "Probability" : names[layer];
}

void page_put_fixed(struct text *text, double value, int decimals)
{
    static const int64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    int64_t scaled = llround(value * (double)powers[decimals]);
    text_printf(text, "%" PRId64, scaled / powers[decimals]);
    if (decimals)
        text_printf(text, ".%0*" PRId64, decimals, scaled % powers[decimals]);
}

int page_flush(FILE *stream, struct text *text)
{
    int result = text->failed ? -1 : 0;
    if (!result && text->size)
        fwrite(text->bytes, 1, text->size, stream);
    text_release(text);
    return result;
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
        page_put_fixed(text, 100 * item->weighted_hamming, 2);
        text_put(text, "<small>%</small></p><div class=\"meter\"><i style=\"--score:");
        page_put_fixed(text, item->weighted_hamming, 6);
        text_put(text, "\"></i></div>");
    }
    text_put(text, "<p class=\"note\">");
    if (item->note) {
        text_put_html(text, item->note);
        text_put(text, "<br>");
    }
    if (isfinite(item->mean_iou)) {
        text_put(text, "IoU ");
        page_put_fixed(text, item->mean_iou, 3);
        text_put(text, "<br>");
    }
    if (item->unrefined && isfinite(item->unrefined_weighted_hamming)) {
        text_put(text, "unrefined ");
        page_put_fixed(text, 100 * item->unrefined_weighted_hamming, 2);
        text_put(text, " %<br>");
    }
    text_printf(text, "%d &times; %d</p></header>\n", item->image->width, item->image->height);
}

void page_picture_name(char name[PICTURE_NAME_MAX], size_t number, int layer, const char *type)
{
    snprintf(name, PICTURE_NAME_MAX, PICTURE_FOLDER "/%06zu-%d.%s", number, layer + 1,
             strcmp(type, "image/png") == 0 ? "png" : "jpg");
}

/* "12.3 % false alarm, 4.5 % miss": the labels that cover most, at most three of them. */
static void put_shares(struct text *text, const uint32_t counts[256], const char *(*name)(const void *, int),
                       const void *names)
{
    uint32_t left[256];
    double total = 0;
    memcpy(left, counts, sizeof left);
    for (int k = 0; k < 256; k++)
        total += left[k];
    for (int n = 0; n < 3; n++) {
        int most = 0;
        for (int k = 1; k < 256; k++)
            most = left[k] > left[most] ? k : most;
        if (!left[most])
            return;
        text_put(text, n ? ", " : ": ");
        page_put_fixed(text, 100 * left[most] / total, 1);
        text_put(text, " % ");
        text_put_html(text, name(names, most));
        left[most] = 0;
    }
}

static const char *label_name(const void *header, int label)
{
    const struct page_header *self = header;
    return label < self->n_labels ? self->names[label] : label == CLV_VOID ? "void" : "unknown";
}

static const char *difference_name(const void *header, int difference)
{
    static const char *const names[N_DIFFERENCES] = {
        [DIFFERENCE_GROUND] = "right ground",     [DIFFERENCE_FIGURE] = "right figure",
        [DIFFERENCE_FALSE_ALARM] = "false alarm", [DIFFERENCE_MISS] = "missed",
        [DIFFERENCE_WRONG_LABEL] = "wrong label", [DIFFERENCE_VOID] = "left out"};
    const struct page_header *self = header;
    return difference == DIFFERENCE_FIGURE && self->n_labels > 2 ? "right label"
           : difference < N_DIFFERENCES                          ? names[difference]
                                                                 : "unknown";
}

static const char *change_name(const void *header, int change)
{
    static const char *const names[] = {"as before", "made figure", "made ground"};
    (void)header;
    return names[change < 3 ? change : 0];
}

/* "Mask of a/b.jpg: 80.1 % background, 19.9 % figure": what a reader of the page who does not see it is told. */
static int write_alt(FILE *stream, const struct page_header *header, int layer, const struct clv_report_item *item,
                     const struct pictures *pictures)
{
    const uint32_t *counts = pictures->layer[layer].counts;
    struct text text;
    text_init(&text, TEXT_MAX);
    text_printf(&text, "%s of ", page_layer_name(layer, item->probability));
    text_put_html(&text, item->name);
    if (layer == LAYER_DIFFERENCE)
        put_shares(&text, counts, difference_name, header);
    else if (layer == LAYER_REFINED)
        put_shares(&text, counts, change_name, header);
    else if (layer != LAYER_IMAGE && !item->probability)
        put_shares(&text, counts, label_name, header);
    else if (item->note && layer != LAYER_IMAGE)
        text_printf(&text, ": "), text_put_html(&text, item->note);
    return page_flush(stream, &text);
}

/* A row that is far down the list is a comment, which costs the browser next to nothing; the script makes an element of
 * it as long as it is looked at. Names cannot end it: their ">" is written "&gt;". */
static void begin_row(FILE *stream, size_t place)
{
    fputs(place > PAGE_ROWS ? "<!--" : "", stream);
}

static void end_row(FILE *stream, size_t place)
{
    fputs(place > PAGE_ROWS ? "-->\n" : "\n", stream);
}

int page_write_item(FILE *stream, const struct page_header *header, const struct clv_report_item *item,
                    const struct pictures *pictures, size_t number, size_t place, long at[N_LAYERS])
{
    struct text text;
    text_init(&text, TEXT_MAX);
    begin_row(stream, place);
    text_put(&text, "<article class=\"card row\" tabindex=\"-1\" data-name=\"");
    text_put_html(&text, item->name);
    text_put(&text, "\"");
    if (isfinite(item->weighted_hamming)) {
        text_put(&text, " data-score=\"");
        page_put_fixed(&text, item->weighted_hamming, 6);
        text_put(&text, "\" data-text=\"weighted Hamming ");
        page_put_fixed(&text, 100 * item->weighted_hamming, 2);
        text_put(&text, " %");
        if (isfinite(item->mean_iou)) {
            text_put(&text, ", IoU ");
            page_put_fixed(&text, item->mean_iou, 3);
        }
        text_put(&text, "\"");
    }
    text_put(&text, "><header><h2>");
    put_name(&text, item->name);
    text_put(&text, "</h2>");
    put_scores(&text, item);
    int result = page_flush(stream, &text);

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
        result = write_alt(stream, header, layer, item, pictures);
        fprintf(stream, "\" width=\"%d\" height=\"%d\" loading=\"lazy\" decoding=\"async\" src=\"", pictures->width,
                pictures->height);
        at[layer] = ftell(stream);
        fputs(file, stream);
        fprintf(stream, "\"><figcaption>%s</figcaption></figure>\n", page_layer_name(layer, item->probability));
    }
    fputs("</article>", stream);
    end_row(stream, place);
    return result;
}

int page_write_failure(FILE *stream, const char *name, const char *message, size_t place)
{
    struct text text;
    text_init(&text, TEXT_MAX);
    begin_row(stream, place);
    text_put(&text, "<article class=\"card failure\" tabindex=\"-1\" data-name=\"");
    text_put_html(&text, name);
    text_put(&text, "\"><h2>");
    put_name(&text, name);
    text_put(&text, "</h2><p>");
    text_put_html(&text, message);
    text_put(&text, "</p></article>");
    int result = page_flush(stream, &text);
    end_row(stream, place);
    return result;
}
