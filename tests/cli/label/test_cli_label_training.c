/* `cleave label` as a program: its link, and learning in the background. */
#include <time.h>

#include "cli/label/small_server.h"

static char heard[1 << 16];

/* Both images are labelled as they were drawn. */
static void make_labelled_set(void)
{
    make_set();
    ck_assert_int_eq(run_command(NULL, "cp -r %s/synth/masks %s/masks", temporary_folder(), folder()), 0);
}

enum { N_TRIES = 6000 }; /* of 20 ms */

static void wait_a_while(int try, const char *what)
{
    ck_assert_msg(try < N_TRIES, "%s has not come: %s", what, heard);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

/* What the page is told once no training is running. */
static const char *wait_for_training(const struct server *server)
{
    for (int try = 0;; try++) {
        ck_assert_int_eq(ask(heard, sizeof heard, server, "/api/training"), 200);
        if (strstr(heard, "\"running\":false"))
            return heard;
        wait_a_while(try, "the training's end");
    }
}

START_TEST(a_training_in_the_background_makes_the_model_that_the_page_then_has)
{
    make_labelled_set();
    struct server server = start();
    ck_assert_int_eq(ask(heard, sizeof heard, &server, "/api/state"), 200);
    ck_assert_ptr_nonnull(strstr(heard, "\"has_model\":false"));
    ck_assert_int_eq(post(heard, sizeof heard, &server, "/api/train", "{}"), 200);
    ck_assert_ptr_nonnull(strstr(heard, "\"running\":true"));
    ck_assert_int_eq(post(heard, sizeof heard, &server, "/api/train", "{}"), 400);
    ck_assert_ptr_nonnull(strstr(heard, "training is under way"));
    const char *told = wait_for_training(&server);
    ck_assert_msg(strstr(told, "\"models\":1") && strstr(told, "\"error\":\"\""), "%s", told);
    double loss = strtod(strstr(told, "\"loss\":") + 7, NULL), error = strtod(strstr(told, "_error\":") + 8, NULL);
    ck_assert_msg(loss > 0 && loss < 100 && error >= 0 && error < 100, "%s", told); /* of the cross-validation */
    ck_assert_int_eq(ask(heard, sizeof heard, &server, "/api/state"), 200);
    ck_assert_ptr_nonnull(strstr(heard, "\"has_model\":true"));
    stop(&server);
    char *record = NULL;
    ck_assert_int_eq(run_command(&record, "\"$CLEAVE\" inspect %s/label.cleave", folder()), 0);
    ck_assert_ptr_nonnull(strstr(record, "wmpmap"));
    ck_assert_int_eq(run_command(NULL, "test ! -e %s/strokes/.lessons/accepted", folder()), 0);
    free(record);
}
END_TEST

/* One mask beside a box, then beside strokes. */
START_TEST(boxes_and_strokes_teach_the_model_in_the_background)
{
    static const char *const strokes[] = {
        "{\"revision\":0,\"kind\":\"box\",\"object\":0,\"label\":1,\"radius\":0,\"points\":[5,5,35,25]}",
        "{\"revision\":1,\"kind\":\"figure\",\"object\":0,\"label\":1,\"radius\":3,\"points\":[20,15]}"};
    make_labelled_set();
    ck_assert_int_eq(run_command(NULL, "rm $(ls -d %s/masks/* | tail -1)", folder()), 0);
    struct server server = start();
    ck_assert_int_eq(post(heard, sizeof heard, &server, "/api/open/1", "{}"), 200);
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(post(heard, sizeof heard, &server, "/api/stroke/1", strokes[k]), 200);
        ck_assert_int_eq(post(heard, sizeof heard, &server, "/api/train", "{}"), 200);
        const char *told = wait_for_training(&server);
        ck_assert_msg(strstr(told, formatted("\"models\":%d", k + 1)) && strstr(told, "\"error\":\"\""), "%s", told);
        ck_assert_msg((strstr(told, "\"loss\":null") == NULL) == (k == 1), "%s",
                      told); /* two masks are cross-validated */
    }
    stop(&server);
    ck_assert_int_eq(run_command(NULL, "test ! -e %s/.lessons.tsv", folder()), 0);
}
END_TEST

START_TEST(a_training_that_fails_says_why_and_leaves_no_model)
{
    make_labelled_set();
    struct server server = start();
    ck_assert_int_eq(run_command(NULL, "for f in %s/*.jpg; do echo x >$f; done", folder()), 0);
    ck_assert_int_eq(post(heard, sizeof heard, &server, "/api/train", "{}"), 200);
    const char *told = wait_for_training(&server);
    ck_assert_msg(strstr(told, "\"models\":0") && strstr(told, "2 of 2 images cannot be learned from") &&
                      strstr(told, "\"loss\":null"),
                  "%s", told);
    stop(&server);
    ck_assert_int_eq(run_command(NULL, "test ! -e %s/label.cleave", folder()), 0);
}
END_TEST

START_TEST(a_training_is_stopped_by_the_page_and_with_the_program)
{
    make_labelled_set();
    struct server server = start();
    ck_assert_int_eq(post(heard, sizeof heard, &server, "/api/train", "{}"), 200);
    ck_assert_int_eq(post(heard, sizeof heard, &server, "/api/stop", "{}"), 200);
    const char *told = wait_for_training(&server);
    ck_assert_msg(strstr(told, "\"error\":\"\""), "%s", told); /* it did as it was told */
    ck_assert_int_eq(post(heard, sizeof heard, &server, "/api/train", "{}"), 200);
    stop(&server); /* waits for its child */
}
END_TEST

/* A desktop whose xdg-open writes what it was given into `opened`. */
static void make_desktop(void)
{
    const char *opener = formatted("%s/bin/xdg-open", temporary_folder());
    ck_assert_int_eq(
        run_command(NULL, "mkdir %s/bin %s/run && printf '#!/bin/sh\\necho \"$*\" >%s/opened\\n' >%s && chmod +x %s",
                    temporary_folder(), temporary_folder(), temporary_folder(), opener, opener),
        0);
    setenv("DISPLAY", ":7", 1);
    setenv("PATH", formatted("%s/bin:%s", temporary_folder(), getenv("PATH")), 1);
    setenv("XDG_RUNTIME_DIR", formatted("%s/run", temporary_folder()), 1);
}

/* What was opened, to free(). */
static char *opened_path(void)
{
    char *path = NULL;
    ck_assert_int_eq(run_command(&path,
                                 "for i in $(seq 1500); do test -s %s/opened && break; sleep .02; done; "
                                 "printf %%s \"$(cat %s/opened)\"",
                                 temporary_folder(), temporary_folder()),
                     0);
    return path;
}

/* Everybody can read the arguments of xdg-open and of the browser. */
START_TEST(the_browser_is_given_a_file_of_its_own_that_leads_to_the_link)
{
    make_set();
    make_desktop();
    struct server server = start_with((const char *const[]){NULL});
    char *path = opened_path(), *page, *mode = NULL;
    ck_assert_msg(strstr(path, formatted("%s/run/", temporary_folder())) == path, "%s", path);
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
    free(path);
    free(page);
    free(mode);
}
END_TEST

START_TEST(a_runtime_folder_that_is_not_there_is_replaced_by_a_temporary_one)
{
    make_set();
    make_desktop();
    ck_assert_int_eq(run_command(NULL, "rmdir %s/run && mkdir %s/other", temporary_folder(), temporary_folder()), 0);
    setenv("TMPDIR", formatted("%s/other", temporary_folder()), 1);
    struct server server = start_with((const char *const[]){NULL});
    char *path = opened_path();
    ck_assert_msg(strstr(path, formatted("%s/other/", temporary_folder())) == path, "%s", path);
    stop(&server);
    ck_assert_int_eq(run_command(NULL, "rmdir %s/other", temporary_folder()), 0);
    free(path);
}
END_TEST

START_TEST(no_browser_is_opened_without_a_desktop_or_when_none_is_wanted)
{
    static const char *const nothing[] = {NULL}, *const no_browser[] = {"--no-browser", NULL};
    make_set();
    make_desktop();
    for (int k = 0; k < 2; k++) {
        unsetenv(k ? "NONE" : "DISPLAY");
        unsetenv("WAYLAND_DISPLAY");
        struct server server = start_with(k ? no_browser : nothing);
        setenv("DISPLAY", ":7", 1);
        ck_assert_int_eq(ask(heard, sizeof heard, &server, "/"), 200);
        stop(&server);
        ck_assert_int_eq(run_command(NULL, "test ! -e %s/opened && rmdir %s/run && mkdir %s/run", temporary_folder(),
                                     temporary_folder(), temporary_folder()),
                         0);
    }
}
END_TEST

START_TEST(the_link_changes_for_a_cookie)
{
    make_set();
    struct server server = start_with((const char *const[]){"--no-browser", "--listen", "127.0.0.1", NULL});
    const char *link = formatted("/?token=%s", server.token);
    const char *request =
        formatted("GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n", link, server.port);
    ck_assert_str_eq(server.links, formatted("http://127.0.0.1:%d%s\n", server.port, link));
    ck_assert_int_eq(exchange(heard, sizeof heard, &server, request, strlen(request)), 303);
    ck_assert_ptr_nonnull(strstr(heard, "Location: /\r\n"));
    ck_assert_ptr_nonnull(strstr(
        heard, formatted("Set-Cookie: cleave-%d=%s; HttpOnly; SameSite=Lax; Path=/\r\n", server.port, server.token)));
    ck_assert_int_eq(ask(heard, sizeof heard, &server, "/"), 200);
    ck_assert_ptr_nonnull(strstr(heard, "<!doctype html>"));
    stop(&server);
}
END_TEST

START_TEST(bodies_without_end_are_refused)
{
    make_set();
    struct server server = start();
    size_t size = 3u << 19; /* half a megabyte too many */
    char *request = malloc(size + 1000);
    int head = snprintf(request, 1000,
                        "POST /api/label HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\n"
                        "Cookie: cleave-%d=%s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
                        server.port, server.port, server.port, server.token, size);
    memset(request + head, ' ', size);
    ck_assert_int_eq(exchange(heard, sizeof heard, &server, request, (size_t)head + size), 413);
    stop(&server);
    free(request);
}
END_TEST

Suite *cli_label_training_suite(void)
{
    Suite *suite = suite_create("cli_label_training");
    TCase *tcase = tcase_create("cli_label_training");
    tcase_add_test(tcase, a_training_in_the_background_makes_the_model_that_the_page_then_has);
    tcase_add_test(tcase, boxes_and_strokes_teach_the_model_in_the_background);
    tcase_add_test(tcase, a_training_that_fails_says_why_and_leaves_no_model);
    tcase_add_test(tcase, a_training_is_stopped_by_the_page_and_with_the_program);
    tcase_add_test(tcase, the_browser_is_given_a_file_of_its_own_that_leads_to_the_link);
    tcase_add_test(tcase, a_runtime_folder_that_is_not_there_is_replaced_by_a_temporary_one);
    tcase_add_test(tcase, no_browser_is_opened_without_a_desktop_or_when_none_is_wanted);
    tcase_add_test(tcase, the_link_changes_for_a_cookie);
    tcase_add_test(tcase, bodies_without_end_are_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}
