/* Names of labels: added and renamed on the page. */
#include <unistd.h>

#include "base/base.h"
#include "cleave/model.h"
#include "page/small_page.h"
#include "support/sample.h"

#define RENAME(value, label, name) "{\"value\":" value ",\"label\":\"" label "\",\"name\":\"" name "\"}"
#define FEW_STEPS                  "--learner crf --blocks colour --superpixels 20"

/* An object on both images, a model that was learned from them, and another program's row in boxes.tsv. */
static struct page_session *labelled_session(void)
{
    struct page_session *session = fresh_session();
    for (int i = 0; i < 2; i++) {
        free(opened(session, i));
        free(answer(session, 200, "POST", formatted("/api/stroke/%d", i), FOREGROUND(0)));
        free(answer(session, 200, "POST", formatted("/api/accept/%d", i), "{\"revision\":1}"));
    }
    page_session_free(session);
    run_here("cd set && printf 'elsewhere.png\thorse\t1\t2\t3\t4\n' >>boxes.tsv && cleave train --data . " FEW_STEPS
             " -o label.cleave");
    return open_session();
}

static void expect_in(const char *file, const char *part)
{
    OWNED_ARRAY char *text = slurp(in_folder(file), NULL);
    ck_assert_msg(strstr(text, part) != NULL, "%s: \"%s\" is not in %s", file, part, text);
}

static void expect_named(const char *name)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    expect_in("labels.tsv", formatted("\n1\t%s\t236\t64\t122\n", name));
    expect_in("boxes.tsv", formatted("\na.png\t%s\t", name));
    expect_in("boxes.tsv", formatted("\nb.png\t%s\t", name));
    expect_in("boxes.tsv", "\nelsewhere.png\thorse\t1\t2\t3\t4\n");
    must(clv_model_read(&model, options.model, err));
    ck_assert_str_eq(model.labels.names[1], name);
}

TEST(a_label_is_renamed_wherever_the_folder_has_its_name)
{
    OWNED(session_drop) struct page_session *session = labelled_session();
    OWNED_ARRAY char *before = without_time(opened(session, 0));
    expect(session, 200, "POST", "/api/rename", RENAME("1", "foreground", "plains zebra"), "\"name\":\"plains zebra\"");
    expect_named("plains zebra");
    free(answer(session, 200, "POST", "/api/rename", RENAME("0", "background", "grass")));
    expect_in("labels.tsv", "\n0\tgrass\t0\t0\t0\n");
    page_session_free(session);
    session = open_session();
    OWNED_ARRAY char *after = without_time(opened(session, 0)), *drawn = runs_of(before), *found = runs_of(after);
    ck_assert_str_eq(found, drawn);
    expect(session, 200, "GET", "/api/state", NULL, "\"name\":\"grass\"},{\"value\":1");
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    expect_in("boxes.tsv", "\na.png\tplains zebra\t");
}

TEST(names_that_are_there_and_labels_that_are_not_are_refused)
{
    static const char *const bad[][2] = {
        {RENAME("1", "foreground", "background"), "there is a label background already"},
        {RENAME("1", "foreground", "foreground"), "there is a label foreground already"},
        {RENAME("2", "cow", "horse"), "there is no label 2"},
        {RENAME("-1", "cow", "horse"), "there is no label -1"},
        {"{\"label\":\"cow\",\"name\":\"horse\"}", "there is no label -1"},
        {"{\"value\":1,\"label\":\"foreground\"}", "no name"},
        {"{\"value\":1,\"name\":\"horse\"}", "does not name its label"},
        {RENAME("1", "foreground", "void"), "not \\\"void\\\""},
        {RENAME("1", "foreground", "a\\tb"), "without tabs"},
        {RENAME("1", "foreground", ""), "1 to 63 bytes"}};
    OWNED(session_drop) struct page_session *session = fresh_session();
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        expect(session, 400, "POST", "/api/rename", bad[k][0], bad[k][1]);
    is_training = true;
    expect(session, 400, "POST", "/api/rename", RENAME("1", "foreground", "horse"), "training is under way");
    is_training = false;
    ck_assert(!path_exists(in_folder("labels.tsv")));
}

TEST(a_label_that_another_program_s_file_names_keeps_its_name)
{
    static const char labels[] = "name\nground\ncow\nhorse\n",
                      boxes[] = "image\tlabel\tx\ty\tw\th\na.png\tcow\t1\t2\t3\t4\n";
    struct page_session *session = fresh_session();
    page_session_free(session);
    spill(in_folder("labels.tsv"), labels, sizeof labels - 1);
    spill(in_folder("other.tsv"), boxes, sizeof boxes - 1);
    options.boxes = strdup(in_folder("other.tsv"));
    must(page_session_new(&session, &options, err));
    expect(session, 400, "POST", "/api/rename", RENAME("1", "cow", "ox"), "other.tsv names the label cow, too");
    free(answer(session, 200, "POST", "/api/rename", RENAME("2", "horse", "mule")));
    page_session_free(session);
    free((char *)options.boxes);
}

/* Boxes, model and labels are written one after the other; here the _i-th of them is a folder. */
TESTS(a_name_that_cannot_be_saved_is_the_old_one_again, 0, 3)
{
    static const char *const files[] = {"boxes.tsv", "label.cleave", "labels.tsv"};
    OWNED(session_drop) struct page_session *session = labelled_session();
    OWNED_ARRAY char *aside = strdup(in_folder("aside")), *file = strdup(in_folder(files[_i]));
    free(answer(session, 200, "POST", "/api/rename", RENAME("1", "foreground", "cow")));
    ck_assert(rename(file, aside) == 0 && mkdir(file, 0777) == 0);
    expect(session, _i ? 409 : 404, "POST", "/api/rename", RENAME("1", "cow", "ox"), files[_i]);
    ck_assert(rmdir(file) == 0 && rename(aside, file) == 0);
    expect(session, 200, "GET", "/api/state", NULL, "\"name\":\"cow\"");
    expect_named("cow");
    free(answer(session, 200, "POST", "/api/rename", RENAME("1", "cow", "mule")));
    expect_named("mule");
}

/* 255 is the foreground without labels.tsv, and void with it. */
TEST(names_do_not_change_what_masks_of_other_programs_mean)
{
    uint8_t other[WIDTH * HEIGHT] = {0, 255, 255};
    OWNED(session_drop) struct page_session *session = fresh_session();
    page_session_free(session);
    must(clv_png_write_labels(in_folder("masks/b.png"), WIDTH, HEIGHT, other, NULL, 0, err));
    session = open_session();
    expect(session, 422, "POST", "/api/rename", RENAME("1", "foreground", "horse"),
           "masks/b.png: its values would mean something");
    expect(session, 422, "POST", "/api/label", "{\"name\":\"horse\"}", "masks/b.png: its values would mean something");
    ck_assert(!path_exists(in_folder("labels.tsv")));
    expect_open(session, 200, 1, "\"runs\":[0,1,1,2,0,5397]");
    free(answer(session, 200, "POST", "/api/accept/1", "{\"revision\":1}"));
    free(answer(session, 200, "POST", "/api/rename", RENAME("1", "foreground", "horse")));
    expect_open(session, 200, 1, "\"runs\":[0,1,1,2,0,5397]");
}

TEST(a_label_that_is_added_takes_no_void_value)
{
    static const char labels[] = "value\tname\n0\tground\n1\tcow\n2\tvoid\n4\tvoid\n";
    OWNED(session_drop) struct page_session *session = fresh_session();
    page_session_free(session);
    spill(in_folder("labels.tsv"), labels, sizeof labels - 1);
    session = open_session();
    free(answer(session, 200, "POST", "/api/label", "{\"name\":\"sky\"}"));
    expect_in("labels.tsv", "\n2\tvoid\t");
    expect_in("labels.tsv", "\n3\tsky\t");
    expect_in("labels.tsv", "\n4\tvoid\t");
}

TEST(a_damaged_file_of_strokes_keeps_no_label_from_being_added)
{
    OWNED(session_drop) struct page_session *session = fresh_session();
    spill(in_folder("strokes/a.json"), "{\"strokes\": [", 13);
    free(answer(session, 200, "POST", "/api/label", "{\"name\":\"sky\"}"));
    expect_in("labels.tsv", "\n2\tsky\t");
}

#define DELETE_LABEL(value, label) "{\"value\":" value ",\"label\":\"" label "\"}"
#define DRAW_SKY(revision)                                                                                             \
    "{\"revision\":" #revision ",\"kind\":\"foreground\",\"object\":0,\"label\":2,\"radius\":3,\"points\":[45,30]}"
#define RELABEL(revision, label) "{\"revision\":" #revision ",\"kind\":\"relabel\",\"object\":0,\"label\":" #label "}"

TEST(a_label_that_nothing_uses_is_deleted)
{
    OWNED(session_drop) struct page_session *session = labelled_session();
    free(answer(session, 200, "POST", "/api/label", "{\"name\":\"sky\"}"));
    expect(session, 200, "POST", "/api/delete-label", DELETE_LABEL("2", "sky"),
           "\"name\":\"foreground\"}],\"training\"");
    OWNED_ARRAY char *table = slurp(in_folder("labels.tsv"), NULL);
    ck_assert_ptr_null(strstr(table, "sky"));
    expect(session, 400, "POST", "/api/stroke/0", "{}", "no revision");
    free(opened(session, 0));
    expect(session, 400, "POST", "/api/stroke/0", DRAW_SKY(0), "there is no label 2");
    free(answer(session, 200, "POST", "/api/label", "{\"name\":\"sea\"}"));
    expect_in("labels.tsv", "\n2\tsea\t");
}

/* Drawn, in a mask or in boxes of another program, in the file that --boxes names; while a training is under way. */
TEST(a_label_that_something_uses_stays)
{
    static const char labels[] = "name\nground\ncow\nhorse\nox\nmule\nass\n",
                      boxes[] = "image\tlabel\tx\ty\tw\th\na.png\tmule\t1\t2\t3\t4\n",
                      table[] = "image\tlabel\tx\ty\tw\th\nelsewhere.png\tass\t1\t2\t3\t4\n";
    uint8_t mask[WIDTH * HEIGHT] = {0, 3, 3};
    page_session_free(fresh_session());
    spill(in_folder("labels.tsv"), labels, sizeof labels - 1);
    spill(in_folder("other.tsv"), boxes, sizeof boxes - 1);
    spill(in_folder("boxes.tsv"), table, sizeof table - 1);
    must(clv_png_write_labels(in_folder("masks/b.png"), WIDTH, HEIGHT, mask, NULL, 0, err));
    struct page_session *session = NULL;
    choose_options();
    options.boxes = strdup(in_folder("other.tsv"));
    must(page_session_new(&session, &options, err));
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", DRAW_SKY(1)));
    static const char *const used[][2] = {{DELETE_LABEL("2", "horse"), "a.png has horse"},
                                          {DELETE_LABEL("3", "ox"), "b.png has ox"},
                                          {DELETE_LABEL("4", "mule"), "other.tsv names the label mule"},
                                          {DELETE_LABEL("5", "ass"), "boxes.tsv has boxes of ass"},
                                          {DELETE_LABEL("0", "ground"), "ground is the background"}};
    for (size_t k = 0; k < sizeof used / sizeof *used; k++)
        expect(session, 400, "POST", "/api/delete-label", used[k][0], used[k][1]);
    is_training = true;
    expect(session, 400, "POST", "/api/delete-label", DELETE_LABEL("1", "cow"), "training is under way");
    is_training = false;
    OWNED_ARRAY char *now = slurp(in_folder("labels.tsv"), NULL);
    ck_assert_str_eq(now, labels);
    free(answer(session, 200, "POST", "/api/delete-label", DELETE_LABEL("1", "cow")));
    page_session_free(session);
    free((char *)options.boxes);
}

TEST(the_last_label_stays)
{
    OWNED(session_drop) struct page_session *session = fresh_session();
    expect(session, 400, "POST", "/api/delete-label", DELETE_LABEL("1", "foreground"), "foreground is the last label");
    expect(session, 400, "POST", "/api/delete-label", DELETE_LABEL("2", "sky"), "there is no label 2");
}

/* A misspelt label: its object gets another one, the label goes, and undoing cannot bring it back as another one's. */
TEST(an_object_s_label_is_changed_and_undone_until_its_label_is_deleted)
{
    struct page_session *session = fresh_session();
    uint8_t n_of[3] = {0};
    OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
    free(answer(session, 200, "POST", "/api/label", "{\"name\":\"hrose\"}"));
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", DRAW_SKY(0)));
    expect_in("boxes.tsv", "\na.png\throse\t");
    char *before = without_time(opened(session, 0)), *drawn = runs_of(before);
    char *changed = answer(session, 200, "POST", "/api/stroke/0", RELABEL(1, 1)), *found = runs_of(changed);
    ck_assert_str_eq(found, drawn);
    ck_assert_ptr_nonnull(strstr(changed, "{\"object\":0,\"label\":1,"));
    expect_in("boxes.tsv", "\na.png\tforeground\t");
    must(clv_indexed_image_read(&mask, in_folder("masks/a.png"), NULL, err));
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        n_of[mask.values[p]] |= 1;
    ck_assert(n_of[0] && n_of[1] && !n_of[2]);
    expect(session, 200, "POST", "/api/undo/0", "{\"revision\":2}", "{\"object\":0,\"label\":2,");
    expect(session, 400, "POST", "/api/delete-label", DELETE_LABEL("2", "hrose"), "a.png has hrose");
    free(answer(session, 200, "POST", "/api/redo/0", "{\"revision\":3}"));
    free(answer(session, 200, "POST", "/api/delete-label", DELETE_LABEL("2", "hrose")));
    expect(session, 400, "POST", "/api/undo/0", "{\"revision\":4}", "was deleted, so it cannot come back");
    free(answer(session, 200, "POST", "/api/label", "{\"name\":\"donkey\"}"));
    expect_in("labels.tsv", "\n3\tdonkey\t"); /* not 2, which the history has */
    expect(session, 400, "POST", "/api/undo/0", "{\"revision\":4}", "was deleted, so it cannot come back");
    expect(session, 400, "POST", "/api/stroke/0", RELABEL(4, 2), "there is no label 2");
    expect(session, 400, "POST", "/api/stroke/0", "{\"revision\":4,\"kind\":\"relabel\",\"object\":7,\"label\":1}",
           "there is no object 8");
    page_session_free(session);
    session = open_session();
    expect_open(session, 200, 0, "{\"object\":0,\"label\":1,");
    page_session_free(session);
    char *const made[] = {before, drawn, changed, found};
    for (size_t k = 0; k < sizeof made / sizeof *made; k++)
        free(made[k]);
}

/* The page's model was learned with a label that was removed since: it no longer has its name and never suggests it. */
TEST(a_model_that_knows_a_deleted_label_does_not_suggest_it)
{
    static const char labels[] = "name\nground\ncow\nhorse\n";
    OWNED(clv_model_release) struct clv_model model = {0};
    OWNED(session_drop) struct page_session *session = fresh_session();
    page_session_free(session);
    spill(in_folder("labels.tsv"), labels, sizeof labels - 1);
    session = open_session();
    for (int i = 0; i < 2; i++) {
        free(opened(session, i));
        free(answer(session, 200, "POST", formatted("/api/stroke/%d", i), DRAW_SKY(0)));
        free(answer(session, 200, "POST", formatted("/api/accept/%d", i), "{\"revision\":1}"));
    }
    page_session_free(session);
    run_here("cd set && cleave train --data . " FEW_STEPS " -o label.cleave");
    session = open_session();
    free(opened(session, 0));
    char *seen = answer(session, 200, "POST", "/api/suggest/0", "{\"revision\":0}");
    ck_assert_ptr_nonnull(strstr(seen, ",2,35,0,"));
    free(seen);
    for (int i = 0; i < 2; i++) {
        free(opened(session, i));
        free(answer(session, 200, "POST", formatted("/api/stroke/%d", i), RELABEL(0, 1)));
    }
    free(answer(session, 200, "POST", "/api/delete-label", DELETE_LABEL("2", "horse")));
    seen = answer(session, 200, "POST", "/api/suggest/1", "{\"revision\":1}");
    ck_assert_ptr_nonnull(strstr(seen, "\"runs\":[0,5400]"));
    free(seen);
    must(clv_model_read(&model, options.model, err));
    ck_assert_str_eq(model.labels.names[1], "cow");
    ck_assert_str_eq(model.labels.names[2], "");
    page_session_free(session);
    session = open_session();
    free(opened(session, 1));
    expect(session, 200, "POST", "/api/suggest/1", "{\"revision\":0}", "\"runs\":[0,5400]");
}
