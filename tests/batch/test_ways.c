/* Walks two tables, ways of labelling and outputs: each pair of them writes its files, whole and for every input, or is
 * refused once, before any work, by a message that names the way, the output and why. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cleave/files.h"
#include "data/maps/maps.h"
#include "support/support.h"
#include "support/ways.h"

TIMEOUT(120)

enum { N = WAY_INPUTS };
SETUP_ONCE(ways_setup, NULL)

static void ask_nothing(struct clv_files_options *options)
{
    (void)options;
}

static void ask_overlay(struct clv_files_options *options)
{
    options->overlay = true;
}

static void ask_cutout(struct clv_files_options *options)
{
    options->cutout = true;
}

static void ask_objects(struct clv_files_options *options)
{
    options->objects = true;
}

static void ask_coco(struct clv_files_options *options)
{
    options->exports = CLV_EXPORT_COCO;
}

static void ask_labelme(struct clv_files_options *options)
{
    options->exports = CLV_EXPORT_LABELME;
}

static void ask_voc(struct clv_files_options *options)
{
    options->exports = CLV_EXPORT_VOC;
}

static void ask_yolo(struct clv_files_options *options)
{
    options->exports = CLV_EXPORT_YOLO;
}

static void ask_geojson(struct clv_files_options *options)
{
    options->exports = CLV_EXPORT_GEOJSON;
}

static void ask_report(struct clv_files_options *options)
{
    options->report = here("out/report");
}

static void ask_status(struct clv_files_options *options)
{
    options->status = here("status.tsv");
}

static void ask_min_area(struct clv_files_options *options)
{
    options->min_area = 40;
}

static void ask_map(struct clv_files_options *options)
{
    options->probabilities = CLV_PROBABILITIES_OF_LABEL;
    options->n_samples = 10;
}

static void ask_all(struct clv_files_options *options)
{
    options->probabilities = CLV_PROBABILITIES_OF_ALL;
    options->n_samples = 10;
    options->side = 32;
}

/* Files of images are read by their endings; tables must name every input. */
static const struct output {
    const char *shown; /* as messages call it */
    void (*ask)(struct clv_files_options *options);
    const char *below; /* out/BELOW<stem>.*: a file for each input; NULL: none */
    const char *table; /* that has all inputs; NULL: none */
    bool looks, is_probable, has_numbers;
} outputs[] = {
    {"masks", ask_nothing, "", NULL, false, false, false},
    {"--overlay", ask_overlay, "overlays/", NULL, true, false, false},
    {"--cutout", ask_cutout, "cutouts/", NULL, true, false, false},
    {"--objects", ask_objects, "objects/", "out/objects.tsv", true, false, false},
    {"--export", ask_coco, NULL, "out/coco.json", false, false, false},
    {"--export", ask_labelme, "labelme/", NULL, false, false, false},
    {"--export", ask_voc, "voc/Annotations/", NULL, false, false, false},
    {"--export", ask_yolo, "yolo/labels/", NULL, false, false, false},
    {"--export", ask_geojson, "geojson/", NULL, false, false, false},
    {"--report", ask_report, NULL, "out/report/index.html", true, false, false},
    {"--status", ask_status, NULL, "status.tsv", false, false, false},
    {"--min-area", ask_min_area, "", NULL, false, false, false},
    {"probabilities", ask_map, "", NULL, false, true, false},
    {"probabilities", ask_all, "", NULL, false, true, false},
    {"probabilities", ask_map, NULL, NULL, false, true, true}, /* what --json prints */
};
enum { N_OUTPUTS = sizeof outputs / sizeof *outputs };

/* What the run said, and told of each input. */
struct heard {
    int n_errors, n_settled;
    double shares;
};

static void hear(void *context, enum clv_message kind, const char *text)
{
    struct heard *heard = context;
    (void)text;
    heard->n_errors += kind == CLV_COMPLAINT;
}

static void settle(void *context, const struct clv_file_outcome *outcome)
{
    struct heard *heard = context;
    heard->n_settled++;
    if (outcome->share > 0 && outcome->share < 1 && isfinite(outcome->bound))
        heard->shares++;
}

static enum clv_status run(struct heard *heard, struct clv_error *err, const struct way *way,
                           const struct output *output)
{
    struct clv_files_options options;
    struct clv_files_result result;
    const struct clv_progress progress = {.notify = hear, .context = heard};
    clv_files_defaults(&options);
    way->choose(&options);
    output->ask(&options);
    options.output = here("out");
    options.progress = &progress;
    options.settled = settle;
    options.context = heard;
    return clv_segment_files(&result, &options, err);
}

static void check_table(const struct way *way, const char *path)
{
    OWNED_ARRAY char *text = slurp(path, NULL);
    for (int i = 0; i < N; i++)
        must_say(text, way->stems[i]);
    ck_assert(text_ends_with(path, ".json") ? text[strlen(text) - 2] == '}' : text[strlen(text) - 1] == '\n');
}

/* The one file of a stem, whole by its kind. */
static void check_file(const char *below, const char *stem)
{
    OWNED_ARRAY char *found = expect_success("ls out/%s%s.*", below, stem);
    found[strcspn(found, "\n")] = 0;
    const char *path = here("%s", found);
    if (text_ends_with(path, ".png") || text_ends_with(path, ".jpg")) {
        OWNED(clv_image_release) struct clv_image image = {0};
        must(clv_image_read(&image, path, NULL, err));
        ck_assert(image.width > 0 && image.height > 0);
    } else if (text_ends_with(path, ".npy")) {
        run_here("test $(head -c 6 %s | tail -c 5) = NUMPY", path);
    } else {
        size_t size;
        OWNED_ARRAY char *text = slurp(path, &size);
        ck_assert(text_ends_with(path, ".txt") || size > 40);
        ck_assert(!size || text[size - 1] == '\n' || text[size - 1] == '}');
    }
}

static void check_written(const struct way *way, const struct output *output)
{
    struct heard heard = {0};
    must(run(&heard, err, way, output));
    ck_assert_int_eq(heard.n_errors, 0);
    ck_assert_int_eq(heard.n_settled, N);
    for (int i = 0; i < N && output->below; i++)
        check_file(output->below, way->stems[i]);
    if (output->table)
        check_table(way, here("%s", output->table));
    if (output->has_numbers)
        ck_assert_int_eq(heard.shares, N);
}

static void check_refused(const struct way *way, const struct output *output, const char *why)
{
    struct heard heard = {0};
    struct clv_error error = {.message = ""};
    ck_assert_int_eq(run(&heard, &error, way, output), CLV_ERR_USAGE);
    must_say(error.message, way->shown);
    must_say(error.message, output->shown);
    must_say(error.message, why);
    ck_assert_int_eq(heard.n_errors + heard.n_settled, 0);
    ck_assert(!path_exists(here("out")) && !path_exists(here("status.tsv")));
}

TESTS(every_way_of_labelling_has_every_output_or_says_why_not, 0, N_WAYS *N_OUTPUTS)
{
    const struct way *way = &ways[_i / N_OUTPUTS];
    const struct output *output = &outputs[_i % N_OUTPUTS];
    if (output->is_probable && !way->has_model)
        check_refused(way, output, "without a model");
    else if (output->looks && !way->has_images)
        check_refused(way, output, "a feature file has no images");
    else
        check_written(way, output);
}
