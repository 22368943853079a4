/* clv_click_cut: one segmentation from a mask of strokes, which it checks and counts. The work is in click.c. */
#include "cleave/click.h"

#include "base/base.h"
#include "cleave/data.h"
#include "click/click.h"

static enum clv_status check(const struct clv_image *image, const uint8_t *values, const char *what, bool may_be_void,
                             struct clv_error *err)
{
    for (int32_t y = 0; y < image->height; y++)
        for (int32_t x = 0; x < image->width; x++) {
            uint8_t value = values[(size_t)y * (size_t)image->width + (size_t)x];
            if (value > 1 && !(may_be_void && value == CLV_VOID))
                return fail_about(err,
                                  fail(err, CLV_ERR_DATA, "value %d at pixel (%d, %d) is not 0%s", value, x, y,
                                       may_be_void ? ", 1 or 255" : " or 1"),
                                  what);
        }
    return CLV_OK;
}

/* Sets an 8-connected piece of one value in left[height][width] to CLICK_FREE. stack[height * width] is scratch. */
static void take_piece(uint8_t *left, size_t *stack, size_t start, const struct clv_image *image)
{
    size_t n = 0, width = (size_t)image->width, height = (size_t)image->height;
    uint8_t value = left[start];
    left[start] = CLICK_FREE;
    stack[n++] = start;
    while (n) {
        size_t p = stack[--n], x = p % width, y = p / width;
        for (size_t j = y ? y - 1 : 0; j <= y + 1 && j < height; j++)
            for (size_t i = x ? x - 1 : 0; i <= x + 1 && i < width; i++)
                if (left[j * width + i] == value) {
                    left[j * width + i] = CLICK_FREE;
                    stack[n++] = j * width + i;
                }
    }
}

static enum clv_status count_strokes(int32_t *n_strokes, const uint8_t *seeds, const struct clv_image *image,
                                     struct clv_error *err)
{
    size_t n = (size_t)image->width * (size_t)image->height;
    OWNED_ARRAY uint8_t *left = array_copy(seeds, n, 1);
    OWNED_ARRAY size_t *stack = array_alloc(n, sizeof *stack);
    NEED(left && stack);
    *n_strokes = 0;
    for (size_t p = 0; p < n; p++)
        if (left[p] != CLICK_FREE) {
            take_piece(left, stack, p, image);
            ++*n_strokes;
        }
    return CLV_OK;
}

enum clv_status clv_click_cut(uint8_t *labels, const struct clv_image *image, const uint8_t *strokes,
                              const uint8_t *before, struct clv_error *err)
{
    FAIL_IF(!image->pixels || image->width < 1 || image->height < 1 || image->channels != 3, CLV_ERR_USAGE,
            "the image is %dx%d of %d channels (3 are needed)", image->width, image->height, image->channels);
    size_t n = (size_t)image->width * (size_t)image->height;
    MUST(check(image, strokes, "strokes", true, err));
    if (before)
        MUST(check(image, before, "before", false, err));
    OWNED_ARRAY uint8_t *seeds = array_alloc(n, 1);
    NEED(seeds);
    for (size_t p = 0; p < n; p++)
        seeds[p] = strokes[p] == CLV_VOID ? CLICK_FREE : strokes[p] ? CLICK_FOREGROUND : CLICK_BACKGROUND;
    struct click_request request = {.seeds = seeds, .before = before};
    MUST(count_strokes(&request.n_strokes, seeds, image, err));
    OWNED(click_scene_drop) struct click_scene *scene = NULL;
    MUST(click_scene_new(&scene, image, err));
    return click_cut(labels, scene, &request, err);
}
