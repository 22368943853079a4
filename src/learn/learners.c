/* The table of learners. */
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

const struct clv_learner *learner_of_any_graph(void)
{
    const int all = CLV_TRAINS_POTTS | CLV_TRAINS_FULL;
    size_t i = 0;
    while ((learners[i]->trains & all) != all)
        i++;
    return learners[i];
}
