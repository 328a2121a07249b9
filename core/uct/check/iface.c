/* SPDX-License-Identifier: BSD-3-Clause */
/* Checking slots (functions that replace those of the plugin, see internal.h)
 * of interfaces, and the function that replaces the user's handlers of active
 * messages. */
#include "uct/check/internal.h"

#include <math.h>
#include <string.h>

/* Records the call of a slot, and returns the original slots. */
static const ucx_iface_ops_t *begin(uct_check_call_t *call, uct_iface_h iface,
                                    const char *slot, uct_check_kind_t kind)
{
    uct_check_iface_t *check = uct_check_iface_of(iface);

    uct_check_call_begin(call, check, slot, kind);
    return &check->tl->iface_ops;
}

/* --- Active messages ------------------------------------------------------ */

/* The handler that the plugin calls instead of the user's. */
static ucs_status_t deliver(void *arg, void *data, size_t length,
                            unsigned flags)
{
    const uct_check_am_t *am = arg;
    uct_check_used_t start;
    ucs_status_t status;

    if (!(am->slot.flags & UCT_CB_FLAG_ASYNC)) {
        uct_check_place(am->iface->tl->name, "active message");
    }
    uct_check_user_begin(&start);
    status = am->slot.cb(am->slot.arg, data, length, flags);
    uct_check_user_end(&start);
    return status;
}

void uct_check_am_handler(uct_check_iface_t *check, uint8_t id,
                          ucx_am_slot_t *slot)
{
    uct_check_am_t *am = &check->am[id];

    am->iface = check;
    am->slot  = *slot;
    slot->cb  = deliver;
    slot->arg = am;
}

/* --- Attributes ----------------------------------------------------------- */

/* Reports flags of the interface that the manifest does not declare. `words`
 * are the bits of cap.flags for which a manifest has words; its other bits are
 * not checked. */
static void check_declared(const uct_check_iface_t *check,
                           const uct_iface_attr_t *attr)
{
    const uint64_t words = UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY |
                           UCT_IFACE_FLAG_AM_ZCOPY | UCT_IFACE_FLAG_PUT_SHORT |
                           UCT_IFACE_FLAG_PUT_BCOPY | UCT_IFACE_FLAG_PUT_ZCOPY |
                           UCT_IFACE_FLAG_GET_SHORT | UCT_IFACE_FLAG_GET_BCOPY |
                           UCT_IFACE_FLAG_GET_ZCOPY | UCT_IFACE_FLAG_PENDING |
                           UCT_IFACE_FLAG_CONNECT_TO_IFACE |
                           UCT_IFACE_FLAG_CONNECT_TO_EP |
                           UCT_IFACE_FLAG_CB_SYNC | UCT_IFACE_FLAG_AM_DUP |
                           UCT_IFACE_FLAG_EP_CHECK |
                           UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE;
    uint64_t flags;

    flags = attr->cap.flags & words & ~check->cap_flags;
    if (flags != 0) {
        uct_check_report(check->tl->name, 10, "query",
                         "the interface has capabilities "
                         "that the manifest does not declare "
                         "(UCT_IFACE_FLAG_* 0x%llx)",
                         (unsigned long long)flags);
    }
    flags = attr->cap.event_flags & ~check->event_flags;
    if (flags != 0) {
        uct_check_report(check->tl->name, 10, "query",
                         "the interface has events that the "
                         "manifest does not declare (UCT_IFACE_FLAG_EVENT_* "
                         "0x%llx)",
                         (unsigned long long)flags);
    }
}

/* A limit in the attributes of an interface. */
typedef struct limit {
    uint64_t flag;    /* the capability to which the limit belongs */
    const char *name; /* of the member */
    size_t value;     /* must not be 0 if the interface has the capability */
} limit_t;

static void check_limits(const char *who, const uct_iface_attr_t *attr)
{
    const limit_t limits[] = {
        {UCT_IFACE_FLAG_AM_SHORT, "am.max_short", attr->cap.am.max_short},
        {UCT_IFACE_FLAG_AM_BCOPY, "am.max_bcopy", attr->cap.am.max_bcopy},
        {UCT_IFACE_FLAG_AM_ZCOPY, "am.max_zcopy", attr->cap.am.max_zcopy},
        {UCT_IFACE_FLAG_AM_ZCOPY, "am.max_iov", attr->cap.am.max_iov},
        {UCT_IFACE_FLAG_PUT_SHORT, "put.max_short", attr->cap.put.max_short},
        {UCT_IFACE_FLAG_PUT_BCOPY, "put.max_bcopy", attr->cap.put.max_bcopy},
        {UCT_IFACE_FLAG_PUT_ZCOPY, "put.max_zcopy", attr->cap.put.max_zcopy},
        {UCT_IFACE_FLAG_PUT_ZCOPY, "put.max_iov", attr->cap.put.max_iov},
        {UCT_IFACE_FLAG_GET_SHORT, "get.max_short", attr->cap.get.max_short},
        {UCT_IFACE_FLAG_GET_BCOPY, "get.max_bcopy", attr->cap.get.max_bcopy},
        {UCT_IFACE_FLAG_GET_ZCOPY, "get.max_zcopy", attr->cap.get.max_zcopy},
        {UCT_IFACE_FLAG_GET_ZCOPY, "get.max_iov", attr->cap.get.max_iov},
    };
    size_t i;

    for (i = 0; i < sizeof(limits) / sizeof(limits[0]); ++i) {
        if ((attr->cap.flags & limits[i].flag) && (limits[i].value == 0)) {
            uct_check_report(who, 25, "query",
                             "%s is 0, but the interface has "
                             "the capability",
                             limits[i].name);
        }
    }
}

/* True if the plugin implements the slot. */
#define UCT_CHECK_HAS_SLOT(_tl, _slot) \
    ((_tl)->ep_ops._slot != (_tl)->ep_defaults->_slot)

/* Reports capabilities of the interface whose slot the plugin does not
 * implement. */
static void check_slots(const uct_check_tl_t *tl, uint64_t flags)
{
    const struct {
        uint64_t flag;
        int is_there;
        const char *name;
    } slots[] = {
        {UCT_IFACE_FLAG_AM_SHORT, UCT_CHECK_HAS_SLOT(tl, am_short), "am_short"},
        {UCT_IFACE_FLAG_AM_BCOPY, UCT_CHECK_HAS_SLOT(tl, am_bcopy), "am_bcopy"},
        {UCT_IFACE_FLAG_AM_ZCOPY, UCT_CHECK_HAS_SLOT(tl, am_zcopy), "am_zcopy"},
        {UCT_IFACE_FLAG_PUT_SHORT, UCT_CHECK_HAS_SLOT(tl, put_short),
         "put_short"},
        {UCT_IFACE_FLAG_PUT_BCOPY, UCT_CHECK_HAS_SLOT(tl, put_bcopy),
         "put_bcopy"},
        {UCT_IFACE_FLAG_PUT_ZCOPY, UCT_CHECK_HAS_SLOT(tl, put_zcopy),
         "put_zcopy"},
        {UCT_IFACE_FLAG_GET_SHORT, UCT_CHECK_HAS_SLOT(tl, get_short),
         "get_short"},
        {UCT_IFACE_FLAG_GET_BCOPY, UCT_CHECK_HAS_SLOT(tl, get_bcopy),
         "get_bcopy"},
        {UCT_IFACE_FLAG_GET_ZCOPY, UCT_CHECK_HAS_SLOT(tl, get_zcopy),
         "get_zcopy"},
        {UCT_IFACE_FLAG_PENDING, UCT_CHECK_HAS_SLOT(tl, pending_add),
         "pending_add"},
        {UCT_IFACE_FLAG_EP_CHECK, UCT_CHECK_HAS_SLOT(tl, check), "check"},
        {UCT_IFACE_FLAG_CONNECT_TO_EP, UCT_CHECK_HAS_SLOT(tl, get_address),
         "get_address"},
    };
    size_t i;

    for (i = 0; i < sizeof(slots) / sizeof(slots[0]); ++i) {
        if ((flags & slots[i].flag) && !slots[i].is_there) {
            uct_check_report(tl->name, 25, "query",
                             "the interface has the capability of the slot %s, "
                             "which is missing",
                             slots[i].name);
        }
    }
}

static ucs_status_t iface_query(uct_iface_h iface, ucx_iface_attr_t *attr)
{
    uct_check_iface_t *check = uct_check_iface_of(iface);
    const char *who          = check->tl->name;
    ucx_iface_attr_t again   = {.size = sizeof(again)};
    uct_check_call_t call;
    const ucx_iface_ops_t *ops = begin(&call, iface, "query", UCT_CHECK_OTHER);
    ucs_status_t status        = ops->query(iface, attr);

    uct_check_call_end(&call);
    if (status != UCS_OK) {
        return status;
    }
    check->attr = attr->base;
    check_declared(check, &attr->base);
    check_limits(who, &attr->base);
    check_slots(check->tl, attr->base.cap.flags);
    if ((ops->query(iface, &again) != UCS_OK) ||
        (again.base.cap.flags != attr->base.cap.flags) ||
        (again.base.device_addr_len != attr->base.device_addr_len) ||
        (again.base.iface_addr_len != attr->base.iface_addr_len) ||
        (again.base.ep_addr_len != attr->base.ep_addr_len)) {
        uct_check_report(who, 25, "query",
                         "a second query returns other capabilities");
    }
    return UCS_OK;
}

static int is_cost(double value)
{
    return isfinite(value) && (value >= 0);
}

static ucs_status_t iface_estimate(uct_iface_h iface, ucx_perf_t *perf)
{
    uct_check_call_t call;
    const ucx_iface_ops_t *ops = begin(&call, iface, "estimate",
                                       UCT_CHECK_OTHER);
    ucs_status_t status        = ops->estimate(iface, perf);

    uct_check_call_end(&call);
    if ((status == UCS_OK) &&
        !(is_cost(perf->send_pre_overhead) &&
          is_cost(perf->send_post_overhead) && is_cost(perf->recv_overhead) &&
          is_cost(perf->bandwidth.dedicated) &&
          is_cost(perf->bandwidth.shared) && is_cost(perf->latency.c) &&
          is_cost(perf->latency.m))) {
        uct_check_report(call.iface->tl->name, 25, "estimate",
                         "the estimate of operation %d is no cost",
                         (int)perf->op);
    }
    return status;
}

/* --- Addresses ------------------------------------------------------------ */

static ucs_status_t call_device_address(void *arg, void *buffer)
{
    uct_check_call_t call;
    const ucx_iface_ops_t *ops = begin(&call, arg, "get_device_address",
                                       UCT_CHECK_OTHER);
    ucs_status_t status        = ops->get_device_address(arg, buffer);

    uct_check_call_end(&call);
    return status;
}

static ucs_status_t call_address(void *arg, void *buffer)
{
    uct_check_call_t call;
    const ucx_iface_ops_t *ops = begin(&call, arg, "get_address",
                                       UCT_CHECK_OTHER);
    ucs_status_t status        = ops->get_address(arg, buffer);

    uct_check_call_end(&call);
    return status;
}

static ucs_status_t iface_get_device_address(uct_iface_h iface,
                                             uct_device_addr_t *addr)
{
    const uct_check_iface_t *check = uct_check_iface_of(iface);

    return uct_check_bytes(check->tl->name, "get_device_address", addr,
                           check->attr.device_addr_len, call_device_address,
                           iface);
}

static ucs_status_t iface_get_address(uct_iface_h iface, uct_iface_addr_t *addr)
{
    const uct_check_iface_t *check = uct_check_iface_of(iface);

    return uct_check_bytes(check->tl->name, "get_address", addr,
                           check->attr.iface_addr_len, call_address, iface);
}

/* --- Endpoints ------------------------------------------------------------ */

static ucs_status_t iface_ep_create(uct_iface_h iface,
                                    const uct_ep_params_t *params,
                                    uct_ep_h *ep_p)
{
    uct_check_call_t call;
    const ucx_iface_ops_t *ops = begin(&call, iface, "ep_create",
                                       UCT_CHECK_OTHER);
    ucs_status_t status        = ops->ep_create(iface, params, ep_p);

    uct_check_call_end(&call);
    uct_check_status(call.iface->tl->name, "ep_create", status);
    if (status == UCS_OK) {
        if ((*ep_p)->iface != iface) {
            uct_check_report(call.iface->tl->name, 26, "ep_create",
                             "the head of the endpoint is not initialized by "
                             "ucx_ep_init()");
        }
        uct_check_ep_created(call.iface, *ep_p);
    }
    return status;
}

/* --- Progress, completion, events ----------------------------------------- */

static unsigned iface_progress(uct_iface_h iface)
{
    uct_check_call_t call;
    const ucx_iface_ops_t *ops = begin(&call, iface, "progress",
                                       UCT_CHECK_PROGRESS);
    unsigned count             = ops->progress(iface);

    uct_check_call_end(&call);
    return count;
}

static ucs_status_t iface_flush(uct_iface_h iface, unsigned flags,
                                uct_completion_t *comp)
{
    uct_check_call_t call;
    const ucx_iface_ops_t *ops = begin(&call, iface, "flush", UCT_CHECK_OTHER);
    uct_check_op_t *op         = uct_check_op_begin(call.iface, NULL, call.slot,
                                                    UCT_CHECK_FLUSH, comp);
    ucs_status_t status = ops->flush(iface, flags, uct_check_op_comp(op, comp));

    uct_check_call_end(&call);
    uct_check_op_end(op, status);
    if (status == UCS_OK) {
        uct_check_flushed(call.iface, NULL, UINT64_MAX);
    }
    return status;
}

static ucs_status_t iface_fence(uct_iface_h iface, unsigned flags)
{
    uct_check_call_t call;
    const ucx_iface_ops_t *ops = begin(&call, iface, "fence", UCT_CHECK_OTHER);
    ucs_status_t status        = ops->fence(iface, flags);

    uct_check_call_end(&call);
    return status;
}

static ucs_status_t iface_event_fd_get(uct_iface_h iface, int *fd_p)
{
    uct_check_call_t call;
    const ucx_iface_ops_t *ops = begin(&call, iface, "event_fd_get",
                                       UCT_CHECK_OTHER);
    ucs_status_t status        = ops->event_fd_get(iface, fd_p);

    uct_check_call_end(&call);
    if (status == UCS_OK) {
        if ((call.iface->event_fd >= 0) && (call.iface->event_fd != *fd_p)) {
            uct_check_report(call.iface->tl->name, 26, "event_fd_get",
                             "it returns descriptor %d after %d; it has to "
                             "stay the same",
                             *fd_p, call.iface->event_fd);
        }
        call.iface->event_fd = *fd_p;
    }
    return status;
}

static ucs_status_t iface_event_arm(uct_iface_h iface, unsigned events)
{
    uct_check_call_t call;
    const ucx_iface_ops_t *ops = begin(&call, iface, "event_arm",
                                       UCT_CHECK_OTHER);
    ucs_status_t status        = ops->event_arm(iface, events);

    uct_check_call_end(&call);
    uct_check_status(call.iface->tl->name, "event_arm", status);
    return status;
}

static void iface_progress_enable(uct_iface_h iface, unsigned flags)
{
    uct_check_call_t call;
    const ucx_iface_ops_t *ops = begin(&call, iface, "progress_enable",
                                       UCT_CHECK_OTHER);

    ops->progress_enable(iface, flags);
    uct_check_call_end(&call);
}

static void iface_progress_disable(uct_iface_h iface, unsigned flags)
{
    uct_check_call_t call;
    const ucx_iface_ops_t *ops = begin(&call, iface, "progress_disable",
                                       UCT_CHECK_OTHER);

    ops->progress_disable(iface, flags);
    uct_check_call_end(&call);
}

static ucs_status_t iface_set_am_tracer(uct_iface_h iface,
                                        uct_am_tracer_t tracer, void *arg)
{
    uct_check_call_t call;
    const ucx_iface_ops_t *ops = begin(&call, iface, "set_am_tracer",
                                       UCT_CHECK_OTHER);
    ucs_status_t status        = ops->set_am_tracer(iface, tracer, arg);

    uct_check_call_end(&call);
    uct_check_status(call.iface->tl->name, "set_am_tracer", status);
    return status;
}

/* --- Memory --------------------------------------------------------------- */

static ucs_status_t iface_mem_alloc(uct_iface_h iface, size_t length,
                                    unsigned flags, const char *name,
                                    uct_allocated_memory_t *mem)
{
    uct_check_call_t call;
    const ucx_iface_ops_t *ops = begin(&call, iface, "mem_alloc",
                                       UCT_CHECK_OTHER);
    ucs_status_t status;

    mem->address = NULL;
    status       = ops->mem_alloc(iface, length, flags, name, mem);
    uct_check_call_end(&call);
    uct_check_status(call.iface->tl->name, "mem_alloc", status);
    if ((status == UCS_OK) &&
        ((mem->address == NULL) || (mem->length < length))) {
        uct_check_report(call.iface->tl->name, 26, "mem_alloc",
                         "it returns UCS_OK with %zu of %zu bytes at %p",
                         mem->length, length, mem->address);
    }
    return status;
}

static void iface_mem_free(uct_iface_h iface, const uct_allocated_memory_t *mem)
{
    uct_check_call_t call;
    const ucx_iface_ops_t *ops = begin(&call, iface, "mem_free",
                                       UCT_CHECK_OTHER);

    ops->mem_free(iface, mem);
    uct_check_call_end(&call);
}

static void iface_close(uct_iface_h iface)
{
    uct_check_call_t call;
    const ucx_iface_ops_t *ops = begin(&call, iface, "close", UCT_CHECK_OTHER);

    ops->close(iface);
    uct_check_call_end(&call);
}

const ucx_iface_ops_t uct_check_iface_slots = {
    .size               = sizeof(uct_check_iface_slots),
    .close              = iface_close,
    .query              = iface_query,
    .estimate           = iface_estimate,
    .get_device_address = iface_get_device_address,
    .get_address        = iface_get_address,
    .is_reachable       = uct_check_is_reachable,
    .ep_create          = iface_ep_create,
    .progress           = iface_progress,
    .progress_enable    = iface_progress_enable,
    .progress_disable   = iface_progress_disable,
    .flush              = iface_flush,
    .fence              = iface_fence,
    .event_fd_get       = iface_event_fd_get,
    .event_arm          = iface_event_arm,
    .tag_recv_zcopy     = uct_check_tag_recv_zcopy,
    .tag_recv_cancel    = uct_check_tag_recv_cancel,
    .accept             = uct_check_accept,
    .reject             = uct_check_reject,
    .set_am_tracer      = iface_set_am_tracer,
    .mem_alloc          = iface_mem_alloc,
    .mem_free           = iface_mem_free,
};
