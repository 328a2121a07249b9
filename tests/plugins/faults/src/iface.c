/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interfaces. For the wrapped interface, this plugin takes the place of the
 * core: it receives the messages and the reports of lost peers, and passes them
 * to the core.
 */
#include "faults.h"

#include <ucx/am.h>

#include <stdlib.h>
#include <string.h>

static const ucx_iface_ops_t *inner_ops(const faults_iface_t *iface)
{
    return &iface->instance->inner_iface_ops;
}

/* ------------------------------------------------------------- messages -- */

static unsigned deliver(faults_iface_t *iface, int all)
{
    unsigned count = 0;
    faults_message_t *message;

    while (((message = STAILQ_FIRST(&iface->messages)) != NULL) &&
           (all || (message->due <= iface->round))) {
        STAILQ_REMOVE_HEAD(&iface->messages, link);
        (void)ucx_iface_deliver_am(&iface->super, message->id, message->data,
                                   message->length, 0);
        free(message);
        ++count;
    }
    return count;
}

static int holds_back(faults_iface_t *iface)
{
    return !STAILQ_EMPTY(&iface->messages) ||
           ((iface->config.receive_delay > 0) && faults_chance(iface, 0.1));
}

/* Handles all messages of the wrapped interface: delivers a message at once or
 * delays a copy of it. */
static ucs_status_t arrived(void *arg, void *data, size_t length,
                            unsigned flags)
{
    const faults_slot_t *slot = arg;
    faults_iface_t *iface     = slot->iface;
    faults_message_t *message;

    if (!holds_back(iface)) {
        return ucx_iface_deliver_am(&iface->super, slot->id, data,
                                    (unsigned)length, flags);
    }

    message = aligned_alloc(_Alignof(faults_message_t),
                            (sizeof(*message) + length + 63) / 64 * 64);
    if (message == NULL) {
        /* Deliver the delayed messages first, to keep the order */
        (void)deliver(iface, 1);
        return ucx_iface_deliver_am(&iface->super, slot->id, data,
                                    (unsigned)length, flags);
    }
    message->id     = slot->id;
    message->length = (unsigned)length;
    message->due    = faults_later(iface, iface->config.receive_delay);
    memcpy(message->data, data, length);
    STAILQ_INSERT_TAIL(&iface->messages, message, link);
    return UCS_OK;
}

/* ----------------------------------------------------------- lost peers -- */

static void tell_broken(faults_iface_t *iface)
{
    const ucx_host_t *host = iface->instance->host;
    faults_ep_t *ep;

    while ((ep = LIST_FIRST(&iface->broken)) != NULL) {
        LIST_REMOVE(ep, link);
        LIST_INSERT_HEAD(&iface->eps, ep, link);
        if (host->iface_ep_failed(&iface->super, &ep->super, ep->status) !=
            UCS_OK) {
            ucx_debug("faults: nobody cares for a broken endpoint");
        }
    }
}

/* The service iface_ep_failed() for the wrapped transport, by which it reports
 * a failed endpoint. */
ucs_status_t faults_inner_ep_failed(uct_iface_h inner_iface, uct_ep_h inner,
                                    ucs_status_t status)
{
    faults_iface_t *iface = inner_iface->host;
    faults_ep_t *ep;

    LIST_FOREACH(ep, &iface->eps, link) {
        if (ep->inner == inner) {
            ep->lost = status;
            if (iface->config.notice == FAULTS_NOTICE_SELF) {
                faults_ep_break(ep, status);
            }
            return UCS_OK;
        }
    }
    return UCS_OK; /* The endpoint has already failed */
}

/* ------------------------------------------------------------- progress -- */

static unsigned iface_progress(uct_iface_h uct_iface)
{
    faults_iface_t *iface = faults_iface(uct_iface);
    unsigned count;

    ++iface->round;
    count = inner_ops(iface)->progress(iface->inner);
    count += deliver(iface, 0);
    count += faults_ops_complete(iface, 0);
    count += faults_pending_dispatch(iface);
    tell_broken(iface);
    return count;
}

static ucs_status_t event_fd_get(uct_iface_h uct_iface, int *fd_p)
{
    faults_iface_t *iface = faults_iface(uct_iface);

    return inner_ops(iface)->event_fd_get(iface->inner, fd_p);
}

static ucs_status_t event_arm(uct_iface_h uct_iface, unsigned events)
{
    faults_iface_t *iface = faults_iface(uct_iface);

    if (!STAILQ_EMPTY(&iface->messages) || !LIST_EMPTY(&iface->broken) ||
        !TAILQ_EMPTY(&iface->waiting) || faults_ops_are_late(iface)) {
        /* The user must not sleep: only progress does this work, and the event
         * descriptor does not report it */
        return UCS_ERR_BUSY;
    }
    return inner_ops(iface)->event_arm(iface->inner, events);
}

static ucs_status_t iface_flush(uct_iface_h uct_iface, unsigned flags,
                                uct_completion_t *comp)
{
    faults_iface_t *iface = faults_iface(uct_iface);
    faults_op_t *op       = faults_op_begin(iface, NULL, comp);

    if (op == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    op->flush = 1;
    return faults_op_end(op, inner_ops(iface)->flush(iface->inner, flags,
                                                     &op->comp));
}

static ucs_status_t iface_fence(uct_iface_h uct_iface, unsigned flags)
{
    faults_iface_t *iface = faults_iface(uct_iface);

    return inner_ops(iface)->fence(iface->inner, flags);
}

/* ------------------------------- functions of the wrapped interface -- */

static ucs_status_t iface_query(uct_iface_h uct_iface, ucx_iface_attr_t *attr)
{
    faults_iface_t *iface = faults_iface(uct_iface);
    ucs_status_t status   = inner_ops(iface)->query(iface->inner, attr);

    if (iface->config.notice != FAULTS_NOTICE_SELF) {
        attr->base.cap.flags &= ~(uint64_t)UCT_IFACE_FLAG_EP_KEEPALIVE;
        attr->flags &= ~(uint64_t)UCX_IFACE_FLAG_DETECTS_FAILURE;
    }
    if (iface->config.notice == FAULTS_NOTICE_SEND) {
        attr->base.cap.flags &= ~(uint64_t)UCT_IFACE_FLAG_EP_CHECK;
    }
    return status;
}

/* Returns a bandwidth between 2^26 and 2^33 bytes/s that differs from the last
 * one by a factor of at least two, because the core ignores small
 * differences. */
static double new_bandwidth(faults_iface_t *iface)
{
    unsigned step = 1 + (unsigned)(faults_draw(iface) >> 40) % 7;

    iface->bandwidth = (iface->bandwidth + step) % 8;
    return (double)((uint64_t)1 << (26 + iface->bandwidth));
}

static ucs_status_t iface_estimate(uct_iface_h uct_iface, ucx_perf_t *perf)
{
    faults_iface_t *iface = faults_iface(uct_iface);
    uct_ep_h ep           = perf->ep;
    ucs_status_t status;

    perf->ep = (ep == NULL) ? NULL : faults_ep(ep)->inner;
    status   = inner_ops(iface)->estimate(iface->inner, perf);
    perf->ep = ep;
    if (iface->config.unsteady && (ep != NULL) && (status == UCS_OK)) {
        perf->stream_bandwidth = new_bandwidth(iface);
    }
    return status;
}

static ucs_status_t get_device_address(uct_iface_h uct_iface,
                                       uct_device_addr_t *addr)
{
    faults_iface_t *iface = faults_iface(uct_iface);

    return inner_ops(iface)->get_device_address(iface->inner, addr);
}

static ucs_status_t get_address(uct_iface_h uct_iface, uct_iface_addr_t *addr)
{
    faults_iface_t *iface = faults_iface(uct_iface);

    return inner_ops(iface)->get_address(iface->inner, addr);
}

static int is_reachable(uct_iface_h uct_iface, const ucx_reachable_args_t *args)
{
    faults_iface_t *iface = faults_iface(uct_iface);

    return inner_ops(iface)->is_reachable(iface->inner, args);
}

static ucs_status_t mem_alloc(uct_iface_h uct_iface, size_t length,
                              unsigned flags, const char *name,
                              uct_allocated_memory_t *mem)
{
    faults_iface_t *iface = faults_iface(uct_iface);

    return inner_ops(iface)->mem_alloc(iface->inner, length, flags, name, mem);
}

static void mem_free(uct_iface_h uct_iface, const uct_allocated_memory_t *mem)
{
    faults_iface_t *iface = faults_iface(uct_iface);

    inner_ops(iface)->mem_free(iface->inner, mem);
}

/* ----------------------------------------------------------------- life -- */

/* Opens the wrapped interface with the tables of its transport and the options
 * that follow this plugin's. arrived() becomes the handler of all messages. */
static ucs_status_t open_inner(faults_iface_t *iface, uct_md_h md,
                               const ucx_iface_open_args_t *args)
{
    faults_instance_t *instance = iface->instance;
    ucx_iface_open_args_t inner = *args;
    unsigned id;

    inner.size        = sizeof(inner);
    inner.head.ops    = &instance->inner_iface_ops;
    inner.head.ep_ops = &instance->inner_ep_ops;
    inner.head.host   = iface;
    inner.config      = (const char *)args->config + FAULTS_CONFIG_SIZE;
    for (id = 0; id < UCT_AM_ID_MAX; ++id) {
        iface->slots[id]  = (faults_slot_t){iface, (uint8_t)id};
        inner.head.am[id] = (ucx_am_slot_t){arrived, &iface->slots[id], 0};
    }
    return instance->inner_transport.iface_open(md, &inner, &iface->inner);
}

ucs_status_t faults_iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    const faults_component_t *component =
        faults_container_of(md->component, faults_component_t, super);
    faults_instance_t *instance = component->instance;
    faults_iface_t *iface;
    ucs_status_t status;

    if (args->config == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    iface = calloc(1, sizeof(*iface));
    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ucx_iface_init(&iface->super, args);
    iface->instance = instance;
    memcpy(&iface->config, args->config, sizeof(iface->config));
    iface->random = (iface->config.seed + 1) * 0x9e3779b97f4a7c15ull +
                    atomic_fetch_add(&instance->num_opened, 1);
    iface->random |= 1; /* The generator needs a state that is not 0 */
    LIST_INIT(&iface->eps);
    LIST_INIT(&iface->broken);
    TAILQ_INIT(&iface->waiting);
    TAILQ_INIT(&iface->ops);
    STAILQ_INIT(&iface->messages);

    status = open_inner(iface, md, args);
    if (status != UCS_OK) {
        free(iface);
        return status;
    }
    *iface_p = &iface->super;
    return UCS_OK;
}

static void iface_close(uct_iface_h uct_iface)
{
    faults_iface_t *iface = faults_iface(uct_iface);
    faults_message_t *message;

    inner_ops(iface)->close(iface->inner);
    (void)faults_ops_complete(iface, 1);
    while ((message = STAILQ_FIRST(&iface->messages)) != NULL) {
        STAILQ_REMOVE_HEAD(&iface->messages, link);
        free(message);
    }
    free(iface);
}

void faults_iface_ops_fill(ucx_iface_ops_t *ops, const ucx_iface_ops_t *inner)
{
    static const ucx_iface_ops_t all = {
        .estimate           = iface_estimate,
        .get_device_address = get_device_address,
        .get_address        = get_address,
        .is_reachable       = is_reachable,
        .fence              = iface_fence,
        .event_fd_get       = event_fd_get,
        .event_arm          = event_arm,
        .mem_alloc          = mem_alloc,
        .mem_free           = mem_free,
    };

#define SET(_slot) ops->_slot = (inner->_slot == NULL) ? NULL : all._slot
    SET(estimate);
    SET(get_device_address);
    SET(get_address);
    SET(is_reachable);
    SET(fence);
    SET(event_fd_get);
    SET(event_arm);
    SET(mem_alloc);
    SET(mem_free);
#undef SET
    ops->size      = sizeof(*ops);
    ops->close     = iface_close;
    ops->query     = iface_query;
    ops->ep_create = faults_ep_create;
    ops->flush     = iface_flush;
    ops->progress  = iface_progress; /* wrap.c rejects a transport without it */
}
