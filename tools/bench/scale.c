/* Compares learning from many images with learning from few: is memory bounded, and is a step as fast? Draws images and
 * runs `cleave` as processes of one thread: features of few and of many images by one recipe, wmpmap on both feature
 * files in turn, marginals of both.
 *
 * Usage: scale [images [few [passes [rounds]]]] default 2000 147 5 3; sets and feature files are kept in
 * $CLEAVE_BUILD/bench/scale.sets, so that a second run begins with the learning. The time of a step is the additional
 * time of twice the passes, divided by their steps. */
#include <string.h>
#include <sys/stat.h>

#include "process.h"

static char folder[4096], cleave[4096], synth[4096], log_path[4200];

/* What a number of images needs. */
struct scale {
    long n;
    char set[4200], manifest[4300], features[4300];
    struct bench_series step, peak; /* a step's seconds of CPU; MB */
};

/* The first word is the program; ends the program if it fails. */
static struct run run(const char *what, char *const *arguments)
{
    struct run r = run_program(arguments, log_path);
    if (r.exit_code) {
        printf("scale: %s failed with exit code %d\n", what, r.exit_code);
        print_log(log_path);
        exit(1);
    }
    return r;
}

static int is_there(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static void print_run(const char *what, const struct scale *scale, struct run r)
{
    printf("%-9s %6ld images: CPU %.0f s, %.2f ms an image, peak memory %.0f MB\n", what, scale->n, r.cpu,
           1e3 * r.cpu / (double)scale->n, r.peak / 1e6);
    fflush(stdout);
}

static void draw(struct scale *scale, long n)
{
    char count[32];
    scale->n = n;
    snprintf(scale->set, sizeof scale->set, "%s/set%ld", folder, n);
    snprintf(scale->manifest, sizeof scale->manifest, "%s/manifest.tsv", scale->set);
    snprintf(scale->features, sizeof scale->features, "%s/features%ld.safetensors", folder, n);
    snprintf(count, sizeof count, "%ld", n);
    char *arguments[] = {synth, "-n", count, "--size",   "160x120", "--train-share", "1", "--seed",
                         "1",   "-t", "1",   scale->set, NULL};
    if (!is_there(scale->manifest))
        run("drawing", arguments);
}

/* By the recipe of `model`. */
static void extract(struct scale *scale, char *model)
{
    char *arguments[] = {cleave, "features", "-q", "--overwrite",   "--data", scale->manifest, "-m", model,
                         "-t",   "1",        "-o", scale->features, NULL};
    if (!is_there(scale->features))
        print_run("features", scale, run("features", arguments));
}

/* A model, for its recipe. */
static void learn_recipe(struct scale *scale, char *model)
{
    char *arguments[] = {
        cleave,   "train", "-q", "--overwrite", "--learner", "perceptron", "--data", scale->manifest, "--passes", "1",
        "--seed", "1",     "-t", "1",           "-o",        model,        NULL};
    if (!is_there(model))
        run("learning a recipe", arguments);
}

static struct run learn(struct scale *scale, long passes)
{
    char count[32], model[4200];
    snprintf(model, sizeof model, "%s/learned.cleave", folder);
    snprintf(count, sizeof count, "%ld", passes);
    char *arguments[] = {cleave, "train", "--overwrite", "--learner", "wmpmap", "--data", scale->features, "--seed",
                         "1",    "-t",    "1",           "--passes",  count,    "-o",     model,           NULL};
    return run("learning", arguments);
}

/* The curve is drawn every 5 passes, so both numbers of passes are multiples of 5: its cost a step is the same. */
static void measure_steps(struct scale *scale, long passes)
{
    struct run once = learn(scale, passes), twice = learn(scale, 2 * passes);
    bench_add(&scale->step, (twice.cpu - once.cpu) / (double)(passes * scale->n));
    bench_add(&scale->peak, (twice.peak > once.peak ? twice.peak : once.peak) / 1e6);
}

static void measure_marginals(const struct scale *scale, char *model)
{
    char out[4200];
    snprintf(out, sizeof out, "%s/marginals", folder);
    char *arguments[] = {cleave,       "probabilities",         "-q",        "-m", model,
                         "--features", (char *)scale->features, "--samples", "20", "-t",
                         "1",          "--overwrite",           "-o",        out,  NULL};
    print_run("probabilities", scale, run("marginals", arguments));
}

static long rounded_passes(long passes)
{
    return (passes + 4) / 5 * 5;
}

int main(int argc, char **argv)
{
    const char *build = getenv("CLEAVE_BUILD") ? getenv("CLEAVE_BUILD") : "build";
    long n_many = argc > 1 ? atol(argv[1]) : 2000, n_few = argc > 2 ? atol(argv[2]) : 147;
    long passes = rounded_passes(argc > 3 ? atol(argv[3]) : 5);
    int rounds = argc > 4 ? atoi(argv[4]) : 3;
    if (n_few < 1 || n_many < n_few || passes < 5 || rounds < 1) {
        fprintf(stderr, "usage: scale [images [few [passes [rounds]]]]\n");
        return 64;
    }
    static struct scale few, many;
    char model[4200];
    snprintf(cleave, sizeof cleave, "%s/cleave", build);
    snprintf(synth, sizeof synth, "%s/synth", build);
    snprintf(folder, sizeof folder, "%s/bench/scale.sets", build);
    snprintf(log_path, sizeof log_path, "%s/bench/scale.sets/log", build);
    snprintf(model, sizeof model, "%s/bench/scale.sets/few.cleave", build);
    if (mkdir(folder, 0777) && !is_there(folder)) {
        fprintf(stderr, "scale: cannot make %s\n", folder);
        return 73;
    }
    draw(&few, n_few);
    draw(&many, n_many);
    learn_recipe(&few, model);
    extract(&few, model);
    extract(&many, model);
    for (int round = 0; round < rounds; round++) {
        measure_steps(&few, rounded_passes(passes * n_many / n_few));
        measure_steps(&many, passes);
    }
    struct bench_summary a = bench_summarise(few.step), b = bench_summarise(many.step);
    struct bench_summary ratio = bench_ratio(&few.step, &many.step);
    printf("%.2fx (%.2f..%.2f) steps per second of %ld images against %ld: %.0f against %.0f (CPU), %d rounds\n",
           ratio.median, ratio.low, ratio.high, n_many, n_few, 1 / b.median, 1 / a.median, rounds);
    printf("peak memory %.0f MB against %.0f MB\n", bench_summarise(many.peak).high, bench_summarise(few.peak).high);
    measure_marginals(&few, model);
    measure_marginals(&many, model);
    return 0;
}
