/* Poses a synthetic animal: chooses its kind, proportions, joints and coat at random, and builds body and limbs of
 * cones. Start at animal_pose. */
#include "synth.h"

#include <math.h>

#include "base/base.h"

#define DEGREE 0.017453293f

struct range {
    float low, high;
};

/* Proportions in body lengths (hip to shoulder is 0.62), angles in degrees above the horizontal. */
struct species {
    struct range girth, leg_length, leg_radius, neck_length, neck_angle, head_length, ear, tail_length;
    struct range horn; /* length; at most 0: none */
    float tail_radius;
    bool hairy_tail, mane, hoofed;
    float roughness; /* of the outline */
    int patterns[3];
};

static const struct species all_species[] = {
    /* horse */
    {{.15f, .19f},
     {.58f, .70f},
     {.040f, .052f},
     {.34f, .46f},
     {-35, 60},
     {.27f, .32f},
     {.07f, .09f},
     {.42f, .6f},
     {0, 0},
     .055f,
     true,
     true,
     true,
     0,
     {PATTERN_PLAIN, PATTERN_PLAIN, PATTERN_PATCHES}},
    /* zebra */
    {{.16f, .19f},
     {.52f, .62f},
     {.038f, .046f},
     {.30f, .38f},
     {-30, 50},
     {.25f, .29f},
     {.07f, .09f},
     {.3f, .42f},
     {0, 0},
     .02f,
     false,
     true,
     true,
     0,
     {PATTERN_STRIPES, PATTERN_STRIPES, PATTERN_STRIPES}},
    /* cow */
    {{.20f, .25f},
     {.40f, .50f},
     {.045f, .058f},
     {.22f, .3f},
     {-30, 25},
     {.24f, .28f},
     {.08f, .1f},
     {.4f, .5f},
     {-.1f, .16f},
     .018f,
     false,
     false,
     true,
     0,
     {PATTERN_PATCHES, PATTERN_PATCHES, PATTERN_PLAIN}},
    /* sheep */
    {{.24f, .29f},
     {.28f, .36f},
     {.030f, .038f},
     {.16f, .22f},
     {-25, 45},
     {.20f, .24f},
     {.08f, .1f},
     {.1f, .16f},
     {-.1f, .1f},
     .04f,
     false,
     false,
     true,
     .025f,
     {PATTERN_WOOL, PATTERN_WOOL, PATTERN_WOOL}},
    /* deer */
    {{.13f, .17f},
     {.60f, .74f},
     {.026f, .034f},
     {.30f, .44f},
     {20, 70},
     {.20f, .24f},
     {.1f, .13f},
     {.08f, .14f},
     {-.2f, .34f},
     .035f,
     false,
     false,
     true,
     0,
     {PATTERN_PLAIN, PATTERN_SPOTS, PATTERN_SPOTS}},
    /* giraffe */
    {{.16f, .20f},
     {.78f, .94f},
     {.036f, .046f},
     {.85f, 1.1f},
     {35, 70},
     {.22f, .26f},
     {.07f, .09f},
     {.4f, .5f},
     {.05f, .08f},
     .016f,
     false,
     false,
     true,
     0,
     {PATTERN_RETICULATED, PATTERN_RETICULATED, PATTERN_RETICULATED}},
    /* dog */
    {{.14f, .19f},
     {.38f, .52f},
     {.036f, .048f},
     {.18f, .26f},
     {15, 65},
     {.26f, .3f},
     {.09f, .13f},
     {.3f, .5f},
     {0, 0},
     .03f,
     false,
     false,
     false,
     .006f,
     {PATTERN_PLAIN, PATTERN_PATCHES, PATTERN_SPOTS}},
};
#define N_SPECIES (sizeof all_species / sizeof *all_species)

static const uint32_t coats[] = {0x7a4a2a, 0x5a3520, 0x2c2420, 0xb48a5c, 0xd8c8a8, 0x8c8078, 0xe6e2d8,
                                 0xa0683c, 0x4a4440, 0xc4a070, 0x6e5a38, 0x988c6c, 0x746c4c, 0x3c3428,
                                 0xb8b0a0, 0x8a5a38, 0x6a7044, 0x8a8a50, 0x7e8890, 0xa8a878};

static float roll(struct dice *dice, struct range range)
{
    return dice_between(dice, range.low, range.high);
}

struct colour coat_colour(struct dice *dice)
{
    return colour_jitter(dice, colour_of(coats[dice_below(dice, sizeof coats / sizeof *coats)]), 0.15f);
}

/* The cone's axial_b follows from its length. */
static void add_cone(struct animal *animal, enum animal_part part, struct cone cone)
{
    if (animal->part[part].n == MAX_CONES)
        return;
    float x = cone.b.x - cone.a.x, y = cone.b.y - cone.a.y;
    cone.axial_b = cone.axial_a + sqrtf(x * x + y * y);
    animal->part[part].cones[animal->part[part].n++] = cone;
}

/* From `start`, `length` in the direction of `angle` above the horizontal. */
static struct point reach(struct point start, float length, float angle)
{
    return (struct point){start.x + length * portable_cosf(angle), start.y - length * portable_sinf(angle)};
}

struct leg {
    enum animal_part part;
    struct point top;
    bool is_hind;
    float length, radius;
    float swing; /* angle off the vertical, forwards positive */
    float bend;  /* folds the lower half backwards */
};

static void add_leg(struct animal *animal, const struct species *kind, const struct leg *leg)
{
    enum animal_part part = leg->part;
    struct point top = leg->top;
    float down = -90 * DEGREE, length = leg->length, radius = leg->radius, swing = leg->swing, bend = leg->bend;
    struct point joint, end;
    if (leg->is_hind) {
        struct point stifle = reach(top, 0.34f * length, down + swing + 18 * DEGREE);
        joint = reach(stifle, 0.30f * length, down + swing - 28 * DEGREE - bend);
        end = reach(joint, 0.38f * length, down + swing + 4 * DEGREE - 1.4f * bend);
        add_cone(animal, part, (struct cone){top, stifle, 2.6f * radius, 1.8f * radius, .axial_a = 0});
        add_cone(animal, part, (struct cone){stifle, joint, 1.8f * radius, radius, .axial_a = 0.34f * length});
    } else {
        joint = reach(top, 0.52f * length, down + swing);
        end = reach(joint, 0.48f * length, down + swing - bend);
        add_cone(animal, part, (struct cone){top, joint, 2.1f * radius, 1.05f * radius, .axial_a = 0});
    }
    add_cone(animal, part, (struct cone){joint, end, radius, 0.72f * radius, .axial_a = 0.6f * length});
    struct point toe = {end.x + 1.1f * radius, end.y + 0.1f * radius};
    if (kind->hoofed) {
        if (part == PART_BODY)
            add_cone(animal, PART_HORN, (struct cone){end, toe, 0.95f * radius, 0.75f * radius, .axial_a = 0});
        add_cone(animal, part, (struct cone){end, toe, 0.9f * radius, 0.7f * radius, .axial_a = length});
    } else {
        toe.x += 0.6f * radius;
        add_cone(animal, part, (struct cone){end, toe, 0.95f * radius, 0.75f * radius, .axial_a = length});
    }
}

static void add_legs(struct animal *animal, const struct species *kind, struct dice *dice, struct point shoulder,
                     float girth)
{
    float length = roll(dice, kind->leg_length), radius = roll(dice, kind->leg_radius);
    float stride = dice_chance(dice, 0.35f) ? dice_between(dice, 18, 34) : dice_between(dice, 2, 14);
    for (int leg = 0; leg < 4; leg++) {
        bool hind = leg & 1, far = leg >= 2;
        float swing = (hind != far ? -stride : stride) * dice_between(dice, 0.6f, 1.1f) * DEGREE;
        float bend = swing < 0 ? 1.3f * fabsf(swing) : 0.15f * swing;
        struct point top = {hind ? 0.0f : shoulder.x - 0.03f, 0.35f * girth};
        if (far)
            top.x += hind ? 0.06f : 0.05f;
        add_leg(animal, kind,
                &(struct leg){far ? PART_FAR_LEGS : PART_BODY, top, hind, length, far ? 0.92f * radius : radius, swing,
                              bend});
    }
}

static void add_mane(struct animal *animal, struct point base, struct point poll, float radius)
{
    /* Along the upper edge of the neck, whichever way the neck points. */
    float ex = poll.x - base.x, ey = poll.y - base.y, length = sqrtf(ex * ex + ey * ey) + 1e-6f;
    struct point up = {ey / length, -ex / length};
    struct point a = {base.x + 0.25f * ex + 0.95f * radius * up.x, base.y + 0.25f * ey + 0.95f * radius * up.y};
    struct point b = {poll.x + 0.55f * radius * up.x, poll.y + 0.55f * radius * up.y};
    add_cone(animal, PART_HAIR, (struct cone){a, b, 0.22f * radius, 0.34f * radius, .axial_a = 0});
}

static void add_head(struct animal *animal, const struct species *kind, struct dice *dice, struct point poll,
                     float neck_angle, float neck_radius)
{
    float length = roll(dice, kind->head_length), radius = 0.30f * length;
    float angle = neck_angle - dice_between(dice, 60, 95) * DEGREE;
    angle = fminf(angle, 5 * DEGREE);
    angle = fmaxf(angle, -80 * DEGREE);
    struct point muzzle = reach(poll, length, angle), cheek = reach(poll, 0.3f * length, angle);
    add_cone(animal, PART_BODY,
             (struct cone){poll, cheek, fmaxf(0.75f * radius, 0.6f * neck_radius), radius, .axial_a = 1.2f});
    add_cone(animal, PART_BODY, (struct cone){cheek, muzzle, 0.9f * radius, 0.48f * radius, .axial_a = 1.3f});

    float ear = roll(dice, kind->ear), back = angle + 115 * DEGREE;
    for (int i = 0; i < 2; i++) {
        struct point root = reach(poll, 0.55f * radius, back);
        root.x += 0.03f * (float)i;
        add_cone(animal, PART_BODY,
                 (struct cone){root, reach(root, ear, back + (float)i * 24 * DEGREE), 0.26f * ear, 0.08f * ear,
                               .axial_a = 1.5f});
    }
    float horn = roll(dice, kind->horn);
    for (int i = 0; i < 2 && horn > 0.03f; i++) {
        struct point root = reach(poll, 0.8f * radius, back - 25 * DEGREE);
        float direction = back - (25 + 40 * (float)i) * DEGREE;
        struct point middle = reach(root, 0.55f * horn, direction);
        add_cone(animal, PART_HORN,
                 (struct cone){root, middle, 0.014f + 0.05f * horn, 0.012f + 0.03f * horn, .axial_a = 0});
        add_cone(animal, PART_HORN,
                 (struct cone){middle, reach(middle, 0.5f * horn, direction + 40 * DEGREE), 0.012f + 0.03f * horn,
                               0.006f, .axial_a = 0});
    }
    struct point eye = reach(poll, 0.32f * length, angle + 22 * DEGREE);
    add_cone(animal, PART_EYE, (struct cone){eye, eye, 0.07f * length, 0.07f * length, .axial_a = 0});
}

static void add_tail(struct animal *animal, const struct species *kind, struct dice *dice, float rump)
{
    float length = roll(dice, kind->tail_length), lift = dice_between(dice, 0, 35) * DEGREE;
    enum animal_part part = kind->hairy_tail ? PART_HAIR : PART_BODY;
    struct point root = {-0.85f * rump, -0.55f * rump};
    struct point middle = reach(root, 0.4f * length, 215 * DEGREE - lift);
    struct point end = reach(middle, 0.6f * length, 262 * DEGREE - lift);
    add_cone(animal, part, (struct cone){root, middle, 0.6f * kind->tail_radius, kind->tail_radius, .axial_a = 0});
    add_cone(animal, part, (struct cone){middle, end, kind->tail_radius, 0.5f * kind->tail_radius, .axial_a = 0});
    if (!kind->hairy_tail && length > 0.28f && kind->hoofed)
        add_cone(
            animal, PART_HAIR,
            (struct cone){end, reach(end, 0.08f, 265 * DEGREE - lift), 1.6f * kind->tail_radius, 0.01f, .axial_a = 0});
}

static void choose_coat(struct animal *animal, const struct species *kind, struct dice *dice)
{
    struct material *coat = &animal->coat;
    *coat = (struct material){.pattern = kind->patterns[dice_below(dice, 3)], .roughness = kind->roughness};
    coat->base = coat_colour(dice);
    coat->second = coat_colour(dice);
    coat->grain = dice_between(dice, 0.08f, 0.16f);
    coat->belly = dice_between(dice, -0.2f, 0.25f);
    coat->flatness = dice_between(dice, 0, 0.2f);
    animal->hair = colour_scale(coat->base, dice_between(dice, 0.25f, 0.7f));
    animal->horn = colour_jitter(dice, colour_of(0x4a4238), 0.3f);
    switch (coat->pattern) {
    case PATTERN_STRIPES:
        coat->base = colour_jitter(dice, colour_of(0xe4ddcc), 0.1f);
        coat->second = colour_jitter(dice, colour_of(0x2a2522), 0.2f);
        animal->hair = coat->second;
        coat->scale = dice_between(dice, 0.07f, 0.11f);
        break;
    case PATTERN_SPOTS:
        coat->second = colour_mix(coat->base, colour_of(dice_chance(dice, 0.6f) ? 0xf0e8d8 : 0x201a16), 0.75f);
        coat->scale = dice_between(dice, 0.08f, 0.12f);
        break;
    case PATTERN_RETICULATED:
        coat->base = colour_jitter(dice, colour_of(0x8f5a2c), 0.2f);
        coat->second = colour_jitter(dice, colour_of(0xdcc8a0), 0.1f);
        coat->scale = dice_between(dice, 0.13f, 0.18f);
        break;
    case PATTERN_PATCHES:
        if (dice_chance(dice, 0.6f))
            coat->second = colour_jitter(dice, colour_of(0xeae4d8), 0.08f);
        coat->scale = dice_between(dice, 0.25f, 0.4f);
        break;
    case PATTERN_WOOL:
        coat->base = colour_jitter(dice, colour_of(dice_chance(dice, 0.75f) ? 0xe2dac6 : 0x5a4c40), 0.12f);
        coat->second = colour_scale(coat->base, 0.7f);
        coat->scale = dice_between(dice, 0.06f, 0.09f);
        break;
    default:
        coat->second = colour_scale(coat->base, dice_between(dice, 0.7f, 1.25f));
        coat->scale = dice_between(dice, 0.15f, 0.3f);
    }
}

static void measure(struct animal *animal)
{
    animal->low = (struct point){1e9f, 1e9f};
    animal->high = (struct point){-1e9f, -1e9f};
    for (int part = 0; part < N_PARTS; part++)
        for (size_t i = 0; i < animal->part[part].n; i++) {
            const struct cone *cone = &animal->part[part].cones[i];
            animal->low.x = fminf(animal->low.x, fminf(cone->a.x - cone->radius_a, cone->b.x - cone->radius_b));
            animal->low.y = fminf(animal->low.y, fminf(cone->a.y - cone->radius_a, cone->b.y - cone->radius_b));
            animal->high.x = fmaxf(animal->high.x, fmaxf(cone->a.x + cone->radius_a, cone->b.x + cone->radius_b));
            animal->high.y = fmaxf(animal->high.y, fmaxf(cone->a.y + cone->radius_a, cone->b.y + cone->radius_b));
        }
}

void animal_pose(struct animal *animal, struct dice *dice)
{
    const struct species *kind = &all_species[dice_below(dice, N_SPECIES)];
    *animal = (struct animal){.scale = 1};
    choose_coat(animal, kind, dice);

    float girth = roll(dice, kind->girth), rump = girth * dice_between(dice, 0.88f, 1.0f);
    struct point hip = {0, 0}, shoulder = {0.62f, dice_between(dice, -0.03f, 0.03f)};
    struct point belly = {0.32f, dice_between(dice, 0.0f, 0.05f)};
    add_cone(animal, PART_BODY, (struct cone){hip, belly, rump, 0.95f * girth, .axial_a = 0});
    add_cone(animal, PART_BODY, (struct cone){belly, shoulder, 0.95f * girth, girth, .axial_a = 0.32f});
    add_legs(animal, kind, dice, shoulder, girth);
    add_tail(animal, kind, dice, rump);

    float neck_angle = roll(dice, kind->neck_angle) * DEGREE, neck_length = roll(dice, kind->neck_length);
    float neck_radius = (0.42f + 0.1f * (neck_length < 0.5f)) * girth;
    struct point base = {shoulder.x + 0.35f * girth, shoulder.y - 0.35f * girth};
    struct point poll = reach(base, neck_length, neck_angle);
    add_cone(animal, PART_BODY, (struct cone){base, poll, 1.3f * neck_radius, 0.6f * neck_radius, .axial_a = 0.75f});
    add_head(animal, kind, dice, poll, neck_angle, neck_radius);
    if (kind->mane)
        add_mane(animal, base, poll, neck_radius);
    measure(animal);
}

void animal_place(struct animal *animal, bool flip, float turn, float scale, struct point origin)
{
    float c = scale * portable_cosf(turn), s = scale * portable_sinf(turn), sign = flip ? -1.0f : 1.0f;
    for (int part = 0; part < N_PARTS; part++)
        for (size_t i = 0; i < animal->part[part].n; i++) {
            struct cone *cone = &animal->part[part].cones[i];
            struct point *ends[2] = {&cone->a, &cone->b};
            for (int e = 0; e < 2; e++) {
                float x = sign * ends[e]->x, y = ends[e]->y;
                *ends[e] = (struct point){origin.x + c * x - s * y, origin.y + s * x + c * y};
            }
            cone->radius_a *= scale;
            cone->radius_b *= scale;
            cone->axial_a *= scale;
            cone->axial_b *= scale;
        }
    animal->scale *= scale;
    animal->coat.scale *= scale;
    animal->coat.roughness *= scale;
    animal->coat.origin = origin;
    measure(animal);
}
