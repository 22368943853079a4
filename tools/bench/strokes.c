/* A first training: one image of 256 x 256 pixels with three strokes across it, from the image to the model, on one
 * thread. The image is the first horse, shrunk; the strokes have its labels, all other pixels are void. Needs the
 * command next to it: $CLEAVE_BUILD/cleave. */
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "cleave/image.h"
#include "data/data.h"
#include "process.h"

enum { SIDE = 256, STROKE = 6, VOID = 255, ROUNDS = 5 };

static void check(enum clv_status status, const struct clv_error *error)
{
    if (status == CLV_OK)
        return;
    fprintf(stderr, "strokes: %s\n", error->message);
    exit(1);
}

/* Writes FOLDER/images/horse.png and FOLDER/masks/horse.png. */
static void draw_set(const char *folder, const char *photo, const char *truth)
{
    static uint8_t labels[SIDE * SIDE];
    char path[4200];
    struct clv_image image = {0}, small = {0};
    struct clv_mask mask = {0};
    struct clv_labels binary = {0};
    struct clv_error error;
    check(clv_image_read(&image, photo, NULL, &error), &error);
    check(clv_labels_binary(&binary, &error), &error);
    check(clv_mask_read(&mask, truth, &binary, image.width, image.height, NULL, &error), &error);
    check(clv_image_resize(&small, &image, SIDE, SIDE, &error), &error);
    clv_labels_resize(labels, SIDE, SIDE, mask.labels, image.width, image.height);
    for (int y = 0; y < SIDE; y++)
        if (y % (SIDE / 4) >= STROKE || y < STROKE)
            memset(labels + y * SIDE, VOID, SIDE);
    const char *const folders[] = {"", "/images", "/masks"};
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
        snprintf(path, sizeof path, "%s%s", folder, folders[k]);
        mkdir(path, 0777);
    }
    snprintf(path, sizeof path, "%s/images/horse.png", folder);
    check(clv_png_write(path, &small, &error), &error);
    snprintf(path, sizeof path, "%s/masks/horse.png", folder);
    check(clv_png_write_labels(path, SIDE, SIDE, labels, NULL, 0, &error), &error);
    clv_image_release(&image);
    clv_image_release(&small);
    clv_mask_release(&mask);
    clv_labels_release(&binary);
}

int main(void)
{
    const char *build = getenv("CLEAVE_BUILD") ? getenv("CLEAVE_BUILD") : "build", *found;
    char cleave[4096], folder[4096], model[4096], log[4096], photo[4096];
    snprintf(cleave, sizeof cleave, "%s/cleave", build);
    snprintf(folder, sizeof folder, "%s/bench/strokes.set", build);
    snprintf(model, sizeof model, "%s/bench/strokes.cleave", build);
    snprintf(log, sizeof log, "%s/bench/strokes.log", build);
    if (!(found = bench_data("strokes", "horses/images/horse001.jpg")))
        return 0;
    snprintf(photo, sizeof photo, "%s", found);
    if (!(found = bench_data("strokes", "horses/masks/horse001.png")))
        return 0;
    draw_set(folder, photo, found);
    char *train[] = {cleave, "train", folder, "-o", model, "--overwrite", "--seed", "1", "-t", "1", NULL};
    struct bench_series cpu = {0};
    for (int round = 0; round < ROUNDS; round++) {
        struct run run = run_program(train, log);
        if (run.exit_code) {
            printf("strokes: cleave train failed with exit code %d\n", run.exit_code);
            print_log(log);
            return 1;
        }
        bench_add(&cpu, run.cpu);
    }
    struct bench_summary summary = bench_summarise(cpu);
    printf("strokes: one image of %d x %d, from image to model in %.2f s of CPU (%.2f..%.2f), %d rounds\n", SIDE, SIDE,
           summary.median, summary.low, summary.high, ROUNDS);
    return 0;
}
