/* `cleave score`: scores masks against the truth (run), or the labels that a model predicts for the nodes of a feature
 * file (score_features). score_set.c has the work on masks, score_print.c prints it. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/base.h"
#include "cleave/learn.h"
#include "cleave/model.h"
#include "cleave/options.h"
#include "cleave/score.h"
#include "cleave/status.h"
#include "cli/common/common.h"
#include "cli/score/score_set.h"
#include "feature/dataset/dataset.h"
#include "feature/recipe/recipe.h"
#include "intake/intake.h"
#include "masks/masks.h"
#include "model/model.h"
#include "score/score.h"
#include "train/train.h"

/* Scoring of a feature file, which counts nodes instead of pixels. */

struct features_task {
    const struct path_list *paths; /* of feature files with truth */
    const char *model_path;
    int n_threads;
    bool json, wants_likelihood;
    enum clv_decoding_choice decoding;
};

struct score_state {
    const struct clv_dataset *dataset;
    const struct clv_model *model;
    struct clv_oracle **oracles;      /* [n_threads] */
    struct clv_confusion *confusions; /* [n_threads] of labelled nodes; integer sums do not depend on the order */
    struct likelihood *likelihoods;   /* [n_threads]; NULL: not wanted */
    double *loss;                     /* [examples] NaN: without truth, not scored */
    double *node_error;               /* [examples] if scored: the share of wrong nodes among labelled ones */
    double *log_likelihood;           /* [examples] if scored and wanted */
    size_t n_scored;
    int n_threads;
};

/* error: the share of wrong nodes among all labelled ones; the others: n_known nodes, and means over scored
 * examples. */
struct means {
    double n_known, error, loss, node_error, log_likelihood;
};

static enum clv_status score_example(void *context, size_t index, int thread, struct clv_error *err)
{
    const struct score_state *self = context;
    struct clv_problem problem = clv_dataset_problem(self->dataset, index);
    size_t n = (size_t)problem.n_nodes;
    self->loss[index] = NAN;
    if (!problem.label || !problem.theta)
        return CLV_OK;
    OWNED_ARRAY int32_t *y = array_alloc(n, sizeof *y);
    OWNED_ARRAY uint8_t *is_visible = array_alloc(n, 1);
    NEED(y && is_visible);
    for (size_t i = 0; i < n; i++)
        is_visible[i] = problem.label[i] != CLV_UNKNOWN;
    MUST(clv_model_decode(y, self->model, &problem, is_visible, self->oracles[thread], err));
    size_t n_known = 0, n_wrong = 0;
    for (size_t i = 0; i < n; i++)
        if (is_visible[i]) {
            confusion_add_weighted(&self->confusions[thread], problem.label[i], y[i], 1);
            n_wrong += y[i] != problem.label[i];
            n_known++;
        }
    self->node_error[index] = (double)n_wrong / (double)n_known;
    self->loss[index] = clv_loss(&problem, self->model->layout.n_labels, y);
    if (!self->likelihoods)
        return CLV_OK;
    enum clv_status status =
        likelihood_of(&self->log_likelihood[index], &self->likelihoods[thread], self->model, &problem, err);
    return status == CLV_ERR_USAGE ? fail_about(err, status, "--likelihood") : status;
}

static enum clv_status score_examples(struct score_state *self, bool wants_likelihood, struct clv_error *err)
{
    const int n_threads = self->n_threads;
    self->oracles = array_zalloc((size_t)n_threads, sizeof *self->oracles);
    self->confusions = array_zalloc((size_t)n_threads, sizeof *self->confusions);
    self->loss = array_alloc(clv_dataset_size(self->dataset), sizeof *self->loss);
    self->node_error = array_alloc(clv_dataset_size(self->dataset), sizeof *self->node_error);
    NEED(self->oracles && self->confusions && self->loss && self->node_error);
    if (wants_likelihood) {
        self->likelihoods = array_zalloc((size_t)n_threads, sizeof *self->likelihoods);
        self->log_likelihood = array_zalloc(clv_dataset_size(self->dataset), sizeof *self->log_likelihood);
        NEED(self->likelihoods && self->log_likelihood);
    }
    for (int t = 0; t < n_threads; t++) {
        MUST(clv_oracle_new(&self->oracles[t], CLV_ENGINE_DEFAULT, err));
        MUST(clv_confusion_init(&self->confusions[t], self->model->layout.n_labels, err));
    }
    MUST(parallel_for(clv_dataset_size(self->dataset), n_threads, score_example, self, err));
    for (int t = 1; t < n_threads; t++)
        clv_confusion_merge(&self->confusions[0], &self->confusions[t]);
    for (size_t i = 0; i < clv_dataset_size(self->dataset); i++)
        self->n_scored += !isnan(self->loss[i]);
    FAIL_IF(!self->n_scored, CLV_ERR_DATA, "%s: has no true labels to score by, nor has any other",
            clv_dataset_name(self->dataset, 0));
    return CLV_OK;
}

static void score_state_release(struct score_state *self)
{
    for (int t = 0; t < self->n_threads; t++) {
        if (self->oracles)
            clv_oracle_free(self->oracles[t]);
        if (self->confusions)
            clv_confusion_release(&self->confusions[t]);
        if (self->likelihoods)
            likelihood_release(&self->likelihoods[t]);
    }
    arrays_free(self->oracles, self->confusions, self->likelihoods, self->loss, self->node_error, self->log_likelihood);
}

static const char *label_name(char number[16], const struct clv_labels *labels, int32_t label)
{
    snprintf(number, 16, "%d", label);
    return labels->names[label][0] ? labels->names[label] : number;
}

static void print_text(const struct score_state *self, const struct means *mean)
{
    const struct clv_labels *labels = &self->model->labels;
    printf("examples      %zu\nnodes         %.0f with a known label\naccuracy      %.2f %%\nnode error    %.2f %%, "
           "%.2f %% on the mean over examples\nmean loss     %.6g\n",
           self->n_scored, mean->n_known, 100 * (1 - mean->error), 100 * mean->error, 100 * mean->node_error,
           mean->loss);
    if (self->likelihoods)
        printf("likelihood    %.6g, mean log of an example's known labels\n", mean->log_likelihood);
    for (int32_t label = 0; label < labels->n_labels; label++) {
        char number[16];
        double right = clv_confusion_class_accuracy(&self->confusions[0], label);
        if (!isnan(right))
            printf("  %-11s %.2f %%\n", label_name(number, labels, label), 100 * right);
    }
}

static enum clv_status print_json(const struct score_state *self, const struct means *mean, struct clv_error *err)
{
    const struct clv_labels *labels = &self->model->labels;
    struct text text;
    bool is_first = true;
    text_init(&text, 1 << 20);
    text_printf(&text, "{\"examples\":%zu,\"nodes\":%.0f", self->n_scored, mean->n_known);
    json_put_number(&text, "accuracy", 1 - mean->error);
    json_put_number(&text, "node_error", mean->error);
    json_put_number(&text, "mean_node_error", mean->node_error);
    json_put_number(&text, "mean_loss", mean->loss);
    if (self->likelihoods) {
        json_put_number(&text, "mean_log_likelihood", mean->log_likelihood);
    }
    text_put(&text, ",\"class_accuracy\":{");
    for (int32_t label = 0; label < labels->n_labels; label++) {
        char number[16];
        double right = clv_confusion_class_accuracy(&self->confusions[0], label);
        if (isnan(right))
            continue;
        text_put(&text, is_first ? "" : ",");
        text_put_json(&text, label_name(number, labels, label));
        text_put(&text, ":");
        text_put_json_number(&text, right);
        is_first = false;
    }
    text_put(&text, "}}\n");
    return console_output(&text, err);
}

static enum clv_status print(const struct score_state *self, bool json, struct clv_error *err)
{
    struct clv_image_score score = clv_confusion_score(&self->confusions[0]);
    struct means mean = {.error = score.hamming, .n_known = (double)score.n_pixels};
    for (size_t i = 0; i < clv_dataset_size(self->dataset); i++) {
        if (isnan(self->loss[i]))
            continue;
        mean.loss += self->loss[i];
        mean.node_error += self->node_error[i];
        mean.log_likelihood += self->likelihoods ? self->log_likelihood[i] : 0;
    }
    mean.loss /= (double)self->n_scored;
    mean.node_error /= (double)self->n_scored;
    mean.log_likelihood /= (double)self->n_scored;
    if (json)
        return print_json(self, &mean, err);
    print_text(self, &mean);
    return CLV_OK;
}

/* Labels the nodes of a feature file with the model; its decoding sums or maximises over hidden nodes. Prints
 * accuracies and errors of labelled nodes: over all nodes, by label, and as means over examples. Also prints the mean
 * loss of examples and, if wanted, the mean exact log-likelihood of their known labels. */
static enum clv_status score_features(const struct features_task *task, struct clv_error *err)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    OWNED(score_state_release) struct score_state state = {.n_threads = parallel_threads(task->n_threads)};
    MUST(clv_model_read(&model, task->model_path, err));
    MUST(features_open_list(&dataset, NULL, task->paths, err));
    FAIL_IF(clv_dataset_n_labels(dataset) != model.layout.n_labels, CLV_ERR_DATA, "%s: has %d labels, the model %d",
            task->paths->paths[0], clv_dataset_n_labels(dataset), model.layout.n_labels);
    decoding_choose(&model.decoding, task->decoding);
    state.dataset = dataset;
    state.model = &model;
    MUST(score_examples(&state, task->wants_likelihood, err));
    return print(&state, task->json, err);
}

struct score {
    struct common_options *common;
    const char *data, *split, *voids, *predictions, *model_path, *pred_labels, *given;
    int band_px;
    bool json, csv, per_image, merge, likelihood;
    struct clv_shard shard;
    enum clv_decoding_choice decoding;
};

#define AT(member)       offsetof(struct score, member)
#define SECTION_COMPARED "What is compared"
#define SECTION_OF_FILES "With a feature file"
#define SECTION_PRINTED  "What is printed"
#define BASIC            CLV_OPTION_BASIC
static const struct clv_option score_rows[] = {
    {"data", 'd', "PATH", SECTION_COMPARED, CLV_OPTION_NEEDED | CLV_OPTION_AGAIN, CLV_OPTION_TEXT, AT(data),
     .help = "The truth: a manifest, or a folder with images/ and masks/\n"
             "Or a .tif whose pages are masks. With -m alone, feature files: give --data again for each"},
    {"pred", 'p', "FOLDER", SECTION_COMPARED, CLV_OPTION_NEEDED, CLV_OPTION_TEXT, AT(predictions),
     .help = "The predictions, as `cleave segment -o FOLDER' wrote them\n"
             "For a sequence also the file that `propagate -o FILE.tif' wrote"},
    {"split", 0, "NAME,..", SECTION_COMPARED, BASIC, CLV_OPTION_TEXT, AT(split),
     .help = "Score only these splits of the manifest (default: all)"},
    {"exclude", 0, "SET", SECTION_COMPARED, 0, CLV_OPTION_TEXT, AT(given),
     .help = "Skip images that have a mask in SET, whose masks `cleave propagate' was given\n"
             "Frames that a run noted in PRED as given are skipped without this option"},
    {"void", 0, "NAME,..", SECTION_COMPARED, BASIC, CLV_OPTION_TEXT, AT(voids), .help = VOID_HELP},
    {"pred-labels", 0, "FILE", SECTION_COMPARED, 0, CLV_OPTION_TEXT, AT(pred_labels),
     .help = "The labels.tsv of the predictions, if it differs from that of the truth\n"
             "Labels with the same name are the same, all others are wrong"},
    {"border-width", 0, "PX", SECTION_COMPARED, BASIC, CLV_OPTION_INT, AT(band_px), .minimum = 1,
     .maximum = BAND_MAX_PX,
     .help = "Count only pixels within PX pixels of a border between true labels\n"
             "Distances are along rows and columns"},
    {"model", 'm', "MODEL", SECTION_COMPARED, BASIC, CLV_OPTION_TEXT, AT(model_path),
     .help = "Also score each superpixel of this model's recipe\n"
             "This reads the images. With a feature file: label its nodes, and score those labels"},
    {"decode", 0, "RULE", SECTION_OF_FILES, CLV_OPTION_PLAIN, CLV_OPTION_CHOICE, AT(decoding),
     .choices = decoding_names, .help = DECODING_HELP},
    {"likelihood", 0, NULL, SECTION_OF_FILES, 0, CLV_OPTION_FLAG, AT(likelihood),
     .help = "Also print the mean log-likelihood of an example's known labels under exp(score)\n"
             "Unknown labels are summed out. It is exact on chains, trees and narrow graphs"},
    {"per-image", 0, NULL, SECTION_PRINTED, BASIC, CLV_OPTION_FLAG, AT(per_image),
     .help = "Also print the scores of every image"},
    {"json", 0, NULL, SECTION_PRINTED, BASIC, CLV_OPTION_FLAG, AT(json),
     .help = "Print one JSON document, with fractions instead of percentages"},
    {"csv", 0, NULL, SECTION_PRINTED, BASIC, CLV_OPTION_FLAG, AT(csv),
     .help = "Print a comma-separated line of fractions for each image"},
    {"shard", 0, "I/N", SECTION_PRINTED, 0, CLV_OPTION_OTHER, AT(shard), .take = option_take_shard,
     .help = SHARD_HELP ". This prints a table of counts, for --merge"},
    {"merge", 0, NULL, SECTION_PRINTED, 0, CLV_OPTION_FLAG, AT(merge),
     .help = "Score from the counts of all shards, whose tables are the arguments"},
    {0},
};

/* Fails for options that only apply to predictions as masks. */
static enum clv_status check_pixels(const struct score *self, struct clv_error *err)
{
    const char *option = self->band_px ? "border-width" : self->pred_labels ? "pred-labels" : NULL;
    FAIL_IF(self->given && !self->predictions, CLV_ERR_USAGE, "--exclude: goes with --pred");
    if (!option || (self->predictions && !self->model_path))
        return CLV_OK;
    return fail(err, CLV_ERR_USAGE, "--%s: goes with --pred, without -m", option);
}

static enum clv_status check_features(const struct score *self, struct clv_error *err)
{
    if (self->predictions || self->split || self->voids || self->csv || self->per_image)
        return fail(err, CLV_ERR_USAGE, "%s: a feature file goes with -m and --json only", self->data);
    FAIL_IF(!self->model_path, CLV_ERR_USAGE, "%s: a feature file needs a model; add -m MODEL", self->data);
    return common_options_check(self->common, self->data, "a feature file has no images", err);
}

static enum clv_status check_shards(const struct score *self, struct clv_error *err)
{
    bool is_masks = !(self->data && is_tensor_file(self->data));
    FAIL_IF((self->merge || self->shard.count) && !is_masks, CLV_ERR_USAGE,
            "--%s: goes with masks, not with a feature file", self->merge ? "merge" : "shard");
    if (self->shard.count && (self->merge || self->json || self->csv || self->per_image))
        return fail(err, CLV_ERR_USAGE,
                    "--shard: prints a table of counts; --json, --csv and --per-image go with --merge, which reads it");
    if (self->merge && !self->common->n_arguments)
        return fail(err, CLV_ERR_USAGE, "--merge: no tables: name those that `cleave score --shard' printed");
    FAIL_IF(self->merge && (self->predictions || self->model_path), CLV_ERR_USAGE,
            "--merge: the tables have the counts; leave out %s", self->predictions ? "--pred" : "-m");
    return CLV_OK;
}

static enum clv_status parse(struct score *self, int argc, char **argv, struct clv_error *err)
{
    const struct option_table table = {
        "SET PRED [OPTION...]",
        "Scores masks against the truth: weighted Hamming, Hamming, intersection over union.",
        {"score set/ out", "score set/manifest.tsv out --split test --json"},
        "Weighted Hamming is half the miss rate plus half the false-alarm rate, for foreground and background. "
        "Weighted Hamming, Hamming and IoU are means over images; accuracies are over all pixels of the set. Mean "
        "IoU is over labels from 1 on. Void pixels never count. To score several shards: cleave score --data SET "
        "--merge TABLE...",
        {{score_rows, self, false}, {image_option_rows, self->common, false}, {plain_option_rows, self->common, false}},
    };
    common_options_init(self->common);
    MUST(options_parse(&table, argc, argv, self->common, err));
    if (!self->merge)
        MUST(options_take_arguments(&table, self->common, (const char *const[]){"data", "pred"}, 2, err));
    bool has_features = self->data && is_tensor_file(self->data);
    FAIL_IF((self->decoding != CLV_DECODING_AUTO || self->likelihood) && !has_features, CLV_ERR_USAGE,
            "--%s: goes with a feature file in --data", self->likelihood ? "likelihood" : "decode");
    MUST(feature_paths_check(&self->common->paths, "data", err));
    MUST(check_shards(self, err));
    MUST(check_pixels(self, err));
    FAIL_IF(!self->data, CLV_ERR_USAGE, "score: no truth; give a folder or manifest with --data");
    if (is_tensor_file(self->data))
        return check_features(self, err);
    FAIL_IF(self->json && self->csv, CLV_ERR_USAGE, "--json and --csv exclude each other");
    if (self->merge)
        return common_options_check(self->common, "--merge", "it reads counts, not images", err);
    FAIL_IF(!self->predictions, CLV_ERR_USAGE, "score: no predictions; add --pred FOLDER");
    FAIL_IF(score_is_pages(self->data) && self->model_path, CLV_ERR_USAGE, "--model: reads images, %s has masks alone",
            self->data);
    FAIL_IF(!path_is_folder(self->predictions) &&
                !(score_is_pages(self->predictions) && path_exists(self->predictions)),
            CLV_ERR_NO_INPUT, "%s: no such folder of predictions", self->predictions);
    return CLV_OK;
}

static bool has_masks(const struct clv_set *set)
{
    size_t i = 0;
    while (i < set->n_items && !set->items[i].mask)
        i++;
    return i < set->n_items;
}

/* Returns the number of leading characters that `segment' removed from the names of images: with --data the folder that
 * all images share; with a folder as its argument 0, so that predictions are in FOLDER/images/. */
static size_t find_common(const struct clv_set *set, const char *folder)
{
    char below[PATH_MAX];
    size_t common = set_common_folder(set);
    snprintf(below, sizeof below, "%s/%.*s", folder ? folder : "", (int)common, set->items[0].name);
    return folder && path_is_folder(below) ? 0 : common;
}

/* The data of a comparison: the truth, the model, the inputs, and how predictions are read. */
struct sources {
    struct clv_set set;
    struct clv_model model; /* of --model */
    struct input_list inputs;
    struct clv_labels predicted; /* of --pred-labels */
    uint32_t *pages;
    struct clv_image_limits limits;
    size_t first; /* the shard's first input */
};

static void sources_release(struct sources *self)
{
    array_free(self->pages);
    clv_labels_release(&self->predicted);
    input_list_release(&self->inputs);
    clv_model_release(&self->model);
    clv_set_release(&self->set);
}

/* Lists the inputs of the set and scores their predictions. *task = the settings, which point into `from`. */
static enum clv_status compare(struct set_score *score, struct score_task *task, struct sources *from,
                               const struct score *self, const struct clv_progress *progress, struct clv_error *err)
{
    struct clv_set *set = &from->set;
    char remedy[2 * PATH_MAX];
    size_t common = find_common(set, self->predictions);
    MUST(clv_set_select(set, self->split, err));
    MUST(training_set_hide(set, self->voids, err));
    snprintf(remedy, sizeof remedy,
             "; if these are masks, put them into %s/masks and the photos into %s/images; the set with the truth comes "
             "first, the folder of predictions second",
             set->root, set->root);
    if (!has_masks(set))
        return fail_unmasked(set, self->data, ", which would be the truth", remedy, err);
    MUST(training_set_require_masks(set, self->data, progress, err));
    MUST(inputs_add_set(&from->inputs, set, common, err));
    if (self->model_path)
        MUST(clv_model_read(&from->model, self->model_path, err));
    recipe_limits(&from->limits, &from->model.recipe);
    FAIL_IF(self->model_path && !from->model.has_recipe, CLV_ERR_USAGE,
            "%s: learned from features made elsewhere; it has no superpixels", self->model_path);
    if (self->pred_labels)
        MUST(clv_labels_read(&from->predicted, self->pred_labels, err));
    *task = (struct score_task){
        .inputs = &from->inputs,
        .labels = &set->labels,
        .folder = self->predictions,
        .predicted = self->pred_labels ? &from->predicted : NULL,
        .band_px = self->band_px,
        .model = self->model_path ? &from->model : NULL,
        .keeps_counts = self->shard.count > 0,
        .n_threads = self->common->n_threads,
        .limits = &from->limits,
        .progress = progress,
    };
    size_t n = 0;
    if (!self->merge)
        MUST(score_drop_given(set, &from->inputs, task, self->given, err));
    shard_block(&from->first, &n, &self->shard, from->inputs.n);
    inputs_cut(&from->inputs, from->first, n);
    if (!self->merge && score_is_pages(self->predictions))
        MUST(score_find_pages(&from->pages, self->predictions, self->data, self->split, &from->inputs, err));
    task->pages = from->pages;
    return self->merge ? score_merge(score, &from->inputs, &set->labels, self->common->arguments,
                                     self->common->n_arguments, err)
                       : score_set(score, task, err);
}

static enum clv_status run(const struct score *self, struct clv_error *err)
{
    const struct clv_progress progress = console_progress(NULL);
    OWNED(sources_release) struct sources from = {.limits = self->common->limits};
    OWNED(set_score_release) struct set_score score = {0};
    struct score_task task;
    MUST(score_read_truth(&from.set, self->data, err));
    training_set_note_reading(&from.set, self->data, &progress);
    report_count(&progress, self->data, from.set.n_lone_masks, LONE_MASKS, from.set.first_lone_mask);
    training_set_drop_drafts(&from.set, self->data, "", &progress);
    const enum clv_status status = compare(&score, &task, &from, self, &progress, err);
    if (status == CLV_ERR_DATA)
        return fail_mask(&from.set, self->data, self->predictions, &from.limits, err);
    MUST(status);
    if (!self->shard.count)
        MUST(score_sequences(&score, self->merge ? NULL : &task, &from.set, self->common->n_threads, err));
    console_clear();
    if (from.pages && !self->given)
        score_note_equal_pages(&score, self->predictions);
    if (confusion_unlabelled(&score.confusion))
        console_note("%s: %" PRIu64 " pixels have no label there (255, as where an image has no data) but one in the "
                     "truth, and count as wrong; 255 in the truth makes them void",
                     self->predictions ? self->predictions : "predictions", confusion_unlabelled(&score.confusion));
    if (self->shard.count)
        score_shard_print(&score, from.first);
    else if (self->json)
        MUST(score_print_json(&score, self->per_image, err));
    else if (self->csv)
        MUST(score_print_csv(&score, err));
    else
        score_print_text(&score, self->per_image);
    return CLV_OK;
}

enum clv_status cmd_score(int argc, char **argv, struct clv_error *err)
{
    OWNED(common_options_release) struct common_options common = {0};
    struct score self = {.common = &common};
    MUST(parse(&self, argc, argv, err));
    const struct features_task features = {.paths = &self.common->paths,
                                           .model_path = self.model_path,
                                           .n_threads = self.common->n_threads,
                                           .json = self.json,
                                           .wants_likelihood = self.likelihood,
                                           .decoding = self.decoding};
    return is_tensor_file(self.data) ? score_features(&features, err) : run(&self, err);
}
