#include "cli/common/outputs.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"

void output_list_release(struct output_list *outputs)
{
    for (size_t i = 0; i < outputs->n; i++) {
        array_free(outputs->items[i].mask);
        array_free(outputs->items[i].overlay);
    }
    array_free(outputs->items);
    *outputs = (struct output_list){0};
}

/* folder/[below/]output.png; NULL when out of memory. */
static char *output_path(const char *folder, const char *below, const char *output)
{
    size_t size = strlen(folder) + strlen(below) + strlen(output) + 8;
    char *path = array_alloc(size, 1);
    bool has_slash = *folder && folder[strlen(folder) - 1] == '/';
    if (path)
        snprintf(path, size, "%s%s%s%s.png", folder, has_slash ? "" : "/", below, output);
    return path;
}

static enum clv_status make_paths(struct output_list *outputs, const struct input_list *inputs, const char *folder,
                                  bool overlays, struct clv_error *err)
{
    outputs->items = array_zalloc(inputs->n, sizeof *outputs->items);
    if (!outputs->items)
        return fail_memory(err);
    outputs->n = inputs->n;
    for (size_t i = 0; i < inputs->n; i++) {
        struct output *output = &outputs->items[i];
        output->mask = output_path(folder, "", inputs->items[i].output);
        output->overlay = overlays ? output_path(folder, "overlays/", inputs->items[i].output) : NULL;
        if (!output->mask || (overlays && !output->overlay))
            return fail_memory(err);
    }
    return CLV_OK;
}

struct claim {
    const char *path;
    size_t input;
};

static int compare_claims(const void *a, const void *b)
{
    const struct claim *first = a, *second = b;
    int order = strcmp(first->path, second->path);
    return order ? order : (first->input > second->input) - (first->input < second->input);
}

static enum clv_status check_clashes(const struct output_list *outputs, const struct input_list *inputs,
                                     struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    struct claim *claims = array_alloc(outputs->n, 2 * sizeof *claims);
    if (!claims)
        return fail_memory(err);
    size_t n = 0;
    for (size_t i = 0; i < outputs->n; i++) {
        claims[n++] = (struct claim){outputs->items[i].mask, i};
        if (outputs->items[i].overlay)
            claims[n++] = (struct claim){outputs->items[i].overlay, i};
    }
    if (n)
        qsort(claims, n, sizeof *claims, compare_claims);
    for (size_t i = 1; i < n && status == CLV_OK; i++)
        if (strcmp(claims[i].path, claims[i - 1].path) == 0)
            status = fail(err, CLV_ERR_USAGE, "%s: both %s and %s would be written there", claims[i].path,
                          inputs->items[claims[i - 1].input].name, inputs->items[claims[i].input].name);
    array_free(claims);
    return status;
}

struct identity {
    dev_t device;
    ino_t inode;
};

static int compare_identities(const void *a, const void *b)
{
    const struct identity *first = a, *second = b;
    if (first->device != second->device)
        return first->device < second->device ? -1 : 1;
    return (first->inode > second->inode) - (first->inode < second->inode);
}

static bool identify(struct identity *identity, const char *path)
{
    struct stat info;
    if (!path || stat(path, &info))
        return false;
    *identity = (struct identity){info.st_dev, info.st_ino};
    return true;
}

/* Masks are replaced by renaming, which would leave a linked input alone; but a name that leads to an input is a mistake
 * all the same. */
static enum clv_status check_inputs_untouched(const struct output_list *outputs, const struct input_list *inputs,
                                              struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    struct identity *known = array_alloc(inputs->n, 2 * sizeof *known), own;
    if (!known)
        return fail_memory(err);
    size_t n = 0;
    for (size_t i = 0; i < inputs->n; i++) {
        n += identify(&known[n], inputs->items[i].image);
        n += identify(&known[n], inputs->items[i].mask);
    }
    if (n)
        qsort(known, n, sizeof *known, compare_identities);
    for (size_t i = 0; i < outputs->n && n && status == CLV_OK; i++) {
        const char *paths[] = {outputs->items[i].mask, outputs->items[i].overlay};
        for (size_t k = 0; k < 2 && status == CLV_OK; k++)
            if (identify(&own, paths[k]) && bsearch(&own, known, n, sizeof own, compare_identities))
                status = fail(err, CLV_ERR_USAGE, "%s: the output would replace an input", paths[k]);
    }
    array_free(known);
    return status;
}

static enum clv_status check_existing(struct output_list *outputs, enum existing existing, struct clv_error *err)
{
    for (size_t i = 0; i < outputs->n; i++) {
        struct output *output = &outputs->items[i];
        bool mask = path_exists(output->mask), overlay = output->overlay && path_exists(output->overlay);
        if ((mask && path_is_folder(output->mask)) || (overlay && path_is_folder(output->overlay)))
            return fail(err, CLV_ERR_CREATE, "%s: is a folder", mask ? output->mask : output->overlay);
        if (existing == EXISTING_REFUSE && (mask || overlay))
            return fail(err, CLV_ERR_CREATE, "%s: exists already; --overwrite replaces it, --resume does the rest",
                        mask ? output->mask : output->overlay);
        output->finished = existing == EXISTING_RESUME && mask && (overlay || !output->overlay);
        outputs->n_finished += output->finished;
    }
    return CLV_OK;
}

enum clv_status outputs_plan(struct output_list *outputs, const struct input_list *inputs, const char *folder,
                             bool overlays, enum existing existing, struct clv_error *err)
{
    struct output_list planned = {0};
    *outputs = planned;
    if (path_exists(folder) && !path_is_folder(folder))
        return fail(err, CLV_ERR_CREATE, "%s: is not a folder", folder);
    enum clv_status status = make_paths(&planned, inputs, folder, overlays, err);
    if (status == CLV_OK)
        status = check_clashes(&planned, inputs, err);
    if (status == CLV_OK)
        status = check_inputs_untouched(&planned, inputs, err);
    if (status == CLV_OK)
        status = check_existing(&planned, existing, err);
    if (status == CLV_OK)
        *outputs = planned;
    else
        output_list_release(&planned);
    return status;
}

enum clv_status outputs_make_folder(const char *path, struct clv_error *err)
{
    char *folder = path_folder(path);
    enum clv_status status = folder ? folder_create(folder, err) : fail_memory(err);
    array_free(folder);
    return status;
}

enum clv_status output_check_creatable(const char *path, struct clv_error *err)
{
    struct stat info;
    if (strcmp(path, "-") == 0)
        return CLV_OK;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return fail(err, CLV_ERR_CREATE, "%s: is a folder", path);
        return access(path, W_OK) ? fail_errno(err, CLV_ERR_CREATE, "%s: cannot write", path) : CLV_OK;
    }
    char *folder = path_folder(path);
    enum clv_status status = CLV_OK;
    if (!folder)
        status = fail_memory(err);
    else if (stat(folder, &info))
        status = fail_errno(err, CLV_ERR_CREATE, "%s: cannot create", path);
    else if (!S_ISDIR(info.st_mode))
        status = fail(err, CLV_ERR_CREATE, "%s: cannot create: %s is not a folder", path, folder);
    else if (access(folder, W_OK | X_OK))
        status = fail_errno(err, CLV_ERR_CREATE, "%s: cannot create", path);
    array_free(folder);
    return status;
}
