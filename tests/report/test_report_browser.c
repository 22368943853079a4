/* The report in a real browser: a user's keys, no network, no complaint on the console. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "support/browser.h"
#include "support/support.h"

#define SIDE 24

/* A report of four images, named so that alphabet and score disagree, and one failure. */
static const char *make_report(void)
{
    static const struct {
        const char *name;
        double score;
    } items[] = {{"b/10.jpg", 0.05}, {"b/9.jpg", 0.30}, {"a/<i>x</i>.jpg", 0.10}, {"c/none.jpg", NAN}};
    const char *folder = here("report");
    OWNED(clv_labels_release) struct clv_labels labels = {0};
    struct clv_report *report;
    static const char *const summary[][2] = {{"Model", "m.cleave"}, {"Command", "cleave segment <&>"}};
    must(clv_labels_binary(&labels, err));
    must(clv_report_begin(&report, folder, "Test </title><script>alert(1)</script>", &labels, summary, 2, err));
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        uint8_t mask[SIDE * SIDE] = {0}, truth[SIDE * SIDE] = {0};
        must(clv_image_new(&image, SIDE, SIDE, 3, err));
        memset(mask, 1, SIDE * SIDE / 2);
        memset(truth, 1, SIDE * SIDE / 3);
        bool scored = isfinite(items[i].score);
        struct clv_report_item item = {.name = items[i].name,
                                       .image = &image,
                                       .labels = mask,
                                       .truth = scored ? truth : NULL,
                                       .weighted_hamming = items[i].score,
                                       .mean_iou = scored ? 1 - items[i].score : NAN};
        must(clv_report_add(report, &item, err));
    }
    must(clv_report_add_failure(report, "d/broken.jpg", "d/broken.jpg: truncated", err));
    must(clv_report_finish(report, err));
    return formatted("%s/index.html", folder);
}

static const char order[] =
    "[...document.querySelectorAll('.card')].filter(c => !c.hidden).map(c => c.dataset.name).join(' ')";
static const char focus[] = "document.activeElement.dataset.name";

#define expect(browser, value, expression) ck_assert_str_eq(browser_evaluate(browser, expression), value)

TEST(sorting_reorders_the_cards)
{
    struct browser *browser = browser_open("sorting_reorders_the_cards", make_report());
    if (!browser)
        return;
    expect(browser, "d/broken.jpg b/9.jpg a/<i>x</i>.jpg b/10.jpg c/none.jpg", order); /* worst first */
    expect(browser, "worst", "document.querySelector('[data-sort][aria-pressed=true]').dataset.sort");
    browser_evaluate(browser, "document.querySelector('[data-sort=best]').click()");
    expect(browser, "d/broken.jpg b/10.jpg a/<i>x</i>.jpg b/9.jpg c/none.jpg", order);
    browser_evaluate(browser, "document.querySelector('[data-sort=name]').click()");
    expect(browser, "d/broken.jpg a/<i>x</i>.jpg b/9.jpg b/10.jpg c/none.jpg", order); /* numbers as numbers */
    expect(browser, "name",
           "[...document.querySelectorAll('[data-sort][aria-pressed=true]')].map(b => b.dataset.sort)");
    ck_assert_str_eq(browser_problems(browser), "");
    browser_close(browser);
}

TEST(keys_move_the_focus)
{
    struct browser *browser = browser_open("keys_move_the_focus", make_report());
    if (!browser)
        return;
    static const char *const steps[][2] = {
        {"ArrowDown", "d/broken.jpg"}, {"ArrowDown", "b/9.jpg"},         {"ArrowRight", "a/<i>x</i>.jpg"},
        {"ArrowUp", "b/9.jpg"},        {"ArrowRight", "a/<i>x</i>.jpg"}, {"ArrowLeft", "b/9.jpg"},
        {"ArrowUp", "d/broken.jpg"},   {"ArrowUp", "d/broken.jpg"},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        browser_press(browser, steps[i][0]);
        expect(browser, steps[i][1], focus);
    }
    ck_assert_str_eq(browser_problems(browser), "");
    browser_close(browser);
}

TEST(large_view_switches_layers_and_walks_the_images)
{
    struct browser *browser = browser_open("large_view_switches_layers_and_walks_the_images", make_report());
    if (!browser)
        return;
    static const char open[] = "document.getElementById('view').open";
    static const char title[] = "document.getElementById('viewname').textContent";
    static const char layer[] = "document.querySelector('#view [aria-pressed=true]').dataset.layer";
    browser_press(browser, "ArrowDown");
    browser_press(browser, "Enter"); /* a failure has no images */
    expect(browser, "false", open);
    browser_press(browser, "ArrowDown");
    browser_press(browser, "Enter");
    expect(browser, "true", open);
    expect(browser, "b/9.jpg", title);
    expect(browser, "2", layer);
    for (char key = '1'; key <= '5'; key++) {
        browser_press(browser, (char[]){key, 0});
        expect(browser, ((char[]){key, 0}), layer);
        expect(browser, "1", "document.querySelectorAll('#stage img').length");
        expect(browser, "true",
               "[...document.querySelectorAll('#stage img')].every(img => img.src.startsWith('data:'))");
    }
    browser_press(browser, "ArrowRight");
    expect(browser, "a/<i>x</i>.jpg", title);
    expect(browser, "weighted Hamming error 10.00%", "document.getElementById('viewscore').textContent");
    browser_press(browser, "ArrowRight");
    browser_press(browser, "ArrowRight"); /* without truth there is no difference to show */
    expect(browser, "c/none.jpg", title);
    expect(browser, "true", "document.querySelector('#view [data-layer=\"5\"]').hidden");
    expect(browser, "true", "document.getElementById('after').disabled");
    browser_press(browser, "ArrowRight");
    expect(browser, "c/none.jpg", title);
    browser_press(browser, "Escape");
    expect(browser, "false", open);
    expect(browser, "c/none.jpg", focus);
    ck_assert_str_eq(browser_problems(browser), "");
    browser_close(browser);
}

/* A report of 250 images whose scores fall with their number, and a failure. */
static const char *make_long_report(void)
{
    const char *folder = here("long");
    OWNED(clv_labels_release) struct clv_labels labels = {0};
    struct clv_report *report;
    OWNED(clv_image_release) struct clv_image image = {0};
    uint8_t mask[SIDE * SIDE] = {0};
    must(clv_labels_binary(&labels, err));
    must(clv_image_new(&image, SIDE, SIDE, 3, err));
    must(clv_report_begin(&report, folder, "Long", &labels, NULL, 0, err));
    memset(mask, 1, SIDE * SIDE / 4);
    must(clv_report_add_failure(report, "a-->b & c", "truncated", err));
    for (int k = 0; k < 250; k++) {
        char name[64];
        snprintf(name, sizeof name, "%d--><b>&\"'.jpg", k);
        struct clv_report_item item = {.name = name,
                                       .image = &image,
                                       .labels = mask,
                                       .truth = mask,
                                       .weighted_hamming = (250 - k) / 1000.0,
                                       .mean_iou = 0.5};
        must(clv_report_add(report, &item, err));
    }
    must(clv_report_finish(report, err));
    return formatted("%s/index.html", folder);
}

TEST(a_long_list_is_in_the_page_part_by_part)
{
    struct browser *browser = browser_open("a_long_list_is_in_the_page_part_by_part", make_long_report());
    if (!browser)
        return;
    static const char n[] = "document.querySelectorAll('.card').length";
    static const char top[] = "document.querySelector('.card').dataset.name";
    static const char part[] = "document.getElementById('part').textContent";
    expect(browser, "100", n);
    expect(browser, "a-->b & c", top);
    expect(browser, "1 \xe2\x80\x93 100 of 251", part);
    browser_evaluate(browser, "document.getElementById('later').click()");
    expect(browser, "99--><b>&\"'.jpg", top);
    expect(browser, "99--><b>&\"'.jpg", focus);
    expect(browser, "100", n);
    browser_evaluate(browser, "document.getElementById('later').click()");
    expect(browser, "51", n);
    expect(browser, "true", "document.getElementById('later').disabled");
    browser_press(browser, "Enter"); /* in the large view, back over the border of two parts */
    expect(browser, "200 of 250", "document.getElementById('viewplace').textContent");
    browser_press(browser, "ArrowLeft");
    expect(browser, "198--><b>&\"'.jpg", "document.getElementById('viewname').textContent");
    browser_press(browser, "Escape");
    expect(browser, "198--><b>&\"'.jpg", focus);
    browser_evaluate(browser, "document.querySelector('[data-sort=best]').click()");
    expect(browser, "a-->b & c", top);
    browser_evaluate(browser, "document.getElementById('find').focus()");
    browser_press(browser, "7");
    expect(browser, "43", n);
    expect(browser, "true", "document.getElementById('pager').hidden");
    ck_assert_str_eq(browser_problems(browser), "");
    browser_close(browser);
}

TEST(a_click_on_an_image_shows_it_large)
{
    struct browser *browser = browser_open("a_click_on_a_picture_shows_it_large", make_report());
    if (!browser)
        return;
    browser_evaluate(browser, "document.querySelector('.row [data-layer=\"5\"]').click()");
    expect(browser, "b/9.jpg", "document.getElementById('viewname').textContent");
    expect(browser, "5", "document.querySelector('#stage img').dataset.layer");
    expect(browser, "true", "document.getElementById('before').disabled");
    browser_evaluate(browser, "document.getElementById('after').click()");
    expect(browser, "a/<i>x</i>.jpg", "document.getElementById('viewname').textContent");
    expect(browser, "backgroundforegroundfalse alarmmissright foreground",
           "document.querySelector('#view .legend').textContent.trim()");
    browser_evaluate(browser, "document.getElementById('close').click()");
    expect(browser, "a/<i>x</i>.jpg", focus);
    ck_assert_str_eq(browser_problems(browser), "");
    browser_close(browser);
}

TEST(filter_hides_what_does_not_match)
{
    struct browser *browser = browser_open("filter_hides_what_does_not_match", make_report());
    if (!browser)
        return;
    browser_evaluate(browser, "document.getElementById('find').focus()");
    for (const char *c = "B/"; *c; c++) /* typed, not taken for keys; case does not matter */
        browser_press(browser, (char[]){*c, 0});
    expect(browser, "b/9.jpg b/10.jpg", order);
    expect(browser, "2 of 5 files", "document.getElementById('count').textContent");
    browser_press(browser, "j");
    expect(browser, "", order);
    expect(browser, "false", "document.getElementById('empty').hidden");
    browser_press(browser, "Escape"); /* empties the field */
    expect(browser, "5 of 5 files", "document.getElementById('count').textContent");
    ck_assert_str_eq(browser_problems(browser), "");
    browser_close(browser);
}

TEST(every_image_decodes_and_markup_in_names_stays_text)
{
    struct browser *browser = browser_open("every_picture_decodes_and_markup_in_names_stays_text", make_report());
    if (!browser)
        return;
    browser_evaluate(browser, "document.querySelectorAll('img').forEach(img => img.loading = 'eager')");
    expect(browser, "18", "document.querySelectorAll('.card img').length"); /* 3 x 5 with truth, 3 without */
    expect(
        browser, "18",
        "Promise.all([...document.querySelectorAll('.card img')].map(img => img.decode().then(() => img.naturalWidth)))"
        ".then(widths => widths.filter(width => width === 24).length)");
    expect(browser, "0", "document.querySelectorAll('.card i:not(.meter i)').length");
    expect(browser, "Test </title><script>alert(1)</script>", "document.title");
    ck_assert_str_eq(browser_problems(browser), "");
    browser_close(browser);
}
