/* Decides which tables of the folder are wanted, keeps what they need of the inputs of all shards, and joins their
 * parts at the end (join.c). Start at tables_join. */
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "batch/join.h"
#include "data/export/export.h"
#include "sequence/sequence.h"

struct listed {
    struct join_item *items; /* [n]; the strings are owned */
    size_t n;
};

static unsigned wanted(const struct batch *run)
{
    return (run->options.objects ? 1U << JOIN_OBJECTS : 0) |
           (run->options.exports & CLV_EXPORT_COCO ? 1U << JOIN_COCO : 0) |
           (run->options.exports & CLV_EXPORT_VOC ? 1U << JOIN_VOC : 0);
}

enum clv_status tables_paths(char *paths[3], int *n, const struct batch *run, struct clv_error *err)
{
    const unsigned tables = wanted(run);
    *n = 0;
    for (int k = 0; k < N_JOIN_TABLES; k++)
        if (tables & 1U << k)
            NEED(paths[(*n)++] = path_join(run->options.output, join_paths[k]));
    return CLV_OK;
}

void tables_release(struct batch *run)
{
    struct listed *self = run->listed;
    for (size_t i = 0; self && self->items && i < self->n; i++)
        arrays_free((void *)self->items[i].image, (void *)self->items[i].name, (void *)self->items[i].output,
                    (void *)self->items[i].mask);
    if (self)
        array_free(self->items);
    array_free(self);
    run->listed = NULL;
}

enum clv_status tables_keep(struct batch *run, struct clv_error *err)
{
    if (!wanted(run))
        return CLV_OK;
    struct listed *self = array_zalloc(1, sizeof *self);
    NEED(run->listed = self);
    NEED(self->items = array_zalloc(run->inputs.n, sizeof *self->items));
    for (; self->n < run->inputs.n; self->n++) {
        const struct input *input = &run->inputs.items[self->n];
        const struct target *target = &run->targets.items[self->n];
        struct join_item *item = &self->items[self->n];
        item->image = string_copy(input->image ? input->image : input->name);
        item->name = string_copy(input->name);
        item->mask = string_copy(target->mask);
        NEED(item->image && item->name && item->mask);
        if (!target->problem)
            NEED(item->output = string_copy(input->output));
    }
    return CLV_OK;
}

static enum clv_status join(struct batch *run, struct clv_error *err)
{
    OWNED(text_release) struct text head = {0};
    struct join_counts counts = {0};
    text_init(&head, 1 << 16);
    object_rows_head(&head, run);
    NEED(!head.failed);
    const struct join_options options = {.tables = wanted(run),
                                         .parts = run->parts,
                                         .objects_head = head.bytes,
                                         .n_threads = run->n_threads,
                                         .progress = &run->progress};
    MUST(join_tables(&counts, run->to.output, run->listed->items, run->listed->n, &options, err));
    join_report(&counts, run->to.output, &run->progress);
    return CLV_OK;
}

enum clv_status tables_join(struct batch *run, struct clv_error *err)
{
    if (!run->listed)
        return CLV_OK;
    if (run->options.shard.count < 2)
        return join(run, err);
    OWNED(join_lock_release) struct join_lock lock = {0};
    output_locks_end_shard(&run->to.outputs.locks); /* this shard has written all of its parts */
    MUST(join_lock_take(&lock, run->to.output, &run->progress, err));
    return join_is_last(run->to.output) ? join(run, err) : CLV_OK;
}
