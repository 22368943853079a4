/* `cleave label` started on a small folder, and requests to it over the network. */
#ifndef TESTS_SMALL_SERVER_H
#define TESTS_SMALL_SERVER_H

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/support.h"

static inline const char *folder(void)
{
    return here("set");
}

/* Of two images; what was drawn of them is next to them, in synth/. */
static inline void make_set(void)
{
    run_here("\"$SYNTH\" -n 2 --size 40x30 synth && mkdir %s && cp synth/images/* %s/", folder(), folder());
}

struct server {
    pid_t child;
    int port;
    char token[64];
    char links[4096]; /* all that it prints */
};

/* With these arguments, which end with NULL, after the folder. */
static inline struct server start_with(const char *const *more)
{
    struct server server = {0};
    int ends[2];
    run_here("true"); /* sets $CLEAVE */
    ck_assert_int_eq(pipe(ends), 0);
    const char *set = folder(); /* another one in another process */
    server.child = fork();
    ck_assert_int_ge(server.child, 0);
    if (server.child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failing test leaves none behind */
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        const char *arguments[8] = {"cleave", "label", set};
        for (int k = 0; more[k]; k++)
            arguments[3 + k] = more[k];
        execv(getenv("CLEAVE"), (char *const *)arguments);
        _exit(127);
    }
    close(ends[1]);
    ck_assert_int_gt(read(ends[0], server.links, sizeof server.links - 1), 0); /* they are written in one piece */
    close(ends[0]);
    const char *port = strstr(server.links, ":");
    while (port && sscanf(port, ":%d/?token=%32s", &server.port, server.token) != 2)
        port = strstr(port + 1, ":");
    ck_assert_msg(port != NULL, "%s", server.links);
    return server;
}

static inline struct server start(void)
{
    return start_with((const char *const[]){"--no-browser", NULL});
}

static inline void stop(const struct server *server)
{
    int how = 0;
    kill(server->child, SIGINT);
    ck_assert_int_eq(waitpid(server->child, &how, 0), server->child);
    ck_assert_msg(WIFEXITED(how) && WEXITSTATUS(how) == 130, "status is %d", how);
}

static inline int connect_by(const struct sockaddr *at, socklen_t size)
{
    struct timeval patience = {.tv_sec = 30};
    int connection = socket(at->sa_family, SOCK_STREAM, 0);
    ck_assert_int_ge(connection, 0);
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ck_assert_msg(connect(connection, at, size) == 0, "%s", strerror(errno));
    return connection;
}

static inline int connect_to(const struct server *server)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server->port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect_by((struct sockaddr *)&at, sizeof at);
}

/* Sends bytes and reads what comes until the other side closes, which closes the connection; the answer's code, 0:
 * none. */
static inline int exchange_by(int connection, char *answer, size_t capacity, const char *bytes, size_t size)
{
    int code = 0;
    size_t used = 0;
    (void)!send(connection, bytes, size, MSG_NOSIGNAL);
    shutdown(connection, SHUT_WR);
    for (ssize_t n; used + 1 < capacity && (n = recv(connection, answer + used, capacity - 1 - used, 0)) > 0;)
        used += (size_t)n;
    answer[used] = 0;
    close(connection);
    return sscanf(answer, "HTTP/1.%*d %d", &code) == 1 ? code : 0;
}

static inline int exchange(char *answer, size_t capacity, const struct server *server, const char *bytes, size_t size)
{
    return exchange_by(connect_to(server), answer, capacity, bytes, size);
}

/* As the page asks. */
static inline int ask(char *answer, size_t capacity, const struct server *server, const char *path)
{
    const char *request =
        formatted("GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nCookie: cleave-%d=%s\r\nConnection: close\r\n\r\n", path,
                  server->port, server->port, server->token);
    return exchange(answer, capacity, server, request, strlen(request));
}

/* The photo that an answer has shown last, and as which opening. */
struct shown {
    char photo[256];
    long long opening;
};

static inline void look_at(struct shown *shown, const char *answer)
{
    const char *opening = strstr(answer, "\"opening\":"), *name = opening ? strstr(opening, "\"name\":\"") : NULL;
    if (name && sscanf(name, "\"name\":\"%255[^\"]", shown->photo) == 1)
        shown->opening = strtoll(opening + strlen("\"opening\":"), NULL, 10);
}

/* The body with the names that the page adds: of the folder, or of the photo. */
static inline const char *with_names(const struct shown *shown, const char *path, const char *body)
{
    const char *comma = body[1] == '}' ? "" : ",";
    if (strncmp(path, "/api/stroke/", 12) == 0)
        return formatted("{\"photo\":\"%s\",\"opening\":%lld%s%s", shown->photo, shown->opening, comma, body + 1);
    if (strcmp(path, "/api/train") != 0 && strcmp(path, "/api/stop") != 0)
        return body;
    char whole[PATH_MAX];
    ck_assert_ptr_nonnull(realpath(folder(), whole));
    return formatted("{\"folder\":\"%s\"%s%s", whole, comma, body + 1);
}

static inline int post(char *answer, size_t capacity, const struct server *server, const char *path, const char *body)
{
    static struct shown shown;
    body = with_names(&shown, path, body);
    const char *request =
        formatted("POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\nCookie: cleave-%d=%s\r\n"
                  "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
                  path, server->port, server->port, server->port, server->token, strlen(body), body);
    int code = exchange(answer, capacity, server, request, strlen(request));
    look_at(&shown, answer);
    return code;
}

#endif
