/* How far to go along a direction: a step that fulfils the strong Wolfe conditions (Nocedal & Wright, Numerical
 * optimization, second edition 2006, Algorithms 3.5 and 3.6). */
#ifndef LEARN_LINE_SEARCH_H
#define LEARN_LINE_SEARCH_H

#include <stdbool.h>

#include "cleave/status.h"

/* A function along a line. */
struct line_point {
    double step, value, slope; /* value may be infinite or NaN: too far */
};

struct line {
    enum clv_status (*evaluate)(struct line_point *point, void *context, struct clv_error *err); /* at point->step */
    void *context;
};

#define LINE_TRIALS 40 /* at most */

/* Whether steps below `step` change a value of which the first slope promises less than rounding errors. */
bool line_is_lost(const struct line_point *start, double step);

/* Whether a value is below the start's, and by 1e-4 of what a slope promised (< 0) at least. */
bool line_lies_low(double value, const struct line_point *start, double promise);

/* *found = a step whose value is low in that sense and whose slope is at most 0.9 of the start's, or after 40 trials
 * the lowest that has the first; its step is 0 if there is none, else it is what was evaluated last. start->step is 0;
 * `step` > 0 is tried first. *n_tried evaluations. */
enum clv_status line_search(struct line_point *found, int *n_tried, const struct line *line,
                            const struct line_point *start, double step, struct clv_error *err) CLV_CHECK;

#endif
