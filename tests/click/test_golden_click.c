/* Cuts by clicks on record: a change of any weight, coupling or distance shows. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "click/click.h"
#include "support/golden.h"
#include "support/images.h"
#include "support/support.h"

/* Two blobs of like colours on background that changes across, all of it rough, and a dark stripe. */
static void draw(struct clv_image *image, int32_t width, int32_t height)
{
    uint32_t state = 3;
    must(clv_image_new(image, width, height, 3, err));
    for (int32_t p = 0; p < width * height; p++) {
        double x = (p % width + 0.5) / width, y = (double)(p / width) / height; /* of the sides */
        int blob = (x - 0.35) * (x - 0.35) + (y - 0.5) * (y - 0.5) < 0.04 ? 1 : 0;
        blob = (x - 0.75) * (x - 0.75) + (y - 0.45) * (y - 0.45) < 0.015 ? 2 : blob;
        int colour[3] = {90 + (int)(60 * x), 120 - (int)(40 * y), 100};
        if (blob)
            memcpy(colour, (int[]){150 + 8 * blob, 110, 70}, sizeof colour);
        if (y > 0.7 && y < 0.75)
            memcpy(colour, (int[]){60, 50, 40}, sizeof colour);
        for (int k = 0; k < 3; k++)
            image->pixels[3 * p + k] = (uint8_t)(colour[k] + (int)(noise(&state) % (blob ? 20 : 44)));
    }
}

/* Clicks one after the other, each a row of its labels. */
static void cut(const char *name, int32_t width, int32_t height, int n_clicks)
{
    static const struct {
        double x, y;
        bool is_foreground;
    } clicks[] = {{0.35, 0.5, true}, {0.75, 0.45, false}, {0.25, 0.42, true}, {0.5, 0.9, false}};
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(click_scene_drop) struct click_scene *scene = NULL;
    size_t n = (size_t)width * (size_t)height;
    OWNED_ARRAY uint8_t *seeds = calloc(2, n);
    uint8_t *labels = seeds + n;
    ck_assert_ptr_nonnull(seeds);
    draw(&image, width, height);
    must(click_scene_new(&scene, &image, err));
    for (int k = 0; k < n_clicks; k++) {
        int32_t x = (int32_t)(clicks[k].x * width), y = (int32_t)(clicks[k].y * height);
        struct click_press press = {x, y, clicks[k].is_foreground};
        for (int32_t dy = -2; dy <= 2; dy++)
            memset(seeds + (y + dy) * width + x - 2, clicks[k].is_foreground ? CLICK_FOREGROUND : CLICK_BACKGROUND, 5);
        const struct click_request request = {
            .seeds = seeds, .before = k ? labels : NULL, .latest = &press, .n_strokes = k + 1};
        must(click_cut(labels, scene, &request, err));
        size_t n_foreground = 0;
        for (size_t p = 0; p < n; p++)
            n_foreground += labels[p];
        golden_row(golden_bytes(HASH_START, "mask", labels, n), "%s\t%d\t%zu", name, k + 1, n_foreground);
    }
}

TEST(cuts_are_those_on_record)
{
    golden_begin();
    cut("small", 150, 110, 4);
    cut("large", 760, 560, 2); /* cut smaller, its border followed at its own pixels */
    golden_end("clicks", "image\tclicks\tforeground\tdigest");
}
