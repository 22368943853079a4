/* What every kind of inference makes of small random fields, and every step from an image to its outline of a small
 * image, at every setting, compared with tests/golden/inference.tsv and tests/golden/images.tsv. Whoever changes a
 * result on purpose writes the files anew,
 *
 *     CLEAVE_GOLDEN=write CK_RUN_SUITE=golden_inference CLEAVE_BUILD=build build/run-tests
 *
 * and looks at the difference. */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "box_cut/box_cut.h"
#include "click/click.h"
#include "feature/dataset/dataset.h"
#include "feature/small_set.h"
#include "infer/bp/bp.h"
#include "infer/infer.h"
#include "infer/oracle/oracle.h"
#include "infer/random_field.h"
#include "support/golden.h"

enum { N_FIELDS = 100, N_DRAWS = 37 };

/* The fields of a row: trees, loops, and loops of strong couplings. */
static const struct {
    const char *name;
    int32_t n_extra;
    double unary_scale, pairwise_scale;
} kinds[] = {{"trees", -1, 1, 1}, {"loops", 4, 1, 0.7}, {"strong loops", 7, 0.6, 2.5}, {"frustrated loops", 8, 0.2, 6}};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

struct given {
    uint8_t is_visible[MAX_NODES];
    int32_t label[MAX_NODES], near[MAX_NODES];
};

static void draw(struct sample *s, struct given *given, size_t kind, uint64_t index)
{
    draw_sample(s, index, form_of(index), kinds[kind].n_extra, kinds[kind].unary_scale, kinds[kind].pairwise_scale);
    for (int32_t i = 0; i < s->field.n_nodes; i++) {
        uint64_t at = index * MAX_NODES + (uint64_t)i;
        uint32_t k = (uint32_t)s->field.n_labels;
        given->is_visible[i] = rng_below(SEED, 1, at, 3) > 0;
        given->label[i] = rng_below(SEED, 2, at, 3) ? CLV_UNKNOWN : (int32_t)rng_below(SEED, 3, at, k);
        given->near[i] = rng_below(SEED, 4, at, 4) ? (int32_t)rng_below(SEED, 5, at, k) : CLV_UNKNOWN;
    }
}

static uint64_t add_labels(uint64_t digest, const int32_t *y, int32_t n)
{
    return golden_bytes(digest, "labels", y, (size_t)n * sizeof *y);
}

static uint64_t add_error(uint64_t digest, const struct clv_error *error)
{
    return golden_bytes(digest, "message", error->message, strlen(error->message));
}

/* Belief propagation. */

struct propagation {
    const char *name;
    enum clv_bp_mode mode;
    enum clv_bp_schedule schedule;
    double temperature, visible_temperature, damping;
    int32_t max_iterations;
    bool is_given, is_near, is_warm;
};

static const struct propagation propagations[] = {
    {"sum", CLV_BP_SUM, CLV_BP_SEQUENTIAL, 1, 0, 0, 60, false, false, false},
    {"sum, T 0.3", CLV_BP_SUM, CLV_BP_SEQUENTIAL, 0.3, 0, 0, 60, false, false, false},
    {"sum, red-black", CLV_BP_SUM, CLV_BP_RED_BLACK, 1, 0, 0, 60, false, false, false},
    {"sum, damped", CLV_BP_SUM, CLV_BP_SEQUENTIAL, 1, 0, 0.4, 60, false, false, false},
    {"sum, given", CLV_BP_SUM, CLV_BP_SEQUENTIAL, 1, 0, 0, 60, true, false, false},
    {"sum, near", CLV_BP_SUM, CLV_BP_SEQUENTIAL, 1, 0, 0, 60, false, true, false},
    {"sum, warm", CLV_BP_SUM, CLV_BP_SEQUENTIAL, 1, 0, 0, 3, false, false, true},
    {"max", CLV_BP_MAX, CLV_BP_SEQUENTIAL, 1, 0, 0, 60, false, false, false},
    {"max, damped", CLV_BP_MAX, CLV_BP_RED_BLACK, 1, 0, 0.5, 60, false, false, false},
    {"max, given", CLV_BP_MAX, CLV_BP_SEQUENTIAL, 1, 0, 0.3, 60, true, false, false},
    {"max, near", CLV_BP_MAX, CLV_BP_SEQUENTIAL, 1, 0, 0.3, 60, false, true, false},
    {"mixed", CLV_BP_MIXED, CLV_BP_SEQUENTIAL, 1, 0, 0, 60, false, false, false},
    {"mixed, T 0.5", CLV_BP_MIXED, CLV_BP_SEQUENTIAL, 0.5, 0, 0.2, 60, false, false, false},
    {"mixed, T_y 0.4", CLV_BP_MIXED, CLV_BP_SEQUENTIAL, 1, 0.4, 0, 60, false, false, false},
    {"mixed, T_y 0.4, T 0.7", CLV_BP_MIXED, CLV_BP_SEQUENTIAL, 0.7, 0.4, 0.2, 60, true, false, false},
    {"mixed, near", CLV_BP_MIXED, CLV_BP_RED_BLACK, 1, 0, 0, 60, false, true, false},
};

static uint64_t propagate(uint64_t digest, struct clv_bp *bp, const struct propagation *p, size_t kind, uint64_t index)
{
    struct sample s;
    struct given given;
    struct clv_bp_options options;
    struct clv_bp_result result;
    double beliefs[MAX_NODES * MAX_LABELS], pairs[MAX_EDGES * MAX_LABELS * MAX_LABELS];
    int32_t y[MAX_NODES];
    draw(&s, &given, kind, index);
    clv_bp_defaults(&options);
    options.mode = p->mode;
    options.schedule = p->schedule;
    options.temperature = p->temperature;
    options.visible_temperature = p->visible_temperature;
    options.damping = p->damping;
    options.max_iterations = p->max_iterations;
    options.is_visible = given.is_visible;
    options.label = p->is_given ? given.label : NULL;
    options.near = p->is_near ? given.near : NULL;
    for (int run = 0; run < 1 + p->is_warm; run++) {
        options.is_warm = run > 0;
        must(clv_bp_run(bp, beliefs, y, &result, &s.field, &options, err));
        const double values[] = {result.is_converged, result.n_iterations, result.change, result.value};
        digest = golden_doubles(digest, "values", values, sizeof values / sizeof *values);
        digest = golden_doubles(digest, "beliefs", beliefs, (size_t)s.field.n_nodes * (size_t)s.field.n_labels);
        digest = add_labels(digest, y, s.field.n_nodes);
    }
    clv_bp_pair_beliefs(pairs, bp);
    size_t k = (size_t)s.field.n_labels;
    return golden_doubles(digest, "pair beliefs", pairs, (size_t)s.field.n_edges * k * k);
}

static uint64_t reweigh(uint64_t digest, struct clv_bp *bp, bool is_given, size_t kind, uint64_t index)
{
    struct sample s;
    struct given given;
    struct clv_bp_options options;
    struct clv_trws_result result;
    int32_t y[MAX_NODES];
    draw(&s, &given, kind, index);
    clv_bp_defaults(&options);
    options.tolerance = 1e-6;
    options.max_iterations = is_given ? 7 : 50;
    options.label = is_given ? given.label : NULL;
    must(clv_bp_trws(bp, y, &result, &s.field, &options, err));
    const double values[] = {result.score, result.bound, result.n_iterations, result.is_converged};
    return add_labels(golden_doubles(digest, "values", values, sizeof values / sizeof *values), y, s.field.n_nodes);
}

static void propagation_rows(size_t kind)
{
    OWNED(bp_drop) struct clv_bp *bp = new_bp();
    for (size_t p = 0; p < sizeof propagations / sizeof *propagations; p++) {
        uint64_t digest = HASH_START;
        for (uint64_t index = 0; index < N_FIELDS; index++)
            digest = propagate(digest, bp, &propagations[p], kind, index);
        golden_row(digest, "%s\tbp\t%s", kinds[kind].name, propagations[p].name);
    }
    for (int is_given = 0; is_given < 2; is_given++) {
        uint64_t digest = HASH_START;
        for (uint64_t index = 0; index < N_FIELDS; index++)
            digest = reweigh(digest, bp, is_given, kind, index);
        golden_row(digest, "%s\ttrws\t%s", kinds[kind].name, is_given ? "given" : "");
    }
}

/* Decoding. */

static uint64_t decode(uint64_t digest, struct clv_oracle *oracle, const struct clv_decoding *decoding, bool has_hidden,
                       size_t kind, uint64_t index)
{
    struct sample s;
    struct given given;
    struct clv_error error = {0};
    int32_t y[MAX_NODES];
    draw(&s, &given, kind, index);
    if (clv_oracle_decode(oracle, y, &s.field, has_hidden ? given.is_visible : NULL, decoding, &error) != CLV_OK)
        return add_error(digest, &error);
    return add_labels(digest, y, s.field.n_nodes);
}

typedef enum clv_status solver(struct clv_oracle *oracle, int32_t *y, double *score, const struct clv_field *field,
                               struct clv_error *err);

static uint64_t solve(uint64_t digest, struct clv_oracle *oracle, solver *find, size_t kind, uint64_t index)
{
    struct sample s;
    struct given given;
    struct clv_error error = {0};
    int32_t y[MAX_NODES];
    double score, margin[MAX_NODES];
    draw(&s, &given, kind, index);
    if (find(oracle, y, &score, &s.field, &error) != CLV_OK)
        return add_error(digest, &error);
    digest = add_labels(golden_doubles(digest, "score", &score, 1), y, s.field.n_nodes);
    if (find == clv_oracle_map && s.field.n_labels == 2) {
        must(clv_oracle_margins(oracle, margin, y, err));
        digest = golden_doubles(digest, "margins", margin, (size_t)s.field.n_nodes);
    }
    return digest;
}

static uint64_t perturb(uint64_t digest, struct clv_oracle *oracle, uint32_t n_samples, size_t kind, uint64_t index)
{
    struct sample s;
    struct given given;
    struct clv_error error = {0};
    double marginals[MAX_NODES * MAX_LABELS], values[2];
    draw(&s, &given, kind, index);
    if (clv_perturbed_marginals(oracle, marginals, &values[0], &values[1], &s.field, index, n_samples, &error) !=
        CLV_OK)
        return add_error(digest, &error);
    digest = golden_doubles(digest, "marginals", marginals, (size_t)s.field.n_nodes * (size_t)s.field.n_labels);
    return golden_doubles(digest, "values", values, 2);
}

/* Decoding by candidates, which otherwise is left to graphs too wide for anything exact. */
static void candidate_rows(size_t kind)
{
    static const struct clv_decoding decodings[] = {
        {CLV_DECODE_MAP, 0}, {CLV_DECODE_MARGINALS, 0}, {CLV_DECODE_MARGINAL_MAP, 1}, {CLV_DECODE_MARGINAL_MAP, 0.2}};
    OWNED(loopy_release) struct loopy loopy = {0};
    for (size_t d = 0; d < sizeof decodings / sizeof *decodings; d++) {
        uint64_t digest = HASH_START;
        for (uint64_t index = 0; index < 2 * N_FIELDS; index++) {
            struct sample s;
            struct given given;
            int32_t y[MAX_NODES];
            draw(&s, &given, kind, index);
            must(loopy_decode(&loopy, y, &s.field, given.is_visible, &decodings[d], err));
            digest = add_labels(digest, y, s.field.n_nodes);
        }
        golden_row(digest, "%s\tcandidates\t%s %g", kinds[kind].name, decoding_rule_name(decodings[d].rule),
                   decodings[d].hidden_temperature);
    }
}

static void decoding_rows(size_t kind)
{
    static const struct clv_decoding decodings[] = {
        {CLV_DECODE_ORACLE, 0},         {CLV_DECODE_MAP, 0},         {CLV_DECODE_MARGINAL_MAP, 1},
        {CLV_DECODE_MARGINAL_MAP, 0.3}, {CLV_DECODE_MARGINALS, 0},   {CLV_DECODE_MIN_ENTROPY, 0.5},
        {CLV_DECODE_MIN_ENTROPY, 1},    {CLV_DECODE_MIN_ENTROPY, 0},
    };
    static const struct {
        const char *name;
        solver *find;
    } solvers[] = {{"map", clv_oracle_map}, {"expansion", clv_oracle_expand}, {"swap", clv_oracle_swap}};
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_CLEAVE, err));
    for (size_t d = 0; d < sizeof decodings / sizeof *decodings; d++)
        for (int has_hidden = 0; has_hidden < 2; has_hidden++) {
            uint64_t digest = HASH_START;
            for (uint64_t index = 0; index < N_FIELDS; index++)
                digest = decode(digest, oracle, &decodings[d], has_hidden, kind, index);
            golden_row(digest, "%s\t%s %g\t%s", kinds[kind].name, decoding_rule_name(decodings[d].rule),
                       decodings[d].hidden_temperature, has_hidden ? "hidden" : "");
        }
    for (size_t v = 0; v < sizeof solvers / sizeof *solvers; v++) {
        uint64_t digest = HASH_START;
        for (uint64_t index = 0; index < 2 * N_FIELDS; index++)
            digest = solve(digest, oracle, solvers[v].find, kind, index);
        golden_row(digest, "%s\toracle\t%s", kinds[kind].name, solvers[v].name);
    }
    for (uint32_t n_samples = 1; n_samples <= N_DRAWS; n_samples += N_DRAWS - 1) {
        uint64_t digest = HASH_START;
        for (uint64_t index = 0; index < N_FIELDS; index++)
            digest = perturb(digest, oracle, n_samples, kind, index);
        golden_row(digest, "%s\tperturbed\t%u draws", kinds[kind].name, n_samples);
    }
}

TEST(every_kind_of_inference_finds_what_it_found)
{
    golden_begin();
    for (size_t kind = 0; kind < N_KINDS; kind++) {
        propagation_rows(kind);
        decoding_rows(kind);
        candidate_rows(kind);
    }
    golden_end("inference", "fields\tmethod\tsetting\tdigest");
}

/* From an image to its outline. */

enum { WIDTH = 71, HEIGHT = 53 };

static bool is_inside(int32_t x, int32_t y)
{
    return (x - 34) * (x - 34) + 2 * (y - 25) * (y - 25) < 400;
}

/* An ellipse of one colour on textured background of another, with a stripe of both. */
static struct clv_image draw_image(void)
{
    struct clv_image image = {0};
    must(clv_image_new(&image, WIDTH, HEIGHT, 3, err));
    for (int32_t y = 0; y < HEIGHT; y++)
        for (int32_t x = 0; x < WIDTH; x++) {
            uint8_t *pixel = image.pixels + 3 * (y * WIDTH + x);
            uint32_t noise = rng_below(3, RNG_STREAM(RNG_TEST, 9), (uint64_t)(y * WIDTH + x), 40);
            bool is_red = is_inside(x, y) ^ (x % 17 == 3);
            pixel[0] = (uint8_t)((is_red ? 180 : 70 + 2 * (uint32_t)(y % 20)) + noise);
            pixel[1] = (uint8_t)((is_red ? 50 : 110) + noise / 2);
            pixel[2] = (uint8_t)((is_red ? 60 + (uint32_t)x : 90) + noise);
        }
    return image;
}

static uint64_t digest_of_example(const struct clv_example *example)
{
    const struct clv_problem *p = &example->problem;
    size_t n = (size_t)p->n_nodes, n_entries = (size_t)p->row[n];
    uint64_t digest = golden_bytes(HASH_START, "rows", p->row, (n + 1) * sizeof *p->row);
    digest = golden_bytes(digest, "columns", p->index, n_entries * sizeof *p->index);
    digest = golden_floats(digest, "features", p->value, n_entries);
    digest = golden_bytes(digest, "edges", p->edges, (size_t)p->n_edges * sizeof *p->edges);
    digest = golden_floats(digest, "edge features", p->edge_features, (size_t)p->n_edges * (size_t)p->n_edge_features);
    digest = golden_floats(digest, "areas", p->area, n);
    return golden_bytes(digest, "superpixels", example->superpixels.labels,
                        (size_t)(example->superpixels.width * example->superpixels.height) * sizeof(int32_t));
}

static void feature_row(const struct clv_image *image, struct clv_recipe *recipe, const char *setting)
{
    OWNED(clv_example_release) struct clv_example example = {0};
    give_random_words(recipe, 20);
    must(clv_example_extract(&example, image, recipe, err));
    golden_row(digest_of_example(&example), "features\t%s", setting);
    clv_recipe_release(recipe);
}

static void feature_rows(const struct clv_image *image)
{
    for (int nodes = CLV_NODES_SUPERPIXELS; nodes <= CLV_NODES_PATCHES; nodes++)
        for (int32_t block = 1; block <= CLV_BLOCK_WORD; block *= 2) { /* HOG is VLFeat's */
            bool needs_patches = block == CLV_BLOCK_SURROUND || block == CLV_BLOCK_SCENE;
            if (needs_patches && nodes == CLV_NODES_SUPERPIXELS)
                continue;
            for (int map = CLV_KERNEL_MAP_NONE; map <= CLV_KERNEL_MAP_INTERSECTION; map++) {
                struct clv_recipe recipe;
                (nodes == CLV_NODES_PATCHES ? clv_recipe_init_patches : clv_recipe_init)(&recipe);
                recipe.blocks = block;
                recipe.slic.n_superpixels = 40;
                recipe.working_pixels = 3000;
                recipe.kernel_map = map;
                feature_row(image, &recipe,
                            formatted("%s, block %d, map %d", nodes ? "patches" : "superpixels", block, map));
            }
        }
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    recipe.slic.n_superpixels = 60;
    feature_row(image, &recipe, "all of superpixels, full size");
}

static void superpixel_rows(const struct clv_image *image)
{
    static const struct clv_slic_options options[] = {
        {40, 12, 10}, {40, 3, 10}, {40, 40, 2}, {200, 12, 10}, {7, 12, 10}};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        OWNED(clv_superpixels_release) struct clv_superpixels superpixels = {0};
        OWNED(clv_adjacency_release) struct clv_adjacency adjacency = {0};
        must(clv_slic(&superpixels, image, &options[k], err));
        must(clv_adjacency_build(&adjacency, &superpixels, err));
        uint64_t digest =
            golden_bytes(HASH_START, "superpixels", superpixels.labels, WIDTH * HEIGHT * sizeof *superpixels.labels);
        digest = golden_bytes(digest, "edges", adjacency.edges, (size_t)adjacency.n_edges * sizeof *adjacency.edges);
        digest = golden_bytes(digest, "borders", adjacency.boundary_length,
                              (size_t)adjacency.n_edges * sizeof *adjacency.boundary_length);
        golden_row(digest, "slic\t%d of compactness %g", options[k].n_superpixels, (double)options[k].compactness);
    }
}

static void box_rows(const struct clv_image *image)
{
    static const struct clv_box_cut_options options[] = {{100, 2, 6.25, 2}, {100, 5, 1, 2}, {40, 1, 6.25, 0.3}};
    static const double boxes[][4] = {{10, 8, 50, 36}, {30, 20, 41, 33}, {0, 0, WIDTH, HEIGHT - 9}, {10, 8, 21, 30}};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++) {
            uint8_t labels[WIDTH * HEIGHT];
            float probability[WIDTH * HEIGHT];
            const struct clv_box box = {
                .x = boxes[b][0], .y = boxes[b][1], .width = boxes[b][2], .height = boxes[b][3]};
            must(clv_box_cut(labels, probability, image, &box, &options[k], err));
            golden_row(golden_bytes(golden_bytes(HASH_START, "mask", labels, sizeof labels), "probabilities",
                                    probability, sizeof probability),
                       "box cut\tsetting %zu, box %zu", k, b);
        }
}

/* Starts of both kinds: votes or a prior of pixels, half of the labels wrong near the border. */
static void refine_rows(const struct clv_image *image)
{
    static const struct clv_refine_options options[] = {
        {1, 1, 0.5, 0, 2, 2}, {0.3, 1, 1, 0.5, 0.5, 1}, {0, 1, 0, 1, 4, 3}, {2, 0, 1, 0.2, 1, 1}};
    enum { LABELS = 3 };
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        uint8_t two[WIDTH * HEIGHT], many[WIDTH * HEIGHT], is_fixed[WIDTH * HEIGHT];
        float prior[WIDTH * HEIGHT], votes[LABELS * WIDTH * HEIGHT];
        for (int32_t p = 0; p < WIDTH * HEIGHT; p++) {
            int32_t x = p % WIDTH, y = p / WIDTH;
            two[p] = is_inside(x + 4, y - 3);
            many[p] = is_inside(x + 3, y + 2) ? 1 : x > 50 ? 2 : 0;
            is_fixed[p] = y == 25 && x % 5 == 0;
            prior[p] = (two[p] ? 1.0F : -1.0F) + (float)(x % 7) / 9;
            for (int32_t b = 0; b < LABELS; b++)
                votes[b * WIDTH * HEIGHT + p] = (float)((many[p] == b) * 2 + (x + y + b) % 3) / 5;
        }
        must(clv_refine(two, image, prior, k % 2 ? is_fixed : NULL, &options[k], err));
        golden_row(golden_bytes(HASH_START, "mask", two, sizeof two), "refine\tsetting %zu", k);
        must(clv_refine_labels(many, image, votes, LABELS, &options[k], err));
        golden_row(golden_bytes(HASH_START, "mask", many, sizeof many), "refine labels\tsetting %zu", k);
    }
}

/* Several boxes of several values that overlap, one of them small and in front; and how likely foreground is by
 * them. */
static void boxes_rows(const struct clv_image *image)
{
    static const struct clv_box boxes[] = {{.x = 8, .y = 6, .width = 40, .height = 34},
                                           {.x = 30, .y = 14, .width = 34, .height = 30},
                                           {.x = 34, .y = 20, .width = 9, .height = 11},
                                           {.x = 2, .y = 30, .width = 50, .height = 16}};
    static const uint8_t values[] = {1, 2, 3, 1};
    struct clv_box_cut_options options;
    clv_box_cut_defaults(&options);
    options.n_superpixels = 60;
    for (size_t n = 2; n <= sizeof boxes / sizeof *boxes; n++) {
        uint8_t labels[WIDTH * HEIGHT];
        float foreground[WIDTH * HEIGHT];
        struct clv_pixel_box pixels[sizeof boxes / sizeof *boxes];
        for (size_t b = 0; b < n; b++)
            pixels[b] = clv_box_pixels(&boxes[b], WIDTH, HEIGHT);
        const struct item_boxes all = {pixels, n, 0};
        must(clv_box_cut_all(labels, image, boxes, values, n, &options, err));
        golden_row(golden_bytes(HASH_START, "mask", labels, sizeof labels), "boxes cut\t%zu together", n);
        must(box_foreground(foreground, image, &all, err));
        golden_row(golden_bytes(HASH_START, "figure", foreground, sizeof foreground), "foreground\tby %zu boxes", n);
    }
}

/* Maps of two labels and of four, from sharp to soft: a disc, stripes across it, and what is uncertain everywhere. */
static void probability_rows(const struct clv_image *image)
{
    static const double softness[] = {0.4, 1.5, 3, 6, 14};
    enum { LABELS = 4, N_PIXELS = WIDTH * HEIGHT };
    for (size_t k = 0; k < sizeof softness / sizeof *softness; k++)
        for (int32_t n_labels = 2; n_labels <= LABELS; n_labels += 2) {
            uint8_t labels[N_PIXELS];
            float map[LABELS * N_PIXELS];
            for (int32_t p = 0; p < N_PIXELS; p++) {
                double x = p % WIDTH, y = (double)p / WIDTH, rest = 1;
                double beyond = 17 - sqrt((x - 30) * (x - 30) + (y - 26) * (y - 26)),
                       inside = 0.5 + beyond / softness[k];
                inside = fmin(fmax(inside, 0.02 + p % 5 * 0.01), 0.97);
                map[n_labels == 2 ? p : N_PIXELS + p] = (float)inside;
                rest -= inside;
                double left = fmin(fmax(0.5 + (x + y / 3 - 36) / softness[k], 0), 1);
                map[n_labels == 2 ? N_PIXELS + p : p] = (float)(rest * 0.9 * left);
                map[2 * N_PIXELS + p] = (float)(rest * 0.9 * (1 - left));
                map[3 * N_PIXELS + p] = (float)(rest * 0.1);
            }
            must(clv_refine_probabilities(labels, image, map, n_labels, NULL, err));
            golden_row(golden_bytes(HASH_START, "mask", labels, sizeof labels), "refine map\t%d labels, softness %g",
                       n_labels, softness[k]);
        }
}

/* An object from one stroke to seven, half of them on it, with and without what was cut before. */
static void click_rows(const struct clv_image *image)
{
    OWNED(click_scene_drop) struct click_scene *scene = NULL;
    uint8_t seeds[WIDTH * HEIGHT] = {0}, labels[WIDTH * HEIGHT];
    must(click_scene_new(&scene, image, err));
    for (int n = 1; n <= 7; n++) {
        struct click_press press = {n % 2 ? 34 + 2 * n : 5 + 9 * n, n % 2 ? 25 - n : 48 - 4 * (n % 3), n % 2};
        struct click_request request = {.seeds = seeds,
                                        .before = n > 1 && n != 4 ? labels : NULL,
                                        .latest = &press,
                                        .n_strokes = n,
                                        .is_edit = n == 6};
        memset(seeds + press.y * WIDTH + press.x - 1, n % 2 ? CLICK_FOREGROUND : CLICK_BACKGROUND, 3);
        must(click_cut(labels, scene, &request, err));
        golden_row(golden_bytes(HASH_START, "mask", labels, sizeof labels), "click\tstroke %d", n);
    }
}

TEST(every_step_from_an_image_to_its_outline_makes_what_it_made)
{
    OWNED(clv_image_release) struct clv_image image = draw_image();
    golden_begin();
    superpixel_rows(&image);
    feature_rows(&image);
    box_rows(&image);
    click_rows(&image);
    refine_rows(&image);
    boxes_rows(&image);
    probability_rows(&image);
    golden_end("images", "step\tsetting\tdigest");
}
