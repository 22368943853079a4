/* --engine: which min-cut engine inference uses. */
#ifndef CLI_ENGINE_OPTION_H
#define CLI_ENGINE_OPTION_H

#include "cleave/infer.h"
#include "cli/common/options.h"

#define ENGINE_HELP "Min-cut engine: cleave or bk (libmaxflow). Both give the same labels (default cleave)"

static inline error_t option_engine(enum clv_engine *engine, const char *arg, struct common_options *common)
{
    static const enum clv_engine engines[] = {CLV_ENGINE_CLEAVE, CLV_ENGINE_BK};
    static const char *const names[] = {"cleave", "bk"};
    int index = 0;
    error_t failed = option_choice(&index, "--engine", arg, names, clv_has_bk() ? 2 : 1, common);
    if (!failed)
        *engine = engines[index];
    return failed;
}

#endif
