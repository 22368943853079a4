/* Prints the counts of a shard as a table (score_shard_print), and adds up the tables of all shards (score_merge). The
 * scores equal those of one run on the whole set. */

#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "cli/score/score_set.h"
#include "data/data.h"

static const char *const columns[] = {"number", "image", "pixels"};
static const char *const kinds[] = {"superpixels", "patches"};

void score_shard_print(const struct set_score *score, size_t first)
{
    printf("%s\t%s\t%s", columns[0], columns[1], columns[2]);
    if (score->has_superpixels)
        printf("\t%s", kinds[score->has_patches]);
    putchar('\n');
    for (size_t i = 0; i < score->inputs->n; i++) {
        printf("%zu\t", first + i + 1);
        put_field(stdout, score->inputs->items[i].name);
        printf("\t%s", score->counts[0][i]);
        if (score->has_superpixels)
            printf("\t%s", score->counts[1][i]);
        putchar('\n');
    }
}

struct merge_state {
    struct set_score *score;
    struct clv_confusion counts; /* of one row */
    bool *is_found;              /* [inputs->n] */
    size_t n_found, n_tables;
};

/* *is = whether a field of a table is this name, escaped. */
static enum clv_status is_name(bool *is, const char *field, const char *name, struct clv_error *err)
{
    size_t size = 4 * strlen(name) + 1; /* a byte is printed as at most four */
    char *printed = array_zalloc(size + 1, 1);
    FILE *stream = printed ? fmemopen(printed, size, "w") : NULL;
    if (stream)
        put_field(stream, name);
    bool failed = !stream || fclose(stream) != 0;
    *is = !failed && strcmp(printed, field) == 0;
    array_free(printed);
    return failed ? fail_memory(err) : CLV_OK;
}

/* Fails if the head of the next of several concatenated tables differs from the first one. */
static enum clv_status check_next_head(const struct tsv *table, struct clv_error *err)
{
    for (size_t i = 0; i < table->n_columns; i++)
        FAIL_IF(strcmp(table->fields[i], table->columns[i]) != 0, CLV_ERR_DATA,
                "%s:%zu: has %.60s, the tables before it have %.60s", table->path, table->line, table->fields[i],
                table->columns[i]);
    return CLV_OK;
}

/* Fails if a row counts pixels of a label that is void in this command: its shard was not told so. */
static enum clv_status check_void(const struct merge_state *self, const struct tsv *table, struct clv_error *err)
{
    const struct clv_labels *labels = self->score->labels;
    const size_t n = (size_t)labels->n_labels;
    for (size_t k = 0; k < n * (n + 1); k++)
        FAIL_IF(labels->is_void[k / (n + 1)] && self->counts.counts[k], CLV_ERR_DATA,
                "%s:%zu: counts pixels of \"%s\", which is void here; every shard needs the same --void", table->path,
                table->line, labels->names[k / (n + 1)]);
    return CLV_OK;
}

static enum clv_status merge_row(struct merge_state *self, const struct tsv *table, struct clv_error *err)
{
    struct set_score *score = self->score;
    const struct input_list *inputs = score->inputs;
    uint64_t number;
    bool same = false;
    if (strcmp(table->fields[0], columns[0]) == 0)
        return check_next_head(table, err);
    FAIL_IF(!parse_uint64(table->fields[0], &number) || number < 1 || number > inputs->n, CLV_ERR_DATA,
            "%s:%zu: image number \"%.60s\", the set has %zu images with masks", table->path, table->line,
            table->fields[0], inputs->n);
    size_t index = (size_t)number - 1;
    MUST(is_name(&same, table->fields[1], inputs->items[index].name, err));
    FAIL_IF(!same, CLV_ERR_DATA, "%s:%zu: image %zu is %.300s, in the set it is %.300s", table->path, table->line,
            index + 1, table->fields[1], inputs->items[index].name);
    FAIL_IF(self->is_found[index], CLV_ERR_DATA, "%s:%zu: image %zu, %s, comes twice", table->path, table->line,
            index + 1, inputs->items[index].name);
    MUST(score_counts_read(&self->counts, table->fields[2], table->path, table->line, err));
    MUST(check_void(self, table, err));
    self->is_found[index] = true;
    self->n_found++;
    set_score_measure(score, index, &self->counts);
    clv_confusion_merge(&score->confusion, &self->counts);
    if (!score->has_superpixels)
        return CLV_OK;
    MUST(score_counts_read(&self->counts, table->fields[3], table->path, table->line, err));
    score->images[index].superpixel = clv_confusion_score(&self->counts);
    clv_confusion_merge(&score->nodes, &self->counts);
    return CLV_OK;
}

/* Fails for a table that is not one of a shard, or that counts other nodes (superpixels, patches, none) than the
 * previous tables. */
static enum clv_status check_head(struct merge_state *self, const struct tsv *table, struct clv_error *err)
{
    size_t n = sizeof columns / sizeof *columns;
    bool fits = table->n_columns == n || table->n_columns == n + 1, has_nodes = table->n_columns == n + 1;
    for (size_t i = 0; fits && i < n; i++)
        fits = strcmp(table->columns[i], columns[i]) == 0;
    bool is_patches = fits && has_nodes && strcmp(table->columns[n], kinds[1]) == 0;
    if (!fits || (has_nodes && !is_patches && strcmp(table->columns[n], kinds[0]) != 0))
        return fail(err, CLV_ERR_DATA, "%s: not a table that `cleave score --shard' prints", table->path);
    if (self->n_tables++ == 0) {
        self->score->has_superpixels = has_nodes;
        self->score->has_patches = is_patches;
    }
    if (self->score->has_superpixels != has_nodes || self->score->has_patches != is_patches)
        return fail(err, CLV_ERR_DATA, "%s: has %s, the tables before it have %s", table->path,
                    has_nodes ? kinds[is_patches] : "pixels alone",
                    self->score->has_superpixels ? kinds[self->score->has_patches] : "pixels alone");
    return CLV_OK;
}

static enum clv_status merge_table(struct merge_state *self, const char *path, struct clv_error *err)
{
    OWNED(tsv_release) struct tsv table = {0};
    char *bytes;
    size_t size;
    bool more = true;
    MUST(file_read(&bytes, &size, path, TSV_MAX_SIZE, err));
    MUST(tsv_parse(&table, path, bytes, size, err));
    MUST(check_head(self, &table, err));
    while (more) {
        MUST(tsv_next(&more, &table, err));
        if (more)
            MUST(merge_row(self, &table, err));
    }
    return CLV_OK;
}

static enum clv_status check_complete(const struct merge_state *self, struct clv_error *err)
{
    const struct input_list *inputs = self->score->inputs;
    size_t first = 0;
    while (first < inputs->n && self->is_found[first])
        first++;
    if (first == inputs->n)
        return CLV_OK;
    return fail(err, CLV_ERR_DATA, "image %zu, %s, is in none of the tables (%zu of %zu are missing)", first + 1,
                inputs->items[first].name, inputs->n - self->n_found, inputs->n);
}

static void merge_release(struct merge_state *self)
{
    clv_confusion_release(&self->counts);
    array_free(self->is_found);
}

enum clv_status score_merge(struct set_score *score, const struct input_list *inputs, const struct clv_labels *labels,
                            char *const *tables, size_t n_tables, struct clv_error *err)
{
    OWNED(set_score_release) struct set_score result = {.inputs = inputs, .labels = labels};
    OWNED(merge_release) struct merge_state self = {.score = &result,
                                                    .is_found = array_zalloc(inputs->n, sizeof *self.is_found)};
    NEED(self.is_found);
    MUST(set_score_init(&result, err));
    MUST(clv_confusion_init(&self.counts, labels->n_labels, err));
    for (size_t i = 0; i < n_tables; i++)
        MUST(merge_table(&self, tables[i], err));
    MUST(check_complete(&self, err));
    *score = TAKE(result);
    return CLV_OK;
}
