/* `cleave tag predict` and `cleave tag score`: predicts tags, and scores tags against the truth. Start at
 * tagging_predict and tagging_score. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "cli/tag/tag.h"
#include "data/data.h"
#include "report/report.h"
#include "tags/tags.h"

#define JSON_MAX ((size_t)1 << 32)

struct tag_request {
    struct common_options *common;
    struct clv_belief_search search;
    const char *data, *split, *model_path, *output, *predictions, *report;
    bool json, scores, overwrite;
};

#define SECTION_EXAMPLES "Model and examples"
#define SECTION_ANSWER   "What comes out"
#define AT(member)       offsetof(struct tag_request, member)
#define BASIC            CLV_OPTION_BASIC
#define NEEDED           CLV_OPTION_NEEDED

static const struct clv_option predict_rows[] = {
    {"model", 'm', "MODEL", SECTION_EXAMPLES, NEEDED, CLV_OPTION_TEXT, AT(model_path), .help = "The model"},
    {"data", 'd', "FILE", SECTION_EXAMPLES, NEEDED, CLV_OPTION_TEXT, AT(data),
     .help = "A multi-label file (svmlight); or images: a folder or a manifest"},
    {"split", 0, "NAME,..", SECTION_EXAMPLES, BASIC, CLV_OPTION_TEXT, AT(split),
     .help = "Take only these splits of the manifest (default: all)"},
    {"output", 'o', "FILE", SECTION_ANSWER, BASIC, CLV_OPTION_TEXT, AT(output),
     .help = "Where the tags go, all or nothing (default: standard output)"},
    {"overwrite", 0, NULL, SECTION_ANSWER, BASIC, CLV_OPTION_FLAG, AT(overwrite), .help = OVERWRITE_HELP},
    {"scores", 0, NULL, SECTION_ANSWER, BASIC, CLV_OPTION_FLAG, AT(scores),
     .help = "Also print the score of every tag, before tags are decided together"},
    {"report", 0, "FOLDER", SECTION_ANSWER, BASIC, CLV_OPTION_TEXT, AT(report),
     .help = "For images: also write a page that shows their tags, FOLDER/index.html"},
    {"json", 0, NULL, SECTION_ANSWER, BASIC, CLV_OPTION_FLAG, AT(json),
     .help = "Print one JSON document instead of a tab-separated table"},
    {0},
};

static const struct clv_option score_rows[] = {
    {"model", 'm', "MODEL", SECTION_EXAMPLES, BASIC, CLV_OPTION_TEXT, AT(model_path), .help = "The model"},
    {"data", 'd', "FILE", SECTION_EXAMPLES, NEEDED, CLV_OPTION_TEXT, AT(data),
     .help = "The truth: a multi-label file, or a manifest (.tsv) with a column tags"},
    {"pred", 'p', "FILE", SECTION_EXAMPLES, BASIC, CLV_OPTION_TEXT, AT(predictions),
     .help = "Score predicted tags: a multi-label file with as many lines"},
    {"split", 0, "NAME,..", SECTION_EXAMPLES, BASIC, CLV_OPTION_TEXT, AT(split),
     .help = "Take only these splits of the manifest (default: all)"},
    {"json", 0, NULL, SECTION_ANSWER, BASIC, CLV_OPTION_FLAG, AT(json),
     .help = "Print one JSON document, with fractions instead of percentages"},
    {0},
};

/* Parses the options of either command; adds the rows that both have to `table`. */
static enum clv_status parse(struct tag_request *self, struct option_table table, const struct clv_option *rows,
                             int argc, char **argv, struct clv_error *err)
{
    struct common_options *common = self->common;
    const struct option_group groups[] = {{rows, self, false},
                                          {search_option_rows, &self->search, false},
                                          {image_option_rows, common, false},
                                          {plain_option_rows, common, false}};
    memcpy(table.groups, groups, sizeof groups);
    *self = (struct tag_request){.common = self->common, .search = {.max_nodes = CLV_TAG_DEFAULT_NODES}};
    common_options_init(common);
    MUST(options_parse(&table, argc, argv, common, err));
    return options_take_arguments(&table, common, (const char *const[]){"data"}, 1, err);
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

static void put_table(struct text *text, const struct tag_request *self, const struct clv_tag_model *model,
                      const struct tag_outputs *outputs, const struct clv_set *images)
{
    char name[16];
    text_put(text, images->n_items ? "image" : "example");
    text_put(text, "\ttags\tloss\tbound\toptimal");
    for (int32_t i = 0; self->scores && i < model->n_tags; i++)
        text_printf(text, "\tscore:%s", clv_tag_name(model, i, name));
    text_put(text, "\n");
    for (size_t l = 0; l < outputs->n; l++) {
        const struct clv_belief_result *result = &outputs->results[l];
        if (images->n_items)
            text_printf(text, "%s\t", images->items[l].name);
        else
            text_printf(text, "%zu\t", l + 1);
        put_tags(text, model, outputs->tags + l * outputs->n_tags, false);
        text_printf(text, "\t%.6g\t%.6g\t%s", result->loss, result->bound, result->is_optimal ? "yes" : "no");
        for (size_t i = 0; self->scores && i < outputs->n_tags; i++)
            text_printf(text, "\t%.6g", outputs->scores[l * outputs->n_tags + i]);
        text_put(text, "\n");
    }
}

static void put_json(struct text *text, const struct tag_request *self, const struct clv_tag_model *model,
                     const struct tag_outputs *outputs, const struct clv_set *images)
{
    text_put(text, "{\"examples\":[");
    for (size_t l = 0; l < outputs->n; l++) {
        const struct clv_belief_result *result = &outputs->results[l];
        text_printf(text, "%s{\"example\":%zu", l ? "," : "", l + 1);
        if (images->n_items) {
            json_put_string(text, "image", images->items[l].name);
        }
        text_put(text, ",\"tags\":[");
        put_tags(text, model, outputs->tags + l * outputs->n_tags, true);
        text_put(text, "],\"loss\":");
        text_put_json_number(text, result->loss);
        json_put_number(text, "bound", result->bound);
        text_printf(text, ",\"optimal\":%s,\"nodes\":%llu", result->is_optimal ? "true" : "false",
                    (unsigned long long)result->n_nodes);
        for (size_t i = 0; self->scores && i < outputs->n_tags; i++) {
            text_put(text, i ? "," : ",\"scores\":[");
            text_put_json_number(text, outputs->scores[l * outputs->n_tags + i]);
        }
        text_put(text, self->scores ? "]}" : "}");
    }
    text_put(text, "]}\n");
}

/* Predicts the tags of the data by the model; *set receives the examples with their true tags. */
static enum clv_status predict_tags(struct tag_outputs *outputs, struct clv_tag_model *model, struct clv_tag_set *set,
                                    struct clv_set *images, const struct tag_request *self, struct clv_error *err)
{
    const struct tagging_source source = {self->data, self->split, self->common, 0};
    MUST(clv_tag_model_read(model, self->model_path, err));
    const char *search_option = options_first_given(self->common, SECTION_SEARCH);
    FAIL_IF(search_option && model->form != CLV_TAGS_LMSBN, CLV_ERR_USAGE,
            "--%s cannot be used with %s: that model does not decide by branch and bound; leave it out", search_option,
            self->model_path);
    MUST(tagging_read(set, images, NULL, &source, model, err));
    return tagging_set(outputs, model, set, &self->search, self->common->n_threads, err);
}

/* Appends tags as "sea, beach". */
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

static enum clv_status report_image(struct clv_report *report, const struct tag_request *self,
                                    const struct clv_tag_model *model, const struct clv_item *item, const uint8_t *tags,
                                    const uint8_t *truth, struct clv_error *err)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(text_release) struct text predicted = {0};
    OWNED(text_release) struct text correct = {0};
    text_init(&predicted, 1 << 20);
    text_init(&correct, 1 << 20);
    list_tags(&predicted, model, tags);
    list_tags(&correct, model, truth);
    MUST(item_image_read(&image, item, &self->common->limits, err));
    NEED(!predicted.failed && !correct.failed);
    const struct clv_report_item report_item = {.name = item->name,
                                                .image = &image,
                                                .weighted_hamming = NAN,
                                                .mean_iou = NAN,
                                                .tags = predicted.bytes ? predicted.bytes : "",
                                                .true_tags = !item->tags     ? NULL
                                                             : correct.bytes ? correct.bytes
                                                                             : ""};
    return clv_report_add(report, &report_item, err);
}

static enum clv_status write_report(const struct tag_request *self, const struct clv_tag_model *model,
                                    const struct tag_outputs *outputs, const struct clv_tag_set *set,
                                    const struct clv_set *images, struct clv_error *err)
{
    struct clv_report *report = NULL;
    const char *const summary[][2] = {{"model", self->model_path}, {"version", clv_version()}};
    enum clv_status status = clv_report_begin(&report, self->report, "Tags", &images->labels, summary, 2, err);
    for (size_t l = 0; l < outputs->n && status == CLV_OK; l++)
        status = report_image(report, self, model, &images->items[l], outputs->tags + l * outputs->n_tags,
                              set->tags + l * outputs->n_tags, err);
    if (status == CLV_OK)
        return clv_report_finish(report, err);
    clv_report_abandon(report);
    return status;
}

static enum clv_status run_predict(const struct tag_request *self, struct clv_error *err)
{
    OWNED(clv_tag_model_release) struct clv_tag_model model = {0};
    OWNED(clv_set_release) struct clv_set images = {0};
    OWNED(clv_tag_set_release) struct clv_tag_set set = {0};
    OWNED(tag_outputs_release) struct tag_outputs outputs = {0};
    OWNED(text_release) struct text text = {0};
    text_init(&text, JSON_MAX);
    MUST(predict_tags(&outputs, &model, &set, &images, self, err));
    if (self->report)
        MUST(write_report(self, &model, &outputs, &set, &images, err));
    if (self->json)
        put_json(&text, self, &model, &outputs, &images);
    else
        put_table(&text, self, &model, &outputs, &images);
    if (self->output && text.failed)
        return fail_memory(err);
    if (self->output)
        MUST(file_write(self->output, text.bytes, text.size, err));
    else
        MUST(console_output(&text, err));
    return CLV_OK;
}

static enum clv_status claim_outputs(struct tag_request *self, struct clv_error *err)
{
    struct common_options *common = self->common;
    if (self->output)
        MUST(tagging_claim(common, self->output, self->overwrite, self->data, self->model_path, err));
    enum path_kind kind = PATH_ABSENT;
    if (self->report)
        MUST(path_find_kind(&kind, self->report, err));
    if (kind == PATH_ABSENT)
        return CLV_OK; /* a new folder has no outputs to protect */
    OWNED_ARRAY char *page = path_join(self->report, "index.html");
    NEED(page);
    return tagging_claim(common, page, self->overwrite, self->data, self->model_path, err);
}

enum clv_status tagging_predict(int argc, char **argv, struct clv_error *err)
{
    static const struct option_table table = {
        .usage = "-m MODEL FILE [OPTION...]",
        .summary = "Tags examples by a model.",
        .examples = {"tag predict -m tags.cleave photos/", "tag predict -m tags.cleave photos/ --report report"},
    };
    OWNED(common_options_release) struct common_options common = {0};
    struct tag_request self = {.common = &common};
    MUST(parse(&self, table, predict_rows, argc, argv, err));
    FAIL_IF(!self.model_path, CLV_ERR_USAGE, "tag predict: no model; add -m MODEL");
    FAIL_IF(!self.data, CLV_ERR_USAGE, "tag predict: no examples; add --data FILE");
    FAIL_IF(self.report && !tagging_is_images(self.data), CLV_ERR_USAGE,
            "--report: %s is a multi-label file; there are no images to show", self.data);
    MUST(claim_outputs(&self, err));
    return run_predict(&self, err);
}

/* The work of branch and bound: the fraction of examples with an optimal decision, the mean and largest number of nodes
 * per example, and the mean loss. */
struct effort {
    double optimal, mean_nodes, mean_loss;
    uint64_t most_nodes;
};

static struct effort effort_of(const struct tag_outputs *outputs)
{
    struct effort effort = {0};
    for (size_t l = 0; l < outputs->n; l++) {
        const struct clv_belief_result *result = &outputs->results[l];
        effort.optimal += result->is_optimal;
        effort.mean_nodes += (double)result->n_nodes;
        effort.mean_loss += result->loss;
        if (result->n_nodes > effort.most_nodes)
            effort.most_nodes = result->n_nodes;
    }
    effort.optimal /= (double)outputs->n;
    effort.mean_nodes /= (double)outputs->n;
    effort.mean_loss /= (double)outputs->n;
    return effort;
}

static enum clv_status print_json(const struct clv_tag_score *score, size_t n, const struct effort *effort,
                                  struct clv_error *err)
{
    const struct value fields[] = {{"exact_match", score->exact_match}, {"hamming", score->hamming},
                                   {"f_sample", score->f_sample},       {"f_macro", score->f_macro},
                                   {"f_micro", score->f_micro},         {"examples", (double)n}};
    struct text text;
    text_init(&text, 4096);
    text_put(&text, "{");
    json_put_values(&text, fields, sizeof fields / sizeof *fields);
    if (effort) {
        json_put_number(&text, "mean_loss", effort->mean_loss);
        json_put_number(&text, "optimal", effort->optimal);
        json_put_number(&text, "mean_nodes", effort->mean_nodes);
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

/* Reads the truth and the predicted tags with the same number of tags. Without labels.txt, the highest label of a file
 * determines its number of tags, and that of the prediction may be larger. */
static enum clv_status read_both(struct clv_tag_set *truth, struct clv_tag_set *guess, const struct tag_request *self,
                                 struct clv_error *err)
{
    MUST(clv_tag_set_read(truth, self->data, 0, err));
    enum clv_status status = clv_tag_set_read(guess, self->predictions, truth->n_tags, err);
    if (status != CLV_ERR_DATA || truth->names)
        return status;
    MUST(clv_tag_set_read(guess, self->predictions, 0, err)); /* fails again unless a high label was the reason */
    clv_tag_set_release(truth);
    return clv_tag_set_read(truth, self->data, guess->n_tags, err);
}

static enum clv_status score_prediction(const struct tag_request *self, struct clv_error *err)
{
    OWNED(clv_tag_set_release) struct clv_tag_set guess = {0}, truth = {0};
    struct clv_tag_score score;
    FAIL_IF(tagging_is_images(self->data), CLV_ERR_USAGE,
            "--pred: %s has images; the truth of predicted tags is a multi-label file", self->data);
    MUST(read_both(&truth, &guess, self, err));
    FAIL_IF(truth.n != guess.n, CLV_ERR_DATA, "%s: has %zu examples, the truth %s has %zu", self->predictions, guess.n,
            self->data, truth.n);
    MUST(clv_tag_measure(&score, truth.tags, guess.tags, truth.n, truth.n_tags, err));
    if (self->json)
        MUST(print_json(&score, truth.n, NULL, err));
    else
        print_text(&score, truth.n, NULL);
    return CLV_OK;
}

static enum clv_status score_model(const struct tag_request *self, struct clv_error *err)
{
    OWNED(clv_tag_model_release) struct clv_tag_model model = {0};
    OWNED(clv_set_release) struct clv_set images = {0};
    OWNED(clv_tag_set_release) struct clv_tag_set set = {0};
    OWNED(tag_outputs_release) struct tag_outputs outputs = {0};
    struct clv_tag_score score;
    MUST(predict_tags(&outputs, &model, &set, &images, self, err));
    size_t n_tagged = 0; /* some images may have no tag, but not all */
    for (size_t l = 0; l < images.n_items; l++)
        n_tagged += images.items[l].tags != NULL;
    FAIL_IF(images.n_items && !n_tagged, CLV_ERR_DATA,
            "%s: no image has tags to score by; name them in the column tags of a manifest", self->data);
    MUST(clv_tag_measure(&score, set.tags, outputs.tags, set.n, set.n_tags, err));
    struct effort effort = effort_of(&outputs);
    if (self->json)
        MUST(print_json(&score, set.n, &effort, err));
    else
        print_text(&score, set.n, &effort);
    return CLV_OK;
}

enum clv_status tagging_score(int argc, char **argv, struct clv_error *err)
{
    static const struct option_table table = {
        .usage = "-m MODEL FILE [OPTION...]",
        .summary = "Compares tags with the truth: exact match, Hamming loss, F by example, by tag and over all.",
        .examples = {"tag score -m tags.cleave set/manifest.tsv --split test",
                     "tag score --pred predicted.svm --data truth.svm"},
        .notes = "Where there is no tag to find and none was found, F is 1.",
    };
    OWNED(common_options_release) struct common_options common = {0};
    struct tag_request self = {.common = &common};
    MUST(parse(&self, table, score_rows, argc, argv, err));
    FAIL_IF(!self.data, CLV_ERR_USAGE, "tag score: no truth; add --data FILE");
    FAIL_IF(!self.model_path == !self.predictions, CLV_ERR_USAGE,
            "tag score: give either a model (-m) or a prediction (--pred)");
    const char *search_option = options_first_given(self.common, SECTION_SEARCH), *model_option = search_option
                                                                                                      ? search_option
                                                                                                  : self.split ? "split"
                                                                                                               : NULL;
    FAIL_IF(self.predictions && model_option, CLV_ERR_USAGE, "--%s cannot be used with --pred, whose tags are there",
            model_option);
    if (self.predictions)
        MUST(common_options_check(self.common, "--pred", "predicted tags and their truth have no images", err));
    return self.predictions ? score_prediction(&self, err) : score_model(&self, err);
}
