/* Learns the weights of box segmentation (src/box_cut/box_weights.c), the same bytes on every machine:
 *
 *     build/learn/box_weights OUT.c     run by `make reproduce-boxes`
 *
 * It learns from objects of Berkeley, of the horses' training split and of MSRC's, each in boxes of five kinds
 * (tools/bench/box_objects.h); photos of Berkeley that are also in GrabCut-50, a usual test set of box
 * segmentation, are excluded. It prints the accuracy of clv_box_cut on boxes from which its weights were not learned, by
 * four folds of the objects and by learning from the other two sets, and for comparison that with one network only, and
 * with one that was not learned from loose boxes.
 *
 * Every superpixel of a box is an example with the fractions of foreground and background in it. The loss is logistic
 * (network.h); the weight of an object is higher if it fills little of its box, so that the union counts, too; the
 * weights of sets are below. */
#include <unistd.h>

#include "../bench/box_objects.h"
#include "base/base.h"
#include "box_cut/box_cut.h"
#include "cleave.h"
#include "network.h"

enum { N_SETS = 3, N_FOLDS = 4, EVERY = 3 /* each third superpixel */ };
enum { ROW = BOX_FEATURES + 2 };

/* A weight of 1 and a decay of 1e-3 are as good in tight and jittered boxes and up to 0.7 points better in wider and
 * loose ones, but objects that leave their box then lose more than its edge (tests/box_cut). */
#define LOOSE_WEIGHT 0.6

static const struct network network = {.n_inputs = BOX_FEATURES + 1,
                                       .n_hidden = BOX_HIDDEN,
                                       .constant = BOX_FEATURES,
                                       .rate = 3e-3,
                                       .decay = 2e-3,
                                       .epochs = 6};

static const struct {
    const char *name, *folder, *split;
    double weight;
} sets[N_SETS] = {
    {"berkeley", "boxes-berkeley", "", 1},
    {"horses", "horses", "train", 0.4},
    {"msrc", "msrc21", "train", 0.4}, /* rough masks, open around their objects */
};

/* One object in one box: rows[n][ROW] of features, and shares of the box's pixels that are foreground and
 * background. */
struct sample {
    int set, object;
    enum box_kind kind;
    const struct box_object *of;
    const struct box_network *first; /* NULL: rows are the first network's own */
    float *rows;
    size_t n;
    double weight;
};

struct samples {
    struct sample *items;
    size_t n;
};

static struct clv_box box_of(struct clv_pixel_box pixels)
{
    return (struct clv_box){.x = pixels.first_x,
                            .y = pixels.first_y,
                            .width = pixels.end_x - pixels.first_x,
                            .height = pixels.end_y - pixels.first_y};
}

/* shares[n][2] of foreground and background in each superpixel, of the box's pixels. */
static void measure_truth(double (*shares)[2], const struct box_scene *scene, const struct box_object *object)
{
    const struct clv_pixel_box *box = &scene->box;
    double area = (double)(box->end_x - box->first_x) * (box->end_y - box->first_y);
    for (int32_t y = box->first_y; y < box->end_y; y++)
        for (int32_t x = box->first_x; x < box->end_x; x++) {
            size_t row = (size_t)(y + scene->crop.first_y), column = (size_t)(x + scene->crop.first_x);
            uint8_t label = object->truth[row * (size_t)object->width + column];
            if (label != CLV_VOID)
                shares[box_scene_at(scene, &scene->image, x, y)][!label] += 1 / area;
        }
}

static enum clv_status gather_one(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct sample *sample = &((struct samples *)context)->items[index];
    struct clv_box_cut_options options;
    struct clv_image image = {0};
    struct box_scene scene = {0};
    struct box_affinity affinity = {0};
    float *values = NULL;
    clv_box_cut_defaults(&options);
    enum clv_status status = clv_image_read(&image, sample->of->image, NULL, err);
    if (status == CLV_OK)
        status = box_scene_init(&scene, &image, box_of_kind(sample->of, sample->kind), options.n_superpixels, err);
    if (status == CLV_OK)
        status = box_affinity_init(&affinity, &scene, err);
    if (status == CLV_OK)
        status = box_score_features(&values, &affinity, sample->first, options.rounds, err);
    size_t n = (size_t)affinity.n;
    double(*shares)[2] = calloc(n + 1, sizeof *shares), known[2] = {0, 0};
    sample->rows = malloc((n / EVERY + 1) * ROW * sizeof(float));
    if (status == CLV_OK && (!shares || !sample->rows))
        status = CLV_ERR_MEMORY;
    if (status == CLV_OK)
        measure_truth(shares, &scene, sample->of);
    for (size_t i = 0, k = 0; i < n && status == CLV_OK; i++) {
        known[0] += shares[i][0];
        known[1] += shares[i][1];
        if (!scene.regions[i].is_inside || k++ % EVERY)
            continue;
        float *row = sample->rows + ROW * sample->n++;
        memcpy(row, values + i * BOX_FEATURES, BOX_FEATURES * sizeof *row);
        row[BOX_FEATURES] = (float)shares[i][0];
        row[BOX_FEATURES + 1] = (float)shares[i][1];
    }
    sample->weight = (sample->kind == BOX_LOOSE ? LOOSE_WEIGHT : 1) *
                     (0.5 + 0.25 / fmax(known[0] / (known[0] + known[1] + 1e-9), 0.1));
    free(shares);
    clv_free(values);
    box_affinity_release(&affinity);
    box_scene_release(&scene);
    clv_image_release(&image);
    return status;
}

static void gather(struct samples *samples, const struct box_objects objects[N_SETS])
{
    struct clv_error err;
    *samples = (struct samples){0};
    for (int set = 0; set < N_SETS; set++) {
        size_t first = samples->n;
        for (size_t i = 0; i < objects[set].n; i++) {
            if (box_is_of_grabcut_50(&objects[set].items[i]))
                continue;
            samples->items = realloc(samples->items, (samples->n + N_BOX_KINDS) * sizeof *samples->items);
            if (!samples->items)
                exit(1);
            int object = (int)((samples->n - first) / N_BOX_KINDS);
            for (enum box_kind kind = 0; kind < N_BOX_KINDS; kind++)
                samples->items[samples->n++] =
                    (struct sample){.set = set, .object = object, .kind = kind, .of = &objects[set].items[i]};
        }
        fprintf(stderr, "%s: %zu objects\n", sets[set].name, (samples->n - first) / N_BOX_KINDS);
    }
    box_stop_on(parallel_for(samples->n, 0, gather_one, samples, &err), &err);
}

enum design { BOTH_NETWORKS, ONE_NETWORK, ONE_WITHOUT_LOOSE, N_DESIGNS };

/* What is learned, and from what: everything but folds (or -1), and but a set (or -1). */
struct choice {
    int fold, set, also_fold;
    enum design design;
};

static bool is_chosen(struct choice choice, const struct sample *sample)
{
    int fold = sample->object % N_FOLDS;
    if (choice.design == ONE_WITHOUT_LOOSE && sample->kind == BOX_LOOSE)
        return false;
    return fold != choice.fold && fold != choice.also_fold && sample->set != choice.set;
}

static void choose(struct network_examples *examples, const struct samples *samples, struct choice choice)
{
    double count[N_SETS] = {0}, total = 0;
    size_t n = 0;
    for (size_t s = 0; s < samples->n; s++)
        if (is_chosen(choice, &samples->items[s])) {
            count[samples->items[s].set]++;
            n += samples->items[s].n;
        }
    *examples = (struct network_examples){
        .rows = malloc(n * sizeof *examples->rows), .shares = BOX_FEATURES, .weights = malloc(n * sizeof(float))};
    if (!examples->rows || !examples->weights)
        exit(1);
    for (size_t s = 0; s < samples->n; s++) {
        const struct sample *sample = &samples->items[s];
        for (size_t i = 0; i < sample->n && is_chosen(choice, sample); i++) {
            const float *row = sample->rows + i * ROW;
            double weight = sets[sample->set].weight / count[sample->set] * sample->weight;
            examples->rows[examples->n] = row;
            examples->weights[examples->n++] = (float)weight;
            total += weight * (row[BOX_FEATURES] + row[BOX_FEATURES + 1]);
        }
    }
    for (size_t i = 0; i < n; i++)
        examples->weights[i] *= (float)((double)n / total);
    network_measure(examples, &network);
}

static void learn_network(struct box_network *weights, const struct samples *samples, struct choice choice)
{
    struct network_examples examples;
    choose(&examples, samples, choice);
    network_learn((float *)weights, &network, &examples);
    free(examples.rows);
    free(examples.weights);
}

static void release(struct samples *samples)
{
    for (size_t s = 0; s < samples->n; s++)
        free(samples->items[s].rows);
    free(samples->items);
}

/* One network alone is the first one; the second then repeats what that says, the first of its soft features. */
static void repeat_first(struct box_network *second)
{
    *second = (struct box_network){.linear = {[BOX_FIRST_SCORE] = 1}};
}

/* The second network learns from what first ones say of objects that they have not seen. */
static void learn(struct box_weights *weights, const struct samples *samples, struct choice choice)
{
    struct clv_error err;
    struct box_network first[N_FOLDS];
    learn_network(&weights->first, samples, choice);
    if (choice.design != BOTH_NETWORKS) {
        repeat_first(&weights->second);
        return;
    }
    struct samples again = {.items = malloc(samples->n * sizeof *again.items)};
    if (!again.items)
        exit(1);
    for (int fold = 0; fold < (int)N_FOLDS; fold++)
        if (fold != choice.fold)
            learn_network(&first[fold], samples, (struct choice){choice.fold, choice.set, fold, choice.design});
    for (size_t s = 0; s < samples->n; s++)
        if (is_chosen(choice, &samples->items[s])) {
            struct sample sample = samples->items[s];
            sample.first = &first[sample.object % N_FOLDS];
            sample.n = 0;
            again.items[again.n++] = sample;
        }
    box_stop_on(parallel_for(again.n, 0, gather_one, &again, &err), &err);
    learn_network(&weights->second, &again, choice);
    release(&again);
}

struct trial {
    const struct samples *samples;
    struct box_weights weights[N_FOLDS];
    bool by_fold; /* weights are those of the folds, else of the held-out sets */
    struct box_quality *qualities;
};

static enum clv_status try_one(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct trial *trial = context;
    const struct sample *sample = &trial->samples->items[index];
    struct clv_pixel_box pixels = box_of_kind(sample->of, sample->kind);
    struct clv_box box = box_of(pixels);
    struct clv_image image = {0};
    uint8_t *labels = malloc((size_t)sample->of->width * (size_t)sample->of->height);
    enum clv_status status = labels ? clv_image_read(&image, sample->of->image, NULL, err) : CLV_ERR_MEMORY;
    if (status == CLV_OK)
        status = box_cut_weighted(labels, NULL, &image, &box, NULL,
                                  &trial->weights[trial->by_fold ? sample->object % N_FOLDS : sample->set], err);
    if (status == CLV_OK)
        trial->qualities[index] = box_judge(sample->of, pixels, labels);
    clv_image_release(&image);
    free(labels);
    return status;
}

/* qualities[samples->n] of weights that have not seen the object's fold, or set. */
static struct box_quality *cross_validate(const struct samples *samples, bool by_fold, enum design design)
{
    struct clv_error err;
    struct trial trial = {
        .samples = samples, .by_fold = by_fold, .qualities = calloc(samples->n, sizeof *trial.qualities)};
    if (!trial.qualities)
        exit(1);
    for (int k = 0; k < (by_fold ? (int)N_FOLDS : (int)N_SETS); k++)
        learn(&trial.weights[k], samples,
              by_fold ? (struct choice){k, -1, -1, design} : (struct choice){-1, k, -1, design});
    box_stop_on(parallel_for(samples->n, 0, try_one, &trial, &err), &err);
    return trial.qualities;
}

/* Means of IoU and of the wrong share of the box's pixels. */
static void print_qualities(const struct samples *samples, const struct box_quality *qualities, int set)
{
    for (enum box_kind kind = 0; kind < N_BOX_KINDS; kind++) {
        struct box_quality sum = {0, 0};
        double n = 0;
        for (size_t s = 0; s < samples->n; s++)
            if (samples->items[s].set == set && samples->items[s].kind == kind) {
                sum.iou += qualities[s].iou;
                sum.wrong += qualities[s].wrong;
                n++;
            }
        printf("%s %s %.3f, %.1f %%", kind ? ";" : "", box_kind_names[kind], sum.iou / n, 100 * sum.wrong / n);
    }
    puts("");
}

/* Points of wrong pixels that `qualities` has more than `others`, with paired standard errors over the objects. */
static void print_differences(const struct samples *samples, const struct box_quality *qualities,
                              const struct box_quality *others, int set)
{
    for (enum box_kind kind = 0; kind < N_BOX_KINDS; kind++) {
        double n = 0, sum = 0, squares = 0;
        for (size_t s = 0; s < samples->n; s++)
            if (samples->items[s].set == set && samples->items[s].kind == kind) {
                double more = 100 * (qualities[s].wrong - others[s].wrong);
                n++;
                sum += more;
                squares += more * more;
            }
        double mean = sum / n;
        printf("%s %s %+.2f +- %.2f", kind ? ";" : "", box_kind_names[kind], mean,
               sqrt((squares / n - mean * mean) / (n - 1)));
    }
    puts("");
}

/* What each design reaches on boxes that it was not learned from, and how both networks differ from the others. */
static void compare_designs(const struct samples *samples, bool by_fold)
{
    static const char *const names[N_DESIGNS] = {"two networks", "one network", "one network without loose boxes"};
    struct box_quality *qualities[N_DESIGNS];
    for (enum design design = 0; design < N_DESIGNS; design++) {
        qualities[design] = cross_validate(samples, by_fold, design);
        for (int set = 0; set < N_SETS; set++) {
            printf("%s, learned from %s, %s:", sets[set].name, by_fold ? "three of four folds" : "the other two sets",
                   names[design]);
            print_qualities(samples, qualities[design], set);
        }
        for (int set = 0; set < N_SETS && design != BOTH_NETWORKS; set++) {
            printf("%s, wrong pixels, two networks less %s:", sets[set].name, names[design]);
            print_differences(samples, qualities[BOTH_NETWORKS], qualities[design], set);
        }
        fflush(stdout);
    }
    for (enum design design = 0; design < N_DESIGNS; design++)
        free(qualities[design]);
}

static void write_weights(const char *path, const struct box_weights *weights)
{
    FILE *stream = fopen(path, "w");
    if (!stream) {
        fprintf(stderr, "boxes: %s cannot be written\n", path);
        exit(73);
    }
    fputs(
        "/* These weights were learned by `make reproduce-boxes` (tools/learn/box_weights.c), which writes this file. */\n"
        "#include \"box_cut/box_cut.h\"\n\n/* clang-format off */\nconst struct box_weights box_weights = {\n"
        ".first = {\n",
        stream);
    network_write(stream, (const float *)&weights->first, &network);
    fputs("},\n.second = {\n", stream);
    network_write(stream, (const float *)&weights->second, &network);
    fputs("}};\n", stream);
    if (fclose(stream))
        exit(74);
}

int main(int argc, char **argv)
{
    struct box_objects objects[N_SETS];
    struct samples samples;
    struct box_weights weights;
    bool only_learn = argc == 3 && strcmp(argv[2], "--only-learn") == 0;
    if (argc != 2 && !only_learn) {
        fprintf(stderr, "usage: box_weights OUT.c [--only-learn]\n");
        return 64;
    }
    for (int set = 0; set < N_SETS; set++)
        if (!box_objects_read(&objects[set], sets[set].folder, sets[set].split))
            return 66;
    gather(&samples, objects);
    learn(&weights, &samples, (struct choice){-1, -1, -1, BOTH_NETWORKS});
    write_weights(argv[1], &weights);
    for (int by_fold = 1; by_fold >= 0 && !only_learn; by_fold--)
        compare_designs(&samples, by_fold);
    release(&samples);
    for (int set = 0; set < N_SETS; set++)
        box_objects_release(&objects[set]);
    return 0;
}
