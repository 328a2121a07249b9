/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A listener of a test, the connection requests that it has received, and the
 * client's side of a connection.
 */
#ifndef INTEGRATION_SERVER_H
#define INTEGRATION_SERVER_H

#include "side.h"

#include <sys/socket.h>

enum { SERVER_MAX_REQUESTS = 64 };

struct server {
    struct side *side;
    ucp_listener_h listener;
    struct sockaddr_storage address;
    ucp_conn_request_h requests[SERVER_MAX_REQUESTS]; /* In order of arrival */
    unsigned count;
    ucp_ep_h accepted; /* The last endpoint from the deprecated handler */
};

/* Like side_open(), with wake-up if the features include it. */
void server_open_side(struct side *side, uint64_t features, uint64_t client_id);

/* Fills the address, without a port, from text. RDMA devices cannot connect to
 * 127.0.0.1: TEST_SERVER_HOST replaces it. Returns the address's length. */
socklen_t server_make_address(const char *host,
                              struct sockaddr_storage *address);

/* Returns whether this host can listen at an address, given as text. */
bool server_has_host(const char *host);

/* Listens on a free port of the host, given as text. With `old_handler` the
 * library accepts requests itself. */
void server_open(struct server *server, struct side *side, const char *host,
                 bool old_handler);
void server_close(struct server *server);

/* Reserves a port of 127.0.0.1 on which no process listens. Until the
 * descriptor is closed, only server_open_at() can use it; without the
 * reservation another process could take the port. */
int server_hold_port(struct sockaddr_storage *address);

/* Like server_open(), at a given address. */
void server_open_at(struct server *server, struct side *side,
                    const struct sockaddr_storage *address);

/* The handler, for listeners that a test creates itself. */
void server_on_request(ucp_conn_request_h request, void *server);

/* Sends the listener's address to a member, or receives it. */
void server_tell(struct server *server, struct team *team, int rank);
struct sockaddr_storage server_learn(struct team *team, int rank);

/* Progresses until a request arrives; returns its attributes. */
ucp_conn_request_attr_t server_next(struct server *server);

/* Removes the first request from the list. */
ucp_conn_request_h server_take(struct server *server);

/* Accepts it with an endpoint on a worker. */
struct side_ep *server_accept(struct server *server, struct side *side);

/* Likewise; NULL if the client has ended. */
struct side_ep *server_try_accept(struct server *server, struct side *side);

/* Progresses until the library has accepted a request. */
struct side_ep *server_accepted(struct server *server);

/* Connects as a client; flags: UCP_EP_PARAMS_FLAGS_*. */
struct side_ep *server_connect(struct side *side,
                               const struct sockaddr_storage *address,
                               unsigned flags);

/* Likewise; NULL with the reason in *status_p. */
struct side_ep *server_try_connect(struct side *side,
                                   const struct sockaddr_storage *address,
                                   unsigned flags, ucs_status_t *status_p);

/* Returns whether host and port are equal. */
bool server_is_same(const struct sockaddr_storage *a,
                    const struct sockaddr_storage *b);

#endif
