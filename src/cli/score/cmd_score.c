/* cleave score: masks against the truth. */
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/common/command.h"
#include "cli/common/console.h"
#include "cli/common/options.h"
#include "cli/common/shard_option.h"
#include "cli/score/score_features.h"
#include "cli/score/score_set.h"
#include "cli/score/score_shards.h"
#include "score/band.h"
#include "task/options.h"
#include "task/training_set.h"

struct score {
    struct common_options common;
    const char *data, *split, *voids, *predictions, *model_path, *pred_labels;
    int band_px;
    bool json, csv, per_image, merge, likelihood;
    struct shard shard;
    enum decoding_choice decoding;
};

#define AT(member)       offsetof(struct score, member)
#define SECTION_COMPARED "What is compared"
#define SECTION_OF_FILES "With a feature file"
#define SECTION_PRINTED  "What is printed"
#define BASIC            CLV_OPTION_BASIC
static const struct clv_option score_rows[] = {
    {"data", 'd', "PATH", SECTION_COMPARED, CLV_OPTION_NEEDED | CLV_OPTION_AGAIN, CLV_OPTION_TEXT, AT(data),
     .help = "The truth: a manifest, or a folder with images/ and masks/\n"
             "Or, with -m alone, feature files: --data again for each"},
    {"pred", 'p', "FOLDER", SECTION_COMPARED, CLV_OPTION_NEEDED, CLV_OPTION_TEXT, AT(predictions),
     .help = "The predictions, as `cleave segment -o FOLDER' wrote them"},
    {"split", 0, "NAME,..", SECTION_COMPARED, BASIC, CLV_OPTION_TEXT, AT(split),
     .help = "Only these splits of the manifest (default: all)"},
    {"void", 0, "NAME,..", SECTION_COMPARED, BASIC, CLV_OPTION_TEXT, AT(voids), .help = VOID_HELP},
    {"pred-labels", 0, "FILE", SECTION_COMPARED, 0, CLV_OPTION_TEXT, AT(pred_labels),
     .help = "The labels.tsv of the predictions, where it is another than the truth's\n"
             "Labels of one name are the same, others are wrong"},
    {"band", 0, "PX", SECTION_COMPARED, BASIC, CLV_OPTION_INT, AT(band_px), .minimum = 1, .maximum = BAND_MAX_PX,
     .help = "Only pixels within PX pixels of a border between true labels\nAlong rows and columns"},
    {"model", 'm', "MODEL", SECTION_COMPARED, BASIC, CLV_OPTION_TEXT, AT(model_path),
     .help = "Also score each superpixel of this model's recipe\n"
             "Reads the images. With a feature file: label its nodes, and score those"},
    {"decode", 0, "RULE", SECTION_OF_FILES, CLV_OPTION_PLAIN, CLV_OPTION_CHOICE, AT(decoding),
     .choices = decoding_names, .help = DECODING_HELP},
    {"likelihood", 0, NULL, SECTION_OF_FILES, 0, CLV_OPTION_FLAG, AT(likelihood),
     .help = "Also the mean log-likelihood of an example's known labels under exp(score)\n"
             "Unknown labels are summed out; exact, on chains, trees and narrow graphs"},
    {"per-image", 0, NULL, SECTION_PRINTED, BASIC, CLV_OPTION_FLAG, AT(per_image), .help = "Also every image"},
    {"json", 0, NULL, SECTION_PRINTED, BASIC, CLV_OPTION_FLAG, AT(json), .help = "One JSON document, in fractions"},
    {"csv", 0, NULL, SECTION_PRINTED, BASIC, CLV_OPTION_FLAG, AT(csv),
     .help = "A line for each image, comma-separated, in fractions"},
    {"shard", 0, "I/N", SECTION_PRINTED, 0, CLV_OPTION_OTHER, AT(shard), .take = option_take_shard,
     .help = SHARD_HELP ". Prints a table of counts, for --merge"},
    {"merge", 0, NULL, SECTION_PRINTED, 0, CLV_OPTION_FLAG, AT(merge),
     .help = "Score from the counts of all shards, whose tables are the arguments"},
    {0},
};

/* What goes with masks in files alone, each pixel on its own. */
static enum clv_status check_pixels(const struct score *self, struct clv_error *err)
{
    const char *option = self->band_px ? "band" : self->pred_labels ? "pred-labels" : NULL;
    if (!option || (self->predictions && !self->model_path))
        return CLV_OK;
    return fail(err, CLV_ERR_USAGE, "--%s: goes with --pred, without -m", option);
}

static enum clv_status check_features(const struct score *self, struct clv_error *err)
{
    if (self->predictions || self->split || self->voids || self->csv || self->per_image)
        return fail(err, CLV_ERR_USAGE, "%s: a feature file goes with -m and --json only", self->data);
    if (!self->model_path)
        return fail(err, CLV_ERR_USAGE, "%s: a feature file: -m is missing: which model?", self->data);
    return common_options_check(&self->common, "a feature file holds no images", err);
}

static enum clv_status check_shards(const struct score *self, struct clv_error *err)
{
    bool of_masks = !(self->data && is_tensor_file(self->data));
    if (self->common.n_arguments && !self->merge)
        return fail(err, CLV_ERR_USAGE, "%s: score takes no arguments; --data and --pred do it",
                    self->common.arguments[0]);
    if ((self->merge || self->shard.count) && !of_masks)
        return fail(err, CLV_ERR_USAGE, "--%s: goes with masks, not with a feature file",
                    self->merge ? "merge" : "shard");
    if (self->shard.count && (self->merge || self->json || self->csv || self->per_image))
        return fail(err, CLV_ERR_USAGE,
                    "--shard: prints a table of counts; --json, --csv and --per-image go with --merge, which reads it");
    if (self->merge && !self->common.n_arguments)
        return fail(err, CLV_ERR_USAGE, "--merge: no tables: name those that `cleave score --shard' printed");
    if (self->merge && (self->predictions || self->model_path))
        return fail(err, CLV_ERR_USAGE, "--merge: the tables have the counts; leave out %s",
                    self->predictions ? "--pred" : "-m");
    return CLV_OK;
}

static enum clv_status parse(struct score *self, int argc, char **argv, struct clv_error *err)
{
    const struct option_table table = {
        "--data PATH --pred FOLDER [OPTION...]",
        "Scores masks against the truth: weighted Hamming, Hamming, intersection over union.",
        {"score --data set/ --pred out", "score --data set/manifest.tsv --split test --pred out --json"},
        "Weighted Hamming is half the miss rate plus half the false-alarm rate, for figure and ground. Weighted "
        "Hamming, "
        "Hamming and IoU are means over images; accuracies are over all pixels of the set. Mean IoU is over labels "
        "from 1 on. Void pixels never count. Of several shards: cleave score --data PATH --merge TABLE...",
        {{score_rows, self, false},
         {image_option_rows, &self->common, false},
         {plain_option_rows, &self->common, false}},
    };
    common_options_init(&self->common);
    enum clv_status status = options_parse(&table, argc, argv, &self->common, err);
    if (status != CLV_OK)
        return status;
    bool has_features = self->data && is_tensor_file(self->data);
    if ((self->decoding != DECODING_OWN || self->likelihood) && !has_features)
        return fail(err, CLV_ERR_USAGE, "--%s: goes with a feature file in --data",
                    self->likelihood ? "likelihood" : "decode");
    status = feature_paths_check(&self->common.paths, "--data", err);
    TRY(check_shards(self, err));
    TRY(check_pixels(self, err));
    if (status != CLV_OK)
        return status;
    if (!self->data)
        return fail(err, CLV_ERR_USAGE, "score: --data is missing: where is the truth?");
    if (is_tensor_file(self->data))
        return check_features(self, err);
    if (self->json && self->csv)
        return fail(err, CLV_ERR_USAGE, "--json and --csv exclude each other");
    if (self->merge)
        return common_options_check(&self->common, "--merge adds counts", err);
    if (!self->predictions)
        return fail(err, CLV_ERR_USAGE, "score: --pred is missing: where are the predictions?");
    if (!path_is_folder(self->predictions))
        return fail(err, CLV_ERR_NO_INPUT, "%s: no such folder of predictions", self->predictions);
    return CLV_OK;
}

static enum clv_status run(const struct score *self, struct clv_error *err)
{
    struct clv_progress progress = console_progress(NULL);
    struct clv_set set = {0};
    struct clv_model model = {0};
    struct input_list inputs = {0};
    struct set_score score = {0};
    struct clv_labels predicted = {0};
    enum clv_status status = clv_set_read(&set, self->data, err);
    if (status != CLV_OK)
        return status;
    training_set_note_manifest(&set, self->data, &progress);
    training_set_drop_drafts(&set, self->data, "", &progress);
    size_t common = set_common_folder(&set); /* of the whole set, as segment has it */
    status = clv_set_select(&set, self->split, err);
    TRY(training_set_hide(&set, self->voids, err));
    TRY(training_set_require_masks(&set, self->data, &progress, err));
    TRY(inputs_add_set(&inputs, &set, common, err));
    TRY_IF(self->model_path, clv_model_read(&model, self->model_path, err));
    TRY_IF(
        self->model_path && !model.has_recipe,
        fail(err, CLV_ERR_USAGE, "%s: learned from features made elsewhere; it has no superpixels", self->model_path));
    TRY_IF(self->pred_labels, clv_labels_read(&predicted, self->pred_labels, err));
    const struct score_task task = {
        .inputs = &inputs,
        .labels = &set.labels,
        .folder = self->predictions,
        .predicted = self->pred_labels ? &predicted : NULL,
        .band_px = self->band_px,
        .model = self->model_path ? &model : NULL,
        .keeps_counts = self->shard.count > 0,
        .n_threads = self->common.n_threads,
        .limits = &self->common.limits,
        .progress = &progress,
    };
    size_t first = 0, n = 0;
    shard_block(&first, &n, &self->shard, inputs.n);
    inputs_cut(&inputs, first, n);
    TRY(self->merge ? score_merge(&score, &inputs, &set.labels, self->common.arguments, self->common.n_arguments, err)
                    : score_set(&score, &task, err));
    if (status != CLV_OK)
        goto done;
    console_clear();
    if (self->shard.count)
        score_shard_print(&score, first);
    else if (self->json)
        status = score_print_json(&score, self->per_image, err);
    else if (self->csv)
        score_print_csv(&score);
    else
        score_print_text(&score, self->per_image);
done:
    clv_labels_release(&predicted);
    set_score_release(&score);
    input_list_release(&inputs);
    clv_model_release(&model);
    clv_set_release(&set);
    return status;
}

enum clv_status cmd_score(int argc, char **argv, struct clv_error *err)
{
    struct score self = {0};
    enum clv_status status = parse(&self, argc, argv, err);
    const struct features_task features = {.paths = &self.common.paths,
                                           .model_path = self.model_path,
                                           .n_threads = self.common.n_threads,
                                           .json = self.json,
                                           .wants_likelihood = self.likelihood,
                                           .decoding = self.decoding};
    TRY(is_tensor_file(self.data) ? score_features(&features, err) : run(&self, err));
    common_options_release(&self.common);
    return status;
}
