/* Learns the weights of interactive cutting (src/click/click_weights.c):
 *
 *     build/learn/click_weights OUT.c     run by `make reproduce-clicks`
 *
 * A robot user (tools/bench/robot.h) clicks on objects of the horses' and MSRC-21's training splits; the inputs
 * of every cut, and the fractions of foreground and background in its superpixels, are the examples (network.h). With a
 * learned model's score the objects are horses, and the models are trained like those of the page, on 5, 10, 20 and 40
 * other horses. The robot's clicks depend on the errors of its own cuts, so learning has several passes (Ross, Gordon
 * and Bagnell 2011): the first robot has weights by hand, each further one those learned from all passes before. An
 * object's robot never has weights that were learned from the object: objects are in two folds, and the results printed
 * after each pass are of objects from which its weights were not learned. */
#include "../bench/box_objects.h"
#include "../bench/process.h"
#include "../bench/robot.h"
#include "base/base.h"
#include "click/click.h"
#include "network.h"
#include "page/page.h"

enum { N_PASSES = 4, N_FOLDS = 2, N_SIZES = 4, N_DRAWS = 2, N_TRIED = 35, MAX_THINGS = 160 };
enum { RECORDED = 12, EVERY = 4 /* clicks, and superpixels, that become examples */ };
enum { SHARES = CLICK_FEATURES, ROW = CLICK_FEATURES + 2 };
#define ENOUGH 0.95 /* IoU at which the robot stops */

static const int sizes[N_SIZES] = {5, 10, 20, 40};
static const struct network network = {.n_inputs = CLICK_FEATURES,
                                       .n_hidden = CLICK_HIDDEN,
                                       .constant = CLICK_ONE,
                                       .rate = 3e-3,
                                       .decay = 1e-3,
                                       .epochs = 4};

struct rows {
    float *values; /* [n][ROW] */
    size_t n, capacity;
};

/* One object, with one model's score or none. */
struct session {
    const struct box_object *object;
    int fold, group; /* group: what is reported together */
    const struct clv_model *model;
    int clicks[2]; /* to IoU .85 and .90 in the latest pass */
    double weight;
    struct rows rows[CLICK_STAGES][CLICK_PHASES];
};

struct sessions {
    struct session *items;
    size_t n;
    click_weights_table (*tables)[N_FOLDS]; /* [kind][fold]: not learned from the fold */
};

static void add_row(struct rows *rows, const float *features, const double shares[2])
{
    if (rows->n == rows->capacity) {
        rows->capacity = rows->capacity ? 2 * rows->capacity : 256;
        rows->values = realloc(rows->values, rows->capacity * ROW * sizeof(float));
        if (!rows->values)
            exit(1);
    }
    float *row = rows->values + ROW * rows->n++;
    memcpy(row, features, CLICK_FEATURES * sizeof *row);
    row[SHARES] = (float)shares[0];
    row[SHARES + 1] = (float)shares[1];
}

/* shares[n][2] of foreground and background in each superpixel, of all pixels. */
static void measure_truth(double (*shares)[2], const struct click_scene *scene, const struct box_object *object)
{
    double area = (double)object->width * object->height;
    for (int32_t y = 0, p = 0; y < object->height; y++)
        for (int32_t x = 0; x < object->width; x++, p++)
            if (object->truth[p] != CLV_VOID)
                shares[click_scene_at(scene, x, y)][!object->truth[p]] += 1 / area;
}

/* The first round and the last one; the one between has the last one's weights. */
static void record(struct session *session, const struct click_trace *trace, double (*shares)[2], int click)
{
    int phase = click_phase(click, session->model);
    for (int stage = 0; stage < CLICK_STAGES; stage++)
        for (int32_t i = (click + stage) % EVERY; i < trace->n; i += EVERY)
            add_row(&session->rows[stage][phase],
                    trace->features +
                        ((size_t)(stage ? CLICK_ROUNDS - 1 : 0) * (size_t)trace->n + (size_t)i) * CLICK_FEATURES,
                    shares[i]);
}

static enum clv_status click_one(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    const struct sessions *sessions = context;
    struct session *session = &sessions->items[index];
    const struct box_object *object = session->object;
    struct page_document document = {0};
    size_t n = (size_t)object->width * (size_t)object->height;
    uint8_t *labels = calloc(5, n), *before = labels + n, *seeds = before + n, *scratch = seeds + n;
    double(*shares)[2] = NULL, iou = 0;
    const struct clv_item item = {.image = (char *)object->image};
    enum clv_status status = labels ? page_document_open(&document, &item, NULL, err) : CLV_ERR_MEMORY;
    if (status == CLV_OK && session->model)
        status = page_document_use_model(&document, session->model, err);
    if (status == CLV_OK)
        shares = calloc((size_t)document.scene->superpixels.n, sizeof *shares);
    if (shares)
        measure_truth(shares, document.scene, object);
    session->clicks[0] = session->clicks[1] = -1;
    for (int click = !session->model; click <= ROBOT_CLICKS && status == CLV_OK && iou < ENOUGH; click++) {
        struct click_press press;
        struct click_trace trace = {.weights = &sessions->tables[!!session->model][session->fold]};
        struct click_request request = {.seeds = seeds, .n_strokes = click, .prior = document.prior, .trace = &trace};
        if (click) {
            if (!robot_next(&press, labels, object->truth, seeds, object->width, object->height, scratch))
                break;
            robot_disc(seeds, &press, object->width, object->height);
            memcpy(before, labels, n);
            request.latest = &press;
            request.before = click > !session->model ? before : NULL;
        }
        status = click_cut(labels, document.scene, &request, err);
        if (status == CLV_OK && click <= RECORDED)
            record(session, &trace, shares, click);
        clv_free(trace.features);
        iou = robot_iou(labels, object->truth, n);
        for (int k = 0; k < 2; k++)
            if (session->clicks[k] < 0 && iou >= (k ? 0.90 : 0.85))
                session->clicks[k] = click;
    }
    for (int k = 0; k < 2; k++)
        if (session->clicks[k] < 0)
            session->clicks[k] = ROBOT_CLICKS;
    page_document_release(&document);
    free(labels);
    free(shares);
    return status;
}

/* From all sessions of a kind but a fold's (or -1). */
static void learn(click_weights_table table, const struct sessions *sessions, int kind, int fold)
{
    for (int stage = 0; stage < CLICK_STAGES; stage++)
        for (int phase = 0; phase < CLICK_PHASES; phase++) {
            struct network_examples examples = {.shares = SHARES};
            double total = 0;
            size_t n = 0;
            for (size_t s = 0; s < sessions->n; s++)
                n += sessions->items[s].rows[stage][phase].n;
            examples.rows = malloc(n * sizeof *examples.rows);
            examples.weights = malloc(n * sizeof *examples.weights);
            if (!examples.rows || !examples.weights)
                exit(1);
            for (size_t s = 0; s < sessions->n; s++) {
                const struct session *session = &sessions->items[s];
                const struct rows *rows = &session->rows[stage][phase];
                for (size_t i = 0; i < rows->n && !!session->model == kind && session->fold != fold; i++) {
                    const float *row = rows->values + i * ROW;
                    examples.rows[examples.n] = row;
                    examples.weights[examples.n++] = (float)session->weight;
                    total += session->weight * (row[SHARES] + row[SHARES + 1]);
                }
            }
            for (size_t i = 0; i < examples.n; i++)
                examples.weights[i] *= (float)((double)examples.n / total);
            network_measure(&examples, &network);
            network_learn((float *)&table[stage][phase], &network, &examples);
            free(examples.rows);
            free(examples.weights);
        }
}

/* What the first robot cuts by. */
static void start(click_weights_table table)
{
    static const struct click_weights by_hand = {.linear = {[CLICK_NEAR] = 0.3F,
                                                            [CLICK_STEPS_RATIO] = 1,
                                                            [CLICK_DISTANCE_RATIO] = 1,
                                                            [CLICK_LIKE_FOREGROUND] = 1,
                                                            [CLICK_LIKE_BACKGROUND] = -1,
                                                            [CLICK_BEFORE_FAR] = 1,
                                                            [CLICK_LATEST_LIKE] = 1,
                                                            [CLICK_LATEST_FIRM] = 1,
                                                            [CLICK_Q] = 0.5F,
                                                            [CLICK_PRIOR] = 2}};
    for (int stage = 0; stage < CLICK_STAGES; stage++)
        for (int phase = 0; phase < CLICK_PHASES; phase++)
            table[stage][phase] = by_hand;
}

static void report(const struct sessions *sessions, int pass)
{
    static const char *const names[] = {
        "horses", "MSRC-21", "horses, model of 5", "horses, model of 10", "horses, model of 20", "horses, model of 40"};
    printf("pass %d, clicks to IoU .85 and .90:", pass);
    for (int group = 0; group < (int)(sizeof names / sizeof *names); group++) {
        double sum[2] = {0, 0}, n = 0;
        for (size_t s = 0; s < sessions->n; s++)
            if (sessions->items[s].group == group) {
                n++;
                for (int k = 0; k < 2; k++)
                    sum[k] += sessions->items[s].clicks[k];
            }
        printf("%s %s %.2f %.2f", group ? ";" : "", names[group], sum[0] / n, sum[1] / n);
    }
    puts("");
    fflush(stdout);
}

static void add_session(struct sessions *sessions, const struct box_object *object, int fold, int group,
                        const struct clv_model *model)
{
    sessions->items = realloc(sessions->items, (sessions->n + 1) * sizeof *sessions->items);
    if (!sessions->items)
        exit(1);
    size_t foreground = 0, n = (size_t)object->width * (size_t)object->height;
    for (size_t p = 0; p < n; p++)
        foreground += object->truth[p] == 1;
    /* A wrong pixel costs more of the union where the object is small. */
    double weight = 0.5 + 0.1 / fmax((double)foreground / (double)n, 0.05);
    sessions->items[sessions->n++] =
        (struct session){.object = object, .fold = fold, .group = group, .model = model, .weight = weight};
}

/* Learned from horses order[0..size), by the command. */
static void train(struct clv_model *model, const struct box_objects *horses, const int32_t *order, int size,
                  const char *folder)
{
    const char *build = getenv("CLEAVE_BUILD") ? getenv("CLEAVE_BUILD") : "build";
    const char *manifest = bench_data("clicks", "horses/manifest.tsv");
    char only[4096], path[4096], log[4096], cleave[4096];
    struct clv_error err;
    snprintf(only, sizeof only, "%s/clicks.txt", folder);
    snprintf(path, sizeof path, "%s/clicks.cleave", folder);
    snprintf(log, sizeof log, "%s/clicks.log", folder);
    snprintf(cleave, sizeof cleave, "%s/cleave", build);
    FILE *stream = fopen(only, "w");
    if (!stream)
        exit(73);
    for (int k = 0; k < size; k++)
        fprintf(stream, "images/%s\n", strrchr(horses->items[order[k]].image, '/') + 1);
    if (fclose(stream))
        exit(74);
    char *const arguments[] = {cleave,     "train", "--learner", "wmpmap", "--data",      (char *)manifest,
                               "--split",  "train", "--only",    only,     "--seed",      "1",
                               "--lambda", "1e-05", "-o",        path,     "--overwrite", NULL};
    if (run_program(arguments, log).exit_code) {
        print_log(log);
        exit(1);
    }
    box_stop_on(clv_model_read(model, path, &err), &err);
}

static void write_weights(const char *path, click_weights_table tables[CLICK_KINDS])
{
    FILE *stream = fopen(path, "w");
    if (!stream) {
        fprintf(stderr, "clicks: %s cannot be written\n", path);
        exit(73);
    }
    fputs(
        "/* These weights were learned by `make reproduce-clicks` (tools/learn/click_weights.c), which writes this file.\n"
        " * Their tables are ordered by kind, by stage and then by phase, which click.h defines. */\n"
        "#include \"click/click.h\"\n\n/* clang-format off */\n"
        "const click_weights_table click_weights[CLICK_KINDS] = {\n",
        stream);
    for (int kind = 0; kind < CLICK_KINDS; kind++) {
        fputs("{\n", stream);
        for (int stage = 0; stage < CLICK_STAGES; stage++) {
            fputs("{\n", stream);
            for (int phase = 0; phase < CLICK_PHASES; phase++) {
                fputs("{\n", stream);
                network_write(stream, (const float *)&tables[kind][stage][phase], &network);
                fputs("},\n", stream);
            }
            fputs("},\n", stream);
        }
        fputs("},\n", stream);
    }
    fputs("};\n", stream);
    if (fclose(stream))
        exit(74);
}

int main(int argc, char **argv)
{
    struct box_objects horses, things;
    struct clv_model models[N_DRAWS][N_SIZES] = {0};
    struct sessions sessions = {0};
    struct clv_error err;
    click_weights_table final[CLICK_KINDS];
    sessions.tables = calloc(CLICK_KINDS, sizeof *sessions.tables);
    if (argc != 3) {
        fprintf(stderr, "usage: click_weights OUT.c FOLDER\n");
        return 64;
    }
    if (!box_objects_read(&horses, "horses", "train") || !box_objects_read(&things, "msrc21", "train"))
        return 66;
    for (size_t i = 0; i < horses.n; i++)
        add_session(&sessions, &horses.items[i], (int)(2 * i / horses.n), 0, NULL);
    for (size_t i = 0, step = things.n / MAX_THINGS + 1; i < things.n; i += step)
        add_session(&sessions, &things.items[i], (int)(2 * i / things.n), 1, NULL);
    for (uint32_t draw = 0; draw < N_DRAWS; draw++) {
        int32_t *order = malloc(horses.n * sizeof *order);
        if (!order)
            return 1;
        rng_permutation(order, horses.n, 1, RNG_STREAM(RNG_FOLD, draw));
        for (int k = 0; k < N_SIZES; k++) {
            train(&models[draw][k], &horses, order, sizes[k], argv[2]);
            for (int i = 0; i < N_TRIED; i++) {
                size_t at = (size_t)order[sizes[N_SIZES - 1] + i];
                add_session(&sessions, &horses.items[at], (int)(2 * at / horses.n), 2 + k, &models[draw][k]);
            }
        }
        free(order);
    }
    fprintf(stderr, "%zu objects, %zu robots\n", horses.n + things.n, sessions.n);
    for (int kind = 0; kind < CLICK_KINDS; kind++)
        for (int fold = 0; fold < N_FOLDS; fold++)
            start(sessions.tables[kind][fold]);
    for (int pass = 0; pass < N_PASSES; pass++) {
        box_stop_on(parallel_for(sessions.n, 0, click_one, &sessions, &err), &err);
        report(&sessions, pass);
        for (int kind = 0; kind < CLICK_KINDS && pass + 1 < N_PASSES; kind++)
            for (int fold = 0; fold < N_FOLDS; fold++)
                learn(sessions.tables[kind][fold], &sessions, kind, fold);
    }
    for (int kind = 0; kind < CLICK_KINDS; kind++)
        learn(final[kind], &sessions, kind, -1);
    write_weights(argv[1], final);
    for (size_t s = 0; s < sessions.n; s++)
        for (int stage = 0; stage < CLICK_STAGES; stage++)
            for (int phase = 0; phase < CLICK_PHASES; phase++)
                free(sessions.items[s].rows[stage][phase].values);
    for (int draw = 0; draw < N_DRAWS; draw++)
        for (int k = 0; k < N_SIZES; k++)
            clv_model_release(&models[draw][k]);
    free(sessions.items);
    free(sessions.tables);
    box_objects_release(&horses);
    box_objects_release(&things);
    return 0;
}
