/* Segments the object in a box, after GrabCut (Rother et al. 2004), with learned scores. Networks score the superpixels
 * of the box and its margin (box_score.c), and a minimum cut labels them; clv_refine then moves the border at the
 * pixels. Start at box_cut_weighted. */
#include "box_cut/box_cut.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cleave/refine.h"
#include "refine/refine.h"

#define MAX_SUPERPIXELS 4000
#define PRIOR_CLIP      4.0 /* largest log odds of a pixel */

void clv_box_cut_defaults(struct clv_box_cut_options *options)
{
    *options = (struct clv_box_cut_options){.n_superpixels = 700, .rounds = 5, .coupling = 1.5, .refine_coupling = 2};
}

static enum clv_status check(const struct clv_image *image, const struct clv_box *box,
                             const struct clv_box_cut_options *options, struct clv_error *err)
{
    if (options->n_superpixels < 1 || options->n_superpixels > MAX_SUPERPIXELS)
        return fail(err, CLV_ERR_USAGE, "box cut: %d superpixels, must be 1..%d", options->n_superpixels,
                    MAX_SUPERPIXELS);
    if (options->rounds < 1 || options->rounds > 100)
        return fail(err, CLV_ERR_USAGE, "box cut: %d rounds, must be 1..100", options->rounds);
    if (!(options->coupling >= 0 && options->coupling <= 1000))
        return fail(err, CLV_ERR_USAGE, "box cut: coupling is %g, must be 0..1000", options->coupling);
    if (!(options->refine_coupling >= 0 && options->refine_coupling <= 1000))
        return fail(err, CLV_ERR_USAGE, "box cut: refine_coupling is %g, must be 0..1000", options->refine_coupling);
    FAIL_IF(image->channels != 3 || image->width < 1 || image->height < 1, CLV_ERR_USAGE,
            "box cut needs 3 channels, not %dx%d with %d", image->width, image->height, image->channels);
    if (!(box->x >= 0 && box->y >= 0 && box->width > 0 && box->height > 0 && box->x < image->width &&
          box->y < image->height && box->x + box->width <= image->width + 0.5 &&
          box->y + box->height <= image->height + 0.5))
        return fail(err, CLV_ERR_USAGE, "box %gx%g at %g,%g is not inside the image, which is %dx%d", box->width,
                    box->height, box->x, box->y, image->width, image->height);
    return CLV_OK;
}

/* Paints the superpixels' labels into labels[height][width] and refines their border at the pixels of `image`, the crop
 * or a smaller copy. Pixels outside the box are fixed to background. */
static enum clv_status refine_border(uint8_t *labels, const struct clv_image *image, const struct box_scene *scene,
                                     const int32_t *foreground, const double *odds, double coupling,
                                     struct clv_error *err)
{
    struct clv_pixel_box box = box_scene_scale(scene, image->width, image->height);
    struct clv_refine_options refining;
    OWNED_ARRAY float *prior = array_zalloc((size_t)image->width * (size_t)image->height, sizeof *prior);
    OWNED_ARRAY uint8_t *is_fixed = array_zalloc((size_t)image->width, (size_t)image->height);
    NEED(prior && is_fixed);
    for (int32_t y = 0, p = 0; y < image->height; y++)
        for (int32_t x = 0; x < image->width; x++, p++) {
            int32_t i = box_scene_at(scene, image, x, y);
            is_fixed[p] = x < box.first_x || x >= box.end_x || y < box.first_y || y >= box.end_y;
            labels[p] = (uint8_t)(!is_fixed[p] && foreground[i]);
            if (!is_fixed[p] && scene->regions[i].is_inside)
                prior[p] = (float)fmin(fmax(odds[i], -PRIOR_CLIP), PRIOR_CLIP);
        }
    clv_refine_defaults(&refining);
    refining.prior = 1;
    refining.coupling = coupling;
    return clv_refine(labels, image, prior, is_fixed, &refining, err);
}

/* Labels the pixels of the crop: labels[height][width]. A large crop is labelled in a smaller copy; then the border
 * moves to the edges at full size. */
static enum clv_status cut_pixels(uint8_t *labels, const struct box_scene *scene, const int32_t *foreground,
                                  const double *odds, double coupling, struct clv_error *err)
{
    const struct clv_image *small = &scene->cutting;
    if (small->pixels == scene->image.pixels)
        return refine_border(labels, &scene->image, scene, foreground, odds, coupling, err);
    OWNED(pixel_couplings_release) struct pixel_couplings couplings = {0};
    OWNED_ARRAY uint8_t *cut = array_alloc((size_t)small->width, (size_t)small->height);
    NEED(cut);
    MUST(refine_border(cut, small, scene, foreground, odds, coupling, err));
    MUST(border_couplings_init(&couplings, &scene->image, err));
    return border_enlarge(labels, &couplings, cut, small->width, small->height, NULL, err);
}

/* Writes the results of the crop into arrays of the whole image. */
static void write_out(uint8_t *labels, float *probability, const struct box_scene *scene, const struct clv_image *image,
                      const uint8_t *cut, const double *odds)
{
    size_t stride = (size_t)image->width, n = stride * (size_t)image->height;
    if (labels)
        memset(labels, 0, n);
    for (size_t p = 0; probability && p < n; p++)
        probability[p] = 0;
    size_t first_x = (size_t)scene->box.first_x, width = (size_t)(scene->box.end_x - scene->box.first_x);
    for (int32_t y = scene->box.first_y; y < scene->box.end_y; y++) {
        size_t p = (size_t)(y + scene->crop.first_y) * stride + (size_t)scene->crop.first_x + first_x;
        if (labels)
            memcpy(labels + p, cut + (size_t)y * (size_t)scene->image.width + first_x, width);
        for (size_t x = 0; probability && x < width; x++) {
            int32_t i = box_scene_at(scene, &scene->image, (int32_t)(first_x + x), y);
            if (scene->regions[i].is_inside)
                probability[p + x] = (float)box_logistic(odds[i]);
        }
    }
}

/* Computes labels and log odds of the superpixels: foreground[n], odds[n]. */
static enum clv_status solve(int32_t *foreground, double *odds, const struct box_scene *scene,
                             const struct clv_box_cut_options *options, const struct box_weights *weights,
                             struct clv_error *err)
{
    OWNED(box_affinity_release) struct box_affinity affinity = {0};
    OWNED(box_mincut_release) struct box_mincut cut = {0};
    MUST(box_affinity_init(&affinity, scene, err));
    MUST(box_score(odds, &affinity, weights, options->rounds, err));
    MUST(box_mincut_init(&cut, &affinity, options->coupling, err));
    return box_mincut_solve(foreground, &cut, odds, err);
}

enum clv_status box_cut_weighted(uint8_t *labels, float *probability, const struct clv_image *image,
                                 const struct clv_box *box, const struct clv_box_cut_options *options,
                                 const struct box_weights *weights, struct clv_error *err)
{
    struct clv_box_cut_options defaults;
    OWNED(box_scene_release) struct box_scene scene = {0};
    OWNED_ARRAY int32_t *foreground = NULL;
    OWNED_ARRAY double *odds = NULL;
    OWNED_ARRAY uint8_t *cut = NULL;
    clv_box_cut_defaults(&defaults);
    options = options ? options : &defaults;
    MUST(check(image, box, options, err));
    MUST(box_scene_init(&scene, image, clv_box_pixels(box, image->width, image->height), options->n_superpixels, err));
    size_t n = (size_t)scene.superpixels.n;
    foreground = array_alloc(n, sizeof *foreground);
    odds = array_alloc(n, sizeof *odds);
    cut = array_alloc((size_t)scene.image.width, (size_t)scene.image.height);
    NEED(foreground && odds && cut);
    MUST(solve(foreground, odds, &scene, options, weights, err));
    if (labels)
        MUST(cut_pixels(cut, &scene, foreground, odds, options->refine_coupling, err));
    write_out(labels, probability, &scene, image, cut, odds);
    return CLV_OK;
}

enum clv_status clv_box_cut(uint8_t *labels, float *probability, const struct clv_image *image,
                            const struct clv_box *box, const struct clv_box_cut_options *options, struct clv_error *err)
{
    return box_cut_weighted(labels, probability, image, box, options, &box_weights, err);
}
