/* Writes small files of label names into the output folder, which several runs and shards share: a file with the same
 * text stays. Start at names_write. */
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "sequence/sequence.h"

bool file_has_text(const char *path, const struct text *text)
{
    char *bytes;
    size_t size;
    struct clv_error ignored;
    if (file_read(&bytes, &size, path, RUN_NOTE_MAX_SIZE, &ignored) != CLV_OK)
        return false;
    bool same = size == text->size && memcmp(bytes, text->bytes, size) == 0;
    array_free(bytes);
    return same;
}

static enum clv_status claim_names(struct batch *run, const char *path, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    OWNED_ARRAY char *folder = options->data ? path_folder(options->data) : NULL;
    OWNED_ARRAY char *labels = folder ? path_join(folder, "labels.tsv") : NULL;
    bool is_file = options->data && !path_is_folder(options->data); /* labels.tsv beside it is an input as well */
    const char *const inputs[] = {options->data, options->boxes, is_file ? labels : NULL};
    NEED(labels || !options->data);
    return outputs_claim(&run->to.outputs, path, options->existing == CLV_EXISTING_OVERWRITE, "", inputs, 3, err);
}

enum clv_status names_write(struct batch *run, const char *below, struct text *text, struct clv_error *err)
{
    OWNED(text_release) struct text owned = TAKE(*text);
    OWNED_ARRAY char *path = path_join(run->to.output, below);
    enum path_kind kind = PATH_ABSENT;
    NEED(path && !owned.failed);
    MUST(path_find_kind(&kind, path, err));
    if (kind != PATH_ABSENT && file_has_text(path, &owned))
        return CLV_OK;
    if (kind != PATH_ABSENT)
        MUST(claim_names(run, path, err));
    MUST(outputs_make_folder(path, err));
    return file_write(path, owned.bytes ? owned.bytes : "", owned.size, err);
}
