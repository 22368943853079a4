/* Stands in until feature files are there; the real functions win over these weak ones. */
#include "base/error.h"
#include "cleave/features.h"

__attribute__((weak)) enum clv_status clv_features_open(struct clv_dataset **dataset, struct clv_recipe *recipe,
                                                        const char *path, struct clv_error *err)
{
    (void)dataset;
    (void)recipe;
    return fail(err, CLV_ERR_INTERNAL, "%s: feature files are not supported yet", path);
}

__attribute__((weak)) enum clv_status clv_features_write(const char *path, const struct clv_set *set,
                                                         const struct clv_recipe *recipe, int n_threads,
                                                         const struct clv_image_limits *limits,
                                                         const struct clv_progress *progress, struct clv_error *err)
{
    (void)set;
    (void)recipe;
    (void)n_threads;
    (void)limits;
    (void)progress;
    return fail(err, CLV_ERR_INTERNAL, "%s: feature files are not supported yet", path);
}

__attribute__((weak)) enum clv_status
clv_dataset_example(struct clv_example *example, const struct clv_dataset *dataset, size_t index, struct clv_error *err)
{
    (void)example;
    (void)dataset;
    (void)index;
    return fail(err, CLV_ERR_INTERNAL, "feature files are not supported yet");
}
