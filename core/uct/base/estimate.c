/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uct_iface_estimate(): the cost of an operation, first from the interface's
 * public attributes, then refined by the transport's estimate slot.
 */
#include "uct/base/iface.h"
#include "uct/base/state.h"

/* Flag of the interface's capabilities for each operation; 0 for atomics,
 * whose capabilities are masks of operations. */
static const uint64_t uct_op_flags[] = {
    [UCX_OP_AM_SHORT]     = UCT_IFACE_FLAG_AM_SHORT,
    [UCX_OP_AM_BCOPY]     = UCT_IFACE_FLAG_AM_BCOPY,
    [UCX_OP_AM_ZCOPY]     = UCT_IFACE_FLAG_AM_ZCOPY,
    [UCX_OP_PUT_SHORT]    = UCT_IFACE_FLAG_PUT_SHORT,
    [UCX_OP_PUT_BCOPY]    = UCT_IFACE_FLAG_PUT_BCOPY,
    [UCX_OP_PUT_ZCOPY]    = UCT_IFACE_FLAG_PUT_ZCOPY,
    [UCX_OP_GET_SHORT]    = UCT_IFACE_FLAG_GET_SHORT,
    [UCX_OP_GET_BCOPY]    = UCT_IFACE_FLAG_GET_BCOPY,
    [UCX_OP_GET_ZCOPY]    = UCT_IFACE_FLAG_GET_ZCOPY,
    [UCX_OP_ATOMIC_POST]  = 0,
    [UCX_OP_ATOMIC_FETCH] = 0,
    [UCX_OP_TAG_SHORT]    = UCT_IFACE_FLAG_TAG_EAGER_SHORT,
    [UCX_OP_TAG_BCOPY]    = UCT_IFACE_FLAG_TAG_EAGER_BCOPY,
    [UCX_OP_TAG_ZCOPY]    = UCT_IFACE_FLAG_TAG_EAGER_ZCOPY,
};

static int uct_op_is_offered(const uct_iface_attr_t *attr, ucx_op_t op)
{
    switch (op) {
    case UCX_OP_ATOMIC_POST:
        return (attr->cap.atomic32.op_flags | attr->cap.atomic64.op_flags) != 0;
    case UCX_OP_ATOMIC_FETCH:
        return (attr->cap.atomic32.fop_flags | attr->cap.atomic64.fop_flags) !=
               0;
    default:
        return (attr->cap.flags & uct_op_flags[op]) != 0;
    }
}

/* Returns whether a handler at the remote side runs for the operation (active
 * messages, tagged messages), so that it has a receive overhead. */
static int uct_op_is_message(ucx_op_t op)
{
    return (op <= UCX_OP_AM_ZCOPY) || (op >= UCX_OP_TAG_SHORT);
}

ucs_status_t uct_iface_estimate(uct_iface_h iface, ucx_perf_t *perf)
{
    const uct_iface_attr_t *attr = &uct_iface_attr(iface)->base;

    if ((perf == NULL) || !UCX_TABLE_HAS(perf, latency) ||
        ((unsigned)perf->op >= ucs_static_array_size(uct_op_flags))) {
        return UCS_ERR_INVALID_PARAM;
    }

    if (!uct_op_is_offered(attr, perf->op)) {
        return UCS_ERR_UNSUPPORTED;
    }

    perf->send_pre_overhead  = attr->overhead;
    perf->send_post_overhead = 0;
    perf->recv_overhead      = uct_op_is_message(perf->op) ? attr->overhead : 0;
    perf->bandwidth          = attr->bandwidth;
    perf->latency            = attr->latency;
    if (UCX_TABLE_HAS(perf, stream_bandwidth)) {
        perf->stream_bandwidth = 0;
    }
    return iface->ops->estimate(iface, perf);
}
