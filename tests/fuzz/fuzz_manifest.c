#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "fuzz/fuzz.h"

static char *terminated(const uint8_t *data, size_t size)
{
    char *bytes = array_alloc(size + 1, 1);
    if (bytes && size)
        memcpy(bytes, data, size);
    return bytes;
}

/* Any bytes give items with names inside the root, or one line of error. */
static void check_manifest(const uint8_t *data, size_t size)
{
    struct clv_error error = {0};
    OWNED(clv_set_release) struct clv_set set = {
        .root = string_copy("/nowhere")}; /* not there, so that no link of it can lead outside */
    char *bytes = terminated(data, size);
    if (set.root && bytes) {
        if (manifest_parse(&set, "manifest.tsv", bytes, size, &error) == CLV_OK) {
            FUZZ_CHECK(set.n_items > 0);
            for (size_t i = 0; i < set.n_items; i++) {
                const struct clv_item *item = &set.items[i];
                FUZZ_CHECK(*item->name && *item->name != '/' && item->split);
                FUZZ_CHECK(strncmp(item->image, "/nowhere/", 9) == 0 && !strstr(item->image, "/../"));
                FUZZ_CHECK(!item->mask || !strstr(item->mask, "/../"));
            }
        } else {
            FUZZ_CHECK(error.message[0] && !strchr(error.message, '\n'));
        }
    }
}

static void check_labels(const uint8_t *data, size_t size)
{
    struct clv_error error = {0};
    struct clv_labels labels = {.n_labels = -7};
    char *bytes = terminated(data, size);
    if (!bytes)
        return;
    if (labels_parse_table(&labels, "labels.tsv", bytes, size, &error) == CLV_OK) {
        FUZZ_CHECK(labels.n_labels >= 2 && labels.n_labels <= CLV_MAX_LABELS);
        FUZZ_CHECK(!labels.is_void[CLV_VOID]);
        for (int32_t i = 0; i < labels.n_labels; i++)
            FUZZ_CHECK(memchr(labels.names[i], 0, sizeof *labels.names));
        clv_labels_release(&labels);
    } else {
        FUZZ_CHECK(labels.n_labels == -7 && error.message[0] && !strchr(error.message, '\n'));
    }
}

FUZZ_TARGET(manifest)
{
    check_manifest(data, size);
    check_labels(data, size);
    return 0;
}
