/* What a person sees: colours and progress on a terminal alone, and nothing that a terminal would obey. */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "support/sample.h"
#include "support/support.h"

#define COLUMNS 60

struct terminal {
    pid_t child;
    int fd;
    char seen[1 << 16];
    size_t n;
};

/* A shell command on a terminal of its own. */
static void start(struct terminal *self, const char *command)
{
    struct winsize size = {.ws_row = 24, .ws_col = COLUMNS};
    run_here("true"); /* sets $CLEAVE */
    *self = (struct terminal){0};
    self->child = forkpty(&self->fd, NULL, NULL, &size);
    ck_assert_int_ge(self->child, 0);
    if (self->child == 0) {
        setenv("TERM", "xterm", 1);
        unsetenv("NO_COLOR");
        execl("/bin/sh", "sh", "-c", formatted("exec %s", command), (char *)NULL);
        _exit(127);
    }
}

/* Reads until `part` was seen, or to the end. */
static bool see(struct terminal *self, const char *part)
{
    while (!part || !strstr(self->seen, part)) {
        ssize_t n = read(self->fd, self->seen + self->n, sizeof self->seen - 1 - self->n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        self->n += (size_t)n;
        self->seen[self->n] = 0;
        ck_assert_uint_lt(self->n, sizeof self->seen - 1);
    }
    return true;
}

static int finish(struct terminal *self)
{
    int how;
    (void)see(self, NULL);
    close(self->fd);
    ck_assert_int_eq(waitpid(self->child, &how, 0), self->child);
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

TEST(messages_are_coloured_on_a_terminal_alone)
{
    static struct terminal terminal;
    start(&terminal, "\"$CLEAVE\" inspect absent");
    ck_assert_int_eq(finish(&terminal), 66);
    ck_assert_msg(strstr(terminal.seen, "\033[1;31mcleave: error:\033[0m absent: ") == terminal.seen, "%s",
                  terminal.seen);
    start(&terminal, "env NO_COLOR=1 \"$CLEAVE\" inspect absent");
    ck_assert_int_eq(finish(&terminal), 66);
    ck_assert_msg(strstr(terminal.seen, "cleave: error: absent: ") == terminal.seen, "%s", terminal.seen);
    start(&terminal, "env TERM=dumb \"$CLEAVE\" inspect absent");
    ck_assert_int_eq(finish(&terminal), 66);
    ck_assert_msg(strstr(terminal.seen, "cleave: error: absent: ") == terminal.seen, "%s", terminal.seen);
    expect_error(66, "absent: ", "cleave inspect absent");
}

/* An escape of seven bits, and one of eight as UTF-8 has it; letters that begin like the latter stay. */
TEST(names_of_files_command_no_terminal)
{
    OWNED_ARRAY char *output = NULL;
    ck_assert_int_eq(run_command(&output, "cleave inspect \"$(printf 'a\\033[2Jb\\302\\233c\\302\\251\\302')\""), 66);
    ck_assert_msg(strstr(output, "a?[2Jb??c\302\251\302: "), "%s", output);
}

/* Nothing for a second, then a line that fits, is written over and taken away again. */
TEST(progress_is_one_line_of_a_terminal_after_a_second)
{
    static struct terminal terminal;
    start(&terminal,
          formatted("\"$CLEAVE\" train --data %s/manifest.tsv --split train --superpixels 30 --blocks size,colour "
                    "--learner subgradient --passes 900000 --threads 1 -o %s/long.cleave",
                    sample_set(), temporary_folder()));
    ck_assert_msg(see(&terminal, " left"), "%s", terminal.seen);
    ck_assert(see(&terminal, "\033[K"));
    kill(terminal.child, SIGINT);
    ck_assert_int_eq(finish(&terminal), 130);
    const char *line = strstr(terminal.seen, "\rtraining ");
    ck_assert_msg(line && strstr(line, "/900000, "), "%s", terminal.seen);
    size_t shown = strcspn(line + 1, "\033\r");
    ck_assert_uint_lt(shown, COLUMNS);
    ck_assert_msg(strncmp(line + 1 + shown, "\033[K", 3) == 0, "%s", terminal.seen);
    ck_assert(strstr(terminal.seen, " min ") || strstr(terminal.seen, " s left"));
    OWNED_ARRAY char *output = expect_success("cleave inspect long.cleave");
}

/* What a training or a segmentation prints of its progress to a file: by default a line a minute. */
static char *heartbeat_of(const char *period, const char *command)
{
    return expect_success("{ %s cleave %s || true; } 2>&1 >/dev/null | grep -E '^cleave: .* [0-9]+/[0-9]+' || true",
                          period, command);
}

TEST(progress_is_a_line_a_minute_where_there_is_no_terminal)
{
    const char *train =
        formatted("train %s/manifest.tsv --split train --overwrite " SAMPLE_TRAINING " -o beat.cleave", sample_set());
    const char *segment = formatted("segment -m %s mixed -o beats --overwrite -t 1", sample_model());
    run_here("mkdir mixed && cp $SET/images/* mixed && cd mixed && for i in *; do echo text >$i; break; done");
    int n = count_files(here("mixed"));
    char *lines = heartbeat_of("CLEAVE_HEARTBEAT=0", train);
    ck_assert_msg(strstr(lines, "cleave: extracting features 7/8, ") && strstr(lines, "cleave: training 0/10, "), "%s",
                  lines);
    ck_assert_msg(!strstr(lines, "8/8") && !strstr(lines, "10/10"), "%s", lines);
    free(lines);
    lines = heartbeat_of("CLEAVE_HEARTBEAT=0", segment);
    ck_assert_msg(strstr(lines, formatted("cleave: segmenting 1/%d, 1 failed\n", n)), "%s", lines);
    ck_assert_msg(strstr(lines, formatted("cleave: segmenting %d/%d, ", n - 1, n)) && strstr(lines, " left, 1 failed"),
                  "%s", lines);
    ck_assert_ptr_null(strstr(lines, formatted("%d/%d", n, n)));
    free(lines);
    const char *silent[] = {train, segment, formatted("train -q%s", train + 5), formatted("segment -q%s", segment + 7),
                            formatted("train --progress none%s", train + 5)};
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        lines = heartbeat_of(i < 2 ? "CLEAVE_HEARTBEAT=" : "CLEAVE_HEARTBEAT=0", silent[i]);
        ck_assert_msg(!*lines, "%s: %s", silent[i], lines);
        free(lines);
    }
}

TEST(each_command_counts_what_it_has_done)
{
    static const char *const rows[][2] = {
        {"score $SET $SET/masks", "scoring 3/12"},
        {"import masks $SET/masks --images $SET/images -o counted", "converting masks 3/12"},
        {"import masks $SET/masks --images $SET/images -o counted --overwrite", "looking at masks 3/12"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        OWNED_ARRAY char *lines = heartbeat_of("CLEAVE_HEARTBEAT=0", rows[i][0]);
        must_say(lines, rows[i][1]);
    }
}

/* Files that are no images have no pixels; the last image has 2,500 times those of the one before, and takes seconds. */
TEST(the_time_left_is_that_of_the_pixels_that_are_left)
{
    run_here("mkdir uneven && echo text >uneven/0.png && echo text >uneven/1.png");
    for (int i = 2; i < 4; i++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        must(clv_image_new(&image, i < 3 ? 16 : 800, i < 3 ? 12 : 600, 3, err));
        must(clv_png_write(here("uneven/%d.png", i), &image, err));
    }
    OWNED_ARRAY char *lines =
        heartbeat_of("CLEAVE_HEARTBEAT=0", formatted("segment -m %s uneven -o uneven-masks -t 1", sample_model()));
    must_say(lines, "segmenting 2/4, 2 failed\n");
    must_say(lines, "segmenting 3/4, ");
    must_say(lines, " left, 2 failed\n");
    ck_assert_msg(!strstr(lines, "3/4, 0 s left"), "%s", lines);
}

/* The next line of events as JSON, or NULL at the end; its kind, and its text or stage. */
static struct json_value *next_event(char **rest, const char **kind, const char **text)
{
    const char *line = strsep(rest, "\n");
    struct json_value *event = NULL;
    if (!line || !*line)
        return NULL;
    must(json_parse(&event, line, strlen(line), line, err));
    ck_assert_msg(json_get_text(json_member(event, "event"), kind), "%s", line);
    const char *key = strcmp(*kind, "progress") == 0 ? "stage" : "text";
    ck_assert_msg(json_get_text(json_member(event, key), text) && **text, "%s", line);
    return event;
}

TEST(events_of_a_training_are_lines_of_json_on_standard_error)
{
    OWNED_ARRAY char *output =
        expect_success("cleave train --progress json --data $SET/manifest.tsv --cv 2 --cv-grid 0.5 "
                       "--cv-grid passes=10,12 " SAMPLE_TRAINING " -o m.cleave 2>&1 >printed && test ! -s printed");
    char *rest = output;
    const char *kind, *text;
    int n_notes = 0, n_rows = 0, n_finished = 0;
    int64_t done, total;
    double row[3];
    for (struct json_value *event; (event = next_event(&rest, &kind, &text)); json_root_free(event)) {
        n_notes += strcmp(kind, "note") == 0 && strstr(text, "8 of 12 images");
        n_rows += strcmp(kind, "summary") == 0 && sscanf(text, "%lf %lf %lf", &row[0], &row[1], &row[2]) == 3;
        ck_assert_msg(strcmp(kind, "error") != 0 && strcmp(kind, "warning") != 0, "%s", text);
        if (strcmp(kind, "progress") != 0)
            continue;
        ck_assert(json_get_int64(json_member(event, "done"), &done) &&
                  json_get_int64(json_member(event, "total"), &total) && json_member(event, "left_s"));
        ck_assert(done >= 0 && (!total || done <= total));
        n_finished += total && done == total;
    }
    ck_assert_ptr_null(rest && *rest ? rest : NULL);
    ck_assert_int_eq(n_notes, 1);
    ck_assert_int_eq(n_rows, 2); /* with a cross-validation each, whose progress starts at 0 */
    ck_assert_int_ge(n_finished, 2);
}

TEST(the_error_is_the_last_event_with_the_status_of_the_command)
{
    static const char *const kinds[] = {"error", "error"}; /* one line for both images, as the fault is the same */
    OWNED_ARRAY char *output = NULL;
    char *rest;
    const char *kind, *text;
    int64_t status = 0;
    int code =
        run_command(&output, "cd $HERE && mkdir s s/masks && cp $SET/masks/000[12].png s/masks && echo x >s/0001.jpg "
                             "&& echo x >s/0002.jpg && cleave train -q --progress json --data s -o m.cleave");
    ck_assert_int_eq(code, 65);
    rest = output;
    for (int i = 0; i < 2; i++) {
        OWNED(json_drop) struct json_value *event = next_event(&rest, &kind, &text);
        ck_assert_msg(event && strcmp(kind, kinds[i]) == 0, "%d: %s", i, kind);
        ck_assert_int_eq(json_get_int64(json_member(event, "status"), &status), i == 1);
    }
    ck_assert_int_eq(status, code);
    ck_assert_msg(!rest || !*rest, "%s", rest);
}

TEST(progress_none_shows_none_on_a_terminal)
{
    static struct terminal terminal;
    start(&terminal,
          formatted(
              "timeout --foreground -s INT 2 \"$CLEAVE\" train --progress none --data %s/manifest.tsv --split train "
              "--superpixels 30 --blocks size,colour --learner subgradient --passes 900000 -o %s/none.cleave",
              sample_set(), temporary_folder()));
    (void)finish(&terminal);
    ck_assert_msg(strstr(terminal.seen, "interrupted") && !strstr(terminal.seen, "/900000"), "%s", terminal.seen);
}

SETUP_ONCE(sample_setup, NULL)
