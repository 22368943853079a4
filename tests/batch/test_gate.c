/* The memory that images are estimated to take, and how they wait for it. */
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "batch/gate.h"
#include "feature/recipe/recipe.h"
#include "model/context.h"
#include "refine/refine.h"
#include "support/support.h"

enum { W = 400, H = 300, N = W * H };

TEST(without_a_model_an_image_takes_its_cut_or_its_files_or_its_decoding)
{
    const struct {
        struct memory_work work;
        double of_pixel;
    } rows[] = {
        {{.is_given = true}, 15}, /* decoding takes more than the picture and its labels */
        {{.is_given = false}, 4 + 64},
        {{.is_given = true, .has_overlay = true, .has_report = true}, 4 + 4 + 8},
        {{.is_given = true, .has_cutout = true, .has_export = true}, 4 + 10 + 12},
        {{.is_given = true, .has_overlay = true, .has_report = true, .has_cutout = true, .has_export = true}, 4 + 34},
        {{.is_given = true, .has_export = true, .has_specks = true}, 4 + 45}, /* specks are merged before */
        {{.is_given = false, .has_export = true, .has_specks = true}, 4 + 64},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        ck_assert_msg(memory_of_work(&rows[k].work, W, H, 0) == rows[k].of_pixel * N, "row %zu: %g a pixel", k,
                      memory_of_work(&rows[k].work, W, H, 0) / N);
    ck_assert_double_eq(memory_of_work(&(struct memory_work){.is_given = true}, W, H, 1e9), 15. * N + 1e9);
}

/* A model of superpixels whose graph is small beside its features, or the other way around. */
static struct clv_model model_of(int32_t n_labels, int32_t n_superpixels, enum clv_pairwise pairwise)
{
    struct clv_model model = {.layout = {.n_labels = n_labels, .pairwise = pairwise}, .has_recipe = true};
    clv_recipe_init(&model.recipe);
    model.recipe.slic.n_superpixels = n_superpixels;
    model.recipe.blocks = CLV_BLOCK_SIZE;
    return model;
}

/* The graph of n nodes: per node, per label of it, per edge, per label of an edge, and per pair of labels. */
static double graph_of(double n, double k, bool is_full)
{
    return n * (200 + 48 * k) + 3 * n * (160 + 32 * k + (is_full ? 16 * k * k : 0));
}

TEST(with_a_model_an_image_takes_its_features_or_its_graph)
{
    static const struct {
        int32_t n_labels, n_superpixels;
        enum clv_pairwise pairwise;
        bool is_graph; /* takes more */
    } rows[] = {{2, 600, CLV_PAIRWISE_POTTS, false},
                {21, 50000, CLV_PAIRWISE_POTTS, true},
                {21, 50000, CLV_PAIRWISE_FULL, true},
                {21, 600, CLV_PAIRWISE_FULL, true}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const struct clv_model model = model_of(rows[r].n_labels, rows[r].n_superpixels, rows[r].pairwise);
        const struct memory_work work = {.model = &model, .map_bytes = 12345};
        const double features = memory_of_features(&model.recipe, W, H, rows[r].n_labels);
        const double graph = memory_of_example(&model.recipe, W, H, rows[r].n_labels) +
                             graph_of(rows[r].n_superpixels, rows[r].n_labels, rows[r].pairwise == CLV_PAIRWISE_FULL);
        ck_assert_msg((graph > features) == rows[r].is_graph, "row %zu: %g, %g", r, graph, features);
        ck_assert_double_eq_tol(memory_of_work(&work, W, H, 0), fmax(15. * N, 4. * N + 12345 + fmax(graph, features)),
                                1e-3);
    }
}

TEST(a_second_stage_and_a_window_of_slices_count_in_the_graph)
{
    struct clv_model model = model_of(3, 20000, CLV_PAIRWISE_POTTS);
    struct clv_stage first = {.layout = model.layout};
    model.first = &first;
    for (int32_t window = 1; window < 6; window += 4) {
        model.recipe.window = window > 1 ? window : 0;
        const double example = memory_of_example(&model.recipe, W, H, 3),
                     image = memory_of_image(&model.recipe, W, H, 0);
        const double graph = graph_of(20000, 3, false) + 3 * (20000. * 8 * context_size(3) + image);
        ck_assert_double_eq_tol(memory_of_work(&(struct memory_work){.model = &model}, W, H, 0),
                                4. * N + window * (example + graph), 1e-3);
    }
}

TEST(refining_counts_with_its_windows_colours_maps_and_network)
{
    for (int32_t n_labels = 2; n_labels < 4; n_labels++)
        for (int has_net = 0; has_net < 2; has_net++)
            for (int n_maps = 0; n_maps < 2; n_maps++) {
                struct clv_model model = model_of(n_labels, 100, CLV_PAIRWISE_POTTS);
                model.recipe.n_maps = n_maps;
                const struct memory_work work = {.model = &model, .is_refined = true, .has_net = has_net};
                const double colours = (double)near_colours_count(W, H) * 4 * (3 + (n_labels > 2 ? n_labels : 0));
                double refining = 5. * N + 84. * (double)pixel_cut_window(W, H, PIXEL_CUT_WHOLE) + colours;
                if (has_net || n_maps)
                    refining += 4. * N * n_labels * (2 + n_maps);
                if (has_net)
                    refining += (240. + 12 * n_labels) * 80000; /* the working size */
                ck_assert_double_eq_tol(memory_of_work(&work, W, H, 0),
                                        4. * N + memory_of_example(&model.recipe, W, H, n_labels) + refining, 1e-3);
            }
}

/* Threads that enter in the wrong order and take their share of the memory. */
struct entrant {
    struct memory_gate *gate;
    size_t index;
    double bytes;
    int *order, *n_entered; /* [4] who has entered */
    pthread_mutex_t *lock;
    enum clv_status status;
    char message[CLV_ERROR_MESSAGE_MAX];
};

static void *enter(void *context)
{
    struct entrant *self = context;
    struct clv_error error = {0};
    self->status = memory_gate_enter(self->gate, self->index, self->bytes, &error);
    snprintf(self->message, sizeof self->message, "%s", error.message);
    pthread_mutex_lock(self->lock);
    self->order[(*self->n_entered)++] = (int)self->index;
    pthread_mutex_unlock(self->lock);
    return NULL;
}

static int entered(const struct entrant *one)
{
    usleep(30000);
    pthread_mutex_lock(one->lock);
    int n = *one->n_entered;
    pthread_mutex_unlock(one->lock);
    return n;
}

TEST(images_enter_in_their_order_while_their_memory_fits)
{
    struct memory_gate gate;
    struct entrant entrants[5];
    pthread_t threads[5];
    int order[5], n_entered = 0;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const double bytes[5] = {40e6, 40e6, 30e6, 101e6, 0}; /* beside 16 MB of the process */
    memory_gate_init(&gate, 116e6);
    for (size_t i = 0; i < 5; i++)
        entrants[i] = (struct entrant){&gate, i, bytes[i], order, &n_entered, &lock, CLV_OK, ""};
    for (int i = 4; i > 0; i--)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, enter, &entrants[i]), 0);
    ck_assert_int_eq(entered(entrants), 0); /* all wait for the first */
    ck_assert_int_eq(pthread_create(&threads[0], NULL, enter, &entrants[0]), 0);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    ck_assert_int_eq(entered(entrants), 2); /* the third has no room */
    memory_gate_leave(&gate, 40e6);
    for (int i = 2; i < 5; i++)
        pthread_join(threads[i], NULL);
    ck_assert(order[0] + order[1] == 1 && n_entered == 5); /* who has passed may be late to say so */
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(entrants[i].status,
                         i == 3 ? CLV_ERR_MEMORY : CLV_OK); /* which never fits, and takes nothing */
    must_say(entrants[3].message, "--memory allows more");
    ck_assert_double_eq_tol(gate.used, 16e6 + 70e6, 1);
    memory_gate_release(&gate);
}

TEST(what_just_fits_enters_and_without_a_limit_half_of_the_free_memory_is_there)
{
    struct memory_gate gate;
    memory_gate_init(&gate, 116e6);
    must(memory_gate_enter(&gate, 0, 60e6, err));
    must(memory_gate_enter(&gate, 1, 40e6, err));
    memory_gate_leave(&gate, 60e6);
    memory_gate_leave(&gate, 40e6);
    must(memory_gate_enter(&gate, 2, 100e6, err));
    ck_assert_double_eq_tol(gate.used, 116e6, 1);
    memory_gate_release(&gate);
    memory_gate_init(&gate, 0);
    ck_assert(gate.limit > 0 && isfinite(gate.limit));
    memory_gate_release(&gate);
}
