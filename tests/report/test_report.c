#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/base64.h"
#include "report/report.h"
#include "support/support.h"

#define N_SPOOLED 130 /* more than the page holds the images of */

static struct clv_labels labels;

static void make_labels(void)
{
    must(clv_labels_binary(&labels, err));
}

static void release_labels(void)
{
    clv_labels_release(&labels);
}

static struct clv_report *begin(const char *folder)
{
    static const char *const summary[][2] = {{"Model", "horse.cleave"}, {"Command", "segment \"a\" & <b>"}};
    struct clv_report *report;
    must(clv_report_begin(&report, folder, "Horses & <others>", &labels, summary, 2, err));
    return report;
}

/* An image whose left `foreground` columns are foreground and whose left `truth` columns truly are. */
static void add(struct clv_report *report, const char *name, int32_t width, int32_t height, int foreground, int truth,
                double score)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    size_t n = (size_t)width * (size_t)height;
    uint8_t *masks[2] = {calloc(n, 1), calloc(n, 1)};
    must(clv_image_new(&image, width, height, 3, err));
    for (size_t i = 0; i < n; i++) {
        masks[0][i] = (int)(i % (size_t)width) < foreground;
        masks[1][i] = (int)(i % (size_t)width) < truth;
        image.pixels[3 * i] = (uint8_t)(i * 7);
    }
    struct clv_report_item item = {.name = name,
                                   .image = &image,
                                   .labels = masks[0],
                                   .truth = truth < 0 ? NULL : masks[1],
                                   .weighted_hamming = score,
                                   .mean_iou = 1 - 2 * score};
    must(clv_report_add(report, &item, err));
    free(masks[0]);
    free(masks[1]);
}

/* A folder for one test's report, in memory that lasts (formatted()'s ring does not). */
static const char *place(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", temporary_folder(), name);
    return path;
}

static int count(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}

static size_t count_entries(const char *folder)
{
    OWNED(path_list_release) struct path_list list = {0};
    must(folder_walk(&list, folder, err));
    size_t n = list.n;
    return n;
}

/* Decodes the first data: URI of a type after `from` into *bytes (free it) and returns what follows. */
static const char *decode_image(uint8_t **bytes, size_t *size, const char *from, const char *type)
{
    const char *start = strstr(from, formatted("data:%s;base64,", type));
    ck_assert_msg(start != NULL, "no image of type %s", type);
    start = strchr(start, ',') + 1;
    size_t length = strcspn(start, "\"");
    ck_assert_uint_eq(length % 4, 0);
    *bytes = malloc(length);
    *size = 0;
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t group = 0;
    for (size_t i = 0; i < length; i++) {
        const char *digit = start[i] == '=' ? digits : strchr(digits, start[i]);
        ck_assert(digit && *digit);
        group = group << 6 | (uint32_t)(digit - digits);
        if (i % 4 == 3)
            for (int shift = 16; shift >= 0; shift -= 8)
                (*bytes)[(*size)++] = (uint8_t)(group >> shift);
    }
    *size -= (start[length - 1] == '=') + (start[length - 2] == '=');
    return start + length;
}

/* The first 100 images are in the page, the images of later ones are files next to it. */
TEST(layers_of_many_images_are_next_to_the_page)
{
    for (int n = 100; n <= 101; n++) {
        const char *folder = place(n == 100 ? "few" : "many");
        struct clv_report *report = begin(folder);
        for (int i = 0; i < n; i++)
            add(report, formatted("a/%03d.jpg", i), 8, 6, 3, 4, 0.1);
        must(clv_report_finish(report, err));
        OWNED_ARRAY char *page = slurp(formatted("%s/index.html", folder), NULL);
        ck_assert_int_eq(count(page, " src=\"data:image/"), 5 * 100);
        ck_assert_int_eq(count(page, " src=\"index-pictures/0"), n == 100 ? 0 : 5);
        ck_assert_ptr_nonnull(strstr(page, "alt=\"Mask of a/099.jpg\""));
        ck_assert_int_eq(count(page, "<template id=\"rest\">\n<article"), n > 100);
        ck_assert_int_eq(count(page, "</template>"), n > 100);
        ck_assert_int_eq(strstr(page, "img-src data: 'self' file:") != NULL, n > 100);
        ck_assert_int_eq(path_exists(formatted("%s/index-pictures", folder)), n > 100);
        if (n == 100)
            continue;
        OWNED(clv_image_release) struct clv_image photo = {0};
        OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
        must(clv_image_read(&photo, formatted("%s/index-pictures/000101-1.jpg", folder), NULL, err));
        must(clv_indexed_image_read(&mask, formatted("%s/index-pictures/000101-3.png", folder), NULL, err));
        ck_assert(photo.width == 8 && mask.width == 8 && mask.values[2] == 1 && mask.values[3] == 0);
    }
}

TEST(objects_are_counted_and_their_areas_are_a_chart_only_where_they_were_looked_for)
{
    const struct clv_object rows[2][3] = {{{.area = 1}, {.area = 100}, {.area = 110}}, {{.area = 127}}};
    uint8_t pixels[3] = {0}, label = 1;
    const struct clv_image image = {.width = 1, .height = 1, .channels = 3, .pixels = pixels};
    for (int k = 0; k < 3; k++) {
        const char *folder = place(k == 0 ? "none" : k == 1 ? "no-object" : "objects");
        struct clv_report *report = begin(folder);
        for (int i = 0; i < 2; i++) {
            const struct clv_report_item item = {.name = "a.jpg",
                                                 .image = &image,
                                                 .labels = &label,
                                                 .weighted_hamming = NAN,
                                                 .mean_iou = NAN,
                                                 .objects = k ? rows[i] : NULL,
                                                 .n_objects = k < 2 ? 0
                                                              : i   ? 1
                                                                    : 3};
            must(clv_report_add(report, &item, err));
        }
        must(clv_report_finish(report, err));
        OWNED_ARRAY char *page = slurp(formatted("%s/index.html", folder), NULL);
        ck_assert_int_eq(count(page, "objects found"), k > 0);
        ck_assert_int_eq(count(page, "<figcaption>Objects by area"), k == 2);
        if (k == 2) { /* bars of half octaves, from 1 to 128 */
            ck_assert_ptr_nonnull(strstr(page, "<b>4</b><span>objects found"));
            ck_assert_int_eq(count(page, " px\"></i>"), 14);
            ck_assert_ptr_nonnull(strstr(page, "<i style=\"height:33.3%\" title=\"1 from 1 to 2 px\"></i>"));
            ck_assert_ptr_nonnull(strstr(page, "<i style=\"height:100.0%\" title=\"3 from 91 to 128 px\"></i>"));
            ck_assert_ptr_nonnull(strstr(page, "<span>1</span><span>128 px</span>"));
        }
    }
}

TEST(objects_of_any_area_are_counted_and_empty_ones_have_no_bar)
{
    const struct clv_object objects[] = {{.area = 0}, {.area = 1}, {.area = (int64_t)1 << 40}, {.area = INT64_MAX}};
    uint8_t pixels[3] = {0}, label = 1;
    const struct clv_image image = {.width = 1, .height = 1, .channels = 3, .pixels = pixels};
    for (int32_t n = 1; n <= 4; n++) {
        const struct clv_report_item item = {.name = "a.jpg",
                                             .image = &image,
                                             .labels = &label,
                                             .weighted_hamming = NAN,
                                             .mean_iou = NAN,
                                             .objects = objects,
                                             .n_objects = n};
        const char *folder = here("area%d", n);
        struct clv_report *report = begin(folder);
        must(clv_report_add(report, &item, err));
        must(clv_report_finish(report, err));
        OWNED_ARRAY char *page = slurp(formatted("%s/index.html", folder), NULL);
        ck_assert_ptr_nonnull(strstr(page, formatted("<b>%d</b><span>object%s found", n, n == 1 ? "" : "s")));
        ck_assert_int_eq(count(page, "<figcaption>Objects by area"), n > 1);
        ck_assert_int_eq(count(page, "title=\"1 from 1 to 2 px\""), n > 1);
        ck_assert_int_eq(count(page, "title=\"1 from 1099511627776 to 1554944255988 px\""), n > 2);
    }
}

TEST(base64_follows_the_rfc)
{
    static const char *const vectors[][2] = {{"", ""},
                                             {"f", "Zg=="},
                                             {"fo", "Zm8="},
                                             {"foo", "Zm9v"},
                                             {"foob", "Zm9vYg=="},
                                             {"fooba", "Zm9vYmE="},
                                             {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        OWNED_ARRAY char *out = NULL;
        size_t size;
        FILE *stream = open_memstream(&out, &size);
        base64_write(stream, vectors[i][0], strlen(vectors[i][0]));
        fclose(stream);
        ck_assert_str_eq(out, vectors[i][1]);
    }
    static uint8_t long_run[10000]; /* longer than the encoder's buffer */
    memset(long_run, 0xff, sizeof long_run);
    OWNED_ARRAY char *out = NULL;
    size_t size;
    FILE *stream = open_memstream(&out, &size);
    base64_write(stream, long_run, 9999);
    fclose(stream);
    ck_assert_uint_eq(size, 13332);
    ck_assert_uint_eq(strspn(out, "/"), 13332);
}

TEST(page_has_totals_cards_and_failures)
{
    const char *folder = place("page");
    struct clv_report *report = begin(folder);
    ck_assert(!path_exists(formatted("%s/index.html", folder)));
    add(report, "images/one.jpg", 20, 10, 10, 8, 0.05);
    add(report, "images/two.jpg", 20, 10, 10, 2, 0.15);
    add(report, "three.jpg", 20, 10, 10, -1, NAN);
    must(clv_report_add_failure(report, "bad.png", "bad.png: truncated PNG", err));
    must(clv_report_finish(report, err));
    OWNED_ARRAY char *page = slurp(formatted("%s/index.html", folder), NULL);
    ck_assert_int_eq(strncmp(page, "<!doctype html>", 15), 0);
    ck_assert_ptr_nonnull(strstr(page, "<b>3</b><span>images segmented</span>"));
    ck_assert_ptr_nonnull(strstr(page, "<b>10.00<small>%</small></b><span>mean weighted Hamming error</span>"));
    ck_assert_ptr_nonnull(strstr(page, "<b>0.800</b><span>mean intersection over union</span>"));
    ck_assert_ptr_nonnull(strstr(page, "<b>1</b><span>file failed</span>"));
    ck_assert_int_eq(count(page, "<article class=\"card row\""), 3);
    ck_assert_int_eq(count(page, "data-score="), 2);
    ck_assert_int_eq(count(page, "<figure><img"), 5 + 5 + 3);
    ck_assert_int_eq(count(page, ">no truth<"), 1);
    ck_assert_ptr_nonnull(strstr(page, "bad.png: truncated PNG"));
    ck_assert_ptr_nonnull(strstr(page, "<small>images/</small>one.jpg"));
    ck_assert_int_eq(count(page, " title=\"1 from "), 2);
    ck_assert_str_eq(page + strlen(page) - 8, "</html>\n");
    ck_assert_uint_eq(count_entries(folder), 1);
}

TEST(page_refers_to_nothing_outside_itself)
{
    const char *folder = place("closed");
    struct clv_report *report = begin(folder);
    add(report, "one.jpg", 8, 8, 4, 4, 0);
    must(clv_report_finish(report, err));
    OWNED_ARRAY char *page = slurp(formatted("%s/index.html", folder), NULL);
    ck_assert_ptr_nonnull(strstr(page, "default-src 'none'"));
    ck_assert_int_eq(count(page, "http:") + count(page, "https:") + count(page, "//cdn") + count(page, "<link"), 0);
    ck_assert_int_eq(count(page, " src=\""), count(page, " src=\"data:image/"));
    ck_assert_int_eq(count(page, "url("), 0);
}

TEST(names_and_messages_are_escaped)
{
    const char *folder = place("escaped");
    struct clv_report *report = begin(folder);
    add(report, "<script>\"'&.jpg", 8, 8, 4, 4, 0);
    add(report, "<b>/\xff.jpg", 8, 8, 4, 4, 0);
    must(clv_report_add_failure(report, "</article>", "</p><script>", err));
    must(clv_report_finish(report, err));
    OWNED_ARRAY char *page = slurp(formatted("%s/index.html", folder), NULL);
    ck_assert_int_eq(count(page, "<script>"), 1);
    ck_assert_int_eq(count(page, "</article>"), 3);
    ck_assert_ptr_null(strstr(page, "<b>/"));
    ck_assert_ptr_nonnull(strstr(page, "&lt;script&gt;&quot;&#39;&amp;.jpg"));
    ck_assert_ptr_nonnull(strstr(page, "<small>&lt;b&gt;/</small>\xef\xbf\xbd.jpg"));
    ck_assert_ptr_nonnull(strstr(page, "<title>Horses &amp; &lt;others&gt;</title>"));
    ck_assert_ptr_nonnull(strstr(page, "<dd>segment &quot;a&quot; &amp; &lt;b&gt;</dd>"));
}

TEST(images_show_masks_and_errors_at_a_bounded_size)
{
    const char *folder = place("pictures");
    struct clv_report *report = begin(folder);
    add(report, "wide.jpg", 1300, 130, 650, 325, 0.25);
    must(clv_report_finish(report, err));
    OWNED_ARRAY char *page = slurp(formatted("%s/index.html", folder), NULL);
    const char *at = page;
    struct clv_indexed_image labels_shown[3] = {0};
    uint8_t *bytes;
    size_t size;
    decode_image(&bytes, &size, page, "image/jpeg");
    OWNED(clv_image_release) struct clv_image photo = {0};
    must(clv_image_decode(&photo, bytes, size, NULL, err));
    ck_assert_int_eq(photo.width, 640);
    ck_assert_int_eq(photo.height, 64);
    free(bytes);
    for (int i = 0; i < 3; i++) {
        at = decode_image(&bytes, &size, at, "image/png");
        must(clv_indexed_image_decode(&labels_shown[i], bytes, size, NULL, err));
        ck_assert_int_eq(labels_shown[i].width, 640);
        ck_assert_int_eq(labels_shown[i].height, 64);
        free(bytes);
    }
    /* Mask and truth at x = 100, 240, 600; the difference is right foreground, false alarm, background. */
    static const int x[3] = {100, 240, 600}, mask[3] = {1, 1, 0}, truth[3] = {1, 0, 0}, difference[3] = {1, 2, 0};
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(labels_shown[0].values[x[i]], mask[i]);
        ck_assert_int_eq(labels_shown[1].values[x[i]], truth[i]);
        ck_assert_int_eq(labels_shown[2].values[x[i]], difference[i]);
    }
    for (int i = 0; i < 3; i++)
        clv_indexed_image_release(&labels_shown[i]);
}

TEST(reports_without_truth_or_without_images_are_pages_too)
{
    const char *folder = place("plain");
    struct clv_report *report = begin(folder);
    add(report, "one.jpg", 1, 1, 1, -1, NAN);
    must(clv_report_finish(report, err));
    OWNED_ARRAY char *page = slurp(formatted("%s/index.html", folder), NULL);
    ck_assert_ptr_null(strstr(page, "<figcaption>Images by"));
    ck_assert_ptr_null(strstr(page, "data-sort=\"worst\""));
    ck_assert_int_eq(count(page, "&ndash;</b>"), 2);
    ck_assert_ptr_nonnull(strstr(page, "--n: 3;"));
    must(clv_report_finish(begin(folder), err)); /* replaces the page */
    EXPECT_PARTS(slurp(formatted("%s/index.html", folder), NULL), "There were no images.");
}

TEST(histogram_holds_every_score)
{
    const char *folder = place("histogram");
    struct clv_report *report = begin(folder);
    for (int i = 0; i <= 20; i++)
        add(report, formatted("%d.jpg", i), 2, 2, 1, 1, i / 20.0);
    must(clv_report_finish(report, err));
    OWNED_ARRAY char *page = slurp(formatted("%s/index.html", folder), NULL);
    int bars = 0, images = 0;
    for (const char *at = page; (at = strstr(at, " title=\"")); at++) {
        int n;
        if (sscanf(at, " title=\"%d from", &n) == 1) {
            images += n;
            bars++;
        }
    }
    ck_assert_int_eq(images, 21);
    ck_assert_int_le(bars, 25);
}

/* The page of images with these scores; free() it. */
static char *page_of_scores(const char *name, const double *scores, int n)
{
    const char *folder = place(name);
    struct clv_report *report = begin(folder);
    for (int i = 0; i < n; i++)
        add(report, formatted("%d.jpg", i), 2, 2, 1, 1, scores[i]);
    must(clv_report_finish(report, err));
    return slurp(formatted("%s/index.html", folder), NULL);
}

/* Eight bars of half a percent at least, 25 at most; the highest one is as high as the chart. */
TEST(bars_have_their_place_and_height)
{
    static const double scores[] = {0.01, 0.03, 0.01, 0.0149, 0.01};
    char *page = page_of_scores("bars", scores, 5);
    ck_assert_ptr_nonnull(strstr(page, "<i style=\"height:100.0%\" title=\"4 from 1.0 to 1.5 %\"></i>\n"));
    ck_assert_ptr_nonnull(strstr(page, "<i style=\"height:25.0%\" title=\"1 from 3.0 to 3.5 %\"></i>\n"));
    ck_assert_int_eq(count(page, "<i style=\"height:"), 8);
    ck_assert_ptr_nonnull(strstr(page, "<span>4.0 %</span>"));
    free(page);
    static const struct {
        double score;
        const char *title;
    } cases[] = {{0.124, "1 from 12.0 to 12.5 %"}, {0.125, "1 from 12.0 to 13.0 %"}, {1, "1 from 99.0 to 103.5 %"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        page = page_of_scores(formatted("narrow%zu", k), &cases[k].score, 1);
        ck_assert_msg(strstr(page, cases[k].title) != NULL, "%s", cases[k].title);
        free(page);
    }
}

/* Ten columns: three of foreground, of which two are true, and the last one is void. */
TEST(an_item_is_reported_in_numbers_and_words)
{
    static const char *const parts[] = {
        "data-name=\"a/b.jpg\" data-score=\"0.123457\"",
        "<p class=\"note\">tags: <b>sea, &lt;beach&gt;</b></p><p class=\"note\">true tags: <b>none</b></p>",
        "<p class=\"score\" title=\"weighted Hamming error\">12.35<small>%</small></p>",
        "<div class=\"meter\"><i style=\"--score:0.123457\"></i></div>",
        "<p class=\"note\">one &amp; two<br>IoU 0.877<br>10 &times; 4</p>",
        "alt=\"Image of a/b.jpg\"",
        "alt=\"Difference of a/b.jpg\" width=\"10\" height=\"4\"",
    };
    const char *folder = place("item");
    struct clv_report *report = begin(folder);
    OWNED(clv_image_release) struct clv_image image = {0};
    uint8_t mask[40], truth[40];
    must(clv_image_new(&image, 10, 4, 3, err));
    for (int p = 0; p < 40; p++) {
        mask[p] = p % 10 < 3;
        truth[p] = p % 10 == 9 ? CLV_VOID : p % 10 < 2;
    }
    struct clv_report_item item = {.name = "a/b.jpg",
                                   .image = &image,
                                   .labels = mask,
                                   .truth = truth,
                                   .weighted_hamming = 0.1234567,
                                   .mean_iou = 0.8766,
                                   .tags = "sea, <beach>",
                                   .true_tags = "",
                                   .note = "one & two"};
    must(clv_report_add(report, &item, err));
    must(clv_report_finish(report, err));
    OWNED_ARRAY char *page = slurp(formatted("%s/index.html", folder), NULL);
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        ck_assert_msg(strstr(page, parts[k]) != NULL, "%s", parts[k]);
}

TEST(a_page_of_probabilities_explains_their_colours)
{
    for (int is_probable = 0; is_probable < 2; is_probable++) {
        const char *folder = place(is_probable ? "probable" : "labels");
        struct clv_report *report = begin(folder);
        OWNED(clv_image_release) struct clv_image image = {0};
        uint8_t values[64] = {0};
        must(clv_image_new(&image, 8, 8, 3, err));
        struct clv_report_item item = {.name = "a.jpg", .image = &image, .weighted_hamming = NAN, .mean_iou = NAN};
        item.labels = is_probable ? NULL : values;
        item.probability = is_probable ? values : NULL;
        must(clv_report_add(report, &item, err));
        must(clv_report_finish(report, err));
        OWNED_ARRAY char *page = slurp(formatted("%s/index.html", folder), NULL);
        ck_assert_int_eq(count(page, "</i>probability 0</span>") > 0, is_probable);
        ck_assert_int_eq(count(page, "</i>uncertain</span>") > 0, is_probable);
        ck_assert_int_eq(count(page, "</i>foreground</span>") > 0, !is_probable);
    }
}

/* Bars are drawn against the highest score of the page, which is a share: what is above 1 counts as 1. */
TEST(the_highest_score_is_the_scale_of_all)
{
    static const struct {
        double scores[3];
        const char *style;
    } cases[] = {{{0.1, 0.35, 0.2}, "--highest:0.350000\""},
                 {{0.35, 0.1, NAN}, "--highest:0.350000\""},
                 {{0.2, 1.5, 0.1}, "--highest:1.000000\""},
                 {{0, NAN, 0}, "--highest:0.000100\""}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        OWNED_ARRAY char *page = page_of_scores(formatted("highest%zu", k), cases[k].scores, 3);
        ck_assert_msg(strstr(page, cases[k].style) != NULL, "case %zu", k);
    }
}

/* Items of all kinds: tags, objects, truth and labels are there or not. */
struct spooled {
    struct clv_report *report;
    struct report_slot places[N_SPOOLED];
    const size_t *order;
};

static enum clv_status spool_one(void *context, size_t index, int thread, struct clv_error *err)
{
    struct spooled *self = context;
    const size_t i = self->order[index], width = 5 + i % 7, height = 3 + i % 5, n = width * height;
    const struct clv_object objects[2] = {{.area = (int64_t)i + 1}, {.area = 40}};
    uint8_t pixels[3 * 11 * 7], labels_of[11 * 7], truth[11 * 7];
    char name[64];
    (void)thread;
    for (size_t p = 0; p < n; p++) {
        labels_of[p] = p % width < i % 4;
        truth[p] = p % width < i % 3;
        for (int c = 0; c < 3; c++)
            pixels[3 * p + (size_t)c] = (uint8_t)(p * (i + 3) + (size_t)c);
    }
    snprintf(name, sizeof name, "a/%zu & co.jpg", i);
    const struct clv_image image = {
        .width = (int32_t)width, .height = (int32_t)height, .channels = 3, .pixels = pixels};
    const struct clv_report_item item = {.name = name,
                                         .image = &image,
                                         .labels = i % 6 == 5 ? NULL : labels_of,
                                         .probability = i % 6 == 5 ? labels_of : NULL,
                                         .truth = i % 2 && i % 6 != 5 ? truth : NULL,
                                         .weighted_hamming = i % 2 ? (double)i / 300 : NAN,
                                         .mean_iou = i % 2 ? 0.1 + 0.2 * (double)i : NAN,
                                         .tags = i % 3 ? NULL : "sea",
                                         .true_tags = i % 5 ? NULL : "",
                                         .objects = i % 4 ? NULL : objects,
                                         .n_objects = 2,
                                         .note = i % 7 ? NULL : name};
    return report_spool(&self->places[i], self->report, &item, err);
}

/* The report of N_SPOOLED items and a failure after each tenth: spooled by threads in an order, or added in turn. */
static char *spooled_page(const char *folder, const size_t *order, int n_threads)
{
    struct spooled self = {.report = begin(folder), .order = order};
    if (n_threads)
        must(parallel_for(N_SPOOLED, n_threads, spool_one, &self, err));
    for (size_t i = 0; i < N_SPOOLED; i++) {
        if (!n_threads)
            must(spool_one(&self, i, 0, err));
        must(report_put(self.report, &self.places[i], err));
        if (i % 10 == 9)
            must(clv_report_add_failure(self.report, formatted("bad%zu", i), "broken", err));
    }
    must(clv_report_finish(self.report, err));
    return slurp(formatted("%s/index.html", folder), NULL);
}

TEST(items_spooled_in_any_order_by_threads_give_the_same_page)
{
    size_t in_turn[N_SPOOLED], backwards[N_SPOOLED], mixed[N_SPOOLED];
    for (size_t i = 0; i < N_SPOOLED; i++) {
        in_turn[i] = i;
        backwards[i] = N_SPOOLED - 1 - i;
        mixed[i] = i * 37 % N_SPOOLED;
    }
    char *page = spooled_page(here("turn"), in_turn, 0);
    ck_assert_int_eq(count(page, "<article class=\"card row\""), N_SPOOLED);
    ck_assert_int_eq(count(page, "<article class=\"card failure\""), N_SPOOLED / 10);
    const size_t *const orders[] = {backwards, mixed, mixed};
    for (int k = 0; k < 3; k++) {
        char *other = spooled_page(here("order%d", k), orders[k], k == 1 ? 1 : 4);
        ck_assert_str_eq(page, other);
        run_here("diff -r turn/index-pictures order%d/index-pictures && test $(ls -A order%d | wc -l) = 2", k, k);
        free(other);
    }
    free(page);
}

TEST(a_place_without_an_item_and_items_that_are_not_put_are_left_out)
{
    static const size_t order[3] = {0, 1, 2};
    const char *folder = here("few");
    struct spooled self = {.report = begin(folder), .order = order};
    for (size_t i = 0; i < 3; i++)
        must(spool_one(&self, i, 0, err));
    must(report_put(self.report, &self.places[2], err));
    must(report_put(self.report, &(struct report_slot){0}, err));
    must(report_put(self.report, &self.places[0], err));
    must(clv_report_finish(self.report, err));
    char *page = slurp(formatted("%s/index.html", folder), NULL);
    ck_assert_int_eq(count(page, "<article"), 2);
    ck_assert_ptr_null(strstr(page, "a/1 &amp;"));
    ck_assert_ptr_nonnull(strstr(page, "alt=\"Mask of a/2 &amp; co.jpg\""));
    ck_assert_ptr_nonnull(strstr(page, "<b>2</b><span>objects found"));
    free(page);
}

/* Every request for memory fails in turn: the item is not counted, or the report cannot be finished. */
TEST(memory_that_is_out_leaves_no_half_item)
{
    static const size_t order[1] = {0};
    size_t request = 1, n_finished = 0;
    bool is_out = true;
    for (; is_out; request++) {
        const char *folder = here("out%zu", request);
        struct spooled self = {.report = begin(folder), .order = order};
        struct clv_error error;
        array_fail_request(request);
        enum clv_status status = spool_one(&self, 0, 0, &error);
        if (status == CLV_OK)
            status = report_put(self.report, self.places, &error);
        array_fail_request(0);
        is_out = status != CLV_OK;
        ck_assert_int_eq(status, is_out ? CLV_ERR_MEMORY : CLV_OK);
        if (clv_report_finish(self.report, &error) != CLV_OK)
            continue;
        char *page = slurp(formatted("%s/index.html", folder), NULL);
        ck_assert_int_eq(count(page, "<article"), !is_out);
        free(page);
        n_finished++;
    }
    ck_assert_uint_gt(request, 10);
    ck_assert_uint_gt(n_finished, 5);
}

/* An item that was spooled and cannot be put is missing, and its space is used again. */
TEST(a_report_that_lacks_an_item_that_was_spooled_is_not_finished)
{
    static const size_t order[2] = {0, 1};
    for (int is_torn = 0; is_torn < 2; is_torn++) {
        const char *folder = here("lacks%d", is_torn);
        struct spooled self = {.report = begin(folder), .order = order};
        must(spool_one(&self, 0, 0, err));
        if (is_torn)
            self.places[0].size += 1 << 20; /* the file ends before */
        array_fail_request(!is_torn);
        must_fail(is_torn ? CLV_ERR_OS : CLV_ERR_MEMORY, "", report_put(self.report, &self.places[0], err));
        array_fail_request(0);
        must(spool_one(&self, 1, 0, err));
        ck_assert_uint_eq(self.places[1].offset, 0);
        must(report_put(self.report, &self.places[1], err));
        must_fail(CLV_ERR_IO, "an item was not written", clv_report_finish(self.report, err));
        ck_assert(!path_exists(formatted("%s/index.html", folder)));
    }
}

TEST(abandoned_reports_leave_nothing)
{
    const char *folder = place("abandoned");
    struct clv_report *report = begin(folder);
    add(report, "one.jpg", 8, 8, 4, 4, 0);
    clv_report_abandon(report);
    ck_assert(!path_exists(folder));
    report = begin(folder);
    for (int i = 0; i <= PAGE_ROWS; i++)
        add(report, "many.jpg", 8, 8, 4, 4, 0);
    ck_assert(path_exists(formatted("%s/" IMAGE_FOLDER "/000101-1.jpg", folder)));
    clv_report_abandon(report);
    ck_assert(!path_exists(folder));
    must(folder_create(folder, err)); /* a folder that was there stays */
    spill(formatted("%s/index.html", folder), "old", 3);
    report = begin(folder);
    for (int i = 0; i <= PAGE_ROWS; i++)
        add(report, "many.jpg", 8, 8, 4, 4, 0);
    clv_report_abandon(report);
    OWNED_ARRAY char *page = slurp(formatted("%s/index.html", folder), NULL);
    ck_assert_str_eq(page, "old");
    ck_assert_uint_eq(count_entries(folder), 1);
    clv_report_abandon(NULL);
}

TEST(unwritable_places_and_full_disks_are_reported)
{
    struct clv_report *report;
    const char *file = here("file");
    spill(file, "x", 1);
    must_fail(CLV_ERR_CREATE, file, clv_report_begin(&report, file, "t", &labels, NULL, 0, err));
    ck_assert_ptr_null(report);
    must_fail(CLV_ERR_CREATE, "/proc/", clv_report_begin(&report, "/proc/cleave", "t", &labels, NULL, 0, err));

    const char *folder = place("full");
    must(folder_create(folder, err));
    ck_assert_int_eq(symlink("/dev/full", formatted("%s/index.html", folder)), 0);
    report = begin(folder);
    add(report, "one.jpg", 8, 8, 4, 4, 0);
    must_fail(CLV_ERR_IO, "index.html", clv_report_finish(report, err));
}

TEST(items_that_are_no_images_are_refused_and_the_report_goes_on)
{
    const char *folder = place("refused");
    struct clv_report *report = begin(folder);
    OWNED(clv_image_release) struct clv_image grey = {0};
    uint8_t mask[4] = {0};
    must(clv_image_new(&grey, 2, 2, 1, err));
    struct clv_report_item item = {
        .name = "grey.png", .image = &grey, .labels = mask, .weighted_hamming = NAN, .mean_iou = NAN};
    must_fail(CLV_ERR_USAGE, "grey.png", clv_report_add(report, &item, err));
    add(report, "one.jpg", 8, 8, 4, 4, 0);
    must(clv_report_finish(report, err));
    OWNED_ARRAY char *page = slurp(formatted("%s/index.html", folder), NULL);
    ck_assert_int_eq(count(page, "<article"), 1);
}

SETUP_EACH(make_labels, release_labels)
