/* Finds the map of an image in a folder, by the image's path without extension; leading folders of that path are
 * dropped one by one until a map is found. Start at map_find. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "data/maps/maps.h"

/* .npz is not supported; it is in the list so that the error names the file. */
static const char *const extensions[] = {".npy", ".png", ".safetensors", ".npz"};
#define N_EXTENSIONS (sizeof extensions / sizeof *extensions)

/* Finds the map whose path without extension is `stem`; *path stays NULL if there is none. */
static enum clv_status find_by_stem(char **path, const char *stem, struct clv_error *err)
{
    size_t length = strlen(stem);
    OWNED_ARRAY char *found = NULL;
    for (size_t k = 0; k < N_EXTENSIONS; k++) {
        OWNED_ARRAY char *candidate = array_alloc(length + 16, 1);
        NEED(candidate);
        snprintf(candidate, length + 16, "%s%s", stem, extensions[k]);
        bool exists = path_exists(candidate);
        FAIL_IF(exists && found, CLV_ERR_DATA, "two maps of one name, %s and %s", found, candidate);
        if (exists)
            found = TAKE(candidate);
    }
    *path = TAKE(found);
    return CLV_OK;
}

enum clv_status map_find(char **path, const char *folder, const char *image, struct clv_error *err)
{
    *path = NULL;
    OWNED_ARRAY char *name = path_replace_extension(image, "");
    NEED(name);
    for (const char *part = name; part && !*path;) {
        if (*part && *part != '/' && strncmp(part, "../", 3) != 0) {
            OWNED_ARRAY char *stem = path_join(folder, part);
            NEED(stem);
            MUST(find_by_stem(path, stem, err));
        }
        part = strchr(part, '/');
        part = part ? part + 1 : NULL;
    }
    FAIL_IF(!*path && !path_is_folder(folder), CLV_ERR_NO_INPUT, "%s: no such folder of maps", folder);
    FAIL_IF(!*path, CLV_ERR_NO_INPUT, "%s: no map of %s in it (.npy, .png or .safetensors of the same name)", folder,
            image);
    return CLV_OK;
}
