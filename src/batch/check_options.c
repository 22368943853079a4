/* Refuses options that the run cannot fulfil, before any file is read. needs_of_options lists what each option needs; a
 * labeller and a form of the output each list what they lack, and why. An option with needs is a row of that table.
 * Start at files_options_check. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "cluster/comm.h"

/* An option, the member of struct clv_files_options that differs from its default if it is given, and its needs. */
struct option_needs {
    const char *option;
    size_t offset, size;
    unsigned needs;
};

#define ROW(option, member, needs)                                                                                     \
    {                                                                                                                  \
        option, offsetof(struct clv_files_options, member), sizeof((struct clv_files_options *)0)->member, needs       \
    }
static const struct option_needs needs_of_options[] = {
    ROW("probabilities", probabilities, NEEDS_MODEL),
    ROW("--maps", maps.n, NEEDS_MODEL | NEEDS_PIXELS),
    ROW("--decode", decode, NEEDS_MODEL),
    ROW("--samples", n_samples, NEEDS_MODEL),
    ROW("--seed", seed, NEEDS_MODEL),
    ROW("--engine", engine, NEEDS_MODEL),
    ROW("--min-area", min_area, NEEDS_LABELS),
    ROW("--overlay", overlay, NEEDS_PIXELS | NEEDS_BESIDE),
    ROW("--cutout", cutout, NEEDS_PIXELS | NEEDS_LABELS),
    ROW("--objects", objects, NEEDS_PIXELS | NEEDS_LABELS | NEEDS_FOLDER | NEEDS_BESIDE),
    ROW("--export", exports, NEEDS_LABELS | NEEDS_FOLDER | NEEDS_BESIDE),
    ROW("--report", report, NEEDS_PIXELS),
    ROW("--shard", shard, NEEDS_APART | NEEDS_BESIDE),
};
#undef ROW

/* The needs that a labeller or a form of the output lacks. */
struct limits {
    const char *name;
    unsigned lacks;
    const char *const *why; /* [N_NEEDS] */
};

static enum clv_status refuse(const char *option, unsigned needs, const struct limits *other, struct clv_error *err)
{
    for (int k = 0; k < N_NEEDS; k++)
        FAIL_IF(needs & other->lacks & 1U << k, CLV_ERR_USAGE, "%s cannot be used with %s: %s", option, other->name,
                other->why[k]);
    return CLV_OK;
}

static bool is_given(const struct option_needs *row, const struct clv_files_options *options,
                     const struct clv_files_options *defaults)
{
    return memcmp((const char *)options + row->offset, (const char *)defaults + row->offset, row->size) != 0;
}

static enum clv_status check_against(const struct clv_files_options *options, const struct limits *other,
                                     struct clv_error *err)
{
    struct clv_files_options defaults;
    clv_files_defaults(&defaults);
    for (size_t k = 0; k < sizeof needs_of_options / sizeof *needs_of_options; k++)
        if (is_given(&needs_of_options[k], options, &defaults))
            MUST(refuse(needs_of_options[k].option, needs_of_options[k].needs, other, err));
    if (options->refine != CLV_REFINE_LARGE)
        MUST(refuse(options->refine == CLV_REFINE_ALL ? "--refine" : "--no-refine", NEEDS_MODEL | NEEDS_PIXELS, other,
                    err));
    return options->existing == CLV_EXISTING_RESUME ? refuse("--resume", NEEDS_BESIDE, other, err) : CLV_OK;
}

/* Checks that exactly one way of labelling is given. */
static enum clv_status check_ways(const struct clv_files_options *options, struct clv_error *err)
{
    const char *const ways[] = {options->model || options->model_path ? "--model" : NULL,
                                options->boxes ? "--boxes" : NULL, options->from_masks ? "--from-masks" : NULL,
                                options->propagates ? "propagate" : NULL};
    const char *first = NULL;
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        FAIL_IF(ways[k] && first, CLV_ERR_USAGE,
                "%s cannot be used with %s: each is a way to label; leave out one of them", ways[k], first);
        first = ways[k] ? ways[k] : first;
    }
    FAIL_IF(
        !first, CLV_ERR_USAGE,
        "no model; add -m MODEL: `cleave train' makes a model of images with masks, `cleave label' of what is marked "
        "on a page; `cleave segment --boxes', `--from-masks' and `cleave propagate' need none");
    FAIL_IF(options->features && strcmp(first, "--model") != 0, CLV_ERR_USAGE,
            "--features cannot be used with %s: a feature file has no images", first);
    FAIL_IF(options->sequence && strcmp(first, "--model") != 0, CLV_ERR_USAGE,
            "--sequence cannot be used with %s: a model labels slices together", first);
    FAIL_IF(options->sequence && options->decode, CLV_ERR_USAGE,
            "--decode cannot be used with --sequence: slices have the best labelling of their window");
    FAIL_IF(options->sequence && options->maps.n, CLV_ERR_USAGE,
            "--maps cannot be used with --sequence: models of slices have no maps");
    return CLV_OK;
}

static enum clv_status check_inputs(const struct clv_files_options *options, struct clv_error *err)
{
    const bool has_more = !options->data || options->n_images || options->features; /* than one folder or manifest */
    FAIL_IF(options->propagates && has_more, CLV_ERR_USAGE,
            "propagate: takes one folder or manifest of frames and masks");
    FAIL_IF(options->sequence && has_more, CLV_ERR_USAGE, "--sequence: takes one folder or manifest of slices");
    FAIL_IF(!options->data && !options->features && !options->n_images && !options->from_masks, CLV_ERR_USAGE,
            "no images: name files or folders, or --data, or --features");
    FAIL_IF(options->split && !options->data && !options->from_masks, CLV_ERR_USAGE,
            "--split: no dataset; add --data PATH");
    FAIL_IF(options->features && options->data, CLV_ERR_USAGE,
            "--data cannot be used with --features: each says what is labelled; leave out one of them");
    FAIL_IF(options->features && options->n_images, CLV_ERR_USAGE,
            "--features: goes with no further inputs: name images or a feature file");
    bool reads_list = false;
    for (size_t i = 0; i < options->n_images; i++)
        reads_list |= strcmp(options->images[i], "-") == 0;
    FAIL_IF(options->null && (!reads_list || output_is_stream(options)), CLV_ERR_USAGE,
            "--null cannot be used without an argument - that reads a list of paths; leave it out");
    FAIL_IF(comm_size() > 1 && (reads_list || output_is_stream(options)), CLV_ERR_USAGE,
            "-: of the processes that mpirun started only one has standard input and output");
    return CLV_OK;
}

/* Checks options that depend on another option. */
static enum clv_status check_details(const struct clv_files_options *options, struct clv_error *err)
{
    const bool is_of_all = options->probabilities >= CLV_PROBABILITIES_OF_ALL;
    FAIL_IF(options->clear_border && !options->objects, CLV_ERR_USAGE, "--clear-border needs --objects");
    FAIL_IF(options->rle && !(options->exports & CLV_EXPORT_COCO), CLV_ERR_USAGE,
            "--rle: goes with --export coco, the one form with run lengths");
    FAIL_IF(options->decode == CLV_DECODING_MIN_LOSS && options->refine == CLV_REFINE_ALL, CLV_ERR_USAGE,
            "--refine cannot be used with --decode min-loss: it refines the best labelling");
    FAIL_IF(options->decode == CLV_DECODING_MIN_LOSS && options->refine == CLV_REFINE_NONE, CLV_ERR_USAGE,
            "--no-refine cannot be used with --decode min-loss: it refines nothing");
    FAIL_IF(is_of_all && (options->overlay || options->report), CLV_ERR_USAGE,
            "%s cannot be used with %s: it shows the probability of one label",
            options->overlay ? "--overlay" : "--report",
            options->probabilities == CLV_PROBABILITIES_OF_ALL ? "--all-labels" : "--margins");
    FAIL_IF(is_of_all && options->label, CLV_ERR_USAGE, "--label cannot be used with %s: its maps are of all labels",
            options->probabilities == CLV_PROBABILITIES_OF_ALL ? "--all-labels" : "--margins");
    FAIL_IF(options->tolerance < 0 || options->n_samples < 1 || options->min_area < 0, CLV_ERR_USAGE,
            "tolerance, n_samples or min_area is out of its range");
    return CLV_OK;
}

static const char *const stream_lacks[N_NEEDS] = {[3] = "standard output takes the one result",
                                                  [4] = "standard output takes the one result",
                                                  [5] = "standard output takes the one result"};
static const char *const probability_lacks[N_NEEDS] = {[1] = "it is made of labels"};

enum clv_status files_options_check(const struct clv_files_options *options, const struct labeller *labeller,
                                    struct clv_error *err)
{
    const struct limits way = {labeller->name, labeller->lacks, labeller->why};
    const struct limits stream = {"-o -", NEEDS_FOLDER | NEEDS_BESIDE | NEEDS_APART, stream_lacks};
    const struct limits probabilities = {"probabilities", NEEDS_LABELS, probability_lacks};
    MUST(check_ways(options, err));
    FAIL_IF(!options->output, CLV_ERR_USAGE, "no output; add -o FOLDER");
    MUST(check_inputs(options, err));
    MUST(check_against(options, &way, err));
    if (output_is_stream(options))
        MUST(check_against(options, &stream, err));
    if (options->probabilities)
        MUST(check_against(options, &probabilities, err));
    FAIL_IF(comm_size() > 1 && labeller->lacks & NEEDS_APART, CLV_ERR_USAGE,
            "%s: goes with one process, whose threads share it: %s", labeller->name, labeller->why[5]);
    FAIL_IF(labeller->lacks & NEEDS_APART && output_is_stream(options), CLV_ERR_USAGE,
            "%s: has a mask for each; -o FOLDER takes them", labeller->name);
    return check_details(options, err);
}

enum clv_status files_options_check_inputs(const struct batch *run, struct clv_error *err)
{
    static const char *const file_lacks[N_NEEDS] = {[3] = "it writes several files; -o FOLDER takes them all"};
    char name[64];
    snprintf(name, sizeof name, "-o %.50s", run->options.output);
    const struct limits file = {name, NEEDS_FOLDER, file_lacks};
    if (run->to.file)
        MUST(check_against(&run->options, &file, err));
    return tiles_check(run, err);
}
