#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cluster/comm.h"
#include "data/data.h"
#include "feature/dataset/dataset.h"
#include "feature/recipe/recipe.h"
#include "feature/small_set.h"
#include "support/support.h"
#include "support/team.h"

/* Three nodes in a chain, d = 4, p = 1, two labels; rows begin at entry 2, as views into larger arrays do. */
static const int64_t row[] = {2, 3, 3, 5};
static const int32_t indices[] = {9, 9, 0, 1, 3};
static const float values[] = {NAN, NAN, 1, 2, 3};
static const int32_t edges[][2] = {{0, 1}, {1, 2}};
static const float edge_features[] = {0.5f, -0.25f};
static const float area[] = {1, 2, 3};
static const int32_t label[] = {0, 1, CLV_UNKNOWN};
static const float theta[] = {0.5f, 0, 0, 0.5f, 0, 0};

static struct clv_problem chain(void)
{
    return (struct clv_problem){.n_nodes = 3,
                                .n_edges = 2,
                                .n_features = 4,
                                .n_edge_features = 1,
                                .row = row,
                                .index = indices,
                                .value = values,
                                .edges = edges,
                                .edge_features = edge_features,
                                .label = label,
                                .theta = theta,
                                .area = area};
}

TEST(added_problems_are_copied)
{
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    must(clv_dataset_new(&dataset, 2, err));
    struct clv_problem problem = chain();
    must(clv_dataset_add(dataset, &problem, "first", err));
    problem.label = NULL;
    problem.theta = problem.area = NULL;
    must(clv_dataset_add(dataset, &problem, "second", err));
    ck_assert_uint_eq(clv_dataset_size(dataset), 2);
    ck_assert_int_eq(clv_dataset_n_labels(dataset), 2);
    ck_assert_str_eq(clv_dataset_name(dataset, 1), "second");
    ck_assert_ptr_null(clv_dataset_name(dataset, 2));
    ck_assert_int_eq(clv_dataset_problem(dataset, 2).n_nodes, 0);

    struct clv_problem first = clv_dataset_problem(dataset, 0), second = clv_dataset_problem(dataset, 1);
    ck_assert_int_eq(first.n_nodes, 3);
    ck_assert_int_eq(first.row[0], 0); /* rows are shifted to begin at 0 */
    ck_assert_int_eq(first.row[3], 3);
    ck_assert_mem_eq(first.index, indices + 2, 3 * sizeof *indices);
    ck_assert_mem_eq(first.value, values + 2, 3 * sizeof *values);
    ck_assert_mem_eq(first.edges, edges, sizeof edges);
    ck_assert_mem_eq(first.edge_features, edge_features, sizeof edge_features);
    ck_assert_mem_eq(first.area, area, sizeof area);
    ck_assert_mem_eq(first.label, label, sizeof label);
    ck_assert_mem_eq(first.theta, theta, sizeof theta);
    ck_assert(first.row != row && first.edges != edges && first.theta != theta);
    ck_assert(!second.label && !second.theta && !second.area);
    clv_dataset_free(NULL);
}

TEST(bad_problems_are_refused_and_change_nothing)
{
    OWNED(dataset_drop) struct clv_dataset *dataset = (struct clv_dataset *)1;
    must_fail(CLV_ERR_USAGE, "1 labels", clv_dataset_new(&dataset, 1, err));
    ck_assert_ptr_null(dataset);
    must_fail(CLV_ERR_USAGE, "256 labels", clv_dataset_new(&dataset, 256, err));
    must(clv_dataset_new(&dataset, 2, err));
    struct clv_problem good = chain(), bad = good;
    bad.n_edges = 0;
    bad.n_edge_features = -1;
    must_fail(CLV_ERR_DATA, "x: problem has -1 features per edge", clv_dataset_add(dataset, &bad, "x", err));
    ck_assert_uint_eq(clv_dataset_size(dataset), 0);
    must(clv_dataset_add(dataset, &good, "good", err));
    bad.n_features = 5;
    must_fail(CLV_ERR_DATA, "wide.png: problem has 5 features per node, expected 4",
              clv_dataset_add(dataset, &bad, "wide.png", err));
    bad = good;
    bad.n_edge_features = 2;
    must_fail(CLV_ERR_DATA, "problem has 2 features per edge, expected 1", clv_dataset_add(dataset, &bad, "x", err));
    bad = good;
    bad.value = (const float[]){0, 0, 1, INFINITY, 0};
    must_fail(CLV_ERR_DATA, "x: node 2: feature 1 is inf", clv_dataset_add(dataset, &bad, "x", err));
    bad = good;
    bad.edges = (const int32_t[][2]){{0, 1}, {1, 3}};
    must_fail(CLV_ERR_DATA, "edge 1", clv_dataset_add(dataset, &bad, "x", err));
    bad = good;
    bad.label = (const int32_t[]){0, 2, 0};
    must_fail(CLV_ERR_DATA, "label 2", clv_dataset_add(dataset, &bad, "x", err));
    ck_assert_uint_eq(clv_dataset_size(dataset), 1);
}

TEST(problems_without_edges_or_features_are_fine)
{
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    must(clv_dataset_new(&dataset, 3, err));
    struct clv_problem bare = {.n_nodes = 1, .n_features = 7, .row = (const int64_t[]){0, 0}};
    must(clv_dataset_add(dataset, &bare, "bare", err));
    struct clv_problem copy = clv_dataset_problem(dataset, 0);
    ck_assert_int_eq(copy.n_nodes, 1);
    ck_assert_int_eq(copy.row[1], 0);
    ck_assert_int_eq(copy.n_edges, 0);
}

TEST(extraction_is_the_same_at_any_thread_count)
{
    OWNED(clv_set_release) struct clv_set set = synthetic(11); /* more than one batch of one thread */
    struct clv_recipe recipe = plain_recipe();
    OWNED(dataset_drop) struct clv_dataset *one = NULL, *three = NULL;
    must(clv_dataset_extract(&one, &set, &recipe, 1, NULL, NULL, err));
    must(clv_dataset_extract(&three, &set, &recipe, 3, NULL, NULL, err));
    ck_assert_uint_eq(clv_dataset_size(one), 11);
    ck_assert_uint_eq(clv_dataset_size(three), 11);
    for (size_t i = 0; i < 11; i++) {
        struct clv_problem a = clv_dataset_problem(one, i), b = clv_dataset_problem(three, i);
        ck_assert_str_eq(clv_dataset_name(three, i), set.items[i].name);
        ck_assert(a.label && a.theta);
        expect_same(&a, &b, 2);
        struct clv_weight_layout layout = {2, clv_recipe_n_features(&recipe), clv_recipe_n_edge_features(&recipe),
                                           CLV_PAIRWISE_POTTS};
        must(clv_problem_check(&a, &layout, err));
    }
}

enum { N_TEAM_ITEMS = 11 };

/* Examples that one process extracted, which those that a team shares are compared with. */
struct alone {
    const struct clv_set *set;
    struct extract_options how;
    struct clv_example examples[N_TEAM_ITEMS];
    float *estimates[N_TEAM_ITEMS];
    size_t n;
};

static enum clv_status keep_alone(void *context, struct clv_example *example, const struct clv_item *item,
                                  const float *estimate, struct clv_error *err)
{
    struct alone *self = context;
    ck_assert_str_eq(item->name, self->set->items[self->n].name);
    if (estimate)
        NEED(self->estimates[self->n] = array_copy(estimate, (size_t)example->problem.n_nodes, sizeof *estimate));
    self->examples[self->n++] = *example;
    *example = (struct clv_example){0};
    return CLV_OK;
}

static enum clv_status compare_with_alone(void *context, struct clv_example *example, const struct clv_item *item,
                                          const float *estimate, struct clv_error *err)
{
    (void)err;
    struct alone *self = context;
    const struct clv_example *wanted = &self->examples[self->n];
    const struct clv_superpixels *map = &example->superpixels;
    const size_t n = (size_t)wanted->problem.n_nodes;
    ck_assert_str_eq(item->name, self->set->items[self->n].name);
    ck_assert(example->width == wanted->width && example->height == wanted->height && map->n == wanted->superpixels.n);
    ck_assert(map->width == wanted->superpixels.width && map->height == wanted->superpixels.height);
    ck_assert_mem_eq(map->labels, wanted->superpixels.labels,
                     (size_t)map->width * (size_t)map->height * sizeof *map->labels);
    ck_assert_int_eq(memcmp(&example->grid, &wanted->grid, sizeof example->grid), 0);
    ck_assert(!example->problem.label == !wanted->problem.label && !example->counts == !wanted->counts);
    if (wanted->counts)
        ck_assert_mem_eq(example->counts, wanted->counts, 2 * n * sizeof *example->counts);
    ck_assert_mem_eq(example->centroid, wanted->centroid, 2 * n * sizeof *example->centroid);
    expect_same(&example->problem, &wanted->problem, 2);
    ck_assert(!estimate == !self->estimates[self->n]);
    if (estimate)
        ck_assert_mem_eq(estimate, self->estimates[self->n], n * sizeof *estimate);
    self->n++;
    return CLV_OK;
}

static void extract_together(void *context)
{
    struct alone *self = context;
    for (int to_all = 0; to_all < 2; to_all++) {
        self->n = 0;
        must(extract_set(self->set, &self->how, to_all ? EXTRACT_TO_ALL : EXTRACT_TO_LEADER, compare_with_alone, self,
                         err));
        ck_assert_uint_eq(self->n, to_all || !comm_rank() ? N_TEAM_ITEMS : 0);
    }
}

/* Half everywhere in the boxes' columns. */
static enum clv_status estimate_half(float *foreground, const struct clv_image *image, const struct item_boxes *boxes,
                                     struct clv_error *err)
{
    (void)err;
    for (int32_t p = 0; p < image->width * image->height; p++)
        foreground[p] = p % image->width < boxes->boxes[0].end_x ? 0.5F : 0;
    return CLV_OK;
}

TESTS(a_team_extracts_what_one_process_does, 0, 2)
{
    OWNED(clv_set_release) struct clv_set set = synthetic(N_TEAM_ITEMS);
    struct clv_recipe recipe = plain_recipe();
    struct clv_pixel_box box = {10, 8, 40, 30};
    struct item_boxes boxes[N_TEAM_ITEMS] = {[0] = {&box, 1, 0}, [4] = {&box, 1, 0}, [7] = {&box, 1, 0}};
    struct alone alone = {.set = &set,
                          .how = {.recipe = &recipe, .n_threads = 2, .boxes = boxes, .estimate = estimate_half}};
    if (_i) {
        recipe.nodes = CLV_NODES_PATCHES;
        recipe.patch_px = 12;
        recipe.patch_step_px = 6;
    }
    array_free(set.items[4].mask); /* an item without truth but with boxes, and one with neither */
    array_free(set.items[5].mask);
    set.items[4].mask = set.items[5].mask = NULL;
    must(extract_set(&set, &alone.how, EXTRACT_TO_ALL, keep_alone, &alone, err));
    ck_assert_uint_eq(alone.n, N_TEAM_ITEMS);
    ck_assert(alone.estimates[0] && alone.estimates[7] && !alone.estimates[1]);
    ck_assert(!alone.examples[5].problem.label && alone.examples[6].problem.label);
    for (int n = 2; n < 5; n++)
        run_team(n, extract_together, &alone);
    for (size_t i = 0; i < N_TEAM_ITEMS; i++) {
        clv_example_release(&alone.examples[i]);
        array_free(alone.estimates[i]);
    }
}

TEST(items_without_truth_have_no_labels)
{
    OWNED(clv_set_release) struct clv_set set = synthetic(2);
    struct clv_recipe recipe = plain_recipe();
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    int32_t width, height;
    array_free(set.items[0].mask);
    set.items[0].mask = NULL;
    must(clv_image_read_size(&width, &height, set.items[1].image, NULL, err));
    OWNED_ARRAY uint8_t *all_void = malloc((size_t)width * (size_t)height);
    uint8_t palette[256][3];
    memset(all_void, CLV_VOID, (size_t)width * (size_t)height);
    clv_default_palette(palette);
    must(clv_png_write_labels(set.items[1].mask, width, height, all_void, (const uint8_t(*)[3])palette, 256, err));
    must(clv_dataset_extract(&dataset, &set, &recipe, 2, NULL, NULL, err));
    for (size_t i = 0; i < 2; i++) {
        struct clv_problem problem = clv_dataset_problem(dataset, i);
        ck_assert(!problem.label && !problem.theta && problem.area);
    }
}

/* x: a slice with a mask, .: one without, |: one is missing here. */
TEST(windows_of_slices_have_masks_in_their_middles_and_slices_far_from_any_are_left_out)
{
    static const struct {
        const char *slices, *windows; /* of the second: numbers of first slices and of how many there are */
    } rows[] = {{"xxxxxxx", "0+4 4+3 "}, {"..x.....x...", "1+4 7+4 "}, {"x.....x", "0+4 4+3 "},
                {"......x", "3+4 "},     {"x..x..x", "0+4 4+3 "},      {"..|x..|x", "2+3 5+1 "},
                {".x.x......", "1+4 "},  {"..x..x..x", "2+4 6+3 "}};
    struct clv_recipe recipe = plain_recipe();
    OWNED(clv_set_release) struct clv_set set = synthetic(12);
    struct clv_dataset *dataset;
    char *image = string_copy(set.items[0].image), *mask = string_copy(set.items[0].mask); /* all of one size */
    size_t n_items = set.n_items;
    set.n_items = 1;
    must(clv_dataset_extract(&dataset, &set, &recipe, 1, NULL, NULL, err));
    int32_t n_nodes = clv_dataset_problem(dataset, 0).n_nodes;
    clv_dataset_free(dataset);
    recipe.window = 4;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char found[64] = "";
        bool is_apart = false;
        set.n_items = 0;
        for (const char *c = rows[r].slices; *c; c++) {
            struct clv_item *item = &set.items[set.n_items];
            if (*c != '|') {
                arrays_free(item->image, item->mask);
                item->image = string_copy(image);
                item->mask = *c == 'x' ? string_copy(mask) : NULL;
                item->is_apart = is_apart;
                set.n_items++;
            }
            is_apart = *c == '|';
        }
        must(clv_dataset_extract(&dataset, &set, &recipe, 2, NULL, NULL, err));
        for (size_t k = 0; k < clv_dataset_size(dataset); k++) {
            struct clv_problem problem = clv_dataset_problem(dataset, k);
            size_t i = 0, at = strlen(found);
            while (strcmp(set.items[i].name, clv_dataset_name(dataset, k)))
                i++;
            snprintf(found + at, sizeof found - at, "%zu+%d ", i, problem.n_nodes / n_nodes);
            ck_assert(problem.theta && problem.label);
        }
        ck_assert_str_eq(found, rows[r].windows);
        clv_dataset_free(dataset);
    }
    set.n_items = n_items;
    arrays_free(image, mask);
}

/* Counted pixels weigh alike in all images, and an image's 1 on the mean. */
TEST(a_loss_of_counts_weighs_every_pixel_alike)
{
    OWNED(clv_set_release) struct clv_set set = synthetic(3);
    OWNED(clv_recipe_release) struct clv_recipe recipe = plain_recipe();
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    must(clv_dataset_extract(&dataset, &set, &recipe, 1, NULL, NULL, err));
    must(dataset_weigh(dataset, CLV_LOSS_COUNTS, err));
    double sum = 0, pixels = 0;
    for (size_t i = 0; i < 3; i++)
        for (int32_t node = 0; node < clv_dataset_problem(dataset, i).n_nodes; node++)
            pixels += (double)clv_dataset_problem(dataset, i).area[node];
    for (size_t i = 0; i < 3; i++) {
        struct clv_problem p = clv_dataset_problem(dataset, i);
        for (int32_t node = 0; node < p.n_nodes; node++) {
            double own = (double)p.theta[2 * node] + (double)p.theta[2 * node + 1];
            ck_assert_double_eq_tol(own, 3 * (double)p.area[node] / pixels, 1e-6);
            sum += own;
        }
    }
    ck_assert_double_eq_tol(sum, 3, 1e-4);
}

TEST(the_first_bad_item_fails_the_extraction_by_name)
{
    OWNED(clv_set_release) struct clv_set set = synthetic(12);
    struct clv_recipe recipe = plain_recipe();
    struct clv_dataset *dataset = (struct clv_dataset *)1;
    uint8_t dot = 0;
    must(clv_png_write_labels(set.items[5].mask, 1, 1, &dot, NULL, 0, err));
    spill(set.items[9].image, "", 0);
    const char *part = formatted("%s: mask is 1x1, image is ", set.items[5].mask);
    for (int threads = 1; threads <= 4; threads += 3)
        must_fail(CLV_ERR_DATA, part, clv_dataset_extract(&dataset, &set, &recipe, threads, NULL, NULL, err));
    ck_assert_ptr_null(dataset);
    ck_assert_int_eq(unlink(set.items[2].image), 0);
    must_fail(CLV_ERR_NO_INPUT, path_name(set.items[2].image),
              clv_dataset_extract(&dataset, &set, &recipe, 4, NULL, NULL, err));
    recipe.slic.n_superpixels = 0;
    must_fail(CLV_ERR_USAGE, "n_superpixels is 0", clv_dataset_extract(&dataset, &set, &recipe, 1, NULL, NULL, err));
}

struct witness {
    size_t reports;
    volatile int stop;
};

static void stop_at_three(void *context, const char *what, size_t done, size_t total, const char *note)
{
    struct witness *witness = context;
    ck_assert_str_eq(what, "extracting features");
    ck_assert_uint_eq(total, 6);
    ck_assert_ptr_nonnull(note);
    ck_assert_uint_eq(done, ++witness->reports);
    if (done == 3)
        witness->stop = 1;
}

TEST(extraction_reports_and_stops_when_asked)
{
    OWNED(clv_set_release) struct clv_set set = synthetic(6);
    struct clv_recipe recipe = plain_recipe();
    struct clv_dataset *dataset;
    struct witness witness = {0};
    struct clv_progress progress = {stop_at_three, &witness, &witness.stop, NULL, NULL};
    must_fail(CLV_ERR_INTERRUPTED, "interrupted",
              clv_dataset_extract(&dataset, &set, &recipe, 1, NULL, &progress, err));
    ck_assert_uint_eq(witness.reports, 3);
}

/* Bytes of what a dataset keeps of an item. */
static double bytes_of(const struct clv_problem *p, int32_t n_labels)
{
    double n_nodes = p->n_nodes, n_entries = (double)(p->row[p->n_nodes] - p->row[0]);
    return n_nodes * (8 + 4 + 4 + 4.0 * n_labels) + 8 * n_entries + p->n_edges * (8 + 4.0 * p->n_edge_features);
}

static struct clv_recipe learned_recipe(const struct clv_set *set, int32_t nodes)
{
    struct clv_recipe recipe;
    const char *images[] = {set->items[0].image, set->items[1].image, set->items[2].image};
    clv_recipe_init(&recipe);
    if (nodes == CLV_NODES_PATCHES)
        clv_recipe_init_patches(&recipe);
    recipe.n_words = 100;
    recipe.n_codebook_samples = 1000;
    must(clv_recipe_learn(&recipe, images, 3, 1, 1, NULL, NULL, err));
    return recipe;
}

TEST(memory_for_features_is_known_beforehand)
{
    static const int32_t kinds[] = {CLV_NODES_SUPERPIXELS, CLV_NODES_PATCHES};
    OWNED(clv_set_release) struct clv_set set = synthetic(3);
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_read(&image, set.items[0].image, NULL, err));
    for (int k = 0; k < 2; k++)
        for (int32_t wanted = 20; wanted <= 320; wanted *= 4) {
            OWNED(clv_recipe_release) struct clv_recipe recipe = learned_recipe(&set, kinds[k]);
            OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
            recipe.slic.n_superpixels = wanted;
            must(clv_dataset_extract(&dataset, &set, &recipe, 1, NULL, NULL, err));
            for (size_t i = 0; i < 3; i++) {
                struct clv_problem problem = clv_dataset_problem(dataset, i);
                double reported = memory_of_image(&recipe, image.width, image.height, 2), taken = bytes_of(&problem, 2);
                ck_assert_msg(reported > 0.6 * taken && reported < 2 * taken, "nodes %d of %d: %g reported, %g taken",
                              kinds[k], wanted, reported, taken);
            }
        }
}

/* Twenty thousand images of a million superpixels are twelve thousand gigabytes. */
TEST(features_that_do_not_fit_into_memory_are_refused_before_any_is_made)
{
    enum { MANY = 20000 };
    const char *path = here("wide.png");
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_new(&image, 2000, 600, 3, err));
    must(clv_png_write(path, &image, err));
    OWNED(clv_set_release) struct clv_set set = synthetic(1);
    struct clv_set many = set;
    struct clv_item item = set.items[0];
    item.image = (char *)path;
    OWNED(clv_recipe_release) struct clv_recipe recipe = plain_recipe();
    struct clv_dataset *dataset;
    recipe.slic.n_superpixels = 1 << 20;
    recipe.working_pixels = 2000000;
    many.items = malloc(MANY * sizeof *many.items);
    many.n_items = MANY;
    for (size_t i = 0; i < MANY; i++)
        many.items[i] = item;
    must_fail(CLV_ERR_MEMORY, "the features of 20000 images may take ",
              dataset_check_memory(&many, &recipe, NULL, err));
    must_fail(CLV_ERR_MEMORY, "of memory, of which there are ",
              clv_dataset_extract(&dataset, &many, &recipe, 1, NULL, NULL, err));
    ck_assert_ptr_null(dataset);
    for (size_t i = 0; i < MANY; i++)
        many.items[i] = set.items[0]; /* as many small ones: a hundred and more times less */
    many.n_items = 100;
    must(dataset_check_memory(&many, &recipe, NULL, err));
    many.n_items = MANY;
    for (size_t i = 1; i < MANY; i++)
        many.items[i].image = "absent"; /* what cannot be read is left to who reads it */
    must(dataset_check_memory(&many, &recipe, NULL, err));
    recipe.working_pixels = 0;
    must_fail(CLV_ERR_USAGE, "working_pixels is 0", dataset_check_memory(&many, &recipe, NULL, err));
    free(many.items);
}

/* Bytes of mapped files that count as this process's. */
static size_t mapped_resident(void)
{
    char line[256];
    size_t kilobytes = 0;
    FILE *stream = fopen("/proc/self/status", "r");
    ck_assert_ptr_nonnull(stream);
    while (fgets(line, sizeof line, stream))
        sscanf(line, "RssFile: %zu", &kilobytes);
    fclose(stream);
    return kilobytes * 1024;
}

TEST(pages_of_a_large_file_are_given_back_after_a_while)
{
    enum { NODES = 40000, D = 100 };
    const size_t size = (size_t)NODES * D * sizeof(float);
    OWNED_ARRAY float *x = malloc(size);
    for (size_t i = 0; i < (size_t)NODES * D; i++)
        x[i] = (float)i;
    const int64_t offset[] = {0, NODES};
    const struct clv_tensor tensors[] = {{"node_offset", CLV_I64, 1, {2}, offset}, {"x", CLV_F32, 2, {NODES, D}, x}};
    const char *const metadata[][2] = {{"format", "cleave features 1"}, {"n_labels", "2"}, {"names", "large"}};
    const char *path = here("large.safetensors");
    must(clv_tensors_write(path, tensors, 2, metadata, 3, err));
    OWNED(dataset_drop) struct clv_dataset *file = NULL;
    must(clv_features_open(&file, NULL, path, err));
    struct clv_problem problem = clv_dataset_problem(file, 0);
    size_t before = mapped_resident();
    size_t accessed_bytes = size; /* opening it accessed as many */
    for (; accessed_bytes + size < MAX_ACCESSED_BYTES; accessed_bytes += size)
        dataset_notify_access(file, &problem);
    ck_assert_uint_ge(mapped_resident() + size / 8, before);
    dataset_notify_access(file, &problem);
    ck_assert_uint_le(mapped_resident() + size / 2, before);
    ck_assert_mem_eq(problem.value, x, size); /* and are there again when needed */
    ck_assert_uint_ge(mapped_resident() + size / 8, before);
}

static struct clv_problem problem_of(const struct clv_dataset *dataset, size_t item)
{
    return clv_dataset_problem(dataset, item);
}

/* Looks at an item as learners do, and at all of its values: feature k of the file is k. */
static void access_item(const struct clv_dataset *dataset, size_t item, size_t n_values)
{
    struct clv_problem problem = problem_of(dataset, item);
    dataset_notify_access(dataset, &problem);
    for (size_t k = 0; k < n_values; k++)
        ck_assert_float_eq(problem.value[k], (float)(item * n_values + k));
}

TEST(items_of_files_larger_than_memory_are_the_same_in_any_order)
{
    enum { ITEMS = 640, NODES = 64, D = 200, VALUES = NODES * D };
    const size_t size = (size_t)ITEMS * VALUES * sizeof(float); /* 32 MB, below 2^24 values */
    if (IS_SANITIZED) {
        skip("items_of_files_larger_than_memory_are_the_same_in_any_order",
             "a sanitizer takes address space of its own");
        return;
    }
    OWNED_ARRAY float *x = malloc(size);
    int64_t offset[ITEMS + 1];
    char names[ITEMS * 4 + 1] = "";
    int32_t order[ITEMS];
    for (size_t i = 0; i < size / sizeof *x; i++)
        x[i] = (float)i;
    for (int i = 0; i <= ITEMS; i++)
        offset[i] = (int64_t)i * NODES;
    for (int i = 0; i < ITEMS; i++)
        snprintf(names + strlen(names), 5, "%s%03d", i ? "\n" : "", i);
    const struct clv_tensor tensors[] = {{"node_offset", CLV_I64, 1, {ITEMS + 1}, offset},
                                         {"x", CLV_F32, 2, {(int64_t)ITEMS * NODES, D}, x}};
    const char *const metadata[][2] = {{"format", "cleave features 1"}, {"n_labels", "2"}, {"names", names}};
    const char *path = here("larger.safetensors");
    must(clv_tensors_write(path, tensors, 2, metadata, 3, err));
    OWNED(dataset_drop) struct clv_dataset *file = NULL;
    leave_memory((double)size * 1.5); /* half of its size, once it is mapped */
    must(clv_features_open(&file, NULL, path, err));
    for (size_t i = 0; i < ITEMS; i++)
        access_item(file, i, VALUES);
    for (uint32_t pass = 0; pass < 2; pass++) {
        rng_permutation(order, ITEMS, 1, RNG_STREAM(RNG_TEST, pass));
        for (size_t i = 0; i < ITEMS; i++) {
            for (size_t next = i; next < ITEMS && next < i + MAX_EXPECTED; next++) {
                struct clv_problem problem = problem_of(file, (size_t)order[next]);
                dataset_expects(file, &problem);
            }
            access_item(file, (size_t)order[i], VALUES);
        }
    }
    for (size_t i = 0; i < ITEMS; i++)
        access_item(file, i, VALUES);
}
