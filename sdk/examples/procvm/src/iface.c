/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface: its attributes, its address and its events. */
#include "procvm.h"

#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Lists one device, or none if the system forbids access to the memory of other
 * processes. */
static ucs_status_t query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p)
{
    const procvm_process_t self = procvm_self();

    (void)md;
    *devices_p = NULL;
    *num_p     = 0;
    return procvm_is_process(&self) ?
               ucx_simple_device("memory", UCT_DEVICE_TYPE_SHM, devices_p,
                                 num_p) :
               UCS_OK;
}

static ucs_status_t iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    procvm_iface_t *iface = calloc(1, sizeof(*iface));

    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_iface_init(&iface->super, args);
    iface->host     = ucx_simple_host(md->component);
    iface->ops_tail = &iface->ops;
    iface->epoll    = epoll_create1(EPOLL_CLOEXEC);
    if (iface->epoll < 0) {
        free(iface);
        return UCS_ERR_IO_ERROR;
    }
    *iface_p = &iface->super;
    return UCS_OK;
}

static void iface_close(uct_iface_h super)
{
    procvm_iface_t *iface = (procvm_iface_t *)super;
    procvm_op_t *op;

    while ((op = iface->ops) != NULL) {
        iface->ops = op->next;
        free(op);
    }
    close(iface->epoll);
    free(iface);
}

static ucs_status_t iface_query(uct_iface_h iface, ucx_iface_attr_t *attr)
{
    uct_iface_attr_t *base = &attr->base;

    (void)iface;
    base->cap.flags = UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY |
                      UCT_IFACE_FLAG_PUT_ZCOPY | UCT_IFACE_FLAG_GET_ZCOPY |
                      UCT_IFACE_FLAG_PENDING | UCT_IFACE_FLAG_CB_SYNC |
                      UCT_IFACE_FLAG_CONNECT_TO_EP | UCT_IFACE_FLAG_EP_CHECK |
                      UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE;
    base->cap.event_flags = UCT_IFACE_FLAG_EVENT_RECV |
                            UCT_IFACE_FLAG_EVENT_SEND_COMP |
                            UCT_IFACE_FLAG_EVENT_FD;
    base->cap.am.max_short        = PROCVM_MAX_MESSAGE;
    base->cap.am.max_bcopy        = PROCVM_MAX_MESSAGE;
    base->cap.am.max_iov          = 1;
    base->cap.put.max_zcopy       = SIZE_MAX;
    base->cap.put.max_iov         = PROCVM_MAX_IOV;
    base->cap.put.opt_zcopy_align = 1;
    base->cap.put.align_mtu       = 1;
    base->cap.get.max_zcopy       = SIZE_MAX;
    base->cap.get.max_iov         = PROCVM_MAX_IOV;
    base->cap.get.opt_zcopy_align = 1;
    base->cap.get.align_mtu       = 1;
    base->device_addr_len         = sizeof(procvm_process_t);
    base->ep_addr_len             = sizeof(procvm_name_t);
    base->overhead                = 1e-6;
    base->latency.c               = 5e-6;
    base->bandwidth.shared        = 5e9;
    base->max_num_eps             = SIZE_MAX;
    base->dev_num_paths           = 1;
    attr->flags                   = UCX_IFACE_FLAG_TESTED_REACHABILITY |
                  UCX_IFACE_FLAG_DETECTS_FAILURE;
    attr->max_inflight_eps = SIZE_MAX;
    return UCS_OK;
}

static ucs_status_t get_device_address(uct_iface_h iface,
                                       uct_device_addr_t *address)
{
    const procvm_process_t self = procvm_self();

    (void)iface;
    memcpy(address, &self, sizeof(self));
    return UCS_OK;
}

static ucs_status_t get_address(uct_iface_h iface, uct_iface_addr_t *address)
{
    (void)iface;
    (void)address;
    return UCS_OK; /* The interface address is empty: endpoints have
                    * addresses */
}

/* Tests whether this process can access the peer's memory, by reading the nonce
 * at the address that the peer's device address contains. A peer on this host
 * may be inaccessible, for example in another container. */
int procvm_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args)
{
    procvm_process_t peer;

    (void)iface;
    if ((args->dev_addr == NULL) || (args->dev_addr_length != sizeof(peer))) {
        return 0;
    }
    memcpy(&peer, args->dev_addr, sizeof(peer));
    if (peer.network != procvm_self().network) {
        if (args->reason != NULL) {
            snprintf(args->reason, args->reason_size,
                     "it is in another network namespace");
        }
        return 0;
    }
    if (!procvm_is_process(&peer)) {
        if (args->reason != NULL) {
            snprintf(args->reason, args->reason_size,
                     "the memory of process %u cannot be accessed: it is of "
                     "another host, user or PID namespace, or "
                     "kernel.yama.ptrace_scope is not 0",
                     peer.pid);
        }
        return 0;
    }
    return 1;
}

/* -------------------------------------------------------------- events -- */

static ucs_status_t event_fd_get(uct_iface_h iface, int *fd_p)
{
    *fd_p = ((procvm_iface_t *)iface)->epoll;
    return UCS_OK;
}

/* Arms the event descriptor. Nothing has to be set: the descriptor is an epoll
 * set, which is readable as long as one of its sockets has an event, so that no
 * event is lost. */
static ucs_status_t event_arm(uct_iface_h super, unsigned events)
{
    procvm_iface_t *iface = (procvm_iface_t *)super;
    struct pollfd pfd     = {.fd = iface->epoll, .events = POLLIN};

    (void)events;
    return ((iface->ops != NULL) || (iface->num_failed > 0) ||
            (poll(&pfd, 1, 0) != 0)) ?
               UCS_ERR_BUSY :
               UCS_OK;
}

static ucs_status_t iface_flush(uct_iface_h iface, unsigned flags,
                                uct_completion_t *comp)
{
    return (flags & UCT_FLUSH_FLAG_CANCEL) ?
               UCS_ERR_UNSUPPORTED :
               procvm_flush((procvm_iface_t *)iface, NULL, flags, comp);
}

/* Does nothing: operations complete in the order in which they began. */
static ucs_status_t iface_fence(uct_iface_h iface, unsigned flags)
{
    (void)iface;
    (void)flags;
    return UCS_OK;
}

static const ucx_iface_ops_t iface_ops = {
    .size               = sizeof(iface_ops),
    .close              = iface_close,
    .query              = iface_query,
    .get_device_address = get_device_address,
    .get_address        = get_address,
    .is_reachable       = procvm_is_reachable,
    .ep_create          = procvm_ep_create,
    .progress           = procvm_progress,
    .flush              = iface_flush,
    .fence              = iface_fence,
    .event_fd_get       = event_fd_get,
    .event_arm          = event_arm,
};

const ucx_transport_t procvm_transport = {
    .size          = sizeof(procvm_transport),
    .name          = PROCVM_NAME,
    .query_devices = query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &procvm_ep_ops,
};
