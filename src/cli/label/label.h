/* `cleave label`: a page in the browser on which images are labelled with minimum cuts.
 *
 * Read cmd_label.c first: it opens the folder (src/page), starts the server (server.c, the only file that includes
 * libmicrohttpd) and waits for a signal. trainer.c trains in another process. */
#ifndef CLI_LABEL_H
#define CLI_LABEL_H

#include "base/base.h"
#include "page/page.h"

/* Runs `cleave train` on the set that the page exports and parses its output. */
struct label_trainer;
enum clv_status label_trainer_new(struct label_trainer **trainer, const char *model, struct clv_error *err) CLV_CHECK;
void label_trainer_free(struct label_trainer *trainer); /* stops a training */
DROPS(label_trainer_drop, struct label_trainer, label_trainer_free)
struct page_trainer label_trainer_view(struct label_trainer *trainer);

struct label_server;
/* Listens on an IPv4 or IPv6 address (0.0.0.0 and :: mean all of this machine's); port 0 chooses a free port. Sets
 * access->hosts, access->cookie and `links`, one line per link with the token. CLV_ERR_OS if the address or the port is
 * not available. */
enum clv_status label_server_new(struct label_server **server, struct text *links, struct page_access *access,
                                 const char *address, int32_t port, struct clv_error *err) CLV_CHECK;
/* Serves the session until *stop becomes non-zero. */
enum clv_status label_server_run(struct label_server *server, struct page_session *session, const volatile int *stop,
                                 struct clv_error *err) CLV_CHECK;
void label_server_free(struct label_server *server);
DROPS(label_server_drop, struct label_server, label_server_free)

#endif
