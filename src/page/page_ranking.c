/* Ranks the images of the folder for labelling by the error that the model expects in each. A separate thread processes
 * one image after the other. Start at page_ranking_start. */
#include "page/page.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/base.h"
#include "infer/infer.h"

#define N_SAMPLES 20
#define SEED      1

struct page_ranking {
    const struct clv_set *set;
    pthread_mutex_t lock;
    double *error; /* [n_items], under the lock */
    struct clv_model model;
    pthread_t thread;
    bool is_running;
    atomic_bool is_stopped;
};

struct page_ranking *page_ranking_new(const struct clv_set *set)
{
    struct page_ranking *ranking = array_zalloc(1, sizeof *ranking);
    if (!ranking || !(ranking->error = array_alloc(set->n_items, sizeof *ranking->error))) {
        array_free(ranking);
        return NULL;
    }
    ranking->set = set;
    pthread_mutex_init(&ranking->lock, NULL);
    for (size_t i = 0; i < set->n_items; i++)
        ranking->error[i] = -1;
    return ranking;
}

static void stop(struct page_ranking *ranking)
{
    ranking->is_stopped = true;
    if (ranking->is_running)
        pthread_join(ranking->thread, NULL);
    ranking->is_running = false;
    clv_model_release(&ranking->model);
}

void page_ranking_free(struct page_ranking *ranking)
{
    if (!ranking)
        return;
    stop(ranking);
    pthread_mutex_destroy(&ranking->lock);
    arrays_free(ranking->error, ranking);
}

/* Computes the expected fraction of an image's pixels whose most probable label is wrong, from the marginals. */
static enum clv_status expected_error(double *error, const struct clv_model *model, const struct clv_item *item,
                                      struct clv_error *err)
{
    OWNED(page_view_release) struct page_view view = {0};
    OWNED(clv_example_release) struct clv_example example = {0};
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    double wrong = 0, all = 0;
    size_t n_labels = (size_t)model->layout.n_labels;
    MUST(page_view_open(&view, NULL, item, model, NULL, err));
    MUST(clv_example_extract_maps(&example, view.image, view.maps, &model->recipe, err));
    MUST(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    OWNED_ARRAY double *marginals = array_alloc((size_t)example.problem.n_nodes, n_labels * sizeof *marginals);
    NEED(marginals);
    MUST(clv_model_marginals(marginals, NULL, NULL, model, &example.problem, oracle, SEED, N_SAMPLES, err));
    for (size_t i = 0; i < (size_t)example.problem.n_nodes; i++) {
        double best = 0;
        for (size_t y = 0; y < n_labels; y++)
            best = marginals[i * n_labels + y] > best ? marginals[i * n_labels + y] : best;
        wrong += (double)example.area[i] * (1 - best);
        all += (double)example.area[i];
    }
    *error = all > 0 ? wrong / all : 0;
    return CLV_OK;
}

static void *run(void *context)
{
    struct page_ranking *ranking = context;
    for (size_t i = 0; i < ranking->set->n_items && !ranking->is_stopped; i++) {
        struct clv_error error;
        double expected = -1;
        if (expected_error(&expected, &ranking->model, &ranking->set->items[i], &error) != CLV_OK)
            expected = -1; /* a damaged image: opening it reports the error */
        pthread_mutex_lock(&ranking->lock);
        ranking->error[i] = expected;
        pthread_mutex_unlock(&ranking->lock);
    }
    return NULL;
}

enum clv_status page_ranking_start(struct page_ranking *ranking, const char *model, struct clv_error *err)
{
    stop(ranking);
    MUST(clv_model_read(&ranking->model, model, err));
    if (!ranking->model.has_recipe)
        return CLV_OK;
    ranking->is_stopped = false;
    ranking->is_running = pthread_create(&ranking->thread, NULL, run, ranking) == 0;
    FAIL_IF(!ranking->is_running, CLV_ERR_OS, "cannot start a thread");
    return CLV_OK;
}

double page_ranking_expected_error(struct page_ranking *ranking, size_t item)
{
    pthread_mutex_lock(&ranking->lock);
    double error = ranking->error[item];
    pthread_mutex_unlock(&ranking->lock);
    return error;
}
