/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints: sockets that are connected to the socket of the peer's interface.
 * The kernel copies each message. */
#include "probe.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static probe_iface_t *ep_iface(uct_ep_h ep)
{
    return probe_iface(ep->iface);
}

void probe_ep_fail(probe_ep_t *ep)
{
    if (ep->status == UCS_OK) {
        ep->status = UCS_ERR_ENDPOINT_TIMEOUT;
        ++ep_iface(&ep->super)->failed;
    }
}

/* The defect "jumps": a send from a pending request leaves the request by
 * longjmp(), so that the request never returns. */
static jmp_buf dispatching;
static int is_dispatching;

static void dispatch_by_jumps(probe_ep_t *ep)
{
    is_dispatching = 1;
    while (setjmp(dispatching) != 0) {
    }
    ucx_pending_dispatch(&ep->pending);
    is_dispatching = 0;
}

static int is_writable(probe_ep_t *ep, int milliseconds)
{
    struct pollfd pfd = {.fd = ep->socket, .events = POLLOUT};

    return poll(&pfd, 1, milliseconds) > 0;
}

/* Sends one datagram, with its header in iov[0]. Unless it returns UCS_OK,
 * nothing was sent. */
static ucs_status_t send_message(uct_ep_h super, uint8_t id, struct iovec *iov,
                                 size_t count)
{
    probe_ep_t *ep        = (probe_ep_t *)super;
    probe_header_t header = {.magic = PROBE_MAGIC, .id = id};
    struct msghdr msg     = {.msg_iov = iov, .msg_iovlen = count};

    if (ep->status != UCS_OK) {
        return ep->status;
    }
    if (probe_breaks("blocks")) {
        is_writable(ep, 1500);
    }

    iov[0] = (struct iovec){&header, sizeof(header)};
    if (sendmsg(ep->socket, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
        if (is_dispatching) {
            longjmp(dispatching, 1);
        }
        return UCS_OK;
    } else if ((errno == EAGAIN) || (errno == ENOBUFS) || (errno == EINTR)) {
        return UCS_ERR_NO_RESOURCE;
    }
    if (probe_breaks("never-notices")) {
        return UCS_ERR_NO_RESOURCE;
    }
    probe_ep_fail(ep);
    return ep->status;
}

static ucs_status_t probe_am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                                   const void *payload, unsigned length)
{
    struct iovec iov[3] = {
        [1] = {&header, sizeof(header)},
        [2] = {(void *)payload, length},
    };

    return send_message(ep, id, iov, 3);
}

static ssize_t probe_am_bcopy(uct_ep_h ep, uint8_t id,
                              uct_pack_callback_t pack_cb, void *arg,
                              unsigned flags)
{
    char buffer[PROBE_SEG_SIZE];
    probe_ep_t *probe = (probe_ep_t *)ep;
    struct iovec iov[2];
    ucs_status_t status;
    size_t length;

    /* Check for errors before packing: if am_bcopy packs the data and then
     * fails, the retry packs again. */
    if (probe->status != UCS_OK) {
        return probe->status;
    } else if (!is_writable(probe, probe_breaks("blocks") ? 1500 : 0) &&
               !probe_breaks("packs-early")) {
        return UCS_ERR_NO_RESOURCE;
    }
    length = pack_cb(buffer, arg);
    do {
        iov[1] = (struct iovec){buffer, length};
        status = send_message(ep, id, iov, 2);
        /* Other senders may have filled the queue after is_writable(). */
    } while ((status == UCS_ERR_NO_RESOURCE) && !probe_breaks("packs-early") &&
             is_writable(probe, 1000));
    return (status == UCS_OK) ? (ssize_t)length : (ssize_t)status;
}

static size_t add_iov(struct iovec *to, const uct_iov_t *iov, size_t iovcnt)
{
    size_t i;

    for (i = 0; i < iovcnt; ++i) {
        to[i] = (struct iovec){iov[i].buffer, iov[i].length};
    }
    return iovcnt;
}

static ucs_status_t probe_am_short_iov(uct_ep_h ep, uint8_t id,
                                       const uct_iov_t *iov, size_t iovcnt)
{
    struct iovec parts[PROBE_MAX_IOV + 1];

    return send_message(ep, id, parts, 1 + add_iov(parts + 1, iov, iovcnt));
}

static ucs_status_t send_parts(uct_ep_h ep, uint8_t id, const void *header,
                               unsigned header_length, const uct_iov_t *iov,
                               size_t iovcnt)
{
    struct iovec parts[PROBE_MAX_IOV + 2] = {
        [1] = {(void *)header, header_length},
    };

    return send_message(ep, id, parts, 2 + add_iov(parts + 2, iov, iovcnt));
}

void probe_send_unread(probe_iface_t *iface)
{
    const probe_unread_t *unread = &iface->unread;

    /* Wait until the peer has received enough for this message to be sent. If a
     * later call of progress sent it, the kit could have filled the buffer with
     * the same data again, and would not see the defect. */
    is_writable(unread->ep, 30000);
    if (send_parts(&unread->ep->super, unread->id, unread->header,
                   unread->header_length, unread->iov,
                   unread->iovcnt) != UCS_ERR_NO_RESOURCE) {
        iface->unread.ep = NULL;
    }
}

/* Stores a message without its buffers, of which only the addresses are copied.
 * The next call of progress calls the completion, and the call after that one
 * reads the buffers. */
static ucs_status_t hold_unread(uct_ep_h ep, uint8_t id, const void *header,
                                unsigned header_length, const uct_iov_t *iov,
                                size_t iovcnt)
{
    probe_unread_t *unread = &ep_iface(ep)->unread;

    *unread = (probe_unread_t){
        .ep            = (probe_ep_t *)ep,
        .rounds        = 1,
        .id            = id,
        .header_length = header_length,
        .iovcnt        = iovcnt,
    };
    memcpy(unread->header, header, header_length);
    memcpy(unread->iov, iov, iovcnt * sizeof(*iov));
    return UCS_OK;
}

static ucs_status_t probe_am_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                                   unsigned header_length, const uct_iov_t *iov,
                                   size_t iovcnt, unsigned flags,
                                   uct_completion_t *comp)
{
    ucs_status_t status;

    if (ep_iface(ep)->unread.ep != NULL) {
        return UCS_ERR_NO_RESOURCE;
    }
    /* Hold back only the message with a header of one byte, of which the kit
     * sends one. The kit's next message has the same length and therefore the
     * same contents: the kit finds the defect only because it has overwritten
     * the buffer in between. */
    status = ((header_length == 1) && probe_breaks("completes-unread")) ?
                 hold_unread(ep, id, header, header_length, iov, iovcnt) :
                 send_parts(ep, id, header, header_length, iov, iovcnt);
    return (status != UCS_OK) ? status :
                                probe_iface_done_later(ep_iface(ep), comp);
}

/* --- Waiting ------------------------------------------------------------- */

/* Makes the event descriptor report a writable socket if, and only if, a
 * request is pending. */
static void watch(probe_ep_t *ep)
{
    struct epoll_event event = {
        .events = ucx_pending_is_empty(&ep->pending) ? 0 : EPOLLOUT,
    };

    epoll_ctl(ep_iface(&ep->super)->epoll, EPOLL_CTL_MOD, ep->socket, &event);
}

unsigned probe_ep_progress(probe_ep_t *ep)
{
    unsigned count;

    if (ucx_pending_is_empty(&ep->pending) || (ep->status != UCS_OK) ||
        probe_breaks("forgets-pending") || !is_writable(ep, 0)) {
        return 0;
    }
    if (probe_breaks("jumps")) {
        dispatch_by_jumps(ep);
        return 1;
    }
    count = ucx_pending_dispatch(&ep->pending);
    watch(ep);
    return count;
}

static ucs_status_t probe_pending_add(uct_ep_h super, uct_pending_req_t *req,
                                      unsigned flags)
{
    probe_ep_t *ep = (probe_ep_t *)super;

    if (ep->status != UCS_OK) {
        return probe_breaks("queues-failed") ? UCS_OK : ep->status;
    }
    if (is_writable(ep, 0) && !probe_breaks("never-busy")) {
        return UCS_ERR_BUSY;
    }
    if (probe_breaks("calls-inside") && (req->func(req) == UCS_OK)) {
        return UCS_OK;
    }
    ucx_pending_push(&ep->pending, req);
    watch(ep);
    return UCS_OK;
}

static void probe_pending_purge(uct_ep_h super, uct_pending_purge_callback_t cb,
                                void *arg)
{
    probe_ep_t *ep = (probe_ep_t *)super;
    uct_pending_req_t *req;

    while ((req = ucx_pending_pop(&ep->pending)) != NULL) {
        cb(req, arg);
    }
    watch(ep);
}

static ucs_status_t probe_ep_flush(uct_ep_h ep, unsigned flags,
                                   uct_completion_t *comp)
{
    return probe_iface_flush(ep->iface, flags, comp);
}

static ucs_status_t probe_ep_fence(uct_ep_h ep, unsigned flags)
{
    return UCS_OK;
}

/* --- Life ---------------------------------------------------------------- */

static ucs_status_t probe_ep_check(uct_ep_h ep, unsigned flags,
                                   uct_completion_t *comp)
{
    struct iovec iov[1];
    ucs_status_t status = send_message(ep, PROBE_ID_CHECK, iov, 1);

    if (probe_breaks("sees-death")) {
        return UCS_ERR_ENDPOINT_TIMEOUT;
    }
    /* If the socket's queue is full, the socket of the peer still exists */
    return (status == UCS_ERR_NO_RESOURCE) ? UCS_OK : status;
}

void probe_ep_ping(probe_ep_t *ep)
{
    struct iovec iov[1];

    (void)send_message(&ep->super, PROBE_ID_CHECK, iov, 1);
}

static void probe_ep_destroy(uct_ep_h super)
{
    probe_ep_t *ep       = (probe_ep_t *)super;
    probe_iface_t *iface = ep_iface(super);
    probe_ep_t **link;

    for (link = &iface->eps; *link != ep; link = &(*link)->next) {
    }
    *link = ep->next;
    if ((ep->status != UCS_OK) && !ep->is_told) {
        --iface->failed;
    }
    close(ep->socket);
    if (probe_breaks("destroy-crashes")) {
        abort();
    }
    free(ep);
}

static int host_is_ours(uct_iface_h iface, const void *bytes, size_t length)
{
    probe_dev_addr_t addr;

    if (((bytes == NULL) || (length < sizeof(addr))) &&
        !probe_breaks("address-trusts")) {
        return 0;
    }
    memcpy(&addr, bytes, sizeof(addr));
    return addr.host == probe_host(iface->md)->machine_guid();
}

int probe_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args)
{
    return host_is_ours(iface, args->dev_addr, args->dev_addr_length) &&
           ((args->iface_addr == NULL) ||
            (args->iface_addr_length >= sizeof(probe_iface_addr_t)));
}

/* Returns whether the caller passes an address that is too short. */
static int is_cut(const uct_ep_params_t *params)
{
    return ((params->field_mask & UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH) &&
            (params->dev_addr_length < sizeof(probe_dev_addr_t))) ||
           ((params->field_mask & UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH) &&
            (params->iface_addr_length < sizeof(probe_iface_addr_t)));
}

ucs_status_t probe_ep_create(uct_iface_h super, const uct_ep_params_t *params,
                             uct_ep_h *ep_p)
{
    struct sockaddr_un name  = {.sun_family = AF_UNIX};
    struct epoll_event event = {.events = 0};
    probe_iface_t *iface     = probe_iface(super);
    probe_ep_t *ep;

    if (is_cut(params) ||
        !host_is_ours(super, params->dev_addr, sizeof(probe_dev_addr_t))) {
        return UCS_ERR_INVALID_ADDR;
    }

    ep = calloc(1, sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_ep_init(&ep->super, super);
    ucx_pending_init(&ep->pending);
    ep->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    memcpy(name.sun_path + 1, params->iface_addr, PROBE_NAME_SIZE);
    if ((ep->socket < 0) ||
        (connect(ep->socket, (struct sockaddr *)&name,
                 offsetof(struct sockaddr_un, sun_path) + 1 +
                     PROBE_NAME_SIZE) != 0) ||
        (epoll_ctl(iface->epoll, EPOLL_CTL_ADD, ep->socket, &event) != 0)) {
        if (ep->socket >= 0) {
            close(ep->socket);
        }
        free(ep);
        return UCS_ERR_UNREACHABLE;
    }
    ep->next   = iface->eps;
    iface->eps = ep;
    *ep_p      = &ep->super;
    return UCS_OK;
}

ucx_ep_ops_t probe_ep_ops = {
    .size           = sizeof(probe_ep_ops),
    .am_short       = probe_am_short,
    .am_bcopy       = probe_am_bcopy,
    .am_zcopy       = probe_am_zcopy,
    .am_short_iov   = probe_am_short_iov,
    .put_short      = probe_put_short,
    .put_bcopy      = probe_put_bcopy,
    .put_zcopy      = probe_put_zcopy,
    .get_short      = probe_get_short,
    .get_bcopy      = probe_get_bcopy,
    .get_zcopy      = probe_get_zcopy,
    .flush          = probe_ep_flush,
    .fence          = probe_ep_fence,
    .pending_add    = probe_pending_add,
    .pending_purge  = probe_pending_purge,
    .atomic32_post  = probe_atomic32_post,
    .atomic64_post  = probe_atomic64_post,
    .atomic32_fetch = probe_atomic32_fetch,
    .atomic64_fetch = probe_atomic64_fetch,
    .atomic_cswap32 = probe_atomic_cswap32,
    .atomic_cswap64 = probe_atomic_cswap64,
    .destroy        = probe_ep_destroy,
    .check          = probe_ep_check,
};
