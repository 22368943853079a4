/* Loads the shared library, segments an image with a model and learns words from it, and looks whether anything that
 * belongs to the whole process has changed: jansson's allocator, signal handlers, locale, rounding, file mode mask,
 * environment. Usage: process_state LIBRARY MODEL IMAGE      prints what has changed; status 1 if anything has. */
#include "cleave/segment.h"
#include <cleave.h>
#include <dlfcn.h>
#include <fenv.h>
#include <jansson.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

extern char **environ;

struct state {
    json_malloc_t json_malloc;
    json_free_t json_free;
    struct sigaction actions[64];
    sigset_t blocked;
    char locale[256];
    int rounding, exceptions;
    mode_t mask;
    size_t n_variables;
};

static void look(struct state *state)
{
    memset(state, 0, sizeof *state);
    json_get_alloc_funcs(&state->json_malloc, &state->json_free);
    for (int number = 1; number < 64; number++)
        sigaction(number, NULL, &state->actions[number]);
    sigprocmask(SIG_SETMASK, NULL, &state->blocked);
    snprintf(state->locale, sizeof state->locale, "%s", setlocale(LC_ALL, NULL));
    state->rounding = fegetround();
    state->exceptions = fegetexcept();
    state->mask = umask(0);
    umask(state->mask);
    for (char **variable = environ; variable && *variable; variable++)
        state->n_variables++;
}

/* Whether any signal is handled in another way. */
static bool actions_differ(const struct state *now, const struct state *before)
{
    for (int number = 1; number < 64; number++) {
        const struct sigaction *a = &now->actions[number], *b = &before->actions[number];
        if (a->sa_handler != b->sa_handler || a->sa_flags != b->sa_flags)
            return true;
    }
    return false;
}

static bool masks_differ(const sigset_t *now, const sigset_t *before)
{
    for (int number = 1; number < 64; number++)
        if (sigismember(now, number) != sigismember(before, number))
            return true;
    return false;
}

static int compare(const struct state *now, const struct state *before, const char *when)
{
    const char *const changed[] = {
        now->json_malloc != before->json_malloc || now->json_free != before->json_free ? "jansson's allocator" : NULL,
        actions_differ(now, before) ? "a signal's action" : NULL,
        masks_differ(&now->blocked, &before->blocked) ? "the blocked signals" : NULL,
        strcmp(now->locale, before->locale) ? "the locale" : NULL,
        now->rounding != before->rounding || now->exceptions != before->exceptions ? "floating point" : NULL,
        now->mask != before->mask ? "the file mode mask" : NULL,
        now->n_variables != before->n_variables ? "the environment" : NULL,
    };
    int n = 0;
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
        if (changed[i]) {
            printf("process_state: %s: %s has changed\n", when, changed[i]);
            n++;
        }
    return n;
}

/* As a program would use it, through the loaded library alone. */
static enum clv_status use(void *library, char **argv, struct clv_error *error)
{
    static struct clv_model model;
    static struct clv_image image;
    __typeof__(&clv_model_read) model_read = (__typeof__(&clv_model_read))dlsym(library, "clv_model_read");
    __typeof__(&clv_image_read) image_read = (__typeof__(&clv_image_read))dlsym(library, "clv_image_read");
    __typeof__(&clv_segment) segment = (__typeof__(&clv_segment))dlsym(library, "clv_segment");
    __typeof__(&clv_recipe_learn) learn = (__typeof__(&clv_recipe_learn))dlsym(library, "clv_recipe_learn");
    enum clv_status status = model_read(&model, argv[2], error);
    if (status == CLV_OK)
        status = image_read(&image, argv[3], NULL, error);
    uint8_t *labels = malloc((size_t)image.width * (size_t)image.height + 1);
    if (status == CLV_OK)
        status = segment(labels, &model, &image, NULL, error);
    const char *const images[] = {argv[3], argv[3]};
    if (status == CLV_OK) /* on two threads */
        status = learn(&model.recipe, images, 2, 1, 2, NULL, NULL, error);
    free(labels);
    return status;
}

int main(int argc, char **argv)
{
    static struct state before, loaded, used;
    struct clv_error error = {0};
    if (argc != 4)
        return 64;
    look(&before);
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library) {
        printf("process_state: %s\n", dlerror());
        return 1;
    }
    look(&loaded);
    if (use(library, argv, &error) != CLV_OK) {
        printf("process_state: %s\n", error.message);
        return 1;
    }
    look(&used);
    return compare(&loaded, &before, "loading") + compare(&used, &loaded, "use") > 0;
}
