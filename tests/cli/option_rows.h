/* The options of every command, for test_cli_options.c: what gives each another value, and where. */
#ifndef TESTS_OPTION_ROWS_H
#define TESTS_OPTION_ROWS_H

/* Settings that a row is tried in: bits by their place; 0 is the first. */
enum { ANYWHERE = 31, IN_FIRST = 1, IN_SECOND = 2, IN_THIRD = 4, IN_FOURTH = 8, IN_FIFTH = 16 };

struct option_row {
    const char *option; /* "--name" */
    const char *change; /* arguments that give another value; NULL: none changes a result, */
    const char *more;   /* .. because. Else arguments with and without the change (NULL: none) */
    int settings;
};

struct option_command {
    const char *name;
    const char *settings[6]; /* arguments that the command takes as they are; NULL ends them */
    const struct option_row *rows[3];
};

#define WORDS   " --words 4 --codebook-samples 200 --sift-bins 4 --sift-step 6 --working-pixels 1000"
#define SMALL   " --data set/manifest.tsv --superpixels 12" WORDS
#define PATCHES " --data set/manifest.tsv --nodes patches" WORDS

#define NO_IMAGES                                                                                                      \
    {"--quiet", NULL, "what is said, not what is made", 0}, {"--threads", NULL, "results do not depend on it", 0},     \
        {"--help", NULL, "prints and ends", 0}, {"--usage", NULL, "prints and ends", 0},                               \
    {                                                                                                                  \
        "--version", NULL, "prints and ends", 0                                                                        \
    }
#define OVERWRITE                                                                                                      \
    {                                                                                                                  \
        "--overwrite", NULL, "whether a file may be replaced, not by what", 0                                          \
    }
#define OUTPUT                                                                                                         \
    {                                                                                                                  \
        "--output", NULL, "where the result goes", 0                                                                   \
    }
#define ENGINE                                                                                                         \
    {                                                                                                                  \
        "--engine", NULL, "both engines find the same labels", 0                                                       \
    }

/* Of images, for all commands that read some. */

static const struct option_row image_rows[] = {
    NO_IMAGES,
    {"--max-pixels", "--max-pixels 100", NULL, ANYWHERE},
    {"--max-side", "--max-side 20", NULL, 0},
    {"--max-jpeg-scans", "--max-jpeg-scans 1", NULL, 0},
    {"--bands", NULL, "nothing without images of bands: suite cli_bands", 0},
    {"--axes", NULL, "nothing without stacks: suite cli_stacks", 0},
    {"--range", "--range 0,100", NULL, 0},
    {NULL},
};

/* The same where the second setting has images. */
static const struct option_row second_image_rows[] = {
    NO_IMAGES,
    {"--max-pixels", "--max-pixels 100", NULL, ANYWHERE},
    {"--max-side", "--max-side 20", NULL, IN_SECOND},
    {"--max-jpeg-scans", "--max-jpeg-scans 1", NULL, IN_SECOND},
    {"--bands", NULL, "nothing without images of bands: suite cli_bands", 0},
    {"--axes", NULL, "nothing without stacks: suite cli_stacks", 0},
    {"--range", "--range 0,100", NULL, IN_SECOND},
    {NULL},
};

/* The same where images are copied and only their sizes read. */
static const struct option_row size_rows[] = {
    NO_IMAGES,
    {"--max-pixels", "--max-pixels 100", NULL, ANYWHERE},
    {"--max-side", "--max-side 20", NULL, 0},
    {"--max-jpeg-scans", NULL, "refused", 0},
    {"--bands", NULL, "refused", 0},
    {"--axes", NULL, "refused", 0},
    {"--range", NULL, "refused", 0},
    {NULL},
};

static const struct option_row no_image_rows[] = {NO_IMAGES, {NULL}};

/* Train, features. */

static const struct option_row recipe_rows[] = {
    {"--blocks", "--blocks words,size", NULL, 0},
    {"--codebook-samples", "--codebook-samples 150", NULL, 0},
    {"--kernel-map", "--kernel-map chi2", NULL, 0},
    {"--kmeans", "--kmeans vlfeat", "--words 20 --codebook-samples 2000 --sift-step 2", 0},
    {"--maps", "--maps net=maps", NULL, 0},
    {"--maps-kind", "--maps-kind logits", "--maps net=maps", 0},
    {"--maps-pca", "--maps-pca 1", "--maps net=squares --maps-kind features", 0},
    {"--maps-use", "--maps-use ignore", "--maps net=squares --maps-kind features", 0},
    {"--nodes", "--nodes superpixels", NULL, IN_THIRD},
    {"--patch-size", "--patch-size 12", NULL, IN_FIRST | IN_THIRD},
    {"--patch-step", "--patch-step 12", NULL, IN_FIRST | IN_THIRD},
    {"--region-area", NULL, "goes with --scale", 0},
    {"--scale", NULL, "takes the place of --superpixels and --working-pixels: suite cli_scale", 0},
    {"--sift", "--sift vlfeat", NULL, 0},
    {"--sift-bins", "--sift-bins 3", NULL, 0},
    {"--sift-step", "--sift-step 5", NULL, 0},
    {"--superpixels", "--superpixels 20", NULL, 0},
    {"--tile", NULL, "goes with --scale", 0},
    {"--word-search", "--word-search groups", "--words 130 --codebook-samples 2000", 0},
    {"--words", "--words 5", NULL, 0},
    {"--working-pixels", "--working-pixels 300", NULL, 0},
    {NULL},
};

static const struct option_row features_rows[] = {
    OUTPUT,
    OVERWRITE,
    {"--data", "--data other/manifest.tsv", NULL, 0},
    {"--include-drafts", "--include-drafts", "--data drafts", 0},
    {"--model", "--model patchy", "", IN_SECOND},
    {"--recipe", "--recipe other.safetensors", "", IN_FOURTH},
    {"--seed", "--seed 2", NULL, ANYWHERE},
    {"--shard", "--shard 1/2", NULL, 0},
    {"--skip-bad", "--skip-bad", "--data bad/manifest.tsv", 0},
    {"--split", "--split test", NULL, 0},
    {"--void", "--void right", "--data three/manifest.tsv", 0},
    {NULL},
};

static const struct option_row train_rows[] = {
    OUTPUT,
    OVERWRITE,
    ENGINE,
    {"--boxes", "--boxes set/boxes.tsv", "--only only --learner wmpmap", 0},
    {"--checkpoint-every", NULL, "when checkpoints are written, not what is learned", 0},
    {"--cv", "--cv 2", NULL, 0},
    {"--cv-grid", "--cv-grid 3,4", "--cv 2", 0},
    {"--data", "--data other/manifest.tsv", NULL, IN_FIFTH},
    {"--include-drafts", "--include-drafts", "--data drafts", IN_FIFTH},
    {"--init", "--init fmodel", "--learner subgradient", IN_SECOND},
    {"--label-costs", "--label-costs 5", "--stages 2 --learner independent", IN_THIRD},
    {"--label-weights", "--label-weights 1", NULL, ANYWHERE},
    {"--label-weights", "--label-weights 1", "--loss counts", 0},
    {"--loss", "--loss counts", NULL, 0},
    {"--mirror", "--mirror", NULL, 0},
    {"--only", "--only only", NULL, 0},
    {"--pairwise", "--pairwise none", NULL, 0},
    {"--pixel-net", "--pixel-net", NULL, IN_THIRD},
    {"--progress", NULL, "what is said, not what is made", 0},
    {"--requeue", NULL, "goes on with a training that was stopped", 0},
    {"--resume", NULL, "goes on with a training that was stopped", 0},
    {"--skip-bad", "--skip-bad", "--data bad/manifest.tsv", IN_FIFTH},
    {"--split", "--split test", NULL, 0},
    {"--sequence", NULL, "images of one size: tests/cli/segment/test_cli_slices.c", 0},
    {"--stages", "--stages 2", NULL, 0},
    {"--seed", "--seed 2", NULL, 0},
    {"--unlabelled-split", "--unlabelled-split test", "--learner wmpmap", 0},
    {"--validate", "--validate test", NULL, 0},
    {"--void", "--void right", NULL, IN_THIRD},
    {"--weak-split", "--weak-split test", "--boxes set/boxes.tsv --only only --learner wmpmap", 0},
    {"--window", NULL, "images of one size: tests/cli/segment/test_cli_slices.c", 0},
    {"--averaging", "--averaging 0", NULL, 0},
    {"--batch", "--batch 4", NULL, 0},
    {"--gap", "--gap 0.9", "--passes 15", 0},
    {"--lambda", "--lambda 1", NULL, 0},
    {"--learner", "--learner wmpmap", NULL, 0},
    {"--paper", "--paper 1", "--boxes set/boxes.tsv --only only --learner wmpmap", 0},
    {"--passes", "--passes 1", NULL, 0},
    {"--sampling", "--sampling 0", NULL, 0},
    {"--table-variance", "--table-variance 5", NULL, IN_FIRST | IN_FOURTH},
    {NULL},
};

/* Segment, marginals. */

static const struct option_row work_rows[] = {
    OUTPUT,
    OVERWRITE,
    ENGINE,
    {"--data", "--data other", NULL, 0},
    {"--fail-fast", "--fail-fast", "--data bad", 0},
    {"--features", "--features g.safetensors", NULL, IN_FIRST | IN_SECOND},
    {"--maps", "--maps net=maps", "-m mapped", 0},
    {"--memory", NULL, "when images wait for it", 0},
    {"--model", "--model model2", NULL, 0},
    {"--null", "--null", NULL, ANYWHERE},
    {"--null", "--null", "- < list", 0},
    {"--overlay", "--overlay", NULL, 0},
    {"--report", "--report o/report", NULL, 0},
    {"--resume", NULL, "leaves out what is finished", 0},
    {"--shard", "--shard 1/2", NULL, IN_FIRST | IN_THIRD},
    {"--split", "--split test", NULL, IN_FIRST | IN_THIRD},
    {"--status", "--status o/status", NULL, IN_FIRST | IN_THIRD},
    {NULL},
};

static const struct option_row segment_rows[] = {
    {"--boxes", "--boxes other/boxes.tsv", NULL, IN_FIRST | IN_FOURTH},
    {"--clear-border", "--clear-border", "--objects", 0},
    {"--crop", "--crop", NULL, 0},
    {"--cutout", "--cutout", NULL, 0},
    {"--cutout-label", "--cutout-label 0", NULL, 0},
    {"--decode", "--decode marginals", NULL, IN_FIRST | IN_FOURTH},
    {"--samples", "--samples 3", NULL, ANYWHERE},
    {"--export", "--export coco", NULL, 0},
    {"--from-masks", NULL, "another way to label: tests/batch/test_ways.c", 0},
    {"--mask-format", "--mask-format grey", NULL, 0},
    {"--min-area", "--min-area 1000000", NULL, ANYWHERE},
    {"--no-refine", "--no-refine", NULL, IN_FIRST | IN_SECOND | IN_THIRD | IN_FOURTH},
    {"--objects", "--objects", NULL, 0},
    {"--refine", "--refine", NULL, 0},
    {"--rle", "--rle", NULL, 0},
    {"--rle", "--rle", "--export coco", 0},
    {"--seed", "--seed 2", NULL, ANYWHERE},
    {"--sequence", NULL, "goes with models of sequences: test_cli_slices.c", 0},
    {"--tolerance", "--tolerance 9", NULL, 0},
    {"--tolerance", "--tolerance 9", "--export labelme", 0},
    {NULL},
};

static const struct option_row marginals_rows[] = {
    {"--all-labels", "--all-labels", NULL, IN_FIRST},
    {"--boxes", NULL, "refused, as no model has scores then: tests/batch/test_ways.c", 0},
    {"--from-masks", NULL, "refused, likewise", 0},
    {"--sequence", NULL, "goes with models of sequences: tests/batch/test_ways.c", 0},
    {"--samples", "--samples 3", NULL, IN_FIRST | IN_THIRD},
    {"--json", "--json", NULL, IN_FIRST | IN_THIRD},
    {"--label", "--label 0", NULL, IN_FIRST | IN_THIRD},
    {"--margins", NULL, "has no draws, which these settings have: tests/cli/segment/test_cli_margins.c", 0},
    {"--seed", "--seed 2", NULL, IN_FIRST | IN_THIRD},
    {"--side", "--side 5", NULL, IN_FIRST | IN_THIRD},
    {NULL},
};

/* Frames are of one size: what is refused here is accepted in tests/cli/segment/test_cli_sequence.c. */

static const struct option_row propagate_rows[] = {
    NO_IMAGES,
    OUTPUT,
    {"--max-pixels", "--max-pixels 100", NULL, ANYWHERE},
    {"--max-side", "--max-side 20", NULL, 0},
    {"--max-jpeg-scans", NULL, "nothing without progressive JPEGs", 0},
    {"--bands", NULL, "nothing without images of bands: suite cli_bands", 0},
    {"--axes", NULL, "nothing without stacks: suite cli_stacks", 0},
    {"--range", NULL, "nothing without images of 16 bits", 0},
    OVERWRITE,
    {"--data", NULL, "what is propagated", 0},
    {"--from-split", NULL, "whose masks are propagated: tests/cli/segment/test_cli_sequence.c", 0},
    {"--mask-format", "--mask-format grey", NULL, 0},
    {"--clear-border", NULL, "no object touches the border: tests/cli/segment/test_cli_objects.c", 0},
    {"--crop", "--crop", NULL, 0},
    {"--cutout", "--cutout", NULL, 0},
    {"--cutout-label", "--cutout-label 0", NULL, 0},
    ENGINE,
    {"--export", "--export coco", NULL, 0},
    {"--fail-fast", NULL, "ends at a frame that fails: tests/cli/segment/test_cli_sequence.c", 0},
    {"--memory", NULL, "when work starts, not its results", 0},
    {"--min-area", "--min-area 1000000", NULL, ANYWHERE},
    {"--objects", "--objects", NULL, 0},
    {"--overlay", "--overlay", NULL, 0},
    {"--report", "--report o/report", NULL, 0},
    {"--resume", NULL, "what is done again", 0},
    {"--rle", "--rle", "--export coco", 0},
    {"--shard", NULL, "refused, as frames follow each other: tests/batch/test_ways.c", 0},
    {"--status", "--status o/status", NULL, 0},
    {"--tolerance", "--tolerance 9", "--export labelme", 0},
    {"--split", NULL, "which masks are written: tests/cli/segment/test_cli_sequence.c", 0},
    {NULL},
};

/* Score, inspect, import. */

static const struct option_row score_rows[] = {
    {"--border-width", "--border-width 2", NULL, ANYWHERE},
    {"--csv", "--csv", NULL, ANYWHERE},
    {"--csv", "--csv", "--per-image", 0},
    {"--data", "--data set", "--pred pred", IN_FOURTH},
    {"--decode", "--decode marginals", NULL, IN_FIRST | IN_SECOND},
    {"--exclude", "--exclude other", NULL, ANYWHERE},
    {"--json", "--json", NULL, 0},
    {"--likelihood", "--likelihood", NULL, IN_FIRST | IN_SECOND},
    {"--merge", "--merge table", "--data set", IN_FOURTH},
    {"--model", "--model patchy", NULL, 0},
    {"--model", "--model fmodel2", NULL, IN_SECOND},
    {"--per-image", "--per-image", NULL, 0},
    {"--pred", "--pred pred2", NULL, 0},
    {"--pred-labels", "--pred-labels three/labels.tsv", NULL, IN_FIRST | IN_THIRD},
    {"--shard", "--shard 1/2", NULL, 0},
    {"--split", "--split test", NULL, 0},
    {"--void", "--void right", "--data three --pred pred", IN_FOURTH},
    {NULL},
};

static const struct option_row inspect_rows[] = {
    {"--json", "--json", NULL, 0},
    {"--max-pixels", NULL, "refused of models", 0},
    {"--max-side", NULL, "refused of models", 0},
    {"--max-jpeg-scans", NULL, "refused of models", 0},
    {"--bands", NULL, "refused of models", 0},
    {"--axes", NULL, "refused of models", 0},
    {"--range", NULL, "refused of models", 0},
    {"--model", "--model model2", "", IN_FOURTH},
    {"--threshold", "--threshold 0.5", NULL, ANYWHERE},
    {"--top", "--top 2", NULL, IN_FIRST | IN_SECOND | IN_THIRD},
    {NULL},
};

static const struct option_row import_rows[] = {
    OUTPUT,
    OVERWRITE,
    {"--as", NULL, "masks of other programs: suite cli_import_masks", 0},
    {"--codes", NULL, "masks of other programs: suite cli_import_masks", 0},
    {"--folds", "--folds 0", NULL, IN_FIRST | IN_FOURTH},
    {"--group-by", "--group-by folder", NULL, IN_FIRST | IN_THIRD},
    {"--images", "--images other/images", NULL, 0},
    {"--labels", NULL, "masks of other programs: suite cli_import_masks", 0},
    {"--outside", "--outside void", NULL, IN_SECOND | IN_THIRD},
    {"--property", NULL, "polygons of another property: suite cli_import_geojson", 0},
    {"--runs", NULL, "run lengths in a CSV: suite cli_import_masks", 0},
    {"--all-images", NULL, "images without a mask: suite cli_sequence", 0},
    {"--stretch", NULL, "masks of other programs: suite cli_import_masks", 0},
    {"--white", NULL, "masks of other programs: suite cli_import_masks", 0},
    {"--seed", "--seed 2", NULL, IN_FIRST | IN_THIRD},
    {"--train-share", "--train-share 0.3", NULL, IN_FIRST | IN_THIRD},
    {NULL},
};

/* Annotate. */

static const struct option_row tag_train_rows[] = {
    OUTPUT,
    OVERWRITE,
    {"--cv", "--cv 2", NULL, 0},
    {"--cv-gamma", "--cv-gamma 3,9", "--kernel rbf --cv 2", 0},
    {"--cv-lambda", "--cv-lambda 3,9", "--cv 2", 0},
    {"--cv-repeats", "--cv-repeats 1", "--cv 2 --cv-lambda 0.01,0.1,1,10", 0},
    {"--data", "--data other.svm", NULL, 0},
    {"--eta0", "--eta0 3", NULL, 0},
    {"--gamma", "--gamma 3", "--kernel rbf", 0},
    {"--goal", "--goal hamming", NULL, IN_FIRST | IN_THIRD},
    {"--kernel", "--kernel rbf", NULL, 0},
    {"--lambda", "--lambda 1", NULL, 0},
    {"--learner", "--learner lmbm", NULL, 0},
    {"--order", "--order 1", NULL, 0},
    {"--order-by", "--order-by f", NULL, 0},
    {"--passes", "--passes 1", NULL, 0},
    {"--normalise", "--normalise", NULL, IN_FIRST | IN_SECOND},
    {"--seed", "--seed 2", "--cv 2 --cv-lambda 0.01,0.1,1,10", 0},
    {"--split", "--split test", NULL, IN_FIRST | IN_SECOND},
    {"--tolerance", "--tolerance 0.9", NULL, 0},
    {NULL},
};

static const struct option_row tag_answer_rows[] = {
    {"--cutoff", "--cutoff 0.01", NULL, ANYWHERE},
    {"--data", "--data other.svm", NULL, IN_SECOND},
    {"--json", "--json", NULL, IN_SECOND},
    {"--max-nodes", "--max-nodes 1", NULL, ANYWHERE},
    {"--model", "--model tags2", NULL, IN_SECOND},
    {"--split", "--split test", NULL, ANYWHERE},
    {NULL},
};

static const struct option_row tag_predict_rows[] = {
    OUTPUT, OVERWRITE, {"--report", "--report o/report", NULL, 0}, {"--scores", "--scores", NULL, 0}, {NULL},
};

static const struct option_row tag_score_rows[] = {{"--pred", "--pred other.svm", NULL, IN_THIRD}, {NULL}};

/* Label. */

static const struct option_row label_rows[] = {
    NO_IMAGES,
    {"--boxes", NULL, "what the page shows: suite page_import", 0},
    {"--listen", NULL, "where the page is: suite cli_label", 0},
    {"--no-browser", NULL, "where the page is: suite cli_label", 0},
    {"--objects", NULL, "what the page saves: suite page_objects", 0},
    {"--port", NULL, "where the page is: suite cli_label", 0},
    {"--max-pixels", NULL, "what the page opens", 0},
    {"--max-side", NULL, "what the page opens", 0},
    {"--max-jpeg-scans", NULL, "what the page opens", 0},
    {"--bands", NULL, "what the page opens", 0},
    {"--axes", NULL, "what the page opens", 0},
    {"--range", NULL, "what the page opens", 0},
    {NULL},
};

static const struct option_command option_commands[] = {
    {"train",
     {SMALL " --passes 3 -o o/m", "--data f.safetensors --passes 3 -o o/m",
      "--data three/manifest.tsv --nodes patches --blocks rgb --passes 3 -o o/m", "--data words --passes 3 -o o/m",
      "--superpixels 12" WORDS " --passes 3 -o o/m"},
     {image_rows, recipe_rows, train_rows}},
    {"features",
     {SMALL " -o o/x.safetensors", "--data set/manifest.tsv -m model -o o/x.safetensors", PATCHES " -o o/x.safetensors",
      "--data set/manifest.tsv --recipe f.safetensors -o o/x.safetensors"},
     {image_rows, recipe_rows, features_rows}},
    {"segment",
     {"-m model --data set -o o/out", "-m model --features f.safetensors -o o/out",
      "-m model --decode min-loss --data set -o o/out", "--boxes set/boxes.tsv --data set -o o/out",
      "-m model -o - set/images/0001.jpg"},
     {image_rows, work_rows, segment_rows}},
    {"probabilities",
     {"-m model --samples 5 --data set -o o/out", "-m model --samples 5 --features f.safetensors -o o/out",
      "-m model --samples 5 --all-labels --data set -o o/out"},
     {image_rows, work_rows, marginals_rows}},
    {"propagate", {"--data frames -o o/out"}, {propagate_rows}},
    {"score",
     {"--data set --pred pred -m model", "--data f.safetensors -m fmodel", "--data set --pred pred", ""},
     {image_rows, score_rows}},
    {"inspect", {"model", "--json model", "tags", ""}, {no_image_rows, inspect_rows}},
    {"import",
     {"voc voc -o o/set", "coco pred/coco.json --images set/images -o o/set", "voc split -o o/set",
      "letters letters -o o/set"},
     {size_rows, import_rows}},
    {"tag train",
     {"--data tags.svm --lambda 0.01 --order 2 --passes 20 -o o/m", "--data tagged/manifest.tsv --lambda 0.01 -o o/m",
      "--data tags.svm --learner tsbc --lambda 0.01 --passes 20 -o o/m"},
     {second_image_rows, tag_train_rows}},
    {"tag predict",
     {"--data tagged -m itags", "--data tags.svm -m tags", "--data tags.svm -m tags2"},
     {image_rows, tag_answer_rows, tag_predict_rows}},
    {"tag score",
     {"--data tagged/manifest.tsv -m itags --json", "--data tags.svm -m tags", "--data tags.svm --pred tags.svm"},
     {image_rows, tag_answer_rows, tag_score_rows}},
    {"label", {NULL}, {label_rows}},
};
#define N_OPTION_COMMANDS ((int)(sizeof option_commands / sizeof *option_commands))

#endif
