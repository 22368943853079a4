/* What was drawn, in order. */
#include "page/page.h"
#include "support/support.h"

static void add(struct page_history *history, int32_t object)
{
    struct page_event event = {.kind = PAGE_DELETE, .object = object, .label = 1};
    must(page_history_add(history, &event, err));
}

/* The objects of all events. */
static void expect_objects(const struct page_history *history, const char *objects, size_t cursor)
{
    ck_assert_uint_eq(history->n, strlen(objects));
    ck_assert_uint_eq(history->cursor, cursor);
    for (size_t k = 0; k < history->n; k++)
        ck_assert_int_eq(history->events[k].object, objects[k] - '0');
}

TEST(a_new_event_drops_what_was_undone_and_taking_it_back_restores_that)
{
    OWNED(page_history_release) struct page_history history = {0};
    for (int32_t object = 0; object < 5; object++)
        add(&history, object);
    history.cursor = 2;
    add(&history, 7);
    expect_objects(&history, "017", 3);
    page_history_take_back(&history, 2);
    expect_objects(&history, "01234", 2);
    add(&history, 7);
    add(&history, 8);
    page_history_take_back(&history, 3); /* nothing had been undone there */
    expect_objects(&history, "017", 3);
    page_history_take_back(&history, 2);
    expect_objects(&history, "01234", 2);
    history.cursor = 4;
    add(&history, 9);
    history.cursor = 1;
    add(&history, 6); /* what was dropped before is gone for good */
    page_history_take_back(&history, 1);
    expect_objects(&history, "01239", 1);
}

TEST(the_latest_event_of_an_object_is_looked_for_before_the_end)
{
    OWNED(page_history_release) struct page_history history = {0};
    static const int32_t objects[] = {1, 0, 1, 2};
    for (int k = 0; k < 4; k++)
        add(&history, objects[k]);
    ck_assert_ptr_eq(page_history_latest(&history, 1, 4), &history.events[2]);
    ck_assert_ptr_eq(page_history_latest(&history, 1, 3), &history.events[2]);
    ck_assert_ptr_eq(page_history_latest(&history, 1, 2), &history.events[0]);
    ck_assert_ptr_null(page_history_latest(&history, 2, 3));
    ck_assert_ptr_null(page_history_latest(&history, 1, 0));
}

TEST(an_image_takes_a_bounded_number_of_strokes)
{
    OWNED(page_history_release) struct page_history history = {0};
    struct page_event event = {.kind = PAGE_DELETE, .label = 1};
    for (int k = 0; k < PAGE_MAX_EVENTS; k++)
        add(&history, 0);
    must_fail(CLV_ERR_DATA, "at most 20000 strokes", page_history_add(&history, &event, err));
    ck_assert_uint_eq(history.n, PAGE_MAX_EVENTS);
    ck_assert_uint_eq(history.cursor, PAGE_MAX_EVENTS);
}

/* An event of {"kind":..,"object":..,"label":..,<more>}, or why not. */
static enum clv_status parse(struct page_event *event, const char *text, struct clv_error *err)
{
    OWNED(json_drop) struct json_value *root = NULL;
    enum clv_status status = json_parse(&root, text, strlen(text), "event", err);
    if (status == CLV_OK)
        status = page_event_parse(event, root, "event", err);
    return status;
}

#define EVENT(object, label, more) "{\"kind\":\"foreground\",\"object\":" object ",\"label\":" label "," more "}"

TEST(events_are_taken_up_to_their_limits)
{
    static const char *const good[] = {EVENT("0", "1", "\"points\":[1e6,-1e6]"),
                                       EVENT("4999", "254", "\"radius\":500,\"points\":[1,2]"),
                                       EVENT("0", "1", "\"radius\":0,\"points\":[1,2,3,4]"),
                                       "{\"kind\":\"box\",\"object\":0,\"label\":1,\"points\":[1,2,3,4]}",
                                       "{\"kind\":\"delete\",\"object\":0,\"label\":1}"};
    static const struct {
        const char *text, *part;
    } bad[] = {
        {EVENT("0", "1", "\"points\":[1000000.1,0]"), "point 0 is not a number"},
        {EVENT("0", "1", "\"points\":[0,0,0,-1000000.1]"), "point 1 is not a number"},
        {EVENT("0", "1", "\"points\":[0,\"1\"]"), "point 0 is not a number"},
        {EVENT("0", "1", "\"points\":[0,1,2]"), "pairs of numbers"},
        {EVENT("0", "1", "\"points\":[]"), "0 points are too few for a foreground"},
        {EVENT("0", "1", "\"radius\":3"), "pairs of numbers"},
        {EVENT("5000", "1", "\"points\":[1,2]"), "object 5000"},
        {EVENT("-1", "1", "\"points\":[1,2]"), "object -1"},
        {EVENT("0", "255", "\"points\":[1,2]"), "label 255"},
        {EVENT("0", "0", "\"points\":[1,2]"), "label 0"},
        {EVENT("0", "1", "\"radius\":-0.1,\"points\":[1,2]"), "radius"},
        {EVENT("0", "1", "\"radius\":500.1,\"points\":[1,2]"), "radius"},
        {EVENT("0", "1", "\"radius\":\"3\",\"points\":[1,2]"), "radius"},
        {"{\"kind\":\"box\",\"object\":0,\"label\":1,\"points\":[1,2]}", "1 points are too few for a box"},
        {"{\"kind\":\"figur\",\"object\":0,\"label\":1,\"points\":[1,2]}", "kind \"figur\""},
        {"{\"kind\":\"foreground\",\"label\":1,\"points\":[1,2]}", "is missing"},
        {"{\"kind\":\"foreground\",\"object\":0,\"points\":[1,2]}", "is missing"},
        {"{\"object\":0,\"label\":1,\"points\":[1,2]}", "is missing"},
    };
    OWNED(page_event_release) struct page_event event = {0};
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        must(parse(&event, good[k], err));
        page_event_release(&event);
    }
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        must_fail(CLV_ERR_DATA, bad[k].part, parse(&event, bad[k].text, err));
    must(parse(&event, EVENT("7", "9", "\"radius\":2.5,\"points\":[1,2,3,4]"), err));
    ck_assert(event.kind == PAGE_FOREGROUND && event.object == 7 && event.label == 9 && event.n_points == 2);
    ck_assert(event.radius == 2.5 && event.points[0][0] == 1 && event.points[0][1] == 2 && event.points[1][0] == 3 &&
              event.points[1][1] == 4);
}

TEST(a_stroke_has_a_bounded_number_of_points)
{
    OWNED(text_release) struct text text = {0};
    struct page_event event = {0};
    text_init(&text, 1 << 20);
    text_put(&text, "{\"kind\":\"foreground\",\"object\":0,\"label\":1,\"points\":[0,0");
    for (int k = 1; k < PAGE_MAX_POINTS; k++)
        text_put(&text, ",0,0");
    size_t size = text.size;
    text_put(&text, "]}");
    must(parse(&event, text.bytes, err));
    ck_assert_uint_eq(event.n_points, PAGE_MAX_POINTS);
    page_event_release(&event);
    text.size = size;
    text_put(&text, ",0,0]}");
    must_fail(CLV_ERR_DATA, "at most 20000", parse(&event, text.bytes, err));
}

TEST(a_strokes_file_reads_back_as_it_was_for_its_size_alone)
{
    static const char file[] = "{\"width\":3,\"height\":2,\"accepted\":1,\"cursor\":1,\"strokes\":["
                               "{\"kind\":\"mask\",\"object\":4,\"label\":5,\"radius\":0,\"mask\":[1,2,3]},"
                               "{\"kind\":\"delete\",\"object\":4,\"label\":5,\"radius\":0,\"mask\":[6]}]}";
    OWNED(page_history_release) struct page_history history = {0}, again = {0};
    OWNED(text_release) struct text json = {0};
    text_init(&json, 1 << 20);
    must(page_history_parse(&history, file, strlen(file), "file", 3, 2, err));
    ck_assert(history.n == 2 && history.cursor == 1 && history.is_accepted);
    page_history_put(&json, &history, 3, 2);
    must(page_history_parse(&again, json.bytes, json.size, "again", 3, 2, err));
    ck_assert(again.n == 2 && again.cursor == 1 && again.is_accepted);
    ck_assert(again.events[0].kind == PAGE_MASK && again.events[0].object == 4 && again.events[0].label == 5);
    ck_assert(again.events[0].result.n == 3 && again.events[0].result.lengths[1] == 2);
    ck_assert(again.events[1].kind == PAGE_DELETE && again.events[1].result.n == 1);
    must_fail(CLV_ERR_DATA, "of an image of 3x2, this one is 2x3",
              page_history_parse(&again, file, strlen(file), "file", 2, 3, err));
    must_fail(CLV_ERR_DATA, "this one is 3x3", page_history_parse(&again, file, strlen(file), "file", 3, 3, err));
    ck_assert_uint_eq(again.n, 2); /* as before */
}
