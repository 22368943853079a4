/* Trains the refinement of labels that a cut finds. First, for models of two stages or if the source wants it, a small
 * network is trained on some pixels of the training images to predict foreground. Then logistic regression on some
 * pixels fits the weights of the terms of a pixel's score. The network's term is that of a network that was not trained
 * on the image; the weight of a pixel is the increase of its image's loss if the pixel is wrong. Last, a search on
 * whole images finds the coupling. Start at refining_learn_scores. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cleave/score.h"
#include "learn/refining/refining.h"
#include "pixel_net/pixel_net.h"
#include "refine/by_model/by_model.h"

#define FIT_IMAGES      200
#define FIT_PIXELS      2000 /* of an image */
#define RIDGE           2e-4
#define TRIED_IMAGES    48
#define BYTES_PER_PIXEL 10
#define LEAST_SHARE     1e-3 /* the least fraction of an image that a label counts as */

/* Pixels of an image as rows of the regression. */
struct rows {
    float *terms;    /* [FIT_PIXELS][n_terms] */
    uint8_t *is_one; /* [FIT_PIXELS] */
    double *weight;
    size_t n;
    double share, iou; /* fraction of foreground; IoU of the painted labels, NaN without foreground */
};

/* One image, prepared for many cuts. */
struct sample {
    struct clv_image image;
    struct clv_mask truth;
    uint8_t *painted, *refined; /* [n] */
    float *score;               /* [n] */
    size_t n;
    double loss;
};

struct scores_state {
    const struct clv_model *model;
    const struct refining_source *source;
    int32_t n_terms;
    struct logistic_data data; /* the rows of all images, one after the other */
    struct rows *rows;         /* [n_rows] parts of `data`, borrowed */
    struct refining_nets nets;
    size_t n_rows, row_stride, n_samples, sample_stride, n_done;
    struct sample *samples;
    struct refinement tried;
};

/* The pixels of an image that are rows. */
struct picked {
    struct rows *rows;
    int32_t n_terms;
    size_t at[FIT_PIXELS];
};

static void pick(struct picked *picked, const struct labelled_image *labelled, size_t p)
{
    struct rows *rows = picked->rows;
    rows->is_one[rows->n] = labelled->truth.labels[p] == 1;
    picked->at[rows->n++] = p;
}

/* Picks the pixels that are not void, at equal distances if there are more than FIT_PIXELS. */
static void pick_known(struct picked *picked, const struct labelled_image *labelled)
{
    size_t n_known = 0, k = 0;
    for (size_t p = 0; p < labelled->n; p++)
        n_known += labelled->truth.labels[p] != CLV_VOID;
    size_t stride = n_known / FIT_PIXELS + 1;
    for (size_t p = 0; p < labelled->n; p++)
        if (labelled->truth.labels[p] != CLV_VOID && k++ % stride == 0)
            pick(picked, labelled, p);
}

/* Picks the pixels at multiples of the golden ratio that are not void. If all of these are void, as in a mask of a few
 * points, picks among the others. */
static void pick_pixels(struct picked *picked, const struct labelled_image *labelled)
{
    const double golden = 0.61803398874989485;
    picked->rows->n = 0;
    for (size_t k = 0; k < FIT_PIXELS; k++) {
        double at = ((double)k + 0.5) * golden;
        size_t p = (size_t)((at - floor(at)) * (double)labelled->n);
        p = p < labelled->n ? p : labelled->n - 1;
        if (labelled->truth.labels[p] != CLV_VOID)
            pick(picked, labelled, p);
    }
    if (!picked->rows->n)
        pick_known(picked, labelled);
}

static void take_term(void *context, int32_t term, const float *plane)
{
    struct picked *picked = context;
    for (size_t k = 0; k < picked->rows->n; k++)
        picked->rows->terms[k * (size_t)picked->n_terms + (size_t)term] = plane[picked->at[k]];
}

static enum clv_status measure(struct rows *rows, const struct labelled_image *labelled, struct clv_error *err)
{
    struct clv_confusion confusion;
    size_t n[2] = {0, 0};
    MUST(clv_confusion_init(&confusion, 2, err));
    clv_confusion_add(&confusion, labelled->truth.labels, labelled->painted, labelled->n);
    rows->iou = clv_confusion_iou(&confusion, 1);
    clv_confusion_release(&confusion);
    for (size_t p = 0; p < labelled->n; p++)
        if (labelled->truth.labels[p] <= 1)
            n[labelled->truth.labels[p]]++;
    rows->share = n[0] + n[1] ? (double)n[1] / (double)(n[0] + n[1]) : 0;
    return CLV_OK;
}

static enum clv_status gather(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct scores_state *self = context;
    OWNED(labelled_image_release) struct labelled_image labelled = {0};
    OWNED_ARRAY struct picked *picked = array_alloc(1, sizeof *picked);
    NEED(picked);
    picked->rows = &self->rows[index];
    picked->n_terms = self->n_terms;
    MUST(labelled_image_init(&labelled, self->model, self->source, &self->source->examples[index * self->row_stride],
                             err));
    struct segmented view = labelled_image_view(&labelled);
    view.net = refining_nets_other(&self->nets, index * self->row_stride);
    pick_pixels(picked, &labelled);
    MUST(measure(picked->rows, &labelled, err));
    MUST(all_pixel_terms(&view, true, take_term, picked, err));
    parallel_progress(self->source->progress, "learning to refine", &self->n_done, self->n_rows + self->n_samples,
                      NULL);
    return CLV_OK;
}

/* Sets the weights of rows to the loss of a wrong pixel, times the number of pixels. Each label has half of the
 * weighted Hamming error, or all of it if the other is missing. A missed pixel lowers the IoU by 1 / union, a false one
 * by IoU / union. The true foreground is taken as the union. */
static void weigh_rows(struct rows *rows, double iou, double iou_weight)
{
    double share = fmin(fmax(rows->share, LEAST_SHARE), 1 - LEAST_SHARE);
    bool is_alone = !(rows->share > 0 && rows->share < 1);
    double error = is_alone ? 1 : 0.5, overlap = rows->share > 0 ? iou_weight : 0;
    double missed = (error + overlap) / share, taken = error / (1 - share) + overlap * iou / share;
    for (size_t k = 0; k < rows->n; k++)
        rows->weight[k] = rows->is_one[k] ? missed : taken;
}

/* Moves the rows of all images so that they are contiguous. */
static void join_rows(struct scores_state *self)
{
    struct logistic_data *data = &self->data;
    struct rows all = self->rows[0];
    data->n = 0;
    for (size_t i = 0; i < self->n_rows; i++) {
        const struct rows *rows = &self->rows[i];
        size_t k = (size_t)self->n_terms;
        memmove(all.terms + data->n * k, rows->terms, rows->n * k * sizeof *all.terms);
        memmove(all.is_one + data->n, rows->is_one, rows->n);
        memmove(all.weight + data->n, rows->weight, rows->n * sizeof *all.weight);
        data->n += rows->n;
    }
    data->rows = all.terms;
    data->is_one = all.is_one;
    data->weight = all.weight;
}

static enum clv_status fit_terms(struct scores_state *self, struct clv_error *err)
{
    double w[MOST_TERMS], iou = 0;
    size_t n_ious = 0;
    static const bool is_positive[MOST_TERMS] = {
        [TERM_NODES] = true, [TERM_COLOURS] = true, [TERM_NEARBY] = true, [TERM_NET] = true};
    for (size_t i = 0; i < self->n_rows; i++)
        if (!isnan(self->rows[i].iou)) {
            iou += self->rows[i].iou;
            n_ious++;
        }
    for (size_t i = 0; i < self->n_rows; i++)
        weigh_rows(&self->rows[i], n_ious ? iou / (double)n_ious : 1, self->source->iou_weight);
    join_rows(self);
    struct refinement *tried = &self->tried;
    MUST(logistic_fit(w, &tried->bias, &self->data, is_positive, RIDGE, err));
    tried->options.prior = w[TERM_NODES];
    tried->options.overall = w[TERM_COLOURS];
    tried->options.nearby = w[TERM_NEARBY];
    tried->options.balance = 0;
    tried->net_weight = w[TERM_NET];
    memcpy(tried->maps, w + TERM_MAPS, (size_t)self->model->recipe.n_maps * sizeof *tried->maps);
    return CLV_OK;
}

static enum clv_status fit_all(struct scores_state *self, struct clv_error *err)
{
    size_t n = self->n_rows, k = (size_t)self->n_terms;
    OWNED_ARRAY float *terms = array_zalloc(n, FIT_PIXELS * k * sizeof *terms); /* zeros without a network */
    OWNED_ARRAY uint8_t *is_one = array_alloc(n, FIT_PIXELS);
    OWNED_ARRAY double *weight = array_alloc(n, FIT_PIXELS * sizeof *weight);
    NEED(terms && is_one && weight);
    for (size_t i = 0; i < n; i++)
        self->rows[i] = (struct rows){
            .terms = terms + i * FIT_PIXELS * k, .is_one = is_one + i * FIT_PIXELS, .weight = weight + i * FIT_PIXELS};
    MUST(parallel_for(n, self->source->n_threads, gather, self, err));
    return fit_terms(self, err);
}

static void sample_release(struct sample *sample)
{
    clv_image_release(&sample->image);
    clv_mask_release(&sample->truth);
    arrays_free(sample->painted, sample->refined, sample->score);
}

static enum clv_status prepare(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct scores_state *self = context;
    struct sample *sample = &self->samples[index];
    OWNED(labelled_image_release) struct labelled_image labelled = {0};
    MUST(labelled_image_init(&labelled, self->model, self->source, &self->source->examples[index * self->sample_stride],
                             err));
    struct segmented view = labelled_image_view(&labelled);
    view.net = refining_nets_other(&self->nets, index * self->sample_stride);
    sample->n = labelled.n;
    sample->refined = array_alloc(labelled.n, 1);
    sample->score = array_alloc(labelled.n, sizeof *sample->score);
    NEED(sample->refined && sample->score);
    MUST(pixel_scores(sample->score, &view, &self->tried, err));
    sample->image = TAKE(labelled.image);
    sample->truth = TAKE(labelled.truth);
    sample->painted = TAKE(labelled.painted);
    parallel_progress(self->source->progress, "learning to refine", &self->n_done, self->n_rows + self->n_samples,
                      NULL);
    return CLV_OK;
}

static enum clv_status try_one(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct scores_state *self = context;
    struct sample *sample = &self->samples[index];
    if (stop_requested(self->source->progress))
        return fail(err, CLV_ERR_INTERRUPTED, "interrupted");
    memcpy(sample->refined, sample->painted, sample->n);
    MUST(pixel_scores_refine(sample->refined, sample->score, &sample->image, &self->tried, err));
    return labelled_loss(&sample->loss, &sample->truth, sample->refined, 2, self->source->iou_weight, err);
}

/* Sets the coupling to that of the least mean loss, the smallest at ties. The bias keeps its fitted value: choosing it
 * together with the coupling did not improve held-out images. */
static enum clv_status search_coupling(struct scores_state *self, struct clv_error *err)
{
    static const double couplings[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, 8};
    double least = INFINITY, best = 0;
    for (size_t k = 0; k < sizeof couplings / sizeof *couplings; k++) {
        double loss = 0;
        self->tried.options.coupling = couplings[k];
        MUST(parallel_for(self->n_samples, self->source->n_threads, try_one, self, err));
        for (size_t i = 0; i < self->n_samples; i++)
            loss += self->samples[i].loss / (double)self->n_samples;
        if (loss < least - 1e-9) {
            least = loss;
            best = couplings[k];
        }
    }
    self->tried.options.coupling = best;
    return CLV_OK;
}

static void scores_state_release(struct scores_state *self)
{
    refining_nets_release(&self->nets);
    for (size_t i = 0; self->samples && i < self->n_samples; i++)
        sample_release(&self->samples[i]);
    arrays_free(self->samples, self->rows);
}

enum clv_status refining_learn_scores(struct refinement *refining, const struct clv_model *model,
                                      const struct refining_source *source, struct clv_error *err)
{
    OWNED(scores_state_release) struct scores_state self = {.model = model, .source = source, .tried = *refining};
    self.n_terms = TERM_MAPS + TERMS_A_MAP * model->recipe.n_maps;
    self.data.n_columns = self.n_terms;
    self.n_rows = source->n_examples < FIT_IMAGES ? source->n_examples : FIT_IMAGES;
    self.row_stride = source->n_examples / self.n_rows;
    MUST(labelled_image_count(&self.n_samples, source, BYTES_PER_PIXEL, TRIED_IMAGES, err));
    self.sample_stride = source->n_examples / self.n_samples;
    self.rows = array_zalloc(self.n_rows, sizeof *self.rows);
    self.samples = array_zalloc(self.n_samples, sizeof *self.samples);
    NEED(self.rows && self.samples);
    if (model->first || source->wants_net)
        MUST(refining_nets_learn(&self.nets, model, source, self.n_rows, self.row_stride, err));
    MUST(fit_all(&self, err));
    MUST(parallel_for(self.n_samples, source->n_threads, prepare, &self, err));
    MUST(search_coupling(&self, err));
    *refining = self.tried;
    if (refining_nets_other(&self.nets, 0))
        refining->net = TAKE(self.nets.nets[NET_ALL]);
    return CLV_OK;
}
