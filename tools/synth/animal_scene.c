/* Composes one synthetic image: ground, distractors and the animal, then light, tint and sensor noise, and the
 * labels. Start at synth_scene_draw. */
#include "synth.h"

#include <math.h>

#include "base/base.h"

/* Where the animal stands and how large: its bounding box fills 35 to 78 % of the frame along the tighter side, and
 * is inside it, except for one image in four, where the frame may cut it. */
static struct point place_animal(struct animal *animal, struct dice *dice, int32_t width, int32_t height)
{
    bool flip = dice_chance(dice, 0.5f);
    float turn = dice_between(dice, -0.08f, 0.08f), share = dice_between(dice, 0.35f, 0.78f);
    animal_place(animal, flip, turn, 1, (struct point){0, 0});
    float fit =
        fminf((float)width / (animal->high.x - animal->low.x), (float)height / (animal->high.y - animal->low.y));
    animal_place(animal, false, 0, share * fit, (struct point){0, 0});
    float free_x = (float)width - (animal->high.x - animal->low.x),
          free_y = (float)height - (animal->high.y - animal->low.y);
    float overhang = dice_chance(dice, 0.3f) ? 0.3f * share : 0;
    struct point origin;
    origin.x = free_x * dice_between(dice, 0.04f - overhang, 0.96f + overhang) - animal->low.x;
    origin.y = free_y * dice_between(dice, 0.08f, 0.96f + overhang) - animal->low.y;
    animal_place(animal, false, 0, 1, origin);
    return (struct point){0.5f * (animal->low.x + animal->high.x), animal->high.y};
}

static void paint_animal(struct canvas *canvas, struct field *field, const struct animal *animal)
{
    float scale = animal->scale;
    struct material coat = animal->coat;
    struct material hair = {.pattern = PATTERN_BARK,
                            .base = animal->hair,
                            .second = colour_scale(animal->hair, 0.7f),
                            .scale = 0.05f * scale,
                            .grain = 0.15f,
                            .roughness = 0.012f * scale,
                            .flatness = 0.2f};
    struct material horn = {.base = animal->horn, .second = animal->horn, .scale = scale, .grain = 0.1f};
    struct material eye = {
        .base = {0.06f, 0.05f, 0.05f}, .second = {0.06f, 0.05f, 0.05f}, .scale = scale, .flatness = 0.8f};
    struct material far = coat;
    far.base = colour_scale(far.base, 0.68f);
    far.second = colour_scale(far.second, 0.68f);
    const struct material *materials[N_PARTS] = {&far, &coat, &hair, &horn, &eye};
    static const float blends[N_PARTS] = {0.05f, 0.07f, 0.03f, 0.01f, 0};
    for (int part = 0; part < N_PARTS; part++) {
        if (!animal->part[part].n)
            continue;
        field_union(field, animal->part[part].cones, animal->part[part].n, blends[part] * scale,
                    materials[part]->roughness + 1);
        canvas_paint(canvas, field, materials[part], true);
    }
}

/* Things next to and behind the animal, and a few small ones before it. */
static void paint_distractors(const struct painting *painting, float from_y, float to_y, bool before)
{
    struct dice *dice = painting->dice;
    int n = before ? dice_below(dice, 4) : 1 + dice_below(dice, 6);
    float height = (float)painting->canvas->height, rest = height - painting->horizon;
    for (int i = 0; i < n; i++) {
        enum distractor kind = (enum distractor)(before ? (dice_chance(dice, 0.7f) ? DISTRACTOR_TUFT : DISTRACTOR_STONE)
                                                        : dice_below(dice, N_DISTRACTORS));
        /* Sorted from far to near by construction: each stands in its own slice of the ground. */
        float slice = (to_y - from_y) / (float)n;
        struct point foot;
        foot.x = dice_between(dice, -0.05f, 1.05f) * (float)painting->canvas->width;
        foot.y = from_y + slice * ((float)i + dice_between(dice, 0, 1));
        float depth = fmaxf(foot.y - painting->horizon, 0) / rest;
        float size =
            height * dice_between(dice, before ? 0.05f : 0.1f, before ? 0.12f : 0.32f) * (0.35f + 0.8f * depth);
        distractor_paint(painting, kind, foot, size);
    }
}

/* A gradient of light over the frame, a tint, and sensor noise; then 8 bits. */
static void develop(struct clv_image *image, uint8_t *figure, const struct canvas *canvas, struct dice *dice)
{
    float across = dice_between(dice, -0.16f, 0.16f), down = dice_between(dice, -0.12f, 0.12f);
    float exposure = dice_between(dice, 0.85f, 1.12f), warmth = dice_between(dice, -0.05f, 0.05f);
    float grain = dice_between(dice, 0.004f, 0.02f);
    struct dice sensor = {dice->seed, dice->stream, (uint64_t)1 << 40};
    for (int32_t y = 0; y < canvas->height; y++)
        for (int32_t x = 0; x < canvas->width; x += 4) {
            struct rng_block block = rng_at(sensor.seed, sensor.stream, sensor.index++);
            for (int32_t k = 0; k < 4 && x + k < canvas->width; k++) {
                size_t i = (size_t)y * (size_t)canvas->width + (size_t)(x + k);
                float px = (float)(x + k) / (float)canvas->width - 0.5f, py = (float)y / (float)canvas->height - 0.5f;
                /* The sum of four bytes is close enough to a normal deviate. */
                uint32_t w = block.word[k];
                float noise =
                    grain * (float)((int)((w & 255) + (w >> 8 & 255) + (w >> 16 & 255) + (w >> 24)) - 510) / 148;
                struct colour colour = colour_scale(canvas->colour[i], exposure * (1 + across * px + down * py));
                float channel[3] = {colour.red * (1 + warmth), colour.green, colour.blue * (1 - warmth)};
                for (int c = 0; c < 3; c++) {
                    float value = 255 * (channel[c] + noise) + 0.5f;
                    image->pixels[3 * i + (size_t)c] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
                }
                figure[i] = canvas->figure[i] >= 0.5f;
            }
        }
}

static void compose(struct canvas *canvas, struct field *field, struct dice *dice)
{
    struct animal animal;
    animal_pose(&animal, dice);
    struct point feet = place_animal(&animal, dice, canvas->width, canvas->height);
    float height = (float)canvas->height, scale = animal.scale;
    float horizon = fminf(dice_between(dice, -0.15f, 0.6f) * height, feet.y - 0.12f * height);
    float azimuth = dice_between(dice, -1.2f, 1.2f);
    canvas->light.x = 0.75f * portable_sinf(azimuth);
    canvas->light.y = -0.62f;
    canvas->light.z = sqrtf(1 - canvas->light.x * canvas->light.x - canvas->light.y * canvas->light.y);

    struct colour lure = colour_mix(animal.coat.base, animal.coat.second, dice_between(dice, 0, 0.5f));
    const struct painting painting = {canvas, field, dice, horizon, lure};
    ground_paint(canvas, dice, horizon, lure);
    float skyline = fmaxf(horizon, 0) + 0.03f * height;
    paint_distractors(&painting, skyline, feet.y - 0.04f * height, false);
    canvas_shadow(canvas, (struct point){feet.x + 0.1f * scale * -canvas->light.x, feet.y - 0.03f * scale},
                  0.55f * (animal.high.x - animal.low.x), 0.1f * scale, 0.55f);
    paint_animal(canvas, field, &animal);
    paint_distractors(&painting, feet.y + 0.02f * height, fmaxf(feet.y + 0.08f * height, height), true);
}

enum clv_status synth_scene_draw(struct clv_image *image, uint8_t **figure, const struct synth_request *request,
                                 struct clv_error *err)
{
    const int32_t width = request->width, height = request->height;
    struct dice dice = {request->seed, RNG_STREAM(RNG_SYNTH, request->number), 0};
    OWNED(canvas_release) struct canvas canvas = {0};
    OWNED(field_release) struct field field = {0};
    struct noise noise;
    OWNED_ARRAY uint8_t *labels = array_alloc((size_t)width * (size_t)height, 1);
    OWNED(clv_image_release) struct clv_image drawn = {0};
    NEED(labels);
    MUST(canvas_init(&canvas, width, height, err));
    MUST(field_init(&field, width, height, err));
    MUST(clv_image_new(&drawn, width, height, 3, err));

    noise_init(&noise, &dice);
    canvas.noise = &noise;
    compose(&canvas, &field, &dice);
    develop(&drawn, labels, &canvas, &dice);
    *image = TAKE(drawn);
    *figure = TAKE(labels);
    return CLV_OK;
}
