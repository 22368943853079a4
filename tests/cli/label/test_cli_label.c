/* `cleave label` as a program: what it refuses to start on, and requests that mean ill. */
#include <time.h>

#include "cli/label/small_server.h"
#include "support/images.h"

#define N_HOSTILE     10000
#define SLACK         ((IS_SANITIZED ? 512 : 4) << 20) /* bytes */
#define N_STRANGERS   340                              /* more than the server has places for */
#define MAX_STRANGERS 64                               /* of which it keeps so many */
#define N_READERS     10

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
static const char *const bodies[] = {
    "",
    "{}",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "{\"revision\":0,\"kind\":\"foreground\",\"object\":1e9,\"label\":1,\"points\":[1]}",
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

TEST(ten_thousand_hostile_requests_change_nothing)
{
    make_set();
    struct server server = start();
    static char answer[1 << 16], bytes[1 << 16];
    long before = 0;
    ck_assert_int_eq(ask(answer, sizeof answer, &server, "/api/state"), 200);
    for (uint32_t k = 0; k < N_HOSTILE; k++) {
        size_t size = hostile(bytes, sizeof bytes, &server, k);
        int code = exchange(answer, sizeof answer, &server, bytes, size);
        /* libmicrohttpd 1.0 itself answers an address with spaces in it, by the same one without. */
        ck_assert_msg(code == 0 || code == 301 || code >= 400, "%u: %d\n%s", k, code, bytes);
        if (k == N_HOSTILE / 4)
            before = memory_of(&server);
    }
    ck_assert_int_lt(memory_of(&server) - before, SLACK);
    /* Headers without end. */
    memset(bytes, 'x', sizeof bytes);
    memcpy(bytes, "GET / HTTP/1.1\r\nX: ", 19);
    ck_assert_int_ge(exchange(answer, sizeof answer, &server, bytes, sizeof bytes), 0);
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/open/1", "{}"), 200);
    ck_assert_ptr_nonnull(strstr(answer, "default-src 'self'"));
    ck_assert_ptr_nonnull(strstr(answer, "nosniff"));
    ck_assert_ptr_nonnull(strstr(answer, "frame-ancestors 'none'"));
    stop(&server);
    run_here("test -z \"$(ls %s/masks %s/strokes | grep -v :)\"", folder(), folder());
}

static void close_all(const int *connections, int n)
{
    for (int k = 0; k < n; k++)
        close(connections[k]);
}

/* A byte of a header now and then, for longer than the owner waits for an answer. */
static pid_t dribble(const int *connections, int n)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    for (int round = 0; child == 0 && round < 40; round++) {
        for (int k = 0; k < n; k++)
            (void)!send(connections[k], "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        sleep(1);
    }
    if (child == 0)
        _exit(0);
    return child;
}

TEST(strangers_who_wait_or_dribble_keep_nobody_waiting)
{
    make_set();
    struct server server = start();
    static char answer[1 << 16];
    int connections[N_STRANGERS];
    for (int k = 0; k < N_STRANGERS; k++) {
        connections[k] = connect_to(&server);
        (void)!send(connections[k], "GET / HTTP/1.1\r\nX: ", k % 2 ? 19 : 0, MSG_NOSIGNAL);
    }
    pid_t child = dribble(connections, N_STRANGERS);
    for (int k = 0; k < 3; k++)
        ck_assert_int_eq(ask(answer, sizeof answer, &server, "/api/state"), 200);
    int n_open = 0; /* the first had to go */
    for (int k = 0; k < N_STRANGERS; k++)
        n_open += recv(connections[k], answer, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
    ck_assert_int_le(n_open, MAX_STRANGERS);
    ck_assert_int_eq(recv(connections[0], answer, 1, MSG_DONTWAIT), 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close_all(connections, N_STRANGERS);
    stop(&server);
}

TEST(headers_have_a_deadline)
{
    make_set();
    struct server server = start();
    char answer[64];
    int connection = connect_to(&server);
    pid_t child = dribble(&connection, 1);
    (void)!send(connection, "GET / HTTP/1.1\r\nX: ", 19, MSG_NOSIGNAL);
    ssize_t n = recv(connection, answer, sizeof answer, 0);
    ck_assert_msg(n == 0 || (n < 0 && errno == ECONNRESET), "%d: %s", (int)n, strerror(errno));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(connection);
    stop(&server);
}

/* On a connection that stays. */
static void ask_again(int connection, const struct server *server)
{
    char answer[1 << 12];
    const char *request = formatted("GET /api/training HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nCookie: cleave-%d=%s\r\n\r\n",
                                    server->port, server->port, server->token);
    ck_assert_int_eq(send(connection, request, strlen(request), MSG_NOSIGNAL), (ssize_t)strlen(request));
    ssize_t n = recv(connection, answer, sizeof answer - 1, 0);
    answer[n > 0 ? n : 0] = 0;
    ck_assert_msg(strncmp(answer, "HTTP/1.1 200", 12) == 0, "%s", answer);
}

TEST(who_was_let_in_makes_way_for_no_stranger)
{
    make_set();
    struct server server = start();
    int strangers[100];
    char answer[1 << 12];
    for (int k = 0; k < 100; k++) /* these are no more */
        ck_assert_int_eq(exchange(answer, sizeof answer, &server, "GET / HTTP/1.0\r\n\r\n", 18), 421);
    int connection = connect_to(&server);
    ask_again(connection, &server);
    for (int k = 0; k < 100; k++) {
        strangers[k] = connect_to(&server);
        ask_again(connection, &server);
    }
    ck_assert_int_eq(recv(strangers[0], answer, 1, 0), 0);
    ask_again(connection, &server);
    close_all(strangers, 100);
    close(connection);
    stop(&server);
}

/* Nor is a stranger sent away who only needs a moment. */
TEST(headers_may_come_in_parts)
{
    make_set();
    struct server server = start();
    char answer[1 << 12];
    int connection = connect_to(&server);
    nanosleep(&(struct timespec){.tv_nsec = 400000000}, NULL);
    ck_assert_int_eq(send(connection, "GET /?token=", 12, MSG_NOSIGNAL), 12);
    nanosleep(&(struct timespec){.tv_nsec = 400000000}, NULL);
    const char *rest =
        formatted("%s HTTP/1.1\r\nHost: localhost:%d\r\nConnection: close\r\n\r\n", server.token, server.port);
    ck_assert_int_eq(exchange_by(connection, answer, sizeof answer, rest, strlen(rest)), 303);
    stop(&server);
}

/* The answer comes although the body does not. */
TEST(bodies_of_strangers_are_not_waited_for)
{
    make_set();
    struct server server = start();
    char answer[1 << 12];
    static const int codes[] = {403, 421, 403, 404};
    for (int k = 0; k < 4; k++) {
        const char *request =
            formatted("POST /api/%s HTTP/1.1\r\nHost: %s:%d\r\nOrigin: http://%s:%d\r\nCookie: cleave-%d=%s\r\n"
                      "Content-Length: 1000000\r\n\r\n{",
                      k == 3 ? "nothing" : "label", k == 1 ? "evil.example" : "127.0.0.1", server.port,
                      k == 2 ? "evil.example" : "127.0.0.1", server.port, server.port, k == 0 ? "0" : server.token);
        int connection = connect_to(&server), code = 0;
        ck_assert_int_gt(send(connection, request, strlen(request), MSG_NOSIGNAL), 0);
        ssize_t n = recv(connection, answer, sizeof answer - 1, 0);
        answer[n > 0 ? n : 0] = 0;
        ck_assert_int_eq(sscanf(answer, "HTTP/1.1 %d", &code), 1);
        ck_assert_int_eq(code, codes[k]);
        close(connection);
    }
    stop(&server);
}

/* Bytes after a PNG's end, here 64 MB, are not part of the image. */
TEST(large_photos_are_sent_from_their_file)
{
    const off_t size = 64 << 20;
    make_set();
    run_here("cp synth/masks/0001.png %s/0000.png && truncate -s 64M %s/0000.png", folder(), folder());
    struct server server = start();
    static char answer[1 << 20];
    int readers[N_READERS];
    ck_assert_int_eq(ask(answer, sizeof answer, &server, "/api/state"), 200);
    long before = memory_of(&server);
    const char *request = formatted("GET /api/image/0 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nCookie: cleave-%d=%s\r\n"
                                    "Connection: close\r\n\r\n",
                                    server.port, server.port, server.token);
    for (int k = 0; k < N_READERS; k++) {
        readers[k] = connect_to(&server);
        ck_assert_int_gt(send(readers[k], request, strlen(request), MSG_NOSIGNAL), 0);
        ck_assert_int_gt(recv(readers[k], answer, 1000, 0), 0);
    }
    ck_assert_int_lt(memory_of(&server) - before, size / 2);
    off_t got = 0;
    for (ssize_t n; (n = recv(readers[0], answer, sizeof answer, 0)) > 0;)
        got += n;
    ck_assert_int_gt(got, size - 1000);
    close_all(readers, N_READERS);
    ck_assert_int_eq(ask(answer, sizeof answer, &server, "/api/state"), 200);
    stop(&server);
}

/* Whoever is let in by a tunnel names its end, not the address. */
TEST(one_address_is_listened_on_under_its_name_and_as_the_end_of_a_tunnel)
{
    make_set();
    struct server server = start_with((const char *const[]){"--no-browser", "--listen", "127.0.0.2", NULL});
    static const char *const names[] = {"127.0.0.2", "localhost", "127.0.0.1", "127.0.0.3"};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server.port)};
    char answer[1 << 12];
    ck_assert_int_eq(inet_pton(AF_INET, "127.0.0.2", &at.sin_addr), 1);
    ck_assert_str_eq(server.links, formatted("http://127.0.0.2:%d/?token=%s\n", server.port, server.token));
    for (int k = 0; k < 4; k++) {
        const char *request = formatted("GET /?token=%s HTTP/1.1\r\nHost: %s:%d\r\nConnection: close\r\n\r\n",
                                        server.token, names[k], server.port);
        int connection = connect_by((struct sockaddr *)&at, sizeof at);
        ck_assert_int_eq(exchange_by(connection, answer, sizeof answer, request, strlen(request)), k < 3 ? 303 : 421);
    }
    stop(&server);
}

TEST(every_answer_says_what_browsers_must_not_do)
{
    static const char *const headers[] = {
        "Content-Security-Policy: default-src 'self'; img-src 'self' blob: data:; frame-ancestors 'none'; "
        "base-uri 'none'; form-action 'none'",
        "X-Content-Type-Options: nosniff",
        "X-Frame-Options: DENY",
        "Referrer-Policy: no-referrer",
        "Cross-Origin-Opener-Policy: same-origin",
        "Cross-Origin-Resource-Policy: same-origin",
        "Cache-Control: no-store"};
    static const char *const asked[] = {"/", "/api/state", "/api/image/0", "/api/nothing"};
    static const char *const types[] = {"text/html; charset=utf-8", "application/json", "image/jpeg",
                                        "application/json"};
    static char answer[1 << 16];
    make_set();
    struct server server = start();
    for (int k = 0; k < 4; k++) {
        ck_assert_int_eq(ask(answer, sizeof answer, &server, asked[k]), k < 3 ? 200 : 404);
        ck_assert_ptr_nonnull(strstr(answer, formatted("\r\nContent-Type: %s\r\n", types[k])));
        for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
            ck_assert_msg(strstr(answer, formatted("\r\n%s\r\n", headers[i])) != NULL, "%s: %s", asked[k], headers[i]);
    }
    stop(&server);
}

/* Where the server ends a connection, the system still keeps its port for a minute. */
TEST(a_port_is_free_again_at_once)
{
    char port[16], token[64];
    make_set();
    struct server server = start();
    int connection = connect_to(&server);
    ask_again(connection, &server);
    snprintf(port, sizeof port, "%d", server.port);
    memcpy(token, server.token, sizeof token);
    stop(&server);
    close(connection);
    server = start_with((const char *const[]){"--no-browser", "--port", port, NULL});
    ck_assert_str_eq(formatted("%d", server.port), port);
    ck_assert_uint_eq(strspn(token, "0123456789abcdef"), 32);
    ck_assert_str_ne(token, server.token);
    stop(&server);
}

TEST(boxes_of_another_program_and_limits_of_images_reach_the_page)
{
    static char answer[1 << 16];
    make_set();
    const char *boxes = here("boxes.tsv");
    FILE *stream = fopen(boxes, "w");
    ck_assert_ptr_nonnull(stream);
    fprintf(stream, "image\tx\ty\tw\th\n0001.jpg\t5\t6\t20\t15\n");
    ck_assert_int_eq(fclose(stream), 0);
    struct server server = start_with((const char *const[]){"--no-browser", "--boxes", boxes, NULL});
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/open/0", "{}"), 200);
    ck_assert_msg(strstr(answer, "\"objects\":[{\"object\":0"), "%s", answer);
    stop(&server);
    server = start_with((const char *const[]){"--no-browser", "--max-pixels", "100", NULL});
    ck_assert_int_eq(post(answer, sizeof answer, &server, "/api/open/0", "{}"), 422);
    stop(&server);
}

/* What a server writes until it has printed its link; with this --listen. */
static char *noted(const char *more)
{
    char *text = NULL;
    ck_assert_int_eq(
        run_command(
            &text,
            "cd $HERE && rm -f link && { cleave label --no-browser %s set >link 2>notes & } && p=$! && for i in $(seq "
            "1500); do test -s link && break; sleep .02; done; kill -TERM $p; wait $p; test $? = 143 && cat notes",
            more),
        0);
    return text;
}

TEST(who_listens_for_others_is_warned)
{
    make_set();
    OWNED_ARRAY char *alone = noted(""), *open = noted("--listen 127.0.0.2");
    ck_assert(!strstr(alone, "whoever"));
    ck_assert_ptr_nonnull(strstr(open, "--listen 127.0.0.2: whoever can reach this machine there and sees the link"));
}

/* By this address as the link has it; the answer's code. */
static int ask_at(const struct server *server, const char *host)
{
    char answer[1 << 12];
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server->port)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)server->port)};
    bool is_four = inet_pton(AF_INET, host, &four.sin_addr) == 1;
    ck_assert(is_four || inet_pton(AF_INET6, host, &six.sin6_addr) == 1);
    const char *request = formatted(is_four ? "GET /?token=%s HTTP/1.1\r\nHost: %s:%d\r\nConnection: close\r\n\r\n"
                                            : "GET /?token=%s HTTP/1.1\r\nHost: [%s]:%d\r\nConnection: close\r\n\r\n",
                                    server->token, host, server->port);
    int connection =
        is_four ? connect_by((struct sockaddr *)&four, sizeof four) : connect_by((struct sockaddr *)&six, sizeof six);
    return exchange_by(connection, answer, sizeof answer, request, strlen(request));
}

/* Each link opens the page; their number. */
static int check_links(const struct server *server)
{
    int n = 0;
    char host[64];
    for (const char *at = server->links; *at; at = strchr(at, '\n') + 1, n++) {
        ck_assert_int_eq(sscanf(at, "http://%63[0-9.]:", host) == 1 || sscanf(at, "http://[%63[0-9a-f:]]:", host) == 1,
                         1);
        ck_assert_int_eq(ask_at(server, host), 303);
        ck_assert_msg(!strstr(host, "fe80:"), "%s", host); /* of no use without the interface's name */
    }
    return n;
}

TEST(all_addresses_of_the_machine_are_listened_on_and_printed)
{
    char answer[1 << 12];
    make_set();
    struct server server = start_with((const char *const[]){"--no-browser", "--listen", "0.0.0.0", NULL});
    ck_assert_int_ge(check_links(&server), 1);
    ck_assert_ptr_nonnull(strstr(server.links, formatted("http://127.0.0.1:%d/?token=", server.port)));
    ck_assert_ptr_null(strstr(server.links, "["));
    ck_assert_ptr_null(strstr(server.links, "0.0.0.0"));
    const char *request = formatted("GET /?token=%s HTTP/1.1\r\nHost: evil.example:%d\r\nConnection: close\r\n\r\n",
                                    server.token, server.port);
    ck_assert_int_eq(exchange(answer, sizeof answer, &server, request, strlen(request)), 421);
    stop(&server);
}

TEST(addresses_of_both_kinds_are_listened_on_and_written_as_browsers_do)
{
    if (access("/proc/net/if_inet6", F_OK) != 0) {
        skip("addresses_of_both_kinds_are_listened_on_and_written_as_browsers_do", "there is no IPv6");
        return;
    }
    make_set();
    struct server server = start_with((const char *const[]){"--no-browser", "--listen", "::", NULL});
    ck_assert_int_ge(check_links(&server), 2);
    ck_assert_ptr_nonnull(strstr(server.links, formatted("http://127.0.0.1:%d/?token=", server.port)));
    ck_assert_ptr_nonnull(strstr(server.links, formatted("http://[::1]:%d/?token=", server.port)));
    stop(&server);
    server = start_with((const char *const[]){"--no-browser", "--listen", "0:0:0:0:0:0:0:1", NULL});
    ck_assert_int_eq(check_links(&server), 1);
    ck_assert_ptr_nonnull(strstr(server.links, formatted("http://[::1]:%d/?token=", server.port)));
    stop(&server);
}

static void expect(int code, const char *part, const char *arguments)
{
    OWNED_ARRAY char *output = NULL;
    int is = run_command(&output, "timeout 20 cleave label --no-browser %s", arguments);
    ck_assert_msg(is == code && strstr(output, part), "%s: %d %s", arguments, is, output);
}

TEST(what_cannot_be_served_is_reported_at_once)
{
    make_set();
    struct server server = start();
    char other[512];
    snprintf(other, sizeof other, "%s/other", temporary_folder());
    run_here("cp -r %s %s", folder(), other);
    expect(64, "which folder", "");
    expect(64, "b: label takes one folder, and a is there already", "a b");
    expect(64, "--port: \"65536\"", formatted("--port 65536 %s", folder()));
    expect(64, "is not an IPv4 or IPv6 address", formatted("--listen horse %s", other));
    expect(66, "absent", here("absent"));
    expect(66, "is not a folder", here("synth/manifest.tsv"));
    run_here("mkdir bare");
    expect(66, "holds no image", here("bare"));
    expect(75, "cleave label has it open", folder());
    expect(71, "; --port names another one", formatted("--port %d %s", server.port, other));
    stop(&server);
}

TEST(a_folder_that_may_not_be_written_to_is_refused)
{
    const char *other = getuid() == 0 ? "setpriv --reuid 65534 --clear-groups" : ""; /* nothing stops a superuser */
    OWNED_ARRAY char *output = NULL;
    if (run_command(NULL, "%s timeout 20 cleave --version", other) != 0) {
        skip("a_folder_that_may_not_be_written_to_is_refused", "nobody but root may run what is in root's own folder");
        return;
    }
    make_set();
    run_here("chmod 755 $HERE && chmod 555 %s", folder());
    int is = run_command(&output, "%s timeout 20 cleave label --no-browser %s", other, folder());
    ck_assert_msg(is == 73 && strstr(output, "/set: cannot save labels there"), "%d %s", is, output);
    run_here("chmod 755 %s", folder());
}
