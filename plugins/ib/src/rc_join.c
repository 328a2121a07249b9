/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of iWARP devices; see rc_join.h. */
#include "rc_iwarp.h"
#include "rc_join.h"
#include "rc_send.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <ucs/sys/event_set.h>
#include <unistd.h>

enum {
    JOIN_MAGIC = 0x4a435855, /* "UXCJ" */
    RESOLVE_MS = 10000,
    BACKLOG    = 1024,
    /* Maximum number of local ports that an endpoint tries */
    MAX_TRIES  = 16,
    WORD_BYTES = 64, /* Not less than RC_IWARP_MIN_READ, the shortest read over
                      * the software iWARP of Linux (siw) */
};

/* Private data of a connection request, little-endian. */
typedef struct rc_join_intro {
    uint32_t magic;
    uint32_t from_qpn, from_psn; /* Numbers of the sender's endpoint */
    uint32_t to_qpn, to_psn;     /* Numbers of the receiver's endpoint */
} rc_join_intro_t;

_Static_assert(sizeof(rc_join_intro_t) == 20, "wire format");

struct rc_join {
    struct rdma_event_channel *channel;
    struct rdma_cm_id *listener;
    /* Monitors the event channel and rc_iface_t.nudge_fd, edge-triggered */
    int epoll_fd;
    ucx_async_id_t async_id;
    unsigned is_queued; /* rc_join_run() is scheduled on the worker; accessed
                         * atomically */
    uint16_t port;      /* TCP port of `listener`, in host order */
    char *words; /* Two blocks of WORD_BYTES: the first is read by peers, the
                  * second receives the data that this interface reads */
    struct ibv_mr *mr;
};

/* A copy of an event of librdmacm. The event itself is acknowledged before the
 * copy is handled, because a handler may call rdma_destroy_id(), which waits
 * for the acknowledgement. */
typedef struct join_event {
    enum rdma_cm_event_type type;
    struct rdma_cm_id *id;
    int status;
    int has_intro; /* The private data is a valid `intro` */
    rc_join_intro_t intro;
} join_event_t;

/* --- Establishing --------------------------------------------------------- */

static void to_sockaddr(const uint8_t ip[16], uint16_t port,
                        struct sockaddr_storage *address)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0,    0,
                                       0, 0, 0, 0, 0xff, 0xff};
    struct sockaddr_in6 *in6        = (struct sockaddr_in6 *)address;
    struct sockaddr_in *in          = (struct sockaddr_in *)address;

    memset(address, 0, sizeof(*address));
    if (memcmp(ip, mapped, sizeof(mapped)) == 0) {
        in->sin_family = AF_INET;
        in->sin_port   = htons(port);
        memcpy(&in->sin_addr, ip + 12, 4);
    } else {
        in6->sin6_family = AF_INET6;
        in6->sin6_port   = htons(port);
        memcpy(&in6->sin6_addr, ip, 16);
    }
}

static void join_failed(rc_ep_t *ep, const char *what, int error)
{
    const ucx_host_t *host = rc_iface_of(ep)->host;

    ucx_diag("%s: connection 0x%x cannot be established: %s: %s",
             ibv_get_device_name(rc_iface_of(ep)->md->context->device),
             ep->qp->qp_num, what, strerror(error));
    rc_ep_fail(ep, UCS_ERR_UNREACHABLE, 1);
}

/* Begins to connect to the address `to`, from a port that librdmacm chooses. */
static int resolve(rc_ep_t *ep, struct sockaddr *to)
{
    rc_iface_t *iface = rc_iface_of(ep);
    struct sockaddr_storage from;

    to_sockaddr(iface->port.gid.raw, 0, &from);
    if (rdma_create_id(iface->join->channel, &ep->join_id, ep, RDMA_PS_TCP) !=
        0) {
        ep->join_id = NULL;
        return -1;
    }
    return rdma_resolve_addr(ep->join_id, (struct sockaddr *)&from, to,
                             RESOLVE_MS);
}

/* Called if the local port is in use. librdmacm chooses one that no other RDMA
 * connection has, but on some devices TCP uses the same ports. Begins again with
 * another one; after MAX_TRIES of them the endpoint fails. */
static void try_other_port(rc_ep_t *ep)
{
    struct rdma_cm_id *before = ep->join_id;
    int error                 = EADDRINUSE;

    if (++ep->join_tries < MAX_TRIES) {
        error = (resolve(ep, rdma_get_peer_addr(before)) == 0) ? 0 : errno;
        rdma_destroy_id(before);
    }
    if (error != 0) {
        join_failed(ep, "rdma_connect", error);
    }
}

static void fill_param(const rc_ep_t *ep, struct rdma_conn_param *param)
{
    const rc_iface_t *iface = rc_iface_of((rc_ep_t *)ep);

    memset(param, 0, sizeof(*param));
    param->responder_resources = (uint8_t)iface->max_dest_rd_atomic;
    param->initiator_depth     = (uint8_t)iface->max_rd_atomic;
    param->qp_num              = ep->qp->qp_num;
}

static void connect_now(rc_ep_t *ep)
{
    rc_join_intro_t intro = {
        .magic    = htole32(JOIN_MAGIC),
        .from_qpn = htole32(ep->qp->qp_num),
        .from_psn = htole32(ep->psn),
        .to_qpn   = htole32(ep->peer_qpn),
        .to_psn   = htole32(ep->peer_psn),
    };
    struct rdma_conn_param param;

    fill_param(ep, &param);
    param.private_data     = &intro;
    param.private_data_len = sizeof(intro);
    if (rdma_connect(ep->join_id, &param) == 0) {
        return;
    }
    if (errno == EADDRINUSE) {
        try_other_port(ep);
    } else {
        join_failed(ep, "rdma_connect", errno);
    }
}

static void accept_now(rc_ep_t *ep)
{
    struct rdma_conn_param param;

    fill_param(ep, &param);
    if (rdma_accept(ep->join_id, &param) != 0) {
        join_failed(ep, "rdma_accept", errno);
    }
}

/* Returns whether the sender of the request is the peer that the user has
 * passed to connect_to_ep. */
static int is_expected(const rc_ep_t *ep, const rc_join_intro_t *intro)
{
    return (ep->peer_qpn == le32toh(intro->from_qpn)) &&
           (ep->peer_psn == le32toh(intro->from_psn));
}

/* Handles a connection request. If it arrives before the user has called
 * connect_to_ep for the endpoint, the request waits for that call. */
static void requested(rc_iface_t *iface, const join_event_t *event)
{
    const ucx_host_t *host = iface->host;
    rc_ep_t *ep            = event->has_intro ?
                                 rc_ep_by_qpn(iface, le32toh(event->intro.to_qpn)) :
                                 NULL;

    if ((ep == NULL) || (ep->psn != le32toh(event->intro.to_psn)) ||
        (ep->join_id != NULL) || (ep->state & (RC_EP_FAILED | RC_EP_ZOMBIE)) ||
        ((ep->state & RC_EP_JOINING) && !is_expected(ep, &event->intro))) {
        ucx_diag("%s: rejected a connection to an endpoint that does not exist",
                 ibv_get_device_name(iface->md->context->device));
        (void)rdma_reject(event->id, NULL, 0);
        rdma_destroy_id(event->id);
        return;
    }
    ep->join_id        = event->id;
    event->id->context = ep;
    if (ep->state & RC_EP_JOINING) {
        accept_now(ep);
    } else {
        ep->peer_qpn = le32toh(event->intro.from_qpn);
        ep->peer_psn = le32toh(event->intro.from_psn);
    }
}

static void established(rc_ep_t *ep)
{
    ep->state &= (uint16_t) ~(RC_EP_JOINING | RC_EP_GREETS);
    ep->state |= RC_EP_CONNECTED;
    if (ep->state & RC_EP_ZOMBIE) {
        rc_ep_finish(ep);
    }
}

void rc_join_greet(rc_ep_t *ep)
{
    uint8_t header     = RC_AM_ONLY_FC | RC_AM_HELLO;
    rc_iface_t *iface  = rc_iface_of(ep);
    struct ibv_sge sge = {(uintptr_t)&header, sizeof(header), 0};
    struct ibv_send_wr wr;

    if (ep->state & RC_EP_FAILED) {
        return;
    }
    rc_wr_inline(&wr, IBV_WR_SEND, &sge, 1);
    if ((iface->cq_free > 0) && (rc_post(iface, ep, &wr, 1) == UCS_OK)) {
        rc_nudge_begin(iface, ep);
        established(ep);
    } else {
        rc_link_remove(&ep->waiting);
        rc_link_add_tail(&iface->waiting, &ep->waiting);
    }
}

void rc_join_greeted(rc_iface_t *iface, uint32_t qpn)
{
    rc_ep_t *ep = rc_ep_by_qpn(iface, qpn);

    if ((ep != NULL) && (ep->state & RC_EP_JOINING) &&
        !(ep->state & (RC_EP_FAILED | RC_EP_GREETS))) {
        established(ep);
    }
}

/* --- Events --------------------------------------------------------------- */

static void join_event(rc_iface_t *iface, const join_event_t *event)
{
    rc_ep_t *ep = event->id->context;

    if (event->type == RDMA_CM_EVENT_CONNECT_REQUEST) {
        requested(iface, event);
        return;
    }
    if ((ep == NULL) || (ep->state & RC_EP_FAILED)) {
        return;
    }
    switch (event->type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
        if (rdma_resolve_route(event->id, RESOLVE_MS) != 0) {
            join_failed(ep, "rdma_resolve_route", errno);
        }
        break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
        connect_now(ep);
        break;
    case RDMA_CM_EVENT_ESTABLISHED:
        if (ep->state & RC_EP_GREETS) {
            ep->state &= (uint16_t)~RC_EP_JOINING;
            rc_join_greet(ep);
        }
        break;
    case RDMA_CM_EVENT_DISCONNECTED:
        rc_linger_disconnected(ep);
        break;
    case RDMA_CM_EVENT_TIMEWAIT_EXIT:
        break;
    default:
        join_failed(ep, rdma_event_str(event->type), -event->status);
        break;
    }
}

void rc_join_run(void *arg)
{
    rc_iface_t *iface = arg;
    struct rdma_cm_event *next;
    join_event_t event;

    __atomic_store_n(&iface->join->is_queued, 0, __ATOMIC_SEQ_CST);
    while (rdma_get_cm_event(iface->join->channel, &next) == 0) {
        event.type      = next->event;
        event.id        = next->id;
        event.status    = next->status;
        event.has_intro = next->param.conn.private_data_len >=
                          sizeof(event.intro);
        if (event.has_intro) {
            memcpy(&event.intro, next->param.conn.private_data,
                   sizeof(event.intro));
            event.has_intro = le32toh(event.intro.magic) == JOIN_MAGIC;
        }
        rdma_ack_cm_event(next);
        join_event(iface, &event);
    }
    rc_nudge_run(iface);
}

/* Schedules rc_join_run() on the worker. Runs on a service thread. The
 * descriptors in the epoll set are edge-triggered: after epoll_wait(), `fd` is
 * not readable until the next event, so this handler is not called again and
 * again while the worker makes no progress. */
static void on_events(int fd, int events, void *arg)
{
    rc_iface_t *iface      = arg;
    const ucx_host_t *host = iface->host;
    struct epoll_event edge;

    (void)epoll_wait(fd, &edge, 1, 0);
    if ((__atomic_exchange_n(&iface->join->is_queued, 1, __ATOMIC_SEQ_CST) ==
         0) &&
        (host->progress_oneshot(iface->super.worker, rc_join_run, iface) !=
         UCS_OK)) {
        __atomic_store_n(&iface->join->is_queued, 0, __ATOMIC_SEQ_CST);
        ucx_error("an event of an RDMA connection is lost: out of memory");
    }
}

/* --- Start and end -------------------------------------------------------- */

static int join_listen(rc_iface_t *iface, rc_join_t *join)
{
    struct sockaddr_storage address;

    to_sockaddr(iface->port.gid.raw, 0, &address);
    if ((rdma_create_id(join->channel, &join->listener, NULL, RDMA_PS_TCP) !=
         0) ||
        (rdma_bind_addr(join->listener, (struct sockaddr *)&address) != 0) ||
        (rdma_listen(join->listener, BACKLOG) != 0)) {
        return -1;
    }
    join->port = ntohs(rdma_get_src_port(join->listener));
    return 0;
}

static int join_watch(rc_iface_t *iface, rc_join_t *join)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    int flags                = fcntl(join->channel->fd, F_GETFL);

    join->epoll_fd  = epoll_create1(EPOLL_CLOEXEC);
    iface->nudge_fd = timerfd_create(CLOCK_MONOTONIC,
                                     TFD_NONBLOCK | TFD_CLOEXEC);
    return ((join->epoll_fd >= 0) && (iface->nudge_fd >= 0) &&
            (fcntl(join->channel->fd, F_SETFL, flags | O_NONBLOCK) == 0) &&
            (epoll_ctl(join->epoll_fd, EPOLL_CTL_ADD, iface->nudge_fd,
                       &event) == 0)) ?
               epoll_ctl(join->epoll_fd, EPOLL_CTL_ADD, join->channel->fd,
                         &event) :
               -1;
}

/* Allocates and registers `words`. On iWARP, the buffer that receives the data
 * of a read needs the access right of remote writes. */
static int join_words(rc_iface_t *iface, rc_join_t *join)
{
    join->words = aligned_alloc(WORD_BYTES, 2 * WORD_BYTES);
    if (join->words == NULL) {
        return -1;
    }
    memset(join->words, 0, 2 * WORD_BYTES);
    join->mr = ibv_reg_mr(iface->md->pd, join->words, 2 * WORD_BYTES,
                          IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                              IBV_ACCESS_REMOTE_READ);
    return (join->mr != NULL) ? 0 : -1;
}

ucs_status_t rc_join_open(rc_iface_t *iface)
{
    const ucx_host_t *host = iface->host;
    rc_join_t *join        = calloc(1, sizeof(*join));
    ucs_status_t status    = UCS_ERR_IO_ERROR;

    if (join == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    iface->join     = join;
    join->epoll_fd  = -1;
    iface->nudge_fd = -1;
    join->channel   = rdma_create_event_channel();
    if ((join->channel != NULL) && (join_watch(iface, join) == 0) &&
        (join_listen(iface, join) == 0) && (join_words(iface, join) == 0)) {
        status = host->async_add_fd(iface->super.worker, join->epoll_fd,
                                    UCS_EVENT_SET_EVREAD, on_events, iface,
                                    &join->async_id);
    }
    if (status != UCS_OK) {
        ucx_error("%s: cannot listen for RDMA connections: %s",
                  ibv_get_device_name(iface->md->context->device),
                  strerror(errno));
    }
    return status;
}

void rc_join_close(rc_iface_t *iface)
{
    rc_join_t *join = iface->join;

    if (join == NULL) {
        return;
    }
    iface->host->async_remove(join->async_id);
    iface->host->progress_cancel(iface->super.worker, rc_join_run, iface);
    if (join->listener != NULL) {
        rdma_destroy_id(join->listener);
    }
    if (join->channel != NULL) {
        rdma_destroy_event_channel(join->channel);
    }
    if (join->epoll_fd >= 0) {
        close(join->epoll_fd);
    }
    if (iface->nudge_fd >= 0) {
        close(iface->nudge_fd);
    }
    if (join->mr != NULL) {
        ibv_dereg_mr(join->mr);
    }
    free(join->words);
    free(join);
    iface->join = NULL;
}

uint16_t rc_join_port(const rc_iface_t *iface)
{
    return iface->join->port;
}

void rc_join_word(const rc_iface_t *iface, rc_join_word_t *word)
{
    word->address = (uintptr_t)iface->join->words;
    word->rkey    = iface->join->mr->rkey;
}

void rc_join_sink(const rc_iface_t *iface, struct ibv_sge *sge)
{
    sge->addr   = (uintptr_t)iface->join->words + WORD_BYTES;
    sge->length = WORD_BYTES;
    sge->lkey   = iface->join->mr->lkey;
}

/* Returns whether this side has the lower address, and therefore connects. */
static int is_lower(const rc_ep_t *ep, const rc_join_end_t *peer)
{
    const rc_iface_t *iface = rc_iface_of((rc_ep_t *)ep);
    int order = memcmp(iface->port.gid.raw, peer->ip, sizeof(peer->ip));

    if (order == 0) {
        order = (int)iface->join->port - peer->port;
    }
    return (order < 0) || ((order == 0) && (ep->qp->qp_num < peer->qpn));
}

static int connect_to(rc_ep_t *ep, const rc_join_end_t *peer)
{
    struct sockaddr_storage to;

    to_sockaddr(peer->ip, peer->port, &to);
    ep->state |= RC_EP_GREETS;
    return resolve(ep, (struct sockaddr *)&to);
}

ucs_status_t rc_join_start(rc_ep_t *ep, const rc_join_end_t *peer)
{
    if (is_lower(ep, peer)) {
        if ((ep->join_id != NULL) || (connect_to(ep, peer) != 0)) {
            return UCS_ERR_UNREACHABLE;
        }
    } else if ((ep->join_id != NULL) &&
               ((ep->peer_qpn != peer->qpn) || (ep->peer_psn != peer->psn))) {
        /* The connection request that arrived is not from `peer` */
        return UCS_ERR_INVALID_ADDR;
    }
    ep->peer_qpn = peer->qpn;
    ep->peer_psn = peer->psn;
    ep->state |= RC_EP_JOINING;
    if (!is_lower(ep, peer) && (ep->join_id != NULL)) {
        accept_now(ep);
    }
    return UCS_OK;
}

void rc_join_end(rc_ep_t *ep)
{
    if (ep->join_id != NULL) {
        rdma_destroy_id(ep->join_id);
        ep->join_id = NULL;
    }
}
