/* Feature files of several parts: the same problems as from one file, whatever memory fails. */
#include "base/base.h"
#include "data/data.h"
#include "feature/dataset/dataset.h"
#include "feature/small_set.h"
#include "support/requests.h"

/* Writes the features of n drawn images, of which the second has no mask: a file, or a folder of three shards. */
static const char *write_set(int32_t n, bool in_shards)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    struct clv_recipe recipe = plain_recipe();
    if (path_exists(here("set")))
        must(clv_set_read(&set, here("set/manifest.tsv"), err));
    else
        set = synthetic(n);
    array_free(set.items[1].mask);
    set.items[1].mask = NULL;
    const char *path = here(in_shards ? "shards" : "f.safetensors");
    if (!in_shards) {
        must(clv_features_write(path, &set, &recipe, 1, NULL, NULL, err));
        return path;
    }
    must(folder_create(path, err));
    for (int32_t i = 1; i <= 3; i++)
        must(features_write_shard(formatted("%s/f-%05d-of-00003.safetensors", path, i), &set, &(struct clv_shard){i, 3},
                                  &(struct extract_options){.recipe = &recipe, .n_threads = 1}, err));
    return path;
}

static void expect_alike(const struct clv_dataset *whole, const struct clv_dataset *shards)
{
    ck_assert_uint_eq(clv_dataset_size(shards), clv_dataset_size(whole));
    for (size_t i = 0; i < clv_dataset_size(whole); i++) {
        struct clv_problem a = clv_dataset_problem(whole, i), b = clv_dataset_problem(shards, i);
        OWNED(clv_example_release) struct clv_example of_a = {0}, of_b = {0};
        expect_same(&a, &b, 2);
        ck_assert_mem_eq(a.centroid, b.centroid, 2 * (size_t)a.n_nodes * sizeof *a.centroid);
        ck_assert_str_eq(clv_dataset_name(shards, i), clv_dataset_name(whole, i));
        must(dataset_example(&of_a, whole, i, err));
        must(dataset_example(&of_b, shards, i, err));
        ck_assert(of_a.width == of_b.width && of_a.superpixels.width == of_b.superpixels.width);
        ck_assert_mem_eq(of_a.superpixels.labels, of_b.superpixels.labels,
                         (size_t)of_a.superpixels.width * (size_t)of_a.superpixels.height * sizeof(int32_t));
    }
}

TEST(shards_have_what_one_file_has)
{
    OWNED(dataset_drop) struct clv_dataset *whole = NULL, *shards = NULL;
    struct clv_recipe expected = {0}, recipe = {0};
    must(clv_features_open(&whole, &expected, write_set(7, false), err));
    must(clv_features_open(&shards, &recipe, write_set(7, true), err));
    ck_assert_mem_eq(&recipe, &expected, sizeof recipe);
    for (int again = 0; again < 2; again++) {
        expect_alike(whole, shards);
        must(dataset_weigh(whole, CLV_LOSS_COUNTS, err));
        must(dataset_weigh(shards, CLV_LOSS_COUNTS, err));
    }
    enum clv_graph graph, of_shards;
    must(dataset_graph(&graph, whole, err));
    must(dataset_graph(&of_shards, shards, err));
    ck_assert_int_eq(graph, of_shards);
}

static enum clv_status open_list(const struct path_list *paths, struct clv_error *err)
{
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    OWNED(clv_recipe_release) struct clv_recipe recipe = {0};
    enum clv_status status = features_open_list(&dataset, &recipe, paths, err);
    ck_assert(!dataset == (status != CLV_OK));
    return status;
}

TEST(failing_memory_is_no_end)
{
    OWNED(path_list_release) struct path_list paths = {0};
    must(path_list_add(&paths, write_set(3, true), err));
    must_survive_failed_requests(open_list(&paths, err));
    must(path_list_add(&paths, write_set(3, false), err));
    run_here("cp f.safetensors g.safetensors");
    must(path_list_add(&paths, here("g.safetensors"), err));
    must_survive_failed_requests(open_list(&paths, err));
}
