/* Paints the ground, the sky and the distractors of a synthetic image. Start at ground_paint. */
#include "synth.h"

#include <math.h>
#include <stddef.h>

#include "base/base.h"

enum texture { TEXTURE_GRASS, TEXTURE_SAND, TEXTURE_EARTH, TEXTURE_SNOW };

struct ground {
    enum texture texture;
    uint32_t near, far; /* colours */
};

static const struct ground grounds[] = {
    {TEXTURE_GRASS, 0x5c7a34, 0x7c9450}, {TEXTURE_GRASS, 0x47652c, 0x6a8448}, {TEXTURE_GRASS, 0x8c8a48, 0xa8a060},
    {TEXTURE_GRASS, 0xa89058, 0xbca874}, {TEXTURE_SAND, 0xc8a878, 0xd4bc94},  {TEXTURE_SAND, 0xb49468, 0xc8b08c},
    {TEXTURE_EARTH, 0x7c5c40, 0x94785c}, {TEXTURE_EARTH, 0x6c6456, 0x8c8474}, {TEXTURE_EARTH, 0x94806a, 0xa89880},
    {TEXTURE_SNOW, 0xd8dce0, 0xe6e8ec},
};

static const uint32_t skies[][2] = {{0x6f9fd4, 0xcfe0ee}, {0x8aa8c4, 0xdcdcd8}, {0xb4bcc4, 0xd8dcde},
                                    {0x7c8ca8, 0xf0d4b0}, {0xc8ccd0, 0xe8e8e4}, {0x4f86c6, 0xb4d2ec}};

static float unit_clamp(float value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

/* Brightness of the ground at a pixel that shows this place of the plain. */
static float texture_light(enum texture texture, const struct noise *noise, struct point pixel, struct point plain,
                           float depth)
{
    switch (texture) {
    case TEXTURE_GRASS: {
        /* Blades stand up: they are streaks of the image, not of the plain; short ones far away, long ones near. */
        float far = noise_at(noise, 0.9f * pixel.x, 0.45f * pixel.y + 31),
              near = noise_at(noise, 0.45f * pixel.x, 0.13f * pixel.y);
        near += 0.6f * noise_at(noise, 0.8f * pixel.x + 0.1f * pixel.y, 0.21f * pixel.y + 11);
        float blades = far + depth * (near - far);
        return 1 + (0.1f + 0.14f * depth) * blades + 0.2f * noise_fractal(noise, plain.x, plain.y, 3);
    }
    case TEXTURE_SAND: {
        float ripple = portable_sinf(9 * plain.y + 3 * noise_at(noise, 0.7f * plain.x, 0.7f * plain.y));
        return 1 + 0.06f * ripple * depth + 0.09f * noise_fractal(noise, 4 * plain.x, 4 * plain.y, 3);
    }
    case TEXTURE_EARTH: {
        float pebble = noise_cellular(noise, 3.5f * plain.x, 3.5f * plain.y, NULL);
        return 1 + 0.24f * noise_fractal(noise, 1.3f * plain.x, 1.3f * plain.y, 4) -
               (pebble < 0.22f ? 0.2f * depth : 0);
    }
    default: return 0.97f + 0.08f * noise_fractal(noise, 0.8f * plain.x, 0.8f * plain.y, 4);
    }
}

struct backdrop {
    struct colour sky_top, sky_bottom, hill, near, far, lure;
    enum texture texture;
    float horizon, hill_height, hill_rough, hill_leafy, cloud, lure_share, shift;
};

static struct colour sky_colour(const struct canvas *canvas, const struct backdrop *backdrop, float x, float y)
{
    float down = unit_clamp(y * canvas->unit / (backdrop->horizon + 1));
    struct colour colour = colour_mix(backdrop->sky_top, backdrop->sky_bottom, down);
    float cloud = noise_fractal(canvas->noise, 0.012f * x + backdrop->shift, 0.03f * y, 4) + backdrop->cloud;
    return colour_mix(colour, (struct colour){0.95f, 0.95f, 0.96f}, unit_clamp(1.6f * cloud) * 0.85f);
}

static struct colour ground_colour(const struct canvas *canvas, const struct backdrop *backdrop, float x, float y,
                                   float depth)
{
    const struct noise *noise = canvas->noise;
    /* A plain seen from eye height: what is at depth 0 (the horizon) is farthest. */
    float distance = 1 / (0.16f + depth), centre = 0.5f * (float)canvas->width / canvas->unit;
    float gx = 0.045f * (x - centre) * distance + backdrop->shift, gy = 9 * distance;
    struct colour colour = colour_mix(backdrop->far, backdrop->near, depth);
    float lure = noise_fractal(noise, 0.35f * gx + 5, 0.35f * gy + 3, 3) - 0.55f + backdrop->lure_share;
    colour = colour_mix(colour, backdrop->lure, unit_clamp(5 * lure) * 0.8f);
    return colour_scale(colour,
                        texture_light(backdrop->texture, noise, (struct point){x, y}, (struct point){gx, gy}, depth));
}

void ground_paint(struct canvas *canvas, struct dice *dice, float horizon, struct colour lure)
{
    const struct ground *ground = &grounds[dice_below(dice, sizeof grounds / sizeof *grounds)];
    const uint32_t *sky = skies[dice_below(dice, sizeof skies / sizeof *skies)];
    /* One draw a statement: C leaves the order open in initializers and arguments. */
    struct backdrop backdrop = {.lure = lure, .texture = ground->texture, .horizon = horizon};
    backdrop.sky_top = colour_jitter(dice, colour_of(sky[0]), 0.08f);
    backdrop.sky_bottom = colour_jitter(dice, colour_of(sky[1]), 0.06f);
    backdrop.near = colour_jitter(dice, colour_of(ground->near), 0.12f);
    backdrop.far = colour_jitter(dice, colour_of(ground->far), 0.1f);
    backdrop.hill_height = dice_between(dice, -0.08f, 0.16f) * (float)canvas->height;
    backdrop.hill_rough = dice_between(dice, 0.4f, 2.5f);
    backdrop.hill_leafy = dice_chance(dice, 0.5f) ? 0.3f : 0.08f;
    backdrop.cloud = dice_between(dice, -0.6f, 0.15f);
    backdrop.lure_share = dice_between(dice, 0.1f, 0.75f);
    backdrop.shift = dice_between(dice, 0, 60);
    struct colour hill = dice_chance(dice, 0.3f) ? lure : colour_of(0x5c6c50);
    float haze = dice_between(dice, 0, 0.5f);
    backdrop.hill = colour_mix(colour_jitter(dice, hill, 0.2f), backdrop.sky_bottom, haze);

    float rest = (float)canvas->height - horizon;
    for (int32_t column = 0; column < canvas->width; column++) {
        float x = (float)column / canvas->unit;
        float bump = noise_fractal(canvas->noise, 0.01f * x * backdrop.hill_rough, backdrop.shift, 4);
        float edge = horizon + 2 * canvas->unit * noise_at(canvas->noise, 0.04f * x, 33);
        float ridge = backdrop.hill_height > 0 ? edge - backdrop.hill_height * (0.8f + 0.6f * bump) : edge;
        for (int32_t row = 0; row < canvas->height; row++) {
            float y = (float)row / canvas->unit, level = (float)row + 0.5f;
            float is_ground = unit_clamp(level - edge + 0.5f), is_hill = unit_clamp(level - ridge + 0.5f);
            struct colour colour = {0, 0, 0};
            if (is_hill < 1)
                colour = sky_colour(canvas, &backdrop, x, y);
            if (is_hill > 0 && is_ground < 1) {
                float light = 1 + backdrop.hill_leafy * noise_fractal(canvas->noise, 0.25f * x, 0.3f * y, 3);
                colour = colour_mix(colour, colour_scale(backdrop.hill, light), is_hill);
            }
            if (is_ground > 0) {
                float depth = unit_clamp((level - edge) / rest);
                colour = colour_mix(colour, ground_colour(canvas, &backdrop, x, y, depth), is_ground);
            }
            canvas->colour[(size_t)row * (size_t)canvas->width + (size_t)column] = colour;
        }
    }
}

static struct cone circle(float x, float y, float radius)
{
    return (struct cone){{x, y}, {x, y}, radius, radius, 0, 0};
}

static struct colour green(struct dice *dice)
{
    static const uint32_t leaves[] = {0x4a6a2c, 0x38562a, 0x6c7c3c, 0x847c40, 0x2f4a2c};
    return colour_jitter(dice, colour_of(leaves[dice_below(dice, 5)]), 0.15f);
}

/* Over what is there, which hides it. */
static void paint_cones(const struct painting *painting, const struct cone *cones, size_t n, float blend,
                        const struct material *material)
{
    field_union(painting->field, cones, n, blend, material->roughness + 1);
    canvas_paint(painting->canvas, painting->field, material, false);
}

static void paint_stone(const struct painting *painting, struct point foot, float size)
{
    struct canvas *canvas = painting->canvas;
    struct dice *dice = painting->dice;
    struct cone cones[3];
    size_t n = 1 + (size_t)dice_below(dice, 3);
    float x = foot.x;
    for (size_t i = 0; i < n; i++) {
        float radius = size * dice_between(dice, 0.3f, 0.5f), length = size * dice_between(dice, 0.2f, 0.9f);
        float rise = radius * dice_between(dice, 0.5f, 0.9f), taper = radius * dice_between(dice, 0.5f, 0.9f);
        cones[i] = (struct cone){
            {x, foot.y - 0.8f * radius}, {x + length, foot.y - rise}, radius, taper, 0, length,
        };
        x += length * dice_between(dice, 0.3f, 0.8f);
    }
    struct colour grey = colour_of(dice_chance(dice, 0.5f) ? 0x8c8880 : 0x6c665e);
    float lured = dice_chance(dice, 0.6f) ? 0.85f : 0.2f;
    struct colour base = colour_mix(colour_jitter(dice, grey, 0.2f), painting->lure, lured);
    struct material stone = {.pattern = PATTERN_STONE,
                             .base = base,
                             .second = colour_scale(base, 0.75f),
                             .scale = size * 0.3f,
                             .grain = 0.2f,
                             .roughness = 0.08f * size,
                             .belly = -0.3f};
    canvas_shadow(canvas, (struct point){0.5f * (foot.x + x), foot.y}, 0.9f * size + x - foot.x, 0.22f * size, 0.5f);
    paint_cones(painting, cones, n, 0.2f * size, &stone);
}

static void paint_post(const struct painting *painting, struct point foot, float size)
{
    struct canvas *canvas = painting->canvas;
    struct dice *dice = painting->dice;
    struct cone cones[8];
    size_t n = 0, n_posts = dice_chance(dice, 0.5f) ? 1 : 2 + (size_t)dice_below(dice, 3);
    float gap = size * dice_between(dice, 0.6f, 1.1f), radius = size * dice_between(dice, 0.04f, 0.08f);
    for (size_t i = 0; i < n_posts; i++) {
        float x = foot.x + gap * (float)i, lean = size * dice_between(dice, -0.05f, 0.05f);
        cones[n++] = (struct cone){{x, foot.y}, {x + lean, foot.y - size}, 1.1f * radius, radius, 0, size};
        canvas_shadow(canvas, (struct point){x, foot.y}, 4 * radius, 1.5f * radius, 0.5f);
    }
    float end = foot.x + gap * ((float)n_posts - 0.6f);
    for (int rail = 0; rail < 2 && n_posts > 1; rail++) {
        float y = foot.y - size * (0.45f + 0.4f * (float)rail);
        cones[n++] = (struct cone){{foot.x - 0.4f * gap, y},
                                   {end, y + size * dice_between(dice, -0.04f, 0.04f)},
                                   0.7f * radius,
                                   0.7f * radius,
                                   0,
                                   size};
    }
    float lured = dice_chance(dice, 0.6f) ? 0.8f : 0;
    struct colour base = colour_mix(colour_jitter(dice, colour_of(0x7c6a54), 0.25f), painting->lure, lured);
    struct material bark = {.pattern = PATTERN_BARK,
                            .base = base,
                            .second = colour_scale(base, 0.65f),
                            .scale = 2.5f * radius,
                            .grain = 0.15f,
                            .roughness = 0.1f * radius};
    paint_cones(painting, cones, n, 0, &bark);
}

static void paint_leaves(const struct painting *painting, struct point centre, float size_x, float size_y)
{
    struct canvas *canvas = painting->canvas;
    struct dice *dice = painting->dice;
    struct cone cones[9];
    for (int i = 0; i < 9; i++) {
        float x = centre.x + size_x * dice_between(dice, -0.42f, 0.42f),
              y = centre.y + size_y * dice_between(dice, -0.35f, 0.3f);
        cones[i] = circle(x, y, fminf(size_x, size_y) * dice_between(dice, 0.18f, 0.32f));
    }
    float lured = dice_chance(dice, 0.35f) ? 0.75f : 0;
    struct colour base = colour_mix(green(dice), painting->lure, lured);
    struct material leaves = {.pattern = PATTERN_LEAVES,
                              .base = colour_scale(base, 0.85f),
                              .second = colour_scale(base, 1.3f),
                              .scale = canvas->unit * dice_between(dice, 2.2f, 4),
                              .grain = 0.25f,
                              .roughness = 3 * canvas->unit,
                              .belly = -0.35f,
                              .flatness = 0.35f};
    paint_cones(painting, cones, 9, 0.15f * size_y, &leaves);
}

static void paint_tree(const struct painting *painting, struct point foot, float size)
{
    struct canvas *canvas = painting->canvas;
    struct dice *dice = painting->dice;
    float height = 2.2f * size, radius = 0.07f * height;
    struct point fork = {foot.x + height * dice_between(dice, -0.06f, 0.06f), foot.y - 0.6f * height};
    struct cone trunk[3] = {
        {foot, fork, 1.2f * radius, 0.7f * radius, 0, height},
        {fork, {fork.x - 0.2f * height, fork.y - 0.3f * height}, 0.6f * radius, 0.3f * radius, 0, 1},
        {fork, {fork.x + 0.18f * height, fork.y - 0.3f * height}, 0.6f * radius, 0.3f * radius, 0, 1}};
    float lured = dice_chance(dice, 0.6f) ? 0.8f : 0;
    struct colour base = colour_mix(colour_jitter(dice, colour_of(0x5c4c3c), 0.25f), painting->lure, lured);
    struct material bark = {.pattern = PATTERN_BARK,
                            .base = base,
                            .second = colour_scale(base, 0.6f),
                            .scale = 1.6f * radius,
                            .grain = 0.2f,
                            .roughness = 0.15f * radius};
    canvas_shadow(canvas, foot, 5 * radius, 1.6f * radius, 0.5f);
    paint_cones(painting, trunk, 3, radius, &bark);
    paint_leaves(painting, (struct point){fork.x, fork.y - 0.25f * height}, 0.8f * height, 0.6f * height);
}

static void paint_tuft(const struct painting *painting, struct point foot, float size)
{
    struct dice *dice = painting->dice;
    struct cone blades[12];
    for (int i = 0; i < 12; i++) {
        float x = foot.x + size * dice_between(dice, -0.5f, 0.5f), lean = size * dice_between(dice, -0.35f, 0.35f);
        blades[i] = (struct cone){
            {x, foot.y}, {x + lean, foot.y - size * dice_between(dice, 0.4f, 1)}, 0.05f * size, 0.012f * size, 0, size};
    }
    struct colour base = dice_chance(dice, 0.5f) ? green(dice) : colour_jitter(dice, colour_of(0xa89858), 0.2f);
    struct material blade = {.pattern = PATTERN_PLAIN,
                             .base = base,
                             .second = colour_scale(base, 1.25f),
                             .scale = 0.2f * size,
                             .grain = 0.2f,
                             .flatness = 0.4f};
    paint_cones(painting, blades, 12, 0, &blade);
}

void distractor_paint(const struct painting *painting, enum distractor kind, struct point foot, float size)
{
    switch (kind) {
    case DISTRACTOR_STONE: paint_stone(painting, foot, size); break;
    case DISTRACTOR_POST: paint_post(painting, foot, size); break;
    case DISTRACTOR_TREE: paint_tree(painting, foot, size); break;
    case DISTRACTOR_TUFT: paint_tuft(painting, foot, 0.5f * size); break;
    default: {
        struct point centre = {foot.x, foot.y - 0.4f * size};
        float width = size * dice_between(painting->dice, 0.9f, 1.8f);
        canvas_shadow(painting->canvas, foot, 0.6f * width, 0.2f * size, 0.45f);
        paint_leaves(painting, centre, width, size);
    }
    }
}
