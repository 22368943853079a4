/* Makes what each way of labelling labels: sets of slices and frames, their models, a feature file, beside the sample
 * set. Start at ways_setup. */
#include "support/ways.h"

#include <stdio.h>

#include "base/base.h"
#include "support/sample.h"
#include "support/support.h"

enum { WIDTH = 64, HEIGHT = 48, N = WAY_INPUTS };

static char slices[256], frames[256], feature_file[256], model_of_slices[256], model_of_features[256];

/* A bright square that moves over a striped ground. */
static void write_slice(const char *folder, int t, bool has_mask)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    uint8_t mask[WIDTH * HEIGHT];
    must(clv_image_new(&image, WIDTH, HEIGHT, 3, err));
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        int x = i % WIDTH - 8 - 4 * t, y = i / WIDTH - 14, ground = (i % WIDTH * 7 + i / WIDTH * 13) % 60;
        mask[i] = x >= 0 && y >= 0 && x < 20 && y < 20;
        for (int c = 0; c < 3; c++)
            image.pixels[3 * i + c] = (uint8_t)(mask[i] ? 160 + (x * 5 + y * 11) % 80 : 60 + ground);
    }
    must(clv_png_write(formatted("%s/images/s%d.png", folder, t), &image, err));
    if (has_mask)
        must(clv_png_write_labels(formatted("%s/masks/s%d.png", folder, t), WIDTH, HEIGHT, mask, NULL, 0, err));
}

static void write_slices(char folder[256], const char *name, int step)
{
    snprintf(folder, 256, "%s", here("%s", name));
    run_here("mkdir -p %s/images %s/masks", folder, folder);
    for (int t = 0; t <= N; t++)
        write_slice(folder, t, t % step == 0);
}

void ways_setup(void)
{
    sample_setup();
    write_slices(slices, "slices", 1);
    write_slices(frames, "frames", N + 1);
    snprintf(feature_file, sizeof feature_file, "%s", here("f.safetensors"));
    snprintf(model_of_slices, sizeof model_of_slices, "%s", here("slices.cleave"));
    snprintf(model_of_features, sizeof model_of_features, "%s", here("features.cleave"));
    run_here("rm slices/images/s4.png slices/masks/s4.png && cleave train -q slices --sequence --window 3 "
             "--superpixels 60 --words 5 --codebook-samples 500 --passes 10 -o slices.cleave");
    run_here("cleave features -q --data $SET/manifest.tsv --split test --seed 1 --superpixels 60 --words 10 "
             "--codebook-samples 1000 -o f.safetensors && cleave train -q f.safetensors -o features.cleave");
}
static void by_photographs(struct clv_files_options *options)
{
    options->model_path = sample_model();
    options->data = formatted("%s/manifest.tsv", sample_set());
    options->split = "test";
}

static void by_boxes(struct clv_files_options *options)
{
    options->boxes = "20,15,60,50";
    options->data = formatted("%s/manifest.tsv", sample_set());
    options->split = "test";
}

static void by_slices(struct clv_files_options *options)
{
    options->model_path = model_of_slices;
    options->sequence = true;
    options->data = slices;
}

static void by_frames(struct clv_files_options *options)
{
    options->propagates = true;
    options->data = frames;
}

static void by_masks(struct clv_files_options *options)
{
    options->from_masks = formatted("%s/manifest.tsv", sample_set());
    options->split = "test";
}

static void by_features(struct clv_files_options *options)
{
    options->model_path = model_of_features;
    options->features = feature_file;
}

const struct way ways[N_WAYS] = {
    {"photographs", "a model", by_photographs, true, true, {"0009", "0010", "0011", "0012"}},
    {"boxes", "--boxes", by_boxes, false, true, {"0009", "0010", "0011", "0012"}},
    {"slices", "--sequence", by_slices, true, true, {"s0", "s1", "s2", "s3"}},
    {"frames", "propagate", by_frames, false, true, {"s1", "s2", "s3", "s4"}},
    {"masks", "--from-masks", by_masks, false, true, {"0009", "0010", "0011", "0012"}},
    {"features", "--features", by_features, true, false, {"0009", "0010", "0011", "0012"}},
};
