/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection manager: clients and servers connect by socket address and
 * exchange a few bytes, over separate sockets (wire.h).
 *
 * One epoll descriptor monitors the sockets. The host's asynchronous handler
 * monitors that descriptor and schedules cm_progress() in the worker, which
 * does all work. cm_progress() alone calls the user's callbacks, except that
 * creating a server's endpoint calls its pack callback, and closing the manager
 * calls completions of flushes. One call of cm_progress() is a round.
 *
 * A link is a connection to one client or server:
 *
 *   state       owner              waits for                     next state
 *   UNKNOWN     the manager        a whole REQUEST (timeout)     REQUESTED
 *   REQUESTED   the user (request) ep_create (reject: freed)     ACCEPTED
 *   ACCEPTED    server's endpoint  NOTIFY                        CONNECTED
 *   CONNECTING  client's endpoint  connect() (timeout)           RESOLVED
 *   RESOLVED    client's endpoint  the user's uct_ep_connect     ASKED
 *   ASKED       client's endpoint  ACCEPT (REJECT: DEAD)         CONNECTED
 *   CONNECTED   an endpoint        DISCONNECT of either side     CONNECTED
 *   DEAD        none               the end of the round          -
 *
 * LEFT is the answer to DISCONNECT; it changes no state, but flushes wait for
 * it.
 *
 * The end of the stream closes an UNKNOWN link and is not noticed in REQUESTED.
 * In ACCEPTED, CONNECTING, RESOLVED and ASKED the callback that is due reports
 * it as an error; in CONNECTED it counts as a DISCONNECT of the peer.
 *
 * The user may answer a request from any thread and on another manager, which
 * takes over the link. Therefore nothing monitors a REQUESTED link, and a
 * thread that takes it from the list `requested` needs only `requested_lock`.
 */
#ifndef TCP_CM_H
#define TCP_CM_H

#include "config.h"
#include "list.h"
#include "plugin.h"
#include "wire.h"

#include <pthread.h>
#include <ucx/cm.h>

enum tcp_cm_link_state {
    TCP_CM_UNKNOWN,
    TCP_CM_REQUESTED,
    TCP_CM_ACCEPTED,
    TCP_CM_CONNECTING,
    TCP_CM_RESOLVED,
    TCP_CM_ASKED,
    TCP_CM_CONNECTED,
    TCP_CM_DEAD,
};

typedef struct tcp_cm {
    uct_cm_t super;
    const ucx_host_t *host;
    tcp_cm_config_t config;
    uint64_t locality; /* Identifies the kernel and network namespace */
    int epoll_fd;
    int timer_fd;
    ucx_async_id_t async_id; /* The host's handler that monitors epoll_fd */
    tcp_list_t listeners;
    tcp_list_t links;     /* Links in all states but UNKNOWN, REQUESTED and
                           * DEAD */
    tcp_list_t unknown;   /* Links in the state UNKNOWN, oldest first */
    tcp_list_t requested; /* Links in the state REQUESTED */
    pthread_mutex_t requested_lock; /* Protects `requested` */
    tcp_list_t dead;                /* Links to free at the end of the round */
    tcp_list_t dead_listeners; /* Listeners to free at the end of the round */
    tcp_list_t flushed;   /* Flushes whose completions are called before the end
                           * of the round */
    unsigned num_unknown; /* Number of elements of `unknown` */
    int in_progress;
    double timer_at; /* Host time at which the timer expires; 0: not set */
    double log_time; /* Host time of the last rate-limited message */
} tcp_cm_t;

typedef struct tcp_cm_listener {
    uct_listener_t super;
    tcp_list_t node;
    int fd;     /* -1: the listener was destroyed */
    int paused; /* Non-zero: new connections are not accepted until the timer
                 * expires, because descriptors or memory have run out */
    uct_cm_listener_conn_request_callback_t conn_request_cb;
    void *user_data;
} tcp_cm_listener_t;

typedef struct tcp_cm_ep tcp_cm_ep_t;

typedef struct tcp_cm_link {
    tcp_list_t node; /* Node in the manager's list for the link's state */
    tcp_cm_t *cm;
    int fd;
    uint8_t state;
    uint8_t watched;   /* Non-zero: the socket is in the epoll set */
    uint8_t watch_out; /* Non-zero: epoll reports when the socket is writable */
    tcp_cm_ep_t *ep;   /* NULL in the states UNKNOWN, REQUESTED and DEAD */
    tcp_cm_listener_t *listener; /* The listener that accepted the link, in the
                                  * states UNKNOWN and REQUESTED */
    double deadline;             /* Host time in seconds; 0: no deadline */

    /* The message that is being received: `got` bytes of its header and body
     * have arrived */
    size_t got;
    tcp_wire_cm_t head;
    uint8_t *body; /* From malloc(), allocated when the head is complete */
    size_t body_length;

    /* Unsent data; from malloc() */
    uint8_t *out;
    size_t out_length;
} tcp_cm_link_t;

enum tcp_cm_ep_flags {
    TCP_CM_EP_CLIENT    = 1u << 0,
    TCP_CM_EP_TOLD      = 1u << 1, /* The user was told whether the connection
                                    * was established */
    TCP_CM_EP_LEFT      = 1u << 2, /* Our user has disconnected */
    TCP_CM_EP_PEER_LEFT = 1u << 3, /* The peer has disconnected, or the stream
                                    * has ended in the state CONNECTED */
    TCP_CM_EP_DESTROYED = 1u << 4, /* Destroyed inside its own callback */
    TCP_CM_EP_NOTIFIED  = 1u << 5, /* NOTIFY is sent */
    TCP_CM_EP_LEFT_TOLD = 1u << 6, /* The peer has called its user's callback
                                    * for our disconnect */
};

struct tcp_cm_ep {
    uct_ep_t super;
    tcp_cm_t *cm;
    tcp_cm_link_t *link; /* NULL: closed */
    unsigned flags;
    unsigned calls;      /* Number of running callbacks */
    ucs_status_t status; /* Why the link was closed; UCS_OK while it is open */
    tcp_list_t flushes;  /* List of outstanding flushes */
    void *user_data;
    uct_cm_ep_priv_data_pack_callback_t pack_cb;
    uct_cm_ep_resolve_callback_t resolve_cb;
    uct_cm_ep_client_connect_callback_t client_cb;
    uct_cm_ep_server_conn_notify_callback_t server_cb;
    uct_ep_disconnect_cb_t disconnect_cb;
    uint8_t *priv; /* Copy of the private data that the user passed at the
                    * endpoint's creation; NULL: none */
    size_t priv_length;
    char dev_name[UCT_DEVICE_NAME_MAX];
};

/* --- cm.c ---------------------------------------------------------------- */
ucs_status_t tcp_cm_watch(tcp_cm_t *cm, int op, int fd, uint32_t events,
                          void *ptr, int is_listener);
void tcp_cm_timer_set(tcp_cm_t *cm, double when);
/* Schedules progress of this manager in the worker. */
void tcp_cm_wake(tcp_cm_t *cm);
int tcp_cm_may_log(tcp_cm_t *cm);

/* --- cm_link.c ----------------------------------------------------------- */
/* Takes ownership of the descriptor, even on failure. */
tcp_cm_link_t *tcp_cm_link_create(tcp_cm_t *cm, int fd, uint32_t events);
/* Sets a state other than REQUESTED, and moves the link to the manager's list
 * for this state. */
void tcp_cm_link_set_state(tcp_cm_link_t *link, enum tcp_cm_link_state state);
/* Closes the link; the memory is freed at the end of the round. */
void tcp_cm_link_kill(tcp_cm_link_t *link);
/* Makes the link REQUESTED. From then on any thread may take it with
 * tcp_cm_link_take() and free it. */
void tcp_cm_link_hand_out(tcp_cm_link_t *link);
/* Returns non-zero to exactly one caller, which owns the link from then on. */
int tcp_cm_link_take(tcp_cm_link_t *link);
/* Frees a link that is in no list and not in the epoll set. */
void tcp_cm_link_free(tcp_cm_link_t *link);
ucs_status_t tcp_cm_link_send(tcp_cm_link_t *link, enum tcp_wire_cm_kind kind,
                              const void *priv, size_t length);
void tcp_cm_link_event(tcp_cm_link_t *link, uint32_t events);
/* Adds the link to the epoll set of its manager, after its request was
 * accepted. */
ucs_status_t tcp_cm_link_watch_again(tcp_cm_link_t *link);
/* Writes the name of the network device that has the link's local address. */
void tcp_cm_link_dev_name(const tcp_cm_link_t *link, char *name, size_t size);
void tcp_cm_link_remote_data(const tcp_cm_link_t *link,
                             uct_cm_remote_data_t *data);
void tcp_cm_link_refuse(tcp_cm_link_t *link, const char *what);

/* --- cm_listener.c ------------------------------------------------------- */
ucs_status_t tcp_cm_listener_create(uct_cm_h cm, const struct sockaddr *addr,
                                    socklen_t addrlen,
                                    const uct_listener_params_t *params,
                                    uct_listener_h *listener_p);
void tcp_cm_listener_destroy(uct_listener_h listener);
ucs_status_t tcp_cm_listener_reject(uct_listener_h listener,
                                    uct_conn_request_h request);
ucs_status_t tcp_cm_listener_query(uct_listener_h listener,
                                   uct_listener_attr_t *attr);
/* Closes a link to get a free descriptor: the oldest link without a request and
 * without unread data, among the `limit` oldest. Returns 0 if there is none. */
int tcp_cm_listener_evict(tcp_cm_t *cm, unsigned limit);
void tcp_cm_listener_ready(tcp_cm_listener_t *listener);
void tcp_cm_listener_resume(tcp_cm_listener_t *listener);
/* Handles a complete REQUEST. Afterwards the user owns the link. */
void tcp_cm_listener_request(tcp_cm_link_t *link);

/* --- cm_create.c --------------------------------------------------------- */
ucs_status_t tcp_cm_ep_create(uct_cm_h cm, const uct_ep_params_t *params,
                              uct_ep_h *ep_p);

/* --- cm_ep.c ------------------------------------------------------------- */
void tcp_cm_ep_free(tcp_cm_ep_t *ep);
/* Closes the endpoint's link. Outstanding flushes complete with `status`. */
void tcp_cm_ep_drop_link(tcp_cm_ep_t *ep, ucs_status_t status);
/* Calls the user's callback that supplies private data, and stores the data in
 * an array from malloc(). Returns the length of the data, or a negative
 * status. */
ssize_t tcp_cm_ep_pack(tcp_cm_ep_t *ep, uint8_t **priv_p);
void tcp_cm_ep_connected(tcp_cm_ep_t *ep);
/* Handles a complete message from the peer. */
void tcp_cm_ep_message(tcp_cm_ep_t *ep);
/* Fails the endpoint, because its link has failed. */
void tcp_cm_ep_lost(tcp_cm_ep_t *ep, ucs_status_t status);
/* Closes the link without a callback; outstanding flushes are cancelled. */
void tcp_cm_ep_cancel(tcp_cm_ep_t *ep);

/* --- cm_flush.c ---------------------------------------------------------- */
ucs_status_t tcp_cm_ep_flush(uct_ep_h ep, unsigned flags,
                             uct_completion_t *comp);
/* Completes the outstanding flushes if everything for which they wait has
 * happened. */
void tcp_cm_flush_check(tcp_cm_ep_t *ep);
/* Ends all outstanding flushes of the endpoint. The next progress calls their
 * completions with `status`. */
void tcp_cm_flush_end(tcp_cm_ep_t *ep, ucs_status_t status);
/* Calls the completions of the flushes in the manager's list `flushed`. */
void tcp_cm_flush_dispatch(tcp_cm_t *cm);

extern const ucx_ep_ops_t tcp_cm_ep_ops;

#endif
