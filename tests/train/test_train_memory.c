/* Images in memory teach what their files do: models are the same but for what their records say of where the images
 * were. */
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cleave/train.h"
#include "data/maps/maps.h"
#include "support/support.h"
#include "train/train.h"

TIMEOUT(240)

enum { WIDTH = 72, HEIGHT = 60, N = WIDTH * HEIGHT, N_IMAGES = 6, N_BANDS = 5, MAP_WIDTH = 18, MAP_HEIGHT = 15 };

/* Blocks on noisy ground that move from image to image, with their masks and objects. */
static struct photos {
    struct clv_image images[N_IMAGES];
    struct clv_mask masks[N_IMAGES];
    uint8_t labels[N_IMAGES][N];
    int32_t objects[N_IMAGES][N];
    const int32_t *of_images[N_IMAGES];
    float bands[N_IMAGES][N * N_BANDS], maps[N_IMAGES][2 * MAP_WIDTH * MAP_HEIGHT];
    struct clv_array of_bands[N_IMAGES], of_maps[N_IMAGES];
} photos;

static void draw(void)
{
    for (int k = 0; k < N_IMAGES; k++) {
        struct clv_image *image = &photos.images[k];
        must(clv_image_new(image, WIDTH, HEIGHT, 3, err));
        for (int i = 0; i < N; i++) {
            int x = i % WIDTH - 8 - 2 * k, y = i / WIDTH - 6 - k, column = x / 16, row = y / 22;
            bool is_block = x >= 0 && y >= 0 && column < 2 && row < 2 && y % 22 < 16;
            int light = is_block ? x % 16 < 2 || x % 16 > 13 ? 120 : 190 : 40;
            photos.objects[k][i] = is_block ? 2 * row + column + 1 : 0;
            photos.labels[k][i] = is_block;
            for (int c = 0; c < 3; c++)
                image->pixels[3 * i + c] = (uint8_t)(light + (row == 1 ? 12 * c : 0) +
                                                     (int)rng_below(7, (uint64_t)k, (uint64_t)(3 * i + c), 40));
        }
        photos.masks[k] = (struct clv_mask){.width = WIDTH, .height = HEIGHT, .labels = photos.labels[k]};
        photos.of_images[k] = photos.objects[k];
        for (int i = 0; i < N * N_BANDS; i++)
            photos.bands[k][i] = (float)(photos.labels[k][i / N_BANDS] * 100 * (i % N_BANDS) + 300 +
                                         (int)rng_below(8, (uint64_t)k, (uint64_t)i, 200));
        photos.bands[k][7] = NAN;
        for (int i = 0; i < 2 * MAP_WIDTH * MAP_HEIGHT; i++)
            photos.maps[k][i] = (float)rng_below(9, (uint64_t)k, (uint64_t)i, 100) / 50 - 1 +
                                photos.labels[k][(i / MAP_WIDTH % MAP_HEIGHT) * 4 * WIDTH + i % MAP_WIDTH * 4];
        photos.of_bands[k] = (struct clv_array){CLV_NUMBER_F32, 3, {HEIGHT, WIDTH, N_BANDS}, photos.bands[k]};
        photos.of_maps[k] = (struct clv_array){CLV_NUMBER_F32, 3, {2, MAP_HEIGHT, MAP_WIDTH}, photos.maps[k]};
    }
    run_here("mkdir -p set/images set/masks set/instances");
}

static void release(void)
{
    for (int k = 0; k < N_IMAGES; k++)
        clv_image_release(&photos.images[k]);
    memset(&photos, 0, sizeof photos);
}

SETUP_EACH(draw, release)

/* Rows have what `columns` names. */
enum { MASKS = 1, OBJECTS = 2, BANDS = 4 };
static void write_set(const char *columns, const char *const rows[N_IMAGES], int what)
{
    OWNED(text_release) struct text manifest = {0};
    text_init(&manifest, 1 << 14);
    text_printf(&manifest, "image%s%s%s\n", what & MASKS ? "\tmask" : "", what & OBJECTS ? "\tinstances" : "", columns);
    for (int k = 0; k < N_IMAGES; k++) {
        const struct clv_object_map map = {WIDTH, HEIGHT, 4, photos.objects[k], NULL, NULL};
        if (what & BANDS)
            must(npy_write_numbers(here("set/images/%d.npy", k), photos.bands[k], HEIGHT, WIDTH, N_BANDS, err));
        else
            must(clv_png_write(here("set/images/%d.png", k), &photos.images[k], err));
        if (photos.masks[k].labels)
            must(clv_png_write_labels(here("set/masks/%d.png", k), WIDTH, HEIGHT, photos.labels[k], NULL, 0, err));
        must(clv_object_map_write(NULL, here("set/instances/%d.png", k), &map, err));
        text_printf(&manifest, "images/%d.%s", k, what & BANDS ? "npy" : "png");
        if (what & MASKS)
            text_printf(&manifest, photos.masks[k].labels ? "\tmasks/%d.png" : "\t", k);
        if (what & OBJECTS)
            text_printf(&manifest, "\tinstances/%d.png", k);
        text_printf(&manifest, "%s\n", rows ? rows[k] : "");
    }
    spill(here("set/manifest.tsv"), manifest.bytes, manifest.size);
}

/* What is said to both, of the learner and of the training: --NAME VALUE. */
struct said {
    const char *name, *value;
};
/* clang-format off */
#define QUICK {"seed", "1"}, {"words", "12"}, {"codebook-samples", "500"}, {"passes", "5"}
/* clang-format on */

static const struct clv_option *find(const char *name)
{
    for (size_t i = 0; clv_train_option_at(i); i++)
        if (strcmp(clv_train_option_at(i)->name, name) == 0)
            return clv_train_option_at(i);
    return NULL;
}

static void say(struct clv_train_options *options, const struct said *said)
{
    const struct clv_option *row = find(said->name);
    if (row) {
        must(clv_option_set(options, row, said->value, err));
        if (strncmp(row->section, "Features", 8) == 0)
            options->recipe_given = row->name;
        return;
    }
    int parameter = clv_learner_parameter(options->learner, said->name);
    ck_assert_int_ge(parameter, 0);
    options->parameters[parameter] = strtod(said->value, NULL);
    options->is_given[parameter] = true;
}

/* The model's file without what may differ. */
static char *bytes_of(size_t *size, struct clv_model *model)
{
    static const char *const may_differ[] = {"command", "data", "data_digest"};
    size_t kept = 0;
    for (size_t i = 0; i < model->record.n; i++) {
        struct clv_record_entry *entry = &model->record.entries[i];
        bool differs = false;
        for (size_t k = 0; k < sizeof may_differ / sizeof *may_differ; k++)
            differs |= strcmp(entry->key, may_differ[k]) == 0;
        if (differs)
            arrays_free(entry->key, entry->value);
        else
            model->record.entries[kept++] = *entry;
    }
    model->record.n = kept;
    must(clv_model_write(here("compared.cleave"), model, err));
    return slurp(here("compared.cleave"), size);
}

/* Trains the command on the set, with `more` of files, and the library on what the options have in memory. */
static void expect_the_same(struct clv_train_options *options, const struct said *said, const char *more)
{
    OWNED(text_release) struct text arguments = {0};
    OWNED(clv_model_release) struct clv_model of_files = {0}, in_memory = {0};
    text_init(&arguments, 1 << 14);
    text_printf(&arguments, "cleave train -q --learner %s --data set/manifest.tsv --overwrite -o files.cleave %s",
                options->learner->name, more);
    options->images = options->image_bands ? NULL : photos.images;
    options->masks = photos.masks;
    options->n_images = N_IMAGES;
    options->n_threads = 2;
    for (; said->name; said++) {
        text_printf(&arguments, " --%s%s%s", said->name, said->value ? " " : "", said->value ? said->value : "");
        say(options, said);
    }
    run_here("%s", arguments.bytes);
    must(clv_model_read(&of_files, here("files.cleave"), err));
    must(clv_train_set(&in_memory, options, err));
    ck_assert_ptr_null(clv_record_get(&in_memory.record, "data"));
    size_t size[2];
    char *bytes[2] = {bytes_of(&size[0], &of_files), bytes_of(&size[1], &in_memory)};
    ck_assert_uint_eq(size[0], size[1]);
    ck_assert_mem_eq(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
}

static struct clv_train_options of(const char *learner)
{
    struct clv_train_options options;
    clv_train_defaults(&options, clv_learner_find(learner));
    return options;
}

/* Makes labels 0 .. 2 of the rows of blocks. */
static void use_three_labels(void)
{
    static const char table[] = "value\tname\n0\tlabel 0\n1\tlabel 1\n2\tlabel 2\n";
    for (int k = 0; k < N_IMAGES; k++)
        for (int i = 0; i < N; i++)
            photos.labels[k][i] = photos.objects[k][i] ? photos.objects[k][i] > 2 ? 2 : 1 : 0;
    spill(here("set/labels.tsv"), table, sizeof table - 1);
}

TEST(photographs)
{
    struct clv_train_options options = of("ssvm");
    write_set("", NULL, MASKS);
    expect_the_same(&options, (const struct said[]){QUICK, {"superpixels", "60"}, {0}}, "");
}

TEST(masks_of_black_and_white)
{
    struct clv_train_options options = of("ssvm");
    for (int k = 0; k < N_IMAGES; k++)
        for (int i = 0; i < N; i++)
            photos.labels[k][i] = photos.labels[k][i] ? 255 : 0;
    write_set("", NULL, MASKS);
    expect_the_same(&options, (const struct said[]){QUICK, {"superpixels", "60"}, {0}}, "");
}

TEST(mirror_images_and_a_pixel_network)
{
    write_set("", NULL, MASKS);
    struct clv_train_options options = of("ssvm");
    expect_the_same(&options, (const struct said[]){QUICK, {"superpixels", "60"}, {"mirror", NULL}, {0}}, "");
    options = of("ssvm");
    expect_the_same(&options, (const struct said[]){QUICK, {"superpixels", "60"}, {"pixel-net", NULL}, {0}}, "");
}

/* Stripes of two pixels make regions finer, in memory as of files. */
TEST(finer_regions)
{
    struct clv_train_options options = of("ssvm");
    for (int k = 0; k < N_IMAGES; k++)
        for (int i = 0; i < N; i++) {
            photos.labels[k][i] = i % WIDTH / 2 % 2;
            memset(photos.images[k].pixels + 3 * i, 60 + 90 * photos.labels[k][i] + (i * 7 + k) % 23, 3);
        }
    write_set("", NULL, MASKS);
    expect_the_same(&options, (const struct said[]){{"seed", "1"}, {"passes", "2"}, {0}}, "");
    run_here("cleave inspect files.cleave | grep -q 8000");
}

TEST(labels_and_what_is_void)
{
    struct clv_train_options options = of("perceptron");
    use_three_labels();
    write_set("", NULL, MASKS);
    const struct said quick[] = {{"seed", "1"}, {"words", "12"}, {"passes", "3"}, {"superpixels", "60"}, {0}};
    expect_the_same(&options, quick, "");
    options = of("perceptron");
    options.voids = "label 2";
    expect_the_same(&options, quick, "--void 'label 2'");
}

TEST(objects)
{
    struct clv_train_options options = of("ssvm");
    const struct said quick[] = {QUICK, {"superpixels", "60"}, {0}};
    write_set("", NULL, MASKS | OBJECTS);
    options.image_objects = photos.of_images;
    expect_the_same(&options, quick, "");
    use_three_labels();
    write_set("", NULL, MASKS | OBJECTS);
    options = of("perceptron");
    options.image_objects = photos.of_images;
    expect_the_same(&options, (const struct said[]){{"seed", "1"}, {"words", "12"}, {"passes", "3"}, {0}}, "");
    run_here("rm set/labels.tsv");
    for (int k = 0; k < N_IMAGES; k++)
        photos.masks[k].labels = NULL;
    write_set("", NULL, OBJECTS); /* whose masks are derived */
    options = of("ssvm");
    options.image_objects = photos.of_images;
    expect_the_same(&options, quick, "");
}

TEST(two_stages)
{
    struct clv_train_options options = of("ssvm");
    write_set("", NULL, MASKS);
    expect_the_same(&options, (const struct said[]){QUICK, {"superpixels", "60"}, {"stages", "2"}, {0}}, "");
    static const char *const names[N_IMAGES] = {"a", "a", "b", "b", "c", "c"}; /* held out together */
    static const char *const rows[N_IMAGES] = {"\ta", "\ta", "\tb", "\tb", "\tc", "\tc"};
    write_set("\tsequence", rows, MASKS);
    options = of("ssvm");
    options.image_sequences = names;
    expect_the_same(&options, (const struct said[]){QUICK, {"superpixels", "60"}, {"stages", "2"}, {0}}, "");
}

TEST(sequences)
{
    struct clv_train_options options = of("mssvm");
    photos.masks[1].labels = photos.masks[4].labels = NULL;
    static const char *const names[N_IMAGES] = {"a", "a", "a", "b", "b", "b"};
    static const char *const rows[N_IMAGES] = {"\ta", "\ta", "\ta", "\tb", "\tb", "\tb"};
    write_set("\tsequence", rows, MASKS);
    options.image_sequences = names;
    const struct said quick[] = {{"seed", "1"},         {"words", "12"}, {"passes", "3"},
                                 {"superpixels", "60"}, {"window", "2"}, {0}};
    options.sequence = true;
    expect_the_same(&options, quick, "--sequence");
}

TEST(boxes_and_images_without_anything)
{
    static const char *const rows[N_IMAGES] = {"\tmasked", "\tboxed", "\tmasked", "\tnothing", "\tboxed", "\tmasked"};
    static const char table[] = "image\tx\ty\tw\th\nimages/1.png\t10\t7\t32\t38.5\nimages/4.png\t15\t9\t33\t39\n"
                                "images/4.png\t60\t2\t30\t12\n";
    struct clv_box of_one[] = {{10, 7, 32, 38.5, .index = 0}};
    struct clv_box of_four[] = {{15, 9, 33, 39, .index = 0}, {60, 2, 30, 12, .index = 0}}; /* cut at the border */
    struct clv_image_boxes boxes[N_IMAGES] = {{.boxes = NULL}};
    boxes[1] = (struct clv_image_boxes){.boxes = of_one, .n_boxes = 1};
    boxes[4] = (struct clv_image_boxes){.boxes = of_four, .n_boxes = 2};
    struct clv_train_options options = of("ssvm");
    photos.masks[1].labels = photos.masks[3].labels = photos.masks[4].labels = NULL;
    write_set("\tsplit", rows, MASKS);
    spill(here("boxes.tsv"), table, sizeof table - 1);
    options.image_boxes = boxes;
    expect_the_same(&options, (const struct said[]){QUICK, {"superpixels", "60"}, {0}},
                    "--split masked --weak-split boxed --boxes boxes.tsv --unlabelled-split nothing");
}

TEST(maps_of_networks)
{
    struct clv_train_options options = of("ssvm");
    write_set("", NULL, MASKS);
    run_here("mkdir maps");
    for (int k = 0; k < N_IMAGES; k++)
        must(npy_write_numbers(here("maps/%d.npy", k), photos.maps[k], 2, MAP_HEIGHT, MAP_WIDTH, err));
    options.image_maps[0] = (struct clv_image_maps){"net", photos.of_maps};
    options.n_image_maps = 1;
    expect_the_same(&options, (const struct said[]){QUICK, {"superpixels", "60"}, {0}}, "--maps net=maps");
}

TEST(bands)
{
    struct clv_train_options options = of("ssvm");
    write_set("", NULL, MASKS | BANDS);
    options.image_bands = photos.of_bands;
    expect_the_same(&options, (const struct said[]){QUICK, {"superpixels", "60"}, {0}}, "");
    options = of("ssvm");
    clv_recipe_fix_scale(&options.recipe, 1);
    options.image_bands = photos.of_bands;
    options.image_objects = photos.of_images;
    write_set("", NULL, MASKS | OBJECTS | BANDS);
    expect_the_same(&options, (const struct said[]){QUICK, {"scale", "1"}, {0}}, "");
}

TEST(a_start)
{
    struct clv_train_options options = of("ssvm");
    static char path[600];
    write_set("", NULL, MASKS);
    run_here("cleave train -q --data set/manifest.tsv --seed 1 --words 12 --superpixels 60 --passes 1 -o start.cleave");
    snprintf(path, sizeof path, "%s", here("start.cleave"));
    options.init = path;
    expect_the_same(&options, (const struct said[]){{"seed", "2"}, {"passes", "3"}, {0}}, "--init start.cleave");
}

/* By which a checkpoint is not resumed on other images. */
TEST(a_digest_knows_pixels_and_numbers)
{
    struct clv_item item = {.name = "image 0", .split = "", .pixels = &photos.images[0], .labels = &photos.masks[0]};
    struct clv_set set = {.items = &item, .n_items = 1, .n_maps = 1};
    char digests[5][DIGEST_SIZE];
    item.map_arrays[0] = &photos.of_maps[0];
    must(digest_set(digests[0], &set, NULL, err));
    photos.images[0].pixels[77]++;
    must(digest_set(digests[1], &set, NULL, err));
    photos.labels[0][5] ^= 1;
    must(digest_set(digests[2], &set, NULL, err));
    photos.maps[0][5]++;
    must(digest_set(digests[3], &set, NULL, err));
    item.bands = &photos.of_bands[0];
    must(digest_set(digests[4], &set, NULL, err));
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(digests[i], digests[k]);
}

/* Bad images in memory are named, all of them, or skipped. */
static const char *train_badly(enum clv_status expected, struct clv_train_options *options)
{
    static struct clv_error error;
    OWNED(clv_model_release) struct clv_model model = {0};
    options->images = photos.images;
    options->masks = photos.masks;
    options->n_images = N_IMAGES;
    error.message[0] = 0;
    ck_assert_int_eq(clv_train_set(&model, options, &error), expected);
    return error.message;
}

TEST(bad_images_in_memory_are_named)
{
    struct clv_train_options options = of("ssvm");
    static char names[3][64] = {"a", "b", "c"};
    struct clv_labels labels = {.n_labels = 2, .names = names, .palette = NULL};
    uint8_t palette[256][3] = {{0}};
    labels.palette = palette;
    photos.masks[2].width = WIDTH - 1;
    must_say(train_badly(CLV_ERR_DATA, &options),
             "mask 2: mask is 71x60, image is 72x60 (--skip-bad goes on without it)");
    photos.masks[2].width = WIDTH;
    photos.labels[3][WIDTH + 5] = 2;
    options.labels = &labels;
    must_say(train_badly(CLV_ERR_DATA, &options), "mask 3: value 2 at pixel (5, 1) is none of the 2 labels");
    photos.labels[4][0] = 7;
    must_say(train_badly(CLV_ERR_DATA, &options), "images in memory: 2 of 6 images cannot be learned from");
    options.skip_bad = true;
    say(&options, &(struct said){"passes", "1"});
    train_badly(CLV_OK, &options);
    options.labels = NULL;
    memset(photos.labels, 1, sizeof photos.labels);
    must_say(train_badly(CLV_ERR_DATA, &options), "images in memory: the 6 masks have one label alone, \"foreground\"");
    photos.images[1].channels = 1;
    must_say(train_badly(CLV_ERR_USAGE, &options), "image 1 is 72x60 of 1 channels (3 are needed)");
    photos.images[1].channels = 3;
    photos.objects[5][9] = -1;
    options.image_objects = photos.of_images;
    must_say(train_badly(CLV_ERR_USAGE, &options), "objects 5: number -1 is below 0");
}

TEST(arrays_that_are_none_are_refused)
{
    struct clv_train_options options = of("ssvm");
    options.image_bands = photos.of_bands;
    must_say(train_badly(CLV_ERR_USAGE, &options), "training: images have either pixels or bands");
    options = of("ssvm");
    options.image_maps[0] = options.image_maps[1] = (struct clv_image_maps){"net", photos.of_maps};
    options.n_image_maps = 2;
    must_say(train_badly(CLV_ERR_USAGE, &options), "map net is there twice");
    options.n_image_maps = 1;
    photos.of_maps[2].n_dimensions = 1;
    must_say(train_badly(CLV_ERR_USAGE, &options), "map net 2: an array of 1 dimensions, 2 or 3 of numbers are needed");
    photos.of_maps[2].n_dimensions = 3;
    photos.of_maps[2].type = CLV_NUMBER_I32;
    must_say(train_badly(CLV_ERR_DATA, &options),
             "map net 2: an array of other numbers; maps are u1, u2, f2, f4 or f8");
    photos.of_maps[2].type = CLV_NUMBER_F32;
    photos.maps[3][1] = INFINITY;
    must_say(train_badly(CLV_ERR_DATA, &options), "map net 3: channel 0 has inf at (1, 0)");
}

static enum clv_status refuse_set(void *context, const struct clv_set *set, const char *path, struct clv_error *err)
{
    ck_assert_ptr_eq(context, &photos);
    ck_assert_uint_eq(set->n_items, N_IMAGES);
    return fail(err, CLV_ERR_CREATE, "%s are refused", path);
}

TEST(the_callers_check_of_the_images_may_end_the_training)
{
    struct clv_train_options options = of("ssvm");
    options.check = refuse_set;
    options.check_context = &photos;
    ck_assert_str_eq(train_badly(CLV_ERR_CREATE, &options), "images in memory are refused");
}

TEST(a_training_without_a_learner_is_refused)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    struct clv_train_options options = {.data = "nowhere"};
    must_fail(CLV_ERR_USAGE, "training: no learner is given", clv_train_set(&model, &options, err));
}

TEST(options_of_files_are_refused)
{
    static const struct {
        struct said said;
        const char *part;
    } rows[] = {{{"split", "train"}, "--split: the images are in memory, and it names files"},
                {{"only", "names.txt"}, "--only: the images are in memory, and it names files"},
                {{"weak-split", "weak"}, "--weak-split: the images are in memory, and it names files"},
                {{"unlabelled-split", "weak"}, "--unlabelled-split: the images are in memory, and it names files"},
                {{"validate", "test"}, "--validate: needs a manifest, or a feature file"},
                {{"boxes", "boxes.tsv"}, "--boxes: the images are in memory, and it names files"},
                {{"maps", "net=maps"}, "--maps: the images are in memory, and it names files"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct clv_train_options options = of("ssvm");
        say(&options, &rows[i].said);
        must_say(train_badly(CLV_ERR_USAGE, &options), rows[i].part);
    }
}
