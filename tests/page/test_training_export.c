/* What a training is given of a folder that is being labelled. */
#include <unistd.h>

#include "page/small_page.h"

#define BOX(revision)                                                                                                  \
    "{\"revision\":" #revision ",\"kind\":\"box\",\"object\":0,\"label\":1,\"radius\":0,\"points\":[20,5,70,55]}"

static void train(struct page_session *session)
{
    started[0] = 0;
    free(answer(session, 200, "POST", "/api/train", "{}"));
}

static void accept(struct page_session *session, int image)
{
    free(answer(session, 200, "POST", formatted("/api/open/%d", image), "{}"));
    free(answer(session, 200, "POST", formatted("/api/stroke/%d", image), FOREGROUND(0)));
    free(answer(session, 200, "POST", formatted("/api/accept/%d", image), "{\"revision\":1}"));
}

/* n pixels of the exported mask have a label. */
static void expect_pixels(const char *path, uint8_t label, int n)
{
    OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
    int found = 0;
    must(clv_indexed_image_read(&mask, path, NULL, err));
    ck_assert(mask.width == WIDTH && mask.height == HEIGHT);
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        found += mask.values[p] == label;
    ck_assert_int_eq(found, n);
}

enum { DAB = 32 }; /* pixels of a brush of radius 3 at a pixel's corner */

TEST(strokes_on_an_object_and_on_background_teach_where_they_are)
{
    OWNED(session_drop) struct page_session *session = fresh_session();
    accept(session, 0);
    free(answer(session, 200, "POST", "/api/open/1", "{}"));
    free(answer(session, 200, "POST", "/api/stroke/1", FOREGROUND(0)));
    expect(session, 400, "POST", "/api/train", "{}", "accept at least 2 images"); /* nothing on background yet */
    free(answer(session, 200, "POST", "/api/stroke/1", BACKGROUND(1)));
    train(session);
    ck_assert_str_eq(started, "image\tmask\na.png\tmasks/a.png\nb.png\tstrokes/.training/1.png\n");
    expect_pixels(in_folder("strokes/.training/1.png"), 1, DAB);
    expect_pixels(in_folder("strokes/.training/1.png"), 0, DAB);
    free(answer(session, 200, "POST", "/api/undo/1", "{\"revision\":2}"));
    expect(session, 400, "POST", "/api/train", "{}", "accept at least 2 images");
}

TEST(a_box_teaches_by_itself_and_with_a_stroke_in_it_where_nothing_is)
{
    OWNED(session_drop) struct page_session *session = fresh_session();
    accept(session, 0);
    free(answer(session, 200, "POST", "/api/open/1", "{}"));
    free(answer(session, 200, "POST", "/api/stroke/1", BOX(0)));
    train(session);
    ck_assert_str_eq(started, "image\tmask\na.png\tmasks/a.png\nb.png\t\nimage\tx\ty\tw\th\nb.png\t20\t5\t50\t50\n");
    free(answer(session, 200, "POST", "/api/stroke/1", FOREGROUND(1)));
    train(session);
    ck_assert_str_eq(started, "image\tmask\na.png\tmasks/a.png\nb.png\tstrokes/.training/1.png\n");
    expect_pixels(in_folder("strokes/.training/1.png"), 1, DAB);
    expect_pixels(in_folder("strokes/.training/1.png"), 0, WIDTH * HEIGHT - 50 * 50);
    free(answer(session, 200, "POST", "/api/stroke/1",
                "{\"revision\":2,\"kind\":\"delete\",\"object\":0,\"label\":1,\"radius\":0}"));
    expect(session, 400, "POST", "/api/train", "{}", "accept at least 2 images");
}

/* A stroke where the box was and is no longer, and one where it is. */
TEST(a_box_that_was_moved_teaches_where_it_is)
{
    OWNED(session_drop) struct page_session *session = fresh_session();
    accept(session, 0);
    free(answer(session, 200, "POST", "/api/open/1", "{}"));
    free(answer(session, 200, "POST", "/api/stroke/1",
                "{\"revision\":0,\"kind\":\"box\",\"object\":0,\"label\":1,\"radius\":0,\"points\":[0,0,89,59]}"));
    free(answer(session, 200, "POST", "/api/stroke/1",
                "{\"revision\":1,\"kind\":\"foreground\",\"object\":0,\"label\":1,\"radius\":3,\"points\":[5,5]}"));
    free(answer(session, 200, "POST", "/api/stroke/1", FOREGROUND(2)));
    free(answer(session, 200, "POST", "/api/stroke/1", BOX(3)));
    train(session);
    expect_pixels(in_folder("strokes/.training/1.png"), 1, DAB);
    expect_pixels(in_folder("strokes/.training/1.png"), 0, WIDTH * HEIGHT - 50 * 50);
}

/* Boxes of another program, all undone: the image is unlabelled, and they teach nothing. */
TEST(boxes_that_were_undone_teach_no_more)
{
    static const char boxes[] = "image\tx\ty\tw\th\nb.png\t20\t5\t50\t50\n";
    page_session_free(fresh_session());
    spill(in_folder("boxes.tsv"), boxes, sizeof boxes - 1);
    OWNED(session_drop) struct page_session *session = open_session();
    accept(session, 0);
    train(session);
    ck_assert_ptr_nonnull(strstr(started, "b.png\t20\t5\t50\t50\n"));
    free(answer(session, 200, "POST", "/api/open/1", "{}"));
    free(answer(session, 200, "POST", "/api/undo/1", "{\"revision\":1}"));
    expect(session, 200, "GET", "/api/state", NULL, "{\"status\":\"new\",\"expected\":-1.0000,\"name\":\"b.png\"");
    expect(session, 400, "POST", "/api/train", "{}", "accept at least 2 images");
}

TEST(a_stroke_out_of_its_box_teaches_the_object_there)
{
    OWNED(session_drop) struct page_session *session = fresh_session();
    accept(session, 0);
    free(opened(session, 1));
    free(answer(session, 200, "POST", "/api/stroke/1", BOX(0)));
    free(answer(session, 200, "POST", "/api/stroke/1",
                "{\"revision\":1,\"kind\":\"foreground\",\"object\":0,\"label\":1,\"radius\":3,\"points\":[80,30]}"));
    train(session);
    expect_pixels(in_folder("strokes/.training/1.png"), 1, DAB);
    expect_pixels(in_folder("strokes/.training/1.png"), 0, WIDTH * HEIGHT - 50 * 50 - DAB);
}

TEST(what_cannot_be_opened_teaches_nothing)
{
    OWNED(session_drop) struct page_session *session = fresh_session();
    page_session_free(session);
    put_image("c.png");
    session = open_session();
    for (int i = 0; i < 3; i++)
        accept(session, i);
    spill(in_folder("b.png"), "no image", 8);
    page_session_free(session);
    session = open_session();
    free(answer(session, 422, "GET", "/api/image/1", NULL));
    train(session);
    ck_assert_str_eq(started, "a.png\nc.png\n");
}

#define OTHER(kind, revision)                                                                                          \
    "{\"revision\":" #revision ",\"kind\":\"" kind "\",\"object\":1,\"label\":1,\"radius\":3,\"points\":[45,30]}"

/* What is outside one object is background unless it is another; and all outside the boxes only if all objects have
 * one. */
TEST(two_objects_teach_what_they_are_together)
{
    OWNED(session_drop) struct page_session *session = fresh_session();
    accept(session, 0);
    free(answer(session, 200, "POST", "/api/open/1", "{}"));
    free(answer(session, 200, "POST", "/api/stroke/1", FOREGROUND(0)));
    free(answer(session, 200, "POST", "/api/stroke/1", OTHER("background", 1)));
    free(answer(session, 200, "POST", "/api/stroke/1", BACKGROUND(2)));
    train(session);
    expect_pixels(in_folder("strokes/.training/1.png"), 1, DAB);
    expect_pixels(in_folder("strokes/.training/1.png"), 0, DAB);
    for (int revision = 3; revision < 6; revision++)
        free(answer(session, 200, "POST", "/api/undo/1", formatted("{\"revision\":%d}", revision)));
    free(answer(session, 200, "POST", "/api/stroke/1", BOX(6)));
    free(answer(session, 200, "POST", "/api/stroke/1", OTHER("foreground", 7)));
    expect(session, 400, "POST", "/api/train", "{}", "accept at least 2 images");
}

TEST(boxes_of_another_program_teach_what_was_not_opened)
{
    const char rows[] = "image\tlabel\tx\ty\tw\th\na.png\thorse\t20\t5\t50\t50\nb.png\thorse\t28\t13\t35\t35\n";
    ck_assert_int_eq(mkdir(here("set"), 0777), 0);
    put_image("a.png");
    put_image("b.png");
    spill(in_folder("boxes.tsv"), rows, sizeof rows - 1);
    OWNED(session_drop) struct page_session *session = open_session();
    train(session);
    ck_assert_str_eq(started, "image\tmask\na.png\t\nb.png\t\nimage\tx\ty\tw\th\na.png\t20\t5\t50\t50\n"
                              "b.png\t28\t13\t35\t35\n");
}

TEST(a_single_pixel_in_the_corner_teaches)
{
    OWNED(session_drop) struct page_session *session = fresh_session();
    accept(session, 0);
    free(opened(session, 1));
    free(answer(session, 200, "POST", "/api/stroke/1",
                "{\"revision\":0,\"kind\":\"foreground\",\"object\":0,\"label\":1,\"radius\":0,\"points\":[0.5,0.5]}"));
    free(answer(session, 200, "POST", "/api/stroke/1",
                "{\"revision\":1,\"kind\":\"background\",\"object\":0,\"label\":1,\"radius\":3,\"points\":[45,30]}"));
    train(session);
    expect_pixels(in_folder("strokes/.training/1.png"), 1, 1);
    expect_pixels(in_folder("strokes/.training/1.png"), 0, DAB);
}

/* Of three labels a box does not say which pixels are which. */
TEST(boxes_alone_teach_two_labels_only)
{
    const char rows[] = "image\tlabel\tx\ty\tw\th\nc.png\tcow\t20\t5\t50\t50\n";
    const char labels[] = "value\tname\n0\tground\n1\tcow\n2\tsky\n";
    page_session_free(fresh_session());
    put_image("c.png");
    spill(in_folder("boxes.tsv"), rows, sizeof rows - 1);
    spill(in_folder("labels.tsv"), labels, sizeof labels - 1);
    OWNED(session_drop) struct page_session *session = open_session();
    accept(session, 0);
    free(opened(session, 1));
    free(answer(session, 200, "POST", "/api/stroke/1", BOX(0)));
    expect(session, 400, "POST", "/api/train", "{}", "accept at least 2 images");
    free(answer(session, 200, "POST", "/api/stroke/1",
                "{\"revision\":1,\"kind\":\"foreground\",\"object\":0,\"label\":2,\"radius\":3,\"points\":[45,30]}"));
    train(session);
    ck_assert_str_eq(started, "image\tmask\na.png\tmasks/a.png\nb.png\tstrokes/.training/1.png\n");
    expect_pixels(in_folder("strokes/.training/1.png"), 2, DAB);
    expect_pixels(in_folder("strokes/.training/1.png"), 0, WIDTH * HEIGHT - 50 * 50);
}

/* The erased part of a stroke teaches nothing, and what the object was drawn over last counts. */
TEST(later_strokes_of_an_object_count_more)
{
    OWNED(session_drop) struct page_session *session = fresh_session();
    accept(session, 0);
    free(opened(session, 1));
    free(answer(session, 200, "POST", "/api/stroke/1", FOREGROUND(0)));
    free(answer(session, 200, "POST", "/api/stroke/1", BACKGROUND(1)));
    free(answer(session, 200, "POST", "/api/stroke/1",
                "{\"revision\":2,\"kind\":\"foreground\",\"object\":0,\"label\":1,\"radius\":3,\"points\":[45,40]}"));
    free(answer(session, 200, "POST", "/api/stroke/1",
                "{\"revision\":3,\"kind\":\"erase\",\"object\":0,\"label\":1,\"radius\":3,\"points\":[45,40]}"));
    train(session);
    expect_pixels(in_folder("strokes/.training/1.png"), 1, DAB);
    expect_pixels(in_folder("strokes/.training/1.png"), 0, DAB);
    free(answer(session, 200, "POST", "/api/stroke/1",
                "{\"revision\":4,\"kind\":\"background\",\"object\":0,\"label\":1,\"radius\":3,\"points\":[45,30]}"));
    expect(session, 400, "POST", "/api/train", "{}", "accept at least 2 images");
}

TEST(a_manifest_in_the_folder_chooses_no_training_data)
{
    OWNED(session_drop) struct page_session *session = fresh_session();
    accept(session, 0);
    accept(session, 1);
    train(session);
    ck_assert_str_eq(started, "a.png\nb.png\n"); /* the folder itself, and which of its images */
    spill(in_folder("manifest.tsv"), "image\na.png\n", 12);
    train(session);
    ck_assert_str_eq(started, "image\tmask\na.png\tmasks/a.png\nb.png\tmasks/b.png\n");
}

TEST(a_mask_that_made_way_for_the_page_s_own_teaches_no_more)
{
    static char pgm[64 + WIDTH * HEIGHT] = "P5 90 60 255\n";
    size_t head = strlen(pgm);
    memset(pgm + head + 10, 255, 5);
    page_session_free(fresh_session());
    spill(in_folder("masks/a.pgm"), pgm, head + WIDTH * HEIGHT);
    spill(in_folder("manifest.tsv"), "image\na.png\n", 12);
    OWNED(session_drop) struct page_session *session = open_session();
    accept(session, 1);
    train(session);
    ck_assert_str_eq(started, "image\tmask\na.png\tmasks/a.pgm\nb.png\tmasks/b.png\n");
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(1)));
    free(answer(session, 200, "POST", "/api/accept/0", "{\"revision\":2}"));
    train(session);
    ck_assert_str_eq(started, "image\tmask\na.png\tmasks/a.png\nb.png\tmasks/b.png\n");
}

TEST(a_folder_of_links_to_elsewhere_learns_from_its_masks)
{
    ck_assert_int_eq(mkdir(here("set"), 0777), 0);
    put_image("../a.png");
    put_image("b.png");
    put_image("c.png");
    ck_assert_int_eq(symlink("../a.png", in_folder("a.png")), 0);
    OWNED(session_drop) struct page_session *session = open_session();
    accept(session, 0);
    accept(session, 1);
    free(answer(session, 200, "POST", "/api/open/2", "{}"));
    free(answer(session, 200, "POST", "/api/stroke/2", BOX(0)));
    train(session);
    ck_assert_str_eq(started, "a.png\nb.png\n");
}
