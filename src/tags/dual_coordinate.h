/* Dual coordinate descent for hinge problems (Hsieh et al., ICML 2008), one per tag i of a block:
 *
 *     min  1/2 sum_i (|w_i|^2 + b_i^2 / bias^2) + eta/2 sum_couplings v^2 + C sum_il [1 - y_il z_il]_+
 *     z_il = <w_i, x_l> + b_i + <v_i, phi_il>
 *
 * In the dual, each example l of tag i has an alpha_il in [0, C]; w_i = sum_l alpha_il y_il x_l, and by stationarity of
 * the Lagrangian v_i = sum_l alpha_il y_il phi_il / eta. Inputs are sparse rows, or a Gram matrix K of a kernel: then
 * <w_i, x_l> = sum_m alpha_im y_im K_lm.
 *
 * A block of one tag is an ordinary SVM with additional features (binary classifiers, LMSBN). In a block of several
 * tags the couplings are shared: v_i is row i of a symmetric matrix, phi_il are all tags of example l, and each
 * coupling sums the contributions of both its tags (LMBM, Miao & Rao, Algorithm 1). */
#ifndef TAGS_DUAL_COORDINATE_H
#define TAGS_DUAL_COORDINATE_H

#include <stdbool.h>

#include "cleave/status.h"

/* The inputs, shared by all tags. */
struct hinge_inputs {
    size_t n;
    const int64_t *row; /* [n + 1]; row, index and value are sparse rows; NULL if there is only a Gram matrix */
    const int32_t *index;
    const double *value;
    int32_t n_features;
    const double *gram; /* [n][n], symmetric; if there are also rows, their products */
    double bias;        /* value of the constant feature; 0: none */
    double *norm;       /* [n] <x_l, x_l> + bias^2 */
};
/* Computes norm. hinge_inputs_release frees only norm. */
enum clv_status hinge_inputs_init(struct hinge_inputs *inputs, struct clv_error *err) CLV_CHECK;
void hinge_inputs_release(struct hinge_inputs *inputs);

struct hinge_tag {
    int32_t number;    /* keys the random order of visits */
    const int8_t *y;   /* [n] 1 or -1 */
    const double *phi; /* [n][stride], of which the first n_phi are used */
    size_t n_phi, stride;
    double *v;     /* [n_phi] result */
    double *alpha; /* [n] result */
    double *w;     /* [n_features] result; NULL with a kernel */
    double b;      /* result */
};

struct hinge_block {
    const struct hinge_inputs *inputs;
    struct hinge_tag *tags;
    size_t n_tags;
    bool is_shared; /* v of tag i is row i of one [n_tags][n_tags] matrix; phi is [n][n_tags] for all */
    double c, eta;  /* C, and the weight of the couplings' squares */
};

struct hinge_options {
    double tolerance;   /* stop at a duality gap of tolerance x C n, that is tolerance per example */
    int32_t max_passes; /* over a tag's examples */
    double warm;        /* start from the given alphas times this factor, at most C; 0: start from zero */
    uint64_t seed;
    const struct clv_progress *progress; /* only used to request a stop; may be NULL */
};

struct hinge_result {
    double primal, dual; /* values of the objective above; their difference is the duality gap */
    int32_t n_passes;
    bool is_converged;
};

/* Solves a block, with random order and shrinking, on the calling thread. A request to stop returns the current
 * solution. */
enum clv_status hinge_solve(struct hinge_result *result, struct hinge_block *block, const struct hinge_options *options,
                            struct clv_error *err) CLV_CHECK;

/* Computes w from the alphas, for a tag that was solved by the Gram matrix of sparse rows. */
void hinge_weigh(const struct hinge_tag *tag, const struct hinge_inputs *inputs);

#endif
