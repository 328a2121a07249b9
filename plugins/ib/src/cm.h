/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection manager rdmacm: clients and servers connect by IP address
 * through librdmacm and exchange private data.
 *
 * The private data of an RDMA connection request has at most 56 bytes, fewer
 * than the core needs. Therefore the connection is established first, with an
 * ib_cm_intro_t as its private data; messages over its queue pair carry the
 * rest.
 *
 * One epoll descriptor monitors the event channel, the completion channel of
 * each connection and a timer. The host's asynchronous handler makes the worker
 * call cm_progress(), which does all work.
 *
 *   state       owner                 waits for                     then
 *   UNKNOWN     the manager           REQUEST (limited)             REQUESTED
 *   REQUESTED   the user, as request  ep_create or reject           ACCEPTED
 *   ACCEPTED    server's endpoint     NOTIFY                        CONNECTED
 *   CONNECTING  client's endpoint     the RDMA connection (limited) RESOLVED
 *   RESOLVED    client's endpoint     the user's uct_ep_connect     ASKED
 *   ASKED       client's endpoint     ACCEPT or REJECT              CONNECTED
 *   CONNECTED   an endpoint           DISCONNECT of either side     CONNECTED
 *   LINGERING   the manager           its sends to be acknowledged  DEAD
 *   DEAD        none                  the end of the round
 *
 * "(limited)": the wait has a deadline. A round is one pass of cm_progress()
 * over the ready descriptors. LEFT is the reply to DISCONNECT. It changes no
 * state, but flushes wait for it.
 *
 * Any thread may accept or reject a request. An endpoint of another manager may
 * also accept it: the link then moves to that manager. A link in REQUESTED is
 * not polled; its events only set `gone`.
 */
#ifndef IB_CM_H
#define IB_CM_H

#include "cm_config.h"
#include "list.h"
#include "port.h"

#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <ucx/cm.h>

/* --- Wire formats: little-endian ------------------------------------------ */

enum {
    IB_CM_MAGIC    = 0x4d435855, /* "UXCM" */
    IB_CM_VERSION  = 1,
    IB_CM_PRIV_MAX = 16384,
};

/* Private data of the RDMA connection, in both directions, and of its
 * rejection. */
typedef struct ib_cm_intro {
    uint32_t magic;
    uint8_t version;
    uint8_t reserved[3];
    uint32_t max_priv; /* Largest private data that the sender can receive */
} ib_cm_intro_t;

_Static_assert(sizeof(ib_cm_intro_t) == 12, "wire format");

enum ib_cm_kind {
    IB_CM_REQUEST = 1,
    IB_CM_ACCEPT,
    IB_CM_REJECT,
    IB_CM_NOTIFY,
    IB_CM_DISCONNECT,
    IB_CM_LEFT,
};

/* A message; REQUEST and ACCEPT are followed by private data. */
typedef struct ib_cm_msg {
    uint32_t magic;
    uint8_t kind; /* IB_CM_REQUEST ... */
    uint8_t reserved;
    uint16_t length;      /* Length of the private data */
    ib_wire_device_t dev; /* The sender's port; set only in REQUEST and
                           * ACCEPT */
} ib_cm_msg_t;

_Static_assert(sizeof(ib_cm_msg_t) == 28, "wire format");

/* --- Structures ----------------------------------------------------------- */

enum ib_cm_state {
    IB_CM_ST_UNKNOWN,
    IB_CM_ST_REQUESTED,
    IB_CM_ST_ACCEPTED,
    IB_CM_ST_CONNECTING,
    IB_CM_ST_RESOLVED,
    IB_CM_ST_ASKED,
    IB_CM_ST_CONNECTED,
    IB_CM_ST_LINGERING,
    IB_CM_ST_DEAD,
};

typedef struct ib_cm {
    uct_cm_t super;
    const ucx_host_t *host;
    ib_cm_config_t config;
    struct rdma_event_channel *events;
    int epoll_fd;
    int timer_fd;
    ucx_async_id_t async_id;
    ib_link_t listeners;
    ib_link_t links;     /* Links that are in none of the lists below */
    ib_link_t unknown;   /* UNKNOWN links, oldest first */
    ib_link_t requested; /* REQUESTED links; protected by `lock` */
    /* Rejected links, which will become LINGERING; protected by `lock` */
    ib_link_t rejected;
    pthread_mutex_t lock;
    ib_link_t dead;    /* DEAD links, freed at the end of the round */
    ib_link_t flushed; /* Flushes to complete before the end of the round */
    unsigned num_unknown;
    int in_progress;
    double log_time;
} ib_cm_t;

/* A listener. The context of its librdmacm identifier points to this
 * structure. */
typedef struct ib_cm_listener {
    uct_listener_t super;
    ib_link_t node;
    struct rdma_cm_id *id;
    uct_cm_listener_conn_request_callback_t conn_request_cb;
    void *user_data;
} ib_cm_listener_t;

typedef struct ib_cm_ep ib_cm_ep_t;

enum {
    /* Maximum number of messages without private data that one side sends:
     * NOTIFY or REJECT, DISCONNECT, LEFT */
    IB_CM_SMALL = 3,
};

typedef struct ib_cm_link {
    ib_link_t node;
    ib_cm_t *cm;
    struct rdma_cm_id *id;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    /* | receive large | small ... | send large | small ... |, registered */
    char *memory;
    size_t memory_size;
    size_t large; /* Bytes of a large message */
    uint8_t state;
    /* A thread has taken the link out of REQUESTED. Protected by the lock of
     * the manager that accepted the connection */
    uint8_t taken;
    /* The connection has ended. Protected by the same lock */
    uint8_t gone;
    uint8_t watched;
    uint8_t small_sent;
    unsigned unsent; /* Sends not yet acknowledged */
    /* Largest private data that the peer accepts */
    uint32_t peer_max;
    ib_cm_ep_t *ep;
    ib_cm_listener_t *listener; /* In the states UNKNOWN and REQUESTED */
    double deadline;            /* 0: no deadline */
    /* On iWARP in ASKED: the time of the next ib_cm_link_nudge(), 0 for none,
     * and the delay before that time. Seconds */
    double nudge_at, nudge_delay;
} ib_cm_link_t;

enum ib_cm_ep_flags {
    IB_CM_EP_CLIENT    = 1u << 0,
    /* No connect or notify callback may follow: it was called, the connection
     * has failed, or the user has cancelled it */
    IB_CM_EP_TOLD      = 1u << 1,
    IB_CM_EP_LEFT      = 1u << 2, /* This side has disconnected */
    IB_CM_EP_PEER_LEFT = 1u << 3,
    IB_CM_EP_DESTROYED = 1u << 4, /* The user has destroyed the endpoint; it is
                                   * freed when no callback runs */
    IB_CM_EP_NOTIFIED  = 1u << 5, /* NOTIFY was sent */
    /* The peer has notified its user that this side has disconnected */
    IB_CM_EP_LEFT_TOLD = 1u << 6,
};

struct ib_cm_ep {
    uct_ep_t super;
    ib_cm_t *cm;
    ib_cm_link_t *link; /* NULL: closed */
    unsigned flags;
    unsigned calls;      /* Number of callbacks that are running */
    ucs_status_t status; /* The reason why the link was closed */
    ib_link_t flushes;   /* Outstanding flushes */
    void *user_data;
    uct_cm_ep_priv_data_pack_callback_t pack_cb;
    uct_cm_ep_resolve_callback_t resolve_cb;
    uct_cm_ep_client_connect_callback_t client_cb;
    uct_cm_ep_server_conn_notify_callback_t server_cb;
    uct_ep_disconnect_cb_t disconnect_cb;
    void *priv; /* A client's private data from ep_create */
    size_t priv_length;
};

/* --- cm.c ----------------------------------------------------------------- */
ucs_status_t ib_cm_watch(ib_cm_t *cm, int op, int fd, void *ptr);
/* Sets the timer to expire at `when` (host time in seconds), unless it expires
 * earlier. */
void ib_cm_timer_set(ib_cm_t *cm, double when);
/* Makes the next progress of the worker poll this manager. Any thread may call
 * this function. */
void ib_cm_wake(ib_cm_t *cm);
/* Returns whether a log message that a client has caused may be printed: at
 * most one per second. */
int ib_cm_may_log(ib_cm_t *cm);

/* --- cm_event.c ----------------------------------------------------------- */
/* Handles all available events of librdmacm. */
void ib_cm_events(ib_cm_t *cm);
/* Converts the errno of a failed librdmacm call. */
ucs_status_t ib_cm_status(int error);

/* --- cm_link.c ------------------------------------------------------------ */
ib_cm_link_t *ib_cm_link_create(ib_cm_t *cm);
/* Creates the queue pair of a link whose identifier has a device. */
ucs_status_t ib_cm_link_open(ib_cm_link_t *link);
void ib_cm_link_set_state(ib_cm_link_t *link, enum ib_cm_state state);
/* Adds the link's completion channel to the epoll descriptor. */
ucs_status_t ib_cm_link_watch(ib_cm_link_t *link);
/* Closes the link when its sends are acknowledged, or after a short time. */
void ib_cm_link_close(ib_cm_link_t *link);
/* Closes the link now; the memory is freed at the end of the round. */
void ib_cm_link_kill(ib_cm_link_t *link);
void ib_cm_link_free(ib_cm_link_t *link);
/* Moves the link to REQUESTED, from which any thread may take it.
 * ib_cm_link_take() returns non-zero if the calling thread now owns the
 * link. */
void ib_cm_link_hand_out(ib_cm_link_t *link);
int ib_cm_link_take(ib_cm_link_t *link);
/* Moves a link that the caller has taken to the manager `cm`. */
ucs_status_t ib_cm_link_adopt(ib_cm_link_t *link, ib_cm_t *cm);
ucs_status_t ib_cm_link_send(ib_cm_link_t *link, enum ib_cm_kind kind,
                             const void *priv, size_t length);
/* Posts an RDMA write of 0 bytes on an iWARP connection whose peer has not
 * replied to REQUEST. If data arrives while siw, the software iWARP of Linux,
 * accepts a connection, siw processes the data only when more data arrives. */
void ib_cm_link_nudge(ib_cm_link_t *link);
/* Polls the link's completions. Returns 0 if the link is now REQUESTED and has
 * another owner. */
int ib_cm_link_poll(ib_cm_link_t *link);
void ib_cm_link_dev_name(const ib_cm_link_t *link, char *name, size_t size);
/* Returns the private data and the address of the received large message. */
void ib_cm_link_remote_data(const ib_cm_link_t *link,
                            uct_cm_remote_data_t *data);
/* Closes the connection of a client that has sent no valid request. */
void ib_cm_link_refuse(ib_cm_link_t *link, const char *what);

/* --- cm_listener.c -------------------------------------------------------- */
ucs_status_t ib_cm_listener_create(uct_cm_h cm, const struct sockaddr *addr,
                                   socklen_t addrlen,
                                   const uct_listener_params_t *params,
                                   uct_listener_h *listener_p);
void ib_cm_listener_destroy(uct_listener_h listener);
ucs_status_t ib_cm_listener_reject(uct_listener_h listener,
                                   uct_conn_request_h request);
ucs_status_t ib_cm_listener_query(uct_listener_h listener,
                                  uct_listener_attr_t *attr);
/* Handles a connection request of a client with this private data. Takes
 * ownership of `id`. */
void ib_cm_listener_connect(ib_cm_listener_t *listener, struct rdma_cm_id *id,
                            const void *priv, size_t length);
/* Handles a complete REQUEST. The user owns the link afterwards. */
void ib_cm_listener_request(ib_cm_link_t *link);
/* Closes the links that other threads have rejected. */
void ib_cm_listener_rejected(ib_cm_t *cm);

/* --- cm_ep.c, cm_user.c --------------------------------------------------- */
ucs_status_t ib_cm_ep_create(uct_cm_h cm, const uct_ep_params_t *params,
                             uct_ep_h *ep_p);
/* Called when the RDMA connection is established. */
void ib_cm_ep_connected(ib_cm_ep_t *ep);
/* Handles a complete message from the peer. The caller has checked that the
 * state of the link allows the message. */
void ib_cm_ep_message(ib_cm_ep_t *ep, enum ib_cm_kind kind);
/* Fails the endpoint, because its link has failed. */
void ib_cm_ep_lost(ib_cm_ep_t *ep, ucs_status_t status);
/* Closes the link; outstanding flushes complete with `status`. */
void ib_cm_ep_drop_link(ib_cm_ep_t *ep, ucs_status_t status);
ucs_status_t ib_cm_ep_ask(ib_cm_ep_t *ep, const void *priv, size_t length);
void ib_cm_ep_destroy(uct_ep_h ep);

/* --- cm_flush.c ----------------------------------------------------------- */
ucs_status_t ib_cm_ep_flush(uct_ep_h ep, unsigned flags,
                            uct_completion_t *comp);
/* Completes the outstanding flushes if nothing is unacknowledged. */
void ib_cm_flush_check(ib_cm_ep_t *ep);
/* Makes progress complete all outstanding flushes with `status`. */
void ib_cm_flush_end(ib_cm_ep_t *ep, ucs_status_t status);
/* Calls the completions that ib_cm_flush_end() has scheduled. */
void ib_cm_flush_dispatch(ib_cm_t *cm);

extern const ucx_ep_ops_t ib_cm_ep_ops;

#endif
