/* Bad input through the command: the documented exit code, one line with file and value, nothing partial left. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/data.h"
#include "support/sample.h"
#include "support/support.h"

/* A copy of the sample set in the temporary folder, to be damaged. */
static const char *copy_set(void)
{
    static char folder[256];
    snprintf(folder, sizeof folder, "%s", temporary_folder());
    run_here("cp -r $SET set");
    return folder;
}

static void expect_training_refused(const char *folder, int code, const char *part)
{
    expect_error(code, part,
                 "cd %s && cleave train --learner ssvm --data set/manifest.tsv " SAMPLE_TRAINING " -o never.cleave",
                 folder);
    ck_assert_int_ne(run_command(NULL, "ls %s | grep never", folder), 0); /* neither a model nor a temporary */
}

static void write_manifest(const char *folder, const char *text)
{
    spill(formatted("%s/set/manifest.tsv", folder), text, strlen(text));
}

TEST(manifests_that_lead_astray_are_refused)
{
    const char *folder = copy_set();
    write_manifest(folder, "image\tmask\n../set/images/0001.jpg\tmasks/0001.png\n");
    expect_training_refused(folder, 65, "..");
    write_manifest(folder, "image\tmask\n/etc/passwd\tmasks/0001.png\n");
    expect_training_refused(folder, 65, "/etc/passwd");
    ck_assert_int_eq(symlink("/etc", formatted("%s/set/link", folder)), 0);
    write_manifest(folder, "image\tmask\nlink/passwd\tmasks/0001.png\n");
    expect_training_refused(folder, 65, "link/passwd");
    write_manifest(folder, "image\tmask\nimages/0001.jpg\tmasks/0001.png\nimages/0001.jpg\tmasks/0001.png\n");
    expect_training_refused(folder, 65, "images/0001.jpg");
    write_manifest(folder, "picture\tmask\nimages/0001.jpg\tmasks/0001.png\n");
    expect_training_refused(folder, 65, "set/manifest.tsv");
    write_manifest(folder, "");
    expect_training_refused(folder, 65, "set/manifest.tsv");
    write_manifest(folder, "image\tmask\nimages/9999.jpg\tmasks/0001.png\n");
    expect_training_refused(folder, 66, "images/9999.jpg");
    expect_error(66, "nowhere.tsv: ", "cd %s && cleave train --data nowhere.tsv -o never.cleave", folder);
    expect_error(66, "pipe: not a regular file", "cd %s && mkfifo pipe && cleave train --data pipe -o never.cleave",
                 folder);
}

TEST(manifests_from_windows_are_read)
{
    const char *folder = copy_set();
    write_manifest(folder,
                   "\xef\xbb\xbfimage\tmask\r\nimages/0001.jpg\tmasks/0001.png\r\nimages/0002.jpg\tmasks/0002.png\r\n");
    run_here("cd %s && cleave train --learner ssvm --data set/manifest.tsv " SAMPLE_TRAINING " -o m.cleave", folder);
}

TEST(masks_that_do_not_fit_are_refused_before_work_starts)
{
    const char *folder = copy_set();
    char mask[300];
    snprintf(mask, sizeof mask, "%s/set/masks/0003.png", folder);
    uint8_t labels[6] = {0, 1, 7, 0, 0, 1};
    must(clv_png_write_labels(mask, 3, 2, labels, NULL, 0, err));
    expect_training_refused(folder, 65, "masks/0003.png: mask is 3x2, image is ");
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_read(&image, formatted("%s/set/images/0003.jpg", folder), NULL, err));
    OWNED_ARRAY uint8_t *values = calloc((size_t)image.width, (size_t)image.height);
    values[image.width + 5] = 7;
    must(clv_png_write_labels(mask, image.width, image.height, values, NULL, 0, err));
    expect_training_refused(folder, 65, "masks/0003.png: holds 0 and 7, but ");
    values[image.width + 6] = 9;
    must(clv_png_write_labels(mask, image.width, image.height, values, NULL, 0, err));
    expect_training_refused(folder, 65, "masks/0003.png: value 7 at pixel (5, 1) has no label");
    values[image.width + 6] = 0;
    must(clv_jpeg_write(mask, &image, 90, err));
    expect_training_refused(folder, 65, "masks/0003.png: ");
    spill(mask, "", 0);
    expect_training_refused(folder, 65, "masks/0003.png: ");
    ck_assert_int_eq(unlink(mask), 0);
    expect_training_refused(folder, 66, "masks/0003.png: cannot open");
    /* 0 and 255 are read as 0 and 1, and said so */
    values[image.width + 5] = 255;
    must(clv_png_write_labels(mask, image.width, image.height, values, NULL, 0, err));
    expect_output("read as 0 background and 1 foreground",
                  "cd %s && cleave train --learner ssvm --data set/manifest.tsv " SAMPLE_TRAINING " -o m.cleave",
                  folder);
    /* .. but not where another mask leaves pixels out as 255, nor throughout beside a 1 */
    size_t n = (size_t)image.width * (size_t)image.height;
    memset(values, CLV_VOID, n);
    must(clv_png_write_labels(mask, image.width, image.height, values, NULL, 0, err));
    expect_training_refused(folder, 65, "masks/0003.png: beside set/masks/0001.png, 255 may be foreground or void");
    memset(values, 0, n / 2);
    must(clv_png_write_labels(mask, image.width, image.height, values, NULL, 0, err));
    int32_t width, height;
    must(clv_image_read_size(&width, &height, formatted("%s/set/images/0004.jpg", folder), NULL, err));
    OWNED_ARRAY uint8_t *strokes = calloc((size_t)width, (size_t)height);
    strokes[0] = 1;
    strokes[1] = CLV_VOID;
    must(clv_png_write_labels(formatted("%s/set/masks/0004.png", folder), width, height, strokes, NULL, 0, err));
    expect_training_refused(folder, 65, "masks/0004.png: beside set/masks/0003.png, 255 may be foreground or void");
    run_here("cd %s && printf 'value\tname\n0\tground\n1\tfigure\n' > set/labels.tsv && cleave train --learner ssvm "
             "--data set/manifest.tsv " SAMPLE_TRAINING " -o m.cleave --overwrite",
             folder);
}

TEST(damaged_training_images_are_named)
{
    const char *folder = copy_set(), *image = formatted("%s/set/images/0002.jpg", folder);
    char path[300];
    size_t size;
    snprintf(path, sizeof path, "%s", image);
    OWNED_ARRAY char *bytes = slurp(path, &size);
    spill(path, bytes, size / 2);
    expect_training_refused(folder, 65, "images/0002.jpg: ");
    spill(path, "", 0);
    expect_training_refused(folder, 65, "images/0002.jpg: ");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    expect_training_refused(folder, 66, "images/0002.jpg: is a folder");
}

TEST(images_past_the_limits_are_refused)
{
    /* A PNG header of 100,000 x 100,000 pixels, with a right checksum and nothing behind it. */
    const unsigned char header[] = {0x89, 'P',  'N', 'G', '\r', '\n', 0x1a, '\n', 0,    0,    0,
                                    13,   'I',  'H', 'D', 'R',  0,    1,    0x86, 0xa0, 0,    1,
                                    0x86, 0xa0, 8,   0,   0,    0,    0,    0x8d, 0x39, 0x54, 0x14};
    spill(here("huge.png"), header, sizeof header);
    expect_error(65, "huge.png: 100000x100000", "cleave segment -m $MODEL huge.png -o out");
    expect_error(65, "0001.jpg: ", "cleave segment -m $MODEL $SET/images/0001.jpg -o out --max-pixels 100");
    expect_error(65, "0001.jpg: ", "cleave segment -m $MODEL $SET/images/0001.jpg -o out --max-side 10");
    ck_assert_int_eq(count_files(here("out")), 0);
}

static void expect_model_refused(const char *path, int code, const char *part)
{
    expect_error(code, part, "cleave segment -m %s $SET/images -o never", path);
    expect_error(code, part, "cleave inspect %s", path);
    ck_assert_int_eq(count_files(here("never")), 0);
}

/* Rewrites the sample model with one tensor changed by `change`. */
static void rewrite_model(const char *path, const char *name, void (*change)(struct clv_tensor *, double *))
{
    OWNED(tensors_drop) struct clv_tensors *file = NULL;
    must(clv_tensors_open(&file, sample_model(), err));
    struct clv_tensor all[32];
    const char *metadata[32][2];
    size_t n = clv_tensors_count(file), n_metadata = clv_tensors_metadata_count(file);
    ck_assert(n <= 32 && n_metadata <= 32);
    OWNED_ARRAY double *values = NULL;
    for (size_t i = 0; i < n; i++) {
        all[i] = *clv_tensors_at(file, i);
        if (strcmp(all[i].name, name) != 0)
            continue;
        size_t size = clv_dtype_size(all[i].dtype);
        for (int d = 0; d < all[i].n_dimensions; d++)
            size *= (size_t)all[i].shape[d];
        values = malloc(size);
        memcpy(values, all[i].data, size);
        all[i].data = values;
        change(&all[i], values);
    }
    ck_assert_ptr_nonnull(values);
    for (size_t i = 0; i < n_metadata; i++) {
        metadata[i][0] = clv_tensors_metadata_key(file, i);
        metadata[i][1] = clv_tensors_metadata(file, metadata[i][0]);
    }
    must(clv_tensors_write(path, all, n, (const char *const(*)[2])metadata, n_metadata, err));
}

static void put_nan(struct clv_tensor *tensor, double *values)
{
    (void)tensor;
    values[3] = NAN;
}

static void put_negative(struct clv_tensor *tensor, double *values)
{
    (void)tensor;
    values[0] = -1;
}

static void drop_one(struct clv_tensor *tensor, double *values)
{
    (void)values;
    tensor->shape[1]--;
}

TEST(damaged_models_are_refused)
{
    char path[256];
    size_t size;
    OWNED_ARRAY char *bytes = slurp(sample_model(), &size);
    snprintf(path, sizeof path, "%s/bad.cleave", temporary_folder());
    for (size_t length = 0; length < size; length += size / 7 + 1) {
        spill(path, bytes, length);
        expect_model_refused(path, 65, "bad.cleave: ");
    }
    spill(path, "#!/bin/sh\necho no model\n", 24);
    expect_model_refused(path, 65, "bad.cleave: ");
    char *version = NULL;
    for (size_t i = 0; i + 14 < size && !version; i++)
        if (memcmp(bytes + i, "cleave model 1", 14) == 0)
            version = bytes + i + 13;
    ck_assert_ptr_nonnull(version);
    *version = '9';
    spill(path, bytes, size);
    expect_model_refused(path, 65, "bad.cleave: ");
    rewrite_model(path, "unary", put_nan);
    expect_model_refused(path, 65, "bad.cleave: unary weight 3 is ");
    rewrite_model(path, "pairwise", put_negative);
    expect_model_refused(path, 65, "bad.cleave: coupling 0 is -1");
    rewrite_model(path, "unary", drop_one);
    expect_model_refused(path, 65, "bad.cleave: ");
    expect_model_refused("nowhere.cleave", 66, "nowhere.cleave: cannot open");
    expect_model_refused("/", 66, "/: is a folder");
}

TEST(damaged_feature_files_are_refused)
{
    const char *folder = temporary_folder();
    char path[256];
    size_t size;
    snprintf(path, sizeof path, "%s/f.safetensors", folder);
    run_here("cleave features --data $SET/manifest.tsv --split test -m $MODEL -o %s", path);
    OWNED_ARRAY char *bytes = slurp(path, &size);
    for (size_t length = 64; length < size; length += size / 5 + 1) {
        spill(path, bytes, length);
        expect_error(65, "f.safetensors: ", "cleave train --data f.safetensors -o never.cleave");
        expect_error(65, "f.safetensors: ", "cleave segment -m $MODEL --features f.safetensors -o never");
    }
    spill(path, bytes, size);
    expect_error(64, "--split: f.safetensors is a feature file",
                 "cleave train --data f.safetensors --split test -o never.cleave");
    expect_error(64, "--words: f.safetensors is a feature file",
                 "cleave train --data f.safetensors --words 3 -o never.cleave");
    expect_error(64, "--words: the recipe is the model's",
                 "cleave features --data $SET -m $MODEL --words 3 -o never.safetensors");
    ck_assert_int_ne(run_command(NULL, "ls $HERE | grep never"), 0);
}

TEST(models_that_cannot_be_written_are_refused_before_work_starts_or_at_the_end)
{
    OWNED_ARRAY char *output = NULL;
    expect_error(73, "nowhere/m.cleave: cannot create", "cleave train --data $SET -o nowhere/m.cleave");
    expect_error(73, "%", "touch %% && cleave train --data $SET -o %%/m.cleave");
    expect_error(73, "is a folder", "cleave train --data $SET -o .");
    int code =
        run_command(&output, "cleave train --learner ssvm --data $SET/manifest.tsv " SAMPLE_TRAINING " -o /dev/full");
    ck_assert_int_eq(code, 74);
    ck_assert_ptr_nonnull(strstr(output, "cleave: error: /dev/full: cannot write"));
    expect_error(74, "/dev/full", "cleave features --data $SET/manifest.tsv --split test -m $MODEL -o /dev/full");
}

TEST(a_path_that_is_nearly_one_is_named)
{
    run_here("mkdir -p pics/images && touch pics/images/a b.cleave");
    static const char *const lines[][2] = {
        {"train pics/imags/ -o m", "pics/imags/: cannot open: No such file or directory; is pics/images meant?"},
        {"train --data=pisc -o m", "pisc: cannot open: No such file or directory; is pics meant?"},
        {"label pisc/", "pisc/: cannot open folder: No such file or directory; is pics meant?"},
        {"segment -m c.cleave pics -o out", "c.cleave: cannot open: No such file or directory; is b.cleave meant?"},
        {"train pics -o m", "pics: holds no image (1 other file)\n"},
        {"train unlike -o m", "unlike: cannot open: No such file or directory\n"},
        {"train pisc/images -o m", "pisc/images: cannot open: No such file or directory\n"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_error(66, lines[i][1], "cleave %s", lines[i][0]);
}

SETUP_ONCE(sample_setup, NULL)
