/* Batch subgradient descent for objectives with hidden nodes whose terms are expectations of the joint feature: what
 * the baselines m3e and modlat share.
 *
 *     1/2 |w|^2 + C sum_i hinge_i(w),   gradient of hinge_i = sum over labels of free(.) Psi - clamped(.) Psi
 *
 * with a weight free[node][label], and clamped likewise, for every label of a node; a pair of labels weighs the product
 * of its ends' weights. Graphs are chains of visible and hidden nodes in turn, and trees like them. */
#ifndef LEARN_LATENT_LATENT_H
#define LEARN_LATENT_LATENT_H

#include "base/base.h"
#include "cleave/learn.h"
#include "learn/common/common.h"

struct latent {
    struct arena arena; /* of the arrays below */
    struct examples examples;
    size_t size;            /* weights */
    size_t *first;          /* [n + 1] nodes before those of an example */
    uint8_t *is_visible;    /* [all nodes] */
    double *free, *clamped; /* [all nodes][n_labels] */
    double *hinge;          /* [n] */
    double *gradient;       /* [size] */
    double c;               /* C */
    void *context;          /* of latent_terms */
};

/* CLV_ERR_USAGE, naming the example, where hidden nodes are joined. */
enum clv_status latent_open(struct latent *self, const struct clv_training *training, double c, void *context,
                            struct clv_error *err) CLV_CHECK;
void latent_release(struct latent *self); /* also after a failure, and of zeros */

/* Fills hinge, free and clamped of one example at w, on any thread. */
typedef enum clv_status latent_terms(void *context, struct latent *self, size_t example, int thread, const double *w,
                                     struct clv_error *err);

/* w <- (1 - rate) w - rate C sum_i gradient of hinge_i; *objective is that of the w before. CLV_ERR_INTERRUPTED when
 * asked to stop, with w as it was. The same bytes at any thread count. */
enum clv_status latent_step(double *objective, struct latent *self, double *w, double rate, latent_terms *terms,
                            struct clv_error *err) CLV_CHECK;

/* w[size] = the training's init, or normal variables of this deviation: at 0 the states of hidden nodes would stay
 * alike for ever. */
void latent_init(double *w, const struct latent *self, double deviation);

/* Two baselines with latent variables, for chains of visible and hidden nodes in turn and trees like them: max-margin
 * min-entropy models (m3e.c) and ModLat (modlat.c). They stand apart: both descend by latent.c, and nothing else uses
 * that. The learners with hidden variables for any graph are those of learn/hidden. */

extern const struct clv_learner m3e_learner;
extern const struct clv_learner modlat_learner;

#endif
