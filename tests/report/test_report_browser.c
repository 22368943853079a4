/* The report in a real browser: a user's keys, no network, no complaint on the console. */
#include <math.h>
#include <string.h>

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
    const char *folder = formatted("%s/report", temporary_folder());
    struct clv_labels labels;
    struct clv_report *report;
    static const char *const summary[][2] = {{"Model", "m.cleave"}, {"Command", "cleave segment <&>"}};
    must(clv_labels_binary(&labels, err));
    must(clv_report_begin(&report, folder, "Test </title><script>alert(1)</script>", &labels, summary, 2, err));
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        struct clv_image image = {0};
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
        clv_image_release(&image);
    }
    must(clv_report_add_failure(report, "d/broken.jpg", "d/broken.jpg: truncated", err));
    must(clv_report_finish(report, err));
    clv_labels_release(&labels);
    return formatted("%s/index.html", folder);
}

static const char order[] =
    "[...document.querySelectorAll('.card')].filter(c => !c.hidden).map(c => c.dataset.name).join(' ')";
static const char focus[] = "document.activeElement.dataset.name";

#define expect(browser, value, expression) ck_assert_str_eq(browser_evaluate(browser, expression), value)

START_TEST(sorting_reorders_the_cards)
{
    struct browser *browser = browser_open("sorting_reorders_the_cards", make_report());
    if (!browser)
        return;
    expect(browser, "b/9.jpg a/<i>x</i>.jpg b/10.jpg c/none.jpg d/broken.jpg", order); /* worst first */
    expect(browser, "worst", "document.querySelector('[data-sort][aria-pressed=true]').dataset.sort");
    browser_press(browser, "s");
    expect(browser, "b/10.jpg a/<i>x</i>.jpg b/9.jpg c/none.jpg d/broken.jpg", order);
    browser_evaluate(browser, "document.querySelector('[data-sort=name]').click()");
    expect(browser, "a/<i>x</i>.jpg b/9.jpg b/10.jpg c/none.jpg d/broken.jpg", order); /* numbers as numbers */
    expect(browser, "name",
           "[...document.querySelectorAll('[data-sort][aria-pressed=true]')].map(b => b.dataset.sort)");
    ck_assert_str_eq(browser_problems(browser), "");
    browser_close(browser);
}
END_TEST

START_TEST(keys_move_the_focus)
{
    struct browser *browser = browser_open("keys_move_the_focus", make_report());
    if (!browser)
        return;
    static const char *const steps[][2] = {
        {"j", "b/9.jpg"},           {"j", "a/<i>x</i>.jpg"},       {"ArrowDown", "b/10.jpg"}, {"k", "a/<i>x</i>.jpg"},
        {"ArrowRight", "b/10.jpg"}, {"ArrowUp", "a/<i>x</i>.jpg"}, {"Home", "b/9.jpg"},       {"k", "b/9.jpg"},
        {"End", "d/broken.jpg"},    {"j", "d/broken.jpg"},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        browser_press(browser, steps[i][0]);
        expect(browser, steps[i][1], focus);
    }
    ck_assert_str_eq(browser_problems(browser), "");
    browser_close(browser);
}
END_TEST

START_TEST(large_view_switches_layers_and_walks_the_images)
{
    struct browser *browser = browser_open("large_view_switches_layers_and_walks_the_images", make_report());
    if (!browser)
        return;
    static const char open[] = "document.getElementById('view').open";
    static const char title[] = "document.getElementById('viewname').textContent";
    static const char layer[] = "document.querySelector('#view [aria-pressed=true]').dataset.layer";
    browser_press(browser, "j");
    browser_press(browser, "Enter");
    expect(browser, "true", open);
    expect(browser, "b/9.jpg", title);
    expect(browser, "2", layer);
    for (char key = '1'; key <= '5'; key++) {
        browser_press(browser, (char[]){key, 0});
        expect(browser, ((char[]){key, 0}), layer);
        expect(browser, key == '5' ? "2" : "1", "document.querySelectorAll('#stage img').length");
        expect(browser, "true",
               "[...document.querySelectorAll('#stage img')].every(img => img.src.startsWith('data:'))");
    }
    browser_press(browser, "ArrowRight");
    expect(browser, "a/<i>x</i>.jpg", title);
    expect(browser, "weighted Hamming 10.00 %, IoU 0.900", "document.getElementById('viewscore').textContent");
    browser_press(browser, "j");
    browser_press(browser, "j"); /* without truth there is no difference to show */
    expect(browser, "c/none.jpg", title);
    expect(browser, "true", "document.querySelector('#view [data-layer=\"5\"]').hidden");
    browser_press(browser, "j"); /* a failure has no pictures: the view stays */
    expect(browser, "c/none.jpg", title);
    browser_press(browser, "Escape");
    expect(browser, "false", open);
    expect(browser, "c/none.jpg", focus);
    browser_press(browser, "?");
    expect(browser, "true", "document.getElementById('help').open");
    browser_press(browser, "Escape");
    expect(browser, "false", "document.getElementById('help').open");
    ck_assert_str_eq(browser_problems(browser), "");
    browser_close(browser);
}
END_TEST

START_TEST(filter_hides_what_does_not_match)
{
    struct browser *browser = browser_open("filter_hides_what_does_not_match", make_report());
    if (!browser)
        return;
    browser_press(browser, "/");
    expect(browser, "find", "document.activeElement.id");
    for (const char *c = "B/"; *c; c++) /* typed, not taken for keys; case does not matter */
        browser_press(browser, (char[]){*c, 0});
    expect(browser, "b/9.jpg b/10.jpg", order);
    expect(browser, "2 of 5 files", "document.getElementById('count').textContent");
    browser_press(browser, "j");
    expect(browser, "", order);
    expect(browser, "false", "document.getElementById('empty').hidden");
    browser_press(browser, "Escape");
    expect(browser, "5 files", "document.getElementById('count').textContent");
    browser_evaluate(browser, "document.getElementById('failures').click()");
    expect(browser, "d/broken.jpg", order);
    ck_assert_str_eq(browser_problems(browser), "");
    browser_close(browser);
}
END_TEST

START_TEST(every_picture_decodes_and_markup_in_names_stays_text)
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
END_TEST

Suite *report_browser_suite(void)
{
    Suite *suite = suite_create("report_browser");
    TCase *tests = tcase_create("report_browser");
    tcase_add_test(tests, sorting_reorders_the_cards);
    tcase_add_test(tests, keys_move_the_focus);
    tcase_add_test(tests, large_view_switches_layers_and_walks_the_images);
    tcase_add_test(tests, filter_hides_what_does_not_match);
    tcase_add_test(tests, every_picture_decodes_and_markup_in_names_stays_text);
    suite_add_tcase(suite, tests);
    return suite;
}
