/* cleave annotate predict and score */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/belief_net.h"
#include "annotate/tag_model.h"
#include "annotate/tags.h"
#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/annotate/annotate.h"
#include "cli/annotate/annotate_inputs.h"
#include "cli/common/console.h"
#include "cli/common/outputs.h"
#include "report/report.h"

#define JSON_MAX ((size_t)1 << 32)

struct answer {
    struct common_options common;
    struct search_options search;
    const char *data, *split, *model_path, *output, *predictions, *report;
    bool json, scores, overwrite;
};

enum answer_keys { KEY_JSON = KEYS_COMMAND, KEY_SCORES, KEY_SPLIT, KEY_REPORT };

static const struct argp_option predict_options[] = {
    {"model", 'm', "FILE", 0, "The model", 0},
    {"data", 'd', "FILE", 0, "The examples: an svmlight multi-label file; or images: a folder or a manifest (.tsv)", 0},
    {"split", KEY_SPLIT, "NAME,..", 0, "Splits of the manifest (default: all)", 0},
    {"output", 'o', "FILE", 0, "Where the tags go, all or nothing (default: standard output)", 0},
    {"overwrite", KEY_OVERWRITE, NULL, 0, OVERWRITE_HELP, 0},
    {"scores", KEY_SCORES, NULL, 0, "Also the input score of every tag", 0},
    {"report", KEY_REPORT, "FOLDER", 0, "Of images: also one page that shows them with their tags, FOLDER/index.html",
     0},
    {"json", KEY_JSON, NULL, 0, "One JSON document instead of a tab-separated table", 0},
    {0},
};

static const struct argp_option score_options[] = {
    {"model", 'm', "FILE", 0, "The model", 0},
    {"data", 'd', "FILE", 0, "The truth: an svmlight multi-label file, or a manifest (.tsv) with a column tags", 0},
    {"split", KEY_SPLIT, "NAME,..", 0, "Splits of the manifest (default: all)", 0},
    {"pred", 'p', "FILE", 0,
     "Instead of a model: tags that were predicted, an svmlight multi-label file of as many lines", 0},
    {"json", KEY_JSON, NULL, 0, "One JSON document, in fractions", 0},
    {0},
};

static error_t parse_answer(int key, char *arg, struct argp_state *state)
{
    struct answer *self = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &self->common;
        state->child_inputs[1] = &self->search;
        return 0;
    case ARGP_KEY_ARG: return option_error(&self->common, "%s: there are no arguments; --data names the data", arg);
    case 'd': self->data = arg; return 0;
    case 'm': self->model_path = arg; return 0;
    case 'o': self->output = arg; return 0;
    case 'p': self->predictions = arg; return 0;
    case KEY_JSON: self->json = true; return 0;
    case KEY_OVERWRITE: self->overwrite = true; return 0;
    case KEY_SCORES: self->scores = true; return 0;
    case KEY_SPLIT: self->split = arg; return 0;
    case KEY_REPORT: self->report = arg; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static enum clv_status parse(struct answer *self, const struct argp_option *options, const char *doc, int argc,
                             char **argv, struct clv_error *err)
{
    const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {&search_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {options, parse_answer, NULL, doc, children, NULL, NULL};
    *self = (struct answer){.search = {.common = &self->common, .search = {.max_nodes = CLV_TAG_DEFAULT_NODES}}};
    common_options_init(&self->common, err);
    return options_parse(&argp, argc, argv, self, &self->common);
}

static void put_tags(struct text *text, const struct clv_tag_model *model, const uint8_t *tags, bool json)
{
    char name[16];
    const char *separator = "";
    for (int32_t i = 0; i < model->n_tags; i++) {
        if (!tags[i])
            continue;
        text_put(text, separator);
        separator = ",";
        if (json)
            text_put_json(text, clv_tag_name(model, i, name));
        else
            text_put(text, clv_tag_name(model, i, name));
    }
}

static void put_table(struct text *text, const struct answer *self, const struct clv_tag_model *model,
                      const struct annotation *annotation, const struct clv_set *images)
{
    char name[16];
    text_put(text, images->n_items ? "image" : "example");
    text_put(text, "\ttags\tloss\tbound\toptimal");
    for (int32_t i = 0; self->scores && i < model->n_tags; i++)
        text_printf(text, "\tscore:%s", clv_tag_name(model, i, name));
    text_put(text, "\n");
    for (size_t l = 0; l < annotation->n; l++) {
        const struct clv_belief_result *result = &annotation->results[l];
        if (images->n_items)
            text_printf(text, "%s\t", images->items[l].name);
        else
            text_printf(text, "%zu\t", l + 1);
        put_tags(text, model, annotation->tags + l * annotation->n_tags, false);
        text_printf(text, "\t%.6g\t%.6g\t%s", result->loss, result->bound, result->is_optimal ? "yes" : "no");
        for (size_t i = 0; self->scores && i < annotation->n_tags; i++)
            text_printf(text, "\t%.6g", annotation->scores[l * annotation->n_tags + i]);
        text_put(text, "\n");
    }
}

static void put_json(struct text *text, const struct answer *self, const struct clv_tag_model *model,
                     const struct annotation *annotation, const struct clv_set *images)
{
    text_put(text, "{\"examples\":[");
    for (size_t l = 0; l < annotation->n; l++) {
        const struct clv_belief_result *result = &annotation->results[l];
        text_printf(text, "%s{\"example\":%zu", l ? "," : "", l + 1);
        if (images->n_items) {
            text_put(text, ",\"image\":");
            text_put_json(text, images->items[l].name);
        }
        text_put(text, ",\"tags\":[");
        put_tags(text, model, annotation->tags + l * annotation->n_tags, true);
        text_put(text, "],\"loss\":");
        text_put_json_number(text, result->loss);
        text_put(text, ",\"bound\":");
        text_put_json_number(text, result->bound);
        text_printf(text, ",\"optimal\":%s,\"nodes\":%llu", result->is_optimal ? "true" : "false",
                    (unsigned long long)result->n_nodes);
        for (size_t i = 0; self->scores && i < annotation->n_tags; i++) {
            text_put(text, i ? "," : ",\"scores\":[");
            text_put_json_number(text, annotation->scores[l * annotation->n_tags + i]);
        }
        text_put(text, self->scores ? "]}" : "}");
    }
    text_put(text, "]}\n");
}

/* The model's answers to the data; *set keeps the truth. */
static enum clv_status answer(struct annotation *annotation, struct clv_tag_model *model, struct clv_tag_set *set,
                              struct clv_set *images, const struct answer *self, struct clv_error *err)
{
    const struct annotate_source source = {self->data, self->split, &self->common, 0};
    enum clv_status status = clv_tag_model_read(model, self->model_path, err);
    if (status == CLV_OK && self->search.given && model->form != CLV_TAGS_LMSBN)
        status = fail(err, CLV_ERR_USAGE, "--%s has no effect: %s does not decide by branch and bound",
                      self->search.given, self->model_path);
    if (status == CLV_OK)
        status = annotate_read(set, images, NULL, &source, model, err);
    if (status == CLV_OK)
        status = annotate_set(annotation, model, set, &self->search.search, self->common.n_threads, err);
    return status;
}

/* "sea, beach" */
static void list_tags(struct text *text, const struct clv_tag_model *model, const uint8_t *tags)
{
    char name[16];
    const char *separator = "";
    for (int32_t i = 0; i < model->n_tags; i++)
        if (tags[i]) {
            text_printf(text, "%s%s", separator, clv_tag_name(model, i, name));
            separator = ", ";
        }
}

static enum clv_status report_image(struct clv_report *report, const struct answer *self,
                                    const struct clv_tag_model *model, const struct clv_item *item, const uint8_t *tags,
                                    const uint8_t *truth, struct clv_error *err)
{
    struct clv_image image = {0};
    struct text texts[2];
    text_init(&texts[0], 1 << 20);
    text_init(&texts[1], 1 << 20);
    list_tags(&texts[0], model, tags);
    list_tags(&texts[1], model, truth);
    enum clv_status status = clv_image_read(&image, item->image, &self->common.limits, err);
    if (status == CLV_OK && (texts[0].failed || texts[1].failed))
        status = fail_memory(err);
    const struct clv_report_item shown = {.name = item->name,
                                          .image = &image,
                                          .weighted_hamming = NAN,
                                          .mean_iou = NAN,
                                          .tags = texts[0].bytes ? texts[0].bytes : "",
                                          .true_tags = !item->tags      ? NULL
                                                       : texts[1].bytes ? texts[1].bytes
                                                                        : ""};
    if (status == CLV_OK)
        status = clv_report_add(report, &shown, err);
    text_release(&texts[0]);
    text_release(&texts[1]);
    clv_image_release(&image);
    return status;
}

static enum clv_status write_report(const struct answer *self, const struct clv_tag_model *model,
                                    const struct annotation *annotation, const struct clv_tag_set *set,
                                    const struct clv_set *images, struct clv_error *err)
{
    struct clv_report *report = NULL;
    const char *const summary[][2] = {{"model", self->model_path}, {"version", clv_version()}};
    enum clv_status status = clv_report_begin(&report, self->report, "Tags", &images->labels, summary, 2, err);
    for (size_t l = 0; l < annotation->n && status == CLV_OK; l++)
        status = report_image(report, self, model, &images->items[l], annotation->tags + l * annotation->n_tags,
                              set->tags + l * annotation->n_tags, err);
    if (status == CLV_OK)
        return clv_report_finish(report, err);
    clv_report_abandon(report);
    return status;
}

static enum clv_status run_predict(const struct answer *self, struct clv_error *err)
{
    struct clv_tag_model model = {0};
    struct clv_tag_set set = {0};
    struct clv_set images = {0};
    struct annotation annotation = {0};
    struct text text;
    text_init(&text, JSON_MAX);
    enum clv_status status = answer(&annotation, &model, &set, &images, self, err);
    if (status == CLV_OK && self->report)
        status = write_report(self, &model, &annotation, &set, &images, err);
    if (status == CLV_OK && self->json)
        put_json(&text, self, &model, &annotation, &images);
    else if (status == CLV_OK)
        put_table(&text, self, &model, &annotation, &images);
    if (status == CLV_OK && self->output && text.failed)
        status = fail_memory(err);
    else if (status == CLV_OK && self->output)
        status = file_write(self->output, text.bytes, text.size, err);
    else if (status == CLV_OK)
        status = console_output(&text, err);
    text_release(&text);
    annotation_release(&annotation);
    clv_tag_set_release(&set);
    clv_set_release(&images);
    clv_tag_model_release(&model);
    return status;
}

static enum clv_status claim_outputs(struct answer *self, struct clv_error *err)
{
    struct common_options *common = &self->common;
    enum clv_status status = CLV_OK;
    if (self->output)
        status = annotate_claim(common, self->output, self->overwrite, self->data, self->model_path, err);
    enum path_kind kind = PATH_ABSENT;
    if (status == CLV_OK && self->report)
        status = path_look(&kind, self->report, err);
    if (status != CLV_OK || kind == PATH_ABSENT)
        return status; /* a folder that is still to be made holds nothing */
    char *page = path_join(self->report, "index.html");
    status = page ? annotate_claim(common, page, self->overwrite, self->data, self->model_path, err) : fail_memory(err);
    array_free(page);
    return status;
}

enum clv_status annotate_predict(int argc, char **argv, struct clv_error *err)
{
    struct answer self;
    enum clv_status status = parse(&self, predict_options, "Tags the examples of a file.", argc, argv, err);
    if (status == CLV_OK && !self.model_path)
        status = fail(err, CLV_ERR_USAGE, "annotate predict: -m is missing: which model?");
    if (status == CLV_OK && !self.data)
        status = fail(err, CLV_ERR_USAGE, "annotate predict: --data is missing: which examples?");
    if (status == CLV_OK && self.report && !annotate_is_images(self.data))
        status = fail(err, CLV_ERR_USAGE, "--report: %s is a multi-label file; there are no images to show", self.data);
    if (status == CLV_OK)
        status = claim_outputs(&self, err);
    if (status == CLV_OK)
        status = run_predict(&self, err);
    common_options_release(&self.common);
    return status;
}

/* How branch and bound fared: shares of examples, nodes. */
struct effort {
    double optimal, mean_nodes, mean_loss;
    uint64_t most_nodes;
};

static struct effort effort_of(const struct annotation *annotation)
{
    struct effort effort = {0};
    for (size_t l = 0; l < annotation->n; l++) {
        const struct clv_belief_result *result = &annotation->results[l];
        effort.optimal += result->is_optimal;
        effort.mean_nodes += (double)result->n_nodes;
        effort.mean_loss += result->loss;
        if (result->n_nodes > effort.most_nodes)
            effort.most_nodes = result->n_nodes;
    }
    effort.optimal /= (double)annotation->n;
    effort.mean_nodes /= (double)annotation->n;
    effort.mean_loss /= (double)annotation->n;
    return effort;
}

static enum clv_status print_json(const struct clv_tag_score *score, size_t n, const struct effort *effort,
                                  struct clv_error *err)
{
    const struct {
        const char *name;
        double value;
    } fields[] = {{"exact_match", score->exact_match}, {"hamming", score->hamming}, {"f_sample", score->f_sample},
                  {"f_macro", score->f_macro},         {"f_micro", score->f_micro}, {"examples", (double)n}};
    struct text text;
    text_init(&text, 4096);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        text_printf(&text, "%s\"%s\":", i ? "," : "{", fields[i].name);
        text_put_json_number(&text, fields[i].value);
    }
    if (effort) {
        text_put(&text, ",\"mean_loss\":");
        text_put_json_number(&text, effort->mean_loss);
        text_put(&text, ",\"optimal\":");
        text_put_json_number(&text, effort->optimal);
        text_put(&text, ",\"mean_nodes\":");
        text_put_json_number(&text, effort->mean_nodes);
        text_printf(&text, ",\"most_nodes\":%llu", (unsigned long long)effort->most_nodes);
    }
    text_put(&text, "}\n");
    return console_output(&text, err);
}

static void print_text(const struct clv_tag_score *score, size_t n, const struct effort *effort)
{
    printf("examples    %zu\nexact match %6.2f %%\nHamming     %6.2f %%\nF-sample    %6.2f %%\nF-macro     %6.2f %%\n"
           "F-micro     %6.2f %%\n",
           n, 100 * score->exact_match, 100 * score->hamming, 100 * score->f_sample, 100 * score->f_macro,
           100 * score->f_micro);
    if (effort)
        printf("optimal     %6.2f %% of examples, %.1f nodes each, %llu at most\n", 100 * effort->optimal,
               effort->mean_nodes, (unsigned long long)effort->most_nodes);
}

static enum clv_status score_prediction(const struct answer *self, struct clv_error *err)
{
    struct clv_tag_set truth = {0}, guess = {0};
    struct clv_tag_score score;
    enum clv_status status = clv_tag_set_read(&truth, self->data, 0, err);
    if (status == CLV_OK)
        status = clv_tag_set_read(&guess, self->predictions, truth.n_tags, err);
    if (status == CLV_OK && truth.n != guess.n)
        status = fail(err, CLV_ERR_DATA, "%s: has %zu examples, the truth %s has %zu", self->predictions, guess.n,
                      self->data, truth.n);
    if (status == CLV_OK)
        status = clv_tag_measure(&score, truth.tags, guess.tags, truth.n, truth.n_tags, err);
    if (status == CLV_OK && self->json)
        status = print_json(&score, truth.n, NULL, err);
    else if (status == CLV_OK)
        print_text(&score, truth.n, NULL);
    clv_tag_set_release(&truth);
    clv_tag_set_release(&guess);
    return status;
}

static enum clv_status score_model(const struct answer *self, struct clv_error *err)
{
    struct clv_tag_model model = {0};
    struct clv_tag_set set = {0};
    struct clv_set images = {0};
    struct annotation annotation = {0};
    struct clv_tag_score score;
    enum clv_status status = answer(&annotation, &model, &set, &images, self, err);
    if (status == CLV_OK)
        status = clv_tag_measure(&score, set.tags, annotation.tags, set.n, set.n_tags, err);
    if (status == CLV_OK) {
        struct effort effort = effort_of(&annotation);
        if (self->json)
            status = print_json(&score, set.n, &effort, err);
        else
            print_text(&score, set.n, &effort);
    }
    annotation_release(&annotation);
    clv_tag_set_release(&set);
    clv_set_release(&images);
    clv_tag_model_release(&model);
    return status;
}

enum clv_status annotate_score(int argc, char **argv, struct clv_error *err)
{
    struct answer self;
    enum clv_status status = parse(&self, score_options,
                                   "Compares tags with the truth: exact match, Hamming loss, F by example, by tag and "
                                   "over all.\vWhere there is no tag to find and none was found, F is 1.",
                                   argc, argv, err);
    if (status == CLV_OK && !self.data)
        status = fail(err, CLV_ERR_USAGE, "annotate score: --data is missing: where is the truth?");
    if (status == CLV_OK && !self.model_path == !self.predictions)
        status = fail(err, CLV_ERR_USAGE, "annotate score: give either a model (-m) or a prediction (--pred)");
    const char *of_model = self.search.given ? self.search.given : self.split ? "split" : NULL;
    if (status == CLV_OK && self.predictions && of_model)
        status = fail(err, CLV_ERR_USAGE, "--%s has no effect with --pred, whose tags are there", of_model);
    if (status == CLV_OK && self.predictions)
        status = common_options_check(&self.common, "--pred and its truth hold no images", err);
    if (status == CLV_OK)
        status = self.predictions ? score_prediction(&self, err) : score_model(&self, err);
    common_options_release(&self.common);
    return status;
}
