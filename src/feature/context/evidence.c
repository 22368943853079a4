#include "feature/context/context.h"

#include <math.h>

#include "base/base.h"

enum { N_OWN = 3 };

static const double LEAST = 1e-4;    /* of probabilities, so that log-odds are finite */
static const double SCALE = 1 / 3.0; /* of log-odds, so that rows' numbers are about as large as 1 */

void evidence_measure(double *evidence, const double *marginals, int32_t n_nodes, int32_t n_labels)
{
    size_t k = (size_t)n_labels, n = n_nodes > 0 ? (size_t)n_nodes : 0;
    for (size_t l = 0; l < k; l++) {
        double sum = 0, most = 0;
        for (size_t i = 0; i < n; i++) {
            sum += marginals[i * k + l];
            most = fmax(most, marginals[i * k + l]);
        }
        evidence[l] = n ? sum / (double)n : 0;
        evidence[k + l] = most;
    }
}

int32_t evidence_size(int32_t n_labels)
{
    return N_OWN + n_labels;
}

static double log_odds(double p)
{
    p = fmin(fmax(p, LEAST), 1 - LEAST);
    return SCALE * portable_log(p / (1 - p));
}

void evidence_row(double *row, const double *evidence, int32_t n_labels, int32_t label)
{
    row[0] = 1;
    row[1] = log_odds(evidence[label]);
    row[2] = log_odds(evidence[n_labels + label]);
    for (int32_t l = 0; l < n_labels; l++)
        row[N_OWN + l] = sqrt(evidence[l]);
}
