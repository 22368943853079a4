#include "feature/blocks/blocks.h"

bool has_words(const struct clv_recipe *recipe)
{
    return recipe->blocks & (CLV_BLOCK_WORDS | CLV_BLOCK_WORD);
}
