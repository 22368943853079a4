#include "task/bad_images.h"

#include "base/array.h"
#include "base/error.h"

void bad_images_release(struct bad_images *self)
{
    for (size_t i = 0; i < self->n; i++)
        array_free(self->messages[i]);
    array_free(self->messages);
    *self = (struct bad_images){0};
}

enum clv_status bad_images_add(struct bad_images *self, enum clv_status status, struct clv_error *err)
{
    if (status != CLV_ERR_DATA && status != CLV_ERR_NO_INPUT && status != CLV_ERR_MEMORY)
        return status;
    if (array_reserve((void **)&self->messages, &self->capacity, self->n + 1, sizeof *self->messages))
        return fail_memory(err);
    char *message = string_copy(err->message);
    if (!message)
        return fail_memory(err);
    if (!self->n)
        self->status = status;
    self->messages[self->n++] = message;
    return CLV_OK;
}

enum clv_status bad_images_report(const struct bad_images *self, bool skip, size_t n_images, const char *path,
                                  const struct clv_progress *progress, struct clv_error *err)
{
    if (!self->n)
        return CLV_OK;
    for (size_t i = 0; i < self->n; i++)
        if (skip)
            report_message(progress, CLV_NOTE, "left out: %s", self->messages[i]);
        else if (self->n > 1)
            report_message(progress, CLV_COMPLAINT, "%s", self->messages[i]);
    if (skip && self->n < n_images) {
        report_message(progress, CLV_NOTE, "%s: %zu of %zu images were left out as bad", path, self->n, n_images);
        return CLV_OK;
    }
    if (skip)
        return fail(err, self->status, "%s: none of the %zu images can be used", path, n_images);
    if (self->n == 1)
        return fail(err, self->status, "%s (--skip-bad goes on without it)", self->messages[0]);
    return fail(err, self->status, "%s: %zu of %zu images cannot be learned from; --skip-bad goes on without them",
                path, self->n, n_images);
}
