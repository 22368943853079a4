/* From a box around an object to its outline, without a model: a mask and an overlay.
 *
 *     cc box_to_cut.c $(pkg-config --cflags --libs cleave) -o box_to_cut
 *     ./box_to_cut horse.jpg 20 15 80 60 mask.png overlay.png           (the box: x, y, width, height in pixels) */
#include <cleave.h>
#include <stdio.h>
#include <stdlib.h>

static struct clv_error error;

static void must(enum clv_status status)
{
    if (status == CLV_OK)
        return;
    fprintf(stderr, "box_to_cut: %s\n", error.message);
    exit(clv_status_exit_code(status));
}

int main(int argc, char **argv)
{
    static struct clv_image image;
    static struct clv_box box;
    uint8_t palette[256][3];
    if (argc != 8) {
        fprintf(stderr, "usage: box_to_cut IMAGE X Y WIDTH HEIGHT MASK OVERLAY\n");
        return 64;
    }
    must(clv_image_read(&image, argv[1], NULL, &error));
    box.x = strtod(argv[2], NULL);
    box.y = strtod(argv[3], NULL);
    box.width = strtod(argv[4], NULL);
    box.height = strtod(argv[5], NULL);

    size_t n_pixels = (size_t)image.width * (size_t)image.height, n_object = 0;
    uint8_t *labels = (uint8_t *)malloc(n_pixels);
    if (!labels)
        abort();
    must(clv_box_cut(labels, NULL, &image, &box, NULL, &error));
    must(clv_png_write_labels(argv[6], image.width, image.height, labels, NULL, 0, &error));
    clv_default_palette(palette);
    clv_overlay_draw(&image, labels, (const uint8_t(*)[3])palette, 0.45, 2, -1);
    must(clv_png_write(argv[7], &image, &error));

    for (size_t p = 0; p < n_pixels; p++)
        n_object += labels[p];
    printf("%s: the object fills %.0f %% of its box\n", argv[6], 100.0 * (double)n_object / (box.width * box.height));
    free(labels);
    clv_image_release(&image);
    return 0;
}
