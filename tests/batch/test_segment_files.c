/* clv_segment_files from C, with a model in memory: outcomes in input order, counts, refusals, and runs that are stopped
 * and resumed. The command and Python make the same bytes (tests/cli/segment, tools/python/tests/test_files.py). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "support/sample.h"
#include "support/support.h"

#define N_TEST   4 /* images of the sample's split test */
#define MOST     16
#define MAX_TEXT 256

/* What the callbacks were told. */
struct told {
    char names[MOST][MAX_TEXT], masks[MOST][MAX_TEXT];
    enum clv_status statuses[MOST];
    size_t n, n_earlier, n_objects, n_complaints, n_reports;
    int stop_after, stop; /* outcomes until stop is set; 0: it never is */
};

static void settle(void *context, const struct clv_file_outcome *outcome)
{
    struct told *told = context;
    ck_assert_uint_lt(told->n, MOST);
    snprintf(told->names[told->n], MAX_TEXT, "%s", outcome->name);
    snprintf(told->masks[told->n], MAX_TEXT, "%s", outcome->mask ? outcome->mask : "");
    ck_assert_int_eq(!outcome->mask, outcome->status != CLV_OK);
    ck_assert_int_eq(*outcome->message != 0, outcome->status != CLV_OK);
    told->statuses[told->n++] = outcome->status;
    told->n_earlier += outcome->is_earlier;
    told->n_objects += (size_t)outcome->n_objects;
    if (told->stop_after && told->n >= (size_t)told->stop_after)
        told->stop = 1;
}

static void report(void *context, const char *what, size_t done, size_t total, const char *note)
{
    struct told *told = context;
    (void)note;
    ck_assert_str_eq(what, "segmenting");
    ck_assert_uint_le(done, total);
    told->n_reports++;
}

static void say(void *context, enum clv_message kind, const char *text)
{
    struct told *told = context;
    ck_assert_uint_gt(strlen(text), 0);
    told->n_complaints += kind == CLV_COMPLAINT;
}

/* Options for the sample's split test, which tell what they do. */
struct call {
    struct clv_files_options options;
    struct clv_progress progress;
    struct told told;
    char set[MAX_TEXT], output[MAX_TEXT];
};

static void prepare(struct call *call, const struct clv_model *model, const char *output)
{
    *call = (struct call){.told = {.n = 0}};
    snprintf(call->set, sizeof call->set, "%s/manifest.tsv", sample_set());
    snprintf(call->output, sizeof call->output, "%s", here("%s", output));
    clv_files_defaults(&call->options);
    call->progress = (struct clv_progress){.report = report, .context = &call->told, .notify = say};
    call->progress.stop = &call->told.stop;
    call->options.model = model;
    call->options.data = call->set;
    call->options.split = "test";
    call->options.output = call->output;
    call->options.progress = &call->progress;
    call->options.settled = settle;
    call->options.context = &call->told;
}

static void read_model(struct clv_model *model)
{
    must(clv_model_read(model, sample_model(), err));
}

TEST(a_model_in_memory_writes_what_the_command_writes_of_its_file)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    struct clv_files_result result;
    struct call call;
    read_model(&model);
    run_here("cleave segment -q -m \"$MODEL\" -d \"$SET/manifest.tsv\" --split test --overlay --objects --export "
             "coco,geojson -o command");
    prepare(&call, &model, "out");
    call.options.overlay = call.options.objects = true;
    call.options.exports = CLV_EXPORT_COCO | CLV_EXPORT_GEOJSON;
    must(clv_segment_files(&result, &call.options, err));
    ck_assert(same_bytes(here("out"), here("command")));
    ck_assert_uint_eq(result.n_inputs, N_TEST);
    ck_assert_uint_eq(result.n_done, N_TEST);
    ck_assert_uint_eq(result.n_earlier + result.n_failed, 0);
    ck_assert_uint_eq(result.n_objects, call.told.n_objects);
    ck_assert(result.is_complete && result.first_failure == CLV_OK && result.n_objects > 0);
    ck_assert_uint_eq(call.told.n, N_TEST);
    ck_assert_uint_ge(call.told.n_reports, 1);
    for (size_t i = 1; i < N_TEST; i++)
        ck_assert_int_lt(strcmp(call.told.names[i - 1], call.told.names[i]), 0);
    prepare(&call, NULL, "by_path");
    call.options.model_path = sample_model();
    call.options.overlay = call.options.objects = true;
    call.options.exports = CLV_EXPORT_COCO | CLV_EXPORT_GEOJSON;
    must(clv_segment_files(&result, &call.options, err));
    ck_assert(same_bytes(here("by_path"), here("command")));
}

/* The report has fractions in its notes; suite comma runs this in a program whose locale has decimal commas. */
TEST(probabilities_and_their_report_are_those_of_the_command)
{
    struct clv_files_result result;
    struct call call;
    run_here("cleave probabilities -q -m \"$MODEL\" -d \"$SET/manifest.tsv\" --split test --samples 20 --report "
             "command-report -o command");
    prepare(&call, NULL, "out");
    call.options.model_path = sample_model();
    call.options.probabilities = CLV_PROBABILITIES_OF_LABEL;
    call.options.progress = NULL;
    call.options.n_samples = 20;
    call.options.report = here("out-report");
    must(clv_segment_files(&result, &call.options, err));
    ck_assert(same_bytes(here("out"), here("command")));
    ck_assert(same_bytes(here("out-report"), here("command-report")));
    expect_in_file(here("out-report/index.html"), "% expected, mean entropy 0.");
}

TEST(outcomes_come_in_input_order_and_failures_are_counted)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    struct clv_files_result result;
    struct call call;
    read_model(&model);
    for (int n_threads = 1; n_threads <= 4; n_threads += 3) {
        run_here("rm -rf mixed out && mkdir mixed && cp \"$SET\"/images/*.jpg mixed/ && cd mixed && for file in $(ls | "
                 "sed -n '2p;5p'); do echo no image >$file; done");
        prepare(&call, &model, "out");
        char folder[MAX_TEXT];
        snprintf(folder, sizeof folder, "%s", here("mixed"));
        const char *const images[] = {folder};
        call.options.data = call.options.split = NULL;
        call.options.images = images;
        call.options.n_images = 1;
        call.options.n_threads = n_threads;
        must_fail(CLV_ERR_DATA, "2 of 12 inputs failed", clv_segment_files(&result, &call.options, err));
        ck_assert(result.is_complete);
        ck_assert_int_eq(result.first_failure, CLV_ERR_DATA);
        ck_assert_uint_eq(result.n_done, 10);
        ck_assert_uint_eq(result.n_failed, 2);
        ck_assert_uint_eq(call.told.n_complaints, 2);
        ck_assert_uint_eq(call.told.n, 12);
        for (size_t i = 0; i < 12; i++) {
            ck_assert_int_eq(call.told.statuses[i], i == 1 || i == 4 ? CLV_ERR_DATA : CLV_OK);
            ck_assert_int_eq(call.told.masks[i][0] != 0 && path_exists(call.told.masks[i]), i != 1 && i != 4);
            ck_assert(i == 0 || strcmp(call.told.names[i - 1], call.told.names[i]) < 0);
        }
        ck_assert_int_eq(count_files(here("out")), 10);
        prepare(&call, &model, "fast");
        call.options.data = call.options.split = NULL;
        call.options.images = images;
        call.options.n_images = 1;
        call.options.fail_fast = true;
        call.options.n_threads = n_threads;
        call.options.existing = CLV_EXISTING_OVERWRITE;
        must_fail(CLV_ERR_DATA, "mixed/", clv_segment_files(&result, &call.options, err));
        ck_assert(!result.is_complete && result.n_failed >= 1);
    }
}

TEST(a_run_that_is_stopped_is_resumed_to_the_bytes_of_one_that_was_not)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    struct clv_files_result result;
    struct call call;
    read_model(&model);
    prepare(&call, &model, "whole");
    call.options.objects = true;
    call.options.exports = CLV_EXPORT_COCO;
    must(clv_segment_files(&result, &call.options, err));
    prepare(&call, &model, "parts");
    call.options.objects = true;
    call.options.exports = CLV_EXPORT_COCO;
    call.options.n_threads = 1;
    call.told.stop_after = 2;
    must_fail(CLV_ERR_INTERRUPTED, "", clv_segment_files(&result, &call.options, err));
    ck_assert(!result.is_complete);
    ck_assert_uint_eq(result.n_done, 2);
    ck_assert_uint_eq(call.told.n, 2);
    prepare(&call, &model, "parts");
    call.options.objects = true;
    call.options.exports = CLV_EXPORT_COCO;
    call.options.existing = CLV_EXISTING_RESUME;
    must(clv_segment_files(&result, &call.options, err));
    ck_assert_uint_eq(result.n_earlier, 2);
    ck_assert_uint_eq(call.told.n_earlier, 2);
    ck_assert_uint_eq(result.n_done, N_TEST - 2);
    ck_assert(same_bytes(here("parts"), here("whole")));
    prepare(&call, &model, "stopped"); /* before the first input */
    call.told.stop = 1;
    must_fail(CLV_ERR_INTERRUPTED, "", clv_segment_files(&result, &call.options, err));
    ck_assert_uint_eq(result.n_done + call.told.n, 0);
    ck_assert_int_eq(count_files(here("stopped")), 0);
}

/* A refusal changes nothing. */
static void refuse(struct call *call, enum clv_status status, const char *part)
{
    struct clv_files_result result;
    must_fail(status, part, clv_segment_files(&result, &call->options, err));
    ck_assert(!result.is_complete && result.n_done == 0);
    ck_assert_uint_eq(call->told.n, 0);
    ck_assert(!path_exists(here("out")));
}

TEST(what_cannot_be_met_is_refused_before_anything_is_written)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    struct clv_files_result result;
    struct call call;
    read_model(&model);
    must_fail(CLV_ERR_USAGE, "no model", clv_segment_files(&result, NULL, err));
    prepare(&call, NULL, "out");
    refuse(&call, CLV_ERR_USAGE, "no model");
    prepare(&call, &model, "out");
    call.options.boxes = "1,2,30,40";
    refuse(&call, CLV_ERR_USAGE, "--boxes cannot be used with --model: each is a way to label");
    prepare(&call, &model, "out");
    call.options.propagates = true;
    refuse(&call, CLV_ERR_USAGE, "propagate cannot be used with --model");
    prepare(&call, &model, "out");
    call.options.output = NULL;
    refuse(&call, CLV_ERR_USAGE, "no output; add -o FOLDER");
    prepare(&call, &model, "out");
    call.options.data = call.options.split = NULL;
    refuse(&call, CLV_ERR_USAGE, "no images: name files or folders, or --data, or --features");
    prepare(&call, NULL, "out");
    call.options.boxes = "1,2,30,40";
    call.options.probabilities = CLV_PROBABILITIES_OF_LABEL;
    refuse(&call, CLV_ERR_USAGE, "probabilities cannot be used with ");
    prepare(&call, NULL, "out");
    call.options.model_path = "missing.cleave";
    refuse(&call, CLV_ERR_NO_INPUT, "missing.cleave");
    prepare(&call, &model, "out");
    call.options.sequence = true;
    call.options.decode = CLV_DECODING_MARGINALS;
    refuse(&call, CLV_ERR_USAGE, "--decode cannot be used with --sequence");
    prepare(&call, NULL, "out");
    call.options.boxes = "1,2,30,40";
    call.options.sequence = true;
    refuse(&call, CLV_ERR_USAGE, "--sequence cannot be used with --boxes");
    prepare(&call, &model, "out");
    call.options.clear_border = true;
    refuse(&call, CLV_ERR_USAGE, "--clear-border needs --objects");
}

TEST(outputs_that_exist_are_kept_unless_they_are_to_be_replaced)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    struct clv_files_result result;
    struct call call;
    read_model(&model);
    prepare(&call, &model, "out");
    must(clv_segment_files(&result, &call.options, err));
    prepare(&call, &model, "out");
    must_fail(CLV_ERR_CREATE, "out", clv_segment_files(&result, &call.options, err));
    ck_assert_uint_eq(call.told.n, 0);
    call.options.existing = CLV_EXISTING_OVERWRITE;
    must(clv_segment_files(&result, &call.options, err));
    ck_assert_uint_eq(result.n_done, N_TEST);
}

TEST(the_table_names_each_option_once)
{
    size_t n = 0;
    for (; clv_files_option_at(n); n++)
        for (size_t k = 0; k < n; k++)
            ck_assert_str_ne(clv_files_option_at(k)->name, clv_files_option_at(n)->name);
    ck_assert_uint_gt(n, 30);
    ck_assert_ptr_null(clv_files_option_at(n + 1));
}

SETUP_ONCE(sample_setup, NULL)
