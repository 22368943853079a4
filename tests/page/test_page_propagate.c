/* Labels of an image propagated to the next one of a numbered folder. */
#include "page/small_page.h"
#include "support/sample.h"

/* Frames f8.png to f11.png: an orange square that moves right by 3 pixels. */
static struct page_session *frames(void)
{
    ck_assert_int_eq(mkdir(formatted("%s/set", temporary_folder()), 0777), 0);
    for (int t = 0; t < 4; t++) {
        struct clv_image image = {0};
        must(clv_image_new(&image, WIDTH, HEIGHT, 3, err));
        for (int p = 0; p < WIDTH * HEIGHT; p++) {
            int x = p % WIDTH, y = p / WIDTH;
            bool is_foreground = abs(x - 40 - 3 * t) < 15 && abs(y - 30) < 15;
            const uint8_t colour[2][3] = {{60, 90, 150}, {200, 120, 40}};
            for (int c = 0; c < 3; c++)
                image.pixels[3 * p + c] = (uint8_t)(colour[is_foreground][c] + (x * 7 + y * 13) % 20);
        }
        must(clv_png_write(in_folder(formatted("f%d.png", 8 + t)), &image, err));
        clv_image_release(&image);
    }
    return open_session();
}

static void draw_square(struct page_session *session, int number)
{
    free(opened(session, number));
    free(answer(session, 200, "POST", formatted("/api/stroke/%d", number),
                "{\"revision\":0,\"kind\":\"box\",\"object\":0,\"label\":1,\"radius\":3,\"points\":[24,14,56,46]}"));
}

TEST(labels_are_propagated_by_numbers_as_the_command_does_and_undone_in_one_step)
{
    struct page_session *session = frames(); /* f10, f11, f8, f9 */
    draw_square(session, 2);
    char *text = answer(session, 200, "POST", "/api/propagate/2", "{\"revision\":1}");
    ck_assert_ptr_nonnull(strstr(text, "\"number\":3,"));
    ck_assert_ptr_nonnull(strstr(text, "\"name\":\"f9.png\""));
    ck_assert_ptr_nonnull(strstr(text, "\"accepted\":false,\"undo\":true"));
    free(text);
    free(expect_success("cd %s/set && mkdir ../seq ../seq/images ../seq/masks && cp f*.png ../seq/images && cp "
                        "masks/f8.png ../seq/masks && cd .. && \"$CLEAVE\" propagate -q seq -o out",
                        temporary_folder()));
    struct clv_mask propagated = {0}, command = {0};
    struct clv_labels labels = {0};
    must(clv_labels_binary(&labels, err));
    must(clv_mask_read(&propagated, in_folder("masks/f9.png"), &labels, WIDTH, HEIGHT, NULL, err));
    must(clv_mask_read(&command, formatted("%s/out/f9.png", temporary_folder()), &labels, WIDTH, HEIGHT, NULL, err));
    ck_assert_mem_eq(propagated.labels, command.labels, WIDTH * HEIGHT);
    ck_assert(propagated.labels[30 * WIDTH + 43] == 1 && propagated.labels[5 * WIDTH + 5] == 0);
    clv_mask_release(&propagated);
    clv_mask_release(&command);
    clv_labels_release(&labels);
    text = answer(session, 200, "POST", "/api/undo/3", "{\"revision\":1}");
    ck_assert_ptr_nonnull(strstr(text, "\"undo\":false,\"redo\":true"));
    ck_assert_ptr_nonnull(strstr(text, "\"objects\":[]"));
    free(text);
    free(answer(session, 200, "POST", "/api/redo/3", "{\"revision\":2}"));
    expect(session, 200, "POST", "/api/propagate/3", "{\"revision\":3}", "\"name\":\"f10.png\"");
    page_session_free(session);
}

TEST(what_is_propagated_again_takes_the_place_of_what_was_there_as_one_step)
{
    struct page_session *session = frames();
    draw_square(session, 2);
    free(answer(session, 200, "POST", "/api/propagate/2", "{\"revision\":1}"));
    free(answer(session, 200, "POST", "/api/stroke/3",
                "{\"revision\":1,\"kind\":\"foreground\",\"object\":5,\"label\":1,\"radius\":3,\"points\":[5,5]}"));
    char *before = opened(session, 3);
    free(opened(session, 2));
    char *again = answer(session, 200, "POST", "/api/propagate/2", "{\"revision\":0}");
    const char *objects = strstr(again, "\"objects\":[");
    ck_assert(objects && strchr(objects, '}') && strchr(objects, '}')[1] == ']'); /* one */
    char *undone = answer(session, 200, "POST", "/api/undo/3", "{\"revision\":1}");
    char *was = runs_of(before), *is = runs_of(undone);
    ck_assert_str_eq(is, was);
    free(before);
    free(again);
    free(undone);
    free(was);
    free(is);
    page_session_free(session);
}

TEST(what_cannot_be_propagated_is_said_and_the_image_stays_open)
{
    struct page_session *session = frames();
    free(opened(session, 2));
    expect(session, 400, "POST", "/api/propagate/2", "{\"revision\":0}",
           "nothing of what is labelled here is found in f9.png");
    draw_square(session, 1);
    expect(session, 400, "POST", "/api/propagate/1", "{\"revision\":1}", "no image follows this one");
    expect(session, 409, "POST", "/api/propagate/1", "{\"revision\":0}", "another window");
    free(opened(session, 3));
    free(answer(session, 200, "POST", "/api/accept/3", "{\"revision\":0}"));
    draw_square(session, 2);
    expect(session, 400, "POST", "/api/propagate/2", "{\"revision\":1}", "f9.png, which follows, is accepted");
    free(opened(session, 3));
    free(answer(session, 200, "POST", "/api/accept/3", "{\"revision\":0,\"accepted\":0}"));
    struct clv_image small = {0};
    must(clv_image_new(&small, 10, 20, 3, err));
    must(clv_png_write(in_folder("f9.png"), &small, err));
    clv_image_release(&small);
    free(opened(session, 2));
    expect(session, 400, "POST", "/api/propagate/2", "{\"revision\":0}",
           "f9.png, which follows, is 10x20, this image is 90x60");
    expect(session, 200, "POST", "/api/open/2", "{}", "\"number\":2,");
    page_session_free(session);
}
