#include "cli/common/pruning.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

enum { NAME_SIZE = 32 };

struct kept_count pruning_count(const struct clv_model *model)
{
    size_t n_node = clv_shape_unary_size(&model->shape), n = clv_shape_size(&model->shape);
    struct kept_count count = {.n_node = n_node, .n_pairwise = n - n_node};
    for (size_t k = 0; k < n; k++)
        if (model->w[k] != 0)
            ++*(k < n_node ? &count.node : &count.pairwise);
    return count;
}

static size_t n_all(const struct clv_recipe *recipe)
{
    return (size_t)clv_recipe_n_features(recipe) + (size_t)clv_recipe_n_edge_features(recipe);
}

/* Features of a group, and how many are kept. */
static size_t count_kept(size_t *n_kept, const uint8_t *members, const struct clv_recipe *recipe)
{
    size_t n = 0;
    *n_kept = 0;
    for (size_t k = 0; k < n_all(recipe); k++) {
        n += members[k];
        *n_kept += members[k] && (!recipe->kept || recipe->kept[k]);
    }
    return n;
}

enum clv_status pruning_print(FILE *stream, const struct clv_model *model, double threshold, struct clv_error *err)
{
    struct kept_count count = pruning_count(model);
    fprintf(stream, "weights   %zu of %zu for nodes (%.1f %%), %zu of %zu pairwise; above %g of the largest\n",
            count.node, count.n_node, 100 * (double)count.node / (double)count.n_node, count.pairwise, count.n_pairwise,
            threshold);
    if (!model->has_recipe)
        return CLV_OK;
    const struct clv_recipe *recipe = &model->recipe;
    uint8_t *members = array_alloc(n_all(recipe), sizeof *members);
    if (!members)
        return fail_memory(err);
    fprintf(stream, "group       features    kept\n");
    for (size_t g = 0; g < clv_recipe_n_groups(recipe); g++) {
        char name[NAME_SIZE];
        size_t n_kept, n;
        clv_recipe_group(name, sizeof name, members, recipe, g);
        n = count_kept(&n_kept, members, recipe);
        fprintf(stream, "%-10s %9zu %7zu%s\n", name, n, n_kept, n_kept ? "" : "  not computed");
    }
    array_free(members);
    return CLV_OK;
}

char *pruning_left_out(const struct clv_recipe *recipe)
{
    struct text text;
    text_init(&text, 1 << 16);
    uint8_t *members = array_alloc(n_all(recipe), sizeof *members);
    for (size_t g = 0; members && g < clv_recipe_n_groups(recipe); g++) {
        char name[NAME_SIZE];
        size_t n_kept;
        clv_recipe_group(name, sizeof name, members, recipe, g);
        if (count_kept(&n_kept, members, recipe) && !n_kept)
            text_printf(&text, "%s%s", text.size ? " " : "", name);
    }
    text_put(&text, "");
    char *names = members && !text.failed ? string_copy(text.bytes ? text.bytes : "") : NULL;
    array_free(members);
    text_release(&text);
    return names;
}

/* members[n] of the groups of that name; -1 if there is none. */
static int find_group(uint8_t *members, const struct clv_recipe *recipe, const char *name, size_t length)
{
    for (size_t g = 0; g < clv_recipe_n_groups(recipe); g++) {
        char own[NAME_SIZE];
        clv_recipe_group(own, sizeof own, members, recipe, g);
        if (strlen(own) == length && strncmp(own, name, length) == 0)
            return 0;
    }
    return -1;
}

static enum clv_status no_such_group(const struct clv_recipe *recipe, uint8_t *members, const char *name, size_t length,
                                     struct clv_error *err)
{
    char all[16 * NAME_SIZE] = "";
    for (size_t g = 0; g < clv_recipe_n_groups(recipe); g++) {
        char own[NAME_SIZE];
        clv_recipe_group(own, sizeof own, members, recipe, g);
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", g ? ", " : "", own);
    }
    return fail(err, CLV_ERR_USAGE, "--drop: \"%.*s\" is none of %s", (int)length, name, all);
}

enum clv_status pruning_drop(struct clv_model *model, const char *names, struct clv_error *err)
{
    const struct clv_shape *shape = &model->shape;
    size_t d = (size_t)shape->n_features, p = (size_t)shape->n_edge_features;
    size_t n_unary = clv_shape_unary_size(shape), n = clv_shape_size(shape);
    if (!model->has_recipe)
        return fail(err, CLV_ERR_USAGE, "--drop: the model was not learned from images, whose features have groups");
    uint8_t *members = array_alloc(n_all(&model->recipe), sizeof *members);
    enum clv_status status = members ? CLV_OK : fail_memory(err);
    for (const char *name = names; name && status == CLV_OK;) {
        size_t length = strcspn(name, ",");
        if (find_group(members, &model->recipe, name, length))
            status = no_such_group(&model->recipe, members, name, length, err);
        for (size_t k = 0; k < n && status == CLV_OK; k++)
            if (members[k < n_unary ? k % d : d + (k - n_unary) % p])
                model->w[k] = 0;
        name = name[length] ? name + length + 1 : NULL;
    }
    array_free(members);
    return status;
}
