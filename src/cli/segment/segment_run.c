/* Runs clv_segment_files for the commands, and prints its results: with --json an object for each input, and the
 * summary. Start at segment_command. */
#include "cli/segment/segment.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cluster/comm.h"
#include "model/model.h"
#include "train/train.h"

#define JSON_MAX_SIZE ((size_t)1 << 30)

static bool is_piped(const struct segment *self)
{
    return strcmp(self->files.output, "-") == 0;
}

enum clv_status segment_take_arguments(struct segment *self, struct clv_error *err)
{
    struct common_options *common = self->common;
    struct clv_files_options *files = &self->files;
    files->images = (const char *const *)common->arguments;
    files->n_images = common->n_arguments;
    files->limits = common->limits;
    files->n_threads = common->n_threads;
    if (common->paths.n) {
        files->feature_files = (const char *const *)common->paths.paths;
        files->n_feature_files = common->paths.n;
        MUST(feature_paths_check(&common->paths, "features", err));
    }
    FAIL_IF(options_given(common, "overwrite") && options_given(common, "resume"), CLV_ERR_USAGE,
            "--overwrite and --resume exclude each other");
    if (files->features)
        MUST(common_options_check(common, "--features", "a feature file has no images", err));
    const bool has_status_output = self->files.status && strcmp(self->files.status, "-") == 0;
    FAIL_IF(files->output && is_piped(self) && has_status_output, CLV_ERR_USAGE,
            "-o - and --status - both want standard output");
    FAIL_IF(files->output && is_piped(self) && self->json, CLV_ERR_USAGE,
            "--json cannot be used with -o -: standard output takes the one result");
    FAIL_IF(self->json && has_status_output, CLV_ERR_USAGE, "--json and --status - both want standard output");
    const unsigned with_polygons = CLV_EXPORT_COCO | CLV_EXPORT_LABELME | CLV_EXPORT_YOLO | CLV_EXPORT_GEOJSON;
    FAIL_IF(options_given(common, "tolerance") && !(files->exports & with_polygons), CLV_ERR_USAGE,
            "--tolerance: goes with --export %s",
            files->exports ? "coco, labelme, yolo and geojson: VOC's masks are exact"
                           : "coco, labelme, yolo and geojson");
    return CLV_OK;
}

static void put_json(struct text *json, const struct clv_file_outcome *outcome)
{
    const struct value numbers[] = {{"share", outcome->share},
                                    {"entropy", outcome->entropy},
                                    {"log_partition_bound", outcome->bound},
                                    {"standard_error", outcome->standard_error}};
    text_put(json, json->size ? ",{\"image\":" : "{\"image\":");
    text_put_json(json, outcome->name);
    json_put_string(json, "map", outcome->mask);
    json_put_string(json, "method", clv_marginals_name(outcome->kind));
    json_put_values(json, numbers, sizeof numbers / sizeof *numbers);
    text_put(json, "}");
}

static void settle(void *context, const struct clv_file_outcome *outcome)
{
    struct segment *self = context;
    if (self->json && outcome->status == CLV_OK && !outcome->is_earlier)
        put_json(&self->lines, outcome);
}

static enum clv_status print_json(const struct segment *self, const struct clv_files_result *result,
                                  struct clv_error *err)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    OWNED(text_release) struct text head = {0};
    MUST(clv_model_read(&model, self->files.model_path, err));
    text_init(&head, JSON_MAX_SIZE);
    text_printf(&head, "{\"images\":%zu,\"failed\":%zu,\"samples\":%d,\"seed\":%llu", result->n_done, result->n_failed,
                self->files.n_samples, (unsigned long long)self->files.seed);
    json_put_string(&head, "scores", clv_scores_name(clv_model_scores(&model)));
    json_put_string(&head, "label", model.labels.names[result->label]);
    NEED(!head.failed && !self->lines.failed);
    printf("%s,\"per_image\":[%s]}\n", head.bytes, self->lines.size ? self->lines.bytes : "");
    return CLV_OK;
}

static void print_summary(const struct segment *self, const struct clv_files_result *result, bool interrupted)
{
    const struct clv_files_options *files = &self->files;
    char done[32] = "", failed[64] = "", before[64] = "", objects[288] = "", given[264] = "";
    const bool is_probable = files->probabilities != CLV_PROBABILITIES_NONE;
    const size_t n = interrupted ? result->n_inputs : result->n_done;

    if (result->n_failed)
        snprintf(failed, sizeof failed, ", %zu failed", result->n_failed);
    if (result->n_earlier)
        snprintf(before, sizeof before, ", %zu finished before", result->n_earlier);
    if (files->objects)
        snprintf(objects, sizeof objects, ", %s%s", n_of(result->n_objects, "object", "objects").text,
                 result->n_earlier ? " in all" : "");
    if (result->n_given)
        snprintf(given, sizeof given, ", and %s", n_of(result->n_given, "given page", "given pages").text);
    if (interrupted)
        snprintf(done, sizeof done, "%zu of ", result->n_done);
    const struct counted all =
        is_probable ? n_of(n, "probability map", "probability maps") : n_of(n, "image", "images");
    console_note("%s%s %s into %s%s%s%s%s%s%s", done, all.text, is_probable ? "written" : "segmented",
                 is_piped(self) ? "standard output" : files->output, given, failed, before, objects,
                 interrupted ? "; run the same command with --resume to continue" : "",
                 interrupted && files->existing == CLV_EXISTING_OVERWRITE ? " (without --overwrite)" : "");
}

static enum clv_status segment_run(struct segment *self, struct clv_error *err)
{
    const struct clv_progress progress = console_progress(NULL);
    struct clv_files_result result = {.n_inputs = 0};
    text_init(&self->lines, JSON_MAX_SIZE);
    self->files.progress = &progress;
    self->files.settled = settle;
    self->files.context = self;
    enum clv_status status = clv_segment_files(&result, &self->files, err);
    const bool is_interrupted = status == CLV_ERR_INTERRUPTED;
    const bool ran = result.n_done + result.n_earlier + result.n_failed > 0;
    if (self->json && comm_rank() == 0 && result.is_complete && ran) {
        struct clv_error error;
        const enum clv_status printed = print_json(self, &result, &error);
        if (printed != CLV_OK && status == CLV_OK) {
            *err = error;
            status = printed;
        }
    }
    if ((result.n_done + result.n_earlier || result.n_failed > 1 || result.has_tiles) && !result.lacks_pages)
        print_summary(self, &result, is_interrupted && !is_piped(self));
    text_release(&self->lines);
    if (result.is_complete && status == result.first_failure)
        err->message[0] = 0; /* each failure was printed when it occurred */
    return status;
}

enum clv_status segment_command(struct segment *self, const struct option_table *table, segment_check *check, int argc,
                                char **argv, struct clv_error *err)
{
    clv_files_defaults(&self->files);
    common_options_init(self->common);
    MUST(options_parse(table, argc, argv, self->common, err));
    MUST(options_take_manifest(table, self->common, err));
    MUST(check(self, err));
    return segment_run(self, err);
}
