/* Scores the masks of a set, one image per task on threads: confusion matrices of pixels and superpixels, and counts of
 * objects. Start at score_set; score_one scores an image. */
#include "cli/score/score_set.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "feature/recipe/recipe.h"
#include "score/score.h"

struct job {
    const struct score_task *task;
    struct set_score *score;
    struct tally *tallies;   /* [n_threads] */
    struct clv_recipe nodes; /* the model's recipe without features, since only nodes are needed */
    int n_threads;
    size_t n_done;
};

/* The counts of one thread. They are integers, so their sums do not depend on the order of images. */
struct tally {
    struct clv_confusion image;        /* of the current image */
    struct clv_confusion total, nodes; /* of all images of this thread */
};

void set_score_release(struct set_score *score)
{
    for (size_t kind = 0; kind < 2; kind++) {
        for (size_t i = 0; score->counts[kind] && i < score->inputs->n; i++)
            array_free(score->counts[kind][i]);
        array_free(score->counts[kind]);
    }
    arrays_free(score->images, score->iou, score->sequences);
    clv_confusion_release(&score->confusion);
    clv_confusion_release(&score->nodes);
    *score = (struct set_score){0};
}

enum clv_status set_score_init(struct set_score *score, struct clv_error *err)
{
    size_t n = score->inputs->n, n_labels = (size_t)score->labels->n_labels;
    MUST(clv_confusion_init(&score->confusion, score->labels->n_labels, err));
    MUST(clv_confusion_init(&score->nodes, score->labels->n_labels, err));
    score->images = array_zalloc(n, sizeof *score->images);
    score->iou = array_alloc(n * n_labels, sizeof *score->iou);
    NEED(score->images && score->iou);
    return CLV_OK;
}

void set_score_measure(struct set_score *score, size_t index, const struct clv_confusion *pixels)
{
    int32_t n_labels = score->labels->n_labels;
    score->images[index].pixel = clv_confusion_score(pixels);
    for (int32_t label = 0; label < n_labels; label++)
        score->iou[index * (size_t)n_labels + (size_t)label] = clv_confusion_iou(pixels, label);
}

char *score_prediction_path(const struct score_task *task, size_t index)
{
    const char *output = task->inputs->items[index].output;
    size_t size = strlen(task->folder) + strlen(output) + 16;
    char *path = array_alloc(size, 1);
    if (path && task->pages) {
        snprintf(path, size, "%s#%u", task->folder, task->pages[index]);
        return path;
    }
    if (path)
        snprintf(path, size, "%s/%s.tif", task->folder, output); /* of an image with a georeference */
    if (path && !path_exists(path))
        snprintf(path, size, "%s/%s.png", task->folder, output);
    return path;
}

static enum clv_status check_all_exist(const struct score_task *task, struct clv_error *err)
{
    size_t n_missing = 0, n = task->inputs->n;
    OWNED_ARRAY char *first = NULL;
    for (size_t i = 0; i < n; i++) {
        OWNED_ARRAY char *path = score_prediction_path(task, i);
        enum path_kind kind;
        NEED(path);
        MUST(path_find_kind(&kind, path, err));
        if (kind == PATH_ABSENT && !n_missing++)
            first = TAKE(path);
    }
    FAIL_IF(n_missing, CLV_ERR_NO_INPUT, "%s: no such prediction (%zu of %zu are missing)", first, n_missing, n);
    return CLV_OK;
}

/* Scores the objects of an image, if it has true ones, from folder/objects/STEM.png, or .tif if there were too many for
 * a PNG. */
static enum clv_status score_objects(struct scored_image *scored, const struct job *job, size_t index, int32_t width,
                                     int32_t height, struct clv_error *err)
{
    const struct score_task *task = job->task;
    const struct input *input = &task->inputs->items[index];
    OWNED(clv_object_map_release) struct clv_object_map found = {0}, truth = {0};
    char path[PATH_MAX];
    scored->f1 = scored->mean_precision = NAN;
    if (!input->instances)
        return CLV_OK;
    snprintf(path, sizeof path, "%s/objects/%s.png", task->folder, input->output);
    if (!path_exists(path))
        snprintf(path, sizeof path, "%s/objects/%s.tif", task->folder, input->output);
    MUST(clv_object_map_read(&truth, input->instances, width, height, task->limits, err));
    MUST(clv_object_map_read(&found, path, width, height, task->limits, err));
    MUST(object_counts_of(&scored->objects, &truth, &found, err));
    scored->f1 = object_f1(&scored->objects);
    scored->mean_precision = object_mean_precision(&scored->objects);
    return CLV_OK;
}

/* Returns the argmax of counts[n_labels], the lowest at ties. */
static int32_t majority(const float *counts, int32_t n_labels)
{
    int32_t best = 0;
    for (int32_t label = 1; label < n_labels; label++)
        if (counts[label] > counts[best])
            best = label;
    return best;
}

/* Computes the superpixels (or patches) of an image. */
static enum clv_status find_nodes(struct clv_example *example, const struct job *job, size_t index,
                                  struct clv_error *err)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    MUST(clv_image_read(&image, job->task->inputs->items[index].image, job->task->limits, err));
    return clv_example_extract(example, &image, &job->nodes, err);
}

/* Scores superpixels (or patches). Each has one true label, the most frequent one of its labelled pixels, and one
 * predicted label, the most frequent one of the mask's pixels in it. Its weight is its number of labelled pixels, for a
 * patch 1. */
static enum clv_status score_superpixels(struct clv_image_score *score, struct clv_confusion *confusion,
                                         const struct job *job, size_t index, const struct clv_mask *truth,
                                         const struct clv_mask *prediction, struct clv_error *err)
{
    const struct score_task *task = job->task;
    int32_t n_labels = task->labels->n_labels;
    bool is_patch = task->model->recipe.nodes == CLV_NODES_PATCHES;
    OWNED(clv_example_release) struct clv_example example = {0};
    MUST(find_nodes(&example, job, index, err));
    MUST(clv_example_set_truth(&example, prediction, n_labels, err));
    size_t n_nodes = (size_t)example.problem.n_nodes;
    OWNED_ARRAY int32_t *predicted = array_alloc(n_nodes, sizeof *predicted);
    NEED(predicted);
    for (size_t i = 0; i < n_nodes; i++)
        predicted[i] = majority(example.counts + i * (size_t)n_labels, n_labels);
    MUST(clv_example_set_truth(&example, truth, n_labels, err));
    clv_confusion_clear(confusion);
    for (size_t i = 0; i < n_nodes; i++) {
        const float *counts = example.counts + i * (size_t)n_labels;
        double known = 0;
        for (int32_t label = 0; label < n_labels; label++)
            known += counts[label];
        if (known > 0)
            confusion_add_weighted(confusion, majority(counts, n_labels), predicted[i],
                                   is_patch ? 1 : size_of_number(known));
    }
    *score = clv_confusion_score(confusion);
    return CLV_OK;
}

/* Replaces the prediction's labels by those with the same name in the truth, or by void. */
static void rename_labels(struct clv_mask *prediction, const struct clv_labels *predicted,
                          const struct clv_labels *labels)
{
    uint8_t renamed[256];
    memset(renamed, CLV_VOID, sizeof renamed);
    for (int32_t from = 0; from < predicted->n_labels; from++)
        for (int32_t to = 0; to < labels->n_labels; to++)
            if (!predicted->is_void[from] && !labels->is_void[to] &&
                strcmp(predicted->names[from], labels->names[to]) == 0)
                renamed[from] = (uint8_t)to;
    for (size_t p = 0; p < (size_t)prediction->width * (size_t)prediction->height; p++)
        prediction->labels[p] = renamed[prediction->labels[p]];
}

static enum clv_status keep_counts(struct job *job, size_t kind, size_t index, const struct clv_confusion *confusion,
                                   struct clv_error *err)
{
    if (!job->task->keeps_counts)
        return CLV_OK;
    job->score->counts[kind][index] = score_counts_text(confusion);
    return job->score->counts[kind][index] ? CLV_OK : fail_memory(err);
}

static enum clv_status score_one(void *context, size_t index, int thread, struct clv_error *err)
{
    struct job *job = context;
    const struct score_task *task = job->task;
    const struct input *input = &task->inputs->items[index];
    const struct clv_item item = {.mask = input->mask, .is_derived = input->is_derived};
    struct scored_image *scored = &job->score->images[index];
    struct tally *tally = &job->tallies[thread];
    struct clv_confusion *confusion = &tally->image;
    OWNED(clv_mask_release) struct clv_mask truth = {0};
    OWNED(clv_mask_release) struct clv_mask prediction = {0};
    FAIL_IF(stop_requested(task->progress), CLV_ERR_INTERRUPTED, "interrupted");
    OWNED_ARRAY char *path = score_prediction_path(task, index);
    const struct mask_wanted wanted = {.limits = task->limits};
    NEED(path);
    MUST(item_mask_read(&truth, &item, task->labels, &wanted, err));
    scored->foreground = foreground_of_item(&truth, &item, task->limits);
    MUST(clv_mask_read(&prediction, path, task->predicted ? task->predicted : task->labels, 0, 0, task->limits, err));
    FAIL_IF(prediction.width != truth.width || prediction.height != truth.height, CLV_ERR_DATA,
            "%s: prediction is %dx%d, its truth %s is %dx%d", path, prediction.width, prediction.height, input->mask,
            truth.width, truth.height);
    if (task->predicted)
        rename_labels(&prediction, task->predicted, task->labels);
    if (task->band_px)
        MUST(band_keep(&truth, task->band_px, err));
    clv_confusion_clear(confusion);
    clv_confusion_add(confusion, truth.labels, prediction.labels, (size_t)truth.width * (size_t)truth.height);
    set_score_measure(job->score, index, confusion);
    scored->note = truth.note;
    clv_confusion_merge(&tally->total, confusion);
    MUST(keep_counts(job, 0, index, confusion, err));
    if (job->score->has_objects)
        MUST(score_objects(scored, job, index, truth.width, truth.height, err));
    if (task->model) {
        MUST(score_superpixels(&scored->superpixel, confusion, job, index, &truth, &prediction, err));
        clv_confusion_merge(&tally->nodes, confusion);
        MUST(keep_counts(job, 1, index, confusion, err));
    }
    report_progress(task->progress, "scoring", __atomic_add_fetch(&job->n_done, 1, __ATOMIC_RELAXED), task->inputs->n,
                    NULL);
    return CLV_OK;
}

static enum clv_status tally_init(struct tally *tally, int32_t n_labels, struct clv_error *err)
{
    MUST(clv_confusion_init(&tally->image, n_labels, err));
    MUST(clv_confusion_init(&tally->total, n_labels, err));
    return clv_confusion_init(&tally->nodes, n_labels, err);
}

static void tally_release(struct tally *tally)
{
    clv_confusion_release(&tally->image);
    clv_confusion_release(&tally->total);
    clv_confusion_release(&tally->nodes);
}

/* Prints by which rule masks of the truth were read, as a training does. */
static void print_mask_note(const struct set_score *score)
{
    const char *note = NULL;
    size_t n = 0;
    for (size_t i = 0; i < score->inputs->n; i++) {
        const char *image_note = score->images[i].note;
        note = note ? note : image_note;
        n += image_note != NULL;
    }
    if (note)
        console_note("%zu of %zu masks: %s", n, score->inputs->n, note);
}

static void job_release(struct job *job)
{
    for (int thread = 0; thread < job->n_threads && job->tallies; thread++)
        tally_release(&job->tallies[thread]);
    array_free(job->tallies);
}

enum clv_status score_set(struct set_score *score, const struct score_task *task, struct clv_error *err)
{
    OWNED(set_score_release) struct set_score result = {.inputs = task->inputs,
                                                        .labels = task->labels,
                                                        .has_superpixels = task->model != NULL,
                                                        .has_patches = task->model &&
                                                                       task->model->recipe.nodes == CLV_NODES_PATCHES};
    OWNED(job_release) struct job job = {
        .task = task, .score = &result, .n_threads = parallel_threads(task->n_threads)};
    struct foregrounds foregrounds = {0};
    OWNED_ARRAY char *objects = path_join(task->folder, "objects");
    for (size_t i = 0; i < task->inputs->n && objects && !task->keeps_counts && path_is_folder(objects); i++)
        result.has_objects |= task->inputs->items[i].instances != NULL;
    if (!task->pages)
        MUST(check_all_exist(task, err));
    MUST(set_score_init(&result, err));
    for (size_t kind = 0; kind < 2 && task->keeps_counts; kind++)
        NEED(result.counts[kind] = array_zalloc(task->inputs->n, sizeof *result.counts[kind]));
    job.tallies = array_zalloc((size_t)job.n_threads, sizeof *job.tallies);
    NEED(job.tallies);
    if (task->model)
        job.nodes = recipe_of_nodes(&task->model->recipe);
    for (int thread = 0; thread < job.n_threads; thread++)
        MUST(tally_init(&job.tallies[thread], task->labels->n_labels, err));
    MUST(parallel_for(task->inputs->n, job.n_threads, score_one, &job, err));
    for (size_t i = 0; i < task->inputs->n; i++)
        MUST(foregrounds_agree(&foregrounds, &result.images[i].foreground, task->inputs->items[i].mask, err));
    for (int thread = 0; thread < job.n_threads; thread++) {
        clv_confusion_merge(&result.confusion, &job.tallies[thread].total);
        clv_confusion_merge(&result.nodes, &job.tallies[thread].nodes);
    }
    print_mask_note(&result);
    *score = TAKE(result);
    return CLV_OK;
}

void mean_over_images(double *mean, double *standard_error, const double *values, size_t n, size_t stride)
{
    double sum = 0, squares = 0;
    size_t counted = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i * stride])) {
            sum += values[i * stride];
            counted++;
        }
    *mean = counted ? sum / (double)counted : NAN;
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i * stride])) {
            double off = values[i * stride] - *mean;
            squares += off * off;
        }
    *standard_error = counted > 1 ? sqrt(squares / (double)(counted - 1) / (double)counted) : NAN;
}

#define MAX_COUNT ((uint64_t)1 << 40) /* in an image, above any limit of pixels, so that sums cannot overflow */

char *score_counts_text(const struct clv_confusion *confusion)
{
    struct text text;
    size_t n = (size_t)confusion->n_labels;
    text_init(&text, (size_t)1 << 24);
    text_put(&text, "");
    for (size_t truth = 0; truth < n; truth++)
        for (size_t prediction = 0; prediction <= n; prediction++) {
            uint64_t count = confusion->counts[truth * (n + 1) + prediction];
            if (count)
                text_printf(&text, "%s%zu:%zu:%" PRIu64, text.size ? " " : "", truth, prediction, count);
        }
    char *counts = text.failed ? NULL : string_copy(text.size ? text.bytes : "");
    text_release(&text);
    return counts;
}

/* Parses 1 to 15 digits and the character `end` after them (0: a space or the end of the text); returns false for
 * anything else. */
static bool take_number(uint64_t *value, const char **cursor, char end)
{
    const char *c = *cursor;
    *value = 0;
    for (; is_digit(*c) && c - *cursor < 15; c++)
        *value = 10 * *value + (uint64_t)(*c - '0');
    bool is_ended = end ? *c == end : !*c || *c == ' ';
    if (c == *cursor || !is_ended)
        return false;
    *cursor = c + (*c != 0);
    return true;
}

enum clv_status score_counts_read(struct clv_confusion *confusion, const char *field, const char *path, size_t line,
                                  struct clv_error *err)
{
    size_t n = (size_t)confusion->n_labels;
    clv_confusion_clear(confusion);
    for (const char *cursor = field; *cursor;) {
        const char *entry = cursor;
        uint64_t truth, prediction, count;
        if (!take_number(&truth, &cursor, ':') || !take_number(&prediction, &cursor, ':') ||
            !take_number(&count, &cursor, 0) || truth >= n || prediction > n || count > MAX_COUNT)
            return fail(err, CLV_ERR_DATA, "%s:%zu: \"%.60s\" is not a count of %zu labels", path, line, entry, n);
        confusion->counts[truth * (n + 1) + prediction] = count;
    }
    return CLV_OK;
}
