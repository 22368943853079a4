/* The table of learners, and which of them keep checkpoints. */
#include <stddef.h>
#include <string.h>

#include "learn/crf/crf.h"
#include "learn/hidden/hidden.h"
#include "learn/latent/latent.h"
#include "learn/learners.h"
#include "learn/margin/margin.h"
#include "learn/pmap/pmap.h"

static const struct clv_learner *const learners[] = {
    &ssvm_learner,   &perceptron_learner, &subgradient_learner, &independent_learner, &pmap_learner, &mpmap_learner,
    &wmpmap_learner, &m3n_learner,        &lapmedn_learner,     &l1m3n_learner,       &m3e_learner,  &modlat_learner,
    &mssvm_learner,  &lssvm_learner,      &hcrf_learner,        &eps_learner,         &crf_learner,
};

const struct clv_learner *clv_learner_at(size_t index)
{
    return index < sizeof learners / sizeof *learners ? learners[index] : NULL;
}

const struct clv_learner *clv_learner_find(const char *name)
{
    const struct clv_learner *learner;
    for (size_t i = 0; (learner = clv_learner_at(i)); i++)
        if (!strcmp(learner->name, name))
            return learner;
    return NULL;
}

static bool is_among(const struct clv_learner *learner, const struct clv_learner *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (learner == list[i])
            return true;
    return false;
}

bool learner_keeps_checkpoints(const struct clv_learner *learner)
{
    static const struct clv_learner *const keepers[] = {
        &ssvm_learner,  &lapmedn_learner, &pmap_learner, &mpmap_learner, &wmpmap_learner,
        &mssvm_learner, &lssvm_learner,   &hcrf_learner, &eps_learner,   &crf_learner,
    };
    return is_among(learner, keepers, sizeof keepers / sizeof *keepers);
}
