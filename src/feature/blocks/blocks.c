/* Lists the feature blocks in a table, in the order of their columns in a row of node features. Start at block_rows. */
#include "feature/blocks/blocks.h"

#define ROW(block, flag, kind) {#block, flag, kind, block##_size, block##_met, block##_fill, block##_name},
const struct block block_rows[N_BLOCKS] = {EACH_BLOCK(ROW)};

#define NAME(block, flag, kind) #block,
const char *const block_names[N_BLOCKS + 1] = {EACH_BLOCK(NAME) NULL};

const struct block *block_that_is(int32_t chosen, unsigned kind)
{
    for (int b = 0; b < N_BLOCKS; b++)
        if (chosen & block_rows[b].flag && block_rows[b].kind & kind)
            return &block_rows[b];
    return NULL;
}
