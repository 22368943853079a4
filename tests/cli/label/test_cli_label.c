/* `cleave label` as a program: what it refuses to start on, and requests that mean ill. */
#include "cli/label/small_server.h"
#include "support/pictures.h"

#define N_HOSTILE     10000
#define SLACK         ((IS_SANITIZED ? 512 : 4) << 20) /* bytes */
#define N_CONNECTIONS 200

/* Resident memory in bytes. */
static long memory_of(const struct server *server)
{
    long pages = 0;
    FILE *stream = fopen(formatted("/proc/%d/statm", (int)server->child), "r");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(fscanf(stream, "%*d %ld", &pages), 1);
    fclose(stream);
    return pages * sysconf(_SC_PAGESIZE);
}

static const char *const methods[] = {"GET",   "POST",    "PUT",  "DELETE", "OPTIONS",
                                      "TRACE", "CONNECT", "HEAD", "",       "G\x01T"};
static const char *const paths[] = {"/",
                                    "/api/state",
                                    "/../../etc/passwd",
                                    "/%2e%2e/%2e%2e/etc/passwd",
                                    "/api/image/../../etc/passwd",
                                    "/api/image/0%00",
                                    "/api/image/99999999",
                                    "/api/image/-1",
                                    "/api/open/18446744073709551616",
                                    "/api/stroke/0",
                                    "/api/label",
                                    "/api/train",
                                    "/?token=",
                                    "/?token=0123456789abcdef0123456789abcdef",
                                    "*",
                                    "http://evil.example/",
                                    "/\xff\xfe"};
static const char *const hosts[] = {"127.0.0.1:%d", "localhost:%d", "evil.example:%d", "127.0.0.1:%d.evil.example",
                                    "%d"};
static const char *const bodies[] = {"",
                                     "{}",
                                     "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
                                     "{\"revision\":0,\"kind\":\"figure\",\"object\":1e9,\"label\":1,\"points\":[1]}",
                                     "{\"name\":\"\\u0000\"}",
                                     "\xff\xfe\xfd"};
#define PICK(list) (list[noise(&state) % (sizeof list / sizeof *list)])

/* One of ten thousand; none has the token. */
static size_t hostile(char *bytes, size_t capacity, const struct server *server, uint32_t number)
{
    uint32_t state = number;
    char host[64];
    noise(&state);
    const char *method = PICK(methods), *path = PICK(paths), *body = PICK(bodies);
    snprintf(host, sizeof host, PICK(hosts), server->port);
    size_t n = (size_t)snprintf(bytes, capacity,
                                "%s %s HTTP/1.%u\r\nHost: %s\r\nOrigin: http://%s\r\nCookie: cleave-%d=%08x\r\n"
                                "Content-Length: %u\r\nConnection: close\r\n\r\n%s",
                                method, path, (unsigned)noise(&state) % 3, host, host, server->port,
                                (unsigned)noise(&state), number % 7 ? (unsigned)strlen(body) : 4000000000u, body);
    for (uint32_t k = noise(&state) % 4 == 0 ? noise(&state) % 20 : 0; k > 0; k--)
        bytes[noise(&state) % n] = (char)noise(&state);
    return number % 11 ? n : noise(&state) % n; /* some end early */
}

START_TEST(ten_thousand_hostile_requests_change_nothing)
{
    make_set();
    struct server server = start();
    static char answer[1 << 16], bytes[1 << 16];
    long before = 0;
    ck_assert_int_eq(ask(answer, sizeof answer, &server, "/api/state"), 200);
    for (uint32_t k = 0; k < N_HOSTILE; k++) {
        size_t size = hostile(bytes, sizeof bytes, &server, k);
        int code = exchange(answer, sizeof answer, &server, bytes, size);
        ck_assert_msg(code == 0 || code >= 400, "%u: %d\n%s", k, code, bytes);
        if (k == N_HOSTILE / 4)
            before = memory_of(&server);
    }
    ck_assert_int_lt(memory_of(&server) - before, SLACK);
    /* Headers without end. */
    memset(bytes, 'x', sizeof bytes);
    memcpy(bytes, "GET / HTTP/1.1\r\nX: ", 19);
    ck_assert_int_ge(exchange(answer, sizeof answer, &server, bytes, sizeof bytes), 0);
    ck_assert_int_eq(ask(answer, sizeof answer, &server, "/api/open/1"), 200);
    ck_assert_ptr_nonnull(strstr(answer, "default-src 'self'"));
    ck_assert_ptr_nonnull(strstr(answer, "nosniff"));
    ck_assert_ptr_nonnull(strstr(answer, "frame-ancestors 'none'"));
    stop(&server);
    ck_assert_int_eq(run_command(NULL, "test -z \"$(ls %s/masks %s/strokes | grep -v :)\"", folder(), folder()), 0);
}
END_TEST

START_TEST(slow_connections_do_not_keep_the_page_waiting)
{
    make_set();
    struct server server = start();
    static char answer[1 << 16];
    int connections[N_CONNECTIONS];
    for (int k = 0; k < N_CONNECTIONS; k++) {
        const char *part = formatted(
            "POST /api/stroke/0 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 900000\r\n\r\n{", server.port);
        connections[k] = connect_to(&server);
        ck_assert_int_gt(send(connections[k], part, strlen(part), MSG_NOSIGNAL), 0);
    }
    ck_assert_int_eq(ask(answer, sizeof answer, &server, "/api/state"), 200);
    for (int k = 0; k < N_CONNECTIONS; k++)
        close(connections[k]);
    ck_assert_int_eq(ask(answer, sizeof answer, &server, "/api/state"), 200);
    stop(&server);
}
END_TEST

static void expect(int code, const char *part, const char *arguments)
{
    char *output = NULL;
    int is = run_command(&output, "timeout 20 \"$CLEAVE\" label --no-browser %s", arguments);
    ck_assert_msg(is == code && strstr(output, part), "%s: %d %s", arguments, is, output);
    free(output);
}

START_TEST(what_cannot_be_served_is_told_at_once)
{
    make_set();
    struct server server = start();
    char other[512];
    snprintf(other, sizeof other, "%s/other", temporary_folder());
    ck_assert_int_eq(run_command(NULL, "cp -r %s %s", folder(), other), 0);
    expect(64, "which folder", "");
    expect(64, "takes one folder", formatted("%s %s", folder(), folder()));
    expect(64, "--port: \"65536\"", formatted("--port 65536 %s", folder()));
    expect(64, "no IPv4 or IPv6 address", formatted("--listen horse %s", other));
    expect(66, "absent", formatted("%s/absent", temporary_folder()));
    expect(66, "is no folder", formatted("%s/synth/manifest.tsv", temporary_folder()));
    ck_assert_int_eq(run_command(NULL, "mkdir %s/bare", temporary_folder()), 0);
    expect(66, "holds no image", formatted("%s/bare", temporary_folder()));
    expect(75, "another run writes there now", folder());
    expect(71, "Address already in use", formatted("--port %d %s", server.port, other));
    stop(&server);
}
END_TEST

START_TEST(a_folder_that_may_not_be_written_to_is_refused)
{
    make_set();
    ck_assert_int_eq(run_command(NULL, "chmod 755 %s && chmod 555 %s", temporary_folder(), folder()), 0);
    char *output = NULL; /* nothing stops a superuser */
    int is = run_command(&output, "%s timeout 20 \"$CLEAVE\" label --no-browser %s",
                         getuid() == 0 ? "setpriv --reuid 65534 --clear-groups" : "", folder());
    ck_assert_msg(is == 73 && strstr(output, "cannot create"), "%d %s", is, output);
    ck_assert_int_eq(run_command(NULL, "chmod 755 %s", folder()), 0);
    free(output);
}
END_TEST

Suite *cli_label_suite(void)
{
    Suite *suite = suite_create("cli_label");
    TCase *tcase = tcase_create("cli_label");
    tcase_add_test(tcase, ten_thousand_hostile_requests_change_nothing);
    tcase_add_test(tcase, slow_connections_do_not_keep_the_page_waiting);
    tcase_add_test(tcase, what_cannot_be_served_is_told_at_once);
    tcase_add_test(tcase, a_folder_that_may_not_be_written_to_is_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}
