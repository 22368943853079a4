/* cleave synth: pictures and problems with exact truth. The kinds are in synth_*.c. */
#include <stdio.h>
#include <string.h>

#include "cli/common/command.h"
#include "cli/synth/synth.h"

static const struct {
    const char *name;
    enum clv_status (*run)(int argc, char **argv, struct clv_error *err);
} kinds[] = {
    {"animals", synth_animals},         {"chain-crf", synth_chain_crf},     {"hidden-chain", synth_hidden_chain},
    {"hidden-grid", synth_hidden_grid}, {"noisy-image", synth_noisy_image},
};

enum clv_status cmd_synth(int argc, char **argv, struct clv_error *err)
{
    char title[64];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (argc > 1 && strcmp(argv[1], kinds[i].name) == 0) {
            snprintf(title, sizeof title, "cleave synth %s", kinds[i].name);
            argv[1] = title;
            return kinds[i].run(argc - 1, argv + 1, err);
        }
    return synth_animals(argc, argv, err);
}
