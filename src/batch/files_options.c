/* The options of clv_segment_files: their defaults, and rows with their names, which the commands list, and with which
 * programs and Python set members (clv_files_option_at). */
#include "batch/files_options.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/options.h"
#include "cleave/files.h"
#include "cluster/shard.h"
#include "data/outputs.h"
#include "intake/intake.h"
#include "model/model.h"
#include "train/train.h"

#define AT(member) offsetof(struct clv_files_options, member)
#define BASIC      CLV_OPTION_BASIC
#define NEEDED     CLV_OPTION_NEEDED
#define MAX_SIDE   1024 /* with 128 labels, of the largest maps that can be read */

void clv_files_defaults(struct clv_files_options *options)
{
    *options = (struct clv_files_options){.n_samples = 100, .tolerance = 1};
}

const struct clv_option files_model_rows[] = {
    {"model", 'm', "MODEL", SECTION_INPUTS, NEEDED, CLV_OPTION_TEXT, AT(model_path),
     .help = "The model, as `cleave train' wrote it"},
    {"data", 'd', "PATH", SECTION_INPUTS, BASIC, CLV_OPTION_TEXT, AT(data),
     .help = "A set's folder or manifest, instead of images or with them"},
    {"split", 0, "NAME,..", SECTION_INPUTS, BASIC, CLV_OPTION_TEXT, AT(split),
     .help = "Take only these splits of --data (default: all)"},
    {"maps", 0, "NAME=FOLDER", SECTION_INPUTS, CLV_OPTION_AGAIN, CLV_OPTION_OTHER, AT(maps), .take = option_take_maps,
     .help = MAPS_HELP},
    {"features", 0, "FILE", SECTION_INPUTS, CLV_OPTION_AGAIN, CLV_OPTION_TEXT, AT(features),
     .help = "Take the items of a feature file instead of images; again for each of several"},
    {"null", '0', NULL, SECTION_INPUTS, 0, CLV_OPTION_FLAG, AT(null),
     .help = "Paths read for the argument - end with a zero byte, not with a line"},
    {0},
};

const struct clv_option files_way_rows[] = {
    {"boxes", 0, "FILE|X,Y,W,H", SECTION_INPUTS, BASIC, CLV_OPTION_TEXT, AT(boxes),
     .help = "Instead of -m: cut out what is in these boxes\n"
             "TSV, Pascal VOC, COCO, labelme, YOLO, CVAT or Label Studio; a file or a folder; or four numbers, one box "
             "in pixels for each image. Several labels count from 1 in the order met, or as in the set's labels.tsv"},
    {"from-masks", 0, "PATH", SECTION_INPUTS, BASIC, CLV_OPTION_TEXT, AT(from_masks),
     .help = "Instead of -m: use existing masks\n"
             "They are corrected ones or those of other programs: a set with images and masks; or, with images named, "
             "a folder that has a mask for each under its name, and labels.tsv for names of labels"},
    {"sequence", 0, NULL, SECTION_INPUTS, BASIC, CLV_OPTION_FLAG, AT(sequence),
     .help = "Label slices together, by a model of `train --sequence'\n"
             "They are rows of one `sequence', or the images of a folder by their numbers, and are labelled window by "
             "window, those that have a mask, too. `cleave propagate' needs no model"},
    {0},
};

const struct clv_option files_place_rows[] = {
    {"output", 'o', "FOLDER", SECTION_OUTPUTS, NEEDED, CLV_OPTION_TEXT, AT(output),
     .help = "Where the results go: FOLDER/<image stem>.png (.tif for GeoTIFFs)\n"
             "Subfolders are kept. FILE.png or FILE.tif is one image's result, - the same on standard output; of a "
             "sequence FILE.tif has a page for each slice"},
    {"overlay", 0, NULL, SECTION_OUTPUTS, BASIC, CLV_OPTION_FLAG, AT(overlay),
     .help = "Also write FOLDER/overlays/<stem>.png, .jpg of a JPEG\n"
             "They are the images with tinted and outlined labels; the quality of a .jpg is 90"},
    {"report", 0, "FOLDER", SECTION_OUTPUTS, BASIC, CLV_OPTION_TEXT, AT(report),
     .help = "Also write an HTML page that shows all results: FOLDER/index.html"},
    {"status", 0, "FILE", SECTION_OUTPUTS, 0, CLV_OPTION_TEXT, AT(status),
     .help = "Also write a table: image, done or failed, mask, message\nIt is tab-separated; - is standard output"},
    {0},
};

static const char *const mask_formats[] = {"auto", "grey", "binary", "palette", NULL}; /* enum clv_mask_format */

const struct clv_option files_mask_rows[] = {
    {"mask-format", 0, "FORMAT", SECTION_OUTPUTS, BASIC | CLV_OPTION_PLAIN, CLV_OPTION_CHOICE, AT(mask_format),
     .choices = mask_formats,
     .help = "Format of the masks, 8-bit PNG: palette, grey or binary\n"
             "auto (default) is palette: values are label numbers, and two labels are shown black and white. grey: "
             "label numbers as grey values. binary: 0 and 255"},
    {"min-area", 0, "N", SECTION_OUTPUTS, 0, CLV_OPTION_INT, AT(min_area), .minimum = 0, .maximum = INT32_MAX,
     .help = "Merge regions (specks, holes) of less than N pixels into their largest neighbour\n"
             "This holds for masks and all that is made of them, such as objects"},
    {0},
};

const struct clv_option files_deciding_rows[] = {
    {"decode", 0, "RULE", SECTION_DECIDING, CLV_OPTION_PLAIN, CLV_OPTION_CHOICE, AT(decode),
     .choices = decoding_names_of_images,
     .help = DECODING_HELP ". min-loss: the least expected balanced error of samples"},
    {"samples", 0, "N", SECTION_DECIDING, 0, CLV_OPTION_INT, AT(n_samples), .minimum = 1, .maximum = 1000000,
     .help = "Random samples (perturb-and-MAP) that --decode min-loss looks at"},
    {"seed", 's', "N", SECTION_DECIDING, 0, CLV_OPTION_UINT64, AT(seed), .help = "Seed of the samples"},
    {0},
};

const struct clv_option files_refining_rows[] = {
    {"refine", 0, NULL, SECTION_REFINING, BASIC, CLV_OPTION_SET, AT(refine), .minimum = CLV_REFINE_ALL,
     .help = "Refine the borders of labels by a cut of all pixels\n"
             "(default: of images that are larger than the model's working size, and by models of train --pixel-net)"},
    {"no-refine", 0, NULL, SECTION_REFINING, 0, CLV_OPTION_SET, AT(refine), .minimum = CLV_REFINE_NONE,
     .help = "Refine no borders; those of large images then have the steps of the working size"},
    {0},
};

static const char *const export_forms[] = {"none", "coco",    "labelme", "voc",
                                           "yolo", "geojson", NULL}; /* export_forms[k] is bit k - 1 */

/* Adds the formats of a list to those given before; "none" removes all of them. */
static enum clv_status take_exports(void *member, const struct clv_option *option, const char *typed,
                                    struct clv_error *err)
{
    unsigned *forms = member;
    for (const char *part = typed; part; part = strchr(part, ',') ? strchr(part, ',') + 1 : NULL) {
        char name[16];
        int form = 0;
        size_t length = strcspn(part, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, part);
        MUST(option_choice(&form, option->name, length < sizeof name ? name : part, export_forms,
                           sizeof export_forms / sizeof *export_forms - 1, err));
        *forms = form ? *forms | 1U << (form - 1) : 0;
    }
    return CLV_OK;
}

const struct clv_option files_beside_rows[] = {
    {"cutout", 0, NULL, SECTION_OUTPUTS, BASIC, CLV_OPTION_FLAG, AT(cutout),
     .help = "Also write FOLDER/cutouts/<image stem>.png: the object on transparency\n"
             "Its border is soft. With -o - it is written instead of the mask"},
    {"cutout-label", 0, "NAME,..", SECTION_OUTPUTS, 0, CLV_OPTION_TEXT, AT(cutout_labels),
     .help = "The labels that are the object, by name or number (default: all but label 0); means --cutout"},
    {"crop", 0, NULL, SECTION_OUTPUTS, 0, CLV_OPTION_FLAG, AT(crop),
     .help = "Make cut-outs no larger than the object; means --cutout"},
    {"export", 0, "FORM,..", SECTION_OUTPUTS, BASIC | CLV_OPTION_AGAIN, CLV_OPTION_OTHER, AT(exports),
     .choices = export_forms, .take = take_exports,
     .help = "Also write outlines as coco, labelme, voc, yolo or geojson\n"
             "They go to FOLDER/coco.json, or to files in FOLDER/FORM/. Give several at once, or the option again"},
    {"objects", 0, NULL, SECTION_OUTPUTS, BASIC, CLV_OPTION_FLAG, AT(objects),
     .help = "Also number and measure objects; --min-area N drops specks\n"
             "They go to FOLDER/objects/ and FOLDER/objects.tsv. A model trained on instances/ separates those that "
             "touch. With other models objects are connected pieces of a label, and mean_probability in the table is "
             "nan, not known"},
    {"clear-border", 0, NULL, SECTION_OUTPUTS, 0, CLV_OPTION_FLAG, AT(clear_border),
     .help = "With --objects: drop objects that touch the image's border"},
    {"tolerance", 0, "PX", SECTION_OUTPUTS, 0, CLV_OPTION_NUMBER, AT(tolerance), .minimum = 0, .maximum = 100,
     .help = "How far from the masks' borders the polygons of --export may be, in pixels"},
    {"rle", 0, NULL, SECTION_OUTPUTS, 0, CLV_OPTION_FLAG, AT(rle),
     .help = "With --export coco: write exact run lengths for all objects (default: for those with holes)"},
    {0},
};

const struct clv_option files_probability_rows[] = {
    {"label", 0, "NAME", SECTION_OUTPUTS, BASIC, CLV_OPTION_TEXT, AT(label),
     .help = "The label, by name or number, whose probability is written (default 1)"},
    {"all-labels", 0, NULL, SECTION_OUTPUTS, BASIC, CLV_OPTION_SET, AT(probabilities),
     .minimum = CLV_PROBABILITIES_OF_ALL,
     .help = "Write the probabilities of all labels: FOLDER/<image stem>.npy\n`cleave train --maps' reads them"},
    {"margins", 0, NULL, SECTION_OUTPUTS, CLV_OPTION_PLAIN, CLV_OPTION_SET, AT(probabilities),
     .minimum = CLV_PROBABILITIES_MARGINS,
     .help = "Write max-marginal margins of all labels instead: FOLDER/<image stem>.npy\n"
             "How much better the best labelling with a label is than that with any other"},
    {"side", 0, "N", SECTION_OUTPUTS, CLV_OPTION_PLAIN, CLV_OPTION_INT, AT(side), .minimum = 1, .maximum = MAX_SIDE,
     .help = "The longer side of these maps, in their pixels (1..1024)\n"
             "Default: 128 with --all-labels, the working size with --margins"},
    {0},
};

const struct clv_option files_sampling_rows[] = {
    {"samples", 0, "N", SECTION_DECIDING, BASIC, CLV_OPTION_INT, AT(n_samples), .minimum = 1, .maximum = 1000000,
     .help = "Perturb-and-MAP samples of an image whose graph has loops"},
    {"seed", 's', "N", SECTION_DECIDING, BASIC, CLV_OPTION_UINT64, AT(seed), .help = "Seed of the samples"},
    {0},
};

const struct clv_option files_propagate_rows[] = {
    {"data", 'd', "PATH", SECTION_INPUTS, BASIC, CLV_OPTION_TEXT, AT(data),
     .help = "The folder or manifest of frames and masks, instead of the argument"},
    {"from-split", 0, "NAME,..", SECTION_INPUTS, BASIC, CLV_OPTION_TEXT, AT(from_split),
     .help = "Propagate only masks of these splits (default: all masks)"},
    {"split", 0, "NAME,..", SECTION_INPUTS, BASIC, CLV_OPTION_TEXT, AT(split),
     .help = "Write only masks of these splits (default: all without a given mask)"},
    {0},
};

const struct clv_option files_run_rows[] = {
    {"overwrite", 0, NULL, SECTION_RUN, BASIC, CLV_OPTION_SET, AT(existing), .minimum = CLV_EXISTING_OVERWRITE,
     .help = OVERWRITE_HELP},
    {"resume", 0, NULL, SECTION_RUN, BASIC, CLV_OPTION_SET, AT(existing), .minimum = CLV_EXISTING_RESUME,
     .help = "Skip images whose outputs exist; masks that exist stay"},
    {"fail-fast", 0, NULL, SECTION_RUN, 0, CLV_OPTION_FLAG, AT(fail_fast),
     .help = "Stop at the first image that fails (default: go on with the rest)"},
    {"shard", 0, "I/N", SECTION_RUN, 0, CLV_OPTION_OTHER, AT(shard), .take = option_take_shard, .help = SHARD_HELP},
    {"memory", 0, "SIZE", SECTION_RUN, 0, CLV_OPTION_MEMORY, AT(memory),
     .help = "Memory for the run, such as 800M or 2G (default: half of what is free)\n"
             "Images wait until there is enough, and are refused where there never is"},
    {"engine", 0, "NAME", SECTION_RUN, 0, CLV_OPTION_OTHER, AT(engine), .choices = engine_names,
     .take = option_take_engine, .help = ENGINE_HELP},
    {0},
};

const struct clv_option *clv_files_option_at(size_t index)
{
    static const struct clv_option *const groups[] = {
        files_model_rows,    files_way_rows,    files_place_rows,       files_mask_rows,          files_deciding_rows,
        files_refining_rows, files_beside_rows, files_probability_rows, &files_propagate_rows[1], files_run_rows};
    for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
        for (const struct clv_option *row = groups[k]; row->name; row++)
            if (strcmp(row->name, "split") != 0 || groups[k] == files_model_rows) {
                if (!index--)
                    return row;
            }
    }
    return NULL;
}
