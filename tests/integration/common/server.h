/* SPDX-License-Identifier: BSD-3-Clause */
/* A listener of a test, the clients that it has heard of, and the client's
 * side of meeting it. */
#ifndef INTEGRATION_SERVER_H
#define INTEGRATION_SERVER_H

#include "side.h"

#include <sys/socket.h>

enum { SERVER_MAX_REQUESTS = 64 };

struct server {
    struct side *side;
    ucp_listener_h listener;
    struct sockaddr_storage address;
    ucp_conn_request_h requests[SERVER_MAX_REQUESTS]; /* first come first */
    unsigned count;
    ucp_ep_h accepted;    /* by the old handler, the last one */
};

/* As side_open, for workers that can sleep if the features say so. */
void server_open_side(struct side *side, uint64_t features, uint64_t client_id);

/* True if this host can listen at an address, given as text. */
bool server_has_host(const char *host);

/* Listens on a free port of the host, given as text. With `old_handler` the
 * library answers by itself. */
void server_open(struct server *server, struct side *side, const char *host,
                 bool old_handler);
void server_close(struct server *server);

/* A free port of 127.0.0.1 where nobody listens. It stays so, but for
 * server_open_at, until the descriptor is closed: a port that was free a moment
 * ago may be somebody else's. */
int server_hold_port(struct sockaddr_storage *address);

/* As server_open, at an address. */
void server_open_at(struct server *server, struct side *side,
                    const struct sockaddr_storage *address);

/* The handler, for listeners that a test makes by itself. */
void server_on_request(ucp_conn_request_h request, void *server);

/* Sends the listener's address, or gets it. */
void server_tell(struct server *server, struct team *team, int rank);
struct sockaddr_storage server_learn(struct team *team, int rank);

/* Progresses until a client is there, and tells who. */
ucp_conn_request_attr_t server_next(struct server *server);

/* Takes the first request out of the list. */
ucp_conn_request_h server_take(struct server *server);

/* Answers it with an endpoint on a worker. */
struct side_ep *server_accept(struct server *server, struct side *side);

/* Likewise; NULL if that cannot be: the client has gone. */
struct side_ep *server_try_accept(struct server *server, struct side *side);

/* Progresses until the library has answered one. */
struct side_ep *server_accepted(struct server *server);

/* The client's side; flags: UCP_EP_PARAMS_FLAGS_*. */
struct side_ep *server_connect(struct side *side,
                               const struct sockaddr_storage *address,
                               unsigned flags);

/* Likewise; NULL: *status_p tells why not. */
struct side_ep *server_try_connect(struct side *side,
                                   const struct sockaddr_storage *address,
                                   unsigned flags, ucs_status_t *status_p);

/* True for the same host and port. */
bool server_is_same(const struct sockaddr_storage *a,
                    const struct sockaddr_storage *b);

#endif
