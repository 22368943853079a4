/* Label Studio's brushes: bits of rle-pack, written here as the format is defined. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "support/images.h"
#include "support/support.h"

enum { WIDTH = 7, HEIGHT = 5, N_PIXELS = WIDTH * HEIGHT, N_WORDS = 4 * N_PIXELS };

struct bits {
    uint8_t bytes[4096];
    size_t n;
};

static void put_bits(struct bits *bits, uint32_t value, int count)
{
    for (int k = count - 1; k >= 0; k--, bits->n++)
        bits->bytes[bits->n / 8] |= (uint8_t)((value >> k & 1) << (7 - bits->n % 8));
}

/* A brush whose words have `word_bits` bits. Equal words are runs, others are lists; both end at random words, also
 * within a pixel. */
static void pack(struct bits *bits, const uint32_t words[N_WORDS], int word_bits, uint32_t *state)
{
    static const int sizes[4] = {3, 4, 8, 16};
    *bits = (struct bits){0};
    put_bits(bits, N_WORDS, 32);
    put_bits(bits, (uint32_t)word_bits - 1, 5);
    for (int k = 0; k < 4; k++)
        put_bits(bits, (uint32_t)sizes[k] - 1, 4);
    for (size_t at = 0, end; at < N_WORDS; at = end) {
        const bool is_run = at + 1 < N_WORDS && words[at] == words[at + 1];
        const size_t most = 1 + noise(state) % 30;
        for (end = at + 1; end < N_WORDS && end - at < most && (!is_run || words[end] == words[at]);)
            end++;
        uint32_t size = noise(state) % 4;
        while ((end - at - 1) >> sizes[size])
            size++;
        put_bits(bits, is_run, 1);
        put_bits(bits, size, 2);
        put_bits(bits, (uint32_t)(end - at - 1), sizes[size]);
        for (size_t k = at; k < (is_run ? at + 1 : end); k++)
            put_bits(bits, words[k], word_bits);
    }
}

TEST(a_pixel_is_inside_a_brush_if_its_alpha_is_at_least_half_of_the_largest)
{
    uint32_t state = 7;
    for (int round = 0; round < 60; round++) {
        static const int widths[] = {1, 5, 8, 16, 32};
        const int word_bits = widths[round % 5];
        const uint32_t half = (uint32_t)1 << (word_bits - 1);
        uint32_t words[N_WORDS];
        for (int k = 0; k < N_WORDS; k++) {
            const uint32_t drawn[] = {0, half - 1, half, 2 * half - 1};
            words[k] = k && noise(&state) % 4 ? words[k - 1] : drawn[noise(&state) % 4];
        }
        struct bits bits;
        uint8_t inside[N_PIXELS + 1];
        pack(&bits, words, word_bits, &state);
        memset(inside, 9, sizeof inside);
        must(brush_decode(inside, WIDTH, HEIGHT, bits.bytes, (bits.n + 7) / 8, err));
        for (int p = 0; p < N_PIXELS; p++)
            ck_assert_msg(inside[p] == (words[4 * p + 3] >= half), "round %d: pixel %d of alpha %u is %d", round, p,
                          (unsigned)words[4 * p + 3], inside[p]);
        ck_assert_int_eq(inside[N_PIXELS], 9);
        must_fail(CLV_ERR_DATA, "brush", brush_decode(inside, WIDTH, HEIGHT, bits.bytes, (bits.n - 1) / 8, err));
    }
}

/* 2 x 1 pixels: words of 8 bits, counts of 4 bits; one run of 4 words 0xff and four words, the last of them 0x7f. */
TEST(damaged_brushes_are_refused_and_nothing_is_written_beyond_the_picture)
{
    static const uint8_t good[] = {0, 0, 0, 8, 0x39, 0x9c, 0xe7, 0x99, 0xff, 0xf0, 0, 0, 0};
    uint8_t inside[3] = {0, 0, 9};
    for (size_t n = 0; n < 8; n++)
        must_fail(CLV_ERR_DATA, "brush", brush_decode(inside, 2, 1, good, n, err));
    must_fail(CLV_ERR_DATA, "brush of 8 words, not 4 for each pixel of 1x1", brush_decode(inside, 1, 1, good, 13, err));
    ck_assert_int_eq(inside[2], 9);
}
