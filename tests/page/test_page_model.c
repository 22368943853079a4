/* The page with a model: what it suggests, which image is worth labelling next. */
#include <math.h>
#include <tiffio.h>
#include <time.h>
#include <unistd.h>

#include "infer/infer.h"
#include "page/small_page.h"
#include "support/images.h"
#include "support/sample.h"

#define BY_COLOUR "--learner crf --blocks colour,size"

static bool is_in_square(int p)
{
    return abs(p / WIDTH - 30) < 12 && (abs(p % WIDTH - 22) < 12 || abs(p % WIDTH - 67) < 12);
}

/* An orange square on the left and a green one on the right, in blue. */
static void put_two_coloured(const char *name)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_new(&image, WIDTH, HEIGHT, 3, err));
    for (int p = 0; p < WIDTH * HEIGHT; p++) {
        const uint8_t colour[3][3] = {{60, 90, 150}, {200, 120, 40}, {40, 160, 60}};
        memcpy(image.pixels + 3 * p, colour[is_in_square(p) ? 1 + (p % WIDTH >= 45) : 0], 3);
    }
    must(clv_png_write(in_folder(name), &image, err));
}

/* a.png, b.png and c.png of two colours, the first two with masks. */
static struct page_session *labelled_session(void)
{
    uint8_t labels[WIDTH * HEIGHT];
    page_session_free(fresh_session());
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        labels[p] = is_in_square(p);
    for (int i = 0; i < 3; i++) {
        put_two_coloured(formatted("%c.png", 'a' + i));
        if (i < 2)
            must(clv_png_write_labels(in_folder(formatted("masks/%c.png", 'a' + i)), WIDTH, HEIGHT, labels, NULL, 0,
                                      err));
    }
    return open_session();
}

static void learn(const char *training)
{
    run_here("cd set && printf 'a.png\nb.png\n' >../only && cleave train --data . --only ../only --seed 1 "
             "--superpixels 40 -t 1 %s --overwrite -o label.cleave",
             training);
}

/* Counts the labels of an answer's runs, inside and outside of the square of put_image. */
static void count_runs(int inside[3], int outside[3], const char *text)
{
    int p = 0;
    const char *at = strstr(text, "\"runs\":[") + strlen("\"runs\":[");
    memset(inside, 0, 3 * sizeof *inside);
    memset(outside, 0, 3 * sizeof *outside);
    for (;;) {
        char *next;
        long label = strtol(at, &next, 10), length = strtol(next + 1, &next, 10);
        ck_assert(label >= 0 && label < 3 && length > 0 && p + length <= WIDTH * HEIGHT);
        for (int end = p + (int)length; p < end; p++)
            (is_in_square(p) ? inside : outside)[label]++;
        if (*next != ',')
            break;
        at = next + 1;
    }
    ck_assert_int_eq(p, WIDTH * HEIGHT);
}

/* The state, once every image that can be ranked is: "expected" of as many as `n` is not -1. */
static char *ranked_state(struct page_session *session, int n)
{
    const struct timespec while_ranking = {.tv_nsec = 20000000};
    for (int try = 0;; try++) {
        int n_unknown = 0;
        char *state = answer(session, 200, "GET", "/api/state", NULL);
        for (const char *at = state; (at = strstr(at, "\"expected\":-1.0000")); at++)
            n_unknown++;
        if (n_unknown == 3 - n)
            return state;
        ck_assert_msg(try < 6000, "%d images are not ranked yet: %s", n_unknown, state);
        free(state);
        nanosleep(&while_ranking, NULL);
    }
}

TEST(a_model_learned_meanwhile_suggests_the_rest)
{
    int inside[3], outside[3];
    OWNED(session_drop) struct page_session *session = labelled_session();
    learn(BY_COLOUR);
    expect(session, 200, "GET", "/api/state", NULL, "\"has_model\":false");
    free(answer(session, 200, "POST", "/api/open/2", "{}"));
    expect(session, 400, "POST", "/api/suggest/2", "{\"revision\":0}", "no model yet");
    expect(session, 400, "POST", "/api/accept/2", "{\"revision\":0,\"suggestion\":1}", "no model yet");
    n_models = 1;
    expect(session, 200, "GET", "/api/state", NULL, "\"has_model\":true");
    OWNED_ARRAY char *text = answer(session, 200, "POST", "/api/suggest/2", "{\"revision\":0}"), *runs = runs_of(text);
    count_runs(inside, outside, text);
    ck_assert_int_eq(inside[1], 2 * 23 * 23);
    ck_assert_int_eq(outside[1], 0);
    ck_assert_int_ne(access(in_folder("masks/c.png"), F_OK), 0); /* shown, not kept */
    free(text);

    text = answer(session, 200, "POST", "/api/accept/2", "{\"revision\":0,\"suggestion\":1}");
    ck_assert_ptr_nonnull(strstr(text, "\"accepted\":true"));
    OWNED_ARRAY char *kept = runs_of(text);
    *strchr(kept, ']') = *strchr(runs, ']') = 0;
    ck_assert_str_eq(kept, runs);
    ck_assert_int_eq(access(in_folder("masks/c.png"), F_OK), 0);
    OWNED_ARRAY char *strokes = slurp(in_folder("strokes/c.json"), NULL);
    ck_assert_ptr_nonnull(strstr(strokes, "\"kind\": \"suggestion\""));
}

TEST(a_suggestion_of_an_earlier_model_is_not_accepted_unseen)
{
    struct page_session *session = labelled_session();
    learn(BY_COLOUR);
    n_models = 1;
    expect(session, 200, "GET", "/api/state", NULL, "\"model\":1,");
    free(answer(session, 200, "POST", "/api/open/2", "{}"));
    expect(session, 200, "POST", "/api/suggest/2", "{\"revision\":0}", ",\"model\":1}");
    n_models = 2;
    expect(session, 200, "GET", "/api/state", NULL, "\"model\":2,");
    expect(session, 409, "POST", "/api/accept/2", "{\"revision\":0,\"suggestion\":1}", "has learned more meanwhile");
    ck_assert_int_ne(access(in_folder("masks/c.png"), F_OK), 0);
    expect(session, 200, "POST", "/api/suggest/2", "{\"revision\":0}", ",\"model\":2}");
    free(answer(session, 200, "POST", "/api/accept/2", "{\"revision\":0,\"suggestion\":2}"));
    page_session_free(session);
    n_models = 0;
}

/* Two labels are shown by a cut with the model's scores, three by the model alone. */
TESTS(a_model_of_bands_opens_suggests_and_ranks, 2, 4)
{
    int inside[3], outside[3], n_labels = _i;
    uint8_t labels[WIDTH * HEIGHT];
    static float values[WIDTH * HEIGHT][4];
    page_session_free(fresh_session());
    unlink(in_folder("a.png"));
    unlink(in_folder("b.png"));
    for (int p = 0; p < WIDTH * HEIGHT; p++) {
        labels[p] = is_in_square(p) ? (uint8_t)(n_labels == 2 || p % WIDTH < 45 ? 1 : 2) : 0;
        for (int b = 0; b < 4; b++)
            values[p][b] = (float)(100 * b + p * 37 % 20 + (b == 3 ? 200 * labels[p] : 0));
    }
    for (int i = 0; i < 3; i++) {
        TIFF *tiff = TIFFOpen(in_folder(formatted("%c.tif", 'a' + i)), "w");
        ck_assert_ptr_nonnull(tiff);
        TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
        TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 32);
        TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
        TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 4);
        TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, HEIGHT);
        ck_assert_int_ge(TIFFWriteEncodedStrip(tiff, 0, values, sizeof values), 0);
        TIFFClose(tiff);
        if (i < 2)
            must(clv_png_write_labels(in_folder(formatted("masks/%c.png", 'a' + i)), WIDTH, HEIGHT, labels, NULL, 0,
                                      err));
    }
    static const char names[] = "value\tname\n0\tnone\n1\tfirst\n2\tsecond\n";
    if (n_labels == 3)
        spill(in_folder("labels.tsv"), names, sizeof names - 1);
    run_here("cd set && printf 'a.tif\nb.tif\n' >../only && cleave train --data . --only ../only --seed 1 "
             "--superpixels 60 --blocks colour,maps --learner %s -o label.cleave",
             n_labels == 2 ? "crf" : "mssvm");
    OWNED(session_drop) struct page_session *session = open_session();
    free(answer(session, 200, "POST", "/api/open/2", "{}"));
    OWNED_ARRAY char *text = answer(session, 200, "POST", "/api/suggest/2", "{\"revision\":0}");
    count_runs(inside, outside, text);
    ck_assert_int_eq(inside[1] + inside[2], 2 * 23 * 23);
    if (n_labels == 2) {
        ck_assert_int_lt(outside[1], 100);
    } else { /* as the command has it */
        OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
        run_here("cd set && cleave segment -q --refine -m label.cleave c.tif -o ../c.png");
        must(clv_indexed_image_read(&mask, here("c.png"), NULL, err));
        for (int p = 0; p < WIDTH * HEIGHT; p++)
            (is_in_square(p) ? inside : outside)[mask.values[p]]--;
        for (int label = 0; label < 3; label++)
            ck_assert(inside[label] == 0 && outside[label] == 0);
    }
    free(ranked_state(session, 3));
}

TEST(sixteen_bits_are_shown_in_the_range_of_the_model)
{
    static uint16_t samples[WIDTH * HEIGHT];
    uint8_t labels[WIDTH * HEIGHT];
    page_session_free(fresh_session());
    for (int p = 0; p < WIDTH * HEIGHT; p++) {
        labels[p] = is_in_square(p);
        samples[p] = (uint16_t)((labels[p] ? 3000 : 600) + p * 37 % 90);
    }
    for (int i = 0; i < 2; i++) {
        size_t size;
        OWNED_ARRAY uint8_t *file =
            make_png(&size, &(struct png_recipe){WIDTH, HEIGHT, 16, PNG_GREY, .samples = samples});
        spill(in_folder(formatted("%c.png", 'a' + i)), file, size);
        must(clv_png_write_labels(in_folder(formatted("masks/%c.png", 'a' + i)), WIDTH, HEIGHT, labels, NULL, 0, err));
    }
    OWNED(session_drop) struct page_session *session = open_session();
    free(answer(session, 200, "POST", "/api/open/0", "{}"));
    ck_assert(session->has_noted_12_bits && session->document.image.pixels[3 * (30 * WIDTH + 22)] < 16);
    page_session_free(session);
    learn("--range 0,4095 " BY_COLOUR);
    session = open_session();
    free(answer(session, 200, "POST", "/api/open/0", "{}"));
    ck_assert(!session->has_noted_12_bits && session->document.image.pixels[3 * (30 * WIDTH + 22)] > 180);
}

TEST(strokes_are_joined_by_what_the_model_knows)
{
    int inside[3], outside[3];
    OWNED(session_drop) struct page_session *session = labelled_session();
    for (int has_model = 0; has_model < 2; has_model++) {
        free(answer(session, 200, "POST", "/api/open/2", "{}"));
        OWNED_ARRAY char *text =
            answer(session, 200, "POST", "/api/stroke/2",
                   "{\"revision\":0,\"kind\":\"foreground\",\"object\":0,\"label\":1,\"radius\":1,\"points\":[22,30]}");
        count_runs(inside, outside, text);
        ck_assert_int_eq(inside[1], has_model ? 2 * 23 * 23 : 23 * 23);
        ck_assert_int_eq(outside[1], 0);
        page_session_free(session);
        unlink(in_folder("masks/c.png"));
        unlink(in_folder("strokes/c.json"));
        unlink(in_folder("boxes.tsv"));
        learn(BY_COLOUR);
        session = open_session(); /* finds the model */
        expect(session, 200, "GET", "/api/state", NULL, "\"has_model\":true");
    }
}

/* The share of an image's pixels that the folder's model expects to be wrong; or of its superpixels. */
static double expected_error(const char *name, bool of_pixels)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_example_release) struct clv_example example = {0};
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    double wrong = 0, all = 0;
    must(clv_model_read(&model, in_folder("label.cleave"), err));
    must(clv_image_read(&image, in_folder(name), NULL, err));
    must(clv_example_extract(&example, &image, &model.recipe, err));
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    OWNED_ARRAY double *marginals = calloc((size_t)example.problem.n_nodes, 2 * sizeof *marginals);
    must(clv_model_marginals(marginals, NULL, NULL, &model, &example.problem, oracle, 1, 20, err));
    for (size_t i = 0; i < (size_t)example.problem.n_nodes; i++) {
        double weight = of_pixels ? (double)example.area[i] : 1;
        wrong += weight * fmin(marginals[2 * i], marginals[2 * i + 1]);
        all += weight;
    }
    return wrong / all;
}

TEST(images_are_ranked_by_the_error_that_the_model_expects)
{
    OWNED(session_drop) struct page_session *session = labelled_session();
    OWNED(clv_image_release) struct clv_image image = {0};
    double expected[3];
    /* Nothing like what was learned: no colour is certain there. */
    must(clv_image_new(&image, WIDTH, HEIGHT, 3, err));
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        for (int c = 0; c < 3; c++)
            image.pixels[3 * p + c] = (uint8_t)(p % WIDTH > WIDTH / 3 ? 20 : p % 3 ? 130 : 105);
    must(clv_png_write(in_folder("c.png"), &image, err));
    learn(BY_COLOUR);
    spill(in_folder("b.png"), "no image", 8);
    n_models = 1;
    OWNED_ARRAY char *state = ranked_state(session, 2);
    const char *at = state;
    for (int i = 0; i < 3; i++) {
        at = strstr(at, "\"expected\":") + strlen("\"expected\":");
        expected[i] = strtod(at, NULL);
    }
    ck_assert_double_eq(expected[1], -1); /* a damaged one is nowhere in the order, and opening it says why */
    expect(session, 422, "POST", "/api/open/1", "{}", "b.png");
    ck_assert(expected[0] >= 0 && expected[0] < expected[2] && expected[2] <= 0.5);
    ck_assert_double_eq_tol(expected[2], expected_error("c.png", true), 6e-5); /* four digits are printed */
    ck_assert(fabs(expected[2] - expected_error("c.png", false)) > 2e-4);
}

TEST(a_model_of_three_labels_suggests_all_of_them)
{
    int inside[3], outside[3];
    OWNED(session_drop) struct page_session *session = labelled_session();
    uint8_t labels[WIDTH * HEIGHT];
    free(answer(session, 200, "POST", "/api/label", "{\"name\":\"sky\"}"));
    page_session_free(session);
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        labels[p] = is_in_square(p) ? 1 : p / WIDTH < 30 ? 2 : 0;
    for (int i = 0; i < 2; i++)
        must(clv_png_write_labels(in_folder(formatted("masks/%c.png", 'a' + i)), WIDTH, HEIGHT, labels, NULL, 0, err));
    learn("--learner independent --blocks colour,position --passes 30");
    session = open_session();
    free(answer(session, 200, "POST", "/api/open/2", "{}"));
    OWNED_ARRAY char *text = answer(session, 200, "POST", "/api/suggest/2", "{\"revision\":0}");
    count_runs(inside, outside, text);
    ck_assert_int_eq(inside[1], 2 * 23 * 23);
    ck_assert_int_gt(outside[0], 1500);
    ck_assert_int_gt(outside[2], 1500);
}

TEST(a_damaged_model_is_named_and_the_page_goes_on_without_it)
{
    struct page_session *session = fresh_session(), *refused = NULL;
    spill(in_folder("label.cleave"), "no model", 8);
    n_models = 1;
    expect(session, 422, "GET", "/api/state", NULL, "label.cleave");
    free(answer(session, 200, "POST", "/api/open/0", "{}"));
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    expect(session, 400, "POST", "/api/suggest/0", "{\"revision\":1}", "no model yet");
    page_session_free(session);
    must_fail(CLV_ERR_DATA, "label.cleave", page_session_new(&refused, &options, err));
    ck_assert_ptr_null(refused);
}
