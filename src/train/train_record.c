/* Writes how a model was trained into its training record, reports the summary of a training, computes digests of its
 * data, and handles the checkpoint that it resumes from. Nothing in the record depends on times, threads or paths of
 * outputs. Start at train_record. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "base/digest.h"
#include "cleave/train.h"
#include "data/data.h"
#include "feature/dataset/dataset.h"
#include "image/raster/raster.h"
#include "learn/common/common.h"
#include "model/model.h"
#include "segment/segment.h"
#include "train/train.h"

static enum clv_status record_curve(struct clv_model *model, const struct clv_training_result *result,
                                    struct clv_error *err)
{
    OWNED(text_release) struct text text = {0};
    text_init(&text, 1 << 20);
    text_put(&text, "pass objective dual train_loss");
    text_put(&text, result->validation_loss ? " validation_loss" : "");
    for (size_t i = 0; i < result->n_curve; i++) {
        const struct clv_curve_point *point = &result->curve[i];
        const double values[] = {point->pass, point->objective, point->dual, point->train_loss,
                                 result->validation_loss ? result->validation_loss[i] : NAN};
        text_put(&text, ";");
        for (size_t k = 0; k < (result->validation_loss ? 5 : 4); k++) {
            text_put(&text, " ");
            text_put_json_number(&text, values[k]);
        }
    }
    NEED(!text.failed);
    return clv_record_set(&model->record, "curve", text.bytes, err);
}

#define MOST_EXAMINED 64

static bool is_partial(const struct clv_problem *problem)
{
    for (int32_t i = 0; i < problem->n_nodes && problem->label; i++)
        if (problem->label[i] == CLV_UNKNOWN)
            return true;
    return false;
}

enum clv_status train_record_unseen(struct clv_model *model, const struct train_data *data, struct clv_error *err)
{
    size_t n = clv_dataset_size(data->dataset), n_examined = n < MOST_EXAMINED ? n : MOST_EXAMINED;
    double unseen = 0;
    for (size_t k = 0; k < n_examined; k++) {
        struct clv_problem problem = clv_dataset_problem(data->dataset, k * n / n_examined);
        unseen += is_partial(&problem) ? label_unmet_share(model, &problem) / (double)n_examined : 0;
    }
    return unseen > 0 ? record_number(&model->record, RECORD_UNSEEN, unseen, err) : CLV_OK;
}

enum clv_status train_record(struct clv_model *model, const struct clv_train_options *options,
                             const struct train_data *data, const struct clv_training *training,
                             const struct train_outcome *outcome, struct clv_error *err)
{
    const struct clv_training_result *result = &outcome->result;
    const struct clv_learner *learner = options->learner;
    char seed[32], key[80];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)options->seed);
    const char *const entries[][2] = {
        {"version", clv_version()},
        {"command", options->command},
        {"data", options->n_images ? NULL : options->data},
        {"data_digest", options->n_images ? NULL : data->digest},
        {"seed", seed},
        {"loss", dataset_counts_errors(data->dataset) ? "counts" : "balanced"},
        {"learner", learner->name},
        {"scores", clv_scores_name(learner->scores)},
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (entries[i][1])
            MUST(clv_record_set(&model->record, entries[i][0], entries[i][1], err));
    for (int i = 0; learner->parameters[i].name; i++) {
        snprintf(key, sizeof key, "parameter.%s", learner->parameters[i].name);
        const char *const *names = learner->parameters[i].choices;
        if (names)
            MUST(clv_record_set(&model->record, key, names[(size_t)training->parameters[i]], err));
        else
            MUST(record_number(&model->record, key, training->parameters[i], err));
    }
    const struct {
        const char *key;
        size_t n;
        bool always;
    } counts[] = {{"images", training->n_examples, true},
                  {"boxed_images", data->n_boxed, false},
                  {"unlabelled_images", data->n_unlabelled, false}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].n || counts[i].always)
            MUST(record_number(&model->record, counts[i].key, (double)counts[i].n, err));
    struct loss_unit unit = train_loss_unit(data, data->dataset);
    if (!isnan(outcome->train_loss))
        MUST(record_number(&model->record, unit.key, unit.scale * outcome->train_loss, err));
    MUST(clv_record_set(&model->record, "interrupted", result->interrupted ? "yes" : "no", err));
    if (data->label_weights > 0)
        MUST(record_number(&model->record, "label_weights", data->label_weights, err));
    if (options->label_costs > 0)
        MUST(record_number(&model->record, "label_costs", options->label_costs, err));
    if (options->stages > 1)
        MUST(record_number(&model->record, "stages", options->stages, err));
    for (size_t i = 0; i < result->n_notes; i++)
        MUST(record_number(&model->record, result->notes[i].name, result->notes[i].value, err));
    return record_curve(model, result, err);
}

void report_text(const struct clv_progress *progress, struct text *line)
{
    report_message(progress, CLV_SUMMARY, "%s", line->bytes ? line->bytes : "");
    text_release(line);
}

void train_report_data(const struct clv_train_options *options, const struct train_data *data, double seconds)
{
    const struct clv_progress *progress = options->progress;
    size_t n = clv_dataset_size(data->dataset);
    int64_t n_nodes = 0, n_edges = 0;
    for (size_t i = 0; i < n; i++) {
        struct clv_problem problem = clv_dataset_problem(data->dataset, i);
        n_nodes += problem.n_nodes;
        n_edges += problem.n_edges;
    }
    struct clv_problem first = clv_dataset_problem(data->dataset, 0);
    report_message(progress, CLV_SUMMARY, "images    %zu, %lld nodes of %d features, %lld edges of %d; %d labels", n,
                   (long long)n_nodes, first.n_features, (long long)n_edges, first.n_edge_features,
                   clv_dataset_n_labels(data->dataset));
    if (data->recipe.window)
        report_message(progress, CLV_SUMMARY, "          each a window of up to %d slices", data->recipe.window);
    if (data->n_mirrored)
        report_message(progress, CLV_SUMMARY, "          %zu of them mirror images", data->n_mirrored);
    else if (data->n_masks < n)
        report_message(progress, CLV_SUMMARY, "          %zu with masks, %zu with boxes, %zu unlabelled", data->n_masks,
                       data->n_boxed, data->n_unlabelled);
    report_message(progress, CLV_SUMMARY, "features  %.1f s", seconds);
}

void train_report_learning(const struct clv_train_options *options, const struct train_data *data,
                           const struct train_outcome *outcome)
{
    const struct clv_training_result *result = &outcome->result;
    struct loss_unit unit = train_loss_unit(data, data->dataset);
    struct text line;
    text_init(&line, 1 << 10);
    text_printf(&line, "learning  %.1f s with %s", outcome->seconds, options->learner->name);
    if (result->n_curve) {
        const struct clv_curve_point *last = &result->curve[result->n_curve - 1];
        text_printf(&line, ", %g passes", last->pass);
        if (!isnan(last->objective))
            text_printf(&line, ", objective %.6g", last->objective);
        if (!isnan(last->objective) && !isnan(last->dual))
            text_printf(&line, ", duality gap %.2g", last->objective - last->dual);
    }
    text_put(&line, result->interrupted ? " (interrupted)" : "");
    report_text(options->progress, &line);
    if (!isnan(outcome->train_loss))
        report_message(
            options->progress, CLV_SUMMARY, "training  %s %.2f %% on the images learned from%s", unit.name,
            100 * unit.scale * outcome->train_loss,
            options->cv || options->validate ? "" : "; expect more errors on new images; --cv 5 estimates how many");
}

static uint64_t add_string(uint64_t hash, const char *string)
{
    return hash_bytes(hash, string ? string : "", (string ? strlen(string) : 0) + 1);
}

/* Reads the size of a file; 0 if it does not exist, which is reported when it is read. */
static enum clv_status size_of(uint64_t *size, const char *path, struct clv_error *err)
{
    struct stat info = {0};
    OWNED_ARRAY char *file = path ? path_file(path) : NULL; /* a page has the size of its file */
    NEED(!path || file);
    if (file && stat(file, &info) != 0 && errno != ENOENT && errno != ENOTDIR)
        return fail_errno(err, CLV_ERR_NO_INPUT, "%s: cannot examine", file);
    *size = (uint64_t)info.st_size;
    return CLV_OK;
}

static uint64_t add_array(uint64_t hash, const struct clv_array *array)
{
    size_t size = number_type_size((enum number_type)array->type);
    for (int32_t d = 0; d < array->n_dimensions; d++) {
        hash = hash_number(hash, (uint64_t)array->shape[d]);
        size *= (size_t)array->shape[d];
    }
    return hash_bytes(hash, array->values, size);
}

/* Digests the values of an image and its mask in memory, which may change without a change of size. */
static enum clv_status digest_of_pixels(uint64_t *image, uint64_t *mask, const struct clv_item *item,
                                        struct clv_error *err)
{
    int32_t width, height;
    MUST(item_image_size(&width, &height, item, NULL, err));
    const size_t n = (size_t)width * (size_t)height;
    *image = hash_number(HASH_START, (uint64_t)width);
    *image = item->bands ? add_array(*image, item->bands) : hash_bytes(*image, item->pixels->pixels, 3 * n);
    *mask = item->labels ? hash_bytes(HASH_START, item->labels->labels, n) : 0;
    *mask = item->objects ? hash_bytes(*mask, item->objects, n * sizeof *item->objects) : *mask;
    return CLV_OK;
}

enum clv_status digest_set(char digest[DIGEST_SIZE], const struct clv_set *set, const struct item_boxes *boxes,
                           struct clv_error *err)
{
    uint64_t hash = HASH_START;
    for (size_t i = 0; i < set->n_items; i++) {
        const struct clv_item *item = &set->items[i];
        uint64_t image = 0, mask = 0;
        if (item_is_in_memory(item)) {
            MUST(digest_of_pixels(&image, &mask, item, err));
        } else {
            MUST(size_of(&image, item->image, err));
            MUST(size_of(&mask, item->mask, err));
        }
        hash = add_string(hash, item->name);
        hash = add_string(hash, item->split);
        hash = hash_number(hash, image);
        hash = hash_number(hash, mask);
        for (size_t m = 0; m < set->n_maps; m++) {
            uint64_t map = 0;
            if (item->map_arrays[m])
                map = add_array(HASH_START, item->map_arrays[m]);
            else
                MUST(size_of(&map, item->maps[m], err));
            hash = hash_number(add_string(hash, set->map_names[m]), map);
        }
    }
    for (size_t i = 0; boxes && i < set->n_items; i++) {
        if (!boxes[i].boxes)
            continue;
        hash = hash_number(hash, i);
        for (size_t k = 0; k < boxes[i].n_boxes + boxes[i].n_voids; k++) {
            const struct clv_pixel_box *box = &boxes[i].boxes[k];
            const int32_t sides[] = {box->first_x, box->first_y, box->end_x, box->end_y};
            for (size_t s = 0; s < 4; s++)
                hash = hash_number(hash, (uint64_t)sides[s]);
        }
    }
    snprintf(digest, DIGEST_SIZE, "fnv1a:%016" PRIx64, hash);
    return CLV_OK;
}

enum clv_status digest_features(char digest[DIGEST_SIZE], const struct path_list *paths, struct clv_error *err)
{
    OWNED(path_list_release) struct path_list files = {0};
    if (paths->n == 1 && !features_is_sharded(paths->paths[0]))
        return digest_file(digest, paths->paths[0], err);
    uint64_t hash = HASH_START;
    MUST(features_list_files(&files, paths, err));
    for (size_t k = 0; k < files.n; k++) {
        char item_digest[DIGEST_SIZE];
        MUST(digest_file(item_digest, files.paths[k], err));
        hash = add_string(hash, item_digest);
    }
    snprintf(digest, DIGEST_SIZE, "fnv1a:%016" PRIx64, hash);
    return CLV_OK;
}

enum clv_status train_checkpoints_use(struct clv_training *training, struct train_checkpoints *self,
                                      const struct clv_train_options *options, const struct train_data *data,
                                      struct clv_error *err)
{
    enum path_kind kind;
    MUST(path_find_kind(&kind, options->checkpoint, err));
    if (kind != PATH_ABSENT && options->resume)
        report_message(options->progress, CLV_NOTE, "going on from %s", options->checkpoint);
    else if (options->resume)
        report_message(options->progress, CLV_NOTE, "%s: is not there, so learning begins at the beginning",
                       options->checkpoint);
    const char *const facts[][2] = {{"version", clv_version()},
                                    {"data_digest", data->digest},
                                    {"command", options->command ? options->command : ""}};
    memcpy(self->facts, facts, sizeof facts);
    self->settings = (struct clv_checkpoints){options->checkpoint, options->checkpoint_every_s, options->resume,
                                              (const char *const(*)[2])self->facts, sizeof facts / sizeof *facts};
    training->checkpoints = &self->settings;
    return CLV_OK;
}

enum clv_status train_checkpoints_parameter(double *value, bool *found, const char *name,
                                            const struct clv_train_options *options, struct clv_error *err)
{
    OWNED(tensors_drop) struct clv_tensors *tensors = NULL;
    char key[80];
    *found = false;
    enum path_kind kind;
    if (!options->resume || !options->checkpoint)
        return CLV_OK;
    MUST(path_find_kind(&kind, options->checkpoint, err));
    if (kind == PATH_ABSENT)
        return CLV_OK;
    MUST(clv_tensors_open(&tensors, options->checkpoint, err));
    snprintf(key, sizeof key, "parameter.%s", name);
    const char *text = clv_tensors_metadata(tensors, key), *format = clv_tensors_metadata(tensors, "format");
    bool is_of_folds = format && strcmp(format, CHECKPOINT_OF_FOLDS) == 0;
    *found = !is_of_folds && text && parse_double(text, value);
    return *found || is_of_folds ? CLV_OK : fail(err, CLV_ERR_DATA, "%s: has no %s", options->checkpoint, name);
}
