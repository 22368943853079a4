/* Features that are read when they are wanted: the same problems as from a mapped file, and errors that name file and
 * item. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "data/data.h"
#include "feature/dataset/dataset.h"
#include "feature/small_set.h"
#include "support/requests.h"

DROPS(cache_drop, struct feature_cache, feature_cache_free)

#define ALL 1e9

/* Writes the features of n drawn images: a file, or as three shards with an index; which is to be opened. */
static const char *write_set(int32_t n, bool in_shards)
{
    const char *folder = here("set");
    OWNED(clv_set_release) struct clv_set set = {0};
    struct clv_recipe recipe = plain_recipe();
    if (path_exists(folder))
        must(clv_set_read(&set, formatted("%s/manifest.tsv", folder), err));
    else
        set = synthetic(n);
    array_free(set.items[1].mask);
    set.items[1].mask = NULL;
    const char *path = here("f.safetensors");
    if (in_shards) {
        OWNED(path_list_release) struct path_list shards = {0};
        for (int32_t i = 1; i <= 3; i++) {
            const char *own = here("f-%05d-of-00003.safetensors", i);
            must(features_write_shard(own, &set, &(struct clv_shard){i, 3},
                                      &(struct extract_options){.recipe = &recipe, .n_threads = 1}, err));
            must(path_list_add(&shards, own, err));
        }
        path = here("f.index.json");
        must(features_index_write(path, &shards, err));
    } else {
        must(clv_features_write(path, &set, &recipe, 1, NULL, NULL, err));
    }
    return path;
}

static void expect_alike(const struct clv_dataset *mapped, const struct clv_dataset *lean)
{
    OWNED(loaded_item_release) struct loaded_item loaded = {0};
    ck_assert_uint_eq(clv_dataset_size(lean), clv_dataset_size(mapped));
    for (size_t i = 0; i < clv_dataset_size(mapped); i++) {
        struct clv_problem a = clv_dataset_problem(mapped, i), bare = clv_dataset_problem(lean, i);
        must(loaded_item_load(&loaded, lean, i, true, err));
        expect_same(&a, &loaded.problem, 2);
        ck_assert_mem_eq(a.place, loaded.problem.place, 2 * (size_t)a.n_nodes * sizeof *a.place);
        ck_assert(!bare.index && !bare.value && !bare.edges && !bare.edge_features);
        ck_assert_int_eq(bare.row[bare.n_nodes] - bare.row[0], a.row[a.n_nodes] - a.row[0]);
        ck_assert_str_eq(clv_dataset_name(lean, i), clv_dataset_name(mapped, i));
    }
}

TEST(what_is_loaded_is_what_a_mapped_file_has)
{
    for (int in_shards = 0; in_shards < 2; in_shards++) {
        const char *path = write_set(7, in_shards);
        struct clv_recipe expected = {0}, recipe = {0};
        OWNED(dataset_drop) struct clv_dataset *mapped = NULL;
        struct clv_dataset *lean;
        must(clv_features_open(&mapped, &expected, path, err));
        for (int k = 0; k < 3; k++) { /* nothing stays, some, all */
            must(features_open_on_demand(&lean, &recipe, path, k == 0 ? 1 : k == 1 ? 20000 : ALL, err));
            ck_assert_mem_eq(&recipe, &expected, sizeof recipe);
            ck_assert(dataset_is_on_demand(lean) && !dataset_is_on_demand(mapped));
            for (int again = 0; again < 2; again++) {
                expect_alike(mapped, lean);
                must(dataset_weigh(lean, CLV_LOSS_COUNTS, err));
                must(dataset_weigh(mapped, CLV_LOSS_COUNTS, err));
            }
            enum clv_graph graph, lean_graph;
            must(dataset_graph(&graph, mapped, err));
            must(dataset_graph(&lean_graph, lean, err));
            ck_assert_int_eq(graph, lean_graph);
            must(dataset_weigh(mapped, CLV_LOSS_BALANCED, err));
            clv_dataset_free(lean);
        }
    }
}

TEST(dense_features_are_read_like_sparse_ones)
{
    const int64_t offset[] = {0, 2, 3};
    const float x[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    const struct clv_tensor tensors[] = {{"node_offset", CLV_I64, 1, {3}, offset}, {"x", CLV_F32, 2, {3, 2}, x}};
    const char *const metadata[][2] = {{"format", "cleave features 1"}, {"n_labels", "2"}, {"names", "a\nb"}};
    const char *path = here("dense.safetensors");
    OWNED(dataset_drop) struct clv_dataset *lean = NULL;
    OWNED(loaded_item_release) struct loaded_item loaded = {0};
    must(clv_tensors_write(path, tensors, 2, metadata, 3, err));
    must(features_open_on_demand(&lean, NULL, path, 1, err));
    must(loaded_item_load(&loaded, lean, 1, false, err));
    ck_assert(loaded.problem.value[0] == 5 && loaded.problem.value[1] == 6 && loaded.problem.index[1] == 1);
    must(loaded_item_load(&loaded, lean, 0, false, err));
    ck_assert(loaded.problem.value[0] == 1 && loaded.problem.value[3] == 4 && loaded.problem.row[2] == 4);
    must_fail(CLV_ERR_USAGE, "no item 2 of 2", loaded_item_load(&loaded, lean, 2, false, err));
}

/* What stayed is still there; what must be read is not, and file and item are named. */
TEST(a_file_that_changes_meanwhile_is_named_with_the_item)
{
    const char *path = write_set(6, true), *second = here("f-00002-of-00003.safetensors");
    for (int way = 0; way < 2; way++) {
        struct clv_dataset *lean;
        struct loaded_item loaded = {0};
        size_t size;
        OWNED_ARRAY char *bytes = slurp(second, &size);
        must(features_open_on_demand(&lean, NULL, path, ALL, err));
        must(loaded_item_load(&loaded, lean, 2, true, err));
        if (way)
            ck_assert_int_eq(truncate(second, (off_t)size - 1), 0);
        else
            /* Of another day. */
            ck_assert_int_eq(utimensat(AT_FDCWD, second, (struct timespec[]){{1, 0}, {1, 0}}, 0), 0);
        must(loaded_item_load(&loaded, lean, 0, true, err));
        must(loaded_item_load(&loaded, lean, 2, true, err));
        const char *part = formatted("%s: %s: has changed", clv_dataset_name(lean, 3), second);
        must_fail(CLV_ERR_DATA, part, loaded_item_load(&loaded, lean, 3, true, err));
        ck_assert_ptr_null(loaded.dataset);
        must(loaded_item_load(&loaded, lean, 4, true, err)); /* of another shard */
        loaded_item_release(&loaded);
        clv_dataset_free(lean);
        spill(second, bytes, size);
    }
}

static enum clv_status open_and_hold(const char *path, struct clv_error *err)
{
    OWNED(dataset_drop) struct clv_dataset *lean = NULL;
    OWNED(clv_recipe_release) struct clv_recipe recipe = {0};
    OWNED(loaded_item_release) struct loaded_item loaded = {0};
    enum clv_status status = features_open_on_demand(&lean, &recipe, path, ALL, err);
    if (status != CLV_OK) {
        ck_assert_ptr_null(lean);
        return status;
    }
    for (size_t i = 0; i < 3 && status == CLV_OK; i++)
        status = loaded_item_load(&loaded, lean, i, i != 1, err);
    return status;
}

TEST(failing_memory_is_no_end)
{
    const char *path = write_set(3, true);
    must_survive_failed_requests(open_and_hold(path, err));
}

static enum clv_status open_list(const struct path_list *paths, double memory, struct clv_error *err)
{
    OWNED(dataset_drop) struct clv_dataset *lean = NULL;
    OWNED(clv_recipe_release) struct clv_recipe recipe = {0};
    enum clv_status status = features_open_list(&lean, &recipe, paths, memory, err);
    ck_assert(!lean == (status != CLV_OK));
    return status;
}

TEST(failing_memory_is_no_end_of_a_list)
{
    OWNED(path_list_release) struct path_list paths = {0};
    OWNED_ARRAY char *nothing = NULL;
    must(path_list_add(&paths, write_set(3, true), err));
    must(path_list_add(&paths, write_set(3, false), err));
    ck_assert_int_eq(run_command(&nothing, "cp %s %s-2", paths.paths[1], paths.paths[1]), 0);
    must(path_list_add(&paths, formatted("%s-2", paths.paths[1]), err));
    must_survive_failed_requests(open_list(&paths, ALL, err));
    must_survive_failed_requests(open_list(&paths, 0, err));
}

TEST(features_that_are_not_there_are_not_written)
{
    struct clv_dataset *lean;
    must(features_open_on_demand(&lean, NULL, write_set(2, false), 1, err));
    must_fail(CLV_ERR_USAGE, "on demand", clv_dataset_write(here("copy"), lean, err));
    clv_dataset_free(lean);
    must_fail(CLV_ERR_NO_INPUT, "/absent", features_open_on_demand(&lean, NULL, "/absent", 1, err));
    ck_assert_ptr_null(lean);
}

TEST(no_more_stays_than_memory_was_given)
{
    OWNED(cache_drop) struct feature_cache *cache = NULL;
    void *blocks[4];
    must(feature_cache_new(&cache, 3, 100, err));
    for (size_t k = 0; k < 4; k++)
        blocks[k] = array_alloc(1, 1);
    ck_assert_ptr_null(feature_cache_find(cache, 0));
    ck_assert(feature_cache_keep(cache, 0, blocks[0], 60));
    ck_assert(!feature_cache_keep(cache, 0, blocks[1], 1)); /* is there already */
    ck_assert(!feature_cache_keep(cache, 1, blocks[1], 41));
    ck_assert(feature_cache_keep(cache, 2, blocks[2], 40));
    ck_assert(!feature_cache_keep(cache, 1, blocks[3], 1));
    ck_assert(feature_cache_find(cache, 0) == blocks[0] && !feature_cache_find(cache, 1) &&
              feature_cache_find(cache, 2) == blocks[2]);
    array_free(blocks[1]);
    array_free(blocks[3]);
    feature_cache_free(NULL);
}
