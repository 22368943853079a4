#include "cli/score/score_counts.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

#define MOST_COUNTED ((uint64_t)1 << 40) /* of an image, far above any limit of pixels: sums can't overflow */

char *score_counts_text(const struct clv_confusion *confusion)
{
    struct text text;
    size_t n = (size_t)confusion->n_labels;
    text_init(&text, (size_t)1 << 24);
    text_put(&text, "");
    for (size_t truth = 0; truth < n; truth++)
        for (size_t prediction = 0; prediction <= n; prediction++) {
            uint64_t count = confusion->counts[truth * (n + 1) + prediction];
            if (count)
                text_printf(&text, "%s%zu:%zu:%" PRIu64, text.size ? " " : "", truth, prediction, count);
        }
    char *counts = text.failed ? NULL : string_copy(text.size ? text.bytes : "");
    text_release(&text);
    return counts;
}

/* Reads digits and the character `end` after them (0: a space or the end); false if there are none, or more than 15. */
static bool take_number(uint64_t *value, const char **cursor, char end)
{
    const char *c = *cursor;
    *value = 0;
    for (; *c >= '0' && *c <= '9' && c - *cursor < 15; c++)
        *value = 10 * *value + (uint64_t)(*c - '0');
    bool is_ended = end ? *c == end : !*c || *c == ' ';
    if (c == *cursor || !is_ended)
        return false;
    *cursor = c + (*c != 0);
    return true;
}

enum clv_status score_counts_read(struct clv_confusion *confusion, const char *field, const char *path, size_t line,
                                  struct clv_error *err)
{
    size_t n = (size_t)confusion->n_labels;
    clv_confusion_clear(confusion);
    for (const char *cursor = field; *cursor;) {
        const char *entry = cursor;
        uint64_t truth, prediction, count;
        if (!take_number(&truth, &cursor, ':') || !take_number(&prediction, &cursor, ':') ||
            !take_number(&count, &cursor, 0) || truth >= n || prediction > n || count > MOST_COUNTED)
            return fail(err, CLV_ERR_DATA, "%s:%zu: \"%.60s\" is no count of %zu labels", path, line, entry, n);
        confusion->counts[truth * (n + 1) + prediction] = count;
    }
    return CLV_OK;
}
