/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection manager rdmacm: clients and servers connect by IP address
 * through librdmacm and exchange private data.
 *
 * The private data of an RDMA connection request has at most 56 bytes, fewer
 * than the private data that UCP sends. Therefore the RDMA connection is
 * established first, with an ib_cm_intro_t as its private data. Messages
 * (ib_cm_msg_t) over its queue pair then carry UCP's private data. A link
 * (ib_cm_link_t) is one RDMA connection with its queue pair.
 *
 * One epoll descriptor monitors the event channel, the completion channel of
 * each link and a timer. When the descriptor is readable, an asynchronous
 * handler schedules cm_progress() on the worker. cm_progress() handles all
 * events.
 *
 * The states of a link. Names in capitals in the column "waits for" are
 * messages.
 *
 *   state       owner                 waits for                     then
 *   UNKNOWN     the manager           REQUEST (limited)             REQUESTED
 *   REQUESTED   the user, as request  ep_create or reject           ACCEPTED
 *   ACCEPTED    server's endpoint     NOTIFY                        CONNECTED
 *   CONNECTING  client's endpoint     the RDMA connection (limited) RESOLVED
 *   RESOLVED    client's endpoint     the user's uct_ep_connect     ASKED
 *   ASKED       client's endpoint     ACCEPT or REJECT              CONNECTED
 *   CONNECTED   an endpoint           DISCONNECT of both sides      LINGERING
 *   LINGERING   the manager           its sends to be acknowledged  DEAD
 *   DEAD        none                  the end of the round
 *
 * "(limited)": the wait has a deadline. A round is one pass of cm_progress()
 * over the ready descriptors. LEFT is the reply to DISCONNECT. LEFT changes no
 * state, but a flush after a disconnect waits for it. A rejection, or a failure
 * in a state other than REQUESTED, leads to LINGERING, or to DEAD if no send is
 * unacknowledged or the RDMA connection has ended.
 *
 * Any thread may accept or reject a request. An endpoint of another connection
 * manager may also accept a request: the link then moves to that manager. The
 * completion queue of a link in REQUESTED is neither monitored nor polled. If
 * the RDMA connection of such a link ends, only its member `gone` is set.
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
    IB_CM_PRIV_MAX = 16384, /* Maximum bytes of private data; the limit of
                             * UCX_RDMA_CM_PRIV_DATA_LEN */
};

/* Private data of an RDMA connection request, and of the acceptance or the
 * rejection by the server. */
typedef struct ib_cm_intro {
    uint32_t magic;
    uint8_t version;
    uint8_t reserved[3];
    uint32_t max_priv; /* Maximum bytes of private data that the sender of this
                        * structure can receive in an ib_cm_msg_t */
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

/* A message. In REQUEST and ACCEPT, the user's private data follows the
 * structure. */
typedef struct ib_cm_msg {
    uint32_t magic;
    uint8_t kind; /* An ib_cm_kind */
    uint8_t reserved;
    uint16_t length;      /* Bytes of private data after the structure */
    ib_wire_device_t dev; /* Address of the sender's port in REQUEST and ACCEPT;
                           * zero in other messages */
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

/* A connection manager. Times are in seconds, as host->time() returns them. */
typedef struct ib_cm {
    uct_cm_t super;
    const ucx_host_t *host;
    ib_cm_config_t config;
    struct rdma_event_channel *events;
    int epoll_fd; /* Contains timer_fd, and the descriptors of `events` and of
                   * the completion channels of links with `watched` */
    int timer_fd; /* Expires at or before the next deadline or nudge */
    ucx_async_id_t async_id; /* The asynchronous handler of epoll_fd */
    ib_link_t listeners;     /* All ib_cm_listener_t of this manager */
    ib_link_t links;         /* Links that are in none of the lists below */
    ib_link_t unknown;       /* UNKNOWN links, oldest first */
    ib_link_t requested;     /* REQUESTED links; protected by `lock` */
    /* Links that a thread has rejected. The next round moves them to LINGERING.
     * Protected by `lock` */
    ib_link_t rejected;
    pthread_mutex_t lock;
    ib_link_t dead;       /* DEAD links; freed at the end of the round */
    ib_link_t flushed;    /* Ended flushes (cm_flush.c), whose completions are
                           * called before the end of the round */
    unsigned num_unknown; /* Length of `unknown` */
    int in_progress;      /* cm_progress() or the close of the manager runs */
    double log_time;      /* Time of the last message that ib_cm_may_log()
                           * has allowed; 0: none */
} ib_cm_t;

/* A listener. id->context points to this structure. */
typedef struct ib_cm_listener {
    uct_listener_t super;
    ib_link_t node;        /* Node in ib_cm_t.listeners */
    struct rdma_cm_id *id; /* NULL after the device was removed */
    uct_cm_listener_conn_request_callback_t conn_request_cb;
    void *user_data;
} ib_cm_listener_t;

typedef struct ib_cm_ep ib_cm_ep_t;

enum {
    /* Maximum number of small messages, which have no private data, that one
     * side of a link sends: NOTIFY or REJECT, DISCONNECT, LEFT */
    IB_CM_SMALL = 3,
};

typedef struct ib_cm_link {
    /* Node in `unknown`, `requested`, `rejected`, `dead` or `links` of `cm`; in
     * no list while a thread that has taken the link out of REQUESTED handles
     * it */
    ib_link_t node;
    ib_cm_t *cm;
    struct rdma_cm_id *id; /* id->context points to this structure */
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    /* Registered buffers, for receiving and for sending. Each half has one
     * large buffer, for REQUEST or ACCEPT, and IB_CM_SMALL small ones:
     * | receive large | small ... | send large | small ... | */
    char *memory;
    size_t memory_size; /* Bytes of `memory` */
    size_t large;       /* Bytes of a large buffer */
    uint8_t state;      /* An ib_cm_state */
    /* A thread has taken the link out of REQUESTED. Protected by the lock of
     * the manager that accepted the connection */
    uint8_t taken;
    /* The RDMA connection has ended. Protected by the same lock as `taken`
     * while the link is in REQUESTED or taken. Otherwise only the thread of the
     * link's manager uses it: ib_cm_link_hand_out() and ib_cm_link_adopt() pass
     * the link on under the lock */
    uint8_t gone;
    uint8_t watched;    /* cm->epoll_fd contains the completion channel */
    uint8_t small_sent; /* Number of small messages sent */
    unsigned unsent;    /* Number of sends that are not yet acknowledged */
    /* Maximum bytes of private data that the peer accepts */
    uint32_t peer_max;
    ib_cm_ep_t *ep;             /* The endpoint that owns the link, or NULL */
    ib_cm_listener_t *listener; /* Set in UNKNOWN and REQUESTED, else NULL */
    double deadline; /* Time at which the wait in this state fails; 0: never */
    /* On iWARP in ASKED: time of the next ib_cm_link_nudge(), 0 for none; and
     * the seconds from the previous nudge, or from REQUEST, to that time */
    double nudge_at, nudge_delay;
} ib_cm_link_t;

enum ib_cm_ep_flags {
    IB_CM_EP_CLIENT    = 1u << 0, /* The user has created a client endpoint */
    /* The client's connect callback or the server's notify callback must not be
     * called: it was called already, the connection has failed, or the user has
     * cancelled the connection */
    IB_CM_EP_TOLD      = 1u << 1,
    IB_CM_EP_LEFT      = 1u << 2, /* The local user has called disconnect */
    /* The peer has disconnected, or the connection has ended; the user was
     * notified */
    IB_CM_EP_PEER_LEFT = 1u << 3,
    IB_CM_EP_DESTROYED = 1u << 4, /* The user has destroyed the endpoint; it is
                                   * freed when no callback runs */
    IB_CM_EP_NOTIFIED  = 1u << 5, /* NOTIFY was sent */
    /* LEFT was received: the peer's user knows that this side has
     * disconnected */
    IB_CM_EP_LEFT_TOLD = 1u << 6,
};

struct ib_cm_ep {
    uct_ep_t super;
    ib_cm_t *cm;
    ib_cm_link_t *link;  /* NULL: the connection is closed */
    unsigned flags;      /* IB_CM_EP_* */
    unsigned calls;      /* Number of the user's callbacks that are running */
    ucs_status_t status; /* The reason why `link` was closed; UCS_OK before */
    ib_link_t flushes;   /* Outstanding flushes (cm_flush.c) */
    void *user_data;     /* Argument of the callbacks below */
    uct_cm_ep_priv_data_pack_callback_t pack_cb;
    uct_cm_ep_resolve_callback_t resolve_cb;
    uct_cm_ep_client_connect_callback_t client_cb;
    uct_cm_ep_server_conn_notify_callback_t server_cb;
    uct_ep_disconnect_cb_t disconnect_cb;
    /* Private data that the user has passed to ib_cm_ep_create(); sent if the
     * user has set neither pack_cb nor resolve_cb */
    void *priv;
    size_t priv_length; /* Bytes of `priv` */
};

/* --- cm.c ----------------------------------------------------------------- */
ucs_status_t ib_cm_watch(ib_cm_t *cm, int op, int fd, void *ptr);
/* Sets the timer to expire at `when` (host time in seconds), unless the timer
 * is already set to an earlier time. */
void ib_cm_timer_set(ib_cm_t *cm, double when);
/* Makes the next progress of the worker call cm_progress(). Any thread may call
 * this function. */
void ib_cm_wake(ib_cm_t *cm);
/* Returns whether a message about a misbehaving client may be logged. The limit
 * of one per second prevents clients from filling the log. */
int ib_cm_may_log(ib_cm_t *cm);

/* --- cm_event.c ----------------------------------------------------------- */
/* Handles all available events of librdmacm. */
void ib_cm_events(ib_cm_t *cm);
/* Converts the errno of a failed librdmacm call to a status. */
ucs_status_t ib_cm_status(int error);

/* --- cm_link.c ------------------------------------------------------------ */
ib_cm_link_t *ib_cm_link_create(ib_cm_t *cm);
/* Creates the completion queue, the queue pair and the buffers of a link, and
 * monitors its completion channel. librdmacm has already assigned a device to
 * link->id. */
ucs_status_t ib_cm_link_open(ib_cm_link_t *link);
void ib_cm_link_set_state(ib_cm_link_t *link, enum ib_cm_state state);
/* Adds the link's completion channel to the epoll descriptor. */
ucs_status_t ib_cm_link_watch(ib_cm_link_t *link);
/* Closes the link as soon as its sends are acknowledged, at the latest after
 * LINGER_TIME (cm_link.c). */
void ib_cm_link_close(ib_cm_link_t *link);
/* Closes the link now. The structure is freed at the end of the round. */
void ib_cm_link_kill(ib_cm_link_t *link);
void ib_cm_link_free(ib_cm_link_t *link);
/* Moves the link to REQUESTED, from which any thread may take it. */
void ib_cm_link_hand_out(ib_cm_link_t *link);
/* Takes the link out of REQUESTED. Returns 0 if the link is not in REQUESTED,
 * otherwise the calling thread owns the link. */
int ib_cm_link_take(ib_cm_link_t *link);
/* Takes a link of this listener out of REQUESTED. Finding and taking are one
 * step, because a link that another thread takes may be freed at once. Returns
 * NULL if there is no such link. */
ib_cm_link_t *ib_cm_link_take_of(ib_cm_t *cm, const ib_cm_listener_t *listener);
/* Returns the first link of this listener in a list, or NULL. */
ib_cm_link_t *ib_cm_link_find(const ib_link_t *list,
                              const ib_cm_listener_t *listener);
/* Moves a link that the caller has taken to the manager `cm`. */
ucs_status_t ib_cm_link_adopt(ib_cm_link_t *link, ib_cm_t *cm);
/* Returns a send or receive buffer. The buffer with index 0 is the large one,
 * those with the indices 1 to IB_CM_SMALL are small. */
char *ib_cm_link_buffer(const ib_cm_link_t *link, int is_send, unsigned index);
void ib_cm_link_dev_name(const ib_cm_link_t *link, char *name, size_t size);
/* Stores pointers to the private data and to the device address of the received
 * REQUEST or ACCEPT. */
void ib_cm_link_remote_data(const ib_cm_link_t *link,
                            uct_cm_remote_data_t *data);
/* Closes the link of a client that has sent no valid REQUEST. Logs "a client
 * that ", followed by `what`, unless ib_cm_may_log() returns 0. */
void ib_cm_link_refuse(ib_cm_link_t *link, const char *what);

/* --- cm_message.c --------------------------------------------------------- */
/* Posts a message. UCS_ERR_EXCEEDS_LIMIT: the private data is longer than the
 * local limit or the peer's. */
ucs_status_t ib_cm_link_send(ib_cm_link_t *link, enum ib_cm_kind kind,
                             const void *priv, size_t length);
/* Posts an RDMA write of 0 bytes on an iWARP connection whose peer has not
 * replied to REQUEST. If data arrives while siw, the software iWARP of Linux,
 * accepts a connection, siw processes the data only when more data arrives. */
void ib_cm_link_nudge(ib_cm_link_t *link);
/* Polls the link's completion queue. Returns 0 if the link is now REQUESTED:
 * the caller must not use the link any more, because any thread may own it. */
int ib_cm_link_poll(ib_cm_link_t *link);

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
/* Handles the RDMA connection request of a client. `priv`: the private data of
 * the request, `length` bytes. Takes ownership of `id`. */
void ib_cm_listener_connect(ib_cm_listener_t *listener, struct rdma_cm_id *id,
                            const void *priv, size_t length);
/* Passes a received REQUEST to the user, who owns the link afterwards. */
void ib_cm_listener_request(ib_cm_link_t *link);
/* Closes the links in ib_cm_t.rejected. */
void ib_cm_listener_rejected(ib_cm_t *cm);

/* --- cm_ep.c, cm_user.c --------------------------------------------------- */
ucs_status_t ib_cm_ep_create(uct_cm_h cm, const uct_ep_params_t *params,
                             uct_ep_h *ep_p);
/* Called when the RDMA connection is established. */
void ib_cm_ep_connected(ib_cm_ep_t *ep);
/* Handles a received message. The caller has checked that the state of the link
 * allows a message of this kind. */
void ib_cm_ep_message(ib_cm_ep_t *ep, enum ib_cm_kind kind);
/* Closes the endpoint's link, which has failed with `status`, and calls the
 * user's callback for the link's state: resolve, connect, notify or
 * disconnect. */
void ib_cm_ep_lost(ib_cm_ep_t *ep, ucs_status_t status);
/* Closes the endpoint's link. Outstanding flushes complete with `status`. */
void ib_cm_ep_drop_link(ib_cm_ep_t *ep, ucs_status_t status);
/* Sends REQUEST with this private data. */
ucs_status_t ib_cm_ep_ask(ib_cm_ep_t *ep, const void *priv, size_t length);
void ib_cm_ep_destroy(uct_ep_h ep);

/* --- cm_flush.c ----------------------------------------------------------- */
ucs_status_t ib_cm_ep_flush(uct_ep_h ep, unsigned flags,
                            uct_completion_t *comp);
/* Ends the outstanding flushes with UCS_OK if all messages of the endpoint are
 * acknowledged and, if the local user has called disconnect, LEFT was
 * received. */
void ib_cm_flush_check(ib_cm_ep_t *ep);
/* Ends all outstanding flushes of the endpoint. Progress calls their
 * completions with `status`. */
void ib_cm_flush_end(ib_cm_ep_t *ep, ucs_status_t status);
/* Calls the completions of the flushes that ib_cm_flush_end() has ended. */
void ib_cm_flush_dispatch(ib_cm_t *cm);

extern const ucx_ep_ops_t ib_cm_ep_ops;

#endif
