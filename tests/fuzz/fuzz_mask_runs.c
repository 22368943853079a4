#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "fuzz/fuzz.h"
#include "masks/masks.h"

enum { WIDTH = 7, HEIGHT = 5 };

static char *terminated(const uint8_t *data, size_t size)
{
    char *bytes = array_alloc(size + 1, 1);
    if (bytes && size)
        memcpy(bytes, data, size);
    return bytes;
}

/* Any bytes give rows whose runs go up, or one line of error; drawing stays inside. */
static void check_runs(const uint8_t *data, size_t size)
{
    struct clv_error error = {0};
    OWNED(mask_runs_release) struct mask_runs runs = {0};
    char *bytes = terminated(data, size);
    if (!bytes)
        return;
    if (mask_runs_parse(&runs, "runs.csv", bytes, size, &error) != CLV_OK) {
        FUZZ_CHECK(!runs.rows && error.message[0] && !strchr(error.message, '\n'));
        return;
    }
    FUZZ_CHECK(runs.n > 0);
    for (size_t i = 0; i < runs.n; i++) {
        const struct mask_run_row *row = &runs.rows[i];
        uint8_t layer[2][WIDTH * HEIGHT] = {{0}};
        uint64_t end = 0, area = 0, drawn[2] = {0, 0};
        FUZZ_CHECK(*row->image && strlen(row->label) < 64 && row->first + row->n_runs <= runs.n_runs);
        for (size_t k = row->first; k < row->first + row->n_runs && !row->is_bad; k++) {
            FUZZ_CHECK(runs.runs[k][0] >= end && runs.runs[k][1] > 0);
            end = (uint64_t)runs.runs[k][0] + runs.runs[k][1];
            area += runs.runs[k][1];
        }
        if (row->is_bad)
            continue;
        for (int by_rows = 0; by_rows < 2; by_rows++) {
            const bool fits = mask_runs_fill(layer[by_rows], WIDTH, HEIGHT, &runs, row, by_rows);
            for (int p = 0; p < WIDTH * HEIGHT; p++)
                drawn[by_rows] += layer[by_rows][p];
            FUZZ_CHECK(fits == (end <= WIDTH * HEIGHT) && drawn[by_rows] == (fits ? area : 0));
        }
    }
}

static void check_table(const uint8_t *data, size_t size)
{
    struct clv_error error = {0};
    OWNED(colour_table_release) struct colour_table table = {0};
    char *bytes = terminated(data, size);
    if (!bytes)
        return;
    if (colour_table_parse(&table, "labelmap.txt", bytes, size, &error) != CLV_OK) {
        FUZZ_CHECK(!table.rows && error.message[0] && !strchr(error.message, '\n'));
        return;
    }
    for (size_t i = 0; i < table.table.n_rows; i++) {
        const struct code_row *row = &table.table.rows[i];
        FUZZ_CHECK(row->value == -1 && row->colour >= 0 && row->colour <= 0xffffff);
        FUZZ_CHECK(!row->name || (*row->name && strlen(row->name) < 64));
    }
}

FUZZ_TARGET(mask_runs)
{
    check_runs(data, size);
    check_table(data, size);
    return 0;
}
