/* The band around borders against its definition, pixel by pixel. */
#include <string.h>

#include "base/base.h"
#include "score/score.h"
#include "support/support.h"

enum { WIDTH = 11, HEIGHT = 9, N = WIDTH * HEIGHT };

static bool sees_two(const uint8_t *labels, int x, int y, int radius)
{
    int seen = -1;
    for (int v = y - radius; v <= y + radius; v++)
        for (int u = x - radius; u <= x + radius; u++) {
            if (u < 0 || v < 0 || u >= WIDTH || v >= HEIGHT || labels[v * WIDTH + u] == CLV_VOID)
                continue;
            if (seen >= 0 && seen != labels[v * WIDTH + u])
                return true;
            seen = labels[v * WIDTH + u];
        }
    return false;
}

TEST(pixels_stay_that_see_two_labels_within_the_radius)
{
    int n_kept = 0, n_void = 0;
    for (uint64_t t = 0; t < 120; t++) {
        uint8_t before[N], labels[N];
        int radius = 1 + (int)(t % 4);
        memset(before, t % 3 ? 0 : 2, sizeof before);
        for (uint64_t k = 0; k < 1 + t % 3; k++) /* a few pixels that differ */
            before[rng_below(t, RNG_TEST, 2 * k, N)] = rng_below(t, RNG_TEST, 2 * k + 1, 3) ? 1 : CLV_VOID;
        memcpy(labels, before, sizeof labels);
        struct clv_mask mask = {.width = WIDTH, .height = HEIGHT, .labels = labels};
        must(band_keep(&mask, radius, err));
        for (int p = 0; p < N; p++) {
            uint8_t wanted = sees_two(before, p % WIDTH, p / WIDTH, radius) ? before[p] : CLV_VOID;
            ck_assert_msg(labels[p] == wanted, "mask %d, radius %d, pixel %d: %d", (int)t, radius, p, labels[p]);
            n_kept += wanted != CLV_VOID;
            n_void += wanted == CLV_VOID;
        }
    }
    ck_assert(n_kept > 500 && n_void > 500);
}
