/* Every option that any command's --help prints: another value changes what comes out, or is refused (64). Options that
 * change nothing by their nature say why here. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/option_rows.h"
#include "data/small_letters.h"
#include "support/images.h"
#include "support/sample.h"
#include "support/support.h"

/* What there is to work on. */

static char place[256]; /* of everything */

/* The last two images of the set are a grey one of 16 bits and a progressive JPEG. */
static void add_odd_images(const char *folder)
{
    enum { WIDTH = 32, HEIGHT = 24, N = WIDTH * HEIGHT };
    uint16_t samples[N];
    uint8_t pixels[3 * N];
    uint32_t state = 5;
    size_t size;
    for (int p = 0; p < N; p++)
        samples[p] = (uint16_t)(p % WIDTH < 16 ? 9000 + noise(&state) % 5000 : 20000 + noise(&state) % 9000);
    for (int p = 0; p < 3 * N; p++)
        pixels[p] = (uint8_t)noise(&state);
    OWNED_ARRAY uint8_t *png = make_png(&size, &(struct png_recipe){WIDTH, HEIGHT, 16, PNG_GREY, .samples = samples});
    spill(formatted("%s/set/images/0007.png", folder), png, size);
    OWNED_ARRAY uint8_t *jpeg = make_jpeg(
        &size,
        &(struct jpeg_recipe){
            .width = WIDTH, .height = HEIGHT, .quality = 90, .kind = JPEG_YCC, .pixels = pixels, .progressive = true});
    spill(formatted("%s/set/images/0008.jpg", folder), jpeg, size);
    uint8_t labels[N];
    static const uint8_t palette[2][3] = {{0, 0, 0}, {255, 255, 255}};
    for (int p = 0; p < N; p++)
        labels[p] = p % WIDTH >= 16;
    for (int i = 7; i <= 8; i++)
        must(clv_png_write_labels(formatted("%s/set/masks/%04d.png", folder, i), WIDTH, HEIGHT, labels, palette, 2,
                                  err));
}

static void make(const char *commands)
{
    OWNED_ARRAY char *output = NULL;
    int code = run_command(&output, "cd %s && c() { cleave \"$@\" -q -t 1; } && %s", place, commands);
    ck_assert_msg(code == 0, "cannot make what options are tried on (status %d): %s", code, output);
}

static void write_three_labels(const char *folder)
{
    static const uint8_t palette[3][3] = {{0, 0, 0}, {255, 0, 0}, {0, 255, 0}};
    OWNED(clv_set_release) struct clv_set set = {0};
    make("cp -r set three");
    must(clv_set_read_manifest(&set, formatted("%s/set/manifest.tsv", folder), err));
    for (size_t i = 0; i < set.n_items; i++) {
        OWNED(clv_mask_release) struct clv_mask mask = {0};
        must(clv_mask_read(&mask, set.items[i].mask, &set.labels, 0, 0, NULL, err));
        for (int32_t y = 0; y < mask.height; y++)
            for (int32_t x = mask.width / 2; x < mask.width; x++)
                mask.labels[y * mask.width + x] *= 2;
        must(clv_png_write_labels(formatted("%s/three/masks/%04zu.png", folder, i + 1), mask.width, mask.height,
                                  mask.labels, palette, 3, err));
    }
    static const char labels[] = "value\tname\n0\tground\n1\tleft\n2\tright\n";
    spill(formatted("%s/three/labels.tsv", folder), labels, strlen(labels));
}

static void write_tags(const char *path, uint32_t state)
{
    char text[4096] = "";
    for (int i = 0; i < 24; i++) {
        int a = (int)(noise(&state) % 2), b = (int)(noise(&state) % 2), c = noise(&state) % 4 ? a : 1 - a;
        size_t used = strlen(text);
        const char *tags = a ? (c ? (b ? "0,1,2" : "0,1") : b ? "0,2" : "0") : c ? (b ? "1,2" : "1") : b ? "2" : "";
        snprintf(text + used, sizeof text - used, "%s 1:%g 2:%g 3:%g\n", tags, 3 * a + 0.001 * (noise(&state) % 2000),
                 b + 0.001 * (noise(&state) % 2000), 0.01 * (noise(&state) % 100));
    }
    spill(path, text, strlen(text));
}

static void prepare(void)
{
    snprintf(place, sizeof place, "%s", temporary_folder());
    const char *folder = place;
    static const char only[] = "images/0001.jpg\nimages/0002.jpg\n", list[] = "lone.jpg\n";
    static const char rows[] = "images/0007.png\tmasks/0007.png\ttrain\nimages/0008.jpg\tmasks/0008.png\ttrain\n";
    static const char tagged[] = "image\ttags\tsplit\n0001.jpg\thorse\ttrain\n0002.jpg\tcow\ttrain\n"
                                 "0003.jpg\thorse\ttest\n0007.png\tcow\ttrain\n0008.jpg\thorse\ttrain\n";
    spill(formatted("%s/only", folder), only, strlen(only));
    spill(formatted("%s/list", folder), list, strlen(list));
    spill(formatted("%s/rows", folder), rows, strlen(rows));
    make("\"$SYNTH\" -n 6 --size 48x36 --seed 3 set && cat rows >>set/manifest.tsv");
    add_odd_images(folder);
    write_three_labels(folder);
    write_letters(formatted("%s/letters", folder), 12, 3, 0.05, 1);
    write_tags(formatted("%s/tags.svm", folder), 1);
    write_tags(formatted("%s/other.svm", folder), 2);
    make("\"$SYNTH\" -n 3 --size 20x16 tiny && cp -r tiny/images tagged && cp set/images/000[78].* tagged");
    spill(formatted("%s/tagged/manifest.tsv", folder), tagged, strlen(tagged));
    make("mkdir old && cp set/images/0001.jpg lone.jpg && \"$SYNTH\" -n 4 --size 40x30 --seed 4 other && cp -r set bad "
         "&& "
         "mkdir -p frames/images frames/masks && cp other/masks/0001.png frames/masks/1.png && "
         "for i in 1 2 3; do cp other/images/0001.jpg frames/images/$i.jpg; done && "
         "echo no >bad/images/0001.jpg && cp -r set drafts && mkdir drafts/strokes && "
         "for i in 1 2 3; do echo '{\"accepted\": 0' >drafts/strokes/000$i.json; done && "
         "c train" SMALL " --passes 3 -o model && c train" SMALL " --passes 3 --learner wmpmap -o model2 && "
         "c train" SMALL " --passes 3 --superpixels 3 -o patchy && c features" SMALL " -o f.safetensors && "
         "c features --data other -m model -o g.safetensors && "
         "c features --data other" WORDS " -o other.safetensors && "
         "c train --data f.safetensors --passes 3 -o fmodel && c train --data f.safetensors --passes 9 -o fmodel2 && "
         "c import letters letters -o words && c probabilities -m model --samples 9 --data set -o maps && "
         "c train --data three/manifest.tsv" WORDS " --superpixels 12 --learner independent -o tmodel && "
         "c probabilities -m tmodel --samples 9 --data three --all-labels --side 8 -o squares");
    make("c train" SMALL " --passes 3 --maps net=maps -o mapped && "
         "c segment -m model --data set --export coco -o pred && c segment -m model2 --data set -o pred2 && "
         "c score --data set --pred pred --shard 1/1 >table && "
         "c tag train --data tags.svm --lambda 0.01 -o tags && "
         "c tag train --data tags.svm --lambda 0.01 --learner bc -o tags2 && "
         "c tag train --data tagged/manifest.tsv --lambda 0.01 -o itags && "
         "mkdir voc && cp -r set/images voc/JPEGImages && cp -r set/masks voc/SegmentationClass && "
         "cp -r voc split && mkdir -p split/ImageSets/Segmentation && "
         "echo 0001 >split/ImageSets/Segmentation/train.txt && echo 0002 >split/ImageSets/Segmentation/val.txt");
}

/* What comes out. */

struct outcome {
    int code;
    uint64_t hash;
};

/* Times are never the same. */
static void drop_times(char *text)
{
    for (char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, "features ", 9) == 0 || strncmp(line, "learning ", 9) == 0)
            memset(line, '-', strcspn(line, "\n"));
}

/* Of models and feature files the tensors: their headers also say how they were made. */
static uint64_t hash_file(uint64_t hash, const char *path)
{
    size_t size, head = 0;
    OWNED_ARRAY char *bytes = slurp(path, &size);
    if (size > 9 && bytes[8] == '{' && !bytes[4] && !bytes[5] && !bytes[6] && !bytes[7])
        head = 8 + ((size_t)(uint8_t)bytes[0] | (size_t)(uint8_t)bytes[1] << 8 | (size_t)(uint8_t)bytes[2] << 16);
    else
        drop_times(bytes);
    hash = hash_bytes(hash, bytes + head, size > head ? size - head : 0);
    return hash;
}

static struct outcome run(const char *command, const char *setting, const char *more, const char *change)
{
    OWNED_ARRAY char *output = NULL;
    OWNED(path_list_release) struct path_list files = {0};
    struct outcome made = {0, HASH_START};
    static int n_runs;
    rename(formatted("%s/o", place),
           formatted("%s/old/%d-%d", place, getpid(), n_runs++)); /* quicker than removing it */
    ck_assert_int_eq(mkdir(formatted("%s/o", place), 0700), 0);
    made.code = run_command(&output, "cd %s && exec cleave %s -t 1 %s %s %s 2>err >o/stdout", place, command, setting,
                            more ? more : "", change);
    must(folder_walk(&files, formatted("%s/o", place), err));
    for (size_t i = 0; i < files.n; i++) {
        made.hash = hash_bytes(made.hash, files.paths[i], strlen(files.paths[i]));
        made.hash = hash_file(made.hash, formatted("%s/o/%s", place, files.paths[i]));
    }
    return made;
}

/* The walk. */

static char idle[8192];

static void complain(const char *command, const char *what, const char *more, const char *setting)
{
    size_t used = strlen(idle);
    snprintf(idle + used, sizeof idle - used, "cleave %s %s %s %s\n", command, setting, more ? more : "", what);
}

static bool is_listed(const struct option_command *command, const char *option)
{
    for (int t = 0; t < 3 && command->rows[t]; t++)
        for (const struct option_row *row = command->rows[t]; row->option; row++)
            if (strcmp(row->option, option) == 0)
                return true;
    return false;
}

/* Whether the row's change makes a difference in the setting, and is not refused. */
static bool try_row(const struct option_command *command, const struct option_row *row, const struct outcome *plain,
                    const char *setting)
{
    struct outcome base = row->more ? run(command->name, setting, row->more, "") : *plain;
    struct outcome changed = run(command->name, setting, row->more, row->change);
    if (changed.code != 64 && changed.code == base.code && changed.hash == base.hash)
        complain(command->name, row->change, row->more, setting);
    return changed.code != 64 && (base.code != 64 || changed.code == 0);
}

static void walk_rows(const struct option_command *command, const struct option_row *rows, const struct outcome *plain)
{
    for (const struct option_row *row = rows; row->option; row++) {
        bool is_tried = false, matters = false;
        if (!row->change)
            continue;
        ck_assert_ptr_nonnull(strstr(row->change, row->option));
        for (int s = 0; command->settings[s]; s++)
            if ((row->settings ? row->settings : IN_FIRST) & 1 << s) {
                is_tried = true;
                matters |= try_row(command, row, &plain[s], command->settings[s]);
            }
        const struct option_row *next = row + 1;
        if (is_tried && !matters && !(next->option && strcmp(next->option, row->option) == 0))
            complain(command->name, row->change, row->more, "(refused everywhere)");
    }
}

TESTS(an_option_changes_what_comes_out_or_is_refused, 0, N_OPTION_COMMANDS)
{
    const struct option_command *command = &option_commands[_i];
    struct outcome plain[6];
    for (int s = 0; command->settings[s]; s++)
        plain[s] = run(command->name, command->settings[s], NULL, "");
    for (int t = 0; t < 3 && command->rows[t]; t++)
        walk_rows(command, command->rows[t], plain);
    ck_assert_msg(!*idle, "neither changes anything nor is refused:\n%s", idle);
}

TEST(every_option_of_the_help_is_walked)
{
    for (int i = 0; i < N_OPTION_COMMANDS; i++) {
        OWNED_ARRAY char *help = NULL;
        char option[64];
        int n = 0;
        ck_assert_int_eq(run_command(&help, "cleave %s --help all", option_commands[i].name), 0);
        for (char *line = strtok(help, "\n"); line; line = strtok(NULL, "\n")) {
            char *name = line + strspn(line, " ");
            if (name - line < 2 || name - line > 8)
                continue; /* prose, or a text's next line */
            if (name[0] == '-' && name[1] != '-' && strncmp(name + 2, ", ", 2) == 0)
                name += 4;
            if (strncmp(name, "--", 2) != 0)
                continue;
            snprintf(option, sizeof option, "%.*s", (int)strcspn(name, "=[ "), name);
            ck_assert_msg(is_listed(&option_commands[i], option), "cleave %s %s: has no row in option_rows.h",
                          option_commands[i].name, option);
            n++;
        }
        int n_rows = 0;
        char last[64] = "";
        for (int t = 0; t < 3 && option_commands[i].rows[t]; t++)
            for (const struct option_row *row = option_commands[i].rows[t]; row->option; row++) {
                n_rows += strcmp(row->option, last) != 0;
                snprintf(last, sizeof last, "%s", row->option);
            }
        ck_assert_msg(n == n_rows, "cleave %s: %d options, rows of %d", option_commands[i].name, n, n_rows);
    }
}

/* What is in the way is reported. */
TEST(a_refused_option_says_why)
{
    static const char *const lines[][2] = {
        {"segment -m model --data set -o x --null",
         "--null cannot be used without an argument - that reads a list of paths"},
        {"segment -m model --data set -o x --seed 2", "--seed needs --decode min-loss"},
        {"segment -m model --data set -o x --decode min-loss --no-refine",
         "--no-refine cannot be used with --decode min-loss"},
        {"segment -m model --features f.safetensors -o x --max-side 9",
         "--max-side cannot be used with --features: a feature file"},
        {"train --data f.safetensors -o x --label-weights 1",
         "--label-weights cannot be used with the balanced loss, which weighs labels equally; add --loss counts"},
        {"train --data f.safetensors -o x --stages 2 --label-weights auto",
         "--label-weights cannot be used with the balanced loss"},
        {"features --data set -m model --seed 2 -o x", "--seed cannot be used with --model: it gives the recipe"},
        {"import coco pred/coco.json --images set/images -o x --range 1,2",
         "--range cannot be used with import: images are copied"},
        {"import voc split -o x --seed 2", "--seed cannot be used with split/ImageSets: it has a split of its own"},
        {"import letters letters -o x --seed 2",
         "--seed cannot be used with the format letters: letters are not images"},
        {"import letters letters -o x --images set", "--images cannot be used with the format letters"},
        {"import letters letters -o x --max-side 9",
         "--max-side cannot be used with the format letters: letters are not images"},
        {"import voc split -o x --folds 2", "--folds cannot be used with the format voc"},
        {"inspect tags --threshold 0.5", "--threshold cannot be used with tags: it is a model of tags"},
        {"tag score --data tags.svm --pred tags.svm --cutoff 1", "--cutoff cannot be used with --pred"},
        {"tag predict --data tags.svm -m tags2 --max-nodes 9",
         "--max-nodes cannot be used with tags2: that model does not decide"},
        {"tag train --data tagged -o x --normalise --lambda 1",
         "--normalise cannot be used with tagged: features of images"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_error(64, lines[i][1], "cd %s && cleave %s", place, lines[i][0]);
}

SETUP_ONCE(prepare, NULL)

TIMEOUT(120)
