/* Segments one image with a trained model: a label for every pixel, written as a mask.
 *
 *     cc segment_image.c $(pkg-config --cflags --libs cleave) -o segment_image
 *     ./segment_image horses.cleave horse.jpg mask.png */
#include <cleave.h>
#include <stdio.h>
#include <stdlib.h>

static struct clv_error error;

static void must(enum clv_status status)
{
    if (status == CLV_OK)
        return;
    fprintf(stderr, "segment_image: %s\n", error.message);
    exit(clv_status_exit_code(status));
}

int main(int argc, char **argv)
{
    static struct clv_model model;
    static struct clv_image image;
    struct clv_segment_options options;
    if (argc != 4) {
        fprintf(stderr, "usage: segment_image MODEL IMAGE MASK\n");
        return 64;
    }
    must(clv_model_read(&model, argv[1], &error));
    must(clv_image_read(&image, argv[2], NULL, &error));

    size_t n_pixels = (size_t)image.width * (size_t)image.height, n_foreground = 0;
    uint8_t *labels = (uint8_t *)malloc(n_pixels);
    if (!labels)
        abort();
    clv_segment_defaults(&options);
    options.refine = CLV_REFINE_ALL;
    must(clv_segment(labels, &model, &image, &options, &error));
    must(clv_png_write_labels(argv[3], image.width, image.height, labels, NULL, 0, &error));

    for (size_t p = 0; p < n_pixels; p++)
        n_foreground += labels[p] > 0;
    printf("%s: %dx%d, %.1f %% are %s\n", argv[3], image.width, image.height,
           100.0 * (double)n_foreground / (double)n_pixels, model.labels.names[1]);
    free(labels);
    clv_image_release(&image);
    clv_model_release(&model);
    return 0;
}
