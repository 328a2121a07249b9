/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The copier, a transport that copies within the process (see ucx_transport in
 * <ucx/transport.h>): an interface whose endpoints are connected to the
 * interface itself. Put copies from the user's buffers to an address of this
 * process, get copies from it; both may be memory of any type. Zero-copy
 * operations copy the data just before their completion is called.
 */
#include "opaque.h"

#include <ucx/count.h>
#include <ucx/pending.h>

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Maximum bytes of short and of zero-copy operations, and maximum entries of an
 * I/O vector. */
enum { MAX_SHORT = 2048, MAX_POSTED = 1024 * 1024, MAX_IOV = 4 };

/* Values of the variables UCX_OPAQUE_DELAY, _DEPTH and _FAIL; see `fields`. */
typedef struct {
    unsigned delay;
    unsigned depth;
    unsigned fail;
} config_t;

/* A posted copy, or a flush (iovcnt 0). Operations complete in the order in
 * which they were posted. */
typedef struct op {
    struct op *next;
    uct_ep_h ep;
    uct_iov_t iov[MAX_IOV];
    size_t iovcnt;
    uint64_t address; /* Destination of a put, source of a get */
    int is_put;
    unsigned rounds;     /* Calls of progress that are left until the operation
                          * completes, from when it is the first in the queue */
    ucs_status_t status; /* Not UCS_OK: the operation completes with this status
                          * instead of copying */
    uct_completion_t *comp;
} op_t;

typedef struct {
    uct_iface_t super;
    uint64_t id; /* The interface address */
    config_t config;
    op_t *head, **tail; /* Operations whose completions progress has to call */
    unsigned queued;    /* Number of copies in that list */
    unsigned posted;    /* Number of copies posted so far, for
                         * UCX_OPAQUE_FAIL */
    ucx_pending_queue_t pending;
} iface_t;

typedef struct {
    uct_ep_t super;
} ep_t;

static const ucx_config_field_t fields[] = {
    {
        .name   = "DELAY",
        .type   = UCX_CONFIG_UINT,
        .offset = offsetof(config_t, delay),
        .dflt   = "2",
        .help   = "Rounds of progress that a copy takes: 1 to 1000.",
        .min    = 1,
        .max    = 1000,
    },
    {
        .name   = "DEPTH",
        .type   = UCX_CONFIG_UINT,
        .offset = offsetof(config_t, depth),
        .dflt   = "8",
        .help   = "Copies that may be under way: 1 to 1000.",
        .min    = 1,
        .max    = 1000,
    },
    {
        .name   = "FAIL",
        .type   = UCX_CONFIG_UINT,
        .offset = offsetof(config_t, fail),
        .dflt   = "0",
        .help   = "Which of so many copies fails, the last; 0: none.",
        .min    = 0,
        .max    = 1000000,
    },
};

static const ucx_config_table_t config_table = UCX_CONFIG_TABLE("OPAQUE_",
                                                                config_t,
                                                                fields);

/* ----------------------------------------------------------- interface -- */

static ucs_status_t query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p)
{
    (void)md;
    return ucx_simple_device("opaque0", UCT_DEVICE_TYPE_ACC, devices_p, num_p);
}

static ucs_status_t iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    static _Atomic uint32_t count;
    const config_t *config = args->config;
    iface_t *iface;

    (void)md;
    if (config == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    iface = calloc(1, sizeof(*iface));
    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_iface_init(&iface->super, args);
    ucx_pending_init(&iface->pending);
    iface->id     = ((uint64_t)getpid() << 32) | atomic_fetch_add(&count, 1);
    iface->config = *config;
    iface->tail   = &iface->head;
    *iface_p      = &iface->super;
    return UCS_OK;
}

static ucs_status_t iface_query(uct_iface_h iface, ucx_iface_attr_t *attr)
{
    uct_iface_attr_t *base = &attr->base;

    (void)iface;
    base->cap.flags = UCT_IFACE_FLAG_PUT_SHORT | UCT_IFACE_FLAG_PUT_ZCOPY |
                      UCT_IFACE_FLAG_GET_SHORT | UCT_IFACE_FLAG_GET_ZCOPY |
                      UCT_IFACE_FLAG_PENDING | UCT_IFACE_FLAG_CONNECT_TO_IFACE;
    base->cap.put.max_short       = MAX_SHORT;
    base->cap.put.max_zcopy       = MAX_POSTED;
    base->cap.put.max_iov         = MAX_IOV;
    base->cap.put.opt_zcopy_align = 1;
    base->cap.put.align_mtu       = 1;
    base->cap.get.max_short       = MAX_SHORT;
    base->cap.get.max_zcopy       = MAX_POSTED;
    base->cap.get.max_iov         = MAX_IOV;
    base->cap.get.opt_zcopy_align = 1;
    base->cap.get.align_mtu       = 1;
    base->iface_addr_len          = sizeof(uint64_t);
    base->overhead                = 1e-6;
    base->latency.c               = 1e-6;
    base->bandwidth.shared        = 5e9;
    base->max_num_eps             = SIZE_MAX;
    base->dev_num_paths           = 1;
    attr->max_inflight_eps        = SIZE_MAX;
    return UCS_OK;
}

static ucs_status_t get_device_address(uct_iface_h iface,
                                       uct_device_addr_t *address)
{
    (void)iface;
    (void)address;
    return UCS_OK; /* The device address is empty */
}

static ucs_status_t get_address(uct_iface_h iface, uct_iface_addr_t *address)
{
    memcpy(address, &((iface_t *)iface)->id, sizeof(uint64_t));
    return UCS_OK;
}

static int is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args)
{
    return (args->iface_addr != NULL) &&
           (args->iface_addr_length == sizeof(uint64_t)) &&
           (memcmp(args->iface_addr, &((iface_t *)iface)->id,
                   sizeof(uint64_t)) == 0);
}

/* -------------------------------------------------------------- copies -- */

static int copy(void *memory, const void *buffer, size_t length, int is_put)
{
    char *there = opaque_touchable(memory, length);
    char *here  = opaque_touchable(buffer, length);

    if ((there == NULL) || (here == NULL)) {
        return 0;
    }
    memcpy(is_put ? there : here, is_put ? here : there, length);
    return 1;
}

/* Copies all blocks of all iov entries to or from consecutive memory at
 * op->address. */
static ucs_status_t carry_out(const op_t *op)
{
    char *memory = (char *)(uintptr_t)op->address;
    size_t i;
    unsigned block;

    for (i = 0; i < op->iovcnt; ++i) {
        const uct_iov_t *iov = &op->iov[i];

        for (block = 0; block < iov->count; ++block) {
            if (!copy(memory, (char *)iov->buffer + block * iov->stride,
                      iov->length, op->is_put)) {
                return UCS_ERR_INVALID_ADDR;
            }
            memory += iov->length;
        }
    }
    return UCS_OK;
}

/* Carries out and completes the first operation of the queue. */
static void end(iface_t *iface)
{
    op_t *op = iface->head;

    iface->head = op->next;
    if (iface->head == NULL) {
        iface->tail = &iface->head;
    }
    iface->queued -= (op->iovcnt > 0);
    if (op->status == UCS_OK) {
        op->status = carry_out(op);
    }
    ucx_complete(op->comp, op->status);
    free(op);
}

static unsigned iface_progress(uct_iface_h super)
{
    iface_t *iface = (iface_t *)super;
    unsigned count = 0;

    while ((iface->head != NULL) && (iface->head->rounds <= 1)) {
        end(iface);
        ++count;
    }
    if (iface->head != NULL) {
        --iface->head->rounds;
    }
    if (iface->queued < iface->config.depth) {
        count += ucx_pending_dispatch(&iface->pending);
    }
    return count;
}

static void iface_close(uct_iface_h super)
{
    iface_t *iface = (iface_t *)super;

    while (iface->head != NULL) {
        end(iface);
    }
    free(iface);
}

static op_t *enqueue(iface_t *iface, uct_ep_h ep, unsigned rounds,
                     uct_completion_t *comp)
{
    op_t *op = calloc(1, sizeof(*op));

    if (op != NULL) {
        op->ep       = ep;
        op->rounds   = rounds;
        op->comp     = comp;
        *iface->tail = op;
        iface->tail  = &op->next;
    }
    return op;
}

static ucs_status_t post(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                         uint64_t address, int is_put, uct_completion_t *comp)
{
    iface_t *iface = (iface_t *)ep->iface;
    op_t *op;

    if (iface->queued >= iface->config.depth) {
        return UCS_ERR_NO_RESOURCE;
    }
    op = enqueue(iface, ep, iface->config.delay, comp);
    if (op == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    memcpy(op->iov, iov, iovcnt * sizeof(*iov));
    op->iovcnt  = iovcnt;
    op->address = address;
    op->is_put  = is_put;
    ++iface->queued;
    ++iface->posted;
    if ((iface->config.fail > 0) && (iface->posted % iface->config.fail == 0)) {
        op->status = UCS_ERR_IO_ERROR;
    }
    return UCS_INPROGRESS;
}

static ucs_status_t put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t address, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    (void)rkey;
    return (iovcnt > 0) ? post(ep, iov, iovcnt, address, 1, comp) : UCS_OK;
}

static ucs_status_t get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t address, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    (void)rkey;
    return (iovcnt > 0) ? post(ep, iov, iovcnt, address, 0, comp) : UCS_OK;
}

static ucs_status_t put_short(uct_ep_h ep, const void *buffer, unsigned length,
                              uint64_t address, uct_rkey_t rkey)
{
    (void)ep;
    (void)rkey;
    return copy((void *)(uintptr_t)address, buffer, length, 1) ?
               UCS_OK :
               UCS_ERR_INVALID_ADDR;
}

static ucs_status_t get_short(uct_ep_h ep, void *buffer, unsigned length,
                              uint64_t address, uct_rkey_t rkey)
{
    (void)ep;
    (void)rkey;
    return copy((void *)(uintptr_t)address, buffer, length, 0) ?
               UCS_OK :
               UCS_ERR_INVALID_ADDR;
}

/* ------------------------------------------------------------ endpoint -- */

static ucs_status_t ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                              uct_ep_h *ep_p)
{
    ucx_reachable_args_t peer = ucx_simple_peer(params, 0, sizeof(uint64_t));
    ep_t *ep;

    if (peer.iface_addr == NULL) {
        return UCS_ERR_UNSUPPORTED;
    }
    if (!is_reachable(iface, &peer)) {
        return UCS_ERR_UNREACHABLE;
    }
    ep = malloc(sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_ep_init(&ep->super, iface);
    *ep_p = &ep->super;
    return UCS_OK;
}

/* Destroys an endpoint. Its posted operations still complete. They forget the
 * endpoint, because a later one may have the same address. */
static void ep_destroy(uct_ep_h ep)
{
    op_t *op;

    for (op = ((iface_t *)ep->iface)->head; op != NULL; op = op->next) {
        if (op->ep == ep) {
            op->ep = NULL;
        }
    }
    free(ep);
}

static ucs_status_t flush(iface_t *iface, uct_ep_h ep, unsigned flags,
                          uct_completion_t *comp)
{
    op_t *op;

    if (iface->head == NULL) {
        return UCS_OK;
    }
    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        for (op = iface->head; op != NULL; op = op->next) {
            if ((ep == NULL) || (op->ep == ep)) {
                op->status = UCS_ERR_CANCELED;
            }
        }
    }
    return (enqueue(iface, ep, 1, comp) != NULL) ? UCS_INPROGRESS :
                                                   UCS_ERR_NO_MEMORY;
}

static ucs_status_t ep_flush(uct_ep_h ep, unsigned flags,
                             uct_completion_t *comp)
{
    return flush((iface_t *)ep->iface, ep, flags, comp);
}

static ucs_status_t iface_flush(uct_iface_h iface, unsigned flags,
                                uct_completion_t *comp)
{
    return flush((iface_t *)iface, NULL, flags, comp);
}

static ucs_status_t pending_add(uct_ep_h ep, uct_pending_req_t *request,
                                unsigned flags)
{
    iface_t *iface = (iface_t *)ep->iface;

    (void)flags;
    if (iface->queued < iface->config.depth) {
        return UCS_ERR_BUSY;
    }
    ucx_pending_push_of(&iface->pending, ep, request);
    return UCS_OK;
}

static void pending_purge(uct_ep_h ep, uct_pending_purge_callback_t callback,
                          void *arg)
{
    ucx_pending_purge_of(&((iface_t *)ep->iface)->pending, ep, callback, arg);
}

static const ucx_iface_ops_t iface_ops = {
    .size               = sizeof(iface_ops),
    .close              = iface_close,
    .query              = iface_query,
    .get_device_address = get_device_address,
    .get_address        = get_address,
    .is_reachable       = is_reachable,
    .ep_create          = ep_create,
    .progress           = iface_progress,
    .flush              = iface_flush,
};

static const ucx_ep_ops_t ep_ops = {
    .size          = sizeof(ep_ops),
    .put_short     = put_short,
    .put_zcopy     = put_zcopy,
    .get_short     = get_short,
    .get_zcopy     = get_zcopy,
    .flush         = ep_flush,
    .pending_add   = pending_add,
    .pending_purge = pending_purge,
    .destroy       = ep_destroy,
};

const ucx_transport_t opaque_transport = {
    .size          = sizeof(opaque_transport),
    .name          = OPAQUE_NAME,
    .config        = &config_table,
    .query_devices = query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &ep_ops,
};
