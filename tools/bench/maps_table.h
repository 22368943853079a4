/* Models with maps on the horses: each row trained, segmented with --refine and scored on the test split by the
 * command, for the seeds of MAPS_SEEDS (default 3). */
#ifndef MAPS_TABLE_H
#define MAPS_TABLE_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "process.h"

#define NET   "net=%s/maps-horses/probability"
#define DENSE "dense=%s/maps-horses/features"
#define MASKS "--split train"
#define FEW   "--split train --only %s/horses/reduced-train.txt"

/* Options of train and of segment; each %s is the folder of the data. */
static const struct maps_row {
    const char *name, *training, *maps;
} maps_rows[] = {
    {"our features", "--learner ssvm " MASKS, ""},
    {"maps + ours", "--learner ssvm " MASKS " --maps " NET, "--maps " NET},
    {"maps + ours, wmpmap", "--learner wmpmap " MASKS " --maps " NET, "--maps " NET},
    {"maps + ours, two stages", "--learner ssvm --stages 2 " MASKS " --maps " NET, "--maps " NET},
    {"maps alone", "--learner ssvm --blocks maps " MASKS " --maps " NET, "--maps " NET},
    {"dense features + ours", "--learner ssvm " MASKS " --maps " DENSE, "--maps " DENSE},
    {"dense features, kept", "--learner ssvm --maps-use keep " MASKS " --maps " DENSE, "--maps " DENSE},
    {"dense features alone", "--learner ssvm --blocks maps " MASKS " --maps " DENSE, "--maps " DENSE},
    {"4 components, kept", "--learner ssvm --maps-use keep --maps-pca 4 " MASKS " --maps " DENSE, "--maps " DENSE},
    {"4 components, alone", "--learner ssvm --blocks maps --maps-pca 4 " MASKS " --maps " DENSE, "--maps " DENSE},
    {"14 masks, maps + ours", "--learner ssvm " FEW " --maps " NET, "--maps " NET},
    {"14 masks, 193 boxes, maps",
     "--learner wmpmap " FEW " --boxes %s/horses/boxes.tsv --weak-split train,weak --maps " NET, "--maps " NET},
};
enum { N_MAPS_ROWS = sizeof maps_rows / sizeof *maps_rows, MAPS_MOST_WORDS = 48 };

/* Words of text split at blanks, %s in them replaced, behind those there are; text stays in the caller's buffer. */
static void maps_add_words(char **words, int *n, char *buffer, size_t size, const char *text, const char *data)
{
    size_t used = 0;
    buffer[0] = 0;
    for (const char *at = text; *at && used + 1 < size; at++) {
        bool is_data = at[0] == '%' && at[1] == 's';
        used += (size_t)snprintf(buffer + used, size - used, "%.*s", is_data ? 4096 : 1, is_data ? data : at);
        at += is_data;
    }
    for (char *word = strtok(buffer, " "); word && *n < MAPS_MOST_WORDS - 1; word = strtok(NULL, " "))
        words[(*n)++] = word;
    words[*n] = NULL;
}

/* Runs the command; its output goes to `log`. Exits where it fails. */
static struct run maps_run(const char *text, const char *options, const char *data, const char *log)
{
    char program[4096], first[8192], second[8192], *words[MAPS_MOST_WORDS] = {program};
    int n = 1;
    const char *build = getenv("CLEAVE_BUILD");
    snprintf(program, sizeof program, "%s/cleave", build ? build : "build");
    maps_add_words(words, &n, first, sizeof first, text, data);
    maps_add_words(words, &n, second, sizeof second, options, data);
    struct run run = run_program(words, log);
    if (run.exit_code) {
        fprintf(stderr, "maps: cleave %s %s exits with %d\n", text, options, run.exit_code);
        print_log(log);
        exit(1);
    }
    return run;
}

/* What `cleave score` prints per pixel: weighted Hamming %, its standard error, Hamming %, IoU. */
static void maps_score(double score[4], const char *log)
{
    char line[512];
    FILE *stream = fopen(log, "r");
    while (stream && fgets(line, sizeof line, stream))
        if (strncmp(line, "per pixel", 9) == 0)
            for (char *at = line + 9, k = 0; k < 4; k++)
                score[(int)k] = strtod(at, &at);
    if (stream)
        fclose(stream);
}

static void maps_row_print(const struct maps_row *row, int n_seeds, const char *data, double megapixels)
{
    char folder[] = "/tmp/cleave-maps-XXXXXX", text[512], log[64];
    double loss[3] = {0, 0, 0}, training = 0, segmenting = 0, deviation = 0;
    if (!mkdtemp(folder))
        exit(71);
    snprintf(log, sizeof log, "%s/log", folder);
    for (int seed = 1; seed <= n_seeds; seed++) {
        double score[4] = {0};
        snprintf(text, sizeof text, "train -q -t 1 --data %%s/horses/manifest.tsv --seed %d -o %s/%d.cleave", seed,
                 folder, seed);
        training += maps_run(text, row->training, data, log).cpu;
        snprintf(text, sizeof text,
                 "segment -q -t 1 --refine -m %s/%d.cleave --data %%s/horses/manifest.tsv --split test -o %s/%d",
                 folder, seed, folder, seed);
        segmenting += maps_run(text, row->maps, data, log).cpu;
        snprintf(text, sizeof text, "score -q --data %%s/horses/manifest.tsv --split test --pred %s/%d", folder, seed);
        maps_run(text, "", data, log);
        maps_score(score, log);
        printf("maps, %s, seed %d: %.2f +- %.2f %% weighted Hamming, IoU %.4f\n", row->name, seed, score[0], score[1],
               score[3]);
        fflush(stdout);
        loss[0] += score[0] / n_seeds;
        loss[1] += score[0] * score[0] / n_seeds;
        loss[2] += score[3] / n_seeds;
    }
    deviation = loss[1] - loss[0] * loss[0];
    printf("maps, %-26s %.2f %% (deviation over %d seeds %.2f), IoU %.4f; CPU: training %.1f s, %.2f s a megapixel\n",
           row->name, loss[0], n_seeds, deviation > 0 ? sqrt(deviation) : 0, loss[2], training / n_seeds,
           segmenting / n_seeds / megapixels);
    fflush(stdout);
    snprintf(text, sizeof text, "rm -rf %s", folder);
    if (system(text))
        exit(74);
}

/* Rows whose name has MAPS_ROWS in it (default: all). */
static void maps_table(const char *data, double megapixels)
{
    const char *wanted = getenv("MAPS_ROWS"), *seeds = getenv("MAPS_SEEDS");
    int n_seeds = seeds ? (int)strtol(seeds, NULL, 10) : 3;
    for (int r = 0; r < N_MAPS_ROWS && n_seeds > 0; r++)
        if (!wanted || strstr(maps_rows[r].name, wanted))
            maps_row_print(&maps_rows[r], n_seeds, data, megapixels);
}

#endif
