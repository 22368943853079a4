/* The gain by the two accelerations of wmpmap on the horses: seconds for 100 and more steps, as in Table 5 of Shpakova,
 * Bach, Osokin (2018).
 *
 *     basic   each node's two clamped labellings, each solved from scratch     reduction 0, dynamic 0
 *     DC      from the solved cut (dynamic cuts)                               reduction 0, dynamic 1
 *     GR      unless the sample's labelling has all weight, from scratch       reduction 1, dynamic 0
 *     DC+GR   both, as in training
 *
 * libmaxflow solves from scratch; DC and DC+GR are ours; `basic, ours` solves from scratch with our solver. All follow
 * one path: DC+GR makes the steps, and the others repeat them with the same sample and weights, in turn. The first 1000
 * steps are timed for all. After that, DC+GR is timed in every step, DC and GR in every 10th, and the solvers from
 * scratch in every 10th up to 10^4, every 100th up to 10^5, every 1000th beyond; each timed step represents those
 * between. The time of a step is the thread's CPU time for a whole sample: scores, noise, the first cut, the clamped
 * ones and the gradient; the paper times only the clamped ones. 10^6 steps take about a quarter of an hour, more than
 * half of it for GR.
 *
 * Usage: steps [steps]     1000 by default; features of the horses are computed once, to
 * $CLEAVE_BUILD/bench/horses.safetensors */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "learn/common/common.h"
#include "learn/pmap/pmap.h"
#include "process.h"

enum { BASIC, DC, GR, BOTH, BASIC_OURS, N_VARIANTS };

static const struct variant {
    const char *name;
    bool reduction, dynamic;
    enum clv_engine engine;
    double paper[5]; /* seconds for 100, 10^3 .. 10^6 steps; 0: not there */
} variants[N_VARIANTS] = {
    [BASIC] = {"basic", false, false, CLV_ENGINE_BK, {0.9, 9.2, 89.5, 900, 8993}},
    [DC] = {"DC", false, true, CLV_ENGINE_CLEAVE, {0.7, 6.9, 69.0, 696, 7171}},
    [GR] = {"GR", true, false, CLV_ENGINE_BK, {0.3, 2.1, 15.5, 133.4, 1186}},
    [BOTH] = {"DC+GR", true, true, CLV_ENGINE_CLEAVE, {0.2, 1.5, 10.9, 83.5, 727}},
    [BASIC_OURS] = {"basic, ours", false, false, CLV_ENGINE_CLEAVE, {0}},
};

static struct clv_error error;

static void must(enum clv_status status)
{
    if (status) {
        fprintf(stderr, "steps: %s\n", error.message);
        exit(clv_status_exit_code(status));
    }
}

/* A training of wmpmap with its defaults, and for each variant what a draw needs. */
struct walk {
    struct clv_training training;
    struct examples examples;
    struct pmap_targets targets;
    struct ascent ascent;
    struct decoder *decoders[N_VARIANTS];
    struct pmap_workspace workspaces[N_VARIANTS];
    double *gradients[N_VARIANTS];
    double seconds[N_VARIANTS];
    int32_t *order, *all;
};

static double parameter(const struct walk *self, const char *name)
{
    return self->training.parameters[clv_learner_parameter(clv_learner_find("wmpmap"), name)];
}

static void walk_open(struct walk *self, struct clv_dataset *dataset)
{
    size_t n = clv_dataset_size(dataset);
    struct clv_problem first = clv_dataset_problem(dataset, 0);
    self->all = malloc(n * sizeof *self->all);
    self->order = malloc(n * sizeof *self->order);
    for (size_t i = 0; i < n; i++)
        self->all[i] = (int32_t)i;
    clv_training_defaults(&self->training, clv_learner_find("wmpmap"));
    self->training.dataset = dataset;
    self->training.examples = self->all;
    self->training.n_examples = n;
    self->training.layout = (struct clv_weight_layout){2, first.n_features, first.n_edge_features, CLV_PAIRWISE_POTTS};
    self->training.seed = 1;
    self->training.n_threads = 1;
    must(examples_open(&self->examples, &self->training, true, &error));
    must(pmap_targets_open(&self->targets, &self->examples, PMAP_WEIGHTED, false, &error));
    must(ascent_open(&self->ascent, &self->examples.layout,
                     (struct ascent_rules){STEP_ADAGRAD, parameter(self, "lambda") * self->examples.node_scale,
                                           parameter(self, "rate") / sqrt(self->examples.node_scale), 1},
                     &error));
    for (int v = 0; v < N_VARIANTS; v++) {
        self->gradients[v] = malloc(self->ascent.size * sizeof(double));
        if (variants[v].engine != CLV_ENGINE_BK || clv_has_bk())
            must(decoders_new(&self->decoders[v], 1, variants[v].engine, &error));
    }
}

static void walk_close(struct walk *self)
{
    for (int v = 0; v < N_VARIANTS; v++) {
        decoders_free(self->decoders[v], 1);
        pmap_workspace_release(&self->workspaces[v]);
        free(self->gradients[v]);
    }
    ascent_release(&self->ascent);
    pmap_targets_release(&self->targets);
    examples_release(&self->examples);
    free(self->all);
    free(self->order);
}

/* A draw of one variant; it stands for `weight` steps. */
static void draw(struct walk *self, int v, long step, double weight)
{
    struct pmap_draws draws = {self->examples.layout, variants[v].reduction, variants[v].dynamic, self->training.seed};
    const struct pmap_example *example = &self->targets.list[self->order[(size_t)step % self->examples.n]];
    double value, begin = bench_cpu();
    must(pmap_draw(&value, self->gradients[v], &(struct pmap_estimate){&draws, example, (uint32_t)step, self->ascent.w},
                   &self->workspaces[v], self->decoders[v], &error));
    self->seconds[v] += weight * (bench_cpu() - begin);
}

/* The variants agree, but for the order of sums. */
static void compare(const struct walk *self, int v)
{
    double difference = 0, size = 0;
    for (size_t k = 0; k < self->ascent.size; k++) {
        difference = fmax(difference, fabs(self->gradients[v][k] - self->gradients[BOTH][k]));
        size = fmax(size, fabs(self->gradients[BOTH][k]));
    }
    if (difference > 1e-9 * (size + 1)) {
        fprintf(stderr, "steps: %s has another gradient\n", variants[v].name);
        exit(70);
    }
}

/* Every how many steps a variant is timed. */
static long interval(int v, long step)
{
    if (v == BOTH || step < 1000)
        return 1;
    if (variants[v].reduction || variants[v].dynamic || step < 10000)
        return 10;
    return step < 100000 ? 100 : 1000;
}

static void step_all(struct walk *self, long step)
{
    size_t n = self->examples.n, at = (size_t)step % n;
    if (at == 0)
        rng_permutation(self->order, n, self->training.seed, RNG_STREAM(RNG_ORDER, 1 + (uint64_t)step / n));
    /* 10, 100 and 1000 have no factor in common with 147 and with the number of variants that take turns at being
     * first. */
    bool timed[N_VARIANTS];
    for (int v = 0; v < N_VARIANTS; v++)
        timed[v] = self->decoders[v] && step % interval(v, step) == 0;
    for (int turn = 0; turn < N_VARIANTS; turn++) {
        int v = (turn + (int)(step / interval(BASIC, step))) % N_VARIANTS;
        if (timed[v])
            draw(self, v, step, (double)interval(v, step));
    }
    for (int v = 0; v < N_VARIANTS; v++)
        if (timed[v] && v != BOTH)
            compare(self, v);
    ascent_step(&self->ascent, self->gradients[BOTH]);
}

/* Features of the train split; NULL where the horses are absent. */
static struct clv_dataset *open_horses(void)
{
    const char *build = getenv("CLEAVE_BUILD") ? getenv("CLEAVE_BUILD") : "build";
    const char *found = bench_data("steps", "horses/manifest.tsv");
    if (!found)
        return NULL;
    char manifest[4096], cleave[4200], features[4200], log[4200];
    snprintf(manifest, sizeof manifest, "%s", found);
    snprintf(cleave, sizeof cleave, "%s/cleave", build);
    snprintf(features, sizeof features, "%s/bench/horses.safetensors", build);
    snprintf(log, sizeof log, "%s/bench/steps.log", build);
    char *arguments[] = {cleave,  "features", "--overwrite", "--data", manifest, "--split",
                         "train", "--seed",   "1",           "-o",     features, NULL};
    if (access(features, R_OK) != 0 && run_program(arguments, log).exit_code) {
        print_log(log);
        exit(1);
    }
    struct clv_dataset *dataset;
    must(clv_features_open(&dataset, NULL, features, &error));
    return dataset;
}

static void print(const double seconds[N_VARIANTS][5], int n_columns, long last)
{
    printf("%-12s", "seconds for");
    for (int c = 0; c < n_columns; c++)
        printf("%15.0f", pow(10, c + 2));
    printf("   (in brackets: the paper)\n");
    for (int v = 0; v < N_VARIANTS; v++) {
        printf("%-12s", variants[v].name);
        for (int c = 0; c < n_columns; c++) {
            char paper[16] = "";
            if (c < 5 && variants[v].paper[c] > 0)
                snprintf(paper, sizeof paper, "(%.4g)", variants[v].paper[c]);
            printf("%8.4g %6s", seconds[v][c], paper);
        }
        printf("\n");
    }
    int c = n_columns - 1;
    for (int v = 0; v < N_VARIANTS; v++) {
        if (v == BASIC || !(seconds[BASIC][c] > 0))
            continue;
        printf("%.1fx %s against basic", seconds[BASIC][c] / seconds[v][c], variants[v].name);
        if (variants[v].paper[c] > 0)
            printf(" (paper: %.1fx)", variants[BASIC].paper[c] / variants[v].paper[c]);
        printf(", %ld steps, one round\n", last);
    }
}

int main(int argc, char **argv)
{
    long n_steps = argc > 1 ? atol(argv[1]) : 1000;
    static struct walk walk;
    double seconds[N_VARIANTS][5] = {{0}};
    int n_columns = 0;
    long power = 100;
    while (power < n_steps && power < 1000000)
        power *= 10;
    if (power != n_steps) {
        fprintf(stderr, "usage: steps [100 | 1000 | 10000 | 100000 | 1000000]\n");
        return 64;
    }
    struct clv_dataset *dataset = open_horses();
    if (!dataset)
        return 0;
    walk_open(&walk, dataset);
    for (long step = 0, mark = 100; step < n_steps; step++) {
        step_all(&walk, step);
        if (step + 1 != mark && step + 1 != n_steps)
            continue;
        fprintf(stderr, "%ld steps:", step + 1); /* a long run prints how far it is */
        for (int v = 0; v < N_VARIANTS; v++) {
            seconds[v][n_columns] = walk.seconds[v];
            fprintf(stderr, " %s %.4g s%s", variants[v].name, walk.seconds[v], v + 1 < N_VARIANTS ? "," : "\n");
        }
        n_columns++;
        mark *= 10;
    }
    print(seconds, n_columns, n_steps);
    walk_close(&walk);
    clv_dataset_free(dataset);
    return 0;
}
