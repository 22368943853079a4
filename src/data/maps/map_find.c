#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "data/maps/maps.h"

/* .npz is found so that reading it reports what is wrong with it. */
static const char *const extensions[] = {".npy", ".png", ".safetensors", ".npz"};
#define N_EXTENSIONS (sizeof extensions / sizeof *extensions)

/* The file of that stem, without extension; *path stays NULL where there is none. */
static enum clv_status look(char **path, const char *stem, struct clv_error *err)
{
    size_t length = strlen(stem);
    for (size_t k = 0; k < N_EXTENSIONS; k++) {
        char *candidate = array_alloc(length + 16, 1);
        MUST_IF(!candidate, fail_memory(err));
        snprintf(candidate, length + 16, "%s%s", stem, extensions[k]);
        bool is_there = path_exists(candidate);
        if (is_there && *path) {
            enum clv_status status = fail(err, CLV_ERR_DATA, "two maps of one name, %s and %s", *path, candidate);
            arrays_free(candidate, *path);
            *path = NULL;
            return status;
        }
        if (is_there)
            *path = candidate;
        else
            array_free(candidate);
    }
    return CLV_OK;
}

enum clv_status map_find(char **path, const char *folder, const char *image, struct clv_error *err)
{
    *path = NULL;
    enum clv_status status = CLV_OK;
    char *name = path_replace_extension(image, "");
    MUST_IF(!name, fail_memory(err));
    const char *part = name;
    while (status == CLV_OK && part && !*path) {
        if (*part && *part != '/' && strncmp(part, "../", 3) != 0) {
            char *stem = path_join(folder, part);
            status = stem ? look(path, stem, err) : fail_memory(err);
            array_free(stem);
        }
        part = strchr(part, '/');
        part = part ? part + 1 : NULL;
    }
    array_free(name);
    TRY_IF(!*path && !path_is_folder(folder), fail(err, CLV_ERR_NO_INPUT, "%s: no such folder of maps", folder));
    TRY_IF(!*path, fail(err, CLV_ERR_NO_INPUT, "%s: no map of %s in it (.npy, .png or .safetensors of the same name)",
                        folder, image));
    return status;
}
