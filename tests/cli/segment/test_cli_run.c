/* The command from drawn images to scores. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "support/sample.h"
#include "support/support.h"

/* The number at a key of a flat JSON object, by plain search: "key":number. */
static double number_after(const char *text, const char *words)
{
    const char *found = strstr(text, words);
    ck_assert_msg(found != NULL, "no \"%s\" in %s", words, text);
    return strtod(found + strlen(words), NULL);
}

static double json_number(const char *json, const char *key)
{
    return number_after(json, formatted("\"%s\":", key));
}

TEST(the_documented_lines_work_as_written)
{
    char *learned = expect_success("ln -s $SET M && cleave train --learner ssvm --data M/manifest.tsv --split "
                                   "train " SAMPLE_TRAINING " -o horse.cleave");
    /* the bound is above 0 */
    ck_assert_double_lt(number_after(learned, ", duality gap "), number_after(learned, ", objective "));
    EXPECT_PARTS(learned, "images    8,", "weighted Hamming");
    run_here("cleave segment -m horse.cleave --data M/manifest.tsv --split test -o out/");
    ck_assert_int_eq(count_files(here("out")), 4);
    char *score = expect_success("cleave score --data M/manifest.tsv --split test --pred out/ --json 2>/dev/null");
    ck_assert_ptr_nonnull(strstr(score, "{\"images\":4,\"weighted_hamming\":"));
    ck_assert_double_ge(json_number(score, "weighted_hamming"), 0);
    ck_assert_double_lt(json_number(score, "weighted_hamming"), 0.45); /* it has learned something */
    ck_assert_double_eq(json_number(strstr(score, "\"iou\":{"), "1"), json_number(score, "mean_iou"));
    free(score);
    run_here("cp -r M/images photos && cleave segment -m horse.cleave photos/ -o out2/ --overlay --report report/");
    ck_assert_int_eq(count_files(here("out2")), 24);
    ck_assert_int_eq(count_files(here("out2/overlays")), 12);
    ck_assert(path_exists(here("report/index.html")));
}

TEST(masks_are_label_numbers_at_the_image_s_own_size)
{
    const char *out = here("out");
    run_here("cleave segment -m $MODEL --data $SET/manifest.tsv --split test -o %s", out);
    for (int i = 9; i <= 12; i++) {
        struct clv_indexed_image mask = {0};
        int32_t width, height, n_foreground = 0;
        must(clv_image_read_size(&width, &height, formatted("%s/images/%04d.jpg", sample_set(), i), NULL, err));
        must(clv_indexed_image_read(&mask, formatted("%s/%04d.png", out, i), NULL, err));
        ck_assert_int_eq(mask.width, width);
        ck_assert_int_eq(mask.height, height);
        ck_assert_int_eq(mask.bit_depth, 8);
        ck_assert_int_eq(mask.palette_size, 2); /* labels without names of their own show in any viewer */
        ck_assert(mask.palette[0][0] == 0 && mask.palette[1][0] == 255 && mask.palette[1][2] == 255);
        for (int32_t k = 0; k < width * height; k++) {
            ck_assert_int_le(mask.values[k], 1);
            n_foreground += mask.values[k];
        }
        ck_assert(n_foreground > 0 && n_foreground < width * height);
        clv_indexed_image_release(&mask);
    }
}

TEST(same_seed_gives_the_same_bytes_at_any_thread_count)
{
    const int threads[] = {1, 2, 8};
    for (int k = 0; k < 3; k++) {
        int t = threads[k];
        run_here("cleave train --learner ssvm --data $SET/manifest.tsv --split train " SAMPLE_TRAINING
                 " -t %d -o %d.cleave",
                 t, t);
        run_here("cleave segment -m %d.cleave --data $SET/manifest.tsv --split test -o out%d --overlay --threads %d", t,
                 t, t);
        run_here("cleave score --data $SET/manifest.tsv --split test --pred out%d --json -m %d.cleave --per-image -t "
                 "%d >%d.json",
                 t, t, t, t);
        run_here("cleave features --data $SET/manifest.tsv --split test -m %d.cleave -t %d -o %d.safetensors", t, t, t);
        static const char *const made[] = {"cleave", "json", "safetensors"};
        for (size_t i = 0; i < 3; i++)
            ck_assert_msg(same_bytes(here("1.%s", made[i]), here("%d.%s", t, made[i])), "%d.%s differs", t, made[i]);
        ck_assert(same_bytes(here("out1"), here("out%d", t)));
    }
}

TEST(another_seed_gives_another_model)
{
    const char *model = here("other.cleave");
    run_here("cleave train --learner ssvm --data $SET/manifest.tsv --split train " SAMPLE_TRAINING " --seed 2 -o %s",
             model);
    ck_assert(!same_bytes(model, sample_model()));
}

TEST(training_on_a_feature_file_equals_training_on_its_images)
{
    run_here("cleave features --data $SET/manifest.tsv --split train --seed 1 --superpixels 120 --words 20 "
             "--codebook-samples 2000 -o train.safetensors");
    run_here("cleave train --learner ssvm --data train.safetensors --seed 1 --passes 10 -o cached.cleave");
    run_here("cleave features --data $SET/manifest.tsv --split test -m cached.cleave -o test.safetensors");
    run_here("cleave segment -m cached.cleave --features test.safetensors -o cached");
    run_here("cleave segment -m $MODEL --data $SET/manifest.tsv --split test -o direct");
    ck_assert_int_eq(count_files(here("cached")), 4);
    ck_assert(same_bytes(here("cached"), here("direct")));
}

TEST(the_record_says_how_a_model_was_made)
{
    char *text = expect_success("cleave inspect $MODEL");
    char *json = expect_success("cleave inspect --json $MODEL");
    ck_assert_ptr_nonnull(strstr(text, "0 background, 1 foreground"));
    ck_assert_ptr_nonnull(strstr(text, "couplings"));
    ck_assert_ptr_nonnull(strstr(json, "\"learner\":\"ssvm\""));
    ck_assert_ptr_nonnull(strstr(json, "\"seed\":\"1\""));
    ck_assert_ptr_nonnull(strstr(json, "\"words\":20"));
    ck_assert_ptr_nonnull(strstr(json, "\"data_digest\":\"fnv1a:"));
    ck_assert_ptr_nonnull(strstr(json, "--split train"));
    ck_assert_ptr_nonnull(strstr(json, "\"curve\":\"pass objective dual train_loss; "));
    free(text);
    free(json);
}

TEST(edges_off_leaves_only_unary_weights)
{
    const char *model = here("unary.cleave");
    run_here("cleave train --learner ssvm --data $SET/manifest.tsv --split train --pairwise none " SAMPLE_TRAINING
             " -o %s",
             model);
    expect_output("\"pairwise\":\"none\"", "cleave inspect --json %s", model);
    run_here("cleave segment -m %s $SET/images -o out", model);
}

TEST(more_than_two_labels_are_learned_without_edges)
{
    const char *folder = temporary_folder();
    const char *labels =
        "value\tname\tred\tgreen\tblue\n0\tground\t0\t90\t0\n1\tanimal\t250\t120\t10\n2\tsky\t0\t120\t250\n";
    run_here("cp -r $SET set");
    spill(here("set/labels.tsv"), labels, strlen(labels));
    for (int i = 1; i <= 12; i++) {
        char path[300];
        struct clv_indexed_image mask = {0};
        snprintf(path, sizeof path, "%s/set/masks/%04d.png", folder, i);
        must(clv_indexed_image_read(&mask, path, NULL, err));
        for (int32_t k = 0; k < mask.width * (mask.height / 3); k++) /* the upper third is sky */
            mask.values[k] = mask.values[k] ? 1 : 2;
        must(clv_png_write_labels(path, mask.width, mask.height, mask.values, NULL, 0, err));
        clv_indexed_image_release(&mask);
    }
    expect_output("ssvm learns no potts couplings of 3 labels: --pairwise none, each region by itself; --learner "
                  "mssvm learns them",
                  "cleave train --learner ssvm --data set/manifest.tsv --split train " SAMPLE_TRAINING
                  " -o m.cleave && cleave segment -q -m m.cleave --data set/manifest.tsv --split test -o out");
    expect_error(64, "--pairwise potts: crf does not learn them of 3 labels here; --learner mssvm learns some",
                 "cleave train --learner crf --pairwise potts --data set/manifest.tsv --split train " SAMPLE_TRAINING
                 " -o n.cleave");
    char *json = expect_success("cleave score --data set/manifest.tsv --split test --pred out --json");
    ck_assert_double_gt(json_number(strstr(json, "class_accuracy"), "sky"),
                        0.5); /* a third of the image, found by place */
    ck_assert_double_gt(json_number(strstr(json, "class_accuracy"), "ground"), 0.5);
    free(json);
}

TEST(cross_validation_prints_its_losses_and_chooses)
{
    EXPECT_PARTS(expect_success("cleave train --learner ssvm --data $SET/manifest.tsv --split train " SAMPLE_TRAINING
                                " --cv 2 --cv-grid 0.0001,0.01 --validate test -o cv.cleave"),
                 "2-fold cross-validation", "chosen", "test      weighted Hamming");
}

TEST(without_a_split_training_keeps_away_from_the_test_images)
{
    expect_output("taking the split \"train\" (8 of 12 images)",
                  "cleave train --data $SET/manifest.tsv " SAMPLE_TRAINING " -o m.cleave");
}

TEST(a_model_can_go_to_standard_output)
{
    const char *model = here("piped.cleave");
    run_here("cleave train --learner ssvm --data $SET/manifest.tsv --split train " SAMPLE_TRAINING
             " -o - 2>/dev/null | cat >%s",
             model);
    ck_assert(same_bytes(model, sample_model()));
}

/* Starts training that would go on for hours; returns once it learns. */
static pid_t start_endless_training(const char *model, FILE **output)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    run_here("true"); /* sets $CLEAVE */
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        execl(getenv("CLEAVE"), "cleave", "train", "--learner", "ssvm", "--data",
              formatted("%s/manifest.tsv", sample_set()), "--split", "train", "--superpixels", "120", "--words", "20",
              "--codebook-samples", "2000", "--passes", "1e6", "--gap", "0", "-o", model, (char *)NULL);
        _exit(99);
    }
    close(ends[1]);
    *output = fdopen(ends[0], "r");
    char line[512];
    while (fgets(line, sizeof line, *output) && strncmp(line, "features", 8) != 0) {
    }
    return pid;
}

TEST(the_first_signal_leaves_a_usable_model)
{
    const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (int k = 0; k < 3; k++) {
        FILE *output;
        int status;
        const char *model = here("stopped%d.cleave", k);
        pid_t pid = start_endless_training(model, &output);
        ck_assert_int_eq(kill(pid, signals[k]), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        fclose(output);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), 128 + signals[k]);
        expect_output("\"interrupted\":\"yes\"", "cleave inspect --json %s", model);
    }
    ck_assert_int_eq(count_files(temporary_folder()), 6); /* models with checkpoints, no temporaries */
}

/* Fails if the output holds a control character other than line ends and tabs. */
static void expect_no_controls(char *output)
{
    for (const unsigned char *c = (const unsigned char *)output; *c; c++)
        ck_assert_msg((*c >= ' ' && *c != 127) || *c == '\n' || *c == '\t', "byte %d in \"%s\"", *c, output);
    free(output);
}

TEST(names_are_shown_and_never_obeyed)
{
    char *output = expect_success("sed -E 's/background/\\\\\\\\u001b[0m/; s/\"digest\":\"fnv1a:[0-9a-f]{16}\",/ "
                                  "                                 /' $MODEL > m.cleave && cleave inspect m.cleave");
    ck_assert_ptr_nonnull(strstr(output, "0 \\x1b[0m"));
    expect_no_controls(output);
    output = expect_success(
        "mkdir in && cp $SET/images/0001.jpg \"in/$(printf 'a\\tb\\nc\\033[31m.jpg')\" && cleave segment -q -m $MODEL "
        "in -o out --status - && mkdir -p set/images set/masks && cp in/* set/images && cp out/*.png set/masks");
    char *row = strchr(output, '\n');
    ck_assert_ptr_nonnull(row);
    ck_assert_int_eq(strncmp(row + 1, "in/a\\tb\\nc\\x1b[31m.jpg\tdone\t", 28), 0);
    ck_assert_ptr_null(strchr(strchr(row + 1, '\n') + 1, '\n')); /* one line an image */
    expect_no_controls(output);
    output = expect_success("cleave score --data set --pred set/masks --per-image");
    ck_assert_ptr_nonnull(strstr(output, "a\\tb\\nc\\x1b[31m.jpg\n"));
    expect_no_controls(output);
}

TEST(a_signal_during_segmentation_leaves_no_half_file)
{
    for (int k = 0; k < 5; k++) {
        int code = run_command(NULL,
                               "cd $HERE && rm -rf out && { cleave segment -q -m $MODEL $SET/images -o out --overlay & "
                               "} && sleep 0.0%d && kill -TERM $!; wait $!",
                               2 * k);
        ck_assert_msg(code == 0 || code == 143, "exits with %d", code);
        if (!path_is_folder(here("out")))
            continue;
        struct path_list files = {0};
        must(folder_walk(&files, here("out"), err));
        for (size_t i = 0; i < files.n; i++) {
            struct clv_image image = {0};
            must(clv_image_read(&image, here("out/%s", files.paths[i]), NULL, err));
            clv_image_release(&image);
        }
        path_list_release(&files);
    }
}

SETUP_ONCE(sample_setup, NULL)
