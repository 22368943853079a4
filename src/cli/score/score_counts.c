#include "cli/score/score_counts.h"

#include <inttypes.h>
#include <stdio.h>

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

enum clv_status score_counts_read(struct clv_confusion *confusion, const char *field, const char *path, size_t line,
                                  struct clv_error *err)
{
    size_t n = (size_t)confusion->n_labels;
    clv_confusion_clear(confusion);
    for (const char *cursor = field; *cursor;) {
        unsigned truth, prediction;
        uint64_t count;
        int used = 0;
        if (sscanf(cursor, "%5u:%5u:%15" SCNu64 "%n", &truth, &prediction, &count, &used) != 3 || truth >= n ||
            prediction > n || count > MOST_COUNTED || (cursor[used] && cursor[used] != ' '))
            return fail(err, CLV_ERR_DATA, "%s:%zu: \"%.60s\" is no count of %zu labels", path, line, cursor, n);
        confusion->counts[truth * (n + 1) + prediction] = count;
        cursor += used + (cursor[used] == ' ');
    }
    return CLV_OK;
}
