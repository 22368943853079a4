/* Objects that the page keeps apart: label images in and out, two that become one, one that a stroke parts. */
#include <unistd.h>

#include "image/image.h"
#include "page/small_page.h"

/* The label image of one image: three squares of 10 pixels, of which the first two touch. */
static void put_instances(const char *path, int32_t numbers[WIDTH * HEIGHT])
{
    for (int p = 0; p < WIDTH * HEIGHT; p++) {
        int x = p % WIDTH, y = p / WIDTH;
        numbers[p] = y < 10 || y >= 20 ? 0 : x < 10 ? 1 : x < 20 ? 2 : x >= 40 && x < 50 ? 3 : 0;
    }
    struct clv_object_map map = {WIDTH, HEIGHT, 3, numbers, NULL, NULL};
    must(clv_object_map_write(NULL, in_folder(path), &map, err));
}

/* set/ with a.png and b.png, and the objects of a.png. */
static struct page_session *session_with_objects(int32_t numbers[WIDTH * HEIGHT])
{
    page_session_free(fresh_session());
    ck_assert_int_eq(mkdir(in_folder("instances"), 0777), 0);
    put_instances("instances/a.png", numbers);
    return open_session();
}

static void expect_saved(const char *path, const int32_t *wanted)
{
    OWNED(clv_object_map_release) struct clv_object_map map = {0};
    must(clv_object_map_read(&map, in_folder(path), WIDTH, HEIGHT, NULL, err));
    ck_assert_mem_eq(map.objects, wanted, WIDTH * HEIGHT * sizeof *wanted);
}

static int count_objects(const char *answered)
{
    int n = 0;
    const char *end = strstr(answered, "\"next_object\"");
    for (const char *at = answered; (at = strstr(at, "{\"object\":")) && at < end; at++)
        n++;
    return n;
}

static void expect_count(struct page_session *session, int wanted, const char *path, const char *body)
{
    OWNED_ARRAY char *text = answer(session, 200, "POST", path, body);
    ck_assert_msg(count_objects(text) == wanted, "not %d objects: %s", wanted, text);
}

#define MERGE(revision, object, other)                                                                                 \
    "{\"revision\":" #revision ",\"kind\":\"merge\",\"object\":" #object ",\"other\":" #other ",\"label\":1}"
#define SPLIT(revision, object, points)                                                                                \
    "{\"revision\":" #revision ",\"kind\":\"split\",\"object\":" #object ",\"label\":1,\"points\":[" points "]}"

TEST(a_label_image_is_shown_by_objects_and_is_one_step)
{
    int32_t numbers[WIDTH * HEIGHT];
    OWNED(session_drop) struct page_session *session = session_with_objects(numbers);
    expect(session, 200, "GET", "/api/state", NULL, "\"status\":\"accepted\"");
    OWNED_ARRAY char *text = opened(session, 0);
    ck_assert_int_eq(count_objects(text), 3);
    ck_assert_ptr_nonnull(strstr(text, "\"runs\":[0,900,1,10,2,10,0,20,3,10,0,40,1,10,"));
    expect_count(session, 0, "/api/undo/0", "{\"revision\":1}");
    expect_count(session, 3, "/api/redo/0", "{\"revision\":2}");
    expect_saved("instances/a.png", numbers);
    page_session_free(session);
    session = open_session();
    expect_open(session, 200, 0, "\"redo\":false"); /* by the strokes, which make the same objects */
}

TEST(two_objects_become_one_and_undo_parts_them)
{
    int32_t numbers[WIDTH * HEIGHT], merged[WIDTH * HEIGHT];
    OWNED(session_drop) struct page_session *session = session_with_objects(numbers);
    expect_open(session, 200, 0, "\"revision\":1");
    expect_count(session, 2, "/api/stroke/0", MERGE(1, 0, 2));
    for (int p = 0; p < WIDTH * HEIGHT; p++) /* the later number stays, and files count from 1 */
        merged[p] = numbers[p] == 2 ? 1 : numbers[p] ? 2 : 0;
    expect_saved("instances/a.png", merged);
    expect_count(session, 3, "/api/undo/0", "{\"revision\":2}");
    expect_saved("instances/a.png", numbers);
    expect_count(session, 2, "/api/redo/0", "{\"revision\":3}");
    expect(session, 400, "POST", "/api/stroke/0", MERGE(4, 0, 1), "there is no object 1");
    expect(session, 400, "POST", "/api/stroke/0", MERGE(4, 2, 2), "there is no object 3");
    expect(session, 400, "POST", "/api/stroke/0", MERGE(4, 2, 99999), "has no other object");
    expect_saved("instances/a.png", merged);
    page_session_free(session);
    session = open_session();
    expect_count(session, 2, "/api/open/0", "{}");
    expect_count(session, 3, "/api/undo/0", "{\"revision\":0}");
}

TEST(a_stroke_parts_an_object_and_its_own_pixels_go_to_the_nearest_side)
{
    int32_t numbers[WIDTH * HEIGHT], parted[WIDTH * HEIGHT];
    OWNED(session_drop) struct page_session *session = session_with_objects(numbers);
    expect_open(session, 200, 0, "\"revision\":1");
    expect(session, 400, "POST", "/api/stroke/0", SPLIT(1, 2, "43.5,8,43.5,15"), "does not part the object");
    expect(session, 400, "POST", "/api/stroke/0", SPLIT(1, 7, "43.5,8,43.5,22"), "there is no object 8");
    expect_saved("instances/a.png", numbers);
    expect_count(session, 4, "/api/stroke/0", SPLIT(1, 2, "43.5,8,43.5,22"));
    for (int p = 0; p < WIDTH * HEIGHT; p++) /* the stroke is in column 43 alone */
        parted[p] = numbers[p] == 3 && p % WIDTH < 43 ? 4 : numbers[p];
    OWNED(clv_object_map_release) struct clv_object_map map = {0};
    must(clv_object_map_read(&map, in_folder("instances/a.png"), WIDTH, HEIGHT, NULL, err));
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        ck_assert(p % WIDTH == 43 ? !map.objects[p] == !numbers[p] : map.objects[p] == parted[p]);
    expect_count(session, 3, "/api/undo/0", "{\"revision\":2}");
    expect_saved("instances/a.png", numbers);
}

TEST(what_another_program_changed_in_a_label_image_counts_more)
{
    int32_t numbers[WIDTH * HEIGHT];
    OWNED(session_drop) struct page_session *session = session_with_objects(numbers);
    expect_open(session, 200, 0, "\"revision\":1");
    expect_count(session, 2, "/api/stroke/0", MERGE(1, 0, 1)); /* the mask stays as it is */
    put_instances("instances/a.png", numbers);
    expect(session, 409, "POST", "/api/undo/0", "{\"revision\":2}", "changed meanwhile");
    expect_count(session, 3, "/api/open/0", "{}");
}

TEST(masks_become_pieces_where_objects_are_kept_apart_and_of_a_tiff_a_png_is_made)
{
    uint8_t labels[WIDTH * HEIGHT] = {1, 1, 0, 1, 2};
    int32_t numbers[WIDTH * HEIGHT];
    page_session_free(fresh_session());
    must(clv_png_write_labels(in_folder("masks/a.png"), WIDTH, HEIGHT, labels, NULL, 0, err));
    spill(in_folder("labels.tsv"), "value\tname\n0\tground\n1\tcow\n2\tdog\n", 32);
    ck_assert_int_eq(mkdir(in_folder("instances"), 0777), 0);
    put_instances("instances/b.png", numbers);
    ck_assert_int_eq(unlink(in_folder("instances/b.png")), 0);
    const struct integer_image image = {WIDTH, HEIGHT, numbers};
    must(integer_image_write_tiff(in_folder("instances/b.tif"), &image, err));
    OWNED(session_drop) struct page_session *session = open_session();
    expect_count(session, 3, "/api/open/0", "{}");
    expect(session, 200, "POST", "/api/accept/0", "{\"revision\":1}", "\"runs\":[1,2,0,1,2,1,3,1,");
    expect_count(session, 3, "/api/open/1", "{}");
    expect_count(session, 2, "/api/stroke/1", MERGE(1, 0, 1));
    free(answer(session, 200, "POST", "/api/accept/1", "{\"revision\":2}"));
    ck_assert(path_exists(in_folder("instances/b.png")) && !path_exists(in_folder("instances/b.tif")) &&
              path_exists(in_folder("instances/.replaced/b.tif")));
}

TEST(objects_teach_beside_masks)
{
    int32_t numbers[WIDTH * HEIGHT];
    OWNED(session_drop) struct page_session *session = session_with_objects(numbers);
    spill(in_folder("manifest.tsv"), "image\na.png\nb.png\n", 18);
    expect_open(session, 200, 0, "\"revision\":1");
    free(answer(session, 200, "POST", "/api/accept/0", "{\"revision\":1}"));
    expect_open(session, 200, 1, "\"revision\":0");
    free(answer(session, 200, "POST", "/api/stroke/1", FOREGROUND(0)));
    free(answer(session, 200, "POST", "/api/stroke/1", BACKGROUND(1)));
    free(answer(session, 200, "POST", "/api/train", "{}"));
    ck_assert_str_eq(started, "image\tmask\tinstances\na.png\tmasks/a.png\tinstances/a.png\n"
                              "b.png\tstrokes/.training/1.png\t\n");
}

TEST(objects_are_kept_apart_where_they_are_asked_for_and_not_else)
{
    OWNED(session_drop) struct page_session *session = fresh_session();
    expect_open(session, 200, 0, "\"revision\":0");
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    ck_assert(!path_exists(in_folder("instances")));
    page_session_free(session);
    choose_options();
    options.objects = true;
    must(page_session_new(&session, &options, err));
    page_session_remove_empty(session);
    ck_assert(!path_exists(in_folder("instances"))); /* nothing was drawn */
    page_session_free(session);
    must(page_session_new(&session, &options, err));
    expect_open(session, 200, 0, "\"revision\":0");
    free(answer(session, 200, "POST", "/api/stroke/0", FAR(0)));
    ck_assert(path_exists(in_folder("instances/a.png")));
}
