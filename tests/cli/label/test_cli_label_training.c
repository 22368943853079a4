/* `cleave label` as a program: its link, and learning in the background. */
#include <sys/resource.h>
#include <time.h>

#include "cli/label/small_server.h"
#include "support/sample.h"

static char answer[1 << 16];

/* Both images are labelled as they were drawn. */
static void make_labelled_set(void)
{
    make_set();
    run_here("cp -r synth/masks %s/masks", folder());
}

enum { N_TRIES = 6000 }; /* of 20 ms */

static void wait_a_while(int try, const char *what)
{
    ck_assert_msg(try < N_TRIES, "%s has not come: %s", what, answer);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

/* What the page receives once no training is running. */
static const char *wait_for_training(const struct server *server)
{
    for (int try = 0;; try++) {
        ck_assert_int_eq(ask(answer, sizeof answer, server, "/api/training"), 200);
        if (strstr(answer, "\"running\":false"))
            return answer;
        wait_a_while(try, "the training's end");
    }
}

/* Seven larger images, the first so many with their masks, and a file that is noted to be not an image. */
static void make_larger_set(int n_masks)
{
    run_here("\"$SYNTH\" -n 7 --size 160x120 synth && mkdir -p set/masks && cp synth/images/* set/ && cp $(ls "
             "-d synth/masks/* | head -%d) set/masks/ && echo none >set/notes.txt",
             n_masks);
}

/* The process that the server has started for a training, once it is one; its arguments are in `answer`, one a line. */
static pid_t find_training(const struct server *server)
{
    for (int try = 0;; try++) {
        char *children = NULL;
        int child = 0;
        run_command(&children, "cat /proc/%d/task/*/children; true", (int)server->child);
        if (sscanf(children, "%d", &child) == 1) {
            free(children);
            run_command(&children, "tr '\\0' '\\n' </proc/%d/cmdline; true", child);
            snprintf(answer, sizeof answer, "%s", children);
        }
        free(children);
        if (child > 0 && strncmp(answer, "cleave\ntrain\n", 13) == 0)
            return child;
        wait_a_while(try, "the training's process");
    }
}

/* As the command says of the same training. */
static void expect_cross_validated(double loss, double error)
{
    OWNED_ARRAY char *summary = NULL;
    double row[3];
    ck_assert_int_eq(
        run_command(&summary, "cleave train --learner wmpmap --data %s --seed 1 --cv-grid 1e-05 --cv 2 -o $HERE/other",
                    folder()),
        0);
    const char *at = strstr(summary, "     1e-05 ");
    ck_assert_msg(at && sscanf(at, "%lf %lf %lf", &row[0], &row[1], &row[2]) == 3, "%s", summary);
    ck_assert_msg(row[1] != row[0] && row[1] != row[2], "%s", summary);
    ck_assert_double_eq(loss, row[1]);
    ck_assert_double_eq(error, row[2]);
}

TEST(a_training_in_the_background_makes_the_model_that_the_page_then_has)
{
    make_labelled_set();
    struct server server = start();
    ck_assert_int_eq(ask(answer, sizeof answer, &server, "/api/state"), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"has_model\":false"));
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/train", "{}"), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"running\":true"));
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/train", "{}"), 400);
    ck_assert_ptr_nonnull(strstr(answer, "training is under way"));
    const char *reported = wait_for_training(&server);
    ck_assert_msg(strstr(reported, "\"models\":1") && strstr(reported, "\"error\":\"\""), "%s", reported);
    ck_assert_ptr_nonnull(strstr(reported, "\"progress\":\"\""));
    double loss = strtod(strstr(reported, "\"loss\":") + 7, NULL),
           error = strtod(strstr(reported, "_error\":") + 8, NULL);
    expect_cross_validated(loss, error);
    ck_assert_int_eq(ask(answer, sizeof answer, &server, "/api/state"), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"has_model\":true"));
    stop(&server);
    OWNED_ARRAY char *record = NULL;
    ck_assert_int_eq(run_command(&record, "cleave inspect %s/label.cleave", folder()), 0);
    ck_assert_ptr_nonnull(strstr(record, "wmpmap"));
    run_here("test ! -e %s/strokes/.training/accepted", folder());
}

/* One mask and a box, then a mask and strokes. */
TEST(boxes_and_strokes_teach_the_model_in_the_background)
{
    static const char *const strokes[] = {
        "{\"revision\":0,\"kind\":\"box\",\"object\":0,\"label\":1,\"radius\":0,\"points\":[5,5,35,25]}",
        "{\"revision\":1,\"kind\":\"foreground\",\"object\":0,\"label\":1,\"radius\":3,\"points\":[20,15]}"};
    make_labelled_set();
    run_here("rm $(ls -d %s/masks/* | tail -1)", folder());
    struct server server = start();
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/open/1", "{}"), 200);
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/stroke/1", strokes[k]), 200);
        ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/train", "{}"), 200);
        const char *reported = wait_for_training(&server);
        ck_assert_msg(strstr(reported, formatted("\"models\":%d", k + 1)) && strstr(reported, "\"error\":\"\""), "%s",
                      reported);
        ck_assert_msg((strstr(reported, "\"loss\":null") == NULL) == (k == 1), "%s",
                      reported); /* two masks are cross-validated */
    }
    stop(&server);
    run_here("test ! -e %s/.training.tsv", folder());
}

TEST(a_training_that_fails_says_why_and_leaves_no_model)
{
    make_labelled_set();
    struct server server = start();
    run_here("mkdir whole && cp %s/*.jpg whole && for f in %s/*.jpg; do echo x >$f; done", folder(), folder());
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/train", "{}"), 200);
    const char *reported = wait_for_training(&server);
    ck_assert_msg(strstr(reported, "\"models\":0") && strstr(reported, "2 of 2 images cannot be learned from") &&
                      strstr(reported, "\"loss\":null"),
                  "%s", reported);
    run_here("test ! -e %s/label.cleave && cp whole/*.jpg %s", folder(), folder());
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/train", "{}"), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"error\":\"\"")); /* of the new one, which has nothing to fail at */
    stop(&server);
}

TEST(notes_of_a_training_are_no_errors)
{
    make_larger_set(7);
    setenv("NO_COLOR", "1", 1);
    struct server server = start();
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/train", "{}"), 200);
    pid_t child = find_training(&server);
    for (int try = 0;; try++) { /* the note comes first of all */
        ck_assert_int_eq(ask(answer, sizeof answer, &server, "/api/training"), 200);
        ck_assert_msg(strstr(answer, "\"error\":\"\""), "%s", answer);
        if (!strstr(answer, "\"note\":\"\"") && !strstr(answer, "\"total\":0"))
            break;
        wait_a_while(try, "the note");
    }
    kill(child, SIGKILL);
    const char *reported = wait_for_training(&server);
    ck_assert_msg(strstr(reported, "\"error\":\"training ended with status 137\"") && strstr(reported, "\"models\":0"),
                  "%s", reported);
    stop(&server);
}

/* That many masks, and nothing else to learn from. */
static void expect_arguments(int n_masks, const char *cross_validation)
{
    run_here("rm -rf %s synth", folder());
    make_larger_set(n_masks);
    struct server server = start();
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/train", "{}"), 200);
    find_training(&server);
    const char *wanted =
        formatted("cleave\ntrain\n--progress\njson\n--learner\nwmpmap\n--data\n%s\n--seed\n1\n-o\n%s/label.cleave\n"
                  "--overwrite\n--cv-grid\n1e-05\n--cv\n%s\n--only\n%s/strokes/.training/accepted\n",
                  folder(), folder(), cross_validation, folder());
    ck_assert_str_eq(answer, wanted);
    stop(&server);
}

TEST(images_are_learned_from_as_the_page_reads_them)
{
    make_larger_set(2);
    struct server server =
        start_with((const char *const[]){"--no-browser", "--range", "9,4095", "--max-side", "9000", NULL});
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/train", "{}"), 200);
    find_training(&server);
    ck_assert_msg(strstr(answer, "\n--max-side\n9000\n--range\n9,4095\n"), "%s", answer);
    stop(&server);
}

TEST(masks_are_cross_validated_in_as_many_folds_as_there_are_up_to_five)
{
    expect_arguments(2, "2");
    expect_arguments(4, "4");
    expect_arguments(5, "5");
    expect_arguments(7, "5");
}

/* The learner has couplings of two labels alone. No sentence about options of the command comes to the page. */
TEST(more_than_two_labels_are_learned_without_a_word)
{
    static const char labels[] =
        "value\tname\tred\tgreen\tblue\n0\tground\t0\t90\t0\n1\tanimal\t250\t120\t10\n2\tsky\t0\t120\t250\n";
    make_labelled_set();
    spill(formatted("%s/labels.tsv", folder()), labels, sizeof labels - 1);
    struct server server = start();
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/train", "{}"), 200);
    const char *reported = wait_for_training(&server);
    ck_assert_msg(strstr(reported, "\"models\":1") && strstr(reported, "\"error\":\"\""), "%s", reported);
    ck_assert_msg(!strstr(reported, "learns no") && !strstr(reported, "--"), "%s", reported);
    stop(&server);
    OWNED_ARRAY char *record = NULL;
    ck_assert_int_eq(run_command(&record, "cleave inspect --json --top 0 %s/label.cleave", folder()), 0);
    ck_assert_msg(strstr(record, "--pairwise none") && strstr(record, "sky"), "%s", record);
}

/* One mask and a box. */
TEST(one_mask_is_not_cross_validated_and_boxes_teach_with_it)
{
    make_larger_set(1);
    struct server server = start();
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/open/1", "{}"), 200);
    ck_assert_int_eq(
        post(answer, sizeof answer, &server, "/api/stroke/1",
             "{\"revision\":0,\"kind\":\"box\",\"object\":0,\"label\":1,\"radius\":0,\"points\":[50,30,110,90]}"),
        200);
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/train", "{}"), 200);
    find_training(&server);
    const char *wanted =
        formatted("cleave\ntrain\n--progress\njson\n--learner\nwmpmap\n--data\n%s/.training.tsv\n--seed\n1\n-o\n"
                  "%s/label.cleave\n--overwrite\n--lambda\n1e-05\n--boxes\n%s/strokes/.training/boxes.tsv\n",
                  folder(), folder(), folder());
    ck_assert_str_eq(answer, wanted);
    stop(&server);
}

/* Starts a server in which some calls take long, so that others come between; a signal to nobody goes into a file. */
static struct server start_slowly(void)
{
    static const char calls[] =
        "#include <dlfcn.h>\n#include <errno.h>\n#include <fcntl.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
        "#include <sys/types.h>\n#include <unistd.h>\n"
        "#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))\n"
        "int kill(pid_t, int);\npid_t waitpid(pid_t, int *, int);\n"
        "int remove(const char *path) { usleep(300000); return REAL(remove)(path); }\n"
        "pid_t waitpid(pid_t child, int *how, int options)\n"
        "{ pid_t one = REAL(waitpid)(child, how, options); usleep(300000); return one; }\n"
        "int kill(pid_t child, int number)\n"
        "{ int failed = REAL(kill)(child, number);\n"
        "  if (failed && errno == ESRCH) close(open(getenv(\"NOBODY\"), O_CREAT | O_WRONLY, 0600));\n"
        "  return failed; }\n";
    const char *source = here("calls.c"), *library = here("calls.so");
    spill(source, calls, sizeof calls - 1);
    run_here("cc -D_GNU_SOURCE -shared -fPIC -o %s %s -ldl", library, source);
    setenv("NOBODY", here("nobody"), 1);
    setenv("LD_PRELOAD", library, 1);
    struct server server = start();
    unsetenv("LD_PRELOAD");
    return server;
}

TEST(the_end_of_a_training_takes_nothing_from_the_next)
{
    if (IS_SANITIZED) {
        skip("the_end_of_a_training_takes_nothing_from_the_next", "sanitizers come first in a process");
        return;
    }
    make_labelled_set();
    struct server server = start_slowly();
    for (int k = 1; k <= 2; k++) {
        ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/train", "{}"), 200);
        const char *reported = wait_for_training(&server);
        ck_assert_msg(strstr(reported, formatted("\"models\":%d", k)) && strstr(reported, "\"error\":\"\""), "%s",
                      reported);
    }
    stop(&server);
}

TEST(a_training_that_has_ended_is_sent_no_signal)
{
    if (IS_SANITIZED) {
        skip("a_training_that_has_ended_is_sent_no_signal", "sanitizers come first in a process");
        return;
    }
    make_labelled_set();
    struct server server = start_slowly();
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/train", "{}"), 200);
    for (int try = 0; !strstr(answer, "\"running\":false"); try++) {
        ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/stop", "{}"), 200);
        wait_a_while(try, "the training's end");
    }
    stop(&server);
    ck_assert_int_ne(access(here("nobody"), F_OK), 0);
}

TEST(a_training_has_no_files_of_the_program_or_of_its_parent)
{
    enum { HIGH = 1500 };
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max <= HIGH) {
        skip(__func__, "the limit of open files is too low");
        return;
    }
    limit.rlim_cur = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    make_larger_set(7);
    ck_assert_int_eq(dup2(STDERR_FILENO, HIGH), HIGH); /* the server inherits it */
    struct server server = start();
    close(HIGH);
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/train", "{}"), 200);
    const pid_t child = find_training(&server);
    ck_assert(path_exists(formatted("/proc/%d/fd/%d", (int)server.child, HIGH)));
    ck_assert(!path_exists(formatted("/proc/%d/fd/%d", (int)child, HIGH)));
    ck_assert(path_exists(formatted("/proc/%d/fd/%d", (int)child, STDERR_FILENO))); /* it still runs */
    stop(&server);
}

TEST(a_training_is_stopped_by_the_page_and_with_the_program)
{
    make_larger_set(7);
    struct server server = start();
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/train", "{}"), 200);
    pid_t child = find_training(&server);
    ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)child), getpriority(PRIO_PROCESS, 0) + 5);
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/stop", "{}"), 200);
    const char *reported = wait_for_training(&server); /* it did what was asked */
    ck_assert_msg(strstr(reported, "\"error\":\"\"") && strstr(reported, "\"models\":0"), "%s", reported);
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/train", "{}"), 200);
    child = find_training(&server);
    stop(&server); /* waits for its child */
    ck_assert_int_eq(kill(child, 0), -1);
    run_here("test ! -e %s/label.cleave", folder());
}

/* A desktop whose xdg-open writes what it was given into `opened`. */
static void make_desktop(void)
{
    const char *opener = here("bin/xdg-open");
    run_here("mkdir bin run && printf '#!/bin/sh\\necho \"$*\" >%s/opened\\n' >%s && chmod +x %s", temporary_folder(),
             opener, opener);
    setenv("DISPLAY", ":7", 1);
    setenv("PATH", here("bin:%s", getenv("PATH")), 1);
    setenv("XDG_RUNTIME_DIR", here("run"), 1);
}

/* What was opened, to free(). */
static char *opened_path(void)
{
    char *path = NULL;
    ck_assert_int_eq(run_command(&path, "for i in $(seq 1500); do test -s $HERE/opened && break; sleep .02; done; "
                                        "printf %%s \"$(cat $HERE/opened)\""),
                     0);
    return path;
}

/* Everybody can read the arguments of xdg-open and of the browser. */
TEST(the_browser_is_given_a_file_of_its_own_that_leads_to_the_link)
{
    make_set();
    make_desktop();
    struct server server = start_with((const char *const[]){NULL});
    OWNED_ARRAY char *path = opened_path(), *page = NULL, *mode = NULL;
    ck_assert_msg(strstr(path, here("run/")) == path, "%s", path);
    ck_assert(strlen(path) > 5 && strcmp(path + strlen(path) - 5, ".html") == 0 && !strstr(path, server.token));
    ck_assert_int_eq(run_command(&mode, "stat -c %%a %s", path), 0);
    ck_assert_str_eq(mode, "600\n");
    page = slurp(path, NULL);
    ck_assert_ptr_nonnull(
        strstr(page, formatted("http-equiv=\"refresh\" content=\"0;url=http://127.0.0.1:%d/?token=%s\"", server.port,
                               server.token)));
    ck_assert_ptr_nonnull(
        strstr(page, formatted("<a href=\"http://127.0.0.1:%d/?token=%s\">", server.port, server.token)));
    stop(&server);
    ck_assert_int_ne(access(path, F_OK), 0);
}

TEST(a_file_for_the_browser_that_cannot_be_written_is_no_end)
{
    OWNED_ARRAY char *output = NULL;
    make_set();
    make_desktop();
    int code = run_command(
        &output,
        "sh -c 'trap \"\" XFSZ; ulimit -f 0; echo $$; exec timeout -s INT 20 cleave label %s 2>&1' | { read process; "
        "read head; read train; read segment; read link; read note; kill -INT $process; echo \"$note\"; }",
        folder());
    ck_assert_int_eq(code, 0);
    ck_assert_msg(strstr(output, "cleave: note: the browser is not opened: ") == output &&
                      strstr(output, ".html: cannot write: "),
                  "%s", output);
}

TEST(a_runtime_folder_that_is_not_there_is_replaced_by_a_temporary_one)
{
    make_set();
    make_desktop();
    run_here("rmdir run && mkdir other");
    setenv("TMPDIR", here("other"), 1);
    struct server server = start_with((const char *const[]){NULL});
    OWNED_ARRAY char *path = opened_path();
    ck_assert_msg(strstr(path, here("other/")) == path, "%s", path);
    stop(&server);
    run_here("rmdir other");
}

TEST(a_desktop_of_wayland_alone_will_do)
{
    make_set();
    make_desktop();
    unsetenv("DISPLAY");
    setenv("WAYLAND_DISPLAY", "wayland-7", 1);
    struct server server = start_with((const char *const[]){NULL});
    free(opened_path());
    stop(&server);
}

TEST(no_browser_is_opened_without_a_desktop_or_when_none_is_wanted)
{
    static const char *const nothing[] = {NULL}, *const no_browser[] = {"--no-browser", NULL};
    make_set();
    make_desktop();
    for (int k = 0; k < 2; k++) {
        unsetenv(k ? "NONE" : "DISPLAY");
        unsetenv("WAYLAND_DISPLAY");
        struct server server = start_with(k ? no_browser : nothing);
        setenv("DISPLAY", ":7", 1);
        ck_assert_int_eq(ask(answer, sizeof answer, &server, "/"), 200);
        stop(&server);
        run_here("test ! -e opened && rmdir run && mkdir run");
    }
}

TEST(the_link_changes_for_a_cookie)
{
    make_set();
    struct server server = start_with((const char *const[]){"--no-browser", "--listen", "127.0.0.1", NULL});
    const char *link = formatted("/?token=%s", server.token);
    const char *request =
        formatted("GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n", link, server.port);
    ck_assert_str_eq(server.links, formatted("http://127.0.0.1:%d%s\n", server.port, link));
    ck_assert_int_eq(exchange(answer, sizeof answer, &server, request, strlen(request)), 303);
    ck_assert_ptr_nonnull(strstr(answer, "Location: /\r\n"));
    ck_assert_ptr_nonnull(strstr(
        answer, formatted("Set-Cookie: cleave-%d=%s; HttpOnly; SameSite=Lax; Path=/\r\n", server.port, server.token)));
    ck_assert_int_eq(ask(answer, sizeof answer, &server, "/"), 200);
    ck_assert_ptr_nonnull(strstr(answer, "<!doctype html>"));
    stop(&server);
}

static int post_large(const struct server *server, const char *path, const char *body, size_t size)
{
    OWNED_ARRAY char *request = malloc(size + 1000);
    int head = snprintf(request, 1000,
                        "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\n"
                        "Cookie: cleave-%d=%s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
                        path, server->port, server->port, server->port, server->token, size);
    memcpy(request + head, body, size);
    return exchange(answer, sizeof answer, server, request, (size_t)head + size);
}

/* 900 kB come in many pieces. */
TEST(large_bodies_are_put_together)
{
    make_set();
    struct server server = start();
    size_t size = 900000;
    OWNED_ARRAY char *body = malloc(size + 1);
    memset(body, ' ', size);
    body[size] = 0;
    char whole[PATH_MAX];
    ck_assert_ptr_nonnull(realpath(folder(), whole));
    const char *begin = formatted("{\"folder\":\"%s\",\"name\":", whole);
    memcpy(body, begin, strlen(begin));
    memcpy(body + size - 6, "\"sky\"}", 6);
    ck_assert_int_eq(post_large(&server, "/api/label", body, size), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"name\":\"sky\""));
    stop(&server);
}

TEST(bodies_without_end_are_refused)
{
    make_set();
    struct server server = start();
    size_t size = 3u << 19; /* half a megabyte too many */
    OWNED_ARRAY char *body = malloc(size + 1);
    memset(body, ' ', size);
    ck_assert_int_eq(post_large(&server, "/api/label", body, size), 413);
    stop(&server);
}

/* What a server writes to the terminal from its start to its end. */
static char *noted(const char *arguments)
{
    char *text = NULL;
    ck_assert_int_eq(
        run_command(
            &text,
            "cd $HERE && rm -f link && { cleave label --no-browser %s >link 2>notes & } && p=$! && for i in $(seq "
            "1500); do test -s link && break; sleep .02; done; kill -TERM $p; wait $p; test $? = 143 && cat notes",
            arguments),
        0);
    return text;
}

/* The second time what the lines make is there, and it is neither images of the folder nor beside it, where a container
 * would lose it. */
TEST(the_terminal_tells_at_both_ends_what_is_accepted_and_lines_that_run)
{
    make_labelled_set();
    run_here("mv set \"it's \\$HOME\"");
    run_here("ls -A >beside");
    const char *head = formatted("cleave: note: %s/it's $HOME: 2 images, 2 accepted; ", temporary_folder());
    for (int k = 0; k < 2; k++) {
        OWNED_ARRAY char *text = noted("\"it's \\$HOME\"");
        ck_assert_msg(
            strncmp(text, head, strlen(head)) == 0 && !strstr(text + 1, head) &&
                strstr(text, "\ncleave: note: stopped, all is saved: 2 of 2 images are accepted, 2 were at the start"),
            "%s", text);
        ck_assert_int_eq(strstr(text, "--overwrite") != NULL, k);
        run_here(
            "grep '^  cleave' notes | head -2 >lines && sh -e lines >said 2>&1 && ! grep 'not an image' said && rm -f "
            "notes lines said link && ls -A | diff beside - && cd it* && test -s model.cleave && test $(ls predictions "
            "| wc -l) = 2");
    }
    run_here("mkdir p && cp it*/*.png it*/*.jpg p 2>/dev/null; ls p/*");
    free(noted("p"));
    run_here("cd p && test ! -e masks && test ! -e strokes && mkdir ../one && cp $(ls | head -n 1) ../one");
    EXPECT_PARTS(noted("one"), "/one: 1 image, 0 accepted; ", "0 of 1 image is accepted, ");
    OWNED_ARRAY char *quiet = noted("-q \"it's \\$HOME\"");
    ck_assert_str_eq(quiet, "");
}
