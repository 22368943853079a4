/* Every function that can fail takes NULL instead of a struct clv_error: it then returns the status that it returns with
 * one. Here are the functions that read the message of a failure on their way. */
#include "cleave.h"
#include "support/sample.h"
#include "support/support.h"

TIMEOUT(120)
SETUP_ONCE(sample_setup, NULL)

/* Expects the status of the call, without an error and with one. */
#define fails_alike(expected, call)                                                                                    \
    do {                                                                                                               \
        {                                                                                                              \
            struct clv_error *err = NULL;                                                                              \
            ck_assert_int_eq(call, expected);                                                                          \
        }                                                                                                              \
        must_fail(expected, "", call);                                                                                 \
    } while (0)

static enum clv_status read_model(const char *path, struct clv_error *err)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    return clv_model_read(&model, path, err);
}

TEST(files_that_are_no_models)
{
    run_here("cp \"$SET/images/0001.jpg\" image.cleave; echo no model >text.cleave; head -c 2000 \"$MODEL\" "
             ">cut.cleave");
    fails_alike(CLV_ERR_DATA, read_model(here("image.cleave"), err));
    fails_alike(CLV_ERR_DATA, read_model(here("text.cleave"), err));
    fails_alike(CLV_ERR_DATA, read_model(here("cut.cleave"), err));
    fails_alike(CLV_ERR_NO_INPUT, read_model(here("absent.cleave"), err));
}

static struct clv_train_options small_training(void)
{
    struct clv_train_options options;
    clv_train_defaults(&options, clv_learner_find("ssvm"));
    options.recipe.n_words = 20;
    options.recipe.slic.n_superpixels = 60;
    return options;
}

static enum clv_status train(const struct clv_train_options *options, struct clv_error *err)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    return clv_train_set(&model, options, err);
}

TEST(boxes_that_do_not_fit)
{
    const char *const far = here("far.tsv"), *const boxes = here("boxes");
    struct clv_train_options options = small_training();
    run_here(
        "sed 's/\\tforeground\\t[0-9]*/\\tforeground\\t5000/' \"$SET/boxes.tsv\" >far.tsv; mkdir -p boxes; echo no "
        "boxes >boxes/0001.xml");
    options.data = formatted("%s/manifest.tsv", sample_set());
    options.weak_split = "test";
    options.boxes = far;
    fails_alike(CLV_ERR_DATA, train(&options, err));
    options.boxes = boxes;
    fails_alike(CLV_ERR_DATA, train(&options, err));
    run_here("cp -r \"$SET\" own; cp far.tsv own; awk 'NR == 1 {print $0 \"\\tboxes\"} NR > 1 {print $0 "
             "\"\\tfar.tsv\"}' \"$SET/manifest.tsv\" >own/manifest.tsv");
    options.data = formatted("%s/own/manifest.tsv", temporary_folder());
    options.boxes = NULL;
    fails_alike(CLV_ERR_DATA, train(&options, err));
}

TEST(boxes_in_memory_that_do_not_fit)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    struct clv_box box = {.x = 5000, .y = 0, .width = 10, .height = 10};
    struct clv_train_options options = small_training();
    must(clv_image_new(&image, 40, 30, 3, err));
    const struct clv_image_boxes boxes = {.boxes = &box, .n_boxes = 1};
    options.images = &image;
    options.image_boxes = &boxes;
    options.n_images = 1;
    fails_alike(CLV_ERR_DATA, train(&options, err));
}

static enum clv_status segment(struct clv_files_options *options, struct clv_error *err)
{
    struct clv_files_result result;
    run_here("rm -rf out");
    return clv_segment_files(&result, options, err);
}

TEST(images_that_cannot_be_read)
{
    const char *const inputs[] = {here("no.png")};
    struct clv_files_options options;
    run_here("echo no image >no.png");
    clv_files_defaults(&options);
    options.model_path = sample_model();
    options.images = inputs;
    options.n_images = 1;
    options.output = here("out");
    options.report = here("out/report");
    fails_alike(CLV_ERR_DATA, segment(&options, err));
}
