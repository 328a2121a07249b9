/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interfaces: a bound socket, and an epoll descriptor that is also the event
 * descriptor. The epoll descriptor is level-triggered, so that no event is
 * lost.
 */
#include "probe.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MESSAGES_A_ROUND 32

static ucs_status_t query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p)
{
    static ucx_device_desc_t constant[1];
    unsigned count            = probe_breaks("device-twice") ? 2 : 1, i;
    ucx_device_desc_t *device = calloc(count, sizeof(*device));

    if (device == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    if (probe_breaks("lists-static")) {
        free(device);
        device = constant;
    }
    for (i = 0; i < count; ++i) {
        strcpy(device[i].name, "local");
        device[i].type    = probe_breaks("device-kind") ? UCT_DEVICE_TYPE_ACC :
                                                          UCT_DEVICE_TYPE_SHM;
        device[i].sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
    }
    *devices_p = device;
    *num_p     = count;
    return UCS_OK;
}

/* --- Progress ------------------------------------------------------------ */

ucs_status_t probe_iface_done_later(probe_iface_t *iface,
                                    uct_completion_t *comp)
{
    probe_done_t *done = calloc(1, sizeof(*done));

    if (done == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    done->comp        = comp;
    *iface->done_tail = done;
    iface->done_tail  = &done->next;
    return UCS_INPROGRESS;
}

static void *run_completion(void *arg)
{
    uct_completion_t *comp = arg;

    comp->func(comp);
    return NULL;
}

static void call_completion(uct_completion_t *comp)
{
    pthread_t thread;

    if (!probe_breaks("completes-elsewhere") ||
        (pthread_create(&thread, NULL, run_completion, comp) != 0)) {
        comp->func(comp);
        return;
    }
    pthread_join(thread, NULL);
}

static unsigned complete_all(probe_iface_t *iface)
{
    unsigned count = 0;
    probe_done_t *done;

    while ((done = iface->done) != NULL) {
        iface->done = done->next;
        if (iface->done == NULL) {
            iface->done_tail = &iface->done;
        }
        if ((done->comp != NULL) && (--done->comp->count == 0)) {
            call_completion(done->comp);
            if (probe_breaks("completes-twice")) {
                done->comp->func(done->comp);
            }
        }
        free(done);
        ++count;
    }
    return count;
}

/* Calls the error handler for endpoints whose failure is not reported yet. The
 * user may destroy the endpoint inside the handler. */
static unsigned tell_failures(probe_iface_t *iface)
{
    const ucx_host_t *host = probe_host(iface->super.md);
    unsigned count         = 0;
    probe_ep_t *ep, *next;
    ucs_status_t status;

    for (ep = iface->eps; (iface->failed > 0) && (ep != NULL); ep = next) {
        next = ep->next;
        if ((ep->status != UCS_OK) && !ep->is_told) {
            ep->is_told = 1;
            --iface->failed;
            ++count;
            status = ep->status;
            host->iface_ep_failed(&iface->super, &ep->super, status);
            if (probe_breaks("tells-twice")) {
                host->iface_ep_failed(&iface->super, &ep->super, status);
            }
        }
    }
    return count;
}

static void ping_peers(probe_iface_t *iface)
{
    double now;
    probe_ep_t *ep;

    if (!isfinite(iface->keepalive) || probe_breaks("never-pings")) {
        return;
    }
    now = probe_host(iface->super.md)->time();
    if (now < iface->next_check) {
        return;
    }
    iface->next_check = now + iface->keepalive;
    for (ep = iface->eps; ep != NULL; ep = ep->next) {
        probe_ep_ping(ep);
    }
}

static unsigned probe_iface_progress(uct_iface_h super)
{
    probe_iface_t *iface = probe_iface(super);
    unsigned count       = complete_all(iface), limit, i;
    probe_ep_t *ep, *next;

    if (probe_breaks("hangs")) {
        for (;;) {
            pause();
        }
    }
    ping_peers(iface);
    if (probe_breaks("fails-early")) {
        count += tell_failures(iface);
    }
    if (iface->unread.rounds > 0) {
        --iface->unread.rounds;
    } else if (iface->unread.ep != NULL) {
        probe_send_unread(iface);
    }
    limit = probe_breaks("drains-once") ? 8 : MESSAGES_A_ROUND;
    for (i = 0; (i < limit) && probe_receive(iface); ++i) {
    }
    for (ep = iface->eps; ep != NULL; ep = next) {
        next = ep->next;
        count += probe_ep_progress(ep);
    }
    if ((i == MESSAGES_A_ROUND) && !probe_breaks("fails-early")) {
        return count + i; /* More messages may wait. They are delivered before
                           * failures are reported. */
    }
    return count + i + tell_failures(iface);
}

ucs_status_t probe_iface_flush(uct_iface_h super, unsigned flags,
                               uct_completion_t *comp)
{
    probe_iface_t *iface = probe_iface(super);

    if ((iface->done == NULL) || probe_breaks("flushes-early")) {
        return UCS_OK;
    }
    return (comp == NULL) ? UCS_INPROGRESS :
                            probe_iface_done_later(iface, comp);
}

static ucs_status_t probe_iface_fence(uct_iface_h iface, unsigned flags)
{
    return UCS_OK;
}

/* --- Events -------------------------------------------------------------- */

static ucs_status_t event_fd_get(uct_iface_h iface, int *fd_p)
{
    *fd_p = probe_breaks("deaf") ? probe_iface(iface)->silent :
                                   probe_iface(iface)->epoll;
    return UCS_OK;
}

static ucs_status_t event_arm(uct_iface_h super, unsigned events)
{
    probe_iface_t *iface = probe_iface(super);
    struct pollfd pfd    = {.fd = iface->epoll, .events = POLLIN};
    struct epoll_event event;

    if (probe_breaks("arms-blindly")) {
        /* With this defect, the socket is edge-triggered: epoll_wait() removes
         * the event of a message that has arrived */
        epoll_wait(iface->epoll, &event, 1, 0);
        return UCS_OK;
    }
    return ((iface->done != NULL) || (iface->failed > 0) ||
            (poll(&pfd, 1, 0) > 0)) ?
               UCS_ERR_BUSY :
               UCS_OK;
}

/* --- Life ---------------------------------------------------------------- */

static ucs_status_t probe_iface_query(uct_iface_h iface, ucx_iface_attr_t *all)
{
    uct_iface_attr_t *attr = &all->base;
    const uint64_t ops     = UCS_BIT(UCT_ATOMIC_OP_LAST) - 1;

    if (probe_iface(iface)->is_aligned) {
        all->flags |= UCX_IFACE_FLAG_ALIGNS_AM;
    }

    attr->cap.flags = UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY |
                      UCT_IFACE_FLAG_AM_ZCOPY | UCT_IFACE_FLAG_PENDING |
                      UCT_IFACE_FLAG_PUT_SHORT | UCT_IFACE_FLAG_PUT_BCOPY |
                      UCT_IFACE_FLAG_PUT_ZCOPY | UCT_IFACE_FLAG_GET_SHORT |
                      UCT_IFACE_FLAG_GET_BCOPY | UCT_IFACE_FLAG_GET_ZCOPY |
                      UCT_IFACE_FLAG_ATOMIC_CPU | UCT_IFACE_FLAG_EP_CHECK |
                      UCT_IFACE_FLAG_EP_KEEPALIVE |
                      UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE |
                      UCT_IFACE_FLAG_CONNECT_TO_IFACE | UCT_IFACE_FLAG_CB_SYNC;
    attr->cap.event_flags = UCT_IFACE_FLAG_EVENT_RECV |
                            UCT_IFACE_FLAG_EVENT_SEND_COMP |
                            UCT_IFACE_FLAG_EVENT_FD;
    attr->cap.am.max_short  = 256;
    attr->cap.am.max_bcopy  = probe_breaks("no-bcopy") ? 0 : PROBE_SEG_SIZE;
    attr->cap.am.max_zcopy  = PROBE_SEG_SIZE;
    attr->cap.am.max_hdr    = PROBE_MAX_HEADER;
    attr->cap.am.max_iov    = probe_breaks("no-iov") ? 0 : PROBE_MAX_IOV;
    attr->cap.put.max_short = 4096;
    attr->cap.put.max_bcopy = 65536;
    attr->cap.put.max_zcopy = SIZE_MAX;
    attr->cap.put.max_iov   = 1;
    attr->cap.get.max_short = 4096;
    attr->cap.get.max_bcopy = 65536;
    attr->cap.get.max_zcopy = SIZE_MAX;
    attr->cap.get.max_iov   = 1;

    attr->cap.atomic32.op_flags  = ops & ~UCS_BIT(UCT_ATOMIC_OP_CSWAP);
    attr->cap.atomic32.fop_flags = ops;
    attr->cap.atomic64           = attr->cap.atomic32;

    attr->device_addr_len     = sizeof(probe_dev_addr_t);
    attr->iface_addr_len      = sizeof(probe_iface_addr_t);
    attr->overhead            = PROBE_OVERHEAD;
    attr->latency.c           = PROBE_LATENCY;
    attr->bandwidth.dedicated = 1e9;
    attr->max_num_eps         = 1024;
    attr->dev_num_paths       = 1;
    if (probe_breaks("latency-high")) {
        attr->latency.c *= 100;
    }
    if (probe_breaks("bandwidth-low")) {
        attr->bandwidth.dedicated /= 100;
    }
    if (probe_breaks("undeclared")) {
        attr->cap.flags |= UCT_IFACE_FLAG_AM_DUP;
    }
    return UCS_OK;
}

static ucs_status_t get_device_address(uct_iface_h iface,
                                       uct_device_addr_t *addr)
{
    const probe_dev_addr_t own = {probe_host(iface->md)->machine_guid()};

    memcpy(addr, &own, sizeof(own));
    return UCS_OK;
}

static ucs_status_t get_address(uct_iface_h iface, uct_iface_addr_t *addr)
{
    memcpy(addr, &probe_iface(iface)->addr, sizeof(probe_iface_addr_t));
    if (probe_breaks("address-long")) {
        ((char *)addr)[sizeof(probe_iface_addr_t)] = 0;
    }
    return UCS_OK;
}

static int bind_socket(probe_iface_t *iface)
{
    struct sockaddr_un name  = {.sun_family = AF_UNIX};
    struct epoll_event event = {
        .events = EPOLLIN | (probe_breaks("arms-blindly") ? EPOLLET : 0),
    };

    memcpy(name.sun_path + 1, iface->addr.name, PROBE_NAME_SIZE);
    return (bind(iface->socket, (struct sockaddr *)&name,
                 offsetof(struct sockaddr_un, sun_path) + 1 +
                     PROBE_NAME_SIZE) == 0) &&
           (epoll_ctl(iface->epoll, EPOLL_CTL_ADD, iface->socket, &event) == 0);
}

static void close_fds(probe_iface_t *iface)
{
    const int fds[] = {iface->socket, iface->epoll, iface->silent};
    unsigned i;

    for (i = 0; i < 3; ++i) {
        if ((fds[i] >= 0) && !((i == 2) && probe_breaks("leaves-open"))) {
            close(fds[i]);
        }
    }
}

static unsigned no_progress(void *arg)
{
    return 0;
}

/* The defect "handler-adds": an asynchronous handler, which runs on a service
 * thread, adds a progress callback. */
static void add_progress(int fd, int events, void *arg)
{
    probe_iface_t *iface = arg;
    int id;

    (void)probe_host(iface->super.md)
        ->progress_add(iface->super.worker, no_progress, iface, &id);
    sem_post(&iface->handled);
}

/* Makes add_progress() run on the service thread, and waits for it. */
static void run_handler(probe_iface_t *iface)
{
    const ucx_host_t *host = probe_host(iface->super.md);
    ucx_async_id_t id;

    sem_init(&iface->handled, 0, 0);
    if ((eventfd_write(iface->silent, 1) == 0) &&
        (host->async_add_fd(iface->super.worker, iface->silent,
                            UCS_EVENT_SET_EVREAD, add_progress, iface,
                            &id) == UCS_OK)) {
        sem_wait(&iface->handled);
        host->async_remove(id);
    }
}

static ucs_status_t iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    probe_iface_t *iface = calloc(1, sizeof(*iface));

    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ucx_iface_init(&iface->super, args);
    iface->done_tail = &iface->done;
    iface->keepalive = probe_breaks("reads-newer") ?
                           args->keepalive_interval :
                           ucx_iface_keepalive(args, -1, INFINITY);
    iface->headroom  = (args->params->field_mask &
                       UCT_IFACE_PARAM_FIELD_RX_HEADROOM) ?
                           args->params->rx_headroom :
                           0;
    probe_receive_init(iface, args->params);
    iface->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    iface->epoll  = epoll_create1(EPOLL_CLOEXEC);
    iface->silent = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if ((iface->socket < 0) || (iface->epoll < 0) || (iface->silent < 0) ||
        (getrandom(iface->addr.name, PROBE_NAME_SIZE, 0) != PROBE_NAME_SIZE) ||
        !bind_socket(iface)) {
        close_fds(iface);
        free(iface);
        return UCS_ERR_IO_ERROR;
    }
    if (probe_breaks("handler-adds")) {
        run_handler(iface);
    }
    *iface_p = &iface->super;
    return UCS_OK;
}

static void iface_close(uct_iface_h super)
{
    probe_iface_t *iface = probe_iface(super);
    probe_done_t *done;

    while ((done = iface->done) != NULL) {
        iface->done = done->next;
        free(done);
    }
    close_fds(iface);
    free(iface);
}

static const ucx_iface_ops_t iface_ops = {
    .size               = sizeof(iface_ops),
    .close              = iface_close,
    .query              = probe_iface_query,
    .get_device_address = get_device_address,
    .get_address        = get_address,
    .is_reachable       = probe_is_reachable,
    .ep_create          = probe_ep_create,
    .progress           = probe_iface_progress,
    .flush              = probe_iface_flush,
    .fence              = probe_iface_fence,
    .event_fd_get       = event_fd_get,
    .event_arm          = event_arm,
};

const ucx_transport_t probe_transport = {
    .size          = sizeof(probe_transport),
    .name          = "probe",
    .query_devices = query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &probe_ep_ops,
};
