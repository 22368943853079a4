/* cleave score: masks against the truth. */
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
#include "task/training_set.h"

struct score {
    struct common_options common;
    const char *data, *split, *voids, *predictions, *model_path, *pred_labels;
    int band_px;
    bool json, csv, per_image, merge, likelihood;
    struct shard shard;
    char **tables; /* [n_tables] of --merge */
    size_t n_tables;
    enum decoding_choice decoding;
};

enum score_keys {
    KEY_SPLIT = KEYS_COMMAND,
    KEY_JSON,
    KEY_CSV,
    KEY_PER_IMAGE,
    KEY_VOID,
    KEY_DECODE,
    KEY_SHARD,
    KEY_MERGE,
    KEY_BAND,
    KEY_PRED_LABELS,
    KEY_LIKELIHOOD
};

static const struct argp_option score_options[] = {
    {"data", 'd', "PATH", 0,
     "The truth: a manifest, a folder with images/ and masks/, or with -m alone feature files: --data again for each",
     0},
    {"split", KEY_SPLIT, "NAME,..", 0, "Splits of the manifest (default: all)", 0},
    {"void", KEY_VOID, "NAME,..", 0, VOID_HELP, 0},
    {"pred", 'p', "FOLDER", 0, "The predictions, as `cleave segment -o FOLDER' wrote them", 0},
    {"pred-labels", KEY_PRED_LABELS, "FILE", 0,
     "The labels.tsv of the predictions' values, where it is another than the truth's: labels of one name are the "
     "same, others are wrong",
     0},
    {"band", KEY_BAND, "PX", 0,
     "Only pixels that have a border between two true labels within PX pixels along rows and columns (1..1000)", 0},
    {"model", 'm', "FILE", 0,
     "Also score per superpixel, with the superpixels of this model's recipe (reads the images); with a feature file: "
     "label its nodes, and score those",
     0},
    {"decode", KEY_DECODE, "RULE", 0, "With a feature file. " DECODING_HELP DECODING_OWN_HELP, 0},
    {"likelihood", KEY_LIKELIHOOD, NULL, 0,
     "With a feature file: also the mean log-likelihood of an example's known labels under exp(score), the unknown "
     "ones summed out; exact, on chains, trees and narrow graphs",
     0},
    {"shard", KEY_SHARD, "I/N", 0, SHARD_HELP ". Prints a table of counts, for --merge", 0},
    {"merge", KEY_MERGE, NULL, 0,
     "The arguments are the tables of all shards: the score of one run over everything, from their counts", 0},
    {"per-image", KEY_PER_IMAGE, NULL, 0, "Also every image", 0},
    {"json", KEY_JSON, NULL, 0, "One JSON document, in fractions", 0},
    {"csv", KEY_CSV, NULL, 0, "A line per image, comma-separated, in fractions", 0},
    {0},
};

static error_t parse_score(int key, char *arg, struct argp_state *state)
{
    struct score *self = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &self->common; return 0;
    case ARGP_KEY_ARGS:
        self->tables = state->argv + state->next;
        self->n_tables = (size_t)(state->argc - state->next);
        return 0;
    case KEY_SHARD: return option_shard(&self->shard, arg, &self->common);
    case KEY_MERGE: self->merge = true; return 0;
    case 'd': return option_path(&self->data, arg, &self->common);
    case 'p': self->predictions = arg; return 0;
    case 'm': self->model_path = arg; return 0;
    case KEY_SPLIT: self->split = arg; return 0;
    case KEY_VOID: self->voids = arg; return 0;
    case KEY_DECODE: return option_decoding(&self->decoding, DECODING_MARGINALS, arg, &self->common);
    case KEY_BAND: return option_int(&self->band_px, "--band", arg, 1, BAND_MAX_PX, &self->common);
    case KEY_PRED_LABELS: self->pred_labels = arg; return 0;
    case KEY_LIKELIHOOD: self->likelihood = true; return 0;
    case KEY_JSON: self->json = true; return 0;
    case KEY_CSV: self->csv = true; return 0;
    case KEY_PER_IMAGE: self->per_image = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

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
    if (self->n_tables && !self->merge)
        return fail(err, CLV_ERR_USAGE, "%s: score takes no arguments; --data and --pred do it", self->tables[0]);
    if ((self->merge || self->shard.count) && !of_masks)
        return fail(err, CLV_ERR_USAGE, "--%s: goes with masks, not with a feature file",
                    self->merge ? "merge" : "shard");
    if (self->shard.count && (self->merge || self->json || self->csv || self->per_image))
        return fail(err, CLV_ERR_USAGE,
                    "--shard: prints a table of counts; --json, --csv and --per-image go with --merge, which reads it");
    if (self->merge && !self->n_tables)
        return fail(err, CLV_ERR_USAGE, "--merge: no tables: name those that `cleave score --shard' printed");
    if (self->merge && (self->predictions || self->model_path))
        return fail(err, CLV_ERR_USAGE, "--merge: the tables have the counts; leave out %s",
                    self->predictions ? "--pred" : "-m");
    return CLV_OK;
}

static enum clv_status parse(struct score *self, int argc, char **argv, struct clv_error *err)
{
    static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        score_options,
        parse_score,
        "[--merge TABLE...]",
        "Scores masks against the truth: weighted Hamming (half the miss rate plus half the false-alarm rate, for "
        "figure and ground), Hamming, intersection over union.\v"
        "Weighted Hamming, Hamming and IoU are means over images; accuracies are over all pixels of the set. Mean IoU "
        "is over labels from 1 on. Void pixels never count.",
        children,
        NULL,
        NULL,
    };
    common_options_init(&self->common, err);
    enum clv_status status = options_parse(&argp, argc, argv, self, &self->common);
    if (status != CLV_OK)
        return status;
    bool has_features = self->data && is_tensor_file(self->data);
    if ((self->decoding != DECODING_OWN || self->likelihood) && !has_features)
        return fail(err, CLV_ERR_USAGE, "--%s: goes with a feature file in --data",
                    self->likelihood ? "likelihood" : "decode");
    status = feature_paths_check(&self->common.paths, "--data", err);
    if (status == CLV_OK)
        status = check_shards(self, err);
    if (status == CLV_OK)
        status = check_pixels(self, err);
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
    if (status == CLV_OK)
        status = training_set_hide(&set, self->voids, err);
    if (status == CLV_OK)
        status = training_set_require_masks(&set, self->data, &progress, err);
    if (status == CLV_OK)
        status = inputs_add_set(&inputs, &set, common, err);
    if (status == CLV_OK && self->model_path)
        status = clv_model_read(&model, self->model_path, err);
    if (status == CLV_OK && self->model_path && !model.has_recipe)
        status = fail(err, CLV_ERR_USAGE, "%s: learned from features made elsewhere; it has no superpixels",
                      self->model_path);
    if (status == CLV_OK && self->pred_labels)
        status = clv_labels_read(&predicted, self->pred_labels, err);
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
    if (status == CLV_OK)
        status = self->merge ? score_merge(&score, &inputs, &set.labels, self->tables, self->n_tables, err)
                             : score_set(&score, &task, err);
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
    if (status == CLV_OK)
        status = is_tensor_file(self.data) ? score_features(&features, err) : run(&self, err);
    common_options_release(&self.common);
    return status;
}
