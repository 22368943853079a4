/* `cleave import masks`: converts masks of other programs to a set. Pairs the masks and photos of a folder, of two
 * folders or of a set by their names, examines all masks, makes a plan (src/masks), and converts every mask by it. Run
 * lengths in a CSV are painted like annotations of objects. Start at import_masks. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "cli/import/import.h"
#include "image/image.h"
#include "masks/masks.h"

#define LARGEST_CSV ((size_t)1 << 30)

/* The command's input: masks with their photos. */
struct job {
    struct clv_set set;       /* the set that is converted, or a manifest beside the masks, for its splits */
    struct clv_labels labels; /* from labels.tsv; n_labels 0: none */
    struct colour_table table;
    struct path_list masks, images, faults; /* paths to open; faults: messages */
    struct job_item {
        char *mask, *image, *name; /* name: path below the folder of photos */
        const char *split;         /* borrowed from the set, or static; NULL: not chosen yet */
    } * items;                     /* [n] */
    size_t n, capacity;
    struct bare_item {
        char *image, *name;
        const char *split;
        size_t before; /* index of the next item in the order of the images; n: none */
    } * bare;          /* [n_bare] images without a mask */
    size_t n_bare, bare_capacity, n_lone;
    char *first_lone;
};

static void job_release(struct job *self)
{
    for (size_t i = 0; i < self->n; i++)
        arrays_free(self->items[i].mask, self->items[i].image, self->items[i].name);
    for (size_t i = 0; i < self->n_bare; i++)
        arrays_free(self->bare[i].image, self->bare[i].name);
    arrays_free(self->items, self->bare, self->first_lone);
    clv_set_release(&self->set);
    clv_labels_release(&self->labels);
    colour_table_release(&self->table);
    path_list_release(&self->masks);
    path_list_release(&self->images);
    path_list_release(&self->faults);
}

static enum clv_status add_item(struct job *self, const char *mask, const char *image, const char *name,
                                const char *split, struct clv_error *err)
{
    NEED(array_reserve((void **)&self->items, &self->capacity, self->n + 1, sizeof *self->items) == 0);
    struct job_item *item = &self->items[self->n++];
    *item = (struct job_item){string_copy(mask), string_copy(image), string_copy(name), split};
    NEED(item->mask && item->image && item->name);
    return CLV_OK;
}

static enum clv_status add_bare(struct job *self, const char *image, const char *name, const char *split,
                                struct clv_error *err)
{
    NEED(array_reserve((void **)&self->bare, &self->bare_capacity, self->n_bare + 1, sizeof *self->bare) == 0);
    struct bare_item *item = &self->bare[self->n_bare++];
    *item = (struct bare_item){string_copy(image), string_copy(name), split, self->n};
    NEED(item->image && item->name);
    return CLV_OK;
}

/* Lists the images below a folder, and the pages of files with several, except images below `except`. */
static enum clv_status list_images(struct path_list *list, const char *folder, const char *except,
                                   struct clv_error *err)
{
    OWNED(path_list_release) struct path_list files = {0};
    char real[PATH_MAX], real_except[PATH_MAX] = "";
    FAIL_IF(!path_is_folder(folder), CLV_ERR_NO_INPUT, "%s: is not a folder", folder);
    MUST(folder_walk(&files, folder, err));
    const bool is_within = except && realpath(folder, real) && realpath(except, real_except) &&
                           strncmp(real_except, real, strlen(real)) == 0 && real_except[strlen(real)] == '/';
    const char *below = is_within ? real_except + strlen(real) + 1 : NULL;
    for (size_t i = 0; i < files.n; i++) {
        OWNED_ARRAY char *path = path_join(folder, files.paths[i]);
        NEED(path);
        const size_t n_below = below ? strlen(below) : 0;
        const bool is_excepted =
            below && strncmp(files.paths[i], below, n_below) == 0 && files.paths[i][n_below] == '/';
        if (!is_excepted && path_is_image(path))
            MUST(path_list_add_pages(list, folder, files.paths[i], err));
    }
    return CLV_OK;
}

/* Removes Cityscapes' other files if there are files of labels: Cityscapes has several files per image. */
static void keep_label_ids(struct path_list *masks)
{
    static const char *const others[] = {"_color.", "_instanceIds.", "_instanceTrainIds."};
    size_t kept = 0, n_ids = 0;
    for (size_t i = 0; i < masks->n; i++)
        n_ids += strstr(masks->paths[i], "_labelIds.") || strstr(masks->paths[i], "_labelTrainIds.");
    for (size_t i = 0; i < masks->n; i++) {
        bool is_other = false;
        for (size_t k = 0; k < sizeof others / sizeof *others && n_ids; k++)
            is_other |= strstr(masks->paths[i], others[k]) != NULL;
        if (is_other)
            array_free(masks->paths[i]);
        else
            masks->paths[kept++] = masks->paths[i];
    }
    masks->n = kept;
}

/* Returns the split that the first folder of a path names, or NULL. */
static const char *split_of_folder(const char *name)
{
    static const char *const folders[][2] = {{"train/", "train"}, {"training/", "train"}, {"val/", "val"},
                                             {"valid/", "val"},   {"validation/", "val"}, {"test/", "test"},
                                             {"testing/", "test"}};
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++)
        if (text_matches_n(name, folders[k][0], strlen(folders[k][0])))
            return folders[k][1];
    return NULL;
}

/* Returns the split of a photo by the manifest beside the masks, or NULL. */
static const char *split_of_manifest(const struct clv_set *set, const char *image)
{
    char real[PATH_MAX], other[PATH_MAX];
    if (!set->n_items || !realpath(image, real))
        return NULL;
    for (size_t i = 0; i < set->n_items; i++)
        if (strcmp(path_name(set->items[i].image), path_name(image)) == 0 && *set->items[i].split &&
            realpath(set->items[i].image, other) && strcmp(real, other) == 0)
            return set->items[i].split;
    return NULL;
}

/* Adds items by pairing masks and photos by their names. */
static enum clv_status pair_items(struct job *self, const char *masks, const char *images, struct clv_error *err)
{
    OWNED_ARRAY size_t *mask_of = array_alloc(self->images.n, sizeof *mask_of);
    OWNED_ARRAY bool *is_used = array_zalloc(self->masks.n, sizeof *is_used);
    NEED(mask_of && is_used);
    MUST(masks_pair(mask_of, &self->faults, &self->masks, &self->images, err));
    for (size_t i = 0; i < self->images.n; i++) {
        const char *name = self->images.paths[i];
        OWNED_ARRAY char *image = path_join(images, name);
        NEED(image);
        const char *published = split_of_manifest(&self->set, image);
        const char *split = published ? published : split_of_folder(name);
        if (mask_of[i] == NO_MASK) {
            MUST(add_bare(self, image, name, split, err));
            continue;
        }
        is_used[mask_of[i]] = true;
        OWNED_ARRAY char *mask = path_join(masks, self->masks.paths[mask_of[i]]);
        NEED(mask);
        MUST(add_item(self, mask, image, name, split, err));
    }
    for (size_t i = 0; i < self->masks.n; i++)
        if (!is_used[i] && !self->n_lone++)
            NEED(self->first_lone = string_copy(self->masks.paths[i]));
    return CLV_OK;
}

/* Reads the path as a set, as `cleave train' does, if its images have masks. *is_set = whether it is one. */
static enum clv_status take_set(struct job *self, const char *path, bool *is_set, struct clv_error *err)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    struct clv_error ignored;
    size_t n_masks = 0;
    *is_set = false;
    OWNED_ARRAY char *manifest = path_join(path, "manifest.tsv");
    NEED(manifest);
    const bool is_manifest = path_is_folder(path) ? path_exists(manifest) : true;
    const enum clv_status status = clv_set_read(&set, path, is_manifest ? err : &ignored);
    if (is_manifest)
        MUST(status);
    if (status != CLV_OK)
        return CLV_OK;
    for (size_t i = 0; i < set.n_items; i++)
        n_masks += set.items[i].mask && !set.items[i].is_derived;
    if (!n_masks || (!is_manifest && set.n_lone_masks))
        return is_manifest ? fail(err, CLV_ERR_DATA, "%s: names no masks", path) : CLV_OK;
    *is_set = true;
    self->set = TAKE(set);
    for (size_t i = 0; i < self->set.n_items; i++) {
        const struct clv_item *item = &self->set.items[i];
        const char *name = strncmp(item->name, "images/", 7) == 0 ? item->name + 7 : item->name;
        const char *split = *item->split ? item->split : NULL;
        if (item->mask && !item->is_derived)
            MUST(add_item(self, item->mask, item->image, name, split, err));
        else
            MUST(add_bare(self, item->image, name, split, err));
    }
    return CLV_OK;
}

/* Reads a manifest beside the masks, only for its splits. */
static enum clv_status find_manifest(struct job *self, const char *masks, const char *images, struct clv_error *err)
{
    const char *const folders[] = {masks, images};
    for (int k = 0; k < 2 && !self->set.n_items; k++) {
        OWNED_ARRAY char *parent = path_folder(folders[k]);
        OWNED_ARRAY char *path = parent ? path_join(parent, "manifest.tsv") : NULL;
        NEED(path);
        if (path_exists(path))
            MUST(clv_set_read_manifest(&self->set, path, err));
    }
    return CLV_OK;
}

/* Reads labels.tsv in one of the folders or their parents, unless a file or a dataset's codes are given; without one,
 * finds a colour table. */
static enum clv_status find_labels(struct job *self, const struct import_options *options, const char *masks,
                                   const char *images, struct clv_error *err)
{
    const char *const folders[] = {masks, images};
    if (options->labels)
        return clv_labels_read(&self->labels, options->labels, err);
    for (int k = 0; k < 4 && !options->codes; k++) {
        const char *folder = folders[k / 2];
        OWNED_ARRAY char *parent = folder ? path_folder(folder) : NULL;
        NEED(!folder || parent);
        OWNED_ARRAY char *path = folder ? path_join(k % 2 ? parent : folder, "labels.tsv") : NULL;
        NEED(!folder || path);
        if (path && path_exists(path)) {
            console_note("%s: names the labels", path);
            return clv_labels_read(&self->labels, path, err);
        }
    }
    return colour_table_find(&self->table, masks, err);
}

/* Finds masks and photos. */
static enum clv_status gather(struct job *self, const struct import_options *options, struct clv_error *err)
{
    const char *masks = options->annotations, *images = options->images;
    bool is_set = false;
    if (!images)
        MUST(take_set(self, masks, &is_set, err));
    if (is_set && self->n) {
        OWNED_ARRAY char *folder = path_folder(self->items[0].mask);
        NEED(folder);
        if (!self->set.labels.from_file || options->labels)
            return find_labels(self, options, folder, path_is_folder(masks) ? masks : NULL, err);
        return options->codes ? CLV_OK : clv_labels_copy(&self->labels, &self->set.labels, err);
    }
    if (images) {
        MUST(list_images(&self->masks, masks, NULL, err));
        MUST(list_images(&self->images, images, masks, err));
        MUST(find_manifest(self, masks, images, err));
    } else {
        OWNED(path_list_release) struct path_list files = {0};
        MUST(list_images(&files, masks, NULL, err));
        keep_label_ids(&files);
        if (files.n)
            MUST(masks_part(&self->masks, &self->images, masks, &files, &options->limits, err));
        FAIL_IF(!self->masks.n, CLV_ERR_USAGE,
                "%s: masks and photos are not told apart; --images FOLDER says where the photos are", masks);
        images = masks;
    }
    FAIL_IF(!self->images.n, CLV_ERR_NO_INPUT, "%s: holds no image", images);
    FAIL_IF(!self->masks.n, CLV_ERR_NO_INPUT, "%s: holds no mask that is an image", masks);
    keep_label_ids(&self->masks);
    MUST(find_labels(self, options, masks, images, err));
    MUST(pair_items(self, masks, images, err));
    FAIL_IF(!self->n && !self->faults.n, CLV_ERR_DATA,
            "%s: none of the %zu masks, such as %s, is called as one of the %zu images in %s, such as %s", masks,
            self->masks.n, self->masks.paths[0], self->images.n, images, self->images.paths[0]);
    return CLV_OK;
}

/* Prints the labels in one line. */
static void note_labels(const struct import_set *self, const struct mask_plan *plan)
{
    struct text text;
    text_init(&text, 1 << 16);
    for (int32_t v = 0; v < plan->labels.n_labels; v++)
        if (plan->labels.names[v][0])
            text_printf(&text, "%s%d %s", text.size ? ", " : "", v, plan->labels.names[v]);
    if (!text.failed)
        console_note("labels: %s; %s/labels.tsv is to rename them", text.bytes, self->options->output);
    text_release(&text);
}

static enum clv_status note_plan(const struct import_set *self, const struct mask_plan *plan,
                                 const struct mask_survey *survey, struct clv_error *err)
{
    struct text text;
    text_init(&text, 1 << 16);
    mask_plan_describe(&text, plan, survey);
    const bool failed = text.failed;
    if (!failed)
        console_note("%s: made %s", self->options->annotations, text.bytes);
    text_release(&text);
    NEED(!failed);
    if (plan->codes && !self->options->codes && plan->codes->mark >= 0)
        console_note("the colours are those of %s; --codes says otherwise", plan->codes->title);
    if (plan->is_white_void)
        console_note("255 was taken for void; --white foreground or --white label says otherwise");
    if (plan->may_be_objects)
        console_note("values were taken for labels; --as objects takes each for an object");
    if (plan->has_order)
        console_note("labels.tsv names none of the values, and as many labels: they were taken in their order");
    if (!plan->are_objects)
        note_labels(self, plan);
    return CLV_OK;
}

/* Converts one mask and adds it with its photo. *n_unknown = the number of its pixels without a label. */
static enum clv_status convert_item(struct import_set *self, const struct mask_plan *plan,
                                    const struct mask_facts *facts, const struct job_item *item, size_t *n_unknown,
                                    struct clv_error *err)
{
    OWNED(converted_mask_release) struct converted_mask result = {0};
    const struct mask_pair pair = {item->mask, item->image};
    MUST(mask_convert(&result, plan, facts, &pair, &self->options->limits, err));
    MUST(import_add(self, item->name, item->image, item->split, err));
    MUST(import_write_mask(self, result.width, result.height, result.labels, err));
    if (plan->are_objects)
        MUST(import_write_objects(self, &result.objects, err));
    *n_unknown = result.n_unknown;
    return CLV_OK;
}

/* Adds the images without a mask that precede the job's item i, if they are wanted, from *next on; advances *next. */
static enum clv_status add_bare_before(struct import_set *self, const struct job *job, size_t i, size_t *next,
                                       struct clv_error *err)
{
    for (; *next < job->n_bare && job->bare[*next].before <= i; ++*next) {
        const struct bare_item *item = &job->bare[*next];
        if (self->options->all_images)
            MUST(import_add(self, item->name, item->image, item->split, err));
    }
    return CLV_OK;
}

static enum clv_status convert_all(struct import_set *self, const struct job *job, const struct mask_plan *plan,
                                   const struct mask_survey *survey, struct clv_error *err)
{
    size_t n_unknown = 0, n_with = 0, next = 0;
    const char *first = NULL;
    const struct clv_progress progress = console_progress(NULL);
    for (size_t i = 0; i < job->n; i++) {
        size_t n = 0;
        MUST(add_bare_before(self, job, i, &next, err));
        const size_t n_before = self->n;
        FAIL_IF(*signals_stop(), CLV_ERR_INTERRUPTED, "interrupted; %s is as it was", self->options->output);
        MUST(import_settle(self, n_before, convert_item(self, plan, &survey->facts[i], &job->items[i], &n, err), err));
        if (self->n == n_before)
            continue;
        n_unknown += n;
        n_with += n > 0;
        first = n && !first ? job->items[i].mask : first;
        report_progress(&progress, "converting masks", i + 1, job->n, NULL);
    }
    MUST(add_bare_before(self, job, job->n, &next, err));
    if (n_unknown)
        console_note("%s of %s (%.2g %% of all) became void for lack of a label, first in %s",
                     n_of(n_unknown, "pixel", "pixels").text, n_of(n_with, "mask", "masks").text,
                     100 * (double)n_unknown / (double)(survey->n_pixels ? survey->n_pixels : 1), first);
    return CLV_OK;
}

static void note_lost(const struct import_set *self, const struct job *job)
{
    if (job->n_bare)
        console_note("%zu of %zu images have no mask and were %s, the first is %s", job->n_bare, job->n_bare + job->n,
                     self->options->all_images ? "taken without one" : "skipped (--all-images takes them)",
                     job->bare[0].name);
    if (job->n_lone)
        console_warning("%s: %s of no image, the first is %s", self->options->annotations,
                        n_of(job->n_lone, "mask is", "masks are").text, job->first_lone);
}

/* If any image has a published split, images without one get "train". */
static void settle_splits(struct import_set *self)
{
    size_t n = 0;
    for (size_t i = 0; i < self->n; i++)
        n += self->items[i].split != NULL;
    for (size_t i = 0; i < self->n && n; i++)
        if (!self->items[i].split)
            self->items[i].split = "train";
}

/* Copies the names of splits from the job, which is released before the set is written, to the set. */
static enum clv_status keep_splits(struct import_set *self, struct clv_error *err)
{
    for (size_t i = 0; i < self->n; i++) {
        size_t k = 0;
        while (self->items[i].split && k < self->splits.n && strcmp(self->splits.paths[k], self->items[i].split) != 0)
            k++;
        if (!self->items[i].split)
            continue;
        if (k == self->splits.n)
            MUST(path_list_add(&self->splits, self->items[i].split, err));
        self->items[i].split = self->splits.paths[k];
    }
    settle_splits(self);
    return CLV_OK;
}

static enum clv_status import_images(struct import_set *self, struct clv_error *err)
{
    const struct import_options *options = self->options;
    OWNED(job_release) struct job job = {0};
    OWNED(mask_survey_release) struct mask_survey survey = {0};
    OWNED(mask_plan_release) struct mask_plan plan = {0};
    struct clv_error why = {0};
    MUST(gather(&job, options, err));
    for (size_t i = 0; i < job.faults.n; i++) {
        console_error("%s: %s", options->annotations, job.faults.paths[i]);
        self->n_failed++;
    }
    OWNED_ARRAY struct mask_pair *pairs = array_alloc(job.n, sizeof *pairs);
    NEED(pairs);
    for (size_t i = 0; i < job.n; i++)
        pairs[i] = (struct mask_pair){job.items[i].mask, job.items[i].image};
    const struct clv_progress progress = console_progress(NULL);
    MUST(mask_survey(&survey, pairs, job.n, &options->limits, &progress, err));
    const struct mask_options mask_options = {
        .as = options->as,
        .white = options->white,
        .stretches = options->stretches,
        .codes = options->codes ? &code_tables[options->codes - 1] : NULL,
        .labels = job.labels.n_labels ? &job.labels : NULL,
        .table = job.table.table.n_rows > 1 ? &job.table.table : NULL,
    };
    const enum clv_status status = mask_plan_make(&plan, &survey, &mask_options, &why);
    if (status == CLV_ERR_DATA)
        fail_within(&why, status, options->annotations);
    if (status != CLV_OK)
        return fail_as(err, status, &why);
    MUST(convert_all(self, &job, &plan, &survey, err));
    FAIL_IF(!self->n_masks, CLV_ERR_DATA, "%s: none of the %zu masks can be taken over", options->annotations, job.n);
    labels_put_table(&self->labels, &plan.labels);
    NEED(!self->labels.failed);
    MUST(note_plan(self, &plan, &survey, err));
    note_lost(self, &job);
    return keep_splits(self, err);
}

/* The labels of run lengths: sorted names, by value if they are numbers. */
struct run_labels {
    const char **names; /* [n] */
    size_t n, capacity;
};

static void run_labels_release(struct run_labels *self)
{
    array_free(self->names);
}

/* Numbers by their values, then other names by their bytes. */
static int compare_names(const void *a, const void *b)
{
    const char *s = *(const char *const *)a, *t = *(const char *const *)b;
    int32_t first = 0, second = 0;
    const bool is_first = parse_int32(s, &first), is_second = parse_int32(t, &second);
    if (is_first != is_second)
        return is_first ? -1 : 1;
    return first != second ? (first > second) - (first < second) : strcmp(s, t);
}

/* Returns whether a row's label is background. Rows without runs may have no label. */
static bool is_background(const char *label)
{
    return !*label || strcmp(label, "background") == 0;
}

static enum clv_status find_run_labels(struct run_labels *self, const struct mask_runs *runs, const char *path,
                                       struct clv_error *err)
{
    for (size_t i = 0; i < runs->n; i++) {
        size_t k = 0;
        while (k < self->n && strcmp(self->names[k], runs->rows[i].label) != 0)
            k++;
        if (k < self->n || (runs->has_labels && is_background(runs->rows[i].label)))
            continue;
        FAIL_IF(self->n + 1 == CLV_MAX_LABELS, CLV_ERR_DATA, "%s: line %zu: more than %d labels", path,
                runs->rows[i].line, CLV_MAX_LABELS - 1);
        NEED(array_reserve((void **)&self->names, &self->capacity, self->n + 1, sizeof *self->names) == 0);
        self->names[self->n++] = runs->rows[i].label;
    }
    FAIL_IF(!self->n, CLV_ERR_DATA, "%s: names no label", path);
    qsort(self->names, self->n, sizeof *self->names, compare_names);
    return CLV_OK;
}

static uint8_t value_of(const struct run_labels *labels, const char *label)
{
    size_t k = 0;
    while (k < labels->n && strcmp(labels->names[k], label) != 0)
        k++;
    return (uint8_t)(k < labels->n ? 1 + k : 0);
}

/* Fails if a number N is a label beside "label N", the name that labels.tsv gives it. */
static enum clv_status check_numbers(const struct run_labels *self, const char *path, struct clv_error *err)
{
    for (size_t k = 0; k < self->n; k++) {
        int32_t number;
        char name[80];
        snprintf(name, sizeof name, "label %s", self->names[k]);
        FAIL_IF(parse_int32(self->names[k], &number) && value_of(self, name), CLV_ERR_DATA,
                "%s: labels \"%s\" and \"%s\" would have one name; rename one of them", path, self->names[k], name);
    }
    return CLV_OK;
}

static int compare_rows(const void *a, const void *b)
{
    const struct mask_run_row *s = a, *t = b;
    const int order = strcmp(s->image, t->image);
    return order ? order : (s->line > t->line) - (s->line < t->line);
}

/* Returns whether a row names a photo, by its whole path, its file name, or its file name without extension. */
static bool names_image(const char *row, const char *image)
{
    const char *name = path_name(image), *dot = strrchr(name, '.');
    const size_t length = dot ? (size_t)(dot - name) : strlen(name);
    return strcmp(row, image) == 0 || strcmp(row, name) == 0 ||
           (strlen(row) == length && strncmp(row, name, length) == 0);
}

struct runs_job {
    struct mask_runs runs;
    struct run_labels labels;
    struct path_list images;
    bool are_objects; /* each row is an object, since some label has several rows in an image */
};

static void runs_job_release(struct runs_job *self)
{
    run_labels_release(&self->labels);
    mask_runs_release(&self->runs);
    path_list_release(&self->images);
}

/* Writes only the mask: each row has all objects of its label. */
static enum clv_status write_layers(struct import_set *self, const struct import_objects *objects,
                                    struct clv_error *err)
{
    const size_t n = (size_t)objects->map.width * (size_t)objects->map.height;
    OWNED_ARRAY uint8_t *mask = array_zalloc(n, 1);
    NEED(mask);
    for (size_t p = 0; p < n; p++)
        if (objects->map.objects[p])
            mask[p] = objects->objects[objects->map.objects[p] - 1].value;
    return import_write_mask(self, objects->map.width, objects->map.height, mask, err);
}

/* Adds one photo with its rows. */
static enum clv_status import_rows(struct import_set *self, const struct runs_job *job, const char *image,
                                   const struct mask_run_row *rows, size_t n, struct clv_error *err)
{
    const struct import_options *options = self->options;
    OWNED(import_objects_release) struct import_objects objects = {0};
    OWNED_ARRAY char *path = path_join(options->images, image);
    int32_t width, height;
    NEED(path);
    MUST(clv_image_read_size(&width, &height, path, &options->limits, err));
    const struct clv_pixel_box within = {0, 0, width, height};
    MUST(import_add(self, image, path, split_of_folder(image), err));
    MUST(import_objects_begin(&objects, width, height, err));
    for (size_t i = 0; i < n; i++) {
        const struct mask_run_row *row = &rows[i];
        const char *file = options->annotations;
        FAIL_IF(row->is_bad, CLV_ERR_DATA,
                "%s: line %zu: the runs of %s are not pairs of a pixel and a length in their order", file, row->line,
                row->image);
        FAIL_IF((row->width && row->width != width) || (row->height && row->height != height), CLV_ERR_DATA,
                "%s: line %zu: its masks are %dx%d, image %s is %dx%d", file, row->line, row->width, row->height, image,
                width, height);
        if (!row->n_runs)
            continue;
        FAIL_IF(!mask_runs_fill(objects.layer, width, height, &job->runs, row, options->run_rows != 0), CLV_ERR_DATA,
                "%s: line %zu: runs reach out of the %dx%d pixels of %s", file, row->line, width, height, image);
        MUST(import_objects_add(&objects, value_of(&job->labels, row->label), !job->are_objects, &within, err));
    }
    return job->are_objects ? import_objects_end(&objects, self, err) : write_layers(self, &objects, err);
}

/* Returns whether some label has several rows with runs in an image. rows[n] are sorted by image. */
static bool repeats_label(const struct mask_run_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n && rows[i].n_runs && strcmp(rows[k].image, rows[i].image) == 0; k++)
            if (rows[k].n_runs && strcmp(rows[k].label, rows[i].label) == 0)
                return true;
    return false;
}

static enum clv_status begin_runs(struct runs_job *job, const struct import_options *options, struct clv_error *err)
{
    char *bytes;
    size_t size;
    MUST(file_read(&bytes, &size, options->annotations, LARGEST_CSV, err));
    MUST(mask_runs_parse(&job->runs, options->annotations, bytes, size, err));
    MUST(find_run_labels(&job->labels, &job->runs, options->annotations, err));
    MUST(check_numbers(&job->labels, options->annotations, err));
    MUST(list_images(&job->images, options->images, NULL, err));
    FAIL_IF(!job->images.n, CLV_ERR_NO_INPUT, "%s: holds no image", options->images);
    qsort(job->runs.rows, job->runs.n, sizeof *job->runs.rows, compare_rows);
    job->are_objects = repeats_label(job->runs.rows, job->runs.n);
    return CLV_OK;
}

/* Returns the photo that a row names, or NULL: the photo of that path or, without one, the first of that name, and then
 * *other = the second, or NULL. */
static const char *find_photo(const char **other, const struct path_list *images, const char *name)
{
    const char *found = NULL;
    *other = NULL;
    for (size_t i = 0; i < images->n; i++) {
        if (strcmp(images->paths[i], name) == 0) {
            *other = NULL;
            return images->paths[i];
        }
        if (*other || !names_image(name, images->paths[i]))
            continue;
        if (found)
            *other = images->paths[i];
        else
            found = images->paths[i];
    }
    return found;
}

/* Returns whether rows of that name are for the photo, or may be. */
static bool is_meant(const struct path_list *images, const char *name, const char *image)
{
    const char *other;
    return names_image(name, image) && (find_photo(&other, images, name) == image || other);
}

/* Adds the images that the file does not name. */
static enum clv_status add_unnamed(struct import_set *self, const struct runs_job *job, struct clv_error *err)
{
    for (size_t i = 0; i < job->images.n; i++) {
        const char *image = job->images.paths[i];
        size_t k = 0;
        while (k < job->runs.n && !is_meant(&job->images, job->runs.rows[k].image, image))
            k++;
        OWNED_ARRAY char *path = path_join(self->options->images, image);
        NEED(path);
        if (k == job->runs.n)
            MUST(import_add(self, image, path, split_of_folder(image), err));
    }
    return CLV_OK;
}

static enum clv_status import_runs(struct import_set *self, struct clv_error *err)
{
    const struct import_options *options = self->options;
    OWNED(runs_job_release) struct runs_job job = {0};
    size_t n_lost = 0, n_named = 0;
    const char *first_lost = NULL;
    FAIL_IF(!options->images, CLV_ERR_USAGE, "%s: where are its images? --images FOLDER", options->annotations);
    MUST(begin_runs(&job, options, err));
    for (size_t i = 0, end; i < job.runs.n; i = end) {
        const struct mask_run_row *rows = job.runs.rows + i;
        const char *other, *image = find_photo(&other, &job.images, rows->image);
        for (end = i; end < job.runs.n && strcmp(job.runs.rows[end].image, rows->image) == 0; end++)
            ;
        n_named++;
        if (!image) {
            first_lost = n_lost++ ? first_lost : rows->image;
            continue;
        }
        const size_t n_before = self->n;
        FAIL_IF(*signals_stop(), CLV_ERR_INTERRUPTED, "interrupted; %s is as it was", options->output);
        const enum clv_status status =
            other ? fail(err, CLV_ERR_DATA, "%s: line %zu: %s could be %s or %s in %s", options->annotations,
                         rows->line, rows->image, image, other, options->images)
                  : import_rows(self, &job, image, rows, end - i, err);
        MUST(import_settle(self, n_before, status, err));
    }
    const size_t n_done = self->n + self->n_failed, n_unnamed = job.images.n > n_done ? job.images.n - n_done : 0;
    FAIL_IF(!self->n, CLV_ERR_DATA, "%s: none of the %zu images that it names, such as %s, can be taken over from %s",
            options->annotations, n_named, job.runs.rows[0].image, options->images);
    text_put(&self->labels, "value\tname\n0\tbackground\n");
    for (size_t k = 0; k < job.labels.n; k++) {
        int32_t number;
        const bool is_number = parse_int32(job.labels.names[k], &number);
        text_printf(&self->labels, "%zu\t%s%s\n", k + 1,
                    !*job.labels.names[k] ? "foreground"
                    : is_number           ? "label "
                                          : "",
                    job.labels.names[k]);
    }
    NEED(!self->labels.failed);
    if (n_lost)
        console_warning("%s: names %s not in %s; the first is %s", options->annotations,
                        n_of(n_lost, "image that is", "images that are").text, options->images, first_lost);
    if (options->all_images)
        MUST(add_unnamed(self, &job, err));
    if (n_unnamed)
        console_note("%s: says nothing of %zu of %zu images, which were %s", options->annotations, n_unnamed,
                     job.images.n, options->all_images ? "taken without a mask" : "skipped (--all-images takes them)");
    return keep_splits(self, err);
}

enum clv_status import_masks(struct import_set *self, struct clv_error *err)
{
    const char *path = self->options->annotations;
    return text_ends_with(path, ".csv") && !path_is_folder(path) ? import_runs(self, err) : import_images(self, err);
}
