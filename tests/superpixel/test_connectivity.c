/* Making regions 4-connected, against pieces found by flooding. */
#include "superpixel/superpixel.h"

#include "superpixel/partition.h"

/* labels[height][width] from digits. */
static int32_t *drawn(const char *digits)
{
    size_t n = strlen(digits);
    int32_t *labels = malloc(n * sizeof *labels);
    for (size_t i = 0; i < n; i++)
        labels[i] = digits[i] - '0';
    return labels;
}

static void check_drawn(const char *before, const char *after, int32_t width)
{
    OWNED_ARRAY int32_t *labels = drawn(before), *expected = drawn(after);
    int32_t n, height = (int32_t)strlen(before) / width;
    must(regions_connect(labels, &n, width, height, 10, err));
    ck_assert_mem_eq(labels, expected, strlen(before) * sizeof *labels);
}

TEST(a_fragment_joins_the_region_it_shares_most_border_with)
{
    check_drawn("11122"
                "13122" /* 3 is a region of its own */
                "11122",
                "00011"
                "02011"
                "00011",
                5);
    check_drawn("111222"
                "111212" /* the 1 on the right touches 2 on all sides */
                "111222",
                "000111"
                "000111"
                "000111",
                6);
    check_drawn("1111"
                "2122" /* the 2 on the left: two sides 1, the frame on the third */
                "1122",
                "0000"
                "0011"
                "0011",
                4);
}

/* Border is counted in pixels, not in places where pieces meet. */
TEST(one_long_border_outweighs_many_short_ones)
{
    check_drawn("2333332" /* 3 meets 1 along five pixels at once, 2 in two places of one pixel each */
                "2111112"
                "2222222"
                "3333333",
                "0111110"
                "0111110"
                "0000000"
                "2222222",
                7);
}

/* Fails unless the piece, all of whose neighbours are regions, became the one that it shares most pixel pairs with, the
 * lower label among equals; returns whether it is such a piece. */
static bool check_joined(int32_t piece, const int32_t *old, const int32_t *pieces, const int32_t *labels,
                         const int32_t *region_of, int32_t width, int32_t height)
{
    int32_t shared[32] = {0}, best = 0, became = -1;
    for (int32_t i = 0; i < width * height; i++)
        for (int d = 0; pieces[i] == piece && d < 4; d++) {
            int32_t u = i % width + (d == 0) - (d == 1), v = i / width + (d == 2) - (d == 3), j = v * width + u;
            became = labels[i];
            if (u < 0 || v < 0 || u >= width || v >= height || pieces[j] == piece)
                continue;
            if (region_of[old[j]] != pieces[j])
                return false;
            shared[old[j]]++;
        }
    for (int32_t label = 1; label < 32; label++)
        best = shared[label] > shared[best] ? label : best;
    for (int32_t i = 0; i < width * height; i++)
        if (pieces[i] == region_of[best])
            ck_assert_int_eq(became, labels[i]);
    return true;
}

TEST(a_fragment_within_fragments_follows_those_around_it)
{
    check_drawn("3333333"
                "3222223"
                "3211123" /* the region 1 and 2 ... */
                "3211123"
                "3222223"
                "3333333"
                "1111222" /* ... are here, larger in the one case only */
                "1111222"
                "1111222"
                "1111222"
                "1111222"
                "1111222",
                "0000000"
                "0000000"
                "0000000"
                "0000000"
                "0000000"
                "0000000"
                "1111222"
                "1111222"
                "1111222"
                "1111222"
                "1111222"
                "1111222",
                7);
}

TEST(the_largest_piece_of_each_label_stays)
{
    int n_joined = 0;
    for (uint64_t round = 0; round < 60; round++) {
        int32_t width = 1 + (int32_t)rng_below(3, RNG_TEST, 2 * round, 40),
                height = 1 + (int32_t)rng_below(3, RNG_TEST, 2 * round + 1, 40);
        int32_t n_labels = 1 + (int32_t)(round % 7) * 3, n_pixels = width * height, n_regions;
        OWNED_ARRAY int32_t *labels = random_labels(width, height, n_labels, 1 + (int32_t)(round % 3), round);
        OWNED_ARRAY int32_t *old = malloc((size_t)n_pixels * sizeof *old),
                            *pieces = malloc((size_t)n_pixels * sizeof *pieces);
        memcpy(old, labels, (size_t)n_pixels * sizeof *old);
        int32_t n_pieces = flood_pieces(pieces, old, width, height);
        OWNED_ARRAY int32_t *size = calloc((size_t)n_pieces, sizeof *size);
        for (int32_t i = 0; i < n_pixels; i++)
            size[pieces[i]]++;

        must(regions_connect(labels, &n_regions, width, height, n_labels, err));
        check_partition(&(struct clv_superpixels){width, height, n_regions, labels}, width, height);

        /* Each label's first largest piece, and the region it has become: all different, and no other regions. */
        int32_t used = 0, region_of[32]; /* label -> piece */
        memset(region_of, 0xff, sizeof region_of);
        OWNED_ARRAY char *taken = calloc((size_t)n_regions, 1);
        for (int32_t label = 0; label < n_labels; label++) {
            int32_t best = -1;
            for (int32_t i = 0; i < n_pixels; i++)
                if (old[i] == label && (best < 0 || size[pieces[i]] > size[pieces[best]]))
                    best = i;
            if (best < 0)
                continue;
            used++;
            region_of[label] = pieces[best];
            ck_assert(!taken[labels[best]]);
            taken[labels[best]] = 1;
            for (int32_t i = 0; i < n_pixels; i++)
                if (pieces[i] == pieces[best])
                    ck_assert_int_eq(labels[i], labels[best]);
        }
        ck_assert_int_eq(n_regions, used);
        for (int32_t p = 0; p < n_pieces; p++) {
            bool is_region = false;
            for (int32_t label = 0; label < n_labels; label++)
                is_region |= region_of[label] == p;
            n_joined += !is_region && check_joined(p, old, pieces, labels, region_of, width, height);
        }
    }
    ck_assert_int_gt(n_joined, 10);
}

/* Pixel pairs between piece p and what belongs to each label. */
static void measure_borders(int32_t *length, int32_t n_labels, int32_t p, const int32_t *pieces, const int32_t *owner,
                            int32_t width, int32_t height)
{
    memset(length, 0, (size_t)n_labels * sizeof *length);
    for (int32_t i = 0; i < width * height; i++) {
        const int32_t next[4] = {i % width ? i - 1 : i, i % width + 1 < width ? i + 1 : i, i >= width ? i - width : i,
                                 i + width < width * height ? i + width : i};
        for (int k = 0; k < 4 && pieces[i] == p; k++)
            if (pieces[next[k]] != p && owner[pieces[next[k]]] >= 0)
                length[owner[pieces[next[k]]]]++;
    }
}

/* Pixel by pixel: loose pieces one after the other, in raster order, go to the label that they share the longest border
 * with, the lowest of equals. Only maps in which all of them touch one that stays. */
TEST(loose_pieces_go_by_length_of_border_in_their_order)
{
    enum { MOST = 20 * 16, LABELS = 6 };
    int n_maps = 0, n_joined = 0;
    for (uint64_t round = 0; round < 400; round++) {
        int32_t width = 4 + (int32_t)(round % 17), height = 3 + (int32_t)(round % 14), n = width * height, n_regions;
        int32_t n_labels = 2 + (int32_t)(round % (LABELS - 1)), pieces[MOST], owner[MOST], size[MOST] = {0},
                length[LABELS];
        OWNED_ARRAY int32_t *labels = random_labels(width, height, n_labels, 1 + (int32_t)(round % 3), 7000 + round);
        int32_t n_pieces = flood_pieces(pieces, labels, width, height), best[LABELS], first[MOST], order[MOST];
        bool all_touch = true;
        memset(best, 0xff, sizeof best);
        memset(first, 0xff, sizeof first);
        for (int32_t i = 0; i < n; i++)
            size[pieces[i]]++;
        for (int32_t i = 0, at = 0; i < n; i++) {
            int32_t *stays = &best[labels[i]], p = pieces[i];
            if (first[p] < 0)
                order[at++] = p;
            first[p] = first[p] < 0 ? i : first[p];
            *stays = *stays < 0 || size[p] > size[*stays] ? p : *stays;
        }
        for (int32_t p = 0; p < n_pieces; p++)
            owner[p] = best[labels[first[p]]] == p ? labels[first[p]] : -1;
        for (int32_t p = 0; p < n_pieces; p++) {
            int64_t sum = owner[p] >= 0;
            measure_borders(length, n_labels, p, pieces, owner, width, height);
            for (int32_t l = 0; l < n_labels; l++)
                sum += length[l];
            all_touch &= sum > 0;
        }
        for (int32_t k = 0; k < n_pieces && all_touch; k++) {
            int32_t p = order[k], longest = 0;
            if (owner[p] >= 0)
                continue;
            measure_borders(length, n_labels, p, pieces, owner, width, height);
            for (int32_t l = 1; l < n_labels; l++)
                longest = length[l] > length[longest] ? l : longest;
            owner[p] = longest;
            n_joined++;
        }
        int32_t number[LABELS], n_numbers = 0;
        memset(number, 0xff, sizeof number);
        must(regions_connect(labels, &n_regions, width, height, n_labels, err));
        for (int32_t i = 0; i < n && all_touch; i++) {
            int32_t *of = &number[owner[pieces[i]]];
            *of = *of < 0 ? n_numbers++ : *of;
            ck_assert_msg(labels[i] == *of, "map %d: pixel %d is %d of %d", (int)round, i, labels[i], *of);
        }
        n_maps += all_touch;
    }
    ck_assert_int_gt(n_maps, 100);
    ck_assert_int_gt(n_joined, 200);
}

TEST(a_spiral_and_a_chessboard_are_handled)
{
    enum { SIDE = 201 };
    OWNED_ARRAY int32_t *labels = calloc(SIDE * SIDE, sizeof *labels);
    int32_t n, x = 0, y = 0, dx = 1, dy = 0;
    for (int32_t step = SIDE - 1, turn = 0; step > 0; turn++) { /* a one-pixel path winding inwards, one pixel apart */
        for (int32_t i = 0; i < step; i++, x += dx, y += dy)
            labels[y * SIDE + x] = 1;
        int32_t old = dx;
        dx = -dy;
        dy = old;
        if (turn >= 2 && turn % 2 == 0)
            step -= 2;
    }
    must(regions_connect(labels, &n, SIDE, SIDE, 2, err));
    ck_assert_int_eq(n, 2);
    check_partition(&(struct clv_superpixels){SIDE, SIDE, n, labels}, SIDE, SIDE);
    for (int32_t i = 0; i < SIDE * SIDE; i++)
        labels[i] = (i / SIDE + i % SIDE) % 2;
    must(regions_connect(labels, &n, SIDE, SIDE, 2, err));
    ck_assert_int_eq(n, 2);
    check_partition(&(struct clv_superpixels){SIDE, SIDE, n, labels}, SIDE, SIDE);
}
