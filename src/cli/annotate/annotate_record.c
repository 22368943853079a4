#include "cli/annotate/annotate_record.h"

#include "annotate/annotate.h"
#include "annotate/tag_model.h"
#include "base/error.h"
#include "cli/annotate/annotate_inputs.h"
#include "cli/common/console.h"
#include "model/record.h"
#include "task/train_record.h"

enum clv_status annotate_record(struct clv_tag_model *model, const struct annotate_training *self,
                                const struct clv_set *images, const struct clv_tag_training_result *result,
                                struct clv_error *err)
{
    char digest[DIGEST_SIZE], seed[32], key[80], command[256 + CLV_ERROR_MESSAGE_MAX];
    const struct clv_tag_training *training = &self->training;
    enum clv_status status = CLV_OK;
    if (annotate_is_images(self->data))
        status = digest_set(digest, images, NULL, err);
    else
        status = digest_file(digest, self->data, err);
    if (status != CLV_OK)
        return status;
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)training->seed);
    snprintf(command, sizeof command, "cleave annotate train%s",
             self->common.canonical.bytes ? self->common.canonical.bytes : "");
    const char *const entries[][2] = {
        {"version", clv_version()},
        {"command", command},
        {"data", self->data},
        {"data_digest", digest},
        {"seed", seed},
        {"learner", training->learner->name},
        {"kernel", training->is_rbf ? "rbf" : "linear"},
        {"interrupted", result->interrupted ? "yes" : "no"},
        {"converged", result->is_converged ? "yes" : "no"},
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries && status == CLV_OK; i++)
        status = clv_record_set(&model->record, entries[i][0], entries[i][1], err);
    for (int i = 0; i < CLV_TAG_PARAMETERS && status == CLV_OK; i++) {
        snprintf(key, sizeof key, "parameter.%s", clv_tag_parameters[i].name);
        status = record_number(&model->record, key, i == CLV_TAG_GAMMA ? model->gamma : training->parameters[i], err);
    }
    TRY(record_number(&model->record, "examples", (double)training->set->n, err));
    TRY(record_number(&model->record, "objective", result->primal, err));
    TRY(record_number(&model->record, "duality_gap", result->primal - result->dual, err));
    return status;
}

void annotate_print_learning(const struct annotate_training *self, const struct clv_tag_model *model,
                             const struct clv_tag_training_result *result)
{
    char name[16];
    console_clear();
    fprintf(self->summary, "learning  %s, %s kernel, lambda %g", self->training.learner->name,
            self->training.is_rbf ? "rbf" : "linear", self->training.parameters[CLV_TAG_LAMBDA]);
    if (model->gamma > 0)
        fprintf(self->summary, ", gamma %g, %zu support vectors", model->gamma, model->n_vectors);
    fprintf(self->summary, "\nobjective %.6g, duality gap %.2g after %d passes%s%s\n", result->primal,
            result->primal - result->dual, result->n_passes, result->is_converged ? "" : " (not converged)",
            result->interrupted ? " (interrupted)" : "");
    if (model->form != CLV_TAGS_LMSBN)
        return;
    fprintf(self->summary, "sequence ");
    for (int32_t p = 0; p < model->n_tags; p++)
        fprintf(self->summary, " %s", clv_tag_name(model, model->place[p], name));
    fprintf(self->summary, "\n");
}

/* Whether a tag has any weight. */
static bool is_learned(const struct clv_tag_model *model, size_t tag)
{
    size_t n = model->weight ? (size_t)model->n_features : model->n_vectors;
    const double *weights = (model->weight ? model->weight : model->coefficient) + tag * n;
    for (size_t k = 0; k < n; k++)
        if (weights[k] != 0)
            return true;
    return false;
}

void annotate_note_interruption(const struct annotate_training *self, const struct clv_tag_model *model)
{
    int n_learned = 0;
    for (int32_t i = 0; i < model->n_tags; i++)
        n_learned += is_learned(model, (size_t)i);
    console_note("interrupted; the model so far is in %s: %d of %d tags have weights%s", self->output, n_learned,
                 model->n_tags, self->training.learner->is_tuned ? ", thresholds may not be tuned" : "");
}
