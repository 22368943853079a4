/* Draws shapes on a canvas: smooth unions of cones by signed distances, materials under light, and shadows. Start at
 * field_union and canvas_paint. */
#include "synth.h"

#include <math.h>

#include "base/base.h"

#define FAR_AWAY 1e6f

struct colour colour_of(uint32_t rgb)
{
    return (struct colour){(float)(rgb >> 16 & 255) / 255, (float)(rgb >> 8 & 255) / 255, (float)(rgb & 255) / 255};
}

struct colour colour_mix(struct colour a, struct colour b, float share_of_b)
{
    return (struct colour){a.red + share_of_b * (b.red - a.red), a.green + share_of_b * (b.green - a.green),
                           a.blue + share_of_b * (b.blue - a.blue)};
}

struct colour colour_scale(struct colour colour, float factor)
{
    return (struct colour){colour.red * factor, colour.green * factor, colour.blue * factor};
}

struct colour colour_jitter(struct dice *dice, struct colour colour, float amount)
{
    float light = dice_between(dice, 1 - amount, 1 + amount), warm = dice_between(dice, -amount, amount) / 4;
    return (struct colour){colour.red * (light + warm), colour.green * light, colour.blue * (light - warm)};
}

enum clv_status field_init(struct field *field, int32_t width, int32_t height, struct clv_error *err)
{
    size_t n = (size_t)width * (size_t)height;
    OWNED(field_release) struct field result = {.width = width, .height = height};
    result.distance = array_alloc(n, sizeof *result.distance);
    result.radius = array_alloc(n, sizeof *result.radius);
    result.axial = array_alloc(n, sizeof *result.axial);
    NEED(result.distance && result.radius && result.axial);
    *field = TAKE(result);
    return CLV_OK;
}

void field_release(struct field *field)
{
    arrays_free(field->distance, field->radius, field->axial);
    *field = (struct field){0};
}

static int32_t clamp_int(float value, int32_t low, int32_t high)
{
    return value <= (float)low ? low : value >= (float)high ? high : (int32_t)value;
}

struct box {
    int32_t x0, y0, x1, y1;
};

/* Pixels whose centres are within `margin` of the cone. */
static struct box box_of_cone(const struct field *field, const struct cone *cone, float margin)
{
    float ra = cone->radius_a + margin, rb = cone->radius_b + margin;
    return (struct box){clamp_int(fminf(cone->a.x - ra, cone->b.x - rb), 0, field->width),
                        clamp_int(fminf(cone->a.y - ra, cone->b.y - rb), 0, field->height),
                        clamp_int(fmaxf(cone->a.x + ra, cone->b.x + rb) + 1, 0, field->width),
                        clamp_int(fmaxf(cone->a.y + ra, cone->b.y + rb) + 1, 0, field->height)};
}

static void field_add(struct field *field, const struct cone *cone, struct box box, float blend)
{
    float ex = cone->b.x - cone->a.x, ey = cone->b.y - cone->a.y, length = sqrtf(ex * ex + ey * ey);
    float fall = cone->radius_a - cone->radius_b;
    /* A circle that holds the other one is all there is. */
    bool one_circle = length <= fabsf(fall) + 1e-4f;
    struct point start = one_circle && fall < 0 ? cone->b : cone->a;
    float radius = one_circle && fall < 0 ? cone->radius_b : cone->radius_a;
    if (one_circle)
        ex = 1, ey = 0, length = 1, fall = 0;
    ex /= length;
    ey /= length;
    /* (sine, cosine) is the normal of the upper tangent line in the frame of the axis. */
    float sine = fall / length, cosine = sqrtf(1 - sine * sine);

    for (int32_t y = box.y0; y < box.y1; y++)
        for (int32_t x = box.x0; x < box.x1; x++) {
            float px = (float)x + 0.5f - start.x, py = (float)y + 0.5f - start.y;
            float along = px * ex + py * ey, across = fabsf(py * ex - px * ey);
            float tangent = along * cosine - across * sine, distance;
            if (one_circle || tangent <= 0)
                distance = sqrtf(along * along + across * across) - radius;
            else if (tangent >= length * cosine)
                distance = sqrtf((along - length) * (along - length) + across * across) - cone->radius_b;
            else
                distance = along * sine + across * cosine - radius;

            float share = along <= 0 ? 0 : along >= length ? 1 : along / length;
            float own_radius = radius + (one_circle ? 0 : share * (cone->radius_b - cone->radius_a));
            float own_axial = cone->axial_a + share * (cone->axial_b - cone->axial_a);

            /* Polynomial smooth minimum; attributes of the nearer shape, mixed in the joint. */
            size_t i = (size_t)y * (size_t)field->width + (size_t)x;
            float before = field->distance[i], gap = fabsf(before - distance);
            float joint = gap < blend ? (blend - gap) / blend : 0, share_of_farther = 0.5f * joint * joint;
            float weight = distance < before ? 1 - share_of_farther : share_of_farther;
            field->distance[i] = fminf(before, distance) - 0.25f * joint * joint * blend;
            field->radius[i] += weight * (own_radius - field->radius[i]);
            field->axial[i] += weight * (own_axial - field->axial[i]);
        }
}

void field_union(struct field *field, const struct cone *cones, size_t n_cones, float blend, float reach)
{
    /* Outside this margin a cone neither covers a pixel nor takes part in a joint. */
    float margin = blend + reach;
    struct box all = {field->width, field->height, 0, 0};
    for (size_t i = 0; i < n_cones; i++) {
        struct box box = box_of_cone(field, &cones[i], margin);
        all.x0 = box.x0 < all.x0 ? box.x0 : all.x0;
        all.y0 = box.y0 < all.y0 ? box.y0 : all.y0;
        all.x1 = box.x1 > all.x1 ? box.x1 : all.x1;
        all.y1 = box.y1 > all.y1 ? box.y1 : all.y1;
    }
    for (int32_t y = all.y0; y < all.y1; y++)
        for (int32_t x = all.x0; x < all.x1; x++) {
            size_t i = (size_t)y * (size_t)field->width + (size_t)x;
            field->distance[i] = FAR_AWAY;
            field->radius[i] = 1;
            field->axial[i] = 0;
        }
    for (size_t i = 0; i < n_cones; i++)
        field_add(field, &cones[i], box_of_cone(field, &cones[i], margin), blend > 0 ? blend : 1e-6f);
    field->x0 = all.x0;
    field->y0 = all.y0;
    field->x1 = all.x1;
    field->y1 = all.y1;
}

enum clv_status canvas_init(struct canvas *canvas, int32_t width, int32_t height, struct clv_error *err)
{
    size_t n = (size_t)width * (size_t)height;
    OWNED(canvas_release) struct canvas result = {
        .width = width, .height = height, .unit = (float)(width > height ? width : height) / 240};
    result.colour = array_zalloc(n, sizeof *result.colour);
    result.figure = array_zalloc(n, sizeof *result.figure);
    NEED(result.colour && result.figure);
    *canvas = TAKE(result);
    return CLV_OK;
}

void canvas_release(struct canvas *canvas)
{
    arrays_free(canvas->colour, canvas->figure);
    *canvas = (struct canvas){0};
}

static float clamp_unit(float value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

/* 0 below `edge`, 1 above, with a ramp of +-softness. */
static float step_at(float edge, float softness, float value)
{
    return clamp_unit((value - edge) / (2 * softness) + 0.5f);
}

static struct colour material_colour(const struct material *material, const struct canvas *canvas, float x, float y,
                                     float axial)
{
    const struct noise *noise = canvas->noise;
    float px = (x - material->origin.x) / material->scale, py = (y - material->origin.y) / material->scale;
    float second = 0, light = 1, seam;
    switch (material->pattern) {
    case PATTERN_PLAIN: second = 0.25f + 0.25f * noise_fractal(noise, px, py, 2); break;
    case PATTERN_STRIPES: {
        float phase = axial / material->scale + 0.45f * noise_at(noise, 0.6f * px, 0.6f * py);
        phase -= (float)floor_to_int(phase);
        second = step_at(0.24f, 0.05f, fabsf(phase - 0.5f));
        break;
    }
    case PATTERN_SPOTS:
        seam = noise_cellular(noise, px, py, &second);
        second = step_at(0.0f, 0.05f, 0.08f + 0.3f * second + 0.06f * noise_at(noise, 3 * px, 3 * py) - seam);
        break;
    case PATTERN_RETICULATED:
        seam = noise_cellular(noise, px, py, NULL) + 0.12f * noise_at(noise, 3 * px, 3 * py);
        second = step_at(0.43f, 0.05f, seam);
        break;
    case PATTERN_PATCHES: second = step_at(0.05f, 0.06f, noise_fractal(noise, px, py, 3)); break;
    case PATTERN_WOOL:
        seam = noise_cellular(noise, px, py, NULL);
        light = 1.08f - 0.28f * seam + 0.08f * noise_at(noise, 4 * px, 4 * py);
        second = 0.3f * seam;
        break;
    case PATTERN_STONE:
        second = 0.5f + 0.5f * noise_fractal(noise, px, py, 3);
        light = 1 + 0.12f * noise_at(noise, 5 * px, 3 * py);
        break;
    case PATTERN_BARK: second = step_at(0.1f, 0.25f, noise_fractal(noise, 2.5f * px, 0.3f * py, 2)); break;
    case PATTERN_LEAVES:
        seam = noise_cellular(noise, px, py, &second);
        light = 1.25f - 0.75f * seam;
        break;
    }
    struct colour colour = colour_mix(material->base, material->second, clamp_unit(second));
    return colour_scale(colour, light * (1 + material->grain * noise_fractal(noise, 0.23f * x / canvas->unit,
                                                                             0.31f * y / canvas->unit, 2)));
}

/* Lambert shading of a body whose cross-section is round: the normal is in the image plane at the outline and points to
 * the viewer where the shape is as deep as it is thick. */
static float shade_at(const struct canvas *canvas, const struct field *field, int32_t x, int32_t y, float distance,
                      float flatness, float *downward)
{
    size_t i = (size_t)y * (size_t)field->width + (size_t)x, stride = (size_t)field->width;
    const float *d = field->distance;
    float gx = d[x + 1 < field->x1 ? i + 1 : i] - d[x > field->x0 ? i - 1 : i];
    float gy = d[y + 1 < field->y1 ? i + stride : i] - d[y > field->y0 ? i - stride : i];
    float norm = sqrtf(gx * gx + gy * gy) + 1e-6f;
    float tilt = 1 - clamp_unit(-distance / field->radius[i]);
    gx *= tilt / norm;
    gy *= tilt / norm;
    float gz = sqrtf(1 - tilt * tilt + 1e-6f);
    float lambert = gx * canvas->light.x + gy * canvas->light.y + gz * canvas->light.z;
    *downward = gy;
    return flatness + (1 - flatness) * (0.5f + 0.75f * (lambert > 0 ? lambert : 0.15f * lambert));
}

void canvas_paint(struct canvas *canvas, const struct field *field, const struct material *material, bool is_figure)
{
    float fine = 0.21f / canvas->unit;
    for (int32_t y = field->y0; y < field->y1; y++)
        for (int32_t x = field->x0; x < field->x1; x++) {
            size_t i = (size_t)y * (size_t)canvas->width + (size_t)x;
            float distance = field->distance[i];
            if (distance > 0.5f + material->roughness)
                continue;
            if (material->roughness > 0)
                distance += material->roughness * noise_fractal(canvas->noise, fine * (float)x, fine * (float)y, 3);
            float coverage = clamp_unit(0.5f - distance);
            if (coverage <= 0)
                continue;
            float downward;
            float shade = shade_at(canvas, field, x, y, distance, material->flatness, &downward);
            struct colour colour = material_colour(material, canvas, (float)x, (float)y, field->axial[i]);
            if (downward > 0 && material->belly != 0)
                shade *= 1 + material->belly * downward;
            canvas->colour[i] = colour_mix(canvas->colour[i], colour_scale(colour, shade), coverage);
            canvas->figure[i] += coverage * ((is_figure ? 1.0f : 0.0f) - canvas->figure[i]);
        }
}

void canvas_shadow(struct canvas *canvas, struct point centre, float radius_x, float radius_y, float strength)
{
    int32_t x0 = clamp_int(centre.x - radius_x, 0, canvas->width),
            x1 = clamp_int(centre.x + radius_x, 0, canvas->width);
    int32_t y0 = clamp_int(centre.y - radius_y, 0, canvas->height),
            y1 = clamp_int(centre.y + radius_y, 0, canvas->height);
    for (int32_t y = y0; y < y1; y++)
        for (int32_t x = x0; x < x1; x++) {
            float dx = ((float)x + 0.5f - centre.x) / radius_x, dy = ((float)y + 0.5f - centre.y) / radius_y;
            float inside = 1 - (dx * dx + dy * dy);
            if (inside <= 0)
                continue;
            struct colour *colour = &canvas->colour[(size_t)y * (size_t)canvas->width + (size_t)x];
            *colour = colour_scale(*colour, 1 - strength * inside);
        }
}
