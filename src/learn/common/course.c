/* The course of a training: what the loops of all learners have in common, so that a learner's file has only its steps
 * and its evaluations. Start at course_goes_on. */
#include "learn/common/common.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"

enum { POSITION_BEGUN, POSITION_PASS, POSITION_TAKEN, N_POSITION };

void course_open(struct course *self, const struct clv_learner *learner, struct clv_training_result *result,
                 const struct examples *examples)
{
    *self = (struct course){.training = examples->training, .result = result, .examples = examples, .batch = 1};
    checkpoints_open(&self->checkpoints, learner, examples->training, examples->node_scale);
}

void course_holds(struct course *self, struct state_field field)
{
    if (field.values)
        self->fields[self->n_fields++] = field;
}

static struct state_field position_field(int64_t position[N_POSITION])
{
    return (struct state_field){"place", CLV_I64, N_POSITION, position, STATE_FINITE};
}

static enum clv_status save_fields(struct course *self, struct clv_error *err)
{
    int64_t position[N_POSITION] = {[POSITION_BEGUN] = self->is_begun,
                                    [POSITION_PASS] = (int64_t)self->pass,
                                    [POSITION_TAKEN] = (int64_t)self->n_taken};
    self->fields[self->n_fields] = position_field(position);
    return state_write(&self->checkpoints, self->fields, self->n_fields + 1, self->result, err);
}

static enum clv_status save(struct course *self, struct clv_error *err)
{
    return self->save ? self->save(self->owner, err) : save_fields(self, err);
}

enum clv_status course_resume(struct course *self, struct clv_error *err)
{
    OWNED(tensors_drop) struct clv_tensors *tensors = NULL;
    int64_t position[N_POSITION] = {0};
    const struct state_field field = position_field(position);
    MUST(checkpoint_read(&tensors, &self->checkpoints, err));
    if (!tensors)
        return CLV_OK;
    MUST(state_read(&field, 1, tensors, &self->checkpoints, err));
    if (!state_lies_within(position[POSITION_BEGUN], 1) ||
        !state_lies_within(position[POSITION_PASS], self->n_passes) ||
        !state_lies_within(position[POSITION_TAKEN], self->examples->n))
        return state_refuse(&self->checkpoints, "at a pass or an example that there is not", err);
    if ((size_t)position[POSITION_TAKEN] % self->batch && (size_t)position[POSITION_TAKEN] != self->examples->n)
        return state_refuse(&self->checkpoints, "within a step", err);
    if (!position[POSITION_BEGUN])
        return CLV_OK;
    MUST(state_read(self->fields, self->n_fields, tensors, &self->checkpoints, err));
    MUST(state_read_curve(self->result, tensors, &self->checkpoints, err));
    self->is_begun = true;
    self->pass = (size_t)position[POSITION_PASS];
    self->n_taken = (size_t)position[POSITION_TAKEN];
    return CLV_OK;
}

bool course_needs_point(const struct course *self)
{
    const struct clv_training_result *result = self->result;
    bool is_due = self->passes_per_point && !self->n_taken && (self->pass || self->starts_with_point) &&
                  (self->pass % self->passes_per_point == 0 || self->pass == self->n_passes);
    return is_due && (!result->n_curve || result->curve[result->n_curve - 1].pass != (double)self->pass);
}

bool course_stops(struct course *self)
{
    self->stopped = self->stopped || stop_requested(self->training->progress);
    return self->stopped;
}

bool course_goes_on(struct course *self)
{
    if (self->stopped || self->is_over)
        return false;
    bool goes_on = course_needs_point(self) || (self->pass < self->n_passes && !course_stops(self));
    self->is_begun = self->is_begun || goes_on;
    return goes_on;
}

bool course_pass_goes_on(struct course *self)
{
    if (self->n_taken < self->examples->n) {
        if (self->order)
            examples_expect(self->examples, self->order + self->n_taken, self->examples->n - self->n_taken);
        return !course_stops(self);
    }
    self->pass++;
    self->n_taken = 0;
    return false;
}

size_t course_batch(const struct course *self)
{
    size_t left = self->examples->n - self->n_taken;
    return self->batch < left ? self->batch : left;
}

enum clv_status course_step(struct course *self, struct clv_error *err)
{
    self->n_taken += course_batch(self);
    return course_keep(self, err);
}

enum clv_status course_keep(struct course *self, struct clv_error *err)
{
    return checkpoint_is_due(&self->checkpoints) ? save(self, err) : CLV_OK;
}

enum clv_status course_take(struct course *self, enum clv_status status)
{
    self->stopped = self->stopped || status == CLV_ERR_INTERRUPTED;
    return status == CLV_ERR_INTERRUPTED ? CLV_OK : status;
}

static void add_to_note(struct course *self, const char *what, double value)
{
    size_t used = strlen(self->note);
    point_snprintf(self->note + used, sizeof self->note - used, "%s%s %.4f", used ? ", " : "", what, value);
}

/* Sets the note of a point: the given text, or the objective and its gap to the bound; then the losses. */
static void describe(struct course *self, const struct clv_curve_point *point, const char *note)
{
    const struct clv_training_result *result = self->result;
    snprintf(self->note, sizeof self->note, "%s", note);
    if (!*note)
        add_to_note(self, "objective", point->objective);
    if (!*note && !isnan(point->dual))
        add_to_note(self, "gap", point->objective - point->dual);
    if (!isnan(point->train_loss))
        add_to_note(self, "training loss", point->train_loss);
    if (result->validation_loss)
        add_to_note(self, "validation loss", result->validation_loss[result->n_curve - 1]);
}

enum clv_status course_add_point(struct course *self, struct clv_curve_point point, const char *note, const double *w,
                                 struct clv_error *err)
{
    struct clv_training_result *result = self->result;
    const struct clv_decoding *decoding = &result->decoding;
    point.train_loss = NAN;
    if (!self->skips_loss)
        MUST(examples_loss(&point.train_loss, self->examples, w, decoding, err));
    MUST(examples_validate(result, result->n_curve, self->examples, w, decoding, err));
    MUST(curve_add(result, point, err));
    describe(self, &point, note);
    if (!self->is_quiet)
        report_progress(self->training->progress, "training", self->pass, self->n_passes, self->note);
    return CLV_OK;
}

enum clv_status course_end(struct course *self, const double *w, struct clv_error *err)
{
    self->result->interrupted = self->stopped;
    if (self->stopped && self->training->checkpoints)
        MUST(save(self, err));
    return result_set(self->result, self->examples, w, err);
}
