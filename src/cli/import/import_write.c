/* Writes the images, masks and tables of an imported set (import_write), and chooses its splits so that copies of an
 * image, and the images of a folder, stay together (import_split). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "cli/import/import.h"
#include "data/boxes/boxes.h"

/* Splits, in which related images stay together. */

/* With fewer folders, these are probably kinds of images rather than scenes, and both splits should have all kinds. */
#define MANY_FOLDERS 10

#define LARGEST_IMAGE ((size_t)1 << 30)

/* The hash of an image; images with equal hashes are in one group. */
struct key {
    uint64_t hash;
    size_t item;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *s = a, *t = b;
    if (s->hash != t->hash)
        return s->hash < t->hash ? -1 : 1;
    return (s->item > t->item) - (s->item < t->item);
}

/* Joins the groups of items with equal hashes; returns the number of different hashes. The root of a group is its first
 * item. */
static size_t join(int32_t *parent, struct key *keys, size_t n)
{
    size_t n_different = n > 0;
    if (n)
        qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 1; i < n; i++) {
        if (keys[i].hash != keys[i - 1].hash) {
            n_different++;
            continue;
        }
        int32_t a = root_of(parent, (int32_t)keys[i - 1].item), b = root_of(parent, (int32_t)keys[i].item);
        parent[larger(a, b)] = smaller(a, b);
    }
    return n_different;
}

static enum clv_status hash_contents(struct key *keys, const struct import_set *self, struct clv_error *err)
{
    for (size_t i = 0; i < self->n; i++) {
        char *bytes;
        size_t size;
        MUST(file_read(&bytes, &size, self->items[i].image, LARGEST_IMAGE, err));
        keys[i] = (struct key){hash_bytes(HASH_START, bytes, size), i};
        array_free(bytes);
    }
    return CLV_OK;
}

static size_t hash_folders(struct key *keys, const struct import_set *self)
{
    size_t n_folders = 0;
    for (size_t i = 0; i < self->n; i++) {
        const char *name = self->items[i].name;
        keys[i] = (struct key){hash_bytes(HASH_START, name, (size_t)(path_name(name) - name)), i};
    }
    /* Items are sorted by name, so files of a folder are contiguous, except for subfolders between them. */
    for (size_t i = 0; i < self->n; i++)
        n_folders += i == 0 || keys[i].hash != keys[i - 1].hash;
    return n_folders;
}

/* Assigns whole groups, in random order, to the test split until it has its share. */
static enum clv_status assign_splits(struct import_set *self, int32_t *parent, struct clv_error *err)
{
    size_t n = self->n, n_groups = 0, n_test = 0;
    size_t wanted = size_of_number((1 - self->options->train_share) * (double)n + 0.5);
    OWNED_ARRAY int32_t *order = array_alloc(n, sizeof *order);
    OWNED_ARRAY size_t *firsts = array_alloc(n, sizeof *firsts), *sizes = array_zalloc(n, sizeof *sizes);
    NEED(order && firsts && sizes);
    for (size_t i = 0; i < n; i++) {
        size_t first = (size_t)root_of(parent, (int32_t)i);
        sizes[first]++;
        if (first == i)
            firsts[n_groups++] = i;
    }
    rng_permutation(order, n_groups, self->options->seed, RNG_STREAM(RNG_FOLD, 0));
    for (size_t k = 0; k < n_groups; k++) {
        size_t first = firsts[order[k]];
        if (n_test >= wanted || (n_test && n_test + sizes[first] > wanted + wanted / 2))
            continue;
        n_test += sizes[first];
        self->items[first].split = "test";
    }
    for (size_t i = 0; i < n; i++) {
        const char *split = self->items[root_of(parent, (int32_t)i)].split;
        self->items[i].split = split ? split : "train";
    }
    return CLV_OK;
}

static const char *const splits[3] = {"train", "val", "test"};

/* Uses the published splits if there are at least two. *is_taken = whether it did. */
static enum clv_status take_published(bool *is_taken, struct import_set *self, struct clv_error *err)
{
    size_t n_of[3] = {0, 0, 0};
    for (size_t i = 0; i < self->n; i++)
        for (int k = 0; k < 3; k++)
            n_of[k] += self->items[i].published && strcmp(self->items[i].published, splits[k]) == 0;
    *is_taken = (n_of[0] > 0) + (n_of[1] > 0) + (n_of[2] > 0) > 1;
    if (!*is_taken)
        return CLV_OK;
    FAIL_IF(self->options->split_option, CLV_ERR_USAGE,
            "--%s cannot be used with %s: it has splits of its own; leave it out", self->options->split_option,
            self->options->annotations);
    for (size_t i = 0; i < self->n; i++) {
        struct import_item *item = &self->items[i];
        item->split = item->published ? item->published : "train";
        if (!n_of[2] && strcmp(item->split, "val") == 0)
            item->split = "test";
    }
    console_note("splits are those that were published: %zu for training, %zu for validation%s, %zu for tests", n_of[0],
                 n_of[1], n_of[2] || !n_of[1] ? "" : ", which are split test", n_of[2]);
    return CLV_OK;
}

enum clv_status import_split(struct import_set *self, struct clv_error *err)
{
    size_t n = self->n;
    bool is_published;
    MUST(take_published(&is_published, self, err));
    for (size_t i = 0; i < n; i++)
        if (self->items[i].split)
            return CLV_OK; /* the annotations have splits */
    OWNED_ARRAY struct key *keys = array_alloc(n, sizeof *keys);
    OWNED_ARRAY int32_t *parent = array_alloc(n, sizeof *parent);
    NEED(keys && parent);
    MUST(hash_contents(keys, self, err));
    for (size_t i = 0; i < n; i++)
        parent[i] = (int32_t)i;
    size_t n_different = join(parent, keys, n);
    if (n_different < n)
        console_note("%s there more than once; copies are in one split",
                     n_of(n - n_different, "image is", "images are").text);
    size_t n_folders = hash_folders(keys, self);
    int choice = self->options->group_by_folder;
    if (choice == 2 || (choice == 0 && n_folders >= MANY_FOLDERS)) {
        join(parent, keys, n);
        console_note("the images of each of %zu folders are in one split; --group-by none mixes them", n_folders);
    }
    return assign_splits(self, parent, err);
}

#define LARGEST_FILE ((size_t)1 << 30)

/* Keeps only the first n items. */
static void cut_back(struct import_set *self, size_t n)
{
    while (self->n > n) {
        struct import_item *item = &self->items[--self->n];
        arrays_free(item->name, item->image, item->mask, item->instances);
    }
}

enum clv_status import_settle(struct import_set *self, size_t n_before, enum clv_status status, struct clv_error *err)
{
    if (status != CLV_OK)
        cut_back(self, n_before);
    if (status != CLV_ERR_DATA && status != CLV_ERR_NO_INPUT)
        return status;
    console_error("%s", err->message);
    self->n_failed++;
    return CLV_OK;
}

void import_set_release(struct import_set *self)
{
    cut_back(self, 0);
    array_free(self->items);
    text_release(&self->boxes);
    text_release(&self->labels);
    path_list_release(&self->splits);
    *self = (struct import_set){0};
}

/* Fails for a name that the tables cannot have. */
static enum clv_status check_name(const char *name, struct clv_error *err)
{
    FAIL_IF(strpbrk(name, "\t\r\n"), CLV_ERR_DATA, "%s: a tab or line end in a name", name);
    FAIL_IF(!text_is_utf8(name, strlen(name)), CLV_ERR_DATA, "%s: its name is not UTF-8", name);
    return CLV_OK;
}

enum clv_status import_add(struct import_set *self, const char *name, const char *image, const char *split,
                           struct clv_error *err)
{
    MUST(check_name(name, err));
    NEED(!array_reserve((void **)&self->items, &self->capacity, self->n + 1, sizeof *self->items));
    struct import_item *item = &self->items[self->n++];
    *item = (struct import_item){.name = string_copy(name), .image = string_copy(image), .split = split};
    return item->name && item->image ? CLV_OK : fail_memory(err);
}

/* Returns *path, a new path in the set, and makes its folder. */
static enum clv_status make_path(char **path, const struct import_set *self, const char *below, struct clv_error *err)
{
    *path = NULL;
    FAIL_IF(*signals_stop(), CLV_ERR_INTERRUPTED, "interrupted; %s is as it was", self->options->output);
    OWNED_ARRAY char *result = path_join(self->folder, below);
    NEED(result);
    MUST(outputs_make_folder(result, err));
    *path = TAKE(result);
    return CLV_OK;
}

/* Chooses an unused name for the item's mask, since a folder may have both a.jpg and a.png. */
static enum clv_status name_mask(struct import_set *self, struct import_item *item, struct clv_error *err)
{
    OWNED_ARRAY char *named = path_join("masks", item->name);
    char ending[32] = ".png";
    NEED(named);
    for (int attempt = 2;; attempt++) {
        array_free(item->mask);
        NEED(item->mask = path_replace_extension(named, ending));
        OWNED_ARRAY char *path = path_join(self->folder, item->mask);
        NEED(path);
        if (!path_exists(path))
            return CLV_OK;
        snprintf(ending, sizeof ending, "-%d.png", attempt);
    }
}

enum clv_status import_write_mask(struct import_set *self, int32_t width, int32_t height, const uint8_t *mask,
                                  struct clv_error *err)
{
    struct import_item *item = &self->items[self->n - 1];
    uint8_t palette[256][3];
    OWNED_ARRAY char *path = NULL;
    MUST(name_mask(self, item, err));
    MUST(make_path(&path, self, item->mask, err));
    clv_default_palette(palette);
    MUST(clv_png_write_labels(path, width, height, mask, (const uint8_t(*)[3])palette, 256, err));
    self->n_masks++;
    return CLV_OK;
}

enum clv_status import_write_objects(struct import_set *self, const struct clv_object_map *map, struct clv_error *err)
{
    struct import_item *item = &self->items[self->n - 1];
    OWNED_ARRAY char *path = NULL, *named = path_join("instances", item->mask + strlen("masks/"));
    bool is_tiff = false;
    NEED(named);
    MUST(make_path(&path, self, named, err));
    MUST(clv_object_map_write(&is_tiff, path, map, err));
    if (is_tiff && !self->has_tiff)
        console_note("%s: %d objects, more than 16 bits can number: it and others like it are TIFF of 32 bits, .tif",
                     named, map->n_objects);
    self->has_tiff |= is_tiff;
    item->instances = is_tiff ? path_replace_extension(named, ".tif") : string_copy(named);
    NEED(item->instances);
    return CLV_OK;
}

enum clv_status import_copy(const struct import_set *self, const char *from, const char *below, struct clv_error *err)
{
    OWNED_ARRAY char *bytes = NULL, *path = NULL;
    size_t size;
    MUST(file_read(&bytes, &size, from, LARGEST_FILE, err));
    MUST(make_path(&path, self, below, err));
    return file_write(path, bytes, size, err);
}

static enum clv_status write_text(const struct import_set *self, const char *name, const struct text *text,
                                  struct clv_error *err)
{
    OWNED_ARRAY char *path = NULL;
    NEED(!text->failed);
    MUST(make_path(&path, self, name, err));
    return file_write(path, text->bytes, text->size, err);
}

/* Appends the faults in first..end - 1 that occurred, as "2 lines, 1 point". */
static void list_faults(struct text *text, const struct import_set *self, int first, int end)
{
    for (int k = first; k < end; k++)
        if (self->n_faults[k])
            text_printf(text, "%s%s", text->size ? ", " : "",
                        annotation_faults((enum clv_fault_of_annotation)k, self->n_faults[k]).text);
}

void import_report(const struct import_set *self)
{
    const size_t n_crowds = self->n_faults[CLV_ANNOTATION_CROWD];
    struct text voids, skipped;
    text_init(&voids, 1 << 12);
    text_init(&skipped, 1 << 12);
    list_faults(&voids, self, CLV_ANNOTATION_RUNS, CLV_ANNOTATION_CROWD);
    list_faults(&voids, self, CLV_ANNOTATION_IGNORED, CLV_ANNOTATION_STRAY);
    list_faults(&skipped, self, CLV_ANNOTATION_NOTHING, CLV_ANNOTATION_IGNORED);
    list_faults(&skipped, self, CLV_ANNOTATION_STRAY, CLV_ANNOTATION_FAULTS);
    if (voids.size)
        console_note("void, neither object nor background: %s", voids.bytes);
    if (skipped.size)
        console_note("skipped: %s", skipped.bytes);
    if (self->n_crowd_objects)
        console_note(
            "%s, as CVAT writes what was drawn with a brush",
            n_of(self->n_crowd_objects, "crowd of one piece is an object", "crowds of one piece are objects").text);
    if (n_crowds)
        console_note("%s in the mask, and no object",
                     n_of(n_crowds, "crowd of several pieces is", "crowds of several pieces are").text);
    if (self->n_unnamed)
        console_note("void, because labelmap.txt does not name their colours: %s",
                     n_of(self->n_unnamed, "pixel", "pixels").text);
    text_release(&voids);
    text_release(&skipped);
}

enum clv_status import_fail(const struct import_set *self, struct clv_error *err)
{
    const struct counted images = n_of(self->n_failed, "image", "images");
    const struct counted files = n_of(self->n_bad_files, "file of annotations", "files of annotations");
    if (self->n_bad_files && self->n_failed)
        return fail(err, CLV_ERR_DATA, "%s could not be taken over, and %s not be read", images.text, files.text);
    if (self->n_bad_files)
        return fail(err, CLV_ERR_DATA, "%s could not be read", files.text);
    return fail(err, CLV_ERR_DATA, "%s could not be taken over", images.text);
}

enum clv_status import_write(struct import_set *self, struct clv_error *err)
{
    OWNED(text_release) struct text manifest = {0};
    bool has_instances = false;
    for (size_t i = 0; i < self->n; i++)
        has_instances |= self->items[i].instances != NULL;
    text_init(&manifest, (size_t)1 << 30);
    text_printf(&manifest, "image\tmask\t%s%ssplit\n", has_instances ? "instances\t" : "",
                self->n_boxed ? "boxes\t" : "");
    for (size_t i = 0; i < self->n; i++) {
        const struct import_item *item = &self->items[i];
        OWNED_ARRAY char *below = path_join("images", item->name);
        NEED(below);
        MUST(import_copy(self, item->image, below, err));
        text_printf(&manifest, "%s\t%s\t%s%s%s%s%s\n", below, item->mask ? item->mask : "",
                    item->instances ? item->instances : "", has_instances ? "\t" : "",
                    item->has_boxes ? "boxes.tsv" : "", self->n_boxed ? "\t" : "", item->split);
    }
    if (self->n_boxed)
        MUST(write_text(self, "boxes.tsv", &self->boxes, err));
    MUST(write_text(self, "labels.tsv", &self->labels, err));
    return write_text(self, "manifest.tsv", &manifest, err);
}
