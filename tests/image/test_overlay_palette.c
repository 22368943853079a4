/* Colours that colour-blind eyes distinguish. */
#include <string.h>

#include "image/image.h"
#include "support/support.h"

TEST(labels_that_colour_blind_eyes_confuse_get_other_shades)
{
    static const uint8_t red_and_green[256][3] = {[1] = {150, 60, 20}, [2] = {90, 90, 20}, [3] = {30, 60, 200}};
    uint8_t made[256][3];
    ck_assert_double_lt(overlay_palette_distance(red_and_green[1], red_and_green[2]), 20);
    overlay_palette(made, red_and_green, 4);
    ck_assert_mem_eq(made[0], red_and_green[0], 3);
    ck_assert_mem_eq(made[1], red_and_green[1], 3);
    for (int a = 1; a < 4; a++)
        for (int b = 1; b < a; b++)
            ck_assert_double_ge(overlay_palette_distance(made[a], made[b]), 60);
    ck_assert(memcmp(made[3], red_and_green[3], 3) == 0); /* was far enough */
}

TEST(the_usual_labels_are_distinguished)
{
    uint8_t palette[256][3], made[256][3];
    clv_default_palette(palette);
    overlay_palette(made, (const uint8_t(*)[3])palette, 7);
    for (int a = 1; a < 7; a++)
        for (int b = 1; b < a; b++)
            ck_assert_msg(overlay_palette_distance(made[a], made[b]) >= 40, "%d and %d: %g", a, b,
                          overlay_palette_distance(made[a], made[b]));
}
