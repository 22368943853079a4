/* What learning to refine finds, on small photos with the maps of a weak network: its own conditions, worked out from
 * the learned numbers and whole images. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleave.h"
#include "data/data.h"
#include "feature/recipe/recipe.h"
#include "learn/refining/refining.h"
#include "model/model.h"
#include "pixel_net/pixel_net.h"
#include "refine/by_model/by_model.h"
#include "refine/refine.h"
#include "support/requests.h"

enum { N_IMAGES = 6 };

/* Photos, and two weight vectors: of a training, and the same the wrong way round. */
struct fixture {
    struct clv_set set;
    struct clv_model model;
    struct clv_dataset *dataset;
    struct clv_problem problems[N_IMAGES];
    struct refining_example examples[N_IMAGES];
    double *w, *wrong;
    struct refining_source source;
};

static struct fixture fixture;

static void begin(void)
{
    struct fixture *self = &fixture;
    const char *images[N_IMAGES];
    struct clv_recipe *recipe = &self->model.recipe;
    memset(self, 0, sizeof *self);
    must(clv_set_read_manifest(&self->set, "assets/animals/manifest.tsv", err));
    must(clv_set_select(&self->set, "train", err));
    must(clv_set_add_maps(&self->set, "net", "assets/animals-maps", err));
    for (size_t i = N_IMAGES; i < self->set.n_items; i++)
        item_release(&self->set.items[i]);
    self->set.n_items = N_IMAGES;
    clv_recipe_init(recipe);
    recipe->blocks = CLV_BLOCK_COLOUR | CLV_BLOCK_SIZE | CLV_BLOCK_MAPS;
    recipe->slic.n_superpixels = 80;
    recipe->n_maps = 1;
    recipe->map_pool = CLV_MAP_MEAN;
    snprintf(recipe->maps[0].name, sizeof recipe->maps[0].name, "net");
    for (size_t i = 0; i < N_IMAGES; i++)
        images[i] = self->set.items[i].image;
    must(clv_recipe_learn(recipe, images, N_IMAGES, 1, 1, NULL, NULL, err));
    must(recipe_learn_maps(recipe, &self->set, 1, NULL, NULL, err));
    must(clv_dataset_extract(&self->dataset, &self->set, recipe, 1, NULL, NULL, err));
    must(clv_labels_copy(&self->model.labels, &self->set.labels, err));
    self->model.has_recipe = true;
    for (size_t i = 0; i < N_IMAGES; i++)
        self->problems[i] = clv_dataset_problem(self->dataset, i);
    self->model.layout = (struct clv_weight_layout){2, self->problems[0].n_features, self->problems[0].n_edge_features,
                                                    CLV_PAIRWISE_POTTS};

    const struct clv_learner *learner = clv_learner_find("ssvm");
    const int32_t all[N_IMAGES] = {0, 1, 2, 3, 4, 5};
    struct clv_training training;
    clv_training_defaults(&training, learner);
    training.dataset = self->dataset;
    training.examples = all;
    training.n_examples = N_IMAGES;
    training.layout = self->model.layout;
    training.seed = 1;
    training.n_threads = 1;
    struct clv_training_result result = {0};
    training.parameters[clv_learner_parameter(learner, "passes")] = 3;
    must(clv_train(&result, learner, &training, err));
    size_t size = clv_weight_layout_size(&self->model.layout);
    self->w = calloc(size, sizeof *self->w);
    self->wrong = calloc(size, sizeof *self->wrong);
    memcpy(self->w, result.w, size * sizeof *self->w);
    for (size_t k = 0; k < (size_t)self->model.layout.n_features; k++)
        self->wrong[k] = -self->w[k];
    clv_training_result_release(&result);
    for (size_t i = 0; i < N_IMAGES; i++)
        self->examples[i] = (struct refining_example){.item = i, .problem = &self->problems[i], .w = self->w};
    self->source = (struct refining_source){
        .set = &self->set, .examples = self->examples, .n_examples = N_IMAGES, .n_threads = 1, .iou_weight = 0.25};
}

static void end(void)
{
    struct fixture *self = &fixture;
    self->model.w = NULL;
    clv_model_release(&self->model);
    clv_dataset_free(self->dataset);
    clv_set_release(&self->set);
    free(self->w);
    free(self->wrong);
}

static struct refinement learned(struct fixture *self)
{
    struct refinement refining;
    struct clv_refine_options options;
    clv_refine_defaults(&options);
    must(refining_learn(&self->model, &self->source, err));
    must(refining_of_model(&refining, &self->model, &options, err));
    return refining;
}

/* Adds one term of the scores that pixel_scores leaves to clv_refine: colours nearby. */
struct nearby {
    double weight;
    float *score;
    size_t n;
};

static void add_nearby(void *context, int32_t term, const float *plane)
{
    struct nearby *self = context;
    for (size_t p = 0; p < self->n && term == TERM_NEARBY; p++)
        self->score[p] += (float)self->weight * plane[p];
}

/* The bias has no ridge: at the minimum what wrong pixels cost, times how wrong they are, is level between the sides. A
 * missed pixel of foreground costs (1/2 + v) / share and one too many 1/2 / (1 - share) + v IoU / share, as the error's
 * halves and IoU's slopes are, v being the weight of IoU. */
static double imbalance(struct fixture *self, const struct refinement *refining)
{
    double off[N_IMAGES][2] = {{0}}, share[N_IMAGES], iou = 0, sum = 0, size = 0;
    for (size_t i = 0; i < N_IMAGES; i++) {
        struct labelled_image labelled;
        size_t both = 0, either = 0, foreground = 0;
        must(labelled_image_init(&labelled, &self->model, &self->source, &self->examples[i], err));
        const struct segmented view = labelled_image_view(&labelled);
        float *score = calloc(labelled.n, sizeof *score);
        struct nearby nearby = {refining->options.nearby, score, labelled.n};
        must(pixel_scores(score, &view, refining, err));
        must(pixel_terms(&view, true, add_nearby, &nearby, err));
        for (size_t p = 0; p < labelled.n; p++) {
            int truth = labelled.truth.labels[p];
            ck_assert_int_le(truth, 1);
            both += truth && labelled.painted[p];
            either += truth || labelled.painted[p];
            foreground += (size_t)truth;
            off[i][truth] += (1 / (1 + exp(-(double)score[p])) - truth) / (double)labelled.n;
        }
        share[i] = (double)foreground / (double)labelled.n;
        iou += (double)both / (double)either / N_IMAGES;
        free(score);
        labelled_image_release(&labelled);
    }
    for (size_t i = 0; i < N_IMAGES; i++) {
        double v = self->source.iou_weight, missed = (0.5 + v) / share[i],
               taken = 0.5 / (1 - share[i]) + v * iou / share[i];
        sum += missed * off[i][1] + taken * off[i][0];
        size += taken * off[i][0];
    }
    return sum / size;
}

TEST(scores_are_level_between_missed_pixels_and_those_too_many)
{
    static const double weights[] = {0, 1};
    for (int k = 0; k < 2; k++) {
        fixture.source.iou_weight = weights[k];
        struct refinement refining = learned(&fixture);
        ck_assert_double_gt(fabs(refining.bias), 0.05);     /* or it would not matter */
        ck_assert_double_gt(refining.options.nearby, 0.01); /* colours nearby tell something in photos */
        ck_assert_double_eq_tol(imbalance(&fixture, &refining), 0, 0.12);
    }
}

/* Only 1 of 29 pixels has a label, and none of those that the regression would pick. */
TEST(masks_of_a_few_points_suffice)
{
    struct clv_mask points[N_IMAGES] = {{0}};
    for (size_t i = 0; i < N_IMAGES; i++) {
        struct clv_item *item = &fixture.set.items[i];
        must(clv_mask_read(&points[i], item->mask, &fixture.set.labels, 0, 0, NULL, err));
        size_t n = (size_t)points[i].width * (size_t)points[i].height;
        for (size_t p = 0; p < n; p++)
            points[i].labels[p] = p % 29 ? CLV_VOID : points[i].labels[p];
        for (size_t k = 0; k < 2000; k++) {
            double at = ((double)k + 0.5) * 0.61803398874989485;
            points[i].labels[(size_t)((at - floor(at)) * (double)n)] = CLV_VOID;
        }
        item->labels = &points[i];
    }
    struct refinement refining = learned(&fixture);
    ck_assert_double_gt(refining.options.prior, 0.1); /* the model is right about most of them */
    for (size_t i = 0; i < N_IMAGES; i++) {
        fixture.set.items[i].labels = NULL;
        clv_mask_release(&points[i]);
    }
}

TEST(of_the_couplings_the_best_is_learned)
{
    static const double couplings[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, 8};
    struct refinement refining = learned(&fixture), tried = refining;
    double least = INFINITY, best = -1;
    for (size_t k = 0; k < sizeof couplings / sizeof *couplings; k++) {
        double sum = 0;
        tried.options.coupling = couplings[k];
        for (size_t i = 0; i < N_IMAGES; i++) {
            struct labelled_image labelled;
            double loss;
            must(labelled_image_init(&labelled, &fixture.model, &fixture.source, &fixture.examples[i], err));
            const struct segmented view = labelled_image_view(&labelled);
            float *score = calloc(labelled.n, sizeof *score);
            must(pixel_scores(score, &view, &tried, err));
            must(pixel_scores_refine(labelled.painted, score, &labelled.image, &tried, err));
            must(labelled_loss(&loss, &labelled.truth, labelled.painted, 2, 0.25, err));
            sum += loss;
            free(score);
            labelled_image_release(&labelled);
        }
        if (sum < least - 1e-9) {
            least = sum;
            best = couplings[k];
        }
    }
    ck_assert_double_gt(best, 0);
    ck_assert_double_eq(refining.options.coupling, best);
}

static struct refinement learned_votes(struct fixture *self, const struct refining_example *examples, size_t n)
{
    struct refinement refining = {.is_learned = true, .maps = {{1, 0, 0}}};
    clv_refine_defaults(&refining.options);
    self->source.examples = examples;
    self->source.n_examples = n;
    must(refining_learn_votes(&refining, &self->model, &self->source, err));
    return refining;
}

static bool is_same(const struct refinement *a, const struct refinement *b)
{
    return a->options.coupling == b->options.coupling && a->options.prior == b->options.prior &&
           a->options.nearby == b->options.nearby && a->maps[0][0] == b->maps[0][0];
}

/* The mean loss of examples, refined so. */
static double votes_loss(struct fixture *self, const struct refinement *refining, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        struct labelled_image labelled;
        struct evidence evidence;
        double loss;
        must(labelled_image_init(&labelled, &self->model, &self->source, &self->examples[i], err));
        must(evidence_init(&evidence, labelled.painted, &labelled.nodes, labelled.y, labelled.maps, &labelled.model,
                           err));
        uint8_t *labels = calloc(labelled.n, 1);
        memcpy(labels, labelled.painted, labelled.n);
        must(evidence_refine(labels, &evidence, &labelled.image, refining, err));
        must(labelled_loss(&loss, &labelled.truth, labels, 2, self->source.iou_weight, err));
        sum += loss / (double)n;
        free(labels);
        evidence_release(&evidence);
        labelled_image_release(&labelled);
    }
    return sum;
}

/* segmented_refine reads maps and allocates after its first labels are known. */
TEST(labels_stay_where_refining_by_evidence_fails)
{
    struct labelled_image labelled;
    OWNED(evidence_release) struct evidence evidence = {0};
    must(labelled_image_init(&labelled, &fixture.model, &fixture.source, &fixture.examples[0], err));
    uint8_t *labels = malloc(labelled.n), *untouched = malloc(labelled.n);
    memset(labels, 7, labelled.n);
    memset(untouched, 7, labelled.n);
    must_keep_when_requests_fail(
        evidence_init(&evidence, labels, &labelled.nodes, labelled.y, labelled.maps, &labelled.model, err),
        ck_assert_mem_eq(labels, untouched, labelled.n));
    free(labels);
    free(untouched);
    labelled_image_release(&labelled);
}

TEST(searching_votes_ends_at_the_best_coupling)
{
    static const double couplings[] = {1, 1.5, 2, 3, 4, 6, 8};
    struct refinement found = learned_votes(&fixture, fixture.examples, 2), tried = found;
    struct refinement start = {.is_learned = true, .maps = {{1, 0, 0}}};
    clv_refine_defaults(&start.options);
    double least = votes_loss(&fixture, &found, 2);
    ck_assert_double_lt(least, votes_loss(&fixture, &start, 2) - 1e-6);
    for (size_t k = 0; k < sizeof couplings / sizeof *couplings; k++) {
        tried.options.coupling = couplings[k];
        ck_assert_double_ge(votes_loss(&fixture, &tried, 2), least - 2e-9);
    }
}

/* 16 of 32: four images again and again, and between them two others, which alone would lead elsewhere. */
TEST(of_many_examples_every_other_one_is_looked_at)
{
    struct refining_example many[32];
    for (size_t i = 0; i < 32; i++)
        many[i] = fixture.examples[i % 2 ? 4 + i / 2 % 2 : i / 2 % 4];
    struct refinement some = learned_votes(&fixture, fixture.examples, 4), all = learned_votes(&fixture, many, 32),
                      others = learned_votes(&fixture, fixture.examples + 4, 2);
    ck_assert(is_same(&some, &all));
    ck_assert(!is_same(&some, &others));
}

TEST(examples_are_labelled_under_their_own_weights)
{
    fixture.model.w = fixture.wrong;
    struct refinement right = learned(&fixture);
    fixture.model.w = fixture.w;
    struct refinement same = learned(&fixture);
    for (size_t i = 0; i < N_IMAGES; i++)
        fixture.examples[i].w = fixture.wrong;
    struct refinement wrong = learned(&fixture);
    ck_assert_double_eq(right.options.prior, same.options.prior);
    ck_assert_double_eq(right.bias, same.bias);
    ck_assert_double_gt(right.options.prior, 0.1);
    ck_assert_double_eq(wrong.options.prior, 0); /* may not be negative */
}

/* Its window has a node of the slice before, without features, then those of the image. */
TEST(a_slices_marginals_are_those_of_its_own_nodes)
{
    static int64_t row[1000];
    struct clv_model model = fixture.model;
    struct refining_source source = fixture.source;
    struct clv_problem window = fixture.problems[0];
    const struct refining_example slice = {.problem = &window, .w = fixture.w, .first_node = 1, .is_slice = true};
    struct labelled_image labelled;
    size_t n = (size_t)window.n_nodes;
    ck_assert_uint_lt(n + 1, 1000);
    row[0] = window.row[0];
    memcpy(row + 1, window.row, (n + 1) * sizeof *row);
    window.n_nodes++;
    window.n_edges = 0;
    window.row = row;
    window.label = NULL;
    window.theta = window.area = window.centroid = NULL;
    model.w = fixture.w;
    model.decoding.rule = CLV_DECODE_MARGINALS; /* labels vote */
    source.wants_net = true;
    double(*marginals)[2] = calloc(n + 1, sizeof *marginals);
    must(model_marginals(&marginals[0][0], &model, &window, err));
    must(labelled_image_init(&labelled, &model, &source, &slice, err));
    ck_assert_mem_eq(labelled.marginals, marginals + 1, n * sizeof *marginals);
    for (size_t i = 0; i < n; i++)
        ck_assert_int_eq(labelled.y[i], marginals[i + 1][1] > marginals[i + 1][0]);
    free(marginals);
    labelled_image_release(&labelled);
}

/* Each image's nodes show their labels in features that no other image has: whoever learned from the image would trust
 * them. */
TEST(refining_learns_from_what_models_say_of_images_they_have_not_seen)
{
    static int64_t row[1000];
    static int32_t index[1000];
    static float value[1000];
    struct clv_dataset *dataset;
    must(clv_dataset_new(&dataset, 2, err));
    for (int32_t i = 0; i < N_IMAGES; i++) {
        struct clv_problem problem = fixture.problems[i];
        ck_assert_int_lt(problem.n_nodes, 1000);
        for (int32_t k = 0; k < problem.n_nodes; k++) {
            row[k + 1] = k + 1;
            index[k] = 2 * i + problem.label[k];
            value[k] = 1;
        }
        problem.n_features = 2 * N_IMAGES;
        problem.row = row;
        problem.index = index;
        problem.value = value;
        must(clv_dataset_add(dataset, &problem, formatted("%d", i), err));
    }
    const struct clv_learner *learner = clv_learner_find("ssvm");
    const int32_t all[N_IMAGES] = {0, 1, 2, 3, 4, 5};
    struct clv_training training;
    clv_training_defaults(&training, learner);
    training.dataset = dataset;
    training.examples = all;
    training.n_examples = N_IMAGES;
    training.layout =
        (struct clv_weight_layout){2, 2 * N_IMAGES, fixture.model.layout.n_edge_features, CLV_PAIRWISE_POTTS};
    training.seed = 1;
    training.n_threads = 1;
    fixture.model.layout = training.layout;
    must(train_refining(&fixture.model, learner, &training, &fixture.set, NULL, false, err));
    const struct clv_tensor *tensor = clv_model_attached(&fixture.model, "refining");
    ck_assert_ptr_nonnull(tensor);
    ck_assert_double_eq(((const double *)tensor->data)[0], 0);
    clv_dataset_free(dataset);
}

/* Without couplings the cut is where scores change their sign: colours of the whole image are in the scores already. */
TEST(scores_alone_decide_where_nothing_is_coupled)
{
    struct labelled_image labelled;
    struct refinement refining = {.options = {.prior = 1, .overall = 2, .rounds = 1}, .bias = -3, .maps = {{1, 0, 0}}};
    must(labelled_image_init(&labelled, &fixture.model, &fixture.source, &fixture.examples[0], err));
    const struct segmented view = labelled_image_view(&labelled);
    float *score = calloc(labelled.n, sizeof *score), *raised = calloc(labelled.n, sizeof *raised);
    uint8_t *labels = calloc(labelled.n, 1);
    memcpy(labels, labelled.painted, labelled.n);
    must(pixel_scores(score, &view, &refining, err));
    must(pixel_scores_refine(labels, score, &labelled.image, &refining, err));
    for (size_t p = 0; p < labelled.n; p++)
        ck_assert(fabsf(score[p]) < 1e-4F || labels[p] == (score[p] > 0));
    refining.bias = -1;
    must(pixel_scores(raised, &view, &refining, err));
    for (size_t p = 0; p < labelled.n; p++)
        ck_assert_float_eq_tol(raised[p] - score[p], 2, 1e-4F);
    free(score);
    free(raised);
    free(labels);
    labelled_image_release(&labelled);
}

/* The variance across the image of what a term says of a map with one bright column in its middle. */
struct spread {
    int32_t term, width;
    size_t n;
    double variance;
};

static void measure_spread(void *context, int32_t term, const float *plane)
{
    struct spread *self = context;
    double sum = 0, moment = 0, square = 0;
    if (term != self->term)
        return;
    for (size_t p = 0; p < self->n; p++) {
        double x = (double)(p % (size_t)self->width);
        sum += (double)plane[p];
        moment += (double)plane[p] * x;
        square += (double)plane[p] * x * x;
    }
    self->variance = square / sum - moment / sum * (moment / sum);
}

/* In pixels of an image of 256 x 256: standard deviations of 3 and 20. */
TEST(maps_are_blurred_by_shares_of_the_images_side)
{
    struct labelled_image labelled;
    must(labelled_image_init(&labelled, &fixture.model, &fixture.source, &fixture.examples[0], err));
    struct segmented view = labelled_image_view(&labelled);
    int32_t width = labelled.image.width, height = labelled.image.height;
    float *values = calloc(labelled.n, sizeof *values);
    for (size_t p = 0; p < labelled.n; p++)
        values[p] = p % (size_t)width == (size_t)width / 2 ? 0.9F : 0.5F;
    const struct map_reader map = {.map = {.width = width, .height = height, .n_channels = 1, .values = values}};
    view.maps = &map;
    double scale = (double)width * (double)height / (256 * 256);
    ck_assert_double_gt(fabs(scale - 1), 0.5);
    static const double spreads[] = {3, 20};
    for (int k = 0; k < 2; k++) {
        struct spread spread = {TERM_MAPS + 1 + k, width, labelled.n, 0};
        must(pixel_terms(&view, false, measure_spread, &spread, err));
        ck_assert_double_eq_tol(spread.variance / (scale * spreads[k] * spreads[k]), 1, 0.2);
    }
    free(values);
    labelled_image_release(&labelled);
}

struct nearby_term {
    float *plane;
    size_t n;
};

static void keep_nearby(void *context, int32_t term, const float *plane)
{
    const struct nearby_term *self = context;
    if (term == TERM_NEARBY)
        memcpy(self->plane, plane, self->n * sizeof *plane);
}

TEST(colours_nearby_are_those_around_each_pixel)
{
    struct labelled_image labelled;
    struct near_colours colours;
    must(labelled_image_init(&labelled, &fixture.model, &fixture.source, &fixture.examples[0], err));
    const struct segmented view = labelled_image_view(&labelled);
    struct nearby_term term = {calloc(labelled.n, sizeof(float)), labelled.n};
    must(pixel_terms(&view, true, keep_nearby, &term, err));
    must(near_colours_init(&colours, &labelled.image, err));
    float *score = calloc(colours.n_cells, sizeof *score);
    near_colours_learn(&colours, labelled.painted, 1);
    near_colours_score(score, &colours, 1, 0);
    for (size_t p = 0, width = (size_t)labelled.image.width; p < labelled.n; p++)
        ck_assert_float_eq(term.plane[p],
                           score[near_colours_cell(&colours, (int32_t)(p % width), (int32_t)(p / width))]);
    near_colours_release(&colours);
    free(score);
    free(term.plane);
    labelled_image_release(&labelled);
}

/* The network's term, of some image. */
static void keep_net(void *context, int32_t term, const float *plane)
{
    const struct nearby_term *self = context;
    if (term == TERM_NET)
        memcpy(self->plane, plane, self->n * sizeof *plane);
}

/* What is learned as for two stages. */
static struct refinement learned_with_net(struct fixture *self)
{
    static struct clv_stage first;
    self->model.first = &first;
    struct refinement refining = learned(self);
    self->model.first = NULL;
    return refining;
}

static double mean_loss(struct fixture *self, const struct refinement *refining)
{
    double sum = 0;
    for (size_t i = 0; i < N_IMAGES; i++) {
        struct labelled_image labelled;
        double loss;
        must(labelled_image_init(&labelled, &self->model, &self->source, &self->examples[i], err));
        struct segmented view = labelled_image_view(&labelled);
        view.net = refining->net.weights ? &refining->net : NULL;
        float *score = calloc(labelled.n, sizeof *score);
        must(pixel_scores(score, &view, refining, err));
        must(pixel_scores_refine(labelled.painted, score, &labelled.image, refining, err));
        must(labelled_loss(&loss, &labelled.truth, labelled.painted, 2, self->source.iou_weight, err));
        sum += loss / N_IMAGES;
        free(score);
        labelled_image_release(&labelled);
    }
    return sum;
}

TEST(two_stages_have_a_network_which_makes_pixels_better_and_maps_alone_have_none)
{
    struct refinement plain = learned(&fixture);
    ck_assert_ptr_null(plain.net.weights);
    ck_assert_double_eq(plain.net_weight, 0);
    double without = mean_loss(&fixture, &plain);
    struct refinement refining = learned_with_net(&fixture);
    ck_assert_ptr_nonnull(refining.net.weights);
    ck_assert_double_gt(refining.net_weight, 0.05);
    ck_assert_double_lt(mean_loss(&fixture, &refining), without - 0.002);
}

TEST(a_networks_term_is_its_log_odds_between_the_pixels_of_the_working_size)
{
    struct refinement refining = learned_with_net(&fixture);
    struct labelled_image labelled;
    struct pixel_inputs inputs;
    float x[PIXEL_NET_INPUTS * PIXEL_NET_AT_ONCE] = {0}, probability[OBJECT_CLASSES * PIXEL_NET_AT_ONCE];
    must(labelled_image_init(&labelled, &fixture.model, &fixture.source, &fixture.examples[1], err));
    struct segmented view = labelled_image_view(&labelled);
    view.net = &refining.net;
    must(pixel_inputs_init(&inputs, &view, err));
    ck_assert_uint_eq(inputs.n, labelled.n); /* the photos are small */
    struct nearby_term term = {calloc(labelled.n, sizeof(float)), labelled.n};
    float *score = calloc(labelled.n, sizeof *score), *raised = calloc(labelled.n, sizeof *raised);
    must(all_pixel_terms(&view, false, keep_net, &term, err));
    must(pixel_scores(score, &view, &refining, err));
    refining.net_weight += 2;
    must(pixel_scores(raised, &view, &refining, err));
    for (size_t p = 0; p < labelled.n; p += 97) {
        pixel_inputs_copy(x, PIXEL_NET_AT_ONCE, &inputs, p, 1);
        pixel_net_predict(probability, &refining.net, x);
        double foreground = (double)probability[OBJECT_CORE * PIXEL_NET_AT_ONCE];
        double odds = (foreground + 1e-4) / ((double)probability[OBJECT_BACKGROUND * PIXEL_NET_AT_ONCE] + 1e-4);
        ck_assert_double_eq_tol((double)term.plane[p], log(odds), 1e-4);
        ck_assert_float_eq_tol(raised[p] - score[p], 2 * term.plane[p], 1e-3F);
    }
    free(score);
    free(raised);
    free(term.plane);
    pixel_inputs_release(&inputs);
    labelled_image_release(&labelled);
}

TEST(an_image_is_judged_by_the_network_that_has_not_seen_it)
{
    struct refining_nets nets;
    must(refining_nets_learn(&nets, &fixture.model, &fixture.source, 3, 2, err)); /* examples 0, 2 and 4 */
    ck_assert_ptr_eq(refining_nets_other(&nets, 0), &nets.nets[NET_FIRST]);
    ck_assert_ptr_eq(refining_nets_other(&nets, 2), &nets.nets[NET_FIRST + 1]);
    ck_assert_ptr_eq(refining_nets_other(&nets, 4), &nets.nets[NET_FIRST + 2]);
    struct refining_nets one;
    const struct refining_example odd = fixture.examples[2];
    fixture.source.examples = &odd;
    must(refining_nets_learn(&one, &fixture.model, &fixture.source, 1, 1, err));
    fixture.source.examples = fixture.examples;
    ck_assert_ptr_null(refining_nets_other(&one, 0)); /* no other row */
    refining_nets_release(&one);
    refining_nets_release(&nets);
}

TEST(a_damaged_network_is_refused_by_its_tensors_name)
{
    struct refinement refining = learned_with_net(&fixture);
    struct clv_refine_options options;
    clv_refine_defaults(&options);
    float *weights = calloc(REFINING_COPIES, pixel_net_size(refining.net.n_inputs, OBJECT_CLASSES) * sizeof *weights);
    struct clv_tensor tensor = {
        .name = "refining.network",
        .dtype = CLV_F32,
        .n_dimensions = 2,
        .shape = {REFINING_COPIES, (int64_t)pixel_net_size(refining.net.n_inputs, OBJECT_CLASSES)},
        .data = weights};
    weights[7] = NAN;
    must(clv_model_attach(&fixture.model, &tensor, err));
    must_fail(CLV_ERR_DATA, "refining.network", refining_of_model(&refining, &fixture.model, &options, err));
    weights[7] = 0;
    tensor.shape[0]--;
    must(clv_model_attach(&fixture.model, &tensor, err));
    must_fail(CLV_ERR_DATA, "refining.network", refining_of_model(&refining, &fixture.model, &options, err));
    free(weights);
}

TEST(a_network_of_more_labels_than_there_may_be_is_refused)
{
    struct refinement refining = learned_with_net(&fixture);
    struct clv_refine_options options;
    clv_refine_defaults(&options);
    int32_t n_labels = fixture.model.layout.n_labels;
    fixture.model.layout.n_labels = PIXEL_NET_CLASSES + 1;
    must_fail(CLV_ERR_DATA, "\"refining.network\" and 33 labels, must have 32 at most",
              refining_of_model(&refining, &fixture.model, &options, err));
    fixture.model.layout.n_labels = n_labels;
}

SETUP_ONCE(begin, end)
