/* Trains in the background: runs `cleave train --progress json` as a child process and reads its events. A training's
 * memory is freed when the child ends. The child has its own terminal, which hangs up if this process dies. Start at
 * launch. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/json.h"
#include "cli/common/common.h"
#include "cli/label/label.h"
#include "learn/common/common.h"

#define NICENESS 5

struct label_trainer {
    char *model, *list; /* list: the file that lists the current training's data, or NULL */
    pthread_mutex_t lock;
    pthread_t reader;
    bool has_reader;
    /* The lock guards the next members. */
    pid_t child; /* 0: no training is running */
    bool is_stopped;
    int32_t n_models;
    char stage[64], note[512], failure[512];
    int64_t done, total;         /* of the stage; total 0: not known */
    double left_s;               /* NAN: not known */
    double loss, standard_error; /* percent; NAN: not known */
};

static void stop(void *context)
{
    struct label_trainer *trainer = context;
    pthread_mutex_lock(&trainer->lock);
    if (trainer->child > 0) {
        trainer->is_stopped = true;
        kill(trainer->child, SIGTERM);
    }
    pthread_mutex_unlock(&trainer->lock);
}

/* Parses a line of exactly three numbers. */
static bool parse_row(double row[3], const char *text)
{
    char word[64];
    int n = 0;
    for (size_t length; *(text += strspn(text, " ")); text += length) {
        length = strcspn(text, " ");
        if (n == 3 || length >= sizeof word)
            return false;
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        if (!parse_double(word, &row[n++]))
            return false;
    }
    return n == 3;
}

/* Handles a line of the child's output. Lines that are not events are ignored: `cleave train` did not write them. */
static void handle_event(struct label_trainer *trainer, const char *line, size_t size)
{
    struct json_value *root;
    struct clv_error ignored;
    const char *event = "", *text = "";
    if (json_parse(&root, line, size, "training", &ignored) != CLV_OK)
        return;
    json_get_text(json_member(root, "event"), &event);
    json_get_text(json_member(root, "text"), &text);
    if (strcmp(event, "progress") == 0) {
        json_get_text(json_member(root, "stage"), &text);
        snprintf(trainer->stage, sizeof trainer->stage, "%s", text);
        trainer->left_s = NAN;
        json_get_int64(json_member(root, "done"), &trainer->done);
        json_get_int64(json_member(root, "total"), &trainer->total);
        json_get_double(json_member(root, "left_s"), &trainer->left_s);
    } else if (strcmp(event, "note") == 0 || strcmp(event, "warning") == 0)
        snprintf(trainer->note, sizeof trainer->note, "%s", text);
    else if (strcmp(event, "error") == 0)
        snprintf(trainer->failure, sizeof trainer->failure, "%s", text);
    else if (strcmp(event, "summary") == 0) {
        double row[3]; /* a line of three numbers is a row of cross-validation: value, loss, standard error */
        if (parse_row(row, text)) {
            trainer->loss = row[1];
            trainer->standard_error = row[2];
        }
    }
    json_root_free(root);
}

/* Reads the child's output until it closes its terminal. */
static void read_events(struct label_trainer *trainer, int terminal)
{
    char bytes[4096], line[4096];
    size_t used = 0;
    for (ssize_t n; (n = read(terminal, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR);) {
        pthread_mutex_lock(&trainer->lock);
        for (ssize_t k = 0; k < n; k++) {
            if (bytes[k] == '\n') {
                handle_event(trainer, line, used);
                used = 0;
            } else if (used < sizeof line) {
                line[used++] = bytes[k];
            }
        }
        pthread_mutex_unlock(&trainer->lock);
    }
}

struct reader_arguments {
    struct label_trainer *trainer;
    int terminal;
    pid_t child;
};

/* The reader thread: reads events, then waits for the child's end. */
static void *run_reader(void *context)
{
    struct reader_arguments arguments = *(struct reader_arguments *)context;
    struct label_trainer *trainer = arguments.trainer;
    int end = 0;
    siginfo_t info;
    array_free(context);
    read_events(trainer, arguments.terminal);
    close(arguments.terminal);
    while (waitid(P_PID, (id_t)arguments.child, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    remove(trainer->list); /* before another training can write a new one */
    pthread_mutex_lock(&trainer->lock);
    (void)waitpid(arguments.child, &end, 0); /* under the lock, so that stop() never signals a reused process number */
    bool is_trained = WIFEXITED(end) && WEXITSTATUS(end) == 0;
    if (is_trained || trainer->is_stopped)
        trainer->failure[0] = 0;
    else if (!trainer->failure[0])
        snprintf(trainer->failure, sizeof trainer->failure, "training ended with status %d",
                 WIFEXITED(end) ? WEXITSTATUS(end) : 128 + WTERMSIG(end));
    trainer->n_models += is_trained;
    trainer->stage[0] = 0;
    trainer->child = 0;
    pthread_mutex_unlock(&trainer->lock);
    return NULL;
}

enum { N_LIMITS = 4 };

/* Appends the limits with which the page reads images. */
static void add_limits(char **arguments, char values[N_LIMITS][32], const struct clv_image_limits *limits)
{
    static char *const names[N_LIMITS] = {"--max-pixels", "--max-side", "--max-jpeg-scans", "--range"};
    const bool is_given[N_LIMITS] = {limits->max_pixels > 0, limits->max_side_px > 0, limits->max_jpeg_scans > 0,
                                     limits->grey16_high > 0};
    snprintf(values[0], sizeof values[0], "%" PRIu64, limits->max_pixels);
    snprintf(values[1], sizeof values[1], "%d", limits->max_side_px);
    snprintf(values[2], sizeof values[2], "%d", limits->max_jpeg_scans);
    snprintf(values[3], sizeof values[3], "%d,%d", limits->grey16_low, limits->grey16_high);
    for (int k = 0; k < N_LIMITS; k++)
        if (is_given[k]) {
            *arguments++ = names[k];
            *arguments++ = values[k];
        }
}

#define LEARNER "wmpmap"

/* Returns whether the learner supports couplings with this number of labels. If not, the model has no pairwise terms;
 * asking for none avoids a note about options that the page does not have. */
static bool learns_couplings(int32_t n_labels)
{
    return learner_trains(clv_learner_find(LEARNER), CLV_PAIRWISE_POTTS, n_labels, CLV_GRAPH_ANY);
}

/* Replaces the child process by `cleave train`. With at least two masks, cross-validation over the masks measures the
 * loss for the only lambda; images with boxes are in every fold's training. */
static void become_train(const struct label_trainer *trainer, const struct training_export *export)
{
    char folds[16], values[N_LIMITS][32];
    char *arguments[22 + 2 * N_LIMITS] = {"cleave", "train",        "--progress", "json",   "--learner",
                                          LEARNER,  "--data",       export->data, "--seed", "1",
                                          "-o",     trainer->model, "--overwrite"};
    int n = 13;
    snprintf(folds, sizeof folds, "%d", export->n_masks < 5 ? (int)export->n_masks : 5);
    arguments[n++] = export->n_masks < 2 ? "--lambda" : "--cv-grid";
    arguments[n++] = "1e-05";
    if (export->n_masks >= 2) {
        arguments[n++] = "--cv";
        arguments[n++] = folds;
    }
    if (export->only) {
        arguments[n++] = "--only";
        arguments[n++] = export->only;
    }
    if (export->boxes) {
        arguments[n++] = "--boxes";
        arguments[n++] = export->boxes;
    }
    if (!learns_couplings(export->n_labels)) {
        arguments[n++] = "--pairwise";
        arguments[n++] = "none";
    }
    add_limits(arguments + n, values, &export->limits);
    (void)!nice(NICENESS);
    closefrom(STDERR_FILENO + 1);
    /* In the portable folder /proc/self/exe is the C library's loader; there the launcher sets CLEAVE_LAUNCHER. */
    const char *launcher = getenv("CLEAVE_LAUNCHER");
    execv(launcher ? launcher : "/proc/self/exe", arguments);
    _exit(127);
}

static enum clv_status launch(struct label_trainer *trainer, const struct training_export *export,
                              struct clv_error *err)
{
    OWNED_ARRAY struct reader_arguments *arguments = array_zalloc(1, sizeof *arguments);
    OWNED_ARRAY char *list = string_copy(export->only ? export->only : export->data);
    NEED(arguments && list);
    if (trainer->has_reader)
        pthread_join(trainer->reader, NULL);
    trainer->has_reader = false;
    array_free(trainer->list);
    trainer->list = TAKE(list);
    pid_t child = forkpty(&arguments->terminal, NULL, NULL, NULL);
    if (child == 0)
        become_train(trainer, export);
    arguments->trainer = trainer;
    arguments->child = child;
    if (child > 0) {
        pthread_mutex_lock(&trainer->lock);
        trainer->child = child;
        trainer->is_stopped = false;
        trainer->failure[0] = trainer->note[0] = trainer->stage[0] = 0;
        trainer->done = trainer->total = 0;
        trainer->left_s = NAN;
        pthread_mutex_unlock(&trainer->lock);
        trainer->has_reader = pthread_create(&trainer->reader, NULL, run_reader, arguments) == 0;
        if (trainer->has_reader) {
            (void)TAKE(arguments); /* the reader thread frees them */
            return CLV_OK;
        }
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        trainer->child = 0;
        close(arguments->terminal);
    }
    return fail(err, CLV_ERR_OS, "cannot start training");
}

static bool is_busy(void *context)
{
    struct label_trainer *trainer = context;
    pthread_mutex_lock(&trainer->lock);
    bool is_running = trainer->child > 0;
    pthread_mutex_unlock(&trainer->lock);
    return is_running;
}

static enum clv_status start(void *context, const struct training_export *export, struct clv_error *err)
{
    return launch(context, export, err);
}

static void write_status(void *context, struct text *json)
{
    struct label_trainer *trainer = context;
    pthread_mutex_lock(&trainer->lock);
    text_printf(json, "{\"running\":%s,\"models\":%d", trainer->child > 0 ? "true" : "false", trainer->n_models);
    json_put_number(json, "loss", trainer->loss);
    json_put_number(json, "standard_error", trainer->standard_error);
    json_put_string(json, "progress", trainer->stage);
    text_printf(json, ",\"done\":%lld,\"total\":%lld", (long long)trainer->done, (long long)trainer->total);
    json_put_number(json, "left_s", trainer->left_s);
    json_put_string(json, "note", trainer->note);
    json_put_string(json, "error", trainer->failure);
    text_put(json, "}");
    pthread_mutex_unlock(&trainer->lock);
}

static int32_t count(void *context)
{
    struct label_trainer *trainer = context;
    pthread_mutex_lock(&trainer->lock);
    int32_t n = trainer->n_models;
    pthread_mutex_unlock(&trainer->lock);
    return n;
}

enum clv_status label_trainer_new(struct label_trainer **trainer, const char *model, struct clv_error *err)
{
    OWNED(label_trainer_drop) struct label_trainer *result = array_zalloc(1, sizeof *result);
    NEED(result);
    pthread_mutex_init(&result->lock, NULL);
    result->loss = result->standard_error = NAN;
    NEED(result->model = string_copy(model));
    *trainer = TAKE(result);
    return CLV_OK;
}

void label_trainer_free(struct label_trainer *trainer)
{
    if (!trainer)
        return;
    stop(trainer);
    if (trainer->has_reader)
        pthread_join(trainer->reader, NULL);
    pthread_mutex_destroy(&trainer->lock);
    arrays_free(trainer->model, trainer->list, trainer);
}

struct page_trainer label_trainer_view(struct label_trainer *trainer)
{
    return (struct page_trainer){trainer, start, is_busy, stop, write_status, count};
}
