/* Writes the table of all inputs of a run: a line for each input, in input order, with its status, mask and message.
 * Start at status_begin. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"

#define STATUS_HEAD "image\tstatus\tmask\tmessage"

/* Whether this program wrote the table, by its beginning, so that --resume may replace it. */
static bool is_of_cleave(const char *path, const struct clv_shard *shard)
{
    static const char *const heads[] = {STATUS_HEAD, "\tdone\t", "\tfailed\t", "\tfinished before\t"};
    const size_t n = shard->number > 1 ? sizeof heads / sizeof *heads : 1; /* the table of a later shard has no head */
    OWNED_ARRAY char *bytes = NULL;
    size_t size = 0;
    struct clv_error ignored;
    if (file_read_head(&bytes, &size, path, 1024, &ignored) != CLV_OK)
        return false;
    bool found = size == 0; /* the table of a shard without images */
    for (size_t i = 0; i < n; i++)
        found |= strstr(bytes, heads[i]) != NULL;
    return found;
}

/* Returns a file in the folder of the outputs, which may be that of the output's only file. */
static char *file_below(const char *output)
{
    const bool is_file = output && (text_ends_with(output, ".png") || text_ends_with(output, ".tif"));
    return is_file ? string_copy(output) : path_join(output ? output : "", "file");
}

/* Whether the file is in a folder that this run will make. */
static enum clv_status is_in_new_folder(bool *is_new, const char *path, const struct batch *run, struct clv_error *err)
{
    const char *const folders[] = {run->options.output, run->to.report};
    OWNED_ARRAY char *folder = path_folder(path);
    NEED(folder);
    path_simplify(folder);
    *is_new = false;
    for (size_t k = 0; k < sizeof folders / sizeof *folders && !path_exists(folder); k++) {
        OWNED_ARRAY char *below = file_below(folders[k]);
        OWNED_ARRAY char *parent = below ? path_folder(below) : NULL;
        NEED(parent);
        path_simplify(parent);
        *is_new |= strcmp(parent, folder) == 0;
    }
    return CLV_OK;
}

enum clv_status status_claim(struct batch *run, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    const char *path = run->to.status;
    const char *const inputs[] = {options->model_path, options->features,
                                  options->data && path_is_folder(options->data) ? NULL : options->data,
                                  options->boxes};
    bool is_new = true;
    if (path)
        MUST(is_in_new_folder(&is_new, path, run, err));
    if (is_new)
        return CLV_OK;
    const bool may_replace = options->existing == CLV_EXISTING_OVERWRITE ||
                             (options->existing == CLV_EXISTING_RESUME && is_of_cleave(path, &options->shard));
    return outputs_claim(&run->to.outputs, path, may_replace, "", inputs, sizeof inputs / sizeof *inputs, err);
}

enum clv_status status_begin(struct batch *run, struct clv_error *err)
{
    if (!run->to.status)
        return CLV_OK;
    MUST(file_create(&run->status_table, run->to.status, err));
    if (run->options.shard.number <= 1) /* so that the concatenated tables of all shards are the table of one run */
        fputs(STATUS_HEAD "\n", run->status_table.stream);
    return CLV_OK;
}

void status_put(struct batch *run, const struct clv_file_outcome *outcome)
{
    FILE *table = run->status_table.stream;
    const char *word = outcome->status != CLV_OK ? "failed" : outcome->is_earlier ? "finished before" : "done";
    const char *fields[] = {outcome->name, word, outcome->mask ? outcome->mask : "", outcome->message};
    for (size_t i = 0; table && i < sizeof fields / sizeof *fields; i++) {
        put_field(table, fields[i]);
        putc(i + 1 < sizeof fields / sizeof *fields ? '\t' : '\n', table);
    }
}

enum clv_status status_end(struct batch *run, struct clv_error *err)
{
    OWNED(file_abort) struct file_writer table = TAKE(run->status_table);
    return table.stream ? file_commit(&table, err) : CLV_OK;
}
