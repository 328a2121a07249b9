/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The endpoint: two connections of local sockets to the peer's endpoint, one in
 * each direction. Each endpoint listens under its own name, which is its
 * address, and connects to the peer's name. With a connection for each
 * direction, data that the peer has sent can be read after the peer has closed
 * both.
 */
#include "procvm.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* ------------------------------------------------------------- sockets -- */

static int open_socket(void)
{
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static socklen_t address_of(const procvm_name_t *name, struct sockaddr_un *addr)
{
    *addr = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(addr->sun_path + 1, name->text, PROCVM_NAME_LENGTH);
    return offsetof(struct sockaddr_un, sun_path) + 1 + PROCVM_NAME_LENGTH;
}

/* Listens under a name that the kernel selects. */
static int listen_somewhere(procvm_name_t *name)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    socklen_t length        = sizeof(addr);
    int fd                  = open_socket();

    if (fd < 0) {
        return -1;
    }
    if ((bind(fd, (struct sockaddr *)&addr, sizeof(sa_family_t)) == 0) &&
        (listen(fd, 4) == 0) &&
        (getsockname(fd, (struct sockaddr *)&addr, &length) == 0) &&
        (length == address_of(name, &(struct sockaddr_un){0}))) {
        memcpy(name->text, addr.sun_path + 1, PROCVM_NAME_LENGTH);
        return fd;
    }
    close(fd);
    return -1;
}

/* Returns whether the process at the other end of the connection is the process
 * of the peer and belongs to this user, by the credentials that the kernel
 * returns. */
static int is_peer(const procvm_ep_t *ep, int fd)
{
    struct ucred cred = {0};
    socklen_t length  = sizeof(cred);

    return (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &length) == 0) &&
           ((uint32_t)cred.pid == ep->peer.pid) && (cred.uid == geteuid());
}

static int watch(procvm_ep_t *ep, int how, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = ep};

    return epoll_ctl(((procvm_iface_t *)ep->super.iface)->epoll, how, fd,
                     &event) == 0;
}

/* Closes a socket. It is removed from the epoll set explicitly, because a
 * forked child may have a copy of the descriptor; then closing it would not
 * remove the socket. */
static void close_fd(procvm_ep_t *ep, int *fd)
{
    if (*fd >= 0) {
        epoll_ctl(((procvm_iface_t *)ep->super.iface)->epoll, EPOLL_CTL_DEL,
                  *fd, NULL);
        close(*fd);
        *fd = -1;
    }
}

static void close_all(procvm_ep_t *ep)
{
    close_fd(ep, &ep->listener);
    close_fd(ep, &ep->in);
    close_fd(ep, &ep->out);
}

/* Accepts the peer's connection. Any process may connect to the listening
 * socket, so connections of other processes than the peer are closed. */
void procvm_ep_accept(procvm_ep_t *ep)
{
    int fd;

    while ((ep->in < 0) && (ep->listener >= 0)) {
        fd = accept4(ep->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            return;
        }
        if (is_peer(ep, fd) && watch(ep, EPOLL_CTL_ADD, fd, EPOLLIN)) {
            ep->in = fd;
            close_fd(ep, &ep->listener);
        } else {
            close(fd);
        }
    }
}

/* ------------------------------------------------------------ lifetime -- */

void procvm_ep_fail(procvm_ep_t *ep, ucs_status_t status)
{
    if (ep->status == UCS_OK) {
        ep->status = status;
        ++((procvm_iface_t *)ep->super.iface)->num_failed;
        procvm_ops_fail(ep, status);
        close_all(ep);
    }
}

ucs_status_t procvm_ep_create(uct_iface_h super, const uct_ep_params_t *params,
                              uct_ep_h *ep_p)
{
    procvm_iface_t *iface = (procvm_iface_t *)super;
    procvm_ep_t *ep;

    if (params->field_mask &
        (UCT_EP_PARAM_FIELD_IFACE_ADDR | UCT_EP_PARAM_FIELD_SOCKADDR)) {
        return UCS_ERR_UNSUPPORTED; /* Endpoints are connected by
                                     * connect_to_ep */
    }
    ep = calloc(1, sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_ep_init(&ep->super, super);
    ucx_pending_init(&ep->pending);
    ep->in       = -1;
    ep->out      = -1;
    ep->listener = listen_somewhere(&ep->name);
    if (ep->listener < 0) {
        free(ep);
        return UCS_ERR_IO_ERROR;
    }
    ep->next   = iface->eps;
    iface->eps = ep;
    *ep_p      = &ep->super;
    return UCS_OK;
}

static void destroy(uct_ep_h super)
{
    procvm_ep_t *ep       = (procvm_ep_t *)super;
    procvm_iface_t *iface = (procvm_iface_t *)super->iface;
    procvm_ep_t **link    = &iface->eps;

    while (*link != ep) {
        link = &(*link)->next;
    }
    *link = ep->next;
    if ((ep->status != UCS_OK) && !ep->is_told) {
        --iface->num_failed;
    }
    procvm_ops_forget(ep);
    close_all(ep);
    ep->is_destroyed = 1;
    ep->status       = UCS_ERR_CANCELED; /* Running calls of progress then do
                                          * not use the endpoint any more */
    if (iface->in_progress > 0) {
        ep->next    = iface->dead;
        iface->dead = ep;
    } else {
        free(ep);
    }
}

/* ---------------------------------------------------------- connection -- */

static ucs_status_t get_address(uct_ep_h ep, uct_ep_addr_t *addr)
{
    memcpy(addr, &((procvm_ep_t *)ep)->name, sizeof(procvm_name_t));
    return UCS_OK;
}

static int connect_to(const procvm_name_t *name)
{
    struct sockaddr_un addr;
    socklen_t length = address_of(name, &addr);
    int fd           = open_socket();

    if ((fd >= 0) && (connect(fd, (struct sockaddr *)&addr, length) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Connects to the peer. The peer may have connected and sent messages before:
 * its connection waits in the listener, which progress monitors from now on. */
static ucs_status_t connect_to_ep(uct_ep_h super,
                                  const uct_device_addr_t *dev_addr,
                                  size_t dev_addr_length,
                                  const uct_ep_addr_t *ep_addr,
                                  size_t ep_addr_length)
{
    procvm_ep_t *ep           = (procvm_ep_t *)super;
    ucx_reachable_args_t args = {
        .size            = sizeof(args),
        .dev_addr        = dev_addr,
        .dev_addr_length = dev_addr_length,
    };

    if (ep->out >= 0) {
        return UCS_ERR_ALREADY_EXISTS;
    }
    if ((ep_addr == NULL) || (ep_addr_length != sizeof(ep->peer_name))) {
        return UCS_ERR_INVALID_ADDR;
    }
    if (!procvm_is_reachable(super->iface, &args)) {
        return UCS_ERR_UNREACHABLE;
    }
    memcpy(&ep->peer, dev_addr, sizeof(ep->peer));
    memcpy(&ep->peer_name, ep_addr, sizeof(ep->peer_name));
    ep->out = connect_to(&ep->peer_name);
    if ((ep->out < 0) || !is_peer(ep, ep->out) ||
        !watch(ep, EPOLL_CTL_ADD, ep->out, 0) ||
        !watch(ep, EPOLL_CTL_ADD, ep->listener, EPOLLIN)) {
        procvm_ep_fail(ep, UCS_ERR_UNREACHABLE);
        return UCS_ERR_UNREACHABLE;
    }
    procvm_ep_watch(ep); /* Requests may be pending already */
    return UCS_OK;
}

static int is_connected(uct_ep_h super, const uct_device_addr_t *dev_addr,
                        const uct_iface_addr_t *iface_addr,
                        const uct_ep_addr_t *ep_addr)
{
    const procvm_ep_t *ep = (const procvm_ep_t *)super;

    (void)iface_addr;
    return (ep->out >= 0) && (dev_addr != NULL) && (ep_addr != NULL) &&
           (memcmp(&ep->peer, dev_addr, sizeof(ep->peer)) == 0) &&
           (memcmp(&ep->peer_name, ep_addr, sizeof(ep->peer_name)) == 0);
}

/* --------------------------------------------------------------- sends -- */

/* See procvm.h. poll() reports a local socket as writable only if there is
 * enough space for the longest message. */
ucs_status_t procvm_ep_state(const procvm_ep_t *ep)
{
    struct pollfd pfd = {.fd = ep->out, .events = POLLOUT};

    if (ep->status != UCS_OK) {
        return ep->status;
    }
    if ((ep->out < 0) || (poll(&pfd, 1, 0) <= 0)) {
        return UCS_ERR_NO_RESOURCE;
    }
    return (pfd.revents & (POLLHUP | POLLERR)) ? UCS_ERR_CONNECTION_RESET :
                                                 UCS_OK;
}

/* Sends one message. If sending shows that the peer is lost, only the status is
 * returned: progress reports the loss, after it has delivered the messages that
 * the peer has sent. */
static ucs_status_t send_parts(procvm_ep_t *ep, struct iovec *parts,
                               size_t count)
{
    struct msghdr msg = {.msg_iov = parts, .msg_iovlen = count};

    if (ep->status != UCS_OK) {
        return ep->status;
    }
    if ((ep->out >= 0) &&
        (sendmsg(ep->out, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)) {
        return UCS_OK;
    }
    return ((ep->out < 0) || (errno == EAGAIN) || (errno == EINTR) ||
            (errno == ENOBUFS)) ?
               UCS_ERR_NO_RESOURCE :
               UCS_ERR_CONNECTION_RESET;
}

static ucs_status_t am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                             const void *payload, unsigned length)
{
    procvm_header_t first = {.id = id};
    struct iovec parts[]  = {
         {&first, sizeof(first)},
         {&header, sizeof(header)},
         {(void *)payload, length},
    };

    return send_parts((procvm_ep_t *)ep, parts, (length > 0) ? 3 : 2);
}

/* Packs and sends one message. Checks for space before packing, because the
 * data can be packed only once. */
static ssize_t am_bcopy(uct_ep_h super, uint8_t id, uct_pack_callback_t pack_cb,
                        void *arg, unsigned flags)
{
    procvm_ep_t *ep      = (procvm_ep_t *)super;
    procvm_message_t *tx = &((procvm_iface_t *)super->iface)->tx;
    ucs_status_t status  = procvm_ep_state(ep);
    struct iovec part    = {tx, 0};
    size_t length;

    (void)flags;
    if (status != UCS_OK) {
        return status;
    }
    length       = pack_cb(tx->data, arg);
    tx->header   = (procvm_header_t){.id = id};
    part.iov_len = sizeof(tx->header) + length;
    status       = send_parts(ep, &part, 1);
    return (status == UCS_OK) ? (ssize_t)length : status;
}

static ucs_status_t ep_flush(uct_ep_h ep, unsigned flags,
                             uct_completion_t *comp)
{
    procvm_ep_t *own = (procvm_ep_t *)ep;

    if ((own->status != UCS_OK) && !(flags & UCT_FLUSH_FLAG_CANCEL)) {
        return own->status;
    }
    return procvm_flush((procvm_iface_t *)ep->iface, own, flags, comp);
}

static ucs_status_t fence(uct_ep_h ep, unsigned flags)
{
    (void)flags;
    return ((procvm_ep_t *)ep)->status;
}

/* Returns the endpoint's status. Sends no probe, because the kernel reports the
 * end of a connection to progress. */
static ucs_status_t check(uct_ep_h ep, unsigned flags, uct_completion_t *comp)
{
    (void)flags;
    (void)comp;
    return ((procvm_ep_t *)ep)->status;
}

/* ------------------------------------------------------------- pending -- */

void procvm_ep_watch(procvm_ep_t *ep)
{
    watch(ep, EPOLL_CTL_MOD, ep->out,
          ucx_pending_is_empty(&ep->pending) ? 0 : EPOLLOUT);
}

static ucs_status_t pending_add(uct_ep_h super, uct_pending_req_t *req,
                                unsigned flags)
{
    procvm_ep_t *ep     = (procvm_ep_t *)super;
    ucs_status_t status = procvm_ep_state(ep);

    (void)flags;
    if (status != UCS_ERR_NO_RESOURCE) {
        return (status == UCS_OK) ? UCS_ERR_BUSY : status;
    }
    ucx_pending_push(&ep->pending, req);
    procvm_ep_watch(ep);
    return UCS_OK;
}

static void pending_purge(uct_ep_h super, uct_pending_purge_callback_t cb,
                          void *arg)
{
    procvm_ep_t *ep = (procvm_ep_t *)super;

    ucx_pending_purge(&ep->pending, cb, arg);
    procvm_ep_watch(ep);
}

const ucx_ep_ops_t procvm_ep_ops = {
    .size          = sizeof(procvm_ep_ops),
    .am_short      = am_short,
    .am_bcopy      = am_bcopy,
    .put_zcopy     = procvm_put_zcopy,
    .get_zcopy     = procvm_get_zcopy,
    .flush         = ep_flush,
    .fence         = fence,
    .pending_add   = pending_add,
    .pending_purge = pending_purge,
    .destroy       = destroy,
    .check         = check,
    .get_address   = get_address,
    .connect_to_ep = connect_to_ep,
    .is_connected  = is_connected,
};
