/* Decodes Label Studio's brush, run lengths of bits in the format of the package rle-pack of thi.ng/umbrella:
 *
 *     32 bits  the number of words: 4 per pixel, red, green, blue and alpha
 *      5 bits  the bits per word - 1
 *   4 x 4 bits  the four sizes of counts, in bits, - 1
 *  and then chunks, until all words are complete:
 *      1 bit   1: one word is repeated; 0: words are listed
 *      2 bits  index of the size of the count
 *      N bits  the count - 1
 *      words   one word, or `count` words
 *
 * The highest bit of each byte comes first. A pixel is inside if its alpha is at least half of the largest. */
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"

struct bits {
    const uint8_t *bytes;
    size_t n, at; /* both in bits */
};

/* Reads the next `count` <= 32 bits; false if fewer remain. */
static bool take_bits(uint32_t *value, struct bits *bits, int count)
{
    uint64_t taken = 0;
    if (bits->n - bits->at < (size_t)count)
        return false;
    for (int left = count; left > 0;) {
        int within = (int)(bits->at % 8), n = 8 - within < left ? 8 - within : left;
        uint32_t byte = bits->bytes[bits->at / 8];
        taken = taken << n | (byte >> (8 - within - n) & ((1u << n) - 1));
        bits->at += (size_t)n;
        left -= n;
    }
    *value = (uint32_t)taken;
    return true;
}

/* Sets words first..end - 1 of the picture; only the fourth word of each pixel, its alpha, matters. */
static void put_words(uint8_t *inside, uint64_t first, uint64_t end, bool is_opaque)
{
    uint64_t pixel = first / 4, end_pixel = end / 4; /* pixels whose fourth word is in the range */
    if (pixel < end_pixel)
        memset(inside + pixel, is_opaque, (size_t)(end_pixel - pixel));
}

enum clv_status brush_decode(uint8_t *inside, int32_t width, int32_t height, const uint8_t *bytes, size_t n,
                             struct clv_error *err)
{
    struct bits bits = {bytes, 8 * n, 0};
    uint32_t n_words = 0, word_bits = 0, sizes[4], word;
    const uint64_t wanted = 4 * (uint64_t)width * (uint64_t)height;
    bool is_whole = take_bits(&n_words, &bits, 32) && take_bits(&word_bits, &bits, 5);
    for (int k = 0; k < 4; k++)
        is_whole = is_whole && take_bits(&sizes[k], &bits, 4);
    FAIL_IF(!is_whole, CLV_ERR_DATA, "brush of %zu bytes, which is less than its beginning", n);
    FAIL_IF(n_words != wanted, CLV_ERR_DATA, "brush of %u words, not 4 for each pixel of %dx%d", (unsigned)n_words,
            width, height);
    const uint32_t half = (uint32_t)1 << word_bits; /* 2^(bits - 1), bits = word_bits + 1 */
    for (uint64_t at = 0, end; at < wanted; at = end) {
        uint32_t is_run, size, count;
        FAIL_IF(!take_bits(&is_run, &bits, 1) || !take_bits(&size, &bits, 2) ||
                    !take_bits(&count, &bits, (int)sizes[size] + 1) || count >= wanted - at,
                CLV_ERR_DATA, "brush is damaged at bit %zu", bits.at);
        end = at + count + 1;
        for (uint64_t k = at; k < end; k = is_run ? end : k + 1) {
            FAIL_IF(!take_bits(&word, &bits, (int)word_bits + 1), CLV_ERR_DATA, "brush ends at word %llu of %llu",
                    (unsigned long long)k, (unsigned long long)wanted);
            put_words(inside, k, is_run ? end : k + 1, word >= half);
        }
    }
    return CLV_OK;
}
