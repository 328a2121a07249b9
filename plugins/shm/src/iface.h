/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An interface of posix or sysv: an inbox, and the outboxes to its peers.
 *
 * Only one thread at a time may use an interface. Received messages, pending
 * requests and failures are passed to the user from shm_iface_progress() only.
 */
#ifndef SHM_IFACE_H
#define SHM_IFACE_H

#include "config.h"
#include "inbox.h"
#include "md.h"
#include "outbox.h"
#include "plugin.h"

#include <sys/queue.h>
#include <ucx/am.h>
#include <ucx/pending.h>

typedef struct shm_ep shm_ep_t;

enum { SHM_PEER_ADDRESS_MAX = 128, SHM_PEER_HASH_SIZE = 64 };

/* An attached interface of another process or of this one. All endpoints to it
 * share this structure. Without endpoints it is kept only while it is
 * iface->probed. */
typedef struct shm_peer {
    shm_outbox_t outbox;
    LIST_ENTRY(shm_peer) hash_link;
    LIST_HEAD(, shm_ep) eps; /* Endpoints that have not failed */
    unsigned num_eps;        /* Number of all endpoints, including failed
                              * ones */
    size_t address_length;
    uint8_t address[SHM_PEER_ADDRESS_MAX];
} shm_peer_t;

struct shm_ep {
    uct_ep_t super;
    shm_outbox_t *outbox;
    ucx_pending_queue_t pending;
    LIST_ENTRY(shm_ep)
    link; /* Node in its peer's eps, or in the interface's
           * `failed` or `told` */
    TAILQ_ENTRY(shm_ep) waiting; /* Node in the interface's `waiting` */
    uint8_t is_waiting;          /* Non-zero: in that list */
    uint8_t has_failed;          /* Non-zero: in `failed` or `told` */
};

typedef struct shm_iface {
    uct_iface_t super;
    shm_inbox_t inbox;
    TAILQ_HEAD(, shm_ep)
    waiting;            /* Endpoints with pending requests, in the order of
                         * dispatch */
    shm_ep_t *serving;  /* Endpoint whose pending requests are running; NULL:
                         * none, or a request destroyed the endpoint */
    uint32_t rounds;    /* Number of calls of progress */
    uint32_t tend_mask; /* Progress calls shm_iface_tend(), which reads the
                         * clock, when these bits of `rounds` are zero */
    uint8_t is_armed;   /* Non-zero: arming has succeeded, and no progress was
                         * called since then */

    const ucx_host_t *host;
    shm_md_t *md;
    shm_iface_config_t config;
    uint32_t processors;    /* Number of processors; 0: not queried yet */
    uint32_t bcopy_typical; /* Length of the last bcopy message that did not fit
                             * a cell; outboxes select the size of their rings
                             * by it */
    void *packed; /* config.seg_size bytes, where bcopy messages are packed that
                   * are written to the ring by non-temporal stores; NULL until
                   * there is one */
    LIST_HEAD(, shm_peer) peers[SHM_PEER_HASH_SIZE];
    shm_peer_t *probed;         /* Peer that is_reachable() found last, which is
                                 * kept even without endpoints; NULL: none, or
                                 * an endpoint to it was created */
    LIST_HEAD(, shm_ep) failed; /* Endpoints whose failure is to be reported */
    LIST_HEAD(, shm_ep) told;   /* Endpoints whose failure was reported */
    int event_fd;               /* An epoll descriptor; -1 until
                                 * requested */
    int timer_fd;               /* Expires at tend_at while the interface is
                                 * armed; in the epoll set */
    double tend_at;             /* Host time of the next check of the
                                 * peers */
    double tended_at;           /* Host time of the last call of
                                 * shm_iface_tend() */
    double review_at;           /* Host time of the next shm_inbox_review(),
                                 * which stops polling idle senders */
    uct_am_tracer_t tracer;
    void *tracer_arg;
} shm_iface_t;

extern const ucx_ep_ops_t shm_ep_ops;

static inline shm_iface_t *shm_iface(uct_iface_h iface)
{
    return (shm_iface_t *)iface;
}

static inline shm_ep_t *shm_ep(uct_ep_h ep)
{
    return (shm_ep_t *)ep;
}

static inline shm_peer_t *shm_peer(shm_outbox_t *outbox)
{
    return shm_container_of(outbox, shm_peer_t, outbox);
}

/* --- peer.c: peers, and periodic work ------------------------------------ */

/* Finds the peer of an interface address, or creates it and attaches its inbox.
 * UCS_ERR_UNREACHABLE: the inbox cannot be attached, and the reason was written
 * unless `reason` is NULL. */
ucs_status_t shm_peer_find(shm_iface_t *iface, const void *address,
                           size_t length, shm_peer_t **peer_p, char *reason,
                           size_t reason_size);
/* Frees the peer if it has no endpoints and is not iface->probed. */
void shm_peer_put(shm_iface_t *iface, shm_peer_t *peer);
void shm_peers_cleanup(shm_iface_t *iface);

/* Called from progress: reports failures; at intervals, detects peers and
 * senders that have exited, and stops polling idle senders. */
void shm_iface_tend(shm_iface_t *iface);
/* Marks an endpoint as failed; the next progress reports the failure to its
 * user. */
void shm_ep_fail(shm_ep_t *ep);

/* --- iface.c: shows a message to the tracer ------------------------------ */
void shm_iface_show(shm_iface_t *iface, uct_am_trace_type_t type, uint8_t id,
                    const void *data, size_t length);

static SHM_INLINE void shm_iface_trace(shm_iface_t *iface,
                                       uct_am_trace_type_t type, uint8_t id,
                                       const void *data, size_t length)
{
    if (shm_unlikely(iface->tracer != NULL)) {
        shm_iface_show(iface, type, id, data, length);
    }
}

/* --- ep.c ----------------------------------------------------------------- */
ucs_status_t shm_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                           uct_ep_h *ep_p);
/* Calls pending requests. Hot path while endpoints have any. */
unsigned shm_iface_dispatch(shm_iface_t *iface);

/* --- sleep.c -------------------------------------------------------------- */
ucs_status_t shm_iface_event_fd_get(uct_iface_h iface, int *fd_p);
ucs_status_t shm_iface_event_arm(uct_iface_h iface, unsigned events);
void shm_iface_disarm(shm_iface_t *iface);
void shm_iface_event_cleanup(shm_iface_t *iface);

#endif
